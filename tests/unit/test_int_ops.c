/* Integer arithmetic on single values, against the bit-by-bit definitions of the PTX ISA (and, where GPUs depart from
 * it, what they give). */
#include "exec/int_ops.h"
#include "exec/video.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t corners[] = {
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    254,
    255,
    256,
    257,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0x7fffff,
    0x800000,
    0xffffff,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xfffffffe,
    0xffffffff,
    0x100000000,
    0x7fffffffffffffff,
    0x8000000000000000,
    0xffffffffffffffff,
};
enum { CORNERS = sizeof corners / sizeof *corners };

/* A value at a time from a fixed sequence; every other one is a corner. */
static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t v = *state ^ *state >> 29;
    return v & 1 ? corners[(v >> 8) % CORNERS]
                 : (*state = *state * 6364136223846793005u + 1442695040888963407u) ^ v >> 17;
}

static bool bit(uint64_t v, uint32_t i) { return v >> i & 1; }

static uint64_t bfe_by_bits(uint64_t a, uint32_t b, uint32_t c, uint32_t msb, bool is_signed)
{
    uint64_t pos = msb == 31 ? b & 0xff : b, len = msb == 31 ? c & 0xff : c;
    uint64_t top = pos + len - 1 < msb ? pos + len - 1 : msb;
    bool sign = is_signed && len > 0 && bit(a, (uint32_t)top);
    uint64_t d = 0;
    for (uint32_t i = 0; i <= msb; i++)
        d |= (uint64_t)(i < len && pos + i <= msb ? bit(a, (uint32_t)pos + i) : sign) << i;
    return d;
}

static uint64_t bfi_by_bits(uint64_t a, uint64_t b, uint32_t c, uint32_t d, uint32_t msb)
{
    uint64_t pos = msb == 31 ? c & 0xff : c, len = msb == 31 ? d & 0xff : d;
    for (uint32_t i = 0; i < len && pos + i <= msb; i++)
        b = (b & ~((uint64_t)1 << (pos + i))) | (uint64_t)bit(a, i) << (pos + i);
    return b;
}

static void test_fields(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int n = 0; n < 100000; n++) {
        uint64_t a = draw(&seed), b = draw(&seed);
        uint32_t c = (uint32_t)draw(&seed), d = (uint32_t)draw(&seed);
        assert_int_equal(bfe_u32((uint32_t)a, c, d), bfe_by_bits((uint32_t)a, c, d, 31, false));
        assert_int_equal(bfe_s32((uint32_t)a, c, d), bfe_by_bits((uint32_t)a, c, d, 31, true));
        assert_true(bfe_u64(a, c, d) == bfe_by_bits(a, c, d, 63, false));
        assert_true(bfe_s64(a, c, d) == bfe_by_bits(a, c, d, 63, true));
        assert_int_equal(bfi_32((uint32_t)a, (uint32_t)b, c, d), bfi_by_bits((uint32_t)a, (uint32_t)b, c, d, 31));
        assert_true(bfi_64(a, b, c, d) == bfi_by_bits(a, b, c, d, 63));
    }
}

static uint32_t bmsk_by_bits(uint32_t a, uint32_t b, bool clamp)
{
    uint64_t first = clamp ? a : a & 31, length = clamp ? b : b & 31;
    uint32_t d = 0;
    for (uint32_t i = 0; i < 32; i++)
        d |= (uint32_t)(i >= first && i < first + length) << i;
    return d;
}

static uint32_t szext_by_bits(uint32_t a, uint32_t n, bool is_signed)
{
    uint32_t d = 0;
    for (uint32_t i = 0; i < 32; i++)
        d |= (uint32_t)(i < n ? bit(a, i) : is_signed && n > 0 && bit(a, n - 1)) << i;
    return d;
}

static void test_masks_and_extension(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int n = 0; n < 100000; n++) {
        uint32_t a = (uint32_t)draw(&seed), b = (uint32_t)draw(&seed);
        assert_int_equal(bmsk_clamp(a, b), bmsk_by_bits(a, b, true));
        assert_int_equal(bmsk_wrap(a, b), bmsk_by_bits(a, b, false));
        assert_int_equal(szext_u32(a, b), szext_by_bits(a, b, false));
        assert_int_equal(szext_s32(a, b), szext_by_bits(a, b, true));
    }
}

static uint32_t highest(uint64_t v)
{
    for (int i = 63; i >= 0; i--)
        if (bit(v, (uint32_t)i))
            return (uint32_t)i;
    return UINT32_MAX;
}

