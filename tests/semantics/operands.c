/*
 * Operand classes and their values. Every class has a list of special values and a way to draw random ones; a spelling
 * gets first combinations of special values, then mixtures, from a generator seeded by the spelling. The values are
 * part of the recorded vectors' meaning: a change here asks for a new recording (a hash of the inputs in every record
 *
 * tells). */
#include "vectors.h"
#include <math.h>
#include <string.h>

/* A binary floating-point format with the IEEE layout; e4m3 has no infinity, which does not matter for drawing
 * values. */
struct format {
    int exponent_bits, mantissa_bits;
};

static const struct format f16 = {5, 10}, bf16 = {8, 7}, f32 = {8, 23}, f64 = {11, 52}, tf32 = {8, 10}, e4m3 = {4, 3},
                           e5m2 = {5, 2};

enum kind {
    BITS,
    SIGNED,
    NONZERO,
    ZERO,
    SHIFT,
    POSITION,
    LANE,
    SMALL,
    PREDICATE,
    FLOAT,
    FLOAT_TO_INTEGER,
    FLOAT_NARROWED,
    ANGLE,
    BYTE_PAIR,
    PACKED_BYTES
};

struct operand_class {
    const char *name;
    int bits; /* register width */
    enum kind kind;
    const struct format *format; /* of FLOAT kinds */
    const struct format *target; /* of FLOAT_NARROWED: rounding boundaries of this format are hit */
    int packed;                  /* two elements of bits / 2 */
    int value_bits;              /* of integer kinds; the value is extended to the register */
};

static const struct operand_class classes[] = {
    {"b8", 32, BITS, 0, 0, 0, 8},
    {"u8", 32, BITS, 0, 0, 0, 8},
    {"s8", 32, SIGNED, 0, 0, 0, 8},
    {"b16", 16, BITS, 0, 0, 0, 16},
    {"u16", 16, BITS, 0, 0, 0, 16},
    {"s16", 16, BITS, 0, 0, 0, 16},
    {"b32", 32, BITS, 0, 0, 0, 32},
    {"u32", 32, BITS, 0, 0, 0, 32},
    {"s32", 32, BITS, 0, 0, 0, 32},
    {"b64", 64, BITS, 0, 0, 0, 64},
    {"u64", 64, BITS, 0, 0, 0, 64},
    {"s64", 64, BITS, 0, 0, 0, 64},
    {"nz16", 16, NONZERO, 0, 0, 0, 16},
    {"nz32", 32, NONZERO, 0, 0, 0, 32},
    {"nz64", 64, NONZERO, 0, 0, 0, 64},
    {"zero16", 16, ZERO, 0, 0, 0, 16},
    {"zero32", 32, ZERO, 0, 0, 0, 32},
    {"zero64", 64, ZERO, 0, 0, 0, 64},
    {"shift", 32, SHIFT, 0, 0, 0, 32},
    {"pos", 32, POSITION, 0, 0, 0, 32},
    {"len", 32, POSITION, 0, 0, 0, 32},
    {"lane", 32, LANE, 0, 0, 0, 32},
    {"small", 32, SMALL, 0, 0, 0, 32},
    {"bytes", 32, PACKED_BYTES, 0, 0, 0, 32},
    {"pred", 1, PREDICATE, 0, 0, 0, 1},
    {"f16", 16, FLOAT, &f16, 0, 0, 0},
    {"bf16", 16, FLOAT, &bf16, 0, 0, 0},
    {"f32", 32, FLOAT, &f32, 0, 0, 0},
    {"f64", 64, FLOAT, &f64, 0, 0, 0},
    {"tf32", 32, FLOAT, &f32, 0, 0, 0},
    {"f16x2", 32, FLOAT, &f16, 0, 1, 0},
    {"bf16x2", 32, FLOAT, &bf16, 0, 1, 0},
    {"f16_int", 16, FLOAT_TO_INTEGER, &f16, 0, 0, 0},
    {"bf16_int", 16, FLOAT_TO_INTEGER, &bf16, 0, 0, 0},
    {"f32_int", 32, FLOAT_TO_INTEGER, &f32, 0, 0, 0},
    {"f64_int", 64, FLOAT_TO_INTEGER, &f64, 0, 0, 0},
    {"f32_f16", 32, FLOAT_NARROWED, &f32, &f16, 0, 0},
    {"f32_bf16", 32, FLOAT_NARROWED, &f32, &bf16, 0, 0},
    {"f32_tf32", 32, FLOAT_NARROWED, &f32, &tf32, 0, 0},
    {"f32_e4m3", 32, FLOAT_NARROWED, &f32, &e4m3, 0, 0},
    {"f32_e5m2", 32, FLOAT_NARROWED, &f32, &e5m2, 0, 0},
    {"f64_f32", 64, FLOAT_NARROWED, &f64, &f32, 0, 0},
    {"f64_f16", 64, FLOAT_NARROWED, &f64, &f16, 0, 0},
    {"f64_bf16", 64, FLOAT_NARROWED, &f64, &bf16, 0, 0},
    {"f16x2_e4m3", 32, FLOAT_NARROWED, &f16, &e4m3, 1, 0},
    {"f16x2_e5m2", 32, FLOAT_NARROWED, &f16, &e5m2, 1, 0},
    {"angle", 32, ANGLE, &f32, 0, 0, 0},
    {"e8x2", 16, BYTE_PAIR, 0, 0, 0, 16},
};

