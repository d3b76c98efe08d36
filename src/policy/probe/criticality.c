/* How well criticality prediction finds the slowest warp of a block, and where it ranks that warp over time (CAWA,
 * ISCA 2015, sections 5.2 and 5.3, figures 11 and 12).
 *
 * Every `period` cycles the warps of each resident block are ranked by their predicted criticality
 * (heddle/criticality.h): 0 is the lowest priority, and warps that have ended rank below all others. Only when the last
 * warp of the block has ended is it known which one was the slowest: that very warp, as all were launched together. Its
 * samples are then counted, those of the other warps are forgotten.
 *
 *   accurate    samples that call the slowest warp slow: before at least half of the other warps that still run.
 *   ..._whole   the same, of samples that were taken while all warps of the block were still running. The last warp
 *               alone is always slow; these leave such easy samples out.
 *
 * Time for figure 12 is the part of the block's life that has passed, in hundredths. How long it will be is not known
 * before its end, so samples are added up in cells, of which pairs are merged when all are in use.
 *
 * Samples that are due while a core sleeps, since nothing in it changes, are taken when it wakes. Where a scheduler or
 * an L1 policy keeps criticality for itself, its values and its rules are the ones that are judged. */
#include "heddle/criticality.h"

#include <stdlib.h>
#include <string.h>

enum { PERIOD = 3 /* after the predictor's */, LAUNCH, BLOCK, WARPS };
enum { BLOCKS, SAMPLES, ACCURATE, SAMPLES_WHOLE, ACCURATE_WHOLE, RANK, RANK_SAMPLES };
enum { CELLS = 512, HUNDREDTHS = 100 };

struct block {
    uint32_t warps, ended;
    bool chosen;
    uint64_t samples, samples_whole;
    uint64_t per_cell; /* samples that go into a cell */
};

struct warp {
    uint64_t accurate, accurate_whole;
    uint32_t rank[CELLS]; /* sums over the samples of each cell */
};

struct probe {
    struct heddle_criticality own;
    const struct heddle_criticality *criticality;
    uint64_t *counters, *rank, *rank_samples;
    int64_t launch, block_index, warp_count; /* what to look at; negative: all */
    uint64_t period, next;
    uint32_t block_slots;
    struct block *blocks; /* by slot, */
    struct warp *warps;   /* and these too */
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct probe *s = state;
    const union heddle_value *v = setup->values;
    s->criticality = heddle_criticality_join(&s->own, setup, heddle_criticality_read(v));
    s->counters = setup->counters;
    s->rank = setup->histograms[RANK];
    s->rank_samples = setup->histograms[RANK_SAMPLES];
    s->period = (uint64_t)v[PERIOD].integer;
    s->launch = v[LAUNCH].integer;
    s->block_index = v[BLOCK].integer;
    s->warp_count = v[WARPS].integer;
    s->block_slots = setup->core->block_slots;
    s->blocks = calloc(s->block_slots, sizeof *s->blocks);
    s->warps = calloc(setup->core->warp_slots, sizeof *s->warps);
    return s->blocks && s->warps;
}

static void finish(void *state)
{
    struct probe *s = state;
    free(s->blocks);
    free(s->warps);
}

static void kernel(void *state, const struct heddle_core *core)
{
    struct probe *s = state;
    memset(s->blocks, 0, s->block_slots * sizeof *s->blocks); /* of a launch that was cut short */
    s->next = core->cycle + s->period;
}

static bool is_chosen(const struct probe *s, const struct heddle_core *core, uint64_t block_index)
{
    return (s->launch < 0 || (uint64_t)s->launch == core->kernel) &&
           (s->block_index < 0 || (uint64_t)s->block_index == block_index);
}

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct probe *s = state;
    heddle_criticality_on_launched(state, core, warp);
    struct block *b = &s->blocks[core->warp[warp].block];
    if (core->warp[warp].index == 0)
        *b = (struct block){.per_cell = 1, .chosen = is_chosen(s, core, core->warp[warp].block_index)};
    b->warps++;
    memset(&s->warps[warp], 0, sizeof s->warps[warp]);
}

/* Makes room for as many samples again. */
static void merge_cells(struct probe *s, struct block *b, uint64_t running)
{
    for (; running; running &= running - 1) {
        uint32_t *rank = s->warps[__builtin_ctzll(running)].rank;
        for (uint32_t i = 0; i < CELLS; i++)
            rank[i] = i < CELLS / 2 ? rank[2 * i] + rank[2 * i + 1] : 0;
    }
    b->per_cell *= 2;
}