static void test_bit_counts(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int n = 0; n < 50000; n++) {
        uint64_t a = draw(&seed), reversed = 0;
        for (uint32_t i = 0; i < 64; i++)
            reversed |= (uint64_t)bit(a, i) << (63 - i);
        assert_true(brev_64(a) == reversed);
        assert_int_equal(brev_32((uint32_t)(a >> 32)), (uint32_t)reversed);
        assert_int_equal(clz_64(a), 63 - highest(a));
        assert_int_equal(clz_32((uint32_t)a), 31 - highest((uint32_t)a));
        assert_int_equal(bfind_u64(a), highest(a));
        assert_int_equal(bfind_s64(a), highest(bit(a, 63) ? ~a : a));
        assert_int_equal(bfind_s32((uint32_t)a), highest(bit(a, 31) ? (uint32_t)~a : (uint32_t)a));
    }
}

static void test_fns(void **state)
{
    (void)state;
    assert_int_equal(fns_32(0xaaaaaaaa, 3, 1), 3);
    assert_int_equal(fns_32(0xaaaaaaaa, 3, -1), 3);
    assert_int_equal(fns_32(0xaaaaaaaa, 2, 1), 3);
    assert_int_equal(fns_32(0xaaaaaaaa, 2, -1), 1);
    assert_int_equal(fns_32(0xaaaaaaaa, 2, 2), 5);
    assert_int_equal(fns_32(0xaaaaaaaa, 2, 100), UINT32_MAX);
    assert_int_equal(fns_32(0xaaaaaaaa, 3, 0), 3);
    assert_int_equal(fns_32(0xaaaaaaaa, 2, 0), UINT32_MAX);
    assert_int_equal(fns_32(UINT32_MAX, 31, 1), 31);
    assert_int_equal(fns_32(UINT32_MAX, 31, INT32_MIN), UINT32_MAX);
    assert_int_equal(fns_32(UINT32_MAX, 77, 0), UINT32_MAX);
}

static void test_division(void **state)
{
    (void)state;
    assert_int_equal(div_s32(INT32_MIN, -1), 0x80000000u);
    assert_int_equal(rem_s32(INT32_MIN, -1), 0);
    assert_true(div_s64(INT64_MIN, -1) == 0x8000000000000000u);
    assert_true(rem_s64(INT64_MIN, -1) == 0);
    assert_int_equal(div_s32(-7, 2), (uint32_t)-3);
    assert_int_equal(rem_s32(-7, 2), (uint32_t)-1);
    assert_int_equal(rem_s32(7, -2), 1);
    assert_int_equal(div_s16(0x8000, 0xffff), 0x8000);
    assert_int_equal(div_u32(5, 0), UINT32_MAX);
    assert_int_equal(div_s32(-5, 0), UINT32_MAX);
    assert_int_equal(div_u16(0xfff0007, 0xfff0002), 3); /* what lies above 16 bits does not matter */
}

static void test_shifts(void **state)
{
    (void)state;
    assert_int_equal(shl_32(1, 31), 0x80000000u);
    assert_int_equal(shl_32(1, 32), 0);
    assert_int_equal(shl_32(1, 0xffffffff), 0);
    assert_int_equal(shr_u32(0x80000000u, 32), 0);
    assert_int_equal(shr_s32(0x80000000u, 32), UINT32_MAX);
    assert_int_equal(shr_s32(0x80000000u, 1), 0xc0000000u);
    assert_true(shl_64(1, 64) == 0);
    assert_true(shr_s64(0x8000000000000000u, 99) == UINT64_MAX);
}

static void test_bytes_and_tables(void **state)
{
    (void)state;
    assert_int_equal(prmt_bytes(0x33221100, 0x77665544, 0x7531), 0x77553311);
    assert_int_equal(prmt_bytes(0x80221180, 0x7f665544, 0x89ac),
                     0xff000000u | 0x00 << 16); /* signs of bytes 0, 1, 2, 4 */
    assert_int_equal(prmt_bytes(0x80221180, 0x7f665544, 0xfb80), 0x00ffff80);
    uint64_t seed = 4;
    for (int n = 0; n < 20000; n++) {
        uint32_t a = (uint32_t)draw(&seed), b = (uint32_t)draw(&seed), c = (uint32_t)draw(&seed),
                 table = (uint32_t)(seed >> 40 & 255), d = 0;
        for (uint32_t i = 0; i < 32; i++)
            d |= (table >> (bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i)) & 1) << i;
        assert_int_equal(lop3_32(a, b, c, table), d);
    }
}

static struct video_form plain_form(enum video_op op)
{
    struct video_form f;
    memset(&f, 0, sizeof f);
    f.op = op;
    f.elements = 1;
    f.select_a = f.select_b = f.select_d = -1;
    return f;
}

