/* libFuzzer target: any bytes as an experiment file. What is refused has a message with a place in the text; of what is
 * read, every point, every line of an axis, every figure and every table is followed. */
#include "experiment/experiment.h"
#include "experiment/expression.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void follow_point(const struct experiment *x, const struct lab_point *p, size_t *sum)
{
    for (int axis = 0; axis < AXIS_COUNT; axis++) {
        if (p->value[axis] >= x->axes[axis].value_count || !*experiment_label(x, p, (enum lab_axis)axis))
            abort();
        *sum += strlen(x->axes[axis].values[p->value[axis]].text);
    }
    if (!p->words[0] || !*p->words[0])
        abort();
    for (const char **word = p->words; *word; word++)
        *sum += strlen(*word);
    for (const char **set = p->sets; *set; set++)
        *sum += strlen(*set);
}

static void follow_figure(struct arena *a, const struct lab_figure *f, size_t *sum)
{
    *sum += strlen(f->name) + strlen(f->title) + strlen(f->caption) + strlen(f->x) + strlen(f->x_title) +
            strlen(f->y_title);
    for (uint32_t i = 0; i < f->y_count; i++) {
        struct error e = {0};
        struct source s = {f->name, f->y[i], strlen(f->y[i])};
        *sum += strlen(f->y_labels[i]);
        if (!expression_parse(a, f->y[i], &s, 1, 1, &e))
            abort();
    }
    for (uint32_t i = 0; i < f->published_count; i++)
        *sum += strlen(f->published[i].x) + strlen(f->published[i].series);
    for (uint32_t i = 0; i < f->expected_count; i++)
        *sum += strlen(f->expected[i]);
}

static void follow_axis(const struct lab_axis_values *v, size_t *sum)
{
    for (uint32_t i = 0; i < v->entry_count; i++) {
        const struct lab_entry *entry = &v->entries[i];
        if (!entry->count || (entry->list && !entry->best))
            abort();
        for (uint32_t n = 0; n < entry->count; n++) {
            if (lab_entry_value(entry, n) >= v->value_count)
                abort();
            *sum += lab_entry_value(entry, n);
        }
    }
}

static void follow_table(const struct lab_table *t, size_t *sum)
{
    *sum += strlen(t->name) + strlen(t->title) + strlen(t->caption);
    if (!*t->source || !t->row_count || !t->column_count)
        abort();
    for (uint32_t i = 0; i < t->row_count; i++)
        for (uint32_t k = 0; k < t->column_count; k++)
            *sum += strlen(t->rows[i].values[k]) + strlen(t->columns[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct experiment x;
    struct error e = {0};
    size_t sum = 0;
    if (!experiment_parse(&x, &a, "fuzz.ini", (const char *)data, size, "test", &e)) {
        if (!e.kind || !e.text[0] || e.line < 1 || e.column < 1)
            abort();
    } else {
        if (!x.point_count)
            abort();
        for (uint32_t i = 0; i < x.point_count; i++)
            follow_point(&x, &x.points[i], &sum);
        for (uint32_t i = 0; i < x.figure_count; i++)
            follow_figure(&a, &x.figures[i], &sum);
        for (int axis = 0; axis < AXIS_COUNT; axis++)
            follow_axis(&x.axes[axis], &sum);
        for (uint32_t i = 0; i < x.table_count; i++)
            follow_table(&x.tables[i], &sum);
    }
    arena_free(&a);
    return 0;
}
