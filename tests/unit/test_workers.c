/* Threads that share work: every part is done once in every round, whatever the threads do meanwhile. */
#include "gpu/workers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

enum { PARTS_MOST = 300 };

struct counts {
    atomic_uint of[PARTS_MOST];
    unsigned plain[PARTS_MOST]; /* each written by one thread a round, and by another in the next */
    uint32_t slow;              /* a part that takes long */
};

static void rest(long nanoseconds) { nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL); }

static void count(void *context, uint32_t part)
{
    struct counts *n = context;
    atomic_fetch_add(&n->of[part], 1);
    n->plain[part]++;
    if (part == n->slow)
        rest(200000);
}

static void check(const struct counts *n, uint32_t parts, uint32_t rounds)
{
    for (uint32_t i = 0; i < PARTS_MOST; i++) {
        assert_int_equal(n->of[i], i < parts ? rounds : 0);
        assert_int_equal(n->plain[i], i < parts ? rounds : 0);
    }
}

static void each_part_is_done_once_in_a_round(void **state)
{
    (void)state;
    static const uint32_t parts[] = {1, 2, 16, 133, 300};
    for (uint32_t threads = 2; threads <= 5; threads++) {
        struct workers *w = workers_create(threads);
        assert_non_null(w);
        for (uint32_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            struct counts n = {.slow = UINT32_MAX};
            for (uint32_t round = 0; round < 500; round++)
                workers_run(w, count, &n, parts[k]);
            check(&n, parts[k], 500);
        }
        workers_destroy(w);
    }
}

/* The task may change with every round: nobody does a piece of one with the other's. */
static void rounds_may_differ(void **state)
{
    (void)state;
    struct workers *w = workers_create(3);
    struct counts n[3] = {{.slow = UINT32_MAX}, {.slow = UINT32_MAX}, {.slow = UINT32_MAX}};
    for (uint32_t round = 0; round < 3000; round++)
        workers_run(w, count, &n[round % 3], 5 + 140 * (round % 3));
    for (uint32_t i = 0; i < 3; i++)
        check(&n[i], 5 + 140 * i, 1000);
    workers_destroy(w);
}

/* Threads that sleep by then are woken, or done without; one at a long part holds up no other. */
static void pauses_and_long_parts_change_nothing(void **state)
{
    (void)state;
    struct workers *w = workers_create(3);
    struct counts n = {.slow = 0};
    for (uint32_t round = 0; round < 40; round++) {
        n.slow = round % 20;
        workers_run(w, count, &n, 20);
        if (round % 4 == 0)
            rest(3000000);
    }
    check(&n, 20, 40);
    rest(3000000);
    workers_destroy(w); /* while all sleep */
}

static void nothing_to_do_is_done_at_once(void **state)
{
    (void)state;
    struct workers *w = workers_create(2);
    struct counts n = {.slow = UINT32_MAX};
    workers_run(w, count, &n, 0);
    check(&n, 0, 0);
    workers_destroy(w);
    workers_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_is_done_once_in_a_round),
        cmocka_unit_test(rounds_may_differ),
        cmocka_unit_test(pauses_and_long_parts_change_nothing),
        cmocka_unit_test(nothing_to_do_is_done_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
