/*
 * Kernels without any header of the CUDA toolkit: for clang as well as nvcc. workloads/common/device.h brings the little that they need.
 */
#include "device.h"
#define EXPORT extern "C" __global__ void
#define START unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x
typedef unsigned long long u64;

EXPORT plain_integers(const u64 *in, u64 *out)
{
    START;
    u64 a = in[i], b = in[n + i] >> (i % 50) | 1;
    out[i] = a / b;
    out[n + i] = a % b;
    out[2 * n + i] = (u64)((long long)a / (long long)b) ^ (u64)((unsigned)a % (unsigned)b);
    out[3 * n + i] = (u64)__builtin_clzll(b) << 8 | (u64)__builtin_popcountll(a) << 16 | (u64)__builtin_ffsll((long long)a);
    out[4 * n + i] = a << 13 | a >> 51;
    out[5 * n + i] = (u64)(signed char)a * (u64)(short)b + (unsigned char)(a >> 8);
    out[6 * n + i] = (u64)((unsigned __int128)a * b >> 64) + (u64)((__int128)(long long)a * (long long)b >> 70);
    out[7 * n + i] = a > b ? a - b : (long long)a < (long long)b ? b ^ a : 1;
}

EXPORT plain_floats(const float *in, float *out)
{
    START;
    float a = in[i], b = in[n + i], c = in[2 * n + i];
    out[i] = a + b;
    out[n + i] = a * b - c;
    out[2 * n + i] = a / b;
    out[3 * n + i] = a < b ? a : b == c ? b : c + 1.0f;
    out[4 * n + i] = (float)(int)(a * 0.25f) + (float)(unsigned char)i;
    out[5 * n + i] = (float)((double)a * (double)b + (double)c);
    out[6 * n + i] = __fmaf_rn(a, b, c);
    out[7 * n + i] = __builtin_fabsf(a) + __builtin_copysignf(b, c);
}

EXPORT plain_doubles(const double *in, double *out)
{
    START;
    double a = in[i], b = in[n + i], c = in[2 * n + i];
    out[i] = a + b * c;
    out[n + i] = a / b;
    out[2 * n + i] = (double)(float)a;
    out[3 * n + i] = a != a ? 1.0 : a > b ? b : c;
    out[4 * n + i] = (double)(long long)(b > 1e15 || b < -1e15 || b != b ? 0.0 : b) + (double)(u64)i;
    out[5 * n + i] = -a - c;
}

__shared__ unsigned pool[256];
__constant__ unsigned seeds[8] = {0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0, 0x082EFA98, 0xEC4E6C89};

EXPORT plain_shared(const unsigned *in, unsigned *out)
{
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    pool[t] = in[i] ^ seeds[t % 8];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        unsigned add = t >= d ? pool[t - d] : 0;
        __syncthreads();
        pool[t] += add;
        __syncthreads();
    }
    out[i] = pool[t] + pool[blockDim.x - 1 - t];
}

static __device__ __attribute__((noinline)) unsigned divide_and_conquer(const unsigned *values, unsigned low, unsigned high)
{
    if (high - low == 1)
        return values[low];
    unsigned middle = (low + high) / 2;
    unsigned left = divide_and_conquer(values, low, middle), right = divide_and_conquer(values, middle, high);
    return left * 3 + (right ^ left >> 2);
}

EXPORT plain_control(const unsigned *in, unsigned *out)
{
    START;
    unsigned values[24], x = in[i], acc = 0;
#pragma unroll 1
    for (unsigned k = 0; k < 24; k++)
        values[k] = in[(i + k) % n] ^ k;
    acc = divide_and_conquer(values, 0, 8 + x % 16);
#pragma unroll 1
    for (unsigned k = 0; k < 30; k++) {
        switch (acc % 9) {
        case 0: acc = acc * 7 + k; break;
        case 1: acc ^= values[acc / 9 % 24]; break;
        case 2: acc -= x; if (acc & 32) break;
        case 3: acc = acc >> 3 | acc << 29; break;
        case 4: values[k % 24] = acc; acc++; break;
        case 5: acc += 1000; continue;
        default: acc = acc * 1103515245u + 12345u; break;
        }
        if (acc % 101 == 0)
            break;
    }
    out[i] = acc;
    out[n + i] = values[x % 24];
}

struct vec3 {
    double x, y, z;
};
static __device__ __attribute__((noinline)) vec3 cross(vec3 a, vec3 b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

EXPORT plain_structs(const double *in, double *out)
{
    START;
    vec3 a = {in[i], in[n + i], in[2 * n + i]}, b = {1.0 + i, 2.0, -0.5};
    for (int k = 0; k < 3; k++)
        a = cross(a, b);
    out[i] = a.x;
    out[n + i] = a.y;
    out[2 * n + i] = a.z;
}

#ifdef __NVCC__
template <typename T> static __device__ void add_to(T *at, T value) { atomicAdd(at, value); }
static __device__ void xor_to(unsigned *at, unsigned value) { atomicXor(at, value); }
static __device__ void max_to(unsigned *at, int value) { atomicMax((int *)at, value); }
#else
template <typename T> static __device__ void add_to(T *at, T value) { __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
static __device__ void xor_to(unsigned *at, unsigned value) { __atomic_fetch_xor(at, value, __ATOMIC_RELAXED); }
static __device__ void max_to(unsigned *at, int value) { __atomic_fetch_max((int *)at, value, __ATOMIC_RELAXED); }
#endif

EXPORT plain_atomics(const unsigned *in, unsigned *out)
{
    unsigned x = in[blockIdx.x * blockDim.x + threadIdx.x];
    add_to(&out[x % 4], x);
    xor_to(&out[4 + x % 4], x);
    max_to(&out[8 + x % 4], (int)x);
    add_to((u64 *)out + 8 + x % 2, (u64)x << 9);
}
