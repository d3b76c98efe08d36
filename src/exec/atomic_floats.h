/* Floating-point operations of atomics. f32 additions to global memory treat subnormals as zero, those to shared memory
 * do not (as the ISA says). */
#ifndef HEDDLE_EXEC_ATOMIC_FLOATS_H
#define HEDDLE_EXEC_ATOMIC_FLOATS_H

#include "exec/atomics.h"
#include "exec/float_bits.h"

/* -0 is below +0; a number wins over a NaN. */
static inline float lesser(float a, float b)
{
    if (f32_is_nan(a) || f32_is_nan(b))
        return f32_is_nan(a) ? b : a;
    return a < b || (a == b && f32_bits(a) >> 31) ? a : b;
}

static inline float greater(float a, float b)
{
    if (f32_is_nan(a) || f32_is_nan(b))
        return f32_is_nan(a) ? b : a;
    return a > b || (a == b && !(f32_bits(a) >> 31)) ? a : b;
}

/* 16-bit formats have few enough bits that a sum in f32, rounded once more, is the right one. */
static inline float combine_float(enum atomic_op op, float a, float b)
{
    return op == ATOMIC_MIN ? lesser(a, b) : op == ATOMIC_MAX ? greater(a, b) : a + b;
}

static inline uint16_t combine_f16(enum atomic_op op, uint16_t a, uint16_t b)
{
    return f16_from_f32(combine_float(op, f16_to_f32(a), f16_to_f32(b)));
}

static inline uint16_t combine_bf16(enum atomic_op op, uint16_t a, uint16_t b)
{
    return bf16_from_f32(combine_float(op, bf16_to_f32(a), bf16_to_f32(b)));
}

static inline float add_f32(float a, float b, bool flush)
{
    return f32_canonical(f32_flush_if(f32_flush_if(a, flush) + f32_flush_if(b, flush), flush));
}

/* The units beside the L2 cache hand a NaN operand on as it is; a core's, which add to shared memory, make it quiet. */
static inline double add_f64(double a, double b, bool global)
{
    double sum = a + b;
    if (!global || !f64_is_nan(sum))
        return f64_nan2(sum, a, b);
    return f64_is_nan(b) ? b : f64_is_nan(a) ? a : f64_from(F64_INVALID);
}

static inline uint64_t combine_floating(enum atomic_op op, enum ptx_type type, uint64_t old, uint64_t b, bool global)
{
    switch (type) {
    case PTX_F16: return combine_f16(op, (uint16_t)old, (uint16_t)b);
    case PTX_BF16: return combine_bf16(op, (uint16_t)old, (uint16_t)b);
    case PTX_F16X2:
        return combine_f16(op, (uint16_t)old, (uint16_t)b) |
               (uint32_t)combine_f16(op, (uint16_t)(old >> 16), (uint16_t)(b >> 16)) << 16;
    case PTX_BF16X2:
        return combine_bf16(op, (uint16_t)old, (uint16_t)b) |
               (uint32_t)combine_bf16(op, (uint16_t)(old >> 16), (uint16_t)(b >> 16)) << 16;
    case PTX_F32:
        return f32_bits(op == ATOMIC_ADD ? add_f32(f32_from((uint32_t)old), f32_from((uint32_t)b), global)
                                         : combine_float(op, f32_from((uint32_t)old), f32_from((uint32_t)b)));
    default: return f64_bits(add_f64(f64_from(old), f64_from(b), global));
    }
}

#endif
