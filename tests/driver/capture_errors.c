/* Is what cannot be captured refused with the right error, and is the capture invalid then, and only then? */
#include "check.h"

#include <pthread.h>

static CUstream a, b;
static CUevent e;
static CUdeviceptr p;

static CUstreamCaptureStatus status_of(CUstream s)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    OK(cuStreamIsCapturing(s, &status));
    return status;
}

static void begin(CUstream s) { MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL)); }

/* After an error: the stream refuses work, and the end gives no graph. */
static void expect_invalid(CUstream s, int line)
{
    CUgraph g = (CUgraph)&g;
    check_true(status_of(s) == CU_STREAM_CAPTURE_STATUS_INVALIDATED, "the capture is invalid", line);
    check_result(cuMemsetD32Async(p, 0, 1, s), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "work after the error", line);
    check_result(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the end", line);
    check_true(g == NULL && status_of(s) == CU_STREAM_CAPTURE_STATUS_NONE, "no graph, no capture", line);
}
#define INVALID(s) expect_invalid(s, __LINE__)

static void test_begin_and_end(void)
{
    CUgraph g = NULL;
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(a, &g));
    begin(a);
    EXPECT(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamEndCapture(a, &g));
    OK(cuGraphDestroy(g));
}

static void test_waiting(void)
{
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(a));
    INVALID(a);
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery(a));
    INVALID(a);
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxSynchronize());
    INVALID(a);
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(b));
    INVALID(a);
    begin(a);
    OK(cuEventRecord(e, a));
    EXPECT(CUDA_ERROR_CAPTURED_EVENT, cuEventSynchronize(e));
    INVALID(a);
    begin(a);
    OK(cuEventRecord(e, a));
    EXPECT(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(e));
    INVALID(a);
}

/* The legacy stream waits for blocking streams, and for those alone. */
static void test_legacy_stream(void)
{
    unsigned int value = 0;
    CUgraph g;
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemsetD32Async(p, 1, 1, NULL));
    INVALID(a);
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemcpyDtoH(&value, p, 4));
    INVALID(a);
    OK(cuThreadExchangeStreamCaptureMode(&relaxed));
    TRUE(relaxed == CU_STREAM_CAPTURE_MODE_GLOBAL);
    begin(b);
    OK(cuMemsetD32Async(p, 5, 1, NULL));
    OK(cuStreamEndCapture(b, &g));
    OK(cuGraphDestroy(g));
    OK(cuThreadExchangeStreamCaptureMode(&relaxed));
    OK(cuMemcpyDtoH(&value, p, 4));
    TRUE(value == 5);
}

/* Work that has no node. */
static void test_no_node(void)
{
    CUgraph g;
    CUgraphExec x;
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphInstantiate(&x, g, 0));
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuGraphLaunch(x, a));
    INVALID(a);
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuGraphUpload(x, a));
    INVALID(a);
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuGraphLaunch(x, NULL));
    INVALID(a);
    OK(cuGraphExecDestroy(x));
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuGraphInstantiate(&x, g, 0));
    INVALID(a);
    OK(cuGraphDestroy(g));
}

static void test_allocation(void)
{
    CUdeviceptr more = 0;
    CUgraph g;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR line = {.Width = 16, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc(&more, 4));
    INVALID(a);
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuArrayCreate(&array, &line));
    INVALID(a);
    MUST(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemAlloc(&more, 4));
    OK(cuStreamEndCapture(a, &g));
    OK(cuGraphDestroy(g));
    begin(a);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuMemFree(more));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuStreamEndCapture(a, &g));
    OK(cuGraphDestroy(g));
}

/* Dependencies that cross the border of a capture. */
static void test_borders(void)
{
    CUgraph g = NULL;
    OK(cuEventRecord(e, b));
    begin(a);
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(a, e, 0));
    INVALID(a);
    begin(a);
    begin(b);
    OK(cuEventRecord(e, b));
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(a, e, 0));
    INVALID(a);
    INVALID(b);
    begin(a);
    OK(cuEventRecord(e, a));
    OK(cuStreamWaitEvent(b, e, 0));
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(b, &g));
    INVALID(a);
    TRUE(status_of(b) == CU_STREAM_CAPTURE_STATUS_NONE);
    begin(a);
    OK(cuEventRecord(e, a));
    OK(cuStreamWaitEvent(b, e, 0));
    OK(cuMemsetD32Async(p, 1, 1, b));
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(a, &g));
    TRUE(g == NULL && status_of(a) == CU_STREAM_CAPTURE_STATUS_NONE && status_of(b) == CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuEventQuery(e));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(b, e, 0));
    OK(cuEventRecord(e, a));
    OK(cuEventSynchronize(e));
}

static void *end_elsewhere(void *user)
{
    CUgraph g;
    OK(cuCtxSetCurrent(user));
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, cuStreamEndCapture(a, &g));
    return NULL;
}

static void *allocate_elsewhere(void *user)
{
    CUdeviceptr more;
    OK(cuCtxSetCurrent(user));
    OK(cuMemAlloc(&more, 4));
    OK(cuMemFree(more));
    return NULL;
}

static void test_threads(CUcontext ctx)
{
    pthread_t thread;
    CUgraph g = NULL;
    begin(a);
    TRUE(pthread_create(&thread, NULL, end_elsewhere, ctx) == 0);
    pthread_join(thread, NULL);
    cuStreamEndCapture(a, &g);
    if (g)
        OK(cuGraphDestroy(g));
    MUST(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    TRUE(pthread_create(&thread, NULL, allocate_elsewhere, ctx) == 0);
    pthread_join(thread, NULL);
    OK(cuStreamEndCapture(a, &g));
    OK(cuGraphDestroy(g));
}

int main(void)
{
    CUcontext ctx = new_context();
    MUST(cuMemAlloc(&p, 64));
    MUST(cuStreamCreate(&a, 0));
    MUST(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&e, 0));
    test_begin_and_end();
    test_waiting();
    test_legacy_stream();
    test_no_node();
    test_allocation();
    test_borders();
    test_threads(ctx);
    OK(cuCtxDestroy(ctx));
    return done();
}
