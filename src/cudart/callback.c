/* Host functions in streams. They run when all work before them is done, which is at once, and before the call that
 * asks for them returns. The driver holds no lock meanwhile. */
#include "cudart/runtime.h"

typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *user);
typedef void (*cudaHostFn_t)(void *user);

/* The callback is told how the work before it went, in numbers that are the same for driver and runtime. */
RTAPI cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *user,
                                        unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuStreamAddCallback(stream, (CUstreamCallback)callback, user, flags));
}

RTAPI cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *user)
{
    return rt_leave(rt_enter() ?: (int)cuLaunchHostFunc(stream, function, user));
}

/* With default streams per thread, the default stream is the thread's own. */
static cudaStream_t own(cudaStream_t stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

RTAPI cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback, void *user,
                                             unsigned int flags)
{
    return cudaStreamAddCallback(own(stream), callback, user, flags);
}
RTAPI cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void *user)
{
    return cudaLaunchHostFunc(own(stream), function, user);
}
