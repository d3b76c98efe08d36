/* Units that keep threads in the slots of their warps (keeps_homes): a slot is a warp of the executor, with its
 * stack, its calls and its barriers. The threads that the unit gives a slot are at the bottom of that stack; the
 * slot is parked when the stack is empty. A warp whose lanes have all ended gives its slot back, as without a unit.
 *
 * Left out: the unit is not asked at indexed branches, nor within functions that are called. */
#include "sm/regroup_state.h"

/* Is it a branch that the unit is asked about? */
static bool is_asked(const struct sm *c, const struct exec_warp *w, uint32_t pc)
{
    const struct heddle_instruction *v = &c->program->view.instructions[pc];
    return (v->flags & HEDDLE_BRANCH) && v->target != HEDDLE_NO_PC && w->code[w->pc].guard_mode && !w->at.frame_depth;
}

bool regroup_parks(struct sm *c, uint32_t slot, uint32_t pc)
{
    struct exec_warp *w = c->slots[slot].exec;
    const struct heddle_instruction *v = &c->program->view.instructions[pc];
    if (!is_asked(c, w, pc) || c->host.trouble[0])
        return false;
    uint32_t lanes = exec_lanes(w), others = w->active & ~lanes;
    struct heddle_branch e = {.warp = slot,
                              .pc = pc,
                              .taken = lanes,
                              .not_taken = others,
                              .target = v->target,
                              .fall_through = pc + 1,
                              .reconvergence = v->reconvergence,
                              .apart = w->strands || w->active != c->regroup->slots[slot].lanes};
    struct heddle_piece piece = {w->index, w->active};
    uint32_t depth = w->at.stack_depth;
    if (regroup_ask(c, &e, &piece, &lanes, 1) == HEDDLE_STACK) {
        w->at.stack_depth = depth; /* the stack is as it was */
        w->active = piece.mask;
        w->state = WARP_READY;
        return false;
    }
    c->launch.counters.lanes[__builtin_popcount(lanes)]++;
    c->launch.counters.branches++;
    c->launch.counters.divergent_branches += lanes && others;
    return true;
}

/* The executor has moved the warp: lanes may have ended, or all may have come to the place where the unit wants
 * them. */
static void notice(struct sm *c, uint32_t slot)
{
    struct regroup *r = c->regroup;
    struct regroup_slot *g = &r->slots[slot];
    const struct exec_warp *w = c->slots[slot].exec;
    if (!w || !g->count || (c->issue.parked >> slot & 1))
        return;
    struct heddle_piece ended = {w->index, g->lanes & w->exited};
    g->lanes &= ~ended.mask;
    g->pieces[0].mask = g->lanes;
    g->had[w->index] &= ~ended.mask;
    r->blocks[c->slots[slot].block].at_work[w->index] &= ~ended.mask;
    bool over = w->state == WARP_PARKED, arrives = over && g->lanes;
    if (w->state == WARP_DONE)
        g->count = 0;
    else if (over && !arrives)
        regroup_park(c, slot);
    if (ended.mask)
        r->unit->exited(r->state, &c->view, slot, &ended, 1);
    if (arrives) {
        regroup_park(c, slot);
        r->unit->arrived(r->state, &c->view, slot, g->stop_pc);
    }
}

bool regroup_has_all_lanes(const struct sm *c, uint32_t slot)
{
    const struct exec_warp *w = c->slots[slot].exec;
    return c->regroup->slots[slot].lanes == (w->lanes & ~w->exited);
}

void regroup_follow(struct sm *c, uint32_t slot, const struct sm_inst *in)
{
    const struct sm_block *b = &c->blocks.list[c->slots[slot].block];
    if (c->launch.faulted || c->host.trouble[0])
        return;
    if (!in->barrier && !in->exit) {
        notice(c, slot);
        return;
    }
    for (uint32_t i = 0; i < b->warp_count; i++) /* barriers may have opened */
        notice(c, b->first_warp + i);
}
