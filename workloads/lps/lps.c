/* lps: host program; see lps.cu for what the kernel does. The reference repeats each sum in the kernel's order. */
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK_X = 32, BLOCK_Y = 4, ALIGNED = 32 };

/* Laid out as the kernel's parameter. */
struct grid {
    int nx;
    int ny;
    int nz;
    int pitch;
};

struct problem {
    long side; /* the grid is side x side x side cells */
    long iterations;
};

static const struct problem problems[SIZE_COUNT] = {{36, 1}, {100, 1}, {100, 1}};

static void iterate_reference(const struct grid *grid, const float *before, float *after)
{
    size_t row = grid->pitch;
    size_t plane = row * grid->ny;

    for (int z = 0; z < grid->nz; z++) {
        for (int y = 0; y < grid->ny; y++) {
            for (int x = 0; x < grid->nx; x++) {
                size_t at = z * plane + y * row + x;
                if (x == 0 || x == grid->nx - 1 || y == 0 || y == grid->ny - 1 || z == 0 || z == grid->nz - 1) {
                    after[at] = before[at];
                    continue;
                }
                float sum = before[at - 1] + before[at + 1];
                sum += before[at - row];
                sum += before[at + row];
                sum += before[at - plane];
                sum += before[at + plane];
                after[at] = sum * (1.0f / 6.0f);
            }
        }
    }
}

/* Leaves the last iteration in `potential`. */
static void solve_reference(const struct grid *grid, long iterations, float *potential, size_t cells)
{
    float *before = workload_alloc(cells, sizeof(float));

    for (long i = 0; i < iterations; i++) {
        for (size_t cell = 0; cell < cells; cell++)
            before[cell] = potential[cell];
        iterate_reference(grid, before, potential);
    }
    free(before);
}

static void solve_on_device(const struct gpu *gpu, struct grid *grid, long iterations, float *potential, size_t cells)
{
    CUfunction kernel = gpu_kernel(gpu, "lps");
    size_t bytes = cells * sizeof(float);
    CUdeviceptr before = gpu_upload(potential, bytes);
    CUdeviceptr after = gpu_alloc_zeroed(bytes);
    struct shape blocks = {gpu_blocks(grid->nx, BLOCK_X), gpu_blocks(grid->ny, BLOCK_Y)};

    for (long i = 0; i < iterations; i++) {
        void *arguments[] = {&before, &after, grid};
        gpu_launch(kernel, blocks, (struct shape){BLOCK_X, BLOCK_Y}, arguments);
        CUdeviceptr newest = after;
        after = before;
        before = newest;
    }
    gpu_download(potential, before, bytes);
    gpu_free(before);
    gpu_free(after);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0};
    const struct workload_option options[] = {
        {"side", "cells on each side of a cube of your own size", &given.side, 512},
        {"iterations", "launches", &given.iterations, 1000000},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "lps",
        .summary = "Laplace's equation in three dimensions by Jacobi's method, in 32x4 blocks.",
        .inputs = {"36 x 36 x 36 cells", "100 x 100 x 100 cells", "100 x 100 x 100 cells, the same"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(BLOCK_X * BLOCK_Y);
    struct gpu gpu;

    if (given.side)
        problem.side = given.side;
    if (given.iterations)
        problem.iterations = given.iterations;
    int side = problem.side;
    struct grid grid = {side, side, side, (side + ALIGNED - 1) / ALIGNED * ALIGNED};
    size_t cells = (size_t)grid.pitch * side * side;
    float *potential = workload_alloc(cells, sizeof(float));
    float *expected = workload_alloc(cells, sizeof(float));
    for (size_t i = 0; i < cells; i++) {
        if (i % grid.pitch < (size_t)side)
            potential[i] = expected[i] = random_float(&state);
    }
    gpu_open(&gpu);
    solve_on_device(&gpu, &grid, problem.iterations, potential, cells);
    gpu_close(&gpu);
    solve_reference(&grid, problem.iterations, expected, cells);
    size_t mismatches = compare_f32("potential", potential, expected, cells);
    free(potential);
    free(expected);
    return workload_verdict(&workload, mismatches, (size_t)side * side * side, "potentials");
}
