/* Copies of bytes in a row, and what all copies share.
 *
 * Addresses are unified: a side that the kind calls host may be any memory. One that it calls device must be memory
 * that the device can reach, which pinned and managed memory are and other host memory is not. So does CUDA. */
#include "cudart/copy.h"
#include "cudart/runtime.h"

bool rt_copy_sides(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to)
{
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: *from = *to = CU_MEMORYTYPE_UNIFIED; return true;
    case cudaMemcpyHostToDevice:
        *from = CU_MEMORYTYPE_UNIFIED;
        *to = CU_MEMORYTYPE_DEVICE;
        return true;
    case cudaMemcpyDeviceToHost:
        *from = CU_MEMORYTYPE_DEVICE;
        *to = CU_MEMORYTYPE_UNIFIED;
        return true;
    case cudaMemcpyDeviceToDevice: *from = *to = CU_MEMORYTYPE_DEVICE; return true;
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
    if (!bytes)
        kind = cudaMemcpyDefault; /* nothing to copy is right in any direction */
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

void rt_box_from_array(CUDA_MEMCPY3D *box, cudaArray_t array, size_t x_bytes, size_t y)
{
    box->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    box->srcArray = array;
    box->srcXInBytes = x_bytes;
    box->srcY = y;
}

void rt_box_to_array(CUDA_MEMCPY3D *box, cudaArray_t array, size_t x_bytes, size_t y)
{
    box->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    box->dstArray = array;
    box->dstXInBytes = x_bytes;
    box->dstY = y;
}

static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, struct copy_order order)
{
    return rt_leave(rt_enter() ?: rt_copy(to, from, bytes, kind, order));
}

RTAPI cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy(to, from, bytes, kind, RT_NOW);
}
RTAPI cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy(to, from, bytes, kind, RT_NOW_PER_THREAD);
}

RTAPI cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                  cudaStream_t stream)
{
    return copy(to, from, bytes, kind, RT_LATER(stream));
}
RTAPI cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                       cudaStream_t stream)
{
    return copy(to, from, bytes, kind, RT_LATER_PER_THREAD(stream));
}

/* One device: a peer copy is a copy on it. */
static int copy_peer(void *to, int to_device, const void *from, int from_device, size_t bytes, struct copy_order order)
{
    int count = 0, r = rt_enter() ?: (int)cuDeviceGetCount(&count);
    if (!r && (to_device < 0 || to_device >= count || from_device < 0 || from_device >= count))
        r = cudaErrorInvalidDevice;
    return r ?: rt_copy(to, from, bytes, cudaMemcpyDeviceToDevice, order);
}

RTAPI cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    return rt_leave(copy_peer(to, to_device, from, from_device, bytes, RT_NOW));
}
RTAPI cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                      cudaStream_t stream)
{
    return rt_leave(copy_peer(to, to_device, from, from_device, bytes, RT_LATER(stream)));
}
