/* The rules by which textures are read, one lane and one step each: what texture.c does lane by lane, and
 * texture_lanes.c for all lanes at once. Those that compute are free of branches, so that loops over lanes
 * vectorise. */
#ifndef HEDDLE_EXEC_TEXTURE_RULES_H
#define HEDDLE_EXEC_TEXTURE_RULES_H

#include "exec/float_bits.h"
#include "exec/sampler.h"
#include "exec/sampler_tables.h"

#include <float.h>
#include <math.h>

/* Texels */

FLOAT_INLINE bool is_float_format(enum texture_format f) { return f == TEXTURE_F16 || f == TEXTURE_F32; }

/* The components of a texel as integers, as bits; those that it has not are zero. */
struct raw_texel {
    uint32_t component[4];
};

#define READ_COMPONENTS(type, to)               \
    for (uint32_t n = 0; n < channels; n++) {   \
        type v;                                 \
        memcpy(&v, p + n * sizeof v, sizeof v); \
        raw.component[n] = (uint32_t)(to)v;     \
    }
FLOAT_INLINE struct raw_texel read_components(enum texture_format f, const uint8_t *p, uint32_t channels)
{
    struct raw_texel raw = {{0}};
    switch (f) {
    case TEXTURE_U8: READ_COMPONENTS(uint8_t, uint32_t) break;
    case TEXTURE_S8: READ_COMPONENTS(int8_t, int32_t) break;
    case TEXTURE_S16: READ_COMPONENTS(int16_t, int32_t) break;
    case TEXTURE_U16:
    case TEXTURE_F16: READ_COMPONENTS(uint16_t, uint32_t) break;
    default: READ_COMPONENTS(uint32_t, uint32_t) break;
    }
    return raw;
}
#undef READ_COMPONENTS

/* The exponent e of a number 0.5 <= |v| / 2^e < 1 as frexp() has it, without a call: of floats, so that a double holds
 * them all as normal numbers. Zero, infinity and what is no number have 0. */
FLOAT_INLINE int64_t exponent_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    int64_t field = (int64_t)(bits >> 52 & 0x7ff);
    return field == 0 || field == 0x7ff ? 0 : field - 1022;
}

/* v * 2^e, as ldexp() has it: filtering stays far inside what a double's exponent holds. */
FLOAT_INLINE double scale_by(double v, int64_t e)
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return v * power;
}

/* Unsigned values become [0, 1], signed ones [-1, 1]: both of the lowest two are -1. */
FLOAT_INLINE float normalised(enum texture_format f, uint32_t v)
{
    double top = f == TEXTURE_U8 ? 255.0 : f == TEXTURE_U16 ? 65535.0 : f == TEXTURE_S8 ? 127.0 : 32767.0;
    if (is_float_format(f)) /* by no way through a double, which would quiet a signalling NaN */
        return f == TEXTURE_F16 ? f16_to_f32((uint16_t)v) : f32_from(v);
    return (float)(f == TEXTURE_U8 || f == TEXTURE_U16 ? v / top : fmax((int32_t)v / top, -1.0));
}

/* The fourth component is linear. */
FLOAT_INLINE bool is_srgb(const struct texture *t, int n) { return t->srgb && t->array.format == TEXTURE_U8 && n < 3; }

/* One component of a texel as it is returned unfiltered, by textures that do not give integers. */
FLOAT_INLINE uint32_t unfiltered_component(const struct texture *t, int n, uint32_t raw)
{
    if (t->array.format == TEXTURE_F32)
        return raw;
    return f32_bits(is_srgb(t, n) ? (float)(srgb_table[raw] / 16384.0) : normalised(t->array.format, raw));
}

/* The border's colour, in the array's format (texture.c). */
struct raw_texel texture_border(const struct texture *t);

/* Addressing */

FLOAT_INLINE enum texture_address mode_of(const struct texture *t, int axis)
{
    enum texture_address m = t->address[axis];
    return !t->normalized && (m == TEXTURE_WRAP || m == TEXTURE_MIRROR) ? TEXTURE_CLAMP : m;
}

/* False: the index is outside, and the border's colour is meant. */
FLOAT_INLINE bool address_index(enum texture_address mode, int64_t size, int64_t *index)
{
    int64_t i = *index, turn;
    if (i >= 0 && i < size)
        return true;
    switch (mode) {
    case TEXTURE_WRAP:
        i %= size;
        *index = i < 0 ? i + size : i;
        return true;
    case TEXTURE_MIRROR:
        turn = i % (2 * size);
        turn = turn < 0 ? turn + 2 * size : turn;
        *index = turn < size ? turn : 2 * size - 1 - turn;
        return true;
    case TEXTURE_BORDER: return false;
    default: *index = i < 0 ? 0 : i >= size ? size - 1 : i; return true;
    }
}

FLOAT_INLINE int64_t extent(const struct texture_array *a, int axis)
{
    uint32_t e = axis == 0 ? a->width : axis == 1 ? a->height : a->depth;
    return e ? e : 1;
}

/* NaN and denormal numbers count as zero; beyond what an index can hold it does not matter where. */
FLOAT_INLINE double bounded(double v)
{
    const double limit = 1ull << 40;
    return isnan(v) || fabs(v) < (double)FLT_MIN ? 0.0 : v > limit ? limit : v < -limit ? -limit : v;
}

/* Normalised coordinates are cut to so many steps before they are scaled. */
#define COORDINATE_STEPS 2097152.0

