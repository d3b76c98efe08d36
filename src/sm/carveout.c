/* How a launch divides an L1 data cache and shared memory that share their bytes.
 *
 * Shared memory has one of a few sizes (CUDA C++ Programming Guide, compute capability 8.0 and 9.0): the smallest that
 * holds what the resident blocks need, and what is preferred. Where the program says nothing, the driver of an H200
 * prefers twice the blocks that fit by their threads, each with at least 2 KB, up to half of the memory. That was found
 * from launch__shared_mem_config_size of launches on silicon, 20 of 21 shapes; why it does so is not known. */
#include "sm/carveout.h"

#include "base/numbers.h"

static uint64_t preferred_bytes(const struct sm_config *g, const struct carveout_request *r)
{
    if (r->percent >= 0)
        return (uint64_t)g->shared_bytes * (uint32_t)r->percent / 100;
    uint64_t by_threads = (uint64_t)g->warps * 32 / (r->block_threads ? r->block_threads : 1),
             blocks = smaller(g->blocks, 2 * by_threads),
             each = larger(2ull * g->shared_block_bytes, r->block_shared_bytes + g->shared_block_bytes);
    return smaller(blocks * each, g->unified_bytes / 2);
}

uint32_t carveout_shared_bytes(const struct sm_config *g, const struct carveout_request *r)
{
    static const uint32_t sizes_kb[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    uint64_t needed = r->blocks * (r->block_shared_bytes + g->shared_block_bytes);
    uint64_t wanted = larger(needed, preferred_bytes(g, r));
    for (unsigned i = 0; i < sizeof sizes_kb / sizeof *sizes_kb; i++)
        if (sizes_kb[i] * 1024 >= wanted && sizes_kb[i] * 1024 <= g->shared_bytes)
            return sizes_kb[i] * 1024;
    return g->shared_bytes;
}

uint32_t carveout_l1_bytes(const struct sm_config *g, const struct carveout_request *r)
{
    if (!g->unified_bytes)
        return 0;
    return g->unified_bytes - g->unified_kept_bytes - carveout_shared_bytes(g, r);
}
