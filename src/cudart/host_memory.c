/* Pinned host memory: allocated here or registered by the program, and as the device sees it. */
#include "cudart/runtime.h"

RTAPI cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned int flags)
{
    int r = rt_enter();
    if (!r && !out)
        r = cudaErrorInvalidValue;
    if (!r)
        *out = NULL;
    if (!r && bytes)
        r = cuMemHostAlloc(out, bytes,
                           flags & ~(unsigned)CU_MEMHOSTALLOC_PORTABLE); /* one device: there is nowhere to carry it */
    return rt_leave(r);
}

RTAPI cudaError_t cudaMallocHost(void **out, size_t bytes) { return cudaHostAlloc(out, bytes, 0); }
RTAPI cudaError_t cudaFreeHost(void *p) { return rt_leave(rt_enter() ?: (int)cuMemFreeHost(p)); }
RTAPI cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuMemHostRegister(p, bytes, flags));
}
RTAPI cudaError_t cudaHostUnregister(void *p) { return rt_leave(rt_enter() ?: (int)cuMemHostUnregister(p)); }
RTAPI cudaError_t cudaHostGetFlags(unsigned int *flags, void *p)
{
    return rt_leave(rt_enter() ?: (int)cuMemHostGetFlags(flags, p));
}

RTAPI cudaError_t cudaHostGetDevicePointer(void **out, void *p, unsigned int flags)
{
    CUdeviceptr address = 0;
    int r = rt_enter();
    if (!r)
        r = out ? (int)cuMemHostGetDevicePointer(&address, p, flags) : cudaErrorInvalidValue;
    if (!r)
        *out = (void *)(uintptr_t)address;
    return rt_leave(r);
}
