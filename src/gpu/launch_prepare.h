/* What a launch needs before it can start. Inside gpu/ only. */
#ifndef HEDDLE_GPU_LAUNCH_PREPARE_H
#define HEDDLE_GPU_LAUNCH_PREPARE_H

#include "gpu/launch.h"

/* Fills in what the warps of the launch share, its blocks with slots for as many as fit the machine, its parameters and
 * workspace in device memory. False: *e, and what was made is in *r, for the caller to release. */
bool launch_prepare(struct residency *r, const struct gpu_launch *in, struct error *e);

#endif
