/* Functions that CUDA dropped, and that have little or nothing left to do. */
#include "cudart/runtime.h"

/* One launch for each of several devices, until CUDA 12: here, for the one. */
struct cudaLaunchParams {
    void *func;
    struct dim3 gridDim, blockDim;
    void **args;
    size_t sharedMem;
    cudaStream_t stream;
};

RTAPI cudaError_t cudaLaunchCooperativeKernel(const void *host, struct dim3 grid, struct dim3 block, void **params,
                                              size_t shared_bytes, cudaStream_t stream);

RTAPI cudaError_t cudaLaunchCooperativeKernelMultiDevice(const struct cudaLaunchParams *list, unsigned int count,
                                                         unsigned int flags)
{
    enum { KNOWN_FLAGS = 3 };
    if (!list || !count || (flags & ~(unsigned int)KNOWN_FLAGS))
        return rt_leave(cudaErrorInvalidValue);
    if (count > 1)
        return rt_leave(cudaErrorInvalidDevice);
    return cudaLaunchCooperativeKernel(list->func, list->gridDim, list->blockDim, list->args, list->sharedMem,
                                       list->stream);
}

/* For devices without double precision, which had their doubles turned into floats and back. */
RTAPI cudaError_t cudaSetDoubleForDevice(double *value)
{
    return rt_leave(value ? cudaSuccess : cudaErrorInvalidValue);
}
RT_ALIAS(cudaSetDoubleForHost, cudaSetDoubleForDevice)
