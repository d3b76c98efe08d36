/* One core: fetch, instruction buffers, scoreboard, issue, operand collectors, pipelines, load/store unit, barriers.
 *
 * Stages run back to front within a cycle, as in GPGPU-Sim, so that a result freed in a cycle can be used in it:
 * writeback, units, operand collectors, issue, decode, fetch. What warps are doing is kept in bit masks, one bit a warp
 * slot; a cycle in which nothing can change puts the core to sleep until a known cycle or until something arrives. */
#ifndef HEDDLE_SM_SM_H
#define HEDDLE_SM_SM_H

#include "mem/address_map.h"
#include "mem/coalesce.h"
#include "mem/crossbar.h"
#include "mem/ring.h"
#include "policy/counters.h"
#include "sm/collector.h"
#include "sm/counters.h"
#include "sm/observer.h"
#include "sm/program.h"
#include "sm/warp_log.h"

enum {
    SM_SCHEDULERS = 16,
    SM_INFLIGHT = 1024,
    SM_TIME_RING = 1024,
    SM_BLOCKS = 64,
    SM_ALU_UNITS = 48,
    SM_WRITEBACK = 16,
    SM_DEFERRED = 32
};
enum { SM_PROBES = 16, SM_POLICIES = 3 + SM_PROBES, SM_LISTENERS = SM_SCHEDULERS + SM_POLICIES + 4 };
enum { SM_CALLS = 64 }; /* of a warp, one inside the other: as deep as loops are told */
#define SM_NEVER UINT64_MAX
#define SM_NONE  UINT16_MAX

/* Which cache of the core an answer is for. */
enum sm_origin { ORIGIN_L1D, ORIGIN_L1C, ORIGIN_L1T, ORIGIN_L1I, ORIGIN_LSU /* past the caches */ };

/* Where the accesses of an instruction go. */
enum sm_route { ROUTE_L1D, ROUTE_CONSTANTS, ROUTE_TEXTURES, ROUTE_PAST };

struct sm_slot {
    struct exec_warp *exec; /* NULL: free */
    uint32_t *scoreboard;   /* a bit a register: its value is awaited */
    uint32_t *long_board;   /* and comes from memory */
    uint32_t buffer[2];     /* pcs of fetched instructions */
    uint8_t buffered;
    bool fetching; /* an instruction miss is outstanding */
    uint8_t unit;  /* of the next instruction, where it is in one of the sets `needs` */
    uint8_t block;
    uint16_t awaited;   /* registers */
    uint8_t loop_depth; /* calls around the code that `loop` is in */
    uint32_t fetch_pc;
    uint32_t in_pipeline;     /* instructions issued and not finished */
    uint32_t stores, atomics; /* answers expected */
    uint16_t atomic;          /* the instruction in flight, while atomics are expected */
    int32_t loop;             /* innermost loop that it is in */
    uint64_t wake_cycle;      /* asleep until then */
};

/* An instruction between issue and its end. */
struct sm_inflight {
    const struct sm_inst *inst;
    const struct exec_inst *exec_inst;
    uint32_t pc, mask;
    uint32_t remaining; /* answers that it waits for */
    uint32_t performed; /* atomics: lanes in which it has taken effect */
    uint32_t shared_cycles;
    uint16_t slot, accesses; /* index of its access list, SM_NONE: none */
    uint16_t next_access;
    uint8_t space;   /* enum sm_memory, as executed */
    uint8_t written; /* destinations written so far (load/store writeback) */
    bool store, atomic, texture, in_lsu;
    uint8_t route; /* enum sm_route */
    uint8_t packet_kind;
};

struct sm_accesses {
    uint32_t count;
    struct access list[COALESCE_MOST];
};

