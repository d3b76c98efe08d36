/* Do the parts of DAWS that any policy may use do what their headers say? */
#include "policy_test.h"

#include "heddle/load_classes.h"
#include "heddle/load_divergence.h"
#include "heddle/load_locality.h"
#include "heddle/load_profile.h"
#include "heddle/loop_repetition.h"
#include "heddle/sampling_warps.h"

#include <unistd.h>

enum { LINE = 128 };

/* ---------------------------------------------------------------- static load classification */

/* BFS of the paper: two diverged loads, three converged ones of which two touch the same lines: 2n + 4. */
static void footprint_of_a_loop(void **state)
{
    (void)state;
    struct heddle_load_classes t;
    assert_true(heddle_load_classes_init(&t, 32));
    assert_int_equal(heddle_load_classes_lines(&t, 0, 32), 0);
    assert_true(heddle_load_classes_put(&t, 240, 0, true));
    assert_true(heddle_load_classes_put(&t, 272, 0, true));
    assert_true(heddle_load_classes_put(&t, 328, 0, false));
    assert_true(heddle_load_classes_put(&t, 400, 0, false));
    assert_true(heddle_load_classes_put(&t, 408, 0, false));
    assert_true(heddle_load_classes_put(&t, 500, 1, true)); /* of another loop */
    assert_int_equal(heddle_load_classes_lines(&t, 0, 32), 70);
    assert_true(heddle_load_classes_join(&t, 408, 400));
    assert_int_equal(heddle_load_classes_lines(&t, 0, 32), 68);
    assert_int_equal(heddle_load_classes_lines(&t, 0, 8), 20);
    assert_int_equal(heddle_load_classes_lines(&t, 0, 2), 8);
    assert_int_equal(heddle_load_classes_lines(&t, 0, 1), 4);
    assert_int_equal(heddle_load_classes_lines(&t, 0, 0), 0);
    assert_int_equal(heddle_load_classes_lines(&t, 1, 32), 32);
    assert_int_equal(heddle_load_classes_lines(&t, 2, 32), 0);
    heddle_load_classes_clear(&t);
    assert_int_equal(heddle_load_classes_lines(&t, 0, 32), 0);
    heddle_load_classes_free(&t);
}

static void groups_merge_and_diverge_together(void **state)
{
    (void)state;
    struct heddle_load_classes t;
    assert_true(heddle_load_classes_init(&t, 8));
    for (uint32_t pc = 0; pc < 6; pc++)
        heddle_load_classes_put(&t, pc, pc == 5, false);
    assert_true(heddle_load_classes_join(&t, 0, 1));
    assert_true(heddle_load_classes_join(&t, 3, 2));
    assert_int_equal(heddle_load_classes_lines(&t, 0, 10), 6);
    assert_true(heddle_load_classes_put(&t, 3, 0, true)); /* one of a group: the group is diverged, and counts once */
    assert_int_equal(heddle_load_classes_lines(&t, 0, 10), 2 + 10 + 2);
    assert_int_equal(heddle_load_classes_lines(&t, 0, 1), 3);
    assert_true(heddle_load_classes_join(&t, 1, 3));
    assert_false(heddle_load_classes_join(&t, 0, 2));
    assert_int_equal(heddle_load_classes_lines(&t, 0, 10), 10 + 2);
    assert_true(heddle_load_classes_put(&t, 3, 0, false));
    assert_false(heddle_load_classes_put(&t, 3, 0, false));
    assert_int_equal(heddle_load_classes_lines(&t, 0, 10), 4);
    assert_false(heddle_load_classes_join(&t, 0, 5)); /* of another loop */
    assert_false(heddle_load_classes_join(&t, 0, 77));
    heddle_load_classes_free(&t);
}

