/* What a core has asked for and has not been answered yet, so that it is known when the next answer comes at the
 * earliest. A request that the L2 cuts into pieces is answered with each.
 *
 * A request spends a fixed time at least on its way to its slice and in the delay there. Requests older than that are
 * "due": they may have left the delay. If exactly the due requests have left it, and all of these have been answered,
 * the next answer comes no earlier than the delay of the oldest other request. */
#ifndef HEDDLE_MEM_EXPECTED_H
#define HEDDLE_MEM_EXPECTED_H

#include "mem/packet.h"

enum { EXPECTED_TIMES = 128 };

struct expected_answers {
    _Alignas(64) uint32_t count;      /* but for those of `cut` */
    uint32_t taken;                   /* answers, from the start, modulo 2^32 */
    uint32_t to_atomics;              /* of these: the memory side may act on the core's warps before they are there */
    uint32_t sent, due;               /* requests that are answered, from the start, modulo 2^32 */
    uint32_t sent_at[EXPECTED_TIMES]; /* core cycle modulo 2^32, of those from due to sent */
    /* Written by the memory side. */
    uint32_t cut;      /* answers to pieces after the first, from the start, modulo 2^32 */
    uint32_t answered; /* answers that have left their slice, from the start, modulo 2^32 */
    uint32_t left;     /* requests that have left the delay, from the start, modulo 2^32 */
};

static inline uint32_t expected_count(const struct expected_answers *e) { return e->count + e->cut; }

static inline void expected_add(struct expected_answers *e, const struct packet *p, uint64_t now)
{
    if (packet_ends_silently(p))
        return;
    e->count++;
    e->to_atomics += p->kind == PACKET_ATOMIC;
    e->sent_at[e->sent++ % EXPECTED_TIMES] = (uint32_t)now;
    if (p->kind == PACKET_TEXTURE || e->sent - e->due > EXPECTED_TIMES) /* it passes no delay; there is no place */
        e->due = e->sent;
}

/* Have left their slice, and are not with the core yet. */
static inline uint32_t expected_on_way(const struct expected_answers *e) { return e->answered - e->taken; }

static inline void expected_remove(struct expected_answers *e, const struct packet *p)
{
    e->count--;
    e->taken++;
    e->to_atomics -= p->kind == PACKET_ATOMIC;
}

/* Cycles since the first request that is not due was sent; negative: it is sent in a cycle to come. */
static inline int32_t expected_age(const struct expected_answers *e, uint64_t now)
{
    return (int32_t)((uint32_t)now - e->sent_at[e->due % EXPECTED_TIMES]);
}

/* Of a core that expects an answer: the last cycle, from now on, after which all that it expects is still in the delay
 * of its slice or on its way there. 0: that is not known of this one. */
static inline uint64_t expected_delayed_until(struct expected_answers *e, uint64_t now, uint32_t delay)
{
    while (e->due != e->sent && expected_age(e, now) >= (int32_t)delay)
        e->due++;
    if (e->left != e->due || expected_count(e) != e->sent - e->left)
        return 0;
    return now + delay - 1 - (uint64_t)(int64_t)expected_age(e, now);
}

#endif
