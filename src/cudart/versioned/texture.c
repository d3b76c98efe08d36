/* Texture and surface objects: the runtime's descriptions, which differ in size between versions of CUDA, and the
 * driver's. */
#include "cudart/texture.h"
#include "cudart/array.h"
#include "cudart/runtime.h"

#include <string.h>

static int linear_to_driver(const struct cudaResourceDesc *d, CUDA_RESOURCE_DESC *out)
{
    out->res.linear.devPtr = (uintptr_t)d->res.linear.devPtr;
    out->res.linear.sizeInBytes = d->res.linear.sizeInBytes;
    return rt_format_of(&d->res.linear.desc, &out->res.linear.format, &out->res.linear.numChannels);
}

static int pitched_to_driver(const struct cudaResourceDesc *d, CUDA_RESOURCE_DESC *out)
{
    out->res.pitch2D.devPtr = (uintptr_t)d->res.pitch2D.devPtr;
    out->res.pitch2D.width = d->res.pitch2D.width;
    out->res.pitch2D.height = d->res.pitch2D.height;
    out->res.pitch2D.pitchInBytes = d->res.pitch2D.pitchInBytes;
    return rt_format_of(&d->res.pitch2D.desc, &out->res.pitch2D.format, &out->res.pitch2D.numChannels);
}

static int resource_to_driver(const struct cudaResourceDesc *d, CUDA_RESOURCE_DESC *out)
{
    memset(out, 0, sizeof *out);
    out->resType = (CUresourcetype)d->resType;
#if CUDART_MAJOR >= 13
    out->flags = d->flags;
#endif
    switch (d->resType) {
    case cudaResourceTypeArray: out->res.array.hArray = d->res.array.array; return cudaSuccess;
    case cudaResourceTypeMipmappedArray: out->res.mipmap.hMipmappedArray = d->res.mipmap.mipmap; return cudaSuccess;
    case cudaResourceTypeLinear: return linear_to_driver(d, out);
    case cudaResourceTypePitch2D: return pitched_to_driver(d, out);
    default: return cudaErrorInvalidValue;
    }
}

static void resource_from_driver(const CUDA_RESOURCE_DESC *d, struct cudaResourceDesc *out)
{
    memset(out, 0, sizeof *out);
    out->resType = (enum cudaResourceType)d->resType;
    switch (d->resType) {
    case CU_RESOURCE_TYPE_ARRAY: out->res.array.array = d->res.array.hArray; break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: out->res.mipmap.mipmap = d->res.mipmap.hMipmappedArray; break;
    case CU_RESOURCE_TYPE_LINEAR:
        out->res.linear.devPtr = (void *)(uintptr_t)d->res.linear.devPtr;
        out->res.linear.desc = rt_desc_of(d->res.linear.format, d->res.linear.numChannels);
        out->res.linear.sizeInBytes = d->res.linear.sizeInBytes;
        break;
    default:
        out->res.pitch2D.devPtr = (void *)(uintptr_t)d->res.pitch2D.devPtr;
        out->res.pitch2D.desc = rt_desc_of(d->res.pitch2D.format, d->res.pitch2D.numChannels);
        out->res.pitch2D.width = d->res.pitch2D.width;
        out->res.pitch2D.height = d->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = d->res.pitch2D.pitchInBytes;
        break;
    }
}

/* The format of what will be read, the view's where there is one. */
static int texel_format(const CUDA_RESOURCE_DESC *d, CUarray_format *format)
{
    CUDA_ARRAY3D_DESCRIPTOR a = {0};
    CUarray array = d->res.array.hArray;
    int r = cudaSuccess;
    switch (d->resType) {
    case CU_RESOURCE_TYPE_LINEAR: *format = d->res.linear.format; return r;
    case CU_RESOURCE_TYPE_PITCH2D: *format = d->res.pitch2D.format; return r;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        r = (int)cuMipmappedArrayGetLevel(&array, d->res.mipmap.hMipmappedArray, 0);
        break;
    default: break;
    }
    r = r ?: (int)cuArray3DGetDescriptor(&a, array);
    *format = a.Format;
    return r;
}

