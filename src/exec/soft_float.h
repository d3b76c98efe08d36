/* Exact arithmetic on integers, rounded once at the end: directed rounding in f64, and conversions between any two
 * formats. For what is too rare or too awkward for the vectorised paths; every function takes finite operands and
 * returns a finite exact value. */
#ifndef HEDDLE_EXEC_SOFT_FLOAT_H
#define HEDDLE_EXEC_SOFT_FLOAT_H

#include "exec/decode.h"

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 uint128;

/* significand * 2^exponent. The lowest bit of the significand may stand for any nonzero rest below it ("sticky"); at
 * least 60 bits above it are then significant. */
struct soft {
    uint128 significand;
    int exponent;
    bool negative;
};

/* An IEEE-like binary format. largest is the largest finite number's bits; formats without infinities (e4m3) count past
 * 'all exponent bits set'. */
struct soft_format {
    uint8_t exponent_bits, fraction_bits;
    uint64_t largest, infinity, nan; /* infinity: 0 where there is none */
};
extern const struct soft_format soft_f16, soft_bf16, soft_tf32, soft_f32, soft_f64, soft_e4m3, soft_e5m2;

bool soft_is_nan(const struct soft_format *f, uint64_t bits);
bool soft_is_infinite(const struct soft_format *f, uint64_t bits);
bool soft_is_negative(const struct soft_format *f, uint64_t bits);
/* A zero of the given sign, an infinity or, where the format has none, the largest number. */
uint64_t soft_zero(const struct soft_format *f, bool negative);
uint64_t soft_infinity(const struct soft_format *f, bool negative);

struct soft soft_unpack(const struct soft_format *f, uint64_t bits);
struct soft soft_from_integer(uint64_t magnitude, bool negative);
/* Rounds; an overflow gives an infinity or the largest number as the rounding mode says, with satfinite always the
 * latter. */
uint64_t soft_pack(const struct soft_format *f, struct soft v, enum exec_rounding r, bool satfinite);
/* To an integer: the magnitude, all ones where it does not fit 64 bits. */
uint64_t soft_integer(struct soft v, enum exec_rounding r);

struct soft soft_add(struct soft a, struct soft b, enum exec_rounding r); /* r: for the sign of an exact zero */
struct soft soft_mul(struct soft a, struct soft b);                       /* significands below 2^64 */
struct soft soft_div(struct soft a, struct soft b);                       /* b is not zero; significands below 2^64 */
struct soft soft_sqrt(struct soft a); /* a is not negative; significand below 2^64 */

#endif
