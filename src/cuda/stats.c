/* The results of a run, written when the process ends: one JSON object with keys in a fixed order. In functional mode
 * what only time can tell is null; the keys are the same. Counters are listed in tables, one row per field of struct
 * gpu_counters; docs/metrics.md says what each means. */
#include "cuda/internal.h"

#include "base/whole_file.h"
#include "cuda/race_report.h"
#include "cuda/stats_profile.h"
#include "gpu/energy.h"

#include <errno.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value ? value : json_null());
}
static json_t *count(uint64_t n) { return json_integer((json_int_t)n); }

/* Text of the system, which may not be UTF-8. */
static json_t *text(const char *s)
{
    json_t *t = json_string(s);
    if (t)
        return t;
    char *ascii = strdup(s);
    for (char *p = ascii; p && *p; p++)
        if ((unsigned char)*p >= 0x80)
            *p = '?';
    t = ascii ? json_string(ascii) : NULL;
    free(ascii);
    return t;
}

static void put_command(json_t *root)
{
    static char buffer[1 << 16];
    json_t *arguments = json_array();
    FILE *f = fopen("/proc/self/cmdline", "rb");
    size_t n = f ? fread(buffer, 1, sizeof buffer - 1, f) : 0;
    if (f)
        fclose(f);
    buffer[n] = '\0';
    put(root, "program", n ? text(buffer) : NULL);
    for (size_t at = strlen(buffer) + 1; at < n; at += strlen(buffer + at) + 1)
        json_array_append_new(arguments, text(buffer + at));
    put(root, "arguments", arguments);
}

/* "machine": its own section is the object itself, the others are objects inside. */
static void put_key(void *object, const char *section, const char *key, const char *value, bool is_number)
{
    json_t *o = object, *inside = strcmp(section, "machine") ? json_object_get(o, section) : o;
    if (!inside) {
        inside = json_object();
        put(o, section, inside);
    }
    char *end = NULL;
    errno = 0;
    unsigned long long whole = strtoull(value, &end, 10);
    if (is_number && !*end && !errno && whole <= INT64_MAX)
        put(inside, key, count(whole));
    else if (is_number)
        put(inside, key, json_real(strtod(value, NULL)));
    else if (!strcmp(value, "true") || !strcmp(value, "false"))
        put(inside, key, json_boolean(*value == 't'));
    else
        put(inside, key, text(value));
}

static json_t *machine(const struct machine *m)
{
    json_t *o = json_object();
    put(o, "name", text(m->name));
    machine_visit(m, put_key, o);
    return o;
}

/* A counter: where it is, from the start of the structure that the table is of. */
struct column {
    const char *name;
    size_t offset;
};

/* from: NULL in functional mode. */
static void put_columns(json_t *o, const void *from, const struct column *columns, size_t column_count)
{
    for (size_t i = 0; i < column_count; i++) {
        uint64_t value = 0;
        if (from)
            memcpy(&value, (const char *)from + columns[i].offset, sizeof value);
        put(o, columns[i].name, from ? count(value) : NULL);
    }
}

static json_t *columns_object(const void *from, const struct column *columns, size_t column_count)
{
    json_t *o = json_object();
    put_columns(o, from, columns, column_count);
    return o;
}

#define COLUMN(type, field)                  \
    {                                        \
#field, offsetof(struct type, field) \
    }
#define NAMED(type, name, field)           \
    {                                      \
        name, offsetof(struct type, field) \
    }
#define COLUMNS(table) table, sizeof table / sizeof *table

static const struct column issue_columns[] = {
    NAMED(gpu_counters, "issued", sm.issued),           NAMED(gpu_counters, "no_ready", sm.no_ready),
    NAMED(gpu_counters, "descheduled", sm.descheduled), NAMED(gpu_counters, "idle", sm.idle),
    NAMED(gpu_counters, "slots", scheduler_cycles),
};
static const struct column cache_columns[] = {
    COLUMN(cache_counters, accesses),
    COLUMN(cache_counters, hits),
    COLUMN(cache_counters, misses),
    COLUMN(cache_counters, pending_hits),
};
static const struct column write_columns[] = {
    COLUMN(cache_counters, reads),        COLUMN(cache_counters, writes),    COLUMN(cache_counters, write_hits),
    COLUMN(cache_counters, write_misses), COLUMN(cache_counters, evictions), COLUMN(cache_counters, writebacks),
};
static const struct column owner_columns[] = {COLUMN(cache_counters, intra_warp_hits),
                                              COLUMN(cache_counters, inter_warp_hits)};
