/* GPGPU-Sim 3.2.2's two_level_active, also the PAWS report's: only warps of a small active list issue. The lists hold
 * all warp slots, empty ones too. Each cycle every active warp that waits (barrier, fence, atomic, no warp, or an
 * instruction that needs the result of a long operation) goes to the end of the pending queue, and the front of that
 * queue takes each free place, ready or not. After a promotion, outer=gto sorts the active list by age, outer=paws by
 * the distance to the end of the phase, then age. A list with room for all slots is one level: nobody leaves, the inner
 * policy decides. Gebhart's and Narasiman's own two levels: gebhart.c, narasiman.c. */
#include "heddle/warp_list.h"

enum { GROUP, INNER, OUTER, PROMOTE, ORDER };
enum { INNER_LRR, INNER_GTO, INNER_GREEDY_LRR };
enum { OUTER_RR, OUTER_GTO, OUTER_PAWS };
enum { PROMOTE_FIFO, PROMOTE_SHORTEST };
enum { COUNT_PROMOTIONS, COUNT_DEMOTIONS };

struct two_level {
    uint64_t warps; /* slots of this scheduler */
    uint64_t *counters;
    uint32_t group;
    int64_t inner, outer, promote, order;
    bool one_level;
    struct heddle_warp_list active, pending;
    uint64_t blocked; /* warps that waited when a cycle was last reported */
    bool moved;       /* the lists did in the last cycle; if not, they stay until `blocked` changes */
    uint64_t due;     /* cycles of the lists that have not been made up for */
    uint64_t last;    /* the warp that issued last, as a set */
    struct heddle_ages ages;
};

static void demote(struct two_level *s)
{
    uint32_t count = s->active.count;
    s->active.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t slot = s->active.slot[i];
        struct heddle_warp_list *to = s->blocked >> slot & 1 ? &s->pending : &s->active;
        to->slot[to->count++] = slot;
    }
    s->pending.set |= s->active.set & s->blocked;
    s->active.set &= ~s->blocked;
    s->counters[COUNT_DEMOTIONS] += count - s->active.count;
}

static const struct heddle_phase *phase_of(const struct two_level *s, const struct heddle_core *core, uint32_t slot)
{
    static const struct heddle_phase none = {0};
    uint32_t pc = core->warp[slot].next_pc;
    return pc == HEDDLE_NO_PC ? &none : &core->program->instructions[pc].phase[s->order];
}

/* The place of the pending warp with the shortest phase, of those that do not wait; the first, if all do. */
static uint32_t shortest_phase(const struct two_level *s, const struct heddle_core *core)
{
    uint32_t best = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < s->pending.count; i++) {
        uint8_t slot = s->pending.slot[i];
        uint32_t length = phase_of(s, core, slot)->length;
        if (!(s->blocked >> slot & 1) && length < least) {
            least = length;
            best = i;
        }
    }
    return best;
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

/* Insertion: the list is short and nearly in order. */
static void sort_active(struct two_level *s, const struct heddle_core *core)
{
    uint8_t *slot = s->active.slot;
    for (uint32_t i = 1; i < s->active.count; i++)
        for (uint32_t k = i; k && comes_before(s, core, slot[k], slot[k - 1]); k--) {
            uint8_t other = slot[k];
            slot[k] = slot[k - 1];
            slot[k - 1] = other;
        }
}

/* One cycle of the lists. */
static void step(struct two_level *s, const struct heddle_core *core)
{
    s->moved = (s->active.set & s->blocked) || (s->active.count < s->group && s->pending.count);
    if (!s->moved)
        return;
    demote(s);
    uint32_t room = s->group - s->active.count, promoted = room < s->pending.count ? room : s->pending.count;
    if (s->promote == PROMOTE_FIFO)
        heddle_list_move(&s->active, &s->pending, promoted);
    else
        for (uint32_t i = 0; i < promoted; i++)
            heddle_list_add(&s->active, heddle_list_take(&s->pending, shortest_phase(s, core)));
    s->counters[COUNT_PROMOTIONS] += promoted;
    if (promoted && s->outer != OUTER_RR)
        sort_active(s, core);
}

/* While all pending warps wait, the waiting ones pass through the places that they leave to each other like a ring:
 * after as many cycles as there are of them, all stand where they stood. */
static void skip_rounds(struct two_level *s)
{
    uint32_t leaving = (uint32_t)__builtin_popcountll(s->active.set & s->blocked), ring = leaving + s->pending.count;
    if (s->outer != OUTER_RR || (s->pending.set & ~s->blocked))
        return;
    uint64_t skipped = s->due / ring * ring;
    s->due -= skipped;
    s->counters[COUNT_DEMOTIONS] += skipped * leaving;
    s->counters[COUNT_PROMOTIONS] += skipped * leaving;
}

