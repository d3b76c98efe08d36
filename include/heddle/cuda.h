/* The CUDA driver API as Heddle provides it: source and binary compatible with NVIDIA's cuda.h of CUDA 13.0, so that a
 * program compiled against either header runs with either libcuda.so.1.
 *
 * Only what a single-GPU program without graphics needs is declared. External memory and semaphores, graphics
 * interoperability, multicast, green contexts, tensor maps, checkpoints and core dumps are left out; libcuda.so.1 has
 * their symbols and refuses them by name. What each call means is described in NVIDIA's "CUDA Driver API" reference
 * manual. */
#ifndef HEDDLE_CUDA_H
#define HEDDLE_CUDA_H
#ifndef __cuda_cuda_h__ /* whichever of the two headers comes first wins */
#define __cuda_cuda_h__

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define CUDA_VERSION 13000
#define CUDAAPI
#define CUDA_CB

#ifdef __cplusplus
extern "C" {
#endif

/* Names. A call whose signature changed over the years has a version in its symbol; compiled with
 * CUDA_API_PER_THREAD_DEFAULT_STREAM, stream 0 means the calling thread's stream. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __CUDA_API_PTDS(api) api##_ptds
#define __CUDA_API_PTSZ(api) api##_ptsz
#else
#define __CUDA_API_PTDS(api) api
#define __CUDA_API_PTSZ(api) api
#endif

#define cuDeviceTotalMem                  cuDeviceTotalMem_v2
#define cuModuleGetGlobal                 cuModuleGetGlobal_v2
#define cuMemGetInfo                      cuMemGetInfo_v2
#define cuMemAlloc                        cuMemAlloc_v2
#define cuMemAllocPitch                   cuMemAllocPitch_v2
#define cuMemFree                         cuMemFree_v2
#define cuMemGetAddressRange              cuMemGetAddressRange_v2
#define cuMemAllocHost                    cuMemAllocHost_v2
#define cuMemHostGetDevicePointer         cuMemHostGetDevicePointer_v2
#define cuMemAdvise                       cuMemAdvise_v2
#define cuMemPrefetchAsync                __CUDA_API_PTSZ(cuMemPrefetchAsync_v2)
#define cuMemcpyHtoD                      __CUDA_API_PTDS(cuMemcpyHtoD_v2)
#define cuMemcpyDtoH                      __CUDA_API_PTDS(cuMemcpyDtoH_v2)
#define cuMemcpyDtoD                      __CUDA_API_PTDS(cuMemcpyDtoD_v2)
#define cuMemcpyDtoA                      __CUDA_API_PTDS(cuMemcpyDtoA_v2)
#define cuMemcpyAtoD                      __CUDA_API_PTDS(cuMemcpyAtoD_v2)
#define cuMemcpyHtoA                      __CUDA_API_PTDS(cuMemcpyHtoA_v2)
#define cuMemcpyAtoH                      __CUDA_API_PTDS(cuMemcpyAtoH_v2)
#define cuMemcpyAtoA                      __CUDA_API_PTDS(cuMemcpyAtoA_v2)
#define cuMemcpyHtoAAsync                 __CUDA_API_PTSZ(cuMemcpyHtoAAsync_v2)
#define cuMemcpyAtoHAsync                 __CUDA_API_PTSZ(cuMemcpyAtoHAsync_v2)
#define cuMemcpy2D                        __CUDA_API_PTDS(cuMemcpy2D_v2)
#define cuMemcpy2DUnaligned               __CUDA_API_PTDS(cuMemcpy2DUnaligned_v2)
#define cuMemcpy3D                        __CUDA_API_PTDS(cuMemcpy3D_v2)
#define cuMemcpyHtoDAsync                 __CUDA_API_PTSZ(cuMemcpyHtoDAsync_v2)
#define cuMemcpyDtoHAsync                 __CUDA_API_PTSZ(cuMemcpyDtoHAsync_v2)
#define cuMemcpyDtoDAsync                 __CUDA_API_PTSZ(cuMemcpyDtoDAsync_v2)
#define cuMemcpy2DAsync                   __CUDA_API_PTSZ(cuMemcpy2DAsync_v2)
#define cuMemcpy3DAsync                   __CUDA_API_PTSZ(cuMemcpy3DAsync_v2)
#define cuMemcpyBatchAsync                __CUDA_API_PTSZ(cuMemcpyBatchAsync_v2)
#define cuMemcpy3DBatchAsync              __CUDA_API_PTSZ(cuMemcpy3DBatchAsync_v2)
#define cuMemsetD8                        __CUDA_API_PTDS(cuMemsetD8_v2)
#define cuMemsetD16                       __CUDA_API_PTDS(cuMemsetD16_v2)
#define cuMemsetD32                       __CUDA_API_PTDS(cuMemsetD32_v2)
#define cuMemsetD2D8                      __CUDA_API_PTDS(cuMemsetD2D8_v2)
#define cuMemsetD2D16                     __CUDA_API_PTDS(cuMemsetD2D16_v2)
#define cuMemsetD2D32                     __CUDA_API_PTDS(cuMemsetD2D32_v2)
#define cuArrayCreate                     cuArrayCreate_v2
#define cuArrayGetDescriptor              cuArrayGetDescriptor_v2
#define cuArray3DCreate                   cuArray3DCreate_v2
#define cuArray3DGetDescriptor            cuArray3DGetDescriptor_v2
#define cuTexRefSetAddress                cuTexRefSetAddress_v2
#define cuTexRefGetAddress                cuTexRefGetAddress_v2
#define cuCtxDestroy                      cuCtxDestroy_v2
#define cuCtxPopCurrent                   cuCtxPopCurrent_v2
#define cuCtxPushCurrent                  cuCtxPushCurrent_v2
#define cuStreamDestroy                   cuStreamDestroy_v2
#define cuEventDestroy                    cuEventDestroy_v2
#define cuTexRefSetAddress2D              cuTexRefSetAddress2D_v3
#define cuLinkCreate                      cuLinkCreate_v2
#define cuLinkAddData                     cuLinkAddData_v2
#define cuLinkAddFile                     cuLinkAddFile_v2
#define cuMemHostRegister                 cuMemHostRegister_v2
#define cuStreamBeginCapture              __CUDA_API_PTSZ(cuStreamBeginCapture_v2)
#define cuDevicePrimaryCtxRelease         cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset           cuDevicePrimaryCtxReset_v2
#define cuDevicePrimaryCtxSetFlags        cuDevicePrimaryCtxSetFlags_v2
#define cuDeviceGetUuid                   cuDeviceGetUuid_v2
#define cuIpcOpenMemHandle                cuIpcOpenMemHandle_v2
#define cuGraphInstantiate                cuGraphInstantiateWithFlags
#define cuGraphExecUpdate                 cuGraphExecUpdate_v2
#define cuGetProcAddress                  cuGetProcAddress_v2
#define cuGraphAddKernelNode              cuGraphAddKernelNode_v2
#define cuGraphKernelNodeGetParams        cuGraphKernelNodeGetParams_v2
#define cuGraphKernelNodeSetParams        cuGraphKernelNodeSetParams_v2
#define cuGraphExecKernelNodeSetParams    cuGraphExecKernelNodeSetParams_v2
#define cuGraphGetEdges                   cuGraphGetEdges_v2
#define cuGraphNodeGetDependencies        cuGraphNodeGetDependencies_v2
#define cuGraphNodeGetDependentNodes      cuGraphNodeGetDependentNodes_v2
#define cuGraphAddDependencies            cuGraphAddDependencies_v2
#define cuGraphRemoveDependencies         cuGraphRemoveDependencies_v2
#define cuGraphAddNode                    cuGraphAddNode_v2
#define cuEventElapsedTime                cuEventElapsedTime_v2
#define cuStreamWriteValue32              __CUDA_API_PTSZ(cuStreamWriteValue32_v2)
#define cuStreamWaitValue32               __CUDA_API_PTSZ(cuStreamWaitValue32_v2)
#define cuStreamWriteValue64              __CUDA_API_PTSZ(cuStreamWriteValue64_v2)
#define cuStreamWaitValue64               __CUDA_API_PTSZ(cuStreamWaitValue64_v2)
#define cuStreamBatchMemOp                __CUDA_API_PTSZ(cuStreamBatchMemOp_v2)
#define cuStreamGetCaptureInfo            __CUDA_API_PTSZ(cuStreamGetCaptureInfo_v3)
#define cuStreamUpdateCaptureDependencies __CUDA_API_PTSZ(cuStreamUpdateCaptureDependencies_v2)
#ifdef __CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cuMemcpy                     __CUDA_API_PTDS(cuMemcpy)
#define cuMemcpyAsync                __CUDA_API_PTSZ(cuMemcpyAsync)
#define cuMemcpyPeer                 __CUDA_API_PTDS(cuMemcpyPeer)
#define cuMemcpyPeerAsync            __CUDA_API_PTSZ(cuMemcpyPeerAsync)
#define cuMemcpy3DPeer               __CUDA_API_PTDS(cuMemcpy3DPeer)
#define cuMemcpy3DPeerAsync          __CUDA_API_PTSZ(cuMemcpy3DPeerAsync)
#define cuMemsetD8Async              __CUDA_API_PTSZ(cuMemsetD8Async)
#define cuMemsetD16Async             __CUDA_API_PTSZ(cuMemsetD16Async)
#define cuMemsetD32Async             __CUDA_API_PTSZ(cuMemsetD32Async)
#define cuMemsetD2D8Async            __CUDA_API_PTSZ(cuMemsetD2D8Async)
#define cuMemsetD2D16Async           __CUDA_API_PTSZ(cuMemsetD2D16Async)
#define cuMemsetD2D32Async           __CUDA_API_PTSZ(cuMemsetD2D32Async)
#define cuStreamGetPriority          __CUDA_API_PTSZ(cuStreamGetPriority)
#define cuStreamGetId                __CUDA_API_PTSZ(cuStreamGetId)
#define cuStreamGetFlags             __CUDA_API_PTSZ(cuStreamGetFlags)
#define cuStreamGetDevice            __CUDA_API_PTSZ(cuStreamGetDevice)
#define cuStreamGetCtx               __CUDA_API_PTSZ(cuStreamGetCtx)
#define cuStreamGetCtx_v2            __CUDA_API_PTSZ(cuStreamGetCtx_v2)
#define cuStreamWaitEvent            __CUDA_API_PTSZ(cuStreamWaitEvent)
#define cuStreamEndCapture           __CUDA_API_PTSZ(cuStreamEndCapture)
#define cuStreamIsCapturing          __CUDA_API_PTSZ(cuStreamIsCapturing)
#define cuStreamAddCallback          __CUDA_API_PTSZ(cuStreamAddCallback)
#define cuStreamAttachMemAsync       __CUDA_API_PTSZ(cuStreamAttachMemAsync)
#define cuStreamQuery                __CUDA_API_PTSZ(cuStreamQuery)
#define cuStreamSynchronize          __CUDA_API_PTSZ(cuStreamSynchronize)
#define cuEventRecord                __CUDA_API_PTSZ(cuEventRecord)
#define cuEventRecordWithFlags       __CUDA_API_PTSZ(cuEventRecordWithFlags)
#define cuLaunchKernel               __CUDA_API_PTSZ(cuLaunchKernel)
#define cuLaunchKernelEx             __CUDA_API_PTSZ(cuLaunchKernelEx)
#define cuLaunchHostFunc             __CUDA_API_PTSZ(cuLaunchHostFunc)
#define cuLaunchCooperativeKernel    __CUDA_API_PTSZ(cuLaunchCooperativeKernel)
#define cuGraphInstantiateWithParams __CUDA_API_PTSZ(cuGraphInstantiateWithParams)
#define cuGraphUpload                __CUDA_API_PTSZ(cuGraphUpload)
#define cuGraphLaunch                __CUDA_API_PTSZ(cuGraphLaunch)
#define cuStreamCopyAttributes       __CUDA_API_PTSZ(cuStreamCopyAttributes)
#define cuStreamGetAttribute         __CUDA_API_PTSZ(cuStreamGetAttribute)
#define cuStreamSetAttribute         __CUDA_API_PTSZ(cuStreamSetAttribute)
#define cuMemFreeAsync               __CUDA_API_PTSZ(cuMemFreeAsync)
#define cuMemAllocAsync              __CUDA_API_PTSZ(cuMemAllocAsync)
#define cuMemAllocFromPoolAsync      __CUDA_API_PTSZ(cuMemAllocFromPoolAsync)
#define cuStreamBeginCaptureToGraph  __CUDA_API_PTSZ(cuStreamBeginCaptureToGraph)
#endif

/* Handles and scalars. */
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
typedef unsigned long long CUdeviceptr_v2;
typedef CUdeviceptr_v2 CUdeviceptr;
typedef int CUdevice_v1;
typedef CUdevice_v1 CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUarray_st *CUarray;
typedef struct CUmipmappedArray_st *CUmipmappedArray;
typedef struct CUtexref_st *CUtexref;
typedef struct CUsurfref_st *CUsurfref;
typedef struct CUevent_st *CUevent;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUtexObject_v1;
typedef CUtexObject_v1 CUtexObject;
typedef unsigned long long CUsurfObject_v1;
typedef CUsurfObject_v1 CUsurfObject;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUuserObject_st *CUuserObject;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUgraphDeviceUpdatableNode_st *CUgraphDeviceNode;
typedef struct CUgreenCtx_st *CUgreenCtx;
typedef struct CUlinkState_st *CUlinkState;
typedef unsigned long long CUmemGenericAllocationHandle_v1;

/* clang-format off */
/* Constants. */
#define CU_IPC_HANDLE_SIZE                                            64
#define CU_STREAM_LEGACY                                              ((CUstream)0x1)
#define CU_STREAM_PER_THREAD                                          ((CUstream)0x2)
#define CU_COMPUTE_ACCELERATED_TARGET_BASE                            0x10000
#define CU_COMPUTE_FAMILY_TARGET_BASE                                 0x20000
#define CU_GRAPH_COND_ASSIGN_DEFAULT                                  0x1
#define CU_GRAPH_KERNEL_NODE_PORT_DEFAULT                             0
#define CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC                        1
#define CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER                        2
#define CU_KERNEL_NODE_ATTRIBUTE_ACCESS_POLICY_WINDOW                 CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
#define CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE                          CU_LAUNCH_ATTRIBUTE_COOPERATIVE
#define CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION                    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
#define CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE \
    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
#define CU_KERNEL_NODE_ATTRIBUTE_PRIORITY                             CU_LAUNCH_ATTRIBUTE_PRIORITY
#define CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP                  CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP
#define CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN                      CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN
#define CU_KERNEL_NODE_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION          CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION
#define CU_KERNEL_NODE_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE         CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE
#define CU_KERNEL_NODE_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT \
    CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
#define CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW                      CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
#define CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY                    CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY
#define CU_STREAM_ATTRIBUTE_PRIORITY                                  CU_LAUNCH_ATTRIBUTE_PRIORITY
#define CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP                       CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP
#define CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN                           CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN
#define CU_MEMHOSTALLOC_PORTABLE                                      0x01
#define CU_MEMHOSTALLOC_DEVICEMAP                                     0x02
#define CU_MEMHOSTALLOC_WRITECOMBINED                                 0x04
#define CU_MEMHOSTREGISTER_PORTABLE                                   0x01
#define CU_MEMHOSTREGISTER_DEVICEMAP                                  0x02
#define CU_MEMHOSTREGISTER_IOMEMORY                                   0x04
#define CU_MEMHOSTREGISTER_READ_ONLY                                  0x08
#define CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL                     0x1
#define CU_MEM_CREATE_USAGE_TILE_POOL                                 0x1
#define CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC       0x01
#define CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC      0x02
#define CUDA_ARRAY3D_LAYERED                                          0x01
#define CUDA_ARRAY3D_2DARRAY                                          0x01
#define CUDA_ARRAY3D_SURFACE_LDST                                     0x02
#define CUDA_ARRAY3D_CUBEMAP                                          0x04
#define CUDA_ARRAY3D_TEXTURE_GATHER                                   0x08
#define CUDA_ARRAY3D_DEPTH_TEXTURE                                    0x10
#define CUDA_ARRAY3D_COLOR_ATTACHMENT                                 0x20
#define CUDA_ARRAY3D_SPARSE                                           0x40
#define CUDA_ARRAY3D_DEFERRED_MAPPING                                 0x80
#define CUDA_ARRAY3D_VIDEO_ENCODE_DECODE                              0x100
#define CU_TRSA_OVERRIDE_FORMAT                                       0x01
#define CU_TRSF_READ_AS_INTEGER                                       0x01
#define CU_TRSF_NORMALIZED_COORDINATES                                0x02
#define CU_TRSF_SRGB                                                  0x10
#define CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION                        0x20
#define CU_TRSF_SEAMLESS_CUBEMAP                                      0x40
#define CU_LAUNCH_KERNEL_REQUIRED_BLOCK_DIM                           1
#define CU_LAUNCH_PARAM_END_AS_INT                                    0x00
#define CU_LAUNCH_PARAM_END                                           ((void*)CU_LAUNCH_PARAM_END_AS_INT)
#define CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT                         0x01
#define CU_LAUNCH_PARAM_BUFFER_POINTER                                ((void*)CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT)
#define CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT                            0x02
#define CU_LAUNCH_PARAM_BUFFER_SIZE                                   ((void*)CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT)
#define CU_PARAM_TR_DEFAULT                                           -1
#define CU_DEVICE_CPU                                                 ((CUdevice)-1)
#define CU_DEVICE_INVALID                                             ((CUdevice)-2)

/* Enumerations. */
typedef enum CUipcMem_flags_enum {
    CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 0x1,
} CUipcMem_flags;
typedef enum CUmemAttach_flags_enum {
    CU_MEM_ATTACH_GLOBAL = 0x1, CU_MEM_ATTACH_HOST = 0x2, CU_MEM_ATTACH_SINGLE = 0x4,
} CUmemAttach_flags;
typedef enum CUctx_flags_enum {
    CU_CTX_SCHED_AUTO = 0x0, CU_CTX_SCHED_SPIN = 0x1, CU_CTX_SCHED_YIELD = 0x2, CU_CTX_SCHED_BLOCKING_SYNC = 0x4,
    CU_CTX_BLOCKING_SYNC = 0x4, CU_CTX_SCHED_MASK = 0x7, CU_CTX_MAP_HOST = 0x8, CU_CTX_LMEM_RESIZE_TO_MAX = 0x10,
    CU_CTX_COREDUMP_ENABLE = 0x20, CU_CTX_USER_COREDUMP_ENABLE = 0x40, CU_CTX_SYNC_MEMOPS = 0x80,
    CU_CTX_FLAGS_MASK = 0xff,
} CUctx_flags;
typedef enum CUevent_sched_flags_enum {
    CU_EVENT_SCHED_AUTO = 0x0, CU_EVENT_SCHED_SPIN = 0x1, CU_EVENT_SCHED_YIELD = 0x2,
    CU_EVENT_SCHED_BLOCKING_SYNC = 0x4,
} CUevent_sched_flags;
typedef enum cl_event_flags_enum {
    NVCL_EVENT_SCHED_AUTO = 0x0, NVCL_EVENT_SCHED_SPIN = 0x1, NVCL_EVENT_SCHED_YIELD = 0x2,
    NVCL_EVENT_SCHED_BLOCKING_SYNC = 0x4,
} cl_event_flags;
typedef enum cl_context_flags_enum {
    NVCL_CTX_SCHED_AUTO = 0x0, NVCL_CTX_SCHED_SPIN = 0x1, NVCL_CTX_SCHED_YIELD = 0x2,
    NVCL_CTX_SCHED_BLOCKING_SYNC = 0x4,
} cl_context_flags;
typedef enum CUstream_flags_enum {
    CU_STREAM_DEFAULT = 0x0, CU_STREAM_NON_BLOCKING = 0x1,
} CUstream_flags;
typedef enum CUevent_flags_enum {
    CU_EVENT_DEFAULT = 0x0, CU_EVENT_BLOCKING_SYNC = 0x1, CU_EVENT_DISABLE_TIMING = 0x2, CU_EVENT_INTERPROCESS = 0x4,
} CUevent_flags;
typedef enum CUevent_record_flags_enum {
    CU_EVENT_RECORD_DEFAULT = 0x0, CU_EVENT_RECORD_EXTERNAL = 0x1,
} CUevent_record_flags;
typedef enum CUevent_wait_flags_enum {
    CU_EVENT_WAIT_DEFAULT = 0x0, CU_EVENT_WAIT_EXTERNAL = 0x1,
} CUevent_wait_flags;
typedef enum CUstreamWaitValue_flags_enum {
    CU_STREAM_WAIT_VALUE_GEQ = 0x0, CU_STREAM_WAIT_VALUE_EQ = 0x1, CU_STREAM_WAIT_VALUE_AND = 0x2,
    CU_STREAM_WAIT_VALUE_NOR = 0x3, CU_STREAM_WAIT_VALUE_FLUSH = 0x40000000,
} CUstreamWaitValue_flags;
typedef enum CUstreamWriteValue_flags_enum {
    CU_STREAM_WRITE_VALUE_DEFAULT = 0x0, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER = 0x1,
} CUstreamWriteValue_flags;
typedef enum CUstreamBatchMemOpType_enum {
    CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1, CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2, CU_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
    CU_STREAM_MEM_OP_WRITE_VALUE_64 = 5, CU_STREAM_MEM_OP_BARRIER = 6, CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3,
} CUstreamBatchMemOpType;
typedef enum CUstreamMemoryBarrier_flags_enum {
    CU_STREAM_MEMORY_BARRIER_TYPE_SYS = 0x0, CU_STREAM_MEMORY_BARRIER_TYPE_GPU = 0x1,
} CUstreamMemoryBarrier_flags;
typedef enum CUoccupancy_flags_enum {
    CU_OCCUPANCY_DEFAULT = 0x0, CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE = 0x1,
} CUoccupancy_flags;
typedef enum CUstreamUpdateCaptureDependencies_flags_enum {
    CU_STREAM_ADD_CAPTURE_DEPENDENCIES = 0x0, CU_STREAM_SET_CAPTURE_DEPENDENCIES = 0x1,
} CUstreamUpdateCaptureDependencies_flags;
typedef enum CUarray_format_enum {
    CU_AD_FORMAT_UNSIGNED_INT8 = 0x1, CU_AD_FORMAT_UNSIGNED_INT16 = 0x2, CU_AD_FORMAT_UNSIGNED_INT32 = 0x3,
    CU_AD_FORMAT_SIGNED_INT8 = 0x8, CU_AD_FORMAT_SIGNED_INT16 = 0x9, CU_AD_FORMAT_SIGNED_INT32 = 0xa,
    CU_AD_FORMAT_HALF = 0x10, CU_AD_FORMAT_FLOAT = 0x20, CU_AD_FORMAT_NV12 = 0xb0, CU_AD_FORMAT_UNORM_INT8X1 = 0xc0,
    CU_AD_FORMAT_UNORM_INT8X2 = 0xc1, CU_AD_FORMAT_UNORM_INT8X4 = 0xc2, CU_AD_FORMAT_UNORM_INT16X1 = 0xc3,
    CU_AD_FORMAT_UNORM_INT16X2 = 0xc4, CU_AD_FORMAT_UNORM_INT16X4 = 0xc5, CU_AD_FORMAT_SNORM_INT8X1 = 0xc6,
    CU_AD_FORMAT_SNORM_INT8X2 = 0xc7, CU_AD_FORMAT_SNORM_INT8X4 = 0xc8, CU_AD_FORMAT_SNORM_INT16X1 = 0xc9,
    CU_AD_FORMAT_SNORM_INT16X2 = 0xca, CU_AD_FORMAT_SNORM_INT16X4 = 0xcb, CU_AD_FORMAT_BC1_UNORM = 0x91,
    CU_AD_FORMAT_BC1_UNORM_SRGB = 0x92, CU_AD_FORMAT_BC2_UNORM = 0x93, CU_AD_FORMAT_BC2_UNORM_SRGB = 0x94,
    CU_AD_FORMAT_BC3_UNORM = 0x95, CU_AD_FORMAT_BC3_UNORM_SRGB = 0x96, CU_AD_FORMAT_BC4_UNORM = 0x97,
    CU_AD_FORMAT_BC4_SNORM = 0x98, CU_AD_FORMAT_BC5_UNORM = 0x99, CU_AD_FORMAT_BC5_SNORM = 0x9a,
    CU_AD_FORMAT_BC6H_UF16 = 0x9b, CU_AD_FORMAT_BC6H_SF16 = 0x9c, CU_AD_FORMAT_BC7_UNORM = 0x9d,
    CU_AD_FORMAT_BC7_UNORM_SRGB = 0x9e, CU_AD_FORMAT_P010 = 0x9f, CU_AD_FORMAT_P016 = 0xa1, CU_AD_FORMAT_NV16 = 0xa2,
    CU_AD_FORMAT_P210 = 0xa3, CU_AD_FORMAT_P216 = 0xa4, CU_AD_FORMAT_YUY2 = 0xa5, CU_AD_FORMAT_Y210 = 0xa6,
    CU_AD_FORMAT_Y216 = 0xa7, CU_AD_FORMAT_AYUV = 0xa8, CU_AD_FORMAT_Y410 = 0xa9, CU_AD_FORMAT_Y416 = 0xb1,
    CU_AD_FORMAT_Y444_PLANAR8 = 0xb2, CU_AD_FORMAT_Y444_PLANAR10 = 0xb3, CU_AD_FORMAT_YUV444_8bit_SemiPlanar = 0xb4,
    CU_AD_FORMAT_YUV444_16bit_SemiPlanar = 0xb5, CU_AD_FORMAT_UNORM_INT_101010_2 = 0x50, CU_AD_FORMAT_MAX = 0x7fffffff,
} CUarray_format;
typedef enum CUaddress_mode_enum {
    CU_TR_ADDRESS_MODE_WRAP = 0, CU_TR_ADDRESS_MODE_CLAMP = 1, CU_TR_ADDRESS_MODE_MIRROR = 2,
    CU_TR_ADDRESS_MODE_BORDER = 3,
} CUaddress_mode;
typedef enum CUfilter_mode_enum {
    CU_TR_FILTER_MODE_POINT = 0, CU_TR_FILTER_MODE_LINEAR = 1,
} CUfilter_mode;
typedef enum CUdevice_attribute_enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_SHARED_MEMORY_PER_BLOCK = 8, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10, CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12, CU_DEVICE_ATTRIBUTE_REGISTERS_PER_BLOCK = 12,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT = 14,
    CU_DEVICE_ATTRIBUTE_GPU_OVERLAP = 15, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17, CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH = 21, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH = 22,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT = 23, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH = 24,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT = 25, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH = 26,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH = 27, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT = 28,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS = 29, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_WIDTH = 27,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_HEIGHT = 28, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES = 29,
    CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT = 30, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
    CU_DEVICE_ATTRIBUTE_ECC_ENABLED = 32, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CU_DEVICE_ATTRIBUTE_TCC_DRIVER = 35, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH = 42,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS = 43, CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER = 44,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH = 45, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT = 46,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE = 47,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE = 48,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE = 49, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
    CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT = 51, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH = 52,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH = 53,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS = 54, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH = 55,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH = 56, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT = 57,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH = 58, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT = 59,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH = 60, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH = 61,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS = 62, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH = 63,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT = 64,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS = 65, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH = 66,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH = 67,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS = 68,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH = 69, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH = 70,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT = 71, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH = 72,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH = 73,
    CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT = 74, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH = 77,
    CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED = 78, CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED = 79,
    CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED = 80, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
    CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD = 84, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID = 85,
    CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED = 86,
    CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO = 87, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED = 90,
    CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
    CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1 = 92, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1 = 93,
    CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1 = 94, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH = 96,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES = 98,
    CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100,
    CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = 101,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED = 102,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED = 104,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED = 105,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106, CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED = 107,
    CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE = 108, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE = 109,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED = 110,
    CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111, CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED = 112,
    CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED = 113,
    CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED = 114, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED = 116, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS = 117,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING = 118, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES = 119,
    CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120, CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED = 121,
    CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS = 122, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR = 123,
    CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 124, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED = 125,
    CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT = 126, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED = 127,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED = 128, CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS = 129,
    CU_DEVICE_ATTRIBUTE_NUMA_CONFIG = 130, CU_DEVICE_ATTRIBUTE_NUMA_ID = 131,
    CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED = 132, CU_DEVICE_ATTRIBUTE_MPS_ENABLED = 133,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID = 134, CU_DEVICE_ATTRIBUTE_D3D12_CIG_SUPPORTED = 135,
    CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK = 136, CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH = 137,
    CU_DEVICE_ATTRIBUTE_VULKAN_CIG_SUPPORTED = 138, CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID = 139,
    CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID = 140,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 141,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED = 142,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED = 143, CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED = 144,
    CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 145,
    CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED = 146,
    CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED = 147, CU_DEVICE_ATTRIBUTE_MAX = 148,
} CUdevice_attribute;
typedef enum CUpointer_attribute_enum {
    CU_POINTER_ATTRIBUTE_CONTEXT = 1, CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2, CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
    CU_POINTER_ATTRIBUTE_HOST_POINTER = 4, CU_POINTER_ATTRIBUTE_P2P_TOKENS = 5, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
    CU_POINTER_ATTRIBUTE_BUFFER_ID = 7, CU_POINTER_ATTRIBUTE_IS_MANAGED = 8, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12, CU_POINTER_ATTRIBUTE_MAPPED = 13,
    CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14, CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
    CU_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
    CU_POINTER_ATTRIBUTE_MAPPING_SIZE = 18, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR = 19,
    CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID = 20, CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE = 21,
} CUpointer_attribute;
typedef enum CUfunction_attribute_enum {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3, CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_PTX_VERSION = 5, CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
    CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET = 10, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
    CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15, CU_FUNC_ATTRIBUTE_MAX = 16,
} CUfunction_attribute;
typedef enum CUfunc_cache_enum {
    CU_FUNC_CACHE_PREFER_NONE = 0x0, CU_FUNC_CACHE_PREFER_SHARED = 0x1, CU_FUNC_CACHE_PREFER_L1 = 0x2,
    CU_FUNC_CACHE_PREFER_EQUAL = 0x3,
} CUfunc_cache;
typedef enum CUsharedconfig_enum {
    CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE = 0x0, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE = 0x1,
    CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE = 0x2,
} CUsharedconfig;
typedef enum CUshared_carveout_enum {
    CU_SHAREDMEM_CARVEOUT_DEFAULT = -1, CU_SHAREDMEM_CARVEOUT_MAX_SHARED = 100, CU_SHAREDMEM_CARVEOUT_MAX_L1 = 0,
} CUshared_carveout;
typedef enum CUmemorytype_enum {
    CU_MEMORYTYPE_HOST = 0x1, CU_MEMORYTYPE_DEVICE = 0x2, CU_MEMORYTYPE_ARRAY = 0x3, CU_MEMORYTYPE_UNIFIED = 0x4,
} CUmemorytype;
typedef enum CUcomputemode_enum {
    CU_COMPUTEMODE_DEFAULT = 0, CU_COMPUTEMODE_PROHIBITED = 2, CU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
} CUcomputemode;
typedef enum CUmem_advise_enum {
    CU_MEM_ADVISE_SET_READ_MOSTLY = 1, CU_MEM_ADVISE_UNSET_READ_MOSTLY = 2, CU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
    CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4, CU_MEM_ADVISE_SET_ACCESSED_BY = 5, CU_MEM_ADVISE_UNSET_ACCESSED_BY = 6,
} CUmem_advise;
typedef enum CUmem_range_attribute_enum {
    CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
    CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 4,
    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 5, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 6,
    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8,
} CUmem_range_attribute;
typedef enum CUjit_option_enum {
    CU_JIT_MAX_REGISTERS = 0, CU_JIT_THREADS_PER_BLOCK = 1, CU_JIT_WALL_TIME = 2, CU_JIT_INFO_LOG_BUFFER = 3,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4, CU_JIT_ERROR_LOG_BUFFER = 5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
    CU_JIT_OPTIMIZATION_LEVEL = 7, CU_JIT_TARGET_FROM_CUCONTEXT = 8, CU_JIT_TARGET = 9, CU_JIT_FALLBACK_STRATEGY = 10,
    CU_JIT_GENERATE_DEBUG_INFO = 11, CU_JIT_LOG_VERBOSE = 12, CU_JIT_GENERATE_LINE_INFO = 13, CU_JIT_CACHE_MODE = 14,
    CU_JIT_NEW_SM3X_OPT = 15, CU_JIT_FAST_COMPILE = 16, CU_JIT_GLOBAL_SYMBOL_NAMES = 17,
    CU_JIT_GLOBAL_SYMBOL_ADDRESSES = 18, CU_JIT_GLOBAL_SYMBOL_COUNT = 19, CU_JIT_LTO = 20, CU_JIT_FTZ = 21,
    CU_JIT_PREC_DIV = 22, CU_JIT_PREC_SQRT = 23, CU_JIT_FMA = 24, CU_JIT_REFERENCED_KERNEL_NAMES = 25,
    CU_JIT_REFERENCED_KERNEL_COUNT = 26, CU_JIT_REFERENCED_VARIABLE_NAMES = 27, CU_JIT_REFERENCED_VARIABLE_COUNT = 28,
    CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES = 29, CU_JIT_POSITION_INDEPENDENT_CODE = 30, CU_JIT_MIN_CTA_PER_SM = 31,
    CU_JIT_MAX_THREADS_PER_BLOCK = 32, CU_JIT_OVERRIDE_DIRECTIVE_VALUES = 33, CU_JIT_SPLIT_COMPILE = 34,
    CU_JIT_NUM_OPTIONS = 35,
} CUjit_option;
typedef enum CUjit_target_enum {
    CU_TARGET_COMPUTE_30 = 30, CU_TARGET_COMPUTE_32 = 32, CU_TARGET_COMPUTE_35 = 35, CU_TARGET_COMPUTE_37 = 37,
    CU_TARGET_COMPUTE_50 = 50, CU_TARGET_COMPUTE_52 = 52, CU_TARGET_COMPUTE_53 = 53, CU_TARGET_COMPUTE_60 = 60,
    CU_TARGET_COMPUTE_61 = 61, CU_TARGET_COMPUTE_62 = 62, CU_TARGET_COMPUTE_70 = 70, CU_TARGET_COMPUTE_72 = 72,
    CU_TARGET_COMPUTE_75 = 75, CU_TARGET_COMPUTE_80 = 80, CU_TARGET_COMPUTE_86 = 86, CU_TARGET_COMPUTE_87 = 87,
    CU_TARGET_COMPUTE_89 = 89, CU_TARGET_COMPUTE_90 = 90, CU_TARGET_COMPUTE_100 = 100, CU_TARGET_COMPUTE_110 = 110,
    CU_TARGET_COMPUTE_103 = 103, CU_TARGET_COMPUTE_120 = 120, CU_TARGET_COMPUTE_121 = 121,
    CU_TARGET_COMPUTE_90A = 0x1005a, CU_TARGET_COMPUTE_100A = 0x10064, CU_TARGET_COMPUTE_110A = 0x1006e,
    CU_TARGET_COMPUTE_103A = 0x10067, CU_TARGET_COMPUTE_120A = 0x10078, CU_TARGET_COMPUTE_121A = 0x10079,
    CU_TARGET_COMPUTE_100F = 0x20064, CU_TARGET_COMPUTE_110F = 0x2006e, CU_TARGET_COMPUTE_103F = 0x20067,
    CU_TARGET_COMPUTE_120F = 0x20078, CU_TARGET_COMPUTE_121F = 0x20079,
} CUjit_target;
typedef enum CUjit_fallback_enum {
    CU_PREFER_PTX = 0, CU_PREFER_BINARY = 1,
} CUjit_fallback;
typedef enum CUjit_cacheMode_enum {
    CU_JIT_CACHE_OPTION_NONE = 0, CU_JIT_CACHE_OPTION_CG = 1, CU_JIT_CACHE_OPTION_CA = 2,
} CUjit_cacheMode;
typedef enum CUjitInputType_enum {
    CU_JIT_INPUT_CUBIN = 0, CU_JIT_INPUT_PTX = 1, CU_JIT_INPUT_FATBINARY = 2, CU_JIT_INPUT_OBJECT = 3,
    CU_JIT_INPUT_LIBRARY = 4, CU_JIT_INPUT_NVVM = 5, CU_JIT_NUM_INPUT_TYPES = 6,
} CUjitInputType;
typedef enum CUarray_cubemap_face_enum {
    CU_CUBEMAP_FACE_POSITIVE_X = 0x0, CU_CUBEMAP_FACE_NEGATIVE_X = 0x1, CU_CUBEMAP_FACE_POSITIVE_Y = 0x2,
    CU_CUBEMAP_FACE_NEGATIVE_Y = 0x3, CU_CUBEMAP_FACE_POSITIVE_Z = 0x4, CU_CUBEMAP_FACE_NEGATIVE_Z = 0x5,
} CUarray_cubemap_face;
typedef enum CUlimit_enum {
    CU_LIMIT_STACK_SIZE = 0x0, CU_LIMIT_PRINTF_FIFO_SIZE = 0x1, CU_LIMIT_MALLOC_HEAP_SIZE = 0x2,
    CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH = 0x3, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 0x4,
    CU_LIMIT_MAX_L2_FETCH_GRANULARITY = 0x5, CU_LIMIT_PERSISTING_L2_CACHE_SIZE = 0x6, CU_LIMIT_SHMEM_SIZE = 0x7,
    CU_LIMIT_CIG_ENABLED = 0x8, CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED = 0x9, CU_LIMIT_MAX = 10,
} CUlimit;
typedef enum CUresourcetype_enum {
    CU_RESOURCE_TYPE_ARRAY = 0x0, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 0x1, CU_RESOURCE_TYPE_LINEAR = 0x2,
    CU_RESOURCE_TYPE_PITCH2D = 0x3,
} CUresourcetype;
typedef enum CUaccessProperty_enum {
    CU_ACCESS_PROPERTY_NORMAL = 0, CU_ACCESS_PROPERTY_STREAMING = 1, CU_ACCESS_PROPERTY_PERSISTING = 2,
} CUaccessProperty;
typedef enum CUgraphConditionalNodeType_enum {
    CU_GRAPH_COND_TYPE_IF = 0, CU_GRAPH_COND_TYPE_WHILE = 1, CU_GRAPH_COND_TYPE_SWITCH = 2,
} CUgraphConditionalNodeType;
typedef enum CUgraphNodeType_enum {
    CU_GRAPH_NODE_TYPE_KERNEL = 0, CU_GRAPH_NODE_TYPE_MEMCPY = 1, CU_GRAPH_NODE_TYPE_MEMSET = 2,
    CU_GRAPH_NODE_TYPE_HOST = 3, CU_GRAPH_NODE_TYPE_GRAPH = 4, CU_GRAPH_NODE_TYPE_EMPTY = 5,
    CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6, CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL = 8,
    CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT = 9, CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10, CU_GRAPH_NODE_TYPE_MEM_FREE = 11,
    CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12, CU_GRAPH_NODE_TYPE_CONDITIONAL = 13,
} CUgraphNodeType;
typedef enum CUgraphDependencyType_enum {
    CU_GRAPH_DEPENDENCY_TYPE_DEFAULT = 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC = 1,
} CUgraphDependencyType;
typedef enum CUgraphInstantiateResult_enum {
    CUDA_GRAPH_INSTANTIATE_SUCCESS = 0, CUDA_GRAPH_INSTANTIATE_ERROR = 1, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE = 2,
    CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED = 3, CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED = 4,
    CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED = 5,
} CUgraphInstantiateResult;
typedef enum CUsynchronizationPolicy_enum {
    CU_SYNC_POLICY_AUTO = 1, CU_SYNC_POLICY_SPIN = 2, CU_SYNC_POLICY_YIELD = 3, CU_SYNC_POLICY_BLOCKING_SYNC = 4,
} CUsynchronizationPolicy;
typedef enum CUclusterSchedulingPolicy_enum {
    CU_CLUSTER_SCHEDULING_POLICY_DEFAULT = 0, CU_CLUSTER_SCHEDULING_POLICY_SPREAD = 1,
    CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING = 2,
} CUclusterSchedulingPolicy;
typedef enum CUlaunchMemSyncDomain_enum {
    CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT = 0, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE = 1,
} CUlaunchMemSyncDomain;
typedef enum CUlaunchAttributeID_enum {
    CU_LAUNCH_ATTRIBUTE_IGNORE = 0, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1, CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
    CU_LAUNCH_ATTRIBUTE_PRIORITY = 8, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP = 9,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN = 10, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,
    CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE = 13,
    CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 14, CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING = 16,
} CUlaunchAttributeID;
typedef CUlaunchAttributeID CUkernelNodeAttrID;
typedef CUlaunchAttributeID CUstreamAttrID;
typedef enum CUstreamCaptureStatus_enum {
    CU_STREAM_CAPTURE_STATUS_NONE = 0, CU_STREAM_CAPTURE_STATUS_ACTIVE = 1, CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
} CUstreamCaptureStatus;
typedef enum CUstreamCaptureMode_enum {
    CU_STREAM_CAPTURE_MODE_GLOBAL = 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1, CU_STREAM_CAPTURE_MODE_RELAXED = 2,
} CUstreamCaptureMode;
typedef enum CUdriverProcAddress_flags_enum {
    CU_GET_PROC_ADDRESS_DEFAULT = 0, CU_GET_PROC_ADDRESS_LEGACY_STREAM = 0x1,
    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 0x2,
} CUdriverProcAddress_flags;
typedef enum CUdriverProcAddressQueryResult_enum {
    CU_GET_PROC_ADDRESS_SUCCESS = 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
    CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2,
} CUdriverProcAddressQueryResult;
typedef enum CUexecAffinityType_enum {
    CU_EXEC_AFFINITY_TYPE_SM_COUNT = 0, CU_EXEC_AFFINITY_TYPE_MAX = 1,
} CUexecAffinityType;
typedef enum CUcigDataType_enum {
    CIG_DATA_TYPE_D3D12_COMMAND_QUEUE = 0x1, CIG_DATA_TYPE_NV_BLOB = 0x2,
} CUcigDataType;
typedef enum CUlibraryOption_enum {
    CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE = 0, CU_LIBRARY_BINARY_IS_PRESERVED = 1,
    CU_LIBRARY_NUM_OPTIONS = 2,
} CUlibraryOption;
typedef enum cudaError_enum {
    CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4, CUDA_ERROR_PROFILER_DISABLED = 5, CUDA_ERROR_PROFILER_NOT_INITIALIZED = 6,
    CUDA_ERROR_PROFILER_ALREADY_STARTED = 7, CUDA_ERROR_PROFILER_ALREADY_STOPPED = 8, CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER = 36, CUDA_ERROR_DEVICE_UNAVAILABLE = 46, CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101, CUDA_ERROR_DEVICE_NOT_LICENSED = 102, CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201, CUDA_ERROR_CONTEXT_ALREADY_CURRENT = 202, CUDA_ERROR_MAP_FAILED = 205,
    CUDA_ERROR_UNMAP_FAILED = 206, CUDA_ERROR_ARRAY_IS_MAPPED = 207, CUDA_ERROR_ALREADY_MAPPED = 208,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209, CUDA_ERROR_ALREADY_ACQUIRED = 210, CUDA_ERROR_NOT_MAPPED = 211,
    CUDA_ERROR_NOT_MAPPED_AS_ARRAY = 212, CUDA_ERROR_NOT_MAPPED_AS_POINTER = 213, CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_UNSUPPORTED_LIMIT = 215, CUDA_ERROR_CONTEXT_ALREADY_IN_USE = 216,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217, CUDA_ERROR_INVALID_PTX = 218, CUDA_ERROR_INVALID_GRAPHICS_CONTEXT = 219,
    CUDA_ERROR_NVLINK_UNCORRECTABLE = 220, CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222, CUDA_ERROR_JIT_COMPILATION_DISABLED = 223,
    CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY = 224, CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC = 225, CUDA_ERROR_CONTAINED = 226,
    CUDA_ERROR_INVALID_SOURCE = 300, CUDA_ERROR_FILE_NOT_FOUND = 301, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND = 302,
    CUDA_ERROR_SHARED_OBJECT_INIT_FAILED = 303, CUDA_ERROR_OPERATING_SYSTEM = 304, CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_ILLEGAL_STATE = 401, CUDA_ERROR_LOSSY_QUERY = 402, CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600, CUDA_ERROR_ILLEGAL_ADDRESS = 700, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702, CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING = 703,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = 708, CUDA_ERROR_CONTEXT_IS_DESTROYED = 709, CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_TOO_MANY_PEERS = 711, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713, CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715, CUDA_ERROR_MISALIGNED_ADDRESS = 716, CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
    CUDA_ERROR_INVALID_PC = 718, CUDA_ERROR_LAUNCH_FAILED = 719, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CUDA_ERROR_TENSOR_MEMORY_LEAK = 721, CUDA_ERROR_NOT_PERMITTED = 800, CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_SYSTEM_NOT_READY = 802, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804, CUDA_ERROR_MPS_CONNECTION_FAILED = 805,
    CUDA_ERROR_MPS_RPC_FAILURE = 806, CUDA_ERROR_MPS_SERVER_NOT_READY = 807, CUDA_ERROR_MPS_MAX_CLIENTS_REACHED = 808,
    CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED = 809, CUDA_ERROR_MPS_CLIENT_TERMINATED = 810,
    CUDA_ERROR_CDP_NOT_SUPPORTED = 811, CUDA_ERROR_CDP_VERSION_MISMATCH = 812,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
    CUDA_ERROR_STREAM_CAPTURE_MERGE = 902, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904, CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906, CUDA_ERROR_CAPTURED_EVENT = 907,
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908, CUDA_ERROR_TIMEOUT = 909, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910,
    CUDA_ERROR_EXTERNAL_DEVICE = 911, CUDA_ERROR_INVALID_CLUSTER_SIZE = 912, CUDA_ERROR_FUNCTION_NOT_LOADED = 913,
    CUDA_ERROR_INVALID_RESOURCE_TYPE = 914, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION = 915,
    CUDA_ERROR_KEY_ROTATION = 916, CUDA_ERROR_UNKNOWN = 999,
} CUresult;
typedef enum CUdevice_P2PAttribute_enum {
    CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK = 0x1, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED = 0x2,
    CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED = 0x3, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_ACCESS_SUPPORTED = 0x4,
    CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED = 0x4,
    CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED = 0x5,
} CUdevice_P2PAttribute;
typedef enum CUatomicOperation_enum {
    CU_ATOMIC_OPERATION_INTEGER_ADD = 0, CU_ATOMIC_OPERATION_INTEGER_MIN = 1, CU_ATOMIC_OPERATION_INTEGER_MAX = 2,
    CU_ATOMIC_OPERATION_INTEGER_INCREMENT = 3, CU_ATOMIC_OPERATION_INTEGER_DECREMENT = 4, CU_ATOMIC_OPERATION_AND = 5,
    CU_ATOMIC_OPERATION_OR = 6, CU_ATOMIC_OPERATION_XOR = 7, CU_ATOMIC_OPERATION_EXCHANGE = 8,
    CU_ATOMIC_OPERATION_CAS = 9, CU_ATOMIC_OPERATION_FLOAT_ADD = 10, CU_ATOMIC_OPERATION_FLOAT_MIN = 11,
    CU_ATOMIC_OPERATION_FLOAT_MAX = 12, CU_ATOMIC_OPERATION_MAX = 13,
} CUatomicOperation;
typedef enum CUatomicOperationCapability_enum {
    CU_ATOMIC_CAPABILITY_SIGNED = 0x1, CU_ATOMIC_CAPABILITY_UNSIGNED = 0x2, CU_ATOMIC_CAPABILITY_REDUCTION = 0x4,
    CU_ATOMIC_CAPABILITY_SCALAR_32 = 0x8, CU_ATOMIC_CAPABILITY_SCALAR_64 = 0x10, CU_ATOMIC_CAPABILITY_SCALAR_128 = 0x20,
    CU_ATOMIC_CAPABILITY_VECTOR_32x4 = 0x40,
} CUatomicOperationCapability;
typedef enum CUresourceViewFormat_enum {
    CU_RES_VIEW_FORMAT_NONE = 0x0, CU_RES_VIEW_FORMAT_UINT_1X8 = 0x1, CU_RES_VIEW_FORMAT_UINT_2X8 = 0x2,
    CU_RES_VIEW_FORMAT_UINT_4X8 = 0x3, CU_RES_VIEW_FORMAT_SINT_1X8 = 0x4, CU_RES_VIEW_FORMAT_SINT_2X8 = 0x5,
    CU_RES_VIEW_FORMAT_SINT_4X8 = 0x6, CU_RES_VIEW_FORMAT_UINT_1X16 = 0x7, CU_RES_VIEW_FORMAT_UINT_2X16 = 0x8,
    CU_RES_VIEW_FORMAT_UINT_4X16 = 0x9, CU_RES_VIEW_FORMAT_SINT_1X16 = 0xa, CU_RES_VIEW_FORMAT_SINT_2X16 = 0xb,
    CU_RES_VIEW_FORMAT_SINT_4X16 = 0xc, CU_RES_VIEW_FORMAT_UINT_1X32 = 0xd, CU_RES_VIEW_FORMAT_UINT_2X32 = 0xe,
    CU_RES_VIEW_FORMAT_UINT_4X32 = 0xf, CU_RES_VIEW_FORMAT_SINT_1X32 = 0x10, CU_RES_VIEW_FORMAT_SINT_2X32 = 0x11,
    CU_RES_VIEW_FORMAT_SINT_4X32 = 0x12, CU_RES_VIEW_FORMAT_FLOAT_1X16 = 0x13, CU_RES_VIEW_FORMAT_FLOAT_2X16 = 0x14,
    CU_RES_VIEW_FORMAT_FLOAT_4X16 = 0x15, CU_RES_VIEW_FORMAT_FLOAT_1X32 = 0x16, CU_RES_VIEW_FORMAT_FLOAT_2X32 = 0x17,
    CU_RES_VIEW_FORMAT_FLOAT_4X32 = 0x18, CU_RES_VIEW_FORMAT_UNSIGNED_BC1 = 0x19,
    CU_RES_VIEW_FORMAT_UNSIGNED_BC2 = 0x1a, CU_RES_VIEW_FORMAT_UNSIGNED_BC3 = 0x1b,
    CU_RES_VIEW_FORMAT_UNSIGNED_BC4 = 0x1c, CU_RES_VIEW_FORMAT_SIGNED_BC4 = 0x1d,
    CU_RES_VIEW_FORMAT_UNSIGNED_BC5 = 0x1e, CU_RES_VIEW_FORMAT_SIGNED_BC5 = 0x1f,
    CU_RES_VIEW_FORMAT_UNSIGNED_BC6H = 0x20, CU_RES_VIEW_FORMAT_SIGNED_BC6H = 0x21,
    CU_RES_VIEW_FORMAT_UNSIGNED_BC7 = 0x22,
} CUresourceViewFormat;
typedef enum CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS_enum {
    CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE = 0x0, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ = 0x1,
    CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE = 0x3,
} CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS;
typedef enum CUmemAllocationHandleType_enum {
    CU_MEM_HANDLE_TYPE_NONE = 0x0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 0x1, CU_MEM_HANDLE_TYPE_WIN32 = 0x2,
    CU_MEM_HANDLE_TYPE_WIN32_KMT = 0x4, CU_MEM_HANDLE_TYPE_FABRIC = 0x8, CU_MEM_HANDLE_TYPE_MAX = 0x7fffffff,
} CUmemAllocationHandleType;
typedef enum CUmemAccess_flags_enum {
    CU_MEM_ACCESS_FLAGS_PROT_NONE = 0x0, CU_MEM_ACCESS_FLAGS_PROT_READ = 0x1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 0x3,
    CU_MEM_ACCESS_FLAGS_PROT_MAX = 0x7fffffff,
} CUmemAccess_flags;
typedef enum CUmemLocationType_enum {
    CU_MEM_LOCATION_TYPE_INVALID = 0x0, CU_MEM_LOCATION_TYPE_NONE = 0x0, CU_MEM_LOCATION_TYPE_DEVICE = 0x1,
    CU_MEM_LOCATION_TYPE_HOST = 0x2, CU_MEM_LOCATION_TYPE_HOST_NUMA = 0x3, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 0x4,
    CU_MEM_LOCATION_TYPE_MAX = 0x7fffffff,
} CUmemLocationType;
typedef enum CUmemAllocationType_enum {
    CU_MEM_ALLOCATION_TYPE_INVALID = 0x0, CU_MEM_ALLOCATION_TYPE_PINNED = 0x1, CU_MEM_ALLOCATION_TYPE_MANAGED = 0x2,
    CU_MEM_ALLOCATION_TYPE_MAX = 0x7fffffff,
} CUmemAllocationType;
typedef enum CUmemAllocationGranularity_flags_enum {
    CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0x0, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 0x1,
} CUmemAllocationGranularity_flags;
typedef enum CUmemRangeFlags_enum {
    CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE = 0x1,
} CUmemRangeFlags;
typedef enum CUarraySparseSubresourceType_enum {
    CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL = 0, CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL = 1,
} CUarraySparseSubresourceType;
typedef enum CUmemOperationType_enum {
    CU_MEM_OPERATION_TYPE_MAP = 1, CU_MEM_OPERATION_TYPE_UNMAP = 2,
} CUmemOperationType;
typedef enum CUmemHandleType_enum {
    CU_MEM_HANDLE_TYPE_GENERIC = 0,
} CUmemHandleType;
typedef enum CUmemAllocationCompType_enum {
    CU_MEM_ALLOCATION_COMP_NONE = 0x0, CU_MEM_ALLOCATION_COMP_GENERIC = 0x1,
} CUmemAllocationCompType;
typedef enum CUgraphExecUpdateResult_enum {
    CU_GRAPH_EXEC_UPDATE_SUCCESS = 0x0, CU_GRAPH_EXEC_UPDATE_ERROR = 0x1,
    CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 0x2, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 0x3,
    CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED = 0x4, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED = 0x5,
    CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED = 0x6, CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE = 0x7,
    CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED = 0x8,
} CUgraphExecUpdateResult;
typedef enum CUmemPool_attribute_enum {
    CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2,
    CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
    CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6,
    CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7, CU_MEMPOOL_ATTR_USED_MEM_HIGH = 8,
} CUmemPool_attribute;
typedef enum CUmemcpyFlags_enum {
    CU_MEMCPY_FLAG_DEFAULT = 0x0, CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE = 0x1,
} CUmemcpyFlags;
typedef enum CUmemcpySrcAccessOrder_enum {
    CU_MEMCPY_SRC_ACCESS_ORDER_INVALID = 0x0, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 0x1,
    CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL = 0x2, CU_MEMCPY_SRC_ACCESS_ORDER_ANY = 0x3,
    CU_MEMCPY_SRC_ACCESS_ORDER_MAX = 0x7fffffff,
} CUmemcpySrcAccessOrder;
typedef enum CUmemcpy3DOperandType_enum {
    CU_MEMCPY_OPERAND_TYPE_POINTER = 0x1, CU_MEMCPY_OPERAND_TYPE_ARRAY = 0x2, CU_MEMCPY_OPERAND_TYPE_MAX = 0x7fffffff,
} CUmemcpy3DOperandType;
typedef enum CUgraphChildGraphNodeOwnership_enum {
    CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE = 0, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE = 1,
} CUgraphChildGraphNodeOwnership;
typedef enum CUgraphDebugDot_flags_enum {
    CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE = 0x1, CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES = 0x2,
    CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS = 0x4, CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS = 0x8,
    CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS = 0x10, CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS = 0x20,
    CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS = 0x40, CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS = 0x80,
    CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS = 0x100,
    CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES = 0x200, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES = 0x400,
    CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS = 0x800, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS = 0x1000,
    CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS = 0x2000, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO = 0x4000,
    CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS = 0x8000,
} CUgraphDebugDot_flags;
typedef enum CUuserObject_flags_enum {
    CU_USER_OBJECT_NO_DESTRUCTOR_SYNC = 1,
} CUuserObject_flags;
typedef enum CUuserObjectRetain_flags_enum {
    CU_GRAPH_USER_OBJECT_MOVE = 1,
} CUuserObjectRetain_flags;
typedef enum CUgraphMem_attribute_enum {
    CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT = 0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH = 1,
    CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT = 2, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH = 3,
} CUgraphMem_attribute;
typedef enum CUgraphInstantiate_flags_enum {
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2,
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH = 4, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8,
} CUgraphInstantiate_flags;
typedef enum CUdeviceNumaConfig_enum {
    CU_DEVICE_NUMA_CONFIG_NONE = 0, CU_DEVICE_NUMA_CONFIG_NUMA_NODE = 1,
} CUdeviceNumaConfig;
typedef enum CUmoduleLoadingMode_enum {
    CU_MODULE_EAGER_LOADING = 0x1, CU_MODULE_LAZY_LOADING = 0x2,
} CUmoduleLoadingMode;
typedef enum CUfunctionLoadingState_enum {
    CU_FUNCTION_LOADING_STATE_UNLOADED = 0, CU_FUNCTION_LOADING_STATE_LOADED = 1, CU_FUNCTION_LOADING_STATE_MAX = 2,
} CUfunctionLoadingState;
typedef enum CUCoredumpGenerationFlags {
    CU_COREDUMP_DEFAULT_FLAGS = 0, CU_COREDUMP_SKIP_NONRELOCATED_ELF_IMAGES = 0x1, CU_COREDUMP_SKIP_GLOBAL_MEMORY = 0x2,
    CU_COREDUMP_SKIP_SHARED_MEMORY = 0x4, CU_COREDUMP_SKIP_LOCAL_MEMORY = 0x8, CU_COREDUMP_SKIP_ABORT = 0x10,
    CU_COREDUMP_SKIP_CONSTBANK_MEMORY = 0x20, CU_COREDUMP_LIGHTWEIGHT_FLAGS = 0x2f,
} CUCoredumpGenerationFlags;
typedef enum {
    CU_GREEN_CTX_DEFAULT_STREAM = 0x1,
} CUgreenCtxCreate_flags;

