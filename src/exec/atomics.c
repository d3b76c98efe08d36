/* atom and red (PTX ISA 9.7.13: parallel synchronisation). Lanes take effect in ascending order, each as a whole;
 * scopes and orderings change no values.
 * The frequent 32- and 64-bit operations have handlers of their own; the rest goes through one table of operations. */
#include "exec/atomics.h"

#include "exec/access.h"
#include "exec/atomic_floats.h"

enum { MAX_ELEMENTS = 8 };

struct atomic {
    struct access_address address;
    exec_ref dst[MAX_ELEMENTS], src[MAX_ELEMENTS];
    uint8_t op, type, count, element_bytes, bytes;
};

/* Handlers */

static const uint64_t *locate(struct exec_warp *w, const struct atomic *a, uint32_t mask, uint64_t hosts[WARP_LANES])
{
    access_addresses(w, &a->address, mask);
    const uint64_t *at = access_locate(w, (enum ptx_space)a->address.space, mask, a->bytes, a->bytes, true, hosts);
    w->access.is_atomic = true;
    return w->addresses_only && w->access.space == PTX_SPACE_GLOBAL ? NULL
                                                                    : at; /* in shared memory they are done at once */
}

/* Is the lane's address global? Where the lanes of a generic access differ in space, their addresses are still
 * generic. */
static bool lane_is_global(const struct exec_warp *w, uint32_t lane)
{
    const struct memory *m = w->launch->memory;
    return w->access.space == PTX_SPACE_GLOBAL && w->addr[lane] - m->reserved_base >= m->heap_base - m->reserved_base;
}

/* One operation on elements of type T in registers of type R. */
#define ATOMIC(name, T, R, expression)                                               \
    static void name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask) \
    {                                                                                \
        uint64_t hosts[WARP_LANES];                                                  \
        const uint64_t *at = locate(w, in->extra, mask, hosts);                      \
        R *d = lane_data(w, in->dst);                                                \
        const R *pb = lane_data(w, in->src[0]), *pc = lane_data(w, in->src[1]);      \
        bool watched = w->launch->watched;                                           \
        if (!at)                                                                     \
            return;                                                                  \
        FOR_EACH_LANE(mask, i) {                                                     \
            T old, b = (T)pb[i], c = (T)pc[i], now;                                  \
            memcpy(&old, memory_pointer(at[i]), sizeof old);                         \
            (void)b, (void)c;                                                        \
            now = (T)(expression);                                                   \
            if (watched)                                                             \
                exec_watched_write(w, memory_pointer(at[i]), &now, sizeof now);      \
            else                                                                     \
                memcpy(memory_pointer(at[i]), &now, sizeof now);                     \
            d[i] = (R)old;                                                           \
        }                                                                            \
    }

