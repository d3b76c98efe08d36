/* Device, pitched, pinned, registered and managed memory.
 *
 * exec/memory.h knows which addresses exist; here is kept to whom an allocation belongs and how it was made. All of it
 * is one address space, and host and device use the same addresses. Managed memory never moves: advice and prefetching
 * are checked and remembered (advice.h). */
#include "cuda/advice.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Sorted by base; guarded by the driver's lock. */
static struct table {
    struct allocation *entries;
    uint32_t count, capacity;
} table;

static uint32_t first_above(uint64_t address)
{
    uint32_t low = 0, high = table.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table.entries[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct allocation *allocation_find(uint64_t address)
{
    uint32_t above = first_above(address);
    if (!above)
        return NULL;
    struct allocation *a = &table.entries[above - 1];
    return address - a->base < a->size_bytes ? a : NULL;
}

bool allocation_add(const struct allocation *a)
{
    if (table.count == table.capacity) {
        uint32_t capacity = table.capacity ? table.capacity * 2 : 64;
        struct allocation *entries = realloc(table.entries, capacity * sizeof *entries);
        if (!entries)
            return false;
        table.entries = entries;
        table.capacity = capacity;
    }
    uint32_t at = first_above(a->base);
    memmove(&table.entries[at + 1], &table.entries[at], (table.count - at) * sizeof *a);
    table.entries[at] = *a;
    table.count++;
    return true;
}

void allocation_forget(uint64_t base)
{
    struct allocation *a = allocation_find(base);
    if (!a || a->base != base)
        return;
    uint32_t at = (uint32_t)(a - table.entries);
    memmove(a, a + 1, (table.count - at - 1) * sizeof *a);
    table.count--;
}

void allocations_each(void (*visit)(const struct allocation *a, void *user), void *user)
{
    for (uint32_t i = 0; i < table.count; i++)
        visit(&table.entries[i], user);
}

CUresult allocation_new(struct context *ctx, uint64_t bytes, uint64_t align, enum memory_kind kind, unsigned int flags,
                        uint64_t *address)
{
    struct memory *m = driver_get()->gpu->memory;
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t base = memory_alloc(m, bytes, align, kind, NULL);
    if (!base)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct allocation a = {.base = base, .size_bytes = bytes, .kind = kind, .owner = ctx, .flags = flags};
    if (!allocation_add(&a)) {
        memory_release(m, base);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = base;
    return CUDA_SUCCESS;
}

CUresult allocation_drop(struct allocation *a)
{
    uint64_t base = a->base;
    bool of_graph = a->is_graph, of_host = a->is_pool_host;
    pool_gave_back(a);
    if (a->kind == MEMORY_MANAGED)
        advice_forget(base, a->size_bytes);
    allocation_forget(base);
    bool ok = of_host ? pool_host_release(base) : memory_release(driver_get()->gpu->memory, base);
    if (of_graph)
        graph_memory_freed(base);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void allocations_free_of(struct context *ctx)
{
    for (uint32_t i = table.count; i-- > 0;)
        if (table.entries[i].owner == ctx)
            allocation_drop(&table.entries[i]);
}

enum pointer_class pointer_classify(uint64_t address, uint64_t bytes)
{
    const struct memory *m = driver_get()->gpu->memory;
    if (memory_find(m, address))
        return device_range_ok(address, bytes) ? POINTER_DEVICE : POINTER_BAD;
    if (!address || address - m->reserved_base < m->reserved_bytes || graph_memory_holds(address, 1))
        return POINTER_BAD;
    return POINTER_HOST;
}

CUAPI CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS) {
        const struct memory *m = driver_get()->gpu->memory;
        if (free_bytes)
            *free_bytes = m->used_bytes < m->capacity_bytes ? m->capacity_bytes - m->used_bytes : 0;
        if (total_bytes)
            *total_bytes = m->capacity_bytes;
    }
    return api_leave(r);
}
API_ALIAS(cuMemGetInfo, cuMemGetInfo_v2)

static CUresult allocate(CUdeviceptr *out, size_t bytes, uint64_t align, enum memory_kind kind, unsigned int flags)
{
    struct context *ctx = NULL;
    uint64_t address = 0;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = out ? capture_refuse_unsafe() : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = allocation_new(ctx, bytes, align, kind, flags, &address);
    if (r == CUDA_SUCCESS)
        *out = address;
    return api_leave(r);
}

CUAPI CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes) { return allocate(out, bytes, 512, MEMORY_DEVICE, 0); }
API_ALIAS(cuMemAlloc, cuMemAlloc_v2)

CUAPI CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width_bytes, size_t height,
                                  unsigned int element_bytes)
{
    size_t row = (width_bytes + 511) & ~(size_t)511;
    bool shape_ok = pitch && width_bytes && height && (element_bytes == 4 || element_bytes == 8 || element_bytes == 16);
    if (shape_ok && (row < width_bytes || row > SIZE_MAX / height))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = allocate(shape_ok ? out : NULL, row * height, 512, MEMORY_DEVICE, 0);
    if (r == CUDA_SUCCESS)
        *pitch = row;
    return r;
}
API_ALIAS(cuMemAllocPitch, cuMemAllocPitch_v2)

