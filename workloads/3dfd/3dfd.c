/* 3dfd: host program; see 3dfd.cu for what the kernel does. The reference repeats each sum in the kernel's order. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { RADIUS = 4, BLOCK = 16, ALIGNED = 32 };

/* Laid out as the kernel's parameter. */
struct medium {
    int planes;
    int first;
    int row;
    int plane;
};

struct problem {
    long tiles;  /* 16x16 blocks on each side of a plane */
    long planes; /* without the margins */
    long steps;
};

static const struct problem problems[SIZE_COUNT] = {{2, 12, 2}, {10, 24, 2}, {3, 40, 1}};

/* The second derivative by nine points, to the eighth order; that in the middle counts once for each axis. */
static const float coefficients[RADIUS + 1] = {-3 * 205.0f / 72.0f, 8.0f / 5.0f, -1.0f / 5.0f, 8.0f / 315.0f,
                                               -1.0f / 560.0f};

/* Cells of a row begin on a whole line of memory: what lies before the first margin fills the line up. */
static struct medium medium_of(const struct problem *problem)
{
    struct medium medium = {.planes = problem->planes};
    int outer = problem->tiles * BLOCK + 2 * RADIUS;

    medium.row = (outer + ALIGNED - 1) / ALIGNED * ALIGNED;
    medium.plane = medium.row * outer;
    medium.first = ALIGNED + RADIUS * medium.row + RADIUS * medium.plane;
    return medium;
}

static float cell_reference(const struct medium *medium, const float *wave, float other, float squared_speed)
{
    float laplacian = coefficients[0] * wave[0];

    for (long i = 1; i <= RADIUS; i++) {
        float around = wave[i * medium->plane] + wave[-i * medium->plane];
        around += wave[-i * medium->row] + wave[i * medium->row];
        around += wave[-i] + wave[i];
        laplacian = fmaf(coefficients[i], around, laplacian);
    }
    return fmaf(laplacian, squared_speed, (wave[0] + wave[0]) - other);
}

static void step_reference(const struct medium *medium, long side, const float *wave, float *other,
                           const float *squared_speed)
{
    for (int z = 0; z < medium->planes; z++) {
        for (long y = 0; y < side; y++) {
            size_t at = medium->first + (size_t)z * medium->plane + (size_t)y * medium->row;
            for (size_t end = at + side; at < end; at++)
                other[at] = cell_reference(medium, wave + at, other[at], squared_speed[at]);
        }
    }
}

static void swap(CUdeviceptr *a, CUdeviceptr *b)
{
    CUdeviceptr old = *a;

    *a = *b;
    *b = old;
}

/* Leaves the last two fields in `wave` and `other`, the older one in `other`. */
static void wave_on_device(const struct gpu *gpu, const struct problem *problem, struct medium *medium, float *wave,
                           float *other, const float *squared_speed, size_t bytes)
{
    CUfunction kernel = gpu_kernel(gpu, "wave_step");
    CUdeviceptr now = gpu_upload(wave, bytes);
    CUdeviceptr then = gpu_upload(other, bytes);
    CUdeviceptr speed = gpu_upload(squared_speed, bytes);
    struct shape blocks = {problem->tiles, problem->tiles};

    gpu_fill_constant(gpu, "coefficients", coefficients, sizeof coefficients);
    for (long step = 0; step < problem->steps; step++) {
        void *arguments[] = {&now, &then, &speed, medium};
        gpu_launch(kernel, blocks, (struct shape){BLOCK, BLOCK}, arguments);
        swap(&now, &then);
    }
    gpu_download(wave, now, bytes);
    gpu_download(other, then, bytes);
    gpu_free(now);
    gpu_free(then);
    gpu_free(speed);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0, 0};
    const struct workload_option options[] = {
        {"tiles", "blocks of 16x16 cells on each side of a plane of your own size", &given.tiles, 64},
        {"planes", "planes", &given.planes, 256},
        {"steps", "steps of time, one launch each", &given.steps, 1000000},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "3dfd",
        .summary = "A wave in three dimensions by finite differences, marching along z, in 16x16 blocks.",
        .inputs = {"32 x 32 cells, 12 planes, 2 steps", "160 x 160 cells, 24 planes, 2 steps",
                   "48 x 48 cells, 40 planes, 1 step"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(BLOCK * BLOCK);
    struct gpu gpu;

    if (given.tiles)
        problem.tiles = given.tiles;
    if (given.planes)
        problem.planes = given.planes;
    if (given.steps)
        problem.steps = given.steps;
    struct medium medium = medium_of(&problem);
    size_t count = ALIGNED + (size_t)medium.plane * (problem.planes + 2 * RADIUS);
    float *fields[2] = {workload_alloc(count, sizeof(float)), workload_alloc(count, sizeof(float))};
    float *expected[2] = {workload_alloc(count, sizeof(float)), workload_alloc(count, sizeof(float))};
    float *squared_speed = workload_alloc(count, sizeof(float));
    for (size_t i = 0; i < count; i++) {
        fields[0][i] = expected[0][i] = random_float(&state);
        fields[1][i] = expected[1][i] = random_float(&state);
        squared_speed[i] = 0.05f + 0.1f * random_float(&state);
    }
    gpu_open(&gpu);
    wave_on_device(&gpu, &problem, &medium, fields[0], fields[1], squared_speed, count * sizeof(float));
    gpu_close(&gpu);
    for (long step = 0; step < problem.steps; step++)
        step_reference(&medium, problem.tiles * BLOCK, expected[step % 2], expected[(step + 1) % 2], squared_speed);
    size_t mismatches = compare_f32("wave", fields[0], expected[problem.steps % 2], count);
    mismatches += compare_f32("wave one step ago", fields[1], expected[(problem.steps + 1) % 2], count);
    for (int i = 0; i < 2; i++) {
        free(fields[i]);
        free(expected[i]);
    }
    free(squared_speed);
    return workload_verdict(&workload, mismatches, 2 * count, "cells of two fields");
}
