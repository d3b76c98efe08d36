/* Which device memory copies and others may touch. */
#include "cuda/internal.h"

bool range_is_copyable(enum memory_kind kind)
{
    return kind != MEMORY_PARAM && kind != MEMORY_HEAP && kind != MEMORY_RUNTIME && kind != MEMORY_ARRAY;
}

/* Ranges that were mapped side by side (cuMemMap) may be used as one. */
bool device_range_ok(uint64_t address, uint64_t bytes)
{
    const struct memory *m = driver_get()->gpu->memory;
    if (address + bytes < address)
        return false;
    const struct memory_range *r = memory_find(m, address);
    if (!r || !range_is_copyable(r->kind))
        return false;
    uint64_t end = address + bytes;
    while (end > r->base + r->size_bytes) {
        r = memory_find(m, r->base + r->size_bytes);
        if (!r || r->kind != MEMORY_DEVICE)
            return false;
    }
    return true;
}
