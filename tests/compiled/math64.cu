/*
 * The double-precision math library: every function on the same operands (fill f64), results side by side, a plane a function.
 */
#define EXPORT extern "C" __global__ void
#define PLANES                                                                                                         \
    const unsigned n = gridDim.x * blockDim.x;                                                                         \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                                          \
    unsigned plane = 0;                                                                                                \
    const double x = in[i], y = in[n + i], z = in[2 * n + i];                                                          \
    (void)y;                                                                                                           \
    (void)z
#define PUT(VALUE) out[n * plane++ + i] = (VALUE)

EXPORT d_trig(const double *in, double *out)
{
    PLANES;
    double s, c;
    PUT(sin(x));
    PUT(cos(x));
    PUT(tan(x));
    sincos(y, &s, &c);
    PUT(s - c);
    PUT(sinpi(x));
    PUT(cospi(x));
    sincospi(y, &s, &c);
    PUT(s * c);
}

EXPORT d_inverse(const double *in, double *out)
{
    PLANES;
    double small = fmod(x, 1.0);
    PUT(asin(small));
    PUT(acos(small));
    PUT(atan(x));
    PUT(atan2(x, y));
}

EXPORT d_exp(const double *in, double *out)
{
    PLANES;
    PUT(exp(x));
    PUT(exp2(x));
    PUT(exp10(x));
    PUT(expm1(x));
    PUT(exp(-fabs(y)));
}

EXPORT d_log(const double *in, double *out)
{
    PLANES;
    PUT(log(x));
    PUT(log2(fabs(x)));
    PUT(log10(fabs(y)));
    PUT(log1p(x));
    PUT(logb(x));
    PUT((double)ilogb(y));
}

EXPORT d_pow(const double *in, double *out)
{
    PLANES;
    PUT(pow(x, y));
    PUT(pow(fabs(y), z));
    PUT(pow(x, 3.0));
}

EXPORT d_roots(const double *in, double *out)
{
    PLANES;
    PUT(cbrt(x));
    PUT(rcbrt(y));
    PUT(hypot(x, y));
    PUT(rhypot(x, y));
    PUT(norm3d(x, y, z));
    PUT(sqrt(x));
    PUT(rsqrt(fabs(y)));
}

EXPORT d_hyperbolic(const double *in, double *out)
{
    PLANES;
    PUT(sinh(x));
    PUT(tanh(x));
    PUT(asinh(x));
}

EXPORT d_error(const double *in, double *out)
{
    PLANES;
    PUT(erf(x));
    PUT(erfc(x));
}

EXPORT d_gamma(const double *in, double *out)
{
    PLANES;
    PUT(tgamma(x));
    PUT(lgamma(y));
}

EXPORT d_divide(const double *in, double *out)
{
    PLANES;
    int quotient = 0;
    PUT(x / y);
    PUT(1.0 / z);
    PUT(fmod(x, y));
    PUT(remainder(x, y));
    PUT(remquo(y, z, &quotient));
    PUT((double)quotient);
    PUT(x / 3.0);
}

EXPORT d_parts(const double *in, double *out)
{
    PLANES;
    int exponent = 0;
    double whole;
    PUT(frexp(x, &exponent));
    PUT((double)exponent);
    PUT(ldexp(x, (int)(i % 211) - 105));
    PUT(scalbn(y, (int)(i % 4001) - 2000));
    PUT(modf(x, &whole));
    PUT(whole);
    PUT(nextafter(x, y));
    PUT(fdim(x, y));
    PUT(fmax(x, fmin(y, z)));
    PUT(copysign(x, y));
    PUT(isnan(x) * 1.0 + isinf(x) * 2.0 + signbit(x) * 4.0 + isfinite(x) * 8.0);
}

EXPORT d_round(const double *in, double *out)
{
    PLANES;
    PUT(rint(x));
    PUT(round(x));
    PUT(trunc(x));
    PUT(floor(x));
    PUT(ceil(x));
    PUT(nearbyint(y));
    PUT(__longlong_as_double(llrint(x)));
    PUT(__longlong_as_double(llround(y)));
    PUT(__longlong_as_double((long long)lrint(z)));
    PUT(__longlong_as_double(__double2ull_ru(x)));
    PUT((double)__double2int_rd(y));
    PUT((double)__double2float_rz(z));
}

EXPORT d_directed(const double *in, double *out)
{
    PLANES;
    PUT(__dadd_rd(x, y));
    PUT(__dadd_ru(x, y));
    PUT(__dmul_rz(x, y));
    PUT(__dmul_ru(y, z));
    PUT(__fma_rd(x, y, z));
    PUT(__fma_rz(x, y, z));
    PUT(fma(x, y, z));
    PUT(__ddiv_ru(x, y));
    PUT(__dsqrt_rd(x));
    PUT(__drcp_ru(z));
}
