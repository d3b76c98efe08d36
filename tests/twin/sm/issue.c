/* Issue: each scheduler picks one of its warps whose next instruction is fetched, has its operands and finds its
 * pipeline free. The instruction is executed at once, unless it touches device memory: that is done at the end of the
 * cycle, core after core (sm_perform). */
#include "twin.h"

#include <stdio.h>

enum { NAP_CYCLES = 20 }; /* nanosleep, and waits that are tried again */

/* Who may issue */

static bool has_free_instruction(const struct sm *c)
{
    for (uint32_t i = 0; i < INFLIGHT; i++)
        if (!c->inflight[i].used)
            return true;
    return false;
}

/* SP or SFU: SP where that is free. */
static enum kind kind_for(const struct sm *c, const struct sm_inst *in)
{
    if (in->unit == SM_MEM)
        return KIND_MEMORY;
    if (in->unit == SM_SP || (in->unit == SM_SP_OR_SFU && twin_collectors_accept(c, KIND_SP)))
        return KIND_SP;
    return KIND_SFU;
}

bool twin_pipeline_takes(const struct sm *c, const struct sm_inst *in)
{
    if (in->unit == SM_MEM && c->head.deferred == DEFERRED)
        return false;
    return has_free_instruction(c) && twin_collectors_accept(c, kind_for(c, in));
}

static bool is_ready(const struct sm *c, const struct warp *w)
{
    return twin_may_issue(c, w) && twin_has_operands(c, w) && twin_pipeline_takes(c, twin_next(c, w));
}

static uint64_t ready_warps(const struct sm *c)
{
    uint64_t set = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (is_ready(c, &c->warps[slot]))
            set |= 1ull << slot;
    return set;
}

/* Warps that have fetched past a branch, and wait for a scheduler to find that out. */
static uint64_t stale_warps(const struct sm *c)
{
    uint64_t set = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (twin_may_issue(c, &c->warps[slot]) && twin_is_stale(c, &c->warps[slot]))
            set |= 1ull << slot;
    return set;
}

static uint64_t loading_warps(const struct sm *c)
{
    uint64_t set = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (twin_next_is_l1_load(c, &c->warps[slot]))
            set |= 1ull << slot;
    return set;
}

/* One instruction */

static void tell_issue(struct sm *c, uint32_t slot, uint32_t pc)
{
    const struct exec_warp *w = c->warps[slot].exec;
    const struct heddle_instruction *v = &c->program->view.instructions[pc];
    uint32_t lanes = exec_lanes(w);
    twin_tell_loops(c, slot, pc);
    struct heddle_issue issue = {.warp = slot, .pc = pc, .active = lanes, .path = w->active, .instruction = v};
    TELL(c, issued, &issue);
    if (!(v->flags & HEDDLE_BRANCH))
        return;
    struct heddle_branch branch = {.warp = slot,
                                   .pc = pc,
                                   .taken = lanes,
                                   .not_taken = w->active & ~lanes,
                                   .target = v->target,
                                   .fall_through = pc + 1,
                                   .reconvergence = v->reconvergence};
    TELL(c, branch, &branch);
}

static uint32_t new_instruction(struct sm *c, uint32_t slot, uint32_t pc)
{
    const struct exec_warp *w = c->warps[slot].exec;
    uint32_t id = 0;
    while (c->inflight[id].used)
        id++;
    c->inflight[id] = (struct instruction){
        .used = true, .inst = &c->program->code[pc], .exec_inst = &w->code[w->pc], .pc = pc, .slot = slot};
    return id;
}

static void await_destinations(struct warp *w, const struct sm_inst *in)
{
    for (uint32_t i = 0; i < in->destination_count; i++) {
        w->registers[twin_destinations(in)[i]] = in->wait == WAIT_LONG ? VALUE_COMES_FROM_MEMORY : VALUE_COMES;
        w->awaited++;
    }
}

