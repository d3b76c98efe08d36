/* What a warp waits for besides its pipelines: registers, barriers, fences, naps. And its end. */
#include "model/model.h"

void model_look_at_next(struct sm *c, uint32_t slot)
{
    const struct warp *w = &c->warps[slot];
    if (c->has_subcores)
        model_fill_buffer(c, slot);
    c->shown[slot].next_pc = w->buffered ? w->buffer[0] : HEDDLE_NO_PC;
    c->shown[slot].active = w->exec->active;
}

/* Naps */

void model_nap(struct sm *c, uint32_t slot, uint32_t cycles)
{
    c->warps[slot].asleep_until = c->now + (cycles ? cycles : 1);
}

void model_stop(struct warp *w) { w->asleep_until = UINT64_MAX; }

/* Barriers and fences */

static void arrive(struct sm *c, uint32_t slot)
{
    c->warps[slot].at_barrier = true;
    model_show_barriers(c);
    TELL(c, barrier_wait, slot);
}

static void pass(struct sm *c, uint32_t slot)
{
    c->warps[slot].at_barrier = false;
    model_show_barriers(c);
    if (c->has_subcores)
        model_nap(c, slot, c->config->barrier_latency);
    TELL(c, barrier_pass, slot);
    model_look_at_next(c, slot);
}

void model_set_barriers(struct sm *c, uint32_t block)
{
    const struct block *b = &c->blocks[block];
    for (uint32_t slot = b->first_warp; slot < b->first_warp + b->warp_count; slot++) {
        const struct warp *w = &c->warps[slot];
        if (!w->exec)
            continue;
        bool waits = w->exec->state == WARP_AT_BARRIER;
        if (waits && !w->at_barrier)
            arrive(c, slot);
        else if (!waits && w->at_barrier)
            pass(c, slot);
    }
}

/* A warp at a fence goes on when its registers are written and, where the machine says so, its stores acknowledged. */
void model_look_at_fence(struct sm *c, uint32_t slot)
{
    struct warp *w = &c->warps[slot];
    if (!w->fenced || w->awaited || (c->config->fence_waits_for_stores && w->stores))
        return;
    w->fenced = false;
    if (c->config->fence_drops_l1 && c->l1d)
        model_l1_drop(c);
}

/* Ends of instructions */

static void release_registers(struct sm *c, uint32_t id)
{
    const struct instruction *f = &c->inflight[id];
    struct warp *w = &c->warps[f->slot];
    for (uint32_t i = 0; i < f->inst->destination_count; i++) {
        w->registers[model_destinations(f->inst)[i]] = VALUE_HERE;
        w->awaited--;
    }
}

void model_end(struct sm *c, uint32_t id)
{
    struct instruction *f = &c->inflight[id];
    release_registers(c, id);
    model_look_at_fence(c, f->slot);
    TELL(c, committed, f->slot, f->pc);
    f->used = false;
    c->warps[f->slot].in_pipeline--;
    model_look_at_end(c, f->slot);
}

/* Ends of warps */

bool model_is_over(const struct warp *w)
{
    return w->exec && w->ended && !w->in_pipeline && !w->stores && !w->awaited && !w->fetching && !w->atomics;
}

/* On machines with the rule ends_in_fetch, front.c alone gives slots back. */
void model_look_at_end(struct sm *c, uint32_t slot)
{
    if (model_is_over(&c->warps[slot]) && !c->config->ends_in_fetch)
        model_retire(c, slot);
}

static void end_block(struct sm *c, uint32_t block)
{
    c->blocks[block].cta = NULL;
    c->head.blocks_ended++;
    if (c->divergence && c->divergence->block_end)
        c->divergence->block_end(c->divergence_state, &c->view, block);
}

void model_retire(struct sm *c, uint32_t slot)
{
    struct warp *w = &c->warps[slot];
    w->exec = NULL;
    model_show_resident(c);
    TELL(c, finished, slot);
    if (c->warp_log)
        warp_log_end(c->warp_log, slot, c->now);
    c->blocks[w->block].warps_left--;
    if (!c->blocks[w->block].warps_left)
        end_block(c, w->block);
}
