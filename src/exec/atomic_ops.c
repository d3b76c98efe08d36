/* Read-modify-write operations on one element, by name and by value. */
#include "exec/atomics.h"

#include "exec/atomic_floats.h"

enum atomic_op atomic_take_op(struct decoder *d)
{
    static const enum ptx_modifier names[ATOMIC_OPS] = {
        PTX_MOD_AND, PTX_MOD_OR,  PTX_MOD_XOR, PTX_MOD_EXCH, PTX_MOD_CAS,
        PTX_MOD_ADD, PTX_MOD_INC, PTX_MOD_DEC, PTX_MOD_MIN,  PTX_MOD_MAX,
    };
    int found = decode_take_one(d, names, ATOMIC_OPS);
    return found < 0 ? ATOMIC_OPS : (enum atomic_op)found;
}

static bool is_less(enum ptx_type type, uint64_t a, uint64_t b)
{
    switch (type) {
    case PTX_S32: return (int32_t)a < (int32_t)b;
    case PTX_S64: return (int64_t)a < (int64_t)b;
    default: return a < b;
    }
}

uint64_t atomic_combine(enum atomic_op op, enum ptx_type type, uint64_t old, uint64_t b, uint64_t c, bool global)
{
    if (ptx_type_is_float(type) && op >= ATOMIC_ADD)
        return combine_floating(op, type, old, b, global);
    switch (op) {
    case ATOMIC_AND: return old & b;
    case ATOMIC_OR: return old | b;
    case ATOMIC_XOR: return old ^ b;
    case ATOMIC_EXCH: return b;
    case ATOMIC_CAS: return old == b ? c : old;
    case ATOMIC_ADD: return old + b;
    case ATOMIC_INC: return old >= b ? 0 : old + 1;
    case ATOMIC_DEC: return old == 0 || old > b ? b : old - 1;
    case ATOMIC_MIN: return is_less(type, b, old) ? b : old;
    default: return is_less(type, old, b) ? b : old;
    }
}