/* A coordinate in texels. turns: the addressing mode is wrap or mirror. */
FLOAT_INLINE double texel_coordinate(double at, bool normalized, bool turns, double size)
{
    double texels = bounded(at), scaled = floor(texels * COORDINATE_STEPS) / COORDINATE_STEPS * size;
    scaled = turns && isinf(at) ? 0.0 : scaled;
    return normalized ? scaled : texels;
}

/* In 1/256 of a texel, from the middle of the first. */
FLOAT_INLINE int64_t fixed_coordinate(double texels) { return (int64_t)floor(texels * 256.0 + 0.5) - 128; }

/* Where a coordinate is held inside, not only the texels. */
FLOAT_INLINE int64_t held_coordinate(int64_t fixed, int64_t size)
{
    int64_t most = (size - 1) * 256;
    fixed = fixed < 0 ? 0 : fixed;
    return fixed > most ? most : fixed;
}

/* A negative layer is a large one. */
FLOAT_INLINE int64_t clamp_layer(uint32_t layer, uint32_t count)
{
    return layer < count ? layer : count ? count - 1 : 0;
}

/* Filtering */

FLOAT_INLINE uint32_t half_up(uint32_t v) { return (v + 128) >> 8; }

FLOAT_INLINE uint32_t half_down(uint32_t v) { return (v + 127) >> 8; }

/* Weights of the corners of one slice in 1/256, which add up to whole: x splits it, y each part. Halves go up in x, and
 * in y where x is the upper texel; else down. */
struct corner_weights {
    uint32_t corner[4];
};
FLOAT_INLINE struct corner_weights split_weight(uint32_t whole, uint32_t x, uint32_t y)
{
    uint32_t right = half_up(whole * x), left = whole - right, upper_right = half_up(right * y),
             upper_left = half_down(left * y);
    return (struct corner_weights){{left - upper_left, right - upper_right, upper_left, upper_right}};
}

/* The numbers that floats and sRGB bytes are filtered as, and their exponents. */
FLOAT_INLINE double float_value(bool half, uint32_t raw)
{
    return half ? (double)f16_to_f32((uint16_t)raw) : (double)f32_from(raw);
}
FLOAT_INLINE double srgb_value(uint32_t raw) { return srgb_table[raw] / 16384.0; }
FLOAT_INLINE int64_t srgb_exponent(uint32_t raw) { return exponent_of(srgb_value(raw | 7)); } /* one for eight bytes */

/* Floats are aligned to the largest exponent of those of their group that count, and what is below so many bits is cut;
 * the sum is exact. */
#define NO_EXPONENT (-10000)
FLOAT_INLINE int64_t larger_exponent(int64_t largest, double value, double weight, int64_t exponent)
{
    bool counts = (value != 0.0) & (weight != 0.0);
    int64_t counted = counts ? exponent : NO_EXPONENT;
    return counted > largest ? counted : largest;
}
FLOAT_INLINE double aligned(double value, double weight, int64_t bits, int64_t largest)
{
    return weight * trunc(scale_by(value, bits - largest));
}
FLOAT_INLINE double sum_of_aligned(double sum, int64_t bits, int64_t largest)
{
    return scale_by(sum, largest - bits - 8);
}

/* To the nearest of so many significant bits; of two equally near ones to the larger. */
FLOAT_INLINE double round_away(double v, int64_t bits, int64_t least_exponent)
{
    int64_t exponent = exponent_of(v) - bits;
    exponent = exponent < least_exponent ? least_exponent : exponent;
    return scale_by(copysign(floor(fabs(scale_by(v, -exponent)) + 0.5), v), exponent);
}

/* What the filter makes of the sum of its groups. Texels that are no number make the one of all ones. */
struct float_filter {
    int64_t aligned_bits, bits, least_exponent;
};
FLOAT_INLINE struct float_filter float_filter_of(const struct texture *t, int n)
{
    if (t->array.format == TEXTURE_F32)
        return (struct float_filter){28, 24, -149};
    return (struct float_filter){is_srgb(t, n) ? 8 : 15, 11, -24};
}
FLOAT_INLINE float filtered_float(double sum, struct float_filter f)
{
    bool is_number = fabs(sum) <= DBL_MAX;
    float v = (float)round_away(is_number ? sum : 0.0, f.bits, f.least_exponent),
          none = f32_from(f.bits == 24 ? 0x7fffffffu : 0x7fffe000u);
    v = fabsf(v) < FLT_MIN ? copysignf(0.0f, v) : v;
    return is_number ? v : sum == sum ? (float)sum : none;
}

/* Of integers the filter's results have 16 bits. What bytes lack to 16 bits is made of their own upper bits. */
FLOAT_INLINE float clamp_signed(int64_t v)
{
    return (float)((v > 32767 ? 32767 : v < -32767 ? -32767 : (double)v) / 32767.0);
}
FLOAT_INLINE float filtered_integer(enum texture_format f, int64_t sum)
{
    switch (f) {
    case TEXTURE_U8: return (float)((double)((sum * 257 + 128) >> 8) / 65535.0);
    case TEXTURE_U16: return (float)((double)((sum + 128) >> 8) / 65535.0);
    case TEXTURE_S8: return clamp_signed(sum + ((sum + 64 + (sum >> 12) * 16) >> 7));
    default: return clamp_signed((sum + 128) >> 8);
    }
}

/* The filter's results have 16 bits where the texels are integers or 16-bit floats. */
FLOAT_INLINE bool filters_as_floats(const struct texture *t, int n)
{
    return is_float_format(t->array.format) || is_srgb(t, n);
}

#endif
