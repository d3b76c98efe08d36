/* First in, first out: of a set's lines that may leave, the one that was brought in first. A line's age counts from the
 * miss that reserved it. */
#include "heddle/policy.h"

#include <stdlib.h>

struct fifo {
    uint32_t ways;
    uint64_t inserted; /* lines so far */
    uint64_t *order;   /* by set and way: inserted at the time */
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct fifo *s = state;
    s->ways = setup->core->l1_ways;
    s->order = calloc((size_t)setup->core->l1_sets * s->ways + 1, sizeof *s->order);
    return s->order != NULL;
}

static void finish(void *state)
{
    struct fifo *s = state;
    free(s->order);
}

static int victim(void *state, const struct heddle_core *core, uint32_t set, uint64_t ways, uint64_t free_ways,
                  const struct heddle_l1_access *access)
{
    const struct fifo *s = state;
    const uint64_t *order = s->order + (size_t)set * s->ways;
    (void)core, (void)access;
    if (free_ways)
        return __builtin_ctzll(free_ways);
    int first = -1;
    for (; ways; ways &= ways - 1) {
        int way = __builtin_ctzll(ways);
        if (first < 0 || order[way] < order[first])
            first = way;
    }
    return first;
}

static void inserted(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                     const struct heddle_l1_access *access)
{
    struct fifo *s = state;
    (void)core, (void)access;
    s->order[(size_t)set * s->ways + way] = ++s->inserted;
}

const struct heddle_l1 l1_fifo = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "fifo",
            .help = "the line brought in first leaves",
            .bits_per_line = 4,
            .state_bytes = sizeof(struct fifo),
            .init = init,
            .finish = finish,
        },
    .victim = victim,
    .inserted = inserted,
};
