/* One instruction issues: it leaves its warp's buffer, its registers are reserved, it enters a collector. It is
 * executed at once, as far as it does not touch device memory. An instruction that does is performed by sm_perform
 * after the core's cycle, core by core in the order of their numbers, however the cores are spread over threads.
 *
 * Which instruction issues: schedule.c. */
#include "sm/core_kind.h"
#include "sm/regroup.h"

enum { NAP_CYCLES = 20 }; /* nanosleep, and waits that are tried again */

uint32_t sm_lanes(const struct sm *c, uint32_t slot)
{
    return c->mixes ? regroup_lanes(c, slot) : exec_lanes(c->slots[slot].exec);
}

static __attribute__((noinline)) void tell_issue(struct sm *c, uint32_t scheduler, uint32_t slot, uint32_t pc)
{
    struct exec_warp *w = c->slots[slot].exec;
    const struct sm_inst *in = &c->program->code[pc];
    bool watched = c->observer && c->observer->issue, branch = SM_HEARD(c, branch) && in->branch;
    if (SM_HEARD(c, loop))
        sm_tell_loops(c, slot, pc);
    if (!watched && !branch && !SM_HEARD(c, issued))
        return;
    uint32_t lanes = sm_lanes(c, slot);
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

static void reserve(struct sm_slot *s, const struct sm_inst *in)
{
    uint32_t count = in->destination_count;
    uint8_t *scoreboard = s->scoreboard, wait = in->wait;
    s->awaited = (uint16_t)(s->awaited + count);
    for (const uint32_t *d = in->destinations, *end = d + count; d < end; d++)
        scoreboard[*d] = wait;
}

/* Looks at the warp after its instruction: it may be at a barrier, asleep or at its end. */
static void look_at_state(struct sm *c, uint32_t slot, const struct sm_inst *in)
{
    struct sm_slot *s = &c->slots[slot];
    uint64_t bit = 1ull << slot;
    if (in->memory == SM_FENCE) {
        warp_block(c, &c->issue.fenced, slot);
        sm_try_fence(c, slot);
    }
    if (in->barrier || in->exit || s->exec->state != WARP_READY)
        sm_set_barriers(c, s->block);
    kind_after(c, slot, in);
    if (s->exec->state == WARP_ASLEEP) {
        s->exec->state = WARP_READY;
        sm_nap(c, slot, NAP_CYCLES);
    } else if (s->exec->state == WARP_DONE) {
        bool was_told = c->issue.ended & bit; /* regroup.c tells it for all warps of a block */
        warp_block(c, &c->issue.ended, slot);
        c->view.resident &= ~bit;
        s->buffered = 0;
        if (!was_told)
            SM_TELL(c, ended, slot);
    } else if (s->exec->state == WARP_FAULT) {
        sm_stop(c, slot);
    }
}

/* A warp whose lanes have come apart goes on with others of them, as if by a branch. */
static void end_turn(struct sm *c, uint32_t slot)
{
    struct sm_slot *s = &c->slots[slot];
    bool apart = s->exec->strands;
    s->exec->turn_end = s->exec->executed + EXEC_TURN;
    if (c->regroup && !regroup_has_all_lanes(c, slot)) /* lanes that the unit has do not wait for these */
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

/* Executes an instruction where a divergence unit regroups. */
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

__attribute__((noinline)) void sm_issue(struct sm *c, uint32_t scheduler, uint32_t slot)
{
    struct sm_slot *s = &c->slots[slot];
    struct exec_warp *w = s->exec;
    uint32_t pc = s->buffer[0];
    const struct sm_inst *in = &c->program->code[pc];
    uint16_t id = c->flights.free[--c->flights.free_count];
    struct sm_inflight *f = &c->flights.list[id];
    kind_before(c, slot);
    *f = (struct sm_inflight){
        .inst = in, .exec_inst = &w->code[w->pc], .pc = pc, .slot = (uint16_t)slot, .accesses = SM_NONE};
    if (unlikely(c->host.hears_issues))
        tell_issue(c, scheduler, slot, pc);
    c->warps[slot].issued++;
    s->buffer[0] = s->buffer[1];
    s->buffered--;
    s->fetch_pc = pc + 1;
    s->in_pipeline++;
    kind_start(c, scheduler, slot, id, in);
    reserve(s, in);
    host_part_set(&c->head.part, HOST_EXECUTE);
    if (unlikely(c->regroup))
        execute_regrouped(c, slot, id);
    else
        execute(c, slot, id);
    host_part_set(&c->head.part, HOST_NOTHING);
    look_at_state(c, slot, in);
    sm_refresh(c, slot);
    if (c->issue.ended >> slot & 1)
        sm_try_retire(c, slot);
    c->issue.issued |= 1ull << slot;
}

void sm_flush(struct sm *c, uint32_t slot)
{
    struct sm_slot *s = &c->slots[slot];
    s->buffered = 0;
    s->fetch_pc = sm_program_pc(c->program, s->exec);
    sm_refresh(c, slot);
}
