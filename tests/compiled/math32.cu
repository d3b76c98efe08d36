/*
 * The single-precision math library, as far as it compiles to instructions with one right answer. What uses ex2.approx and its like is in math32_approx.cu.
 */
#define EXPORT extern "C" __global__ void
#define PLANES                                                                                                         \
    const unsigned n = gridDim.x * blockDim.x;                                                                         \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                                          \
    unsigned plane = 0;                                                                                                \
    const float x = in[i], y = in[n + i], z = in[2 * n + i];                                                           \
    (void)y;                                                                                                           \
    (void)z
#define PUT(VALUE) out[n * plane++ + i] = (VALUE)

EXPORT f_trig(const float *in, float *out)
{
    PLANES;
    float s, c;
    PUT(sinf(x));
    PUT(cosf(x));
    sincosf(z, &s, &c);
    PUT(s - c);
    PUT(sinpif(x));
    PUT(cospif(x));
}

EXPORT f_inverse(const float *in, float *out)
{
    PLANES;
    PUT(atanf(x));
    PUT(atan2f(x, y));
}

EXPORT f_log(const float *in, float *out)
{
    PLANES;
    PUT(logf(x));
    PUT(log10f(fabsf(x)));
    PUT(log1pf(y));
    PUT(logbf(x));
    PUT((float)ilogbf(y));
}

EXPORT f_divide(const float *in, float *out)
{
    PLANES;
    int quotient = 0;
    PUT(x / y);
    PUT(1.0f / z);
    PUT(fmodf(x, y));
    PUT(remainderf(x, y));
    PUT(remquof(y, z, &quotient));
    PUT((float)quotient);
    PUT(sqrtf(x));
    PUT(x / 10.0f);
}

EXPORT f_parts(const float *in, float *out)
{
    PLANES;
    int exponent = 0;
    float whole;
    PUT(frexpf(x, &exponent));
    PUT((float)exponent);
    PUT(ldexpf(x, (int)(i % 211) - 105));
    PUT(scalbnf(y, (int)(i % 401) - 200));
    PUT(modff(x, &whole));
    PUT(whole);
    PUT(nextafterf(x, y));
    PUT(fdimf(x, y));
    PUT(fmaxf(x, fminf(y, z)));
    PUT(copysignf(x, y));
    PUT(__saturatef(x));
    PUT(rintf(x));
    PUT(roundf(x));
    PUT(floorf(y));
    PUT(ceilf(z));
    PUT(truncf(x));
    PUT(__int_as_float(lrintf(x)));
    PUT(__int_as_float((int)llroundf(y)));
    PUT(__uint_as_float(__float2uint_ru(z)));
}

EXPORT f_directed(const float *in, float *out)
{
    PLANES;
    PUT(__fadd_rd(x, y));
    PUT(__fadd_ru(x, y));
    PUT(__fmul_rz(x, y));
    PUT(__fmaf_rd(x, y, z));
    PUT(__fmaf_rz(x, y, z));
    PUT(fmaf(x, y, z));
    PUT(__fdiv_ru(x, y));
    PUT(__fdiv_rz(y, z));
    PUT(__fsqrt_rd(x));
    PUT(__frcp_ru(z));
    PUT(__fmaf_ieee_rn(x, y, z));
    PUT(x * y + z);
}

/* Compensated summation and a polynomial, whose results move by many bits when one operation is fused or reordered. */
EXPORT f_chain(const float *in, float *out)
{
    PLANES;
    float sum = 0, lost = 0, polynomial = 0, t = fmodf(x, 2.0f);
    for (unsigned k = 0; k < 64; k++) {
        float value = in[(i * 7 + k) % n];
        if (!isfinite(value) || fabsf(value) > 1e20f)
            continue;
        float term = value - lost;
        float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
        polynomial = polynomial * t + (float)k;
    }
    PUT(sum);
    PUT(lost);
    PUT(polynomial);
}
