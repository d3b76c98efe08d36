/* Criticality prediction logic (CAWA, ISCA 2015, section 3.1): how far each warp of a core lags behind the others.
 *
 *   criticality = instructions * cycles per instruction so far + stall cycles
 *
 * `instructions` says how much is left to do, in relation to other warps of the same code: one less for each that
 * commits, more where the warp goes back, less where it jumps ahead. At any point that all lanes have come to, it
 * is the value at launch less the distance from the first instruction. Divergence: where the lanes part on the way
 * ahead nothing is charged, since both sides will run, and nor is the way back from the end of one side to the other.
 *
 * One of these serves a core. The policy that is made first owns it and passes events to it; the others read:
 *
 *   state:      begins with a struct heddle_criticality, of the policy's own
 *   params:     HEDDLE_CRITICALITY_PARAMS, in the policy's table
 *   init:       s->criticality = heddle_criticality_join(&s->own, setup, heddle_criticality_read(setup->values + N)),
 *               where they begin in the table with the N-th
 *   on:         HEDDLE_CRITICALITY_EVENTS, .launched = heddle_criticality_on_launched, .issued = ..._on_issued; or a
 *               hook of the policy's own that calls it
 *   anywhere:   heddle_criticality_of(s->criticality, core, warp)
 *               heddle_criticality_is_critical(s->criticality, core, warp, HEDDLE_CRITICAL_BLOCK_HALF)
 *
 * The owner's rules count. Schedulers are made before the L1 policy, that before the divergence unit, probes last. */
#ifndef HEDDLE_CRITICALITY_H
#define HEDDLE_CRITICALITY_H

#include "heddle/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The place in core->shared where the core's one is left. */
enum { HEDDLE_SHARED_CRITICALITY = 1 };

/* For storage cards, the paper gives none: instructions and committed 24 bits each; stalls and two cycles 32 each. */
enum { HEDDLE_CRITICALITY_BITS_PER_WARP = 2 * 24 + 3 * 32 };

/* Which cycles since a warp's last issue are stalls: all but that of the issue itself; that one too; or those between
 * two issues while the warp runs. Then its time at barriers, where it is the others that are late, counts for nothing:
 * not in its cycles per instruction either. */
enum heddle_criticality_stall {
    HEDDLE_STALL_BETWEEN,
    HEDDLE_STALL_FULL,
    HEDDLE_STALL_RUNNING,
};

struct heddle_criticality_rules {
    /* The paper's algorithm 2 to the letter: a branch adds the distance to where it goes, and one. */
    bool literal;
    enum heddle_criticality_stall stall;
    /* A warp begins with all instructions of the program before it; else with none, and counts below zero. */
    bool whole_program;
};

/* As parameters. Where the paper leaves a choice, the default is what predicts best by its own measure (figure 11, see
 * docs/papers/cawa.md): warps begin with the program before them, and barriers are no stalls. */
static const char *const heddle_criticality_branches[] = {"paths", "literal", NULL};
static const char *const heddle_criticality_stalls[] = {"between", "full", "running", NULL};
static const char *const heddle_criticality_begins[] = {"zero", "program", NULL};
/* clang-format off */
#define HEDDLE_CRITICALITY_PARAMS                                                                                      \
    {.name = "branch", .type = HEDDLE_CHOICE, .default_value = "paths", .choices = heddle_criticality_branches,        \
     .help = "criticality at a branch: by the instructions of the paths, or the paper's algorithm 2 to the letter"},   \
    {.name = "stall", .type = HEDDLE_CHOICE, .default_value = "running", .choices = heddle_criticality_stalls,         \
     .help = "stalls: cycles between two issues, the full difference of the two, or without waiting at barriers"},     \
    {.name = "begin", .type = HEDDLE_CHOICE, .default_value = "program", .choices = heddle_criticality_begins,         \
     .help = "instructions before a warp at its launch: none, or all of the program"}
/* clang-format on */

static inline struct heddle_criticality_rules heddle_criticality_read(const union heddle_value *values)
{
    const struct heddle_criticality_rules rules = {
        values[0].integer != 0, (enum heddle_criticality_stall)values[1].integer, values[2].integer != 0};
    return rules;
}

struct heddle_criticality_warp {
    int64_t instructions, stall_cycles;
    uint64_t committed;
    uint64_t begin, last_issue; /* cycles */
    uint64_t waits_since;       /* the cycle in which it came to a barrier, while it waits there; else UINT64_MAX */
    bool has_issued;
    bool parted;            /* the last branch led ahead to two places */
    uint32_t next;          /* where it should go on: anything else is a change of paths */
    uint32_t target;        /* of that branch */
    int64_t free_of_charge; /* instructions jumped over without a charge, since the other side will run them */
};

struct heddle_criticality {
    struct heddle_criticality_rules rules;
    bool mine;
    struct heddle_criticality_warp warp[HEDDLE_WARPS];
};

