/* stencil: host program; see stencil.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { WIDTH = 32, HEIGHT = 8 };

static const struct {
    int columns, rows, side, planes;
} inputs[SIZE_COUNT] = {{100, 50, 32, 6}, {1000, 500, 64, 64}, {2000, 1500, 256, 40}};

static float spread(float centre, float sum, float neighbours)
{
    return fmaf(0.1f, fmaf(-neighbours, centre, sum), centre);
}

static void reference_plane(const float *in, float *out, int columns, int rows)
{
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < columns; x++) {
            int at = y * columns + x;
            out[at] = in[at];
            if (x > 0 && x < columns - 1 && y > 0 && y < rows - 1)
                out[at] = spread(in[at], (in[at - 1] + in[at + 1]) + (in[at - columns] + in[at + columns]), 4.0f);
        }
    }
}

static void reference_space(const float *in, float *out, int side, int planes)
{
    int plane = side * side;

    for (int at = 0; at < plane * planes; at++) {
        int x = at % side, y = at / side % side, z = at / plane;
        out[at] = in[at];
        if (x == 0 || x == side - 1 || y == 0 || y == side - 1 || z == 0 || z == planes - 1)
            continue;
        out[at] = spread(
            in[at], (in[at - 1] + in[at + 1]) + (in[at - side] + in[at + side]) + (in[at - plane] + in[at + plane]),
            6.0f);
    }
}

static size_t run(const struct gpu *gpu, const char *kernel, struct shape grid, const float *in, const float *expected,
                  int first, int second, size_t count)
{
    CUdeviceptr in_memory = gpu_upload(in, count * sizeof(float));
    CUdeviceptr out_memory = gpu_alloc_zeroed(count * sizeof(float));

    gpu_launch(gpu_kernel(gpu, kernel), grid, (struct shape){WIDTH, HEIGHT},
               (void *[]){&in_memory, &out_memory, &first, &second});
    /* The compiler may add the neighbours in another order. */
    size_t mismatches = array_check(kernel, out_memory, expected, count, 1e-6f, 1e-6f);
    gpu_free(in_memory);
    gpu_free(out_memory);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "stencil",
        .summary = "Heat in the plane (five points) and in space (seven points), two ways each.",
        .inputs = {"100x50 and 32x32x6 cells", "1,000x500 and 64x64x64 cells", "2,000x1,500 and 256x256x40 cells"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int columns = inputs[size].columns, rows = inputs[size].rows, side = inputs[size].side;
    int planes = inputs[size].planes;
    size_t flat = (size_t)columns * rows, solid = (size_t)side * side * planes, most = flat > solid ? flat : solid;
    uint64_t state = workload_seed(57);
    float *in = array_of_floats(most, 0.0f, 1.0f, &state), *expected = workload_alloc(most, sizeof(float));
    struct shape plane = {gpu_blocks(columns, WIDTH), gpu_blocks(rows, HEIGHT)};
    struct shape face = {side / WIDTH, side / HEIGHT}, space = {face.x, face.y * planes};
    struct gpu gpu;

    gpu_open(&gpu);
    reference_plane(in, expected, columns, rows);
    size_t mismatches = run(&gpu, "stencil_plane", plane, in, expected, columns, rows, flat);
    mismatches += run(&gpu, "stencil_plane_shared", plane, in, expected, columns, rows, flat);
    reference_space(in, expected, side, planes);
    mismatches += run(&gpu, "stencil_space", space, in, expected, side, planes, solid);
    mismatches += run(&gpu, "stencil_space_walk", face, in, expected, side, planes, solid);
    gpu_close(&gpu);
    free(in);
    free(expected);
    return workload_verdict(&workload, mismatches, 2 * (flat + solid), "cells");
}
