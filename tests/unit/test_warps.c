/* Rows of warps: is a warp there from the cycle it was placed in to the one in which nothing of it is left, are its
 * instructions its own, and does heddle/warp_times.h read what was written? That rows add up to the counters of whole
 * programs is tests/cli/warps.sh's to ask. */
#include "timing_test.h"

#include "gpu/launch.h"
#include "gpu/warps.h"
#include "heddle/warp_times.h"

#include <unistd.h>

static const char path[] = "/tmp/heddle-test-warps.csv";

/* Cores hear who listens when they are made: they are made anew. */
static void ask_for_warps(struct timed *t)
{
    t->gpu->options.observers.warps = warps_open(path, &t->error);
    assert_non_null(t->gpu->options.observers.warps);
    timing_destroy(t->gpu->timing);
    t->gpu->timing = NULL;
}

static void close_warps(struct timed *t)
{
    struct warps *w = t->gpu->options.observers.warps;
    assert_true(warps_close(w, &t->error));
    char part[100];
    snprintf(part, sizeof part, "%s.%ld.part", path, (long)getpid());
    assert_int_equal(access(part, F_OK), -1);
    timed_close(t);
    warps_destroy(w);
}

/* A row by the names of its columns. */
struct table {
    char lines[64][500];
    uint32_t count;
};

static void read_table(struct table *t)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (t->count = 0; t->count < 64 && fgets(t->lines[t->count], sizeof t->lines[0], f);)
        t->count++;
    fclose(f);
}

static uint64_t value(const struct table *t, uint32_t row, const char *column)
{
    const char *name = t->lines[0], *at = t->lines[row + 1];
    size_t n = strlen(column);
    while (strncmp(name, column, n) || (name[n] != ',' && name[n] != '\n')) {
        name = strchr(name, ',');
        at = strchr(at, ',');
        if (!name++ || !at++)
            fail_msg("no column %s", column);
    }
    return strtoull(at, NULL, 10);
}

static uint64_t time_of(const struct table *t, uint32_t row) { return value(t, row, "end") - value(t, row, "begin"); }

/* Each warp reads the clock first and last; after the second reading come its stores and its end. Warp 1 goes round a
 * loop that warp 0 does not, and then executes an add in half of its lanes. */
static const char clocks[] =
    "mov.u64 %rd10, %clock64;\nmov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nand.b32 %r3, %r1, 31;\n"
    "ld.param.u64 %rd1, [buffer];\nmul.wide.u32 %rd2, %r2, 16;\nadd.u64 %rd1, %rd1, %rd2;\n"
    "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra DONE;\n"
    "mov.u32 %r4, 0;\nsetp.lt.u32 %p3, %r3, 16;\n"
    "AGAIN:\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 50;\n@%p2 bra AGAIN;\n"
    "DONE:\n@%p3 add.u32 %r5, %r4, 1;\nmov.u64 %rd11, %clock64;\nst.global.u64 [%rd1], %rd10;\n"
    "st.global.u64 [%rd1+8], %rd11;\n";

