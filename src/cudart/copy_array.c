/* The older copies of so many bytes to and from arrays: they fill the array row by row, from a place inside it. */
#include "cudart/array.h"
#include "cudart/copy.h"
#include "cudart/runtime.h"

/* One side: linear memory, or a place in an array. */
struct side {
    cudaArray_t array; /* NULL: linear */
    size_t row_bytes, x, y;
    const void *linear;
    CUmemorytype type;
};

static struct side in_memory(const void *p, CUmemorytype type) { return (struct side){.linear = p, .type = type}; }
static struct side in_array(cudaArray_t array, size_t x, size_t y)
{
    return (struct side){.array = array, .x = x, .y = y};
}

static int measure(struct side *s)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    int r = s->array ? (int)cuArray3DGetDescriptor(&d, s->array) : s->linear ? cudaSuccess : cudaErrorInvalidValue;
    if (r || !s->array)
        return r;
    s->row_bytes = d.Width * rt_texel_bytes(d.Format, d.NumChannels);
    return s->x < s->row_bytes ? cudaSuccess : cudaErrorInvalidValue;
}

static void advance(struct side *s, size_t bytes)
{
    if (!s->array) {
        s->linear = (const char *)s->linear + bytes;
        return;
    }
    s->y += (s->x + bytes) / s->row_bytes;
    s->x = (s->x + bytes) % s->row_bytes;
}

/* As many whole rows as both sides allow, or what is left of one. */
static void next_piece(const struct side *to, const struct side *from, size_t bytes, size_t *width, size_t *rows)
{
    size_t row = to->array ? to->row_bytes : from->row_bytes;
    bool alike = !to->array || !from->array || to->row_bytes == from->row_bytes;
    *rows = 1;
    *width = bytes;
    if (alike && !to->x && !from->x && bytes >= row) {
        *width = row;
        *rows = bytes / row;
        return;
    }
    if (to->array && to->row_bytes - to->x < *width)
        *width = to->row_bytes - to->x;
    if (from->array && from->row_bytes - from->x < *width)
        *width = from->row_bytes - from->x;
}

static int copy_piece(const struct side *to, const struct side *from, size_t width, size_t rows,
                      struct copy_order order)
{
    CUDA_MEMCPY3D box = {.WidthInBytes = width, .Height = rows, .Depth = 1};
    if (from->array)
        rt_box_from_array(&box, from->array, from->x, from->y);
    else
        rt_box_from(&box, from->type, from->linear, width);
    if (to->array)
        rt_box_to_array(&box, to->array, to->x, to->y);
    else
        rt_box_to(&box, to->type, (void *)(uintptr_t)to->linear, width);
    return rt_copy_box(&box, order);
}

static int copy_rows(struct side to, struct side from, size_t bytes, struct copy_order order)
{
    int r = measure(&to) ?: measure(&from);
    while (bytes && !r) {
        size_t width, rows;
        next_piece(&to, &from, bytes, &width, &rows);
        r = copy_piece(&to, &from, width, rows, order);
        advance(&to, width * rows);
        advance(&from, width * rows);
        bytes -= width * rows;
    }
    return r;
}

static cudaError_t copy(struct side to, struct side from, size_t bytes, enum cudaMemcpyKind kind,
                        enum cudaMemcpyKind with_host, struct copy_order order)
{
    int r = rt_enter();
    if (!r && bytes && kind != with_host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        r = cudaErrorInvalidMemcpyDirection;
    if (!r && bytes)
        r = copy_rows(to, from, bytes, order);
    return rt_leave(r);
}

static CUmemorytype linear_type(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDeviceToDevice ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_UNIFIED;
}

static cudaError_t copy_in(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                           struct copy_order order)
{
    return copy(in_array(to, x, y), in_memory(from, linear_type(kind)), bytes, kind, cudaMemcpyHostToDevice, order);
}
static cudaError_t copy_out(void *to, cudaArray_t from, size_t x, size_t y, size_t bytes, enum cudaMemcpyKind kind,
                            struct copy_order order)
{
    return copy(in_memory(to, linear_type(kind)), in_array(from, x, y), bytes, kind, cudaMemcpyDeviceToHost, order);
}

#define IN  cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, enum cudaMemcpyKind kind
#define OUT void *to, cudaArray_t from, size_t x, size_t y, size_t bytes, enum cudaMemcpyKind kind

RTAPI cudaError_t cudaMemcpyToArray(IN) { return copy_in(to, x, y, from, bytes, kind, RT_NOW); }
RTAPI cudaError_t cudaMemcpyToArray_ptds(IN) { return copy_in(to, x, y, from, bytes, kind, RT_NOW_PER_THREAD); }
RTAPI cudaError_t cudaMemcpyToArrayAsync(IN, cudaStream_t stream)
{
    return copy_in(to, x, y, from, bytes, kind, RT_LATER(stream));
}
RTAPI cudaError_t cudaMemcpyToArrayAsync_ptsz(IN, cudaStream_t stream)
{
    return copy_in(to, x, y, from, bytes, kind, RT_LATER_PER_THREAD(stream));
}
RTAPI cudaError_t cudaMemcpyFromArray(OUT) { return copy_out(to, from, x, y, bytes, kind, RT_NOW); }
RTAPI cudaError_t cudaMemcpyFromArray_ptds(OUT) { return copy_out(to, from, x, y, bytes, kind, RT_NOW_PER_THREAD); }
RTAPI cudaError_t cudaMemcpyFromArrayAsync(OUT, cudaStream_t stream)
{
    return copy_out(to, from, x, y, bytes, kind, RT_LATER(stream));
}
RTAPI cudaError_t cudaMemcpyFromArrayAsync_ptsz(OUT, cudaStream_t stream)
{
    return copy_out(to, from, x, y, bytes, kind, RT_LATER_PER_THREAD(stream));
}

#define ACROSS                                                                                              \
    cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from, size_t from_x, size_t from_y, size_t bytes, \
        enum cudaMemcpyKind kind
static cudaError_t copy_across(ACROSS, struct copy_order order)
{
    return copy(in_array(to, to_x, to_y), in_array(from, from_x, from_y), bytes, kind, cudaMemcpyDeviceToDevice, order);
}
RTAPI cudaError_t cudaMemcpyArrayToArray(ACROSS)
{
    return copy_across(to, to_x, to_y, from, from_x, from_y, bytes, kind, RT_NOW);
}
RTAPI cudaError_t cudaMemcpyArrayToArray_ptds(ACROSS)
{
    return copy_across(to, to_x, to_y, from, from_x, from_y, bytes, kind, RT_NOW_PER_THREAD);
}
