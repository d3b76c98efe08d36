/* embedding: host program; see embedding.cu for what the kernels do. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, LANES = 32, WIDTH = 128, BAG = 8 };

static const struct {
    int rows, count;
} inputs[SIZE_COUNT] = {{500, 400}, {8000, 8000}, {60000, 32000}};

/* Half of the requests go to a hundredth of the rows. */
static uint32_t *make_indices(int rows, int count, uint64_t *state)
{
    uint32_t *indices = workload_alloc(count, sizeof(uint32_t));

    for (int i = 0; i < count; i++)
        indices[i] = random_below(state, random_below(state, 2) ? rows : rows / 100);
    return indices;
}

/* Gathered, then summed by bags, then the table after the gradients; `out` has room for all requests. */
static size_t run(const struct gpu *gpu, float *table, const uint32_t *indices, int rows, int count)
{
    size_t table_bytes = (size_t)rows * WIDTH * sizeof(float), bytes = (size_t)count * WIDTH * sizeof(float);
    int bag = BAG, bags = count / BAG;
    float rate = 0.5f;
    float *expected = workload_alloc((size_t)count * WIDTH, sizeof(float));
    CUdeviceptr table_memory = gpu_upload(table, table_bytes),
                index_memory = gpu_upload(indices, count * sizeof(uint32_t));
    CUdeviceptr out = gpu_alloc_zeroed(bytes), sums = gpu_alloc_zeroed(bytes / BAG);
    unsigned blocks = gpu_blocks((size_t)count * LANES, BLOCK);

    gpu_launch_named(gpu, "embedding_gather", blocks, BLOCK, (void *[]){&table_memory, &index_memory, &out, &count});
    for (int i = 0; i < count; i++)
        memcpy(expected + (size_t)i * WIDTH, table + (size_t)indices[i] * WIDTH, WIDTH * sizeof(float));
    size_t mismatches = array_check("gathered", out, expected, (size_t)count * WIDTH, 0.0f, 0.0f);
    gpu_launch_named(gpu, "embedding_bag", gpu_blocks((size_t)bags * LANES, BLOCK), BLOCK,
                     (void *[]){&table_memory, &index_memory, &sums, &bag, &bags});
    float *sum = workload_alloc((size_t)bags * WIDTH, sizeof(float));
    for (size_t i = 0; i < (size_t)count * WIDTH; i++)
        sum[i / WIDTH / BAG * WIDTH + i % WIDTH] += expected[i];
    mismatches += array_check("summed", sums, sum, (size_t)bags * WIDTH, 0.0f, 0.0f);
    /* What was gathered serves as gradients. */
    gpu_launch_named(gpu, "embedding_scatter", blocks, BLOCK,
                     (void *[]){&table_memory, &index_memory, &out, &rate, &count});
    for (size_t i = 0; i < (size_t)count * WIDTH; i++)
        table[(size_t)indices[i / WIDTH] * WIDTH + i % WIDTH] -= rate * expected[i];
    mismatches += array_check("table", table_memory, table, (size_t)rows * WIDTH, 1e-3f, 1e-3f);
    gpu_free(table_memory);
    gpu_free(index_memory);
    gpu_free(out);
    gpu_free(sums);
    free(expected);
    free(sum);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "embedding",
        .summary = "Rows of a table by index: gathered, summed in bags, and gradients added back.",
        .inputs = {"500 rows, 400 requests", "8,000 rows, 8,000 requests", "60,000 rows, 32,000 requests"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int rows = inputs[size].rows, count = inputs[size].count;
    uint64_t state = workload_seed(128);
    float *table = array_of_floats((size_t)rows * WIDTH, -1.0f, 1.0f, &state);
    uint32_t *indices = make_indices(rows, count, &state);
    struct gpu gpu;

    gpu_open(&gpu);
    size_t mismatches = run(&gpu, table, indices, rows, count);
    gpu_close(&gpu);
    free(table);
    free(indices);
    return workload_verdict(&workload, mismatches, ((size_t)rows + count + count / BAG) * WIDTH, "elements");
}
