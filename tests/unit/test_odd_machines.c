/* Do machines at the ends of their keys' ranges come to an end, and does the report of one that does not name what
 * stands?
 * Left out of builds with sanitizers: group machines runs others like them there.
 * Left out of second builds: group machines runs others like them there. */
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

/* What the ways of running cores could tell apart. */
struct counts {
    uint64_t cycles, no_ready;
};

static struct counts counts_of(const struct timed *t)
{
    return (struct counts){t->counters->cycles, t->counters->sm.no_ready};
}

static uint64_t assert_same(struct counts a, struct counts b)
{
    assert_int_equal(a.cycles, b.cycles);
    assert_int_equal(a.no_ready, b.no_ready);
    return a.cycles;
}

static struct counts run(const struct timed_machine *machine, const char *const *sets)
{
    struct timed t;
    timed_open(&t, machine, sets, "", BODY);
    timed_launch(&t, BLOCKS, THREADS, 0);
    struct counts counts = counts_of(&t);
    for (uint32_t i = 0; i < BLOCKS * THREADS * 16; i++) {
        uint32_t word;
        memcpy(&word, t.buffer + 1048576 + 4 * i, 4);
        assert_int_equal(word, i);
    }
    timed_close(&t);
    return counts;
}

/* However cores are run. */
static uint64_t run_both_ways(const char *name, const char *const *sets)
{
    return assert_same(run(&(struct timed_machine){.name = name, .lockstep = true}, sets),
                       run(&(struct timed_machine){.name = name}, sets));
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

/* All threads add to few words, and to words that lie in every other sector. */
#define ADDS                                                                                        \
    "ld.param.u64 %rd0, [buffer];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n"                  \
    "mad.lo.u32 %r2, %r1, 64, %r0;\nmov.u32 %r3, 0;\nLOOP:\nmad.lo.u32 %r4, %r3, 37, %r2;\n"        \
    "and.b32 %r5, %r4, 63;\nmul.wide.u32 %rd1, %r5, 4;\nadd.u64 %rd1, %rd1, %rd0;\n"                \
    "atom.global.add.u32 %r6, [%rd1], 1;\nmul.wide.u32 %rd2, %r4, 64;\nadd.u64 %rd2, %rd2, %rd0;\n" \
    "st.global.u32 [%rd2+256], %r6;\nred.global.add.u32 [%rd2+320], %r6;\nmembar.gl;\n"             \
    "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 8;\n@%p1 bra LOOP;\n"

static struct counts add(const char *name, bool lockstep, const char *const *sets)
{
    struct timed t;
    uint32_t sum = 0;
    timed_open(&t, &(struct timed_machine){.name = name, .lockstep = lockstep}, sets, "", ADDS);
    timed_launch(&t, BLOCKS, THREADS, 0);
    struct counts counts = counts_of(&t);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t word;
        memcpy(&word, t.buffer + 4 * i, 4);
        sum += word;
    }
    assert_int_equal(sum, BLOCKS * THREADS * 8);
    timed_close(&t);
    return counts;
}

static void add_both_ways(const char *name, const char *const *sets)
{
    assert_same(add(name, true, sets), add(name, false, sets));
}

/* An atomic that waits for room in the network and then for its turn is not forgotten. */
static void slow_atomics(void **state)
{
    (void)state;
    add_both_ways("gtx480", SETS("lsu.atomic_sector_cycles=64", "interconnect.input_buffer_flits=2"));
    add_both_ways("gtx480", SETS("machine.cores=6", "lsu.atomic_sector_cycles=16", "interconnect.flit_bytes=16"));
    add_both_ways("c2050", SETS("lsu.atomic_sector_cycles=1", "interconnect.input_buffer_flits=1"));
}

/* A core that runs ahead stops where its port may be full, also when what it fetches has several flits. */
static void narrow_networks(void **state)
{
    (void)state;
    static const char *const buffers[] = {"interconnect.input_buffer_flits=6", "interconnect.input_buffer_flits=8",
                                          "interconnect.input_buffer_flits=10", "interconnect.input_buffer_flits=11",
                                          "interconnect.input_buffer_flits=14"};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        const char *const *sets = SETS("interconnect.flit_bytes=2", "machine.cores=4", "machine.cores_per_cluster=1",
                                       "dram.channels=1", "l1i.sets=1", "l1i.ways=1", buffers[i]);
        run_both_ways("slp", sets);
        add_both_ways("slp", sets);
    }
}

/* Atomics that take effect as they issue do so for threads of several warps too. */
static void atomics_of_mixed_warps(void **state)
{
    (void)state;
    static const char *const units[] = {"machine.divergence=tbc", "machine.divergence=capri"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        add_both_ways("gtx480", SETS("rules.atomics_at_once=true", units[i]));
}

/* As many answers are awaited as sectors are asked for, not as lie between the first and the last. */
static void sectors_with_gaps(void **state)
{
    (void)state;
    add_both_ways("gtx480-gs4", SETS("rules.exact_sectors=true"));
    add_both_ways("gtx480-gs4", SETS("rules.exact_sectors=true", "rules.core_kind=sub_cores", "rules.lowers=true",
                                     "rules.l1d_has_banks=true", "rules.atomics_at_once=true"));
    add_both_ways("h200", SETS("machine.cores=8", "dram.channels=4", "l2.sector_bytes=32"));
}

/* Each half of an L2 asks the other, and neither waits for a place that the other's requests need. */
static void halves_with_few_places(void **state)
{
    (void)state;
    static const char *const keys[] = {"l2.mshr_entries=1", "l2.mshr_entries=2", "l2.ways=1", "l2.mshr_merge=1",
                                       "l2.input_queue=1"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        run_both_ways("h200",
                      SETS("machine.cores=8", "machine.cores_per_cluster=1", "dram.channels=2", "l2.sets=4", keys[i]));
    run_both_ways("h200", SETS("machine.cores=8", "machine.cores_per_cluster=1", "dram.channels=2", "l2.sets=1",
                               "l2.mshr_entries=1", "l2.ways=1", "l2.mshr_merge=1", "l2.input_queue=1"));
}

/* What is reserved and brought by nobody (rules.l2_constants_share_miss) gives way where nothing else does. */
static void lines_that_nobody_brings(void **state)
{
    (void)state;
    static const char *const ways[] = {"l2.ways=1", "l2.ways=2"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        run_both_ways("gtx480-gs4", SETS("machine.cores=1", "dram.channels=1", "l2.sets=4", ways[i]));
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
        cmocka_unit_test(clusters_with_hops),     cmocka_unit_test(queues_of_one),
        cmocka_unit_test(slow_atomics),           cmocka_unit_test(narrow_networks),
        cmocka_unit_test(atomics_of_mixed_warps), cmocka_unit_test(sectors_with_gaps),
        cmocka_unit_test(halves_with_few_places), cmocka_unit_test(lines_that_nobody_brings),
        cmocka_unit_test(standstill_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
