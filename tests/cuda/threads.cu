// Several host threads use the device at once: each has its own last error, and their work does not mix.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -default-stream per-thread
#include "check.h"

#include <atomic>
#include <thread>

__global__ void fill(int *x, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value + i;
}
__device__ int shared_total;
__global__ void total(const int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&shared_total, x[i]);
}

enum { THREADS = 6, ROUNDS = 8, N = 500 };

static bool one_round(cudaStream_t stream, int *device, int value)
{
    int host[N];
    fill<<<(N + 63) / 64, 64, 0, stream>>>(device, value, N);
    if (cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream) != cudaSuccess || cudaStreamSynchronize(stream) != cudaSuccess)
        return false;
    for (int i = 0; i < N; i++)
        if (host[i] != value + i)
            return false;
    return true;
}

static void worker(int number, std::atomic<int> *good, std::atomic<int> *errors)
{
    cudaStream_t stream;
    int *device;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess || cudaMalloc(&device, N * sizeof(int)) != cudaSuccess)
        return;
    for (int round = 0; round < ROUNDS; round++) {
        if (number % 2)
            cudaSetDevice(5); // an error of this thread alone
        *good += one_round(stream, device, number * 1000 + round);
        cudaError_t expected = number % 2 ? cudaErrorInvalidDevice : cudaSuccess;
        *errors += cudaGetLastError() != expected;
    }
    fill<<<(N + 63) / 64, 64, 0, stream>>>(device, 1, N);
    total<<<(N + 63) / 64, 64, 0, stream>>>(device, N);
    cudaStreamSynchronize(stream);
    cudaFree(device);
    cudaStreamDestroy(stream);
}

int main()
{
    std::atomic<int> good(0), errors(0);
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(worker, i, &good, &errors);
    for (std::thread &t : threads)
        t.join();
    check(good == THREADS * ROUNDS, "every thread gets its own results");
    check(errors == 0, "every thread has its own last error");
    int sum = 0;
    CUDA(cudaMemcpyFromSymbol(&sum, shared_total, sizeof sum));
    check(sum == THREADS * (N * (N + 1) / 2), "threads share the module's variables");
    return finish();
}
