/* What the decoders of mma and wmma share. See mma.c. */
#ifndef HEDDLE_EXEC_MMA_H
#define HEDDLE_EXEC_MMA_H

#include "exec/mma_math.h"

struct mma_shape {
    enum ptx_modifier modifier;
    int m, n, k;
};

/* A decoded multiplication. A, B and C are as the arithmetic has them: for wmma.m8n32k16 A and B have changed
 * places. */
struct mma_op {
    struct mma_problem problem;
    struct fragment fragment_a, fragment_b, fragment_c, fragment_d;
    exec_ref a[FRAGMENT_REGISTERS], b[FRAGMENT_REGISTERS], c[FRAGMENT_REGISTERS], d[FRAGMENT_REGISTERS];
    exec_ref metadata; /* sparse A */
    uint8_t selector;
    bool a_by_rows, b_by_rows; /* layouts, for mma.m8n8k4 */
};

/* Takes the shape's modifier; NULL after a message. */
const struct mma_shape *mma_decode_shape(struct decoder *d);
/* Takes .row and .col; layouts[0] and [1] say whether the first and the second is .row. How many were written. */
int mma_decode_layouts(struct decoder *d, bool layouts[2]);
/* Takes .sync and .aligned, which must be there. */
bool mma_decode_aligned(struct decoder *d);
/* Takes .xor.popc or .and.popc. */
bool mma_decode_popc(struct decoder *d, struct mma_problem *p);
/* The handler of all dense multiplications but mma.m8n8k4 on .f16; in->extra is a struct mma_op. */
void mma_dense(struct exec_warp *w, const struct exec_inst *in, uint32_t mask);

/* mma.m8n8k4 on .f16 (mma_quad.c) */
bool mma_decode_quad(struct decoder *d, struct mma_op *op);

#endif
