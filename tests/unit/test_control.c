/* Does a warp go where PTX says: divergence, reconvergence, calls, barriers; and does a kernel that cannot end say
 * so? */
#include "kernel_test.h"

/* 4 lanes, if (lane < 2) A else B; C: the taken path runs first, then the other, then both together. */
static void if_else_reconverges(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_ok(&k,
                  PTX_HEADER KERNEL_HEAD
                  "mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 2; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd0, %rd1;\n"
                  "@%p0 bra A;\n"
                  "atom.global.add.u32 %r1, [%rd0+64], 1; st.global.u32 [%rd2], %r1; bra C;\n"
                  "A: atom.global.add.u32 %r1, [%rd0+64], 1; st.global.u32 [%rd2], %r1;\n"
                  "C: activemask.b32 %r2; st.global.u32 [%rd2+32], %r2; ret; }",
                  1, 4);
    assert_int_equal(k.words[0], 0);
    assert_int_equal(k.words[1], 1);
    assert_int_equal(k.words[2], 2);
    assert_int_equal(k.words[3], 3);
    for (int i = 0; i < 4; i++)
        assert_int_equal(k.words[8 + i], 15);
    assert_int_equal(k.counted->counters.exec.divergent_branches, 1);
    kernel_close(&k);
}

/* Lane i goes round i + 1 times: the mask shrinks by one lane an iteration, and all meet behind the loop. */
static void loop_exits_one_by_one(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_ok(&k,
                  PTX_HEADER KERNEL_HEAD "mov.u32 %r0, %tid.x; mov.u32 %r1, 0;\n"
                                         "L: add.u32 %r1, %r1, 1; setp.le.u32 %p0, %r1, %r0; @%p0 bra L;\n"
                                         "mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd0, %rd1; activemask.b32 %r2; "
                                         "st.global.u32 [%rd2], %r1; st.global.u32 [%rd2+128], %r2; ret; }",
                  1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(k.words[i], i + 1);
        assert_int_equal(k.words[32 + i], 0xffffffff);
    }
    for (int n = 1; n < 32; n++)
        assert_int_equal(k.counted->counters.exec.lanes[n], 3); /* add, setp, bra */
    assert_int_equal(k.counted->counters.exec.branches, 32);
    assert_int_equal(k.counted->counters.exec.divergent_branches, 31);
    kernel_close(&k);
}

