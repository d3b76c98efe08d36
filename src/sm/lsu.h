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

/* The cache of the core that an answer is for; ORIGIN_LSU means that the access went past the caches. */
enum sm_origin { ORIGIN_L1D, ORIGIN_L1C, ORIGIN_L1T, ORIGIN_L1I, ORIGIN_LSU };

/* The way that the accesses of an instruction take. */
enum sm_route { ROUTE_L1D, ROUTE_CONSTANTS, ROUTE_TEXTURES, ROUTE_PAST };

enum { SM_ACCESS_LISTS = 64, SM_TEXTURE_HITS = 64 };

struct sm_accesses {
    uint32_t count;
    struct access list[COALESCE_MOST];
};

/* An access in the pipeline in front of the L1D. */
struct sm_delay {
    uint64_t ready;
    struct packet packet;
};
/* An instruction in the pipeline of shared memory, or a hit. */
struct sm_instruction_delay {
    uint64_t ready;
    uint16_t id;
};

/* Hits whose registers are not free yet, in order; capacity 0 means that they are free at once. */
struct sm_hits {
    struct sm_instruction_delay *list;
    uint32_t head, count, capacity;
};

struct sm_fragment {
    uint16_t id;
    uint16_t missing; /* answers that are still to come */
    bool miss;
};

struct sm_lsu {
    uint16_t dispatch; /* the instruction at work, or SM_NONE */
    /* The instruction at work accesses the L1D alone, once per cycle and without a pipeline in front of it. */
    bool l1d_only;
    /* An instruction enters after the collectors have moved, so in the cycle in which it leaves one (rule
     * enters_lsu_at_once). */
    bool enters_after_collectors;
    /* A cycle may have more than its last step: other steps before it, or hits whose latency follows their look-up. */
    bool precedes;
    bool counts_sectors; /* the L1D has sectors */
    bool tells_written;  /* stores carry a mask of the bytes that they write (partial_writes of L1 or L2) */
    bool exact_sectors;  /* as in struct sm_config */
    uint16_t next_wb;    /* the instruction whose registers are written next, or SM_NONE */
    uint32_t wb_turn;
    struct ring responses; /* from the interconnect */
    struct cache *l1d, *l1c, *l1t;
    /* Their heads; where there is no cache, that of one which never has anything. */
    const struct cache_head *d, *constants, *textures;
    struct sm_delay *l1_pipe; /* a queue of l1d.latency_cycles x banks accesses */
    uint32_t l1_head, l1_count, l1_capacity;
    struct sm_instruction_delay *shared_pipe;
    uint32_t shared_head, shared_count, shared_capacity;
    uint32_t texture_head, texture_count;
    /* lsu_texture.c: texture accesses under way, in order; NULL means that the machine has no such queue. */
    struct sm_fragment *fragments;
    uint32_t fragment_head, fragment_count, fragment_misses;
    uint32_t read_only_waits; /* misses of the texture and constant caches whose data has not been taken yet */
    uint16_t next_global;     /* the instruction whose answer came past the L1, or SM_NONE */
    /* The access of the instruction at work that is tried, with the members that all its accesses have in common. */
    struct packet access;
    int refusal;     /* enum cache_fail of the access that the L1D refused; -1 means that it refused none */
    bool blocked;    /* the access was refused, and nothing has changed since: it is not tried again */
    uint8_t no_room; /* a set of enum sm_origin: packets that found no room in the interconnect in the last step */
    uint32_t step;   /* the step at hand, of the cycle */
    uint64_t refused_until; /* the step up to which refusals have been counted */
    /* The cycle in which the next access of an atomic may be sent. */
    uint64_t atomics_at;
    struct sm_hits hits;                                   /* where a hit's latency follows its look-up */
    uint32_t outstanding_seen, accesses_seen, misses_seen; /* numbers that the observer was shown last */
    uint32_t free_access_count;
    struct sm_accesses *access_pool;
    struct memory_range near; /* the range of memory that was looked up last */
    /* The number of threads whose local memory is interleaved: all that the machine, or the launch, has at once. */
    uint64_t thread_interleave;
    uint16_t free_accesses[SM_ACCESS_LISTS];
    /* Hits of textures that wait for writeback; with a queue of fragments, results in the order of their accesses. */
    uint16_t texture_hits[SM_TEXTURE_HITS];
};

/* lsu.c */
void lsu_init(struct sm_lsu *l, struct arena *a, const struct sm_config *config);
void sm_lsu_step(struct sm *c);                   /* the last step of a cycle */
void sm_lsu_early_step(struct sm *c, uint32_t n); /* step n before it, in which no instruction enters */
void sm_lsu_enter(struct sm *c);                  /* after the collectors: the next instruction enters */
/* Finishes hits whose latency is over: all at once, since they take no port. */
void sm_lsu_finish_hits(struct sm *c);
void sm_lsu_count_refusals(struct sm *c, uint64_t now); /* counts the refusals of the cycles before `now` */
void lsu_try_again(struct sm *c);                       /* the L1D may take an access now that it refused before */
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

/* lsu_texture.c, where the machine has a queue of fragments. sm_texel_blocks moves addresses of texels from rows to
 * blocks. */
void sm_texel_blocks(const struct texture_array *a, uint32_t line_bytes, uint32_t mask, uint64_t address[32]);
bool sm_texture_access(struct sm *c, const struct packet *p); /* returns whether the access was taken */
void sm_texture_answer(struct sm *c, const struct packet *p);
void sm_texture_cycle(struct sm *c);
static inline bool sm_textures_move(const struct sm_lsu *l)
{
    return l->fragment_count && !l->fragments[l->fragment_head].missing;
}

#endif
