/* What an instruction does: registers, lanes, memory spaces. No notion of time.
 *
 * A module is decoded once into flat records with a handler each. A register is an array of 32 lanes; a handler is a
 * loop over them. */
#ifndef HEDDLE_EXEC_EXEC_H
#define HEDDLE_EXEC_EXEC_H

#include "base/arena.h"
#include "base/error.h"
#include "base/guard.h"
#include "exec/memory.h"
#include "exec/texture.h"
#include "ptx/ptx.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { WARP_LANES = 32 };
/* Registers of one call, and of all nested calls, of a warp: a GPU keeps what does not fit its register file in the
 * threads' local memory, of which each has 512 KiB. */
enum { EXEC_MOST_REGISTERS_BYTES = WARP_LANES * (512 << 10) };
#define FULL_MASK 0xffffffffu

struct exec_warp;
struct exec_inst;

/* mask: lanes that execute (active and guard true), never 0. */
typedef void exec_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask);

/* An operand reference: low two bits choose a bank, the rest is a byte offset into it.
 * Registers up to 32 bits are uint32_t[32] (narrow values in the low bits; the bits above are ignored on reading and
 * written as zero), 64-bit ones uint64_t[32], 128-bit ones two uint64_t[32] (low words, then high words), predicates
 * one uint32_t with a bit a lane. */
enum exec_bank { BANK_FRAME, BANK_CONSTANTS, BANK_SPECIALS, BANK_COUNT };
typedef uint32_t exec_ref;

enum exec_kind {
    EXEC_PLAIN,   /* call the handler, go on to the next instruction */
    EXEC_CONTROL, /* branches, calls, returns, exits, barriers: the handler moves the warp itself, and is called with an
                     empty mask too */
    EXEC_WAIT,    /* as PLAIN; the handler may put the warp to sleep */
    EXEC_SYNC, /* shfl.sync and its like: lanes that it names and that are on another path are waited for, then all take
                  part together */
};

/* 64 bytes. The record's index is the index of its ptx_inst. sub, imm and extra are the handler's own. */
struct exec_inst {
    exec_handler *fn;
    exec_ref dst, dst2;
    exec_ref src[4];
    exec_ref guard;     /* predicate; only if has_guard */
    uint8_t kind;       /* enum exec_kind */
    uint8_t guard_mode; /* 0 none, 1 @p, 2 @!p */
    uint8_t sub[6];
    exec_ref members; /* EXEC_SYNC: the mask of the lanes that take part */
    int64_t imm;
    const void *extra; /* in the image's arena */
};

struct exec_function {
    const char *name;
    const struct ptx_function *ptx;
    const struct ptx_module *module;
    const struct exec_image *image;
    struct exec_inst *code;
    uint32_t inst_count;
    uint32_t index;       /* into exec_image.functions */
    uint32_t frame_bytes; /* registers and predicates of one call, a multiple of 256 */
    uint8_t *constants;   /* bank of immediates */
    uint32_t local_bytes; /* of one thread for one call: .local variables, .param variables, formal parameters */
    uint32_t *param_local_offsets,
        *return_local_offsets;      /* device functions: where formals live in the frame's local memory */
    uint32_t shared_bytes;          /* static shared memory of the kernel, callees included */
    uint32_t dynamic_shared_offset; /* where extern unsized shared arrays begin */
    uint32_t register_count;        /* an estimate (ptx/registers.h), callees included */
    uint64_t stack_bytes;           /* local memory of a thread over the deepest call path; recursion: one level each */
    bool recursive, makes_calls, calls_indirectly, address_taken, uses_alloca;
    bool is_runtime;  /* a function of the device runtime, whatever a module has of that name (device_launch.c) */
    bool prepared;    /* it can run */
    bool *runs;       /* of a kernel that makes calls: by index, what may run in a launch of it */
    uint64_t address; /* value of a pointer to it */
    struct exec_function *next_of_name; /* of another module */
    struct ptx_cfg *cfg;
    exec_ref *registers; /* of each ptx_reg, by its index */
    exec_ref scratch_pred;
    struct frame_address {
        exec_ref ref;
        uint32_t offset;
        bool wide;
    } * frame_addresses; /* registers that hold the address of a local variable; set on entry */
    uint32_t frame_address_count;
};

