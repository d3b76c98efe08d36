/* heddle compare, on a terminal: sentences first, then the tables that they rest on. */
#include "cli/compare_print.h"

#include "cli/cli.h"
#include "cli/kernel_name.h"
#include "cli/text_table.h"
#include "results/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_METRICS = 12, MOST_KERNELS = 8, MOST_LINES = 10, WIDTH = 100, NAME = 44 };

/* ------------------------------------------------------------- numbers */

static const char *count(struct arena *a, double value)
{
    char text[40];
    if (isnan(value))
        return "-";
    return arena_printf(a, "%s%s", value <= -0.5 ? "-" : "",
                        cli_grouped((unsigned long long)floor(fabs(value) + 0.5), text, sizeof text));
}

static const char *signed_count(struct arena *a, double value)
{
    return arena_printf(a, "%s%s", value >= 0.5 ? "+" : "", count(a, value));
}

/* Whole, or with three digits. */
static const char *number(struct arena *a, double value)
{
    return value == floor(value) || fabs(value) >= 1000 ? count(a, value) : arena_printf(a, "%.3g", value);
}

static const char *share(struct arena *a, double part, double whole)
{
    double percent = whole != 0 ? 100 * part / whole : NAN;
    return isnan(percent) ? "" : arena_printf(a, "%.1f%%", fabs(percent) < 0.05 ? 0 : percent);
}

static const char *change(struct arena *a, double from, double to)
{
    if (from == to)
        return "";
    if (from == 0)
        return "new";
    double ratio = to / from;
    if (fabs(ratio - 1) < 0.0005)
        return "0.0%";
    return ratio >= 10 ? arena_printf(a, "x%s", count(a, ratio)) : arena_printf(a, "%+.1f%%", 100 * (ratio - 1));
}

static const char *shortened(struct arena *a, const char *text, size_t most)
{
    return strlen(text) <= most ? text : arena_printf(a, "%.*s...", (int)most - 3, text);
}

static const char *name_of(struct arena *a, const char *kernel, size_t width)
{
    char *name = kernel_name(kernel, width);
    const char *copy = arena_printf(a, "%s", name);
    free(name);
    return copy;
}

/* Words, broken into lines. */
static void print_folded(const char *text, FILE *to)
{
    size_t column = 0;
    while (*text) {
        size_t bytes = strcspn(text, " ");
        if (column && column + 1 + bytes > WIDTH) {
            fputc('\n', to);
            column = 0;
        }
        fprintf(to, "%s%.*s", column ? " " : "", (int)bytes, text);
        column += bytes + (column > 0);
        text += bytes + (text[bytes] == ' ');
    }
    fputc('\n', to);
}

/* ------------------------------------------------------------- tables */

struct printing {
    const struct comparison *c;
    struct arena *arena;
    FILE *to;
    const char *a, *b; /* titles of the two columns */
};

/* What both runs have in common, and how each is called. */
static void print_runs(const struct printing *p)
{
    const struct compare_run *runs[] = {p->c->a, p->c->b};
    static const char *const titles[] = {"", "", ">cycles", "machine", "scheduler", "L1", "divergence", "from", NULL};
    struct text_table t = text_table_start(p->arena, titles);
    for (int i = 0; i < 2; i++) {
        const struct compare_run *r = runs[i];
        text_table_cell(&t, "%c", "AB"[i]);
        text_table_cell(&t, "%s", strcmp(r->label, i ? "B" : "A") ? r->label : r->program);
        text_table_cell(&t, "%s", count(p->arena, compare_value(r, "cycles")));
        text_table_cell(&t, "%s", r->machine);
        text_table_cell(&t, "%s", shortened(p->arena, r->scheduler, NAME));
        text_table_cell(&t, "%s", shortened(p->arena, r->l1, NAME));
        text_table_cell(&t, "%s", shortened(p->arena, r->divergence, NAME));
        text_table_cell(&t, "%s", r->from);
    }
    fprintf(p->to, "%s%s%s\n", p->c->a->program, *p->c->a->arguments ? " " : "", p->c->a->arguments);
    text_table_print(&t, "  ", p->to);
}

static int by_difference(const void *a, const void *b)
{
    const double *x = *(const double *const *)a, *y = *(const double *const *)b;
    double dx = fabs(x[1] - x[0]), dy = fabs(y[1] - y[0]);
    return dx != dy ? (dx < dy) - (dx > dy) : (x > y) - (x < y);
}

