// Graphs built node by node: all kinds of nodes, their order, children, clones, and what nodes say of themselves.
// nvcc: -arch=compute_75
#include "check.h"

const int N = 256;
__device__ int table[N];
__constant__ int factor[1];

__global__ void add(int *data, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += value;
}
__global__ void scale(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * factor[0] + table[i];
}

static int host_sum;
static void on_host(void *user) { host_sum += *(int *)user; }

static cudaKernelNodeParams kernel_node(void *f, void **args, int n = N)
{
    cudaKernelNodeParams p = {};
    p.func = f;
    p.gridDim = dim3((n + 63) / 64);
    p.blockDim = dim3(64);
    p.kernelParams = args;
    return p;
}

static void run(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, 0));
    CUDA(cudaStreamSynchronize(0));
    CUDA(cudaGraphExecDestroy(exec));
}

// memset -> add -> scale -> copy back -> host, made in another order than they run in.
static void chain()
{
    int *data = zeros<int>(N), value = 3, n = N, five = 5, two = 2;
    std::vector<int> ramp(N), got(N);
    for (int i = 0; i < N; i++)
        ramp[i] = i;
    cudaGraph_t graph;
    cudaGraphNode_t fill, first, second, to_table, to_factor, back, host;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphAddMemcpyNode1D(&back, graph, nullptr, 0, got.data(), data, N * sizeof(int), cudaMemcpyDeviceToHost));
    cudaMemsetParams set = {};
    set.dst = data, set.value = 1, set.elementSize = 4, set.width = N, set.height = 1;
    CUDA(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
    void *add_args[] = {&data, &value, &n}, *scale_args[] = {&data, &n};
    cudaKernelNodeParams p = kernel_node((void *)add, add_args);
    CUDA(cudaGraphAddKernelNode(&first, graph, &fill, 1, &p));
    CUDA(cudaGraphAddMemcpyNodeToSymbol(&to_table, graph, nullptr, 0, table, ramp.data(), N * sizeof(int), 0, cudaMemcpyHostToDevice));
    CUDA(cudaGraphAddMemcpyNodeToSymbol(&to_factor, graph, nullptr, 0, factor, &two, sizeof(int), 0, cudaMemcpyHostToDevice));
    cudaGraphNode_t before[] = {first, to_table, to_factor};
    p = kernel_node((void *)scale, scale_args);
    CUDA(cudaGraphAddKernelNode(&second, graph, before, 3, &p));
    cudaHostNodeParams h = {on_host, &five};
    CUDA(cudaGraphAddHostNode(&host, graph, &back, 1, &h));
#if CUDART_VERSION >= 13000
    CUDA(cudaGraphAddDependencies(graph, &second, &back, nullptr, 1));
#else
    CUDA(cudaGraphAddDependencies(graph, &second, &back, 1));
#endif
    value = 100; // taken when the node was made
    size_t count = 0;
    CUDA(cudaGraphGetNodes(graph, nullptr, &count));
    check(count == 7, "seven nodes");
    CUDA(cudaGraphGetRootNodes(graph, nullptr, &count));
    check(count == 3, "three of them depend on nothing");
    cudaGraphNodeType type;
    CUDA(cudaGraphNodeGetType(second, &type));
    check(type == cudaGraphNodeTypeKernel, "the type of a node");
    cudaKernelNodeParams seen;
    CUDA(cudaGraphKernelNodeGetParams(first, &seen));
    check(seen.func == (void *)add && seen.gridDim.x == 4 && seen.blockDim.x == 64 && *(int *)seen.kernelParams[1] == 3, "a kernel node tells its kernel, shape and arguments");
    cudaMemcpy3DParms box;
    CUDA(cudaGraphMemcpyNodeGetParams(back, &box));
    check(box.srcPtr.ptr == data && box.extent.width == N * sizeof(int) && box.kind == cudaMemcpyDeviceToHost, "a copy node tells what it copies");
    host_sum = 0;
    run(graph);
    bool good = true;
    for (int i = 0; i < N; i++)
        good &= got[i] == (1 + 3) * 2 + i;
    check(good, "the chain ran in the order of its dependencies");
    check(host_sum == 5, "the host function was called");
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaFree(data));
}

// 2D copies, a child graph twice, an empty node as a barrier.
static void children()
{
    int *data = zeros<int>(N), value = 1, n = N;
    std::vector<int> got(N);
    cudaGraph_t child, graph, clone;
    cudaGraphNode_t node, one, two, barrier, back, found;
    CUDA(cudaGraphCreate(&child, 0));
    void *args[] = {&data, &value, &n};
    cudaKernelNodeParams p = kernel_node((void *)add, args);
    CUDA(cudaGraphAddKernelNode(&node, child, nullptr, 0, &p));
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphAddChildGraphNode(&one, graph, nullptr, 0, child));
    CUDA(cudaGraphAddEmptyNode(&barrier, graph, &one, 1));
    CUDA(cudaGraphAddChildGraphNode(&two, graph, &barrier, 1, child));
    cudaMemcpy3DParms box = {};
    box.srcPtr = make_cudaPitchedPtr(data, 16 * sizeof(int), 16, N / 16);
    box.dstPtr = make_cudaPitchedPtr(got.data(), 16 * sizeof(int), 16, N / 16);
    box.extent = make_cudaExtent(8 * sizeof(int), N / 16, 1);
    box.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaGraphAddMemcpyNode(&back, graph, &two, 1, &box));
    CUDA(cudaGraphClone(&clone, graph));
    CUDA(cudaGraphNodeFindInClone(&found, back, clone));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaGraphDestroy(child));
    run(clone);
    bool good = true;
    for (int i = 0; i < N; i++)
        good &= got[i] == (i % 16 < 8 ? 2 : 0);
    check(good, "a child graph ran twice, and half of each row came back");
    CUDA(cudaGraphDestroy(clone));
    CUDA(cudaFree(data));
}

static void events()
{
    cudaGraph_t graph;
    cudaGraphNode_t record, wait;
    cudaEvent_t event, seen;
    CUDA(cudaEventCreate(&event));
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, event));
    CUDA(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    CUDA(cudaGraphEventWaitNodeGetEvent(wait, &seen));
    check(seen == event, "an event node tells its event");
    run(graph);
    check_error(cudaEventQuery(event), cudaSuccess, "the event was recorded");
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaEventDestroy(event));
}

static void errors()
{
    cudaGraph_t graph;
    cudaGraphNode_t a, b;
    cudaGraphExec_t exec = nullptr;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
    CUDA(cudaGraphAddEmptyNode(&b, graph, &a, 1));
    cudaGraphNode_t none = nullptr;
    check_error(cudaGraphAddEmptyNode(&b, graph, &none, 1), cudaErrorInvalidValue, "a dependency that is no node");
    int unregistered = 0;
    cudaKernelNodeParams p = kernel_node(&unregistered, nullptr);
    check_error(cudaGraphAddKernelNode(&b, graph, nullptr, 0, &p), no_kernel, "a kernel that is none");
    check_error(cudaGraphLaunch(exec, 0), cudaErrorInvalidValue, "a launch of nothing");
    cudaGetLastError();
    CUDA(cudaGraphDestroy(graph));
}

int main()
{
    chain();
    children();
    events();
    errors();
    return finish();
}