/* clang-format on */
/* Structures and callbacks. */
typedef cuuint64_t CUgraphConditionalHandle;
typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;
typedef struct CUmemFabricHandle_st {
    unsigned char data[64];
} CUmemFabricHandle_v1;
typedef CUmemFabricHandle_v1 CUmemFabricHandle;
typedef struct CUipcEventHandle_st {
    char reserved[64];
} CUipcEventHandle_v1;
typedef CUipcEventHandle_v1 CUipcEventHandle;
typedef struct CUipcMemHandle_st {
    char reserved[64];
} CUipcMemHandle_v1;
typedef CUipcMemHandle_v1 CUipcMemHandle;
typedef union CUstreamBatchMemOpParams_union {
    CUstreamBatchMemOpType operation;
    struct {
        CUstreamBatchMemOpType operation;
        CUdeviceptr address;
        union {
            cuuint32_t value;
            cuuint64_t value64;
        };
        unsigned int flags;
        CUdeviceptr alias;
    } waitValue;
    struct {
        CUstreamBatchMemOpType operation;
        CUdeviceptr address;
        union {
            cuuint32_t value;
            cuuint64_t value64;
        };
        unsigned int flags;
        CUdeviceptr alias;
    } writeValue;
    struct {
        CUstreamBatchMemOpType operation;
        unsigned int flags;
    } flushRemoteWrites;
    struct {
        CUstreamBatchMemOpType operation;
        unsigned int flags;
    } memoryBarrier;
    cuuint64_t pad[6];
} CUstreamBatchMemOpParams_v1;
typedef CUstreamBatchMemOpParams_v1 CUstreamBatchMemOpParams;
typedef struct CUdevprop_st {
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], sharedMemPerBlock, totalConstantMemory, SIMDWidth,
        memPitch;
    int regsPerBlock, clockRate, textureAlign;
} CUdevprop_v1;
typedef CUdevprop_v1 CUdevprop;
typedef void (*CUhostFn)(void *userData);
typedef struct CUaccessPolicyWindow_st {
    void *base_ptr;
    size_t num_bytes;
    float hitRatio;
    CUaccessProperty hitProp, missProp;
} CUaccessPolicyWindow_v1;
typedef CUaccessPolicyWindow_v1 CUaccessPolicyWindow;
typedef struct CUDA_KERNEL_NODE_PARAMS_st {
    CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams;
    void **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;
typedef struct CUDA_KERNEL_NODE_PARAMS_v2_st {
    CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams;
    void **extra;
    CUkernel kern;
    CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS_v2;
typedef CUDA_KERNEL_NODE_PARAMS_v2 CUDA_KERNEL_NODE_PARAMS;
typedef struct CUDA_KERNEL_NODE_PARAMS_v3_st {
    CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams;
    void **extra;
    CUkernel kern;
    CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS_v3;
typedef struct CUDA_MEMSET_NODE_PARAMS_st {
    CUdeviceptr dst;
    size_t pitch;
    unsigned int value, elementSize;
    size_t width, height;
} CUDA_MEMSET_NODE_PARAMS_v1;
typedef CUDA_MEMSET_NODE_PARAMS_v1 CUDA_MEMSET_NODE_PARAMS;
typedef struct CUDA_MEMSET_NODE_PARAMS_v2_st {
    CUdeviceptr dst;
    size_t pitch;
    unsigned int value, elementSize;
    size_t width, height;
    CUcontext ctx;
} CUDA_MEMSET_NODE_PARAMS_v2;
typedef struct CUDA_HOST_NODE_PARAMS_st {
    CUhostFn fn;
    void *userData;
} CUDA_HOST_NODE_PARAMS_v1;
typedef CUDA_HOST_NODE_PARAMS_v1 CUDA_HOST_NODE_PARAMS;
typedef struct CUDA_HOST_NODE_PARAMS_v2_st {
    CUhostFn fn;
    void *userData;
} CUDA_HOST_NODE_PARAMS_v2;
typedef struct CUDA_CONDITIONAL_NODE_PARAMS {
    CUgraphConditionalHandle handle;
    CUgraphConditionalNodeType type;
    unsigned int size;
    CUgraph *phGraph_out;
    CUcontext ctx;
} CUDA_CONDITIONAL_NODE_PARAMS;
typedef struct CUgraphEdgeData_st {
    unsigned char from_port, to_port, type, reserved[5];
} CUgraphEdgeData;
typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS_st {
    cuuint64_t flags;
    CUstream hUploadStream;
    CUgraphNode hErrNode_out;
    CUgraphInstantiateResult result_out;
} CUDA_GRAPH_INSTANTIATE_PARAMS;
typedef struct CUlaunchMemSyncDomainMap_st {
    unsigned char default_, remote;
} CUlaunchMemSyncDomainMap;
typedef union CUlaunchAttributeValue_union {
    char pad[64];
    CUaccessPolicyWindow accessPolicyWindow;
    int cooperative;
    CUsynchronizationPolicy syncPolicy;
    struct {
        unsigned int x, y, z;
    } clusterDim;
    CUclusterSchedulingPolicy clusterSchedulingPolicyPreference;
    int programmaticStreamSerializationAllowed;
    struct {
        CUevent event;
        int flags, triggerAtBlockStart;
    } programmaticEvent;
    struct {
        CUevent event;
        int flags;
    } launchCompletionEvent;
    int priority;
    CUlaunchMemSyncDomainMap memSyncDomainMap;
    CUlaunchMemSyncDomain memSyncDomain;
    struct {
        unsigned int x, y, z;
    } preferredClusterDim;
    struct {
        int deviceUpdatable;
        CUgraphDeviceNode devNode;
    } deviceUpdatableKernelNode;
    unsigned int sharedMemCarveout, nvlinkUtilCentricScheduling;
} CUlaunchAttributeValue;
typedef struct CUlaunchAttribute_st {
    CUlaunchAttributeID id;
    char pad[8 - (sizeof(CUlaunchAttributeID))];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;
typedef struct CUlaunchConfig_st {
    unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned int numAttrs;
} CUlaunchConfig;
typedef CUlaunchAttributeValue CUkernelNodeAttrValue_v1;
typedef CUkernelNodeAttrValue_v1 CUkernelNodeAttrValue;
typedef CUlaunchAttributeValue CUstreamAttrValue_v1;
typedef CUstreamAttrValue_v1 CUstreamAttrValue;
typedef struct CUexecAffinitySmCount_st {
    unsigned int val;
} CUexecAffinitySmCount_v1;
typedef CUexecAffinitySmCount_v1 CUexecAffinitySmCount;
typedef struct CUexecAffinityParam_st {
    CUexecAffinityType type;
    union {
        CUexecAffinitySmCount smCount;
    } param;
} CUexecAffinityParam_v1;
typedef CUexecAffinityParam_v1 CUexecAffinityParam;
typedef struct CUctxCigParam_st {
    CUcigDataType sharedDataType;
    void *sharedData;
} CUctxCigParam;
typedef struct CUctxCreateParams_st {
    CUexecAffinityParam *execAffinityParams;
    int numExecAffinityParams;
    CUctxCigParam *cigParams;
} CUctxCreateParams;
typedef struct CUlibraryHostUniversalFunctionAndDataTable_st {
    void *functionTable;
    size_t functionWindowSize;
    void *dataTable;
    size_t dataWindowSize;
} CUlibraryHostUniversalFunctionAndDataTable;
typedef void (*CUstreamCallback)(CUstream hStream, CUresult status, void *userData);
typedef size_t (*CUoccupancyB2DSize)(int blockSize);
typedef struct CUDA_MEMCPY2D_st {
    size_t srcXInBytes, srcY;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    size_t srcPitch, dstXInBytes, dstY;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    size_t dstPitch, WidthInBytes, Height;
} CUDA_MEMCPY2D_v2;
typedef CUDA_MEMCPY2D_v2 CUDA_MEMCPY2D;
typedef struct CUDA_MEMCPY3D_st {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    void *reserved0;
    size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    void *reserved1;
    size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_v2;
typedef CUDA_MEMCPY3D_v2 CUDA_MEMCPY3D;
typedef struct CUDA_MEMCPY3D_PEER_st {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    CUcontext srcContext;
    size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    CUcontext dstContext;
    size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_PEER_v1;
typedef CUDA_MEMCPY3D_PEER_v1 CUDA_MEMCPY3D_PEER;
typedef struct CUDA_MEMCPY_NODE_PARAMS_st {
    int flags, reserved;
    CUcontext copyCtx;
    CUDA_MEMCPY3D copyParams;
} CUDA_MEMCPY_NODE_PARAMS;
typedef struct CUDA_ARRAY_DESCRIPTOR_st {
    size_t Width, Height;
    CUarray_format Format;
    unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR_v2;
typedef CUDA_ARRAY_DESCRIPTOR_v2 CUDA_ARRAY_DESCRIPTOR;
typedef struct CUDA_ARRAY3D_DESCRIPTOR_st {
    size_t Width, Height, Depth;
    CUarray_format Format;
    unsigned int NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR_v2;
typedef CUDA_ARRAY3D_DESCRIPTOR_v2 CUDA_ARRAY3D_DESCRIPTOR;
typedef struct CUDA_ARRAY_MEMORY_REQUIREMENTS_st {
    size_t size, alignment;
    unsigned int reserved[4];
} CUDA_ARRAY_MEMORY_REQUIREMENTS_v1;
typedef CUDA_ARRAY_MEMORY_REQUIREMENTS_v1 CUDA_ARRAY_MEMORY_REQUIREMENTS;
typedef struct CUDA_RESOURCE_DESC_st {
    CUresourcetype resType;
    union {
        struct {
            CUarray hArray;
        } array;
        struct {
            CUmipmappedArray hMipmappedArray;
        } mipmap;
        struct {
            CUdeviceptr devPtr;
            CUarray_format format;
            unsigned int numChannels;
            size_t sizeInBytes;
        } linear;
        struct {
            CUdeviceptr devPtr;
            CUarray_format format;
            unsigned int numChannels;
            size_t width, height, pitchInBytes;
        } pitch2D;
        struct {
            int reserved[32];
        } reserved;
    } res;
    unsigned int flags;
} CUDA_RESOURCE_DESC_v1;
typedef CUDA_RESOURCE_DESC_v1 CUDA_RESOURCE_DESC;
typedef struct CUDA_TEXTURE_DESC_st {
    CUaddress_mode addressMode[3];
    CUfilter_mode filterMode;
    unsigned int flags, maxAnisotropy;
    CUfilter_mode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp, borderColor[4];
    int reserved[12];
} CUDA_TEXTURE_DESC_v1;
typedef CUDA_TEXTURE_DESC_v1 CUDA_TEXTURE_DESC;
typedef struct CUDA_RESOURCE_VIEW_DESC_st {
    CUresourceViewFormat format;
    size_t width, height, depth;
    unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer, reserved[16];
} CUDA_RESOURCE_VIEW_DESC_v1;
typedef CUDA_RESOURCE_VIEW_DESC_v1 CUDA_RESOURCE_VIEW_DESC;
typedef struct CUDA_LAUNCH_PARAMS_st {
    CUfunction function;
    unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    void **kernelParams;
} CUDA_LAUNCH_PARAMS_v1;
typedef CUDA_LAUNCH_PARAMS_v1 CUDA_LAUNCH_PARAMS;
typedef CUmemGenericAllocationHandle_v1 CUmemGenericAllocationHandle;
typedef struct CUmemLocation_st {
    CUmemLocationType type;
    int id;
} CUmemLocation_v1;
typedef CUmemLocation_v1 CUmemLocation;
typedef struct CUmemAllocationProp_st {
    CUmemAllocationType type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType, gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp_v1;
typedef CUmemAllocationProp_v1 CUmemAllocationProp;
typedef struct CUmemAccessDesc_st {
    CUmemLocation location;
    CUmemAccess_flags flags;
} CUmemAccessDesc_v1;
typedef CUmemAccessDesc_v1 CUmemAccessDesc;
typedef struct CUgraphExecUpdateResultInfo_st {
    CUgraphExecUpdateResult result;
    CUgraphNode errorNode, errorFromNode;
} CUgraphExecUpdateResultInfo_v1;
typedef CUgraphExecUpdateResultInfo_v1 CUgraphExecUpdateResultInfo;
typedef struct CUmemPoolProps_st {
    CUmemAllocationType allocType;
    CUmemAllocationHandleType handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps_v1;
typedef CUmemPoolProps_v1 CUmemPoolProps;
typedef struct CUmemPoolPtrExportData_st {
    unsigned char reserved[64];
} CUmemPoolPtrExportData_v1;
typedef CUmemPoolPtrExportData_v1 CUmemPoolPtrExportData;
typedef struct CUmemcpyAttributes_st {
    CUmemcpySrcAccessOrder srcAccessOrder;
    CUmemLocation srcLocHint, dstLocHint;
    unsigned int flags;
} CUmemcpyAttributes_v1;
typedef CUmemcpyAttributes_v1 CUmemcpyAttributes;
typedef struct CUoffset3D_st {
    size_t x, y, z;
} CUoffset3D_v1;
typedef CUoffset3D_v1 CUoffset3D;
typedef struct CUextent3D_st {
    size_t width, height, depth;
} CUextent3D_v1;
typedef CUextent3D_v1 CUextent3D;
typedef struct CUmemcpy3DOperand_st {
    CUmemcpy3DOperandType type;
    union {
        struct {
            CUdeviceptr ptr;
            size_t rowLength, layerHeight;
            CUmemLocation locHint;
        } ptr;
        struct {
            CUarray array;
            CUoffset3D offset;
        } array;
    } op;
} CUmemcpy3DOperand_v1;
typedef CUmemcpy3DOperand_v1 CUmemcpy3DOperand;
typedef struct CUDA_MEMCPY3D_BATCH_OP_st {
    CUmemcpy3DOperand src, dst;
    CUextent3D extent;
    CUmemcpySrcAccessOrder srcAccessOrder;
    unsigned int flags;
} CUDA_MEMCPY3D_BATCH_OP_v1;
typedef CUDA_MEMCPY3D_BATCH_OP_v1 CUDA_MEMCPY3D_BATCH_OP;
typedef struct CUDA_CHILD_GRAPH_NODE_PARAMS_st {
    CUgraph graph;
    CUgraphChildGraphNodeOwnership ownership;
} CUDA_CHILD_GRAPH_NODE_PARAMS;
typedef struct CUDA_EVENT_RECORD_NODE_PARAMS_st {
    CUevent event;
} CUDA_EVENT_RECORD_NODE_PARAMS;
typedef struct CUDA_EVENT_WAIT_NODE_PARAMS_st {
    CUevent event;
} CUDA_EVENT_WAIT_NODE_PARAMS;
typedef struct CUDA_MEM_ALLOC_NODE_PARAMS_v1_st {
    CUmemPoolProps poolProps;
    const CUmemAccessDesc *accessDescs;
    size_t accessDescCount, bytesize;
    CUdeviceptr dptr;
} CUDA_MEM_ALLOC_NODE_PARAMS_v1;
typedef CUDA_MEM_ALLOC_NODE_PARAMS_v1 CUDA_MEM_ALLOC_NODE_PARAMS;
typedef CUDA_MEM_ALLOC_NODE_PARAMS_v1 CUDA_MEM_ALLOC_NODE_PARAMS_v2;
typedef struct CUDA_MEM_FREE_NODE_PARAMS_st {
    CUdeviceptr dptr;
} CUDA_MEM_FREE_NODE_PARAMS;
typedef struct CUDA_BATCH_MEM_OP_NODE_PARAMS_v1_st {
    CUcontext ctx;
    unsigned int count;
    CUstreamBatchMemOpParams *paramArray;
    unsigned int flags;
} CUDA_BATCH_MEM_OP_NODE_PARAMS_v1;
typedef CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 CUDA_BATCH_MEM_OP_NODE_PARAMS;
typedef CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 CUDA_BATCH_MEM_OP_NODE_PARAMS_v2;
typedef struct CUgraphNodeParams_st {
    CUgraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        CUDA_KERNEL_NODE_PARAMS_v3 kernel;
        CUDA_MEMCPY_NODE_PARAMS memcpy;
        CUDA_MEMSET_NODE_PARAMS_v2 memset;
        CUDA_HOST_NODE_PARAMS_v2 host;
        CUDA_CHILD_GRAPH_NODE_PARAMS graph;
        CUDA_EVENT_WAIT_NODE_PARAMS eventWait;
        CUDA_EVENT_RECORD_NODE_PARAMS eventRecord;
        CUDA_MEM_ALLOC_NODE_PARAMS_v2 alloc;
        CUDA_MEM_FREE_NODE_PARAMS free;
        CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 memOp;
        CUDA_CONDITIONAL_NODE_PARAMS conditional;
    };
    long long reserved2;
} CUgraphNodeParams;

/* Errors. */
CUresult CUDAAPI cuGetErrorString(CUresult error, const char **p_str);
CUresult CUDAAPI cuGetErrorName(CUresult error, const char **p_str);

/* Initialisation and version. */
CUresult CUDAAPI cuInit(unsigned int flags);
CUresult CUDAAPI cuDriverGetVersion(int *driver_version);
CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **pfn, int cuda_version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *symbol_status);
CUresult CUDAAPI cuGetExportTable(const void **pp_export_table, const CUuuid *p_export_table_id);
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);

/* Devices. */
CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal);
CUresult CUDAAPI cuDeviceGetCount(int *count);
CUresult CUDAAPI cuDeviceGetName(char *name, int len, CUdevice dev);
CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev);
CUresult CUDAAPI cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev);
CUresult CUDAAPI cuDeviceGetTexture1DLinearMaxWidth(size_t *max_width_in_elements, CUarray_format format,
                                                    unsigned num_channels, CUdevice dev);
CUresult CUDAAPI cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev);
CUresult CUDAAPI cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool);
CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev);
CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev);
CUresult CUDAAPI cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev);
CUresult CUDAAPI cuDeviceGetProperties(CUdevprop *prop, CUdevice dev);
CUresult CUDAAPI cuDeviceComputeCapability(int *major, int *minor, CUdevice dev);
CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice *dev, const char *pci_bus_id);
CUresult CUDAAPI cuDeviceGetPCIBusId(char *pci_bus_id, int len, CUdevice dev);
CUresult CUDAAPI cuDeviceCanAccessPeer(int *can_access_peer, CUdevice dev, CUdevice peer_dev);
CUresult CUDAAPI cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice src_device,
                                         CUdevice dst_device);

