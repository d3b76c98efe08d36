/* What is known of a pointer. CUDA 13 has a longer structure. */
#include "cudart/runtime.h"

enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };

struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
#if CUDART_MAJOR >= 13
    long reserved[8];
#endif
};

/* Memory that CUDA has nothing to do with is no error: it is host memory, of no device. */
static int look_up(struct cudaPointerAttributes *out, const void *p)
{
    CUmemorytype type = 0;
    unsigned int managed = 0;
    int device = 0;
    CUdeviceptr seen = 0;
    void *host = NULL;
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                        CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *data[] = {&type, &managed, &device, &seen, &host};
    int r = cuPointerGetAttributes(sizeof attributes / sizeof *attributes, attributes, data, (uintptr_t)p);
    if (r)
        return r;
    *out =
        (struct cudaPointerAttributes){.device = device, .devicePointer = (void *)(uintptr_t)seen, .hostPointer = host};
    if (type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE)
        out->type = managed                      ? cudaMemoryTypeManaged
                    : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                                 : cudaMemoryTypeDevice;
    else
        *out = (struct cudaPointerAttributes){.device = CU_DEVICE_INVALID, .hostPointer = (void *)(uintptr_t)p};
    return cudaSuccess;
}

RTAPI cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p)
{
    return rt_leave(rt_enter() ?: (out ? look_up(out, p) : (int)cudaErrorInvalidValue));
}
