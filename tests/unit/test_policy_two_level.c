/* Do the two levels, and the phase-aware order, move warps as their definitions say? */
#include "scheduler_test.h"

static void needs_memory(struct bench *b, uint64_t warps) { b->f.core.long_wait = warps; }

/* The example of GPGPU-Sim's form: two places, four warps. The load's warp goes after the other; when its next
 * instruction needs the load, it leaves and the first pending one comes. */
static void gpgpusim_example(void **state)
{
    (void)state;
    struct bench b;
    start_owning(&b, "two-level:group=2", 0xf);
    for (uint32_t w = 0; w < 4; w++)
        launch(&b, w);
    assert_int_equal(cycle(&b, W0 | W1 | W2 | W3), 0);
    needs_memory(&b, W0);
    begin_cycle(&b, W1 | W2 | W3);
    uint64_t held = b.s.choice.scheduler->hold(b.s.state, &b.f.core);
    assert_int_equal(held, W3 | W0);
    assert_int_equal(pick(&b, W1 | W2 | W3), 1); /* active: W1, W2 */
    assert_int_equal(cycle(&b, W1 | W2 | W3), 1);
    assert_int_equal(cycle(&b, W1 | W2 | W3), 2);
    /* pending is W3, W0: both places free at once, taken in that order, W0 though it still waits */
    needs_memory(&b, W0 | W1 | W2);
    begin_cycle(&b, W3);
    assert_int_equal(b.s.choice.scheduler->hold(b.s.state, &b.f.core), W1 | W2);
    end(&b);
}

/* Nothing can issue for many cycles, told as one count or cycle by cycle: the same lists after it. */
static void sleep_is_made_up_for(void **state)
{
    (void)state;
    static const char *const specs[] = {"two-level:group=3",
                                        "two-level:group=5,outer=gto",
                                        "two-level:group=4,outer=paws",
                                        "two-level:group=3,promote=shortest-phase",
                                        "gebhart:group=3",
                                        "two-level:group=7"};
    for (unsigned k = 0; k < sizeof specs / sizeof *specs; k++)
        for (uint64_t pause = 1; pause < 200; pause = pause * 3 / 2 + 1) {
            struct bench once, each;
            start_owning(&once, specs[k], 0x1fff);
            start_owning(&each, specs[k], 0x1fff);
            for (uint32_t w = 0; w < 11; w++) {
                launch(&once, (w * 5 + 3) % 13);
                launch(&each, (w * 5 + 3) % 13);
            }
            assert_int_equal(cycle(&once, 0x1fff & once.f.core.resident), cycle(&each, 0x1fff & each.f.core.resident));
            uint64_t waits = 0x1fff & ~(UINT64_C(1) << (k + 2));
            needs_memory(&once, waits);
            needs_memory(&each, waits);
            begin_cycle(&once, 0);
            begin_cycle(&each, 0);
            for (uint64_t i = 0; i < pause; i++) {
                each.f.core.cycle++;
                begin_cycle(&each, 0);
            }
            once.f.core.cycle += pause;
            begin_cycle(&once, 0);
            assert_int_equal(once.s.choice.scheduler->hold(once.s.state, &once.f.core),
                             each.s.choice.scheduler->hold(each.s.state, &each.f.core));
            assert_memory_equal(once.s.counters, each.s.counters, sizeof once.s.counters);
            needs_memory(&once, 0);
            needs_memory(&each, 0);
            once.f.core.cycle++;
            each.f.core.cycle++;
            for (int i = 0; i < 30; i++)
                assert_int_equal(cycle(&once, once.f.core.resident), cycle(&each, each.f.core.resident));
            end(&once);
            end(&each);
        }
}

/* A group as large as the scheduler is its inner policy. */
static void whole_group_is_the_inner_policy(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"two-level:group=64", "lrr"}, {"two-level:group=64,inner=gto", "gto"},
        {"gebhart:group=64", "lrr"},   {"gebhart:group=64,inner=gto", "gto"},
        {"narasiman:group=64", "lrr"}, {"narasiman:group=64,inner=gto,outer=gto", "gto"}};
    for (unsigned k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        struct bench a, b;
        uint32_t random = 3;
        start(&a, pairs[k][0], 20);
        start(&b, pairs[k][1], 20);
        for (int i = 0; i < 3000; i++) {
            random = random * 1664525 + 1013904223;
            uint64_t ready = random >> 9 & 0xfffff;
            uint32_t warp = random >> 3 & 15;
            if (random >> 28 == 0) {
                finish(&a, warp), finish(&b, warp);
                launch(&a, warp), launch(&b, warp);
            }
            needs_memory(&a, ~ready & random >> 5);
            assert_int_equal(cycle(&a, ready), cycle(&b, ready));
        }
        end(&a);
        end(&b);
    }
}

