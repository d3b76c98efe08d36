/*
 * convsep: an image convolved with a separable filter of radius 8: first along the rows, then along the columns.
 *
 * convsep_rows: blocks of 160 threads, a tile of 128 pixels of one row. A thread loads one pixel: the 128 of the tile
 * and 8 on each side of it, which leaves the first and the last 8 threads idle; what lies outside of the image counts
 * as zero. The first 128 threads write. convsep_columns: blocks of 16x8 threads, a tile of 16x48 pixels, loaded and
 * written 8 rows at a time. Branches follow the thread's number, and the threads on a path are always neighbours.
 */
#include "device.h"

enum {
    RADIUS = 8,
    TAPS = 2 * RADIUS + 1,
    ROW_LEAD = 16, /* threads before the tile: a half warp, so that loads are aligned */
    ROW_TILE = 128,
    COLUMN_TILE_X = 16,
    COLUMN_TILE_Y = 48,
    COLUMN_STEP = 8, /* rows of threads */
};

__constant__ float filter[TAPS];

static inline __device__ int smaller(int a, int b) { return a < b ? a : b; }

/* Taps from left to right, or from top to bottom: pixels `distance` apart. */
static inline __device__ float convolve(const float *first, int distance)
{
    float sum = 0.0f;

#pragma unroll
    for (int tap = 0; tap < TAPS; tap++)
        sum = __fmaf_rn(first[tap * distance], filter[tap], sum);
    return sum;
}

extern "C" __global__ void convsep_rows(const float *image, float *result, int width, int pitch)
{
    __shared__ float pixels[RADIUS + ROW_TILE + RADIUS];
    int tid = threadIdx.x;
    int tile = blockIdx.x * ROW_TILE;
    int row = blockIdx.y * pitch;
    int x = tile - ROW_LEAD + tid;

    if (x >= tile - RADIUS && x < tile + ROW_TILE + RADIUS) {
        float pixel = 0.0f;
        if (x >= 0 && x < width)
            pixel = image[row + x];
        pixels[x - tile + RADIUS] = pixel;
    }
    __syncthreads();
    x = tile + tid;
    if (x < smaller(tile + ROW_TILE, width))
        result[row + x] = convolve(&pixels[tid], 1);
}

extern "C" __global__ void convsep_columns(const float *image, float *result, int width, int height, int pitch)
{
    __shared__ float pixels[(RADIUS + COLUMN_TILE_Y + RADIUS) * COLUMN_TILE_X];
    int x = blockIdx.x * COLUMN_TILE_X + threadIdx.x;
    int tile = blockIdx.y * COLUMN_TILE_Y;
    int end = smaller(tile + COLUMN_TILE_Y, height);
    int at = threadIdx.y * COLUMN_TILE_X + threadIdx.x; /* in the tile */

#pragma unroll 1
    for (int y = tile - RADIUS + (int)threadIdx.y; y < end + RADIUS; y += COLUMN_STEP) {
        float pixel = 0.0f;
        if (y >= 0 && y < height && x < width)
            pixel = image[y * pitch + x];
        pixels[at] = pixel;
        at += COLUMN_STEP * COLUMN_TILE_X;
    }
    __syncthreads();
    if (x < width) {
        at = threadIdx.y * COLUMN_TILE_X + threadIdx.x;
#pragma unroll 1
        for (int y = tile + threadIdx.y; y < end; y += COLUMN_STEP) {
            result[y * pitch + x] = convolve(&pixels[at], COLUMN_TILE_X);
            at += COLUMN_STEP * COLUMN_TILE_X;
        }
    }
}
