/* Does each built-in scheduler pick as its rule says? The examples are those of the rules' definitions; what all
 * schedulers owe their warps is tested on every registered one. */
#include "scheduler_test.h"

#include <stdio.h>
#include <unistd.h>

/* The worked examples. */

static void lrr_goes_round(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "lrr", 4);
    issue(&b, 1);
    assert_int_equal(cycle(&b, W0 | W3), 3);
    assert_int_equal(cycle(&b, W0 | W3), 0);
    assert_int_equal(cycle(&b, W0 | W1 | W2 | W3), 1);
    assert_int_equal(cycle(&b, 0), HEDDLE_NO_WARP); /* an idle cycle leaves the place */
    assert_int_equal(cycle(&b, W0 | W1 | W2 | W3), 2);
    end(&b);
}

static void lrr_wraps_at_the_last_slot(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "lrr", 64);
    issue(&b, 63);
    assert_int_equal(cycle(&b, BIT(63) | BIT(5)), 5);
    assert_int_equal(cycle(&b, BIT(63) | BIT(5)), 63);
    end(&b);
}

static void rr_waits_for_the_turn(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "rr", 4);
    for (int i = 0; i < 20; i++)
        assert_int_equal(cycle(&b, W1 | W2 | W3), HEDDLE_NO_WARP); /* W0 waits for a load */
    assert_int_equal(cycle(&b, W0 | W1 | W2 | W3), 0);
    assert_int_equal(cycle(&b, W0 | W2 | W3), HEDDLE_NO_WARP);
    assert_int_equal(cycle(&b, W1 | W3), 1);
    end(&b);
}

static void rr_passes_over_the_finished_and_the_waiting(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "rr", 4);
    barrier_wait(&b, 0);
    assert_int_equal(cycle(&b, W2 | W3), HEDDLE_NO_WARP); /* the turn is W1's now */
    barrier_pass(&b, W0);
    assert_int_equal(cycle(&b, W0 | W2 | W3), HEDDLE_NO_WARP); /* and W0 does not get it back */
    finish(&b, 1);
    assert_int_equal(cycle(&b, W0 | W2 | W3), 2);
    barrier_wait(&b, 3);
    assert_int_equal(cycle(&b, W0 | W2), 0);
    assert_int_equal(cycle(&b, W0 | W2), 2); /* W1 has ended */
    end(&b);
}

static void rr_turn_that_nobody_could_take(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "rr", 2);
    barrier_wait(&b, 0);
    barrier_wait(&b, 1);
    launch(&b, 3);
    assert_int_equal(cycle(&b, W3), 3);
    barrier_pass(&b, W0 | W1);
    assert_int_equal(cycle(&b, W1 | W3), HEDDLE_NO_WARP); /* W0 is next behind W3, and not ready */
    assert_int_equal(cycle(&b, W0 | W1 | W3), 0);
    end(&b);
}

static void rr_passes_over_a_fence(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "rr", 3);
    b.f.core.waiting = W0;
    assert_int_equal(cycle(&b, W1 | W2), 1);
    b.f.core.waiting = 0;
    assert_int_equal(cycle(&b, W0 | W1), HEDDLE_NO_WARP); /* W2's turn */
    assert_int_equal(cycle(&b, W0 | W1 | W2), 2);
    end(&b);
}

static void sticky_stays_then_goes_round(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "sticky", 4);
    issue(&b, 1);
    assert_int_equal(cycle(&b, W1 | W0), 1);
    assert_int_equal(cycle(&b, W0 | W3), 3);
    assert_int_equal(cycle(&b, W0 | W1 | W3), 3);
    assert_int_equal(cycle(&b, W0 | W1), 0);
    end(&b);
}

