/* When the warp last used the line that it finds in the L1 data cache: in this trip of the loop, in the last one, or
 * earlier (DAWS, MICRO 2013, section 4.1 and figure 4). Counts intra-warp hits of loads: hits on a line that the same
 * warp (slot and age) brought. What an access did before matters only while its line stays in the cache, and only to
 * the warp that brought it, so one record per line of the cache is exact.
 *
 * Loads of a warp are numbered in the order of issue. A trip of a loop is an interval of these numbers, kept on a stack
 * per warp, so what an inner loop or a called function did is part of the outer loop's trip. Accesses come to the cache
 * some time after their load issued; the trip of each load is therefore noted at issue, in a ring.
 *
 * "Accessed by another load": accesses of one execution do not count for each other (a converged load makes two of the
 * same line where half warps are coalesced). Each is classified by what happened before the execution; a hit on a line
 * that the execution itself brought is a same_load. An access that finds its line on its way is no hit and is not
 * classified, but it is a use of the line. The last trip is of the same stay in the loop: the first trip has none.
 *
 * Left out: a line whose arrival was not seen (an L1D that takes lines when they are filled; a further sector of the
 * line, asked for by another warp) is `unseen` at the next hit. Loops nested more than 32 deep are not told apart. */
#include "heddle/policy.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTHS = 32, IN_FLIGHT = 128 };
enum { THIS_TRIP, LAST_TRIP, OTHER, SAME_LOAD, OUTSIDE_LOOPS, UNSEEN };

/* A trip that runs, by the number of the first load in it; and in the one before. */
struct trip {
    uint64_t begin, last_begin;
};

/* A load that issued. */
struct load {
    uint64_t number;
    bool in_loop;
    struct trip trip;
};

struct warp {
    uint64_t next;                    /* number of the next load, from 1; goes on through all warps of the slot */
    uint64_t at_cache;                /* of the load whose accesses are made now */
    uint32_t depth;                   /* loops that it is in */
    struct trip trip[DEPTHS];         /* of each, the innermost last */
    struct load in_flight[IN_FLIGHT]; /* by number, modulo */
};

/* A line of the cache: which loads of the warp that brought it used it. */
struct line {
    uint64_t address, age;
    uint64_t used, used_before; /* number of the last load, and of the last one before it; 0: none */
    uint32_t warp;
    bool arrival_seen; /* then no load of the warp used it before those */
};

struct trips {
    uint64_t *counters;
    uint32_t ways;
    size_t line_count;
    struct line *lines; /* by set and way */
    struct warp *warps;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct trips *s = state;
    s->counters = setup->counters;
    s->ways = setup->core->l1_ways;
    s->line_count = (size_t)setup->core->l1_sets * s->ways;
    if (!s->line_count)
        return heddle_refuse(setup, "it needs an L1 data cache");
    s->lines = calloc(s->line_count, sizeof *s->lines);
    s->warps = calloc(setup->core->warp_slots, sizeof *s->warps);
    return s->lines && s->warps;
}

static void finish(void *state)
{
    struct trips *s = state;
    free(s->lines);
    free(s->warps);
}

/* The cache is empty when a launch begins, and loads of one that was cut short will not come. */
static void kernel(void *state, const struct heddle_core *core)
{
    struct trips *s = state;
    memset(s->lines, 0, s->line_count * sizeof *s->lines);
    for (uint32_t w = 0; w < core->warp_slots; w++)
        s->warps[w].next = s->warps[w].at_cache = 1;
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct trips *s = state;
    (void)core;
    s->warps[warp].depth = 0;
}

static struct trip *innermost(struct warp *w) { return &w->trip[(w->depth < DEPTHS ? w->depth : DEPTHS) - 1]; }

