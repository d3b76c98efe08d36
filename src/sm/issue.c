/* Issue: each warp scheduler picks, by its policy, one of its warps whose next instruction is fetched, has its operands
 * and finds its pipeline free. The instruction is executed here and now, as far as it does not touch device memory;
 * what does is performed by sm_perform, after all cores have issued, so that the order does not depend on how cores are
 * spread over threads. */
#include "sm/core.h"
#include "sm/regroup.h"

#include <stdio.h>

enum { NAP_CYCLES = 20 }; /* nanosleep, and waits that are tried again */

static enum collector_kind pipe_of(const struct sm *c, const struct sm_inst *in)
{
    switch (in->unit) {
    case SM_MEM: return COLLECT_MEM;
    case SM_SP: return COLLECT_SP;
    case SM_SP_OR_SFU: return collector_can_accept(c->pipes.collector, COLLECT_SP) ? COLLECT_SP : COLLECT_SFU;
    default: return COLLECT_SFU;
    }
}

/* Warps whose pipeline can take their next instruction. */
static inline uint64_t unit_free(const struct sm *c)
{
    uint64_t free = 0;
    bool memory = c->lsu.free_access_count && c->head.deferred < SM_DEFERRED;
    if (memory && c->flights.free_count && collector_head(c->pipes.collector)->accepts == (1u << COLLECT_KINDS) - 1)
        return c->issue.valid & ~c->issue.stale; /* all that have one */
    if (collector_can_accept(c->pipes.collector, COLLECT_SP))
        free |= c->issue.needs[SM_SP] | c->issue.needs[SM_SP_OR_SFU];
    if (collector_can_accept(c->pipes.collector, COLLECT_SFU))
        free |= c->issue.needs[SM_SFU] | c->issue.needs[SM_DP] | c->issue.needs[SM_SP_OR_SFU];
    if (collector_can_accept(c->pipes.collector, COLLECT_MEM) && memory)
        free |= c->issue.needs[SM_MEM];
    return c->flights.free_count ? free : 0;
}

static bool is_inside(const struct heddle_program *p, int32_t loop, int32_t outer)
{
    while (loop >= 0 && loop != outer)
        loop = p->loops[loop].parent;
    return loop == outer;
}

static void enter_loops(struct sm *c, uint32_t slot, uint32_t pc, int32_t loop, int32_t until)
{
    if (loop < 0 || loop == until)
        return;
    enter_loops(c, slot, pc, c->program->view.loops[loop].parent, until);
    SM_TELL(
        c, loop,
        &(struct heddle_loop_event){
            .warp = slot, .pc = pc, .active = c->slots[slot].exec->active, .loop = loop, .step = HEDDLE_LOOP_ENTER});
}

static void leave_loop(struct sm *c, uint32_t slot, uint32_t pc)
{
    struct sm_slot *s = &c->slots[slot];
    SM_TELL(c, loop,
            &(struct heddle_loop_event){
                .warp = slot, .pc = pc, .active = s->exec->active, .loop = s->loop, .step = HEDDLE_LOOP_LEAVE});
    s->loop = c->program->view.loops[s->loop].parent;
}

/* A call leaves no loop: that of the caller is put aside. A return, or the end of all lanes that were called,
 * leaves those of the callee. */
static void follow_calls(struct sm *c, uint32_t slot, uint32_t pc, uint32_t depth)
{
    struct sm_slot *s = &c->slots[slot];
    int32_t *caller = &c->host.call_loops[slot * SM_CALLS];
    for (; s->loop_depth < depth; s->loop_depth++) {
        caller[s->loop_depth] = s->loop;
        s->loop = -1;
    }
    for (; s->loop_depth > depth; s->loop = caller[--s->loop_depth])
        while (s->loop >= 0)
            leave_loop(c, slot, pc);
}

