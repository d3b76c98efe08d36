/* Texture and surface references of programs built by CUDA 11 and before: variables of the device that the host binds
 * to memory. How they are read stands in the host's own variable, and counts from the moment of binding. */
#include "cudart/array.h"
#include "cudart/runtime.h"
#include "cudart/texture.h"

#include <pthread.h>
#include <stdlib.h>

/* What cudaGetTextureAlignmentOffset has to remember. */
struct binding {
    const struct textureReference *host;
    size_t offset;
    bool bound;
    struct binding *next;
};
struct bindings {
    pthread_mutex_t lock;
    struct binding *first;
};
static struct bindings bindings = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int remember(const struct textureReference *host, size_t offset, bool bound)
{
    pthread_mutex_lock(&bindings.lock);
    struct binding *b = bindings.first;
    while (b && b->host != host)
        b = b->next;
    if (!b && (b = calloc(1, sizeof *b))) {
        b->host = host;
        b->next = bindings.first;
        bindings.first = b;
    }
    if (b) {
        b->offset = offset;
        b->bound = bound;
    }
    pthread_mutex_unlock(&bindings.lock);
    return b ? cudaSuccess : cudaErrorMemoryAllocation;
}

static bool recall(const struct textureReference *host, size_t *offset)
{
    pthread_mutex_lock(&bindings.lock);
    const struct binding *b = bindings.first;
    while (b && b->host != host)
        b = b->next;
    bool bound = b && b->bound;
    if (bound)
        *offset = b->offset;
    pthread_mutex_unlock(&bindings.lock);
    return bound;
}

static int set_reading(CUtexref ref, const struct textureReference *host, bool reads_normalized)
{
    unsigned int flags = (reads_normalized ? 0 : CU_TRSF_READ_AS_INTEGER) |
                         (host->normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0) | (host->sRGB ? CU_TRSF_SRGB : 0) |
                         (host->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0);
    int r = cuTexRefSetFlags(ref, flags);
    for (int i = 0; i < 3 && !r; i++)
        r = cuTexRefSetAddressMode(ref, i, (CUaddress_mode)host->addressMode[i]);
    r = r ?: (int)cuTexRefSetFilterMode(ref, (CUfilter_mode)host->filterMode);
    r = r ?: (int)cuTexRefSetMaxAnisotropy(ref, host->maxAnisotropy);
    r = r ?: (int)cuTexRefSetMipmapFilterMode(ref, (CUfilter_mode)host->mipmapFilterMode);
    r = r ?: (int)cuTexRefSetMipmapLevelBias(ref, host->mipmapLevelBias);
    return r ?: (int)cuTexRefSetMipmapLevelClamp(ref, host->minMipmapLevelClamp, host->maxMipmapLevelClamp);
}

struct target {
    CUtexref ref;
    CUarray_format format;
    unsigned int channels;
};

/* All that binding shares but the memory. */
static int prepare(const struct textureReference *host, const struct cudaChannelFormatDesc *desc, struct target *t)
{
    bool reads_normalized = false;
    int r = rt_enter();
    if (!r && (!host || !desc))
        r = host ? cudaErrorInvalidValue : cudaErrorInvalidTexture;
    r = r ?: rt_texture_reference(host, &t->ref, &reads_normalized) ?: rt_format_of(desc, &t->format, &t->channels);
    r = r ?: rt_check_sampling(t->format, reads_normalized, host->filterMode == cudaFilterModeLinear);
    r = r ?: set_reading(t->ref, host, reads_normalized);
    return r ?: (int)cuTexRefSetFormat(t->ref, t->format, (int)t->channels);
}

/* Most programs leave the size at its default, the largest number there is: the texture ends where the memory does. */
static int clamp(const void *p, size_t *bytes)
{
    CUdeviceptr base = 0;
    size_t size = 0;
    int r = p ? (int)cuMemGetAddressRange(&base, &size, (uintptr_t)p) : cudaErrorInvalidValue;
    if (r)
        return cudaErrorInvalidValue;
    size_t left = size - ((uintptr_t)p - base);
    if (*bytes > left)
        *bytes = left;
    return cudaSuccess;
}

RTAPI cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *host, const void *p,
                                  const struct cudaChannelFormatDesc *desc, size_t bytes)
{
    struct target t;
    size_t skew = 0;
    int r = prepare(host, desc, &t) ?: clamp(p, &bytes);
    if (!r) {
        size_t texel = rt_texel_bytes(t.format, t.channels), most = (size_t)(1u << 27) * texel;
        r = cuTexRefSetAddress(offset ? &skew : NULL, t.ref, (uintptr_t)p, bytes < most ? bytes : most);
    }
    if (!r && offset)
        *offset = skew;
    return rt_leave(r ?: remember(host, skew, true));
}

