/* A cache: tags, miss registers (MSHR), miss queue. It serves as L1 data, constant, texture and instruction cache, and
 * as a slice of the L2.
 *
 * A miss reserves its line at once (allocate on miss) or when the data comes (on fill). Requests for a line that is on
 * its way are merged into its MSHR entry. An access that cannot be taken fails and changes nothing; the caller tries it
 * again in a later cycle. The owner may choose victims (struct cache_choices); otherwise the least recently used line
 * leaves. What a store does is a row of heddle/write_rules.def.
 *
 * A cache calls nobody but to ask for choices. What an access or a fill did to lines is in its struct cache_result. */
#ifndef HEDDLE_MEM_CACHE_H
#define HEDDLE_MEM_CACHE_H

#include "base/arena.h"
#include "mem/cache_sets.h"
#include "mem/config.h"
#include "mem/mshr.h"
#include "mem/packet.h"
#include "mem/ring.h"
#include "mem/write_rule.h"

enum cache_outcome {
    CACHE_HIT,     /* data (or the place to write) is there */
    CACHE_MISS,    /* a new request goes down (or, for a write: the write itself, or a sector taken without a fetch) */
    CACHE_PENDING, /* merged into an outstanding miss */
    CACHE_FAIL,    /* cannot be taken now */
};

/* Why an access was not taken (heddle/metrics.def): CACHE_FAIL_WAYS, _MSHR, _MERGE, _QUEUE. */
enum cache_fail {
#define L1D_FAIL(id, name, unit, help, nsight) CACHE_FAIL_##id,
#include "heddle/metrics.def"
    CACHE_FAIL_COUNT
};

/* What a cache counts: a member for each L1D_COUNT of heddle/metrics.def, and what is not reported. */
struct cache_counters {
#define L1D_COUNT(field, name, unit, sample, help, nsight) uint64_t field;
#include "heddle/metrics.def"
    uint64_t fails[CACHE_FAIL_COUNT]; /* tries that failed */
    uint64_t fills;                   /* packets that came back */
    uint64_t misses_sent; /* packets put into the miss queue to read: by reads, and for lines that stores missed */
};

/* What happened to the line of an access. */
enum cache_change {
    CACHE_UNCHANGED,
    CACHE_INSERTED, /* the line was given a way; `evicted` says whether another had to leave */
    CACHE_TOUCHED,  /* the line was found: a hit, or a read merged into a line that is on its way */
    CACHE_DROPPED,  /* a store wrote to the line, and nothing of it is left */
};

/* What an access, or a fill, did. */
struct cache_result {
    enum cache_fail fail;
    enum cache_change change;
    bool sends_write;         /* the packet itself goes down through the miss queue (write-through) */
    bool evicted;             /* a valid line left to make room; one that a store drops does not count */
    uint16_t writeback_bytes; /* bytes of the evicted line that go down; 0 means that it was not modified */
    uint64_t evicted_address;
    uint64_t evicted_age; /* of the warp that had brought it, with its slot */
    uint16_t evicted_warp;
    uint16_t line_warp; /* slot and age of the warp that brought the line found, for hits and pending hits */
    uint8_t present;    /* the sectors that are there, of a read that is no hit */
    uint64_t line_age;
    uint32_t way; /* of the set; UINT32_MAX means that the line has none */
    uint32_t set;
};

/* What a failed access waits for: any change, or an MSHR entry, which only a request that has been taken gives back. */
enum cache_blocked { CACHE_BLOCKED = 1, CACHE_BLOCKED_BY_ENTRIES = 2 };

/* What owners ask and take every cycle. */
struct cache_head {
    uint32_t ready_requests; /* requests whose data has come */
    uint32_t repeats;        /* of the access that failed last, not yet counted as tries */
    uint8_t blocked; /* that access would fail again: nothing of what it waits for has changed since (bits of enum
                        cache_blocked) */
    uint32_t port_bytes;
    uint64_t port_free, fill_port_free; /* from this cycle on */
    struct ring misses;                 /* the miss queue */
    struct mshr mshr;
};
/* Maps the address of a line to the one whose bits choose the set. */
typedef uint64_t cache_index_fn(const void *context, uint64_t address);

