/* See replay_many.h. A table has the way of each line; it is a hint, which the way's tag confirms, so that lines that leave need not be taken out of it. It is made anew when too much of it is old.
 *
 * Under LRU and FIFO ways are a list in the order of their keys. Under the other policies there is a heap, the smallest key first, and of equal ones the first way. A key that changes is put into it
 * once more; what stands in it and is not the way's key any more is passed over when it comes to the top. A heap that is full is made anew of the keys there are. A key has the number of its way in
 * the low bits. As long as there are ways that never had a line, and no store has dropped one, nobody asks, and there is no heap.
 *
 * Ways that never had a line since the set was emptied are those from `used` on; nothing is written to them before they get one. */
#include "lab/replay_many.h"

#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NO_LINE UINT64_MAX
enum { HEAP_LEAST = 16, CHILDREN = 4, TABLE_LEAST = 1024, LOOK_AHEAD = 8 };

struct many_set {
    uint64_t flushes;                  /* before it was last made empty */
    uint64_t zero;                     /* SRRIP: of its keys */
    uint32_t used;                     /* ways that have or had a line */
    uint32_t newest, oldest;           /* LRU, FIFO: ends of the list, NO_WAY where it is empty */
    uint32_t dropped;                  /* LRU, FIFO: ways without a line among those used, as a list through `newer`; NO_WAY: none */
    uint32_t heap_count;
    bool has_heap, has_dropped;        /* the others */
};

struct replay_many {
    struct line_map where;             /* of each line the way, counted through all sets */
    struct slabs slabs;
    struct many_set *sets;
    uint64_t *tags, *keys;             /* of each way; tags NO_LINE: none */
    uint32_t *newer, *older;           /* LRU, FIFO */
    uint64_t *heap;                    /* the others: heap_size keys of each set */
    uint32_t ways, heap_size, way_bits;
    uint64_t lines;                    /* of all sets */
    uint64_t now;                      /* Belady: the key of a use at access 0 */
    uint64_t flushes;
};

static bool is_list(enum replay_policy policy) { return policy == REPLAY_LRU || policy == REPLAY_FIFO; }

struct replay_many *replay_many_make(const struct replay_cache *c)
{
    struct replay_many *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    bool list = is_list(c->policy);
    m->ways = c->ways;
    m->lines = (uint64_t)c->index.count * c->ways;
    m->heap_size = 2 * c->ways + HEAP_LEAST;
    m->way_bits = 32 - (uint32_t)__builtin_clz(c->ways);
    m->now = (uint64_t)1 << (63 - m->way_bits); /* at 2^24 ways some 500 thousand million accesses of a core */
    m->flushes = 1;
    slabs_init(&m->slabs);
    m->where.slabs = &m->slabs;
    m->sets = calloc(c->index.count, sizeof *m->sets);
    m->tags = malloc(m->lines * sizeof *m->tags);
    m->keys = list ? NULL : malloc(m->lines * sizeof *m->keys);
    m->newer = list ? malloc(m->lines * sizeof *m->newer) : NULL;
    m->older = list ? malloc(m->lines * sizeof *m->older) : NULL;
    m->heap = list ? NULL : malloc((size_t)c->index.count * m->heap_size * sizeof *m->heap);
    if (m->sets && m->tags && (list ? m->newer && m->older : m->keys && m->heap))
        return m;
    replay_many_free(m);
    return NULL;
}

void replay_many_free(struct replay_many *m)
{
    if (!m)
        return;
    slabs_free(&m->slabs);
    free(m->sets);
    free(m->tags);
    free(m->keys);
    free(m->newer);
    free(m->older);
    free(m->heap);
    free(m);
}

void replay_many_flush(struct replay_many *m) { m->flushes++; }

/* A set, while an access is at it. */
struct set { struct many_set *state; uint64_t first; uint64_t *tags, *keys; uint32_t *newer, *older; uint64_t *heap; };

static ALWAYS_INLINE struct set set_of(const struct replay_cache *c, const struct replay_many *m, uint64_t line, bool list)
{
    uint32_t number = cache_sets_index(&c->index, line << c->index.line_shift);
    uint64_t first = (uint64_t)number * m->ways;
    struct set s = { .state = &m->sets[number], .first = first, .tags = m->tags + first };
    if (list)
        s.newer = m->newer + first, s.older = m->older + first;
    else
        s.keys = m->keys + first, s.heap = m->heap + (uint64_t)number * m->heap_size;
    if (s.state->flushes != m->flushes)
        *s.state = (struct many_set){ .flushes = m->flushes, .newest = NO_WAY, .oldest = NO_WAY, .dropped = NO_WAY };
    return s;
}

