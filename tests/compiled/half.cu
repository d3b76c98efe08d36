/*
 * Half and bfloat16 through cuda_fp16.h and cuda_bf16.h: arithmetic, comparison, conversion, vectors of two. Operands are random bits: all classes of values.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define EXPORT extern "C" __global__ void
#define PUT(VALUE) out[n * plane++ + i] = (VALUE)

static __device__ unsigned bits(__half2 v) { return *(unsigned *)&v; }
static __device__ unsigned bits(__nv_bfloat162 v) { return *(unsigned *)&v; }
static __device__ unsigned bits(__half v) { return __half_as_ushort(v); }
static __device__ unsigned bits(__nv_bfloat16 v) { return __bfloat16_as_ushort(v); }

template <typename two> static __device__ void arithmetic(const unsigned *in, unsigned *out)
{
    const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned plane = 0;
    unsigned wa = in[i], wb = in[n + i], wc = in[2 * n + i];
    two a = *(two *)&wa, b = *(two *)&wb, c = *(two *)&wc;
    PUT(bits(__hadd2(a, b)));
    PUT(bits(__hsub2(a, b)));
    PUT(bits(__hmul2(a, b)));
    PUT(bits(__hfma2(a, b, c)));
    PUT(bits(__hadd2_sat(a, b)));
    PUT(bits(__hmul2_rn(a, b)));
    PUT(bits(__hneg2(a)));
    PUT(bits(__habs2(b)));
    PUT(bits(__hmin2(a, b)));
    PUT(bits(__hmax2_nan(a, b)));
    PUT(bits(__heq2(a, b)));
    PUT(bits(__hltu2(a, b)));
    PUT(__hge2_mask(a, b));
    PUT(bits(__lowhigh2highlow(c)) ^ bits(__hneg2(__lowhigh2highlow(b))));
    PUT(__hbgt2(a, b) + 2u * __hbneu2(a, b) + 4u * (__hisnan2(a).x == __hisnan2(a).y));
}

template <typename one, typename two> static __device__ void scalars(const unsigned *in, unsigned *out)
{
    const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned plane = 0;
    unsigned wa = in[i], wb = in[n + i];
    two pa = *(two *)&wa, pb = *(two *)&wb;
    one a = pa.x, b = pb.y;
    PUT(bits(a + b));
    PUT(bits(a * b));
    PUT(bits(a - b));
    PUT(bits(-a));
#if __CUDA_ARCH__ >= 800
    PUT(bits(__hfma_relu(a, b, pa.y)));
#else
    PUT(bits(__hfma(a, b, pa.y)));
#endif
    PUT(bits(__hmax(a, b)));
    PUT((a < b) + 2 * (a >= b) + 4 * (a == b) + 8 * (a != b) + 16 * __hisinf(a));
    PUT(bits(hfloor(a)));
    PUT(bits(hrint(b)));
    PUT(bits(htrunc(a)));
    PUT(bits(hceil(b)));
}

EXPORT half_two(const unsigned *in, unsigned *out) { arithmetic<__half2>(in, out); }
EXPORT half_one(const unsigned *in, unsigned *out) { scalars<__half, __half2>(in, out); }
#if __CUDA_ARCH__ >= 800
EXPORT bfloat_two(const unsigned *in, unsigned *out) { arithmetic<__nv_bfloat162>(in, out); }
EXPORT bfloat_one(const unsigned *in, unsigned *out) { scalars<__nv_bfloat16, __nv_bfloat162>(in, out); }
#endif

EXPORT half_convert(const unsigned *in, unsigned *out)
{
    const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned plane = 0, word = in[i];
    float f = __uint_as_float(word);
    __half h = __ushort_as_half((unsigned short)word);
    __nv_bfloat16 b = __ushort_as_bfloat16((unsigned short)(word >> 16));
    /* A float within reach of half, so that roundings happen. */
    float near_half = __uint_as_float((word & 0x807fffff) | ((112 - 12 + (in[n + i] % 30)) << 23));
    PUT(bits(__float2half_rn(near_half)));
    PUT(bits(__float2half_rz(near_half)));
    PUT(bits(__float2half_ru(near_half)));
    PUT(bits(__float2half_rd(f)));
    PUT(__float_as_uint(__half2float(h)));
    PUT(bits(__float2bfloat16_rn(f)));
    PUT(bits(__float2bfloat16_rz(f)));
    PUT(bits(__float2bfloat16_ru(f)));
    PUT(__float_as_uint(__bfloat162float(b)));
    PUT(__half2int_rd(h));
    PUT(__half2uint_rz(h));
    PUT((unsigned)__half2ll_ru(h));
    PUT((unsigned)(unsigned short)__half2short_rn(h));
    PUT((unsigned)(unsigned char)__half2char_rz(h));
    PUT(__bfloat162int_rn(b));
    PUT((unsigned)(unsigned short)__bfloat162short_rz(b));
    PUT(bits(__int2half_rn((int)word >> 14)));
    PUT(bits(__ull2half_rn(word >> 7)));
    PUT(bits(__int2bfloat16_rn((int)word)));
    PUT(bits(__double2half((double)near_half * 1.0000001)));
    PUT(bits(__floats2half2_rn(near_half, f)));
    PUT(bits(__floats2bfloat162_rn(f, near_half)));
    float2 both = __half22float2(*(__half2 *)&word);
    PUT(__float_as_uint(both.x) ^ __float_as_uint(both.y));
}

/* A dot product in half precision and one in float of half operands, reduced over the warp. */
EXPORT half_dot(const __half2 *in, unsigned *out)
{
    const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 sum = __float2half2_rn(0.0f);
    float wide = 0;
    for (unsigned k = 0; k < 8; k++) {
        __half2 v = in[(i + 37 * k) % (3 * n)];
        v = __hmul2(__hmin2(__hmax2(v, __float2half2_rn(-2.0f)), __float2half2_rn(2.0f)), __float2half2_rn(0.5f));
        sum = __hfma2(v, v, sum);
        wide += __low2float(v) * __high2float(v);
    }
    for (int d = 16; d; d >>= 1) {
        sum = __hadd2(sum, __shfl_xor_sync(~0u, sum, d));
        wide += __shfl_xor_sync(~0u, wide, d);
    }
    out[i] = bits(sum);
    out[n + i] = __float_as_uint(wide);
}
