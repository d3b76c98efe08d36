/* Is a graph what was built: its nodes, their descriptions, their order, copies of it, and what it holds on to? */
#include "check.h"

#include <unistd.h>

enum { N = 32, BYTES = N * sizeof(unsigned int) };
static CUcontext ctx;
static CUfunction ramp;
static CUdeviceptr p;
static unsigned int got[N], value = 7, count_n = N;
static void *ramp_params[] = {&p, &value, &count_n};
static int host_calls, destroyed;
static void CUDA_CB on_host(void *user) { host_calls += *(int *)user; }
static void CUDA_CB on_destroy(void *user) { destroyed += *(int *)user; }

#if CUDA_VERSION >= 13000
#define NO_EDGE_DATA NULL,
#else
#define NO_EDGE_DATA
#endif

static CUDA_KERNEL_NODE_PARAMS ramp_node(void)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = ramp,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = N,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = ramp_params};
}

/* a before b and c, both before d. */
static void test_edges(void)
{
    CUgraph g;
    CUgraphNode a, b, c, d, from[8], to[8];
    size_t count = 8;
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddEmptyNode(&a, g, NULL, 0));
    MUST(cuGraphAddEmptyNode(&b, g, &a, 1));
    MUST(cuGraphAddEmptyNode(&c, g, &a, 1));
    MUST(cuGraphAddEmptyNode(&d, g, (CUgraphNode[]){b, c}, 2));
    OK(cuGraphGetEdges(g, from, to, NO_EDGE_DATA & count));
    TRUE(count == 4 && from[4] == NULL && to[4] == NULL);
    for (size_t i = 0; i < count; i++)
        TRUE((from[i] == a && (to[i] == b || to[i] == c)) || ((from[i] == b || from[i] == c) && to[i] == d));
    count = 8;
    OK(cuGraphNodeGetDependentNodes(a, to, NO_EDGE_DATA & count));
    TRUE(count == 2 && to[0] == b && to[1] == c && to[2] == NULL);
    count = 8;
    OK(cuGraphNodeGetDependencies(d, from, NO_EDGE_DATA & count));
    TRUE(count == 2 && from[0] == b && from[1] == c);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(g, &a, &b, NO_EDGE_DATA 1)); /* is there already */
    OK(cuGraphRemoveDependencies(g, &b, &d, NO_EDGE_DATA 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies(g, &b, &d, NO_EDGE_DATA 1));
    OK(cuGraphDestroyNode(c));
    count = 0;
    OK(cuGraphGetNodes(g, NULL, &count));
    TRUE(count == 3);
    OK(cuGraphGetEdges(g, NULL, NULL, NO_EDGE_DATA & count));
    TRUE(count == 1);
    if (on_heddle())
        EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(c));
    OK(cuGraphDestroy(g));
}

static void test_cycle(void)
{
    CUgraph g;
    CUgraphExec x;
    CUgraphNode a, b;
    CUDA_GRAPH_INSTANTIATE_PARAMS how = {0};
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddEmptyNode(&a, g, NULL, 0));
    MUST(cuGraphAddEmptyNode(&b, g, &a, 1));
    if (cuGraphAddDependencies(g, &b, &a, NO_EDGE_DATA 1) == CUDA_SUCCESS) {
        EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&x, g, &how));
        TRUE(how.result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    }
    OK(cuGraphDestroy(g));
}

/* A node keeps copies: what the caller does to its own afterwards changes nothing. */
static void test_descriptions(void)
{
    CUgraph g;
    CUgraphNode kernel, fill, host;
    CUevent e, other, seen = NULL;
    CUgraphNode record, wait;
    CUDA_KERNEL_NODE_PARAMS k = ramp_node(), k_back;
    CUDA_MEMSET_NODE_PARAMS m = {.dst = p, .value = 1, .elementSize = 4, .width = N, .height = 1}, m_back;
    CUDA_HOST_NODE_PARAMS h = {.fn = on_host, .userData = &host_calls}, h_back;
    CUkernelNodeAttrValue attribute = {.priority = -1}, attribute_back;
    unsigned int kept;
    MUST(cuGraphCreate(&g, 0));
    value = 7;
    MUST(cuGraphAddKernelNode(&kernel, g, NULL, 0, &k));
    value = 8;
    OK(cuGraphKernelNodeGetParams(kernel, &k_back));
    memcpy(&kept, k_back.kernelParams[1], sizeof kept);
    TRUE(k_back.func == ramp && k_back.blockDimX == N && kept == 7);
    OK(cuGraphKernelNodeSetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
    OK(cuGraphKernelNodeGetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute_back));
    TRUE(attribute_back.priority == -1);
    MUST(cuGraphAddMemsetNode(&fill, g, NULL, 0, &m, ctx));
    m.value = 2;
    OK(cuGraphMemsetNodeSetParams(fill, &m));
    OK(cuGraphMemsetNodeGetParams(fill, &m_back));
    TRUE(m_back.value == 2 && m_back.width == N);
    MUST(cuGraphAddHostNode(&host, g, NULL, 0, &h));
    OK(cuGraphHostNodeGetParams(host, &h_back));
    TRUE(h_back.fn == on_host && h_back.userData == &host_calls);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphHostNodeGetParams(fill, &h_back));
    MUST(cuEventCreate(&e, 0));
    MUST(cuEventCreate(&other, 0));
    MUST(cuGraphAddEventRecordNode(&record, g, NULL, 0, e));
    MUST(cuGraphAddEventWaitNode(&wait, g, &record, 1, e));
    OK(cuGraphEventRecordNodeGetEvent(record, &seen));
    TRUE(seen == e);
    OK(cuGraphEventWaitNodeSetEvent(wait, other));
    OK(cuGraphEventWaitNodeGetEvent(wait, &seen));
    TRUE(seen == other);
    k.blockDimX = 0;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&kernel, g, NULL, 0, &k));
    OK(cuGraphDestroy(g));
    OK(cuEventDestroy(e));
    OK(cuEventDestroy(other));
}

