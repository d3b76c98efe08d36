/* Miss status holding registers: see mshr.h. */
#include "mem/mshr.h"

#include <string.h>

void mshr_init(struct mshr *m, struct arena *a, uint32_t entries, uint32_t merge)
{
    assert(entries <= MSHR_END);
    uint32_t bits = 2;
    if (merge == 0) /* an entry has at least the request that opened it */
        merge = 1;
    while ((1u << bits) < 2 * entries)
        bits++;
    *m = (struct mshr){ .entries = arena_array(a, struct mshr_entry, entries), .requests = arena_array(a, struct packet, (size_t)entries * merge),
                        .chains = arena_array(a, uint16_t, 1u << bits), .limit = entries, .merge = merge, .chain_shift = 32 - bits,
                        .free = MSHR_END, .ready_head = MSHR_END, .ready_tail = MSHR_END };
    memset(m->chains, 0xff, sizeof *m->chains << bits); /* MSHR_END */
}

void mshr_mark_modified(struct mshr *m, uint64_t line, uint8_t sectors)
{
    uint8_t covered;
    for (uint32_t entry; sectors && (entry = mshr_find(m, line, sectors, &covered)) != MSHR_NONE;) {
        struct mshr_entry *e = &m->entries[entry];
        e->modified |= e->asked & sectors;
        sectors &= (uint8_t)~e->asked;
    }
}

static void leave_chain(struct mshr *m, uint32_t entry)
{
    uint16_t *link = mshr_chain(m, m->entries[entry].line);
    while (*link != entry)
        link = &m->entries[*link].next;
    *link = m->entries[entry].next;
}

bool mshr_answer(struct mshr *m, uint32_t entry, uint8_t sectors)
{
    assert(entry < m->limit);
    struct mshr_entry *e = &m->entries[entry];
    assert(e->count && e->missing);
    e->missing &= (uint8_t)~sectors;
    if (e->missing)
        return false;
    leave_chain(m, entry);
    e->next = MSHR_END;
    if (m->ready_head == MSHR_END)
        m->ready_head = (uint16_t)entry;
    else
        m->entries[m->ready_tail].next = (uint16_t)entry;
    m->ready_tail = (uint16_t)entry;
    return true;
}

void mshr_ready_pop(struct mshr *m)
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
