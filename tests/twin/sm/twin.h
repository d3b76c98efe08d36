/* The slow twin of a core (src/sm): the same interface to the machine, another implementation, for tests alone.
 *
 * It is written to be checked by reading. Every cycle every stage is asked, and looks at every warp or entry; nothing
 * sleeps, nothing is remembered that can be worked out again, and a set of warps is a boolean in each warp. Masks exist
 * only where policies are shown them. Linked in place of src/sm: this is what is behind src/sm/sm.h here.
 *
 *   core.c        making a core, launches, the order of stages in a cycle, what it counts
 *   policies.c    schedulers, L1 policy, divergence unit and probes: how they are made, what they are shown
 *   warp.c        what a warp's next instruction is and what it waits for; barriers, fences, ends
 *   front.c       fetch and decode
 *   issue.c       schedulers and what happens when an instruction issues
 *   loops.c       which loops a warp enters and leaves
 *   collectors.c  register banks, operand collectors and the pipeline registers around them
 *   units.c       SP, SFU and DP pipelines
 *   accesses.c    from an executed memory instruction to its accesses
 *   lsu.c         the load/store unit
 *   l1.c          what the L1 policy decides, and who is told of accesses
 *   textures.c    the texture cache with a queue of accesses in order
 *
 * Left out: divergence units that regroup warps, and observers (timelines). */
#ifndef HEDDLE_TWIN_SM_H
#define HEDDLE_TWIN_SM_H

#include "mem/address_map.h"
#include "mem/coalesce.h"
#include "mem/network.h"
#include "policy/counters.h"
#include "sm/sm.h"

enum {
    POLICIES = 3 + SM_PROBES,
    LISTENERS = 64,
    SCHEDULERS = 16,
    BLOCKS = 64,
    INFLIGHT = 1024, /* instructions between issue and end: more do not issue */
    DEFERRED = 32,   /* of them, in a cycle, those that touch device memory */
    UNITS = 48,
    COLLECTORS = 64,
    BANKS = 64,
    OPERANDS = 8,
    REGISTERS = 64, /* pipeline registers of one kind, more than any machine has */
    QUEUE = 4096,   /* places of a queue whose true limit is the machine's */
    ANSWERS = 64,   /* from the interconnect that wait for the load/store unit */
    CALLS = 64      /* nested calls in which loops are followed */
};

/* Which part of the core waits for an answer. */
enum origin { ORIGIN_L1D, ORIGIN_L1C, ORIGIN_L1T, ORIGIN_L1I, ORIGIN_LSU /* past the caches */ };

/* Where the accesses of an instruction go. */
enum route { TO_L1D, TO_CONSTANTS, TO_TEXTURES, PAST_CACHES };

enum kind { KIND_SP, KIND_SFU, KIND_MEMORY, KINDS };

/* What is known of a register's value. */
enum value { VALUE_HERE, VALUE_COMES, VALUE_COMES_FROM_MEMORY };

struct warp {
    struct exec_warp *exec; /* NULL: the slot is free */
    uint32_t block;
    /* Front end. */
    uint32_t buffer[2], buffered; /* pcs of fetched instructions */
    uint32_t fetch_pc;
    bool fetching; /* an instruction is on its way into the buffer */
    /* What it waits for. */
    uint8_t *registers;       /* enum value of each */
    uint32_t awaited;         /* registers that are not VALUE_HERE */
    uint32_t in_pipeline;     /* instructions that have issued and not ended */
    uint32_t stores, atomics; /* answers expected */
    uint32_t atomic;          /* the instruction whose answers those of atomics are */
    bool at_barrier, fenced, ended;
    bool asleep;
    uint64_t asleep_until;
    /* This cycle. */
    bool issued, held, pipeline_open;
    /* Loops. */
    int32_t loop;   /* innermost that it is in, or -1 */
    uint32_t depth; /* calls around it */
};

struct block {
    struct exec_cta *cta; /* NULL: free */
    uint32_t first_warp, warp_count, warps_left;
};

/* An instruction between issue and its end. Named by its index. */
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
    bool in_lsu;            /* at work in the load/store unit */
    uint32_t remaining;     /* answers that it waits for */
    uint32_t performed;     /* atomics: lanes in which it has taken effect */
    uint32_t shared_cycles; /* that it takes in the load/store unit */
    uint32_t written;       /* destinations whose bank has been written */
    uint32_t access_count, next_access;
    struct access accesses[COALESCE_MOST];
};