static void print_parts(const struct printing *p)
{
    const char *const titles[] = {"cycles spent",
                                  arena_printf(p->arena, ">%s", p->a),
                                  arena_printf(p->arena, ">%s", p->b),
                                  ">difference",
                                  ">share of it",
                                  NULL};
    struct text_table t = text_table_start(p->arena, titles);
    double spent[COMPARE_PARTS][2], *order[COMPARE_PARTS];
    double a = compare_value(p->c->a, "cycles"), b = compare_value(p->c->b, "cycles");
    for (int i = 0; i < COMPARE_PARTS; i++) {
        spent[i][0] = p->c->a->spent[i];
        spent[i][1] = p->c->b->spent[i];
        order[i] = spent[i];
    }
    qsort(order, COMPARE_PARTS, sizeof *order, by_difference);
    for (int i = 0; i <= COMPARE_PARTS; i++) {
        const double total[2] = {a, b}, *row = i < COMPARE_PARTS ? order[i] : total;
        if (i < COMPARE_PARTS && row[0] == 0 && row[1] == 0)
            continue;
        text_table_cell(&t, "%s", i < COMPARE_PARTS ? compare_parts[(row - spent[0]) / 2].title : "all");
        text_table_cell(&t, "%s", count(p->arena, row[0]));
        text_table_cell(&t, "%s", count(p->arena, row[1]));
        text_table_cell(&t, "%s", signed_count(p->arena, row[1] - row[0]));
        text_table_cell(&t, "%s", share(p->arena, row[1] - row[0], b - a));
    }
    fputs("\nWhere the cycles went: issue slots as cycles; the waits in them by what warps waited for. The parts add "
          "up.\n",
          p->to);
    text_table_print(&t, "  ", p->to);
}

static void print_stalls(const struct printing *p)
{
    const char *const titles[] = {"warp cycles", arena_printf(p->arena, ">%s", p->a),
                                  ">share",      arena_printf(p->arena, ">%s", p->b),
                                  ">share",      ">change",
                                  NULL};
    struct text_table t = text_table_start(p->arena, titles);
    double all[2] = {0, 0};
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < result_metric_count; i++) {
            double a = p->c->a->values[i], b = p->c->b->values[i];
            if (!compare_uses(i) || strncmp(result_metrics[i].name, "stalls.", 7) || !(a > 0 || b > 0))
                continue;
            if (!pass) {
                all[0] += a;
                all[1] += b;
                continue;
            }
            text_table_cell(&t, "%s", result_metrics[i].name + 7);
            text_table_cell(&t, "%s", count(p->arena, a));
            text_table_cell(&t, "%s", share(p->arena, a, all[0]));
            text_table_cell(&t, "%s", count(p->arena, b));
            text_table_cell(&t, "%s", share(p->arena, b, all[1]));
            text_table_cell(&t, "%s", change(p->arena, a, b));
        }
    fputs("\nWhat warps did with their cycles\n", p->to);
    text_table_print(&t, "  ", p->to);
}

static void print_metrics(const struct printing *p)
{
    const char *const titles[] = {
        "metric", arena_printf(p->arena, ">%s", p->a), arena_printf(p->arena, ">%s", p->b), ">change", "unit", NULL};
    struct text_table t = text_table_start(p->arena, titles);
    for (uint32_t i = 0; i < p->c->metric_count && i < MOST_METRICS; i++) {
        const struct compare_metric *m = &p->c->metrics[i];
        text_table_cell(&t, "%s", m->name);
        text_table_cell(&t, "%s", number(p->arena, m->a));
        text_table_cell(&t, "%s", number(p->arena, m->b));
        text_table_cell(&t, "%s", change(p->arena, m->a, m->b));
        text_table_cell(&t, "%s", m->unit);
    }
    if (!p->c->metric_count)
        return;
    fputs("\nOther counters, by relative change; they carry no cycles by themselves\n", p->to);
    text_table_print(&t, "  ", p->to);
    if (p->c->metric_count > MOST_METRICS)
        fprintf(p->to, "  and %u more (--json FILE has all)\n", p->c->metric_count - MOST_METRICS);
}