static void sticky_by_block(void **state)
{
    (void)state;
    struct bench b;
    start_owning(&b, "sticky:level=block", ~UINT64_C(0));
    for (uint32_t w = 0; w < 6; w++)
        launch_in_block(&b, w, w / 2);
    issue(&b, 2);
    assert_int_equal(cycle(&b, BIT(0) | BIT(2) | BIT(3) | BIT(4)), 3); /* in its block, the next */
    assert_int_equal(cycle(&b, BIT(0) | BIT(2) | BIT(4)), 2);          /* still in its block */
    assert_int_equal(cycle(&b, BIT(0) | BIT(4) | BIT(5)), 4);          /* none there: ring order */
    assert_int_equal(cycle(&b, BIT(0) | BIT(2) | BIT(5)), 5);
    finish(&b, 4);
    finish(&b, 5);
    assert_int_equal(cycle(&b, BIT(2) | BIT(1)), 1);
    launch_in_block(&b, 4, 3); /* the slot has another block now */
    issue(&b, 5);
    assert_int_equal(cycle(&b, BIT(1) | BIT(4)), 1);
    end(&b);
}

static void oldest_by_launch_not_by_slot(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "oldest", 4);
    finish(&b, 0);
    launch(&b, 0);
    assert_int_equal(cycle(&b, W0 | W2 | W3), 2);
    assert_int_equal(cycle(&b, W0 | W2 | W3), 2);
    assert_int_equal(cycle(&b, W0 | W3), 3);
    assert_int_equal(cycle(&b, W0), 0);
    end(&b);
}

static void gto_is_greedy_then_oldest(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "gto", 3);
    issue(&b, 2);
    assert_int_equal(cycle(&b, W0 | W2), 2);
    assert_int_equal(cycle(&b, W0 | W1), 0);
    assert_int_equal(cycle(&b, W0 | W1 | W2), 0);
    end(&b);
}

static void gto_and_sticky_differ_in_the_fallback(void **state)
{
    (void)state;
    struct bench gto, sticky;
    start(&gto, "gto", 4);
    start(&sticky, "sticky", 4);
    issue(&gto, 1);
    issue(&sticky, 1);
    assert_int_equal(cycle(&gto, W0 | W3), 0);
    assert_int_equal(cycle(&sticky, W0 | W3), 3);
    end(&gto);
    end(&sticky);
}

static void ages_outlive_many_launches(void **state)
{
    (void)state;
    struct bench b;
    uint32_t random = 12345;
    start(&b, "oldest", 48);
    for (int i = 0; i < 2000; i++) {
        random = random * 1664525 + 1013904223;
        uint32_t slot = (random >> 16) % 48;
        finish(&b, slot);
        launch(&b, slot);
        uint64_t ready = (BIT(slot) | (uint64_t)random << 13 | random >> 7) & (BIT(48) - 1);
        int oldest = -1;
        for (int w = 0; w < 48; w++)
            if (ready >> w & 1 && (oldest < 0 || b.f.warp[w].age < b.f.warp[oldest].age))
                oldest = w;
        assert_int_equal(pick(&b, ready), oldest);
    }
    end(&b);
}

/* What every scheduler owes. */

static uint32_t next_random(uint32_t *state) { return *state = *state * 1664525 + 1013904223; }

/* A core with two schedulers: the other's warps issue too, and must not move this one's order. */
static void other_schedulers_do_not_matter(const char *name)
{
    struct bench alone, shared;
    uint64_t own = UINT64_C(0x5555555555555555);
    uint32_t random = 7;
    start_owning(&alone, name, own);
    start_owning(&shared, name, own);
    for (uint32_t w = 0; w < 16; w++) {
        launch(&alone, w);
        launch(&shared, w);
    }
    for (int i = 0; i < 500; i++) {
        uint64_t ready = next_random(&random) >> 8 & 0x5555;
        tell_issued(&shared, (next_random(&random) >> 20 & 7) * 2 + 1);
        assert_int_equal(cycle(&alone, ready), cycle(&shared, ready));
    }
    end(&alone);
    end(&shared);
}