/* A first-in first-out queue of instructions, each with the cycle from which it may leave. */
struct delayed {
    uint64_t ready;
    uint32_t id;
};
struct delays {
    uint32_t count;
    struct delayed list[QUEUE]; /* the first is the oldest */
};

/* The pipeline in front of the L1D. */
struct l1_pipe {
    uint32_t count, capacity;
    struct {
        uint64_t ready;
        struct packet packet;
    } list[QUEUE];
};

struct answers {
    uint32_t count, limit;
    struct packet list[ANSWERS];
};

/* Texture accesses in the order of their results (textures.c). */
struct fragment {
    uint32_t id, missing; /* answers */
    bool miss;
};
struct fragments {
    uint32_t count;
    struct fragment list[QUEUE];
};

enum { NOTHING = -1 }; /* in place of an instruction */

struct lsu {
    int32_t at_work; /* instruction, or NOTHING */
    int32_t writes;  /* instruction whose registers are being written, or NOTHING */
    uint32_t turn;   /* of the clients of writeback */
    struct answers responses;
    struct l1_pipe l1_pipe;
    struct delays shared_pipe, hits, texture_results;
    struct fragments fragments; /* and where they went in the texture cache's tokens */
    uint32_t fragments_left;    /* the queue since the machine's start: number of the first */
    int32_t past_l1;            /* answer that bypassed the L1, or NOTHING */
};

struct collecting {
    int32_t id; /* instruction, or NOTHING */
    uint64_t age;
    uint32_t operands; /* not received yet */
    bool ready, received;
};

/* An instruction that waits in a pipeline register. */
struct waiting {
    uint32_t id;
    uint64_t age;
    uint32_t operands;
    uint32_t banks[OPERANDS];
};

struct collector_kind {
    uint32_t first, count, ports, width; /* its collectors; width: pipeline registers in front and behind */
    uint32_t last;                       /* collector that was emptied last */
    uint32_t waiting_count, done_count;
    struct waiting waiting[REGISTERS], done[REGISTERS]; /* ID/OC and OC/EX, oldest first */
};

struct collectors {
    struct collector_kind kinds[KINDS];
    struct collecting list[COLLECTORS];
    uint32_t count, bank_count, first_bank;
    uint64_t next_age;
    bool written[BANKS]; /* in this step */
    struct {
        uint32_t count;
        uint32_t list[COLLECTORS * OPERANDS]; /* collectors, in order of arrival */
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
    struct sm_head head; /* first, as src/gpu expects */
    struct sm_wires wires;
    const struct sm_program *program;
    struct exec_launch launch;
    struct sm_counters counters;
    struct heddle_core view;
    struct sm_scheduler schedulers[SCHEDULERS];
    struct sm_counts counts[POLICIES];
    uint32_t policy_count;
    const struct heddle_l1 *l1_policy;
    const struct heddle_divergence *divergence;
    struct cache *l1d, *l1c, *l1t, *l1i;
    struct warp_log *warp_log;
    struct stall_log *stall_log;
    uint32_t block_limit;
    char trouble[200]; /* a policy did what it may not */

    const struct sm_config *config;
    uint64_t now;
    uint32_t core_count, warps_per_block;
    uint64_t next_age, thread_interleave;
    struct memory_range near;
    struct listener listeners[LISTENERS];
    uint32_t listener_count;
    void *l1_state, *divergence_state, *probe_states[SM_PROBES];

    struct warp warps[CORE_WARPS_MOST];
    struct heddle_warp shown[CORE_WARPS_MOST];   /* as policies see them */
    int32_t caller_loop[CORE_WARPS_MOST][CALLS]; /* by slot and depth: the loop around the call */
    struct block blocks[BLOCKS];
    struct instruction inflight[INFLIGHT];
    uint32_t deferred[DEFERRED];
    uint64_t held_before;   /* warps that were held in the last cycle */
    uint64_t untold_cycles; /* to policies */
    bool had_warps;         /* when they were last told */

    uint32_t last_fetched;
    bool decodes; /* an instruction has been fetched, and is decoded in the next cycle */
    uint32_t decode_slot, decode_pc;
    struct answers code_responses;

