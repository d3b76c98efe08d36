/* The facts about an instruction that the core needs: unit, latency, registers, memory space. They are made once per
 * kernel, from the PTX and the machine's latencies.
 *
 * The program of a kernel is the kernel itself, then all device functions of its image: a pc is an index into that. */
#ifndef HEDDLE_SM_PROGRAM_H
#define HEDDLE_SM_PROGRAM_H

#include "exec/exec.h"
#include "heddle/policy.h"
#include "sm/banks.h"
#include "sm/config.h"

/* Units from SM_ALU on are those of sub-cores (subcore.c), where SM_SP is the half of the multiplier that takes
 * integers too, and SM_SP_OR_SFU stands for either half. */
enum sm_unit {
    SM_SP,
    SM_SFU,
    SM_MEM,
    SM_SP_OR_SFU,
    SM_DP,
    SM_ALU,
    SM_TENSOR,
    SM_LANES, /* shuffles, special registers */
    SM_CONTROL,
    SM_BARRIER,
    SM_UNIFORM, /* integers that all threads of a warp have in common */
    SM_UNITS
};

enum sm_memory { SM_NO_MEMORY, SM_SHARED, SM_CONST, SM_DEVICE /* global or generic */, SM_LOCAL, SM_TEXTURE, SM_FENCE };

/* Why a register is awaited. Of several, the longest wait counts: the values are joined with |. */
enum sm_wait { WAIT_NONE = 0, WAIT_SHORT = 1, WAIT_LONG /* from memory */ = 3 };

enum { SM_CHECKS = 4 };

struct sm_inst {
    const uint32_t *registers;       /* sources, then the guard, then destinations */
    const uint32_t *destinations;    /* the last ones of `registers` */
    uint32_t checks[SM_CHECKS];      /* the first of `registers`, filled up with one that is never awaited */
    const uint8_t *banks;            /* bank of each register, for slot 0 */
    struct collector_banks operands; /* the banks that a collector reads, for slot 0 */
    uint64_t written;                /* the set of the banks of its destinations, for slot 0 */
    uint16_t latency, initiation;
    uint16_t interval;         /* for sub-cores: the initiation interval in eighths of a cycle */
    uint8_t unit, memory;      /* enum sm_unit; enum sm_memory as far as the text tells */
    uint8_t source_count;      /* registers that a collector reads */
    uint8_t check_count;       /* number of `registers`: none may be awaited when the instruction issues */
    uint8_t destination_count; /* number of `destinations` */
    uint8_t wait;              /* enum sm_wait of its destinations */
    uint8_t element_bytes;     /* of a vector that is coalesced by its first element; 0 means that it is not one */
    bool load, store, atomic, barrier, exit, branch, past_l1;
    bool l1_load; /* a load or atomic of global or local memory, which hold_loads may hold */
    /* enum ptx_adds_up: an atomic whose lanes a warp may add up first, if they have one address. */
    uint8_t adds_up;
    uint8_t adding; /* cycles that adding up takes, in shared memory */
    /* Cycles until its warp issues again, if the machine instructions that it stands for wait for each other. */
    uint8_t own_wait;
    bool takes_turns; /* an atomic of floating point: lanes that share a word take turns */
    bool moves_frame; /* call, ret */
    bool deferred;    /* touches device memory: performed after the core's cycle, core by core */
    /* Deferred, but no thread writes the memory that it reads while the kernel runs, so that it need not wait. */
    bool reads_constant;
    /* Deferred, and the instruction after it writes a register that this one reads or writes: it cannot issue in the
     * same cycle. */
    bool next_waits;
    uint8_t shared_passes; /* least cycles of an access of shared memory; more than 1 for matrices */
    uint8_t slots;         /* machine instructions that it stands for: cycles of its scheduler */
    /* The number of instructions from this one on that have vanished (ptx/lowering.h); the next one that issues
     * comes after them. */
    uint8_t skip;
    uint8_t if_taken, if_not_taken; /* as in struct ptx_lowered */
    int32_t loop;                   /* the innermost loop, or -1 */
    bool loop_header;
};

struct sm_program {
    struct heddle_program view;
    struct sm_inst *code;
    uint32_t count;
    uint32_t register_count;
    /* by exec_function.index; UINT32_MAX means that the function is not in this program. */
    uint32_t *base_of_function;
    const struct exec_function **function_of_base;
    const struct exec_function *kernel;
    uint64_t code_address;                 /* of instruction 0, for the instruction cache */
    uint32_t phase_count, phase_latencies; /* of the kernel: its phases, and the sum of their lengths */
    bool atomics;                          /* has atomics of device memory */
    bool textures;
    /* Has instructions that cores may not execute at the same time: device-runtime calls, other blocks' shared
     * memory. */
    bool serial;
};

/* The facts that the text of an instruction gives: the memory of its operands; unit, latency and initiation interval
 * (all other members of *s stay). */
enum sm_memory sm_memory_of(const struct ptx_inst *in, bool is_entry);
void sm_set_cost(struct sm_inst *s, const struct ptx_inst *in, const struct sm_config *c);

/* What a kind of core (core_kind.h) makes of code. Two kinds may have the same. */
struct ptx_lowering;
struct core_code {
    /* Unit, latency and initiation interval, where the instruction is one of the core's. */
    void (*set_cost)(struct sm_inst *s, const struct ptx_inst *in, const struct sm_config *c);
    bool awaits_branch; /* the first instruction of a basic block awaits a register that branches write */
    bool lowers;        /* it can issue instructions as an assembler leaves them (sm_config.lowers) */
    bool issues_twice;  /* it can issue two instructions of a warp in a cycle (sm_config.issue_per_warp) */

    /* The other functions may be NULL. */
    void (*set_adding_cost)(struct sm_inst *s); /* of an atomic whose lanes are added up first */
    /* The pipelines that the assembler chooses for the instructions of a function, once all have their cost. */
    void (*choose_pipelines)(struct sm_inst *code, const struct exec_function *f, const struct ptx_lowering *l);
    /* Cycles beyond the latency until an instruction can use the result of another one: as an operand, or (as_guard)
     * as its condition or that of a vote. */
    uint32_t (*crossing)(const struct sm_inst *from, const struct sm_inst *to, bool as_guard);
};
extern const struct core_code gpgpusim_code; /* program.c */
extern const struct core_code hopper_code;   /* hopper.c */
/* NULL means that there is no such kind in src/model. */
const struct core_code *core_code_of(const struct sm_config *config);

struct sm_program *sm_program_create(struct arena *a, const struct exec_function *kernel,
                                     const struct sm_config *config);

static inline uint32_t sm_program_pc(const struct sm_program *p, const struct exec_warp *w)
{
    return p->base_of_function[w->at.function->index] + w->pc;
}

#endif
