/* Texture objects: handles, and reading compared with what silicon read. tests/data/texture.bin was recorded on an
 * H200: for each texture its description, its texels, coordinates, and the four components that came back. */
#include "exec/sampler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum recorded_op { D1, D2, D3, A1, A2, CUBE, ACUBE, FETCH, GATHER, LOD2, GRAD2, LOD1, PITCH2, LOD3, INT1, INT2, INT3 };
enum { MAGIC = 0x7e57, MAX_LEVELS = 8 };

/* A record of the file; little-endian. */
struct recorded {
    int32_t magic, op, linear, normalized, address, format, channels, integer, width, height, depth, samples, levels,
        linear_levels, component;
    float min_level, max_level, level_bias, border[4];
    int32_t texel_bytes;
};

static bool is_layered(int op) { return op == A1 || op == A2; }

static uint32_t at_level(int32_t extent, int level)
{
    return extent == 0 ? 0 : extent >> level ? (uint32_t)(extent >> level) : 1;
}

static void describe(const struct recorded *r, uint8_t *texels, struct texture *t,
                     struct texture_array levels[MAX_LEVELS])
{
    *t = (struct texture){.kind = r->op == FETCH ? TEXTURE_LINEAR : r->op == PITCH2 ? TEXTURE_PITCH2D : TEXTURE_ARRAY};
    t->linear_filter = r->linear;
    t->normalized = r->normalized;
    t->read_as_integer = r->integer;
    t->min_level = r->min_level;
    t->max_level = r->max_level;
    t->level_bias = r->level_bias;
    t->linear_mip_filter = r->linear_levels;
    memcpy(t->border, r->border, sizeof t->border);
    for (int i = 0; i < 3; i++)
        t->address[i] = (enum texture_address)r->address;
    for (int i = 0; i < r->levels; i++) {
        struct texture_array *a = &levels[i];
        uint32_t slices = is_layered(r->op) ? (uint32_t)r->depth : at_level(r->depth, i);
        *a = (struct texture_array){.format = (enum texture_format)r->format,
                                    .channels = (uint32_t)r->channels,
                                    .data = (uint64_t)(uintptr_t)texels};
        a->width = at_level(r->width, i);
        a->height = at_level(r->height, i);
        a->depth = is_layered(r->op) ? 0 : slices;
        a->layers = is_layered(r->op) ? slices : 0;
        a->layered = is_layered(r->op);
        a->pitch_bytes = (uint64_t)a->width * texture_texel_bytes(a);
        a->slice_bytes = a->pitch_bytes * (a->height ? a->height : 1);
        texels += a->slice_bytes * (slices ? slices : 1);
    }
    t->array = levels[0];
    if (r->op == LOD1 || r->op == LOD2) {
        t->levels = levels;
        t->level_count = (uint32_t)r->levels;
    }
}

static int32_t whole(float v) { return v != v ? 0 : v > 2e9f ? INT32_MAX : v < -2e9f ? INT32_MIN : (int32_t)v; }

static struct texture_request request(const struct recorded *r, const float at[4])
{
    static const enum texture_geometry geometries[] = {
        [D1] = TEXTURE_1D,    [D2] = TEXTURE_2D,     [D3] = TEXTURE_3D,   [A1] = TEXTURE_A1D,  [A2] = TEXTURE_A2D,
        [FETCH] = TEXTURE_1D, [GATHER] = TEXTURE_2D, [LOD2] = TEXTURE_2D, [LOD1] = TEXTURE_1D, [PITCH2] = TEXTURE_2D,
        [INT1] = TEXTURE_1D,  [INT2] = TEXTURE_2D,   [INT3] = TEXTURE_3D,
    };
    struct texture_request q = {.geometry = geometries[r->op], .gather = r->op == GATHER ? r->component : -1};
    memcpy(q.at, at, sizeof q.at);
    if (is_layered(r->op))
        q.layer = (uint32_t)(int32_t)at[3];
    q.has_level = r->op == LOD1 || r->op == LOD2;
    q.level = q.has_level ? at[3] : 0.0f;
    q.whole = r->op == FETCH || r->op >= INT1;
    for (int i = 0; i < 3; i++)
        q.texel[i] = r->op == FETCH ? (int32_t)at[3] : whole(at[i]);
    return q;
}

