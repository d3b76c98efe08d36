/* Copies: linear, 2D and 3D, between host memory, device memory and arrays.
 *
 * Every form becomes a copy of a box of rows between two places, each checked in full before a byte moves. Memory of
 * the program that is not pinned may be used again when the call returns: what is copied from it later is put aside,
 * and a copy to it is waited for. */
#include "cuda/queue.h"

#include <stdlib.h>
#include <string.h>

/* One side of a copy: where row y of slice z begins. */
struct place {
    uint8_t *base;
    size_t pitch, slice;
};

static bool add_ok(size_t a, size_t b, size_t *sum) { return !__builtin_add_overflow(a, b, sum); }
static bool mul_ok(size_t a, size_t b, size_t *product) { return !__builtin_mul_overflow(a, b, product); }

/* Bytes from the start of the place to the end of its last row; false when it does not fit a size_t. */
static bool extent_of(size_t pitch, size_t rows, const size_t at[3], const size_t box[3], size_t *bytes)
{
    size_t slice, z, y, last;
    return mul_ok(pitch, rows, &slice) && add_ok(at[2], box[2] - 1, &z) && mul_ok(z, slice, &z) &&
           add_ok(at[1], box[1] - 1, &y) && mul_ok(y, pitch, &y) && add_ok(at[0], box[0], &last) &&
           add_ok(z, y, bytes) && add_ok(*bytes, last, bytes);
}

