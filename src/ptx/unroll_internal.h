/* Between the files of unrolling. */
#ifndef HEDDLE_PTX_UNROLL_INTERNAL_H
#define HEDDLE_PTX_UNROLL_INTERNAL_H

#include "ptx/cfg.h"
#include "ptx/lowering.h"
#include "ptx/unroll.h"

#define UNROLL_NONE UINT32_MAX

enum {
    UNROLL_ROUNDS = 4,
    UNROLL_LEFT_OVER = 2,
    UNROLL_MOST_COPIED = 8192, /* instructions of PTX that a loop becomes */
};

/* A register as it was at the beginning of the round plus a constant. */
struct unroll_linear {
    uint32_t base; /* register, or UNROLL_NONE: not such a value */
    int64_t offset;
};

/* A loop that is unrolled. */
struct unroll_loop {
    uint32_t loop;        /* of the control-flow graph */
    const uint32_t *body; /* instructions of a round, but for the branch at its end and a jump back after that */
    uint32_t body_count;
    uint32_t branch; /* that leaves the loop, or goes round */
    uint32_t exit;   /* where it goes on after the loop */
    bool single_block;
    bool leave_value; /* of the branch's guard, where the loop is left */
    const struct ptx_inst *test;
    bool test_is_read;        /* by others than the branch */
    uint32_t counter_operand; /* of the test: 1 or 2 */
    const struct ptx_reg
        *counter; /* its value at the test: at the beginning of the round + first; and step each round */
    int64_t first, step;
    uint64_t rounds; /* of a loop that is unrolled to the end; else 0 */
    int64_t start;   /* and the counter before the first */
};

struct unroll {
    struct arena *arena, scratch;
    struct ptx_function *f;
    const struct ptx_cfg *cfg;
    uint32_t *definitions;        /* per register: how many */
    uint32_t *definition;         /* and the last that writes nothing else; UNROLL_NONE */
    const struct unroll_loop *at; /* the loop at hand */
    /* the new function */
    struct ptx_inst *insts;
    bool *is_settled; /* per instruction: its label is an index of the new function already */
    uint32_t count, capacity;
    struct ptx_reg **regs;
    uint32_t reg_count, reg_capacity;
    uint32_t *position; /* per instruction as written: its place in the body of the loop at hand, or UNROLL_NONE */
    /* per register of the function as written; valid for the loop at hand */
    struct ptx_reg **name;          /* who holds its value now */
    uint32_t *last_definition;      /* in the body; UNROLL_NONE */
    bool *keeps_name;               /* not to be renamed at all */
    bool *is_needed;                /* after the last round by its own name */
    bool *in_steps;                 /* written under a guard: all writes of a round go to one name */
    struct unroll_linear *at_place; /* while a round is written: what it holds */
    struct unroll_linear *at_end;   /* of a round */
};

/* Of all registers; then whether a loop can be unrolled. (unroll_find.c) */
void unroll_find_definitions(struct unroll *u);
bool unroll_find_loop(struct unroll *u, const struct ptx_counted *c, struct unroll_loop *l);

/* Appends an instruction, and returns its place. */
uint32_t unroll_emit(struct unroll *u, const struct ptx_inst *in);
struct ptx_reg *unroll_new_register(struct unroll *u, const struct ptx_reg *like);
/* What so many instructions of a loop's body do to values. */
void unroll_follow(const struct unroll *u, const struct unroll_loop *l, uint32_t count, struct unroll_linear *values);
/* d = a + constant, or d = a: by how much. */
bool unroll_is_step(const struct ptx_inst *in, int64_t *by);
/* value + step * times, of so many bits. */
int64_t unroll_add(int64_t value, int64_t step, uint64_t times, int bits);
/* Which registers of the loop can be renamed. */
void unroll_find_names(struct unroll *u);
/* So many rounds without a branch between them. */
void unroll_emit_rounds(struct unroll *u, uint64_t rounds);
/* As it was, but for what unrolling changes. */
struct ptx_inst unroll_copy(struct unroll *u, const struct ptx_inst *in);

#endif
