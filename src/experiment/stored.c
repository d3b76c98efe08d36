/* Points as the store knows them: by the labels of their axes. */
#include "experiment/stored.h"

#include <string.h>

_Static_assert((int)AXIS_COUNT == (int)STORE_LABELS, "the store has a label per axis");

static struct store_experiment as_stored(const struct experiment *x)
{
    return (struct store_experiment){.name = x->name,
                                     .size = x->size ? x->size : "",
                                     .text = x->text ? x->text : "",
                                     .text_bytes = x->text ? x->text_bytes : 0};
}

/* With empty keys. */
static struct store_point *points_of(struct arena *a, const struct experiment *x)
{
    struct store_point *points = arena_array(a, struct store_point, x->point_count + 1);
    for (uint32_t i = 0; i < x->point_count; i++)
        for (int axis = 0; axis < AXIS_COUNT; axis++)
            points[i].labels[axis] = experiment_label(x, &x->points[i], (enum lab_axis)axis);
    return points;
}

bool experiment_put(struct store *s, const struct experiment *x, const char (*keys)[KEY_BYTES], struct error *e)
{
    struct arena a = {0};
    struct store_experiment swept = as_stored(x);
    struct store_point *points = points_of(&a, x);
    for (uint32_t i = 0; i < x->point_count; i++)
        memcpy(points[i].key, keys[i], KEY_BYTES);
    bool ok = store_put_experiment(s, &swept, points, x->point_count, e);
    arena_free(&a);
    return ok;
}

bool experiment_keys(struct store *s, const struct experiment *x, char (*keys)[KEY_BYTES], struct error *e)
{
    struct arena a = {0};
    struct store_experiment swept = as_stored(x);
    struct store_point *points = points_of(&a, x);
    bool ok = store_point_keys(s, &swept, points, x->point_count, e);
    for (uint32_t i = 0; ok && i < x->point_count; i++)
        memcpy(keys[i], points[i].key, KEY_BYTES);
    arena_free(&a);
    return ok;
}
