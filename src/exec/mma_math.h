/* The arithmetic of the matrix instructions, on whole matrices. See mma_math.c. */
#ifndef HEDDLE_EXEC_MMA_MATH_H
#define HEDDLE_EXEC_MMA_MATH_H

#include "exec/mma_fragments.h"

/* D = A * B + C, for matrices [m][k], [n][k], [m][n] and [m][n]. */
struct mma_problem {
    int m, n, k;                 /* k: elements of a row of B; with one-bit elements words of 32 */
    int row;                     /* elements of a row of A: k, or k / 2 where A is sparse */
    enum ptx_type a, b, c, d;    /* of the elements */
    int width;                   /* steps of k in one pass of the unit, at most; 0: as many as it can */
    bool saturate;               /* .satfinite */
    bool use_and;                /* one-bit elements: .and, not .xor */
    enum exec_rounding rounding; /* f64 */
};

enum {
    TENSOR_WIDTH = 16, /* steps of k that the unit adds in one pass, at most */
    TENSOR_FRACTION_BITS = 25,
};

/* pick: for a sparse A, [m][row]: which element of a row of B each element of A meets. NULL: A is dense. */
void mma_compute(const struct mma_problem *p, const uint8_t *pick, const union matrix *a, const union matrix *b,
                 const union matrix *c, union matrix *d);
/* The four 8x8x4 products of mma.m8n8k4 on .f16: d[m][n] of one of them. */
void mma_compute_quad(const struct mma_problem *p, const union matrix *a, const union matrix *b, const union matrix *c,
                      union matrix *d);

/* mma_floats.c: as mma_compute, of floating-point matrices with a dense A, in a quick way. False: that is not for
 * these; nothing of d is to be used. */
bool mma_compute_floats(const struct mma_problem *p, const union matrix *a, const union matrix *b,
                        const union matrix *c, union matrix *d);

#endif
