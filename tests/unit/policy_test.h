/* A core as policies see it, without one: tests launch, stall and issue warps by hand. */
#ifndef POLICY_TEST_H
#define POLICY_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/registry.h"

#include <stdlib.h>
#include <string.h>

struct fake_core {
    struct heddle_core core;
    struct heddle_warp warp[HEDDLE_WARPS];
    uint64_t ages;
};

/* An instance of a policy, chosen by its spec as a user would. */
struct instance {
    struct policy_choice choice;
    struct heddle_setup setup;
    void *state;
    uint64_t counters[16];
};

static inline void fake_core_init(struct fake_core *f)
{
    static const struct heddle_instruction instruction = {0};
    static const struct heddle_program program = {.kernel = "k", .instructions = &instruction, .instruction_count = 1};
    memset(f, 0, sizeof *f);
    f->core = (struct heddle_core){.program = &program,
                                   .warp_slots = HEDDLE_WARPS,
                                   .scheduler_count = 1,
                                   .block_slots = 8,
                                   .l1_sets = 4,
                                   .l1_ways = 4,
                                   .l1_line_bytes = 128,
                                   .warp = f->warp};
}

/* scheduler: which of the core */
static inline void instance_start_as(struct instance *i, struct fake_core *f, enum policy_kind kind, const char *spec,
                                     uint64_t warps, uint32_t scheduler)
{
    struct error e = {0};
    memset(i, 0, sizeof *i);
    if (!policy_choose(&i->choice, kind, spec, &e))
        fail_msg("%s: %s", spec, e.text);
    i->setup = (struct heddle_setup){.core = &f->core,
                                     .values = i->choice.values,
                                     .counters = i->counters,
                                     .scheduler = scheduler,
                                     .warps = warps,
                                     .seed = 1};
    i->state = calloc(1, i->choice.policy->state_bytes + 1);
    assert_non_null(i->state);
    if (i->choice.policy->init)
        assert_true(i->choice.policy->init(i->state, &i->setup));
}

static inline void instance_start(struct instance *i, struct fake_core *f, enum policy_kind kind, const char *spec,
                                  uint64_t warps)
{
    instance_start_as(i, f, kind, spec, warps, 0);
}

static inline void instance_end(struct instance *i)
{
    if (i->choice.policy->finish)
        i->choice.policy->finish(i->state);
    free(i->state);
    policy_release(&i->choice);
}

#endif
