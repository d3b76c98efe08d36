/* One core, as the rest of the machine sees it. Its parts: core.h. */
#ifndef HEDDLE_SM_SM_H
#define HEDDLE_SM_SM_H

#include "base/arena.h"
#include "base/error.h"
#include "base/host_part.h"
#include "mem/address_map.h"
#include "mem/answers.h"
#include "mem/network.h"
#include "mem/pieces.h"
#include "sm/counters.h"
#include "sm/observer.h"
#include "sm/program.h"
#include "sm/stall_log.h"
#include "sm/warp_log.h"

enum { SM_PROBES = 16 };

/* This core is the one that is written to be read (src/model); false means the fast one (src/sm). */
extern const bool sm_is_model;

/* The policies of a machine, with the values of their parameters. */
struct sm_policies {
    const struct heddle_scheduler *scheduler;
    const union heddle_value *scheduler_values;
    const struct heddle_l1 *l1;
    const union heddle_value *l1_values;
    const struct heddle_divergence *divergence;
    const union heddle_value *divergence_values;
    const struct heddle_probe *probes[SM_PROBES];
    const union heddle_value *probe_values[SM_PROBES];
    uint32_t probe_count;
    uint64_t seed;
};

/* The counters of a policy on a core, for all its instances together. */
struct sm_counts {
    const struct heddle_policy *policy; /* NULL means that there is none */
    uint64_t *values;                   /* policy/counters.h */
    uint32_t value_count;
    uint64_t **histograms;  /* by row; NULL for rows that are no histogram */
    uint64_t *instructions; /* table of the launch, or NULL */
};

/* The connections of a core. The owner has all of them, and they stay. */
struct sm_wires {
    struct network *requests; /* the core sends at its cluster's port */
    const struct address_map *map;
    struct network_clock clock;
    struct piece_rules cut; /* each piece of a request is answered */
    /* The least time from a request to its answer; textures and atomics may be faster. */
    uint32_t answer_cycles;
    /* Slices in one half of an L2 that has two; 0 means that the L2 is one. Cores are near to the halves in turn,
     * two by two. */
    uint32_t half_slices;
    bool tells_written; /* stores carry a mask of the bytes that they write (partial_writes of L1 or L2) */
    /* The core adds each request that it sends, and removes each answer that it takes. */
    struct expected_answers *expected;
    uint64_t *wake_at; /* set by the core: the next cycle in which it must be run */
    /* Set by the core: it waits until the interconnect has room for a packet of so many bytes; 0 means that it does
     * not. */
    uint32_t *blocked_bytes;
    const struct sm_observer *observer; /* or NULL */
};

/* The fields that the owner reads in every cycle, without a call. They come first in struct sm, whose other fields
 * are in core.h. */
struct sm_head {
    uint32_t id, port;     /* port: network port of its cluster */
    uint32_t deferred;     /* instructions that sm_perform will perform */
    uint32_t blocks_ended; /* since the owner set it to 0 */
    uint8_t part;          /* enum host_part: which part of it is being run */
};
struct sm;
static inline struct sm_head *sm_head(struct sm *c) { return (struct sm_head *)c; }
static inline uint32_t sm_id(const struct sm *c) { return ((const struct sm_head *)c)->id; }

struct sm *sm_create(struct arena *a, const struct sm_config *config, uint32_t id, uint32_t core_count,
                     const struct sm_policies *policies, const struct sm_wires *wires, struct error *e);
void sm_destroy(struct sm *c); /* frees the memory of policies; the arena has all else */
/* Adds a listener, for good: it hears what policies hear (p->on), and changes nothing. */
void sm_listen(struct sm *c, const struct heddle_policy *p, void *state);

/* A launch begins; its cores are empty. `block_limit` is the number of blocks of its shape that fit. `launch` is
 * copied; blocks are made with sm_launch(c). */
void sm_begin(struct sm *c, struct arena *launch_arena, const struct sm_program *program,
              const struct exec_launch *launch, uint32_t block_limit, uint32_t warps_per_block, uint64_t now);
/* Called after sm_begin, for an L1 data cache that shares its bytes with shared memory. */
void sm_resize_l1(struct sm *c, uint32_t bytes);
void sm_end(struct sm *c, uint64_t now);
bool sm_has_room(const struct sm *c);
void sm_place(struct sm *c, struct exec_cta *cta, uint64_t now); /* `cta` has been started */
uint64_t sm_blocks_used(const struct sm *c);                     /* the set of slots that have a block */
uint32_t sm_block_limit(const struct sm *c);
struct exec_launch *sm_launch(struct sm *c);
const struct sm_program *sm_program(const struct sm *c);
/* Of an idle core. */
void sm_replace_program(struct sm *c, const struct sm_program *gone, const struct sm_program *by);

/* sm_cycle runs one cycle, without the instructions that touch device memory. sm_perform performs these, core after
 * core, and is called in the same cycle. */
