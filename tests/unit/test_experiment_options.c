/* Schedulers of an experiment that are options (-s gto --l1 srrip): are they read as docs/experiments.md says, do
 * their jobs have the policies and keys that they should, and does every mistake have its place? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sweep/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct arena arena;
static char own_path[4096], library[64], folder[] = "/tmp/heddle-options-XXXXXX";

static int start(void **state)
{
    (void)state;
    arena = (struct arena){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* Programs: this one, under two labels. More lines follow. */
static char *with_programs(const char *more) { return arena_printf(&arena, "[programs]\na = %s\n%s", own_path, more); }

static struct experiment parsed(const char *more)
{
    struct experiment x;
    struct error e = {0};
    char *text = with_programs(more);
    if (!experiment_parse(&x, &arena, "test", text, strlen(text), NULL, &e))
        fail_msg("%s", e.text);
    return x;
}

static struct job *jobs_of(const struct experiment *x)
{
    static struct places places;
    struct job *jobs;
    struct error e = {0};
    if (!jobs_make(x, &places, &arena, &jobs, &e))
        fail_msg("%s", e.text);
    return jobs;
}

static const struct lab_value *value_of(const struct experiment *x, const char *label)
{
    const struct lab_axis_values *v = &x->axes[AXIS_SCHEDULER];
    for (uint32_t i = 0; i < v->value_count; i++)
        if (!strcmp(v->values[i].label, label))
            return &v->values[i];
    fail_msg("no value '%s'", label);
    return NULL;
}

static const struct job *job_of(const struct experiment *x, const struct job *jobs, const char *scheduler,
                                const char *l1)
{
    for (uint32_t i = 0; i < x->point_count; i++)
        if (!strcmp(experiment_label(x, &x->points[i], AXIS_SCHEDULER), scheduler) &&
            !strcmp(experiment_label(x, &x->points[i], AXIS_L1), l1))
            return &jobs[i];
    fail_msg("no point %s %s", scheduler, l1);
    return NULL;
}

static void same_text(const char *a, const char *b)
{
    if (a != b && (!a || !b || strcmp(a, b)))
        fail_msg("'%s' is not '%s'", a ? a : "(none)", b ? b : "(none)");
}

static void options_are_read(void **state)
{
    (void)state;
    struct experiment x = parsed("[schedulers]\ngto\nboth = --l1=srrip:bits=3   -s  sticky: level = block\nthree = "
                                 "--scheduler gto --l1 lru --divergence pdom\n"
                                 "bundle = --policies cawa:critical_ways=4\n-s gto --l1 lru\nalone = -s gto\n");
    assert_int_equal(x.axes[AXIS_SCHEDULER].value_count, 5); /* alone is gto */
    assert_int_equal(x.point_count, 5);
    const struct lab_value *both = value_of(&x, "both");
    same_text(both->text, "-s sticky:level=block --l1 srrip:bits=3");
    same_text(both->options[OPTION_SCHEDULER], "sticky:level=block");
    same_text(both->options[OPTION_L1], "srrip:bits=3");
    same_text(both->options[OPTION_DIVERGENCE], NULL);
    same_text(both->options[OPTION_BUNDLE], NULL);
    same_text(value_of(&x, "three")->options[OPTION_DIVERGENCE], "pdom");
    same_text(value_of(&x, "bundle")->options[OPTION_BUNDLE], "cawa:critical_ways=4");
    same_text(value_of(&x, "-s gto --l1 lru")->options[OPTION_L1], "lru");
    assert_null(value_of(&x, "gto")->options);
}

