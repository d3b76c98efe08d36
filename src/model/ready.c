/* Why does a warp not issue? One list, in this order: what stands first in it is what the warp's cycle is counted
 * under (count.c), and a warp without any obstacle is a candidate of its scheduler (issue.c).
 *
 * Where each obstacle comes from: barriers, fences, naps, operands, ends in warp.c; the buffer in front.c; atomics in
 * accesses.c and answers.c; pipelines in collectors.c or, where schedulers have their own, in subcores.c. */
#include "model/model.h"

/* The warp has fetched past a branch: its buffer does not hold its next instruction. (Sub-cores always have that.) */
static bool is_stale(const struct sm *c, const struct warp *w)
{
    if (c->has_subcores || w->exec->state != WARP_READY)
        return false;
    return w->buffer[0] != sm_program_pc(c->program, w->exec);
}

const struct sm_inst *model_next(const struct sm *c, const struct warp *w)
{
    if (!w->exec || !w->buffered || is_stale(c, w))
        return NULL;
    return &c->program->code[w->buffer[0]];
}

bool model_next_is_l1_load(const struct sm *c, const struct warp *w)
{
    const struct sm_inst *in = model_next(c, w);
    return in && (in->load || in->atomic) && (in->memory == SM_DEVICE || in->memory == SM_LOCAL);
}

/* Sources, the guard and destinations of the next instruction: is one of them in this state? */
static bool has_register(const struct sm *c, const struct warp *w, enum value value)
{
    const struct sm_inst *in = model_next(c, w);
    for (uint32_t i = 0; in && i < in->check_count; i++)
        if (w->registers[in->registers[i]] == value)
            return true;
    return false;
}

bool model_awaits_memory(const struct sm *c, const struct warp *w)
{
    return has_register(c, w, VALUE_COMES_FROM_MEMORY);
}

enum obstacle model_obstacle(const struct sm *c, const struct warp *w)
{
    if (!w->exec)
        return OBSTACLE_NO_WARP;
    if (w->ended)
        return OBSTACLE_ENDED;
    if (w->at_barrier)
        return OBSTACLE_BARRIER;
    if (w->fenced)
        return OBSTACLE_FENCE;
    if (w->atomics && !c->config->atomics_at_once)
        return OBSTACLE_ATOMIC;
    if (w->asleep_until > c->now)
        return OBSTACLE_ASLEEP;
    if (!w->buffered)
        return OBSTACLE_NO_BUFFER;
    if (is_stale(c, w))
        return OBSTACLE_STALE;
    if (model_awaits_memory(c, w))
        return OBSTACLE_MEMORY;
    if (has_register(c, w, VALUE_COMES))
        return OBSTACLE_REGISTER;
    if (!model_pipeline_takes(c, (uint32_t)(w - c->warps)))
        return OBSTACLE_PIPELINE;
    return OBSTACLE_NONE;
}

/* Pipelines */

static bool has_free_instruction(const struct sm *c)
{
    for (uint32_t i = 0; i < INFLIGHT; i++)
        if (!c->inflight[i].used)
            return true;
    return false;
}

/* What either SP or SFU can do goes to an SP while that takes instructions. */
enum kind model_kind(const struct sm *c, const struct sm_inst *in)
{
    if (in->unit == SM_MEM)
        return KIND_MEMORY;
    if (in->unit == SM_SP)
        return KIND_SP;
    if (in->unit == SM_SP_OR_SFU && model_collectors_accept(c, KIND_SP))
        return KIND_SP;
    return KIND_SFU;
}

/* Does a pipeline take the next instruction of the warp, whatever else stops it? */
bool model_pipeline_takes(const struct sm *c, uint32_t slot)
{
    const struct sm_inst *in = model_next(c, &c->warps[slot]);
    if (!in || !has_free_instruction(c))
        return false;
    if (in->unit == SM_MEM && c->head.deferred == DEFERRED)
        return false;
    if (c->has_subcores)
        return model_subcore_takes(c, slot, in);
    return model_collectors_accept(c, model_kind(c, in));
}
