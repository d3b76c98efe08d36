/* The verdict on a figure: deviation from the published values, directions, rankings, and whether what the paper says
 * of it holds here. */
#include "experiment/figure_layout.h"
#include "figure/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double close_enough = 0.02; /* what counts as equal */

static bool has_both(const struct figure_cell *c)
{
    return !isnan(c->value) && !isnan(c->published) && c->published != 0;
}

static bool near(double a, double b) { return a == b || fabs(a / b - 1) <= close_enough; }

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double figure_median(double *numbers, uint32_t count)
{
    qsort(numbers, count, sizeof *numbers, by_size);
    return !count ? NAN : count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

static bool names_it(const struct figure_data *d, const char *axis_name, const char *label)
{
    int axis = axis_name ? lab_axis_by_name(axis_name, strlen(axis_name)) : -1;
    return axis >= 0 && d->figure->normalise.labels[axis] && strcmp(d->figure->normalise.labels[axis], label) == 0;
}

/* What others are divided by is 1 in both, and says nothing. */
static bool is_base(const struct figure_data *d, const struct figure_cell *c)
{
    return names_it(d, d->figure->series, d->series[c->series]) || names_it(d, d->figure->x, d->xs[c->x]);
}

static void judge_direction(const struct figure_data *d, const struct figure_cell *c, struct figure_verdict *out)
{
    if (!d->figure->has_normalise || d->figure->kind == FIGURE_STACKED || is_base(d, c))
        return; /* parts of a bar are not compared with 1 */
    out->directions++;
    out->directions_held += (c->value > 1 && c->published > 1) || (c->value < 1 && c->published < 1) ||
                            (near(c->value, 1) && near(c->published, 1));
}

/* Cells of one x are neighbours. */
static void judge_rankings(const struct figure_data *d, uint32_t i, struct figure_verdict *out)
{
    const struct figure_cell *a = &d->cells[i];
    for (uint32_t n = i + 1; n < d->cell_count && d->cells[n].x == a->x; n++) {
        const struct figure_cell *b = &d->cells[n];
        if (!has_both(b) || near(a->published, b->published))
            continue;
        out->rankings++;
        out->rankings_held += a->published > b->published ? a->value > b->value : a->value < b->value;
    }
}

void figure_judge(const struct figure_data *d, struct figure_verdict *out)
{
    double *deviations = malloc((d->cell_count + 1) * sizeof *deviations);
    *out = (struct figure_verdict){.median_deviation = NAN};
    for (uint32_t i = 0; i < d->cell_count; i++) {
        const struct figure_cell *c = &d->cells[i];
        if (!has_both(c))
            continue;
        if (deviations)
            deviations[out->compared] = fabs(c->value / c->published - 1);
        out->compared++;
        judge_direction(d, c, out);
        judge_rankings(d, i, out);
    }
    if (deviations)
        out->median_deviation = figure_median(deviations, out->compared);
    free(deviations);
    for (uint32_t i = 0; i < d->figure->expected_count; i++) {
        int held = figure_expectation(d, d->figure->expected[i]);
        out->expected += held >= 0;
        out->expected_held += held > 0;
    }
}

/* Bars of several expressions are series, with an axis or without. */
static bool has_series(const struct lab_figure *f) { return f->series || (f->kind == FIGURE_BARS && f->y_count > 1); }

/* The value of a side at an x. Its label is a series'; a part's in a stacked figure without series; an x's where there
 * is neither, and then x is not asked. NAN: no data, or no such label. */
static double side_value(const struct figure_data *d, const struct figure_side *side, uint32_t x)
{
    const struct lab_figure *f = d->figure;
    bool parts = f->kind == FIGURE_STACKED && !f->series;
    if (!side->label.length)
        return side->factor;
    for (uint32_t i = 0; i < d->cell_count; i++) {
        const struct figure_cell *c = &d->cells[i];
        const char *label = parts ? f->y_labels[c->part] : has_series(f) ? d->series[c->series] : d->xs[c->x];
        if ((c->x == x || (!parts && !has_series(f))) && c->part == (parts ? c->part : 0) &&
            lab_word_is(side->label, label))
            return side->factor * c->value;
    }
    return NAN;
}

static int relation_holds(double a, const char *relation, double b)
{
    if (isnan(a) || isnan(b))
        return -1;
    switch (relation[0]) {
    case '>': return relation[1] ? a >= b : a > b;
    case '<': return relation[1] ? a <= b : a < b;
    default: return near(a, b);
    }
}

/* The weaker of two answers: no, cannot be said, yes. */
static int both(int a, int b) { return a == 0 || b == 0 ? 0 : a < 0 || b < 0 ? -1 : 1; }

static int holds_at(const struct figure_data *d, const struct figure_claim *claim, uint32_t x)
{
    int all = 1;
    for (uint32_t i = 0; i + 1 < claim->count; i++)
        all = both(all, relation_holds(side_value(d, &claim->sides[i], x), claim->relation[i],
                                       side_value(d, &claim->sides[i + 1], x)));
    return all;
}

/* Does it hold at so many x as it claims? The mean is none of them. */
static int holds_often(const struct figure_data *d, const struct figure_claim *claim, uint32_t x_count)
{
    uint32_t held = 0, unknown = 0;
    for (uint32_t x = 0; x < x_count; x++) {
        int here = holds_at(d, claim, x);
        held += here > 0;
        unknown += here < 0;
    }
    return held >= claim->at_least ? 1 : held + unknown >= claim->at_least ? -1 : 0;
}

int figure_expectation(const struct figure_data *d, const char *expected)
{
    const struct lab_figure *f = d->figure;
    struct figure_claim claim;
    const char *at;
    bool beside = has_series(f) || f->kind == FIGURE_STACKED; /* else xs are compared with each other, once */
    if (!d->x_count || f->kind == FIGURE_SCATTER ||
        figure_claim_read(&claim, (struct lab_word){expected, strlen(expected)}, &at))
        return -1;
    bool at_mean = f->mean != MEAN_NONE && strcmp(d->xs[d->x_count - 1], "mean") == 0;
    if (claim.at_least)
        return holds_often(d, &claim, d->x_count - at_mean);
    if (at_mean || !beside)
        return holds_at(d, &claim, d->x_count - 1);
    int all = 1;
    for (uint32_t x = 0; x < d->x_count; x++)
        all = both(all, holds_at(d, &claim, x));
    return all;
}
