/* A probe on a core that tests move by hand: a program of 16 instructions in two nested loops, and the tables that the
 * probe counts into.
 *
 *   pc 0..3   outside     pc 4..7   in loop 0     pc 8..11   in loop 1, inside loop 0     pc 12..15   outside */
#ifndef PROBE_TEST_H
#define PROBE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heddle/policy.h"

#include <stdlib.h>
#include <string.h>

enum { PROBE_PCS = 16, PROBE_COLUMNS = 16, PROBE_LINE = 128, PROBE_SETS = 4, PROBE_WAYS = 4 };
enum { PROBE_COUNTERS = 40, PROBE_BUCKETS = 128, PROBE_BLOCKS = 8 };
enum { OUTSIDE = 0, OUTER = 4, INNER = 8, AFTER = 12 };
enum { OUTER_LOOP, INNER_LOOP };

struct probed {
    const struct heddle_probe *probe;
    struct heddle_core core;
    struct heddle_warp warp[HEDDLE_WARPS];
    struct heddle_instruction code[PROBE_PCS];
    struct heddle_program program;
    uint64_t ages;
    uint64_t counters[PROBE_COUNTERS], buckets[PROBE_COUNTERS][PROBE_BUCKETS], *histograms[PROBE_COUNTERS];
    uint64_t rows[PROBE_PCS * PROBE_COLUMNS], *table;
    void *state;
    const char *why;
};

static const struct heddle_loop probe_loops[] = {
    [OUTER_LOOP] = {.begin = 4, .end = 12, .header = 4, .parent = -1, .depth = 1},
    [INNER_LOOP] = {.begin = 8, .end = 12, .header = 8, .parent = OUTER_LOOP, .depth = 2},
};

/* values: of the parameters, in their order. Without an L1D: line_bytes 0. */
static inline bool probed_try(struct probed *p, const struct heddle_probe *probe, const union heddle_value *values,
                              uint32_t line_bytes)
{
    memset(p, 0, sizeof *p);
    p->probe = probe;
    for (int pc = 0; pc < PROBE_PCS; pc++)
        p->code[pc].loop = pc < OUTER || pc >= AFTER ? -1 : pc < INNER ? OUTER_LOOP : INNER_LOOP;
    p->program = (struct heddle_program){
        .kernel = "k", .instructions = p->code, .instruction_count = PROBE_PCS, .loops = probe_loops, .loop_count = 2};
    p->core = (struct heddle_core){.warp_slots = HEDDLE_WARPS,
                                   .scheduler_count = 1,
                                   .program = &p->program,
                                   .block_slots = PROBE_BLOCKS,
                                   .l1_sets = line_bytes ? PROBE_SETS : 0,
                                   .l1_ways = line_bytes ? PROBE_WAYS : 0,
                                   .l1_line_bytes = line_bytes,
                                   .warp = p->warp};
    p->table = p->rows;
    for (int i = 0; i < PROBE_COUNTERS; i++)
        p->histograms[i] = p->buckets[i];
    struct heddle_setup setup = {.core = &p->core,
                                 .values = values,
                                 .counters = p->counters,
                                 .why = &p->why,
                                 .instructions = &p->table,
                                 .histograms = p->histograms};
    p->state = calloc(1, probe->policy.state_bytes);
    assert_non_null(p->state);
    return probe->policy.init(p->state, &setup);
}

static inline void probed_end(struct probed *p)
{
    if (p->probe->policy.finish)
        p->probe->policy.finish(p->state);
    free(p->state);
}

static inline const struct heddle_events *probed_on(const struct probed *p) { return &p->probe->policy.on; }

static inline void probed_launch(struct probed *p, uint32_t warp)
{
    p->warp[warp].age = p->ages++;
    if (probed_on(p)->launched)
        probed_on(p)->launched(p->state, &p->core, warp);
}

/* With 8 warps, in a launch. */
static inline void probed_start(struct probed *p, const struct heddle_probe *probe, const union heddle_value *values)
{
    assert_true(probed_try(p, probe, values, PROBE_LINE));
    if (probed_on(p)->kernel)
        probed_on(p)->kernel(p->state, &p->core);
    for (uint32_t w = 0; w < 8; w++)
        probed_launch(p, w);
}

static inline void probed_loop(struct probed *p, uint32_t warp, int32_t loop, enum heddle_loop_step step)
{
    probed_on(p)->loop(p->state, &p->core, &(struct heddle_loop_event){.warp = warp, .loop = loop, .step = step});
}

/* A load of so many lanes is coalesced. */
static inline void probed_load(struct probed *p, uint32_t warp, uint32_t pc, uint32_t lanes, uint32_t accesses)
{
    uint32_t active = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;
    probed_on(p)->coalesced(
        p->state, &p->core,
        &(struct heddle_coalesced){.warp = warp, .pc = pc, .active = active, .accesses = accesses, .through_l1 = true});
}

