/* Texture objects: their table, and how they are read (CUDA programming guide, texture fetching; PTX ISA 9.7.10).
 *
 * A coordinate is scaled to texels; without filtering the texel is its integral part. Linear filtering works on fixed point: coordinates are rounded to
 * 1/256 of a texel, so that weights have 8 bits. Addressing modes act on the whole texel indices. Wrap and mirror need normalised coordinates and
 * are clamp without them. Missing components are zero.
 *
 * Left out: anisotropic filtering, multisampled textures, block-compressed formats. */
#include "exec/texture.h"

#include "exec/float_bits.h"
#include "exec/memory.h"
#include "exec/sampler.h"

#include <math.h>
#include <stdlib.h>

/* The table */

enum { HANDLE_INDEX_BITS = 32 };

uint64_t texture_create(struct texture_table *t, const struct texture *description)
{
    uint32_t slot = 0;
    while (slot < t->count && t->entries[slot])
        slot++;
    struct texture *copy = malloc(sizeof *copy);
    if (slot == t->capacity) {
        uint32_t capacity = t->capacity ? t->capacity * 2 : 16;
        struct texture **bigger = realloc(t->entries, capacity * sizeof *bigger);
        if (!bigger)
            abort(); /* some bytes for a table: the host has none left */
        t->entries = bigger;
        t->capacity = capacity;
    }
    if (!copy)
        abort();
    *copy = *description;
    copy->in_use = true;
    t->entries[slot] = copy;
    if (slot == t->count)
        t->count++;
    return TEXTURE_HANDLE_TAG | (uint64_t)(slot + 1);
}

static bool slot_of(const struct texture_table *t, uint64_t handle, uint32_t *slot)
{
    uint64_t number = handle & 0xffffffffu;
    if (handle >> HANDLE_INDEX_BITS != TEXTURE_HANDLE_TAG >> HANDLE_INDEX_BITS || number == 0 || number > t->count)
        return false;
    *slot = (uint32_t)number - 1;
    return t->entries[*slot] != NULL;
}

bool texture_destroy(struct texture_table *t, uint64_t handle)
{
    uint32_t slot;
    if (!slot_of(t, handle, &slot))
        return false;
    free(t->entries[slot]);
    t->entries[slot] = NULL;
    return true;
}

const struct texture *texture_find(const struct texture_table *t, uint64_t handle)
{
    uint32_t slot;
    return slot_of(t, handle, &slot) ? t->entries[slot] : NULL;
}

void texture_table_free(struct texture_table *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        free(t->entries[i]);
    free(t->entries);
    *t = (struct texture_table){0};
}

/* Texels */

static bool is_float_format(enum texture_format f) { return f == TEXTURE_F16 || f == TEXTURE_F32; }

/* 32-bit integers have no normalised reading. */
bool texture_gives_integers(const struct texture *t)
{
    enum texture_format f = t->array.format;
    return !is_float_format(f) && (t->read_as_integer || f == TEXTURE_U32 || f == TEXTURE_S32);
}

static float from_srgb(float v) { return v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f); }

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

/* Unsigned values become [0, 1], signed ones [-1, 1]: both of the lowest two are -1. */
static float normalised(enum texture_format f, uint32_t v)
{
    switch (f) {
    case TEXTURE_U8: return (float)v / 255.0f;
    case TEXTURE_U16: return (float)v / 65535.0f;
    case TEXTURE_S8: return fmaxf((float)(int32_t)v / 127.0f, -1.0f);
    case TEXTURE_S16: return fmaxf((float)(int32_t)v / 32767.0f, -1.0f);
    case TEXTURE_F16: return f16_to_f32((uint16_t)v);
    default: return f32_from(v);
    }
}

/* A texel's four components; outside of the array: NULL. */
struct texel { uint32_t bits[4]; };