/* Primary context. */
CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev);
CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice dev);
CUresult CUDAAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags);
CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active);
CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice dev);

/* Contexts. */
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev);
CUresult CUDAAPI cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctx_create_params, unsigned int flags,
                                CUdevice dev);
/* Programs for CUDA up to 12 give three arguments, those for CUDA 13 four: both compile. Its address is that of CUDA
 * 13's. */
CUresult CUDAAPI cuCtxCreate(CUcontext *pctx, CUctxCreateParams *ctx_create_params, unsigned int flags,
                             CUdevice dev) __asm__("cuCtxCreate_v4");
#define HEDDLE_FIFTH(a, b, c, d, e, ...) e
#define cuCtxCreate(...)                 HEDDLE_FIFTH(__VA_ARGS__, cuCtxCreate_v4, cuCtxCreate_v2, 0, 0)(__VA_ARGS__)
CUresult CUDAAPI cuCtxDestroy_v2(CUcontext ctx);
CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext ctx);
CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext *pctx);
CUresult CUDAAPI cuCtxSetCurrent(CUcontext ctx);
CUresult CUDAAPI cuCtxGetCurrent(CUcontext *pctx);
CUresult CUDAAPI cuCtxGetDevice(CUdevice *device);
CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx);
CUresult CUDAAPI cuCtxGetFlags(unsigned int *flags);
CUresult CUDAAPI cuCtxSetFlags(unsigned int flags);
CUresult CUDAAPI cuCtxGetId(CUcontext ctx, unsigned long long *ctx_id);
CUresult CUDAAPI cuCtxSynchronize(void);
CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext ctx);
CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, size_t value);
CUresult CUDAAPI cuCtxGetLimit(size_t *pvalue, CUlimit limit);
CUresult CUDAAPI cuCtxGetCacheConfig(CUfunc_cache *pconfig);
CUresult CUDAAPI cuCtxSetCacheConfig(CUfunc_cache config);
CUresult CUDAAPI cuCtxGetApiVersion(CUcontext ctx, unsigned int *version);
CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *least_priority, int *greatest_priority);
CUresult CUDAAPI cuCtxResetPersistingL2Cache(void);
CUresult CUDAAPI cuCtxGetExecAffinity(CUexecAffinityParam *p_exec_affinity, CUexecAffinityType type);
CUresult CUDAAPI cuCtxRecordEvent(CUcontext h_ctx, CUevent h_event);
CUresult CUDAAPI cuCtxWaitEvent(CUcontext h_ctx, CUevent h_event);
CUresult CUDAAPI cuCtxAttach(CUcontext *pctx, unsigned int flags);
CUresult CUDAAPI cuCtxDetach(CUcontext ctx);
CUresult CUDAAPI cuCtxGetSharedMemConfig(CUsharedconfig *p_config);
CUresult CUDAAPI cuCtxSetSharedMemConfig(CUsharedconfig config);
CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext peer_context, unsigned int flags);
CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext peer_context);

