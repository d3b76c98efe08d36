/* Texture and surface objects: what a kernel reads or writes through a handle, with the descriptions they were made
 * from. */
#include "cuda/texture.h"

#include <stdlib.h>
#include <string.h>

/* What the driver remembers of an object; the executor has its own form of it (exec/texture.h). */
struct texture_object {
    struct object object;
    uint64_t handle;
    bool is_surface, has_view;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
    struct texture_array *levels; /* those of the view, or NULL */
};

static void texture_object_destroy(struct object *o)
{
    texture_destroy(&driver_get()->gpu->textures, ((struct texture_object *)o)->handle);
    free(((struct texture_object *)o)->levels);
}

static CUresult linear_resource(const CUDA_RESOURCE_DESC *d, struct texture *t)
{
    if (!array_format(d->res.linear.format, d->res.linear.numChannels, &t->array))
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t address = d->res.linear.devPtr, bytes = d->res.linear.sizeInBytes;
    if (address % 16 || !device_range_ok(address, 1))
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_range_ok(address, bytes)) { /* more than there is: the texture ends with the memory */
        const struct memory_range *range = memory_find(driver_get()->gpu->memory, address);
        bytes = range->base + range->size_bytes - address;
    }
    uint64_t texels = bytes / texture_texel_bytes(&t->array);
    if (!texels || texels > (1u << 28))
        return CUDA_ERROR_INVALID_VALUE;
    t->kind = TEXTURE_LINEAR;
    t->array.data = d->res.linear.devPtr;
    t->array.width = (uint32_t)texels;
    t->array.pitch_bytes = t->array.slice_bytes = bytes;
    return CUDA_SUCCESS;
}

static CUresult pitched_resource(const CUDA_RESOURCE_DESC *d, struct texture *t)
{
    size_t width = d->res.pitch2D.width, height = d->res.pitch2D.height, pitch = d->res.pitch2D.pitchInBytes;
    if (!array_format(d->res.pitch2D.format, d->res.pitch2D.numChannels, &t->array) || !width || !height ||
        width > 131072 || height > 65536)
        return CUDA_ERROR_INVALID_VALUE;
    size_t row = width * texture_texel_bytes(&t->array);
    if (pitch < row || pitch % 32 || pitch > (1u << 22) || d->res.pitch2D.devPtr % 32 ||
        !device_range_ok(d->res.pitch2D.devPtr, pitch * (height - 1) + row))
        return CUDA_ERROR_INVALID_VALUE;
    t->kind = TEXTURE_PITCH2D;
    t->array.data = d->res.pitch2D.devPtr;
    t->array.width = (uint32_t)width;
    t->array.height = (uint32_t)height;
    t->array.pitch_bytes = pitch;
    t->array.slice_bytes = pitch * height;
    return CUDA_SUCCESS;
}