static void full_tables_take_nothing_new(void **state)
{
    (void)state;
    struct heddle_load_classes c;
    assert_true(heddle_load_classes_init(&c, 2));
    heddle_load_classes_put(&c, 1, 0, false);
    heddle_load_classes_put(&c, 2, 0, false);
    assert_false(heddle_load_classes_put(&c, 3, 0, true));
    assert_true(heddle_load_classes_put(&c, 1, 0, true)); /* the old ones still change */
    assert_int_equal(heddle_load_classes_lines(&c, 0, 8), 10);
    heddle_load_classes_free(&c);

    struct heddle_load_divergence d;
    assert_true(heddle_load_divergence_init(&d, 1, 2));
    for (int i = 0; i < 3; i++)
        heddle_load_divergence_seen(&d, 7, 32, 32), heddle_load_divergence_seen(&d, 8, 32, 32);
    assert_true(heddle_load_divergence_is_diverged(&d, 7));
    assert_false(heddle_load_divergence_is_diverged(&d, 8));
    heddle_load_divergence_free(&d);

    struct heddle_sampling_warps s;
    assert_true(heddle_sampling_warps_init(&s, 1, -512, 511));
    heddle_sampling_warps_enter(&s, 4, 9, 32);
    heddle_sampling_warps_enter(&s, 5, 9, 32);
    assert_true(heddle_sampling_warps_samples(&s, 4, 9));
    assert_false(heddle_sampling_warps_samples(&s, 5, 9));
    assert_false(heddle_sampling_warps_has_locality(&s, 5));
    heddle_sampling_warps_free(&s);
}

static void nothing_to_hold(void **state)
{
    (void)state;
    struct heddle_load_classes c;
    struct heddle_load_divergence d;
    struct heddle_sampling_warps s;
    struct heddle_loop_repetition r;
    assert_false(heddle_load_classes_init(&c, 0));
    assert_false(heddle_load_divergence_init(&d, 0, 2));
    assert_false(heddle_sampling_warps_init(&s, 0, -512, 511));
    assert_false(heddle_loop_repetition_init(&r, 8, 8, 0));
    heddle_load_classes_free(&c);
    heddle_load_divergence_free(&d);
    heddle_sampling_warps_free(&s);
    heddle_loop_repetition_free(&r);
}

/* ---------------------------------------------------------------- memory divergence detector */

/* The worked example: accesses 5, 5, 1, 5 of 8 lanes take the counter over 1, 2, 1, 2. */
static void counter_of_divergence(void **state)
{
    (void)state;
    static const struct {
        uint32_t accesses;
        bool diverged;
    } steps[] = {{5, false}, {5, true}, {1, false}, {5, true}};
    struct heddle_load_divergence t;
    assert_true(heddle_load_divergence_init(&t, 64, 2));
    for (int i = 0; i < 4; i++) {
        heddle_load_divergence_seen(&t, 3, 8, steps[i].accesses);
        assert_int_equal(heddle_load_divergence_is_diverged(&t, 3), steps[i].diverged);
    }
    heddle_load_divergence_seen(&t, 3, 2, 1); /* two lanes say nothing */
    assert_true(heddle_load_divergence_is_diverged(&t, 3));
    heddle_load_divergence_seen(&t, 3, 3, 2); /* three do, and two accesses are converged */
    assert_false(heddle_load_divergence_is_diverged(&t, 3));
    for (int i = 0; i < 10; i++)
        heddle_load_divergence_seen(&t, 3, 8, 3);
    heddle_load_divergence_seen(&t, 3, 8, 1); /* stays at 3: two that are converged suffice */
    assert_true(heddle_load_divergence_is_diverged(&t, 3));
    heddle_load_divergence_seen(&t, 3, 8, 1);
    assert_false(heddle_load_divergence_is_diverged(&t, 3));
    for (int i = 0; i < 10; i++)
        heddle_load_divergence_seen(&t, 3, 8, 1);
    heddle_load_divergence_seen(&t, 3, 8, 3), heddle_load_divergence_seen(&t, 3, 8, 3); /* stays at 0 */
    assert_true(heddle_load_divergence_is_diverged(&t, 3));
    assert_false(heddle_load_divergence_is_diverged(&t, 4));
    heddle_load_divergence_free(&t);
}

/* ---------------------------------------------------------------- sampling warps */

static void one_warp_samples_a_loop(void **state)
{
    (void)state;
    struct heddle_sampling_warps t;
    assert_true(heddle_sampling_warps_init(&t, 64, -512, 511));
    heddle_sampling_warps_enter(&t, 0, 5, 2); /* two lanes are too few */
    assert_false(heddle_sampling_warps_samples(&t, 0, 5));
    heddle_sampling_warps_enter(&t, 0, 6, 3);
    heddle_sampling_warps_enter(&t, 0, 5, 32); /* there is one */
    heddle_sampling_warps_enter(&t, 1, 6, 32); /* of another loop */
    assert_true(heddle_sampling_warps_samples(&t, 0, 6));
    assert_true(heddle_sampling_warps_samples(&t, 1, 6));
    assert_false(heddle_sampling_warps_samples(&t, 0, 5));
    assert_false(heddle_sampling_warps_samples(&t, -1, 6));
    heddle_sampling_warps_leave(&t, 0, 5); /* not its duty */
    assert_true(heddle_sampling_warps_samples(&t, 0, 6));
    heddle_sampling_warps_leave(&t, 0, 6);
    assert_false(heddle_sampling_warps_samples(&t, 0, 6));
    heddle_sampling_warps_enter(&t, 0, 5, 32);
    heddle_sampling_warps_ended(&t, 6);
    assert_false(heddle_sampling_warps_samples(&t, 1, 6));
    assert_true(heddle_sampling_warps_samples(&t, 0, 5));
    heddle_sampling_warps_free(&t);
}

