/* Arithmetic on what a guest controls (base/checked.h): the last number that fits, and the first that does not. */
#include "base/checked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void sums(void **state)
{
    uint64_t out = 7;
    (void)state;
    assert_true(checked_add(UINT64_MAX - 1, 1, &out));
    assert_int_equal(out, UINT64_MAX);
    assert_false(checked_add(UINT64_MAX, 1, &out));
    assert_int_equal(out, UINT64_MAX); /* unchanged */
    assert_int_equal(capped_add(UINT64_MAX - 3, 3), UINT64_MAX);
    assert_int_equal(capped_add(UINT64_MAX, UINT64_MAX), UINT64_MAX);
    assert_int_equal(wrapping_add(INT64_MAX, 1), INT64_MIN);
}

static void products(void **state)
{
    uint64_t out = 7;
    (void)state;
    assert_true(checked_multiply(UINT32_MAX, UINT32_MAX, &out));
    assert_int_equal(out, 0xfffffffe00000001ull);
    assert_false(checked_multiply(1ull << 32, 1ull << 32, &out));
    assert_int_equal(out, 0xfffffffe00000001ull);
    assert_int_equal(capped_volume((uint32_t[3]){1024, 1, 1}), 1024);
    assert_int_equal(capped_volume((uint32_t[3]){1u << 30, 4, 1}), 1ull << 32);            /* 0 in 32 bits */
    assert_int_equal(capped_volume((uint32_t[3]){1u << 31, 1u << 31, 4}), UINT64_MAX);     /* 0 in 64 bits */
    assert_int_equal(capped_volume((uint32_t[3]){1824726041, 315916329, 32}), UINT64_MAX); /* 32 in 64 bits */
    assert_int_equal(capped_volume((uint32_t[3]){UINT32_MAX, UINT32_MAX, 0}), 0);
}

static void rounding(void **state)
{
    uint64_t out = 7;
    (void)state;
    assert_true(checked_round_up(UINT64_MAX - 15, 16, &out));
    assert_int_equal(out, UINT64_MAX - 15);
    assert_false(checked_round_up(UINT64_MAX - 14, 16, &out));
    assert_true(checked_round_up(1, 256, &out));
    assert_int_equal(out, 256);
}

static void ranges(void **state)
{
    const uint64_t last = UINT64_MAX - 99; /* a range that reaches the end of memory */
    (void)state;
    assert_true(is_inside_range(1000, 100, 1000, 100));
    assert_false(is_inside_range(1000, 100, 1000, 101));
    assert_false(is_inside_range(1000, 100, 999, 1));
    assert_true(is_inside_range(1000, 100, 1099, 1));
    assert_false(is_inside_range(1000, 100, 1100, 0));
    assert_false(is_inside_range(1000, 100, 1001, UINT64_MAX)); /* 1001 + 2^64 - 1 wraps to 1000 */
    assert_true(is_inside_range(last, 100, UINT64_MAX, 1));
    assert_false(is_inside_range(last, 100, UINT64_MAX, 2));
    assert_false(is_inside_range(last, 100, 0, 1));
    assert_false(is_inside_range(0, 0, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(products),
        cmocka_unit_test(rounding),
        cmocka_unit_test(ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
