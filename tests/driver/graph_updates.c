/* Does a change to an instance, of one node or from another graph, show when it is next launched, and only there? */
#include "check.h"

enum { N = 32, BYTES = N * sizeof(unsigned int) };
static CUcontext ctx;
static CUfunction ramp;
static CUdeviceptr p;
static unsigned int got[N];

struct built {
    CUgraph g;
    CUgraphNode fill, kernel, copy;
};

/* Fills, writes the first half from `value` on, copies back. */
static struct built build(unsigned int value)
{
    struct built b;
    unsigned int n = N / 2;
    void *params[] = {&p, &value, &n};
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = p, .value = 1, .elementSize = 4, .width = N, .height = 1};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = ramp,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = N,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = params};
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = got,
                          .WidthInBytes = BYTES,
                          .Height = 1,
                          .Depth = 1};
    MUST(cuGraphCreate(&b.g, 0));
    MUST(cuGraphAddMemsetNode(&b.fill, b.g, NULL, 0, &fill, ctx));
    MUST(cuGraphAddKernelNode(&b.kernel, b.g, &b.fill, 1, &kernel));
    MUST(cuGraphAddMemcpyNode(&b.copy, b.g, &b.kernel, 1, &back, ctx));
    return b;
}

static void launch(CUgraphExec x)
{
    memset(got, 0xff, sizeof got);
    OK(cuGraphLaunch(x, NULL));
    OK(cuStreamSynchronize(NULL));
}

static void test_nodes(void)
{
    struct built b = build(10);
    CUgraphExec x, second;
    unsigned int enabled = 0;
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = p, .value = 2, .elementSize = 4, .width = N, .height = 1};
    MUST(cuGraphInstantiate(&x, b.g, 0));
    MUST(cuGraphInstantiate(&second, b.g, 0));
    OK(cuGraphExecMemsetNodeSetParams(x, b.fill, &fill, ctx));
    launch(x);
    TRUE(got[0] == 10 && got[N - 1] == 2);
    launch(second);
    TRUE(got[0] == 10 && got[N - 1] == 1);
    OK(cuGraphNodeSetEnabled(x, b.kernel, 0));
    OK(cuGraphNodeGetEnabled(x, b.kernel, &enabled));
    TRUE(!enabled);
    launch(x);
    TRUE(got[0] == 2);
    OK(cuGraphNodeSetEnabled(x, b.kernel, 1));
    launch(x);
    TRUE(got[0] == 10);
    OK(cuGraphExecDestroy(x));
    OK(cuGraphExecDestroy(second));
    OK(cuGraphDestroy(b.g));
}

static void test_whole(void)
{
    struct built b = build(10), other = build(20);
    CUgraphExec x;
    CUgraphNode more;
    CUgraphExecUpdateResultInfo info;
    MUST(cuGraphInstantiate(&x, b.g, 0));
    OK(cuGraphExecUpdate(x, other.g, &info));
    TRUE(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    launch(x);
    TRUE(got[0] == 20);
    OK(cuGraphAddEmptyNode(&more, other.g, NULL, 0));
    EXPECT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(x, other.g, &info));
    TRUE(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphDestroyNode(other.fill));
    EXPECT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(x, other.g, &info));
    TRUE(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED ||
         info.result == CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    launch(x);
    TRUE(got[0] == 20 && got[N - 1] == 1); /* a failed update changes nothing */
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(b.g));
    OK(cuGraphDestroy(other.g));
}

static void test_child(void)
{
    struct built b = build(10), other = build(30);
    CUgraph g;
    CUgraphNode child;
    CUgraphExec x;
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddChildGraphNode(&child, g, NULL, 0, b.g));
    MUST(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphExecChildGraphNodeSetParams(x, child, other.g));
    launch(x);
    TRUE(got[0] == 30);
    EXPECT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecChildGraphNodeSetParams(x, child, g));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    OK(cuGraphDestroy(b.g));
    OK(cuGraphDestroy(other.g));
}

int main(void)
{
    CUmodule m;
    ctx = new_context();
    MUST(cuModuleLoadData(&m, PTX_HEAD PTX_RAMP));
    MUST(cuModuleGetFunction(&ramp, m, "ramp"));
    MUST(cuMemAlloc(&p, BYTES));
    test_nodes();
    test_whole();
    test_child();
    OK(cuCtxDestroy(ctx));
    return done();
}
