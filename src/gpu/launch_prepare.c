/* What a launch needs: see launch_prepare.h. */
#include "gpu/launch_prepare.h"

#include "base/checked.h"
#include "base/numbers.h"
#include "gpu/launch_check.h"
#include "gpu/occupancy.h"
#include "sm/carveout.h"

#include <stdlib.h>
#include <string.h>

enum { RECURSION_STACK_BYTES = 64 << 10 };
#define MOST_REGISTERS_BYTES (2ull << 30) /* memory of the host, for all blocks that run at once */

/* What grid.sync() of cooperative groups finds under the address in %envreg1 (upper half) and %envreg2: its barrier's
 * counter. The layout is CUDA's. */
struct grid_workspace {
    uint32_t size_bytes, barrier;
};

/* Local memory of a thread: what the calls that are known take, and a stack for the others. */
static uint32_t local_bytes(const struct gpu *g, const struct exec_function *kernel)
{
    uint64_t bytes = kernel->stack_bytes;
    if (kernel->makes_calls || kernel->uses_alloca)
        bytes = capped_add(bytes, g->stack_limit_bytes);
    if (kernel->recursive && bytes < RECURSION_STACK_BYTES)
        bytes = RECURSION_STACK_BYTES;
    return bytes < MEMORY_WINDOW_BYTES ? ((uint32_t)bytes + 15) & ~15u : MEMORY_WINDOW_BYTES;
}

/* What all warps of the launch share. */
static void prepare_launch(struct residency *r, const struct gpu_launch *in)
{
    struct gpu *g = r->gpu;
    struct exec_launch *l = &r->launch;
    *l = (struct exec_launch){.memory = g->memory,
                              .textures = &g->textures,
                              .image = in->kernel->image,
                              .kernel = in->kernel,
                              .dynamic_shared_bytes = in->dynamic_shared_bytes,
                              .params_bytes = in->kernel->ptx->param_bytes,
                              .local_bytes = local_bytes(g, in->kernel),
                              .grid_id = g->next_grid_id++,
                              .core_count = g->options.machine.cores,
                              .warps_per_core = g->options.machine.sm.warps,
                              .clock = functional_clock,
                              .heap = g->heap,
                              .queue = &r->queue,
                              .register_stacks_bytes = &r->register_stacks_bytes,
                              .error = &r->error,
                              .printf_out = g->printf_out,
                              .user = r};
    memcpy(l->grid, in->grid, sizeof l->grid);
    memcpy(l->block, in->block, sizeof l->block);
    launch_cluster_of(in, l->cluster);
    g->heap->limit_bytes = g->heap_limit_bytes;
}

/* How many blocks are resident together, and what of unified memory they leave to the L1 data cache. */
static bool count_slots(struct residency *r, const struct gpu_launch *in, struct error *e)
{
    const struct machine *m = &r->gpu->options.machine;
    struct launch_blocks *b = &r->blocks;
    uint32_t threads = (uint32_t)capped_volume(in->block), block_warps = (threads + WARP_LANES - 1) / WARP_LANES;
    uint32_t resident = gpu_occupancy(r->gpu, in->kernel, threads, in->dynamic_shared_bytes);
    uint64_t slots = (uint64_t)resident * m->cores;
    struct carveout_request request = {.block_threads = threads,
                                       .blocks = resident,
                                       .block_shared_bytes = launch_shared_bytes(in->kernel, in->dynamic_shared_bytes),
                                       .percent = (int)in->carveout - 1};
    r->timed.l1_bytes = carveout_l1_bytes(&m->sm, &request);
    b->count = capped_volume(in->grid);
    b->cluster_size = r->launch.cluster[0] ? (uint32_t)capped_volume(r->launch.cluster) : 1;
    if (in->cooperative && b->count > slots)
        return error_set(e, ERROR_RESOURCES,
                         "kernel %s: a cooperative launch of %llu blocks, of which only %llu fit the machine together",
                         in->kernel->name, (unsigned long long)b->count, (unsigned long long)slots);
    if (slots < b->cluster_size)
        slots = b->cluster_size;
    slots -= slots % b->cluster_size;
    b->slot_count = (uint32_t)(r->is_functional ? smaller(slots, b->count) : slots);
    uint64_t warps = capped_multiply(block_warps, smaller(slots, b->count));
    if (capped_multiply(warps, in->kernel->frame_bytes) > MOST_REGISTERS_BYTES)
        return error_set(e, ERROR_RESOURCES,
                         "kernel %s: %llu warps at once with %u bytes of registers each; the most is %llu bytes",
                         in->kernel->name, (unsigned long long)warps, in->kernel->frame_bytes, MOST_REGISTERS_BYTES);
    return true;
}

static bool out_of_memory_for(const struct gpu_launch *in, struct error *e)
{
    return error_set(e, ERROR_NO_MEMORY, "out of memory for the launch of %s", in->kernel->name);
}

static bool make_slots(struct residency *r, const struct gpu_launch *in, struct error *e)
{
    struct launch_blocks *b = &r->blocks;
    b->slots = calloc(b->slot_count, sizeof *b->slots);
    r->untimed.busy = calloc(b->slot_count, sizeof *r->untimed.busy);
    if (r->launch.cluster[0])
        b->clusters = calloc(b->slot_count / b->cluster_size + 1, sizeof *b->clusters);
    return (b->slots && r->untimed.busy) || out_of_memory_for(in, e);
}

static bool prepare_params(struct residency *r, const struct gpu_launch *in, struct error *e)
{
    struct exec_launch *l = &r->launch;
    uint32_t bytes = l->params_bytes ? l->params_bytes : 1;
    l->params = memory_alloc(r->gpu->memory, bytes, 256, MEMORY_PARAM, "kernel parameters");
    if (!l->params)
        return out_of_memory_for(in, e);
    if (l->params_bytes)
        memcpy(memory_pointer(l->params), in->params, l->params_bytes);
    return true;
}

/* Only a cooperative launch has a workspace: kernels tell by its address whether they may synchronise the grid. */
static bool prepare_workspace(struct residency *r, const struct gpu_launch *in, struct error *e)
{
    if (!in->cooperative)
        return true;
    r->workspace =
        memory_alloc(r->gpu->memory, sizeof(struct grid_workspace), 256, MEMORY_GLOBAL, "the grid's workspace");
    if (!r->workspace)
        return out_of_memory_for(in, e);
    *(struct grid_workspace *)memory_pointer(r->workspace) =
        (struct grid_workspace){.size_bytes = sizeof(struct grid_workspace)};
    r->launch.envreg[1] = (uint32_t)(r->workspace >> 32);
    r->launch.envreg[2] = (uint32_t)r->workspace;
    return true;
}

bool launch_prepare(struct residency *r, const struct gpu_launch *in, struct error *e)
{
    prepare_launch(r, in);
    return count_slots(r, in, e) && make_slots(r, in, e) && prepare_params(r, in, e) && prepare_workspace(r, in, e);
}
