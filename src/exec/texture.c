/* How texture objects are read (CUDA programming guide, texture fetching; PTX ISA 9.7.10), bit by bit as silicon
 * (sm_90) does it: tests/semantics/textures.
 *
 * A coordinate is scaled to texels; without filtering the texel is its integral part. Linear filtering works on fixed
 * point: coordinates are rounded to 1/256 of a texel, so that weights have 8 bits. Addressing modes act on the whole
 * texel indices. Wrap and mirror need normalised coordinates and are clamp without them. Missing components are zero.
 *
 * Left out: anisotropic filtering, multisampled textures, block-compressed formats. */
#include "exec/texture.h"

#include "exec/memory.h"
#include "exec/texture_rules.h"

#include <string.h>

/* Texels */

/* 32-bit integers have no normalised reading. */
bool texture_gives_integers(const struct texture *t)
{
    enum texture_format f = t->array.format;
    return !is_float_format(f) && (t->read_as_integer || f == TEXTURE_U32 || f == TEXTURE_S32);
}

/* A texel's components as they are returned unfiltered. */
struct texel {
    uint32_t bits[4];
};

static struct texel unfiltered(const struct texture *t, const struct raw_texel *raw)
{
    struct texel v;
    memcpy(v.bits, raw->component, sizeof v.bits);
    for (uint32_t n = 0; n < t->array.channels && !texture_gives_integers(t); n++)
        v.bits[n] = unfiltered_component(t, (int)n, v.bits[n]);
    return v;
}

static struct raw_texel read_texel(const struct texture_array *a, const int64_t at[3], uint64_t *touched)
{
    uint64_t bytes = texture_texel_bytes(a);
    *touched = a->data + (uint64_t)at[0] * bytes + (uint64_t)at[1] * a->pitch_bytes + (uint64_t)at[2] * a->slice_bytes;
    return read_components(a->format, memory_pointer(*touched), a->channels);
}

uint16_t texture_cut_to_f16(float v)
{
    uint16_t h = f16_from_f32(v);
    if (isnan(v))
        return (uint16_t)((f32_bits(v) >> 16 & 0x8000u) | 0x7c00u | (f32_bits(v) >> 13 & 0x3ffu));
    return fabsf(f16_to_f32(h)) > fabsf(v) ? (uint16_t)(h - 1) : h;
}

/* The border's colour is kept in the array's format: of integers its bits, else scaled in single precision and
 * rounded. */
static uint32_t border_component(const struct texture *t, uint32_t n)
{
    enum texture_format f = t->array.format;
    uint8_t raw[4];
    memcpy(raw, &t->border[n], sizeof raw);
    if (texture_gives_integers(t) || f == TEXTURE_F32)
        return read_components(f, raw, 1).component[0];
    if (f == TEXTURE_F16)
        return texture_cut_to_f16(t->border[n]);
    float top = f == TEXTURE_U8 ? 255.0f : f == TEXTURE_U16 ? 65535.0f : f == TEXTURE_S8 ? 127.0f : 32767.0f;
    float lowest = f == TEXTURE_S8 || f == TEXTURE_S16 ? -1.0f : 0.0f, v = isnan(t->border[n]) ? 0.0f : t->border[n];
    return (uint32_t)(int32_t)rintf(fminf(fmaxf(v, lowest), 1.0f) * top);
}

struct raw_texel texture_border(const struct texture *t)
{
    struct raw_texel raw = {{0}};
    for (uint32_t n = 0; n < t->array.channels; n++)
        raw.component[n] = border_component(t, n);
    return raw;
}

/* Addressing */

static int dimensions_of(enum texture_geometry g)
{
    return g == TEXTURE_1D || g == TEXTURE_A1D ? 1 : g == TEXTURE_3D ? 3 : 2;
}

/* What a request looks at on one level: whole indices and, of linear filtering, weights in 1/256 of the next texel. */
struct footprint {
    int dimensions;
    int64_t index[3];
    uint32_t weight[3];
    int64_t layer; /* third index of one- and two-dimensional arrays */
    uint64_t *touched;
};

/* Whole coordinates are not subject to the addressing modes: outside there is zero or, where the level is given, the
 * nearest texel. The whole index of one dimension is for linear memory: an array answers zero. */