static void begin_and_end(void **state)
{
    (void)state;
    struct timed t;
    struct table rows;
    timed_open(&t, &(struct timed_machine){.name = "gtx480"}, SETS(ONE_CORE), "", clocks);
    ask_for_warps(&t);
    uint64_t cycles[2], start[2];
    for (int i = 0; i < 2; i++) {
        start[i] = t.gpu->clock_cycles;
        cycles[i] = timed_launch(&t, 1, 64, 0);
    }
    const uint64_t *clock = (const uint64_t *)t.buffer; /* of the second launch, in cycles of the machine */
    uint64_t first[2] = {clock[0], clock[2]}, last[2] = {clock[1], clock[3]};
    uint64_t warp_instructions = t.gpu->kernels[1].warp_instructions,
             thread_instructions = t.gpu->kernels[1].thread_instructions;
    close_warps(&t);
    read_table(&rows);
    assert_int_equal(rows.count, 5);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(value(&rows, i, "launch"), i / 2);
        assert_int_equal(value(&rows, i, "block"), 0);
        assert_int_equal(value(&rows, i, "warp"), i % 2);
        assert_int_equal(value(&rows, i, "slot"), i % 2);
        assert_int_equal(value(&rows, i, "partial"), 0);
        assert_int_equal(value(&rows, i, "begin"), 1); /* blocks are placed at the end of the first cycle */
        assert_true(value(&rows, i, "end") <= cycles[i / 2]);
    }
    uint64_t latest = value(&rows, 2, "end") > value(&rows, 3, "end") ? value(&rows, 2, "end") : value(&rows, 3, "end");
    assert_in_range(cycles[1] - latest, 0, 1); /* the launch ends with its last warp */
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(start[1] + value(&rows, 2 + i, "begin") <= first[i]);
        assert_in_range(first[i] - start[1] - value(&rows, 2 + i, "begin"), 1, 10); /* fetched, decoded, issued */
        assert_true(last[i] < start[1] + value(&rows, 2 + i, "end"));
        assert_true(value(&rows, 2 + i, "issued") == value(&rows, 2 + i, "warp_instructions")); /* one per cycle */
        assert_true(value(&rows, 2 + i, "drain") > 50);                                         /* its stores */
    }
    /* 9 up to the branch, from DONE on 4 and the end; warp 1: 2 more, and 50 times 3. A branch has the lanes that take
     * it: not those of warp 1 at the first, and not at the last time round the loop. */
    assert_int_equal(value(&rows, 2, "warp_instructions"), 14);
    assert_int_equal(value(&rows, 3, "warp_instructions"), 14 + 2 + 150);
    assert_int_equal(value(&rows, 2, "thread_instructions"), 13 * 32);
    assert_int_equal(value(&rows, 3, "thread_instructions"), (14 + 2 + 150 - 3) * 32 + 16);
    assert_int_equal(value(&rows, 2, "warp_instructions") + value(&rows, 3, "warp_instructions"), warp_instructions);
    assert_int_equal(value(&rows, 2, "thread_instructions") + value(&rows, 3, "thread_instructions"),
                     thread_instructions);
    assert_true(time_of(&rows, 3) > time_of(&rows, 2));
}

/* More blocks than the core has room for: a slot has one warp after another, each with a row of its own. */
static void slots_change_hands(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct timed t;
        struct table rows;
        uint64_t stalls[STALL_COUNT] = {0};
        timed_open(&t, &(struct timed_machine){.name = "gtx480", .threads = threads},
                   SETS("machine.cores=3", "core.blocks=2"), "", clocks);
        ask_for_warps(&t);
        timed_launch(&t, 20, 64, 0);
        struct sm_counters counted = t.counters->sm;
        close_warps(&t);
        read_table(&rows);
        assert_int_equal(rows.count, 41);
        for (uint32_t i = 0; i < 40; i++) {
            uint64_t sum = 0;
            assert_int_equal(value(&rows, i, "block"), i / 2);
            assert_int_equal(value(&rows, i, "warp"), i % 2);
            for (int k = 0; k < STALL_COUNT; k++) {
                stalls[k] += value(&rows, i, stall_names[k]);
                sum += value(&rows, i, stall_names[k]);
            }
            assert_int_equal(sum, time_of(&rows, i));
            for (uint32_t k = 0; k < i; k++) /* never two in a slot at the same time */
                assert_true(value(&rows, i, "core") != value(&rows, k, "core") ||
                            value(&rows, i, "slot") != value(&rows, k, "slot") ||
                            value(&rows, i, "begin") >= value(&rows, k, "end") ||
                            value(&rows, k, "begin") >= value(&rows, i, "end"));
        }
        assert_memory_equal(stalls, counted.stalls, sizeof stalls);
    }
}

static void nobody_asked(void **state)
{
    (void)state;
    struct timed t;
    timed_open(&t, &(struct timed_machine){.name = "gtx480"}, NO_SETS, "", clocks);
    uint64_t plain = timed_launch(&t, 3, 64, 0);
    timed_close(&t);
    timed_open(&t, &(struct timed_machine){.name = "gtx480"}, NO_SETS, "", clocks);
    ask_for_warps(&t);
    assert_int_equal(timed_launch(&t, 3, 64, 0), plain);
    close_warps(&t);
}

