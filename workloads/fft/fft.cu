/*
 * fft: many transforms of 512 complex numbers, one per block of 64 threads, eight numbers per thread: three rounds of
 * radix 8 in registers with exchanges through shared memory in between (real and imaginary parts one after the other).
 * fft_multiply is what a convolution does with two transforms.
 */
#include "device_warp.h"

enum { POINTS = 512, THREADS = 64, RADIX = 8, PITCH = POINTS + POINTS / 8 };
#define TURN 6.2831853f

struct complex {
    float re, im;
};
static inline __device__ complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
static inline __device__ complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
static inline __device__ complex operator*(complex a, complex b)
{
    return {__fmaf_rn(a.re, b.re, -(a.im * b.im)), __fmaf_rn(a.re, b.im, a.im * b.re)};
}
static inline __device__ complex quarter(complex a) { return {a.im, -a.re}; } /* times -i */

/* Transforms of two, four, eight; results come in order. */
static inline __device__ void fft4(complex &a, complex &b, complex &c, complex &d)
{
    complex sum = a + c, difference = a - c, other_sum = b + d, other = quarter(b - d);

    a = sum + other_sum;
    b = difference + other;
    c = sum - other_sum;
    d = difference - other;
}

static inline __device__ void fft8(complex (&v)[RADIX])
{
    const float half = 0.70710678f;

    fft4(v[0], v[2], v[4], v[6]);
    fft4(v[1], v[3], v[5], v[7]);
    complex one = {half * (v[3].re + v[3].im), half * (v[3].im - v[3].re)};
    complex three = {half * (v[7].im - v[7].re), -half * (v[7].re + v[7].im)};
    complex two = quarter(v[5]);
    complex even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], one, two, three};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        v[i] = even[i] + odd[i];
        v[i + 4] = even[i] - odd[i];
    }
}

/* Element i of each thread is turned by i * step. */
static inline __device__ void twist(complex (&v)[RADIX], float step)
{
#pragma unroll
    for (int i = 1; i < RADIX; i++) {
        float angle = -TURN * step * i;
        complex factor = {__cosf(angle), __sinf(angle)};
        v[i] = v[i] * factor;
    }
}

static inline __device__ int padded(int at) { return at + at / 8; }

/* Writes at from + i * from_step, reads at to + i * to_step. */
static inline __device__ void exchange(complex (&v)[RADIX], float *buffer, int from, int from_step, int to, int to_step)
{
    __syncthreads();
#pragma unroll
    for (int i = 0; i < RADIX; i++)
        buffer[padded(from + i * from_step)] = v[i].re;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < RADIX; i++)
        v[i].re = buffer[padded(to + i * to_step)];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < RADIX; i++)
        buffer[padded(from + i * from_step)] = v[i].im;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < RADIX; i++)
        v[i].im = buffer[padded(to + i * to_step)];
}

extern "C" __global__ void __launch_bounds__(THREADS) fft_512(const float2 *__restrict__ in, float2 *__restrict__ out)
{
    __shared__ float buffer[PITCH];
    int tid = threadIdx.x, low = tid % RADIX, high = tid / RADIX;
    complex v[RADIX];

    in += blockIdx.x * POINTS;
    out += blockIdx.x * POINTS;
#pragma unroll
    for (int i = 0; i < RADIX; i++) {
        float2 number = in[tid + i * THREADS];
        v[i] = {number.x, number.y};
    }
    fft8(v);
    twist(v, tid * (1.0f / POINTS));
    exchange(v, buffer, tid, THREADS, high * THREADS + low, RADIX);
    fft8(v);
    twist(v, low * (1.0f / THREADS));
    exchange(v, buffer, high * THREADS + low, RADIX, low * THREADS + high * RADIX, 1);
    fft8(v);
#pragma unroll
    for (int i = 0; i < RADIX; i++) {
        float2 number = {v[i].re, v[i].im};
        out[tid + i * THREADS] = number;
    }
}

extern "C" __global__ void fft_multiply(float2 *__restrict__ a, const float2 *__restrict__ b, float scale, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    complex product = complex{a[i].x, a[i].y} * complex{b[i].x, b[i].y};
    float2 number = {product.re * scale, product.im * scale};
    a[i] = number;
}