/* Modules and linking. */
CUresult CUDAAPI cuModuleLoad(CUmodule *module, const char *fname);
CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image);
CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int num_options,
                                    CUjit_option *options, void **option_values);
CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *module, const void *fat_cubin);
CUresult CUDAAPI cuModuleUnload(CUmodule hmod);
CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode *mode);
CUresult CUDAAPI cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name);
CUresult CUDAAPI cuModuleGetFunctionCount(unsigned int *count, CUmodule mod);
CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction *functions, unsigned int num_functions, CUmodule mod);
CUresult CUDAAPI cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name);
CUresult CUDAAPI cuLinkCreate_v2(unsigned int num_options, CUjit_option *options, void **option_values,
                                 CUlinkState *state_out);
CUresult CUDAAPI cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                                  unsigned int num_options, CUjit_option *options, void **option_values);
CUresult CUDAAPI cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int num_options,
                                  CUjit_option *options, void **option_values);
CUresult CUDAAPI cuLinkComplete(CUlinkState state, void **cubin_out, size_t *size_out);
CUresult CUDAAPI cuLinkDestroy(CUlinkState state);
CUresult CUDAAPI cuModuleGetTexRef(CUtexref *p_tex_ref, CUmodule hmod, const char *name);
CUresult CUDAAPI cuModuleGetSurfRef(CUsurfref *p_surf_ref, CUmodule hmod, const char *name);

