/* How many thread blocks of a launch fit one core: by slots, warps, registers and shared memory. */
#include "gpu/occupancy.h"

#include "base/checked.h"
#include "base/numbers.h"
enum { SHARED_LIMIT_BYTES = 227 << 10 }; /* of a block in functional mode, whatever the machine */

uint32_t gpu_max_dynamic_shared(const struct gpu *g)
{
    uint32_t machine = g->options.machine.sm.shared_bytes - g->options.machine.sm.shared_block_bytes;
    return g->options.functional ? (uint32_t)larger(machine, SHARED_LIMIT_BYTES) : machine;
}

static bool is_bounded(const struct exec_function *kernel)
{
    return kernel->ptx->maxntid[0] || kernel->ptx->reqntid[0];
}

/* For a block that does not fit because of its registers alone, an assembler would have spilled registers: down to
 * LEAST_REGISTERS, or as far as needed where the kernel says how many threads its blocks have. So such a block fits
 * once. The cost of spills is left out. */
static uint32_t blocks_by_registers(const struct machine *m, const struct exec_function *kernel, uint32_t registers,
                                    uint32_t warps)
{
    uint32_t blocks = m->sm.registers / (registers * warps * WARP_LANES);
    bool can_spill = is_bounded(kernel) || m->sm.registers / (warps * WARP_LANES) >= LEAST_REGISTERS;
    return blocks || !can_spill ? blocks : 1;
}

uint32_t gpu_spilled_to(const struct gpu *g, const struct exec_function *kernel, uint32_t block_threads)
{
    const struct machine *m = &g->options.machine;
    uint32_t warps = (block_threads + WARP_LANES - 1) / WARP_LANES;
    uint32_t most = warps ? m->sm.registers / (warps * WARP_LANES) : UINT32_MAX;
    bool fits = g->options.functional || is_bounded(kernel) || kernel->register_count <= most;
    return fits ? 0 : most;
}

uint64_t launch_shared_bytes(const struct exec_function *kernel, uint32_t dynamic_bytes)
{
    return dynamic_bytes ? capped_add(kernel->dynamic_shared_offset, dynamic_bytes) : kernel->shared_bytes;
}

uint32_t gpu_occupancy(const struct gpu *g, const struct exec_function *kernel, uint32_t block_threads,
                       uint32_t dynamic_shared_bytes)
{
    const struct machine *m = &g->options.machine;
    uint32_t warps = block_threads / WARP_LANES + (block_threads % WARP_LANES != 0),
             granule = m->sm.register_granule ? m->sm.register_granule : 1;
    uint32_t registers = (kernel->register_count + granule - 1) / granule * granule;
    uint64_t shared = launch_shared_bytes(kernel, dynamic_shared_bytes);
    if (!warps || block_threads > LARGEST_BLOCK || shared > gpu_max_dynamic_shared(g))
        return 0;
    if (!m->sm.counts_dynamic_shared) /* the rule's mistake: it looks at what the kernel declares alone */
        shared = kernel->shared_bytes;
    uint64_t blocks = smaller(m->sm.blocks, m->sm.warps / warps);
    if (registers)
        blocks = smaller(blocks, blocks_by_registers(m, kernel, registers, warps));
    shared += m->sm.shared_block_bytes;
    if (shared)
        blocks = smaller(blocks, m->sm.shared_bytes / shared);
    if (!blocks && g->options.functional)
        return 1; /* functional mode runs a block alone on a core for which it is too large */
    return (uint32_t)blocks;
}
