/* Functions of the driver, by name: with the version of the runtime that asks, or one that the program names. CUDA 11
 * had no place for the status. */
#include "cudart/runtime.h"

enum { ENTRY_VERSION = CUDART_MAJOR == 11 ? 11080 : CUDART_MAJOR == 12 ? 12080 : 13000 };

static cudaError_t find(const char *symbol, void **out, int version, unsigned long long flags,
                        CUdriverProcAddressQueryResult *status, bool ptsz)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    if (!symbol || !out)
        return rt_leave(cudaErrorInvalidValue);
    if (ptsz && !(flags & (CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)))
        flags |= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    int r = (int)cuGetProcAddress_v2(symbol, out, version, flags, &found);
    if (status)
        *status = found;
    if (r == CUDA_ERROR_NOT_FOUND) {
        *out = NULL;
        r = status ? cudaSuccess : cudaErrorSymbolNotFound;
    }
    return rt_leave(r);
}

#if CUDART_MAJOR == 11
RTAPI cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **out, unsigned long long flags);
RTAPI cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **out, unsigned long long flags)
{
    return find(symbol, out, ENTRY_VERSION, flags, NULL, false);
}
RTAPI cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **out, unsigned long long flags);
RTAPI cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **out, unsigned long long flags)
{
    return find(symbol, out, ENTRY_VERSION, flags, NULL, true);
}
#else
RTAPI cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **out, unsigned long long flags,
                                          CUdriverProcAddressQueryResult *status);
RTAPI cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **out, unsigned long long flags,
                                          CUdriverProcAddressQueryResult *status)
{
    return find(symbol, out, ENTRY_VERSION, flags, status, false);
}

RTAPI cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **out, unsigned long long flags,
                                               CUdriverProcAddressQueryResult *status);
RTAPI cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **out, unsigned long long flags,
                                               CUdriverProcAddressQueryResult *status)
{
    return find(symbol, out, ENTRY_VERSION, flags, status, true);
}

RTAPI cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **out, unsigned int version,
                                                   unsigned long long flags, CUdriverProcAddressQueryResult *status);
RTAPI cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **out, unsigned int version,
                                                   unsigned long long flags, CUdriverProcAddressQueryResult *status)
{
    return find(symbol, out, (int)version, flags, status, false);
}

RTAPI cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **out, unsigned int version,
                                                        unsigned long long flags,
                                                        CUdriverProcAddressQueryResult *status);
RTAPI cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **out, unsigned int version,
                                                        unsigned long long flags,
                                                        CUdriverProcAddressQueryResult *status)
{
    return find(symbol, out, (int)version, flags, status, true);
}
#endif
