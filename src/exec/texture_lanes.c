/* Fetches of a whole warp from the first level of one array: each step for all lanes before the next, so that the
 * loops vectorise. The rules are those of texture_rules.h, and the order in which a lane's texels are read that of
 * texture.c, which reads textures in all other ways.
 *
 * Lanes that are not active are computed, with whatever their registers hold, but read nothing. */
#include "exec/lanes.h"
#include "exec/memory.h"
#include "exec/texture_rules.h"

enum { STEPS = 2, CORNERS = 4, SLICES = 2 };

/* On one axis: the whole index and the weight of the next texel, then where both are, in bytes. */
struct axis {
    int64_t index[WARP_LANES], weight[WARP_LANES];
    uint64_t bytes[STEPS][WARP_LANES];
    bool inside[STEPS][WARP_LANES];
    uint32_t steps;
};

/* Of one slice, what its corners hold; weights in 1/256. A corner that a lane does not reach has weight and texel
 * zero. */
struct slice {
    double weight[CORNERS][WARP_LANES];
    uint32_t raw[CORNERS][4][WARP_LANES];
};

struct sampling {
    const struct texture *t;
    const struct texture_array *a;
    uint32_t mask;
    int dimensions;
    struct raw_texel border;
    struct axis axis[3];
};

static void place_lanes(const struct sampling *s, const float *at, int number, bool linear, struct axis *x)
{
    enum texture_address mode = mode_of(s->t, number);
    int64_t size = extent(s->a, number);
    bool normalized = s->t->normalized, turns = mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR,
         held = mode == TEXTURE_CLAMP;
    double texels[WARP_LANES];
    VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++) texels[i] =
        texel_coordinate((double)at[i], normalized, turns, (double)size);
    x->steps = linear ? 2 : 1;
    if (!linear) {
        VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++) x->index[i] = (int64_t)floor(texels[i]);
        return;
    }
    VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++)
    {
        int64_t fixed = fixed_coordinate(texels[i]), inside = held_coordinate(fixed, size);
        fixed = held ? inside : fixed;
        x->index[i] = fixed >> 8;
        x->weight[i] = fixed & 255;
    }
}

static void find_lanes(const struct sampling *s, int number, uint64_t step_bytes, struct axis *x)
{
    enum texture_address mode = mode_of(s->t, number);
    int64_t size = extent(s->a, number);
    for (uint32_t step = 0; step < x->steps; step++)
        for (int i = 0; i < WARP_LANES; i++) {
            int64_t at = x->index[i] + step;
            x->inside[step][i] = address_index(mode, size, &at);
            x->bytes[step][i] = (uint64_t)at * step_bytes;
        }
}

/* An axis that there is not, or a layer: one texel. */
static void stay(struct axis *x, const uint32_t *layer, const struct texture_array *a)
{
    x->steps = 1;
    for (int i = 0; i < WARP_LANES; i++) {
        x->weight[i] = 0;
        x->inside[0][i] = true;
        x->bytes[0][i] = layer ? (uint64_t)clamp_layer(layer[i], a->layers) * a->slice_bytes : 0;
    }
}

static void place_all(struct sampling *s, const struct texture_lanes *l, bool linear)
{
    const uint64_t step_bytes[3] = {texture_texel_bytes(s->a), s->a->pitch_bytes, s->a->slice_bytes};
    for (int n = 0; n < s->dimensions; n++)
        place_lanes(s, l->at[n], n, linear, &s->axis[n]);
    if (l->geometry == TEXTURE_1D && linear && mode_of(s->t, 1) == TEXTURE_BORDER) { /* as in footprint_of */
        s->dimensions = 2;
        s->axis[1].steps = 2;
        for (int i = 0; i < WARP_LANES; i++) {
            s->axis[1].index[i] = -1;
            s->axis[1].weight[i] = 128;
        }
    }
    for (int n = 0; n < s->dimensions; n++)
        find_lanes(s, n, step_bytes[n], &s->axis[n]);
    for (int n = s->dimensions; n < 3; n++)
        stay(&s->axis[n], n == 2 ? l->layer : NULL, s->a);
}