/* One place: a warp runs until it waits for memory, then the next. */
static void group_of_one(void **state)
{
    (void)state;
    struct bench b;
    start_owning(&b, "two-level:group=1", 7);
    for (uint32_t w = 0; w < 3; w++)
        launch(&b, w);
    for (int i = 0; i < 5; i++)
        assert_int_equal(cycle(&b, W0 | W1 | W2), 0);
    assert_int_equal(cycle(&b, W1 | W2), HEDDLE_NO_WARP); /* stalled, but not for memory: it keeps its place */
    needs_memory(&b, W0);
    assert_int_equal(cycle(&b, W1 | W2), 1);
    assert_int_equal(cycle(&b, W1 | W2), 1);
    end(&b);
}

static void barriers_and_ends_free_a_place(void **state)
{
    (void)state;
    for (int gebhart = 0; gebhart < 2; gebhart++) {
        struct bench b;
        start_owning(&b, gebhart ? "gebhart:group=2" : "two-level:group=2", 0xf);
        for (uint32_t w = 0; w < 4; w++)
            launch(&b, w);
        barrier_wait(&b, 0);
        assert_int_equal(cycle(&b, W1 | W2 | W3), 1);
        assert_int_equal(cycle(&b, W2 | W3), 2);
        finish(&b, 1);
        assert_int_equal(cycle(&b, W2 | W3), 2); /* W3 takes the place of W1, behind W2 */
        assert_int_equal(cycle(&b, W2 | W3), 3);
        barrier_pass(&b, W0);
        uint64_t seen = 0;
        for (int i = 0; i < 12; i++) {
            int warp = cycle(&b, W0 | W2 | W3);
            seen |= warp < 0 ? 0 : BIT(warp);
            needs_memory(&b, warp < 0 ? 0 : BIT(warp));
        }
        assert_int_equal(seen, W0 | W2 | W3);
        end(&b);
    }
}

/* Gebhart: one leaves a cycle, and who waits is not let in. */
static void gebhart_lets_in_who_can_run(void **state)
{
    (void)state;
    struct bench b;
    start_owning(&b, "gebhart:group=2", 0xf);
    for (uint32_t w = 0; w < 4; w++)
        launch(&b, w);
    assert_int_equal(cycle(&b, W0 | W1 | W2 | W3), 0);
    needs_memory(&b, W0 | W1 | W2);
    begin_cycle(&b, W3); /* order was W1, W0: W1 leaves, W2 waits, W3 comes */
    assert_int_equal(b.s.choice.scheduler->hold(b.s.state, &b.f.core), W1 | W2);
    b.f.core.cycle++;
    begin_cycle(&b, W3); /* W0 leaves; nobody can come */
    assert_int_equal(b.s.choice.scheduler->hold(b.s.state, &b.f.core), W0 | W1 | W2);
    needs_memory(&b, W0 | W1);
    b.f.core.cycle++;
    begin_cycle(&b, W2 | W3);
    assert_int_equal(b.s.choice.scheduler->hold(b.s.state, &b.f.core), W0 | W1);
    end(&b);
}

/* Fetch groups of two: the current one as long as it can issue, round it; then the next that can, without losing a
 * cycle. */
static void narasiman_groups(void **state)
{
    (void)state;
    struct bench b;
    start_owning(&b, "narasiman:group=2", 0x3f);
    for (uint32_t w = 0; w < 6; w++)
        launch(&b, w);
    assert_int_equal(cycle(&b, 0x3f), 0);
    assert_int_equal(cycle(&b, 0x3f), 1);
    assert_int_equal(cycle(&b, 0x3f), 0);
    assert_int_equal(cycle(&b, 0x30), 4);
    assert_int_equal(cycle(&b, 0x3f), 5); /* stays with the group */
    assert_int_equal(cycle(&b, 0x0f), 0);
    assert_int_equal(b.s.counters[0], 2);
    end(&b);
}

static const struct heddle_instruction phased[] = {{.phase = {{1, 18, 18, 10}, {1, 18, 18, 10}}},
                                                   {.phase = {{1, 2, 18, 10}, {1, 2, 18, 10}}},
                                                   {.phase = {{2, 10, 10, 3}, {2, 10, 10, 3}}},
                                                   {.phase = {{3, 3, 3, 0}, {3, 3, 3, 0}}}};
