/* The device's address space: one range of host addresses, reserved when the device is made and backed by pages only
 * where touched.
 *
 * Allocation is first fit over a sorted list of free extents that are merged when a range is released. An allocation
 * has whole granules for itself, as on a GPU; between two lies at least one guard gap, so that no access may run from
 * one into the next. What the host allocates has a margin on either side besides, which kernels may touch: on a GPU
 * small allocations share pages of 2 MB, and something is mapped around them. Free memory is kept zero: what is
 * released is cleared, small ranges by hand and large ones by giving their pages back. The live ranges are a sorted
 * table, searched by halving.
 *
 * Left out: page granularity and placement of a real driver; addresses are the same in every run as long as the
 * preferred base is free. */
#include "exec/memory.h"

#include "base/checked.h"
#include "base/guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LEAST_ALIGN = 256,
    GRANULE_BYTES = 512,
    LARGE_BYTES = 1 << 20, /* from here on an allocation has pages for itself, which are its granules */
    PAGE_GRANULE_BYTES = 2 << 20,
    GUARD_BYTES = 256,
    MARGIN_BYTES = 32 << 10,
    FREED_KEPT = 64, /* ranges remembered for messages */
    LABEL_KEPT = 64, /* bytes of a freed range's name: its owner may be gone when the message is made */
    GIVE_BACK_BYTES = 1 << 16,
};
/* Where the range lies, and how large it may be. ThreadSanitizer has its shadow at most addresses; what it leaves to
 * programs on x86-64 and on arm64 alike, and the loader and the heap leave free, is the 4 GB from 4 GB on. In a build
 * with it, what does not fit there is out of memory, whatever the machine file says, and there is one device per
 * process. */
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define PREFERRED_BASE   0x100000000ull
#define RANGE_MOST_BYTES 0xf0000000ull
enum { BASES_TRIED = 1 };
#else
#define PREFERRED_BASE   0x200000000000ull
#define RANGE_MOST_BYTES UINT64_MAX
enum { BASES_TRIED = 16 };
#endif
#define FIRST_PHYSICAL  0xc0000000ull
#define PARAM_PHYSICAL  0ull
#define BESIDE_PHYSICAL (1ull << 45)
#define BASE_STEP       0x010000000000ull
#define HOST_ROOM       (64ull << 30) /* room in the range for pinned memory and for gaps */

struct extent {
    uint64_t base, size_bytes;
};

/* What callers see comes first; the rest is this file's. */
struct memory_state {
    struct memory m;
    struct extent *holes; /* free parts of the heap, sorted, never adjacent */
    uint32_t hole_count, hole_capacity;
    char freed_labels[FREED_KEPT][LABEL_KEPT];
    uint64_t closed_end;  /* nothing at or after it was ever closed to the host (base/guard.h) */
    bool margins_written; /* some kernel wrote into a margin: from then on they are cleared as well */
};

static struct memory_state *state_of(struct memory *m) { return (struct memory_state *)m; }

static uint64_t round_up(uint64_t value, uint64_t align) { return (value + align - 1) & ~(align - 1); }