static void print_kernels(const struct printing *p)
{
    const char *const titles[] = {"kernel",
                                  ">launches",
                                  arena_printf(p->arena, ">%s", p->a),
                                  arena_printf(p->arena, ">%s", p->b),
                                  ">difference",
                                  ">share of it",
                                  "moved most",
                                  NULL};
    struct text_table t = text_table_start(p->arena, titles);
    double all = compare_value(p->c->b, "cycles") - compare_value(p->c->a, "cycles");
    for (uint32_t i = 0; i < p->c->kernel_count && i < MOST_KERNELS; i++) {
        const struct compare_kernel *k = &p->c->kernels[i];
        const char *only =
            k->only_a || k->only_b
                ? arena_printf(p->arena, "; %u only in %s", k->only_a ? k->only_a : k->only_b, k->only_a ? p->a : p->b)
                : "";
        text_table_cell(&t, "%s", name_of(p->arena, k->name, NAME));
        text_table_cell(&t, "%u", k->launches);
        text_table_cell(&t, "%s", count(p->arena, k->a));
        text_table_cell(&t, "%s", count(p->arena, k->b));
        text_table_cell(&t, "%s", signed_count(p->arena, k->b - k->a));
        text_table_cell(&t, "%s", share(p->arena, k->b - k->a, all));
        text_table_cell(&t, "%s%s",
                        k->launches > 1 ? arena_printf(p->arena, "launch %u: %s", k->most + 1,
                                                       signed_count(p->arena, k->most_b - k->most_a))
                                        : "",
                        k->launches > 1 ? only
                        : *only         ? only + 2
                                        : "");
    }
    if (!p->c->kernel_count)
        return;
    fputs("\nKernels that moved most, in cycles\n", p->to);
    text_table_print(&t, "  ", p->to);
}

static void print_lines(const struct printing *p)
{
    const char *const titles[] = {"kernel",
                                  ">line",
                                  "instruction",
                                  arena_printf(p->arena, ">%s", p->a),
                                  arena_printf(p->arena, ">%s", p->b),
                                  ">difference",
                                  "mostly for",
                                  arena_printf(p->arena, ">L1 misses %s", p->a),
                                  arena_printf(p->arena, ">%s", p->b),
                                  "source",
                                  NULL};
    struct text_table t = text_table_start(p->arena, titles);
    for (uint32_t i = 0; i < p->c->line_count && i < MOST_LINES; i++) {
        const struct compare_instruction *a = p->c->lines[i].a, *b = p->c->lines[i].b;
        bool memory = a->misses > 0 || b->misses > 0;
        text_table_cell(&t, "%s", name_of(p->arena, a->kernel, NAME / 2));
        text_table_cell(&t, "%lld", (long long)a->line);
        text_table_cell(&t, "%s", shortened(p->arena, a->text, NAME));
        text_table_cell(&t, "%s", count(p->arena, a->stalled));
        text_table_cell(&t, "%s", count(p->arena, b->stalled));
        text_table_cell(&t, "%s", signed_count(p->arena, b->stalled - a->stalled));
        text_table_cell(&t, "%s", compare_line_reason(&p->c->lines[i]));
        text_table_cell(&t, "%s", memory ? count(p->arena, a->misses) : "");
        text_table_cell(&t, "%s", memory ? count(p->arena, b->misses) : "");
        text_table_cell(&t, "%s", a->source);
    }
    if (!p->c->line_count)
        return;
    fputs("\nInstructions that moved most, in warp cycles: a wait is counted where the value is needed, not at the "
          "load\n",
          p->to);
    text_table_print(&t, "  ", p->to);
}

void compare_print(const struct comparison *c, FILE *to)
{
    struct arena a = {0};
    struct printing p = {.c = c, .arena = &a, .to = to, .a = c->a->label, .b = c->b->label};
    print_runs(&p);
    fputc('\n', to);
    const char *all = "";
    for (uint32_t i = 0; i < c->sentence_count; i++)
        all = arena_printf(&a, "%s%s%s", all, i ? " " : "", c->sentences[i].text);
    print_folded(all, to);
    for (uint32_t i = 0; i < c->note_count; i++)
        print_folded(arena_printf(&a, "Note: %s", c->notes[i]), to);
    if (!c->same) {
        print_parts(&p);
        print_stalls(&p);
        print_metrics(&p);
        print_kernels(&p);
        print_lines(&p);
    }
    arena_free(&a);
}
