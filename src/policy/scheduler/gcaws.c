/* Greedy criticality-aware warp scheduling (CAWA, ISCA 2015, section 3.2): the last warp that issued as long as it can
 * issue, else the most critical, of equals the oldest. Criticality is predicted as heddle/criticality.h says. */
#include "heddle/criticality.h"

struct gcaws {
    struct heddle_criticality own;
    const struct heddle_criticality *criticality; /* the core's */
    uint64_t warps, last; /* slots of the scheduler; the one that issued last, as a set */
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct gcaws *s = state;
    s->warps = setup->warps;
    s->criticality = heddle_criticality_join(&s->own, setup, heddle_criticality_read(setup->values));
    return true;
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct gcaws *s = state;
    uint64_t set = UINT64_C(1) << e->warp;
    if (s->warps & set)
        s->last = set;
    heddle_criticality_on_issued(state, core, e);
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
        .on = {HEDDLE_CRITICALITY_EVENTS, .launched = heddle_criticality_on_launched, .issued = issued},
    },
    .pick = pick,
};
