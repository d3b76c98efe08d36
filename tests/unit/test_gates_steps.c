/* Gates of what a core does in which order within a cycle: steps of the load/store unit and the collectors, where a
 * hit's latency stands, which scheduler is first, when an instruction enters the load/store unit. Cycles follow from
 * the machine's numbers.
 *
 * Steps of the collectors behind an instruction's issue: one into a collector, one an operand, one to the OC/EX
 * register. With s steps in a cycle the n-th of them is in the cycle n / s, rounded up. A unit takes from its OC/EX
 * register before the collectors' first step of a cycle, the load/store unit before their last one, and looks at what
 * it has taken from the next cycle on. */
#include "timing_test.h"

enum { LINE = 128, SECTOR = 32, STEPS_MOST = 4 };

#define MACHINE  "gtx480-gs4"
#define NO_FRONT "l1d.latency_cycles=0"

static const char *const steps[STEPS_MOST + 1] = {"", "lsu.steps=1", "lsu.steps=2", "lsu.steps=3", "lsu.steps=4"};

static uint64_t rounds(uint64_t n, uint32_t s) { return (n + s - 1) / s; }

/* From issue until its result can be used. */
static uint64_t arithmetic(uint32_t latency, uint32_t operands, uint32_t s)
{
    return rounds(2 + operands, s) + 1 + latency + 2;
}

/* From issue to the cycle in which the load/store unit takes it. */
static uint64_t to_lsu(uint32_t operands, uint32_t s) { return (2 + operands) / s + 1; }

/* Cycles that two more of them take, where each waits for the one before. */
static uint64_t two_more(const char *const *sets, const char *before, const char *inst)
{
    uint64_t cycles[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct text t = {0};
        say(&t, "%s", before);
        say_times(&t, 4 + 2 * i, inst);
        cycles[i] = warm_cycles(MACHINE, sets, t.s, 1, 32);
        free(t.s);
    }
    return cycles[1] - cycles[0];
}

static void test_collectors_step(void **state)
{
    (void)state;
    for (uint32_t s = 1; s <= STEPS_MOST; s++) {
        const char *const *sets = SETS(ONE_CORE, steps[s]);
        struct machine m = machine_of(MACHINE, sets);
        assert_int_equal(two_more(sets, "", "add.u32 %r1, %r1, 7;\n"), 2 * arithmetic(m.sm.integer.latency[0], 1, s));
        assert_int_equal(two_more(sets, "", "add.u32 %r1, %r1, %r2;\n"), 2 * arithmetic(m.sm.integer.latency[0], 2, s));
        assert_int_equal(two_more(sets, "", "mad.lo.u32 %r1, %r1, %r2, %r3;\n"),
                         2 * arithmetic(m.sm.integer.latency[3], 3, s));
    }
}

/* Hits: an access a step, also through a pipeline in front of the cache. */
static void test_accesses_a_step(void **state)
{
    (void)state;
    static const char *const latencies[] = {NO_FRONT, "l1d.latency_cycles=1", "l1d.latency_cycles=35"};
    for (uint32_t s = 1; s <= STEPS_MOST; s++)
        for (uint32_t i = 0; i < 3; i++)
            for (uint32_t lines = 1; lines <= 32; lines += lines < 8 ? 1 : 3) {
                const char *const *sets = SETS(ONE_CORE, steps[s], latencies[i]);
                struct machine m = machine_of(MACHINE, sets);
                uint64_t load = to_lsu(1, s) + rounds(lines, s) + m.sm.l1d.latency_cycles,
                         add = arithmetic(m.sm.integer.latency[0], 2, s);
                assert_int_equal(wide_cycles(MACHINE, sets, lines, 4, WIDE_LOAD, NULL) -
                                     wide_cycles(MACHINE, sets, lines, 3, WIDE_LOAD, NULL),
                                 load + add);
            }
}

/* The load/store unit takes behind the collectors' last step: what has left its collector in any step of a cycle has
 * entered the unit at the end of it. */
