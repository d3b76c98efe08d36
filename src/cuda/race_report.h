/* The races that were seen (`heddle run --races`), for people and as JSON. */
#ifndef HEDDLE_CUDA_RACE_REPORT_H
#define HEDDLE_CUDA_RACE_REPORT_H

#include "gpu/gpu.h"

#include <jansson.h>

void race_report_say(const struct gpu *g);     /* nothing where none were looked for */
json_t *race_report_json(const struct gpu *g); /* where they were */

#endif
