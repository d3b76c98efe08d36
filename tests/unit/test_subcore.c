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
    timed_open(&t, &h200, SETS(SMALL, lowers), ".shared .align 4 .b8 tile[64];", body);
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

/* From the multiplier to the adder and back: one cycle each way. To special functions none, and two from there. */
static void crossing(void **state)
{
    (void)state;
    assert_int_equal(of_32(AS_WRITTEN, "mul.lo.s32 %r1, %r1, %r2;\nxor.b32 %r1, %r1, %r3;\n", 1), 32 * 10);
    assert_int_equal(of_32(AS_WRITTEN, "rcp.approx.ftz.f32 %f1, %f1;\nadd.f32 %f1, %f1, %f2;\n", 1), 32 * 23);
    assert_int_equal(of_32(AS_WRITTEN, "add.f64 %fd1, %fd1, %fd2;\nand.b64 %fd1, %fd1, %fd3;\n", 1), 32 * 16);
}

/* A predicate is there after 4 cycles as an operand, and after 13 as a guard or for a vote. */
static void predicates(void **state)
{
    (void)state;
    assert_int_equal(of_32(AS_WRITTEN, "setp.gt.s32 %p1, %r1, %r2;\nselp.b32 %r1, %r3, %r4, %p1;\n", 1), 32 * 8);
    assert_int_equal(of_32(AS_WRITTEN, "setp.gt.s32 %p1, %r1, %r2;\n@%p1 xor.b32 %r1, %r1, %r3;\n", 1), 32 * 17);
    assert_int_equal(of_32(AS_WRITTEN, "setp.gt.s32 %p1, %r1, %r2;\nvote.sync.ballot.b32 %r1, %p1, -1;\n", 1), 32 * 17);
}

static uint64_t of_loop(const char *lowers, uint32_t rounds)
{
    struct text body = {0};
    say(&body, "mov.u32 %%r1, %u;\nL:\n.pragma \"nounroll\";\nsub.u32 %%r1, %%r1, 1;\nsetp.ne.u32 %%p1, %%r1, 0;\n",
        rounds);
    say(&body, "@%%p1 bra L;\n");
    uint64_t cycles = run(lowers, body.s, 32);
    free(body.s);
    return cycles;
}

/* A round: 4 cycles of the counter, or 6 from a uniform register, 13 of its condition, 10 of the branch. */
static void loops(void **state)
{
    (void)state;
    assert_int_equal(of_loop(AS_WRITTEN, 64) - of_loop(AS_WRITTEN, 32), 32 * (4 + 13 + 10));
    assert_int_equal(of_loop("rules.lowers=true", 64) - of_loop("rules.lowers=true", 32), 32 * (6 + 13 + 10));
}

/* A branch that no thread takes costs 5 cycles. */
static void branches_not_taken(void **state)
{
    (void)state;
    uint64_t cycles[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct text body = {0};
        say(&body, "setp.ne.u32 %%p1, %%r1, %%r1;\n");
        say_times(&body, 32 * (i + 1), "@%p1 bra L;\n");
        say(&body, "L:\n");
        cycles[i] = run(AS_WRITTEN, body.s, 32);
        free(body.s);
    }
    assert_int_equal(cycles[1] - cycles[0], 32 * 5);
}

/* A byte of a register is one instruction, another field at a fixed place two. */
static void fields(void **state)
{
    (void)state;
    static const struct {
        const char *operands;
        uint32_t cycles;
    } rows[] = {{"8, 8", 4}, {"3, 8", 8}};
    for (int n = 0; n < 2; n++) {
        uint64_t cycles[2];
        for (int i = 0; i < 2; i++) {
            struct text body = {0};
            say(&body, "ld.param.u64 %%rd1, [buffer];\nld.global.u32 %%r40, [%%rd1];\n");
            for (int k = 0; k < 8 * (i + 1); k++)
                say(&body, "bfe.u32 %%r%d, %%r%d, %s;\n", 41 + k, 40 + k, rows[n].operands);
            say(&body, "st.global.u32 [%%rd1], %%r%d;\n", 40 + 8 * (i + 1));
            cycles[i] = run("rules.lowers=true", body.s, 32);
            free(body.s);
        }
        assert_int_equal(cycles[1] - cycles[0], 8 * rows[n].cycles);
    }
}

