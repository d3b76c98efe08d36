/* Streams: the driver's own, under the runtime's names. */
#include "cudart/runtime.h"

RTAPI cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return rt_leave(rt_enter() ?: (int)cuStreamCreate(out, CU_STREAM_DEFAULT));
}
RTAPI cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuStreamCreate(out, flags));
}
RTAPI cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned int flags, int priority)
{
    return rt_leave(rt_enter() ?: (int)cuStreamCreateWithPriority(out, flags, priority));
}

RTAPI cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return rt_leave(rt_enter() ?: (int)cuStreamDestroy(stream));
}
RTAPI cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return rt_leave(rt_enter() ?: (int)cuStreamSynchronize(stream));
}
RTAPI cudaError_t cudaStreamQuery(cudaStream_t stream) { return rt_leave(rt_enter() ?: (int)cuStreamQuery(stream)); }

RTAPI cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuStreamWaitEvent(stream, event, flags));
}

RTAPI cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    return rt_leave(rt_enter() ?: (int)cuStreamGetPriority(stream, priority));
}
RTAPI cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    return rt_leave(rt_enter() ?: (int)cuStreamGetFlags(stream, flags));
}
RTAPI cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    return rt_leave(rt_enter() ?: (int)cuStreamGetId(stream, id));
}
RTAPI cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    return rt_leave(rt_enter() ?: (int)cuStreamGetDevice(stream, device));
}

RTAPI cudaError_t cudaStreamGetAttribute(cudaStream_t stream, CUstreamAttrID attribute, CUstreamAttrValue *value)
{
    return rt_leave(rt_enter() ?: (int)cuStreamGetAttribute(stream, attribute, value));
}
RTAPI cudaError_t cudaStreamSetAttribute(cudaStream_t stream, CUstreamAttrID attribute, const CUstreamAttrValue *value)
{
    return rt_leave(rt_enter() ?: (int)cuStreamSetAttribute(stream, attribute, value));
}
RTAPI cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    return rt_leave(rt_enter() ?: (int)cuStreamCopyAttributes(to, from));
}

RTAPI cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *address, size_t length, unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuStreamAttachMemAsync(stream, (CUdeviceptr)(uintptr_t)address, length, flags));
}

RTAPI cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    return rt_leave(rt_enter() ?: (int)cuCtxGetStreamPriorityRange(least, greatest));
}

/* With default streams per thread, the default stream is the thread's own. */
static cudaStream_t own(cudaStream_t stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

RTAPI cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) { return cudaStreamSynchronize(own(stream)); }
RTAPI cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) { return cudaStreamQuery(own(stream)); }
RTAPI cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    return cudaStreamWaitEvent(own(stream), event, flags);
}
RTAPI cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int *priority)
{
    return cudaStreamGetPriority(own(stream), priority);
}
RTAPI cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned int *flags)
{
    return cudaStreamGetFlags(own(stream), flags);
}
RTAPI cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long *id)
{
    return cudaStreamGetId(own(stream), id);
}
RTAPI cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int *device)
{
    return cudaStreamGetDevice(own(stream), device);
}
RTAPI cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, CUstreamAttrID attribute, CUstreamAttrValue *value)
{
    return cudaStreamGetAttribute(own(stream), attribute, value);
}
RTAPI cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, CUstreamAttrID attribute,
                                              const CUstreamAttrValue *value)
{
    return cudaStreamSetAttribute(own(stream), attribute, value);
}
RTAPI cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from)
{
    return cudaStreamCopyAttributes(own(to), own(from));
}
RTAPI cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void *address, size_t length, unsigned int flags)
{
    return cudaStreamAttachMemAsync(own(stream), address, length, flags);
}
