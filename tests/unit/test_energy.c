/* Is the energy of a launch its events times the constants, each event once? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/energy.h"

#include <math.h>

static void assert_near(double value, double wanted)
{
    if (fabs(value - wanted) > 1e-6)
        fail_msg("%f, not %f", value, wanted);
}

/* Counts of a cache that obey its laws: accesses = hits + misses + pending_hits = reads + writes. */
static struct cache_counters cache(uint64_t read_hits, uint64_t read_misses, uint64_t read_pending, uint64_t write_hits,
                                   uint64_t write_misses)
{
    return (struct cache_counters){.accesses = read_hits + read_misses + read_pending + write_hits + write_misses,
                                   .hits = read_hits + write_hits,
                                   .misses = read_misses + write_misses,
                                   .pending_hits = read_pending,
                                   .reads = read_hits + read_misses + read_pending,
                                   .writes = write_hits + write_misses,
                                   .write_hits = write_hits,
                                   .write_misses = write_misses};
}

static void nothing_costs_nothing(void **state)
{
    (void)state;
    struct gpu_counters c = {0};
    assert_near(energy_of(&c).total_nj, 0);
}

static void l1d(void **state)
{
    (void)state;
    static const struct {
        struct {
            uint64_t n[5];
        } events;
        double nj;
    } rows[] = {
        {{{100, 0, 0, 0, 0}}, 258}, {{{0, 100, 0, 0, 0}}, 183},
        {{{0, 0, 100, 0, 0}}, 258}, {{{0, 0, 0, 100, 0}}, 19},
        {{{0, 0, 0, 0, 100}}, 178}, {{{1000, 100, 10, 200, 20}}, 2580 + 183 + 25.8 + 38 + 35.6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t *n = rows[i].events.n;
        struct gpu_counters c = {.sm.l1d = cache(n[0], n[1], n[2], n[3], n[4])};
        struct energy e = energy_of(&c);
        assert_near(e.l1d_nj, rows[i].nj);
        assert_near(e.total_nj, rows[i].nj);
    }
}

static void l2(void **state)
{
    (void)state;
    struct gpu_counters c = {.memory.l2 = cache(10, 100, 1, 2, 3)};
    assert_near(energy_of(&c).l2_nj, 10 * 2.81 + 100 * 0.10 + 1 * 2.81 + 2 * 13.85 + 3 * 14.8);
}

static void dram(void **state)
{
    (void)state;
    struct gpu_counters c = {
        .memory.dram = {
            .reads = 100, .writes = 10, .precharges = 1000, .activates = 1000, .row_hits = 7, .busy_cycles = 9}};
    struct energy e = energy_of(&c);
    assert_near(e.dram_nj, 100 * 25.5651 + 10 * 14.188 + 1000 * 4.2328);
    assert_near(e.total_nj, e.dram_nj);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_costs_nothing), cmocka_unit_test(l1d),
                                       cmocka_unit_test(l2), cmocka_unit_test(dram)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
