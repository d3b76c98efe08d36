/* Greedy criticality-aware warp scheduling (CAWA, ISCA 2015, section 3.2): the last warp that issued as long as it can
 * issue, else the most critical, of equals the oldest. Criticality is predicted as heddle/criticality.h says. */
#include "heddle/criticality.h"

struct gcaws {
    uint64_t warps, last; /* slots of the scheduler; the one that issued last, as a set */
    const struct heddle_criticality *criticality;
    struct heddle_criticality own;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct gcaws *s = state;
    s->warps = setup->warps;
    s->criticality = heddle_criticality_join(&s->own, setup, heddle_criticality_read(setup->values));
    return true;
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct gcaws *s = state;
    if (heddle_criticality_is_mine(&s->own))
        heddle_criticality_launched(&s->own, core, warp);
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct gcaws *s = state;
    uint64_t set = UINT64_C(1) << e->warp;
    if (s->warps & set)
        s->last = set;
    if (heddle_criticality_is_mine(&s->own))
        heddle_criticality_issued(&s->own, core, e);
}

static void branch(void *state, const struct heddle_core *core, const struct heddle_branch *e)
{
    struct gcaws *s = state;
    (void)core;
    if (heddle_criticality_is_mine(&s->own))
        heddle_criticality_branch(&s->own, e);
}

static void barrier_wait(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct gcaws *s = state;
    if (heddle_criticality_is_mine(&s->own))
        heddle_criticality_waits(&s->own, core, warp);
}

static void barrier_pass(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct gcaws *s = state;
    if (heddle_criticality_is_mine(&s->own))
        heddle_criticality_passed(&s->own, core, warp);
}

static void committed(void *state, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    struct gcaws *s = state;
    (void)core, (void)pc;
    if (heddle_criticality_is_mine(&s->own))
        heddle_criticality_committed(&s->own, warp);
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct gcaws *s = state;
    if (candidates & s->last)
        return __builtin_ctzll(s->last);
    return heddle_criticality_first(s->criticality, core, candidates);
}

static const struct heddle_param params[] = {HEDDLE_CRITICALITY_PARAMS, {0}};

const struct heddle_scheduler scheduler_gcaws = {
    .policy = {
        .abi = HEDDLE_POLICY_ABI,
        .name = "gcaws",
        .help = "greedy, then the warp that is predicted to be the most critical (CAWA)",
        .params = params,
        .bits_per_warp = HEDDLE_CRITICALITY_BITS_PER_WARP,
        .bits_per_core = 6,
        .state_bytes = sizeof(struct gcaws),
        .init = init,
        .on = {.launched = launched, .issued = issued, .branch = branch, .committed = committed, .barrier_wait = barrier_wait, .barrier_pass = barrier_pass},
    },
    .pick = pick,
};
