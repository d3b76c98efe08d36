/* A core whose warps execute without time, for an estimate of what is not timed (gpu/sample.h).
 *
 * First the core is brought to rest: no warp issues, and every instruction in flight ends in its time. Then warps
 * execute without time, blocks end and others take their places. When the core goes on, warps fetch from where they
 * have come to. Caches and policies are as they were when the core came to rest. */
#include "sm/core.h"

bool sm_may_rest(const struct sm *c) { return !c->regroup && !c->observer; }

void sm_rest(struct sm *c, uint64_t now)
{
    sm_account_until(c, now);
    for (uint64_t left = c->view.resident; left; left &= left - 1)
        sm_stop(c, (uint32_t)__builtin_ctzll(left));
}

bool sm_is_at_rest(const struct sm *c)
{
    if (c->front.valid || c->front.responses.count || c->front.wants || c->front.over ||
        !collector_idle(c->pipes.collector) || !lsu_idle(&c->lsu) || (c->lsu.l1d && !cache_idle(c->lsu.l1d)))
        return false;
    for (uint64_t left = sm_occupied(c); left; left &= left - 1) {
        const struct sm_slot *s = &c->slots[__builtin_ctzll(left)];
        if (s->in_pipeline || s->stores || s->awaited || s->fetching || s->atomics)
            return false;
    }
    return true;
}

bool sm_warp_progress(const struct sm *c, uint32_t slot, struct sm_progress *out)
{
    const struct exec_warp *w = c->slots[slot].exec;
    if (!w || w->state == WARP_DONE)
        return false;
    *out = (struct sm_progress){.age = c->warps[slot].age,
                                .executed = w->executed,
                                .pc = sm_program_pc(c->program, w),
                                .can_go_on = w->state == WARP_READY || w->state == WARP_ASLEEP};
    return true;
}

uint32_t sm_skip(struct sm *c, uint32_t slot, uint32_t instructions)
{
    struct exec_warp *w = c->slots[slot].exec;
    if (w->state == WARP_ASLEEP)
        w->state = WARP_READY;
    return w->state == WARP_READY ? exec_run(w, instructions) : 0;
}

/* Ends a warp that has executed its last instruction; nothing of it is in flight. */
static void end_warp(struct sm *c, uint32_t slot)
{
    uint64_t bit = 1ull << slot;
    if (!(c->issue.ended & bit)) {
        warp_block(c, &c->issue.ended, slot);
        c->view.resident &= ~bit;
        c->slots[slot].buffered = 0;
        SM_TELL(c, ended, slot);
        sm_refresh(c, slot);
    }
    sm_retire(c, slot);
}

bool sm_end_block(struct sm *c, uint32_t slot)
{
    const struct sm_block *b = &c->blocks.list[c->slots[slot].block];
    if (b->cta->warps_done < b->cta->warp_count)
        return false;
    sm_set_barriers(c, c->slots[slot].block);
    for (uint32_t i = b->first_warp; i < b->first_warp + b->warp_count; i++)
        if (c->slots[i].exec)
            end_warp(c, i);
    return true;
}

static void go_on(struct sm *c, uint32_t slot)
{
    struct exec_warp *w = c->slots[slot].exec;
    if (w->state == WARP_ASLEEP)
        w->state = WARP_READY;
    if (w->state == WARP_DONE)
        end_warp(c, slot);
    else if (w->state != WARP_FAULT)
        sm_flush(c, slot);
}

void sm_go_on(struct sm *c, uint64_t now)
{
    sm_account_until(c, now);
    c->now = c->view.cycle = now;
    c->issue.asleep = 0;
    for (uint64_t left = c->blocks.used; left; left &= left - 1)
        sm_set_barriers(c, (uint32_t)__builtin_ctzll(left));
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        if (c->slots[slot].exec)
            go_on(c, slot);
    due_now(&c->due, PART_ISSUE);
    *c->wake_at = now;
}