static const struct column fail_columns[] = {
    NAMED(cache_counters, "ways", fails[CACHE_FAIL_WAYS]),
    NAMED(cache_counters, "mshr", fails[CACHE_FAIL_MSHR]),
    NAMED(cache_counters, "merge", fails[CACHE_FAIL_MERGE]),
    NAMED(cache_counters, "queue", fails[CACHE_FAIL_QUEUE]),
};
static const struct column dram_columns[] = {
    COLUMN(dram_counters, reads),         COLUMN(dram_counters, writes),           COLUMN(dram_counters, activates),
    COLUMN(dram_counters, precharges),    COLUMN(dram_counters, row_hits),         COLUMN(dram_counters, busy_cycles),
    COLUMN(dram_counters, requests_read), COLUMN(dram_counters, requests_written),
};
static const struct column crossbar_columns[] = {
    COLUMN(crossbar_counters, stalls),
    NAMED(crossbar_counters, "flits", flits_in),
    NAMED(crossbar_counters, "packets", packets_in),
    NAMED(crossbar_counters, "flits_delivered", flits_out),
    NAMED(crossbar_counters, "packets_delivered", packets_out),
};
static const struct column store_columns[] = {NAMED(sm_counters, "requests", store_requests),
                                              NAMED(sm_counters, "accesses", store_accesses)};
static const struct column shared_columns[] = {NAMED(sm_counters, "requests", shared_requests),
                                               NAMED(sm_counters, "cycles", shared_cycles)};
static const struct column block_columns[] = {NAMED(sm_counters, "blocks", blocks), NAMED(sm_counters, "warps", warps)};

static json_t *cache(const struct cache_counters *c)
{
    uint64_t fails = 0;
    json_t *o = columns_object(c, COLUMNS(cache_columns));
    for (int i = 0; c && i < CACHE_FAIL_COUNT; i++)
        fails += c->fails[i];
    put(o, "reservation_fails", c ? count(fails) : NULL);
    return o;
}

static json_t *data_cache(const struct cache_counters *c)
{
    json_t *o = cache(c);
    put(o, "reservation_fail_reasons", columns_object(c, COLUMNS(fail_columns)));
    put_columns(o, c, COLUMNS(write_columns));
    return o;
}

/* Hits in a victim tag array: of whichever policy has one. */
static uint64_t vta_hits(const struct gpu_options *g, const struct gpu_counters *c)
{
    const struct heddle_policy *policies[GPU_POLICIES + 1];
    gpu_policies(g, policies);
    for (uint32_t i = 0; i < 3 && c->policies; i++) /* not of probes, which must not change what the machine reports */
        for (uint32_t n = 0; n < policy_counter_count(policies[i]); n++)
            if (!strcmp(policies[i]->counters[n].name, "vta_hits"))
                return policy_counts_of(c->policies, i)[n];
    return 0;
}

static json_t *l1d(const struct gpu_options *g, const struct gpu_counters *timed)
{
    const struct cache_counters *c = timed ? &timed->sm.l1d : NULL;
    json_t *o = data_cache(c);
    put_columns(o, c, COLUMNS(owner_columns));
    put(o, "vta_hits", timed ? count(vta_hits(g, timed)) : NULL);
    return o;
}

static json_t *stalls(const struct gpu_counters *timed)
{
    json_t *o = json_object();
    for (int i = 0; i < STALL_COUNT; i++)
        put(o, stall_names[i], timed ? count(timed->sm.stalls[i]) : NULL);
    return o;
}

/* All fields of a structure of counters. */
static void add_words(void *to, const void *from, size_t bytes)
{
    uint64_t *sum = to;
    const uint64_t *more = from;
    for (size_t i = 0; i < bytes / sizeof *sum; i++)
        sum[i] += more[i];
}

static json_t *interconnect(const struct gpu_counters *timed)
{
    struct crossbar_counters both = {0};
    if (timed) {
        add_words(&both, &timed->requests, sizeof both);
        add_words(&both, &timed->replies, sizeof both);
    }
    return columns_object(timed ? &both : NULL, COLUMNS(crossbar_columns));
}

static json_t *energy(const struct gpu_counters *timed)
{
    struct energy e = timed ? energy_of(timed) : (struct energy){0};
    json_t *o = json_object();
    put(o, "l1d_nj", timed ? json_real(e.l1d_nj) : NULL);
    put(o, "l2_nj", timed ? json_real(e.l2_nj) : NULL);
    put(o, "dram_nj", timed ? json_real(e.dram_nj) : NULL);
    put(o, "total_nj", timed ? json_real(e.total_nj) : NULL);
    return o;
}

static json_t *histogram(const uint64_t *buckets, uint32_t bucket_count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < bucket_count; i++)
        json_array_append_new(list, count(buckets[i]));
    return list;
}

