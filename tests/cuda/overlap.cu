// Do kernels of several streams run together: one that waits for a later one, one that waits for the host, and, where time is modelled, in the time of one?
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -default-stream per-thread
#include "check.h"

#include <cstdlib>
#include <cstring>
#include <thread>

__global__ void await(volatile int *flag, int value, int *out)
{
    while (*flag != value)
        ;
    *out = value;
}
__global__ void raise(volatile int *flag, int value) { *flag = value; }
__global__ void work(int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum * 3 + i;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static cudaStream_t a, b;

static void hand_over()
{
    int *flag = zeros<int>(1), *out = zeros<int>(1);
    await<<<1, 1, 0, a>>>(flag, 5, out);
    raise<<<1, 1, 0, b>>>(flag, 5);
    CUDA(cudaStreamSynchronize(a));
    int *host;
    CUDA(cudaMallocHost(&host, sizeof(int)));
    CUDA(cudaMemcpyAsync(host, out, sizeof(int), cudaMemcpyDeviceToHost, a));
    CUDA(cudaStreamSynchronize(a));
    check(*host == 5, "a kernel that waits for a later kernel of another stream");
    CUDA(cudaFree(flag));
    CUDA(cudaFree(out));
    CUDA(cudaFreeHost(host));
}

static void wait_for_host()
{
    volatile int *flag;
    int *out;
    CUDA(cudaHostAlloc((void **)&flag, sizeof(int), cudaHostAllocMapped));
    CUDA(cudaMallocHost(&out, sizeof(int)));
    *flag = *out = 0;
    await<<<1, 1, 0, a>>>(flag, 6, out);
    check_error(cudaStreamQuery(a), cudaErrorNotReady, "a kernel that waits has not ended");
    *flag = 6;
    CUDA(cudaStreamSynchronize(a));
    check(*out == 6, "a kernel that waits for the host");
    await<<<1, 1, 0, a>>>(flag, 7, out);
    std::thread other([flag] { raise<<<1, 1, 0, b>>>((volatile int *)flag, 7); });
    CUDA(cudaStreamSynchronize(a));
    other.join();
    check(*out == 7, "a kernel that waits for one that another thread launches");
    CUDA(cudaFreeHost((void *)flag));
    CUDA(cudaFreeHost(out));
}

/* Milliseconds for two kernels. */
static float two(cudaStream_t first, cudaStream_t second, int *out, int steps)
{
    cudaEvent_t start, end[2];
    float ms[2];
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventRecord(start, first));
    CUDA(cudaStreamWaitEvent(second, start, 0));
    work<<<2, 64, 0, first>>>(out, steps);
    work<<<2, 64, 0, second>>>(out + 128, steps);
    for (int i = 0; i < 2; i++) {
        CUDA(cudaEventCreate(&end[i]));
        CUDA(cudaEventRecord(end[i], i ? second : first));
    }
    for (int i = 0; i < 2; i++) {
        CUDA(cudaEventSynchronize(end[i]));
        CUDA(cudaEventElapsedTime(&ms[i], start, end[i]));
        CUDA(cudaEventDestroy(end[i]));
    }
    CUDA(cudaEventDestroy(start));
    return ms[0] > ms[1] ? ms[0] : ms[1];
}

int main()
{
    const char *options = getenv("HEDDLE_OPTIONS");
    setenv("CUDA_MODULE_LOADING", "EAGER", 1); // a GPU does not load a kernel while another runs
    CUDA(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    hand_over();
    wait_for_host();
    int *out = zeros<int>(256);
    int steps = options ? 5000 : 5000000; // long beside what launches take on a GPU
    two(a, a, out, steps);
    float in_order = two(a, a, out, steps), together = two(a, b, out, steps);
    check((options && strstr(options, "--functional")) || together < 0.6f * in_order, "two small kernels take the time of one");
    std::vector<int> sums = download(out, 256);
    bool equal = true;
    for (int sum : sums)
        equal &= sum == sums[0];
    check(equal && sums[0] != 0, "and compute the same");
    return finish();
}
