/* Oldest first: of the warps that can issue, the one launched first; no greediness. The order of CCWS's simulator for
 * static limits. */
#include "heddle/policy.h"

struct oldest {
    struct heddle_ages ages;
};

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct oldest *s = state;
    (void)core;
    heddle_ages_launched(&s->ages, warp);
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct oldest *s = state;
    (void)core;
    return heddle_ages_oldest(&s->ages, candidates);
}

const struct heddle_scheduler scheduler_oldest = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "oldest",
            .help = "oldest first: the warp launched first of those that can issue",
            .bits_per_warp = 6,
            .state_bytes = sizeof(struct oldest),
            .on = {.launched = launched},
        },
    .pick = pick,
};
