/* A correlation on the terminal: how far off each counter is, and the kernels whose cycles are farthest off. */
#include "cli/correlate.h"

#include "cli/kernel_name.h"
#include "cli/text_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORST = 10, NAME_WIDTH = 30 };

static const char *plural(uint32_t n) { return n == 1 ? "" : "s"; }

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
        text_table_cell(&t, "%u", s->count);
        text_table_cell(&t, "%s", error_text(a, row->kind, s->mean));
        text_table_cell(&t, "%s", error_text(a, row->kind, s->median));
        if (isfinite(s->correlation))
            text_table_cell(&t, "%.3f", s->correlation);
        else
            text_table_cell(&t, "-");
        if (s->count)
            text_table_cell(&t, "%.0f%%", 100.0 * s->within / s->count);
        else
            text_table_cell(&t, "-");
        text_table_cell(&t, "%s", row->within);
    }
    text_table_print(&t, "  ", out);
    const struct correlate_score *cycles = &scores[COMPARED_CYCLES];
    if (cycles->count)
        fprintf(out, "  %u of %u kernel%s: cycles more than 50%% off\n", cycles->far, cycles->count,
                plural(cycles->count));
}

/* "x1.50", "x0.66": ours over silicon's. */
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
    fprintf(out, "%s against silicon: %u kernel%s (%u launch%s) of %u program%s\n", q->machine, c->point_count,
            plural(c->point_count), launches_of(c), launches_of(c) == 1 ? "" : "es", programs, plural(programs));
    for (uint32_t i = 0; i < c->note_count; i++)
        fprintf(out, "note: %s\n", c->notes[i]);
    if (half == CORRELATE_HALVES)
        fprintf(out, "\nBoth halves together:\n");
    else
        fprintf(out, "\nThe %s half: %u kernel%s\n", half == CORRELATE_TEST ? "test" : "fitting", c->halves[half],
                plural(c->halves[half]));
    print_scores(q->arena, c->scores[half], out);
    print_worst(q->arena, c, half, out);
    if (apart) {
        fprintf(out, "\nThe fitting half, apart: %u kernel%s\n", c->halves[CORRELATE_FIT],
                plural(c->halves[CORRELATE_FIT]));
        print_scores(q->arena, c->scores[CORRELATE_FIT], out);
    }
}
