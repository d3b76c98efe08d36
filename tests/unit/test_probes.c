/* Probes: what they count (sums, maxima, histograms, tables of instructions), that it adds up over cores and
 * launches, that they change nothing, and what they write. */
#include "policy_run.h"

#include "gpu/profile.h"

enum { LOADS, MOST_LANES, LANES, COUNTERS };
enum { ISSUED, WIDEST, COLUMNS };

static const struct heddle_counter counters[] =
    {
        [LOADS] = {"loads", "count", "load instructions", HEDDLE_SUM, 0},
        [MOST_LANES] = {"most_lanes", "lanes", "of one instruction", HEDDLE_MAXIMUM, 0},
        [LANES] = {"lanes", "instructions", "by active lanes", HEDDLE_HISTOGRAM, 33},
        {0},
},
                                   columns[] = {
                                       [ISSUED] = {"issued", "count", "times", HEDDLE_SUM, 0},
                                       [WIDEST] = {"widest", "lanes", "at once", HEDDLE_MAXIMUM, 0},
                                       {0},
};

struct counting {
    uint64_t *counters, *lanes, *const *instructions;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct counting *c = state;
    *c = (struct counting){setup->counters, setup->histograms[LANES], setup->instructions};
    return !setup->histograms[LOADS] && !setup->histograms[MOST_LANES];
}

static void on_kernel(void *state, const struct heddle_core *core)
{
    const struct counting *c = state;
    for (uint32_t pc = 0; pc < core->program->instruction_count; pc++)
        assert_true(heddle_row(*c->instructions, COLUMNS, pc)[ISSUED] == 0);
    assert_true(c->counters[LOADS] == 0 && c->lanes[32] == 0);
}

static void on_issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    const struct counting *c = state;
    uint32_t lanes = (uint32_t)__builtin_popcount(e->active);
    uint64_t *row = heddle_row(*c->instructions, COLUMNS, e->pc);
    (void)core;
    c->counters[LOADS] += (e->instruction->flags & HEDDLE_LOAD) != 0;
    c->counters[MOST_LANES] = lanes > c->counters[MOST_LANES] ? lanes : c->counters[MOST_LANES];
    c->lanes[lanes]++;
    row[ISSUED]++;
    row[WIDEST] = lanes > row[WIDEST] ? lanes : row[WIDEST];
}

/* What it was given to write. */
static struct {
    uint32_t calls, kernels;
    char names[4][32];
    uint64_t issued[4];
    bool fails;
} written;

static bool write(const union heddle_value *values, const struct heddle_instruction_table *kernels,
                  uint32_t kernel_count, const char **why)
{
    (void)values;
    written.calls++;
    written.kernels = kernel_count;
    for (uint32_t i = 0; i < kernel_count && i < 4; i++) {
        assert_int_equal(kernels[i].column_count, COLUMNS);
        snprintf(written.names[i], sizeof written.names[i], "%s", kernels[i].kernel);
        for (uint32_t pc = 0; pc < kernels[i].instruction_count; pc++)
            written.issued[i] += kernels[i].values[pc * COLUMNS + ISSUED];
    }
    *why = "the disk is full";
    return !written.fails;
}

static const struct heddle_probe counting = {
    .policy = {.abi = HEDDLE_POLICY_ABI,
               .name = "counting",
               .counters = counters,
               .instructions = columns,
               .state_bytes = sizeof(struct counting),
               .init = init,
               .on = {.kernel = on_kernel, .issued = on_issued}},
    .write = write,
};

static const char *const cores[] = {"machine.memory_bytes=256M", NULL};
static const char body[] = "ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nmov.u32 %r5, %ctaid.x;\nshl.b32 %r6, "
                           "%r5, 8;\nadd.u32 %r6, %r6, %r1;\nmul.wide.u32 %rd2, %r6, 4;\nadd.u64 %rd1, %rd1, %rd2;\n"
                           "mov.u32 %r2, 0;\nAGAIN:\nld.global.u32 %r3, [%rd1];\nst.global.u32 [%rd1+65536], "
                           "%r3;\nadd.u64 %rd1, %rd1, 1024;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 8;\n"
                           "@%p1 bra AGAIN;\nsetp.lt.u32 %p2, %r1, 5;\n@%p2 add.u32 %r4, %r1, 1;\n@%p2 bra "
                           "PAST;\nadd.u32 %r6, %r6, 1;\nPAST:\nbar.sync 0;\n";
