/* Counters of each instruction and samples over time: is each count the right instruction's, does a sample have what
 * happened in its cycles (also where time jumps), do pairs of samples merge, and is the text of an instruction what was
 * written? That all of it adds up in whole programs is tests/cli/profile.sh's to ask. */
#include "timing_test.h"

#include "cuda/options.h"
#include "gpu/launch.h"
#include "gpu/profile.h"

static const struct timed_machine gtx480 = {.name = "gtx480"}, functional = {.name = "gtx480", .functional = true};

/* Cores hear who listens when they are made: they are made anew. */
static void ask_for(struct timed *t, bool pcs, uint64_t interval)
{
    t->gpu->options.pcs = pcs;
    t->gpu->options.interval = interval;
    timing_destroy(t->gpu->timing);
    t->gpu->timing = NULL;
}

static const struct gpu_kernel *last_kernel(const struct timed *t)
{
    return &t->gpu->kernels[t->gpu->kernel_count - 1];
}

/* The only executed instruction whose text begins so. */
static const struct profile_pc *counts_of(const struct timed *t, const char *text)
{
    const struct profile_pcs *p = last_kernel(t)->pcs;
    const struct profile_pc *found = NULL;
    assert_non_null(p);
    for (uint32_t i = 0; i < p->count; i++)
        if (!strncmp(p->listing->lines[p->list[i].pc].text, text, strlen(text))) {
            if (found)
                fail_msg("more than one '%s'", text);
            found = &p->list[i].counts;
        }
    if (!found)
        fail_msg("no '%s'", text);
    return found;
}

static bool has_text(const struct timed *t, const char *text)
{
    const struct profile_listing *g = last_kernel(t)->pcs->listing;
    for (uint32_t i = 0; i < g->count; i++)
        if (!strcmp(g->lines[i].text, text))
            return true;
    return false;
}

/* Half the lanes of each warp go one way; a quarter of the others does not execute the guarded add; 32 lanes load from
 * 32 lines, and all store to one. */
static const char parting[] =
    "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 31;\nsetp.lt.u32 %p1, %r2, 16;\nsetp.lt.u32 %p2, %r2, 4;\n"
    "ld.param.u64 %rd1, [buffer];\nmul.wide.u32 %rd2, %r1, 128;\nadd.u64 %rd3, %rd1, %rd2;\n"
    "@%p1 bra FIRST;\nxor.b32 %r3, %r1, 7;\nbra.uni DONE;\nFIRST:\n@%p2 add.u32 %r4, %r1, 1;\nDONE:\n"
    "ld.global.u32 %r5, [%rd3];\nadd.u32 %r6, %r5, 3;\nst.global.u32 [%rd1], %r6;\n";

static void check_parting(const struct timed *t, uint32_t warps)
{
    assert_int_equal(counts_of(t, "mov.u32 %r1")->executions, warps);
    assert_int_equal(counts_of(t, "mov.u32 %r1")->thread_executions, warps * 32);
    assert_int_equal(counts_of(t, "@%p1 bra FIRST")->executions, warps);
    assert_int_equal(counts_of(t, "@%p1 bra FIRST")->thread_executions, warps * 16);
    assert_int_equal(counts_of(t, "@%p1 bra FIRST")->divergent, warps);
    assert_int_equal(counts_of(t, "bra.uni DONE")->divergent, 0);
    assert_int_equal(counts_of(t, "xor.b32")->thread_executions, warps * 16);
    assert_int_equal(counts_of(t, "@%p2 add")->executions, warps);
    assert_int_equal(counts_of(t, "@%p2 add")->thread_executions, warps * 4);
    assert_int_equal(counts_of(t, "ld.global")->load_requests, warps);
    assert_int_equal(counts_of(t, "ld.param")->load_requests, 0);
}

