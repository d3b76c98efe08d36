/* Device properties as programs of each generation of CUDA lay them out. CUDA 12 appended to the structure of CUDA 11,
 * under a new symbol; CUDA 13 took out of it what became attributes.
 *
 * The parts that all have in common are macros, so that the three structures show where they differ. */
#ifndef HEDDLE_CUDART_PROPERTIES_H
#define HEDDLE_CUDART_PROPERTIES_H

#include "cudart/types.h"

#define PROPERTIES_HEAD                       \
    char name[256];                           \
    char uuid[16];                            \
    char luid[8];                             \
    unsigned int luidDeviceNodeMask;          \
    size_t totalGlobalMem, sharedMemPerBlock; \
    int regsPerBlock, warpSize;               \
    size_t memPitch;                          \
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
#define PROPERTIES_CAPABILITY \
    size_t totalConstMem;     \
    int major, minor;         \
    size_t textureAlignment, texturePitchAlignment;
#define PROPERTIES_TEXTURES                                                                                    \
    int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], \
        maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3],                 \
        maxTextureCubemapLayered[2];                                                                           \
    int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3],        \
        maxSurfaceCubemap, maxSurfaceCubemapLayered[2];                                                        \
    size_t surfaceAlignment;                                                                                   \
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount,        \
        unifiedAddressing;
#define PROPERTIES_MEMORY                                                                                              \
    int memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported, \
        globalL1CacheSupported, localL1CacheSupported;                                                                 \
    size_t sharedMemPerMultiprocessor;                                                                                 \
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
#define PROPERTIES_ACCESS                                                                                             \
    int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem, \
        cooperativeLaunch;
#define PROPERTIES_LIMITS                                                                                   \
    size_t sharedMemPerBlockOptin;                                                                          \
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor, \
        accessPolicyMaxWindowSize;                                                                          \
    size_t reservedSharedMemPerBlock;
/* Since CUDA 12.0; the second line took over reserved words later. */
#define PROPERTIES_TAIL                                                                               \
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,               \
        timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;              \
    unsigned int gpuDirectRDMAFlushWritesOptions;                                                     \
    int gpuDirectRDMAWritesOrdering;                                                                  \
    unsigned int memoryPoolSupportedHandleTypes;                                                      \
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers; \
    int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;                                       \
    unsigned int gpuPciDeviceID, gpuPciSubsystemID;                                                   \
    int hostNumaMultinodeIpcSupported, reserved[56];

#define PROPERTIES_TO_11                                                                                         \
    PROPERTIES_HEAD                                                                                              \
    int clockRate;                                                                                               \
    PROPERTIES_CAPABILITY                                                                                        \
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode, \
        maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;                                                    \
    PROPERTIES_TEXTURES                                                                                          \
    int memoryClockRate;                                                                                         \
    PROPERTIES_MEMORY                                                                                            \
    int singleToDoublePrecisionPerfRatio;                                                                        \
    PROPERTIES_ACCESS                                                                                            \
    int cooperativeMultiDeviceLaunch;                                                                            \
    PROPERTIES_LIMITS

struct properties_11 {
    PROPERTIES_TO_11
};
struct properties_12 {
    PROPERTIES_TO_11 PROPERTIES_TAIL
};
struct properties_13 {
    PROPERTIES_HEAD
    PROPERTIES_CAPABILITY
    int multiProcessorCount, integrated, canMapHostMemory, maxTexture1D, maxTexture1DMipmap;
    PROPERTIES_TEXTURES
    PROPERTIES_MEMORY
    PROPERTIES_ACCESS
    PROPERTIES_LIMITS
    PROPERTIES_TAIL
};

/* All fields of the structure; cudaErrorInvalidDevice: there is no such device. */
int properties_fill_11(struct properties_11 *out, int device);
int properties_fill_12(struct properties_12 *out, int device);
int properties_fill_13(struct properties_13 *out, int device);

#endif
