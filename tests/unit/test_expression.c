/* Is arithmetic over metrics read as people write it, is NAN what it should be, and does every mistake have its
 * column? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment/expression.h"

#include <math.h>
#include <string.h>

static double value(const char *text, const double *values)
{
    struct arena a = {0};
    struct error e = {0};
    struct source s = {"test", text, strlen(text)};
    struct expression *x = expression_parse(&a, text, &s, 1, 1, &e);
    if (!x)
        fail_msg("%s", e.text);
    double result = expression_value(x, values);
    arena_free(&a);
    return result;
}

static void refused(const char *text, int column, const char *wanted)
{
    struct arena a = {0};
    struct error e = {0};
    struct source s = {"test", text, strlen(text)};
    assert_null(expression_parse(&a, text, &s, 1, 1, &e));
    if (!strstr(e.text, wanted) || e.column != column || e.line != 1)
        fail_msg("wanted column %d and '%s', not column %d of line %d: %s", column, wanted, e.column, e.line, e.text);
    arena_free(&a);
}

static void arithmetic(void **state)
{
    (void)state;
    assert_float_equal(value("1 + 2 * 3", NULL), 7, 0);
    assert_float_equal(value("(1 + 2) * 3", NULL), 9, 0);
    assert_float_equal(value("10 - 4 - 3", NULL), 3, 0);
    assert_float_equal(value("100 / 5 / 2", NULL), 10, 0);
    assert_float_equal(value("-2 * -(1 + 2)", NULL), 6, 0);
    assert_float_equal(value(" 1.5e3+.5 ", NULL), 1500.5, 0);
    assert_float_equal(value("2-1", NULL), 1, 0);
}

static void metrics(void **state)
{
    (void)state;
    const double values[] = {10, 4};
    assert_float_equal(value("1000 * l1d.misses / thread_instructions", values), 2500, 0);
    assert_float_equal(value("l1d.misses - 2 - x", values), 4, 0);
    assert_float_equal(value("a + b * a", values), 50, 0);
}

static void names_once_each(void **state)
{
    (void)state;
    struct arena a = {0};
    const char text[] = "l1d.hits / (l1d.hits + l1d.misses) + two-level.switches", *const * names;
    struct source s = {"test", text, sizeof text - 1};
    struct expression *x = expression_parse(&a, text, &s, 1, 1, NULL);
    assert_int_equal(expression_names(x, &names), 3);
    assert_string_equal(names[0], "l1d.hits");
    assert_string_equal(names[1], "l1d.misses");
    assert_string_equal(names[2], "two-level.switches");
    arena_free(&a);
}

static void unknown_values(void **state)
{
    (void)state;
    const double values[] = {NAN, 4}, zero[] = {0, 0};
    assert_true(isnan(value("a + b", values)));
    assert_true(isnan(value("0 * a + b - b", values)));
    assert_true(isnan(value("a / b", zero)));
    assert_true(isnan(value("1 / (a * 2)", zero)));
    assert_true(isnan(value("1 / (1 / a)", zero))); /* not 0 by way of infinity */
    assert_float_equal(value("a / 5 + b", zero), 0, 0);
    assert_true(isnan(value("1e300 * 1e300", NULL))); /* no number of a figure */
}

static void mistakes(void **state)
{
    (void)state;
    refused("", 1, "expected a metric, a number or '('");
    refused("1 +", 4, "expected a metric, a number or '('");
    refused("a * * b", 5, "expected a metric");
    refused("(a + b", 1, "this '(' is not closed");
    refused("a + (b", 5, "this '(' is not closed");
    refused("a + b)", 6, "closes nothing");
    refused("a b", 3, "expected an operator");
    refused("1.2.3", 1, "expected a number");
    refused("3x", 1, "expected a number");
    refused("a % b", 3, "expected an operator");
    refused("(a b)", 4, "expected an operator or ')'");
}

static void place_in_a_file(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error e = {0};
    struct source s = {"file.ini", "one\ny = a +\n", 12};
    assert_null(expression_parse(&a, "a +", &s, 2, 5, &e));
    assert_string_equal(e.text, "file.ini:2:8: error: expected a metric, a number or '('\n  y = a +\n         ^");
    arena_free(&a);
}

/* As deep and as long as anybody likes, the answer is a message. */
static void limits(void **state)
{
    (void)state;
    enum { LENGTH = 200000 };
    static char text[LENGTH + 1];
    memset(text, '(', LENGTH);
    refused(text, 101, "nested too deeply");
    memset(text, '-', LENGTH);
    refused(text, 101, "nested too deeply");
    for (int i = 0; i < LENGTH; i += 2)
        memcpy(text + i, "1+", 2);
    struct arena a = {0};
    struct error e = {0};
    struct source s = {"test", text, LENGTH};
    assert_null(expression_parse(&a, text, &s, 1, 1, &e));
    assert_non_null(strstr(e.text, "too long"));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic),     cmocka_unit_test(metrics),  cmocka_unit_test(names_once_each),
        cmocka_unit_test(unknown_values), cmocka_unit_test(mistakes), cmocka_unit_test(place_in_a_file),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
