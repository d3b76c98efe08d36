/*
 * stencil: one step of the heat equation, four ways: five points in the plane, from memory and through a tile in shared
 * memory; seven points in space, a thread per cell, and a thread per column that walks along z with three values in
 * registers. Cells on the border keep their value.
 */
#include "device_warp.h"

enum { WIDTH = 32, HEIGHT = 8 };
#define SHARE 0.1f

static inline __device__ float spread(float centre, float sum, float neighbours)
{
    return __fmaf_rn(SHARE, __fmaf_rn(-neighbours, centre, sum), centre);
}

extern "C" __global__ void stencil_plane(const float *__restrict__ in, float *__restrict__ out, int columns, int rows)
{
    int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
    int at = y * columns + x;

    if (x >= columns || y >= rows)
        return;
    float centre = in[at];
    if (x > 0 && x < columns - 1 && y > 0 && y < rows - 1)
        centre = spread(centre, (in[at - 1] + in[at + 1]) + (in[at - columns] + in[at + columns]), 4.0f);
    out[at] = centre;
}

extern "C" __global__ void stencil_plane_shared(const float *__restrict__ in, float *__restrict__ out, int columns,
                                                int rows)
{
    __shared__ float tile[HEIGHT + 2][WIDTH + 2];
    int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    int at = y * columns + x;
    bool inside = x < columns && y < rows;

    if (inside) {
        tile[j][i] = in[at];
        if (threadIdx.x == 0 && x > 0)
            tile[j][0] = in[at - 1];
        if (threadIdx.x == WIDTH - 1 && x < columns - 1)
            tile[j][WIDTH + 1] = in[at + 1];
        if (threadIdx.y == 0 && y > 0)
            tile[0][i] = in[at - columns];
        if (threadIdx.y == HEIGHT - 1 && y < rows - 1)
            tile[HEIGHT + 1][i] = in[at + columns];
    }
    __syncthreads();
    if (!inside)
        return;
    float centre = tile[j][i];
    if (x > 0 && x < columns - 1 && y > 0 && y < rows - 1)
        centre = spread(centre, (tile[j][i - 1] + tile[j][i + 1]) + (tile[j - 1][i] + tile[j + 1][i]), 4.0f);
    out[at] = centre;
}

extern "C" __global__ void stencil_space(const float *__restrict__ in, float *__restrict__ out, int side, int planes)
{
    int x = blockIdx.x * WIDTH + threadIdx.x;
    int y = blockIdx.y * HEIGHT % side + threadIdx.y, z = blockIdx.y * HEIGHT / side;
    int plane = side * side;
    int at = (z * side + y) * side + x;

    float centre = in[at];
    if (x > 0 && x < side - 1 && y > 0 && y < side - 1 && z > 0 && z < planes - 1)
        centre = spread(centre,
                        (in[at - 1] + in[at + 1]) + (in[at - side] + in[at + side]) + (in[at - plane] + in[at + plane]),
                        6.0f);
    out[at] = centre;
}

extern "C" __global__ void stencil_space_walk(const float *__restrict__ in, float *__restrict__ out, int side,
                                              int planes)
{
    int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
    int plane = side * side;
    int at = y * side + x;
    bool inner = x > 0 && x < side - 1 && y > 0 && y < side - 1;
    float below = in[at], centre = in[at + plane];

    out[at] = below;
#pragma unroll 1
    for (int z = 1; z < planes - 1; z++) {
        at += plane;
        float above = in[at + plane];
        float next = centre;
        if (inner)
            next = spread(centre, (in[at - 1] + in[at + 1]) + (in[at - side] + in[at + side]) + (below + above), 6.0f);
        out[at] = next;
        below = centre;
        centre = above;
    }
    out[at + plane] = centre;
}
