/* Does `lost` tell lost locality that follows a hold inside a loop from all other? */
#include "probe_test.h"

extern const struct heddle_probe probe_lost;

static const union heddle_value sizes[] = {{.integer = 16}, {.integer = 8}, {.integer = 0}};

static void check(const struct probed *p, unsigned lost, unsigned after_held, unsigned evicted_held, unsigned outside)
{
    assert_int_equal(probed_count(p, "lost"), lost);
    assert_int_equal(probed_count(p, "after_held"), after_held);
    assert_int_equal(probed_count(p, "evicted_held"), evicted_held);
    assert_int_equal(probed_count(p, "outside_loops"), outside);
}

static void hold(struct probed *p, uint64_t warps) { probed_on(p)->held(p->state, &p->core, warps); }
static void enter(struct probed *p, int32_t l) { probed_loop(p, 0, l, HEDDLE_LOOP_ENTER); }
static void iterate(struct probed *p, int32_t l) { probed_loop(p, 0, l, HEDDLE_LOOP_ITERATE); }
static void leave(struct probed *p, int32_t l) { probed_loop(p, 0, l, HEDDLE_LOOP_LEAVE); }

/* A load with one access, at once. */
static void load(struct probed *p, uint32_t warp, uint32_t pc, uint64_t line, enum heddle_outcome outcome,
                 int32_t owner)
{
    probed_load(p, warp, pc, 32, 1);
    probed_access(p, warp, pc, line, outcome, owner, 0);
}

static void miss(struct probed *p, uint32_t pc, uint64_t line) { load(p, 0, pc, line, HEDDLE_MISS, -1); }

/* The warp 0 brings a line, loses it, and asks for it again. */
static void lose(struct probed *p, uint32_t pc, uint64_t line)
{
    miss(p, pc, line);
    probed_evict(p, 0, line);
    miss(p, pc, line);
    probed_evict(p, 0, line);
    for (uint64_t other = 1000; other < 1016; other++)
        probed_evict(p, 0, other); /* push it out of the tags, so that it may be lost again */
}

static void a_flag_per_stay(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_lost, sizes);
    lose(&p, OUTSIDE, 5);
    check(&p, 1, 0, 0, 1);
    hold(&p, 1); /* not in a loop */
    enter(&p, OUTER_LOOP);
    lose(&p, OUTER, 5);
    check(&p, 2, 0, 0, 1);
    hold(&p, ~UINT64_C(1)); /* others */
    lose(&p, OUTER, 5);
    check(&p, 3, 0, 0, 1);
    hold(&p, 1);
    lose(&p, OUTER, 5);
    check(&p, 4, 1, 0, 1);
    iterate(&p, OUTER_LOOP);
    lose(&p, OUTER, 5);
    enter(&p, INNER_LOOP); /* the same stay in the outer one */
    lose(&p, INNER, 5);
    leave(&p, INNER_LOOP);
    lose(&p, OUTER, 5);
    check(&p, 7, 4, 0, 1);
    leave(&p, OUTER_LOOP);
    lose(&p, INNER, 5); /* a load of the loop whose access comes late */
    check(&p, 8, 5, 0, 1);
    lose(&p, AFTER, 5);
    check(&p, 9, 5, 0, 2);
    hold(&p, 1);
    enter(&p, OUTER_LOOP);
    lose(&p, OUTER, 5);
    check(&p, 10, 5, 0, 2);
    leave(&p, OUTER_LOOP);
    hold(&p, 1); /* and the access of a load in the loop comes late */
    lose(&p, OUTER, 5);
    check(&p, 11, 5, 0, 2);
    enter(&p, OUTER_LOOP);
    hold(&p, 1);
    probed_launch(&p, 0); /* another warp in the slot */
    lose(&p, OUTER, 5);
    check(&p, 12, 5, 0, 2);
    hold(&p, 1); /* and it is in no loop so far */
    lose(&p, OUTER, 5);
    check(&p, 13, 5, 0, 2);
    probed_end(&p);
}

