/* Device properties: the name, the memory and the identity of the device, and its attributes, which are most of the
 * fields. One table a layout says which attribute goes where. */
#include "cudart/properties.h"

#include <string.h>

_Static_assert(sizeof(struct properties_11) == 728, "as compiled into programs of CUDA 11");
_Static_assert(sizeof(struct properties_12) == 1032, "as compiled into programs of CUDA 12");
_Static_assert(sizeof(struct properties_13) == 1008, "as compiled into programs of CUDA 13");

struct field {
    CUdevice_attribute attribute;
    size_t offset, bytes;
};

#define FIELD(type, name, attribute) \
    {CU_DEVICE_ATTRIBUTE_##attribute, offsetof(struct type, name), sizeof((struct type *)0)->name},

#define COMMON_FIELDS(type)                                                                           \
    FIELD(type, sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK)                                       \
    FIELD(type, regsPerBlock, MAX_REGISTERS_PER_BLOCK)                                                \
    FIELD(type, warpSize, WARP_SIZE)                                                                  \
    FIELD(type, memPitch, MAX_PITCH)                                                                  \
    FIELD(type, maxThreadsPerBlock, MAX_THREADS_PER_BLOCK)                                            \
    FIELD(type, maxThreadsDim[0], MAX_BLOCK_DIM_X)                                                    \
    FIELD(type, maxThreadsDim[1], MAX_BLOCK_DIM_Y)                                                    \
    FIELD(type, maxThreadsDim[2], MAX_BLOCK_DIM_Z)                                                    \
    FIELD(type, maxGridSize[0], MAX_GRID_DIM_X)                                                       \
    FIELD(type, maxGridSize[1], MAX_GRID_DIM_Y)                                                       \
    FIELD(type, maxGridSize[2], MAX_GRID_DIM_Z)                                                       \
    FIELD(type, totalConstMem, TOTAL_CONSTANT_MEMORY)                                                 \
    FIELD(type, major, COMPUTE_CAPABILITY_MAJOR)                                                      \
    FIELD(type, minor, COMPUTE_CAPABILITY_MINOR)                                                      \
    FIELD(type, textureAlignment, TEXTURE_ALIGNMENT)                                                  \
    FIELD(type, texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT)                                       \
    FIELD(type, multiProcessorCount, MULTIPROCESSOR_COUNT)                                            \
    FIELD(type, integrated, INTEGRATED)                                                               \
    FIELD(type, canMapHostMemory, CAN_MAP_HOST_MEMORY)                                                \
    FIELD(type, maxTexture1D, MAXIMUM_TEXTURE1D_WIDTH)                                                \
    FIELD(type, maxTexture1DMipmap, MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH)                                \
    FIELD(type, maxTexture2D[0], MAXIMUM_TEXTURE2D_WIDTH)                                             \
    FIELD(type, maxTexture2D[1], MAXIMUM_TEXTURE2D_HEIGHT)                                            \
    FIELD(type, maxTexture2DMipmap[0], MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH)                             \
    FIELD(type, maxTexture2DMipmap[1], MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT)                            \
    FIELD(type, maxTexture2DLinear[0], MAXIMUM_TEXTURE2D_LINEAR_WIDTH)                                \
    FIELD(type, maxTexture2DLinear[1], MAXIMUM_TEXTURE2D_LINEAR_HEIGHT)                               \
    FIELD(type, maxTexture2DLinear[2], MAXIMUM_TEXTURE2D_LINEAR_PITCH)                                \
    FIELD(type, maxTexture2DGather[0], MAXIMUM_TEXTURE2D_GATHER_WIDTH)                                \
    FIELD(type, maxTexture2DGather[1], MAXIMUM_TEXTURE2D_GATHER_HEIGHT)                               \
    FIELD(type, maxTexture3D[0], MAXIMUM_TEXTURE3D_WIDTH)                                             \
    FIELD(type, maxTexture3D[1], MAXIMUM_TEXTURE3D_HEIGHT)                                            \
    FIELD(type, maxTexture3D[2], MAXIMUM_TEXTURE3D_DEPTH)                                             \
    FIELD(type, maxTexture3DAlt[0], MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE)                                \
    FIELD(type, maxTexture3DAlt[1], MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE)                               \
    FIELD(type, maxTexture3DAlt[2], MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE)                                \
    FIELD(type, maxTextureCubemap, MAXIMUM_TEXTURECUBEMAP_WIDTH)                                      \
    FIELD(type, maxTexture1DLayered[0], MAXIMUM_TEXTURE1D_LAYERED_WIDTH)                              \
    FIELD(type, maxTexture1DLayered[1], MAXIMUM_TEXTURE1D_LAYERED_LAYERS)                             \
    FIELD(type, maxTexture2DLayered[0], MAXIMUM_TEXTURE2D_LAYERED_WIDTH)                              \
    FIELD(type, maxTexture2DLayered[1], MAXIMUM_TEXTURE2D_LAYERED_HEIGHT)                             \
    FIELD(type, maxTexture2DLayered[2], MAXIMUM_TEXTURE2D_LAYERED_LAYERS)                             \
    FIELD(type, maxTextureCubemapLayered[0], MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH)                    \
    FIELD(type, maxTextureCubemapLayered[1], MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS)                   \
    FIELD(type, maxSurface1D, MAXIMUM_SURFACE1D_WIDTH)                                                \
    FIELD(type, maxSurface2D[0], MAXIMUM_SURFACE2D_WIDTH)                                             \
    FIELD(type, maxSurface2D[1], MAXIMUM_SURFACE2D_HEIGHT)                                            \
    FIELD(type, maxSurface3D[0], MAXIMUM_SURFACE3D_WIDTH)                                             \
    FIELD(type, maxSurface3D[1], MAXIMUM_SURFACE3D_HEIGHT)                                            \
    FIELD(type, maxSurface3D[2], MAXIMUM_SURFACE3D_DEPTH)                                             \
    FIELD(type, maxSurface1DLayered[0], MAXIMUM_SURFACE1D_LAYERED_WIDTH)                              \
    FIELD(type, maxSurface1DLayered[1], MAXIMUM_SURFACE1D_LAYERED_LAYERS)                             \
    FIELD(type, maxSurface2DLayered[0], MAXIMUM_SURFACE2D_LAYERED_WIDTH)                              \
    FIELD(type, maxSurface2DLayered[1], MAXIMUM_SURFACE2D_LAYERED_HEIGHT)                             \
    FIELD(type, maxSurface2DLayered[2], MAXIMUM_SURFACE2D_LAYERED_LAYERS)                             \
    FIELD(type, maxSurfaceCubemap, MAXIMUM_SURFACECUBEMAP_WIDTH)                                      \
    FIELD(type, maxSurfaceCubemapLayered[0], MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH)                    \
    FIELD(type, maxSurfaceCubemapLayered[1], MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS)                   \
    FIELD(type, surfaceAlignment, SURFACE_ALIGNMENT)                                                  \
    FIELD(type, concurrentKernels, CONCURRENT_KERNELS)                                                \
    FIELD(type, ECCEnabled, ECC_ENABLED)                                                              \
    FIELD(type, pciBusID, PCI_BUS_ID)                                                                 \
    FIELD(type, pciDeviceID, PCI_DEVICE_ID)                                                           \
    FIELD(type, pciDomainID, PCI_DOMAIN_ID)                                                           \
    FIELD(type, tccDriver, TCC_DRIVER)                                                                \
    FIELD(type, asyncEngineCount, ASYNC_ENGINE_COUNT)                                                 \
    FIELD(type, unifiedAddressing, UNIFIED_ADDRESSING)                                                \
    FIELD(type, memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH)                                              \
    FIELD(type, l2CacheSize, L2_CACHE_SIZE)                                                           \
    FIELD(type, persistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE)                               \
    FIELD(type, maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR)                          \
    FIELD(type, streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED)                               \
    FIELD(type, globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED)                                    \
    FIELD(type, localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED)                                      \
    FIELD(type, sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)                     \
    FIELD(type, regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR)                              \
    FIELD(type, managedMemory, MANAGED_MEMORY)                                                        \
    FIELD(type, isMultiGpuBoard, MULTI_GPU_BOARD)                                                     \
    FIELD(type, multiGpuBoardGroupID, MULTI_GPU_BOARD_GROUP_ID)                                       \
    FIELD(type, hostNativeAtomicSupported, HOST_NATIVE_ATOMIC_SUPPORTED)                              \
    FIELD(type, pageableMemoryAccess, PAGEABLE_MEMORY_ACCESS)                                         \
    FIELD(type, concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS)                                   \
    FIELD(type, computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED)                             \
    FIELD(type, canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)           \
    FIELD(type, cooperativeLaunch, COOPERATIVE_LAUNCH)                                                \
    FIELD(type, sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)                            \
    FIELD(type, pageableMemoryAccessUsesHostPageTables, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES) \
    FIELD(type, directManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST)                  \
    FIELD(type, maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR)                            \
    FIELD(type, accessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE)                             \
    FIELD(type, reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK)

/* Attributes of their own since CUDA 13. */
#define OLDER_FIELDS(type)                                                               \
    FIELD(type, clockRate, CLOCK_RATE)                                                   \
    FIELD(type, deviceOverlap, GPU_OVERLAP)                                              \
    FIELD(type, kernelExecTimeoutEnabled, KERNEL_EXEC_TIMEOUT)                           \
    FIELD(type, computeMode, COMPUTE_MODE)                                               \
    FIELD(type, maxTexture1DLinear, MAXIMUM_TEXTURE1D_LINEAR_WIDTH)                      \
    FIELD(type, memoryClockRate, MEMORY_CLOCK_RATE)                                      \
    FIELD(type, singleToDoublePrecisionPerfRatio, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO) \
    FIELD(type, cooperativeMultiDeviceLaunch, COOPERATIVE_MULTI_DEVICE_LAUNCH)

#define NEWER_FIELDS(type)                                                                \
    FIELD(type, hostRegisterSupported, HOST_REGISTER_SUPPORTED)                           \
    FIELD(type, sparseCudaArraySupported, SPARSE_CUDA_ARRAY_SUPPORTED)                    \
    FIELD(type, hostRegisterReadOnlySupported, READ_ONLY_HOST_REGISTER_SUPPORTED)         \
    FIELD(type, timelineSemaphoreInteropSupported, TIMELINE_SEMAPHORE_INTEROP_SUPPORTED)  \
    FIELD(type, memoryPoolsSupported, MEMORY_POOLS_SUPPORTED)                             \
    FIELD(type, gpuDirectRDMASupported, GPU_DIRECT_RDMA_SUPPORTED)                        \
    FIELD(type, gpuDirectRDMAFlushWritesOptions, GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS)    \
    FIELD(type, gpuDirectRDMAWritesOrdering, GPU_DIRECT_RDMA_WRITES_ORDERING)             \
    FIELD(type, memoryPoolSupportedHandleTypes, MEMPOOL_SUPPORTED_HANDLE_TYPES)           \
    FIELD(type, deferredMappingCudaArraySupported, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED) \
    FIELD(type, ipcEventSupported, IPC_EVENT_SUPPORTED)                                   \
    FIELD(type, clusterLaunch, CLUSTER_LAUNCH)                                            \
    FIELD(type, unifiedFunctionPointers, UNIFIED_FUNCTION_POINTERS)                       \
    FIELD(type, deviceNumaConfig, NUMA_CONFIG)                                            \
    FIELD(type, deviceNumaId, NUMA_ID)                                                    \
    FIELD(type, mpsEnabled, MPS_ENABLED)                                                  \
    FIELD(type, hostNumaId, HOST_NUMA_ID)                                                 \
    FIELD(type, gpuPciDeviceID, GPU_PCI_DEVICE_ID)                                        \
    FIELD(type, gpuPciSubsystemID, GPU_PCI_SUBSYSTEM_ID)                                  \
    FIELD(type, hostNumaMultinodeIpcSupported, HOST_NUMA_MULTINODE_IPC_SUPPORTED)

static const struct field fields_11[] = {COMMON_FIELDS(properties_11) OLDER_FIELDS(properties_11)};
static const struct field fields_12[] = {COMMON_FIELDS(properties_12) OLDER_FIELDS(properties_12)
                                             NEWER_FIELDS(properties_12)};
static const struct field fields_13[] = {COMMON_FIELDS(properties_13) NEWER_FIELDS(properties_13)};

static int fill_attributes(char *out, const struct field *fields, size_t count, int device)
{
    int r = cudaSuccess;
    for (size_t i = 0; i < count && r == cudaSuccess; i++) {
        int value = 0;
        r = cuDeviceGetAttribute(&value, fields[i].attribute, device);
        size_t wide = (size_t)value;
        memcpy(out + fields[i].offset, fields[i].bytes == sizeof wide ? (const void *)&wide : &value, fields[i].bytes);
    }
    return r;
}

/* What is no attribute stands at the same place in all layouts. */
static int fill(void *out, size_t bytes, const struct field *fields, size_t count, int device)
{
    struct properties_13 *head = out;
    CUuuid id;
    int r = !out ? cudaErrorInvalidValue : cuInit(0) ?: device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
    if (r != cudaSuccess)
        return r;
    memset(out, 0, bytes);
    r = cuDeviceGetName(head->name, sizeof head->name, device) ?: cuDeviceGetUuid(&id, device);
    r = r ?: (int)cuDeviceTotalMem(&head->totalGlobalMem, device);
    if (r == cudaSuccess)
        memcpy(head->uuid, &id, sizeof head->uuid);
    return r ?: fill_attributes(out, fields, count, device);
}

#define COUNT(table) (sizeof table / sizeof *table)
int properties_fill_11(struct properties_11 *out, int device)
{
    return fill(out, sizeof *out, fields_11, COUNT(fields_11), device);
}
int properties_fill_12(struct properties_12 *out, int device)
{
    return fill(out, sizeof *out, fields_12, COUNT(fields_12), device);
}
int properties_fill_13(struct properties_13 *out, int device)
{
    return fill(out, sizeof *out, fields_13, COUNT(fields_13), device);
}
