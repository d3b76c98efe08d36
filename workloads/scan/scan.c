/* scan: host program; see scan.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, TILE = BLOCK * 8 };

static const int tile_counts[SIZE_COUNT] = {20, 400, 4000};

static size_t scan_both_ways(const struct gpu *gpu, CUdeviceptr in, int tiles, const uint32_t *expected)
{
    size_t count = (size_t)tiles * TILE;
    CUdeviceptr out = gpu_alloc_zeroed(count * sizeof(uint32_t)), sums = gpu_alloc_zeroed(tiles * sizeof(uint32_t));
    CUdeviceptr ticket = gpu_alloc_zeroed(sizeof(uint32_t)), states = gpu_alloc_zeroed(tiles * sizeof(uint64_t));

    gpu_launch_named(gpu, "scan_sums", tiles, BLOCK, (void *[]){&in, &sums});
    gpu_launch_named(gpu, "scan_offsets", 1, BLOCK, (void *[]){&sums, &tiles});
    gpu_launch_named(gpu, "scan_tiles", tiles, BLOCK, (void *[]){&in, &sums, &out});
    size_t mismatches = array_check_u32("in three launches", out, expected, count);
    CHECK(cuMemsetD8(out, 0, count * sizeof(uint32_t)));
    gpu_launch_named(gpu, "scan_lookback", tiles, BLOCK, (void *[]){&in, &out, &ticket, &states});
    mismatches += array_check_u32("in one launch", out, expected, count);
    gpu_free(out);
    gpu_free(sums);
    gpu_free(ticket);
    gpu_free(states);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "scan",
        .summary = "Running sums of integers: in three launches, and in one with decoupled look-back.",
        .inputs = {"40,960 integers", "819,200 integers", "8,192,000 integers"},
    };
    int tiles = tile_counts[workload_parse(&workload, argc, argv)];
    size_t count = (size_t)tiles * TILE;
    uint64_t state = workload_seed(2016);
    uint32_t *numbers = array_of_u32(count, 1000, &state), *expected = workload_alloc(count, sizeof(uint32_t));
    uint32_t sum = 0;
    struct gpu gpu;

    for (size_t i = 0; i < count; i++)
        expected[i] = sum += numbers[i];
    gpu_open(&gpu);
    CUdeviceptr in = gpu_upload(numbers, count * sizeof(uint32_t));
    size_t mismatches = scan_both_ways(&gpu, in, tiles, expected);
    gpu_free(in);
    gpu_close(&gpu);
    free(numbers);
    free(expected);
    return workload_verdict(&workload, mismatches, 2 * count, "sums");
}
