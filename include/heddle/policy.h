/* The interface of all policies: warp schedulers, L1 data cache policies, divergence units, probes.
 *
 * A policy is one C file that defines a const struct of function pointers, with unused hooks left NULL, and declares
 * its parameters and counters. It sees this header and nothing else. Compiled to a shared object it runs with `heddle
 * run -s ./mine.so` (docs/add-a-policy.md); the built-in ones use the same interface.
 *
 * Sets of warps are 64-bit masks, bit i for warp slot i of the core. Hooks are called from the core that they belong
 * to; instances of different cores may be called from different threads at the same time, so a policy keeps no mutable
 * globals. */
#ifndef HEDDLE_POLICY_H
#define HEDDLE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_POLICY_ABI  9
#define HEDDLE_WARPS       64
#define HEDDLE_NO_WARP     (-1)
#define HEDDLE_NO_PC       UINT32_MAX
#define HEDDLE_NO_REGISTER UINT32_MAX

/* Parameters: `-s name:key=value,key=value`. Values arrive in the order of the table. */
enum heddle_param_type {
    HEDDLE_INTEGER,
    HEDDLE_REAL,
    HEDDLE_CHOICE,
    HEDDLE_FLAG,
    HEDDLE_TEXT /* a file's name, say: anything without a comma */
};
struct heddle_param {
    const char *name;
    enum heddle_param_type type;
    const char *default_value;  /* as one would write it */
    const char *help;           /* one line */
    double least, most;         /* INTEGER and REAL; both 0 means no bounds */
    const char *const *choices; /* CHOICE: names, NULL at the end; the value is the index */
};
union heddle_value {
    int64_t integer; /* CHOICE: its index; FLAG: 0 or 1 */
    double real;
    const char *text;
};

/* Counters that a policy keeps, in the results under policy name . counter name. Over the instances of all cores and
 * over launches, sums and the buckets of histograms are added up; of maxima the largest counts. */
enum heddle_counter_kind { HEDDLE_SUM, HEDDLE_MAXIMUM, HEDDLE_HISTOGRAM };
struct heddle_counter {
    const char *name, *unit, *help;
    enum heddle_counter_kind kind; /* not said: a sum */
    uint32_t buckets;              /* of a histogram: 1 to HEDDLE_BUCKETS */
};
enum { HEDDLE_BUCKETS = 1024 };

/* What an instruction is, the same for all warps. Indices into heddle_program.instructions are the "pc" of all
 * hooks. */
enum {
    HEDDLE_LOAD = 1 << 0, /* reads global, local, shared, constant or texture memory */
    HEDDLE_STORE = 1 << 1,
    HEDDLE_ATOMIC = 1 << 2,
    HEDDLE_LONG = 1 << 3,     /* its result may take a trip to memory: load from global, local or texture space, or an
                                 atomic with a result */
    HEDDLE_L1D_LOAD = 1 << 4, /* load from global or local space: what CCWS and DAWS hold back */
    HEDDLE_SHARED = 1 << 5,
    HEDDLE_TEXTURE = 1 << 6,
    HEDDLE_CONST = 1 << 7,
    HEDDLE_BRANCH = 1 << 8,
    HEDDLE_BARRIER = 1 << 9,
    HEDDLE_FENCE = 1 << 10,
    HEDDLE_EXIT = 1 << 11,
    HEDDLE_CALL = 1 << 12,
    HEDDLE_UNIFORM = 1 << 13,
    HEDDLE_DATA_BRANCH = 1 << 14, /* conditional branch whose predicate depends on loaded data, not on thread indices
                                     and parameters alone (a D-branch) */
};
/* Where an instruction stands among the phases of its function (PAWS): runs of instructions in the order of the text of
 * which none reads what a load of the same run brings. */
