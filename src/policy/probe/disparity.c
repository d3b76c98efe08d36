/* How far apart the warps of a block end, and what made the difference (CAWA, ISCA 2015, section 2.2, figures 1, 2 and
 * 4): workload and branches show in the instructions, memory and the scheduler in the cycles that a warp waited.
 *
 * The time of a warp is from its launch to the issue of its last instruction, both cycles included; its stores may
 * still be under way then. When the last warp of a block has ended, all are put in order of their time, the fastest
 * first; blocks of one warp are left out.
 *
 * Cycles of a warp, as seen before the schedulers choose; the rest of its time is fetch, short operations and fences:
 *
 *   memory      its next instruction needs the result of a load or an atomic;
 *   not_picked  it could issue, and did not: the scheduler preferred another, or held it back;
 *   barrier     it is at a barrier.
 *
 * A core that sleeps is like the last cycle that was seen: that is why it sleeps. Not counted: blocks that do not come
 * to their end. */
#include "heddle/policy.h"

#include <stdlib.h>
#include <string.h>

enum { LAUNCH, BLOCK, WARPS };

/* What is counted of a warp. */
enum { CYCLES, INSTRUCTIONS, PARTIAL, MEMORY, NOT_PICKED, BARRIER, PARTS };

enum {
    BLOCKS,
    DISPARITY,
    HIGHEST,
    DISPARITY_OF_FASTEST,
    HIGHEST_OF_FASTEST,
    INSTRUCTION_DISPARITY,
    HIGHEST_INSTRUCTIONS,
    HIGHEST_WAIT,
    SLOWEST,                   /* and its parts, */
    FASTEST = SLOWEST + PARTS, /* the same, */
    RANK_WARPS = FASTEST + PARTS,
    RANK /* and histograms of the parts */
};
enum { WHOLE = 1000 };

struct warp {
    uint64_t parts[PARTS];
    uint32_t lanes; /* at launch */
};

struct block {
    uint32_t first, warps, ended;
    bool chosen;
};

struct sets {
    uint64_t memory, ready, barrier;
};

struct disparity {
    uint64_t *counters, *const *histograms;
    int64_t launch, block_index, warp_count; /* what to look at; negative: all */
    uint32_t block_slots;
    struct block *blocks;
    struct warp warps[HEDDLE_WARPS];
    struct sets seen; /* in the last cycle, less those that issued */
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct disparity *s = state;
    s->counters = setup->counters;
    s->histograms = setup->histograms;
    s->launch = setup->values[LAUNCH].integer;
    s->block_index = setup->values[BLOCK].integer;
    s->warp_count = setup->values[WARPS].integer;
    s->block_slots = setup->core->block_slots;
    s->blocks = calloc(s->block_slots, sizeof *s->blocks);
    return s->blocks != NULL;
}

static void finish(void *state)
{
    struct disparity *s = state;
    free(s->blocks);
}

static void kernel(void *state, const struct heddle_core *core)
{
    struct disparity *s = state;
    (void)core;
    memset(s->blocks, 0, s->block_slots * sizeof *s->blocks);
    s->seen = (struct sets){0};
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct disparity *s = state;
    const struct heddle_warp *w = &core->warp[warp];
    struct block *b = &s->blocks[w->block];
    if (w->index == 0)
        *b = (struct block){.first = warp,
                            .chosen = (s->launch < 0 || (uint64_t)s->launch == core->kernel) &&
                                      (s->block_index < 0 || (uint64_t)s->block_index == w->block_index)};
    b->warps++;
    s->warps[warp] = (struct warp){.lanes = w->active};
}

static void add(struct disparity *s, uint64_t warps, uint32_t part, uint64_t count)
{
    for (; warps; warps &= warps - 1)
        s->warps[__builtin_ctzll(warps)].parts[part] += count;
}

static void add_all(struct disparity *s, const struct sets *sets, uint64_t count)
{
    add(s, sets->memory, MEMORY, count);
    add(s, sets->ready, NOT_PICKED, count);
    add(s, sets->barrier, BARRIER, count);
}

static void cycles(void *state, const struct heddle_core *core, uint64_t count)
{
    struct disparity *s = state;
    const struct sets now = {.memory = core->long_wait & core->resident & ~core->waiting,
                             .ready = core->ready & core->resident,
                             .barrier = core->at_barrier & core->resident};
    if (count > 1)
        add_all(s, &s->seen, count - 1);
    add_all(s, &now, 1);
    s->seen = now;
}

