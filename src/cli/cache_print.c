/* What `heddle cache` found, as tables and as JSON. */
#include "cli/cache.h"
#include "cli/cli.h"
#include "cli/text_table.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

enum { CURVE_STEPS = 8 /* sizes between powers of two, in JSON */, PCS_SHOWN = 30 };

/* A row of the first table: a policy, or the run itself. */
struct row {
    const char *name;
    uint64_t accesses, misses, reads, read_misses;
};
struct instructions {
    uint64_t warp, thread;
    bool complete;
};

static struct instructions instructions_of(const struct trace_reader *t)
{
    struct instructions n = {.complete = true};
    for (uint32_t i = 0; i < t->kernel_count; i++) {
        n.warp += t->kernels[i].end.warp_instructions;
        n.thread += t->kernels[i].end.thread_instructions;
        n.complete &= t->kernels[i].ended;
    }
    return n;
}

static struct row row_of(const char *name, const struct replay_counts *n)
{
    return (struct row){name, n->reads + n->stores, n->read_misses + n->store_misses, n->reads, n->read_misses};
}

static struct row row_of_run(const struct trace_reader *t)
{
    struct row row = {.name = "the run"};
    for (uint32_t i = 0; i < t->kernel_count; i++) {
        const struct trace_kernel_end *k = &t->kernels[i].end;
        row.accesses += k->reads + k->stores;
        row.misses += k->read_misses + (k->stores - k->store_hits);
        row.reads += k->reads;
        row.read_misses += k->read_misses;
    }
    return row;
}

static double share(uint64_t part, uint64_t of) { return of ? (double)part / (double)of : 0; }
static double rate(const struct trace_reader *t, double seconds)
{
    return seconds > 0 ? (double)t->accesses / seconds / 1e6 : 0;
}

/* Sizes in lines at which the curve is shown: powers of two and `steps` - 1 between, up to the first that misses no
 * more than a cache without bounds. */
static uint64_t next_size(uint64_t lines, uint32_t steps)
{
    uint64_t power = 1ull << (63 - __builtin_clzll(lines)), step = power / steps;
    return lines + (step ? step : 1);
}

static uint64_t last_size(const struct replay_distances *d)
{
    uint64_t last = 1;
    for (uint64_t i = 0; i < d->length; i++)
        if (d->reads[i] + d->stores[i])
            last = i + 1;
    return last;
}

/* Reads by stack distance: bucket 0 is distance 0, bucket i from 2^(i-1) on, below 2^i. */
static void distance_buckets(const struct replay_distances *d, uint64_t bucket[65])
{
    for (uint64_t i = 0; i < d->length; i++)
        bucket[i ? 64 - __builtin_clzll(i) : 0] += d->reads[i];
}

/* Instructions, those with the most misses first */

struct pc_row {
    uint32_t listing, pc;
    uint64_t misses;
};

static int compare_pcs(const void *a, const void *b)
{
    const struct pc_row *x = a, *y = b;
    if (x->misses != y->misses)
        return x->misses < y->misses ? 1 : -1;
    return x->listing != y->listing ? (x->listing < y->listing ? -1 : 1) : x->pc < y->pc ? -1 : 1;
}

static int first_policy(const struct cache_report *c)
{
    int i = 0;
    while (!c->ran[i])
        i++;
    return i;
}

static uint32_t list_pcs(const struct cache_report *c, struct arena *a, struct pc_row **out)
{
    const struct trace_reader *t = c->trace;
    const struct replay_result *first = &c->results[first_policy(c)];
    uint32_t count = 0, n = 0;
    for (uint32_t i = 0; i < t->listing_count; i++)
        for (uint32_t pc = 0; pc < t->listings[i].pc_count; pc++)
            count += first->pcs[i][pc].reads + first->pcs[i][pc].stores != 0;
    *out = arena_array(a, struct pc_row, count + 1);
    for (uint32_t i = 0; i < t->listing_count; i++)
        for (uint32_t pc = 0; pc < t->listings[i].pc_count; pc++) {
            const struct replay_counts *k = &first->pcs[i][pc];
            if (k->reads + k->stores)
                (*out)[n++] = (struct pc_row){i, pc, k->read_misses + k->store_misses};
        }
    qsort(*out, count, sizeof **out, compare_pcs);
    return count;
}

static const struct trace_line *line_of(const struct trace_listing *g, uint32_t pc)
{
    for (uint32_t i = 0; i < g->line_count; i++)
        if (g->lines[i].pc == pc)
            return &g->lines[i];
    return NULL;
}

/* Text */

