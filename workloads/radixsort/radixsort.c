/* radixsort: host program; see radixsort.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, TILE = BLOCK * 8, BITS = 4, DIGITS = 1 << BITS };

static const struct {
    int count, bits;
} inputs[SIZE_COUNT] = {{5000, 8}, {100000, 16}, {2000000, 8}};

/* Returns where the sorted keys are: one of the two. */
static CUdeviceptr sort_on_device(const struct gpu *gpu, CUdeviceptr from, CUdeviceptr to, int count, int bits)
{
    int tiles = gpu_blocks(count, TILE), counters = tiles * DIGITS;
    CUdeviceptr counts = gpu_alloc_zeroed(counters * sizeof(uint32_t));

    for (int shift = 0; shift < bits; shift += BITS) {
        gpu_launch_named(gpu, "radix_histogram", tiles, BLOCK, (void *[]){&from, &counts, &shift, &count});
        gpu_launch_named(gpu, "radix_scan", 1, BLOCK, (void *[]){&counts, &counters});
        gpu_launch_named(gpu, "radix_scatter", tiles, BLOCK, (void *[]){&from, &to, &counts, &shift, &count});
        CUdeviceptr sorted = to;
        to = from;
        from = sorted;
    }
    gpu_free(counts);
    return from;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "radixsort",
        .summary = "Integers sorted by four bits per pass.",
        .inputs = {"5,000 keys of 8 bits", "100,000 keys of 16 bits", "2,000,000 keys of 8 bits"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int count = inputs[size].count;
    uint64_t state = workload_seed(16);
    uint32_t *keys = array_of_u32(count, 1u << inputs[size].bits, &state);
    struct gpu gpu;

    gpu_open(&gpu);
    CUdeviceptr first = gpu_upload(keys, count * sizeof(uint32_t)), second = gpu_alloc_zeroed(count * sizeof(uint32_t));
    CUdeviceptr sorted = sort_on_device(&gpu, first, second, count, inputs[size].bits);
    qsort(keys, count, sizeof *keys, ascending);
    size_t mismatches = array_check_u32("key", sorted, keys, count);
    gpu_free(first);
    gpu_free(second);
    gpu_close(&gpu);
    free(keys);
    return workload_verdict(&workload, mismatches, count, "keys");
}