static struct texel read_texel(const struct texture *t, const struct texture_array *a, const int64_t at[3], uint64_t *touched)
{
    struct texel v = {{0}};
    uint64_t bytes = texture_texel_bytes(a);
    *touched = a->data + (uint64_t)at[0] * bytes + (uint64_t)at[1] * a->pitch_bytes + (uint64_t)at[2] * a->slice_bytes;
    const uint8_t *p = memory_pointer(*touched);
    bool integers = texture_gives_integers(t);
    for (uint32_t n = 0; n < a->channels; n++) {
        uint32_t raw = component_integer(a->format, p, n);
        float value = integers ? 0.0f : normalised(a->format, raw);
        if (t->srgb && a->format == TEXTURE_U8 && n < 3)
            value = from_srgb(value);
        v.bits[n] = integers ? raw : f32_bits(value);
    }
    return v;
}

/* The border's colour is kept in the array's format. */
static float border_component(const struct texture *t, float v)
{
    float top = t->array.format == TEXTURE_U8 ? 255.0f : t->array.format == TEXTURE_U16 ? 65535.0f : t->array.format == TEXTURE_S8 ? 127.0f : 32767.0f;
    float lowest = t->array.format == TEXTURE_S8 || t->array.format == TEXTURE_S16 ? -1.0f : 0.0f;
    if (t->array.format == TEXTURE_F32)
        return v;
    if (t->array.format == TEXTURE_F16)
        return f16_to_f32(f16_from_f32(v));
    v = v > 1.0f ? 1.0f : v > lowest ? v : lowest;
    return floorf(v * top + 0.5f) / top;
}