const struct operand_class *operand_class_find(const char *name)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (!strcmp(classes[i].name, name))
            return &classes[i];
    return NULL;
}

int operand_class_bits(const struct operand_class *class) { return class->bits; }

uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}

uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static uint64_t low_bits(uint64_t value, int bits) { return bits >= 64 ? value : value & ((1ull << bits) - 1); }

/* ---- integers ---- */

/* Edge values of a width: around zero, the sign bit, all ones, single bits and runs. */
static uint64_t integer_special(int bits, unsigned index)
{
    static const uint64_t patterns[] = {0x5555555555555555ull, 0xaaaaaaaaaaaaaaaaull, 0x00ff00ff00ff00ffull,
                                        0x0123456789abcdefull};
    uint64_t sign = 1ull << (bits - 1), half = 1ull << (bits / 2);
    const uint64_t edges[] = {0,        1,        2,      3,        7,           -1ull,     -2ull,
                              -3ull,    -7ull,    sign,   sign + 1, sign - 1,    sign - 2,  half,
                              half - 1, half + 1, -half,  half / 2, sign | half, sign >> 1, -(sign >> 1),
                              10,       100,      -100ull};
    unsigned edge_count = sizeof edges / sizeof *edges;
    uint64_t value = index < edge_count ? edges[index] : patterns[(index - edge_count) % 4];
    return low_bits(value, bits);
}

enum { INTEGER_SPECIALS = 28 };

static uint64_t integer_random(int bits, uint64_t *state)
{
    uint64_t raw = splitmix64(state), how = splitmix64(state);
    int width = 1 + (int)((how >> 8) % bits);
    switch (how & 7) {
    case 0: return low_bits(low_bits(raw, width), bits);        /* small */
    case 1: return low_bits(~low_bits(raw, width), bits);       /* small and negative */
    case 2: return low_bits(1ull << (width - 1), bits);         /* one bit */
    case 3: return low_bits(raw & (raw >> 7 | raw << 9), bits); /* sparse */
    default: return low_bits(raw, bits);
    }
}

static uint64_t sign_extend(uint64_t value, int from, int to)
{
    uint64_t sign = 1ull << (from - 1);
    return low_bits((value ^ sign) - sign, to);
}

/* ---- floats ---- */

static uint64_t float_special(const struct format *format, unsigned index)
{
    int m = format->mantissa_bits, e = format->exponent_bits;
    uint64_t one = (uint64_t)((1 << (e - 1)) - 1) << m, infinity = (uint64_t)((1 << e) - 1) << m, ulp = 1,
             quiet = 1ull << (m - 1);
    uint64_t step = 1ull << m;
    const uint64_t values[] = {
        0,
        1,
        2,
        step - 1,
        step / 2 + 1, /* zero and denormals */
        step,
        step + 1,
        step * 2 - 1,
        step * 2, /* smallest normals */
        infinity - 1,
        infinity - 2,
        infinity - step, /* largest */
        infinity,
        infinity | quiet,
        infinity | 1,
        infinity | quiet | 5 % quiet,
        infinity | (step - 1),
        one,
        one - ulp,
        one + ulp,
        one - step,
        one - step + ulp,
        one - step - ulp,
        one + step,
        one + step / 2,
        one + step + step / 4,
        one + step + step / 2,
        one + 5 * (step / 2) + 1,
        one / 2,
        one + one / 2 + 3,
    };
    uint64_t value = values[index / 2];
    return index % 2 ? value | 1ull << (e + m) : value;
}

enum { FLOAT_SPECIALS = 60 };

