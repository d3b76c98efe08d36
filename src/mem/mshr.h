/* Miss status holding registers: which lines (or sectors) are on their way, and who waits for them.
 *
 * Entries are found by their line through short chains; two entries of one line stand for different sectors. Each has
 * places for as many requests as it may merge. When all that was asked for has come, the entry leaves its chain (a
 * later miss of that line opens a new one) and waits in the order of completion until its requests have been taken, one
 * at a time. */
#ifndef HEDDLE_MEM_MSHR_H
#define HEDDLE_MEM_MSHR_H

#include "base/arena.h"
#include "base/invariant.h"
#include "mem/packet.h"

#define MSHR_NONE UINT32_MAX
enum { MSHR_END = UINT16_MAX }; /* of a chain or list */

/* 64 bytes: one cache line of most hosts. */
struct mshr_entry {
    uint64_t line;         /* address */
    uint64_t age;          /* of the warp that opened it, with its slot */
    uint32_t place;        /* line of the cache that was reserved, MSHR_NONE: none */
    uint16_t count, taken; /* requests, and those of them that were taken when ready. A count of 0 means a free entry */
    uint16_t next;         /* entry after this one in its chain, among the complete or among the free */
    uint8_t asked, missing; /* sectors; those that have not come yet */
    uint8_t modified;       /* sectors written while on their way */
    uint8_t names;       /* sectors that it is found by: those asked for, unless it was opened in the name of another */
    bool bypass;         /* stored nowhere when it comes */
    struct packet first; /* request, which opened it */
};

struct mshr {
    struct mshr_entry *entries;
    struct packet *merged; /* requests after the first: merge - 1 places for each entry */
    uint16_t *chains;      /* the latest entry of each */
    uint32_t limit, merge, used, chain_shift;
    uint32_t fresh; /* entries from here on have never been used, so that memory is touched as it is needed */
    uint16_t free;  /* list of those that have been */
    uint16_t ready_head, ready_tail;
};

/* At most MSHR_END entries. */
void mshr_init(struct mshr *m, struct arena *a, uint32_t entries, uint32_t merge);
/* Sectors written while they are on their way. */
void mshr_mark_modified(struct mshr *m, uint64_t line, uint8_t sectors);

static inline bool mshr_full(const struct mshr *m) { return m->used >= m->limit; }
static inline bool mshr_can_merge(const struct mshr *m, uint32_t entry) { return m->entries[entry].count < m->merge; }
static inline struct packet *mshr_request(const struct mshr *m, uint32_t entry, uint32_t index)
{
    return index == 0 ? &m->entries[entry].first : &m->merged[entry * (m->merge - 1) + index - 1];
}

static inline struct packet *mshr_ready_front(const struct mshr *m)
{
    return m->ready_head == MSHR_END ? NULL : mshr_request(m, m->ready_head, m->entries[m->ready_head].taken);
}

/* The high bits of a product with an odd constant: lines differ in any bits. */
static inline uint16_t *mshr_chain(const struct mshr *m, uint64_t line)
{
    return &m->chains[(uint32_t)(line / SECTOR_BYTES) * 0x9e3779b1u >> m->chain_shift];
}

/* The latest entry that brings some of the sectors, or MSHR_NONE; covered: all sectors of the line on their way. */
static inline uint32_t mshr_find(const struct mshr *m, uint64_t line, uint8_t sectors, uint8_t *covered)
{
    uint32_t found = MSHR_NONE;
    *covered = 0;
    for (uint32_t i = *mshr_chain(m, line); i != MSHR_END; i = m->entries[i].next) {
        const struct mshr_entry *e = &m->entries[i];
        if (e->line != line)
            continue;
        *covered |= e->names;
        if (found == MSHR_NONE && (e->names & sectors))
            found = i;
    }
    return found;
}

/* Opens an entry for its first request; there is a free one. place: see struct mshr_entry. */
static inline uint32_t mshr_open(struct mshr *m, uint64_t line, uint8_t sectors, const struct packet *request,
                                 uint64_t age, uint32_t place)
{
    invariant(!mshr_full(m));
    uint32_t index = m->free;
    if (index != MSHR_END)
        m->free = m->entries[index].next;
    else
        index = m->fresh++;
    uint16_t *chain = mshr_chain(m, line);
    m->entries[index] = (struct mshr_entry){.line = line,
                                            .age = age,
                                            .place = place,
                                            .count = 1,
                                            .next = *chain,
                                            .first = *request,
                                            .asked = sectors,
                                            .missing = sectors,
                                            .names = sectors};
    *chain = (uint16_t)index;
    m->used++;
    return index;
}

static inline void mshr_merge(struct mshr *m, uint32_t entry, const struct packet *request)
{
    invariant(mshr_can_merge(m, entry));
    *mshr_request(m, entry, m->entries[entry].count++) = *request;
}

static inline void mshr_leave_chain(struct mshr *m, uint32_t entry)
{
    uint16_t *link = mshr_chain(m, m->entries[entry].line);
    while (*link != entry)
        link = &m->entries[*link].next;
    *link = m->entries[entry].next;
}

/* Sectors have come. True: that was all; the requests are ready. */
static inline bool mshr_answer(struct mshr *m, uint32_t entry, uint8_t sectors)
{
    invariant(entry < m->limit);
    struct mshr_entry *e = &m->entries[entry];
    invariant(e->count && e->missing);
    e->missing &= (uint8_t)~sectors;
    if (e->missing)
        return false;
    mshr_leave_chain(m, entry);
    e->next = MSHR_END;
    if (m->ready_head == MSHR_END)
        m->ready_head = (uint16_t)entry;
    else
        m->entries[m->ready_tail].next = (uint16_t)entry;
    m->ready_tail = (uint16_t)entry;
    return true;
}

static inline void mshr_ready_pop(struct mshr *m)
{
    uint32_t entry = m->ready_head;
    struct mshr_entry *e = &m->entries[entry];
    if (++e->taken < e->count)
        return;
    m->ready_head = e->next;
    e->count = 0;
    e->next = m->free;
    m->free = (uint16_t)entry;
    m->used--;
}

#endif
