/*
 * reduce-shuffle: sums and extremes of floats by warp shuffles. One kernel writes a sum per block and a second adds
 * those up; a third adds a warp's sum to the total with one atomic; a fourth finds the greatest element and its place.
 */
#include "device_warp.h"

enum { BLOCK = 256 };

extern "C" __global__ void reduce_blocks(const float4 *__restrict__ in, float *sums, int count)
{
    __shared__ float partial[LANES];
    float sum = 0.0f;

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        float4 four = in[i];
        sum += four.x + four.y + (four.z + four.w);
    }
    sum = block_sum(sum, partial);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

extern "C" __global__ void reduce_rest(const float *sums, float *total, int count)
{
    __shared__ float partial[LANES];
    float sum = 0.0f;

    for (int i = threadIdx.x; i < count; i += BLOCK)
        sum += sums[i];
    sum = block_sum(sum, partial);
    if (threadIdx.x == 0)
        *total = sum;
}

extern "C" __global__ void reduce_atomic(const float *in, float *total, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = warp_sum(i < count ? in[i] : 0.0f);

    if (threadIdx.x % LANES == 0)
        atomicAdd(total, sum);
}

/* The lowest place of the greatest element of each block: value and place travel together down the warp. */
extern "C" __global__ void reduce_argmax(const float *in, float *best, unsigned *places, int count)
{
    __shared__ float values[LANES];
    __shared__ unsigned indices[LANES];
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    float value = (int)i < count ? in[i] : -1e30f;

    for (int level = 0; level < 2; level++) {
        for (int distance = LANES / 2; distance > 0; distance /= 2) {
            float other = __shfl_down_sync(ALL_LANES, value, distance);
            unsigned other_place = __shfl_down_sync(ALL_LANES, i, distance);
            bool take = other > value || (other == value && other_place < i);
            value = take ? other : value;
            i = take ? other_place : i;
        }
        if (level == 0) {
            if (threadIdx.x % LANES == 0) {
                values[threadIdx.x / LANES] = value;
                indices[threadIdx.x / LANES] = i;
            }
            __syncthreads();
            if (threadIdx.x >= LANES)
                return;
            value = threadIdx.x < BLOCK / LANES ? values[threadIdx.x] : -1e30f;
            i = threadIdx.x < BLOCK / LANES ? indices[threadIdx.x] : 0xffffffffu;
        }
    }
    if (threadIdx.x == 0) {
        best[blockIdx.x] = value;
        places[blockIdx.x] = i;
    }
}
