/* What the condition of a branch depends on: thread positions and parameters alone (a P-branch), or loaded data (a
 * D-branch). Rhu and Erez, SIMD lane permutation (ISCA 2013), section 3.2, Figures 4 and 10. */
#ifndef HEDDLE_PTX_TAINT_H
#define HEDDLE_PTX_TAINT_H

#include "ptx/cfg.h"

/* The larger one wins where two meet. */
enum ptx_taint {
    PTX_TAINT_CLEAN, /* constants alone: the same in all threads */
    PTX_TAINT_P,     /* special registers and parameters */
    PTX_TAINT_D,     /* what a load, an atomic or a called function gave */
};

/* Per instruction, enum ptx_taint: of what it writes; of a branch, of its condition. */
struct ptx_taints {
    uint8_t *of;
};

struct ptx_taints *ptx_taint_build(struct arena *a, const struct ptx_function *f, const struct ptx_cfg *cfg);

/* Why an instruction has its taint: the shortest chain of instructions, each writing a register that the one before it
 * reads, from there to one with a source of its own. Empty for a clean instruction, and where a parameter in a register
 * is the source. The list is in the arena. */
struct ptx_taint_chain {
    uint32_t *insts, count;
};
struct ptx_taint_chain ptx_taint_explain(struct arena *a, const struct ptx_function *f, const struct ptx_cfg *cfg,
                                         const struct ptx_taints *t, uint32_t inst);

/* "special register", "parameter", "load", ...: what an instruction takes its taint from without a register; NULL:
 * nothing. */
const char *ptx_taint_source(const struct ptx_function *f, const struct ptx_inst *in);

#endif
