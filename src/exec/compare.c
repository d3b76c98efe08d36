/* set, setp, selp, slct. PTX ISA 9.7.6. The comparisons themselves are in compare_lanes.c. */
#include "exec/compare.h"
#include "exec/lanes.h"
#include "exec/pick.h"

#include <string.h>

static const enum ptx_modifier compare_modifiers[COMPARE_OPS] = {
    PTX_MOD_EQ,  PTX_MOD_NE,  PTX_MOD_LT,  PTX_MOD_LE,  PTX_MOD_GT,  PTX_MOD_GE,
    PTX_MOD_LO,  PTX_MOD_LS,  PTX_MOD_HI,  PTX_MOD_HS,  PTX_MOD_EQU, PTX_MOD_NEU,
    PTX_MOD_LTU, PTX_MOD_LEU, PTX_MOD_GTU, PTX_MOD_GEU, PTX_MOD_NUM, PTX_MOD_ISNAN,
};

enum combine { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };
static const enum ptx_modifier combine_modifiers[] = {PTX_MOD_AND, PTX_MOD_OR, PTX_MOD_XOR};

/* A comparison with all its trimmings. */
struct compare_plan {
    struct comparison compare;
    enum combine combine;
    bool negated;                 /* the predicate src[2] */
    bool packed;                  /* the second result is of the high halves; else the inverse of the first */
    uint32_t low_true, high_true; /* set: what a lane gets for a true first, or second, result */
};

static bool is_packed(enum ptx_type t) { return t == PTX_F16X2 || t == PTX_BF16X2; }

static bool plan_compare(struct decoder *d, enum ptx_type type, struct compare_plan *plan)
{
    int op = decode_take_one(d, compare_modifiers, COMPARE_OPS);
    if (op < 0)
        return decode_wrong(d, NULL, "'%s' lacks a comparison such as .eq or .lt", d->in->spelling);
    bool flush = decode_take(d, PTX_MOD_FTZ);
    if (!compare_find(type, (enum compare_op)op, flush, &plan->compare))
        return decode_wrong(d, NULL, "'%s': .%s%s cannot compare values of type .%s", d->in->spelling,
                            ptx_modifier_name(compare_modifiers[op]), flush ? ".ftz" : "", ptx_type_name(type));
    plan->packed = is_packed(type);
    plan->combine = (enum combine)(decode_take_one(d, combine_modifiers, 3) + 1);
    if (!decode_count(d, plan->combine ? 4 : 3, plan->combine ? 4 : 3) || !plain_operands(d))
        return false;
    if (plan->combine && !decode_pred_src(d, decode_operand(d, 3), &d->out->src[2], &plan->negated))
        return false;
    return decode_src(d, 1, type, &d->out->src[0]) && decode_src(d, 2, type, &d->out->src[1]);
}

static uint32_t combined(const struct compare_plan *plan, uint32_t bits, uint32_t with)
{
    switch (plan->combine) {
    case COMBINE_AND: return bits & with;
    case COMBINE_OR: return bits | with;
    case COMBINE_XOR: return bits ^ with;
    default: return bits;
    }
}

/* Both results of all lanes. */
static void compare_all(const struct exec_warp *w, const struct exec_inst *in, const struct compare_plan *plan,
                        uint32_t *first, uint32_t *second)
{
    const void *a = lane_data(w, in->src[0]), *b = lane_data(w, in->src[1]);
    uint32_t invert = plan->compare.inverted ? FULL_MASK : 0;
    uint32_t low = plan->compare.bits(a, b) ^ invert;
    uint32_t high = plan->packed ? plan->compare.high_bits(a, b) ^ invert : ~low;
    uint32_t with = plan->combine ? read_pred(w, in->src[2], plan->negated) : 0;
    *first = combined(plan, low, with);
    *second = combined(plan, high, with);
}

static void setp_full(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t first, second;
    compare_all(w, in, in->extra, &first, &second);
    write_pred(w, in->dst, mask, first);
    write_pred(w, in->dst2, mask, second);
}

bool decode_compare_setp(struct decoder *d)
{
    struct compare_plan plan;
    memset(&plan, 0, sizeof plan);
    const struct ptx_operand *dst = decode_operand(d, 0);
    if (!type_count_is(d, 1) || !plan_compare(d, decode_type(d, 0), &plan))
        return false;
    bool pair = dst->kind == PTX_OPERAND_PAIR;
    if (!decode_pred_dst(d, pair ? &dst->elements[0] : dst, &d->out->dst))
        return false;
    d->out->dst2 = decode_scratch(d, 0);
    if (pair && !decode_pred_dst(d, &dst->elements[1], &d->out->dst2))
        return false;
    if (!pair && !plan.combine && plan.compare.setp) {
        d->out->fn = plan.compare.setp;
        return true;
    }
    struct compare_plan *kept = decode_alloc(d, sizeof *kept);
    *kept = plan;
    d->out->fn = setp_full;
    d->out->extra = kept;
    return true;
}

static void set_lanes(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct compare_plan *plan = in->extra;
    uint32_t first, second, *d = lane_data(w, in->dst);
    compare_all(w, in, plan, &first, &second);
    FOR_LANES(mask, d[i] = (first >> i & 1 ? plan->low_true : 0) | (second >> i & 1 ? plan->high_true : 0));
}

