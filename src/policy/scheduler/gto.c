/* Greedy then oldest: the last warp that issued as long as it can issue, else the oldest (CCWS, section on baselines;
 * GPGPU-Sim's `gto`). A cycle in which it cannot issue, for whatever reason, ends its turn: the warp that issues
 * instead is the greedy one. If none issues, it stays.
 *
 * The greedy warp is a slot, as in GPGPU-Sim: a warp launched into the slot of the last one that issued, before another
 * issues, is greedy at once. */
#include "heddle/policy.h"

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct heddle_greedy *g = state;
    (void)core;
    heddle_ages_launched(&g->ages, warp);
}

static void chosen(void *state, const struct heddle_core *core, uint32_t warp)
{
    (void)core;
    heddle_greedy_chosen(state, warp);
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    (void)core;
    return heddle_greedy_pick(state, candidates);
}

const struct heddle_scheduler scheduler_gto = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "gto",
            .help = "greedy then oldest: the last warp that issued until it stalls, then the oldest (CCWS)",
            .bits_per_warp = 6,
            .bits_per_core = 6,
            .state_bytes = sizeof(struct heddle_greedy),
            .on = {.launched = launched},
        },
    .pick = pick,
    .chosen = chosen,
};
