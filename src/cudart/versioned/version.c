/* Which CUDA this library stands for. */
#include "cudart/runtime.h"

RTAPI cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return rt_leave(cudaErrorInvalidValue);
    *version = CUDART_MAJOR == 11 ? 11080 : CUDART_MAJOR == 12 ? 12080 : 13000;
    return cudaSuccess;
}
