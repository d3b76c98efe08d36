/* The texture and surface objects of a device, by handle (texture.h). */
#include "exec/texture.h"

#include "base/out_of_memory.h"

#include <stddef.h>
#include <stdlib.h>

enum { HANDLE_INDEX_BITS = 32 };

uint64_t texture_create(struct texture_table *t, const struct texture *description)
{
    uint32_t slot = 0;
    while (slot < t->count && t->entries[slot])
        slot++;
    struct texture *copy = malloc(sizeof *copy);
    if (slot == t->capacity) {
        uint32_t capacity = t->capacity ? t->capacity * 2 : 16;
        struct texture **bigger = realloc(t->entries, capacity * sizeof *bigger);
        if (!bigger)
            out_of_memory();
        t->entries = bigger;
        t->capacity = capacity;
    }
    if (!copy)
        out_of_memory();
    *copy = *description;
    copy->in_use = true;
    t->entries[slot] = copy;
    if (slot == t->count)
        t->count++;
    return TEXTURE_HANDLE_TAG | (uint64_t)(slot + 1);
}

static bool slot_of(const struct texture_table *t, uint64_t handle, uint32_t *slot)
{
    uint64_t number = handle & 0xffffffffu;
    if (handle >> HANDLE_INDEX_BITS != TEXTURE_HANDLE_TAG >> HANDLE_INDEX_BITS || number == 0 || number > t->count)
        return false;
    *slot = (uint32_t)number - 1;
    return t->entries[*slot] != NULL;
}

bool texture_destroy(struct texture_table *t, uint64_t handle)
{
    uint32_t slot;
    if (!slot_of(t, handle, &slot))
        return false;
    free(t->entries[slot]);
    t->entries[slot] = NULL;
    return true;
}

const struct texture *texture_find(const struct texture_table *t, uint64_t handle)
{
    uint32_t slot;
    return slot_of(t, handle, &slot) ? t->entries[slot] : NULL;
}

void texture_table_free(struct texture_table *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        free(t->entries[i]);
    free(t->entries);
    *t = (struct texture_table){0};
}
