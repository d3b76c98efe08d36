/* A probe that sums up what happened and when, so that two cores can be compared: of every instruction that issues, its
 * cycle, place in the order of its core, warp slot, pc and lanes; and the same of every instruction that ends, of every
 * L1 access that is taken, and of warps' ends and barriers. Sums of hashes: numbers that agree by chance once in 2^32
 * times.
 *
 * With file=NAME every event is also written down, a line each: what to compare when the sums differ. One thread. */
#include "heddle/policy.h"

#include <stdio.h>

enum { ISSUES, ISSUED, COMMITTED, L1, WARPS };

static const struct heddle_param params[] = {
    {.name = "file", .type = HEDDLE_TEXT, .default_value = "", .help = "write every event there"}, {.name = NULL}};
static const struct heddle_counter counters[] = {
    {.name = "issues", .unit = "instructions", .help = "instructions that issued"},
    {.name = "issued", .unit = "hash", .help = "sum over all of them"},
    {.name = "committed", .unit = "hash", .help = "sum over instructions that ended"},
    {.name = "l1", .unit = "hash", .help = "sum over L1 accesses that were taken"},
    {.name = "warps", .unit = "hash", .help = "sum over begins, ends and barriers of warps"},
    {.name = NULL},
};

struct state {
    uint64_t *counters;
    uint64_t number; /* of events of this core so far, by which order within a cycle counts */
    FILE *file;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct state *s = state;
    s->counters = setup->counters;
    if (setup->values[0].text[0])
        s->file = fopen(setup->values[0].text, "a");
    if (s->file)
        setvbuf(s->file, NULL, _IOLBF, 4096); /* cores write to the same file */
    return true;
}

static void finish(void *state)
{
    struct state *s = state;
    if (s->file)
        fclose(s->file);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void note(struct state *s, const struct heddle_core *core, int counter, const char *what, uint64_t warp,
                 uint64_t pc, uint64_t more)
{
    uint64_t words[] = {core->kernel, core->cycle, core->id, warp, pc, more, counter == ISSUED ? s->number : 0},
             hash = 1;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        hash = mix(hash + words[i] + UINT64_C(0x9e3779b97f4a7c15));
    s->counters[counter] += hash >> 32;
    if (s->file)
        fprintf(s->file, "%llu %llu core %u %s warp %llu pc %llu %llx\n", (unsigned long long)core->kernel,
                (unsigned long long)core->cycle, core->id, what, (unsigned long long)warp, (unsigned long long)pc,
                (unsigned long long)more);
}

static void on_issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct state *s = state;
    s->counters[ISSUES]++;
    s->number++;
    note(s, core, ISSUED, "issued", e->warp, e->pc, e->active);
}

static void on_committed(void *state, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    note(state, core, COMMITTED, "committed", warp, pc, 0);
}

static void on_l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    if (e->outcome != HEDDLE_FAIL)
        note(state, core, L1, "l1", e->warp, e->pc, e->address << 2 | e->outcome);
}

#define WARP_EVENT(name)                                                              \
    static void on_##name(void *state, const struct heddle_core *core, uint32_t warp) \
    {                                                                                 \
        note(state, core, WARPS, #name, warp, 0, sizeof #name);                       \
    }
WARP_EVENT(launched)
WARP_EVENT(ended)
WARP_EVENT(finished)
WARP_EVENT(barrier_wait)
WARP_EVENT(barrier_pass)

static const struct heddle_probe probe = {
    .policy = {.abi = HEDDLE_POLICY_ABI,
               .name = "order",
               .help = "sums up what happened and when",
               .params = params,
               .counters = counters,
               .state_bytes = sizeof(struct state),
               .init = init,
               .finish = finish,
               .on = {.issued = on_issued,
                      .committed = on_committed,
                      .launched = on_launched,
                      .ended = on_ended,
                      .finished = on_finished,
                      .barrier_wait = on_barrier_wait,
                      .barrier_pass = on_barrier_pass,
                      .l1_access = on_l1_access}},
};
HEDDLE_EXPORT_PROBE(probe);
