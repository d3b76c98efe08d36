/* f32 arithmetic in all four rounding modes, with no use of the host's rounding mode.
 *
 * Each operation is done to nearest and then moved by one unit in the last place if the exact result lies on the other
 * side. Which side that is follows from an exact comparison: sums in double with the error of the sum (Knuth's TwoSum),
 * products of two f32 are exact in double, and a quotient or root is multiplied back exactly. The loops over it still
 * vectorise. */
#ifndef HEDDLE_EXEC_FLOAT_ROUND_H
#define HEDDLE_EXEC_FLOAT_ROUND_H

#include "exec/float_bits.h"

#if defined(HOST_HAS_FMA)
/* a test wants the other kind of host */
#elif defined(__FP_FAST_FMAF) || defined(__ARM_FEATURE_FMA) || defined(__FMA__)
#define HOST_HAS_FMA 1
#else
#define HOST_HAS_FMA 0
#endif

/* x is the exact result rounded to nearest: above it where 'above', below it where 'below', equal to it where neither.
 * Signed zeros are the neighbours of the smallest subnormals of both signs; infinity is the upper neighbour of the
 * largest finite number. */
FLOAT_INLINE float f32_direct(float x, bool above, bool below, enum exec_rounding r)
{
    uint32_t u = f32_bits(x), magnitude = u & 0x7fffffffu;
    bool negative = u >> 31;
    uint32_t lower = magnitude == 0 ? 0x80000001u : negative ? u + 1 : u - 1;
    uint32_t upper = magnitude == 0 ? 0x00000001u : negative ? u - 1 : u + 1;
    bool outside = negative ? below : above; /* further from zero than the exact result */
    switch (r) {
    case ROUND_DOWN: return f32_from(above ? lower : u);
    case ROUND_UP: return f32_from(below ? upper : u);
    case ROUND_ZERO: return f32_from(outside && magnitude != 0 ? u - 1 : u);
    default: return x;
    }
}

/* The error of sum = a + b, exactly. NaN where sum is infinite. */
FLOAT_INLINE double f64_sum_error(double a, double b, double sum)
{
    double b_part = sum - a, a_part = sum - b_part;
    return (a - a_part) + (b - b_part);
}

/* The error of product = a * b, exactly, where neither it nor the product leaves the range of normal numbers. */
FLOAT_INLINE double f64_product_error(double a, double b, double product)
{
#if HOST_HAS_FMA
    return __builtin_fma(a, b, -product);
#else /* Dekker: each factor in two halves whose products are exact; a library's fma would be a call for each lane */
    const double split = 0x1p27 + 1.0;
    double a_big = a * split, b_big = b * split, a_high = a_big - (a_big - a), b_high = b_big - (b_big - b);
    double a_low = a - a_high, b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
}

/* x is the exact result rounded to nearest, and error what the exact result is more than that: its sign counts. For
 * numbers with two finite neighbours, and zeros without an error. */
FLOAT_INLINE double f64_direct(double x, double error, enum exec_rounding r)
{
    int64_t bits = (int64_t)f64_bits(x), sign = bits >> 63;
    int64_t lower = (r == ROUND_DOWN ? -1 : r == ROUND_ZERO ? ~sign : 0) & -(int64_t)(error < 0.0);
    int64_t upper = (r == ROUND_UP ? -1 : r == ROUND_ZERO ? sign : 0) & -(int64_t)(error > 0.0);
    int64_t step = lower - upper; /* -1, 0, 1 */
    return f64_from((uint64_t)(bits + ((step ^ sign) - sign)));
}

/* sum + error (sum is that value rounded to nearest) as f32. */
FLOAT_INLINE float f32_from_sum(double sum, double error, enum exec_rounding r)
{
    float x = (float)sum;
    double back = (double)x;
    bool above = back > sum || (back == sum && error < 0.0);
    bool below = back < sum || (back == sum && error > 0.0);
    return f32_direct(x, above, below, r);
}

/* An exact zero of a sum is negative when rounding down, unless both terms are +0. */
FLOAT_INLINE float f32_zero_sum(float x, double sum, double a, double b, enum exec_rounding r)
{
    uint32_t sign = (uint32_t)((f64_bits(a) | f64_bits(b)) >> 63) << 31;
    return r == ROUND_DOWN && sum == 0.0 ? f32_from(sign) : x;
}

FLOAT_INLINE float f32_sum(double a, double b, enum exec_rounding r)
{
    double sum = a + b;
    float x = f32_from_sum(sum, f64_sum_error(a, b, sum), r);
    return f32_zero_sum(x, sum, a, b, r);
}

/* sum + error cut to 53 bits so that the last bit says whether anything was lost: a later rounding to fewer bits is
 * then exact. */
FLOAT_INLINE double f64_round_odd(double sum, double error)
{
    uint64_t u = f64_bits(sum);
    bool inexact = error < 0.0 || error > 0.0;
    bool outward = (error > 0.0) == (sum > 0.0);
    uint64_t odd = outward ? u + 1 : u - 1;
    return f64_from(inexact && !(u & 1) ? odd : u);
}

/* The same cut to f32. */
FLOAT_INLINE float f32_round_odd(double sum, double error)
{
    float x = (float)sum;
    double back = (double)x;
    bool above = back > sum || (back == sum && error < 0.0);
    bool below = back < sum || (back == sum && error > 0.0);
    float cut = f32_direct(x, above, below, ROUND_ZERO);
    return f32_from(f32_bits(cut) | (uint32_t)(above || below));
}

FLOAT_INLINE float f32_fma_nearest(float a, float b, float c)
{
#if HOST_HAS_FMA
    return __builtin_fmaf(a, b, c);
#else
    double product = (double)a * (double)b, sum = product + (double)c;
    return (float)f64_round_odd(sum, f64_sum_error(product, (double)c, sum));
#endif
}

