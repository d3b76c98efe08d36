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

struct weighed {
    double error, weight;
};
static int ascending(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    return (x->error > y->error) - (x->error < y->error);
}

/* Half of the weight is below it. */
static double median_of(struct weighed *list, uint32_t count, double weight)
{
    double below = 0;
    qsort(list, count, sizeof *list, ascending);
    for (uint32_t i = 0; i < count; i++) {
        below += list[i].weight;
        if (fabs(below - weight / 2) < 1e-9 * weight && i + 1 < count)
            return (list[i].error + list[i + 1].error) / 2;
        if (below > weight / 2)
            return list[i].error;
    }
    return NAN;
}

/* Pearson's, of pairs with weights. */
struct sums {
    uint32_t count;
    double n, x, y, xx, yy, xy;
};
static void add_pair(struct sums *s, double x, double y, double weight)
{
    s->count++;
    s->n += weight;
    s->x += weight * x;
    s->y += weight * y;
    s->xx += weight * x * x;
    s->yy += weight * y * y;
    s->xy += weight * x * y;
}
static double correlation_of(const struct sums *s)
{
    double x = s->n * s->xx - s->x * s->x, y = s->n * s->yy - s->y * s->y;
    return s->count < 3 || x <= 0 || y <= 0 ? NAN : (s->n * s->xy - s->x * s->y) / sqrt(x * y);
}

/* half: CORRELATE_HALVES for all points. list: room for all of them. Where silicon has none of something and we have
 * some, the error is endless: beyond every bound, and in no mean. */
static struct correlate_score score(const struct correlation *c, enum correlate_compared what, int half,
                                    struct weighed *list)
{
    struct correlate_score s = {.mean = NAN, .median = NAN, .most = NAN, .within = NAN};
    struct sums sums = {0};
    double sum = 0, finite = 0, within = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->point_count; i++) {
        const struct correlate_point *p = &c->points[i];
        double error = correlate_error(what, p);
        if ((half != CORRELATE_HALVES && (int)p->half != half) || isnan(error))
            continue;
        double x = correlate_value(what, p->silicon), y = correlate_value(what, p->ours);
        s.points++;
        s.kernels += p->weight;
        within += error <= correlate_rows[what].bound ? p->weight : 0;
        s.far += error > far_off;
        if (correlate_rows[what].kind == CORRELATE_POINTS)
            add_pair(&sums, x, y, p->weight);
        else if (x > 0 && y > 0)
            add_pair(&sums, log(x), log(y), p->weight);
        if (isfinite(error)) {
            list[count++] = (struct weighed){error, p->weight};
            sum += error * p->weight;
            finite += p->weight;
        }
    }
    s.correlation = correlation_of(&sums);
    s.within = within / s.kernels;
    if (!count)
        return s;
    s.median = median_of(list, count, finite);
    s.mean = sum / finite;
    s.most = list[count - 1].error;
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

static bool same_kernel(const struct correlate_point *p, const struct correlate_point *q)
{
    return !strcmp(p->kernel, q->kernel) && !strcmp(p->program, q->program) && !strcmp(p->size, q->size);
}

static void weigh(struct correlation *c)
{
    for (uint32_t i = 0; i < c->point_count; i++) {
        uint32_t same = 0;
        for (uint32_t j = 0; j < c->point_count; j++)
            same += same_kernel(&c->points[i], &c->points[j]);
        c->points[i].weight = 1.0 / same;
    }
    memset(c->halves, 0, sizeof c->halves);
    for (uint32_t i = 0; i < c->point_count; i++)
        c->halves[c->points[i].half] += c->points[i].weight;
}

void correlate_finish(struct correlation *c)
{
    struct weighed *list = malloc((c->point_count + 1) * sizeof *list);
    if (!list)
        out_of_memory();
    if (c->point_count)
        qsort(c->points, c->point_count, sizeof *c->points, worst_first);
    weigh(c);
    for (int half = 0; half <= CORRELATE_HALVES; half++)
        for (int what = 0; what < CORRELATE_COMPARED; what++)
            c->scores[half][what] = score(c, (enum correlate_compared)what, half, list);
    free(list);
    correlate_find_causes(c);
}
