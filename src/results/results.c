/* One object with everything that a run reports; docs/metrics.md says what each part means. */
#include "results/results.h"

#include "base/version.h"
#include "gpu/host_watch.h"
#include "gpu/launch_filter.h"
#include "results/counters_json.h"
#include "results/metrics.h"
#include "results/put.h"
#include "results/races.h"
#include "sm/sm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

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

/* "machine": its own section is the object itself, the others are objects inside. The name of the rulebook, rules in
 * that section, leaves this name to the object of the single rules. */
static void put_key(void *object, const char *section, const char *key, const char *value, bool is_number)
{
    json_t *o = object, *inside = strcmp(section, "machine") ? json_object_get(o, section) : o;
    if (!inside) {
        inside = json_object();
        put(o, section, inside);
    }
    if (inside == o && !strcmp(key, "rules"))
        key = "rulebook";
    char *end = NULL;
    errno = 0;
    unsigned long long whole = strtoull(value, &end, 10);
    if (is_number && !*end && !errno && whole <= INT64_MAX)
        put_count(inside, key, whole);
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

static json_t *spec(const struct gpu_options *g, const struct policy_choice *choice)
{
    return g->functional ? NULL : text(choice->spec);
}

static json_t *probes(const struct gpu_options *g)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < g->policies.probe_count; i++)
        json_array_append_new(list, text(g->policies.probes[i].spec));
    return list;
}

/* Which launches were to be timed, and how many were. */
static json_t *launches(const struct launch_filter *f)
{
    json_t *o = json_object(), *kernels = json_array();
    put_count(o, "timed", f->timed);
    put_count(o, "functional", f->functional);
    for (uint32_t i = 0; i < f->kernel_count; i++)
        json_array_append_new(kernels, text(f->kernels[i]));
    put(o, "kernel", kernels);
    put(o, "launch", f->launches ? text(f->launches) : NULL);
    put_count(o, "skip", f->skip);
    put(o, "region", json_boolean(f->region));
    return o;
}

/* Of cycles that were not all counted. */
static void put_estimate(json_t *to, const struct gpu_kernel *k)
{
    const struct gpu_estimate *x = &k->estimate;
    double half = sqrt(x->half_squared) + x->half_common, cycles = (double)k->counters.cycles;
    if (!x->instructions)
        return;
    json_t *o = json_object();
    put_count(o, "cycles_low", (uint64_t)(cycles > half ? cycles - half : 0));
    put_count(o, "cycles_high", (uint64_t)(cycles + half));
    put_count(o, "timed_cycles", x->timed_cycles);
    put_count(o, "timed_instructions", x->timed_instructions);
    put_count(o, "instructions", x->instructions);
    put_count(o, "launches", x->launches);
    put(to, "estimate", o);
}

/* index: in the list */
static json_t *kernel(const struct gpu_options *o, const struct gpu_kernel *k, uint64_t index)
{
    json_t *to = json_object();
    bool merged = o->records == GPU_RECORDS_OF_KERNELS;
    put(to, "name", text(k->name));
    if (k->number != index && !merged)
        put_count(to, "launch", k->number);
    put(to, "grid", triple_json(k->grid));
    put(to, "block", triple_json(k->block));
    put(to, "partial", json_boolean(k->partial));
    if (k->overlapped && !o->functional && !merged)
        put_count(to, "start", k->start_cycle);
    if (merged)
        put_count(to, "launches", k->launches);
    put_estimate(to, k);
    put_counters(to, &k->counters, o);
    if (k->pcs || k->tables)
        put(to, "pcs", results_pcs(k));
    if (k->series)
        put(to, "series", results_series(k));
    return to;
}

/* What policies counted in it is to be freed. */
static struct gpu_kernel sum_of(const struct gpu *g)
{
    struct gpu_kernel sum = {0};
    for (uint32_t i = 0; i < g->kernel_count; i++)
        if (!g->kernels[i].unreported)
            gpu_kernel_add(&sum, &g->kernels[i]);
    return sum;
}

static void put_kernels(json_t *root, const struct gpu *g, const struct gpu_kernel *sum)
{
    json_t *kernels = json_array(), *total = json_object();
    for (uint32_t i = 0; i < g->kernel_count; i++)
        if (!g->kernels[i].unreported)
            json_array_append_new(kernels, kernel(&g->options, &g->kernels[i], json_array_size(kernels)));
    put_estimate(total, sum);
    put_counters(total, &sum->counters, &g->options);
    put(root, "kernels", kernels);
    put(root, "total", total);
}

/* NULL: not known, as after a short run. */
static json_t *host_parts(const struct gpu *g)
{
    static const char *const names[HOST_PART_COUNT] = {
#define PART(identifier, name) [HOST_##identifier] = (name),
        HOST_PARTS(PART)
#undef PART
    };
    double seconds[HOST_PART_COUNT];
    if (!g->watch || !host_watch_seconds(g->watch, seconds))
        return NULL;
    json_t *o = json_object();
    for (int i = HOST_NOTHING + 1; i < HOST_PART_COUNT; i++)
        put(o, names[i], json_real(seconds[i]));
    return o;
}

