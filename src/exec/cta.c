/* A block: its shared memory, its warps, their registers, local memory and special registers. */
#include "exec/lanes.h"
#include "exec/race.h"
#include "exec/strands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SPECIAL_BYTES = 4 * WARP_LANES, FIRST_STACK_ENTRIES = 16 };

/* The lanes of a special register, or NULL where the image does not read it. */
static uint32_t *special_lanes(struct exec_warp *w, enum ptx_special s)
{
    uint32_t slot = w->launch->image->special_slot[s];
    return slot ? (uint32_t *)(w->bank[BANK_SPECIALS] + (slot - 1) * SPECIAL_BYTES) : NULL;
}

static void set_special(struct exec_warp *w, enum ptx_special s, uint32_t lane, uint32_t value)
{
    uint32_t *lanes = special_lanes(w, s);
    if (lanes)
        lanes[lane] = value;
}

static void set_uniform(struct exec_warp *w, enum ptx_special s, uint32_t value)
{
    uint32_t *lanes = special_lanes(w, s);
    for (uint32_t lane = 0; lanes && lane < WARP_LANES; lane++)
        lanes[lane] = value;
}

static void fill_thread_specials(struct exec_warp *w)
{
    const uint32_t *block = w->launch->block;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        uint32_t linear = w->index * WARP_LANES + lane;
        set_special(w, PTX_SREG_TID_X, lane, linear % block[0]);
        set_special(w, PTX_SREG_TID_Y, lane, linear / block[0] % block[1]);
        set_special(w, PTX_SREG_TID_Z, lane, linear / (block[0] * block[1]));
        set_special(w, PTX_SREG_LANEID, lane, lane);
        set_special(w, PTX_SREG_LANEMASK_EQ, lane, 1u << lane);
        set_special(w, PTX_SREG_LANEMASK_LT, lane, (1u << lane) - 1);
        set_special(w, PTX_SREG_LANEMASK_LE, lane, (2u << lane) - 1);
        set_special(w, PTX_SREG_LANEMASK_GE, lane, ~((1u << lane) - 1));
        set_special(w, PTX_SREG_LANEMASK_GT, lane, ~((2u << lane) - 1));
    }
    set_uniform(w, PTX_SREG_WARPID, w->index);
}

/* What depends on which block this is. */
static void fill_block_specials(struct exec_warp *w)
{
    const struct exec_launch *l = w->launch;
    const struct exec_cta *cta = w->cta;
    bool clustered = l->cluster[0] != 0;
    uint32_t rank = 0;
    for (int i = 2; i >= 0; i--) {
        uint32_t size = clustered ? l->cluster[i] : 1;
        uint32_t within = cta->id[i] % size;
        set_uniform(w, (enum ptx_special)(PTX_SREG_CTAID_X + i), cta->id[i]);
        set_uniform(w, (enum ptx_special)(PTX_SREG_CLUSTERID_X + i), cta->id[i] / size);
        rank = rank * size + within;
        if (clustered)
            set_uniform(w, (enum ptx_special)(PTX_SREG_CLUSTER_CTAID_X + i), within);
    }
    if (clustered)
        set_uniform(w, PTX_SREG_CLUSTER_CTARANK, rank);
}

/* The same in all blocks of a launch. */
static void fill_launch_specials(struct exec_warp *w)
{
    const struct exec_launch *l = w->launch;
    const struct exec_cta *cta = w->cta;
    bool clustered = l->cluster[0] != 0;
    uint32_t blocks = 1;
    for (int i = 2; i >= 0; i--) {
        uint32_t size = clustered ? l->cluster[i] : 1;
        set_uniform(w, (enum ptx_special)(PTX_SREG_NTID_X + i), l->block[i]);
        set_uniform(w, (enum ptx_special)(PTX_SREG_NCTAID_X + i), l->grid[i]);
        set_uniform(w, (enum ptx_special)(PTX_SREG_NCLUSTERID_X + i), l->grid[i] / size);
        set_uniform(w, (enum ptx_special)(PTX_SREG_CLUSTER_NCTAID_X + i), size);
        blocks *= size;
    }
    set_uniform(w, PTX_SREG_CLUSTER_NCTARANK, blocks);
    set_uniform(w, PTX_SREG_IS_EXPLICIT_CLUSTER, clustered ? FULL_MASK : 0);
    set_uniform(w, PTX_SREG_NWARPID, l->warps_per_core);
    set_uniform(w, PTX_SREG_SMID, cta->sm);
    set_uniform(w, PTX_SREG_NSMID, l->core_count);
    set_uniform(w, PTX_SREG_DYNAMIC_SMEM_SIZE, l->dynamic_shared_bytes);
    set_uniform(w, PTX_SREG_TOTAL_SMEM_SIZE, cta->shared_bytes);
    set_uniform(w, PTX_SREG_AGGR_SMEM_SIZE, cta->shared_bytes);
    for (int i = 0; i < 32; i++)
        set_uniform(w, (enum ptx_special)(PTX_SREG_ENVREG0 + i), l->envreg[i]);
}