CUresult texture_resource(const CUDA_RESOURCE_DESC *d, struct texture *t)
{
    const struct array *a;
    const struct mipmap *m;
    if (d->flags)
        return CUDA_ERROR_INVALID_VALUE;
    switch (d->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        a = object_find(d->res.array.hArray, OBJECT_ARRAY);
        if (!a)
            return CUDA_ERROR_INVALID_HANDLE;
        t->kind = TEXTURE_ARRAY;
        t->array = a->texels;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        m = object_find(d->res.mipmap.hMipmappedArray, OBJECT_MIPMAP);
        if (!m)
            return CUDA_ERROR_INVALID_HANDLE;
        t->kind = TEXTURE_ARRAY;
        t->array = m->texels[0];
        t->levels = m->texels;
        t->level_count = m->level_count;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_LINEAR: return linear_resource(d, t);
    case CU_RESOURCE_TYPE_PITCH2D: return pitched_resource(d, t);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult texture_sampling(const CUDA_TEXTURE_DESC *d, struct texture *t)
{
    bool is_float = t->array.format == TEXTURE_F32 || t->array.format == TEXTURE_F16;
    bool is_wide = t->array.format == TEXTURE_U32 || t->array.format == TEXTURE_S32;
    for (int i = 0; i < 3; i++) {
        if ((unsigned)d->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return CUDA_ERROR_INVALID_VALUE;
        t->address[i] = (enum texture_address)d->addressMode[i];
    }
    if ((unsigned)d->filterMode > CU_TR_FILTER_MODE_LINEAR ||
        (unsigned)d->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR || d->maxAnisotropy > 16)
        return CUDA_ERROR_INVALID_VALUE;
    t->linear_filter = d->filterMode == CU_TR_FILTER_MODE_LINEAR;
    t->normalized = d->flags & CU_TRSF_NORMALIZED_COORDINATES;
    t->read_as_integer = (d->flags & CU_TRSF_READ_AS_INTEGER) || is_wide;
    t->srgb = d->flags & CU_TRSF_SRGB;
    if (is_float || t->array.fraction)
        t->read_as_integer = false;
    if (t->linear_filter && t->read_as_integer)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(t->border, d->borderColor, sizeof t->border);
    t->linear_mip_filter = d->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
    t->min_level = d->minMipmapLevelClamp;
    t->max_level = d->maxMipmapLevelClamp;
    t->level_bias = d->mipmapLevelBias;
    return CUDA_SUCCESS;
}

/* The formats of views follow each other by kind of channel, each with 1, 2 and 4 of them. */
static bool view_format(CUresourceViewFormat format, struct texture_array *t)
{
    static const CUarray_format kinds[] = {
        CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,  CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
        CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32, CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
    unsigned int at = (unsigned int)format - CU_RES_VIEW_FORMAT_UINT_1X8, bytes = texture_texel_bytes(t);
    return array_format(kinds[at / 3], 1u << at % 3, t) && texture_texel_bytes(t) == bytes;
}

/* The layers and the format of one level, as the view has them. */
static CUresult view_level(const CUDA_RESOURCE_VIEW_DESC *v, struct texture_array *t)
{
    if (!view_format(v->format, t))
        return CUDA_ERROR_INVALID_VALUE;
    if (!t->layers)
        return CUDA_SUCCESS;
    if (v->firstLayer > v->lastLayer || v->lastLayer >= t->layers)
        return CUDA_ERROR_INVALID_VALUE;
    t->data += v->firstLayer * t->slice_bytes;
    t->layers = v->lastLayer - v->firstLayer + 1;
    return CUDA_SUCCESS;
}

/* A view reads the texels of an array in another format of the same size, or fewer of its levels or layers. The
 * executor gets levels of its own. Block-compressed views are left out. */
static CUresult view_apply(const CUDA_RESOURCE_VIEW_DESC *v, struct texture *t)
{
    uint32_t depth = t->array.layers ? (uint32_t)v->depth : t->array.depth;
    if (v->format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (t->kind != TEXTURE_ARRAY || v->format == CU_RES_VIEW_FORMAT_NONE || v->width != t->array.width ||
        v->height != t->array.height || v->depth != depth)
        return CUDA_ERROR_INVALID_VALUE;
    if (!t->level_count)
        return view_level(v, &t->array);
    uint32_t first = v->firstMipmapLevel,
             last = v->lastMipmapLevel < t->level_count ? v->lastMipmapLevel : t->level_count - 1;
    if (first > last)
        return CUDA_ERROR_INVALID_VALUE;
    struct texture_array *levels = calloc(last - first + 1, sizeof *levels);
    CUresult r = levels ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = first; i <= last && r == CUDA_SUCCESS; i++) {
        levels[i - first] = t->levels[i];
        r = view_level(v, &levels[i - first]);
    }
    if (r != CUDA_SUCCESS) {
        free(levels);
        return r;
    }
    t->levels = levels;
    t->level_count = last - first + 1;
    t->array = levels[0];
    return CUDA_SUCCESS;
}

static CUresult object_make(struct context *ctx, const struct texture *t, const CUDA_RESOURCE_DESC *resource,
                            struct texture_object **out)
{
    struct texture_object *o = object_new(sizeof *o, OBJECT_TEXTURE, ctx, texture_object_destroy);
    if (!o)
        return CUDA_ERROR_OUT_OF_MEMORY;
    o->handle = texture_create(&driver_get()->gpu->textures, t);
    o->is_surface = t->is_surface;
    o->resource = *resource;
    *out = o;
    return CUDA_SUCCESS;
}

CUAPI CUresult cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                                 const CUDA_TEXTURE_DESC *sampling, const CUDA_RESOURCE_VIEW_DESC *view)
{
    struct context *ctx = NULL;
    struct texture_object *o = NULL;
    struct texture t = {.in_use = true};
    CUresult r = api_enter(&ctx, API_CONTEXT);
    if (r == CUDA_SUCCESS)
        r = out && resource && sampling ? texture_resource(resource, &t) : CUDA_ERROR_INVALID_VALUE;
    const struct texture_array *levels = t.levels;
    if (r == CUDA_SUCCESS && view)
        r = view_apply(view, &t);
    if (r == CUDA_SUCCESS)
        r = texture_sampling(sampling, &t);
    if (r == CUDA_SUCCESS)
        r = object_make(ctx, &t, resource, &o);
    struct texture_array *own = t.levels != levels ? t.levels : NULL;
    if (r != CUDA_SUCCESS)
        free(own);
    if (r == CUDA_SUCCESS) {
        o->levels = own;
        o->texture = *sampling;
        o->has_view = view != NULL;
        if (view)
            o->view = *view;
        *out = o->handle;
    }
    return api_leave(r);
}

CUAPI CUresult cuSurfObjectCreate(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource)
{
    struct context *ctx = NULL;
    struct texture_object *o = NULL;
    struct texture t = {.in_use = true, .is_surface = true};
    CUresult r = api_enter(&ctx, API_CONTEXT);
    if (r == CUDA_SUCCESS)
        r = out && resource && resource->resType == CU_RESOURCE_TYPE_ARRAY ? texture_resource(resource, &t)
                                                                           : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = object_make(ctx, &t, resource, &o);
    if (r == CUDA_SUCCESS)
        *out = o->handle;
    return api_leave(r);
}

struct handle_query {
    uint64_t handle;
    bool is_surface;
    struct texture_object *found;
};

static bool match_handle(struct object *o, void *user)
{
    struct handle_query *q = user;
    struct texture_object *t = (struct texture_object *)o;
    if (t->handle == q->handle && t->is_surface == q->is_surface)
        q->found = t;
    return !q->found;
}

static CUresult enter(enum api_need need, uint64_t handle, bool is_surface, const void *out, struct texture_object **o)
{
    struct handle_query q = {handle, is_surface, NULL};
    CUresult r = api_enter(NULL, need);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && texture_find(&driver_get()->gpu->textures, handle))
        objects_each(OBJECT_TEXTURE, match_handle, &q);
    *o = q.found;
    return r == CUDA_SUCCESS && !q.found ? CUDA_ERROR_INVALID_VALUE : r;
}

static CUresult destroy(uint64_t handle, bool is_surface)
{
    struct texture_object *o;
    CUresult r = enter(API_CONTEXT | API_WAITING, handle, is_surface, &o, &o);
    if (r == CUDA_SUCCESS)
        object_free(&o->object);
    return api_leave(r);
}

CUAPI CUresult cuTexObjectDestroy(CUtexObject handle) { return destroy(handle, false); }
CUAPI CUresult cuSurfObjectDestroy(CUsurfObject handle) { return destroy(handle, true); }

static CUresult get_resource(CUDA_RESOURCE_DESC *out, uint64_t handle, bool is_surface)
{
    struct texture_object *o;
    CUresult r = enter(API_CONTEXT, handle, is_surface, out, &o);
    if (r == CUDA_SUCCESS)
        *out = o->resource;
    return api_leave(r);
}

CUAPI CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *out, CUtexObject handle)
{
    return get_resource(out, handle, false);
}
CUAPI CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *out, CUsurfObject handle)
{
    return get_resource(out, handle, true);
}

CUAPI CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *out, CUtexObject handle)
{
    struct texture_object *o;
    CUresult r = enter(API_CONTEXT, handle, false, out, &o);
    if (r == CUDA_SUCCESS)
        *out = o->texture;
    return api_leave(r);
}

CUAPI CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *out, CUtexObject handle)
{
    struct texture_object *o;
    CUresult r = enter(API_CONTEXT, handle, false, out, &o);
    if (r == CUDA_SUCCESS && !o->has_view)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = o->view;
    return api_leave(r);
}
