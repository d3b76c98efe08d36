/* Sub-cores: see subcore.h. */
#include "sm/core.h"

struct sm_subcores *subcores_create(struct arena *a, const struct sm_config *config)
{
    return arena_alloc_lines(a, sizeof(struct sm_subcores) + config->schedulers * sizeof(struct sm_subcore));
}

static bool takes_memory(const struct sm *c)
{
    return collector_can_accept(c->pipes.collector, COLLECT_MEM) && c->lsu.free_access_count &&
           c->head.deferred < SM_DEFERRED;
}

/* Intervals are in eighths of a cycle, the average over a sequence of instructions. A pipeline takes an instruction
 * in the cycle in which its time comes, and the fraction counts for the next one. */
enum { EIGHTHS = 8 };

static inline bool is_free(const struct sm_subcore *s, uint32_t unit, uint64_t now)
{
    return s->free_at[unit] / EIGHTHS <= now;
}

static inline void take(struct sm_subcore *s, uint32_t unit, uint64_t now, uint32_t interval)
{
    if (s->free_at[unit] < now * EIGHTHS)
        s->free_at[unit] = now * EIGHTHS;
    s->free_at[unit] += interval;
}

/* Floating point goes to either half of its pipeline, integer multiplication only to SM_SP. */
static uint64_t free_of(const struct sm *c, uint32_t k)
{
    const struct sm_subcore *s = &c->sub->list[k];
    uint64_t free = 0;
    if (s->issues_at > c->now)
        return 0;
    for (uint32_t unit = 0; unit < SM_UNITS; unit++)
        if (is_free(s, unit, c->now))
            free |= c->issue.needs[unit];
    if (is_free(s, SM_SP, c->now))
        free |= c->issue.needs[SM_SP_OR_SFU];
    return free & c->host.schedulers[k].warps;
}

static uint64_t without_shared_units(const struct sm *c, uint64_t free)
{
    if (!takes_memory(c))
        free &= ~c->issue.needs[SM_MEM];
    if (c->sub->barriers_at > c->now)
        free &= ~c->issue.needs[SM_BARRIER];
    return c->flights.free_count ? free : 0;
}

uint64_t subcores_free(const struct sm *c)
{
    uint64_t free = 0;
    for (uint32_t k = 0; k < c->config->schedulers; k++)
        free |= free_of(c, k);
    return without_shared_units(c, free);
}

uint64_t subcores_still_free(const struct sm *c, uint32_t k)
{
    return without_shared_units(c, c->issue.unit_free & ~c->host.schedulers[k].warps);
}

static void occupy(struct sm *c, uint32_t k, const struct sm_inst *in)
{
    struct sm_subcore *s = &c->sub->list[k];
    uint32_t unit = in->unit;
    if (unit == SM_SP_OR_SFU && !is_free(s, unit, c->now))
        unit = SM_SP;
    take(s, unit, c->now, in->interval);
    s->issues_at = c->now + (in->slots ? in->slots : 1);
    if (unit == SM_MEM)
        c->sub->memory_turn = k + 1;
    if (unit == SM_BARRIER)
        c->sub->barriers_at = c->now + in->initiation;
    c->account.counters.issued += (uint64_t)in->slots - 1; /* a jump that has vanished has none */
}

/* After a branch that no thread takes the next instruction is there sooner. */
static uint32_t latency_of(const struct sm *c, uint16_t id, const struct sm_inst *in)
{
    bool passes = in->unit == SM_CONTROL && in->destination_count && c->config->branch_passed_latency &&
                  !exec_lanes(c->slots[c->flights.list[id].slot].exec);
    if (passes)
        return c->config->branch_passed_latency;
    return in->latency;
}

/* A memory instruction does not end here, but in the load/store unit. */
void subcore_start(struct sm *c, uint32_t k, uint16_t id, const struct sm_inst *in)
{
    struct sm_pipelines *p = &c->pipes;
    uint32_t at = (c->now + latency_of(c, id, in)) % SM_TIME_RING;
    occupy(c, k, in);
    if (in->unit == SM_MEM)
        return;
    while (p->ending[at].count == SM_WRITEBACK)
        at = (at + 1) % SM_TIME_RING;
    sm_end_at(c, id, at);
}

uint32_t subcore_fence(struct sm *c, const struct sm_inst *in)
{
    uint64_t start = later(c->sub->fences_at, c->now);
    c->sub->fences_at = start + in->initiation;
    return (uint32_t)(start - c->now) + in->latency;
}

uint64_t subcores_next(const struct sm *c)
{
    uint64_t next = c->sub->barriers_at > c->now ? c->sub->barriers_at : UINT64_MAX;
    for (uint32_t k = 0; k < c->config->schedulers; k++) {
        const struct sm_subcore *s = &c->sub->list[k];
        if (s->issues_at > c->now && s->issues_at < next)
            next = s->issues_at;
        for (uint32_t unit = 0; unit < SM_UNITS; unit++)
            if (!is_free(s, unit, c->now) && s->free_at[unit] / EIGHTHS < next)
                next = s->free_at[unit] / EIGHTHS;
    }
    return next;
}

void subcore_fill_buffer(struct sm *c, uint32_t slot)
{
    struct sm_slot *s = &c->slots[slot];
    s->buffered = 0;
    if (c->issue.ended >> slot & 1 || s->exec->state == WARP_DONE || s->exec->state == WARP_FAULT)
        return;
    uint32_t pc = sm_program_pc(c->program, s->exec);
    s->buffer[0] = pc + c->program->code[pc].skip;
    s->buffered = 1;
}

void subcore_predicate(struct sm *c, uint32_t k, uint32_t slot, const struct sm_inst *in)
{
    const struct exec_warp *w = c->slots[slot].exec;
    uint32_t taken = exec_lanes(w), more = 0;
    if (taken == w->active)
        more = in->if_taken;
    else if (!taken)
        more = in->if_not_taken;
    c->sub->list[k].issues_at += more;
    c->account.counters.issued += more;
}

void subcore_run_vanished(struct sm *c, uint32_t slot)
{
    struct exec_warp *w = c->slots[slot].exec;
    for (uint32_t left = c->program->code[sm_program_pc(c->program, w)].skip; left; left--) {
        if (c->account.warp_log)
            warp_log_vanished(c->account.warp_log, slot, exec_lanes(w));
        exec_step(w);
    }
}