/* In init. The core's one: `own`, which is then its owner's to keep up to date, or that of a policy made before. */
static inline const struct heddle_criticality *heddle_criticality_join(struct heddle_criticality *own,
                                                                       const struct heddle_setup *setup,
                                                                       struct heddle_criticality_rules rules)
{
    void **place = &setup->core->shared[HEDDLE_SHARED_CRITICALITY];
    if (!*place) {
        own->rules = rules;
        own->mine = true;
        *place = own;
    }
    return (const struct heddle_criticality *)*place;
}

static inline void heddle_criticality_launched(struct heddle_criticality *c, const struct heddle_core *core,
                                               uint32_t warp)
{
    const struct heddle_criticality_warp fresh = {
        .instructions = c->rules.whole_program ? (int64_t)core->program->instruction_count : 0,
        .begin = core->cycle,
        .waits_since = UINT64_MAX,
        .next = HEDDLE_NO_PC,
    };
    c->warp[warp] = fresh;
}

/* The warp is at `pc` and not where it should have gone on: another path of it runs now. The way back is as many
 * instructions to run, except for those that were jumped over without a charge. */
static inline void heddle_criticality_changed_path(struct heddle_criticality_warp *w, uint32_t pc)
{
    int64_t way = (int64_t)w->next - (int64_t)pc;
    int64_t paid = way < w->free_of_charge ? way : w->free_of_charge;
    if (paid > 0) {
        w->free_of_charge -= paid;
        way -= paid;
    }
    w->instructions += way;
}

static inline void heddle_criticality_issued(struct heddle_criticality *c, const struct heddle_core *core,
                                             const struct heddle_issue *e)
{
    struct heddle_criticality_warp *w = &c->warp[e->warp];
    if (w->has_issued)
        w->stall_cycles += (int64_t)(core->cycle - w->last_issue) - (c->rules.stall == HEDDLE_STALL_FULL ? 0 : 1);
    w->has_issued = true;
    w->last_issue = core->cycle;
    if (w->parted && e->pc == w->target) /* that side runs first */
        w->free_of_charge += (int64_t)w->target - (int64_t)w->next;
    else if (e->pc != w->next && w->next != HEDDLE_NO_PC && !c->rules.literal)
        heddle_criticality_changed_path(w, e->pc);
    w->parted = false;
    w->next = e->pc + 1;
}

/* Comes after the branch was reported as issued. */
static inline void heddle_criticality_branch(struct heddle_criticality *c, const struct heddle_branch *e)
{
    struct heddle_criticality_warp *w = &c->warp[e->warp];
    uint32_t to = e->taken ? e->target : e->fall_through;
    if (to == HEDDLE_NO_PC) /* several places, or one that is not known: the next issue shows where */
        return;
    if (c->rules.literal) {
        w->instructions += (int64_t)to - (int64_t)e->pc + 1;
        return;
    }
    if (e->taken && e->not_taken && to > e->pc) {
        w->parted = to != e->fall_through;
        w->target = to;
        return;
    }
    w->instructions += (int64_t)e->fall_through - (int64_t)to;
    w->next = to;
}

/* The warp came to a barrier; is past it. */
static inline void heddle_criticality_waits(struct heddle_criticality *c, const struct heddle_core *core, uint32_t warp)
{
    if (c->rules.stall == HEDDLE_STALL_RUNNING)
        c->warp[warp].waits_since = core->cycle;
}

static inline void heddle_criticality_passed(struct heddle_criticality *c, const struct heddle_core *core,
                                             uint32_t warp)
{
    struct heddle_criticality_warp *w = &c->warp[warp];
    if (w->waits_since == UINT64_MAX)
        return;
    w->begin += core->cycle - w->waits_since;
    w->last_issue += core->cycle - w->waits_since;
    w->waits_since = UINT64_MAX;
}

static inline void heddle_criticality_committed(struct heddle_criticality *c, uint32_t warp)
{
    c->warp[warp].instructions--;
    c->warp[warp].committed++;
}

/* The hooks: what the owner hears, it passes on. */

static inline void heddle_criticality_on_launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct heddle_criticality *own = (struct heddle_criticality *)state;
    if (own->mine)
        heddle_criticality_launched(own, core, warp);
}

static inline void heddle_criticality_on_issued(void *state, const struct heddle_core *core,
                                                const struct heddle_issue *e)
{
    struct heddle_criticality *own = (struct heddle_criticality *)state;
    if (own->mine)
        heddle_criticality_issued(own, core, e);
}

static inline void heddle_criticality_on_branch(void *state, const struct heddle_core *core,
                                                const struct heddle_branch *e)
{
    struct heddle_criticality *own = (struct heddle_criticality *)state;
    (void)core;
    if (own->mine)
        heddle_criticality_branch(own, e);
}

