/* Does CAPRI's table say where to wait as its rule has it: adequate where a warp parts until known otherwise, one bit
 * of the last outcome per branch, 32 branches of which the least recently used is forgotten, learned also at branches
 * that are passed by?
 *
 * Every execution of a branch is one by a new block of two warps. A warp that parks has been told to wait. */
#include "block_stack_test.h"

enum { LANES = 0x7, MEET = 1000000 };

/* Counters of the unit, after those of the block's stack. */
enum { WAITS = HEDDLE_BLOCK_STACK_COUNTERS, IN_VAIN, PASSED, RIGHT, WRONG };

/* Lanes of the two warps that take the branch, of lanes 0 to 2. */
struct pattern {
    const char *name;
    uint32_t taken[2];
    bool adequate;
};

static const struct pattern shrinks = {"both sides", {0x1, 0x6}, true}; /* {1, 6}: one warp; {6, 1}: one warp */
static const struct pattern stays = {"neither side", {0x1, 0x1}, false};
static const struct pattern patterns[] = {
    {"the taken side alone", {0x1, 0x2}, true}, /* not taken: lanes 1 2 and 0 2, both need lane 2 */
    {"the other side alone", {0x6, 0x5}, true}, /* the same, the other way round */
    {"both sides", {0x1, 0x6}, true},
    {"neither side", {0x1, 0x1}, false},
    {"neither side of many", {0x3, 0x3}, false},
    {"one warp alone diverges", {0x1, 0x0}, false}, /* taken: one of one; not taken: two of two */
};
static const struct pattern agreed[] = {
    {"warps that agree, each with itself", {0x7, 0x0}, false},
    {"all take it", {0x7, 0x7}, false},
    {"none takes it", {0x0, 0x0}, false},
};

static void start(struct gate *g, const char *spec)
{
    static const uint32_t lanes[2] = {LANES, LANES};
    gate_open(g, spec, lanes, 2);
}

static bool waits_at(struct gate *g, uint32_t warp, uint32_t pc, uint32_t taken, bool apart)
{
    const struct heddle_branch e = {.warp = warp,
                                    .pc = pc,
                                    .taken = taken,
                                    .not_taken = LANES & ~taken,
                                    .target = MEET - 1,
                                    .fall_through = pc + 1,
                                    .reconvergence = MEET,
                                    .apart = apart};
    const struct heddle_piece piece = {warp % 2, LANES}; /* blocks of two warps */
    return g->hooks->split(g->unit.state, &g->f.core, &e, &piece, &taken, 1) == HEDDLE_PARK;
}

/* A new block executes the branch. Returns whether its warps were told to wait there, which both are, or neither. */
static bool execute(struct gate *g, uint32_t pc, const struct pattern *p)
{
    static const uint32_t lanes[2] = {LANES, LANES};
    g->f.core.cycle += 100;
    g->count = g->checked = 0;
    g->hooks->block_start(g->unit.state, &g->f.core, 0, 0, 2, lanes);
    bool first = waits_at(g, 0, pc, p->taken[0], false);
    bool second = waits_at(g, 1, pc, p->taken[1], false);
    assert_int_equal(first, second);
    g->checked = g->count;
    return first;
}

static void unknown_branches_are_adequate(void **state)
{
    static struct gate g;
    (void)state;
    start(&g, "capri");
    for (uint32_t pc = 0; pc < 100; pc++)
        assert_true(execute(&g, pc, &stays));
    assert_int_equal(g.unit.counters[WAITS], 200);
    assert_int_equal(g.unit.counters[WRONG], 100);
    gate_close(&g);
}

static void adequate_where_a_side_shrinks(void **state)
{
    static struct gate g;
    (void)state;
    start(&g, "capri");
    for (uint32_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        execute(&g, i, &patterns[i]);
        if (execute(&g, i, &stays) != patterns[i].adequate)
            fail_msg("%s: %s", patterns[i].name, patterns[i].adequate ? "passed by" : "waited at");
    }
    gate_close(&g);
}

/* One bit: the last outcome is what counts, however many there were of the other before. */
static void the_last_outcome_counts(void **state)
{
    static struct gate g;
    (void)state;
    start(&g, "capri");
    for (int i = 0; i < 5; i++)
        assert_true(execute(&g, 7, &shrinks));
    assert_true(execute(&g, 7, &stays));
    for (int i = 0; i < 5; i++)
        assert_false(execute(&g, 7, &stays));
    assert_false(execute(&g, 7, &shrinks)); /* passed by, and learned from all the same */
    assert_true(execute(&g, 7, &stays));
    assert_false(execute(&g, 7, &stays));
    assert_int_equal(g.unit.counters[RIGHT], 5 + 5 + 1);
    assert_int_equal(g.unit.counters[WRONG], 1 + 1 + 1);
    assert_int_equal(g.unit.counters[WAITS], 2 * 7);
    assert_int_equal(g.unit.counters[PASSED], 2 * 7);
    assert_int_equal(g.unit.counters[IN_VAIN], 0);
    gate_close(&g);
}

