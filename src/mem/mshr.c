/* Miss status holding registers: see mshr.h. */
#include "mem/mshr.h"

#include <string.h>

enum { HOST_LINE_BYTES = 64 };

void mshr_init(struct mshr *m, struct arena *a, uint32_t entries, uint32_t merge)
{
    assert(entries <= MSHR_END);
    uint32_t bits = 2;
    if (merge == 0) /* an entry has at least the request that opened it */
        merge = 1;
    while ((1u << bits) < 2 * entries)
        bits++;
    *m = (struct mshr){.entries = arena_lines(a, struct mshr_entry, entries),
                       .merged = arena_array(a, struct packet, (size_t)entries * (merge - 1)),
                       .chains = arena_array(a, uint16_t, 1u << bits),
                       .limit = entries,
                       .merge = merge,
                       .chain_shift = 32 - bits,
                       .free = MSHR_END,
                       .ready_head = MSHR_END,
                       .ready_tail = MSHR_END};
    memset(m->chains, 0xff, sizeof *m->chains << bits); /* MSHR_END */
}

void mshr_mark_modified(struct mshr *m, uint64_t line, uint8_t sectors)
{
    uint8_t covered;
    for (uint32_t entry; sectors && (entry = mshr_find(m, line, sectors, &covered)) != MSHR_NONE;) {
        struct mshr_entry *e = &m->entries[entry];
        e->modified |= e->asked & sectors;
        sectors &= (uint8_t) ~(e->asked | e->names);
    }
}
