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
        now += sharing_asks(s) ? threads : alone;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_faster_way_is_used),
        cmocka_unit_test(it_changes_with_what_is_simulated),
        cmocka_unit_test(what_cannot_be_shared_is_alone),
        cmocka_unit_test(threads_may_be_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