/* The list */

static void unlink_way(const struct set *s, uint32_t way)
{
    uint32_t newer = s->newer[way], older = s->older[way];
    *(newer == NO_WAY ? &s->state->newest : &s->older[newer]) = older;
    *(older == NO_WAY ? &s->state->oldest : &s->newer[older]) = newer;
}

static void link_newest(const struct set *s, uint32_t way)
{
    uint32_t older = s->state->newest;
    s->newer[way] = NO_WAY;
    s->older[way] = older;
    *(older == NO_WAY ? &s->state->oldest : &s->newer[older]) = way;
    s->state->newest = way;
}

static uint32_t list_victim(const struct set *s, uint32_t ways)
{
    uint32_t way = s->state->dropped;
    if (way != NO_WAY) {
        s->state->dropped = s->newer[way];
        return way;
    }
    if (s->state->used < ways)
        return s->state->used++;
    way = s->state->oldest;
    unlink_way(s, way);
    return way;
}

/* The heap */

static uint32_t way_of(const struct replay_many *m, uint64_t key) { return (uint32_t)key & ((1u << m->way_bits) - 1); }
static uint64_t packed_key(const struct replay_many *m, uint64_t key, uint32_t way) { return key << m->way_bits | way; }

/* x comes into the place `at` or below it. */
static void sift_down(uint64_t *heap, uint32_t count, uint32_t at, uint64_t x)
{
    for (uint32_t child; (child = CHILDREN * at + 1) < count; at = child) {
        uint32_t end = child + CHILDREN < count ? child + CHILDREN : count;
        uint64_t least = heap[child];
        for (uint32_t i = child + 1; i < end; i++) {
            uint64_t key = heap[i];
            child = key < least ? i : child;
            least = key < least ? key : least;
        }
        if (least >= x)
            break;
        heap[at] = least;
    }
    heap[at] = x;
}

static void make_heap(const struct set *s)
{
    uint32_t n = s->state->heap_count = s->state->used;
    memcpy(s->heap, s->keys, n * sizeof *s->heap);
    for (uint32_t i = n / CHILDREN + 1; i-- > 0;)
        if (i < n)
            sift_down(s->heap, n, i, s->heap[i]);
}

static void set_key(const struct replay_many *m, const struct set *s, uint32_t way, uint64_t key)
{
    uint64_t x = packed_key(m, key, way), old = s->keys[way];
    s->keys[way] = x;
    s->state->has_dropped |= key == REPLAY_KEY_EMPTY;
    if (!s->state->has_heap)
        return;
    if (s->state->heap_count && s->heap[0] == old) {
        sift_down(s->heap, s->state->heap_count, 0, x);
        return;
    }
    if (s->state->heap_count == m->heap_size) {
        make_heap(s);
        return;
    }
    uint32_t at = s->state->heap_count++;
    for (uint32_t parent; at && x < s->heap[parent = (at - 1) / CHILDREN]; at = parent)
        s->heap[at] = s->heap[parent];
    s->heap[at] = x;
}

static void pop(const struct set *s)
{
    uint32_t n = --s->state->heap_count;
    sift_down(s->heap, n, 0, s->heap[n]);
}

/* The way with the smallest key; one without a line before all others, the first of them. It gets a new key, which takes the place of the one at the top, if that was its own. */
static uint32_t heap_victim(const struct replay_many *m, const struct set *s)
{
    if (!s->state->has_heap && (s->state->used == m->ways || s->state->has_dropped)) {
        make_heap(s);
        s->state->has_heap = true;
    }
    while (s->state->heap_count && s->keys[way_of(m, s->heap[0])] != s->heap[0])
        pop(s);
    if (s->state->used == m->ways || (s->state->heap_count && s->heap[0] >> m->way_bits == REPLAY_KEY_EMPTY))
        return way_of(m, s->heap[0]);
    uint32_t way = s->state->used++;
    s->keys[way] = packed_key(m, REPLAY_KEY_EMPTY, way);
    return way;
}

/* The table */