static void recursion_returns(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_ok(&k,
                  PTX_HEADER ".func (.param .b32 r) sum(.param .b32 n) { .reg .pred %p; .reg .b32 %a, %b; ld.param.u32 "
                             "%a, [n]; setp.eq.u32 %p, %a, 0; @%p bra Z;\n"
                             "{ .param .b32 x; .param .b32 y; sub.u32 %b, %a, 1; st.param.b32 [x], %b; call (y), sum, "
                             "(x); ld.param.b32 %b, [y]; }\n"
                             "add.u32 %a, %a, %b; Z: st.param.b32 [r], %a; ret; }\n" KERNEL_HEAD
                             "mov.u32 %r0, %tid.x; { .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call (y), "
                             "sum, (x); ld.param.b32 %r1, [y]; }\n"
                             "mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd0, %rd1; st.global.u32 [%rd2], %r1; ret; }",
                  1, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(k.words[i], i * (i + 1) / 2);
    kernel_close(&k);
}

static void endless_recursion_is_reported(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_fails(&k,
                     PTX_HEADER ".func deep(.param .b32 n) { .local .b8 space[64]; .param .b32 x; .reg .b32 %a; "
                                "ld.param.u32 %a, [n]; st.param.b32 [x], %a; call deep, (x); ret; }\n" KERNEL_HEAD
                                "{ .param .b32 x; st.param.b32 [x], 1; call deep, (x); } ret; }",
                     1, 32, ERROR_ADDRESS, "stack");
    kernel_close(&k);
}

static void barrier_orders_warps(void **state)
{
    (void)state;
    struct kernel_run k; /* each thread reads what the thread 33 further wrote before the barrier */
    kernel_run_ok(&k,
                  PTX_HEADER KERNEL_HEAD
                  ".shared .b32 s[256]; mov.u32 %r0, %tid.x; mov.u32 %r3, s; shl.b32 %r1, %r0, 2; add.u32 %r2, %r3, "
                  "%r1; st.shared.u32 [%r2], %r0; bar.sync 0;\n"
                  "add.u32 %r4, %r0, 33; and.b32 %r4, %r4, 255; shl.b32 %r4, %r4, 2; add.u32 %r4, %r3, %r4; "
                  "ld.shared.u32 %r5, [%r4];\n"
                  "mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd0, %rd1; st.global.u32 [%rd2], %r5; ret; }",
                  1, 256);
    for (uint32_t i = 0; i < 256; i++)
        assert_int_equal(k.words[i], (i + 33) % 256);
    kernel_close(&k);
}

static void missing_arrival_is_reported(void **state)
{
    (void)state;
    struct kernel_run k; /* warp 0 waits at barrier 1, warp 1 at barrier 2 */
    kernel_run_fails(&k,
                     PTX_HEADER KERNEL_HEAD
                     "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; add.u32 %r1, %r1, 1; barrier.sync %r1; ret; }",
                     1, 64, ERROR_DEADLOCK, "barrier 1, where 32 of 64");
    kernel_close(&k);
}

/* The classic: every lane of a warp tries to take the same lock, and the one that got it waits for the others to leave
 * the loop. */
static void lock_between_lanes_is_reported(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_fails(&k,
                     PTX_LOCKSTEP_HEADER KERNEL_HEAD
                     "SPIN: atom.global.cas.b32 %r0, [%rd0], 0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra SPIN;\n"
                     "atom.global.add.u32 %r1, [%rd0+4], 1; atom.global.exch.b32 %r0, [%rd0], 0; ret; }",
                     1, 32, ERROR_DEADLOCK, "lanes of one warp spin");
    kernel_close(&k);
}

static void loop_without_end_is_reported(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_fails(&k, PTX_HEADER KERNEL_HEAD "L: bra L; }", 1, 32, ERROR_DEADLOCK, "spins without effect");
    kernel_close(&k);
}

static void counting_without_end_meets_the_limit(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_open(&k, PTX_HEADER KERNEL_HEAD "mov.u64 %rd1, 0; L: add.u64 %rd1, %rd1, 1; bra L; }");
    k.gpu->options.max_cycles = 100000;
    assert_false(kernel_launch(&k, 1, 32));
    assert_int_equal(k.error.kind, ERROR_LIMIT);
    kernel_close(&k);
}

/* All blocks wait until the last one has arrived: they must be resident together. */
static void blocks_make_progress_together(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_ok(&k,
                  PTX_HEADER KERNEL_HEAD
                  "mov.u32 %r0, %tid.x; mov.u32 %r2, %nctaid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra W; "
                  "atom.global.add.u32 %r1, [%rd0], 1;\n"
                  "S: ld.volatile.global.u32 %r1, [%rd0]; setp.lt.u32 %p1, %r1, %r2; @%p1 bra S;\n"
                  "W: bar.sync 0; ret; }",
                  24, 64);
    assert_int_equal(k.words[0], 24);
    kernel_close(&k);
}

/* A return inside a nested if leaves the two sides of the outer one without a place to meet; shfl.sync and vote.sync
 * are one all the same. */
static void sync_instructions_gather_their_lanes(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_ok(&k,
                  PTX_HEADER KERNEL_HEAD "mov.u32 %r0, %laneid; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; @%p0 bra "
                                         "JOIN; setp.eq.u32 %p1, %r0, 1; @%p1 bra OUT;\n"
                                         "JOIN: shfl.sync.bfly.b32 %r2, %r0, 1, 31, 0xfffffffd; setp.gt.u32 %p2, %r0, "
                                         "7; vote.sync.ballot.b32 %r3, %p2, 0xfffffffd;\n"
                                         "mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd0, %rd1; st.global.u32 [%rd2], "
                                         "%r2; st.global.u32 [%rd2+128], %r3; ret; OUT: ret; }",
                  1, 32);
    for (uint32_t i = 2; i < 32; i++) {
        assert_int_equal(k.words[i], i ^ 1);
        assert_int_equal(k.words[32 + i], 0xffffff00);
    }
    kernel_close(&k);
}

/* The same before a barrier that the paths reach one after the other: it counts the warp once. */
static void sync_and_barrier_in_parted_paths(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_ok(&k,
                  PTX_HEADER KERNEL_HEAD
                  ".shared .b32 s[64]; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; @%p0 bra "
                  "JOIN; setp.eq.u32 %p1, %r0, 1; @%p1 bra OUT;\n"
                  "JOIN: mov.u32 %r5, s; shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %r5; redux.sync.add.u32 %r2, 1, "
                  "0xffffffff; st.shared.u32 [%r4], %r2; bar.sync 0;\n"
                  "xor.b32 %r6, %r0, 34; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r5; ld.shared.u32 %r7, [%r6];\n"
                  "mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd0, %rd1; st.global.u32 [%rd2], %r7; ret; OUT: ret; }",
                  1, 64);
    for (uint32_t i = 0; i < 64; i++)
        if (i != 1 && i != 35)
            assert_int_equal(k.words[i], i < 32 ? 32 : 31);
    kernel_close(&k);
}

/* Room for blocks is handed from launch to launch; a kernel of another shape, or after a fault, gets its own. */
static void launches_follow_one_another(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_open(&k, PTX_HEADER KERNEL_HEAD "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 "
                                           "%r5, %nctaid.x; mad.lo.u32 %r3, %r1, %r2, %r0;\n"
                                           "mul.wide.u32 %rd1, %r3, 4; add.u64 %rd1, %rd1, %rd0; ld.global.u32 %r4, "
                                           "[%rd1]; add.u32 %r4, %r4, %r5; st.global.u32 [%rd1], %r4; ret; }");
    for (int i = 0; i < 3; i++)
        assert_true(kernel_launch(&k, 4, 64));
    assert_true(kernel_launch(&k, 2, 64));
    assert_true(kernel_launch(&k, 2, 40));
    assert_true(kernel_launch(&k, 40, 64));
    k.gpu->memory->exact_bounds = true;
    assert_false(kernel_launch(&k, KERNEL_WORDS / 64 + 1, 64)); /* one block too many for the buffer */
    assert_int_equal(k.error.kind, ERROR_ADDRESS);
    k.error = (struct error){0};
    memset(k.words, 0, KERNEL_WORDS * 4);
    for (int i = 0; i < 2; i++)
        assert_true(kernel_launch(&k, 4, 64));
    for (int i = 0; i < 256; i++)
        assert_int_equal(k.words[i], 8);
    assert_int_equal(k.words[256], 0);
    kernel_close(&k);
}

static void trap_names_the_place(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_fails(&k, PTX_HEADER KERNEL_HEAD "mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 37;\n@%p0 trap;\nret; }",
                     2, 64, ERROR_TRAP, "test.ptx:9: trap\n  block (0,0,0), thread (37,0,0)");
    kernel_close(&k);
}

static void printf_formats(void **state)
{
    (void)state;
    struct kernel_run k;
    char *text = NULL;
    size_t size = 0;
    kernel_open(&k, PTX_HEADER
                ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                ".global .align 1 .b8 fmt[24] = "
                "{37,100,32,37,53,46,50,102,124,37,108,108,120,32,37,115,37,37,10,0};\n"
                ".global .align 1 .b8 word[4] = {111,107,0};\n" KERNEL_HEAD
                ".local .align 8 .b8 args[32]; .reg .f64 %d0; mov.u32 %r0, -7; st.local.u32 [args], %r0; "
                "mov.f64 %d0, "
                "0d3FF8000000000000; st.local.f64 [args+8], %d0;\n"
                "mov.u64 %rd1, 0xabcdef0123; st.local.u64 [args+16], %rd1; mov.u64 %rd2, word; cvta.global.u64 "
                "%rd2, %rd2; "
                "st.local.u64 [args+24], %rd2;\n"
                "mov.u64 %rd3, fmt; cvta.global.u64 %rd3, %rd3; mov.u64 %rd4, args; cvta.local.u64 %rd4, %rd4;\n"
                "{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %rd3; st.param.b64 [b], %rd4; "
                "call (c), "
                "vprintf, (a, b); ld.param.b32 %r1, [c]; }\n"
                "st.global.u32 [%rd0], %r1; ret; }");
    k.gpu->printf_out = open_memstream(&text, &size);
    assert_true(kernel_launch(&k, 1, 1));
    fclose(k.gpu->printf_out);
    assert_string_equal(text, "-7  1.50|abcdef0123 ok%\n");
    free(text);
    kernel_close(&k);
}

static void heap_gives_and_takes_back(void **state)
{
    (void)state;
    struct kernel_run k;
    kernel_run_ok(
        &k,
        PTX_HEADER
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n" KERNEL_HEAD
        "{ .param .b64 a; .param .b64 b; st.param.b64 [a], 16; call (b), malloc, (a); ld.param.b64 %rd1, [b]; }\n"
        "mov.u32 %r0, %tid.x; st.u32 [%rd1], %r0; ld.u32 %r1, [%rd1]; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd0, "
        "%rd2; st.global.u32 [%rd2], %r1;\n"
        "{ .param .b64 a; st.param.b64 [a], %rd1; call free, (a); } ret; }",
        1, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(k.words[i], i);
    assert_int_equal(k.gpu->heap->used_bytes, 0);
    kernel_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(if_else_reconverges),
        cmocka_unit_test(loop_exits_one_by_one),
        cmocka_unit_test(recursion_returns),
        cmocka_unit_test(endless_recursion_is_reported),
        cmocka_unit_test(barrier_orders_warps),
        cmocka_unit_test(missing_arrival_is_reported),
        cmocka_unit_test(lock_between_lanes_is_reported),
        cmocka_unit_test(loop_without_end_is_reported),
        cmocka_unit_test(counting_without_end_meets_the_limit),
        cmocka_unit_test(blocks_make_progress_together),
        cmocka_unit_test(sync_instructions_gather_their_lanes),
        cmocka_unit_test(sync_and_barrier_in_parted_paths),
        cmocka_unit_test(launches_follow_one_another),
        cmocka_unit_test(trap_names_the_place),
        cmocka_unit_test(printf_formats),
        cmocka_unit_test(heap_gives_and_takes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
