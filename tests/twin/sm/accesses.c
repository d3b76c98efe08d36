/* From an executed memory instruction to its accesses, by the machine's rules of coalescing (mem/coalesce.h). */
#include "twin.h"

#include "mem/shared_banks.h"

enum { SEGMENT_BYTES = 128 }; /* the longest, where neither a line nor a key says another */

static void translate(struct sm *c, const struct exec_warp *w, uint64_t out[WARP_LANES])
{
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        out[lane] = w->access.mask >> lane & 1 ? memory_physical(c->launch.memory, w->addr[lane], &c->near) : 0;
}

/* Number of a warp's lane 0 among all threads that share local memory. */
static uint64_t first_thread(const struct sm *c, uint32_t slot)
{
    uint32_t block = c->warps[slot].block, index = slot - c->blocks[block].first_warp;
    uint64_t by_slot = (uint64_t)c->head.id * c->config->warps + slot,
             by_block = (c->head.id + (uint64_t)c->core_count * block) * c->warps_per_block + index;
    return (c->config->local_by_block ? by_block : by_slot) * WARP_LANES;
}

static uint32_t longest_segment(const struct sm *c, const struct instruction *f)
{
    if (f->route == TO_L1D)
        return c->config->l1d.line_bytes;
    if (f->space == SM_DEVICE && (f->inst->past_l1 || c->config->l1_skips_global))
        return c->config->past_l1_segment;
    return SEGMENT_BYTES;
}

/* Where its accesses go, and as what. */
static void set_route(const struct sm *c, struct instruction *f)
{
    bool local = f->space == SM_LOCAL;
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
        if (f->store)
            f->packet_kind = local ? PACKET_LOCAL_STORE : PACKET_STORE;
        else
            f->packet_kind = local ? PACKET_LOCAL_LOAD : PACKET_LOAD;
        bool skips = f->inst->past_l1 || (!local && c->config->l1_skips_global);
        f->route = c->l1d && !skips ? TO_L1D : PAST_CACHES;
    }
}

/* Of global memory, neither atomics nor prefetches; sectors where the L1D has such. */
static void count_sectors(struct sm *c, const struct instruction *f)
{
    if (f->space != SM_DEVICE || f->atomic || !(f->store || f->inst->load))
        return;
    *(f->store ? &c->counters.global_stores : &c->counters.global_loads) += 1;
    for (uint32_t i = 0; i < f->access_count && c->config->l1d.sector_bytes; i++)
        *(f->store ? &c->counters.store_sectors : &c->counters.load_sectors) +=
            (uint32_t)__builtin_popcount(f->accesses[i].sectors);
}

static void count(struct sm *c, const struct instruction *f)
{
    bool store = f->store && !f->atomic;
    count_sectors(c, f);
    *(store ? &c->counters.store_requests : &c->counters.load_requests) += 1;
    *(store ? &c->counters.store_accesses : &c->counters.load_accesses) += f->access_count;
    struct heddle_coalesced e = {.warp = f->slot,
                                 .pc = f->pc,
                                 .active = f->mask,
                                 .accesses = f->access_count,
                                 .store = f->store,
                                 .through_l1 = f->route == TO_L1D};
    TELL(c, coalesced, &e);
}

static void await_atomic(struct sm *c, uint32_t id, uint32_t answers)
{
    struct warp *w = &c->warps[c->inflight[id].slot];
    w->atomics += answers;
    w->atomic = id;
}

