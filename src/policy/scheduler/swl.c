/* Static warp limiting (CCWS, section on baselines): of the warps of a core only the oldest `limit` issue anything,
 * greedy then oldest. Best-SWL is the best limit of a sweep.
 *
 * Barriers: a warp that waits at one does not count, so that those that it waits for get their turn; when the barrier
 * opens the limit is what it was. All schedulers of a core look at all its warps, so they agree on who is among the
 * oldest. */
#include "heddle/policy.h"

enum { LIMIT };

struct swl {
    struct heddle_greedy greedy;
    int64_t limit;
    uint64_t counted; /* warps that count, when it was last looked at */
    uint64_t allowed; /* the oldest of them */
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct swl *s = state;
    s->greedy.warps = setup->warps;
    s->limit = setup->values[LIMIT].integer;
    return true;
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct swl *s = state;
    (void)core;
    heddle_ages_launched(&s->greedy.ages, warp);
    s->counted = 0; /* a slot with a new warp */
}

static void chosen(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct swl *s = state;
    (void)core;
    heddle_greedy_chosen(&s->greedy, warp);
}

static uint64_t oldest_of(const struct heddle_ages *ages, uint64_t set, int64_t count)
{
    uint64_t rest = set;
    if (__builtin_popcountll(set) <= count)
        return set;
    for (; count; count--)
        rest &= ~(UINT64_C(1) << heddle_ages_oldest(ages, rest));
    return set & ~rest;
}

static uint64_t hold(void *state, const struct heddle_core *core)
{
    struct swl *s = state;
    uint64_t counted = core->resident & ~core->at_barrier;
    if (counted != s->counted) {
        s->counted = counted;
        s->allowed = oldest_of(&s->greedy.ages, counted, s->limit);
    }
    return ~s->allowed;
}

static uint64_t steady_until(void *state, const struct heddle_core *core)
{
    (void)state, (void)core;
    return UINT64_MAX;
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct swl *s = state;
    (void)core;
    return heddle_greedy_pick(&s->greedy, candidates);
}

static const struct heddle_param params[] = {
    [LIMIT] = {.name = "limit",
               .type = HEDDLE_INTEGER,
               .default_value = "32",
               .least = 1,
               .most = 64,
               .help = "warps of a core that may issue: the oldest that are not at a barrier"},
    {0},
};

const struct heddle_scheduler scheduler_swl = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "swl",
            .help = "static warp limiting: only the oldest warps of a core issue, greedy then oldest; the others "
                    "wait (CCWS)",
            .params = params,
            .bits_per_warp = 6,
            .bits_per_core = 6 + 6, /* the limit; the last warp that issued */
            .state_bytes = sizeof(struct swl),
            .init = init,
            .on = {.launched = launched},
        },
    .pick = pick,
    .chosen = chosen,
    .hold = hold,
    .steady_until = steady_until,
};