static void counts_with_time(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct timed t;
        timed_open(&t, &(struct timed_machine){.name = "gtx480", .threads = threads}, NO_SETS, "", parting);
        ask_for(&t, true, 0);
        timed_launch(&t, 4, 128, 0);
        check_parting(&t, 16);
        const struct profile_pc *load = counts_of(&t, "ld.global"), *store = counts_of(&t, "st.global");
        assert_int_equal(load->load_accesses, 16 * 32);
        assert_int_equal(load->store_requests, 0);
        assert_int_equal(load->l1d_hits + load->l1d_misses + load->l1d_pending_hits, 16 * 32);
        assert_int_equal(load->l1d_misses,
                         16 * 32); /* four blocks on four cores: each sees a line for the first time */
        assert_int_equal(store->store_requests, 16);
        assert_int_equal(store->store_accesses, 16);
        assert_int_equal(store->load_requests, 0);
        assert_int_equal(counts_of(&t, "add.u32 %r6")->l1d_misses, 0);
        assert_null(last_kernel(&t)->series);
        timed_close(&t);
    }
}

/* What if lanes lay side by side: 32 lanes of 4 bytes are one line of 128 bytes, which may miss once. */
static void if_coalesced(void **state)
{
    (void)state;
    struct timed t;
    timed_open(&t, &gtx480, NO_SETS, "",
               "mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [buffer];\nmul.wide.u32 %rd2, %r1, 128;\nadd.u64 %rd3, %rd1, "
               "%rd2;\nld.global.u32 %r2, [%rd3];\nmul.wide.u32 %rd4, %r1, 4;\nadd.u64 %rd5, %rd1, %rd4;\n"
               "ld.global.u8 %r3, [%rd5];\nld.global.u64 %rd6, [%rd3+8];\nld.global.u64 %rd7, [%rd1+64];\n"
               "setp.lt.u32 %p1, %r1, 3;\n@%p1 ld.global.u16 %r4, [%rd3+8192];\n");
    ask_for(&t, true, 0);
    timed_launch(&t, 1, 32, 0);
    const struct profile_pc *far = counts_of(&t, "ld.global.u32"), *bytes = counts_of(&t, "ld.global.u8"),
                            *wide = counts_of(&t, "ld.global.u64 %rd6"), *same = counts_of(&t, "ld.global.u64 %rd7"),
                            *few = counts_of(&t, "@%p1 ld.global.u16");
    assert_int_equal(far->load_accesses, 32);
    assert_int_equal(far->l1d_misses, 32);
    assert_int_equal(far->coalesced_accesses, 1);
    assert_int_equal(far->coalesced_misses, 1);
    assert_int_equal(bytes->coalesced_accesses, 1); /* 32 bytes; it takes more */
    assert_true(bytes->load_accesses > 1);
    assert_int_equal(bytes->coalesced_misses, 0);
    assert_int_equal(wide->coalesced_accesses, 2);
    assert_int_equal(wide->coalesced_misses, 0); /* they are on their way */
    assert_int_equal(same->load_accesses, 1);
    assert_int_equal(same->coalesced_accesses, 1); /* all lanes read the same: no more than there are */
    assert_int_equal(few->load_accesses, 3);
    assert_int_equal(few->coalesced_accesses, 1);
    assert_int_equal(few->l1d_misses, 3);
    assert_int_equal(few->coalesced_misses, 1);
    timed_close(&t);
}

static void counts_without_time(void **state)
{
    (void)state;
    struct timed t;
    timed_open(&t, &functional, NO_SETS, "", parting);
    t.gpu->options.pcs = true;
    timed_launch(&t, 4, 128, 0);
    check_parting(&t, 16);
    timed_launch(&t, 1, 32, 0); /* each launch has its own */
    check_parting(&t, 1);
    timed_close(&t);
}

static void nothing_asked_for(void **state)
{
    (void)state;
    struct timed t;
    timed_open(&t, &gtx480, NO_SETS, "", parting);
    timed_launch(&t, 1, 32, 0);
    assert_null(last_kernel(&t)->pcs);
    assert_null(last_kernel(&t)->series);
    assert_null(t.gpu->listings);
    timed_close(&t);
}

/* A reservation fail is a try: with one miss register, all but one of 32 lines wait, and the load's own instruction has
 * the tries. */
static void failed_tries(void **state)
{
    (void)state;
    struct timed t;
    timed_open(&t, &gtx480, SETS("l1d.mshr_entries=1"), "", parting);
    ask_for(&t, true, 0);
    timed_launch(&t, 1, 32, 0);
    uint64_t fails = 0;
    for (int i = 0; i < CACHE_FAIL_COUNT; i++)
        fails += t.counters->sm.l1d.fails[i];
    assert_true(fails > 31 * 100);
    assert_int_equal(
        counts_of(&t, "ld.global")->l1d_reservation_fails + counts_of(&t, "st.global")->l1d_reservation_fails, fails);
    assert_true(counts_of(&t, "ld.global")->l1d_reservation_fails > 31 * 100);
    timed_close(&t);
}

