/* Which handler runs a floating-point operation: the decoders of float_decode.c ask these; one file a format answers. A
 * table entry that is NULL does not exist in PTX. */
#ifndef HEDDLE_EXEC_FLOAT_HANDLERS_H
#define HEDDLE_EXEC_FLOAT_HANDLERS_H

#include "exec/decode.h"

enum float_op {
    FLOAT_ADD,
    FLOAT_SUB,
    FLOAT_MUL,
    FLOAT_FMA,
    FLOAT_DIV,
    FLOAT_RCP,
    FLOAT_SQRT,
    FLOAT_MIN,
    FLOAT_MAX,
    FLOAT_ABS,
    FLOAT_NEG,
    FLOAT_COPYSIGN,
    FLOAT_TESTP,
};

/* What the modifiers say. */
struct float_mode {
    enum exec_rounding rounding;
    bool ftz, sat, relu, oob;
    bool nan;          /* .NaN */
    bool xorsign;      /* .xorsign.abs */
    bool three_inputs; /* min, max */
};

exec_handler *float32_handler(enum float_op op, const struct float_mode *m);
exec_handler *float32x2_handler(enum float_op op, const struct float_mode *m);
exec_handler *float64_handler(enum float_op op, const struct float_mode *m);
/* Of add to sqrt, toward zero, down or up; else NULL. */
exec_handler *float64_directed_handler(enum float_op op, enum exec_rounding r);
/* type: f16, f16x2, bf16 or bf16x2. Flags go into out->sub. */
exec_handler *half_handler(enum float_op op, enum ptx_type type, const struct float_mode *m, struct exec_inst *out);

/* testp: predicate out->dst from out->src[0] for class in->sub[0]. */
enum float_class { FLOAT_FINITE, FLOAT_INFINITE, FLOAT_NUMBER, FLOAT_NOTANUMBER, FLOAT_NORMAL, FLOAT_SUBNORMAL };

/* The .approx and .full forms of div, rcp and sqrt, from out's decoder (approx.c). */
bool decode_approx(struct decoder *d);

#endif