/* The ways of a set, each in one of three sets: its line may leave, it has none, its line is on its way. */
struct cache_ways {
    uint64_t lines, empty, reserved;
};
enum { CACHE_MASK_WAYS = 64 };
/* Decisions that the owner of a cache takes: hooks may be NULL. They are asked again when an access is tried again. */
struct cache_choices {
    void *context;
    /* The way that the line of the request takes: of `lines` or `empty`, one of which is not empty; or UINT32_MAX, none
     * (a reservation failure). NULL means the least recently used. */
    uint32_t (*victim)(void *context, const struct packet *request, uint32_t set, const struct cache_ways *ways);
    /* True means that the read, which misses, takes no line. NULL means that every read takes one. */
    bool (*bypass)(void *context, const struct packet *request, uint32_t set, const struct cache_ways *ways);
    /* The rule that the store follows; NULL as an answer means that of the configuration. hit: all sectors that the
     * store writes are there. way: that of its line; UINT32_MAX means that the line has none. */
    const struct write_rule *(*store)(void *context, const struct packet *request, uint32_t set, uint32_t way,
                                      bool hit);
};

/* The access that failed last. While nothing of what it waits for has changed (head.blocked), it fails again, for the
 * same reason. */
struct cache_blocked_access {
    uint64_t address;
    uint32_t rest /* of what it asked for */, set;
    enum cache_fail why;
};