/* Launches are written in the order of their starts, numbered without those that are not reported. */
static void order_of_launches(void **state)
{
    (void)state;
    struct error e = {0};
    struct table rows;
    struct warps *w = warps_open(path, &e);
    struct warps_launch *l[5];
    assert_non_null(w);
    l[0] = warps_launch(w, "before", false);
    warps_end(w, l[0]);
    warps_forget(w);
    for (uint32_t i = 1; i < 5; i++) {
        struct warp_log log = {0};
        l[i] = warps_launch(w, i == 3 ? "a,\"b\"" : "k", i == 2);
        for (uint32_t slot = 0; slot < 2; slot++) {
            warp_log_begin(&log, &(struct warp_row){.block = 7 - slot, .warp = i, .slot = (uint8_t)slot, .begin = 100});
            warp_log_add(&log, STALL_MEMORY, 1ull << slot, 10 + slot);
            warp_log_end(&log, slot, 110 + slot);
        }
        warp_log_collect(&log, 200, false);
        warps_take(l[i], &log, 90);
        assert_null(log.rows);
    }
    for (uint32_t i = 3; i > 0; i--) /* the last one never ends */
        warps_end(w, l[i]);
    assert_true(warps_close(w, &e));
    assert_true(warps_close(w, &e));
    warps_destroy(w);
    read_table(&rows);
    assert_int_equal(rows.count, 5);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(value(&rows, i, "launch"), i / 2);
        assert_int_equal(value(&rows, i, "warp"), i < 2 ? 1 : 3);
        assert_int_equal(value(&rows, i, "block"), i % 2 ? 7 : 6);
        assert_int_equal(value(&rows, i, "begin"), 10);
        assert_int_equal(value(&rows, i, "end"), i % 2 ? 20 : 21);
        assert_int_equal(value(&rows, i, "memory"), i % 2 ? 10 : 11);
    }
    assert_non_null(strstr(rows.lines[3], "1,a??b?,6,"));
}

static void cannot_be_written(void **state)
{
    (void)state;
    struct error e = {0};
    assert_null(warps_open("/nonexistent/warps", &e));
    assert_non_null(strstr(e.text, "/nonexistent/warps"));
}

/* The reader */

static bool reads(struct heddle_warp_times *t, const char *text, const char **why)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return heddle_warp_times_read(t, path, why);
}

static void refused(const char *text, const char *expected)
{
    struct heddle_warp_times t;
    const char *why = NULL;
    assert_false(reads(&t, text, &why));
    if (!strstr(why, expected))
        fail_msg("'%s', not '%s'", why, expected);
    assert_null(t.list);
}

static void reader(void **state)
{
    (void)state;
    struct heddle_warp_times t;
    const char *why = NULL;
    uint64_t cycles = 0;
    /* Columns in another order, and others among them; rows too. */
    static const char other_order[] =
        "kernel,end,begin,warp,x,block,launch,partial\nk,110,10,1,-,0,0,0\nk,95,5,0,-,0,0,0\n"
        "k,18446744073709551600,0,2,-,5000000000,1,0\nk,9,1,3,-,0,0,1\r\n";
    assert_true(reads(&t, other_order, &why));
    assert_int_equal(t.count, 3);
    assert_true(heddle_warp_times_find(&t, 0, 0, 0, &cycles) && cycles == 90);
    assert_true(heddle_warp_times_find(&t, 0, 0, 1, &cycles) && cycles == 100);
    assert_true(heddle_warp_times_find(&t, 1, 5000000000, 2, &cycles) && cycles == 18446744073709551600u);
    assert_false(heddle_warp_times_find(&t, 0, 0, 3, &cycles)); /* it was cut short */
    assert_false(heddle_warp_times_find(&t, 2, 0, 0, &cycles));
    assert_false(heddle_warp_times_find(&t, 0, 1, 0, &cycles));
    heddle_warp_times_free(&t);
    assert_true(reads(&t, "launch,block,warp,begin,end\n", &why));
    assert_false(heddle_warp_times_find(&t, 0, 0, 0, &cycles));
    heddle_warp_times_free(&t);
    refused("", "columns");
    refused("launch,block,warp,begin\n0,0,0,1\n", "columns");
    refused("launch,block,warp,begin,end\n0,0,0,1\n", "numbers");
    refused("launch,block,warp,begin,end\n0,0,0,1,2,3\n", "numbers");
    refused("launch,block,warp,begin,end\n0,0,x,1,2\n", "numbers");
    refused("launch,block,warp,begin,end\n0,0,0,3,2\n", "numbers");
    refused("launch,block,warp,begin,end\n0,0,0,1,99999999999999999999\n", "numbers");
    refused("launch,block,warp,begin,end\n0,0,0,1,2\n0,0,1,1,2", "cut off");
    refused("\x28\xb5\x2f\xfd...", "zstdcat");
    unlink(path);
    assert_false(heddle_warp_times_read(&t, path, &why));
    assert_string_equal(why, "it cannot be opened");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begin_and_end),     cmocka_unit_test(slots_change_hands), cmocka_unit_test(nobody_asked),
        cmocka_unit_test(order_of_launches), cmocka_unit_test(cannot_be_written),  cmocka_unit_test(reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
