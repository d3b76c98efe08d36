/* Does `daws-profile` count what Profiled-DAWS asks for, and write it as the reader expects? */
#include "probe_test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct heddle_probe probe_daws_profile;

static const union heddle_value values[] = {{.text = "unused"}, {.integer = 16}, {.integer = 8}, {.integer = 0}};

static void check(const struct probed *p, uint32_t pc, unsigned executions, unsigned diverged, unsigned considered,
                  unsigned local)
{
    assert_int_equal(probed_cell(p, pc, "executions"), executions);
    assert_int_equal(probed_cell(p, pc, "diverged"), diverged);
    assert_int_equal(probed_cell(p, pc, "considered"), considered);
    assert_int_equal(probed_cell(p, pc, "local"), local);
}

static void divergence(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_daws_profile, values);
    probed_load(&p, 0, OUTER, 2, 2);
    check(&p, OUTER, 1, 0, 0, 0);
    probed_load(&p, 0, OUTER, 3, 2);
    check(&p, OUTER, 2, 0, 1, 0);
    probed_load(&p, 0, OUTER, 3, 3);
    check(&p, OUTER, 3, 1, 2, 0);
    probed_load(&p, 0, OUTER, 2, 4); /* 2 lanes are not considered */
    check(&p, OUTER, 4, 1, 2, 0);
    assert_int_equal(probed_cell(&p, OUTER, "accesses"), 2 + 2 + 3 + 4);
    struct heddle_coalesced e = {.pc = OUTER, .active = 7, .accesses = 3, .store = true, .through_l1 = true};
    probed_on(&p)->coalesced(p.state, &p.core, &e);
    e.store = e.through_l1 = false;
    probed_on(&p)->coalesced(p.state, &p.core, &e);
    check(&p, OUTER, 4, 1, 2, 0);
    assert_int_equal(probed_cell(&p, OUTER, "accesses"), 2 + 2 + 3 + 4);
    probed_end(&p);
}

/* Each access that shows it. */
static void locality(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_daws_profile, values);
    probed_access(&p, 0, OUTER, 1, HEDDLE_MISS, -1, 1);
    probed_access(&p, 0, OUTER, 2, HEDDLE_MISS, -1, 0);
    check(&p, OUTER, 0, 0, 0, 0);
    probed_access(&p, 0, OUTER, 1, HEDDLE_HIT, 0, 2);
    check(&p, OUTER, 0, 0, 0, 1);
    probed_access(&p, 1, OUTER, 9, HEDDLE_MISS, -1, 0); /* another warp's between */
    probed_access(&p, 0, OUTER, 2, HEDDLE_HIT, 0, 1);
    probed_access(&p, 0, OUTER, 3, HEDDLE_MISS, -1, 0);
    check(&p, OUTER, 0, 0, 0, 2);
    probed_access(&p, 0, OUTER, 4, HEDDLE_MISS, -1, 0);
    check(&p, OUTER, 0, 0, 0, 2);
    probed_access(&p, 0, OUTER, 4, HEDDLE_FAIL, -1, 0);
    probed_access(&p, 0, OUTER, 4, HEDDLE_PENDING, 0, 0); /* on its way, asked for by itself */
    check(&p, OUTER, 0, 0, 0, 3);
    probed_access(&p, 0, OUTER, 6, HEDDLE_MISS, -1, 1);
    probed_access(&p, 0, OUTER, 6, HEDDLE_PENDING, 0, 0); /* asked for by the same execution: used once */
    check(&p, OUTER, 0, 0, 0, 3);
    probed_access(&p, 0, OUTER, 9, HEDDLE_PENDING, 1, 0); /* by another */
    probed_access(&p, 0, OUTER, 9, HEDDLE_HIT, 1, 0);
    check(&p, OUTER, 0, 0, 0, 3);
    probed_access(&p, 0, OUTER, 4, HEDDLE_HIT, 0, 1);
    probed_access(&p, 0, OUTER, 4, HEDDLE_FAIL, -1, 0); /* tried again */
    probed_access(&p, 0, OUTER, 4, HEDDLE_HIT, 0, 0);
    check(&p, OUTER, 0, 0, 0, 5);
    probed_evict(&p, 0, 4);
    probed_access(&p, 0, INNER, 4, HEDDLE_MISS, -1, 0); /* lost */
    check(&p, INNER, 0, 0, 0, 1);
    probed_evict(&p, 0, 4);
    probed_store(&p, 5, 4);
    probed_access(&p, 0, INNER, 4, HEDDLE_MISS, -1, 0);
    check(&p, INNER, 0, 0, 0, 1);
    check(&p, OUTSIDE, 0, 0, 0, 0);
    struct heddle_l1_access e = probed_event(&p, 0, INNER, 4, HEDDLE_HIT, 0, 0);
    probed_launch(&p, 0); /* the line of the warp that had the slot before */
    probed_tell(&p, &e);
    check(&p, INNER, 0, 0, 0, 1);
    probed_end(&p);
}

