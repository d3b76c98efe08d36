/* A picture of two issue orders on one core: warps down, cycles across, coloured by reason, one run above the other. */
#ifndef HEDDLE_SCHEDULE_PICTURE_H
#define HEDDLE_SCHEDULE_PICTURE_H

#include "schedule/order_reader.h"

#include <stdio.h>

struct picture {
    const struct order_file *files[2];
    const char *names[2]; /* of the runs */
    uint32_t core;
    uint64_t from, to; /* cycles from <= c < to */
    uint64_t marks[2]; /* the cycle of the first difference in each; UINT64_MAX: none */
};

/* As SVG. Where there are more cycles than columns, a column has the reason of most of its cycles. */
bool picture_write(const struct picture *p, FILE *to, struct error *e);

#endif
