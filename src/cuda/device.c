/* The device: one, as large as the machine file says, with the compute capability of the instructions that are
 * executed, not of the machine that is modelled. */
#include "cuda/internal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { CAPABILITY_MAJOR = 9, CAPABILITY_MINOR = 0, MOST_THREADS = 1024, USUAL_SHARED_BYTES = 48 << 10 };
static const char pci_bus_id[] = "0000:01:00.0";

static CUresult enter(CUdevice dev, const void *out)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS && dev != 0 ? CUDA_ERROR_INVALID_DEVICE : r;
}

CUAPI CUresult cuDeviceGetCount(int *count)
{
    CUresult r = enter(0, count);
    if (r == CUDA_SUCCESS)
        *count = 1;
    return api_leave(r);
}

CUAPI CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult r = enter(ordinal, device);
    if (r == CUDA_SUCCESS)
        *device = 0;
    return api_leave(r);
}

CUAPI CUresult cuDeviceGetName(char *name, int size, CUdevice dev)
{
    CUresult r = enter(dev, name);
    if (r == CUDA_SUCCESS && size <= 0)
        r = CUDA_ERROR_INVALID_VALUE;
    const struct gpu_options *o = r == CUDA_SUCCESS ? &driver_get()->gpu->options : NULL;
    if (r == CUDA_SUCCESS &&
        o->functional) /* programs call 9.0 Hopper, whatever machine is modelled: the name says both */
        snprintf(name, (size_t)size, "Heddle (sm_%d%d, no timing)", CAPABILITY_MAJOR, CAPABILITY_MINOR);
    else if (r == CUDA_SUCCESS)
        snprintf(name, (size_t)size, "Heddle (sm_%d%d, timed as %s)", CAPABILITY_MAJOR, CAPABILITY_MINOR,
                 o->machine.name);
    return api_leave(r);
}

/* The same in every process on the same machine file. */
CUAPI CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
    CUresult r = enter(dev, uuid);
    if (r == CUDA_SUCCESS) {
        uint64_t hash = 0xcbf29ce484222325ull;
        for (const char *p = driver_get()->gpu->options.machine.name; *p; p++)
            hash = (hash ^ (unsigned char)*p) * 0x100000001b3ull;
        memcpy(uuid->bytes, "heddle00", 8);
        memcpy(uuid->bytes + 8, &hash, 8);
    }
    return api_leave(r);
}
API_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2)

CUAPI CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
    CUresult r = enter(dev, bytes);
    if (r == CUDA_SUCCESS)
        *bytes = driver_get()->gpu->memory->capacity_bytes;
    return api_leave(r);
}
API_ALIAS(cuDeviceTotalMem, cuDeviceTotalMem_v2)

CUAPI CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    CUresult r = enter(dev, minor ? major : NULL);
    if (r == CUDA_SUCCESS) {
        *major = CAPABILITY_MAJOR;
        *minor = CAPABILITY_MINOR;
    }
    return api_leave(r);
}

/* Attributes whose value does not depend on the machine. Those not listed, here or below, are 0: features that are
 * absent. */
static const struct {
    CUdevice_attribute attribute;
    int value;
} fixed[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 64 << 10},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0x7fffffff},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, CAPABILITY_MAJOR},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, CAPABILITY_MINOR},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 0},
    {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 0},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 128 << 20},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, 0},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER, 1},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 8192},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, 8192},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 2046},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, 65536},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 2046},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 1 << 28},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2097120},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 32768},
};

/* What a block may have. With time it must fit the machine's core; functional mode runs any block that CUDA allows. */
static int most_threads(const struct gpu *g)
{
    uint32_t room = g->options.machine.sm.warps * 32;
    return g->options.functional || room > MOST_THREADS ? MOST_THREADS : (int)room;
}

static int most_shared(const struct gpu *g, int most)
{
    int room = (int)gpu_max_dynamic_shared(g);
    return room < most ? room : most;
}

/* As much of the L2 as capability 9.0 sets aside for lines that persist. It is a hint, which the machines have no use
 * for. */
size_t device_persisting_bytes(void) { return machine_l2_bytes(&driver_get()->gpu->options.machine) / 4 * 3; }