/* Any node by one call; a child graph; a clone with the same nodes. */
static void test_children_and_clones(void)
{
    CUgraph g, child, inside, clone;
    CUgraphExec x;
    CUgraphNode nodes[2], kernel, in_child, in_clone;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    CUDA_KERNEL_NODE_PARAMS k = ramp_node();
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = got,
                          .WidthInBytes = BYTES,
                          .Height = 1,
                          .Depth = 1};
    size_t count = 2;
    MUST(cuGraphCreate(&child, 0));
    value = 50;
    memcpy(&params.kernel, &k, sizeof k);
    MUST(cuGraphAddNode(&kernel, child, NULL, NO_EDGE_DATA 0, &params));
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddChildGraphNode(&nodes[0], g, NULL, 0, child));
    MUST(cuGraphAddMemcpyNode(&nodes[1], g, nodes, 1, &back, ctx));
    OK(cuGraphDestroy(child));
    OK(cuGraphChildGraphNodeGetGraph(nodes[0], &inside));
    OK(cuGraphGetNodes(inside, &in_child, &(size_t){1}));
    MUST(cuGraphClone(&clone, g));
    OK(cuGraphNodeFindInClone(&in_clone, nodes[1], clone));
    TRUE(in_clone != nodes[1]);
    OK(cuGraphDestroy(g));
    OK(cuGraphGetNodes(clone, nodes, &count));
    TRUE(count == 2 && nodes[1] == in_clone);
    MUST(cuGraphInstantiate(&x, clone, 0));
    OK(cuMemsetD32(p, 0, N));
    OK(cuGraphLaunch(x, NULL));
    OK(cuStreamSynchronize(NULL));
    TRUE(got[0] == 50 && got[N - 1] == 50 + N - 1);
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(clone));
}

/* A child that moves into its node is the node's from then on. */
static void test_moved_child(void)
{
    CUgraph g, child, inside = NULL;
    CUgraphExec x;
    CUgraphNode n, kernel;
    CUDA_KERNEL_NODE_PARAMS k = ramp_node();
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH,
                                .graph = {.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE}};
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphCreate(&child, 0));
    value = 70;
    MUST(cuGraphAddKernelNode(&kernel, child, NULL, 0, &k));
    if (on_heddle()) {
        params.graph.graph = g;
        EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&n, g, NULL, NO_EDGE_DATA 0, &params)); /* into itself */
    }
    params.graph.graph = child;
    MUST(cuGraphAddNode(&n, g, NULL, NO_EDGE_DATA 0, &params));
    OK(cuGraphChildGraphNodeGetGraph(n, &inside));
    TRUE(inside == child);
    if (on_heddle())
        EXPECT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(child));
    MUST(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphLaunch(x, NULL));
    OK(cuMemcpyDtoH(got, p, BYTES));
    TRUE(got[0] == 70);
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
}

/* An object lives as long as a graph, a copy or the program holds it. */
static void test_user_objects(void)
{
    CUuserObject object;
    CUgraph g, clone;
    int one = 1;
    destroyed = 0;
    MUST(cuGraphCreate(&g, 0));
    MUST(cuUserObjectCreate(&object, &one, on_destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuGraphRetainUserObject(g, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuUserObjectRetain(object, 1));
    MUST(cuGraphClone(&clone, g));
    OK(cuGraphDestroy(g));
    OK(cuGraphReleaseUserObject(clone, object, 1));
    TRUE(destroyed == 0);
    OK(cuUserObjectRelease(object, 1));
    for (int i = 0; i < 1000 && !destroyed && !on_heddle(); i++)
        usleep(1000); /* a GPU's driver calls it in a thread of its own */
    TRUE(destroyed == 1);
    OK(cuGraphDestroy(clone));
}

static void test_print(void)
{
    char path[] = "/tmp/heddle-graph-XXXXXX", text[4096] = "";
    CUgraph g;
    CUgraphNode a, b;
    CUDA_KERNEL_NODE_PARAMS k = ramp_node();
    int file = mkstemp(path);
    TRUE(file >= 0);
    MUST(cuGraphCreate(&g, 0));
    MUST(cuGraphAddEmptyNode(&a, g, NULL, 0));
    MUST(cuGraphAddKernelNode(&b, g, &a, 1, &k));
    OK(cuGraphDebugDotPrint(g, path, 0));
    FILE *in = fopen(path, "r");
    TRUE(in && fread(text, 1, sizeof text - 1, in) > 0);
    TRUE(strstr(text, "digraph") && strstr(text, "->") && strstr(text, "ramp"));
    fclose(in);
    close(file);
    unlink(path);
    OK(cuGraphDestroy(g));
}

int main(void)
{
    CUmodule m;
    ctx = new_context();
    MUST(cuModuleLoadData(&m, PTX_HEAD PTX_RAMP));
    MUST(cuModuleGetFunction(&ramp, m, "ramp"));
    MUST(cuMemAlloc(&p, BYTES));
    test_edges();
    test_cycle();
    test_descriptions();
    test_children_and_clones();
    test_moved_child();
    test_user_objects();
    test_print();
    OK(cuCtxDestroy(ctx));
    return done();
}
