/* Streams, events and callbacks: is work ordered, are times measured, are callbacks called? */
#include "check.h"

static int calls;
static void CUDA_CB on_host(void *user) { calls += *(int *)user; }
static void CUDA_CB on_stream(CUstream s, CUresult status, void *user)
{
    (void)s;
    calls += status == CUDA_SUCCESS ? *(int *)user : 1000;
}

int main(void)
{
    CUcontext ctx = new_context(), of = NULL;
    CUstream a = NULL, b = NULL;
    CUevent start, end, untimed;
    CUdeviceptr p;
    CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    CUmodule module;
    CUfunction ramp;
    unsigned int flags = 0, word = 0, count = 256;
    int priority = 9, one = 1;
    float ms = -1;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreateWithPriority(&b, CU_STREAM_DEFAULT, -1));
    OK(cuStreamGetFlags(a, &flags));
    TRUE(flags == CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetPriority(b, &priority));
    TRUE(priority == -1);
    OK(cuStreamGetCtx(a, &of));
    TRUE(of == ctx);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&a, 0x100));
    OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    OK(cuMemAlloc(&p, 1 << 20));
    OK(cuModuleLoadData(&module, PTX_HEAD PTX_RAMP));
    OK(cuModuleGetFunction(&ramp, module, "ramp"));
    OK(cuEventRecord(start, a));
    OK(cuMemsetD8Async(p, 1, 1 << 20, a));
    OK(cuLaunchKernel(ramp, 4, 1, 1, 64, 1, 1, 0, a, (void *[]){&p, &word, &count},
                      NULL)); /* where time is modelled, it passes in kernels only */
    OK(cuEventRecord(end, a));
    OK(cuStreamWaitEvent(b, end, 0));
    OK(cuMemsetD8Async(p, 2, 1 << 20, b));
    OK(cuStreamSynchronize(b));
    OK(cuMemcpyDtoH(&word, p, 4));
    TRUE(word == 0x02020202);
    OK(cuEventSynchronize(end));
    OK(cuEventQuery(end));
    OK(cuEventElapsedTime(&ms, start, end));
    TRUE(ms > 0 && ms < 60000);
    OK(cuEventRecord(untimed, a));
    OK(cuEventSynchronize(untimed));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start, untimed));
    OK(cuLaunchHostFunc(a, on_host, &one));
    OK(cuStreamAddCallback(a, on_stream, &one, 0));
    OK(cuStreamSynchronize(a));
    TRUE(calls == 2);
    OK(cuStreamQuery(a));
    OK(cuStreamQuery(CU_STREAM_LEGACY));
    OK(cuStreamIsCapturing(a, &capturing));
    TRUE(capturing == CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuEventDestroy(start));
    OK(cuEventDestroy(end));
    OK(cuEventDestroy(untimed));
    OK(cuMemFree(p));
    OK(cuCtxDestroy(ctx));
    return done();
}