ATOMIC(and_32, uint32_t, uint32_t, old &b)
ATOMIC(or_32, uint32_t, uint32_t, old | b)
ATOMIC(xor_32, uint32_t, uint32_t, old ^ b)
ATOMIC(exch_32, uint32_t, uint32_t, b)
ATOMIC(cas_16, uint16_t, uint32_t, old == b ? c : old)
ATOMIC(cas_32, uint32_t, uint32_t, old == b ? c : old)
ATOMIC(add_32, uint32_t, uint32_t, old + b)
ATOMIC(inc_32, uint32_t, uint32_t, old >= b ? 0 : old + 1)
ATOMIC(dec_32, uint32_t, uint32_t, old == 0 || old > b ? b : old - 1)
ATOMIC(min_u32, uint32_t, uint32_t, b < old ? b : old)
ATOMIC(max_u32, uint32_t, uint32_t, b > old ? b : old)
ATOMIC(min_s32, int32_t, uint32_t, b < old ? b : old)
ATOMIC(max_s32, int32_t, uint32_t, b > old ? b : old)
ATOMIC(and_64, uint64_t, uint64_t, old &b)
ATOMIC(or_64, uint64_t, uint64_t, old | b)
ATOMIC(xor_64, uint64_t, uint64_t, old ^ b)
ATOMIC(exch_64, uint64_t, uint64_t, b)
ATOMIC(cas_64, uint64_t, uint64_t, old == b ? c : old)
ATOMIC(add_64, uint64_t, uint64_t, old + b)
ATOMIC(min_u64, uint64_t, uint64_t, b < old ? b : old)
ATOMIC(max_u64, uint64_t, uint64_t, b > old ? b : old)
ATOMIC(min_s64, int64_t, uint64_t, b < old ? b : old)
ATOMIC(max_s64, int64_t, uint64_t, b > old ? b : old)
ATOMIC(add_single, uint32_t, uint32_t, f32_bits(add_f32(f32_from(old), f32_from(b), lane_is_global(w, i))))
ATOMIC(add_double, uint64_t, uint64_t, f64_bits(add_f64(f64_from(old), f64_from(b), lane_is_global(w, i))))
ATOMIC(add_half, uint16_t, uint32_t, combine_f16(ATOMIC_ADD, old, b))
ATOMIC(add_bhalf, uint16_t, uint32_t, combine_bf16(ATOMIC_ADD, old, b))
ATOMIC(add_half2, uint32_t, uint32_t, combine_floating(ATOMIC_ADD, PTX_F16X2, old, b, false))
ATOMIC(add_bhalf2, uint32_t, uint32_t, combine_floating(ATOMIC_ADD, PTX_BF16X2, old, b, false))

/* exch and cas of 128 bits; registers are low words, then high words. */
static void atomic_128(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct atomic *a = in->extra;
    uint64_t hosts[WARP_LANES];
    const uint64_t *at = locate(w, a, mask, hosts);
    uint64_t *d = lane_data(w, in->dst);
    const uint64_t *b = lane_data(w, in->src[0]), *c = lane_data(w, in->src[1]);
    if (!at)
        return;
    FOR_EACH_LANE(mask, i) {
        uint64_t old[2], given[2] = {b[i], b[WARP_LANES + i]};
        memcpy(old, memory_pointer(at[i]), sizeof old);
        if (a->op == ATOMIC_CAS) {
            bool equal = memcmp(old, given, sizeof old) == 0;
            given[0] = equal ? c[i] : old[0];
            given[1] = equal ? c[WARP_LANES + i] : old[1];
        }
        access_write(w, memory_pointer(at[i]), given, sizeof given);
        d[i] = old[0];
        d[WARP_LANES + i] = old[1];
    }
}

/* Vectors (global memory only): each element is an operation of its own. All elements fit 32-bit registers. */
static void atomic_vector(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct atomic *a = in->extra;
    uint64_t hosts[WARP_LANES];
    const uint64_t *at = locate(w, a, mask, hosts);
    if (!at)
        return;
    FOR_EACH_LANE(mask, i) {
        uint32_t given[MAX_ELEMENTS]; /* read first: a destination may be a source too */
        for (int n = 0; n < a->count; n++)
            given[n] = LANES_OF(uint32_t, w, a->src[n])[i];
        for (int n = 0; n < a->count; n++) {
            uint8_t *p = memory_pointer(at[i] + (uint64_t)n * a->element_bytes);
            uint32_t old = 0;
            memcpy(&old, p, a->element_bytes);
            uint32_t now = (uint32_t)atomic_combine((enum atomic_op)a->op, (enum ptx_type)a->type, old, given[n], 0,
                                                    lane_is_global(w, i));
            access_write(w, p, &now, a->element_bytes);
            LANES_OF(uint32_t, w, a->dst[n])[i] = old;
        }
    }
}

/* Decoding */

