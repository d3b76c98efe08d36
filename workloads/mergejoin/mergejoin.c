/* mergejoin: host program; see mergejoin.cu for what the kernel does. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, LEAST = 16, MOST = 80, GAP = 4 };

/* The lists of one side of all pairs, one after the other. */
struct lists {
    int *starts;
    int *keys;
};

static const long pair_counts[SIZE_COUNT] = {600, 24576, 122880};

/* Keys ascend by 1 to GAP, so that two lists share about one key in GAP. */
static void lists_random(struct lists *lists, int count, uint64_t *state)
{
    lists->starts = workload_alloc(count + 1, sizeof(int));
    for (int i = 0; i < count; i++)
        lists->starts[i + 1] = lists->starts[i] + LEAST + random_below(state, MOST - LEAST + 1);
    lists->keys = workload_alloc(lists->starts[count], sizeof(int));
    for (int i = 0; i < count; i++) {
        int key = 0;
        for (int j = lists->starts[i]; j < lists->starts[i + 1]; j++)
            lists->keys[j] = key += 1 + random_below(state, GAP);
    }
}

/* Marks the left list's keys, and looks up the right list's. */
static void reference(const struct lists *left, const struct lists *right, int pair, uint32_t *count, uint32_t *sum)
{
    unsigned char is_left[MOST * GAP + 1] = {0};

    for (int i = left->starts[pair]; i < left->starts[pair + 1]; i++)
        is_left[left->keys[i]] = 1;
    for (int i = right->starts[pair]; i < right->starts[pair + 1]; i++) {
        *count += is_left[right->keys[i]];
        *sum += is_left[right->keys[i]] * right->keys[i];
    }
}

static void join_on_device(const struct gpu *gpu, const struct lists *left, const struct lists *right, int pairs,
                           CUdeviceptr counts, CUdeviceptr sums)
{
    CUdeviceptr left_starts = gpu_upload(left->starts, (pairs + 1) * sizeof(int));
    CUdeviceptr left_keys = gpu_upload(left->keys, left->starts[pairs] * sizeof(int));
    CUdeviceptr right_starts = gpu_upload(right->starts, (pairs + 1) * sizeof(int));
    CUdeviceptr right_keys = gpu_upload(right->keys, right->starts[pairs] * sizeof(int));
    CUdeviceptr all[] = {left_starts, left_keys, right_starts, right_keys};

    gpu_launch_named(gpu, "mergejoin", gpu_blocks(pairs, BLOCK), BLOCK,
                     (void *[]){&left_starts, &left_keys, &right_starts, &right_keys, &counts, &sums, &pairs});
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
}

int main(int argc, char **argv)
{
    const struct workload workload = {
        .name = "mergejoin",
        .summary = "What two sorted lists have in common, one thread per pair of lists.",
        .inputs = {"600 pairs", "24,576 pairs", "122,880 pairs"},
    };
    int pairs = pair_counts[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(80);
    struct lists left, right;
    struct gpu gpu;

    lists_random(&left, pairs, &state);
    lists_random(&right, pairs, &state);
    uint32_t *counts = workload_alloc(pairs, sizeof(uint32_t));
    uint32_t *sums = workload_alloc(pairs, sizeof(uint32_t));
    for (int i = 0; i < pairs; i++)
        reference(&left, &right, i, &counts[i], &sums[i]);
    gpu_open(&gpu);
    CUdeviceptr count_memory = gpu_alloc_zeroed(pairs * sizeof(int)),
                sum_memory = gpu_alloc_zeroed(pairs * sizeof(int));
    join_on_device(&gpu, &left, &right, pairs, count_memory, sum_memory);
    size_t mismatches = array_check_u32("count", count_memory, counts, pairs);
    mismatches += array_check_u32("sum", sum_memory, sums, pairs);
    gpu_free(count_memory);
    gpu_free(sum_memory);
    gpu_close(&gpu);
    void *all[] = {left.starts, left.keys, right.starts, right.keys, counts, sums};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return workload_verdict(&workload, mismatches, 2 * (size_t)pairs, "counts and sums");
}
