/* Copies as nodes of graphs: of boxes, of bytes in a row, to and from variables of the device. All are boxes to the
 * driver. */
#include "cudart/array.h"
#include "cudart/copy.h"
#include "cudart/graph.h"
#include "cudart/registry.h"

#include <string.h>

#define AFTER       cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *dependencies, size_t count
#define BYTES       void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind
#define TO_SYMBOL   const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind
#define FROM_SYMBOL void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind

static int box_of_params(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *box)
{
    int r = rt_enter();
    if (!r)
        r = p ? rt_copy_3d_box(p, box) : (int)cudaErrorInvalidValue;
    return r;
}

static int box_of_bytes(BYTES, CUDA_MEMCPY3D *box)
{
    CUmemorytype from_type, to_type;
    memset(box, 0, sizeof *box);
    int r = rt_enter();
    if (!r && !rt_copy_sides(kind, &from_type, &to_type))
        r = cudaErrorInvalidMemcpyDirection;
    if (r)
        return r;
    rt_box_from(box, from_type, from, 0);
    rt_box_to(box, to_type, to, 0);
    box->WidthInBytes = bytes;
    box->Height = box->Depth = 1;
    return cudaSuccess;
}

static int place(const void *symbol, size_t bytes, size_t offset, char **out)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    int r = rt_enter() ?: rt_symbol(symbol, &address, &size);
    if (!r && (offset > size || bytes > size - offset))
        r = cudaErrorInvalidValue;
    *out = (char *)(uintptr_t)address + offset;
    return r;
}

static int box_to_symbol(TO_SYMBOL, CUDA_MEMCPY3D *box)
{
    char *to = NULL;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        return cudaErrorInvalidMemcpyDirection;
    return place(symbol, bytes, offset, &to) ?: box_of_bytes(to, from, bytes, kind, box);
}

static int box_from_symbol(FROM_SYMBOL, CUDA_MEMCPY3D *box)
{
    char *from = NULL;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return cudaErrorInvalidMemcpyDirection;
    return place(symbol, bytes, offset, &from) ?: box_of_bytes(to, from, bytes, kind, box);
}

static cudaError_t add(AFTER, int r, const CUDA_MEMCPY3D *box)
{
    return rt_leave(r ?: (int)cuGraphAddMemcpyNode(out, g, dependencies, count, box, rt_context()));
}
static cudaError_t set(cudaGraphNode_t n, int r, const CUDA_MEMCPY3D *box)
{
    return rt_leave(r ?: (int)cuGraphMemcpyNodeSetParams(n, box));
}
static cudaError_t exec_set(cudaGraphExec_t x, cudaGraphNode_t n, int r, const CUDA_MEMCPY3D *box)
{
    return rt_leave(r ?: (int)cuGraphExecMemcpyNodeSetParams(x, n, box, rt_context()));
}

/* The three calls for each way to describe a copy. */
#define COPY_NODE(add_name, set_name, parameters, make)                                         \
    RTAPI cudaError_t cudaGraphAdd##add_name(AFTER, parameters)                                 \
    {                                                                                           \
        CUDA_MEMCPY3D box;                                                                      \
        int r = make;                                                                           \
        return add(out, g, dependencies, count, r, &box);                                       \
    }                                                                                           \
    RTAPI cudaError_t cudaGraph##set_name(cudaGraphNode_t n, parameters)                        \
    {                                                                                           \
        CUDA_MEMCPY3D box;                                                                      \
        int r = make;                                                                           \
        return set(n, r, &box);                                                                 \
    }                                                                                           \
    RTAPI cudaError_t cudaGraphExec##set_name(cudaGraphExec_t x, cudaGraphNode_t n, parameters) \
    {                                                                                           \
        CUDA_MEMCPY3D box;                                                                      \
        int r = make;                                                                           \
        return exec_set(x, n, r, &box);                                                         \
    }
COPY_NODE(MemcpyNode, MemcpyNodeSetParams, const struct cudaMemcpy3DParms *p, box_of_params(p, &box))
COPY_NODE(MemcpyNode1D, MemcpyNodeSetParams1D, BYTES, box_of_bytes(to, from, bytes, kind, &box))
COPY_NODE(MemcpyNodeToSymbol, MemcpyNodeSetParamsToSymbol, TO_SYMBOL,
          box_to_symbol(symbol, from, bytes, offset, kind, &box))
COPY_NODE(MemcpyNodeFromSymbol, MemcpyNodeSetParamsFromSymbol, FROM_SYMBOL,
          box_from_symbol(to, symbol, bytes, offset, kind, &box))

/* Back to the runtime's words: positions and widths in elements where an array is involved. */
static size_t element_bytes(cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    return array && cuArray3DGetDescriptor(&d, array) == CUDA_SUCCESS ? rt_texel_bytes(d.Format, d.NumChannels) : 1;
}

static bool may_be_host(CUmemorytype type) { return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_UNIFIED; }

static enum cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to)
{
    if (from == CU_MEMORYTYPE_UNIFIED && to == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    if (may_be_host(from))
        return may_be_host(to) ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return may_be_host(to) ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

static struct cudaPitchedPtr pointer_of(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
                                        size_t width, size_t height)
{
    if (type == CU_MEMORYTYPE_ARRAY)
        return (struct cudaPitchedPtr){0};
    return (struct cudaPitchedPtr){type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)host : (void *)(uintptr_t)device,
                                   pitch ? pitch : width, width, height};
}

RTAPI cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t n, struct cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D b;
    int r = rt_enter() ?: (p ? (int)cuGraphMemcpyNodeGetParams(n, &b) : (int)cudaErrorInvalidValue);
    if (r)
        return rt_leave(r);
    cudaArray_t from = b.srcMemoryType == CU_MEMORYTYPE_ARRAY ? b.srcArray : NULL,
                to = b.dstMemoryType == CU_MEMORYTYPE_ARRAY ? b.dstArray : NULL;
    size_t element = element_bytes(from ? from : to);
    *p = (struct cudaMemcpy3DParms){
        .srcArray = from,
        .srcPos = {b.srcXInBytes / element, b.srcY, b.srcZ},
        .srcPtr = pointer_of(b.srcMemoryType, b.srcHost, b.srcDevice, b.srcPitch, b.WidthInBytes,
                             b.srcHeight ? b.srcHeight : b.Height),
        .dstArray = to,
        .dstPos = {b.dstXInBytes / element, b.dstY, b.dstZ},
        .dstPtr = pointer_of(b.dstMemoryType, b.dstHost, b.dstDevice, b.dstPitch, b.WidthInBytes,
                             b.dstHeight ? b.dstHeight : b.Height),
        .extent = {b.WidthInBytes / element, b.Height, b.Depth},
        .kind = kind_of(b.srcMemoryType, b.dstMemoryType),
    };
    return rt_leave(cudaSuccess);
}
