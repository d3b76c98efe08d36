/* The record of a launch: what is kept of it in gpu.kernels. Inside gpu/ only. */
#ifndef HEDDLE_GPU_LAUNCH_RECORD_H
#define HEDDLE_GPU_LAUNCH_RECORD_H

#include "gpu/launch.h"

/* The launch has started, and gets its number. Records of launches are in the order of their starts; records of
 * kernels, in the order in which the first launch of each has ended. */
void launch_record_begin(struct gpu *g, struct residency *r);
/* The launch has ended. */
void launch_record_end(struct gpu *g, const struct residency *r);

#endif
