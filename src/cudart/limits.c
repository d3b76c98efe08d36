/* Limits and preferences of the device, which are those of its context. The older names, of the time when each host
 * thread had a context of its own, mean the same. */
#include "cudart/runtime.h"

RTAPI cudaError_t cudaDeviceSetLimit(CUlimit limit, size_t value)
{
    return rt_leave(rt_enter() ?: (int)cuCtxSetLimit(limit, value));
}
RTAPI cudaError_t cudaDeviceGetLimit(size_t *value, CUlimit limit)
{
    return rt_leave(rt_enter() ?: (int)cuCtxGetLimit(value, limit));
}
RTAPI cudaError_t cudaDeviceSetCacheConfig(CUfunc_cache config)
{
    return rt_leave(rt_enter() ?: (int)cuCtxSetCacheConfig(config));
}
RTAPI cudaError_t cudaDeviceGetCacheConfig(CUfunc_cache *config)
{
    return rt_leave(rt_enter() ?: (int)cuCtxGetCacheConfig(config));
}
RTAPI cudaError_t cudaDeviceSetSharedMemConfig(CUsharedconfig config)
{
    return rt_leave(rt_enter() ?: (int)cuCtxSetSharedMemConfig(config));
}
RTAPI cudaError_t cudaDeviceGetSharedMemConfig(CUsharedconfig *config)
{
    return rt_leave(rt_enter() ?: (int)cuCtxGetSharedMemConfig(config));
}
RTAPI cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return rt_leave(rt_enter() ?: (int)cuCtxResetPersistingL2Cache());
}

RT_ALIAS(cudaThreadSetLimit, cudaDeviceSetLimit)
RT_ALIAS(cudaThreadGetLimit, cudaDeviceGetLimit)
RT_ALIAS(cudaThreadSetCacheConfig, cudaDeviceSetCacheConfig)
RT_ALIAS(cudaThreadGetCacheConfig, cudaDeviceGetCacheConfig)