/* The texel of each lane's corner (i, j, k), component by component. */
#define READ_LANES(type, to)                                                                             \
    for (uint32_t left = reached; left; left &= left - 1) {                                              \
        uint32_t lane = (uint32_t)__builtin_ctz(left);                                                   \
        bool inside = x->inside[i][lane] & y->inside[j][lane] & z->inside[k][lane];                      \
        touched[lane] = data + (inside ? x->bytes[i][lane] + y->bytes[j][lane] + z->bytes[k][lane] : 0); \
        const uint8_t *p = memory_pointer(touched[lane]);                                                \
        for (uint32_t n = 0; n < channels; n++) {                                                        \
            type v;                                                                                      \
            memcpy(&v, p + n * sizeof v, sizeof v);                                                      \
            raw[n][lane] = inside ? (uint32_t)(to)v : s->border.component[n];                            \
        }                                                                                                \
    }
static void read_corner(const struct sampling *s, uint32_t i, uint32_t j, uint32_t k, uint32_t reached,
                        uint32_t raw[4][WARP_LANES], uint64_t *touched)
{
    const struct axis *x = &s->axis[0], *y = &s->axis[1], *z = &s->axis[2];
    uint64_t data = s->a->data;
    uint32_t channels = s->a->channels;
    if (reached != FULL_MASK)
        memset(raw, 0, channels * sizeof raw[0]);
    switch (s->a->format) {
    case TEXTURE_U8: READ_LANES(uint8_t, uint32_t) break;
    case TEXTURE_S8: READ_LANES(int8_t, int32_t) break;
    case TEXTURE_S16: READ_LANES(int16_t, int32_t) break;
    case TEXTURE_U16:
    case TEXTURE_F16: READ_LANES(uint16_t, uint32_t) break;
    default: READ_LANES(uint32_t, uint32_t) break;
    }
}
#undef READ_LANES

static uint32_t lanes_with_weight(const struct axis *x)
{
    uint32_t lanes = 0;
    for (int i = 0; i < WARP_LANES; i++)
        lanes |= (uint32_t)(x->weight[i] != 0) << i;
    return lanes;
}

/* z splits the whole, x each part, y each part of that, as in texture.c. */
static void split_lanes(const struct sampling *s, uint32_t k, double weight[CORNERS][WARP_LANES])
{
    const int64_t *wx = s->axis[0].weight, *wy = s->axis[1].weight, *wz = s->axis[2].weight;
    VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++)
    {
        uint32_t above = half_down(256 * (uint32_t)wz[i]), part = k ? above : 256 - above;
        struct corner_weights w = split_weight(part, (uint32_t)wx[i], (uint32_t)wy[i]);
        for (int corner = 0; corner < CORNERS; corner++)
            weight[corner][i] = w.corner[corner];
    }
}

static void read_slice(const struct sampling *s, uint32_t k, struct slice *slice, uint64_t *touched)
{
    const struct axis *x = &s->axis[0], *y = &s->axis[1], *z = &s->axis[2];
    uint32_t next_x = lanes_with_weight(x), next_y = lanes_with_weight(y),
             reached = k ? s->mask & lanes_with_weight(z) : s->mask;
    split_lanes(s, k, slice->weight);
    for (uint32_t j = 0; j < 2; j++)
        for (uint32_t i = 0; i < 2; i++)
            read_corner(s, i, j, k, reached & (i ? next_x : FULL_MASK) & (j ? next_y : FULL_MASK),
                        slice->raw[2 * j + i], touched);
}