static void locality_of_a_loop(void **state)
{
    (void)state;
    struct heddle_sampling_warps t;
    assert_true(heddle_sampling_warps_init(&t, 64, -512, 511));
    heddle_sampling_warps_enter(&t, 0, 6, 32);
    assert_false(heddle_sampling_warps_has_locality(&t, 0));
    assert_true(heddle_sampling_warps_judge(&t, 0, true));
    assert_true(heddle_sampling_warps_has_locality(&t, 0));
    assert_false(heddle_sampling_warps_judge(&t, 0, false));
    heddle_sampling_warps_judge(&t, 0, true);
    heddle_sampling_warps_leave(&t, 0, 6); /* the counter is the loop's */
    assert_true(heddle_sampling_warps_has_locality(&t, 0));
    for (int i = 0; i < 2000; i++)
        heddle_sampling_warps_judge(&t, 0, true);
    for (int i = 0; i < 510; i++)
        assert_true(heddle_sampling_warps_judge(&t, 0, false)); /* from 511 */
    assert_false(heddle_sampling_warps_judge(&t, 0, false));
    for (int i = 0; i < 2000; i++)
        heddle_sampling_warps_judge(&t, 0, false);
    for (int i = 0; i < 512; i++)
        assert_false(heddle_sampling_warps_judge(&t, 0, true)); /* from -512 */
    assert_true(heddle_sampling_warps_judge(&t, 0, true));
    heddle_sampling_warps_free(&t);
}

/* ---------------------------------------------------------------- intra-loop repetition detector */

static uint32_t probe(struct heddle_loop_repetition *t, uint32_t warp, uint32_t pc, uint64_t line)
{
    return heddle_loop_repetition_probe(t, warp, pc, line * LINE + 4);
}

static void loads_of_the_same_line(void **state)
{
    (void)state;
    struct heddle_loop_repetition t;
    assert_true(heddle_loop_repetition_init(&t, 8, 8, LINE));
    assert_int_equal(probe(&t, 1, 100, 40), HEDDLE_NO_PC);
    assert_int_equal(probe(&t, 1, 100, 40), 100);
    assert_int_equal(probe(&t, 1, 104, 40), 100);
    assert_int_equal(probe(&t, 1, 108, 40), 100);          /* the first stays */
    assert_int_equal(probe(&t, 2, 104, 40), HEDDLE_NO_PC); /* of another warp */
    assert_int_equal(probe(&t, 1, 104, 48), HEDDLE_NO_PC);
    heddle_loop_repetition_clear(&t, 1);
    assert_int_equal(probe(&t, 1, 112, 48), HEDDLE_NO_PC);
    assert_int_equal(probe(&t, 1, 112, 40), HEDDLE_NO_PC);
    assert_int_equal(probe(&t, 2, 112, 40), 104);
    heddle_loop_repetition_flush(&t);
    assert_int_equal(probe(&t, 2, 112, 40), HEDDLE_NO_PC);
    heddle_loop_repetition_free(&t);
}

static void least_recently_used_leaves(void **state)
{
    (void)state;
    struct heddle_loop_repetition t;
    assert_true(heddle_loop_repetition_init(&t, 2, 2, LINE));
    probe(&t, 0, 1, 0), probe(&t, 0, 2, 2), probe(&t, 0, 3, 1);
    assert_int_equal(probe(&t, 0, 9, 0), 1); /* used again */
    assert_int_equal(probe(&t, 0, 4, 4), HEDDLE_NO_PC);
    assert_int_equal(probe(&t, 0, 9, 0), 1);
    assert_int_equal(probe(&t, 0, 9, 2), HEDDLE_NO_PC);
    assert_int_equal(probe(&t, 0, 9, 1), 3); /* the other set */
    heddle_loop_repetition_free(&t);
}

