/*
 * boxfilter: every pixel becomes the mean of the square of 17x17 around it, edges repeated. Rows, then columns, with a
 * running sum: a thread per row (its lanes a row apart) and a thread per column (its lanes side by side); and the whole
 * square at once through a tile in shared memory, for a square of 5x5.
 */
#include "device_warp.h"

enum { BLOCK = 64, RADIUS = 8, NARROW = 2, WIDTH = 32, HEIGHT = 8 };

static inline __device__ int clamp(int value, int limit) { return value < 0 ? 0 : value < limit ? value : limit - 1; }

template <bool BY_ROWS> static inline __device__ void running_mean(const float *in, float *out, int columns, int rows)
{
    int line = blockIdx.x * BLOCK + threadIdx.x;
    int length = BY_ROWS ? columns : rows, step = BY_ROWS ? 1 : columns;
    float sum = 0.0f;

    if (line >= (BY_ROWS ? rows : columns))
        return;
    in += BY_ROWS ? line * columns : line;
    out += BY_ROWS ? line * columns : line;
    for (int i = -RADIUS; i <= RADIUS; i++)
        sum += in[clamp(i, length) * step];
#pragma unroll 1
    for (int i = 0; i < length; i++) {
        out[i * step] = sum * (1.0f / (2 * RADIUS + 1));
        sum += in[clamp(i + RADIUS + 1, length) * step] - in[clamp(i - RADIUS, length) * step];
    }
}

extern "C" __global__ void boxfilter_rows(const float *__restrict__ in, float *__restrict__ out, int columns, int rows)
{
    running_mean<true>(in, out, columns, rows);
}

extern "C" __global__ void boxfilter_columns(const float *__restrict__ in, float *__restrict__ out, int columns,
                                             int rows)
{
    running_mean<false>(in, out, columns, rows);
}

extern "C" __global__ void boxfilter_square(const float *__restrict__ in, float *__restrict__ out, int columns,
                                            int rows)
{
    __shared__ float tile[HEIGHT + 2 * NARROW][WIDTH + 2 * NARROW];
    int left = blockIdx.x * WIDTH, top = blockIdx.y * HEIGHT;
    int x = left + threadIdx.x, y = top + threadIdx.y;
    float sum = 0.0f;

    for (int j = threadIdx.y; j < HEIGHT + 2 * NARROW; j += HEIGHT)
        for (int i = threadIdx.x; i < WIDTH + 2 * NARROW; i += WIDTH)
            tile[j][i] = in[clamp(top + j - NARROW, rows) * columns + clamp(left + i - NARROW, columns)];
    __syncthreads();
    if (x >= columns || y >= rows)
        return;
#pragma unroll
    for (int j = 0; j <= 2 * NARROW; j++)
#pragma unroll
        for (int i = 0; i <= 2 * NARROW; i++)
            sum += tile[threadIdx.y + j][threadIdx.x + i];
    out[y * columns + x] = sum * (1.0f / ((2 * NARROW + 1) * (2 * NARROW + 1)));
}
