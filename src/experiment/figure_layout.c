/* Which items of which axes a figure shows. Made when the experiment is read, so that a mistake is met before a sweep,
 * and again when the figure's numbers are computed. */
#include "experiment/figure_layout.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool complain(struct figure_complaint *why, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool complain(struct figure_complaint *why, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    why->key = key;
    return false;
}

/* The items that match, each label once. best: also best(...) that no label names. */
static struct lab_items choose_items(const struct figure_layout *l, struct arena *a, int axis, const char *labels,
                                     bool best)
{
    const struct lab_items *all = &l->space->items[axis];
    struct lab_items out = {0};
    struct strmap seen = {0};
    uint32_t room = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct lab_item *item = &all->items[i];
        size_t length = strlen(item->label);
        if (!lab_item_matches(&l->experiment->axes[axis], item, labels) || (item->best && !best && !labels) ||
            strmap_get(&seen, item->label, length))
            continue;
        strmap_put(&seen, item->label, length, all->items);
        out.items = lab_grow(a, out.items, out.count, &room, sizeof *out.items);
        out.items[out.count++] = *item;
    }
    strmap_free(&seen);
    return out;
}

/* Names that x may have: axes, and what their ranges run over. */
static uint32_t x_names(struct arena *a, const struct experiment *x, const char ***names)
{
    uint32_t count = 0, room = 0;
    *names = NULL;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        for (uint32_t i = 0; i <= x->axes[axis].entry_count; i++) {
            const struct lab_axis_values *v = &x->axes[axis];
            const char *parameter = i ? v->values[v->entries[i - 1].first].parameter : NULL;
            if (i && !parameter)
                continue;
            *names = lab_grow(a, *names, count, &room, sizeof **names);
            (*names)[count++] = i ? arena_printf(a, "%s.%s", lab_axis_names[axis], parameter) : lab_axis_names[axis];
        }
    return count;
}

static bool find_x(struct figure_layout *l, struct arena *a, struct figure_complaint *why)
{
    const char *x = l->figure->x, *dot = strchr(x, '.'), **names, *near;
    uint32_t count = x_names(a, l->experiment, &names);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], x) == 0) {
            l->x_axis = lab_axis_by_name(x, dot ? (size_t)(dot - x) : strlen(x));
            l->parameter = dot ? dot + 1 : NULL;
            return true;
        }
    near = nearest_name(x, names, count);
    if (near)
        return complain(why, "x", "unknown axis '%.60s'; did you mean '%s'?", x, near);
    return complain(why, "x",
                    "unknown axis '%.60s'; expected program, machine, scheduler, l1, divergence, variant, what a range "
                    "of one runs over (scheduler.limit), cycle, pc or bucket",
                    x);
}

static bool find_series(struct figure_layout *l, struct figure_complaint *why)
{
    const char *series = l->figure->series, *near;
    if (!series)
        return true;
    l->series_axis = lab_axis_by_name(series, strlen(series));
    if (l->series_axis < 0) {
        near = nearest_name(series, lab_axis_names, AXIS_COUNT);
        if (near)
            return complain(why, "series", "unknown axis '%.60s'; did you mean '%s'?", series, near);
        return complain(why, "series",
                        "unknown axis '%.60s'; expected program, machine, scheduler, l1, divergence or variant",
                        series);
    }
    if (l->series_axis == l->x_axis && !l->parameter)
        return complain(why, "series", "x is %s already", series);
    return true;
}

