/* A first-in first-out queue of packets with a fixed limit. Nothing is allocated after ring_init. */
#ifndef HEDDLE_MEM_RING_H
#define HEDDLE_MEM_RING_H

#include "base/arena.h"
#include "mem/packet.h"

struct ring {
    struct packet *slots; /* mask + 1 of them */
    uint32_t mask, head, count, limit;
};

static inline void ring_init(struct ring *r, struct arena *a, uint32_t limit)
{
    uint32_t size = 1;
    while (size < limit)
        size *= 2;
    *r = (struct ring){.slots = arena_lines(a, struct packet, size), .mask = size - 1, .limit = limit};
}

static inline bool ring_full(const struct ring *r) { return r->count >= r->limit; }
static inline uint32_t ring_room(const struct ring *r) { return r->limit - r->count; }
static inline struct packet *ring_front(struct ring *r) { return &r->slots[r->head]; }

/* The place of the next packet to be pushed. */
static inline struct packet *ring_back(struct ring *r) { return &r->slots[(r->head + r->count) & r->mask]; }

/* The caller has seen that there is room. */
static inline void ring_push(struct ring *r, const struct packet *p)
{
    r->slots[(r->head + r->count++) & r->mask] = *p;
}

static inline void ring_pop(struct ring *r)
{
    r->head = (r->head + 1) & r->mask;
    r->count--;
}

#endif
