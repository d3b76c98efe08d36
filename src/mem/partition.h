/* A memory channel with its L2 slices: from the network through a fixed delay into a slice, from there to DRAM and
 * back (GPGPU-Sim's memory partition).
 *
 * Requests larger than a sector are cut into sectors where the L2 is sectored, and into lines where it is not, each
 * piece answered on its own: packet->sectors names, in the sender's own numbering, what a piece stands for. Atomics
 * take effect when they leave for the core: on_atomic is called then. An atomic that is cut keeps its mask in one piece
 * only (0 in the others), and the call is made for that one. Every request but the write-back of an L1 is answered. */
#ifndef HEDDLE_MEM_PARTITION_H
#define HEDDLE_MEM_PARTITION_H

#include "mem/cache.h"
#include "mem/delay_line.h"
#include "mem/dram.h"
#include "mem/expected.h"
#include "mem/network.h"
#include "mem/pieces.h"
#include "mem/ring.h"

/* When a channel has to be run: asked in every cycle. Times may be too early, but never too late. */
struct partition_head {
    uint64_t l2_at;           /* core cycle from which on a slice has to be run */
    uint64_t dram_at;         /* command cycle from which on DRAM has to be run */
    uint64_t leaves_delay_at; /* core cycle in which a packet leaves the delay in front of DRAM */
    uint32_t replies;         /* packets that wait for the network */
    uint64_t reply_at;        /* network cycle before which the network has room for none of them */
};

/* The earliest times of all partitions that share it, so that their owner need not look at each. Partitions set it to
 * earlier times; the owner sets it to later ones when it has looked at all of them. */
struct partition_calendar {
    uint64_t l2_at, dram_at, leaves_delay_at;
};

/* What became of the lines of a slice, for whoever chooses among them (cache_set_choices). */
struct slice_listener {
    void *context;
    /* After an access that was taken, a fill, and data from the host; r says what happened. */
    void (*changed)(void *context, const struct packet *request, enum cache_outcome outcome,
                    const struct cache_result *r);
    void (*forgot)(void *context, uint32_t set, uint32_t way); /* a store elsewhere has dropped the copy */
    void (*emptied)(void *context);                            /* all lines are about to go */
};

struct partition_hooks {
    void *context;
    void (*on_atomic)(void *context, const struct packet *p);
};

/* What every access touches stands first. */
struct slice {
    uint32_t number; /* of all slices */
    uint32_t rop_cycles;
    uint64_t at;         /* core cycle in which the slice has to be run again; 0 means in its next tick */
    uint64_t ran;        /* the last L2 tick that is in the counters */
    bool failed;         /* the access at the front of input, when it was last tried */
    bool fails;          /* the slice is not run, as that access only fails again in every tick */
    struct cache *cache; /* NULL means that there is no L2 */
    const struct slice_listener *listener; /* NULL means that nobody listens */
    uint32_t *input_sets;                  /* of the cache, for the packets in input */
    uint64_t busy_until;                   /* L2 tick: with sectors of an atomic */
    uint64_t intake_at;                    /* L2 tick: from which it takes the next request */
    struct slice *mirror;                  /* in the other half of the L2; NULL means that there are no halves */
    struct delay_line rop;
    struct ring input, to_dram, from_dram, reply;
    uint64_t reply_at;              /* network cycle before which the network has no room for the first reply */
    uint64_t turn_word, turn_until; /* of the last atomic that takes turns, and the tick of the next on the same word */
    struct partition *mirror_owner;
    const struct address_map *map;
    uint32_t reads_away;                 /* sent home for a copy, and not answered */
    struct delay_line visitors, answers; /* from there: requests for what is at home here, answers to what was sent */
    uint64_t guest_reads[CACHE_FAIL];    /* visitors that read, by outcome: no accesses of the cores */
};