static const char *size_text(struct arena *a, uint64_t bytes)
{
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0)
        return arena_printf(a, "%" PRIu64 " MB", bytes >> 20);
    return bytes >= 1 << 10 && bytes % (1 << 10) == 0 ? arena_printf(a, "%" PRIu64 " KB", bytes >> 10)
                                                      : arena_printf(a, "%" PRIu64 " B", bytes);
}

static void number_cell(struct text_table *table, uint64_t n)
{
    char text[32];
    text_table_cell(table, "%s", cli_grouped(n, text, sizeof text));
}

static void mpki_cell(struct text_table *table, uint64_t misses, uint64_t instructions, bool known)
{
    if (known && instructions)
        text_table_cell(table, "%.3f", share(misses, instructions) * 1000);
    else
        text_table_cell(table, "-");
}

static void print_row(struct text_table *table, const struct row *row, const struct instructions *n, double seconds,
                      const struct trace_reader *t)
{
    text_table_cell(table, "%s", row->name);
    number_cell(table, row->accesses);
    number_cell(table, row->accesses - row->misses);
    number_cell(table, row->misses);
    text_table_cell(table, "%.2f%%", 100 * share(row->misses, row->accesses));
    number_cell(table, row->read_misses);
    text_table_cell(table, "%.2f%%", 100 * share(row->read_misses, row->reads));
    mpki_cell(table, row->misses, n->thread, n->complete);
    mpki_cell(table, row->misses, n->warp, n->complete);
    if (seconds > 0)
        text_table_cell(table, "%.1f", rate(t, seconds));
    else
        text_table_cell(table, "-");
}

static void print_policies(const struct cache_report *c, struct arena *a)
{
    static const char *const titles[] = {
        "policy", ">accesses",           ">hits",         ">misses", ">miss rate", ">load misses", ">of loads",
        ">MPKI",  ">a kilo warp instr.", ">M accesses/s", NULL};
    struct text_table table = text_table_start(a, titles);
    struct instructions n = instructions_of(c->trace);
    if (c->is_traced_geometry && n.complete) {
        struct row run = row_of_run(c->trace);
        print_row(&table, &run, &n, 0, c->trace);
    }
    for (int i = 0; i < REPLAY_POLICIES; i++) {
        struct row row = row_of(replay_policy_names[i], &c->results[i].total);
        if (c->ran[i])
            print_row(&table, &row, &n, c->results[i].seconds, c->trace);
    }
    text_table_print(&table, "  ", stdout);
}

static void print_pcs(const struct cache_report *c, struct arena *a)
{
    const char *titles[REPLAY_POLICIES + 7] = {"kernel", ">line", ">accesses"};
    uint32_t columns = 3;
    struct pc_row *rows;
    uint32_t count = list_pcs(c, a, &rows), shown = count < PCS_SHOWN ? count : PCS_SHOWN;
    for (int i = 0; i < REPLAY_POLICIES; i++)
        if (c->ran[i])
            titles[columns++] = arena_printf(a, ">%s misses", replay_policy_names[i]);
    titles[columns++] = "instruction";
    titles[columns] = NULL;
    struct text_table table = text_table_start(a, titles);
    for (uint32_t k = 0; k < shown; k++) {
        const struct trace_listing *g = &c->trace->listings[rows[k].listing];
        const struct trace_line *l = line_of(g, rows[k].pc);
        const struct replay_counts *first = &c->results[first_policy(c)].pcs[rows[k].listing][rows[k].pc];
        text_table_cell(&table, "%s", l && *l->function ? l->function : g->kernel);
        text_table_cell(&table, "%u", l ? l->line : 0);
        number_cell(&table, first->reads + first->stores);
        for (int i = 0; i < REPLAY_POLICIES; i++) {
            if (!c->ran[i])
                continue;
            const struct replay_counts *n = &c->results[i].pcs[rows[k].listing][rows[k].pc];
            number_cell(&table, n->read_misses + n->store_misses);
        }
        text_table_cell(&table, "%s", l ? l->text : "?");
    }
    puts("");
    text_table_print(&table, "  ", stdout);
    if (shown < count)
        printf("  and %u more; --json has them all\n", count - shown);
}

static void print_curve(const struct cache_report *c, struct arena *a)
{
    static const char *const titles[] = {">size", ">lines", ">misses", ">miss rate", ">load misses", ">of loads", NULL};
    struct text_table table = text_table_start(a, titles);
    uint64_t last = last_size(&c->distances);
    for (uint64_t lines = 1;; lines = next_size(lines, 2)) {
        struct replay_counts n = replay_distances_misses(&c->distances, lines);
        struct row row = row_of("", &n);
        text_table_cell(&table, "%s", size_text(a, lines * c->geometry.line_bytes));
        number_cell(&table, lines);
        number_cell(&table, row.misses);
        text_table_cell(&table, "%.2f%%", 100 * share(row.misses, row.accesses));
        number_cell(&table, row.read_misses);
        text_table_cell(&table, "%.2f%%", 100 * share(row.read_misses, row.reads));
        if (lines >= last)
            break;
    }
    puts("\n  fully associative LRU caches of a core:");
    text_table_print(&table, "  ", stdout);
}

