/* Two levels: a small group of warps issues, the others wait for a place in it. Three published forms (style=):
 *
 * gpgpusim   GPGPU-Sim 3.2.2's two_level_active, also the PAWS report's: lists of all warp slots, empty ones too. Each cycle every active warp that waits (barrier, fence, atomic, no warp) or whose
 *            next instruction needs the result of a long operation goes to the back of the pending queue, and the front of that queue takes each free place, ready or not. With an outer
 *            level other than rr the active list is sorted after a promotion.
 * gebhart    Gebhart et al. (ISCA 2011): lists of resident warps; at most one leaves a cycle, and the first pending warp that waits for nothing takes a free place.
 * narasiman  Narasiman et al. (MICRO 2011), as the CCWS paper describes it: fetch groups fixed by slot; the current group issues, and when none of it can, the next that can becomes current.
 *
 * Where the group is as large as the scheduler nobody leaves it, and the inner policy alone decides. While nobody can issue, cycles come as one count: the lists are then moved on by that
 * many steps, whose states repeat after a few. */
#include "heddle/policy.h"

#include <string.h>

enum { GROUP, INNER, OUTER, PROMOTE, STYLE };
enum { INNER_LRR, INNER_GTO, INNER_GREEDY_LRR };
enum { OUTER_RR, OUTER_GTO, OUTER_PAWS };
enum { PROMOTE_FIFO, PROMOTE_SHORTEST };
enum { STYLE_GPGPUSIM, STYLE_GEBHART, STYLE_NARASIMAN };
enum { COUNT_PROMOTIONS, COUNT_DEMOTIONS, COUNT_SWITCHES };

/* Slots in order, the first ones active. */
struct lists { uint8_t slot[HEDDLE_WARPS]; uint8_t active, count; };

struct two_level {
    uint64_t warps;                /* slots of this scheduler */
    uint64_t *counters;
    int64_t group, inner, outer, promote, style;
    bool whole;                    /* all slots have a place in the group */
    struct lists lists;
    uint64_t active;               /* the same as a set */
    uint64_t last;                 /* the warp that issued last, as a set */
    uint64_t blocked;              /* as it was when the policy was last told of cycles */
    struct heddle_ages ages;
    /* narasiman */
    uint64_t groups[HEDDLE_WARPS]; /* sets */
    uint32_t group_count, current;
    uint8_t group_of[HEDDLE_WARPS];
};

static void note_active(struct two_level *s)
{
    s->active = 0;
    for (uint32_t i = 0; i < s->lists.active; i++)
        s->active |= UINT64_C(1) << s->lists.slot[i];
}

static bool init(void *state, const struct heddle_setup *setup)
{
    struct two_level *s = state;
    const union heddle_value *v = setup->values;
    *s = (struct two_level){.warps = setup->warps, .counters = setup->counters, .group = v[GROUP].integer, .inner = v[INNER].integer, .outer = v[OUTER].integer,
                            .promote = v[PROMOTE].integer, .style = v[STYLE].integer};
    uint32_t owned = (uint32_t)__builtin_popcountll(setup->warps), n = 0;
    s->whole = s->group >= owned;
    for (uint64_t left = s->warps; left; left &= left - 1, n++) {
        uint32_t slot = (uint32_t)__builtin_ctzll(left), group = n / (uint32_t)s->group;
        s->groups[group] |= left & -left;
        s->group_of[slot] = (uint8_t)group;
        s->group_count = group + 1;
        if (s->style == STYLE_GPGPUSIM || s->whole)
            s->lists.slot[s->lists.count++] = (uint8_t)slot;
    }
    s->lists.active = (uint8_t)(s->lists.count < s->group ? s->lists.count : s->group);
    note_active(s);
    return true;
}

/* ---------------------------------------------------------------- the lists */

