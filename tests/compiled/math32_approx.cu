/*
 * Single-precision functions that compile to approximate instructions (ex2, lg2, rcp, sqrt, rsqrt, sin, cos, tanh, div.full): compared within a
 * tolerance, on operands of moderate size (fill f32-mild).
 */
#define EXPORT extern "C" __global__ void
#define PLANES                                                                                                         \
    const unsigned n = gridDim.x * blockDim.x;                                                                         \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                                          \
    unsigned plane = 0;                                                                                                \
    const float x = in[i], y = in[n + i];                                                                              \
    (void)y
#define PUT(VALUE) out[n * plane++ + i] = (VALUE)

EXPORT a_exp(const float *in, float *out)
{
    PLANES;
    PUT(expf(x));
    PUT(exp2f(x));
    PUT(exp10f(x));
    PUT(expm1f(x));
    PUT(__expf(y));
    PUT(__exp10f(y));
}

EXPORT a_log(const float *in, float *out)
{
    PLANES;
    PUT(log2f(fabsf(x)));
    PUT(fabsf(y) > 1.5f || fabsf(y) < 0.7f ? __logf(fabsf(y)) : 0);
    PUT(fabsf(y) > 1.5f || fabsf(y) < 0.7f ? __log2f(fabsf(y)) : 0);
    PUT(fabsf(y) > 1.5f || fabsf(y) < 0.7f ? __log10f(fabsf(y)) : 0);
}

EXPORT a_hyperbolic(const float *in, float *out)
{
    PLANES;
    PUT(sinhf(x));
    PUT(coshf(x));
    PUT(tanhf(x));
    PUT(asinhf(y));
    PUT(acoshf(1.0f + fabsf(y)));
    PUT(atanhf(fmodf(y, 1.0f)));
}

EXPORT a_pow(const float *in, float *out)
{
    PLANES;
    PUT(powf(x, y));
    PUT(powf(fabsf(x), 2.5f));
    PUT(cbrtf(x));
    PUT(rcbrtf(y));
    PUT(hypotf(x, y));
    PUT(rsqrtf(fabsf(x)));
    PUT(rhypotf(x, y));
}

EXPORT a_error(const float *in, float *out)
{
    PLANES;
    PUT(erff(x));
    PUT(erfcf(x));
    PUT(tgammaf(y));
    PUT(lgammaf(fabsf(y) + 3.0f));
    PUT(normcdff(x));
}

EXPORT a_fast(const float *in, float *out)
{
    PLANES;
    PUT(__fdividef(x, y));
    PUT(__frsqrt_rn(fabsf(x)));
    PUT(__powf(fabsf(x) + 2.0f, 1.5f));
    float rcp, root, full, ratio;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(rcp) : "f"(x));
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(fabsf(x)));
    asm("div.full.f32 %0, %1, %2;" : "=f"(full) : "f"(x), "f"(y));
    asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(ratio) : "f"(x), "f"(y));
    PUT(rcp);
    PUT(root);
    PUT(full);
    PUT(ratio);
}

EXPORT a_trig(const float *in, float *out)
{
    PLANES;
    PUT(tanf(x));
    PUT(asinf(fmodf(x, 1.0f)));
    PUT(acosf(fmodf(y, 1.0f)));
}

/* Absolute error within half a turn: fill f32-unit times pi. */
EXPORT a_sine(const float *in, float *out)
{
    PLANES;
    PUT(__sinf(x * 3.14159265f));
    PUT(__cosf(x * 3.14159265f));
    float s, c;
    __sincosf(y * 3.14159265f, &s, &c);
    PUT(s - c);
    PUT(__tanf(y));
}
