/* Memory pools and allocations in stream order. Memory goes back to the device as soon as it is freed: a pool holds
 * nothing in reserve, and its attributes say so. Memory of a pool on the host is the host's alone, unknown to the
 * device, until cuMemPoolSetAccess gives the device access. */
#include "cuda/work.h"

#include <stdlib.h>
#include <string.h>

struct pool {
    struct object object;
    CUmemPoolProps properties;
    uint64_t threshold, used, used_high;
    int reuse[3]; /* CU_MEMPOOL_ATTR_REUSE_*: kept, nothing to act on */
    bool visible; /* to the device */
};

static struct pool *pool_new(const CUmemPoolProps *properties)
{
    struct pool *p = object_new(sizeof *p, OBJECT_POOL, NULL, NULL);
    if (p) {
        p->properties = *properties;
        p->visible = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
        p->reuse[0] = p->reuse[1] = p->reuse[2] = 1;
    }
    return p;
}

static struct pool *default_pool(void)
{
    struct driver *d = driver_get();
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    if (!d->default_pool)
        d->default_pool = d->pool = pool_new(&properties);
    return d->default_pool;
}

static CUresult enter(CUmemoryPool handle, const void *out, struct pool **p)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    *p = r == CUDA_SUCCESS ? object_find(handle, OBJECT_POOL) : NULL;
    return r == CUDA_SUCCESS && !*p ? CUDA_ERROR_INVALID_VALUE : r;
}

static CUresult give(CUmemoryPool *out, CUdevice dev, bool current)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS && (!out || dev != 0))
        r = out ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !default_pool())
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        *out = (CUmemoryPool)(current ? driver_get()->pool : driver_get()->default_pool);
    return api_leave(r);
}

CUAPI CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice dev) { return give(out, dev, false); }
CUAPI CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice dev) { return give(out, dev, true); }

static bool location_ok(const CUmemLocation *l, CUmemAllocationType type)
{
    return l && l->type == CU_MEM_LOCATION_TYPE_DEVICE && type == CU_MEM_ALLOCATION_TYPE_PINNED;
}

CUAPI CUresult cuMemGetDefaultMemPool(CUmemoryPool *out, CUmemLocation *location, CUmemAllocationType type)
{
    return location_ok(location, type) ? give(out, location->id, false) : CUDA_ERROR_INVALID_VALUE;
}
CUAPI CUresult cuMemGetMemPool(CUmemoryPool *out, CUmemLocation *location, CUmemAllocationType type)
{
    return location_ok(location, type) ? give(out, location->id, true) : CUDA_ERROR_INVALID_VALUE;
}

CUAPI CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool handle)
{
    struct pool *p;
    CUresult r = enter(handle, &p, &p);
    if (r == CUDA_SUCCESS && dev != 0)
        r = CUDA_ERROR_INVALID_DEVICE;
    if (r == CUDA_SUCCESS && !default_pool())
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        driver_get()->pool = p;
    return api_leave(r);
}
CUAPI CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool handle)
{
    return location_ok(location, type) ? cuDeviceSetMemPool(location->id, handle) : CUDA_ERROR_INVALID_VALUE;
}

static bool on_host(const CUmemPoolProps *p)
{
    CUmemLocationType type = p->location.type;
    return type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

CUAPI CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *properties)
{
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS && (!out || !properties || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE && !on_host(properties))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE && properties->location.id != 0)
        r = CUDA_ERROR_INVALID_DEVICE;
    if (r == CUDA_SUCCESS && properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        r = CUDA_ERROR_NOT_SUPPORTED;
    struct pool *p = r == CUDA_SUCCESS && default_pool() ? pool_new(properties) : NULL;
    if (r == CUDA_SUCCESS && !p)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        *out = (CUmemoryPool)p;
    return api_leave(r);
}

/* What was allocated from it lives on. */
CUAPI CUresult cuMemPoolDestroy(CUmemoryPool handle)
{
    struct pool *p;
    struct driver *d = driver_get();
    CUresult r = enter(handle, &p, &p);
    if (r == CUDA_SUCCESS && p == d->default_pool)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        if (d->pool == p)
            d->pool = d->default_pool;
        object_free(&p->object);
    }
    return api_leave(r);
}

CUAPI CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep)
{
    struct pool *p;
    (void)keep;
    return api_leave(enter(handle, &p, &p));
}

static void *attribute_at(struct pool *p, CUmemPool_attribute attribute, size_t *size)
{
    *size = sizeof(cuuint64_t);
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *size = sizeof(int);
        return &p->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return &p->threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return &p->used;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return &p->used_high;
    default: return NULL;
    }
}

CUAPI CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
    struct pool *p;
    size_t size;
    CUresult r = enter(handle, value, &p);
    const void *at = r == CUDA_SUCCESS ? attribute_at(p, attribute, &size) : NULL;
    if (r == CUDA_SUCCESS && !at)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        memcpy(value, at, size);
    return api_leave(r);
}

CUAPI CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
    struct pool *p;
    size_t size;
    CUresult r = enter(handle, value, &p);
    bool readable_only =
        attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT || attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
    void *at = r == CUDA_SUCCESS && !readable_only ? attribute_at(p, attribute, &size) : NULL;
    if (r == CUDA_SUCCESS && !at)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && at == &p->used_high)
        p->used_high = p->used; /* a high-water mark can only be set back */
    else if (r == CUDA_SUCCESS)
        memcpy(at, value, size);
    return api_leave(r);
}

static void show(const struct allocation *a, void *user)
{
    const struct pool *p = user;
    struct memory *m = driver_get()->gpu->memory;
    if (a->pool != p || !a->is_pool_host)
        return;
    if (p->visible)
        memory_register(m, memory_pointer(a->base), a->size_bytes, MEMORY_HOST);
    else
        memory_release(m, a->base);
}