static void test_enters_at_once(void **state)
{
    (void)state;
    for (uint32_t s = 1; s <= STEPS_MOST; s++) {
        const char *const *sets = SETS(ONE_CORE, steps[s], NO_FRONT, "rules.enters_lsu_at_once=true"),
                          *const *later = SETS(ONE_CORE, steps[s], NO_FRONT);
        struct machine m = machine_of(MACHINE, sets);
        uint64_t add = arithmetic(m.sm.integer.latency[0], 2, s);
        for (uint32_t lines = 1; lines <= 9; lines += 2)
            assert_int_equal(wide_cycles(MACHINE, sets, lines, 4, WIDE_LOAD, NULL) -
                                 wide_cycles(MACHINE, sets, lines, 3, WIDE_LOAD, NULL),
                             rounds(2 + 1, s) + rounds(lines, s) + add);
        assert_int_equal(two_more(sets, "", "add.u32 %r1, %r1, 7;\n"),
                         two_more(later, "", "add.u32 %r1, %r1, 7;\n")); /* other units as ever */
    }
}

/* Stores to shared memory, all lanes in one bank: each is at work for 32 cycles. The next one, which waits in the OC/EX
 * register, enters in the cycle in which that leaves, no cycle is lost. */
static void test_enters_behind_others(void **state)
{
    (void)state;
    static const char *const when[] = {"rules.enters_lsu_at_once=false", "rules.enters_lsu_at_once=true"};
    for (uint32_t late = 0; late < 2; late++) {
        uint64_t one = 0;
        for (uint32_t stores = 1; stores <= 4; stores++) {
            struct text body = {0};
            say(&body, ".shared .align 4 .b8 room[8192];\nmov.u32 %%r2, %%tid.x;\nshl.b32 %%r2, %%r2, 7;\nmov.u32 "
                       "%%r1, room;\nadd.u32 %%r1, %%r1, %%r2;\n");
            say_times(&body, stores, "st.shared.u32 [%r1], %r3;\n");
            uint64_t cycles = warm_cycles(MACHINE, SETS(ONE_CORE, when[late]), body.s, 1, 32);
            one = stores == 1 ? cycles : one;
            assert_int_equal(cycles - one, (stores - 1) * 32);
            free(body.s);
        }
    }
}

/* What enters behind the collectors leaves the OC/EX register behind their step: those that wait, one in each register
 * and collector, move up in the next cycle. So with the unit taken the fifth store issues in the same cycle either way,
 * though the first one entered a cycle earlier. */
static void test_those_behind_move_up(void **state)
{
    (void)state;
    static const char *const when[] = {"rules.enters_lsu_at_once=false", "rules.enters_lsu_at_once=true"};
    for (uint32_t late = 0; late < 2; late++) {
        const char *const *sets = SETS(ONE_CORE, when[late], "collector.memory_collectors=1", "issue.memory_width=1");
        struct text body = {0};
        uint64_t clocks[1][CLOCKS];
        say(&body, ".shared .align 4 .b8 room[8192];\nshl.b32 %%r2, %%r60, 7;\nmov.u32 %%r1, room;\nadd.u32 %%r1, "
                   "%%r1, %%r2;\nadd.u32 %%r4, %%r1, 0;\nmov.u64 %%rd10, %%clock64;\n");
        say_times(&body, 5, "st.shared.u32 [%r4], %r3;\n");
        say(&body, "mov.u64 %%rd11, %%clock64;\n");
        read_clocks(MACHINE, sets, body.s, 1, clocks);
        uint64_t first = arithmetic(machine_of(MACHINE, sets).sm.integer.latency[0], 1, 1) -
                         1; /* waits for the address, of which the clock is a cycle behind */
        assert_int_equal(clocks[0][1] - clocks[0][0], first + to_lsu(2, 1) + 32 + 1);
        free(body.s);
    }
}

/* Shared memory: a cycle of a conflict is a step. What has come through takes its turn at writeback in one step, and
 * its register is written in the next. */