/* running: warps of the block that have not ended. */
static void sample(struct probe *s, const struct heddle_core *core, struct block *b, uint64_t running)
{
    if (b->samples == CELLS * b->per_cell)
        merge_cells(s, b, running);
    uint64_t cell = b->samples++ / b->per_cell;
    bool whole = b->ended == 0;
    b->samples_whole += whole;
    for (uint64_t rest = running; rest; rest &= rest - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(rest);
        struct warp *w = &s->warps[slot];
        bool slow = heddle_criticality_is_critical(s->criticality, core, slot, HEDDLE_CRITICAL_BLOCK_HALF);
        w->accurate += slow;
        w->accurate_whole += slow && whole;
        w->rank[cell] += b->ended + heddle_criticality_rank(s->criticality, core, slot, running);
    }
}

static void sample_all(struct probe *s, const struct heddle_core *core, uint64_t due)
{
    for (uint64_t rest = core->resident; rest;) {
        const struct heddle_warp *w = &core->warp[__builtin_ctzll(rest)];
        uint64_t running = heddle_criticality_block(core, (uint32_t)__builtin_ctzll(rest));
        struct block *b = &s->blocks[w->block];
        if (b->chosen && w->launch_cycle <= due)
            sample(s, core, b, running);
        rest &= ~running;
    }
}

static void cycles(void *state, const struct heddle_core *core, uint64_t count)
{
    struct probe *s = state;
    (void)count;
    for (; s->next <= core->cycle; s->next += s->period)
        sample_all(s, core, s->next);
}

static void count_block(struct probe *s, const struct block *b, const struct warp *slowest)
{
    uint64_t used = (b->samples + b->per_cell - 1) / b->per_cell;
    s->counters[BLOCKS]++;
    s->counters[SAMPLES] += b->samples;
    s->counters[ACCURATE] += slowest->accurate;
    s->counters[SAMPLES_WHOLE] += b->samples_whole;
    s->counters[ACCURATE_WHOLE] += slowest->accurate_whole;
    for (uint64_t i = 0; i < used; i++) {
        uint64_t left = b->samples - i * b->per_cell;
        s->rank[i * HUNDREDTHS / used] += slowest->rank[i];
        s->rank_samples[i * HUNDREDTHS / used] += left < b->per_cell ? left : b->per_cell;
    }
}

static void ended(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct probe *s = state;
    struct block *b = &s->blocks[core->warp[warp].block];
    b->ended++;
    if (b->ended == b->warps && b->chosen && (s->warp_count < 0 || s->warp_count == (int64_t)b->warps))
        count_block(s, b, &s->warps[warp]);
}

static const struct heddle_param params[] = {
    HEDDLE_CRITICALITY_PARAMS,
    [PERIOD] = {.name = "period",
                .type = HEDDLE_INTEGER,
                .default_value = "500",
                .least = 1,
                .most = 1e9,
                .help = "cycles from one sample to the next"},
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
static const struct heddle_counter counters[] = {
    [BLOCKS] = {.name = "blocks", .unit = "blocks", .help = "blocks that came to their end"},
    [SAMPLES] = {.name = "samples", .unit = "samples", .help = "of their slowest warps"},
    [ACCURATE] = {.name = "accurate",
                  .unit = "samples",
                  .help = "of these, with the slowest warp predicted to be slow"},
    [SAMPLES_WHOLE] = {.name = "samples_whole",
                       .unit = "samples",
                       .help = "those taken while all warps of the block were running"},
    [ACCURATE_WHOLE] = {.name = "accurate_whole",
                        .unit = "samples",
                        .help = "of samples_whole, with the slowest warp predicted to be slow"},
    [RANK] = {.name = "rank",
              .unit = "ranks",
              .kind = HEDDLE_HISTOGRAM,
              .buckets = HUNDREDTHS,
              .help = "of the slowest warp in its block, 0 the lowest, summed by hundredths of the block's life"},
    [RANK_SAMPLES] = {.name = "rank_samples",
                      .unit = "samples",
                      .kind = HEDDLE_HISTOGRAM,
                      .buckets = HUNDREDTHS,
                      .help = "that rank is the sum of"},
    {0},
};

const struct heddle_probe probe_criticality = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "criticality",
            .help =
                "the slowest warp of a block: is it predicted to be slow, its rank over time (CAWA, figures 11 and 12)",
            .params = params,
            .counters = counters,
            .state_bytes = sizeof(struct probe),
            .init = init,
            .finish = finish,
            .on = {HEDDLE_CRITICALITY_EVENTS, .kernel = kernel, .launched = launched, .ended = ended,
                   .issued = heddle_criticality_on_issued, .cycles = cycles},
        },
};