/* A hold in the inner loop is one in the outer loop. */
static void held_in_the_inner_loop(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_lost, sizes);
    enter(&p, OUTER_LOOP);
    enter(&p, INNER_LOOP);
    hold(&p, 1);
    leave(&p, INNER_LOOP);
    lose(&p, OUTER, 5);
    check(&p, 1, 1, 0, 0);
    enter(&p, OUTER_LOOP); /* of a function that is called */
    leave(&p, OUTER_LOOP);
    lose(&p, OUTER, 5);
    check(&p, 2, 2, 0, 0);
    leave(&p, OUTER_LOOP);
    enter(&p, OUTER_LOOP);
    enter(&p, OUTER_LOOP), leave(&p, OUTER_LOOP);
    hold(&p, 1); /* still in the caller's */
    lose(&p, OUTER, 5);
    check(&p, 3, 3, 0, 0);
    probed_launch(&p, 0); /* ended in a loop; its slot's next warp comes to one */
    enter(&p, OUTER_LOOP);
    hold(&p, 1);
    lose(&p, OUTER, 5);
    check(&p, 4, 4, 0, 0);
    probed_end(&p);
}

/* As CCWS: a hit or a failure is no loss, a line on its way is; a store takes the tag away, and so does a launch. */
static void what_is_lost(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_lost, sizes);
    miss(&p, OUTER, 5);
    check(&p, 0, 0, 0, 0);
    probed_evict(&p, 0, 5);
    probed_access(&p, 0, OUTER, 5, HEDDLE_FAIL, -1, 0);
    load(&p, 0, OUTER, 5, HEDDLE_HIT, 1);
    load(&p, 1, OUTER, 5, HEDDLE_MISS, -1);
    check(&p, 0, 0, 0, 0);
    load(&p, 0, OUTER, 5, HEDDLE_PENDING, 1);
    miss(&p, OUTER, 5);
    check(&p, 2, 0, 0, 0);
    probed_store(&p, 3, 5);
    miss(&p, OUTER, 5);
    check(&p, 2, 0, 0, 0);
    probed_evict(&p, 0, 5);
    probed_on(&p)->kernel(p.state, &p.core);
    miss(&p, OUTER, 5);
    check(&p, 2, 0, 0, 0);
    probed_end(&p);
}

/* In a loop, with a hold at one of four moments between bringing a line and asking for it again. */
static void held_before_it_left(void **state)
{
    (void)state;
    static const unsigned evicted_held[] = {0, 0, 1, 0};
    for (int moment = 0; moment < 4; moment++) {
        struct probed p;
        probed_start(&p, &probe_lost, sizes);
        enter(&p, OUTER_LOOP);
        hold(&p, moment == 0); /* before the line came */
        miss(&p, OUTER, 5);
        hold(&p, moment == 1); /* before it was last used */
        load(&p, 0, OUTER, 5, HEDDLE_HIT, 0);
        hold(&p, moment == 2);
        load(&p, 1, OUTER, 5, HEDDLE_HIT, 0); /* another warp's use is none of its own */
        probed_evict(&p, 0, 5);
        hold(&p, moment == 3);
        miss(&p, OUTER, 5);
        check(&p, 1, 1, evicted_held[moment], 0);
        probed_end(&p);
    }
}

/* The warp is held when its load has issued, and the access comes to the cache later. */
static void held_before_the_access(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_lost, sizes);
    enter(&p, OUTER_LOOP);
    struct heddle_coalesced e = {.pc = OUTER, .active = 1, .accesses = 1, .store = true, .through_l1 = true};
    for (int i = 0; i < 2; i++, e.store = e.through_l1 = false) /* a store, and a load past the L1D */
        probed_on(&p)->coalesced(p.state, &p.core, &e);
    probed_load(&p, 0, OUTER, 32, 0); /* without accesses */
    probed_load(&p, 0, OUTER, 32, 2);
    hold(&p, 1);
    probed_load(&p, 0, OUTER, 32, 1);
    probed_access(&p, 0, OUTER, 5, HEDDLE_FAIL, -1, 0);
    probed_access(&p, 0, OUTER, 5, HEDDLE_MISS, -1, 1);
    probed_access(&p, 0, OUTER, 6, HEDDLE_MISS, -1, 0);
    probed_access(&p, 0, OUTER, 7, HEDDLE_MISS, -1, 0); /* of the load that issued after the hold */
    for (uint64_t line = 5; line < 8; line++)
        probed_evict(&p, 0, line);
    miss(&p, OUTER, 5), miss(&p, OUTER, 6);
    check(&p, 2, 2, 2, 0);
    miss(&p, OUTER, 7);
    check(&p, 3, 3, 2, 0);
    probed_end(&p);
}