static CUresult place_linear(struct place *p, uint64_t address, bool device, bool later, size_t pitch, size_t height,
                             const size_t at[3], const size_t box[3])
{
    size_t bytes, rows = height ? height : box[1];
    if (!pitch)
        pitch = at[0] + box[0];
    if (box[2] > 1 || at[2])
        rows = height ? height : at[1] + box[1];
    bool several = box[1] > 1 || box[2] > 1;
    if ((several && (pitch < at[0] + box[0])) || (height && box[2] > 1 && rows < at[1] + box[1]) || !address)
        return CUDA_ERROR_INVALID_VALUE;
    if (!extent_of(pitch, rows, at, box, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    size_t start = at[2] * pitch * rows + at[1] * pitch + at[0];
    if (device && !device_range_ok(address + start, bytes - start) &&
        !(later && graph_memory_holds(address + start, bytes - start)))
        return CUDA_ERROR_INVALID_VALUE;
    *p = (struct place){(uint8_t *)memory_pointer(address) + start, pitch, pitch * rows};
    return CUDA_SUCCESS;
}

static CUresult place_array(struct place *p, CUarray handle, const size_t at[3], const size_t box[3])
{
    const struct array *a = object_find(handle, OBJECT_ARRAY);
    if (!a)
        return CUDA_ERROR_INVALID_HANDLE;
    const struct texture_array *t = &a->texels;
    size_t width = (size_t)t->width * texture_texel_bytes(t), height = t->height ? t->height : 1;
    size_t depth = t->layers ? t->layers : t->depth ? t->depth : 1, end[3];
    for (int i = 0; i < 3; i++)
        if (!add_ok(at[i], box[i], &end[i]))
            return CUDA_ERROR_INVALID_VALUE;
    if (end[0] > width || end[1] > height || end[2] > depth)
        return CUDA_ERROR_INVALID_VALUE;
    *p = (struct place){(uint8_t *)memory_pointer(t->data) + at[2] * t->slice_bytes + at[1] * t->pitch_bytes + at[0],
                        t->pitch_bytes, t->slice_bytes};
    return CUDA_SUCCESS;
}

static CUresult place_side(struct place *p, CUmemorytype type, const void *host, CUdeviceptr device, CUarray array,
                           bool later, size_t pitch, size_t height, const size_t at[3], const size_t box[3])
{
    size_t sum;
    if (!add_ok(at[0], box[0], &sum) || !add_ok(at[1], box[1], &sum))
        return CUDA_ERROR_INVALID_VALUE;
    switch (type) {
    case CU_MEMORYTYPE_HOST: return place_linear(p, (uintptr_t)host, false, later, pitch, height, at, box);
    case CU_MEMORYTYPE_DEVICE: return place_linear(p, device, true, later, pitch, height, at, box);
    case CU_MEMORYTYPE_ARRAY: return place_array(p, array, at, box);
    case CU_MEMORYTYPE_UNIFIED: {
        enum pointer_class where =
            later && graph_memory_holds(device, 1) ? POINTER_DEVICE : pointer_classify(device, 1);
        return where == POINTER_BAD ? CUDA_ERROR_INVALID_VALUE
                                    : place_linear(p, device, where == POINTER_DEVICE, later, pitch, height, at, box);
    }
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* later: the copy is not for now, and memory that a graph will have made by then may be used. */
static CUresult places_of(const CUDA_MEMCPY3D *c, bool later, struct place *from, struct place *to)
{
    const size_t box[3] = {c->WidthInBytes, c->Height, c->Depth};
    const size_t from_at[3] = {c->srcXInBytes, c->srcY, c->srcZ}, to_at[3] = {c->dstXInBytes, c->dstY, c->dstZ};
    if (c->srcLOD || c->dstLOD)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = place_side(from, c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, later, c->srcPitch,
                            c->srcHeight, from_at, box);
    if (r == CUDA_SUCCESS)
        r = place_side(to, c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, later, c->dstPitch, c->dstHeight,
                       to_at, box);
    return r;
}

CUresult copy_3d_check(const CUDA_MEMCPY3D *c)
{
    struct place from, to;
    if (!c->WidthInBytes || !c->Height || !c->Depth)
        return CUDA_SUCCESS;
    return places_of(c, true, &from, &to);
}

/* Whatever the caller called the two sides. */
static bool comes_from_host(const void *from, const void *to)
{
    const struct memory *m = driver_get()->gpu->memory;
    const struct memory_range *source = memory_find(m, (uintptr_t)from), *target = memory_find(m, (uintptr_t)to);
    return (!source || source->kind == MEMORY_HOST) && target && target->kind != MEMORY_HOST;
}

CUresult copy_3d(const CUDA_MEMCPY3D *c)
{
    struct place from, to;
    if (!c->WidthInBytes || !c->Height || !c->Depth)
        return CUDA_SUCCESS;
    CUresult r = places_of(c, false, &from, &to);
    if (r != CUDA_SUCCESS)
        return r;
    for (size_t z = 0; z < c->Depth; z++)
        for (size_t y = 0; y < c->Height; y++)
            memmove(to.base + z * to.slice + y * to.pitch, from.base + z * from.slice + y * from.pitch,
                    c->WidthInBytes);
    if (c->dstMemoryType != CU_MEMORYTYPE_ARRAY && comes_from_host(from.base, to.base))
        for (size_t z = 0; z < c->Depth; z++)
            for (size_t y = 0; y < c->Height; y++)
                gpu_note_copy(driver_get()->gpu, (uintptr_t)(to.base + z * to.slice + y * to.pitch), c->WidthInBytes);
    return CUDA_SUCCESS;
}

/* Is the side memory that CUDA knows nothing of? */
static bool is_pageable(CUmemorytype type, const void *host, CUdeviceptr device)
{
    if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_UNIFIED)
        return false;
    return !memory_find(driver_get()->gpu->memory, type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : device);
}

/* From now on the source is a copy, rows close together. */
static CUresult put_aside(struct work *w)
{
    CUDA_MEMCPY3D *c = &w->copy;
    struct place from, to;
    if (!c->WidthInBytes || !c->Height || !c->Depth)
        return CUDA_SUCCESS;
    CUresult r = places_of(c, true, &from, &to);
    uint8_t *rows = r == CUDA_SUCCESS ? malloc(c->WidthInBytes * c->Height * c->Depth) : NULL;
    if (!rows)
        return r == CUDA_SUCCESS ? CUDA_ERROR_OUT_OF_MEMORY : r;
    for (size_t z = 0; z < c->Depth; z++)
        for (size_t y = 0; y < c->Height; y++)
            memcpy(rows + (z * c->Height + y) * c->WidthInBytes, from.base + z * from.slice + y * from.pitch,
                   c->WidthInBytes);
    w->staged = rows;
    c->srcMemoryType = CU_MEMORYTYPE_HOST;
    c->srcHost = rows;
    c->srcXInBytes = c->srcY = c->srcZ = 0;
    c->srcPitch = c->WidthInBytes;
    c->srcHeight = c->Height;
    return CUDA_SUCCESS;
}

/* After work that is pending, of a stream that does not capture. *waits: the call does, for the copy. */
static CUresult prepare_later(struct work *w, CUstream stream, bool *waits)
{
    const CUDA_MEMCPY3D *c = &w->copy;
    bool captures = false;
    CUresult r = stream_captures(stream, &captures);
    if (r != CUDA_SUCCESS || captures)
        return r;
    if (!queue_would_wait(stream))
        return CUDA_SUCCESS;
    *waits = w->immediate = is_pageable(c->dstMemoryType, c->dstHost, c->dstDevice);
    return !*waits && is_pageable(c->srcMemoryType, c->srcHost, c->srcDevice) ? put_aside(w) : CUDA_SUCCESS;
}

static CUresult submit(const CUDA_MEMCPY3D *c, CUstream stream)
{
    struct work w = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    bool waits = false;
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = c ? work_memcpy(&w, c) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && driver_get()->pending_count)
        r = prepare_later(&w, stream, &waits);
    if (r == CUDA_SUCCESS)
        r = stream_submit(stream, &w);
    return api_leave(r == CUDA_SUCCESS && waits ? queue_wait(queue_mark_of(stream)) : r);
}

/* The forms without a stream are given to the legacy one, and return when it is done. */
static CUresult finish(CUresult r)
{
    if (r != CUDA_SUCCESS)
        return r;
    r = api_enter(NULL, API_CONTEXT | API_PASSING);
    return api_leave(r == CUDA_SUCCESS ? queue_wait(queue_mark_of(NULL)) : r);
}

static CUresult linear(uint64_t to, CUmemorytype to_type, uint64_t from, CUmemorytype from_type, size_t bytes,
                       CUstream stream)
{
    CUDA_MEMCPY3D c = {.srcMemoryType = from_type,
                       .srcDevice = from,
                       .srcHost = memory_pointer(from),
                       .dstMemoryType = to_type,
                       .dstDevice = to,
                       .dstHost = memory_pointer(to),
                       .WidthInBytes = bytes,
                       .Height = 1,
                       .Depth = 1};
    return submit(&c, stream);
}

CUAPI CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return linear(to, CU_MEMORYTYPE_DEVICE, (uintptr_t)from, CU_MEMORYTYPE_HOST, bytes, stream);
}
API_ALIAS(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2)
API_ALIAS(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2)

CUAPI CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    return finish(cuMemcpyHtoDAsync_v2(to, from, bytes, NULL));
}
API_ALIAS(cuMemcpyHtoD, cuMemcpyHtoD_v2)
API_ALIAS(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2)

