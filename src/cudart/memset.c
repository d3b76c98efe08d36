/* Fills: linear, pitched and 3D. */
#include "cudart/copy.h"
#include "cudart/runtime.h"

/* A box of rows; slices follow each other after `rows` rows. */
struct fill {
    void *to;
    size_t pitch, rows;
    int value;
    struct cudaExtent box;
};

static int fill_slice(CUdeviceptr to, const struct fill *f, size_t height, struct copy_order order)
{
    unsigned char value = (unsigned char)f->value;
    if (height == 1)
        return order.wait && !order.stream ? cuMemsetD8(to, value, f->box.width)
                                           : cuMemsetD8Async(to, value, f->box.width, order.stream);
    if (order.wait && !order.stream)
        return cuMemsetD2D8(to, f->pitch, value, f->box.width, height);
    return cuMemsetD2D8Async(to, f->pitch, value, f->box.width, height, order.stream);
}

static int fill_box(const struct fill *f, struct copy_order order)
{
    int r = cudaSuccess;
    if (!f->box.width || !f->box.height || !f->box.depth)
        return r;
    if (f->box.depth > 1 && (f->pitch < f->box.width || f->rows < f->box.height))
        return cudaErrorInvalidValue;
    for (size_t z = 0; z < f->box.depth && !r; z++)
        r = fill_slice((uintptr_t)f->to + z * f->pitch * f->rows, f, f->box.height, order);
    return !r && order.wait && order.stream ? (int)cuStreamSynchronize(order.stream) : r;
}

static cudaError_t fill(struct fill f, struct copy_order order) { return rt_leave(rt_enter() ?: fill_box(&f, order)); }

static struct fill linear(void *to, int value, size_t bytes)
{
    return (struct fill){to, bytes, 1, value, {bytes, 1, 1}};
}
RTAPI cudaError_t cudaMemset(void *to, int value, size_t bytes) { return fill(linear(to, value, bytes), RT_NOW); }
RTAPI cudaError_t cudaMemset_ptds(void *to, int value, size_t bytes)
{
    return fill(linear(to, value, bytes), RT_NOW_PER_THREAD);
}
RTAPI cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return fill(linear(to, value, bytes), RT_LATER(stream));
}
RTAPI cudaError_t cudaMemsetAsync_ptsz(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return fill(linear(to, value, bytes), RT_LATER_PER_THREAD(stream));
}

static struct fill pitched(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return (struct fill){to, pitch, height, value, {width, height, 1}};
}
RTAPI cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return fill(pitched(to, pitch, value, width, height), RT_NOW);
}
RTAPI cudaError_t cudaMemset2D_ptds(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return fill(pitched(to, pitch, value, width, height), RT_NOW_PER_THREAD);
}
RTAPI cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return fill(pitched(to, pitch, value, width, height), RT_LATER(stream));
}
RTAPI cudaError_t cudaMemset2DAsync_ptsz(void *to, size_t pitch, int value, size_t width, size_t height,
                                         cudaStream_t stream)
{
    return fill(pitched(to, pitch, value, width, height), RT_LATER_PER_THREAD(stream));
}

static struct fill boxed(struct cudaPitchedPtr p, int value, struct cudaExtent box)
{
    return (struct fill){p.ptr, p.pitch, p.ysize, value, box};
}
RTAPI cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent box)
{
    return fill(boxed(p, value, box), RT_NOW);
}
RTAPI cudaError_t cudaMemset3D_ptds(struct cudaPitchedPtr p, int value, struct cudaExtent box)
{
    return fill(boxed(p, value, box), RT_NOW_PER_THREAD);
}
RTAPI cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent box, cudaStream_t stream)
{
    return fill(boxed(p, value, box), RT_LATER(stream));
}
RTAPI cudaError_t cudaMemset3DAsync_ptsz(struct cudaPitchedPtr p, int value, struct cudaExtent box, cudaStream_t stream)
{
    return fill(boxed(p, value, box), RT_LATER_PER_THREAD(stream));
}