static const struct heddle_program with_phases = {.kernel = "k", .instructions = phased, .instruction_count = 4};

static void at(struct bench *b, uint32_t warp, uint32_t pc) { b->f.warp[warp].next_pc = pc; }

static void paws_shortest_distance_then_oldest(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "paws", 4);
    b.f.core.program = &with_phases;
    at(&b, 0, 0), at(&b, 1, 2), at(&b, 2, 1), at(&b, 3, 1);
    assert_int_equal(cycle(&b, W0 | W1 | W2 | W3), 2);
    assert_int_equal(cycle(&b, W0 | W1 | W3), 3);
    assert_int_equal(cycle(&b, W0 | W1), 1);
    at(&b, 1, 0);
    assert_int_equal(cycle(&b, W0 | W1), 0); /* same distance: the older */
    finish(&b, 0);
    launch(&b, 0);
    assert_int_equal(cycle(&b, W0 | W1), 1); /* a new warp in the slot is the younger */
    end(&b);
    start(&b, "paws:rank=next_length", 3);
    b.f.core.program = &with_phases;
    at(&b, 0, 0), at(&b, 1, 2), at(&b, 2, 3);
    assert_int_equal(cycle(&b, W0 | W1 | W2), 2);
    assert_int_equal(cycle(&b, W0 | W1), 1);
    end(&b);
}

/* The report's second level: sorted at a promotion only; issue turns the list in between. */
static void outer_level_sorts_at_promotions(void **state)
{
    (void)state;
    struct bench b;
    start_owning(&b, "two-level:group=3,outer=paws", 0xf);
    for (uint32_t w = 0; w < 4; w++)
        launch(&b, w);
    b.f.core.program = &with_phases;
    at(&b, 0, 0), at(&b, 1, 2), at(&b, 2, 3), at(&b, 3, 1);
    assert_int_equal(cycle(&b, 0xf), 0); /* not sorted yet: W0, W1, W2 */
    needs_memory(&b, W0);
    assert_int_equal(cycle(&b, 0xe), 3); /* W3 was promoted: by distance W3, W2, W1 */
    needs_memory(&b, 0);
    assert_int_equal(cycle(&b, 0xe), 2);
    assert_int_equal(cycle(&b, 0xe), 1);
    assert_int_equal(cycle(&b, 0xe), 3);
    end(&b);
}

/* The same warps by the two orders of the analysis, which differ in the distance of W2's and W3's instructions. */
static void phases_in_either_order(void **state)
{
    (void)state;
    static const struct heddle_instruction differ[] = {{.phase = {{1, 9, 9, 9}, {1, 9, 9, 9}}},
                                                       {.phase = {{1, 5, 9, 9}, {1, 7, 9, 9}}},
                                                       {.phase = {{1, 6, 9, 9}, {1, 4, 9, 9}}}};
    static const struct heddle_program program = {.kernel = "k", .instructions = differ, .instruction_count = 3};
    static const char *const specs[] = {"two-level:group=2,outer=paws", "two-level:group=2,outer=paws,order=report"};
    for (int order = 0; order < 2; order++) {
        struct bench b;
        start_owning(&b, specs[order], 0x7);
        for (uint32_t w = 0; w < 3; w++)
            launch(&b, w);
        b.f.core.program = &program;
        at(&b, 0, 0), at(&b, 1, 1), at(&b, 2, 2);
        assert_int_equal(cycle(&b, 0x7), 0);
        needs_memory(&b, W0);
        assert_int_equal(cycle(&b, 0x6), order ? 2 : 1);
        end(&b);
    }
}

static void shortest_phase_is_promoted(void **state)
{
    (void)state;
    struct bench b;
    start_owning(&b, "two-level:group=1,promote=shortest-phase", 0xf);
    for (uint32_t w = 0; w < 4; w++)
        launch(&b, w);
    b.f.core.program = &with_phases;
    at(&b, 0, 0), at(&b, 1, 0), at(&b, 2, 2), at(&b, 3, 3);
    assert_int_equal(cycle(&b, 0xf), 0);
    needs_memory(&b, W0);
    assert_int_equal(cycle(&b, 0xe), 3);
    needs_memory(&b, W0 | W3);
    assert_int_equal(cycle(&b, 0x6), 2);
    end(&b);
}

static uint32_t roll(uint64_t *seed, uint32_t sides)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % sides;
}

