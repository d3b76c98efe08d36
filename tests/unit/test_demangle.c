/* Are names of C++ written as people write them, and found by what people call them? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/demangle.h"

#include <stdlib.h>
#include <string.h>

static void is(const char *name, const char *whole, const char *plain)
{
    char *w = demangled(name), *p = demangled_plain(name);
    if (strcmp(w, name) || !strcmp(name, whole)) { /* libstdc++ is there, or not needed */
        assert_string_equal(w, whole);
        assert_string_equal(p, plain);
    }
    free(w);
    free(p);
}

static void names_are_as_written(void **state)
{
    (void)state;
    is("bfs_level", "bfs_level", "bfs_level");
    is("", "", "");
    is("_Z", "_Z", "_Z");
    is("_Zwhat?", "_Zwhat?", "_Zwhat?");
    is("_Z5scalePfi", "scale(float*, int)", "scale");
    is("_Z5scaleIfEvPT_i", "void scale<float>(float*, int)", "scale");
    is("_ZN2my5scaleIfEEvPT_i", "void my::scale<float>(float*, int)", "my::scale");
    is("_ZN12_GLOBAL__N_15scaleEPf", "(anonymous namespace)::scale(float*)", "(anonymous namespace)::scale");
}

static void functions_are_found_by_what_they_are_called(void **state)
{
    static const char name[] = "_ZN2my5scaleIfEEvPT_i";
    static const char *const asked[] = {name,
                                        "void my::scale<float>(float*, int)",
                                        "my::scale<float>(float*, int)",
                                        "my::scale<float>",
                                        "my::scale",
                                        "scale<float>",
                                        "scale",
                                        "sc*",
                                        "my::*"};
    char *w = demangled(name);
    (void)state;
    for (size_t i = 0; strcmp(w, name) && i < sizeof asked / sizeof *asked; i++)
        if (!demangled_is(name, asked[i]))
            fail_msg("%s is not found", asked[i]);
    free(w);
    assert_true(demangled_is(name, name));
    assert_false(demangled_is(name, "my"));
    assert_false(demangled_is(name, "cale"));
    assert_false(demangled_is(name, "scale<double>"));
    assert_false(demangled_is("_Z5scalePfi", "scal"));
    assert_false(demangled_is("_Z6scalerPfi", "scale"));
    assert_true(demangled_is("bfs_level", "bfs_level"));
    assert_false(demangled_is("bfs_level", "bfs"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_as_written),
        cmocka_unit_test(functions_are_found_by_what_they_are_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
