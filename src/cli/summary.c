/* From the JSON of a run to a table: launches of one kernel are added up. With time, columns for it stand beside those
 * of functional mode. */
#include "cli/summary.h"
#include "base/out_of_memory.h"
#include "cli/cli.h"
#include "cli/kernel_name.h"
#include "cli/text_table.h"

#include <stdlib.h>
#include <string.h>

enum { WARP = 32, MOST_ROWS = 20 };

static uint64_t number(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

void summary_add(struct summary_counters *sum, const json_t *kernel)
{
    const json_t *branches = json_object_get(kernel, "branches"), *lanes = json_object_get(kernel, "lanes");
    sum->launches += json_object_get(kernel, "launches") ? number(kernel, "launches") : 1;
    sum->warp_instructions += number(kernel, "warp_instructions");
    sum->thread_instructions += number(kernel, "thread_instructions");
    sum->branches += number(branches, "executed");
    sum->divergent += number(branches, "divergent");
    sum->load_requests += number(json_object_get(kernel, "loads"), "requests");
    sum->cycles += number(kernel, "cycles");
    sum->l1d_accesses += number(json_object_get(kernel, "l1d"), "accesses");
    sum->l1d_misses += number(json_object_get(kernel, "l1d"), "misses");
    sum->l2_accesses += number(json_object_get(kernel, "l2"), "accesses");
    sum->l2_misses += number(json_object_get(kernel, "l2"), "misses");
    sum->partial |= json_is_true(json_object_get(kernel, "partial"));
    for (int i = 0; i < SUMMARY_LANES; i++)
        sum->lanes[i] += (uint64_t)json_integer_value(json_array_get(lanes, (size_t)i));
}

struct summary_counters summary_total(const json_t *stats)
{
    struct summary_counters sum = {0};
    size_t i;
    json_t *kernel;
    json_array_foreach(json_object_get(stats, "kernels"), i, kernel) summary_add(&sum, kernel);
    return sum;
}

double summary_host(const json_t *stats, const char *key)
{
    return json_number_value(json_object_get(json_object_get(stats, "host"), key));
}

static double percent(uint64_t part, uint64_t of) { return of ? 100.0 * (double)part / (double)of : 0.0; }

double summary_utilization(const struct summary_counters *c)
{
    return percent(c->thread_instructions, c->warp_instructions * WARP);
}

double summary_divergence(const struct summary_counters *c) { return percent(c->divergent, c->branches); }

double summary_ipc(const struct summary_counters *c)
{
    return c->cycles ? (double)c->thread_instructions / (double)c->cycles : 0.0;
}

const char *summary_lanes_bar(const struct summary_counters *c, bool utf8, char out[SUMMARY_BAR_BYTES])
{
    static const char *const blocks[] = {"\u00b7", "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const ascii[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    enum { STEPS = 8, GROUPS = WARP / 2 };
    uint64_t groups[GROUPS] = {0}, most = 1;
    for (int i = 1; i <= WARP; i++)
        groups[(i - 1) / 2] += c->lanes[i];
    for (int i = 0; i < GROUPS; i++)
        most = groups[i] > most ? groups[i] : most;
    out[0] = '\0';
    for (int i = 0; i < GROUPS; i++) {
        uint64_t step = groups[i] ? 1 + (uint64_t)((double)groups[i] * (STEPS - 1) / (double)most + 0.5) : 0;
        strcat(out, (utf8 ? blocks : ascii)[step > STEPS ? STEPS : step]);
    }
    return out;
}

struct row {
    const char *name;
    struct summary_counters counters;
};

static int by_instructions(const void *a, const void *b)
{
    uint64_t x = ((const struct row *)a)->counters.warp_instructions,
             y = ((const struct row *)b)->counters.warp_instructions;
    return x < y ? 1 : x > y ? -1 : strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static size_t gather(const json_t *kernels, struct row *rows)
{
    size_t i, count = 0;
    json_t *kernel;
    json_array_foreach(kernels, i, kernel)
    {
        const char *name = json_string_value(json_object_get(kernel, "name"));
        size_t at = 0;
        while (at < count && strcmp(rows[at].name, name ? name : "?"))
            at++;
        if (at == count)
            rows[count++] = (struct row){.name = name ? name : "?"};
        summary_add(&rows[at].counters, kernel);
    }
    return count;
}

static void put_row(struct text_table *t, const char *name, const struct summary_counters *c, bool timed)
{
    char text[40];
    text_table_cell(t, "%s%s", name, c->partial ? " (not to its end)" : "");
    text_table_cell(t, "%s", cli_grouped(c->launches, text, sizeof text));
    if (timed) {
        text_table_cell(t, "%s", cli_grouped(c->cycles, text, sizeof text));
        text_table_cell(t, "%.2f", summary_ipc(c));
    }
    text_table_cell(t, "%s", cli_grouped(c->warp_instructions, text, sizeof text));
    text_table_cell(t, "%.1f%%", summary_utilization(c));
    text_table_cell(t, "%.1f%%", summary_divergence(c));
    if (timed) {
        text_table_cell(t, "%.1f%%", percent(c->l1d_misses, c->l1d_accesses));
        text_table_cell(t, "%.1f%%", percent(c->l2_misses, c->l2_accesses));
    }
}

static void add_counters(struct summary_counters *sum, const struct summary_counters *c)
{
    sum->launches += c->launches;
    sum->warp_instructions += c->warp_instructions;
    sum->thread_instructions += c->thread_instructions;
    sum->branches += c->branches;
    sum->divergent += c->divergent;
    sum->cycles += c->cycles;
    sum->l1d_accesses += c->l1d_accesses;
    sum->l1d_misses += c->l1d_misses;
    sum->l2_accesses += c->l2_accesses;
    sum->l2_misses += c->l2_misses;
    sum->partial |= c->partial;
}

/* What the columns after the name take. */
enum { OTHER_COLUMNS = 92, NAME_LEAST = 24, NAME_MOST = 60 };

static size_t name_width(FILE *to)
{
    int columns = cli_columns(fileno(to), OTHER_COLUMNS + NAME_MOST);
    return (size_t)(columns < OTHER_COLUMNS + NAME_LEAST ? NAME_LEAST : columns - OTHER_COLUMNS);
}

static void put_kernel(struct text_table *t, const struct row *row, size_t width, bool timed)
{
    char *name = kernel_name(row->name, width);
    put_row(t, name, &row->counters, timed);
    free(name);
}

static void print_kernels(const json_t *stats, FILE *to)
{
    static const char *const functional[] = {
        "kernel", ">launches", ">warp instructions", ">SIMD utilization", ">divergent branches", NULL};
    static const char *const with_time[] = {
        "kernel",    ">launches",  ">cycles",     ">IPC",       ">warp instructions",
        ">SIMD use", ">divergent", ">L1D misses", ">L2 misses", NULL};
    bool timed = json_is_false(json_object_get(stats, "functional"));
    const json_t *kernels = json_object_get(stats, "kernels");
    struct row *rows = calloc(json_array_size(kernels) + 1, sizeof *rows);
    struct arena a = {0};
    struct text_table t = text_table_start(&a, timed ? with_time : functional);
    if (!rows)
        out_of_memory();
    size_t count = gather(kernels, rows);
    qsort(rows, count, sizeof *rows, by_instructions);
    struct summary_counters rest = {0};
    for (size_t i = 0; i < count; i++) {
        if (i < MOST_ROWS || count == MOST_ROWS + 1) {
            put_kernel(&t, &rows[i], name_width(to), timed);
            continue;
        }
        add_counters(&rest, &rows[i].counters);
    }
    if (rest.launches)
        put_row(&t, "(others)", &rest, timed);
    if (count > 1) {
        struct summary_counters total = summary_total(stats);
        put_row(&t, "total", &total, timed);
    }
    text_table_print(&t, "  ", to);
    arena_free(&a);
    free(rows);
}

/* ------------------------------------------------------------- waiting */

struct share {
    const char *name;
    double percent;
};

static int larger_first(const void *a, const void *b)
{
    double x = ((const struct share *)a)->percent, y = ((const struct share *)b)->percent;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Where the cycles of the warps went, the three largest reasons first. */
static void print_stalls(const json_t *stats, FILE *to)
{
    enum { MOST_REASONS = 32, SHOWN = 3 };
    struct share reasons[MOST_REASONS];
    int count = 0;
    double sum = 0, issued = 0;
    const char *name;
    json_t *value, *stalls = json_object_get(json_object_get(stats, "total"), "stalls");
    json_object_foreach(stalls, name, value)
    {
        if (!json_is_integer(value) || count == MOST_REASONS)
            continue;
        sum += json_number_value(value);
        if (!strcmp(name, "issued"))
            issued = json_number_value(value);
        else
            reasons[count++] = (struct share){name, json_number_value(value)};
    }
    if (sum == 0)
        return;
    qsort(reasons, (size_t)count, sizeof *reasons, larger_first);
    fprintf(to, "  warps issued in %.1f%% of their cycles", 100 * issued / sum);
    for (int i = 0; i < SHOWN && i < count && reasons[i].percent > 0; i++)
        fprintf(to, "%s %s %.1f%%", i ? "," : "; they waited most for", reasons[i].name,
                100 * reasons[i].percent / sum);
    fputc('\n', to);
}

static const char *word(const json_t *stats, const char *key)
{
    const char *s = json_string_value(json_object_get(stats, key));
    return s ? s : "?";
}

/* What the numbers are of. */
static void print_setup(const json_t *stats, FILE *to)
{
    if (json_is_false(json_object_get(stats, "functional")))
        fprintf(to, "  machine %s, scheduler %s, L1 policy %s, divergence unit %s\n",
                word(json_object_get(stats, "machine"), "name"), word(stats, "scheduler"), word(stats, "l1"),
                word(stats, "divergence"));
}

/* --sample */
static void print_estimate(const json_t *stats, FILE *to)
{
    const json_t *total = json_object_get(stats, "total"), *x = json_object_get(total, "estimate");
    char timed[40], all[40];
    if (!x)
        return;
    double cycles = json_number_value(json_object_get(total, "cycles"));
    double high = json_number_value(json_object_get(x, "cycles_high"));
    fprintf(to, "  cycles are estimated: %s of %s warp instructions were timed", //
            cli_grouped((unsigned long long)json_integer_value(json_object_get(x, "timed_instructions")), timed,
                        sizeof timed),
            cli_grouped((unsigned long long)json_integer_value(json_object_get(x, "instructions")), all, sizeof all));
    fprintf(to, " in launches of which a part was; 95%% interval of the total: +-%.1f%%\n", 100 * (high / cycles - 1));
}

void summary_print(const struct child_result *r, FILE *to)
{
    struct summary_counters total = summary_total(r->stats);
    char rate[40];
    if (!total.launches) {
        fprintf(to, "heddle: no kernel was launched (%.2f s)\n", r->wall_seconds);
        return;
    }
    fputc('\n', to);
    print_kernels(r->stats, to);
    fputc('\n', to);
    print_setup(r->stats, to);
    print_estimate(r->stats, to);
    print_stalls(r->stats, to);
    fprintf(to, "  %.2f s, of which %.2f s in kernels: %s kWI/s (thousand warp instructions per second)\n",
            r->wall_seconds, summary_host(r->stats, "launch_seconds"),
            cli_grouped((unsigned long long)(summary_host(r->stats, "kwips") + 0.5), rate, sizeof rate));
}