/* ---------------------------------------------------------------- locality of loads */

enum { AGE = 70 };

static enum heddle_load_answer say(struct heddle_load_locality *l, const struct heddle_l1_access *e, bool lost)
{
    return heddle_load_locality_accessed(l, e, heddle_load_locality_of_access(l, e, AGE, lost));
}

static enum heddle_load_answer touch(struct heddle_load_locality *l, uint32_t warp, uint64_t line,
                                     enum heddle_outcome outcome, int32_t owner, uint32_t left)
{
    struct heddle_l1_access e = {
        .address = line * LINE, .warp = warp, .outcome = outcome, .owner = owner, .owner_age = AGE, .left = left};
    return say(l, &e, false);
}

static void locality_of_a_load(void **state)
{
    (void)state;
    static struct heddle_load_locality l;
    assert_int_equal(touch(&l, 1, 5, HEDDLE_MISS, -1, 0), HEDDLE_LOAD_WITHOUT_LOCALITY);
    assert_int_equal(touch(&l, 1, 5, HEDDLE_HIT, 1, 0), HEDDLE_LOAD_WITH_LOCALITY);
    assert_int_equal(touch(&l, 1, 5, HEDDLE_HIT, 2, 0), HEDDLE_LOAD_WITHOUT_LOCALITY);  /* another warp's */
    assert_int_equal(touch(&l, 1, 5, HEDDLE_PENDING, 1, 0), HEDDLE_LOAD_WITH_LOCALITY); /* an earlier load's */
    assert_int_equal(touch(&l, 1, 5, HEDDLE_HIT, 1, 2), HEDDLE_LOAD_GOES_ON);
    assert_int_equal(touch(&l, 1, 6, HEDDLE_MISS, -1, 1), HEDDLE_LOAD_GOES_ON);
    assert_int_equal(touch(&l, 2, 9, HEDDLE_MISS, -1, 0), HEDDLE_LOAD_WITHOUT_LOCALITY); /* another warp in between */
    assert_int_equal(touch(&l, 1, 6, HEDDLE_FAIL, -1, 0), HEDDLE_LOAD_GOES_ON);          /* will be tried again */
    assert_int_equal(touch(&l, 1, 7, HEDDLE_MISS, -1, 0), HEDDLE_LOAD_WITH_LOCALITY);    /* any of its accesses */
    assert_int_equal(touch(&l, 1, 7, HEDDLE_MISS, -1, 0), HEDDLE_LOAD_WITHOUT_LOCALITY);
    struct heddle_l1_access e = {
        .address = 5 * LINE, .warp = 1, .outcome = HEDDLE_HIT, .owner = 1, .owner_age = AGE - 1};
    assert_int_equal(say(&l, &e, false), HEDDLE_LOAD_WITHOUT_LOCALITY); /* had its slot */
    e = (struct heddle_l1_access){.address = 5 * LINE, .warp = 1, .outcome = HEDDLE_MISS, .owner = -1};
    assert_int_equal(say(&l, &e, true), HEDDLE_LOAD_WITH_LOCALITY); /* lost */
    e.store = true;
    assert_int_equal(say(&l, &e, true), HEDDLE_LOAD_GOES_ON);
}

/* Both halves of a converged load touch one line: that is no locality. */
static void a_load_does_not_repeat_itself(void **state)
{
    (void)state;
    static struct heddle_load_locality l;
    assert_int_equal(touch(&l, 1, 5, HEDDLE_MISS, -1, 1), HEDDLE_LOAD_GOES_ON);
    assert_int_equal(touch(&l, 1, 5, HEDDLE_PENDING, 1, 0), HEDDLE_LOAD_WITHOUT_LOCALITY);
    assert_int_equal(touch(&l, 1, 5, HEDDLE_PENDING, 1, 0), HEDDLE_LOAD_WITH_LOCALITY); /* the next load of it does */
    for (uint64_t line = 0; line < HEDDLE_LOAD_LINES + 1; line++)
        touch(&l, 1, 100 + line, HEDDLE_MISS, -1, 1);
    assert_int_equal(touch(&l, 1, 100 + HEDDLE_LOAD_LINES, HEDDLE_PENDING, 1, 0), HEDDLE_LOAD_WITHOUT_LOCALITY);
    for (uint64_t line = 0; line < HEDDLE_LOAD_LINES; line++)
        touch(&l, 1, 100 + line, HEDDLE_MISS, -1, 1);
    assert_int_equal(touch(&l, 1, 99, HEDDLE_PENDING, 1, 1), HEDDLE_LOAD_GOES_ON);
    assert_int_equal(touch(&l, 1, 100, HEDDLE_PENDING, 1, 0), HEDDLE_LOAD_WITH_LOCALITY);
}

