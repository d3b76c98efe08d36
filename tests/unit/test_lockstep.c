/* Do blocks in lockstep run their paths in the order that one stack for the whole block gives, and come to the same
 * results as warp by warp? */
#include "lockstep_run.h"

enum { MOST = 64 };

/* What was told: runs and branches in order; masks of the first two warps. */
static struct {
    struct {
        bool is_branch, divergent;
        uint64_t instructions;
        uint32_t masks[2], not_taken[2];
    } list[MOST];
    uint32_t count, left_launches, left_blocks;
    uint64_t warp_instructions;
} told;

static void on_branch(void *state, const struct heddle_core *core, const struct heddle_block_branch *e)
{
    (void)state;
    (void)core;
    assert_true(told.count < MOST);
    told.list[told.count].is_branch = true;
    told.list[told.count].divergent = e->divergent;
    memcpy(told.list[told.count].masks, e->taken, sizeof told.list->masks);
    memcpy(told.list[told.count++].not_taken, e->not_taken, sizeof told.list->masks);
}

static void on_ran(void *state, const struct heddle_core *core, const struct heddle_block_run *e)
{
    (void)state;
    (void)core;
    for (uint32_t i = 0; i < e->warps; i++)
        told.warp_instructions += e->masks[i] ? e->instructions : 0;
    if (told.count == MOST)
        return;
    told.list[told.count].instructions = e->instructions;
    memcpy(told.list[told.count++].masks, e->masks, sizeof told.list->masks);
}

static void on_left(void *state, const struct heddle_core *core, bool whole_launch)
{
    (void)state;
    (void)core;
    *(whole_launch ? &told.left_launches : &told.left_blocks) += 1;
}

static const struct heddle_probe recorder = {
    .policy = {.abi = HEDDLE_POLICY_ABI, .name = "recorder", .help = "for tests"},
    .blocks = {.branch = on_branch, .ran = on_ran, .left = on_left},
};
static const struct heddle_probe counter = {
    .policy = {.abi = HEDDLE_POLICY_ABI, .name = "counter", .help = "for tests"},
    .blocks = {.ran = on_ran, .left = on_left},
};

#define MIDDLE       "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nmov.u32 %r1, 1;\n"
#define KERNEL(body) PTX_LOCKSTEP_HEADER KERNEL_HEAD MIDDLE body "ret;\n}\n"

static void run(struct kernel_run *k, const char *ptx, const struct heddle_probe *probe, uint32_t threads)
{
    memset(&told, 0, sizeof told);
    lockstep_open(k, ptx, NULL, probe);
    if (!kernel_launch(k, 1, threads))
        fail_msg("%s", k->error.text);
}

static void expect_run(uint32_t i, uint64_t instructions, uint32_t first, uint32_t second)
{
    assert_true(i < told.count);
    assert_false(told.list[i].is_branch);
    assert_int_equal(told.list[i].masks[0], first);
    assert_int_equal(told.list[i].masks[1], second);
    assert_int_equal(told.list[i].instructions, instructions);
}

/* Threads 8 to 39 go one way: taken first, then the others, then all together. */
static void paths_of_a_block_in_order(void **state)
{
    (void)state;
    struct kernel_run k;
    run(&k,
        KERNEL("sub.u32 %r2, %r0, 8;\nsetp.lt.u32 %p0, %r2, 32;\n@%p0 bra THEN;\n"
               "mov.u32 %r1, 2;\nadd.u32 %r1, %r1, 1;\nbra MEET;\n"
               "THEN: mov.u32 %r1, 7;\n"
               "MEET: st.global.u32 [%rd1], %r1;\n"),
        &recorder, 64);
    assert_int_equal(told.count, 5);
    assert_true(told.list[0].is_branch && told.list[0].divergent);
    assert_int_equal(told.list[0].masks[0], 0xffffff00);
    assert_int_equal(told.list[0].masks[1], 0xff);
    assert_int_equal(told.list[0].not_taken[0], 0xff);
    assert_int_equal(told.list[0].not_taken[1], 0xffffff00);
    expect_run(1, 8, UINT32_MAX, UINT32_MAX); /* with ld.param and the branch */
    expect_run(2, 1, 0xffffff00, 0xff);
    expect_run(3, 3, 0xff, 0xffffff00);
    expect_run(4, 2, UINT32_MAX, UINT32_MAX);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(k.words[i], i - 8 < 32 ? 7 : 3);
    assert_int_equal(told.warp_instructions, k.counted->warp_instructions);
    assert_int_equal(k.counted->counters.exec.divergent_branches, 2);
    kernel_close(&k);
}