struct heddle_phase {
    uint32_t number;              /* from 1 */
    uint32_t distance;            /* latencies from the instruction to the end of its phase, both inclusive */
    uint32_t length, next_length; /* of the phase, of the next one (0 means none) */
};
enum {
    HEDDLE_PHASES,
    HEDDLE_PHASES_OF_REPORT /* a load that reads its own destination begins a phase, and is then forgotten */,
    HEDDLE_PHASE_ORDERS
};
enum { HEDDLE_SOURCES = 8, HEDDLE_DESTINATIONS = 4 };
struct heddle_instruction {
    uint16_t latency, initiation; /* of the unit, cycles */
    uint16_t flags;
    uint8_t source_count, destination_count;
    uint32_t source[HEDDLE_SOURCES],
        destination[HEDDLE_DESTINATIONS]; /* register numbers, unique in the program; the guard is a source */
    uint32_t address; /* loads, stores, atomics: register of the address (one of the sources), or HEDDLE_NO_REGISTER */
    int32_t offset;   /* constant that is added to it, bytes */
    uint32_t target;  /* branches: taken, where one is known; else HEDDLE_NO_PC */
    uint32_t reconvergence; /* conditional branches: immediate post-dominator, or HEDDLE_NO_PC */
    int32_t loop;           /* innermost loop around it: index into loops, or -1 */
    uint32_t line;          /* of the PTX text */
    struct heddle_phase phase[HEDDLE_PHASE_ORDERS];
};
struct heddle_loop {
    uint32_t begin, end; /* first instruction; last instruction + 1 */
    uint32_t header;
    int32_t parent;
    uint32_t depth;
};
struct heddle_program {
    const char *kernel;
    const struct heddle_instruction *instructions;
    uint32_t instruction_count;
    const struct heddle_loop *loops;
    uint32_t loop_count;
};

/* A warp slot as policies see it. Kept up to date by the core; read only. */
struct heddle_warp {
    uint64_t age; /* dynamic id, in order of launch on the core: smaller is older */
    uint64_t launch_cycle;
    uint64_t issued;  /* instructions so far */
    uint32_t next_pc; /* of the instruction in its buffer: of a candidate that is not ready, one that will be dropped;
                         HEDDLE_NO_PC means none */
    uint32_t active;  /* lanes of the path that runs */
    uint32_t block;   /* slot of its block in the core */
    uint32_t index;   /* in its block */
    uint64_t block_index; /* in the grid, linear */
};

/* The core, shared by its schedulers, its L1 policy and its divergence unit. */
struct heddle_core {
    uint32_t id, warp_slots, scheduler_count, block_slots;
    uint32_t l1_sets, l1_ways, l1_line_bytes;
    uint64_t cycle;  /* core cycles since the machine started */
    uint64_t kernel; /* counts launches, from 0 */
    const struct heddle_program *program;
    uint64_t resident, ready, at_barrier, waiting,
        long_wait; /* resident: not ended; ready: could issue now (in pick and hold: of this scheduler, in cycles: of
                    * the core); at_barrier: or parked by the divergence unit; waiting: the same, or at a fence or
                    * atomic; long_wait: next instruction needs the result of an outstanding long operation */
    /* next instruction is a HEDDLE_L1D_LOAD, or an atomic of the same spaces: what hold_loads may hold back */
    uint64_t next_is_l1_load;
    const struct heddle_warp *warp; /* by slot */
    /* State that policies of one core share: 0 among its schedulers (a table that the first one makes in init), 1 the
     * criticality of heddle/criticality.h, 2 and 3 free for the policies of a bundle, as they agree */
    void *shared[4];
};

/* Events. Each goes to the schedulers (every one of the core, also for warps of another), to the L1 policy and to the
 * divergence unit where they listen. In a hook, core->cycle is the cycle of the event, and the core's masks say how
 * things are after it; issued, branch and loop come before the warp moves on. */
struct heddle_issue {
    uint32_t warp, pc, active /* lanes that execute it, guard considered */, path /* lanes of the path */;
    const struct heddle_instruction *instruction;
};
/* Every branch that was executed. Unconditional: all lanes of the path in taken. target: HEDDLE_NO_PC where lanes go to
 * several. */
struct heddle_branch {
    uint32_t warp, pc, taken, not_taken, target, fall_through, reconvergence;
    bool apart; /* in `split` alone: lanes of the warp wait on another path of its own stack (HEDDLE_STACK) */
};
enum heddle_loop_step { HEDDLE_LOOP_ENTER, HEDDLE_LOOP_ITERATE, HEDDLE_LOOP_LEAVE };
struct heddle_loop_event {
    uint32_t warp, pc, active;
    int32_t loop;
    enum heddle_loop_step step;
};
/* At issue, a load, store or atomic of global, local or texture memory. Its L1 accesses follow later, those of a warp
 * in the order of its instructions; there are none of what goes past the L1D (atomics, .cg, textures). */
