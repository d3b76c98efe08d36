/* Issue: each scheduler picks one of its warps that nothing stops (ready.c), by the rule of its policy. The instruction
 * leaves the warp's buffer, its registers are awaited from then on, and it is executed at once, unless it touches
 * device memory: that is done at the end of the cycle, core after core (perform.c). */
#include "model/model.h"

#include <stdio.h>

enum { NAP_CYCLES = 20 }; /* of nanosleep, and of waits that are tried again */

/* One instruction */

static void tell_branch(struct sm *c, uint32_t slot, uint32_t pc, uint32_t lanes)
{
    const struct heddle_instruction *v = &c->program->view.instructions[pc];
    struct heddle_branch branch = {.warp = slot,
                                   .pc = pc,
                                   .taken = lanes,
                                   .not_taken = c->warps[slot].exec->active & ~lanes,
                                   .target = v->target,
                                   .fall_through = pc + 1,
                                   .reconvergence = v->reconvergence};
    TELL(c, branch, &branch);
}

static void tell_issue(struct sm *c, uint32_t slot, uint32_t pc)
{
    const struct exec_warp *w = c->warps[slot].exec;
    const struct heddle_instruction *v = &c->program->view.instructions[pc];
    struct heddle_issue issue = {.warp = slot, .pc = pc, .active = exec_lanes(w), .path = w->active, .instruction = v};
    model_tell_loops(c, slot, pc);
    TELL(c, issued, &issue);
    if (v->flags & HEDDLE_BRANCH)
        tell_branch(c, slot, pc, issue.active);
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

/* What goes to memory passes collectors on every machine. */
static void enter_pipeline(struct sm *c, uint32_t scheduler, uint32_t id)
{
    const struct sm_inst *in = c->inflight[id].inst;
    if (!c->has_subcores || in->unit == SM_MEM)
        model_collect(c, model_kind(c, in), id);
    if (c->has_subcores)
        model_subcore_start(c, scheduler, id);
}

static void await_destinations(struct warp *w, const struct sm_inst *in)
{
    enum value value = in->wait == WAIT_LONG ? VALUE_COMES_FROM_MEMORY : VALUE_COMES;
    for (uint32_t i = 0; i < in->destination_count; i++) {
        w->registers[model_destinations(in)[i]] = (uint8_t)value;
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
        model_set_barriers(c, c->warps[slot].block);
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
        model_find_accesses(c, id);
    } else {
        exec_step(w);
        end_turn(c, slot);
    }
}

static void end_warp(struct sm *c, uint32_t slot)
{
    c->warps[slot].ended = true;
    c->warps[slot].buffered = 0;
    c->warps[slot].at_barrier = false;
    model_show_resident(c);
    TELL(c, ended, slot);
}

/* Is the warp at a fence or a barrier now, asleep, at its end? */
static void look_at_state(struct sm *c, uint32_t slot, const struct sm_inst *in)
{
    struct warp *w = &c->warps[slot];
    if (in->memory == SM_FENCE) {
        w->fenced = true;
        model_look_at_fence(c, slot);
    }
    if (in->barrier || in->exit || w->exec->state != WARP_READY)
        model_set_barriers(c, w->block);
    if (c->has_subcores)
        model_subcore_wait(c, slot, in);
    switch (w->exec->state) {
    case WARP_ASLEEP:
        w->exec->state = WARP_READY;
        model_nap(c, slot, NAP_CYCLES);
        break;
    case WARP_DONE: end_warp(c, slot); break;
    case WARP_FAULT: model_stop(w); break;
    default: break;
    }
}

static void issue(struct sm *c, uint32_t scheduler, uint32_t slot)
{
    struct warp *w = &c->warps[slot];
    uint32_t pc = w->buffer[0];
    if (c->has_subcores)
        model_run_vanished(c, slot);
    uint32_t id = new_instruction(c, slot, pc);
    const struct sm_inst *in = c->inflight[id].inst;
    tell_issue(c, slot, pc);
    c->shown[slot].issued++;
    w->issued = true;
    w->buffer[0] = w->buffer[1];
    w->buffered--;
    w->fetch_pc = pc + 1;
    w->in_pipeline++;
    enter_pipeline(c, scheduler, id);
    await_destinations(w, in);
    execute(c, slot, id);
    look_at_state(c, slot, in);
    model_look_at_next(c, slot);
}

/* May the warp issue its next instruction in the cycle in which it issued this one? What is done at the end of the
 * cycle must find its operands unchanged. */
static bool may_follow(const struct sm *c, const struct warp *w, const struct sm_inst *first)
{
    if (first->atomic || model_obstacle(c, w) != OBSTACLE_NONE)
        return false;
    const struct sm_inst *next = model_next(c, w);
    if (!first->deferred)
        return true;
    if (next->moves_frame)
        return false;
    if (next == first + 1)
        return !first->next_waits;
    return !next->destination_count;
}

static void issue_picked(struct sm *c, uint32_t scheduler, uint32_t slot)
{
    for (uint32_t n = 1;; n++) {
        const struct sm_inst *in = model_next(c, &c->warps[slot]);
        issue(c, scheduler, slot);
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
    model_look_at_next(c, slot);
}

/* Schedulers */

/* Warps with this obstacle, or without any. */
static uint64_t warps_with(const struct sm *c, enum obstacle obstacle)
{
    uint64_t set = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (model_obstacle(c, &c->warps[slot]) == obstacle)
            set |= 1ull << slot;
    return set;
}

static uint64_t loading_warps(const struct sm *c)
{
    uint64_t set = 0;
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (model_next_is_l1_load(c, &c->warps[slot]))
            set |= 1ull << slot;
    return set;
}

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

/* What became of a scheduler's cycle. */
enum slot_use { SLOT_ISSUED, SLOT_HELD, SLOT_EMPTY };

/* The warps that a scheduler may pick: those without an obstacle, and those that have fetched past a branch, which are
 * sent back to fetch when they are picked. */
struct candidates {
    uint64_t ready, stale;
    uint64_t held; /* ready warps that the policy keeps back */
};

static void hold_back(struct sm *c, const struct sm_scheduler *s, struct candidates *w)
{
    uint64_t loads = loading_warps(c);
    if (s->policy->hold) {
        uint64_t hold = s->policy->hold(s->state, &c->view);
        w->held |= w->ready & hold;
        w->ready &= ~hold;
        w->stale &= ~hold;
    }
    if (s->policy->hold_loads && (w->ready & loads)) {
        uint64_t hold = s->policy->hold_loads(s->state, &c->view) & loads;
        w->held |= w->ready & hold;
        w->ready &= ~hold;
    }
    mark_held(c, w->held);
}

static enum slot_use schedule(struct sm *c, uint32_t k)
{
    const struct sm_scheduler *s = &c->schedulers[k];
    struct candidates w = {.ready = warps_with(c, OBSTACLE_NONE) & s->warps,
                           .stale = warps_with(c, OBSTACLE_STALE) & s->warps};
    if (!w.ready && !w.stale)
        return SLOT_EMPTY;
    c->view.ready = w.ready;
    hold_back(c, s, &w);
    while (w.ready || w.stale) {
        int picked = s->policy->pick(s->state, &c->view, w.ready | w.stale);
        if (picked == HEDDLE_NO_WARP) {
            mark_held(c, w.ready);
            w.held |= w.ready;
            break;
        }
        if (!check_pick(c, s, picked, w.ready | w.stale))
            break;
        if (w.stale >> picked & 1) {
            send_back_to_fetch(c, (uint32_t)picked);
            w.stale &= ~(1ull << picked);
            continue;
        }
        if (s->policy->chosen)
            s->policy->chosen(s->state, &c->view, (uint32_t)picked);
        issue_picked(c, k, (uint32_t)picked);
        return SLOT_ISSUED;
    }
    return w.held ? SLOT_HELD : SLOT_EMPTY;
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

/* Nothing is told of a core without warps: those cycles come as one count with its next warp, and those at the end of a
 * launch not at all. */
static void tell_cycles(struct sm *c, bool any)
{
    c->untold_cycles++;
    if (any || c->had_warps) {
        c->view.ready = warps_with(c, OBSTACLE_NONE);
        TELL(c, cycles, c->untold_cycles);
        c->untold_cycles = 0;
    }
    c->had_warps = any;
}

/* Schedulers take turns in being first or, on sub-cores, the one that last went to memory comes last. */
static uint32_t first_scheduler(const struct sm *c)
{
    if (!c->config->schedulers_take_turns)
        return 0;
    uint64_t turn = c->has_subcores ? c->subcores.memory_turn : c->now;
    return (uint32_t)(turn % c->config->schedulers);
}

static void count_slot(struct sm_counters *n, enum slot_use use, bool any_warps)
{
    if (use == SLOT_ISSUED)
        n->issued++;
    else if (use == SLOT_HELD)
        n->descheduled++;
    else if (any_warps)
        n->no_ready++;
    else
        n->idle++;
}

void model_issue(struct sm *c)
{
    uint32_t count = c->config->schedulers, first = first_scheduler(c);
    bool any = has_warps(c);
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        c->warps[slot].issued = c->warps[slot].held = false;
    model_show_sets(c);
    tell_cycles(c, any);
    for (uint32_t n = 0; n < count; n++)
        count_slot(&c->counters, schedule(c, (first + n) % count), any);
    tell_held(c);
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        c->warps[slot].pipeline_open = model_pipeline_takes(c, slot);
}
