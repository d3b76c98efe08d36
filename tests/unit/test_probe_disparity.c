/* Does `disparity` put the warps of a block in order of their time, and does it know what they waited for? That it
 * agrees with `--warps` on whole programs is tests/policy/probe.sh's to ask. */
#include "probe_test.h"

extern const struct heddle_probe probe_disparity;

static void start(struct probed *p, int64_t launch, int64_t block, int64_t warps)
{
    const union heddle_value values[] = {{.integer = launch}, {.integer = block}, {.integer = warps}};
    assert_true(probed_try(p, &probe_disparity, values, PROBE_LINE));
    probed_on(p)->kernel(p->state, &p->core);
}

static void expect(const struct probed *p, const char *name, uint64_t expected)
{
    if (probed_count(p, name) != expected)
        fail_msg("%s: %d, not %d", name, (int)probed_count(p, name), (int)expected);
}

static void expect_ranks(const struct probed *p, const char *name, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t expected[] = {a, b, c};
    for (uint32_t rank = 0; rank < 64; rank++)
        if (probed_bucket(p, name, rank) != (rank < 3 ? expected[rank] : 0))
            fail_msg("%s, rank %u: %d", name, rank, (int)probed_bucket(p, name, rank));
}

static void end_at(struct probed *p, uint64_t cycle, uint32_t warp)
{
    probed_cycle(p, cycle);
    probed_ends(p, warp);
}

/* Ends after 30, 10 and 20 cycles, both ends included. */
static void times(void **state)
{
    (void)state;
    struct probed p;
    start(&p, -1, -1, -1);
    p.core.cycle = 100;
    probed_place(&p, 2, 0, 4, 3);
    for (uint32_t w = 4; w < 7; w++)
        for (uint32_t n = 0; n < (w == 5 ? 4 : w == 6 ? 5 : 6); n++)
            probed_issue(&p, w, n, UINT32_MAX);
    end_at(&p, 109, 5);
    end_at(&p, 119, 6);
    expect(&p, "blocks", 0);
    end_at(&p, 129, 4);
    expect(&p, "blocks", 1);
    expect(&p, "fastest_cycles", 10);
    expect(&p, "slowest_cycles", 30);
    expect(&p, "disparity", 666);
    expect(&p, "highest_disparity", 666);
    expect(&p, "disparity_of_fastest", 2000);
    expect(&p, "highest_disparity_of_fastest", 2000);
    expect(&p, "instruction_disparity", 500);
    expect(&p, "highest_instruction_disparity", 500);
    expect_ranks(&p, "cycles_by_rank", 10, 20, 30);
    expect_ranks(&p, "instructions_by_rank", 4, 5, 6);
    expect_ranks(&p, "warps_by_rank", 1, 1, 1);
    p.core.cycle = 200;
    probed_place(&p, 2, 1, 4, 2); /* a block of two: sums go on, maxima stay */
    probed_issue(&p, 4, 0, UINT32_MAX);
    probed_issue(&p, 5, 0, UINT32_MAX);
    end_at(&p, 203, 5);
    end_at(&p, 204, 4);
    expect(&p, "blocks", 2);
    expect(&p, "disparity", 666 + 200);
    expect(&p, "highest_disparity", 666);
    expect(&p, "disparity_of_fastest", 2000 + 250);
    expect(&p, "instruction_disparity", 500);
    expect_ranks(&p, "cycles_by_rank", 14, 25, 30);
    expect_ranks(&p, "warps_by_rank", 2, 2, 1);
    probed_end(&p);
}

enum { SLOW, FAST };

static void cycle(struct probed *p, uint64_t at, uint64_t ready, uint64_t long_wait, uint64_t at_barrier)
{
    p->core.ready = ready;
    p->core.long_wait = long_wait;
    p->core.at_barrier = p->core.waiting = at_barrier;
    probed_cycle(p, at);
}

/* cycle     warp 0             warp 1
 * 11        issues             ready, not picked
 * 12        waits for memory   issues
 * 13 to 17  (the core sleeps)
 * 18        at a barrier       waits for memory; its slot's next warp is none of these
 * 19        ready, not picked  issues and ends
 * 20        issues and ends                               */