struct heddle_coalesced {
    uint32_t warp, pc, active, accesses;
    bool store;
    bool through_l1; /* the accesses go through the L1D */
};
enum heddle_outcome { HEDDLE_HIT, HEDDLE_MISS, HEDDLE_PENDING, HEDDLE_FAIL };
struct heddle_l1_access {
    uint64_t address; /* of the line */
    uint32_t warp, pc;
    enum heddle_outcome outcome;
    bool store, local;
    int32_t owner; /* warp slot that brought the line (hits, pending hits), else -1 */
    uint64_t owner_age;
    uint32_t set, way; /* way UINT32_MAX means none */
    uint32_t left;     /* accesses of the same instruction that are still to come: 0, this was its last */
    uint32_t lanes;    /* that it serves; 0 means not known, on machines that follow which bytes are read or written */
};
/* The data of a miss has come, before those who wait for it are answered. */
struct heddle_l1_fill {
    uint64_t address;  /* of the line */
    uint32_t warp, pc; /* of the access that asked for it first */
    uint32_t set, way; /* way UINT32_MAX means that it takes no line (bypassed) */
};
struct heddle_l1_evict {
    uint64_t address;
    int32_t owner;
    uint64_t owner_age;
    uint32_t by_warp, set, way;
};

struct heddle_events {
    void (*kernel)(void *state,
                   const struct heddle_core *core); /* a launch begins: program is set, no warp is resident */
    void (*kernel_end)(void *state, const struct heddle_core *core);
    void (*launched)(void *state, const struct heddle_core *core, uint32_t warp);
    /* its last lanes have ended; its loads and stores may still be under way */
    void (*ended)(void *state, const struct heddle_core *core, uint32_t warp);
    /* nothing of it is left, and its slot is free */
    void (*finished)(void *state, const struct heddle_core *core, uint32_t warp);
    void (*barrier_wait)(void *state, const struct heddle_core *core, uint32_t warp);
    void (*barrier_pass)(void *state, const struct heddle_core *core, uint32_t warp);
    void (*issued)(void *state, const struct heddle_core *core, const struct heddle_issue *e);
    void (*committed)(void *state, const struct heddle_core *core, uint32_t warp,
                      uint32_t pc); /* results written; stores: left the load/store unit */
    void (*branch)(void *state, const struct heddle_core *core, const struct heddle_branch *e);
    void (*loop)(void *state, const struct heddle_core *core, const struct heddle_loop_event *e);
    void (*coalesced)(void *state, const struct heddle_core *core, const struct heddle_coalesced *e);
    void (*l1_access)(void *state, const struct heddle_core *core, const struct heddle_l1_access *e);
    void (*l1_evict)(void *state, const struct heddle_core *core,
                     const struct heddle_l1_evict *e); /* comes before the l1_access that caused it */
    void (*l1_fill)(void *state, const struct heddle_core *core, const struct heddle_l1_fill *e);
    /* Warps that could issue and that the schedulers began to hold back in this cycle: they were not held in the last
     * one in which the schedulers were asked. */
    void (*held)(void *state, const struct heddle_core *core, uint64_t warps);
    /* So many cycles have passed, this one included; before the core's schedulers are asked. A core sleeps while
     * nothing in it changes: those cycles come in one count. */
    void (*cycles)(void *state, const struct heddle_core *core, uint64_t count);
};
/* The same events as a table: X(name of the member, type of what follows core). */
#define HEDDLE_EVENTS(X)                          \
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
    X(l1_fill, const struct heddle_l1_fill *)     \
    X(held, uint64_t)                             \
    X(cycles, uint64_t)

