/* An ordered list of warp slots, each in it at most once: the active and the pending warps of two-level schedulers. */
#ifndef HEDDLE_WARP_LIST_H
#define HEDDLE_WARP_LIST_H

#include "heddle/policy.h"

#include <string.h>

struct heddle_warp_list {
    uint8_t slot[HEDDLE_WARPS]; /* in order */
    uint32_t count;
    uint64_t set; /* the same warps as a set */
};

/* To the end. */
static inline void heddle_list_add(struct heddle_warp_list *l, uint32_t slot)
{
    l->slot[l->count++] = (uint8_t)slot;
    l->set |= UINT64_C(1) << slot;
}

/* The place of the first warp that is one of these; the list's count means that none is. */
static inline uint32_t heddle_list_find(const struct heddle_warp_list *l, uint64_t warps)
{
    uint32_t place = 0;
    while (place < l->count && !(warps >> l->slot[place] & 1))
        place++;
    return place;
}

/* Removes the warp at a place and returns its slot. */
static inline uint32_t heddle_list_take(struct heddle_warp_list *l, uint32_t place)
{
    uint32_t slot = l->slot[place];
    l->count--;
    memmove(l->slot + place, l->slot + place + 1, l->count - place);
    l->set &= ~(UINT64_C(1) << slot);
    return slot;
}

/* The first so many of one list go to the end of the other. */
static inline void heddle_list_move(struct heddle_warp_list *to, struct heddle_warp_list *from, uint32_t count)
{
    uint64_t moved = 0;
    for (uint32_t i = 0; i < count; i++) {
        to->slot[to->count + i] = from->slot[i];
        moved |= UINT64_C(1) << from->slot[i];
    }
    to->count += count;
    to->set |= moved;
    from->count -= count;
    from->set &= ~moved;
    memmove(from->slot, from->slot + count, from->count);
}

/* Loose round robin: the warps after this one come first, then those before it, then itself. */
static inline void heddle_list_turn(struct heddle_warp_list *l, uint32_t slot)
{
    uint8_t turned[HEDDLE_WARPS];
    uint32_t next = heddle_list_find(l, UINT64_C(1) << slot) + 1;
    if (next >= l->count) /* the last already, or not in the list */
        return;
    memcpy(turned, l->slot + next, l->count - next);
    memcpy(turned + l->count - next, l->slot, next);
    memcpy(l->slot, turned, l->count);
}

#endif