struct atomic_row {
    enum atomic_op op;
    enum ptx_type type;
    exec_handler *fn;
};
static const struct atomic_row rows[] = {
    {ATOMIC_AND, PTX_B32, and_32},        {ATOMIC_OR, PTX_B32, or_32},       {ATOMIC_XOR, PTX_B32, xor_32},
    {ATOMIC_AND, PTX_B64, and_64},        {ATOMIC_OR, PTX_B64, or_64},       {ATOMIC_XOR, PTX_B64, xor_64},
    {ATOMIC_EXCH, PTX_B32, exch_32},      {ATOMIC_EXCH, PTX_B64, exch_64},   {ATOMIC_EXCH, PTX_B128, atomic_128},
    {ATOMIC_CAS, PTX_B16, cas_16},        {ATOMIC_CAS, PTX_B32, cas_32},     {ATOMIC_CAS, PTX_B64, cas_64},
    {ATOMIC_CAS, PTX_B128, atomic_128},   {ATOMIC_ADD, PTX_U32, add_32},     {ATOMIC_ADD, PTX_S32, add_32},
    {ATOMIC_ADD, PTX_U64, add_64},        {ATOMIC_ADD, PTX_F32, add_single}, {ATOMIC_ADD, PTX_F64, add_double},
    {ATOMIC_ADD, PTX_F16, add_half},      {ATOMIC_ADD, PTX_BF16, add_bhalf}, {ATOMIC_ADD, PTX_F16X2, add_half2},
    {ATOMIC_ADD, PTX_BF16X2, add_bhalf2}, {ATOMIC_INC, PTX_U32, inc_32},     {ATOMIC_DEC, PTX_U32, dec_32},
    {ATOMIC_MIN, PTX_U32, min_u32},       {ATOMIC_MIN, PTX_S32, min_s32},    {ATOMIC_MIN, PTX_U64, min_u64},
    {ATOMIC_MIN, PTX_S64, min_s64},       {ATOMIC_MAX, PTX_U32, max_u32},    {ATOMIC_MAX, PTX_S32, max_s32},
    {ATOMIC_MAX, PTX_U64, max_u64},       {ATOMIC_MAX, PTX_S64, max_s64},
};

static bool is_half(enum ptx_type t) { return t == PTX_F16 || t == PTX_BF16; }

static bool is_packed_half(enum ptx_type t) { return t == PTX_F16X2 || t == PTX_BF16X2; }

static bool pick_scalar(struct decoder *d, const struct atomic *a)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].op == (enum atomic_op)a->op && rows[i].type == (enum ptx_type)a->type) {
            d->out->fn = rows[i].fn;
            return true;
        }
    return decode_wrong(d, NULL, "%s: this operation has no form for .%s", d->in->spelling,
                        ptx_type_name((enum ptx_type)a->type));
}

/* .v2 .v4 .f32 add; .v2 .v4 .v8 of .f16 and .bf16, .v2 .v4 of the packed ones: add, min, max */
static bool pick_vector(struct decoder *d, const struct atomic *a)
{
    enum ptx_type type = (enum ptx_type)a->type;
    bool good = type == PTX_F32 ? a->op == ATOMIC_ADD && a->count <= 4
                : is_half(type) ? a->op == ATOMIC_ADD || a->op == ATOMIC_MIN || a->op == ATOMIC_MAX
                : is_packed_half(type)
                    ? (a->op == ATOMIC_ADD || a->op == ATOMIC_MIN || a->op == ATOMIC_MAX) && a->count <= 4
                    : false;
    if (!good || (a->address.space != PTX_SPACE_GLOBAL && a->address.space != PTX_SPACE_NONE))
        return decode_wrong(d, NULL, "%s: no such vector operation", d->in->spelling);
    d->out->fn = atomic_vector;
    return true;
}