/* Half have exponents near one, so that sums cancel and round; the rest are spread or any bits. */
static uint64_t float_random(const struct format *format, uint64_t *state)
{
    int m = format->mantissa_bits, e = format->exponent_bits, bias = (1 << (e - 1)) - 1;
    uint64_t raw = splitmix64(state), how = splitmix64(state);
    uint64_t mantissa = low_bits(raw, m), sign = raw >> 63, exponent;
    if ((how & 3) == 3)
        return low_bits(raw, m + e + 1);
    if ((how & 3) < 2)
        exponent = bias - 3 + (how >> 8) % 7;
    else
        exponent = bias - bias / 2 + (how >> 8) % (unsigned)bias;
    if ((how >> 32 & 3) == 0)
        mantissa &= ~0ull << (m / 2); /* few bits: exact results and ties */
    return sign << (e + m) | exponent << m | mantissa;
}

/* Truncates a double to a format; good enough to place values near integer limits. */
static uint64_t float_from_double(const struct format *format, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int m = format->mantissa_bits, e = format->exponent_bits, bias = (1 << (e - 1)) - 1;
    uint64_t sign = bits >> 63 << (e + m);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023 + bias;
    if (value == 0 || exponent <= 0)
        return sign;
    if (exponent >= (1 << e) - 1)
        return sign | (uint64_t)((1 << e) - 1) << m;
    return sign | (uint64_t)exponent << m | low_bits(bits, 52) >> (52 - m);
}

/* Values at and around what integers can hold, and halves. */
static uint64_t integer_limit(const struct format *format, unsigned index)
{
    static const int powers[] = {0, 1, 2, 7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 62, 63, 64, 65, 90};
    static const double offsets[] = {0, 1, -1, 0.5, -0.5, 1.5, -1.5};
    unsigned power = index / 2 / 9 % 18, offset = index / 2 % 9;
    double limit = ldexp(1, powers[power]);
    uint64_t value = offset < 7 ? float_from_double(format, limit + offsets[offset])
                                : float_from_double(format, limit) + (offset == 7 ? 1 : -1ull);
    return index % 2 ? value ^ 1ull << (format->exponent_bits + format->mantissa_bits) : value;
}

enum { INTEGER_LIMITS = 18 * 9 * 2 };

static uint64_t float_any_integer(const struct format *format, uint64_t *state)
{
    uint64_t raw = splitmix64(state);
    double value = ldexp((double)(raw >> 11), (int)(raw & 127) - 116);
    return float_from_double(format, raw & 128 ? -value : value);
}

static double format_value(const struct format *format, uint64_t bits)
{
    int m = format->mantissa_bits, e = format->exponent_bits, bias = (1 << (e - 1)) - 1;
    int exponent = (int)low_bits(bits >> m, e);
    double mantissa = (double)low_bits(bits, m);
    double value = exponent ? ldexp(mantissa + ldexp(1, m), exponent - bias - m) : ldexp(mantissa, 1 - bias - m);
    return bits >> (e + m) & 1 ? -value : value;
}

/* A value of the target format, moved by a part of its last place: on it, a tie, or just beside one. */
static uint64_t float_narrowed(const struct operand_class *class, uint64_t *state)
{
    const struct format *target = class->target;
    uint64_t raw = splitmix64(state), how = splitmix64(state);
    int bits = target->mantissa_bits + target->exponent_bits;
    uint64_t magnitude = low_bits(raw, bits);
    if ((how & 7) == 0)
        magnitude = low_bits(magnitude, target->mantissa_bits + 1); /* denormal */
    double low = format_value(target, magnitude), next = format_value(target, magnitude + 1);
    static const double parts[] = {0, 0.5, 0.5, 0.5, 0.25, 0.75, 1.0 / 1024, 1023.0 / 1024};
    double value = low + (next - low) * parts[how >> 8 & 7];
    uint64_t result = float_from_double(class->format, raw >> 63 ? -value : value);
    int nudge = (int)(how >> 16 & 3);
    return nudge == 1 && value != 0 ? result + 1 : nudge == 2 && value != 0 ? result - 1 : result;
}

/* ---- a class's specials and random values ---- */

static unsigned special_count(const struct operand_class *class)
{
    switch (class->kind) {
    case FLOAT:
    case FLOAT_NARROWED:
    case ANGLE: return FLOAT_SPECIALS;
    case FLOAT_TO_INTEGER: return FLOAT_SPECIALS + INTEGER_LIMITS;
    case PREDICATE: return 2;
    case ZERO: return 1;
    case LANE: return 32;
    case SHIFT: return 76;
    case POSITION: return 72;
    case BYTE_PAIR: return 256;
    default: return INTEGER_SPECIALS;
    }
}

