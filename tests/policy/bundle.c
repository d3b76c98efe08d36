/* A bundle for tests: a scheduler (lowest slot first) that counts what it issues in state that it shares with an L1
 * policy (the cache's own LRU), which reports the same number. With WITH_PROBE it has a probe, too, which also counts
 * them; with SAME_NAME its policies have one name, with EMPTY_BUNDLE it has none. */
#include "heddle/policy.h"

struct board {
    uint64_t issued;
};

/* ------------------------------------------------------------- the scheduler */

struct counting {
    struct board board; /* of the first scheduler of a core: everybody's */
    struct board *shared;
    uint64_t warps, *issued;
};

static bool scheduler_init(void *state, const struct heddle_setup *setup)
{
    struct counting *s = state;
    if (setup->scheduler == 0)
        setup->core->shared[2] = &s->board;
    s->shared = setup->core->shared[2];
    s->warps = setup->warps;
    s->issued = &setup->counters[0];
    return true;
}

static int pick(void *state, const struct heddle_core *core, uint64_t candidates)
{
    (void)state, (void)core;
    return __builtin_ctzll(candidates);
}

static void kernel(void *state, const struct heddle_core *core)
{
    struct counting *s = state;
    (void)core;
    s->shared->issued = 0;
}

static void issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct counting *s = state;
    (void)core;
    if (!(s->warps >> e->warp & 1))
        return;
    s->shared->issued++;
    ++*s->issued;
}

static const char *const tones[] = {"low", "high", NULL};
static const struct heddle_param scheduler_params[] = {
    {.name = "tone", .type = HEDDLE_CHOICE, .default_value = "low", .help = "of both policies", .choices = tones},
    {.name = "limit", .type = HEDDLE_INTEGER, .default_value = "4", .help = "of the scheduler", .least = 1, .most = 64},
    {0},
};
static const struct heddle_counter scheduler_counters[] = {
    {.name = "issued", .unit = "instructions", .help = "counted where they are issued"}, {0}};
static const struct heddle_scheduler scheduler = {
    .policy = {.abi = HEDDLE_POLICY_ABI,
               .name = "counting",
               .help = "lowest slot first, counts what it issues",
               .params = scheduler_params,
               .counters = scheduler_counters,
               .state_bytes = sizeof(struct counting),
               .init = scheduler_init,
               .on = {.kernel = kernel, .issued = issued}},
    .pick = pick,
};

/* ------------------------------------------------------------- the L1 policy */

struct reading {
    const struct board *shared;
    uint64_t *seen;
};

static bool l1_init(void *state, const struct heddle_setup *setup)
{
    struct reading *s = state;
    s->shared = setup->core->shared[2];
    s->seen = &setup->counters[0];
    return s->shared || heddle_refuse(setup, "it shares state with its scheduler: give both, -p FILE.so");
}

static void kernel_end(void *state, const struct heddle_core *core)
{
    struct reading *s = state;
    (void)core;
    *s->seen = s->shared->issued;
}

static const struct heddle_param l1_params[] = {
    {.name = "tone", .type = HEDDLE_CHOICE, .default_value = "low", .help = "of both policies", .choices = tones},
    {.name = "share", .type = HEDDLE_REAL, .default_value = "0.5", .help = "of the L1 policy", .least = 0, .most = 1},
    {0},
};
static const struct heddle_counter l1_counters[] = {
    {.name = "seen", .unit = "instructions", .help = "what the scheduler of the same core issued"}, {0}};
#ifdef SAME_NAME
#define L1_NAME "counting"
#else
#define L1_NAME "reading"
#endif
static const struct heddle_l1 l1 = {
    .policy = {.abi = HEDDLE_POLICY_ABI,
               .name = L1_NAME,
               .help = "LRU, reports what the scheduler counts",
               .params = l1_params,
               .counters = l1_counters,
               .state_bytes = sizeof(struct reading),
               .init = l1_init,
               .on = {.kernel_end = kernel_end}},
};

/* ------------------------------------------------------------- the probe */

#ifdef WITH_PROBE
static bool probe_init(void *state, const struct heddle_setup *setup)
{
    *(uint64_t **)state = &setup->counters[0];
    return true;
}

static void probe_issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    (void)core, (void)e;
    ++**(uint64_t **)state;
}

static const struct heddle_counter probe_counters[] = {
    {.name = "heard", .unit = "instructions", .help = "what was issued"}, {0}};
static const struct heddle_probe probe = {
    .policy = {.abi = HEDDLE_POLICY_ABI,
               .name = "listening",
               .help = "counts instructions",
               .counters = probe_counters,
               .state_bytes = sizeof(uint64_t *),
               .init = probe_init,
               .on = {.issued = probe_issued}},
};
HEDDLE_EXPORT_BUNDLE(.scheduler = &scheduler, .l1 = &l1, .probe = &probe);
#elif defined EMPTY_BUNDLE
HEDDLE_EXPORT_BUNDLE(.probe = NULL);
#else
HEDDLE_EXPORT_BUNDLE(.scheduler = &scheduler, .l1 = &l1);
#endif
