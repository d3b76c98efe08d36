/* One core, as the rest of the machine sees it. Its parts: core.h. */
#ifndef HEDDLE_SM_SM_H
#define HEDDLE_SM_SM_H

#include "base/arena.h"
#include "base/error.h"
#include "base/host_part.h"
#include "mem/address_map.h"
#include "mem/answers.h"
#include "mem/crossbar.h"
#include "mem/pieces.h"
#include "sm/counters.h"
#include "sm/observer.h"
#include "sm/program.h"
#include "sm/stall_log.h"
#include "sm/warp_log.h"

enum { SM_PROBES = 16 };

/* The policies of a machine as its cores are made with them. */
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

/* What a policy counts on a core, all its instances together. */
struct sm_counts {
    const struct heddle_policy *policy; /* NULL: there is none */
    uint64_t *values;                   /* policy/counters.h */
    uint32_t value_count;
    uint64_t **histograms;  /* by row; of the others NULL */
    uint64_t *instructions; /* table of the launch at hand, or NULL */
};

/* Between the cores and what they are connected to; all of it is the owner's, and stays. */
struct sm_wires {
    struct crossbar *requests; /* it sends at its cluster's port */
    const struct address_map *map;
    struct network_clock clock;
    struct piece_rules cut; /* each piece of a request is answered */
    uint32_t answer_cycles; /* from a request to an answer, at least, but for textures and atomics */
    bool
        keeps; /* loads and stores do not stop a core that runs ahead, if that can be: it is one of several threads's */
    uint32_t half_slices; /* of an L2 in two halves, 0: it is one; cores are near to them in turn, two by two */
    bool tells_written;   /* stores carry what they write (partial_writes of L1 or L2) */
    struct expected_answers *expected; /* it counts up what it sends, and down what it takes */
    uint64_t *wake_at;                 /* the core sets it: the next cycle in which it must be run */
    uint32_t *blocked_bytes; /* and this: it sleeps until the interconnect takes a packet so long; 0: it does not */
    const struct sm_observer *observer; /* or NULL */
};

/* What its owner asks in every cycle, without a call. It stands first in struct sm, whose rest is in core.h. */
struct sm_head {
    uint32_t id, port;     /* crossbar port of its cluster */
    uint32_t deferred;     /* instructions that sm_perform will perform */
    uint32_t blocks_ended; /* since the owner set it to 0 */
    uint8_t part;          /* enum host_part: what of it is being run */
};
struct sm;
static inline struct sm_head *sm_head(struct sm *c) { return (struct sm_head *)c; }
static inline uint32_t sm_id(const struct sm *c) { return ((const struct sm_head *)c)->id; }

struct sm *sm_create(struct arena *a, const struct sm_config *config, uint32_t id, uint32_t core_count,
                     const struct sm_policies *policies, const struct sm_wires *wires, struct error *e);
void sm_destroy(struct sm *c); /* what policies hold; the rest is the arena's */
/* One more who hears what policies hear (p->on), for good, and changes nothing. */
void sm_listen(struct sm *c, const struct heddle_policy *p, void *state);

/* A launch begins; its cores are empty. block_limit: blocks of its shape that fit. launch: copied; blocks are made with
 * sm_launch(c). */
void sm_begin(struct sm *c, struct arena *launch_arena, const struct sm_program *program,
              const struct exec_launch *launch, uint32_t block_limit, uint32_t warps_per_block, uint64_t now);
/* After sm_begin, of an L1 data cache that launches divide with shared memory. */
void sm_resize_l1(struct sm *c, uint32_t bytes);
void sm_end(struct sm *c, uint64_t now);
bool sm_has_room(const struct sm *c);
void sm_place(struct sm *c, struct exec_cta *cta, uint64_t now); /* cta has been started */
uint64_t sm_blocks_used(const struct sm *c);                     /* slots of blocks, as a set */
uint32_t sm_block_limit(const struct sm *c);
uint32_t sm_least_cycles(const struct sm *c); /* until its blocks have ended, at least: each warp still has to issue */
struct exec_launch *sm_launch(struct sm *c);
const struct sm_program *sm_program(const struct sm *c);
void sm_replace_program(struct sm *c, const struct sm_program *gone, const struct sm_program *by); /* of an idle core */

/* One cycle, without what touches device memory; then that, core after core. sm_perform is called in the same cycle. */
void sm_cycle(struct sm *c, uint64_t now);
void sm_perform(struct sm *c);
/* After sm_cycle(now), or in a cycle in which the core sleeps: more cycles of the core alone, before the cycle `end`,
 * as long as nobody can tell (network.c). All answers that come to it before are in the queue. If it did what others
 * can see, that is first in the cycle sm_next_seen (0: it did not); when they are there, sm_catch_up, and so on until
 * there is no more. If that was in its last cycle (sm_now) it is followed by all that follows a cycle, as sm_perform.
 * Until then it is left alone, but that it may be run further. */
