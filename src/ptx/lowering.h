/* What an assembler makes of a function, estimated: PTX is not machine code. Instructions vanish (moves are merged,
 * address arithmetic goes into the load), two become one (multiply-add, shift-add, three-operand logic), one becomes
 * many (division, 64-bit integers). For timing only: what instructions do is never touched. Machines of the papers do
 * without it. The model is ptxas 13 for sm_90; docs/h200-assembler.md has its rules and their error. */
#ifndef HEDDLE_PTX_LOWERING_H
#define HEDDLE_PTX_LOWERING_H

#include "base/arena.h"
#include "ptx/ptx.h"

#define PTX_INTO_NOTHING UINT32_MAX

enum ptx_fate {
    PTX_FATE_KEPT,
    PTX_FATE_DEAD,     /* nobody reads its result */
    PTX_FATE_OPERAND,  /* a literal or another name of a value: part of the operands of those that read it */
    PTX_FATE_FUSED,    /* those that read it do its work as well */
    PTX_FATE_MERGED,   /* a move between registers that became one */
    PTX_FATE_UNROLLED, /* the counting of a loop that was unrolled */
};

/* What a warp does before an atomic whose threads are known to have one address. */
enum ptx_adds_up {
    PTX_ADDS_NOTHING,
    PTX_ADDS_ALL,   /* counts its threads or adds their values up, and one of them goes to memory */
    PTX_ADDS_BEFORE /* the same, and gives each the sum of those before it; where not all 32 are there, each goes */
};

struct ptx_lowered {
    uint8_t slots;   /* machine instructions that it becomes. 0: none, its work is done by others, or by nobody; such an
                        instruction is never the last of its basic block, and neither branches nor writes memory */
    bool laid_out;   /* a bra without a guard, slots 1: but its target was laid out next, and there is no such machine
                        instruction. It should cost nothing */
    bool narrow;     /* of 64 bits, or a wide product, of which the lower half alone is wanted: it has 32 */
    uint8_t fate;    /* enum ptx_fate; all but KEPT have no slots */
    uint8_t adds_up; /* enum ptx_adds_up */
    uint8_t read_count;
    const uint32_t *reads; /* ptx_reg.index of the registers that it waits for, the guard's too: what those that
                              vanished into it read is in place of what they wrote. 255 at most */
    uint32_t into;         /* of one that is fused: the first instruction that does its work */
    /* Of a branch that became predicates: machine instructions that are issued for no thread at all, where all threads
     * of the warp take it, and where none does. */
    uint8_t if_taken, if_not_taken;
};

/* A loop that is unrolled: by four, or to the end. */
struct ptx_counted {
    uint32_t loop;   /* of the control-flow graph */
    uint32_t branch; /* the instruction that leaves it */
    bool to_the_end;
};

struct ptx_lowering {
    struct ptx_lowered *insts;   /* by instruction */
    const uint32_t *register_of; /* by ptx_reg.index: registers that are merged have the same number, that of one of
                                   them */
    struct ptx_counted *counted; /* loops whose counting is left out of the count (ptx/unroll.h makes it true) */
    uint32_t counted_count;
    const bool *divergent; /* by ptx_reg.index: may differ between the threads of a warp */
};

const struct ptx_lowering *ptx_lower(struct arena *a, const struct ptx_function *f);
const char *ptx_fate_name(enum ptx_fate fate);

/* Puts the instructions of each basic block into an order that an assembler would choose: loads early, what waits for
 * them late, within what registers, memory order, barriers and volatile accesses allow. Labels, lines and results stay.
 */
void ptx_reorder(struct arena *a, struct ptx_function *f);
bool ptx_reads_time(const struct ptx_inst *in); /* a clock */
bool ptx_can_add_up(const struct ptx_inst *in); /* an atomic that one thread may do for its warp */

#endif