/* A branch that is passed by is learned from when the last warp of the block has come, not before. */
static void learned_when_all_have_come(void **state)
{
    static struct gate g;
    static const uint32_t lanes[2] = {LANES, LANES};
    (void)state;
    start(&g, "capri");
    execute(&g, 7, &stays);
    g.hooks->block_start(g.unit.state, &g.f.core, 0, 0, 2, lanes);
    assert_false(waits_at(&g, 1, 7, shrinks.taken[1], false));
    assert_int_equal(g.unit.counters[RIGHT] + g.unit.counters[WRONG], 1);
    assert_false(waits_at(&g, 0, 7, shrinks.taken[0], false));
    assert_int_equal(g.unit.counters[RIGHT] + g.unit.counters[WRONG], 2);
    assert_true(execute(&g, 7, &stays));
    gate_close(&g);
}

/* Branches far apart, and as many as the table has: all are remembered. */
static void any_branches_fit(void **state)
{
    static struct gate g;
    static const uint32_t steps[] = {1, 32, 64, 4096};
    (void)state;
    for (size_t n = 0; n < sizeof steps / sizeof *steps; n++) {
        start(&g, "capri");
        for (uint32_t i = 0; i < 32; i++)
            assert_true(execute(&g, i * steps[n], &stays));
        for (uint32_t i = 0; i < 32; i++)
            assert_false(execute(&g, i * steps[n], &stays));
        gate_close(&g);
    }
}

/* One more than fits: the least recently used gives way and is unknown again. */
static void the_least_recent_is_forgotten(void **state)
{
    static struct gate g;
    static const char *const specs[] = {"capri", "capri:entries=3"};
    (void)state;
    for (int n = 0; n < 2; n++) {
        uint32_t entries = n ? 3 : 32;
        start(&g, specs[n]);
        for (uint32_t pc = 0; pc < entries; pc++)
            assert_true(execute(&g, pc, &stays));
        assert_false(execute(&g, 0, &stays)); /* used again: the oldest is 1 now */
        assert_true(execute(&g, 500, &stays));
        assert_false(execute(&g, 0, &stays));
        for (uint32_t pc = 2; pc < entries; pc++)
            assert_false(execute(&g, pc, &stays));
        assert_false(execute(&g, 500, &stays));
        assert_true(execute(&g, 1, &shrinks)); /* forgotten; it takes the place of 0 */
        assert_true(execute(&g, 1, &shrinks));
        for (uint32_t pc = 2; pc < entries; pc++)
            assert_false(execute(&g, pc, &stays));
        assert_true(execute(&g, 0, &stays));
        gate_close(&g);
    }
}

/* A look is a use too, before anything is learned. */
static void a_look_is_a_use(void **state)
{
    static struct gate g;
    static const uint32_t lanes[2] = {LANES, LANES};
    (void)state;
    start(&g, "capri:entries=2");
    assert_true(execute(&g, 0, &stays));
    assert_true(execute(&g, 1, &stays));
    g.hooks->block_start(g.unit.state, &g.f.core, 0, 0, 2, lanes);
    assert_false(waits_at(&g, 0, 0, stays.taken[0], false)); /* the other warp does not come */
    assert_true(execute(&g, 2, &stays));                     /* in the place of 1 */
    assert_false(execute(&g, 0, &stays));
    assert_true(execute(&g, 1, &stays));
    gate_close(&g);
}

/* A branch at which no warp parts is never waited at, and not entered: where one parts at last, it is unknown. */
static void agreed_branches_do_not_stall(void **state)
{
    static struct gate g;
    (void)state;
    for (size_t n = 0; n < sizeof agreed / sizeof *agreed; n++) {
        start(&g, "capri");
        for (int i = 0; i < 20; i++)
            assert_false(execute(&g, 7, &agreed[n]));
        assert_int_equal(g.unit.counters[WAITS], 0);
        assert_int_equal(g.unit.counters[PASSED], 40);
        assert_int_equal(g.unit.counters[RIGHT], 20);
        assert_int_equal(g.unit.counters[HEDDLE_COUNT_PATHS], 0);
        assert_true(execute(&g, 7, &shrinks));
        assert_true(execute(&g, 7, &agreed[n])); /* known to pay: waited at, in vain */
        assert_false(execute(&g, 7, &shrinks));
        gate_close(&g);
    }
}

