/* 2D copies between linear memory, and between linear memory and arrays. */
#include "cudart/copy.h"
#include "cudart/runtime.h"

/* The pitch of one row does not matter, but one that is too small for it is still refused. */
static int check_pitch(size_t pitch, size_t width, size_t height)
{
    if (height > 1 && pitch < width)
        return cudaErrorInvalidPitchValue;
    return pitch && pitch < width ? cudaErrorInvalidValue : cudaSuccess;
}

static CUDA_MEMCPY3D rectangle(size_t width, size_t height)
{
    return (CUDA_MEMCPY3D){.WidthInBytes = width, .Height = height, .Depth = 1};
}

static cudaError_t copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                        enum cudaMemcpyKind kind, struct copy_order order)
{
    CUDA_MEMCPY3D box = rectangle(width, height);
    CUmemorytype from_type, to_type;
    int r = rt_enter();
    if (!width || !height)
        return rt_leave(r);
    if (!r && !rt_copy_sides(kind, &from_type, &to_type))
        r = cudaErrorInvalidMemcpyDirection;
    r = r ?: check_pitch(from_pitch, width, height) ?: check_pitch(to_pitch, width, height);
    if (r)
        return rt_leave(r);
    rt_box_from(&box, from_type, from, from_pitch);
    rt_box_to(&box, to_type, to, to_pitch);
    return rt_leave(rt_copy_box(&box, order));
}

#define TO_LINEAR   void *to, size_t to_pitch
#define FROM_LINEAR const void *from, size_t from_pitch
#define TO_ARRAY    cudaArray_t to, size_t to_x, size_t to_y
#define FROM_ARRAY  cudaArray_t from, size_t from_x, size_t from_y
#define SIZE        size_t width, size_t height, enum cudaMemcpyKind kind

RTAPI cudaError_t cudaMemcpy2D(TO_LINEAR, FROM_LINEAR, SIZE)
{
    return copy(to, to_pitch, from, from_pitch, width, height, kind, RT_NOW);
}
RTAPI cudaError_t cudaMemcpy2D_ptds(TO_LINEAR, FROM_LINEAR, SIZE)
{
    return copy(to, to_pitch, from, from_pitch, width, height, kind, RT_NOW_PER_THREAD);
}
RTAPI cudaError_t cudaMemcpy2DAsync(TO_LINEAR, FROM_LINEAR, SIZE, cudaStream_t stream)
{
    return copy(to, to_pitch, from, from_pitch, width, height, kind, RT_LATER(stream));
}
RTAPI cudaError_t cudaMemcpy2DAsync_ptsz(TO_LINEAR, FROM_LINEAR, SIZE, cudaStream_t stream)
{
    return copy(to, to_pitch, from, from_pitch, width, height, kind, RT_LATER_PER_THREAD(stream));
}

/* Arrays are device memory. `with_host` is the kind that the other side, in host memory, would make of it. */
static int linear_type(enum cudaMemcpyKind kind, enum cudaMemcpyKind with_host, CUmemorytype *type)
{
    *type = kind == cudaMemcpyDeviceToDevice ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_UNIFIED;
    return kind == with_host || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault
               ? cudaSuccess
               : cudaErrorInvalidMemcpyDirection;
}

static cudaError_t copy_in(TO_ARRAY, FROM_LINEAR, SIZE, struct copy_order order)
{
    CUDA_MEMCPY3D box = rectangle(width, height);
    CUmemorytype type;
    int r = rt_enter();
    if (!width || !height)
        return rt_leave(r);
    r = r ?: linear_type(kind, cudaMemcpyHostToDevice, &type) ?: check_pitch(from_pitch, width, height);
    if (r)
        return rt_leave(r);
    rt_box_from(&box, type, from, from_pitch);
    rt_box_to_array(&box, to, to_x, to_y);
    return rt_leave(rt_copy_box(&box, order));
}

static cudaError_t copy_out(TO_LINEAR, FROM_ARRAY, SIZE, struct copy_order order)
{
    CUDA_MEMCPY3D box = rectangle(width, height);
    CUmemorytype type;
    int r = rt_enter();
    if (!width || !height)
        return rt_leave(r);
    r = r ?: linear_type(kind, cudaMemcpyDeviceToHost, &type) ?: check_pitch(to_pitch, width, height);
    if (r)
        return rt_leave(r);
    rt_box_from_array(&box, from, from_x, from_y);
    rt_box_to(&box, type, to, to_pitch);
    return rt_leave(rt_copy_box(&box, order));
}

static cudaError_t copy_across(TO_ARRAY, FROM_ARRAY, SIZE, struct copy_order order)
{
    CUDA_MEMCPY3D box = rectangle(width, height);
    int r = rt_enter();
    if (!width || !height)
        return rt_leave(r);
    if (!r && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        r = cudaErrorInvalidMemcpyDirection;
    rt_box_from_array(&box, from, from_x, from_y);
    rt_box_to_array(&box, to, to_x, to_y);
    return rt_leave(r ?: rt_copy_box(&box, order));
}

RTAPI cudaError_t cudaMemcpy2DToArray(TO_ARRAY, FROM_LINEAR, SIZE)
{
    return copy_in(to, to_x, to_y, from, from_pitch, width, height, kind, RT_NOW);
}
RTAPI cudaError_t cudaMemcpy2DToArray_ptds(TO_ARRAY, FROM_LINEAR, SIZE)
{
    return copy_in(to, to_x, to_y, from, from_pitch, width, height, kind, RT_NOW_PER_THREAD);
}
RTAPI cudaError_t cudaMemcpy2DToArrayAsync(TO_ARRAY, FROM_LINEAR, SIZE, cudaStream_t stream)
{
    return copy_in(to, to_x, to_y, from, from_pitch, width, height, kind, RT_LATER(stream));
}
RTAPI cudaError_t cudaMemcpy2DToArrayAsync_ptsz(TO_ARRAY, FROM_LINEAR, SIZE, cudaStream_t stream)
{
    return copy_in(to, to_x, to_y, from, from_pitch, width, height, kind, RT_LATER_PER_THREAD(stream));
}

RTAPI cudaError_t cudaMemcpy2DFromArray(TO_LINEAR, FROM_ARRAY, SIZE)
{
    return copy_out(to, to_pitch, from, from_x, from_y, width, height, kind, RT_NOW);
}
RTAPI cudaError_t cudaMemcpy2DFromArray_ptds(TO_LINEAR, FROM_ARRAY, SIZE)
{
    return copy_out(to, to_pitch, from, from_x, from_y, width, height, kind, RT_NOW_PER_THREAD);
}
RTAPI cudaError_t cudaMemcpy2DFromArrayAsync(TO_LINEAR, FROM_ARRAY, SIZE, cudaStream_t stream)
{
    return copy_out(to, to_pitch, from, from_x, from_y, width, height, kind, RT_LATER(stream));
}
RTAPI cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(TO_LINEAR, FROM_ARRAY, SIZE, cudaStream_t stream)
{
    return copy_out(to, to_pitch, from, from_x, from_y, width, height, kind, RT_LATER_PER_THREAD(stream));
}

RTAPI cudaError_t cudaMemcpy2DArrayToArray(TO_ARRAY, FROM_ARRAY, SIZE)
{
    return copy_across(to, to_x, to_y, from, from_x, from_y, width, height, kind, RT_NOW);
}
RTAPI cudaError_t cudaMemcpy2DArrayToArray_ptds(TO_ARRAY, FROM_ARRAY, SIZE)
{
    return copy_across(to, to_x, to_y, from, from_x, from_y, width, height, kind, RT_NOW_PER_THREAD);
}
