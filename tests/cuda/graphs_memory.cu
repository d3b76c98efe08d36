// Memory that graphs allocate and free, explicitly and by capture, and objects that live as long as a graph does.
// nvcc: -arch=compute_75
#include "check.h"

const int N = 1024;

__global__ void square(const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] * from[i];
}

static void captured()
{
    std::vector<int> host(N), got(N);
    for (int i = 0; i < N; i++)
        host[i] = i;
    int *in = upload(host), *scratch = nullptr;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA(cudaMallocAsync(&scratch, N * sizeof(int), stream));
    square<<<N / 128, 128, 0, stream>>>(in, scratch);
    CUDA(cudaMemcpyAsync(got.data(), scratch, N * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaFreeAsync(scratch, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    bool good = true;
    for (int round = 0; round < 2; round++) {
        got.assign(N, 0);
        CUDA(cudaGraphLaunch(exec, stream));
        CUDA(cudaStreamSynchronize(stream));
        for (int i = 0; i < N; i++)
            good &= got[i] == i * i;
    }
    check(good, "scratch memory inside a graph");
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(in));
}

// One graph allocates, another one uses and frees.
static void two_graphs()
{
    cudaGraph_t first, second;
    cudaGraphNode_t alloc, fill, copy, freed;
    cudaGraphExec_t make, use;
    std::vector<int> got(N);
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = N * sizeof(int);
    CUDA(cudaGraphCreate(&first, 0));
    CUDA(cudaGraphAddMemAllocNode(&alloc, first, nullptr, 0, &p));
    cudaMemsetParams set = {};
    set.dst = p.dptr, set.value = 0x11, set.elementSize = 1, set.width = N * sizeof(int), set.height = 1;
    CUDA(cudaGraphAddMemsetNode(&fill, first, &alloc, 1, &set));
    CUDA(cudaGraphCreate(&second, 0));
    CUDA(cudaGraphAddMemcpyNode1D(&copy, second, nullptr, 0, got.data(), p.dptr, N * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA(cudaGraphAddMemFreeNode(&freed, second, &copy, 1, p.dptr));
    CUDA(cudaGraphInstantiate(&make, first, 0));
    CUDA(cudaGraphInstantiate(&use, second, 0));
    unsigned long long used = 0;
    for (int round = 0; round < 2; round++) {
        CUDA(cudaGraphLaunch(make, 0));
        CUDA(cudaStreamSynchronize(0));
        CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
        check(used >= N * sizeof(int), "memory of a graph is in use");
        CUDA(cudaGraphLaunch(use, 0));
        CUDA(cudaStreamSynchronize(0));
    }
    check(got[0] == 0x11111111 && got[N - 1] == 0x11111111, "one graph's memory, used by another");
    CUDA(cudaGraphExecDestroy(make));
    CUDA(cudaGraphExecDestroy(use));
    CUDA(cudaGraphDestroy(first));
    CUDA(cudaGraphDestroy(second));
    CUDA(cudaDeviceGraphMemTrim(0));
    CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &used));
    check(used == 0, "and nothing is left");
}

static void relaunch()
{
    cudaGraph_t graph;
    cudaGraphNode_t alloc;
    cudaGraphExec_t once, often;
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = 4096;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &p));
    CUDA(cudaGraphInstantiateWithFlags(&once, graph, 0));
    CUDA(cudaGraphLaunch(once, 0));
    check_error(cudaGraphLaunch(once, 0), cudaErrorInvalidValue, "memory of the last launch is still there");
    cudaGetLastError();
    CUDA(cudaFree(p.dptr));
    CUDA(cudaGraphExecDestroy(once));
    CUDA(cudaGraphInstantiateWithFlags(&often, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    CUDA(cudaGraphLaunch(often, 0));
    check_error(cudaGraphLaunch(often, 0), cudaSuccess, "unless launches free it");
    CUDA(cudaStreamSynchronize(0));
    CUDA(cudaFree(p.dptr));
    CUDA(cudaGraphExecDestroy(often));
    CUDA(cudaGraphDestroy(graph));
}

static volatile int destroyed;
static void on_destroy(void *) { destroyed = 1; }

static void objects()
{
    cudaUserObject_t object;
    cudaGraph_t graph, clone;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaUserObjectCreate(&object, nullptr, on_destroy, 1, cudaUserObjectNoDestructorSync));
    CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    CUDA(cudaGraphClone(&clone, graph));
    CUDA(cudaGraphDestroy(graph));
    check(!destroyed, "an object outlives a graph while a clone holds it");
    CUDA(cudaGraphDestroy(clone));
    while (!destroyed) // another thread may be at it
        continue;
    check(destroyed, "and not longer");
}

int main()
{
    captured();
    two_graphs();
    relaunch();
    objects();
    return finish();
}
