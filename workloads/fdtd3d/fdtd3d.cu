/*
 * fdtd3d: a stencil of radius 4 along the three axes of a volume, one step of time per launch.
 *
 * A block of 32x16 threads marches along z. Each thread keeps the nine values of its own column in registers; the
 * plane lies in shared memory with a margin of four cells on each side. The margins above and below are fetched by
 * the first four rows of threads, whole warps; those to the left and right by the first four threads of each row, the
 * same four lanes of all 16 warps. Where blocks stick out of the volume, threads fetch no further than its margin and
 * write only inside it. Two barriers per plane.
 */
#include "device.h"

enum { RADIUS = 4, BLOCK_X = 32, BLOCK_Y = 16 };

__constant__ float coefficients[RADIUS + 1];

/* The volume without its margins; `first` is the place of its first cell, `row` and `plane` are distances in memory. */
struct volume {
    int nx;
    int ny;
    int nz;
    int first;
    int row;
    int plane;
};

/* The value is computed here, by all threads, and not inside the branch that follows. No instruction of its own. */
static inline __device__ void keep_here(float *value) { asm volatile("" : "+f"(*value)); }

extern "C" __global__ void fdtd3d(const float *before, float *after, volume volume)
{
    __shared__ float tile[BLOCK_Y + 2 * RADIUS][BLOCK_X + 2 * RADIUS];
    int ltx = threadIdx.x;
    int lty = threadIdx.y;
    int x = blockIdx.x * BLOCK_X + ltx;
    int y = blockIdx.y * BLOCK_Y + lty;
    int tx = ltx + RADIUS;
    int ty = lty + RADIUS;
    bool reads = (x < volume.nx + RADIUS) & (y < volume.ny + RADIUS);
    bool writes = (x < volume.nx) & (y < volume.ny);
    int at = volume.first + y * volume.row + x; /* in the plane that is computed */
    int next = at - RADIUS * volume.plane;      /* of the value that is fetched next */
    float behind[RADIUS] = { 0.0f };
    float here = 0.0f;
    float ahead[RADIUS] = { 0.0f };

    /* As if the plane before the first had just been computed. */
    if (reads) {
#pragma unroll
        for (int i = RADIUS - 2; i >= 0; i--) {
            behind[i] = before[next];
            next += volume.plane;
        }
        here = before[next];
        next += volume.plane;
#pragma unroll
        for (int i = 0; i < RADIUS; i++) {
            ahead[i] = before[next];
            next += volume.plane;
        }
    }
    next = at + RADIUS * volume.plane;

#pragma unroll 1
    for (int z = 0; z < volume.nz; z++) {
#pragma unroll
        for (int i = RADIUS - 1; i > 0; i--)
            behind[i] = behind[i - 1];
        behind[0] = here;
        here = ahead[0];
#pragma unroll
        for (int i = 0; i < RADIUS - 1; i++)
            ahead[i] = ahead[i + 1];
        if (reads)
            ahead[RADIUS - 1] = before[next];
        __syncthreads();
        if (lty < RADIUS) {
            tile[lty][tx] = before[at - RADIUS * volume.row];
            tile[lty + BLOCK_Y + RADIUS][tx] = before[at + BLOCK_Y * volume.row];
        }
        if (ltx < RADIUS) {
            tile[ty][ltx] = before[at - RADIUS];
            tile[ty][ltx + BLOCK_X + RADIUS] = before[at + BLOCK_X];
        }
        tile[ty][tx] = here;
        __syncthreads();
        float value = __fmul_rn(coefficients[0], here);
#pragma unroll
        for (int i = 1; i <= RADIUS; i++) {
            float around = __fadd_rn(ahead[i - 1], behind[i - 1]);
            around = __fadd_rn(around, tile[ty - i][tx]);
            around = __fadd_rn(around, tile[ty + i][tx]);
            around = __fadd_rn(around, tile[ty][tx - i]);
            around = __fadd_rn(around, tile[ty][tx + i]);
            value = __fmaf_rn(coefficients[i], around, value);
        }
        keep_here(&value);
        if (writes)
            after[at] = value;
        at += volume.plane;
        next += volume.plane;
    }
}
