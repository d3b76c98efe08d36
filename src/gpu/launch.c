/* A launch: is it legal, what it needs, and its life from the start to the record of what it counted. How it runs is in
 * gpu/functional.c and gpu/timing_launch.c. */
#include "gpu/launch.h"

#include "base/checked.h"
#include "base/out_of_memory.h"
#include "exec/access.h"
#include "gpu/launch_filter.h"
#include "gpu/sample.h"
#include "gpu/warps.h"
#include "sm/carveout.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    DEEPEST_LAUNCH = 256, /* of kernels that launch kernels */
    LARGEST_BLOCK = 1024,
    LEAST_REGISTERS = 16, /* of a thread: an assembler spills down to that */
    LARGEST_PARAMS_BYTES = 32764,
    TOGETHER_MOST = 128, /* launches */
    TOGETHER_MOST_TIMED = 15,
    SHARED_LIMIT_BYTES = 227 << 10, /* of a block in functional mode, whatever the machine */
    RECURSION_STACK_BYTES = 64 << 10,
    MIXED_TURN = 1 << 16, /* warp instructions and cycles, where launches run with time and without */
};
#define MOST_REGISTERS_BYTES (2ull << 30) /* of the host, for all blocks that run at once */

double launch_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint32_t gpu_max_dynamic_shared(const struct gpu *g)
{
    uint32_t machine = g->options.machine.sm.shared_bytes - g->options.machine.sm.shared_block_bytes;
    return !g->options.functional || machine > SHARED_LIMIT_BYTES ? machine : SHARED_LIMIT_BYTES;
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static bool is_bounded(const struct exec_function *kernel)
{
    return kernel->ptx->maxntid[0] || kernel->ptx->reqntid[0];
}

/* A block that does not fit for its registers alone is what an assembler would have spilled for, down to a least number
 * of registers, or however far where the kernel says how many threads its blocks have. The spills' cost is left out. */
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
    return g->options.functional || is_bounded(kernel) || kernel->register_count <= most ? 0 : most;
}

/* What of the machine keeps a block from running, as an option that would let it. */
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

/* Of a block. */
static uint64_t shared_bytes(const struct exec_function *kernel, uint32_t dynamic_bytes)
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
    uint64_t shared = shared_bytes(kernel, dynamic_shared_bytes);
    if (!warps || block_threads > LARGEST_BLOCK || shared > gpu_max_dynamic_shared(g))
        return 0;
    if (!m->sm.counts_dynamic_shared) /* the rule's mistake: what the kernel declares */
        shared = kernel->shared_bytes;
    uint32_t blocks = least(m->sm.blocks, m->sm.warps / warps);
    if (registers)
        blocks = least(blocks, blocks_by_registers(m, kernel, registers, warps));
    shared += m->sm.shared_block_bytes;
    if (shared)
        blocks = least(blocks, (uint32_t)(m->sm.shared_bytes / shared));
    return blocks || !g->options.functional
               ? blocks
               : 1; /* functional mode runs a block that is larger than the machine's core alone on it */
}

/* What grid.sync() of cooperative groups finds under the address in %envreg1 (upper half) and %envreg2: its barrier's
 * counter. The layout is CUDA's. */
struct grid_workspace {
    uint32_t size_bytes, barrier;
};

void launch_block_id(const struct residency *r, uint64_t index, uint32_t id[3])
{
    const uint32_t *grid = r->launch.grid;
    if (r->cluster_blocks == 1) {
        id[0] = (uint32_t)(index % grid[0]);
        id[1] = (uint32_t)(index / grid[0] % grid[1]);
        id[2] = (uint32_t)(index / grid[0] / grid[1]);
        return;
    }
    const uint32_t *c = r->launch.cluster; /* blocks of a cluster are started together */
    uint64_t cluster = index / r->cluster_blocks, rank = index % r->cluster_blocks;
    uint32_t clusters_x = grid[0] / c[0], clusters_y = grid[1] / c[1];
    id[0] = (uint32_t)(cluster % clusters_x) * c[0] + (uint32_t)(rank % c[0]);
    id[1] = (uint32_t)(cluster / clusters_x % clusters_y) * c[1] + (uint32_t)(rank / c[0] % c[1]);
    id[2] = (uint32_t)(cluster / clusters_x / clusters_y) * c[2] + (uint32_t)(rank / c[0] / c[1]);
}

/* Spare room is taken over only by a launch that would make the same. */

