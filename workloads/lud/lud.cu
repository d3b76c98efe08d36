/*
 * lud: LU decomposition in place, in tiles of 16x16, without pivoting: L (its diagonal of ones left out) below, U above.
 *
 * Three kernels a step. lud_diagonal decomposes one tile, 16 threads in triangular loops. lud_perimeter brings the tiles
 * to its right and below up to date, a tile of each kind a block: the first half of the one warp works on a row strip, the
 * second on a column strip. lud_internal subtracts their products from all that is left. Steps get smaller to the end.
 */
#include "device.h"

enum { TILE = 16 };

/* a - b * c */
static inline __device__ float without_product(float a, float b, float c) { return __fmaf_rn(-b, c, a); }

extern "C" __global__ void lud_diagonal(float *matrix, int size, int offset)
{
    __shared__ float tile[TILE][TILE];
    float *corner = matrix + offset * size + offset;
    int tx = threadIdx.x;

#pragma unroll
    for (int row = 0; row < TILE; row++)
        tile[row][tx] = corner[row * size + tx];
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < TILE - 1; i++) {
        /* Column i of L, a thread a row; then row i + 1 of U, a thread a column. */
        if (tx > i) {
#pragma unroll 1
            for (int j = 0; j < i; j++)
                tile[tx][i] = without_product(tile[tx][i], tile[tx][j], tile[j][i]);
            tile[tx][i] = __fdiv_rn(tile[tx][i], tile[i][i]);
        }
        __syncthreads();
        if (tx > i) {
#pragma unroll 1
            for (int j = 0; j <= i; j++)
                tile[i + 1][tx] = without_product(tile[i + 1][tx], tile[i + 1][j], tile[j][tx]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int row = 1; row < TILE; row++)
        corner[row * size + tx] = tile[row][tx];
}

extern "C" __global__ void lud_perimeter(float *matrix, int size, int offset)
{
    __shared__ float diagonal[TILE][TILE];
    __shared__ float right[TILE][TILE];
    __shared__ float below[TILE][TILE];
    float *corner = matrix + offset * size + offset;
    int distance = (blockIdx.x + 1) * TILE;
    float *right_corner = corner + distance;
    float *below_corner = corner + distance * size;
    int half = threadIdx.x / TILE;
    int tx = threadIdx.x % TILE;

    /* Each half loads half of the diagonal tile and the strip that it will work on. */
    if (half == 0) {
#pragma unroll
        for (int row = 0; row < TILE / 2; row++)
            diagonal[row][tx] = corner[row * size + tx];
#pragma unroll
        for (int row = 0; row < TILE; row++)
            right[row][tx] = right_corner[row * size + tx];
    } else {
#pragma unroll
        for (int row = TILE / 2; row < TILE; row++)
            diagonal[row][tx] = corner[row * size + tx];
#pragma unroll
        for (int row = 0; row < TILE; row++)
            below[row][tx] = below_corner[row * size + tx];
    }
    __syncthreads();
    if (half == 0) {
        /* A column of U a thread. */
#pragma unroll 1
        for (int i = 1; i < TILE; i++) {
#pragma unroll 1
            for (int j = 0; j < i; j++)
                right[i][tx] = without_product(right[i][tx], diagonal[i][j], right[j][tx]);
        }
    } else {
        /* A row of L a thread. */
#pragma unroll 1
        for (int i = 0; i < TILE; i++) {
#pragma unroll 1
            for (int j = 0; j < i; j++)
                below[tx][i] = without_product(below[tx][i], below[tx][j], diagonal[j][i]);
            below[tx][i] = __fdiv_rn(below[tx][i], diagonal[i][i]);
        }
    }
    __syncthreads();
    if (half == 0) {
#pragma unroll
        for (int row = 1; row < TILE; row++)
            right_corner[row * size + tx] = right[row][tx];
    } else {
#pragma unroll
        for (int row = 0; row < TILE; row++)
            below_corner[row * size + tx] = below[row][tx];
    }
}

extern "C" __global__ void lud_internal(float *matrix, int size, int offset)
{
    __shared__ float above[TILE][TILE];
    __shared__ float left[TILE][TILE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = offset + (blockIdx.y + 1) * TILE + ty;
    int column = offset + (blockIdx.x + 1) * TILE + tx;
    float sum = 0.0f;

    above[ty][tx] = matrix[(offset + ty) * size + column];
    left[ty][tx] = matrix[row * size + offset + tx];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; i++)
        sum = __fmaf_rn(left[ty][i], above[i][tx], sum);
    matrix[row * size + column] = __fsub_rn(matrix[row * size + column], sum);
}
