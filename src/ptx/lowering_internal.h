/* Between the files of the lowering. */
#ifndef HEDDLE_PTX_LOWERING_INTERNAL_H
#define HEDDLE_PTX_LOWERING_INTERNAL_H

#include "ptx/cfg.h"
#include "ptx/lowering.h"

#define LOWER_NONE UINT32_MAX       /* no definition, or no such instruction */
#define LOWER_MANY (UINT32_MAX - 1) /* several definitions, or one under a guard */

struct lowering_work {
    struct arena scratch;
    const struct ptx_function *f;
    const struct ptx_cfg *cfg;
    /* Registers of instruction i: it reads ref[refs_of[i]] up to results_of[i], and writes those from there up to
     * refs_of[i + 1]. */
    uint32_t *ref, *refs_of, *results_of, ref_count, ref_capacity;
    uint32_t *definition;                         /* per register: its only definition, LOWER_NONE or LOWER_MANY */
    uint32_t *first_definition, *last_definition; /* per register, in order of the text */
    uint32_t *users, *users_of; /* per register r: users[users_of[r]] up to users_of[r + 1], in order of the text */
    struct ptx_lowered *insts;  /* per instruction */
    uint8_t *inputs;            /* per instruction: values that go into it, with those of what is fused into it */
    uint8_t *literals;          /* and how many of them are literals */
    uint32_t *with;             /* per instruction: one further on whose work it does too, of other values; 0: none */
    bool *narrow;               /* per register of 64 bits: its lower half alone is wanted */
    bool *divergent;            /* per register: may differ between the threads of a warp */
    uint32_t *register_of;      /* per register: see ptx_lowering */
    uint32_t **reads;           /* per instruction: what it waits for in the end */
    struct ptx_counted *counted;
    uint32_t counted_count;
};

static inline const struct ptx_inst *lower_inst(const struct lowering_work *w, uint32_t i) { return &w->f->insts[i]; }
static inline bool lower_is_kept(const struct lowering_work *w, uint32_t i)
{
    return w->insts[i].fate == PTX_FATE_KEPT;
}
static inline uint32_t lower_use_count(const struct lowering_work *w, uint32_t reg)
{
    return w->users_of[reg + 1] - w->users_of[reg];
}
static inline int32_t lower_loop_of(const struct lowering_work *w, uint32_t i)
{
    return w->cfg->blocks[w->cfg->block_of_inst[i]].loop;
}
/* The only register that an instruction writes, or LOWER_NONE. */
uint32_t lower_result(const struct lowering_work *w, uint32_t i);
/* The type of the operation: the first that was written; PTX_NO_TYPE without one. */
enum ptx_type lower_type(const struct ptx_inst *in);
bool lower_is_integer(const struct ptx_inst *in, int bits); /* its first type: .s .u .b of so many bits */
bool lower_is_literal(const struct ptx_operand *o);
bool lower_uses_memory(const struct ptx_inst *in); /* loads, stores, atomics: has an address */
const struct ptx_operand *lower_address(const struct ptx_inst *in);
bool lower_reads_parameter(const struct ptx_function *f,
                           const struct ptx_inst *in);     /* of the kernel, at a known place */
bool lower_divides(const struct ptx_inst *in);             /* by a register, 32 bits: a sequence without a call */
uint8_t lower_reciprocal_slots(const struct ptx_inst *in); /* what is left out where the reciprocal is there */
void lower_vanish(struct lowering_work *w, uint32_t i, enum ptx_fate fate, uint32_t into);

/* The function in which each value has a register of its own (lowering_names.c): f itself where nothing changes, with
 * *origin NULL; else per register the one of f that it is a value of. */
const struct ptx_function *lower_name_values(struct arena *a, const struct ptx_function *f, const struct ptx_cfg *cfg,
                                             const uint32_t **origin);
uint8_t lower_count(const struct ptx_function *f, const struct ptx_inst *in, bool narrow); /* lowering_count.c */
void lower_find_narrow(struct lowering_work *w);                                           /* lowering_count.c */
void lower_find_divergent(struct lowering_work *w);                                        /* lowering_divergent.c */
void lower_moves(struct lowering_work *w);                                                 /* lowering_moves.c */
void lower_fuse(struct lowering_work *w);                                                  /* lowering_fuse.c */
void lower_shared(struct lowering_work *w);                                                /* lowering_shared.c */
void lower_control(struct lowering_work *w);                                               /* lowering_control.c */

#endif