static void test_shared_steps(void **state)
{
    (void)state;
    static const char *const latencies[] = {"lsu.shared_latency_cycles=26", "lsu.shared_latency_cycles=2"};
    static const char lanes[] = ".shared .align 4 .b8 room[8192];\nmov.u32 %%r2, %%tid.x;\nmov.u32 %%r1, "
                                "room;\nmad.lo.u32 %%r1, %%r2, %u, %%r1;\n";
    for (uint32_t s = 1; s <= STEPS_MOST; s++)
        for (uint32_t i = 0; i < 2; i++)
            for (uint32_t conflicts = 1; conflicts <= 32; conflicts *= 2) { /* lanes so many words apart share a bank */
                const char *const *sets = SETS(ONE_CORE, steps[s], latencies[i]);
                struct machine m = machine_of(MACHINE, sets);
                struct text before = {0};
                say(&before, lanes, conflicts * 4);
                uint64_t load = to_lsu(1, s) + rounds(conflicts, s) + m.sm.shared_latency + (s == 1),
                         add = arithmetic(m.sm.integer.latency[0], 2, s);
                assert_int_equal(two_more(sets, before.s, "ld.shared.u32 %r2, [%r1];\nadd.u32 %r1, %r1, %r2;\n"),
                                 2 * (load + add));
                free(before.s);
            }
}

/* From a request in a core's hands to the last of its sectors in the core again: as in test_gates_memory.c. */
static uint64_t round_trip(const struct machine *m, uint32_t sectors)
{
    uint64_t crossing = m->mem.network.hop_cycles + 1;
    return 1 + crossing + 1 + m->mem.l2.rop_cycles + sectors + 1 + crossing + 1 + 1;
}

/* A miss leaves in the step behind its look-up; its answer is taken in one step, has its turn at writeback in the next,
 * and is written in the third. A second access that finds the only miss register taken is refused once a step, from its
 * first try until the answer to the first has had its turn. */
static void test_misses_step(void **state)
{
    (void)state;
    for (uint32_t s = 1; s <= STEPS_MOST; s++) {
        const char *const *sets = SETS(ONE_CORE, steps[s], NO_FRONT), *const *one_register =
                                                                          SETS(ONE_CORE, steps[s], NO_FRONT,
                                                                               "l1d.mshr_entries=1");
        struct machine m = machine_of(MACHINE, sets);
        struct sm_counters counters;
        uint64_t sent = s == 1, there = sent + round_trip(&m, LINE / SECTOR), written = s == 1 ? 2 : s == 2 ? 1 : 0;
        uint64_t first = wide_cycles(MACHINE, sets, 1, 1, WIDE_LOAD, NULL),
                 second = wide_cycles(MACHINE, sets, 1, 2, WIDE_LOAD, NULL) - first; /* a miss, a hit */
        uint64_t none = wide_cycles(MACHINE, sets, 1, 0, WIDE_LOAD, NULL);
        assert_int_equal(first - none, second + there + written);
        /* A line in a single answer, which finds the core asleep. */
        const char *const *whole = SETS(ONE_CORE, steps[s], NO_FRONT, "l1d.sector_bytes=0", "l2.sector_bytes=0",
                                        "interconnect.flit_bytes=136");
        assert_int_equal(wide_cycles(MACHINE, whole, 1, 1, WIDE_LOAD, NULL) - none,
                         second + sent + round_trip(&m, 1) + written);
        wide_cycles(MACHINE, one_register, 2, 1, WIDE_LOAD, &counters);
        assert_int_equal(counters.l1d.fails[CACHE_FAIL_MSHR], s * there);
        assert_int_equal(counters.l1d.misses, 2);
        wide_cycles(MACHINE, sets, 2, 1, WIDE_LOAD, &counters);
        assert_int_equal(counters.l1d.fails[CACHE_FAIL_MSHR], 0);
    }
}

