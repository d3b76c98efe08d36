/* Is an answer given to its core no earlier than in the cycle after that in which it came, and no more than one a
 * cycle? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/answers.h"

static void put(struct answer_queue *q, uint32_t token, uint64_t now)
{
    answers_put(q, &(struct packet){.token = token}, now);
}

static void take(struct answer_queue *q, uint32_t token, uint64_t now)
{
    assert_int_equal(answers_next(q), now);
    assert_int_equal(answers_front(q)->token, token);
    answers_take(q);
    q->given_until = now;
}

static void one_a_cycle(void **state)
{
    (void)state;
    struct arena a = {0};
    struct answer_queue q;
    answers_init(&q, &a, 3);
    assert_true(answers_next(&q) == UINT64_MAX);
    put(&q, 1, 10);
    put(&q, 2, 10);
    put(&q, 3, 40);
    assert_true(answers_full(&q));
    take(&q, 1, 11);
    take(&q, 2, 12);
    assert_false(answers_full(&q));
    put(&q, 4, 41); /* in the place of the first, of four */
    put(&q, 5, 42);
    take(&q, 3, 41);
    take(&q, 4, 42);
    take(&q, 5, 43);
    assert_int_equal(answers_count(&q), 0);
    arena_free(&a);
}

/* A core that has no room is offered the answer again; one that has been run further is not given it before. */
static void offered_again(void **state)
{
    (void)state;
    struct arena a = {0};
    struct answer_queue q;
    answers_init(&q, &a, 8);
    put(&q, 1, 10);
    q.given_until = 11; /* refused then */
    assert_int_equal(answers_next(&q), 12);
    q.given_until = 30;
    take(&q, 1, 31);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_a_cycle),
        cmocka_unit_test(offered_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
