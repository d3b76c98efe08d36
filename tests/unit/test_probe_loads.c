/* Does `loads` count lanes, accesses, hits and misses of each load as its columns say? */
#include "probe_test.h"

extern const struct heddle_probe probe_loads;

static void check(const struct probed *p, uint32_t pc, const char *column, uint64_t expected)
{
    if (probed_cell(p, pc, column) != expected)
        fail_msg("pc %u, %s: %d, not %d", pc, column, (int)probed_cell(p, pc, column), (int)expected);
}

static void lanes_and_accesses(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_loads, NULL);
    probed_load(&p, 0, OUTER, 32, 2); /* converged: 2 at most */
    probed_load(&p, 1, OUTER, 3, 1);  /* converged: 3 lanes at least */
    probed_load(&p, 0, OUTER, 32, 3); /* diverged, not fully */
    probed_load(&p, 2, OUTER, 5, 5);  /* fully */
    probed_load(&p, 2, OUTER, 4, 8);  /* more than one per lane is not one per lane */
    probed_load(&p, 0, OUTER, 2, 2);  /* of 2 lanes: neither */
    probed_load(&p, 0, OUTER, 2, 4);
    probed_load(&p, 0, OUTER, 1, 1);
    check(&p, OUTER, "executions", 8);
    check(&p, OUTER, "lanes", 32 + 3 + 32 + 5 + 4 + 2 + 2 + 1);
    check(&p, OUTER, "accesses", 2 + 1 + 3 + 5 + 8 + 2 + 4 + 1);
    check(&p, OUTER, "converged", 2);
    check(&p, OUTER, "diverged", 3);
    check(&p, OUTER, "fully_diverged", 1);
    check(&p, OUTER, "most_lanes", 32);
    check(&p, OUTER, "most_accesses", 8);
    check(&p, OUTER, "in_loop", 1);
    probed_load(&p, 0, OUTSIDE, 4, 1);
    check(&p, OUTSIDE, "executions", 1);
    check(&p, OUTSIDE, "most_lanes", 4);
    check(&p, OUTSIDE, "in_loop", 0);
    check(&p, INNER, "executions", 0);
    probed_end(&p);
}

static void whose_line_it_was(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_loads, NULL);
    probed_access(&p, 2, INNER, 7, HEDDLE_MISS, -1, 3);
    probed_access(&p, 2, INNER, 7, HEDDLE_FAIL, -1, 3);
    probed_access(&p, 2, INNER, 7, HEDDLE_PENDING, 2, 2);
    probed_access(&p, 2, INNER, 7, HEDDLE_HIT, 2, 1);
    probed_access(&p, 3, INNER, 7, HEDDLE_HIT, 2, 0);
    check(&p, INNER, "misses", 2);
    check(&p, INNER, "intra_warp_hits", 1);
    check(&p, INNER, "inter_warp_hits", 1);
    struct heddle_l1_access e = probed_event(&p, 2, INNER, 7, HEDDLE_HIT, 2, 0);
    probed_launch(&p, 2); /* the line is of the warp that had the slot before */
    probed_tell(&p, &e);
    check(&p, INNER, "intra_warp_hits", 1);
    check(&p, INNER, "inter_warp_hits", 2);
    probed_store(&p, 2, 7);
    check(&p, OUTSIDE, "inter_warp_hits", 0);
    check(&p, OUTSIDE, "intra_warp_hits", 0);
    probed_end(&p);
}

static void touch(struct probed *p, uint32_t warp, uint64_t line, enum heddle_outcome outcome, uint32_t lanes)
{
    struct heddle_l1_access e = probed_event(p, warp, INNER, line, outcome, 2, 0);
    e.lanes = lanes;
    probed_tell(p, &e);
}

/* Warp 2 brings line 7: lanes 0 and 1 miss, lane 4 finds it on its way. */
static void whose_thread_it_was(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_loads, NULL);
    touch(&p, 2, 7, HEDDLE_MISS, 0x3);
    touch(&p, 3, 7, HEDDLE_PENDING, 0x100); /* another warp's lanes do not count */
    touch(&p, 2, 7, HEDDLE_PENDING, 0x10);
    check(&p, INNER, "misses", 3);
    touch(&p, 2, 7, HEDDLE_HIT, 0x6); /* lane 1 is one of them */
    touch(&p, 2, 7, HEDDLE_HIT, 0x10);
    touch(&p, 2, 7, HEDDLE_HIT, 0x4); /* a hit does not bring it */
    touch(&p, 2, 7, HEDDLE_HIT, 0x104);
    touch(&p, 3, 7, HEDDLE_HIT, 0x3);
    check(&p, INNER, "intra_warp_hits", 4);
    check(&p, INNER, "intra_thread_hits", 2);
    check(&p, INNER, "inter_thread_hits", 2);
    check(&p, INNER, "inter_warp_hits", 1);
    touch(&p, 2, 7, HEDDLE_MISS, 0x4); /* it had left */
    touch(&p, 2, 7, HEDDLE_HIT, 0x4);
    touch(&p, 2, 7, HEDDLE_HIT, 0x3);
    check(&p, INNER, "intra_thread_hits", 3);
    check(&p, INNER, "inter_thread_hits", 3);
    touch(&p, 2, 7, HEDDLE_HIT, 0);    /* lanes not known */
    touch(&p, 2, 55, HEDDLE_HIT, 0x4); /* another line in its way, whose arrival was not seen */
    check(&p, INNER, "intra_warp_hits", 8);
    check(&p, INNER, "intra_thread_hits", 3);
    check(&p, INNER, "inter_thread_hits", 3);
    probed_end(&p);
}

static void only_loads_through_the_l1d(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_loads, NULL);
    struct heddle_coalesced e = {.warp = 1, .pc = OUTER, .active = 0xff, .accesses = 8, .through_l1 = true};
    e.store = true;
    probed_on(&p)->coalesced(p.state, &p.core, &e);
    e.store = e.through_l1 = false;
    probed_on(&p)->coalesced(p.state, &p.core, &e);
    check(&p, OUTER, "executions", 0);
    e.through_l1 = true;
    probed_on(&p)->coalesced(p.state, &p.core, &e);
    check(&p, OUTER, "executions", 1);
    probed_end(&p);
}

/* The next launch has a table of its own. */
static void the_table_may_move(void **state)
{
    (void)state;
    struct probed p;
    static uint64_t other[PROBE_PCS * PROBE_COLUMNS];
    probed_start(&p, &probe_loads, NULL);
    p.table = other;
    probed_load(&p, 0, OUTER, 32, 2);
    assert_int_equal(probed_cell(&p, OUTER, "executions"), 0);
    memcpy(p.rows, other, sizeof other);
    assert_int_equal(probed_cell(&p, OUTER, "executions"), 1);
    probed_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_and_accesses),  cmocka_unit_test(whose_line_it_was),
        cmocka_unit_test(whose_thread_it_was), cmocka_unit_test(only_loads_through_the_l1d),
        cmocka_unit_test(the_table_may_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
