/* Warps whose lanes have come apart: does every lane go on, and does what they do together stay together? And is nobody
 * let go without need? */
#include "kernel_test.h"

#define WARP_HEAD KERNEL_HEAD "mov.u32 %r0, %tid.x;\n"
/* Word 0 is a lock, word 1 is what it guards. */
#define LOCKED_ADD LOCKED_ADD_AT("T")
#define LOCKED_ADD_AT(label)                                                                                  \
    label ": atom.global.cas.b32 %r8, [%rd0], 0, 1; setp.ne.u32 %p7, %r8, 0; @%p7 bra " label ";\n"           \
          "ld.volatile.global.u32 %r9, [%rd0+4]; add.u32 %r9, %r9, 1; st.volatile.global.u32 [%rd0+4], %r9; " \
          "membar.gl; atom.global.exch.b32 %r8, [%rd0], 0;\n"
/* Words 16 and on, one per thread. */
#define PUT_R1 \
    "shl.b32 %r15, %r0, 2; cvt.u64.u32 %rd15, %r15; add.u64 %rd15, %rd15, %rd0; st.global.u32 [%rd15+64], %r1;\n"

static uint32_t put(const struct kernel_run *k, uint32_t thread) { return k->words[16 + thread]; }

static void every_lane_takes_the_lock(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_ok(&k, PTX_HEADER WARP_HEAD LOCKED_ADD "ret; }", 2, 96);
    assert_int_equal(k.words[0], 0);
    assert_int_equal(k.words[1], 192);
    kernel_close(&k);
}

/* Neither side of the branch may be the one that runs first for ever. */
static void flag_of_the_other_side(void **state)
{
    (void)state;
#define WAITING_IF(condition)                                                                                        \
    PTX_HEADER WARP_HEAD                                                                                             \
        "setp." condition ".u32 %p0, %r0, 5; @%p0 bra W; st.volatile.global.u32 [%rd0], 1; mov.u32 %r1, 1; bra E;\n" \
        "W: ld.volatile.global.u32 %r2, [%rd0]; setp.eq.u32 %p1, %r2, 0; @%p1 bra W; mov.u32 %r1, 2;\nE: " PUT_R1    \
        "ret; }"
    static const char *const texts[] = {WAITING_IF("eq"), WAITING_IF("ne")};
    for (int i = 0; i < 2; i++) {
        struct kernel_run k;
        kernel_run_ok(&k, texts[i], 1, 32);
        for (uint32_t lane = 0; lane < 32; lane++)
            assert_int_equal(put(&k, lane), (lane == 5) == (i == 0) ? 2 : 1);
        kernel_close(&k);
    }
}

/* After the lock lanes are apart; those that a shuffle names come together for it, also where each has called the
 * function by itself. */
static void shuffles_gather_strands(void **state)
{
    (void)state;
    static const char *const ways[] = {
        PTX_HEADER WARP_HEAD LOCKED_ADD "shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffffffff;\n" PUT_R1 "ret; }",
        PTX_HEADER ".func (.reg .b32 %o) swap(.reg .b32 %a) { .reg .b32 %x; .reg .b64 %unused<4>; add.u32 %x, %a, 100; "
                   "shfl.sync.bfly.b32 %x, %x, 1, 31, 0xffffffff; sub.u32 %o, %x, 100; ret; }\n" WARP_HEAD LOCKED_ADD
                   "call (%r1), swap, (%r0);\n" PUT_R1 "ret; }",
        PTX_HEADER
        ".func (.reg .b32 %o) swap(.reg .b32 %a, .reg .b64 %rd0) { .reg .b32 %r<16>; .reg .pred %p<8>;\n" LOCKED_ADD
        "shfl.sync.bfly.b32 %o, %a, 1, 31, 0xffffffff; ret; }\n" WARP_HEAD "call (%r1), swap, (%r0, %rd0);\n" PUT_R1
        "ret; }",
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct kernel_run k;
        kernel_run_ok(&k, ways[i], 1, 32);
        assert_int_equal(k.words[1], 32);
        for (uint32_t lane = 0; lane < 32; lane++)
            assert_int_equal(put(&k, lane), lane ^ 1);
        kernel_close(&k);
    }
}

/* Lanes 0 to 15 meet while lanes 16 to 31 spin until they have; one of the first has left. */
static void part_of_a_warp_meets(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_ok(
        &k,
        PTX_HEADER WARP_HEAD
        "setp.ge.u32 %p0, %r0, 16; @%p0 bra W; setp.eq.u32 %p1, %r0, 3; @%p1 bra X; setp.lt.u32 %p2, %r0, 8; mov.u32 "
        "%r1, 7; @%p2 bra M;\n"
        "W: ld.volatile.global.u32 %r2, [%rd0]; setp.eq.u32 %p3, %r2, 0; @%p3 bra W; mov.u32 %r1, 2; bra E;\n"
        "M: bar.warp.sync 0x000000ff; vote.sync.ballot.b32 %r1, %p2, 0x000000ff; st.volatile.global.u32 [%rd0], 1;\n"
        "E:" PUT_R1 "X: ret; }",
        1, 32);
    for (uint32_t lane = 0; lane < 32; lane++)
        assert_int_equal(put(&k, lane), lane == 3 ? 0 : lane < 8 ? 0xf7 : 2);
    kernel_close(&k);
}

