/* Sticky round robin: the last warp that issued goes first as long as it can, then ring order after it. Named, not
 * defined, in the lane permutation paper (Table 2); "greedy until stall" in CCWS's simulator. It differs from gto in
 * what follows the greedy warp: ring order, not age.
 *
 * level=block is the form of thread block compaction: the block of the last warp first, round robin over its warps;
 * only when none of them can issue, the ring order of all. */
#include "heddle/policy.h"

enum level { LEVEL_WARP, LEVEL_BLOCK };

struct sticky {
    enum level level;
    uint64_t ahead;                     /* level=warp: slots from the last one on; level=block: after it */
    uint32_t block;                     /* block slot of the last one */
    uint64_t block_warps[HEDDLE_WARPS]; /* level=block: resident warps by block slot */
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct sticky *s = state;
    s->level = (enum level)setup->values[0].integer;
    return setup->core->block_slots <= HEDDLE_WARPS || heddle_refuse(setup, "a core has more than 64 block slots");
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct sticky *s = state;
    s->block_warps[core->warp[warp].block] |= UINT64_C(1) << warp;
}

static void finished(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct sticky *s = state;
    s->block_warps[core->warp[warp].block] &= ~(UINT64_C(1) << warp);
}

static void chosen(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct sticky *s = state;
    s->ahead = ~UINT64_C(0) << warp;
    if (s->level == LEVEL_BLOCK) {
        s->ahead <<= 1;
        s->block = core->warp[warp].block;
    }
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct sticky *s = state;
    (void)core;
    if (s->level == LEVEL_BLOCK && candidates & s->block_warps[s->block])
        candidates &= s->block_warps[s->block];
    return heddle_ring_first(candidates, s->ahead);
}

static const char *const levels[] = {"warp", "block", NULL};
static const struct heddle_param params[] = {
    {.name = "level",
     .type = HEDDLE_CHOICE,
     .default_value = "warp",
     .help = "what it sticks to: the last warp, or its thread block",
     .choices = levels},
    {0},
};

const struct heddle_scheduler scheduler_sticky = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "sticky",
            .help = "sticky round robin: the last warp that issued until it stalls, then ring order after it",
            .params = params,
            .bits_per_core = 6,
            .state_bytes = sizeof(struct sticky),
            .init = init,
            .on = {.launched = launched, .finished = finished},
        },
    .pick = pick,
    .chosen = chosen,
};