/* What an instance is made with. */
struct heddle_setup {
    struct heddle_core *core;         /* writable: `shared` */
    const union heddle_value *values; /* of the parameters */
    /* sums and maxima, by their row in the table of counters; zero when a launch begins. One array for all instances
     * of a core */
    uint64_t *counters;
    uint64_t *const *histograms; /* the buckets of a histogram, by its row in the same table */
    /* *instructions: one row per instruction of the launch's program, with the columns of policy.instructions; set,
     * and zero, before `kernel`. heddle_row finds one */
    uint64_t *const *instructions;
    uint32_t scheduler; /* schedulers: which of the core */
    uint64_t warps;     /* schedulers: slots that it owns */
    uint64_t seed;      /* the machine's, the same in every run */
    const char **why;   /* where init leaves a word on why it refuses (heddle_refuse); may be NULL */
};

/* For init: return heddle_refuse(setup, "what is wrong"). The text stays where it is: a constant, or part of the
 * state. */
static inline bool heddle_refuse(const struct heddle_setup *setup, const char *why)
{
    if (setup->why)
        *setup->why = why;
    return false;
}

/* Everything that is the same for the four kinds. */
struct heddle_policy {
    uint32_t abi;                          /* HEDDLE_POLICY_ABI */
    const char *name;                      /* as written after -s; lower case, digits, '-' */
    const char *help;                      /* one line, with the paper it is from */
    const struct heddle_param *params;     /* name NULL at the end; may be NULL */
    const struct heddle_counter *counters; /* name NULL at the end; may be NULL */
    /* counters of each instruction (sums and maxima): columns of a table with one row per pc; name NULL at the end;
     * may be NULL */
    const struct heddle_counter *instructions;
    uint32_t bits_per_warp, bits_per_core,
        bits_per_line;  /* storage card: hardware that the mechanism adds; per line of the L1D */
    size_t state_bytes; /* of an instance: zeroed memory, handed to every hook as state */
    bool (*init)(void *state,
                 const struct heddle_setup
                     *setup); /* NULL means nothing to do. False: cannot work on this machine, or with these values; the
                                 launch is refused in its name, with the reason that heddle_refuse left */
    void (*finish)(void *state); /* before the memory goes */
    struct heddle_events on;
};

/* A scheduler: one instance per warp scheduler of a core. */
struct heddle_scheduler {
    struct heddle_policy policy;
    /* The first warp of candidates in the policy's order, or HEDDLE_NO_WARP to let the slot idle. candidates is not
     * empty, and a subset of setup->warps; each can issue, or has fetched past a branch and is to be sent back to fetch
     * when the order comes to it (the core does that and asks again without it). The state changes on events, not
     * here. */
    int (*pick)(void *state, const struct heddle_core *core, uint64_t candidates);
    /* Warps that may not load from global or local memory now, nor do atomics there, which are loads that go past the
     * L1D. Asked only when a candidate's next instruction is one of these. NULL means none. */
    uint64_t (*hold_loads)(void *state, const struct heddle_core *core);
    /* Warps that may not issue anything now (SWL). NULL means none. */
    uint64_t (*hold)(void *state, const struct heddle_core *core);
    /* Lets a core sleep although it has warps held back. The first cycle in which the answers of hold and hold_loads
     * may change, if the core's sets stay as they are and no event comes: core->cycle + 1, the next one; UINT64_MAX
     * means never. Asked when a warp was held back and none issued. The cycles that the core then sleeps through are
     * reported later, as one count. NULL means that a core with hold, hold_loads or cycles is run in every cycle. */
    uint64_t (*steady_until)(void *state, const struct heddle_core *core);
    /* The warp that pick chose issues now, and was not sent back to fetch. For those who need no more than its number:
     * it costs less than the event `issued`, which comes after it. NULL means that nobody asks. */
    void (*chosen)(void *state, const struct heddle_core *core, uint32_t warp);
};

/* Why a line leaves the L1D: another takes its way; a store wrote to it, and the machine's stores drop what they hit;
 * all lines go (between launches, by a fence). */
enum heddle_leave { HEDDLE_EVICTED, HEDDLE_DROPPED, HEDDLE_FLUSHED };

/* Write rules: what a store does to a cache (heddle/write_rules.def, `heddle list rules`). */
enum heddle_write {
    HEDDLE_WRITE_AS_MACHINE = -1, /* the rule that the machine names */
#define WRITE_RULE(id, ...) HEDDLE_WRITE_##id,
#include "heddle/write_rules.def"
};