static void ranges_and_choices(void **state)
{
    (void)state;
    struct experiment x =
        parsed("[schedulers]\nrange = -s gto --l1 srrip:bits={2, 4}\nbest = best(-s gto --l1 srrip:bits={2,4})\n"
               "swl = -s swl:limit=1..3 --l1 fifo\nany = best(range | swl 2)\n"
               "[figure f]\nkind = lines\nx = scheduler.bits\ny = ipc\nseries = program\n"
               "[figure g]\nx = program\nseries = scheduler\ny = ipc\nwhere = scheduler=best|any|\"swl 1\"\n");
    const struct lab_axis_values *v = &x.axes[AXIS_SCHEDULER];
    assert_int_equal(v->value_count, 5);
    same_text(value_of(&x, "range 4")->text, "-s gto --l1 srrip:bits=4");
    same_text(value_of(&x, "range 4")->options[OPTION_L1], "srrip:bits=4");
    same_text(value_of(&x, "range 4")->parameter, "bits");
    assert_true(value_of(&x, "range 4")->number == 4);
    same_text(value_of(&x, "swl 3")->options[OPTION_SCHEDULER], "swl:limit=3");
    same_text(value_of(&x, "swl 3")->options[OPTION_L1], "fifo");
    assert_true(v->entries[1].best);
    assert_int_equal(v->entries[1].first, v->entries[0].first); /* the same runs */
    assert_int_equal(v->entries[3].count, 3);
}

/* Jobs have the policies of the options, whatever the axes say, and are the same as those without options. */
static void jobs_of_options(void **state)
{
    (void)state;
    struct experiment x = parsed(
        "[schedulers]\ngto\nfixed = -s gto --l1 srrip\nl1 alone = --l1 fifo --divergence pdom\n[l1]\nlru\nsrrip\n");
    struct job *jobs = jobs_of(&x);
    const struct job *fixed = job_of(&x, jobs, "fixed", "lru");
    assert_int_equal(x.point_count, 6);
    assert_int_equal(jobs_distinct(jobs, 6), 3);
    same_text(fixed->scheduler, "gto");
    same_text(fixed->l1, "srrip");
    same_text(fixed->label, "a fixed"); /* not the label of the axis that does not count */
    assert_string_equal(fixed->key, job_of(&x, jobs, "fixed", "srrip")->key);
    assert_string_equal(fixed->key, job_of(&x, jobs, "gto", "srrip")->key);
    same_text(job_of(&x, jobs, "l1 alone", "srrip")->l1, "fifo");
    same_text(job_of(&x, jobs, "l1 alone", "srrip")->scheduler, ""); /* the machine's own */
    same_text(job_of(&x, jobs, "l1 alone", "srrip")->divergence, "pdom");
    same_text(job_of(&x, jobs, "gto", "lru")->label, "a gto lru");
}

static void compile(const char *how)
{
    char command[512];
    const char *cc = getenv("CC");
    unlink(library);
    snprintf(command, sizeof command, "%s -shared -fPIC -Iinclude %s -o %s tests/policy/bundle.c",
             cc && *cc ? cc : "cc", how, library);
    if (system(command))
        fail_msg("failed: %s", command);
}

static void jobs_of_bundles(void **state)
{
    (void)state;
    compile("");
    struct experiment x = parsed(arena_printf(
        &arena,
        "[schedulers]\nmine = -p %s:tone=high,share={0.25,0.75}\nparts = -s %s:tone=high --l1 %s:tone=high,share=0.75\n"
        "[l1]\nlru\nfifo\n",
        library, library, library));
    struct job *jobs = jobs_of(&x);
    assert_int_equal(x.point_count, 6);
    assert_int_equal(jobs_distinct(jobs, 6), 2);
    const struct job *mine = job_of(&x, jobs, "mine 0.75", "lru");
    same_text(mine->scheduler, arena_printf(&arena, "%s:tone=high", library));
    same_text(mine->l1, arena_printf(&arena, "%s:tone=high,share=0.75", library));
    assert_string_equal(mine->key, job_of(&x, jobs, "parts", "fifo")->key);
    assert_null(mine->probes[0]);
    compile("-DWITH_PROBE");
    x = parsed(arena_printf(&arena, "[schedulers]\nmine = -p %s\n[probes]\nresidency\n", library));
    jobs = jobs_of(&x);
    same_text(jobs[0].probes[0], "residency");
    same_text(jobs[0].probes[1], library);
}

