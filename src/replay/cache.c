/* The cache of the replay: see cache.h. Few ways, whose tags and keys are searched one by one; many are in
 * many_ways.c.
 *
 * A key has the number of its way in the low bits, so that no two are the same and the smallest also says which way it
 * is. While a set is searched, a way that has the line counts as smaller than any key. So one search finds the way that
 * a line has or gets, and whether it is there changes no branch: half of the accesses of a trace may miss, and nobody
 * guesses which. */
#include "replay/cache.h"
#include "replay/many_ways.h"

#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NO_LINE       UINT64_MAX
enum { WAY_BITS = 4, FEW_WAYS = 1 << WAY_BITS };
#define KEY_NOW ((uint64_t)1 << (63 - WAY_BITS))

void replay_cache_init(struct replay_cache *c, const struct replay_geometry *g, const struct trace_header *h,
                       enum replay_policy policy, struct arena *a)
{
    bool many = g->ways > FEW_WAYS;
    *c = (struct replay_cache){.policy = policy,
                               .stores = {replay_store_of(h->global_stores), replay_store_of(h->local_stores)},
                               .ways = g->ways};
    c->line_shift = (uint32_t)(__builtin_ctz(g->line_bytes) - __builtin_ctz(h->line_bytes));
    c->index = (struct cache_sets){.count = g->sets,
                                   .index = g->index,
                                   .line_shift = (uint32_t)__builtin_ctz(g->line_bytes),
                                   .set_bits = 31 - (uint32_t)__builtin_clz(g->sets)};
    if (many) {
        c->many = replay_many_make(c, a);
    } else {
        c->tags = arena_lines(a, uint64_t, 2 * (size_t)g->sets * g->ways);
        c->sets = arena_array(a, struct replay_set, g->sets);
    }
    c->flushes = 1;
}

void replay_cache_close(struct replay_cache *c)
{
    if (c->many)
        replay_many_close(c->many);
}

void replay_cache_flush(struct replay_cache *c)
{
    if (c->many)
        replay_many_flush(c->many);
    c->flushes++;
}

/* A set, while an access is at it. */
struct set {
    uint64_t *tags, *keys;
    struct replay_set *state;
};

static uint64_t packed_key(uint64_t key, uint32_t way) { return key << WAY_BITS | way; }

/* For the first time, or after the cache was flushed. */
static __attribute__((noinline)) void make_empty(const struct replay_cache *c, struct set s)
{
    memset(s.tags, 0xff, c->ways * sizeof *s.tags);
    for (uint32_t way = 0; way < c->ways; way++)
        s.keys[way] = packed_key(REPLAY_KEY_EMPTY, way);
    *s.state = (struct replay_set){.flushes = c->flushes};
}

/* c: a copy of the cache; ways: as it has, for compilers to know. */
static ALWAYS_INLINE struct set set_of(const struct replay_cache *c, const struct replay_cache *itself, uint64_t line,
                                       uint32_t ways)
{
    uint32_t number = c->index.index == INDEX_MASK
                          ? (uint32_t)line & (c->index.count - 1)
                          : cache_sets_hashed_index(&itself->index, line << c->index.line_shift);
    size_t first = (size_t)number * ways;
    struct set s = {c->tags + 2 * first, c->tags + 2 * first + ways, &c->sets[number]};
    if (__builtin_expect(s.state->flushes != c->flushes, 0))
        make_empty(itself, s);
    return s;
}

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

/* How many ways there are, and the policy, are known when this is compiled into its caller. */
static ALWAYS_INLINE void run_few(struct replay_cache *c, const struct trace_access *list, const uint64_t *next,
                                  uint32_t count, struct replay_counts *counts, enum replay_policy policy,
                                  uint32_t ways)
{
    const struct replay_cache fixed =
        *c; /* nothing else points to it, so that it stays in registers whatever is written */
    uint64_t clock = c->clock;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = list[i].line >> fixed.line_shift;
        struct set s = set_of(&fixed, c, line, ways);
        uint64_t best = search(&s, line, ways), key;
        uint32_t way = best & (FEW_WAYS - 1);
        bool store = list[i].what & TRACE_STORE, hit = best < FEW_WAYS;
        struct replay_store does = fixed.stores[(list[i].what & TRACE_LOCAL) != 0];
        bool drops = store & hit & does.drops, takes = !store | does.takes;
        clock++;
        replay_count(&counts[list[i].pc], store, hit);
        if (policy == REPLAY_SRRIP && !hit && best >> WAY_BITS != REPLAY_KEY_EMPTY && takes)
            s.state->zero = (best >> WAY_BITS) - 1; /* all age until this one is at the farthest */
        key = packed_key(replay_key(KEY_NOW, s.state->zero, clock, policy >= REPLAY_BELADY ? next[i] : 0, hit, policy),
                         way);
        key = policy == REPLAY_FIFO && hit ? s.keys[way] : key;
        if (!hit && !takes)
            continue;
        s.tags[way] = drops ? NO_LINE : line;
        s.keys[way] = drops ? packed_key(REPLAY_KEY_EMPTY, way) : key;
    }
    c->clock = clock;
}

static ALWAYS_INLINE void run(struct replay_cache *c, const struct trace_access *list, const uint64_t *next,
                              uint32_t count, struct replay_counts *counts, enum replay_policy policy)
{
    if (c->ways == 4)
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

void replay_cache_run(struct replay_cache *c, const struct trace_access *list, const uint64_t *next, uint32_t count,
                      struct replay_counts *counts)
{
    if (c->many) {
        replay_many_run(c, list, next, count, counts);
        return;
    }
    switch (c->policy) {
    case REPLAY_LRU: run(c, list, next, count, counts, REPLAY_LRU); break;
    case REPLAY_FIFO: run(c, list, next, count, counts, REPLAY_FIFO); break;
    case REPLAY_SRRIP: run(c, list, next, count, counts, REPLAY_SRRIP); break;
    default: run(c, list, next, count, counts, REPLAY_BELADY); break; /* both: they differ in what the next use is */
    }
}
