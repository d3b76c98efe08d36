/* Copies of bytes in a row, and what all copies share.
 *
 * Addresses are unified, so the driver can tell host from device memory. The kind a program gives still counts: its sides are named to the driver, which refuses device memory that is
 * not there. */
#include "cudart/copy.h"
#include "cudart/runtime.h"

bool rt_copy_sides(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to)
{
    switch (kind) {
    case cudaMemcpyHostToHost: *from = *to = CU_MEMORYTYPE_UNIFIED; return true;
    case cudaMemcpyHostToDevice: *from = CU_MEMORYTYPE_HOST; *to = CU_MEMORYTYPE_DEVICE; return true;
    case cudaMemcpyDeviceToHost: *from = CU_MEMORYTYPE_DEVICE; *to = CU_MEMORYTYPE_HOST; return true;
    case cudaMemcpyDeviceToDevice: *from = *to = CU_MEMORYTYPE_DEVICE; return true;
    case cudaMemcpyDefault: *from = *to = CU_MEMORYTYPE_UNIFIED; return true;
    default: return false;
    }
}

static int copy_later(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, CUstream stream)
{
    CUdeviceptr target = (uintptr_t)to, source = (uintptr_t)from;
    switch (kind) {
    case cudaMemcpyHostToDevice: return cuMemcpyHtoDAsync(target, from, bytes, stream);
    case cudaMemcpyDeviceToHost: return cuMemcpyDtoHAsync(to, source, bytes, stream);
    case cudaMemcpyDeviceToDevice: return cuMemcpyDtoDAsync(target, source, bytes, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return cuMemcpyAsync(target, source, bytes, stream);
    default: return cudaErrorInvalidMemcpyDirection;
    }
}

static int copy_now(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    CUdeviceptr target = (uintptr_t)to, source = (uintptr_t)from;
    switch (kind) {
    case cudaMemcpyHostToDevice: return cuMemcpyHtoD(target, from, bytes);
    case cudaMemcpyDeviceToHost: return cuMemcpyDtoH(to, source, bytes);
    case cudaMemcpyDeviceToDevice: return cuMemcpyDtoD(target, source, bytes);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return cuMemcpy(target, source, bytes);
    default: return cudaErrorInvalidMemcpyDirection;
    }
}

int rt_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, struct copy_order order)
{
    if (order.wait && !order.stream)
        return copy_now(to, from, bytes, kind);
    int r = copy_later(to, from, bytes, kind, order.stream);
    return !r && order.wait ? (int)cuStreamSynchronize(order.stream) : r;
}

int rt_copy_box(const CUDA_MEMCPY3D *box, struct copy_order order)
{
    if (order.wait && !order.stream)
        return cuMemcpy3D(box);
    int r = cuMemcpy3DAsync(box, order.stream);
    return !r && order.wait ? (int)cuStreamSynchronize(order.stream) : r;
}

void rt_box_from(CUDA_MEMCPY3D *box, CUmemorytype type, const void *p, size_t pitch)
{
    box->srcMemoryType = type;
    box->srcHost = p;
    box->srcDevice = (uintptr_t)p;
    box->srcPitch = pitch;
}

void rt_box_to(CUDA_MEMCPY3D *box, CUmemorytype type, void *p, size_t pitch)
{
    box->dstMemoryType = type;
    box->dstHost = p;
    box->dstDevice = (uintptr_t)p;
    box->dstPitch = pitch;
}

static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, struct copy_order order)
{
    return rt_leave(rt_enter() ?: rt_copy(to, from, bytes, kind, order));
}

RTAPI cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) { return copy(to, from, bytes, kind, RT_NOW); }
RTAPI cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy(to, from, bytes, kind, RT_NOW_PER_THREAD);
}

RTAPI cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy(to, from, bytes, kind, RT_LATER(stream));
}
RTAPI cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy(to, from, bytes, kind, RT_LATER_PER_THREAD(stream));
}
