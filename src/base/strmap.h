/* A map from strings to pointers: open addressing, keys not copied (they live in the caller's arena). */
#ifndef HEDDLE_BASE_STRMAP_H
#define HEDDLE_BASE_STRMAP_H

#include <stddef.h>
#include <stdint.h>

struct strmap_entry {
    const char *key;
    uint32_t length, hash;
    void *value;
};

struct strmap {
    struct strmap_entry *entries;
    size_t capacity, count;
};

void *strmap_get(const struct strmap *m, const char *key, size_t length);       /* NULL means absent */
void strmap_put(struct strmap *m, const char *key, size_t length, void *value); /* replaces the old value */
void strmap_free(struct strmap *m);

#endif
