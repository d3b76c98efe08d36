/*
 * binomial: prices of call options by the binomial model, one option per block.
 *
 * From the values at the last day the tree of prices is walked back to the first, one level per step: the value of a
 * node is the mean of its two successors, weighted and discounted. A level lies in global memory. The block takes it in
 * tiles of 256 nodes through shared memory and walks each back by up to 32 levels, with a barrier per level, from one
 * of two buffers to the other. Every level of a tile has one node less than the one before, so the last threads of the
 * tile fall idle one by one: masks without gaps, which no compaction can improve.
 */
#include "device.h"
#include "device_bits.h"

enum { BLOCK = 256, TILE_LEVELS = 32, MAX_OPTIONS = 1024 };

struct option_terms {
    float price;  /* of the share, today */
    float strike; /* what the share may be bought for on the last day */
    float step;   /* logarithm of the factor by which the share rises or falls per level */
    float rise;   /* weights of the two successors, discounted by one level */
    float fall;
};

extern "C" {
__constant__ option_terms binomial_options[MAX_OPTIONS];
}

/* The exponential function: the power of two is put together from bits, the rest is a polynomial. For |x| < 87. */
static inline __device__ float exponential(float x)
{
    const float whole_numbers = 0x1.8p+23f; /* a float of this size has no fraction, so adding it rounds */
    float twos = __fsub_rn(__fmaf_rn(x, 0x1.715476p+0f, whole_numbers), whole_numbers);
    float rest = __fmaf_rn(twos, -0x1.7f7d1cp-20f, __fmaf_rn(twos, -0x1.62e4p-1f, x));
    float sum = __fmaf_rn(rest, 0x1.6c16c2p-10f, 0x1.111112p-7f);

    sum = __fmaf_rn(rest, sum, 0x1.555556p-5f);
    sum = __fmaf_rn(rest, sum, 0x1.555556p-3f);
    sum = __fmaf_rn(rest, sum, 0.5f);
    sum = __fmaf_rn(rest, sum, 1.0f);
    sum = __fmaf_rn(rest, sum, 1.0f);
    return __fmul_rn(sum, __int_as_float(((int)twos + 127) << 23));
}

/* `nodes` has room for the steps + 1 nodes of the last level, for each block. */
extern "C" __global__ void binomial(float *nodes, float *values, int steps)
{
    __shared__ float buffers[2 * BLOCK];
    int tx = threadIdx.x;
    option_terms option = binomial_options[blockIdx.x];
    float *level_nodes = nodes + blockIdx.x * (steps + 1);

#pragma unroll 1
    for (int i = tx; i <= steps; i += BLOCK) {
        float share = __fmul_rn(option.price, exponential(__fmul_rn(option.step, (float)(2 * i - steps))));
        float gain = __fsub_rn(share, option.strike);
        level_nodes[i] = gain > 0.0f ? gain : 0.0f;
    }

#pragma unroll 1
    for (int level = steps; level > 0; level -= TILE_LEVELS) {
        int depth = level < TILE_LEVELS ? level : TILE_LEVELS;
        /* A tile ends with `depth` nodes less than it began with, so the next one begins as much earlier. */
#pragma unroll 1
        for (int tile = 0; tile <= level - depth; tile += BLOCK - depth) {
            int last = level - tile < BLOCK - 1 ? level - tile : BLOCK - 1;
            int from = 0;
            int to = BLOCK;

            __syncthreads();
            if (tx <= last)
                buffers[tx] = level_nodes[tile + tx];
            __syncthreads();
#pragma unroll 1
            for (int k = last - 1; k >= last - depth; k--) {
                if (tx <= k)
                    buffers[to + tx] =
                        __fmaf_rn(option.rise, buffers[from + tx + 1], __fmul_rn(option.fall, buffers[from + tx]));
                __syncthreads();
                int written = to;
                to = from;
                from = written;
            }
            if (tx <= last - depth)
                level_nodes[tile + tx] = buffers[from + tx];
        }
    }
    if (tx == 0)
        values[blockIdx.x] = level_nodes[0];
}
