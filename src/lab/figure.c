/* The numbers of figures. All metrics that any figure of the experiment needs are read out of the store at once, a row for each point; a cell of a figure is then the value of an expression over
 * the row of its point, or of the best of several points, divided by that of another where the figure is normalised. */
#include "lab/figure.h"
#include "lab/expression.h"
#include "lab/figure_cycles.h"
#include "lab/figure_layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct figure_source {
    const struct experiment *experiment;
    struct store *store;
    struct lab_space space;
    char (*keys)[KEY_BYTES];       /* by point; "": never swept */
    const char **names;            /* metrics: the columns */
    uint32_t name_count, name_room;
    double *values;                /* a row for each point */
    struct formula *best_by;
    uint32_t cycles;               /* column that every run that ended well has */
};

/* An expression and the columns of its metrics. */
struct formula {
    struct expression *expression;
    uint32_t *columns, count;
    double *scratch;
};

static uint32_t column_of(struct arena *a, struct figure_source *s, const char *name)
{
    for (uint32_t i = 0; i < s->name_count; i++)
        if (strcmp(s->names[i], name) == 0)
            return i;
    s->names = lab_grow(a, s->names, s->name_count, &s->name_room, sizeof *s->names);
    s->names[s->name_count] = name;
    return s->name_count++;
}

static struct formula *make_formula(struct arena *a, struct figure_source *s, const char *text, struct error *e)
{
    struct source place = { s->experiment->name, text, strlen(text) };
    struct formula *f = arena_new(a, struct formula);
    const char *const *names;
    f->expression = expression_parse(a, text, &place, 1, 1, e);
    if (!f->expression)
        return NULL;
    f->count = expression_names(f->expression, &names);
    f->columns = arena_array(a, uint32_t, f->count);
    f->scratch = arena_array(a, double, f->count);
    for (uint32_t i = 0; i < f->count; i++)
        f->columns[i] = column_of(a, s, names[i]);
    return f;
}

static double formula_at(const struct figure_source *s, const struct formula *f, uint32_t point)
{
    const double *row = &s->values[(size_t)point * s->name_count];
    for (uint32_t i = 0; i < f->count; i++)
        f->scratch[i] = row[f->columns[i]];
    return expression_value(f->expression, f->scratch);
}

/* Makes every formula once, so that all their columns are known. */
static bool find_columns(struct arena *a, struct figure_source *s, struct error *e)
{
    const struct experiment *x = s->experiment;
    s->cycles = column_of(a, s, "cycles");
    s->best_by = make_formula(a, s, x->best_by, e);
    if (!s->best_by)
        return false;
    for (uint32_t i = 0; i < x->figure_count; i++) {
        const struct lab_figure *f = &x->figures[i];
        if (f->kind == FIGURE_SCATTER && !make_formula(a, s, f->x, e))
            return false;
        for (uint32_t y = 0; y < f->y_count; y++)
            if (!make_formula(a, s, f->y[y], e))
                return false;
    }
    return true;
}

struct figure_source *figure_source_open(struct arena *a, struct store *store, const struct experiment *x, struct error *e)
{
    struct figure_source *s = arena_new(a, struct figure_source);
    s->experiment = x;
    s->store = store;
    lab_space_make(&s->space, a, x);
    s->keys = arena_alloc(a, (size_t)x->point_count * KEY_BYTES);
    if (!find_columns(a, s, e) || !store_point_keys(store, x, s->keys, e))
        return NULL;
    s->values = arena_array(a, double, (size_t)x->point_count * s->name_count);
    return store_metrics(store, (const char (*)[KEY_BYTES])s->keys, x->point_count, s->names, s->name_count, s->values, e) ? s : NULL;
}

static bool has_run(const struct figure_source *s, uint32_t point) { return !isnan(s->values[(size_t)point * s->name_count + s->cycles]); }

