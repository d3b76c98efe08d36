/* Does each built-in L1 policy choose the line that its rule says, and the same one when asked again? */
#include "l1_test.h"

static void lru_is_the_cache_itself(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "lru");
    assert_null(hooks(&b)->victim);
    assert_null(hooks(&b)->inserted);
    end(&b);
}

static void fifo_in_order_of_insertion(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "fifo");
    read_lines(&b, 1, "abcd");
    read_lines(&b, 1, "aaa"); /* hits do not matter */
    assert_int_equal(read_line(&b, 1, 'e'), 0);
    assert_int_equal(read_line(&b, 1, 'f'), 1);
    invalidate(&b, 1, 3, HEDDLE_FLUSHED);
    assert_int_equal(read_line(&b, 1, 'g'), 3); /* a free way first */
    assert_int_equal(read_line(&b, 1, 'h'), 2);
    assert_int_equal(read_line(&b, 1, 'i'), 0);
    end(&b);
}

static void fifo_sets_are_apart(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "fifo");
    read_lines(&b, 0, "abcd");
    read_lines(&b, 3, "wxyz");
    read_lines(&b, 0, "e");
    assert_int_equal(victim(&b, 3), 0);
    assert_int_equal(victim(&b, 0), 1);
    end(&b);
}

static void reserved_lines_stay(const char *name)
{
    struct bench b;
    start(&b, name);
    read_lines(&b, 2, "abcd");
    b.reserved[2] = 1 | 4;
    for (int i = 0; i < 50; i++) {
        int way = read_line(&b, 2, (uint64_t)(1000 + i));
        assert_true(way == 1 || way == 3);
    }
    b.reserved[2] = 15;
    assert_int_equal(read_line(&b, 2, 'z'), -1);
    end(&b);
}

/* An access that fails is tried again: asking changes nothing. */
static void asking_changes_nothing(const char *name)
{
    struct bench once, often;
    start(&once, name);
    start(&often, name);
    uint32_t random = 5;
    for (int i = 0; i < 2000; i++) {
        random = random * 1664525 + 1013904223;
        uint32_t set = random >> 30;
        uint64_t line = 1 + (random >> 16) % 9;
        for (uint32_t j = 0; j < 3; j++)
            (void)victim(&often, (set + j) % SETS);
        assert_int_equal(read_line(&once, set, line), read_line(&often, set, line));
    }
    end(&once);
    end(&often);
}

static void random_repeats_with_its_seed(void **state)
{
    (void)state;
    struct bench a, b, other;
    start(&a, "random");
    start(&b, "random");
    start(&other, "random");
    other.f.core.id = 1;
    assert_true(hooks(&other)->policy.init(other.l1.state, &other.l1.setup));
    unsigned differ = 0, counts[WAYS] = {0};
    for (uint64_t i = 1; i <= 4000; i++) {
        int way = read_line(&a, 0, i);
        assert_int_equal(way, read_line(&b, 0, i));
        differ += way != read_line(&other, 0, i);
        counts[way]++;
    }
    assert_true(differ > 2500); /* three of four */
    for (int way = 0; way < WAYS; way++)
        assert_in_range(counts[way], 850, 1150);
    end(&a);
    end(&b);
    end(&other);
}

static void srrip_ages_until_one_is_distant(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "srrip"); /* a new line at 2, the farthest is 3 */
    read_lines(&b, 0, "abcd");
    read_lines(&b, 0, "ac");                    /* a 0, b 2, c 0, d 2 */
    assert_int_equal(read_line(&b, 0, 'e'), 1); /* all age by 1: a 1, c 1, d 3; e 2 in b's place */
    assert_int_equal(read_line(&b, 0, 'f'), 3); /* d is distant already: nobody ages */
    assert_int_equal(read_line(&b, 0, 'g'), 1); /* a 1, e 2, c 1, f 2: age by 1, the first of e and f leaves */
    assert_int_equal(read_line(&b, 0, 'h'), 3); /* f */
    assert_int_equal(read_line(&b, 0, 'i'), 0); /* a 2, g 2, c 2, h 2: all equal, the first */
    assert_int_equal(read_line(&b, 0, 'c'), 2); /* still there */
    end(&b);
}

static void srrip_keeps_what_is_used_through_a_scan(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "srrip");
    read_lines(&b, 0, "aa");
    for (uint64_t scan = 1000; scan < 1006; scan++)
        (void)read_line(&b, 0, scan);
    assert_int_equal(b.lines[0][0], 'a'); /* lru and fifo would have lost it */
    end(&b);
}

static void srrip_insertion(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int fifth, sixth;
    } rows[] = {
        {"srrip:insert=distant", 1, 1}, /* the last one in is the first out: a scan uses one way */
        {"srrip:insert=long", 1, 2},    {"srrip:insert=near", 0, 1}, /* no difference between new and used */
        {"srrip:bits=1", 0, 1},                                      /* long is 0 there: not recently used */
        {"srrip:bits=3", 1, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        start(&b, rows[i].spec);
        read_lines(&b, 0, "aabcd"); /* a is used twice */
        assert_int_equal(read_line(&b, 0, 'e'), rows[i].fifth);
        assert_int_equal(read_line(&b, 0, 'f'), rows[i].sixth);
        end(&b);
    }
}

static void srrip_pending_hits_do_not_promote(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "srrip");
    read_lines(&b, 0, "abcd");
    b.reserved[0] = 1;
    read_lines(&b, 0, "a");
    b.reserved[0] = 0;
    assert_int_equal(victim(&b, 0), 0);
    read_lines(&b, 0, "a");
    assert_int_equal(victim(&b, 0), 1);
    end(&b);
}

