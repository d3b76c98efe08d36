/* Memory that graphs allocate and free. The address of an allocation is fixed when its node is made, so that other
 * nodes can name it: a range of the host's address space that nobody may touch. The memory appears there when the node
 * runs, and vanishes when a graph or the program frees it; what a run leaves behind lives on without the graph. */
#include "cuda/graph.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct graph_block {
    struct graph_block *next;
    uint64_t address, bytes, mapped_bytes;
    uint32_t references; /* nodes */
    bool there;
    struct context *owner;
};

/* Guarded by the driver's lock. */
static struct graph_memory {
    struct graph_block *blocks;
    uint64_t used, used_high;
} all;

struct graph_block *graph_block_new(struct context *ctx, size_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const struct memory *m = driver_get()->gpu->memory;
    if (bytes > m->capacity_bytes)
        return NULL;
    struct graph_block *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    uint64_t mapped = (bytes + page - 1) / page * page;
    void *at = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        free(b);
        return NULL;
    }
    *b = (struct graph_block){.next = all.blocks,
                              .address = (uintptr_t)at,
                              .bytes = bytes,
                              .mapped_bytes = mapped,
                              .references = 1,
                              .owner = ctx};
    all.blocks = b;
    return b;
}

struct graph_block *graph_block_find(uint64_t address)
{
    struct graph_block *b = all.blocks;
    while (b && b->address != address)
        b = b->next;
    return b;
}

bool graph_memory_holds(uint64_t address, uint64_t bytes)
{
    for (const struct graph_block *b = all.blocks; b; b = b->next)
        if (address >= b->address && address - b->address < b->bytes && bytes <= b->bytes - (address - b->address))
            return true;
    return false;
}

void graph_block_hold(struct graph_block *b) { b->references++; }
uint64_t graph_block_address(const struct graph_block *b) { return b->address; }
bool graph_block_is_there(const struct graph_block *b) { return b->there; }

static void forget_unneeded(struct graph_block *b)
{
    if (b->references || b->there)
        return;
    struct graph_block **at = &all.blocks;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    munmap(memory_pointer(b->address), b->mapped_bytes);
    free(b);
}

void graph_block_drop(struct graph_block *b)
{
    b->references--;
    forget_unneeded(b);
}

CUresult graph_block_appear(struct graph_block *b)
{
    struct memory *m = driver_get()->gpu->memory;
    struct allocation a = {
        .base = b->address, .size_bytes = b->bytes, .kind = MEMORY_DEVICE, .owner = b->owner, .is_graph = true};
    if (b->there)
        return CUDA_ERROR_INVALID_VALUE;
    if (mprotect(memory_pointer(b->address), b->mapped_bytes, PROT_READ | PROT_WRITE) ||
        !memory_register(m, memory_pointer(b->address), b->bytes, MEMORY_DEVICE))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!allocation_add(&a)) {
        memory_release(m, b->address);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    b->there = true;
    all.used += b->bytes;
    if (all.used > all.used_high)
        all.used_high = all.used;
    return CUDA_SUCCESS;
}

void graph_memory_freed(uint64_t address)
{
    struct graph_block *b = graph_block_find(address);
    if (!b || !b->there)
        return;
    b->there = false;
    all.used -= b->bytes;
    madvise(memory_pointer(address), b->mapped_bytes, MADV_DONTNEED);
    mprotect(memory_pointer(address), b->mapped_bytes, PROT_NONE);
    forget_unneeded(b);
}

CUresult graph_block_vanish(struct graph_block *b)
{
    struct allocation *a = b->there ? allocation_find(b->address) : NULL;
    return a ? allocation_drop(a) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult enter(CUgraph graph, const void *argument, struct graph **g)
{
    CUresult r = graph_enter(graph, argument, g);
    return r == CUDA_SUCCESS && (*g)->owned ? CUDA_ERROR_INVALID_VALUE : r; /* not inside other graphs */
}

CUAPI CUresult cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                      CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    struct graph *g;
    struct work w;
    struct node *n = NULL;
    CUresult r = enter(graph, p ? (const void *)out : NULL, &g);
    if (r == CUDA_SUCCESS)
        r = work_alloc(&w, p);
    if (r == CUDA_SUCCESS)
        r = graph_add(g, dependencies, NULL, count, &w, &n);
    if (r == CUDA_SUCCESS)
        *out = (CUgraphNode)n;
    return api_leave(r);
}

CUAPI CUresult cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                     CUdeviceptr address)
{
    struct graph *g;
    struct work w;
    struct node *n = NULL;
    CUresult r = enter(graph, out, &g);
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < g->node_count; i++)
        if (g->nodes[i]->work.type == CU_GRAPH_NODE_TYPE_MEM_FREE && g->nodes[i]->work.alloc.dptr == address)
            r = CUDA_ERROR_INVALID_VALUE; /* once is enough */
    if (r == CUDA_SUCCESS)
        r = work_free_memory(&w, address);
    if (r == CUDA_SUCCESS)
        r = graph_add(g, dependencies, NULL, count, &w, &n);
    if (r == CUDA_SUCCESS)
        *out = (CUgraphNode)n;
    return api_leave(r);
}

static CUresult enter_device(CUdevice dev, const void *argument)
{
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS && dev != 0)
        r = CUDA_ERROR_INVALID_DEVICE;
    return r == CUDA_SUCCESS && !argument ? CUDA_ERROR_INVALID_VALUE : r;
}

/* Nothing is held in reserve. */
CUAPI CUresult cuDeviceGraphMemTrim(CUdevice dev) { return api_leave(enter_device(dev, &dev)); }

CUAPI CUresult cuDeviceGetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attribute, void *value)
{
    CUresult r = enter_device(dev, value);
    bool high = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    if (r == CUDA_SUCCESS && (unsigned)attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        memcpy(value, high ? &all.used_high : &all.used, sizeof all.used);
    return api_leave(r);
}

/* A high-water mark can only be set back. */
CUAPI CUresult cuDeviceSetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attribute, void *value)
{
    CUresult r = enter_device(dev, value);
    uint64_t to = 1;
    if (r == CUDA_SUCCESS)
        memcpy(&to, value, sizeof to);
    if (r == CUDA_SUCCESS &&
        (to || (attribute != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH && attribute != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        all.used_high = all.used;
    return api_leave(r);
}
