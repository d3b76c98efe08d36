/* From an executed memory instruction to its accesses, by the machine's rules of coalescing (mem/coalesce.h). */
#include "model/model.h"

#include "mem/shared_banks.h"
#include "ptx/lowering.h"

enum { SEGMENT_BYTES = 128 }; /* the longest, where neither a line nor a key says another */

static void translate(struct sm *c, const struct exec_warp *w, uint64_t out[WARP_LANES])
{
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        out[lane] = 0;
        if (w->access.mask >> lane & 1)
            out[lane] = memory_physical(c->launch.memory, w->addr[lane], &c->near);
    }
}

/* A vector counts as its first element, where the machine says so. */
static uint32_t lane_bytes(const struct instruction *f, const struct exec_warp *w)
{
    return f->inst->element_bytes ? f->inst->element_bytes : w->access.bytes;
}

/* Number of a warp's lane 0 among all threads that share local memory. */
static uint64_t first_thread(const struct sm *c, uint32_t slot)
{
    uint32_t block = c->warps[slot].block, index = slot - c->blocks[block].first_warp;
    uint64_t warp = (uint64_t)c->head.id * c->config->warps + slot;
    if (c->config->local_by_block)
        warp = (c->head.id + (uint64_t)c->core_count * block) * c->warps_per_block + index;
    return warp * WARP_LANES;
}

static uint32_t longest_segment(const struct sm *c, const struct instruction *f)
{
    if (f->route == TO_L1D)
        return c->config->l1d.line_bytes;
    if (f->space == SM_DEVICE && (f->inst->past_l1 || c->config->l1_skips_global))
        return c->config->past_l1_segment;
    return SEGMENT_BYTES;
}

/* Where accesses go */

static void set_data_route(const struct sm *c, struct instruction *f)
{
    bool local = f->space == SM_LOCAL, skips = f->inst->past_l1 || (!local && c->config->l1_skips_global);
    if (f->store)
        f->packet_kind = local ? PACKET_LOCAL_STORE : PACKET_STORE;
    else
        f->packet_kind = local ? PACKET_LOCAL_LOAD : PACKET_LOAD;
    f->route = c->l1d && !skips ? TO_L1D : PAST_CACHES;
}

static void set_route(const struct sm *c, struct instruction *f)
{
    if (f->atomic) {
        f->packet_kind = PACKET_ATOMIC;
        f->route = PAST_CACHES;
    } else if (f->space == SM_CONST) {
        f->packet_kind = PACKET_CONST;
        f->route = TO_CONSTANTS;
    } else if (f->space == SM_TEXTURE) {
        f->packet_kind = PACKET_TEXTURE;
        f->route = TO_TEXTURES;
    } else {
        set_data_route(c, f);
    }
}

/* Counting */

uint8_t model_sectors(const struct sm *c, const struct instruction *f, const struct access *a)
{
    bool exact = c->config->exact_sectors && (f->route == TO_L1D || f->atomic);
    return exact ? a->touched : a->sectors;
}

/* Global memory is counted without atomics and prefetches; sectors where the L1D has them. */
static void count_sectors(struct sm *c, const struct instruction *f)
{
    struct sm_counters *n = &c->counters;
    uint64_t sectors = 0;
    if (f->space != SM_DEVICE || f->atomic || !(f->store || f->inst->load))
        return;
    for (uint32_t i = 0; i < f->access_count && c->config->l1d.sector_bytes; i++)
        sectors += packet_sectors(c->config->exact_sectors ? f->accesses[i].touched : f->accesses[i].sectors);
    if (f->store) {
        n->global_stores++;
        n->store_sectors += sectors;
    } else {
        n->global_loads++;
        n->load_sectors += sectors;
    }
}

static void count(struct sm *c, const struct instruction *f)
{
    count_sectors(c, f);
    if (f->store) {
        c->counters.store_requests++;
        c->counters.store_accesses += f->access_count;
    } else {
        c->counters.load_requests++;
        c->counters.load_accesses += f->access_count;
    }
    struct heddle_coalesced e = {.warp = f->slot,
                                 .pc = f->pc,
                                 .active = f->mask,
                                 .accesses = f->access_count,
                                 .store = f->store,
                                 .through_l1 = f->route == TO_L1D};
    TELL(c, coalesced, &e);
}