/* Libraries and kernels. */
CUresult CUDAAPI cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit_options,
                                   void **jit_options_values, unsigned int num_jit_options,
                                   CUlibraryOption *library_options, void **library_option_values,
                                   unsigned int num_library_options);
CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *library, const char *file_name, CUjit_option *jit_options,
                                       void **jit_options_values, unsigned int num_jit_options,
                                       CUlibraryOption *library_options, void **library_option_values,
                                       unsigned int num_library_options);
CUresult CUDAAPI cuLibraryUnload(CUlibrary library);
CUresult CUDAAPI cuLibraryGetKernel(CUkernel *p_kernel, CUlibrary library, const char *name);
CUresult CUDAAPI cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib);
CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int num_kernels, CUlibrary lib);
CUresult CUDAAPI cuLibraryGetModule(CUmodule *p_mod, CUlibrary library);
CUresult CUDAAPI cuKernelGetFunction(CUfunction *p_func, CUkernel kernel);
CUresult CUDAAPI cuKernelGetLibrary(CUlibrary *p_lib, CUkernel kernel);
CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name);
CUresult CUDAAPI cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name);
CUresult CUDAAPI cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol);
CUresult CUDAAPI cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev);
CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev);
CUresult CUDAAPI cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev);
CUresult CUDAAPI cuKernelGetName(const char **name, CUkernel hfunc);
CUresult CUDAAPI cuKernelGetParamInfo(CUkernel kernel, size_t param_index, size_t *param_offset, size_t *param_size);

