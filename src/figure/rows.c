/* Figures over what each run has many of: the instructions of a kernel (x = pc), the buckets of histograms (x =
 * bucket). A name in an expression is a counter of rows where any run of the figure has it so, else a metric of the
 * whole run. Rows that are all 0 are left out: any instruction, and the buckets after the last that is not. */
#include "figure/source.h"

#include "lines/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The run that a series shows. */
struct shown {
    uint32_t point; /* UINT32_MAX: none */
    const char *detail;
    struct store_rows rows;
};

struct rows {
    struct figure_computation *c;
    const char **names; /* of all the figure's expressions, each once */
    bool *counted;      /* one a name: a counter of rows */
    uint32_t name_count;
    struct shown *shown; /* by item of the series axis */
    uint32_t shown_count;
    int64_t *numbers; /* xs */
    uint32_t number_count;
};

/* ------------------------------------------------------------- names */

static uint32_t name_number(const struct rows *r, const char *name)
{
    uint32_t i = 0;
    while (i < r->name_count && strcmp(r->names[i], name) != 0)
        i++;
    return i;
}

static void find_names(struct rows *r)
{
    uint32_t room = 0;
    for (uint32_t y = 0; y < r->c->layout.figure->y_count; y++) {
        const char *const *names;
        uint32_t count = expression_names(r->c->y[y]->expression, &names);
        for (uint32_t i = 0; i < count; i++) {
            if (name_number(r, names[i]) < r->name_count)
                continue;
            r->names = lab_grow(r->c->arena, r->names, r->name_count, &room, sizeof *r->names);
            r->names[r->name_count++] = names[i];
        }
    }
    r->counted = arena_array(r->c->arena, bool, r->name_count + 1);
}

/* ------------------------------------------------------------- rows */

static bool read_rows(struct rows *r, struct shown *shown, struct error *e)
{
    const struct figure_source *s = r->c->source;
    const struct lab_figure *f = r->c->layout.figure;
    struct arena *a = r->c->arena;
    bool *maxima = arena_array(a, bool, r->name_count + 1);
    for (uint32_t i = 0; i < r->name_count; i++)
        maxima[i] = code_column_is_maximum(r->names[i]);
    if (f->over == OVER_BUCKETS)
        return store_buckets(s->store, a, s->keys[shown->point], r->names, r->name_count, &shown->rows, e);
    return store_instructions(s->store, a, s->keys[shown->point], f->launch, r->names, maxima, r->name_count,
                              &shown->rows, e);
}

