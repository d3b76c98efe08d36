/* Hooks of policies that do not come back. */
#ifndef HEDDLE_CUDA_POLICY_HANG_H
#define HEDDLE_CUDA_POLICY_HANG_H

#include "cuda/internal.h"

/* For policies from shared objects, which were found: one that stays in a hook for HEDDLE_HOOK_SECONDS ends the
 * process. */
void policy_hang_watch(struct driver *d);
/* Around calls of the simulator in which hooks may be called, by one thread at a time. g: NULL while it is made. Cost
 * nothing where there is no watch. */
void policy_hang_begin(const struct gpu *g);
void policy_hang_end(void);

#endif
