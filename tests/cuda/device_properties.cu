// Do the properties, the attributes and the limits of the device agree with each other and with what kernels find?
// nvcc: -arch=compute_75
#include "check.h"

#include <cstring>

__global__ void ask(int *out)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        out[0] = warpSize;
        out[1] = blockDim.x;
        out[2] = gridDim.y;
    }
}

static int attribute(cudaDeviceAttr which)
{
    int value = -1;
    CUDA(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

static void properties()
{
    cudaDeviceProp p;
    memset(&p, 0xff, sizeof p);
    CUDA(cudaGetDeviceProperties(&p, 0));
    check(p.name[0] && memchr(p.name, 0, sizeof p.name), "the device has a name");
    check(p.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount) && p.multiProcessorCount > 0, "cores");
    check(p.warpSize == 32 && attribute(cudaDevAttrWarpSize) == 32, "warp size");
    check(p.maxThreadsPerBlock == 1024 && p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[2] == 64, "block limits");
    check(p.maxGridSize[0] == 0x7fffffff && p.maxGridSize[1] == 65535 && p.maxGridSize[2] == 65535, "grid limits");
    check(p.major == attribute(cudaDevAttrComputeCapabilityMajor) && p.minor == attribute(cudaDevAttrComputeCapabilityMinor), "compute capability");
    check(p.sharedMemPerBlock == (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlock), "shared memory of a block");
    check(p.sharedMemPerMultiprocessor == (size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor), "shared memory of a core");
    check(p.sharedMemPerBlockOptin == (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), "shared memory by request");
    check(p.regsPerMultiprocessor == attribute(cudaDevAttrMaxRegistersPerMultiprocessor) && p.regsPerBlock > 0, "registers");
    check(p.l2CacheSize == attribute(cudaDevAttrL2CacheSize) && p.l2CacheSize > 0, "L2");
    check(p.memoryBusWidth == attribute(cudaDevAttrGlobalMemoryBusWidth) && p.memoryBusWidth > 0, "memory bus");
    check(p.maxThreadsPerMultiProcessor == attribute(cudaDevAttrMaxThreadsPerMultiProcessor), "threads of a core");
    check(p.maxBlocksPerMultiProcessor == attribute(cudaDevAttrMaxBlocksPerMultiprocessor), "blocks of a core");
    check(p.totalConstMem == 65536, "constant memory");
    check(p.unifiedAddressing == 1 && p.managedMemory == 1 && p.canMapHostMemory == 1 && p.cooperativeLaunch == 1 && p.memoryPoolsSupported == 1, "features that are there");
    check(p.pciBusID == attribute(cudaDevAttrPciBusId) && p.pciDomainID == 0, "PCI numbers");
    check(p.textureAlignment == (size_t)attribute(cudaDevAttrTextureAlignment) && p.surfaceAlignment == (size_t)attribute(cudaDevAttrSurfaceAlignment), "alignments");
    check(p.maxTexture2D[1] == attribute(cudaDevAttrMaxTexture2DHeight) && p.maxSurfaceCubemapLayered[1] == attribute(cudaDevAttrMaxSurfaceCubemapLayeredLayers), "texture sizes");
    check(attribute(cudaDevAttrClockRate) > 0 && attribute(cudaDevAttrMemoryClockRate) > 0, "clocks");

    size_t free_bytes = 0, total_bytes = 0;
    CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
    check(total_bytes == p.totalGlobalMem && free_bytes <= total_bytes, "memory size");

    cudaDeviceProp again;
    CUDA(cudaGetDeviceProperties(&again, 0));
    check(memcmp(&p.uuid, &again.uuid, sizeof p.uuid) == 0 && strcmp(p.name, again.name) == 0, "the device is the same when asked again");

    int chosen = -1;
    CUDA(cudaChooseDevice(&chosen, &p));
    check(chosen == 0, "the device that fits is device 0");
}

static void identity()
{
    int count = 0, device = -1, version = 0, runtime = 0;
    char id[32] = "";
    CUDA(cudaGetDeviceCount(&count));
    CUDA(cudaGetDevice(&device));
    CUDA(cudaDriverGetVersion(&version));
    CUDA(cudaRuntimeGetVersion(&runtime));
    check(count == 1 && device == 0, "one device, number 0");
    check(version >= runtime && runtime >= 11000, "the driver is as new as the runtime");
    CUDA(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    device = -1;
    CUDA(cudaDeviceGetByPCIBusId(&device, id));
    check(device == 0, "the device is found by its PCI id");
}

static void limits()
{
    size_t value = 0;
    CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    CUDA(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    check(value == 4096, "stack limit is kept");
    CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    CUDA(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    check(value == 16 << 20, "heap limit is kept");
    cudaDeviceProp p;
    CUDA(cudaGetDeviceProperties(&p, 0));
    check_error(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)1 << 40), cudaErrorInvalidValue, "no more of the L2 persists than there is");
    CUDA(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, p.persistingL2CacheMaxSize));
    CUDA(cudaDeviceGetLimit(&value, cudaLimitPersistingL2CacheSize));
    check(value == (size_t)p.persistingL2CacheMaxSize && p.persistingL2CacheMaxSize <= p.l2CacheSize && p.accessPolicyMaxWindowSize > 0, "what persists is kept");
    cudaGetLastError();
    CUDA(cudaCtxResetPersistingL2Cache());
    CUDA(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    cudaFuncCache cache;
    CUDA(cudaDeviceGetCacheConfig(&cache));
    check(cache == cudaFuncCachePreferL1, "cache preference is kept");
    int least = 1, greatest = 1;
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    check(least == 0 && greatest < 0, "stream priorities");
    cudaChannelFormatDesc texel = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    CUDA(cudaDeviceGetTexture1DLinearMaxWidth(&value, &texel, 0));
    check(value >= 1 << 27, "width of a linear texture");
    unsigned flags = 0;
    CUDA(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    CUDA(cudaGetDeviceFlags(&flags));
    check((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleBlockingSync, "device flags are kept");
    CUDA(cudaInitDevice(0, 0, 0));
}

static void kernels_agree()
{
    int *out = zeros<int>(3);
    ask<<<dim3(2, 3), 64>>>(out);
    std::vector<int> got = download(out, 3);
    check(got[0] == 32 && got[1] == 64 && got[2] == 3, "a kernel sees its shape");
    CUDA(cudaDeviceReset());
    out = zeros<int>(3);
    ask<<<dim3(2, 5), 96>>>(out);
    got = download(out, 3);
    check(got[1] == 96 && got[2] == 5, "and again after a reset");
}

int main()
{
    identity();
    properties();
    limits();
    kernels_agree();
    return finish();
}