/* Functions and launches. */
CUresult CUDAAPI cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc);
CUresult CUDAAPI cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value);
CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config);
CUresult CUDAAPI cuFuncGetModule(CUmodule *hmod, CUfunction hfunc);
CUresult CUDAAPI cuFuncGetName(const char **name, CUfunction hfunc);
CUresult CUDAAPI cuFuncGetParamInfo(CUfunction func, size_t param_index, size_t *param_offset, size_t *param_size);
CUresult CUDAAPI cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function);
CUresult CUDAAPI cuFuncLoad(CUfunction function);
CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned int grid_dim_x, unsigned int grid_dim_y, unsigned int grid_dim_z,
                                unsigned int block_dim_x, unsigned int block_dim_y, unsigned int block_dim_z,
                                unsigned int shared_mem_bytes, CUstream h_stream, void **kernel_params, void **extra);
CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernel_params, void **extra);
CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction f, unsigned int grid_dim_x, unsigned int grid_dim_y,
                                           unsigned int grid_dim_z, unsigned int block_dim_x, unsigned int block_dim_y,
                                           unsigned int block_dim_z, unsigned int shared_mem_bytes, CUstream h_stream,
                                           void **kernel_params);
CUresult CUDAAPI cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launch_params_list, unsigned int num_devices,
                                                      unsigned int flags);
CUresult CUDAAPI cuLaunchHostFunc(CUstream h_stream, CUhostFn fn, void *user_data);
CUresult CUDAAPI cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z);
CUresult CUDAAPI cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes);
CUresult CUDAAPI cuParamSetSize(CUfunction hfunc, unsigned int numbytes);
CUresult CUDAAPI cuParamSeti(CUfunction hfunc, int offset, unsigned int value);
CUresult CUDAAPI cuParamSetf(CUfunction hfunc, int offset, float value);
CUresult CUDAAPI cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes);
CUresult CUDAAPI cuLaunch(CUfunction f);
CUresult CUDAAPI cuLaunchGrid(CUfunction f, int grid_width, int grid_height);
CUresult CUDAAPI cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream h_stream);
CUresult CUDAAPI cuParamSetTexRef(CUfunction hfunc, int texunit, CUtexref h_tex_ref);
CUresult CUDAAPI cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config);

/* Occupancy. */
CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int *num_blocks, CUfunction func, int block_size,
                                                             size_t dynamic_smem_size);
CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *num_blocks, CUfunction func, int block_size,
                                                                      size_t dynamic_smem_size, unsigned int flags);
CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size, CUfunction func,
                                                  CUoccupancyB2DSize block_size_to_dynamic_smem_size,
                                                  size_t dynamic_smem_size, int block_size_limit);
CUresult CUDAAPI cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid_size, int *block_size, CUfunction func,
                                                           CUoccupancyB2DSize block_size_to_dynamic_smem_size,
                                                           size_t dynamic_smem_size, int block_size_limit,
                                                           unsigned int flags);
CUresult CUDAAPI cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_smem_size, CUfunction func, int num_blocks,
                                                         int block_size);
CUresult CUDAAPI cuOccupancyMaxPotentialClusterSize(int *cluster_size, CUfunction func, const CUlaunchConfig *config);
CUresult CUDAAPI cuOccupancyMaxActiveClusters(int *num_clusters, CUfunction func, const CUlaunchConfig *config);

/* Virtual memory and pools. */
CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                                     unsigned long long flags);
CUresult CUDAAPI cuMemAddressFree(CUdeviceptr ptr, size_t size);
CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                             unsigned long long flags);
CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult CUDAAPI cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                          unsigned long long flags);
CUresult CUDAAPI cuMemUnmap(CUdeviceptr ptr, size_t size);
CUresult CUDAAPI cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count);
CUresult CUDAAPI cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr);
CUresult CUDAAPI cuMemExportToShareableHandle(void *shareable_handle, CUmemGenericAllocationHandle handle,
                                              CUmemAllocationHandleType handle_type, unsigned long long flags);
CUresult CUDAAPI cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *os_handle,
                                                CUmemAllocationHandleType sh_handle_type);
