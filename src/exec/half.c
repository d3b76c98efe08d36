/* f16 and bf16 arithmetic, alone and packed in pairs. PTX ISA 9.7.4 and 9.7.5.
 *
 * f16 is computed in f32 and bf16 (which shares f32's exponent range) in double; sums of products are rounded to odd
 * there, so that the rounding to 16 bits is the only one that counts. Sums and products alone need no such care: twice
 * the digits and two more are enough. */
#include "exec/float_handlers.h"
#include "exec/float_round.h"
#include "exec/lanes.h"

enum { HALF_FTZ = 1, HALF_SAT = 2, HALF_RELU = 4, HALF_OOB = 8, HALF_NAN = 16, HALF_XORSIGN = 32 };
#define OOB_NAN 0x7ff7 /* the NaN (of either sign) that fma.oob takes for "out of bounds", in both formats */

FLOAT_INLINE bool half_is_nan(uint16_t h, bool bf) { return (h & 0x7fff) > (bf ? 0x7f80 : 0x7c00); }

/* The last step of every operation. flags are constants in the plain handlers. */
FLOAT_INLINE uint16_t half_finish(uint16_t h, bool bf, int flags)
{
    if (flags & HALF_SAT)
        h = half_is_nan(h, bf) || (h & 0x8000) ? 0 : h > 0x3c00 ? 0x3c00 : h;
    if (flags & HALF_RELU)
        h = half_is_nan(h, bf) ? 0x7fff : (h & 0x8000) ? 0 : h;
    return h;
}

FLOAT_INLINE uint16_t half_flush_if(uint16_t h, int flags) { return flags & HALF_FTZ ? f16_flush(h) : h; }

/* Rounds; with .ftz a result is flushed if rounding to 11 bits, with no bound on the exponent, leaves it below 2^-14
 * (see f32_flush_tiny). */
FLOAT_INLINE uint16_t f16_narrow(float x, int flags)
{
    uint16_t h = f16_from_f32(x);
    bool tiny = (flags & HALF_FTZ) && (f16_from_f32(x * 0x1p10f) & 0x7fff) < 0x2c00;
    return tiny ? h & 0x8000 : h;
}

FLOAT_INLINE uint16_t f16_add(uint16_t a, uint16_t b, int flags)
{
    return f16_narrow(f16_to_f32(a) + f16_to_f32(b), flags);
}
FLOAT_INLINE uint16_t f16_mul(uint16_t a, uint16_t b, int flags)
{
    return f16_narrow(f16_to_f32(a) * f16_to_f32(b), flags);
}

FLOAT_INLINE uint16_t f16_fma(uint16_t a, uint16_t b, uint16_t c, int flags)
{
    float product = f16_to_f32(a) * f16_to_f32(b), addend = f16_to_f32(c), sum = product + addend;
    float addend_part = sum - product, product_part = sum - addend_part;
    float error = (product - product_part) + (addend - addend_part);
    uint32_t u = f32_bits(sum);
    bool inexact = error < 0.0f || error > 0.0f;
    uint32_t odd = (error > 0.0f) == (sum > 0.0f) ? u + 1 : u - 1;
    return f16_narrow(f32_from(inexact && !(u & 1) ? odd : u), flags);
}

FLOAT_INLINE uint16_t bf16_narrow(double sum, double error) { return bf16_from_f32(f32_round_odd(sum, error)); }
FLOAT_INLINE double bf16_wide(uint16_t h) { return (double)bf16_to_f32(h); }
FLOAT_INLINE uint16_t bf16_add(uint16_t a, uint16_t b) { return bf16_narrow(bf16_wide(a) + bf16_wide(b), 0.0); }
FLOAT_INLINE uint16_t bf16_mul(uint16_t a, uint16_t b) { return bf16_narrow(bf16_wide(a) * bf16_wide(b), 0.0); }

FLOAT_INLINE uint16_t bf16_fma(uint16_t a, uint16_t b, uint16_t c)
{
    double product = bf16_wide(a) * bf16_wide(b), addend = bf16_wide(c), sum = product + addend;
    return bf16_narrow(sum, f64_sum_error(product, addend, sum));
}