CUAPI CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return linear((uintptr_t)to, CU_MEMORYTYPE_HOST, from, CU_MEMORYTYPE_DEVICE, bytes, stream);
}
API_ALIAS(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2)
API_ALIAS(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2)

CUAPI CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    return finish(cuMemcpyDtoHAsync_v2(to, from, bytes, NULL));
}
API_ALIAS(cuMemcpyDtoH, cuMemcpyDtoH_v2)
API_ALIAS(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2)

CUAPI CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return linear(to, CU_MEMORYTYPE_DEVICE, from, CU_MEMORYTYPE_DEVICE, bytes, stream);
}
API_ALIAS(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2)
API_ALIAS(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2)

CUAPI CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return finish(cuMemcpyDtoDAsync_v2(to, from, bytes, NULL));
}
API_ALIAS(cuMemcpyDtoD, cuMemcpyDtoD_v2)
API_ALIAS(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2)

CUAPI CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return linear(to, CU_MEMORYTYPE_UNIFIED, from, CU_MEMORYTYPE_UNIFIED, bytes, stream);
}
API_ALIAS(cuMemcpyAsync_ptsz, cuMemcpyAsync)

CUAPI CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) { return cuMemcpyAsync(to, from, bytes, NULL); }
API_ALIAS(cuMemcpy_ptds, cuMemcpy)