static bool read_all(struct rows *r, struct error *e)
{
    const struct figure_layout *l = &r->c->layout;
    const struct figure_source *s = r->c->source;
    struct lab_item items[AXIS_COUNT];
    r->shown_count = l->series_count / l->beside;
    r->shown = arena_array(r->c->arena, struct shown, r->shown_count);
    for (uint32_t i = 0; i < r->shown_count; i++) {
        struct shown *shown = &r->shown[i];
        figure_layout_items(l, 0, i * l->beside, items);
        shown->point = figure_choose_point(s, items);
        if (shown->point == UINT32_MAX)
            continue;
        shown->detail =
            figure_has_run(s, shown->point) ? figure_choice_label(r->c->arena, s, items, shown->point) : NULL;
        if (!read_rows(r, shown, e))
            return false;
        r->c->out->missing += !shown->rows.count;
        for (uint32_t n = 0; shown->rows.count && n < r->name_count; n++)
            r->counted[n] |= !isnan(shown->rows.values[n]);
    }
    return true;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void find_numbers(struct rows *r)
{
    size_t count = 0, most = 0;
    for (uint32_t i = 0; i < r->shown_count; i++)
        most += r->shown[i].rows.count;
    r->numbers = arena_array(r->c->arena, int64_t, most + 1);
    for (uint32_t i = 0; i < r->shown_count; i++)
        for (uint32_t row = 0; row < r->shown[i].rows.count; row++)
            r->numbers[count++] = r->shown[i].rows.numbers[row];
    qsort(r->numbers, count, sizeof *r->numbers, by_value);
    for (size_t i = 0; i < count; i++)
        if (!i || r->numbers[i] != r->numbers[i - 1])
            r->numbers[r->number_count++] = r->numbers[i];
}

static uint32_t row_of(const struct shown *shown, int64_t number)
{
    const int64_t *found =
        shown->rows.count ? bsearch(&number, shown->rows.numbers, shown->rows.count, sizeof number, by_value) : NULL;
    return found ? (uint32_t)(found - shown->rows.numbers) : UINT32_MAX;
}

/* ------------------------------------------------------------- cells */

/* An instruction that a run did not execute, or a bucket that it does not have, counted nothing. */
static double value_at(const struct rows *r, const struct shown *shown, uint32_t row, const struct formula *f)
{
    const struct figure_source *s = r->c->source;
    const char *const *names;
    expression_names(f->expression, &names);
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t n = name_number(r, names[i]);
        const double *of_run = &shown->rows.values[n];
        if (!r->counted[n])
            f->scratch[i] = s->values[(size_t)shown->point * s->name_count + f->columns[i]];
        else if (row == UINT32_MAX)
            f->scratch[i] = isnan(*of_run) ? NAN : 0;
        else
            f->scratch[i] = of_run[(size_t)row * r->name_count];
    }
    return expression_value(f->expression, f->scratch);
}

static void fill_cell(const struct rows *r, int64_t number, struct figure_cell *cell)
{
    const struct shown *shown = &r->shown[cell->series / r->c->layout.beside];
    if (shown->point == UINT32_MAX || !shown->rows.count)
        return;
    uint32_t row = row_of(shown, number);
    cell->value = value_at(r, shown, row, r->c->y[figure_formula_of(r->c, cell)]);
    cell->key = r->c->source->keys[shown->point];
    cell->detail = row != UINT32_MAX && shown->rows.texts[row] ? shown->rows.texts[row] : shown->detail;
}

static void fill_row(const struct rows *r, int64_t number, struct figure_cell *cells, uint32_t x)
{
    const struct figure_layout *l = &r->c->layout;
    uint32_t parts = figure_part_count(l->figure);
    for (uint32_t i = 0; i < l->series_count * parts; i++) {
        cells[i] = (struct figure_cell){x, i / parts, i % parts, NAN, NAN, NAN, NULL, NULL};
        if (l->figure->over == OVER_BUCKETS)
            cells[i].x_number = (double)number;
        fill_cell(r, number, &cells[i]);
    }
}

static bool is_empty(const struct figure_cell *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!isnan(cells[i].value) && cells[i].value != 0)
            return false;
    return true;
}

bool figure_compute_rows(struct figure_computation *c, struct error *e)
{
    const struct figure_layout *l = &c->layout;
    struct figure_data *d = c->out;
    struct rows r = {.c = c};
    uint32_t cells = l->series_count * figure_part_count(l->figure), kept = 0;
    d->series = l->series;
    d->series_count = l->series_count;
    find_names(&r);
    if (!read_all(&r, e))
        return false;
    find_numbers(&r);
    d->xs = arena_array(c->arena, const char *, r.number_count + 1);
    d->cells = arena_array(c->arena, struct figure_cell, (size_t)r.number_count * cells + 1);
    for (uint32_t i = 0; i < r.number_count; i++) {
        struct figure_cell *row = &d->cells[(size_t)d->x_count * cells];
        fill_row(&r, r.numbers[i], row, d->x_count);
        bool empty = is_empty(row, cells);
        if (empty && l->figure->over == OVER_PCS)
            continue;
        d->xs[d->x_count++] = arena_printf(c->arena, "%lld", (long long)r.numbers[i]);
        kept = empty ? kept : d->x_count;
    }
    d->x_count = kept;
    d->cell_count = kept * cells;
    return true;
}
