/* Virtual memory management: address ranges are reserved, physical memory is made, and one is mapped into the other.
 *
 * A reservation is a range of the host's address space that nobody may touch, physical memory an anonymous file, and a
 * mapping maps the file. The device sees a mapping from cuMemSetAccess on. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cuda/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRANULE ((size_t)2 << 20)

struct physical {
    struct object object;
    int file;
    size_t size;
    uint32_t references; /* handles given out, and mappings */
    CUmemAllocationProp properties;
};

struct span {
    uint64_t base, size;
    struct physical *physical;
    size_t offset;
    bool visible;
}; /* physical NULL: a reservation */

/* Guarded by the driver's lock. Few of each: searched one by one. */
static struct spans {
    struct span *entries;
    uint32_t count, capacity;
} reservations, mappings;

static struct span *span_add(struct spans *s, struct span one)
{
    if (s->count == s->capacity) {
        uint32_t capacity = s->capacity ? s->capacity * 2 : 16;
        struct span *entries = realloc(s->entries, capacity * sizeof *entries);
        if (!entries)
            return NULL;
        s->entries = entries;
        s->capacity = capacity;
    }
    s->entries[s->count] = one;
    return &s->entries[s->count++];
}

static void span_remove(struct spans *s, struct span *one) { *one = s->entries[--s->count]; }

static struct span *span_holding(struct spans *s, uint64_t address, uint64_t size)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (address >= s->entries[i].base && address - s->entries[i].base < s->entries[i].size &&
            size <= s->entries[i].size - (address - s->entries[i].base))
            return &s->entries[i];
    return NULL;
}

static bool overlaps(const struct spans *s, uint64_t address, uint64_t size)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (address < s->entries[i].base + s->entries[i].size && s->entries[i].base < address + size)
            return true;
    return false;
}

static bool granular(uint64_t value) { return value % GRANULE == 0; }

CUAPI CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *p,
                                             CUmemAllocationGranularity_flags option)
{
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS && (!out || !p || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = GRANULE;
    return api_leave(r);
}

/* A range of twice the granule more, of which the ends that do not fit are given back. */
static void *reserve(size_t size, size_t align)
{
    uint8_t *at = mmap(NULL, size + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    size_t skew = (align - (uintptr_t)at % align) % align;
    if (skew)
        munmap(at, skew);
    munmap(at + skew + size, align - skew);
    return at + skew;
}

CUAPI CUresult cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t align, CUdeviceptr wanted,
                                   unsigned long long flags)
{
    (void)wanted; /* a hint */
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS && (!out || !size || !granular(size) || flags || (align & (align - 1)) ||
                              align > SIZE_MAX / 4 || size > SIZE_MAX / 4))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    void *at = reserve(size, align > GRANULE ? align : GRANULE);
    if (!at)
        return api_leave(CUDA_ERROR_OUT_OF_MEMORY);
    if (!span_add(&reservations, (struct span){.base = (uintptr_t)at, .size = size})) {
        munmap(at, size);
        return api_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    *out = (uintptr_t)at;
    return api_leave(CUDA_SUCCESS);
}

CUAPI CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
    CUresult r = api_enter(NULL, API_INIT);
    struct span *s = r == CUDA_SUCCESS ? span_holding(&reservations, address, size) : NULL;
    if (r == CUDA_SUCCESS && (!s || s->base != address || s->size != size || overlaps(&mappings, address, size)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        munmap(memory_pointer(address), size);
        span_remove(&reservations, s);
    }
    return api_leave(r);
}

static void physical_destroy(struct object *o) { close(((struct physical *)o)->file); }

static void physical_drop(struct physical *p)
{
    if (--p->references == 0)
        object_free(&p->object);
}

static bool properties_ok(const CUmemAllocationProp *p)
{
    bool place = (p->location.type == CU_MEM_LOCATION_TYPE_DEVICE && p->location.id == 0) ||
                 p->location.type == CU_MEM_LOCATION_TYPE_HOST || p->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
                 p->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    return p->type == CU_MEM_ALLOCATION_TYPE_PINNED && place;
}

CUAPI CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t size, const CUmemAllocationProp *p,
                           unsigned long long flags)
{
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS && (!out || !p || !size || !granular(size) || flags || !properties_ok(p)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && p->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
        r = CUDA_ERROR_NOT_SUPPORTED; /* no other process could take it */
    if (r == CUDA_SUCCESS && size > driver_get()->gpu->memory->capacity_bytes)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    int file = memfd_create("heddle", MFD_CLOEXEC);
    struct physical *made = file >= 0 && ftruncate(file, (off_t)size) == 0
                                ? object_new(sizeof *made, OBJECT_PHYSICAL, NULL, physical_destroy)
                                : NULL;
    if (!made) {
        if (file >= 0)
            close(file);
        return api_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    made->file = file;
    made->size = size;
    made->references = 1;
    made->properties = *p;
    *out = (uintptr_t)made;
    return api_leave(CUDA_SUCCESS);
}

static CUresult enter(CUmemGenericAllocationHandle handle, const void *out, struct physical **p)
{
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    *p = r == CUDA_SUCCESS ? object_find(memory_pointer(handle), OBJECT_PHYSICAL) : NULL;
    return r == CUDA_SUCCESS && !*p ? CUDA_ERROR_INVALID_VALUE : r;
}

CUAPI CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    struct physical *p;
    CUresult r = enter(handle, &p, &p);
    if (r == CUDA_SUCCESS)
        physical_drop(p);
    return api_leave(r);
}

CUAPI CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out, CUmemGenericAllocationHandle handle)
{
    struct physical *p;
    CUresult r = enter(handle, out, &p);
    if (r == CUDA_SUCCESS)
        *out = p->properties;
    return api_leave(r);
}

