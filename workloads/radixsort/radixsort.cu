/*
 * radixsort: keys sorted by four bits per pass, least significant first. radix_histogram counts each digit of a tile in
 * shared memory; radix_scan turns the counts, digit by digit over all tiles, into places; radix_scatter ranks each key
 * among the equal digits of its tile (lanes with the same digit found by four ballots) and writes it to its place.
 */
#include "device_warp.h"

enum { BLOCK = 256, WARPS = BLOCK / LANES, EACH = 8, TILE = BLOCK * EACH, BITS = 4, DIGITS = 1 << BITS };

/* Counts are stored digit first: counts[digit * tiles + tile]. */
extern "C" __global__ void radix_histogram(const unsigned *__restrict__ keys, unsigned *__restrict__ counts, int shift,
                                           int count)
{
    __shared__ unsigned bins[DIGITS];

    if (threadIdx.x < DIGITS)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < EACH; i++) {
        int at = blockIdx.x * TILE + i * BLOCK + threadIdx.x;
        if (at < count)
            atomicAdd(&bins[keys[at] >> shift & (DIGITS - 1)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < DIGITS)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

/* One block: every count becomes the sum of those before it. */
extern "C" __global__ void radix_scan(unsigned *counts, int count)
{
    __shared__ unsigned sums[WARPS];
    int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    unsigned before = 0;

    for (int base = 0; base < count; base += BLOCK) {
        int i = base + threadIdx.x;
        unsigned own = i < count ? counts[i] : 0, value = own, all = 0, below = 0;
        for (int distance = 1; distance < LANES; distance *= 2) {
            unsigned other = __shfl_up_sync(ALL_LANES, value, distance);
            value += lane >= distance ? other : 0;
        }
        if (lane == LANES - 1)
            sums[warp] = value;
        __syncthreads();
        for (int w = 0; w < WARPS; w++) {
            below += w < warp ? sums[w] : 0;
            all += sums[w];
        }
        __syncthreads();
        if (i < count)
            counts[i] = before + below + value - own;
        before += all;
    }
}

extern "C" __global__ void radix_scatter(const unsigned *__restrict__ keys, unsigned *__restrict__ out,
                                         const unsigned *__restrict__ places, int shift, int count)
{
    __shared__ unsigned counts[WARPS][DIGITS]; /* of each warp, then where its keys begin */
    __shared__ unsigned next[DIGITS];
    int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;

    if (threadIdx.x < DIGITS)
        next[threadIdx.x] = places[threadIdx.x * gridDim.x + blockIdx.x];
#pragma unroll 1
    for (int i = 0; i < EACH; i++) {
        int at = blockIdx.x * TILE + i * BLOCK + threadIdx.x;
        bool is_key = at < count;
        unsigned key = is_key ? keys[at] : 0;
        unsigned digit = key >> shift & (DIGITS - 1);
        unsigned same = __ballot_sync(ALL_LANES, is_key);
        for (int bit = 0; bit < BITS; bit++) {
            unsigned set = __ballot_sync(ALL_LANES, digit >> bit & 1);
            same &= digit >> bit & 1 ? set : ~set;
        }
        unsigned rank = __popc(same & ((1u << lane) - 1));
        if (threadIdx.x < WARPS * DIGITS)
            counts[threadIdx.x / DIGITS][threadIdx.x % DIGITS] = 0;
        __syncthreads();
        if (is_key && rank == 0)
            counts[warp][digit] = __popc(same);
        __syncthreads();
        if (threadIdx.x < DIGITS) {
            unsigned place = next[threadIdx.x];
            for (int w = 0; w < WARPS; w++) {
                unsigned keys_here = counts[w][threadIdx.x];
                counts[w][threadIdx.x] = place;
                place += keys_here;
            }
            next[threadIdx.x] = place;
        }
        __syncthreads();
        if (is_key)
            out[counts[warp][digit] + rank] = key;
        __syncthreads();
    }
}