/* What happens to a warp between two cycles, on both benches. */
static void happen(struct bench *each, struct bench *few, uint64_t *seed)
{
    uint32_t warp = roll(seed, 12);
    uint64_t bit = BIT(warp), waits = each->f.core.long_wait;
    switch (roll(seed, 16)) {
    case 0:
    case 1: waits ^= bit; break;
    case 2:
        waits = roll(seed, 8) ? roll(seed, 4096) | roll(seed, 4096) | roll(seed, 4096) : 0; /* mostly, nearly all */
        break;
    case 3:
    case 5:
    case 6:
        if (each->f.core.resident & ~each->f.core.at_barrier & bit)
            barrier_wait(each, warp), barrier_wait(few, warp);
        break;
    case 4:
        if (!roll(seed, 4) && (each->f.core.resident & ~each->f.core.at_barrier & bit))
            finish(each, warp), finish(few, warp);
        if (!(each->f.core.resident & bit)) /* also where another has just ended */
            launch(each, warp), launch(few, warp);
        break;
    default: break;
    }
    needs_memory(each, waits), needs_memory(few, waits);
}

/* One scheduler hears of every cycle. The other sleeps as the core lets it, while it says that its answers stay and
 * nothing happens, and hears of those cycles as one count. They must choose the same warps. */
static void sleep_changes_nothing(void **state)
{
    (void)state;
    static const char *const specs[] = {"two-level:group=3",
                                        "two-level:group=5,outer=gto",
                                        "two-level:group=2,inner=greedy-lrr",
                                        "two-level:group=1",
                                        "two-level:group=3,promote=shortest-phase",
                                        "gebhart:group=3",
                                        "gebhart:group=4,inner=gto",
                                        "two-level:group=12"};
    for (unsigned k = 0; k < sizeof specs / sizeof *specs; k++) {
        struct bench each, few;
        uint64_t seed = k + 1, slept = 0;
        start_owning(&each, specs[k], 0xfff);
        start_owning(&few, specs[k], 0xfff);
        for (uint32_t w = 0; w < 10; w++)
            launch(&each, (w * 5 + 3) % 12), launch(&few, (w * 5 + 3) % 12);
        for (uint32_t n = 0; n < 20000; n++) {
            happen(&each, &few, &seed);
            uint64_t ready = each.f.core.resident & ~each.f.core.long_wait & (roll(&seed, 4096) | roll(&seed, 4096)) &
                             ~each.f.core.waiting;
            begin_cycle(&each, ready), begin_cycle(&few, ready);
            int warp = ready ? pick(&each, ready) : HEDDLE_NO_WARP;
            assert_int_equal(ready ? pick(&few, ready) : HEDDLE_NO_WARP, warp);
            if (warp != HEDDLE_NO_WARP)
                issue(&each, (uint32_t)warp), issue(&few, (uint32_t)warp);
            const struct heddle_scheduler *s = few.s.choice.scheduler;
            uint32_t nothing_for =
                warp == HEDDLE_NO_WARP && (!ready || s->steady_until(few.s.state, &few.f.core) > few.f.core.cycle + 1)
                    ? roll(&seed, 40)
                    : 0;
            for (uint32_t i = 0; i < nothing_for; i++, slept++) {
                each.f.core.cycle++;
                begin_cycle(&each, ready);
                pick(&each, ready ? ready : 1);
            }
            few.f.core.cycle = ++each.f.core.cycle;
        }
        begin_cycle(&each, 0), begin_cycle(&few, 0);
        if (on(&few)->kernel_end)
            on(&few)->kernel_end(few.s.state, &few.f.core), on(&each)->kernel_end(each.s.state, &each.f.core);
        assert_memory_equal(few.s.counters, each.s.counters, sizeof each.s.counters);
        assert_true(slept > 1000);
        end(&each), end(&few);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpgpusim_example),
        cmocka_unit_test(sleep_is_made_up_for),
        cmocka_unit_test(sleep_changes_nothing),
        cmocka_unit_test(whole_group_is_the_inner_policy),
        cmocka_unit_test(group_of_one),
        cmocka_unit_test(barriers_and_ends_free_a_place),
        cmocka_unit_test(gebhart_lets_in_who_can_run),
        cmocka_unit_test(narasiman_groups),
        cmocka_unit_test(paws_shortest_distance_then_oldest),
        cmocka_unit_test(outer_level_sorts_at_promotions),
        cmocka_unit_test(phases_in_either_order),
        cmocka_unit_test(shortest_phase_is_promoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
