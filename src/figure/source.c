/* What the store has for the figures of an experiment. All metrics that any of them needs are read at once, a row for
 * each point. */
#include "figure/source.h"

#include "experiment/stored.h"

#include <math.h>
#include <string.h>

static uint32_t column_of(struct arena *a, struct figure_source *s, const char *name)
{
    for (uint32_t i = 0; i < s->name_count; i++)
        if (strcmp(s->names[i], name) == 0)
            return i;
    s->names = lab_grow(a, s->names, s->name_count, &s->name_room, sizeof *s->names);
    s->names[s->name_count] = name;
    return s->name_count++;
}

struct formula *formula_make(struct arena *a, struct figure_source *s, const char *text, struct error *e)
{
    struct source place = {s->experiment->name, text, strlen(text)};
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

double formula_at(const struct figure_source *s, const struct formula *f, uint32_t point)
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
    s->instructions = column_of(a, s, "warp_instructions");
    s->best_by = formula_make(a, s, x->best_by, e);
    if (!s->best_by)
        return false;
    for (uint32_t i = 0; i < x->figure_count; i++) {
        const struct lab_figure *f = &x->figures[i];
        if (f->kind == FIGURE_SCATTER && !formula_make(a, s, f->x, e))
            return false;
        for (uint32_t y = 0; y < f->y_count; y++)
            if (!formula_make(a, s, f->y[y], e))
                return false;
    }
    return true;
}

struct figure_source *figure_source_open(struct arena *a, struct store *store, const struct experiment *x,
                                         struct error *e)
{
    struct figure_source *s = arena_new(a, struct figure_source);
    s->experiment = x;
    s->store = store;
    lab_space_make(&s->space, a, x);
    s->keys = arena_alloc(a, (size_t)x->point_count * KEY_BYTES);
    if (!find_columns(a, s, e) || !experiment_keys(store, x, s->keys, e))
        return NULL;
    s->values = arena_array(a, double, (size_t)x->point_count * s->name_count);
    return store_metrics(store, (const char(*)[KEY_BYTES])s->keys, x->point_count, s->names, s->name_count, s->values,
                         e)
               ? s
               : NULL;
}

bool figure_has_run(const struct figure_source *s, uint32_t point)
{
    const double *row = &s->values[(size_t)point * s->name_count];
    return !isnan(row[s->cycles]) || !isnan(row[s->instructions]);
}

/* The point that the items stand for: of several the best that has a run, or else the first that is not excluded.
 * UINT32_MAX: none. */
uint32_t figure_choose_point(const struct figure_source *s, const struct lab_item items[AXIS_COUNT])
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
const char *figure_choice_label(struct arena *a, const struct figure_source *s, const struct lab_item items[AXIS_COUNT],
                                uint32_t point)
{
    const char *text = NULL;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (items[axis].best) {
            const char *label = experiment_label(s->experiment, &s->experiment->points[point], (enum lab_axis)axis);
            text = text ? arena_printf(a, "%s, %s", text, label) : label;
        }
    return text;
}