static void print_reuse(const struct cache_report *c, struct arena *a)
{
    static const char *const titles[] = {">from", ">loads by other lines between", ">loads by accesses between", NULL};
    struct text_table table = text_table_start(a, titles);
    uint64_t bucket[65] = {0};
    int last = 0;
    distance_buckets(&c->distances, bucket);
    for (int i = 0; i < 64; i++)
        last = bucket[i] || c->distances.between[i] ? i : last;
    for (int i = 0; i <= last; i++) {
        uint64_t from = i ? 1ull << (i - 1) : 0;
        number_cell(&table, from);
        number_cell(&table, bucket[i]);
        number_cell(&table, c->distances.between[i]);
    }
    text_table_cell(&table, "first use");
    number_cell(&table, c->distances.first_reads);
    number_cell(&table, c->distances.first_reads);
    puts("\n  loads, by what lies between two uses of a line on a core:");
    text_table_print(&table, "  ", stdout);
}

void cache_print_text(const struct cache_report *c)
{
    const struct trace_reader *t = c->trace;
    const struct replay_geometry *g = &c->geometry;
    struct arena a = {0};
    printf("%s: %s on %s, %u cores, %u launches\n", c->path, t->header.program, t->header.machine, t->header.cores,
           t->kernel_count);
    printf("cache of a core: %s, %u %s of %u ways, lines of %u bytes, index %s\n\n",
           size_text(&a, (uint64_t)g->sets * g->ways * g->line_bytes), g->sets, g->sets == 1 ? "set" : "sets", g->ways,
           g->line_bytes, trace_index_names[g->index]);
    print_policies(c, &a);
    if (c->per_pc)
        print_pcs(c, &a);
    if (c->curve)
        print_curve(c, &a);
    if (c->reuse)
        print_reuse(c, &a);
    arena_free(&a);
}

/* JSON */

static void put(json_t *o, const char *key, json_t *value) { json_object_set_new(o, key, value ? value : json_null()); }
static json_t *count(uint64_t n) { return json_integer((json_int_t)n); }

/* Text of a file, which may not be UTF-8. */
static json_t *text(const char *s)
{
    json_t *t = json_string(s);
    return t ? t : json_string("?");
}

static void put_counts(json_t *o, const struct replay_counts *n)
{
    put(o, "accesses", count(n->reads + n->stores));
    put(o, "hits", count(n->reads + n->stores - n->read_misses - n->store_misses));
    put(o, "misses", count(n->read_misses + n->store_misses));
    put(o, "reads", count(n->reads));
    put(o, "read_misses", count(n->read_misses));
    put(o, "stores", count(n->stores));
    put(o, "store_misses", count(n->store_misses));
    put(o, "miss_rate", json_real(share(n->read_misses + n->store_misses, n->reads + n->stores)));
    put(o, "read_miss_rate", json_real(share(n->read_misses, n->reads)));
}

static json_t *json_policies(const struct cache_report *c, const struct instructions *n)
{
    json_t *all = json_object();
    for (int i = 0; i < REPLAY_POLICIES; i++) {
        const struct replay_result *r = &c->results[i];
        json_t *o = c->ran[i] ? json_object() : NULL;
        uint64_t misses = r->total.read_misses + r->total.store_misses;
        if (!o)
            continue;
        put_counts(o, &r->total);
        put(o, "mpki", n->complete && n->thread ? json_real(share(misses, n->thread) * 1000) : NULL);
        put(o, "mpki_warp", n->complete && n->warp ? json_real(share(misses, n->warp) * 1000) : NULL);
        put(o, "seconds", json_real(r->seconds));
        put(o, "million_accesses_per_second", json_real(rate(c->trace, r->seconds)));
        if (i >= REPLAY_BELADY) {
            put(o, "backward_seconds", json_real(r->backward_seconds));
            put(o, "temporary_bytes", count(r->temporary_bytes));
        }
        put(all, replay_policy_names[i], o);
    }
    return all;
}