static void tell_loops(struct sm *c, uint32_t slot, uint32_t pc)
{
    struct sm_slot *s = &c->slots[slot];
    const struct sm_inst *in = &c->program->code[pc];
    uint32_t depth = s->exec->at.frame_depth;
    if (depth != s->loop_depth && c->host.call_loops) {
        if (depth >= SM_CALLS)
            return;
        follow_calls(c, slot, pc, depth);
    }
    if (s->loop == in->loop) {
        if (in->loop_header && in->loop >= 0)
            SM_TELL(
                c, loop,
                &(struct heddle_loop_event){
                    .warp = slot, .pc = pc, .active = s->exec->active, .loop = in->loop, .step = HEDDLE_LOOP_ITERATE});
        return;
    }
    while (s->loop >= 0 && !is_inside(&c->program->view, in->loop, s->loop))
        leave_loop(c, slot, pc);
    if (s->loop == in->loop && in->loop >= 0 && in->loop_header)
        SM_TELL(c, loop,
                &(struct heddle_loop_event){
                    .warp = slot, .pc = pc, .active = s->exec->active, .loop = in->loop, .step = HEDDLE_LOOP_ITERATE});
    enter_loops(c, slot, pc, in->loop, s->loop);
    s->loop = in->loop;
}

static void tell_issue(struct sm *c, uint32_t scheduler, uint32_t slot, uint32_t pc)
{
    struct exec_warp *w = c->slots[slot].exec;
    const struct sm_inst *in = &c->program->code[pc];
    bool watched = c->observer && c->observer->issue, branch = SM_HEARD(c, branch) && in->branch;
    if (SM_HEARD(c, loop))
        tell_loops(c, slot, pc);
    if (!watched && !branch && !SM_HEARD(c, issued))
        return;
    uint32_t lanes = c->mixes ? regroup_lanes(c, slot) : exec_lanes(w);
    if (watched)
        c->observer->issue(c->observer->context, c->head.id, scheduler, slot, c->now, pc,
                           (uint32_t)__builtin_popcount(lanes));
    const struct heddle_instruction *v = &c->program->view.instructions[pc];
    const struct heddle_issue issue = {.warp = slot, .pc = pc, .active = lanes, .path = w->active, .instruction = v};
    SM_TELL(c, issued, &issue);
    if (branch && (v->flags & HEDDLE_BRANCH))
        SM_TELL(c, branch,
                &(struct heddle_branch){.warp = slot,
                                        .pc = pc,
                                        .taken = lanes,
                                        .not_taken = w->active & ~lanes,
                                        .target = v->target,
                                        .fall_through = pc + 1,
                                        .reconvergence = v->reconvergence});
}

static void reserve(struct sm *c, uint32_t slot, const struct sm_inst *in)
{
    struct sm_slot *s = &c->slots[slot];
    const uint32_t *d = in->registers + in->check_count - in->destination_count;
    (void)c;
    for (uint32_t i = 0; i < in->destination_count; i++) {
        s->scoreboard[d[i] >> 5] |= 1u << (d[i] & 31);
        if (in->long_latency)
            s->long_board[d[i] >> 5] |= 1u << (d[i] & 31);
    }
    s->awaited = (uint16_t)(s->awaited + in->destination_count);
}

/* The warp after its instruction: is it at a barrier, asleep, at its end? */
static void look_at_state(struct sm *c, uint32_t slot, const struct sm_inst *in)
{
    struct sm_slot *s = &c->slots[slot];
    uint64_t bit = 1ull << slot;
    if (in->memory == SM_FENCE) {
        c->issue.fenced |= bit;
        sm_try_fence(c, slot);
    }
    if (in->barrier || in->exit || s->exec->state != WARP_READY)
        sm_set_barriers(c, s->block);
    if (s->exec->state == WARP_ASLEEP) {
        s->exec->state = WARP_READY;
        s->wake_cycle = c->now + NAP_CYCLES;
        c->issue.asleep |= bit;
        c->stirred = true;
    } else if (s->exec->state == WARP_DONE) {
        bool was_told = c->issue.ended & bit; /* by regroup.c, for all of its block */
        c->issue.ended |= bit;
        c->view.resident &= ~bit;
        s->buffered = 0;
        if (!was_told)
            SM_TELL(c, ended, slot);
    } else if (s->exec->state == WARP_FAULT) {
        sm_stop(c, slot);
    }
}

static void accept(struct sm *c, uint16_t id, const struct sm_inst *in, uint32_t slot)
{
    uint8_t banks[COLLECT_OPERANDS];
    uint32_t count = in->source_count < COLLECT_OPERANDS ? in->source_count : COLLECT_OPERANDS;
    for (uint32_t i = 0; i < count; i++)
        banks[i] = (uint8_t)sm_bank(&c->pipes, in->banks[i], slot);
    collector_accept(c->pipes.collector, pipe_of(c, in), id, banks, count);
}