/* A launch that was cut short in the middle of a load; its tags are of the past, too. */
static void a_new_launch(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_daws_profile, values);
    probed_access(&p, 0, OUTER, 1, HEDDLE_HIT, 0, 1);
    probed_evict(&p, 0, 2);
    probed_on(&p)->kernel(p.state, &p.core);
    probed_access(&p, 0, OUTER, 2, HEDDLE_MISS, -1, 0);
    check(&p, OUTER, 0, 0, 0, 1); /* the one before */
    probed_end(&p);
}

static void refuses(const char *file, int entries, uint32_t line_bytes, const char *why)
{
    struct probed p;
    const union heddle_value bad[] = {{.text = file}, {.integer = entries}, {.integer = 8}, {.integer = 0}};
    assert_false(probed_try(&p, &probe_daws_profile, bad, line_bytes));
    assert_string_equal(p.why, why);
    probed_end(&p);
}

static void what_it_refuses(void **state)
{
    (void)state;
    refuses("", 16, PROBE_LINE, "it needs the name of the file to write: file=NAME");
    refuses("f", 12, PROBE_LINE, "vta_entries is not a multiple of vta_ways");
    refuses("f", 16, 0, "it needs an L1 data cache");
}

/* ---------------------------------------------------------------- the file */

static const uint64_t first[3][5] = {{0, 0, 0, 0, 0}, {100, 90, 95, 700, 340}, {UINT64_MAX, 0, 0, 0, 0}};
static const uint64_t second[1][5] = {{0, 0, 0, 0, 0}};
static const struct heddle_instruction_table tables[] = {
    {.kernel = "spmv", .values = first[0], .instruction_count = 3, .column_count = 5},
    {.kernel = "empty", .values = second[0], .instruction_count = 1, .column_count = 5},
};

static bool write_to(const char *name, const char **why)
{
    const union heddle_value v[] = {{.text = name}, {.integer = 16}, {.integer = 8}, {.integer = 0}};
    return probe_daws_profile.write(v, tables, 2, why);
}

static void what_is_written(void **state)
{
    (void)state;
    char folder[] = "/tmp/heddle-profile-XXXXXX", name[64], unfinished[80], text[512] = "";
    const char *why = NULL;
    struct stat there;
    assert_non_null(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/p", folder);
    snprintf(unfinished, sizeof unfinished, "%s.unfinished", name);
    for (int i = 0; i < 2; i++) { /* the second time over the first one's file */
        assert_true(write_to(name, &why));
        assert_int_not_equal(stat(unfinished, &there), 0);
    }
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    fread(text, 1, sizeof text - 1, f);
    fclose(f);
    assert_string_equal(text, "# heddle daws-profile 2\n"
                              "kernel spmv\n"
                              "load 1 100 90 95 700 340\n"
                              "load 2 18446744073709551615 0 0 0 0\n"
                              "kernel empty\n");
    assert_false(write_to(folder, &why)); /* cannot be renamed over a folder */
    assert_non_null(why);
    snprintf(unfinished, sizeof unfinished, "%s.unfinished", folder);
    assert_int_not_equal(stat(unfinished, &there), 0);
    unlink(name);
    rmdir(folder);
    why = NULL;
    assert_false(write_to(name, &why)); /* the folder is gone */
    assert_string_equal(why, "No such file or directory");
}

static void no_room_on_the_disk(void **state)
{
    (void)state;
    const char *why = NULL;
    char folder[] = "/tmp/heddle-profile-XXXXXX", name[64], unfinished[80];
    assert_non_null(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/p", folder);
    snprintf(unfinished, sizeof unfinished, "%s.unfinished", name);
    assert_int_equal(symlink("/dev/full", unfinished), 0);
    assert_false(write_to(name, &why));
    assert_string_equal(why, "No space left on device");
    assert_int_not_equal(access(name, F_OK), 0);
    unlink(unfinished);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divergence),      cmocka_unit_test(locality),        cmocka_unit_test(a_new_launch),
        cmocka_unit_test(what_it_refuses), cmocka_unit_test(what_is_written), cmocka_unit_test(no_room_on_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
