/* Attributes of the device, and the questions that only several devices make interesting. */
#include "cudart/runtime.h"

static int check(int device) { return cuInit(0) ?: device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

/* The runtime's attributes have the driver's numbers. */
RTAPI cudaError_t cudaDeviceGetAttribute(int *value, CUdevice_attribute attribute, int device)
{
    return rt_leave(check(device) ?: (int)cuDeviceGetAttribute(value, attribute, device));
}

/* The device that fits best is the only one, whatever is asked for. */
RTAPI cudaError_t cudaChooseDevice(int *device, const void *properties)
{
    int r = device && properties ? cuInit(0) : cudaErrorInvalidValue;
    if (r == cudaSuccess)
        *device = 0;
    return rt_leave(r);
}

/* A description of texels: bits of each channel, and what they hold. */
struct channels {
    int bits[4], kind;
};

static int texel_format(const struct channels *c, CUarray_format *format, unsigned int *count)
{
    static const CUarray_format formats[3][3] = {
        {CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32},
        {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32},
        {0, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT},
    };
    int width = c->bits[0] == 8 ? 0 : c->bits[0] == 16 ? 1 : c->bits[0] == 32 ? 2 : -1;
    if (c->kind < 0 || c->kind > 2 || width < 0 || !formats[c->kind][width])
        return cudaErrorInvalidChannelDescriptor;
    *count = 0;
    while (*count < 4 && c->bits[*count] == c->bits[0])
        ++*count;
    for (unsigned int i = *count; i < 4; i++)
        if (c->bits[i])
            return cudaErrorInvalidChannelDescriptor;
    *format = formats[c->kind][width];
    return *count == 3 ? cudaErrorInvalidChannelDescriptor : cudaSuccess;
}

RTAPI cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *texels, const struct channels *description, int device)
{
    CUarray_format format = CU_AD_FORMAT_FLOAT;
    unsigned int count = 0;
    int r = texels && description ? check(device) : cudaErrorInvalidValue;
    if (r == cudaSuccess)
        r = texel_format(description, &format, &count);
    return rt_leave(r ?: (int)cuDeviceGetTexture1DLinearMaxWidth(texels, format, count, device));
}
