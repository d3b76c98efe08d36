/* Values as a query finds them, before they are put into rows: each has the number of its row (a cycle, an instruction,
 * a bucket) and of its column. */
#ifndef HEDDLE_STORE_FOUND_H
#define HEDDLE_STORE_FOUND_H

#include "base/out_of_memory.h"

#include <stdint.h>
#include <stdlib.h>

struct found {
    int64_t number;
    uint32_t column;
    double value;
};
struct found_list {
    struct found *items;
    size_t count, room;
}; /* items: to be freed */

static inline void add_found(struct found_list *list, struct found item)
{
    if (list->count == list->room) {
        list->room = list->room ? list->room * 2 : 256;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        if (!list->items)
            out_of_memory();
    }
    list->items[list->count++] = item;
}

static inline int found_by_number(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->column > y->column) - (x->column < y->column);
}

/* By row, then by column. Returns how many rows there are. */
static inline uint32_t sort_found(struct found_list *list)
{
    uint32_t rows = 0;
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, found_by_number);
    for (size_t i = 0; i < list->count; i++)
        rows += i == 0 || list->items[i].number != list->items[i - 1].number;
    return rows;
}

#endif
