/* Is a launch legal, and does a block of it fit a core? gpu_check_launch (gpu.h). Inside gpu/ only. */
#ifndef HEDDLE_GPU_LAUNCH_CHECK_H
#define HEDDLE_GPU_LAUNCH_CHECK_H

#include "gpu/gpu.h"

/* The shape of the launch's clusters: its own, or that which the kernel was compiled for; all 0 means no clusters. */
void launch_cluster_of(const struct gpu_launch *in, uint32_t cluster[3]);

#endif