CUAPI CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *address)
{
    CUresult r = api_enter(NULL, API_INIT);
    struct span *s = r == CUDA_SUCCESS ? span_holding(&mappings, (uintptr_t)address, 1) : NULL;
    if (r == CUDA_SUCCESS && (!out || !s))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        s->physical->references++;
        *out = (uintptr_t)s->physical;
    }
    return api_leave(r);
}

CUAPI CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                        unsigned long long flags)
{
    struct physical *p;
    CUresult r = enter(handle, &p, &p);
    if (r == CUDA_SUCCESS && (!size || !granular(size) || !granular(address) || !granular(offset) || flags ||
                              offset > p->size || size > p->size - offset))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && (!span_holding(&reservations, address, size) || overlaps(&mappings, address, size)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    if (!span_add(&mappings, (struct span){.base = address, .size = size, .physical = p, .offset = offset}))
        return api_leave(CUDA_ERROR_OUT_OF_MEMORY);
    p->references++;
    return api_leave(CUDA_SUCCESS);
}

static bool show(struct span *s, bool visible)
{
    struct memory *m = driver_get()->gpu->memory;
    void *at = memory_pointer(s->base);
    if (s->visible == visible)
        return true;
    if (!visible) {
        memory_release(m, s->base);
        s->visible = false;
        return mmap(at, s->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
               MAP_FAILED;
    }
    if (mmap(at, s->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, s->physical->file, (off_t)s->offset) ==
        MAP_FAILED)
        return false;
    s->visible = memory_register(m, at, s->size, MEMORY_DEVICE);
    return s->visible;
}

/* Calls that take a range act on the mappings that make it up, each in full. */
static bool range_is_mapped(uint64_t address, uint64_t size)
{
    for (uint64_t at = address; at < address + size;) {
        const struct span *s = span_holding(&mappings, at, 1);
        if (!s || s->base != at || s->size > address + size - at)
            return false;
        at += s->size;
    }
    return size > 0;
}

CUAPI CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
    CUresult r = api_enter(NULL, API_INIT | API_WAITING);
    if (r == CUDA_SUCCESS && !range_is_mapped(address, size))
        r = CUDA_ERROR_INVALID_VALUE;
    for (uint64_t at = address; r == CUDA_SUCCESS && at < address + size;) {
        struct span *s = span_holding(&mappings, at, 1);
        at += s->size;
        show(s, false);
        physical_drop(s->physical);
        span_remove(&mappings, s);
    }
    return api_leave(r);
}

/* Read-only access is taken as access: kernels are not held back from writing. */
CUAPI CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count)
{
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS && (!access || !count || !range_is_mapped(address, size)))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
        bool device = access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE;
        if (device && access[i].location.id != 0)
            r = CUDA_ERROR_INVALID_DEVICE;
        for (uint64_t at = address; device && r == CUDA_SUCCESS && at < address + size;) {
            struct span *s = span_holding(&mappings, at, 1);
            at += s->size;
            if (!show(s, access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE))
                r = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return api_leave(r);
}

CUAPI CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address)
{
    CUresult r = api_enter(NULL, API_INIT);
    const struct span *s = r == CUDA_SUCCESS ? span_holding(&mappings, address, 1) : NULL;
    if (r == CUDA_SUCCESS && (!flags || !location || !s))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *flags = s->visible ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return api_leave(r);
}
