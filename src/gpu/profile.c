/* Counters of each instruction.
 *
 * With time they come from the events of a core (include/heddle/policy.h), and from two counts that no event reports:
 * divergent branches, and tries of the L1 that failed. Both belong to one instruction at a time, so that the change
 * since the last event belongs to that instruction. Cycles of warps come from the core's log of stalls, which is read
 * when a warp issues. Each core has its own counters; they are added up when the launch is over.
 *
 * Without time warps are run one instruction after the other and looked at in between, which is slower than exec_run
 * and is done for --pcs alone. */
#include "gpu/profile.h"

#include "base/numbers.h"
#include "base/out_of_memory.h"
#include "exec/race.h"
#include "sm/sm.h"

#include <stdlib.h>

/* With time */

static void settle_divergent(struct profile_core *p)
{
    uint64_t now = sm_launch(p->core)->counters.divergent_branches;
    if (now != p->divergent)
        p->pcs[p->last_issued].divergent += now - p->divergent;
    p->divergent = now;
}

/* An access that fails is tried again before any other, until it is taken. */
static void settle_fails(struct profile_core *p, uint32_t pc)
{
    uint64_t now = sm_l1_fails(p->core);
    p->pcs[pc].l1d_reservation_fails += now - p->fails;
    p->fails = now;
}

/* Adds the cycles of a warp since it last issued. Those of the issue, and those after its end, belong to its last
 * instruction, the others to its next one; NULL means that it has none. */
static void settle_cycles(struct profile_core *p, uint32_t warp, struct profile_pc *next)
{
    uint64_t cycles[STALL_COUNT];
    struct profile_pc *last = &p->pcs[p->last_of_warp[warp]];
    stall_log_take(&p->stalls, warp, cycles);
    last->cycles[STALL_ISSUED] += cycles[STALL_ISSUED];
    last->cycles[STALL_DRAIN] += cycles[STALL_DRAIN];
    for (int i = 0; next && i < STALL_COUNT; i++)
        if (i != STALL_ISSUED && i != STALL_DRAIN) {
            next->cycles[i] += cycles[i];
            next->stalled += cycles[i];
        }
}

/* Adds the cycles left of the warp that had the slot before. */
static void on_launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct profile_core *p = state;
    (void)core;
    sm_settle_stalls(p->core);
    settle_cycles(p, warp, NULL);
    p->loads[warp].count = 0;
}

static void on_issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct profile_core *p = state;
    struct profile_pc *pc = &p->pcs[e->pc];
    (void)core;
    settle_divergent(p);
    p->last_issued = e->pc;
    pc->executions++;
    pc->thread_executions += (uint64_t)__builtin_popcount(e->active);
    sm_settle_stalls(p->core);
    settle_cycles(p, e->warp, pc);
    p->last_of_warp[e->warp] = e->pc;
}

static void on_coalesced(void *state, const struct heddle_core *core, const struct heddle_coalesced *e)
{
    struct profile_core *p = state;
    struct profile_pc *pc = &p->pcs[e->pc];
    struct profile_loads *loads = &p->loads[e->warp];
    (void)core;
    *(e->store ? &pc->store_requests : &pc->load_requests) += 1;
    *(e->store ? &pc->store_accesses : &pc->load_accesses) += e->accesses;
    if (e->store)
        return;
    uint32_t least = e->through_l1 ? sm_least_accesses(p->core, e->warp, e->active) : e->accesses;
    least = (uint32_t)smaller(least, e->accesses);
    pc->coalesced_accesses += least;
    if (e->through_l1 && loads->count < PROFILE_LOADS)
        loads->list[loads->count++] = (struct profile_load){e->pc, (uint16_t)least, 0};
}

/* A load has no more misses than it would have accesses if its lanes lay side by side. */
static void count_load(struct profile_core *p, const struct heddle_l1_access *e)
{
    struct profile_loads *loads = &p->loads[e->warp];
    uint32_t at = 0;
    while (at < loads->count && loads->list[at].pc != e->pc)
        at++;
    if (at == loads->count) { /* more than PROFILE_LOADS loads of a warp are under way */
        p->pcs[e->pc].coalesced_misses += e->outcome == HEDDLE_MISS;
        return;
    }
    struct profile_load *load = &loads->list[at];
    load->misses = (uint16_t)(load->misses + (e->outcome == HEDDLE_MISS));
    if (e->left)
        return;
    p->pcs[e->pc].coalesced_misses += smaller(load->misses, load->least);
    loads->count--;
    for (; at < loads->count; at++)
        loads->list[at] = loads->list[at + 1];
}