uint32_t sm_least_accesses(const struct sm *c, uint32_t warp, uint32_t lanes)
{
    uint32_t line = c->config->l1d.line_bytes, sum = 0, width = WARP_LANES / c->config->coalesce_parts;
    for (uint32_t first = 0; first < WARP_LANES; first += width) {
        uint32_t bytes = 0;
        for (uint32_t lane = first; lane < first + width; lane++)
            bytes += lanes >> lane & 1 ? c->warps[warp].exec->access.bytes : 0;
        sum += bytes / line + (bytes % line != 0);
    }
    return sum;
}

/* Atomics */

static void await_atomic(struct sm *c, uint32_t id, uint32_t answers)
{
    struct warp *w = &c->warps[c->inflight[id].slot];
    w->atomics += answers;
    w->atomic = id;
}

/* An atomic that one lane does for its warp: all lanes want one address. */
static bool is_done_by_one_lane(const struct sm *c, const struct instruction *f, const struct exec_warp *w,
                                const uint64_t address[WARP_LANES])
{
    uint8_t adds_up = f->inst->adds_up;
    if (!f->atomic || !c->config->uniform_atomics_once || !adds_up)
        return false;
    if (adds_up == PTX_ADDS_BEFORE && w->access.mask != UINT32_MAX)
        return false;
    return coalesce_are_same(address, w->access.mask);
}

static void atomic_accesses(struct sm *c, struct instruction *f, const struct exec_warp *w,
                            const uint64_t address[WARP_LANES])
{
    const struct sm_config *g = c->config;
    uint32_t mask = w->access.mask, bytes = lane_bytes(f, w), segment = g->past_l1_segment;
    if (is_done_by_one_lane(c, f, w, address)) {
        uint64_t first = address[__builtin_ctz(mask)];
        f->access_count = coalesce_uniform_atomic(first, mask, bytes, segment, f->accesses);
        return;
    }
    f->access_count = coalesce_atomic(address, mask, bytes, segment, g->atomic_parts, f->accesses);
    if (g->exact_sectors)
        coalesce_from_first_byte(address, f->accesses, f->access_count);
}

/* Each piece into which the L2 cuts an access is answered. */
static uint32_t atomic_answers(const struct sm *c, const struct instruction *f)
{
    uint32_t answers = 0;
    for (uint32_t i = 0; i < f->access_count; i++) {
        const struct access *a = &f->accesses[i];
        struct packet p = {
            .address = a->address, .bytes = a->bytes, .kind = PACKET_ATOMIC, .sectors = model_sectors(c, f, a)};
        answers += model_answers(c, &p);
    }
    return answers;
}

/* Banks */

static uint32_t bank_cycles(const struct sm *c, const struct exec_warp *w)
{
    const struct sm_config *g = c->config;
    return shared_banks_cycles(w->addr, w->access.mask, w->access.bytes, g->shared_banks, g->shared_parts,
                               g->shared_limited_broadcast);
}

/* Cycles in which a load has the banks of the L1 beyond those in which it looks lines up. */
static uint32_t l1_bank_cycles(const struct sm *c, const struct instruction *f, const struct exec_warp *w)
{
    uint32_t lines_per_cycle = c->config->l1d.banks ? c->config->l1d.banks : 1;
    uint32_t lines = (f->access_count + lines_per_cycle - 1) / lines_per_cycle;
    if (!c->config->l1d_has_banks || f->store || f->atomic || f->route != TO_L1D)
        return 1;
    uint32_t banks = bank_cycles(c, w);
    return banks > lines ? banks - lines + 1 : 1;
}

static uint32_t shared_cycles(const struct sm *c, const struct instruction *f, const struct exec_warp *w)
{
    if (f->adds_up)
        return f->inst->shared_passes;
    if (f->atomic && c->config->shared_atomics_serial)
        return shared_banks_serial(w->addr, w->access.mask, c->config->shared_banks);
    uint32_t cycles = bank_cycles(c, w);
    return cycles < f->inst->shared_passes ? f->inst->shared_passes : cycles;
}

/* Spaces of memory */

static void shared_memory(struct sm *c, uint32_t id, const struct exec_warp *w)
{
    struct instruction *f = &c->inflight[id];
    f->space = SM_SHARED;
    f->adds_up = is_done_by_one_lane(c, f, w, w->addr);
    f->bank_cycles = shared_cycles(c, f, w);
    f->more_latency = (f->bank_cycles - 1) * c->config->shared_conflict_latency + f->inst->latency - 1u;
    if (f->adds_up)
        f->more_latency += f->inst->adding;
    c->counters.shared_requests++;
    c->counters.shared_cycles += f->bank_cycles;
    if (f->atomic)
        await_atomic(c, id, 1);
}

