/* profile_check FILE: do the counters of each instruction, and the samples over time, add up to those of their launch?
 * profile_check --less A B: is A without them the same as B, but for `host`? profile_check --first SHORT SAMPLED: has
 * the first sample of SAMPLED's first launch what SHORT's, which was cut short there, has in all? Exit status 0 yes, 1
 * no. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *load(const char *path)
{
    json_error_t e;
    json_t *root = json_load_file(path, 0, &e);
    if (!root) {
        fprintf(stderr, "%s:%d: %s\n", path, e.line, e.text);
        exit(1);
    }
    return root;
}

static json_t *find(json_t *o, const char *path)
{
    char copy[200];
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key = strtok(copy, "."); key; key = strtok(NULL, "."))
        o = json_object_get(o, key);
    return o;
}

static int unequal(const char *what, json_int_t a, json_int_t b)
{
    if (a != b)
        fprintf(stderr, "%s: %lld and %lld\n", what, (long long)a, (long long)b);
    return a != b;
}

static json_int_t sum_of(json_t *pcs, const char *name)
{
    json_int_t sum = 0;
    size_t i;
    json_t *pc;
    json_array_foreach(pcs, i, pc) sum += json_integer_value(find(pc, name));
    return sum;
}

/* Every reason of the launch is that of its instructions (but for warps that never came to their next one), and theirs
 * without `issued` and `drain` are `stalled`. */
static int check_cycles(json_t *kernel, json_t *pcs, int complete)
{
    const char *reason, *of_pc;
    json_t *cycles, *pc, *n;
    size_t i;
    int bad = 0;
    json_object_foreach(json_object_get(kernel, "stalls"), reason, cycles)
    {
        char name[100];
        snprintf(name, sizeof name, "cycles.%s", reason);
        if (complete)
            bad |= unequal(name, sum_of(pcs, name), json_integer_value(cycles));
    }
    json_array_foreach(pcs, i, pc)
    {
        json_int_t sum = 0;
        json_object_foreach(json_object_get(pc, "cycles"), of_pc, n) sum +=
            !strcmp(of_pc, "issued") || !strcmp(of_pc, "drain") ? 0 : json_integer_value(n);
        bad |= unequal("stalled and its reasons", json_integer_value(json_object_get(pc, "stalled")), sum);
    }
    return bad;
}

/* Cycles of warps that were there and neither issued nor had ended. */
static json_int_t waited(json_t *stalls)
{
    const char *key;
    json_t *value;
    json_int_t sum = 0;
    json_object_foreach(stalls, key, value) sum +=
        !strcmp(key, "issued") || !strcmp(key, "drain") ? 0 : json_integer_value(value);
    return sum;
}

static int check_pcs(json_t *kernel, int timed, int regroups)
{
    static const struct {
        const char *pc, *total;
        int timed;
    } sums[] = {
        {"executions", "warp_instructions", 0},
        {"thread_executions", "thread_instructions", 0},
        {"divergent", "branches.divergent", 0},
        {"load_requests", "loads.requests", 0},
        {"load_accesses", "loads.accesses", 1},
        {"store_requests", "stores.requests", 1},
        {"store_accesses", "stores.accesses", 1},
        {"l1d_hits", "l1d.hits", 1},
        {"l1d_misses", "l1d.misses", 1},
        {"l1d_pending_hits", "l1d.pending_hits", 1},
        {"l1d_reservation_fails", "l1d.reservation_fails", 1},
        {"l1d_intra_warp_hits", "l1d.intra_warp_hits", 1},
        {"l1d_inter_warp_hits", "l1d.inter_warp_hits", 1},
    };
    json_t *pcs = json_object_get(kernel, "pcs"), *pc;
    json_int_t last = -1;
    size_t k;
    int bad = 0;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (timed || !sums[i].timed)
            bad |= unequal(sums[i].pc, sum_of(pcs, sums[i].pc), json_integer_value(find(kernel, sums[i].total)));
    if (timed)
        bad |= check_cycles(kernel, pcs, !regroups && json_is_false(json_object_get(kernel, "partial")));
    json_array_foreach(pcs, k, pc)
    {
        json_int_t number = json_integer_value(json_object_get(pc, "pc")),
                   executed = json_integer_value(json_object_get(pc, "executions"));
        const char *text = json_string_value(json_object_get(pc, "text"));
        json_int_t accesses = json_integer_value(json_object_get(pc, "coalesced_accesses")),
                   misses = json_integer_value(json_object_get(pc, "coalesced_misses"));
        if (accesses > json_integer_value(json_object_get(pc, "load_accesses")) ||
            misses > json_integer_value(json_object_get(pc, "l1d_misses"))) {
            fprintf(stderr, "instruction %lld: more accesses or misses if it were coalesced\n", (long long)number);
            bad = 1;
        }
        if (number <= last || executed < 1 || !text || strlen(text) < 3 ||
            json_integer_value(json_object_get(pc, "line")) < 1) {
            fprintf(stderr, "instruction %lld: out of order, never executed, or without line or text\n",
                    (long long)number);
            bad = 1;
        }
        last = number;
    }
    return bad;
}

