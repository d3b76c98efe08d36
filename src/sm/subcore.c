/* Sub-cores: a core whose schedulers each have pipelines of their own, as NVIDIA's have since Volta.
 *
 * There are no operand collectors in front of these pipelines: an instruction that issues is in its pipeline, and
 * its result can be used its latency later. (In hardware the assembler sees to that with stall counts; here the
 * scoreboard does, to the same cycle.) The next instruction is always there: instruction caches are not modelled. A
 * memory instruction takes the way that it takes on other machines: collectors, load/store unit. What instructions
 * cost: hopper.c. */
#include "sm/core_kind.h"
#include "sm/regroup.h"

struct subcore {
    /* The scheduler issues nothing before this cycle: an instruction that stands for several is at work. */
    uint64_t issues_at;
    uint64_t free_at[SM_UNITS]; /* when each unit takes its next instruction, in eighths of a cycle */
};

struct subcores {
    uint64_t barriers_at; /* the cycle from which a warp can arrive at a barrier, which all sub-cores share */
    uint64_t fences_at;   /* the cycle from which the next fence of the whole GPU begins */
    uint32_t memory_turn; /* one more than the sub-core that last went to memory */
    struct subcore list[];
};

static struct subcores *subcores_of(const struct sm *c) { return c->kind_state; }

static void *create(struct arena *a, const struct sm_config *config)
{
    return arena_alloc_lines(a, sizeof(struct subcores) + config->schedulers * sizeof(struct subcore));
}

static bool takes_memory(const struct sm *c)
{
    return collector_can_accept(c->pipes.collector, COLLECT_MEM) && c->lsu.free_access_count &&
           c->head.deferred < SM_DEFERRED;
}

/* Intervals are in eighths of a cycle, the average over a sequence of instructions. A pipeline takes an instruction
 * in the cycle in which its time comes, and the fraction counts for the next one. */
enum { EIGHTHS = 8 };

static inline bool is_free(const struct subcore *s, uint32_t unit, uint64_t now)
{
    return s->free_at[unit] < (now + 1) * EIGHTHS;
}

static inline void take(struct subcore *s, uint32_t unit, uint64_t now, uint32_t interval)
{
    if (s->free_at[unit] < now * EIGHTHS)
        s->free_at[unit] = now * EIGHTHS;
    s->free_at[unit] += interval;
}

/* Floating point goes to either half of its pipeline, integer multiplication only to SM_SP. */
static uint64_t free_of(const struct sm *c, uint32_t k)
{
    const struct subcore *s = &subcores_of(c)->list[k];
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
    if (subcores_of(c)->barriers_at > c->now)
        free &= ~c->issue.needs[SM_BARRIER];
    return c->flights.free_count ? free : 0;
}

static uint64_t free_warps(const struct sm *c)
{
    uint64_t free = 0;
    for (uint32_t k = 0; k < c->config->schedulers; k++)
        free |= free_of(c, k);
    return without_shared_units(c, free);
}

static uint64_t still_free_warps(const struct sm *c, uint32_t k)
{
    return without_shared_units(c, c->issue.unit_free & ~c->host.schedulers[k].warps);
}

static void occupy(struct sm *c, uint32_t k, const struct sm_inst *in)
{
    struct subcore *s = &subcores_of(c)->list[k];
    uint32_t unit = in->unit;
    if (unit == SM_SP_OR_SFU && !is_free(s, unit, c->now))
        unit = SM_SP;
    take(s, unit, c->now, in->interval);
    s->issues_at = c->now + (in->slots ? in->slots : 1);
    if (unit == SM_MEM)
        subcores_of(c)->memory_turn = k + 1;
    if (unit == SM_BARRIER)
        subcores_of(c)->barriers_at = c->now + in->initiation;
    c->account.counters.issued += (uint64_t)in->slots - 1; /* a jump that has vanished has none */
}

/* After a branch that no thread takes the next instruction is there sooner. */
static uint32_t latency_of(const struct sm *c, uint32_t slot, const struct sm_inst *in)
{
    bool passes =
        in->unit == SM_CONTROL && in->destination_count && c->config->branch_passed_latency && !sm_lanes(c, slot);
    if (passes)
        return c->config->branch_passed_latency;
    return in->latency;
}

/* For a branch that became predicates: an instruction that issues for no thread at all takes its time too. */
static void predicate(struct sm *c, uint32_t k, uint32_t slot, const struct sm_inst *in)
{
    const struct exec_warp *w = c->slots[slot].exec;
    if (!(in->if_taken | in->if_not_taken))
        return;
    uint32_t taken = sm_lanes(c, slot), more = 0;
    if (taken == w->active)
        more = in->if_taken;
    else if (!taken)
        more = in->if_not_taken;
    subcores_of(c)->list[k].issues_at += more;
    c->account.counters.issued += more;
}