/* One warp alone: from one reading of the clock to the next, each instruction takes its waiting and the cycle of its
 * issue. */
static void waiting(void **state)
{
    (void)state;
    struct timed t;
    timed_open(&t, &gtx480, NO_SETS, "",
               "ld.param.u64 %rd1, [buffer];\nmov.u64 %rd10, %clock64;\nld.global.u32 %r1, [%rd1+4096];\nadd.u32 %r2, "
               "%r1, 1;\nmul.lo.u32 %r3, %r2, %r2;\nmov.u64 %rd11, %clock64;\n"
               "st.global.u64 [%rd1], %rd10;\nst.global.u64 [%rd1+8], %rd11;\n");
    ask_for(&t, true, 0);
    timed_launch(&t, 1, 32, 0);
    const uint64_t *clock = (const uint64_t *)t.buffer;
    uint64_t between = counts_of(&t, "ld.global")->stalled + counts_of(&t, "add.u32")->stalled +
                       counts_of(&t, "mul.lo")->stalled + counts_of(&t, "mov.u64 %rd11")->stalled + 4;
    assert_int_equal(between, clock[1] - clock[0]);
    assert_true(counts_of(&t, "add.u32")->stalled > 100); /* it waits for memory */
    timed_close(&t);
}

/* A function is counted in its own lines, the same ones with time and without. */
static void functions(void **state)
{
    (void)state;
    static const char twice[] = ".func (.param .b32 out) unused(.param .b32 in)\n{\n.reg .b32 %q<3>;\nld.param.b32 "
                                "%q1, [in];\nst.param.b32 [out], %q1;\nret;\n}\n"
                                ".func (.param .b32 out) twice(.param .b32 in)\n{\n.reg .b32 %q<3>;\nld.param.b32 %q1, "
                                "[in];\nshl.b32 %q2, %q1, 1;\nst.param.b32 [out], %q2;\nret;\n}\n";
    static const char body[] =
        "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 48;\nmov.u32 %r9, 0;\nAGAIN:\n{\n.param .b32 a;\n.param .b32 "
        "b;\nst.param.b32 [a], %r1;\ncall (b), twice, (a);\n"
        "ld.param.b32 %r2, [b];\n}\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p2, %r9, 3;\n@%p2 bra AGAIN;\n";
    struct timed t[2];
    for (int i = 0; i < 2; i++) {
        timed_open(&t[i], i ? &functional : &gtx480, NO_SETS, twice, body);
        if (i)
            t[i].gpu->options.pcs = true;
        else
            ask_for(&t[i], true, 0);
        timed_launch(&t[i], 1, 64, 0);
        assert_int_equal(counts_of(&t[i], "shl.b32 %q2")->executions, 6);
        assert_int_equal(counts_of(&t[i], "call (b), twice, (a)")->thread_executions, 192);
        assert_false(has_text(&t[i], "st.param.b32 [out], %q1")); /* of a function that the kernel cannot come to */
    }
    const struct profile_pcs *a = last_kernel(&t[0])->pcs, *b = last_kernel(&t[1])->pcs;
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        const struct profile_line *line = &a->listing->lines[a->list[i].pc];
        assert_int_equal(a->list[i].pc, b->list[i].pc);
        assert_int_equal(a->list[i].counts.executions, b->list[i].counts.executions);
        assert_int_equal(a->list[i].counts.thread_executions, b->list[i].counts.thread_executions);
        assert_string_equal(line->function ? line->function : "", strchr(line->text, 'q') ? "twice"
                                                                  : line->function        ? "twice"
                                                                                          : "");
    }
    timed_close(&t[0]);
    timed_close(&t[1]);
}