/* Every line has its place. */
static inline uint32_t probed_set(uint64_t line) { return (uint32_t)(line % PROBE_SETS); }
static inline uint32_t probed_way(uint64_t line) { return (uint32_t)(line / PROBE_SETS % PROBE_WAYS); }

/* An access of a load. owner: a slot, with the age of its warp now. */
static inline struct heddle_l1_access probed_event(const struct probed *p, uint32_t warp, uint32_t pc, uint64_t line,
                                                   enum heddle_outcome outcome, int32_t owner, uint32_t left)
{
    bool known = outcome == HEDDLE_HIT || outcome == HEDDLE_PENDING;
    return (struct heddle_l1_access){.address = line * PROBE_LINE,
                                     .warp = warp,
                                     .pc = pc,
                                     .outcome = outcome,
                                     .owner = known ? owner : -1,
                                     .owner_age = known ? p->warp[owner].age : 0,
                                     .set = probed_set(line),
                                     .left = left,
                                     .way = outcome == HEDDLE_FAIL ? UINT32_MAX : probed_way(line)};
}

static inline void probed_tell(struct probed *p, const struct heddle_l1_access *e)
{
    probed_on(p)->l1_access(p->state, &p->core, e);
}

static inline void probed_access(struct probed *p, uint32_t warp, uint32_t pc, uint64_t line,
                                 enum heddle_outcome outcome, int32_t owner, uint32_t left)
{
    struct heddle_l1_access e = probed_event(p, warp, pc, line, outcome, owner, left);
    probed_tell(p, &e);
}

static inline void probed_store(struct probed *p, uint32_t warp, uint64_t line)
{
    struct heddle_l1_access e = probed_event(p, warp, OUTSIDE, line, HEDDLE_HIT, (int32_t)warp, 0);
    e.store = true;
    probed_tell(p, &e);
}

static inline void probed_evict(struct probed *p, uint32_t owner, uint64_t line)
{
    probed_on(p)->l1_evict(p->state, &p->core,
                           &(struct heddle_l1_evict){.address = line * PROBE_LINE,
                                                     .owner = (int32_t)owner,
                                                     .owner_age = p->warp[owner].age,
                                                     .set = probed_set(line),
                                                     .way = probed_way(line)});
}

/* The row of an instruction, by the names of its columns. */
static inline uint64_t probed_cell(const struct probed *p, uint32_t pc, const char *column)
{
    const struct heddle_counter *c = p->probe->policy.instructions;
    uint32_t columns = 0, found = UINT32_MAX;
    for (; c[columns].name; columns++)
        if (!strcmp(c[columns].name, column))
            found = columns;
    if (found == UINT32_MAX)
        fail_msg("no column %s", column);
    return p->rows[pc * columns + found];
}

static inline uint32_t probed_counter(const struct probed *p, const char *name)
{
    const struct heddle_counter *c = p->probe->policy.counters;
    for (uint32_t i = 0; c[i].name && i < PROBE_COUNTERS; i++)
        if (!strcmp(c[i].name, name))
            return i;
    fail_msg("no counter %s", name);
    return 0;
}

static inline uint64_t probed_count(const struct probed *p, const char *name)
{
    return p->counters[probed_counter(p, name)];
}

static inline uint64_t probed_bucket(const struct probed *p, const char *name, uint32_t bucket)
{
    return p->buckets[probed_counter(p, name)][bucket];
}

/* A block of so many warps in slots first_warp ... of the core, all lanes full. */
static inline void probed_place(struct probed *p, uint32_t block, uint64_t block_index, uint32_t first_warp,
                                uint32_t warps)
{
    for (uint32_t i = 0; i < warps; i++) {
        p->warp[first_warp + i] = (struct heddle_warp){.block = block,
                                                       .block_index = block_index,
                                                       .index = i,
                                                       .active = UINT32_MAX,
                                                       .launch_cycle = p->core.cycle};
        p->core.resident |= UINT64_C(1) << (first_warp + i);
        probed_launch(p, first_warp + i);
    }
}

static inline void probed_issue(struct probed *p, uint32_t warp, uint32_t pc, uint32_t path)
{
    probed_on(p)->issued(
        p->state, &p->core,
        &(struct heddle_issue){.warp = warp, .pc = pc, .active = path, .path = path, .instruction = &p->code[pc]});
}

static inline void probed_ends(struct probed *p, uint32_t warp)
{
    p->core.resident &= ~(UINT64_C(1) << warp);
    probed_on(p)->ended(p->state, &p->core, warp);
}

/* A cycle in which the core is awake, after as many as it slept. */
static inline void probed_cycle(struct probed *p, uint64_t cycle)
{
    uint64_t count = cycle - p->core.cycle;
    p->core.cycle = cycle;
    probed_on(p)->cycles(p->state, &p->core, count);
}

#endif
