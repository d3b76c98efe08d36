/* Atomics that cost something at every sector: does the load/store unit send one sector after the other, does a slice
 * work at one after the other, at home and on the way there, and do floating-point ones on one word take turns? */
#include "partition_test.h"
#include "timing_test.h"

enum { EACH = 5, TURN = 11, LINE = 128 };

static struct rig *slices_of(uint32_t sector_cycles, uint32_t float_cycles)
{
    struct mem_config config = default_config();
    config.l2.slices_per_channel = 1;
    config.l2.atomic_sector_cycles = sector_cycles;
    config.l2.atomic_float_cycles = float_cycles;
    struct rig *r = rig_of(config);
    warm(r, 0, 4 * LINE);
    return r;
}

/* One of each core, in the same cycle: from the first answer to the last. */
static uint64_t from_first_to_last(struct rig *r, enum packet_kind kind, const uint64_t address[CORES], bool floats)
{
    uint32_t before = r->log_count;
    for (uint32_t i = 0; i < CORES; i++) {
        struct packet p = request_of(kind, i, address[i], 4, i);
        p.takes_turns = floats;
        assert_true(try_send(r, &p));
    }
    drain(r);
    assert_int_equal(r->log_count, before + CORES);
    return r->log[r->log_count - 1].cycle - r->log[before].cycle;
}

static const uint64_t one_word[CORES] = {64, 64, 64, 64}, words[CORES] = {64, 68, 72, 76};

static void sectors_one_after_the_other(void **state)
{
    (void)state;
    struct rig *r = slices_of(EACH, 0);
    assert_int_equal(from_first_to_last(r, PACKET_ATOMIC, words, false), (CORES - 1) * EACH);
    assert_int_equal(from_first_to_last(r, PACKET_ATOMIC, one_word, false), (CORES - 1) * EACH);
    assert_int_equal(from_first_to_last(r, PACKET_LOAD, words, false), CORES - 1);
    rig_free(r);
    r = slices_of(0, 0);
    assert_int_equal(from_first_to_last(r, PACKET_ATOMIC, words, false), CORES - 1);
    rig_free(r);
}

/* Two sectors of 32 bytes in one piece take twice the time. */
static void pieces_of_two_sectors(void **state)
{
    (void)state;
    struct mem_config config = default_config();
    config.l2.slices_per_channel = 1;
    config.l2.cache.sector_bytes = 64;
    config.l2.cache.port_bytes = 64;
    config.network.flit_bytes = 72;
    config.l2.atomic_sector_cycles = EACH;
    struct rig *r = rig_of(config);
    warm(r, 0, 4 * LINE);
    for (uint32_t i = 0; i < CORES; i++) {
        struct packet p = request_of(PACKET_ATOMIC, i, i * LINE, 64, i);
        assert_true(try_send(r, &p));
    }
    drain(r);
    assert_int_equal(r->log[CORES - 1].cycle - r->log[0].cycle, (CORES - 1) * 2 * EACH);
    rig_free(r);
}

/* A slice takes stores sector by sector, and a mask where one of them is written in part. */
static void stores_sector_by_sector(void **state)
{
    (void)state;
    const struct {
        uint32_t mask, parts;
    } stores[] = {{UINT32_MAX, 2}, {0x0000ffff, 3}};
    for (uint32_t i = 0; i < 2; i++) {
        struct mem_config config = default_config();
        config.l2.slices_per_channel = 1;
        config.l2.store_sector_cycles = EACH;
        config.l2.cache.sector_bytes = 64;
        config.l2.cache.port_bytes = 64;
        config.network.flit_bytes = 72;
        struct rig *r = rig_of(config);
        warm(r, 0, 4 * LINE);
        uint32_t before = r->log_count;
        for (uint32_t k = 0; k < CORES; k++) {
            struct packet p = request_of(PACKET_STORE, k, k * LINE, 64, k);
            p.sectors = 3;
            p.mask = stores[i].mask;
            assert_true(try_send(r, &p));
        }
        drain(r);
        assert_int_equal(r->log[r->log_count - 1].cycle - r->log[before].cycle, (CORES - 1) * stores[i].parts * EACH);
        rig_free(r);
    }
}

