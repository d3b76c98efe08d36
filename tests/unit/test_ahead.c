/* Do cores that run ahead of each other, past what they load and store, leave the same in memory as cores that go cycle
 * by cycle? The kernels make the order of all loads and stores of all cores matter, or let others use the registers and
 * lines of a load before its value is there.
 * Left out of quick: it runs for fifteen seconds.
 * Left out of second builds: other compilers have cli/lockstep. */
#include "timing_test.h"

enum { BLOCKS = 40, THREADS = 192, COMPARED = 1 << 20 };
static uint32_t blocks = BLOCKS, threads_of_block = THREADS;

#define HEAD                                                                                              \
    "ld.param.u64 %rd0, [buffer];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\n" \
    "mad.lo.u32 %r3, %r1, %r2, %r0;\nmov.u32 %r4, 0;\nmov.u32 %r5, %r3;\nLOOP:\n"
#define TAIL                                                                                        \
    "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p0, %r4, 24;\n@%p0 bra LOOP;\nmul.wide.u32 %rd5, %r3, 4;\n" \
    "add.u64 %rd5, %rd5, %rd0;\nst.global.u32 [%rd5+524288], %r5;\n"
/* Of 2048 words that all blocks share: the one at a thread's number times `factor`, and some more with each round. */
#define PLACE(register, factor)                                                                            \
    "mad.lo.u32 %r20, %r3, " factor ", %r4;\nmad.lo.u32 %r20, %r4, 37, %r20;\nand.b32 %r20, %r20, 2047;\n" \
    "mul.wide.u32 " register ", %r20, 4;\nadd.u64 " register ", " register ", %rd0;\n"

struct memory_image {
    uint64_t cycles;
    struct sm_counters counters;
    uint8_t *bytes;
};

static struct memory_image run(const struct timed_machine *machine, const char *body)
{
    struct memory_image m = {.bytes = malloc(COMPARED)};
    struct timed t;
    timed_open(&t, machine, NO_SETS, "", body);
    for (uint32_t i = 0; i < COMPARED / 4; i++) {
        uint32_t word = i * 2654435761u >> 7;
        memcpy(t.buffer + 4 * i, &word, 4);
    }
    m.cycles = timed_launch(&t, blocks, threads_of_block, 0);
    m.counters = t.counters->sm;
    assert_non_null(m.bytes);
    memcpy(m.bytes, t.buffer, COMPARED);
    timed_close(&t);
    return m;
}

static void check(const char *body)
{
    static const char *const machines[] = {"gtx480", "gtx480-gs4", "h200"};
    const bool is_short = getenv("TEST_SHORT"); /* sanitizers */
    const uint32_t threads_most = is_short ? 2 : 3;
    if (is_short && blocks == BLOCKS)
        blocks = BLOCKS / 2; /* more than gtx480 has cores */
    setenv("HEDDLE_ALWAYS_THREADS", "1", 1);
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i += is_short ? 2 : 1) {
        struct memory_image wanted = run(&(struct timed_machine){.name = machines[i], .lockstep = true}, body);
        for (uint32_t threads = is_short && i ? 2 : 1; threads <= threads_most; threads++) {
            struct memory_image m = run(&(struct timed_machine){.name = machines[i], .threads = threads}, body);
            assert_int_equal(m.cycles, wanted.cycles);
            assert_memory_equal(&m.counters, &wanted.counters, sizeof m.counters);
            assert_memory_equal(m.bytes, wanted.bytes, COMPARED);
            free(m.bytes);
        }
        free(wanted.bytes);
    }
}

/* Every thread reads and writes words that those of other cores read and write at the same time. */
static void order_of_all(void **state)
{
    (void)state;
    check(HEAD PLACE("%rd1", "7") "ld.global.u32 %r6, [%rd1];\nadd.u32 %r5, %r5, %r6;\n" PLACE(
        "%rd2", "13") "st.global.u32 [%rd2], %r5;\n" TAIL);
}

