/* The model of a core: what a core does in each cycle, written to be read.
 *
 * The model implements src/sm/sm.h, as src/sm does, and gives the same results; src/sm is faster. Here every stage is
 * asked in every cycle, and looks at every warp or entry. Nothing sleeps, and nothing is remembered that can be worked
 * out again. Sets of warps are masks only where policies are shown them. `heddle run --model` runs it.
 *
 * Begin with core.c, which has the order of the stages. Then, in the order in which an instruction meets them:
 *
 *   front.c       fetches and decodes instructions into the buffers of warps
 *   ready.c       says whether a warp may issue its next instruction, and if not, what stops it
 *   issue.c       lets each scheduler pick a warp, and issues the instruction
 *   warp.c        keeps what a warp waits for: registers, barriers, fences; ends warps
 *   collectors.c  reads operands from the register banks
 *   units.c       computes: SP, SFU and DP pipelines, and the writing of their results
 *   subcores.c    the same for machines whose schedulers have pipelines of their own
 *   accesses.c    makes accesses of an executed memory instruction
 *   perform.c     executes, at the end of the cycle, what touches device memory
 *   lsu.c         the load/store unit: sends accesses to shared memory, to the caches and past them
 *   answers.c     takes answers, and writes the registers of memory instructions
 *   way_out.c     sends packets into the interconnect
 *   textures.c    orders the results of texture accesses
 *   l1.c          asks the L1 policy, and reports accesses
 *   policies.c    makes policies, and shows them the core
 *   loops.c       reports loops that warps enter and leave
 *   launch.c      begins and ends launches, and places blocks
 *   count.c       counts where the cycles of warps went
 *   outside.c     answers what else the machine asks of a core
 *
 * Left out: divergence units that regroup threads, timelines, issue orders, and estimates (--sample). */
#ifndef HEDDLE_MODEL_MODEL_H
#define HEDDLE_MODEL_MODEL_H

#include "mem/address_map.h"
#include "mem/coalesce.h"
#include "mem/network.h"
#include "policy/counters.h"
#include "sm/sm.h"

/* The sizes of tables. None limits a machine: sm_create refuses a machine that needs more. */
enum {
    POLICIES = 3 + SM_PROBES,
    LISTENERS = 64,
    SCHEDULERS = 16,
    BLOCKS = 64,
    UNITS = 48,
    COLLECTORS = 64,
    BANKS = 64,
    OPERANDS = 8,
    REGISTERS = 64, /* pipeline registers of one kind */
    QUEUE = 4096,
    ANSWERS = 64,
    CALLS = 64 /* nested calls in which loops are followed */
};

/* Limits of the model itself, which src/sm has too. */
enum {
    INFLIGHT = 1024, /* instructions between issue and end */
    DEFERRED = 32,   /* instructions of one cycle that touch device memory */
    RESULTS = 16     /* results of sub-cores that are written in one cycle */
};

enum { NOTHING = -1 }; /* stands for an instruction where there is none */

/* Which part of the core waits for an answer. */
enum origin { ORIGIN_L1D, ORIGIN_L1C, ORIGIN_L1T, ORIGIN_L1I, ORIGIN_LSU /* the access went past the caches */ };

/* Where the accesses of an instruction go. */
enum route { TO_L1D, TO_CONSTANTS, TO_TEXTURES, PAST_CACHES };

/* Operand collectors and their pipelines. */
enum kind { KIND_SP, KIND_SFU, KIND_MEMORY, KINDS };

/* What is known of a register's value. */
enum value { VALUE_HERE, VALUE_COMES, VALUE_COMES_FROM_MEMORY };

/* What stops a warp from issuing (ready.c). */
enum obstacle {
    OBSTACLE_NONE,
    OBSTACLE_NO_WARP,   /* the slot is free */
    OBSTACLE_ENDED,     /* all lanes have ended */
    OBSTACLE_BARRIER,   /* the warp waits for others of its block */
    OBSTACLE_FENCE,     /* the warp waits for its own registers and stores */
    OBSTACLE_ATOMIC,    /* answers to an atomic have not come */
    OBSTACLE_ASLEEP,    /* the warp issues nothing before a certain cycle */
    OBSTACLE_NO_BUFFER, /* the next instruction has not been fetched */
    OBSTACLE_STALE,     /* the buffer holds what follows a branch that was taken */
    OBSTACLE_MEMORY,    /* an operand comes from memory */
    OBSTACLE_REGISTER,  /* an operand comes from a pipeline */
    OBSTACLE_PIPELINE   /* the pipeline takes no instruction */
};