struct exec_symbol {
    const char *name;
    uint64_t address;
    uint64_t size_bytes;
    enum ptx_space space;
    const struct ptx_variable *variable;
};

/* Modules placed in a device's memory, linked and decoded: ready to run. */
struct exec_image {
    struct arena arena;
    uint64_t id; /* unlike that of any other image of the device, also of those that are gone */
    struct memory *memory;
    struct ptx_module **modules; /* owned */
    uint32_t module_count;
    struct exec_function **functions; /* entries and device functions with bodies */
    uint32_t function_count;
    struct strmap by_name;       /* -> the first exec_function of that name */
    struct exec_symbol *symbols; /* module-scope variables with memory */
    uint32_t symbol_count;
    uint64_t const_bytes;
    struct layout *layout;                   /* where variables are (exec/layout.c) */
    uint8_t special_slot[PTX_SPECIAL_COUNT]; /* place of each special register in its bank, from 1; 0: the image does
                                                not read it */
    uint32_t special_count;
    int registers_for_sm; /* registers a thread are estimated as for this target; 0: for each module's own */
};

/* Takes the modules over, also on failure. Several modules are linked. */
struct exec_image *exec_image_create(struct memory *memory, struct ptx_module **modules, uint32_t count,
                                     struct error *e);
/* The same, but what is wrong with the code of a kernel is reported when it is prepared, which must come before it is
 * run or asked about. Preparing one twice does nothing. */
struct exec_image *exec_image_create_lazy(struct memory *memory, struct ptx_module **modules, uint32_t count,
                                          struct error *e);
bool exec_image_prepare(struct exec_image *image, struct exec_function *kernel, struct error *e);
bool exec_image_prepare_all(struct exec_image *image, struct error *e);
bool exec_may_run(const struct exec_function *kernel,
                  const struct exec_function *f); /* in a launch of the kernel, which is prepared */
void exec_image_destroy(struct exec_image *image);
struct exec_function *exec_image_function(const struct exec_image *image, const char *name); /* NULL: none */
const struct exec_symbol *exec_image_symbol(const struct exec_image *image, const char *name);

enum exec_state {
    WARP_READY,
    WARP_AT_BARRIER,
    WARP_ASLEEP, /* nanosleep, or a wait that is tried again: gives up its slice */
    WARP_PARTED, /* while an instruction is executed: its lanes have come apart, and it is READY */
    WARP_PARKED, /* none of its lanes is given to it (exec_give) */
    WARP_DONE,
    WARP_FAULT,
};

/* One entry of the reconvergence stack (PDOM). A call pushes an entry that remembers the caller. */
struct simt_entry {
    uint32_t pc, rpc, mask;
    uint32_t call_depth; /* entries of one call share it */
    uint8_t barrier;     /* 0: runs; else it waits: 1 + a barrier of the block, WARP_BARRIER or MEMBER_BARRIER */
    bool arrived;        /* and the barrier has counted the warp */
    uint32_t at_barrier; /* lanes that executed the barrier */
};
enum {
    WARP_BARRIER = 255,
    MEMBER_BARRIER = 254
}; /* bar.warp.sync; an EXEC_SYNC instruction that is yet to be executed */

struct call_frame {
    const struct exec_function *function; /* the caller */
    uint32_t return_pc;
    uint32_t call_pc;
    uint32_t registers_offset;      /* of the caller's frame in the register stack */
    uint32_t local_base;            /* of the caller's frame in local memory */
    uint32_t mask;                  /* lanes that made the call */
    uint32_t stack_top[WARP_LANES]; /* of the caller */
};

