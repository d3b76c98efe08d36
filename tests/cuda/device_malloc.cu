// The heap of the device: malloc, free, new, delete, memory that lives from one kernel to the next.
// nvcc: -arch=compute_75
#include "check.h"

struct node {
    int value;
    node *next;
    __device__ node(int v, node *n) : value(v), next(n) {}
};
__device__ node *lists[64];

__global__ void build(int length)
{
    node *list = nullptr;
    for (int i = 0; i < length; i++)
        list = new node(threadIdx.x * 100 + i, list);
    lists[threadIdx.x] = list;
}
__global__ void sum_and_free(int *out)
{
    int sum = 0;
    for (node *n = lists[threadIdx.x]; n;) {
        node *next = n->next;
        sum += n->value;
        delete n;
        n = next;
    }
    out[threadIdx.x] = sum;
}
__global__ void arrays(int *out)
{
    int *mine = (int *)malloc((threadIdx.x + 1) * sizeof(int));
    if (!mine) {
        out[threadIdx.x] = -1;
        return;
    }
    memset(mine, 0, (threadIdx.x + 1) * sizeof(int));
    for (unsigned i = 0; i <= threadIdx.x; i++)
        mine[i] += (int)i;
    int sum = 0;
    for (unsigned i = 0; i <= threadIdx.x; i++)
        sum += mine[i];
    free(mine);
    out[threadIdx.x] = sum;
}
__global__ void one_for_all(int *out)
{
    __shared__ int *data;
    if (threadIdx.x == 0)
        data = new int[blockDim.x];
    __syncthreads();
    data[threadIdx.x] = threadIdx.x * 3;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        delete[] data;
}
__global__ void too_much(int *out) { *out = malloc(1ull << 40) == nullptr; }

int main()
{
    size_t size = 0;
    CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    CUDA(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
    check(size >= 16 << 20, "size of the heap");
    int *out = zeros<int>(256);
    build<<<1, 64>>>(20);
    sum_and_free<<<1, 64>>>(out);
    std::vector<int> got = download(out, 256);
    bool good = true;
    for (int t = 0; t < 64; t++)
        good = good && got[t] == 20 * 100 * t + 190;
    check(good, "lists from one kernel to the next");
    arrays<<<1, 256>>>(out);
    got = download(out, 256);
    good = true;
    for (int t = 0; t < 256; t++)
        good = good && got[t] == t * (t + 1) / 2;
    check(good, "arrays of many sizes");
    one_for_all<<<4, 64>>>(out);
    got = download(out, 256);
    good = true;
    for (int i = 0; i < 256; i++)
        good = good && got[i] == (63 - i % 64) * 3;
    check(good, "one allocation of a block");
    too_much<<<1, 1>>>(out);
    check(download(out, 1)[0] == 1, "more than there is");
    return finish();
}
