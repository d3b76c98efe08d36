/* Host seconds by part: is each counted for as long as it was at work, and are short runs not guessed at? */
#include "gpu/host_watch.h"
#include "gpu/timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

static void be_at(struct timing *t, enum host_part part, long milliseconds)
{
    struct timespec pause = {.tv_nsec = milliseconds * 1000000};
    host_part_set(&t->part, part);
    nanosleep(&pause, NULL);
}

/* Looks are never more often than every 2 ms, and rarer on a busy machine: shares hold all the same. */
static void each_part_has_its_time(void **state)
{
    (void)state;
    struct timing t = {0};
    struct host_watch *w = host_watch_create();
    double seconds[HOST_PART_COUNT];
    host_watch_look(w, &t);
    for (int i = 0; i < 40 && !host_watch_seconds(w, seconds); i++) {
        be_at(&t, HOST_DRAM, 30);
        be_at(&t, HOST_L2, 10);
        be_at(&t, HOST_NOTHING, 10); /* its cores, of which none says at what: issue */
    }
    host_watch_look(w, NULL);
    assert_true(host_watch_seconds(w, seconds));
    assert_true(seconds[HOST_DRAM] > seconds[HOST_L2]);
    assert_true(seconds[HOST_L2] > 0 && seconds[HOST_ISSUE] > 0);
    assert_true(seconds[HOST_NETWORK] == 0 && seconds[HOST_EXECUTE] == 0);
    host_watch_destroy(w);
}

static void little_is_not_enough(void **state)
{
    (void)state;
    struct timing t = {0};
    struct host_watch *w = host_watch_create();
    double seconds[HOST_PART_COUNT];
    host_watch_look(w, &t);
    be_at(&t, HOST_DRAM, 10);
    host_watch_look(w, NULL);
    assert_false(host_watch_seconds(w, seconds));
    host_watch_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_has_its_time),
        cmocka_unit_test(little_is_not_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
