/* Texture and surface references (removed from CUDA 12's runtime, still in the driver API): variables of a module that
 * are bound to memory by the host. The variable holds the handle of a texture object that is made anew whenever the
 * binding changed. */
#include "cuda/texture.h"

#include <string.h>

struct reference {
    struct object object;
    struct module *module; /* NULL: made by cuTexRefCreate */
    const struct exec_symbol *symbol;
    bool bound, changed, is_surface;
    uint64_t handle; /* 0: none */
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC sampling;
    CUarray_format format;
    int channels;
};

static void reference_destroy(struct object *o)
{
    struct reference *ref = (struct reference *)o;
    if (ref->handle)
        texture_destroy(&driver_get()->gpu->textures, ref->handle);
}

struct reference_query {
    const struct module *module;
    const struct exec_symbol *symbol;
    struct reference *found;
};

static bool match(struct object *o, void *user)
{
    struct reference_query *q = user;
    struct reference *ref = (struct reference *)o;
    if (ref->module == q->module && (!q->symbol || ref->symbol == q->symbol))
        q->found = ref;
    return !q->found;
}

void texture_refs_free_of(struct module *m)
{
    for (enum object_kind kind = OBJECT_TEXREF; kind <= OBJECT_SURFREF; kind++)
        for (;;) {
            struct reference_query q = {m, NULL, NULL};
            objects_each(kind, match, &q);
            if (!q.found)
                break;
            object_free(&q.found->object);
        }
}

/* The handle goes into the variable's memory, where the kernel's instruction reads it. */
static void bind(struct reference *ref)
{
    struct texture t = {.in_use = true, .is_surface = ref->is_surface};
    struct texture_table *table = &driver_get()->gpu->textures;
    if (ref->handle)
        texture_destroy(table, ref->handle);
    ref->handle = 0;
    ref->changed = false;
    if (ref->bound && texture_resource(&ref->resource, &t) == CUDA_SUCCESS &&
        (ref->is_surface || texture_sampling(&ref->sampling, &t) == CUDA_SUCCESS))
        ref->handle = texture_create(table, &t);
    memcpy(memory_pointer(ref->symbol->address), &ref->handle, sizeof ref->handle);
}

static bool bind_changed(struct object *o, void *user)
{
    struct reference *ref = (struct reference *)o;
    if (ref->module == user && ref->changed)
        bind(ref);
    return true;
}

void texture_bind_all(struct module *m)
{
    objects_each(OBJECT_TEXREF, bind_changed, m);
    objects_each(OBJECT_SURFREF, bind_changed, m);
}

static void defaults(struct reference *ref)
{
    for (int i = 0; i < 3; i++)
        ref->sampling.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    ref->format = CU_AD_FORMAT_FLOAT;
    ref->channels = 1;
    ref->changed = true;
}

static CUresult from_module(void **out, CUmodule handle, const char *name, enum object_kind kind)
{
    CUresult r = api_enter(NULL, API_CONTEXT);
    if (r == CUDA_SUCCESS && (!out || !name))
        r = CUDA_ERROR_INVALID_VALUE;
    struct module *m = r == CUDA_SUCCESS ? object_find(handle, OBJECT_MODULE) : NULL;
    if (r == CUDA_SUCCESS && !m)
        r = CUDA_ERROR_INVALID_HANDLE;
    const struct exec_symbol *s = r == CUDA_SUCCESS ? exec_image_symbol(m->image, name) : NULL;
    bool is_reference = s && s->variable && s->size_bytes >= 8 &&
                        (kind == OBJECT_TEXREF ? s->space == PTX_SPACE_TEX || s->variable->type == PTX_TEXREF
                                               : s->variable->type == PTX_SURFREF);
    if (r == CUDA_SUCCESS && !is_reference)
        r = CUDA_ERROR_NOT_FOUND;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    struct reference_query q = {m, s, NULL};
    objects_each(kind, match, &q);
    if (!q.found) {
        q.found = object_new(sizeof *q.found, kind, m->object.owner, reference_destroy);
        if (!q.found)
            return api_leave(CUDA_ERROR_OUT_OF_MEMORY);
        q.found->module = m;
        q.found->symbol = s;
        q.found->is_surface = kind == OBJECT_SURFREF;
        defaults(q.found);
    }
    *out = q.found;
    return api_leave(CUDA_SUCCESS);
}

