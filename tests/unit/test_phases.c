/* Does the phase analysis cut and add up as the PAWS report does? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/phases.h"

enum { NONE = 99 };

/* One source or two, one destination. */
struct line {
    uint32_t latency;
    bool load;
    uint32_t from, other, to;
};

static uint32_t find(const struct line *lines, uint32_t count, enum ptx_phase_order order, struct ptx_phase *out)
{
    struct ptx_phase_step steps[32];
    uint32_t sources[32][2];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = 0;
        if (lines[i].from != NONE)
            sources[i][n++] = lines[i].from;
        if (lines[i].other != NONE)
            sources[i][n++] = lines[i].other;
        steps[i] = (struct ptx_phase_step){.latency_cycles = lines[i].latency,
                                           .load = lines[i].load,
                                           .sources = sources[i],
                                           .source_count = n,
                                           .destinations = &lines[i].to,
                                           .destination_count = lines[i].to != NONE};
    }
    return ptx_find_phases(steps, count, 16, order, out);
}

static void vector_addition_of_the_report(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {1, false, NONE, NONE, 2}, {1, false, 2, NONE, 3}, {5, false, 3, 2, 4},    {1, false, 4, NONE, 5},
        {4, false, 5, NONE, 6},    {4, false, 5, NONE, 7}, {1, true, 6, NONE, 1},  {1, true, 7, NONE, 0},
        {4, false, 1, 0, 1},       {4, false, 5, NONE, 8}, {1, false, 8, 1, NONE}, {1, false, NONE, NONE, NONE}};
    static const uint32_t distances[] = {18, 17, 16, 11, 10, 6, 2, 1, 10, 6, 2, 1};
    struct ptx_phase out[12];
    for (enum ptx_phase_order order = 0; order < PHASE_ORDERS; order++) {
        assert_int_equal(find(lines, 12, order, out), 2);
        for (uint32_t i = 0; i < 12; i++) {
            assert_int_equal(out[i].distance, distances[i]);
            assert_int_equal(out[i].number, i < 8 ? 1 : 2);
            assert_int_equal(out[i].ends, i == 7);
            assert_int_equal(out[i].length, i < 8 ? 18 : 10);
            assert_int_equal(out[i].next_length, i < 8 ? 10 : 0);
        }
    }
}

/* ld r1, [r1]; add r2, r1: by the report's code the load begins a phase and is forgotten, so that the addition does
 * not. */
static void a_load_that_reads_its_destination(void **state)
{
    (void)state;
    static const struct line lines[] = {{2, false, NONE, NONE, 1}, {1, true, 1, NONE, 1}, {4, false, 1, NONE, 2}};
    struct ptx_phase out[3];
    assert_int_equal(find(lines, 3, PHASE_SOURCES_FIRST, out), 2);
    assert_int_equal(out[1].number, 1);
    assert_true(out[1].ends);
    assert_int_equal(out[0].distance, 3);
    assert_int_equal(out[2].distance, 4);
    assert_int_equal(find(lines, 3, PHASE_DESTINATION_FIRST, out), 2);
    assert_int_equal(out[1].number, 2);
    assert_true(out[0].ends);
    assert_int_equal(out[0].distance, 2);
    assert_int_equal(out[1].distance, 5);
    assert_int_equal(out[2].number, 2);
}

static void what_a_new_phase_forgets(void **state)
{
    (void)state;
    /* two loads, each used: the second use is in the phase that the first one opened, whose loads are none */
    static const struct line lines[] = {{1, true, NONE, NONE, 1}, {1, true, NONE, NONE, 2}, {4, false, 1, NONE, 3},
                                        {4, false, 2, NONE, 4},   {1, true, NONE, NONE, 5}, {4, false, 5, 3, 6}};
    struct ptx_phase out[6];
    assert_int_equal(find(lines, 6, PHASE_SOURCES_FIRST, out), 3);
    assert_int_equal(out[3].number, 2);
    assert_int_equal(out[4].number, 2);
    assert_int_equal(out[5].number, 3);
    assert_int_equal(out[2].length, 9);
    assert_int_equal(out[0].next_length, 9);
    assert_int_equal(out[2].next_length, 4);
}

static void nothing_and_no_load(void **state)
{
    (void)state;
    static const struct line lines[] = {{1, false, NONE, NONE, 1}, {4, false, 1, NONE, 1}};
    struct ptx_phase out[2];
    assert_int_equal(find(lines, 0, PHASE_SOURCES_FIRST, out), 0);
    assert_int_equal(find(lines, 2, PHASE_SOURCES_FIRST, out), 1);
    assert_int_equal(out[0].distance, 5);
    assert_int_equal(out[1].distance, 4);
    assert_false(out[1].ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_addition_of_the_report),
        cmocka_unit_test(a_load_that_reads_its_destination),
        cmocka_unit_test(what_a_new_phase_forgets),
        cmocka_unit_test(nothing_and_no_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
