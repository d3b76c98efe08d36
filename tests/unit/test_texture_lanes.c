/* Does a fetch of all lanes at once give what the same fetch gives lane by lane, in results and in the texel that it
 * touched last? Random textures of every format, geometry, addressing mode and filter; coordinates in the middle of
 * texels, at edges, far outside, infinite and not a number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/exec.h"
#include "exec/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 9, TEXEL_BYTES = 16, ALL_BYTES = SIDE * SIDE * SIDE * TEXEL_BYTES };

static uint64_t random_state = 88172645463325252ull;
static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 24);
}
static uint32_t below(uint32_t n) { return next_random() % n; }

static float random_float(void)
{
    static const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, 1e-40f, 3e38f, INFINITY, -INFINITY, NAN, 0.5f};
    uint32_t bits = next_random();
    float v;
    if (below(8) == 0)
        return special[below(sizeof special / sizeof *special)];
    if (below(4) == 0) {
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    return (float)(int32_t)next_random() / 0x1p30f;
}

static void fill(uint8_t *texels, enum texture_format f)
{
    for (int i = 0; i < ALL_BYTES; i++)
        texels[i] = (uint8_t)next_random();
    for (int i = 0; f == TEXTURE_F32 && i < ALL_BYTES / 4; i++) {
        float v = random_float();
        memcpy(texels + 4 * i, &v, sizeof v);
    }
}

static void make(struct texture *t, enum texture_geometry g, uint8_t *texels)
{
    static const enum texture_format formats[] = {TEXTURE_U8,  TEXTURE_U16, TEXTURE_U32, TEXTURE_S8,
                                                  TEXTURE_S16, TEXTURE_S32, TEXTURE_F16, TEXTURE_F32};
    struct texture_array *a = &t->array;
    bool layered = g == TEXTURE_A1D || g == TEXTURE_A2D, flat = g == TEXTURE_1D || g == TEXTURE_A1D;
    *t = (struct texture){.kind = g == TEXTURE_2D && below(4) == 0 ? TEXTURE_PITCH2D : TEXTURE_ARRAY};
    *a = (struct texture_array){.format = formats[below(8)], .channels = 1u << below(3), .layered = layered};
    a->width = 1 + below(SIDE);
    a->height = flat ? 0 : 1 + below(SIDE);
    a->depth = g == TEXTURE_3D ? 1 + below(SIDE) : 0;
    a->layers = layered ? 1 + below(SIDE) : 0;
    a->data = (uint64_t)(uintptr_t)texels;
    a->pitch_bytes = SIDE * TEXEL_BYTES;
    a->slice_bytes = SIDE * a->pitch_bytes;
    t->linear_filter = below(4) != 0;
    t->normalized = below(2);
    t->read_as_integer = below(6) == 0;
    t->srgb = below(4) == 0;
    for (int i = 0; i < 3; i++)
        t->address[i] = (enum texture_address)below(4);
    for (int i = 0; i < 4; i++)
        t->border[i] = random_float();
    fill(texels, a->format);
}

static float coordinate(bool normalized, uint32_t size)
{
    float texels = below(3) ? (float)below(4 * 256 * SIDE) / 256.0f - SIDE : (float)below(3 * SIDE) - SIDE + 0.5f;
    return below(12) == 0 ? random_float() : normalized ? texels / (float)size : texels;
}

static void compare(enum texture_geometry g)
{
    uint8_t *texels = malloc(ALL_BYTES);
    float at[3][WARP_LANES];
    uint32_t layer[WARP_LANES], mask = below(2) ? FULL_MASK : next_random() | 1;
    uint64_t touched[WARP_LANES] = {0};
    struct texture t;
    make(&t, g, texels);
    for (int i = 0; i < WARP_LANES; i++) {
        layer[i] = below(10) ? below(SIDE + 2) : next_random();
        for (int n = 0; n < 3; n++)
            at[n][i] = coordinate(t.normalized, t.array.width);
    }
    struct texture_lanes l = {
        .geometry = g, .at = {at[0], at[1], at[2]}, .layer = t.array.layered ? layer : NULL, .touched = touched};
    assert_true(texture_sample_lanes(&t, mask, &l));
    for (int i = 0; i < WARP_LANES; i++) {
        struct texture_request q = {
            .geometry = g, .at = {at[0][i], at[1][i], at[2][i]}, .layer = layer[i], .gather = -1};
        uint32_t bits[4];
        if (!(mask >> i & 1)) {
            assert_int_equal(touched[i], 0);
            continue;
        }
        texture_sample(&t, &q, bits);
        assert_int_equal(touched[i], q.touched);
        for (int n = 0; n < 4; n++)
            if (l.bits[n][i] != bits[n])
                fail_msg("geometry %d format %d linear %d normalized %d component %d at %a %a %a: 0x%x, not 0x%x", g,
                         t.array.format, t.linear_filter, t.normalized, n, at[0][i], at[1][i], at[2][i], l.bits[n][i],
                         bits[n]);
    }
    free(texels);
}

static void same_as_one_by_one(void **state)
{
    (void)state;
    for (int i = 0; i < 30000; i++)
        compare((enum texture_geometry[]){TEXTURE_1D, TEXTURE_2D, TEXTURE_3D, TEXTURE_A1D, TEXTURE_A2D}[i % 5]);
}

/* These are for the other way. */
static void refused(void **state)
{
    (void)state;
    struct texture_array level = {.width = 1, .channels = 1, .format = TEXTURE_F32};
    struct texture t = {.kind = TEXTURE_ARRAY, .array = level, .levels = &level, .level_count = 1};
    struct texture_lanes l = {.geometry = TEXTURE_2D};
    assert_false(texture_sample_lanes(&t, FULL_MASK, &l));
    t.levels = NULL;
    l.geometry = TEXTURE_CUBE;
    assert_false(texture_sample_lanes(&t, FULL_MASK, &l));
    t.kind = TEXTURE_LINEAR;
    l.geometry = TEXTURE_1D;
    assert_false(texture_sample_lanes(&t, FULL_MASK, &l));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_one_by_one), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
