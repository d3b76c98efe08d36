/* The parts of a launch's results that are there only when asked for: "pcs" (--pcs, or a policy with counters of
 * instructions) and "series" (--interval). */
#ifndef HEDDLE_CUDA_STATS_PROFILE_H
#define HEDDLE_CUDA_STATS_PROFILE_H

#include "gpu/gpu.h"

#include <jansson.h>

/* A list, one object for each instruction that was executed (--pcs) or for which a policy counted something. NULL:
 * not asked for. */
json_t *stats_pcs(const struct gpu_kernel *k);
/* An object: interval, cycles, values. NULL: not asked for. */
json_t *stats_series(const struct gpu_kernel *k);

#endif
