/* What a program said about ranges of managed memory: advice and prefetches. Nothing acts on it, since memory never
 * moves; it can be asked for again.
 *
 * Records lie in the order of the calls. One that covers an older one of its kind replaces it, so a program that
 * repeats itself adds nothing. Guarded by the driver's lock. */
#include "cuda/advice.h"

#include <stdlib.h>
#include <string.h>

struct record {
    uint64_t base, size_bytes;
    enum advice_kind kind;
    CUmemLocation place;
};
static struct records {
    struct record *entries;
    uint32_t count, capacity;
} records;

static bool covers(const struct record *r, uint64_t base, uint64_t size_bytes)
{
    return base >= r->base && base - r->base + size_bytes <= r->size_bytes;
}
static bool touches(const struct record *r, uint64_t base, uint64_t size_bytes)
{
    return base < r->base + r->size_bytes && r->base < base + size_bytes;
}

static void drop(uint32_t at)
{
    memmove(&records.entries[at], &records.entries[at + 1], (records.count - at - 1) * sizeof *records.entries);
    records.count--;
}

bool advice_set(uint64_t base, uint64_t size_bytes, enum advice_kind kind, CUmemLocation place)
{
    struct record added = {base, size_bytes, kind, place};
    for (uint32_t i = records.count; i-- > 0;)
        if (records.entries[i].kind == kind && covers(&added, records.entries[i].base, records.entries[i].size_bytes))
            drop(i);
    if (records.count == records.capacity) {
        uint32_t capacity = records.capacity ? records.capacity * 2 : 16;
        struct record *entries = realloc(records.entries, capacity * sizeof *entries);
        if (!entries)
            return false;
        records.entries = entries;
        records.capacity = capacity;
    }
    records.entries[records.count++] = added;
    return true;
}

CUmemLocation advice_get(uint64_t base, uint64_t size_bytes, enum advice_kind kind)
{
    const CUmemLocation none = {CU_MEM_LOCATION_TYPE_INVALID, CU_DEVICE_INVALID};
    for (uint32_t i = records.count; i-- > 0;) {
        const struct record *r = &records.entries[i];
        if (r->kind == kind && touches(r, base, size_bytes))
            return covers(r, base, size_bytes) ? r->place : none; /* parts of the range differ */
    }
    return none;
}

void advice_forget(uint64_t base, uint64_t size_bytes)
{
    for (uint32_t i = records.count; i-- > 0;)
        if (touches(&records.entries[i], base, size_bytes))
            drop(i);
}
