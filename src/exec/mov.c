/* mov: registers, constants, special registers, addresses of variables and functions; packing and unpacking; the vector
 * forms of early PTX. PTX ISA 9.7.9.6 and 9.7.9.7.
 *
 * Clocks come from whoever drives the launch. %globaltimer is the same time in nanoseconds; without a model of
 * time a cycle counts as one. The performance counters %pm0..7 have nothing set up to count, and read as zero. */
#include "exec/lanes.h"
#include "exec/pick.h"
#include "exec/special_now.h"

static uint64_t nanoseconds(const struct exec_warp *w)
{
    uint64_t cycles = w->launch->clock(w->launch, w), khz = w->launch->clock_khz;
    return khz ? cycles / khz * 1000000 + cycles % khz * 1000000 / khz : cycles;
}

uint64_t special_now(const struct exec_warp *w, enum ptx_special s)
{
    switch (s) {
    case PTX_SREG_CLOCK: return (uint32_t)w->launch->clock(w->launch, w);
    case PTX_SREG_CLOCK_HI: return w->launch->clock(w->launch, w) >> 32;
    case PTX_SREG_CLOCK64: return w->launch->clock(w->launch, w);
    case PTX_SREG_GLOBALTIMER: return nanoseconds(w);
    case PTX_SREG_GLOBALTIMER_LO: return (uint32_t)nanoseconds(w);
    case PTX_SREG_GLOBALTIMER_HI: return nanoseconds(w) >> 32;
    case PTX_SREG_GRIDID: return w->launch->grid_id;
    default: return 0;
    }
}

HANDLER_1(mov_16, uint32_t, uint32_t, (uint16_t)a)
HANDLER_1(mov_32, uint32_t, uint32_t, a)
HANDLER_1(mov_64, uint64_t, uint64_t, a)

static void mov_128(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t *d = lane_data(w, in->dst);
    const uint64_t *a = lane_data(w, in->src[0]);
    FOR_EACH_LANE(mask, i) {
        d[i] = a[i];
        d[i + WARP_LANES] = a[i + WARP_LANES];
    }
}

static void mov_pred(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    write_pred(w, in->dst, mask, read_pred(w, in->src[0], in->sub[0]));
}

/* imm: the special register; sub[0]: bits of the destination. All lanes read at one moment. */
static void mov_dynamic(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t value = special_now(w, (enum ptx_special)in->imm);
    if (in->sub[0] == 64) {
        uint64_t *d = lane_data(w, in->dst);
        FOR_EACH_LANE(mask, i)
            d[i] = value;
    } else {
        uint32_t *d = lane_data(w, in->dst), low = in->sub[0] == 16 ? (uint16_t)value : (uint32_t)value;
        FOR_EACH_LANE(mask, i)
            d[i] = low;
    }
}

static const struct typed_handler mov_rows[] = {
    {PTX_U32, mov_32}, {PTX_S32, mov_32}, {PTX_B32, mov_32}, {PTX_F32, mov_32}, {PTX_U64, mov_64}, {PTX_S64, mov_64},
    {PTX_B64, mov_64}, {PTX_F64, mov_64}, {PTX_U16, mov_16}, {PTX_S16, mov_16}, {PTX_B16, mov_16}, {PTX_B128, mov_128},
};

/* Special registers were 16 bits wide in PTX 1.x, so a narrower mov is allowed; %gridid may be read in any width. */
static bool decode_mov_special(struct decoder *d, enum ptx_type t)
{
    const struct ptx_operand *o = decode_operand(d, 1);
    int have = ptx_type_bits(ptx_special_type(o->special)), need = ptx_type_bits(t);
    if (ptx_type_is_float(t) || need > have || (have == 64 && need < 64 && o->special != PTX_SREG_GRIDID))
        return decode_wrong(d, o, "%s is .%s and cannot be read as a .%s", ptx_special_name(o->special),
                            ptx_type_name(ptx_special_type(o->special)), ptx_type_name(t));
    if (!special_is_dynamic(o->special))
        return decode_src(d, 1, t, &d->out->src[0]);
    d->out->fn = mov_dynamic;
    d->out->imm = (int64_t)o->special;
    d->out->sub[0] = (uint8_t)need;
    return true;
}