/* The point that the items stand for: of several the best that has a run, or else the first that is not excluded. UINT32_MAX: none. */
static uint32_t choose_point(const struct figure_source *s, const struct lab_item items[AXIS_COUNT])
{
    uint32_t point, chosen = UINT32_MAX;
    double best = NAN;
    for (uint32_t place = 0; figure_layout_point(&s->space.grid, items, place, &point); place++) {
        double value = point == UINT32_MAX ? NAN : formula_at(s, s->best_by, point);
        if (chosen == UINT32_MAX || (!isnan(value) && !(value <= best))) {
            chosen = point;
            best = value;
        }
    }
    return chosen;
}

/* What was chosen where there was a choice. */
static const char *choice_label(struct arena *a, const struct figure_source *s, const struct lab_item items[AXIS_COUNT], uint32_t point)
{
    const char *text = NULL;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (items[axis].best) {
            const char *label = experiment_label(s->experiment, &s->experiment->points[point], (enum lab_axis)axis);
            text = text ? arena_printf(a, "%s, %s", text, label) : label;
        }
    return text;
}

/* A figure while it is computed. */
struct computation {
    struct arena *arena;
    const struct figure_source *source;
    struct figure_layout layout;
    struct formula **y, *x;
    struct figure_data *out;
};

/* Parts of a bar that stand on each other. */
static uint32_t part_count(const struct lab_figure *f) { return f->kind == FIGURE_STACKED ? f->y_count : 1; }

/* Which of the figure's expressions a cell shows. */
static uint32_t formula_of(const struct computation *c, const struct figure_cell *cell) { return c->layout.figure->kind == FIGURE_STACKED ? cell->part : cell->series % c->layout.beside; }

static struct figure_cell empty_cell(uint32_t x, uint32_t series, uint32_t part) { return (struct figure_cell){ x, series, part, NAN, NAN, NAN, NULL, NULL }; }

/* What the values at these items are divided by; 1 where the figure is not normalised. Parts of a stacked bar are divided by the whole of the other. */
static double divisor(const struct computation *c, const struct lab_item at[AXIS_COUNT], uint32_t formula)
{
    const struct lab_figure *f = c->layout.figure;
    struct lab_item items[AXIS_COUNT];
    if (!f->has_normalise)
        return 1;
    memcpy(items, at, sizeof items);
    figure_layout_base(&c->layout, items);
    uint32_t point = choose_point(c->source, items);
    if (point == UINT32_MAX)
        return NAN;
    if (f->kind != FIGURE_STACKED)
        return formula_at(c->source, c->y[formula], point);
    double sum = 0;
    for (uint32_t i = 0; i < f->y_count; i++)
        sum += formula_at(c->source, c->y[i], point);
    return sum;
}

static void fill_cell(const struct computation *c, const struct lab_item items[AXIS_COUNT], struct figure_cell *cell)
{
    const struct figure_source *s = c->source;
    uint32_t point = choose_point(s, items);
    if (point == UINT32_MAX)
        return;
    uint32_t formula = formula_of(c, cell);
    double by = divisor(c, items, formula);
    cell->value = by == 0 ? NAN : formula_at(s, c->y[formula], point) / by;
    cell->key = *s->keys[point] ? s->keys[point] : NULL;
    if (has_run(s, point))
        cell->detail = choice_label(c->arena, s, items, point);
    c->out->missing += !has_run(s, point);
}

