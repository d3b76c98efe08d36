/* rowsum: host program; see rowsum.cu for what the kernel does. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256 };

static const long row_counts[SIZE_COUNT] = {500, 24576, 61440};
static const long column_counts[SIZE_COUNT] = {40, 160, 256};

int main(int argc, char **argv)
{
    long columns_wanted = 0;
    const struct workload_option options[] = {
        {"columns", "elements per row", &columns_wanted, 4096},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "rowsum",
        .summary = "Sums of the rows of a dense matrix, one thread per row.",
        .inputs = {"500 rows of 40", "24,576 rows of 160", "61,440 rows of 256"},
        .options = options,
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int rows = row_counts[size];
    int columns = columns_wanted ? columns_wanted : column_counts[size];
    uint64_t state = workload_seed(160);
    float *matrix = array_of_floats((size_t)rows * columns, -1, 1, &state);
    float *sums = workload_alloc(rows, sizeof(float));
    float *expected = workload_alloc(rows, sizeof(float));
    struct gpu gpu;

    gpu_open(&gpu);
    CUdeviceptr matrix_memory = gpu_upload(matrix, (size_t)rows * columns * sizeof(float));
    CUdeviceptr sum_memory = gpu_alloc_zeroed(rows * sizeof(float));
    gpu_launch_named(&gpu, "rowsum", gpu_blocks(rows, BLOCK), BLOCK,
                     (void *[]){&matrix_memory, &sum_memory, &rows, &columns});
    gpu_download(sums, sum_memory, rows * sizeof(float));
    gpu_free(matrix_memory);
    gpu_free(sum_memory);
    gpu_close(&gpu);
    for (int row = 0; row < rows; row++) {
        for (int i = 0; i < columns; i++)
            expected[row] += matrix[(size_t)row * columns + i];
    }
    size_t mismatches = compare_f32("sum", sums, expected, rows);
    free(matrix);
    free(sums);
    free(expected);
    return workload_verdict(&workload, mismatches, rows, "sums");
}