struct warp {
    struct exec_warp *exec; /* NULL: the slot is free */
    uint32_t block;
    /* The front end. */
    uint32_t buffer[2], buffered; /* pcs of fetched instructions, and how many there are */
    uint32_t fetch_pc;
    bool fetching; /* an instruction is on its way into the buffer */
    /* What the warp waits for. */
    uint8_t *registers;       /* enum value of each */
    uint32_t awaited;         /* registers that are not VALUE_HERE */
    uint32_t in_pipeline;     /* instructions that have issued and not ended */
    uint32_t stores, atomics; /* answers that are still to come */
    uint32_t atomic;          /* the instruction that the answers of `atomics` belong to */
    bool at_barrier, fenced, ended;
    uint64_t asleep_until; /* the warp issues nothing before this cycle */
    /* What happened to the warp in this cycle. */
    bool issued, held, pipeline_open;
    /* Loops. */
    int32_t loop;   /* the innermost loop around the warp, or -1 */
    uint32_t depth; /* calls around it */
};

struct block {
    struct exec_cta *cta; /* NULL: the place is free */
    uint32_t first_warp, warp_count, warps_left;
};

/* An instruction between issue and its end. Others name it by its index. */
struct instruction {
    bool used;
    const struct sm_inst *inst;
    const struct exec_inst *exec_inst;
    uint32_t pc, slot, mask;
    /* Memory instructions. */
    enum sm_memory space; /* as executed */
    enum route route;
    enum packet_kind packet_kind;
    bool store, atomic, texture;
    bool in_lsu;           /* the load/store unit is at work on it */
    bool adds_up;          /* a shared-memory atomic: its warp adds up before one lane accesses */
    uint32_t remaining;    /* answers that it waits for */
    uint32_t performed;    /* atomics: lanes in which it has taken effect */
    uint32_t bank_cycles;  /* cycles in which it has the banks of shared memory or of the L1 */
    uint32_t more_latency; /* of shared memory, beyond the machine's shared_latency */
    uint32_t written;      /* destinations whose bank has been written */
    uint32_t access_count, next_access;
    struct access accesses[COALESCE_MOST];
};

/* A first-in first-out queue of instructions, each with the cycle from which it may leave. list[0] is the oldest. */
struct delayed {
    uint64_t ready;
    uint32_t id;
};
struct delays {
    uint32_t count;
    struct delayed list[QUEUE];
};

/* The pipeline before the L1D. */
struct l1_pipe {
    uint32_t count, capacity;
    struct {
        uint64_t ready;
        struct packet packet;
    } list[QUEUE];
};

/* Answers from the interconnect that nobody has looked at. */
struct answers {
    uint32_t count, limit;
    struct packet list[ANSWERS];
};

/* Texture accesses in the order of their results (textures.c). */
struct fragment {
    uint32_t id;
    uint32_t missing; /* answers that are still to come */
    bool miss;
};
struct fragments {
    uint32_t count;
    struct fragment list[QUEUE];
};

struct lsu {
    int32_t at_work;        /* the instruction that sends its accesses, or NOTHING */
    uint64_t atomics_from;  /* the cycle from which the next access of an atomic may be sent */
    int32_t writes;         /* the instruction whose registers are being written, or NOTHING */
    uint32_t turn;          /* the client of writeback that is asked first */
    struct answers answers; /* for the caches, and for accesses that went past them */
    struct l1_pipe l1_pipe;
    struct delays shared_pipe, hits, texture_results;
    uint32_t shared_room; /* instructions that shared_pipe holds at most */
    struct fragments fragments;
    uint32_t fragments_left; /* fragments that have left the queue since the machine's start */
    int32_t past_l1;         /* an answer that went past the caches and waits for writeback, or NOTHING */
};

/* An operand collector. */
struct collecting {
    int32_t id; /* its instruction, or NOTHING */
    uint64_t age;
    uint32_t operands;    /* those not received yet */
    bool ready, received; /* all operands are here; one has come in this step */
};

/* An instruction that waits in a pipeline register. */
struct waiting {
    uint32_t id;
    uint64_t age;
    uint32_t operands;
    uint32_t banks[OPERANDS];
};

struct collector_kind {
    uint32_t first, count; /* its collectors, in struct collectors.list */
    uint32_t ports;        /* instructions that enter them, and that leave them, in one step */
    uint32_t width;        /* pipeline registers before them, and as many after them */
    uint32_t last;         /* the collector that was emptied last */
    uint32_t waiting_count, done_count;
    struct waiting waiting[REGISTERS], done[REGISTERS]; /* before and after the collectors, the oldest first */
};

struct collectors {
    struct collector_kind kinds[KINDS];
    struct collecting list[COLLECTORS];
    uint32_t count, bank_count, first_bank;
    uint64_t next_age;
    bool written[BANKS]; /* the bank has been written in this step */
    struct {
        uint32_t count;
        uint32_t list[COLLECTORS * OPERANDS]; /* collectors, in the order in which they asked */
    } requests[BANKS];
};

