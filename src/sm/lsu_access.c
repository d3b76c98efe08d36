/* Performs loads, stores and atomics of device memory (sm_perform), and makes accesses of the addresses that lanes
 * touched, coalesced by the machine's rules (sm_coalesce). */
#include "mem/shared_banks.h"
#include "ptx/lowering.h"
#include "sm/core.h"
#include "sm/regroup.h"

#include <string.h>

/* The longest segment of the coalescing rule itself, where neither a line nor a key sets another length. */
enum { SEGMENT_BYTES = 128 };

/* The addresses of lanes mostly lie in one range of memory: the first lane's range is looked up (it is `near` then),
 * and tried for all. */
static void translate(struct sm *c, const struct exec_warp *w, uint32_t mask, uint64_t out[32])
{
    struct memory_range *near = &c->lsu.near;
    memory_physical(c->launch.memory, w->addr[__builtin_ctz(mask)], near);
    uint64_t base = near->base, size = near->size_bytes, shift = near->physical - base, outside = 0;
    if (mask == UINT32_MAX) {
        for (uint32_t i = 0; i < 32; i++) {
            outside |= (uint64_t)(w->addr[i] - base >= size);
            out[i] = w->addr[i] + shift;
        }
    } else {
        for (uint32_t left = mask; left; left &= left - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(left);
            outside |= (uint64_t)(w->addr[i] - base >= size);
            out[i] = w->addr[i] + shift;
        }
    }
    if (likely(!outside))
        return;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        out[i] = memory_physical(c->launch.memory, w->addr[i], near);
    }
}

uint64_t sm_first_thread(const struct sm *c, uint32_t slot)
{
    const struct sm_block *b = &c->blocks.list[c->slots[slot].block];
    uint64_t number = (uint64_t)c->head.id * c->config->warps + slot;
    if (c->config->local_by_block)
        number = (c->head.id + (uint64_t)c->core_count * c->slots[slot].block) * c->blocks.warps_each +
                 (slot - b->first_warp);
    return number * 32;
}

/* The bytes of a lane, as the coalescer sees them. */
static inline uint32_t lane_bytes(const struct sm_inflight *f, const struct exec_access *x)
{
    if (f->inst->element_bytes)
        return f->inst->element_bytes;
    return x->bytes;
}

/* The longest segment of an access; one of the L1D is a line. */
static uint32_t longest_segment(const struct sm *c, const struct sm_inflight *f)
{
    const struct sm_config *g = c->config;
    if (f->route == ROUTE_L1D)
        return g->l1d.line_bytes;
    if (f->space == SM_DEVICE && (f->inst->past_l1 || g->l1_skips_global))
        return g->past_l1_segment;
    return SEGMENT_BYTES;
}

static uint32_t local_accesses(struct sm *c, const struct sm_inflight *f, const struct exec_warp *w,
                               struct sm_accesses *a)
{
    uint32_t most = longest_segment(c, f);
    if (c->mixes)
        return regroup_local_accesses(c, (uint16_t)(f - c->flights.list), most, a->list);
    return coalesce_local(w->addr, w->access.mask, lane_bytes(f, &w->access), sm_first_thread(c, f->slot),
                          c->lsu.thread_interleave, most, c->config->coalesce_parts, a->list);
}

/* Does one lane do the atomic for all? */
static bool works_as_one(const struct sm *c, const struct sm_inflight *f, const struct exec_access *x,
                         const uint64_t address[32])
{
    return f->atomic && c->config->uniform_atomics_once && f->inst->adds_up &&
           (f->inst->adds_up != PTX_ADDS_BEFORE || x->mask == UINT32_MAX) && coalesce_are_same(address, x->mask);
}

static uint32_t device_accesses(const struct sm *c, const struct sm_inflight *f, const uint64_t address[32],
                                const struct exec_access *x, struct sm_accesses *a)
{
    const struct sm_config *g = c->config;
    uint32_t bytes = lane_bytes(f, x), count;
    if (works_as_one(c, f, x, address))
        return coalesce_uniform_atomic(address[__builtin_ctz(x->mask)], x->mask, bytes, g->past_l1_segment, a->list);
    if (f->atomic) {
        count = coalesce_atomic(address, x->mask, bytes, g->past_l1_segment, g->atomic_parts, a->list);
        if (g->exact_sectors)
            coalesce_from_first_byte(address, a->list, count);
        return count;
    }
    return coalesce_global(address, x->mask, bytes, longest_segment(c, f), g->coalesce_parts, a->list);
}

