/*
 * lps: Laplace's equation on a grid in three dimensions, one Jacobi iteration per launch.
 *
 * A block of 32x4 threads marches through the planes of its column of the grid with three of them in shared memory,
 * each with a margin of one cell. Every thread fetches the cell that it computes; the first 76 of 128 fetch the
 * margin's cells as well. Cells on the faces of the grid keep their value, and the last blocks of a row may stick out
 * of it. All branches follow the thread's number and the plane. Two barriers per plane.
 */
#include "device.h"

enum {
    BLOCK_X = 32,
    BLOCK_Y = 4,
    TILE_X = BLOCK_X + 2,
    TILE_Y = BLOCK_Y + 2,
    MARGIN = 2 * (TILE_X + BLOCK_Y), /* cells around the tile, corners included */
};

struct grid {
    int nx;
    int ny;
    int nz;
    int pitch; /* floats from row to row */
};

static inline __device__ bool inside(const grid &grid, int x, int y)
{
    return ((unsigned)x < (unsigned)grid.nx) & ((unsigned)y < (unsigned)grid.ny);
}

extern "C" __global__ void lps(const float *before, float *after, grid grid)
{
    __shared__ float tile[3][TILE_Y * TILE_X];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int t = ty * BLOCK_X + tx;
    int x = blockIdx.x * BLOCK_X + tx;
    int y = blockIdx.y * BLOCK_Y + ty;
    int plane = grid.pitch * grid.ny;
    int at = y * grid.pitch + x;
    int in_tile = (ty + 1) * TILE_X + tx + 1;
    bool active = inside(grid, x, y);
    bool on_face = (x == 0) | (x == grid.nx - 1) | (y == 0) | (y == grid.ny - 1);

    /* The cell of the margin that this thread fetches: the row above, the row below, then both sides row by row. */
    int margin_x = 0, margin_y = 0;
    bool margin = t < MARGIN;
    if (margin) {
        if (t < 2 * TILE_X) {
            margin_y = t < TILE_X ? 0 : TILE_Y - 1;
            margin_x = t < TILE_X ? t : t - TILE_X;
        } else {
            margin_y = 1 + (t - 2 * TILE_X) / 2;
            margin_x = (t & 1) ? TILE_X - 1 : 0;
        }
    }
    int margin_in_tile = margin_y * TILE_X + margin_x;
    int far_x = blockIdx.x * BLOCK_X + margin_x - 1;
    int far_y = blockIdx.y * BLOCK_Y + margin_y - 1;
    int far_at = far_y * grid.pitch + far_x;
    margin = margin & inside(grid, far_x, far_y);

    int below = 1, here = 2, above = 0; /* the three planes take turns */
    if (active)
        tile[above][in_tile] = before[at];
    if (margin)
        tile[above][margin_in_tile] = before[far_at];
#pragma unroll 1
    for (int z = 0; z < grid.nz; z++) {
        int oldest = below;
        below = here;
        here = above;
        above = oldest;
        if (z + 1 < grid.nz) {
            if (active)
                tile[above][in_tile] = before[at + plane];
            if (margin)
                tile[above][margin_in_tile] = before[far_at + plane];
        }
        __syncthreads();
        if (active) {
            float value;
            if (on_face || z == 0 || z + 1 == grid.nz) {
                value = tile[here][in_tile];
            } else {
                value = __fadd_rn(tile[here][in_tile - 1], tile[here][in_tile + 1]);
                value = __fadd_rn(value, tile[here][in_tile - TILE_X]);
                value = __fadd_rn(value, tile[here][in_tile + TILE_X]);
                value = __fadd_rn(value, tile[below][in_tile]);
                value = __fadd_rn(value, tile[above][in_tile]);
                value = __fmul_rn(value, 1.0f / 6.0f);
            }
            after[at] = value;
        }
        at += plane;
        far_at += plane;
        __syncthreads();
    }
}