bool sm_may_run_ahead(const struct sm *c);
void sm_run_ahead(struct sm *c, uint64_t now, uint64_t end, struct answer_queue *answers);
void sm_run_further(struct sm *c, uint64_t end, struct answer_queue *answers);
uint64_t sm_next_seen(const struct sm *c);
void sm_catch_up(struct sm *c, uint64_t now);
uint64_t sm_now(const struct sm *c); /* the cycle that it is in, or was run in last */
/* Cycles up to now (exclusive) in which the core slept are counted. */
void sm_account_until(struct sm *c, uint64_t now);
/* An answer from the interconnect: false, there is no room (it is offered again). */
bool sm_accept(struct sm *c, const struct packet *p, uint64_t now);
/* The partition executes an atomic's lanes. */
void sm_perform_atomic(struct sm *c, const struct packet *p);
bool sm_idle(const struct sm *c); /* no resident warp, nothing in flight */

/* skip.c: the core stands still while its warps execute without time. Not where threads are regrouped, or somebody
 * observes. */
bool sm_may_rest(const struct sm *c);
void sm_rest(struct sm *c, uint64_t now);  /* from now on no warp issues, */
bool sm_is_at_rest(const struct sm *c);    /* until nothing is in flight any more; */
void sm_go_on(struct sm *c, uint64_t now); /* and they go on where they are then */
struct sm_progress {
    uint64_t age, executed; /* since its beginning */
    uint32_t pc;            /* of its next instruction */
    bool can_go_on;         /* it does not wait at a barrier */
};
bool sm_warp_progress(const struct sm *c, uint32_t slot, struct sm_progress *out); /* false: there is none */
/* At rest: the warp executes up to so many instructions. Returns how many. */
uint32_t sm_skip(struct sm *c, uint32_t slot, uint32_t instructions);
bool sm_end_block(struct sm *c, uint32_t slot); /* at rest: the warp's block leaves the core, if all of it has ended */

/* Counters, since they were reset. */
void sm_add_counters(struct sm *c, struct sm_counters *sum);
void sm_reset_counters(struct sm *c); /* those of policies too */
const struct sm_counters *
sm_counters(const struct sm *c);                       /* without what the caches count, and what is not counted yet */
uint64_t sm_l1_fails(const struct sm *c);              /* tries of the L1D that failed, so far */
void sm_log_warps(struct sm *c, struct warp_log *log); /* counts stalls of each warp there too (warp_log.h) */
void sm_log_stalls(struct sm *c, struct stall_log *log); /* and there (stall_log.h) */
void sm_settle_stalls(struct sm *c);                     /* the log has all cycles before this one */
/* The accesses of the load that the warp has just executed, if the bytes of these lanes lay side by side in lines of
 * the L1D. */
uint32_t sm_least_accesses(const struct sm *c, uint32_t warp, uint32_t lanes);
struct sm_counts *sm_policy_counts(struct sm *c, uint32_t *count);

/* What goes wrong. */
/* False and *e: a kernel did what it may not, or a policy. */
bool sm_check(const struct sm *c, struct error *e);
/* The atomic of a warp of the core that has not taken effect in all its lanes yet; *out stays as it is where there is
 * none. */
void sm_pending(const struct sm *c, const struct exec_warp *w, struct exec_pending *out);
/* Warps that wait for nothing but a scheduler: that could issue, or are to be sent back to fetch. */
uint64_t sm_awaiting_scheduler(const struct sm *c);
/* Of those: the scheduler of the first, its warps among them, and by which hook it keeps them back. */
struct sm_blame {
    const char *policy, *reason;
    uint32_t scheduler;
    uint64_t warps;
};
struct sm_blame sm_blame_scheduler(const struct sm *c);
/* Accesses that the L1 policy gave no way, where it has a say in that (policy: its name, else NULL); stands: one of
 * them is at work, and has still none. */
uint64_t sm_l1_refusals(const struct sm *c, const char **policy, bool *stands);
/* Warps that wait for an instruction, a load, an atomic or answers to stores (standstill.c); a line about each, `most`
 * of them, and about what stops the load/store unit. Returns how many warps were described. */
uint64_t sm_awaiting_memory(const struct sm *c);
uint32_t sm_describe_awaiting(const struct sm *c, uint32_t most, struct error *e);
/* Warps that run, with the pc of their next instruction: the first from *slot on, which is then its slot. False: none
 */
bool sm_next_running(const struct sm *c, uint32_t *slot, uint32_t *pc);
/* The divergence unit that puts threads of several warps together (regroup.h), NULL: there is none. */
const struct heddle_divergence *sm_mixing_unit(const struct sm *c);

#endif
