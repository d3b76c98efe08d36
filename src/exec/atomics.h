/* Read-modify-write operations on one element of memory, shared by atom, red, bulk reductions and surface
 * reductions. */
#ifndef HEDDLE_EXEC_ATOMICS_H
#define HEDDLE_EXEC_ATOMICS_H

#include "exec/decode.h"

enum atomic_op {
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCH,
    ATOMIC_CAS,
    ATOMIC_ADD,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_OPS
};

/* Takes the operation's modifier; ATOMIC_OPS where there is none. */
enum atomic_op atomic_take_op(struct decoder *d);
/* What memory holds afterwards. cas: b is what is compared, c what is stored. Values in the low bits. global: as the
 * units of global memory do it, where f32 subnormals count as zero. */
uint64_t atomic_combine(enum atomic_op op, enum ptx_type type, uint64_t old, uint64_t b, uint64_t c, bool global);

#endif