static void test_video_scalar(void **state)
{
    (void)state;
    struct video_form f = plain_form(VIDEO_ADD);
    assert_int_equal(video_scalar(&f, 0xffffffff, 2, 0), 1);
    f.op = VIDEO_SUB, f.saturate = true; /* unsigned words stop at zero only */
    assert_int_equal(video_scalar(&f, 1, 2, 0), 0);
    f.op = VIDEO_ADD;
    assert_int_equal(video_scalar(&f, 0xffffffff, 2, 0), 1);
    f.signed_d = true;
    assert_int_equal(video_scalar(&f, 0xffffffff, 2, 0), INT32_MAX);
    f.signed_a = true; /* -1 + 2 */
    assert_int_equal(video_scalar(&f, 0xffffffff, 2, 0), 1);
    f.select_a = 3, f.select_b = 5, f.select_d = 1; /* -128 + 0x0102, into a signed byte */
    assert_int_equal(video_scalar(&f, 0x80000000, 0x01020000, 0x11223344), 0x11227f44);
    f = plain_form(VIDEO_ABSDIFF);
    f.signed_a = f.signed_b = true;
    f.second = SECOND_ADD;
    assert_int_equal(video_scalar(&f, 0x80000000, 0x7fffffff, 3), 2);
    f = plain_form(VIDEO_SHL);
    f.clamp = true;
    assert_int_equal(video_scalar(&f, 0xffffffff, 40, 0), 0);
    f.saturate = true; /* of 34 bits */
    assert_int_equal(video_scalar(&f, 0xffffffff, 40, 0), 0);
    assert_int_equal(video_scalar(&f, 1, 40, 0), UINT32_MAX);
    f.saturate = false, f.second = SECOND_MIN;
    assert_int_equal(video_scalar(&f, 1, 40, 7), 7);
    f = plain_form(VIDEO_SHR);
    f.signed_a = true;
    assert_int_equal(video_scalar(&f, 0x80000000, 33, 0), 0xc0000000u);
    f = plain_form(VIDEO_SET);
    f.compare = VIDEO_LT;
    f.signed_a = true;
    assert_int_equal(video_scalar(&f, 0xffffffff, 0, 0), 1);
}

static void test_video_mad(void **state)
{
    (void)state;
    struct video_form f = plain_form(VIDEO_MAD);
    assert_int_equal(video_scalar(&f, 0xffffffff, 0xffffffff, 5), 6);
    f.saturate = true;
    assert_int_equal(video_scalar(&f, 0x40000000, 0x40000000, 5), UINT32_MAX);
    assert_int_equal(video_scalar(&f, 0x40000000, 0xffffffff, 5), 0);
    f.negate_ab = true; /* -(a * b) + c, signed */
    assert_int_equal(video_scalar(&f, 3, 4, 5), (uint32_t)-7);
    assert_int_equal(video_scalar(&f, 0x40000000, 0x40000000, 5), 0x80000000u);
    f.negate_ab = false, f.negate_c = true;
    assert_int_equal(video_scalar(&f, 3, 4, 5), 7);
    f = plain_form(VIDEO_MAD);
    f.plus_one = true, f.scale = 7;
    assert_int_equal(video_scalar(&f, 16, 16, 255), 4);
}

static void test_video_simd(void **state)
{
    (void)state;
    struct video_form f = plain_form(VIDEO_ABSDIFF);
    f.elements = 4;
    f.mask = 15;
    for (uint8_t k = 0; k < 4; k++)
        f.from_a[k] = k, f.from_b[k] = (uint8_t)(k + 4);
    assert_int_equal(video_simd(&f, 0x01ff8010, 0x0300ff10, 0), 0x02ff7f00);
    f.second = SECOND_ADD;
    assert_int_equal(video_simd(&f, 0x01ff8010, 0x0300ff10, 1000), 1000 + 2 + 0xff + 0x7f);
    f.mask = 4;
    assert_int_equal(video_simd(&f, 0x01ff8010, 0x0300ff10, 1000), 1000 + 0xff);
    f.second = SECOND_NONE;
    assert_int_equal(video_simd(&f, 0x01ff8010, 0x0300ff10, 0x11223344), 0x11ff3344);
    f = plain_form(VIDEO_AVERAGE);
    f.elements = 2;
    f.mask = 3;
    f.signed_a = f.signed_b = f.signed_d = true;
    f.from_a[0] = 0, f.from_a[1] = 1, f.from_b[0] = 2, f.from_b[1] = 3;
    assert_int_equal(video_simd(&f, 0xfffe0001, 0xffff0002, 0),
                     0xfffe0002); /* -3 / 2 -> -2, 3 / 2 -> 2: away from zero */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),           cmocka_unit_test(test_masks_and_extension),
        cmocka_unit_test(test_bit_counts),       cmocka_unit_test(test_fns),
        cmocka_unit_test(test_division),         cmocka_unit_test(test_shifts),
        cmocka_unit_test(test_bytes_and_tables), cmocka_unit_test(test_video_scalar),
        cmocka_unit_test(test_video_mad),        cmocka_unit_test(test_video_simd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
