// Kernels that launch kernels: nested, in streams, into the tail stream, with copies between, in the tree of a quicksort.
// nvcc: -rdc=true -lcudadevrt
// nvcc: -rdc=true -arch=compute_90 -lcudadevrt
#include "check.h"
#include <algorithm>

__global__ void add(int *out, int amount) { atomicAdd(out, amount); }
__global__ void nested(int *out, int depth)
{
    if (threadIdx.x == 0 && depth > 0) {
        nested<<<1, 2>>>(out, depth - 1);
        add<<<2, 16>>>(out, depth);
    }
}
__global__ void double_it(int *data)
{
    extern __shared__ int stage[];
    stage[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = stage[threadIdx.x] * 2;
}
// In one stream: three kernels in order, then a copy. The tail comes after all of it.
__global__ void last(int *out, const int *data) { *out = data[7]; }
__global__ void ordered(int *data, int *copy, int *out, int *errors)
{
    last<<<1, 1, 0, cudaStreamTailLaunch>>>(out, copy);
    cudaStream_t stream;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
        atomicAdd(errors, 1);
    for (int i = 0; i < 3; i++)
        double_it<<<1, 32, 32 * sizeof(int), stream>>>(data);
    if (cudaMemcpyAsync(copy, data, 32 * sizeof(int), cudaMemcpyDeviceToDevice, stream) != cudaSuccess || cudaGetLastError() != cudaSuccess)
        atomicAdd(errors, 1);
    cudaStreamDestroy(stream);
}
__global__ void quicksort(int *data, int left, int right)
{
    if (right - left < 8) {
        for (int i = left + 1; i <= right; i++)
            for (int j = i; j > left && data[j] < data[j - 1]; j--) {
                int swap = data[j];
                data[j] = data[j - 1];
                data[j - 1] = swap;
            }
        return;
    }
    int pivot = data[(left + right) / 2], i = left, j = right;
    while (i <= j) {
        while (data[i] < pivot)
            i++;
        while (data[j] > pivot)
            j--;
        if (i <= j) {
            int swap = data[i];
            data[i++] = data[j];
            data[j--] = swap;
        }
    }
    if (left < j)
        quicksort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, left, j);
    if (i < right)
        quicksort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, i, right);
}

int main()
{
    int *out = zeros<int>(1), *errors = zeros<int>(1);
    nested<<<1, 32>>>(out, 5);
    CUDA(cudaDeviceSynchronize());
    check(download(out, 1)[0] == 32 * 15, "nested five deep");
    std::vector<int> host(32);
    for (int i = 0; i < 32; i++)
        host[i] = i + 1;
    int *data = upload(host), *copy = zeros<int>(32);
    ordered<<<1, 1>>>(data, copy, out, errors);
    CUDA(cudaDeviceSynchronize());
    check(download(out, 1)[0] == 64 && download(copy, 32)[31] == 256, "in the order of a stream, the tail last");
    check(download(errors, 1)[0] == 0, "no errors");
    random_numbers random(31);
    std::vector<int> numbers(500);
    for (int &x : numbers)
        x = random.next() % 1000;
    int *sorted = upload(numbers);
    quicksort<<<1, 1>>>(sorted, 0, 499);
    CUDA(cudaDeviceSynchronize());
    std::sort(numbers.begin(), numbers.end());
    check(download(sorted, 500) == numbers, "a quicksort that launches itself");
    return finish();
}