/* Counts the sectors of global memory that loads and cp.async read and that stores write. */
static void count_sectors(struct sm *c, const struct sm_inflight *f, const struct sm_accesses *a)
{
    struct sm_counters *n = &c->account.counters;
    uint64_t sectors = 0;
    if (f->space != SM_DEVICE || f->atomic || (!f->store && !f->inst->load))
        return;
    for (uint32_t i = 0; c->lsu.counts_sectors && i < a->count; i++)
        sectors += packet_sectors(c->config->exact_sectors ? a->list[i].touched : a->list[i].sectors);
    if (f->store) {
        n->global_stores++;
        n->store_sectors += sectors;
    } else {
        n->global_loads++;
        n->load_sectors += sectors;
    }
}

static void count_requests(struct sm *c, const struct sm_inflight *f, uint32_t accesses)
{
    if (f->store && !f->atomic) {
        c->account.counters.store_requests++;
        c->account.counters.store_accesses += accesses;
    } else {
        c->account.counters.load_requests++;
        c->account.counters.load_accesses += accesses;
    }
    if (SM_HEARD(c, coalesced))
        SM_TELL(c, coalesced,
                &(struct heddle_coalesced){.warp = f->slot,
                                           .pc = f->pc,
                                           .active = f->mask,
                                           .accesses = accesses,
                                           .store = f->store,
                                           .through_l1 = f->route == ROUTE_L1D});
    if (!f->store && c->observer && c->observer->load_begin)
        c->observer->load_begin(c->observer->context, c->head.id, f->slot, c->now, f->pc, accesses);
}

uint32_t sm_least_accesses(const struct sm *c, uint32_t warp, uint32_t lanes)
{
    uint32_t line = c->config->l1d.line_bytes, bytes = c->slots[warp].exec->access.bytes, sum = 0;
    uint32_t parts[2] = {lanes, 0};
    if (c->config->coalesce_parts == 2) {
        parts[0] = lanes & 0xffff;
        parts[1] = lanes >> 16;
    }
    for (int i = 0; i < 2; i++)
        sum += ((uint32_t)__builtin_popcount(parts[i]) * bytes + line - 1) / line;
    return sum;
}

static enum packet_kind transfer_kind(const struct sm_inflight *f)
{
    if (f->space == SM_LOCAL)
        return f->store ? PACKET_LOCAL_STORE : PACKET_LOCAL_LOAD;
    return f->store ? PACKET_STORE : PACKET_LOAD;
}

static void set_route(const struct sm *c, struct sm_inflight *f)
{
    if (f->atomic) {
        f->packet_kind = PACKET_ATOMIC;
        f->route = ROUTE_PAST;
    } else if (f->space == SM_CONST) {
        f->packet_kind = PACKET_CONST;
        f->route = ROUTE_CONSTANTS;
    } else if (f->space == SM_TEXTURE) {
        f->packet_kind = PACKET_TEXTURE;
        f->route = ROUTE_TEXTURES;
    } else {
        bool skips = f->inst->past_l1 || (f->space != SM_LOCAL && c->config->l1_skips_global);
        f->packet_kind = (uint8_t)transfer_kind(f);
        f->route = c->lsu.l1d && !skips ? ROUTE_L1D : ROUTE_PAST;
    }
}

static void await_atomic(struct sm *c, const struct sm_inflight *f, uint32_t answers)
{
    struct sm_slot *s = &c->slots[f->slot];
    s->atomics += answers;
    if (c->config->atomics_at_once)
        return;
    s->atomic = (uint16_t)(f - c->flights.list);
    warp_block(c, &c->issue.atomic_wait, f->slot);
}

static void set_atomic(struct sm *c, struct sm_inflight *f, const struct sm_accesses *a)
{
    uint32_t expected = 0;
    for (uint32_t i = 0; i < a->count; i++)
        expected += core_link_answers(&c->net, &(struct packet){.address = a->list[i].address,
                                                                .bytes = a->list[i].bytes,
                                                                .kind = PACKET_ATOMIC,
                                                                .sectors = sm_sectors(&c->lsu, f, &a->list[i])});
    f->remaining = expected;
    await_atomic(c, f, expected);
}

