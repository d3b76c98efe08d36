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

/* Active warps in the order in which they are looked at, from place `first` on and round; the pending in the order in which they came, a ring. */
struct lists {
    uint8_t active[HEDDLE_WARPS], pending[HEDDLE_WARPS];
    uint32_t active_count, first, head, pending_count;
};

struct two_level {
    uint64_t warps;                /* slots of this scheduler */
    uint64_t *counters;
    int64_t group, inner, outer, promote, style;
    bool whole;                    /* all slots have a place in the group */
    struct lists lists;
    uint64_t active;               /* the same as a set */
    uint64_t last;                 /* the warp that issued last, as a set */
    uint64_t blocked;              /* as it was when the policy was last told of cycles */
    uint64_t due;                  /* steps of the lists with it that have not been taken: nobody has asked since */
    bool moves;                    /* the lists did in the last step, and may do so again */
    struct heddle_ages ages;
    /* narasiman */
    uint64_t groups[HEDDLE_WARPS]; /* sets */
    uint32_t group_count, current;
    uint8_t group_of[HEDDLE_WARPS];
};

static void push_active(struct two_level *s, uint8_t slot)
{
    s->lists.active[s->lists.active_count++] = slot;
    s->active |= UINT64_C(1) << slot;
}

static uint8_t *pending_at(struct lists *l, uint32_t i) { return &l->pending[(l->head + i) % HEDDLE_WARPS]; }
static void push_pending(struct lists *l, uint8_t slot) { *pending_at(l, l->pending_count++) = slot; }

static void add_slot(struct two_level *s, uint8_t slot)
{
    if (s->lists.active_count < s->group && !s->lists.pending_count)
        push_active(s, slot);
    else
        push_pending(&s->lists, slot);
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
            add_slot(s, (uint8_t)slot);
    }
    return true;
}

/* ---------------------------------------------------------------- the lists */

static const struct heddle_phase *phase_of(const struct heddle_core *core, uint32_t slot)
{
    static const struct heddle_phase none = {0};
    uint32_t pc = core->warp[slot].next_pc;
    return pc == HEDDLE_NO_PC ? &none : &core->program->instructions[pc].phase[HEDDLE_PHASES];
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
    uint8_t *v = s->lists.active;
    for (uint32_t i = 1; i < s->lists.active_count; i++)
        for (uint32_t k = i; k && comes_before(s, core, v[k], v[k - 1]); k--) {
            uint8_t other = v[k];
            v[k] = v[k - 1];
            v[k - 1] = other;
        }
}

/* Every active warp of `leaving`, at most so many, to the back of the pending; those that stay begin at place 0. */
static uint32_t demote(struct two_level *s, uint64_t leaving, uint32_t most)
{
    struct lists *l = &s->lists;
    uint8_t stay[HEDDLE_WARPS];
    uint32_t stayed = 0, demoted = 0;
    for (uint32_t n = 0, i = l->first; n < l->active_count; n++) {
        uint8_t slot = l->active[i];
        i = i + 1 < l->active_count ? i + 1 : 0;
        if ((leaving >> slot & 1) && demoted < most) {
            push_pending(l, slot);
            s->active &= ~(UINT64_C(1) << slot);
            demoted++;
        } else {
            stay[stayed++] = slot;
        }
    }
    for (uint32_t i = 0; i < stayed; i++)
        l->active[i] = stay[i];
    l->active_count = stayed;
    l->first = 0;
    return demoted;
}

/* Takes one out of the pending, those behind it move up. */
static uint8_t take_pending(struct lists *l, uint32_t i)
{
    uint8_t slot = *pending_at(l, i);
    for (; i; i--)
        *pending_at(l, i) = *pending_at(l, i - 1);
    l->head = (l->head + 1) % HEDDLE_WARPS;
    l->pending_count--;
    return slot;
}

