/* The numbers of a figure: metrics of an experiment's points, normalised, with means and the published values
 * beside them. */
#ifndef HEDDLE_FIGURE_FIGURE_H
#define HEDDLE_FIGURE_FIGURE_H

#include "experiment/experiment.h"
#include "store/store.h"

/* One bar, point or field. */
struct figure_cell {
    uint32_t x, series,
        part;           /* indices; part: of a stacked bar (lab_figure.y), else 0. Scatter: x is the point's number */
    double x_number;    /* lines over a parameter or over cycles, scatter; else NAN */
    double value;       /* NAN: no run, or it failed */
    double published;   /* NAN: none */
    const char *key;    /* of the run; NULL: a mean, or none */
    const char *detail; /* of best(...): the value chosen ("swl 4"); scatter: the labels of the point; else NULL */
};

struct figure_data {
    const struct lab_figure *figure;
    const char **xs, **series; /* labels in the order of the file; xs end with "mean" where there is one */
    uint32_t x_count, series_count;
    struct figure_cell *cells; /* by x, then series, then part; over cycles only those that have a sample */
    uint32_t cell_count;
    uint32_t missing; /* cells without a value; over cycles, series without samples */
};

/* What the store has for an experiment, read once for all its figures; samples over time are read when their figure is
 * computed, so the store must be open until then. */
struct figure_source;
struct figure_source *figure_source_open(struct arena *a, struct store *s, const struct experiment *x, struct error *e);
bool figure_compute(struct arena *a, struct figure_source *source, const struct lab_figure *f, struct figure_data *out,
                    struct error *e);

/* missing.c: how many of the runs that the figure's values depend on are not there: every candidate of a choice, and
 * what is divided by, among them. */
bool figure_missing_runs(struct arena *a, const struct figure_source *source, const struct lab_figure *f,
                         uint32_t *missing, struct error *e);

/* The verdict on a figure with published values: ours against the paper's. */
struct figure_verdict {
    uint32_t compared;                    /* cells with both */
    double median_deviation;              /* of |ours / published - 1| */
    uint32_t directions, directions_held; /* normalised figures: both above 1, both below, or both within 2% of it */
    uint32_t rankings, rankings_held; /* at each x, for each pair of series whose published values differ by more than
                                         2%: ours are in the same order */
    uint32_t expected, expected_held; /* `expect` lines */
};
void figure_judge(const struct figure_data *d, struct figure_verdict *out);
/* Whether an `expect` line holds: 1 yes, 0 no, -1 it cannot be said (no data). */
int figure_expectation(const struct figure_data *d, const char *expected);
/* Puts the numbers in order. NAN: there is none. */
double figure_median(double *numbers, uint32_t count);

#endif
