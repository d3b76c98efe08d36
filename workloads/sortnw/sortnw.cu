/*
 * sortnw: pairs of a key and a value, sorted by sorting networks. 1,024 pairs at a time lie in shared memory, 512
 * threads compare two each, with a barrier per step; steps that reach further go through global memory.
 *
 * Two networks. Bitonic: every thread works at every step, and the one branch inside is the comparator's, which joins
 * the data with a direction that follows from the thread's number: it depends on the data. Odd-even merge: all pairs in
 * one direction, but at most steps some threads, by their number, have no partner.
 */
#include "device.h"

enum { THREADS = 512, TILE = 2 * THREADS };

/* Two elements change places where `a` is above `b` and that is what `unwanted` says. */
static inline __device__ void compare(unsigned *keys, unsigned *values, unsigned a, unsigned b, bool unwanted)
{
    unsigned key_a = keys[a];
    unsigned key_b = keys[b];

    if ((key_a > key_b) == unwanted) {
        unsigned value_a = values[a];
        unsigned value_b = values[b];
        keys[a] = key_b;
        keys[b] = key_a;
        values[a] = value_b;
        values[b] = value_a;
    }
}

/* The left one of the two elements, `stride` apart, that belong to the comparator of this number. */
static inline __device__ unsigned left_of(unsigned comparator, unsigned stride)
{
    return 2 * comparator - (comparator & (stride - 1));
}

struct tile {
    unsigned keys[TILE];
    unsigned values[TILE];
};

static inline __device__ void tile_load(tile &tile, const unsigned *keys, const unsigned *values)
{
    unsigned at = blockIdx.x * TILE + threadIdx.x;

    tile.keys[threadIdx.x] = keys[at];
    tile.values[threadIdx.x] = values[at];
    tile.keys[threadIdx.x + THREADS] = keys[at + THREADS];
    tile.values[threadIdx.x + THREADS] = values[at + THREADS];
}

static inline __device__ void tile_store(const tile &tile, unsigned *keys, unsigned *values)
{
    unsigned at = blockIdx.x * TILE + threadIdx.x;

    __syncthreads();
    keys[at] = tile.keys[threadIdx.x];
    values[at] = tile.values[threadIdx.x];
    keys[at + THREADS] = tile.keys[threadIdx.x + THREADS];
    values[at + THREADS] = tile.values[threadIdx.x + THREADS];
}

/* Steps of a bitonic merge from `stride` down to 1. */
static inline __device__ void tile_merge(tile &tile, unsigned stride, bool upwards)
{
#pragma unroll 1
    for (; stride > 0; stride /= 2) {
        unsigned left = left_of(threadIdx.x, stride);
        __syncthreads();
        compare(tile.keys, tile.values, left, left + stride, upwards);
    }
}

/* Each tile is sorted, upwards and downwards in turn, so that two of them make a bitonic sequence. */
extern "C" __global__ void sortnw_bitonic_tile(unsigned *keys, unsigned *values)
{
    __shared__ tile tile;

    tile_load(tile, keys, values);
#pragma unroll 1
    for (unsigned size = 2; size <= TILE / 2; size *= 2)
        tile_merge(tile, size / 2, (threadIdx.x & size / 2) == 0);
    tile_merge(tile, TILE / 2, (blockIdx.x & 1) == 0);
    tile_store(tile, keys, values);
}

/* One step of a merge to runs of `size`, with a stride that no tile holds. */
extern "C" __global__ void sortnw_bitonic_step(unsigned *keys, unsigned *values, unsigned size, unsigned stride)
{
    unsigned comparator = blockIdx.x * THREADS + threadIdx.x;
    unsigned left = left_of(comparator, stride);

    compare(keys, values, left, left + stride, (comparator & size / 2) == 0);
}

/* And its last steps. */
extern "C" __global__ void sortnw_bitonic_rest(unsigned *keys, unsigned *values, unsigned size)
{
    __shared__ tile tile;
    unsigned comparator = blockIdx.x * THREADS + threadIdx.x;

    tile_load(tile, keys, values);
    tile_merge(tile, TILE / 2, (comparator & size / 2) == 0);
    tile_store(tile, keys, values);
}

/* A step after the first of an odd-even merge to runs of `size`: comparators at a run's beginning have no partner. */
static inline __device__ void compare_odd_even(unsigned *keys, unsigned *values, unsigned comparator, unsigned size,
                                               unsigned stride)
{
    unsigned left = left_of(comparator, stride);

    if ((comparator & (size / 2 - 1)) >= stride)
        compare(keys, values, left - stride, left, true);
}

extern "C" __global__ void sortnw_odd_even_tile(unsigned *keys, unsigned *values)
{
    __shared__ tile tile;

    tile_load(tile, keys, values);
#pragma unroll 1
    for (unsigned size = 2; size <= TILE; size *= 2) {
        unsigned left = left_of(threadIdx.x, size / 2);
        __syncthreads();
        compare(tile.keys, tile.values, left, left + size / 2, true);
#pragma unroll 1
        for (unsigned stride = size / 4; stride > 0; stride /= 2) {
            __syncthreads();
            compare_odd_even(tile.keys, tile.values, threadIdx.x, size, stride);
        }
    }
    tile_store(tile, keys, values);
}

extern "C" __global__ void sortnw_odd_even_step(unsigned *keys, unsigned *values, unsigned size, unsigned stride)
{
    unsigned comparator = blockIdx.x * THREADS + threadIdx.x;

    if (stride == size / 2) {
        unsigned left = left_of(comparator, stride);
        compare(keys, values, left, left + stride, true);
    } else {
        compare_odd_even(keys, values, comparator, size, stride);
    }
}