static void on_l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    struct profile_core *p = state;
    struct profile_pc *pc = &p->pcs[e->pc];
    bool read_hit = e->outcome == HEDDLE_HIT && !e->store,
         own = e->owner == (int32_t)e->warp && e->owner_age == core->warp[e->warp].age;
    pc->l1d_hits += e->outcome == HEDDLE_HIT;
    pc->l1d_intra_warp_hits += read_hit && own;
    pc->l1d_inter_warp_hits += read_hit && !own;
    pc->l1d_misses += e->outcome == HEDDLE_MISS;
    pc->l1d_pending_hits += e->outcome == HEDDLE_PENDING;
    if (!e->store && e->outcome != HEDDLE_FAIL)
        count_load(p, e);
    settle_fails(p, e->pc);
    p->last_access = e->pc;
}

static const struct heddle_policy listener = {
    .name = "profile",
    .on = {.launched = on_launched, .issued = on_issued, .coalesced = on_coalesced, .l1_access = on_l1_access},
};

void profile_core_listen(struct profile_core *p, struct sm *core)
{
    p->core = core;
    sm_listen(core, &listener, p);
    sm_log_stalls(core, &p->stalls);
}

void profile_core_begin(struct profile_core *p, struct profile_pc *pcs)
{
    *p = (struct profile_core){.core = p->core, .pcs = pcs};
}

/* Adds the cycles that are left: those of warps that have ended; and those of others, where the launch was cut short. A
 * warp that is parked has no next instruction. */
static void settle_all(struct profile_core *p)
{
    uint32_t pc, instructions = sm_program(p->core)->count;
    sm_settle_stalls(p->core);
    for (uint32_t slot = 0; sm_next_running(p->core, &slot, &pc); slot++)
        if (pc < instructions)
            settle_cycles(p, slot, &p->pcs[pc]);
    for (uint32_t slot = 0; slot < HEDDLE_WARPS; slot++)
        settle_cycles(p, slot, NULL);
}

void profile_core_end(struct profile_core *p)
{
    settle_divergent(p);
    settle_fails(p, p->last_access);
    settle_all(p);
}

/* Without time */

uint32_t profile_run(struct profile_pc *pcs, const struct profile_listing *listing, struct exec_warp *w,
                     uint32_t budget)
{
    const struct exec_counters *counters = &w->launch->counters;
    uint32_t done = 0;
    for (; done < budget && w->state == WARP_READY; done++) {
        struct profile_pc *pc = &pcs[listing->base_of_function[w->at.function->index] + w->pc];
        uint64_t divergent = counters->divergent_branches, loads = counters->load_requests;
        pc->executions++;
        pc->thread_executions += (uint64_t)__builtin_popcount(exec_lanes(w));
        if (w->cta->race)
            race_step(w);
        else
            exec_step(w);
        pc->divergent += counters->divergent_branches - divergent;
        pc->load_requests += counters->load_requests - loads;
    }
    exec_end_turn(w);
    return done;
}

/* Sums */

static struct profile_pc sum_of(const struct profile_pc *const *parts, uint32_t part_count, uint32_t pc)
{
    struct profile_pc sum = {0};
    uint64_t *to = (uint64_t *)&sum;
    for (uint32_t i = 0; i < part_count; i++) {
        const uint64_t *from = (const uint64_t *)&parts[i][pc];
        for (size_t k = 0; k < sizeof sum / sizeof *to; k++)
            to[k] += from[k];
    }
    return sum;
}

struct profile_pcs *profile_pcs_sum(const struct profile_listing *listing, const struct profile_pc *const *parts,
                                    uint32_t part_count)
{
    struct profile_pcs *all = malloc(sizeof *all + listing->count * sizeof *all->list);
    if (!all)
        out_of_memory();
    *all = (struct profile_pcs){.listing = listing};
    for (uint32_t pc = 0; pc < listing->count; pc++) {
        struct profile_pc sum = sum_of(parts, part_count, pc);
        if (sum.executions)
            all->list[all->count++] = (struct profile_executed){pc, sum};
    }
    struct profile_pcs *fitting = realloc(all, sizeof *all + all->count * sizeof *all->list);
    return fitting ? fitting : all;
}

struct profile_pcs *profile_pcs_add(struct profile_pcs *to, const struct profile_pcs *more)
{
    struct profile_pcs *sum = malloc(sizeof *sum + ((size_t)to->count + more->count) * sizeof *sum->list);
    if (!sum)
        out_of_memory();
    *sum = (struct profile_pcs){.listing = to->listing};
    for (uint32_t i = 0, k = 0; i < to->count || k < more->count;) {
        bool from_to = i < to->count && (k == more->count || to->list[i].pc <= more->list[k].pc);
        struct profile_executed *next = &sum->list[sum->count++];
        *next = from_to ? to->list[i++] : more->list[k++];
        if (from_to && k < more->count && more->list[k].pc == next->pc)
            counters_add(&next->counts, &more->list[k++].counts, sizeof next->counts);
    }
    free(to);
    struct profile_pcs *fitting = realloc(sum, sizeof *sum + sum->count * sizeof *sum->list);
    return fitting ? fitting : sum;
}