/* What the last memory instruction of the warp touched; timing reads it. */
struct exec_access {
    enum ptx_space space; /* NONE: no access */
    uint32_t mask;
    uint16_t bytes; /* a lane */
    bool is_store, is_atomic, is_texture;
    const struct texture_array
        *plane; /* the array, where a lane's place in it is told by its row and column alone; else NULL */
};

/* Where lanes that run together are: the function and its frame, their reconvergence stack, the calls that they have
 * made. A warp has one; those of its lanes that have come apart have their own (strands.h). */
struct exec_context {
    const struct exec_function *function;
    uint32_t registers_offset, local_base; /* of the current frame: in the register stack; in local memory, a thread */
    struct simt_entry *stack;
    uint32_t stack_depth, stack_capacity;
    struct call_frame *frames;
    uint32_t frame_depth, frame_capacity;
    bool owns_stack; /* grown beyond what the block gave it */
    uint32_t ran;    /* lanes that were active since the last look at those that wait (let_go.c) */
    /* Warp instructions executed: when the lanes that wait began to, and how many more before the next look. */
    uint64_t look_from, look_after;
};

struct exec_warp {
    uint8_t *bank[BANK_COUNT];
    const struct exec_inst *code;
    uint32_t pc, rpc, active; /* copy of the top of the stack */
    enum exec_state state;
    /* What every instruction touches stands before this, and in the next line of the host's cache. */
    struct exec_launch *launch;
    uint64_t executed;          /* warp instructions so far */
    uint64_t turn_end;          /* of a warp that is run by steps: instructions executed at which its turn is over */
    struct strand_set *strands; /* of a warp that has come apart (strands.c), or NULL */
    struct exec_context at;
    uint32_t carry; /* CC.CF, a bit a lane */
    struct exec_cta *cta;
    uint32_t index; /* in its block */
    uint32_t lanes; /* that exist */
    uint32_t exited;
    uint32_t barrier; /* waited at */
    uint32_t barrier_pc;
    uint64_t cluster_phase; /* of the cluster's barrier when the warp arrived there */
    bool cluster_arrived;
    uint32_t stack_top[WARP_LANES]; /* local memory in use a thread; alloca moves it */
    uint8_t *local;                 /* lane l's local memory: local + l * exec_local_stride() */
    uint8_t *registers;             /* register stack: frames one after the other */
    uint64_t registers_bytes;
    bool owns_registers; /* grown beyond what the block gave it */
    struct exec_access access;
    uint64_t addr[WARP_LANES];      /* of the last memory instruction */
    struct memory_range near_range; /* last global range hit, valid for near_generation */
    uint64_t near_generation;
    struct cp_async_state *async; /* pending cp.async copies, or NULL */
    bool addresses_only; /* atomics: check and note the addresses, do nothing; timing does it later, where the access
                            arrives */
};

/* A named barrier: warps arrive as a whole. expected 0: all warps of the block that have not ended. */
struct exec_barrier {
    uint32_t expected, arrived, waiting;
    uint32_t count_true;
    bool all_true, any_true;
};
enum { CTA_BARRIERS = 16 };

struct exec_cta {
    struct exec_launch *launch;
    uint8_t *shared;
    uint32_t shared_bytes;
    uint8_t *registers;                 /* first frames of all warps */
    struct simt_entry *stacks;          /* first entries of all warps' stacks */
    uint8_t *specials;                  /* special registers of all warps */
    uint8_t *local;                     /* local memory of all warps */
    uint64_t local_stride, local_bytes; /* from one lane's to the next; of which it has so many */
    uint8_t *local_map;                 /* with what guards it */
    uint64_t local_map_bytes;
    uint32_t id[3];
    uint64_t index; /* linear in the grid */
    struct exec_warp *warps;
    uint32_t warp_count, warps_done;
    uint32_t sm;                  /* core it runs on */
    uint32_t slot;                /* of the core */
    struct exec_cluster *cluster; /* or NULL */
    uint32_t cluster_rank;
    struct exec_barrier barriers[CTA_BARRIERS];
    struct race_block *race; /* where races are looked for (race.h), else NULL */
};

