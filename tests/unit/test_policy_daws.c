/* Does DAWS predict footprints, and hold loads, as the paper's examples say? */
#include "daws_test.h"

static struct code code;

/* One loop with diverged and converged loads, each with a base register of its own. */
static int32_t loop_of_loads(uint32_t diverged, uint32_t converged)
{
    code_start(&code);
    int32_t loop = add_loop(&code, 100, 200, -1);
    for (uint32_t i = 0; i < diverged + converged; i++)
        add_load(&code, 110 + i, i < diverged);
    return loop;
}

static uint64_t last_prediction(struct bench *b)
{
    static uint64_t before;
    uint64_t now = b->s.counters[PREDICTED_LINES], last = now - before;
    before = now;
    return last;
}

/* ---------------------------------------------------------------- the paper's examples */

/* Figure 1: 4 lanes, 4 lines, one diverged load. */
static void two_warps_in_four_lines(void **state)
{
    (void)state;
    struct bench b;
    int32_t loop = loop_of_loads(1, 0);
    run_profiled(&b, &code, ",assoc=1", 4, 2);
    assert_int_equal(held(&b), 0);
    enter(&b, 0, loop, 4);
    enter(&b, 1, loop, 3);
    assert_int_equal(held(&b), W1); /* 4 + 3 */
    iterate(&b, 0, loop, 1);
    assert_int_equal(held(&b), 0); /* 1 + 3 fit */
    end(&b);
    code_end(&code);
}

/* Figure 6: one diverged load, 56 lines. */
static void lanes_that_leave_make_room(void **state)
{
    (void)state;
    struct bench b;
    int32_t loop = loop_of_loads(1, 0);
    run_profiled(&b, &code, ",assoc=1", 56, 3);
    enter(&b, 0, loop, 32);
    assert_int_equal(held(&b), 0);
    enter(&b, 1, loop, 16);
    assert_int_equal(held(&b), 0);
    enter(&b, 2, loop, 16);
    assert_int_equal(held(&b), W2);
    iterate(&b, 0, loop, 16);
    assert_int_equal(held(&b), 0);
    leave(&b, 0, loop);
    enter(&b, 0, loop, 32);
    assert_int_equal(held(&b), W2);
    leave(&b, 0, loop);
    assert_int_equal(held(&b), 0);
    end(&b);
    code_end(&code);
}

/* SPMV-Scalar: two diverged loads, 64 lines per warp: 2 fit into 153. KMN: one, and a converged one: 34 lines, 4 fit.
 */
static void as_many_as_the_best_static_limit(void **state)
{
    (void)state;
    static const struct {
        uint32_t diverged, converged, lines, fit;
    } kernels[] = {{2, 0, 64, 2}, {1, 1, 34, 4}};
    for (int k = 0; k < 2; k++) {
        struct bench b;
        int32_t loop = loop_of_loads(kernels[k].diverged, kernels[k].converged);
        run_profiled(&b, &code, "", 256, 32);
        for (uint32_t w = 0; w < 32; w++)
            enter(&b, w, loop, 32);
        assert_int_equal(b.s.counters[PREDICTED_LINES], 32 * kernels[k].lines);
        assert_int_equal(held(&b), 0xffffffffu & ~((1u << kernels[k].fit) - 1));
        end(&b);
        code_end(&code);
    }
}

/* BFS: two diverged, one converged, two converged fields of a node: 2n + 4. */
static void bfs_footprint(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t loop = add_loop(&code, 230, 420, -1);
    add_load(&code, 240, true);
    add_load(&code, 272, true);
    add_load(&code, 328, false);
    add_load_at(&code, 400, 0, 90, 7, 0);
    add_load_at(&code, 408, 0, 90, 7, 4);
    run_profiled(&b, &code, "", 256, 1);
    last_prediction(&b);
    enter(&b, 0, loop, 32);
    assert_int_equal(last_prediction(&b), 68);
    iterate(&b, 0, loop, 8);
    assert_int_equal(last_prediction(&b), 20);
    iterate(&b, 0, loop, 1);
    assert_int_equal(last_prediction(&b), 4);
    assert_int_equal(b.s.counters[LOADS_CLASSIFIED], 5);
    assert_int_equal(b.s.counters[LOADS_DIVERGED], 2);
    assert_int_equal(b.s.counters[LOADS_REPEATED], 1);
    end(&b);
    code_end(&code);
}

