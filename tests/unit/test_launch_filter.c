/* Does the filter time the launches that were asked for, and say what there was when there were none? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/launch_filter.h"

#include <string.h>

static struct launch_filter *make(const char *launches, uint64_t skip, const char *kernel, bool region)
{
    struct error e = {0};
    struct launch_filter *f = launch_filter_create(
        &(struct launch_filter_spec){
            .kernels = &kernel, .kernel_count = kernel ? 1 : 0, .launches = launches, .skip = skip, .region = region},
        &e);
    if (!f)
        fail_msg("%s", e.text);
    return f;
}

/* Which of the first ten launches are timed, a bit each. */
static uint32_t of_ten(const char *launches, uint64_t skip)
{
    struct launch_filter *f = make(launches, skip, NULL, false);
    uint32_t set = 0;
    for (uint32_t i = 0; i < 10; i++)
        set |= (uint32_t)launch_filter_times(f, i, "k", false) << i;
    launch_filter_destroy(f);
    return set;
}

static void numbers_are_chosen(void **state)
{
    (void)state;
    assert_int_equal(of_ten(NULL, 0), 0x3ff);
    assert_int_equal(of_ten("", 0), 0x3ff);
    assert_int_equal(of_ten("0", 0), 0x001);
    assert_int_equal(of_ten("9-", 0), 0x200);
    assert_int_equal(of_ten("0,3-5,9-", 0), 0x239);
    assert_int_equal(of_ten("5,0-1", 0), 0x023);
    assert_int_equal(of_ten("3-3", 0), 0x008);
    assert_int_equal(of_ten("18446744073709551615", 0), 0);
    assert_int_equal(of_ten(NULL, 4), 0x3f0);
    assert_int_equal(of_ten("0-5", 4), 0x030);
}

static void lists_are_checked(void **state)
{
    static const char *const bad[] = {"x",   "1,", ",", "1-2-3", "2-1", "-1", "1 2", "+1", "18446744073709551616",
                                      "1,,2"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error e = {0};
        assert_null(launch_filter_create(&(struct launch_filter_spec){.launches = bad[i]}, &e));
        assert_int_equal(e.kind, ERROR_NOT_FOUND);
    }
}

static void names_and_regions_are_chosen(void **state)
{
    struct launch_filter *f = make("1-", 0, "scale", true);
    (void)state;
    assert_false(launch_filter_times(f, 0, "scale", false));
    assert_true(launch_filter_times(f, 1, "scale", false));
    assert_false(launch_filter_times(f, 1, "scale", true));
    assert_false(launch_filter_times(f, 1, "scaler", false));
    assert_true(launch_filter_times(f, 7, "scale", false));
    launch_filter_destroy(f);
}

static void says(const struct launch_filter *f, const char *what)
{
    struct error e = {0};
    launch_filter_explain(f, &e);
    if (!strstr(e.text, what))
        fail_msg("'%s' does not say '%s'", e.text, what);
}

static void says_what_there_was(void **state)
{
    struct launch_filter *f = make(NULL, 0, "scale", false);
    (void)state;
    for (int i = 0; i < 3; i++)
        launch_filter_count(f, "add", launch_filter_times(f, (uint64_t)i, "add", false));
    assert_int_equal(f->functional, 3);
    says(f, "no kernel that the program launched is called so");
    says(f, "  add (3)");
    launch_filter_destroy(f);
    f = make("5", 0, NULL, false);
    launch_filter_count(f, "add", launch_filter_times(f, 0, "add", false));
    says(f, "none with such a number");
    launch_filter_destroy(f);
    f = make(NULL, 0, NULL, false);
    launch_filter_count(f, "add", launch_filter_times(f, 0, "add", false));
    assert_int_equal(f->timed, 1);
    launch_filter_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_chosen),
        cmocka_unit_test(lists_are_checked),
        cmocka_unit_test(names_and_regions_are_chosen),
        cmocka_unit_test(says_what_there_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
