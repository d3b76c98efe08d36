/* Random replacement: any of the lines that may leave. The numbers follow from the machine's seed and the core's
 * number, so that a run repeats. */
#include "heddle/policy.h"

struct random {
    uint64_t numbers; /* state of the generator */
};

/* splitmix64 (Steele, Lea and Flood): the next state is a sum, the number a mix of it. */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
static const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);

static bool init(void *state, const struct heddle_setup *setup)
{
    struct random *s = state;
    s->numbers = mixed(setup->seed + step * (setup->core->id + 1));
    return true;
}

/* Does not draw: an access that is tried again finds the same way. */
static int victim(void *state, const struct heddle_core *core, uint32_t set, uint64_t ways, uint64_t free_ways,
                  const struct heddle_l1_access *access)
{
    const struct random *s = state;
    (void)core, (void)set, (void)access;
    if (free_ways)
        return __builtin_ctzll(free_ways);
    if (!ways)
        return -1;
    uint32_t skip = (uint32_t)((mixed(s->numbers) >> 32) * (uint64_t)__builtin_popcountll(ways) >> 32);
    while (skip--)
        ways &= ways - 1;
    return __builtin_ctzll(ways);
}

static void inserted(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                     const struct heddle_l1_access *access)
{
    struct random *s = state;
    (void)core, (void)set, (void)way, (void)access;
    s->numbers += step;
}

const struct heddle_l1 l1_random = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "random",
            .help = "any line leaves, by numbers that follow from the machine's seed",
            .bits_per_core = 64,
            .state_bytes = sizeof(struct random),
            .init = init,
        },
    .victim = victim,
    .inserted = inserted,
};