static const char second[] = ".visible .entry second(.param .u64 buffer)\n{\n.reg .b32 %x;\nmov.u32 %x, 1;\nret;\n}\n";

static struct gpu_kernel *kernel_of(struct timed *t, uint32_t i) { return &t->gpu->kernels[i]; }
static const uint64_t *counts_of(struct gpu_kernel *k) { return policy_counts_of(k->counters.policies, 3); }

/* Against what the machine counts itself. */
static void expect_counts(struct gpu_kernel *k)
{
    const uint64_t *c = counts_of(k),
                   *lanes = policy_histogram(&counting.policy, policy_counts_of(k->counters.policies, 3), LANES);
    uint64_t most = 0;
    for (uint32_t i = 0; i <= 32; i++) {
        assert_int_equal(lanes[i], k->counters.exec.lanes[i]);
        most = lanes[i] ? i : most;
    }
    assert_int_equal(c[MOST_LANES], most);
}

static void counters_add_up(void **state)
{
    (void)state;
    struct timed t;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        policy_open(&t, &(struct policy_run){.sets = cores, .threads = threads, .probes = {&counting}}, second, body);
        timed_launch(&t, 40, 128, 0);
        timed_launch(&t, 1, 20, 0);
        expect_counts(kernel_of(&t, 0));
        expect_counts(kernel_of(&t, 1));
        assert_int_equal(counts_of(kernel_of(&t, 0))[MOST_LANES], 32);
        assert_int_equal(counts_of(kernel_of(&t, 1))[MOST_LANES], 20);
        assert_int_equal(counts_of(kernel_of(&t, 0))[LOADS], 40 * 4 * 9); /* the parameter, and eight */
        struct gpu_kernel sum = {0};
        gpu_kernel_add(&sum, kernel_of(&t, 1));
        gpu_kernel_add(&sum, kernel_of(&t, 0));
        expect_counts(&sum);
        assert_int_equal(counts_of(&sum)[LOADS], 40 * 4 * 9 + 9);
        free(sum.counters.policies);
        timed_close(&t);
    }
}

static void tables_of_instructions(void **state)
{
    (void)state;
    struct timed t;
    policy_open(&t, &(struct policy_run){.sets = cores, .probes = {&counting}}, second, body);
    t.gpu->options.pcs = false;
    timed_launch(&t, 40, 128, 0);
    struct policy_tables *tables = kernel_of(&t, 0)->tables;
    const uint64_t *table = policy_tables_of(tables, 3);
    uint64_t issued = 0;
    for (uint32_t pc = 0; pc < tables->instruction_count; pc++) {
        issued += table[pc * COLUMNS + ISSUED];
        if (strstr(tables->listing->lines[pc].text, "ld.global")) {
            assert_int_equal(table[pc * COLUMNS + ISSUED], 40 * 4 * 8);
            assert_int_equal(table[pc * COLUMNS + WIDEST], 32);
        }
        if (strstr(tables->listing->lines[pc].text, "add.u32 %r4"))
            assert_int_equal(table[pc * COLUMNS + WIDEST], 5);
    }
    assert_int_equal(issued, kernel_of(&t, 0)->warp_instructions);
    timed_close(&t);
}