/* .ftz of a result: it is flushed if rounding to 24 bits, with no bound on the exponent, leaves it below the smallest
 * normal number. That is not the same as flushing a subnormal result: the largest values below may round up to 2^-126
 * only for want of digits there. x is the result and scaled the same result of operands that make it 2^24 times as
 * large, where there are digits enough. */
#define FLUSH_SCALE 0x1p24
FLOAT_INLINE float f32_flush_tiny(float x, float scaled)
{
    bool tiny = (f32_bits(scaled) & 0x7fffffffu) < f32_bits((float)(0x1p-126 * FLUSH_SCALE));
    return f32_from(tiny ? f32_bits(x) & 0x80000000u : f32_bits(x));
}

FLOAT_INLINE float f32_saturate_if(float x, bool sat) { return sat ? f32_saturate(x) : f32_canonical(x); }

FLOAT_INLINE float f32_add(float a, float b, enum exec_rounding r, bool ftz, bool sat)
{
    a = f32_flush_if(a, ftz);
    b = f32_flush_if(b, ftz);
    float x = r == ROUND_NEAREST ? a + b : f32_sum((double)a, (double)b, r);
    return f32_finish(x, ftz, sat); /* sums this small are exact */
}

FLOAT_INLINE float f32_sub(float a, float b, enum exec_rounding r, bool ftz, bool sat)
{
    return f32_add(a, -b, r, ftz, sat);
}

FLOAT_INLINE float f32_mul_rounded(float a, float b, enum exec_rounding r)
{
    return r == ROUND_NEAREST ? a * b : f32_from_sum((double)a * (double)b, 0.0, r);
}

FLOAT_INLINE float f32_mul(float a, float b, enum exec_rounding r, bool ftz, bool sat)
{
    a = f32_flush_if(a, ftz);
    b = f32_flush_if(b, ftz);
    float x = f32_mul_rounded(a, b, r);
    /* Scaling may overflow to infinity or NaN; neither is tiny, nor is then the product. */
    if (ftz)
        x = f32_flush_tiny(x, f32_mul_rounded(a * (float)FLUSH_SCALE, b, r));
    return f32_saturate_if(x, sat);
}

FLOAT_INLINE float f32_fma_rounded(float a, float b, float c, enum exec_rounding r)
{
    return r == ROUND_NEAREST ? f32_fma_nearest(a, b, c) : f32_sum((double)a * (double)b, (double)c, r);
}

FLOAT_INLINE float f32_fma(float a, float b, float c, enum exec_rounding r, bool ftz, bool sat)
{
    a = f32_flush_if(a, ftz);
    b = f32_flush_if(b, ftz);
    c = f32_flush_if(c, ftz);
    float x = f32_fma_rounded(a, b, c, r);
    /* As above: where a or c is so large that its multiple overflows, the sum is zero or has its last bit far above
     * 2^-126. */
    if (ftz)
        x = f32_flush_tiny(x, f32_fma_rounded(a * (float)FLUSH_SCALE, b, c * (float)FLUSH_SCALE, r));
    return f32_saturate_if(x, sat);
}

FLOAT_INLINE float f32_div(float a, float b, enum exec_rounding r, bool ftz)
{
    a = f32_flush_if(a, ftz);
    b = f32_flush_if(b, ftz);
    float x = a / b;
    double back = (double)x * (double)b; /* NaN, and so no correction, for quotients by zero or infinity */
    bool negative = f32_bits(b) >> 31;
    bool above = negative ? back < (double)a : back > (double)a;
    bool below = negative ? back > (double)a : back < (double)a;
    x = f32_direct(x, above, below, r);
    /* No quotient of 24-bit numbers is so close below 2^-126 that it could round up to it. */
    bool tiny = ftz && __builtin_fabs((double)a) < __builtin_fabs((double)b) * 0x1p-126;
    return f32_canonical(f32_from(tiny ? f32_bits(x) & 0x80000000u : f32_bits(x)));
}

FLOAT_INLINE float f32_sqrt(float a, enum exec_rounding r, bool ftz)
{
    a = f32_flush_if(a, ftz);
    float x = __builtin_sqrtf(a);
    double back = (double)x * (double)x;
    return f32_canonical(f32_direct(x, back > (double)a, back < (double)a, r));
}

/* min and max: NaN loses unless it is to propagate, -0 is less than +0. Sign-magnitude numbers are compared as
 * integers, with a NaN at the end of the range where it loses (or wins). */
FLOAT_INLINE int32_t f32_order(int32_t i) { return i ^ (int32_t)((uint32_t)(i >> 31) >> 1); } /* its own inverse */

FLOAT_INLINE int32_t f32_key(float x, int32_t nan) { return f32_is_nan(x) ? nan : f32_order((int32_t)f32_bits(x)); }

FLOAT_INLINE float f32_from_key(int32_t key)
{
    return f32_from(key == INT32_MIN ? F32_NAN : (uint32_t)f32_order(key)); /* INT32_MAX is F32_NAN as it stands */
}

FLOAT_INLINE float f32_min(float a, float b, bool propagate)
{
    int32_t nan = propagate ? INT32_MIN : INT32_MAX, x = f32_key(a, nan), y = f32_key(b, nan);
    return f32_from_key(x < y ? x : y);
}

FLOAT_INLINE float f32_max(float a, float b, bool propagate)
{
    int32_t nan = propagate ? INT32_MAX : INT32_MIN, x = f32_key(a, nan), y = f32_key(b, nan);
    return f32_from_key(x > y ? x : y);
}

#endif