/* A repetition group with a diverged and a converged member is diverged: n = 10 makes 10, n = 1 makes 1. */
static void group_of_both_kinds(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t loop = add_loop(&code, 10, 60, -1);
    add_load_at(&code, 20, 0, 90, 7, 100);
    add_load_at(&code, 30, 100, 90, 7, 227); /* 127 bytes away; a line has 128 */
    run_profiled(&b, &code, "", 256, 1);
    enter(&b, 0, loop, 10);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 10);
    iterate(&b, 0, loop, 1);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 11);
    end(&b);
    code_end(&code);
    code_start(&code);
    loop = add_loop(&code, 10, 60, -1);
    add_load_at(&code, 20, 0, 90, 7, -100);
    add_load_at(&code, 30, 100, 90, 7, 28); /* a whole line away */
    run_profiled(&b, &code, "", 256, 1);
    enter(&b, 0, loop, 10);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 12);
    end(&b);
    code_end(&code);
}

/* Recorded loop at 500, the outer one at 300 begins its next iteration: the inner loop's loads, the outer's lanes. */
static void outer_iterations_count_the_inner_loop(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t outer = add_loop(&code, 300, 600, -1), inner = add_loop(&code, 500, 550, outer);
    add_load(&code, 310, false);
    add_load(&code, 510, true);
    add_load(&code, 520, true);
    run_profiled(&b, &code, "", 256, 1);
    last_prediction(&b);
    enter(&b, 0, outer, 32);
    assert_int_equal(last_prediction(&b), 2);
    enter(&b, 0, inner, 32);
    assert_int_equal(last_prediction(&b), 64); /* in place of the outer's */
    iterate(&b, 0, inner, 7);
    assert_int_equal(last_prediction(&b), 14);
    leave(&b, 0, inner);
    iterate(&b, 0, outer, 20);
    assert_int_equal(last_prediction(&b), 40); /* the inner loop's loads */
    enter(&b, 0, inner, 5);
    assert_int_equal(last_prediction(&b), 10);
    leave(&b, 0, inner);
    leave(&b, 0, outer);
    enter(&b, 0, outer, 32);
    assert_int_equal(last_prediction(&b), 2);
    end(&b);
    code_end(&code);
}

/* ---------------------------------------------------------------- nesting */

static void only_the_outermost_loop_clears(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t outer = add_loop(&code, 300, 600, -1), inner = add_loop(&code, 500, 550, outer);
    add_load(&code, 510, true);
    run_profiled(&b, &code, ",assoc=1", 40, 2);
    enter(&b, 0, outer, 32);
    enter(&b, 0, inner, 32);
    enter(&b, 1, outer, 32), enter(&b, 1, inner, 9);
    assert_int_equal(held(&b), W1);
    leave(&b, 0, inner);
    assert_int_equal(held(&b), W1);
    leave(&b, 0, outer);
    assert_int_equal(held(&b), 0);
    end(&b);
    code_end(&code);
}

/* The first of two inner loops begins again: it is not taken for an outer one. */
static void two_inner_loops(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t outer = add_loop(&code, 300, 600, -1), first = add_loop(&code, 400, 450, outer),
            second = add_loop(&code, 500, 550, outer);
    add_load(&code, 410, true);
    add_load(&code, 510, false);
    run_profiled(&b, &code, "", 256, 1);
    last_prediction(&b);
    enter(&b, 0, outer, 32);
    enter(&b, 0, first, 32);
    assert_int_equal(last_prediction(&b), 32);
    leave(&b, 0, first), enter(&b, 0, second, 32);
    assert_int_equal(last_prediction(&b), 2);
    leave(&b, 0, second), iterate(&b, 0, outer, 32);
    assert_int_equal(last_prediction(&b), 2);
    enter(&b, 0, first, 30);
    assert_int_equal(last_prediction(&b), 30);
    iterate(&b, 0, first, 29);
    assert_int_equal(last_prediction(&b), 29);
    end(&b);
    code_end(&code);
}

/* A loop of a called function, whose parent is none, ends: the warp is still in the caller's. */
static void loops_of_called_functions(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t caller = add_loop(&code, 100, 200, -1), called = add_loop(&code, 400, 450, -1);
    add_load(&code, 110, true);
    add_load(&code, 410, true), add_load(&code, 411, true);
    run_profiled(&b, &code, "", 256, 1);
    last_prediction(&b);
    enter(&b, 0, caller, 32);
    enter(&b, 0, called, 16);
    leave(&b, 0, called);
    assert_int_equal(last_prediction(&b), 32 + 32);
    iterate(&b, 0, caller, 8);
    assert_int_equal(last_prediction(&b), 16);
    leave(&b, 0, caller);
    enter(&b, 0, caller, 8);
    assert_int_equal(last_prediction(&b), 8);
    end(&b);
    code_end(&code);
}

