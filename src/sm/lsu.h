/* The load/store unit: from an executed memory instruction to accesses, through the caches or past them into the
 * interconnect, and back to registers.
 *
 * Holds the instruction at work, its accesses, the pipelines for shared memory and hits, answers, the L1 data, constant
 * and texture caches. Touches instructions in flight, what slots expect of memory, register banks (writeback), the
 * core's way into the interconnect. */
#ifndef HEDDLE_SM_LSU_H
#define HEDDLE_SM_LSU_H

#include "base/likely.h"
#include "exec/exec.h"
#include "mem/cache.h"
#include "mem/coalesce.h"
#include "mem/ring.h"
#include "sm/config.h"

struct sm;

/* Which cache of the core an answer is for. */
enum sm_origin { ORIGIN_L1D, ORIGIN_L1C, ORIGIN_L1T, ORIGIN_L1I, ORIGIN_LSU /* past the caches */ };

/* Where the accesses of an instruction go. */
enum sm_route { ROUTE_L1D, ROUTE_CONSTANTS, ROUTE_TEXTURES, ROUTE_PAST };

enum { SM_ACCESS_LISTS = 64, SM_TEXTURE_HITS = 64 };

struct sm_accesses {
    uint32_t count;
    struct access list[COALESCE_MOST];
};

struct sm_delay {
    uint64_t ready;
    struct packet packet;
}; /* L1D pipeline */
struct sm_instruction_delay {
    uint64_t ready;
    uint16_t id;
}; /* shared memory, hits */

/* Hits whose registers are not free yet, in order; capacity 0: they are free at once. */
struct sm_hits {
    struct sm_instruction_delay *list;
    uint32_t head, count, capacity;
};

struct sm_fragment {
    uint16_t id;
    uint16_t missing; /* answers */
    bool miss;
};

struct sm_lsu {
    uint16_t dispatch;            /* instruction at work, or SM_NONE */
    bool l1d_only;                /* it only accesses the L1D, once per cycle, without a pipeline in front */
    bool enters_after_collectors; /* have moved, so in the cycle of leaving one (rule enters_lsu_at_once) */
    bool precedes;                /* something may come before the only step: other steps, hits whose latency follows */
    bool counts_sectors;          /* the L1D has sectors */
    bool tells_written;           /* stores carry what they write (partial_writes of L1 or L2) */
    bool exact_sectors;           /* config's */
    uint16_t next_wb;             /* instruction whose registers are written next, or SM_NONE */
    uint32_t wb_turn;
    struct ring responses; /* from the interconnect */
    struct cache *l1d, *l1c, *l1t;
    const struct cache_head *d, *constants,
        *textures;            /* their heads; of a cache that is not there: one that never has anything */
    struct sm_delay *l1_pipe; /* FIFO of l1d.latency_cycles x banks */
    uint32_t l1_head, l1_count, l1_capacity;
    struct sm_instruction_delay *shared_pipe;
    uint32_t shared_head, shared_count, shared_capacity;
    uint32_t texture_head, texture_count;
    struct sm_fragment
        *fragments; /* lsu_texture.c: texture accesses under way, in order; NULL: there is no such queue */
    uint32_t fragment_head, fragment_count, fragment_misses;
    uint32_t read_only_waits; /* accesses of the texture and constant caches whose data has not been taken yet */
    uint16_t next_global;     /* answer that bypassed the L1, or SM_NONE */
    struct packet
        access;      /* of the instruction at work: what all its accesses have in common, and the one that is tried */
    int refusal;     /* enum cache_fail of the access that the L1D refused; -1 means that it refused none */
    bool blocked;    /* nothing has changed since: the access is not tried again */
    uint8_t no_room; /* a set of enum sm_origin: packets that found no room in the interconnect in the last step */
    uint64_t step;   /* number of the step at hand, from the machine's start */
    uint64_t refused_until;                                /* the step up to which refusals have been counted */
    uint64_t atomics_at;                                   /* cycle in which the next access of an atomic may be sent */
    struct sm_hits hits;                                   /* where a hit's latency follows its look-up */
    uint32_t outstanding_seen, accesses_seen, misses_seen; /* by the observer */
    uint32_t free_access_count;
    struct sm_accesses *access_pool;
    struct memory_range near;   /* translation of addresses */
    uint64_t thread_interleave; /* threads of the machine, or of the launch at once, for local memory */
    uint16_t free_accesses[SM_ACCESS_LISTS];
    uint16_t texture_hits[SM_TEXTURE_HITS]; /* or results, in order, where there is a queue of fragments */
};

/* lsu.c */
void lsu_init(struct sm_lsu *l, struct arena *a, const struct sm_config *config);
void sm_lsu_step(struct sm *c);                         /* the last step of the cycle */
void sm_lsu_early_step(struct sm *c, uint32_t n);       /* step n before it, in which no instruction enters the unit */
void sm_lsu_enter(struct sm *c);                        /* after the collectors: takes the next instruction */
void sm_lsu_finish_hits(struct sm *c);                  /* whose latency is over: all at once, they take no port */
void sm_lsu_count_refusals(struct sm *c, uint64_t now); /* those of the cycles before this one */
void lsu_try_again(struct sm *c); /* something has changed that the L1D may have refused an access for */
static inline bool lsu_idle(const struct sm_lsu *l)
{
    return l->dispatch == SM_NONE && l->next_wb == SM_NONE && l->next_global == SM_NONE && !l->l1_count &&
           !l->hits.count && !l->shared_count && !l->responses.count && !l->texture_count && !l->fragment_count;
}
void sm_send_misses(struct sm *c, struct cache *cache, enum sm_origin origin);
/* The flits that the unit sends in its next cycle, at most, with those for which it only looks for room. */
uint32_t sm_lsu_may_send(const struct sm *c);

/* lsu_access.c: from the executed instruction to its accesses */
void sm_coalesce(struct sm *c, uint16_t id);
/* The number of the slot's lane 0 among all threads that share local memory. */
uint64_t sm_first_thread(const struct sm *c, uint32_t slot);
/* For a core that runs ahead: performs the deferred instructions of this cycle, as long as no other core can tell.
 * Stores, and loads whose values may come later, are kept (struct sm_kept). Returns false when it has stopped at an
 * instruction that must wait until the other cores have come to this cycle. */
bool sm_perform_unseen(struct sm *c);
/* An instruction of the slot writes registers that a kept load writes too: the load's values are dropped there. */
void sm_note_overwritten(struct sm *c, uint32_t slot, const struct sm_inst *by);

/* lsu_texture.c, where there is a queue of fragments */
void sm_texel_blocks(const struct texture_array *a, uint32_t line_bytes, uint32_t mask,
                     uint64_t address[32]);                   /* from rows to blocks */
bool sm_texture_access(struct sm *c, const struct packet *p); /* true: taken */
void sm_texture_answer(struct sm *c, const struct packet *p);
void sm_texture_cycle(struct sm *c);
static inline bool sm_textures_move(const struct sm_lsu *l)
{
    return l->fragment_count && !l->fragments[l->fragment_head].missing;
}

#endif