static uint64_t element_special(const struct operand_class *class, unsigned index)
{
    switch (class->kind) {
    case FLOAT_TO_INTEGER:
        if (index >= FLOAT_SPECIALS)
            return integer_limit(class->format, index - FLOAT_SPECIALS);
        return float_special(class->format, index);
    case FLOAT:
    case FLOAT_NARROWED:
    case ANGLE: return float_special(class->format, index);
    case PREDICATE: return index;
    case ZERO: return 0;
    case LANE: return index;
    case SHIFT: return index < 71 ? index : integer_special(32, 9 + index - 71);
    case POSITION: return index < 68 ? index : 255 - 64 * (index - 68);
    case SMALL: return (uint32_t)(index - 14);
    case SIGNED: return sign_extend(integer_special(class->value_bits, index), class->value_bits, class->bits);
    case NONZERO: return index ? integer_special(class->value_bits, index) : 5;
    case BYTE_PAIR: return index | ((index * 167 + 13) & 255) << 8;
    default: return integer_special(class->value_bits, index);
    }
}

static uint64_t element_random(const struct operand_class *class, uint64_t *state)
{
    uint64_t raw;
    switch (class->kind) {
    case FLOAT: return float_random(class->format, state);
    case FLOAT_TO_INTEGER: return float_any_integer(class->format, state);
    case FLOAT_NARROWED: return float_narrowed(class, state);
    case ANGLE:
        raw = splitmix64(state);
        return float_from_double(class->format, ldexp((double)(int64_t)raw, raw & 3 ? -61 : -56));
    case PREDICATE: return splitmix64(state) & 1;
    case ZERO: return 0;
    case LANE: return splitmix64(state) & 31;
    case SHIFT:
    case POSITION:
        raw = splitmix64(state);
        return raw & 0xf00 ? (raw >> 32) % 71 : raw & 0x1000 ? raw >> 32 & 255 : raw >> 32;
    case SMALL: return (uint32_t)((int)(splitmix64(state) % 67) - 33);
    case SIGNED: return sign_extend(integer_random(class->value_bits, state), class->value_bits, class->bits);
    case NONZERO: raw = integer_random(class->value_bits, state); return raw ? raw : 3;
    case PACKED_BYTES: return low_bits(splitmix64(state), 32);
    default: return integer_random(class->value_bits, state);
    }
}

static uint64_t special(const struct operand_class *class, unsigned index)
{
    uint64_t value = element_special(class, index);
    if (class->packed)
        value |= element_special(class, (index * 23 + 7) % special_count(class)) << class->bits / 2;
    return value;
}

static uint64_t draw(const struct operand_class *class, uint64_t *state)
{
    uint64_t how = splitmix64(state);
    if ((how & 7) == 0)
        return special(class, (how >> 8) % special_count(class));
    uint64_t value = element_random(class, state);
    if (class->packed)
        value |= element_random(class, state) << class->bits / 2;
    return value;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Steps through all combinations of special values, or through an even selection when there are more than room. */
static void cross_specials(const struct operand_class **input, int count, int tuples, uint64_t *inputs)
{
    uint64_t combinations = 1;
    for (int k = 0; k < count; k++)
        combinations *= special_count(input[k]);
    uint64_t step = combinations <= (uint64_t)tuples ? 1 : combinations * 618 / 1000;
    while (greatest_divisor(step, combinations) != 1)
        step++;
    for (int t = 0; t < tuples; t++) {
        uint64_t rest = step * t % combinations;
        for (int k = 0; k < count; k++) {
            inputs[k * TUPLES + t] = special(input[k], rest % special_count(input[k]));
            rest /= special_count(input[k]);
        }
    }
}

int operands_generate(const struct variant *variant, uint64_t *inputs)
{
    const struct operand_class *input[MAX_OPERANDS];
    int count = 0;
    uint64_t combinations = 1, state = hash_bytes(HASH_START, variant->spelling, strlen(variant->spelling));
    for (int i = 0; i < variant->operand_count; i++)
        if (!variant->operands[i].is_output) {
            input[count] = variant->operands[i].class;
            combinations *= special_count(input[count++]);
        }
    int crossed = combinations < TUPLES * 5 / 8 ? (int)combinations : TUPLES * 5 / 8;
    cross_specials(input, count, crossed, inputs);
    for (int t = crossed; t < TUPLES; t++)
        for (int k = 0; k < count; k++)
            inputs[k * TUPLES + t] = draw(input[k], &state);
    return count;
}
