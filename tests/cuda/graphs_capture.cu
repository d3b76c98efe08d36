// Streams captured into graphs: one stream, several with events, cooperative launches, libraries' habits; and what may not be captured.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -default-stream per-thread
#include "check.h"

#include <cooperative_groups.h>

const int N = 512;

__global__ void add(int *data, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] += value;
}
__global__ void sum(const int *a, const int *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
}
// Every block adds what its neighbour wrote before all met.
__global__ void neighbours(int *data, int *out)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0)
        data[blockIdx.x] = blockIdx.x + 1;
    grid.sync();
    if (threadIdx.x == 0)
        out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
}

static int host_calls;
static void on_host(void *) { host_calls++; }

static void one_stream(cudaStream_t stream, const char *name)
{
    int *data = zeros<int>(N);
    std::vector<int> got(N, -1);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    host_calls = 0;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaStreamCaptureStatus status;
    CUDA(cudaStreamIsCapturing(stream, &status));
    CUDA(cudaMemsetAsync(data, 0, N * sizeof(int), stream));
    for (int i = 1; i <= 10; i++)
        add<<<N / 64, 64, 0, stream>>>(data, i);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpyAsync(got.data(), data, N * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaLaunchHostFunc(stream, on_host, nullptr));
    CUDA(cudaStreamEndCapture(stream, &graph));
    size_t count = 0;
    CUDA(cudaGraphGetNodes(graph, nullptr, &count));
    printf("%s: %zu nodes\n", name, count);
    check(status == cudaStreamCaptureStatusActive && got[0] == -1 && host_calls == 0, "nothing ran while it was captured");
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 3; round++)
        CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    bool good = host_calls == 3;
    for (int i = 0; i < N; i++)
        good &= got[i] == 55;
    check(good, "and then it ran, three times");
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaFree(data));
}

// a and b in two streams, their sum behind both.
static void fork_and_join()
{
    int *a = zeros<int>(N), *b = zeros<int>(N), *c = zeros<int>(N);
    cudaStream_t first, second;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamCreate(&first));
    CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    CUDA(cudaEventRecord(fork, first));
    CUDA(cudaStreamWaitEvent(second, fork, 0));
    add<<<N / 64, 64, 0, first>>>(a, 10);
    add<<<N / 64, 64, 0, second>>>(b, 5);
    CUDA(cudaEventRecord(join, second));
    CUDA(cudaStreamWaitEvent(first, join, 0));
    sum<<<N / 64, 64, 0, first>>>(a, b, c);
    CUDA(cudaStreamEndCapture(first, &graph));
    size_t roots = 0, nodes = 0;
    CUDA(cudaGraphGetRootNodes(graph, nullptr, &roots));
    CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
    check(roots == 2 && nodes == 3, "two roots, one behind both");
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, first));
    CUDA(cudaGraphLaunch(exec, first));
    CUDA(cudaStreamSynchronize(first));
    std::vector<int> got = download(c, N);
    check(got[0] == 30 && got[N - 1] == 30, "the sum of what both streams did, twice");
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(first));
    CUDA(cudaStreamDestroy(second));
    CUDA(cudaEventDestroy(fork));
    CUDA(cudaEventDestroy(join));
    CUDA(cudaFree(a));
    CUDA(cudaFree(b));
    CUDA(cudaFree(c));
}

static void cooperative()
{
    const int blocks = 8;
    int *data = zeros<int>(blocks), *out = zeros<int>(blocks);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    void *args[] = {&data, &out};
    CUDA(cudaLaunchCooperativeKernel((void *)neighbours, dim3(blocks), dim3(32), args, 0, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    std::vector<int> got = download(out, blocks);
    bool good = true;
    for (int i = 0; i < blocks; i++)
        good &= got[i] == (i + 1) % blocks + 1;
    check(good, "a cooperative launch stays one in a graph");
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(data));
    CUDA(cudaFree(out));
}

static void errors()
{
    cudaStream_t stream, other;
    cudaEvent_t event;
    cudaGraph_t graph;
    int *p = nullptr;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamCreate(&other));
    CUDA(cudaEventCreate(&event));
    check_error(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported, "the legacy stream cannot be captured");
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check_error(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported, "a capturing stream cannot be waited for");
    check_error(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated, "which spoils the capture");
    check(graph == nullptr, "and gives no graph");
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check_error(cudaMalloc(&p, 4), cudaErrorStreamCaptureUnsupported, "allocations may wait, and are forbidden");
    check_error(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated, "in this mode");
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    check_error(cudaMalloc(&p, 4), cudaSuccess, "and allowed in another");
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaEventRecord(event, other));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check_error(cudaStreamWaitEvent(stream, event, 0), cudaErrorStreamCaptureIsolation, "an event from outside");
    check_error(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated, "cannot be waited for");
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA(cudaEventRecord(event, stream));
    CUDA(cudaStreamWaitEvent(other, event, 0));
    CUDA(cudaMemsetAsync(p, 0, 4, other));
    check_error(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined, "a stream that is left behind");
    cudaGetLastError();
    CUDA(cudaFree(p));
    CUDA(cudaEventDestroy(event));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaStreamDestroy(other));
}

int main()
{
    cudaStream_t blocking, nonblocking;
    CUDA(cudaStreamCreate(&blocking));
    CUDA(cudaStreamCreateWithFlags(&nonblocking, cudaStreamNonBlocking));
    one_stream(blocking, "a stream");
    one_stream(nonblocking, "one that does not block");
    one_stream(cudaStreamPerThread, "the thread's own");
    fork_and_join();
    cooperative();
    errors();
    CUDA(cudaStreamDestroy(blocking));
    CUDA(cudaStreamDestroy(nonblocking));
    return finish();
}
