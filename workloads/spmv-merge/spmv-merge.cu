/*
 * spmv-merge: y = A x for rows of very different length, three ways: merge-based (Merrill and Garland, 2016), where
 * rows' ends and elements are merged and every thread gets an equal part of that list; adaptive (Greathouse and Daga,
 * 2014), where a block takes as many short rows as fit its shared memory, and long rows have a block each; and ELLPACK,
 * where rows of at most 16 elements are stored column by column.
 */
#include "device_warp.h"

enum { BLOCK = 256, EACH = 8, FIT = 1024, ELL = 16 };

/* Where diagonal `diagonal` crosses the path: how many rows have ended by then. */
static inline __device__ int path_row(int diagonal, const int *ends, int rows, int elements)
{
    int low = diagonal > elements ? diagonal - elements : 0;
    int high = diagonal < rows ? diagonal : rows;

    while (low < high) {
        int middle = (low + high) / 2;
        if (ends[middle] <= diagonal - middle - 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A row that begins and ends within one thread's part is stored; what is left at either side is added by atomics. */
extern "C" __global__ void spmv_merge(const float *__restrict__ values, const int *__restrict__ columns,
                                      const int *__restrict__ ends, const float *__restrict__ x, float *y, int rows,
                                      int elements)
{
    int diagonal = (blockIdx.x * BLOCK + threadIdx.x) * EACH;

    if (diagonal >= rows + elements)
        return;
    int row = path_row(diagonal, ends, rows, elements);
    int element = diagonal - row;
    float sum = 0.0f;
#pragma unroll 1
    for (int step = 0; step < EACH && row + element < rows + elements; step++) {
        if (row < rows && element >= ends[row]) {
            if (sum != 0.0f)
                atomicAdd(&y[row], sum);
            sum = 0.0f;
            row++;
        } else {
            sum = __fmaf_rn(values[element], x[columns[element]], sum);
            element++;
        }
    }
    if (sum != 0.0f)
        atomicAdd(&y[row], sum);
}

/* Block b has rows firsts[b] up to firsts[b + 1]. */
extern "C" __global__ void spmv_adaptive(const float *__restrict__ values, const int *__restrict__ columns,
                                         const int *__restrict__ starts, const int *__restrict__ firsts,
                                         const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float products[FIT];
    int row = firsts[blockIdx.x], end = firsts[blockIdx.x + 1];
    int first = starts[row], count = starts[end] - first;

    if (end - row == 1) {
        float sum = 0.0f;
        for (int i = threadIdx.x; i < count; i += BLOCK)
            sum = __fmaf_rn(values[first + i], x[columns[first + i]], sum);
        sum = block_sum(sum, products);
        if (threadIdx.x == 0)
            y[row] = sum;
        return;
    }
    for (int i = threadIdx.x; i < count; i += BLOCK)
        products[i] = values[first + i] * x[columns[first + i]];
    __syncthreads();
    for (row += threadIdx.x; row < end; row += BLOCK) {
        float sum = 0.0f;
        for (int i = starts[row]; i < starts[row + 1]; i++)
            sum += products[i - first];
        y[row] = sum;
    }
}

extern "C" __global__ void spmv_ell(const float *__restrict__ values, const int *__restrict__ columns,
                                    const float *__restrict__ x, float *__restrict__ y, int rows)
{
    int row = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0.0f;

    if (row >= rows)
        return;
    for (int i = 0; i < ELL; i++) {
        int column = columns[i * rows + row];
        if (column >= 0)
            sum = __fmaf_rn(values[i * rows + row], x[column], sum);
    }
    y[row] = sum;
}
