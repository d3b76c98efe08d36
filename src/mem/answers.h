/* Answers that have left the interconnect and wait for their core: a queue that holds the core cycle in which each one
 * came. The core takes one answer per cycle, at the earliest in the cycle after it came. */
#ifndef HEDDLE_MEM_ANSWERS_H
#define HEDDLE_MEM_ANSWERS_H

#include "base/arena.h"
#include "mem/packet.h"

struct answer_queue {
    struct packet *slots;
    uint64_t *came; /* of each slot */
    uint32_t mask, limit;
    uint32_t put, taken;  /* from the start, modulo 2^32 */
    uint64_t given_until; /* up to this cycle the core has been given what was there for it */
};

static inline void answers_init(struct answer_queue *q, struct arena *a, uint32_t limit)
{
    uint32_t size = 1;
    while (size < limit)
        size *= 2;
    *q = (struct answer_queue){.slots = arena_lines(a, struct packet, size),
                               .came = arena_array(a, uint64_t, size),
                               .mask = size - 1,
                               .limit = limit};
}

static inline uint32_t answers_count(const struct answer_queue *q) { return q->put - q->taken; }
static inline bool answers_full(const struct answer_queue *q) { return answers_count(q) >= q->limit; }
static inline struct packet *answers_front(const struct answer_queue *q) { return &q->slots[q->taken & q->mask]; }

/* The first cycle in which the core can be given the first of them. */
static inline uint64_t answers_front_at(const struct answer_queue *q)
{
    uint64_t came = q->came[q->taken & q->mask];
    return (came > q->given_until ? came : q->given_until) + 1;
}
/* The same; UINT64_MAX: there is none. */
static inline uint64_t answers_next(const struct answer_queue *q)
{
    return answers_count(q) ? answers_front_at(q) : UINT64_MAX;
}

static inline void answers_put(struct answer_queue *q, const struct packet *p, uint64_t now)
{
    q->slots[q->put & q->mask] = *p;
    q->came[q->put & q->mask] = now;
    q->put++;
}
static inline void answers_take(struct answer_queue *q) { q->taken++; }

#endif
