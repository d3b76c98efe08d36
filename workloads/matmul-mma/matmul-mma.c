/* matmul-mma: host program; see matmul-mma.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "product.h"
#include "workload.h"

enum { TILE = 128, THREADS = 256, SAMPLE = 20000 };

static const struct {
    int rows, columns, depth;
} shapes[SIZE_COUNT] = {{128, 256, 64}, {512, 512, 256}, {4096, 2048, 512}};

static size_t multiply(const struct gpu *gpu, const char *kernel, const struct product *product, CUdeviceptr a,
                       CUdeviceptr b, uint64_t *state)
{
    int columns = product->columns, depth = product->depth;
    CUdeviceptr c = gpu_alloc_zeroed((size_t)product->rows * columns * sizeof(float));
    struct shape grid = {columns / TILE, product->rows / TILE};

    gpu_launch(gpu_kernel(gpu, kernel), grid, (struct shape){THREADS, 1}, (void *[]){&a, &b, &c, &columns, &depth});
    size_t mismatches = product_check(kernel, product, c, SAMPLE, state);
    gpu_free(c);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "matmul-mma",
        .summary = "Matrix product of halves on tensor cores, with and without asynchronous copies.",
        .inputs = {"128x256x64", "512x512x256", "4,096x2,048x512"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    struct product p = {.rows = shapes[size].rows, .columns = shapes[size].columns, .depth = shapes[size].depth};
    size_t a_count = (size_t)p.rows * p.depth, b_count = (size_t)p.depth * p.columns;
    uint64_t state = workload_seed(16816);
    float *a_floats, *b_floats;
    uint16_t *a = array_of_halves(a_count, -1.0f, 1.0f, &a_floats, &state);
    uint16_t *b = array_of_halves(b_count, -1.0f, 1.0f, &b_floats, &state);
    struct gpu gpu;

    p.a = a_floats;
    p.b = b_floats;
    p.b_step = p.columns;
    p.b_next = 1;
    gpu_open(&gpu);
    CUdeviceptr a_memory = gpu_upload(a, a_count * sizeof(uint16_t));
    CUdeviceptr b_memory = gpu_upload(b, b_count * sizeof(uint16_t));
    size_t mismatches = multiply(&gpu, "matmul_mma", &p, a_memory, b_memory, &state);
    mismatches += multiply(&gpu, "matmul_mma_async", &p, a_memory, b_memory, &state);
    gpu_free(a_memory);
    gpu_free(b_memory);
    gpu_close(&gpu);
    free(a);
    free(b);
    free(a_floats);
    free(b_floats);
    return workload_verdict(&workload, mismatches, 2 * SAMPLE, "elements");
}
