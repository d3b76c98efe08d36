/* Addresses to host memory (PTX ISA 5.1: state spaces). Device memory, constants and kernel parameters are host memory
 * under their own address and are looked up in the table of live ranges; shared memory is the block's buffer, local
 * memory a slice a thread. A generic address falls into one of two windows or is a device address. Every byte is
 * checked: the bounds of each allocation, alignment, and permission. What lies next to an allocation, in its last
 * granule or in a margin on either side, is there on a GPU too: such accesses are served and counted, off the quick
 * path, unless bounds are to be exact.
 *
 * Left out: a device's 32-bit shared and local windows at low generic addresses; ours lie inside the reserved range. */
#include "exec/access.h"

#include "base/checked.h"
#include "exec/decode.h"

#include <inttypes.h>
#include <stdio.h>

/* Constants and parameters are found like global memory. */
static bool is_device_space(enum ptx_space space)
{
    return space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST || space == PTX_SPACE_PARAM;
}

static bool kind_fits(enum ptx_space space, enum memory_kind kind, bool is_store)
{
    if (kind == MEMORY_ARRAY || (is_store && !access_kind_writable(kind)))
        return false;
    if (space == PTX_SPACE_CONST)
        return kind == MEMORY_CONST;
    return space != PTX_SPACE_PARAM || kind == MEMORY_PARAM;
}

static bool is_within(const struct memory_range *r, uint64_t address, uint64_t bytes)
{
    return is_inside_range(r->base, r->size_bytes, address, bytes);
}

static bool near_is_valid(const struct exec_warp *w) { return w->near_generation == w->launch->memory->generation; }

/* The live range of an address becomes the warp's near one. */
static const struct memory_range *look_up(struct exec_warp *w, uint64_t address)
{
    if (near_is_valid(w) && address - w->near_range.base < w->near_range.size_bytes)
        return &w->near_range;
    const struct memory_range *r = memory_find(w->launch->memory, address);
    if (!r || r->kind == MEMORY_ARRAY) /* arrays are no business of the quick path */
        return r;
    w->near_range = *r;
    w->near_generation = w->launch->memory->generation;
    return &w->near_range;
}

static void note_stray(struct exec_warp *w, uint64_t address, uint64_t bytes, bool is_store)
{
    struct memory *m = w->launch->memory;
    char where[320];
    if (w->launch->watched || m->strays++)
        return;
    memory_describe(m, address, where, sizeof where);
    snprintf(m->first_stray, sizeof m->first_stray,
             "kernel %s, PTX line %d: %s of %" PRIu64 " bytes at 0x%" PRIx64 ", %s", w->launch->kernel->name,
             w->pc < w->at.function->ptx->inst_count ? w->at.function->ptx->insts[w->pc].line : 0,
             is_store ? "write" : "read", bytes, address, where);
}

/* Outside of an allocation, but next to it. */
static uint8_t *find_stray(struct exec_warp *w, enum ptx_space space, uint64_t address, uint64_t bytes, bool is_store)
{
    struct memory *m = w->launch->memory;
    const struct memory_range *r = m->exact_bounds ? NULL : memory_find_margin(m, address, bytes);
    if (!r || r->kind == MEMORY_PARAM || !kind_fits(space, r->kind, is_store) || is_within(r, address, bytes))
        return NULL;
    if (is_store)
        memory_note_margin_write(m);
    note_stray(w, address, bytes, is_store);
    return memory_pointer(address);
}

static uint8_t *find_device(struct exec_warp *w, enum ptx_space space, uint64_t address, uint64_t bytes, bool is_store)
{
    const struct memory_range *r = look_up(w, address);
    bool served = r && is_within(r, address, bytes) && kind_fits(space, r->kind, is_store);
    return served ? memory_pointer(address) : find_stray(w, space, address, bytes, is_store);
}

uint8_t *access_shared(const struct exec_warp *w, uint64_t offset, uint64_t bytes)
{
    const struct exec_cta *cta = w->cta;
    uint64_t window = offset / MEMORY_WINDOW_BYTES, at = offset % MEMORY_WINDOW_BYTES;
    if (window > 0 && cta->cluster) {
        cta = window - 1 < cta->cluster->block_count ? cta->cluster->blocks[window - 1] : NULL;
    } else if (window > 1) {
        cta = NULL; /* without a cluster a block is its own and only member */
    }
    return cta && is_inside_range(0, cta->shared_bytes, at, bytes) ? cta->shared + at : NULL;
}

