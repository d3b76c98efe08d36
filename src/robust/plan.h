/* Between plan.c and text.c; others see robust.h. */
#ifndef HEDDLE_ROBUST_PLAN_H
#define HEDDLE_ROBUST_PLAN_H

#include "experiment/figure_layout.h"
#include "robust/robust.h"

/* A figure as it is to be judged: with what --where says put in. */
struct robust_subject {
    const struct experiment *experiment;
    struct lab_space space;
    struct lab_figure figure;
    struct figure_layout layout, own; /* own: as the file has it */
    const char **programs;            /* of the request */
};

void robust_note(struct robust_plan *p, struct arena *a, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* text.c: the experiment file. */
const char *robust_text(struct robust_plan *p, struct arena *a, const struct robust_subject *s);

#endif
