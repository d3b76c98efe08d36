/* CUDA arrays, mipmapped arrays and channel descriptions.
 *
 * Left out, as in the driver: block-compressed, packed and video formats, and sparse arrays. */
#include "cudart/array.h"
#include "cudart/runtime.h"

/* The driver's formats of fractions are in the order of the runtime's kinds. */
bool rt_is_fraction(CUarray_format format)
{
    return format >= CU_AD_FORMAT_UNORM_INT8X1 && format <= CU_AD_FORMAT_SNORM_INT16X4;
}

static int channel_bits(CUarray_format format)
{
    if (rt_is_fraction(format))
        return (format - CU_AD_FORMAT_UNORM_INT8X1) / 3 % 2 ? 16 : 8;
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 8;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 32;
    default: return 16;
    }
}

size_t rt_texel_bytes(CUarray_format format, unsigned int channels)
{
    return (size_t)channel_bits(format) / 8 * channels;
}

static bool format_of(enum cudaChannelFormatKind kind, int bits, unsigned int channels, CUarray_format *format)
{
    if (kind >= cudaChannelFormatKindUnsignedNormalized8X1 && kind <= cudaChannelFormatKindSignedNormalized16X4) {
        unsigned int at = kind - cudaChannelFormatKindUnsignedNormalized8X1;
        *format = (CUarray_format)(CU_AD_FORMAT_UNORM_INT8X1 + at);
        return bits == channel_bits(*format) && channels == 1u << at % 3;
    }
    switch (kind) {
    case cudaChannelFormatKindSigned:
        *format = bits == 8    ? CU_AD_FORMAT_SIGNED_INT8
                  : bits == 16 ? CU_AD_FORMAT_SIGNED_INT16
                               : CU_AD_FORMAT_SIGNED_INT32;
        return bits == 8 || bits == 16 || bits == 32;
    case cudaChannelFormatKindUnsigned:
        *format = bits == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
                  : bits == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
                               : CU_AD_FORMAT_UNSIGNED_INT32;
        return bits == 8 || bits == 16 || bits == 32;
    case cudaChannelFormatKindFloat:
        *format = bits == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
        return bits == 16 || bits == 32;
    default: return false;
    }
}

/* All channels have the same size, and there are 1, 2 or 4 of them, without a gap. */
int rt_format_of(const struct cudaChannelFormatDesc *d, CUarray_format *format, unsigned int *channels)
{
    const int bits[4] = {d->x, d->y, d->z, d->w};
    *channels = 0;
    while (*channels < 4 && bits[*channels])
        ++*channels;
    for (unsigned int i = 0; i < 4; i++)
        if (bits[i] != (i < *channels ? bits[0] : 0))
            return cudaErrorInvalidChannelDescriptor;
    bool good = (*channels == 1 || *channels == 2 || *channels == 4) && format_of(d->f, bits[0], *channels, format);
    return good ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
}

struct cudaChannelFormatDesc rt_desc_of(CUarray_format format, unsigned int channels)
{
    int bits = channel_bits(format);
    struct cudaChannelFormatDesc d = {
        .x = bits, .y = channels > 1 ? bits : 0, .z = channels > 2 ? bits : 0, .w = channels > 3 ? bits : 0};
    bool is_float = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT;
    bool is_signed = format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT16 ||
                     format == CU_AD_FORMAT_SIGNED_INT32;
    d.f = is_float    ? cudaChannelFormatKindFloat
          : is_signed ? cudaChannelFormatKindSigned
                      : cudaChannelFormatKindUnsigned;
    if (rt_is_fraction(format))
        d.f = cudaChannelFormatKindUnsignedNormalized8X1 + (format - CU_AD_FORMAT_UNORM_INT8X1);
    return d;
}

RTAPI struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

enum { KNOWN_FLAGS = 0xff };

static int describe(const struct cudaChannelFormatDesc *desc, struct cudaExtent e, unsigned int flags,
                    CUDA_ARRAY3D_DESCRIPTOR *out)
{
    if (!desc || (flags & ~(unsigned)KNOWN_FLAGS))
        return cudaErrorInvalidValue;
    *out = (CUDA_ARRAY3D_DESCRIPTOR){.Width = e.width, .Height = e.height, .Depth = e.depth, .Flags = flags};
    return rt_format_of(desc, &out->Format, &out->NumChannels);
}

static cudaError_t make(cudaArray_t *out, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                        unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    int r = rt_enter();
    if (out)
        *out = NULL;
    if (!r)
        r = out ? describe(desc, extent, flags, &d) : cudaErrorInvalidValue;
    return rt_leave(r ?: (int)cuArray3DCreate(out, &d));
}

RTAPI cudaError_t cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *desc, size_t width,
                                  size_t height, unsigned int flags)
{
    return make(out, desc, (struct cudaExtent){width, height, 0}, flags);
}
RTAPI cudaError_t cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *desc,
                                    struct cudaExtent extent, unsigned int flags)
{
    return make(out, desc, extent, flags);
}
RTAPI cudaError_t cudaFreeArray(cudaArray_t array)
{
    return rt_leave(rt_enter() ?: array ? (int)cuArrayDestroy(array) : cudaSuccess);
}

RTAPI cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *out, const struct cudaChannelFormatDesc *desc,
                                           struct cudaExtent extent, unsigned int levels, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    int r = rt_enter();
    if (!r)
        r = out ? describe(desc, extent, flags, &d) : cudaErrorInvalidValue;
    return rt_leave(r ?: (int)cuMipmappedArrayCreate(out, &d, levels));
}
RTAPI cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
    return rt_leave(rt_enter() ?: array ? (int)cuMipmappedArrayDestroy(array) : cudaSuccess);
}
RTAPI cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *out, cudaMipmappedArray_t array, unsigned int level)
{
    return rt_leave(rt_enter() ?: (int)cuMipmappedArrayGetLevel(out, array, level));
}

RTAPI cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned int *flags,
                                   cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    int r = rt_enter() ?: (int)cuArray3DGetDescriptor(&d, array);
    if (r)
        return rt_leave(r);
    if (desc)
        *desc = rt_desc_of(d.Format, d.NumChannels);
    if (extent)
        *extent = (struct cudaExtent){d.Width, d.Height, d.Depth};
    if (flags)
        *flags = d.Flags;
    return cudaSuccess;
}

RTAPI cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_t array)
{
    return desc ? cudaArrayGetInfo(desc, NULL, NULL, array) : rt_leave(cudaErrorInvalidValue);
}

RTAPI cudaError_t cudaArrayGetPlane(cudaArray_t *out, cudaArray_t array, unsigned int plane)
{
    return rt_leave(rt_enter() ?: (int)cuArrayGetPlane(out, array, plane));
}

/* cudaArrayMemoryRequirements is the driver's structure under another name. */
RTAPI cudaError_t cudaArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, cudaArray_t array, int device)
{
    return rt_leave(rt_enter() ?: (int)cuArrayGetMemoryRequirements(out, array, device));
}
RTAPI cudaError_t cudaMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out,
                                                          cudaMipmappedArray_t array, int device)
{
    return rt_leave(rt_enter() ?: (int)cuMipmappedArrayGetMemoryRequirements(out, array, device));
}

/* There are no sparse arrays, so none has such properties. */
static cudaError_t not_sparse(void *out, const void *array)
{
    (void)out, (void)array;
    return rt_leave(rt_enter() ?: (int)cudaErrorInvalidValue);
}
RT_ALIAS(cudaArrayGetSparseProperties, not_sparse)
RT_ALIAS(cudaMipmappedArrayGetSparseProperties, not_sparse)