CUAPI CUresult cuModuleGetTexRef(CUtexref *out, CUmodule module, const char *name)
{
    return from_module((void **)out, module, name, OBJECT_TEXREF);
}
CUAPI CUresult cuModuleGetSurfRef(CUsurfref *out, CUmodule module, const char *name)
{
    return from_module((void **)out, module, name, OBJECT_SURFREF);
}

CUAPI CUresult cuTexRefCreate(CUtexref *out)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    struct reference *ref = r == CUDA_SUCCESS ? object_new(sizeof *ref, OBJECT_TEXREF, ctx, reference_destroy) : NULL;
    if (r == CUDA_SUCCESS && !ref)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        defaults(ref);
        *out = (CUtexref)ref;
    }
    return api_leave(r);
}

static CUresult enter(const void *handle, enum object_kind kind, const void *argument, struct reference **ref)
{
    CUresult r = api_enter(NULL, API_CONTEXT);
    if (r == CUDA_SUCCESS && !argument)
        r = CUDA_ERROR_INVALID_VALUE;
    *ref = r == CUDA_SUCCESS ? object_find(handle, kind) : NULL;
    return r == CUDA_SUCCESS && !*ref ? CUDA_ERROR_INVALID_HANDLE : r;
}

CUAPI CUresult cuTexRefDestroy(CUtexref handle)
{
    struct reference *ref;
    CUresult r = enter(handle, OBJECT_TEXREF, &ref, &ref);
    if (r == CUDA_SUCCESS && ref->module)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        object_free(&ref->object);
    return api_leave(r);
}

/* A binding is tried out at once, so that its error is reported by the call. */
static CUresult set_resource(struct reference *ref, const CUDA_RESOURCE_DESC *d)
{
    struct texture t = {0};
    CUresult r = texture_resource(d, &t);
    if (r == CUDA_SUCCESS) {
        ref->resource = *d;
        ref->bound = ref->changed = true;
    }
    return r;
}

static CUresult set_array(const void *handle, enum object_kind kind, CUarray array, unsigned int flags,
                          unsigned int known_flags)
{
    struct reference *ref;
    CUDA_RESOURCE_DESC d = {.resType = CU_RESOURCE_TYPE_ARRAY};
    d.res.array.hArray = array;
    CUresult r = enter(handle, kind, &d, &ref);
    if (r == CUDA_SUCCESS && (flags & ~known_flags))
        r = CUDA_ERROR_INVALID_VALUE;
    return api_leave(r == CUDA_SUCCESS ? set_resource(ref, &d) : r);
}

CUAPI CUresult cuTexRefSetArray(CUtexref ref, CUarray array, unsigned int flags)
{
    return set_array(ref, OBJECT_TEXREF, array, flags, CU_TRSA_OVERRIDE_FORMAT);
}

CUAPI CUresult cuSurfRefSetArray(CUsurfref ref, CUarray array, unsigned int flags)
{
    return set_array(ref, OBJECT_SURFREF, array, flags, 0);
}

CUAPI CUresult cuTexRefSetMipmappedArray(CUtexref handle, CUmipmappedArray array, unsigned int flags)
{
    struct reference *ref;
    CUDA_RESOURCE_DESC d = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};
    d.res.mipmap.hMipmappedArray = array;
    CUresult r = enter(handle, OBJECT_TEXREF, &d, &ref);
    if (r == CUDA_SUCCESS && (flags & ~(unsigned)CU_TRSA_OVERRIDE_FORMAT))
        r = CUDA_ERROR_INVALID_VALUE;
    return api_leave(r == CUDA_SUCCESS ? set_resource(ref, &d) : r);
}

CUAPI CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref handle, CUdeviceptr address, size_t bytes)
{
    struct reference *ref;
    CUresult r = enter(handle, OBJECT_TEXREF, &ref, &ref);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    if (!address) { /* unbinds */
        ref->bound = false;
        ref->changed = true;
        return api_leave(CUDA_SUCCESS);
    }
    size_t skew = address % 512;
    if (skew && !offset)
        return api_leave(CUDA_ERROR_INVALID_VALUE);
    CUDA_RESOURCE_DESC d = {.resType = CU_RESOURCE_TYPE_LINEAR};
    d.res.linear.devPtr = address - skew;
    d.res.linear.format = ref->format;
    d.res.linear.numChannels = (unsigned int)ref->channels;
    d.res.linear.sizeInBytes = bytes + skew;
    r = set_resource(ref, &d);
    if (r == CUDA_SUCCESS && offset)
        *offset = skew;
    return api_leave(r);
}
API_ALIAS(cuTexRefSetAddress, cuTexRefSetAddress_v2)

