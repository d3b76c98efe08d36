// Allocations in stream order, and the pools they come from.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -default-stream per-thread
#include "check.h"

__global__ void fill(int *data, int n, int value)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[i] = value + i;
}

static unsigned long long attribute(cudaMemPool_t pool, cudaMemPoolAttr which)
{
    unsigned long long value = 0;
    CUDA(cudaMemPoolGetAttribute(pool, which, &value));
    return value;
}

int main()
{
    cudaMemPool_t standard, current, own;
    cudaStream_t stream;
    int *a, *b, host[100];
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaDeviceGetDefaultMemPool(&standard, 0));
    CUDA(cudaDeviceGetMemPool(&current, 0));
    check(standard == current, "the pool of the device is the default one");
    CUDA(cudaMallocAsync(&a, sizeof host, stream));
    fill<<<1, 32, 0, stream>>>(a, 100, 7);
    CUDA(cudaMemcpyAsync(host, a, sizeof host, cudaMemcpyDeviceToHost, stream));
    check(attribute(standard, cudaMemPoolAttrUsedMemCurrent) >= sizeof host, "what is used is counted");
    CUDA(cudaFreeAsync(a, stream));
    CUDA(cudaStreamSynchronize(stream));
    check(host[0] == 7 && host[99] == 106, "allocated, used and freed in stream order");
    check(attribute(standard, cudaMemPoolAttrUsedMemCurrent) == 0, "and no longer used");
    check(attribute(standard, cudaMemPoolAttrUsedMemHigh) >= sizeof host, "but it was");

    cudaMemPoolProps p = {};
    p.allocType = cudaMemAllocationTypePinned;
    p.location = {cudaMemLocationTypeDevice, 0};
    CUDA(cudaMemPoolCreate(&own, &p));
    unsigned long long threshold = 1 << 20;
    CUDA(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
    check(attribute(own, cudaMemPoolAttrReleaseThreshold) == 1 << 20, "a pool of one's own keeps what it is told");
    CUDA(cudaMallocFromPoolAsync(&a, 4000, own, stream));
    CUDA(cudaDeviceSetMemPool(0, own));
    CUDA(cudaMallocAsync(&b, 4000, stream));
    check(attribute(own, cudaMemPoolAttrUsedMemCurrent) >= 8000 && attribute(standard, cudaMemPoolAttrUsedMemCurrent) == 0, "two ways to allocate from it");
    cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
    CUDA(cudaMemPoolGetAccess(&flags, own, &p.location));
    check(flags == cudaMemAccessFlagsProtReadWrite, "the device may read and write it");
    CUDA(cudaFreeAsync(a, stream));
    CUDA(cudaStreamSynchronize(stream));
    check_error(cudaFree(b), cudaSuccess, "freed out of stream order");
    CUDA(cudaMemPoolTrimTo(own, 0));
    CUDA(cudaMemPoolDestroy(own));
    CUDA(cudaDeviceGetMemPool(&current, 0));
    check(current == standard, "a destroyed pool is not the device's");

    p.location = {cudaMemLocationTypeHost, 0};
    CUDA(cudaMemPoolCreate(&own, &p));
    CUDA(cudaMallocFromPoolAsync(&a, 400, own, stream));
    CUDA(cudaStreamSynchronize(stream));
    a[7] = 1;
    cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
    CUDA(cudaMemPoolGetAccess(&flags, own, &access.location));
    check(flags == cudaMemAccessFlagsProtNone, "the host's memory is not the device's");
    CUDA(cudaMemPoolSetAccess(own, &access, 1));
    CUDA(cudaMemPoolGetAccess(&flags, own, &access.location));
    check(flags == cudaMemAccessFlagsProtReadWrite, "unless it is given access");
    fill<<<1, 32, 0, stream>>>(a, 100, 50);
    CUDA(cudaStreamSynchronize(stream));
    check(a[7] == 57, "a pool in the host's memory");
    CUDA(cudaFreeAsync(a, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemPoolDestroy(own));

    a = (int *)&a;
    check_error(cudaMallocAsync(&a, 0, stream), cudaSuccess, "no bytes");
    check(a == nullptr, "are a null pointer");
    check_error(cudaFreeAsync(nullptr, stream), cudaSuccess, "which may be freed");
    check_error(cudaFreeAsync(host, stream), cudaErrorInvalidValue, "the host's memory may not");
    check_error(cudaMemPoolDestroy(standard), cudaErrorInvalidValue, "the default pool stays");
    check_error(cudaMallocAsync(&a, (size_t)1 << 60, stream), cudaErrorMemoryAllocation, "more than there is");
    check_error(cudaDeviceGetMemPool(&current, 99), cudaErrorInvalidValue, "the pool of no device");
    cudaGetLastError();
    CUDA(cudaStreamDestroy(stream));
    return finish();
}
