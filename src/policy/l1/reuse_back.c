/* Write back what is read again. A line that loads have hit since it was brought is likely to be read after a store,
 * too: a store that hits it marks it modified and stays in the L1. Every other store does what it does in an L1 that
 * writes around: it drops the line that it hits, takes none, and goes down. Lines are replaced by the cache's own LRU.
 *
 * Left out: as in all L1s here, a line that another core has written is not found out. */
#include "heddle/policy.h"

#include <stdlib.h>

enum { P_READS };
enum { C_KEPT, C_PASSED };

struct reuse_back {
    uint32_t ways;
    uint8_t enough; /* hits by loads from which on a line is written back */
    uint8_t *hits;  /* by set and way; no more than `enough` */
    uint64_t *counters;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct reuse_back *s = state;
    s->ways = setup->core->l1_ways;
    s->enough = (uint8_t)setup->values[P_READS].integer;
    s->counters = setup->counters;
    s->hits = calloc((size_t)setup->core->l1_sets * s->ways + 1, sizeof *s->hits);
    return s->hits != NULL;
}

static void finish(void *state)
{
    struct reuse_back *s = state;
    free(s->hits);
}

static uint8_t *hits_of(const struct reuse_back *s, uint32_t set, uint32_t way)
{
    return &s->hits[(size_t)set * s->ways + way];
}

static void inserted(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                     const struct heddle_l1_access *access)
{
    struct reuse_back *s = state;
    (void)core, (void)access;
    *hits_of(s, set, way) = 0;
}

static bool is_kept(const struct reuse_back *s, const struct heddle_l1_access *access)
{
    return access->outcome == HEDDLE_HIT && *hits_of(s, access->set, access->way) >= s->enough;
}

static void touched(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                    const struct heddle_l1_access *access)
{
    struct reuse_back *s = state;
    uint8_t *hits = hits_of(s, set, way);
    (void)core;
    if (access->store)
        return;
    if (access->outcome == HEDDLE_HIT && *hits < s->enough)
        ++*hits;
}

static enum heddle_write store(void *state, const struct heddle_core *core, const struct heddle_l1_access *access)
{
    (void)core;
    if (access->local)
        return HEDDLE_WRITE_AS_MACHINE;
    return is_kept(state, access) ? HEDDLE_WRITE_BACK : HEDDLE_WRITE_THROUGH_EVICT;
}

static void on_l1_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *access)
{
    struct reuse_back *s = state;
    (void)core;
    if (!access->store || access->local || access->outcome == HEDDLE_FAIL)
        return;
    s->counters[is_kept(s, access) ? C_KEPT : C_PASSED]++;
}

static const struct heddle_param params[] = {
    {.name = "reads",
     .type = HEDDLE_INTEGER,
     .default_value = "1",
     .least = 1,
     .most = 255,
     .help = "load hits of a line from which on stores to it stay in the cache"},
    {0},
};
static const struct heddle_counter counters[] = {
    [C_KEPT] = {.name = "kept", .unit = "accesses", .help = "stores that stayed in the cache"},
    [C_PASSED] = {.name = "passed", .unit = "accesses", .help = "stores that went down"},
    {0},
};

const struct heddle_l1 l1_reuse_back = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "reuse-back",
            .help = "stores to lines that loads have hit are written back, all others go around the cache; LRU",
            .params = params,
            .counters = counters,
            .bits_per_line = 4 + 1,
            .state_bytes = sizeof(struct reuse_back),
            .init = init,
            .finish = finish,
            .on = {.l1_access = on_l1_access},
        },
    .inserted = inserted,
    .touched = touched,
    .store = store,
};
