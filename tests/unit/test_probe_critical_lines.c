/* Does `critical-lines` tell critical warps from others, what becomes of lines, and how far back a line was used?
 * In these tests warp 0 is critical and warp 1 is not, unless said otherwise. */
#include "probe_test.h"

#include "heddle/criticality.h"

extern const struct heddle_probe probe_critical_lines;

enum { BRANCH, STALL, BEGIN, CRITICAL, DEPTH, PARAMS };
enum { CRIT, OTHER };

/* Without commits, criticality is the stall cycles. */
static void stall(struct probed *p, uint32_t warp, uint32_t cycles)
{
    p->core.cycle = 100;
    probed_issue(p, warp, 0, UINT32_MAX);
    p->core.cycle = 101 + cycles;
    probed_issue(p, warp, 1, UINT32_MAX);
}

static void start(struct probed *p, int64_t critical, int64_t depth)
{
    const union heddle_value values[PARAMS] = {[CRITICAL] = {.integer = critical}, [DEPTH] = {.integer = depth}};
    assert_true(probed_try(p, &probe_critical_lines, values, PROBE_LINE));
    probed_on(p)->kernel(p->state, &p->core);
}

static void start_two(struct probed *p, int64_t depth)
{
    start(p, HEDDLE_CRITICAL_BLOCK_HALF, depth);
    probed_place(p, 0, 0, 0, 2);
    stall(p, CRIT, 10);
}

/* Loads with one access. */
static void miss(struct probed *p, uint32_t warp, uint64_t line)
{
    probed_access(p, warp, 5, line, HEDDLE_MISS, -1, 0);
}

static void hit(struct probed *p, uint32_t warp, uint64_t line) { probed_access(p, warp, 6, line, HEDDLE_HIT, 1, 0); }

static void expect(const struct probed *p, const char *name, uint64_t expected)
{
    if (probed_count(p, name) != expected)
        fail_msg("%s: %d, not %d", name, (int)probed_count(p, name), (int)expected);
}

static void hits(void **state)
{
    (void)state;
    struct probed p;
    start_two(&p, 16);
    miss(&p, CRIT, 1);
    probed_access(&p, CRIT, 5, 1, HEDDLE_FAIL, -1, 0);
    for (int i = 0; i < 3; i++)
        hit(&p, CRIT, 1);
    probed_access(&p, CRIT, 5, 1, HEDDLE_PENDING, 0, 0);
    for (int i = 0; i < 5; i++)
        hit(&p, OTHER, 1);
    probed_access(&p, OTHER, 5, 1, HEDDLE_PENDING, 0, 0);
    probed_access(&p, OTHER, 5, 1, HEDDLE_PENDING, 0, 0);
    probed_store(&p, CRIT, 1);
    probed_store(&p, OTHER, 1);
    expect(&p, "critical_accesses", 5);
    expect(&p, "critical_hits", 3);
    expect(&p, "critical_pending", 1);
    expect(&p, "other_accesses", 7);
    expect(&p, "other_hits", 5);
    expect(&p, "other_pending", 2);
    stall(&p, OTHER, 50); /* and now it is the other way round */
    hit(&p, OTHER, 1);
    expect(&p, "critical_hits", 4);
    probed_end(&p);
}

/* Stall cycles 0, 4, 5 and 6, and a block with 40: who is critical? */
static void which_warps(void **state)
{
    (void)state;
    static const struct {
        enum heddle_critical which;
        bool critical[5];
    } rows[] = {
        {HEDDLE_CRITICAL_BLOCK_HALF, {0, 0, 1, 1, 1}},
        {HEDDLE_CRITICAL_SM_RANGE, {0, 0, 0, 0, 1}},
        {HEDDLE_CRITICAL_TOP, {0, 0, 0, 1, 1}},
    };
    static const uint32_t stalls[5] = {0, 4, 5, 6, 40};
    for (size_t i = 0; i < 3; i++) {
        struct probed p;
        start(&p, rows[i].which, 16);
        probed_place(&p, 0, 0, 0, 4);
        probed_place(&p, 1, 1, 4, 1);
        for (uint32_t w = 0; w < 5; w++)
            stall(&p, w, stalls[w]);
        for (uint32_t w = 0; w < 5; w++) {
            uint64_t before = probed_count(&p, "critical_accesses");
            miss(&p, w, w);
            assert_int_equal(probed_count(&p, "critical_accesses") - before, rows[i].critical[w]);
        }
        probed_end(&p);
    }
}

