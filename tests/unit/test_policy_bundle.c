/* Does a bundle stand for the specs that it should, with each parameter at the members that have it, and are
 * mistakes told with their place? Bundles of a table of our own, and one out of a shared object. */
#include "policy_test.h"

#include "policy/bundle.h"

#include <stdio.h>
#include <unistd.h>

static const struct policy_bundle table[] = {
    {.name = "pair", .help = "two", .scheduler = "sticky", .l1 = "srrip"},
    {.name = "set", .help = "with values", .scheduler = "sticky:level=block", .l1 = "srrip:bits=3,insert=near"},
    {.name = "tags", .help = "with a probe", .scheduler = "ccws", .probe = "lost"},
    {.name = "plain", .help = "without parameters", .scheduler = "gto", .l1 = "lru", .divergence = "pdom"},
    {.name = "broken", .help = "has a member that is not there", .scheduler = "gtoo"},
    {0},
};

static struct policy_specs specs;

static void stands_for(const char *spec, const char *scheduler, const char *l1, const char *divergence,
                       const char *probe)
{
    struct error e = {0};
    if (!policy_bundle_resolve_in(&specs, table, spec, &e))
        fail_msg("%s: %s", spec, e.text);
    assert_string_equal(specs.of[POLICY_SCHEDULER], scheduler);
    assert_string_equal(specs.of[POLICY_L1], l1);
    assert_string_equal(specs.of[POLICY_DIVERGENCE], divergence);
    assert_string_equal(specs.of[POLICY_PROBE], probe);
}

static void members_and_parameters(void **state)
{
    (void)state;
    stands_for("pair", "sticky", "srrip", "", "");
    stands_for("plain", "gto", "lru", "pdom", "");
    stands_for("pair:bits=4", "sticky", "srrip:bits=4", "", "");
    stands_for("pair:bits=4,level=block,insert=near", "sticky:level=block", "srrip:bits=4,insert=near", "", "");
    stands_for("tags:vta_entries=8,k_throttle=4,vta_ways=2", "ccws:vta_entries=8,k_throttle=4,vta_ways=2", "", "",
               "lost:vta_entries=8,vta_ways=2");
}

static void written_values_take_the_place_of_the_tables(void **state)
{
    (void)state;
    stands_for("set", "sticky:level=block", "srrip:bits=3,insert=near", "", "");
    stands_for("set:bits=5", "sticky:level=block", "srrip:insert=near,bits=5", "", "");
    stands_for("set:level=warp,insert=long", "sticky:level=warp", "srrip:bits=3,insert=long", "", "");
}

struct mistake {
    const char *spec;
    enum error_kind kind;
    int column;
    const char *says[2];
};

static void is_refused(const struct mistake *m)
{
    struct error e = {0};
    if (policy_bundle_resolve_in(&specs, table, m->spec, &e))
        fail_msg("'%s' was taken", m->spec);
    if (e.kind != m->kind || e.column != m->column)
        fail_msg("'%s': kind %d column %d: %s", m->spec, e.kind, e.column, e.text);
    for (int i = 0; i < 2 && m->says[i]; i++)
        if (!strstr(e.text, m->says[i]))
            fail_msg("'%s': no '%s' in: %s", m->spec, m->says[i], e.text);
}