/* Picks come from the candidates, asking twice gives the same answer, and the same history gives the same picks. Warps
 * end and begin, and wait at barriers. */
static void picks_are_sound(const char *name)
{
    struct bench a, b;
    uint32_t random = 99;
    unsigned issued = 0;
    start(&a, name, 24);
    start(&b, name, 24);
    for (int i = 0; i < 5000; i++) {
        uint32_t what = next_random(&random) >> 24, warp = (next_random(&random) >> 16) % 24;
        if (what < 4 && !(a.f.core.at_barrier >> warp & 1)) {
            finish(&a, warp), finish(&b, warp);
            launch(&a, warp), launch(&b, warp);
        } else if (what < 12 && !(a.f.core.at_barrier >> warp & 1)) {
            barrier_wait(&a, warp), barrier_wait(&b, warp);
        } else if (what < 20) {
            barrier_pass(&a, a.f.core.at_barrier), barrier_pass(&b, b.f.core.at_barrier);
        }
        uint64_t ready = next_random(&random) >> 8 & next_random(&random) >> 8 & ~a.f.core.waiting; /* 24 warps */
        if (!ready)
            continue;
        begin_cycle(&a, ready);
        int first = pick(&a, ready);
        assert_true(first == HEDDLE_NO_WARP || (first >= 0 && first < HEDDLE_WARPS && ready >> first & 1));
        assert_int_equal(pick(&a, ready), first);
        assert_int_equal(cycle(&a, ready), first);
        assert_int_equal(cycle(&b, ready), first);
        issued += first != HEDDLE_NO_WARP;
    }
    assert_true(issued > 500);
    end(&a);
    end(&b);
}

/* Every warp of n issues within 64 n cycles, over and over. A warp that has issued `run` times in a row stalls for a
 * while, as warps do: without that the greedy ones would rightly never leave the first, and oldest first never the
 * oldest. */
static void nobody_starves(const char *name)
{
    enum { WARPS = 12, RUN = 3, STALL = 40, LIMIT = 64 * WARPS };
    struct bench b;
    uint64_t ready_at[WARPS] = {0}, last[WARPS] = {0};
    unsigned burst[WARPS] = {0};
    start(&b, name, WARPS);
    for (uint64_t now = 1; now < 20 * LIMIT; now++) {
        uint64_t ready = 0;
        for (int w = 0; w < WARPS; w++)
            ready |= ready_at[w] <= now ? BIT(w) : 0;
        b.f.core.long_wait = (BIT(WARPS) - 1) & ~ready; /* for memory, as one does for so long */
        int warp = cycle(&b, ready);
        if (warp >= 0) {
            last[warp] = now;
            if (++burst[warp] == RUN) {
                burst[warp] = 0;
                ready_at[warp] = now + STALL;
            }
        }
        for (int w = 0; w < WARPS; w++)
            if (now - last[w] > LIMIT)
                fail_msg("%s: warp %d did not issue for %d cycles", name, w, LIMIT);
    }
    end(&b);
}

/* A barrier of all warps: each comes to it after its own number of instructions, waits, and goes on with the others. No
 * scheduler may hang there. */
static void barriers_are_passed(const char *name)
{
    enum { WARPS = 8, BARRIERS = 5 };
    struct bench b;
    unsigned todo[WARPS], passed = 0;
    start(&b, name, WARPS);
    for (unsigned w = 0; w < WARPS; w++)
        todo[w] = 1 + w;
    for (unsigned now = 0; passed < BARRIERS; now++) {
        if (now > 64 * WARPS * BARRIERS)
            fail_msg("%s hangs at a barrier", name);
        int warp = cycle(&b, 0xff & ~b.f.core.waiting);
        if (warp >= 0 && !--todo[warp])
            barrier_wait(&b, (uint32_t)warp);
        if (b.f.core.at_barrier != 0xff)
            continue;
        passed++;
        for (unsigned w = 0; w < WARPS; w++)
            todo[w] = 1 + (w + passed) % WARPS;
        barrier_pass(&b, 0xff);
    }
    end(&b);
}

