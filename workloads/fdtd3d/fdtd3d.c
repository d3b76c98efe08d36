/* fdtd3d: host program; see fdtd3d.cu for what the kernel does. The reference repeats sums in the kernel's order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { RADIUS = 4, BLOCK_X = 32, BLOCK_Y = 16, ALIGNED = 32 };

/* Laid out as the kernel's parameter. */
struct volume {
    int nx;
    int ny;
    int nz;
    int first;
    int row;
    int plane;
};

struct problem {
    long side; /* the volume is side x side x side cells, and the margins around them */
    long steps;
};

static const struct problem problems[SIZE_COUNT] = {{24, 2}, {88, 2}, {376, 5}};

/* Cells of a row begin on a whole line of memory: what lies before the first margin fills the line up. */
static struct volume cube(int side)
{
    struct volume volume = {.nx = side, .ny = side, .nz = side};
    int outer = side + 2 * RADIUS;

    volume.row = (outer + ALIGNED - 1) / ALIGNED * ALIGNED;
    volume.plane = volume.row * outer;
    volume.first = ALIGNED + RADIUS * volume.row + RADIUS * volume.plane;
    return volume;
}

/* All of it in memory. Blocks that stick out of the last plane find the margin planes behind it. */
static size_t volume_floats(const struct volume *volume)
{
    return ALIGNED + (size_t)volume->plane * (volume->nz + 2 * RADIUS);
}

static float cell_reference(const struct volume *volume, const float *coefficients, const float *cell)
{
    float value = coefficients[0] * cell[0];

    for (long i = 1; i <= RADIUS; i++) {
        float around = cell[i * volume->plane] + cell[-i * volume->plane];
        around += cell[-i * volume->row];
        around += cell[i * volume->row];
        around += cell[-i];
        around += cell[i];
        value = fmaf(coefficients[i], around, value);
    }
    return value;
}

/* `after` already has the margins: they stay as they are. */
static void step_reference(const struct volume *volume, const float *coefficients, const float *before, float *after)
{
    for (int z = 0; z < volume->nz; z++) {
        for (int y = 0; y < volume->ny; y++) {
            size_t at = volume->first + (size_t)z * volume->plane + (size_t)y * volume->row;
            for (int x = 0; x < volume->nx; x++)
                after[at + x] = cell_reference(volume, coefficients, before + at + x);
        }
    }
}

static void field_reference(const struct volume *volume, const float *coefficients, long steps, float *field)
{
    size_t bytes = volume_floats(volume) * sizeof(float);
    float *before = workload_alloc(1, bytes);

    for (long step = 0; step < steps; step++) {
        memcpy(before, field, bytes);
        step_reference(volume, coefficients, before, field);
    }
    free(before);
}

static void field_on_device(const struct gpu *gpu, struct volume *volume, const float *coefficients, long steps,
                            float *field)
{
    CUfunction kernel = gpu_kernel(gpu, "fdtd3d");
    size_t bytes = volume_floats(volume) * sizeof(float);
    CUdeviceptr before = gpu_upload(field, bytes);
    CUdeviceptr after = gpu_upload(field, bytes);
    struct shape blocks = {gpu_blocks(volume->nx, BLOCK_X), gpu_blocks(volume->ny, BLOCK_Y)};

    gpu_fill_constant(gpu, "coefficients", coefficients, (RADIUS + 1) * sizeof(float));
    for (long step = 0; step < steps; step++) {
        void *arguments[] = {&before, &after, volume};
        gpu_launch(kernel, blocks, (struct shape){BLOCK_X, BLOCK_Y}, arguments);
        CUdeviceptr newest = after;
        after = before;
        before = newest;
    }
    gpu_download(field, before, bytes);
    gpu_free(before);
    gpu_free(after);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0};
    const struct workload_option options[] = {
        {"side", "cells on each side of a cube of your own size", &given.side, 376},
        {"steps", "steps of time, one launch each", &given.steps, 1000000},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "fdtd3d",
        .summary = "A stencil of radius 4 in a volume, marching along z, in 32x16 blocks.",
        .inputs = {"24 x 24 x 24 cells, 2 steps", "88 x 88 x 88 cells, 2 steps", "376 x 376 x 376 cells, 5 steps"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(BLOCK_X * BLOCK_Y);
    float coefficients[RADIUS + 1];
    struct gpu gpu;

    if (given.side)
        problem.side = given.side;
    if (given.steps)
        problem.steps = given.steps;
    struct volume volume = cube(problem.side);
    size_t count = volume_floats(&volume);
    float *field = workload_alloc(count, sizeof(float));
    float *expected = workload_alloc(count, sizeof(float));
    for (size_t i = 0; i < count; i++)
        field[i] = expected[i] = random_float(&state);
    for (int i = 0; i <= RADIUS; i++)
        coefficients[i] = 0.02f + 0.02f * random_float(&state); /* their sum over the 25 cells is at most 1 */
    gpu_open(&gpu);
    field_on_device(&gpu, &volume, coefficients, problem.steps, field);
    gpu_close(&gpu);
    field_reference(&volume, coefficients, problem.steps, expected);
    size_t mismatches = compare_f32("field", field, expected, count);
    free(field);
    free(expected);
    return workload_verdict(&workload, mismatches, count, "cells");
}
