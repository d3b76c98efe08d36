/* How full warps are: instructions by the lanes of the path that issued them (DAWS, figure 9). The machine's own
 * `lanes` count the lanes whose guard is true as well, so that a branch that nobody takes has none there; the paper's
 * simulator knows the path's mask alone. */
#include "heddle/policy.h"

enum { LANES, MOST_LANES = 32 };

static const struct heddle_counter counters[] = {
    [LANES] = {.name = "lanes",
               .unit = "warp instructions",
               .help = "issued with so many lanes on their path, from 0",
               .kind = HEDDLE_HISTOGRAM,
               .buckets = MOST_LANES + 1},
    {0},
};

struct activity {
    uint64_t *lanes;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    ((struct activity *)state)->lanes = setup->histograms[LANES];
    return true;
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    (void)core;
    ((struct activity *)state)->lanes[__builtin_popcount(e->path)]++;
}

const struct heddle_probe probe_activity = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "activity",
            .help = "warp instructions by the active lanes of their path (DAWS, figure 9)",
            .counters = counters,
            .state_bytes = sizeof(struct activity),
            .init = init,
            .on = {.issued = issued},
        },
};
