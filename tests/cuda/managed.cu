// Managed memory: shared by host and kernels without copies; advice, prefetching and what is remembered of them; attaching to streams.
// nvcc: -arch=compute_75
#include "check.h"

__global__ void square(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= data[i];
}
struct list { int value; list *next; };
__global__ void sum(const list *head, int *out)
{
    int total = 0;
    for (; head; head = head->next)
        total += head->value;
    *out = total;
}

static int attribute(const void *p, size_t bytes, cudaMemRangeAttribute which)
{
    int value = 99;
    CUDA(cudaMemRangeGetAttribute(&value, sizeof value, which, p, bytes));
    return value;
}

int main()
{
    enum { N = 1000 };
    const size_t bytes = N * sizeof(float);
    float *data;
    CUDA(cudaMallocManaged(&data, bytes));
    for (int i = 0; i < N; i++)
        data[i] = (float)i;
    const cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0}, nowhere = {cudaMemLocationTypeDevice, 77};
    check(attribute(data, bytes, cudaMemRangeAttributePreferredLocation) == cudaInvalidDeviceId, "nothing is preferred at first");
    CUDA(cudaMemAdvise(data, bytes, cudaMemAdviseSetReadMostly, device));
    CUDA(cudaMemAdvise(data, bytes, cudaMemAdviseSetPreferredLocation, device));
    CUDA(cudaMemAdvise(data, bytes, cudaMemAdviseSetAccessedBy, device));
    CUDA(cudaMemPrefetchAsync(data, bytes, device, 0));
    square<<<8, 128>>>(data, N);
    CUDA(cudaMemPrefetchAsync(data, bytes, host, 0));
    CUDA(cudaDeviceSynchronize());
    bool good = true;
    for (int i = 0; i < N; i++)
        good &= data[i] == (float)i * i;
    check(good, "written by the host, squared by a kernel, read by the host");
    check(attribute(data, bytes, cudaMemRangeAttributeReadMostly) == 1, "advice is remembered");
    check(attribute(data, bytes, cudaMemRangeAttributePreferredLocation) == 0, "with its place");
    check(attribute(data, bytes, cudaMemRangeAttributeLastPrefetchLocation) == cudaCpuDeviceId, "and the last prefetch");
    CUDA(cudaMemAdvise(data, bytes, cudaMemAdviseUnsetReadMostly, device));
    check(attribute(data, bytes, cudaMemRangeAttributeReadMostly) == 0, "advice is taken back");
    check_error(cudaMemAdvise(data, 0, cudaMemAdviseSetReadMostly, device), cudaErrorInvalidValue, "advice for nothing");
    check_error(cudaMemPrefetchAsync(data, bytes, nowhere, 0), cudaErrorInvalidDevice, "a prefetch to a device that is not there");
    float *none;
    check_error(cudaMallocManaged(&none, 16, 8), cudaErrorInvalidValue, "flags that do not exist");

    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamAttachMemAsync(stream, data));
    CUDA(cudaStreamAttachMemAsync(0, data, 0, cudaMemAttachGlobal));
    check_error(cudaStreamAttachMemAsync(0, data, 0, cudaMemAttachSingle), cudaErrorInvalidValue, "attached to one stream, but to none");
    void *ranges[] = {data};
    size_t sizes[] = {bytes}, first[] = {0};
    cudaMemLocation places[] = {device};
    CUDA(cudaMemPrefetchBatchAsync(ranges, sizes, 1, places, first, 1, 0, stream));
    check(attribute(data, bytes, cudaMemRangeAttributeLastPrefetchLocation) == 0, "a batch of prefetches");
    CUDA(cudaStreamDestroy(stream));

    list *nodes[10];
    int *total;
    CUDA(cudaMallocManaged(&total, sizeof *total, cudaMemAttachGlobal));
    for (int i = 0; i < 10; i++) {
        CUDA(cudaMallocManaged(&nodes[i], sizeof(list)));
        *nodes[i] = {i + 1, i ? nodes[i - 1] : nullptr};
    }
    sum<<<1, 1>>>(nodes[9], total);
    CUDA(cudaDeviceSynchronize());
    check(*total == 55, "a list whose pointers hold on both sides");
    for (list *n : nodes)
        CUDA(cudaFree(n));
    CUDA(cudaFree(total));

    int plain = 3, *device_int;
    CUDA(cudaMalloc(&device_int, sizeof(int)));
    check_error(cudaMemAdvise(device_int, 4, cudaMemAdviseSetReadMostly, device), cudaErrorInvalidValue, "advice for device memory");
    check_error(cudaMemPrefetchAsync(device_int, 4, device, 0), cudaErrorInvalidValue, "a prefetch of it");
    CUDA(cudaMemcpy(data, &plain, sizeof plain, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(device_int, data, sizeof plain, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy(&plain, device_int, sizeof plain, cudaMemcpyDeviceToHost));
    check(plain == 3, "copies to and from it");
    cudaGetLastError();
    CUDA(cudaFree(device_int));
    CUDA(cudaFree(data));
    return finish();
}
