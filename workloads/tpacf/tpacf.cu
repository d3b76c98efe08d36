/*
 * tpacf: two-point angular correlation of galaxies: how many pairs of points on the sky are how far apart.
 *
 * One block per comparison: the observed set with itself, every random set with itself, every random set with the
 * observed one. A tile of 256 points lies in shared memory; each thread takes a point of its own past all of it. For a
 * pair: a dot product, a binary search for its bin among the bounds in constant memory, whose branches depend on the
 * data, and an atomic add in shared memory to one of the 16 histograms of the warp. At the end trees of threads add the
 * 128 histograms up, one bin after the other. A set meets itself in a triangle, so there the warps' work differs.
 */
#include "device.h"

enum { BLOCK = 256, BINS = 20, WARPS = BLOCK / 32, HISTOGRAMS_PER_WARP = 16, HISTOGRAMS = WARPS * HISTOGRAMS_PER_WARP };

/* Cosines of the angles between which the bins lie, from the smallest angle to the largest: they descend. */
extern "C" {
__constant__ float tpacf_bounds[BINS + 1];
}

/* The bin of a pair, by its cosine; -1 for one closer than the first bin, BINS for one further than the last. */
static inline __device__ int bin_of(float cosine)
{
    int low = 0;
    int high = BINS;

    if (cosine > tpacf_bounds[low])
        return -1;
    if (cosine <= tpacf_bounds[high])
        return BINS;
#pragma unroll 1
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (cosine > tpacf_bounds[middle]) {
            keep_branch();
            high = middle;
        } else {
            low = middle;
        }
    }
    return low;
}

/*
 * Sets lie one after the other in x, y and z, `count` points each: the observed one, then the random ones. Block 0
 * compares the observed set with itself, the next `random_sets` blocks each a random one with itself, and the last
 * `random_sets` each a random one with the observed one.
 */
extern "C" __global__ void tpacf(const float *x, const float *y, const float *z, int *histograms, int count,
                                 int random_sets)
{
    __shared__ float tile_x[BLOCK];
    __shared__ float tile_y[BLOCK];
    __shared__ float tile_z[BLOCK];
    __shared__ int tallies[BINS][HISTOGRAMS];
    int tx = threadIdx.x;
    int block = blockIdx.x;
    bool with_itself = block <= random_sets;
    int tile_set = (with_itself ? block : block - random_sets) * count;
    int own_set = with_itself ? tile_set : 0;
    /* Neighbouring lanes add to different histograms, which lie in different banks. */
    int histogram = tx / 32 * HISTOGRAMS_PER_WARP + tx % HISTOGRAMS_PER_WARP;

#pragma unroll 1
    for (int i = tx; i < BINS * HISTOGRAMS; i += BLOCK)
        tallies[i / HISTOGRAMS][i % HISTOGRAMS] = 0;

#pragma unroll 1
    for (int tile = 0; tile < count; tile += BLOCK) {
        int tile_count = count - tile < BLOCK ? count - tile : BLOCK;
        __syncthreads();
        if (tx < tile_count) {
            tile_x[tx] = x[tile_set + tile + tx];
            tile_y[tx] = y[tile_set + tile + tx];
            tile_z[tx] = z[tile_set + tile + tx];
        }
        __syncthreads();
#pragma unroll 1
        for (int own = (with_itself ? tile : 0) + tx; own < count; own += BLOCK) {
            float own_x = x[own_set + own];
            float own_y = y[own_set + own];
            float own_z = z[own_set + own];
            /* In the same set, each pair once: with the points before. */
            int partners = with_itself && own - tile < tile_count ? own - tile : tile_count;
#pragma unroll 1
            for (int i = 0; i < partners; i++) {
                float cosine = __fmaf_rn(own_z, tile_z[i], __fmaf_rn(own_y, tile_y[i], __fmul_rn(own_x, tile_x[i])));
                int bin = bin_of(cosine);
                if (bin >= 0 && bin < BINS)
                    atomicAdd(&tallies[bin][histogram], 1);
            }
        }
    }
    __syncthreads();

#pragma unroll 1
    for (int width = HISTOGRAMS / 2; width > 0; width /= 2) {
#pragma unroll 1
        for (int i = tx; i < BINS * width; i += BLOCK)
            tallies[i / width][i % width] += tallies[i / width][i % width + width];
        __syncthreads();
    }
    if (tx < BINS)
        histograms[block * BINS + tx] = tallies[tx][0];
}