/* Greedy and aged orders starve others only as long as theirs can issue; round robin never does. */
static void round_robin_is_fair(void **state)
{
    (void)state;
    static const char *const names[] = {"lrr", "rr"};
    for (int i = 0; i < 2; i++) {
        struct bench b;
        start(&b, names[i], 48);
        for (int c = 0; c < 480; c++)
            assert_int_equal(cycle(&b, BIT(48) - 1), c % 48);
        end(&b);
    }
}

/* caws does not work without a file: one that knows no warp makes it oldest first. */
static void with_an_oracle(void (*test)(const char *name))
{
    char path[] = "/tmp/heddle-caws-XXXXXX", spec[64];
    FILE *f = fdopen(mkstemp(path), "w");
    assert_non_null(f);
    fputs("launch,block,warp,begin,end\n", f);
    fclose(f);
    snprintf(spec, sizeof spec, "caws:times=%s", path);
    test(spec);
    unlink(path);
}

static void for_all(void (*test)(const char *name))
{
    for (int i = 0; policy_schedulers[i]; i++)
        if (strcmp(policy_schedulers[i]->policy.name, "caws"))
            test(policy_schedulers[i]->policy.name);
    with_an_oracle(test);
    static const char *const more[] = {"sticky:level=block",
                                       "paws:rank=next_length",
                                       "two-level:group=1",
                                       "two-level:inner=gto",
                                       "two-level:inner=greedy-lrr,outer=gto",
                                       "two-level:outer=paws",
                                       "two-level:promote=shortest-phase",
                                       "gebhart",
                                       "gebhart:group=2,inner=gto",
                                       "narasiman",
                                       "narasiman:group=2,inner=gto,outer=gto",
                                       "narasiman:group=8,inner=greedy-lrr",
                                       "swl:limit=12",
                                       "ccws:k_throttle=0",
                                       NULL};
    for (int i = 0; more[i]; i++)
        test(more[i]);
}

/* Those that let young warps wait for the end of old ones: starved by design, but not at barriers. */
static void for_limits(void (*test)(const char *name))
{
    static const char *const limits[] = {"swl:limit=1", "swl:limit=2", "swl:limit=5", NULL};
    for (int i = 0; limits[i]; i++)
        test(limits[i]);
}

static void all_ignore_other_schedulers(void **state)
{
    (void)state, for_all(other_schedulers_do_not_matter), for_limits(other_schedulers_do_not_matter);
}
static void all_pick_soundly(void **state) { (void)state, for_all(picks_are_sound), for_limits(picks_are_sound); }
static void all_starve_nobody(void **state) { (void)state, for_all(nobody_starves); }
static void all_pass_barriers(void **state)
{
    (void)state, for_all(barriers_are_passed), for_limits(barriers_are_passed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lrr_goes_round),
        cmocka_unit_test(lrr_wraps_at_the_last_slot),
        cmocka_unit_test(rr_waits_for_the_turn),
        cmocka_unit_test(rr_passes_over_the_finished_and_the_waiting),
        cmocka_unit_test(rr_turn_that_nobody_could_take),
        cmocka_unit_test(rr_passes_over_a_fence),
        cmocka_unit_test(sticky_stays_then_goes_round),
        cmocka_unit_test(sticky_by_block),
        cmocka_unit_test(oldest_by_launch_not_by_slot),
        cmocka_unit_test(gto_is_greedy_then_oldest),
        cmocka_unit_test(gto_and_sticky_differ_in_the_fallback),
        cmocka_unit_test(ages_outlive_many_launches),
        cmocka_unit_test(round_robin_is_fair),
        cmocka_unit_test(all_ignore_other_schedulers),
        cmocka_unit_test(all_pick_soundly),
        cmocka_unit_test(all_starve_nobody),
        cmocka_unit_test(all_pass_barriers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
