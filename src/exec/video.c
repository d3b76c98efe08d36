/* The video instructions: scalar (vadd vsub vabsdiff vmin vmax vshl vshr vmad vset, on words, halves and bytes) and
 * SIMD (vadd2/4 vsub2/4 vavrg2/4 vabsdiff2/4 vmin2/4 vmax2/4 vset2/4). PTX ISA 9.7.18. They are rare and of many forms,
 * so one body interprets a description of the form.
 *
 * Of the scalar ones today's GPUs have only the PTX assembler's replacement code, which departs from the ISA's text in
 * saturation, in min and max after a shift, in a destination of .h1 and in vmad of unsigned sources. What silicon
 * gives (H200) is followed here; each place says so. */
#include "exec/video.h"
#include "exec/lanes.h"
#include "exec/pick.h"

#include <string.h>

static int64_t clamp_to(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

/* Into the range of an integer of the given width. */
static int64_t saturate(int64_t v, bool is_signed, int bits)
{
    int64_t half = (int64_t)1 << (bits - 1);
    return is_signed ? clamp_to(v, -half, half - 1) : clamp_to(v, 0, 2 * half - 1);
}

static int64_t extend(uint32_t v, bool is_signed, int bits)
{
    int shift = 64 - bits;
    uint64_t up = (uint64_t)v << shift;
    return is_signed ? (int64_t)up >> shift : (int64_t)(up >> shift);
}

/* Width and place of a scalar selector. */
static int selected_bits(int selector) { return selector < 0 ? 32 : selector < 4 ? 8 : 16; }
static int selected_shift(int selector) { return selector < 0 ? 0 : selector < 4 ? 8 * selector : 16 * (selector - 4); }

static int64_t select_part(uint32_t v, bool is_signed, int selector)
{
    return extend(v >> selected_shift(selector), is_signed, selected_bits(selector));
}

static bool compare_values(enum video_compare op, int64_t a, int64_t b)
{
    switch (op) {
    case VIDEO_EQ: return a == b;
    case VIDEO_NE: return a != b;
    case VIDEO_LT: return a < b;
    case VIDEO_LE: return a <= b;
    case VIDEO_GT: return a > b;
    default: return a >= b;
    }
}

/* Modulo 2^64; 34 bits of it are saturated. */
static int64_t shift_left(int64_t a, int64_t amount) { return (int64_t)((uint64_t)a << amount); }
static int64_t low_34(int64_t v) { return (int64_t)((uint64_t)v << 30) >> 30; }

static int64_t first_result(const struct video_form *f, int64_t a, int64_t b)
{
    int64_t sum = a + b, amount = f->clamp ? (b > 32 ? 32 : b) : b & 31;
    switch (f->op) {
    case VIDEO_ADD: return sum;
    case VIDEO_SUB: return a - b;
    case VIDEO_AVERAGE: return (sum >= 0 ? sum + 1 : sum) >> 1;
    case VIDEO_ABSDIFF: return a < b ? b - a : a - b;
    case VIDEO_MIN: return a < b ? a : b;
    case VIDEO_MAX: return a > b ? a : b;
    case VIDEO_SHL: return shift_left(a, amount);
    case VIDEO_SHR: return a >> amount;
    default: return compare_values(f->compare, a, b);
    }
}

/* a * b + c with one of them negated, or one more; then scaled. Silicon takes all of them as signed 32-bit values, and
 * a saturated unsigned sum is scaled as an unsigned one. */
static uint32_t video_mad(const struct video_form *f, int64_t a, int64_t b, uint32_t c)
{
    bool is_signed = f->signed_a || f->signed_b || f->negate_ab || f->negate_c;
    int64_t product = (int64_t)(int32_t)a * (int32_t)b, lsb = 0;
    if (f->plus_one) {
        lsb = 1;
    } else if (f->negate_ab) {
        product = ~product;
        lsb = 1;
    } else if (f->negate_c) {
        c = ~c;
        lsb = 1;
    }
    int64_t sum = product + (int32_t)c + lsb;
    if (f->saturate && !is_signed && f->scale) {
        uint64_t scaled = (uint64_t)sum >> f->scale;
        return scaled > UINT32_MAX ? UINT32_MAX : (uint32_t)scaled;
    }
    sum >>= f->scale;
    return (uint32_t)(f->saturate ? saturate(sum, is_signed, 32) : sum);
}

static bool is_shift(const struct video_form *f) { return f->op == VIDEO_SHL || f->op == VIDEO_SHR; }

/* Silicon saturates shifts to a word, whatever the destination's part; other unsigned words from below only; and takes
 * the result of sources that are not both signed for an unsigned word before it goes into a byte or a half. */
static int64_t saturate_scalar(const struct video_form *f, int64_t v)
{
    if (f->op == VIDEO_SHL)
        v = low_34(v);
    if (f->select_d < 0 || is_shift(f))
        return f->signed_d || is_shift(f) ? saturate(v, f->signed_d, 32) : v < 0 ? 0 : v;
    int64_t taken = f->signed_a && f->signed_b ? v : (int64_t)(uint32_t)v;
    return saturate(taken, f->signed_d, selected_bits(f->select_d));
}

/* min and max after a shift see all its 64 bits. */
static uint32_t second_result(const struct video_form *f, int64_t v, uint32_t c)
{
    int64_t wide = is_shift(f) ? (f->saturate ? (int32_t)v : v) : f->signed_d ? (int32_t)v : (int64_t)(uint32_t)v;
    bool less = f->signed_d ? wide < (int32_t)c : (uint64_t)wide < c;
    switch (f->second) {
    case SECOND_ADD: return (uint32_t)v + c;
    case SECOND_MIN: return less ? (uint32_t)v : c;
    case SECOND_MAX: return less ? c : (uint32_t)v;
    default: return (uint32_t)v;
    }
}

uint32_t video_scalar(const struct video_form *f, uint32_t a, uint32_t b, uint32_t c)
{
    int64_t va = select_part(a, f->signed_a, f->select_a), vb = select_part(b, f->signed_b, f->select_b);
    if (f->op == VIDEO_MAD)
        return video_mad(f, va, vb, c);
    int64_t v = first_result(f, va, vb);
    if (f->saturate)
        v = saturate_scalar(f, v);
    if (f->select_d < 0)
        return second_result(f, v, c);
    if (f->select_d == 5) /* .h1: silicon takes the upper half, where the ISA has the lower one */
        return ((uint32_t)v & 0xffff0000u) | (c & 0xffff);
    uint32_t field = (UINT32_MAX >> (32 - selected_bits(f->select_d))) << selected_shift(f->select_d);
    return ((uint32_t)v << selected_shift(f->select_d) & field) | (c & ~field);
}

uint32_t video_simd(const struct video_form *f, uint32_t a, uint32_t b, uint32_t c)
{
    int bits = 32 / f->elements;
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t merged = c, sum = c;
    for (int k = 0; k < f->elements; k++) {
        if (!(f->mask >> k & 1))
            continue;
        int64_t va = extend((uint32_t)(both >> f->from_a[k] * bits), f->signed_a, bits);
        int64_t vb = extend((uint32_t)(both >> f->from_b[k] * bits), f->signed_b, bits);
        int64_t v = first_result(f, va, vb);
        if (f->saturate)
            v = saturate(v, f->signed_d, bits);
        uint32_t field = (UINT32_MAX >> (32 - bits)) << k * bits;
        merged = (merged & ~field) | ((uint32_t)v << k * bits & field);
        sum += (uint32_t)v;
    }
    return f->second == SECOND_ADD ? sum : merged;
}

#define VIDEO_HANDLER(name, function)                                                                               \
    static void name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)                                \
    {                                                                                                               \
        uint32_t *d = lane_data(w, in->dst);                                                                        \
        const uint32_t *a = lane_data(w, in->src[0]), *b = lane_data(w, in->src[1]), *c = lane_data(w, in->src[2]); \
        FOR_EACH_LANE(mask, i)                                                                                      \
            d[i] = function(in->extra, a[i], b[i], c[i]);                                                           \
    }
