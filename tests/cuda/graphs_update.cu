// Instances of graphs, changed: one node, a child, from another graph, or from a new capture of the same work.
// nvcc: -arch=compute_75
#include "check.h"

const int N = 128;
__device__ int source[N];

__global__ void fill(int *data, int value) { data[threadIdx.x] = value; }
__global__ void twice(int *data, int value) { data[threadIdx.x] = 2 * value; }

static int host_value;
static void on_host(void *user) { host_value = *(int *)user; }

struct built { cudaGraph_t graph; cudaGraphNode_t kernel, copy, host; };

static built build(int *data, int *back, void *f, int value, int *told)
{
    built b;
    void *args[] = {&data, &value};
    cudaKernelNodeParams p = {};
    p.func = f, p.gridDim = dim3(1), p.blockDim = dim3(N), p.kernelParams = args;
    cudaHostNodeParams h = {on_host, told};
    CUDA(cudaGraphCreate(&b.graph, 0));
    CUDA(cudaGraphAddKernelNode(&b.kernel, b.graph, nullptr, 0, &p));
    CUDA(cudaGraphAddMemcpyNode1D(&b.copy, b.graph, &b.kernel, 1, back, data, N * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA(cudaGraphAddHostNode(&b.host, b.graph, &b.copy, 1, &h));
    return b;
}

static void launch(cudaGraphExec_t exec)
{
    CUDA(cudaGraphLaunch(exec, 0));
    CUDA(cudaStreamSynchronize(0));
}

static cudaGraphExecUpdateResult update(cudaGraphExec_t exec, cudaGraph_t graph)
{
#if CUDART_VERSION >= 12000
    cudaGraphExecUpdateResultInfo info;
    cudaError_t r = cudaGraphExecUpdate(exec, graph, &info);
    cudaGraphExecUpdateResult result = info.result;
#else
    cudaGraphNode_t node;
    cudaGraphExecUpdateResult result;
    cudaError_t r = cudaGraphExecUpdate(exec, graph, &node, &result);
#endif
    check(r == (result == cudaGraphExecUpdateSuccess ? cudaSuccess : cudaErrorGraphExecUpdateFailure), "the call and its result agree");
    cudaGetLastError();
    return result;
}

static void nodes()
{
    int *data = zeros<int>(N), back[N], one = 1, two = 2, value = 20;
    built b = build(data, back, (void *)fill, 10, &one);
    cudaGraphExec_t exec;
    CUDA(cudaGraphInstantiate(&exec, b.graph, 0));
    launch(exec);
    check(back[0] == 10 && host_value == 1, "as it was built");
    void *args[] = {&data, &value};
    cudaKernelNodeParams p = {};
    p.func = (void *)twice, p.gridDim = dim3(1), p.blockDim = dim3(N), p.kernelParams = args;
    CUDA(cudaGraphExecKernelNodeSetParams(exec, b.kernel, &p));
    launch(exec);
    check(back[N - 1] == 40, "another kernel with another argument");
    std::vector<int> ramp(N);
    for (int i = 0; i < N; i++)
        ramp[i] = i;
    CUDA(cudaMemcpyToSymbol(source, ramp.data(), N * sizeof(int)));
    CUDA(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, b.copy, back, source, N * sizeof(int), 0, cudaMemcpyDeviceToHost));
    cudaHostNodeParams h = {on_host, &two};
    CUDA(cudaGraphExecHostNodeSetParams(exec, b.host, &h));
    launch(exec);
    check(back[5] == 5 && host_value == 2, "another source and another host function");
    CUDA(cudaGraphNodeSetEnabled(exec, b.copy, 0));
    back[5] = -1;
    launch(exec);
    unsigned int enabled = 1;
    CUDA(cudaGraphNodeGetEnabled(exec, b.copy, &enabled));
    check(back[5] == -1 && !enabled, "a node that is switched off");
    CUDA(cudaGraphNodeSetEnabled(exec, b.copy, 1));
    launch(exec);
    check(back[5] == 5, "and on again");
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(b.graph));
    CUDA(cudaFree(data));
}

static void whole()
{
    int *data = zeros<int>(N), back[N], one = 1;
    built first = build(data, back, (void *)fill, 1, &one), second = build(data, back, (void *)twice, 7, &one);
    cudaGraphExec_t exec;
    CUDA(cudaGraphInstantiate(&exec, first.graph, 0));
    check(update(exec, second.graph) == cudaGraphExecUpdateSuccess, "a graph of the same shape");
    launch(exec);
    check(back[0] == 14, "took its place");
    cudaGraphNode_t more;
    CUDA(cudaGraphAddEmptyNode(&more, second.graph, nullptr, 0));
    check(update(exec, second.graph) == cudaGraphExecUpdateErrorTopologyChanged, "one of another shape");
    back[0] = 0;
    launch(exec);
    check(back[0] == 14, "changed nothing");
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(first.graph));
    CUDA(cudaGraphDestroy(second.graph));
    CUDA(cudaFree(data));
}

// What frameworks do: capture again every time, and update the instance that is there.
static void captures()
{
    int *data = zeros<int>(N), back[N];
    cudaStream_t stream;
    cudaGraphExec_t exec = nullptr;
    bool good = true;
    CUDA(cudaStreamCreate(&stream));
    for (int round = 1; round <= 4; round++) {
        cudaGraph_t graph;
        CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        fill<<<1, N, 0, stream>>>(data, round);
        CUDA(cudaMemcpyAsync(back, data, N * sizeof(int), cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamEndCapture(stream, &graph));
        if (!exec)
            CUDA(cudaGraphInstantiate(&exec, graph, 0));
        else
            good &= update(exec, graph) == cudaGraphExecUpdateSuccess;
        CUDA(cudaGraphDestroy(graph));
        CUDA(cudaGraphLaunch(exec, stream));
        CUDA(cudaStreamSynchronize(stream));
        good &= back[N - 1] == round;
    }
    check(good, "an instance follows new captures");
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(data));
}

int main()
{
    nodes();
    whole();
    captures();
    return finish();
}
