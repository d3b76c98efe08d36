/* 3D copies between linear memory and arrays. */
#include "cudart/array.h"
#include "cudart/copy.h"
#include "cudart/runtime.h"

#include <string.h>

/* 1 for linear memory. */
static int element_bytes(cudaArray_t array, size_t *bytes)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    int r = array ? (int)cuArray3DGetDescriptor(&d, array) : cudaSuccess;
    if (!r)
        *bytes = array ? rt_texel_bytes(d.Format, d.NumChannels) : 1;
    return r;
}

/* Either a pointer or an array, and the direction must suit an array. */
static int check_sides(const struct cudaMemcpy3DParms *p)
{
    if (!p->srcArray == !p->srcPtr.ptr || !p->dstArray == !p->dstPtr.ptr)
        return cudaErrorInvalidValue;
    if ((p->srcArray && p->kind == cudaMemcpyHostToDevice) || (p->dstArray && p->kind == cudaMemcpyDeviceToHost))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* Whether the rows and slices of a box fit the pitched memory they lie in. */
static bool fits(const struct cudaPitchedPtr *p, size_t x_bytes, size_t y, size_t width, const struct cudaExtent *e,
                 bool with_array)
{
    bool several = e->height > 1 || e->depth > 1;
    if ((several || p->pitch) && p->pitch < x_bytes + width)
        return false;
    return !p->ysize || p->ysize >= y + e->height || (!with_array && e->depth == 1);
}

/* Where an array takes part, all widths and positions count its elements, those in linear memory too. NVIDIA's manual
 * says bytes for the latter; their library does as here. */
int rt_copy_3d_box(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *box)
{
    CUmemorytype from, to;
    size_t from_bytes, to_bytes;
    bool with_array = p->srcArray || p->dstArray;
    memset(box, 0, sizeof *box);
    if (!p->extent.width || !p->extent.height || !p->extent.depth)
        return cudaSuccess;
    if (!rt_copy_sides(p->kind, &from, &to))
        return cudaErrorInvalidMemcpyDirection;
    int r = check_sides(p) ?: element_bytes(p->srcArray, &from_bytes) ?: element_bytes(p->dstArray, &to_bytes);
    if (!r && p->srcArray && p->dstArray && from_bytes != to_bytes)
        r = cudaErrorInvalidValue;
    if (r)
        return r;
    size_t element = p->srcArray ? from_bytes : to_bytes;
    *box = (CUDA_MEMCPY3D){
        .srcXInBytes = p->srcPos.x * element,
        .srcY = p->srcPos.y,
        .srcZ = p->srcPos.z,
        .srcHeight = p->srcPtr.ysize,
        .dstXInBytes = p->dstPos.x * element,
        .dstY = p->dstPos.y,
        .dstZ = p->dstPos.z,
        .dstHeight = p->dstPtr.ysize,
        .WidthInBytes = p->extent.width * element,
        .Height = p->extent.height,
        .Depth = p->extent.depth,
    };
    if ((!p->srcArray && !fits(&p->srcPtr, box->srcXInBytes, box->srcY, box->WidthInBytes, &p->extent, with_array)) ||
        (!p->dstArray && !fits(&p->dstPtr, box->dstXInBytes, box->dstY, box->WidthInBytes, &p->extent, with_array)))
        return with_array ? cudaErrorInvalidValue : cudaErrorInvalidPitchValue;
    rt_box_from(box, p->srcArray ? CU_MEMORYTYPE_ARRAY : from, p->srcPtr.ptr, p->srcPtr.pitch);
    rt_box_to(box, p->dstArray ? CU_MEMORYTYPE_ARRAY : to, p->dstPtr.ptr, p->dstPtr.pitch);
    box->srcArray = p->srcArray;
    box->dstArray = p->dstArray;
    return cudaSuccess;
}

static cudaError_t copy(const struct cudaMemcpy3DParms *p, struct copy_order order)
{
    CUDA_MEMCPY3D box;
    int r = rt_enter();
    if (!r)
        r = p ? rt_copy_3d_box(p, &box) : cudaErrorInvalidValue;
    return rt_leave(r ?: rt_copy_box(&box, order));
}

RTAPI cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) { return copy(p, RT_NOW); }
RTAPI cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *p) { return copy(p, RT_NOW_PER_THREAD); }
RTAPI cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return copy(p, RT_LATER(stream));
}
RTAPI cudaError_t cudaMemcpy3DAsync_ptsz(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return copy(p, RT_LATER_PER_THREAD(stream));
}

/* One device: a peer copy is a copy on it. */
static cudaError_t copy_peer(const struct cudaMemcpy3DPeerParms *p, struct copy_order order)
{
    int count = 0, r = rt_enter() ?: (int)cuDeviceGetCount(&count);
    if (!r && !p)
        r = cudaErrorInvalidValue;
    if (!r && (p->srcDevice < 0 || p->srcDevice >= count || p->dstDevice < 0 || p->dstDevice >= count))
        r = cudaErrorInvalidDevice;
    if (r)
        return rt_leave(r);
    struct cudaMemcpy3DParms plain = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                      p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
    return copy(&plain, order);
}

RTAPI cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p) { return copy_peer(p, RT_NOW); }
RTAPI cudaError_t cudaMemcpy3DPeer_ptds(const struct cudaMemcpy3DPeerParms *p)
{
    return copy_peer(p, RT_NOW_PER_THREAD);
}
RTAPI cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return copy_peer(p, RT_LATER(stream));
}
RTAPI cudaError_t cudaMemcpy3DPeerAsync_ptsz(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return copy_peer(p, RT_LATER_PER_THREAD(stream));
}