/* ---------------------------------------------------------------- who is held */

static void who_is_old(void **state)
{
    (void)state;
    struct bench b;
    int32_t loop = loop_of_loads(1, 0);
    run_profiled(&b, &code, ",assoc=1", 64, 3);
    warp_ends(&b, 0), finish(&b, 0), launch(&b, 0); /* the youngest now */
    for (uint32_t w = 0; w < 3; w++)
        enter(&b, w, loop, 32);
    assert_int_equal(held(&b), W0);
    warp_ends(&b, 1);
    assert_int_equal(held(&b), 0);
    end(&b);
    code_end(&code);
}

static void prefix_and_greedy(void **state)
{
    (void)state;
    struct bench b;
    int32_t loop = loop_of_loads(1, 0);
    for (int greedy = 0; greedy < 2; greedy++) {
        run_profiled(&b, &code, greedy ? ",assoc=1,admit=greedy" : ",assoc=1", 40, 4);
        enter(&b, 0, loop, 20), enter(&b, 1, loop, 30), enter(&b, 2, loop, 20), enter(&b, 3, loop, 1);
        assert_int_equal(held(&b), greedy ? W1 | W3 : W1 | W2 | W3);
        end(&b);
    }
    code_end(&code);
}

/* Six diverged loads, 192 lines per warp, in a cache of 256 of which 153 are to be filled: one warp at a time. With
 * oversized=effective the loop is not throttled. */
static void one_warp_alone(void **state)
{
    (void)state;
    struct bench b;
    int32_t loop = loop_of_loads(6, 0);
    run_profiled(&b, &code, "", 256, 4);
    for (uint32_t w = 0; w < 4; w++)
        enter(&b, w, loop, 32);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 4 * 192);
    assert_int_equal(held(&b), W1 | W2 | W3);
    leave(&b, 0, loop);
    assert_int_equal(held(&b), W2 | W3);
    for (uint32_t w = 2; w < 4; w++)
        iterate(&b, w, loop, 1);
    assert_int_equal(held(&b), W2 | W3); /* 192 + 6: the cache is the oldest's */
    iterate(&b, 1, loop, 24);
    assert_int_equal(held(&b), W3); /* 144 + 6 + 6 */
    end(&b);
    run_profiled(&b, &code, ",oversized=effective", 256, 4);
    for (uint32_t w = 0; w < 4; w++)
        enter(&b, w, loop, 32);
    assert_int_equal(b.s.counters[OVERSIZED], 4);
    assert_int_equal(held(&b), 0);
    end(&b);
    code_end(&code);
}

/* Eight diverged loads take all 256 lines, which is not more than there are; nine take 288. */
static void as_large_as_the_cache(void **state)
{
    (void)state;
    for (uint32_t loads = 8; loads <= 9; loads++) {
        struct bench b;
        int32_t loop = loop_of_loads(loads, 0);
        run_profiled(&b, &code, "", 256, 2);
        enter(&b, 0, loop, 32), enter(&b, 1, loop, 32);
        assert_int_equal(held(&b), loads == 8 ? W1 : 0);
        assert_int_equal(b.s.counters[OVERSIZED], loads == 8 ? 0 : 2);
        end(&b);
        code_end(&code);
    }
}

/* While one warp of a loop is predicted to bring more than the cache has, none of that loop is held. */
static void oversized_loops(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t wide = add_loop(&code, 100, 200, -1), narrow = add_loop(&code, 300, 400, -1);
    add_load(&code, 110, true), add_load(&code, 120, true), add_load(&code, 310, true);
    run_profiled(&b, &code, ",assoc=1", 40, 4);
    enter(&b, 0, wide, 20); /* 40 */
    enter(&b, 1, wide, 20);
    assert_int_equal(held(&b), W1);
    enter(&b, 2, wide, 21); /* 42 */
    assert_int_equal(b.s.counters[OVERSIZED], 1);
    assert_int_equal(held(&b), 0);
    iterate(&b, 1, wide, 1);
    assert_int_equal(held(&b), 0);
    iterate(&b, 2, wide, 1);
    assert_int_equal(held(&b), W1 | W2);
    iterate(&b, 2, wide, 32);
    barrier_wait(&b, 2); /* counts nothing while it waits */
    assert_int_equal(held(&b), W1);
    barrier_pass(&b, W2);
    assert_int_equal(held(&b), 0);
    enter(&b, 3, narrow, 32); /* the other loop has the cache for itself */
    assert_int_equal(held(&b), 0);
    leave(&b, 1, wide), enter(&b, 1, narrow, 9);
    assert_int_equal(held(&b), W3); /* 9 + 32 */
    end(&b);
    code_end(&code);
}

