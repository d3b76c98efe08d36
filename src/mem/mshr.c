/* Miss status holding registers: see mshr.h. The table uses linear probing; an entry that leaves it closes the gap behind it, so that lookups end at the first empty place. */
#include "mem/mshr.h"

#include <assert.h>

void mshr_init(struct mshr *m, struct arena *a, uint32_t entries, uint32_t merge)
{
    uint32_t bits = 2;
    if (merge == 0) /* an entry has at least the request that opened it */
        merge = 1;
    while ((1u << bits) < 2 * entries)
        bits++;
    *m = (struct mshr){ .entries = arena_array(a, struct mshr_entry, entries), .table = arena_array(a, uint32_t, 1u << bits),
                        .requests = arena_array(a, struct packet, (size_t)entries * merge), .request_next = arena_array(a, uint32_t, (size_t)entries * merge),
                        .limit = entries, .merge = merge, .table_mask = (1u << bits) - 1, .table_shift = 64 - bits,
                        .free_entry = MSHR_NONE, .free_request = MSHR_NONE, .ready_head = MSHR_NONE, .ready_tail = MSHR_NONE };
    for (uint32_t i = 0; i <= m->table_mask; i++)
        m->table[i] = MSHR_NONE;
}

/* The high bits of a product with an odd constant: lines differ in any bits. */
static uint32_t home(const struct mshr *m, uint64_t line) { return (uint32_t)((line * 0x9e3779b97f4a7c15u) >> m->table_shift); }

uint32_t mshr_find(const struct mshr *m, uint64_t line, uint8_t sectors, uint8_t *covered)
{
    uint32_t found = MSHR_NONE;
    *covered = 0;
    if (m->used == 0)
        return found;
    for (uint32_t i = home(m, line);; i = (i + 1) & m->table_mask) {
        uint32_t index = m->table[i];
        if (index == MSHR_NONE)
            return found;
        const struct mshr_entry *e = &m->entries[index];
        if (e->line != line)
            continue;
        *covered |= e->asked;
        if ((e->asked & sectors) && (found == MSHR_NONE || (int32_t)(e->serial - m->entries[found].serial) > 0))
            found = index;
    }
}

static void table_insert(struct mshr *m, uint32_t entry)
{
    uint32_t i = home(m, m->entries[entry].line);
    while (m->table[i] != MSHR_NONE)
        i = (i + 1) & m->table_mask;
    m->table[i] = entry;
}

static void table_remove(struct mshr *m, uint32_t entry)
{
    uint32_t gap = home(m, m->entries[entry].line);
    while (m->table[gap] != entry)
        gap = (gap + 1) & m->table_mask;
    for (uint32_t i = gap;;) {
        i = (i + 1) & m->table_mask;
        uint32_t other = m->table[i];
        if (other == MSHR_NONE)
            break;
        /* An entry may move back to the gap only if its home does not lie behind it. */
        uint32_t distance = (i - home(m, m->entries[other].line)) & m->table_mask;
        if (distance >= ((i - gap) & m->table_mask)) {
            m->table[gap] = other;
            gap = i;
        }
    }
    m->table[gap] = MSHR_NONE;
}

static void append(struct mshr *m, struct mshr_entry *e, const struct packet *request)
{
    uint32_t node = m->free_request;
    if (node != MSHR_NONE)
        m->free_request = m->request_next[node];
    else
        node = m->fresh_request++;
    m->requests[node] = *request;
    m->request_next[node] = MSHR_NONE;
    if (e->count++ == 0)
        e->head = node;
    else
        m->request_next[e->tail] = node;
    e->tail = node;
}

uint32_t mshr_open(struct mshr *m, uint64_t line, uint8_t sectors, const struct packet *request)
{
    assert(!mshr_full(m));
    uint32_t index = m->free_entry;
    if (index != MSHR_NONE)
        m->free_entry = m->entries[index].next;
    else
        index = m->fresh_entry++;
    struct mshr_entry *e = &m->entries[index];
    *e = (struct mshr_entry){ .line = line, .next = MSHR_NONE, .place = MSHR_NONE, .serial = m->serial++, .warp = request->warp, .asked = sectors, .missing = sectors };
    m->used++;
    table_insert(m, index);
    append(m, e, request);
    return index;
}

void mshr_merge(struct mshr *m, uint32_t entry, const struct packet *request)
{
    assert(mshr_can_merge(m, entry));
    append(m, &m->entries[entry], request);
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

bool mshr_answer(struct mshr *m, uint32_t entry, uint8_t sectors)
{
    assert(entry < m->limit);
    struct mshr_entry *e = &m->entries[entry];
    assert(e->count && e->missing);
    e->missing &= (uint8_t)~sectors;
    if (e->missing)
        return false;
    table_remove(m, entry);
    if (m->ready_head == MSHR_NONE)
        m->ready_head = entry;
    else
        m->entries[m->ready_tail].next = entry;
    m->ready_tail = entry;
    return true;
}

void mshr_ready_pop(struct mshr *m)
{
    uint32_t entry = m->ready_head;
    struct mshr_entry *e = &m->entries[entry];
    uint32_t node = e->head;
    e->head = m->request_next[node];
    m->request_next[node] = m->free_request;
    m->free_request = node;
    if (--e->count)
        return;
    m->ready_head = e->next;
    e->next = m->free_entry;
    m->free_entry = entry;
    m->used--;
}