/* A latency behind the look-up: of hits alone, all that are under way at once, constants and parameters too. */
static void test_latency_behind(void **state)
{
    (void)state;
    static const char *const latencies[] = {NO_FRONT, "l1d.latency_cycles=1", "l1d.latency_cycles=10",
                                            "l1d.latency_cycles=35"};
    static const char parameter[] = "ld.param.u32 %r1, [buffer];\nadd.u32 %r1, %r1, 1;\n";
    for (uint32_t s = 1; s <= 2; s++)
        for (uint32_t i = 0; i < 4; i++) {
            const char *const *sets = SETS(ONE_CORE, steps[s], latencies[i], "rules.l1d_latency_behind=true"),
                              *const *front = SETS(ONE_CORE, steps[s], latencies[i]);
            const char *const *no_latency = SETS(ONE_CORE, steps[s], NO_FRONT);
            struct machine m = machine_of(MACHINE, sets);
            uint64_t latency = m.sm.l1d.latency_cycles, add = arithmetic(m.sm.integer.latency[0], 2, s);
            for (uint32_t lines = 1; lines <= 32; lines += lines < 4 ? 1 : 7)
                assert_int_equal(wide_cycles(MACHINE, sets, lines, 4, WIDE_LOAD, NULL) -
                                     wide_cycles(MACHINE, sets, lines, 3, WIDE_LOAD, NULL),
                                 to_lsu(1, s) + rounds(lines, s) + latency + add);
            uint64_t parameters = warm_cycles(MACHINE, no_latency, parameter, 1, 32),
                     miss = wide_cycles(MACHINE, no_latency, 1, 1, WIDE_LOAD, NULL) -
                            wide_cycles(MACHINE, no_latency, 1, 0, WIDE_LOAD, NULL);
            assert_int_equal(warm_cycles(MACHINE, front, parameter, 1, 32), parameters);
            assert_int_equal(warm_cycles(MACHINE, sets, parameter, 1, 32), parameters + latency);
            assert_int_equal(wide_cycles(MACHINE, front, 1, 1, WIDE_LOAD, NULL) -
                                 wide_cycles(MACHINE, front, 1, 0, WIDE_LOAD, NULL),
                             miss + latency);
            assert_int_equal(wide_cycles(MACHINE, sets, 1, 1, WIDE_LOAD, NULL) -
                                 wide_cycles(MACHINE, sets, 1, 0, WIDE_LOAD, NULL),
                             miss);
        }
}

/* A store goes down at once: with a latency behind the look-up its answer, for which the fence waits, is there no later
 * than without a latency. */
static void test_stores_and_latency(void **state)
{
    (void)state;
    static const char body[] =
        "ld.param.u64 %rd1, [buffer];\nst.global.u32 [%rd1], %r1;\nmembar.gl;\nmov.u32 %r3, 1;\n";
    uint64_t at_once = warm_cycles(MACHINE, SETS(ONE_CORE, NO_FRONT, "rules.fence_waits_for_stores=true"), body, 1, 32);
    uint64_t behind = warm_cycles(
        MACHINE,
        SETS(ONE_CORE, "l1d.latency_cycles=10", "rules.l1d_latency_behind=true", "rules.fence_waits_for_stores=true"),
        body, 1, 32);
    uint64_t front =
        warm_cycles(MACHINE, SETS(ONE_CORE, "l1d.latency_cycles=10", "rules.fence_waits_for_stores=true"), body, 1, 32);
    assert_int_equal(front, at_once + 10);
    assert_int_equal(behind, at_once + 10 /* the parameter's; none of its own */);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_collectors_step),      cmocka_unit_test(test_accesses_a_step),
    cmocka_unit_test(test_enters_at_once),       cmocka_unit_test(test_enters_behind_others),
    cmocka_unit_test(test_those_behind_move_up), cmocka_unit_test(test_shared_steps),
    cmocka_unit_test(test_misses_step),          cmocka_unit_test(test_latency_behind),
    cmocka_unit_test(test_stores_and_latency),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
