/* stalls.pipeline by what fills the pipeline: do the parts add up to it, and does a kernel that wants one unit wait for
 * that one? */
#include "timing_test.h"

static const struct timed_machine gtx480 = {.name = "gtx480"}, gs4 = {.name = "gtx480-gs4"};

static struct sm_counters run(const struct timed_machine *m, const char *body, uint32_t blocks, uint32_t threads)
{
    struct timed t;
    timed_open(&t, m, NO_SETS, "", body);
    timed_launch(&t, blocks, threads, 0);
    struct sm_counters n = t.counters->sm;
    timed_close(&t);
    assert_int_equal(n.pipeline_sp + n.pipeline_sfu + n.pipeline_load_store + n.pipeline_collectors + n.pipeline_decode,
                     n.stalls[STALL_PIPELINE]);
    return n;
}

#define FOUR(x) x x x x
static const char sfu[] = "cvt.rn.f32.u32 %f1, %tid.x;\n" FOUR(
    FOUR("sin.approx.f32 %f2, %f1;\nsin.approx.f32 %f3, %f1;\nsin.approx.f32 %f4, %f1;\n"));
static const char sp[] =
    "mov.u32 %r1, %tid.x;\n" FOUR(FOUR("add.u32 %r2, %r1, 1;\nadd.u32 %r3, %r1, 2;\nadd.u32 %r4, %r1, 3;\n"));
static const char memory[] =
    "ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 128;\nadd.u64 "
    "%rd3, %rd1, %rd2;\n" FOUR("ld.global.u32 %r2, [%rd3];\nld.global.u32 %r3, [%rd3+4];\n");

static void one_unit(void **state)
{
    (void)state;
    const struct timed_machine *const machines[] = {&gtx480, &gs4};
    for (int i = 0; i < 2; i++) {
        struct sm_counters n = run(machines[i], sfu, 8, 256);
        assert_true(n.pipeline_sfu > n.stalls[STALL_PIPELINE] / 2);
        assert_true(n.pipeline_sfu > 1000);
        n = run(machines[i], memory, 8, 128);
        assert_true(n.pipeline_load_store > n.stalls[STALL_PIPELINE] / 2);
        assert_int_equal(n.pipeline_sfu, 0);
        n = run(machines[i], sp, 8, 256);
        assert_int_equal(n.pipeline_load_store, 0);
        assert_true(n.pipeline_sp + n.pipeline_collectors > n.stalls[STALL_PIPELINE] / 2);
    }
}

/* Nobody is in the way of a warp alone: what it waits for is its next instruction's decode, once for each fetch at
 * most. */
static void nobody_else(void **state)
{
    (void)state;
    struct sm_counters n = run(&gtx480, sp, 1, 32);
    assert_int_equal(n.pipeline_sfu + n.pipeline_load_store, 0);
    assert_true(n.pipeline_decode > 0 && n.pipeline_decode <= n.issued);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_unit), cmocka_unit_test(nobody_else)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