/* A warp whose lanes have come apart goes on with others of them, as if by a branch. */
static void end_turn(struct sm *c, uint32_t slot)
{
    struct sm_slot *s = &c->slots[slot];
    bool apart = s->exec->strands;
    s->exec->turn_end = s->exec->executed + EXEC_TURN;
    if (c->regroup && !regroup_has_all_lanes(c, slot)) /* those that the unit has do not wait for these */
        return;
    exec_end_turn(s->exec);
    if (apart || s->exec->strands)
        sm_set_barriers(c, s->block);
}

static inline void execute(struct sm *c, uint32_t slot, uint16_t id)
{
    struct exec_warp *w = c->slots[slot].exec;
    struct sm_inflight *f = &c->flights.list[id];
    if (f->inst->deferred) {
        f->mask = exec_advance(w);
        f->accesses = c->lsu.free_accesses[--c->lsu.free_access_count];
        c->flights.deferred[c->head.deferred++] = id;
    } else if (f->inst->unit == SM_MEM) {
        w->access.space = PTX_SPACE_NONE;
        f->accesses = c->lsu.free_accesses[--c->lsu.free_access_count];
        exec_step(w);
        sm_coalesce(c, id);
    } else {
        exec_step(w);
        if (w->executed >= w->turn_end)
            end_turn(c, slot);
    }
}

/* Where a divergence unit regroups. */
static __attribute__((noinline, cold)) void execute_regrouped(struct sm *c, uint32_t slot, uint16_t id)
{
    const struct sm_inflight *f = &c->flights.list[id];
    if (c->mixes) {
        regroup_issue(c, slot, id);
    } else if (!regroup_parks(c, slot, f->pc)) {
        execute(c, slot, id);
        regroup_follow(c, slot, f->inst);
    }
}

static void issue(struct sm *c, uint32_t scheduler, uint32_t slot)
{
    struct sm_slot *s = &c->slots[slot];
    struct exec_warp *w = s->exec;
    uint32_t pc = s->buffer[0];
    const struct sm_inst *in = &c->program->code[pc];
    uint16_t id = c->flights.free[--c->flights.free_count];
    struct sm_inflight *f = &c->flights.list[id];
    *f = (struct sm_inflight){
        .inst = in, .exec_inst = &w->code[w->pc], .pc = pc, .slot = (uint16_t)slot, .accesses = SM_NONE};
    tell_issue(c, scheduler, slot, pc);
    c->warps[slot].issued++;
    s->buffer[0] = s->buffer[1];
    s->buffered--;
    s->fetch_pc = pc + 1;
    s->in_pipeline++;
    accept(c, id, in, slot);
    reserve(c, slot, in);
    if (__builtin_expect(c->regroup != NULL, 0))
        execute_regrouped(c, slot, id);
    else
        execute(c, slot, id);
    look_at_state(c, slot, in);
    sm_refresh(c, slot);
    if (c->issue.ended >> slot & 1)
        sm_try_retire(c, slot);
    c->issue.issued |= 1ull << slot;
    c->busy = true;
}

static void flush(struct sm *c, uint32_t slot)
{
    struct sm_slot *s = &c->slots[slot];
    s->buffered = 0;
    s->fetch_pc = sm_program_pc(c->program, s->exec);
    sm_refresh(c, slot);
    c->busy = true;
}

/* May the warp issue its next instruction in the cycle in which it issued this one? What is performed at the end of the
 * cycle must find its operands. */
static bool may_follow(const struct sm *c, uint32_t slot, const struct sm_inst *first)
{
    const struct sm_slot *s = &c->slots[slot];
    uint64_t blocked =
        c->issue.ended | c->view.at_barrier | c->issue.fenced | c->issue.atomic_wait | c->issue.asleep | c->issue.stale;
    if (first->atomic || !s->exec || !((c->issue.valid & c->issue.clear & unit_free(c) & ~blocked) >> slot & 1))
        return false;
    const struct sm_inst *next = &c->program->code[s->buffer[0]];
    return !first->deferred ||
           (!next->moves_frame && (next == first + 1 ? !first->next_waits : !next->destination_count));
}

