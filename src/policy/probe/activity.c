/* How full warps are: instructions by the lanes of the path that issued them (DAWS, figure 9). The machine's own
 * `lanes` count the lanes whose guard is true as well, so that a branch that nobody takes has none there; the paper's
 * simulator knows the path's mask alone. */
#include "heddle/policy.h"

enum { LANES, CLASSES };
enum { MOST_LANES = 32, LANES_OF_A_CLASS = 4 };

static const struct heddle_counter counters[] = {
    [LANES] = {.name = "lanes",
               .unit = "warp instructions",
               .help = "issued with so many lanes on their path, from 0",
               .kind = HEDDLE_HISTOGRAM,
               .buckets = MOST_LANES + 1},
    [CLASSES] = {.name = "classes",
                 .unit = "warp instructions",
                 .help = "the same by classes of lanes: 0 to 4, 5 to 8, 9 to 12, ... 29 to 32",
                 .kind = HEDDLE_HISTOGRAM,
                 .buckets = MOST_LANES / LANES_OF_A_CLASS},
    {0},
};

struct activity {
    uint64_t *lanes, *classes;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct activity *s = state;
    s->lanes = setup->histograms[LANES];
    s->classes = setup->histograms[CLASSES];
    return true;
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct activity *s = state;
    uint32_t lanes = (uint32_t)__builtin_popcount(e->path);
    (void)core;
    s->lanes[lanes]++;
    s->classes[lanes ? (lanes - 1) / LANES_OF_A_CLASS : 0]++; /* W[0:4] has 0 to 4 */
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
