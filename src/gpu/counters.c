/* Metrics that are more than a field of the counters. */
#include "gpu/counters.h"

#include "policy/registry.h"

#include <string.h>

enum { OF_THE_MACHINE = 3 }; /* scheduler, L1 policy, divergence unit; probes come after them */

uint64_t counters_warp_instructions(const struct gpu_counters *c)
{
    uint64_t sum = 0;
    for (int lanes = 0; lanes <= WARP_LANES; lanes++)
        sum += c->exec.lanes[lanes];
    return sum;
}

uint64_t counters_thread_instructions(const struct gpu_counters *c)
{
    uint64_t sum = 0;
    for (int lanes = 0; lanes <= WARP_LANES; lanes++)
        sum += c->exec.lanes[lanes] * (uint64_t)lanes;
    return sum;
}

/* Counters of probes are left out: probes must not change what the machine reports. */
uint64_t counters_vta_hits(const struct gpu_counters *c)
{
    for (uint32_t i = 0; c->policies && i < OF_THE_MACHINE; i++) {
        const struct heddle_policy *p = c->policies->policies[i];
        for (uint32_t n = 0; p && n < policy_counter_count(p); n++)
            if (!strcmp(p->counters[n].name, "vta_hits"))
                return policy_counts_of(c->policies, i)[n];
    }
    return 0;
}

uint64_t cache_fails(const struct cache_counters *c)
{
    uint64_t sum = 0;
    for (int why = 0; why < CACHE_FAIL_COUNT; why++)
        sum += c->fails[why];
    return sum;
}
