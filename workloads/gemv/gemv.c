/* gemv: host program; see gemv.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, LANES = 32, PART = 64, VECTOR = 4 };

static const struct {
    int rows, columns;
} shapes[SIZE_COUNT] = {{200, 96}, {2048, 256}, {100000, 256}};

/* y = A x and, where asked, z = A' x' with as many elements as columns. */
static void reference(const float *matrix, const float *x, float *y, float *z, int rows, int columns)
{
    double *sums = workload_alloc(columns, sizeof(double));

    for (int row = 0; row < rows; row++) {
        double sum = 0.0;
        for (int i = 0; i < columns; i++) {
            sum += (double)matrix[(size_t)row * columns + i] * x[i];
            sums[i] += (double)matrix[(size_t)row * columns + i] * x[row];
        }
        y[row] = sum;
    }
    for (int i = 0; i < columns; i++)
        z[i] = sums[i];
    free(sums);
}

static size_t run(const struct gpu *gpu, const float *matrix, const float *x, int rows, int columns)
{
    int vectors = columns / VECTOR;
    CUdeviceptr m = gpu_upload(matrix, (size_t)rows * columns * sizeof(float));
    CUdeviceptr x_memory = gpu_upload(x, rows * sizeof(float)), y_memory = gpu_alloc_zeroed(rows * sizeof(float));
    CUdeviceptr z_memory = gpu_alloc_zeroed(columns * sizeof(float));
    float *y = workload_alloc(rows, sizeof(float)), *z = workload_alloc(columns, sizeof(float));
    struct shape parts = {gpu_blocks(columns, BLOCK), gpu_blocks(rows, PART)};

    reference(matrix, x, y, z, rows, columns);
    gpu_launch_named(gpu, "gemv_warp", gpu_blocks((size_t)rows * LANES, BLOCK), BLOCK,
                     (void *[]){&m, &x_memory, &y_memory, &rows, &vectors});
    size_t mismatches = array_check("gemv_warp", y_memory, y, rows, 1e-5f, 1e-4f);
    gpu_launch_named(gpu, "gemv_thread", gpu_blocks(rows, BLOCK), BLOCK,
                     (void *[]){&m, &x_memory, &y_memory, &rows, &columns});
    mismatches += array_check("gemv_thread", y_memory, y, rows, 1e-5f, 1e-4f);
    gpu_launch(gpu_kernel(gpu, "gemv_transposed"), parts, (struct shape){BLOCK, 1},
               (void *[]){&m, &x_memory, &z_memory, &rows, &columns});
    mismatches += array_check("gemv_transposed", z_memory, z, columns, 1e-5f, rows * 1e-6f);
    gpu_free(m);
    gpu_free(x_memory);
    gpu_free(y_memory);
    gpu_free(z_memory);
    free(y);
    free(z);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "gemv",
        .summary = "Dense matrix times vector: a warp per row, a thread per row, and transposed.",
        .inputs = {"200x96", "2,048x256", "100,000x256"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int rows = shapes[size].rows, columns = shapes[size].columns;
    uint64_t state = workload_seed(2);
    float *matrix = array_of_floats((size_t)rows * columns, -1.0f, 1.0f, &state);
    float *x = array_of_floats(rows, -1.0f, 1.0f, &state); /* of which A x takes the first */
    struct gpu gpu;

    gpu_open(&gpu);
    size_t mismatches = run(&gpu, matrix, x, rows, columns);
    gpu_close(&gpu);
    free(matrix);
    free(x);
    return workload_verdict(&workload, mismatches, 2 * (size_t)rows + columns, "elements");
}