static void check_record(FILE *f, const struct recorded *r)
{
    uint8_t *texels = malloc((size_t)r->texel_bytes);
    float *at = malloc((size_t)r->samples * 16);
    uint32_t *wanted = malloc((size_t)r->samples * 16);
    struct texture t;
    struct texture_array levels[MAX_LEVELS];
    assert_int_equal(fread(texels, 1, (size_t)r->texel_bytes, f), r->texel_bytes);
    assert_int_equal(fread(at, 16, (size_t)r->samples, f), r->samples);
    assert_int_equal(fread(wanted, 16, (size_t)r->samples, f), r->samples);
    describe(r, texels, &t, levels);
    for (int i = 0; i < r->samples; i++) {
        struct texture_request q = request(r, at + 4 * i);
        uint32_t got[4], *want = wanted + 4 * i;
        texture_sample(&t, &q, got);
        if (memcmp(got, want, sizeof got) != 0)
            fail_msg("op %d linear %d normalized %d address %d format %d channels %d at (%g, %g, %g, %g): %08x %08x "
                     "%08x %08x, silicon has %08x %08x %08x %08x",
                     r->op, r->linear, r->normalized, r->address, r->format, r->channels, (double)at[4 * i],
                     (double)at[4 * i + 1], (double)at[4 * i + 2], (double)at[4 * i + 3], got[0], got[1], got[2],
                     got[3], want[0], want[1], want[2], want[3]);
    }
    free(texels);
    free(at);
    free(wanted);
}

static void test_silicon(void **state)
{
    FILE *f = fopen("tests/data/texture.bin", "rb");
    struct recorded r;
    int count = 0;
    (void)state;
    assert_non_null(f);
    while (fread(&r, sizeof r, 1, f) == 1) {
        assert_int_equal(r.magic, MAGIC);
        assert_in_range(r.levels, 1, MAX_LEVELS);
        check_record(f, &r);
        count++;
    }
    fclose(f);
    assert_true(count > 100);
}

static void test_handles(void **state)
{
    struct texture_table table = {0};
    struct texture t = {.kind = TEXTURE_ARRAY, .is_surface = true};
    uint64_t handles[40];
    (void)state;
    for (int i = 0; i < 40; i++) {
        handles[i] = texture_create(&table, &t);
        assert_int_not_equal(handles[i], 0);
        assert_true(texture_find(&table, handles[i])->is_surface);
    }
    assert_ptr_not_equal(texture_find(&table, handles[0]), texture_find(&table, handles[39]));
    assert_null(texture_find(&table, 0));
    assert_null(texture_find(&table, 1));
    assert_null(texture_find(&table, handles[39] + 1));
    assert_null(texture_find(&table, handles[0] ^ (1ull << 40)));
    assert_true(texture_destroy(&table, handles[7]));
    assert_false(texture_destroy(&table, handles[7]));
    assert_null(texture_find(&table, handles[7]));
    assert_non_null(texture_find(&table, handles[8]));
    texture_table_free(&table);
    assert_int_equal(table.count, 0);
}

/* The middle between two texels, and a weight of a quarter: by hand. */
static void test_linear_weights(void **state)
{
    float texels[4] = {0.0f, 4.0f, 8.0f, 100.0f};
    struct texture t = {
        .kind = TEXTURE_ARRAY, .linear_filter = true, .address = {TEXTURE_CLAMP, TEXTURE_CLAMP, TEXTURE_CLAMP}};
    static const struct {
        float at, value;
    } cases[] = {{1.0f, 2.0f}, {0.75f, 1.0f}, {1.5f, 4.0f}, {-5.0f, 0.0f}, {50.0f, 100.0f}, {1.001f, 2.0f}};
    (void)state;
    t.array = (struct texture_array){.data = (uint64_t)(uintptr_t)texels,
                                     .width = 4,
                                     .format = TEXTURE_F32,
                                     .channels = 1,
                                     .pitch_bytes = 16,
                                     .slice_bytes = 16};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct texture_request q = {.geometry = TEXTURE_1D, .gather = -1, .at = {cases[i].at}};
        uint32_t bits[4];
        float value;
        texture_sample(&t, &q, bits);
        memcpy(&value, bits, sizeof value);
        assert_true(value == cases[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_handles), cmocka_unit_test(test_linear_weights),
                                       cmocka_unit_test(test_silicon)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