/* The first warp of a path decides, though another block teaches the table otherwise before the second comes. */
static void the_first_warp_decides(void **state)
{
    static struct gate g;
    static const uint32_t lanes[2] = {LANES, LANES};
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        start(&g, "capri");
        execute(&g, 7, waits ? &shrinks : &stays);
        g.hooks->block_start(g.unit.state, &g.f.core, 0, 0, 2, lanes);
        g.hooks->block_start(g.unit.state, &g.f.core, 1, 2, 2, lanes);
        const struct pattern *other = waits ? &stays : &shrinks;
        assert_int_equal(waits_at(&g, 0, 7, 0x1, false), waits);
        assert_int_equal(waits_at(&g, 2, 7, other->taken[0], false), waits);
        assert_int_equal(waits_at(&g, 3, 7, other->taken[1], false), waits); /* now the table says the opposite */
        assert_int_equal(waits_at(&g, 1, 7, 0x1, false), waits);
        g.checked = g.count;
        gate_close(&g);
    }
}

/* A warp that has parted at 7 comes to 8 in parts, if at all: the other does not wait for it there. At 6 it would, and
 * at 8 again once both have been seen with their lanes together. */
static void nobody_waits_for_one_that_is_apart(void **state)
{
    static struct gate g;
    static const uint32_t lanes[2] = {LANES, LANES};
    (void)state;
    for (uint32_t pc = 6; pc <= 8; pc += 2) {
        start(&g, "capri");
        execute(&g, 7, &stays);
        g.hooks->block_start(g.unit.state, &g.f.core, 0, 0, 2, lanes);
        assert_false(waits_at(&g, 0, 7, 0x1, false));
        assert_false(waits_at(&g, 0, 8, 0x1, true));
        assert_int_equal(waits_at(&g, 1, pc, 0x1, false), pc == 6);
        g.checked = g.count;
        gate_close(&g);
    }
    start(&g, "capri");
    execute(&g, 7, &stays);
    g.hooks->block_start(g.unit.state, &g.f.core, 0, 0, 2, lanes);
    assert_false(waits_at(&g, 0, 7, 0x1, false));
    assert_true(waits_at(&g, 0, 20, 0x1, false));
    assert_true(waits_at(&g, 1, 8, 0x1, false));
    g.checked = g.count;
    gate_close(&g);
}

/* Nor is a warp whose lanes are apart already, whatever the table says; such branches teach nothing. */
static void lanes_apart_do_not_wait(void **state)
{
    static struct gate g;
    (void)state;
    start(&g, "capri");
    for (uint32_t warp = 0; warp < 2; warp++)
        assert_false(waits_at(&g, warp, 7, stays.taken[warp], true));
    assert_int_equal(g.unit.counters[RIGHT] + g.unit.counters[WRONG], 0);
    assert_true(execute(&g, 7, &stays));
    gate_close(&g);
}

/* Other branches have the same numbers. */
static void a_launch_begins_anew(void **state)
{
    static struct gate g;
    (void)state;
    start(&g, "capri");
    assert_true(execute(&g, 7, &stays));
    assert_false(execute(&g, 7, &stays));
    g.hooks->policy.on.kernel(g.unit.state, &g.f.core);
    assert_true(execute(&g, 7, &stays));
    gate_close(&g);
}

/* Whether compaction pays depends on the lanes that threads sit in: aligned threads do, permuted. */
static void adequate_in_permuted_lanes(void **state)
{
    static struct gate g;
    (void)state;
    start(&g, "capri:permutation=odd-even");
    assert_true(execute(&g, 7, &stays)); /* lanes 0 and 0 become 0 and 1 */
    assert_true(execute(&g, 7, &stays));
    gate_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_branches_are_adequate),
        cmocka_unit_test(adequate_where_a_side_shrinks),
        cmocka_unit_test(the_last_outcome_counts),
        cmocka_unit_test(learned_when_all_have_come),
        cmocka_unit_test(any_branches_fit),
        cmocka_unit_test(the_least_recent_is_forgotten),
        cmocka_unit_test(agreed_branches_do_not_stall),
        cmocka_unit_test(lanes_apart_do_not_wait),
        cmocka_unit_test(a_launch_begins_anew),
        cmocka_unit_test(adequate_in_permuted_lanes),
        cmocka_unit_test(a_look_is_a_use),
        cmocka_unit_test(the_first_warp_decides),
        cmocka_unit_test(nobody_waits_for_one_that_is_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