/* A branch on which warps disagree but no warp diverges splits the block all the same. */
static void warps_that_part(void **state)
{
    (void)state;
    struct kernel_run k;
    run(&k, KERNEL("setp.lt.u32 %p0, %r0, 32;\n@%p0 bra MEET;\nmov.u32 %r1, 2;\nMEET: st.global.u32 [%rd1], %r1;\n"),
        &recorder, 64);
    assert_false(told.list[0].divergent);
    expect_run(2, 1, 0, UINT32_MAX); /* the taken path is where the two meet */
    expect_run(3, 2, UINT32_MAX, UINT32_MAX);
    assert_int_equal(k.counted->counters.exec.divergent_branches, 0);
    kernel_close(&k);
}

/* Thread i goes round i + 1 times. */
static void a_loop_with_many_exits(void **state)
{
    (void)state;
    struct kernel_run k;
    run(&k,
        KERNEL("mov.u32 %r2, 0;\nLOOP: add.u32 %r2, %r2, 1;\nsetp.le.u32 %p0, %r2, %r0;\n@%p0 bra LOOP;\n"
               "st.global.u32 [%rd1], %r2;\n"),
        &counter, 100);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(k.words[i], i + 1);
    assert_int_equal(told.warp_instructions, k.counted->warp_instructions);
    kernel_close(&k);
}

