/* CUDA arrays and mipmapped arrays. Texels lie row by row; no kernel sees their addresses, so there is no need of the
 * swizzled layouts of a GPU.
 *
 * Left out: block-compressed, packed and video formats, sparse arrays. */
#include "cuda/internal.h"

#include <stdlib.h>
#include <string.h>

/* Formats that are always read as fractions follow each other by kind of channel, each with 1, 2 and 4 of them, which
 * the format fixes. */
static bool fraction_format(CUarray_format format, unsigned int channels, struct texture_array *t)
{
    static const enum texture_format kinds[] = {TEXTURE_U8, TEXTURE_U16, TEXTURE_S8, TEXTURE_S16};
    unsigned int at = (unsigned int)format - CU_AD_FORMAT_UNORM_INT8X1;
    if (at >= 3 * sizeof kinds / sizeof *kinds || channels != 1u << at % 3)
        return false;
    t->format = kinds[at / 3];
    t->channels = channels;
    t->fraction = true;
    return true;
}

bool array_format(CUarray_format format, unsigned int channels, struct texture_array *t)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_FLOAT: break;
    default: return fraction_format(format, channels, t);
    }
    t->format = (enum texture_format)format;
    t->channels = channels;
    t->fraction = false;
    return channels == 1 || channels == 2 || channels == 4;
}

enum {
    KNOWN_FLAGS = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
                  CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT
};
enum { MOST_WIDTH = 131072, MOST_DEPTH = 16384, CUBE_FACES = 6 };

/* Checks a description and lays the texels out. */
static CUresult describe(const CUDA_ARRAY3D_DESCRIPTOR *d, struct texture_array *t)
{
    *t = (struct texture_array){0};
    if (!array_format(d->Format, d->NumChannels, t))
        return CUDA_ERROR_INVALID_VALUE;
    bool layered = d->Flags & CUDA_ARRAY3D_LAYERED, cube = d->Flags & CUDA_ARRAY3D_CUBEMAP;
    if (!d->Width || d->Width > MOST_WIDTH || d->Height > MOST_WIDTH || d->Depth > MOST_DEPTH * 2 ||
        (d->Flags & ~(unsigned)KNOWN_FLAGS))
        return d->Flags & ~(unsigned)KNOWN_FLAGS ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    if (!layered && !cube && d->Depth && !d->Height)
        return CUDA_ERROR_INVALID_VALUE;
    if (layered && !d->Depth)
        return CUDA_ERROR_INVALID_VALUE;
    if (cube && (d->Width != d->Height || (layered ? d->Depth % CUBE_FACES : d->Depth != CUBE_FACES)))
        return CUDA_ERROR_INVALID_VALUE;
    t->width = (uint32_t)d->Width;
    t->height = (uint32_t)d->Height;
    t->depth = layered || cube ? 0 : (uint32_t)d->Depth;
    t->layers = layered || cube ? (uint32_t)d->Depth : 0;
    t->layered = layered;
    t->cube = cube;
    t->surface = d->Flags & CUDA_ARRAY3D_SURFACE_LDST;
    t->pitch_bytes = ((uint64_t)t->width * texture_texel_bytes(t) + 31) & ~(uint64_t)31;
    t->slice_bytes = t->pitch_bytes * (t->height ? t->height : 1);
    return CUDA_SUCCESS;
}

static uint64_t bytes_of(const struct texture_array *t)
{
    return t->slice_bytes * (t->layers ? t->layers : t->depth ? t->depth : 1);
}

static void array_destroy(struct object *o)
{
    struct array *a = (struct array *)o;
    memory_release(driver_get()->gpu->memory, a->texels.data);
}

static CUresult array_new(struct context *ctx, const CUDA_ARRAY3D_DESCRIPTOR *d, struct array **out)
{
    struct texture_array t;
    CUresult r = describe(d, &t);
    if (r != CUDA_SUCCESS)
        return r;
    t.data = memory_alloc(driver_get()->gpu->memory, bytes_of(&t), 512, MEMORY_ARRAY, NULL);
    struct array *a = t.data ? object_new(sizeof *a, OBJECT_ARRAY, ctx, array_destroy) : NULL;
    if (!a) {
        if (t.data)
            memory_release(driver_get()->gpu->memory, t.data);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    a->texels = t;
    a->flags = d->Flags;
    a->width = (unsigned int)d->Width;
    a->height = (unsigned int)d->Height;
    a->depth = (unsigned int)d->Depth;
    a->format = d->Format;
    *out = a;
    return CUDA_SUCCESS;
}

static CUresult create(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    struct context *ctx = NULL;
    struct array *a = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT);
    if (r == CUDA_SUCCESS)
        r = capture_refuse_unsafe();
    if (r == CUDA_SUCCESS)
        r = out && d ? array_new(ctx, d, &a) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = (CUarray)a;
    return api_leave(r);
}

CUAPI CUresult cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d) { return create(out, d); }
API_ALIAS(cuArray3DCreate, cuArray3DCreate_v2)

CUAPI CUresult cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d)
{
    if (!d)
        return create(out, NULL);
    CUDA_ARRAY3D_DESCRIPTOR full = {
        .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
    return create(out, &full);
}
API_ALIAS(cuArrayCreate, cuArrayCreate_v2)

static CUresult enter(enum api_need need, CUarray handle, const void *out, struct array **a)
{
    CUresult r = api_enter(NULL, need);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    *a = r == CUDA_SUCCESS ? object_find(handle, OBJECT_ARRAY) : NULL;
    return r == CUDA_SUCCESS && !*a ? CUDA_ERROR_INVALID_HANDLE : r;
}

CUAPI CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *out, CUarray handle)
{
    struct array *a;
    CUresult r = enter(API_CONTEXT, handle, out, &a);
    if (r == CUDA_SUCCESS)
        *out = (CUDA_ARRAY_DESCRIPTOR){a->width, a->height, a->format, a->texels.channels};
    return api_leave(r);
}
API_ALIAS(cuArrayGetDescriptor, cuArrayGetDescriptor_v2)

