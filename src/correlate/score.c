/* How far our values are from silicon's: of each point, and of all together. */
#include "correlate/correlate.h"

#include "base/out_of_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double far_off = 0.5;

const struct correlate_row correlate_rows[CORRELATE_COMPARED] = {
#define COMPARED(id, name, title, kind, bound, within, value) {name, title, within, CORRELATE_##kind, bound},
#include "correlate/counts.def"
};

double correlate_value(enum correlate_compared what, const double c[CORRELATE_COUNTS])
{
    double value = NAN;
    switch (what) {
#define COMPARED(id, name, title, kind, bound, within, expression) \
    case COMPARED_##id:                                            \
        value = expression;                                        \
        break;
#include "correlate/counts.def"
    case CORRELATE_COMPARED: break;
    }
    return isfinite(value) ? value : NAN;
}

double correlate_error(enum correlate_compared what, const struct correlate_point *p)
{
    double silicon = correlate_value(what, p->silicon), ours = correlate_value(what, p->ours);
    if (isnan(silicon) || isnan(ours))
        return NAN;
    if (correlate_rows[what].kind == CORRELATE_POINTS)
        return 100 * fabs(ours - silicon);
    return ours == silicon ? 0 : fabs(ours - silicon) / silicon;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Pearson's, of pairs. */
struct sums {
    double n, x, y, xx, yy, xy;
};
static void add_pair(struct sums *s, double x, double y)
{
    s->n++;
    s->x += x;
    s->y += y;
    s->xx += x * x;
    s->yy += y * y;
    s->xy += x * y;
}
static double correlation_of(const struct sums *s)
{
    double x = s->n * s->xx - s->x * s->x, y = s->n * s->yy - s->y * s->y;
    return s->n < 3 || x <= 0 || y <= 0 ? NAN : (s->n * s->xy - s->x * s->y) / sqrt(x * y);
}

/* half: CORRELATE_HALVES for all points. errors: room for one per point. */
static struct correlate_score score(const struct correlation *c, enum correlate_compared what, int half, double *errors)
{
    struct correlate_score s = {.mean = NAN, .median = NAN, .most = NAN};
    struct sums sums = {0};
    double sum = 0;
    for (uint32_t i = 0; i < c->point_count; i++) {
        const struct correlate_point *p = &c->points[i];
        double error = correlate_error(what, p);
        if ((half != CORRELATE_HALVES && (int)p->half != half) || isnan(error))
            continue;
        double x = correlate_value(what, p->silicon), y = correlate_value(what, p->ours);
        s.count++;
        s.within += error <= correlate_rows[what].bound;
        s.far += error > far_off;
        if (correlate_rows[what].kind == CORRELATE_POINTS)
            add_pair(&sums, x, y);
        else if (x > 0 && y > 0)
            add_pair(&sums, log(x), log(y));
        if (isfinite(error)) {
            errors[s.finite++] = error;
            sum += error;
        }
    }
    s.correlation = correlation_of(&sums);
    if (!s.finite)
        return s;
    qsort(errors, s.finite, sizeof *errors, ascending);
    s.mean = sum / s.finite;
    s.median = (errors[(s.finite - 1) / 2] + errors[s.finite / 2]) / 2;
    s.most = errors[s.finite - 1];
    return s;
}

/* By how many times the cycles differ, in either direction, the most first. */
static double times_off(const struct correlate_point *p)
{
    return fabs(log(p->ours[COUNT_CYCLES] / p->silicon[COUNT_CYCLES]));
}
static int worst_first(const void *a, const void *b)
{
    const struct correlate_point *p = a, *q = b;
    double x = times_off(p), y = times_off(q);
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    int order = (x < y) - (x > y);
    order = order ? order : strcmp(p->program, q->program);
    return order ? order : strcmp(p->kernel, q->kernel);
}

void correlate_finish(struct correlation *c)
{
    double *errors = malloc((c->point_count + 1) * sizeof *errors);
    if (!errors)
        out_of_memory();
    if (c->point_count)
        qsort(c->points, c->point_count, sizeof *c->points, worst_first);
    memset(c->halves, 0, sizeof c->halves);
    for (uint32_t i = 0; i < c->point_count; i++)
        c->halves[c->points[i].half]++;
    for (int half = 0; half <= CORRELATE_HALVES; half++)
        for (int what = 0; what < CORRELATE_COMPARED; what++)
            c->scores[half][what] = score(c, (enum correlate_compared)what, half, errors);
    free(errors);
    correlate_find_causes(c);
}
