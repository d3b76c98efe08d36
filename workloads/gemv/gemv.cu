/*
 * gemv: a dense matrix times a vector: a warp per row, four floats per lane; a thread per row, which strides its own
 * row; and the transposed product, a thread per column over a part of the rows, parts added by atomics.
 */
#include "device_warp.h"

enum { BLOCK = 256, PART = 64 };

extern "C" __global__ void gemv_warp(const float4 *__restrict__ matrix, const float4 *__restrict__ x,
                                     float *__restrict__ y, int rows, int vectors)
{
    int row = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
    float sum = 0.0f;

    if (row >= rows)
        return;
    matrix += row * vectors;
    for (int i = threadIdx.x % LANES; i < vectors; i += LANES) {
        float4 m = matrix[i], v = x[i];
        sum = __fmaf_rn(m.x, v.x, __fmaf_rn(m.y, v.y, __fmaf_rn(m.z, v.z, __fmaf_rn(m.w, v.w, sum))));
    }
    sum = warp_sum(sum);
    if (threadIdx.x % LANES == 0)
        y[row] = sum;
}

extern "C" __global__ void gemv_thread(const float *__restrict__ matrix, const float *__restrict__ x,
                                       float *__restrict__ y, int rows, int columns)
{
    int row = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0.0f;

    if (row >= rows)
        return;
    for (int i = 0; i < columns; i++)
        sum = __fmaf_rn(matrix[row * columns + i], x[i], sum);
    y[row] = sum;
}

extern "C" __global__ void gemv_transposed(const float *__restrict__ matrix, const float *__restrict__ x,
                                           float *__restrict__ y, int rows, int columns)
{
    int column = blockIdx.x * BLOCK + threadIdx.x;
    int first = blockIdx.y * PART;
    int end = first + PART < rows ? first + PART : rows;
    float sum = 0.0f;

    if (column >= columns)
        return;
    for (int row = first; row < end; row++)
        sum = __fmaf_rn(matrix[row * columns + column], x[row], sum);
    atomicAdd(&y[column], sum);
}
