/* Kernels as objects: their handles, names, attributes and parameters. */
#include "cudart/registry.h"

RTAPI cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host);
RTAPI cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host)
{
    return rt_leave(out ? rt_enter() ?: rt_kernel(host, out) : (int)cudaErrorInvalidValue);
}
RT_ALIAS(cudaGetKernel, __cudaGetKernel)