/* A warp whose lanes have come apart goes on with others of them after a while. */
static void end_turn(struct sm *c, uint32_t slot)
{
    struct exec_warp *w = c->warps[slot].exec;
    bool apart = w->strands;
    if (w->executed < w->turn_end)
        return;
    w->turn_end = w->executed + EXEC_TURN;
    exec_end_turn(w);
    if (apart || w->strands)
        twin_set_barriers(c, c->warps[slot].block);
}

static void execute(struct sm *c, uint32_t slot, uint32_t id)
{
    struct exec_warp *w = c->warps[slot].exec;
    struct instruction *f = &c->inflight[id];
    if (f->inst->deferred) {
        f->mask = exec_advance(w);
        c->deferred[c->head.deferred++] = id;
    } else if (f->inst->unit == SM_MEM) {
        w->access.space = PTX_SPACE_NONE;
        exec_step(w);
        twin_find_accesses(c, id);
    } else {
        exec_step(w);
        end_turn(c, slot);
    }
}

/* Is the warp at a barrier or a fence now, asleep, at its end? */
static void look_at_state(struct sm *c, uint32_t slot, const struct sm_inst *in)
{
    struct warp *w = &c->warps[slot];
    if (in->memory == SM_FENCE) {
        w->fenced = true;
        twin_look_at_fence(c, slot);
    }
    if (in->barrier || in->exit || w->exec->state != WARP_READY)
        twin_set_barriers(c, w->block);
    switch (w->exec->state) {
    case WARP_ASLEEP:
        w->exec->state = WARP_READY;
        w->asleep = true;
        w->asleep_until = c->now + NAP_CYCLES;
        break;
    case WARP_DONE:
        w->ended = true;
        w->buffered = 0;
        w->at_barrier = false;
        twin_show_resident(c);
        TELL(c, ended, slot);
        break;
    case WARP_FAULT: twin_stop(w); break;
    default: break;
    }
}

static void issue(struct sm *c, uint32_t slot)
{
    struct warp *w = &c->warps[slot];
    uint32_t pc = w->buffer[0], id = new_instruction(c, slot, pc);
    const struct sm_inst *in = c->inflight[id].inst;
    tell_issue(c, slot, pc);
    c->shown[slot].issued++;
    w->issued = true;
    w->buffer[0] = w->buffer[1];
    w->buffered--;
    w->fetch_pc = pc + 1;
    w->in_pipeline++;
    twin_collect(c, kind_for(c, in), id);
    await_destinations(w, in);
    execute(c, slot, id);
    look_at_state(c, slot, in);
    twin_show_warp(c, slot);
}

/* May the warp issue its next instruction in the cycle in which it issued this one? What is done at the end of the
 * cycle must find its operands unchanged. */
static bool may_follow(const struct sm *c, const struct warp *w, const struct sm_inst *first)
{
    if (first->atomic || !is_ready(c, w))
        return false;
    const struct sm_inst *next = twin_next(c, w);
    if (!first->deferred)
        return true;
    if (next->moves_frame)
        return false;
    return next == first + 1 ? !first->next_waits : !next->destination_count;
}

static void issue_picked(struct sm *c, uint32_t slot)
{
    for (uint32_t n = 1;; n++) {
        const struct sm_inst *in = twin_next(c, &c->warps[slot]);
        issue(c, slot);
        if (n >= c->config->issue_per_warp || !may_follow(c, &c->warps[slot], in))
            return;
    }
}

/* The buffer is thrown away. */
static void send_back_to_fetch(struct sm *c, uint32_t slot)
{
    struct warp *w = &c->warps[slot];
    w->buffered = 0;
    w->fetch_pc = sm_program_pc(c->program, w->exec);
    twin_show_warp(c, slot);
}

/* Schedulers */

static void mark_held(struct sm *c, uint64_t set)
{
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (set >> slot & 1)
            c->warps[slot].held = true;
}

