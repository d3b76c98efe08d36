/*
 * transpose: a matrix of floats transposed three ways, in tiles of 32x32 with 32x8 threads: straight from memory to
 * memory, through shared memory whose columns all lie in one bank, and with a column of padding against that.
 */
#include "device_warp.h"

enum { TILE = 32, STEP = 8 };

extern "C" __global__ void transpose_naive(const float *in, float *out, int columns, int rows)
{
    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;

    for (int i = 0; i < TILE; i += STEP)
        out[column * rows + row + i] = in[(row + i) * columns + column];
}

template <int PITCH>
static inline __device__ void transpose_through(float *tile, const float *in, float *out, int columns, int rows)
{
    int column = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;

    for (int i = 0; i < TILE; i += STEP)
        tile[(threadIdx.y + i) * PITCH + threadIdx.x] = in[(row + i) * columns + column];
    __syncthreads();
    column = blockIdx.y * TILE + threadIdx.x;
    row = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += STEP)
        out[(row + i) * rows + column] = tile[threadIdx.x * PITCH + threadIdx.y + i];
}

extern "C" __global__ void transpose_shared(const float *in, float *out, int columns, int rows)
{
    __shared__ float tile[TILE * TILE];
    transpose_through<TILE>(tile, in, out, columns, rows);
}

extern "C" __global__ void transpose_padded(const float *in, float *out, int columns, int rows)
{
    __shared__ float tile[TILE * (TILE + 1)];
    transpose_through<TILE + 1>(tile, in, out, columns, rows);
}
