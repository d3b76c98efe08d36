/* Many copies in one call (CUDA 12.8 and later; until 13 they also say which one failed). They are made one after
 * another, in the order given. */
#include "cudart/array.h"
#include "cudart/copy.h"
#include "cudart/runtime.h"

#if CUDART_MAJOR >= 12
struct cudaMemcpyAttributes {
    int srcAccessOrder;
    CUmemLocation srcLocHint, dstLocHint;
    unsigned int flags;
};

enum { ORDER_STREAM = 1, ORDER_ANY = 3 };

/* Hints about where memory is are not needed here, and not looked at. */
static int check(const struct cudaMemcpyAttributes *attributes, const size_t *first, size_t attribute_count,
                 size_t count)
{
    if (!attributes || !first || !attribute_count || attribute_count > count || first[0])
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < attribute_count; i++)
        if (attributes[i].srcAccessOrder < ORDER_STREAM || attributes[i].srcAccessOrder > ORDER_ANY ||
            (i && first[i] <= first[i - 1]))
            return cudaErrorInvalidValue;
    return cudaSuccess;
}

#define LIST                                                                     \
    void *const *to, const void *const *from, const size_t *bytes, size_t count, \
        struct cudaMemcpyAttributes *attributes, size_t *first, size_t attribute_count

static cudaError_t copy_linear(LIST, size_t *failed, CUstream stream)
{
    size_t i = SIZE_MAX;
    int r = rt_enter();
    if (!r)
        r = to && from && bytes && count ? check(attributes, first, attribute_count, count) : cudaErrorInvalidValue;
    for (i = 0; i < count && !r; i++)
        r = rt_copy(to[i], from[i], bytes[i], cudaMemcpyDefault, RT_LATER(stream));
    if (r && failed)
        *failed = i ? i - 1 : SIZE_MAX;
    return rt_leave(r);
}

struct cudaMemcpy3DOperand {
    enum { OPERAND_POINTER = 1, OPERAND_ARRAY = 2 } type;
    union {
        struct {
            void *ptr;
            size_t rowLength, layerHeight;
            CUmemLocation locHint;
        } ptr;
        struct {
            cudaArray_t array;
            struct cudaPos offset;
        } array;
    } op;
};
struct cudaMemcpy3DBatchOp {
    struct cudaMemcpy3DOperand src, dst;
    struct cudaExtent extent;
    int srcAccessOrder;
    unsigned int flags;
};

static int element_bytes(const struct cudaMemcpy3DOperand *o, size_t *bytes)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (o->type == OPERAND_POINTER)
        return cudaSuccess;
    int r = o->type == OPERAND_ARRAY ? (int)cuArray3DGetDescriptor(&d, o->op.array.array) : cudaErrorInvalidValue;
    if (!r)
        *bytes = rt_texel_bytes(d.Format, d.NumChannels);
    return r;
}

/* Lengths of rows count elements: those of the array in the copy, or bytes. 0: rows lie close together. */
static void side(const struct cudaMemcpy3DOperand *o, size_t element, const struct cudaExtent *e, cudaArray_t *array,
                 struct cudaPos *at, struct cudaPitchedPtr *p)
{
    if (o->type == OPERAND_ARRAY) {
        *array = o->op.array.array;
        *at = o->op.array.offset;
        return;
    }
    size_t row = o->op.ptr.rowLength ? o->op.ptr.rowLength : e->width,
           rows = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : e->height;
    *p = (struct cudaPitchedPtr){o->op.ptr.ptr, row * element, row, rows};
}

static int copy_one(const struct cudaMemcpy3DBatchOp *op, CUstream stream)
{
    struct cudaMemcpy3DParms p = {.extent = op->extent, .kind = cudaMemcpyDefault};
    CUDA_MEMCPY3D box;
    size_t element = 1;
    int r = element_bytes(&op->src, &element) ?: element_bytes(&op->dst, &element);
    if (!r && (op->srcAccessOrder < ORDER_STREAM || op->srcAccessOrder > ORDER_ANY))
        r = cudaErrorInvalidValue;
    if (r)
        return r;
    side(&op->src, element, &op->extent, &p.srcArray, &p.srcPos, &p.srcPtr);
    side(&op->dst, element, &op->extent, &p.dstArray, &p.dstPos, &p.dstPtr);
    return rt_copy_3d_box(&p, &box) ?: rt_copy_box(&box, RT_LATER(stream));
}

static cudaError_t copy_boxes(size_t count, struct cudaMemcpy3DBatchOp *ops, size_t *failed, unsigned long long flags,
                              CUstream stream)
{
    size_t i = 0;
    int r = rt_enter();
    if (!r && (!count || !ops || flags))
        r = cudaErrorInvalidValue;
    for (; i < count && !r; i++)
        r = copy_one(&ops[i], stream);
    if (r && failed)
        *failed = i ? i - 1 : SIZE_MAX;
    return rt_leave(r);
}

static CUstream per_thread(cudaStream_t stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

#if CUDART_MAJOR == 12
RTAPI cudaError_t cudaMemcpyBatchAsync(LIST, size_t *failed, cudaStream_t stream)
{
    return copy_linear(to, from, bytes, count, attributes, first, attribute_count, failed, stream);
}
RTAPI cudaError_t cudaMemcpyBatchAsync_ptsz(LIST, size_t *failed, cudaStream_t stream)
{
    return copy_linear(to, from, bytes, count, attributes, first, attribute_count, failed, per_thread(stream));
}
RTAPI cudaError_t cudaMemcpy3DBatchAsync(size_t count, struct cudaMemcpy3DBatchOp *ops, size_t *failed,
                                         unsigned long long flags, cudaStream_t stream)
{
    return copy_boxes(count, ops, failed, flags, stream);
}
RTAPI cudaError_t cudaMemcpy3DBatchAsync_ptsz(size_t count, struct cudaMemcpy3DBatchOp *ops, size_t *failed,
                                              unsigned long long flags, cudaStream_t stream)
{
    return copy_boxes(count, ops, failed, flags, per_thread(stream));
}
#else
RTAPI cudaError_t cudaMemcpyBatchAsync(LIST, cudaStream_t stream)
{
    return copy_linear(to, from, bytes, count, attributes, first, attribute_count, NULL, stream);
}
RTAPI cudaError_t cudaMemcpyBatchAsync_ptsz(LIST, cudaStream_t stream)
{
    return copy_linear(to, from, bytes, count, attributes, first, attribute_count, NULL, per_thread(stream));
}
RTAPI cudaError_t cudaMemcpy3DBatchAsync(size_t count, struct cudaMemcpy3DBatchOp *ops, unsigned long long flags,
                                         cudaStream_t stream)
{
    return copy_boxes(count, ops, NULL, flags, stream);
}
RTAPI cudaError_t cudaMemcpy3DBatchAsync_ptsz(size_t count, struct cudaMemcpy3DBatchOp *ops, unsigned long long flags,
                                              cudaStream_t stream)
{
    return copy_boxes(count, ops, NULL, flags, per_thread(stream));
}
#endif
#endif
