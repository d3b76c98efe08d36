/* The counters of a launch, or of a run, as the members of a JSON object. */
#ifndef HEDDLE_RESULTS_COUNTERS_JSON_H
#define HEDDLE_RESULTS_COUNTERS_JSON_H

#include "gpu/gpu.h"

#include <jansson.h>

void put_counters(json_t *to, const struct gpu_counters *c, const struct gpu_options *o);

#endif
