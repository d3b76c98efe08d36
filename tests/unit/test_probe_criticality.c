/* Does `criticality` judge the samples of the warp that ended last, and of no other; and does it keep the criticality
 * that it judges, unless somebody else does? As long as nothing commits, a warp's criticality is its stall cycles. */
#include "probe_test.h"

extern const struct heddle_probe probe_criticality;

enum { BRANCH, STALL, BEGIN, PERIOD, LAUNCH, BLOCK, WARPS, PARAMS };

static void start(struct probed *p, int64_t period, int64_t launch, int64_t block, int64_t warps)
{
    const union heddle_value values[PARAMS] = {[PERIOD] = {.integer = period},
                                               [LAUNCH] = {.integer = launch},
                                               [BLOCK] = {.integer = block},
                                               [WARPS] = {.integer = warps}};
    assert_true(probed_try(p, &probe_criticality, values, PROBE_LINE));
    probed_on(p)->kernel(p->state, &p->core);
}

static void issue_at(struct probed *p, uint64_t cycle, uint32_t warp, uint32_t pc)
{
    probed_cycle(p, cycle);
    probed_issue(p, warp, pc, UINT32_MAX);
}

static void end_at(struct probed *p, uint64_t cycle, uint32_t warp)
{
    probed_cycle(p, cycle);
    probed_ends(p, warp);
}

static void check(const struct probed *p, unsigned samples, unsigned accurate, unsigned whole, unsigned accurate_whole)
{
    assert_int_equal(probed_count(p, "samples"), samples);
    assert_int_equal(probed_count(p, "accurate"), accurate);
    assert_int_equal(probed_count(p, "samples_whole"), whole);
    assert_int_equal(probed_count(p, "accurate_whole"), accurate_whole);
}

/* Stall cycles of the three warps:    at 10     at 20    at 30    at 40
 *   warp 0                            0         12       12       ended
 *   warp 1, the slowest               3         3        3        3
 *   warp 2                            6         6        ended    ended
 *   rank of warp 1                    1         0        1        2        */
static void the_slowest_warp(void **state)
{
    (void)state;
    struct probed p;
    start(&p, 10, -1, -1, -1);
    probed_place(&p, 3, 0, 8, 3);
    for (uint32_t w = 8; w < 11; w++)
        issue_at(&p, 1, w, 0);
    issue_at(&p, 2, 8, 1);
    issue_at(&p, 5, 9, 1);
    issue_at(&p, 8, 10, 1);
    issue_at(&p, 15, 8, 2); /* the sample of cycle 10 is taken first */
    end_at(&p, 21, 10);
    end_at(&p, 31, 8);
    check(&p, 0, 0, 0, 0);
    end_at(&p, 45, 9);
    check(&p, 4, 2, 2, 1);
    assert_int_equal(probed_count(&p, "blocks"), 1);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(probed_bucket(&p, "rank", i), i == 0 || i == 50 ? 1 : i == 75 ? 2 : 0);
        assert_int_equal(probed_bucket(&p, "rank_samples", i), i % 25 == 0);
    }
    probed_end(&p);
}

static void a_warp_alone_is_slow(void **state)
{
    (void)state;
    struct probed p;
    start(&p, 10, -1, -1, -1);
    probed_place(&p, 0, 0, 0, 1);
    probed_place(&p, 1, 1, 1, 1);
    end_at(&p, 100, 0);
    check(&p, 10, 10, 10, 10);
    end_at(&p, 109, 1);
    check(&p, 20, 20, 20, 20);
    probed_end(&p);
}

/* Samples that are due while the core sleeps count for blocks that were there. */
static void a_core_that_sleeps(void **state)
{
    (void)state;
    struct probed p;
    start(&p, 10, -1, -1, -1);
    probed_place(&p, 0, 0, 0, 1);
    p.core.cycle = 25;
    probed_place(&p, 1, 1, 1, 1);
    probed_cycle(&p, 45);
    probed_ends(&p, 0);
    check(&p, 4, 4, 4, 4);
    probed_ends(&p, 1);
    check(&p, 6, 6, 6, 6);
    probed_end(&p);
}

/* More samples than there are cells, and the rank of the slowest warp changes half way. */
static void long_lives(void **state)
{
    (void)state;
    enum { HALF = 1536, ALL = 2 * HALF - 3 };
    struct probed p;
    start(&p, 1, -1, -1, -1);
    probed_place(&p, 0, 0, 0, 2); /* of equals the younger comes last */
    for (uint64_t t = 1; t <= HALF; t++)
        probed_cycle(&p, t);
    probed_issue(&p, 1, 0, UINT32_MAX);
    issue_at(&p, HALF + 3, 1, 1); /* it has stalled: from the next sample on it comes first */
    for (uint64_t t = HALF + 4; t <= ALL; t++)
        probed_cycle(&p, t);
    probed_ends(&p, 0);
    probed_ends(&p, 1);
    uint64_t ranks = 0, samples = 0;
    for (uint32_t i = 0; i < 100; i++) {
        uint64_t rank = probed_bucket(&p, "rank", i), in_bucket = probed_bucket(&p, "rank_samples", i);
        ranks += rank;
        samples += in_bucket;
        assert_true(in_bucket == 24 || in_bucket == 32 || i == 99); /* 3 or 4 cells of 8 */
        assert_true(i < 50 ? rank == 0 : i > 50 ? rank == in_bucket : rank <= in_bucket);
    }
    assert_int_equal(samples, ALL);
    assert_int_equal(ranks, ALL - HALF - 3);
    check(&p, ALL, ALL - HALF - 3, ALL, ALL - HALF - 3);
    probed_end(&p);
}

