/* Two levels: a small group of warps issues, the others wait for a place in it. Three published forms (style=):
 *
 * gpgpusim   GPGPU-Sim 3.2.2's two_level_active, also the PAWS report's: lists of all warp slots, empty ones too. Each
 * cycle every active warp that waits (barrier, fence, atomic, no warp) or whose next instruction needs the result of a
 * long operation goes to the back of the pending queue, and the front of that queue takes each free place, ready or
 * not. With an outer level other than rr the active list is sorted after a promotion. gebhart    Gebhart et al. (ISCA
 * 2011): lists of resident warps; at most one leaves a cycle, and the first pending warp that waits for nothing takes a
 * free place. narasiman  Narasiman et al. (MICRO 2011), as the CCWS paper describes it: fetch groups fixed by slot; the
 * current group issues, and when none of it can, the next that can becomes current.
 *
 * Where the group is as large as the scheduler nobody leaves it, and the inner policy alone decides. While nobody can
 * issue, cycles come as one count: the lists are then moved on by that many steps, whose states repeat after a few. */
#include "heddle/policy.h"

enum { GROUP, INNER, OUTER, PROMOTE, STYLE, ORDER };
enum { INNER_LRR, INNER_GTO, INNER_GREEDY_LRR };
enum { OUTER_RR, OUTER_GTO, OUTER_PAWS };
enum { PROMOTE_FIFO, PROMOTE_SHORTEST };
enum { STYLE_GPGPUSIM, STYLE_GEBHART, STYLE_NARASIMAN };
enum { COUNT_PROMOTIONS, COUNT_DEMOTIONS, COUNT_SWITCHES };

/* Both lists in one row of cells: first the active warps, looked at from place `first` of them on and round, behind
 * them the pending in the order in which they came. So the first of the pending gets a free place without being moved.
 * The row creeps upwards as warps go to its back, and starts again at cell 0 when it comes to the end. */
enum { CELLS = 256 };
struct lists {
    uint8_t slot[CELLS];
    uint8_t cell[HEDDLE_WARPS]; /* by slot, of those in the lists */
    uint32_t head;              /* cell of the first active warp */
    uint32_t active_count, pending_count, first;
};

struct two_level {
    uint64_t warps; /* slots of this scheduler */
    uint64_t *counters;
    int64_t group, inner, outer, promote, style, order;
    bool whole; /* all slots have a place in the group */
    struct lists lists;
    uint64_t active;  /* the same as a set */
    uint64_t last;    /* the warp that issued last, as a set */
    uint64_t blocked; /* as it was when the policy was last told of cycles */
    uint64_t due;     /* steps of the lists with it that have not been taken: nobody has asked since */
    bool moves;       /* the lists did in the last step, or have been changed since, and may do so again */
    bool turning; /* but only those move that wait, and they stand together: who may issue, and in which order, does not
                     depend on it */
    uint64_t at_barrier;   /* as `blocked` */
    bool has_issued;       /* since the last step that is due */
    uint32_t first_before; /* `first` before that */
    uint64_t stepped;      /* the cycle in which the lists were last brought on */
    struct heddle_ages ages;
    /* narasiman */
    uint64_t groups[HEDDLE_WARPS]; /* sets */
    uint32_t group_count, current;
    uint8_t group_of[HEDDLE_WARPS];
};

static inline uint8_t slot_at(const struct lists *l, uint32_t i) { return l->slot[l->head + i]; }
static inline uint32_t place_of(const struct lists *l, uint32_t slot) { return l->cell[slot] - l->head; }

static inline void put(struct lists *l, uint32_t i, uint8_t slot)
{
    l->slot[l->head + i] = slot;
    l->cell[slot] = (uint8_t)(l->head + i);
}

/* Room for all the warps of a scheduler behind those in the row. */
static inline void make_room(struct lists *l)
{
    uint32_t count = l->active_count + l->pending_count, from = l->head;
    if (from + count + HEDDLE_WARPS <= CELLS)
        return;
    l->head = 0;
    for (uint32_t i = 0; i < count; i++)
        put(l, i, l->slot[from + i]);
}

/* The first pending warp takes a free place. */
static inline void push_active(struct two_level *s)
{
    s->active |= UINT64_C(1) << slot_at(&s->lists, s->lists.active_count++);
    s->lists.pending_count--;
}

static void add_slot(struct two_level *s, uint8_t slot)
{
    struct lists *l = &s->lists;
    make_room(l);
    put(l, l->active_count + l->pending_count++, slot);
    if (l->active_count < s->group && l->pending_count == 1)
        push_active(s);
}