/* A warp outside all loops counts as one of its closest loop, also when that is not throttled. */
static void closest_loop_is_oversized(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t wide = add_loop(&code, 100, 200, -1), narrow = add_loop(&code, 300, 400, -1);
    add_load(&code, 50, true), add_load(&code, 110, true), add_load(&code, 120, true), add_load(&code, 310, true);
    run_profiled(&b, &code, ",assoc=1", 40, 4);
    enter(&b, 0, narrow, 32);
    comes_to(&b, 1, 50, 20);
    assert_int_equal(held(&b), W1); /* 32 + 40 */
    comes_to(&b, 1, 50, 21);
    assert_int_equal(held(&b), 0);
    comes_to(&b, 1, 50, 20);
    enter(&b, 2, wide, 32);
    assert_int_equal(held(&b), 0);
    leave(&b, 0, narrow);
    issues(&b, 1); /* nobody is in a loop that is throttled */
    assert_int_equal(b.s.counters[OUTSIDE], 0);
    end(&b);
    code_end(&code);
}

static void barriers_lift_a_prediction(void **state)
{
    (void)state;
    struct bench b;
    int32_t loop = loop_of_loads(1, 0);
    run_profiled(&b, &code, ",assoc=1", 40, 3);
    enter(&b, 0, loop, 32), enter(&b, 1, loop, 32), enter(&b, 2, loop, 8);
    assert_int_equal(held(&b), W1 | W2);
    barrier_wait(&b, 0);
    assert_int_equal(held(&b), 0);
    iterate(&b, 2, loop, 9);
    assert_int_equal(held(&b), W2);
    barrier_pass(&b, W0);
    assert_int_equal(held(&b), W1 | W2);
    iterate(&b, 2, loop, 8);
    iterate(&b, 0, loop, 1);
    assert_int_equal(held(&b), W2); /* 1 + 32 + 8 */
    end(&b);
    code_end(&code);
}

static void without_control_flow(void **state)
{
    (void)state;
    struct bench b;
    int32_t loop = loop_of_loads(1, 0);
    run_profiled(&b, &code, ",assoc=1,control_flow=off", 40, 2);
    enter(&b, 0, loop, 4), enter(&b, 1, loop, 4);
    assert_int_equal(held(&b), W1);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 64);
    end(&b);
    code_end(&code);
}

/* ---------------------------------------------------------------- outside loops */

static void closest_loop_of_loads_outside(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t first = add_loop(&code, 100, 200, -1), second = add_loop(&code, 300, 400, -1);
    add_load(&code, 50, true), add_load(&code, 250, true), add_load(&code, 500, true); /* before, between, after */
    add_load(&code, 100, true), add_load(&code, 320, false);
    run_profiled(&b, &code, ",assoc=1", 40, 3);
    comes_to(&b, 1, 50, 32);
    assert_int_equal(held(&b), 0); /* nobody is in a loop */
    issues(&b, 1);
    assert_int_equal(b.s.counters[OUTSIDE], 0);
    comes_to(&b, 1, 50, 32);
    enter(&b, 0, first, 32);
    assert_int_equal(held(&b), W1); /* 32 + 32 */
    comes_to(&b, 1, 50, 8);
    assert_int_equal(held(&b), 0);
    comes_to(&b, 1, 250, 32);
    assert_int_equal(held(&b), 0); /* 32 + 2 */
    comes_to(&b, 1, 500, 32);
    assert_int_equal(held(&b), 0); /* no loop follows */
    comes_to(&b, 1, 100, 32);
    assert_int_equal(held(&b), W1); /* about to enter the first */
    comes_to(&b, 1, 50, 8);
    assert_int_equal(held(&b), 0);
    issues(&b, 1);
    enter(&b, 2, first, 1);
    assert_int_equal(held(&b), W2); /* 32 + 8, which stays, + 1 */
    comes_to(&b, 1, 500, 32);
    assert_int_equal(held(&b), 0); /* counts what it would have then */
    comes_to(&b, 1, NOWHERE, 32);
    assert_int_equal(held(&b), W2); /* but has it not yet */
    comes_to(&b, 1, 500, 32);
    issues(&b, 1);
    assert_int_equal(held(&b), 0);
    comes_to(&b, 1, 50, 8);
    issues(&b, 1);
    enter(&b, 1, second, 32);      /* the loop's takes its place */
    assert_int_equal(held(&b), 0); /* 32 + 2 + 1 */
    assert_int_equal(b.s.counters[OUTSIDE], 3);
    end(&b);
    code_end(&code);
}

