/* How texture objects are read (CUDA programming guide, texture fetching; PTX ISA 9.7.10), bit by bit as silicon (sm_90) does it: tests/semantics/textures.
 *
 * A coordinate is scaled to texels; without filtering the texel is its integral part. Linear filtering works on fixed point: coordinates are
 * rounded to 1/256 of a texel, so that weights have 8 bits. Addressing modes act on the whole texel indices. Wrap and mirror need normalised
 * coordinates and are clamp without them. Missing components are zero.
 *
 * Left out: anisotropic filtering, multisampled textures, block-compressed formats. */
#include "exec/texture.h"

#include "exec/float_bits.h"
#include "exec/memory.h"
#include "exec/sampler.h"
#include "exec/sampler_tables.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Texels */

static bool is_float_format(enum texture_format f) { return f == TEXTURE_F16 || f == TEXTURE_F32; }

/* 32-bit integers have no normalised reading. */
bool texture_gives_integers(const struct texture *t)
{
    enum texture_format f = t->array.format;
    return !is_float_format(f) && (t->read_as_integer || f == TEXTURE_U32 || f == TEXTURE_S32);
}

/* One component as an integer, as bits. */
static uint32_t component_integer(enum texture_format f, const uint8_t *p, uint32_t n)
{
    uint16_t half;
    uint32_t word;
    switch (f) {
    case TEXTURE_U8: return p[n];
    case TEXTURE_S8: return (uint32_t)(int32_t)(int8_t)p[n];
    case TEXTURE_U16:
    case TEXTURE_S16:
    case TEXTURE_F16:
        memcpy(&half, p + 2 * n, 2);
        return f == TEXTURE_S16 ? (uint32_t)(int32_t)(int16_t)half : half;
    default:
        memcpy(&word, p + 4 * n, 4);
        return word;
    }
}

/* The exponent e of a number 0.5 <= |v| / 2^e < 1 as frexp() has it, without a call: of floats, so that a double holds them all as normal numbers. Zero,
 * infinity and what is no number have 0. */
static inline int exponent_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    int field = (int)(bits >> 52 & 0x7ff);
    return field == 0 || field == 0x7ff ? 0 : field - 1022;
}

/* v * 2^e, as ldexp() has it: filtering stays far inside what a double's exponent holds. */
static inline double scale_by(double v, int e)
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return v * power;
}

/* What filtering works with: the numbers themselves. */
static double filter_value(enum texture_format f, uint32_t v)
{
    switch (f) {
    case TEXTURE_U8:
    case TEXTURE_U16: return v;
    case TEXTURE_F16: return (double)f16_to_f32((uint16_t)v);
    case TEXTURE_F32: return (double)f32_from(v);
    default: return (int32_t)v;
    }
}

/* Unsigned values become [0, 1], signed ones [-1, 1]: both of the lowest two are -1. */
static float normalised(enum texture_format f, uint32_t v)
{
    double top = f == TEXTURE_U8 ? 255.0 : f == TEXTURE_U16 ? 65535.0 : f == TEXTURE_S8 ? 127.0 : 32767.0;
    if (is_float_format(f)) /* by no way through a double, which would quiet a signalling NaN */
        return f == TEXTURE_F16 ? f16_to_f32((uint16_t)v) : f32_from(v);
    return (float)(f == TEXTURE_U8 || f == TEXTURE_U16 ? v / top : fmax((int32_t)v / top, -1.0));
}

/* A texel's four components: as they are returned unfiltered, and as filtering takes them. */
struct texel {
    uint32_t bits[4];
    double values[4];
    int exponents[4]; /* of values that are filtered as floats */
};

/* The fourth component is linear. */
static bool is_srgb(const struct texture *t, int n) { return t->srgb && t->array.format == TEXTURE_U8 && n < 3; }

