/*
 * embedding: rows of a table by index: gathered, a warp per row of 128 floats; several summed into one, as
 * recommendation models do; and gradients added back to the table by atomics. A few rows are asked for often.
 */
#include "device_warp.h"

enum { BLOCK = 256, WIDTH = 128 };

extern "C" __global__ void embedding_gather(const float4 *__restrict__ table, const unsigned *__restrict__ indices,
                                            float4 *__restrict__ out, int count)
{
    int i = (blockIdx.x * BLOCK + threadIdx.x) / LANES, lane = threadIdx.x % LANES;

    if (i < count)
        out[i * LANES + lane] = table[indices[i] * LANES + lane];
}

extern "C" __global__ void embedding_bag(const float4 *__restrict__ table, const unsigned *__restrict__ indices,
                                         float4 *__restrict__ out, int bag, int bags)
{
    int i = (blockIdx.x * BLOCK + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};

    if (i >= bags)
        return;
    for (int j = 0; j < bag; j++)
        sum += table[indices[i * bag + j] * LANES + lane];
    out[i * LANES + lane] = sum;
}

extern "C" __global__ void embedding_scatter(float *table, const unsigned *__restrict__ indices,
                                             const float *__restrict__ gradients, float rate, int count)
{
    int i = (blockIdx.x * BLOCK + threadIdx.x) / LANES, lane = threadIdx.x % LANES;

    if (i >= count)
        return;
    float *row = table + indices[i] * WIDTH;
    for (int j = 0; j < WIDTH; j += LANES)
        atomicAdd(&row[j + lane], -rate * gradients[i * WIDTH + j + lane]);
}
