/* See many_ways.h. A table has the way of each line; it is a hint, which the way's tag confirms, so that lines that
 * leave need not be taken out of it. It is made anew when too much of it is old.
 *
 * Who leaves is found without a look at all ways. Under LRU and FIFO they are a list in the order of their keys. Under
 * SRRIP there are four sets of bits, one for each distance, which age by changing their roles, and one for ways whose
 * line a store dropped. Under Belady's policies there is a tree with the farthest at the top: ways whose line was
 * dropped, then those whose line has no next use, then the others. Ties are resolved as with few ways: the first way
 * leaves.
 *
 * Ways that never had a line since the set was emptied are those from `used` on; nothing is written to them before they
 * get one. */
#include "replay/many_ways.h"

#include "replay/way_bits.h"
#include "replay/way_tree.h"

#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NO_LINE       UINT64_MAX
enum { TABLE_LEAST = 1024, LOOK_AHEAD = 8, BLOCK = 128 /* accesses between two looks at the size of the table */ };
/* Sets of bits: of ways without a line, and of those whose line is thought to be used at a certain distance. */
enum { EMPTY, FIRST_DISTANCE, DISTANCES = 4, BITS = FIRST_DISTANCE + DISTANCES };

struct many_set {
    uint64_t flushes;        /* before it was last made empty */
    uint32_t used;           /* ways that have or had a line */
    uint32_t newest, oldest; /* LRU, FIFO: ends of the list, NO_WAY where it is empty */
    uint32_t dropped; /* LRU, FIFO: ways without a line among those used, as a list through `newer`; NO_WAY: none */
    uint32_t zero;    /* SRRIP: which bits are those of the nearest distance */
};

struct replay_many {
    struct line_map where; /* of each line the way, counted through all sets */
    struct many_set *sets;
    uint64_t *tags;          /* of each way; NO_LINE: none */
    uint32_t *newer, *older; /* LRU, FIFO */
    uint64_t *bits;          /* SRRIP: BITS of each set */
    uint8_t *distances;      /* SRRIP: of each way, which of them it is in */
    uint64_t *trees; /* Belady: of each set; keys are the number of the access that is the next use << way_bits | ways
                        after this one */
    uint64_t never, empty; /* Belady: what stands there for lines without a next use, and for ways without a line */
    struct way_bits_shape bits_shape;
    struct way_tree_shape tree_shape;
    uint32_t ways, way_bits;
    uint64_t lines; /* of all sets */
    uint64_t flushes;
};

static bool is_list(enum replay_policy policy) { return policy == REPLAY_LRU || policy == REPLAY_FIFO; }

static void make_order(struct replay_many *m, enum replay_policy policy, uint32_t sets, struct arena *a)
{
    if (is_list(policy)) {
        m->newer = arena_lines(a, uint32_t, m->lines);
        m->older = arena_lines(a, uint32_t, m->lines);
    } else if (policy == REPLAY_SRRIP) {
        m->bits_shape = way_bits_shape_of(m->ways);
        m->bits = arena_lines(a, uint64_t, (size_t)sets * BITS * m->bits_shape.words);
        m->distances = arena_lines(a, uint8_t, m->lines);
    } else {
        m->tree_shape = way_tree_shape_of(m->ways);
        m->trees = arena_lines(a, uint64_t, (size_t)sets * m->tree_shape.nodes);
        m->never =
            (uint64_t)1 << (62 - m->way_bits); /* at 2^24 ways some hundred thousand million accesses of a core */
        m->empty = m->never + 1;
    }
}

struct replay_many *replay_many_make(const struct replay_cache *c, struct arena *a)
{
    struct replay_many *m = arena_lines(a, struct replay_many, 1);
    m->ways = c->ways;
    m->way_bits = 32 - (uint32_t)__builtin_clz(c->ways);
    m->lines = (uint64_t)c->index.count * c->ways;
    m->flushes = 1;
    m->sets = arena_lines(a, struct many_set, c->index.count);
    m->tags = arena_lines(a, uint64_t, m->lines);
    make_order(m, c->policy, c->index.count, a);
    return m;
}

void replay_many_close(struct replay_many *m) { line_map_free(&m->where); }

void replay_many_flush(struct replay_many *m) { m->flushes++; }

/* A set, while an access is at it. */
struct set {
    struct many_set *state;
    uint64_t first;
    uint64_t *tags;
    uint32_t *newer, *older;
    uint64_t *bits, *tree;
    uint8_t *distances;
};

static ALWAYS_INLINE uint64_t *bits_of(const struct replay_many *m, const struct set *s, uint32_t which)
{
    return s->bits + which * m->bits_shape.words;
}

/* For the first time, or after the cache was flushed. */
static __attribute__((noinline)) void make_empty(const struct replay_many *m, uint32_t number)
{
    for (uint32_t i = 0; m->bits && i < BITS; i++)
        way_bits_empty(&m->bits_shape, m->bits + ((size_t)number * BITS + i) * m->bits_shape.words);
    m->sets[number] = (struct many_set){.flushes = m->flushes, .newest = NO_WAY, .oldest = NO_WAY, .dropped = NO_WAY};
}