/* Gives accesses masks of bytes in place of masks of lanes, which no cache asks for: the bytes that stores write,
 * and for an L1 with partial_writes the bytes that loads read. Local memory is interleaved by words, and written
 * whole. */
static void tell_bytes(const struct sm *c, const struct sm_inflight *f, const uint64_t address[32], uint32_t bytes,
                       struct sm_accesses *a)
{
    bool reads = !f->store && !f->atomic && f->space == SM_DEVICE && f->route == ROUTE_L1D;
    if (!(f->store && c->lsu.tells_written) && !(reads && c->config->l1d.partial_writes))
        return;
    for (uint32_t i = 0; i < a->count; i++)
        a->list[i].mask = f->space == SM_LOCAL ? UINT32_MAX : coalesce_written(address, bytes, &a->list[i]);
}

static uint32_t shared_cycles(const struct sm *c, const struct sm_inflight *f, const struct exec_warp *w)
{
    const struct sm_config *g = c->config;
    const struct exec_access *x = &w->access;
    if (f->atomic && g->shared_atomics_serial)
        return shared_banks_serial(w->addr, x->mask, g->shared_banks);
    uint32_t cycles =
        shared_banks_cycles(w->addr, x->mask, x->bytes, g->shared_banks, g->shared_parts, g->shared_limited_broadcast);
    if (cycles < f->inst->shared_passes)
        return f->inst->shared_passes;
    return cycles;
}

/* Cycles in which the banks of the L1 keep the unit busy, beyond the cycles in which it looks lines up. */
static uint32_t bank_cycles(const struct sm *c, const struct sm_inflight *f, const struct exec_warp *w,
                            const struct sm_accesses *a)
{
    const struct sm_config *g = c->config;
    if (!g->l1d_has_banks || f->store || f->atomic || f->route != ROUTE_L1D)
        return 1;
    uint32_t banks = shared_banks_cycles(w->addr, w->access.mask, w->access.bytes, g->shared_banks, g->shared_parts,
                                         g->shared_limited_broadcast),
             lines = g->l1d.banks ? (a->count + g->l1d.banks - 1) / g->l1d.banks : a->count;
    return banks > lines ? banks - lines + 1 : 1;
}

static void access_shared(struct sm *c, struct sm_inflight *f, const struct exec_warp *w)
{
    uint32_t adding = 0;
    f->space = SM_SHARED;
    f->adds_up = works_as_one(c, f, &w->access, w->addr);
    if (f->adds_up) {
        f->shared_cycles = f->inst->shared_passes;
        adding = f->inst->adding;
    } else {
        f->shared_cycles = shared_cycles(c, f, w);
    }
    f->shared_extra = (f->shared_cycles - 1) * c->config->shared_conflict_latency + f->inst->latency - 1u + adding;
    c->account.counters.shared_requests++;
    c->account.counters.shared_cycles += f->shared_cycles;
    if (f->atomic)
        await_atomic(c, f, 1);
}

void sm_coalesce(struct sm *c, uint16_t id)
{
    struct sm_inflight *f = &c->flights.list[id];
    const struct exec_warp *w = c->slots[f->slot].exec;
    const struct exec_access *x = &w->access;
    struct sm_accesses *a = &c->lsu.access_pool[f->accesses];
    uint64_t address[32];
    a->count = 0;
    f->mask = x->mask;
    f->store = x->is_store && !x->is_atomic;
    f->atomic = x->is_atomic;
    f->texture = x->is_texture;
    f->space = SM_NO_MEMORY;
    f->shared_cycles = 1;
    if (x->space == PTX_SPACE_NONE || !x->mask)
        return;
    switch (x->space) {
    case PTX_SPACE_SHARED: access_shared(c, f, w); return;
    case PTX_SPACE_LOCAL:
        f->space = SM_LOCAL;
        set_route(c, f);
        a->count = local_accesses(c, f, w, a);
        break;
    case PTX_SPACE_CONST:
    case PTX_SPACE_PARAM:
        f->space = SM_CONST;
        translate(c, w, x->mask, address);
        a->count = coalesce_lines(address, x->mask, x->bytes, c->config->l1c.line_bytes, a->list);
        f->remaining = a->count;
        set_route(c, f);
        return;
    default:
        if (x->plane && c->config->texel_blocks && !f->store && !f->atomic)
            sm_texel_blocks(x->plane, c->config->l1t.line_bytes, x->mask, c->slots[f->slot].exec->addr);
        translate(c, w, x->mask, address);
        if (f->texture && !f->store && !f->atomic) {
            f->space = SM_TEXTURE;
            set_route(c, f);
            a->count = coalesce_lines(address, x->mask, x->bytes, c->config->l1t.line_bytes, a->list);
        } else {
            f->space = SM_DEVICE;
            set_route(c, f);
            a->count = device_accesses(c, f, address, x, a);
            f->shared_cycles = bank_cycles(c, f, w, a);
        }
    }
    count_requests(c, f, a->count);
    count_sectors(c, f, a);
    tell_bytes(c, f, address, lane_bytes(f, x), a);
    if (f->atomic)
        set_atomic(c, f, a);
    else if (!f->store)
        f->remaining = a->count;
}

