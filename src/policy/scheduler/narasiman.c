/* Fetch groups (Narasiman et al., MICRO 2011, as the CCWS paper describes them): warp slots are divided into groups of
 * a fixed size. Only the current group issues, round robin within it. When no warp of it can issue, the next group that
 * has one becomes the current group, without losing a cycle. The paper's groups have 8 of 32 warps, and its pipeline
 * has one instruction per warp in flight, which is not modelled here.
 *
 * inner=gto and outer=gto: greedy-then-oldest within the group, and the group of the oldest warp comes next (the CCWS
 * paper's 2LVL-GTO). */
#include "heddle/policy.h"

enum { GROUP, INNER, OUTER };
enum { INNER_LRR, INNER_GTO, INNER_GREEDY_LRR };
enum { OUTER_RR, OUTER_GTO };
enum { COUNT_SWITCHES };

struct narasiman {
    uint64_t warps; /* slots of this scheduler */
    uint64_t *counters;
    int64_t inner, outer;
    uint64_t groups[HEDDLE_WARPS]; /* sets */
    uint8_t group_of[HEDDLE_WARPS];
    uint32_t group_count, current;
    uint64_t last; /* the warp that issued last, as a set */
    struct heddle_ages ages;
};

/* The candidates of the group that may issue. */
static uint64_t choose_group(const struct narasiman *s, uint64_t candidates)
{
    if (candidates & s->groups[s->current])
        return candidates & s->groups[s->current];
    if (s->outer == OUTER_GTO)
        return candidates & s->groups[s->group_of[heddle_ages_oldest(&s->ages, candidates)]];
    uint32_t next = s->current;
    do
        next = next + 1 < s->group_count ? next + 1 : 0;
    while (!(candidates & s->groups[next]));
    return candidates & s->groups[next];
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct narasiman *s = state;
    (void)core;
    candidates = choose_group(s, candidates);
    if (s->inner != INNER_LRR && (candidates & s->last))
        return __builtin_ctzll(s->last);
    if (s->inner == INNER_GTO)
        return heddle_ages_oldest(&s->ages, candidates);
    return heddle_ring_first(candidates, ~(s->last | (s->last - 1)));
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct narasiman *s = state;
    (void)core;
    if (!(s->warps >> e->warp & 1))
        return;
    s->counters[COUNT_SWITCHES] += s->current != s->group_of[e->warp];
    s->current = s->group_of[e->warp];
    s->last = UINT64_C(1) << e->warp;
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct narasiman *s = state;
    (void)core;
    heddle_ages_launched(&s->ages, warp);
}

static bool init(void *state, const struct heddle_setup *setup)
{
    struct narasiman *s = state;
    const union heddle_value *v = setup->values;
    uint32_t size = (uint32_t)v[GROUP].integer, n = 0;
    s->warps = setup->warps;
    s->counters = setup->counters;
    s->inner = v[INNER].integer;
    s->outer = v[OUTER].integer;
    for (uint64_t left = s->warps; left; left &= left - 1, n++) {
        s->groups[n / size] |= left & -left;
        s->group_of[__builtin_ctzll(left)] = (uint8_t)(n / size);
        s->group_count = n / size + 1;
    }
    return true;
}

static const char *const inners[] = {"lrr", "gto", "greedy-lrr", NULL};
static const char *const outers[] = {"rr", "gto", NULL};
static const struct heddle_param params[] = {
    [GROUP] = {.name = "group",
               .type = HEDDLE_INTEGER,
               .default_value = "6",
               .least = 1,
               .most = 64,
               .help = "warps per fetch group"},
    [INNER] = {.name = "inner",
               .type = HEDDLE_CHOICE,
               .default_value = "lrr",
               .choices = inners,
               .help = "which warp of the current group issues"},
    [OUTER] = {.name = "outer",
               .type = HEDDLE_CHOICE,
               .default_value = "rr",
               .choices = outers,
               .help = "which group comes next: in slot order, or the group of the oldest warp that can issue"},
    {0},
};
static const struct heddle_counter counters[] = {
    [COUNT_SWITCHES] = {.name = "switches", .unit = "times", .help = "another group issued than the last time"},
    {0},
};

const struct heddle_scheduler scheduler_narasiman = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "narasiman",
            .help = "fetch groups: one group of warps issues until none of it can (Narasiman et al., MICRO 2011)",
            .params = params,
            .counters = counters,
            .bits_per_core = 6 + 6, /* the current group, the last warp */
            .state_bytes = sizeof(struct narasiman),
            .init = init,
            .on = {.launched = launched, .issued = issued},
        },
    .pick = pick,
};
