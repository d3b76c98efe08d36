/* aossort: host program; see aossort.cu for what the kernels do. */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, RADIX_BLOCK = 128, RADIX_TILE = 1024, DIGITS = 16, DIGIT_BITS = 4, KEY_BITS = 32 };

struct element {
    int32_t key;
    float value;
};

struct numbered {
    struct element element;
    long number; /* where it was: equal keys stay in order */
};

static const long counts[SIZE_COUNT] = {700, 40000, 1000};

static int compare_numbered(const void *left, const void *right)
{
    const struct numbered *a = left;
    const struct numbered *b = right;

    if (a->element.key != b->element.key)
        return a->element.key < b->element.key ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Keys of 31 bits, some of them several times; values tell the elements apart. */
static void elements_random(struct element *elements, long count)
{
    uint64_t state = workload_seed(BLOCK);

    for (long i = 0; i < count; i++) {
        elements[i].key = random_below(&state, count) * 0x9e3779b1u >> 1;
        elements[i].value = i * 0.5f;
    }
}

static void sort_reference(const struct element *elements, struct element *sorted, long count)
{
    struct numbered *all = workload_alloc(count, sizeof *all);

    for (long i = 0; i < count; i++)
        all[i] = (struct numbered){elements[i], i};
    qsort(all, count, sizeof *all, compare_numbered);
    for (long i = 0; i < count; i++)
        sorted[i] = all[i].element;
    free(all);
}

static void swap_memory(CUdeviceptr *a, CUdeviceptr *b)
{
    CUdeviceptr old = *a;

    *a = *b;
    *b = old;
}

static void sort_structures(const struct gpu *gpu, struct element *elements, int count)
{
    CUfunction merge = gpu_kernel(gpu, "aossort_merge");
    size_t bytes = count * sizeof *elements;
    CUdeviceptr from = gpu_upload(elements, bytes);
    CUdeviceptr to = gpu_alloc_zeroed(bytes);
    int width;
    void *block_arguments[] = {&from, &count};
    void *merge_arguments[] = {&from, &to, &width, &count};
    struct shape grid = {gpu_blocks(count, BLOCK), 1};
    struct shape block = {BLOCK, 1};

    gpu_launch(gpu_kernel(gpu, "aossort_block"), grid, block, block_arguments);
    for (width = BLOCK; width < count; width *= 2) {
        gpu_launch(merge, grid, block, merge_arguments);
        swap_memory(&from, &to);
    }
    gpu_download(elements, from, bytes);
    gpu_free(from);
    gpu_free(to);
}

static void sort_arrays(const struct gpu *gpu, int32_t *keys, float *values, int count)
{
    CUfunction tally = gpu_kernel(gpu, "aossort_count");
    CUfunction add_up = gpu_kernel(gpu, "aossort_add_up");
    CUfunction scatter = gpu_kernel(gpu, "aossort_scatter");
    unsigned blocks = gpu_blocks(count, RADIX_TILE);
    int tallies = blocks * DIGITS;
    int shift;
    CUdeviceptr from_keys = gpu_upload(keys, count * sizeof *keys);
    CUdeviceptr from_values = gpu_upload(values, count * sizeof *values);
    CUdeviceptr to_keys = gpu_alloc_zeroed(count * sizeof *keys);
    CUdeviceptr to_values = gpu_alloc_zeroed(count * sizeof *values);
    CUdeviceptr block_counts = gpu_alloc_zeroed(tallies * sizeof(unsigned));
    void *tally_arguments[] = {&from_keys, &count, &shift, &block_counts};
    void *add_up_arguments[] = {&block_counts, &tallies};
    void *scatter_arguments[] = {&from_keys, &from_values, &count, &shift, &block_counts, &to_keys, &to_values};
    struct shape grid = {blocks, 1};
    struct shape block = {RADIX_BLOCK, 1};

    for (shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
        gpu_launch(tally, grid, block, tally_arguments);
        gpu_launch(add_up, (struct shape){1, 1}, block, add_up_arguments);
        gpu_launch(scatter, grid, block, scatter_arguments);
        swap_memory(&from_keys, &to_keys);
        swap_memory(&from_values, &to_values);
    }
    gpu_download(keys, from_keys, count * sizeof *keys);
    gpu_download(values, from_values, count * sizeof *values);
    CUdeviceptr all[] = {from_keys, from_values, to_keys, to_values, block_counts};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
}

/* The sorted arrays, as the structures that they should be. */
static void join(const int32_t *keys, const float *values, struct element *elements, long count)
{
    for (long i = 0; i < count; i++)
        elements[i] = (struct element){keys[i], values[i]};
}

static void split(const struct element *elements, int32_t *keys, float *values, long count)
{
    for (long i = 0; i < count; i++) {
        keys[i] = elements[i].key;
        values[i] = elements[i].value;
    }
}

static size_t compare_elements(const char *what, const struct element *got, const struct element *expected, long count)
{
    return compare_u32(what, (const uint32_t *)got, (const uint32_t *)expected, 2 * count);
}

int main(int argc, char **argv)
{
    long given = 0;
    const struct workload_option options[] = {
        {"elements", "elements to sort", &given, 10000000},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "aossort",
        .summary = "Elements of a key and a value, sorted as an array of structures and as two arrays.",
        .inputs = {"700 elements", "40,000 elements", "1,000 elements"},
        .options = options,
    };
    long count = counts[workload_parse(&workload, argc, argv)];
    struct gpu gpu;

    if (given)
        count = given;
    struct element *elements = workload_alloc(count, sizeof *elements);
    struct element *expected = workload_alloc(count, sizeof *expected);
    int32_t *keys = workload_alloc(count, sizeof *keys);
    float *values = workload_alloc(count, sizeof *values);
    elements_random(elements, count);
    split(elements, keys, values, count);
    sort_reference(elements, expected, count);
    gpu_open(&gpu);
    sort_structures(&gpu, elements, count);
    size_t mismatches = compare_elements("structures", elements, expected, count);
    sort_arrays(&gpu, keys, values, count);
    join(keys, values, elements, count);
    mismatches += compare_elements("arrays", elements, expected, count);
    gpu_close(&gpu);
    free(elements);
    free(expected);
    free(keys);
    free(values);
    return workload_verdict(&workload, mismatches, 4 * (size_t)count, "keys and values");
}
