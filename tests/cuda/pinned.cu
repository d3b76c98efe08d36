// Pinned host memory: allocated, registered, mapped into the device, and its flags.
// nvcc: -arch=compute_75
#include "check.h"

__global__ void add(int *data, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&data[i], value);
}

enum { N = 500 };

static bool all(const int *data, int wanted)
{
    for (int i = 0; i < N; i++)
        if (data[i] != wanted)
            return false;
    return true;
}

static void allocated()
{
    int *pinned, *seen, *device;
    unsigned int flags = 0;
    CUDA(cudaHostAlloc(&pinned, N * sizeof(int), cudaHostAllocMapped | cudaHostAllocWriteCombined));
    for (int i = 0; i < N; i++)
        pinned[i] = 5;
    CUDA(cudaHostGetDevicePointer(&seen, pinned, 0));
    add<<<4, 128>>>(seen, N, 2);
    CUDA(cudaDeviceSynchronize());
    check(all(pinned, 7), "a kernel writes mapped memory");
    CUDA(cudaHostGetFlags(&flags, pinned));
    check(flags == (cudaHostAllocMapped | cudaHostAllocWriteCombined), "its flags");
    CUDA(cudaMalloc(&device, N * sizeof(int)));
    CUDA(cudaMemcpyAsync(device, pinned, N * sizeof(int), cudaMemcpyHostToDevice, 0));
    add<<<4, 128>>>(device, N, -7);
    CUDA(cudaMemcpyAsync(pinned, device, N * sizeof(int), cudaMemcpyDeviceToHost, 0));
    CUDA(cudaDeviceSynchronize());
    check(all(pinned, 0), "copies of pinned memory");
    check_error(cudaFree(pinned), cudaErrorInvalidValue, "it is not device memory");
    check_error(cudaHostUnregister(pinned), cudaErrorInvalidValue, "nor was it registered");
    check_error(cudaFreeHost(pinned + 1), cudaErrorInvalidValue, "its middle is not freed");
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaFreeHost(nullptr));
    check_error(cudaFreeHost(device), cudaErrorInvalidValue, "device memory is not pinned memory");
    check_error(cudaHostAlloc(&pinned, 16, 64), cudaErrorInvalidValue, "flags that do not exist");
    CUDA(cudaHostAlloc(&pinned, 0, 0));
    check(pinned == nullptr, "no bytes are a null pointer");
    CUDA(cudaFree(device));
}

static void registered()
{
    int *mine = nullptr, *seen = nullptr;
    unsigned int flags = 0;
    if (posix_memalign((void **)&mine, 4096, 8192))
        exit(1);
    for (int i = 0; i < N; i++)
        mine[i] = i == 0 ? 1 : 1;
    CUDA(cudaHostRegister(mine, 8192, cudaHostRegisterMapped | cudaHostRegisterPortable));
    CUDA(cudaHostGetDevicePointer(&seen, mine, 0));
    add<<<4, 128>>>(seen, N, 9);
    CUDA(cudaDeviceSynchronize());
    check(all(mine, 10), "a kernel writes memory of the program's own");
    CUDA(cudaHostGetFlags(&flags, mine));
    check(flags == (cudaHostRegisterMapped | cudaHostRegisterPortable), "its flags");
    check_error(cudaHostRegister(mine, 8192, 0), cudaErrorHostMemoryAlreadyRegistered, "it is registered once");
    check_error(cudaFreeHost(mine), cudaErrorInvalidValue, "and not freed by the runtime");
    CUDA(cudaHostUnregister(mine));
    check_error(cudaHostUnregister(mine), cudaErrorHostMemoryNotRegistered, "nor taken back twice");
    check_error(cudaHostGetDevicePointer(&seen, mine, 0), cudaErrorInvalidValue, "then the device does not see it");
    check_error(cudaHostRegister(nullptr, 10, 0), cudaErrorInvalidValue, "a null pointer");
    check_error(cudaHostRegister(mine, 0, 0), cudaErrorInvalidValue, "no bytes");
    cudaGetLastError();
    free(mine);
}

int main()
{
    allocated();
    registered();
    return finish();
}
