/* A warp: its next instruction and what that waits for; barriers, fences, its end. */
#include "twin.h"

/* The next instruction */

bool twin_is_stale(const struct sm *c, const struct warp *w)
{
    return w->buffered && w->exec->state == WARP_READY && w->buffer[0] != sm_program_pc(c->program, w->exec);
}

const struct sm_inst *twin_next(const struct sm *c, const struct warp *w)
{
    return w->exec && w->buffered && !twin_is_stale(c, w) ? &c->program->code[w->buffer[0]] : NULL;
}

/* Sources, the guard and destinations: none may be awaited. */
bool twin_has_operands(const struct sm *c, const struct warp *w)
{
    const struct sm_inst *in = twin_next(c, w);
    if (!in)
        return false;
    for (uint32_t i = 0; i < in->check_count; i++)
        if (w->registers[in->registers[i]] != VALUE_HERE)
            return false;
    return true;
}

bool twin_waits_for_memory(const struct sm *c, const struct warp *w)
{
    const struct sm_inst *in = twin_next(c, w);
    for (uint32_t i = 0; in && i < in->check_count; i++)
        if (w->registers[in->registers[i]] == VALUE_COMES_FROM_MEMORY)
            return true;
    return false;
}

bool twin_next_is_l1_load(const struct sm *c, const struct warp *w)
{
    const struct sm_inst *in = twin_next(c, w);
    return in && (in->load || in->atomic) && (in->memory == SM_DEVICE || in->memory == SM_LOCAL);
}

bool twin_may_issue(const struct sm *c, const struct warp *w)
{
    (void)c;
    return w->exec && w->buffered && !w->ended && !w->at_barrier && !w->fenced && !w->atomics && !w->asleep;
}

/* Barriers and fences */

void twin_set_barriers(struct sm *c, uint32_t block)
{
    const struct block *b = &c->blocks[block];
    for (uint32_t slot = b->first_warp; slot < b->first_warp + b->warp_count; slot++) {
        struct warp *w = &c->warps[slot];
        if (!w->exec)
            continue;
        bool waits = w->exec->state == WARP_AT_BARRIER;
        if (waits == w->at_barrier)
            continue;
        w->at_barrier = waits;
        twin_show_barriers(c);
        if (waits) {
            TELL(c, barrier_wait, slot);
        } else {
            TELL(c, barrier_pass, slot);
            twin_show_warp(c, slot);
        }
    }
}

/* A warp at a fence goes on when its registers are written and, where the machine says so, its stores acknowledged. */
void twin_look_at_fence(struct sm *c, uint32_t slot)
{
    struct warp *w = &c->warps[slot];
    if (!w->fenced || w->awaited || (c->config->fence_waits_for_stores && w->stores))
        return;
    w->fenced = false;
    if (c->config->fence_drops_l1 && c->l1d)
        twin_l1_flush(c, false);
}

/* Ends */

void twin_release(struct sm *c, uint32_t id)
{
    const struct instruction *f = &c->inflight[id];
    struct warp *w = &c->warps[f->slot];
    for (uint32_t i = 0; i < f->inst->destination_count; i++) {
        w->registers[twin_destinations(f->inst)[i]] = VALUE_HERE;
        w->awaited--;
    }
    twin_look_at_fence(c, f->slot);
}

void twin_finish(struct sm *c, uint32_t id)
{
    uint32_t slot = c->inflight[id].slot;
    TELL(c, committed, slot, c->inflight[id].pc);
    c->inflight[id].used = false;
    c->warps[slot].in_pipeline--;
    twin_look_at_fence(c, slot);
    twin_look_at_end(c, slot);
}

void twin_stop(struct warp *w)
{
    w->asleep = true;
    w->asleep_until = UINT64_MAX;
}

bool twin_is_over(const struct warp *w)
{
    return w->exec && w->ended && !w->in_pipeline && !w->stores && !w->awaited && !w->fetching && !w->atomics;
}

/* On machines that say so, a slot is given back in fetch alone (front.c). */
void twin_look_at_end(struct sm *c, uint32_t slot)
{
    if (twin_is_over(&c->warps[slot]) && !c->config->ends_in_fetch)
        twin_retire(c, slot);
}

void twin_retire(struct sm *c, uint32_t slot)
{
    struct warp *w = &c->warps[slot];
    struct block *b = &c->blocks[w->block];
    w->exec = NULL;
    twin_show_resident(c);
    TELL(c, finished, slot);
    if (c->warp_log)
        warp_log_end(c->warp_log, slot, c->now);
    b->warps_left--;
    if (b->warps_left)
        return;
    b->cta = NULL;
    c->head.blocks_ended++;
    if (c->divergence && c->divergence->block_end)
        c->divergence->block_end(c->divergence_state, &c->view, w->block);
}
