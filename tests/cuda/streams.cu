// Is work of a stream done in order, and does work of one stream wait for an event of another?
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -default-stream per-thread
#include "check.h"

__global__ void multiply_add(int *x, int a, int b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * a + b;
}
__global__ void sum_of(int *out, const int *a, const int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}

enum { N = 3000, STREAMS = 4 };

static void order_within()
{
    cudaStream_t streams[STREAMS];
    int *device[STREAMS], *host[STREAMS];
    for (int s = 0; s < STREAMS; s++) {
        CUDA(cudaStreamCreateWithFlags(&streams[s], s % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
        CUDA(cudaMalloc(&device[s], N * sizeof(int)));
        CUDA(cudaMallocHost(&host[s], N * sizeof(int)));
        for (int i = 0; i < N; i++)
            host[s][i] = i + s;
    }
    for (int s = 0; s < STREAMS; s++)
        CUDA(cudaMemcpyAsync(device[s], host[s], N * sizeof(int), cudaMemcpyHostToDevice, streams[s]));
    for (int s = 0; s < STREAMS; s++)
        for (int step = 1; step <= 3; step++)
            multiply_add<<<(N + 127) / 128, 128, 0, streams[s]>>>(device[s], 3, step, N);
    for (int s = 0; s < STREAMS; s++)
        CUDA(cudaMemcpyAsync(host[s], device[s], N * sizeof(int), cudaMemcpyDeviceToHost, streams[s]));
    bool good = true;
    for (int s = 0; s < STREAMS; s++) {
        CUDA(cudaStreamSynchronize(streams[s]));
        check_error(cudaStreamQuery(streams[s]), cudaSuccess, "the stream is idle");
        for (int i = 0; i < N; i++)
            good &= host[s][i] == (((i + s) * 3 + 1) * 3 + 2) * 3 + 3;
        CUDA(cudaStreamDestroy(streams[s]));
        CUDA(cudaFree(device[s]));
        CUDA(cudaFreeHost(host[s]));
    }
    check(good, "work of each stream is done in order");
}

static void wait_for_event()
{
    cudaStream_t first, second;
    cudaEvent_t ready;
    int *a = zeros<int>(N), *b = zeros<int>(N), *out = zeros<int>(N);
    CUDA(cudaStreamCreateWithPriority(&first, cudaStreamNonBlocking, -1));
    CUDA(cudaStreamCreate(&second));
    CUDA(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    multiply_add<<<(N + 63) / 64, 64, 0, first>>>(a, 1, 5, N);
    CUDA(cudaEventRecord(ready, first));
    multiply_add<<<(N + 63) / 64, 64, 0, second>>>(b, 1, 7, N);
    CUDA(cudaStreamWaitEvent(second, ready, 0));
    sum_of<<<(N + 63) / 64, 64, 0, second>>>(out, a, b, N);
    CUDA(cudaDeviceSynchronize());
    std::vector<int> got = download(out, N);
    bool good = true;
    for (int i = 0; i < N; i++)
        good &= got[i] == 12;
    check(good, "a stream waits for an event of another");
    CUDA(cudaEventDestroy(ready));
    CUDA(cudaStreamDestroy(first));
    CUDA(cudaStreamDestroy(second));
}

static void what_streams_know()
{
    cudaStream_t stream, other;
    unsigned flags = 0;
    int priority = 0, device = -1;
    unsigned long long id = 0, other_id = 0;
    CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -2));
    CUDA(cudaStreamCreate(&other));
    CUDA(cudaStreamGetFlags(stream, &flags));
    CUDA(cudaStreamGetPriority(stream, &priority));
    CUDA(cudaStreamGetId(stream, &id));
    CUDA(cudaStreamGetId(other, &other_id));
    CUDA(cudaStreamGetDevice(stream, &device));
    check(flags == cudaStreamNonBlocking && priority == -2 && device == 0, "flags, priority and device are kept");
    check(id != other_id, "streams have different numbers");
    cudaStreamAttrValue set = {}, got = {};
    set.syncPolicy = cudaSyncPolicyYield;
    CUDA(cudaStreamSetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &set));
    CUDA(cudaStreamCopyAttributes(other, stream));
    CUDA(cudaStreamGetAttribute(other, cudaStreamAttributeSynchronizationPolicy, &got));
    check(got.syncPolicy == cudaSyncPolicyYield, "attributes are kept and copied");
    int *managed;
    CUDA(cudaMallocManaged(&managed, 4096));
    CUDA(cudaStreamAttachMemAsync(stream, managed));
    CUDA(cudaStreamSynchronize(stream));
    managed[5] = 4;
    check(managed[5] == 4, "managed memory attached to a stream is the host's too");
    CUDA(cudaFree(managed));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaStreamDestroy(other));
}

static void default_streams()
{
    int *x = zeros<int>(N);
    multiply_add<<<(N + 63) / 64, 64, 0, cudaStreamLegacy>>>(x, 1, 2, N);
    multiply_add<<<(N + 63) / 64, 64, 0, cudaStreamPerThread>>>(x, 10, 0, N);
    CUDA(cudaStreamSynchronize(cudaStreamPerThread));
    multiply_add<<<(N + 63) / 64, 64>>>(x, 1, 1, N);
    CUDA(cudaStreamSynchronize(0));
    check(download(x, N)[N - 1] == 21, "the default streams");
    unsigned long long id = 0, expected = 0;
    CUDA(cudaStreamGetId(0, &id));
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    CUDA(cudaStreamGetId(cudaStreamPerThread, &expected));
#else
    CUDA(cudaStreamGetId(cudaStreamLegacy, &expected));
#endif
    check(id == expected, "stream 0 is the default stream that the program was compiled for");
    CUDA(cudaFree(x));
}

int main()
{
    order_within();
    wait_for_event();
    what_streams_know();
    default_streams();
    return finish();
}