CUAPI CUresult cuTexRefSetAddress2D_v3(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR *a, CUdeviceptr address,
                                       size_t pitch)
{
    struct reference *ref;
    CUresult r = enter(handle, OBJECT_TEXREF, a, &ref);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    CUDA_RESOURCE_DESC d = {.resType = CU_RESOURCE_TYPE_PITCH2D};
    d.res.pitch2D.devPtr = address;
    d.res.pitch2D.format = a->Format;
    d.res.pitch2D.numChannels = a->NumChannels;
    d.res.pitch2D.width = a->Width;
    d.res.pitch2D.height = a->Height;
    d.res.pitch2D.pitchInBytes = pitch;
    return api_leave(set_resource(ref, &d));
}
API_ALIAS(cuTexRefSetAddress2D, cuTexRefSetAddress2D_v3)
API_ALIAS(cuTexRefSetAddress2D_v2, cuTexRefSetAddress2D_v3)

CUAPI CUresult cuTexRefSetFormat(CUtexref handle, CUarray_format format, int channels)
{
    struct reference *ref;
    struct texture_array t;
    CUresult r = enter(handle, OBJECT_TEXREF, &t, &ref);
    if (r == CUDA_SUCCESS && (channels <= 0 || !array_format(format, (unsigned int)channels, &t)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        ref->format = format;
        ref->channels = channels;
    }
    return api_leave(r);
}

/* Setters and getters of one field. */
#define SET(condition, field, value)                           \
    do {                                                       \
        struct reference *ref;                                 \
        CUresult r = enter(handle, OBJECT_TEXREF, &ref, &ref); \
        if (r == CUDA_SUCCESS && !(condition))                 \
            r = CUDA_ERROR_INVALID_VALUE;                      \
        if (r == CUDA_SUCCESS) {                               \
            ref->sampling.field = (value);                     \
            ref->changed = true;                               \
        }                                                      \
        return api_leave(r);                                   \
    } while (0)

#define GET(condition, out, value)                            \
    do {                                                      \
        struct reference *ref;                                \
        CUresult r = enter(handle, OBJECT_TEXREF, out, &ref); \
        if (r == CUDA_SUCCESS && !(condition))                \
            r = CUDA_ERROR_INVALID_VALUE;                     \
        if (r == CUDA_SUCCESS)                                \
            *(out) = (value);                                 \
        return api_leave(r);                                  \
    } while (0)

CUAPI CUresult cuTexRefSetAddressMode(CUtexref handle, int dim, CUaddress_mode mode)
{
    SET(dim >= 0 && dim < 3 && (unsigned)mode <= CU_TR_ADDRESS_MODE_BORDER, addressMode[dim], mode);
}
CUAPI CUresult cuTexRefSetFilterMode(CUtexref handle, CUfilter_mode mode)
{
    SET((unsigned)mode <= CU_TR_FILTER_MODE_LINEAR, filterMode, mode);
}
CUAPI CUresult cuTexRefSetMipmapFilterMode(CUtexref handle, CUfilter_mode mode)
{
    SET((unsigned)mode <= CU_TR_FILTER_MODE_LINEAR, mipmapFilterMode, mode);
}
CUAPI CUresult cuTexRefSetMipmapLevelBias(CUtexref handle, float bias) { SET(true, mipmapLevelBias, bias); }
CUAPI CUresult cuTexRefSetMaxAnisotropy(CUtexref handle, unsigned int most) { SET(most <= 16, maxAnisotropy, most); }
CUAPI CUresult cuTexRefSetFlags(CUtexref handle, unsigned int flags) { SET(!(flags & ~0x73u), flags, flags); }

CUAPI CUresult cuTexRefSetMipmapLevelClamp(CUtexref handle, float least, float most)
{
    struct reference *ref;
    CUresult r = enter(handle, OBJECT_TEXREF, &ref, &ref);
    if (r == CUDA_SUCCESS) {
        ref->sampling.minMipmapLevelClamp = least;
        ref->sampling.maxMipmapLevelClamp = most;
        ref->changed = true;
    }
    return api_leave(r);
}

CUAPI CUresult cuTexRefSetBorderColor(CUtexref handle, float *color)
{
    struct reference *ref;
    CUresult r = enter(handle, OBJECT_TEXREF, color, &ref);
    if (r == CUDA_SUCCESS) {
        memcpy(ref->sampling.borderColor, color, sizeof ref->sampling.borderColor);
        ref->changed = true;
    }
    return api_leave(r);
}

CUAPI CUresult cuTexRefGetAddress_v2(CUdeviceptr *out, CUtexref handle)
{
    GET(ref->bound &&
            (ref->resource.resType == CU_RESOURCE_TYPE_LINEAR || ref->resource.resType == CU_RESOURCE_TYPE_PITCH2D),
        out, ref->resource.res.linear.devPtr);
}
API_ALIAS(cuTexRefGetAddress, cuTexRefGetAddress_v2)

CUAPI CUresult cuTexRefGetArray(CUarray *out, CUtexref handle)
{
    GET(ref->bound && ref->resource.resType == CU_RESOURCE_TYPE_ARRAY, out, ref->resource.res.array.hArray);
}
CUAPI CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *out, CUtexref handle)
{
    GET(ref->bound && ref->resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, out,
        ref->resource.res.mipmap.hMipmappedArray);
}
CUAPI CUresult cuTexRefGetAddressMode(CUaddress_mode *out, CUtexref handle, int dim)
{
    GET(dim >= 0 && dim < 3, out, ref->sampling.addressMode[dim]);
}
CUAPI CUresult cuTexRefGetFilterMode(CUfilter_mode *out, CUtexref handle) { GET(true, out, ref->sampling.filterMode); }
CUAPI CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode *out, CUtexref handle)
{
    GET(true, out, ref->sampling.mipmapFilterMode);
}
CUAPI CUresult cuTexRefGetMipmapLevelBias(float *out, CUtexref handle)
{
    GET(true, out, ref->sampling.mipmapLevelBias);
}
CUAPI CUresult cuTexRefGetMaxAnisotropy(int *out, CUtexref handle) { GET(true, out, (int)ref->sampling.maxAnisotropy); }
CUAPI CUresult cuTexRefGetFlags(unsigned int *out, CUtexref handle) { GET(true, out, ref->sampling.flags); }

