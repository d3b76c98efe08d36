/*
 * The bulkier functions of the double-precision math library.
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

EXPORT d_bessel(const double *in, double *out)
{
    PLANES;
    PUT(j0(x));
    PUT(j1(x));
    PUT(y0(y));
    PUT(y1(fabs(y)));
    PUT(jn(3, z));
    PUT(cyl_bessel_i0(x));
}

EXPORT d_norms(const double *in, double *out)
{
    PLANES;
    PUT(norm4d(x, y, z, x - y));
    PUT(rnorm3d(x, y, z));
    PUT(erfcinv(fabs(fmod(x, 2.0))));
    PUT(normcdfinv(fabs(fmod(y, 1.0))));
}

EXPORT d_more(const double *in, double *out)
{
    PLANES;
    PUT(erfcx(y));
    PUT(erfinv(fmod(z, 1.0)));
    PUT(normcdf(x));
    PUT(cosh(x));
    PUT(acosh(fabs(y)));
    PUT(atanh(fmod(z, 1.0)));
    PUT(__ddiv_rz(y, z));
    PUT(__dsqrt_ru(fabs(y)));
}