/* What true is in the destination's type: all ones, or 1.0. False: the pair of types is not one PTX has. */
static bool set_values(enum ptx_type to, enum ptx_type from, struct compare_plan *plan)
{
    bool from_half = from == PTX_F16 || from == PTX_BF16;
    uint32_t one;
    switch (to) {
    case PTX_U32:
    case PTX_S32: one = is_packed(from) ? 0xffffu : 0xffffffffu; break;
    case PTX_U16:
    case PTX_S16: one = 0xffffu; break;
    case PTX_F32: one = 0x3f800000u; break;
    case PTX_F16:
    case PTX_F16X2: one = 0x3c00u; break;
    case PTX_BF16:
    case PTX_BF16X2: one = 0x3f80u; break;
    default: return false;
    }
    plan->low_true = one;
    plan->high_true = is_packed(from) ? one << 16 : 0;
    if (is_packed(from))
        return to == PTX_U32 || to == PTX_S32 || to == from;
    if (from_half)
        return to != PTX_F32 && !is_packed(to) && !(to == PTX_F16 && from == PTX_BF16);
    return to == PTX_U32 || to == PTX_S32 || to == PTX_F32 || to == PTX_F16 || to == PTX_BF16;
}

bool decode_compare_set(struct decoder *d)
{
    if (!type_count_is(d, 2))
        return false;
    enum ptx_type to = decode_type(d, 0), from = decode_type(d, 1);
    struct compare_plan *plan = decode_alloc(d, sizeof *plan);
    if (!set_values(to, from, plan))
        return decode_wrong(d, NULL, "'%s' cannot turn a comparison of .%s into a .%s", d->in->spelling,
                            ptx_type_name(from), ptx_type_name(to));
    d->out->fn = set_lanes;
    d->out->extra = plan;
    return plan_compare(d, from, plan) && decode_dst(d, 0, to, &d->out->dst);
}

/* selp: sub[0]: the predicate is negated. */
#define SELP_HANDLER(name, U, result)                                                             \
    static void name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)              \
    {                                                                                             \
        U *d = lane_data(w, in->dst);                                                             \
        const U *pa = lane_data(w, in->src[0]), *pb = lane_data(w, in->src[1]);                   \
        uint32_t chosen = read_pred(w, in->src[2], in->sub[0]);                                   \
        FOR_LANES(mask, U a = pa[i]; U b = pb[i]; U v = chosen & 1u << i ? a : b; d[i] = result); \
    }
SELP_HANDLER(selp_16, uint32_t, (uint16_t)v)
SELP_HANDLER(selp_32, uint32_t, v)
SELP_HANDLER(selp_64, uint64_t, v)

/* slct: a where c >= 0, else b; a NaN gives b, and -0.0 gives a. */
static inline bool chosen_s32(uint32_t c) { return (int32_t)c >= 0; }
static inline bool chosen_f32(uint32_t c) { return c <= 0x7f800000u || c == 0x80000000u; }
static inline bool chosen_f32_flush(uint32_t c) { return c <= 0x7f800000u || (c & 0xff800000u) == 0x80000000u; }
#define SLCT_HANDLERS(suffix)                                                                                   \
    HANDLER_3(slct_16_##suffix, uint32_t, uint32_t, uint32_t, uint32_t, (uint16_t)(chosen_##suffix(c) ? a : b)) \
    HANDLER_3(slct_32_##suffix, uint32_t, uint32_t, uint32_t, uint32_t, chosen_##suffix(c) ? a : b)             \
    HANDLER_3(slct_64_##suffix, uint64_t, uint64_t, uint64_t, uint32_t, chosen_##suffix(c) ? a : b)
SLCT_HANDLERS(s32)
SLCT_HANDLERS(f32)
SLCT_HANDLERS(f32_flush)

/* 0, 1, 2 for 16, 32 and 64 bits; -1: not a type of selp and slct. */
static int select_width(enum ptx_type t)
{
    switch (t) {
    case PTX_B16:
    case PTX_U16:
    case PTX_S16: return 0;
    case PTX_B32:
    case PTX_U32:
    case PTX_S32:
    case PTX_F32: return 1;
    case PTX_B64:
    case PTX_U64:
    case PTX_S64:
    case PTX_F64: return 2;
    default: return -1;
    }
}

bool decode_compare_selp(struct decoder *d)
{
    static exec_handler *const handlers[] = {selp_16, selp_32, selp_64};
    enum ptx_type t = decode_type(d, 0);
    int width = select_width(t);
    bool negated;
    if (!type_count_is(d, 1))
        return false;
    if (width < 0)
        return wrong_type(d, t);
    if (!decode_count(d, 4, 4) || !plain_operands(d) || !decode_dst(d, 0, t, &d->out->dst) ||
        !decode_src(d, 1, t, &d->out->src[0]) || !decode_src(d, 2, t, &d->out->src[1]) ||
        !decode_pred_src(d, decode_operand(d, 3), &d->out->src[2], &negated))
        return false;
    d->out->sub[0] = negated;
    d->out->fn = handlers[width];
    return true;
}

bool decode_compare_slct(struct decoder *d)
{
    static exec_handler *const handlers[3][3] = {
        {slct_16_s32, slct_32_s32, slct_64_s32},
        {slct_16_f32, slct_32_f32, slct_64_f32},
        {slct_16_f32_flush, slct_32_f32_flush, slct_64_f32_flush},
    };
    enum ptx_type t = decode_type(d, 0), chooser = decode_type(d, 1);
    int width = select_width(t);
    if (!type_count_is(d, 2))
        return false;
    if (width < 0)
        return wrong_type(d, t);
    if (chooser != PTX_S32 && chooser != PTX_F32)
        return wrong_type(d, chooser);
    int way = chooser == PTX_S32 ? 0 : decode_take(d, PTX_MOD_FTZ) ? 2 : 1;
    d->out->fn = handlers[way][width];
    return TAKE_OPERANDS(d, t, t, t, chooser);
}
