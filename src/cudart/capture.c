/* Capture of streams into graphs. What changed its arguments between generations of CUDA is in versioned/graph.c. */
#include "cudart/graph.h"

RTAPI cudaError_t cudaStreamBeginCapture(cudaStream_t s, CUstreamCaptureMode mode)
{
    return rt_leave(rt_enter() ?: (int)cuStreamBeginCapture(s, mode));
}
RTAPI cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t s, CUstreamCaptureMode mode)
{
    return cudaStreamBeginCapture(graph_per_thread(s), mode);
}

RTAPI cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out)
{
    return rt_leave(rt_enter() ?: (int)cuStreamEndCapture(s, out));
}
RTAPI cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t s, cudaGraph_t *out)
{
    return cudaStreamEndCapture(graph_per_thread(s), out);
}

RTAPI cudaError_t cudaStreamIsCapturing(cudaStream_t s, CUstreamCaptureStatus *out)
{
    return rt_leave(rt_enter() ?: (int)cuStreamIsCapturing(s, out));
}
RTAPI cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t s, CUstreamCaptureStatus *out)
{
    return cudaStreamIsCapturing(graph_per_thread(s), out);
}

RTAPI cudaError_t cudaThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    return rt_leave(rt_enter() ?: (int)cuThreadExchangeStreamCaptureMode(mode));
}
