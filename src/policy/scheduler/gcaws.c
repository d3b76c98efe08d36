/* Greedy criticality-aware warp scheduling (CAWA, ISCA 2015, section 3.2): the last warp that issued as long as it can
 * issue, else the most critical, of equals the oldest. Criticality is predicted as heddle/criticality.h says.
 *
 * Criticality says which warps of a block lag behind: section 2.2 defines the critical warp as the slowest of its
 * block, and figure 12 ranks the warps of one block. The default takes the oldest block that can issue, as
 * greedy-then-oldest would, and compares its warps alone. `compare=core` compares all warps of the core, which puts
 * young blocks first: they have most to do. */
#include "heddle/criticality.h"

struct gcaws {
    struct heddle_criticality own;
    const struct heddle_criticality *criticality; /* the core's */
    bool by_block;
    uint64_t warps, last; /* slots of the scheduler; the one that issued last, as a set */
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct gcaws *s = state;
    s->warps = setup->warps;
    s->by_block = setup->values[0].integer != 0;
    s->criticality = heddle_criticality_join(&s->own, setup, heddle_criticality_read(setup->values + 1));
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

/* Those of a set that are of the same block as its oldest. */
static uint64_t oldest_block(const struct heddle_core *core, uint64_t set)
{
    uint32_t oldest = (uint32_t)__builtin_ctzll(set);
    uint64_t of_block = 0;
    for (uint64_t rest = set; rest; rest &= rest - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(rest);
        oldest = core->warp[warp].age < core->warp[oldest].age ? warp : oldest;
    }
    for (uint64_t rest = set; rest; rest &= rest - 1)
        if (core->warp[__builtin_ctzll(rest)].block == core->warp[oldest].block)
            of_block |= rest & -rest;
    return of_block;
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct gcaws *s = state;
    if (candidates & s->last)
        return __builtin_ctzll(s->last);
    return heddle_criticality_first(s->criticality, core, s->by_block ? oldest_block(core, candidates) : candidates);
}

static const char *const compares[] = {"core", "block", NULL};
static const struct heddle_param params[] = {
    {.name = "compare",
     .type = HEDDLE_CHOICE,
     .default_value = "block",
     .choices = compares,
     .help = "criticality is compared over all warps of the core, or over those of the oldest block first"},
    HEDDLE_CRITICALITY_PARAMS,
    {0},
};

const struct heddle_scheduler scheduler_gcaws = {
    .policy =
        {
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
