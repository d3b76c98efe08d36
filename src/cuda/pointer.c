/* What is known of an address: pointer attributes and attributes of managed ranges. */
#include "cuda/advice.h"

#include <string.h>

struct pointer_facts {
    const struct memory_range *range;
    const struct allocation *allocation; /* NULL for variables of modules */
};

static struct pointer_facts facts_of(uint64_t address)
{
    struct pointer_facts f = {memory_find(driver_get()->gpu->memory, address), allocation_find(address)};
    if (f.range && (f.range->kind == MEMORY_PARAM || f.range->kind == MEMORY_HEAP || f.range->kind == MEMORY_RUNTIME ||
                    f.range->kind == MEMORY_ARRAY))
        f.range = NULL;
    return f;
}

#define PUT(type, value)                            \
    do {                                            \
        type put_value = (value);                   \
        memcpy(data, &put_value, sizeof put_value); \
    } while (0)

static struct context *owner_of(const struct pointer_facts *f)
{
    return f->allocation ? f->allocation->owner : context_current();
}

static CUresult attribute_of(void *data, CUpointer_attribute attribute, uint64_t address, const struct pointer_facts *f)
{
    const struct memory_range *r = f->range;
    bool host = r && r->kind == MEMORY_HOST, managed = r && r->kind == MEMORY_MANAGED;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: PUT(CUcontext, r ? (CUcontext)owner_of(f) : NULL); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        if (!r)
            return CUDA_ERROR_INVALID_VALUE;
        PUT(CUmemorytype, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: PUT(CUdeviceptr, r ? address : 0); break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (r && !host && !managed)
            return CUDA_ERROR_INVALID_VALUE;
        PUT(void *, r ? memory_pointer(address) : NULL);
        break;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: return CUDA_ERROR_NOT_SUPPORTED;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: PUT(unsigned int, 1); break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: PUT(unsigned long long, r ? r->serial : 0); break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: PUT(unsigned int, managed); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: PUT(int, r ? 0 : -2); break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: PUT(unsigned int, 0); break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: PUT(void *, r ? memory_pointer(r->base) : NULL); break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: PUT(size_t, r ? r->size_bytes : 0); break;
    case CU_POINTER_ATTRIBUTE_MAPPED: PUT(unsigned int, r != NULL); break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: PUT(uint64_t, 0); break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: PUT(unsigned int, 0); break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        PUT(unsigned int, r ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE : 0);
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        PUT(CUmemoryPool, f->allocation && f->allocation->is_pool ? (CUmemoryPool)f->allocation->pool : NULL);
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: PUT(size_t, r ? r->size_bytes : 0); break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: PUT(void *, r ? memory_pointer(r->base) : NULL); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: PUT(unsigned long long, r ? r->serial : 0); break;
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: PUT(unsigned int, 0); break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUAPI CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS && !data)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        struct pointer_facts f = facts_of(address);
        r = f.range ? attribute_of(data, attribute, address, &f) : CUDA_ERROR_INVALID_VALUE;
    }
    return api_leave(r);
}

/* An address nobody knows is not an error here: its attributes are zero. */
CUAPI CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data,
                                      CUdeviceptr address)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS && (!attributes || !data || !count))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    struct pointer_facts f = facts_of(address);
    for (unsigned int i = 0; i < count && r == CUDA_SUCCESS; i++) {
        if (!data[i])
            r = CUDA_ERROR_INVALID_VALUE;
        else if (attribute_of(data[i], attributes[i], address, &f) == CUDA_SUCCESS)
            continue;
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
            memset(data[i], 0, sizeof(CUmemorytype));
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER)
            memset(data[i], 0, sizeof(void *));
        else
            r = CUDA_ERROR_INVALID_VALUE;
    }
    return api_leave(r);
}

CUAPI CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS && (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !facts_of(address).range))
        r = CUDA_ERROR_INVALID_VALUE;
    return api_leave(r);
}

/* A number of a device stands for a place; -1 is the host. */
static int32_t place_number(CUmemLocation l)
{
    return l.type == CU_MEM_LOCATION_TYPE_DEVICE || l.type == CU_MEM_LOCATION_TYPE_HOST ? l.id : CU_DEVICE_INVALID;
}

static CUresult accessed_by(void *data, size_t size, uint64_t address, uint64_t bytes)
{
    int32_t device = place_number(advice_get(address, bytes, ADVICE_ACCESSED_BY));
    if (!size || size % sizeof device)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < size / sizeof device; i++) {
        memcpy((char *)data + i * sizeof device, &device, sizeof device);
        device = CU_DEVICE_INVALID;
    }
    return CUDA_SUCCESS;
}

static CUresult range_attribute(void *data, size_t size, CUmem_range_attribute attribute, uint64_t address,
                                uint64_t bytes)
{
    CUmemLocation preferred = advice_get(address, bytes, ADVICE_PREFERRED),
                  prefetched = advice_get(address, bytes, ADVICE_PREFETCHED);
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
        return accessed_by(data, size, address, bytes);
    if (size != sizeof(int32_t))
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        PUT(int32_t, advice_get(address, bytes, ADVICE_READ_MOSTLY).type != CU_MEM_LOCATION_TYPE_INVALID);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: PUT(int32_t, place_number(preferred)); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: PUT(int32_t, place_number(prefetched)); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: PUT(int32_t, (int32_t)preferred.type); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: PUT(int32_t, preferred.id); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: PUT(int32_t, (int32_t)prefetched.type); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: PUT(int32_t, prefetched.id); break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUAPI CUresult cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *attributes, size_t count,
                                       CUdeviceptr address, size_t bytes)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && (!data || !sizes || !attributes || !count || !bytes))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        const struct memory_range *range = facts_of(address).range;
        if (!range || range->kind != MEMORY_MANAGED || bytes > range->base + range->size_bytes - address)
            r = CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++)
        r = data[i] ? range_attribute(data[i], sizes[i], attributes[i], address, bytes) : CUDA_ERROR_INVALID_VALUE;
    return api_leave(r);
}

CUAPI CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute, CUdeviceptr address,
                                      size_t bytes)
{
    return cuMemRangeGetAttributes(&data, &size, &attribute, 1, address, bytes);
}