/* What a policy declares stands under its name; two of one name share the object. */
static void put_policy(json_t *o, const struct heddle_policy *p, uint64_t *values, json_t **made, uint32_t *made_count)
{
    uint32_t counters = policy_counter_count(p);
    if (!counters)
        return;
    json_t *inside = json_object_get(o, p->name);
    bool ours = false;
    for (uint32_t i = 0; i < *made_count; i++)
        ours |= made[i] == inside;
    if (!inside || !ours) {
        char name[200]; /* not over a counter of the machine's that has the same name */
        snprintf(name, sizeof name, inside ? "policy %.150s" : "%.150s", p->name);
        inside = json_object();
        put(o, name, inside);
        made[(*made_count)++] = inside;
    }
    for (uint32_t i = 0; i < counters; i++)
        put(inside, p->counters[i].name,
            p->counters[i].kind == HEDDLE_HISTOGRAM ? histogram(policy_histogram(p, values, i), p->counters[i].buckets)
                                                    : count(values[i]));
}

static void put_policies(json_t *o, const struct gpu_options *g, const struct gpu_counters *c)
{
    const struct heddle_policy *policies[GPU_POLICIES + 1];
    json_t *made[GPU_POLICIES];
    uint32_t made_count = 0, policy_count = gpu_policies(g, policies);
    struct policy_counts *none =
        c->policies ? NULL : policy_counts_create(policies, policy_count); /* nothing was launched */
    for (uint32_t i = 0; i < policy_count; i++)
        if (policies[i])
            put_policy(o, policies[i], policy_counts_of(none ? none : c->policies, i), made, &made_count);
    free(none);
}

static json_t *ratio(double part, double of) { return of > 0 ? json_real(part / of) : NULL; }

static json_t *pair(const char *first, json_t *a, const char *second, json_t *b)
{
    json_t *o = json_object();
    put(o, first, a);
    put(o, second, b);
    return o;
}

static void put_counters(json_t *o, const struct gpu_kernel *k, const struct gpu_options *g)
{
    const struct gpu_counters *c = &k->counters, *timed = g->functional ? NULL : c;
    json_t *lanes = json_array();
    for (int i = 0; i <= WARP_LANES; i++)
        json_array_append_new(lanes, count(c->exec.lanes[i]));
    put(o, "cycles", timed ? count(c->cycles) : NULL);
    put(o, "warp_instructions", count(k->warp_instructions));
    put(o, "thread_instructions", count(k->thread_instructions));
    put(o, "ipc", timed ? ratio((double)k->thread_instructions, (double)c->cycles) : NULL);
    put(o, "simd_utilization", ratio((double)k->thread_instructions, (double)k->warp_instructions * WARP_LANES));
    put(o, "lanes", lanes);
    put(o, "issue", columns_object(timed, COLUMNS(issue_columns)));
    put(o, "stalls", stalls(timed));
    put(o, "l1d", l1d(g, timed));
    put(o, "l1c", cache(timed ? &c->sm.l1c : NULL));
    put(o, "l1t", cache(timed ? &c->sm.l1t : NULL));
    put(o, "l1i", cache(timed ? &c->sm.l1i : NULL));
    put(o, "l2", data_cache(timed ? &c->memory.l2 : NULL));
    put(o, "dram", columns_object(timed ? &c->memory.dram : NULL, COLUMNS(dram_columns)));
    put(o, "icnt", interconnect(timed));
    put(o, "loads",
        pair("requests", count(timed ? c->sm.load_requests : c->exec.load_requests), "accesses",
             timed ? count(c->sm.load_accesses) : NULL));
    put(o, "stores", columns_object(timed ? &c->sm : NULL, COLUMNS(store_columns)));
    put(o, "shared", columns_object(timed ? &c->sm : NULL, COLUMNS(shared_columns)));
    put(o, "branches", pair("executed", count(c->exec.branches), "divergent", count(c->exec.divergent_branches)));
    put(o, "launched", columns_object(timed ? &c->sm : NULL, COLUMNS(block_columns)));
    put(o, "occupancy", timed ? ratio((double)c->sm.warp_cycles, (double)c->resident_warps_most) : NULL);
    put(o, "phases",
        pair("count", ratio((double)c->phases, (double)c->launches), "mean_length",
             ratio((double)c->phase_latencies, (double)c->phases)));
    put(o, "energy", energy(timed));
    put_policies(o, g, c);
}

static json_t *triple(const uint32_t v[3])
{
    json_t *a = json_array();
    for (int i = 0; i < 3; i++)
        json_array_append_new(a, count(v[i]));
    return a;
}