/* A way that never had a line. */
static ALWAYS_INLINE uint32_t take_fresh(const struct replay_many *m, const struct set *s)
{
    uint32_t way = s->state->used++;
    for (uint32_t i = 0; s->bits && i < BITS; i++)
        way_bits_grow(&m->bits_shape, bits_of(m, s, i), way);
    if (s->tree)
        way_tree_grow(&m->tree_shape, s->tree, way);
    return way;
}

/* m: a copy of it. */
static ALWAYS_INLINE struct set set_of(const struct replay_cache *c, const struct replay_many *m, uint64_t line,
                                       enum replay_policy policy)
{
    uint32_t number = cache_sets_index(&c->index, line << c->index.line_shift);
    uint64_t first = (uint64_t)number * m->ways;
    if (__builtin_expect(m->sets[number].flushes != m->flushes, 0))
        make_empty(c->many, number);
    struct set s = {.state = &m->sets[number], .first = first, .tags = m->tags + first};
    if (is_list(policy))
        s.newer = m->newer + first, s.older = m->older + first;
    if (policy == REPLAY_SRRIP)
        s.bits = m->bits + (size_t)number * BITS * m->bits_shape.words, s.distances = m->distances + first;
    if (policy >= REPLAY_BELADY)
        s.tree = m->trees + (size_t)number * m->tree_shape.nodes;
    return s;
}

/* The list */

static ALWAYS_INLINE void unlink_way(const struct set *s, uint32_t way)
{
    uint32_t newer = s->newer[way], older = s->older[way];
    *(newer == NO_WAY ? &s->state->newest : &s->older[newer]) = older;
    *(older == NO_WAY ? &s->state->oldest : &s->newer[older]) = newer;
}

static ALWAYS_INLINE void link_newest(const struct set *s, uint32_t way)
{
    uint32_t older = s->state->newest;
    s->newer[way] = NO_WAY;
    s->older[way] = older;
    *(older == NO_WAY ? &s->state->oldest : &s->newer[older]) = way;
    s->state->newest = way;
}

static ALWAYS_INLINE uint32_t list_victim(const struct set *s, uint32_t ways)
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

/* SRRIP. Who ages keeps his bits, and zero, of the nearest distance, moves on: the farthest is the next after it, and
 * so on around. */

static ALWAYS_INLINE uint32_t distance_bits(uint32_t zero, uint32_t nearer)
{
    return FIRST_DISTANCE + (zero + nearer) % DISTANCES;
}

static ALWAYS_INLINE void move_to(const struct replay_many *m, const struct set *s, uint32_t way, uint32_t which)
{
    if (s->distances[way] == which)
        return;
    way_bits_remove(&m->bits_shape, bits_of(m, s, s->distances[way]), way);
    way_bits_add(&m->bits_shape, bits_of(m, s, which), way);
    s->distances[way] = (uint8_t)which;
}

/* The way for a line that comes, which is in the bits that it is to be in. */
static ALWAYS_INLINE uint32_t srrip_victim(const struct replay_many *m, const struct set *s)
{
    uint32_t way = way_bits_first(&m->bits_shape, bits_of(m, s, EMPTY)), zero = s->state->zero;
    if (way == NO_WAY && s->state->used < m->ways) {
        way = take_fresh(m, s);
        s->distances[way] = EMPTY;
    }
    for (uint32_t i = 1; way == NO_WAY && i <= DISTANCES; i++) { /* from the farthest on; all age until that one is */
        way = way_bits_first(&m->bits_shape, bits_of(m, s, distance_bits(zero, i)));
        s->state->zero = (zero + i - 1) % DISTANCES;
    }
    move_to(m, s, way, distance_bits(s->state->zero, REPLAY_SRRIP_NEW));
    return way;
}

/* Belady */

static ALWAYS_INLINE uint64_t tree_key(const struct replay_many *m, uint32_t way, uint64_t time)
{
    return time << m->way_bits | (m->ways - 1 - way);
}

/* ahead: to the next use from here; 0: none. */
static ALWAYS_INLINE uint64_t next_key(const struct replay_many *m, uint32_t way, uint64_t clock, uint64_t ahead)
{
    return tree_key(m, way, ahead ? clock + ahead : m->never);
}

static ALWAYS_INLINE void set_next(const struct replay_many *m, const struct set *s, uint32_t way, uint64_t key)
{
    if (__builtin_expect(key >= s->tree[way], 1)) /* who is used was the next of all, and now is farther away, but for
                                                     stores that bring what nobody would have read */
        way_tree_raise(&m->tree_shape, s->tree, way, key);
    else
        way_tree_set(&m->tree_shape, s->tree, way, key);
}