static void chosen_blocks(void **state)
{
    (void)state;
    static const struct {
        int64_t launch, block, warps;
        unsigned blocks;
    } rows[] = {{-1, -1, -1, 4}, {0, -1, -1, 2}, {1, -1, -1, 2}, {2, -1, -1, 0}, {-1, 7, -1, 2}, {-1, 8, -1, 2},
                {-1, 9, -1, 0},  {1, 7, -1, 1},  {-1, -1, 2, 2}, {-1, -1, 3, 2}, {0, 8, 2, 0},   {0, 8, 3, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct probed p;
        start(&p, 1, rows[i].launch, rows[i].block, rows[i].warps);
        for (p.core.kernel = 0; p.core.kernel < 2; p.core.kernel++) {
            probed_on(&p)->kernel(p.state, &p.core);
            probed_place(&p, 0, 7, 0, 2);
            probed_place(&p, 1, 8, 2, 3);
            probed_cycle(&p, p.core.cycle + 5);
            for (uint32_t w = 0; w < 5; w++)
                probed_ends(&p, w);
        }
        assert_int_equal(probed_count(&p, "blocks"), rows[i].blocks);
        assert_int_equal(probed_count(&p, "samples"), rows[i].blocks * 5);
        probed_end(&p);
    }
}

/* Commits and branches reach the predictor: a warp that has committed less, or that goes back, is more critical. Of
 * equals the older one is. */
static void what_the_predictor_hears(void **state)
{
    (void)state;
    enum { NOTHING, COMMIT, BACK };
    for (int what = NOTHING; what <= BACK; what++) {
        struct probed p;
        start(&p, 10, -1, -1, -1);
        probed_place(&p, 0, 0, 0, 2);
        for (uint32_t w = 0; w < 2; w++) {
            issue_at(&p, 1, w, 8);
            probed_on(&p)->committed(p.state, &p.core, w, 8);
            if (what != BACK || w == 1)
                probed_on(&p)->branch(
                    p.state, &p.core,
                    &(struct heddle_branch){
                        .warp = w, .pc = 8, .taken = UINT32_MAX, .target = 4, .fall_through = 9, .reconvergence = 9});
        }
        if (what == COMMIT)
            probed_on(&p)->committed(p.state, &p.core, 0, 8);
        end_at(&p, 15, 0);
        end_at(&p, 15, 1);
        check(&p, 1, what != NOTHING, 1, what != NOTHING);
        probed_end(&p);
    }
}

/* The criticality of whoever came first counts: the second is not told of any issue. */
static void another_keeps_it(void **state)
{
    (void)state;
    struct probed p;
    uint64_t counters[PROBE_COUNTERS] = {0};
    start(&p, 10, -1, -1, -1);
    const union heddle_value values[PARAMS] = {
        [PERIOD] = {.integer = 10}, [LAUNCH] = {.integer = -1}, [BLOCK] = {.integer = -1}, [WARPS] = {.integer = -1}};
    struct heddle_setup setup = {.core = &p.core, .values = values, .counters = counters, .histograms = p.histograms};
    struct probed second = p;
    second.state = calloc(1, probe_criticality.policy.state_bytes);
    assert_true(probe_criticality.policy.init(second.state, &setup));
    probed_on(&second)->kernel(second.state, &p.core);
    probed_place(&p, 0, 0, 0, 2);
    probed_on(&p)->launched(second.state, &p.core, 0);
    probed_on(&p)->launched(second.state, &p.core, 1);
    issue_at(&p, 1, 1, 0);
    issue_at(&p, 5, 1, 1);
    probed_on(&p)->issued(second.state, &p.core, /* is no news */
                          &(struct heddle_issue){.warp = 1, .pc = 9, .instruction = &p.code[9]});
    probed_cycle(&p, 10);
    probed_on(&p)->cycles(second.state, &p.core, 5);
    probed_on(&p)->ended(second.state, &p.core, 0);
    probed_on(&p)->ended(second.state, &p.core, 1);
    assert_int_equal(counters[probed_counter(&p, "samples")], 1);
    assert_int_equal(counters[probed_counter(&p, "accurate")], 1);
    probed_end(&second);
    probed_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slowest_warp),   cmocka_unit_test(a_warp_alone_is_slow),
        cmocka_unit_test(a_core_that_sleeps), cmocka_unit_test(long_lives),
        cmocka_unit_test(chosen_blocks),      cmocka_unit_test(what_the_predictor_hears),
        cmocka_unit_test(another_keeps_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