CUresult CUDAAPI cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                               CUmemAllocationGranularity_flags option);
CUresult CUDAAPI cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle);
CUresult CUDAAPI cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr);
CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr dptr, CUstream h_stream);
CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream h_stream);
CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool pool, size_t min_bytes_to_keep);
CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value);
CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value);
CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count);
CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool mem_pool, CUmemLocation *location);
CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *pool_props);
CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool pool);
CUresult CUDAAPI cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type);
CUresult CUDAAPI cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type);
CUresult CUDAAPI cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool);
CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream h_stream);
CUresult CUDAAPI cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
                                                  CUmemAllocationHandleType handle_type, unsigned long long flags);
CUresult CUDAAPI cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                                    CUmemAllocationHandleType handle_type, unsigned long long flags);
CUresult CUDAAPI cuMemPoolExportPointer(CUmemPoolPtrExportData *share_data_out, CUdeviceptr ptr);
CUresult CUDAAPI cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *share_data);

/* Copies and fills. */
CUresult CUDAAPI cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t byte_count);
CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr dst_device, CUcontext dst_context, CUdeviceptr src_device,
                              CUcontext src_context, size_t byte_count);
CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr dst_device, const void *src_host, size_t byte_count);
CUresult CUDAAPI cuMemcpyDtoH(void *dst_host, CUdeviceptr src_device, size_t byte_count);
CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr dst_device, CUdeviceptr src_device, size_t byte_count);
CUresult CUDAAPI cuMemcpyDtoA(CUarray dst_array, size_t dst_offset, CUdeviceptr src_device, size_t byte_count);
CUresult CUDAAPI cuMemcpyAtoD(CUdeviceptr dst_device, CUarray src_array, size_t src_offset, size_t byte_count);
CUresult CUDAAPI cuMemcpyHtoA(CUarray dst_array, size_t dst_offset, const void *src_host, size_t byte_count);
CUresult CUDAAPI cuMemcpyAtoH(void *dst_host, CUarray src_array, size_t src_offset, size_t byte_count);
CUresult CUDAAPI cuMemcpyAtoA(CUarray dst_array, size_t dst_offset, CUarray src_array, size_t src_offset,
                              size_t byte_count);
CUresult CUDAAPI cuMemcpy2D(const CUDA_MEMCPY2D *p_copy);
CUresult CUDAAPI cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *p_copy);
CUresult CUDAAPI cuMemcpy3D(const CUDA_MEMCPY3D *p_copy);
CUresult CUDAAPI cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *p_copy);
CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t byte_count, CUstream h_stream);
CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr dst_device, CUcontext dst_context, CUdeviceptr src_device,
                                   CUcontext src_context, size_t byte_count, CUstream h_stream);
CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr dst_device, const void *src_host, size_t byte_count, CUstream h_stream);
CUresult CUDAAPI cuMemcpyDtoHAsync(void *dst_host, CUdeviceptr src_device, size_t byte_count, CUstream h_stream);
CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr dst_device, CUdeviceptr src_device, size_t byte_count,
                                   CUstream h_stream);
CUresult CUDAAPI cuMemcpyHtoAAsync(CUarray dst_array, size_t dst_offset, const void *src_host, size_t byte_count,
                                   CUstream h_stream);
CUresult CUDAAPI cuMemcpyAtoHAsync(void *dst_host, CUarray src_array, size_t src_offset, size_t byte_count,
                                   CUstream h_stream);
CUresult CUDAAPI cuMemcpy2DAsync(const CUDA_MEMCPY2D *p_copy, CUstream h_stream);
CUresult CUDAAPI cuMemcpy3DAsync(const CUDA_MEMCPY3D *p_copy, CUstream h_stream);
CUresult CUDAAPI cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *p_copy, CUstream h_stream);
CUresult CUDAAPI cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                    CUmemcpyAttributes *attrs, size_t *attrs_idxs, size_t num_attrs, CUstream h_stream);
CUresult CUDAAPI cuMemcpy3DBatchAsync(size_t num_ops, CUDA_MEMCPY3D_BATCH_OP *op_list, unsigned long long flags,
                                      CUstream h_stream);
CUresult CUDAAPI cuMemsetD8(CUdeviceptr dst_device, unsigned char uc, size_t n);
CUresult CUDAAPI cuMemsetD16(CUdeviceptr dst_device, unsigned short us, size_t n);
CUresult CUDAAPI cuMemsetD32(CUdeviceptr dst_device, unsigned int ui, size_t n);
CUresult CUDAAPI cuMemsetD2D8(CUdeviceptr dst_device, size_t dst_pitch, unsigned char uc, size_t width, size_t height);
CUresult CUDAAPI cuMemsetD2D16(CUdeviceptr dst_device, size_t dst_pitch, unsigned short us, size_t width,
                               size_t height);
CUresult CUDAAPI cuMemsetD2D32(CUdeviceptr dst_device, size_t dst_pitch, unsigned int ui, size_t width, size_t height);
CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr dst_device, unsigned char uc, size_t n, CUstream h_stream);
CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr dst_device, unsigned short us, size_t n, CUstream h_stream);
CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr dst_device, unsigned int ui, size_t n, CUstream h_stream);
CUresult CUDAAPI cuMemsetD2D8Async(CUdeviceptr dst_device, size_t dst_pitch, unsigned char uc, size_t width,
                                   size_t height, CUstream h_stream);
CUresult CUDAAPI cuMemsetD2D16Async(CUdeviceptr dst_device, size_t dst_pitch, unsigned short us, size_t width,
                                    size_t height, CUstream h_stream);
CUresult CUDAAPI cuMemsetD2D32Async(CUdeviceptr dst_device, size_t dst_pitch, unsigned int ui, size_t width,
                                    size_t height, CUstream h_stream);

/* Memory. */
CUresult CUDAAPI cuMemGetInfo_v2(size_t *free, size_t *total);
CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize);
CUresult CUDAAPI cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *p_pitch, size_t width_in_bytes, size_t height,
                                    unsigned int element_size_bytes);
CUresult CUDAAPI cuMemFree_v2(CUdeviceptr dptr);
CUresult CUDAAPI cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr);
CUresult CUDAAPI cuMemAllocHost_v2(void **pp, size_t bytesize);
CUresult CUDAAPI cuMemFreeHost(void *p);
CUresult CUDAAPI cuMemHostAlloc(void **pp, size_t bytesize, unsigned int flags);
CUresult CUDAAPI cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int flags);
CUresult CUDAAPI cuMemHostGetFlags(unsigned int *p_flags, void *p);
CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags);
CUresult CUDAAPI cuIpcGetEventHandle(CUipcEventHandle *p_handle, CUevent event);
CUresult CUDAAPI cuIpcOpenEventHandle(CUevent *ph_event, CUipcEventHandle handle);
CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle *p_handle, CUdeviceptr dptr);
CUresult CUDAAPI cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int flags);
CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr dptr);
CUresult CUDAAPI cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int flags);
CUresult CUDAAPI cuMemHostUnregister(void *p);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr dev_ptr, size_t count, CUmemLocation location, unsigned int flags,
                                    CUstream h_stream);
CUresult CUDAAPI cuMemAdvise_v2(CUdeviceptr dev_ptr, size_t count, CUmem_advise advice, CUmemLocation location);
CUresult CUDAAPI cuMemRangeGetAttribute(void *data, size_t data_size, CUmem_range_attribute attribute,
                                        CUdeviceptr dev_ptr, size_t count);
CUresult CUDAAPI cuMemRangeGetAttributes(void **data, size_t *data_sizes, CUmem_range_attribute *attributes,
                                         size_t num_attributes, CUdeviceptr dev_ptr, size_t count);

/* Pointers. */
CUresult CUDAAPI cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr);
CUresult CUDAAPI cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr);
CUresult CUDAAPI cuPointerGetAttributes(unsigned int num_attributes, CUpointer_attribute *attributes, void **data,
                                        CUdeviceptr ptr);

/* Arrays. */
CUresult CUDAAPI cuArrayCreate_v2(CUarray *p_handle, const CUDA_ARRAY_DESCRIPTOR *p_allocate_array);
CUresult CUDAAPI cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *p_array_descriptor, CUarray h_array);
CUresult CUDAAPI cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memory_requirements, CUarray array,
                                              CUdevice device);
CUresult CUDAAPI cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memory_requirements,
                                                       CUmipmappedArray mipmap, CUdevice device);
CUresult CUDAAPI cuArrayGetPlane(CUarray *p_plane_array, CUarray h_array, unsigned int plane_idx);
CUresult CUDAAPI cuArrayDestroy(CUarray h_array);
CUresult CUDAAPI cuArray3DCreate_v2(CUarray *p_handle, const CUDA_ARRAY3D_DESCRIPTOR *p_allocate_array);
CUresult CUDAAPI cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *p_array_descriptor, CUarray h_array);
CUresult CUDAAPI cuMipmappedArrayCreate(CUmipmappedArray *p_handle,
                                        const CUDA_ARRAY3D_DESCRIPTOR *p_mipmapped_array_desc,
                                        unsigned int num_mipmap_levels);
CUresult CUDAAPI cuMipmappedArrayGetLevel(CUarray *p_level_array, CUmipmappedArray h_mipmapped_array,
                                          unsigned int level);
CUresult CUDAAPI cuMipmappedArrayDestroy(CUmipmappedArray h_mipmapped_array);

/* Textures and surfaces. */
CUresult CUDAAPI cuTexRefSetArray(CUtexref h_tex_ref, CUarray h_array, unsigned int flags);
CUresult CUDAAPI cuTexRefSetMipmappedArray(CUtexref h_tex_ref, CUmipmappedArray h_mipmapped_array, unsigned int flags);
CUresult CUDAAPI cuTexRefSetAddress_v2(size_t *byte_offset, CUtexref h_tex_ref, CUdeviceptr dptr, size_t bytes);
CUresult CUDAAPI cuTexRefSetAddress2D_v3(CUtexref h_tex_ref, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr dptr,
                                         size_t pitch);
CUresult CUDAAPI cuTexRefSetFormat(CUtexref h_tex_ref, CUarray_format fmt, int num_packed_components);
CUresult CUDAAPI cuTexRefSetAddressMode(CUtexref h_tex_ref, int dim, CUaddress_mode am);
CUresult CUDAAPI cuTexRefSetFilterMode(CUtexref h_tex_ref, CUfilter_mode fm);
CUresult CUDAAPI cuTexRefSetMipmapFilterMode(CUtexref h_tex_ref, CUfilter_mode fm);
CUresult CUDAAPI cuTexRefSetMipmapLevelBias(CUtexref h_tex_ref, float bias);
CUresult CUDAAPI cuTexRefSetMipmapLevelClamp(CUtexref h_tex_ref, float min_mipmap_level_clamp,
                                             float max_mipmap_level_clamp);
CUresult CUDAAPI cuTexRefSetMaxAnisotropy(CUtexref h_tex_ref, unsigned int max_aniso);
CUresult CUDAAPI cuTexRefSetBorderColor(CUtexref h_tex_ref, float *p_border_color);
CUresult CUDAAPI cuTexRefSetFlags(CUtexref h_tex_ref, unsigned int flags);
CUresult CUDAAPI cuTexRefGetAddress_v2(CUdeviceptr *pdptr, CUtexref h_tex_ref);
CUresult CUDAAPI cuTexRefGetArray(CUarray *ph_array, CUtexref h_tex_ref);
CUresult CUDAAPI cuTexRefGetMipmappedArray(CUmipmappedArray *ph_mipmapped_array, CUtexref h_tex_ref);
CUresult CUDAAPI cuTexRefGetAddressMode(CUaddress_mode *pam, CUtexref h_tex_ref, int dim);
CUresult CUDAAPI cuTexRefGetFilterMode(CUfilter_mode *pfm, CUtexref h_tex_ref);
CUresult CUDAAPI cuTexRefGetFormat(CUarray_format *p_format, int *p_num_channels, CUtexref h_tex_ref);
CUresult CUDAAPI cuTexRefGetMipmapFilterMode(CUfilter_mode *pfm, CUtexref h_tex_ref);
CUresult CUDAAPI cuTexRefGetMipmapLevelBias(float *pbias, CUtexref h_tex_ref);
CUresult CUDAAPI cuTexRefGetMipmapLevelClamp(float *pmin_mipmap_level_clamp, float *pmax_mipmap_level_clamp,
                                             CUtexref h_tex_ref);
CUresult CUDAAPI cuTexRefGetMaxAnisotropy(int *pmax_aniso, CUtexref h_tex_ref);
CUresult CUDAAPI cuTexRefGetBorderColor(float *p_border_color, CUtexref h_tex_ref);
CUresult CUDAAPI cuTexRefGetFlags(unsigned int *p_flags, CUtexref h_tex_ref);
CUresult CUDAAPI cuTexRefCreate(CUtexref *p_tex_ref);
CUresult CUDAAPI cuTexRefDestroy(CUtexref h_tex_ref);
CUresult CUDAAPI cuSurfRefSetArray(CUsurfref h_surf_ref, CUarray h_array, unsigned int flags);
CUresult CUDAAPI cuSurfRefGetArray(CUarray *ph_array, CUsurfref h_surf_ref);
CUresult CUDAAPI cuTexObjectCreate(CUtexObject *p_tex_object, const CUDA_RESOURCE_DESC *p_res_desc,
                                   const CUDA_TEXTURE_DESC *p_tex_desc, const CUDA_RESOURCE_VIEW_DESC *p_res_view_desc);
CUresult CUDAAPI cuTexObjectDestroy(CUtexObject tex_object);
CUresult CUDAAPI cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *p_res_desc, CUtexObject tex_object);
CUresult CUDAAPI cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *p_tex_desc, CUtexObject tex_object);
CUresult CUDAAPI cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *p_res_view_desc, CUtexObject tex_object);
CUresult CUDAAPI cuSurfObjectCreate(CUsurfObject *p_surf_object, const CUDA_RESOURCE_DESC *p_res_desc);
CUresult CUDAAPI cuSurfObjectDestroy(CUsurfObject surf_object);
CUresult CUDAAPI cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *p_res_desc, CUsurfObject surf_object);

