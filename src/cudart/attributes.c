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