static const struct heddle_phase *phase_of(const struct heddle_core *core, uint32_t slot)
{
    static const struct heddle_phase none = {0};
    uint32_t pc = core->warp[slot].next_pc;
    return pc == HEDDLE_NO_PC ? &none : &core->program->instructions[pc].phase[HEDDLE_PHASES];
}

static void remove_at(struct lists *l, uint32_t i)
{
    memmove(l->slot + i, l->slot + i + 1, (size_t)(l->count - i - 1));
    l->count--;
}

static void insert_at(struct lists *l, uint32_t i, uint8_t slot)
{
    memmove(l->slot + i + 1, l->slot + i, (size_t)(l->count - i));
    l->slot[i] = slot;
    l->count++;
}

static bool comes_before(const struct two_level *s, const struct heddle_core *core, uint32_t a, uint32_t b)
{
    if (s->outer == OUTER_PAWS) {
        uint32_t distance_a = phase_of(core, a)->distance, distance_b = phase_of(core, b)->distance;
        if (distance_a != distance_b)
            return distance_a < distance_b;
    }
    return core->warp[a].age < core->warp[b].age;
}

/* Insertion: the list is short and nearly in order. */
static void sort_active(struct two_level *s, const struct heddle_core *core)
{
    uint8_t *v = s->lists.slot;
    for (uint32_t i = 1; i < s->lists.active; i++)
        for (uint32_t k = i; k && comes_before(s, core, v[k], v[k - 1]); k--) {
            uint8_t other = v[k];
            v[k] = v[k - 1];
            v[k - 1] = other;
        }
}

/* Every active warp of `leaving`, at most so many, to the back. */
static uint32_t demote(struct two_level *s, uint64_t leaving, uint32_t most)
{
    struct lists *l = &s->lists;
    uint32_t demoted = 0;
    for (uint32_t i = 0; i < l->active && demoted < most;) {
        uint8_t slot = l->slot[i];
        if (!(leaving >> slot & 1)) {
            i++;
            continue;
        }
        remove_at(l, i);
        l->slot[l->count++] = slot;
        l->active--;
        demoted++;
    }
    return demoted;
}

/* Which of the pending takes a free place: its index in the lists, or their count for none. */
static uint32_t next_pending(const struct two_level *s, const struct heddle_core *core, uint64_t blocked)
{
    const struct lists *l = &s->lists;
    uint32_t best = l->count, least = UINT32_MAX;
    for (uint32_t i = l->active; i < l->count; i++) {
        if (blocked >> l->slot[i] & 1)
            continue;
        if (s->promote == PROMOTE_FIFO)
            return i;
        uint32_t length = phase_of(core, l->slot[i])->length;
        if (length < least) {
            least = length;
            best = i;
        }
    }
    return best;
}

static uint32_t promote(struct two_level *s, const struct heddle_core *core, uint64_t blocked)
{
    struct lists *l = &s->lists;
    uint32_t promoted = 0;
    while (l->active < s->group && l->active < l->count) {
        uint32_t i = s->style == STYLE_GPGPUSIM && s->promote == PROMOTE_FIFO ? l->active : next_pending(s, core, blocked);
        if (i == l->count) {
            if (s->style == STYLE_GEBHART)
                break;
            i = l->active;
        }
        uint8_t slot = l->slot[i];
        remove_at(l, i);
        insert_at(l, l->active++, slot);
        promoted++;
    }
    return promoted;
}

/* One cycle of the lists. False: nothing moved, and nothing will while the sets stay as they are. */
static bool step(struct two_level *s, const struct heddle_core *core, uint64_t blocked)
{
    if (!(s->active & blocked) && (s->lists.active == s->group || s->lists.active == s->lists.count))
        return false;
    uint32_t demoted = demote(s, blocked, s->style == STYLE_GEBHART ? 1 : HEDDLE_WARPS);
    uint32_t promoted = promote(s, core, blocked);
    s->counters[COUNT_DEMOTIONS] += demoted;
    s->counters[COUNT_PROMOTIONS] += promoted;
    if (!(demoted | promoted))
        return false;
    note_active(s);
    if (promoted && s->outer != OUTER_RR)
        sort_active(s, core);
    return true;
}

