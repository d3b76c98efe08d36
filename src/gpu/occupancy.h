/* How many thread blocks of a launch fit one core. What gpu.h asks of it: gpu_occupancy, gpu_max_dynamic_shared,
 * gpu_spilled_to. Inside gpu/ only. */
#ifndef HEDDLE_GPU_OCCUPANCY_H
#define HEDDLE_GPU_OCCUPANCY_H

#include "gpu/gpu.h"

enum {
    LARGEST_BLOCK = 1024, /* threads */
    LEAST_REGISTERS = 16, /* of a thread: an assembler spills down to that */
};

/* Shared memory of a block: what the kernel declares, or where its dynamic part ends. */
uint64_t launch_shared_bytes(const struct exec_function *kernel, uint32_t dynamic_bytes);

#endif
