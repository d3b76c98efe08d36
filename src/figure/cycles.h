/* Samples of a run as a figure over time shows them. Between figure.c and cycles.c; others see figure.h. */
#ifndef HEDDLE_FIGURE_CYCLES_H
#define HEDDLE_FIGURE_CYCLES_H

#include "figure/figure.h"

struct figure_samples {
    double *cycles, *values;
    uint32_t count;
};
/* The values of the figure's y in the launch that it names; none where the run has no such launch, or no samples. */
bool figure_samples_read(struct arena *a, struct store *store, const char *key, const struct lab_figure *f,
                         struct figure_samples *out, struct error *e);
/* Cells with their x_number set, in the order of that and of the series; and the labels of the xs. */
void figure_order_by_cycle(struct arena *a, struct figure_data *d);

#endif