/* An instruction in a unit. */
struct executing {
    uint32_t id, unit;
    uint64_t end;
};

struct unit {
    enum kind kind;
    uint64_t free_at;
};

/* The pipelines of one scheduler (subcores.c). */
struct subcore {
    uint64_t issues_from;       /* the cycle from which its scheduler issues again */
    uint64_t free_at[SM_UNITS]; /* when each pipeline takes an instruction, in eighths of a cycle */
};

struct subcores {
    struct subcore list[SCHEDULERS];
    uint64_t barriers_from; /* the cycle from which a warp may arrive at a barrier, which all sub-cores share */
    uint64_t fences_from;   /* the cycle in which the next fence of the whole GPU begins, at the earliest */
    uint32_t memory_turn;   /* one more than the sub-core that last went to memory */
};

struct sm_scheduler {
    const struct heddle_scheduler *policy;
    void *state;
    uint64_t warps; /* slots that it owns */
};

struct listener {
    struct heddle_events on;
    void *state;
};

/* Calls a hook of everybody who has it. */
#define TELL(c, event, ...)                                                                             \
    do {                                                                                                \
        for (uint32_t tell_ = 0; tell_ < (c)->listener_count; tell_++)                                  \
            if ((c)->listeners[tell_].on.event)                                                         \
                (c)->listeners[tell_].on.event((c)->listeners[tell_].state, &(c)->view, ##__VA_ARGS__); \
    } while (0)

struct sm {
    struct sm_head head; /* first: src/gpu reads it */
    struct sm_wires wires;
    const struct sm_config *config;
    const struct sm_program *program;
    struct exec_launch launch;
    uint64_t now;
    uint32_t core_count, warps_per_block, block_limit;
    uint64_t next_age, thread_interleave;
    struct memory_range near; /* where addresses were last found */

    struct warp warps[CORE_WARPS_MOST];
    struct block blocks[BLOCKS];
    struct instruction inflight[INFLIGHT];
    uint32_t deferred[DEFERRED]; /* instructions of this cycle that touch device memory; head.deferred of them */

    uint32_t last_fetched;
    bool decodes; /* an instruction has been fetched, and is decoded in the next cycle */
    uint32_t decode_slot, decode_pc;
    struct answers code_answers;
    struct collectors collectors;
    struct unit units[UNITS];
    uint32_t unit_count, executing_count;
    struct executing executing[INFLIGHT]; /* in the order in which they began */
    bool has_subcores;                    /* its schedulers have pipelines of their own */
    struct subcores subcores;
    struct lsu lsu;
    struct cache *l1d, *l1c, *l1t, *l1i;

    /* Policies, and what they are shown. */
    struct heddle_core view;
    struct heddle_warp shown[CORE_WARPS_MOST];
    int32_t caller_loop[CORE_WARPS_MOST][CALLS]; /* by slot and depth: the loop around the call */
    struct sm_scheduler schedulers[SCHEDULERS];
    const struct heddle_l1 *l1_policy;
    const struct heddle_divergence *divergence;
    void *l1_state, *divergence_state, *probe_states[SM_PROBES];
    struct listener listeners[LISTENERS];
    uint32_t listener_count;
    uint64_t held_before;   /* warps that were held in the last cycle */
    uint64_t untold_cycles; /* cycles that policies have not heard of */
    bool had_warps;         /* the core had warps when cycles were last reported */
    char trouble[200];      /* what a policy did that it may not */

    /* Counters. */
    struct sm_counters counters;
    struct sm_counts counts[POLICIES];
    uint32_t policy_count;
    struct warp_log *warp_log;
    struct stall_log *stall_log;
};

/* ready.c */
enum obstacle model_obstacle(const struct sm *c, const struct warp *w);
const struct sm_inst *model_next(const struct sm *c, const struct warp *w); /* NULL: there is none, or it is stale */
bool model_awaits_memory(const struct sm *c, const struct warp *w);         /* for an operand of its next instruction */
bool model_next_is_l1_load(const struct sm *c, const struct warp *w);       /* or an atomic */
bool model_pipeline_takes(const struct sm *c, uint32_t slot);
enum kind model_kind(const struct sm *c, const struct sm_inst *in);

/* warp.c */
void model_look_at_next(struct sm *c, uint32_t slot);  /* the warp's next instruction or its lanes have changed */
void model_look_at_fence(struct sm *c, uint32_t slot); /* the warp goes on, if what its fence waits for has come */
void model_look_at_end(struct sm *c, uint32_t slot);   /* the warp gives its slot back, if nothing of it is left */
void model_set_barriers(struct sm *c, uint32_t block); /* a barrier of the block may have opened */
void model_end(struct sm *c, uint32_t id);             /* the instruction's registers are written: it is over */
void model_nap(struct sm *c, uint32_t slot, uint32_t cycles); /* the warp issues nothing before */
void model_stop(struct warp *w);                              /* the warp issues nothing more, after a fault */
bool model_is_over(const struct warp *w);                     /* it has ended, and nothing of it is left */
void model_retire(struct sm *c, uint32_t slot);

/* The stages of a cycle. */
void model_decode(struct sm *c); /* front.c */
void model_fetch(struct sm *c);
void model_issue(struct sm *c);           /* issue.c */
void model_collectors_step(struct sm *c); /* collectors.c */
void model_write_results(struct sm *c);   /* units.c */
void model_start_units(struct sm *c);
void model_end_hits(struct sm *c); /* answers.c */
void model_lsu_step(struct sm *c); /* lsu.c */
void model_lsu_enter(struct sm *c);
void model_count(struct sm *c); /* count.c */

/* collectors.c */
void model_collectors_init(struct sm *c);
bool model_collectors_accept(const struct sm *c, enum kind kind); /* a register before the collectors is free */
bool model_collectors_limit(const struct sm *c, enum kind kind); /* all are in use, but a register after them is free */
void model_collect(struct sm *c, enum kind kind, uint32_t id);   /* into that register */
bool model_write_bank(struct sm *c, uint32_t slot, uint32_t bank); /* false: it has been written in this step */
int32_t model_collected(const struct sm *c, enum kind kind);       /* the oldest with all operands, or NOTHING */
void model_take_collected(struct sm *c, enum kind kind);
bool model_collectors_empty(const struct sm *c);

/* units.c */
void model_units_init(struct sm *c);
void model_end_at(struct sm *c, uint32_t id, uint32_t unit, uint64_t end);

/* subcores.c */
bool model_subcore_takes(const struct sm *c, uint32_t slot, const struct sm_inst *in);
void model_subcore_start(struct sm *c, uint32_t scheduler, uint32_t id);
void model_subcore_wait(struct sm *c, uint32_t slot, const struct sm_inst *in);
void model_fill_buffer(struct sm *c, uint32_t slot);  /* the next instruction is always there */
void model_run_vanished(struct sm *c, uint32_t slot); /* those before the one that issues */

/* accesses.c, perform.c */
void model_find_accesses(struct sm *c, uint32_t id);
uint8_t model_sectors(const struct sm *c, const struct instruction *f, const struct access *a);

/* lsu.c */
void model_lsu_init(struct sm *c);
bool model_lsu_empty(const struct sm *c);

/* answers.c */
void model_take_answer(struct sm *c);
void model_writeback(struct sm *c);
void model_delay(struct delays *q, uint32_t id, uint64_t ready);
void model_hit(struct sm *c, uint32_t id); /* a load has found its data in the L1D or the constant cache */
void model_acknowledge_store(struct sm *c, uint32_t slot);
void model_answer_atomic(struct sm *c, uint32_t id); /* its warp waits for one answer less, if it is an atomic */

/* way_out.c */
bool model_send(struct sm *c, struct packet *p); /* false: there is no room */
void model_send_miss(struct sm *c, struct cache *cache, enum origin origin);
uint32_t model_answers(const struct sm *c, const struct packet *request); /* packets that answer it */

/* l1.c */
bool model_l1_init(struct sm *c, struct error *e);
void model_l1_tell(struct sm *c, const struct packet *p, enum cache_outcome outcome, const struct cache_result *r);
void model_l1_fill(struct sm *c, const struct packet *answer);
void model_l1_invalidate(struct sm *c);
void model_l1_drop(struct sm *c); /* lines that are on their way still come */

/* textures.c */
bool model_has_texture_queue(const struct sm *c);
void model_texel_blocks(const struct texture_array *a, uint32_t line_bytes, uint32_t mask,
                        uint64_t address[WARP_LANES]);
bool model_texture_access(struct sm *c, const struct packet *p); /* false: there is no room */
void model_texture_answer(struct sm *c, const struct packet *p);
void model_textures_step(struct sm *c);

/* policies.c, loops.c */
bool model_make_policies(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e);
void model_make_tables(struct sm *c, struct arena *launch_arena);
void model_show_resident(struct sm *c); /* a warp has come, ended or gone */
void model_show_barriers(struct sm *c);
void model_show_sets(struct sm *c); /* what warps wait for, before schedulers are asked */
void model_tell_loops(struct sm *c, uint32_t slot, uint32_t pc);

static inline const uint32_t *model_destinations(const struct sm_inst *in)
{
    return in->registers + in->check_count - in->destination_count;
}

#endif
