/* Managed memory, but for prefetching and advice, whose forms differ between versions of CUDA (versioned/managed.c). */
#include "cudart/runtime.h"

RTAPI cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned int flags)
{
    CUdeviceptr address = 0;
    int r = rt_enter();
    if (!r && (!out || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)))
        r = cudaErrorInvalidValue;
    if (!r && bytes)
        r = cuMemAllocManaged(&address, bytes, flags);
    if (out)
        *out = r ? NULL : (void *)(uintptr_t)address;
    return rt_leave(r);
}

RTAPI cudaError_t cudaMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute, const void *p,
                                           size_t bytes)
{
    return rt_leave(rt_enter() ?: (int)cuMemRangeGetAttribute(data, size, attribute, (uintptr_t)p, bytes));
}
RTAPI cudaError_t cudaMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *attributes, size_t count,
                                            const void *p, size_t bytes)
{
    return rt_leave(rt_enter() ?: (int)cuMemRangeGetAttributes(data, sizes, attributes, count, (uintptr_t)p, bytes));
}