void gpu_spare_free(struct gpu *g)
{
    for (uint32_t i = 0; i < g->spare.count; i++)
        exec_cta_destroy(g->spare.blocks[i]);
    free(g->spare.blocks);
    g->spare = (struct gpu_spare){0};
}

static bool spare_fits(const struct gpu_spare *s, const struct exec_launch *l)
{
    return s->image == l->image->id && s->kernel == l->kernel && memcmp(s->block, l->block, sizeof s->block) == 0 &&
           s->dynamic_shared_bytes == l->dynamic_shared_bytes && s->local_bytes == l->local_bytes;
}

static void leave_spare(struct residency *r)
{
    const struct exec_launch *l = &r->launch;
    struct gpu_spare left = {.image = l->image->id,
                             .kernel = l->kernel,
                             .dynamic_shared_bytes = l->dynamic_shared_bytes,
                             .local_bytes = l->local_bytes,
                             .blocks = r->blocks};
    memcpy(left.block, l->block, sizeof left.block);
    gpu_spare_free(r->gpu);
    for (uint32_t s = 0; s < r->slot_count; s++) /* close the gaps */
        if (r->blocks[s])
            left.blocks[left.count++] = r->blocks[s];
    r->gpu->spare = left;
    r->blocks = NULL;
}

struct exec_cta *launch_make_room(struct residency *r, struct exec_launch *l, uint32_t core, struct error *e)
{
    struct gpu_spare *spare = &r->gpu->spare;
    if (!spare->count || !spare_fits(spare, l)) /* of another launch that has ended meanwhile */
        return exec_cta_create(l, core, e);
    struct exec_cta *cta = spare->blocks[--spare->count];
    exec_cta_adopt(cta, l, core);
    return cta;
}

/* Checks and set-up */

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
    uint64_t allowed = capped_volume(
        (uint32_t[3]){ptx->maxntid[0], ptx->maxntid[1] ? ptx->maxntid[1] : 1, ptx->maxntid[2] ? ptx->maxntid[2] : 1});
    if (allowed && threads > allowed)
        return error_set(e, ERROR_RESOURCES,
                         "kernel %s: a block of %llu threads, but it was compiled for at most %llu (.maxntid)",
                         in->kernel->name, (unsigned long long)threads, (unsigned long long)allowed);
    for (int i = 0; i < 3; i++)
        if (ptx->reqntid[0] && in->block[i] != (ptx->reqntid[i] ? ptx->reqntid[i] : 1))
            return error_set(e, ERROR_RESOURCES,
                             "kernel %s: a block of %ux%ux%u, but it was compiled for %ux%ux%u (.reqntid)",
                             in->kernel->name, in->block[0], in->block[1], in->block[2], ptx->reqntid[0],
                             ptx->reqntid[1] ? ptx->reqntid[1] : 1, ptx->reqntid[2] ? ptx->reqntid[2] : 1);
    return true;
}

/* The launch's own cluster, or the kernel's; 0: none. */
static void cluster_of(const struct gpu_launch *in, uint32_t cluster[3])
{
    const uint32_t *given = in->cluster[0] ? in->cluster : in->kernel->ptx->reqnctapercluster;
    for (int i = 0; i < 3; i++)
        cluster[i] = !given[0] ? 0 : given[i] ? given[i] : 1;
}

static bool check_cluster(const struct gpu_launch *in, struct error *e)
{
    uint32_t cluster[3];
    cluster_of(in, cluster);
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
    uint64_t shared = shared_bytes(kernel, in->dynamic_shared_bytes);
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

/* Launches by the host and by kernels come here. */
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
    say_remedy(&g->options.machine, threads, shared_bytes(in->kernel, in->dynamic_shared_bytes), e);
    return false;
}

/* Of a thread: what the calls that are known take, and a stack for the others. */
static uint32_t local_bytes(const struct gpu *g, const struct exec_function *kernel)
{
    uint64_t bytes = kernel->stack_bytes;
    if (kernel->makes_calls || kernel->uses_alloca)
        bytes = capped_add(bytes, g->stack_limit_bytes);
    if (kernel->recursive && bytes < RECURSION_STACK_BYTES)
        bytes = RECURSION_STACK_BYTES;
    return bytes < MEMORY_WINDOW_BYTES ? ((uint32_t)bytes + 15) & ~15u : MEMORY_WINDOW_BYTES;
}