static void text_as_written(void **state)
{
    (void)state;
    struct timed t;
    timed_open(&t, &functional, NO_SETS, ".file 7 \"dir/some file.cu\"",
               ".loc 7 42 3\n  add.u32   %r1 ,%r2,\t0x10 ; add.f32 %f1, %f1, /* a ; comment */ 1.5;\n.loc 9 1 "
               "1\n@!%p1\n    sub.u32 %r3, // a ; b\n  %r1, %r2;"
               "cvt.u64.u32 %rd1, %clock;\n");
    t.gpu->options.pcs = true;
    timed_launch(&t, 1, 32, 0);
    assert_true(has_text(&t, "add.u32 %r1 ,%r2, 0x10"));
    assert_true(has_text(&t, "add.f32 %f1, %f1, 1.5"));
    assert_true(has_text(&t, "@!%p1 sub.u32 %r3, %r1, %r2"));
    assert_true(has_text(&t, "cvt.u64.u32 %rd1, %clock"));
    assert_true(has_text(&t, "ret"));
    const struct profile_listing *g = last_kernel(&t)->pcs->listing;
    assert_string_equal(g->lines[0].source, "dir/some file.cu:42");
    assert_string_equal(g->lines[1].source, "dir/some file.cu:42");
    assert_null(g->lines[2].source); /* a file that nobody named */
    assert_int_equal(g->lines[1].line, g->lines[0].line);
    assert_int_equal(g->lines[2].line, g->lines[0].line + 2);
    timed_close(&t);
}

/* The listing outlives the module, and another module is not taken for it. */
static void module_gone(void **state)
{
    (void)state;
    struct timed t, other;
    timed_open(&t, &functional, NO_SETS, "", "mov.u32 %r1, 11;\n");
    timed_open(&other, &functional, NO_SETS, "", "mov.u32 %r1, 12;\n");
    t.gpu->options.pcs = true;
    timed_launch(&t, 1, 32, 0);
    timed_launch(&t, 1, 32, 0);
    assert_ptr_equal(t.gpu->kernels[0].pcs->listing, t.gpu->kernels[1].pcs->listing);
    exec_image_destroy(t.image);
    struct ptx_module *m = ptx_parse("other.ptx", other.source, strlen(other.source), &t.error);
    t.image = exec_image_create(t.gpu->memory, &m, 1, &t.error);
    assert_non_null(t.image);
    timed_launch(&t, 1, 32, 0);
    assert_string_equal(t.gpu->kernels[0].pcs->listing->lines[0].text, "mov.u32 %r1, 11");
    assert_string_equal(t.gpu->kernels[2].pcs->listing->lines[0].text, "mov.u32 %r1, 12");
    timed_close(&other);
    timed_close(&t);
}

/* Of all launches of a kernel: what each counted, added up, where one executed what another did not, and the other way
 * round. */
static void merged_launches(void **state)
{
    (void)state;
    const char *body = "ld.param.u64 %rd1, [buffer];\nld.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra "
                       "ZERO;\nadd.u32 %r2, %r1, 1;\nbra.uni DONE;\nZERO:\nsub.u32 %r2, %r1, 1;\nDONE:\n"
                       "xor.b32 %r3, %r2, 1;\n";
    for (int i = 0; i < 2; i++) {
        struct timed t;
        timed_open(&t, i ? &functional : &gtx480, NO_SETS, "", body);
        ask_for(&t, true, 0);
        t.gpu->options.records = GPU_RECORDS_OF_KERNELS;
        timed_launch(&t, 2, 64, 0);
        *(uint32_t *)(void *)t.buffer = 1;
        timed_launch(&t, 1, 32, 0);
        *(uint32_t *)(void *)t.buffer = 0;
        timed_launch(&t, 1, 96, 0);
        assert_int_equal(t.gpu->kernel_count, 1);
        assert_int_equal(last_kernel(&t)->launches, 3);
        assert_int_equal(counts_of(&t, "sub.u32")->executions, 4 + 3);
        assert_int_equal(counts_of(&t, "add.u32")->executions, 1);
        assert_int_equal(counts_of(&t, "add.u32")->thread_executions, 32);
        assert_int_equal(counts_of(&t, "xor.b32")->executions, 4 + 1 + 3);
        const struct profile_pcs *p = last_kernel(&t)->pcs;
        for (uint32_t k = 1; k < p->count; k++)
            assert_true(p->list[k].pc > p->list[k - 1].pc);
        timed_close(&t);
    }
}