/* The device's own memory cannot be taken from it. */
static CUresult set_access(struct pool *p, const CUmemAccessDesc *access)
{
    bool visible = access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
         hidden = access->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (access->location.type != CU_MEM_LOCATION_TYPE_DEVICE || access->location.id != 0 ||
        !(visible || (hidden && on_host(&p->properties))))
        return CUDA_ERROR_INVALID_DEVICE;
    if (visible != p->visible) {
        p->visible = visible;
        allocations_each(show, p);
    }
    return CUDA_SUCCESS;
}

CUAPI CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *access, size_t count)
{
    struct pool *p;
    CUresult r = enter(handle, access, &p);
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++)
        r = set_access(p, &access[i]);
    return api_leave(r);
}

CUAPI CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle, CUmemLocation *location)
{
    struct pool *p;
    CUresult r = enter(handle, location ? flags : NULL, &p);
    if (r == CUDA_SUCCESS && (location->type != CU_MEM_LOCATION_TYPE_DEVICE || location->id != 0))
        r = CUDA_ERROR_INVALID_DEVICE;
    if (r == CUDA_SUCCESS)
        *flags = p->visible ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return api_leave(r);
}

enum { POOL_ALIGN = 512 };

static CUresult allocate_on_host(struct context *ctx, size_t bytes, bool visible, uint64_t *address)
{
    struct memory *m = driver_get()->gpu->memory;
    void *at = bytes && bytes < SIZE_MAX / 2
                   ? aligned_alloc(POOL_ALIGN, (bytes + POOL_ALIGN - 1) / POOL_ALIGN * POOL_ALIGN)
                   : NULL;
    if (!at)
        return bytes ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    memset(at, 0, bytes);
    struct allocation a = {
        .base = (uintptr_t)at, .size_bytes = bytes, .kind = MEMORY_HOST, .owner = ctx, .is_pool_host = true};
    bool shown = visible && memory_register(m, at, bytes, MEMORY_HOST);
    if (shown == visible && allocation_add(&a)) {
        *address = a.base;
        return CUDA_SUCCESS;
    }
    pool_host_release(a.base);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

bool pool_host_release(uint64_t base)
{
    memory_release(driver_get()->gpu->memory, base); /* which need not have known it */
    free(memory_pointer(base));
    return true;
}

static CUresult allocate(struct context *ctx, CUdeviceptr *out, size_t bytes, struct pool *p)
{
    uint64_t address = 0;
    if (p->properties.maxSize &&
        bytes > p->properties.maxSize - (p->used < p->properties.maxSize ? p->used : p->properties.maxSize))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = on_host(&p->properties) ? allocate_on_host(ctx, bytes, p->visible, &address)
                                         : allocation_new(ctx, bytes, POOL_ALIGN, MEMORY_DEVICE, 0, &address);
    if (r != CUDA_SUCCESS)
        return r;
    struct allocation *a = allocation_find(address);
    a->is_pool = true;
    a->pool = p;
    p->used += bytes;
    if (p->used > p->used_high)
        p->used_high = p->used;
    *out = address;
    return CUDA_SUCCESS;
}

/* In a capture: memory of the graph. */
static CUresult allocate_captured(CUdeviceptr *out, size_t bytes, const struct pool *p, CUstream stream)
{
    struct work w;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = p->properties, .bytesize = bytes};
    CUresult r = work_alloc(&w, &params);
    if (r == CUDA_SUCCESS)
        r = stream_submit(stream, &w);
    if (r == CUDA_SUCCESS)
        *out = params.dptr;
    return r;
}

static CUresult allocate_in_order(struct context *ctx, CUdeviceptr *out, size_t bytes, struct pool *p, CUstream stream)
{
    bool captures = false;
    CUresult r = out ? stream_captures(stream, &captures) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !p)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    return captures ? allocate_captured(out, bytes, p, stream) : allocate(ctx, out, bytes, p);
}

CUAPI CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool handle, CUstream stream)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    return api_leave(r == CUDA_SUCCESS ? allocate_in_order(ctx, out, bytes, object_find(handle, OBJECT_POOL), stream)
                                       : r);
}
API_ALIAS(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync)

CUAPI CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = default_pool() ? allocate_in_order(ctx, out, bytes, driver_get()->pool, stream) : CUDA_ERROR_OUT_OF_MEMORY;
    return api_leave(r);
}
API_ALIAS(cuMemAllocAsync_ptsz, cuMemAllocAsync)

void pool_gave_back(const struct allocation *a)
{
    struct pool *p = a->is_pool ? object_find(a->pool, OBJECT_POOL) : NULL;
    if (p)
        p->used -= a->size_bytes;
}

static struct allocation *releasable(uint64_t address)
{
    struct allocation *a = allocation_find(address);
    return a && a->base == address && (a->kind == MEMORY_DEVICE || a->is_pool) ? a : NULL;
}

CUresult allocation_release(uint64_t address)
{
    struct allocation *a = releasable(address);
    return a ? allocation_drop(a) : CUDA_ERROR_INVALID_VALUE;
}

CUAPI CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    struct work w = {.type = CU_GRAPH_NODE_TYPE_EMPTY, .released = address};
    bool captures = false;
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = address ? stream_captures(stream, &captures) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && captures)
        r = work_free_memory(&w, address);
    else if (r == CUDA_SUCCESS && !releasable(address))
        r = CUDA_ERROR_INVALID_VALUE;
    return api_leave(r == CUDA_SUCCESS ? stream_submit(stream, &w) : r);
}
API_ALIAS(cuMemFreeAsync_ptsz, cuMemFreeAsync)