/* Of the lines that are there; others have no room for long. */
static __attribute__((noinline)) void renew_table(struct replay_many *m, uint32_t sets)
{
    line_map_clear(&m->where);
    for (uint32_t i = 0; i < sets; i++)
        for (uint32_t way = 0; m->sets[i].flushes == m->flushes && way < m->sets[i].used; way++) {
            uint64_t at = (uint64_t)i * m->ways + way;
            if (m->tags[at] != NO_LINE)
                *line_map_at(&m->where, m->tags[at]) = at;
        }
}

/* Accesses */

static ALWAYS_INLINE void use(struct replay_many *m, const struct set *s, uint32_t way, uint64_t clock, uint64_t next, enum replay_policy policy)
{
    if (policy == REPLAY_LRU && s->state->newest != way) {
        unlink_way(s, way);
        link_newest(s, way);
    }
    if (is_list(policy))
        return;
    uint64_t key = replay_key(m->now, s->state->zero, clock, next, true, policy);
    if (key != s->keys[way] >> m->way_bits)
        set_key(m, s, way, key);
}

static ALWAYS_INLINE void drop(struct replay_many *m, const struct set *s, uint32_t way, enum replay_policy policy)
{
    s->tags[way] = NO_LINE;
    if (!is_list(policy)) {
        set_key(m, s, way, REPLAY_KEY_EMPTY);
        return;
    }
    unlink_way(s, way);
    s->newer[way] = s->state->dropped;
    s->state->dropped = way;
}

/* Returns the way. */
static ALWAYS_INLINE uint32_t insert(struct replay_many *m, const struct set *s, uint64_t line, uint64_t clock, uint64_t next, enum replay_policy policy)
{
    uint32_t way = is_list(policy) ? list_victim(s, m->ways) : heap_victim(m, s);
    s->tags[way] = line;
    if (is_list(policy)) {
        link_newest(s, way);
        return way;
    }
    uint64_t key = s->keys[way] >> m->way_bits;
    if (policy == REPLAY_SRRIP && key != REPLAY_KEY_EMPTY)
        s->state->zero = key - 1; /* all age until this one is at the farthest */
    set_key(m, s, way, replay_key(m->now, s->state->zero, clock, next, false, policy));
    return way;
}

static ALWAYS_INLINE void run(struct replay_cache *c, const struct trace_access *list, const uint64_t *next, uint32_t count, struct replay_counts *counts, enum replay_policy policy)
{
    struct replay_many *m = c->many;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = list[i].line >> c->line_shift, ahead = policy >= REPLAY_BELADY ? next[i] : 0;
        if (m->where.count > 2 * m->lines + TABLE_LEAST)
            renew_table(m, c->index.count);
        line_map_reserve(&m->where, 1);
        line_map_prefetch(&m->where, list[i + LOOK_AHEAD < count ? i + LOOK_AHEAD : i].line >> c->line_shift);
        struct set s = set_of(c, m, line, is_list(policy));
        struct line_map_slot *slot = line_map_place(&m->where, line);
        uint64_t way = slot->line == line ? slot->value - s.first : NO_WAY;
        bool store = list[i].what & TRACE_STORE, hit = way < s.state->used && s.tags[way] == line;
        enum trace_store does = c->stores[(list[i].what & TRACE_LOCAL) != 0];
        c->clock++;
        replay_count(&counts[list[i].pc], store, hit);
        if (hit && store && does == TRACE_STORE_EVICT) {
            drop(m, &s, (uint32_t)way, policy);
        } else if (hit) {
            use(m, &s, (uint32_t)way, c->clock, ahead, policy);
        } else if (!store || does == TRACE_STORE_ALLOCATE) {
            m->where.count += slot->line != line;
            *slot = (struct line_map_slot){ line, s.first + insert(m, &s, line, c->clock, ahead, policy) };
        }
    }
}

void replay_many_run(struct replay_cache *c, const struct trace_access *list, const uint64_t *next, uint32_t count, struct replay_counts *counts)
{
    switch (c->policy) {
    case REPLAY_LRU: run(c, list, next, count, counts, REPLAY_LRU); break;
    case REPLAY_FIFO: run(c, list, next, count, counts, REPLAY_FIFO); break;
    case REPLAY_SRRIP: run(c, list, next, count, counts, REPLAY_SRRIP); break;
    default: run(c, list, next, count, counts, REPLAY_BELADY); break;
    }
}
