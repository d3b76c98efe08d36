/* Immediate post-dominator reconvergence: each warp has its own stack of paths, and those that part at a branch meet
 * again at its immediate post-dominator. The core does this by itself for every warp that no unit regroups, so there is
 * nothing to add here. */
#include "heddle/policy.h"

const struct heddle_divergence divergence_pdom = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "pdom",
            .help = "one post-dominator stack per warp: paths meet again at the immediate post-dominator of the branch",
        },
};
