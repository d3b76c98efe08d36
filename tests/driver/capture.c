/* Does work on a capturing stream become a graph instead of running, with the order that streams and events give it? */
#include "check.h"

enum { N = 64, BYTES = N * sizeof(unsigned int) };
static int host_calls;
static void CUDA_CB on_host(void *user) { host_calls += *(int *)user; }

static CUfunction ramp;
static CUdeviceptr p, q;
static unsigned int got[N];

static void launch_ramp(CUstream s, CUdeviceptr to, unsigned int value)
{
    unsigned int n = N;
    void *params[] = {&to, &value, &n};
    OK(cuLaunchKernel(ramp, 1, 1, 1, N, 1, 1, 0, s, params, NULL));
}

static size_t nodes_of(CUgraph g)
{
    size_t count = 0;
    OK(cuGraphGetNodes(g, NULL, &count));
    return count;
}

static size_t edges_of(CUgraph g)
{
    size_t count = 0;
    OK(cuGraphGetEdges(g, NULL, NULL,
#if CUDA_VERSION >= 13000
                       NULL,
#endif
                       &count));
    return count;
}

static void run_graph(CUgraph g, CUstream s)
{
    CUgraphExec x;
    MUST(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
}

/* One stream: all kinds of work, one behind the other; nothing happens until the graph is launched. */
static void test_one_stream(CUstream s)
{
    CUgraph g, while_capturing;
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    const CUgraphNode *last = NULL;
    size_t count = 0;
    int one = 1;
    OK(cuMemsetD32(p, 0xffffffff, N));
    memset(got, 0, sizeof got);
    OK(cuStreamIsCapturing(s, &status));
    TRUE(status == CU_STREAM_CAPTURE_STATUS_NONE);
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamIsCapturing(s, &status));
    TRUE(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemsetD32Async(p, 3, N, s));
    launch_ramp(s, q, 10);
    OK(cuMemcpyDtoDAsync(p + 4, q, 4, s));
    OK(cuMemcpyDtoHAsync(got, p, BYTES, s));
    OK(cuLaunchHostFunc(s, on_host, &one));
    OK(cuStreamGetCaptureInfo(s, &status, &id, &while_capturing, &last,
#if CUDA_VERSION >= 13000
                              NULL,
#endif
                              &count));
    TRUE(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id != 0 && count == 1);
    TRUE(got[0] == 0 && host_calls == 0);
    MUST(cuStreamEndCapture(s, &g));
    TRUE(g == while_capturing && nodes_of(g) == 5 && edges_of(g) == 4);
    run_graph(g, s);
    TRUE(got[0] == 3 && got[1] == 10 && got[N - 1] == 3 && host_calls == 1);
    host_calls = 0;
}

