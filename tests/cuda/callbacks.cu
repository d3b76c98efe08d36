// Are host functions of a stream called after the work before them and before the work behind them, and may they use CUDA and start threads that do?
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -default-stream per-thread
#include "check.h"

#include <cstring>
#include <mutex>
#include <thread>

__global__ void set(int *x, int value) { *x = value; }
__global__ void add(int *x, const int *y) { *x += *y; }

struct state {
    int *pinned;     // what the device wrote, as the host sees it
    int seen[3], calls;
    cudaError_t status;
    int *device;
    std::mutex lock;
};

static void CUDART_CB after_copy(void *user)
{
    state *s = (state *)user;
    std::lock_guard<std::mutex> guard(s->lock);
    s->seen[s->calls++] = *s->pinned;
    *s->pinned = 1000; // the next work of the stream reads it
}

static void CUDART_CB old_style(cudaStream_t, cudaError_t status, void *user)
{
    state *s = (state *)user;
    s->status = status;
    s->calls++;
}

static void CUDART_CB uses_cuda(void *user)
{
    state *s = (state *)user;
    int value = 0;
    cudaMemcpy(&value, s->device, sizeof value, cudaMemcpyDeviceToHost);
    cudaStreamQuery(0);
    s->seen[2] = value;
    std::thread other([s] {
        cudaMalloc(&s->device, 64);
        set<<<1, 1>>>(s->device, 77);
        cudaDeviceSynchronize();
    });
    other.join();
    s->calls++;
}

int main()
{
    state s = {};
    int *x = zeros<int>(1), *y = zeros<int>(1);
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMallocHost(&s.pinned, sizeof(int)));
    s.status = cudaErrorUnknown;
    set<<<1, 1, 0, stream>>>(x, 5);
    CUDA(cudaMemcpyAsync(s.pinned, x, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaLaunchHostFunc(stream, after_copy, &s));
    CUDA(cudaMemcpyAsync(y, s.pinned, sizeof(int), cudaMemcpyHostToDevice, stream));
    add<<<1, 1, 0, stream>>>(x, y);
    CUDA(cudaStreamAddCallback(stream, old_style, &s, 0));
    CUDA(cudaStreamSynchronize(stream));
    check(s.calls == 2 && s.seen[0] == 5, "a host function sees the work before it");
    check(download(x, 1)[0] == 1005, "the work behind it sees what it did");
    check_error(s.status, cudaSuccess, "a callback is told how the work went");

    cudaDeviceProp properties;
    CUDA(cudaGetDeviceProperties(&properties, 0));
    if (strncmp(properties.name, "Heddle", 6) == 0) { // NVIDIA's driver forbids it, and hangs
        s.device = x;
        CUDA(cudaLaunchHostFunc(0, uses_cuda, &s));
        CUDA(cudaDeviceSynchronize());
        check(s.calls == 3 && s.seen[2] == 1005, "a host function that uses CUDA comes to its end");
        check(download(s.device, 1)[0] == 77, "and so does a thread that it starts");
    }
    check_error(cudaLaunchHostFunc(stream, nullptr, &s), cudaErrorInvalidValue, "no function");
    check_error(cudaStreamAddCallback(stream, old_style, &s, 1), cudaErrorInvalidValue, "unknown flags");
    CUDA(cudaStreamDestroy(stream));
    return finish();
}
