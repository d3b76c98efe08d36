/* matmul-tiled: host program; see matmul-tiled.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "product.h"
#include "workload.h"

enum { SMALL = 16, TILE = 128, THREADS = 256, SAMPLE = 20000 };

struct problem {
    const char *kernel;
    int tile;
    int rows[SIZE_COUNT], columns[SIZE_COUNT], depth[SIZE_COUNT];
};

static const struct problem problems[] = {
    {"matmul_naive", SMALL, {32, 256, 512}, {48, 256, 1024}, {32, 64, 128}},
    {"matmul_shared", SMALL, {32, 256, 1024}, {48, 256, 1024}, {32, 64, 128}},
    {"matmul_register", TILE, {128, 512, 3072}, {128, 512, 2048}, {16, 128, 96}},
};

static size_t multiply(const struct gpu *gpu, const struct problem *problem, enum workload_size size, uint64_t *state)
{
    struct product p = {.rows = problem->rows[size], .columns = problem->columns[size], .depth = problem->depth[size]};
    float *a = array_of_floats((size_t)p.rows * p.depth, -1.0f, 1.0f, state);
    float *b = array_of_floats((size_t)p.depth * p.columns, -1.0f, 1.0f, state);
    CUdeviceptr a_memory = gpu_upload(a, (size_t)p.rows * p.depth * sizeof(float));
    CUdeviceptr b_memory = gpu_upload(b, (size_t)p.depth * p.columns * sizeof(float));
    CUdeviceptr c_memory = gpu_alloc_zeroed((size_t)p.rows * p.columns * sizeof(float));
    struct shape grid = {p.columns / problem->tile, p.rows / problem->tile};
    struct shape block = problem->tile == SMALL ? (struct shape){SMALL, SMALL} : (struct shape){THREADS, 1};

    p.a = a;
    p.b = b;
    p.b_step = p.columns;
    p.b_next = 1;
    gpu_launch(gpu_kernel(gpu, problem->kernel), grid, block,
               (void *[]){&a_memory, &b_memory, &c_memory, &p.columns, &p.depth});
    size_t mismatches = product_check(problem->kernel, &p, c_memory, SAMPLE, state);
    gpu_free(a_memory);
    gpu_free(b_memory);
    gpu_free(c_memory);
    free(a);
    free(b);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "matmul-tiled",
        .summary = "Matrix product in single precision: naive, tiles in shared memory, 8x8 in registers.",
        .inputs = {"32x48x32, and 128x128x16 in registers", "256x256x64, and 512x512x128 in registers",
                   "512x1,024x128, 1,024x1,024x128, and 3,072x2,048x96 in registers"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    uint64_t state = workload_seed(88);
    size_t mismatches = 0, compared = 0;
    struct gpu gpu;

    gpu_open(&gpu);
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        size_t count = (size_t)problems[i].rows[size] * problems[i].columns[size];
        mismatches += multiply(&gpu, &problems[i], size, &state);
        compared += count < SAMPLE ? count : SAMPLE;
    }
    gpu_close(&gpu);
    return workload_verdict(&workload, mismatches, compared, "elements");
}
