/* Miss status holding registers: which lines (or sectors) are on their way, and who waits for them (mechanisms: section 23).
 *
 * An entry is found by its line through a small open-addressed table; two entries of one line stand for different sectors. Its requests are a list out of one pool. When all that was asked for has
 * come, the entry leaves the table (a later miss of that line opens a new one) and waits in the order of completion until its requests have been taken, one at a time. */
#ifndef HEDDLE_MEM_MSHR_H
#define HEDDLE_MEM_MSHR_H

#include "base/arena.h"
#include "mem/packet.h"

#define MSHR_NONE UINT32_MAX

struct mshr_entry {
    uint64_t line;             /* address */
    uint64_t age;              /* of the warp that opened it, with its slot */
    uint32_t head, tail;       /* requests */
    uint32_t next;             /* free or complete entry behind this one */
    uint32_t place;            /* line of the cache that was reserved, MSHR_NONE: none */
    uint32_t serial;           /* order of opening */
    uint16_t count;            /* requests; 0: free */
    uint16_t warp;
    uint8_t asked, missing;    /* sectors; those that have not come yet */
    uint8_t modified;          /* sectors written while on their way */
    bool bypass;               /* stored nowhere when it comes */
};

struct mshr {
    struct mshr_entry *entries;
    uint32_t *table;           /* entry or MSHR_NONE */
    struct packet *requests;   /* the pool, and the request behind each */
    uint32_t *request_next;
    uint32_t limit, merge, used, table_mask, table_shift, serial;
    uint32_t free_entry, fresh_entry;       /* list of used ones; never used from fresh on, so that memory is touched as it is needed */
    uint32_t free_request, fresh_request;
    uint32_t ready_head, ready_tail;
};

void mshr_init(struct mshr *m, struct arena *a, uint32_t entries, uint32_t merge);
/* The latest entry that brings some of the sectors, or MSHR_NONE; covered: all sectors of the line on their way. */
uint32_t mshr_find(const struct mshr *m, uint64_t line, uint8_t sectors, uint8_t *covered);
/* Opens an entry for its first request; there is a free one. */
uint32_t mshr_open(struct mshr *m, uint64_t line, uint8_t sectors, const struct packet *request);
void mshr_merge(struct mshr *m, uint32_t entry, const struct packet *request);
/* Sectors written while they are on their way. */
void mshr_mark_modified(struct mshr *m, uint64_t line, uint8_t sectors);
/* Sectors have come. True: that was all; the requests are ready. */
bool mshr_answer(struct mshr *m, uint32_t entry, uint8_t sectors);
void mshr_ready_pop(struct mshr *m);

static inline bool mshr_full(const struct mshr *m) { return m->used >= m->limit; }
static inline bool mshr_can_merge(const struct mshr *m, uint32_t entry) { return m->entries[entry].count < m->merge; }
static inline struct packet *mshr_ready_front(const struct mshr *m)
{
    return m->ready_head == MSHR_NONE ? NULL : &m->requests[m->entries[m->ready_head].head];
}

#endif
