/* What the core must know of each instruction: unit, latency, registers, memory space. Built once per kernel, from the
 * PTX and the machine's latencies.
 *
 * The program of a kernel is the kernel itself, then all device functions of its image: a pc is an index into that. */
#ifndef HEDDLE_SM_PROGRAM_H
#define HEDDLE_SM_PROGRAM_H

#include "exec/exec.h"
#include "heddle/policy.h"
#include "sm/banks.h"
#include "sm/config.h"

/* From SM_ALU on: of sub-cores (subcore.h), where SM_SP is the half of the multiplier that takes integers too, and
 * SM_SP_OR_SFU stands for either half. */
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
    SM_UNIFORM, /* integers that are one for the whole warp */
    SM_UNITS
};

enum sm_memory { SM_NO_MEMORY, SM_SHARED, SM_CONST, SM_DEVICE /* global or generic */, SM_LOCAL, SM_TEXTURE, SM_FENCE };

/* For a value that is not there yet; several together: the longest. */
enum sm_wait { WAIT_NONE = 0, WAIT_SHORT = 1, WAIT_LONG /* from memory */ = 3 };

enum { SM_CHECKS = 4 };

struct sm_inst {
    const uint32_t *registers;       /* sources, then the guard, then destinations */
    const uint32_t *destinations;    /* the last of them */
    uint32_t checks[SM_CHECKS];      /* the first of registers, filled up with one that is never awaited */
    const uint8_t *banks;            /* of each, modulo the number of register banks, for slot 0 */
    struct collector_banks operands; /* what a collector reads, for slot 0 */
    uint64_t written;                /* set of the banks of its destinations, for slot 0 */
    uint16_t latency, initiation;
    uint16_t interval;         /* of sub-cores: the initiation interval in eighths of a cycle */
    uint8_t unit, memory;      /* enum sm_unit, enum sm_memory as far as the text tells */
    uint8_t source_count;      /* registers that a collector reads */
    uint8_t check_count;       /* all of them: none may be awaited when the instruction issues */
    uint8_t destination_count; /* the last ones */
    uint8_t wait;              /* enum sm_wait: what it is to wait for these */
    uint8_t element_bytes;     /* of a vector that is coalesced by its first element; else 0 */
    bool load, store, atomic, barrier, exit, branch, past_l1;
    bool l1_load;        /* hold_loads: loads and atomics of global and local memory */
    uint8_t adds_up;     /* enum ptx_adds_up: an atomic that a warp may do as one, where all lanes have one address */
    uint8_t adding;      /* cycles that this takes, in shared memory */
    uint8_t own_wait;    /* cycles until its warp issues again, where its machine instructions wait for each other */
    bool takes_turns;    /* an atomic of floating point: those on one word do */
    bool moves_frame;    /* call, ret */
    bool deferred;       /* touches device memory: performed after the core's cycle, core by core */
    bool reads_constant; /* deferred: what it reads nobody writes while the kernel runs, so that it need not wait */
    bool may_be_kept;    /* deferred: exec_keep takes it */
    bool next_waits;     /* deferred: the instruction after it writes where this one reads or writes, so that it cannot
                            issue in the same cycle */
    uint8_t shared_passes; /* cycles that an access of shared memory takes at least: matrices */
    uint8_t slots;         /* machine instructions that it stands for: cycles of its scheduler */
    uint8_t skip; /* the instructions from this one on that have vanished (ptx/lowering.h): the next that issues is so
                     many further */
    uint8_t if_taken, if_not_taken; /* struct ptx_lowered */
    int32_t loop;                   /* innermost, or -1 */
    bool loop_header;
};

struct sm_program {
    struct heddle_program view;
    struct sm_inst *code;
    uint32_t count;
    uint32_t register_count;
    uint32_t *base_of_function; /* by exec_function.index; UINT32_MAX: not in this program */
    const struct exec_function **function_of_base;
    const struct exec_function *kernel;
    uint64_t code_address;                 /* of instruction 0, for the instruction cache */
    uint32_t phase_count, phase_latencies; /* of the kernel: phases, and their lengths added up */
    bool atomics;                          /* of device memory */
    bool textures;
    bool keeps_loads; /* a result may come after the instruction, as long as it is there when the load ends */
    bool serial; /* does what cores may not do at the same time: device-runtime calls, other blocks' shared memory */
};

/* Of a register of a kernel that calls nobody: where it is in the frame. */
void sm_program_place(const struct sm_program *p, uint32_t reg, exec_ref *place, uint32_t *bytes);
/* What the text of an instruction tells: where its operands in memory are; unit, latency and initiation interval (the
 * rest of *s stays). */
enum sm_memory sm_memory_of(const struct ptx_inst *in, bool is_entry);
void sm_set_cost(struct sm_inst *s, const struct ptx_inst *in, const struct sm_config *c);
void sm_set_subcore_cost(struct sm_inst *s, const struct ptx_inst *in, const struct sm_config *c); /* hopper.c */
void sm_set_adding_cost(struct sm_inst *s); /* hopper.c: of one that adds up first */
/* Cycles more until an instruction can use the result of another: as an operand; as_guard: as its condition, or that of
 * a vote. */
uint32_t sm_crossing(const struct sm_inst *from, const struct sm_inst *to, bool as_guard);
/* hopper.c: the pipelines that the assembler chooses for the instructions of a function, once all have their cost. */
struct ptx_lowering;
void sm_choose_pipelines(struct sm_inst *code, const struct exec_function *f, const struct ptx_lowering *l);

struct sm_program *sm_program_create(struct arena *a, const struct exec_function *kernel,
                                     const struct sm_config *config);

static inline uint32_t sm_program_pc(const struct sm_program *p, const struct exec_warp *w)
{
    return p->base_of_function[w->at.function->index] + w->pc;
}

#endif