static uint64_t page_bytes(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

/* The gaps between the lanes' local memory: closed, or opened again before the addresses go back to the host. */
static void mark_gaps(const struct exec_cta *cta, void (*mark)(uint64_t at, uint64_t bytes))
{
    for (uint64_t i = 0; GUARD_GAP_BYTES && cta->local && i < (uint64_t)cta->warp_count * WARP_LANES; i++)
        mark((uintptr_t)cta->local + i * cta->local_stride + cta->local_bytes, cta->local_stride - cta->local_bytes);
}

/* Local memory is mapped, so that what is not used costs nothing. The page before it and the one that begins at its end
 * belong to nobody. */
static bool map_local(struct exec_cta *cta)
{
    const struct exec_launch *l = cta->launch;
    cta->local_stride = exec_local_stride(l);
    cta->local_bytes = l->local_bytes;
    uint64_t page = page_bytes(), bytes = (uint64_t)cta->warp_count * WARP_LANES * cta->local_stride,
             pages = (bytes + page - 1) & ~(page - 1);
    if (!bytes)
        return true;
    uint8_t *map = mmap(NULL, pages + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    cta->local_map = map;
    cta->local_map_bytes = pages + 2 * page;
    cta->local = map + page + (pages - bytes);
    mark_gaps(cta, guard_close);
    return mprotect(map + page, pages, PROT_READ | PROT_WRITE) == 0;
}

static void unmap_local(struct exec_cta *cta)
{
    mark_gaps(cta, guard_open);
    if (cta->local_map)
        munmap(cta->local_map, cta->local_map_bytes);
}

/* Registers and special registers of all warps are one piece of memory each. */
static bool allocate(struct exec_cta *cta, struct error *e)
{
    const struct exec_launch *l = cta->launch;
    uint64_t frame = ((l->kernel->frame_bytes + 255) & ~255ull), step = frame + (GUARD_GAP_BYTES ? 256 : 0);
    cta->shared = calloc(1, cta->shared_bytes + 16u);
    cta->warps = calloc(cta->warp_count, sizeof *cta->warps);
    uint64_t special_bytes = ((uint64_t)cta->warp_count * l->image->special_count * SPECIAL_BYTES + 511) & ~255ull;
    cta->specials = aligned_alloc(256, special_bytes);
    cta->registers = aligned_alloc(256, step * cta->warp_count);
    cta->stacks = malloc(cta->warp_count * FIRST_STACK_ENTRIES * sizeof *cta->stacks);
    if (!cta->shared || !cta->warps || !cta->specials || !cta->registers || !cta->stacks || !map_local(cta))
        return error_set(e, ERROR_NO_MEMORY, "out of host memory for a block of %u warps", cta->warp_count);
    guard_close((uintptr_t)cta->shared + cta->shared_bytes, 16);
    memset(cta->specials, 0, special_bytes);
    memset(cta->registers, 0, step * cta->warp_count);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        struct exec_warp *w = &cta->warps[i];
        w->registers = cta->registers + step * i;
        w->registers_bytes = frame;
        w->at.stack = cta->stacks + i * FIRST_STACK_ENTRIES;
        w->at.stack_capacity = FIRST_STACK_ENTRIES;
        guard_close((uintptr_t)w->registers + frame, step - frame);
    }
    return true;
}

static void prepare_warp(struct exec_cta *cta, uint32_t i)
{
    struct exec_launch *l = cta->launch;
    struct exec_warp *w = &cta->warps[i];
    uint32_t threads = l->block[0] * l->block[1] * l->block[2], left = threads - i * WARP_LANES;
    w->cta = cta;
    w->launch = l;
    w->index = i;
    w->lanes = left >= WARP_LANES ? FULL_MASK : (1u << left) - 1;
    w->bank[BANK_SPECIALS] = cta->specials + (uint64_t)i * l->image->special_count * SPECIAL_BYTES;
    w->local = cta->local ? cta->local + (uint64_t)i * WARP_LANES * exec_local_stride(l) : NULL;
    fill_thread_specials(w);
    fill_launch_specials(w);
}

static void start_warp(struct exec_warp *w)
{
    const struct exec_function *kernel = w->launch->kernel;
    w->at.function = kernel;
    w->code = kernel->code;
    w->at.registers_offset = 0;
    w->bank[BANK_FRAME] = w->registers;
    w->bank[BANK_CONSTANTS] = kernel->constants;
    w->at.local_base = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        w->stack_top[lane] = kernel->local_bytes;
    strands_drop(w);
    w->at.ran = 0;
    w->at.look_from = w->at.look_after = 0;
    w->turn_end = EXEC_TURN;
    w->at.stack_depth = w->at.frame_depth = 0;
    w->exited = w->carry = 0;
    w->executed = 0;
    w->cluster_arrived = false;
    free(w->async);
    w->async = NULL;
    fill_block_specials(w);
    call_prepare_frame(w);
    w->state = WARP_READY;
    simt_start(w, w->lanes);
}

void exec_cta_start(struct exec_cta *cta, const uint32_t id[3])
{
    const struct exec_launch *l = cta->launch;
    memcpy(cta->id, id, sizeof cta->id);
    cta->index = id[0] + (uint64_t)l->grid[0] * (id[1] + (uint64_t)l->grid[1] * id[2]);
    cta->warps_done = 0;
    for (uint32_t b = 0; b < CTA_BARRIERS; b++)
        cta->barriers[b] = (struct exec_barrier){.all_true = true};
    for (uint32_t i = 0; i < cta->warp_count; i++)
        start_warp(&cta->warps[i]);
}

struct exec_cta *exec_cta_create(struct exec_launch *l, uint32_t core, struct error *e)
{
    struct exec_cta *cta = calloc(1, sizeof *cta);
    if (!cta) {
        error_set(e, ERROR_NO_MEMORY, "out of host memory for a block");
        return NULL;
    }
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    cta->launch = l;
    cta->warp_count = (threads + WARP_LANES - 1) / WARP_LANES;
    cta->shared_bytes = l->kernel->dynamic_shared_offset + l->dynamic_shared_bytes;
    if (!l->dynamic_shared_bytes)
        cta->shared_bytes = l->kernel->shared_bytes;
    if (!allocate(cta, e)) {
        exec_cta_destroy(cta);
        return NULL;
    }
    exec_cta_adopt(cta, l, core);
    return cta;
}

void exec_cta_adopt(struct exec_cta *cta, struct exec_launch *l, uint32_t core)
{
    cta->launch = l;
    cta->sm = core;
    cta->cluster = NULL;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        const struct exec_warp *w = &cta->warps[i];
        prepare_warp(cta, i);
        if (w->owns_registers && l->register_stacks_bytes)
            __atomic_add_fetch(l->register_stacks_bytes, w->registers_bytes, __ATOMIC_RELAXED);
    }
}

void exec_cta_destroy(struct exec_cta *cta)
{
    if (!cta)
        return;
    for (uint32_t i = 0; cta->warps && i < cta->warp_count; i++) {
        struct exec_warp *w = &cta->warps[i];
        strands_drop(w);
        if (w->owns_registers)
            free(w->registers);
        if (w->at.owns_stack)
            free(w->at.stack);
        free(w->at.frames);
        free(w->async);
    }
    unmap_local(cta);
    race_block_destroy(cta->race);
    free(cta->registers);
    free(cta->stacks);
    free(cta->specials);
    free(cta->shared);
    free(cta->warps);
    free(cta);
}
