/* Active and pending warps (Gebhart et al., ISCA 2011): only warps of a small active list issue. Each cycle the first
 * active warp that waits (for a barrier, a fence, an atomic or the result of a long operation) goes to the end of the
 * pending queue, at most one per cycle; free places go to the first pending warps that wait for nothing. A new warp
 * queues, a warp that ends leaves. A list with room for all slots is one level: nobody leaves, the inner policy
 * decides. */
#include "heddle/warp_list.h"

enum { GROUP, INNER };
enum { INNER_LRR, INNER_GTO, INNER_GREEDY_LRR };
enum { COUNT_PROMOTIONS, COUNT_DEMOTIONS };

struct gebhart {
    uint64_t warps; /* slots of this scheduler */
    uint64_t *counters;
    uint32_t group;
    int64_t inner;
    bool one_level;
    struct heddle_warp_list active, pending;
    uint64_t blocked; /* warps that waited when a cycle was last reported */
    bool moved;       /* the lists did in the last cycle; if not, they stay until `blocked` or the warps change */
    uint64_t last;    /* the warp that issued last, as a set */
    struct heddle_ages ages;
};

/* One cycle of the lists. */
static void step(struct gebhart *s)
{
    s->moved = false;
    if (s->active.set & s->blocked) {
        uint32_t place = heddle_list_find(&s->active, s->blocked);
        heddle_list_add(&s->pending, heddle_list_take(&s->active, place));
        s->counters[COUNT_DEMOTIONS]++;
        s->moved = true;
    }
    while (s->active.count < s->group && (s->pending.set & ~s->blocked)) {
        uint32_t place = heddle_list_find(&s->pending, ~s->blocked);
        heddle_list_add(&s->active, heddle_list_take(&s->pending, place));
        s->counters[COUNT_PROMOTIONS]++;
        s->moved = true;
    }
}

/* Up to this cycle the sets were as they were last reported. */
static void cycles(void *state, const struct heddle_core *core, uint64_t count)
{
    struct gebhart *s = state;
    if (s->one_level)
        return;
    for (; count > 1 && s->moved; count--)
        step(s);
    s->blocked = (core->waiting | core->long_wait | ~core->resident) & s->warps;
    step(s);
}

static uint64_t hold(void *state, const struct heddle_core *core)
{
    const struct gebhart *s = state;
    (void)core;
    return s->warps & ~s->active.set;
}

static uint64_t steady_until(void *state, const struct heddle_core *core)
{
    const struct gebhart *s = state;
    return s->moved ? core->cycle + 1 : UINT64_MAX;
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct gebhart *s = state;
    (void)core;
    if (s->inner != INNER_LRR && (candidates & s->last))
        return __builtin_ctzll(s->last);
    if (s->inner == INNER_GTO)
        return heddle_ages_oldest(&s->ages, candidates);
    return s->active.slot[heddle_list_find(&s->active, candidates)];
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct gebhart *s = state;
    (void)core;
    if (!(s->warps >> e->warp & 1))
        return;
    s->last = UINT64_C(1) << e->warp;
    if (s->inner != INNER_GTO)
        heddle_list_turn(&s->active, e->warp);
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct gebhart *s = state;
    (void)core;
    heddle_ages_launched(&s->ages, warp);
    if (s->one_level || !(s->warps >> warp & 1))
        return;
    bool free_place = s->active.count < s->group && !s->pending.count;
    heddle_list_add(free_place ? &s->active : &s->pending, warp);
    s->moved = true;
}

static void finished(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct gebhart *s = state;
    uint64_t set = UINT64_C(1) << warp;
    (void)core;
    if (s->one_level || !(s->warps & set))
        return;
    struct heddle_warp_list *l = s->active.set & set ? &s->active : &s->pending;
    heddle_list_take(l, heddle_list_find(l, set));
    s->moved = true;
}

static bool init(void *state, const struct heddle_setup *setup)
{
    struct gebhart *s = state;
    s->warps = setup->warps;
    s->counters = setup->counters;
    s->group = (uint32_t)setup->values[GROUP].integer;
    s->inner = setup->values[INNER].integer;
    s->one_level = s->group >= (uint32_t)__builtin_popcountll(s->warps);
    for (uint64_t left = s->one_level ? s->warps : 0; left; left &= left - 1)
        heddle_list_add(&s->active, (uint32_t)__builtin_ctzll(left));
    return true;
}

static const char *const inners[] = {"lrr", "gto", "greedy-lrr", NULL};
static const struct heddle_param params[] = {
    [GROUP] = {.name = "group",
               .type = HEDDLE_INTEGER,
               .default_value = "6",
               .least = 1,
               .most = 64,
               .help = "active warps per scheduler"},
    [INNER] = {.name = "inner",
               .type = HEDDLE_CHOICE,
               .default_value = "lrr",
               .choices = inners,
               .help = "which active warp issues"},
    {0},
};
static const struct heddle_counter counters[] = {
    [COUNT_PROMOTIONS] = {.name = "promotions", .unit = "warps", .help = "warps that became active"},
    [COUNT_DEMOTIONS] = {.name = "demotions", .unit = "warps", .help = "active warps that had to wait and left"},
    {0},
};

const struct heddle_scheduler scheduler_gebhart = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "gebhart",
            .help = "two levels: warps that wait for memory leave a small active list, and those that can run take "
                    "their places (Gebhart et al., ISCA 2011)",
            .params = params,
            .counters = counters,
            .bits_per_warp = 6 + 1, /* its place in the lists, active or not */
            .bits_per_core = 6,
            .state_bytes = sizeof(struct gebhart),
            .init = init,
            .on = {.launched = launched, .finished = finished, .issued = issued, .cycles = cycles},
        },
    .pick = pick,
    .hold = hold,
    .steady_until = steady_until,
};