static bool prepare(struct residency *r, struct gpu *g, const struct gpu_launch *in, struct error *e)
{
    const struct machine *m = &g->options.machine;
    struct exec_launch *l = &r->launch;
    uint32_t threads = (uint32_t)capped_volume(in->block);
    *l = (struct exec_launch){.memory = g->memory,
                              .textures = &g->textures,
                              .image = in->kernel->image,
                              .kernel = in->kernel,
                              .dynamic_shared_bytes = in->dynamic_shared_bytes,
                              .grid_id = g->next_grid_id++,
                              .core_count = m->cores,
                              .warps_per_core = m->sm.warps,
                              .clock = functional_clock,
                              .heap = g->heap,
                              .queue = &r->queue,
                              .error = &r->error,
                              .printf_out = g->printf_out,
                              .user = r};
    memcpy(l->grid, in->grid, sizeof l->grid);
    memcpy(l->block, in->block, sizeof l->block);
    g->heap->limit_bytes = g->heap_limit_bytes;
    cluster_of(in, l->cluster);
    r->cluster_blocks = l->cluster[0] ? (uint32_t)capped_volume(l->cluster) : 1;
    l->local_bytes = local_bytes(g, in->kernel);
    l->register_stacks_bytes = &r->register_stacks_bytes;

    r->block_count = capped_volume(in->grid);
    uint32_t resident = gpu_occupancy(g, in->kernel, threads, in->dynamic_shared_bytes);
    uint64_t slots = (uint64_t)resident * m->cores;
    r->l1_bytes = carveout_l1_bytes(
        &m->sm, &(struct carveout_request){.block_threads = threads,
                                           .blocks = resident,
                                           .block_shared_bytes = shared_bytes(in->kernel, in->dynamic_shared_bytes),
                                           .percent = (int)in->carveout - 1});
    if (in->cooperative && r->block_count > slots)
        return error_set(e, ERROR_RESOURCES,
                         "kernel %s: a cooperative launch of %llu blocks, of which only %llu fit the machine together",
                         in->kernel->name, (unsigned long long)r->block_count, (unsigned long long)slots);
    if (slots < r->cluster_blocks)
        slots = r->cluster_blocks;
    slots -= slots % r->cluster_blocks;
    r->slot_count = (uint32_t)(slots < r->block_count || !r->functional ? slots : r->block_count);
    uint64_t warps =
        capped_multiply((threads + WARP_LANES - 1) / WARP_LANES, slots < r->block_count ? slots : r->block_count);
    if (capped_multiply(warps, in->kernel->frame_bytes) > MOST_REGISTERS_BYTES)
        return error_set(e, ERROR_RESOURCES,
                         "kernel %s: %llu warps at once with %u bytes of registers each; the most is %llu bytes",
                         in->kernel->name, (unsigned long long)warps, in->kernel->frame_bytes, MOST_REGISTERS_BYTES);
    r->blocks = calloc(r->slot_count, sizeof *r->blocks);
    r->busy = calloc(r->slot_count, sizeof *r->busy);
    if (r->cluster_blocks > 1 || r->launch.cluster[0])
        r->clusters = calloc(r->slot_count / r->cluster_blocks + 1, sizeof *r->clusters);
    uint32_t params_bytes = in->kernel->ptx->param_bytes ? in->kernel->ptx->param_bytes : 1;
    l->params = memory_alloc(g->memory, params_bytes, 256, MEMORY_PARAM, "kernel parameters");
    l->params_bytes = in->kernel->ptx->param_bytes;
    if (!r->blocks || !r->busy || !l->params)
        return error_set(e, ERROR_NO_MEMORY, "out of memory for the launch of %s", in->kernel->name);
    if (in->kernel->ptx->param_bytes)
        memcpy(memory_pointer(l->params), in->params, in->kernel->ptx->param_bytes);
    return true;
}

/* Only a cooperative launch has a workspace: kernels tell by its address whether they may synchronise the grid. */
static bool prepare_workspace(struct residency *r, struct gpu *g, const struct gpu_launch *in, struct error *e)
{
    if (!in->cooperative)
        return true;
    r->workspace = memory_alloc(g->memory, sizeof(struct grid_workspace), 256, MEMORY_GLOBAL, "the grid's workspace");
    if (!r->workspace)
        return error_set(e, ERROR_NO_MEMORY, "out of memory for the launch of %s", in->kernel->name);
    *(struct grid_workspace *)memory_pointer(r->workspace) =
        (struct grid_workspace){.size_bytes = sizeof(struct grid_workspace)};
    r->launch.envreg[1] = (uint32_t)(r->workspace >> 32);
    r->launch.envreg[2] = (uint32_t)r->workspace;
    return true;
}