/* A memory instruction does not end here, but in the load/store unit. */
static void start(struct sm *c, uint32_t k, uint32_t slot, uint16_t id, const struct sm_inst *in)
{
    if (in->unit == SM_MEM)
        collectors_start(c, k, slot, id, in);
    else
        sm_end_after(c, id, latency_of(c, slot, in));
    occupy(c, k, in);
    predicate(c, k, slot, in);
}

/* Returns the cycles until the warp goes on after a fence. */
static uint32_t fence(struct sm *c, const struct sm_inst *in)
{
    uint64_t start = later(subcores_of(c)->fences_at, c->now);
    subcores_of(c)->fences_at = start + in->initiation;
    return (uint32_t)(start - c->now) + in->latency;
}

/* A slot that a divergence unit has parked, or that starts with other threads later, sleeps already. */
static void nap(struct sm *c, uint32_t slot, uint32_t cycles)
{
    if (!c->regroup || !(c->issue.asleep >> slot & 1))
        sm_nap(c, slot, cycles);
}

static void after(struct sm *c, uint32_t slot, const struct sm_inst *in)
{
    if (in->memory == SM_FENCE && in->latency > 1)
        nap(c, slot, fence(c, in));
    else if (in->unit == SM_BARRIER && c->slots[slot].exec->state == WARP_READY) /* the last to arrive */
        nap(c, slot, c->config->barrier_latency);
    else if (in->own_wait)
        nap(c, slot, in->own_wait);
}

static void pass_barrier(struct sm *c, uint32_t slot) { nap(c, slot, c->config->barrier_latency); }

static uint64_t next_free(const struct sm *c)
{
    uint64_t next = subcores_of(c)->barriers_at > c->now ? subcores_of(c)->barriers_at : UINT64_MAX;
    for (uint32_t k = 0; k < c->config->schedulers; k++) {
        const struct subcore *s = &subcores_of(c)->list[k];
        if (s->issues_at > c->now && s->issues_at < next)
            next = s->issues_at;
        for (uint32_t unit = 0; unit < SM_UNITS; unit++)
            if (!is_free(s, unit, c->now) && s->free_at[unit] / EIGHTHS < next)
                next = s->free_at[unit] / EIGHTHS;
    }
    return next;
}

/* A path that a divergence unit has given the slot may end among instructions that have vanished: the last one before
 * its end then issues. */
static uint32_t vanished_before_next(const struct sm *c, uint32_t slot)
{
    const struct exec_warp *w = c->slots[slot].exec;
    uint32_t skip = c->program->code[sm_program_pc(c->program, w)].skip;
    if (skip && c->regroup)
        return (uint32_t)smaller(skip, w->rpc - w->pc - 1);
    return skip;
}

static void fill_buffer(struct sm *c, uint32_t slot)
{
    struct sm_slot *s = &c->slots[slot];
    s->buffered = 0;
    if (((c->issue.ended | c->issue.parked) >> slot & 1) || s->exec->state == WARP_DONE || s->exec->state == WARP_FAULT)
        return;
    s->buffer[0] = sm_program_pc(c->program, s->exec) + vanished_before_next(c, slot);
    s->buffered = 1;
}

/* Executes the vanished instructions before the one that issues. */
static void run_vanished(struct sm *c, uint32_t slot)
{
    struct exec_warp *w = c->slots[slot].exec;
    for (uint32_t left = vanished_before_next(c, slot); left; left--) {
        if (c->account.warp_log)
            warp_log_vanished(c->account.warp_log, slot, sm_lanes(c, slot));
        if (c->mixes)
            regroup_run_vanished(c, slot);
        else
            exec_step(w);
    }
}

/* Of the sub-cores, the one that last went to memory comes last. */
static uint64_t first(const struct sm *c) { return subcores_of(c)->memory_turn; }

/* Sub-cores count as SP what computes in one cycle, as SFU what takes longer, and memory. */
static uint64_t parts(const struct sm *c)
{
    (void)c;
    return PIPELINE_PARTS(PIPELINE_SP, PIPELINE_SFU, PIPELINE_LOAD_STORE) | (uint64_t)PIPELINE_SP << 4 * SM_ALU |
           (uint64_t)PIPELINE_SFU << 4 * SM_TENSOR | (uint64_t)PIPELINE_SFU << 4 * SM_LANES |
           (uint64_t)PIPELINE_SFU << 4 * SM_BARRIER | (uint64_t)PIPELINE_SP << 4 * SM_UNIFORM;
}

const struct core_kind sub_cores_kind = {.code = &hopper_code,
                                         .units = SM_UNITS,
                                         .create = create,
                                         .free = free_warps,
                                         .still_free = still_free_warps,
                                         .next = next_free,
                                         .start = start,
                                         .parts = parts,
                                         .first = first,
                                         .fill_buffer = fill_buffer,
                                         .before = run_vanished,
                                         .after = after,
                                         .pass_barrier = pass_barrier};
