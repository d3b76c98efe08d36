/* The cache of the replay: see replay_cache.h. With few ways tags and keys are searched one by one; with many there is a table for the first and a heap for the second.
 *
 * Few ways: a key has the number of its way in the low bits, so that no two are the same and the smallest also says which way it is. While a set is searched, a way that has the line counts as
 * smaller than any key. So one search finds the way that a line has or gets, and whether it is there changes no branch: half of the accesses of a trace may miss, and nobody guesses which. */
#include "lab/replay_cache.h"

#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NO_LINE UINT64_MAX
enum { WAY_BITS = 5, FEW_WAYS = 1 << WAY_BITS };
/* Keys. SRRIP: above the set's zero, where 1 is the farthest. */
enum { KEY_EMPTY = 1, KEY_NEVER = 2, KEY_FIRST = 2, SRRIP_NEW = 2, SRRIP_HIT = 4 };
#define KEY_NOW ((uint64_t)1 << 58) /* Belady: a use at access 0; later ones are smaller */

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
    c->where.slabs = &c->slabs;
    c->flushes = 1;
    return true;
}

void replay_cache_free(struct replay_cache *c)
{
    slabs_free(&c->slabs);
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

static uint64_t packed_key(uint64_t key, uint32_t way) { return key << WAY_BITS | way; }

/* For the first time, or after the cache was flushed. */
static __attribute__((noinline)) void make_empty(const struct replay_cache *c, struct set s)
{
    memset(s.tags, 0xff, c->ways * sizeof *s.tags);
    for (uint32_t way = 0; way < c->ways; way++)
        s.keys[way] = c->many_ways ? KEY_EMPTY : packed_key(KEY_EMPTY, way);
    *s.state = (struct replay_set){ .flushes = c->flushes };
    for (uint32_t way = 0; c->many_ways && way < c->ways; way++)
        s.heap[way] = s.place[way] = way;
}

static ALWAYS_INLINE uint64_t key_of(const struct set *s, uint64_t clock, uint64_t next, bool hit, enum replay_policy policy)
{
    if (policy == REPLAY_LRU || policy == REPLAY_FIFO)
        return clock + KEY_FIRST;
    if (policy == REPLAY_SRRIP)
        return s->state->zero + (hit ? SRRIP_HIT : SRRIP_NEW);
    return next ? KEY_NOW - (clock + next) : KEY_NEVER;
}

/* c: a copy of the cache, or itself; ways: as it has, for compilers to know. */
static ALWAYS_INLINE struct set set_of(const struct replay_cache *c, const struct replay_cache *itself, uint64_t line, uint32_t ways, bool many)
{
    uint32_t number = c->index.index == INDEX_MASK ? (uint32_t)line & (c->index.count - 1) : cache_sets_hashed_index(&itself->index, line << c->index.line_shift);
    size_t first = (size_t)number * ways;
    struct set s = { c->tags + 2 * first, c->tags + 2 * first + ways, many ? c->heap + first : NULL, many ? c->place + first : NULL, &c->sets[number] };
    if (__builtin_expect(s.state->flushes != c->flushes, 0))
        make_empty(itself, s);
    return s;
}

static ALWAYS_INLINE void count_access(struct replay_counts *n, bool store, bool hit)
{
    *(store ? &n->stores : &n->reads) += 1;
    *(store ? &n->store_misses : &n->read_misses) += !hit;
}

/* Few ways: how many, and the policy, are known when this is compiled into its caller */

static ALWAYS_INLINE uint64_t search(const struct set *s, uint64_t line, uint32_t ways)
{
    uint64_t best = UINT64_MAX;
    for (uint32_t way = 0; way < ways; way++) {
        uint64_t key = s->keys[way]; /* whatever comes of it: a load that may be left out is a branch */
        key = s->tags[way] == line ? way : key;
        best = key < best ? key : best;
    }
    return best;
}

static ALWAYS_INLINE void run_few(struct replay_cache *c, const struct trace_access *list, const uint64_t *next, uint32_t count, struct replay_counts *counts, enum replay_policy policy, uint32_t ways)
{
    const struct replay_cache fixed = *c; /* nothing else points to it, so that it stays in registers whatever is written */
    uint64_t clock = c->clock;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = list[i].line >> fixed.line_shift;
        struct set s = set_of(&fixed, c, line, ways, false);
        uint64_t best = search(&s, line, ways), key;
        uint32_t way = best & (FEW_WAYS - 1);
        bool store = list[i].what & TRACE_STORE, hit = best < FEW_WAYS;
        enum trace_store does = fixed.stores[(list[i].what & TRACE_LOCAL) != 0];
        clock++;
        count_access(&counts[list[i].pc], store, hit);
        if (policy == REPLAY_SRRIP && !hit && best >> WAY_BITS != KEY_EMPTY && (!store || does == TRACE_STORE_ALLOCATE))
            s.state->zero = (best >> WAY_BITS) - 1; /* all age until this one is at the farthest */
        key = packed_key(key_of(&s, clock, policy >= REPLAY_BELADY ? next[i] : 0, hit, policy), way);
        key = policy == REPLAY_FIFO && hit ? s.keys[way] : key;
        if (store && does != TRACE_STORE_ALLOCATE) {
            if (!hit)
                continue;
            s.tags[way] = does == TRACE_STORE_EVICT ? NO_LINE : line;
            s.keys[way] = does == TRACE_STORE_EVICT ? packed_key(KEY_EMPTY, way) : key;
            continue;
        }
        s.tags[way] = line;
        s.keys[way] = key;
    }
    c->clock = clock;
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

static void set_key(const struct replay_cache *c, const struct set *s, uint32_t way, uint64_t key)
{
    s->keys[way] = key;
    settle(s, c->ways, way);
}

static ALWAYS_INLINE void insert(struct replay_cache *c, const struct set *s, uint64_t line, uint64_t next, enum replay_policy policy)
{
    uint32_t way = s->heap[0];
    if (policy == REPLAY_SRRIP && s->keys[way] != KEY_EMPTY)
        s->state->zero = s->keys[way] - 1;
    if (s->tags[way] != NO_LINE)
        line_map_remove(&c->where, s->tags[way]);
    s->tags[way] = line;
    *line_map_at(&c->where, line) = way;
    set_key(c, s, way, key_of(s, c->clock, next, false, policy));
}

static void drop(struct replay_cache *c, const struct set *s, uint32_t way)
{
    line_map_remove(&c->where, s->tags[way]);
    s->tags[way] = NO_LINE;
    set_key(c, s, way, KEY_EMPTY);
}

static ALWAYS_INLINE void run_many(struct replay_cache *c, const struct trace_access *list, const uint64_t *next, uint32_t count, struct replay_counts *counts, enum replay_policy policy)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = list[i].line >> c->line_shift, ahead = policy >= REPLAY_BELADY ? next[i] : 0;
        struct set s = set_of(c, c, line, c->ways, true);
        const uint64_t *way = line_map_find(&c->where, line);
        bool store = list[i].what & TRACE_STORE;
        enum trace_store does = c->stores[(list[i].what & TRACE_LOCAL) != 0];
        c->clock++;
        count_access(&counts[list[i].pc], store, way);
        if (way && store && does == TRACE_STORE_EVICT)
            drop(c, &s, (uint32_t)*way);
        else if (way && policy != REPLAY_FIFO)
            set_key(c, &s, (uint32_t)*way, key_of(&s, c->clock, ahead, true, policy));
        else if (!way && (!store || does == TRACE_STORE_ALLOCATE))
            insert(c, &s, line, ahead, policy);
    }
}