/* Additions go to the multiplier where the adder has more to do, and stay where products keep that busy: one cycle each
 * way between the two. One that does the work of a product is a product. */
static void additions_choose(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        uint32_t cycles;
    } others[] = {{"xor.b32", 5 + 5}, {"mul.hi.u32", 5 + 10}, {"mul.lo.u32", 4}};
    for (int n = 0; n < 3; n++) {
        uint64_t cycles[2];
        for (int i = 0; i < 2; i++) {
            struct text body = {0};
            say(&body, "ld.param.u64 %%rd1, [buffer];\nld.global.v2.u32 {%%r40, %%r1}, [%%rd1];\n");
            for (int k = 0; k < 8 * (i + 1); k++)
                say(&body, "sub.s32 %%r%d, %%r%d, %%r1;\n%s %%r%d, %%r%d, %%r1;\n", 21 + k, 40 + k, others[n].opcode,
                    41 + k, 21 + k);
            say(&body, "st.global.u32 [%%rd1], %%r%d;\n", 40 + 8 * (i + 1));
            cycles[i] = run("rules.lowers=true", body.s, 32);
            free(body.s);
        }
        assert_int_equal(cycles[1] - cycles[0], 8 * others[n].cycles);
    }
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

/* An interval is kept to the eighth of a cycle: four fused multiply-adds of 64 bits take 9. */
static void parts_of_cycles(void **state)
{
    (void)state;
    assert_int_equal(of_32(AS_WRITTEN,
                           "fma.rn.f64 %fd1, %fd10, %fd11, %fd12;\nfma.rn.f64 %fd2, %fd10, %fd11, %fd12;\n"
                           "fma.rn.f64 %fd3, %fd10, %fd11, %fd12;\nfma.rn.f64 %fd4, %fd10, %fd11, %fd12;\n",
                           1),
                     32 * 9);
}

/* A sub-core sends an instruction to memory every fourth cycle, the core one in each. */
static void memory_interval(void **state)
{
    (void)state;
    const char *text = "st.shared.u32 [tile], %r1;\nst.shared.u32 [tile+4], %r2;\n";
    assert_int_equal(of_32(AS_WRITTEN, text, 1), 32 * 8);
    assert_int_equal(of_32(AS_WRITTEN, text, 4), 32 * 8);
    assert_int_equal(of_32(AS_WRITTEN, text, 8), 32 * 16);
}

