/* The numbers of figures. A cell is the value of an expression over the metrics of its point, or of the best of several
 * points, divided by that of another where the figure is normalised. */
#include "figure/cycles.h"
#include "figure/source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct figure_cell empty_cell(uint32_t x, uint32_t series, uint32_t part)
{
    return (struct figure_cell){x, series, part, NAN, NAN, NAN, NULL, NULL};
}

/* What the values at these items are divided by; 1 where the figure is not normalised. Parts of a stacked bar are
 * divided by the whole of the other. */
static double divisor(const struct figure_computation *c, const struct lab_item at[AXIS_COUNT], uint32_t formula)
{
    const struct lab_figure *f = c->layout.figure;
    struct lab_item items[AXIS_COUNT];
    if (!f->has_normalise)
        return 1;
    memcpy(items, at, sizeof items);
    figure_layout_base(&c->layout, items);
    uint32_t point = figure_choose_point(c->source, items);
    if (point == UINT32_MAX)
        return NAN;
    if (f->kind != FIGURE_STACKED)
        return formula_at(c->source, c->y[formula], point);
    double sum = 0;
    for (uint32_t i = 0; i < f->y_count; i++)
        sum += formula_at(c->source, c->y[i], point);
    return sum;
}

static void fill_cell(const struct figure_computation *c, const struct lab_item items[AXIS_COUNT],
                      struct figure_cell *cell)
{
    const struct figure_source *s = c->source;
    uint32_t point = figure_choose_point(s, items);
    if (point == UINT32_MAX)
        return;
    uint32_t formula = figure_formula_of(c, cell);
    double by = divisor(c, items, formula);
    cell->value = by == 0 ? NAN : formula_at(s, c->y[formula], point) / by;
    cell->key = *s->keys[point] ? s->keys[point] : NULL;
    if (figure_has_run(s, point))
        cell->detail = figure_choice_label(c->arena, s, items, point);
    c->out->missing += !figure_has_run(s, point);
}

static void fill_grid(const struct figure_computation *c, uint32_t series_count)
{
    const struct figure_layout *l = &c->layout;
    const struct lab_figure *f = l->figure;
    struct lab_item items[AXIS_COUNT];
    for (uint32_t x = 0; x < c->out->x_count; x++)
        for (uint32_t s = 0; s < series_count; s++)
            for (uint32_t part = 0; part < figure_part_count(f); part++) {
                struct figure_cell *cell = &c->out->cells[c->out->cell_count++];
                *cell = empty_cell(x, s, part);
                if (l->x_numbers)
                    cell->x_number = l->x_numbers[x];
                if (x < l->x_count && s < l->series_count && figure_layout_items(l, x, s, items))
                    fill_cell(c, items, cell);
            }
}

static struct figure_cell *cell_at(const struct figure_data *d, uint32_t x, uint32_t series, uint32_t part)
{
    return &d->cells[((size_t)x * d->series_count + series) * figure_part_count(d->figure) + part];
}

/* A mean while values come in. */
struct mean {
    double sum;
    uint32_t count;
};

static void mean_add(struct mean *m, enum lab_mean kind, double value)
{
    m->sum += kind == MEAN_ARITHMETIC ? value : value <= 0 ? NAN : kind == MEAN_GEOMETRIC ? log(value) : 1 / value;
    m->count++;
}

static double mean_value(const struct mean *m, enum lab_mean kind)
{
    if (!m->count)
        return NAN;
    double inner = m->sum / m->count;
    return kind == MEAN_ARITHMETIC ? inner : kind == MEAN_GEOMETRIC ? exp(inner) : 1 / inner;
}

/* Every series and part has a value at this x. */
static bool complete(const struct figure_data *d, uint32_t x)
{
    for (uint32_t s = 0; s < d->series_count; s++)
        for (uint32_t part = 0; part < figure_part_count(d->figure); part++)
            if (isnan(cell_at(d, x, s, part)->value))
                return false;
    return true;
}

