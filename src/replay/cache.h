/* A cache without time: tags alone, every line that is asked for is there at once. docs/cache.md says how it differs
 * from the one in the cores.
 *
 * All policies are one: each way has a key, the smallest without a line, and the way with the smallest leaves, the
 * first of several. The key is the number of the last use (LRU), of the insertion (FIFO), how near the next use is
 * (Belady), or how near it is thought to be (SRRIP, whose keys age by raising the set's zero). */
#ifndef HEDDLE_REPLAY_CACHE_H
#define HEDDLE_REPLAY_CACHE_H

#include "replay/line_map.h"
#include "replay/trace_reader.h"

enum replay_policy {
    REPLAY_LRU,
    REPLAY_FIFO,
    REPLAY_SRRIP,        /* 2 bits, as policy/l1/srrip.c */
    REPLAY_BELADY,       /* who is referenced last, by load or store, leaves */
    REPLAY_BELADY_READS, /* who is read last, while it still can be, leaves */
    REPLAY_POLICIES,
};
#define REPLAY_NEVER LINE_MAP_NEW /* no next use */

struct replay_geometry {
    uint32_t sets, ways, line_bytes;
    enum cache_index index;
};
struct replay_counts {
    uint64_t reads, read_misses, stores, store_misses;
};

/* What a store does: to a line that it hits, and when it misses. */
struct replay_store {
    bool drops, takes;
};
static inline struct replay_store replay_store_of(enum write_rule_id rule)
{
    return (struct replay_store){.drops = write_rules[rule].hit == WRITE_HIT_DROP,
                                 .takes = write_rules[rule].miss != WRITE_MISS_PASS};
}

struct replay_cache {
    enum replay_policy policy;
    struct replay_store stores[2]; /* global, local */
    struct cache_sets index;       /* its index alone */
    uint32_t ways, line_shift;     /* of lines of the trace to those of the cache */
    uint64_t *tags;                /* of each set: its tags, then its keys */
    struct replay_set {
        uint64_t zero;    /* SRRIP: of its keys */
        uint64_t flushes; /* before it was last made empty */
    } * sets;
    uint64_t clock;           /* accesses so far */
    uint64_t flushes;         /* a set that is behind is empty, whatever it holds */
    struct replay_many *many; /* what is above for many ways, or NULL */
};

/* Keys of ways. SRRIP: above the set's zero, where 1 is the farthest. */
enum { REPLAY_KEY_EMPTY = 1, REPLAY_KEY_NEVER = 2, REPLAY_KEY_FIRST = 2, REPLAY_SRRIP_NEW = 2, REPLAY_SRRIP_HIT = 4 };

/* now: Belady's key of a use at access 0; later ones are smaller. */
static inline __attribute__((always_inline)) uint64_t replay_key(uint64_t now, uint64_t zero, uint64_t clock,
                                                                 uint64_t next, bool hit, enum replay_policy policy)
{
    if (policy == REPLAY_LRU || policy == REPLAY_FIFO)
        return clock + REPLAY_KEY_FIRST;
    if (policy == REPLAY_SRRIP)
        return zero + (hit ? REPLAY_SRRIP_HIT : REPLAY_SRRIP_NEW);
    return next ? now - (clock + next) : REPLAY_KEY_NEVER;
}

static inline __attribute__((always_inline)) void replay_count(struct replay_counts *n, bool store, bool hit)
{
    *(store ? &n->stores : &n->reads) += 1;
    *(store ? &n->store_misses : &n->read_misses) += !hit;
}

/* Its memory is the arena's, but for a table that grows. */
void replay_cache_init(struct replay_cache *c, const struct replay_geometry *g, const struct trace_header *h,
                       enum replay_policy policy, struct arena *a);
void replay_cache_close(struct replay_cache *c);
void replay_cache_flush(struct replay_cache *c);
/* next (Belady): of each access, how many accesses later its line is used again; 0 means never. counts: by pc. */
void replay_cache_run(struct replay_cache *c, const struct trace_access *list, const uint64_t *next, uint32_t count,
                      struct replay_counts *counts);

#endif
