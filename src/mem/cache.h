/* A cache: tags, miss registers (MSHR), miss queue. Serves as L1 data, constant, texture, instruction cache and as a
 * slice of the L2.
 *
 * A miss reserves its line at once (allocate on miss) or when the data comes (on fill). Requests for a line on its way
 * are merged into its MSHR entry. What cannot be taken fails, and is tried again by the caller in a later cycle;
 * nothing has changed then. The victim is chosen by the owner where it wants to (struct cache_choices), else LRU.
 *
 * A cache answers; it tells nobody. What an access or a fill did to lines stands in its struct cache_result. */
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
    CACHE_INSERTED, /* it was given a way; where another had to leave: `evicted` */
    CACHE_TOUCHED,  /* it was found: a hit, or a read merged into a line that is on its way */
    CACHE_DROPPED,  /* a store wrote to it, and nothing of it is left */
};

/* What an access, or a fill, did. */
struct cache_result {
    enum cache_fail fail;
    enum cache_change change;
    bool sends_write;         /* the packet itself goes down through the miss queue (write-through) */
    bool evicted;             /* a valid line left to make room (not: dropped by a store) */
    uint16_t writeback_bytes; /* it was modified: bytes that go down, else 0 */
    uint64_t evicted_address;
    uint64_t evicted_age; /* of the warp that had brought it, with its slot */
    uint16_t evicted_warp;
    uint16_t line_warp; /* slot and age of the warp that brought the line found, for hits and pending hits */
    uint8_t present;    /* of a read that is no hit: those sectors of it that are there */
    uint64_t line_age;
    uint32_t way; /* way of the set; UINT32_MAX where none is concerned */
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
     * (a reservation failure). NULL: LRU. */
    uint32_t (*victim)(void *context, const struct packet *request, uint32_t set, const struct cache_ways *ways);
    /* True: the read that misses takes no line. NULL: never. */
    bool (*bypass)(void *context, const struct packet *request, uint32_t set, const struct cache_ways *ways);
    /* The rule that the store follows, or NULL: that of the configuration. hit: all sectors that it writes are there;
     * way: of its line, UINT32_MAX where it has none. */
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

/* A read or write of packet->bytes at packet->address, all within one line; packet->sectors, where it names some of
 * those, says which are meant. age: of the asking warp, which with its slot says who brought a line (slots are used
 * again by later warps); 0 in an L2. Reads that miss put a packet for the line (whole lines: line_bytes; sectored: the
 * missing sectors, one packet) into the miss queue: kind, core, warp, pc of the request, token = the MSHR entry,
 * sectors = what is asked for. Write-through stores put the packet itself there. A line that leaves modified puts a
 * write-back there, with the slice of the request: an L1's owner finds the slice by the address. A store that misses
 * and has its line fetched (config->stores_fetch) puts the packet itself there, after it one of kind PACKET_L2_FETCH
 * for the line unless that is on its way, then the write-back. The fetch, or the part of it that is merged, is a
 * request of its own, of that kind, among those that are ready: nobody waits for it. The line is not modified when it
 * comes. Room: a store that has its line fetched needs 3 free places, whatever it puts there, and an MSHR entry or a
 * place in that of its line; a read miss needs 1 free place in the miss queue, 2 if its victim is modified; a store
 * that does not hit, or goes down, 1. With miss_reserve every read that does not hit needs that many, merged ones too
 * (GPGPU-Sim: 2 in L1D and L2, 1 in read-only caches). Of a queue with one place, that one is enough where 2 are
 * needed. */
enum cache_outcome cache_access(struct cache *c, const struct packet *request, uint64_t age, uint64_t now,
                                struct cache_result *result);
/* A read by a warp, of this age, of a line that is there: true, and counted, as cache_access would have it. False, and
 * nothing done: cache_access must be asked. */
bool cache_read_hit(struct cache *c, uint64_t address, uint32_t bytes, uint16_t warp, uint64_t age);
/* A read of a cache that has its line at once: a hit, or a miss that takes the line, valid from now on, and puts a
 * packet with this token into the miss queue. The owner keeps the order, and has seen that there is room. */
enum cache_outcome cache_read_now(struct cache *c, const struct packet *request, uint64_t age, uint32_t token);
/* Has the set two ways of which nothing is reserved, or that hold lines of the first kind? */
bool cache_has_two_ways(const struct cache *c, uint32_t set, bool (*is_of_kind)(const void *context, uint64_t line),
                        const void *context);
/* For the caller whose access was the last that failed, and who has to try it again: true if it fails again for the
 * same reason (and is counted), else cache_access must be asked. */
static inline bool cache_fails_again(struct cache *c)
{
    bool blocked = c->head.blocked != 0;
    c->head.repeats += blocked;
    return blocked;
}
/* The same, of an owner who has not tried it in so many cycles. */
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
 * sector each: the line is valid when all sectors asked for have come (packet->sectors says which, 0: all). Returns
 * true when the MSHR entry is complete and its requests are ready. */
bool cache_fill(struct cache *c, const struct packet *answer, uint64_t now);
/* The same, and what it did to lines: where they are taken when the data comes. */
bool cache_fill_line(struct cache *c, const struct packet *answer, struct cache_result *result);
/* Requests whose data has come, oldest fill first, in order of arrival; one is taken at a time. NULL: none. The entry
 * is free again when its last request has been popped. */
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
/* What of these bytes is there is lost; true: there was some. */
bool cache_forget(struct cache *c, uint64_t address, uint32_t bytes);
/* Lines that are there are lost, modified ones too; those on their way still come. */
void cache_drop(struct cache *c);
/* All lines invalid; modified ones are lost on purpose (timing only). Nothing may be outstanding. */
void cache_invalidate(struct cache *c);
/* It has so many bytes from now on, at most those of its configuration, and no line (struct cache_bank). Nothing may be
 * outstanding. */
void cache_resize(struct cache *c, uint32_t bytes);
/* The one or the other: lines that are there are lost, those on their way, where there are some, still come. */
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
