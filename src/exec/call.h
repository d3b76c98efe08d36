/* A call site, decoded: where each argument is and where the callee wants it. */
#ifndef HEDDLE_EXEC_CALL_H
#define HEDDLE_EXEC_CALL_H

#include "exec/control.h"
#include "exec/decode.h"

struct call_value {
    bool in_register;
    exec_ref ref;      /* in_register */
    uint32_t reg_bits; /* 0: predicate */
    uint32_t offset;   /* else: in the caller's frame of local memory */
    uint32_t bytes;    /* of the register or the variable; of a constant 0 */
};

struct call_site {
    const struct exec_function *callee; /* NULL: through the pointer */
    const struct device_call *builtin;
    exec_ref pointer;
    uint32_t argument_count, return_count;
    struct call_value *arguments, *returns;
};

bool decode_call(struct decoder *d);

#endif
