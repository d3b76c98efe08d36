/* How many registers a thread the real assembler would give a function: decides how many blocks fit a core. */
#ifndef HEDDLE_PTX_REGISTERS_H
#define HEDDLE_PTX_REGISTERS_H

#include "ptx/cfg.h"

struct ptx_register_estimate {
    uint32_t in_order; /* 32-bit units alive at once, instructions in the order of the text, what costs no register left
                          out */
    uint32_t overlapped; /* the same with instructions moved up so that loads and chains of arithmetic overlap; never
                          * less; not followed further once it is beyond free */
    uint32_t kept;       /* added to both: the stack pointer, what the hardware keeps, what alignment loses */
    uint32_t free;       /* overlap stops here: more would leave a core with fewer threads */
    uint32_t registers;  /* the estimate */
};

/* target_sm: of the module's .target (35, 75, ...) or another, which decides what the hardware keeps for itself, up to
 * where registers are free, and whether an address takes one register (before sm_20) or two. Callees are not looked
 * at. */
struct ptx_register_estimate ptx_estimate_registers(const struct ptx_function *f, const struct ptx_cfg *cfg,
                                                    int target_sm);

#endif