/* What is loaded is never read: its place goes to the value after it, which is there before. */
static void unread_result(void **state)
{
    (void)state;
    check(HEAD PLACE("%rd1", "33") "ld.global.u32 %r6, [%rd1];\n"
                                   "xor.b32 %r7, %r5, 305419896;\nmul.lo.u32 %r8, %r7, 3;\nadd.u32 %r9, %r8, %r4;\n"
                                   "mul.lo.u32 %r10, %r9, 5;\nxor.b32 %r11, %r10, %r9;\nadd.u32 %r5, %r11, 1;\n" TAIL);
}

/* All warps go through the same lines, each at its own pace: most find them there, or on their way, some just before
 * they come. */
static void same_lines(void **state)
{
    (void)state;
    check(HEAD "shr.u32 %r22, %r3, 5;\nmul.lo.u32 %r22, %r22, 11;\nmad.lo.u32 %r22, %r4, 7, %r22;\n"
               "and.b32 %r22, %r22, 31;\nWAIT:\nsub.u32 %r22, %r22, 1;\nsetp.gt.s32 %p1, %r22, 0;\n@%p1 bra WAIT;\n"
               "and.b32 %r21, %r0, 31;\nmad.lo.u32 %r21, %r4, 32, %r21;\nmul.wide.u32 %rd1, %r21, 4;\n"
               "add.u64 %rd1, %rd1, %rd0;\nld.global.u32 %r6, [%rd1];\nadd.u32 %r5, %r5, %r6;\n"
               "ld.global.u32 %r7, [%rd1+16384];\nmad.lo.u32 %r5, %r5, 3, %r7;\n" TAIL);
}

/* Of two warps the second asks for the same line later, by more or less in each round: also just before it comes. The
 * other warps are there so that the launch is known to last. */
static void line_on_its_way(void **state)
{
    (void)state;
    blocks = 15;
    threads_of_block = 1024;
    check("mov.u32 %r24, 0;\n" HEAD "setp.ge.u32 %p2, %r0, 64;\n@%p2 bra MEET;\nmul.lo.u32 %r22, %r24, 5;\nrem.u32 "
          "%r22, %r22, 37;\nand.b32 %r23, %r0, 32;\nsetp.eq.u32 %p2, %r23, 0;\n"
          "@%p2 bra ASK;\nWAIT:\nsub.u32 %r22, %r22, 1;\nsetp.gt.s32 %p1, %r22, 0;\n@%p1 bra WAIT;\nASK:\n"
          "and.b32 %r21, %r0, 31;\nmad.lo.u32 %r21, %r24, 32, %r21;\nmad.lo.u32 %r21, %r1, 4096, %r21;\n"
          "mul.wide.u32 %rd1, %r21, 4;\nadd.u64 %rd1, %rd1, %rd0;\nld.global.u32 %r6, [%rd1];\n"
          "mad.lo.u32 %r5, %r5, 3, %r6;\nMEET:\nbar.sync 0;\nadd.u32 %r24, %r24, 1;\nsetp.lt.u32 %p3, %r24, 96;\n"
          "@%p3 bra LOOP;\nmov.u32 %r4, 24;\n" TAIL);
    blocks = BLOCKS;
    threads_of_block = THREADS;
}

/* The address that was loaded from is written over at once, and so is what was stored. */
static void operands_change(void **state)
{
    (void)state;
    check(HEAD PLACE("%rd1", "5") "ld.global.u32 %r6, [%rd1];\nadd.u64 %rd1, %rd1, 8192;\n"
                                  "st.global.u32 [%rd1], %r5;\nadd.u32 %r5, %r5, 77;\nadd.u64 %rd1, %rd1, 8192;\n"
                                  "ld.global.u32 %r7, [%rd1];\nadd.u32 %r5, %r5, %r6;\nxor.b32 %r5, %r5, %r7;\n" TAIL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_all),    cmocka_unit_test(unread_result),   cmocka_unit_test(same_lines),
        cmocka_unit_test(line_on_its_way), cmocka_unit_test(operands_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