/* Which of the pending that do not wait takes a free place; their count: none. */
static uint32_t next_pending(struct two_level *s, const struct heddle_core *core, uint64_t blocked)
{
    struct lists *l = &s->lists;
    uint32_t best = l->pending_count, least = UINT32_MAX;
    for (uint32_t i = 0; i < l->pending_count; i++) {
        uint8_t slot = *pending_at(l, i);
        if (blocked >> slot & 1)
            continue;
        if (s->promote == PROMOTE_FIFO)
            return i;
        uint32_t length = phase_of(core, slot)->length;
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
    while (l->active_count < s->group && l->pending_count) {
        uint32_t i = s->style == STYLE_GPGPUSIM && s->promote == PROMOTE_FIFO ? 0 : next_pending(s, core, blocked);
        if (i == l->pending_count) {
            if (s->style == STYLE_GEBHART)
                break;
            i = 0;
        }
        push_active(s, take_pending(l, i));
        promoted++;
    }
    return promoted;
}

/* The usual form, GPGPU-Sim's with a plain queue, in one pass without branches on who waits: those that wait go to the back of the queue, whose front takes their places. */
static void exchange(struct two_level *s, uint64_t blocked)
{
    struct lists *l = &s->lists;
    uint8_t now[HEDDLE_WARPS + 1];
    uint32_t count = 0, head = l->head, tail = l->head + l->pending_count, group = (uint32_t)s->group;
    for (uint32_t n = l->active_count, i = l->first; n; n--) {
        uint8_t slot = l->active[i];
        uint32_t leaves = blocked >> slot & 1;
        now[count] = l->pending[tail % HEDDLE_WARPS] = slot; /* in one of them it is written over */
        count += !leaves;
        tail += leaves;
        i = i + 1 < l->active_count ? i + 1 : 0;
    }
    s->counters[COUNT_DEMOTIONS] += l->active_count - count;
    s->counters[COUNT_PROMOTIONS] -= count;
    for (; count < group && head != tail; head++)
        now[count++] = l->pending[head % HEDDLE_WARPS];
    s->counters[COUNT_PROMOTIONS] += count;
    s->active = 0;
    for (uint32_t i = 0; i < count; i++) {
        l->active[i] = now[i];
        s->active |= UINT64_C(1) << now[i];
    }
    l->active_count = count;
    l->first = 0;
    l->head = head;
    l->pending_count = tail - head;
}

/* One cycle of the lists. False: nothing moved, and nothing will while the sets stay as they are. */
static bool step(struct two_level *s, const struct heddle_core *core, uint64_t blocked)
{
    if (!(s->active & blocked) && (s->lists.active_count == s->group || !s->lists.pending_count))
        return false;
    if (s->style == STYLE_GPGPUSIM && s->promote == PROMOTE_FIFO && s->outer == OUTER_RR) {
        exchange(s, blocked);
        return true;
    }
    uint32_t demoted = s->active & blocked ? demote(s, blocked, s->style == STYLE_GEBHART ? 1 : HEDDLE_WARPS) : 0;
    if (!demoted) /* a promotion goes behind the last */
        demote(s, 0, 0);
    uint32_t promoted = promote(s, core, blocked);
    s->counters[COUNT_DEMOTIONS] += demoted;
    s->counters[COUNT_PROMOTIONS] += promoted;
    if (promoted && s->outer != OUTER_RR)
        sort_active(s, core);
    return demoted | promoted;
}

static bool same_lists(struct lists *a, struct lists *b)
{
    if (a->active_count != b->active_count || a->pending_count != b->pending_count || a->first != b->first || memcmp(a->active, b->active, a->active_count))
        return false;
    for (uint32_t i = 0; i < a->pending_count; i++)
        if (*pending_at(a, i) != *pending_at(b, i))
            return false;
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
        if (same_lists(&kept, &s->lists)) {
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

/* The usual case of it: GPGPU-Sim's lists, when all that is pending waits. Those that stay active do so; the others are a ring of which so many are active, and that turns by as many each cycle. */
static void turn(struct two_level *s, uint64_t blocked, uint64_t steps)
{
    struct lists *l = &s->lists;
    uint32_t leaving = demote(s, blocked, HEDDLE_WARPS);
    uint64_t by = l->pending_count ? steps % l->pending_count * leaving % l->pending_count : 0;
    /* Those that left stand at the back now, and come first in the ring. */
    uint8_t ring[HEDDLE_WARPS];
    uint32_t count = l->pending_count, start = (uint32_t)((count - leaving + by) % (count ? count : 1));
    for (uint32_t i = 0; i < count; i++)
        ring[i] = *pending_at(l, (start + i) % count);
    l->head = 0;
    l->pending_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i < leaving)
            push_active(s, ring[i]);
        else
            push_pending(l, ring[i]);
    }
    s->counters[COUNT_DEMOTIONS] += steps * leaving;
    s->counters[COUNT_PROMOTIONS] += steps * leaving;
}

static uint64_t pending_set(const struct two_level *s) { return s->warps & ~s->active; }

static void pass(struct two_level *s, const struct heddle_core *core, uint64_t blocked, uint64_t steps)
{
    if (s->style != STYLE_GPGPUSIM || s->outer != OUTER_RR) {
        make_up(s, core, blocked, steps);
        return;
    }
    while (steps && (pending_set(s) & ~blocked)) {
        if (!step(s, core, blocked))
            return;
        steps--;
    }
    if (steps && (s->active & blocked))
        turn(s, blocked, steps);
}

/* To be called before the lists are looked at. */
static void catch_up(struct two_level *s, const struct heddle_core *core)
{
    if (!s->due)
        return;
    if (s->due > 1)
        pass(s, core, s->blocked, s->due - 1);
    s->moves = step(s, core, s->blocked);
    s->due = 0;
}

/* ---------------------------------------------------------------- events */

static void cycles(void *state, const struct heddle_core *core, uint64_t count)
{
    struct two_level *s = state;
    if (s->whole || s->style == STYLE_NARASIMAN)
        return;
    uint64_t blocked = (core->waiting | core->long_wait | ~core->resident) & s->warps;
    s->due += count - 1;
    if (blocked != s->blocked) {
        catch_up(s, core);
        s->blocked = blocked;
    }
    s->due++;
    if (s->outer != OUTER_RR) /* the order depends on where warps are now */
        catch_up(s, core);
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct two_level *s = state;
    heddle_ages_launched(&s->ages, warp);
    if ((s->warps >> warp & 1) && s->style == STYLE_GEBHART && !s->whole) {
        catch_up(s, core);
        demote(s, 0, 0);
        add_slot(s, (uint8_t)warp);
    }
}

static void finished(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct two_level *s = state;
    struct lists *l = &s->lists;
    if (s->style != STYLE_GEBHART || s->whole || !(s->warps >> warp & 1))
        return;
    catch_up(s, core);
    demote(s, UINT64_C(1) << warp, 1);
    for (uint32_t i = 0; i < l->pending_count; i++)
        if (*pending_at(l, i) == warp) {
            take_pending(l, i);
            return;
        }
}

/* What is counted belongs to the launch. */
static void kernel_end(void *state, const struct heddle_core *core) { catch_up(state, core); }

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
    for (uint32_t i = 0; i < l->active_count; i++)
        if (l->active[i] == e->warp) { /* those behind it come first, then those before it, then itself */
            l->first = i + 1 < l->active_count ? i + 1 : 0;
            return;
        }
}

/* ---------------------------------------------------------------- choice */

static uint64_t hold(void *state, const struct heddle_core *core)
{
    struct two_level *s = state;
    catch_up(s, core);
    return s->style == STYLE_NARASIMAN && !s->whole ? 0 : s->warps & ~s->active;
}

static uint64_t steady_until(void *state, const struct heddle_core *core)
{
    const struct two_level *s = state;
    return s->moves ? core->cycle + 1 : UINT64_MAX;
}

static int first_listed(const struct lists *l, uint64_t candidates)
{
    for (uint32_t n = 0, i = l->first; n < l->active_count; n++) {
        if (candidates >> l->active[i] & 1)
            return l->active[i];
        i = i + 1 < l->active_count ? i + 1 : 0;
    }
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
        .on = {.launched = launched, .finished = finished, .issued = issued, .cycles = cycles, .kernel_end = kernel_end},
    },
    .pick = pick,
    .hold = hold,
    .steady_until = steady_until,
};