/* One more x: the mean over those at which all series have values, so that all means are over the same. */
static void fill_mean_x(struct arena *a, struct figure_data *d)
{
    uint32_t last = d->x_count - 1;
    bool *counts = arena_array(a, bool, d->x_count);
    for (uint32_t x = 0; x < last; x++)
        counts[x] = complete(d, x);
    for (uint32_t s = 0; s < d->series_count; s++)
        for (uint32_t part = 0; part < figure_part_count(d->figure); part++) {
            struct mean m = {0};
            for (uint32_t x = 0; x < last; x++)
                if (counts[x])
                    mean_add(&m, d->figure->mean, cell_at(d, x, s, part)->value);
            cell_at(d, last, s, part)->value = mean_value(&m, d->figure->mean);
        }
}

/* Over a parameter: one more series, the mean of the others where all have values. */
static void fill_mean_series(struct figure_data *d)
{
    uint32_t last = d->series_count - 1;
    for (uint32_t x = 0; x < d->x_count; x++)
        for (uint32_t part = 0; part < figure_part_count(d->figure); part++) {
            struct mean m = {0};
            for (uint32_t s = 0; s < last; s++)
                mean_add(&m, d->figure->mean, cell_at(d, x, s, part)->value);
            cell_at(d, x, last, part)->value = mean_value(&m, d->figure->mean);
        }
}

static const char **with_mean(struct arena *a, const char **labels, uint32_t *count, bool mean)
{
    const char **out = arena_array(a, const char *, *count + 1);
    memcpy(out, labels, *count * sizeof *labels);
    if (mean)
        out[(*count)++] = "mean";
    return out;
}

static uint32_t find_label(const char *const *labels, uint32_t count, const char *label)
{
    uint32_t i = 0;
    while (i < count && strcmp(labels[i], label) != 0)
        i++;
    return i;
}

/* The series whose label, a blank and a part's label make up the name. */
static uint32_t find_prefix(const char *const *series, uint32_t count, const char *name, const struct lab_figure *f)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strlen(series[i]);
        if (!strncmp(series[i], name, length) && name[length] == ' ' &&
            find_label(f->y_labels, f->y_count, name + length + 1) < f->y_count)
            return i;
    }
    return count;
}

static void put_published(struct figure_data *d)
{
    const struct lab_figure *f = d->figure;
    bool stacked = f->kind == FIGURE_STACKED;
    for (uint32_t i = 0; i < f->published_count; i++) {
        const struct lab_published *p = &f->published[i];
        uint32_t x = find_label(d->xs, d->x_count, p->x);
        const char *name = p->series; /* of the series; of a part; or "SERIES PART" */
        uint32_t series = 0, part = 0;
        if (!stacked)
            series = find_label(d->series, d->series_count, name);
        else if (f->series && (series = find_prefix(d->series, d->series_count, name, f)) < d->series_count)
            name += strlen(d->series[series]) + 1;
        if (stacked)
            part = find_label(f->y_labels, f->y_count, name);
        if (x < d->x_count && series < d->series_count && part < figure_part_count(f))
            cell_at(d, x, series, part)->published = p->value;
    }
}

static void compute_grid(struct figure_computation *c)
{
    const struct figure_layout *l = &c->layout;
    struct figure_data *d = c->out;
    bool mean = l->figure->mean != MEAN_NONE;
    d->x_count = l->x_count;
    d->series_count = l->series_count;
    d->xs = with_mean(c->arena, l->xs, &d->x_count, mean && !l->parameter);
    d->series = with_mean(c->arena, l->series, &d->series_count, mean && l->parameter);
    d->cells =
        arena_array(c->arena, struct figure_cell, (size_t)d->x_count * d->series_count * figure_part_count(l->figure));
    fill_grid(c, d->series_count);
    if (mean && l->parameter)
        fill_mean_series(d);
    else if (mean)
        fill_mean_x(c->arena, d);
    put_published(d);
}

/* The labels of a point, of those axes that differ in the experiment. */
static const char *point_label(struct arena *a, const struct experiment *x, const struct lab_item items[AXIS_COUNT])
{
    const char *text = NULL;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (x->axes[axis].entry_count > 1 || x->axes[axis].value_count > 1)
            text = text ? arena_printf(a, "%s, %s", text, items[axis].label) : items[axis].label;
    return text ? text : items[AXIS_PROGRAM].label;
}