static uint64_t page_bytes(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

/* Fixed addresses make runs repeatable; several devices in one process stand one step apart. */
static void *reserve(uint64_t size_bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#ifdef MAP_FIXED_NOREPLACE
    for (int i = 0; i < BASES_TRIED; i++) {
        void *want = (void *)(uintptr_t)(PREFERRED_BASE + (uint64_t)i * BASE_STEP);
        void *at = mmap(want, size_bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
        if (at == want)
            return at;
        if (at != MAP_FAILED)
            munmap(at, size_bytes); /* a kernel that does not know the flag took the address for a hint */
    }
#endif
    void *at = mmap((void *)(uintptr_t)PREFERRED_BASE, size_bytes, PROT_NONE, flags, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool reserve_range(struct memory *m)
{
    uint64_t windows = round_up((uint64_t)MEMORY_WINDOW_BYTES * (MEMORY_CLUSTER_BLOCKS + 2), 1ull << 28);
    uint64_t wish[] = {2 * m->capacity_bytes + HOST_ROOM, m->capacity_bytes + (m->capacity_bytes >> 3) + (1ull << 28)};
    for (int i = 0; i < 2; i++) {
        uint64_t guard = page_bytes(), bytes = windows + round_up(wish[i], 1ull << 20) + guard;
        if (bytes > RANGE_MOST_BYTES)
            bytes = RANGE_MOST_BYTES;
        uint8_t *at = reserve(bytes);
        if (!at)
            continue;
        if (mprotect(at + windows, bytes - windows - guard, PROT_READ | PROT_WRITE) != 0) {
            munmap(at, bytes);
            continue;
        }
#ifdef MADV_DONTDUMP
        madvise(at, bytes, MADV_DONTDUMP);
#endif
        m->reserved_base = (uint64_t)(uintptr_t)at;
        m->reserved_bytes = bytes;
        m->shared_window = m->reserved_base;
        m->local_window = m->shared_window + (uint64_t)MEMORY_WINDOW_BYTES * (MEMORY_CLUSTER_BLOCKS + 1);
        m->heap_base = m->reserved_base + windows;
        m->heap_end = m->reserved_base + bytes - guard; /* before the heap the windows guard it */
        return true;
    }
    return false;
}

/* Room for one more element after the count there are; false when out of host memory. */
static bool grow(void **items, uint32_t count, uint32_t *capacity, size_t item_bytes)
{
    if (count < *capacity)
        return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 64;
    void *bigger = realloc(*items, wanted * item_bytes);
    if (!bigger)
        return false;
    *items = bigger;
    *capacity = wanted;
    return true;
}

static bool grow_ranges(struct memory *m)
{
    return grow((void **)&m->ranges, m->range_count, &m->range_capacity, sizeof *m->ranges);
}

static bool grow_holes(struct memory_state *s)
{
    return grow((void **)&s->holes, s->hole_count, &s->hole_capacity, sizeof *s->holes);
}

struct memory *memory_create(uint64_t capacity_bytes, struct error *e)
{
    struct memory_state *s = calloc(1, sizeof *s);
    struct memory_range *freed = calloc(FREED_KEPT, sizeof *freed);
    if (!s || !freed || !grow_ranges(&s->m) || !grow_holes(s)) {
        error_set(e, ERROR_NO_MEMORY, "no host memory for the tables of the device's memory");
    } else {
        s->m.capacity_bytes = capacity_bytes;
        s->m.next_serial = 1;
        s->m.next_physical = FIRST_PHYSICAL;
        s->m.generation = 1; /* 0 is a cache that was never filled */
        s->m.freed = freed;
        if (reserve_range(&s->m)) {
            s->holes[s->hole_count++] = (struct extent){s->m.heap_base, s->m.heap_end - s->m.heap_base};
            return &s->m;
        }
        error_set(e, ERROR_NO_MEMORY, "cannot reserve %" PRIu64 " bytes of address space for the device's memory",
                  capacity_bytes);
    }
    if (s) {
        free(s->m.ranges);
        free(s->holes);
    }
    free(freed);
    free(s);
    return NULL;
}

void memory_destroy(struct memory *m)
{
    if (!m)
        return;
    if (state_of(m)->closed_end)
        guard_open(m->heap_base, state_of(m)->closed_end - m->heap_base);
    munmap((void *)(uintptr_t)m->reserved_base, m->reserved_bytes);
    free(m->ranges);
    free(m->freed);
    free(state_of(m)->holes);
    free(m);
}

/* Index of the first live range whose base is above address. */
static uint32_t first_above(const struct memory *m, uint64_t address)
{
    uint32_t low = 0, high = m->range_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->ranges[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct memory_range *memory_find(const struct memory *m, uint64_t address)
{
    uint32_t above = first_above(m, address);
    if (above == 0)
        return NULL;
    const struct memory_range *r = &m->ranges[above - 1];
    return is_inside_range(r->base, r->size_bytes, address, 0) ? r : NULL;
}

static bool is_in_heap(const struct memory *m, uint64_t base) { return base >= m->heap_base && base < m->heap_end; }

static uint64_t in_granules(uint64_t size_bytes)
{
    return round_up(size_bytes, size_bytes < LARGE_BYTES ? GRANULE_BYTES : PAGE_GRANULE_BYTES);
}

uint64_t memory_granules_end(const struct memory_range *r) { return r->base + in_granules(r->size_bytes); }

const struct memory_range *memory_find_granule(const struct memory *m, uint64_t address)
{
    uint32_t above = first_above(m, address);
    const struct memory_range *r = above ? &m->ranges[above - 1] : NULL;
    return r && is_in_heap(m, r->base) && address < memory_granules_end(r) ? r : NULL;
}

static uint64_t margin_of(enum memory_kind kind)
{
    return kind == MEMORY_DEVICE || kind == MEMORY_MANAGED || kind == MEMORY_HOST ? MARGIN_BYTES : 0;
}

const struct memory_range *memory_find_margin(const struct memory *m, uint64_t address, uint64_t bytes)
{
    uint32_t above = first_above(m, address);
    const struct memory_range *below = above ? &m->ranges[above - 1] : NULL, *found = NULL;
    const struct memory_range *next = above < m->range_count ? &m->ranges[above] : NULL;
    uint64_t left = 0; /* from the address to the end of what the range may be touched in */
    if (below && is_in_heap(m, below->base) &&
        address - below->base < memory_granules_end(below) + margin_of(below->kind) - below->base) {
        found = below;
        left = memory_granules_end(below) + margin_of(below->kind) - address;
    } else if (next && is_in_heap(m, next->base) && next->base - address <= margin_of(next->kind)) {
        found = next;
        left = memory_granules_end(next) + margin_of(next->kind) - address;
    }
    return found && bytes <= left ? found : NULL;
}

void memory_note_margin_write(struct memory *m)
{
    __atomic_store_n(&state_of(m)->margins_written, true, __ATOMIC_RELAXED);
}

/* Parameters of launches come and go, and always lie at the same place: in GPGPU-Sim at 0. */
static uint64_t place_physically(struct memory *m, uint64_t size_bytes, enum memory_kind kind)
{
    if (kind == MEMORY_PARAM)
        return PARAM_PHYSICAL;
    uint64_t at = m->next_physical;
    m->next_physical += round_up(size_bytes, LEAST_ALIGN);
    return at;
}

/* What lies beside a range (the end of its granules, a margin) has lines of its own: those after its physical place
 * are another range's. */
static uint64_t physical_beside(const struct memory *m, uint64_t address)
{
    const struct memory_range *r = memory_find_margin(m, address, 1);
    return r ? BESIDE_PHYSICAL + r->physical + (address - r->base) : address;
}

uint64_t memory_physical(const struct memory *m, uint64_t address, struct memory_range *near)
{
    if (address - near->base >= near->size_bytes) {
        const struct memory_range *r = memory_find(m, address);
        if (!r)
            return physical_beside(m, address);
        *near = *r;
    }
    return near->physical + (address - near->base);
}

/* The caller has made room. */
static void insert_range(struct memory *m, const struct memory_range *r)
{
    uint32_t at = first_above(m, r->base);
    memmove(&m->ranges[at + 1], &m->ranges[at], (m->range_count - at) * sizeof *m->ranges);
    m->ranges[at] = *r;
    m->range_count++;
    m->generation++;
}

/* Pinned host memory does not count against the device's capacity. */
static uint64_t counted_bytes(uint64_t size_bytes, enum memory_kind kind)
{
    return kind == MEMORY_HOST ? 0 : round_up(size_bytes, LEAST_ALIGN);
}

static void remove_hole(struct memory_state *s, uint32_t at)
{
    memmove(&s->holes[at], &s->holes[at + 1], (s->hole_count - at - 1) * sizeof *s->holes);
    s->hole_count--;
}

static void insert_hole(struct memory_state *s, uint32_t at, struct extent hole)
{
    memmove(&s->holes[at + 1], &s->holes[at], (s->hole_count - at) * sizeof *s->holes);
    s->holes[at] = hole;
    s->hole_count++;
}

/* Takes [base, base + bytes) out of hole at; what remains in front of it and after it stays free. Room for one more
 * hole is there. */
static void take_from_hole(struct memory_state *s, uint32_t at, uint64_t base, uint64_t bytes)
{
    struct extent hole = s->holes[at];
    uint64_t front = base - hole.base, back = hole.size_bytes - front - bytes;
    if (front && back)
        insert_hole(s, at, (struct extent){hole.base, front});
    if (front && back)
        s->holes[at + 1] = (struct extent){base + bytes, back};
    else if (front)
        s->holes[at].size_bytes = front;
    else if (back)
        s->holes[at] = (struct extent){base + bytes, back};
    else
        remove_hole(s, at);
}

/* What a range of this size occupies from its base on: its granules, its margin, and a gap after them. A margin more
 * lies before the base. */
static uint64_t occupied_bytes(uint64_t size_bytes, enum memory_kind kind)
{
    return in_granules(size_bytes) + margin_of(kind) + GUARD_BYTES;
}

/* A range that is handed out is open as far as kernels may reach on either side, and closed beyond that. */
static void open_range(struct memory *m, uint64_t base, uint64_t size_bytes, enum memory_kind kind)
{
    struct memory_state *s = state_of(m);
    uint64_t margin = margin_of(kind), reach = m->exact_bounds ? 0 : margin;
    uint64_t first = base - reach, open_end = base + (m->exact_bounds ? size_bytes : in_granules(size_bytes)) + reach;
    uint64_t end = base + occupied_bytes(size_bytes, kind);
    if (!GUARD_GAP_BYTES)
        return;
    if (first < s->closed_end)
        guard_open(first, (open_end < s->closed_end ? open_end : s->closed_end) - first);
    guard_close(base - margin, margin - reach);
    guard_close(open_end, end - open_end);
    s->closed_end = end > s->closed_end ? end : s->closed_end;
}

/* Of a large range only the begin: closing takes time and memory. */
static void close_freed(uint64_t base, uint64_t size_bytes)
{
    guard_close(base, size_bytes < LARGE_BYTES ? size_bytes : LARGE_BYTES);
}

uint64_t memory_alloc(struct memory *m, uint64_t size_bytes, uint64_t align_bytes, enum memory_kind kind,
                      const char *label)
{
    struct memory_state *s = state_of(m);
    uint64_t align = align_bytes < LEAST_ALIGN ? LEAST_ALIGN : align_bytes;
    if (size_bytes == 0 || size_bytes > m->heap_end - m->heap_base || (align_bytes & (align_bytes - 1)))
        return 0;
    uint64_t counted = counted_bytes(size_bytes, kind), margin = margin_of(kind),
             occupied = occupied_bytes(size_bytes, kind);
    if (counted > m->capacity_bytes - m->used_bytes || !grow_ranges(m) || !grow_holes(s))
        return 0;
    for (uint32_t i = 0; i < s->hole_count; i++) {
        uint64_t base = round_up(s->holes[i].base + margin, align);
        uint64_t skipped = base - s->holes[i].base;
        if (base < s->holes[i].base || skipped > s->holes[i].size_bytes || s->holes[i].size_bytes - skipped < occupied)
            continue;
        take_from_hole(s, i, base - margin, margin + occupied);
        insert_range(m, &(struct memory_range){base, size_bytes, kind, m->next_serial++, label,
                                               place_physically(m, size_bytes, kind)});
        m->used_bytes += counted;
        open_range(m, base, size_bytes, kind);
        return base;
    }
    return 0;
}

bool memory_register(struct memory *m, void *host, uint64_t size_bytes, enum memory_kind kind)
{
    uint64_t base = (uint64_t)(uintptr_t)host;
    uint64_t end;
    if (!host || size_bytes == 0 || !checked_add(base, size_bytes, &end))
        return false;
    if (base < m->reserved_base + m->reserved_bytes && end > m->reserved_base)
        return false;
    uint32_t above = first_above(m, base);
    if (above > 0 && base - m->ranges[above - 1].base < m->ranges[above - 1].size_bytes)
        return false;
    if (above < m->range_count && m->ranges[above].base - base < size_bytes)
        return false;
    if (!grow_ranges(m))
        return false;
    insert_range(m, &(struct memory_range){base, size_bytes, kind, m->next_serial++, NULL,
                                           place_physically(m, size_bytes, kind)});
    return true;
}

/* Free memory is zero. Whole pages of large ranges go back to the host, which hands out cleared ones; the rest is
 * cleared here. */
static void clear(uint64_t base, uint64_t size_bytes)
{
    uint64_t end = base + size_bytes, first = end, last = end;
    if (size_bytes >= GIVE_BACK_BYTES) {
        uint64_t page = page_bytes();
        first = round_up(base, page);
        last = end & ~(page - 1);
        if (madvise(memory_pointer(first), last - first, MADV_DONTNEED) != 0)
            first = last = end;
    }
    memset(memory_pointer(base), 0, first - base);
    memset(memory_pointer(last), 0, end - last);
}

static void remember_freed(struct memory *m, const struct memory_range *r)
{
    uint32_t slot = m->freed_count++ % FREED_KEPT;
    m->freed[slot] = *r;
    if (r->label) {
        char *copy = state_of(m)->freed_labels[slot];
        snprintf(copy, LABEL_KEPT, "%s", r->label);
        m->freed[slot].label = copy;
    }
}

/* Gives an extent back to the list and merges it with its neighbours. */
static bool give_to_holes(struct memory_state *s, uint64_t base, uint64_t bytes)
{
    if (!grow_holes(s))
        return false;
    uint32_t low = 0, high = s->hole_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->holes[middle].base < base)
            low = middle + 1;
        else
            high = middle;
    }
    bool joins_front = low > 0 && s->holes[low - 1].base + s->holes[low - 1].size_bytes == base;
    bool joins_back = low < s->hole_count && base + bytes == s->holes[low].base;
    if (joins_front && joins_back) {
        s->holes[low - 1].size_bytes += bytes + s->holes[low].size_bytes;
        remove_hole(s, low);
    } else if (joins_front) {
        s->holes[low - 1].size_bytes += bytes;
    } else if (joins_back) {
        s->holes[low].base = base;
        s->holes[low].size_bytes += bytes;
    } else {
        insert_hole(s, low, (struct extent){base, bytes});
    }
    return true;
}

bool memory_release(struct memory *m, uint64_t base)
{
    uint32_t above = first_above(m, base);
    if (above == 0 || m->ranges[above - 1].base != base)
        return false;
    struct memory_range r = m->ranges[above - 1];
    memmove(&m->ranges[above - 1], &m->ranges[above], (m->range_count - above) * sizeof *m->ranges);
    m->range_count--;
    m->generation++;
    remember_freed(m, &r);
    if (!is_in_heap(m, base))
        return true;
    uint64_t margin = margin_of(r.kind), dirty = state_of(m)->margins_written ? margin : 0;
    if (m->exact_bounds)
        guard_open(r.base + r.size_bytes, memory_granules_end(&r) - r.base - r.size_bytes);
    clear(r.base - dirty, memory_granules_end(&r) - r.base + 2 * dirty);
    close_freed(r.base - margin, in_granules(r.size_bytes) + 2 * margin);
    m->used_bytes -= counted_bytes(r.size_bytes, r.kind);
    give_to_holes(state_of(m), r.base - margin,
                  margin + occupied_bytes(r.size_bytes,
                                          r.kind)); /* without host memory for the list the extent is lost, no more */
    return true;
}

static const char *kind_noun(enum memory_kind kind)
{
    switch (kind) {
    case MEMORY_HOST: return "range of host memory";
    case MEMORY_MANAGED: return "managed allocation";
    case MEMORY_GLOBAL: return "global variable";
    case MEMORY_CONST: return "constant variable";
    case MEMORY_PARAM: return "block of kernel parameters";
    case MEMORY_HEAP: return "allocation of the kernel's malloc";
    case MEMORY_RUNTIME: return "allocation of the device runtime";
    case MEMORY_ARRAY: return "array";
    case MEMORY_DEVICE: break;
    }
    return "allocation";
}

/* "a 1024-byte allocation at 0x200010000000 (allocation 3)" */
static void describe_range(const struct memory_range *r, bool freed, char *out, size_t out_bytes)
{
    int n =
        snprintf(out, out_bytes, "a %s%" PRIu64 "-byte %s", freed ? "freed " : "", r->size_bytes, kind_noun(r->kind));
    if (r->label && n > 0 && (size_t)n < out_bytes)
        n += snprintf(out + n, out_bytes - (size_t)n, " '%s'", r->label);
    if (n > 0 && (size_t)n < out_bytes)
        snprintf(out + n, out_bytes - (size_t)n, " at 0x%" PRIx64 " (allocation %" PRIu64 ")", r->base, r->serial);
}

static const struct memory_range *find_freed(const struct memory *m, uint64_t address)
{
    uint32_t kept = m->freed_count < FREED_KEPT ? m->freed_count : FREED_KEPT;
    for (uint32_t back = 1; back <= kept; back++) { /* the latest first */
        const struct memory_range *r = &m->freed[(m->freed_count - back) % FREED_KEPT];
        if (address - r->base < r->size_bytes)
            return r;
    }
    return NULL;
}

static bool describe_window(const struct memory *m, uint64_t address, char *out, size_t out_bytes)
{
    uint64_t offset = address - m->shared_window, window = MEMORY_WINDOW_BYTES;
    if (offset < window * (MEMORY_CLUSTER_BLOCKS + 1)) {
        if (offset < window)
            snprintf(out, out_bytes, "byte %" PRIu64 " of the block's shared memory window", offset);
        else
            snprintf(out, out_bytes, "byte %" PRIu64 " of the shared memory window of block %" PRIu64 " of the cluster",
                     offset % window, offset / window - 1);
        return true;
    }
    if (address - m->local_window < window) {
        snprintf(out, out_bytes, "byte %" PRIu64 " of the thread's local memory window", address - m->local_window);
        return true;
    }
    return false;
}

void memory_describe(const struct memory *m, uint64_t address, char *out, uint32_t out_bytes)
{
    char range[256];
    uint32_t above = first_above(m, address);
    const struct memory_range *below = above ? &m->ranges[above - 1] : NULL,
                              *next = above < m->range_count ? &m->ranges[above] : NULL;
    const struct memory_range *freed = find_freed(m, address);
    if (below && address - below->base < below->size_bytes) {
        describe_range(below, false, range, sizeof range);
        snprintf(out, out_bytes, "%" PRIu64 " bytes into %s", address - below->base, range);
    } else if (freed) {
        describe_range(freed, true, range, sizeof range);
        snprintf(out, out_bytes, "%" PRIu64 " bytes into %s", address - freed->base, range);
    } else if (describe_window(m, address, out, out_bytes)) {
        return;
    } else if (address < 4096) {
        snprintf(out, out_bytes, "a null pointer plus %" PRIu64 " bytes", address);
    } else if (below && (!next || address - (below->base + below->size_bytes) <= next->base - address)) {
        uint64_t past = address - (below->base + below->size_bytes);
        describe_range(below, false, range, sizeof range);
        if (past)
            snprintf(out, out_bytes, "%" PRIu64 " bytes past the end of %s", past, range);
        else
            snprintf(out, out_bytes, "right at the end of %s", range);
    } else if (next) {
        describe_range(next, false, range, sizeof range);
        snprintf(out, out_bytes, "%" PRIu64 " bytes before %s", next->base - address, range);
    } else {
        snprintf(out, out_bytes, "nothing is allocated on the device");
    }
}
