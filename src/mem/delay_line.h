/* A fixed delay: packets wait for a core cycle each, and leave in the order in which they came. */
#ifndef HEDDLE_MEM_DELAY_LINE_H
#define HEDDLE_MEM_DELAY_LINE_H

#include "base/arena.h"
#include "mem/packet.h"

#include <string.h>

/* A packet that waits for a core cycle. sectors: those of a request that have not been cut off yet, as its sender
 * numbers them, from address base on. */
struct delayed {
    struct packet packet;
    uint64_t ready, base;
    uint32_t sectors;
    bool whole /* is one piece, as it stands */;
    bool begun /* a piece has left */;
    uint32_t pad[2] /* to 64 bytes: found by a shift */;
};
/* A line goes round in its first slots, as many as it has needed so far: it may be long, and stays in few cache lines
 * of the host. */
struct delay_line {
    struct delayed *slots;
    uint32_t mask, head, count, limit;
};
enum { DELAY_WINDOW = 32 };

static inline void delay_init(struct delay_line *d, struct arena *a, uint32_t limit)
{
    uint32_t size = 1;
    while (size < limit)
        size *= 2;
    *d = (struct delay_line){.slots = arena_lines(a, struct delayed, size),
                             .mask = (size < DELAY_WINDOW ? size : DELAY_WINDOW) - 1,
                             .limit = limit};
}

/* All slots of the window are in use: it becomes twice as long. What is in front of the head goes after the rest. */
static inline void delay_grow(struct delay_line *d)
{
    uint32_t size = d->mask + 1;
    memcpy(d->slots + size, d->slots, d->head * sizeof *d->slots);
    d->mask = 2 * size - 1;
}

static inline bool delay_full(const struct delay_line *d) { return d->count >= d->limit; }
static inline struct delayed *delay_front(const struct delay_line *d) { return &d->slots[d->head]; }
static inline bool delay_over(const struct delay_line *d, uint64_t core_now)
{
    return d->count && delay_front(d)->ready <= core_now;
}

/* The place after the last entry; the line is not full. */
static inline struct delayed *delay_back(struct delay_line *d)
{
    if (d->count > d->mask)
        delay_grow(d);
    return &d->slots[(d->head + d->count) & d->mask];
}

/* An empty line begins at its first slot again: a little used one stays in few cache lines of the host. */
static inline void delay_pop(struct delay_line *d) { d->head = --d->count ? (d->head + 1) & d->mask : 0; }

#endif
