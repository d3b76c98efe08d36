/* Does a load ask the L1D for every byte that its lanes need, whatever the size of a line? Small kernels on one core,
 * with lines of 32 to 256 bytes; a probe hears the accesses. The plain model is the set of lines that hold a byte of a
 * lane. */
#include "policy_run.h"

enum { REACH = 1 << 16, LINES_MOST = REACH / 32, START = 4096 };

static uint32_t line_bytes; /* of the machine at work */
static uint32_t heard[LINES_MOST], missed[LINES_MOST],
    total; /* accesses of each line of the buffer, those that missed */
static uint64_t local_lines[64], local_count;
static bool stores;

static void on_access(void *state, const struct heddle_core *core, const struct heddle_l1_access *e)
{
    (void)state;
    assert_int_equal(core->l1_line_bytes, line_bytes);
    if (e->outcome == HEDDLE_FAIL)
        return;
    assert_int_equal(e->address % line_bytes, 0);
    if (e->local && !e->store) {
        uint32_t i = 0;
        while (i < local_count && local_lines[i] != e->address)
            i++;
        assert_true(i < 64);
        local_lines[i] = e->address;
        local_count += i == local_count;
    }
    if (e->local || e->store != stores)
        return;
    uint64_t line = e->address % TIMED_BYTES / line_bytes;
    assert_true(line < REACH / line_bytes);
    heard[line]++;
    missed[line] += e->outcome == HEDDLE_MISS;
    total++;
}

static const struct heddle_probe listener = {
    .policy = {.abi = HEDDLE_POLICY_ABI, .name = "listener", .on = {.l1_access = on_access}},
};

static void launch(const char *machine, const char *body)
{
    char l1d[40], l2[40];
    struct timed t;
    snprintf(l1d, sizeof l1d, "l1d.line_bytes=%u", line_bytes);
    snprintf(l2, sizeof l2, "l2.line_bytes=%u", line_bytes > 128 ? line_bytes : 128);
    const char *const sets[] = {
        ONE_CORE, "machine.cores_per_cluster=1", l1d, l2, "dram.channel_bit=8", "l1d.sets=64", "l1d.ways=64", NULL};
    memset(heard, 0, sizeof heard);
    memset(missed, 0, sizeof missed);
    total = 0;
    local_count = 0;
    policy_open(&t, &(struct policy_run){.machine = machine, .sets = sets, .probes = {&listener}}, "", body);
    timed_launch(&t, 1, 32, 0);
    timed_close(&t);
}

/* One instruction: the lanes of the mask access so many bytes, from START + start on, so many bytes apart. */
struct shape {
    const char *load, *store;
    uint32_t bytes;
};

static const struct shape shapes[] = {
    {"ld.global.u8 %r10, [%rd1];\n", "st.global.u8 [%rd1], %r1;\n", 1},
    {"ld.global.u16 %r10, [%rd1];\n", "st.global.u16 [%rd1], %r1;\n", 2},
    {"ld.global.u32 %r10, [%rd1];\n", "st.global.u32 [%rd1], %r1;\n", 4},
    {"ld.global.u64 %rd10, [%rd1];\n", "st.global.u64 [%rd1], %rd2;\n", 8},
    {"ld.global.v2.u32 {%r10, %r11}, [%rd1];\n", "st.global.v2.u32 [%rd1], {%r1, %r1};\n", 8},
    {"ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd1];\n", "st.global.v4.u32 [%rd1], {%r1, %r1, %r1, %r1};\n", 16},
    {"ld.global.v2.u64 {%rd10, %rd11}, [%rd1];\n", "st.global.v2.u64 [%rd1], {%rd2, %rd2};\n", 16},
    {"ld.global.v4.u8 {%r10, %r11, %r12, %r13}, [%rd1];\n", "st.global.v4.u8 [%rd1], {%r1, %r1, %r1, %r1};\n", 4},
};

static void check(const char *machine, const struct shape *shape, uint32_t start, uint32_t stride, uint32_t mask)
{
    struct text body = {0};
    bool need[LINES_MOST] = {false};
    uint32_t needed = 0;
    say(&body, "ld.param.u64 %%rd1, [buffer];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd2, %%r1, %u;\n", stride);
    say(&body, "add.u64 %%rd1, %%rd1, %%rd2;\nadd.u64 %%rd1, %%rd1, %u;\n", START + start);
    say(&body, "shr.u32 %%r2, %u, %%r1;\nand.b32 %%r2, %%r2, 1;\nsetp.ne.u32 %%p1, %%r2, 0;\n@%%p1 %s", mask,
        stores ? shape->store : shape->load);
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t b = 0; b < shape->bytes && mask >> lane & 1; b++) {
            bool *line = &need[(START + start + lane * stride + b) / line_bytes];
            needed += !*line;
            *line = true;
        }
    }
    launch(machine, body.s);
    for (uint32_t i = 0; i < REACH / line_bytes; i++)
        if (need[i] != (heard[i] != 0) || (!stores && missed[i] != need[i]))
            fail_msg("%s, lines of %u bytes: line %u: needed %d, accessed %u times, missed %u times\n%s", machine,
                     line_bytes, i, need[i], heard[i], missed[i], body.s);
    if (shape->bytes >= 4 && !strcmp(machine, "slp"))
        assert_int_equal(total, needed); /* the fewest possible */
    free(body.s);
}

static void every_line(const char *machine)
{
    for (line_bytes = 32; line_bytes <= 256; line_bytes *= 2) {
        for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            const struct shape *s = &shapes[i];
            check(machine, s, 0, s->bytes, UINT32_MAX);            /* a row */
            check(machine, s, 3 * s->bytes, s->bytes, UINT32_MAX); /* not at the beginning of a line */
            check(machine, s, 0, 3 * s->bytes, 0xfff0f00f);        /* apart, and some lanes only */
        }
        check(machine, &shapes[2], 20, 100, UINT32_MAX);
        check(machine, &shapes[3], 248, 256, UINT32_MAX);
    }
}

static void loads(void **state)
{
    (void)state;
    stores = false;
    every_line("slp");
    every_line("gtx480");
}

static void stores_too(void **state)
{
    (void)state;
    stores = true;
    every_line("slp");
    stores = false;
}

/* The words of a warp's threads lie side by side: a variable of two words is twice 128 bytes. */
static void local_words(void **state)
{
    (void)state;
    for (line_bytes = 32; line_bytes <= 256; line_bytes *= 2) {
        launch("slp", ".local .align 8 .b8 room[64];\nmov.u64 %rd5, room;\nld.local.u64 %rd6, [%rd5];\n");
        assert_int_equal(local_count, line_bytes == 256 ? 2 : 256 / line_bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads),
        cmocka_unit_test(stores_too),
        cmocka_unit_test(local_words),
    };
    return cmocka_run_group_tests_name("l1_lines", tests, NULL, NULL);
}
