/* From the JSON of a run to a table: launches of one kernel are added up. */
#include "cli/summary.h"
#include "cli/cli.h"
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
    sum->launches++;
    sum->warp_instructions += number(kernel, "warp_instructions");
    sum->thread_instructions += number(kernel, "thread_instructions");
    sum->branches += number(branches, "executed");
    sum->divergent += number(branches, "divergent");
    sum->load_requests += number(json_object_get(kernel, "loads"), "requests");
    for (int i = 0; i < SUMMARY_LANES; i++)
        sum->lanes[i] += (uint64_t)json_integer_value(json_array_get(lanes, (size_t)i));
}

struct summary_counters summary_total(const json_t *stats)
{
    struct summary_counters sum = {0};
    size_t i;
    json_t *kernel;
    json_array_foreach(json_object_get(stats, "kernels"), i, kernel)
        summary_add(&sum, kernel);
    return sum;
}

double summary_host(const json_t *stats, const char *key)
{
    return json_number_value(json_object_get(json_object_get(stats, "host"), key));
}

static double percent(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0.0;
}

double summary_utilization(const struct summary_counters *c)
{
    return percent(c->thread_instructions, c->warp_instructions * WARP);
}

double summary_divergence(const struct summary_counters *c)
{
    return percent(c->divergent, c->branches);
}

const char *summary_lanes_bar(const struct summary_counters *c, bool utf8, char out[SUMMARY_BAR_BYTES])
{
    static const char *const blocks[] = {"\u00b7", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
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
    uint64_t x = ((const struct row *)a)->counters.warp_instructions, y = ((const struct row *)b)->counters.warp_instructions;
    return x < y ? 1 : x > y ? -1 : strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static size_t gather(const json_t *kernels, struct row *rows)
{
    size_t i, count = 0;
    json_t *kernel;
    json_array_foreach(kernels, i, kernel) {
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

static void put_row(struct text_table *t, const char *name, const struct summary_counters *c)
{
    char text[40];
    text_table_cell(t, "%s", name);
    text_table_cell(t, "%s", cli_grouped(c->launches, text, sizeof text));
    text_table_cell(t, "%s", cli_grouped(c->warp_instructions, text, sizeof text));
    text_table_cell(t, "%.1f%%", summary_utilization(c));
    text_table_cell(t, "%.1f%%", summary_divergence(c));
}

static void print_kernels(const json_t *stats, FILE *to)
{
    static const char *const titles[] = {"kernel", ">launches", ">warp instructions", ">SIMD utilization", ">divergent branches", NULL};
    const json_t *kernels = json_object_get(stats, "kernels");
    struct row *rows = calloc(json_array_size(kernels) + 1, sizeof *rows);
    struct arena a = {0};
    struct text_table t = text_table_start(&a, titles);
    if (!rows)
        abort();
    size_t count = gather(kernels, rows);
    qsort(rows, count, sizeof *rows, by_instructions);
    struct summary_counters rest = {0};
    for (size_t i = 0; i < count; i++) {
        if (i < MOST_ROWS || count == MOST_ROWS + 1) {
            put_row(&t, rows[i].name, &rows[i].counters);
            continue;
        }
        rest.launches += rows[i].counters.launches;
        rest.warp_instructions += rows[i].counters.warp_instructions;
        rest.thread_instructions += rows[i].counters.thread_instructions;
        rest.branches += rows[i].counters.branches;
        rest.divergent += rows[i].counters.divergent;
    }
    if (rest.launches)
        put_row(&t, "(others)", &rest);
    if (count > 1) {
        struct summary_counters total = summary_total(stats);
        put_row(&t, "total", &total);
    }
    text_table_print(&t, "  ", to);
    arena_free(&a);
    free(rows);
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
    fprintf(to, "\n  %.2f s, of which %.2f s in kernels: %s kWI/s (thousand warp instructions a second)\n", r->wall_seconds,
            summary_host(r->stats, "launch_seconds"), cli_grouped((unsigned long long)(summary_host(r->stats, "kwips") + 0.5), rate, sizeof rate));
}
