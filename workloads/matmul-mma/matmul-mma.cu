/*
 * matmul-mma: C = A B on tensor cores, A and B in half precision with rows first, C in single. Blocks of 256 threads
 * make tiles of 128x128, each warp 64x32 of it, 32 of the depth at a time. matmul_mma loads a tile through registers
 * and waits for it; matmul_mma_async has two tiles in shared memory and fills one by cp.async while it multiplies the
 * other. Rows in shared memory are 16 bytes longer than the tile's, so that ldmatrix reads eight rows from different
 * banks.
 */
#include "device_matrix.h"

enum { TILE = 128, DEPTH = 32, A_PITCH = DEPTH + 8, B_PITCH = TILE + 8, THREADS = 256 };
enum { A_HALVES = TILE * A_PITCH, B_HALVES = DEPTH * B_PITCH };

/* What a warp has of C: 4 x 4 pieces of 16x8. */
struct part {
    float sums[4][4][4];
};

/* The product of the tile that is in shared memory. */
static inline __device__ void multiply_tile(part &part, unsigned a_tile, unsigned b_tile, int top, int left)
{
    int lane = threadIdx.x % LANES;

#pragma unroll
    for (int k = 0; k < DEPTH; k += 16) {
        unsigned a[4][4], b[2][4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            load_matrices(a[i], a_tile + 2 * ((top + i * 16 + lane % 16) * A_PITCH + k + lane / 16 * 8));
#pragma unroll
        for (int j = 0; j < 2; j++)
            load_matrices_turned(b[j], b_tile + 2 * ((k + lane % 16) * B_PITCH + left + j * 16 + lane / 16 * 8));
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                multiply_add(part.sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
}

static inline __device__ void store_part(const part &part, float *c, int columns, int top, int left)
{
    int lane = threadIdx.x % LANES;

#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int row = top + i * 16 + lane / 4, column = left + j * 8 + lane % 4 * 2;
            float2 upper = {part.sums[i][j][0], part.sums[i][j][1]};
            float2 lower = {part.sums[i][j][2], part.sums[i][j][3]};
            *(float2 *)(c + row * columns + column) = upper;
            *(float2 *)(c + (row + 8) * columns + column) = lower;
        }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    matmul_mma(const half_bits *__restrict__ a, const half_bits *__restrict__ b, float *__restrict__ c, int columns,
               int depth)
{
    __shared__ half_bits a_tile[A_HALVES] __attribute__((aligned(16)));
    __shared__ half_bits b_tile[B_HALVES] __attribute__((aligned(16)));
    int tid = threadIdx.x;
    int top = tid / 128 * 64, left = tid / LANES % 4 * 32;
    part part = {};

    a += (blockIdx.y * TILE + tid / 2) * depth + tid % 2 * 16;
    b += tid / 8 * columns + blockIdx.x * TILE + tid % 8 * 16;
#pragma unroll 1
    for (int base = 0; base < depth; base += DEPTH) {
        const uint4 *from_a = (const uint4 *)(a + base), *from_b = (const uint4 *)(b + base * columns);
        uint4 a0 = from_a[0], a1 = from_a[1], b0 = from_b[0], b1 = from_b[1];
        uint4 *to_a = (uint4 *)(a_tile + tid / 2 * A_PITCH + tid % 2 * 16);
        uint4 *to_b = (uint4 *)(b_tile + tid / 8 * B_PITCH + tid % 8 * 16);
        __syncthreads();
        to_a[0] = a0;
        to_a[1] = a1;
        to_b[0] = b0;
        to_b[1] = b1;
        __syncthreads();
        multiply_tile(part, shared_address(a_tile), shared_address(b_tile), top, left);
    }
    store_part(part, c, columns, blockIdx.y * TILE + top, blockIdx.x * TILE + left);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    matmul_mma_async(const half_bits *__restrict__ a, const half_bits *__restrict__ b, float *__restrict__ c,
                     int columns, int depth)
{
    __shared__ half_bits a_tiles[2][A_HALVES] __attribute__((aligned(16)));
    __shared__ half_bits b_tiles[2][B_HALVES] __attribute__((aligned(16)));
    int tid = threadIdx.x;
    int top = tid / 128 * 64, left = tid / LANES % 4 * 32;
    unsigned to_a = shared_address(a_tiles) + 2 * (tid / 2 * A_PITCH + tid % 2 * 16);
    unsigned to_b = shared_address(b_tiles) + 2 * (tid / 8 * B_PITCH + tid % 8 * 16);
    part part = {};

    a += (blockIdx.y * TILE + tid / 2) * depth + tid % 2 * 16;
    b += tid / 8 * columns + blockIdx.x * TILE + tid % 8 * 16;
    copy_async(to_a, a);
    copy_async(to_a + 16, a + 8);
    copy_async(to_b, b);
    copy_async(to_b + 16, b + 8);
    copy_commit();
#pragma unroll 1
    for (int base = 0; base < depth; base += DEPTH) {
        int now = base / DEPTH % 2;
        if (base + DEPTH < depth) {
            const half_bits *next_a = a + base + DEPTH, *next_b = b + (base + DEPTH) * columns;
            unsigned next = 1 - now;
            copy_async(to_a + next * 2 * A_HALVES, next_a);
            copy_async(to_a + next * 2 * A_HALVES + 16, next_a + 8);
            copy_async(to_b + next * 2 * B_HALVES, next_b);
            copy_async(to_b + next * 2 * B_HALVES + 16, next_b + 8);
        }
        copy_commit();
        copy_wait<1>();
        __syncthreads();
        multiply_tile(part, shared_address(a_tiles) + now * 2 * A_HALVES, shared_address(b_tiles) + now * 2 * B_HALVES,
                      top, left);
        __syncthreads();
    }
    store_part(part, c, columns, blockIdx.y * TILE + top, blockIdx.x * TILE + left);
}