static void catch_up(struct two_level *s, const struct heddle_core *core)
{
    while (s->due && s->moved) {
        step(s, core);
        s->due--;
        if (s->due > s->group)
            skip_rounds(s);
    }
    s->due = 0;
}

/* Before this cycle the sets were as they were last reported. Where phases decide on a promotion, they are those at the
 * time when the scheduler next has a warp to choose, or when warps begin or cease to wait. */
static void cycles(void *state, const struct heddle_core *core, uint64_t count)
{
    struct two_level *s = state;
    bool later = s->promote == PROMOTE_SHORTEST && s->outer == OUTER_RR;
    uint64_t blocked = (core->waiting | core->long_wait | ~core->resident) & s->warps;
    if (s->one_level)
        return;
    s->due += count - 1;
    if (!later || blocked != s->blocked)
        catch_up(s, core);
    s->moved |= blocked != s->blocked;
    s->blocked = blocked;
    s->due++;
    if (!later)
        catch_up(s, core);
}

static uint64_t hold(void *state, const struct heddle_core *core)
{
    struct two_level *s = state;
    catch_up(s, core);
    return s->warps & ~s->active.set;
}

/* What is counted belongs to the launch. */
static void kernel_end(void *state, const struct heddle_core *core) { catch_up(state, core); }

static uint64_t steady_until(void *state, const struct heddle_core *core)
{
    const struct two_level *s = state;
    return s->moved || s->due ? core->cycle + 1 : UINT64_MAX;
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    const struct two_level *s = state;
    (void)core;
    if (s->inner != INNER_LRR && (candidates & s->last))
        return __builtin_ctzll(s->last);
    if (s->inner == INNER_GTO)
        return heddle_ages_oldest(&s->ages, candidates);
    return s->active.slot[heddle_list_find(&s->active, candidates)];
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct two_level *s = state;
    (void)core;
    if (!(s->warps >> e->warp & 1))
        return;
    s->last = UINT64_C(1) << e->warp;
    if (s->inner != INNER_GTO)
        heddle_list_turn(&s->active, e->warp);
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct two_level *s = state;
    (void)core;
    heddle_ages_launched(&s->ages, warp);
}

static bool init(void *state, const struct heddle_setup *setup)
{
    struct two_level *s = state;
    const union heddle_value *v = setup->values;
    s->warps = setup->warps;
    s->counters = setup->counters;
    s->group = (uint32_t)v[GROUP].integer;
    s->inner = v[INNER].integer;
    s->outer = v[OUTER].integer;
    s->promote = v[PROMOTE].integer;
    s->order = v[ORDER].integer;
    s->one_level = s->group >= (uint32_t)__builtin_popcountll(s->warps);
    for (uint64_t left = s->warps; left; left &= left - 1)
        heddle_list_add(s->active.count < s->group ? &s->active : &s->pending, (uint32_t)__builtin_ctzll(left));
    return true;
}

static const char *const inners[] = {"lrr", "gto", "greedy-lrr", NULL};
static const char *const outers[] = {"rr", "gto", "paws", NULL};
static const char *const promotions[] = {"fifo", "shortest-phase", NULL};
static const char *const orders[] = {"sources", "report", NULL};
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
    [OUTER] = {.name = "outer",
               .type = HEDDLE_CHOICE,
               .default_value = "rr",
               .choices = outers,
               .help = "how a promotion sorts the active warps: not, by age, or by phase distance and age"},
    [PROMOTE] = {.name = "promote",
                 .type = HEDDLE_CHOICE,
                 .default_value = "fifo",
                 .choices = promotions,
                 .help = "which pending warp takes a free place"},
    [ORDER] = {.name = "order",
               .type = HEDDLE_CHOICE,
               .default_value = "sources",
               .choices = orders,
               .help = "phases, as in paws:order"},
    {0},
};
static const struct heddle_counter counters[] = {
    [COUNT_PROMOTIONS] = {.name = "promotions", .unit = "warps", .help = "warps that became active"},
    [COUNT_DEMOTIONS] = {.name = "demotions", .unit = "warps", .help = "active warps that had to wait and left"},
    {0},
};

const struct heddle_scheduler scheduler_two_level = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "two-level",
            .help = "two levels: warps that wait for memory leave a small active list, and the first pending ones take "
                    "their places (GPGPU-Sim's two_level_active)",
            .params = params,
            .counters = counters,
            .bits_per_warp = 6 + 1, /* its place in the lists, active or not */
            .bits_per_core = 6,
            .state_bytes = sizeof(struct two_level),
            .init = init,
            .on = {.launched = launched, .issued = issued, .cycles = cycles, .kernel_end = kernel_end},
        },
    .pick = pick,
    .hold = hold,
    .steady_until = steady_until,
};
