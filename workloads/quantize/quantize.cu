/*
 * quantize: a product of matrices in bytes: quantize_rows finds the greatest of each row and rounds the row to bytes;
 * quantize_product multiplies with dp4a, four products per instruction, in tiles of 64x64 with 4x4 per thread; and
 * quantize_restore takes the 32-bit sums back to floats with the scales of row and column. B is stored by columns.
 */
#include "device_warp.h"

enum { BLOCK = 256, TILE = 64, DEPTH = 16, EACH = 4, PITCH = TILE + 4 }; /* depth in words of four bytes */

/* A block per row; scale is what one step stands for. */
extern "C" __global__ void quantize_rows(const float *__restrict__ in, signed char *__restrict__ out,
                                         float *__restrict__ scales, int columns)
{
    __shared__ float partial[LANES];
    float greatest = 1e-20f;

    in += blockIdx.x * columns;
    out += blockIdx.x * columns;
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        greatest = fmaxf(greatest, fabsf(in[i]));
    greatest = block_max(greatest, partial);
    float factor = __fdiv_rn(127.0f, greatest);
    for (int i = threadIdx.x; i < columns; i += BLOCK) {
        int rounded;
        asm("cvt.rni.s32.f32 %0, %1;" : "=r"(rounded) : "f"(in[i] * factor));
        out[i] = rounded;
    }
    if (threadIdx.x == 0)
        scales[blockIdx.x] = __fdiv_rn(greatest, 127.0f);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    quantize_product(const int *__restrict__ a, const int *__restrict__ b, int *__restrict__ c, int columns, int words)
{
    __shared__ int a_tile[DEPTH * PITCH], b_tile[DEPTH * PITCH];
    int tid = threadIdx.x, left = tid % 16 * EACH, top = tid / 16 * EACH;
    int sums[EACH][EACH] = {};

    a += (blockIdx.y * TILE + tid / 4) * words + tid % 4 * 4;
    b += (blockIdx.x * TILE + tid / 4) * words + tid % 4 * 4;
#pragma unroll 1
    for (int base = 0; base < words; base += DEPTH) {
        int4 from_a = *(const int4 *)(a + base), from_b = *(const int4 *)(b + base);
        int *to_a = a_tile + tid % 4 * 4 * PITCH + tid / 4, *to_b = b_tile + tid % 4 * 4 * PITCH + tid / 4;
        __syncthreads();
        to_a[0 * PITCH] = from_a.x, to_a[1 * PITCH] = from_a.y;
        to_a[2 * PITCH] = from_a.z, to_a[3 * PITCH] = from_a.w;
        to_b[0 * PITCH] = from_b.x, to_b[1 * PITCH] = from_b.y;
        to_b[2 * PITCH] = from_b.z, to_b[3 * PITCH] = from_b.w;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            int4 rows = *(int4 *)(a_tile + k * PITCH + top), cells = *(int4 *)(b_tile + k * PITCH + left);
            int x[EACH] = {rows.x, rows.y, rows.z, rows.w}, y[EACH] = {cells.x, cells.y, cells.z, cells.w};
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sums[i][j] = __dp4a(x[i], y[j], sums[i][j]);
        }
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int4 four = {sums[i][0], sums[i][1], sums[i][2], sums[i][3]};
        *(int4 *)(c + (blockIdx.y * TILE + top + i) * columns + blockIdx.x * TILE + left) = four;
    }
}

extern "C" __global__ void quantize_restore(const int *__restrict__ sums, const float *__restrict__ row_scales,
                                            const float *__restrict__ column_scales, float *__restrict__ out,
                                            int columns, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < count)
        out[i] = sums[i] * row_scales[i / columns] * column_scales[i % columns];
}