static void set_component(const struct texture *t, uint32_t n, uint32_t raw, struct texel *v)
{
    enum texture_format f = t->array.format;
    v->values[n] = filter_value(f, raw);
    v->exponents[n] = exponent_of(v->values[n]);
    if (is_srgb(t, (int)n)) {
        v->values[n] = srgb_table[raw] / 16384.0;
        v->exponents[n] = exponent_of(srgb_table[raw | 7] / 16384.0); /* one exponent for eight bytes */
        v->bits[n] = f32_bits((float)v->values[n]);
    } else if (f != TEXTURE_F32) {
        v->bits[n] = f32_bits(normalised(f, raw));
    }
}

static struct texel read_texel(const struct texture *t, const struct texture_array *a, const int64_t at[3], uint64_t *touched)
{
    struct texel v = {0};
    uint64_t bytes = texture_texel_bytes(a);
    *touched = a->data + (uint64_t)at[0] * bytes + (uint64_t)at[1] * a->pitch_bytes + (uint64_t)at[2] * a->slice_bytes;
    const uint8_t *p = memory_pointer(*touched);
    bool integers = texture_gives_integers(t);
    for (uint32_t n = 0; n < a->channels; n++) {
        v.bits[n] = component_integer(a->format, p, n);
        if (!integers)
            set_component(t, n, v.bits[n], &v);
    }
    return v;
}

uint16_t texture_cut_to_f16(float v)
{
    uint16_t h = f16_from_f32(v);
    if (isnan(v))
        return (uint16_t)((f32_bits(v) >> 16 & 0x8000u) | 0x7c00u | (f32_bits(v) >> 13 & 0x3ffu));
    return fabsf(f16_to_f32(h)) > fabsf(v) ? (uint16_t)(h - 1) : h;
}

/* The border's colour is kept in the array's format: of integers its bits, else scaled in single precision and rounded. */
static uint32_t border_component(const struct texture *t, uint32_t n)
{
    enum texture_format f = t->array.format;
    uint8_t raw[4];
    memcpy(raw, &t->border[n], sizeof raw);
    if (texture_gives_integers(t) || f == TEXTURE_F32)
        return component_integer(f, raw, 0);
    if (f == TEXTURE_F16)
        return texture_cut_to_f16(t->border[n]);
    float top = f == TEXTURE_U8 ? 255.0f : f == TEXTURE_U16 ? 65535.0f : f == TEXTURE_S8 ? 127.0f : 32767.0f;
    float lowest = f == TEXTURE_S8 || f == TEXTURE_S16 ? -1.0f : 0.0f, v = isnan(t->border[n]) ? 0.0f : t->border[n];
    return (uint32_t)(int32_t)rintf(fminf(fmaxf(v, lowest), 1.0f) * top);
}

static struct texel border_texel(const struct texture *t)
{
    struct texel v = {0};
    for (uint32_t n = 0; n < t->array.channels; n++) {
        v.bits[n] = border_component(t, n);
        if (!texture_gives_integers(t))
            set_component(t, n, v.bits[n], &v);
    }
    return v;
}

/* Addressing */

static enum texture_address mode_of(const struct texture *t, int axis)
{
    enum texture_address m = t->address[axis];
    return !t->normalized && (m == TEXTURE_WRAP || m == TEXTURE_MIRROR) ? TEXTURE_CLAMP : m;
}

/* False: the index is outside, and the border's colour is meant. */
static bool address_index(enum texture_address mode, int64_t size, int64_t *index)
{
    int64_t i = *index, turn;
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
    case TEXTURE_BORDER:
        return i >= 0 && i < size;
    default:
        *index = i < 0 ? 0 : i >= size ? size - 1 : i;
        return true;
    }
}

static int dimensions_of(enum texture_geometry g)
{
    return g == TEXTURE_1D || g == TEXTURE_A1D ? 1 : g == TEXTURE_3D ? 3 : 2;
}

static int64_t extent(const struct texture_array *a, int axis)
{
    uint32_t e = axis == 0 ? a->width : axis == 1 ? a->height : a->depth;
    return e ? e : 1;
}

/* What a request looks at on one level: whole indices and, of linear filtering, weights in 1/256 of the next texel. */
struct footprint {
    int dimensions;
    int64_t index[3];
    uint32_t weight[3];
    int64_t layer; /* third index of one- and two-dimensional arrays */
    uint64_t *touched;
};

