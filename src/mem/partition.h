/* A memory channel with its L2 slices: from the crossbar through a fixed delay into a slice, from there to DRAM and
 * back (GPGPU-Sim's memory partition).
 *
 * Requests larger than a sector are cut into sectors where the L2 is sectored, and into lines where it is not, each
 * piece answered on its own: packet->sectors names, in the sender's own numbering, what a piece stands for. Atomics
 * take effect when they leave for the core: on_atomic is called then. An atomic that is cut keeps its mask in one piece
 * only (0 in the others), and the call is made for that one. Every request but the write-back of an L1 is answered. */
#ifndef HEDDLE_MEM_PARTITION_H
#define HEDDLE_MEM_PARTITION_H

#include "mem/cache.h"
#include "mem/dram.h"
#include "mem/network.h"

struct partition; /* one channel and its slices: opaque, but for its head */

/* Until when there is nothing to do: asked in every cycle, so read without a call. Early is allowed, late is not. */
struct partition_head {
    uint64_t l2_at;           /* core cycle */
    uint64_t dram_at;         /* command cycle */
    uint64_t leaves_delay_at; /* core cycle in which a packet leaves the delay in front of DRAM */
    uint32_t replies;         /* that wait for the crossbar */
    uint64_t reply_at;        /* network cycle before which it has room for none of them */
};

/* Before these times none of the partitions that share it has anything to do, as their heads have it: an owner of many
 * need not look at each. Partitions set it to earlier times, the owner to later ones, when it has looked. */
struct partition_calendar {
    uint64_t l2_at, dram_at, leaves_delay_at;
};

static inline const struct partition_head *partition_head(const struct partition *p)
{
    return (const struct partition_head *)p;
}

struct partition_hooks {
    void *context;
    void (*on_atomic)(void *context, const struct packet *p);
};

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
/* The clock domains call these in this order when they tick: reply, dram, l2. core_now: core cycles, for the fixed
 * delays. */
void partition_send_replies(struct partition *p, uint64_t icnt_now);
void partition_run_dram(struct partition *p, uint64_t dram_now, uint64_t core_now);

/* Interconnect clock: replies into the crossbar. */
static inline void partition_reply_cycle(struct partition *p, uint64_t icnt_now)
{
    if (partition_head(p)->replies && partition_head(p)->reply_at <= icnt_now)
        partition_send_replies(p, icnt_now);
}

static inline void partition_dram_cycle(struct partition *p, uint64_t dram_now, uint64_t core_now)
{
    if (dram_now >= partition_head(p)->dram_at || core_now >= partition_head(p)->leaves_delay_at)
        partition_run_dram(p, dram_now, core_now);
}

/* Runs the slices. Needed from partition_head(p)->l2_at on. */
void partition_l2_cycle(struct partition *p, uint64_t l2_now, uint64_t core_now);
/* A request waits at the crossbar output of a slice, numbered from the channel's first: it is taken, if there is room,
 * in each tick of the L2, before the slices are run in it. With partition_set_leads, and where no texture is among
 * them, the slices may have been run before, also in up to PARTITION_LEAD_TICKS more, if the delay is longer. False: no
 * longer, as it is nearly full. */
enum { PARTITION_LEAD_TICKS = 60 };
void partition_set_leads(struct partition *p, bool leads);
bool partition_take_request(struct partition *p, uint32_t slice, uint64_t l2_now, uint64_t core_now);
/* Nothing to do before this core cycle unless a request arrives at a crossbar output of its slices: UINT64_MAX never.
 * Early is allowed, late is not. What ticks between the core cycle before and this one may be left out. */
uint64_t partition_next_event(const struct partition *p, uint64_t core_now);
/* Requests on their way from the slices to the banks: in the slices' queues, in the delay, in the scheduler's queue. */
uint32_t partition_waiting(const struct partition *p);
bool partition_idle(const struct partition *p); /* holds nothing at all */
void partition_touch(struct partition *p, uint64_t address,
                     uint64_t now);        /* a copy from the host passes through the L2 */
void partition_flush(struct partition *p); /* drops all lines (timing only) */

struct partition_counters {
    struct cache_counters l2;
    struct dram_counters dram;
    uint64_t reply_stalls; /* a reply was there and the crossbar had no room; of the first one also the cycles to come
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