struct partition {
    struct partition_head head;
    struct network *requests, *replies;
    const uint64_t *l2_ticks; /* that have been; NULL means that nobody counts them */
    struct partition_calendar *calendar, own_calendar;
    struct expected_answers *expected; /* by core; NULL means that nobody asks */
    struct partition_hooks hooks;
    const struct mem_config *config;
    const struct address_map *map;
    struct slice *slices, *slices_end;
    uint32_t slice_count, channel;
    uint32_t dram_latency_cycles, cores_per_port;
    bool reads_evict_free, stores_evict_free;
    struct piece_rules cut;
    uint32_t pieces; /* of a request: so many places must be free in the input queue before one is taken */
    struct dram *dram;
    struct delay_line to_dram;
    uint32_t last_served; /* slice */
    uint32_t queued;      /* packets in the slices' queues to DRAM */
    uint32_t credits_used,
        credit_limit; /* requests between the slices' queues to and from DRAM; a limit of 0 means none */
    uint64_t reply_stalls, input_stalls, l1_sectors, l1_sector_misses; /* as in struct partition_counters */
    uint64_t core_now;                                                 /* of the last partition_l2_cycle */
};

static inline const struct partition_head *partition_head(const struct partition *p) { return &p->head; }

/* Crossbar ports: slice s of all slices is output s of requests, and input s of replies; core c is input and output c /
 * config->cores_per_port. */
struct partition *partition_create(struct arena *a, const struct mem_config *config, const struct address_map *map,
                                   uint32_t channel, struct network *requests, struct network *replies,
                                   const struct partition_hooks *hooks);
/* Of an L2 in two halves (config->l2.link_cycles): the slices of p and q keep copies of each other's lines. Cores send
 * to the slice of the near half, whether an address is at home there or not. */
void partition_link(struct partition *p, struct partition *q, struct arena *a);
void partition_count_answers(struct partition *p, struct expected_answers *of_cores); /* if somebody asks */
void partition_share_calendar(struct partition *p, struct partition_calendar *calendar);
/* ticks: how many L2 ticks there have been, the one at hand not counted. Slices in which an access can only fail again
 * rest then, and what they fail is counted later. Without, they are run. */
void partition_set_l2_clock(struct partition *p, const uint64_t *ticks);
/* Slices are numbered from the channel's first. A listener of NULL means that nobody listens. */
void partition_set_listener(struct partition *p, uint32_t slice, const struct slice_listener *listener);
struct cache *partition_cache(const struct partition *p, uint32_t slice);
const uint64_t *partition_core_clock(const struct partition *p); /* the core cycle in which the slices last ran */
/* The clock domains call these in this order when they tick: reply, dram, l2. core_now: core cycles, for the fixed
 * delays. */
void partition_send_replies(struct partition *p, uint64_t icnt_now);
void partition_run_dram(struct partition *p, uint64_t dram_now, uint64_t core_now);

static inline void partition_dram_cycle(struct partition *p, uint64_t dram_now, uint64_t core_now)
{
    if (dram_now >= partition_head(p)->dram_at || core_now >= partition_head(p)->leaves_delay_at)
        partition_run_dram(p, dram_now, core_now);
}

/* Runs the slices. Needed from partition_head(p)->l2_at on. */
void partition_l2_cycle(struct partition *p, uint64_t l2_now, uint64_t core_now);
/* A request waits at the network output of a slice, numbered from the channel's first: it is taken, if there is room,
 * in each tick of the L2, before the slices are run in it. */
void partition_take_request(struct partition *p, uint32_t slice, uint64_t l2_now, uint64_t core_now);
/* Requests on their way from the slices to the banks: in the slices' queues, in the delay, in the scheduler's queue. */
uint32_t partition_waiting(const struct partition *p);
bool partition_idle(const struct partition *p);              /* holds nothing at all */
void partition_touch(struct partition *p, uint64_t address); /* a copy from the host passes through the L2 */
void partition_flush(struct partition *p);                   /* drops all lines (timing only) */

struct partition_counters {
    struct cache_counters l2;
    struct dram_counters dram;
    uint64_t reply_stalls; /* a reply was there and the network had no room; of the first one also the cycles to come
                              in which it cannot have any */
    uint64_t input_stalls;
    /* Sectors of 32 bytes that the cores asked for, but for constants and instructions; those of them that were read
     * and not there. */
    uint64_t l1_sectors, l1_sector_misses;
};
void partition_read_counters(struct partition *p,
                             struct partition_counters *sum); /* adds to sum, from the machine's start */
void partition_describe(const struct partition *p, char *out, uint32_t out_bytes);

#endif