/* Numbers of loads start anew: that of a launch which was cut short may not have come to the cache. */
static void a_new_launch(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_lost, sizes);
    enter(&p, OUTER_LOOP);
    for (int i = 0; i < 5; i++)
        miss(&p, OUTER, 5);
    probed_load(&p, 0, OUTER, 32, 1);
    hold(&p, 1);
    probed_on(&p)->kernel(p.state, &p.core);
    probed_launch(&p, 0);
    enter(&p, OUTER_LOOP);
    miss(&p, OUTER, 6);
    probed_evict(&p, 0, 6);
    hold(&p, 1);
    miss(&p, OUTER, 6);
    check(&p, 1, 1, 0, 0);
    miss(&p, OUTER, 7);
    probed_evict(&p, 0, 7);
    miss(&p, OUTER, 7);
    check(&p, 2, 2, 0, 0);
    hold(&p, 1);
    probed_evict(&p, 0, 7);
    miss(&p, OUTER, 7);
    check(&p, 3, 3, 1, 0);
    probed_end(&p);
}

/* The last time that it left counts. */
static void it_left_again(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_lost, sizes);
    enter(&p, OUTER_LOOP);
    miss(&p, OUTER, 5);
    hold(&p, 1);
    probed_evict(&p, 0, 5);
    miss(&p, OUTER, 5);
    check(&p, 1, 1, 1, 0);
    probed_evict(&p, 0, 5);
    miss(&p, OUTER, 5);
    check(&p, 2, 2, 1, 0);
    hold(&p, 1);
    probed_evict(&p, 0, 5);
    miss(&p, OUTER, 5);
    check(&p, 3, 3, 2, 0);
    probed_end(&p);
}

/* What leaves after its warp has ended was not lost by a hold. */
static void the_warp_has_ended(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_lost, sizes);
    miss(&p, OUTER, 5);
    struct heddle_l1_evict e = {
        .address = 5 * PROBE_LINE, .owner = 0, .owner_age = p.warp[0].age, .set = probed_set(5), .way = probed_way(5)};
    probed_launch(&p, 0);
    enter(&p, OUTER_LOOP);
    hold(&p, 1);
    probed_on(&p)->l1_evict(p.state, &p.core, &e);
    miss(&p, OUTER, 5);
    check(&p, 1, 1, 0, 0);
    e.owner = -1; /* nobody's line */
    probed_on(&p)->l1_evict(p.state, &p.core, &e);
    check(&p, 1, 1, 0, 0);
    probed_end(&p);
}

static void refuses(int entries, int ways, uint32_t line_bytes, const char *why)
{
    struct probed p;
    const union heddle_value values[] = {{.integer = entries}, {.integer = ways}, {.integer = 0}};
    assert_false(probed_try(&p, &probe_lost, values, line_bytes));
    assert_string_equal(p.why, why);
    probed_end(&p);
}

static void what_it_refuses(void **state)
{
    (void)state;
    refuses(12, 8, PROBE_LINE, "vta_entries is not a multiple of vta_ways");
    refuses(16, 8, 0, "it needs an L1 data cache");
}

/* One set of so many ways: the tag that came first leaves first. */
static void sizes_of_the_tags(void **state)
{
    (void)state;
    struct probed p;
    const union heddle_value small[] = {{.integer = 2}, {.integer = 1024}, {.integer = 0}};
    probed_start(&p, &probe_lost, small);
    probed_evict(&p, 0, 1), probed_evict(&p, 0, 2), probed_evict(&p, 0, 3);
    miss(&p, OUTER, 1);
    check(&p, 0, 0, 0, 0);
    miss(&p, OUTER, 2);
    miss(&p, OUTER, 3);
    check(&p, 2, 0, 0, 0);
    probed_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flag_per_stay),        cmocka_unit_test(held_in_the_inner_loop),
        cmocka_unit_test(what_is_lost),           cmocka_unit_test(held_before_it_left),
        cmocka_unit_test(held_before_the_access), cmocka_unit_test(a_new_launch),
        cmocka_unit_test(it_left_again),          cmocka_unit_test(the_warp_has_ended),
        cmocka_unit_test(what_it_refuses),        cmocka_unit_test(sizes_of_the_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
