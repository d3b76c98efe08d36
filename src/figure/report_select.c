/* Which experiments and figures of a store a report is about, and their numbers. */
#include "figure/report_parts.h"

#include "experiment/stored.h"

#include <string.h>

static bool no_experiment(struct arena *a, const struct store_experiment *stored, uint32_t count, const char *name,
                          struct error *e)
{
    const char **names = arena_array(a, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        names[i] = stored[i].name;
    error_set(e, ERROR_NOT_FOUND, "no experiment '%s' in the store", name);
    const char *near = nearest_name(name, names, count);
    if (near)
        error_note(e, "did you mean '%s'?", near);
    else if (!count)
        error_note(e, "it has no experiment at all");
    for (uint32_t i = 0; !near && i < count && i < 20; i++)
        error_note(e, "it has '%s' (--size %s)", stored[i].name, stored[i].size);
    return false;
}

static bool no_figure(struct arena *a, const struct report_experiment *list, uint32_t count, const char *name,
                      struct error *e)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++)
        known += list[i].experiment.figure_count;
    const char **names = arena_array(a, const char *, known + 1);
    known = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t f = 0; f < list[i].experiment.figure_count; f++)
            names[known++] = list[i].experiment.figures[f].name;
    error_set(e, ERROR_NOT_FOUND, "no figure '%s'", name);
    const char *near = nearest_name(name, names, known);
    if (near)
        error_note(e, "did you mean '%s'?", near);
    for (uint32_t i = 0; !near && i < known && i < 20; i++)
        error_note(e, "there is '%s'", names[i]);
    return false;
}

static bool load(struct arena *a, struct store *s, const struct store_experiment *stored, const char *only,
                 struct report_experiment *r, struct error *e)
{
    struct experiment *x = &r->experiment;
    r->stored = stored;
    if (!experiment_parse(x, a, stored->name, stored->text, stored->text_bytes, stored->size, e))
        return false;
    r->keys = arena_alloc(a, (size_t)(x->point_count + 1) * KEY_BYTES);
    if (!experiment_keys(s, x, r->keys, e))
        return false;
    struct figure_source *source = figure_source_open(a, s, x, e);
    if (!source)
        return false;
    r->figures = arena_array(a, struct figure_data, x->figure_count + 1);
    r->robust = arena_array(a, struct robust_data, x->figure_count + 1);
    for (uint32_t i = 0; i < x->figure_count; i++) {
        if (only && strcmp(only, x->figures[i].name))
            continue;
        uint32_t number = r->figure_count++;
        if (!figure_compute(a, source, &x->figures[i], &r->figures[number], e) ||
            (x->figures[i].robust && !figure_robust(a, source, &x->figures[i], &r->robust[number], e)))
            return false;
    }
    return true;
}

bool report_select(struct arena *a, struct store *s, const struct report_options *o, struct report_experiment **list,
                   uint32_t *count, struct error *e)
{
    struct store_experiment *stored;
    uint32_t stored_count, figures = 0;
    if (!store_experiments(s, a, &stored, &stored_count, e))
        return false;
    *list = arena_array(a, struct report_experiment, stored_count + 1);
    *count = 0;
    for (uint32_t i = 0; i < stored_count; i++) {
        if (o->experiment && strcmp(o->experiment, stored[i].name))
            continue;
        struct report_experiment *r = &(*list)[(*count)++];
        if (!load(a, s, &stored[i], o->figure, r, e))
            return false;
        figures += r->figure_count;
    }
    if (o->experiment && !*count)
        return no_experiment(a, stored, stored_count, o->experiment, e);
    if (o->figure && !figures)
        return no_figure(a, *list, *count, o->figure, e);
    return true;
}
