// Variables of the device: copies to and from them, their addresses and sizes.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -default-stream per-thread
// nvcc: -arch=compute_75 -rdc=true
#include "check.h"

struct pair { int a; double b; };
__device__ int numbers[16];
__constant__ float factors[4] = {1, 2, 3, 4};
__device__ pair one = {3, 4.5};
__managed__ int shared_with_host[4] = {1, 2, 3, 4};
static __device__ int hidden = 17;

__global__ void multiply(int n)
{
    if (threadIdx.x < n)
        numbers[threadIdx.x] *= (int)factors[threadIdx.x % 4];
    if (threadIdx.x == 0) {
        one.a += 1;
        shared_with_host[2] += hidden;
    }
}

int main()
{
    int host[16], device_sum = 0;
    for (int i = 0; i < 16; i++)
        host[i] = i;
    CUDA(cudaMemcpyToSymbol(numbers, host, sizeof host));
    float changed[2] = {10, 20};
    CUDA(cudaMemcpyToSymbol(factors, changed, sizeof changed, 2 * sizeof(float)));
    multiply<<<1, 32>>>(16);
    CUDA(cudaMemcpyFromSymbol(host, numbers, sizeof host));
    const int factor[4] = {1, 2, 10, 20};
    bool good = true;
    for (int i = 0; i < 16; i++)
        good &= host[i] == i * factor[i % 4];
    check(good, "arrays in global and constant memory, whole and in part");

    pair back = {0, 0};
    CUDA(cudaMemcpyFromSymbol(&back, one, sizeof back));
    check(back.a == 4 && back.b == 4.5, "a structure with a first value");
    CUDA(cudaMemcpyFromSymbolAsync(&back.a, one, sizeof(int), 0, cudaMemcpyDeviceToHost, 0));
    CUDA(cudaStreamSynchronize(0));
    check(back.a == 4, "a member of it");

    void *address = nullptr;
    size_t size = 0;
    CUDA(cudaGetSymbolAddress(&address, numbers));
    CUDA(cudaGetSymbolSize(&size, numbers));
    check(size == sizeof host, "the size of a variable");
    CUDA(cudaMemcpy(&device_sum, (int *)address + 5, sizeof(int), cudaMemcpyDeviceToHost));
    check(device_sum == 10, "its address");
    CUDA(cudaMemcpyToSymbol(numbers, address, 4 * sizeof(int), 8 * sizeof(int), cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpyFromSymbol(host, numbers, sizeof host));
    check(host[8] == host[0] && host[9] == host[1] && host[11] == host[3], "from one part of it to another");

    check(shared_with_host[2] == 3 + 17, "a managed variable, and one of this file alone");
    CUDA(cudaGetSymbolAddress(&address, shared_with_host));
    check(address == (void *)shared_with_host, "whose address is the host's");
    int two[2] = {70, 80};
    CUDA(cudaMemcpyToSymbol(shared_with_host, two, sizeof two, 2 * sizeof(int)));
    check(shared_with_host[1] == 2 && shared_with_host[3] == 80, "copied to as a symbol");

    check_error(cudaMemcpyToSymbol(numbers, host, sizeof host + 4), cudaErrorInvalidValue, "more than it holds");
    check_error(cudaMemcpyToSymbol(numbers, host, 4, sizeof host - 3), cudaErrorInvalidValue, "past its end");
    check_error(cudaMemcpyToSymbol(numbers, host, 4, 0, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection, "the wrong direction");
    check_error(cudaMemcpyFromSymbol(host, numbers, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidMemcpyDirection, "the wrong direction back");
    check_error(cudaMemcpyToSymbol((const void *)host, host, 4), cudaErrorInvalidSymbol, "what is not a variable of the device");
    check_error(cudaGetSymbolAddress(&address, (const void *)host), cudaErrorInvalidSymbol, "has no address there");
    check_error(cudaGetSymbolSize(&size, (const void *)"numbers"), cudaErrorInvalidSymbol, "nor does a name");
    check_error(cudaMemcpyToSymbol((const void *)host, host, 0), cudaSuccess, "nothing goes anywhere");
    cudaGetLastError();
    return finish();
}
