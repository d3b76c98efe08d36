/* Does `activity` count each instruction under the lanes of its path, whatever its guard says? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heddle/policy.h"

#include <string.h>

extern const struct heddle_probe probe_activity;

static void lanes_of_the_path(void **state)
{
    (void)state;
    uint64_t buckets[33] = {0}, expected[33] = {0}, classes[8] = {0}, *histograms[] = {buckets, classes};
    uint64_t place[8] = {0};
    const struct heddle_policy *p = &probe_activity.policy;
    assert_int_equal(p->counters[0].kind, HEDDLE_HISTOGRAM);
    assert_int_equal(p->counters[0].buckets, 33);
    assert_true(p->state_bytes <= sizeof place);
    assert_true(p->init(place, &(struct heddle_setup){.histograms = histograms}));
    static const struct {
        uint32_t path, active, lanes;
    } issues[] = {{~0u, ~0u, 32},      {~0u, 0, 32}, {0xf0, 0x10, 4}, {1, 0, 1},
                  {0x80000001u, 1, 2}, {0, 0, 0},    {0xf0, 0xf0, 4}};
    for (size_t i = 0; i < sizeof issues / sizeof *issues; i++) {
        p->on.issued(place, NULL, &(struct heddle_issue){.path = issues[i].path, .active = issues[i].active});
        expected[issues[i].lanes]++;
    }
    assert_memory_equal(buckets, expected, sizeof buckets);
}

/* The paper's classes: W[0:4] has 0 to 4 lanes, W[4:8] has 5 to 8, and so on. */
static void classes_of_lanes(void **state)
{
    (void)state;
    uint64_t buckets[33] = {0}, classes[8] = {0}, *histograms[] = {buckets, classes}, place[8] = {0};
    static const uint64_t expected[8] = {5, 4, 4, 4, 4, 4, 4, 4};
    const struct heddle_policy *p = &probe_activity.policy;
    assert_int_equal(p->counters[1].buckets, 8);
    assert_true(p->init(place, &(struct heddle_setup){.histograms = histograms}));
    for (uint32_t lanes = 0; lanes <= 32; lanes++)
        p->on.issued(place, NULL, &(struct heddle_issue){.path = lanes == 32 ? ~0u : (1u << lanes) - 1});
    assert_memory_equal(classes, expected, sizeof classes);
    p->on.issued(place, NULL, &(struct heddle_issue){.path = 0xf});
    p->on.issued(place, NULL, &(struct heddle_issue){.path = 0x1f});
    assert_int_equal(classes[0], 6);
    assert_int_equal(classes[1], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_of_the_path), cmocka_unit_test(classes_of_lanes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
