/* Arithmetic over metrics: numbers, names of metrics ("l1d.misses"), + - * / and parentheses. */
#ifndef HEDDLE_EXPERIMENT_EXPRESSION_H
#define HEDDLE_EXPERIMENT_EXPRESSION_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

struct expression;

/* source, line, column: where the text stands, for messages with a caret. */
struct expression *expression_parse(struct arena *a, const char *text, const struct source *source, int line,
                                    int column, struct error *e);
/* The metrics it names, each once. */
uint32_t expression_names(const struct expression *x, const char *const **names);
/* values: in the order of expression_names; NAN: not known. The result is NAN where it needs one that is not known, and
 * where it divides by zero. */
double expression_value(const struct expression *x, const double *values);

#endif