static void floats_take_turns(void **state)
{
    (void)state;
    struct rig *r = slices_of(1, TURN);
    assert_int_equal(from_first_to_last(r, PACKET_ATOMIC, one_word, true), (CORES - 1) * TURN);
    assert_int_equal(from_first_to_last(r, PACKET_ATOMIC, one_word, false), CORES - 1);
    assert_int_equal(from_first_to_last(r, PACKET_ATOMIC, words, true), CORES - 1); /* of one sector */
    rig_free(r);
}

/* Cores. */

static const struct timed_machine gtx480 = {.name = "gtx480"};

struct outcome {
    uint64_t cycles, sectors;
};

static struct outcome run_one_warp(const char *set, const char *body)
{
    struct timed t;
    timed_open(&t, &gtx480, SETS(ONE_CORE, "rules.exact_sectors=true", "rules.uniform_atomics_once=true", set), "",
               body);
    timed_launch(&t, 1, 32, 0);
    struct outcome o = {t.counters->cycles, t.counters->memory.l1_sectors};
    timed_close(&t);
    return o;
}

#define APART(bytes)                                                                                         \
    "ld.param.u64 %rd1, [buffer];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, " bytes ";\nadd.u64 %rd3, " \
    "%rd1, %rd2;\n"

static void sent_one_after_the_other(void **state)
{
    (void)state;
    static const char lines[] = APART("128") "red.global.add.u32 [%rd3], 1;\n";
    static const char neighbours[] = APART("4") "red.global.add.u32 [%rd3], 1;\nred.global.add.u32 [%rd3+1024], 1;\n";
    struct outcome slow = run_one_warp("lsu.atomic_sector_cycles=40", lines),
                   slower = run_one_warp("lsu.atomic_sector_cycles=50", lines);
    assert_int_equal(slow.sectors, 32);
    assert_int_equal(slower.cycles - slow.cycles, 31 * 10); /* the last need not be waited for */
    slow = run_one_warp("lsu.atomic_parts=1", neighbours);  /* no key: as any access */
    assert_int_equal(slow.sectors, 8);
}

/* The assembler has one lane add up 32-bit integers, no others. */
static void one_address(void **state)
{
    (void)state;
    assert_int_equal(run_one_warp("lsu.atomic_parts=1", APART("0") "red.global.add.u32 [%rd1], 1;\n").sectors, 1);
    assert_int_equal(run_one_warp("lsu.atomic_parts=1", APART("0") "red.global.max.s32 [%rd1], 1;\n").sectors, 1);
    assert_int_equal(run_one_warp("lsu.atomic_parts=1", APART("0") "red.global.add.f32 [%rd1], 0f3f800000;\n").sectors,
                     32);
    assert_int_equal(run_one_warp("lsu.atomic_parts=1", APART("0") "red.global.add.u64 [%rd1], 1;\n").sectors, 32);
    assert_int_equal(run_one_warp("lsu.atomic_parts=1", APART("0") "atom.global.exch.b32 %r2, [%rd1], 1;\n").sectors,
                     32);
}

/* What the L2 is asked for, in sectors of 32 bytes. */
static void sectors_of_the_l2(void **state)
{
    (void)state;
    assert_int_equal(run_one_warp("l1d.sector_bytes=32", APART("4") "ld.global.u32 %r2, [%rd3];\n").sectors, 4);
    assert_int_equal(run_one_warp("l1d.sector_bytes=32", APART("4") "st.global.u32 [%rd3], %r1;\n").sectors, 4);
    assert_int_equal(run_one_warp("l1d.sector_bytes=32", APART("64") "ld.global.u32 %r2, [%rd3];\n").sectors, 32);
    assert_int_equal(run_one_warp("lsu.atomic_parts=1", APART("4") "red.global.add.u32 [%rd3], 1;\n").sectors, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sectors_one_after_the_other),
                                       cmocka_unit_test(pieces_of_two_sectors),
                                       cmocka_unit_test(stores_sector_by_sector),
                                       cmocka_unit_test(floats_take_turns),
                                       cmocka_unit_test(sent_one_after_the_other),
                                       cmocka_unit_test(one_address),
                                       cmocka_unit_test(sectors_of_the_l2)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