static void mistakes(void **state)
{
    (void)state;
    static const struct mistake rows[] = {
        {"", ERROR_INVALID, 1, {"the name of a bundle was expected"}},
        {":bits=2", ERROR_INVALID, 1, {"the name of a bundle was expected"}},
        {"pear", ERROR_NOT_FOUND, 1, {"-p:1:1: error: no bundle 'pear'; did you mean 'pair'?", "known: pair set tags"}},
        {"gto", ERROR_NOT_FOUND, 1, {"'gto' is a scheduler, not a bundle; it goes after -s"}},
        {"srrip:bits=2", ERROR_NOT_FOUND, 1, {"'srrip' is an L1 policy, not a bundle; it goes after --l1"}},
        {"pair:bit=2",
         ERROR_NOT_FOUND,
         6,
         {"no policy of pair has a parameter 'bit'; did you mean 'bits'?\n  pair:bit=2\n       ^",
          "known: level bits insert"}},
        {"pair:bits=2,zzzzzz=1", ERROR_NOT_FOUND, 13, {"no policy of pair has a parameter 'zzzzzz'\n"}},
        {"plain:bits=2", ERROR_NOT_FOUND, 7, {"no policy of plain has parameters"}},
        {"pair:bits=9",
         ERROR_INVALID,
         11,
         {"-p:1:11: error: a number from 1 to 8 for 'bits' was expected, not '9'\n  pair:bits=9\n"}},
        {"pair:level=warp,bits=9", ERROR_INVALID, 22, {"not '9'"}},
        {"tags:vta_entries=0", ERROR_INVALID, 18, {"for 'vta_entries' was expected, not '0'"}},
        {"pair:bits=2,bits=3", ERROR_INVALID, 13, {"'bits' is given twice"}},
        {"pair:", ERROR_INVALID, 6, {"a parameter's name was expected"}},
        {"pair:bits=2,", ERROR_INVALID, 13, {"a parameter's name was expected"}},
        {"pair:bits", ERROR_INVALID, 10, {"'=' and a value for 'bits' were expected"}},
        {"broken", ERROR_NOT_FOUND, 1, {"no scheduler 'gtoo'"}},
        {"./none.so", ERROR_NOT_FOUND, 1, {"-p:1:1: error: no file './none.so'"}},
        {"/proc/self/maps", ERROR_INVALID, 1, {"cannot be loaded"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_refused(&rows[i]);
}

static void long_specs_do_no_harm(void **state)
{
    (void)state;
    static const char *const heads[] = {"", "pair:", "pair:bits=", "./", "pair:bits=2,"};
    char spec[9000];
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct error e = {0};
        memset(spec, 'x', sizeof spec - 1);
        spec[sizeof spec - 1] = '\0';
        memcpy(spec, heads[i], strlen(heads[i]));
        assert_false(policy_bundle_resolve_in(&specs, table, spec, &e));
        assert_true(strlen(e.text) > 20);
    }
}

/* Every built-in bundle names policies that are there. */
static void built_in_bundles(void **state)
{
    (void)state;
    for (const struct policy_bundle *b = policy_bundles; b->name; b++) {
        struct error e = {0};
        assert_true(b->help && *b->help);
        if (!policy_bundle_resolve(&specs, b->name, &e))
            fail_msg("%s: %s", b->name, e.text);
        for (int kind = 0; kind < POLICY_KINDS; kind++) {
            const char *member = policy_bundle_member(b, (enum policy_kind)kind);
            assert_string_equal(specs.of[kind], member ? member : "");
        }
    }
}

/* ------------------------------------------------------------- shared objects */

static char folder[] = "/tmp/heddle-bundle-XXXXXX";
static char library[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(library, sizeof library, "%s/mine.so", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void compile(const char *file, const char *how)
{
    char command[512];
    const char *cc = getenv("CC");
    unlink(library);
    snprintf(command, sizeof command,
             "%s -shared -fPIC -Wall -Wextra -Werror -Wno-unused -Iinclude %s -o %s tests/policy/%s",
             cc && *cc ? cc : "cc", how, library, file);
    if (system(command))
        fail_msg("failed: %s", command);
}

static const char *with(const char *behind)
{
    static char text[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof text[turn], "%s%s", library, behind);
    return text[turn];
}

static void a_users_bundle(void **state)
{
    (void)state;
    compile("bundle.c", "");
    stands_for(library, library, library, "", "");
    stands_for(with(":limit=8"), with(":limit=8"), library, "", "");
    stands_for(with(":share=1,tone=high"), with(":tone=high"), with(":share=1,tone=high"), "", "");
    int at = (int)strlen(library) + 2;
    is_refused(&(struct mistake){
        with(":lmit=8"), ERROR_NOT_FOUND, at, {"did you mean 'limit'?", "known: tone limit tone share"}});
    is_refused(&(struct mistake){with(":tone=loud"), ERROR_INVALID, at + 5, {"one of low, high for 'tone'"}});
    compile("bundle.c", "-DWITH_PROBE");
    stands_for(library, library, library, "", library);
    compile("variant.c", "");
    stands_for(with(":limit=8"), with(":limit=8"), "", "", ""); /* one policy is a bundle, too */
}

static void wrong_bundles(void **state)
{
    (void)state;
    static const struct {
        const char *file, *how, *says;
    } rows[] = {
        {"bundle.c", "-DSAME_NAME", "its scheduler and its L1 policy have the same name, 'counting'"},
        {"bundle.c", "-DEMPTY_BUNDLE", "names no policy; use HEDDLE_EXPORT_BUNDLE"},
        {"variant.c", "-DNO_ENTRY", "no symbol heddle_policy_entry in it; end the file with HEDDLE_EXPORT_BUNDLE(...)"},
        {"variant.c", "-DENTRY_ABI=3", "made for version 3 of the policy interface"},
        {"variant.c", "-DNO_PICK", "scheduler 'variant' has no pick"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        compile(rows[i].file, rows[i].how);
        is_refused(&(struct mistake){library, ERROR_INVALID, 1, {rows[i].says}});
    }
}

/* Behind -s and --l1 a bundle's file gives one of its policies. */
static void members_by_themselves(void **state)
{
    (void)state;
    struct policy_choice c;
    struct error e = {0};
    compile("bundle.c", "");
    assert_true(policy_choose(&c, POLICY_SCHEDULER, with(":limit=8"), &e));
    assert_string_equal(c.spec, "counting:tone=low,limit=8");
    policy_release(&c);
    assert_true(policy_choose(&c, POLICY_L1, library, &e));
    assert_string_equal(c.spec, "reading:tone=low,share=0.5");
    policy_release(&c);
    assert_false(policy_choose(&c, POLICY_DIVERGENCE, library, &e));
    assert_non_null(strstr(e.text, "holds a scheduler and an L1 policy, not a divergence unit; it goes after -p"));
}

static void beside_other_policies(void **state)
{
    (void)state;
    struct error e = {0};
    compile("bundle.c", "");
    assert_true(policy_bundle_take(&specs, library, (const char *const[]){"", NULL, "pdom", NULL}, &e));
    assert_false(policy_bundle_take(&specs, library, (const char *const[]){"gto", NULL, NULL, NULL}, &e));
    assert_non_null(strstr(e.text, "this bundle has a scheduler of its own; -s gto cannot be given as well"));
    e = (struct error){0};
    assert_false(policy_bundle_take(&specs, library, (const char *const[]){NULL, "lru", NULL, NULL}, &e));
    assert_non_null(strstr(e.text, "this bundle has an L1 policy of its own; --l1 lru cannot be given as well"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_parameters),
        cmocka_unit_test(written_values_take_the_place_of_the_tables),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(long_specs_do_no_harm),
        cmocka_unit_test(built_in_bundles),
        cmocka_unit_test(a_users_bundle),
        cmocka_unit_test(wrong_bundles),
        cmocka_unit_test(members_by_themselves),
        cmocka_unit_test(beside_other_policies),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