/* Whole coordinates are not subject to the addressing modes: outside there is zero or, where the level is given, the nearest texel. The whole index of one
 * dimension is for linear memory: an array answers zero. */
static struct texel read_whole(const struct texture *t, const struct texture_array *a, const struct footprint *f, const struct texture_request *q)
{
    int64_t at[3] = {0, 0, f->layer};
    bool is_layered = q->geometry == TEXTURE_A1D || q->geometry == TEXTURE_A2D, outside = is_layered && q->layer >= a->layers;
    *f->touched = a->data;
    for (int axis = 0; axis < f->dimensions; axis++) {
        at[axis] = f->index[axis];
        outside |= at[axis] < 0 || at[axis] >= extent(a, axis);
        address_index(TEXTURE_CLAMP, extent(a, axis), &at[axis]);
    }
    if (q->geometry == TEXTURE_1D || (outside && !q->has_level))
        return (struct texel){0};
    return read_texel(t, a, at, f->touched);
}

static struct texel tap(const struct texture *t, const struct texture_array *a, const struct footprint *f, const int64_t step[3])
{
    int64_t at[3] = {0, 0, f->layer};
    for (int axis = 0; axis < f->dimensions; axis++) {
        at[axis] = f->index[axis] + step[axis];
        if (!address_index(mode_of(t, axis), extent(a, axis), &at[axis])) {
            *f->touched = a->data;
            return border_texel(t);
        }
    }
    return read_texel(t, a, at, f->touched);
}

/* NaN and denormal numbers count as zero; beyond what an index can hold it does not matter where. */
static double bounded(double v)
{
    const double limit = 1ull << 40;
    return isnan(v) || fabs(v) < (double)FLT_MIN ? 0.0 : v > limit ? limit : v < -limit ? -limit : v;
}

/* Normalised coordinates are cut to so many steps before they are scaled. */
#define COORDINATE_STEPS 2097152.0

static void place(const struct texture *t, const struct texture_array *a, double at, int32_t offset, int axis, bool linear, bool held,
                  struct footprint *f)
{
    double texels = bounded(at);
    if (t->normalized && isinf(at) && (mode_of(t, axis) == TEXTURE_WRAP || mode_of(t, axis) == TEXTURE_MIRROR))
        texels = 0.0;
    else if (t->normalized)
        texels = floor(texels * COORDINATE_STEPS) / COORDINATE_STEPS * (double)extent(a, axis);
    if (!linear) {
        f->index[axis] = (int64_t)floor(texels) + offset;
        return;
    }
    int64_t fixed = (int64_t)floor(texels * 256.0 + 0.5) - 128 + (int64_t)offset * 256, last = extent(a, axis) - 1;
    if (held && mode_of(t, axis) == TEXTURE_CLAMP) /* the coordinate is held inside, not only the texels */
        fixed = fixed < 0 ? 0 : fixed > last * 256 ? last * 256 : fixed;
    f->index[axis] = fixed >> 8;
    f->weight[axis] = (uint32_t)(fixed & 255);
}

static uint32_t half_up(uint32_t v) { return (v + 128) >> 8; }

static uint32_t half_down(uint32_t v) { return (v + 127) >> 8; }

/* Weights of the corners in 1/256, which add up to whole. z splits the whole, x each part, y each part of that. Halves go up in x, and in y where x
 * is the upper texel; else down. */
static void split_weights(const struct footprint *f, uint32_t whole, uint32_t weights[8])
{
    uint32_t above = f->dimensions == 3 ? half_down(whole * f->weight[2]) : 0, parts[2] = {whole - above, above};
    for (int z = 0; z < 2; z++) {
        uint32_t right = half_up(parts[z] * f->weight[0]), left = parts[z] - right, *w = weights + 4 * z;
        w[3] = half_up(right * f->weight[1]);
        w[2] = half_down(left * f->weight[1]);
        w[1] = right - w[3];
        w[0] = left - w[2];
    }
}

/* The texels of a request and their weights in 1/256, in groups of four: those of one slice of one level are filtered together. */
enum { GROUP = 4, GROUPS = 4 };

