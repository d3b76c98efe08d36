/* The quick way from the addresses of a warp to host memory, for the handlers of loads, stores and atomics. See
 * access.c. */
#ifndef HEDDLE_EXEC_ACCESS_H
#define HEDDLE_EXEC_ACCESS_H

#include "exec/lanes.h"

#include <string.h>

/* May kernels write to memory of this kind? */
static inline bool access_kind_writable(enum memory_kind kind)
{
    return kind != MEMORY_CONST && kind != MEMORY_PARAM && kind != MEMORY_ARRAY;
}

/* Do all lanes of mask lie, aligned, in the range that the warp used last? An offset above the limit, or below the
 * base, shows in the sign of one of two differences; gathered over the lanes they cost no branch. */
static inline bool access_is_near(const struct exec_warp *w, uint32_t mask, uint32_t bytes, uint32_t align,
                                  bool is_store)
{
    const struct memory_range *r = &w->near_range;
    if (w->near_generation != w->launch->memory->generation || r->size_bytes < bytes ||
        (is_store && !access_kind_writable(r->kind)))
        return false;
    uint64_t base = r->base, limit = r->size_bytes - bytes, outside = 0, low_bits = 0;
    const uint64_t *addr = w->addr;
    if (mask == FULL_MASK) {
        for (int i = 0; i < WARP_LANES; i++) {
            uint64_t offset = addr[i] - base;
            outside |= offset | (limit - offset);
            low_bits |= addr[i];
        }
    } else {
        FOR_EACH_LANE(mask, i) {
            uint64_t offset = addr[i] - base;
            outside |= offset | (limit - offset);
            low_bits |= addr[i];
        }
    }
    return (outside >> 63) == 0 && (low_bits & (align - 1)) == 0;
}

static inline void access_note(struct exec_warp *w, enum ptx_space space, uint32_t mask, uint32_t bytes, bool is_store)
{
    w->access = (struct exec_access){.space = space, .mask = mask, .bytes = (uint16_t)bytes, .is_store = is_store};
    w->launch->counters.load_requests += !is_store && (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_LOCAL);
}

/* Host addresses of the lanes of mask: w->addr itself where the warp stays in one range of device memory, else hosts,
 * filled by exec_resolve. NULL after a fault. */
static inline const uint64_t *access_locate(struct exec_warp *w, enum ptx_space space, uint32_t mask, uint32_t bytes,
                                            uint32_t align, bool is_store, uint64_t hosts[WARP_LANES])
{
    if ((space == PTX_SPACE_GLOBAL || space == PTX_SPACE_NONE) && access_is_near(w, mask, bytes, align, is_store)) {
        access_note(w, PTX_SPACE_GLOBAL, mask, bytes, is_store);
        return w->addr;
    }
    _Static_assert(sizeof(uint8_t *) == sizeof(uint64_t), "device addresses are host addresses");
    return exec_resolve(w, space, mask, bytes, align, is_store, (uint8_t **)hosts) ? hosts : NULL;
}

/* Host memory of a range of shared memory, which may be another block's of the cluster. NULL: out of bounds. Offsets
 * are those of the shared windows. */
uint8_t *access_shared(const struct exec_warp *w, uint64_t offset, uint64_t bytes);
/* Host memory of [address, address + bytes) of a space, without a fault: NULL where it is not (all) there or may not be
 * written. */
uint8_t *access_find(struct exec_warp *w, enum ptx_space space, uint32_t lane, uint64_t address, uint64_t bytes,
                     bool is_store);
/* Raises the fault of an access that is out of bounds or forbidden. */
void access_fault(struct exec_warp *w, enum ptx_space space, uint32_t lane, uint64_t address, uint32_t bytes,
                  bool is_store);
bool access_misaligned(struct exec_warp *w, uint32_t lane, uint64_t address, uint32_t bytes, uint32_t align,
                       bool is_store); /* raises; false */

/* Writes to memory go through here, or look at launch->watched themselves. */
static inline void access_write(struct exec_warp *w, void *to, const void *from, size_t bytes)
{
    if (w->launch->watched)
        exec_watched_write(w, to, from, bytes);
    else
        memcpy(to, from, bytes);
}

/* Where an address operand points, as decoded: base lanes plus offset. */
struct access_address {
    int64_t offset;
    exec_ref base;
    uint8_t base_bits; /* 32 or 64; 0: relative to the frame in local memory */
    uint8_t space;     /* enum ptx_space */
    bool kernel_param; /* relative to the launch's parameter block */
    bool is_constant;  /* the same address in all lanes: a symbol or a number */
};

struct decoder;
/* Decodes an address operand in a state space (NONE: generic). .param goes to the parameter block or to local
 * memory. */
bool access_decode_address(struct decoder *d, const struct ptx_operand *o, enum ptx_space space,
                           struct access_address *out);
/* Fills w->addr for the lanes of mask (of a full warp at no extra cost). */
void access_addresses(struct exec_warp *w, const struct access_address *a, uint32_t mask);

/* Where the lanes of a full warp access memory when in each half of it, each lies one step, which may be 0, above the
 * one before: a row, or two beside each other, as blocks of 16 threads by some have them. */
enum { ROW_HALVES = 2, ROW_LANES = WARP_LANES / ROW_HALVES };
struct access_row {
    uint8_t *first[ROW_HALVES]; /* host memory of lanes 0 and 16 */
    uint64_t step_bytes;
};
/* Most accesses are such rows, and a few lanes stand for all in the checks. False: they are not, or something is wrong
 * with them; nothing was done then. */
bool access_find_row(struct exec_warp *w, const struct access_address *a, uint32_t bytes, bool is_store,
                     struct access_row *out);

#endif