static void what_becomes_of_lines(void **state)
{
    (void)state;
    static const struct {
        uint32_t by;
        int32_t then[2]; /* -1: nobody */
        const char *evicted, *column, *critical_column;
    } rows[] = {
        {CRIT, {-1, -1}, "evicted_no_reuse", "no_reuse", "critical_no_reuse"},
        {CRIT, {CRIT, -1}, "evicted_critical_reuse", "critical_reuse", NULL},
        {CRIT, {OTHER, -1}, "evicted_other_reuse", "other_reuse", "critical_other_reuse"},
        {CRIT, {OTHER, CRIT}, "evicted_critical_reuse", "critical_reuse", NULL},
        {OTHER, {-1, -1}, "other_lines_evicted", "no_reuse", NULL},
        {OTHER, {OTHER, -1}, "other_lines_evicted", "other_reuse", NULL},
        {OTHER, {CRIT, OTHER}, "evicted_critical_reuse", "critical_reuse", NULL},
    };
    static const char *const columns[] = {"no_reuse", "critical_reuse", "other_reuse", "critical_no_reuse",
                                          "critical_other_reuse"};
    static const char *const counters[] = {
        "evicted_no_reuse", "evicted_critical_reuse", "evicted_other_reuse", "other_lines_evicted", "dropped", "left"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct probed p;
        start_two(&p, 16);
        miss(&p, rows[i].by, 9);
        for (int k = 0; k < 2; k++)
            if (rows[i].then[k] >= 0)
                hit(&p, (uint32_t)rows[i].then[k], 9);
        probed_evict(&p, 0, 9);
        probed_on(&p)->kernel_end(p.state, &p.core);
        for (size_t k = 0; k < 6; k++)
            expect(&p, counters[k], !strcmp(counters[k], rows[i].evicted));
        for (size_t k = 0; k < 5; k++)
            assert_int_equal(probed_cell(&p, 5, columns[k]),
                             !strcmp(columns[k], rows[i].column) ||
                                 (rows[i].critical_column && !strcmp(columns[k], rows[i].critical_column)));
        assert_int_equal(probed_cell(&p, 6, "no_reuse") + probed_cell(&p, 6, "other_reuse"), 0);
        probed_end(&p);
    }
}

/* A line on its way is reused by those who wait for it; the accesses of one execution are one use. */
static void one_use(void **state)
{
    (void)state;
    struct probed p;
    start_two(&p, 16);
    probed_access(&p, CRIT, 5, 2, HEDDLE_MISS, -1, 1);
    probed_access(&p, CRIT, 5, 2, HEDDLE_PENDING, 0, 0);
    probed_evict(&p, 0, 2);
    expect(&p, "evicted_no_reuse", 1);
    expect(&p, "first_uses", 1);
    expect(&p, "rereferences", 0);
    miss(&p, CRIT, 3);
    probed_access(&p, CRIT, 5, 3, HEDDLE_PENDING, 0, 0);
    probed_evict(&p, 0, 3);
    expect(&p, "evicted_critical_reuse", 1);
    expect(&p, "rereferences", 1);
    probed_end(&p);
}

static void lines_that_stores_drop(void **state)
{
    (void)state;
    struct probed p;
    start_two(&p, 16);
    miss(&p, CRIT, 4);
    probed_store(&p, CRIT, 4);
    struct heddle_l1_access e = probed_event(&p, CRIT, 5, 4, HEDDLE_MISS, -1, 0);
    e.way = 3; /* it was in way 1 */
    probed_tell(&p, &e);
    expect(&p, "dropped", 1);
    expect(&p, "rereferences", 1);
    expect(&p, "rereferences_missed", 1);
    expect(&p, "rereferences_evicted", 0);
    miss(&p, OTHER, 8);
    miss(&p, OTHER, 8 + PROBE_SETS * PROBE_WAYS); /* the same way, and no eviction was told */
    expect(&p, "dropped", 1);
    assert_int_equal(probed_cell(&p, 5, "no_reuse"), 2);
    e = probed_event(&p, CRIT, 5, 4, HEDDLE_MISS, -1, 0);
    e.way = UINT32_MAX; /* it is gone again, and now bypassed */
    probed_tell(&p, &e);
    expect(&p, "dropped", 2);
    expect(&p, "rereferences_missed", 2);
    probed_on(&p)->kernel_end(p.state, &p.core);
    expect(&p, "left", 0);
    assert_int_equal(probed_cell(&p, 5, "no_reuse"), 4);
    assert_int_equal(probed_cell(&p, 5, "critical_no_reuse"), 2);
    probed_on(&p)->kernel(p.state, &p.core);
    miss(&p, CRIT, 4);
    probed_store(&p, CRIT, 4);
    miss(&p, CRIT, 4); /* into the same way */
    expect(&p, "dropped", 3);
    probed_evict(&p, 0, 4 + PROBE_SETS * PROBE_WAYS); /* a line that the probe has not seen had taken the way */
    expect(&p, "dropped", 4);
    expect(&p, "evicted_no_reuse", 0);
    expect(&p, "other_lines_evicted", 0);
    probed_end(&p);
}