static struct gpu_kernel record_of(const struct residency *r)
{
    struct gpu_kernel k = {.name = (char *)(uintptr_t)r->launch.kernel->name,
                           .launches = 1,
                           .number = r->number,
                           .partial = true,
                           .unreported = r->unreported,
                           .start_cycle = r->gpu->clock_cycles,
                           .counters.timed = !r->gpu->options.functional};
    memcpy(k.grid, r->launch.grid, sizeof k.grid);
    memcpy(k.block, r->launch.block, sizeof k.block);
    return k;
}

/* Records are in the order in which launches started; merged ones, in that of the ends of the first of each kernel. */
static void reserve_record(struct gpu *g, struct residency *r)
{
    r->number = g->next_launch++;
    if (g->options.filter)
        launch_filter_count(g->options.filter, r->launch.kernel->name, !r->functional);
    if (r->skipped && !r->estimated)
        return;
    r->unreported = g->unreported;
    r->has_record = g->options.records == GPU_RECORDS_OF_LAUNCHES;
    if (r->has_record) {
        struct gpu_kernel k = record_of(r);
        r->record = gpu_kernel_record(g, &k);
    }
    r->warps = g->options.warps ? warps_launch(g->options.warps, r->launch.kernel->name, r->unreported) : NULL;
}

static void fill_record(struct gpu_kernel *k, const struct residency *r)
{
    k->counters = r->counters;
    k->estimate = r->estimate;
    k->seconds = r->seconds;
    k->partial = !r->ok;
    k->overlapped = r->overlapped;
    k->pcs = r->pcs;
    k->tables = r->tables;
    k->series = r->series;
    if (!k->counters.timed)
        k->counters.exec = r->launch.counters;
    for (int i = 0; i <= WARP_LANES; i++) {
        k->warp_instructions += k->counters.exec.lanes[i];
        k->thread_instructions += k->counters.exec.lanes[i] * (uint64_t)i;
    }
}

static void record(struct gpu *g, const struct residency *r)
{
    if (r->skipped && !r->estimated)
        return;
    if (r->warps)
        warps_end(g->options.warps, r->warps);
    if (r->tables && !r->unreported)
        gpu_kernel_tables_add(g, r->launch.kernel->name, r->tables);
    if (r->has_record) {
        fill_record(&g->kernels[r->record], r);
        return;
    }
    struct gpu_kernel k = record_of(r);
    fill_record(&k, r);
    if (g->options.records == GPU_RECORDS_NONE)
        gpu_kernel_drop(&k);
    else
        gpu_kernel_record(g, &k);
}

/* Memory that a kernel asked to have copied or filled: all of it in one allocation, and what is written writable. */
static bool check_copy_end(const struct gpu *g, const char *what, uint64_t at, uint64_t bytes, bool is_store,
                           struct error *e)
{
    char where[320];
    const struct memory_range *range = memory_find(g->memory, at);
    bool fits = range && range->kind != MEMORY_ARRAY && (!is_store || access_kind_writable(range->kind));
    if (fits && is_inside_range(range->base, range->size_bytes, at, bytes))
        return true;
    memory_describe(g->memory, at, where, sizeof where);
    error_set(e, ERROR_ADDRESS, "a kernel asked for a %s of %llu bytes %s 0x%llx: %s", what, (unsigned long long)bytes,
              is_store ? "to" : "from", (unsigned long long)at, where);
    if (fits)
        error_note(e, "  only %llu bytes are left there", (unsigned long long)(range->base + range->size_bytes - at));
    else if (range)
        error_note(e, "  kernels may not %s it", is_store ? "write" : "read");
    return false;
}

static bool do_copy(struct gpu *g, const struct device_work *work, struct error *e)
{
    if (!work->bytes)
        return true;
    if (!check_copy_end(g, work->fills ? "fill" : "copy", work->to, work->bytes, true, e) ||
        (!work->fills && !check_copy_end(g, "copy", work->from, work->bytes, false, e)))
        return false;
    if (work->fills)
        memset(memory_pointer(work->to), work->value, work->bytes);
    else
        memmove(memory_pointer(work->to), memory_pointer(work->from), work->bytes);
    return true;
}

