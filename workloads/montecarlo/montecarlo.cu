/*
 * montecarlo: integrals by random points. Numbers come from counters through rounds of wide multiplications (Philox
 * 4x32, Salmon and others, 2011), so that a thread needs no state. montecarlo_pi counts points inside the circle;
 * montecarlo_asian follows prices over 16 dates (two normal numbers by Box and Muller from two uniform ones) and
 * averages what an Asian option pays.
 */
#include "device_warp.h"

enum { BLOCK = 256, ROUNDS = 7, DATES = 16 };

static inline __device__ uint4 philox(unsigned counter, unsigned stream, unsigned seed)
{
    unsigned a = counter, b = stream, c = 0, d = 0, key0 = seed, key1 = 0x89abcdef;

#pragma unroll
    for (int i = 0; i < ROUNDS; i++) {
        unsigned long long first = 0xd2511f53ull * a, second = 0xcd9e8d57ull * c;
        a = (unsigned)(second >> 32) ^ b ^ key0;
        b = (unsigned)second;
        c = (unsigned)(first >> 32) ^ d ^ key1;
        d = (unsigned)first;
        key0 += 0x9e3779b9;
        key1 += 0xbb67ae85;
    }
    uint4 bits = {a, b, c, d};
    return bits;
}

/* Between 0 and 1, neither included. */
static inline __device__ float uniform(unsigned bits) { return __fmaf_rn(bits >> 9, 0x1p-23f, 0x1p-24f); }

extern "C" __global__ void montecarlo_pi(unsigned *inside, int rounds, unsigned seed)
{
    unsigned thread = blockIdx.x * BLOCK + threadIdx.x, count = 0;

    for (int i = 0; i < rounds; i++) {
        uint4 bits = philox(i, thread, seed);
        float x = uniform(bits.x), y = uniform(bits.y), z = uniform(bits.z), w = uniform(bits.w);
        count += __fmaf_rn(x, x, __fmul_rn(y, y)) < 1.0f;
        count += __fmaf_rn(z, z, __fmul_rn(w, w)) < 1.0f;
    }
    for (int mask = LANES / 2; mask > 0; mask /= 2)
        count += __shfl_xor_sync(ALL_LANES, count, mask);
    if (threadIdx.x % LANES == 0)
        atomicAdd(inside, count);
}

/* Of Box and Muller's two normal numbers, how far out both are. Near 1 an approximate logarithm may be above 0. */
static inline __device__ float radius_of(unsigned bits)
{
    return __fsqrt_rn(fmaxf(-2.0f * __logf(uniform(bits)), 0.0f));
}

extern "C" __global__ void montecarlo_asian(float *__restrict__ sums, float spot, float strike, float drift,
                                            float spread, unsigned seed)
{
    __shared__ float partial[LANES];
    unsigned thread = blockIdx.x * BLOCK + threadIdx.x;
    float level = 0.0f, total = 0.0f; /* logarithm of the price, to base 2 */

    for (int date = 0; date < DATES; date += 4) {
        uint4 bits = philox(date, thread, seed);
        float radius = radius_of(bits.x), angle = 6.2831853f * uniform(bits.y);
        float other_radius = radius_of(bits.z), other = 6.2831853f * uniform(bits.w);
        total += exp2_approx(level = __fmaf_rn(spread, radius * __cosf(angle), level + drift));
        total += exp2_approx(level = __fmaf_rn(spread, radius * __sinf(angle), level + drift));
        total += exp2_approx(level = __fmaf_rn(spread, other_radius * __cosf(other), level + drift));
        total += exp2_approx(level = __fmaf_rn(spread, other_radius * __sinf(other), level + drift));
    }
    float pays = block_sum(fmaxf(spot * total * (1.0f / DATES) - strike, 0.0f), partial);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = pays;
}