CUAPI CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx, size_t bytes,
                                 CUstream stream)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = to_ctx && from_ctx ? context_lookup(to_ctx, &ctx) : CUDA_ERROR_INVALID_CONTEXT;
    if (r == CUDA_SUCCESS)
        r = context_lookup(from_ctx, &ctx);
    api_leave(r);
    return r == CUDA_SUCCESS ? linear(to, CU_MEMORYTYPE_DEVICE, from, CU_MEMORYTYPE_DEVICE, bytes, stream) : r;
}
API_ALIAS(cuMemcpyPeerAsync_ptsz, cuMemcpyPeerAsync)

CUAPI CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx, size_t bytes)
{
    return finish(cuMemcpyPeerAsync(to, to_ctx, from, from_ctx, bytes, NULL));
}
API_ALIAS(cuMemcpyPeer_ptds, cuMemcpyPeer)

CUAPI CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream stream) { return submit(c, stream); }
API_ALIAS(cuMemcpy3DAsync, cuMemcpy3DAsync_v2)
API_ALIAS(cuMemcpy3DAsync_v2_ptsz, cuMemcpy3DAsync_v2)

CUAPI CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *c) { return finish(cuMemcpy3DAsync_v2(c, NULL)); }
API_ALIAS(cuMemcpy3D, cuMemcpy3D_v2)
API_ALIAS(cuMemcpy3D_v2_ptds, cuMemcpy3D_v2)

/* The fields of the peer form stand where those of the plain one stand, but for the two contexts. */
CUAPI CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *p, CUstream stream)
{
    CUDA_MEMCPY3D c;
    if (!p)
        return cuMemcpy3DAsync_v2(NULL, stream);
    _Static_assert(sizeof c == sizeof *p && offsetof(CUDA_MEMCPY3D, dstArray) == offsetof(CUDA_MEMCPY3D_PEER, dstArray),
                   "layouts agree");
    memcpy(&c, p, sizeof c);
    return cuMemcpy3DAsync_v2(&c, stream);
}
API_ALIAS(cuMemcpy3DPeerAsync_ptsz, cuMemcpy3DPeerAsync)

CUAPI CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *p) { return finish(cuMemcpy3DPeerAsync(p, NULL)); }
API_ALIAS(cuMemcpy3DPeer_ptds, cuMemcpy3DPeer)

CUAPI CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream stream)
{
    if (!c)
        return cuMemcpy3DAsync_v2(NULL, stream);
    CUDA_MEMCPY3D box = {
        .srcXInBytes = c->srcXInBytes,
        .srcY = c->srcY,
        .srcMemoryType = c->srcMemoryType,
        .srcHost = c->srcHost,
        .srcDevice = c->srcDevice,
        .srcArray = c->srcArray,
        .srcPitch = c->srcPitch,
        .dstXInBytes = c->dstXInBytes,
        .dstY = c->dstY,
        .dstMemoryType = c->dstMemoryType,
        .dstHost = c->dstHost,
        .dstDevice = c->dstDevice,
        .dstArray = c->dstArray,
        .dstPitch = c->dstPitch,
        .WidthInBytes = c->WidthInBytes,
        .Height = c->Height,
        .Depth = 1,
    };
    return cuMemcpy3DAsync_v2(&box, stream);
}
API_ALIAS(cuMemcpy2DAsync, cuMemcpy2DAsync_v2)
API_ALIAS(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync_v2)

