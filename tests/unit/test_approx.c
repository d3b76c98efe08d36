/* Do the approximate instructions keep the error bounds of the PTX ISA, and its special values? Dense sweeps against
 * MPFR. */
#include "exec/approx_ops.h"

#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

typedef int mpfr_function(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef float f32_function(float);

/* |got - exact|, in the unit given: absolute, or relative to the exact value. */
static double error_of(double got, const mpfr_t exact, bool relative)
{
    mpfr_t difference;
    mpfr_init2(difference, 100);
    mpfr_sub_d(difference, exact, got, MPFR_RNDN);
    if (relative && !mpfr_zero_p(exact))
        mpfr_div(difference, difference, exact, MPFR_RNDN);
    double e = fabs(mpfr_get_d(difference, MPFR_RNDU));
    mpfr_clear(difference);
    return e;
}

/* Every step-th f32 from low to high (bits, same sign). */
static void sweep(const char *name, f32_function *f, mpfr_function *reference, float low, float high, uint32_t step,
                  bool relative, double bound)
{
    mpfr_t x, exact;
    mpfr_inits2(100, x, exact, (mpfr_ptr)0);
    if (getenv("TEST_SHORT")) /* sanitizers */
        step *= 5;
    for (uint64_t u = f32_bits(low); u <= f32_bits(high); u += step) {
        float a = f32_from((uint32_t)u), got = f(a);
        mpfr_set_flt(x, a, MPFR_RNDN);
        reference(exact, x, MPFR_RNDN);
        double e = error_of((double)got, exact, relative);
        if (!(e <= bound))
            fail_msg("%s(%a) = %a is off by %g, more than %g", name, (double)a, (double)got, e, bound);
    }
    mpfr_clears(x, exact, (mpfr_ptr)0);
}

static float ex2(float x) { return approx_ex2(x); }
static float lg2(float x) { return approx_lg2(x); }
static float sine(float x) { return approx_sin(x); }
static float cosine(float x) { return approx_cos(x); }
static float hyperbolic(float x) { return approx_tanh(x); }
static float rcp(float x) { return 1.0f / x; }
static float rsqrt(float x) { return 1.0f / sqrtf(x); }
static float root(float x) { return sqrtf(x); }
static int mpfr_rcp(mpfr_t r, const mpfr_t x, mpfr_rnd_t m) { return mpfr_ui_div(r, 1, x, m); }

enum { STEP = 9973 };

static void test_ex2(void **state)
{
    (void)state;
    sweep("ex2", ex2, mpfr_exp2, 0x1p-60f, 127.99999f, STEP, true, 2 * 0x1p-24);
    sweep("ex2", ex2, mpfr_exp2, -0x1p-60f, -125.99999f, STEP, true, 2 * 0x1p-24);
    sweep("ex2", ex2, mpfr_exp2, -126.0f, -150.0f, STEP / 10, false, 0x1p-149);
    assert_true(ex2(0.0f) == 1.0f && ex2(-0.0f) == 1.0f && ex2(0x1p-149f) == 1.0f);
    assert_true(ex2(INFINITY) == INFINITY && ex2(128.0f) == INFINITY && ex2(FLT_MAX) == INFINITY);
    assert_int_equal(f32_bits(ex2(-INFINITY)), 0);
    assert_int_equal(f32_bits(ex2(-FLT_MAX)), 0);
    assert_true(isnan(ex2(NAN)));
    for (int n = -149; n < 128; n++)
        assert_true(ex2((float)n) == ldexpf(1.0f, n));
}

static void test_lg2(void **state)
{
    (void)state;
    sweep("lg2", lg2, mpfr_log2, 0.5f, 2.0f, 97, false, 0x1p-22);
    sweep("lg2", lg2, mpfr_log2, 0x1p-149f, 0.5f, STEP, true, 0x1p-22);
    sweep("lg2", lg2, mpfr_log2, 2.0f, FLT_MAX, STEP, true, 0x1p-22);
    assert_int_equal(f32_bits(lg2(1.0f)), 0);
    assert_true(lg2(0.0f) == -INFINITY && lg2(-0.0f) == -INFINITY && lg2(INFINITY) == INFINITY);
    assert_true(isnan(lg2(-1.0f)) && isnan(lg2(-INFINITY)) && isnan(lg2(-0x1p-149f)) && isnan(lg2(NAN)));
    for (int n = -149; n < 128; n++)
        assert_true(lg2(ldexpf(1.0f, n)) == (float)n);
}

static void test_sin_cos(void **state)
{
    (void)state;
    sweep("sin", sine, mpfr_sin, 0x1p-40f, 6.2831855f, STEP, false, 0x1p-23);
    sweep("cos", cosine, mpfr_cos, 0x1p-40f, 6.2831855f, STEP, false, 0x1p-23);
    sweep("sin", sine, mpfr_sin, -3.14159f, -314.159f, STEP / 10, false, 0x1p-23);
    sweep("cos", cosine, mpfr_cos, -3.14159f, -314.159f, STEP / 10, false, 0x1p-23);
    assert_int_equal(f32_bits(sine(0.0f)), 0);
    assert_int_equal(f32_bits(sine(-0.0f)), 0x80000000u);
    assert_true(cosine(0.0f) == 1.0f && cosine(-0.0f) == 1.0f && cosine(0x1p-149f) == 1.0f);
    assert_true(isnan(sine(INFINITY)) && isnan(sine(-INFINITY)) && isnan(cosine(INFINITY)) && isnan(cosine(-INFINITY)));
    assert_true(isnan(sine(NAN)) && isnan(cosine(NAN)));
    assert_true(fabsf(sine(1e30f)) <= 1.0f && fabsf(cosine(FLT_MAX)) <= 1.0f);
}

static void test_tanh(void **state)
{
    (void)state;
    sweep("tanh", hyperbolic, mpfr_tanh, 0x1p-149f, FLT_MAX, 10 * STEP, true, 0x1p-11);
    sweep("tanh", hyperbolic, mpfr_tanh, -0x1p-30f, -20.0f, STEP, true, 0x1p-23);
    assert_int_equal(f32_bits(hyperbolic(-0.0f)), 0x80000000u);
    assert_true(hyperbolic(INFINITY) == 1.0f && hyperbolic(-INFINITY) == -1.0f && isnan(hyperbolic(NAN)));
}

static void test_reciprocals_and_roots(void **state)
{
    (void)state;
    sweep("rcp", rcp, mpfr_rcp, 1.0f, 2.0f, 13, true, 0x1p-23);
    sweep("rcp", rcp, mpfr_rcp, FLT_MIN, 0x1p126f, STEP, true, 0x1p-23);
    sweep("rsqrt", rsqrt, mpfr_rec_sqrt, 1.0f, 4.0f, 13, true, 0x1.12p-23); /* 2^-22.9 */
    sweep("rsqrt", rsqrt, mpfr_rec_sqrt, 0x1p-149f, FLT_MAX, STEP, true, 0x1.12p-23);
    sweep("sqrt", root, mpfr_sqrt, 0x1p-149f, FLT_MAX, STEP, true, 0x1p-23);
}

static void test_div(void **state)
{
    (void)state;
    assert_int_equal(f32_bits(approx_div(1.0f, 0x1.8p126f, false)), 0);
    assert_int_equal(f32_bits(approx_div(-1.0f, 0x1.8p126f, false)), 0x80000000u);
    assert_int_equal(f32_bits(approx_div(INFINITY, 0x1.8p126f, true)), F32_NAN);
    assert_true(approx_div(1.0f, 0x1p126f, false) == 0x1p-126f);
    assert_true(approx_div(6.0f, 2.0f, true) == 3.0f);
    assert_true(approx_div(1.0f, 0x1p-140f, true) == INFINITY);
    assert_int_equal(f32_bits(approx_div(0x1p-126f, 2.0f, true)), 0);
    assert_int_equal(f32_bits(approx_div(0.0f, 0.0f, false)), F32_NAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ex2),
        cmocka_unit_test(test_lg2),
        cmocka_unit_test(test_sin_cos),
        cmocka_unit_test(test_tanh),
        cmocka_unit_test(test_reciprocals_and_roots),
        cmocka_unit_test(test_div),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
