/* Sub-cores: a core whose schedulers each have pipelines of their own (rules.core_kind = sub_cores), as NVIDIA's have
 * since Volta.
 *
 * An instruction that issues is in its pipeline at once: no collectors stand before it. What it computes can be used
 * its latency later. The next instruction of a warp is always there: instruction caches are not modelled. What goes to
 * memory passes the collectors and the load/store unit, as on other machines.
 *
 * With the rule `lowers` PTX instructions issue as an assembler would leave them. Some have vanished: they are executed
 * together with the next one that issues, and cost nothing. Others stand for several machine instructions, which take
 * the scheduler as many cycles. */
#include "model/model.h"

/* Intervals are kept in eighths of a cycle, so that on average a sequence of instructions takes its pipeline for
 * exactly as long as was measured. A pipeline takes an instruction in the cycle in which its time comes. */
enum { EIGHTHS = 8 };

static bool is_free(const struct sm *c, const struct subcore *s, uint32_t unit)
{
    return s->free_at[unit] / EIGHTHS <= c->now;
}

/* Floating point goes to either half of the multiplier, SM_SP_OR_SFU first; integer multiplication only to SM_SP. */
static uint32_t choose_unit(const struct sm *c, const struct subcore *s, const struct sm_inst *in)
{
    if (in->unit == SM_SP_OR_SFU && !is_free(c, s, SM_SP_OR_SFU))
        return SM_SP;
    return in->unit;
}

bool model_subcore_takes(const struct sm *c, uint32_t slot, const struct sm_inst *in)
{
    const struct subcore *s = &c->subcores.list[slot % c->config->schedulers];
    if (s->issues_from > c->now || !is_free(c, s, choose_unit(c, s, in)))
        return false;
    if (in->unit == SM_MEM)
        return model_collectors_accept(c, KIND_MEMORY);
    return in->unit != SM_BARRIER || c->subcores.barriers_from <= c->now;
}

static void occupy(const struct sm *c, struct subcore *s, const struct sm_inst *in)
{
    uint32_t unit = choose_unit(c, s, in);
    uint64_t from = c->now * EIGHTHS;
    if (s->free_at[unit] > from)
        from = s->free_at[unit];
    s->free_at[unit] = from + in->interval;
    s->issues_from = c->now + (in->slots ? in->slots : 1);
}

/* After a branch that no thread takes, the next instruction is there sooner. */
static uint32_t latency_of(const struct sm *c, const struct instruction *f)
{
    bool is_jump = f->inst->unit == SM_CONTROL && f->inst->destination_count;
    if (is_jump && c->config->branch_passed_latency && !exec_lanes(c->warps[f->slot].exec))
        return c->config->branch_passed_latency;
    return f->inst->latency;
}

static uint32_t results_in(const struct sm *c, uint64_t cycle)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->executing_count; i++)
        count += c->executing[i].end == cycle;
    return count;
}

/* A branch that became predicates: what is issued for no thread at all takes its time. */
static uint32_t predicated_slots(const struct sm *c, const struct instruction *f)
{
    const struct exec_warp *w = c->warps[f->slot].exec;
    uint32_t taken = exec_lanes(w);
    if (taken == w->active)
        return f->inst->if_taken;
    return taken ? 0 : f->inst->if_not_taken;
}

/* The instruction has not been executed yet. */
void model_subcore_start(struct sm *c, uint32_t scheduler, uint32_t id)
{
    const struct instruction *f = &c->inflight[id];
    const struct sm_inst *in = f->inst;
    struct subcore *s = &c->subcores.list[scheduler];
    uint32_t predicated = predicated_slots(c, f);
    occupy(c, s, in);
    s->issues_from += predicated;
    c->counters.issued += (uint64_t)in->slots - 1 + predicated; /* a jump that has vanished has no slot */
    if (in->unit == SM_BARRIER)
        c->subcores.barriers_from = c->now + in->initiation;
    if (in->unit == SM_MEM) {
        c->subcores.memory_turn = scheduler + 1;
        return;
    }
    uint64_t end = c->now + latency_of(c, f);
    while (results_in(c, end) == RESULTS)
        end++;
    model_end_at(c, id, in->unit, end);
}

/* A fence of the whole GPU begins when the one before it lets it. Returns the cycles that it holds its warp. */
static uint32_t fence_cycles(struct sm *c, const struct sm_inst *in)
{
    uint64_t start = c->now;
    if (c->subcores.fences_from > start)
        start = c->subcores.fences_from;
    c->subcores.fences_from = start + in->initiation;
    return (uint32_t)(start - c->now) + in->latency;
}

/* The warp has executed the instruction, and may have to wait before its next one. */
void model_subcore_wait(struct sm *c, uint32_t slot, const struct sm_inst *in)
{
    bool is_last_at_barrier = in->unit == SM_BARRIER && c->warps[slot].exec->state == WARP_READY;
    if (in->memory == SM_FENCE && in->latency > 1)
        model_nap(c, slot, fence_cycles(c, in));
    else if (is_last_at_barrier)
        model_nap(c, slot, c->config->barrier_latency);
    else if (in->own_wait)
        model_nap(c, slot, in->own_wait);
}

/* The next instruction of a warp */

static uint32_t vanished_before_next(const struct sm *c, const struct exec_warp *w)
{
    return c->program->code[sm_program_pc(c->program, w)].skip;
}

void model_fill_buffer(struct sm *c, uint32_t slot)
{
    struct warp *w = &c->warps[slot];
    w->buffered = 0;
    if (w->ended || w->exec->state == WARP_DONE || w->exec->state == WARP_FAULT)
        return;
    w->buffer[0] = sm_program_pc(c->program, w->exec) + vanished_before_next(c, w->exec);
    w->buffered = 1;
}

void model_run_vanished(struct sm *c, uint32_t slot)
{
    struct exec_warp *w = c->warps[slot].exec;
    for (uint32_t left = vanished_before_next(c, w); left; left--) {
        if (c->warp_log)
            warp_log_vanished(c->warp_log, slot, exec_lanes(w));
        exec_step(w);
    }
}