/* Many cycles in which the sets stay as they are. The lists come back to where they were after some steps: what is left then is taken modulo that many (Brent's method). */
static void make_up(struct two_level *s, const struct heddle_core *core, uint64_t blocked, uint64_t steps)
{
    struct lists kept = s->lists;
    uint64_t before[2] = {s->counters[COUNT_PROMOTIONS], s->counters[COUNT_DEMOTIONS]};
    for (uint64_t n = 1, power = 1, period = 0; steps && step(s, core, blocked); n++) {
        steps--;
        period++;
        if (!memcmp(&kept, &s->lists, sizeof kept)) {
            uint64_t rounds = steps / period;
            s->counters[COUNT_PROMOTIONS] += rounds * (s->counters[COUNT_PROMOTIONS] - before[0]);
            s->counters[COUNT_DEMOTIONS] += rounds * (s->counters[COUNT_DEMOTIONS] - before[1]);
            steps -= rounds * period;
            for (; steps; steps--)
                step(s, core, blocked);
            return;
        }
        if (n == power) {
            kept = s->lists;
            before[0] = s->counters[COUNT_PROMOTIONS];
            before[1] = s->counters[COUNT_DEMOTIONS];
            power *= 2;
            period = 0;
        }
    }
}

/* ---------------------------------------------------------------- events */

static void cycles(void *state, const struct heddle_core *core, uint64_t count)
{
    struct two_level *s = state;
    if (s->whole || s->style == STYLE_NARASIMAN)
        return;
    uint64_t blocked = (core->waiting | core->long_wait | ~core->resident) & s->warps;
    if (count > 1)
        make_up(s, core, s->blocked, count - 1);
    step(s, core, blocked);
    s->blocked = blocked;
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct two_level *s = state;
    (void)core;
    heddle_ages_launched(&s->ages, warp);
    if (!(s->warps >> warp & 1) || s->style != STYLE_GEBHART || s->whole)
        return;
    s->lists.slot[s->lists.count++] = (uint8_t)warp;
    if (s->lists.active < s->group && s->lists.active == s->lists.count - 1)
        s->lists.active++;
    note_active(s);
}

static void finished(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct two_level *s = state;
    struct lists *l = &s->lists;
    (void)core;
    if (s->style != STYLE_GEBHART || s->whole)
        return;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->slot[i] == warp) {
            remove_at(l, i);
            l->active -= i < l->active;
            note_active(s);
            return;
        }
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct two_level *s = state;
    struct lists *l = &s->lists;
    (void)core;
    if (!(s->warps >> e->warp & 1))
        return;
    s->last = UINT64_C(1) << e->warp;
    if (s->style == STYLE_NARASIMAN) {
        s->counters[COUNT_SWITCHES] += s->current != s->group_of[e->warp];
        s->current = s->group_of[e->warp];
    }
    if (s->inner == INNER_GTO)
        return;
    for (uint32_t i = 0; i + 1 < l->active; i++)
        if (l->slot[i] == e->warp) { /* those behind it come first, then those before it, then itself */
            uint8_t turned[HEDDLE_WARPS];
            uint32_t behind = l->active - i - 1u;
            memcpy(turned, l->slot + i + 1, behind);
            memcpy(turned + behind, l->slot, i + 1u);
            memcpy(l->slot, turned, l->active);
            return;
        }
}

/* ---------------------------------------------------------------- choice */

static uint64_t hold(void *state, const struct heddle_core *core)
{
    const struct two_level *s = state;
    (void)core;
    return s->style == STYLE_NARASIMAN && !s->whole ? 0 : s->warps & ~s->active;
}

static int first_listed(const struct lists *l, uint64_t candidates)
{
    for (uint32_t i = 0; i < l->active; i++)
        if (candidates >> l->slot[i] & 1)
            return l->slot[i];
    return HEDDLE_NO_WARP;
}