/* Launches by a kernel that has ended, each with all that it launches itself before the next. */
static bool run_queue(struct gpu *g, const struct exec_launch *parent, bool functional, struct device_queue *q,
                      struct error *e)
{
    bool ok = true;
    if (q->count && ++g->launch_depth > DEEPEST_LAUNCH)
        ok = error_set(e, ERROR_RESOURCES, "kernel %s: kernels launch one another %d deep", parent->kernel->name,
                       DEEPEST_LAUNCH);
    device_queue_sort(q);
    for (uint32_t i = 0; ok && i < q->count; i++) {
        const struct device_work *work = &q->list[i];
        struct exec_function *kernel = (struct exec_function *)work->kernel;
        if (!work->turn)
            continue;
        if (!kernel) {
            ok = do_copy(g, work, e);
            continue;
        }
        struct gpu_launch l = {.kernel = kernel,
                               .dynamic_shared_bytes = work->shared_bytes,
                               .params = memory_pointer(work->arguments),
                               .params_bytes = kernel->ptx->param_bytes,
                               .timed = functional ? GPU_UNTIMED : GPU_TIMED};
        memcpy(l.grid, work->grid, sizeof l.grid);
        memcpy(l.block, work->block, sizeof l.block);
        ok = exec_image_prepare((struct exec_image *)parent->image, kernel, e) && gpu_launch(g, &l, e);
    }
    if (!ok)
        error_note(e, "  asked for by kernel %s", parent->kernel->name);
    g->launch_depth -= q->count ? 1 : 0;
    device_queue_free(q, g->memory);
    return ok;
}

static struct residency **list_of(struct gpu *g, const struct residency *r)
{
    return r->functional ? &g->untimed : &g->started;
}

/* Of higher priority first, then in the order of their starts. */
static void enlist(struct gpu *g, struct residency *r)
{
    struct residency **at = list_of(g, r);
    while (*at && (*at)->priority <= r->priority)
        at = &(*at)->next;
    r->next = *at;
    *at = r;
}

static void delist(struct gpu *g, const struct residency *r)
{
    struct residency **at = list_of(g, r);
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
}

static void release(struct gpu *g, struct residency *r)
{
    if (r->blocks)
        leave_spare(r);
    if (!r->ok) /* its blocks stopped anywhere */
        gpu_spare_free(g);
    free(r->busy);
    free(r->clusters);
    if (r->launch.params)
        memory_release(g->memory, r->launch.params);
    if (r->workspace)
        memory_release(g->memory, r->workspace);
    free(r);
}

static bool is_timed(const struct gpu *g, const struct gpu_launch *in)
{
    if (g->options.functional || !g->options.filter || in->timed != GPU_AS_CHOSEN)
        return !g->options.functional && in->timed != GPU_UNTIMED;
    return launch_filter_times(g->options.filter, g->next_launch, in->kernel->name, g->unreported);
}

static bool prepare_timing(struct gpu *g, const struct gpu_launch *in, struct error *e)
{
    if (!g->timing || timing_is_broken(g->timing)) {
        g->timing = timing_replace(g->timing, &g->options, e);
        if (!g->timing)
            return false;
    }
    if (g->options.max_cycles && g->clock_cycles >= g->options.max_cycles)
        return error_set(e, ERROR_LIMIT,
                         "kernel %s was not started: earlier ones have used up the limit of %llu cycles (--max-cycles)",
                         in->kernel->name, (unsigned long long)g->options.max_cycles);
    return true;
}

static uint32_t length_of(const struct residency *list)
{
    uint32_t count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}

/* A trace holds one launch after another. */
bool gpu_may_start(const struct gpu *g)
{
    uint32_t count = length_of(g->started) + length_of(g->untimed);
    return count < (g->options.functional ? TOGETHER_MOST : TOGETHER_MOST_TIMED) && (!count || !g->options.trace);
}

struct residency *gpu_start(struct gpu *g, const struct gpu_launch *in, struct error *e)
{
    double start = launch_clock();
    if (!gpu_check_launch(g, in, e))
        return NULL;
    bool timed = is_timed(g, in), estimated = timed && g->options.sample && !sample_times(g, in);
    timed &= !estimated;
    if (timed && !prepare_timing(g, in, e))
        return NULL;
    struct residency *r = calloc(1, sizeof *r);
    if (!r)
        out_of_memory();
    r->gpu = g;
    r->functional = !timed;
    r->skipped = !timed && !g->options.functional;
    r->estimated = estimated;
    r->priority = in->priority;
    if (!prepare(r, g, in, e) || !prepare_workspace(r, g, in, e)) {
        release(g, r);
        return NULL;
    }
    if (!spare_fits(&g->spare, &r->launch))
        gpu_spare_free(g);
    reserve_record(g, r);
    enlist(g, r);
    g->stuck = false;
    if (r->functional)
        functional_start(r);
    else
        timing_start(r);
    r->seconds = launch_clock() - start;
    g->launch_seconds += r->seconds;
    return r;
}

