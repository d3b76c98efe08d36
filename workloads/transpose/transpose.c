/* transpose: host program; see transpose.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { TILE = 32, STEP = 8 };

static const struct {
    int columns, rows;
} shapes[SIZE_COUNT] = {{96, 64}, {1024, 512}, {2048, 2048}};

static size_t transpose_and_check(const struct gpu *gpu, const char *kernel, CUdeviceptr in, const float *expected,
                                  int columns, int rows)
{
    size_t count = (size_t)columns * rows;
    CUdeviceptr out = gpu_alloc_zeroed(count * sizeof(float));
    struct shape grid = {columns / TILE, rows / TILE};

    gpu_launch(gpu_kernel(gpu, kernel), grid, (struct shape){TILE, STEP}, (void *[]){&in, &out, &columns, &rows});
    size_t mismatches = array_check(kernel, out, expected, count, 0.0f, 0.0f);
    gpu_free(out);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "transpose",
        .summary = "A matrix transposed: directly, and through shared memory with and without padding.",
        .inputs = {"96x64 floats", "1,024x512 floats", "2,048x2,048 floats"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int columns = shapes[size].columns, rows = shapes[size].rows;
    size_t count = (size_t)columns * rows;
    uint64_t state = workload_seed(32);
    float *matrix = array_of_floats(count, -1.0f, 1.0f, &state);
    float *expected = workload_alloc(count, sizeof(float));
    struct gpu gpu;

    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++)
            expected[(size_t)column * rows + row] = matrix[(size_t)row * columns + column];
    }
    gpu_open(&gpu);
    CUdeviceptr in = gpu_upload(matrix, count * sizeof(float));
    size_t mismatches = transpose_and_check(&gpu, "transpose_naive", in, expected, columns, rows);
    mismatches += transpose_and_check(&gpu, "transpose_shared", in, expected, columns, rows);
    mismatches += transpose_and_check(&gpu, "transpose_padded", in, expected, columns, rows);
    gpu_free(in);
    gpu_close(&gpu);
    free(matrix);
    free(expected);
    return workload_verdict(&workload, mismatches, 3 * count, "elements");
}
