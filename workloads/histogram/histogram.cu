/*
 * histogram: bytes counted into 256 bins: by atomics on global memory; by atomics on a copy per block in shared memory,
 * written out and merged by a second kernel, a warp per bin; and by a copy per warp, for inputs where few values are
 * frequent.
 */
#include "device_warp.h"

enum { BLOCK = 256, BINS = 256, WARPS = BLOCK / LANES };

extern "C" __global__ void histogram_global(const unsigned *__restrict__ words, unsigned *bins, int count)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        unsigned word = words[i];
        for (int byte = 0; byte < 4; byte++)
            atomicAdd(&bins[word >> 8 * byte & 0xff], 1u);
    }
}

extern "C" __global__ void histogram_shared(const unsigned *__restrict__ words, unsigned *copies, int count)
{
    __shared__ unsigned bins[BINS];

    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        unsigned word = words[i];
        for (int byte = 0; byte < 4; byte++)
            atomicAdd(&bins[word >> 8 * byte & 0xff], 1u);
    }
    __syncthreads();
    copies[blockIdx.x * BINS + threadIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void histogram_merge(const unsigned *__restrict__ copies, unsigned *bins, int count)
{
    int bin = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
    unsigned sum = 0;

    for (int i = threadIdx.x % LANES; i < count; i += LANES)
        sum += copies[i * BINS + bin];
    for (int mask = LANES / 2; mask > 0; mask /= 2)
        sum += __shfl_xor_sync(ALL_LANES, sum, mask);
    if (threadIdx.x % LANES == 0)
        bins[bin] = sum;
}

extern "C" __global__ void histogram_warps(const unsigned *__restrict__ words, unsigned *bins, int count)
{
    __shared__ unsigned copies[WARPS][BINS];
    int warp = threadIdx.x / LANES;
    unsigned sum = 0;

    for (int i = 0; i < WARPS; i++)
        copies[i][threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        unsigned word = words[i];
        for (int byte = 0; byte < 4; byte++)
            atomicAdd(&copies[warp][word >> 8 * byte & 0xff], 1u);
    }
    __syncthreads();
    for (int i = 0; i < WARPS; i++)
        sum += copies[i][threadIdx.x];
    if (sum)
        atomicAdd(&bins[threadIdx.x], sum);
}
