/* FNV-1a and linear probing; grows at three quarters full. */
#include "base/strmap.h"

#include "base/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_bytes(const char *key, size_t length)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)key[i]) * 16777619u;
    return h;
}

static struct strmap_entry *find(const struct strmap *m, const char *key, size_t length, uint32_t hash)
{
    size_t i = hash & (m->capacity - 1);
    for (;; i = (i + 1) & (m->capacity - 1)) {
        struct strmap_entry *e = &m->entries[i];
        if (!e->key || (e->hash == hash && e->length == length && memcmp(e->key, key, length) == 0))
            return e;
    }
}

void *strmap_get(const struct strmap *m, const char *key, size_t length)
{
    return m->capacity ? find(m, key, length, hash_bytes(key, length))->value : NULL;
}

static void grow(struct strmap *m)
{
    struct strmap old = *m;
    m->capacity = old.capacity ? old.capacity * 2 : 64;
    m->entries = calloc(m->capacity, sizeof *m->entries);
    if (!m->entries)
        out_of_memory();
    for (size_t i = 0; i < old.capacity; i++)
        if (old.entries[i].key)
            *find(m, old.entries[i].key, old.entries[i].length, old.entries[i].hash) = old.entries[i];
    free(old.entries);
}

void strmap_put(struct strmap *m, const char *key, size_t length, void *value)
{
    if (m->count * 4 >= m->capacity * 3)
        grow(m);
    uint32_t hash = hash_bytes(key, length);
    struct strmap_entry *e = find(m, key, length, hash);
    if (!e->key)
        m->count++;
    *e = (struct strmap_entry){key, (uint32_t)length, hash, value};
}

void strmap_free(struct strmap *m)
{
    free(m->entries);
    *m = (struct strmap){0};
}
