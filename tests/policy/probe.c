/* A probe for tests of shared objects: hears everything, counts in all ways, and writes a file that its parameter
 * names. With SILENT it only hears; with WRONG_HISTOGRAM, WRONG_COLUMN it declares what cannot be kept. */
#include "heddle/policy.h"

#include <stdio.h>
#include <string.h>

enum { HITS, MOST_LEFT, LEFT };

static const struct heddle_counter counters[] = {
    [HITS] = {"hits", "count", "L1 hits", HEDDLE_SUM, 0},
    [MOST_LEFT] = {"most_left", "accesses", "of one instruction after its first", HEDDLE_MAXIMUM, 0},
#ifdef WRONG_HISTOGRAM
    [LEFT] = {"left", "accesses", "by how many are left", HEDDLE_HISTOGRAM, HEDDLE_BUCKETS + 1},
#else
    [LEFT] = {"left", "accesses", "by how many are left", HEDDLE_HISTOGRAM, 128},
#endif
    {0},
};
static const struct heddle_counter columns[] = {
#ifdef WRONG_COLUMN
    {"hits", "count", "L1 hits", HEDDLE_HISTOGRAM, 2},
#else
    {"hits", "count", "L1 hits", HEDDLE_SUM, 0},
#endif
    {"misses", "count", "L1 misses", HEDDLE_SUM, 0},
    {0},
};
static const struct heddle_param params[] = {
    {.name = "file", .type = HEDDLE_TEXT, .default_value = "", .help = "where it writes"}, {0}};

struct probe {
    uint64_t *counters, *left, *const *instructions;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    *(struct probe *)state = (struct probe){setup->counters, setup->histograms[LEFT], setup->instructions};
    return true;
}

static void l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    (void)state, (void)core, (void)e;
#ifndef SILENT
    const struct probe *p = state;
    uint64_t *row = heddle_row(*p->instructions, 2, e->pc);
    if (e->outcome == HEDDLE_FAIL)
        return;
    p->counters[HITS] += e->outcome == HEDDLE_HIT;
    p->counters[MOST_LEFT] = e->left > p->counters[MOST_LEFT] ? e->left : p->counters[MOST_LEFT];
    p->left[e->left]++;
    row[0] += e->outcome == HEDDLE_HIT;
    row[1] += e->outcome == HEDDLE_MISS;
#endif
}

static void on_core(void *state, const struct heddle_core *core) { (void)state, (void)core; }
static void on_warp(void *state, const struct heddle_core *core, uint32_t warp) { (void)state, (void)core, (void)warp; }
static void on_number(void *state, const struct heddle_core *core, uint64_t n) { (void)state, (void)core, (void)n; }
static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    (void)state, (void)core, (void)e;
}
static void committed(void *state, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    (void)state, (void)core, (void)warp, (void)pc;
}
static void branch(void *state, const struct heddle_core *core, const struct heddle_branch *e)
{
    (void)state, (void)core, (void)e;
}
static void loop(void *state, const struct heddle_core *core, const struct heddle_loop_event *e)
{
    (void)state, (void)core, (void)e;
}
static void coalesced(void *state, const struct heddle_core *core, const struct heddle_coalesced *e)
{
    (void)state, (void)core, (void)e;
}
static void l1_evict(void *state, const struct heddle_core *core, const struct heddle_l1_evict *e)
{
    (void)state, (void)core, (void)e;
}

static bool write(const union heddle_value *values, const struct heddle_instruction_table *kernels,
                  uint32_t kernel_count, const char **why)
{
    if (!*values[0].text)
        return true;
    FILE *f = fopen(values[0].text, "w");
    if (!f) {
        *why = "the file cannot be opened";
        return false;
    }
    for (uint32_t i = 0; i < kernel_count; i++) {
        uint64_t hits = 0;
        for (uint32_t pc = 0; pc < kernels[i].instruction_count; pc++)
            hits += kernels[i].values[(size_t)pc * kernels[i].column_count];
        fprintf(f, "%s hits %llu\n", kernels[i].kernel, (unsigned long long)hits);
    }
    return fclose(f) == 0;
}

static const struct heddle_probe probe = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "lines",
            .help = "for tests of shared objects",
            .params = params,
#ifndef SILENT
            .counters = counters,
            .instructions = columns,
            .init = init,
#endif
            .state_bytes = sizeof(struct probe),
            .on = {.kernel = on_core,
                   .kernel_end = on_core,
                   .launched = on_warp,
                   .ended = on_warp,
                   .finished = on_warp,
                   .barrier_wait = on_warp,
                   .barrier_pass = on_warp,
                   .issued = issued,
                   .committed = committed,
                   .branch = branch,
                   .loop = loop,
                   .coalesced = coalesced,
                   .l1_access = l1_access,
                   .l1_evict = l1_evict,
                   .held = on_number,
                   .cycles = on_number},
        },
    .write = write,
};

HEDDLE_EXPORT_PROBE(probe);