/* The fetch group that may issue, of those with a candidate. */
static uint64_t choose_group(const struct two_level *s, const struct heddle_core *core, uint64_t candidates)
{
    if (candidates & s->groups[s->current])
        return candidates & s->groups[s->current];
    if (s->outer == OUTER_GTO)
        return candidates & s->groups[s->group_of[heddle_ages_oldest(&s->ages, candidates)]];
    if (s->outer == OUTER_PAWS) {
        int best = __builtin_ctzll(candidates);
        for (uint64_t left = candidates & (candidates - 1); left; left &= left - 1)
            if (comes_before(s, core, (uint32_t)__builtin_ctzll(left), (uint32_t)best))
                best = __builtin_ctzll(left);
        return candidates & s->groups[s->group_of[best]];
    }
    for (uint32_t n = 1; n < s->group_count; n++) {
        uint64_t found = candidates & s->groups[(s->current + n) % s->group_count];
        if (found)
            return found;
    }
    return candidates;
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct two_level *s = state;
    bool groups = s->style == STYLE_NARASIMAN && !s->whole;
    if (groups)
        candidates = choose_group(s, core, candidates);
    if (s->inner != INNER_LRR && (candidates & s->last))
        return __builtin_ctzll(s->last);
    if (s->inner == INNER_GTO)
        return heddle_ages_oldest(&s->ages, candidates);
    return groups ? heddle_ring_first(candidates, ~(s->last | (s->last - 1))) : first_listed(&s->lists, candidates);
}

static const char *const inners[] = {"lrr", "gto", "greedy-lrr", NULL};
static const char *const outers[] = {"rr", "gto", "paws", NULL};
static const char *const promotions[] = {"fifo", "shortest-phase", NULL};
static const char *const styles[] = {"gpgpusim", "gebhart", "narasiman", NULL};
static const struct heddle_param params[] = {
    [GROUP] = {.name = "group", .type = HEDDLE_INTEGER, .default_value = "6", .least = 1, .most = 64, .help = "warps of a scheduler that may issue (active warps, or the size of a fetch group)"},
    [INNER] = {.name = "inner", .type = HEDDLE_CHOICE, .default_value = "lrr", .choices = inners, .help = "which of them issues"},
    [OUTER] = {.name = "outer", .type = HEDDLE_CHOICE, .default_value = "rr", .choices = outers,
               .help = "active warps are sorted at a promotion (by age; by phase distance, then age), or not (rr); narasiman: which group comes next"},
    [PROMOTE] = {.name = "promote", .type = HEDDLE_CHOICE, .default_value = "fifo", .choices = promotions, .help = "which pending warp takes a free place"},
    [STYLE] = {.name = "style", .type = HEDDLE_CHOICE, .default_value = "gpgpusim", .choices = styles, .help = "whose two levels"},
    {0},
};
static const struct heddle_counter counters[] = {
    [COUNT_PROMOTIONS] = {"promotions", "warps", "warps that took a place among the active"},
    [COUNT_DEMOTIONS] = {"demotions", "warps", "warps that left the active because they had to wait"},
    [COUNT_SWITCHES] = {"switches", "times", "another fetch group issued than the last one (narasiman)"},
    {0},
};

const struct heddle_scheduler scheduler_two_level = {
    .policy = {
        .abi = HEDDLE_POLICY_ABI,
        .name = "two-level",
        .help = "two levels: a small group issues, warps that wait for memory leave it (Gebhart, Narasiman, GPGPU-Sim's two_level_active)",
        .params = params,
        .counters = counters,
        .bits_per_warp = 6 + 1, /* its place in the lists, active or not */
        .bits_per_core = 6,
        .state_bytes = sizeof(struct two_level),
        .init = init,
        .on = {.launched = launched, .finished = finished, .issued = issued, .cycles = cycles},
    },
    .pick = pick,
    .hold = hold,
    .patient = true,
};