CUAPI CUresult cuMemFree_v2(CUdeviceptr address)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_WAITING);
    if (r == CUDA_SUCCESS && address) {
        struct allocation *a = allocation_find(address);
        bool mine = a && a->base == address && (a->kind == MEMORY_DEVICE || a->kind == MEMORY_MANAGED || a->is_pool);
        r = mine ? capture_refuse_unsafe() : CUDA_ERROR_INVALID_VALUE;
        if (r == CUDA_SUCCESS)
            r = allocation_drop(a);
    }
    return api_leave(r);
}
API_ALIAS(cuMemFree, cuMemFree_v2)

CUAPI CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    const struct memory_range *range = r == CUDA_SUCCESS ? memory_find(driver_get()->gpu->memory, address) : NULL;
    if (r == CUDA_SUCCESS && (!range || !range_is_copyable(range->kind)))
        r = CUDA_ERROR_NOT_FOUND;
    if (r == CUDA_SUCCESS && base)
        *base = range->base;
    if (r == CUDA_SUCCESS && size)
        *size = range->size_bytes;
    return api_leave(r);
}
API_ALIAS(cuMemGetAddressRange, cuMemGetAddressRange_v2)

CUAPI CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned int flags)
{
    CUdeviceptr address = 0;
    if (!out || (flags & ~(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED)))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = allocate(&address, bytes, 4096, MEMORY_HOST, flags | CU_MEMHOSTALLOC_DEVICEMAP);
    if (r == CUDA_SUCCESS)
        *out = memory_pointer(address);
    return r;
}

CUAPI CUresult cuMemAllocHost_v2(void **out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }
API_ALIAS(cuMemAllocHost, cuMemAllocHost_v2)

static struct allocation *host_allocation(const void *p, bool registered)
{
    struct allocation *a = allocation_find((uintptr_t)p);
    return a && a->kind == MEMORY_HOST && a->registered == registered ? a : NULL;
}

CUAPI CUresult cuMemFreeHost(void *p)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_WAITING);
    if (r == CUDA_SUCCESS && p) {
        struct allocation *a = host_allocation(p, false);
        r = a && a->base == (uintptr_t)p ? capture_refuse_unsafe() : CUDA_ERROR_INVALID_VALUE;
        if (r == CUDA_SUCCESS)
            r = allocation_drop(a);
    }
    return api_leave(r);
}

/* Is there memory at all of these addresses? The kernel is asked for a part at a time, and the first gap is the end of
 * it. */
static bool is_mapped(uintptr_t address, size_t bytes)
{
    enum { PART = 1 << 28 };
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = address & ~(page - 1), end = address + bytes;
    unsigned char *resident = malloc(PART / page);
    bool mapped = resident != NULL;
    while (mapped && at < end) {
        size_t part = end - at < PART ? end - at : PART;
        mapped = mincore((void *)at, part, resident) == 0;
        at += part;
    }
    free(resident);
    return mapped;
}

/* What is registered is pinned, so that the host must have it, however much a program has reserved. */
static bool fits_into_host(size_t bytes)
{
    return bytes / (size_t)sysconf(_SC_PAGESIZE) <= (size_t)sysconf(_SC_PHYS_PAGES);
}

CUAPI CUresult cuMemHostRegister_v2(void *p, size_t bytes, unsigned int flags)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    struct memory *m = r == CUDA_SUCCESS ? driver_get()->gpu->memory : NULL;
    if (r == CUDA_SUCCESS && (!p || !bytes || (uintptr_t)p + bytes < (uintptr_t)p || (flags & ~0xfu)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && (flags & CU_MEMHOSTREGISTER_IOMEMORY))
        r = CUDA_ERROR_NOT_SUPPORTED;
    if (r == CUDA_SUCCESS && !fits_into_host(bytes))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS && !is_mapped((uintptr_t)p, bytes))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !memory_register(m, p, bytes, MEMORY_HOST))
        r = host_allocation(p, true) ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        struct allocation a = {.base = (uintptr_t)p,
                               .size_bytes = bytes,
                               .kind = MEMORY_HOST,
                               .owner = ctx,
                               .flags = flags,
                               .registered = true};
        if (!allocation_add(&a)) {
            memory_release(m, a.base);
            r = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return api_leave(r);
}
API_ALIAS(cuMemHostRegister, cuMemHostRegister_v2)

CUAPI CUresult cuMemHostUnregister(void *p)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_WAITING);
    if (r == CUDA_SUCCESS && !p)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        struct allocation *a = allocation_find((uintptr_t)p);
        bool registered = a && a->registered && a->base == (uintptr_t)p;
        r = registered ? allocation_drop(a) : a ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    return api_leave(r);
}

