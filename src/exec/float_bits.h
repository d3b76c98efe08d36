/* Bit-level pieces shared by everything that computes with floating-point lanes: NaN rules, flushing, saturation, and
 * the conversions between f32 and the 16-bit formats. PTX ISA 9.7.3 to 9.7.5.
 *
 * All of it is branch-free on purpose: the handlers' loops vectorise only if these inline functions turn into
 * selects. */
#ifndef HEDDLE_EXEC_FLOAT_BITS_H
#define HEDDLE_EXEC_FLOAT_BITS_H

#include "exec/decode.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FLOAT_INLINE static inline __attribute__((always_inline, unused))

FLOAT_INLINE uint32_t f32_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
FLOAT_INLINE float f32_from(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}
FLOAT_INLINE uint64_t f64_bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, 8);
    return u;
}
FLOAT_INLINE double f64_from(uint64_t u)
{
    double x;
    memcpy(&x, &u, 8);
    return x;
}

/* What an operation that yields NaN writes. The 32-bit and narrower units know one NaN. */
#define F32_NAN  0x7fffffffu
#define F16_NAN  0x7fffu
#define BF16_NAN 0x7fffu
/* The 64-bit unit hands on a NaN operand, made quiet; this is the NaN of an invalid operation. */
#define F64_INVALID 0xfff8000000000000ull
#define F64_QUIET   0x0008000000000000ull

FLOAT_INLINE bool f32_is_nan(float x) { return (f32_bits(x) & 0x7fffffffu) > 0x7f800000u; }
FLOAT_INLINE bool f64_is_nan(double x) { return (f64_bits(x) & ~(1ull << 63)) > 0x7ff0000000000000ull; }

FLOAT_INLINE float f32_canonical(float x) { return f32_is_nan(x) ? f32_from(F32_NAN) : x; }

/* .ftz: a subnormal becomes a zero of its sign. */
FLOAT_INLINE float f32_flush(float x)
{
    uint32_t u = f32_bits(x);
    return f32_from((u & 0x7f800000u) == 0 ? u & 0x80000000u : u);
}

FLOAT_INLINE float f32_flush_if(float x, bool ftz) { return ftz ? f32_flush(x) : x; }

/* .sat: to [0, 1]; NaN and -0 become +0. On the bits, as signed integers: a compiler may turn floating-point
 * comparisons into minimum and maximum instructions, which treat signalling NaNs in their own way. */
FLOAT_INLINE float f32_saturate(float x)
{
    int32_t s = (int32_t)f32_bits(x);
    s = s < 0 || s > 0x7f800000 ? 0 : s;
    return f32_from((uint32_t)(s < 0x3f800000 ? s : 0x3f800000));
}

FLOAT_INLINE double f64_saturate(double x)
{
    int64_t s = (int64_t)f64_bits(x);
    s = s < 0 || s > 0x7ff0000000000000 ? 0 : s;
    return f64_from((uint64_t)(s < 0x3ff0000000000000 ? s : 0x3ff0000000000000));
}

/* The last step of every f32 operation. */
FLOAT_INLINE float f32_finish(float x, bool ftz, bool sat)
{
    x = f32_flush_if(x, ftz);
    return sat ? f32_saturate(x) : f32_canonical(x);
}

/* The NaN of an f64 operation whose native result is r. */
FLOAT_INLINE double f64_nan1(double r, double a)
{
    uint64_t nan = f64_is_nan(a) ? f64_bits(a) | F64_QUIET : F64_INVALID;
    return f64_is_nan(r) ? f64_from(nan) : r;
}

/* Of two NaNs, the second operand's is handed on. */
FLOAT_INLINE double f64_nan2(double r, double a, double b)
{
    uint64_t nan = f64_is_nan(b) ? f64_bits(b) | F64_QUIET : f64_is_nan(a) ? f64_bits(a) | F64_QUIET : F64_INVALID;
    return f64_is_nan(r) ? f64_from(nan) : r;
}

/* Of a * b + c: b's before c's before a's. */
FLOAT_INLINE double f64_nan3(double r, double a, double b, double c)
{
    uint64_t late = f64_is_nan(a) ? f64_bits(a) | F64_QUIET : F64_INVALID;
    uint64_t nan = f64_is_nan(b) ? f64_bits(b) | F64_QUIET : f64_is_nan(c) ? f64_bits(c) | F64_QUIET : late;
    return f64_is_nan(r) ? f64_from(nan) : r;
}

/* A narrow NaN turns into a 32-bit NaN; which one is up to the caller. */
FLOAT_INLINE float f16_to_f32(uint16_t h)
{
    uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    float scaled = f32_from(magnitude) * 0x1p112f; /* moves the exponent's bias, and makes subnormals normal */
    uint32_t u = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : f32_bits(scaled);
    return f32_from(u | sign);
}

FLOAT_INLINE float bf16_to_f32(uint16_t h) { return f32_from((uint32_t)h << 16); }

/* To nearest even. */
FLOAT_INLINE uint16_t f16_from_f32(float x)
{
    uint32_t u = f32_bits(x) & 0x7fffffffu, sign = (f32_bits(x) >> 16) & 0x8000u;
    uint32_t normal = (u - 0x38000000u + 0x0fffu + ((u >> 13) & 1)) >> 13;
    /* Below 2^-14 the sum with a half puts the last kept bit at the end of the fraction. */
    uint32_t small = u < 0x38800000u ? u : 0;
    uint32_t subnormal = f32_bits(f32_from(small) + 0.5f) - 0x3f000000u;
    uint32_t r = u < 0x38800000u ? subnormal : normal;
    r = u >= 0x477ff000u ? 0x7c00u : r;
    return (uint16_t)(u > 0x7f800000u ? F16_NAN : (r | sign));
}

FLOAT_INLINE uint16_t bf16_from_f32(float x)
{
    uint32_t u = f32_bits(x), r = (u + 0x7fffu + ((u >> 16) & 1)) >> 16;
    return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? BF16_NAN : r);
}

FLOAT_INLINE uint16_t f16_flush(uint16_t h) { return (h & 0x7c00) == 0 ? h & 0x8000 : h; }

/* Rounding to an integer of the same format (the host's rounding mode is to nearest even). */
FLOAT_INLINE float f32_integral(float x, enum exec_rounding r)
{
    return r == ROUND_NEAREST ? __builtin_rintf(x)
           : r == ROUND_ZERO  ? __builtin_truncf(x)
           : r == ROUND_DOWN  ? __builtin_floorf(x)
                              : __builtin_ceilf(x);
}

FLOAT_INLINE double f64_integral(double x, enum exec_rounding r)
{
    return r == ROUND_NEAREST ? __builtin_rint(x)
           : r == ROUND_ZERO  ? __builtin_trunc(x)
           : r == ROUND_DOWN  ? __builtin_floor(x)
                              : __builtin_ceil(x);
}

#endif