struct exec_cluster {
    struct exec_cta *blocks[MEMORY_CLUSTER_BLOCKS];
    uint32_t block_count, blocks_alive, arrived_warps;
    uint64_t phase;
};

struct exec_counters {
    uint64_t lanes[WARP_LANES + 1]; /* warp instructions by lanes executed */
#define EXEC_COUNT(field, name, unit, sample, help, nsight) uint64_t field;
#include "heddle/metrics.def"
    uint64_t load_requests;
};

/* Where a kernel was and what it did when it went wrong. */
struct exec_fault {
    enum error_kind kind;
    const struct exec_function *function;
    uint32_t pc, lane;
    uint32_t cta[3], thread[3];
    uint64_t address;
    uint32_t bytes;
    char what[400];
};

/* malloc() in kernels: ranges of kind MEMORY_HEAP, at most this many bytes. */
struct device_heap {
    uint64_t limit_bytes, used_bytes;
};

/* What kernels asked for that is to be done when they have ended (device_launch.c): a launch, or a copy or fill of
 * memory. turn 0: arguments were made, but it was not launched. */
struct device_work {
    uint64_t turn;
    const struct exec_function *kernel; /* NULL: a copy or a fill */
    uint32_t grid[3], block[3], shared_bytes;
    uint64_t arguments; /* device address */
    uint64_t to, from, bytes;
    uint8_t value;
    bool fills;
};
struct device_queue {
    struct device_work *list;
    uint32_t count, capacity;
    uint64_t turns, handles, text;
};
void device_queue_sort(struct device_queue *q); /* by turn */
void device_queue_free(struct device_queue *q, struct memory *memory);

/* Everything the warps of one launch share. */
struct exec_launch {
    struct memory *memory;
    struct texture_table *textures;
    const struct exec_image *image;
    const struct exec_function *kernel;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dynamic_shared_bytes;
    uint64_t params; /* device address of the parameter block */
    uint32_t params_bytes;
    uint32_t local_bytes; /* a thread */
    uint64_t grid_id;
    uint32_t core_count, warps_per_core;
    uint32_t envreg[32];
    uint64_t (*clock)(struct exec_launch *l, const struct exec_warp *w); /* %clock64 */
    uint64_t clock_khz; /* of it, for %globaltimer; 0: a cycle counts as a nanosecond */
    struct device_heap *heap;
    struct device_queue *queue;
    uint64_t *register_stacks_bytes; /* of all warps, beyond their first frames; NULL: not counted */
    struct exec_counters counters;
    bool faulted;
    struct {
        const struct exec_function *function;
        uint32_t rpc;
    } spun[8]; /* where lanes have spun while others of their warp waited (let_go.c) */
    uint32_t spun_count;
    bool addresses_unused; /* nobody looks at a warp's addr after a load or a store: rows need not fill it */
    bool watched; /* of the copy that a warp suspected of spinning runs in (spin.c): effects beyond the warp are counted
                     and do not happen */
    uint64_t effects;
    struct exec_fault fault;
    struct error *error;
    FILE *printf_out; /* NULL: nowhere */
    void *user;       /* of whoever drives the launch */
};

/* From one lane's local memory to the next. Lanes mostly use the same place in theirs; an odd number of cache lines
 * between them keeps those places from falling into one set of the host's cache, as a power of two would have it. What
 * lies between the end of one and the next is closed in sanitizer builds. */
static inline uint64_t exec_local_stride(const struct exec_launch *l)
{
    enum { HOST_LINE = 64, WORTH_PADDING = 1024 };
    uint64_t bytes = l->local_bytes;
    return (bytes < WORTH_PADDING ? bytes : ((bytes + HOST_LINE - 1) & ~(uint64_t)(HOST_LINE - 1)) | HOST_LINE) +
           (bytes ? GUARD_GAP_BYTES : 0);
}

