/* Where the generations of CUDA answer the same mistake with different errors, or start the device at another call.
 * Since CUDA 13 compiled code launches by kernel handle, so an address that stands for no kernel is a handle that is
 * none, and what the driver says of a launch is passed on. */
#include "cudart/runtime.h"

int rt_no_function(const void *host)
{
    return CUDART_MAJOR >= 13 && host ? (int)cudaErrorInvalidResourceHandle : (int)cudaErrorInvalidDeviceFunction;
}

bool rt_choosing_starts(void) { return CUDART_MAJOR >= 12; }

int rt_bad_shape(void) { return CUDART_MAJOR >= 13 ? (int)cudaErrorInvalidValue : (int)cudaErrorInvalidConfiguration; }