struct sm_unit_state {
    uint64_t free_at;
    uint64_t occupied[SM_TIME_RING / 64];
    enum collector_kind from;
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

/* An answer that a sleeping core was given, and in which cycle. */
struct sm_held_answer {
    uint64_t cycle;
    uint16_t id;
};
enum { SM_HELD_ANSWERS = 3 }; /* the cycles from its arrival to the writing of its registers */

struct sm_fragment {
    uint16_t id;
    uint16_t missing; /* answers */
    bool miss;
};

struct sm_lsu {
    uint16_t dispatch; /* instruction at work, or SM_NONE */
    bool plain;        /* it only accesses the L1D, once per cycle, without a pipeline in front */
    uint16_t next_wb;  /* instruction whose registers are written next, or SM_NONE */
    uint32_t wb_turn;
    struct ring responses;    /* from the interconnect */
    struct sm_delay *l1_pipe; /* FIFO of l1d.latency_cycles x banks */
    uint32_t l1_head, l1_count, l1_capacity;
    struct sm_instruction_delay *shared_pipe;
    uint32_t shared_head, shared_count, shared_capacity;
    uint16_t texture_hits[64]; /* or results, in order, where there is a queue of fragments */
    uint32_t texture_head, texture_count;
    struct sm_fragment
        *fragments; /* lsu_texture.c: texture accesses under way, in order; NULL: there is no such queue */
    uint32_t fragment_head, fragment_count, fragment_misses;
    uint32_t read_only_waits; /* accesses of the texture and constant caches whose data has not been taken yet */
    uint16_t next_global;     /* answer that bypassed the L1, or SM_NONE */
    struct packet
        access;   /* of the instruction at work: what all its accesses have in common, and the one that is tried */
    int retry;    /* enum cache_fail of the access that was refused, or -1 */
    bool refused; /* and nothing has changed since: not tried again, but counted */
    /* Of the next access of the instruction at work, which found no room in the interconnect; 0: it has not been
     * refused there. */
    uint32_t waits_for_bytes;
    struct sm_held_answer held[SM_HELD_ANSWERS]; /* in order */
    uint32_t held_count;
};

struct sm_deferred {
    uint16_t id;
};

struct sm_block {
    struct exec_cta *cta;
    uint32_t first_warp, warp_count, warps_left;
};

struct sm_scheduler {
    const struct heddle_scheduler *policy;
    void *state;
    uint64_t warps;
};

/* Who hears of each event. The lists are tables of their own: most are empty, and a core looks at the counts only. */
#define SM_EVENTS(X)                              \
    X(kernel)                                     \
    X(kernel_end)                                 \
    X(launched, uint32_t)                         \
    X(ended, uint32_t)                            \
    X(finished, uint32_t)                         \
    X(barrier_wait, uint32_t)                     \
    X(barrier_pass, uint32_t)                     \
    X(issued, const struct heddle_issue *)        \
    X(committed, uint32_t, uint32_t)              \
    X(branch, const struct heddle_branch *)       \
    X(loop, const struct heddle_loop_event *)     \
    X(coalesced, const struct heddle_coalesced *) \
    X(l1_access, const struct heddle_l1_access *) \
    X(l1_evict, const struct heddle_l1_evict *)   \
    X(l1_fill, const struct heddle_l1_fill *) X(held, uint64_t) X(cycles, uint64_t)
#define SM_LIST(name, ...)                                                 \
    struct {                                                               \
        uint32_t count;                                                    \
        struct {                                                           \
            void (*fn)(void *, const struct heddle_core *, ##__VA_ARGS__); \
            void *state;                                                   \
        } * to;                                                            \
    } name;
struct sm_listeners {
    SM_EVENTS(SM_LIST)
};
#define SM_TELL(c, event, ...)                                                                                  \
    do {                                                                                                        \
        for (uint32_t tell_ = 0; tell_ < (c)->listeners.event.count; tell_++)                                   \
            (c)->listeners.event.to[tell_].fn((c)->listeners.event.to[tell_].state, &(c)->view, ##__VA_ARGS__); \
    } while (0)
#define SM_HEARD(c, event) ((c)->listeners.event.count != 0)

/* What decides how a cycle is counted. */
struct sm_seen {
    uint64_t resident, issued, ended, at_barrier, fenced, atomic_wait, no_instruction, clear, long_wait, held,
        unit_free;
};

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
    const struct heddle_policy *policy;
    uint64_t *values; /* policy/counters.h */
    uint32_t value_count;
    uint64_t **histograms;  /* by row; of the others NULL */
    uint64_t *instructions; /* table of the launch at hand, or NULL */
};

/* What a cycle mostly touches stands first, close together: the host's first-level cache does not hold all of all
 * cores. Large tables come behind. */
struct sm {
    const struct sm_config *config;
    const struct sm_program *program;
    uint32_t id, port; /* crossbar port of its cluster */
    uint64_t now;
    uint64_t *wake_at; /* the next cycle in which it must be run; the owner's, as the next one */
    uint32_t *
        blocked_bytes; /* of a packet that finds no room in the interconnect: the core is woken when it does; 0: none */
    uint64_t accounted; /* cycles counted so far, from the machine's start */
    uint64_t ran_until; /* the cycle behind the last in which it was run */
    uint64_t others_at; /* before this cycle nothing but the load/store unit has anything to do, unless that stirs
                           something */
    bool busy;          /* something changed in this cycle */
    bool
        stirred; /* something changed since issue found nothing to do that may let a warp issue, or count differently */
    bool restless; /* the policy may change its mind by itself: issue asks it every cycle */
    bool hears_cycles, hears_l1, hears_fills, hears_held; /* somebody does */
    bool l1_hooks;                                        /* the L1 policy wants to know what becomes of lines */
    bool tells_cycles; /* a scheduler, the L1 policy or the divergence unit hears of cycles; probes change nothing */
    bool l1_stirs;     /* one of those hears of L1 accesses, and may then let warps go */
    bool fetch_valid;
    bool enters_lsu_late; /* instructions enter the load/store unit behind the collectors */
    bool precedes_lsu; /* on this machine something may come before the load/store unit's only step: other steps, hits
                          whose latency stands behind */
    uint32_t writebacks_pending;

