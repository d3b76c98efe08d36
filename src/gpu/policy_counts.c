/* Counts of policies, added up over cores and launches: see policy_counts.h. */
#include "gpu/policy_counts.h"

#include "base/out_of_memory.h"
#include "gpu/profile.h"

#include <stdlib.h>
#include <string.h>

static void *must_have(void *memory)
{
    if (!memory)
        out_of_memory();
    return memory;
}

struct policy_counts *policy_counts_create(const struct heddle_policy *const *policies, uint32_t count)
{
    size_t values = 0;
    for (uint32_t i = 0; i < count; i++)
        values += policies[i] ? policy_value_count(policies[i]) : 0;
    struct policy_counts *c = must_have(calloc(1, sizeof *c + values * sizeof *c->values));
    c->policy_count = count;
    c->value_count = values;
    memcpy(c->policies, policies, count * sizeof *policies);
    return c;
}

struct policy_counts *policy_counts_copy(const struct policy_counts *from)
{
    size_t bytes = from ? sizeof *from + from->value_count * sizeof *from->values : 0;
    return from ? memcpy(must_have(malloc(bytes)), from, bytes) : NULL;
}

uint64_t *policy_counts_of(struct policy_counts *c, uint32_t policy)
{
    uint64_t *at = c->values;
    for (uint32_t i = 0; i < policy; i++)
        at += c->policies[i] ? policy_value_count(c->policies[i]) : 0;
    return at;
}

void policy_counts_add(struct policy_counts *to, const struct policy_counts *from)
{
    size_t at = 0;
    for (uint32_t i = 0; i < to->policy_count; i++) {
        if (!to->policies[i])
            continue;
        policy_values_add(to->policies[i], &to->values[at], &from->values[at]);
        at += policy_value_count(to->policies[i]);
    }
}

static size_t table_values(const struct heddle_policy *p, uint32_t instructions)
{
    return p ? (size_t)policy_column_count(p) * instructions : 0;
}

struct policy_tables *policy_tables_create(const struct heddle_policy *const *policies, uint32_t count,
                                           const struct profile_listing *listing)
{
    size_t values = 0;
    for (uint32_t i = 0; i < count; i++)
        values += table_values(policies[i], listing->count);
    struct policy_tables *t = must_have(calloc(1, sizeof *t + values * sizeof *t->values));
    t->listing = listing;
    t->instruction_count = listing->count;
    t->policy_count = count;
    t->value_count = values;
    memcpy(t->policies, policies, count * sizeof *policies);
    return t;
}

uint64_t *policy_tables_of(struct policy_tables *t, uint32_t policy)
{
    uint64_t *at = t->values;
    for (uint32_t i = 0; i < policy; i++)
        at += table_values(t->policies[i], t->instruction_count);
    return at;
}

void policy_tables_add(struct policy_tables *to, const struct policy_tables *from)
{
    size_t at = 0;
    for (uint32_t i = 0; i < to->policy_count; i++) {
        if (!to->policies[i])
            continue;
        policy_table_add(to->policies[i], &to->values[at], &from->values[at], to->instruction_count);
        at += table_values(to->policies[i], to->instruction_count);
    }
}