/* ---------------------------------------------------------------- profiled */

static void which_loads_and_loops_a_profile_names(void **state)
{
    (void)state;
    struct bench b;
    code_start(&code);
    int32_t local = add_loop(&code, 100, 200, -1), streaming = add_loop(&code, 300, 400, -1);
    add_load_at(&code, 110, 10, 60, 1, 0); /* one in ten diverged: consistently converged */
    add_load_at(&code, 120, 11, 41, 2, 0); /* more: diverged. 101 of 200 have locality */
    add_load_at(&code, 310, 0, 100, 3, 0);
    add_load_at(&code, 320, 0, 0, 3, 4); /* half: none */
    run_profiled(&b, &code, "", 256, 2);
    enter(&b, 0, local, 32);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 34);
    enter(&b, 1, streaming, 32);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 34);
    assert_int_equal(b.s.counters[LOADS_CLASSIFIED], 2);
    end(&b);
    run_profiled(&b, &code, ",loads=1", 256, 1);
    enter(&b, 0, local, 32);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 2); /* the table is full */
    end(&b);
    code.program.kernel = "another"; /* not in the file */
    run_profiled(&b, &code, "", 256, 1);
    enter(&b, 0, local, 32);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 0);
    code.program.kernel = "k";
    on(&b)->kernel(b.s.state, &b.f.core);
    iterate(&b, 0, local, 32);
    assert_int_equal(b.s.counters[PREDICTED_LINES], 34);
    end(&b);
    code_end(&code);
}

static void refuses(const char *spec, const char *reason)
{
    static struct fake_core f;
    struct error e = {0};
    struct policy_choice choice;
    uint64_t counters[16] = {0};
    const char *why = "";
    fake_core_init(&f);
    assert_true(policy_choose(&choice, POLICY_SCHEDULER, spec, &e));
    void *instance = calloc(1, choice.policy->state_bytes);
    assert_non_null(instance);
    struct heddle_setup setup = {
        .core = &f.core, .values = choice.values, .counters = counters, .warps = ~UINT64_C(0), .why = &why};
    assert_false(choice.policy->init(instance, &setup));
    if (!strstr(why, reason))
        fail_msg("%s: '%s' instead of '%s'", spec, why, reason);
    free(instance);
    policy_release(&choice);
}

static void refuses_what_cannot_work(void **state)
{
    (void)state;
    refuses("daws:vta_entries=12", "vta_entries is not a multiple of vta_ways");
    refuses("daws:ilrd_entries=12", "ilrd_entries is not a multiple of ilrd_ways");
    refuses("daws:mode=profiled", "mode=profiled needs profile=FILE");
    refuses("daws:mode=profiled,profile=/no/such", "profile '/no/such': No such file or directory");
    code_start(&code);
    FILE *f = fopen(code.profile, "a");
    assert_non_null(f);
    fputs("load 1 two\n", f);
    fclose(f);
    char spec[128];
    snprintf(spec, sizeof spec, "daws:mode=profiled,profile=%s", code.profile);
    refuses(spec, "line 2: six numbers");
    code_end(&code);
}

/* ---------------------------------------------------------------- as a scheduler */

static void order_is_greedy_then_oldest(void **state)
{
    (void)state;
    struct bench a, b;
    uint32_t random = 11;
    start(&a, "daws", 24);
    start(&b, "gto", 24);
    for (int i = 0; i < 3000; i++) {
        random = random * 1664525 + 1013904223;
        if (random >> 28 == 0) {
            warp_ends(&a, 5);
            finish(&a, 5), finish(&b, 5), launch(&a, 5), launch(&b, 5);
        }
        assert_int_equal(held(&a), 0);
        assert_int_equal(cycle(&a, random >> 6 & 0xffffff), cycle(&b, random >> 6 & 0xffffff));
    }
    end(&a);
    end(&b);
}

