/* The counters of a policy as values one after the other: one for each row of its table (unused for a histogram), then
 * the buckets of its histograms. And the columns of its tables of instructions. */
#ifndef HEDDLE_POLICY_COUNTERS_H
#define HEDDLE_POLICY_COUNTERS_H

#include "heddle/policy.h"

uint32_t policy_value_count(const struct heddle_policy *p);
/* The buckets of a histogram, by its row. */
uint64_t *policy_histogram(const struct heddle_policy *p, uint64_t *values, uint32_t row);
/* Sums and buckets are added up; of maxima the larger one stays. */
void policy_values_add(const struct heddle_policy *p, uint64_t *to, const uint64_t *from);

uint32_t policy_column_count(const struct heddle_policy *p);
/* Rows of policy_column_count values each. */
void policy_table_add(const struct heddle_policy *p, uint64_t *to, const uint64_t *from, uint32_t row_count);

#endif
