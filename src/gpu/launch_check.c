/* Is a launch legal, and does a block of it fit a core? Launches by the host and by kernels are checked here. What a
 * message says can be acted on: where one key of the machine is too small, it names the key and a value. */
#include "gpu/launch_check.h"

#include "base/checked.h"
#include "gpu/occupancy.h"

enum { LARGEST_PARAMS_BYTES = 32764 };

/* Dimensions that a kernel leaves out are 0. */
static uint32_t one_at_least(uint32_t dimension) { return dimension ? dimension : 1; }

/* The key of the machine that keeps a block from running, as an option that would let it run. */
static void say_remedy(const struct machine *m, uint32_t threads, uint64_t shared, struct error *e)
{
    uint32_t warps = (threads + WARP_LANES - 1) / WARP_LANES;
    if (warps > m->sm.warps)
        error_note(e, "--set core.warps=%u would let it run", warps);
    else if (shared > m->sm.shared_bytes)
        error_note(e, "--set core.shared_bytes=%llu would let it run", (unsigned long long)shared);
    else if (m->sm.registers / (warps * WARP_LANES) < LEAST_REGISTERS)
        error_note(e, "--set core.registers=%u would let it run", warps * WARP_LANES * LEAST_REGISTERS);
}

static bool check_shape(const struct gpu_launch *in, struct error *e)
{
    const uint32_t most_grid[3] = {0x7fffffff, 65535, 65535}, most_block[3] = {LARGEST_BLOCK, LARGEST_BLOCK, 64};
    const struct ptx_function *ptx = in->kernel->ptx;
    uint64_t threads = capped_volume(in->block);
    bool legal = true;
    for (int i = 0; i < 3; i++)
        legal &= in->grid[i] && in->block[i] && in->grid[i] <= most_grid[i];
    if (!legal)
        return error_set(e, ERROR_INVALID, "kernel %s: grid %ux%ux%u of blocks %ux%ux%u is not a legal shape",
                         in->kernel->name, in->grid[0], in->grid[1], in->grid[2], in->block[0], in->block[1],
                         in->block[2]);
    for (int i = 0; i < 3; i++)
        legal &= in->block[i] <= most_block[i];
    if (!legal || threads > LARGEST_BLOCK)
        return error_set(e, ERROR_INVALID, "kernel %s: a block of %ux%ux%u threads; the most is %d, and %u in z",
                         in->kernel->name, in->block[0], in->block[1], in->block[2], LARGEST_BLOCK, most_block[2]);
    uint64_t allowed =
        capped_volume((uint32_t[3]){ptx->maxntid[0], one_at_least(ptx->maxntid[1]), one_at_least(ptx->maxntid[2])});
    if (allowed && threads > allowed)
        return error_set(e, ERROR_RESOURCES,
                         "kernel %s: a block of %llu threads, but it was compiled for at most %llu (.maxntid)",
                         in->kernel->name, (unsigned long long)threads, (unsigned long long)allowed);
    for (int i = 0; i < 3; i++)
        if (ptx->reqntid[0] && in->block[i] != one_at_least(ptx->reqntid[i]))
            return error_set(e, ERROR_RESOURCES,
                             "kernel %s: a block of %ux%ux%u, but it was compiled for %ux%ux%u (.reqntid)",
                             in->kernel->name, in->block[0], in->block[1], in->block[2], ptx->reqntid[0],
                             one_at_least(ptx->reqntid[1]), one_at_least(ptx->reqntid[2]));
    return true;
}

void launch_cluster_of(const struct gpu_launch *in, uint32_t cluster[3])
{
    const uint32_t *given = in->cluster[0] ? in->cluster : in->kernel->ptx->reqnctapercluster;
    for (int i = 0; i < 3; i++)
        cluster[i] = given[0] ? one_at_least(given[i]) : 0;
}

static bool check_cluster(const struct gpu_launch *in, struct error *e)
{
    uint32_t cluster[3];
    launch_cluster_of(in, cluster);
    if (capped_volume(cluster) > MEMORY_CLUSTER_BLOCKS)
        return error_set(e, ERROR_INVALID, "kernel %s: a cluster of %ux%ux%u blocks; the most is %d", in->kernel->name,
                         cluster[0], cluster[1], cluster[2], MEMORY_CLUSTER_BLOCKS);
    for (int i = 0; i < 3; i++)
        if (cluster[0] && in->grid[i] % cluster[i])
            return error_set(e, ERROR_INVALID, "kernel %s: the grid is not a multiple of the cluster",
                             in->kernel->name);
    return true;
}

static bool check_memory(const struct gpu *g, const struct gpu_launch *in, struct error *e)
{
    const struct exec_function *kernel = in->kernel;
    uint64_t shared = launch_shared_bytes(kernel, in->dynamic_shared_bytes);
    if (shared > gpu_max_dynamic_shared(g)) {
        error_set(e, ERROR_INVALID, "kernel %s: %llu bytes of shared memory a block; the most is %u", kernel->name,
                  (unsigned long long)shared, gpu_max_dynamic_shared(g));
        say_remedy(&g->options.machine, (uint32_t)capped_volume(in->block), shared, e);
        return false;
    }
    if (kernel->stack_bytes > MEMORY_WINDOW_BYTES)
        return error_set(e, ERROR_RESOURCES,
                         "kernel %s: a thread needs %llu bytes of local memory, calls included; the most is %d",
                         kernel->name, (unsigned long long)kernel->stack_bytes, MEMORY_WINDOW_BYTES);
    if (kernel->ptx->param_bytes > LARGEST_PARAMS_BYTES)
        return error_set(e, ERROR_INVALID, "kernel %s takes %u bytes of parameters; the most is %d", kernel->name,
                         kernel->ptx->param_bytes, LARGEST_PARAMS_BYTES);
    if (in->params_bytes < kernel->ptx->param_bytes)
        return error_set(e, ERROR_INVALID, "kernel %s takes %u bytes of parameters, %u given", kernel->name,
                         kernel->ptx->param_bytes, in->params_bytes);
    return true;
}

bool gpu_check_launch(const struct gpu *g, const struct gpu_launch *in, struct error *e)
{
    if (!check_shape(in, e) || !check_memory(g, in, e) || !check_cluster(in, e))
        return false;
    uint32_t threads = (uint32_t)capped_volume(in->block);
    if (gpu_occupancy(g, in->kernel, threads, in->dynamic_shared_bytes))
        return true;
    error_set(e, ERROR_RESOURCES,
              "kernel %s: a block of %u threads with about %u registers each does not fit a core of machine "
              "%s, which has %u registers and room for %u warps",
              in->kernel->name, threads, in->kernel->register_count, g->options.machine.name,
              g->options.machine.sm.registers, g->options.machine.sm.warps);
    say_remedy(&g->options.machine, threads, launch_shared_bytes(in->kernel, in->dynamic_shared_bytes), e);
    return false;
}