RTAPI cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *host, const void *p,
                                    const struct cudaChannelFormatDesc *desc, size_t width, size_t height, size_t pitch)
{
    struct target t;
    int alignment = 1, r = prepare(host, desc, &t);
    r = r ?: (int)cuDeviceGetAttribute(&alignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, rt_device());
    if (r)
        return rt_leave(r);
    size_t skew = (uintptr_t)p % (size_t)alignment, texel = rt_texel_bytes(t.format, t.channels);
    if ((skew && !offset) || skew % texel)
        return rt_leave(cudaErrorInvalidValue);
    CUDA_ARRAY_DESCRIPTOR d = {
        .Width = width + skew / texel, .Height = height, .Format = t.format, .NumChannels = t.channels};
    r = cuTexRefSetAddress2D(t.ref, &d, (uintptr_t)p - skew, pitch);
    if (!r && offset)
        *offset = skew;
    return rt_leave(r ?: remember(host, skew, true));
}

/* The description says how the program means to read the array; it must be the array's own. */
static int same_format(CUarray array, const struct target *t)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    int r = cuArray3DGetDescriptor(&d, array);
    return r ?: d.Format == t->format && d.NumChannels == t->channels ? cudaSuccess : cudaErrorInvalidValue;
}

RTAPI cudaError_t cudaBindTextureToArray(const struct textureReference *host, cudaArray_t array,
                                         const struct cudaChannelFormatDesc *desc)
{
    struct target t;
    int r = prepare(host, desc, &t) ?: same_format(array, &t);
    r = r ?: (int)cuTexRefSetArray(t.ref, array, CU_TRSA_OVERRIDE_FORMAT);
    return rt_leave(r ?: remember(host, 0, true));
}

RTAPI cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *host, cudaMipmappedArray_t array,
                                                  const struct cudaChannelFormatDesc *desc)
{
    struct target t;
    CUarray level = NULL;
    int r = prepare(host, desc, &t) ?: (int)cuMipmappedArrayGetLevel(&level, array, 0);
    r = r ?: same_format(level, &t) ?: (int)cuTexRefSetMipmappedArray(t.ref, array, CU_TRSA_OVERRIDE_FORMAT);
    return rt_leave(r ?: remember(host, 0, true));
}

/* Nothing is bound to address 0. */
RTAPI cudaError_t cudaUnbindTexture(const struct textureReference *host)
{
    CUtexref ref;
    bool reads_normalized;
    int r = rt_enter() ?: host ? rt_texture_reference(host, &ref, &reads_normalized) : (int)cudaErrorInvalidTexture;
    r = r ?: (int)cuTexRefSetAddress(NULL, ref, 0, 0);
    return rt_leave(r ?: remember(host, 0, false));
}

RTAPI cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *host)
{
    if (!offset)
        return rt_leave(cudaErrorInvalidValue);
    return rt_leave(recall(host, offset) ? cudaSuccess : cudaErrorInvalidTextureBinding);
}

/* The variable of the host program is the reference. */
RTAPI cudaError_t cudaGetTextureReference(const struct textureReference **out, const void *symbol)
{
    CUtexref ref;
    bool reads_normalized;
    int r = rt_enter() ?: out ? rt_texture_reference(symbol, &ref, &reads_normalized) : (int)cudaErrorInvalidValue;
    if (!r)
        *out = symbol;
    return rt_leave(r);
}

RTAPI cudaError_t cudaGetSurfaceReference(const struct surfaceReference **out, const void *symbol)
{
    CUsurfref ref;
    int r = rt_enter() ?: out ? rt_surface_reference(symbol, &ref) : (int)cudaErrorInvalidValue;
    if (!r)
        *out = symbol;
    return rt_leave(r);
}

RTAPI cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *host, cudaArray_t array,
                                         const struct cudaChannelFormatDesc *desc)
{
    CUsurfref ref;
    struct target t;
    int r = rt_enter();
    if (!r && (!host || !desc))
        r = host ? cudaErrorInvalidValue : cudaErrorInvalidSurface;
    r = r ?: rt_surface_reference(host, &ref) ?: rt_format_of(desc, &t.format, &t.channels) ?: same_format(array, &t);
    return rt_leave(r ?: (int)cuSurfRefSetArray(ref, array, 0));
}