    struct collector *collector;
    struct regroup *regroup; /* regroup.c: warps of threads that the unit puts together; NULL: every warp is its own */
    bool mixes; /* and its slots have threads of several warps: slots show faces, not the executor's warps */
    const struct sm_observer *observer;
    struct cache *l1d, *l1c, *l1t, *l1i;
    const struct cache_head *d, *constants, *textures,
        *code; /* their heads; of a cache that is not there: one that never has anything */
    struct sm_lsu lsu;
    struct sm_inflight *inflight;
    struct sm_accesses *access_pool;
    struct crossbar *requests;
    const struct address_map *map;
    const uint64_t *network_now; /* cycles of the interconnect */
    bool tells_written;          /* stores carry what they write (the L2's partial_writes) */
    uint32_t answer_bytes;       /* requests are answered in pieces of so many bytes, aligned */
    uint32_t free_count, free_access_count, deferred_count;
    struct ring instruction_responses;

    /* Sets of warp slots. */
    uint64_t resident, ended, valid, clear, stale, at_barrier, fenced, atomic_wait, asleep, long_wait, next_l1_load,
        wants_fetch;
    uint64_t over;                    /* of those ended: nothing of them is left, and fetch has not come past yet */
    uint64_t needs[SM_UNITS];         /* by the unit of the next instruction */
    uint64_t issued, held, unit_free; /* of this cycle */
    uint32_t held_schedulers;         /* that had nothing but held warps */
    uint64_t held_until;              /* the policies may let them go in this cycle, if nothing else changes before */
    uint64_t parked;                  /* slots without work, of those asleep */
    struct sm_seen seen;              /* of the last cycles, all alike */
    uint64_t seen_cycles;
    struct warp_log *warp_log; /* of each warp, what is counted of all; NULL: nobody wants to know */
    uint64_t cycles_told;
    struct heddle_core view;
    struct sm_scheduler schedulers[SM_SCHEDULERS];

    /* Fetch. */
    uint32_t last_fetched;
    uint32_t fetch_warp, fetch_pc;

    uint32_t outstanding_seen;
    uint32_t blocks_ended; /* since the owner looked */
    uint64_t blocks_used;
    uint32_t block_limit, warps_per_block;
    uint64_t next_age;
    uint32_t unit_count;
    const struct heddle_l1 *l1_policy;
    void *l1_state;
    const struct heddle_divergence *divergence;
    void *divergence_state;
    struct sm_counts counts[SM_POLICIES]; /* scheduler, l1, divergence, probes; policy NULL: there is none */
    uint32_t policy_count;
    void *probe_states[SM_PROBES];
    int32_t *call_loops;        /* by slot and depth of calls: the loop around the call; NULL: nobody asks */
    uint64_t held_before;       /* the last time that schedulers were asked; kept for those that hear of it */
    struct memory_range near;   /* translation of addresses */
    uint32_t core_count;        /* of the machine */
    uint64_t thread_interleave; /* threads of the machine, or of the launch at once, for local memory */
    struct sm_counters counters;