static bool decode_vector_operands(struct decoder *d, struct atomic *a, bool has_result)
{
    const struct ptx_operand *to = has_result ? decode_operand(d, 0) : NULL,
                             *from = decode_operand(d, has_result ? 2 : 1);
    bool sink = to && to->kind == PTX_OPERAND_SINK;
    if (from->kind != PTX_OPERAND_VECTOR || from->element_count != a->count)
        return decode_wrong(d, from, "%s: %d registers in braces are needed here", d->in->spelling, a->count);
    if (to && !sink && (to->kind != PTX_OPERAND_VECTOR || to->element_count != a->count))
        return decode_wrong(d, to, "%s: %d registers in braces are needed here", d->in->spelling, a->count);
    for (int n = 0; n < a->count; n++) {
        a->dst[n] = decode_scratch(d, 32);
        if (!decode_src_of(d, &from->elements[n], (enum ptx_type)a->type, &a->src[n]))
            return false;
        if (to && !sink && !decode_dst_of(d, &to->elements[n], (enum ptx_type)a->type, &a->dst[n]))
            return false;
    }
    return true;
}

static bool decode_scalar_operands(struct decoder *d, const struct atomic *a, bool has_result)
{
    int first = has_result ? 2 : 1;
    enum ptx_type type = (enum ptx_type)a->type;
    d->out->dst = decode_scratch(d, ptx_type_bits(type));
    if (has_result && !decode_dst(d, 0, type, &d->out->dst))
        return false;
    if (!decode_src(d, first, type, &d->out->src[0]))
        return false;
    d->out->src[1] = d->out->src[0];
    return a->op != ATOMIC_CAS || decode_src(d, first + 1, type, &d->out->src[1]);
}

static bool take_noftz(struct decoder *d, enum ptx_type type)
{
    bool needed = is_half(type) || is_packed_half(type);
    if (needed && !decode_take(d, PTX_MOD_NOFTZ))
        return decode_wrong(d, NULL, "%s: .noftz is required with .%s", d->in->spelling, ptx_type_name(type));
    return true;
}

static int take_vector(struct decoder *d)
{
    return decode_take(d, PTX_MOD_V2) ? 2 : decode_take(d, PTX_MOD_V4) ? 4 : decode_take(d, PTX_MOD_V8) ? 8 : 1;
}

bool decode_red_async(struct decoder *d); /* mbarrier.c */

bool decode_atom(struct decoder *d)
{
    bool has_result = d->in->opcode == PTX_OP_atom;
    if (!has_result && decode_has(d, PTX_MOD_ASYNC))
        return decode_red_async(d);
    struct atomic *a = decode_alloc(d, sizeof *a);
    enum ptx_space space = decode_take_space(d);
    enum atomic_op op = atomic_take_op(d);
    enum ptx_type type = decode_type(d, 0);
    exec_ref policy;
    int vector = take_vector(d), operands = 2 + has_result + (op == ATOMIC_CAS);
    bool hint = decode_has(d, PTX_MOD_L2_CACHE_HINT);
    decode_take_memory_hints(d);
    if (d->in->type_count != 1 || op == ATOMIC_OPS || (!has_result && (op == ATOMIC_CAS || op == ATOMIC_EXCH)))
        return decode_wrong(d, NULL, "%s: one operation and one type are needed", d->in->spelling);
    if (space != PTX_SPACE_NONE && space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED)
        return decode_wrong(d, NULL, "%s: the space must be .global or .shared", d->in->spelling);
    a->op = (uint8_t)op;
    a->type = (uint8_t)type;
    a->count = (uint8_t)vector;
    a->element_bytes = (uint8_t)(ptx_type_bits(type) / 8);
    a->bytes = (uint8_t)(a->element_bytes * vector);
    d->out->extra = a;
    if (!take_noftz(d, type) || !decode_count(d, operands + hint, operands + hint) ||
        (hint && !decode_src(d, operands, PTX_B64, &policy)) ||
        !access_decode_address(d, decode_operand(d, has_result), space, &a->address))
        return false;
    if (vector > 1)
        return pick_vector(d, a) && decode_vector_operands(d, a, has_result);
    return pick_scalar(d, a) && decode_scalar_operands(d, a, has_result);
}