static bool init(void *state, const struct heddle_setup *setup)
{
    struct two_level *s = state;
    const union heddle_value *v = setup->values;
    *s = (struct two_level){.warps = setup->warps,
                            .counters = setup->counters,
                            .group = v[GROUP].integer,
                            .inner = v[INNER].integer,
                            .outer = v[OUTER].integer,
                            .promote = v[PROMOTE].integer,
                            .style = v[STYLE].integer,
                            .order = v[ORDER].integer};
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

static const struct heddle_phase *phase_of(const struct two_level *s, const struct heddle_core *core, uint32_t slot)
{
    static const struct heddle_phase none = {0};
    uint32_t pc = core->warp[slot].next_pc;
    return pc == HEDDLE_NO_PC ? &none : &core->program->instructions[pc].phase[s->order];
}

static bool comes_before(const struct two_level *s, const struct heddle_core *core, uint32_t a, uint32_t b)
{
    if (s->outer == OUTER_PAWS) {
        uint32_t distance_a = phase_of(s, core, a)->distance, distance_b = phase_of(s, core, b)->distance;
        if (distance_a != distance_b)
            return distance_a < distance_b;
    }
    return core->warp[a].age < core->warp[b].age;
}

/* The first of the active in their order that is one of these. */
static int first_listed(const struct two_level *s, uint64_t candidates)
{
    const struct lists *l = &s->lists;
    uint64_t places = 0;
    candidates &= s->active;
    if (!(candidates & (candidates - 1)))
        return candidates ? __builtin_ctzll(candidates) : HEDDLE_NO_WARP;
    for (; candidates; candidates &= candidates - 1)
        places |= UINT64_C(1) << place_of(l, (uint32_t)__builtin_ctzll(candidates));
    return slot_at(l, (uint32_t)heddle_ring_first(places, ~UINT64_C(0) << l->first));
}

/* After it has issued: those behind it come first, then those before it, then itself. */
static void go_behind(struct two_level *s, uint32_t warp)
{
    if (s->active >> warp & 1) {
        uint32_t next = place_of(&s->lists, warp) + 1;
        s->lists.first = next < s->lists.active_count ? next : 0;
    }
}

/* Insertion: the list is short and nearly in order. Its first is at place 0. */
static void sort_active(struct two_level *s, const struct heddle_core *core)
{
    struct lists *l = &s->lists;
    for (uint32_t i = 1; i < l->active_count; i++)
        for (uint32_t k = i; k && comes_before(s, core, slot_at(l, k), slot_at(l, k - 1)); k--) {
            uint8_t other = slot_at(l, k);
            put(l, k, slot_at(l, k - 1));
            put(l, k - 1, other);
        }
}

/* Every active warp of `leaving` to the back of the pending; those that stay begin at place 0. */
static uint32_t demote(struct two_level *s, uint64_t leaving)
{
    struct lists *l = &s->lists;
    uint8_t stay[HEDDLE_WARPS + 1];
    make_room(l);
    uint32_t count = l->active_count, back = l->head + count + l->pending_count, stays = 0;
    for (uint32_t n = count, i = l->first; n;
         n--) { /* no branch on who leaves: what is written for the others is written over */
        uint8_t slot = slot_at(l, i);
        uint32_t leaves = leaving >> slot & 1;
        stay[stays] = l->slot[back] = slot;
        l->cell[slot] = (uint8_t)back;
        stays += !leaves;
        back += leaves;
        i = i + 1 < count ? i + 1 : 0;
    }
    uint32_t goes = count - stays;
    l->head += goes;
    for (uint32_t i = 0; i < stays; i++)
        put(l, i, stay[i]);
    l->active_count = stays;
    l->pending_count += goes;
    l->first = 0;
    s->active &= ~leaving;
    return goes;
}

/* Those before place i move up by one, over what is there. */
static void close_gap(struct lists *l, uint32_t i, uint32_t from)
{
    for (; i > from; i--)
        put(l, i, slot_at(l, i - 1));
}

/* Which of the pending that do not wait takes a free place; their count: none. */
static uint32_t next_pending(struct two_level *s, const struct heddle_core *core, uint64_t blocked)
{
    struct lists *l = &s->lists;
    uint32_t best = l->pending_count, least = UINT32_MAX;
    for (uint32_t i = 0; i < l->pending_count; i++) {
        uint8_t slot = slot_at(l, l->active_count + i);
        if (blocked >> slot & 1)
            continue;
        if (s->promote == PROMOTE_FIFO)
            return i;
        uint32_t length = phase_of(s, core, slot)->length;
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
    bool plain = s->style == STYLE_GPGPUSIM && s->promote == PROMOTE_FIFO;
    for (; l->active_count < s->group && l->pending_count; promoted++) {
        uint32_t i = plain ? 0 : next_pending(s, core, blocked);
        if (i == l->pending_count) {
            if (s->style == STYLE_GEBHART)
                break;
            i = 0;
        }
        if (i) {
            uint8_t slot = slot_at(l, l->active_count + i);
            close_gap(l, l->active_count + i, l->active_count);
            put(l, l->active_count, slot);
        }
        push_active(s);
    }
    return promoted;
}

static bool may_move(const struct two_level *s, uint64_t blocked)
{
    return (s->active & blocked) || (s->lists.active_count < s->group && s->lists.pending_count);
}

/* One cycle of the lists. False: nothing moved, and nothing will while the sets stay as they are. */
static bool step(struct two_level *s, const struct heddle_core *core, uint64_t blocked)
{
    if (!may_move(s, blocked))
        return false;
    uint64_t leaving = s->active & blocked;
    if (s->style == STYLE_GEBHART && leaving) /* one a cycle */
        leaving = UINT64_C(1) << first_listed(s, leaving);
    uint32_t demoted = demote(s, leaving); /* where nobody leaves: a promotion goes behind the last */
    uint32_t promoted = promote(s, core, blocked);
    s->counters[COUNT_DEMOTIONS] += demoted;
    s->counters[COUNT_PROMOTIONS] += promoted;
    if (promoted && s->outer != OUTER_RR)
        sort_active(s, core);
    return demoted | promoted;
}

static bool same_lists(const struct lists *a, const struct lists *b)
{
    if (a->active_count != b->active_count || a->pending_count != b->pending_count || a->first != b->first)
        return false;
    for (uint32_t i = 0; i < a->active_count + a->pending_count; i++)
        if (slot_at(a, i) != slot_at(b, i))
            return false;
    return true;
}

/* Many cycles in which the sets stay as they are. The lists come back to where they were after some steps: what is left
 * then is taken modulo that many (Brent's method). */
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

/* The usual case of it: GPGPU-Sim's lists, when all that is pending waits. Those that stay active do so; the others are
 * a ring of which so many are active, and that turns by as many each cycle. */
static void turn(struct two_level *s, uint64_t blocked, uint64_t steps)
{
    struct lists *l = &s->lists;
    uint32_t leaving = demote(s, blocked), stays = l->active_count, count = l->pending_count;
    /* Those that left stand at the back now, and come first in the ring. */
    uint32_t by = (uint32_t)((count - leaving + steps % count * leaving) % count);
    make_room(l);
    for (uint32_t i = 0; i < by; i++)
        put(l, stays + count + i, slot_at(l, stays + i));
    for (uint32_t i = stays; i; i--)
        put(l, by + i - 1, slot_at(l, i - 1));
    l->head += by;
    for (uint32_t i = 0; i < leaving; i++)
        push_active(s);
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
    uint64_t due = s->due;
    if (!due)
        return;
    s->due = 0;
    if (s->turning) {
        if (s->has_issued) /* since the last of those steps, which began where the order did before */
            s->lists.first = s->first_before;
        turn(s, s->blocked, due);
        if (s->has_issued)
            go_behind(s, (uint32_t)__builtin_ctzll(s->last));
        return;
    }
    if (due > 1)
        pass(s, core, s->blocked, due - 1);
    bool all_wait = s->style == STYLE_GPGPUSIM && s->outer == OUTER_RR &&
                    !(pending_set(s) & ~s->blocked); /* so that those that come in stand together */
    s->stepped = core->cycle;
    s->moves = step(s, core, s->blocked);
    s->turning = s->moves && all_wait;
}

/* ---------------------------------------------------------------- events */

static void cycles(void *state, const struct heddle_core *core, uint64_t count)
{
    struct two_level *s = state;
    if (s->whole || s->style == STYLE_NARASIMAN)
        return;
    uint64_t blocked = (core->waiting | core->long_wait | ~core->resident) & s->warps;
    s->due += count - 1;
    s->has_issued &= count == 1;
    if (blocked != s->blocked) {
        catch_up(s, core);
        s->blocked = blocked;
        s->turning = false;
    }
    s->at_barrier = core->at_barrier;
    s->due++;
    s->has_issued = false;
    if (s->outer != OUTER_RR) /* the order depends on where warps are now */
        catch_up(s, core);
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct two_level *s = state;
    heddle_ages_launched(&s->ages, warp);
    if ((s->warps >> warp & 1) && s->style == STYLE_GEBHART && !s->whole) {
        catch_up(s, core);
        demote(s, 0);
        add_slot(s, (uint8_t)warp);
        s->moves = true;
    }
}

static void finished(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct two_level *s = state;
    struct lists *l = &s->lists;
    if (s->style != STYLE_GEBHART || s->whole || !(s->warps >> warp & 1))
        return;
    catch_up(s, core);
    s->moves = true;
    demote(s, UINT64_C(1) << warp);
    close_gap(l, place_of(l, warp), 0);
    l->head++;
    l->pending_count--;
}

/* What is counted belongs to the launch. */
static void kernel_end(void *state, const struct heddle_core *core) { catch_up(state, core); }

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct two_level *s = state;
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
    if (s->turning && !s->has_issued) {
        s->has_issued = true;
        s->first_before = s->lists.first;
    }
    go_behind(s, e->warp);
}

/* ---------------------------------------------------------------- choice */

static uint64_t hold(void *state, const struct heddle_core *core)
{
    struct two_level *s = state;
    if (!s->turning ||
        (s->at_barrier & ~core->at_barrier)) /* a barrier that has opened since: what was said to wait may not */
        catch_up(s, core);
    return s->style == STYLE_NARASIMAN && !s->whole ? 0 : s->warps & ~s->active;
}

static uint64_t steady_until(void *state, const struct heddle_core *core)
{
    const struct two_level *s = state;
    bool moves = s->moves && (s->stepped == core->cycle ||
                              may_move(s, s->blocked)); /* a cycle later it can be told whether there is more to come */
    return moves || s->due ? core->cycle + 1 : HEDDLE_UNTIL_SETS_CHANGE;
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
    return groups ? heddle_ring_first(candidates, ~(s->last | (s->last - 1))) : first_listed(s, candidates);
}

static const char *const inners[] = {"lrr", "gto", "greedy-lrr", NULL};
static const char *const outers[] = {"rr", "gto", "paws", NULL};
static const char *const promotions[] = {"fifo", "shortest-phase", NULL};
static const char *const styles[] = {"gpgpusim", "gebhart", "narasiman", NULL};
static const char *const orders[] = {"sources", "report", NULL};
static const struct heddle_param params[] = {
    [GROUP] = {.name = "group",
               .type = HEDDLE_INTEGER,
               .default_value = "6",
               .least = 1,
               .most = 64,
               .help = "warps of a scheduler that may issue (active warps, or the size of a fetch group)"},
    [INNER] = {.name = "inner",
               .type = HEDDLE_CHOICE,
               .default_value = "lrr",
               .choices = inners,
               .help = "which of them issues"},
    [OUTER] = {.name = "outer",
               .type = HEDDLE_CHOICE,
               .default_value = "rr",
               .choices = outers,
               .help = "active warps are sorted at a promotion (by age; by phase distance, then age), or not (rr); "
                       "narasiman: which group comes next"},
    [PROMOTE] = {.name = "promote",
                 .type = HEDDLE_CHOICE,
                 .default_value = "fifo",
                 .choices = promotions,
                 .help = "which pending warp takes a free place"},
    [STYLE] = {.name = "style",
               .type = HEDDLE_CHOICE,
               .default_value = "gpgpusim",
               .choices = styles,
               .help = "whose two levels"},
    [ORDER] = {.name = "order",
               .type = HEDDLE_CHOICE,
               .default_value = "sources",
               .choices = orders,
               .help =
                   "phases as paws:order has them; the report's code forgets a load that reads its own destination"},
    {0},
};
static const struct heddle_counter counters[] = {
    [COUNT_PROMOTIONS] = {.name = "promotions", .unit = "warps", .help = "warps that took a place among the active"},
    [COUNT_DEMOTIONS] = {.name = "demotions",
                         .unit = "warps",
                         .help = "warps that left the active because they had to wait"},
    [COUNT_SWITCHES] = {.name = "switches",
                        .unit = "times",
                        .help = "another fetch group issued than the last one (narasiman)"},
    {0},
};

const struct heddle_scheduler scheduler_two_level = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "two-level",
            .help = "two levels: a small group issues, warps that wait for memory leave it (Gebhart, Narasiman, "
                    "GPGPU-Sim's two_level_active)",
            .params = params,
            .counters = counters,
            .bits_per_warp = 6 + 1, /* its place in the lists, active or not */
            .bits_per_core = 6,
            .state_bytes = sizeof(struct two_level),
            .init = init,
            .on = {.launched = launched,
                   .finished = finished,
                   .issued = issued,
                   .cycles = cycles,
                   .kernel_end = kernel_end},
        },
    .pick = pick,
    .hold = hold,
    .steady_until = steady_until,
};
