/* The results of a run, written when the process ends: one JSON object with keys in a fixed order. What only a timing model can know is null. */
#include "cuda/internal.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void put(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value ? value : json_null()); }
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

static json_t *machine(const struct machine *m)
{
    json_t *o = json_object();
    put(o, "name", text(m->name));
    put(o, "cores", count(m->cores));
    put(o, "warps_per_core", count(m->warps_per_core));
    put(o, "blocks_per_core", count(m->blocks_per_core));
    put(o, "registers_per_core", count(m->registers_per_core));
    put(o, "shared_bytes_per_core", count(m->shared_bytes_per_core));
    put(o, "clock_khz", count(m->clock_khz));
    put(o, "memory_clock_khz", count(m->memory_clock_khz));
    put(o, "memory_bus_bits", count(m->memory_bus_bits));
    put(o, "memory_bytes", count(m->memory_bytes));
    put(o, "l2_bytes", count(m->l2_bytes));
    return o;
}

static json_t *pair(const char *first, uint64_t a, const char *second, json_t *b)
{
    json_t *o = json_object();
    put(o, first, count(a));
    put(o, second, b);
    return o;
}

static void put_counters(json_t *o, const struct gpu_kernel *k)
{
    json_t *lanes = json_array();
    for (int i = 0; i <= WARP_LANES; i++)
        json_array_append_new(lanes, count(k->counters.lanes[i]));
    put(o, "cycles", NULL);
    put(o, "warp_instructions", count(k->warp_instructions));
    put(o, "thread_instructions", count(k->thread_instructions));
    put(o, "ipc", NULL);
    put(o, "simd_utilization",
        k->warp_instructions ? json_real((double)k->thread_instructions / ((double)k->warp_instructions * WARP_LANES)) : NULL);
    put(o, "lanes", lanes);
    put(o, "loads", pair("requests", k->counters.load_requests, "accesses", NULL));
    put(o, "branches", pair("executed", k->counters.branches, "divergent", count(k->counters.divergent_branches)));
}

static json_t *triple(const uint32_t v[3])
{
    json_t *a = json_array();
    for (int i = 0; i < 3; i++)
        json_array_append_new(a, count(v[i]));
    return a;
}

static void add_counters(struct gpu_kernel *sum, const struct gpu_kernel *k)
{
    for (int i = 0; i <= WARP_LANES; i++)
        sum->counters.lanes[i] += k->counters.lanes[i];
    sum->counters.branches += k->counters.branches;
    sum->counters.divergent_branches += k->counters.divergent_branches;
    sum->counters.load_requests += k->counters.load_requests;
    sum->warp_instructions += k->warp_instructions;
    sum->thread_instructions += k->thread_instructions;
}

static void put_kernels(json_t *root, const struct gpu *g, struct gpu_kernel *sum)
{
    json_t *kernels = json_array(), *total = json_object();
    for (uint32_t i = 0; i < g->kernel_count; i++) {
        json_t *o = json_object();
        put(o, "name", text(g->kernels[i].name));
        put(o, "grid", triple(g->kernels[i].grid));
        put(o, "block", triple(g->kernels[i].block));
        put_counters(o, &g->kernels[i]);
        json_array_append_new(kernels, o);
        add_counters(sum, &g->kernels[i]);
    }
    put_counters(total, sum);
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
    put(o, "kwips", g->launch_seconds > 0 ? json_real((double)sum->warp_instructions / g->launch_seconds / 1e3) : NULL);
    put(o, "peak_bytes", count((uint64_t)usage.ru_maxrss * 1024));
    return o;
}

static json_t *outcome(const struct error *e)
{
    json_t *o = json_object();
    put(o, "kind", text(error_kind_name(e->kind)));
    put(o, "message", e->kind == ERROR_NONE ? NULL : text(e->text));
    return o;
}

static json_t *results(const struct driver *d, int exit_status)
{
    struct gpu_kernel sum = {0};
    json_t *root = json_object(), *checks = json_object();
    put(root, "heddle", text(HEDDLE_VERSION));
    put_command(root);
    put(root, "machine", machine(&d->gpu->options.machine));
    put(root, "functional", json_true());
    put(root, "scheduler", NULL);
    put(root, "l1", NULL);
    put(root, "divergence", NULL);
    put_kernels(root, d->gpu, &sum);
    put(root, "host", host(d->gpu, &sum));
    put(checks, "passed", json_boolean(exit_status == 0));
    put(checks, "exit", json_integer(exit_status));
    put(root, "checks", checks);
    put(root, "outcome", outcome(&d->outcome));
    return root;
}

void stats_write(const struct driver *d, int exit_status)
{
    if (!d->options.stats[0] || !d->gpu)
        return;
    bool to_stdout = !strcmp(d->options.stats, "-");
    FILE *f = to_stdout ? stdout : fopen(d->options.stats, "w");
    if (!f) {
        driver_say("%s: %s", d->options.stats, strerror(errno));
        return;
    }
    json_t *root = results(d, exit_status);
    if (json_dumpf(root, f, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0 || fputc('\n', f) == EOF)
        driver_say("%s: the results could not be written", d->options.stats);
    json_decref(root);
    if (to_stdout)
        fflush(f);
    else if (fclose(f) != 0)
        driver_say("%s: %s", d->options.stats, strerror(errno));
}
