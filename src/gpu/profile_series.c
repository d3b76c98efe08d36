/* Samples over time: what was counted in each interval of a launch.
 *
 * A sample is the difference of two readings of the launch's counters, so that samples add up to the totals. Their
 * number is bounded: when there are `most`, each pair becomes one, and the interval is twice as long from then on. */
#include "gpu/profile.h"

#include "base/out_of_memory.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the machine's own counters: the rows of heddle/metrics.def that have a place among the samples. */
#define METRIC(name, unit, when, sample, value, help, nsight) +((sample) > 0)
enum {
    OWN_COLUMNS = 0
#include "heddle/metrics.def"
};

#define METRIC(name, unit, when, sample, value, help, nsight) | 1ull << (sample)
enum {
    OWN_PLACES = 0
#include "heddle/metrics.def"
};
_Static_assert((uint64_t)OWN_PLACES >> 1 == (1ull << OWN_COLUMNS) - 1, "places of samples: 1, 2, ..., each taken once");

#define COUNT(n)                                              false
#define REAL(x)                                               false
#define LIST(array, length)                                   false
#define RATIO(part, whole)                                    false
#define RATE(n)                                               true
#define NOTHING                                               false
#define METRIC(name, unit, when, sample, value, help, nsight) {sample, name, value},
static const struct {
    uint32_t place; /* 0 means that it is not sampled */
    const char *name;
    bool is_rate;
} rows[] = {
#include "heddle/metrics.def"
};

/* The row of a policy's column-th counter that has a part in each sample: only sums have. Returns UINT32_MAX where the
 * policy has fewer; *column is then less by their number. */
static uint32_t row_of_sum(const struct heddle_policy *p, uint32_t *column)
{
    for (uint32_t row = 0; p->counters && p->counters[row].name; row++)
        if (p->counters[row].kind == HEDDLE_SUM && (*column)-- == 0)
            return row;
    return UINT32_MAX;
}

static uint32_t policy_columns(const struct heddle_policy *p)
{
    uint32_t left = UINT32_MAX;
    row_of_sum(p, &left);
    return UINT32_MAX - left;
}

struct profile_column profile_series_column(const struct profile_series *s, uint32_t column)
{
    struct profile_column c = {0};
    if (column < OWN_COLUMNS) {
        uint32_t i = 0;
        while (rows[i].place != column + 1)
            i++;
        snprintf(c.name, sizeof c.name, "%s", rows[i].name);
        c.is_rate = rows[i].is_rate;
        return c;
    }
    column -= OWN_COLUMNS;
    for (uint32_t i = 0; i < s->policy_count; i++) {
        uint32_t row = row_of_sum(s->policies[i], &column);
        if (row != UINT32_MAX) {
            snprintf(c.name, sizeof c.name, "%.90s.%.90s", s->policies[i]->name, s->policies[i]->counters[row].name);
            break;
        }
    }
    return c;
}

/* The counter of which a rate is the rate. */
static void read_own(const struct gpu_counters *c, uint64_t *to)
{
#define COUNT(n)            n
#define REAL(x)             0
#define LIST(array, length) 0
#define RATIO(part, whole)  0
#define RATE(n)             n
#define NOTHING             0
#define METRIC(name, unit, when, sample, value, help, nsight) \
    if (sample)                                               \
        to[sample ? sample - 1 : 0] = value;
#include "heddle/metrics.def"
}

static void read_columns(const struct profile_series *s, const struct gpu_counters *c, uint64_t *to)
{
    memset(to, 0, s->column_count * sizeof *to);
    read_own(c, to);
    to += OWN_COLUMNS;
    const uint64_t *from = c->policies ? c->policies->values : NULL;
    for (uint32_t i = 0; from && i < s->policy_count; from += policy_value_count(s->policies[i++]))
        for (const struct heddle_counter *row = s->policies[i]->counters; row && row->name; row++)
            if (row->kind == HEDDLE_SUM)
                *to++ = from[row - s->policies[i]->counters];
}

struct profile_series *profile_series_create(uint64_t interval, uint32_t most,
                                             const struct heddle_policy *const *policies)
{
    struct profile_series *s = calloc(1, sizeof *s);
    if (!s)
        out_of_memory();
    *s = (struct profile_series){.interval = interval, .most = most, .column_count = OWN_COLUMNS};
    for (; policies[s->policy_count]; s->policy_count++) {
        s->policies[s->policy_count] = policies[s->policy_count];
        s->column_count += policy_columns(policies[s->policy_count]);
    }
    s->before = calloc(s->column_count, sizeof *s->before);
    s->now = calloc(s->column_count, sizeof *s->now);
    if (!s->before || !s->now)
        out_of_memory();
    return s;
}

void profile_series_free(struct profile_series *s)
{
    if (!s)
        return;
    free(s->cycles);
    free(s->values);
    free(s->before);
    free(s->now);
    free(s);
}

static void add_row(uint64_t *to, const uint64_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] += from[i];
}

static void merge_pairs(struct profile_series *s)
{
    uint32_t n = s->column_count;
    for (uint32_t i = 0; i < s->count / 2; i++) {
        memmove(&s->values[(size_t)i * n], &s->values[(size_t)i * 2 * n], n * sizeof *s->values);
        add_row(&s->values[(size_t)i * n], &s->values[((size_t)i * 2 + 1) * n], n);
        s->cycles[i] = s->cycles[i * 2 + 1];
    }
    s->count /= 2;
    s->interval *= 2;
}

static uint64_t *new_row(struct profile_series *s, uint64_t cycle)
{
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? s->capacity * 2 : 64;
        s->cycles = realloc(s->cycles, s->capacity * sizeof *s->cycles);
        s->values = realloc(s->values, (size_t)s->capacity * s->column_count * sizeof *s->values);
        if (!s->cycles || !s->values)
            out_of_memory();
    }
    uint64_t *row = &s->values[(size_t)s->count * s->column_count];
    memset(row, 0, s->column_count * sizeof *row);
    s->cycles[s->count++] = cycle;
    return row;
}

/* Puts the difference to the last reading into the row. */
static void count_since(struct profile_series *s, const struct gpu_counters *counts, uint64_t *row)
{
    read_columns(s, counts, s->now);
    for (uint32_t i = 0; i < s->column_count; i++)
        row[i] += s->now[i] - s->before[i];
    memcpy(s->before, s->now, s->column_count * sizeof *s->now);
}

void profile_series_take(struct profile_series *s, uint64_t cycle, const struct gpu_counters *counts)
{
    count_since(s, counts, new_row(s, cycle));
    if (s->count == s->most)
        merge_pairs(s);
}

void profile_series_end(struct profile_series *s, uint64_t cycles, const struct gpu_counters *totals)
{
    bool has_time = cycles > (s->count ? s->cycles[s->count - 1] : 0);
    if (has_time)
        count_since(s, totals, new_row(s, cycles));
    else if (s->count) /* policies may count when a kernel ends */
        count_since(s, totals, &s->values[(size_t)(s->count - 1) * s->column_count]);
}
