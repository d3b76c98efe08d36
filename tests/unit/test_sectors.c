/* Sectors of global memory: is each instruction and each sector counted once, are hits told sector by sector, and is
 * what is no load into registers left out? */
#include "timing_test.h"

static const struct timed_machine gtx480 = {.name = "gtx480"};

/* One warp; %rd1: the buffer, %rd3: 4 bytes for each lane. */
#define LANES                                                                                        \
    "ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, " \
    "%rd1, %rd2;\n"
/* What follows waits for the load before it. */
#define AFTER "and.b32 %r2, %r2, 0;\ncvt.u64.u32 %rd4, %r2;\nadd.u64 %rd3, %rd3, %rd4;\nadd.u64 %rd1, %rd1, %rd4;\n"

static struct sm_counters run(const char *set, const char *body)
{
    struct timed t;
    timed_open(&t, &gtx480, SETS(ONE_CORE, set), ".shared .align 16 .b8 tile[1024];\n", body);
    timed_launch(&t, 1, 32, 0);
    struct sm_counters n = t.counters->sm;
    timed_close(&t);
    return n;
}

static void once_each(void **state)
{
    (void)state;
    struct sm_counters n = run("l1d.sector_bytes=32", LANES "ld.global.u32 %r2, [%rd3];\nst.global.u32 [%rd3], %r2;\n");
    assert_int_equal(n.global_loads, 1);
    assert_int_equal(n.load_sectors, 4); /* 128 bytes */
    assert_int_equal(n.load_sector_hits, 0);
    assert_int_equal(n.global_stores, 1);
    assert_int_equal(n.store_sectors, 4);
}

/* The first load brings one sector; the second wants it and its three neighbours. */
static void a_part_is_there(void **state)
{
    (void)state;
    struct sm_counters n =
        run("l1d.sector_bytes=32", LANES "ld.global.u32 %r2, [%rd1];\n" AFTER "ld.global.u32 %r3, [%rd3];\n");
    assert_int_equal(n.global_loads, 2);
    assert_int_equal(n.load_sectors, 5);
    assert_int_equal(n.load_sector_hits, 1);
    n = run("l1d.sector_bytes=32", LANES "ld.global.u32 %r2, [%rd3];\n" AFTER "ld.global.u32 %r3, [%rd3];\n");
    assert_int_equal(n.load_sectors, 8);
    assert_int_equal(n.load_sector_hits, 4);
}

/* Without waiting for the first: what is on its way is a hit, as Nsight counts it. */
static void on_its_way(void **state)
{
    (void)state;
    struct sm_counters n = run("l1d.sector_bytes=32", LANES "ld.global.u32 %r2, [%rd3];\nld.global.u32 %r3, [%rd3];\n");
    assert_int_equal(n.load_sectors, 8);
    assert_int_equal(n.load_sector_hits, 4);
}

/* Lanes 0 and 31 of a line: two sectors where the machine asks for those alone, else the whole line. */
static void far_apart(void **state)
{
    (void)state;
    const char *body = LANES "setp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, 31;\nor.pred %p1, %p1, %p2;\n"
                             "@%p1 ld.global.u32 %r2, [%rd3];\n";
    struct timed t;
    for (uint32_t i = 0; i < 2; i++) {
        timed_open(&t, &gtx480,
                   SETS(ONE_CORE, "l1d.sector_bytes=32", i ? "rules.exact_sectors=true" : "rules.exact_sectors=false"),
                   "", body);
        timed_launch(&t, 1, 32, 0);
        assert_int_equal(t.counters->sm.load_sectors, i ? 2 : 4);
        timed_close(&t);
    }
}

static void others_are_not(void **state)
{
    (void)state;
    struct sm_counters n = run("l1d.sector_bytes=32", LANES "atom.global.add.u32 %r2, [%rd3], 1;\nred.global.add.u32 "
                                                            "[%rd3], 1;\nst.shared.u32 [tile], %r1;\nld.shared.u32 "
                                                            "%r3, [tile];\ncp.async.ca.shared.global [tile], [%rd3], "
                                                            "4;\ncp.async.wait_all;\n");
    assert_int_equal(n.global_loads, 1); /* cp.async, as Nsight counts it */
    assert_int_equal(n.load_sectors, 4);
    assert_int_equal(n.global_stores, 0);
    assert_int_equal(n.store_sectors, 0);
}

/* Instructions are counted on every machine. */
static void without_sectors(void **state)
{
    (void)state;
    struct sm_counters n = run("l1d.sector_bytes=0", LANES "ld.global.u32 %r2, [%rd3];\nst.global.u32 [%rd3], %r2;\n");
    assert_int_equal(n.global_loads, 1);
    assert_int_equal(n.global_stores, 1);
    assert_int_equal(n.load_sectors + n.store_sectors + n.load_sector_hits, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(once_each),      cmocka_unit_test(a_part_is_there),
                                       cmocka_unit_test(on_its_way),     cmocka_unit_test(far_apart),
                                       cmocka_unit_test(others_are_not), cmocka_unit_test(without_sectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