    struct collectors collectors;
    struct unit units[UNITS];
    uint32_t unit_count, executing_count;
    struct executing executing[INFLIGHT]; /* in the order in which they began */
    struct lsu lsu;
};

/* policies.c */
bool twin_make_policies(struct sm *c, struct arena *a, const struct sm_policies *p, struct error *e);
void twin_make_tables(struct sm *c, struct arena *launch_arena);
void twin_show_warp(struct sm *c, uint32_t slot); /* its next instruction or its lanes have changed */
void twin_show_resident(struct sm *c);            /* a warp has come, ended or gone */
void twin_show_barriers(struct sm *c);
void twin_show_sets(struct sm *c); /* what warps wait for, before schedulers are asked */

/* warp.c */
bool twin_is_stale(const struct sm *c, const struct warp *w);              /* has fetched past a branch */
const struct sm_inst *twin_next(const struct sm *c, const struct warp *w); /* NULL: none, or stale */
bool twin_has_operands(const struct sm *c, const struct warp *w);
bool twin_waits_for_memory(const struct sm *c, const struct warp *w);
bool twin_next_is_l1_load(const struct sm *c, const struct warp *w);
bool twin_may_issue(const struct sm *c, const struct warp *w); /* waits neither at a barrier nor for anything like it */
void twin_set_barriers(struct sm *c, uint32_t block);          /* barriers of the block may have opened */
void twin_release(struct sm *c, uint32_t id);                  /* its destinations are written */
void twin_finish(struct sm *c, uint32_t id);                   /* the instruction is over */
void twin_look_at_fence(struct sm *c, uint32_t slot);
void twin_look_at_end(struct sm *c, uint32_t slot);
bool twin_is_over(const struct warp *w); /* it has ended, and nothing of it is left */
void twin_retire(struct sm *c, uint32_t slot);
void twin_stop(struct warp *w); /* after a fault */

/* The stages. */
void twin_decode(struct sm *c); /* front.c */
void twin_fetch(struct sm *c);
void twin_issue(struct sm *c); /* issue.c */
bool twin_pipeline_takes(const struct sm *c, const struct sm_inst *in);
void twin_tell_loops(struct sm *c, uint32_t slot, uint32_t pc);   /* loops.c */
void twin_collectors_init(struct sm *c);                          /* collectors.c */
bool twin_collectors_accept(const struct sm *c, enum kind kind);  /* an ID/OC register is free */
void twin_collect(struct sm *c, enum kind kind, uint32_t id);     /* into it */
bool twin_write_bank(struct sm *c, uint32_t slot, uint32_t bank); /* false: already written in this step */
void twin_collectors_step(struct sm *c);
int32_t twin_collected(const struct sm *c, enum kind kind); /* the oldest in an OC/EX register, or NOTHING */
void twin_take_collected(struct sm *c, enum kind kind);
bool twin_collectors_empty(const struct sm *c);
void twin_units_init(struct sm *c); /* units.c */
void twin_writeback(struct sm *c);
void twin_start_units(struct sm *c);
void twin_find_accesses(struct sm *c, uint32_t id); /* accesses.c */
void twin_lsu_init(struct sm *c);                   /* lsu.c */
void twin_lsu_end_hits(struct sm *c);
void twin_lsu_step(struct sm *c);
void twin_lsu_enter(struct sm *c);
bool twin_lsu_empty(const struct sm *c);
void twin_send_miss(struct sm *c, struct cache *cache, enum origin origin);
bool twin_l1_init(struct sm *c, struct error *e); /* l1.c */
void twin_l1_tell(struct sm *c, const struct packet *p, enum cache_outcome outcome, const struct cache_result *r);
void twin_l1_fill(struct sm *c, const struct packet *answer);
void twin_l1_flush(struct sm *c, bool reserved); /* those on their way too: there are none */
bool twin_has_texture_queue(const struct sm *c); /* textures.c */
void twin_texel_blocks(const struct texture_array *a, uint32_t line_bytes, uint32_t mask, uint64_t address[32]);
bool twin_texture_access(struct sm *c, const struct packet *p);
void twin_texture_answer(struct sm *c, const struct packet *p);
void twin_textures_step(struct sm *c);

/* Packets in which a request is answered. */
static inline uint32_t twin_answers(const struct sm *c, const struct packet *p)
{
    return pieces_count(&c->wires.cut, p);
}

static inline const uint32_t *twin_destinations(const struct sm_inst *in)
{
    return in->registers + in->check_count - in->destination_count;
}

#endif
