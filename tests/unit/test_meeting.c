/* Threads that come to the same block by several branches, one of which leads past it: do they run it together, each
 * once, and do those that went past it stay out? */
#include "timing_test.h"

enum { ROUNDS = 40, ROUND_INSTRUCTIONS = 3, LANES = 32 };

#define HEAD                                                                                               \
    "ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd1, %rd1, " \
    "%rd2;\nand.b32 %r2, %r1, 7;\nmov.u32 %r9, 100;\n"
#define TEST(value) "setp.eq.u32 %p1, %r2, " value ";\n@%p1 bra THEN;\nadd.u32 %r9, %r9, 1;\n"
/* The last one falls through, or leads past. */
#define LAST_TEST(value) "setp.ne.u32 %p1, %r2, " value ";\n@%p1 bra DONE;\n"
#define THEN                                                                                              \
    "THEN:\nmov.u32 %r3, 40;\nL:\n.pragma \"nounroll\";\nadd.u32 %r9, %r9, %r2;\nadd.u32 %r3, %r3, -1;\n" \
    "setp.ne.u32 %p2, %r3, 0;\n@%p2 bra L;\n"
#define DONE "DONE:\nst.global.u32 [%rd1], %r9;\n"

static uint64_t instructions(const char *body, uint32_t out[LANES])
{
    struct timed t;
    timed_open(&t, &(struct timed_machine){.name = "h200"},
               SETS("machine.cores=1", "machine.memory_bytes=256M", "machine.launch_cycles=0"), "", body);
    exec_image_destroy(t.image);
    struct ptx_module *m = ptx_parse("test.ptx", t.source, strlen(t.source), &t.error);
    t.image = gpu_load(t.gpu, &m, 1, false, &t.error); /* as the machine's assembler has it */
    assert_non_null(t.image);
    timed_launch(&t, 1, LANES, 0);
    memcpy(out, t.buffer, LANES * sizeof *out);
    uint64_t sum = counters_warp_instructions(t.counters);
    timed_close(&t);
    return sum;
}

static void the_loop_runs_once(void **state)
{
    (void)state;
    uint32_t out[LANES];
    uint64_t once = ROUNDS * ROUND_INSTRUCTIONS;
    uint64_t sum = instructions(HEAD TEST("0") TEST("1") TEST("2") LAST_TEST("3") THEN DONE, out);
    assert_in_range(sum, once, 2 * once); /* and not four times */
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t x = i % 8, tests = x < 3 ? x : 3;
        assert_int_equal(out[i], 100 + tests + (x < 4 ? ROUNDS * x : 0));
    }
}

/* Within a branch of some of the threads, whose others come to the same end. */
static void inside_another_branch(void **state)
{
    (void)state;
    uint32_t out[LANES];
    uint64_t once = ROUNDS * ROUND_INSTRUCTIONS;
    uint64_t sum = instructions(
        HEAD "setp.gt.u32 %p3, %r1, 15;\n@%p3 bra DONE;\n" TEST("5") TEST("1") LAST_TEST("3") THEN DONE, out);
    assert_in_range(sum, once, 2 * once);
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t x = i % 8, tests = x == 5 ? 0 : x == 1 ? 1 : 2;
        assert_int_equal(out[i], i > 15 ? 100 : 100 + tests + (x == 5 || x == 1 || x == 3 ? ROUNDS * x : 0));
    }
}

/* All threads that are left take the last branch. */
static void nobody_goes_past(void **state)
{
    (void)state;
    uint32_t out[LANES];
    uint64_t once = ROUNDS * ROUND_INSTRUCTIONS;
    uint64_t sum =
        instructions(HEAD "and.b32 %r2, %r2, 3;\n" TEST("0") TEST("1") TEST("2") LAST_TEST("3") THEN DONE, out);
    assert_in_range(sum, once, 2 * once);
    for (uint32_t i = 0; i < LANES; i++)
        assert_int_equal(out[i], 100 + i % 4 + ROUNDS * (i % 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loop_runs_once),
        cmocka_unit_test(inside_another_branch),
        cmocka_unit_test(nobody_goes_past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
