/*
 * rowsum: sums of the rows of a dense matrix, one thread per row. Each lane walks a stream of its own, as far from the
 * next lane's as a row is long: a line per lane, which serves its thread in 32 trips running. No branch diverges.
 */
#include "device.h"

extern "C" __global__ void rowsum(const float *matrix, float *sums, int row_count, int column_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < row_count) {
        const float *row = matrix + tid * column_count;
        float sum = 0;
#pragma unroll 1
        for (int i = 0; i < column_count; i++)
            sum = __fadd_rn(sum, row[i]);
        sums[tid] = sum;
    }
}