/* An L1 data cache policy: one instance per core.
 *
 * A machine may name one for its L2, too (l2.policy): one instance per slice. A slice has no core. What such an
 * instance gets as `core` has the slice's number as id, its shape as l1_sets, l1_ways and l1_line_bytes, and cycle; all
 * else is zero, also `program` and `warp`. An access has the pc and the warp slot of the core that asked; left, lanes
 * and owner are not known. Of the events, l1_access (of accesses that were taken) and l1_evict reach it: a policy that
 * listens to any other is refused. So is one with `store`, where the L2 is in two halves. Its counters are not
 * reported. */
struct heddle_l1 {
    struct heddle_policy policy;
    /* The way of a set that a new line takes. ways: bit i says that way i holds a line that may leave (valid, not
     * reserved); free: ways without a line. Asked whenever one of the two is not empty, so that a policy may divide the
     * ways; one that does not takes a free way first. Return a way of either set, or -1 for none (a reservation
     * failure). access: who wants it. Asked again when the access is tried again, so the state changes in inserted,
     * touched, removed and on events, not here. NULL means the cache's own LRU. */
    int (*victim)(void *state, const struct heddle_core *core, uint32_t set, uint64_t ways, uint64_t free,
                  const struct heddle_l1_access *access);
    void (*inserted)(void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
                     const struct heddle_l1_access *access); /* a line was put there (reserved); after victim, and after
                                                                removed where a line had to leave */
    void (*touched)(
        void *state, const struct heddle_core *core, uint32_t set, uint32_t way,
        const struct heddle_l1_access *access); /* a hit, or one on a line that is on its way (access->outcome) */
    void (*removed)(void *state, const struct heddle_core *core, uint32_t set, uint32_t way, enum heddle_leave why);
    /* True: a miss takes no line. ways and free as in victim; reserved: ways whose line is on its way. NULL: never */
    bool (*bypass)(void *state, const struct heddle_core *core, uint64_t ways, uint64_t free, uint64_t reserved,
                   const struct heddle_l1_access *access);
    /* The write rule that a store follows. access->outcome is HEDDLE_HIT if all that it writes is there, else
     * HEDDLE_MISS; access->way is that of its line, or UINT32_MAX. Asked again when the store is tried again, so the
     * state changes elsewhere, as with victim. A rule that has lines fetched is for an L2. NULL means
     * HEDDLE_WRITE_AS_MACHINE always. */
    enum heddle_write (*store)(void *state, const struct heddle_core *core, const struct heddle_l1_access *access);
};

/* A divergence unit: one instance per core. All hooks NULL means that every warp has its own post-dominator stack. */

/* A part of what a warp slot executes: lanes of one home warp of the block. A thread stays in its home lane and its
 * home warp's registers; a slot that executes pieces of several home warps issues one instruction for all of them; no
 * two of its threads may sit in the same physical lane (see lane). Masks of events are of physical lanes. Barriers
 * count threads; a slot whose lanes are on several paths arrives with all its threads when every path waits at a
 * barrier, or where paths meet. */
struct heddle_piece {
    uint32_t home; /* index of the home warp in its block */
    uint32_t mask; /* logical lanes: thread home * 32 + lane */
};
enum { HEDDLE_PIECES = 32 };

enum heddle_branch_answer {
    /* The warp goes on by itself. Where its lanes part, the core keeps their paths, a post-dominator stack per slot:
     * the taken one runs first, they meet at the reconvergence point, and the unit is asked at the branches on them
     * too. The slot gets to its stop_pc when all its lanes have. */
    HEDDLE_STACK,
    HEDDLE_PARK, /* the warp waits; the unit will give slots of the block new work with regroup. Not where e->apart */
};

/* What a unit may do, in any hook. */
struct heddle_divergence_services {
    void *context;
    /* From now on the slot (of the block) executes pieces at pc; when it gets to stop_pc (HEDDLE_NO_PC means nowhere,
     * else another than pc) it is parked and `arrived` is called. count 0 means parked, nothing to do. ready_cycle: not
     * before. The slot is parked: all are at block_start, a warp is in `split`, in `arrived`, and in `exited` when its
     * last lanes end. The threads are of the slot's block and in no slot that runs. Where they were in other slots, the
     * slot starts when no result is outstanding there. A unit that does otherwise ends the launch with a message in its
     * name. */
    void (*regroup)(void *context, uint32_t warp, const struct heddle_piece *pieces, uint32_t count, uint32_t pc,
                    uint32_t stop_pc, uint64_t ready_cycle);
};

