/* Does a graph run its nodes, each after those it depends on, as often as it is launched? */
#include "check.h"

enum { N = 64 };
static int host_calls;
static void CUDA_CB on_host(void *user) { host_calls += *(int *)user; }

int main(void)
{
    CUcontext ctx = new_context();
    CUmodule m;
    CUfunction f;
    CUdeviceptr p;
    CUgraph g;
    CUgraphExec x;
    CUgraphNode fill, kernel, copy, host, roots[4];
    CUgraphNodeType type;
    unsigned int value = 7, n = N / 2, got[N], wanted = 0;
    int one = 1;
    size_t count = 4;
    void *params[] = {&p, &value, &n};
    MUST(cuModuleLoadData(&m, PTX_HEAD PTX_RAMP));
    MUST(cuModuleGetFunction(&f, m, "ramp"));
    MUST(cuMemAlloc(&p, sizeof got));
    MUST(cuGraphCreate(&g, 0));
    CUDA_MEMSET_NODE_PARAMS fill_params = {.dst = p, .value = 0xabcdabcd, .elementSize = 4, .width = N, .height = 1};
    CUDA_KERNEL_NODE_PARAMS kernel_params = {.func = f,
                                             .gridDimX = 1,
                                             .gridDimY = 1,
                                             .gridDimZ = 1,
                                             .blockDimX = N,
                                             .blockDimY = 1,
                                             .blockDimZ = 1,
                                             .kernelParams = params};
    CUDA_MEMCPY3D copy_params = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .srcDevice = p,
                                 .dstMemoryType = CU_MEMORYTYPE_HOST,
                                 .dstHost = got,
                                 .WidthInBytes = sizeof got,
                                 .Height = 1,
                                 .Depth = 1};
    CUDA_HOST_NODE_PARAMS host_params = {.fn = on_host, .userData = &one};
    /* Made in another order than they run in. */
    OK(cuGraphAddMemcpyNode(&copy, g, NULL, 0, &copy_params, ctx));
    OK(cuGraphAddMemsetNode(&fill, g, NULL, 0, &fill_params, ctx));
    OK(cuGraphAddKernelNode(&kernel, g, &fill, 1, &kernel_params));
    OK(cuGraphAddHostNode(&host, g, &copy, 1, &host_params));
    OK(cuGraphAddDependencies(g, &kernel, &copy,
#if CUDA_VERSION >= 13000
                              NULL,
#endif
                              1));
    OK(cuGraphGetNodes(g, NULL, &count));
    TRUE(count == 4);
    OK(cuGraphGetRootNodes(g, roots, &count));
    TRUE(count == 1 && roots[0] == fill);
    OK(cuGraphNodeGetType(kernel, &type));
    TRUE(type == CU_GRAPH_NODE_TYPE_KERNEL);
    value = 1000; /* the value was taken when the node was made */
    MUST(cuGraphInstantiate(&x, g, 0));
    for (int round = 1; round <= 2; round++) {
        memset(got, 0, sizeof got);
        OK(cuGraphLaunch(x, NULL));
        OK(cuStreamSynchronize(NULL));
        TRUE(host_calls == round && got[0] == 7 && got[N / 2 - 1] == 7 + N / 2 - 1 && got[N / 2] == 0xabcdabcd);
    }
    OK(cuGraphExecKernelNodeSetParams(x, kernel, &kernel_params));
    OK(cuGraphLaunch(x, NULL));
    OK(cuStreamSynchronize(NULL));
    wanted = 1000;
    TRUE(got[0] == wanted);
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    OK(cuCtxDestroy(ctx));
    return done();
}
