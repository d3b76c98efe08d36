// What the runtime says of kernels and of how many blocks fit, and that launches agree with it.
// nvcc:
#include "check.h"

__global__ void plain(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
__global__ void __launch_bounds__(128, 2) bounded(int *out) { out[threadIdx.x] = 1; }
__global__ void greedy(int *out)
{
    __shared__ int values[8192];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}
__global__ void with_dynamic(int *out)
{
    extern __shared__ int values[];
    out[threadIdx.x] = values[threadIdx.x];
}

int main()
{
    cudaDeviceProp device;
    CUDA(cudaGetDeviceProperties(&device, 0));
    cudaFuncAttributes attributes;
    CUDA(cudaFuncGetAttributes(&attributes, greedy));
    check(attributes.sharedSizeBytes == 32768 && attributes.numRegs > 0 && attributes.maxThreadsPerBlock > 0, "attributes of a kernel");
    check(attributes.ptxVersion == 75, "its PTX version");
    CUDA(cudaFuncGetAttributes(&attributes, bounded));
    check(attributes.maxThreadsPerBlock == 128, "launch bounds");
    int *out = zeros<int>(1024), blocks = 0, few = 0, none = 0;
    bounded<<<1, 256>>>(out);
    check(cudaGetLastError() != cudaSuccess, "more threads than the bounds");
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 128, 0));
    check(blocks >= 1 && blocks * 128 <= device.maxThreadsPerMultiProcessor, "blocks of a small kernel");
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, greedy, 128, 0));
    check(few >= 1 && few * 32768 <= (int)device.sharedMemPerMultiprocessor && few < blocks, "blocks by shared memory");
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&none, with_dynamic, 128, device.sharedMemPerMultiprocessor * 2));
    check(none == 0, "none fits");
    int least = 0, size = 0;
    CUDA(cudaOccupancyMaxPotentialBlockSize(&least, &size, plain, 0, 0));
    check(size >= 32 && size <= device.maxThreadsPerBlock && size % 32 == 0 && least >= device.multiProcessorCount, "the best size of a block");
    plain<<<1, size>>>(out);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&least, &size, with_dynamic, [](int threads) { return threads * 4; }, 256));
    check(size >= 32 && size <= 256, "shared memory that grows with the block");
    size_t bytes = 0;
    CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, with_dynamic, 1, 128));
    check(bytes > 0 && bytes <= device.sharedMemPerMultiprocessor, "shared memory left");
    CUDA(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferL1));
    CUDA(cudaFuncSetAttribute(plain, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    check_error(cudaFuncGetAttributes(&attributes, (const void *)&failures), no_kernel, "no kernel");
    cudaGetLastError();
    return finish();
}
