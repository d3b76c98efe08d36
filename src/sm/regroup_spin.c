/* Blocks that a divergence unit can bring no further, though they issue. Some threads spin until others of their
 * block have done something, and those others wait in the unit to meet the threads that spin. (exec/spin.c has the
 * same for ordinary warps.)
 *
 * Each thread that has run in this window must come back to the same state, alone, without having changed anything
 * that others see: then it does so in whatever warp it is put. The threads in the unit have waited while the others
 * passed branch after branch, or for long. A slot that has waited for an atomic for very long, without a single
 * answer, waits for the threads that spin as well: they keep memory busy.
 *
 * Left out: units that give threads work for a reason of their own, such as the clock, and not because threads have
 * come, parted or ended. */
#include "sm/regroup_state.h"

#include "exec/exec.h"

enum {
    WATCH_STEPS = 20000,
    ROUNDS = 4,            /* branches that a slot must have come to in the window, */
    LONG_WINDOW = 1 << 18, /* unless the window has so many cycles */
    STARVED = 1 << 20,     /* cycles without an answer */
};

static const struct exec_warp *home_warp(const struct sm *c, uint32_t block, uint32_t home)
{
    return &c->blocks.list[block].cta->warps[home];
}

/* An atomic that threads of the home warp have on its way, unless atomics take effect as they issue. */
static struct exec_pending pending_of(const struct sm *c, uint32_t block, uint32_t home)
{
    const struct regroup *r = c->regroup;
    const struct sm_block *placed = &c->blocks.list[block];
    struct exec_pending out = {0};
    if (c->config->atomics_at_once)
        return out;
    for (uint32_t slot = placed->first_warp; slot < placed->first_warp + placed->warp_count; slot++) {
        const struct sm_slot *s = &c->slots[slot];
        const struct sm_inflight *f = &c->flights.list[s->atomic];
        const struct regroup_flight *flight = &r->flights[s->atomic];
        if (!s->atomics || f->texture || f->space == SM_SHARED) /* these take effect as they issue */
            continue;
        for (uint32_t i = 0; i < flight->count; i++)
            if (flight->pieces[i].home == home) {
                out.in = f->exec_inst;
                out.mask |= flight->pieces[i].mask & ~regroup_logical(r, home, f->performed);
            }
    }
    return out;
}

/* Do the threads of a home warp that are at one instruction spin? They are tried all at once, then the threads that
 * have gone another way one by one. */
static bool all_spin(const struct exec_warp *home, uint32_t pc, uint32_t lanes, struct exec_pending on_its_way)
{
    for (uint32_t left = lanes, now = lanes; left; now = left & -left) {
        struct exec_warp w = *home; /* its stack is out of use (regroup_place) */
        struct exec_pending pending = {on_its_way.in, on_its_way.mask & now};
        uint32_t took_part;
        exec_give(&w, pc, HEDDLE_NO_PC, now);
        if (!exec_path_spins(&w, pending, WATCH_STEPS, &took_part) || !(took_part & now))
            return false;
        left &= ~took_part;
    }
    return true;
}

static bool is_running(const struct sm *c, uint32_t slot)
{
    return !((c->issue.parked | c->issue.ended) >> slot & 1) && c->regroup->slots[slot].face.state != WARP_AT_BARRIER;
}

static bool is_starved(const struct sm *c, uint32_t slot, uint64_t window)
{
    const struct sm_slot *s = &c->slots[slot];
    const struct regroup_slot *g = &c->regroup->slots[slot];
    return window >= STARVED && !g->asked && s->atomics && s->atomic == g->atomic_then && s->atomics == g->atomics_then;
}

/* Do all pieces of the slot spin? If no thread of it can run, its instructions in flight will end, and it does not
 * spin. */
static bool slot_spins(const struct sm *c, uint32_t block, uint32_t slot, uint64_t window)
{
    const struct regroup *r = c->regroup;
    const struct regroup_slot *g = &r->slots[slot];
    uint32_t any = 0;
    if (g->asked < ROUNDS && window < LONG_WINDOW)
        return false;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t home = g->pieces[i].home, running = regroup_running(r, g, i);
        if (!all_spin(home_warp(c, block, home), g->face.pc, running, pending_of(c, block, home)))
            return false;
        any |= running;
    }
    return any != 0;
}

/* Threads that have run in this window, and that the unit has at present. */
static uint32_t between(const struct sm *c, uint32_t block, uint32_t home)
{
    const struct regroup_block *b = &c->regroup->blocks[block];
    const struct exec_warp *w = home_warp(c, block, home);
    return w->lanes & ~w->exited & b->ran[home] & ~b->at_work[home];
}