static bool check_pick(struct sm *c, const struct sm_scheduler *s, int picked, uint64_t candidates)
{
    if (picked >= 0 && picked < 64 && (candidates >> picked & 1))
        return true;
    snprintf(c->host.trouble, sizeof c->host.trouble,
             "scheduler %s picked warp %d, which is not among its candidates (mask 0x%llx, core %u, cycle %llu)",
             s->policy->policy.name, picked, (unsigned long long)candidates, c->head.id, (unsigned long long)c->now);
    return false;
}

/* When policies may let go what they hold back. */
static void note_held(struct sm *c, uint32_t schedulers)
{
    for (; schedulers; schedulers &= schedulers - 1) {
        const struct sm_scheduler *s = &c->host.schedulers[__builtin_ctz(schedulers)];
        uint64_t until = s->policy->steady_until ? s->policy->steady_until(s->state, &c->view) : c->now + 1;
        if (until <= c->now)
            until = c->now + 1;
        c->issue.held_until = until < c->issue.held_until ? until : c->issue.held_until;
    }
}

/* What a policy keeps back: warps that could issue, and those that it lets not even drop what they fetched past a
 * branch. */
struct kept_back {
    bool ready, stale;
};

/* One scheduler's cycle among the warps that could issue if their pipelines took them. Returns whether it issued. */
static bool schedule(struct sm *c, uint32_t k, uint64_t able, struct kept_back *kept)
{
    struct sm_scheduler *s = &c->host.schedulers[k];
    uint64_t ready = able & c->issue.clear & c->issue.unit_free, stale = able & c->issue.stale, held = 0;
    if (!(ready | stale))
        return false;
    c->view.ready = ready;
    if (s->policy->hold) {
        uint64_t hold = s->policy->hold(s->state, &c->view);
        held |= ready & hold;
        ready &= ~hold;
        kept->stale = stale & hold;
        stale &= ~hold;
    }
    if (s->policy->hold_loads && (ready & c->view.next_is_l1_load)) {
        uint64_t hold = s->policy->hold_loads(s->state, &c->view) & c->view.next_is_l1_load;
        held |= ready & hold;
        ready &= ~hold;
    }
    c->issue.held |= held;
    kept->ready = held != 0;
    for (uint64_t candidates = ready | stale; candidates;) {
        int picked = s->policy->pick(s->state, &c->view, candidates);
        if (picked == HEDDLE_NO_WARP) {
            c->issue.held |= ready;
            kept->ready |= ready != 0;
            c->issue.held_until = c->now + 1;
            c->stirred = true;
            return false;
        }
        if (!check_pick(c, s, picked, candidates))
            return false;
        uint64_t bit = 1ull << picked;
        if (stale & bit) { /* the order came to a warp that has fetched past a branch */
            flush(c, (uint32_t)picked);
            candidates &= ~bit;
            continue;
        }
        for (uint32_t n = 0; n < c->config->issue_per_warp; n++) {
            const struct sm_inst *in = &c->program->code[c->slots[picked].buffer[0]];
            issue(c, k, (uint32_t)picked);
            if (n + 1 < c->config->issue_per_warp && !may_follow(c, (uint32_t)picked, in))
                break;
        }
        c->issue.unit_free = unit_free(c);
        return true;
    }
    return false;
}

static uint64_t able_warps(const struct sm *c)
{
    return c->issue.valid & (c->issue.clear | c->issue.stale) &
           ~(c->issue.ended | c->view.at_barrier | c->issue.fenced | c->issue.atomic_wait | c->issue.asleep);
}

static inline uint64_t waiting_warps(const struct sm *c)
{
    return c->view.at_barrier | c->issue.fenced | c->issue.atomic_wait;
}

/* To the policies. */
static inline void show_sets(struct sm *c) { c->view.waiting = waiting_warps(c); }

/* While it is told, all warps of the core that could issue are shown as ready; then each scheduler sees its own. */
static void tell_listeners_cycles(struct sm *c, uint64_t count)
{
    uint64_t ready = c->view.ready;
    c->view.ready = able_warps(c) & c->issue.clear & unit_free(c);
    SM_TELL(c, cycles, count);
    c->view.ready = ready;
}

