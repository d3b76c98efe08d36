/* Open addressing with linear probing; removal closes the gap, so that there are no tombstones. */
#include "cudart/address_map.h"

#include <stdint.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

static size_t home_of(const struct address_map *m, const void *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
    return (size_t)(h >> 32) & (m->capacity - 1);
}

static struct address_slot *slot_of(const struct address_map *m, const void *key)
{
    size_t i = home_of(m, key);
    while (m->slots[i].key && m->slots[i].key != key)
        i = (i + 1) & (m->capacity - 1);
    return &m->slots[i];
}

static bool grow(struct address_map *m)
{
    struct address_map bigger = {.capacity = m->capacity ? m->capacity * 2 : FIRST_CAPACITY, .count = m->count};
    bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < m->capacity; i++)
        if (m->slots[i].key)
            *slot_of(&bigger, m->slots[i].key) = m->slots[i];
    free(m->slots);
    *m = bigger;
    return true;
}

bool address_map_put(struct address_map *m, const void *key, void *value)
{
    if (m->count * 2 >= m->capacity && !grow(m))
        return false;
    struct address_slot *s = slot_of(m, key);
    m->count += !s->key;
    *s = (struct address_slot){key, value};
    return true;
}

bool address_map_get(const struct address_map *m, const void *key, void **value)
{
    struct address_slot *s = m->count && key ? slot_of(m, key) : NULL;
    if (!s || !s->key)
        return false;
    *value = s->value;
    return true;
}

void address_map_remove(struct address_map *m, const void *key)
{
    struct address_slot *s = m->count && key ? slot_of(m, key) : NULL;
    if (!s || !s->key)
        return;
    size_t gap = (size_t)(s - m->slots), mask = m->capacity - 1;
    for (size_t i = (gap + 1) & mask; m->slots[i].key; i = (i + 1) & mask) {
        size_t home = home_of(m, m->slots[i].key);
        if (((i - home) & mask) >= ((i - gap) & mask)) {
            m->slots[gap] = m->slots[i];
            gap = i;
        }
    }
    m->slots[gap] = (struct address_slot){0};
    if (!--m->count) { /* nothing is left behind when the last library is closed */
        free(m->slots);
        *m = (struct address_map){0};
    }
}