static void writing(void **state)
{
    (void)state;
    struct timed t;
    struct error e = {0};
    memset(&written, 0, sizeof written);
    policy_open(&t, &(struct policy_run){.sets = cores, .probes = {&counting}}, second, body);
    timed_launch(&t, 40, 128, 0);
    timed_launch_of(&t, "second", 3, 32, 0);
    timed_launch(&t, 2, 128, 0);
    uint64_t first = kernel_of(&t, 0)->warp_instructions + kernel_of(&t, 2)->warp_instructions;
    assert_true(gpu_write_probes(t.gpu, &e));
    assert_true(gpu_write_probes(t.gpu, &e));
    assert_int_equal(written.calls, 1);
    assert_int_equal(written.kernels, 2);
    assert_string_equal(written.names[0], "kernel");
    assert_string_equal(written.names[1], "second");
    assert_int_equal(written.issued[0], first);
    assert_int_equal(written.issued[1], kernel_of(&t, 1)->warp_instructions);
    timed_close(&t);

    memset(&written, 0, sizeof written);
    written.fails = true;
    policy_open(&t, &(struct policy_run){.probes = {&counting}}, "", body);
    assert_false(gpu_write_probes(t.gpu, &e));
    assert_int_equal(written.kernels, 0);
    assert_string_equal(e.text, "probe counting could not write its results: the disk is full");
    timed_close(&t);
}

/* Merged launches keep one record and one table for each kernel. */
static void merged_launches(void **state)
{
    (void)state;
    struct timed t;
    policy_open(&t, &(struct policy_run){.sets = cores, .probes = {&counting}}, second, body);
    t.gpu->options.records = GPU_RECORDS_OF_KERNELS;
    timed_launch(&t, 4, 128, 0);
    timed_launch_of(&t, "second", 3, 32, 0);
    timed_launch(&t, 2, 64, 0);
    assert_int_equal(t.gpu->kernel_count, 2);
    expect_counts(kernel_of(&t, 0));
    const uint64_t *table = policy_tables_of(kernel_of(&t, 0)->tables, 3);
    uint64_t issued = 0;
    for (uint32_t pc = 0; pc < kernel_of(&t, 0)->tables->instruction_count; pc++)
        issued += table[pc * COLUMNS + ISSUED];
    assert_int_equal(issued, kernel_of(&t, 0)->warp_instructions);
    timed_close(&t);
}

static void samples_have_sums(void **state)
{
    (void)state;
    struct timed t;
    policy_open(&t, &(struct policy_run){.sets = cores, .probes = {&counting}}, second, body);
    t.gpu->options.interval = 50;
    timed_launch(&t, 40, 128, 0);
    const struct profile_series *s = kernel_of(&t, 0)->series;
    uint32_t found = 0;
    for (uint32_t i = 0; i < s->column_count; i++) {
        struct profile_column c = profile_series_column(s, i);
        assert_null(strstr(c.name, "counting.most_lanes"));
        assert_null(strstr(c.name, "counting.lanes"));
        if (strcmp(c.name, "counting.loads"))
            continue;
        uint64_t sum = 0;
        for (uint32_t k = 0; k < s->count; k++)
            sum += s->values[(size_t)k * s->column_count + i];
        assert_int_equal(sum, 40 * 4 * 9);
        assert_true(s->values[i] < sum);
        found++;
    }
    assert_int_equal(found, 1);
    expect_counts(kernel_of(&t, 0));
    timed_close(&t);
}

/* One that hears everything changes nothing, and nor do those that are built in, under schedulers that hold warps back,
 * sleep, and are told of cycles. */
