/* bitonic: host program; see bitonic.cu for what the kernel does. */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { KEYS = 256 };

/* Blocks, each of which sorts keys of its own. The paper runs one. */
static const unsigned block_counts[SIZE_COUNT] = {16, 512, 1};

static int compare_keys(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

static void sort_on_device(const struct gpu *gpu, uint32_t *keys, unsigned blocks)
{
    size_t bytes = (size_t)blocks * KEYS * sizeof(uint32_t);
    CUdeviceptr memory = gpu_upload(keys, bytes);
    void *arguments[] = {&memory};

    gpu_launch(gpu_kernel(gpu, "bitonic"), (struct shape){blocks, 1}, (struct shape){KEYS, 1}, arguments);
    gpu_download(keys, memory, bytes);
    gpu_free(memory);
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "bitonic",
        .summary = "Bitonic sort, 256 keys a block.",
        .inputs = {"16 blocks", "512 blocks", "1 block"},
    };
    unsigned blocks = block_counts[workload_parse(&workload, argc, argv)];
    size_t count = (size_t)blocks * KEYS;
    uint32_t *keys = workload_alloc(count, sizeof(uint32_t));
    uint32_t *expected = workload_alloc(count, sizeof(uint32_t));
    uint64_t state = workload_seed(KEYS);
    struct gpu gpu;

    for (size_t i = 0; i < count; i++)
        keys[i] = random_u32(&state);
    memcpy(expected, keys, count * sizeof(uint32_t));
    for (unsigned block = 0; block < blocks; block++)
        qsort(expected + block * KEYS, KEYS, sizeof(uint32_t), compare_keys);
    gpu_open(&gpu);
    sort_on_device(&gpu, keys, blocks);
    gpu_close(&gpu);
    size_t mismatches = compare_u32("keys", keys, expected, count);
    free(keys);
    free(expected);
    return workload_verdict(&workload, mismatches, count, "keys");
}
