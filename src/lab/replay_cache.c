/* The cache of the replay: see replay_cache.h. With few ways tags and keys are searched one by one; with many there is a table for the first and a heap for the second. */
#include "lab/replay_cache.h"

#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NO_LINE UINT64_MAX
enum { FEW_WAYS = 32, SRRIP_NEW = 2, SRRIP_HIT = 4 /* keys: 1 is the farthest */ };

bool replay_cache_init(struct replay_cache *c, const struct replay_geometry *g, const struct trace_header *h, enum replay_policy policy, struct error *e)
{
    size_t lines = (size_t)g->sets * g->ways;
    *c = (struct replay_cache){ .policy = policy, .stores = { h->global_stores, h->local_stores }, .ways = g->ways, .many_ways = g->ways > FEW_WAYS };
    c->line_shift = (uint32_t)(__builtin_ctz(g->line_bytes) - __builtin_ctz(h->line_bytes));
    c->index = (struct cache_sets){ .count = g->sets, .index = g->index, .line_shift = (uint32_t)__builtin_ctz(g->line_bytes), .set_bits = 31 - (uint32_t)__builtin_clz(g->sets) };
    c->tags = malloc(2 * lines * sizeof *c->tags);
    c->sets = calloc(g->sets, sizeof *c->sets);
    c->heap = c->many_ways ? malloc(lines * sizeof *c->heap) : NULL;
    c->place = c->many_ways ? malloc(lines * sizeof *c->place) : NULL;
    if (!c->tags || !c->sets || (c->many_ways && (!c->heap || !c->place))) {
        replay_cache_free(c);
        return error_set(e, ERROR_NO_MEMORY, "out of memory for caches of %u sets of %u ways", g->sets, g->ways);
    }
    c->flushes = 1;
    return true;
}

void replay_cache_free(struct replay_cache *c)
{
    line_map_free(&c->where);
    free(c->tags);
    free(c->sets);
    free(c->heap);
    free(c->place);
    *c = (struct replay_cache){ .ways = 0 };
}

void replay_cache_flush(struct replay_cache *c)
{
    line_map_clear(&c->where);
    c->flushes++;
}

/* A set, while an access is at it. */
struct set { uint64_t *tags, *keys; uint32_t *heap, *place; struct replay_set *state; };

/* For the first time, or after the cache was flushed. */
static __attribute__((noinline)) void make_empty(const struct replay_cache *c, const struct set *s)
{
    memset(s->tags, 0xff, c->ways * sizeof *s->tags);
    memset(s->keys, 0, c->ways * sizeof *s->keys);
    *s->state = (struct replay_set){ .flushes = c->flushes };
    for (uint32_t way = 0; c->many_ways && way < c->ways; way++)
        s->heap[way] = s->place[way] = way;
}

/* Many ways */

static bool before(const struct set *s, uint32_t a, uint32_t b) { return s->keys[a] != s->keys[b] ? s->keys[a] < s->keys[b] : a < b; }

static void seat(const struct set *s, uint32_t at, uint32_t way)
{
    s->heap[at] = way;
    s->place[way] = at;
}