/* A warp whose lanes come one by one counts when the last is there: at barriers, and where one arrives and goes on. */
static void barriers_count_warps_once(void **state)
{
    (void)state;
    static const char *const ways[] = {
        PTX_HEADER WARP_HEAD
        "setp.ge.u32 %p0, %r0, 32; @%p0 bra W;\n" LOCKED_ADD
        "barrier.arrive 1, 64; ret;\nW: barrier.sync 1, 64; ld.volatile.global.u32 %r1, [%rd0+4];\n" PUT_R1 "ret; }",
        PTX_HEADER WARP_HEAD "setp.ge.u32 %p0, %r0, 32; @%p0 bra W;\n" LOCKED_ADD
                             "W: bar.sync 0; ld.volatile.global.u32 %r1, [%rd0+4];\n" PUT_R1 "ret; }",
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct kernel_run k;
        kernel_run_ok(&k, ways[i], 1, 64);
        for (uint32_t thread = 32; thread < 64; thread++)
            assert_int_equal(put(&k, thread), 32);
        kernel_close(&k);
    }
}

static void barriers_reduce_over_strands(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_ok(&k,
                  PTX_HEADER WARP_HEAD LOCKED_ADD
                  "and.b32 %r2, %r0, 3; setp.eq.u32 %p0, %r2, 1; bar.red.popc.u32 %r1, 0, %p0;\n" PUT_R1 "ret; }",
                  1, 64);
    for (uint32_t thread = 0; thread < 64; thread++)
        assert_int_equal(put(&k, thread), 16);
    kernel_close(&k);
}

/* The loop counts: that it will never end by itself cannot be shown. */
static void loop_that_counts(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_ok(&k,
                  PTX_HEADER WARP_HEAD "mov.u64 %rd1, 0; L: add.u64 %rd1, %rd1, 1; atom.global.exch.b32 %r8, [%rd0], "
                                       "1; setp.ne.u32 %p0, %r8, 0; @%p0 bra L; atom.global.add.u32 %r2, [%rd0+4], 1;\n"
                                       "atom.global.exch.b32 %r8, [%rd0], 0; ret; }",
                  1, 32);
    assert_int_equal(k.words[1], 32);
    kernel_close(&k);
}

static void waiting_in_vain_is_reported(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_fails(&k,
                     PTX_HEADER WARP_HEAD
                     "setp.eq.u32 %p0, %r0, 0; @%p0 bra W; bar.sync 0; ret; W: ld.volatile.global.u32 %r1, [%rd0]; "
                     "setp.eq.u32 %p1, %r1, 0; @%p1 bra W; bar.sync 0; ret; }",
                     1, 32, ERROR_DEADLOCK, "cannot go on");
    assert_non_null(strstr(k.error.text, "lanes 00000001 spin"));
    assert_non_null(strstr(k.error.text, "lanes fffffffe of the same warp wait"));
    kernel_close(&k);
}

/* Lane 0 works for long, on its own, while the others wait for it: as before, instruction by instruction. */
static void work_is_not_spinning(void **state)
{
    (void)state;
#define WORK(header)                                                                                          \
    header WARP_HEAD "setp.ne.u32 %p0, %r0, 0; @%p0 bra E; mov.u32 %r2, 0; L: mad.lo.u32 %r1, %r1, 1664525, " \
                     "1013904223; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 50000; @%p1 bra L;\n"            \
                     "E: shfl.sync.idx.b32 %r1, %r1, 0, 31, 0xffffffff;\n" PUT_R1 "ret; }"
    static const char *const texts[] = {WORK(PTX_LOCKSTEP_HEADER), WORK(PTX_HEADER)};
    uint64_t lanes[2][WARP_LANES + 1];
    uint32_t results[2];
    for (int i = 0; i < 2; i++) {
        struct kernel_run k;
        kernel_run_ok(&k, texts[i], 1, 32);
        memcpy(lanes[i], k.counted->counters.exec.lanes, sizeof lanes[i]);
        results[i] = put(&k, 31);
        kernel_close(&k);
    }
    assert_true(lanes[0][1] >= 200000);
    assert_memory_equal(lanes[0], lanes[1], sizeof lanes[0]);
    assert_int_equal(results[0], results[1]);
}

static void same_run_same_counts(void **state)
{
    (void)state;
    uint64_t counts[2][WARP_LANES + 1];
    for (int i = 0; i < 2; i++) {
        struct kernel_run k;
        kernel_run_ok(&k, PTX_HEADER WARP_HEAD LOCKED_ADD LOCKED_ADD_AT("U") "ret; }", 3, 64);
        assert_int_equal(k.words[1], 2 * 3 * 64);
        memcpy(counts[i], k.counted->counters.exec.lanes, sizeof counts[i]);
        kernel_close(&k);
    }
    assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_lane_takes_the_lock), cmocka_unit_test(flag_of_the_other_side),
        cmocka_unit_test(shuffles_gather_strands),   cmocka_unit_test(part_of_a_warp_meets),
        cmocka_unit_test(barriers_count_warps_once), cmocka_unit_test(barriers_reduce_over_strands),
        cmocka_unit_test(loop_that_counts),          cmocka_unit_test(waiting_in_vain_is_reported),
        cmocka_unit_test(work_is_not_spinning),      cmocka_unit_test(same_run_same_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