/* The items at a place in the product of all that is shown. False after the last. */
static bool scatter_items(const struct figure_layout *l, uint64_t place, struct lab_item items[AXIS_COUNT],
                          uint32_t *series)
{
    *series = 0;
    for (int axis = AXIS_COUNT - 1; axis >= 0; axis--) {
        uint32_t number = (uint32_t)(place % l->shown[axis].count);
        place /= l->shown[axis].count;
        items[axis] = l->shown[axis].items[number];
        if (axis == l->series_axis)
            *series = number;
    }
    return place == 0;
}

static void compute_scatter(struct figure_computation *c)
{
    const struct figure_layout *l = &c->layout;
    struct figure_data *d = c->out;
    struct lab_item items[AXIS_COUNT];
    uint32_t series, room = 0, label_room = 0;
    d->series_count = l->series_count;
    d->series = l->series;
    for (uint64_t place = 0; scatter_items(l, place, items, &series); place++) {
        uint32_t point = figure_choose_point(c->source, items);
        if (point == UINT32_MAX)
            continue;
        d->cells = lab_grow(c->arena, d->cells, d->cell_count, &room, sizeof *d->cells);
        d->xs = lab_grow(c->arena, d->xs, d->x_count, &label_room, sizeof *d->xs);
        struct figure_cell *cell = &d->cells[d->cell_count++];
        *cell = empty_cell(d->x_count, series, 0);
        fill_cell(c, items, cell);
        cell->x_number = formula_at(c->source, c->x, point);
        d->xs[d->x_count] = point_label(c->arena, c->source->experiment, items);
        if (cell->detail)
            d->xs[d->x_count] = arena_printf(c->arena, "%s (%s)", d->xs[d->x_count], cell->detail);
        cell->detail = d->xs[d->x_count++];
    }
}

/* A line for each series: the samples of its run. */
static bool compute_cycles(struct figure_computation *c, struct error *e)
{
    const struct figure_layout *l = &c->layout;
    struct figure_data *d = c->out;
    struct lab_item items[AXIS_COUNT];
    struct figure_samples samples;
    uint32_t room = 0;
    d->series = l->series;
    d->series_count = l->series_count;
    for (uint32_t series = 0; series < l->series_count; series++) {
        figure_layout_items(l, 0, series, items);
        uint32_t point = figure_choose_point(c->source, items);
        if (point == UINT32_MAX)
            continue;
        const char *key = c->source->keys[point], *detail = figure_has_run(c->source, point)
                                                                ? figure_choice_label(c->arena, c->source, items, point)
                                                                : NULL;
        if (!figure_samples_read(c->arena, c->source->store, key, l->figure, &samples, e))
            return false;
        d->missing += !samples.count;
        for (uint32_t i = 0; i < samples.count; i++) {
            d->cells = lab_grow(c->arena, d->cells, d->cell_count, &room, sizeof *d->cells);
            d->cells[d->cell_count++] =
                (struct figure_cell){0, series, 0, samples.cycles[i], samples.values[i], NAN, key, detail};
        }
    }
    figure_order_by_cycle(c->arena, d);
    return true;
}

bool figure_compute(struct arena *a, struct figure_source *source, const struct lab_figure *f, struct figure_data *out,
                    struct error *e)
{
    struct figure_complaint why = {0};
    struct figure_computation c = {.arena = a, .source = source, .out = out};
    uint32_t columns = source->name_count;
    *out = (struct figure_data){.figure = f};
    if (!figure_layout_make(&c.layout, a, source->experiment, &source->space, f, &why))
        return error_set(e, ERROR_INVALID, "figure %s: %s", f->name, why.text);
    c.y = arena_array(a, struct formula *, f->y_count);
    for (uint32_t i = 0; i < f->y_count; i++)
        if (!(c.y[i] = formula_make(a, source, f->y[i], e)))
            return false;
    if (f->kind == FIGURE_SCATTER && !(c.x = formula_make(a, source, f->x, e)))
        return false;
    if (source->name_count != columns) {
        source->name_count = columns; /* rows have no place for more */
        return error_set(e, ERROR_INVALID, "figure %s is not one of experiment %s", f->name, source->experiment->name);
    }
    if (f->over == OVER_CYCLES)
        return compute_cycles(&c, e);
    if (f->over != OVER_AXIS)
        return figure_compute_rows(&c, e);
    if (f->kind == FIGURE_SCATTER)
        compute_scatter(&c);
    else
        compute_grid(&c);
    return true;
}
