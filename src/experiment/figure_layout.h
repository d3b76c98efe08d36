/* What a figure shows of an experiment: its xs and series as items of axes, and which item every other axis is held
 * at. */
#ifndef HEDDLE_EXPERIMENT_FIGURE_LAYOUT_H
#define HEDDLE_EXPERIMENT_FIGURE_LAYOUT_H

#include "experiment/expand.h"

struct figure_layout {
    const struct experiment *experiment;
    const struct lab_space *space;
    const struct lab_figure *figure;
    int x_axis, series_axis; /* -1: none. Figures over cycles, instructions and buckets have no x axis, and their xs are
                                in the store */
    const char *parameter;   /* x is a parameter of x_axis ("limit"); else NULL */
    struct lab_items shown[AXIS_COUNT]; /* those that the figure's `where` leaves; one for an axis that is neither x nor
                                           series, but for scatter */
    struct lab_item base[AXIS_COUNT];   /* normalise: label NULL where it does not name the axis */
    const char **xs, **series;          /* labels, means not among them; series: one, "", where there is no axis */
    uint32_t beside;   /* expressions of bars, which stand beside each other: each item of the series axis is so many
                          series, "GTO LRU", "GTO Belady"; without an axis they are "LRU", "Belady". Else 1 */
    double *x_numbers; /* of a parameter; else NULL */
    uint32_t x_count, series_count;
};

/* Why there is no layout: the key of the figure that is to blame (NULL: all of it), and the message. */
struct figure_complaint {
    const char *key;
    char text[600];
};

bool figure_layout_make(struct figure_layout *l, struct arena *a, const struct experiment *x,
                        const struct lab_space *space, const struct lab_figure *f, struct figure_complaint *why);
/* The items of all axes at an x and a series. False: there is none (a line that does not have this x). */
bool figure_layout_items(const struct figure_layout *l, uint32_t x, uint32_t series, struct lab_item items[AXIS_COUNT]);
/* The same with the items that normalise names put in. */
void figure_layout_base(const struct figure_layout *l, struct lab_item items[AXIS_COUNT]);
/* The point of each combination of the items' values: places are counted from 0; false after the last. *point: its
 * number, or UINT32_MAX where it is excluded. */
bool figure_layout_point(const struct lab_grid *g, const struct lab_item items[AXIS_COUNT], uint32_t place,
                         uint32_t *point);

/* expectation.c: one of an `expect` line, "a > 1.2 * b >= c". */
enum { CLAIM_SIDES = 16 };
struct figure_side {
    double factor;
    struct lab_word label; /* length 0: the factor alone */
};
/* at_least: of "at least 2: a > b", at how many x it has to hold; 0: at the mean, or at all. */
struct figure_claim {
    uint32_t at_least;
    struct figure_side sides[CLAIM_SIDES];
    const char *relation[CLAIM_SIDES]; /* between side i and i + 1: ">" ">=" "=" "<" "<=" */
    uint32_t count;
};
/* NULL, or what is wrong, with *at where. */
const char *figure_claim_read(struct figure_claim *c, struct lab_word text, const char **at);

#endif
