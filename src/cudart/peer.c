/* Peers: what other device there is. None: questions are answered so, requests are refused as CUDA refuses them on a
 * system with one GPU. */
#include "cudart/runtime.h"

static int check(int device) { return cuInit(0) ?: device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

RTAPI cudaError_t cudaDeviceCanAccessPeer(int *out, int device, int peer)
{
    return rt_leave(check(device) ?: check(peer) ?: (int)cuDeviceCanAccessPeer(out, device, peer));
}

/* A device is not its own peer. */
RTAPI cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    (void)peer;
    return rt_leave(flags ? cudaErrorInvalidValue : rt_enter() ?: cudaErrorInvalidDevice);
}

RTAPI cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return rt_leave(rt_enter() ?: check(peer) ?: cudaErrorPeerAccessNotEnabled);
}

RTAPI cudaError_t cudaDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, int from, int to)
{
    return rt_leave(check(from) ?: (int)cuDeviceGetP2PAttribute(value, attribute, from, to));
}

RTAPI cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned int *capabilities, const int *operations,
                                                     unsigned int count, int from, int to)
{
    (void)to;
    return rt_leave(capabilities && operations && count ? check(from) ?: cudaErrorInvalidDevice
                                                        : cudaErrorInvalidValue);
}

/* Which atomic operations of the host's the link carries: none, as the attribute hostNativeAtomicSupported says. */
RTAPI cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned int *capabilities, const int *operations,
                                                      unsigned int count, int device)
{
    int r = capabilities && operations && count ? check(device) : cudaErrorInvalidValue;
    for (unsigned int i = 0; r == cudaSuccess && i < count; i++)
        capabilities[i] = 0;
    return rt_leave(r);
}
