/* Whether threads pay is decided by the clock: here it is the test's, and one of the two ways takes longer. */
#include "gpu/sharing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static double now; /* seconds */

static double read_clock(void) { return now; }

/* So many meetings, in which a unit of work takes so long alone and with threads. Returns the share of work that
 * threads did. */
static double share_of_threads(struct sharing *s, int meetings, double alone, double threads)
{
    uint64_t before[SHARING_WAYS] = {s->done[0], s->done[1]};
    for (int i = 0; i < meetings; i++) {
        now += sharing_asks(s, true) ? threads : alone;
        sharing_note(s, 1, true);
    }
    double by[SHARING_WAYS] = {(double)(s->done[0] - before[0]), (double)(s->done[1] - before[1])};
    return by[SHARING_THREADS] / (by[SHARING_ALONE] + by[SHARING_THREADS]);
}

static void the_faster_way_is_used(void **state)
{
    (void)state;
    struct sharing slow = {.clock = read_clock}, fast = {.clock = read_clock};
    assert_true(share_of_threads(&slow, 4000, 20e-6, 60e-6) < 0.05);
    assert_true(share_of_threads(&fast, 4000, 60e-6, 20e-6) > 0.9);
}

static void it_changes_with_what_is_simulated(void **state)
{
    (void)state;
    struct sharing s = {.clock = read_clock};
    assert_true(share_of_threads(&s, 4000, 20e-6, 60e-6) < 0.05);
    share_of_threads(&s, 4000, 60e-6, 20e-6); /* until it is looked at again */
    assert_true(share_of_threads(&s, 4000, 60e-6, 20e-6) > 0.9);
}

static void threads_may_be_asked_for(void **state)
{
    (void)state;
    struct sharing s = {.clock = read_clock, .always = true};
    assert_true(share_of_threads(&s, 100, 20e-6, 60e-6) == 1);
}

static void what_cannot_be_shared_is_alone(void **state)
{
    (void)state;
    struct sharing s = {.way = SHARING_THREADS};
    sharing_note(&s, 7, false);
    assert_int_equal(s.done[SHARING_ALONE], 7);
    assert_int_equal(s.done[SHARING_THREADS], 0);
    assert_int_equal(s.work, 0);
}

/* A round of a second is a trial by itself, and the rest after it is long, also if it was short before. */
static void long_meetings_are_long_trials(void **state)
{
    (void)state;
    struct sharing s = {.clock = read_clock};
    share_of_threads(&s, 4000, 60e-6, 20e-6);
    int alone = 0;
    for (int i = 0; i < 200; i++) {
        bool with_threads = sharing_asks(&s, true);
        now += with_threads ? 1 : 2;
        sharing_note(&s, SHARING_LONG_MEETING, true);
        alone += !with_threads;
    }
    assert_in_range(alone, 2, 7);
}

/* So many meetings, in each of which cores run for so many cycles in all, by_few of them while one is awake. Returns
 * how far apart they are in the end. */
static uint32_t apart_after(struct meetings *m, int meetings, uint64_t cycles, uint64_t by_few)
{
    for (int i = 0; i < meetings; i++) {
        uint64_t cycle = m->at;
        meetings_note(m, m->few, cycles - by_few);
        meetings_note(m, 1, by_few);
        uint64_t next = meetings_next(m, cycle);
        assert_int_equal(next, cycle + m->apart);
        assert_int_equal(meetings_next(m, next - 1), next); /* until then it stays */
    }
    return m->apart;
}

static void meetings_are_as_far_apart_as_cores_stay_together(void **state)
{
    (void)state;
    struct meetings m;
    meetings_init(&m, 132, 2);
    assert_int_equal(m.few, 8);
    assert_int_equal(apart_after(&m, 20, 1000, 0), m.most);
    assert_int_equal(apart_after(&m, 20, 1000, 60), m.most); /* neither little nor much: as it is */
    assert_int_equal(apart_after(&m, 20, 1000, 500), m.least);
    assert_int_equal(apart_after(&m, 20, 1000, 60), m.least);
    assert_int_equal(apart_after(&m, 1, 1000, 20), 2 * m.least);
}

static void rounds_are_long_or_short(void **state)
{
    (void)state;
    struct meetings m;
    meetings_init(&m, 132, 2);
    apart_after(&m, 1, 1000, 0); /* in two rounds */
    assert_false(m.rounds_are_long);
    apart_after(&m, 1, 2000, 0);
    assert_true(m.rounds_are_long);
    apart_after(&m, 1, 1000, 0);
    assert_false(m.rounds_are_long);
}

/* What has not come to its end is not compared. */
static void a_trial_ends_where_something_begins(void **state)
{
    (void)state;
    struct sharing s = {.clock = read_clock};
    share_of_threads(&s, 4000, 60e-6, 20e-6);
    for (int i = 0; i < 1000; i++) {
        assert_true(sharing_asks(&s, false));
        now += 1;
        sharing_note(&s, 1, true);
    }
    share_of_threads(&s, 1, 1, 1);
    assert_true(s.tries);
}

static void few_is_less_than_all_cores(void **state)
{
    (void)state;
    struct meetings m;
    meetings_init(&m, 15, 16);
    assert_int_equal(m.few, 8);
    meetings_init(&m, 1, 16);
    assert_int_equal(m.few, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_faster_way_is_used),
        cmocka_unit_test(it_changes_with_what_is_simulated),
        cmocka_unit_test(what_cannot_be_shared_is_alone),
        cmocka_unit_test(threads_may_be_asked_for),
        cmocka_unit_test(long_meetings_are_long_trials),
        cmocka_unit_test(meetings_are_as_far_apart_as_cores_stay_together),
        cmocka_unit_test(rounds_are_long_or_short),
        cmocka_unit_test(a_trial_ends_where_something_begins),
        cmocka_unit_test(few_is_less_than_all_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
