/* libFuzzer target: any bytes as an experiment file. What is refused has a message with a place in the text; of what is read, every point and every figure is followed. */
#include "lab/experiment.h"
#include "lab/expression.h"

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
    *sum += strlen(f->name) + strlen(f->title) + strlen(f->caption) + strlen(f->x) + strlen(f->x_title) + strlen(f->y_title);
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
    }
    arena_free(&a);
    return 0;
}