static uint8_t *find_local(const struct exec_warp *w, uint32_t lane, uint64_t address, uint64_t bytes)
{
    return is_inside_range(0, w->launch->local_bytes, address, bytes)
               ? w->local + lane * exec_local_stride(w->launch) + address
               : NULL;
}

/* Which space a generic address lies in; *address becomes the address in it. */
static enum ptx_space space_of_generic(const struct memory *m, uint64_t *address)
{
    uint64_t in_shared = *address - m->shared_window, in_local = *address - m->local_window;
    if (in_shared < (uint64_t)MEMORY_WINDOW_BYTES * (MEMORY_CLUSTER_BLOCKS + 1)) {
        *address = in_shared;
        return PTX_SPACE_SHARED;
    }
    if (in_local < MEMORY_WINDOW_BYTES) {
        *address = in_local;
        return PTX_SPACE_LOCAL;
    }
    return PTX_SPACE_GLOBAL;
}

uint8_t *access_find(struct exec_warp *w, enum ptx_space space, uint32_t lane, uint64_t address, uint64_t bytes,
                     bool is_store)
{
    if (space == PTX_SPACE_NONE)
        space = space_of_generic(w->launch->memory, &address);
    if (space == PTX_SPACE_SHARED)
        return access_shared(w, address, bytes);
    if (space == PTX_SPACE_LOCAL)
        return find_local(w, lane, address, bytes);
    return find_device(w, space, address, bytes, is_store);
}

static void describe_shared(const struct exec_warp *w, uint64_t address, char *out, size_t out_bytes)
{
    if (address < MEMORY_WINDOW_BYTES)
        snprintf(out, out_bytes, "the block has %u bytes of shared memory", w->cta->shared_bytes);
    else
        snprintf(out, out_bytes, "no such shared memory in the cluster (block %" PRIu64 ", byte %" PRIu64 ")",
                 address / MEMORY_WINDOW_BYTES - 1, address % MEMORY_WINDOW_BYTES);
}

/* Why a device address is refused, beyond where it is. */
static const char *refusal(enum ptx_space space, const struct memory_range *r, bool is_store)
{
    if (r->kind == MEMORY_ARRAY)
        return "; arrays are reached by textures and surfaces only";
    if (is_store && r->kind == MEMORY_CONST)
        return "; kernels may not write constants";
    if (is_store && r->kind == MEMORY_PARAM)
        return "; kernels may not write their parameters";
    return space == PTX_SPACE_CONST ? "; not in constant memory" : "; not in the kernel's parameters";
}

static void describe_device(const struct exec_warp *w, enum ptx_space space, uint64_t address, uint32_t bytes,
                            bool is_store, char *out, size_t out_bytes)
{
    const struct memory_range *r = memory_find(w->launch->memory, address);
    memory_describe(w->launch->memory, address, out, (uint32_t)out_bytes);
    size_t used = strlen(out);
    if (!r)
        return;
    if (is_within(r, address, bytes))
        snprintf(out + used, out_bytes - used, "%s", refusal(space, r, is_store));
    else
        snprintf(out + used, out_bytes - used, "; only %" PRIu64 " are left", r->base + r->size_bytes - address);
}

void access_fault(struct exec_warp *w, enum ptx_space space, uint32_t lane, uint64_t address, uint32_t bytes,
                  bool is_store)
{
    char where[320] = "";
    uint64_t at = address;
    enum ptx_space actual = space == PTX_SPACE_NONE ? space_of_generic(w->launch->memory, &at) : space;
    const char *name = "";
    if (actual == PTX_SPACE_SHARED) {
        name = " of shared memory";
        describe_shared(w, at, where, sizeof where);
    } else if (actual == PTX_SPACE_LOCAL) {
        name = " of local memory";
        snprintf(where, sizeof where, "the thread has %u bytes of local memory", w->launch->local_bytes);
    } else {
        describe_device(w, actual, at, bytes, is_store, where, sizeof where);
    }
    exec_raise(w, ERROR_ADDRESS, lane, address, bytes, "%s of %u bytes%s at 0x%" PRIx64 ": %s",
               is_store ? "write" : "read", bytes, name, address, where);
}

bool access_misaligned(struct exec_warp *w, uint32_t lane, uint64_t address, uint32_t bytes, uint32_t align,
                       bool is_store)
{
    exec_raise(w, ERROR_MISALIGNED, lane, address, bytes,
               "%s of %u bytes at 0x%" PRIx64 ", which is not a multiple of %u", is_store ? "write" : "read", bytes,
               address, align);
    return false;
}