void sm_cycle(struct sm *c, uint64_t now);
void sm_perform(struct sm *c);
/* After sm_cycle(now), sm_run_ahead runs the core alone through more cycles before `end`, as long as no other core can
 * tell (network.c). The queue must have every answer that comes before `end`. Returns true if the core did something
 * in its last cycle (sm_now) that others can see: when the other cores have come to that cycle, all calls that follow a
 * cycle follow, as sm_perform. Until then the core is not run. */
bool sm_may_run_ahead(const struct sm *c);
bool sm_run_ahead(struct sm *c, uint64_t now, uint64_t end, struct answer_queue *answers);
uint64_t sm_now(const struct sm *c); /* the cycle in which it was run last */
/* Counts the cycles before `now` in which the core slept. */
void sm_account_until(struct sm *c, uint64_t now);
/* The core takes an answer from the interconnect. Returns false if it has no room; the answer is offered again. */
bool sm_accept(struct sm *c, const struct packet *p, uint64_t now);
/* The partition has an atomic of the core take effect, in the lanes of this packet. */
void sm_perform_atomic(struct sm *c, const struct packet *p);
bool sm_idle(const struct sm *c); /* no warp in a slot, nothing in flight */

/* skip.c: the core is at rest while its warps execute without time. Not where threads are regrouped, or with an
 * observer. */
bool sm_may_rest(const struct sm *c);
void sm_rest(struct sm *c, uint64_t now);  /* from `now` on no warp issues */
bool sm_is_at_rest(const struct sm *c);    /* nothing is in flight any more */
void sm_go_on(struct sm *c, uint64_t now); /* warps issue again, from where they have come to */
struct sm_progress {
    uint64_t age, executed; /* executed: instructions since its beginning */
    uint32_t pc;            /* of its next instruction */
    bool can_go_on;         /* it does not wait at a barrier */
};
/* Returns false if the slot has no warp that runs. */
bool sm_warp_progress(const struct sm *c, uint32_t slot, struct sm_progress *out);
/* Called at rest: the warp executes at most this number of instructions. Returns how many it did. */
uint32_t sm_skip(struct sm *c, uint32_t slot, uint32_t instructions);
/* Called at rest: the warp's block leaves the core, if all of it has ended. */
bool sm_end_block(struct sm *c, uint32_t slot);

/* Counters, since they were reset. */
void sm_add_counters(struct sm *c, struct sm_counters *sum);
void sm_reset_counters(struct sm *c); /* and the counters of policies */
/* Without the counters of caches, and without cycles that are not counted yet. */
const struct sm_counters *sm_counters(const struct sm *c);
uint64_t sm_l1_fails(const struct sm *c);                /* refusals of the L1D so far */
void sm_log_warps(struct sm *c, struct warp_log *log);   /* counts the stalls of each warp there too (warp_log.h) */
void sm_log_stalls(struct sm *c, struct stall_log *log); /* counts the stalls of each slot there too (stall_log.h) */
void sm_settle_stalls(struct sm *c);                     /* afterwards the log has all cycles before this one */
/* The accesses that the load which the warp has just executed would have, if the bytes of these lanes lay side by
 * side in lines of the L1D. */
uint32_t sm_least_accesses(const struct sm *c, uint32_t warp, uint32_t lanes);
struct sm_counts *sm_policy_counts(struct sm *c, uint32_t *count);

/* Mistakes of kernels and policies. */
/* Returns false, with *e, if a kernel or a policy did what it may not. */
bool sm_check(const struct sm *c, struct error *e);
/* The atomic of a warp that has not taken effect in all its lanes yet. *out stays as it is if there is none. */
void sm_pending(const struct sm *c, const struct exec_warp *w, struct exec_pending *out);
/* Warps that wait for nothing but a scheduler: they could issue, or are to be sent back to fetch. */
uint64_t sm_awaiting_scheduler(const struct sm *c);
/* The scheduler of the first of these warps, the warps among them that it has, and the hook by which it holds them. */
struct sm_blame {
    const char *policy, *reason;
    uint32_t scheduler;
    uint64_t warps;
};
struct sm_blame sm_blame_scheduler(const struct sm *c);
/* The number of accesses that the L1 policy gave no way. `policy` is its name, or NULL if it has no say in that.
 * `stands` is true if one of them is at work, and still has none. */
uint64_t sm_l1_refusals(const struct sm *c, const char **policy, bool *stands);
/* Warps that wait for an instruction, a load, an atomic or answers to stores (standstill.c). sm_describe_awaiting
 * writes a line about each of the first `most`, and about what stops the load/store unit; it returns how many warps
 * were described. */
uint64_t sm_awaiting_memory(const struct sm *c);
uint32_t sm_describe_awaiting(const struct sm *c, uint32_t most, struct error *e);
/* The first warp from *slot on that runs, and the pc of its next instruction. Returns false if there is none. */
bool sm_next_running(const struct sm *c, uint32_t *slot, uint32_t *pc);
/* The divergence unit that puts threads of several warps together (regroup.h), or NULL. */
const struct heddle_divergence *sm_mixing_unit(const struct sm *c);

#endif