static void loop(void *state, const struct heddle_core *core, const struct heddle_loop_event *e)
{
    struct trips *s = state;
    struct warp *w = &s->warps[e->warp];
    (void)core;
    switch (e->step) {
    case HEDDLE_LOOP_ENTER:
        w->depth++;
        *innermost(w) = (struct trip){w->next, w->next};
        break;
    case HEDDLE_LOOP_ITERATE: *innermost(w) = (struct trip){w->next, innermost(w)->begin}; break;
    case HEDDLE_LOOP_LEAVE: w->depth--; break;
    }
}

static void coalesced(void *state, const struct heddle_core *core, const struct heddle_coalesced *e)
{
    struct trips *s = state;
    struct warp *w = &s->warps[e->warp];
    (void)core;
    if (e->store || !e->through_l1 || !e->accesses)
        return;
    struct load *load = &w->in_flight[w->next % IN_FLIGHT];
    *load = (struct load){.number = w->next++, .in_loop = w->depth};
    if (load->in_loop)
        load->trip = *innermost(w);
}

static int classify(const struct line *line, const struct load *load)
{
    uint64_t before = line->used == load->number ? line->used_before : line->used;
    if (!before)
        return line->arrival_seen ? SAME_LOAD : UNSEEN;
    if (!load->in_loop)
        return OUTSIDE_LOOPS;
    return before >= load->trip.begin ? THIS_TRIP : before >= load->trip.last_begin ? LAST_TRIP : OTHER;
}

static void use(struct line *line, uint64_t number)
{
    if (line->used == number)
        return;
    line->used_before = line->used;
    line->used = number;
}

static void l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    struct trips *s = state;
    if (e->store || e->outcome == HEDDLE_FAIL)
        return;
    struct warp *w = &s->warps[e->warp];
    uint64_t number = w->at_cache, age = core->warp[e->warp].age;
    const struct load *load = &w->in_flight[number % IN_FLIGHT];
    w->at_cache += !e->left;
    bool owner = e->owner == (int32_t)e->warp && e->owner_age == age;
    if (e->way >= s->ways) {
        s->counters[UNSEEN] += e->outcome == HEDDLE_HIT && owner;
        return;
    }
    struct line *line = &s->lines[(size_t)e->set * s->ways + e->way];
    if (e->outcome == HEDDLE_MISS) {
        *line = (struct line){.address = e->address, .age = age, .warp = e->warp, .used = number, .arrival_seen = true};
        return;
    }
    if (!owner)
        return;
    if (line->address != e->address || line->warp != e->warp || line->age != age)
        *line = (struct line){.address = e->address, .age = age, .warp = e->warp};
    if (e->outcome == HEDDLE_HIT)
        s->counters[load->number == number ? classify(line, load) : UNSEEN]++;
    use(line, number);
}

static const struct heddle_counter counters[] = {
    [THIS_TRIP] = {.name = "this_trip",
                   .unit = "accesses",
                   .help = "intra-warp hits in loops on a line that another load used in this trip"},
    [LAST_TRIP] = {.name = "last_trip", .unit = "accesses", .help = "the same, of lines last used in the trip before"},
    [OTHER] = {.name = "other",
               .unit = "accesses",
               .help = "the same, of lines last used before the loop, or in an older trip"},
    [SAME_LOAD] = {.name = "same_load",
                   .unit = "accesses",
                   .help = "intra-warp hits on a line that an access of the same execution brought"},
    [OUTSIDE_LOOPS] = {.name = "outside_loops",
                       .unit = "accesses",
                       .help = "intra-warp hits of loads outside all loops"},
    [UNSEEN] = {.name = "unseen",
                .unit = "accesses",
                .help = "intra-warp hits on a line whose arrival was not seen: not classified"},
    {0},
};

const struct heddle_probe probe_trips = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "trips",
            .help =
                "intra-warp hits in loops: was the line used in this trip, the last one, or earlier (DAWS, figure 4)",
            .counters = counters,
            .state_bytes = sizeof(struct trips),
            .init = init,
            .finish = finish,
            .on =
                {.kernel = kernel, .launched = launched, .loop = loop, .coalesced = coalesced, .l1_access = l1_access},
        },
};