static void shared_memory(struct sm *c, uint32_t id, const struct exec_warp *w)
{
    struct instruction *f = &c->inflight[id];
    const struct sm_config *g = c->config;
    f->space = SM_SHARED;
    f->shared_cycles = shared_banks_cycles(w->addr, w->access.mask, w->access.bytes, g->shared_banks, g->shared_parts,
                                           g->shared_limited_broadcast);
    c->counters.shared_requests++;
    c->counters.shared_cycles += f->shared_cycles;
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

/* What a store writes of each access, for an L2 that asks for it. Local memory is written whole. */
static void set_written(const struct sm *c, struct instruction *f, const uint64_t address[WARP_LANES], uint32_t bytes)
{
    for (uint32_t i = 0; f->store && c->wires.tells_written && i < f->access_count; i++)
        f->accesses[i].mask = f->space == SM_LOCAL ? UINT32_MAX : coalesce_written(address, bytes, &f->accesses[i]);
}

static void local_memory(struct sm *c, uint32_t id, const struct exec_warp *w, uint32_t bytes)
{
    struct instruction *f = &c->inflight[id];
    f->space = SM_LOCAL;
    set_route(c, f);
    f->access_count = coalesce_local(w->addr, w->access.mask, bytes, first_thread(c, f->slot), c->thread_interleave,
                                     longest_segment(c, f), c->config->coalesce_parts, f->accesses);
}

static void textures(struct sm *c, uint32_t id, struct exec_warp *w)
{
    struct instruction *f = &c->inflight[id];
    uint64_t address[WARP_LANES];
    translate(c, w, address);
    f->space = SM_TEXTURE;
    set_route(c, f);
    f->access_count = coalesce_lines(address, w->access.mask, w->access.bytes, c->config->l1t.line_bytes, f->accesses);
}

static void device_memory(struct sm *c, uint32_t id, const struct exec_warp *w, uint32_t bytes)
{
    struct instruction *f = &c->inflight[id];
    const struct sm_config *g = c->config;
    uint64_t address[WARP_LANES];
    translate(c, w, address);
    f->space = SM_DEVICE;
    set_route(c, f);
    if (f->atomic)
        f->access_count =
            coalesce_atomic(address, w->access.mask, bytes, g->past_l1_segment, g->atomic_parts, f->accesses);
    else
        f->access_count =
            coalesce_global(address, w->access.mask, bytes, longest_segment(c, f), g->coalesce_parts, f->accesses);
    set_written(c, f, address, bytes);
}

static void expect_answers(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    if (f->store)
        return;
    f->remaining = f->access_count;
    if (!f->atomic)
        return;
    f->remaining = 0;
    for (uint32_t i = 0; i < f->access_count; i++)
        f->remaining += twin_answers(c, &(struct packet){.address = f->accesses[i].address,
                                                         .bytes = f->accesses[i].bytes,
                                                         .kind = PACKET_ATOMIC,
                                                         .sectors = f->accesses[i].sectors});
    await_atomic(c, id, f->remaining);
}

void twin_find_accesses(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    struct exec_warp *w = c->warps[f->slot].exec;
    const struct exec_access *x = &w->access;
    uint32_t bytes = f->inst->element_bytes ? f->inst->element_bytes : x->bytes; /* of a lane */
    f->mask = x->mask;
    f->store = x->is_store && !x->is_atomic;
    f->atomic = x->is_atomic;
    f->texture = x->is_texture;
    f->space = SM_NO_MEMORY;
    if (x->space == PTX_SPACE_NONE || !x->mask)
        return;
    bool reads_texture = f->texture && !f->store && !f->atomic;
    switch (x->space) {
    case PTX_SPACE_SHARED: shared_memory(c, id, w); return;
    case PTX_SPACE_CONST:
    case PTX_SPACE_PARAM: constants(c, id, w); return;
    case PTX_SPACE_LOCAL:
        local_memory(c, id, w, bytes);
        set_written(c, f, NULL, bytes);
        break;
    default:
        if (x->plane && c->config->texel_blocks && !f->store && !f->atomic)
            twin_texel_blocks(x->plane, c->config->l1t.line_bytes, x->mask, w->addr);
        if (reads_texture)
            textures(c, id, w);
        else
            device_memory(c, id, w, bytes);
    }
    count(c, f);
    expect_answers(c, id);
}

/* The twin never runs ahead. */
bool sm_may_run_ahead(const struct sm *c)
{
    (void)c;
    return false;
}

void sm_run_ahead(struct sm *c, uint64_t now, uint64_t end, struct answer_queue *answers)
{
    (void)c, (void)now, (void)end, (void)answers;
}

void sm_run_further(struct sm *c, uint64_t end, struct answer_queue *answers) { (void)c, (void)end, (void)answers; }

uint64_t sm_next_seen(const struct sm *c)
{
    (void)c;
    return 0;
}

void sm_catch_up(struct sm *c, uint64_t now) { (void)c, (void)now; }

uint64_t sm_now(const struct sm *c) { return c->now; }

/* At the end of the cycle: what touches device memory. Atomics only find their addresses; they take effect at their
 * channel (sm_perform_atomic). */
void sm_perform(struct sm *c)
{
    for (uint32_t i = 0; i < c->head.deferred; i++) {
        struct instruction *f = &c->inflight[c->deferred[i]];
        struct exec_warp *w = c->warps[f->slot].exec;
        w->access.space = PTX_SPACE_NONE;
        w->addresses_only = f->inst->atomic;
        exec_perform(w, f->exec_inst, f->mask);
        w->addresses_only = false;
        if (w->state == WARP_FAULT)
            twin_stop(&c->warps[f->slot]);
        if (!f->mask)
            w->access = (struct exec_access){.space = PTX_SPACE_NONE};
        twin_find_accesses(c, c->deferred[i]);
    }
    c->head.deferred = 0;
}

void sm_perform_atomic(struct sm *c, const struct packet *p)
{
    struct instruction *f = &c->inflight[p->token];
    struct exec_warp *w = c->warps[f->slot].exec;
    f->performed |= p->mask;
    if (!p->mask)
        return;
    exec_perform(w, f->exec_inst, p->mask);
    if (w->state == WARP_FAULT)
        twin_stop(&c->warps[f->slot]);
}

void sm_pending(const struct sm *c, const struct exec_warp *w, struct exec_pending *out)
{
    for (uint32_t slot = 0; slot < c->config->warps; slot++) {
        const struct warp *at = &c->warps[slot];
        const struct instruction *f = &c->inflight[at->atomic];
        bool done_at_issue = f->texture || f->space == SM_SHARED;
        if (at->exec == w && at->atomics && !done_at_issue)
            *out = (struct exec_pending){f->exec_inst, f->mask & ~f->performed};
    }
}