CUAPI CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *c) { return finish(cuMemcpy2DAsync_v2(c, NULL)); }
API_ALIAS(cuMemcpy2D, cuMemcpy2D_v2)
API_ALIAS(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2)
CUAPI CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *c) { return finish(cuMemcpy2DAsync_v2(c, NULL)); }
API_ALIAS(cuMemcpy2DUnaligned, cuMemcpy2DUnaligned_v2)
API_ALIAS(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned_v2)

/* 1D copies to and from arrays: bytes at an offset into the first row. */
static CUDA_MEMCPY3D row_copy(size_t bytes) { return (CUDA_MEMCPY3D){.WidthInBytes = bytes, .Height = 1, .Depth = 1}; }

CUAPI CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream)
{
    CUDA_MEMCPY3D c = row_copy(bytes);
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = from;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = to;
    c.dstXInBytes = offset;
    return cuMemcpy3DAsync_v2(&c, stream);
}
API_ALIAS(cuMemcpyHtoAAsync, cuMemcpyHtoAAsync_v2)
API_ALIAS(cuMemcpyHtoAAsync_v2_ptsz, cuMemcpyHtoAAsync_v2)

CUAPI CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t bytes)
{
    return finish(cuMemcpyHtoAAsync_v2(to, offset, from, bytes, NULL));
}
API_ALIAS(cuMemcpyHtoA, cuMemcpyHtoA_v2)
API_ALIAS(cuMemcpyHtoA_v2_ptds, cuMemcpyHtoA_v2)

CUAPI CUresult cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t offset, size_t bytes, CUstream stream)
{
    CUDA_MEMCPY3D c = row_copy(bytes);
    c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    c.srcArray = from;
    c.srcXInBytes = offset;
    c.dstMemoryType = CU_MEMORYTYPE_HOST;
    c.dstHost = to;
    return cuMemcpy3DAsync_v2(&c, stream);
}
API_ALIAS(cuMemcpyAtoHAsync, cuMemcpyAtoHAsync_v2)
API_ALIAS(cuMemcpyAtoHAsync_v2_ptsz, cuMemcpyAtoHAsync_v2)

CUAPI CUresult cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t bytes)
{
    return finish(cuMemcpyAtoHAsync_v2(to, from, offset, bytes, NULL));
}
API_ALIAS(cuMemcpyAtoH, cuMemcpyAtoH_v2)
API_ALIAS(cuMemcpyAtoH_v2_ptds, cuMemcpyAtoH_v2)

CUAPI CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes)
{
    CUDA_MEMCPY3D c = row_copy(bytes);
    c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = from;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = to;
    c.dstXInBytes = offset;
    return finish(cuMemcpy3DAsync_v2(&c, NULL));
}
API_ALIAS(cuMemcpyDtoA, cuMemcpyDtoA_v2)
API_ALIAS(cuMemcpyDtoA_v2_ptds, cuMemcpyDtoA_v2)

CUAPI CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes)
{
    CUDA_MEMCPY3D c = row_copy(bytes);
    c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    c.srcArray = from;
    c.srcXInBytes = offset;
    c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.dstDevice = to;
    return finish(cuMemcpy3DAsync_v2(&c, NULL));
}
API_ALIAS(cuMemcpyAtoD, cuMemcpyAtoD_v2)
API_ALIAS(cuMemcpyAtoD_v2_ptds, cuMemcpyAtoD_v2)

CUAPI CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes)
{
    CUDA_MEMCPY3D c = row_copy(bytes);
    c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.srcArray = from;
    c.srcXInBytes = from_offset;
    c.dstArray = to;
    c.dstXInBytes = to_offset;
    return finish(cuMemcpy3DAsync_v2(&c, NULL));
}
API_ALIAS(cuMemcpyAtoA, cuMemcpyAtoA_v2)
API_ALIAS(cuMemcpyAtoA_v2_ptds, cuMemcpyAtoA_v2)
