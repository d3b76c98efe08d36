/* Which runs a figure lacks. figure_compute takes the best of those that are there; whoever judges a figure has to know
 * whether there could have been a better one. */
#include "figure/source.h"

static bool item_has(const struct lab_item *item, uint32_t value)
{
    for (uint32_t i = 0; i < item->count; i++)
        if (lab_item_value(item, i) == value)
            return true;
    return false;
}

static bool items_have(const struct lab_items *items, uint32_t value)
{
    for (uint32_t i = 0; i < items->count; i++)
        if (item_has(&items->items[i], value))
            return true;
    return false;
}

/* The point is one of those that are shown; base: of those that they are divided by. */
static bool is_needed(const struct figure_layout *l, const struct lab_point *point, bool base)
{
    for (int axis = 0; axis < AXIS_COUNT; axis++) {
        bool has = base && l->base[axis].label ? item_has(&l->base[axis], point->value[axis])
                                               : items_have(&l->shown[axis], point->value[axis]);
        if (!has)
            return false;
    }
    return true;
}

bool figure_missing_runs(struct arena *a, const struct figure_source *s, const struct lab_figure *f, uint32_t *missing,
                         struct error *e)
{
    struct figure_layout l;
    struct figure_complaint why = {0};
    *missing = 0;
    if (!figure_layout_make(&l, a, s->experiment, &s->space, f, &why))
        return error_set(e, ERROR_INVALID, "figure %s: %s", f->name, why.text);
    for (uint32_t i = 0; i < s->experiment->point_count; i++) {
        const struct lab_point *point = &s->experiment->points[i];
        if (!figure_has_run(s, i) && (is_needed(&l, point, false) || (f->has_normalise && is_needed(&l, point, true))))
            ++*missing;
    }
    return true;
}
