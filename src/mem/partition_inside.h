/* Inside a partition: the state that its clocks share. partition_slice.c has the L2's clock, partition_dram.c the
 * DRAM's; partition.c the replies' and what belongs to no clock; partition_link.c the way to the other half of an L2.
 */
#ifndef HEDDLE_MEM_PARTITION_INSIDE_H
#define HEDDLE_MEM_PARTITION_INSIDE_H

#include "mem/delay_line.h"
#include "mem/partition.h"
#include "mem/pieces.h"
#include "mem/ring.h"

#define NEVER UINT64_MAX

static inline uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* What every access touches stands first. */
struct slice {
    uint32_t number; /* of all slices */
    uint32_t rop_cycles;
    uint64_t at;          /* core cycle in which it has to be run again, 0: as soon as may be */
    uint64_t ran;         /* the last L2 tick that is in the counters */
    bool failed;          /* the access at the front of input, when it was last tried */
    bool fails;           /* while it rests: that access fails again in every tick */
    uint64_t room;        /* a bit for each of the last 64 ticks before room_known: was there room for a request? */
    uint64_t room_known;  /* L2 tick: since then that has not changed */
    struct cache *cache;  /* NULL: no L2 */
    uint32_t *input_sets; /* of the cache, for the packets in input */
    uint64_t busy_until;  /* L2 tick: with sectors of an atomic */
    uint64_t intake_at;   /* L2 tick: from which it takes the next request */
    struct slice *mirror; /* in the other half of the L2; NULL: there are no halves */
    struct delay_line rop;
    struct ring input, to_dram, from_dram, reply;
    uint64_t reply_at;              /* network cycle before which the crossbar has no room for the first reply */
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
    const uint64_t *l2_ticks; /* that have been; NULL: nobody says */
    struct partition_calendar *calendar, own_calendar;
    struct expected_answers *expected; /* by core; NULL: nobody asks */
    struct partition_hooks hooks;
    const struct mem_config *config;
    const struct address_map *map;
    struct slice *slices, *slices_end;
    uint32_t slice_count, channel;
    uint32_t dram_latency_cycles, cores_per_port;
    bool reads_evict_free, stores_evict_free;
    bool leads; /* partition_set_leads */
    struct piece_rules cut;
    uint32_t pieces; /* of a request: so many places must be free in the input queue before one is taken */
    struct dram *dram;
    struct delay_line to_dram;
    uint32_t last_served;                /* slice */
    uint32_t queued;                     /* packets in the slices' queues to DRAM */
    uint32_t credits_used, credit_limit; /* requests between the slices' queues to and from DRAM; limit 0: none */
    uint64_t dram_now, dram_core_now;    /* of the last partition_run_dram */
    uint64_t reply_stalls, input_stalls, l1_sectors, l1_sector_misses; /* as in struct partition_counters */
    uint64_t core_now;                                                 /* of the last partition_l2_cycle */
};

/* Something has happened that a slice may rest for. */
static inline void wake_slice(struct partition *p, struct slice *s) { s->at = p->head.l2_at = p->calendar->l2_at = 0; }
static inline void wake_dram(struct partition *p) { p->head.dram_at = p->calendar->dram_at = 0; }

/* partition_slice.c */
void slice_create(struct slice *s, struct arena *a, const struct l2_config *l2, const struct address_map *map,
                  uint32_t number);
void slice_settle(struct slice *s, uint64_t tick); /* counts the ticks in which it rested */
void queue_reply(struct partition *p, struct slice *s, const struct packet *request);
/* partition_link.c, of slices that have a mirror */
void link_slices(struct partition *p, struct partition *q, struct arena *a);
bool link_has_room(const struct slice *s);
void link_send_home(struct partition *p, struct slice *s, const struct packet *r);
void link_send_answer(struct partition *p, struct slice *s, const struct packet *r);
bool link_forward_write(struct partition *p, struct slice *s, const struct packet *r); /* false: no room */
/* Of a read that is away: its copy is there, or may have a place. */
bool link_may_copy(const struct slice *s, const struct packet *r, uint32_t set);
bool link_waits_in_turn(struct slice *s); /* the mirror waits for one that is away, too */
bool link_forward_read(struct partition *p, struct slice *s, const struct packet *r); /* as above; it has no copy */
void link_written_at_home(struct slice *s, const struct packet *r);
void link_take_answer(struct partition *p, struct slice *s, uint64_t l2_now);
uint64_t link_next(const struct slice *s); /* the core cycle in which something from the other half can be taken */
/* partition_dram.c */
void dram_side_create(struct partition *p, struct arena *a);
uint64_t dram_side_event(const struct partition *p); /* the core cycle of head.dram_at; early is allowed */

#endif
