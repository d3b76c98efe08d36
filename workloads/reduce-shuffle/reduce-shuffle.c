/* reduce-shuffle: host program; see reduce-shuffle.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, VECTOR = 4, PER_THREAD = 4 };

static const int counts[SIZE_COUNT] = {20000, 1000000, 8000000};

static size_t check_sums(const struct gpu *gpu, CUdeviceptr numbers, int count, float expected, float slack)
{
    int vectors = count / VECTOR;
    int blocks = gpu_blocks(vectors, BLOCK * PER_THREAD);
    CUdeviceptr sums = gpu_alloc_zeroed(blocks * sizeof(float));
    CUdeviceptr total = gpu_alloc_zeroed(sizeof(float));
    CUdeviceptr atomic_total = gpu_alloc_zeroed(sizeof(float));

    gpu_launch_named(gpu, "reduce_blocks", blocks, BLOCK, (void *[]){&numbers, &sums, &vectors});
    gpu_launch_named(gpu, "reduce_rest", 1, BLOCK, (void *[]){&sums, &total, &blocks});
    gpu_launch_named(gpu, "reduce_atomic", gpu_blocks(count, BLOCK), BLOCK,
                     (void *[]){&numbers, &atomic_total, &count});
    size_t mismatches = array_check("total", total, &expected, 1, 0.0f, slack);
    mismatches += array_check("total by atomics", atomic_total, &expected, 1, 0.0f, slack);
    gpu_free(sums);
    gpu_free(total);
    gpu_free(atomic_total);
    return mismatches;
}

static size_t check_greatest(const struct gpu *gpu, CUdeviceptr memory, const float *numbers, int count)
{
    int blocks = gpu_blocks(count, BLOCK);
    CUdeviceptr best = gpu_alloc_zeroed(blocks * sizeof(float));
    CUdeviceptr places = gpu_alloc_zeroed(blocks * sizeof(uint32_t));
    float *values = workload_alloc(blocks, sizeof(float));
    uint32_t *expected = workload_alloc(blocks, sizeof(uint32_t));

    gpu_launch_named(gpu, "reduce_argmax", blocks, BLOCK, (void *[]){&memory, &best, &places, &count});
    for (int block = 0; block < blocks; block++) {
        uint32_t place = block * BLOCK;
        for (int i = block * BLOCK; i < count && i < (block + 1) * BLOCK; i++)
            place = numbers[i] > numbers[place] ? (uint32_t)i : place;
        expected[block] = place;
        values[block] = numbers[place];
    }
    size_t mismatches = array_check("greatest", best, values, blocks, 0.0f, 0.0f);
    mismatches += array_check_u32("place", places, expected, blocks);
    free(values);
    free(expected);
    gpu_free(best);
    gpu_free(places);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "reduce-shuffle",
        .summary = "Sum and greatest of floats by warp shuffles.",
        .inputs = {"20,000 floats", "1,000,000 floats", "8,000,000 floats"},
    };
    int count = counts[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(256);
    float *numbers = array_of_floats(count, -1.0f, 1.0f, &state);
    double sum = 0.0;
    struct gpu gpu;

    for (int i = 0; i < count; i++)
        sum += numbers[i];
    gpu_open(&gpu);
    CUdeviceptr memory = gpu_upload(numbers, count * sizeof(float));
    /* Partial sums stay below the root of the count times a few; each of some thousand additions rounds once. */
    size_t mismatches = check_sums(&gpu, memory, count, sum, sqrtf(count) * 1e-3f);
    mismatches += check_greatest(&gpu, memory, numbers, count);
    gpu_free(memory);
    gpu_close(&gpu);
    free(numbers);
    return workload_verdict(&workload, mismatches, 2 + 2 * (size_t)gpu_blocks(count, BLOCK), "sums and extremes");
}