static void tell_cycles(struct sm *c)
{
    uint64_t count = c->now + 1 - c->host.cycles_told;
    c->host.cycles_told = c->now + 1;
    show_sets(c);
    tell_listeners_cycles(c, count);
}

/* Where nobody but probes hears of cycles. They see the sets as they are now; those who decide see what they would
 * see without them. */
static __attribute__((noinline, cold)) void tell_probes_cycles(struct sm *c)
{
    uint64_t shown = c->view.waiting;
    uint64_t count = c->now + 1 - c->host.cycles_told;
    c->host.cycles_told = c->now + 1;
    c->view.waiting = waiting_warps(c);
    tell_listeners_cycles(c, count);
    c->view.waiting = shown;
}

static __attribute__((noinline, cold)) void tell_held(struct sm *c)
{
    uint64_t begun = c->issue.held & ~c->host.held_before;
    c->host.held_before = c->issue.held;
    if (begun)
        SM_TELL(c, held, begun);
}

static inline uint32_t first_scheduler(uint64_t now, uint32_t count)
{
    return (uint32_t)(count & (count - 1) ? now % count : now & (count - 1));
}

void sm_issue_cycle(struct sm *c)
{
    uint32_t count = c->config->schedulers;
    c->issue.issued = c->issue.held = 0;
    c->issue.held_schedulers = 0;
    c->issue.held_until = SM_NEVER;
    c->stirred = false;
    bool tells = c->host.tells_cycles;
    if (tells)
        tell_cycles(c);
    else if (c->host.hears_cycles)
        tell_probes_cycles(c);
    uint64_t able = able_warps(c);
    c->issue.unit_free = unit_free(c);
    if (!(able & ((c->issue.clear & c->issue.unit_free) | c->issue.stale))) {
        *(sm_occupied(c) ? &c->account.counters.no_ready : &c->account.counters.idle) += count;
        return;
    }
    if (!tells)
        show_sets(c);
    uint32_t held = 0;
    for (uint32_t n = 0, k = c->config->schedulers_take_turns ? first_scheduler(c->now, count) : 0; n < count;
         n++, k = k + 1 == count ? 0 : k + 1) {
        struct kept_back kept = {false, false};
        if (schedule(c, k, able & c->host.schedulers[k].warps, &kept)) {
            c->account.counters.issued++;
            able = able_warps(c); /* barriers may have opened */
            c->stirred = true;
        } else if (kept.ready) {
            c->account.counters.descheduled++;
            c->issue.held_schedulers++;
        } else {
            c->account.counters.no_ready++;
        }
        held |= (uint32_t)(kept.ready | kept.stale) << k;
    }
    if (held && !c->issue.issued) /* else the next cycle will look again anyway */
        note_held(c, held);
    if (c->host.hears_held)
        tell_held(c);
}

/* What keeps a launch from its end */

uint64_t sm_kept_back(const struct sm *c)
{
    const struct sm_issue *s = &c->issue;
    uint64_t waiting = s->ended | c->view.at_barrier | s->fenced | s->atomic_wait | s->asleep;
    return (s->held | (s->valid & s->stale & ~waiting)) & sm_occupied(c);
}

static const char *reason(const struct sm *c, const struct sm_scheduler *s, uint64_t warps)
{
    uint64_t hold = s->policy->hold ? s->policy->hold(s->state, &c->view) : 0;
    uint64_t loads = s->policy->hold_loads ? s->policy->hold_loads(s->state, &c->view) & c->view.next_is_l1_load : 0;
    if (!(warps & ~hold))
        return "its hold keeps all of them back";
    return warps & ~(hold | loads) ? "its pick answers HEDDLE_NO_WARP" : "its hold_loads keeps their loads back";
}

struct sm_blame sm_blame_scheduler(const struct sm *c)
{
    uint64_t warps = sm_kept_back(c);
    const struct sm_scheduler *s = c->host.schedulers;
    while (!(warps & s->warps))
        s++; /* every warp has one */
    return (struct sm_blame){.policy = s->policy->policy.name,
                             .reason = reason(c, s, warps & s->warps),
                             .scheduler = (uint32_t)(s - c->host.schedulers),
                             .warps = warps & s->warps};
}
