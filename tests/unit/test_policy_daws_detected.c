/* Does Detected-DAWS learn about loops and loads from its sampling warps as the paper says? */
#include "daws_test.h"

#define BY_LOAD ",locality=load,locality_least=-512"

static struct code code;

static void touch(struct bench *b, uint32_t warp, uint32_t pc, uint64_t line, enum heddle_outcome outcome,
                  uint32_t left)
{
    bool mine = outcome == HEDDLE_HIT || outcome == HEDDLE_PENDING;
    struct heddle_l1_access e = {.address = line * LINE,
                                 .warp = warp,
                                 .pc = pc,
                                 .outcome = outcome,
                                 .left = left,
                                 .owner = mine ? (int32_t)warp : -1,
                                 .owner_age = mine ? b->f.warp[warp].age : 0};
    on(b)->l1_access(b->s.state, &b->f.core, &e);
}

/* A load of all lanes that makes so many accesses, to lines from `line` on. */
static void load(struct bench *b, uint32_t warp, uint32_t pc, uint32_t accesses, uint64_t line,
                 enum heddle_outcome outcome)
{
    struct heddle_coalesced e = {.warp = warp, .pc = pc, .active = ~0u, .accesses = accesses, .through_l1 = true};
    on(b)->coalesced(b->s.state, &b->f.core, &e);
    for (uint32_t i = 0; i < accesses; i++)
        touch(b, warp, pc, line + i, outcome, accesses - 1 - i);
}

static void learns_a_loop(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t loop = add_loop(&code, 100, 200, -1);
    add_load(&code, 110, true), add_load(&code, 120, false), add_load(&code, 130, false);
    run_on(&b, &code, "daws:assoc=1" BY_LOAD, 40, 3);
    enter(&b, 0, loop, 32), enter(&b, 1, loop, 32);
    load(&b, 0, 110, 32, 1000, HEDDLE_MISS); /* -1 */
    load(&b, 1, 110, 32, 2000, HEDDLE_HIT);  /* nobody looks at warp 1 */
    assert_int_equal(b.s.counters[SAMPLED_LOADS], 1);
    iterate(&b, 0, loop, 32);
    load(&b, 0, 110, 32, 1000, HEDDLE_HIT); /* 0 */
    assert_int_equal(b.s.counters[LOADS_CLASSIFIED], 0);
    load(&b, 0, 120, 2, 3000, HEDDLE_HIT); /* 1: with locality */
    assert_int_equal(b.s.counters[LOOPS_WITH_LOCALITY], 1);
    iterate(&b, 0, loop, 32);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 2); /* 120 alone was classified */
    load(&b, 0, 110, 32, 1000, HEDDLE_HIT);
    assert_int_equal(b.s.counters[LOADS_DIVERGED], 1);
    iterate(&b, 0, loop, 32), iterate(&b, 1, loop, 30);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 2 + 34 + 32);
    assert_int_equal(held(&b), W1);
    load(&b, 0, 120, 2, 3000, HEDDLE_HIT);
    load(&b, 0, 130, 1, 3001, HEDDLE_HIT); /* a line that 120 has touched */
    assert_int_equal(b.s.counters[LOADS_REPEATED], 1);
    iterate(&b, 0, loop, 32);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 68 + 34);
    for (int i = 0; i < 5; i++)
        load(&b, 0, 130, 1, 5000, HEDDLE_MISS); /* from 4 below 0: the loop has no locality any more */
    iterate(&b, 0, loop, 32), iterate(&b, 1, loop, 32);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 68 + 34);
    assert_int_equal(held(&b), 0);
    load(&b, 0, 130, 1, 5000, HEDDLE_HIT), load(&b, 0, 130, 1, 5000, HEDDLE_HIT);
    iterate(&b, 0, loop, 32);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 68 + 34 + 34); /* the classification stayed */
    assert_int_equal(b.s.counters[LOADS_CLASSIFIED], 3);
    end(&b);
    code_end(&code);
}

/* A line that left: the victim tags tell of locality that was lost. A load of eight accesses lost four lines: that is
 * four accesses with locality, or one load with it. */
