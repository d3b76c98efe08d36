/* A unit with one stack of paths per block (heddle/block_stack.h), driven by its hooks alone: a block in slots 0 and
 * up, and what the unit forms of its threads. */
#ifndef BLOCK_STACK_TEST_H
#define BLOCK_STACK_TEST_H

#include "policy_test.h"

#include "heddle/block_stack.h"

enum { GATE_INSTRUCTIONS = 24, GATE_FORMED = 64 };

/* A warp that was formed. */
struct formed {
    uint32_t slot, count, pc, stop;
    uint64_t ready;
    struct heddle_piece pieces[HEDDLE_PIECES];
};

struct gate {
    struct fake_core f;
    struct instance unit;
    const struct heddle_divergence *hooks;
    struct heddle_instruction instructions[GATE_INSTRUCTIONS];
    struct heddle_program program;
    struct formed formed[GATE_FORMED];
    uint32_t count, checked;
};

static inline void note_regroup(void *context, uint32_t slot, const struct heddle_piece *pieces, uint32_t count,
                                uint32_t pc, uint32_t stop, uint64_t ready)
{
    struct gate *g = context;
    assert_true(g->count < GATE_FORMED);
    struct formed *w = &g->formed[g->count++];
    *w = (struct formed){.slot = slot, .count = count, .pc = pc, .stop = stop, .ready = ready};
    memcpy(w->pieces, pieces, count * sizeof *pieces);
}

static inline void gate_open(struct gate *g, const char *spec, const uint32_t *lanes, uint32_t warps)
{
    memset(g, 0, sizeof *g);
    fake_core_init(&g->f);
    for (uint32_t pc = 0; pc < GATE_INSTRUCTIONS; pc++) /* any of them may be one */
        g->instructions[pc].flags = HEDDLE_BRANCH;
    g->program =
        (struct heddle_program){.kernel = "k", .instructions = g->instructions, .instruction_count = GATE_INSTRUCTIONS};
    g->f.core.program = &g->program;
    g->f.core.warp_slots = 8;
    g->f.core.cycle = 1000;
    instance_start(&g->unit, &g->f, POLICY_DIVERGENCE, spec, 0xff);
    g->hooks = g->unit.choice.divergence;
    g->hooks->services(g->unit.state, &(struct heddle_divergence_services){g, note_regroup});
    g->hooks->policy.on.kernel(g->unit.state, &g->f.core);
    g->hooks->block_start(g->unit.state, &g->f.core, 0, 0, warps, lanes);
}

static inline void gate_close(struct gate *g)
{
    assert_int_equal(g->checked, g->count); /* no warp more than those */
    instance_end(&g->unit);
}

#endif