/* A warp that issues was ready, and is now picked. */
static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct disparity *s = state;
    struct warp *w = &s->warps[e->warp];
    uint64_t bit = UINT64_C(1) << e->warp;
    (void)core;
    w->parts[INSTRUCTIONS]++;
    w->parts[PARTIAL] += (e->path & w->lanes) != w->lanes;
    w->parts[NOT_PICKED] -= s->seen.ready >> e->warp & 1;
    s->seen.ready &= ~bit;
}

static void raise_to(uint64_t *maximum, uint64_t value)
{
    if (*maximum < value)
        *maximum = value;
}

/* The warps of a block, the fastest first; of equals the one with the lower index. */
static void put_in_order(const struct disparity *s, const struct block *b, const struct warp **order)
{
    for (uint32_t i = 0; i < b->warps; i++) {
        const struct warp *w = &s->warps[b->first + i];
        uint32_t at = i;
        for (; at && order[at - 1]->parts[CYCLES] > w->parts[CYCLES]; at--)
            order[at] = order[at - 1];
        order[at] = w;
    }
}

static void count_instructions(const struct disparity *s, const struct warp *const *order, uint32_t warps)
{
    uint64_t most = 0, fewest = UINT64_MAX;
    for (uint32_t i = 0; i < warps; i++) {
        uint64_t n = order[i]->parts[INSTRUCTIONS];
        most = n > most ? n : most;
        fewest = n < fewest ? n : fewest;
    }
    uint64_t disparity = fewest ? (most - fewest) * WHOLE / fewest : 0;
    s->counters[INSTRUCTION_DISPARITY] += disparity;
    raise_to(&s->counters[HIGHEST_INSTRUCTIONS], disparity);
}

static void count_block(const struct disparity *s, const struct block *b)
{
    const struct warp *order[HEDDLE_WARPS];
    put_in_order(s, b, order);
    const uint64_t *fastest = order[0]->parts, *slowest = order[b->warps - 1]->parts;
    uint64_t difference = slowest[CYCLES] - fastest[CYCLES];
    s->counters[BLOCKS]++;
    s->counters[DISPARITY] += difference * WHOLE / slowest[CYCLES];
    s->counters[DISPARITY_OF_FASTEST] += difference * WHOLE / fastest[CYCLES];
    raise_to(&s->counters[HIGHEST], difference * WHOLE / slowest[CYCLES]);
    raise_to(&s->counters[HIGHEST_OF_FASTEST], difference * WHOLE / fastest[CYCLES]);
    raise_to(&s->counters[HIGHEST_WAIT], slowest[NOT_PICKED] * WHOLE / (slowest[CYCLES] - slowest[NOT_PICKED]));
    count_instructions(s, order, b->warps);
    for (uint32_t part = 0; part < PARTS; part++) {
        s->counters[SLOWEST + part] += slowest[part];
        s->counters[FASTEST + part] += fastest[part];
        for (uint32_t rank = 0; rank < b->warps; rank++)
            s->histograms[RANK + part][rank] += order[rank]->parts[part];
    }
    for (uint32_t rank = 0; rank < b->warps; rank++)
        s->histograms[RANK_WARPS][rank]++;
}

static void forget(struct disparity *s, uint32_t warp)
{
    uint64_t others = ~(UINT64_C(1) << warp);
    s->seen.memory &= others;
    s->seen.ready &= others;
    s->seen.barrier &= others;
}

static void ended(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct disparity *s = state;
    struct block *b = &s->blocks[core->warp[warp].block];
    s->warps[warp].parts[CYCLES] = core->cycle + 1 - core->warp[warp].launch_cycle;
    forget(s, warp);
    b->ended++;
    bool wanted = b->chosen && b->warps > 1 && (s->warp_count < 0 || s->warp_count == (int64_t)b->warps);
    if (wanted && b->ended == b->warps)
        count_block(s, b);
}

static const struct heddle_param params[] = {
    [LAUNCH] = {.name = "launch",
                .type = HEDDLE_INTEGER,
                .default_value = "-1",
                .least = -1,
                .most = 1e9,
                .help = "blocks of this launch alone, counted from 0; -1: of all"},
    [BLOCK] = {.name = "block",
               .type = HEDDLE_INTEGER,
               .default_value = "-1",
               .least = -1,
               .most = 1e9,
               .help = "this block of the grid alone; -1: all"},
    [WARPS] = {.name = "warps",
               .type = HEDDLE_INTEGER,
               .default_value = "-1",
               .least = -1,
               .most = HEDDLE_WARPS,
               .help = "blocks of so many warps alone; -1: all"},
    {0},
};

#define BY_RANK(what, of_what, text)                                                                              \
    {                                                                                                             \
        .name = what "_by_rank", .unit = of_what, .kind = HEDDLE_HISTOGRAM, .buckets = HEDDLE_WARPS, .help = text \
    }