/* Both paths come to a barrier of their own, with what the other one wrote before it. */
static void barriers_on_both_paths(void **state)
{
    (void)state;
    struct kernel_run k;
    run(&k,
        ".version 8.0\n.target sm_60\n.address_size 64\n.shared .align 4 .b32 given[64];\n" KERNEL_HEAD MIDDLE
        "shl.b32 %r3, %r0, 2;\nmov.u32 %r4, given;\nadd.u32 %r3, %r4, %r3;\nst.shared.u32 [%r3], %r0;\n"
        "xor.b32 %r5, %r0, 1;\nshl.b32 %r5, %r5, 2;\nadd.u32 %r5, %r4, %r5;\n"
        "and.b32 %r2, %r0, 1;\nsetp.eq.u32 %p0, %r2, 1;\n@%p0 bra ODD;\n"
        "add.u32 %r6, %r0, 100;\nst.shared.u32 [%r3], %r6;\nbar.sync 0;\nld.shared.u32 %r1, [%r5];\nbra MEET;\n"
        "ODD: add.u32 %r6, %r0, 200;\nst.shared.u32 [%r3], %r6;\nbar.sync 0;\nld.shared.u32 %r1, [%r5];\n"
        "MEET: st.global.u32 [%rd1], %r1;\nret;\n}\n",
        &counter, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(k.words[i], i % 2 ? (i ^ 1) + 100 : (i ^ 1) + 200);
    assert_int_equal(told.left_blocks, 0);
    assert_int_equal(told.warp_instructions, k.counted->warp_instructions);
    kernel_close(&k);
}

/* Threads that have ended are not waited for. */
static void barriers_after_threads_end(void **state)
{
    (void)state;
    struct kernel_run k;
    run(&k, KERNEL("setp.lt.u32 %p0, %r0, 40;\n@%p0 ret;\nbar.sync 0;\nst.global.u32 [%rd1], %r1;\n"), &recorder, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(k.words[i], i >= 40);
    expect_run(0, 7, UINT32_MAX, UINT32_MAX);
    expect_run(1, 3, 0, 0xffffff00);
    kernel_close(&k);
}

static void shuffles_within_a_path(void **state)
{
    (void)state;
    struct kernel_run k;
    run(&k,
        KERNEL("and.b32 %r2, %r0, 4;\nsetp.eq.u32 %p0, %r2, 0;\n@%p0 bra MEET;\n"
               "shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xf0f0f0f0;\nMEET: st.global.u32 [%rd1], %r1;\n"),
        &counter, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(k.words[i], i & 4 ? (i ^ 1) % 32 + i / 32 * 32 : 1);
    assert_int_equal(told.left_blocks, 0);
    kernel_close(&k);
}

/* The two paths of each warp meet at a shuffle that names all lanes: the block goes on warp by warp. */
static void shuffles_across_paths(void **state)
{
    (void)state;
    struct kernel_run k;
    run(&k,
        KERNEL("and.b32 %r2, %r0, 1;\nsetp.eq.u32 %p0, %r2, 0;\n@%p0 bra EVEN;\nadd.u32 %r0, %r0, 100;\n"
               "EVEN: @%p0 bra NEXT;\nshfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffffffff;\nbra MEET;\n"
               "NEXT: shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffffffff;\nMEET: st.global.u32 [%rd1], %r1;\n"),
        &counter, 64);
    assert_int_equal(told.left_blocks, 1);
    assert_true(told.warp_instructions < k.counted->warp_instructions);
    kernel_close(&k);
}

/* Thread 32 waits for what thread 0 does after the two have met: in lockstep it would wait for ever. */
static void threads_that_spin(void **state)
{
    (void)state;
    struct kernel_run k;
    run(&k,
        KERNEL("setp.ne.u32 %p0, %r0, 32;\n@%p0 bra MEET;\n"
               "SPIN: ld.volatile.global.u32 %r2, [%rd0+4000];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra SPIN;\n"
               "MEET: st.global.u32 [%rd1], %r1;\nsetp.eq.u32 %p2, %r0, 0;\n"
               "@%p2 st.global.u32 [%rd0+4000], %r1;\n"),
        &counter, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(k.words[i], 1);
    assert_int_equal(told.left_blocks, 1);
    kernel_close(&k);
}

/* A kernel that hangs warp by warp hangs here, and is told as there. */
static void hangs_are_found(void **state)
{
    (void)state;
    struct kernel_run k;
    memset(&told, 0, sizeof told);
    lockstep_open(&k,
                  KERNEL("SPIN: ld.volatile.global.u32 %r2, [%rd0+4000];\nsetp.eq.u32 %p1, %r2, 0;\n"
                         "@%p1 bra SPIN;\n"),
                  NULL, &counter);
    assert_false(kernel_launch(&k, 1, 64));
    assert_int_equal(k.error.kind, ERROR_DEADLOCK);
    kernel_close(&k);
}

static void kernels_with_calls_are_left_out(void **state)
{
    (void)state;
    struct kernel_run k;
    run(&k,
        PTX_LOCKSTEP_HEADER
        ".func (.reg .b32 %out) more(.reg .b32 %in) {\nadd.u32 %out, %in, 1;\nret;\n}\n" KERNEL_HEAD MIDDLE
        "call (%r1), more, (%r0);\nst.global.u32 [%rd1], %r1;\nret;\n}\n",
        &counter, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(k.words[i], i + 1);
    assert_int_equal(told.left_launches, 1);
    assert_int_equal(told.warp_instructions, 0);
    kernel_close(&k);
}

static void faults_are_told(void **state)
{
    (void)state;
    struct kernel_run k;
    lockstep_open(&k, KERNEL("setp.eq.u32 %p0, %r0, 45;\n@%p0 mov.u64 %rd1, 0;\nst.global.u32 [%rd1], %r1;\n"), NULL,
                  &counter);
    assert_false(kernel_launch(&k, 1, 64));
    assert_int_equal(k.error.kind, ERROR_ADDRESS);
    assert_non_null(strstr(k.error.text, "thread (45,0,0)"));
    kernel_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_a_block_in_order),
        cmocka_unit_test(warps_that_part),
        cmocka_unit_test(a_loop_with_many_exits),
        cmocka_unit_test(barriers_on_both_paths),
        cmocka_unit_test(barriers_after_threads_end),
        cmocka_unit_test(shuffles_within_a_path),
        cmocka_unit_test(shuffles_across_paths),
        cmocka_unit_test(threads_that_spin),
        cmocka_unit_test(hangs_are_found),
        cmocka_unit_test(kernels_with_calls_are_left_out),
        cmocka_unit_test(faults_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