/* NULL: one thread was asked for. */
static json_t *host_shared(const struct gpu *g)
{
    double share;
    return gpu_shared(g, &share) ? json_real(share) : NULL;
}

static json_t *host(const struct gpu *g, const struct gpu_kernel *sum, double wall_seconds)
{
    struct rusage usage = {0};
    json_t *o = json_object();
    getrusage(RUSAGE_SELF, &usage);
    put(o, "built_for", json_string(exec_built_for()));
    if (sm_is_model)
        put(o, "model", json_true());
    put(o, "wall_seconds", json_real(wall_seconds));
    put(o, "launch_seconds", json_real(g->launch_seconds));
    put(o, "parts", host_parts(g));
    put(o, "shared", host_shared(g));
    put(o, "kwips", sum->seconds > 0 ? json_real((double)sum->warp_instructions / sum->seconds / 1e3) : NULL);
    put_count(o, "peak_bytes", (uint64_t)usage.ru_maxrss * 1024);
    return o;
}

/* Of files that were not asked for, or are written, nothing is said. */
static json_t *outcome(const struct results_run *run)
{
    const struct error *e = run->outcome;
    json_t *o = json_object();
    put(o, "kind", text(error_kind_name(e->kind)));
    put(o, "launch_refused", json_boolean(run->launch_refused));
    if (run->probe_failed)
        put(o, "probe_failed", json_true());
    if (run->file_failed)
        put(o, "file_failed", json_true());
    if (run->nothing_timed)
        put(o, "nothing_timed", json_true());
    put(o, "message", e->kind == ERROR_NONE ? NULL : text(e->text));
    return o;
}

static void put_command(json_t *root, const struct results_run *run)
{
    json_t *arguments = json_array();
    size_t at = run->command_bytes ? strlen(run->command) + 1 : 0;
    put(root, "program", run->command_bytes ? text(run->command) : NULL);
    for (; at < run->command_bytes; at += strlen(run->command + at) + 1)
        json_array_append_new(arguments, text(run->command + at));
    put(root, "arguments", arguments);
}

json_t *results_json(const struct gpu *g, const struct results_run *run)
{
    const struct gpu_options *o = &g->options;
    struct gpu_kernel sum = sum_of(g);
    json_t *root = json_object(), *checks = json_object();
    put(root, "heddle", text(HEDDLE_VERSION));
    put(root, "commit", text(version_commit));
    put(root, "timing_epoch", json_integer(GPU_TIMING_EPOCH));
    put_command(root, run);
    put(root, "machine", machine(&o->machine));
    put(root, "functional", json_boolean(o->functional));
    put_count(root, "seed", o->machine.seed);
    put(root, "scheduler", spec(o, &o->policies.scheduler));
    put(root, "l1", spec(o, &o->policies.l1));
    put(root, "divergence", spec(o, &o->policies.divergence));
    put(root, "probes", probes(o));
    if (o->filter)
        put(root, "launches", launches(o->filter));
    put_kernels(root, g, &sum);
    if (g->races)
        put(root, "races", races_json(g));
    put(root, "host", host(g, &sum, run->wall_seconds));
    put(checks, "passed", json_boolean(run->exit_status == 0));
    put(checks, "exit", json_integer(run->exit_status));
    put(root, "checks", checks);
    put(root, "outcome", outcome(run));
    free(sum.counters.policies);
    return root;
}

bool results_write(const json_t *results, FILE *to)
{
    return json_dumpf(results, to, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', to) != EOF;
}

/* A number by its path, through objects by name and lists by index. */
static bool number_in(const json_t *at, const char *name, double *value)
{
    while (at && *name) {
        size_t length = strcspn(name, ".");
        char key[200];
        if (length >= sizeof key)
            return false;
        memcpy(key, name, length);
        key[length] = '\0';
        bool is_index = json_is_array(at) && key[0] >= '0' && key[0] <= '9';
        at = is_index ? json_array_get(at, strtoul(key, NULL, 10)) : json_object_get(at, key);
        name += length + (name[length] == '.');
    }
    *value = json_number_value(at);
    return json_is_number(at);
}

bool results_number(const struct gpu *g, int64_t launch, const char *name, double *value)
{
    if (launch != RESULTS_TOTAL && (launch < 0 || launch >= g->kernel_count))
        return false;
    struct gpu_kernel sum = launch == RESULTS_TOTAL ? sum_of(g) : (struct gpu_kernel){0};
    const struct gpu_counters *c = launch == RESULTS_TOTAL ? &sum.counters : &g->kernels[launch].counters;
    json_t *counters = json_object();
    put_counters(counters, c, &g->options);
    bool found = number_in(counters, name, value);
    json_decref(counters);
    free(sum.counters.policies);
    return found;
}
