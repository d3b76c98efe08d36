/* The device of a thread: one, the simulated machine. Questions about it do not start it; work does, and choosing
 * it. */
#include "cudart/runtime.h"

static int check(int device) { return cuInit(0) ?: device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

RTAPI cudaError_t cudaGetDeviceCount(int *count)
{
    return rt_leave(!count ? cudaErrorInvalidValue : cuInit(0) ?: cuDeviceGetCount(count));
}

RTAPI cudaError_t cudaSetDevice(int device)
{
    int r = check(device);
    if (r == cudaSuccess) {
        rt_set_device(device);
        r = rt_choosing_starts() ? rt_enter() : cudaSuccess;
    }
    return rt_leave(r);
}

RTAPI cudaError_t cudaGetDevice(int *device)
{
    if (!device)
        return rt_leave(cudaErrorInvalidValue);
    *device = rt_device();
    return cudaSuccess;
}

RTAPI cudaError_t cudaDeviceSynchronize(void) { return rt_leave(rt_enter() ?: (int)cuCtxSynchronize()); }
RT_ALIAS(cudaThreadSynchronize, cudaDeviceSynchronize)

/* What the process had on the device is gone: memory, streams, modules. The next call starts anew. */
RTAPI cudaError_t cudaDeviceReset(void)
{
    int r = cuInit(0);
    if (r == cudaSuccess) {
        rt_forget_modules();
        r = cuDevicePrimaryCtxReset(rt_device());
    }
    return rt_leave(r);
}
RT_ALIAS(cudaThreadExit, cudaDeviceReset)

/* The order in which devices are tried; there is one to try. */
RTAPI cudaError_t cudaSetValidDevices(int *devices, int count)
{
    int r = cuInit(0);
    if (r == cudaSuccess && (count < 0 || count > 1 || (count && !devices)))
        r = cudaErrorInvalidValue;
    if (r == cudaSuccess && count)
        r = check(devices[0]);
    return rt_leave(r);
}

/* Flags: how the host waits, and two that are always so (host memory mapped, local memory kept). */
enum { SCHEDULE = 7, KNOWN_FLAGS = 0xff };

static bool flags_ok(unsigned int flags)
{
    unsigned int schedule = flags & SCHEDULE;
    return !(flags & ~(unsigned int)KNOWN_FLAGS) && (schedule & (schedule - 1)) == 0;
}

static int set_flags(int device, unsigned int flags)
{
    return flags_ok(flags) ? check(device) ?: (int)cuDevicePrimaryCtxSetFlags(device, flags) : cudaErrorInvalidValue;
}

RTAPI cudaError_t cudaSetDeviceFlags(unsigned int flags) { return rt_leave(set_flags(rt_device(), flags)); }

RTAPI cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    int active = 0;
    int r = flags ? check(rt_device()) : cudaErrorInvalidValue;
    if (r == cudaSuccess)
        r = cuDevicePrimaryCtxGetState(rt_device(), flags, &active);
    if (r == cudaSuccess)
        *flags |= CU_CTX_MAP_HOST;
    return rt_leave(r);
}

/* flags: whether device_flags are to be set. Unlike cudaSetDevice, it makes the context, and leaves the thread's device
 * alone. */
RTAPI cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
    enum { FLAGS_ARE_VALID = 1 };
    int r = flags & ~(unsigned int)FLAGS_ARE_VALID ? cudaErrorInvalidValue : check(device);
    if (r == cudaSuccess && (flags & FLAGS_ARE_VALID))
        r = set_flags(device, device_flags);
    return rt_leave(r ?: rt_enter());
}

RTAPI cudaError_t cudaDriverGetVersion(int *version) { return rt_leave(cuDriverGetVersion(version)); }

RTAPI cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device)
{
    return rt_leave(check(device) ?: (int)cuDeviceGetPCIBusId(id, length, device));
}

RTAPI cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    return rt_leave(cuInit(0) ?: cuDeviceGetByPCIBusId(device, id));
}