/* Held warps, throttled cycles and resident warps are counted without being asked in every cycle. */
static void cycles_are_counted(void **state)
{
    (void)state;
    struct bench b;
    int32_t loop = loop_of_loads(1, 0);
    run_profiled(&b, &code, ",assoc=1", 40, 3);
    for (uint32_t w = 0; w < 3; w++)
        enter(&b, w, loop, 32);
    b.f.core.cycle += 7;
    assert_int_equal(held(&b), W1 | W2);
    assert_true(b.s.choice.scheduler->steady_until(b.s.state, &b.f.core) == UINT64_MAX);
    b.f.core.cycle += 100;
    warp_ends(&b, 2);
    b.f.core.cycle += 10;
    leave(&b, 0, loop);
    assert_int_equal(held(&b), 0);
    b.f.core.cycle += 5;
    warp_ends(&b, 0), warp_ends(&b, 1);
    assert_int_equal(b.s.counters[HELD_WARP_CYCLES], 2 * 100 + 10);
    assert_int_equal(b.s.counters[THROTTLED_CYCLES], 110);
    assert_int_equal(b.s.counters[RESIDENT_WARP_CYCLES], 3 * 107 + 2 * 15);
    end(&b);
    code_end(&code);
}

/* Two schedulers of a core have one table: both hear all, both answer the same, and it is counted once. */
static void schedulers_share_the_predictions(void **state)
{
    (void)state;
    static struct fake_core f;
    static struct instance s[2];
    int32_t loop = loop_of_loads(1, 0);
    char spec[256];
    snprintf(spec, sizeof spec, "daws:mode=profiled,assoc=1,profile=%s", code.profile);
    fake_core_init(&f);
    f.core.scheduler_count = 2;
    f.core.l1_sets = 10;
    f.core.program = &code.program;
    for (uint32_t k = 0; k < 2; k++)
        instance_start_as(&s[k], &f, POLICY_SCHEDULER, spec, UINT64_C(0x5555555555555555) << k, k);
    const struct heddle_scheduler *p = s[0].choice.scheduler;
    for (int k = 0; k < 2; k++)
        p->policy.on.kernel(s[k].state, &f.core);
    for (uint32_t w = 0; w < 3; w++)
        for (int k = 0; k < 2; k++) {
            f.warp[w].age = w;
            f.core.resident |= BIT(w);
            p->policy.on.launched(s[k].state, &f.core, w);
        }
    for (uint32_t w = 0; w < 3; w++)
        for (int k = 0; k < 2; k++)
            p->policy.on.loop(s[k].state, &f.core,
                              &(struct heddle_loop_event){.warp = w, .active = w == 2 ? 0xff : ~0u, .loop = loop});
    for (int k = 0; k < 2; k++)
        assert_int_equal(p->hold_loads(s[k].state, &f.core), W1 | W2);
    assert_int_equal(s[0].counters[PREDICTIONS], 3);
    assert_int_equal(s[1].counters[PREDICTIONS], 0);
    assert_int_equal(p->pick(s[0].state, &f.core, W0 | W2), 0);
    instance_end(&s[0]);
    instance_end(&s[1]);
    code_end(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_warps_in_four_lines),
        cmocka_unit_test(lanes_that_leave_make_room),
        cmocka_unit_test(as_many_as_the_best_static_limit),
        cmocka_unit_test(bfs_footprint),
        cmocka_unit_test(group_of_both_kinds),
        cmocka_unit_test(outer_iterations_count_the_inner_loop),
        cmocka_unit_test(only_the_outermost_loop_clears),
        cmocka_unit_test(two_inner_loops),
        cmocka_unit_test(loops_of_called_functions),
        cmocka_unit_test(who_is_old),
        cmocka_unit_test(prefix_and_greedy),
        cmocka_unit_test(one_warp_alone),
        cmocka_unit_test(as_large_as_the_cache),
        cmocka_unit_test(oversized_loops),
        cmocka_unit_test(closest_loop_is_oversized),
        cmocka_unit_test(barriers_lift_a_prediction),
        cmocka_unit_test(without_control_flow),
        cmocka_unit_test(closest_loop_of_loads_outside),
        cmocka_unit_test(which_loads_and_loops_a_profile_names),
        cmocka_unit_test(refuses_what_cannot_work),
        cmocka_unit_test(order_is_greedy_then_oldest),
        cmocka_unit_test(cycles_are_counted),
        cmocka_unit_test(schedulers_share_the_predictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