/* Adds the sum of a slice's texels to each lane's. */
static void add_floats(const struct texture *t, int n, const struct slice *slice, int64_t bits, double sums[WARP_LANES])
{
    double value[CORNERS][WARP_LANES];
    int64_t exponent[CORNERS][WARP_LANES];
    bool half = t->array.format == TEXTURE_F16;
    for (int c = 0; c < CORNERS; c++) {
        const uint32_t *raw = slice->raw[c][n];
        if (is_srgb(t, n)) {
            for (int i = 0; i < WARP_LANES; i++) {
                value[c][i] = srgb_value(raw[i]);
                exponent[c][i] = srgb_exponent(raw[i]);
            }
            continue;
        }
        if (half) {
            VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++) value[c][i] = float_value(true, raw[i]);
        } else {
            VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++) value[c][i] = float_value(false, raw[i]);
        }
        VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++) exponent[c][i] = exponent_of(value[c][i]);
    }
    VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++)
    {
        int64_t largest = NO_EXPONENT;
        double sum = 0.0;
        for (int c = 0; c < CORNERS; c++)
            largest = larger_exponent(largest, value[c][i], slice->weight[c][i], exponent[c][i]);
        largest = largest == NO_EXPONENT ? 0 : largest;
        for (int c = 0; c < CORNERS; c++)
            sum += aligned(value[c][i], slice->weight[c][i], bits, largest);
        sums[i] += sum_of_aligned(sum, bits, largest);
    }
}

static void add_integers(int n, const struct slice *slice, double sums[WARP_LANES])
{
    for (int c = 0; c < CORNERS; c++) {
        const uint32_t *raw = slice->raw[c][n];
        VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++) sums[i] += slice->weight[c][i] * (double)(int32_t)raw[i];
    }
}

static void filter_lanes(const struct sampling *s, int n, const struct slice slices[SLICES], uint32_t *bits)
{
    struct float_filter filter = float_filter_of(s->t, n);
    double sums[WARP_LANES] = {0};
    bool floats = filters_as_floats(s->t, n);
    for (uint32_t k = 0; k < s->axis[2].steps; k++) {
        if (floats)
            add_floats(s->t, n, &slices[k], filter.aligned_bits, sums);
        else
            add_integers(n, &slices[k], sums);
    }
    if (floats && filter.bits == 24) {
        VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++) bits[i] = f32_bits(filtered_float(sums[i], filter));
        return;
    }
    for (int i = 0; i < WARP_LANES; i++)
        bits[i] = f32_bits(floats ? filtered_float(sums[i], filter) : filtered_integer(s->a->format, (int64_t)sums[i]));
}

static void sample_linear(const struct sampling *s, struct texture_lanes *l)
{
    struct slice slices[SLICES]; /* written before they are read; clearing them would cost more than the filter */
    for (uint32_t k = 0; k < s->axis[2].steps; k++)
        read_slice(s, k, &slices[k], l->touched);
    for (int n = 0; n < (int)s->a->channels; n++)
        filter_lanes(s, n, slices, l->bits[n]);
}

static void sample_nearest(const struct sampling *s, struct texture_lanes *l)
{
    read_corner(s, 0, 0, 0, s->mask, l->bits, l->touched);
    for (int n = 0; n < (int)s->a->channels && !texture_gives_integers(s->t); n++)
        for (int i = 0; s->a->format != TEXTURE_F32 && i < WARP_LANES; i++)
            l->bits[n][i] = unfiltered_component(s->t, n, l->bits[n][i]);
}

bool texture_sample_lanes(const struct texture *t, uint32_t mask, struct texture_lanes *l)
{
    struct sampling s; /* of its axes, what is read is written before */
    enum texture_geometry g = l->geometry;
    if (t->kind == TEXTURE_LINEAR || t->levels || g == TEXTURE_CUBE || g == TEXTURE_ACUBE)
        return false;
    bool linear = t->linear_filter && !texture_gives_integers(t);
    s.dimensions = g == TEXTURE_1D || g == TEXTURE_A1D ? 1 : g == TEXTURE_3D ? 3 : 2;
    s.t = t;
    s.a = &t->array;
    s.mask = mask;
    s.border = texture_border(t);
    place_all(&s, l, linear);
    for (uint32_t n = s.a->channels; n < 4; n++)
        memset(l->bits[n], 0, sizeof l->bits[n]);
    if (linear)
        sample_linear(&s, l);
    else
        sample_nearest(&s, l);
    return true;
}