static void lost_locality_counts(void **state)
{
    (void)state;
    for (int by_load = 0; by_load < 2; by_load++) {
        struct bench b;
        code_start(&code);
        int32_t loop = add_loop(&code, 100, 200, -1);
        add_load(&code, 110, true);
        run_on(&b, &code, by_load ? "daws:assoc=0.6" BY_LOAD : "daws", 256, 2);
        enter(&b, 0, loop, 32);
        for (uint64_t line = 0; line < 4; line++)
            on(&b)->l1_evict(b.s.state, &b.f.core, &(struct heddle_l1_evict){.address = line * LINE, .owner = 0});
        load(&b, 0, 110, 8, 0, HEDDLE_MISS);
        assert_int_equal(b.s.counters[VTA_HITS], 4);
        assert_int_equal(b.s.counters[SAMPLED_LOADS], by_load ? 1 : 8);
        assert_int_equal(b.s.counters[LOCAL_LOADS], by_load ? 1 : 4);
        assert_int_equal(b.s.counters[LOOPS_WITH_LOCALITY], 1);
        end(&b);
        code_end(&code);
    }
}

/* Rows that begin anywhere: a warp's 128 bytes make three accesses, and the first finds the line of the last trip. The
 * counter of accesses takes 1, 0 and 0 in every trip, so the loop has no locality when the next one begins; the counter
 * of loads has gone up by one. */
static void one_access_of_three_finds_its_line(void **state)
{
    (void)state;
    for (int by_load = 0; by_load < 2; by_load++) {
        struct bench b;
        code_start(&code);
        int32_t loop = add_loop(&code, 100, 200, -1);
        add_load(&code, 110, true);
        run_on(&b, &code, by_load ? "daws:assoc=0.6" BY_LOAD : "daws", 256, 2);
        enter(&b, 0, loop, 32);
        for (uint64_t trip = 0; trip < 20; trip++) {
            touch(&b, 0, 110, 10 + trip, HEDDLE_HIT, 2);
            touch(&b, 0, 110, 11 + trip, HEDDLE_MISS, 1);
            touch(&b, 0, 110, 11 + trip, HEDDLE_PENDING, 0); /* the load's own line */
            iterate(&b, 0, loop, 32);
            assert_int_equal(b.s.counters[PREDICTIONS], by_load ? trip + 1 : 0);
        }
        end(&b);
        code_end(&code);
    }
}

/* A counter of accesses stops at 0 on its way down: after a hundred misses one access with locality is enough. */
static void locality_is_found_at_once(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t loop = add_loop(&code, 100, 200, -1);
    add_load(&code, 110, true);
    run_on(&b, &code, "daws", 256, 2);
    enter(&b, 0, loop, 32);
    for (uint64_t line = 0; line < 100; line++)
        load(&b, 0, 110, 1, line, HEDDLE_MISS);
    iterate(&b, 0, loop, 32);
    assert_int_equal(b.s.counters[PREDICTIONS], 0);
    load(&b, 0, 110, 1, 7, HEDDLE_HIT);
    iterate(&b, 0, loop, 32);
    assert_int_equal(b.s.counters[PREDICTIONS], 1);
    end(&b);
    code_end(&code);
}

