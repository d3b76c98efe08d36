/* hashtable: host program; see hashtable.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256 };

static const int counts[SIZE_COUNT] = {4096, 65536, 1 << 19};

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "hashtable",
        .summary = "A hash table in memory: keys inserted by compare-and-swap, then looked up.",
        .inputs = {"4,096 keys", "65,536 keys", "524,288 keys"},
    };
    int count = counts[workload_parse(&workload, argc, argv)];
    size_t bytes = count * sizeof(uint32_t);
    uint32_t mask = 2 * count - 1;
    uint64_t state = workload_seed(3072);
    uint32_t *keys = workload_alloc(count, sizeof(uint32_t)), *wanted = workload_alloc(count, sizeof(uint32_t));
    uint32_t *expected = workload_alloc(count, sizeof(uint32_t));
    struct gpu gpu;

    /* Keys are even; what is not in the table is odd. */
    for (int i = 0; i < count; i++)
        keys[i] = random_u32(&state) & 0x7ffffffe;
    for (int i = 0; i < count; i++) {
        uint32_t key = keys[random_below(&state, count)];
        wanted[i] = key + random_below(&state, 2);
        expected[i] = wanted[i] % 2 ? 0 : wanted[i] * 3 + 1;
    }
    gpu_open(&gpu);
    CUdeviceptr in = gpu_upload(keys, bytes), wanted_memory = gpu_upload(wanted, bytes), out = gpu_alloc_zeroed(bytes);
    CUdeviceptr table = gpu_alloc_zeroed(2 * bytes), values = gpu_alloc_zeroed(2 * bytes);
    CHECK(cuMemsetD8(table, 0xff, 2 * bytes));
    gpu_launch_named(&gpu, "hashtable_insert", gpu_blocks(count, BLOCK), BLOCK,
                     (void *[]){&in, &table, &values, &mask, &count});
    gpu_launch_named(&gpu, "hashtable_find", gpu_blocks(count, BLOCK), BLOCK,
                     (void *[]){&wanted_memory, &table, &values, &out, &mask, &count});
    size_t mismatches = array_check_u32("value", out, expected, count);
    CUdeviceptr all[] = {in, wanted_memory, out, table, values};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
    gpu_close(&gpu);
    free(keys);
    free(wanted);
    free(expected);
    return workload_verdict(&workload, mismatches, count, "values");
}
