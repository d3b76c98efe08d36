/* Are specs read as they are written, and mistakes in them told with their place? Is every registered policy well
 * formed? */
#include "policy_test.h"

#include <locale.h>
#include <stdio.h>
#include <unistd.h>

static struct policy_choice choose(enum policy_kind kind, const char *spec)
{
    struct policy_choice c;
    struct error e = {0};
    if (!policy_choose(&c, kind, spec, &e))
        fail_msg("%s: %s", spec, e.text);
    return c;
}

static void resolved(void **state)
{
    (void)state;
    static const struct {
        enum policy_kind kind;
        const char *spec, *resolved;
    } rows[] = {
        {POLICY_SCHEDULER, "gto", "gto"},
        {POLICY_SCHEDULER, "sticky", "sticky:level=warp"},
        {POLICY_SCHEDULER, "sticky:level=block", "sticky:level=block"},
        {POLICY_L1, "lru", "lru"},
        {POLICY_L1, "srrip", "srrip:bits=2,insert=long"},
        {POLICY_L1, "srrip:insert=near", "srrip:bits=2,insert=near"},
        {POLICY_L1, "srrip:insert=distant,bits=0x3", "srrip:bits=3,insert=distant"},
        {POLICY_DIVERGENCE, "pdom", "pdom"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct policy_choice c = choose(rows[i].kind, rows[i].spec);
        assert_string_equal(c.spec, rows[i].resolved);
        assert_int_equal(c.scheduler != NULL, rows[i].kind == POLICY_SCHEDULER);
        assert_int_equal(c.l1 != NULL, rows[i].kind == POLICY_L1);
        assert_int_equal(c.divergence != NULL, rows[i].kind == POLICY_DIVERGENCE);
        assert_non_null(c.policy);
        struct policy_choice again = choose(rows[i].kind, c.spec); /* a resolved spec is a spec */
        assert_string_equal(again.spec, c.spec);
        policy_release(&again);
        policy_release(&c);
    }
}

static void values_in_order_of_the_table(void **state)
{
    (void)state;
    struct policy_choice c = choose(POLICY_L1, "srrip:insert=distant,bits=5");
    assert_int_equal(c.values[0].integer, 5);
    assert_int_equal(c.values[1].integer, 2);
    policy_release(&c);
}

static void mistakes(void **state)
{
    (void)state;
    static const struct {
        enum policy_kind kind;
        const char *spec;
        enum error_kind error;
        int column;
        const char *says[3];
    } rows[] = {
        {POLICY_SCHEDULER, "", ERROR_INVALID, 1, {"name of a scheduler"}},
        {POLICY_SCHEDULER, ":a=1", ERROR_INVALID, 1, {"name of a scheduler"}},
        {POLICY_SCHEDULER,
         "gtoo",
         ERROR_NOT_FOUND,
         1,
         {"-s:1:1: error: no scheduler 'gtoo'; did you mean 'gto'?\n  gtoo\n  ^", "known: lrr rr sticky oldest gto"}},
        {POLICY_SCHEDULER, "banana", ERROR_NOT_FOUND, 1, {"no scheduler 'banana'\n"}},
        {POLICY_SCHEDULER, "GTO", ERROR_NOT_FOUND, 1, {"no scheduler 'GTO'"}},
        {POLICY_SCHEDULER,
         "srrip:bits=2",
         ERROR_NOT_FOUND,
         1,
         {"'srrip' is an L1 policy, not a scheduler; it goes after --l1"}},
        {POLICY_L1,
         "gto",
         ERROR_NOT_FOUND,
         1,
         {"--l1:1:1", "'gto' is a scheduler, not an L1 policy; it goes after -s"}},
        {POLICY_DIVERGENCE,
         "pdon",
         ERROR_NOT_FOUND,
         1,
         {"--divergence:1:1", "no divergence unit 'pdon'; did you mean 'pdom'?"}},
        {POLICY_SCHEDULER, "gto:limit=4", ERROR_NOT_FOUND, 5, {"gto has no parameters", "  gto:limit=4\n      ^"}},
        {POLICY_SCHEDULER, "gto:", ERROR_INVALID, 5, {"a parameter's name was expected"}},
        {POLICY_SCHEDULER,
         "sticky:levl=warp",
         ERROR_NOT_FOUND,
         8,
         {"sticky has no parameter 'levl'; did you mean 'level'?", "known: level"}},
        {POLICY_SCHEDULER, "sticky:level", ERROR_INVALID, 13, {"'=' and a value for 'level' were expected"}},
        {POLICY_SCHEDULER, "sticky:level=", ERROR_INVALID, 14, {"one of warp, block for 'level' was expected, not ''"}},
        {POLICY_SCHEDULER, "sticky:level=blok", ERROR_INVALID, 14, {"not 'blok'", "did you mean 'block'?"}},
        {POLICY_SCHEDULER, "sticky:level=warp,level=block", ERROR_INVALID, 19, {"'level' is given twice"}},
        {POLICY_SCHEDULER, "sticky:level=warp,", ERROR_INVALID, 19, {"a parameter's name was expected"}},
        {POLICY_SCHEDULER, "sticky:=warp", ERROR_INVALID, 8, {"a parameter's name was expected"}},
        {POLICY_L1, "srrip:bits=9", ERROR_INVALID, 12, {"a number from 1 to 8 for 'bits' was expected, not '9'"}},
        {POLICY_L1, "srrip:insert=long,bits=0", ERROR_INVALID, 24, {"not '0'"}},
        {POLICY_L1, "srrip:bits=two", ERROR_INVALID, 12, {"a whole number for 'bits' was expected"}},
        {POLICY_L1, "srrip:bits=2x", ERROR_INVALID, 12, {"not '2x'"}},
        {POLICY_L1, "srrip:bits=99999999999999999999", ERROR_INVALID, 12, {"a whole number"}},
        {POLICY_SCHEDULER, "./no-such-file.so", ERROR_NOT_FOUND, 1, {"no file './no-such-file.so'"}},
        {POLICY_SCHEDULER, "no-such-file.so:limit=2", ERROR_NOT_FOUND, 1, {"no file './no-such-file.so'"}},
        {POLICY_SCHEDULER, "some/where:a=1", ERROR_NOT_FOUND, 1, {"no file 'some/where'"}},
        {POLICY_SCHEDULER, "/proc/self/maps", ERROR_INVALID, 1, {"cannot be loaded: "}},
        {POLICY_SCHEDULER, "/proc/self/exe", ERROR_INVALID, 1, {"-s:1:1: error: cannot be loaded"}},
        {POLICY_SCHEDULER, "/tmp", ERROR_INVALID, 1, {"cannot be loaded"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct policy_choice c;
        struct error e = {0};
        if (policy_choose(&c, rows[i].kind, rows[i].spec, &e))
            fail_msg("'%s' was taken", rows[i].spec);
        if (e.kind != rows[i].error || e.column != rows[i].column)
            fail_msg("'%s': kind %d column %d: %s", rows[i].spec, e.kind, e.column, e.text);
        for (int j = 0; j < 3 && rows[i].says[j]; j++)
            if (!strstr(e.text, rows[i].says[j]))
                fail_msg("'%s': no '%s' in: %s", rows[i].spec, rows[i].says[j], e.text);
        assert_null(c.library);
        policy_release(&c); /* allowed, though it is not needed */
    }
}

static void long_names_do_no_harm(void **state)
{
    (void)state;
    char spec[6000];
    static const char *const heads[] = {"", "sticky:", "sticky:level=", "./"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct policy_choice c;
        struct error e = {0};
        memset(spec, 'x', sizeof spec - 1);
        spec[sizeof spec - 1] = '\0';
        memcpy(spec, heads[i], strlen(heads[i]));
        assert_false(policy_choose(&c, POLICY_SCHEDULER, spec, &e));
        assert_true(strlen(e.text) > 20);
    }
}

/* Shared objects, made by the C compiler from tests/policy/variant.c in a folder of their own. */

static char folder[] = "/tmp/heddle-policy-XXXXXX";
static char library[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(library, sizeof library, "%s/variant.so", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void compile(const char *how)
{
    char command[512];
    const char *cc = getenv("CC");
    unlink(library); /* a library that is still open must not be written over */
    snprintf(command, sizeof command,
             "%s -shared -fPIC -Wall -Wextra -Werror -Wno-unused -Iinclude %s -o %s tests/policy/variant.c",
             cc && *cc ? cc : "cc", how, library);
    if (system(command))
        fail_msg("failed: %s", command);
}

static void shared_object(void **state)
{
    (void)state;
    char spec[256];
    compile("");
    struct policy_choice c = choose(POLICY_SCHEDULER, library);
    assert_string_equal(c.spec, "variant:limit=4,share=0.6,colour=green,loud=off,file=");
    assert_non_null(c.library);
    assert_int_equal(c.scheduler->pick(NULL, NULL, 0x18), 3);
    policy_release(&c);
    snprintf(spec, sizeof spec, "%s:share=0.1,loud,colour=red,file=/a/b.so:c=d", library);
    c = choose(POLICY_SCHEDULER, spec);
    assert_string_equal(c.spec, "variant:limit=4,share=0.1,colour=red,loud=on,file=/a/b.so:c=d");
    assert_true(c.values[1].real == 0.1);
    assert_int_equal(c.values[2].integer, 0);
    assert_int_equal(c.values[3].integer, 1);
    assert_string_equal(c.values[4].text, "/a/b.so:c=d");
    assert_int_equal(policy_counter_count(c.policy), 1);
    policy_release(&c);
}

/* Numbers are the same in a program that writes them with commas. */
static void decimal_commas_elsewhere(void **state)
{
    (void)state;
    char spec[256], command[256];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    setenv("LOCPATH", folder, 1);
    if (system(command) < 0 || !setlocale(LC_NUMERIC, "de_DE.UTF-8"))
        skip(); /* a system without localedef, or without its sources */
    compile("");
    snprintf(spec, sizeof spec, "%s:share=0.25", library);
    struct policy_choice c = choose(POLICY_SCHEDULER, spec);
    setlocale(LC_NUMERIC, "C");
    assert_true(c.values[1].real == 0.25);
    assert_non_null(strstr(c.spec, "share=0.25"));
    policy_release(&c);
}

static void where_the_name_ends(void **state)
{
    (void)state;
    assert_int_equal(policy_name_length("gto"), 3);
    assert_int_equal(policy_name_length("gto:file=/a/b.so"), 3);
    assert_int_equal(policy_name_length("mine.so:limit=4"), 7);
    assert_int_equal(policy_name_length("./a:b/mine.so:limit=4"), 13);
    assert_int_equal(policy_name_length("./mine.so.1:limit=4"), 11);
    assert_int_equal(policy_name_length(""), 0);
}

static void wrong_shared_objects(void **state)
{
    (void)state;
    static const struct {
        const char *how;
        enum policy_kind kind;
        const char *behind, *says;
    } rows[] = {
        {"-DENTRY_ABI=99", POLICY_SCHEDULER, "",
         "made for version 99 of the policy interface, this Heddle has version 9"},
        {"-DPOLICY_ABI=99", POLICY_SCHEDULER, "", "made for version 99"},
        {"-DPOLICY_ABI=0", POLICY_SCHEDULER, "", "policy.abi is not set"},
        {"-DNO_ENTRY", POLICY_SCHEDULER, "",
         "no symbol heddle_policy_entry in it; end the file with HEDDLE_EXPORT_SCHEDULER(...)"},
        {"-DNO_ENTRY", POLICY_L1, "", "HEDDLE_EXPORT_L1"},
        {"-DEMPTY_ENTRY", POLICY_SCHEDULER, "", "names no policy"},
        {"-DNO_PICK", POLICY_SCHEDULER, "", "scheduler 'variant' has no pick"},
        {"-DNO_NAME", POLICY_SCHEDULER, "", "policy.name is not a name"},
        {"-DBAD_DEFAULT", POLICY_SCHEDULER, "", "the declared default 'half' of parameter 'share' is not a number"},
        {"-DMISSING_SYMBOL", POLICY_SCHEDULER, "", "heddle_nowhere"},
        {"-DAS_L1", POLICY_SCHEDULER, "", "holds an L1 policy, not a scheduler; it goes after --l1"},
        {"", POLICY_L1, "", "holds a scheduler, not an L1 policy; it goes after -s"},
        {"", POLICY_DIVERGENCE, "", "holds a scheduler, not a divergence unit"},
        {"", POLICY_SCHEDULER, ":limt=3", "variant has no parameter 'limt'; did you mean 'limit'?"},
        {"", POLICY_SCHEDULER, ":share=1.5", "a number from 0 to 1 for 'share' was expected, not '1.5'"},
        {"", POLICY_SCHEDULER, ":share=nan", "a number for 'share'"},
        {"", POLICY_SCHEDULER, ":loud=perhaps", "on or off for 'loud' was expected, not 'perhaps'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct policy_choice c;
        struct error e = {0};
        char spec[256];
        compile(rows[i].how);
        snprintf(spec, sizeof spec, "%s%s", library, rows[i].behind);
        if (policy_choose(&c, rows[i].kind, spec, &e))
            fail_msg("%s was taken", rows[i].how);
        if (!strstr(e.text, rows[i].says))
            fail_msg("%s %s: no '%s' in: %s", rows[i].how, spec, rows[i].says, e.text);
    }
}

static void too_long_to_write_out(void **state)
{
    (void)state;
    char spec[1024];
    struct policy_choice c;
    struct error e = {0};
    compile("");
    snprintf(spec, sizeof spec, "%s:file=%0700d", library, 1);
    assert_false(policy_choose(&c, POLICY_SCHEDULER, spec, &e));
    assert_non_null(strstr(e.text, "longer than 511 characters"));
}

static bool is_name(const char *name) { return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_")]; }

/* Every default is a value, every policy can be chosen by its name and has what a list shows. */
static void registered_policies_are_well_formed(void **state)
{
    (void)state;
    for (int kind = 0; kind < POLICY_KINDS; kind++) {
        const struct heddle_policy *p;
        size_t count = 0;
        for (; (p = policy_builtin((enum policy_kind)kind, count)); count++) {
            assert_int_equal(p->abi, HEDDLE_POLICY_ABI);
            assert_true(is_name(p->name));
            assert_true(p->help && strlen(p->help) > 10 && !strchr(p->help, '\n'));
            for (uint32_t i = 0; i < policy_param_count(p); i++) {
                assert_true(is_name(p->params[i].name));
                assert_true(p->params[i].help && *p->params[i].help && p->params[i].default_value);
            }
            for (uint32_t i = 0; i < policy_counter_count(p); i++)
                assert_true(is_name(p->counters[i].name) && p->counters[i].unit && p->counters[i].help);
            assert_true(!p->init || p->state_bytes);
            struct policy_choice c = choose((enum policy_kind)kind, p->name);
            assert_ptr_equal(c.policy, p);
            policy_release(&c);
            for (size_t other = 0; other < count; other++)
                assert_string_not_equal(policy_builtin((enum policy_kind)kind, other)->name, p->name);
        }
        assert_true(count > 0);
    }
    for (int i = 0; policy_schedulers[i]; i++)
        assert_non_null(policy_schedulers[i]->pick);
}

static void pdom_adds_nothing(void **state)
{
    (void)state;
    struct policy_choice c = choose(POLICY_DIVERGENCE, "pdom");
    const struct heddle_divergence *d = c.divergence;
    assert_false(d->regroups);
    assert_true(!d->services && !d->block_start && !d->block_end && !d->split && !d->arrived && !d->exited && !d->lane);
    struct heddle_events none = {0};
    assert_memory_equal(&c.policy->on, &none, sizeof none);
    policy_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resolved),
        cmocka_unit_test(values_in_order_of_the_table),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(long_names_do_no_harm),
        cmocka_unit_test(shared_object),
        cmocka_unit_test(decimal_commas_elsewhere),
        cmocka_unit_test(where_the_name_ends),
        cmocka_unit_test(wrong_shared_objects),
        cmocka_unit_test(too_long_to_write_out),
        cmocka_unit_test(registered_policies_are_well_formed),
        cmocka_unit_test(pdom_adds_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
