/*
 * 3dfd: finite differences in three dimensions, eighth order in space and second in time: a wave through a medium.
 *
 * A block of 16x16 threads marches along z with the nine values of each thread's column in registers and the plane in
 * shared memory, a margin of four cells on each side. The margins above and below are fetched by the first four rows
 * of threads, two whole warps; those to the left and right by the first four threads of each row: lanes 0 to 3 and 16
 * to 19 of all eight warps. Blocks fill the plane, so there is no other branch. Two barriers per plane.
 */
#include "device.h"

enum { RADIUS = 4, BLOCK = 16, TILE = BLOCK + 2 * RADIUS };

__constant__ float coefficients[RADIUS + 1];

/* `first` is the place of the first cell inside the margins, `row` and `plane` are distances in memory. */
struct medium {
    int planes;
    int first;
    int row;
    int plane;
};

/* `wave` is the field now; `other` has the field one step ago, and becomes the one a step from now. */
extern "C" __global__ void wave_step(const float *wave, float *other, const float *squared_speed, medium medium)
{
    __shared__ float tile[TILE][TILE];
    int tx = threadIdx.x + RADIUS;
    int ty = threadIdx.y + RADIUS;
    int x = blockIdx.x * BLOCK + threadIdx.x;
    int y = blockIdx.y * BLOCK + threadIdx.y;
    int at = medium.first + y * medium.row + x; /* in the plane that is computed */
    int next = at - RADIUS * medium.plane;      /* of the value that is fetched next */
    float behind[RADIUS];
    float here;
    float ahead[RADIUS];

    /* As if the plane before the first had just been computed. */
    behind[RADIUS - 1] = 0.0f;
#pragma unroll
    for (int i = RADIUS - 2; i >= 0; i--) {
        behind[i] = wave[next];
        next += medium.plane;
    }
    here = wave[next];
    next += medium.plane;
#pragma unroll
    for (int i = 0; i < RADIUS; i++) {
        ahead[i] = wave[next];
        next += medium.plane;
    }

#pragma unroll 1
    for (int z = 0; z < medium.planes; z++) {
#pragma unroll
        for (int i = RADIUS - 1; i > 0; i--)
            behind[i] = behind[i - 1];
        behind[0] = here;
        here = ahead[0];
#pragma unroll
        for (int i = 0; i < RADIUS - 1; i++)
            ahead[i] = ahead[i + 1];
        ahead[RADIUS - 1] = wave[next];
        next += medium.plane;
        __syncthreads();
        if (threadIdx.y < RADIUS) {
            tile[threadIdx.y][tx] = wave[at - RADIUS * medium.row];
            tile[threadIdx.y + BLOCK + RADIUS][tx] = wave[at + BLOCK * medium.row];
        }
        if (threadIdx.x < RADIUS) {
            tile[ty][threadIdx.x] = wave[at - RADIUS];
            tile[ty][threadIdx.x + BLOCK + RADIUS] = wave[at + BLOCK];
        }
        tile[ty][tx] = here;
        __syncthreads();
        float laplacian = __fmul_rn(coefficients[0], here);
#pragma unroll
        for (int i = 1; i <= RADIUS; i++) {
            float around = __fadd_rn(ahead[i - 1], behind[i - 1]);
            around = __fadd_rn(around, __fadd_rn(tile[ty - i][tx], tile[ty + i][tx]));
            around = __fadd_rn(around, __fadd_rn(tile[ty][tx - i], tile[ty][tx + i]));
            laplacian = __fmaf_rn(coefficients[i], around, laplacian);
        }
        float momentum = __fsub_rn(__fadd_rn(here, here), other[at]);
        other[at] = __fmaf_rn(laplacian, squared_speed[at], momentum);
        at += medium.plane;
    }
}
