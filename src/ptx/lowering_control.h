/* Between the files of branches, loops and what is loaded where. */
#ifndef HEDDLE_PTX_LOWERING_CONTROL_H
#define HEDDLE_PTX_LOWERING_CONTROL_H

#include "ptx/lowering_internal.h"

enum {
    LOWER_SLOW_PATH = 9,       /* a sequence so long has a branch of its own: division, roots */
    LOWER_UNROLLED_ENTRY = 11, /* tests and jumps between a loop of four rounds and those for what is left over */
};

struct control {
    struct lowering_work *w;
    const struct ptx_function *f;
    const struct ptx_cfg *cfg;
    uint32_t *first_meeting; /* per block: one more than the first branch that meets there */
    uint32_t *stretch; /* per block: the first of those that became one, for the branches between them are predicates
                       or exits */
    bool keeps_text;   /* blocks are laid out as they are written */
};

static inline const struct ptx_inst *control_last_of(const struct control *c, uint32_t block)
{
    return &c->f->insts[c->cfg->blocks[block].end - 1];
}

static inline bool control_is_jump(const struct ptx_inst *in) { return in->opcode == PTX_OP_bra && !in->guard; }

static inline bool control_is_in_loop(const struct control *c, uint32_t loop, uint32_t i)
{
    return ptx_loop_contains(c->cfg, loop, c->cfg->block_of_inst[i]);
}

/* lowering_control.c */
void control_add_slots(struct ptx_lowered *l, uint32_t slots);
void control_pay_before(struct control *c, uint32_t loop, uint32_t slots); /* by the end of the block before it */
bool control_is_short_branch(struct control *c, uint32_t block);
bool control_give_comparison(struct control *c, uint32_t branch, enum ptx_fate fate);

/* lowering_loops.c */
bool control_is_laid_out(const struct control *c);
bool control_steps_by_constant(const struct control *c, uint32_t i);
void control_unroll(struct control *c, uint32_t loop);

/* lowering_places.c */
bool control_uses_global(const struct ptx_inst *in);
void control_begin_kernel(struct lowering_work *w);
void control_find_shared(struct control *c);
void control_load_parameters(struct control *c);
void control_load_constants(struct control *c);
void control_hoist_reciprocals(struct control *c);
void control_extend_factors(struct control *c);
void control_fetch_handles(struct lowering_work *w);

#endif
