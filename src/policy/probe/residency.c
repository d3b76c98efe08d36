/* How full the cores are: cycles by the number of warps that are resident, counted per core from a warp's launch until
 * its slot is free again. What occupancy is the mean of. */
#include "heddle/policy.h"

enum { WARPS, MOST_WARPS, WARP_CYCLES };

static const struct heddle_counter counters[] = {
    [WARPS] = {"warps", "core cycles", "with so many warps resident on a core, from 0", HEDDLE_HISTOGRAM,
               HEDDLE_WARPS + 1},
    [MOST_WARPS] = {"most_warps", "warps", "on one core at the same time", HEDDLE_MAXIMUM, 0},
    [WARP_CYCLES] = {"warp_cycles", "warp cycles", "resident warps, added up over the cycles of all cores", HEDDLE_SUM,
                     0},
    {0},
};

struct residency {
    uint64_t *counters, *buckets;
    uint64_t since; /* the first cycle with so many */
    uint32_t warps;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct residency *r = state;
    r->counters = setup->counters;
    r->buckets = setup->histograms[WARPS];
    return true;
}

static void count_up_to(struct residency *r, uint64_t cycle)
{
    r->buckets[r->warps] += cycle - r->since;
    r->counters[WARP_CYCLES] += (cycle - r->since) * r->warps;
    r->since = cycle;
}

static void kernel(void *state, const struct heddle_core *core)
{
    struct residency *r = state;
    r->warps = 0;
    r->since = core->cycle;
}

static void kernel_end(void *state, const struct heddle_core *core) { count_up_to(state, core->cycle); }

static void launched(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct residency *r = state;
    (void)warp;
    count_up_to(r, core->cycle);
    r->warps++;
    if (r->warps > r->counters[MOST_WARPS])
        r->counters[MOST_WARPS] = r->warps;
}

static void finished(void *state, const struct heddle_core *core, uint32_t warp)
{
    struct residency *r = state;
    (void)warp;
    count_up_to(r, core->cycle);
    r->warps--;
}

const struct heddle_probe probe_residency = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "residency",
            .help = "how many warps are resident on a core, and for how long",
            .counters = counters,
            .state_bytes = sizeof(struct residency),
            .init = init,
            .on = {.kernel = kernel, .kernel_end = kernel_end, .launched = launched, .finished = finished},
        },
};
