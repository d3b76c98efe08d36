/* Figures over time (x = cycle): an expression over the samples of a launch, one value a sample. Of a launch with more
 * samples than a picture can show, neighbours are put together and their mean is taken, so that a count stays one of as
 * many cycles as before. */
#include "figure/cycles.h"
#include "experiment/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 2000 };

static void put_together(struct figure_samples *s)
{
    uint32_t width = (s->count + MOST_SHOWN - 1) / MOST_SHOWN, shown = 0;
    for (uint32_t i = 0; width > 1 && i < s->count; i += width) {
        uint32_t end = i + width < s->count ? i + width : s->count, counted = 0;
        double sum = 0;
        for (uint32_t k = i; k < end; k++)
            if (!isnan(s->values[k])) {
                sum += s->values[k];
                counted++;
            }
        s->cycles[shown] = s->cycles[end - 1];
        s->values[shown++] = counted ? sum / counted : NAN;
    }
    if (width > 1)
        s->count = shown;
}

bool figure_samples_read(struct arena *a, struct store *store, const char *key, const struct lab_figure *f,
                         struct figure_samples *out, struct error *e)
{
    struct source place = {f->name, f->y[0], strlen(f->y[0])};
    const struct expression *x = expression_parse(a, f->y[0], &place, 1, 1, e);
    const char *const *names;
    struct store_samples samples;
    *out = (struct figure_samples){0};
    if (!x)
        return false;
    uint32_t count = expression_names(x, &names);
    if (!store_samples(store, a, key, f->launch, names, count, &samples, e))
        return false;
    out->count = samples.count;
    out->cycles = samples.cycles;
    out->values = arena_array(a, double, samples.count);
    for (uint32_t i = 0; i < samples.count; i++)
        out->values[i] = expression_value(x, &samples.values[(size_t)i * count]);
    put_together(out);
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct figure_cell *x = a, *y = b;
    return x->x_number != y->x_number ? (x->x_number > y->x_number) - (x->x_number < y->x_number)
                                      : (x->series > y->series) - (x->series < y->series);
}

void figure_order_by_cycle(struct arena *a, struct figure_data *d)
{
    if (d->cell_count)
        qsort(d->cells, d->cell_count, sizeof *d->cells, by_place);
    d->xs = arena_array(a, const char *, d->cell_count + 1);
    for (uint32_t i = 0; i < d->cell_count; i++) {
        if (!i || d->cells[i].x_number != d->cells[i - 1].x_number)
            d->xs[d->x_count++] = arena_printf(a, "%.0f", d->cells[i].x_number);
        d->cells[i].x = d->x_count - 1;
    }
}