/* The way's key has changed. */
static void settle(const struct set *s, uint32_t ways, uint32_t way)
{
    uint32_t at = s->place[way];
    for (; at && before(s, way, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        seat(s, at, s->heap[(at - 1) / 2]);
    for (uint32_t child; (child = 2 * at + 1) < ways; at = child) {
        if (child + 1 < ways && before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!before(s, s->heap[child], way))
            break;
        seat(s, at, s->heap[child]);
    }
    seat(s, at, way);
}

/* Any number of ways: many is known when this is compiled into its caller */

static ALWAYS_INLINE uint32_t find(const struct replay_cache *c, const struct set *s, uint64_t line, bool many)
{
    if (many) {
        const uint64_t *way = line_map_find(&c->where, line);
        return way ? (uint32_t)*way : NO_WAY;
    }
    uint32_t found = NO_WAY;
    for (uint32_t way = 0; way < c->ways; way++) /* all of them: no branch that a processor could guess wrong */
        found = s->tags[way] == line ? way : found;
    return found;
}

static ALWAYS_INLINE void set_key(const struct replay_cache *c, const struct set *s, uint32_t way, uint64_t key, bool many)
{
    s->keys[way] = key;
    if (many)
        settle(s, c->ways, way);
}

static ALWAYS_INLINE uint32_t smallest(const struct replay_cache *c, const struct set *s, bool many)
{
    if (many)
        return s->heap[0];
    uint32_t best = 0;
    uint64_t key = s->keys[0];
    for (uint32_t way = 1; way < c->ways; way++) {
        best = s->keys[way] < key ? way : best;
        key = s->keys[way] < key ? s->keys[way] : key;
    }
    return best;
}

static ALWAYS_INLINE uint64_t key_of(struct replay_cache *c, const struct set *s, uint64_t next, bool hit, enum replay_policy policy)
{
    if (policy == REPLAY_LRU || policy == REPLAY_FIFO)
        return c->clock;
    if (policy == REPLAY_SRRIP)
        return s->state->zero + (hit ? SRRIP_HIT : SRRIP_NEW);
    return next ? UINT64_MAX - (c->clock + next) : 1;
}

static ALWAYS_INLINE void insert(struct replay_cache *c, const struct set *s, uint64_t line, uint64_t next, enum replay_policy policy, bool many)
{
    uint32_t way = smallest(c, s, many);
    if (policy == REPLAY_SRRIP && s->keys[way])
        s->state->zero = s->keys[way] - 1; /* all age until this one is at the farthest */
    if (many && s->tags[way] != NO_LINE)
        line_map_remove(&c->where, s->tags[way]);
    s->tags[way] = line;
    if (many)
        *line_map_at(&c->where, line, way) = way;
    set_key(c, s, way, key_of(c, s, next, false, policy), many);
}

static ALWAYS_INLINE void drop(struct replay_cache *c, const struct set *s, uint32_t way, bool many)
{
    if (many)
        line_map_remove(&c->where, s->tags[way]);
    s->tags[way] = NO_LINE;
    set_key(c, s, way, 0, many);
}

static ALWAYS_INLINE void run(struct replay_cache *c, const struct trace_access *list, const uint64_t *next, uint32_t count, struct replay_counts *counts, enum replay_policy policy, bool many)
{
    bool mask = c->index.index == INDEX_MASK, belady = policy >= REPLAY_BELADY;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = list[i].line >> c->line_shift, address = line << c->index.line_shift;
        uint32_t number = mask ? (uint32_t)line & (c->index.count - 1) : cache_sets_hashed_index(&c->index, address);
        size_t first = (size_t)number * c->ways;
        struct set s = { c->tags + 2 * first, c->tags + 2 * first + c->ways, many ? c->heap + first : NULL, many ? c->place + first : NULL, &c->sets[number] };
        if (__builtin_expect(s.state->flushes != c->flushes, 0))
            make_empty(c, &s);
        uint32_t way = find(c, &s, line, many);
        struct replay_counts *n = &counts[list[i].pc];
        uint64_t ahead = belady ? next[i] : 0;
        bool store = list[i].what & TRACE_STORE;
        enum trace_store does = c->stores[(list[i].what & TRACE_LOCAL) != 0];
        c->clock++;
        *(store ? &n->stores : &n->reads) += 1;
        if (way != NO_WAY) {
            if (store && does == TRACE_STORE_EVICT)
                drop(c, &s, way, many);
            else if (policy != REPLAY_FIFO)
                set_key(c, &s, way, key_of(c, &s, ahead, true, policy), many);
            continue;
        }
        *(store ? &n->store_misses : &n->read_misses) += 1;
        if (!store || does == TRACE_STORE_ALLOCATE)
            insert(c, &s, line, ahead, policy, many);
    }
}

#define RUN(policy) (c->many_ways ? run(c, list, next, count, counts, policy, true) : run(c, list, next, count, counts, policy, false))

void replay_cache_run(struct replay_cache *c, const struct trace_access *list, const uint64_t *next, uint32_t count, struct replay_counts *counts)
{
    switch (c->policy) {
    case REPLAY_LRU: RUN(REPLAY_LRU); break;
    case REPLAY_FIFO: RUN(REPLAY_FIFO); break;
    case REPLAY_SRRIP: RUN(REPLAY_SRRIP); break;
    default: RUN(REPLAY_BELADY); break; /* both: they differ in what the next use is */
    }
}