/* Streams. */
CUresult CUDAAPI cuStreamCreate(CUstream *ph_stream, unsigned int flags);
CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *ph_stream, unsigned int flags, int priority);
CUresult CUDAAPI cuStreamGetPriority(CUstream h_stream, int *priority);
CUresult CUDAAPI cuStreamGetDevice(CUstream h_stream, CUdevice *device);
CUresult CUDAAPI cuStreamGetFlags(CUstream h_stream, unsigned int *flags);
CUresult CUDAAPI cuStreamGetId(CUstream h_stream, unsigned long long *stream_id);
CUresult CUDAAPI cuStreamGetCtx(CUstream h_stream, CUcontext *pctx);
CUresult CUDAAPI cuStreamGetCtx_v2(CUstream h_stream, CUcontext *p_ctx, CUgreenCtx *p_green_ctx);
CUresult CUDAAPI cuStreamWaitEvent(CUstream h_stream, CUevent h_event, unsigned int flags);
CUresult CUDAAPI cuStreamAddCallback(CUstream h_stream, CUstreamCallback callback, void *user_data, unsigned int flags);
CUresult CUDAAPI cuStreamBeginCapture(CUstream h_stream, CUstreamCaptureMode mode);
CUresult CUDAAPI cuStreamBeginCaptureToGraph(CUstream h_stream, CUgraph h_graph, const CUgraphNode *dependencies,
                                             const CUgraphEdgeData *dependency_data, size_t num_dependencies,
                                             CUstreamCaptureMode mode);
CUresult CUDAAPI cuStreamEndCapture(CUstream h_stream, CUgraph *ph_graph);
CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);
CUresult CUDAAPI cuStreamIsCapturing(CUstream h_stream, CUstreamCaptureStatus *capture_status);
CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream h_stream, CUstreamCaptureStatus *capture_status_out,
                                        cuuint64_t *id_out, CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                        const CUgraphEdgeData **edge_data_out, size_t *num_dependencies_out);
CUresult CUDAAPI cuStreamUpdateCaptureDependencies(CUstream h_stream, CUgraphNode *dependencies,
                                                   const CUgraphEdgeData *dependency_data, size_t num_dependencies,
                                                   unsigned int flags);
CUresult CUDAAPI cuStreamAttachMemAsync(CUstream h_stream, CUdeviceptr dptr, size_t length, unsigned int flags);
CUresult CUDAAPI cuStreamQuery(CUstream h_stream);
CUresult CUDAAPI cuStreamSynchronize(CUstream h_stream);
CUresult CUDAAPI cuStreamDestroy_v2(CUstream h_stream);
CUresult CUDAAPI cuStreamCopyAttributes(CUstream dst, CUstream src);
CUresult CUDAAPI cuStreamGetAttribute(CUstream h_stream, CUstreamAttrID attr, CUstreamAttrValue *value_out);
CUresult CUDAAPI cuStreamSetAttribute(CUstream h_stream, CUstreamAttrID attr, const CUstreamAttrValue *value);
CUresult CUDAAPI cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags);
CUresult CUDAAPI cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags);
CUresult CUDAAPI cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags);
CUresult CUDAAPI cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags);
CUresult CUDAAPI cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *param_array,
                                    unsigned int flags);

/* Events. */
CUresult CUDAAPI cuEventCreate(CUevent *ph_event, unsigned int flags);
CUresult CUDAAPI cuEventRecord(CUevent h_event, CUstream h_stream);
CUresult CUDAAPI cuEventRecordWithFlags(CUevent h_event, CUstream h_stream, unsigned int flags);
CUresult CUDAAPI cuEventQuery(CUevent h_event);
CUresult CUDAAPI cuEventSynchronize(CUevent h_event);
CUresult CUDAAPI cuEventDestroy_v2(CUevent h_event);
CUresult CUDAAPI cuEventElapsedTime_v2(float *p_milliseconds, CUevent h_start, CUevent h_end);

/* Graphs. */
CUresult CUDAAPI cuGraphCreate(CUgraph *ph_graph, unsigned int flags);
CUresult CUDAAPI cuGraphAddKernelNode_v2(CUgraphNode *ph_graph_node, CUgraph h_graph, const CUgraphNode *dependencies,
                                         size_t num_dependencies, const CUDA_KERNEL_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphKernelNodeGetParams_v2(CUgraphNode h_node, CUDA_KERNEL_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphKernelNodeSetParams_v2(CUgraphNode h_node, const CUDA_KERNEL_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode *ph_graph_node, CUgraph h_graph, const CUgraphNode *dependencies,
                                      size_t num_dependencies, const CUDA_MEMCPY3D *copy_params, CUcontext ctx);
CUresult CUDAAPI cuGraphMemcpyNodeGetParams(CUgraphNode h_node, CUDA_MEMCPY3D *node_params);
CUresult CUDAAPI cuGraphMemcpyNodeSetParams(CUgraphNode h_node, const CUDA_MEMCPY3D *node_params);
CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode *ph_graph_node, CUgraph h_graph, const CUgraphNode *dependencies,
                                      size_t num_dependencies, const CUDA_MEMSET_NODE_PARAMS *memset_params,
                                      CUcontext ctx);
CUresult CUDAAPI cuGraphMemsetNodeGetParams(CUgraphNode h_node, CUDA_MEMSET_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphMemsetNodeSetParams(CUgraphNode h_node, const CUDA_MEMSET_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphAddHostNode(CUgraphNode *ph_graph_node, CUgraph h_graph, const CUgraphNode *dependencies,
                                    size_t num_dependencies, const CUDA_HOST_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphHostNodeGetParams(CUgraphNode h_node, CUDA_HOST_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphHostNodeSetParams(CUgraphNode h_node, const CUDA_HOST_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphAddChildGraphNode(CUgraphNode *ph_graph_node, CUgraph h_graph, const CUgraphNode *dependencies,
                                          size_t num_dependencies, CUgraph child_graph);
CUresult CUDAAPI cuGraphChildGraphNodeGetGraph(CUgraphNode h_node, CUgraph *ph_graph);
CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode *ph_graph_node, CUgraph h_graph, const CUgraphNode *dependencies,
                                     size_t num_dependencies);
CUresult CUDAAPI cuGraphAddEventRecordNode(CUgraphNode *ph_graph_node, CUgraph h_graph, const CUgraphNode *dependencies,
                                           size_t num_dependencies, CUevent event);
CUresult CUDAAPI cuGraphEventRecordNodeGetEvent(CUgraphNode h_node, CUevent *event_out);
CUresult CUDAAPI cuGraphEventRecordNodeSetEvent(CUgraphNode h_node, CUevent event);
CUresult CUDAAPI cuGraphAddEventWaitNode(CUgraphNode *ph_graph_node, CUgraph h_graph, const CUgraphNode *dependencies,
                                         size_t num_dependencies, CUevent event);
CUresult CUDAAPI cuGraphEventWaitNodeGetEvent(CUgraphNode h_node, CUevent *event_out);
CUresult CUDAAPI cuGraphEventWaitNodeSetEvent(CUgraphNode h_node, CUevent event);
CUresult CUDAAPI cuGraphAddMemAllocNode(CUgraphNode *ph_graph_node, CUgraph h_graph, const CUgraphNode *dependencies,
                                        size_t num_dependencies, CUDA_MEM_ALLOC_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphMemAllocNodeGetParams(CUgraphNode h_node, CUDA_MEM_ALLOC_NODE_PARAMS *params_out);
CUresult CUDAAPI cuGraphAddMemFreeNode(CUgraphNode *ph_graph_node, CUgraph h_graph, const CUgraphNode *dependencies,
                                       size_t num_dependencies, CUdeviceptr dptr);
CUresult CUDAAPI cuGraphMemFreeNodeGetParams(CUgraphNode h_node, CUdeviceptr *dptr_out);
CUresult CUDAAPI cuDeviceGraphMemTrim(CUdevice device);
CUresult CUDAAPI cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value);
CUresult CUDAAPI cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value);
CUresult CUDAAPI cuGraphAddBatchMemOpNode(CUgraphNode *ph_graph_node, CUgraph h_graph, const CUgraphNode *dependencies,
                                          size_t num_dependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphBatchMemOpNodeGetParams(CUgraphNode h_node, CUDA_BATCH_MEM_OP_NODE_PARAMS *node_params_out);
CUresult CUDAAPI cuGraphBatchMemOpNodeSetParams(CUgraphNode h_node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphExecBatchMemOpNodeSetParams(CUgraphExec h_graph_exec, CUgraphNode h_node,
                                                    const CUDA_BATCH_MEM_OP_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphAddNode_v2(CUgraphNode *ph_graph_node, CUgraph h_graph, const CUgraphNode *dependencies,
                                   const CUgraphEdgeData *dependency_data, size_t num_dependencies,
                                   CUgraphNodeParams *node_params);
CUresult CUDAAPI cuGraphNodeSetParams(CUgraphNode h_node, CUgraphNodeParams *node_params);
CUresult CUDAAPI cuGraphExecNodeSetParams(CUgraphExec h_graph_exec, CUgraphNode h_node, CUgraphNodeParams *node_params);
CUresult CUDAAPI cuGraphConditionalHandleCreate(CUgraphConditionalHandle *p_handle_out, CUgraph h_graph, CUcontext ctx,
                                                unsigned int default_launch_value, unsigned int flags);
CUresult CUDAAPI cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
                                    unsigned int initial_refcount, unsigned int flags);
CUresult CUDAAPI cuUserObjectRetain(CUuserObject object, unsigned int count);
CUresult CUDAAPI cuUserObjectRelease(CUuserObject object, unsigned int count);
CUresult CUDAAPI cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags);
CUresult CUDAAPI cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count);
CUresult CUDAAPI cuGraphClone(CUgraph *ph_graph_clone, CUgraph original_graph);
CUresult CUDAAPI cuGraphNodeFindInClone(CUgraphNode *ph_node, CUgraphNode h_original_node, CUgraph h_cloned_graph);
CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode h_node, CUgraphNodeType *type);
CUresult CUDAAPI cuGraphGetNodes(CUgraph h_graph, CUgraphNode *nodes, size_t *num_nodes);
CUresult CUDAAPI cuGraphGetRootNodes(CUgraph h_graph, CUgraphNode *root_nodes, size_t *num_root_nodes);
CUresult CUDAAPI cuGraphGetEdges_v2(CUgraph h_graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edge_data,
                                    size_t *num_edges);
CUresult CUDAAPI cuGraphNodeGetDependencies_v2(CUgraphNode h_node, CUgraphNode *dependencies,
                                               CUgraphEdgeData *edge_data, size_t *num_dependencies);
CUresult CUDAAPI cuGraphNodeGetDependentNodes_v2(CUgraphNode h_node, CUgraphNode *dependent_nodes,
                                                 CUgraphEdgeData *edge_data, size_t *num_dependent_nodes);
CUresult CUDAAPI cuGraphAddDependencies_v2(CUgraph h_graph, const CUgraphNode *from, const CUgraphNode *to,
                                           const CUgraphEdgeData *edge_data, size_t num_dependencies);
CUresult CUDAAPI cuGraphRemoveDependencies_v2(CUgraph h_graph, const CUgraphNode *from, const CUgraphNode *to,
                                              const CUgraphEdgeData *edge_data, size_t num_dependencies);
CUresult CUDAAPI cuGraphDestroyNode(CUgraphNode h_node);
CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *ph_graph_exec, CUgraph h_graph, unsigned long long flags);
CUresult CUDAAPI cuGraphInstantiateWithParams(CUgraphExec *ph_graph_exec, CUgraph h_graph,
                                              CUDA_GRAPH_INSTANTIATE_PARAMS *instantiate_params);
CUresult CUDAAPI cuGraphExecGetFlags(CUgraphExec h_graph_exec, cuuint64_t *flags);
CUresult CUDAAPI cuGraphExecKernelNodeSetParams_v2(CUgraphExec h_graph_exec, CUgraphNode h_node,
                                                   const CUDA_KERNEL_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphExecMemcpyNodeSetParams(CUgraphExec h_graph_exec, CUgraphNode h_node,
                                                const CUDA_MEMCPY3D *copy_params, CUcontext ctx);
CUresult CUDAAPI cuGraphExecMemsetNodeSetParams(CUgraphExec h_graph_exec, CUgraphNode h_node,
                                                const CUDA_MEMSET_NODE_PARAMS *memset_params, CUcontext ctx);
CUresult CUDAAPI cuGraphExecHostNodeSetParams(CUgraphExec h_graph_exec, CUgraphNode h_node,
                                              const CUDA_HOST_NODE_PARAMS *node_params);
CUresult CUDAAPI cuGraphExecChildGraphNodeSetParams(CUgraphExec h_graph_exec, CUgraphNode h_node, CUgraph child_graph);
CUresult CUDAAPI cuGraphExecEventRecordNodeSetEvent(CUgraphExec h_graph_exec, CUgraphNode h_node, CUevent event);
CUresult CUDAAPI cuGraphExecEventWaitNodeSetEvent(CUgraphExec h_graph_exec, CUgraphNode h_node, CUevent event);
CUresult CUDAAPI cuGraphNodeSetEnabled(CUgraphExec h_graph_exec, CUgraphNode h_node, unsigned int is_enabled);
CUresult CUDAAPI cuGraphNodeGetEnabled(CUgraphExec h_graph_exec, CUgraphNode h_node, unsigned int *is_enabled);
CUresult CUDAAPI cuGraphUpload(CUgraphExec h_graph_exec, CUstream h_stream);
CUresult CUDAAPI cuGraphLaunch(CUgraphExec h_graph_exec, CUstream h_stream);
CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec h_graph_exec);
CUresult CUDAAPI cuGraphDestroy(CUgraph h_graph);
CUresult CUDAAPI cuGraphExecUpdate_v2(CUgraphExec h_graph_exec, CUgraph h_graph,
                                      CUgraphExecUpdateResultInfo *result_info);
CUresult CUDAAPI cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src);
CUresult CUDAAPI cuGraphKernelNodeGetAttribute(CUgraphNode h_node, CUkernelNodeAttrID attr,
                                               CUkernelNodeAttrValue *value_out);
CUresult CUDAAPI cuGraphKernelNodeSetAttribute(CUgraphNode h_node, CUkernelNodeAttrID attr,
                                               const CUkernelNodeAttrValue *value);
CUresult CUDAAPI cuGraphDebugDotPrint(CUgraph h_graph, const char *path, unsigned int flags);

#ifdef __CUDA_API_PER_THREAD_DEFAULT_STREAM
/* Asked for no particular kind of default stream, the address of the per-thread form is given. */
static inline CUresult heddle_get_proc_address_per_thread(const char *symbol, void **pfn, int cuda_version,
                                                          cuuint64_t flags,
                                                          CUdriverProcAddressQueryResult *symbol_status)
{
    if (!(flags & (CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)))
        flags |= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    return cuGetProcAddress_v2(symbol, pfn, cuda_version, flags, symbol_status);
}
#define cuGetProcAddress_v2 heddle_get_proc_address_per_thread
#endif

#ifdef __cplusplus
}
#endif

#endif
#endif
