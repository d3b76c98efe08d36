/* How a launch is described: cudaLaunchConfig_t. */
#ifndef HEDDLE_CUDART_LAUNCH_H
#define HEDDLE_CUDART_LAUNCH_H

#include "cudart/runtime.h"

/* As the driver's, but for the width of the shared memory. The attributes are laid out the same. */
struct launch_configuration {
    struct dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    CUlaunchAttribute *attributes;
    unsigned int attribute_count;
};

/* The driver's form of it; cudaErrorInvalidValue where it has none. */
int launch_to_driver(const struct launch_configuration *c, CUlaunchConfig *out);

#endif
