/* A cache as plain data. */
#ifndef HEDDLE_MEM_CACHE_INSIDE_H
#define HEDDLE_MEM_CACHE_INSIDE_H

#include "mem/cache.h"
#include "mem/cache_sets.h"

enum { NO_OWNER = UINT16_MAX, CACHE_PAIR = 2 /* packets: a miss and the write-back of its victim */ };

#define PLAIN_READS \
    (1u << PACKET_LOAD | 1u << PACKET_LOCAL_LOAD | 1u << PACKET_CONST | 1u << PACKET_TEXTURE | 1u << PACKET_INST)

/* The last access that failed. Nothing having changed since (head.blocked), it fails again, for the same reason. */
struct blocked {
    uint64_t address;
    uint32_t rest /* of what it asked for */, set;
    enum cache_fail why;
};

struct cache {
    struct cache_head head; /* first: read from outside */
    struct blocked blocked;
    uint64_t line_mask; /* of an address: its line */
    uint32_t
        plain_reads; /* kinds of packets, by bits: a hit changes no more than the order of use, and nobody is asked */
    uint8_t all_sectors; /* of a line */
    uint8_t group;       /* 32-byte sectors that come and go together */
    bool whole_lines, on_fill, touched, has_twins;
    bool knows_bytes;  /* packets name the bytes that lanes read and write: an L1, whose global stores write through */
    uint32_t *written; /* of each sector that is partial, in the order of lines: its bytes, a bit each; NULL:
                          partial_writes is off */
    bool mapped;       /* the set is not told by bits of the address alone */
    const struct write_rule *writes[2]; /* of stores to global memory, to local memory */
    enum packet_kind writeback_kind;
    uint32_t miss_reserve, line_bytes;
    uint32_t pair; /* places of the miss queue that must be free for a miss with a write-back: two, or the only one,
                      where the write-back then is one more than the queue holds */
    cache_index_fn *index_address;
    const void *index_context;
    bool asks;    /* its owner takes decisions */
    bool chooses; /* a victim is more than the oldest line: that is one of them, or banks have fewer lines than ways */
    struct cache_choices choices;
    struct cache_sets sets;
    uint64_t taken[2][CACHE_FAIL];    /* accesses: reads, writes; by outcome */
    uint64_t fails[CACHE_FAIL_COUNT]; /* without head.repeats */
    uint64_t intra_warp_hits, evictions, writebacks, fills;
    uint64_t fetches;                /* packets put into the miss queue for lines that stores missed */
    struct cache_counters *counters; /* worked out from those when they are read */
};

/* An access on its way through cache.c. */
struct lookup {
    const struct packet *request;
    uint64_t line, age;
    uint32_t set, way;        /* way NO_WAY: the line is not there */
    struct cache_line *there; /* the line, where it is */
    uint8_t need;             /* sectors */
    bool write;
    struct cache_result *result;
};

static inline uint32_t set_of(const struct cache *c, uint64_t line)
{
    return cache_sets_index(&c->sets, c->index_address ? c->index_address(c->index_context, line) : line);
}
static inline uint64_t *tag_at(const struct cache *c, uint32_t set, uint32_t way)
{
    return cache_sets_tag(&c->sets, set, way);
}
static inline struct cache_line *line_at(const struct cache *c, uint32_t set, uint32_t way)
{
    return cache_sets_line(&c->sets, set, way);
}

#endif