FLOAT_INLINE uint16_t half_add(uint16_t a, uint16_t b, bool bf, int flags)
{
    a = half_flush_if(a, flags), b = half_flush_if(b, flags);
    return half_finish(bf ? bf16_add(a, b) : f16_add(a, b, flags), bf, flags);
}

FLOAT_INLINE uint16_t half_sub(uint16_t a, uint16_t b, bool bf, int flags)
{
    return half_add(a, b ^ 0x8000, bf, flags);
}

FLOAT_INLINE uint16_t half_mul(uint16_t a, uint16_t b, bool bf, int flags)
{
    a = half_flush_if(a, flags), b = half_flush_if(b, flags);
    return half_finish(bf ? bf16_mul(a, b) : f16_mul(a, b, flags), bf, flags);
}

FLOAT_INLINE uint16_t half_fma(uint16_t a, uint16_t b, uint16_t c, bool bf, int flags)
{
    a = half_flush_if(a, flags), b = half_flush_if(b, flags), c = half_flush_if(c, flags);
    uint16_t r = half_finish(bf ? bf16_fma(a, b, c) : f16_fma(a, b, c, flags), bf, flags);
    bool outside = (a & 0x7fff) == OOB_NAN || (b & 0x7fff) == OOB_NAN;
    return (flags & HALF_OOB) && outside ? 0 : r;
}

FLOAT_INLINE int half_order(uint16_t h) { return (h & 0x8000) ? -1 - (h & 0x7fff) : h; }

/* Of two numbers the first where take_a; a NaN loses unless .NaN. */
FLOAT_INLINE uint16_t half_pick(uint16_t a, uint16_t b, bool max, bool bf, int flags)
{
    a = half_flush_if(a, flags), b = half_flush_if(b, flags);
    uint16_t sign = flags & HALF_XORSIGN ? (a ^ b) & 0x8000 : 0, clear = flags & HALF_XORSIGN ? 0x8000 : 0;
    a &= (uint16_t)~clear, b &= (uint16_t)~clear;
    bool nan_a = half_is_nan(a, bf), nan_b = half_is_nan(b, bf);
    bool take_a = max ? half_order(a) > half_order(b) : half_order(a) < half_order(b);
    uint16_t number = nan_a ? b : nan_b ? a : take_a ? a : b;
    bool nan = flags & HALF_NAN ? nan_a || nan_b : nan_a && nan_b;
    return nan ? 0x7fff : number | sign;
}

FLOAT_INLINE uint16_t half_min(uint16_t a, uint16_t b, bool bf, int flags) { return half_pick(a, b, false, bf, flags); }
FLOAT_INLINE uint16_t half_max(uint16_t a, uint16_t b, bool bf, int flags) { return half_pick(a, b, true, bf, flags); }

FLOAT_INLINE uint16_t half_abs(uint16_t a, bool bf, int flags)
{
    a = half_flush_if(a, flags);
    return half_is_nan(a, bf) ? 0x7fff : a & 0x7fff;
}

FLOAT_INLINE uint16_t half_neg(uint16_t a, bool bf, int flags)
{
    a = half_flush_if(a, flags);
    return half_is_nan(a, bf) ? 0x7fff : a ^ 0x8000;
}

/* Handlers: for each operation alone and packed, plain (flags 0) and with the flags of sub[1]. */
#define LOW(x)          ((uint16_t)(x))
#define HIGH(x)         ((uint16_t)((x) >> 16))
#define PAIR(low, high) ((uint32_t)(low) | (uint32_t)(high) << 16)

