/* topk: host program; see topk.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, LANES = 32, BEST = 32, GROUP = 64 };

static const struct {
    int rows, columns, groups;
} inputs[SIZE_COUNT] = {{16, 300, 32}, {400, 1000, 2000}, {20000, 256, 16384}};

static const float *compared_row;

static int greatest_first(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    float x = compared_row[i], y = compared_row[j];

    return x != y ? (x < y) - (x > y) : (i > j) - (i < j);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static size_t check_rows(const struct gpu *gpu, const float *numbers, int rows, int columns)
{
    size_t best = (size_t)rows * BEST;
    CUdeviceptr in = gpu_upload(numbers, (size_t)rows * columns * sizeof(float));
    CUdeviceptr values = gpu_alloc_zeroed(best * sizeof(float)), places = gpu_alloc_zeroed(best * sizeof(uint32_t));
    float *expected = workload_alloc(best, sizeof(float));
    uint32_t *expected_places = workload_alloc(best, sizeof(uint32_t));
    uint32_t *order = workload_alloc(columns, sizeof(uint32_t));

    gpu_launch_named(gpu, "topk_rows", gpu_blocks((size_t)rows * LANES, BLOCK), BLOCK,
                     (void *[]){&in, &values, &places, &rows, &columns});
    for (int row = 0; row < rows; row++) {
        compared_row = numbers + (size_t)row * columns;
        for (int i = 0; i < columns; i++)
            order[i] = i;
        qsort(order, columns, sizeof *order, greatest_first);
        for (int i = 0; i < BEST; i++) {
            expected[row * BEST + i] = compared_row[order[i]];
            expected_places[row * BEST + i] = order[i];
        }
    }
    size_t mismatches = array_check("value", values, expected, best, 0.0f, 0.0f);
    mismatches += array_check_u32("place", places, expected_places, best);
    gpu_free(in);
    gpu_free(values);
    gpu_free(places);
    free(expected);
    free(expected_places);
    free(order);
    return mismatches;
}

static size_t check_groups(const struct gpu *gpu, uint32_t *keys, int groups)
{
    size_t count = (size_t)groups * GROUP;
    CUdeviceptr memory = gpu_upload(keys, count * sizeof(uint32_t));

    gpu_launch_named(gpu, "topk_sort", gpu_blocks((size_t)groups * LANES, BLOCK), BLOCK, (void *[]){&memory, &groups});
    for (int group = 0; group < groups; group++)
        qsort(keys + group * GROUP, GROUP, sizeof *keys, ascending);
    size_t mismatches = array_check_u32("key", memory, keys, count);
    gpu_free(memory);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "topk",
        .summary = "The 32 greatest of each row, and groups of 64 keys sorted, in registers.",
        .inputs = {"16 rows of 300, 32 groups", "400 rows of 1,000, 2,000 groups", "20,000 rows of 256, 16,384 groups"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int rows = inputs[size].rows, columns = inputs[size].columns, groups = inputs[size].groups;
    uint64_t state = workload_seed(64);
    float *numbers = array_of_floats((size_t)rows * columns, -1.0f, 1.0f, &state);
    uint32_t *keys = array_of_u32((size_t)groups * GROUP, 1000000, &state);
    struct gpu gpu;

    gpu_open(&gpu);
    size_t mismatches = check_rows(&gpu, numbers, rows, columns) + check_groups(&gpu, keys, groups);
    gpu_close(&gpu);
    free(numbers);
    free(keys);
    return workload_verdict(&workload, mismatches, 2 * (size_t)rows * BEST + (size_t)groups * GROUP,
                            "values, places and keys");
}
