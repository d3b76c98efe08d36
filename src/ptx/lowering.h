/* What an assembler makes of a function, estimated: PTX is not machine code. Instructions vanish (parameters and
 * constants become operands, moves are merged, address arithmetic goes into the load), two become one (multiply-add,
 * shift-add, three-operand logic), one becomes many (division, 64-bit integers). For timing only: what instructions do
 * is never touched. Machines of the papers do without it. */
#ifndef HEDDLE_PTX_LOWERING_H
#define HEDDLE_PTX_LOWERING_H

#include "base/arena.h"
#include "ptx/ptx.h"

struct ptx_lowered {
    uint8_t slots; /* machine instructions that it becomes. 0: none, its work is done by others, or by nobody; such an
                      instruction is never the last of its basic block, and neither branches nor writes memory */
    uint8_t read_count;
    const uint16_t *reads; /* ptx_reg.index of the registers that it waits for, the guard's too: what those that
                              vanished into it read is in place of what they wrote */
};

struct ptx_lowering {
    struct ptx_lowered *insts;   /* by instruction */
    const uint16_t *register_of; /* by ptx_reg.index: registers that are merged have the same number, that of one of
                                   them */
};

const struct ptx_lowering *ptx_lower(struct arena *a, const struct ptx_function *f);

/* Puts the instructions of each basic block into an order that an assembler would choose: loads early, what waits for
 * them late, within what registers, memory order, barriers and volatile accesses allow. Labels, lines and results stay.
 */
void ptx_reorder(struct arena *a, struct ptx_function *f);

#endif
