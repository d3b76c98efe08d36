/* Small helpers of the integer, logic, comparison and move decoders: a table of handlers by type, and operands of like
 * types in a row. */
#ifndef HEDDLE_EXEC_PICK_H
#define HEDDLE_EXEC_PICK_H

#include "exec/decode.h"

#include <stddef.h>

/* Loops that clang finds not worth vectorising (divisions, say) are fine as they are. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

struct typed_handler {
    enum ptx_type type;
    exec_handler *fn;
};

/* NULL: the table has no row for the type. */
static inline exec_handler *find_handler(const struct typed_handler *rows, size_t count, enum ptx_type type)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].type == type)
            return rows[i].fn;
    return NULL;
}

static inline bool wrong_type(struct decoder *d, enum ptx_type type)
{
    if (type == PTX_NO_TYPE)
        return decode_wrong(d, NULL, "'%s' lacks a type", d->in->spelling);
    return decode_wrong(d, NULL, "'%s' cannot have the type .%s", d->in->spelling, ptx_type_name(type));
}

static inline bool type_count_is(struct decoder *d, int count)
{
    if (d->in->type_count == count)
        return true;
    return decode_wrong(d, NULL, "'%s' has %d types, needs %d", d->in->spelling, d->in->type_count, count);
}

/* Sets the handler for the type out of the table. */
static inline bool pick_rows(struct decoder *d, const struct typed_handler *rows, size_t count, enum ptx_type type)
{
    d->out->fn = find_handler(rows, count, type);
    return d->out->fn || wrong_type(d, type);
}
#define PICK(d, rows, type) pick_rows((d), (rows), COUNT_OF(rows), (type))

/* No -a or !a of a value, and no part .b0 of one: only video instructions have those. */
static inline bool plain_operands(struct decoder *d)
{
    for (int i = 0; i < d->in->operand_count; i++) {
        const struct ptx_operand *o = decode_operand(d, i);
        if (o->kind == PTX_OPERAND_REG && o->reg->type != PTX_PRED && (o->negated || o->selector >= 0))
            return decode_wrong(d, o, "'%s' takes whole registers, not negated", d->in->spelling);
    }
    return true;
}

/* Exactly one destination and the given sources; no selector, no vector. */
static inline bool take_operands(struct decoder *d, enum ptx_type dst, int sources, const enum ptx_type *types)
{
    if (!decode_count(d, sources + 1, sources + 1) || !plain_operands(d) || !decode_dst(d, 0, dst, &d->out->dst))
        return false;
    for (int i = 0; i < sources; i++)
        if (!decode_src(d, i + 1, types[i], &d->out->src[i]))
            return false;
    return true;
}
#define TAKE_OPERANDS(d, dst, ...)                                                   \
    take_operands((d), (dst), (int)COUNT_OF(((const enum ptx_type[]){__VA_ARGS__})), \
                  (const enum ptx_type[]){__VA_ARGS__})

/* The type of twice the width: s16 -> s32, u32 -> u64. */
static inline enum ptx_type wider_type(enum ptx_type type)
{
    switch (type) {
    case PTX_U16: return PTX_U32;
    case PTX_S16: return PTX_S32;
    case PTX_U32: return PTX_U64;
    case PTX_S32: return PTX_S64;
    default: return PTX_NO_TYPE;
    }
}

#endif
