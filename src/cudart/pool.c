/* Memory pools and allocations in stream order. The structures are the driver's under other names. Sharing pools
 * between processes is not supported (missing.def). */
#include "cudart/runtime.h"

typedef CUmemPoolProps cudaMemPoolProps;
typedef CUmemAccessDesc cudaMemAccessDesc;
typedef CUmemLocation cudaMemLocation;

static CUstream per_thread(cudaStream_t stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

/* A null pool: the one of the device. */
static cudaError_t allocate(void **out, size_t bytes, bool from_pool, cudaMemPool_t pool, cudaStream_t stream)
{
    CUdeviceptr address = 0;
    int r = rt_enter();
    if (!r && (!out || (from_pool && !pool)))
        r = cudaErrorInvalidValue;
    if (!r && bytes)
        r = from_pool ? cuMemAllocFromPoolAsync(&address, bytes, pool, stream)
                      : cuMemAllocAsync(&address, bytes, stream);
    if (out)
        *out = r ? NULL : (void *)(uintptr_t)address;
    return rt_leave(r);
}

RTAPI cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
    return allocate(out, bytes, false, NULL, stream);
}
RTAPI cudaError_t cudaMallocAsync_ptsz(void **out, size_t bytes, cudaStream_t stream)
{
    return allocate(out, bytes, false, NULL, per_thread(stream));
}
RTAPI cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    return allocate(out, bytes, true, pool, stream);
}
RTAPI cudaError_t cudaMallocFromPoolAsync_ptsz(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    return allocate(out, bytes, true, pool, per_thread(stream));
}

static cudaError_t release(void *p, cudaStream_t stream)
{
    return rt_leave(rt_enter() ?: p ? (int)cuMemFreeAsync((uintptr_t)p, stream) : cudaSuccess);
}
RTAPI cudaError_t cudaFreeAsync(void *p, cudaStream_t stream) { return release(p, stream); }
RTAPI cudaError_t cudaFreeAsync_ptsz(void *p, cudaStream_t stream) { return release(p, per_thread(stream)); }

/* Here CUDA calls a device that is not there a bad value. */
static int bad_value(int r) { return r == cudaErrorInvalidDevice ? (int)cudaErrorInvalidValue : r; }

RTAPI cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device)
{
    return rt_leave(rt_enter() ?: bad_value(cuDeviceGetDefaultMemPool(out, device)));
}
RTAPI cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int device)
{
    return rt_leave(rt_enter() ?: bad_value(cuDeviceGetMemPool(out, device)));
}
RTAPI cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    return rt_leave(rt_enter() ?: bad_value(cuDeviceSetMemPool(device, pool)));
}
RTAPI cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *out, cudaMemLocation *location, CUmemAllocationType type)
{
    return rt_leave(rt_enter() ?: bad_value(cuMemGetDefaultMemPool(out, location, type)));
}
RTAPI cudaError_t cudaMemGetMemPool(cudaMemPool_t *out, cudaMemLocation *location, CUmemAllocationType type)
{
    return rt_leave(rt_enter() ?: bad_value(cuMemGetMemPool(out, location, type)));
}
RTAPI cudaError_t cudaMemSetMemPool(cudaMemLocation *location, CUmemAllocationType type, cudaMemPool_t pool)
{
    return rt_leave(rt_enter() ?: bad_value(cuMemSetMemPool(location, type, pool)));
}

RTAPI cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const cudaMemPoolProps *properties)
{
    return rt_leave(rt_enter() ?: (int)cuMemPoolCreate(out, properties));
}
RTAPI cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) { return rt_leave(rt_enter() ?: (int)cuMemPoolDestroy(pool)); }
RTAPI cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
    return rt_leave(rt_enter() ?: (int)cuMemPoolTrimTo(pool, keep));
}
RTAPI cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, CUmemPool_attribute attribute, void *value)
{
    return rt_leave(rt_enter() ?: (int)cuMemPoolGetAttribute(pool, attribute, value));
}
RTAPI cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, CUmemPool_attribute attribute, void *value)
{
    return rt_leave(rt_enter() ?: (int)cuMemPoolSetAttribute(pool, attribute, value));
}
RTAPI cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *access, size_t count)
{
    return rt_leave(rt_enter() ?: (int)cuMemPoolSetAccess(pool, access, count));
}
RTAPI cudaError_t cudaMemPoolGetAccess(CUmemAccess_flags *flags, cudaMemPool_t pool, cudaMemLocation *location)
{
    return rt_leave(rt_enter() ?: (int)cuMemPoolGetAccess(flags, pool, location));
}