static const struct heddle_counter counters[] = {
    [BLOCKS] = {.name = "blocks", .unit = "blocks", .help = "blocks of two warps at least that came to their end"},
    [DISPARITY] = {.name = "disparity",
                   .unit = "1/1000",
                   .help = "time between the end of the fastest and of the slowest warp, of the slowest warp's; a sum"},
    [HIGHEST] = {.name = "highest_disparity",
                 .unit = "1/1000",
                 .kind = HEDDLE_MAXIMUM,
                 .help = "the same of one block"},
    [DISPARITY_OF_FASTEST] = {.name = "disparity_of_fastest",
                              .unit = "1/1000",
                              .help = "the same time, of the fastest warp's; a sum"},
    [HIGHEST_OF_FASTEST] = {.name = "highest_disparity_of_fastest",
                            .unit = "1/1000",
                            .kind = HEDDLE_MAXIMUM,
                            .help = "the same of one block"},
    [INSTRUCTION_DISPARITY] = {.name = "instruction_disparity",
                               .unit = "1/1000",
                               .help = "instructions: most less fewest of a warp, of the fewest; a sum"},
    [HIGHEST_INSTRUCTIONS] = {.name = "highest_instruction_disparity",
                              .unit = "1/1000",
                              .kind = HEDDLE_MAXIMUM,
                              .help = "the same of one block"},
    [HIGHEST_WAIT] = {.name = "highest_wait",
                      .unit = "1/1000",
                      .kind = HEDDLE_MAXIMUM,
                      .help = "of a slowest warp: cycles not picked, of the other cycles of its time"},
    [SLOWEST + CYCLES] = {.name = "slowest_cycles", .unit = "cycles", .help = "time of the slowest warps"},
    [SLOWEST + INSTRUCTIONS] = {.name = "slowest_instructions", .unit = "instructions", .help = "that these issued"},
    [SLOWEST + PARTIAL] = {.name = "slowest_partial",
                           .unit = "instructions",
                           .help = "of these, with fewer lanes on the path than the warp has"},
    [SLOWEST + MEMORY] = {.name = "slowest_memory", .unit = "cycles", .help = "that these waited for memory"},
    [SLOWEST + NOT_PICKED] = {.name = "slowest_not_picked",
                              .unit = "cycles",
                              .help = "in which these could issue and were not picked"},
    [SLOWEST + BARRIER] = {.name = "slowest_barrier", .unit = "cycles", .help = "that these were at barriers"},
    [FASTEST + CYCLES] = {.name = "fastest_cycles", .unit = "cycles", .help = "time of the fastest warps"},
    [FASTEST + INSTRUCTIONS] = {.name = "fastest_instructions", .unit = "instructions", .help = "that these issued"},
    [FASTEST + PARTIAL] = {.name = "fastest_partial",
                           .unit = "instructions",
                           .help = "of these, with fewer lanes on the path than the warp has"},
    [FASTEST + MEMORY] = {.name = "fastest_memory", .unit = "cycles", .help = "that these waited for memory"},
    [FASTEST + NOT_PICKED] = {.name = "fastest_not_picked",
                              .unit = "cycles",
                              .help = "in which these could issue and were not picked"},
    [FASTEST + BARRIER] = {.name = "fastest_barrier", .unit = "cycles", .help = "that these were at barriers"},
    [RANK_WARPS] = BY_RANK("warps", "warps", "warps by their rank in their block, 0 the fastest"),
    [RANK + CYCLES] = BY_RANK("cycles", "cycles", "their time"),
    [RANK + INSTRUCTIONS] = BY_RANK("instructions", "instructions", "that they issued"),
    [RANK + PARTIAL] = BY_RANK("partial", "instructions", "of these, with fewer lanes on the path than the warp has"),
    [RANK + MEMORY] = BY_RANK("memory", "cycles", "that they waited for memory"),
    [RANK + NOT_PICKED] = BY_RANK("not_picked", "cycles", "in which they could issue and were not picked"),
    [RANK + BARRIER] = BY_RANK("barrier", "cycles", "that they were at barriers"),
    {0},
};

const struct heddle_probe probe_disparity = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "disparity",
            .help =
                "time between the fastest and the slowest warp of a block, and its causes (CAWA, figures 1, 2 and 4)",
            .params = params,
            .counters = counters,
            .state_bytes = sizeof(struct disparity),
            .init = init,
            .finish = finish,
            .on = {.kernel = kernel, .launched = launched, .ended = ended, .issued = issued, .cycles = cycles},
        },
};
