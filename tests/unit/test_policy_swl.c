/* Does the static limit let the oldest warps issue and no others, and does it let barriers open? */
#include "scheduler_test.h"

#include <stdio.h>

static uint64_t held(struct bench *b)
{
    return b->s.choice.scheduler->hold(b->s.state, &b->f.core) & b->f.core.resident;
}

static void start_limited(struct bench *b, const char *spec, uint32_t warps)
{
    start_owning(b, spec, ~UINT64_C(0));
    for (uint32_t w = 0; w < warps; w++)
        launch(b, w);
}

static void the_oldest_issue(void **state)
{
    (void)state;
    struct bench b;
    start_owning(&b, "swl:limit=2", ~UINT64_C(0));
    launch(&b, 3), launch(&b, 0), launch(&b, 2), launch(&b, 1);
    assert_int_equal(held(&b), W2 | W1);
    assert_int_equal(cycle(&b, W0 | W1 | W2 | W3), 3);
    assert_int_equal(cycle(&b, W0 | W1 | W2), 0);
    assert_int_equal(cycle(&b, W0 | W1 | W2 | W3), 0);    /* greedy */
    assert_int_equal(cycle(&b, W1 | W2), HEDDLE_NO_WARP); /* for no instruction at all */
    finish(&b, 0);
    assert_int_equal(held(&b), W1);
    assert_int_equal(cycle(&b, W1 | W2), 2);
    launch(&b, 0); /* the youngest now, in an old slot */
    assert_int_equal(held(&b), W0 | W1);
    finish(&b, 3);
    assert_int_equal(held(&b), W0);
    end(&b);
}

/* A slot whose warp ended and was followed by another between two questions. */
static void a_new_warp_in_the_slot_is_young(void **state)
{
    (void)state;
    struct bench b;
    start_limited(&b, "swl:limit=1", 3);
    assert_int_equal(held(&b), W1 | W2);
    finish(&b, 0);
    launch(&b, 0);
    assert_int_equal(held(&b), W0 | W2);
    end(&b);
}

/* Two blocks of two warps, one warp at a time: W0 comes to the barrier and W1 gets its turn, W2 of the other block not
 * before both wait. */
static void barriers(void **state)
{
    (void)state;
    struct bench b;
    start_owning(&b, "swl:limit=1", ~UINT64_C(0));
    for (uint32_t w = 0; w < 4; w++)
        launch_in_block(&b, w, w / 2);
    assert_int_equal(held(&b), W1 | W2 | W3);
    barrier_wait(&b, 0);
    assert_int_equal(held(&b) & ~W0, W2 | W3);
    assert_int_equal(cycle(&b, W1 | W2 | W3), 1);
    barrier_wait(&b, 1);
    assert_int_equal(held(&b) & ~(W0 | W1), W3);
    assert_int_equal(cycle(&b, W2 | W3), 2);
    barrier_pass(&b, W0 | W1);
    assert_int_equal(held(&b), W1 | W2 | W3); /* the limit is what it was */
    assert_int_equal(cycle(&b, W0 | W1 | W2 | W3), 0);
    end(&b);
}

/* As many as there are, or more: greedy then oldest, cycle for cycle. */
static void a_limit_of_all_is_gto(void **state)
{
    (void)state;
    static const char *const specs[] = {"swl:limit=24", "swl:limit=64", "swl"};
    for (int k = 0; k < 3; k++) {
        struct bench a, b;
        uint32_t random = 5;
        start_limited(&a, specs[k], 24);
        start_limited(&b, "gto", 24);
        for (int i = 0; i < 4000; i++) {
            random = random * 1664525 + 1013904223;
            uint32_t warp = (random >> 16) % 24;
            if (random >> 28 == 0 && !(a.f.core.waiting >> warp & 1)) {
                finish(&a, warp), finish(&b, warp);
                launch(&a, warp), launch(&b, warp);
            } else if (random >> 28 == 1 && !(a.f.core.waiting >> warp & 1)) {
                barrier_wait(&a, warp), barrier_wait(&b, warp);
            } else if (random >> 28 == 2) {
                barrier_pass(&a, a.f.core.at_barrier), barrier_pass(&b, b.f.core.at_barrier);
            }
            uint64_t ready = random >> 7 & 0xffffff & ~a.f.core.waiting;
            assert_int_equal(cycle(&a, ready), cycle(&b, ready));
        }
        end(&a);
        end(&b);
    }
}

/* At any time those that may issue are the oldest of the core that are not at a barrier, of all schedulers. */
static void always_the_oldest(void **state)
{
    (void)state;
    enum { WARPS = 20 };
    for (unsigned limit = 1; limit < WARPS; limit += 3) {
        struct bench b;
        char spec[32];
        uint32_t random = limit;
        snprintf(spec, sizeof spec, "swl:limit=%u", limit);
        start_owning(&b, spec, UINT64_C(0x5555555555555555));
        for (uint32_t w = 0; w < WARPS; w++)
            launch(&b, w);
        for (int i = 0; i < 3000; i++) {
            random = random * 1664525 + 1013904223;
            uint32_t warp = (random >> 16) % WARPS, what = random >> 29;
            bool waits = b.f.core.waiting >> warp & 1, there = b.f.core.resident >> warp & 1;
            if (what == 0 && there && !waits)
                finish(&b, warp);
            else if (what == 1 && !there)
                launch(&b, warp);
            else if (what == 2 && there && !waits)
                barrier_wait(&b, warp);
            else if (what == 3)
                barrier_pass(&b, b.f.core.at_barrier);
            uint64_t allowed = b.f.core.resident & ~held(&b), counted = b.f.core.resident & ~b.f.core.at_barrier;
            unsigned count = 0;
            for (uint32_t w = 0; w < WARPS; w++) {
                unsigned older = 0;
                for (uint32_t v = 0; v < WARPS; v++)
                    older += counted >> v & 1 && b.f.warp[v].age < b.f.warp[w].age;
                bool may = counted >> w & 1 && older < limit;
                assert_int_equal(allowed >> w & 1, may);
                count += may;
            }
            assert_true(count <= limit);
        }
        end(&b);
    }
}

/* Warps that end: everyone has its turn, one after the other where the limit is 1. */
static void everyone_ends(void **state)
{
    (void)state;
    enum { WARPS = 12, LENGTH = 7 };
    for (unsigned limit = 1; limit <= WARPS; limit++) {
        struct bench b;
        char spec[32];
        unsigned left[WARPS], now = 0;
        snprintf(spec, sizeof spec, "swl:limit=%u", limit);
        start_limited(&b, spec, WARPS);
        for (unsigned w = 0; w < WARPS; w++)
            left[w] = LENGTH;
        while (b.f.core.resident) {
            assert_true(now++ <= WARPS * LENGTH);
            int warp = cycle(&b, b.f.core.resident);
            assert_true(warp >= 0);
            if (!--left[warp])
                finish(&b, (uint32_t)warp);
        }
        end(&b);
    }
}

static void a_single_warp(void **state)
{
    (void)state;
    struct bench b;
    start_limited(&b, "swl:limit=1", 1);
    for (int i = 0; i < 10; i++)
        assert_int_equal(cycle(&b, W0), 0);
    barrier_wait(&b, 0);
    barrier_pass(&b, W0);
    assert_int_equal(cycle(&b, W0), 0);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_issue),  cmocka_unit_test(a_new_warp_in_the_slot_is_young),
        cmocka_unit_test(barriers),          cmocka_unit_test(a_limit_of_all_is_gto),
        cmocka_unit_test(always_the_oldest), cmocka_unit_test(everyone_ends),
        cmocka_unit_test(a_single_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
