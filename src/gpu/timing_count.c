/* What the timing model counts, and whose it is. */
#include "gpu/timing.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void timing_add_core(struct sm *core, struct gpu_counters *c)
{
    const struct exec_counters *x = &sm_launch(core)->counters;
    uint32_t count;
    const struct sm_counts *counts = sm_policy_counts(core, &count);
    sm_add_counters(core, &c->sm);
    uint64_t *to = c->policies->values;
    for (uint32_t i = 0; i < count; i++) {
        if (!counts[i].policy)
            continue;
        policy_values_add(counts[i].policy, to, counts[i].values);
        to += counts[i].value_count;
    }
    counters_add(&c->exec, x, sizeof c->exec);
}

void timing_add_tables(struct sm *core, struct policy_tables *t)
{
    uint64_t *to = t->values;
    uint32_t count, instructions = sm_program(core)->count;
    struct sm_counts *counts = sm_policy_counts(core, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct sm_counts *from = &counts[i];
        if (!from->instructions)
            continue;
        policy_table_add(from->policy, to, from->instructions, instructions);
        to += (size_t)instructions * policy_column_count(from->policy);
        from->instructions = NULL; /* it goes with the launch */
    }
}

static void subtract(void *out, const void *now, const void *before, size_t bytes)
{
    uint64_t *o = out;
    const uint64_t *a = now, *b = before;
    for (size_t i = 0; i < bytes / sizeof *o; i++)
        o[i] = a[i] - b[i];
}

static void read_memory(const struct timing *t, struct gpu_counters *c, struct partition_counters *now)
{
    *now = (struct partition_counters){0};
    for (uint32_t i = 0; i < t->memory.channels; i++)
        partition_read_counters(t->memory.partitions[i], now);
    subtract(&c->memory, now, &t->counted.memory, sizeof *now);
    subtract(&c->requests, network_counters(t->memory.requests), &t->counted.requests, sizeof c->requests);
    subtract(&c->replies, network_counters(t->memory.replies), &t->counted.replies, sizeof c->replies);
}

/* Of those that run: who is counted what the memory system counts. */
struct residency *timing_eldest(struct gpu *g)
{
    struct residency *found = NULL;
    for (struct residency *r = g->started; r; r = r->next)
        if (!r->ended && (!found || r->launch.grid_id < found->launch.grid_id))
            found = r;
    return found;
}

/* What the memory system has counted since this was last called goes to the launch. */
void timing_settle_memory(struct timing *t, struct residency *r)
{
    struct gpu_counters c;
    struct partition_counters now;
    read_memory(t, &c, &now);
    const struct dram_config *dram = &t->options->machine.mem.dram;
    uint64_t command_bytes = (uint64_t)dram->burst_length * dram->bus_bytes * dram->chips;
    r->record.counters.dram_read_sectors += c.memory.dram.reads * command_bytes / SECTOR_BYTES;
    r->record.counters.dram_write_sectors += c.memory.dram.writes * command_bytes / SECTOR_BYTES;
    counters_add(&r->record.counters.memory, &c.memory, sizeof c.memory);
    counters_add(&r->record.counters.requests, &c.requests, sizeof c.requests);
    counters_add(&r->record.counters.replies, &c.replies, sizeof c.replies);
    t->counted.memory = now;
    t->counted.requests = *network_counters(t->memory.requests);
    t->counted.replies = *network_counters(t->memory.replies);
}

/* Up to a cycle before which nothing happens. Cores that sleep until then have their cycles counted up to it. */
static void sample(struct timing *t, struct residency *r)
{
    struct gpu_counters c = r->record.counters;
    c.policies = r->timed.sample_counts;
    memcpy(c.policies->values, r->record.counters.policies->values,
           c.policies->value_count * sizeof *c.policies->values);
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->blocks.owner[i] == r) {
            sm_account_until(t->cores[i], r->timed.sample_at);
            timing_add_core(t->cores[i], &c);
        }
    if (timing_eldest(r->gpu) == r) {
        struct gpu_counters recent;
        struct partition_counters now;
        read_memory(t, &recent, &now);
        counters_add(&c.memory, &recent.memory, sizeof c.memory);
        counters_add(&c.requests, &recent.requests, sizeof c.requests);
        counters_add(&c.replies, &recent.replies, sizeof c.replies);
    }
    c.timed = true;
    profile_series_take(r->record.series, r->timed.sample_at - r->timed.start, &c);
    r->timed.sample_at = r->timed.start + profile_series_next(r->record.series);
}

void timing_take_samples(struct timing *t, struct gpu *g, uint64_t until)
{
    t->observed.sample_at = UINT64_MAX;
    for (struct residency *r = g->started; r; r = r->next) {
        while (!r->ended && r->timed.sample_at <= until)
            sample(t, r);
        t->observed.sample_at =
            !r->ended && r->timed.sample_at < t->observed.sample_at ? r->timed.sample_at : t->observed.sample_at;
    }
}

void timing_begin_profile(struct timing *t, struct residency *r)
{
    const struct gpu_options *o = t->options;
    const struct heddle_policy *policies[GPU_POLICIES + 1];
    uint32_t count = gpu_policies(o, policies);
    r->record.counters.policies = policy_counts_create(policies, count);
    if (gpu_has_tables(o))
        r->record.tables = policy_tables_create(policies, count, profile_listing(&r->gpu->listings, r->launch.kernel));
    r->record.series = o->interval ? profile_series_create(o->interval, SERIES_MOST, policies) : NULL;
    r->timed.sample_counts = r->record.series ? policy_counts_copy(r->record.counters.policies) : NULL;
    r->timed.sample_at = r->record.series ? t->now + profile_series_next(r->record.series) : UINT64_MAX;
    t->observed.sample_at = r->timed.sample_at < t->observed.sample_at ? r->timed.sample_at : t->observed.sample_at;
    if (!t->observed.profiles)
        return;
    r->listing = profile_listing(&r->gpu->listings, r->launch.kernel);
    assert(r->listing->count == r->program->count);
    r->timed.parts = arena_array(&r->timed.arena, struct profile_pc *, t->core_count);
}

void timing_end_profile(struct timing *t, struct residency *r)
{
    free(r->timed.sample_counts);
    r->timed.sample_counts = NULL;
    if (r->record.series)
        profile_series_end(r->record.series, r->record.counters.cycles, &r->record.counters);
    if (t->observed.profiles)
        r->record.pcs =
            profile_pcs_sum(r->listing, (const struct profile_pc *const *)r->timed.parts, r->timed.part_count);
}