VIDEO_HANDLER(scalar_lanes, video_scalar)
VIDEO_HANDLER(simd_lanes, video_simd)

/* Decoding */

static const struct {
    enum ptx_opcode opcode;
    uint8_t op, elements;
} video_ops[] = {
    {PTX_OP_vadd, VIDEO_ADD, 1},          {PTX_OP_vsub, VIDEO_SUB, 1},          {PTX_OP_vabsdiff, VIDEO_ABSDIFF, 1},
    {PTX_OP_vmin, VIDEO_MIN, 1},          {PTX_OP_vmax, VIDEO_MAX, 1},          {PTX_OP_vshl, VIDEO_SHL, 1},
    {PTX_OP_vshr, VIDEO_SHR, 1},          {PTX_OP_vmad, VIDEO_MAD, 1},          {PTX_OP_vset, VIDEO_SET, 1},
    {PTX_OP_vadd2, VIDEO_ADD, 2},         {PTX_OP_vsub2, VIDEO_SUB, 2},         {PTX_OP_vavrg2, VIDEO_AVERAGE, 2},
    {PTX_OP_vabsdiff2, VIDEO_ABSDIFF, 2}, {PTX_OP_vmin2, VIDEO_MIN, 2},         {PTX_OP_vmax2, VIDEO_MAX, 2},
    {PTX_OP_vset2, VIDEO_SET, 2},         {PTX_OP_vadd4, VIDEO_ADD, 4},         {PTX_OP_vsub4, VIDEO_SUB, 4},
    {PTX_OP_vavrg4, VIDEO_AVERAGE, 4},    {PTX_OP_vabsdiff4, VIDEO_ABSDIFF, 4}, {PTX_OP_vmin4, VIDEO_MIN, 4},
    {PTX_OP_vmax4, VIDEO_MAX, 4},         {PTX_OP_vset4, VIDEO_SET, 4},
};