static void srrip_reserved_lines_age_no_further(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "srrip");
    read_lines(&b, 0, "abcd");
    b.reserved[0] = 8;
    assert_int_equal(read_line(&b, 0, 'e'), 0); /* b 3, c 3, d 3 */
    read_lines(&b, 0, "ebc");                   /* all but d at 0 */
    assert_int_equal(read_line(&b, 0, 'f'), 0); /* they age by 3, and d stays where it is */
    b.reserved[0] = 0;
    assert_int_equal(victim(&b, 0), 1);
    end(&b);
}

/* A signature is an instruction here: all lines have addresses that are multiples of 256. */
static void ship_learns_what_is_not_used_again(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "ship");
    enum { SCAN = 3, KEPT = 5 };
    for (uint64_t line = 100; line < 112; line += 2) /* four ways: when the fifth comes, one leaves unused */
        (void)read_by(&b, 0, line, 0, SCAN);
    read_by(&b, 1, 20, 0, KEPT);
    read_by(&b, 1, 200, 0, SCAN); /* farthest at once */
    read_by(&b, 1, 22, 0, KEPT);
    read_by(&b, 1, 24, 0, KEPT);
    assert_int_equal(read_by(&b, 1, 202, 0, SCAN), 1); /* takes the other's place: nobody ages */
    assert_int_equal(read_by(&b, 1, 204, 0, SCAN), 1);
    read_by(&b, 1, 204, 0, SCAN);                      /* used: 0, and the counter is above 0 again */
    assert_int_equal(read_by(&b, 1, 206, 0, SCAN), 0); /* all others are at 2 */
    assert_int_equal(b.l1.counters[0], 2 + 3);         /* 108 and 110, 200 to 204 */
    end(&b);
}

/* Lines that stores drop were not evicted, and teach nothing. */
static void ship_is_taught_by_evictions_alone(void **state)
{
    (void)state;
    for (int leave = HEDDLE_EVICTED; leave <= HEDDLE_FLUSHED; leave++) {
        struct bench b;
        start(&b, "ship");
        (void)read_by(&b, 0, 100, 0, 3);
        invalidate(&b, 0, 0, (enum heddle_leave)leave);
        (void)read_by(&b, 0, 102, 0, 3);
        assert_int_equal(b.l1.counters[0], leave == HEDDLE_EVICTED); /* distant */
        end(&b);
    }
}

/* A line is written back once loads have hit it as often as asked: stores and pending loads do not count, a new line
 * in its way starts again. */
static void reuse_back_writes_back_what_is_read_again(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "reuse-back:reads=2");
    struct heddle_l1_access e = {.set = 1, .way = 2, .outcome = HEDDLE_MISS, .owner = -1};
    const struct heddle_l1 *l1 = hooks(&b);
    static const struct {
        bool store;
        enum heddle_outcome outcome;
        enum heddle_write then; /* what a store that hits the line does after this */
    } steps[] = {
        {false, HEDDLE_HIT, HEDDLE_WRITE_THROUGH_EVICT},
        {true, HEDDLE_HIT, HEDDLE_WRITE_THROUGH_EVICT},
        {false, HEDDLE_PENDING, HEDDLE_WRITE_THROUGH_EVICT},
        {false, HEDDLE_HIT, HEDDLE_WRITE_BACK},
        {true, HEDDLE_HIT, HEDDLE_WRITE_BACK},
    };
    for (int line = 0; line < 2; line++) {
        e.store = false;
        e.outcome = HEDDLE_MISS;
        l1->inserted(b.l1.state, &b.f.core, e.set, e.way, &e);
        for (uint32_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            e.store = steps[i].store;
            e.outcome = steps[i].outcome;
            l1->touched(b.l1.state, &b.f.core, e.set, e.way, &e);
            e.store = true;
            e.outcome = HEDDLE_HIT;
            assert_int_equal(l1->store(b.l1.state, &b.f.core, &e), steps[i].then);
        }
        e.outcome = HEDDLE_MISS;
        assert_int_equal(l1->store(b.l1.state, &b.f.core, &e), HEDDLE_WRITE_THROUGH_EVICT);
        e.local = true;
        assert_int_equal(l1->store(b.l1.state, &b.f.core, &e), HEDDLE_WRITE_AS_MACHINE);
        e.local = false;
    }
    end(&b);
}

static void for_all(void (*test)(const char *name))
{
    for (int i = 0; policy_l1s[i]; i++)
        if (policy_l1s[i]->victim)
            test(policy_l1s[i]->policy.name);
}

static void all_leave_reserved_lines(void **state) { (void)state, for_all(reserved_lines_stay); }
static void all_answer_the_same_again(void **state) { (void)state, for_all(asking_changes_nothing); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_is_the_cache_itself),
        cmocka_unit_test(fifo_in_order_of_insertion),
        cmocka_unit_test(fifo_sets_are_apart),
        cmocka_unit_test(random_repeats_with_its_seed),
        cmocka_unit_test(srrip_ages_until_one_is_distant),
        cmocka_unit_test(srrip_keeps_what_is_used_through_a_scan),
        cmocka_unit_test(srrip_insertion),
        cmocka_unit_test(srrip_pending_hits_do_not_promote),
        cmocka_unit_test(srrip_reserved_lines_age_no_further),
        cmocka_unit_test(ship_learns_what_is_not_used_again),
        cmocka_unit_test(ship_is_taught_by_evictions_alone),
        cmocka_unit_test(reuse_back_writes_back_what_is_read_again),
        cmocka_unit_test(all_leave_reserved_lines),
        cmocka_unit_test(all_answer_the_same_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
