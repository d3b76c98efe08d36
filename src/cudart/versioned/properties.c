/* Device properties under the name, or the names, that each generation of CUDA has for them. */
#include "cudart/properties.h"
#include "cudart/runtime.h"

#if CUDART_MAJOR == 13
RTAPI cudaError_t cudaGetDeviceProperties(struct properties_13 *out, int device)
{
    return rt_leave(properties_fill_13(out, device));
}
#else
RTAPI cudaError_t cudaGetDeviceProperties(struct properties_11 *out, int device)
{
    return rt_leave(properties_fill_11(out, device));
}
#endif

#if CUDART_MAJOR == 12
RTAPI cudaError_t cudaGetDeviceProperties_v2(struct properties_12 *out, int device)
{
    return rt_leave(properties_fill_12(out, device));
}
#endif