#define HALF_1(name, bf)                                                                                            \
    HANDLER_1(name##_##bf##_one, uint32_t, uint32_t, half_##name(LOW(a), bf, 0))                                    \
    HANDLER_1(name##_##bf##_two, uint32_t, uint32_t, PAIR(half_##name(LOW(a), bf, 0), half_##name(HIGH(a), bf, 0))) \
    HANDLER_1(name##_##bf##_one_flags, uint32_t, uint32_t, half_##name(LOW(a), bf, in->sub[1]))                     \
    HANDLER_1(name##_##bf##_two_flags, uint32_t, uint32_t,                                                          \
              PAIR(half_##name(LOW(a), bf, in->sub[1]), half_##name(HIGH(a), bf, in->sub[1])))
#define HALF_2(name, bf)                                                                                          \
    HANDLER_2(name##_##bf##_one, uint32_t, uint32_t, uint32_t, half_##name(LOW(a), LOW(b), bf, 0))                \
    HANDLER_2(name##_##bf##_two, uint32_t, uint32_t, uint32_t,                                                    \
              PAIR(half_##name(LOW(a), LOW(b), bf, 0), half_##name(HIGH(a), HIGH(b), bf, 0)))                     \
    HANDLER_2(name##_##bf##_one_flags, uint32_t, uint32_t, uint32_t, half_##name(LOW(a), LOW(b), bf, in->sub[1])) \
    HANDLER_2(name##_##bf##_two_flags, uint32_t, uint32_t, uint32_t,                                              \
              PAIR(half_##name(LOW(a), LOW(b), bf, in->sub[1]), half_##name(HIGH(a), HIGH(b), bf, in->sub[1])))
#define HALF_3(name, bf)                                                                                             \
    HANDLER_3(name##_##bf##_one, uint32_t, uint32_t, uint32_t, uint32_t, half_##name(LOW(a), LOW(b), LOW(c), bf, 0)) \
    HANDLER_3(name##_##bf##_two, uint32_t, uint32_t, uint32_t, uint32_t,                                             \
              PAIR(half_##name(LOW(a), LOW(b), LOW(c), bf, 0), half_##name(HIGH(a), HIGH(b), HIGH(c), bf, 0)))       \
    HANDLER_3(name##_##bf##_one_flags, uint32_t, uint32_t, uint32_t, uint32_t,                                       \
              half_##name(LOW(a), LOW(b), LOW(c), bf, in->sub[1]))                                                   \
    HANDLER_3(name##_##bf##_two_flags, uint32_t, uint32_t, uint32_t, uint32_t,                                       \
              PAIR(half_##name(LOW(a), LOW(b), LOW(c), bf, in->sub[1]),                                              \
                   half_##name(HIGH(a), HIGH(b), HIGH(c), bf, in->sub[1])))
#define BOTH(X, name) X(name, 0) X(name, 1)

BOTH(HALF_2, add)
BOTH(HALF_2, sub)
BOTH(HALF_2, mul)
BOTH(HALF_3, fma)
BOTH(HALF_2, min)
BOTH(HALF_2, max)
BOTH(HALF_1, abs)
BOTH(HALF_1, neg)

/* [bf16][packed][with flags] */
typedef exec_handler *const half_table[2][2][2];
#define HALF_ROW(name, bf)                                                                           \
    {                                                                                                \
        {name##_##bf##_one, name##_##bf##_one_flags}, { name##_##bf##_two, name##_##bf##_two_flags } \
    }
#define HALF_TABLE(name)                     \
    {                                        \
        HALF_ROW(name, 0), HALF_ROW(name, 1) \
    }
static half_table half_tables[] = {
    [FLOAT_ADD] = HALF_TABLE(add), [FLOAT_SUB] = HALF_TABLE(sub), [FLOAT_MUL] = HALF_TABLE(mul),
    [FLOAT_FMA] = HALF_TABLE(fma), [FLOAT_MIN] = HALF_TABLE(min), [FLOAT_MAX] = HALF_TABLE(max),
    [FLOAT_ABS] = HALF_TABLE(abs), [FLOAT_NEG] = HALF_TABLE(neg),
};

exec_handler *half_handler(enum float_op op, enum ptx_type type, const struct float_mode *m, struct exec_inst *out)
{
    if ((size_t)op >= sizeof half_tables / sizeof half_tables[0])
        return NULL;
    bool bf = type == PTX_BF16 || type == PTX_BF16X2, packed = type == PTX_F16X2 || type == PTX_BF16X2;
    int flags = (m->ftz ? HALF_FTZ : 0) | (m->sat ? HALF_SAT : 0) | (m->relu ? HALF_RELU : 0) |
                (m->oob ? HALF_OOB : 0) | (m->nan ? HALF_NAN : 0) | (m->xorsign ? HALF_XORSIGN : 0);
    out->sub[1] = (uint8_t)flags;
    return half_tables[op][bf][packed][flags != 0];
}
