/* Conversions of one lane. PTX ISA 9.7.9, cvt. The inline ones are for loops that vectorise; cvt_convert does any pair
 * of types. */
#ifndef HEDDLE_EXEC_CVT_OPS_H
#define HEDDLE_EXEC_CVT_OPS_H

#include "exec/float_round.h"
#include "exec/soft_float.h"

/* One end of a conversion. */
struct cvt_end {
    const struct soft_format *format; /* NULL: an integer */
    uint8_t bits;
    bool is_signed;
};

struct cvt_form {
    struct cvt_end from, to;
    enum exec_rounding rounding;
    bool integral; /* a floating result is rounded to an integer: .rni .rzi .rmi .rpi */
    bool ftz, sat, relu, satfinite;
};

/* bits: the source in its own width, anything above is ignored. The result is in the destination's width, sign-extended
 * to 64 bits where it is a signed integer. */
uint64_t cvt_convert(const struct cvt_form *f, uint64_t bits);

/* Float to integer: x is integral or not finite. Out of range gives the nearest integer; NaN gives zero, except that
 * conversions from or to 64 bits give the bit pattern with only the top bit set. last_below is the largest float below
 * limit. */
#define CVT_TO_INTEGER(name, F, I, least, limit, last_below, lowest, highest, nan) \
    FLOAT_INLINE I name(F x)                                                       \
    {                                                                              \
        F inside = x >= (least) ? x : (least);                                     \
        inside = inside < (limit) ? inside : (last_below);                         \
        I i = (I)inside;                                                           \
        i = x >= (limit) ? (highest) : i;                                          \
        i = x < (least) ? (lowest) : i;                                            \
        return x == x ? i : (nan);                                                 \
    }
CVT_TO_INTEGER(f32_to_s32, float, int32_t, -0x1p31f, 0x1p31f, 0x1.fffffep30f, INT32_MIN, INT32_MAX, 0)
CVT_TO_INTEGER(f32_to_u32, float, uint32_t, 0.0f, 0x1p32f, 0x1.fffffep31f, 0, UINT32_MAX, 0)
CVT_TO_INTEGER(f32_to_s64, float, int64_t, -0x1p63f, 0x1p63f, 0x1.fffffep62f, INT64_MIN, INT64_MAX, INT64_MIN)
CVT_TO_INTEGER(f32_to_u64, float, uint64_t, 0.0f, 0x1p64f, 0x1.fffffep63f, 0, UINT64_MAX, 1ull << 63)
CVT_TO_INTEGER(f64_to_s32, double, int32_t, -0x1p31, 0x1p31, 0x1p31 - 1, INT32_MIN, INT32_MAX, INT32_MIN)
CVT_TO_INTEGER(f64_to_u32, double, uint32_t, 0.0, 0x1p32, 0x1p32 - 1, 0, UINT32_MAX, 1u << 31)
CVT_TO_INTEGER(f64_to_s64, double, int64_t, -0x1p63, 0x1p63, 0x1.fffffffffffffp62, INT64_MIN, INT64_MAX, INT64_MIN)
CVT_TO_INTEGER(f64_to_u64, double, uint64_t, 0.0, 0x1p64, 0x1.fffffffffffffp63, 0, UINT64_MAX, 1ull << 63)

/* Between f32 and f64 a NaN keeps its sign and the upper bits of its payload, and becomes quiet. */
FLOAT_INLINE double f64_from_f32(float x)
{
    uint64_t u = f32_bits(x), nan = (u & 0x80000000u) << 32 | 0x7ff8000000000000ull | (u & 0x7fffffu) << 29;
    return f32_is_nan(x) ? f64_from(nan) : (double)x;
}

FLOAT_INLINE float f32_from_f64(double x)
{
    uint64_t u = f64_bits(x);
    uint32_t nan = (uint32_t)(u >> 32 & 0x80000000u) | 0x7fc00000u | (uint32_t)(u >> 29 & 0x3fffffu);
    return f64_is_nan(x) ? f32_from(nan) : (float)x;
}

#endif