static void what_they_waited_for(void **state)
{
    (void)state;
    struct probed p;
    start(&p, -1, -1, -1);
    p.core.cycle = 10;
    probed_place(&p, 0, 0, 0, 2);
    cycle(&p, 11, 3, 0, 0);
    probed_issue(&p, SLOW, 0, UINT32_MAX);
    probed_issue(&p, SLOW, 1, UINT32_MAX); /* a second one in the same cycle */
    cycle(&p, 12, 2, 1, 0);
    probed_issue(&p, FAST, 0, 0xff);
    cycle(&p, 18, 0, 3, 1);
    cycle(&p, 19, 3, 0, 0);
    probed_issue(&p, FAST, 1, 0);
    probed_ends(&p, FAST);
    cycle(&p, 20, 3, 2, 0); /* the sets may still have bits of a warp that has ended */
    probed_issue(&p, SLOW, 2, UINT32_MAX);
    probed_ends(&p, SLOW);
    expect(&p, "slowest_cycles", 11);
    expect(&p, "slowest_instructions", 3);
    expect(&p, "slowest_partial", 0);
    expect(&p, "slowest_memory", 1 + 5);
    expect(&p, "slowest_not_picked", 1);
    expect(&p, "slowest_barrier", 1);
    expect(&p, "fastest_cycles", 10);
    expect(&p, "fastest_instructions", 2);
    expect(&p, "fastest_partial", 2);
    expect(&p, "fastest_memory", 1);
    expect(&p, "fastest_not_picked", 1);
    expect(&p, "fastest_barrier", 0);
    expect(&p, "highest_wait", 100); /* 1 of the other 10 cycles */
    expect_ranks(&p, "memory_by_rank", 1, 6, 0);
    expect_ranks(&p, "not_picked_by_rank", 1, 1, 0);
    expect_ranks(&p, "barrier_by_rank", 0, 1, 0);
    expect_ranks(&p, "partial_by_rank", 2, 0, 0);
    probed_end(&p);
}

/* A warp that is held back while the core sleeps waits for the scheduler all the time; one that is launched into the
 * slot later does not. */
static void held_in_its_sleep(void **state)
{
    (void)state;
    struct probed p;
    start(&p, -1, -1, -1);
    probed_place(&p, 0, 0, 0, 2);
    cycle(&p, 1, 1, 0, 0);
    cycle(&p, 50, 1, 0, 0);
    probed_issue(&p, 0, 0, UINT32_MAX);
    probed_ends(&p, 0);
    probed_ends(&p, 1);
    expect_ranks(&p, "not_picked_by_rank", 49, 0, 0);
    cycle(&p, 60, 1, 2, 0); /* bits of nobody */
    probed_place(&p, 0, 1, 0, 2);
    cycle(&p, 80, 0, 0, 0);
    probed_ends(&p, 0);
    probed_ends(&p, 1);
    expect_ranks(&p, "not_picked_by_rank", 49, 0, 0);
    expect_ranks(&p, "memory_by_rank", 0, 0, 0);
    expect(&p, "blocks", 2);
    probed_place(&p, 0, 2, 0, 2);
    cycle(&p, 90, 0, 0, 1);
    probed_ends(&p, 0); /* at a barrier, as slots whose threads run elsewhere do */
    cycle(&p, 99, 0, 0, 1);
    probed_ends(&p, 1);
    expect_ranks(&p, "barrier_by_rank", 1, 0, 0);
    probed_end(&p);
}

/* Lanes that a warp has not had from the start are no reason to call an instruction partial. */
static void partial_blocks(void **state)
{
    (void)state;
    struct probed p;
    start(&p, -1, -1, -1);
    probed_place(&p, 0, 0, 0, 1);
    p.warp[1] = (struct heddle_warp){.block = 0, .index = 1, .active = 0xf};
    p.core.resident |= 2;
    probed_launch(&p, 1);
    probed_issue(&p, 1, 0, 0xf);
    probed_issue(&p, 1, 0, 0x7);
    end_at(&p, 5, 0);
    end_at(&p, 9, 1);
    expect(&p, "slowest_instructions", 2);
    expect(&p, "slowest_partial", 1);
    probed_end(&p);
}

static void chosen_blocks(void **state)
{
    (void)state;
    static const struct {
        int64_t launch, block, warps;
        unsigned blocks;
    } rows[] = {{-1, -1, -1, 4}, {0, -1, -1, 2}, {1, -1, -1, 2}, {2, -1, -1, 0}, {-1, 7, -1, 2}, {-1, 8, -1, 2},
                {-1, 9, -1, 0},  {1, 7, -1, 1},  {-1, -1, 2, 2}, {-1, -1, 3, 2}, {-1, -1, 1, 0}, {0, 8, 3, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct probed p;
        start(&p, rows[i].launch, rows[i].block, rows[i].warps);
        for (p.core.kernel = 0; p.core.kernel < 2; p.core.kernel++) {
            probed_on(&p)->kernel(p.state, &p.core);
            probed_place(&p, 0, 7, 0, 2);
            probed_place(&p, 1, 8, 2, 3);
            probed_place(&p, 2, 9, 5, 1); /* of one warp: never */
            probed_cycle(&p, p.core.cycle + 5);
            for (uint32_t w = 0; w < 6; w++)
                probed_ends(&p, w);
        }
        expect(&p, "blocks", rows[i].blocks);
        probed_end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),          cmocka_unit_test(what_they_waited_for), cmocka_unit_test(held_in_its_sleep),
        cmocka_unit_test(partial_blocks), cmocka_unit_test(chosen_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
