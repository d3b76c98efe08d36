/* A scheduler that reads a file when it is made, refuses to work without it, and counts its bytes: for tests of runs
 * that read what others wrote. */
#include "heddle/policy.h"
#include <stdio.h>
struct state {
    uint64_t bytes, *counters;
};
static bool init(void *memory, const struct heddle_setup *setup)
{
    struct state *s = memory;
    FILE *f = fopen(setup->values[0].text, "rb");
    if (!f)
        return heddle_refuse(setup, "there is no such file");
    while (getc(f) != EOF)
        s->bytes++;
    fclose(f);
    s->counters = setup->counters;
    return true;
}
static int pick(void *memory, const struct heddle_core *core, uint64_t candidates)
{
    struct state *s = memory;
    (void)core;
    s->counters[0] = s->bytes;
    return __builtin_ctzll(candidates);
}
static const struct heddle_param params[] = {
    {.name = "file", .type = HEDDLE_TEXT, .default_value = "", .help = "what to read"},
    {.name = "every", .type = HEDDLE_INTEGER, .default_value = "1", .help = "nothing", .least = 1, .most = 9},
    {0},
};
static const struct heddle_counter counters[] = {
    {.name = "bytes", .unit = "bytes", .help = "of the file, in each core"}, {0}};
static const struct heddle_scheduler reader = {
    .policy = {.abi = HEDDLE_POLICY_ABI,
               .name = "reader",
               .help = "a test",
               .params = params,
               .counters = counters,
               .state_bytes = sizeof(struct state),
               .init = init},
    .pick = pick,
};
HEDDLE_EXPORT_SCHEDULER(reader);