static bool take_types(struct decoder *d, struct video_form *f)
{
    int first = f->op == VIDEO_SET ? 0 : 1; /* vset has no destination type: min and max after it go by a's */
    if (!type_count_is(d, first + 2))
        return false;
    for (int i = 0; i < first + 2; i++)
        if (decode_type(d, i) != PTX_U32 && decode_type(d, i) != PTX_S32)
            return wrong_type(d, decode_type(d, i));
    f->signed_d = decode_type(d, 0) == PTX_S32;
    f->signed_a = decode_type(d, first) == PTX_S32;
    f->signed_b = decode_type(d, first + 1) == PTX_S32;
    if ((f->op == VIDEO_SHL || f->op == VIDEO_SHR) && f->signed_b)
        return decode_wrong(d, NULL, "the amount of a shift is .u32");
    return true;
}

static bool take_video_modifiers(struct decoder *d, struct video_form *f)
{
    static const enum ptx_modifier seconds[] = {PTX_MOD_ADD, PTX_MOD_MIN, PTX_MOD_MAX},
                                   modes[] = {PTX_MOD_WRAP, PTX_MOD_CLAMP};
    static const enum ptx_modifier compares[] = {PTX_MOD_EQ, PTX_MOD_NE, PTX_MOD_LT,
                                                 PTX_MOD_LE, PTX_MOD_GT, PTX_MOD_GE};
    if (f->op == VIDEO_SET) {
        int compare = decode_take_one(d, compares, 6);
        if (compare < 0)
            return decode_wrong(d, NULL, "'%s' needs one of .eq .ne .lt .le .gt .ge", d->in->spelling);
        f->compare = (enum video_compare)compare;
    } else {
        f->saturate = decode_take(d, PTX_MOD_SAT);
    }
    if (f->op == VIDEO_SHL || f->op == VIDEO_SHR) {
        int mode = decode_take_one(d, modes, 2);
        if (mode < 0)
            return decode_wrong(d, NULL, "'%s' needs .clamp or .wrap", d->in->spelling);
        f->clamp = mode == 1;
    }
    if (f->op == VIDEO_MAD) {
        f->plus_one = decode_take(d, PTX_MOD_PO);
        f->scale = decode_take(d, PTX_MOD_SHR7) ? 7 : decode_take(d, PTX_MOD_SHR15) ? 15 : 0;
        return true;
    }
    f->second = (enum video_second)(decode_take_one(d, seconds, f->elements > 1 ? 1 : 3) + 1);
    if (f->elements > 1 && f->second && f->saturate)
        return decode_wrong(d, NULL, "'%s': .sat and .add do not go together", d->in->spelling);
    return true;
}