struct taps {
    int groups, counts[GROUPS];
    uint32_t weights[GROUPS][GROUP];
    struct texel texels[GROUPS][GROUP];
};

/* A coordinate in the middle of a texel does not reach its neighbour. A weight that is rounded to zero does, if only for infinities and what is no
 * number. */
static bool reaches(const struct footprint *f, const int64_t step[3])
{
    for (int axis = 0; axis < f->dimensions; axis++)
        if (step[axis] && f->weight[axis] == 0)
            return false;
    return true;
}

static void add_taps(const struct texture *t, const struct texture_array *a, const struct footprint *f, uint32_t whole, struct taps *taps)
{
    uint32_t weights[8];
    split_weights(f, whole, weights);
    for (int corner = 0; corner < 1 << f->dimensions; corner++) {
        int64_t step[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
        int group = taps->groups + corner / GROUP;
        if (!reaches(f, step))
            continue;
        taps->weights[group][taps->counts[group]] = weights[corner];
        taps->texels[group][taps->counts[group]++] = tap(t, a, f, step);
    }
    taps->groups += f->dimensions == 3 ? 2 : 1;
}

/* The exponent of the largest of a group's texels. */
static int largest_exponent(const struct taps *taps, int group, int n)
{
    int largest = -10000;
    for (int i = 0; i < taps->counts[group]; i++) {
        const struct texel *v = &taps->texels[group][i];
        if (v->values[n] != 0.0 && taps->weights[group][i] && v->exponents[n] > largest)
            largest = v->exponents[n];
    }
    return largest == -10000 ? 0 : largest;
}

/* Floats are aligned to the largest of their group, and what is below so many bits is cut; the sum is exact. */
static double sum_group(const struct taps *taps, int group, int n, int bits)
{
    int largest = largest_exponent(taps, group, n);
    double sum = 0.0;
    for (int i = 0; i < taps->counts[group]; i++)
        sum += taps->weights[group][i] * trunc(scale_by(taps->texels[group][i].values[n], bits - largest));
    return scale_by(sum, largest - bits - 8);
}

/* To the nearest of so many significant bits; of two equally near ones to the larger. */
static double round_away(double v, int bits, int least_exponent)
{
    int exponent = exponent_of(v) - bits;
    exponent = exponent < least_exponent ? least_exponent : exponent;
    return scale_by(copysign(floor(fabs(scale_by(v, -exponent)) + 0.5), v), exponent);
}

static float flushed(float v) { return fabsf(v) < FLT_MIN ? copysignf(0.0f, v) : v; }

/* Texels that are no number make the one of all ones. */
static float filter_floats(const struct taps *taps, int n, int aligned_bits, int bits, int least_exponent)
{
    double sum = 0.0;
    for (int group = 0; group < taps->groups; group++)
        sum += sum_group(taps, group, n, aligned_bits);
    if (!isfinite(sum))
        return isinf(sum) ? (float)sum : f32_from(bits == 24 ? 0x7fffffffu : 0x7fffe000u);
    return flushed((float)round_away(sum, bits, least_exponent));
}

static float clamp_signed(int64_t v) { return (float)((v > 32767 ? 32767 : v < -32767 ? -32767 : (double)v) / 32767.0); }

/* The filter's results have 16 bits where the texels are integers or 16-bit floats. What bytes lack to 16 bits is made of their own upper bits. */
static float filter_component(const struct texture *t, const struct taps *taps, int n)
{
    enum texture_format f = t->array.format;
    int64_t sum = 0;
    if (f == TEXTURE_F32)
        return filter_floats(taps, n, 28, 24, -149);
    if (f == TEXTURE_F16 || is_srgb(t, n))
        return filter_floats(taps, n, is_srgb(t, n) ? 8 : 15, 11, -24);
    for (int group = 0; group < taps->groups; group++)
        for (int i = 0; i < taps->counts[group]; i++)
            sum += (int64_t)(taps->weights[group][i] * taps->texels[group][i].values[n]);
    switch (f) {
    case TEXTURE_U8: return (float)((double)((sum * 257 + 128) >> 8) / 65535.0);
    case TEXTURE_U16: return (float)((double)((sum + 128) >> 8) / 65535.0);
    case TEXTURE_S8: return clamp_signed(sum + ((sum + 64 + (sum >> 12) * 16) >> 7));
    default: return clamp_signed((sum + 128) >> 8);
    }
}

/* The four texels that filtering would mix, one component of each: lower left first, then against the clock. */
static struct texel gather(const struct texture *t, const struct texture_array *a, const struct footprint *f, int component)
{
    static const int64_t steps[4][3] = {{0, 1, 0}, {1, 1, 0}, {1, 0, 0}, {0, 0, 0}};
    struct texel v;
    for (int n = 0; n < 4; n++)
        v.bits[n] = tap(t, a, f, steps[n]).bits[component];
    return v;
}

/* A direction is scaled by the reciprocal of its largest component, which is zero or infinite where that is very large or denormal. */
static void scale_direction(const float direction[3], float scaled[3])
{
    float largest = fmaxf(fmaxf(fabsf(direction[0]), fabsf(direction[1])), fabsf(direction[2]));
    for (int n = 0; n < 3; n++) {
        scaled[n] = direction[n];
        if (largest > 0x1p126f)
            scaled[n] *= 0.0f;
        else if (largest < FLT_MIN)
            scaled[n] *= INFINITY;
    }
}

/* What is no number is smaller than all others. */
static float magnitude(float v) { return isnan(v) ? -1.0f : fabsf(v); }

/* From [-1, 1] on a face to a normalised coordinate, cut to its steps. */
static double face_coordinate(float v, float major)
{
    double ratio = (double)v / (double)major;
    if (!isfinite(ratio) || fabs(ratio) < (double)FLT_MIN)
        return 0.5;
    return (floor(ratio * (COORDINATE_STEPS / 2.0)) + COORDINATE_STEPS / 2.0) / COORDINATE_STEPS;
}

/* The face of a cube that a direction meets, and where: coordinates in [0, 1]. */
static int cube_face(const float direction[3], double *x, double *y)
{
    float v[3], s, u;
    scale_direction(direction, v);
    float ax = magnitude(v[0]), ay = magnitude(v[1]), az = magnitude(v[2]), major;
    int face;
    if (az >= ax && az >= ay) { /* of equals the later axis */
        face = 4 + (v[2] < 0);
        major = az;
        s = face == 5 ? -v[0] : v[0];
        u = -v[1];
    } else if (ay >= ax) {
        face = 2 + (v[1] < 0);
        major = ay;
        s = v[0];
        u = face == 3 ? -v[2] : v[2];
    } else {
        face = v[0] < 0;
        major = ax;
        s = face ? v[2] : -v[2];
        u = -v[1];
    }
    *x = face_coordinate(s, major);
    *y = face_coordinate(u, major);
    return face;
}

static bool is_cube(enum texture_geometry g) { return g == TEXTURE_CUBE || g == TEXTURE_ACUBE; }

/* A negative layer is a large one. */
static int64_t clamp_layer(uint32_t layer, uint32_t count) { return layer < count ? layer : count ? count - 1 : 0; }

static struct footprint footprint_of(const struct texture *t, const struct texture_array *a, struct texture_request *q, bool linear)
{
    struct footprint f = {.dimensions = dimensions_of(q->geometry), .touched = &q->touched};
    double at[3] = {q->at[0], q->at[1], q->at[2]};
    if (q->geometry == TEXTURE_A1D || q->geometry == TEXTURE_A2D)
        f.layer = clamp_layer(q->layer, a->layers);
    if (is_cube(q->geometry)) {
        int face = cube_face(q->at, &at[0], &at[1]);
        f.layer = face + (q->geometry == TEXTURE_ACUBE ? 6 * clamp_layer(q->layer, a->layers / 6) : 0);
    }
    for (int axis = 0; axis < f.dimensions; axis++) {
        if (q->whole)
            f.index[axis] = (int64_t)q->texel[axis] + q->offset[axis];
        else
            place(t, a, at[axis], q->offset[axis], axis, linear, q->gather < 0, &f);
    }
    if (q->geometry == TEXTURE_1D && linear && mode_of(t, 1) == TEXTURE_BORDER) {
        f.dimensions = 2; /* silicon filters a line as an image of one row, at its edge: half of it is border */
        f.index[1] = -1;
        f.weight[1] = 128;
    }
    return f;
}

/* Levels of detail count in 1/256. */
enum { LEVEL_STEPS = 256 };

static int64_t level_steps(const struct texture *t, const struct texture_request *q)
{
    int64_t level = q->has_level ? (int64_t)(bounded(q->level) * LEVEL_STEPS) + (int64_t)(bounded(t->level_bias) * LEVEL_STEPS) : 0;
    int64_t least = (int64_t)floor(bounded(t->min_level) * LEVEL_STEPS), most = (int64_t)floor(bounded(t->max_level) * LEVEL_STEPS);
    int64_t top = (int64_t)(t->level_count - 1) * LEVEL_STEPS;
    level = level > most ? most : level;
    level = level < least ? least : level;
    return level < 0 ? 0 : level > top ? top : level;
}

/* Filtering between texels, between levels, or both. */
static struct texel mix(const struct texture *t, const struct texture_array *lower, const struct texture_array *upper, uint32_t upper_share,
                        struct texture_request *q)
{
    struct taps taps; /* its texels are written before they are read; clearing them all would cost more than the filter */
    struct texel v = {0};
    taps.groups = 0;
    memset(taps.counts, 0, sizeof taps.counts);
    struct footprint f = footprint_of(t, lower, q, t->linear_filter);
    add_taps(t, lower, &f, 256 - upper_share, &taps);
    if (upper_share) {
        f = footprint_of(t, upper, q, t->linear_filter);
        add_taps(t, upper, &f, upper_share, &taps);
    }
    for (int n = 0; n < (int)t->array.channels; n++)
        v.bits[n] = f32_bits(filter_component(t, &taps, n));
    return v;
}

static struct texel sample(const struct texture *t, struct texture_request *q)
{
    const struct texture_array *a = &t->array, *next = a;
    bool filters = !q->whole && q->gather < 0 && !texture_gives_integers(t);
    uint32_t share = 0;
    if (q->whole && q->has_level) {
        if (q->level < 0.0f || q->level >= (float)(t->levels ? t->level_count : 1))
            return q->touched = a->data, (struct texel){0};
        a = t->levels ? &t->levels[(uint32_t)q->level] : a;
    } else if (t->levels && t->level_count) {
        int64_t level = level_steps(t, q);
        bool between = filters && t->linear_mip_filter;
        share = between ? (uint32_t)level % LEVEL_STEPS : 0;
        a = &t->levels[between ? level / LEVEL_STEPS : (level + LEVEL_STEPS / 2) / LEVEL_STEPS];
        next = share ? a + 1 : a;
    }
    if (filters && (t->linear_filter || share))
        return mix(t, a, next, share, q);
    struct footprint f = footprint_of(t, a, q, q->gather >= 0);
    if (q->whole)
        return read_whole(t, a, &f, q);
    return q->gather >= 0 ? gather(t, a, &f, q->gather) : tap(t, a, &f, (const int64_t[3]){0, 0, 0});
}

/* A buffer in linear memory is read by whole index; outside of it, and by any other coordinate, there is zero. */
static struct texel read_linear(const struct texture *t, struct texture_request *q)
{
    int64_t at[3] = {(int64_t)q->texel[0] + q->offset[0], 0, 0};
    if (!q->whole || q->geometry != TEXTURE_1D || at[0] < 0 || at[0] >= (int64_t)t->array.width)
        return q->touched = t->array.data, (struct texel){0};
    return read_texel(t, &t->array, at, &q->touched);
}

void texture_sample(const struct texture *t, struct texture_request *q, uint32_t out[4])
{
    struct texel v;
    if (t->kind == TEXTURE_LINEAR)
        v = read_linear(t, q);
    else
        v = sample(t, q);
    memcpy(out, v.bits, sizeof v.bits);
}