static struct texel border_texel(const struct texture *t)
{
    struct texel v = {{0}};
    uint8_t raw[16];
    memcpy(raw, t->border, sizeof raw);
    for (uint32_t n = 0; n < t->array.channels; n++) {
        uint32_t component = component_integer(t->array.format, raw + 4 * n, 0); /* of integers the border holds the bits */
        v.bits[n] = texture_gives_integers(t) ? component : f32_bits(border_component(t, t->border[n]));
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

/* Whole coordinates are not subject to addressing: outside there is zero. */
static struct texel read_whole(const struct texture *t, const struct texture_array *a, const struct footprint *f)
{
    int64_t at[3] = {0, 0, f->layer};
    *f->touched = a->data;
    for (int axis = 0; axis < f->dimensions; axis++) {
        at[axis] = f->index[axis];
        if (at[axis] < 0 || at[axis] >= extent(a, axis))
            return (struct texel){{0}};
    }
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

/* NaN counts as zero; beyond what an index can hold it does not matter where. */
static double bounded(double v)
{
    const double limit = 1ull << 40;
    return isnan(v) ? 0.0 : v > limit ? limit : v < -limit ? -limit : v;
}

/* Normalised coordinates are cut to so many steps before they are scaled. */
#define COORDINATE_STEPS 1048576.0

static void place(const struct texture *t, const struct texture_array *a, double at, int axis, bool linear, struct footprint *f)
{
    double texels = bounded(at);
    if (t->normalized)
        texels = floor(bounded(at * COORDINATE_STEPS)) / COORDINATE_STEPS * (double)extent(a, axis);
    if (!linear) {
        f->index[axis] = (int64_t)floor(texels);
        return;
    }
    int64_t fixed = (int64_t)floor(texels * 256.0 + 0.5) - 128, last = extent(a, axis) - 1;
    if (mode_of(t, axis) == TEXTURE_CLAMP) /* the coordinate is held inside, not only the texels */
        fixed = fixed < 0 ? 0 : fixed > last * 256 ? last * 256 : fixed;
    f->index[axis] = fixed >> 8;
    f->weight[axis] = (uint32_t)(fixed & 255);
}

static uint32_t half_up(uint32_t v) { return (v + 128) >> 8; }

static uint32_t half_down(uint32_t v) { return (v + 127) >> 8; }

/* Weights of the corners in 1/256; they add up to one. z splits the whole, x each part, y each part of that. Halves go as silicon has them: up, but for y where x
 * is the lower texel; in two dimensions x keeps its sum. */
static void split_weights(const struct footprint *f, uint32_t weights[8])
{
    uint32_t x = f->weight[0], y = f->weight[1], z = f->weight[2];
    bool solid = f->dimensions == 3;
    for (uint32_t upper = 0; upper <= (uint32_t)solid; upper++) {
        uint32_t whole = !solid ? 256 : upper ? z : 256 - z, right = half_up(whole * x), left = whole - right;
        uint32_t *w = weights + 4 * upper;
        w[3] = half_up(right * y);
        w[2] = half_down(left * y);
        w[1] = right - w[3];
        w[0] = left - w[2];
    }
}

/* The filter's results have 16 bits where the texels are integers or 16-bit floats. */
static float filtered(enum texture_format f, double v)
{
    switch (f) {
    case TEXTURE_U8:
    case TEXTURE_U16: return (float)(floor(v * 65535.0 + 0.5) / 65535.0);
    case TEXTURE_S8:
    case TEXTURE_S16: return (float)(floor(v * 32767.0 + 0.5) / 32767.0);
    case TEXTURE_F16: return f16_to_f32(f16_from_f32((float)v));
    default: return (float)v;
    }
}

static struct texel filter(const struct texture *t, const struct texture_array *a, const struct footprint *f)
{
    double sum[4] = {0};
    struct texel v;
    uint32_t weights[8];
    split_weights(f, weights);
    for (int corner = 0; corner < 1 << f->dimensions; corner++) {
        int64_t step[3] = {corner & 1, corner >> 1 & 1, corner >> 2 & 1};
        if (weights[corner] == 0)
            continue;
        v = tap(t, a, f, step);
        for (int n = 0; n < 4; n++)
            sum[n] += weights[corner] / 256.0 * (double)f32_from(v.bits[n]);
    }
    for (int n = 0; n < 4; n++)
        v.bits[n] = f32_bits(filtered(a->format, sum[n]));
    return v;
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

/* The face of a cube that a direction meets, and where: coordinates in [0, 1]. */
static int cube_face(const float direction[3], double *x, double *y)
{
    float ax = fabsf(direction[0]), ay = fabsf(direction[1]), az = fabsf(direction[2]), major, s, u;
    int face;
    if (az >= ax && az >= ay) { /* of equals the later axis */
        face = 4 + (direction[2] < 0);
        major = az;
        s = face == 5 ? -direction[0] : direction[0];
        u = -direction[1];
    } else if (ay >= ax) {
        face = 2 + (direction[1] < 0);
        major = ay;
        s = direction[0];
        u = face == 3 ? -direction[2] : direction[2];
    } else {
        face = direction[0] < 0;
        major = ax;
        s = face ? direction[2] : -direction[2];
        u = -direction[1];
    }
    *x = ((double)s / (double)major + 1.0) * 0.5;
    *y = ((double)u / (double)major + 1.0) * 0.5;
    return face;
}

static bool is_cube(enum texture_geometry g) { return g == TEXTURE_CUBE || g == TEXTURE_ACUBE; }

/* A negative layer is a large one. */
static int64_t clamp_layer(uint32_t layer, uint32_t count) { return layer < count ? layer : count ? count - 1 : 0; }

/* One level of a texture, or its only one. */
static struct texel sample_level(const struct texture *t, const struct texture_array *a, struct texture_request *q)
{
    struct footprint f = {.dimensions = dimensions_of(q->geometry), .touched = &q->touched};
    double at[3] = {q->at[0], q->at[1], q->at[2]};
    bool linear = (t->linear_filter || q->gather >= 0) && !q->whole && !texture_gives_integers(t);
    linear |= q->gather >= 0;
    if (q->geometry == TEXTURE_A1D || q->geometry == TEXTURE_A2D)
        f.layer = clamp_layer(q->layer, a->layers);
    if (is_cube(q->geometry)) {
        int face = cube_face(q->at, &at[0], &at[1]);
        f.layer = face + (q->geometry == TEXTURE_ACUBE ? 6 * clamp_layer(q->layer, a->layers / 6) : 0);
    }
    for (int axis = 0; axis < f.dimensions; axis++) {
        if (q->whole)
            f.index[axis] = q->texel[axis];
        else
            place(t, a, at[axis], axis, linear, &f);
        f.index[axis] += q->offset[axis];
    }
    if (q->geometry == TEXTURE_1D && linear && mode_of(t, 1) == TEXTURE_BORDER) {
        f.dimensions = 2; /* silicon filters a line as an image of one row, at its edge: half of it is border */
        f.index[1] = -1;
        f.weight[1] = 128;
    }
    if (q->whole)
        return read_whole(t, a, &f);
    if (q->gather >= 0)
        return gather(t, a, &f, q->gather);
    return linear ? filter(t, a, &f) : tap(t, a, &f, (const int64_t[3]){0, 0, 0});
}

/* Levels of detail */

static float clamp_level(const struct texture *t, float level)
{
    float top = (float)(t->level_count - 1), most = t->max_level < top ? t->max_level : top;
    level += t->level_bias;
    if (!(level > t->min_level))
        level = t->min_level;
    return level > most ? most : level;
}

static struct texel sample_mipmaps(const struct texture *t, struct texture_request *q)
{
    float level = clamp_level(t, q->has_level ? q->level : 0.0f);
    if (!t->linear_mip_filter)
        return sample_level(t, &t->levels[(uint32_t)floorf(level + 0.5f)], q);
    uint32_t fixed = (uint32_t)floorf(level * 256.0f + 0.5f), lower = fixed >> 8, weight = fixed & 255;
    struct texel a = sample_level(t, &t->levels[lower], q);
    if (weight == 0 || texture_gives_integers(t))
        return a;
    struct texel b = sample_level(t, &t->levels[lower + 1], q);
    for (int n = 0; n < 4; n++)
        a.bits[n] = f32_bits((float)((256 - weight) / 256.0 * (double)f32_from(a.bits[n]) + weight / 256.0 * (double)f32_from(b.bits[n])));
    return a;
}

float texture_level_of(const struct texture *t, const float dx[3], const float dy[3], int dimensions)
{
    double along_x = 0, along_y = 0;
    const struct texture_array *a = t->levels ? &t->levels[0] : &t->array;
    for (int axis = 0; axis < dimensions; axis++) {
        double scale = t->normalized ? (double)extent(a, axis) : 1.0;
        along_x += dx[axis] * scale * dx[axis] * scale;
        along_y += dy[axis] * scale * dy[axis] * scale;
    }
    return (float)(0.5 * log2(along_x > along_y ? along_x : along_y));
}

/* A buffer in linear memory is read by whole index; outside of it there is zero. */
static struct texel read_linear(const struct texture *t, struct texture_request *q)
{
    int64_t at[3] = {q->whole ? (int64_t)q->texel[0] + q->offset[0] : (int64_t)floor(bounded(q->at[0])), 0, 0};
    if (at[0] < 0 || at[0] >= (int64_t)t->array.width)
        return q->touched = t->array.data, (struct texel){{0}};
    return read_texel(t, &t->array, at, &q->touched);
}

void texture_sample(const struct texture *t, struct texture_request *q, uint32_t out[4])
{
    struct texel v;
    if (t->kind == TEXTURE_LINEAR)
        v = read_linear(t, q);
    else if (t->levels && t->level_count)
        v = sample_mipmaps(t, q);
    else
        v = sample_level(t, &t->array, q);
    memcpy(out, v.bits, sizeof v.bits);
}