/* What is there at the end is counted for its load, and as left if critical; the next launch knows nothing of it. */
static void left_at_the_end(void **state)
{
    (void)state;
    struct probed p;
    start_two(&p, 16);
    miss(&p, CRIT, 1);
    miss(&p, OTHER, 2);
    probed_on(&p)->kernel_end(p.state, &p.core);
    expect(&p, "left", 1);
    assert_int_equal(probed_cell(&p, 5, "no_reuse"), 2);
    probed_on(&p)->kernel(p.state, &p.core);
    hit(&p, CRIT, 1); /* whoever brought it */
    expect(&p, "rereferences", 0);
    probed_evict(&p, 0, 1);
    expect(&p, "evicted_critical_reuse", 1);
    assert_int_equal(probed_cell(&p, 5, "critical_reuse"), 0);
    probed_end(&p);
}

static uint64_t in_set(uint64_t n) { return n * PROBE_SETS; }

static void distances(void **state)
{
    (void)state;
    static const struct {
        uint32_t others, bucket;
    } rows[] = {{0, 0}, {1, 1}, {2, 2}, {3, 2}, {4, 3}, {7, 3}, {8, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int evicted = 0; evicted < 2; evicted++) {
            struct probed p;
            start_two(&p, 16);
            miss(&p, CRIT, in_set(0));
            for (uint32_t k = 1; k <= rows[i].others; k++)
                miss(&p, OTHER, in_set(k)), hit(&p, OTHER, in_set(k)), miss(&p, OTHER, 1 + in_set(k));
            if (evicted)
                probed_evict(&p, 0, in_set(0)), miss(&p, CRIT, in_set(0));
            else
                hit(&p, CRIT, in_set(0));
            expect(&p, "first_uses", 1);
            expect(&p, "rereferences", 1);
            expect(&p, "rereferences_evicted", (uint64_t)evicted);
            expect(&p, "rereferences_missed", (uint64_t)evicted);
            for (uint32_t b = 0; b < 11; b++) {
                assert_int_equal(probed_bucket(&p, "distance", b), b == rows[i].bucket);
                assert_int_equal(probed_bucket(&p, "distance_evicted", b), evicted && b == rows[i].bucket);
            }
            hit(&p, CRIT, in_set(0)); /* since the last use nothing was evicted */
            expect(&p, "rereferences_evicted", (uint64_t)evicted);
            probed_end(&p);
        }
}

static void who_rereferences(void **state)
{
    (void)state;
    struct probed p;
    start_two(&p, 4);
    miss(&p, OTHER, 0);
    hit(&p, CRIT, 0); /* the first critical use */
    hit(&p, OTHER, 0);
    expect(&p, "first_uses", 1);
    expect(&p, "rereferences", 0);
    probed_evict(&p, 0, 0);
    miss(&p, OTHER, 0); /* another brings it back: it had been evicted, and yet it hits */
    hit(&p, CRIT, 0);
    expect(&p, "rereferences", 1);
    expect(&p, "rereferences_evicted", 1);
    expect(&p, "rereferences_missed", 0);
    for (uint64_t k = 1; k <= 3; k++)
        miss(&p, OTHER, in_set(k));
    hit(&p, CRIT, 0); /* the fourth line of those that are remembered */
    expect(&p, "rereferences", 2);
    for (uint64_t k = 4; k <= 7; k++)
        miss(&p, OTHER, in_set(k));
    hit(&p, CRIT, 0);
    expect(&p, "rereferences", 2);
    expect(&p, "first_uses", 2);
    for (uint64_t k = 1; k <= 5; k++)
        miss(&p, CRIT, 1 + in_set(k));
    miss(&p, CRIT, 1 + in_set(2)); /* the oldest of four */
    expect(&p, "rereferences", 3);
    probed_end(&p);
}

static void needs_a_cache(void **state)
{
    (void)state;
    struct probed p;
    const union heddle_value values[PARAMS] = {[DEPTH] = {.integer = 4}};
    assert_false(probed_try(&p, &probe_critical_lines, values, 0));
    assert_string_equal(p.why, "it needs an L1 data cache");
    probed_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits),
        cmocka_unit_test(which_warps),
        cmocka_unit_test(one_use),
        cmocka_unit_test(what_becomes_of_lines),
        cmocka_unit_test(left_at_the_end),
        cmocka_unit_test(lines_that_stores_drop),
        cmocka_unit_test(distances),
        cmocka_unit_test(who_rereferences),
        cmocka_unit_test(needs_a_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
