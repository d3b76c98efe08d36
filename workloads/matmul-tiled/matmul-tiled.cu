/*
 * matmul-tiled: C = A B in single precision, rows first: a thread per element straight from memory; tiles of 16x16 in
 * shared memory, a thread per element; and tiles of 128x128 with 8x8 elements of C in the registers of each of 256
 * threads, eight columns of A and rows of B at a time, A turned while it is stored.
 */
#include "device_warp.h"

enum { SMALL = 16, TILE = 128, DEPTH = 8, EACH = 8, PITCH = TILE + 4 };

extern "C" __global__ void matmul_naive(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                        int columns, int depth)
{
    int column = blockIdx.x * SMALL + threadIdx.x;
    int row = blockIdx.y * SMALL + threadIdx.y;
    float sum = 0.0f;

    for (int k = 0; k < depth; k++)
        sum = __fmaf_rn(a[row * depth + k], b[k * columns + column], sum);
    c[row * columns + column] = sum;
}

extern "C" __global__ void matmul_shared(const float *__restrict__ a, const float *__restrict__ b,
                                         float *__restrict__ c, int columns, int depth)
{
    __shared__ float a_tile[SMALL][SMALL], b_tile[SMALL][SMALL];
    int column = blockIdx.x * SMALL + threadIdx.x;
    int row = blockIdx.y * SMALL + threadIdx.y;
    float sum = 0.0f;

    for (int base = 0; base < depth; base += SMALL) {
        a_tile[threadIdx.y][threadIdx.x] = a[row * depth + base + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = b[(base + threadIdx.y) * columns + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SMALL; k++)
            sum = __fmaf_rn(a_tile[threadIdx.y][k], b_tile[k][threadIdx.x], sum);
        __syncthreads();
    }
    c[row * columns + column] = sum;
}

extern "C" __global__ void __launch_bounds__(256)
    matmul_register(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int columns,
                    int depth)
{
    __shared__ float a_tile[DEPTH * PITCH];
    __shared__ float b_tile[DEPTH * TILE];
    int tid = threadIdx.x;
    int left = tid % 16 * 4, top = tid / 16 * 4; /* of 4x4 elements here, at +64 to the right, below, and both */
    float sums[EACH][EACH] = {};

    a += (blockIdx.y * TILE + tid / 2) * depth + tid % 2 * 4;
    b += tid / 32 * columns + blockIdx.x * TILE + tid % 32 * 4;
#pragma unroll 1
    for (int base = 0; base < depth; base += DEPTH) {
        float4 from_a = *(const float4 *)(a + base);
        float4 from_b = *(const float4 *)(b + base * columns);
        float *turned = a_tile + tid % 2 * 4 * PITCH + tid / 2;
        __syncthreads();
        turned[0 * PITCH] = from_a.x;
        turned[1 * PITCH] = from_a.y;
        turned[2 * PITCH] = from_a.z;
        turned[3 * PITCH] = from_a.w;
        *(float4 *)(b_tile + tid * 4) = from_b;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float4 a0 = *(float4 *)(a_tile + k * PITCH + top), a1 = *(float4 *)(a_tile + k * PITCH + top + 64);
            float4 b0 = *(float4 *)(b_tile + k * TILE + left), b1 = *(float4 *)(b_tile + k * TILE + left + 64);
            float rows[EACH] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
            float cells[EACH] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sums[i][j] = __fmaf_rn(rows[i], cells[j], sums[i][j]);
        }
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int row = blockIdx.y * TILE + top + i % 4 + i / 4 * 64;
        float *to = c + row * columns + blockIdx.x * TILE + left;
        float4 first = {sums[i][0], sums[i][1], sums[i][2], sums[i][3]};
        float4 second = {sums[i][4], sums[i][5], sums[i][6], sums[i][7]};
        *(float4 *)to = first;
        *(float4 *)(to + 64) = second;
    }
}
