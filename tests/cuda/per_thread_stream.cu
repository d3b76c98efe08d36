// -default-stream per-thread: every host thread has a default stream of its own, and the runtime is called by other names.
// nvcc: -arch=compute_75 -default-stream per-thread
#include "check.h"
#include <thread>

__device__ int total;
__global__ void fill(int *data, int value, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] += value;
    if (i == 0)
        atomicAdd(&total, value);
}

static void work(int number, int *result)
{
    const int count = 1000;
    int *data = nullptr;
    std::vector<int> host(count);
    CUDA(cudaMalloc(&data, count * sizeof(int)));
    CUDA(cudaMemsetAsync(data, 0, count * sizeof(int)));
    for (int i = 0; i < 5; i++)
        fill<<<8, 128>>>(data, number, count);
    CUDA(cudaMemcpyAsync(host.data(), data, count * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA(cudaStreamSynchronize(0));
    *result = 1;
    for (int i = 0; i < count; i++)
        if (host[i] != 5 * number)
            *result = 0;
    CUDA(cudaFree(data));
}

int main()
{
    const int threads = 6;
    int results[threads] = {};
    std::vector<std::thread> list;
    for (int t = 0; t < threads; t++)
        list.emplace_back(work, t + 1, &results[t]);
    for (std::thread &t : list)
        t.join();
    bool good = true;
    for (int r : results)
        good = good && r;
    check(good, "each thread's own stream");
    int sum = 0;
    CUDA(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    check(sum == 5 * 21, "all of them together");
    cudaEvent_t event;
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventRecord(event));
    CUDA(cudaEventSynchronize(event));
    check_error(cudaEventQuery(event), cudaSuccess, "event in the thread's stream");
    check_error(cudaStreamQuery(0), cudaSuccess, "the thread's stream is idle");
    CUDA(cudaEventDestroy(event));
    return finish();
}