struct heddle_divergence {
    struct heddle_policy policy;
    /* false: warps keep their stacks, and only `policy` and block_end are looked at. True: services, block_start,
     * split, arrived and exited must be there. */
    bool regroups;
    /* false: slots may have threads of several warps; kernels with calls, indexed branches, instructions of the warp as
     * a whole (shfl, vote, bar.warp, mma ...) or barriers other than `bar.sync 0` are refused. True: a slot only ever
     * has threads of its own warp, one piece, each in its lane (no hook `lane`); no kernel is refused, and a warp whose
     * lanes have all ended gives its slot back. The unit is not asked at indexed branches and in called functions. */
    bool keeps_homes;
    void (*services)(void *state, const struct heddle_divergence_services *services);
    /* A block was placed: its warps are slots first_warp ... first_warp + warp_count - 1, lanes[i] the threads of warp
     * i. A unit that regroups gives every slot its first work with regroup. */
    void (*block_start)(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                        uint32_t warp_count, const uint32_t *lanes);
    void (*block_end)(void *state, const struct heddle_core *core, uint32_t block);
    /* A conditional branch, for units that regroup: pieces of the path of the warp that runs, with the lanes that take
     * it. */
    enum heddle_branch_answer (*split)(void *state, const struct heddle_core *core, const struct heddle_branch *e,
                                       const struct heddle_piece *pieces, const uint32_t *taken, uint32_t count);
    void (*arrived)(void *state, const struct heddle_core *core, uint32_t warp,
                    uint32_t pc); /* the warp got to its stop_pc */
    void (*exited)(void *state, const struct heddle_core *core, uint32_t warp, const struct heddle_piece *pieces,
                   uint32_t count); /* lanes that ended */
    /* Physical lane of a logical lane, fixed at launch (lane permutation); for units that compact. */
    uint32_t (*lane)(void *state, uint32_t home, uint32_t logical_lane);
};

/* A probe: listens and counts, decides nothing. One instance per core; any number of probes run under any scheduler. */

/* What a policy counted for each instruction of a kernel: all cores and all launches of it together. */
struct heddle_instruction_table {
    const char *kernel;
    const uint64_t *values;
    uint32_t instruction_count, column_count;
};

/* Without time (`--functional`): blocks run in lockstep, one path of the whole block after the other, an instruction at
 * a time for all warps that have threads in it; paths meet at the immediate post-dominator. Masks by warp of the block,
 * of `warps` warps. One instance hears all blocks; core->program is the one of the block's launch, and of the core
 * nothing else is set. policy.on: `kernel` and `kernel_end`, when a launch begins and ends. */
struct heddle_block_branch { /* a conditional branch */
    uint32_t pc, target, fall_through, reconvergence;
    uint32_t warps, threads; /* of the block */
    bool divergent;          /* lanes of one warp disagree */
    const uint32_t *taken, *not_taken;
};
struct heddle_block_run { /* instructions that a path executed one after the other, whatever their guards */
    uint32_t warps;
    uint64_t instructions;
    const uint32_t *masks;
};
struct heddle_block_events {
    void (*branch)(void *state, const struct heddle_core *core, const struct heddle_block_branch *e);
    void (*ran)(void *state, const struct heddle_core *core, const struct heddle_block_run *e);
    /* A launch, or what is left of a block, cannot run so, and runs warp by warp: nothing more of it is reported. */
    void (*left)(void *state, const struct heddle_core *core, bool whole_launch);
    /* Once, when the program has ended, with all that the instance has heard: as heddle_probe.write, and after it. */
    bool (*write)(void *state, const char **why);
};

struct heddle_probe {
    struct heddle_policy policy;
    struct heddle_block_events blocks; /* one of them set: the probe works with --functional, and only there */
    /* Once, when the program has ended: to write a file that a parameter names, say. One table per kernel that ran,
     * where the policy has counters of instructions. False: it could not, and *why says why. NULL means nothing to
     * write. */
    bool (*write)(const union heddle_value *values, const struct heddle_instruction_table *kernels,
                  uint32_t kernel_count, const char **why);
};

