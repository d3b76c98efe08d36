/* What figures are computed from. Between the files of figures; others see figure.h. */
#ifndef HEDDLE_FIGURE_SOURCE_H
#define HEDDLE_FIGURE_SOURCE_H

#include "experiment/expression.h"
#include "experiment/figure_layout.h"
#include "figure/figure.h"

struct figure_source {
    const struct experiment *experiment;
    struct store *store;
    struct lab_space space;
    char (*keys)[KEY_BYTES]; /* by point; "": never swept */
    const char **names;      /* metrics: the columns */
    uint32_t name_count, name_room;
    double *values; /* a row for each point */
    struct formula *best_by;
    uint32_t cycles, instructions; /* columns: every run that ended well has one of them, without time the second */
};

/* An expression and the columns of its metrics. */
struct formula {
    struct expression *expression;
    uint32_t *columns, count;
    double *scratch;
};

struct formula *formula_make(struct arena *a, struct figure_source *s, const char *text, struct error *e);
double formula_at(const struct figure_source *s, const struct formula *f, uint32_t point);
bool figure_has_run(const struct figure_source *s, uint32_t point);
/* The point that the items stand for: of several the best that has a run, or else the first that is not excluded.
 * UINT32_MAX: none. */
uint32_t figure_choose_point(const struct figure_source *s, const struct lab_item items[AXIS_COUNT]);
/* What was chosen where there was a choice; NULL: there was none. */
const char *figure_choice_label(struct arena *a, const struct figure_source *s, const struct lab_item items[AXIS_COUNT],
                                uint32_t point);

/* A figure while it is computed. */
struct figure_computation {
    struct arena *arena;
    const struct figure_source *source;
    struct figure_layout layout;
    struct formula **y, *x;
    struct figure_data *out;
};
/* Parts of a bar that stand on each other. */
static inline uint32_t figure_part_count(const struct lab_figure *f)
{
    return f->kind == FIGURE_STACKED ? f->y_count : 1;
}
/* Which of the figure's expressions a cell shows. */
static inline uint32_t figure_formula_of(const struct figure_computation *c, const struct figure_cell *cell)
{
    return c->layout.figure->kind == FIGURE_STACKED ? cell->part : cell->series % c->layout.beside;
}

/* rows.c: x = pc, x = bucket. */
bool figure_compute_rows(struct figure_computation *c, struct error *e);

#endif
