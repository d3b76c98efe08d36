/* The device's address space. Device addresses are host addresses inside one reserved range, so an access is a check
 * and a pointer; pinned and managed host memory takes part under its own address. Pages are not touched until used.
 *
 * Two windows at the start of the range hold no memory: generic addresses of shared and local memory lie there. */
#ifndef HEDDLE_EXEC_MEMORY_H
#define HEDDLE_EXEC_MEMORY_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum memory_kind {
    MEMORY_DEVICE,  /* cuMemAlloc */
    MEMORY_HOST,    /* pinned or registered host memory */
    MEMORY_MANAGED, /* both sides */
    MEMORY_GLOBAL,  /* a module's .global variables */
    MEMORY_CONST,   /* a module's .const variables: kernels may not write */
    MEMORY_PARAM,   /* parameters of a launch: kernels may not write */
    MEMORY_HEAP,    /* malloc() in a kernel */
    MEMORY_RUNTIME, /* of the device runtime: kernels may write it, but free() does not know it */
    MEMORY_ARRAY,   /* CUDA arrays: reached by textures and surfaces only */
};

struct memory_range {
    uint64_t base, size_bytes;
    enum memory_kind kind;
    uint64_t serial;   /* counts allocations, from 1 */
    const char *label; /* name of the variable, or NULL */
    uint64_t physical; /* where it lies as caches and DRAM see it: allocations one after the other, without the gaps
                          that guard them */
};

enum {
    MEMORY_WINDOW_BYTES = 1 << 24, /* shared memory of one block, local memory of one thread */
    MEMORY_CLUSTER_BLOCKS = 16,    /* blocks of a cluster that the shared window can name */
};

struct memory {
    uint64_t reserved_base, reserved_bytes;
    uint64_t shared_window; /* [0]: the block's own; then one window a block of the cluster */
    uint64_t local_window;
    uint64_t heap_base, heap_end; /* where allocations come from */
    uint64_t capacity_bytes, used_bytes;
    struct memory_range *ranges; /* live, sorted by base */
    uint32_t range_count, range_capacity;
    struct memory_range *freed; /* a ring of the last freed ranges, for messages */
    uint32_t freed_count;
    uint64_t next_serial;
    uint64_t next_physical;
    bool exact_bounds; /* kernels may touch nothing outside of allocations; else their last granule and their margins,
                          as on a GPU */
    uint64_t strays;   /* accesses that did so */
    char first_stray[480]; /* which was the first, for people */
    uint64_t generation;   /* changes whenever a range appears or goes: caches of ranges are valid for one generation */
};

struct memory *memory_create(uint64_t capacity_bytes, struct error *e);
void memory_destroy(struct memory *m);
/* 0 when it does not fit. size 0 is refused. Contents are zero. label is not copied. */
uint64_t memory_alloc(struct memory *m, uint64_t size_bytes, uint64_t align_bytes, enum memory_kind kind,
                      const char *label);
/* Makes host memory known to the device under its own address. False if it overlaps a known range. */
bool memory_register(struct memory *m, void *host, uint64_t size_bytes, enum memory_kind kind);
/* False unless base is exactly the start of a live range. */
bool memory_release(struct memory *m, uint64_t base);
/* The live range that holds address, or NULL. */
const struct memory_range *memory_find(const struct memory *m, uint64_t address);
/* The live range whose granules hold address: it may be past the range's end. NULL: none, or one that was not allocated
 * here. */
const struct memory_range *memory_find_granule(const struct memory *m, uint64_t address);
uint64_t memory_granules_end(const struct memory_range *r);
/* The live range around which so many bytes may be touched: they lie in it, in its granules, or in a margin before or
 * after them. NULL: none. Whoever writes outside of the range says so, that it can be cleared. */
const struct memory_range *memory_find_margin(const struct memory *m, uint64_t address, uint64_t bytes);
void memory_note_margin_write(struct memory *m);
/* The address as caches and DRAM see it; of an unknown address: itself. *near: the range found last, a copy, for
 * callers that translate many. */
uint64_t memory_physical(const struct memory *m, uint64_t address, struct memory_range *near);
/* "4 bytes past the end of a 1024-byte allocation at 0x200010000000 (allocation 3)" */
void memory_describe(const struct memory *m, uint64_t address, char *out, uint32_t out_bytes);

static inline void *memory_pointer(uint64_t address) { return (void *)(uintptr_t)address; }

/* For memory that threads of the host may use at the same time: 1, 2, 4 or 8 bytes, aligned, at once and in the order
 * of the program. */
static inline uint64_t memory_read_whole(const void *from, uint32_t bytes)
{
    switch (bytes) {
    case 1: return __atomic_load_n((const uint8_t *)from, __ATOMIC_ACQUIRE);
    case 2: return __atomic_load_n((const uint16_t *)from, __ATOMIC_ACQUIRE);
    case 4: return __atomic_load_n((const uint32_t *)from, __ATOMIC_ACQUIRE);
    default: return __atomic_load_n((const uint64_t *)from, __ATOMIC_ACQUIRE);
    }
}

static inline void memory_write_whole(void *to, uint64_t value, uint32_t bytes)
{
    switch (bytes) {
    case 1: __atomic_store_n((uint8_t *)to, (uint8_t)value, __ATOMIC_RELEASE); return;
    case 2: __atomic_store_n((uint16_t *)to, (uint16_t)value, __ATOMIC_RELEASE); return;
    case 4: __atomic_store_n((uint32_t *)to, (uint32_t)value, __ATOMIC_RELEASE); return;
    default: __atomic_store_n((uint64_t *)to, value, __ATOMIC_RELEASE); return;
    }
}

#endif
