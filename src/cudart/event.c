/* Events: the driver's own. What the time between two of them means is the driver's to say (src/cuda/event.c). */
#include "cudart/runtime.h"

RTAPI cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return rt_leave(rt_enter() ?: (int)cuEventCreate(out, CU_EVENT_DEFAULT));
}
RTAPI cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuEventCreate(out, flags));
}
RTAPI cudaError_t cudaEventDestroy(cudaEvent_t event) { return rt_leave(rt_enter() ?: (int)cuEventDestroy(event)); }
RTAPI cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return rt_leave(rt_enter() ?: (int)cuEventRecord(event, stream));
}
RTAPI cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuEventRecordWithFlags(event, stream, flags));
}
RTAPI cudaError_t cudaEventQuery(cudaEvent_t event) { return rt_leave(rt_enter() ?: (int)cuEventQuery(event)); }
RTAPI cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return rt_leave(rt_enter() ?: (int)cuEventSynchronize(event));
}
RTAPI cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    return rt_leave(rt_enter() ?: (int)cuEventElapsedTime(milliseconds, start, end));
}

/* With default streams per thread, the default stream is the thread's own. */
static cudaStream_t own(cudaStream_t stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

RTAPI cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecord(event, own(stream));
}
RTAPI cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    return cudaEventRecordWithFlags(event, own(stream), flags);
}

/* As CUDA 12 has it: the same. */
RT_ALIAS(cudaEventElapsedTime_v2, cudaEventElapsedTime)