/* Where nobody will ask, nothing is kept. */
static void no_records(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct timed t;
        timed_open(&t, i ? &functional : &gtx480, NO_SETS, "", parting);
        ask_for(&t, true, i ? 0 : 100);
        timed_launch(&t, 2, 64, 0);
        t.gpu->options.records = GPU_RECORDS_NONE;
        timed_launch(&t, 2, 64, 0);
        assert_int_equal(t.gpu->kernel_count, 1);
        timed_close(&t);
    }
}

/* Samples */

static uint32_t column(const struct profile_series *s, const char *name)
{
    for (uint32_t i = 0; i < s->column_count; i++)
        if (!strcmp(profile_series_column(s, i).name, name))
            return i;
    fail_msg("no column %s", name);
    return 0;
}

static uint64_t value(const struct profile_series *s, const char *name, uint32_t sample)
{
    return s->values[(size_t)sample * s->column_count + column(s, name)];
}

/* Every cycle a sample: an instruction is in the one of the cycle in which it read the clock, and there is none in the
 * cycles between, over which time jumps. */
static void every_cycle(void **state)
{
    (void)state;
    struct timed t;
    timed_open(&t, &gtx480, NO_SETS, "",
               "ld.param.u64 %rd1, [buffer];\nmov.u64 %rd10, %clock64;\nld.global.u32 %r1, [%rd1+4096];\nadd.u32 %r2, "
               "%r1, 1;\nmov.u64 %rd11, %clock64;\n"
               "st.global.u64 [%rd1], %rd10;\nst.global.u64 [%rd1+8], %rd11;\n");
    ask_for(&t, true, 1);
    uint64_t cycles = timed_launch(&t, 1, 32, 0);
    const uint64_t *clock = (const uint64_t *)t.buffer;
    const struct profile_series *s = last_kernel(&t)->series;
    assert_non_null(s);
    assert_int_equal(s->count, cycles);
    uint64_t quiet = clock[1] - counts_of(&t, "mov.u64 %rd11")->stalled - 1; /* the add: after the data came */
    assert_true(quiet - clock[0] > 100);
    assert_int_equal(value(s, "warp_instructions", (uint32_t)clock[0]), 1);
    assert_int_equal(value(s, "warp_instructions", (uint32_t)quiet), 1);
    assert_int_equal(value(s, "warp_instructions", (uint32_t)clock[1]), 1);
    uint64_t issued = 0, load_issue = clock[0] + 1 + counts_of(&t, "ld.global")->stalled;
    for (uint64_t i = 0; i < cycles; i++) {
        issued += value(s, "warp_instructions", (uint32_t)i);
        assert_int_equal(s->cycles[i], i + 1);
        if (i > load_issue && i < quiet) {
            assert_int_equal(value(s, "warp_instructions", (uint32_t)i), 0);
            assert_int_equal(value(s, "issue.no_ready", (uint32_t)i),
                             2); /* the two schedulers of the core that has the warp */
            assert_int_equal(value(s, "issue.idle", (uint32_t)i), 2 * 14);
            assert_int_equal(value(s, "resident_warps", (uint32_t)i), 1);
        }
    }
    assert_int_equal(issued, last_kernel(&t)->warp_instructions);
    assert_int_equal(value(s, "l1d.misses", (uint32_t)load_issue) + value(s, "l1d.misses", (uint32_t)quiet),
                     0); /* the access comes some cycles behind the issue, and before the data */
    timed_close(&t);
}

/* The second launch counts its cycles from its own start. */
static void second_launch(void **state)
{
    (void)state;
    struct timed t;
    timed_open(&t, &gtx480, NO_SETS, "", parting);
    ask_for(&t, false, 100);
    timed_launch(&t, 4, 128, 0);
    uint64_t cycles = timed_launch(&t, 4, 128, 0);
    const struct profile_series *s = last_kernel(&t)->series;
    assert_int_equal(s->count, (cycles + 99) / 100);
    assert_int_equal(s->cycles[0], 100);
    assert_int_equal(s->cycles[s->count - 1], cycles);
    assert_null(last_kernel(&t)->pcs);
    timed_close(&t);
}