static void refused(const char *more, int line, int column, const char *wanted)
{
    struct experiment x;
    struct error e = {0};
    char *text = with_programs(more);
    assert_false(experiment_parse(&x, &arena, "test", text, strlen(text), NULL, &e));
    if (!strstr(e.text, wanted) || e.line != line || e.column != column)
        fail_msg("wanted %d:%d and '%s', not: %s", line, column, wanted, e.text);
}

static void mistakes(void **state)
{
    (void)state;
    refused("[schedulers]\nx = -s gto -s lrr\n", 4, 12, "-s is given twice");
    refused("[schedulers]\nx = -s gto --scheduler=lrr\n", 4, 12, "-s is given twice");
    refused("[schedulers]\nx = -p\n", 4, 7, "expected NAME[:key=value,...] after -p");
    refused("[schedulers]\nx = -s gto --l2 lru\n", 4, 12,
            "unknown option of a scheduler's line '--l2'; did you mean '--l1'?");
    refused("[schedulers]\nx = -s gto --probe loads\n", 4, 12, "probes have sections of their own");
    refused("[schedulers]\nx = -s gto lru\n", 4, 11, "expected NAME[:key=value,...]");
    refused("[schedulers]\nx = -s swl:limit=1..4 --l1 srrip:bits={2,3}\n", 4, 28,
            "a second range on one line; limit has one already");
    refused("[schedulers]\nx = -s best(swl:limit=1..4) --l1 lru\n", 4, 8, "best(...) stands around all options");
    refused("[schedulers]\nx = best(-s gto --l1 lru)\n", 4, 10, "best(...) of no range");
    refused("[l1]\nx = -p cawa\n", 4, 5, "options, such as -p, stand in [schedulers]");
    refused("[probes]\n-p cawa\n", 4, 1, "options, such as -p, stand in [schedulers]");
}

/* What is only known when jobs are made. */
static void blamed(const char *more, const char *place, const char *says)
{
    static struct places places;
    struct experiment x = parsed(more);
    struct job *jobs;
    struct error e = {0};
    assert_false(jobs_make(&x, &places, &arena, &jobs, &e));
    if (!strstr(e.text, place) || !strstr(e.text, says))
        fail_msg("expected %s ... %s, got: %s", place, says, e.text);
}

static void mistakes_of_policies(void **state)
{
    (void)state;
    compile("");
    blamed("[schedulers]\nx = -p nosuch\n",
           "test.ini:4:8: error: this scheduler cannot be used\n  x = -p nosuch\n         ^", "no bundle 'nosuch'");
    blamed("[schedulers]\nx = -s gto --l1 srip\n", "test.ini:4:17:", "no L1 policy 'srip'; did you mean 'srrip'?");
    blamed("[schedulers]\nx = -s gto --l1 srrip:bits=99\n", "test.ini:4:17:", "a number from 1 to 8");
    blamed(arena_printf(&arena, "[schedulers]\nx = -s gto -p %s\n", library),
           "test.ini:4:15:", "this bundle has a scheduler of its own; -s gto cannot be given as well");
    blamed(arena_printf(&arena, "[schedulers]\nx = -p %s:lmit=2\n", library), "test.ini:4:8:", "did you mean 'limit'?");
}

static int make_folder(void **state)
{
    (void)state;
    ssize_t length = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
    if (length < 0 || !mkdtemp(folder))
        return -1;
    own_path[length] = '\0';
    snprintf(library, sizeof library, "%s/mine.so", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(library);
    return rmdir(folder);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        TEST(options_are_read), TEST(ranges_and_choices), TEST(jobs_of_options),
        TEST(jobs_of_bundles),  TEST(mistakes),           TEST(mistakes_of_policies),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
