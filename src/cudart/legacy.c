/* Functions that CUDA dropped long ago and that have nothing left to do. */
#include "cudart/runtime.h"

/* For devices without double precision, which had their doubles turned into floats and back. */
RTAPI cudaError_t cudaSetDoubleForDevice(double *value) { return rt_leave(value ? cudaSuccess : cudaErrorInvalidValue); }
RT_ALIAS(cudaSetDoubleForHost, cudaSetDoubleForDevice)