    struct sm_slot slots[CORE_WARPS_MOST];
    uint8_t slot_bank[CORE_WARPS_MOST]; /* slot mod register banks */
    struct heddle_warp warps[CORE_WARPS_MOST];
    struct sm_block blocks[SM_BLOCKS];
    struct sm_listeners listeners;
    uint16_t free_accesses[64];
    struct sm_deferred deferred[SM_DEFERRED];
    uint16_t free_inflight[SM_INFLIGHT];
    /* Issue to writeback. */
    uint8_t writeback_count[SM_TIME_RING];
    uint64_t writeback_bits[SM_TIME_RING / 64];
    uint16_t writeback[SM_TIME_RING][SM_WRITEBACK];
    struct sm_unit_state units[SM_ALU_UNITS];
    struct sm_hits hits;       /* of the load/store unit, where a hit's latency stands behind it */
    struct exec_launch launch; /* the core's own copy */
    char trouble[200];         /* a policy did what it may not: the launch ends with this */
    bool trouble_is_hang;      /* namely left warps without work for ever */
};

/* Makes core `id`, attached to the request crossbar at its cluster's port. */
struct sm *sm_create(struct arena *a, const struct sm_config *config, uint32_t id, uint32_t core_count,
                     const struct sm_policies *policies, struct crossbar *requests, const struct address_map *map,
                     uint32_t answer_bytes, const uint64_t *network_now, struct error *e);
void sm_destroy(struct sm *c); /* what policies hold; the rest is the arena's */
/* A launch begins; its cores are empty. block_limit: blocks of its shape that fit. launch: copied; blocks are made with
 * &c->launch. */
void sm_begin(struct sm *c, struct arena *launch_arena, const struct sm_program *program,
              const struct exec_launch *launch, uint32_t block_limit, uint32_t warps_per_block, uint64_t now);
void sm_end(struct sm *c, uint64_t now);
bool sm_has_room(const struct sm *c);
uint32_t sm_block_count(const struct sm *c);
uint32_t sm_free_block(const struct sm *c);                      /* where the next block is placed: there is room */
void sm_place(struct sm *c, struct exec_cta *cta, uint64_t now); /* cta has been started */
/* One cycle, without what touches device memory; then that, core after core. sm_perform is called in the same cycle. */
void sm_cycle(struct sm *c, uint64_t now);
void sm_perform(struct sm *c);
/* Cycles up to now (exclusive) in which the core slept are counted. */
void sm_account_until(struct sm *c, uint64_t now);
/* An answer from the interconnect: false, there is no room (it is offered again). */
bool sm_accept(struct sm *c, const struct packet *p, uint64_t now);
/* The partition executes an atomic's lanes. */
void sm_perform_atomic(struct sm *c, const struct packet *p);
/* The atomic of a warp of the core that has not taken effect in all its lanes yet; *out stays as it is where there is
 * none. */
void sm_pending(const struct sm *c, const struct exec_warp *w, struct exec_pending *out);
bool sm_idle(const struct sm *c);              /* no resident warp, nothing in flight */
bool sm_has_work(const struct sm *c);          /* instructions that have issued and not ended */
uint64_t sm_kept_back(const struct sm *c);     /* warps that wait for nothing but a scheduler */
uint64_t sm_running_warps(const struct sm *c); /* that have a next instruction */
uint32_t sm_warp_pc(const struct sm *c, uint32_t slot);
void sm_add_counters(struct sm *c, struct sm_counters *sum); /* since they were reset */
void sm_reset_counters(struct sm *c);                        /* those of policies too */
/* One more who hears what policies hear (p->on), for good, and changes nothing. */
void sm_listen(struct sm *c, const struct heddle_policy *p, void *state);

/* Between the files of this room. Whoever changes a set of warps, or what a pipeline takes, says so: c->stirred. */
void sm_retire(struct sm *c, uint32_t slot);  /* warp.c: a warp that is over gives its slot back */
void sm_refresh(struct sm *c, uint32_t slot); /* warp.c: the slot's next instruction has changed, or a register came */
void sm_set_barriers(struct sm *c, uint32_t block);   /* barriers of the block may have opened */
void sm_release(struct sm *c, struct sm_inflight *f); /* its destinations are written */
void sm_finish(struct sm *c, uint16_t id);            /* the instruction is over */
void sm_try_retire(struct sm *c, uint32_t slot);
void sm_stop(struct sm *c, uint32_t slot); /* after a fault: the warp issues nothing more */
void sm_try_fence(struct sm *c,
                  uint32_t slot);  /* a warp that waits at a fence goes on, if what it waits for has come */
void sm_fetch_cycle(struct sm *c); /* fetch.c */
void sm_decode_cycle(struct sm *c);
void sm_issue_cycle(struct sm *c);           /* issue.c */
void sm_coalesce(struct sm *c, uint16_t id); /* lsu_access.c: from the executed instruction to its accesses */
uint64_t sm_first_thread(const struct sm *c,
                         uint32_t slot); /* number of its lane 0 among all threads that share local memory */
void sm_writeback_cycle(struct sm *c);   /* pipeline.c */
void sm_units_cycle(struct sm *c);
uint64_t sm_units_next(const struct sm *c);
uint64_t sm_writeback_next(const struct sm *c);
void sm_textures_init(struct sm *c, struct arena *a); /* lsu_texture.c, where there is a queue of fragments */
void sm_texel_blocks(const struct texture_array *a, uint32_t line_bytes, uint32_t mask,
                     uint64_t address[32]);                   /* from rows to blocks */
bool sm_texture_access(struct sm *c, const struct packet *p); /* true: taken */
void sm_texture_answer(struct sm *c, const struct packet *p);
void sm_texture_cycle(struct sm *c);
static inline bool sm_textures_move(const struct sm_lsu *l)
{
    return l->fragment_count && !l->fragments[l->fragment_head].missing;
}
void sm_lsu_init(struct sm *c, struct arena *a); /* lsu.c */
bool sm_lsu_step(
    struct sm *c); /* the last of the cycle: is there, as far as it can tell, something to do in the next cycle? */
bool sm_lsu_early_step(struct sm *c); /* one before it: the same, but no instruction enters the unit */
/* A sleeping core takes an answer without being run in this cycle; false: it must be run. */
bool sm_lsu_answer(struct sm *c, const struct packet *p, uint64_t now);
/* The same without being run for it at all: the core sleeps on. */
bool sm_lsu_hold_answer(struct sm *c, const struct packet *p, uint64_t now);
void sm_lsu_release_answers(struct sm *c); /* before a cycle, where there are any: to where they are in it */
bool sm_lsu_enter(struct sm *c);           /* behind the collectors: true, an instruction has entered */
void sm_lsu_finish_hits(struct sm *c);     /* whose latency is over: all at once, they take no port */
uint64_t sm_lsu_next(const struct sm *c);
bool sm_l1_attach(struct sm *c, struct error *e); /* l1_policy.c: the policy is there, its instance not yet */
/* Where hears_l1, hears_fills: */
void sm_l1_tell_access(struct sm *c, const struct packet *p, enum cache_outcome outcome, const struct cache_result *r);
void sm_l1_fill_and_tell(struct sm *c, const struct packet *answer);
void sm_l1_drop(struct sm *c); /* as cache_drop and cache_invalidate */
void sm_l1_invalidate(struct sm *c);
bool sm_lsu_idle(const struct sm *c);
void sm_send_misses(struct sm *c, struct cache *cache, enum sm_origin origin);

static inline uint32_t sm_answers(const struct sm *c, uint64_t address, uint32_t bytes)
{
    return (uint32_t)(((address & (c->answer_bytes - 1)) + bytes + c->answer_bytes - 1) / c->answer_bytes);
}

/* To the policies: a parked warp waits for others of its block too. */
static inline void sm_show_barriers(struct sm *c) { c->view.at_barrier = c->at_barrier | c->parked; }

/* Register r of a warp is in bank (r + slot) mod banks. bank: r mod banks. */
static inline uint32_t sm_bank(const struct sm *c, uint32_t bank, uint32_t slot)
{
    bank += c->slot_bank[slot];
    return bank >= c->config->register_banks ? bank - c->config->register_banks : bank;
}

#endif