/* The warp has issued a later instruction in the same cycle, which failed. If this one fails too, it was the first. */
static __attribute__((noinline, cold)) void perform_before_fault(struct sm *c, struct exec_warp *w,
                                                                 const struct sm_inflight *f)
{
    struct exec_fault later = c->launch.fault;
    c->launch.faulted = false;
    exec_perform(w, f->exec_inst, f->mask);
    if (!c->launch.faulted)
        c->launch.fault = later;
    c->launch.faulted = true;
}

static void perform(struct sm *c, uint16_t id)
{
    struct sm_inflight *f = &c->flights.list[id];
    struct exec_warp *w = c->slots[f->slot].exec;
    if (c->mixes) {
        regroup_perform(c, id);
        sm_coalesce(c, id);
        return;
    }
    w->access.space = PTX_SPACE_NONE;
    w->addresses_only = f->inst->atomic && !c->config->atomics_at_once;
    if (unlikely(w->state == WARP_FAULT))
        perform_before_fault(c, w, f);
    else
        exec_perform(w, f->exec_inst, f->mask);
    w->addresses_only = false;
    if (w->state == WARP_FAULT)
        sm_stop(c, f->slot);
    if (!f->mask)
        w->access = (struct exec_access){.space = PTX_SPACE_NONE};
    sm_coalesce(c, id);
}

void sm_perform(struct sm *c)
{
    host_part_set(&c->head.part, HOST_EXECUTE);
    for (uint32_t i = 0; i < c->head.deferred; i++)
        perform(c, c->flights.deferred[i]);
    c->head.deferred = 0;
    host_part_set(&c->head.part, HOST_NOTHING);
}

/* Returns false if the instruction must wait until the other cores have come to this cycle. */
static bool perform_unseen(struct sm *c, uint16_t id)
{
    struct sm_inflight *f = &c->flights.list[id];
    if (c->slots[f->slot].exec->state == WARP_FAULT || (!f->inst->reads_constant && f->mask))
        return false;
    perform(c, id);
    return true;
}

__attribute__((noinline)) bool sm_perform_unseen(struct sm *c)
{
    uint32_t done = 0, count = c->head.deferred;
    host_part_set(&c->head.part, HOST_EXECUTE);
    while (done < count && perform_unseen(c, c->flights.deferred[done]))
        done++;
    c->head.deferred = count - done;
    memmove(c->flights.deferred, c->flights.deferred + done, (count - done) * sizeof *c->flights.deferred);
    host_part_set(&c->head.part, HOST_NOTHING);
    return done == count;
}

void sm_perform_atomic(struct sm *c, const struct packet *p)
{
    struct sm_inflight *f = &c->flights.list[p->token];
    f->performed |= p->mask;
    if (c->config->atomics_at_once)
        return;
    if (c->mixes) {
        regroup_perform_atomic(c, p);
    } else if (p->mask) {
        struct exec_warp *w = c->slots[f->slot].exec;
        exec_perform(w, f->exec_inst, p->mask);
        if (w->state == WARP_FAULT)
            sm_stop(c, f->slot);
    }
}

void sm_pending(const struct sm *c, const struct exec_warp *w, struct exec_pending *out)
{
    for (uint32_t slot = 0; slot < c->config->warps && !c->config->atomics_at_once; slot++) {
        const struct sm_slot *s = &c->slots[slot];
        const struct sm_inflight *f = &c->flights.list[s->atomic];
        if (s->exec == w && s->atomics && !f->texture &&
            f->space != SM_SHARED) /* reductions of surfaces and of shared memory take effect as they issue */
            *out = (struct exec_pending){f->exec_inst, f->mask & ~f->performed};
    }
}