#define HEARS(name, ...) \
    static void name(void *state, const struct heddle_core *core, ##__VA_ARGS__) { (void)state, (void)core; }
HEARS(core_only)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
HEARS(warp_only, uint32_t warp)
HEARS(number, uint64_t n)
HEARS(issue_only, const struct heddle_issue *e)
HEARS(commit_only, uint32_t warp, uint32_t pc)
HEARS(branch_only, const struct heddle_branch *e)
HEARS(loop_only, const struct heddle_loop_event *e)
HEARS(coalesced_only, const struct heddle_coalesced *e)
HEARS(access_only, const struct heddle_l1_access *e)
HEARS(evict_only, const struct heddle_l1_evict *e)
HEARS(fill_only, const struct heddle_l1_fill *e)
#pragma GCC diagnostic pop

static void listening_changes_nothing(void **state)
{
    (void)state;
    static const struct heddle_probe all = {
        .policy = {.abi = HEDDLE_POLICY_ABI,
                   .name = "all",
                   .on = {.kernel = core_only,
                          .kernel_end = core_only,
                          .launched = warp_only,
                          .ended = warp_only,
                          .finished = warp_only,
                          .barrier_wait = warp_only,
                          .barrier_pass = warp_only,
                          .issued = issue_only,
                          .committed = commit_only,
                          .branch = branch_only,
                          .loop = loop_only,
                          .coalesced = coalesced_only,
                          .l1_access = access_only,
                          .l1_evict = evict_only,
                          .l1_fill = fill_only,
                          .held = number,
                          .cycles = number}},
    };
    static const char *const schedulers[] = {"lrr", "rr", "gto", "swl:limit=3", "ccws", "two-level", "gebhart", "paws"};
    static const char *const machines[] = {"gtx480", "ccws", "slp"};
    static const char *const built_in[] = {
        "residency", "loads", "trips", "lost", "activity", "disparity", "criticality:period=7", "critical-lines", NULL};
    const bool is_short = getenv("TEST_SHORT"); /* sanitizers: each scheduler on one of the machines */
    for (size_t m = 0; m < 3; m++)
        for (size_t s = is_short ? m : 0; s < sizeof schedulers / sizeof *schedulers; s += is_short ? 3 : 1) {
            struct timed t[3];
            for (int i = 0; i < 3; i++) {
                static const char *const small[] = {"machine.memory_bytes=256M", "l1d.sets=2", NULL};
                policy_open(&t[i],
                            &(struct policy_run){.machine = machines[m],
                                                 .spec = schedulers[s],
                                                 .sets = small,
                                                 .probes = {i == 1 ? &all : NULL},
                                                 .probe_specs = i == 2 ? built_in : NULL},
                            second, body);
                timed_launch(&t[i], 40, 128, 0);
                timed_launch(&t[i], 40, 128, 0);
            }
            for (int i = 1; i < 3; i++) {
                struct gpu_counters a = *t[0].counters, b = *t[i].counters;
                size_t values = a.policies->value_count;
                assert_memory_equal(a.policies->values, b.policies->values, values * sizeof *a.policies->values);
                a.policies = b.policies = NULL;
                assert_memory_equal(&a, &b, sizeof a);
            }
            for (int i = 0; i < 3; i++)
                timed_close(&t[i]);
        }
}

/* In `cycles` the sets are those that the schedulers of the core are about to choose from. */
struct choosing {
    uint64_t ready, at_barrier, issued, cycles;
};

static void choosing_cycles(void *state, const struct heddle_core *core, uint64_t count)
{
    struct choosing *s = state;
    (void)count;
    assert_true(!s->ready || s->issued); /* nobody is held back */
    assert_true((core->ready & (core->at_barrier | core->long_wait | ~core->resident)) == 0);
    *s = (struct choosing){core->ready, core->at_barrier, 0, s->cycles + 1};
}

static void choosing_issued(void *state, const struct heddle_core *core, const struct heddle_issue *e)
{
    struct choosing *s = state;
    (void)core;
    s->issued |= UINT64_C(1) << e->warp;
    assert_true((s->ready | s->at_barrier) >> e->warp & 1); /* a barrier may have opened in this cycle */
}

static void ready_warps(void **state)
{
    (void)state;
    static const struct heddle_probe choosing = {
        .policy = {.abi = HEDDLE_POLICY_ABI,
                   .name = "choosing",
                   .state_bytes = sizeof(struct choosing),
                   .on = {.issued = choosing_issued, .cycles = choosing_cycles}},
    };
    static const char *const schedulers[] = {"lrr", "gto", "oldest", "ccws:k_throttle=0"};
    for (size_t i = 0; i < sizeof schedulers / sizeof *schedulers; i++) {
        struct timed t;
        policy_open(&t, &(struct policy_run){.spec = schedulers[i], .probes = {&choosing}}, second, body);
        timed_launch(&t, 40, 128, 0);
        timed_close(&t);
    }
}

static void residency(void **state)
{
    (void)state;
    struct timed t;
    const struct heddle_probe *probe = policy_probes[0];
    assert_string_equal(probe->policy.name, "residency");
    policy_open(&t, &(struct policy_run){.sets = cores, .probes = {probe}}, second, body);
    for (int launch = 0; launch < 2; launch++) {
        uint64_t cycles = timed_launch(&t, 40, 128, 0), all = 0, warp_cycles = 0;
        uint64_t *values = policy_counts_of(t.counters->policies, 3),
                 *warps = policy_histogram(&probe->policy, values, 0);
        for (uint32_t i = 0; i <= HEDDLE_WARPS; i++) {
            all += warps[i];
            warp_cycles += warps[i] * i;
        }
        assert_int_equal(all, cycles * t.gpu->options.machine.cores);
        assert_int_equal(values[2], warp_cycles);
        assert_int_equal(values[1], 12); /* 40 blocks of 4 warps on 15 cores */
        uint64_t counted = t.counters->sm.warp_cycles;
        assert_true(warp_cycles + 40 >= counted &&
                    warp_cycles <= counted + 40); /* which counts some warps' last cycle */
    }
    timed_close(&t);
}

/* What critical-lines counts adds up to what the cache counts: every line that a load misses is brought by it. */
static void critical_lines(void **state)
{
    (void)state;
    static const char *const specs[] = {"critical-lines", NULL}, *const small[] = {ONE_CORE, "l1d.sets=2", NULL};
    struct timed t;
    policy_open(&t, &(struct policy_run){.sets = small, .probe_specs = specs}, second, body);
    timed_launch(&t, 40, 128, 0);
    const struct cache_counters *l1d = &t.counters->sm.l1d;
    const uint64_t *c = policy_counts_of(t.counters->policies, 3);
    struct policy_tables *tables = kernel_of(&t, 0)->tables;
    const uint64_t *table = policy_tables_of(tables, 3);
    uint64_t lines = 0;
    for (uint32_t pc = 0; pc < tables->instruction_count; pc++)
        for (uint32_t column = 0; column < 3; column++)
            lines += table[pc * 5 + column];
    assert_true(c[0] && c[3] && l1d->evictions);
    assert_int_equal(c[0] + c[3], l1d->reads);
    assert_int_equal(c[1] + c[4], l1d->intra_warp_hits + l1d->inter_warp_hits);
    assert_int_equal(c[2] + c[5], l1d->pending_hits);
    assert_int_equal(lines, l1d->misses - l1d->write_misses);
    assert_int_equal(c[6] + c[7] + c[8] + c[11], l1d->evictions);
    timed_close(&t);
}

static void names(void **state)
{
    (void)state;
    static const char *const twice[] = {"residency", "residency"}, *const none[] = {"residenzy"},
                             *const scheduler[] = {"gto"};
    static const struct {
        const char *const *specs;
        uint32_t count;
        const char *says;
    } rows[] = {
        {twice, 2, "probe 'residency' is given twice"},
        {none, 1, "no probe 'residenzy'; did you mean 'residency'?"},
        {scheduler, 1, "'gto' is a scheduler, not a probe; it goes after -s"},
        {twice, 17, "17 probes are given; the most is 16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gpu_options options = {0};
        struct error e = {0};
        assert_false(gpu_setup(&options,
                               &(struct gpu_setup){.machine = "machines/gtx480.ini",
                                                   .probes = rows[i].specs,
                                                   .probe_count = rows[i].count},
                               &e));
        if (!strstr(e.text, rows[i].says))
            fail_msg("%s", e.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_add_up),   cmocka_unit_test(tables_of_instructions),
        cmocka_unit_test(writing),           cmocka_unit_test(merged_launches),
        cmocka_unit_test(samples_have_sums), cmocka_unit_test(listening_changes_nothing),
        cmocka_unit_test(residency),         cmocka_unit_test(critical_lines),
        cmocka_unit_test(ready_warps),       cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
