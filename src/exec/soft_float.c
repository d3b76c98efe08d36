/* Exact arithmetic on integers, rounded once at the end. See soft_float.h. Speed is not its aim. */
#include "exec/soft_float.h"

const struct soft_format soft_f16 = {5, 10, 0x7bff, 0x7c00, 0x7fff};
const struct soft_format soft_bf16 = {8, 7, 0x7f7f, 0x7f80, 0x7fff};
const struct soft_format soft_tf32 = {8, 10, 0x3fbff, 0x3fc00, 0x3ffff}; /* the upper 19 bits of an f32 */
const struct soft_format soft_f32 = {8, 23, 0x7f7fffff, 0x7f800000, 0x7fffffff};
const struct soft_format soft_f64 = {11, 52, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7fffffffffffffff};
const struct soft_format soft_e4m3 = {4, 3, 0x7e, 0, 0x7f};
const struct soft_format soft_e5m2 = {5, 2, 0x7b, 0x7c, 0x7f};

static int sign_position(const struct soft_format *f) { return f->exponent_bits + f->fraction_bits; }
static uint64_t magnitude_of(const struct soft_format *f, uint64_t bits)
{
    return bits & ((1ull << sign_position(f)) - 1);
}
static int least_exponent(const struct soft_format *f) { return 2 - (1 << (f->exponent_bits - 1)); }

bool soft_is_nan(const struct soft_format *f, uint64_t bits)
{
    return magnitude_of(f, bits) > (f->infinity ? f->infinity : f->largest);
}
bool soft_is_infinite(const struct soft_format *f, uint64_t bits)
{
    return f->infinity && magnitude_of(f, bits) == f->infinity;
}
bool soft_is_negative(const struct soft_format *f, uint64_t bits) { return bits >> sign_position(f) & 1; }
uint64_t soft_zero(const struct soft_format *f, bool negative) { return (uint64_t)negative << sign_position(f); }
uint64_t soft_infinity(const struct soft_format *f, bool negative)
{
    return (f->infinity ? f->infinity : f->largest) | soft_zero(f, negative);
}

/* Position of the highest set bit; v is not zero. */
static int top_bit(uint128 v)
{
    uint64_t high = (uint64_t)(v >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)v);
}

/* v / 2^shift, with whatever is shifted out left as a mark in the lowest bit. */
static uint128 shift_right_sticky(uint128 v, int shift)
{
    if (shift <= 0)
        return v;
    if (shift >= 128)
        return v != 0;
    return (v >> shift) | ((v & (((uint128)1 << shift) - 1)) != 0);
}

struct soft soft_unpack(const struct soft_format *f, uint64_t bits)
{
    uint64_t magnitude = magnitude_of(f, bits), fraction = magnitude & ((1ull << f->fraction_bits) - 1);
    int biased = (int)(magnitude >> f->fraction_bits), least = least_exponent(f);
    struct soft v = {fraction, least - f->fraction_bits, soft_is_negative(f, bits)};
    if (biased > 0) {
        v.significand |= (uint128)1 << f->fraction_bits;
        v.exponent += biased - 1;
    }
    return v;
}

struct soft soft_from_integer(uint64_t magnitude, bool negative) { return (struct soft){magnitude, 0, negative}; }

/* v / 2^shift as an integer. */
static uint128 round_shifted(struct soft v, int shift, enum exec_rounding r)
{
    if (shift <= 0)
        return v.significand << -shift;
    uint128 kept = shift > 127 ? 0 : v.significand >> shift;
    uint128 rest = shift > 127 ? v.significand : v.significand & (((uint128)1 << shift) - 1);
    /* Against half a unit of the result: below 0, equal 1, above 2. */
    uint128 half = shift > 128 ? 0 : (uint128)1 << (shift - 1);
    int against = half == 0 || rest < half ? 0 : rest == half ? 1 : 2;
    bool up = false;
    switch (r) {
    case ROUND_NEAREST: up = against == 2 || (against == 1 && (kept & 1)); break;
    case ROUND_NEAREST_AWAY: up = against >= 1; break;
    case ROUND_ZERO: break;
    case ROUND_DOWN: up = rest != 0 && v.negative; break;
    case ROUND_UP: up = rest != 0 && !v.negative; break;
    }
    return kept + up;
}

