/* Least recently used: the cache's own rule, which it keeps by itself where a policy has no victim hook. */
#include "heddle/policy.h"

const struct heddle_l1 l1_lru = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "lru",
            .help = "the line least recently used leaves",
            .bits_per_line = 4,
        },
};
