// Conditional nodes: kernels decide whether a body runs, and how often.
// nvcc: -arch=compute_75 -rdc=true
#include "check.h"

__global__ void decide(cudaGraphConditionalHandle handle, const int *input) { cudaGraphSetConditional(handle, *input > 0); }
__global__ void count_down(cudaGraphConditionalHandle handle, int *left, int *rounds)
{
    *rounds += 1;
    cudaGraphSetConditional(handle, --*left != 0);
}
__global__ void mark(int *out) { *out = 7; }

static cudaGraph_t body_of(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type)
{
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = 1;
#if CUDART_VERSION >= 13000
    CUDA(cudaGraphAddNode(node, graph, after, nullptr, after ? 1 : 0, &p));
#else
    CUDA(cudaGraphAddNode(node, graph, after, after ? 1 : 0, &p));
#endif
    return p.conditional.phGraph_out[0];
}

static cudaGraphNode_t kernel(cudaGraph_t graph, void *f, void **args)
{
    cudaGraphNode_t node;
    cudaKernelNodeParams p = {};
    p.func = f, p.gridDim = dim3(1), p.blockDim = dim3(1), p.kernelParams = args;
    CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p));
    return node;
}

static void if_node(int input)
{
    int *in = upload(std::vector<int>{input}), *out = zeros<int>(1);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
    void *args[] = {&handle, &in}, *mark_args[] = {&out};
    cudaGraphNode_t first = kernel(graph, (void *)decide, args);
    kernel(body_of(&node, graph, &first, handle, cudaGraphCondTypeIf), (void *)mark, mark_args);
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, 0));
    CUDA(cudaStreamSynchronize(0));
    check(download(out, 1)[0] == (input > 0 ? 7 : 0), input > 0 ? "a body that runs" : "a body that does not");
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
}

// The body is captured into the graph that the node made.
static void while_node()
{
    int *left = upload(std::vector<int>{5}), *rounds = zeros<int>(1);
    cudaGraph_t graph, same;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraph_t body = body_of(&node, graph, nullptr, handle, cudaGraphCondTypeWhile);
    CUDA(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    count_down<<<1, 1, 0, stream>>>(handle, left, rounds);
    CUDA(cudaStreamEndCapture(stream, &same));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    check(download(rounds, 1)[0] == 5, "a body that runs until a kernel says so");
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(left));
    CUDA(cudaFree(rounds));
}

int main()
{
    if_node(1);
    if_node(0);
    while_node();
    return finish();
}