/* What a shared object exports: one symbol, `heddle_policy_entry`, of this type. One of the four is set, or several,
 * which is a bundle: `-p FILE.so` takes them all, `-s FILE.so` the scheduler alone. */
struct heddle_policy_entry {
    uint32_t abi;
    const struct heddle_scheduler *scheduler;
    const struct heddle_l1 *l1;
    const struct heddle_divergence *divergence;
    const struct heddle_probe *probe;
};
#define HEDDLE_EXPORT_SCHEDULER(s) \
    const struct heddle_policy_entry heddle_policy_entry = {.abi = HEDDLE_POLICY_ABI, .scheduler = &(s)}
#define HEDDLE_EXPORT_L1(s) \
    const struct heddle_policy_entry heddle_policy_entry = {.abi = HEDDLE_POLICY_ABI, .l1 = &(s)}
#define HEDDLE_EXPORT_DIVERGENCE(s) \
    const struct heddle_policy_entry heddle_policy_entry = {.abi = HEDDLE_POLICY_ABI, .divergence = &(s)}
#define HEDDLE_EXPORT_PROBE(s) \
    const struct heddle_policy_entry heddle_policy_entry = {.abi = HEDDLE_POLICY_ABI, .probe = &(s)}
/* HEDDLE_EXPORT_BUNDLE(.scheduler = &mine, .l1 = &my_l1) */
#define HEDDLE_EXPORT_BUNDLE(...) \
    const struct heddle_policy_entry heddle_policy_entry = {.abi = HEDDLE_POLICY_ABI, __VA_ARGS__}

/* Helpers. */

/* The row of an instruction in a table of `columns` counters per instruction. */
static inline uint64_t *heddle_row(uint64_t *instructions, uint32_t columns, uint32_t pc)
{
    return instructions + (size_t)pc * columns;
}

/* The lowest slot of a set that is also in ahead, else the lowest of the set. The set is not empty. */
static inline int heddle_ring_first(uint64_t set, uint64_t ahead)
{
    uint64_t later = set & ahead;
    return __builtin_ctzll(later ? later : set);
}

/* An age matrix, for orders by age: older[i] holds the warps launched before the one in slot i. Slots that have ended
 * keep their bits; they are in no set that one asks for. */
struct heddle_ages {
    uint64_t older[HEDDLE_WARPS];
};

/* To be called for every warp that is launched, in that order. */
static inline void heddle_ages_launched(struct heddle_ages *a, uint32_t warp)
{
    uint64_t others = ~(UINT64_C(1) << warp);
    for (int i = 0; i < HEDDLE_WARPS; i++)
        a->older[i] &= others;
    a->older[warp] = others;
}

/* The oldest of a set, not empty. Each step leaves those older than the last guess: a few steps, not one per warp. */
static inline int heddle_ages_oldest(const struct heddle_ages *a, uint64_t set)
{
    int oldest = __builtin_ctzll(set);
    while ((set &= a->older[oldest]))
        oldest = __builtin_ctzll(set);
    return oldest;
}

/* Greedy then oldest, the order under most policies that hold warps back: the slot that issued last as long as it is a
 * candidate, else the oldest. */
struct heddle_greedy {
    uint64_t warps; /* slots of the scheduler */
    uint64_t last;  /* the one that issued last, as a set */
    struct heddle_ages ages;
};

static inline void heddle_greedy_chosen(struct heddle_greedy *g, uint32_t warp) { g->last = UINT64_C(1) << warp; }

/* The same, from an event that tells of warps of other schedulers too. */
static inline void heddle_greedy_issued(struct heddle_greedy *g, uint32_t warp)
{
    if (g->warps >> warp & 1)
        heddle_greedy_chosen(g, warp);
}

static inline int heddle_greedy_pick(const struct heddle_greedy *g, uint64_t candidates)
{
    return candidates & g->last ? __builtin_ctzll(g->last) : heddle_ages_oldest(&g->ages, candidates);
}

#ifdef __cplusplus
}
#endif

#endif
