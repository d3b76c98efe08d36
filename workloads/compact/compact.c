/* compact: host program; see compact.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256 };

static const int counts[SIZE_COUNT] = {9000, 400000, 4000000};

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* In any order: both sides are sorted before they are compared. */
static size_t run_atomic(const struct gpu *gpu, CUdeviceptr in, int count, const uint32_t *expected, uint32_t kept)
{
    CUdeviceptr out = gpu_alloc_zeroed(count * sizeof(uint32_t)), total = gpu_alloc_zeroed(sizeof(uint32_t));
    uint32_t *got = workload_alloc(kept, sizeof(uint32_t)), *sorted = workload_alloc(kept, sizeof(uint32_t));

    gpu_launch_named(gpu, "compact_atomic", gpu_blocks(count, BLOCK), BLOCK, (void *[]){&in, &out, &total, &count});
    gpu_download(got, out, kept * sizeof(uint32_t));
    for (uint32_t i = 0; i < kept; i++)
        sorted[i] = expected[i];
    qsort(got, kept, sizeof *got, ascending);
    qsort(sorted, kept, sizeof *sorted, ascending);
    size_t mismatches = compare_u32("in any order", got, sorted, kept) + array_check_u32("total", total, &kept, 1);
    free(got);
    free(sorted);
    gpu_free(out);
    gpu_free(total);
    return mismatches;
}

static size_t run_ordered(const struct gpu *gpu, CUdeviceptr in, int count, const uint32_t *expected, uint32_t kept)
{
    unsigned blocks = gpu_blocks(count, BLOCK);
    CUdeviceptr out = gpu_alloc_zeroed(count * sizeof(uint32_t)), firsts = gpu_alloc_zeroed(blocks * sizeof(uint32_t));
    uint32_t *sums = workload_alloc(blocks, sizeof(uint32_t)), before = 0;

    gpu_launch_named(gpu, "compact_count", blocks, BLOCK, (void *[]){&in, &firsts, &count});
    gpu_download(sums, firsts, blocks * sizeof(uint32_t));
    for (unsigned block = 0; block < blocks; block++) {
        uint32_t here = sums[block];
        sums[block] = before;
        before += here;
    }
    CHECK(cuMemcpyHtoD(firsts, sums, blocks * sizeof(uint32_t)));
    gpu_launch_named(gpu, "compact_pack", blocks, BLOCK, (void *[]){&in, &firsts, &out, &count});
    size_t mismatches = array_check_u32("in order", out, expected, kept) + (before != kept);
    free(sums);
    gpu_free(out);
    gpu_free(firsts);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "compact",
        .summary = "Elements that pass a test, packed: in any order by atomics, and in order.",
        .inputs = {"9,000 integers", "400,000 integers", "4,000,000 integers"},
    };
    int count = counts[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(38);
    uint32_t *numbers = array_of_u32(count, 0xffffffff, &state), *expected = workload_alloc(count, sizeof(uint32_t));
    uint32_t kept = 0;
    struct gpu gpu;

    for (int i = 0; i < count; i++) {
        if (numbers[i] % 8 < 3)
            expected[kept++] = numbers[i];
    }
    gpu_open(&gpu);
    CUdeviceptr in = gpu_upload(numbers, count * sizeof(uint32_t));
    size_t mismatches = run_atomic(&gpu, in, count, expected, kept) + run_ordered(&gpu, in, count, expected, kept);
    gpu_free(in);
    gpu_close(&gpu);
    free(numbers);
    free(expected);
    return workload_verdict(&workload, mismatches, 2 * (size_t)kept + 2, "elements");
}