static bool decode_mov_pred(struct decoder *d)
{
    bool negated;
    d->out->fn = mov_pred;
    if (!decode_pred_dst(d, decode_operand(d, 0), &d->out->dst) ||
        !decode_pred_src(d, decode_operand(d, 1), &d->out->src[0], &negated))
        return false;
    d->out->sub[0] = negated;
    return true;
}

/* Packing: d = {a, b, ...}, the first element lowest; unpacking the reverse. */
enum { MOV_ELEMENTS = 4 };
struct mov_elements {
    int count, bits, whole_bits;
    exec_ref to[MOV_ELEMENTS], from[MOV_ELEMENTS];
};

HANDLER_2(pack_2x32, uint64_t, uint32_t, uint32_t, (uint64_t)b << 32 | a)
HANDLER_2(pack_2x16, uint32_t, uint32_t, uint32_t, b << 16 | (uint16_t)a)

static void unpack_2x32(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t *low = lane_data(w, in->dst), *high = lane_data(w, in->dst2);
    const uint64_t *a = lane_data(w, in->src[0]);
    FOR_LANES(mask, low[i] = (uint32_t)a[i]; high[i] = (uint32_t)(a[i] >> 32));
}

static void unpack_2x16(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t *low = lane_data(w, in->dst), *high = lane_data(w, in->dst2);
    const uint32_t *a = lane_data(w, in->src[0]);
    FOR_LANES(mask, uint32_t v = a[i]; low[i] = (uint16_t)v; high[i] = v >> 16);
}

static uint64_t read_element(const struct exec_warp *w, exec_ref ref, int bits, uint32_t lane)
{
    if (bits == 64)
        return LANES_OF(const uint64_t, w, ref)[lane];
    return LANES_OF(const uint32_t, w, ref)[lane] & (UINT32_MAX >> (32 - bits));
}

static void write_element(struct exec_warp *w, exec_ref ref, int bits, uint32_t lane, uint64_t value)
{
    if (bits == 64)
        LANES_OF(uint64_t, w, ref)[lane] = value;
    else
        LANES_OF(uint32_t, w, ref)[lane] = (uint32_t)value & (UINT32_MAX >> (32 - bits));
}

static void pack_any(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct mov_elements *e = in->extra;
    FOR_EACH_LANE(mask, lane) {
        uint64_t words[2] = {0, 0};
        for (int k = 0; k < e->count; k++)
            words[k * e->bits / 64] |= read_element(w, e->from[k], e->bits, lane) << k * e->bits % 64;
        if (e->whole_bits == 128)
            LANES_OF(uint64_t, w, in->dst)[lane + WARP_LANES] = words[1];
        write_element(w, in->dst, e->whole_bits == 128 ? 64 : e->whole_bits, lane, words[0]);
    }
}

static void unpack_any(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct mov_elements *e = in->extra;
    FOR_EACH_LANE(mask, lane) {
        uint64_t words[2] = {read_element(w, in->src[0], e->whole_bits == 128 ? 64 : e->whole_bits, lane), 0};
        if (e->whole_bits == 128)
            words[1] = LANES_OF(uint64_t, w, in->src[0])[lane + WARP_LANES];
        for (int k = 0; k < e->count; k++)
            write_element(w, e->to[k], e->bits, lane, words[k * e->bits / 64] >> k * e->bits % 64);
    }
}

/* mov.v2, mov.v4: all read before any is written. */
static void mov_vector(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct mov_elements *e = in->extra;
    FOR_EACH_LANE(mask, lane) {
        uint64_t values[MOV_ELEMENTS];
        for (int k = 0; k < e->count; k++)
            values[k] = read_element(w, e->from[k], e->bits, lane);
        for (int k = 0; k < e->count; k++)
            write_element(w, e->to[k], e->bits, lane, values[k]);
    }
}

static enum ptx_type bits_type(int bits)
{
    return bits == 8 ? PTX_B8 : bits == 16 ? PTX_B16 : bits == 32 ? PTX_B32 : bits == 64 ? PTX_B64 : PTX_NO_TYPE;
}

static bool element_dsts(struct decoder *d, const struct ptx_operand *o, enum ptx_type t, struct mov_elements *e)
{
    for (int k = 0; k < e->count; k++)
        if (!decode_dst_of(d, &o->elements[k], t, &e->to[k]))
            return false;
    return true;
}

