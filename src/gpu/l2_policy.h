/* The policy of the L2's lines (l2.policy): an L1 policy with an instance for each slice. */
#ifndef HEDDLE_GPU_L2_POLICY_H
#define HEDDLE_GPU_L2_POLICY_H

#include "mem/partition.h"
#include "policy/registry.h"

struct l2_policies;

/* Makes the instances, where the policy has any hook; else *made is NULL. partitions: by channel. False: the policy
 * needs what an L2 does not have; what was made is to be finished all the same. */
bool l2_policies_create(struct l2_policies **made, struct arena *a, const struct policy_choice *choice,
                        const struct mem_config *m, uint64_t seed, struct partition *const *partitions,
                        struct error *e);
void l2_policies_finish(struct l2_policies *p); /* NULL: there are none */
/* False: a policy has answered what cannot be. */
bool l2_policies_check(const struct l2_policies *p, struct error *e);

#endif