static inline void heddle_criticality_on_committed(void *state, const struct heddle_core *core, uint32_t warp,
                                                   uint32_t pc)
{
    struct heddle_criticality *own = (struct heddle_criticality *)state;
    (void)core, (void)pc;
    if (own->mine)
        heddle_criticality_committed(own, warp);
}

static inline void heddle_criticality_on_barrier_wait(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct heddle_criticality *own = (struct heddle_criticality *)state;
    if (own->mine)
        heddle_criticality_waits(own, core, warp);
}

static inline void heddle_criticality_on_barrier_pass(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct heddle_criticality *own = (struct heddle_criticality *)state;
    if (own->mine)
        heddle_criticality_passed(own, core, warp);
}

/* The four that a policy will hardly want for itself. */
#define HEDDLE_CRITICALITY_EVENTS                                                                           \
    .barrier_wait = heddle_criticality_on_barrier_wait, .barrier_pass = heddle_criticality_on_barrier_pass, \
    .committed = heddle_criticality_on_committed, .branch = heddle_criticality_on_branch

/* Of a warp that is resident, now. Before anything has committed, an instruction counts as one cycle. */
static inline double heddle_criticality_of(const struct heddle_criticality *c, const struct heddle_core *core,
                                           uint32_t warp)
{
    const struct heddle_criticality_warp *w = &c->warp[warp];
    uint64_t now = w->waits_since < core->cycle ? w->waits_since : core->cycle;
    double cycles = w->committed ? (double)(now - w->begin) : 1;
    double committed = w->committed ? (double)w->committed : 1;
    return (double)w->instructions * cycles / committed + (double)w->stall_cycles;
}

/* The most critical of a set, not empty; of equals the oldest. */
static inline int heddle_criticality_first(const struct heddle_criticality *c, const struct heddle_core *core,
                                           uint64_t set)
{
    int first = __builtin_ctzll(set);
    double most = heddle_criticality_of(c, core, (uint32_t)first);
    while ((set &= set - 1)) {
        int warp = __builtin_ctzll(set);
        double value = heddle_criticality_of(c, core, (uint32_t)warp);
        if (value > most || (value == most && core->warp[warp].age < core->warp[first].age)) {
            first = warp;
            most = value;
        }
    }
    return first;
}

/* The resident warps of a warp's block, itself among them. */
static inline uint64_t heddle_criticality_block(const struct heddle_core *core, uint32_t warp)
{
    uint64_t block = 0;
    for (uint64_t rest = core->resident; rest; rest &= rest - 1)
        if (core->warp[__builtin_ctzll(rest)].block == core->warp[warp].block)
            block |= rest & -rest;
    return block | UINT64_C(1) << warp;
}

/* How many of a set come after the warp: those that are less critical, and of equals the younger. */
static inline uint32_t heddle_criticality_rank(const struct heddle_criticality *c, const struct heddle_core *core,
                                               uint32_t warp, uint64_t set)
{
    double own = heddle_criticality_of(c, core, warp);
    uint32_t behind = 0;
    for (set &= ~(UINT64_C(1) << warp); set; set &= set - 1) {
        uint32_t other = (uint32_t)__builtin_ctzll(set);
        double value = heddle_criticality_of(c, core, other);
        behind += value < own || (value == own && core->warp[other].age > core->warp[warp].age);
    }
    return behind;
}

/* Which warps are critical. */
enum heddle_critical {
    HEDDLE_CRITICAL_BLOCK_HALF, /* before at least half of the other warps of its block (the paper's slow warp) */
    HEDDLE_CRITICAL_SM_RANGE,   /* in the upper half of the range of all warps of the core */
    HEDDLE_CRITICAL_TOP,        /* the first of its block alone */
};

static inline bool heddle_criticality_in_upper_range(const struct heddle_criticality *c, const struct heddle_core *core,
                                                     uint32_t warp)
{
    double own = heddle_criticality_of(c, core, warp), least = own, most = own;
    for (uint64_t rest = core->resident; rest; rest &= rest - 1) {
        double value = heddle_criticality_of(c, core, (uint32_t)__builtin_ctzll(rest));
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    return 2 * (own - least) > most - least;
}

static inline bool heddle_criticality_is_critical(const struct heddle_criticality *c, const struct heddle_core *core,
                                                  uint32_t warp, enum heddle_critical which)
{
    if (which == HEDDLE_CRITICAL_SM_RANGE)
        return heddle_criticality_in_upper_range(c, core, warp);
    uint64_t block = heddle_criticality_block(core, warp);
    uint32_t others = (uint32_t)__builtin_popcountll(block) - 1;
    uint32_t behind = heddle_criticality_rank(c, core, warp, block);
    return which == HEDDLE_CRITICAL_TOP ? behind == others : 2 * behind >= others;
}

#ifdef __cplusplus
}
#endif

#endif