/* Lane by lane, in the first of the lanes the fault. */
static bool resolve_each(struct exec_warp *w, enum ptx_space space, uint32_t mask, uint32_t bytes, uint32_t align,
                         bool is_store, uint8_t *pointers[WARP_LANES])
{
    FOR_EACH_LANE(mask, i) {
        if (w->addr[i] & (align - 1))
            return access_misaligned(w, i, w->addr[i], bytes, align, is_store);
        pointers[i] = access_find(w, space, i, w->addr[i], bytes, is_store);
        if (!pointers[i]) {
            access_fault(w, space, i, w->addr[i], bytes, is_store);
            return false;
        }
    }
    return true;
}

/* All lanes in the range of the first one: checked as one. */
static bool resolve_device(struct exec_warp *w, enum ptx_space space, uint32_t mask, uint32_t bytes, uint32_t align,
                           bool is_store, uint8_t *pointers[WARP_LANES])
{
    const struct memory_range *r = look_up(w, w->addr[__builtin_ctz(mask)]);
    access_note(w, space == PTX_SPACE_NONE ? PTX_SPACE_GLOBAL : space, mask, bytes, is_store);
    if (!r || !kind_fits(space, r->kind, is_store) || !access_is_near(w, mask, bytes, align, is_store))
        return resolve_each(w, space, mask, bytes, align, is_store, pointers);
    memcpy(pointers, w->addr, sizeof w->addr);
    return true;
}

/* The block's own shared memory: one bound for all lanes. */
static bool resolve_shared(struct exec_warp *w, uint32_t mask, uint32_t bytes, uint32_t align, bool is_store,
                           uint8_t *pointers[WARP_LANES])
{
    uint64_t low_bits = 0, outside = 0, limit = w->cta->shared_bytes;
    uint8_t *shared = w->cta->shared;
    access_note(w, PTX_SPACE_SHARED, mask, bytes, is_store);
    if (limit < bytes)
        return resolve_each(w, PTX_SPACE_SHARED, mask, bytes, align, is_store, pointers);
    limit -= bytes;
    if (mask == FULL_MASK) {
        for (int i = 0; i < WARP_LANES; i++) {
            low_bits |= w->addr[i];
            outside |= w->addr[i] | (limit - w->addr[i]);
            pointers[i] = (uint8_t *)((uintptr_t)shared + w->addr[i]);
        }
    } else {
        FOR_EACH_LANE(mask, i) {
            low_bits |= w->addr[i];
            outside |= w->addr[i] | (limit - w->addr[i]);
            pointers[i] = (uint8_t *)((uintptr_t)shared + w->addr[i]);
        }
    }
    if (!(outside >> 63) && !(low_bits & (align - 1)))
        return true;
    return resolve_each(w, PTX_SPACE_SHARED, mask, bytes, align, is_store, pointers);
}

/* A slice a thread: one bound, a stride between the lanes. */
static bool resolve_local(struct exec_warp *w, uint32_t mask, uint32_t bytes, uint32_t align, bool is_store,
                          uint8_t *pointers[WARP_LANES])
{
    uint64_t low_bits = 0, outside = 0, size = w->launch->local_bytes, stride = exec_local_stride(w->launch),
             limit = size - bytes;
    uintptr_t local = (uintptr_t)w->local;
    access_note(w, PTX_SPACE_LOCAL, mask, bytes, is_store);
    if (size < bytes)
        return resolve_each(w, PTX_SPACE_LOCAL, mask, bytes, align, is_store, pointers);
    if (mask == FULL_MASK) {
        for (int i = 0; i < WARP_LANES; i++, local += stride) {
            low_bits |= w->addr[i];
            outside |= w->addr[i] | (limit - w->addr[i]);
            pointers[i] = (uint8_t *)(local + w->addr[i]);
        }
    } else {
        FOR_EACH_LANE(mask, i) {
            low_bits |= w->addr[i];
            outside |= w->addr[i] | (limit - w->addr[i]);
            pointers[i] = (uint8_t *)(local + i * stride + w->addr[i]);
        }
    }
    if (!(outside >> 63) && !(low_bits & (align - 1)))
        return true;
    return resolve_each(w, PTX_SPACE_LOCAL, mask, bytes, align, is_store, pointers);
}