CUAPI CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *p, unsigned int flags)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && (!out || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !host_allocation(p, false) && !host_allocation(p, true))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = (uintptr_t)p;
    return api_leave(r);
}
API_ALIAS(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2)

/* All pinned memory is mapped. */
CUAPI CUresult cuMemHostGetFlags(unsigned int *flags, void *p)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    const struct allocation *a = r == CUDA_SUCCESS ? allocation_find((uintptr_t)p) : NULL;
    if (r == CUDA_SUCCESS && (!a || a->kind != MEMORY_HOST || !flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *flags = CU_MEMHOSTALLOC_DEVICEMAP | a->flags;
    return api_leave(r);
}

CUAPI CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned int flags)
{
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(out, bytes, 4096, MEMORY_MANAGED, flags);
}

/* Locks, as api_enter does; fails where not all of the range is managed memory. */
static CUresult enter_managed(CUdeviceptr address, size_t bytes)
{
    CUresult r = api_enter(NULL, API_CONTEXT);
    const struct memory_range *range = r == CUDA_SUCCESS ? memory_find(driver_get()->gpu->memory, address) : NULL;
    if (r == CUDA_SUCCESS &&
        (!bytes || !range || range->kind != MEMORY_MANAGED || bytes > range->base + range->size_bytes - address))
        r = CUDA_ERROR_INVALID_VALUE;
    return r;
}

static bool is_host(CUmemLocation l)
{
    return l.type == CU_MEM_LOCATION_TYPE_HOST || l.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           l.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static bool location_ok(CUmemLocation l) { return (l.type == CU_MEM_LOCATION_TYPE_DEVICE && l.id == 0) || is_host(l); }

static CUmemLocation location_of(CUdevice dev)
{
    CUmemLocation l = {dev == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE,
                       dev == CU_DEVICE_CPU ? 0 : dev};
    return l;
}

/* The host has no number; asked for, it is -1. */
static bool remember(CUdeviceptr address, size_t bytes, enum advice_kind kind, CUmemLocation place)
{
    if (place.type == CU_MEM_LOCATION_TYPE_HOST)
        place.id = CU_DEVICE_CPU;
    return advice_set(address, bytes, kind, place);
}

static bool note_advice(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation place)
{
    const CUmemLocation none = {CU_MEM_LOCATION_TYPE_INVALID, CU_DEVICE_INVALID};
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: return advice_set(address, bytes, ADVICE_READ_MOSTLY, place);
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: return advice_set(address, bytes, ADVICE_READ_MOSTLY, none);
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: return remember(address, bytes, ADVICE_PREFERRED, place);
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: return advice_set(address, bytes, ADVICE_PREFERRED, none);
    case CU_MEM_ADVISE_SET_ACCESSED_BY: return is_host(place) || advice_set(address, bytes, ADVICE_ACCESSED_BY, place);
    default: return is_host(place) || advice_set(address, bytes, ADVICE_ACCESSED_BY, none);
    }
}

static CUresult advise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location)
{
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY || !location_ok(location))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_managed(address, bytes);
    if (r == CUDA_SUCCESS && !note_advice(address, bytes, advice, location))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    return api_leave(r);
}

CUAPI CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location)
{
    return advise(address, bytes, advice, location);
}

/* Where the advice is about the memory alone, any device will do. */
static CUresult advise_v1(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice dev)
{
    bool takes_place = advice != CU_MEM_ADVISE_SET_READ_MOSTLY && advice != CU_MEM_ADVISE_UNSET_READ_MOSTLY &&
                       advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    return advise(address, bytes, advice, location_of(takes_place ? dev : 0));
}
API_ALIAS(cuMemAdvise, advise_v1)

CUAPI CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags,
                                     CUstream stream)
{
    if (flags || (!location_ok(location) && location.type != CU_MEM_LOCATION_TYPE_DEVICE))
        return CUDA_ERROR_INVALID_VALUE;
    if (!location_ok(location))
        return CUDA_ERROR_INVALID_DEVICE;
    CUresult r = enter_managed(address, bytes);
    if (r == CUDA_SUCCESS)
        r = capture_refuse(stream);
    if (r == CUDA_SUCCESS && !remember(address, bytes, ADVICE_PREFETCHED, location))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    return api_leave(r);
}
API_ALIAS(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync_v2)

static CUresult prefetch_v1(CUdeviceptr address, size_t bytes, CUdevice dev, CUstream stream)
{
    return cuMemPrefetchAsync_v2(address, bytes, location_of(dev), 0, stream);
}
API_ALIAS(cuMemPrefetchAsync, prefetch_v1)
API_ALIAS(cuMemPrefetchAsync_ptsz, prefetch_v1)
