/* The counters of policies: how many values there are, and how the values of two cores or launches become one. */
#include "policy/counters.h"

static uint32_t row_count(const struct heddle_counter *table)
{
    uint32_t count = 0;
    while (table && table[count].name)
        count++;
    return count;
}

static uint32_t bucket_count(const struct heddle_counter *c) { return c->kind == HEDDLE_HISTOGRAM ? c->buckets : 0; }

uint32_t policy_value_count(const struct heddle_policy *p)
{
    uint32_t rows = row_count(p->counters), count = rows;
    for (uint32_t i = 0; i < rows; i++)
        count += bucket_count(&p->counters[i]);
    return count;
}

uint64_t *policy_histogram(const struct heddle_policy *p, uint64_t *values, uint32_t row)
{
    uint64_t *buckets = values + row_count(p->counters);
    for (uint32_t i = 0; i < row; i++)
        buckets += bucket_count(&p->counters[i]);
    return buckets;
}

static uint64_t joined(const struct heddle_counter *c, uint64_t a, uint64_t b)
{
    return c->kind == HEDDLE_MAXIMUM ? (a > b ? a : b) : a + b;
}

void policy_values_add(const struct heddle_policy *p, uint64_t *to, const uint64_t *from)
{
    uint32_t rows = row_count(p->counters), count = policy_value_count(p);
    for (uint32_t i = 0; i < rows; i++)
        to[i] = joined(&p->counters[i], to[i], from[i]);
    for (uint32_t i = rows; i < count; i++)
        to[i] += from[i];
}

uint32_t policy_column_count(const struct heddle_policy *p) { return row_count(p->instructions); }

void policy_table_add(const struct heddle_policy *p, uint64_t *to, const uint64_t *from, uint32_t rows)
{
    uint32_t columns = policy_column_count(p);
    for (uint32_t i = 0; i < rows; i++, to += columns, from += columns)
        for (uint32_t k = 0; k < columns; k++)
            to[k] = joined(&p->instructions[k], to[k], from[k]);
}
