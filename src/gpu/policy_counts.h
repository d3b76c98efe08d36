/* What the policies of a launch counted: their counters, and their tables of instructions. */
#ifndef HEDDLE_GPU_POLICY_COUNTS_H
#define HEDDLE_GPU_POLICY_COUNTS_H

#include "policy/counters.h"

#include <stddef.h>

enum { GPU_PROBES = 16, GPU_POLICIES = 3 + GPU_PROBES };

struct profile_listing;

/* Counters: the values of each policy (policy/counters.h), one policy after the other. To be freed by free(). */
struct policy_counts {
    const struct heddle_policy *policies[GPU_POLICIES]; /* scheduler, L1 policy, divergence unit, probes */
    uint32_t policy_count;
    size_t value_count;
    uint64_t values[];
};
struct policy_counts *policy_counts_create(const struct heddle_policy *const *policies, uint32_t count);
struct policy_counts *policy_counts_copy(const struct policy_counts *from);         /* a copy of NULL is NULL */
void policy_counts_add(struct policy_counts *to, const struct policy_counts *from); /* both of the same policies */
uint64_t *policy_counts_of(struct policy_counts *c, uint32_t policy);               /* the values of one policy */

/* Tables of instructions of one kernel, of all policies that have columns. To be freed by free(). */
struct policy_tables {
    const struct profile_listing *listing;
    uint32_t instruction_count;
    const struct heddle_policy *policies[GPU_POLICIES]; /* all of them; some have no columns */
    uint32_t policy_count;
    size_t value_count;
    uint64_t values[];
};

struct policy_tables *policy_tables_create(const struct heddle_policy *const *policies, uint32_t count,
                                           const struct profile_listing *listing);
void policy_tables_add(struct policy_tables *to, const struct policy_tables *from); /* both of the same kernel */
uint64_t *policy_tables_of(struct policy_tables *t, uint32_t policy);

#endif
