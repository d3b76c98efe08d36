/* Loose round robin: warps in ring order of their slots, beginning after the last one that issued; a warp that cannot
 * issue is skipped, not waited for. The baseline of CCWS and CAWA, and GPGPU-Sim's `lrr`. A cycle without an issue
 * leaves the place in the ring as it is. */
#include "heddle/policy.h"

struct lrr {
    uint64_t after; /* slots after the last one that issued */
};

static void chosen(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct lrr *s = state;
    (void)core;
    s->after = ~UINT64_C(0) << warp << 1;
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct lrr *s = state;
    (void)core;
    return heddle_ring_first(candidates, s->after);
}

const struct heddle_scheduler scheduler_lrr = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "lrr",
            .help = "loose round robin: ring order after the last warp that issued; stalled warps are skipped",
            .bits_per_core = 6,
            .state_bytes = sizeof(struct lrr),
        },
    .pick = pick,
    .chosen = chosen,
};