static json_t *json_run(const struct trace_reader *t)
{
    struct trace_kernel_end sum = {0};
    json_t *o = json_object();
    for (uint32_t i = 0; i < t->kernel_count; i++) {
        const struct trace_kernel_end *k = &t->kernels[i].end;
        sum.reads += k->reads;
        sum.read_hits += k->read_hits;
        sum.read_misses += k->read_misses;
        sum.read_pending += k->read_pending;
        sum.stores += k->stores;
        sum.store_hits += k->store_hits;
    }
    put(o, "accesses", count(sum.reads + sum.stores));
    put(o, "misses", count(sum.read_misses + sum.stores - sum.store_hits));
    put(o, "reads", count(sum.reads));
    put(o, "read_hits", count(sum.read_hits));
    put(o, "read_misses", count(sum.read_misses));
    put(o, "pending_hits", count(sum.read_pending));
    put(o, "stores", count(sum.stores));
    put(o, "store_misses", count(sum.stores - sum.store_hits));
    return o;
}

static json_t *json_pcs(const struct cache_report *c, struct arena *a)
{
    struct pc_row *rows;
    uint32_t row_count = list_pcs(c, a, &rows);
    json_t *all = json_array();
    for (uint32_t k = 0; k < row_count; k++) {
        const struct trace_listing *g = &c->trace->listings[rows[k].listing];
        const struct trace_line *l = line_of(g, rows[k].pc);
        json_t *o = json_object(), *policies = json_object();
        put(o, "kernel", text(g->kernel));
        put(o, "function", l && *l->function ? text(l->function) : NULL);
        put(o, "pc", count(rows[k].pc));
        put(o, "line", l ? count(l->line) : NULL);
        put(o, "source", l && *l->source ? text(l->source) : NULL);
        put(o, "text", l ? text(l->text) : NULL);
        for (int i = 0; i < REPLAY_POLICIES; i++) {
            json_t *counts = c->ran[i] ? json_object() : NULL;
            if (!counts)
                continue;
            put_counts(counts, &c->results[i].pcs[rows[k].listing][rows[k].pc]);
            put(policies, replay_policy_names[i], counts);
        }
        put(o, "policies", policies);
        json_array_append_new(all, o);
    }
    return all;
}

static json_t *json_curve(const struct cache_report *c)
{
    json_t *all = json_array();
    uint64_t last = last_size(&c->distances);
    for (uint64_t lines = 1;; lines = next_size(lines, CURVE_STEPS)) {
        struct replay_counts n = replay_distances_misses(&c->distances, lines);
        json_t *o = json_object();
        put(o, "lines", count(lines));
        put(o, "bytes", count(lines * c->geometry.line_bytes));
        put_counts(o, &n);
        json_array_append_new(all, o);
        if (lines >= last)
            return all;
    }
}

static json_t *json_reuse(const struct cache_report *c)
{
    const struct replay_distances *d = &c->distances;
    json_t *o = json_object(), *lines = json_array(), *accesses = json_array();
    uint64_t bucket[65] = {0};
    distance_buckets(d, bucket);
    for (int i = 0; i < 64; i++) {
        json_array_append_new(lines, count(bucket[i]));
        json_array_append_new(accesses, count(d->between[i]));
    }
    put(o, "first_reads", count(d->first_reads));
    put(o, "distinct_lines", count(d->lines));
    put(o, "reads_by_lines_between", lines);
    put(o, "reads_by_accesses_between", accesses);
    return o;
}

static json_t *json_geometry(const struct replay_geometry *g)
{
    json_t *o = json_object();
    put(o, "size_bytes", count((uint64_t)g->sets * g->ways * g->line_bytes));
    put(o, "sets", count(g->sets));
    put(o, "ways", count(g->ways));
    put(o, "line_bytes", count(g->line_bytes));
    put(o, "index", json_string(trace_index_names[g->index]));
    return o;
}

bool cache_print_json(const struct cache_report *c)
{
    const struct trace_reader *t = c->trace;
    struct arena a = {0};
    struct instructions n = instructions_of(t);
    json_t *root = json_object();
    put(root, "trace", text(c->path));
    put(root, "program", text(t->header.program));
    put(root, "machine", text(t->header.machine));
    put(root, "cores", count(t->header.cores));
    put(root, "launches", count(t->kernel_count));
    put(root, "accesses", count(t->accesses));
    put(root, "warp_instructions", n.complete ? count(n.warp) : NULL);
    put(root, "thread_instructions", n.complete ? count(n.thread) : NULL);
    put(root, "truncated", json_boolean(t->truncated));
    put(root, "cache", json_geometry(&c->geometry));
    put(root, "run", n.complete ? json_run(t) : NULL);
    put(root, "policies", json_policies(c, &n));
    if (c->per_pc)
        put(root, "pcs", json_pcs(c, &a));
    if (c->curve)
        put(root, "curve", json_curve(c));
    if (c->reuse)
        put(root, "reuse", json_reuse(c));
    bool ok = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', stdout) != EOF;
    json_decref(root);
    arena_free(&a);
    return ok;
}