static int machine_attribute(const struct gpu *g, CUdevice_attribute attribute)
{
    const struct machine *m = &g->options.machine;
    int shared = most_shared(g, INT_MAX);
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return most_threads(g);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return most_shared(g, USUAL_SHARED_BYTES);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return shared;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return (int)m->cores;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return (int)m->sm.warps * 32;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return (int)m->sm.blocks;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return (int)m->sm.registers;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return (int)m->sm.shared_bytes > shared ? (int)m->sm.shared_bytes : shared;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return (int)m->mem.core_khz;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return (int)m->mem.dram_khz;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return (int)machine_bus_bits(m);
    case CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE: return (int)device_persisting_bytes();
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return (int)machine_l2_bytes(m);
    default: break;
    }
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (fixed[i].attribute == attribute)
            return fixed[i].value;
    return 0;
}

CUAPI CUresult cuDeviceGetAttribute(int *out, CUdevice_attribute attribute, CUdevice dev)
{
    CUresult r = enter(dev, out);
    if (r == CUDA_SUCCESS &&
        (attribute < CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK || attribute >= CU_DEVICE_ATTRIBUTE_MAX))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = machine_attribute(driver_get()->gpu, attribute);
    return api_leave(r);
}

CUAPI CUresult cuDeviceGetProperties(CUdevprop *out, CUdevice dev)
{
    CUresult r = enter(dev, out);
    if (r == CUDA_SUCCESS) {
        const struct gpu *g = driver_get()->gpu;
        const struct machine *m = &g->options.machine;
        int threads = most_threads(g);
        *out = (CUdevprop){.maxThreadsPerBlock = threads,
                           .maxThreadsDim = {threads, threads, 64},
                           .maxGridSize = {0x7fffffff, 65535, 65535},
                           .sharedMemPerBlock = most_shared(g, USUAL_SHARED_BYTES),
                           .totalConstantMemory = 64 << 10,
                           .SIMDWidth = 32,
                           .memPitch = 0x7fffffff,
                           .regsPerBlock = (int)m->sm.registers,
                           .clockRate = (int)m->mem.core_khz,
                           .textureAlign = 512};
    }
    return api_leave(r);
}

CUAPI CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *out, CUarray_format format, unsigned channels, CUdevice dev)
{
    (void)format;
    CUresult r = enter(dev, out);
    if (r == CUDA_SUCCESS && channels != 1 && channels != 2 && channels != 4)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = (size_t)1 << 28;
    return api_leave(r);
}

CUAPI CUresult cuDeviceGetExecAffinitySupport(int *out, CUexecAffinityType type, CUdevice dev)
{
    (void)type;
    CUresult r = enter(dev, out);
    if (r == CUDA_SUCCESS)
        *out = 0;
    return api_leave(r);
}

CUAPI CUresult cuDeviceGetPCIBusId(char *out, int size, CUdevice dev)
{
    CUresult r = enter(dev, out);
    if (r == CUDA_SUCCESS && size <= 0)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        snprintf(out, (size_t)size, "%s", pci_bus_id);
    return api_leave(r);
}

CUAPI CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *id)
{
    unsigned int domain = 0, bus = 0, device = 0, function = 0;
    CUresult r = enter(0, id ? (const void *)out : NULL);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    int n = sscanf(id, "%x:%x:%x.%x", &domain, &bus, &device, &function);
    if (n < 3) {
        domain = 0;
        n = sscanf(id, "%x:%x.%x", &bus, &device, &function);
        if (n < 2)
            return api_leave(CUDA_ERROR_INVALID_VALUE);
    }
    if (domain || bus != 1 || device || function)
        return api_leave(CUDA_ERROR_INVALID_DEVICE);
    *out = 0;
    return api_leave(CUDA_SUCCESS);
}

CUAPI CUresult cuDeviceCanAccessPeer(int *out, CUdevice dev, CUdevice other)
{
    CUresult r = enter(dev, out);
    if (r == CUDA_SUCCESS && other != 0)
        r = CUDA_ERROR_INVALID_DEVICE;
    if (r == CUDA_SUCCESS)
        *out = 0;
    return api_leave(r);
}

CUAPI CUresult cuDeviceGetP2PAttribute(int *out, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to)
{
    (void)attribute, (void)to;
    CUresult r = enter(from, out);
    return api_leave(r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_DEVICE : r); /* there is no second device */
}
