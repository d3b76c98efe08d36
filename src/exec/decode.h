/* How an instruction's decoder reads its ptx_inst and fills its exec_inst. One decoder a family, named in
 * ptx/instructions.def; each is `bool decode_NAME(struct decoder *d)`. A decoder takes the modifiers it knows; one that
 * nobody took is an error, and so the instruction is refused when the module is loaded. */
#ifndef HEDDLE_EXEC_DECODE_H
#define HEDDLE_EXEC_DECODE_H

#include "exec/exec.h"

struct decoder {
    struct exec_image *image;
    struct exec_function *function;
    const struct ptx_inst *in;
    struct exec_inst *out; /* zeroed but for guard and guard_mode; kind PLAIN */
    struct error *error;
    uint32_t taken;             /* bit i: modifiers[i] was understood */
    struct decode_state *state; /* of decode.c */
};
typedef bool decode_fn(struct decoder *d);

enum exec_rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_NEAREST_AWAY };

/* Always false. The message names the instruction, the place and the kernel. */
bool decode_fail(struct decoder *d, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* not supported: ERROR_UNSUPPORTED */
bool decode_wrong(struct decoder *d, const struct ptx_operand *at, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* ill-formed: ERROR_SYNTAX */

bool decode_has(const struct decoder *d, enum ptx_modifier m); /* looks */
bool decode_take(struct decoder *d, enum ptx_modifier m);      /* looks, and marks it as understood */
/* Index in the list of the first modifier of it that is present (taken), or -1. */
int decode_take_one(struct decoder *d, const enum ptx_modifier *list, int count);
enum exec_rounding decode_rounding(struct decoder *d); /* .rn .rz .rm .rp, nearest where absent */
void decode_take_memory_hints(struct decoder *d);      /* cache operators, evict priorities, prefetch sizes, scopes,
                                                          orderings, volatile: no effect on values */
enum ptx_space decode_take_space(struct decoder *d);   /* PTX_SPACE_NONE: generic */
enum ptx_type decode_type(const struct decoder *d, int index); /* PTX_NO_TYPE past the end */
enum ptx_type decode_last_type(const struct decoder *d);
bool decode_count(struct decoder *d, int least, int most);                    /* operand count, or an error */
const struct ptx_operand *decode_operand(const struct decoder *d, int index); /* NULL past the end */

/* Operands by position. type gives the width the handler will use and how an immediate is converted; a register of
 * another width, or of an integer type where a floating one is needed (or the reverse), is an error. _wide: any
 * register as wide as the type or wider is accepted (ld, st, cvt), *reg_bits is its width. */
bool decode_dst(struct decoder *d, int index, enum ptx_type type, exec_ref *ref); /* '_' gives a scratch register */
bool decode_src(struct decoder *d, int index, enum ptx_type type,
                exec_ref *ref); /* register, immediate, special register, address of a symbol or function */
bool decode_dst_of(struct decoder *d, const struct ptx_operand *o, enum ptx_type type, exec_ref *ref);
bool decode_src_of(struct decoder *d, const struct ptx_operand *o, enum ptx_type type, exec_ref *ref);
bool decode_dst_wide(struct decoder *d, const struct ptx_operand *o, enum ptx_type type, exec_ref *ref, int *reg_bits);
bool decode_src_wide(struct decoder *d, const struct ptx_operand *o, enum ptx_type type, exec_ref *ref,
                     int *reg_bits); /* immediates: in the type's own width */
/* Predicates. src: register, or constant true/false; *negated for !p. dst: '_' gives a scratch one. */
bool decode_pred_dst(struct decoder *d, const struct ptx_operand *o, exec_ref *ref);
bool decode_pred_src(struct decoder *d, const struct ptx_operand *o, exec_ref *ref, bool *negated);
/* An integer constant operand (an immediate known when the module is loaded). */
bool decode_immediate(struct decoder *d, int index, int64_t *value);
/* An address operand [base + offset]. *base is a ref of base_bits (32 or 64) wide lanes, or of a constant: the sum is
 * base + offset. For symbols, the address of the symbol in its space is in the constant. *base_bits 0: the address is
 * w->at.local_base + offset (a .local variable, or a .param one that lives in local memory). */
bool decode_address(struct decoder *d, const struct ptx_operand *o, enum ptx_space space, exec_ref *base,
                    int *base_bits, int64_t *offset);

/* True when a .param address operand refers to the kernel's parameter block (the sum is then an offset into it); false
 * when it is a device function's formal or a .param variable of a call, which live in the thread's local memory. */
bool decode_param_is_kernel(struct decoder *d, const struct ptx_operand *o);

exec_ref decode_const32(struct decoder *d, uint32_t value); /* 32 equal lanes */
exec_ref decode_const64(struct decoder *d, uint64_t value);
exec_ref decode_const_pred(struct decoder *d, bool value);
exec_ref decode_scratch(struct decoder *d, int bits);     /* a register nobody reads; 0: predicate */
void *decode_alloc(struct decoder *d, size_t size_bytes); /* lives as long as the image */

#endif