static void sampling_to_driver(const struct cudaTextureDesc *d, bool seamless, CUDA_TEXTURE_DESC *out)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i < 3; i++)
        out->addressMode[i] = (CUaddress_mode)d->addressMode[i];
    out->filterMode = (CUfilter_mode)d->filterMode;
    out->flags = (d->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0) |
                 (d->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) | (d->sRGB ? CU_TRSF_SRGB : 0) |
                 (d->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
                 (seamless && d->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
    out->maxAnisotropy = d->maxAnisotropy;
    out->mipmapFilterMode = (CUfilter_mode)d->mipmapFilterMode;
    out->mipmapLevelBias = d->mipmapLevelBias;
    out->minMipmapLevelClamp = d->minMipmapLevelClamp;
    out->maxMipmapLevelClamp = d->maxMipmapLevelClamp;
    memcpy(out->borderColor, d->borderColor, sizeof out->borderColor);
}

static void sampling_from_driver(const CUDA_TEXTURE_DESC *d, bool seamless, struct cudaTextureDesc *out)
{
    for (int i = 0; i < 3; i++)
        out->addressMode[i] = (enum cudaTextureAddressMode)d->addressMode[i];
    out->filterMode = (enum cudaTextureFilterMode)d->filterMode;
    out->readMode = d->flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
    out->normalizedCoords = (d->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    out->sRGB = (d->flags & CU_TRSF_SRGB) != 0;
    out->disableTrilinearOptimization = (d->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
    if (seamless)
        out->seamlessCubemap = (d->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
    out->maxAnisotropy = d->maxAnisotropy;
    out->mipmapFilterMode = (enum cudaTextureFilterMode)d->mipmapFilterMode;
    out->mipmapLevelBias = d->mipmapLevelBias;
    out->minMipmapLevelClamp = d->minMipmapLevelClamp;
    out->maxMipmapLevelClamp = d->maxMipmapLevelClamp;
    memcpy(out->borderColor, d->borderColor, sizeof out->borderColor);
}

static CUDA_RESOURCE_VIEW_DESC view_to_driver(const struct cudaResourceViewDesc *v)
{
    return (CUDA_RESOURCE_VIEW_DESC){
        .format = v->format,
        .width = v->width,
        .height = v->height,
        .depth = v->depth,
        .firstMipmapLevel = v->firstMipmapLevel,
        .lastMipmapLevel = v->lastMipmapLevel,
        .firstLayer = v->firstLayer,
        .lastLayer = v->lastLayer,
    };
}

static int make(cudaTextureObject_t *out, const struct cudaResourceDesc *resource,
                const struct cudaTextureDesc *texture, bool seamless, const struct cudaResourceViewDesc *view)
{
    CUDA_RESOURCE_DESC driver_resource;
    CUDA_TEXTURE_DESC sampling;
    CUDA_RESOURCE_VIEW_DESC driver_view = {0};
    CUarray_format format;
    if (!out || !resource || !texture)
        return cudaErrorInvalidValue;
    int r = resource_to_driver(resource, &driver_resource) ?: texel_format(&driver_resource, &format);
    if (!r && !view)
        r = rt_check_sampling(format, texture->readMode == cudaReadModeNormalizedFloat,
                              texture->filterMode == cudaFilterModeLinear);
    if (r)
        return r;
    sampling_to_driver(texture, seamless, &sampling);
    if (view)
        driver_view = view_to_driver(view);
    return cuTexObjectCreate(out, &driver_resource, &sampling, view ? &driver_view : NULL);
}

static int get_texture(struct cudaTextureDesc *out, cudaTextureObject_t object, bool seamless)
{
    CUDA_TEXTURE_DESC d;
    int r = out ? (int)cuTexObjectGetTextureDesc(&d, object) : cudaErrorInvalidValue;
    if (!r)
        sampling_from_driver(&d, seamless, out);
    return r;
}

#define MAKE                                                                                                  \
    cudaTextureObject_t *out, const struct cudaResourceDesc *resource, const struct cudaTextureDesc *texture, \
        const struct cudaResourceViewDesc *view
RTAPI cudaError_t cudaCreateTextureObject(MAKE)
{
    return rt_leave(rt_enter() ?: make(out, resource, texture, CUDART_MAJOR >= 12, view));
}
RTAPI cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *out, cudaTextureObject_t object)
{
    return rt_leave(rt_enter() ?: get_texture(out, object, CUDART_MAJOR >= 12));
}
#if CUDART_MAJOR == 11
RTAPI cudaError_t cudaCreateTextureObject_v2(MAKE)
{
    return rt_leave(rt_enter() ?: make(out, resource, texture, true, view));
}
RTAPI cudaError_t cudaGetTextureObjectTextureDesc_v2(struct cudaTextureDesc *out, cudaTextureObject_t object)
{
    return rt_leave(rt_enter() ?: get_texture(out, object, true));
}
#endif

/* To destroy what is no object is no error. */
RTAPI cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    int r = rt_enter() ?: (int)cuTexObjectDestroy(object);
    return rt_leave(r == cudaErrorInvalidValue ? (int)cudaSuccess : r);
}
RTAPI cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
    int r = rt_enter() ?: (int)cuSurfObjectDestroy(object);
    return rt_leave(r == cudaErrorInvalidValue ? (int)cudaSuccess : r);
}

RTAPI cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *out, cudaTextureObject_t object)
{
    CUDA_RESOURCE_DESC d;
    int r = rt_enter() ?: out ? (int)cuTexObjectGetResourceDesc(&d, object) : cudaErrorInvalidValue;
    if (!r)
        resource_from_driver(&d, out);
    return rt_leave(r);
}

/* A texture without a view has one all the same, of nothing. */
RTAPI cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *out, cudaTextureObject_t object)
{
    CUDA_RESOURCE_DESC resource;
    CUDA_RESOURCE_VIEW_DESC v = {0};
    int r = rt_enter() ?: out ? (int)cuTexObjectGetResourceDesc(&resource, object) : cudaErrorInvalidValue;
    if (r)
        return rt_leave(r);
    (void)cuTexObjectGetResourceViewDesc(&v, object);
    memset(out, 0, sizeof *out);
    out->format = v.format;
    out->width = v.width;
    out->height = v.height;
    out->depth = v.depth;
    out->firstMipmapLevel = v.firstMipmapLevel;
    out->lastMipmapLevel = v.lastMipmapLevel;
    out->firstLayer = v.firstLayer;
    out->lastLayer = v.lastLayer;
    return cudaSuccess;
}

RTAPI cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const struct cudaResourceDesc *resource)
{
    CUDA_RESOURCE_DESC d;
    int r = rt_enter() ?: out && resource ? resource_to_driver(resource, &d) : cudaErrorInvalidValue;
    return rt_leave(r ?: (int)cuSurfObjectCreate(out, &d));
}

RTAPI cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *out, cudaSurfaceObject_t object)
{
    CUDA_RESOURCE_DESC d;
    int r = rt_enter() ?: out ? (int)cuSurfObjectGetResourceDesc(&d, object) : cudaErrorInvalidValue;
    if (!r)
        resource_from_driver(&d, out);
    return rt_leave(r);
}
