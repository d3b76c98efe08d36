/* What travels between a core's caches, the crossbar, the L2 slices and DRAM: a token of 32 bytes, passed by value. It
 * carries no data, only what an access costs. */
#ifndef HEDDLE_MEM_PACKET_H
#define HEDDLE_MEM_PACKET_H

#include <stdbool.h>
#include <stdint.h>

enum packet_kind {
    PACKET_LOAD,  /* global read by a core's L1D, or past it */
    PACKET_STORE, /* global write: answered by an acknowledgement */
    PACKET_LOCAL_LOAD,
    PACKET_LOCAL_STORE,
    PACKET_ATOMIC, /* takes effect at the partition */
    PACKET_CONST,  /* constant cache miss */
    PACKET_TEXTURE,
    PACKET_INST,         /* instruction cache miss */
    PACKET_L1_WRITEBACK, /* a modified line leaves an L1: no answer */
    PACKET_L2_WRITEBACK, /* a modified line leaves an L2: no answer */
    PACKET_L2_FETCH,     /* an L2 reads the line that a store missed: no answer to the core */
};

enum { SECTOR_BYTES = 32 };

struct packet {
    uint64_t address; /* timing address of the first byte */
    uint32_t token;   /* the sender's own: an MSHR entry, a pending load, a warp */
    uint32_t pc;      /* instruction that caused it */
    uint16_t bytes;   /* asked for or written */
    uint16_t core;    /* that sent it */
    uint16_t warp;    /* slot in that core */
    uint8_t kind;     /* enum packet_kind */
    union {
        uint8_t slice; /* L2 slice it belongs to */
        uint8_t left; /* before it has one, on its way to an L1D: accesses of the same instruction that come after it */
    };
    uint32_t mask; /* atomics: lanes it stands for; stores to a cache that asks for it, and loads of such an L1: what of
                      their bytes they write or read, a bit for each 32nd part */
    uint8_t sectors;         /* of its line, bit 0 lowest: what a fill brings or a write covers */
    uint8_t reply;           /* on its way back to the core */
    uint8_t origin;          /* which part of its core waits for the answer (the core's own) */
    uint8_t twin : 1;        /* asks for its sector in the name of the one before it (cache.c) */
    uint8_t away : 1;        /* of an L2 of two halves: it is in the one that is not its address's home */
    uint8_t guest : 1;       /* it is at home, and has come from the other half */
    uint8_t uncopied : 1;    /* a read of a guest that its own half keeps no copy of: it has no place for one */
    uint8_t takes_turns : 1; /* an atomic of floating point: those of one word do */
};

enum {
    PACKET_WRITES = 1 << PACKET_STORE | 1 << PACKET_LOCAL_STORE | 1 << PACKET_L1_WRITEBACK | 1 << PACKET_L2_WRITEBACK
};
static inline bool packet_is_write(const struct packet *p) { return PACKET_WRITES >> p->kind & 1; }

/* How many sectors a set of eight has: processors of ten years ago have no instruction for it that we may use. */
static inline uint32_t packet_sectors(uint8_t set)
{
    const uint64_t counts = 0x4332322132212110u; /* by four bits */
    return (uint32_t)(counts >> (set & 15) * 4 & 15) + (uint32_t)(counts >> (set >> 4) * 4 & 15);
}

/* Of a store that tells what it writes, or a load that tells what it reads: which bytes of a sector of its line. As all
 * of more than one sector it has its place at a multiple of its bytes. */
static inline uint32_t packet_sector_bytes(const struct packet *p, uint32_t sector)
{
    uint32_t part = p->bytes / 32u, bytes = 0;
    if (part < 2)
        return p->mask;
    uint32_t parts = SECTOR_BYTES / part, written = p->mask >> (sector * parts & 31);
    for (uint32_t i = 0; i < parts; i++)
        bytes |= (written >> i & 1 ? (1u << part) - 1 : 0) << i * part;
    return bytes;
}

/* Each of the sectors that it names. */
static inline bool packet_writes_all(const struct packet *p)
{
    for (uint32_t left = p->sectors; left; left &= left - 1)
        if (packet_sector_bytes(p, (uint32_t)__builtin_ctz(left)) != UINT32_MAX)
            return false;
    return true;
}

/* Nobody waits for an answer. */
static inline bool packet_ends_silently(const struct packet *p)
{
    return p->kind == PACKET_L1_WRITEBACK || p->kind == PACKET_L2_WRITEBACK;
}

enum { EXPECTED_TIMES = 128 };

/* What a core has asked for and not been answered yet; a request that the L2 cuts into pieces is answered with each.
 *
 * A request spends a fixed time at least on its way to its slice and in the delay there. As many as were sent so long
 * ago are due: they may have left the delay. If just as many have, and all of these have been answered, the next answer
 * is no earlier than the delay of the first one after them. */
struct expected_answers {
    _Alignas(64) uint32_t count;      /* but for those of `cut` */
    uint32_t taken;                   /* answers, from the start, modulo 2^32 */
    uint32_t to_atomics;              /* of these: the memory side may act on the core's warps before they are there */
    uint32_t sent, due;               /* requests that are answered, from the start, modulo 2^32 */
    uint32_t sent_at[EXPECTED_TIMES]; /* core cycle modulo 2^32, of those from due to sent */
    /* Written by the memory side, also while cores ask: what they read is as before or after one of its cycles, and
     * either will do. */
    _Alignas(64) uint32_t cut; /* answers to pieces after the first, from the start, modulo 2^32 */
    uint32_t answered;         /* answers that have left their slice, from the start, modulo 2^32 */
    uint32_t left;             /* requests that have left the delay, from the start, modulo 2^32 */
};

static inline uint32_t expected_read(const uint32_t *of_memory) { return __atomic_load_n(of_memory, __ATOMIC_RELAXED); }
static inline void expected_step(uint32_t *of_memory) { __atomic_store_n(of_memory, *of_memory + 1, __ATOMIC_RELAXED); }

static inline uint32_t expected_count(const struct expected_answers *e) { return e->count + expected_read(&e->cut); }

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
static inline uint32_t expected_on_way(const struct expected_answers *e)
{
    return expected_read(&e->answered) - e->taken;
}

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
    uint32_t left = expected_read(&e->left);
    while (e->due != e->sent && expected_age(e, now) >= (int32_t)delay)
        e->due++;
    if (left != e->due || expected_count(e) != e->sent - left)
        return 0;
    return now + delay - 1 - (uint64_t)(int64_t)expected_age(e, now);
}

#endif