/* The host's time is the same for all that ran. */
static void share_seconds(struct gpu *g, double seconds)
{
    uint32_t count = length_of(g->started) + length_of(g->untimed);
    struct residency *const lists[] = {g->started, g->untimed};
    for (int i = 0; i < 2; i++)
        for (struct residency *r = lists[i]; r; r = r->next) {
            r->seconds += seconds / count;
            r->run_seconds += seconds;
            r->overlapped |= count > 1;
        }
    g->launch_seconds += seconds;
}

static bool runs(const struct residency *list)
{
    for (; list; list = list->next)
        if (!list->ended)
            return true;
    return false;
}

/* Launches with time and without take turns: no time passes for the former while the latter run. */
static enum gpu_pause run_both(struct gpu *g, uint64_t budget)
{
    for (uint64_t done = 0; done < budget; done += MIXED_TURN) {
        enum gpu_pause untimed = functional_run(g, MIXED_TURN), timed;
        if (untimed == GPU_ENDED || (timed = timing_run(g, MIXED_TURN)) == GPU_ENDED)
            return GPU_ENDED;
        if (untimed == GPU_STUCK && timed == GPU_STUCK)
            return GPU_STUCK;
    }
    return GPU_TIRED;
}

static enum gpu_pause run_all(struct gpu *g, uint64_t budget)
{
    bool timed = runs(g->started), untimed = runs(g->untimed);
    /* As long as nobody has changed what they wait for, no time passes. */
    if (g->stuck && (timed || untimed) && (!timed || timing_is_stuck(g)) && (!untimed || functional_is_stuck(g)))
        return GPU_STUCK;
    return timed && untimed                   ? run_both(g, budget)
           : untimed || g->options.functional ? functional_run(g, budget)
                                              : timing_run(g, budget);
}

enum gpu_pause gpu_run(struct gpu *g, uint64_t budget)
{
    double start = g->run_since = launch_clock();
    fenv_t callers; /* handlers count on rounding to nearest, denormals kept */
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    enum gpu_pause pause = run_all(g, budget);
    g->stuck = pause == GPU_STUCK;
    fesetenv(&callers);
    share_seconds(g, launch_clock() - start);
    return pause;
}

bool gpu_has_ended(const struct residency *r) { return r->ended; }
bool gpu_has_failed(const struct residency *r) { return r->error.kind != ERROR_NONE; }

bool gpu_is_running(const struct gpu *g) { return runs(g->started) || runs(g->untimed); }

static struct residency *eldest(struct residency *list, struct residency *found)
{
    for (; list; list = list->next)
        if (!list->ended && (!found || list->launch.grid_id < found->launch.grid_id))
            found = list;
    return found;
}

void gpu_give_up(struct gpu *g, bool hangs)
{
    struct residency *r = eldest(g->untimed, eldest(g->started, NULL));
    if (!r)
        return;
    if (hangs && r->functional)
        exec_describe_hang(&r->launch, r->blocks, r->slot_count, &r->error);
    else if (hangs)
        timing_describe_hang(r);
    functional_give_up(g);
    timing_give_up(g);
}

bool gpu_finish(struct residency *r, struct error *e)
{
    struct gpu *g = r->gpu;
    bool ok = r->ok, functional = r->functional;
    struct device_queue queue = r->queue;
    struct exec_launch launch = r->launch;
    if (g->options.sample && (!functional || r->estimated))
        sample_note(r);
    record(g, r);
    if (!ok)
        *e = r->error;
    if (g->printf_out)
        fflush(g->printf_out);
    delist(g, r);
    release(g, r);
    if (!ok)
        device_queue_free(&queue, g->memory);
    return ok && run_queue(g, &launch, functional, &queue, e);
}

bool gpu_launch(struct gpu *g, const struct gpu_launch *in, struct error *e)
{
    struct residency *r = gpu_start(g, in, e);
    while (r && !r->ended)
        if (gpu_run(g, UINT64_MAX) == GPU_STUCK)
            gpu_give_up(g, true);
    return r && gpu_finish(r, e);
}