uint64_t soft_pack(const struct soft_format *f, struct soft v, enum exec_rounding r, bool satfinite)
{
    uint64_t sign = soft_zero(f, v.negative);
    if (v.significand == 0)
        return sign;
    int least = least_exponent(f), exponent = v.exponent + top_bit(v.significand);
    bool too_large = exponent > least + (1 << f->exponent_bits);
    if (exponent < least)
        exponent = least;
    if (!too_large) {
        uint64_t kept = (uint64_t)round_shifted(v, exponent - f->fraction_bits - v.exponent, r);
        /* The leading one of a normal number counts the exponent up by one, and so does a carry out of the fraction. */
        uint64_t magnitude = ((uint64_t)(exponent - least) << f->fraction_bits) + kept;
        if (magnitude <= f->largest)
            return sign | magnitude;
    }
    bool inward = r == ROUND_ZERO || (r == ROUND_DOWN && !v.negative) || (r == ROUND_UP && v.negative);
    return sign | (satfinite || inward || !f->infinity ? f->largest : f->infinity);
}

uint64_t soft_integer(struct soft v, enum exec_rounding r)
{
    if (v.significand == 0)
        return 0;
    if (v.exponent + top_bit(v.significand) >= 64)
        return UINT64_MAX;
    uint128 magnitude = round_shifted(v, -v.exponent, r);
    return magnitude > UINT64_MAX ? UINT64_MAX : (uint64_t)magnitude;
}

/* Moves the highest bit to 125, so that a sum cannot overflow. */
static struct soft normalise(struct soft v)
{
    int shift = 125 - top_bit(v.significand);
    v.significand <<= shift;
    v.exponent -= shift;
    return v;
}

struct soft soft_add(struct soft a, struct soft b, enum exec_rounding r)
{
    if (a.significand == 0 && b.significand == 0)
        return (struct soft){0, 0, a.negative == b.negative ? a.negative : r == ROUND_DOWN};
    if (a.significand == 0)
        return b;
    if (b.significand == 0)
        return a;
    a = normalise(a);
    b = normalise(b);
    if (a.exponent < b.exponent) {
        struct soft swap = a;
        a = b;
        b = swap;
    }
    b.significand = shift_right_sticky(b.significand, a.exponent - b.exponent);
    if (a.negative == b.negative) {
        a.significand += b.significand;
        return a;
    }
    if (a.significand == b.significand)
        return (struct soft){0, 0, r == ROUND_DOWN};
    bool smaller = a.significand < b.significand;
    a.significand = smaller ? b.significand - a.significand : a.significand - b.significand;
    a.negative ^= smaller;
    return a;
}

struct soft soft_mul(struct soft a, struct soft b)
{
    return (struct soft){a.significand * b.significand, a.exponent + b.exponent, a.negative != b.negative};
}

/* Moves the highest bit to 63. */
static struct soft normalise_word(struct soft v)
{
    int shift = 63 - top_bit(v.significand);
    v.significand <<= shift;
    v.exponent -= shift;
    return v;
}

struct soft soft_div(struct soft a, struct soft b)
{
    struct soft q = {0, 0, a.negative != b.negative};
    if (a.significand == 0)
        return q;
    a = normalise_word(a);
    b = normalise_word(b);
    uint128 dividend = a.significand << 63;
    q.significand = dividend / b.significand << 1 | (dividend % b.significand != 0);
    q.exponent = a.exponent - b.exponent - 64;
    return q;
}

/* Bit by bit; the remainder of an inexact root is left as a mark. */
struct soft soft_sqrt(struct soft a)
{
    if (a.significand == 0)
        return a;
    a = normalise_word(a);
    a.significand <<= 62;
    a.exponent -= 62;
    if (a.exponent & 1) {
        a.significand <<= 1;
        a.exponent--;
    }
    uint128 root = 0, rest = a.significand;
    for (int bit = 63; bit >= 0; bit--) {
        uint128 trial = (root << (bit + 1)) + ((uint128)1 << (2 * bit));
        if (rest >= trial) {
            rest -= trial;
            root |= (uint128)1 << bit;
        }
    }
    return (struct soft){root << 1 | (rest != 0), a.exponent / 2 - 1, false};
}