/* A fork into a second stream and a join: a diamond. */
static void test_fork_and_join(CUstream a, CUstream b)
{
    CUevent fork, join;
    CUgraph g;
    CUstreamCaptureStatus status;
    MUST(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    MUST(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuMemsetD32Async(p, 0, N, a));
    OK(cuEventRecord(fork, a));
    OK(cuStreamWaitEvent(b, fork, 0));
    OK(cuStreamIsCapturing(b, &status));
    TRUE(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemsetD32Async(p, 1, N / 2, a));
    OK(cuMemsetD32Async(p + BYTES / 2, 2, N / 2, b));
    OK(cuEventRecord(join, b));
    OK(cuStreamWaitEvent(a, join, 0));
    OK(cuMemcpyDtoHAsync(got, p, BYTES, a));
    MUST(cuStreamEndCapture(a, &g));
    OK(cuStreamIsCapturing(b, &status));
    TRUE(status == CU_STREAM_CAPTURE_STATUS_NONE);
    TRUE(nodes_of(g) == 4 && edges_of(g) == 4);
    run_graph(g, a);
    TRUE(got[0] == 1 && got[N / 2 - 1] == 1 && got[N / 2] == 2 && got[N - 1] == 2);
    OK(cuEventDestroy(fork));
    OK(cuEventDestroy(join));
}

/* A stream that took part goes away before the capture ends: what it did stays, and has to be joined. */
static void test_stream_goes(CUstream a)
{
    CUevent fork, join;
    MUST(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    for (int joined = 0; joined <= 1; joined++) {
        CUgraph g = NULL;
        CUstream b;
        MUST(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
        MUST(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
        OK(cuMemsetD32Async(p, 4, N, a));
        OK(cuEventRecord(fork, a));
        OK(cuStreamWaitEvent(b, fork, 0));
        OK(cuMemsetD32Async(p, 5, N / 2, b));
        if (joined) {
            OK(cuEventRecord(join, b));
            OK(cuStreamWaitEvent(a, join, 0));
        }
        OK(cuStreamDestroy(b));
        OK(cuMemcpyDtoHAsync(got, p, BYTES, a));
        EXPECT(joined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(a, &g));
        if (!g)
            continue;
        TRUE(nodes_of(g) == 3);
        run_graph(g, a);
        TRUE(got[0] == 5 && got[N - 1] == 4);
    }
    OK(cuEventDestroy(fork));
    OK(cuEventDestroy(join));
}

/* Memory that the graph makes, and a value that it writes. */
static void test_memory(CUstream s)
{
    CUdeviceptr scratch;
    CUgraph g;
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemAllocAsync(&scratch, BYTES, s));
    launch_ramp(s, scratch, 100);
    OK(cuStreamWriteValue32(s, q, 77, 0));
    OK(cuMemcpyDtoDAsync(scratch, q, 4, s));
    OK(cuMemcpyDtoHAsync(got, scratch, BYTES, s));
    OK(cuMemFreeAsync(scratch, s));
    MUST(cuStreamEndCapture(s, &g));
    TRUE(nodes_of(g) == 6);
    run_graph(g, s);
    TRUE(got[0] == 77 && got[1] == 101 && got[N - 1] == 100 + N - 1);
}

/* Events that the graph records and waits for as nodes of their own. */
static void test_external_events(CUstream s)
{
    CUevent e;
    CUgraph g;
    CUgraphNode nodes[2];
    CUgraphNodeType type;
    size_t count = 2;
    MUST(cuEventCreate(&e, 0));
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamWaitEvent(s, e, CU_EVENT_WAIT_EXTERNAL));
    OK(cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL));
    MUST(cuStreamEndCapture(s, &g));
    OK(cuGraphGetNodes(g, nodes, &count));
    TRUE(count == 2);
    OK(cuGraphNodeGetType(nodes[0], &type));
    TRUE(type == CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    OK(cuGraphNodeGetType(nodes[1], &type));
    TRUE(type == CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    run_graph(g, s);
    OK(cuEventQuery(e));
    OK(cuEventDestroy(e));
}

/* Nodes made by hand in the middle of a capture, and a capture behind nodes of a graph that is there. */
static void test_mixed(CUstream s)
{
    CUgraph g, same = NULL;
    CUgraphNode fill, empty;
    CUDA_MEMSET_NODE_PARAMS first = {.dst = p, .value = 9, .elementSize = 4, .width = N, .height = 1};
    CUstreamCaptureStatus status;
    const CUgraphNode *last = NULL;
    size_t count = 0;
    CUcontext ctx;
    OK(cuCtxGetCurrent(&ctx));
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddMemsetNode(&fill, g, NULL, 0, &first, ctx));
    MUST(cuStreamBeginCaptureToGraph(s, g, &fill, NULL, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemcpyDtoHAsync(got, p, BYTES, s));
    OK(cuStreamGetCaptureInfo(s, &status, NULL, &same, &last,
#if CUDA_VERSION >= 13000
                              NULL,
#endif
                              &count));
    TRUE(same == g && count == 1 && last[0] != fill);
    MUST(cuGraphAddEmptyNode(&empty, g, last, count));
    OK(cuStreamUpdateCaptureDependencies(s, &empty,
#if CUDA_VERSION >= 13000
                                         NULL,
#endif
                                         1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    OK(cuMemsetD32Async(p, 0, N, s));
    MUST(cuStreamEndCapture(s, &same));
    TRUE(same == g && nodes_of(g) == 4 && edges_of(g) == 3);
    run_graph(g, s);
    TRUE(got[0] == 9 && got[N - 1] == 9);
    OK(cuMemcpyDtoH(got, p, BYTES));
    TRUE(got[0] == 0);
}

int main(void)
{
    CUcontext ctx = new_context();
    CUmodule m;
    CUstream a, b;
    MUST(cuModuleLoadData(&m, PTX_HEAD PTX_RAMP));
    MUST(cuModuleGetFunction(&ramp, m, "ramp"));
    MUST(cuMemAlloc(&p, BYTES));
    MUST(cuMemAlloc(&q, BYTES));
    MUST(cuStreamCreate(&a, 0));
    MUST(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    test_one_stream(a);
    test_fork_and_join(a, b);
    test_stream_goes(a);
    test_memory(a);
    test_external_events(b);
    test_one_stream(CU_STREAM_PER_THREAD);
    test_fork_and_join(a, CU_STREAM_PER_THREAD);
    test_fork_and_join(CU_STREAM_PER_THREAD, b);
    test_mixed(a);
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuCtxDestroy(ctx));
    return done();
}