/* One space for all lanes, if there is one: then the addresses become those of that space. */
static enum ptx_space common_space(struct exec_warp *w, uint32_t mask)
{
    const struct memory *m = w->launch->memory;
    uint64_t first = w->addr[__builtin_ctz(mask)];
    enum ptx_space space = space_of_generic(m, &first);
    FOR_EACH_LANE(mask, i) {
        uint64_t address = w->addr[i];
        if (space_of_generic(m, &address) != space)
            return PTX_SPACE_NONE;
    }
    if (space == PTX_SPACE_GLOBAL)
        return space;
    FOR_EACH_LANE(mask, i)
        space_of_generic(m, &w->addr[i]);
    return space;
}

bool exec_resolve(struct exec_warp *w, enum ptx_space space, uint32_t mask, uint32_t bytes, uint32_t align,
                  bool is_store, uint8_t *pointers[WARP_LANES])
{
    if (space == PTX_SPACE_NONE)
        space = common_space(w, mask);
    if (space == PTX_SPACE_SHARED)
        return resolve_shared(w, mask, bytes, align, is_store, pointers);
    if (space == PTX_SPACE_LOCAL)
        return resolve_local(w, mask, bytes, align, is_store, pointers);
    if (is_device_space(space))
        return resolve_device(w, space, mask, bytes, align, is_store, pointers);
    access_note(w, PTX_SPACE_GLOBAL, mask, bytes, is_store); /* lanes in several spaces */
    return resolve_each(w, space, mask, bytes, align, is_store, pointers);
}

static bool is_fixed(const struct ptx_operand *o)
{
    return o->element_count > 0 &&
           (o->elements[0].kind == PTX_OPERAND_SYMBOL || o->elements[0].kind == PTX_OPERAND_INT);
}

bool access_decode_address(struct decoder *d, const struct ptx_operand *o, enum ptx_space space,
                           struct access_address *out)
{
    int base_bits;
    *out = (struct access_address){0};
    if (!o || o->kind != PTX_OPERAND_ADDRESS)
        return decode_wrong(d, o, "an address [...] is expected here");
    if (!decode_address(d, o, space, &out->base, &base_bits, &out->offset))
        return false;
    out->base_bits = (uint8_t)base_bits;
    out->is_constant = is_fixed(o);
    out->space = (uint8_t)space;
    if (space == PTX_SPACE_PARAM) {
        out->kernel_param = decode_param_is_kernel(d, o);
        if (!out->kernel_param)
            out->space = PTX_SPACE_LOCAL;
    }
    return true;
}

void access_addresses(struct exec_warp *w, const struct access_address *a, uint32_t mask)
{
    uint64_t offset = (uint64_t)a->offset, *addr = w->addr;
    if (a->base_bits == 0) {
        offset += w->at.local_base;
        for (int i = 0; i < WARP_LANES; i++)
            addr[i] = offset;
        return;
    }
    if (a->kernel_param)
        offset += w->launch->params;
    if (a->base_bits == 64) {
        const uint64_t *base = lane_data(w, a->base);
        FOR_LANES(mask, addr[i] = base[i] + offset);
    } else if (a->kernel_param) {
        const uint32_t *base = lane_data(w, a->base);
        FOR_LANES(mask, addr[i] = base[i] + offset);
    } else {
        const uint32_t *base = lane_data(w, a->base);
        uint32_t offset32 = (uint32_t)offset;
        FOR_LANES(mask, addr[i] = (uint32_t)(base[i] + offset32));
    }
}

/* Sixteen bytes of lanes at a time; compilers leave the plain loops as they are. Each pass stands for itself, so that
 * the processor can do several at once. */
typedef uint32_t quad_32 __attribute__((vector_size(16)));
typedef uint64_t pair_64 __attribute__((vector_size(16)));

/* Do the lanes of half a base register rise by the same step? The last one is looked at first: most that are no row
 * show it there. The last pass overlaps the one before. */
static inline __attribute__((always_inline)) bool rises_32(const uint32_t *base, uint32_t step)
{
    if (base[ROW_LANES - 1] != base[0] + (ROW_LANES - 1) * step)
        return false;
    quad_32 lower, upper, different[2] = {{0}, {0}};
    for (int k = 0; k < ROW_LANES / 4; k++) {
        int i = k < ROW_LANES / 4 - 1 ? 4 * k : ROW_LANES - 5;
        memcpy(&lower, base + i, sizeof lower);
        memcpy(&upper, base + i + 1, sizeof upper);
        different[k & 1] |= (upper - lower) ^ step;
    }
    pair_64 any = (pair_64)(different[0] | different[1]);
    return !(any[0] | any[1]);
}

