/* Sub-cores: does each scheduler have pipelines of its own, are results there after the latency that was measured, and
 * does what an assembler takes away cost nothing? */
#include "timing_test.h"

static const struct timed_machine h200 = {.name = "h200"};

/* One core, and no clock that falls between its cycles. */
#define SMALL                                                                                                 \
    "machine.cores=1", "machine.memory_bytes=256M", "machine.launch_cycles=0", "clock.interconnect_mhz=1980", \
        "clock.l2_mhz=1980", "clock.dram_mhz=1980"

static uint64_t run(const char *lowers, const char *body, uint32_t threads)
{
    struct timed t;
    timed_open(&t, &h200, SETS(SMALL, lowers), "", body);
    timed_launch(&t, 1, threads, 0);
    uint64_t cycles = t.counters->cycles;
    timed_close(&t);
    return cycles;
}

/* Cycles that 32 repetitions of the text take, by warps of 32 threads, as 64 less 32 of them. */
static uint64_t of_32(const char *lowers, const char *text, uint32_t warps)
{
    uint64_t cycles[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct text body = {0};
        say_times(&body, 32 * (i + 1), text);
        cycles[i] = run(lowers, body.s, warps * 32);
        free(body.s);
    }
    return cycles[1] - cycles[0];
}
#define AS_WRITTEN "rules.lowers=false"

static void latencies(void **state)
{
    (void)state;
    assert_int_equal(of_32(AS_WRITTEN, "fma.rn.f32 %f1, %f1, %f2, %f3;\n", 1), 32 * 4);
    assert_int_equal(of_32(AS_WRITTEN, "mul.lo.s32 %r1, %r1, %r2;\n", 1), 32 * 4);
    assert_int_equal(of_32(AS_WRITTEN, "fma.rn.f64 %fd1, %fd1, %fd2, %fd3;\n", 1), 32 * 8);
    assert_int_equal(of_32(AS_WRITTEN, "ex2.approx.ftz.f32 %f1, %f1;\n", 1), 32 * 17);
    assert_int_equal(of_32(AS_WRITTEN, "shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;\n", 1), 32 * 24);
}

/* From the multiplier to the adder and back: one cycle each way. */
static void crossing(void **state)
{
    (void)state;
    assert_int_equal(of_32(AS_WRITTEN, "mul.lo.s32 %r1, %r1, %r2;\nxor.b32 %r1, %r1, %r3;\n", 1), 32 * 10);
}

/* What is independent is limited by its pipeline: integers every second cycle, special functions every eighth, and
 * floating point every cycle, since it has two halves to go to. */
static void intervals(void **state)
{
    (void)state;
    assert_int_equal(of_32(AS_WRITTEN, "xor.b32 %r1, %r2, %r3;\nxor.b32 %r4, %r2, %r3;\n", 1), 32 * 4);
    assert_int_equal(of_32(AS_WRITTEN,
                           "add.f32 %f1, %f10, %f11;\nadd.f32 %f2, %f10, %f11;\nadd.f32 %f3, %f10, %f11;\n"
                           "add.f32 %f4, %f10, %f11;\n",
                           1),
                     32 * 4);
    assert_int_equal(of_32(AS_WRITTEN,
                           "ex2.approx.ftz.f32 %f1, %f2;\nex2.approx.ftz.f32 %f3, %f4;\nex2.approx.ftz.f32 "
                           "%f5, %f6;\n",
                           1),
                     32 * 24);
}

/* Four warps have four schedulers; a fifth shares one of them. */
static void warps_apart(void **state)
{
    (void)state;
    const char *text = "ex2.approx.ftz.f32 %f1, %f2;\nex2.approx.ftz.f32 %f3, %f4;\nex2.approx.ftz.f32 %f5, %f6;\n";
    uint64_t one = of_32(AS_WRITTEN, text, 1);
    assert_int_equal(of_32(AS_WRITTEN, text, 4), one);
    assert_int_equal(of_32(AS_WRITTEN, text, 5), 2 * one);
}

/* Warps arrive at a barrier one after the other, two cycles apart: 12 + 2 cycles for each. */
static void barriers(void **state)
{
    (void)state;
    for (uint32_t warps = 1; warps <= 16; warps *= 2)
        assert_in_range(of_32(AS_WRITTEN, "bar.sync 0;\n", warps), 32 * (11 + 2 * warps), 32 * (14 + 2 * warps));
}

/* A multiplication that is fused into the addition after it, and whose result is used in no other place, costs
 * nothing. */
static void fused(void **state)
{
    (void)state;
    uint64_t cycles[2];
    for (int i = 0; i < 2; i++) {
        struct text body = {0};
        say(&body, "ld.param.u64 %%rd1, [buffer];\nld.global.v2.f32 {%%f0, %%f1}, [%%rd1];\n");
        for (int k = 0; k < 8 * (i + 1); k++)
            say(&body, "mul.f32 %%f%d, %%f%d, %%f1;\nadd.f32 %%f%d, %%f%d, %%f1;\n", 20 + k, k ? 40 + k - 1 : 0, 40 + k,
                20 + k);
        say(&body, "st.global.f32 [%%rd1], %%f%d;\n", 40 + 8 * (i + 1) - 1);
        cycles[i] = run("rules.lowers=true", body.s, 32);
        free(body.s);
    }
    assert_int_equal(cycles[1] - cycles[0], 8 * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(latencies), cmocka_unit_test(crossing),
                                       cmocka_unit_test(intervals), cmocka_unit_test(warps_apart),
                                       cmocka_unit_test(barriers),  cmocka_unit_test(fused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
