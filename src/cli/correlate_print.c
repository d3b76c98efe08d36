/* A correlation on the terminal: how far off each counter is, and the kernels whose cycles are farthest off. */
#include "cli/correlate.h"

#include "cli/kernel_name.h"
#include "cli/text_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORST = 10, NAME_WIDTH = 30 };

/* "1 kernel", "2 kernels", "3 launches" */
static const char *counted(struct arena *a, double n, const char *what)
{
    bool hisses = what[strlen(what) - 1] == 'h';
    return arena_printf(a, "%.0f %s%s", n, what, n == 1 ? "" : hisses ? "es" : "s");
}

/* "12%", of points "3.1 points". */
static const char *error_text(struct arena *a, enum correlate_kind kind, double error)
{
    if (!isfinite(error))
        return "-";
    if (kind == CORRELATE_POINTS)
        return arena_printf(a, "%.1f points", error);
    return arena_printf(a, error < 0.0995 ? "%.1f%%" : "%.0f%%", 100 * error);
}

static void print_scores(struct arena *a, const struct correlate_score scores[CORRELATE_COMPARED], FILE *out)
{
    static const char *const titles[] = {"", ">kernels", ">mean error", ">median", ">correlation", ">", "within", NULL};
    struct text_table t = text_table_start(a, titles);
    for (int i = 0; i < CORRELATE_COMPARED; i++) {
        const struct correlate_score *s = &scores[i];
        const struct correlate_row *row = &correlate_rows[i];
        text_table_cell(&t, "%s", row->name);
        text_table_cell(&t, "%.0f", s->kernels);
        text_table_cell(&t, "%s", error_text(a, row->kind, s->mean));
        text_table_cell(&t, "%s", error_text(a, row->kind, s->median));
        if (isfinite(s->correlation))
            text_table_cell(&t, "%.3f", s->correlation);
        else
            text_table_cell(&t, "-");
        if (s->points)
            text_table_cell(&t, "%.0f%%", 100 * s->within);
        else
            text_table_cell(&t, "-");
        text_table_cell(&t, "%s", row->within);
    }
    text_table_print(&t, "  ", out);
    const struct correlate_score *cycles = &scores[COMPARED_CYCLES];
    if (cycles->points)
        fprintf(out, "  cycles more than 50%% off: %u of %u points (a kernel with one grid and block)\n", cycles->far,
                cycles->points);
}

static void print_worst(struct arena *a, const struct correlation *c, int half, FILE *out)
{
    static const char *const titles[] = {"program", "kernel",        ">launches",    ">silicon",
                                         ">ours",   ">ours/silicon", "likely cause", NULL};
    struct text_table t = text_table_start(a, titles);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < c->point_count && shown < WORST; i++) {
        const struct correlate_point *p = &c->points[i];
        char silicon[40], ours[40];
        if ((half != CORRELATE_HALVES && (int)p->half != half) || isnan(correlate_error(COMPARED_CYCLES, p)))
            continue;
        char *name = kernel_name(p->kernel, NAME_WIDTH);
        text_table_cell(&t, "%s%s%s", p->program, *p->size ? " " : "", p->size);
        text_table_cell(&t, "%s", name);
        text_table_cell(&t, "%u", p->launches);
        text_table_cell(&t, "%s", cli_grouped((unsigned long long)p->silicon[COUNT_CYCLES], silicon, sizeof silicon));
        text_table_cell(&t, "%s", cli_grouped((unsigned long long)p->ours[COUNT_CYCLES], ours, sizeof ours));
        text_table_cell(&t, "%.2f", p->ours[COUNT_CYCLES] / p->silicon[COUNT_CYCLES]);
        text_table_cell(&t, "%s", p->cause);
        free(name);
        shown++;
    }
    if (!shown)
        return;
    int columns = cli_columns(STDOUT_FILENO, 0);
    if (columns)
        text_table_cut(&t, columns - 2);
    fprintf(out, "\nCycles farthest off:\n");
    text_table_print(&t, "  ", out);
}

static uint32_t launches_of(const struct correlation *c)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < c->point_count; i++)
        sum += c->points[i].launches;
    return sum;
}

void correlate_print(const struct correlation *c, const struct correlate_request *q, uint32_t programs, FILE *out)
{
    bool apart = !q->half;
    int half = apart || !strcmp(q->half, "test") ? CORRELATE_TEST
               : !strcmp(q->half, "fit")         ? CORRELATE_FIT
                                                 : CORRELATE_HALVES;
    double kernels = c->halves[CORRELATE_FIT] + c->halves[CORRELATE_TEST];
    fprintf(out, "%s against silicon: %s of %s, %s, %s\n", q->machine, counted(q->arena, kernels, "kernel"),
            counted(q->arena, programs, "program"), counted(q->arena, c->point_count, "point"),
            counted(q->arena, launches_of(c), "launch"));
    for (uint32_t i = 0; i < c->note_count; i++)
        fprintf(out, "note: %s\n", c->notes[i]);
    if (half == CORRELATE_HALVES)
        fprintf(out, "\nBoth halves together:\n");
    else
        fprintf(out, "\nThe %s half: %s\n", half == CORRELATE_TEST ? "test" : "fitting",
                counted(q->arena, c->halves[half], "kernel"));
    print_scores(q->arena, c->scores[half], out);
    print_worst(q->arena, c, half, out);
    if (apart) {
        fprintf(out, "\nThe fitting half, apart: %s\n", counted(q->arena, c->halves[CORRELATE_FIT], "kernel"));
        print_scores(q->arena, c->scores[CORRELATE_FIT], out);
    }
}