CUAPI CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray handle)
{
    struct array *a;
    CUresult r = enter(API_CONTEXT, handle, out, &a);
    if (r == CUDA_SUCCESS)
        *out = (CUDA_ARRAY3D_DESCRIPTOR){a->width, a->height, a->depth, a->format, a->texels.channels, a->flags};
    return api_leave(r);
}
API_ALIAS(cuArray3DGetDescriptor, cuArray3DGetDescriptor_v2)

/* Only arrays that get their memory later have requirements, and there are none of those. */
CUAPI CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, CUarray handle, CUdevice dev)
{
    struct array *a;
    CUresult r = enter(API_CONTEXT, handle, out, &a);
    if (r == CUDA_SUCCESS)
        r = dev ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    return api_leave(r);
}

/* Formats with planes are not supported, so no array has any. */
CUAPI CUresult cuArrayGetPlane(CUarray *out, CUarray handle, unsigned int plane)
{
    struct array *a;
    (void)plane;
    CUresult r = enter(API_CONTEXT, handle, out, &a);
    return api_leave(r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r);
}

CUAPI CUresult cuArrayDestroy(CUarray handle)
{
    struct array *a;
    CUresult r = enter(API_CONTEXT | API_WAITING, handle, &a, &a);
    if (r == CUDA_SUCCESS && !a->of) /* levels go with their mipmap */
        object_free(&a->object);
    return api_leave(r);
}

static void mipmap_destroy(struct object *o)
{
    struct mipmap *m = (struct mipmap *)o;
    for (uint32_t i = 0; i < m->level_count; i++)
        object_free(&m->levels[i]->object);
    free(m->levels);
    free(m->texels);
}

static CUresult mipmap_new(struct context *ctx, const CUDA_ARRAY3D_DESCRIPTOR *d, uint32_t levels, struct mipmap **out)
{
    CUDA_ARRAY3D_DESCRIPTOR level = *d;
    struct mipmap *m =
        object_new(sizeof *m, OBJECT_MIPMAP, NULL, mipmap_destroy); /* its owner is set when it is whole */
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    m->levels = calloc(levels, sizeof *m->levels);
    m->texels = calloc(levels, sizeof *m->texels);
    CUresult r = m->levels && m->texels ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < levels && r == CUDA_SUCCESS; i++) {
        r = array_new(NULL, &level, &m->levels[i]);
        if (r != CUDA_SUCCESS)
            break;
        m->level_count++;
        m->levels[i]->of = m;
        m->levels[i]->level = i;
        m->texels[i] = m->levels[i]->texels;
        level.Width = level.Width > 1 ? level.Width / 2 : 1;
        level.Height = level.Height > 1 ? level.Height / 2 : level.Height;
        if (!(d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
            level.Depth = level.Depth > 1 ? level.Depth / 2 : level.Depth;
    }
    if (r != CUDA_SUCCESS) {
        object_free(&m->object);
        return r;
    }
    m->object.owner = ctx;
    *out = m;
    return CUDA_SUCCESS;
}

static uint32_t most_levels(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    size_t most = d->Width > d->Height ? d->Width : d->Height;
    if (!(d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) && d->Depth > most)
        most = d->Depth;
    uint32_t levels = 1;
    while (most >>= 1)
        levels++;
    return levels;
}

CUAPI CUresult cuMipmappedArrayCreate(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int levels)
{
    struct context *ctx = NULL;
    struct mipmap *m = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT);
    if (r == CUDA_SUCCESS && (!out || !d || !levels))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = capture_refuse_unsafe();
    if (r == CUDA_SUCCESS)
        r = mipmap_new(ctx, d, levels < most_levels(d) ? levels : most_levels(d), &m);
    if (r == CUDA_SUCCESS)
        *out = (CUmipmappedArray)m;
    return api_leave(r);
}

static CUresult enter_mipmap(enum api_need need, CUmipmappedArray handle, const void *out, struct mipmap **m)
{
    CUresult r = api_enter(NULL, need);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    *m = r == CUDA_SUCCESS ? object_find(handle, OBJECT_MIPMAP) : NULL;
    return r == CUDA_SUCCESS && !*m ? CUDA_ERROR_INVALID_HANDLE : r;
}

CUAPI CUresult cuMipmappedArrayGetLevel(CUarray *out, CUmipmappedArray handle, unsigned int level)
{
    struct mipmap *m;
    CUresult r = enter_mipmap(API_CONTEXT, handle, out, &m);
    if (r == CUDA_SUCCESS && level >= m->level_count)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = (CUarray)m->levels[level];
    return api_leave(r);
}

CUAPI CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, CUmipmappedArray handle,
                                                     CUdevice dev)
{
    struct mipmap *m;
    CUresult r = enter_mipmap(API_CONTEXT, handle, out, &m);
    if (r == CUDA_SUCCESS)
        r = dev ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    return api_leave(r);
}

CUAPI CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle)
{
    struct mipmap *m;
    CUresult r = enter_mipmap(API_CONTEXT | API_WAITING, handle, &m, &m);
    if (r == CUDA_SUCCESS)
        object_free(&m->object);
    return api_leave(r);
}
