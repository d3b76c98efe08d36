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

/* The instruction at work: the unit sends its accesses. */
struct lsu_at_work {
    uint16_t id; /* SM_NONE means that there is none */
    /* The instruction accesses the L1D alone, once per cycle and without a pipeline in front of it. */
    bool l1d_only;
    struct packet access; /* the access that is tried, with the members that all accesses have in common */
    uint64_t atomics_at;  /* the cycle in which the next access of an atomic may be sent */
};

/* The access that the L1D has refused. */
struct lsu_refused {
    int why;                /* enum cache_fail; -1 means that the L1D refuses none */
    bool blocked;           /* nothing has changed since: the access is not tried again */
    uint64_t counted_until; /* the step up to which refusals have been counted */
};

/* A queue of instructions, each with the cycle in which it leaves. */
struct sm_instruction_delay {
    uint64_t ready;
    uint16_t id;
};
struct lsu_pipe {
    struct sm_instruction_delay *list;
    uint32_t head, count, capacity;
};

/* The pipeline in front of the L1D: accesses, l1d.latency_cycles x banks of them. Capacity 0 means that there is
 * none. */
struct sm_delay {
    uint64_t ready;
    struct packet packet;
};
struct lsu_l1_pipe {
    struct sm_delay *list;
    uint32_t head, count, capacity;
};

/* Textures: results that wait for writeback. With a queue of fragments (lsu_texture.c) they are in the order of their
 * accesses; elsewhere they are hits. */
struct sm_fragment {
    uint16_t id;
    uint16_t missing; /* answers that are still to come */
    bool miss;
};
struct lsu_textures {
    struct sm_fragment *fragments; /* accesses under way, in order; NULL means that the machine has no such queue */
    uint32_t fragment_head, fragment_count, fragment_misses;
    uint32_t head, count;
    uint16_t hits[SM_TEXTURE_HITS];
};

static inline void textures_put(struct lsu_textures *t, uint16_t id)
{
    t->hits[(t->head + t->count++) % SM_TEXTURE_HITS] = id;
}
static inline uint16_t textures_take(struct lsu_textures *t)
{
    uint16_t id = t->hits[t->head];
    t->head = (t->head + 1) % SM_TEXTURE_HITS;
    t->count--;
    return id;
}

/* Writeback: the registers of one instruction after the other are written. */
struct lsu_writeback {
    uint16_t next;    /* the instruction whose registers are written next, or SM_NONE */
    uint16_t past_l1; /* the instruction whose answer came past the L1, or SM_NONE */
    uint32_t turn;    /* the client that is asked first */
};

/* The numbers that the observer was shown last. */
struct lsu_shown {
    uint32_t outstanding, accesses, misses;
};

struct sm_lsu {
    struct lsu_at_work at_work;
    struct lsu_refused refused;
    struct lsu_writeback writeback;
    struct lsu_l1_pipe l1_pipe;
    struct lsu_pipe shared_pipe;
    struct lsu_pipe hits; /* hits whose latency follows their look-up. Capacity 0 means that hits are free at once */
    struct lsu_textures textures;
    struct lsu_shown shown;
    struct ring responses; /* from the interconnect */
    struct cache *l1d, *l1c, *l1t;
    /* Their heads; where there is no cache, that of one which never has anything. */
    const struct cache_head *l1d_head, *l1c_head, *l1t_head;
    uint32_t read_only_waits; /* misses of the texture and constant caches whose data has not been taken yet */
    uint32_t step;            /* the step at hand, of the cycle */
    uint8_t no_room; /* a set of enum sm_origin: packets that found no room in the interconnect in the last step */
    /* What the machine is: an instruction enters after the collectors have moved, so in the cycle in which it leaves
     * one (rule enters_lsu_at_once); a cycle may have more than its last step, other steps before it or hits whose
     * latency follows their look-up; the L1D has sectors; stores carry a mask of the bytes that they write
     * (partial_writes of L1 or L2); exact_sectors is as in struct sm_config. */
    bool enters_after_collectors, precedes, counts_sectors, tells_written, exact_sectors;
    /* The number of threads whose local memory is interleaved: all that the machine, or the launch, has at once. */
    uint64_t thread_interleave;
    struct memory_range near; /* the range of memory that was looked up last */
    /* Access lists: an instruction takes one as it issues. */
    uint32_t free_access_count;
    struct sm_accesses *access_pool;
    uint16_t free_accesses[SM_ACCESS_LISTS];
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
    return l->at_work.id == SM_NONE && l->writeback.next == SM_NONE && l->writeback.past_l1 == SM_NONE &&
           !l->l1_pipe.count && !l->hits.count && !l->shared_pipe.count && !l->responses.count && !l->textures.count &&
           !l->textures.fragment_count;
}
void sm_send_misses(struct sm *c, struct cache *cache, enum sm_origin origin);
/* The flits that the unit sends in its next cycle, at most, with those for which it only looks for room. */
uint32_t sm_lsu_may_send(const struct sm *c);

/* lsu_access.c: from the executed instruction to its accesses */
void sm_coalesce(struct sm *c, uint16_t id);
/* The number of the slot's lane 0 among all threads that share local memory. */
uint64_t sm_first_thread(const struct sm *c, uint32_t slot);
/* For a core that runs ahead: performs the deferred instructions of this cycle, as long as no other core can tell.
 * Returns false when it has stopped at an instruction that must wait until the other cores have come to this cycle. */
bool sm_perform_unseen(struct sm *c);

/* lsu_texture.c, where the machine has a queue of fragments. sm_texel_blocks moves addresses of texels from rows to
 * blocks. */
void sm_texel_blocks(const struct texture_array *a, uint32_t line_bytes, uint32_t mask, uint64_t address[32]);
bool sm_texture_access(struct sm *c, const struct packet *p); /* returns whether the access was taken */
void sm_texture_answer(struct sm *c, const struct packet *p);
void sm_texture_cycle(struct sm *c);
static inline bool textures_move(const struct lsu_textures *t)
{
    return t->fragment_count && !t->fragments[t->fragment_head].missing;
}

#endif