static void put_kernels(json_t *root, const struct gpu *g, struct gpu_kernel *sum)
{
    json_t *kernels = json_array(), *total = json_object();
    for (uint32_t i = 0; i < g->kernel_count; i++) {
        if (g->kernels[i].unreported)
            continue;
        json_t *o = json_object();
        put(o, "name", text(g->kernels[i].name));
        put(o, "grid", triple(g->kernels[i].grid));
        put(o, "block", triple(g->kernels[i].block));
        put(o, "partial", json_boolean(g->kernels[i].partial));
        if (g->kernels[i].overlapped && !g->options.functional && !g->options.merge_launches)
            put(o, "start", count(g->kernels[i].start_cycle));
        if (g->options.merge_launches)
            put(o, "launches", count(g->kernels[i].launches));
        put_counters(o, &g->kernels[i], &g->options);
        if (g->kernels[i].pcs || g->kernels[i].tables)
            put(o, "pcs", stats_pcs(&g->kernels[i]));
        if (g->kernels[i].series)
            put(o, "series", stats_series(&g->kernels[i]));
        json_array_append_new(kernels, o);
        gpu_kernel_add(sum, &g->kernels[i]);
    }
    put_counters(total, sum, &g->options);
    put(root, "kernels", kernels);
    put(root, "total", total);
}

static json_t *host(const struct gpu *g, const struct gpu_kernel *sum)
{
    struct rusage usage = {0};
    json_t *o = json_object();
    getrusage(RUSAGE_SELF, &usage);
    put(o, "wall_seconds", json_real(seconds_now()));
    put(o, "launch_seconds", json_real(g->launch_seconds));
    put(o, "kwips", sum->seconds > 0 ? json_real((double)sum->warp_instructions / sum->seconds / 1e3) : NULL);
    put(o, "peak_bytes", count((uint64_t)usage.ru_maxrss * 1024));
    return o;
}

/* Of files that were not asked for, or are written, nothing is said. */
static json_t *outcome(const struct driver *d)
{
    const struct error *e = &d->outcome;
    json_t *o = json_object();
    put(o, "kind", text(error_kind_name(e->kind)));
    put(o, "launch_refused", json_boolean(d->launch_refused));
    if (d->probe_failed)
        put(o, "probe_failed", json_true());
    if (d->file_failed)
        put(o, "file_failed", json_true());
    put(o, "message", e->kind == ERROR_NONE ? NULL : text(e->text));
    return o;
}

static json_t *spec(const struct gpu_options *g, const struct policy_choice *choice)
{
    return g->functional ? NULL : text(choice->spec);
}

static json_t *probes(const struct gpu_options *g)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < g->probe_count; i++)
        json_array_append_new(list, text(g->probes[i].spec));
    return list;
}

static json_t *results(const struct driver *d, int exit_status)
{
    const struct gpu_options *g = &d->gpu->options;
    struct gpu_kernel sum = {0};
    json_t *root = json_object(), *checks = json_object();
    put(root, "heddle", text(HEDDLE_VERSION));
    put_command(root);
    put(root, "machine", machine(&g->machine));
    put(root, "functional", json_boolean(g->functional));
    put(root, "seed", count(g->machine.seed));
    put(root, "scheduler", spec(g, &g->scheduler));
    put(root, "l1", spec(g, &g->l1));
    put(root, "divergence", spec(g, &g->divergence));
    put(root, "probes", probes(g));
    put_kernels(root, d->gpu, &sum);
    if (d->gpu->races)
        put(root, "races", race_report_json(d->gpu));
    put(root, "host", host(d->gpu, &sum));
    put(checks, "passed", json_boolean(exit_status == 0));
    put(checks, "exit", json_integer(exit_status));
    put(root, "checks", checks);
    put(root, "outcome", outcome(d));
    free(sum.counters.policies);
    return root;
}

void stats_write(const struct driver *d, int exit_status)
{
    if (!d->options.stats[0] || !d->gpu)
        return;
    bool to_stdout = !strcmp(d->options.stats, "-");
    struct whole_file whole = {.file = stdout};
    if (!to_stdout && !whole_file_open(&whole, d->options.stats)) {
        driver_say("the results could not be written to %s: %s", d->options.stats, strerror(errno));
        return;
    }
    json_t *root = results(d, exit_status);
    bool written =
        json_dumpf(root, whole.file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', whole.file) != EOF;
    int why = errno;
    json_decref(root);
    errno = why;
    if ((to_stdout ? fflush(stdout) == 0 : whole_file_close(&whole)) && written)
        return;
    driver_say("the results could not be written to %s: %s", to_stdout ? "standard output" : d->options.stats,
               strerror(errno));
    if (!to_stdout)
        whole_file_remove_empty(d->options.stats); /* `heddle run` made it */
}