static struct raw_texel read_whole(const struct texture_array *a, const struct footprint *f,
                                   const struct texture_request *q)
{
    int64_t at[3] = {0, 0, f->layer};
    bool is_layered = q->geometry == TEXTURE_A1D || q->geometry == TEXTURE_A2D,
         outside = is_layered && q->layer >= a->layers;
    *f->touched = a->data;
    for (int axis = 0; axis < f->dimensions; axis++) {
        at[axis] = f->index[axis];
        outside |= at[axis] < 0 || at[axis] >= extent(a, axis);
        address_index(TEXTURE_CLAMP, extent(a, axis), &at[axis]);
    }
    if (q->geometry == TEXTURE_1D || (outside && !q->has_level))
        return (struct raw_texel){{0}};
    return read_texel(a, at, f->touched);
}

static struct raw_texel tap(const struct texture *t, const struct texture_array *a, const struct footprint *f,
                            const int64_t step[3])
{
    int64_t at[3] = {0, 0, f->layer};
    for (int axis = 0; axis < f->dimensions; axis++) {
        at[axis] = f->index[axis] + step[axis];
        if (!address_index(mode_of(t, axis), extent(a, axis), &at[axis])) {
            *f->touched = a->data;
            return texture_border(t);
        }
    }
    return read_texel(a, at, f->touched);
}

static void place(const struct texture *t, const struct texture_array *a, double at, int32_t offset, int axis,
                  bool linear, bool held, struct footprint *f)
{
    enum texture_address mode = mode_of(t, axis);
    int64_t size = extent(a, axis);
    double texels = texel_coordinate(at, t->normalized, mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR, (double)size);
    if (!linear) {
        f->index[axis] = (int64_t)floor(texels) + offset;
        return;
    }
    int64_t fixed = fixed_coordinate(texels) + (int64_t)offset * 256;
    if (held && mode == TEXTURE_CLAMP)
        fixed = held_coordinate(fixed, size);
    f->index[axis] = fixed >> 8;
    f->weight[axis] = (uint32_t)(fixed & 255);
}

/* z splits the whole. */
static void split_weights(const struct footprint *f, uint32_t whole, struct corner_weights weights[2])
{
    uint32_t above = f->dimensions == 3 ? half_down(whole * f->weight[2]) : 0;
    weights[0] = split_weight(whole - above, f->weight[0], f->weight[1]);
    weights[1] = split_weight(above, f->weight[0], f->weight[1]);
}

/* The texels of a request and their weights in 1/256, in groups of four: those of one slice of one level are filtered
 * together. */
enum { GROUP = 4, GROUPS = 4 };

struct taps {
    int groups, counts[GROUPS];
    uint32_t weights[GROUPS][GROUP];
    struct raw_texel texels[GROUPS][GROUP];
};

/* The two texels of an axis that filtering mixes: where they are, in bytes, and whether they are inside. A coordinate
 * in the middle of a texel does not reach its neighbour; a weight that is rounded to zero does, if only for infinities
 * and what is no number. */
struct axis_texels {
    uint64_t bytes[2];
    bool inside[2];
    uint32_t count;
};

static struct axis_texels texels_of_axis(const struct texture *t, const struct texture_array *a,
                                         const struct footprint *f, int axis, uint64_t step_bytes)
{
    struct axis_texels x = {.count = f->weight[axis] ? 2 : 1};
    enum texture_address mode = mode_of(t, axis);
    int64_t size = extent(a, axis);
    for (uint32_t i = 0; i < x.count; i++) {
        int64_t at = f->index[axis] + i;
        x.inside[i] = address_index(mode, size, &at);
        x.bytes[i] = (uint64_t)at * step_bytes;
    }
    return x;
}

static struct raw_texel tap_at(const struct texture *t, const struct texture_array *a, bool inside, uint64_t bytes,
                               uint64_t *touched)
{
    *touched = inside ? a->data + bytes : a->data;
    return inside ? read_components(a->format, memory_pointer(*touched), a->channels) : texture_border(t);
}

static void add_taps(const struct texture *t, const struct texture_array *a, const struct footprint *f, uint32_t whole,
                     struct taps *taps)
{
    const struct axis_texels none = {.inside = {true}, .count = 1};
    const struct axis_texels layer = {.bytes = {(uint64_t)f->layer * a->slice_bytes}, .inside = {true}, .count = 1};
    struct axis_texels x = texels_of_axis(t, a, f, 0, texture_texel_bytes(a));
    struct axis_texels y = f->dimensions > 1 ? texels_of_axis(t, a, f, 1, a->pitch_bytes) : none;
    struct axis_texels z = f->dimensions > 2 ? texels_of_axis(t, a, f, 2, a->slice_bytes) : layer;
    struct corner_weights weights[2];
    split_weights(f, whole, weights);
    for (uint32_t k = 0; k < z.count; k++) {
        int group = taps->groups + (int)k, count = 0;
        for (uint32_t j = 0; j < y.count; j++)
            for (uint32_t i = 0; i < x.count; i++) {
                taps->weights[group][count] = weights[k].corner[2 * j + i];
                taps->texels[group][count++] = tap_at(t, a, x.inside[i] & y.inside[j] & z.inside[k],
                                                      x.bytes[i] + y.bytes[j] + z.bytes[k], f->touched);
            }
        taps->counts[group] = count;
    }
    taps->groups += f->dimensions == 3 ? 2 : 1;
}