static bool scalar_selectors(struct decoder *d, struct video_form *f)
{
    f->select_d = decode_operand(d, 0)->selector;
    f->select_a = decode_operand(d, 1)->selector;
    f->select_b = decode_operand(d, 2)->selector;
    if (f->select_d > 5 || f->select_a > 5 || f->select_b > 5)
        return decode_wrong(d, NULL, "'%s' takes the selectors .b0 to .b3, .h0 and .h1", d->in->spelling);
    bool third = d->in->operand_count == 4;
    if (f->op == VIDEO_MAD) {
        bool a = decode_operand(d, 1)->negated, b = decode_operand(d, 2)->negated;
        f->negate_ab = a != b;
        f->negate_c = third && decode_operand(d, 3)->negated;
        if (f->select_d >= 0 || !third)
            return decode_wrong(d, NULL, "'%s' takes three sources and no selector on the destination",
                                d->in->spelling);
        return true;
    }
    if (decode_operand(d, 1)->negated || decode_operand(d, 2)->negated)
        return decode_wrong(d, NULL, "'%s' cannot negate a source", d->in->spelling);
    if (f->select_d >= 0 && f->second)
        return decode_wrong(d, decode_operand(d, 0),
                            "a selected destination and a second operation do not go together");
    if ((f->select_d >= 0 || f->second) && !third)
        return decode_wrong(d, NULL, "'%s' lacks the third source", d->in->spelling);
    return true;
}

/* The digits of a SIMD selector, lowest element first; their count. */
static int selector_digits(int selector, uint8_t digits[4])
{
    if (selector < PTX_SELECTOR_MANY) {
        digits[0] = (uint8_t)(selector < 4 ? selector : selector - 4);
        return 1;
    }
    int count = (selector >> 12 & 3) + 1;
    for (int k = 0; k < count; k++)
        digits[k] = selector >> 3 * k & 7;
    return count;
}

static bool simd_source(struct decoder *d, const struct ptx_operand *o, const struct video_form *f, int first,
                        uint8_t from[4])
{
    for (int k = 0; k < f->elements; k++)
        from[k] = (uint8_t)(first + k);
    if (o->selector < 0)
        return true;
    int count = selector_digits(o->selector, from);
    for (int k = 0; k < count; k++)
        if (from[k] >= 2 * f->elements)
            count = 0;
    return count == f->elements ||
           decode_wrong(d, o, "a selector of '%s' names %d elements of the two sources", d->in->spelling, f->elements);
}

static bool simd_selectors(struct decoder *d, struct video_form *f)
{
    const struct ptx_operand *to = decode_operand(d, 0);
    uint8_t digits[4];
    f->mask = (uint8_t)((1u << f->elements) - 1);
    if (to->selector >= 0) {
        int count = selector_digits(to->selector, digits);
        f->mask = 0;
        for (int k = 0; k < count; k++) {
            if (digits[k] >= f->elements || f->mask >> digits[k])
                return decode_wrong(d, to, "the destination's mask names elements of it, highest first");
            f->mask |= (uint8_t)(1u << digits[k]);
        }
    }
    return simd_source(d, decode_operand(d, 1), f, 0, f->from_a) &&
           simd_source(d, decode_operand(d, 2), f, f->elements, f->from_b);
}

bool decode_video(struct decoder *d)
{
    size_t k = 0;
    while (k < COUNT_OF(video_ops) - 1 && video_ops[k].opcode != d->in->opcode)
        k++;
    struct video_form *f = decode_alloc(d, sizeof *f);
    f->op = (enum video_op)video_ops[k].op;
    f->elements = video_ops[k].elements;
    if (!take_types(d, f) || !take_video_modifiers(d, f) || !decode_count(d, f->elements > 1 ? 4 : 3, 4))
        return false;
    if (!(f->elements > 1 ? simd_selectors(d, f) : scalar_selectors(d, f)))
        return false;
    d->out->fn = f->elements > 1 ? simd_lanes : scalar_lanes;
    d->out->extra = f;
    for (int i = 0; i < 2; i++)
        if (!decode_src(d, i + 1, PTX_B32, &d->out->src[i]))
            return false;
    if (d->in->operand_count == 4) {
        if (!decode_src(d, 3, PTX_B32, &d->out->src[2]))
            return false;
    } else {
        d->out->src[2] = decode_const32(d, 0);
    }
    return decode_dst(d, 0, PTX_B32, &d->out->dst);
}