/* One instruction of the warp, which must be READY. */
void exec_step(struct exec_warp *w);
uint32_t exec_lanes(const struct exec_warp *w); /* that would execute it: active, and the guard true */
uint32_t exec_lanes_of(const struct exec_warp *w, const struct exec_inst *in,
                       uint32_t lanes); /* of some lanes of a warp */
/* The same in two halves, for a PLAIN instruction: the warp moves on, and what the instruction does is done later, by
 * exec_perform, before the warp's next instruction that could tell. The mask may be 0. */
uint32_t exec_advance(struct exec_warp *w);
void exec_perform(struct exec_warp *w, const struct exec_inst *in, uint32_t mask);
/* Up to budget instructions, until the warp is no longer READY, and the end of its turn. Returns how many were
 * executed. */
uint32_t exec_run(struct exec_warp *w, uint32_t budget);
/* The end of a turn of a warp that is run by steps: whose lanes have come apart, it goes on with others; whose lanes
 * spin while others wait for them, it comes apart (let_go.c). */
void exec_end_turn(struct exec_warp *w);
enum { EXEC_TURN = 256 };
/* For whoever decides which lanes of a warp run: the warp has one path, from pc to stop_pc (NO_RPC: nowhere), and is
 * PARKED when its lanes are there, or have ended while others of the warp have not. Taken back, it has none. */
void exec_give(struct exec_warp *w, uint32_t pc, uint32_t stop_pc, uint32_t lanes);
void exec_take_back(struct exec_warp *w);
/* Whether the module was compiled for an architecture where each lane goes on by itself. */
static inline bool exec_lanes_are_independent(const struct exec_launch *l)
{
    enum { FIRST_INDEPENDENT_TARGET = 70 };
    return l->kernel->module->target_sm >= FIRST_INDEPENDENT_TARGET;
}

/* Room for a block on a core: warps, registers, shared and local memory; freed together. Blocks of the launch run in it
 * one after another. */
struct exec_cta *exec_cta_create(struct exec_launch *l, uint32_t core, struct error *e);
/* Hands the room to another launch of the same kernel with the same block, shared and local memory. */
void exec_cta_adopt(struct exec_cta *cta, struct exec_launch *l, uint32_t core);
void exec_cta_start(struct exec_cta *cta, const uint32_t id[3]);
void exec_cta_destroy(struct exec_cta *cta);
/* Spinning (spin.c). What was issued and is yet to take effect in the lanes of mask: an atomic on its way to memory. */
struct exec_pending {
    const struct exec_inst *in;
    uint32_t mask;
};
/* Would the warp, which is READY or ASLEEP, come back to where it is with the same registers, stack and local memory,
 * and change nothing else? Runs some thousand instructions of a copy of it; the warp, its block and memory stay as they
 * are. Where it holds for all warps that do not wait at a barrier, the launch will never end. Of a warp whose lanes are
 * independent it does not hold as long as there are lanes that wait for those that spin: they will be let go. pending:
 * done first. */
bool exec_would_spin(const struct exec_warp *w, struct exec_pending pending);
/* The same of the path that runs, within so many steps; *lanes are those that take part. */
bool exec_path_spins(const struct exec_warp *w, struct exec_pending pending, uint32_t steps, uint32_t *lanes);
/* An effect beyond the warp, other than a write, is at hand. True: the warp is only watched, and it must not happen. */
static inline bool exec_withheld(struct exec_warp *w)
{
    w->launch->effects += w->launch->watched;
    return w->launch->watched;
}
/* A write of a warp that is watched. */
void exec_watched_write(struct exec_warp *w, void *to, const void *from, size_t bytes);
/* Who waits for what, for a launch that cannot go on; blocks: those that are resident. */
void exec_describe_hang(const struct exec_launch *l, struct exec_cta *const *blocks, uint32_t count, struct error *e);
/* A message for launch->fault: kernel, PTX line, block and thread, address, what is allocated nearby. */
void exec_fault_describe(const struct exec_launch *l, struct error *e);

/* The processors that this code was compiled for: "x86-64-v3" where the compiler could use what these have. */
const char *exec_built_for(void);

#endif