static ALWAYS_INLINE void run(struct replay_cache *c, const struct trace_access *list, const uint64_t *next, uint32_t count, struct replay_counts *counts, enum replay_policy policy)
{
    if (c->many_ways)
        run_many(c, list, next, count, counts, policy);
    else if (c->ways == 4)
        run_few(c, list, next, count, counts, policy, 4);
    else if (c->ways == 8)
        run_few(c, list, next, count, counts, policy, 8);
    else if (c->ways == 16)
        run_few(c, list, next, count, counts, policy, 16);
    else if (c->ways == 32)
        run_few(c, list, next, count, counts, policy, 32);
    else
        run_few(c, list, next, count, counts, policy, c->ways);
}

void replay_cache_run(struct replay_cache *c, const struct trace_access *list, const uint64_t *next, uint32_t count, struct replay_counts *counts)
{
    switch (c->policy) {
    case REPLAY_LRU: run(c, list, next, count, counts, REPLAY_LRU); break;
    case REPLAY_FIFO: run(c, list, next, count, counts, REPLAY_FIFO); break;
    case REPLAY_SRRIP: run(c, list, next, count, counts, REPLAY_SRRIP); break;
    default: run(c, list, next, count, counts, REPLAY_BELADY); break; /* both: they differ in what the next use is */
    }
}