/* Fences of the whole GPU: 263 cycles each, and no more than one of a core in 11. */
static void fences(void **state)
{
    (void)state;
    assert_in_range(of_32(AS_WRITTEN, "membar.gl;\n", 1), 32 * 263, 32 * 266);
    assert_in_range(of_32(AS_WRITTEN, "membar.gl;\n", 32), 32 * 32 * 11, 32 * (32 * 11 + 3));
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

/* Eight warps of a scheduler, a round of each 32 additions and the three of its loop: every slot is used, up to the
 * end, since no warp is left alone there. */
static void no_warp_starves(void **state)
{
    (void)state;
    uint64_t cycles[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct text body = {0};
        say(&body, "ld.param.u64 %%rd1, [buffer];\nld.global.v4.f32 {%%f1, %%f2, %%f3, %%f4}, [%%rd1];\n");
        say(&body, "mov.u32 %%r1, %u;\nL:\n.pragma \"nounroll\";\n", 32 * (i + 1));
        for (uint32_t k = 0; k < 32; k++)
            say(&body, "add.f32 %%f%u, %%f%u, %%f5;\n", 1 + k % 4, 1 + k % 4);
        say(&body, "sub.u32 %%r1, %%r1, 1;\nsetp.ne.u32 %%p1, %%r1, 0;\n@%%p1 bra L;\n");
        say(&body, "st.global.v4.f32 [%%rd1], {%%f1, %%f2, %%f3, %%f4};\n");
        cycles[i] = run("rules.lowers=true", body.s, 1024);
        free(body.s);
    }
    assert_in_range(cycles[1] - cycles[0], 32 * 8 * 35, 32 * 8 * 35 * 103 / 100);
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

/* An atomic of shared memory whose threads are known to have one address. Each gets the sum of those before it:
 * shuffles take most of the time. With an address that the assembler does not know to be one, lanes take turns, 2
 * cycles each. Others do not wait behind the shuffles. Where nobody wants the sum, a warp alone waits for its own
 * machine instructions; sixteen of them take what the units take. */
static void warps_add_up(void **state)
{
    (void)state;
    static const char sum[] = "red.shared.add.u32 [tile], %r1;\nadd.s32 %r1, %r1, %r2;\n";
    assert_int_equal(of_32("rules.lowers=true", sum, 1), 32 * 16);
    assert_in_range(of_32("rules.lowers=true", sum, 16), 32 * 40, 32 * 41);
    static const char one[] = "atom.shared.add.u32 %r1, [tile], %r1;\n",
                      any[] = "and.b32 %r2, %r1, 0;\nadd.u32 %r2, %r2, tile;\natom.shared.exch.b32 %r1, [%r2], %r1;\n";
    assert_int_equal(of_32("rules.lowers=true", one, 1), 32 * 255);
    uint64_t turns = of_32("rules.lowers=true", any, 1) / 32;
    assert_in_range(turns, 88, 100);
    struct text body = {0}; /* a warp that adds up, and one that loads meanwhile */
    say_times(&body, 1, "mov.u32 %r2, %tid.x;\nsetp.lt.u32 %p1, %r2, 32;\n@%p1 bra adds;\n");
    say_times(&body, 280, "ld.volatile.shared.u32 %r1, [tile];\nxor.b32 %r3, %r1, %r3;\n");
    say_times(&body, 1, "bra done;\nadds:\n");
    say_times(&body, 32, one);
    say_times(&body, 1, "done:\n");
    assert_in_range(run("rules.lowers=true", body.s, 64), 32 * 255, 32 * 255 + 500);
    free(body.s);
}

/* A store hands over its data register by register. */
static void stores_of_vectors(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "st.volatile.shared.u32 [tile], %r1;\nld.volatile.shared.u32 %r1, [tile];\n",
        "st.volatile.shared.v2.u32 [tile], {%r1, %r2};\nld.volatile.shared.v2.u32 {%r1, %r2}, [tile];\n",
        ("st.volatile.shared.v4.u32 [tile], {%r1, %r2, %r3, %r4};\n"
         "ld.volatile.shared.v4.u32 {%r1, %r2, %r3, %r4}, [tile];\n")};
    for (uint32_t i = 0; i < 3; i++) /* one address: no conflicts */
        assert_int_equal(of_32("rules.lowers=true", texts[i], 1), 32 * (22 + (4 << i)));
}

/* Cycles of 32 loads that hit the L1, each of 32 lines, by a warp whose lanes are so many bytes apart. */
static uint64_t loads_apart(const char *bytes)
{
    uint64_t cycles[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct text body = {0};
        say_times(&body, 1, "ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, ");
        say_times(&body, 1, bytes);
        say_times(&body, 1, ";\nadd.u64 %rd1, %rd1, %rd2;\nmov.u32 %r4, 0;\n");
        say_times(&body, 32 * (i + 1),
                  "ld.volatile.global.u32 %r3, [%rd1];\ncvt.u64.u32 %rd3, %r3;\nadd.u64 %rd1, %rd1, %rd3;\n");
        cycles[i] = run("rules.volatile_past_l1=false", body.s, 32);
        free(body.s);
    }
    return cycles[1] - cycles[0];
}

/* A load comes from the L1's banks: words of 32 lines at the same place take 32 cycles, and looking them up 8 of these.
 */
static void l1_banks(void **state)
{
    (void)state;
    assert_int_equal(loads_apart("128") - loads_apart("132"), 32 * (32 - 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(latencies),
                                       cmocka_unit_test(crossing),
                                       cmocka_unit_test(predicates),
                                       cmocka_unit_test(loops),
                                       cmocka_unit_test(branches_not_taken),
                                       cmocka_unit_test(fields),
                                       cmocka_unit_test(additions_choose),
                                       cmocka_unit_test(intervals),
                                       cmocka_unit_test(parts_of_cycles),
                                       cmocka_unit_test(memory_interval),
                                       cmocka_unit_test(fences),
                                       cmocka_unit_test(warps_apart),
                                       cmocka_unit_test(no_warp_starves),
                                       cmocka_unit_test(barriers),
                                       cmocka_unit_test(warps_add_up),
                                       cmocka_unit_test(l1_banks),
                                       cmocka_unit_test(stores_of_vectors),
                                       cmocka_unit_test(fused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