static double sum_group(const struct texture *t, const struct taps *taps, int group, int n, int64_t bits)
{
    double values[GROUP], sum = 0.0;
    int64_t largest = NO_EXPONENT;
    int count = taps->counts[group];
    for (int i = 0; i < count; i++) {
        uint32_t raw = taps->texels[group][i].component[n];
        values[i] = is_srgb(t, n) ? srgb_value(raw) : float_value(t->array.format == TEXTURE_F16, raw);
        int64_t exponent = is_srgb(t, n) ? srgb_exponent(raw) : exponent_of(values[i]);
        largest = larger_exponent(largest, values[i], taps->weights[group][i], exponent);
    }
    largest = largest == NO_EXPONENT ? 0 : largest;
    for (int i = 0; i < count; i++)
        sum += aligned(values[i], taps->weights[group][i], bits, largest);
    return sum_of_aligned(sum, bits, largest);
}

static float filter_component(const struct texture *t, const struct taps *taps, int n)
{
    struct float_filter filter = float_filter_of(t, n);
    double sum = 0.0;
    int64_t whole = 0;
    if (filters_as_floats(t, n)) {
        for (int group = 0; group < taps->groups; group++)
            sum += sum_group(t, taps, group, n, filter.aligned_bits);
        return filtered_float(sum, filter);
    }
    for (int group = 0; group < taps->groups; group++)
        for (int i = 0; i < taps->counts[group]; i++)
            whole += (int64_t)taps->weights[group][i] * (int32_t)taps->texels[group][i].component[n];
    return filtered_integer(t->array.format, whole);
}

/* The four texels that filtering would mix, one component of each: lower left first, then against the clock. */
static struct texel gather(const struct texture *t, const struct texture_array *a, const struct footprint *f,
                           int component)
{
    static const int64_t steps[4][3] = {{0, 1, 0}, {1, 1, 0}, {1, 0, 0}, {0, 0, 0}};
    struct texel v;
    for (int n = 0; n < 4; n++) {
        struct raw_texel raw = tap(t, a, f, steps[n]);
        v.bits[n] = unfiltered(t, &raw).bits[component];
    }
    return v;
}

/* A direction is scaled by the reciprocal of its largest component, which is zero or infinite where that is very large
 * or denormal. */
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

static struct footprint footprint_of(const struct texture *t, const struct texture_array *a, struct texture_request *q,
                                     bool linear)
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
    int64_t level =
        q->has_level ? (int64_t)(bounded(q->level) * LEVEL_STEPS) + (int64_t)(bounded(t->level_bias) * LEVEL_STEPS) : 0;
    int64_t least = (int64_t)floor(bounded(t->min_level) * LEVEL_STEPS),
            most = (int64_t)floor(bounded(t->max_level) * LEVEL_STEPS);
    int64_t top = (int64_t)(t->level_count - 1) * LEVEL_STEPS;
    level = level > most ? most : level;
    level = level < least ? least : level;
    return level < 0 ? 0 : level > top ? top : level;
}

/* Filtering between texels, between levels, or both. */
static struct texel mix(const struct texture *t, const struct texture_array *lower, const struct texture_array *upper,
                        uint32_t upper_share, struct texture_request *q)
{
    struct taps
        taps; /* its texels are written before they are read; clearing them all would cost more than the filter */
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
    if (q->gather >= 0)
        return gather(t, a, &f, q->gather);
    struct raw_texel raw = q->whole ? read_whole(a, &f, q) : tap(t, a, &f, (const int64_t[3]){0, 0, 0});
    return unfiltered(t, &raw);
}

/* A buffer in linear memory is read by whole index; outside of it, and by any other coordinate, there is zero. */
static struct texel read_linear(const struct texture *t, struct texture_request *q)
{
    int64_t at[3] = {(int64_t)q->texel[0] + q->offset[0], 0, 0};
    if (!q->whole || q->geometry != TEXTURE_1D || at[0] < 0 || at[0] >= (int64_t)t->array.width)
        return q->touched = t->array.data, (struct texel){0};
    struct raw_texel raw = read_texel(&t->array, at, &q->touched);
    return unfiltered(t, &raw);
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