static bool element_srcs(struct decoder *d, const struct ptx_operand *o, enum ptx_type t, struct mov_elements *e)
{
    for (int k = 0; k < e->count; k++)
        if (!decode_src_of(d, &o->elements[k], t, &e->from[k]))
            return false;
    return true;
}

static bool decode_mov_elements(struct decoder *d, enum ptx_type t, const struct ptx_operand *dst,
                                const struct ptx_operand *src)
{
    bool pack = src->kind == PTX_OPERAND_VECTOR;
    const struct ptx_operand *vector = pack ? src : dst;
    if (t != PTX_B16 && t != PTX_B32 && t != PTX_B64 && t != PTX_B128)
        return decode_wrong(d, vector, "only .b16, .b32, .b64 and .b128 are made of, or split into, elements");
    struct mov_elements *e = decode_alloc(d, sizeof *e);
    e->whole_bits = ptx_type_bits(t);
    e->count = (int)vector->element_count;
    if ((pack && dst->kind == PTX_OPERAND_VECTOR) || (e->count != 2 && e->count != 4))
        return decode_wrong(d, vector, "'%s' takes a vector of 2 or 4 elements on one side", d->in->spelling);
    e->bits = e->whole_bits / e->count;
    enum ptx_type element = bits_type(e->bits);
    if (element == PTX_NO_TYPE)
        return decode_wrong(d, vector, "a .%s does not split into %d elements", ptx_type_name(t), e->count);
    d->out->extra = e;
    bool pair = e->count == 2 && (e->bits == 32 || e->bits == 16);
    if (pack) {
        if (!decode_dst_of(d, dst, t, &d->out->dst) || !element_srcs(d, src, element, e))
            return false;
        d->out->src[0] = e->from[0];
        d->out->src[1] = e->from[1];
        d->out->fn = !pair ? pack_any : e->bits == 32 ? pack_2x32 : pack_2x16;
        return true;
    }
    if (!decode_src_of(d, src, t, &d->out->src[0]) || !element_dsts(d, dst, element, e))
        return false;
    d->out->dst = e->to[0];
    d->out->dst2 = e->to[1];
    d->out->fn = !pair ? unpack_any : e->bits == 32 ? unpack_2x32 : unpack_2x16;
    return true;
}

static bool decode_mov_vector(struct decoder *d, enum ptx_type t, const struct ptx_operand *dst,
                              const struct ptx_operand *src, int count)
{
    if (!find_handler(mov_rows, COUNT_OF(mov_rows), t) || t == PTX_B128)
        return wrong_type(d, t);
    if (dst->kind != PTX_OPERAND_VECTOR || src->kind != PTX_OPERAND_VECTOR || (int)dst->element_count != count ||
        (int)src->element_count != count)
        return decode_wrong(d, dst, "'%s' takes vectors of %d elements", d->in->spelling, count);
    struct mov_elements *e = decode_alloc(d, sizeof *e);
    e->count = count;
    e->bits = ptx_type_bits(t);
    d->out->fn = mov_vector;
    d->out->extra = e;
    return element_dsts(d, dst, t, e) && element_srcs(d, src, t, e);
}

bool decode_mov(struct decoder *d)
{
    enum ptx_type t = decode_type(d, 0);
    if (!type_count_is(d, 1) || !decode_count(d, 2, 2) || !plain_operands(d))
        return false;
    const struct ptx_operand *dst = decode_operand(d, 0), *src = decode_operand(d, 1);
    int vector = decode_take(d, PTX_MOD_V2) ? 2 : decode_take(d, PTX_MOD_V4) ? 4 : 0;
    if (vector)
        return decode_mov_vector(d, t, dst, src, vector);
    if (t == PTX_PRED)
        return decode_mov_pred(d);
    if (dst->kind == PTX_OPERAND_VECTOR || src->kind == PTX_OPERAND_VECTOR)
        return decode_mov_elements(d, t, dst, src);
    if (!PICK(d, mov_rows, t) || !decode_dst(d, 0, t, &d->out->dst))
        return false;
    if (src->kind == PTX_OPERAND_SYMBOL && ptx_type_bits(t) < 64 &&
        (src->variable->space == PTX_SPACE_GLOBAL || src->variable->space == PTX_SPACE_CONST))
        return decode_wrong(d, src, "the address of %s takes 64 bits", src->variable->name);
    return src->kind == PTX_OPERAND_SPECIAL ? decode_mov_special(d, t) : decode_src(d, 1, t, &d->out->src[0]);
}
