/*
 * spmv-vector: y = A x, A in compressed rows, one warp a row.
 *
 * The lanes stride a row by 32, so the loads of column and value are coalesced; x comes through the texture cache. The
 * 32 partial sums meet in shared memory in five steps without a barrier: the lanes of a warp run in step, which holds
 * for the PTX target this is compiled for. The padded matrix (rows start and end at multiples of 16 elements) has an
 * entry point of its own, so that counts by instruction keep the two apart.
 */
#include "device.h"

enum { BLOCK = 128, LANES = 32 };

static inline __device__ void multiply_row(volatile float *partial, const float *values, const int *columns,
                                           const int *row_starts, texture_1d x, float *y, int row_count)
{
    unsigned tid = threadIdx.x;
    unsigned lane = tid % LANES;
    int row = blockIdx.x * (BLOCK / LANES) + tid / LANES;

    if (row < row_count) {
        float sum = 0.0f;
        int end = row_starts[row + 1];
#pragma unroll 1
        for (int i = row_starts[row] + lane; i < end; i += LANES)
            sum = __fmaf_rn(texture_fetch(x, columns[i]), values[i], sum);
        partial[tid] = sum;
        if (lane < 16)
            partial[tid] = sum = __fadd_rn(sum, partial[tid + 16]);
        if (lane < 8)
            partial[tid] = sum = __fadd_rn(sum, partial[tid + 8]);
        if (lane < 4)
            partial[tid] = sum = __fadd_rn(sum, partial[tid + 4]);
        if (lane < 2)
            partial[tid] = sum = __fadd_rn(sum, partial[tid + 2]);
        if (lane < 1)
            y[row] = __fadd_rn(sum, partial[tid + 1]);
    }
}

extern "C" __global__ void spmv_vector(const float *values, const int *columns, const int *row_starts, texture_1d x,
                                       float *y, int row_count)
{
    __shared__ volatile float partial[BLOCK];
    multiply_row(partial, values, columns, row_starts, x, y, row_count);
}

extern "C" __global__ void spmv_vector_padded(const float *values, const int *columns, const int *row_starts,
                                              texture_1d x, float *y, int row_count)
{
    __shared__ volatile float partial[BLOCK];
    multiply_row(partial, values, columns, row_starts, x, y, row_count);
}