static inline __attribute__((always_inline)) bool rises_64(const uint64_t *base, uint64_t step)
{
    if (base[ROW_LANES - 1] != base[0] + (ROW_LANES - 1) * step)
        return false;
    pair_64 lower, upper, different[2] = {{0}, {0}};
    for (int k = 0; k < ROW_LANES / 2; k++) {
        int i = k < ROW_LANES / 2 - 1 ? 2 * k : ROW_LANES - 3;
        memcpy(&lower, base + i, sizeof lower);
        memcpy(&upper, base + i + 1, sizeof upper);
        different[k & 1] |= (upper - lower) ^ step;
    }
    pair_64 any = different[0] | different[1];
    return !(any[0] | any[1]);
}

static inline void fill_row(uint64_t addresses[ROW_LANES], uint64_t first, uint64_t step)
{
    pair_64 next[4] = {{first, first + step}};
    for (int k = 1; k < 4; k++)
        next[k] = next[k - 1] + 2 * step;
    for (int i = 0; i < ROW_LANES; i += 8)
        for (int k = 0; k < 4; k++, next[k - 1] += 8 * step)
            memcpy(addresses + i + 2 * k, &next[k], sizeof next[k]);
}

/* First addresses of both halves, and the step of a row. */
static bool row_addresses(const struct exec_warp *w, const struct access_address *a, uint64_t first[ROW_HALVES],
                          uint64_t *step)
{
    if (a->base_bits == 32) {
        const uint32_t *base = lane_data(w, a->base);
        *step = base[1] - base[0];
        first[0] = (uint32_t)(base[0] + (uint32_t)a->offset);
        first[1] = (uint32_t)(base[ROW_LANES] + (uint32_t)a->offset);
        return rises_32(base + ROW_LANES, (uint32_t)*step) && rises_32(base, (uint32_t)*step);
    }
    const uint64_t *base = lane_data(w, a->base);
    *step = base[1] - base[0];
    first[0] = base[0] + (uint64_t)a->offset;
    first[1] = base[ROW_LANES] + (uint64_t)a->offset;
    return rises_64(base + ROW_LANES, *step) && rises_64(base, *step);
}

bool access_find_row(struct exec_warp *w, const struct access_address *a, uint32_t bytes, bool is_store,
                     struct access_row *out)
{
    enum ptx_space space = a->space == PTX_SPACE_NONE ? PTX_SPACE_GLOBAL : (enum ptx_space)a->space;
    uint64_t first[ROW_HALVES], step, start = 0, size = w->cta->shared_bytes;
    uintptr_t host = (uintptr_t)w->cta->shared;
    if ((space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED) || a->base_bits == 0 ||
        !row_addresses(w, a, first, &step))
        return false;
    if (space == PTX_SPACE_GLOBAL) {
        const struct memory_range *r =
            look_up(w, first[0]); /* none where a generic address is one of shared or local memory */
        if (!r || !kind_fits(space, r->kind, is_store))
            return false;
        start = r->base;
        size = r->size_bytes;
        host = (uintptr_t)memory_pointer(start);
    }
    if (step > size / ROW_LANES)
        return false;
    uint64_t span = (ROW_LANES - 1) * step + bytes;
    if (span > size || first[0] - start > size - span || first[1] - start > size - span ||
        (first[0] | first[1] | step) & (bytes - 1))
        return false;
    access_note(w, space, FULL_MASK, bytes, is_store);
    out->step_bytes = step;
    for (int half = 0; half < ROW_HALVES; half++) {
        if (!w->launch->addresses_unused)
            fill_row(w->addr + half * ROW_LANES, first[half], step);
        out->first[half] = (uint8_t *)(host + (first[half] - start));
    }
    return true;
}

/* Writes of a copy of a warp that is only watched (spin.c). Threads of the host may write there meanwhile. */
static bool would_change(const void *to, const void *from, size_t bytes)
{
    uint64_t value = 0;
    if (!bytes || bytes > sizeof value || (bytes & (bytes - 1)) || (uintptr_t)to % bytes)
        return memcmp(to, from, bytes) != 0;
    memcpy(&value, from, bytes);
    return memory_read_whole(to, (uint32_t)bytes) != value;
}

void exec_watched_write(struct exec_warp *w, void *to, const void *from, size_t bytes)
{
    uintptr_t into_local = (uintptr_t)to - (uintptr_t)w->local;
    if (into_local < exec_local_stride(w->launch) * WARP_LANES) /* the copy's own */
        memcpy(to, from, bytes);
    else
        w->launch->effects += would_change(to, from, bytes);
}
