/* An experiment as the store has it. */
#ifndef HEDDLE_EXPERIMENT_STORED_H
#define HEDDLE_EXPERIMENT_STORED_H

#include "experiment/experiment.h"
#include "store/store.h"

/* As it was swept: its text, and which key each point has. Replaces what was there of the same name and size. keys: one
 * per point, in the order of x->points. */
bool experiment_put(struct store *s, const struct experiment *x, const char (*keys)[KEY_BYTES], struct error *e);
/* The keys of its points, found by the labels of their axes; "" for one that was not there when it was swept. keys:
 * x->point_count of them. */
bool experiment_keys(struct store *s, const struct experiment *x, char (*keys)[KEY_BYTES], struct error *e);

#endif
