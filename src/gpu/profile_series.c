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

/* Columns that are more than a field. */
enum { WARP_INSTRUCTIONS, THREAD_INSTRUCTIONS, IPC, L1D_FAILS, FLITS, WORKED_OUT };
static const char *const worked_out_names[WORKED_OUT] = {"warp_instructions", "thread_instructions", "ipc",
                                                         "l1d.reservation_fails", "icnt.flits"};

/* Names are those of the results (docs/metrics.md); what is only counted when a part of the machine wakes up is not
 * among them. */
static const struct field {
    const char *name;
    size_t offset;
    bool is_rate;
} fields[] = {
    {"resident_warps", offsetof(struct gpu_counters, sm.warp_cycles), true},
    {"issue.issued", offsetof(struct gpu_counters, sm.issued), false},
    {"issue.no_ready", offsetof(struct gpu_counters, sm.no_ready), false},
    {"issue.descheduled", offsetof(struct gpu_counters, sm.descheduled), false},
    {"issue.idle", offsetof(struct gpu_counters, sm.idle), false},
    {"stalls.issued", offsetof(struct gpu_counters, sm.stalls[STALL_ISSUED]), false},
    {"stalls.not_picked", offsetof(struct gpu_counters, sm.stalls[STALL_NOT_PICKED]), false},
    {"stalls.fetch", offsetof(struct gpu_counters, sm.stalls[STALL_FETCH]), false},
    {"stalls.scoreboard", offsetof(struct gpu_counters, sm.stalls[STALL_SCOREBOARD]), false},
    {"stalls.memory", offsetof(struct gpu_counters, sm.stalls[STALL_MEMORY]), false},
    {"stalls.pipeline", offsetof(struct gpu_counters, sm.stalls[STALL_PIPELINE]), false},
    {"stalls.barrier", offsetof(struct gpu_counters, sm.stalls[STALL_BARRIER]), false},
    {"stalls.fence", offsetof(struct gpu_counters, sm.stalls[STALL_FENCE]), false},
    {"stalls.atomic", offsetof(struct gpu_counters, sm.stalls[STALL_ATOMIC]), false},
    {"stalls.held", offsetof(struct gpu_counters, sm.stalls[STALL_HELD]), false},
    {"stalls.drain", offsetof(struct gpu_counters, sm.stalls[STALL_DRAIN]), false},
    {"branches.divergent", offsetof(struct gpu_counters, exec.divergent_branches), false},
    {"loads.requests", offsetof(struct gpu_counters, sm.load_requests), false},
    {"loads.accesses", offsetof(struct gpu_counters, sm.load_accesses), false},
    {"stores.accesses", offsetof(struct gpu_counters, sm.store_accesses), false},
    {"l1d.accesses", offsetof(struct gpu_counters, sm.l1d.accesses), false},
    {"l1d.hits", offsetof(struct gpu_counters, sm.l1d.hits), false},
    {"l1d.misses", offsetof(struct gpu_counters, sm.l1d.misses), false},
    {"l1d.pending_hits", offsetof(struct gpu_counters, sm.l1d.pending_hits), false},
    {"l1d.evictions", offsetof(struct gpu_counters, sm.l1d.evictions), false},
    {"l2.accesses", offsetof(struct gpu_counters, memory.l2.accesses), false},
    {"l2.hits", offsetof(struct gpu_counters, memory.l2.hits), false},
    {"l2.misses", offsetof(struct gpu_counters, memory.l2.misses), false},
    {"dram.reads", offsetof(struct gpu_counters, memory.dram.reads), false},
    {"dram.writes", offsetof(struct gpu_counters, memory.dram.writes), false},
    {"dram.row_hits", offsetof(struct gpu_counters, memory.dram.row_hits), false},
};
enum { FIELDS = sizeof fields / sizeof *fields };

/* Of what a policy counts, sums alone have a part in each sample. Returns the row of the column-th, or UINT32_MAX;
 * *column is then less by as many as there are. */
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
    struct profile_column c = {.is_rate = column == IPC};
    if (column < WORKED_OUT) {
        snprintf(c.name, sizeof c.name, "%s", worked_out_names[column]);
        return c;
    }
    column -= WORKED_OUT;
    if (column < FIELDS) {
        snprintf(c.name, sizeof c.name, "%s", fields[column].name);
        c.is_rate = fields[column].is_rate;
        return c;
    }
    column -= FIELDS;
    for (uint32_t i = 0; i < s->policy_count; i++) {
        uint32_t row = row_of_sum(s->policies[i], &column);
        if (row != UINT32_MAX) {
            snprintf(c.name, sizeof c.name, "%.90s.%.90s", s->policies[i]->name, s->policies[i]->counters[row].name);
            break;
        }
    }
    return c;
}

static void read_columns(const struct profile_series *s, const struct gpu_counters *c, uint64_t *to)
{
    memset(to, 0, s->column_count * sizeof *to);
    for (int i = 0; i <= WARP_LANES; i++) {
        to[WARP_INSTRUCTIONS] += c->exec.lanes[i];
        to[THREAD_INSTRUCTIONS] += c->exec.lanes[i] * (uint64_t)i;
    }
    to[IPC] = to[THREAD_INSTRUCTIONS];
    for (int i = 0; i < CACHE_FAIL_COUNT; i++)
        to[L1D_FAILS] += c->sm.l1d.fails[i];
    to[FLITS] = c->requests.flits_in + c->replies.flits_in;
    to += WORKED_OUT;
    for (uint32_t i = 0; i < FIELDS; i++)
        memcpy(to++, (const char *)c + fields[i].offset, sizeof *to);
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
    *s = (struct profile_series){.interval = interval, .most = most, .column_count = WORKED_OUT + FIELDS};
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

/* What was counted since the last reading goes into the row. */
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
