/*
 * spmv-scalar: y = A x, A in compressed rows, one thread a row.
 *
 * Each lane walks its own row: the loads of column and value touch a line a lane, and have their reuse in later
 * iterations of the same thread. x comes through the texture cache. The padded matrix (rows start and end at multiples
 * of 16 elements) has an entry point of its own, so that counts by instruction keep the two apart.
 */
#include "device.h"

static inline __device__ void multiply_row(const float *values, const int *columns, const int *row_starts, texture_1d x,
                                           float *y, int row_count)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < row_count) {
        float sum = 0.0f;
        int end = row_starts[row + 1];
#pragma unroll 1
        for (int i = row_starts[row]; i < end; i++)
            sum = __fmaf_rn(texture_fetch(x, columns[i]), values[i], sum);
        y[row] = sum;
    }
}

extern "C" __global__ void spmv_scalar(const float *values, const int *columns, const int *row_starts, texture_1d x,
                                       float *y, int row_count)
{
    multiply_row(values, columns, row_starts, x, y, row_count);
}

extern "C" __global__ void spmv_scalar_padded(const float *values, const int *columns, const int *row_starts,
                                              texture_1d x, float *y, int row_count)
{
    multiply_row(values, columns, row_starts, x, y, row_count);
}
