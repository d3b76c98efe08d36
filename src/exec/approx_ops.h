/* The transcendental functions of the special function unit: ex2, lg2, sin, cos, tanh of f32 operands. PTX ISA 9.7.3.
 *
 * Series in double, rounded once: the results are nearest to the exact value in nearly all cases, well inside the ISA's
 * bounds, the same on every host (no libm, basic operations only), and the loops over them vectorise. They are not the
 * bits of the hardware's tables, which no text defines. */
#ifndef HEDDLE_EXEC_APPROX_OPS_H
#define HEDDLE_EXEC_APPROX_OPS_H

#include "exec/float_bits.h"

/* x to the nearest integer, for |x| below 2^51. */
#define ROUNDING_MAGIC 0x1.8p52

/* 2^x. The power series of 2^f for |f| <= 1/2, scaled through the exponent field. x beyond +-300 is as good as infinite
 * to the callers. */
FLOAT_INLINE double approx_ex2_double(double x)
{
    x = x < -300.0 ? -300.0 : x;
    x = x > 300.0 ? 300.0 : x;
    double magic = x + ROUNDING_MAGIC, f = x - (magic - ROUNDING_MAGIC);
    double p = 0x1.c3bd650fc2986p-36;
    p = p * f + 0x1.e8cac7351bb25p-32;
    p = p * f + 0x1.e4cf5158b8ecap-28;
    p = p * f + 0x1.b5253d395e7c4p-24;
    p = p * f + 0x1.62c0223a5c824p-20;
    p = p * f + 0x1.ffcbfc588b0c7p-17;
    p = p * f + 0x1.430912f86c787p-13;
    p = p * f + 0x1.5d87fe78a6731p-10;
    p = p * f + 0x1.3b2ab6fba4e77p-7;
    p = p * f + 0x1.c6b08d704a0c0p-5;
    p = p * f + 0x1.ebfbdff82c58fp-3;
    p = p * f + 0x1.62e42fefa39efp-1;
    p = p * f + 1.0;
    /* The integer is in the low bits of magic, as a two's complement number. */
    uint64_t scale = (f64_bits(magic) << 52) + 0x3ff0000000000000ull;
    return p * f64_from(scale);
}

FLOAT_INLINE float approx_ex2(float x)
{
    float r = (float)approx_ex2_double((double)x);
    return f32_is_nan(x) ? x : r;
}

/* log2 x = e + log2 m with m around 1, by the series of atanh in (m - 1) / (m + 1). */
FLOAT_INLINE float approx_lg2(float x)
{
    uint64_t u = f64_bits((double)x);             /* normal also for a subnormal x */
    uint64_t shifted = u - 0x3fe6a09e667f3bcdull; /* sqrt(1/2): m is between it and its double */
    int32_t e = (int32_t)((int64_t)shifted >> 32) >> 20;
    double m = f64_from(u - ((uint64_t)(int64_t)e << 52));
    double t = (m - 1.0) / (m + 1.0), z = t * t;
    double p = 0x1.1964ec6fc9491p-3;
    p = p * z + 0x1.3703c1f4d0ffep-3;
    p = p * z + 0x1.5b9ac9b743f0dp-3;
    p = p * z + 0x1.89f3b1694cffep-3;
    p = p * z + 0x1.c68f568d31760p-3;
    p = p * z + 0x1.0c9a84994022dp-2;
    p = p * z + 0x1.484b13d7c02a9p-2;
    p = p * z + 0x1.a61762a7aded9p-2;
    p = p * z + 0x1.2776c50ef9bfep-1;
    p = p * z + 0x1.ec709dc3a03fdp-1;
    p = p * z + 0x1.71547652b82fep+1;
    float r = (float)((double)e + p * t);
    uint32_t bits = f32_bits(x);
    r = bits == 0x7f800000u ? x : r;
    r = bits > 0x7f800000u ? f32_from(F32_NAN) : r; /* NaN, and all below zero */
    return (bits & 0x7fffffffu) == 0 ? f32_from(0xff800000u) : r;
}

/* sin of s turns, |s| <= 1/4. */
FLOAT_INLINE double approx_sin_turns(double s)
{
    double z = s * s;
    double p = 0x1.2877020d52cf0p-10;
    p = p * z - 0x1.8a404211f9547p-7;
    p = p * z + 0x1.aaec32af93359p-4;
    p = p * z - 0x1.6fadb9f155744p-1;
    p = p * z + 0x1.e8f434d018d63p+1;
    p = p * z - 0x1.e3074fde8871fp+3;
    p = p * z + 0x1.50783487ee782p+5;
    p = p * z - 0x1.32d2cce62bd86p+6;
    p = p * z + 0x1.466bc6775aae2p+6;
    p = p * z - 0x1.4abbce625be53p+5;
    p = p * z + 0x1.921fb54442d18p+2;
    return p * s;
}

/* |x| in turns less the whole ones, in [-1/2, 1/2]. The ISA bounds the error up to 100 pi only; an x of 2^52 turns or
 * more counts as whole. */
FLOAT_INLINE double approx_turns(float x)
{
    double turns = (double)f32_from(f32_bits(x) & 0x7fffffffu) * 0x1.45f306dc9c883p-3;
    turns = turns < 0x1p50 ? turns : 0.0;
    return turns - ((turns + ROUNDING_MAGIC) - ROUNDING_MAGIC);
}

/* Infinities and NaN have no sine. */
FLOAT_INLINE float approx_finite(float r, float x)
{
    return (f32_bits(x) & 0x7fffffffu) >= 0x7f800000u ? f32_from(F32_NAN) : r;
}

FLOAT_INLINE float approx_sin(float x)
{
    double f = approx_turns(x);
    f = f > 0.25 ? 0.5 - f : f;
    f = f < -0.25 ? -0.5 - f : f;
    float r = (float)approx_sin_turns(f);
    return approx_finite(f32_from(f32_bits(r) ^ (f32_bits(x) & 0x80000000u)), x);
}

FLOAT_INLINE float approx_cos(float x)
{
    double f = approx_turns(x);
    double r = approx_sin_turns(0.25 - (f < 0.0 ? -f : f));
    return approx_finite((float)r, x);
}

FLOAT_INLINE float approx_tanh(float x)
{
    double a = (double)f32_from(f32_bits(x) & 0x7fffffffu);
    a = a > 100.0 ? 100.0 : a;
    double e = approx_ex2_double(a * -0x1.71547652b82fep+1);
    double series = a - a * a * a * 0x1.5555555555555p-2;
    double r = a < 0x1p-12 ? series : (1.0 - e) / (1.0 + e);
    float y = f32_from(f32_bits((float)r) | (f32_bits(x) & 0x80000000u));
    return f32_is_nan(x) ? x : y;
}

/* d = a * (1/b): beyond 2^126 the reciprocal is taken for zero. */
FLOAT_INLINE float approx_div(float a, float b, bool ftz)
{
    a = f32_flush_if(a, ftz);
    b = f32_flush_if(b, ftz);
    uint32_t large = f32_bits(b) & 0x7fffffffu;
    float zero = a * f32_from(f32_bits(b) & 0x80000000u);
    float r = large > 0x7e800000u && large < 0x7f800000u ? zero : a / b;
    return f32_finish(r, ftz, false);
}

/* rcp and rsqrt of f64 see the upper word of their operand and give the upper word of the result. */
FLOAT_INLINE uint64_t approx_upper(uint64_t bits)
{
    return (bits & 0x7ff0000000000000ull) == 0 ? bits & (1ull << 63) : bits & 0xffffffff00000000ull;
}

#endif
