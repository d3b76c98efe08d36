/* nestbranch: host program; see nestbranch.cu for what the kernel does. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, BINS = 32, TRIPS_MASK = 15, INNER_MASK = 31, LAST_TRIPS = 40, TABLE_WORDS = 1 << 14 };

static const long block_counts[SIZE_COUNT] = {3, 96, 240};

/* The result of a thread; also counts what its block adds to the histogram. */
static uint32_t reference(uint32_t state, const uint32_t *table, uint32_t *histogram)
{
    uint32_t total = 0;
    int last = 0;

    for (int trips = (state & TRIPS_MASK) + 1; trips > 0; trips--) {
        state = state * 1664525u + 1013904223u;
        if (state >> 8 & 3) {
            int is_over = 0;
            for (uint32_t j = 0; j < (state >> 16 & INNER_MASK) && !is_over; j++) {
                total += table[(state + j * 7) % TABLE_WORDS];
                is_over = (total >> 3 & 15) == 5;
            }
            histogram[state >> 27]++;
        }
    }
    if (total & 1)
        return total;
    for (uint32_t number = total >> 12; number > 1 && last < LAST_TRIPS; last++)
        number = number & 1 ? 3 * number + 1 : number / 2;
    return total + last;
}

int main(int argc, char **argv)
{
    long blocks = 0;
    const struct workload_option options[] = {
        {"blocks", "blocks of 256 threads", &blocks, 10000},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "nestbranch",
        .summary = "Loops, branches, barriers and atomics inside each other, as the data asks for them.",
        .inputs = {"3 blocks", "96 blocks", "240 blocks"},
        .options = options,
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int threads = (blocks ? blocks : block_counts[size]) * BLOCK;
    uint32_t mask = TABLE_WORDS - 1, histogram[BINS] = {0};
    uint64_t state = workload_seed(32);
    uint32_t *seeds = array_of_u32(threads, UINT32_MAX, &state);
    uint32_t *table = array_of_u32(TABLE_WORDS, UINT32_MAX, &state);
    uint32_t *expected = workload_alloc(threads, sizeof(uint32_t));
    struct gpu gpu;

    for (int i = 0; i < threads; i++)
        expected[i] = reference(seeds[i], table, histogram);
    gpu_open(&gpu);
    CUdeviceptr seed_memory = gpu_upload(seeds, threads * sizeof(uint32_t));
    CUdeviceptr table_memory = gpu_upload(table, TABLE_WORDS * sizeof(uint32_t));
    CUdeviceptr histogram_memory = gpu_alloc_zeroed(sizeof histogram);
    CUdeviceptr results = gpu_alloc_zeroed(threads * sizeof(uint32_t));
    gpu_launch_named(&gpu, "nestbranch", threads / BLOCK, BLOCK,
                     (void *[]){&seed_memory, &table_memory, &mask, &histogram_memory, &results});
    size_t mismatches = array_check_u32("result", results, expected, threads);
    mismatches += array_check_u32("histogram", histogram_memory, histogram, BINS);
    CUdeviceptr all[] = {seed_memory, table_memory, histogram_memory, results};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
    gpu_close(&gpu);
    free(seeds);
    free(table);
    free(expected);
    return workload_verdict(&workload, mismatches, (size_t)threads + BINS, "results and counts");
}