/* ---------------------------------------------------------------- profile */

static bool read_text(struct heddle_load_profile *p, const char *text, char *why, size_t bytes)
{
    char path[] = "/tmp/heddle-profile-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    bool read = heddle_load_profile_read(p, path, why, bytes);
    unlink(path);
    return read;
}

static void reads_a_profile(void **state)
{
    (void)state;
    struct heddle_load_profile p;
    char why[256] = "";
    assert_true(read_text(&p,
                          "# loads\n\nkernel _Z3fooPi\r\nload 7 100 60 80 150 120\n  load 9\t1 0 0 1 0  \n"
                          "kernel empty\nkernel k\nload 0 0 0 0 0 0",
                          why, sizeof why));
    const struct heddle_profiled_kernel *k = heddle_load_profile_find(&p, "_Z3fooPi");
    assert_non_null(k);
    assert_int_equal(k->load_count, 2);
    assert_int_equal(k->loads[0].pc, 7);
    assert_int_equal(k->loads[0].executions, 100);
    assert_int_equal(k->loads[0].diverged, 60);
    assert_int_equal(k->loads[0].considered, 80);
    assert_int_equal(k->loads[0].accesses, 150);
    assert_int_equal(k->loads[0].local, 120);
    assert_int_equal(k->loads[1].pc, 9);
    assert_int_equal(heddle_load_profile_find(&p, "empty")->load_count, 0);
    assert_int_equal(heddle_load_profile_find(&p, "k")->load_count, 1);
    assert_null(heddle_load_profile_find(&p, "foo"));
    heddle_load_profile_free(&p);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *line;
    } wrong[] = {
        {"kernel k\nload 1 2 3", "line 2: six numbers"},
        {"kernel k\nload 1 2 2 2 2", "line 2: six numbers"}, /* as they were before accesses were counted */
        {"kernel k\nload 1 2 2 2 2 2 2", "line 2: six numbers"},
        {"kernel k\nload 1 2 -2 2 2 2", "line 2: six numbers"},
        {"kernel k\nload 1 99999999999999999999 2 2 2 2", "line 2: six numbers"},
        {"load 1 2 2 2 2 2", "line 1: a load before the first kernel"},
        {"#\nkernel\n", "line 2: a kernel without a name"},
        {"kernel k\nkernel k", "line 2: a kernel for the second time"},
        {"kernel k\nload 1 2 2 2 2 2\nload 1 2 2 2 2 2", "line 3: a load for the second time"},
        {"kernel k\nload 1 2 2 1 1 0", "line 2: a part that is more than its whole"},
        {"kernel k\nload 1 2 0 3 1 0", "line 2: a part that is more than its whole"},
        {"kernel k\nload 1 2 0 0 2 3", "line 2: a part that is more than its whole"},
        {"kernels k", "line 1: 'kernel' or 'load' was expected"},
        {"# nothing\n", "has no kernels"},
    };
    struct heddle_load_profile p;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char why[256] = "";
        assert_false(read_text(&p, wrong[i].text, why, sizeof why));
        heddle_load_profile_free(&p);
        if (!strstr(why, wrong[i].line))
            fail_msg("'%s': %s", wrong[i].text, why);
    }
    char why[256] = "";
    assert_false(heddle_load_profile_read(&p, "/nowhere/at/all", why, sizeof why));
    assert_non_null(strstr(why, "'/nowhere/at/all': No such file"));
    assert_false(heddle_load_profile_read(&p, "/tmp", why, sizeof why));
    heddle_load_profile_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(footprint_of_a_loop),
        cmocka_unit_test(groups_merge_and_diverge_together),
        cmocka_unit_test(full_tables_take_nothing_new),
        cmocka_unit_test(nothing_to_hold),
        cmocka_unit_test(counter_of_divergence),
        cmocka_unit_test(one_warp_samples_a_loop),
        cmocka_unit_test(locality_of_a_loop),
        cmocka_unit_test(loads_of_the_same_line),
        cmocka_unit_test(least_recently_used_leaves),
        cmocka_unit_test(locality_of_a_load),
        cmocka_unit_test(a_load_does_not_repeat_itself),
        cmocka_unit_test(reads_a_profile),
        cmocka_unit_test(says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
