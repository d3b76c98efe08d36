/* Do machines at the ends of their keys' ranges come to an end, and does the report of one that does not name what
 * stands? */
#include "timing_test.h"

#include "gpu/timing.h"
#include "mem/cache_inside.h"
#include "sm/core.h"

enum { BLOCKS = 40, THREADS = 64 };

/* Loads and stores of lines that follow each other, and of local memory, which an L1 keeps modified. */
#define BODY                                                                                                     \
    ".local .align 4 .b8 own[64];\nld.param.u64 %rd0, [buffer];\nmov.u32 %r0, %tid.x;\n"                         \
    "mov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r2, %r1, 64, %r0;\nmov.u32 %r3, 0;\nmov.u64 %rd3, own;\nLOOP:\n"        \
    "mad.lo.u32 %r4, %r3, 2560, %r2;\nmul.wide.u32 %rd1, %r4, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"                   \
    "ld.global.u32 %r5, [%rd1];\nand.b32 %r6, %r3, 15;\nmul.wide.u32 %rd4, %r6, 4;\nadd.u64 %rd4, %rd4, %rd3;\n" \
    "st.local.u32 [%rd4], %r5;\nld.local.u32 %r7, [%rd4];\nadd.u32 %r8, %r7, %r4;\n"                             \
    "st.global.u32 [%rd1+1048576], %r8;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 16;\n@%p1 bra LOOP;\n"

static uint64_t run(const struct timed_machine *machine, const char *const *sets)
{
    struct timed t;
    timed_open(&t, machine, sets, "", BODY);
    uint64_t cycles = timed_launch(&t, BLOCKS, THREADS, 0);
    for (uint32_t i = 0; i < BLOCKS * THREADS * 16; i++) {
        uint32_t word;
        memcpy(&word, t.buffer + 1048576 + 4 * i, 4);
        assert_int_equal(word, i);
    }
    timed_close(&t);
    return cycles;
}

/* However cores are run. */
static uint64_t run_both_ways(const char *name, const char *const *sets)
{
    uint64_t cycles = run(&(struct timed_machine){.name = name, .lockstep = true}, sets);
    assert_int_equal(run(&(struct timed_machine){.name = name}, sets), cycles);
    return cycles;
}

/* Ports are of clusters, not of cores. */
static void clusters_with_hops(void **state)
{
    (void)state;
    uint64_t none = run_both_ways("ccws", SETS("interconnect.hop_cycles=0"));
    assert_true(run_both_ways("ccws", SETS("interconnect.hop_cycles=1")) > none);
    run_both_ways("ccws", SETS("interconnect.hop_cycles=200"));
    run_both_ways("h200", SETS("machine.cores=120", "machine.cores_per_cluster=60", "interconnect.hop_cycles=7"));
}

/* A queue of one place takes a miss, and with it the write-back of its victim. */
static void queues_of_one(void **state)
{
    (void)state;
    static const struct {
        const char *l1d_sets, *l2_sets;
    } sizes[] = {{"l1d.sets=8", "l2.sets=64"}, {"l1d.sets=1", "l2.sets=1"} /* victims are modified */};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        run_both_ways("gtx480", SETS("l1d.miss_queue=1", "l1d.ways=2", sizes[i].l1d_sets));
        run_both_ways("gtx480", SETS("l1d.miss_queue=1", "l1d.ways=2", sizes[i].l1d_sets, "rules.l1d_allocate=fill"));
        run_both_ways("gtx480-gs4", SETS("l2.miss_queue=1", "l2.ways=2", sizes[i].l2_sets));
        run_both_ways("gtx480-gs4", SETS("l1d.miss_queue=1", "l1c.miss_queue=1", "l1i.miss_queue=1", "l2.miss_queue=1",
                                         "l1d.ways=2", sizes[i].l1d_sets, "l2.ways=2", sizes[i].l2_sets));
    }
}

/* Loads that no queue takes stand: the report says so, and does not speak of warps that spin. */
static void standstill_is_named(void **state)
{
    (void)state;
    struct timed t;
    timed_open(&t, &(struct timed_machine){.name = "gtx480"}, NO_SETS, "", BODY);
    for (uint32_t i = 0; i < t.gpu->timing->core_count; i++)
        t.gpu->timing->cores[i]->lsu.l1d->miss_reserve = 1000; /* more than there is */
    uint64_t buffer = (uint64_t)(uintptr_t)t.buffer;
    struct gpu_launch launch = {.kernel = exec_image_function(t.image, "kernel"),
                                .grid = {BLOCKS, 1, 1},
                                .block = {THREADS, 1, 1},
                                .params = &buffer,
                                .params_bytes = 8};
    assert_false(gpu_launch(t.gpu, &launch, &t.error));
    assert_int_equal(t.error.kind, ERROR_DEADLOCK);
    static const char *const said[] = {"kernel kernel cannot go on: 80 warps wait for memory",
                                       "the machine is to blame",
                                       "core 0: the L1 data cache refuses an access: the miss queue has no room",
                                       ", core 0: waits for the load at PTX line "};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!strstr(t.error.text, said[i]))
            fail_msg("'%s' is not in: %s", said[i], t.error.text);
    if (strstr(t.error.text, "spin"))
        fail_msg("nothing spins: %s", t.error.text);
    timed_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_with_hops),
        cmocka_unit_test(queues_of_one),
        cmocka_unit_test(standstill_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
