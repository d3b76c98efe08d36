/* reduct: host program; see reduct.cu for what the kernel does. Launched again over the blocks' sums until one is
 * left. */
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 128 };

/* The paper's count of instructions fits 2^14 numbers. */
static const unsigned counts[SIZE_COUNT] = {5000, 1 << 19, 1 << 14};

/* Fills `sums` with the blocks' sums of the first launch, and the sum of all after them. */
static void sum_on_device(const struct gpu *gpu, const uint32_t *numbers, unsigned count, uint32_t *sums)
{
    CUfunction kernel = gpu_kernel(gpu, "reduct");
    CUdeviceptr in = gpu_upload(numbers, count * sizeof(uint32_t));
    unsigned first_blocks = gpu_blocks(count, BLOCK);

    do {
        unsigned blocks = gpu_blocks(count, BLOCK);
        CUdeviceptr out = gpu_alloc_zeroed(blocks * sizeof(uint32_t));
        void *arguments[] = {&in, &out, &count};
        gpu_launch(kernel, (struct shape){blocks, 1}, (struct shape){BLOCK, 1}, arguments);
        if (blocks == first_blocks)
            gpu_download(sums, out, blocks * sizeof(uint32_t));
        gpu_free(in);
        in = out;
        count = blocks;
    } while (count > 1);
    gpu_download(sums + first_blocks, in, sizeof(uint32_t));
    gpu_free(in);
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "reduct",
        .summary = "Sum of integers by the plainest tree reduction, 128 threads a block.",
        .inputs = {"5,000 integers", "524,288 integers", "16,384 integers"},
    };
    unsigned count = counts[workload_parse(&workload, argc, argv)];
    uint32_t *numbers = workload_alloc(count, sizeof(uint32_t));
    unsigned blocks = gpu_blocks(count, BLOCK);
    uint32_t *sums = workload_alloc(blocks + 1, sizeof(uint32_t));
    uint32_t *expected = workload_alloc(blocks + 1, sizeof(uint32_t));
    uint64_t state = workload_seed(BLOCK);
    struct gpu gpu;

    for (unsigned i = 0; i < count; i++) {
        numbers[i] = random_u32(&state);
        expected[i / BLOCK] += numbers[i];
        expected[blocks] += numbers[i];
    }
    gpu_open(&gpu);
    sum_on_device(&gpu, numbers, count, sums);
    gpu_close(&gpu);
    size_t mismatches = compare_u32("sum", sums, expected, blocks + 1);
    free(numbers);
    free(sums);
    free(expected);
    return workload_verdict(&workload, mismatches, blocks + 1, "sums of blocks and of all");
}