static void feed(struct profile_series *s, uint64_t cycle, uint64_t misses, uint64_t own)
{
    struct gpu_counters c = {.timed = true, .policies = policy_counts_create(s->policies, s->policy_count)};
    c.sm.l1d.misses = misses;
    policy_counts_of(c.policies, 1)[1] = own;
    policy_counts_of(c.policies, 1)[2] = 77; /* of a kind that samples have not */
    c.exec.lanes[7] = misses;
    assert_int_equal(profile_series_next(s), cycle);
    profile_series_take(s, cycle, &c);
    free(c.policies);
}

static void merging(void **state)
{
    (void)state;
    static const struct heddle_counter counters[] = {{.name = "one"},
                                                     {.name = "two"},
                                                     {.name = "most", .kind = HEDDLE_MAXIMUM},
                                                     {.name = "spread", .kind = HEDDLE_HISTOGRAM, .buckets = 3},
                                                     {.name = NULL}};
    static const struct heddle_policy policy = {.name = "mine", .counters = counters}, plain = {.name = "plain"};
    struct profile_series *s =
        profile_series_create(10, 4, (const struct heddle_policy *const[]){&plain, &policy, NULL});
    feed(s, 10, 1, 0);
    feed(s, 20, 3, 5);
    feed(s, 30, 6, 5);
    assert_int_equal(s->count, 3);
    assert_int_equal(s->interval, 10);
    feed(s, 40, 10, 6);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->interval, 20);
    assert_int_equal(s->cycles[0], 20);
    assert_int_equal(s->cycles[1], 40);
    assert_int_equal(value(s, "l1d.misses", 0), 3);
    assert_int_equal(value(s, "l1d.misses", 1), 7);
    assert_int_equal(value(s, "thread_instructions", 1), 7 * 7);
    assert_int_equal(value(s, "mine.two", 0), 5);
    assert_int_equal(value(s, "mine.two", 1), 1);
    assert_int_equal(value(s, "mine.one", 1), 0);
    feed(s, 60, 11, 6);
    feed(s, 80, 20, 6);
    assert_int_equal(s->interval, 40);
    assert_int_equal(s->count, 2);
    struct gpu_counters end = {.timed = true, .policies = policy_counts_create(s->policies, s->policy_count)};
    end.sm.l1d.misses = 21;
    policy_counts_of(end.policies, 1)[1] = 8;
    profile_series_end(s, 95, &end);
    assert_int_equal(s->count, 3);
    assert_int_equal(s->cycles[2], 95);
    assert_int_equal(value(s, "l1d.misses", 0) + value(s, "l1d.misses", 1), 20);
    assert_int_equal(value(s, "l1d.misses", 2), 1);
    assert_int_equal(value(s, "mine.two", 2), 2);
    policy_counts_of(end.policies, 1)[1] = 9; /* counted when the kernel ended: no time has passed */
    profile_series_end(s, 95, &end);
    assert_int_equal(s->count, 3);
    assert_int_equal(value(s, "mine.two", 2), 3);
    for (uint32_t i = 0; i < s->column_count; i++)
        assert_null(strstr(profile_series_column(s, i).name, "mine.most"));
    free(end.policies);
    profile_series_free(s);
}

static void options(void **state)
{
    (void)state;
    struct options o;
    struct error e = {0};
    assert_true(options_parse(&o, "--pcs --interval 250", &e));
    assert_true(o.pcs);
    assert_int_equal(o.interval, 250);
    assert_true(options_parse(&o, "", &e));
    assert_false(o.pcs);
    assert_int_equal(o.interval, 0);
    static const char *const bad[] = {"--interval 0",  "--interval x", "--interval 5k",
                                      "--interval -1", "--interval",   "--pcs=1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error refused = {0};
        assert_false(options_parse(&o, bad[i], &refused));
        assert_non_null(strstr(refused.text, i == 5 ? "--pcs takes no value" : "--interval needs a"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_with_time),  cmocka_unit_test(if_coalesced),    cmocka_unit_test(counts_without_time),
        cmocka_unit_test(nothing_asked_for), cmocka_unit_test(failed_tries),    cmocka_unit_test(waiting),
        cmocka_unit_test(functions),         cmocka_unit_test(text_as_written), cmocka_unit_test(module_gone),
        cmocka_unit_test(merged_launches),   cmocka_unit_test(no_records),      cmocka_unit_test(every_cycle),
        cmocka_unit_test(second_launch),     cmocka_unit_test(merging),         cmocka_unit_test(options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