/* The way for a line that comes, with its key. */
static ALWAYS_INLINE uint32_t belady_victim(const struct replay_many *m, const struct set *s, uint64_t clock,
                                            uint64_t ahead)
{
    uint64_t top = s->state->used ? way_tree_top(&m->tree_shape, s->tree) : 0;
    uint32_t way = m->ways - 1 - ((uint32_t)top & ((1u << m->way_bits) - 1));
    if (s->state->used < m->ways && top >> m->way_bits != m->empty)
        way = take_fresh(m, s);
    way_tree_set(&m->tree_shape, s->tree, way, next_key(m, way, clock, ahead));
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

static ALWAYS_INLINE void use(const struct replay_many *m, const struct set *s, uint32_t way, uint64_t clock,
                              uint64_t ahead, enum replay_policy policy)
{
    if (policy == REPLAY_LRU && s->state->newest != way) {
        unlink_way(s, way);
        link_newest(s, way);
    }
    if (policy == REPLAY_SRRIP)
        move_to(m, s, way, distance_bits(s->state->zero, REPLAY_SRRIP_HIT));
    if (policy >= REPLAY_BELADY)
        set_next(m, s, way, next_key(m, way, clock, ahead));
}

static ALWAYS_INLINE void drop(const struct replay_many *m, const struct set *s, uint32_t way,
                               enum replay_policy policy)
{
    s->tags[way] = NO_LINE;
    if (is_list(policy)) {
        unlink_way(s, way);
        s->newer[way] = s->state->dropped;
        s->state->dropped = way;
    } else if (policy == REPLAY_SRRIP) {
        move_to(m, s, way, EMPTY);
    } else {
        set_next(m, s, way, tree_key(m, way, m->empty));
    }
}

/* Returns the way. */
static ALWAYS_INLINE uint32_t insert(const struct replay_many *m, const struct set *s, uint64_t line, uint64_t clock,
                                     uint64_t ahead, enum replay_policy policy)
{
    uint32_t way = is_list(policy)          ? list_victim(s, m->ways)
                   : policy == REPLAY_SRRIP ? srrip_victim(m, s)
                                            : belady_victim(m, s, clock, ahead);
    s->tags[way] = line;
    if (is_list(policy))
        link_newest(s, way);
    return way;
}

/* There is room in the table for all of them. */
static ALWAYS_INLINE void run_block(struct replay_cache *c, const struct trace_access *list, const uint64_t *next,
                                    uint32_t count, struct replay_counts *counts, enum replay_policy policy)
{
    const struct replay_many m =
        *c->many; /* nothing else points to it, so that it stays in registers whatever is written */
    uint64_t clock = c->clock, fresh = 0;
    uint32_t line_shift = c->line_shift;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = list[i].line >> line_shift, ahead = policy >= REPLAY_BELADY ? next[i] : 0;
        line_map_prefetch(&m.where, list[i + LOOK_AHEAD < count ? i + LOOK_AHEAD : i].line >> line_shift);
        struct set s = set_of(c, &m, line, policy);
        struct line_map_slot *slot = line_map_place(&m.where, line);
        uint32_t known = slot->line == line,
                 way = known ? (uint32_t)(slot->value - s.first) : 0; /* of the set's, if known */
        bool store = list[i].what & TRACE_STORE,
             hit = known & (way < s.state->used) & (s.tags[way] == line); /* no branch for each */
        struct replay_store does = c->stores[(list[i].what & TRACE_LOCAL) != 0];
        clock++;
        replay_count(&counts[list[i].pc], store, hit);
        if (hit && store && does.drops) {
            drop(&m, &s, way, policy);
        } else if (hit) {
            use(&m, &s, way, clock, ahead, policy);
        } else if (!store || does.takes) {
            fresh += !known;
            *slot = (struct line_map_slot){line, s.first + insert(&m, &s, line, clock, ahead, policy)};
        }
    }
    c->many->where.count += fresh;
    c->clock = clock;
}

static ALWAYS_INLINE void run(struct replay_cache *c, const struct trace_access *list, const uint64_t *next,
                              uint32_t count, struct replay_counts *counts, enum replay_policy policy)
{
    struct replay_many *m = c->many;
    for (uint32_t i = 0; i < count; i += BLOCK) {
        uint32_t n = count - i < BLOCK ? count - i : BLOCK;
        if (m->where.count > 2 * m->lines + TABLE_LEAST)
            renew_table(m, c->index.count);
        line_map_reserve(&m->where, n);
        run_block(c, list + i, next + i, n, counts, policy);
    }
}

void replay_many_run(struct replay_cache *c, const struct trace_access *list, const uint64_t *next, uint32_t count,
                     struct replay_counts *counts)
{
    switch (c->policy) {
    case REPLAY_LRU: run(c, list, next, count, counts, REPLAY_LRU); break;
    case REPLAY_FIFO: run(c, list, next, count, counts, REPLAY_FIFO); break;
    case REPLAY_SRRIP: run(c, list, next, count, counts, REPLAY_SRRIP); break;
    default: run(c, list, next, count, counts, REPLAY_BELADY); break;
    }
}
