/* spmv.c: see spmv.h. */
#include "spmv.h"

#include <stdlib.h>

#include "gpu.h"
#include "random.h"

enum { BLOCK = 128, VALUE_LIMIT = 10 };

static const int row_counts[SIZE_COUNT] = {2000, 12288, 8192};

/* y = A x on the device. */
static void multiply(CUfunction kernel, unsigned threads_per_row, const struct csr *matrix, const float *x, float *y)
{
    int rows = matrix->row_count;
    size_t vector_bytes = rows * sizeof(float);
    size_t element_count = matrix->row_starts[rows];
    CUdeviceptr values = gpu_upload(matrix->values, element_count * sizeof(float));
    CUdeviceptr columns = gpu_upload(matrix->columns, element_count * sizeof(int));
    CUdeviceptr row_starts = gpu_upload(matrix->row_starts, (rows + 1) * sizeof(int));
    CUdeviceptr x_memory = gpu_upload(x, vector_bytes);
    CUtexObject x_texture = gpu_texture_f32(x_memory, rows);
    CUdeviceptr y_memory = gpu_alloc_zeroed(vector_bytes);
    void *arguments[] = {&values, &columns, &row_starts, &x_texture, &y_memory, &rows};
    struct shape grid = {gpu_blocks((size_t)rows * threads_per_row, BLOCK), 1};

    gpu_launch(kernel, grid, (struct shape){BLOCK, 1}, arguments);
    gpu_download(y, y_memory, vector_bytes);
    CHECK(cuTexObjectDestroy(x_texture));
    gpu_free(values);
    gpu_free(columns);
    gpu_free(row_starts);
    gpu_free(x_memory);
    gpu_free(y_memory);
}

static size_t multiply_and_compare(const struct gpu *gpu, const struct spmv_method *method, const char *kernel,
                                   const struct csr *matrix, const float *x)
{
    float *y = workload_alloc(matrix->row_count, sizeof(float));
    float *expected = workload_alloc(matrix->row_count, sizeof(float));

    multiply(gpu_kernel(gpu, kernel), method->threads_per_row, matrix, x, y);
    for (int row = 0; row < matrix->row_count; row++)
        expected[row] = method->reference_row(matrix, row, x);
    size_t mismatches = compare_f32(kernel, y, expected, matrix->row_count);
    free(y);
    free(expected);
    return mismatches;
}

int spmv_main(const struct workload *workload, const struct spmv_method *method, int argc, char **argv)
{
    int rows = row_counts[workload_parse(workload, argc, argv)];
    uint64_t state = workload_seed(8192);
    struct csr matrix, padded;
    struct gpu gpu;

    gpu_open(&gpu);
    csr_random(&matrix, rows, &state);
    csr_pad(&padded, &matrix);
    float *x = workload_alloc(rows, sizeof(float));
    for (int i = 0; i < rows; i++)
        x[i] = random_float(&state) * VALUE_LIMIT;
    size_t mismatches = multiply_and_compare(&gpu, method, method->kernel, &matrix, x);
    mismatches += multiply_and_compare(&gpu, method, method->padded_kernel, &padded, x);
    csr_free(&matrix);
    csr_free(&padded);
    free(x);
    gpu_close(&gpu);
    return workload_verdict(workload, mismatches, (size_t)rows * 2, "elements of y");
}
