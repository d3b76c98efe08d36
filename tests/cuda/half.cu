// Half precision and bfloat16, as native instructions and as the headers emulate them for older targets.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_90
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void halves(const float *a, const float *b, float *out)
{
    int i = threadIdx.x;
    __half x = __float2half(a[i]), y = __float2half(b[i]);
    float *mine = out + i * 8;
    mine[0] = __half2float(x + y);
    mine[1] = __half2float(__hmul(x, y));
    mine[2] = __half2float(__hfma(x, y, x));
    mine[3] = __half2float(__hdiv(x, y));
    mine[4] = __hgt(x, y);
    __half2 pair = __halves2half2(x, y), sum = __hadd2(pair, __lowhigh2highlow(pair));
    mine[5] = __low2float(sum) + __high2float(sum);
    mine[6] = __half2float(hsqrt(__habs(x)));
    mine[7] = (float)__half2int_rn(x * __float2half(4.0f));
}
__global__ void brains(const float *a, const float *b, float *out)
{
    int i = threadIdx.x;
    __nv_bfloat16 x = __float2bfloat16(a[i]), y = __float2bfloat16(b[i]);
    float *mine = out + i * 4;
    mine[0] = __bfloat162float(x + y);
    mine[1] = __bfloat162float(x * y);
    mine[2] = __bfloat162float(x - y);
    __nv_bfloat162 pair = __floats2bfloat162_rn(a[i], b[i]);
    mine[3] = __low2float(pair) - __high2float(pair);
}

// To the nearest number with `bits` of significand, ties to even; no exponents near the ends are used here.
static double nearest(double x, int bits)
{
    if (x == 0)
        return x;
    int exponent;
    double m = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(m, bits)), exponent - bits);
}
static double h(double x) { return nearest(x, 11); }
static double b(double x) { return nearest(x, 8); }

int main()
{
    const int n = 64;
    std::vector<float> x(n), y(n);
    random_numbers random(21);
    for (int i = 0; i < n; i++) {
        x[i] = (float)(random.uniform() * 8 - 4);
        y[i] = (float)(random.uniform() * 3 + 0.5);
    }
    float *device_x = upload(x), *device_y = upload(y), *out = zeros<float>(n * 8);
    halves<<<1, n>>>(device_x, device_y, out);
    std::vector<float> got = download(out, n * 8);
    bool basic = true, pairs = true, divided = true;
    for (int i = 0; i < n; i++) {
        double u = h(x[i]), v = h(y[i]);
        float *m = &got[i * 8];
        basic = basic && m[0] == (float)h(u + v) && m[1] == (float)h(u * v) && m[2] == (float)h(u * v + u) && m[4] == (u > v);
        pairs = pairs && m[5] == (float)(2 * h(u + v)) && m[7] == (float)nearbyint(h(u * 4));
        divided = divided && close_to(m[3], u / v, 0.001) && close_to(m[6], sqrt(fabs(u)), 0.001);
    }
    check(basic, "half: arithmetic");
    check(pairs, "half: pairs and conversions");
    check(divided, "half: quotients and roots");
    brains<<<1, n>>>(device_x, device_y, out);
    got = download(out, n * 4);
    basic = true;
    for (int i = 0; i < n; i++) {
        double u = b(x[i]), v = b(y[i]);
        float *m = &got[i * 4];
        basic = basic && m[0] == (float)b(u + v) && m[1] == (float)b(u * v) && m[2] == (float)b(u - v) && m[3] == (float)(u - v);
    }
    check(basic, "bfloat16: arithmetic");
    return finish();
}
