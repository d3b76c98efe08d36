/* f32 arithmetic: one handler an operation, rounding, .ftz and .sat, so that each is a loop the compiler can vectorise.
 * PTX ISA 9.7.3; f32x2 is the same on both halves of a 64-bit register. Arithmetic itself is in float_round.h. */
#include "exec/float_handlers.h"
#include "exec/float_round.h"
#include "exec/lanes.h"

/* X(rounding, ftz, sat) for all forms. */
#define FORMS_OF(X, op, r) X(op, r, 0, 0) X(op, r, 0, 1) X(op, r, 1, 0) X(op, r, 1, 1)
#define ALL_FORMS(X, op)   FORMS_OF(X, op, 0) FORMS_OF(X, op, 1) FORMS_OF(X, op, 2) FORMS_OF(X, op, 3)
#define ROW(name, r)                                                         \
    {                                                                        \
        {name##_##r##00, name##_##r##01}, { name##_##r##10, name##_##r##11 } \
    }
#define TABLE(name) \
    static exec_handler *const name##_table[4][2][2] = {ROW(name, 0), ROW(name, 1), ROW(name, 2), ROW(name, 3)};

#define BINARY(op, r, f, s) HANDLER_2(op##_##r##f##s, float, float, float, f32_##op(a, b, (enum exec_rounding)r, f, s))
#define TERNARY(op, r, f, s) \
    HANDLER_3(op##_##r##f##s, float, float, float, float, f32_##op(a, b, c, (enum exec_rounding)r, f, s))

ALL_FORMS(BINARY, add)
ALL_FORMS(BINARY, sub)
ALL_FORMS(BINARY, mul)
ALL_FORMS(TERNARY, fma)
TABLE(add)
TABLE(sub)
TABLE(mul)
TABLE(fma)

/* div, rcp and sqrt have no .sat. */
#define NARROW_FORMS(X) X(0, 0) X(0, 1) X(1, 0) X(1, 1) X(2, 0) X(2, 1) X(3, 0) X(3, 1)
#define QUOTIENTS(r, f)                                                                 \
    HANDLER_2(div_##r##f, float, float, float, f32_div(a, b, (enum exec_rounding)r, f)) \
    HANDLER_1(rcp_##r##f, float, float, f32_div(1.0f, a, (enum exec_rounding)r, f))     \
    HANDLER_1(sqrt_##r##f, float, float, f32_sqrt(a, (enum exec_rounding)r, f))
NARROW_FORMS(QUOTIENTS)
#define NARROW_TABLE(name)                            \
    static exec_handler *const name##_table[4][2] = { \
        {name##_00, name##_01}, {name##_10, name##_11}, {name##_20, name##_21}, {name##_30, name##_31}};
NARROW_TABLE(div)
NARROW_TABLE(rcp)
NARROW_TABLE(sqrt)

/* min and max. The plain forms are frequent; the rest reads its flags. */
enum { PICK_FTZ = 1, PICK_NAN = 2, PICK_XORSIGN = 4, PICK_FORMS = 8 };

FLOAT_INLINE float pick(float a, float b, bool max, int flags)
{
    a = f32_flush_if(a, flags & PICK_FTZ);
    b = f32_flush_if(b, flags & PICK_FTZ);
    uint32_t sign = flags & PICK_XORSIGN ? (f32_bits(a) ^ f32_bits(b)) & 0x80000000u : 0;
    if (flags & PICK_XORSIGN) {
        a = f32_from(f32_bits(a) & 0x7fffffffu);
        b = f32_from(f32_bits(b) & 0x7fffffffu);
    }
    float x = max ? f32_max(a, b, flags & PICK_NAN) : f32_min(a, b, flags & PICK_NAN);
    return f32_from(f32_is_nan(x) ? F32_NAN : f32_bits(x) | sign);
}

#define PICK_HANDLERS(n)                                                                     \
    HANDLER_2(min_##n, float, float, float, pick(a, b, false, n))                            \
    HANDLER_2(max_##n, float, float, float, pick(a, b, true, n))                             \
    HANDLER_3(min3_##n, float, float, float, float, pick(pick(a, b, false, n), c, false, n)) \
    HANDLER_3(max3_##n, float, float, float, float, pick(pick(a, b, true, n), c, true, n))
PICK_HANDLERS(0)
PICK_HANDLERS(1)
PICK_HANDLERS(2)
PICK_HANDLERS(3)
PICK_HANDLERS(4)
PICK_HANDLERS(5)
PICK_HANDLERS(6)
PICK_HANDLERS(7)
#define PICK_TABLE(name)                                                                           \
    static exec_handler *const name##_table[PICK_FORMS] = {name##_0, name##_1, name##_2, name##_3, \
                                                           name##_4, name##_5, name##_6, name##_7};
PICK_TABLE(min)
PICK_TABLE(max)
PICK_TABLE(min3)
PICK_TABLE(max3)

/* The hardware adds -0 to |a| or -a, so that a NaN becomes the one NaN. */
HANDLER_1(abs_0, float, uint32_t, f32_canonical(f32_from(a & 0x7fffffffu)))
HANDLER_1(abs_1, float, uint32_t, f32_canonical(f32_flush(f32_from(a & 0x7fffffffu))))
HANDLER_1(neg_0, float, uint32_t, f32_canonical(f32_from(a ^ 0x80000000u)))
HANDLER_1(neg_1, float, uint32_t, f32_canonical(f32_flush(f32_from(a ^ 0x80000000u))))
HANDLER_2(copysign_bits, uint32_t, uint32_t, uint32_t, (a & 0x80000000u) | (b & 0x7fffffffu))

static bool in_class(uint32_t bits, enum float_class c)
{
    uint32_t magnitude = bits & 0x7fffffffu;
    switch (c) {
    case FLOAT_FINITE: return magnitude < 0x7f800000u;
    case FLOAT_INFINITE: return magnitude == 0x7f800000u;
    case FLOAT_NUMBER: return magnitude <= 0x7f800000u;
    case FLOAT_NOTANUMBER: return magnitude > 0x7f800000u;
    case FLOAT_NORMAL:
        return (magnitude >= 0x00800000u || magnitude == 0) &&
               magnitude < 0x7f800000u; /* zero is one to the hardware */
    case FLOAT_SUBNORMAL: return magnitude < 0x00800000u && magnitude != 0;
    }
    return false;
}

static void testp(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const uint32_t *a = lane_data(w, in->src[0]);
    uint32_t bits = 0;
    for (int i = 0; i < WARP_LANES; i++)
        bits |= (uint32_t)in_class(a[i], in->sub[0]) << i;
    write_pred(w, in->dst, mask, bits);
}

exec_handler *float32_handler(enum float_op op, const struct float_mode *m)
{
    int flags = (m->ftz ? PICK_FTZ : 0) | (m->nan ? PICK_NAN : 0) | (m->xorsign ? PICK_XORSIGN : 0);
    switch (op) {
    case FLOAT_ADD: return add_table[m->rounding][m->ftz][m->sat];
    case FLOAT_SUB: return sub_table[m->rounding][m->ftz][m->sat];
    case FLOAT_MUL: return mul_table[m->rounding][m->ftz][m->sat];
    case FLOAT_FMA: return fma_table[m->rounding][m->ftz][m->sat];
    case FLOAT_DIV: return div_table[m->rounding][m->ftz];
    case FLOAT_RCP: return rcp_table[m->rounding][m->ftz];
    case FLOAT_SQRT: return sqrt_table[m->rounding][m->ftz];
    case FLOAT_MIN: return m->three_inputs ? min3_table[flags] : min_table[flags];
    case FLOAT_MAX: return m->three_inputs ? max3_table[flags] : max_table[flags];
    case FLOAT_ABS: return m->ftz ? abs_1 : abs_0;
    case FLOAT_NEG: return m->ftz ? neg_1 : neg_0;
    case FLOAT_COPYSIGN: return copysign_bits;
    case FLOAT_TESTP: return testp;
    }
    return NULL;
}

/* Lane i of an f32x2 register is the elements 2i and 2i + 1 of an array of floats. */
#define PACKED(op, r, f, call)                                                                                      \
    static void op##2_##r##f(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)                        \
    {                                                                                                               \
        float *d = lane_data(w, in->dst);                                                                           \
        const float *pa = lane_data(w, in->src[0]), *pb = lane_data(w, in->src[1]), *pc = lane_data(w, in->src[2]); \
        (void)pc;                                                                                                   \
        FOR_EACH_LANE(mask, i) {                                                                                    \
            for (uint32_t k = 2 * i; k < 2 * i + 2; k++)                                                            \
                d[k] = call;                                                                                        \
        }                                                                                                           \
    }
#define PACKED_OPS(r, f)                                                      \
    PACKED(add, r, f, f32_add(pa[k], pb[k], (enum exec_rounding)r, f, false)) \
    PACKED(sub, r, f, f32_sub(pa[k], pb[k], (enum exec_rounding)r, f, false)) \
    PACKED(mul, r, f, f32_mul(pa[k], pb[k], (enum exec_rounding)r, f, false)) \
    PACKED(fma, r, f, f32_fma(pa[k], pb[k], pc[k], (enum exec_rounding)r, f, false))
NARROW_FORMS(PACKED_OPS)
NARROW_TABLE(add2)
NARROW_TABLE(sub2)
NARROW_TABLE(mul2)
NARROW_TABLE(fma2)

exec_handler *float32x2_handler(enum float_op op, const struct float_mode *m)
{
    switch (op) {
    case FLOAT_ADD: return add2_table[m->rounding][m->ftz];
    case FLOAT_SUB: return sub2_table[m->rounding][m->ftz];
    case FLOAT_MUL: return mul2_table[m->rounding][m->ftz];
    case FLOAT_FMA: return fma2_table[m->rounding][m->ftz];
    default: return NULL;
    }
}
