/* The races that were seen (`heddle run --races`), for people. */
#ifndef HEDDLE_CUDA_RACE_REPORT_H
#define HEDDLE_CUDA_RACE_REPORT_H

#include "gpu/gpu.h"

void race_report_say(const struct gpu *g); /* nothing where none were looked for */

#endif