/* Entries over the parameter that the figure shows; UINT32_MAX after the last. */
static uint32_t next_ranged(const struct figure_layout *l, uint32_t entry)
{
    const struct lab_axis_values *v = &l->experiment->axes[l->x_axis];
    const char *labels = l->figure->where.labels[l->x_axis];
    for (; entry < v->entry_count; entry++) {
        const char *parameter = v->values[v->entries[entry].first].parameter;
        if (!v->entries[entry].best && parameter && strcmp(parameter, l->parameter) == 0 &&
            (!labels || lab_label_in(v->entries[entry].label, labels)))
            return entry;
    }
    return UINT32_MAX;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool lay_parameter(struct figure_layout *l, struct arena *a, struct figure_complaint *why)
{
    const struct lab_axis_values *v = &l->experiment->axes[l->x_axis];
    bool by_entry = l->series_axis == l->x_axis;
    uint32_t entries = 0, most = 0, count = 0;
    for (uint32_t e = 0; (e = next_ranged(l, e)) != UINT32_MAX; e++) {
        entries++;
        most += v->entries[e].count;
    }
    if (!entries)
        return complain(why, "where", "no line of %s that this leaves has a range over %s", lab_axis_names[l->x_axis],
                        l->parameter);
    if (entries > 1 && !by_entry)
        return complain(why, "x", "%u lines of %s have a range over %s: add where = %s=LABEL, or series = %s", entries,
                        lab_axis_names[l->x_axis], l->parameter, lab_axis_names[l->x_axis], lab_axis_names[l->x_axis]);
    l->x_numbers = arena_array(a, double, most);
    l->shown[l->x_axis] = (struct lab_items){arena_array(a, struct lab_item, entries), 0};
    for (uint32_t e = 0; (e = next_ranged(l, e)) != UINT32_MAX; e++) {
        const struct lab_entry *entry = &v->entries[e];
        l->shown[l->x_axis].items[l->shown[l->x_axis].count++] =
            (struct lab_item){entry->label, e, entry->first, entry->count, false, NULL};
        for (uint32_t i = 0; i < entry->count; i++) {
            double number = v->values[entry->first + i].number;
            if (isnan(number))
                return complain(why, "x", "%s is no number in '%s'", l->parameter, v->values[entry->first + i].label);
            l->x_numbers[count++] = number;
        }
    }
    qsort(l->x_numbers, count, sizeof *l->x_numbers, by_number);
    l->xs = arena_array(a, const char *, count);
    for (uint32_t i = 0; i < count; i++)
        if (!l->x_count || l->x_numbers[i] != l->x_numbers[l->x_count - 1]) {
            l->x_numbers[l->x_count] = l->x_numbers[i];
            l->xs[l->x_count++] = arena_printf(a, "%.12g", l->x_numbers[i]);
        }
    return true;
}

static void lay_labels(struct arena *a, const struct lab_items *items, const char ***labels, uint32_t *count)
{
    *count = items->count;
    *labels = arena_array(a, const char *, items->count);
    for (uint32_t i = 0; i < items->count; i++)
        (*labels)[i] = items->items[i].label;
}

static void lay_series(struct figure_layout *l, struct arena *a)
{
    static const char *no_series[] = {""};
    const struct lab_figure *f = l->figure;
    l->beside = f->kind == FIGURE_BARS ? f->y_count : 1;
    l->series = l->beside > 1 ? f->y_labels : no_series;
    l->series_count = l->beside;
    if (l->series_axis < 0)
        return;
    lay_labels(a, &l->shown[l->series_axis], &l->series, &l->series_count);
    if (l->beside == 1)
        return;
    const char **labels = arena_array(a, const char *, (size_t)l->series_count * l->beside);
    for (uint32_t i = 0; i < l->series_count * l->beside; i++)
        labels[i] = arena_printf(a, "%s %s", l->series[i / l->beside], f->y_labels[i % l->beside]);
    l->series = labels;
    l->series_count *= l->beside;
}

/* Axes that are neither x nor series are held at one item. */
static bool hold_others(const struct figure_layout *l, struct figure_complaint *why)
{
    for (int axis = 0; axis < AXIS_COUNT; axis++) {
        uint32_t count = l->shown[axis].count;
        const char *name = lab_axis_names[axis];
        if (axis == l->x_axis || axis == l->series_axis || count == 1)
            continue;
        return complain(why, l->figure->where.labels[axis] ? "where" : NULL,
                        "%s has %u entries and the figure shows one: add where = %s=%.60s, or take %s as x or series",
                        name, count, name, l->shown[axis].items[0].label, name);
    }
    return true;
}

static bool find_base(struct figure_layout *l, struct arena *a, struct figure_complaint *why)
{
    for (int axis = 0; axis < AXIS_COUNT && l->figure->has_normalise; axis++) {
        const char *labels = l->figure->normalise.labels[axis];
        if (!labels)
            continue;
        struct lab_items items = choose_items(l, a, axis, labels, true);
        if (items.count != 1)
            return complain(why, "normalise", "expected one %s to divide by; '%.60s' are %u", lab_axis_names[axis],
                            labels, items.count);
        l->base[axis] = items.items[0];
    }
    return true;
}

static bool base_exists(const struct figure_layout *l)
{
    struct lab_item items[AXIS_COUNT];
    uint32_t point;
    for (uint32_t x = 0; x < l->x_count; x++)
        for (uint32_t s = 0; s < l->series_count; s++) {
            if (!figure_layout_items(l, x, s, items))
                continue;
            figure_layout_base(l, items);
            for (uint32_t place = 0; figure_layout_point(&l->space->grid, items, place, &point); place++)
                if (point != UINT32_MAX)
                    return true;
        }
    return false;
}

static bool check_mean(const struct figure_layout *l, struct figure_complaint *why)
{
    if (l->figure->mean == MEAN_NONE)
        return true;
    if (l->parameter && l->series_axis < 0)
        return complain(why, "mean",
                        "a mean over what? Over a parameter the mean is that of the series, and there are none");
    const char **labels = l->parameter ? l->series : l->xs;
    for (uint32_t i = 0; i < (l->parameter ? l->series_count : l->x_count); i++)
        if (strcmp(labels[i], "mean") == 0)
            return complain(why, "mean", "one label is 'mean' already");
    return true;
}

bool figure_layout_make(struct figure_layout *l, struct arena *a, const struct experiment *x,
                        const struct lab_space *space, const struct lab_figure *f, struct figure_complaint *why)
{
    bool scatter = f->kind == FIGURE_SCATTER, cycles = f->over != OVER_AXIS;
    *l = (struct figure_layout){.experiment = x, .space = space, .figure = f, .x_axis = -1, .series_axis = -1};
    if ((!scatter && !cycles && !find_x(l, a, why)) || !find_series(l, why))
        return false;
    for (int axis = 0; axis < AXIS_COUNT; axis++) {
        l->shown[axis] = choose_items(l, a, axis, f->where.labels[axis], axis == l->x_axis || axis == l->series_axis);
        if (!l->shown[axis].count) /* an axis of best(...) alone */
            l->shown[axis] = choose_items(l, a, axis, f->where.labels[axis], true);
    }
    if (l->parameter && !lay_parameter(l, a, why))
        return false;
    if (!scatter && !cycles && !l->parameter)
        lay_labels(a, &l->shown[l->x_axis], &l->xs, &l->x_count);
    lay_series(l, a);
    if (!scatter && !hold_others(l, why))
        return false;
    if (!find_base(l, a, why) || !check_mean(l, why))
        return false;
    return !f->has_normalise || base_exists(l) ||
           complain(why, "normalise", "this matches none of the points that the figure shows");
}

/* The value of an entry at a number of its range. */
static bool value_at(const struct figure_layout *l, const struct lab_item *entry, double number, struct lab_item *out)
{
    const struct lab_axis_values *v = &l->experiment->axes[l->x_axis];
    for (uint32_t i = 0; i < entry->count; i++)
        if (v->values[entry->first + i].number == number) {
            *out = (struct lab_item){v->values[entry->first + i].label, entry->entry, entry->first + i, 1, false, NULL};
            return true;
        }
    return false;
}

bool figure_layout_items(const struct figure_layout *l, uint32_t x, uint32_t series, struct lab_item items[AXIS_COUNT])
{
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        items[axis] = l->shown[axis].items[axis == l->series_axis ? series / l->beside : 0];
    if (l->parameter)
        return value_at(l, &items[l->x_axis], l->x_numbers[x], &items[l->x_axis]);
    if (l->x_axis >= 0)
        items[l->x_axis] = l->shown[l->x_axis].items[x];
    return true;
}

void figure_layout_base(const struct figure_layout *l, struct lab_item items[AXIS_COUNT])
{
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (l->base[axis].label)
            items[axis] = l->base[axis];
}

bool figure_layout_point(const struct lab_grid *g, const struct lab_item items[AXIS_COUNT], uint32_t place,
                         uint32_t *point)
{
    uint32_t value[AXIS_COUNT];
    for (int axis = AXIS_COUNT - 1; axis >= 0; axis--) {
        value[axis] = lab_item_value(&items[axis], place % items[axis].count);
        place /= items[axis].count;
    }
    *point = g->point[lab_grid_place(g, value)] - 1; /* 0, excluded, becomes UINT32_MAX */
    return place == 0;
}
