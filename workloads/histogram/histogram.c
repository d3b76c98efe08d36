/* histogram: host program; see histogram.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, BINS = 256, LANES = 32, PER_THREAD = 4 };

static const int counts[SIZE_COUNT] = {6000, 150000, 2200000};

static size_t run_all(const struct gpu *gpu, const uint32_t *numbers, int count, const uint32_t *expected)
{
    CUdeviceptr words = gpu_upload(numbers, count * sizeof(uint32_t));
    CUdeviceptr bins[3];
    int blocks = gpu_blocks(count, BLOCK * PER_THREAD);
    CUdeviceptr copies = gpu_alloc_zeroed((size_t)blocks * BINS * sizeof(uint32_t));
    static const char *const names[] = {"histogram_global", "histogram_shared", "histogram_warps"};
    size_t mismatches = 0;

    for (int i = 0; i < 3; i++)
        bins[i] = gpu_alloc_zeroed(BINS * sizeof(uint32_t));
    gpu_launch_named(gpu, names[0], blocks, BLOCK, (void *[]){&words, &bins[0], &count});
    gpu_launch_named(gpu, names[1], blocks, BLOCK, (void *[]){&words, &copies, &count});
    gpu_launch_named(gpu, "histogram_merge", BINS * LANES / BLOCK, BLOCK, (void *[]){&copies, &bins[1], &blocks});
    gpu_launch_named(gpu, names[2], blocks, BLOCK, (void *[]){&words, &bins[2], &count});
    for (int i = 0; i < 3; i++) {
        mismatches += array_check_u32(names[i], bins[i], expected, BINS);
        gpu_free(bins[i]);
    }
    gpu_free(words);
    gpu_free(copies);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "histogram",
        .summary = "Counts of bytes: atomics on global memory, on a copy per block, on a copy per warp.",
        .inputs = {"24,000 bytes", "600,000 bytes", "8,800,000 bytes"},
    };
    int count = counts[workload_parse(&workload, argc, argv)];
    uint32_t *words = workload_alloc(count, sizeof(uint32_t));
    uint32_t expected[BINS] = {0};
    uint64_t state = workload_seed(8);
    struct gpu gpu;

    for (int i = 0; i < count; i++) {
        for (int byte = 0; byte < 4; byte++) {
            /* The sum of two dice of 128: the middle is frequent. */
            uint32_t value = random_below(&state, 128) + random_below(&state, 128);
            words[i] |= value << 8 * byte;
            expected[value]++;
        }
    }
    gpu_open(&gpu);
    size_t mismatches = run_all(&gpu, words, count, expected);
    gpu_close(&gpu);
    free(words);
    return workload_verdict(&workload, mismatches, 3 * BINS, "counts");
}
