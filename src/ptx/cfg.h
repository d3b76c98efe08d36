/* Control-flow analysis of one PTX function: basic blocks, dominators, immediate post-dominators, reconvergence points
 * of branches, natural loops, liveness of registers. All results are plain data in the caller's arena. */
#ifndef HEDDLE_PTX_CFG_H
#define HEDDLE_PTX_CFG_H

#include "ptx/ptx.h"

enum { PTX_INST_BYTES = 8 }; /* what one instruction counts for in a program counter that people see */

#define PTX_NO_BLOCK         UINT32_MAX
#define PTX_NO_RECONVERGENCE UINT32_MAX
#define PTX_NO_LOOP          (-1)

struct ptx_block {
    uint32_t first, end; /* instruction indices, end exclusive */
    uint32_t *succs,
        *preds; /* block indices without repetition; the fall-through successor is first, where there is one */
    uint32_t succ_count, pred_count;
    bool exits;     /* an edge to the virtual exit: ret, exit, trap, a call that never returns, the function's end */
    bool reachable; /* from the first instruction */
    int32_t loop;   /* the innermost loop around it, or PTX_NO_LOOP */
};

/* A natural loop: all back edges to one header taken together. */
struct ptx_loop {
    uint32_t header_block;
    uint32_t begin, end;    /* instruction indices: lowest first instruction and highest end over its blocks */
    uint32_t depth;         /* 1: outermost */
    int32_t parent;         /* index into ptx_cfg.loops (always a lower one), or PTX_NO_LOOP */
    const uint32_t *blocks; /* all its blocks, those of inner loops too */
    uint32_t block_count;
    const uint32_t *latches; /* blocks that hold a back edge to the header */
    uint32_t latch_count;
};

struct ptx_cfg {
    struct ptx_block *blocks; /* in program order; block 0 is the entry */
    uint32_t block_count;
    uint32_t *block_of_inst;
    uint32_t *idom;         /* per block: PTX_NO_BLOCK for the entry and for unreachable blocks */
    uint32_t *ipdom;        /* per block: PTX_NO_BLOCK for the virtual exit */
    struct ptx_loop *loops; /* outer before inner, otherwise by begin */
    uint32_t loop_count;
    uint32_t *reconvergence; /* per instruction: guarded bra, and brx: the instruction where the paths meet again;
                              * PTX_NO_RECONVERGENCE when only at the function's end, and for all others */
    bool reducible;          /* false: a cycle has more than one entry, and some of its edges belong to no loop */
};

struct ptx_cfg *ptx_cfg_build(struct arena *a, const struct ptx_function *f);
bool ptx_cfg_dominates(const struct ptx_cfg *cfg, uint32_t block, uint32_t other); /* a block dominates itself */
bool ptx_cfg_post_dominates(const struct ptx_cfg *cfg, uint32_t block,
                            uint32_t other); /* a block post-dominates itself */
bool ptx_loop_contains(const struct ptx_cfg *cfg, uint32_t loop, uint32_t block);
/* bra with a guard, or brx: the instructions that have an entry in ptx_cfg.reconvergence. */
bool ptx_is_conditional_branch(const struct ptx_inst *in);
bool ptx_falls_through(const struct ptx_inst *in); /* whether execution can go on with the next instruction */
/* Each instruction index a branch names, in the order of writing (brx: with repetitions); inst_count is the function's
 * end. */
typedef void ptx_target_visitor(void *context, uint32_t target);
void ptx_visit_targets(const struct ptx_inst *in, ptx_target_visitor *visit, void *context);

/* Registers of an instruction, each with its role. A guarded definition leaves the old value in some lanes. */
enum ptx_reg_role { PTX_REG_USE, PTX_REG_DEFINE };
typedef void ptx_reg_visitor(void *context, const struct ptx_reg *reg, enum ptx_reg_role role);
void ptx_visit_regs(const struct ptx_function *f, const struct ptx_inst *in, ptx_reg_visitor *visit, void *context);
bool ptx_writes_first_operand(const struct ptx_inst *in); /* of those without calls: all others are read */
/* 32-bit units a register takes in a register file: 1, 2 (64 bits), 4 (128 bits), 0 for a predicate. */
uint32_t ptx_reg_units(const struct ptx_reg *reg);

struct ptx_liveness {
    uint32_t
        max_live_32bit; /* 32-bit units, the most alive at one point (a value never read lives at its definition) */
    uint32_t max_live_pred;
    uint32_t max_at;                    /* the first instruction that needs max_live_32bit */
    uint32_t *live_at;                  /* per instruction: 32-bit units alive before it */
    uint32_t *range_first, *range_last; /* per register: the first and last instruction, in order of the text, at which
                                         * it is alive, read or written (a parameter in a register: from the first on);
                                         * range_first > range_last: never mentioned */
};
struct ptx_liveness *ptx_liveness_build(struct arena *a, const struct ptx_function *f, const struct ptx_cfg *cfg);

#endif
