/* Kernels as objects: their handles, names, parameters and settings. What cudaFuncGetAttributes fills in differs
 * between the generations: versioned/. */
#include "cudart/registry.h"

RTAPI cudaError_t cudaGetKernel(cudaKernel_t *out, const void *host);
RTAPI cudaError_t cudaGetKernel(cudaKernel_t *out, const void *host)
{
    return rt_leave(out ? rt_enter() ?: rt_kernel(host, out) : (int)cudaErrorInvalidValue);
}

/* Compiled code asks once and keeps the answer for all launches, looking at no error. Where there is no kernel, the
 * function's own address is the handle, with which each launch then fails for the right reason. */
RTAPI cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host);
RTAPI cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host)
{
    if (!out)
        return rt_leave(cudaErrorInvalidValue);
    if ((rt_enter() ?: rt_kernel(host, out)) != CUDA_SUCCESS)
        *out = (cudaKernel_t)(uintptr_t)host;
    return cudaSuccess;
}

RTAPI cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *host);
RTAPI cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *host)
{
    int r = out ? rt_enter() ?: rt_function(host, out) : (int)cudaErrorInvalidValue;
    return rt_leave(r == rt_no_function(host) ? (int)cudaErrorInvalidDeviceFunction
                                              : r); /* in all generations, unlike launches */
}

RTAPI cudaError_t cudaFuncSetAttribute(const void *host, int attribute, int value);
RTAPI cudaError_t cudaFuncSetAttribute(const void *host, int attribute, int value)
{
    CUfunction f = NULL;
    int r = rt_enter() ?: rt_function(host, &f);
    return rt_leave(r ?: (int)cuFuncSetAttribute(f, (CUfunction_attribute)attribute, value));
}

RTAPI cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, int attribute, int value, int device);
RTAPI cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, int attribute, int value, int device)
{
    return rt_leave(rt_enter() ?: (int)cuKernelSetAttribute((CUfunction_attribute)attribute, value, kernel, device));
}

RTAPI cudaError_t cudaFuncSetCacheConfig(const void *host, int config);
RTAPI cudaError_t cudaFuncSetCacheConfig(const void *host, int config)
{
    CUfunction f = NULL;
    return rt_leave(rt_enter() ?: rt_function(host, &f) ?: (int)cuFuncSetCacheConfig(f, (CUfunc_cache)config));
}

RTAPI cudaError_t cudaFuncSetSharedMemConfig(const void *host, int config);
RTAPI cudaError_t cudaFuncSetSharedMemConfig(const void *host, int config)
{
    CUfunction f = NULL;
    return rt_leave(rt_enter() ?: rt_function(host, &f) ?: (int)cuFuncSetSharedMemConfig(f, (CUsharedconfig)config));
}

RTAPI cudaError_t cudaFuncGetName(const char **name, const void *host);
RTAPI cudaError_t cudaFuncGetName(const char **name, const void *host)
{
    CUfunction f = NULL;
    if (!name)
        return rt_leave(cudaErrorInvalidValue);
    return rt_leave(rt_enter() ?: rt_function(host, &f) ?: (int)cuFuncGetName(name, f));
}

RTAPI cudaError_t cudaFuncGetParamInfo(const void *host, size_t index, size_t *offset, size_t *bytes);
RTAPI cudaError_t cudaFuncGetParamInfo(const void *host, size_t index, size_t *offset, size_t *bytes)
{
    CUfunction f = NULL;
    if (!offset)
        return rt_leave(cudaErrorInvalidValue);
    return rt_leave(rt_enter() ?: rt_function(host, &f) ?: (int)cuFuncGetParamInfo(f, index, offset, bytes));
}