CUAPI CUresult cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref handle)
{
    struct reference *ref;
    CUresult r = enter(handle, OBJECT_TEXREF, &ref, &ref);
    if (r == CUDA_SUCCESS && format)
        *format = ref->format;
    if (r == CUDA_SUCCESS && channels)
        *channels = ref->channels;
    return api_leave(r);
}

CUAPI CUresult cuTexRefGetMipmapLevelClamp(float *least, float *most, CUtexref handle)
{
    struct reference *ref;
    CUresult r = enter(handle, OBJECT_TEXREF, most ? least : NULL, &ref);
    if (r == CUDA_SUCCESS) {
        *least = ref->sampling.minMipmapLevelClamp;
        *most = ref->sampling.maxMipmapLevelClamp;
    }
    return api_leave(r);
}

CUAPI CUresult cuTexRefGetBorderColor(float *out, CUtexref handle)
{
    struct reference *ref;
    CUresult r = enter(handle, OBJECT_TEXREF, out, &ref);
    if (r == CUDA_SUCCESS)
        memcpy(out, ref->sampling.borderColor, sizeof ref->sampling.borderColor);
    return api_leave(r);
}

CUAPI CUresult cuSurfRefGetArray(CUarray *out, CUsurfref handle)
{
    struct reference *ref;
    CUresult r = enter(handle, OBJECT_SURFREF, out, &ref);
    if (r == CUDA_SUCCESS && !ref->bound)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = ref->resource.res.array.hArray;
    return api_leave(r);
}

/* Textures are bound to the module, not to a function's texture units. */
CUAPI CUresult cuParamSetTexRef(CUfunction function, int unit, CUtexref handle)
{
    struct reference *ref;
    struct function *f;
    (void)unit;
    CUresult r = enter(handle, OBJECT_TEXREF, &f, &ref);
    return api_leave(r == CUDA_SUCCESS ? function_resolve(function, &f) : r);
}
