/* A hash table from addresses to pointers. */
#ifndef HEDDLE_CUDART_ADDRESS_MAP_H
#define HEDDLE_CUDART_ADDRESS_MAP_H

#include <stdbool.h>
#include <stddef.h>

struct address_slot {
    const void *key;
    void *value;
};
struct address_map {
    struct address_slot *slots;
    size_t capacity, count;
};

bool address_map_put(struct address_map *m, const void *key,
                     void *value); /* replaces; false: out of memory. The key is not NULL. */
bool address_map_get(const struct address_map *m, const void *key, void **value);
void address_map_remove(struct address_map *m, const void *key);

#endif
