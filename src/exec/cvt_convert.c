/* A conversion between any two types, exactly and then rounded once. See cvt_ops.h. */
#include "exec/cvt_ops.h"

static uint64_t extend(uint64_t bits, int width, bool is_signed)
{
    int shift = 64 - width;
    return is_signed ? (uint64_t)((int64_t)(bits << shift) >> shift) : bits << shift >> shift;
}

/* The NaN that comes out where a NaN goes in. */
static uint64_t convert_nan(const struct cvt_form *f, uint64_t bits)
{
    const struct soft_format *from = f->from.format, *to = f->to.format;
    if (!to) {
        bool wide = from == &soft_f64 || f->to.bits == 64;
        return wide ? extend(1ull << (f->to.bits - 1), f->to.bits, f->to.is_signed) : 0;
    }
    if (f->sat)
        return 0;
    /* The 64-bit unit keeps sign and payload, and makes the NaN quiet. With .ftz an f32 goes through the 32-bit one
     * first. */
    if ((to != &soft_f64 && from != &soft_f64) || f->relu)
        return to->nan;
    if (f->ftz && from == &soft_f32)
        bits = from->nan;
    int up = to->fraction_bits - from->fraction_bits;
    uint64_t payload = bits & ((1ull << from->fraction_bits) - 1);
    payload = up >= 0 ? payload << up : payload >> -up;
    return soft_infinity(to, soft_is_negative(from, bits)) | 1ull << (to->fraction_bits - 1) | payload;
}

static uint64_t to_integer(const struct cvt_end *to, struct soft v, enum exec_rounding r)
{
    uint64_t magnitude = soft_integer(v, r);
    if (!to->is_signed) {
        uint64_t most = to->bits == 64 ? UINT64_MAX : (1ull << to->bits) - 1;
        return v.negative ? 0 : magnitude < most ? magnitude : most;
    }
    uint64_t limit = 1ull << (to->bits - 1);
    if (v.negative)
        return 0 - (magnitude < limit ? magnitude : limit);
    return magnitude < limit - 1 ? magnitude : limit - 1;
}

/* 1 in the format: the exponent's bias. */
static uint64_t one_of(const struct soft_format *f)
{
    return ((1ull << (f->exponent_bits - 1)) - 1) << f->fraction_bits;
}

static uint64_t finish(const struct cvt_form *f, uint64_t bits)
{
    const struct soft_format *to = f->to.format;
    bool negative = soft_is_negative(to, bits);
    uint64_t magnitude = bits ^ soft_zero(to, negative);
    if (f->sat)
        return negative ? 0 : magnitude > one_of(to) ? one_of(to) : bits;
    return f->relu && negative ? 0 : bits;
}

/* .ftz: what rounds to 24 bits below the smallest normal number, whatever its exponent, is a zero. */
static uint64_t pack_value(const struct cvt_form *f, struct soft v)
{
    if (f->ftz && f->to.format == &soft_f32) {
        struct soft scaled = {v.significand, v.exponent + 64, false};
        enum exec_rounding r = v.negative && f->rounding == ROUND_DOWN ? ROUND_UP
                               : v.negative && f->rounding == ROUND_UP ? ROUND_DOWN
                                                                       : f->rounding;
        if (soft_pack(&soft_f32, scaled, r, false) < 0x20800000u) /* 2^-62 */
            v.significand = 0;
    }
    return soft_pack(f->to.format, v, f->rounding, f->satfinite);
}

static struct soft round_integral(struct soft v, enum exec_rounding r)
{
    if (v.exponent >= 0 || v.significand == 0)
        return v;
    return (struct soft){soft_integer(v, r), 0, v.negative};
}

static uint64_t convert_float(const struct cvt_form *f, uint64_t bits)
{
    const struct soft_format *from = f->from.format, *to = f->to.format;
    if (soft_is_nan(from, bits))
        return convert_nan(f, bits);
    bool negative = soft_is_negative(from, bits);
    if (soft_is_infinite(from, bits)) {
        if (to)
            return finish(f, f->satfinite ? to->largest | soft_zero(to, negative) : soft_infinity(to, negative));
        return to_integer(&f->to, (struct soft){1, 1000, negative}, f->rounding);
    }
    struct soft v = soft_unpack(from, bits);
    if (f->ftz && from == &soft_f32 && to != &soft_f16 && v.significand < 0x00800000u)
        v.significand = 0; /* (for f16 the hardware leaves them) */
    if (!to)
        return to_integer(&f->to, v, f->rounding);
    if (f->integral)
        v = round_integral(v, f->rounding);
    return finish(f, pack_value(f, v));
}

uint64_t cvt_convert(const struct cvt_form *f, uint64_t bits)
{
    bits = extend(bits, f->from.bits, f->from.is_signed);
    if (f->from.format)
        return convert_float(f, bits);
    bool negative = f->from.is_signed && bits >> 63;
    struct soft v = soft_from_integer(negative ? 0 - bits : bits, negative);
    if (f->to.format)
        return finish(f, pack_value(f, v));
    return f->sat ? to_integer(&f->to, v, ROUND_ZERO) : extend(bits, f->to.bits, f->to.is_signed);
}
