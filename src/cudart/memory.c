/* Device memory: linear and pitched allocations, and how much is left. */
#include "cudart/memory_types.h"
#include "cudart/runtime.h"

/* No bytes are no error: the program gets a null pointer, which it may free. It gets one too where there is an
 * error. */
RTAPI cudaError_t cudaMalloc(void **out, size_t bytes)
{
    CUdeviceptr address = 0;
    int r = rt_enter();
    if (!r && !out)
        r = cudaErrorInvalidValue;
    if (!r && bytes)
        r = cuMemAlloc(&address, bytes);
    if (out)
        *out = r ? NULL : (void *)(uintptr_t)address;
    return rt_leave(r);
}

RTAPI cudaError_t cudaFree(void *p) { return rt_leave(rt_enter() ?: (int)cuMemFree((uintptr_t)p)); }

static int allocate_pitched(void **out, size_t *pitch, size_t width, size_t height)
{
    CUdeviceptr address = 0;
    *out = NULL;
    *pitch = 0;
    if (!width || !height)
        return cudaSuccess;
    int r = cuMemAllocPitch(&address, pitch, width, height, 4);
    if (!r)
        *out = (void *)(uintptr_t)address;
    return r;
}

RTAPI cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    int r = rt_enter();
    if (!r)
        r = out && pitch ? allocate_pitched(out, pitch, width, height) : cudaErrorInvalidValue;
    return rt_leave(r);
}

RTAPI cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
    size_t rows = 0;
    int r = rt_enter();
    if (!r && !out)
        r = cudaErrorInvalidValue;
    if (!r && __builtin_mul_overflow(extent.height, extent.depth, &rows))
        r = cudaErrorMemoryAllocation;
    if (!r)
        r = allocate_pitched(&out->ptr, &out->pitch, extent.width, rows);
    if (!r) {
        out->xsize = extent.width;
        out->ysize = extent.height;
    }
    return rt_leave(r);
}

RTAPI cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    return rt_leave(rt_enter() ?: (int)cuMemGetInfo(free_bytes, total_bytes));
}
