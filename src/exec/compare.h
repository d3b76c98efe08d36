/* Comparisons of two registers over all 32 lanes at once. A lane that is not active costs nothing and its bit is
 * dropped by the caller. */
#ifndef HEDDLE_EXEC_COMPARE_H
#define HEDDLE_EXEC_COMPARE_H

#include "exec/exec.h"

/* One bit a lane: a[i] op b[i]. */
typedef uint32_t compare_bits(const void *a, const void *b);

/* The unordered comparisons are the inverse of an ordered one each. */
struct comparison {
    compare_bits *bits; /* of the value, or of the low half of a packed one; NULL: no such comparison of the type */
    compare_bits *high_bits; /* packed types */
    bool inverted;           /* the result is the inverse of the bits */
    exec_handler *setp;      /* p = a op b with the inversion in it; NULL: none of its own */
};

enum compare_op {
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE,
    COMPARE_LO,
    COMPARE_LS,
    COMPARE_HI,
    COMPARE_HS,
    COMPARE_EQU,
    COMPARE_NEU,
    COMPARE_LTU,
    COMPARE_LEU,
    COMPARE_GTU,
    COMPARE_GEU,
    COMPARE_NUM,
    COMPARE_NAN,
    COMPARE_OPS
};

/* False where PTX has no such comparison of the type (or no flush to zero). */
bool compare_find(enum ptx_type type, enum compare_op op, bool flush, struct comparison *found);

#endif