static void fill_grid(const struct computation *c, uint32_t series_count)
{
    const struct figure_layout *l = &c->layout;
    const struct lab_figure *f = l->figure;
    struct lab_item items[AXIS_COUNT];
    for (uint32_t x = 0; x < c->out->x_count; x++)
        for (uint32_t s = 0; s < series_count; s++)
            for (uint32_t part = 0; part < part_count(f); part++) {
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
    return &d->cells[((size_t)x * d->series_count + series) * part_count(d->figure) + part];
}

/* A mean while values come in. */
struct mean { double sum; uint32_t count; };

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
        for (uint32_t part = 0; part < part_count(d->figure); part++)
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
        for (uint32_t part = 0; part < part_count(d->figure); part++) {
            struct mean m = { 0 };
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
        for (uint32_t part = 0; part < part_count(d->figure); part++) {
            struct mean m = { 0 };
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

static void put_published(struct figure_data *d)
{
    const struct lab_figure *f = d->figure;
    bool parts = f->kind == FIGURE_STACKED && !f->series;
    for (uint32_t i = 0; i < f->published_count; i++) {
        const struct lab_published *p = &f->published[i];
        uint32_t x = find_label(d->xs, d->x_count, p->x);
        uint32_t series = parts ? 0 : find_label(d->series, d->series_count, p->series), part = parts ? find_label(f->y_labels, f->y_count, p->series) : 0;
        if (x < d->x_count && series < d->series_count && part < part_count(f))
            cell_at(d, x, series, part)->published = p->value;
    }
}

static void compute_grid(struct computation *c)
{
    const struct figure_layout *l = &c->layout;
    struct figure_data *d = c->out;
    bool mean = l->figure->mean != MEAN_NONE;
    d->x_count = l->x_count;
    d->series_count = l->series_count;
    d->xs = with_mean(c->arena, l->xs, &d->x_count, mean && !l->parameter);
    d->series = with_mean(c->arena, l->series, &d->series_count, mean && l->parameter);
    d->cells = arena_array(c->arena, struct figure_cell, (size_t)d->x_count * d->series_count * part_count(l->figure));
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

/* The items at a place in the product of all that is shown. False behind the last. */
static bool scatter_items(const struct figure_layout *l, uint64_t place, struct lab_item items[AXIS_COUNT], uint32_t *series)
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

static void compute_scatter(struct computation *c)
{
    const struct figure_layout *l = &c->layout;
    struct figure_data *d = c->out;
    struct lab_item items[AXIS_COUNT];
    uint32_t series, room = 0, label_room = 0;
    d->series_count = l->series_count;
    d->series = l->series;
    for (uint64_t place = 0; scatter_items(l, place, items, &series); place++) {
        uint32_t point = choose_point(c->source, items);
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
static bool compute_cycles(struct computation *c, struct error *e)
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
        uint32_t point = choose_point(c->source, items);
        if (point == UINT32_MAX)
            continue;
        const char *key = c->source->keys[point], *detail = has_run(c->source, point) ? choice_label(c->arena, c->source, items, point) : NULL;
        if (!figure_samples_read(c->arena, c->source->store, key, l->figure, &samples, e))
            return false;
        d->missing += !samples.count;
        for (uint32_t i = 0; i < samples.count; i++) {
            d->cells = lab_grow(c->arena, d->cells, d->cell_count, &room, sizeof *d->cells);
            d->cells[d->cell_count++] = (struct figure_cell){ 0, series, 0, samples.cycles[i], samples.values[i], NAN, key, detail };
        }
    }
    figure_order_by_cycle(c->arena, d);
    return true;
}

bool figure_compute(struct arena *a, struct figure_source *source, const struct lab_figure *f, struct figure_data *out, struct error *e)
{
    struct figure_complaint why = { 0 };
    struct computation c = { .arena = a, .source = source, .out = out };
    uint32_t columns = source->name_count;
    *out = (struct figure_data){ .figure = f };
    if (!figure_layout_make(&c.layout, a, source->experiment, &source->space, f, &why))
        return error_set(e, ERROR_INVALID, "figure %s: %s", f->name, why.text);
    c.y = arena_array(a, struct formula *, f->y_count);
    for (uint32_t i = 0; i < f->y_count; i++)
        if (!(c.y[i] = make_formula(a, source, f->y[i], e)))
            return false;
    if (f->kind == FIGURE_SCATTER && !(c.x = make_formula(a, source, f->x, e)))
        return false;
    if (source->name_count != columns) {
        source->name_count = columns; /* rows have no place for more */
        return error_set(e, ERROR_INVALID, "figure %s is not one of experiment %s", f->name, source->experiment->name);
    }
    if (f->launch)
        return compute_cycles(&c, e);
    if (f->kind == FIGURE_SCATTER)
        compute_scatter(&c);
    else
        compute_grid(&c);
    return true;
}