/* Stores, loads past the L1D and loads outside the sampled loop say nothing. */
static void what_is_not_looked_at(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t loop = add_loop(&code, 100, 200, -1), inner = add_loop(&code, 140, 160, loop);
    add_load(&code, 50, true), add_load(&code, 110, true), add_load(&code, 150, true);
    run_on(&b, &code, "daws", 256, 2);
    enter(&b, 0, loop, 2); /* too few lanes */
    load(&b, 0, 110, 4, 0, HEDDLE_HIT);
    leave(&b, 0, loop), enter(&b, 0, loop, 3);
    load(&b, 0, 50, 4, 0, HEDDLE_HIT);
    enter(&b, 0, inner, 2);
    load(&b, 0, 150, 4, 0, HEDDLE_HIT); /* of the inner loop only */
    assert_int_equal(b.s.counters[SAMPLED_LOADS], 0);
    struct heddle_l1_access store = {.warp = 0, .pc = 110, .outcome = HEDDLE_HIT, .store = true};
    on(&b)->l1_access(b.s.state, &b.f.core, &store);
    touch(&b, 0, 110, 0, HEDDLE_FAIL, 0);
    assert_int_equal(b.s.counters[SAMPLED_LOADS], 0);
    for (int i = 0; i < 4; i++) {
        struct heddle_coalesced past = {.warp = 0, .pc = 110, .active = ~0u, .accesses = 32};
        on(&b)->coalesced(b.s.state, &b.f.core, &past);
        past.through_l1 = past.store = true;
        on(&b)->coalesced(b.s.state, &b.f.core, &past);
    }
    load(&b, 0, 110, 1, 0, HEDDLE_HIT);
    assert_int_equal(b.s.counters[SAMPLED_LOADS], 1);
    assert_int_equal(b.s.counters[LOADS_DIVERGED], 0);
    leave(&b, 0, inner), leave(&b, 0, loop);
    load(&b, 0, 110, 1, 0, HEDDLE_HIT); /* its duty is over */
    assert_int_equal(b.s.counters[SAMPLED_LOADS], 1);
    enter(&b, 0, loop, 32);
    load(&b, 0, 110, 1, 0, HEDDLE_HIT);
    warp_ends(&b, 0);
    load(&b, 0, 110, 1, 0, HEDDLE_HIT); /* late accesses of a warp that has ended */
    assert_int_equal(b.s.counters[SAMPLED_LOADS], 2);
    enter(&b, 1, loop, 32);
    load(&b, 1, 110, 1, 0, HEDDLE_HIT);
    assert_int_equal(b.s.counters[SAMPLED_LOADS], 3);
    end(&b);
    code_end(&code);
}

/* When the sampling warp leaves, the next one to enter takes its place, and none that is in the loop already. */
static void the_next_to_enter_samples(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t loop = add_loop(&code, 100, 200, -1);
    add_load(&code, 110, true);
    run_on(&b, &code, "daws", 256, 3);
    enter(&b, 0, loop, 32), enter(&b, 1, loop, 32);
    leave(&b, 0, loop);
    iterate(&b, 1, loop, 32);
    load(&b, 1, 110, 1, 0, HEDDLE_HIT);
    assert_int_equal(b.s.counters[SAMPLED_LOADS], 0);
    enter(&b, 2, loop, 32);
    load(&b, 1, 110, 1, 0, HEDDLE_HIT);
    assert_int_equal(b.s.counters[SAMPLED_LOADS], 0);
    load(&b, 2, 110, 1, 0, HEDDLE_HIT);
    assert_int_equal(b.s.counters[SAMPLED_LOADS], 1);
    iterate(&b, 2, loop, 2); /* keeps the duty with fewer lanes */
    load(&b, 2, 110, 1, 0, HEDDLE_HIT);
    assert_int_equal(b.s.counters[SAMPLED_LOADS], 2);
    end(&b);
    code_end(&code);
}

/* What was learnt is good for the next launch of the kernel, not for another. */
static void launches_of_the_same_kernel(void **state)
{
    (void)state;
    static struct code other;
    struct bench b;
    code_start(&code);
    int32_t loop = add_loop(&code, 100, 200, -1);
    add_load(&code, 110, true);
    run_on(&b, &code, "daws", 256, 1);
    enter(&b, 0, loop, 32);
    load(&b, 0, 110, 1, 0, HEDDLE_HIT);
    warp_ends(&b, 0), finish(&b, 0);
    on(&b)->kernel(b.s.state, &b.f.core);
    launch(&b, 0);
    enter(&b, 0, loop, 32);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 2);
    warp_ends(&b, 0), finish(&b, 0);
    other = code;
    other.program.kernel = "other";
    b.f.core.program = &other.program;
    on(&b)->kernel(b.s.state, &b.f.core);
    launch(&b, 0);
    enter(&b, 0, loop, 32);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 2);
    end(&b);
    code_end(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_a_loop),
        cmocka_unit_test(lost_locality_counts),
        cmocka_unit_test(one_access_of_three_finds_its_line),
        cmocka_unit_test(locality_is_found_at_once),
        cmocka_unit_test(what_is_not_looked_at),
        cmocka_unit_test(the_next_to_enter_samples),
        cmocka_unit_test(launches_of_the_same_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
