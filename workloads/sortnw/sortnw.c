/* sortnw: host program; see sortnw.cu for what the kernels do. One launch per step that no tile holds. */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { THREADS = 512, TILE = 2 * THREADS, LIMIT = 1 << 24 };

static const unsigned counts[SIZE_COUNT] = {4096, 65536, 65536};

static int compare_keys(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

static void exchange(uint32_t *a, uint32_t *b)
{
    uint32_t old = *a;

    *a = *b;
    *b = old;
}

static void compare(uint32_t *keys, uint32_t *values, unsigned a, unsigned b, int unwanted)
{
    if ((keys[a] > keys[b]) == unwanted) {
        exchange(&keys[a], &keys[b]);
        exchange(&values[a], &values[b]);
    }
}

/*
 * A step of a network over all elements; no two comparators share one. Which value is where among equal keys depends on
 * the network, so this is the reference of the values. That of the keys is any sorting of
 * them. */
static void step_reference(uint32_t *keys, uint32_t *values, unsigned count, unsigned size, unsigned stride,
                           int odd_even)
{
    for (unsigned left = 0; left + stride < count; left++) {
        if (odd_even && stride < size / 2) {
            /* The second half of every 2 strides of a run, with the first half of the next. */
            if ((left & stride) != 0 && left % size + stride < size)
                compare(keys, values, left, left + stride, 1);
        } else if ((left & stride) == 0) {
            compare(keys, values, left, left + stride, odd_even || (left & size) == 0);
        }
    }
}

static void sort_reference(uint32_t *keys, uint32_t *values, unsigned count, int odd_even)
{
    for (unsigned size = 2; size <= count; size *= 2) {
        for (unsigned stride = size / 2; stride > 0; stride /= 2)
            step_reference(keys, values, count, size, stride, odd_even);
    }
}

static void sort_on_device(const struct gpu *gpu, uint32_t *keys, uint32_t *values, unsigned count, int odd_even)
{
    CUfunction tile = gpu_kernel(gpu, odd_even ? "sortnw_odd_even_tile" : "sortnw_bitonic_tile");
    CUfunction step = gpu_kernel(gpu, odd_even ? "sortnw_odd_even_step" : "sortnw_bitonic_step");
    CUfunction rest = gpu_kernel(gpu, "sortnw_bitonic_rest");
    size_t bytes = count * sizeof(uint32_t);
    CUdeviceptr key_memory = gpu_upload(keys, bytes);
    CUdeviceptr value_memory = gpu_upload(values, bytes);
    unsigned size, stride;
    void *arguments[] = {&key_memory, &value_memory, &size, &stride};
    struct shape grid = {count / TILE, 1};
    struct shape block = {THREADS, 1};

    gpu_launch(tile, grid, block, arguments);
    for (size = 2 * TILE; size <= count; size *= 2) {
        for (stride = size / 2; stride > (odd_even ? 0 : TILE / 2); stride /= 2)
            gpu_launch(step, grid, block, arguments);
        if (!odd_even)
            gpu_launch(rest, grid, block, arguments);
    }
    gpu_download(keys, key_memory, bytes);
    gpu_download(values, value_memory, bytes);
    gpu_free(key_memory);
    gpu_free(value_memory);
}

int main(int argc, char **argv)
{
    long odd_even = 0;
    long pairs = 0;
    const struct workload_option options[] = {
        {"pairs", "pairs to sort; rounded up to a power of two, 1,024 at least", &pairs, LIMIT},
        {"odd-even", "1: the odd-even merge network instead of the bitonic one", &odd_even, 1},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "sortnw",
        .summary = "Sorting networks on pairs of a key and a value, 1,024 at a time in shared memory.",
        .inputs = {"4,096 pairs", "65,536 pairs", "65,536 pairs"},
        .options = options,
    };
    unsigned count = counts[workload_parse(&workload, argc, argv)];
    struct gpu gpu;

    if (pairs) {
        for (count = TILE; count < pairs; count *= 2)
            ;
    }
    uint32_t *keys = workload_alloc(count, sizeof(uint32_t));
    uint32_t *values = workload_alloc(count, sizeof(uint32_t));
    uint32_t *expected_keys = workload_alloc(count, sizeof(uint32_t));
    uint32_t *expected_values = workload_alloc(count, sizeof(uint32_t));
    uint64_t state = workload_seed(TILE);
    for (unsigned i = 0; i < count; i++) {
        expected_keys[i] = keys[i] = random_below(&state, count);
        expected_values[i] = values[i] = i;
    }
    sort_reference(expected_keys, expected_values, count, odd_even);
    memcpy(expected_keys, keys, count * sizeof(uint32_t));
    qsort(expected_keys, count, sizeof(uint32_t), compare_keys);
    gpu_open(&gpu);
    sort_on_device(&gpu, keys, values, count, odd_even);
    gpu_close(&gpu);
    size_t mismatches = compare_u32("keys", keys, expected_keys, count);
    mismatches += compare_u32("values", values, expected_values, count);
    free(keys);
    free(values);
    free(expected_keys);
    free(expected_values);
    return workload_verdict(&workload, mismatches, 2 * (size_t)count, "keys and values");
}
