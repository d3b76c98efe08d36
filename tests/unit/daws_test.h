/* A core with a program of loops and loads, for tests of DAWS. */
#ifndef DAWS_TEST_H
#define DAWS_TEST_H

#include "scheduler_test.h"

#include <stdio.h>
#include <unistd.h>

enum { LINE = 128, INSTRUCTIONS = 700, LOOPS_MOST = 8, NOWHERE = 699 /* an instruction outside all loops, no load */ };
enum {
    VTA_HITS,
    THROTTLED_CYCLES,
    HELD_WARP_CYCLES,
    RESIDENT_WARP_CYCLES,
    PREDICTIONS,
    PREDICTED_LINES,
    OVERSIZED,
    OUTSIDE,
    SAMPLED_LOADS,
    LOCAL_LOADS,
    LOOPS_WITH_LOCALITY,
    LOADS_CLASSIFIED,
    LOADS_DIVERGED,
    LOADS_REPEATED,
};

struct code {
    struct heddle_instruction in[INSTRUCTIONS];
    struct heddle_loop loops[LOOPS_MOST];
    struct heddle_program program;
    char profile[64]; /* a file, with one line per load */
};

static inline void code_start(struct code *c)
{
    memset(c, 0, sizeof *c);
    for (int i = 0; i < INSTRUCTIONS; i++)
        c->in[i] = (struct heddle_instruction){.loop = -1, .address = HEDDLE_NO_REGISTER};
    c->program = (struct heddle_program){
        .kernel = "k", .instructions = c->in, .instruction_count = INSTRUCTIONS, .loops = c->loops};
    strcpy(c->profile, "/tmp/heddle-daws-XXXXXX");
    int file = mkstemp(c->profile);
    assert_true(file >= 0);
    assert_int_equal(write(file, "kernel k\n", 9), 9);
    close(file);
}

static inline void code_end(struct code *c) { unlink(c->profile); }

/* Outer loops first. */
static inline int32_t add_loop(struct code *c, uint32_t begin, uint32_t end, int32_t parent)
{
    int32_t loop = (int32_t)c->program.loop_count++;
    c->loops[loop] = (struct heddle_loop){.begin = begin, .header = begin, .end = end, .parent = parent};
    for (uint32_t pc = begin; pc < end; pc++)
        c->in[pc].loop = loop;
    return loop;
}

/* A load as the profile has it: of 100 executions with more than two lanes, and of 200 accesses. */
static inline void add_load_at(struct code *c, uint32_t pc, uint32_t diverged, uint32_t local, uint32_t base,
                               int32_t offset)
{
    c->in[pc].flags = HEDDLE_LOAD | HEDDLE_L1D_LOAD | HEDDLE_LONG;
    c->in[pc].address = base;
    c->in[pc].offset = offset;
    FILE *f = fopen(c->profile, "a");
    assert_non_null(f);
    fprintf(f, "load %u 100 %u 100 200 %u\n", pc, diverged, 2 * local);
    fclose(f);
}

static inline void add_load(struct code *c, uint32_t pc, bool diverged)
{
    add_load_at(c, pc, diverged ? 100 : 0, 90, 1000 + pc, 0);
}

/* lines: of the L1D */
static inline void run_on(struct bench *b, const struct code *c, const char *spec, uint32_t lines, uint32_t warps)
{
    fake_core_init(&b->f);
    b->told = 0;
    b->f.core.l1_ways = lines < 8 ? lines : 8;
    b->f.core.l1_sets = lines / b->f.core.l1_ways;
    b->f.core.program = &c->program;
    instance_start(&b->s, &b->f, POLICY_SCHEDULER, spec, ~UINT64_C(0));
    on(b)->kernel(b->s.state, &b->f.core);
    for (uint32_t w = 0; w < warps; w++) {
        launch(b, w);
        b->f.warp[w].next_pc = NOWHERE;
        b->f.warp[w].active = ~0u;
    }
}

/* mode=profiled with the profile of the code; more: parameters behind it, or "" */
static inline void run_profiled(struct bench *b, const struct code *c, const char *more, uint32_t lines, uint32_t warps)
{
    char spec[256];
    snprintf(spec, sizeof spec, "daws:mode=profiled,profile=%s%s", c->profile, more);
    run_on(b, c, spec, lines, warps);
}

static inline uint32_t first_lanes(uint32_t n) { return n == 32 ? ~0u : (1u << n) - 1; }

static inline void at_loop(struct bench *b, uint32_t warp, int32_t loop, enum heddle_loop_step step, uint32_t lanes)
{
    struct heddle_loop_event e = {.warp = warp,
                                  .pc = b->f.core.program->loops[loop].begin,
                                  .active = first_lanes(lanes),
                                  .loop = loop,
                                  .step = step};
    on(b)->loop(b->s.state, &b->f.core, &e);
}
static inline void enter(struct bench *b, uint32_t warp, int32_t loop, uint32_t lanes)
{
    at_loop(b, warp, loop, HEDDLE_LOOP_ENTER, lanes);
}
static inline void iterate(struct bench *b, uint32_t warp, int32_t loop, uint32_t lanes)
{
    at_loop(b, warp, loop, HEDDLE_LOOP_ITERATE, lanes);
}
static inline void leave(struct bench *b, uint32_t warp, int32_t loop)
{
    at_loop(b, warp, loop, HEDDLE_LOOP_LEAVE, 32);
}

static inline void warp_ends(struct bench *b, uint32_t warp)
{
    b->f.core.resident &= ~BIT(warp);
    b->f.core.next_is_l1_load &= ~BIT(warp);
    on(b)->ended(b->s.state, &b->f.core, warp);
}

/* What the warp would issue next. */
static inline void comes_to(struct bench *b, uint32_t warp, uint32_t pc, uint32_t lanes)
{
    b->f.warp[warp].next_pc = pc;
    b->f.warp[warp].active = first_lanes(lanes);
    uint64_t load = pc != HEDDLE_NO_PC && b->f.core.program->instructions[pc].flags & HEDDLE_L1D_LOAD ? BIT(warp) : 0;
    b->f.core.next_is_l1_load = (b->f.core.next_is_l1_load & ~BIT(warp)) | load;
}

/* It issues that. */
static inline void issues(struct bench *b, uint32_t warp)
{
    uint32_t pc = b->f.warp[warp].next_pc, path = b->f.warp[warp].active;
    comes_to(b, warp, NOWHERE, 32);
    on(b)->issued(
        b->s.state, &b->f.core,
        &(struct heddle_issue){
            .warp = warp, .pc = pc, .active = path, .path = path, .instruction = &b->f.core.program->instructions[pc]});
}

static inline uint64_t held(struct bench *b) { return b->s.choice.scheduler->hold_loads(b->s.state, &b->f.core); }

#endif