static void constants(struct sm *c, uint32_t id, const struct exec_warp *w)
{
    struct instruction *f = &c->inflight[id];
    uint64_t address[WARP_LANES];
    translate(c, w, address);
    f->space = SM_CONST;
    set_route(c, f);
    f->access_count = coalesce_lines(address, w->access.mask, w->access.bytes, c->config->l1c.line_bytes, f->accesses);
    f->remaining = f->access_count;
}

/* Caches that ask for it are told which bytes an access writes or, of an L1D with partial writes, reads. Local memory
 * lies word by word, and is written whole. */
static void set_touched_bytes(const struct sm *c, struct instruction *f, const uint64_t address[WARP_LANES],
                              uint32_t bytes)
{
    bool reads_l1 = !f->store && !f->atomic && f->space == SM_DEVICE && f->route == TO_L1D;
    bool told = f->store ? c->wires.tells_written : reads_l1 && c->config->l1d.partial_writes;
    for (uint32_t i = 0; told && i < f->access_count; i++) {
        struct access *a = &f->accesses[i];
        a->mask = f->space == SM_LOCAL ? UINT32_MAX : coalesce_written(address, bytes, a);
    }
}

static void local_memory(struct sm *c, uint32_t id, const struct exec_warp *w)
{
    struct instruction *f = &c->inflight[id];
    f->space = SM_LOCAL;
    set_route(c, f);
    f->access_count =
        coalesce_local(w->addr, w->access.mask, lane_bytes(f, w), first_thread(c, f->slot), c->thread_interleave,
                       longest_segment(c, f), c->config->coalesce_parts, f->accesses);
    set_touched_bytes(c, f, NULL, 0);
}

static void textures(struct sm *c, uint32_t id, const struct exec_warp *w)
{
    struct instruction *f = &c->inflight[id];
    uint64_t address[WARP_LANES];
    translate(c, w, address);
    f->space = SM_TEXTURE;
    set_route(c, f);
    f->access_count = coalesce_lines(address, w->access.mask, w->access.bytes, c->config->l1t.line_bytes, f->accesses);
}

static void device_memory(struct sm *c, uint32_t id, const struct exec_warp *w)
{
    struct instruction *f = &c->inflight[id];
    uint64_t address[WARP_LANES];
    translate(c, w, address);
    f->space = SM_DEVICE;
    set_route(c, f);
    if (f->atomic)
        atomic_accesses(c, f, w, address);
    else
        f->access_count = coalesce_global(address, w->access.mask, lane_bytes(f, w), longest_segment(c, f),
                                          c->config->coalesce_parts, f->accesses);
    f->bank_cycles = l1_bank_cycles(c, f, w);
    set_touched_bytes(c, f, address, lane_bytes(f, w));
}

static void expect_answers(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    if (f->atomic) {
        f->remaining = atomic_answers(c, f);
        await_atomic(c, id, f->remaining);
    } else if (!f->store) {
        f->remaining = f->access_count;
    }
}

void model_find_accesses(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    struct exec_warp *w = c->warps[f->slot].exec;
    const struct exec_access *x = &w->access;
    f->mask = x->mask;
    f->store = x->is_store && !x->is_atomic;
    f->atomic = x->is_atomic;
    f->texture = x->is_texture;
    f->space = SM_NO_MEMORY;
    f->bank_cycles = 1;
    if (x->space == PTX_SPACE_NONE || !x->mask)
        return;
    bool reads = !f->store && !f->atomic;
    switch (x->space) {
    case PTX_SPACE_SHARED: shared_memory(c, id, w); return;
    case PTX_SPACE_CONST:
    case PTX_SPACE_PARAM: constants(c, id, w); return;
    case PTX_SPACE_LOCAL: local_memory(c, id, w); break;
    default:
        if (reads && x->plane && c->config->texel_blocks)
            model_texel_blocks(x->plane, c->config->l1t.line_bytes, x->mask, w->addr);
        if (reads && f->texture)
            textures(c, id, w);
        else
            device_memory(c, id, w);
    }
    count(c, f);
    expect_answers(c, id);
}
