/* What a core knows of answers to come (mem/expected.h): not before which cycle the first of them can leave its slice.
 */
#include "mem/expected.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { DELAY = 100 };

static const struct packet load = {.kind = PACKET_LOAD}, atomic = {.kind = PACKET_ATOMIC},
                           texture = {.kind = PACKET_TEXTURE}, writeback = {.kind = PACKET_L1_WRITEBACK};

static void first_of_several(void **state)
{
    (void)state;
    struct expected_answers e = {0};
    expected_add(&e, &load, 1000);
    expected_add(&e, &load, 1030);
    assert_int_equal(expected_delayed_until(&e, 1030, DELAY), 1099);
    assert_int_equal(expected_delayed_until(&e, 1099, DELAY), 1099);
    assert_int_equal(expected_delayed_until(&e, 1100, DELAY), 0); /* the first may have left the delay */
    e.left++;
    assert_int_equal(expected_delayed_until(&e, 1105, DELAY), 0); /* it has, and may be answered at any time */
    expected_remove(&e, &load);
    assert_int_equal(expected_delayed_until(&e, 1105, DELAY), 1129); /* now it is up to the second */
}

/* A core that runs ahead has sent it in a cycle that its owner is not in yet. */
static void sent_in_a_cycle_to_come(void **state)
{
    (void)state;
    struct expected_answers e = {0};
    expected_add(&e, &load, 1050);
    assert_int_equal(expected_delayed_until(&e, 1000, DELAY), 1149);
    assert_int_equal(expected_delayed_until(&e, 1149, DELAY), 1149);
    assert_int_equal(expected_delayed_until(&e, 1150, DELAY), 0);
}

/* A request that its slice cuts in two is answered twice. */
static void pieces(void **state)
{
    (void)state;
    struct expected_answers e = {0};
    expected_add(&e, &load, 10);
    expected_add(&e, &load, 50);
    assert_int_equal(expected_delayed_until(&e, 110, DELAY), 0);
    e.left++;
    e.count++;
    expected_remove(&e, &load);
    assert_int_equal(expected_delayed_until(&e, 112, DELAY), 0);
    expected_remove(&e, &load);
    assert_int_equal(expected_delayed_until(&e, 113, DELAY), 149);
}

static void out_of_order(void **state)
{
    (void)state;
    struct expected_answers e = {0};
    expected_add(&e, &load, 10);
    expected_add(&e, &load, 11);
    expected_add(&e, &load, 60);
    assert_int_equal(expected_delayed_until(&e, 120, DELAY), 0);
    e.left++; /* of the second: the first waits for room */
    expected_remove(&e, &load);
    assert_int_equal(expected_delayed_until(&e, 121, DELAY), 0);
    e.left++;
    expected_remove(&e, &load);
    assert_int_equal(expected_delayed_until(&e, 122, DELAY), 159);
}

static void no_delay(void **state)
{
    (void)state;
    struct expected_answers e = {0};
    expected_add(&e, &load, 10);
    expected_add(&e, &texture, 20);
    assert_int_equal(expected_delayed_until(&e, 20, DELAY), 0);
    assert_int_equal(expected_delayed_until(&e, 20, 0), 0);
    expected_add(&e, &atomic, 30);
    assert_int_equal(e.to_atomics, 1);
    uint32_t count = e.count;
    expected_add(&e, &writeback, 30);
    assert_int_equal(e.count, count);
    assert_int_equal(e.sent, 3);
}

/* More than there is room for: nothing is known until all of these have left. */
static void many(void **state)
{
    (void)state;
    struct expected_answers e = {0};
    for (uint32_t i = 0; i < EXPECTED_TIMES; i++)
        expected_add(&e, &load, 10);
    assert_int_equal(expected_delayed_until(&e, 10, DELAY), 109);
    expected_add(&e, &load, 11);
    assert_int_equal(expected_delayed_until(&e, 11, DELAY), 0);
    expected_add(&e, &load, 12);
    for (uint32_t i = 0; i < EXPECTED_TIMES + 1; i++) {
        assert_int_equal(expected_delayed_until(&e, 13, DELAY), 0);
        e.left++;
        expected_remove(&e, &load);
    }
    assert_int_equal(expected_delayed_until(&e, 13, DELAY), 111);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_of_several), cmocka_unit_test(sent_in_a_cycle_to_come),
                                       cmocka_unit_test(pieces),           cmocka_unit_test(out_of_order),
                                       cmocka_unit_test(no_delay),         cmocka_unit_test(many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