/* One name of the series against the launch's own counter; means are weighted by the cycles of their samples. */
static int check_values(json_t *kernel, const char *name, json_t *values, json_t *cycles)
{
    double mean = 0, wanted = json_number_value(find(kernel, name));
    json_int_t sum = 0, before = 0;
    size_t i;
    json_t *value;
    json_array_foreach(values, i, value)
    {
        json_int_t end = json_integer_value(json_array_get(cycles, i));
        if (json_number_value(value) < 0 || end <= before) {
            fprintf(stderr, "%s: sample %zu is negative, or has no cycles\n", name, i);
            return 1;
        }
        sum += json_integer_value(value);
        mean += json_number_value(value) * (double)(end - before);
        before = end;
    }
    int bad = unequal("samples", (json_int_t)json_array_size(values), (json_int_t)json_array_size(cycles)) |
              unequal("cycles", before, json_integer_value(json_object_get(kernel, "cycles")));
    if (!strcmp(name, "resident_warps")) {
        json_int_t resident = waited(json_object_get(kernel, "stalls")) +
                              json_integer_value(find(kernel, "stalls.issued")) +
                              json_integer_value(find(kernel, "stalls.drain"));
        return bad | unequal(name, (json_int_t)(mean + 0.5), resident);
    }
    if (!strcmp(name, "ipc"))
        return bad | unequal(name, (json_int_t)(mean + 0.5),
                             json_integer_value(json_object_get(kernel, "thread_instructions")));
    return bad | unequal(name, sum, (json_int_t)wanted);
}

static int check_series(json_t *kernel)
{
    static const char *const least[] = {"warp_instructions", "ipc",       "resident_warps", "l1d.accesses",
                                        "l1d.misses",        "l2.misses", "dram.reads"};
    json_t *series = json_object_get(kernel, "series"), *cycles = json_object_get(series, "cycles"),
           *values = json_object_get(series, "values"), *value;
    json_int_t interval = json_integer_value(json_object_get(series, "interval"));
    const char *name;
    int bad = 0;
    for (size_t i = 0; i < sizeof least / sizeof *least; i++)
        if (!json_object_get(values, least[i])) {
            fprintf(stderr, "no samples of %s\n", least[i]);
            bad = 1;
        }
    for (size_t i = 0; i + 1 < json_array_size(cycles); i++)
        bad |= unequal("the end of a sample", json_integer_value(json_array_get(cycles, i)),
                       interval * (json_int_t)(i + 1));
    json_object_foreach(values, name, value) bad |= check_values(kernel, name, value, cycles);
    return bad;
}

static int check(json_t *root)
{
    const char *divergence = json_string_value(json_object_get(root, "divergence"));
    int timed = json_is_false(json_object_get(root, "functional")), regroups = divergence && strcmp(divergence, "pdom"),
        bad = 0, any = 0;
    size_t i;
    json_t *kernel;
    json_array_foreach(json_object_get(root, "kernels"), i, kernel)
    {
        if (json_object_get(kernel, "pcs"))
            bad |= check_pcs(kernel, timed, regroups);
        if (json_object_get(kernel, "series"))
            bad |= check_series(kernel);
        any |= json_object_get(kernel, "pcs") || json_object_get(kernel, "series");
    }
    if (!any)
        fputs("no counters of instructions and no samples\n", stderr);
    return bad || !any;
}

static int check_first(json_t *cut, json_t *sampled)
{
    json_t *totals = json_array_get(json_object_get(cut, "kernels"), 0),
           *kernel = json_array_get(json_object_get(sampled, "kernels"), 0), *values = find(kernel, "series.values"),
           *value;
    const char *name;
    int bad = unequal("the first sample's end", json_integer_value(json_array_get(find(kernel, "series.cycles"), 0)),
                      json_integer_value(json_object_get(totals, "cycles")));
    bad |= json_array_size(find(kernel, "series.cycles")) < 2;
    json_object_foreach(values, name, value) if (strcmp(name, "ipc") && strcmp(name, "resident_warps")) bad |=
        unequal(name, json_integer_value(json_array_get(value, 0)), json_integer_value(find(totals, name)));
    return bad;
}

static int check_less(json_t *a, json_t *b)
{
    size_t i;
    json_t *kernel;
    json_object_del(a, "host");
    json_object_del(b, "host");
    json_array_foreach(json_object_get(a, "kernels"), i, kernel)
    {
        json_object_del(kernel, "pcs");
        json_object_del(kernel, "series");
    }
    if (!json_equal(a, b))
        fputs("the results differ\n", stderr);
    return !json_equal(a, b);
}

int main(int argc, char **argv)
{
    int pair = argc == 4 && (!strcmp(argv[1], "--less") || !strcmp(argv[1], "--first"));
    if (argc != 2 && !pair) {
        fputs("usage: profile_check FILE | profile_check --less A B | profile_check --first SHORT SAMPLED\n", stderr);
        return 2;
    }
    json_t *a = load(argv[pair ? 2 : 1]), *b = pair ? load(argv[3]) : NULL;
    int status = !pair ? check(a) : !strcmp(argv[1], "--less") ? check_less(a, b) : check_first(a, b);
    json_decref(a);
    json_decref(b);
    return status;
}