struct cache {
    struct cache_head head;
    struct cache_blocked_access blocked;
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

static inline const struct cache_head *cache_head(const struct cache *c) { return &c->head; }
/* Of a cache that is not there: one that never has anything. */
const struct cache_head *cache_head_or_none(const struct cache *c);

/* index_address: address_map_in_slice in an L2, or NULL. NULL is returned for sets 0: there is no such cache. */
struct cache *cache_create(struct arena *a, const struct cache_config *config, cache_index_fn *index_address,
                           const void *context);
struct cache_ways cache_ways(const struct cache *c, uint32_t set); /* of a cache with at most CACHE_MASK_WAYS */
/* Before the first access. At most CACHE_MASK_WAYS. */
void cache_set_choices(struct cache *c, const struct cache_choices *choices);

/* A read or write of request->bytes at request->address, all within one line. Where request->sectors names some of the
 * sectors of those bytes, only these are meant. age: that of the asking warp, which together with its slot says who
 * brought a line, as later warps use the slot again; 0 in an L2.
 *
 * What an access puts into the miss queue, in this order:
 *   a read that misses         one packet for the line, or for the missing sectors of it, with the request's kind,
 * core, warp and pc; token is the MSHR entry, sectors are those asked for a store that goes down     the request itself
 *   a store that has its line  the request, and a packet of kind PACKET_L2_FETCH unless the line is on its way. The
 *   fetched                    fetch comes back as a request of that kind, for which nobody waits; the line is not
 *                              modified then
 *   a line that leaves         a write-back, with the slice of the request; the owner of an L1 finds the slice by the
 *   modified                   address
 * How many free places it needs there: a read miss 1, or 2 if its victim is modified; a store that does not hit, or
 * goes down, 1; a store that has its line fetched 3. With miss_reserve every read that does not hit needs that many,
 * merged ones too (GPGPU-Sim: 2 in L1D and L2, 1 in read-only caches). In a queue with one place, that one is enough
 * where 2 are needed. */
enum cache_outcome cache_access(struct cache *c, const struct packet *request, uint64_t age, uint64_t now,
                                struct cache_result *result);
/* A read by a warp of this age. True means that it hit, and that all is done and counted as by cache_access. False
 * means that nothing was done and that cache_access must be asked. */
bool cache_read_hit(struct cache *c, uint64_t address, uint32_t bytes, uint16_t warp, uint64_t age);
/* A read of a cache that has its line at once: a hit, or a miss that takes the line, valid from now on, and puts a
 * packet with this token into the miss queue. The owner keeps the order, and has seen that there is room. */
enum cache_outcome cache_read_now(struct cache *c, const struct packet *request, uint64_t age, uint32_t token);
/* Has the set two ways of which nothing is reserved, or that hold lines of the first kind? */
bool cache_has_two_ways(const struct cache *c, uint32_t set, bool (*is_of_kind)(const void *context, uint64_t line),
                        const void *context);
/* For the caller whose access was the last that failed and who has to try it again. True means that it fails again for
 * the same reason, which is counted. False means that cache_access must be asked. */
static inline bool cache_fails_again(struct cache *c)
{
    bool blocked = c->head.blocked != 0;
    c->head.repeats += blocked;
    return blocked;
}
/* The access that failed last would have failed again in so many cycles, in which the owner has not tried it. */
static inline void cache_failed_again(struct cache *c, uint32_t times) { c->head.repeats += times; }
/* An access that is known before it is made: its set, which the host begins to fetch; and the access then, of a cache
 * whose owner has seen that it does not fail again, without an age. */
uint32_t cache_expect(const struct cache *c, uint64_t address);
enum cache_outcome cache_access_expected(struct cache *c, const struct packet *request, uint32_t set,
                                         struct cache_result *result);
/* An answer that will come. */
static inline void cache_expect_fill(const struct cache *c, uint32_t entry)
{
    __builtin_prefetch(&c->head.mshr.entries[entry], 1);
}
void cache_set_writeback(struct cache *c, enum packet_kind kind, uint32_t miss_reserve);
/* Would the line be found, without touching anything? */
bool cache_probe(const struct cache *c, uint64_t address);
/* The set of a line and its way, UINT32_MAX where it is not there: neither valid nor reserved. */
void cache_where(const struct cache *c, uint64_t address, uint32_t *set, uint32_t *way);

/* The miss queue, drained by the owner. */
static inline bool cache_has_miss(const struct cache *c) { return c->head.misses.count != 0; }
static inline struct packet *cache_miss_front(struct cache *c)
{
    return cache_has_miss(c) ? ring_front(&c->head.misses) : NULL;
}
static inline void cache_miss_pop(struct cache *c)
{
    ring_pop(&c->head.misses);
    c->head.blocked &= CACHE_BLOCKED_BY_ENTRIES;
}

/* A packet that answers one sent down. A whole line asked for in one packet may be answered by several packets of one
 * sector each: the line is valid when all sectors asked for have come. answer->sectors says which have; 0 means all.
 * Returns true when the MSHR entry is complete and its requests are ready. */
bool cache_fill(struct cache *c, const struct packet *answer, uint64_t now);
/* The same, with what it did to lines, which matters where lines are taken when the data comes. */
bool cache_fill_line(struct cache *c, const struct packet *answer, struct cache_result *result);
/* Requests whose data has come, oldest fill first, in order of arrival; one is taken at a time. NULL means that there
 * is none. The entry is free again when its last request has been popped. */
static inline bool cache_has_ready(const struct cache *c) { return c->head.ready_requests != 0; }
static inline struct packet *cache_ready_front(struct cache *c) { return mshr_ready_front(&c->head.mshr); }
static inline void cache_ready_pop(struct cache *c)
{
    mshr_ready_pop(&c->head.mshr);
    c->head.ready_requests--;
    c->head.blocked = 0;
}
/* The MSHR entry is in use. */
static inline bool cache_waits_for(const struct cache *c, uint32_t entry)
{
    return entry < c->head.mshr.limit && c->head.mshr.entries[entry].count;
}

/* Data that appears without an access (copies from the host), and what that did. No access is counted. */
void cache_touch(struct cache *c, uint64_t address, struct cache_result *result);
/* The sectors of these bytes are lost. False means that none of them was there. */
bool cache_forget(struct cache *c, uint64_t address, uint32_t bytes);
/* Lines that are there are lost, modified ones too; those on their way still come. */
void cache_drop(struct cache *c);
/* All lines invalid; modified ones are lost on purpose (timing only). Nothing may be outstanding. */
void cache_invalidate(struct cache *c);
/* The cache has so many bytes from now on, at most those of its configuration, and no line (struct cache_bank). Nothing
 * may be outstanding. */
void cache_resize(struct cache *c, uint32_t bytes);
/* All lines are lost; those that are on their way, if there are any, still come. */
static inline void cache_empty(struct cache *c)
{
    if (c->head.mshr.used)
        cache_drop(c);
    else
        cache_invalidate(c);
}
/* Ports: an access keeps the data port, a fill the fill port busy for ceil(bytes / port_bytes) cycles. Always free
 * where config->port_bytes is 0. (GPGPU-Sim: a hit uses the request's bytes, a miss writeback_bytes, a fill a sector
 * or, unsectored, the line.) */
static inline bool cache_port_free(const struct cache *c, uint64_t now) { return now >= c->head.port_free; }
static inline bool cache_fill_port_free(const struct cache *c, uint64_t now) { return now >= c->head.fill_port_free; }
static inline void cache_keep_busy(const struct cache *c, uint64_t *free, uint32_t bytes, uint64_t now)
{
    uint32_t port_bytes = c->head.port_bytes;
    if (port_bytes)
        *free = (*free > now ? *free : now) + (bytes + port_bytes - 1) / port_bytes;
}
static inline void cache_use_port(struct cache *c, uint32_t bytes, uint64_t now)
{
    cache_keep_busy(c, &c->head.port_free, bytes, now);
}
static inline void cache_use_fill_port(struct cache *c, uint32_t bytes, uint64_t now)
{
    cache_keep_busy(c, &c->head.fill_port_free, bytes, now);
}
/* MSHR entries in use: until the last of their requests has been popped. */
static inline uint32_t cache_outstanding(const struct cache *c) { return c->head.mshr.used; }
/* Nothing outstanding, queued or ready. */
static inline bool cache_idle(const struct cache *c) { return (cache_outstanding(c) | c->head.misses.count) == 0; }
const struct cache_counters *cache_counters(const struct cache *c);
void cache_counters_reset(struct cache *c);

#endif