static bool those_between_spin(const struct sm *c, uint32_t block, uint32_t home)
{
    const uint32_t *pcs = c->regroup->blocks[block].next_pc[home];
    for (uint32_t left = between(c, block, home); left;) {
        uint32_t pc = pcs[__builtin_ctz(left)], group = 0;
        for (uint32_t others = left; others; others &= others - 1)
            group |= pcs[__builtin_ctz(others)] == pc ? others & -others : 0;
        if (!all_spin(home_warp(c, block, home), pc, group, pending_of(c, block, home)))
            return false;
        left &= ~group;
    }
    return true;
}

static bool block_is_stuck(const struct sm *c, uint32_t block, uint64_t window)
{
    const struct sm_block *placed = &c->blocks.list[block];
    bool any = false;
    for (uint32_t i = 0; i < placed->warp_count; i++) {
        uint32_t slot = placed->first_warp + i;
        if (!is_running(c, slot))
            continue;
        any = true;
        if (!is_starved(c, slot, window) && !slot_spins(c, block, slot, window))
            return false;
    }
    for (uint32_t home = 0; any && home < placed->warp_count; home++)
        if (!those_between_spin(c, block, home))
            return false;
    return any;
}

bool regroup_is_stuck(const struct sm *c, uint64_t window)
{
    for (uint64_t left = c->blocks.used; left; left &= left - 1)
        if (!block_is_stuck(c, (uint32_t)__builtin_ctzll(left), window))
            return false;
    return true;
}

void regroup_new_window(struct sm *c)
{
    struct regroup *r = c->regroup;
    for (uint64_t left = c->blocks.used; left; left &= left - 1) {
        struct regroup_block *b = &r->blocks[__builtin_ctzll(left)];
        for (uint32_t home = 0; home < HEDDLE_PIECES; home++)
            b->ran[home] = b->at_work[home];
    }
    for (uint32_t slot = 0; slot < c->config->warps; slot++) {
        r->slots[slot].asked = 0;
        r->slots[slot].atomic_then = c->slots[slot].atomic;
        r->slots[slot].atomics_then = c->slots[slot].atomics;
    }
}

/* Reports */

/* The threads of a block by their state, and the place of one that spins. */
struct census {
    uint32_t spin, at_barrier, starved, wait, warp, lane, pc;
};

static void count_slot(const struct sm *c, uint32_t slot, uint64_t window, struct census *out)
{
    const struct regroup_slot *g = &c->regroup->slots[slot];
    if ((c->issue.parked | c->issue.ended) >> slot & 1)
        return;
    if (!is_running(c, slot)) {
        out->at_barrier += (uint32_t)__builtin_popcount(g->lanes);
        return;
    }
    if (is_starved(c, slot, window)) {
        out->starved += (uint32_t)__builtin_popcount(g->face.active);
        return;
    }
    if (!out->spin) {
        out->warp = g->pieces[0].home;
        out->lane = (uint32_t)__builtin_ctz(g->pieces[0].mask);
        out->pc = g->face.pc;
    }
    out->spin += (uint32_t)__builtin_popcount(g->face.active);
}

static struct census take_census(const struct sm *c, uint32_t block, uint64_t window)
{
    const struct sm_block *placed = &c->blocks.list[block];
    struct census out = {0};
    for (uint32_t i = 0; i < placed->warp_count; i++)
        count_slot(c, placed->first_warp + i, window, &out);
    for (uint32_t home = 0; home < placed->warp_count; home++)
        out.spin += (uint32_t)__builtin_popcount(between(c, block, home));
    out.wait = c->regroup->blocks[block].live - out.spin - out.at_barrier - out.starved;
    return out;
}

bool regroup_is_starved(const struct sm *c, uint64_t window)
{
    bool any = false;
    for (uint64_t left = sm_occupied(c); left; left &= left - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(left);
        any |= is_running(c, slot) && is_starved(c, slot, window);
    }
    return any;
}

void regroup_describe_stuck(const struct sm *c, uint64_t window, struct error *e)
{
    for (uint64_t left = c->blocks.used; left; left &= left - 1) {
        uint32_t block = (uint32_t)__builtin_ctzll(left);
        const struct exec_cta *cta = c->blocks.list[block].cta;
        struct census n = take_census(c, block, window);
        const struct ptx_function *f = c->program->kernel->ptx;
        const struct ptx_inst *in = n.pc < f->inst_count ? &f->insts[n.pc] : NULL;
        error_note(e,
                   "  block (%u,%u,%u), core %u: %u threads spin, lane %u of warp %u at PTX line %d (%s); %u wait for "
                   "them, %u for the answer to an atomic, %u at a barrier",
                   cta->id[0], cta->id[1], cta->id[2], c->head.id, n.spin, n.lane, n.warp, in ? in->line : 0,
                   in ? in->spelling : "end", n.wait, n.starved, n.at_barrier);
    }
}