static bool check_pick(struct sm *c, const struct sm_scheduler *s, int picked, uint64_t candidates)
{
    if (picked >= 0 && picked < 64 && (candidates >> picked & 1))
        return true;
    snprintf(c->trouble, sizeof c->trouble,
             "scheduler %s picked warp %d, which is not among its candidates (mask 0x%llx, core %u, cycle %llu)",
             s->policy->policy.name, picked, (unsigned long long)candidates, c->head.id, (unsigned long long)c->now);
    return false;
}

enum slot_use { SLOT_ISSUED, SLOT_HELD, SLOT_EMPTY };

/* One scheduler's cycle. */
static enum slot_use schedule(struct sm *c, const struct sm_scheduler *s)
{
    uint64_t ready = ready_warps(c) & s->warps, stale = stale_warps(c) & s->warps, loads = loading_warps(c), held = 0;
    if (!ready && !stale)
        return SLOT_EMPTY;
    c->view.ready = ready;
    if (s->policy->hold) {
        uint64_t hold = s->policy->hold(s->state, &c->view);
        held |= ready & hold;
        ready &= ~hold;
        stale &= ~hold;
    }
    if (s->policy->hold_loads && (ready & loads)) {
        uint64_t hold = s->policy->hold_loads(s->state, &c->view) & loads;
        held |= ready & hold;
        ready &= ~hold;
    }
    mark_held(c, held);
    for (uint64_t candidates = ready | stale; candidates;) {
        int picked = s->policy->pick(s->state, &c->view, candidates);
        if (picked == HEDDLE_NO_WARP) {
            mark_held(c, ready);
            held |= ready;
            break;
        }
        if (!check_pick(c, s, picked, candidates))
            break;
        if (stale >> picked & 1) {
            send_back_to_fetch(c, (uint32_t)picked);
            candidates &= ~(1ull << picked);
            continue;
        }
        if (s->policy->chosen)
            s->policy->chosen(s->state, &c->view, (uint32_t)picked);
        issue_picked(c, (uint32_t)picked);
        return SLOT_ISSUED;
    }
    return held ? SLOT_HELD : SLOT_EMPTY;
}

static void tell_held(struct sm *c)
{
    uint64_t held = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (c->warps[slot].held)
            held |= 1ull << slot;
    uint64_t begun = held & ~c->held_before;
    c->held_before = held;
    if (begun)
        TELL(c, held, begun);
}

static bool has_warps(const struct sm *c)
{
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (c->warps[slot].exec)
            return true;
    return false;
}

/* Of a core without warps nothing is told: those cycles come as one count with its next warp, and those at the end of
 * a launch not at all. */
static void tell_cycles(struct sm *c, bool any)
{
    c->untold_cycles++;
    if (any || c->had_warps) {
        c->view.ready = ready_warps(c);
        TELL(c, cycles, c->untold_cycles);
        c->untold_cycles = 0;
    }
    c->had_warps = any;
}

void twin_issue(struct sm *c)
{
    uint32_t count = c->config->schedulers, first = c->config->schedulers_take_turns ? (uint32_t)(c->now % count) : 0;
    bool any = has_warps(c);
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        c->warps[slot].issued = c->warps[slot].held = false;
    twin_show_sets(c);
    tell_cycles(c, any);
    for (uint32_t n = 0; n < count; n++) {
        enum slot_use use = schedule(c, &c->schedulers[(first + n) % count]);
        if (use == SLOT_ISSUED)
            c->counters.issued++;
        else if (use == SLOT_HELD)
            c->counters.descheduled++;
        else if (any)
            c->counters.no_ready++;
        else
            c->counters.idle++;
    }
    tell_held(c);
    for (uint32_t slot = 0; slot < c->config->warps; slot++) {
        const struct sm_inst *in = twin_next(c, &c->warps[slot]);
        c->warps[slot].pipeline_open = in && twin_pipeline_takes(c, in);
    }
}
