/* Do victim tags remember what their warp lost, in the order of events that CCWS's simulator has? */
#include "policy_test.h"
#include "victim_tags_model.h"

#include "heddle/victim_tags.h"

enum { LINE = 128, WARPS = 8 };

static void start_with(struct heddle_victim_tags *v, uint32_t sets, uint32_t ways, enum heddle_victim_index index)
{
    assert_true(heddle_victim_tags_init(v, WARPS, sets, ways, LINE, index));
}

static void start(struct heddle_victim_tags *v, uint32_t sets, uint32_t ways)
{
    start_with(v, sets, ways, HEDDLE_VICTIM_HASH);
}

static void evict(struct heddle_victim_tags *v, int32_t owner, uint64_t line, uint32_t by)
{
    heddle_victim_tags_evicted(v, &(struct heddle_l1_evict){.address = line * LINE, .owner = owner, .by_warp = by});
}

static bool load(struct heddle_victim_tags *v, uint32_t warp, uint64_t line, enum heddle_outcome outcome)
{
    return heddle_victim_tags_accessed(
        v, &(struct heddle_l1_access){.address = line * LINE, .warp = warp, .outcome = outcome, .owner = -1});
}

static void store(struct heddle_victim_tags *v, uint32_t warp, uint64_t line, enum heddle_outcome outcome, bool local)
{
    assert_false(heddle_victim_tags_accessed(
        v, &(struct heddle_l1_access){
               .address = line * LINE, .warp = warp, .outcome = outcome, .store = true, .local = local, .owner = -1}));
}

/* Warp 3 loads line A, warp 5 evicts it: it is in the portion of warp 3, not in that of warp 5. */
static void portion_of_who_brought_it(void **state)
{
    (void)state;
    struct heddle_victim_tags v;
    start(&v, 2, 8);
    assert_false(load(&v, 3, 40, HEDDLE_MISS));
    evict(&v, 3, 40, 5);
    assert_false(load(&v, 5, 40, HEDDLE_MISS));
    assert_true(load(&v, 3, 40, HEDDLE_MISS));
    assert_true(load(&v, 3, 40, HEDDLE_MISS)); /* a tag that was found stays */
    assert_false(load(&v, 3, 42, HEDDLE_MISS));
    evict(&v, -1, 41, 3); /* a line of nobody */
    for (uint32_t w = 0; w < WARPS; w++)
        assert_false(load(&v, w, 41, HEDDLE_MISS));
    heddle_victim_tags_free(&v);
}

static void which_accesses_look(void **state)
{
    (void)state;
    struct heddle_victim_tags v;
    start(&v, 2, 8);
    evict(&v, 2, 6, 0);
    assert_true(load(&v, 2, 6, HEDDLE_MISS));
    assert_true(load(&v, 2, 6, HEDDLE_PENDING));
    assert_false(load(&v, 2, 6, HEDDLE_HIT));
    assert_false(load(&v, 2, 6, HEDDLE_FAIL));
    heddle_victim_tags_free(&v);
}

/* A warp that evicts a line of its own with the access that asks for another: the tag is in before the look-up. Seen
 * where the same access finds it. */
static void the_line_that_leaves_comes_first(void **state)
{
    (void)state;
    struct heddle_victim_tags v;
    start(&v, 1, 1);
    evict(&v, 1, 10, 1);
    evict(&v, 1, 11, 1); /* the only place: 10 is gone when the access that evicted 11 looks */
    assert_false(load(&v, 1, 10, HEDDLE_MISS));
    assert_true(load(&v, 1, 11, HEDDLE_MISS));
    heddle_victim_tags_free(&v);
}

static void stores_take_tags_out_everywhere(void **state)
{
    (void)state;
    struct heddle_victim_tags v;
    start(&v, 2, 8);
    for (int32_t w = 0; w < WARPS; w++)
        evict(&v, w, 7, 0), evict(&v, w, 9, 0);
    store(&v, 0, 7, HEDDLE_FAIL, false);
    store(&v, 0, 7, HEDDLE_MISS, true); /* local memory is written back, not evicted */
    for (uint32_t w = 0; w < WARPS; w++)
        assert_true(load(&v, w, 7, HEDDLE_MISS));
    store(&v, 0, 7, HEDDLE_MISS, false);
    store(&v, 0, 9, HEDDLE_HIT, false);
    for (uint32_t w = 0; w < WARPS; w++) {
        assert_false(load(&v, w, 7, HEDDLE_MISS));
        assert_false(load(&v, w, 9, HEDDLE_MISS));
    }
    heddle_victim_tags_free(&v);
}

/* With two sets a line is in set bit 0 XOR bit 1 of its number. With four: (number modulo 4 + 7 * (number / 4)) modulo
 * 4. One set holds all, and three sets work as well. */
static void sets_of_lines(void **state)
{
    (void)state;
    static const struct {
        uint32_t sets;
        uint64_t line;
        uint32_t hash, plain;
    } rows[] = {
        {2, 0, 0, 0},   {2, 1, 1, 1},     {2, 2, 1, 0},
        {2, 3, 0, 1},   {2, 4, 0, 0},     {2, 5, 1, 1},
        {2, 6, 1, 0},   {2, 7, 0, 1},     {4, 3, 3, 3},
        {4, 4, 3, 0},   {4, 5, 0, 1},     {4, 8, 2, 0},
        {4, 12, 1, 0},  {4, 15, 0, 3},    {4, 16, 0, 0},
        {64, 64, 7, 0}, {64, 129, 15, 1}, {3, 4, 2, 1},
        {3, 7, 0, 1},   {1, 99, 0, 0},    {2, (UINT64_C(1) << 40) + 2, 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int index = HEDDLE_VICTIM_HASH; index <= HEDDLE_VICTIM_PLAIN; index++) {
            struct heddle_victim_tags v;
            start_with(&v, rows[i].sets, 1, (enum heddle_victim_index)index);
            assert_int_equal(heddle_victim_tags_index(&v, rows[i].line), index ? rows[i].plain : rows[i].hash);
            heddle_victim_tags_free(&v);
        }
}

/* One way in each of two sets: lines 0 and 2 are in both sets, or in one, where the second pushes the first out. */
static void lines_that_share_a_set(void **state)
{
    (void)state;
    for (int index = HEDDLE_VICTIM_HASH; index <= HEDDLE_VICTIM_PLAIN; index++) {
        struct heddle_victim_tags v;
        start_with(&v, 2, 1, (enum heddle_victim_index)index);
        evict(&v, 0, 0, 0), evict(&v, 0, 2, 0);
        assert_int_equal(load(&v, 0, 0, HEDDLE_MISS), index == HEDDLE_VICTIM_HASH);
        assert_true(load(&v, 0, 2, HEDDLE_MISS));
        heddle_victim_tags_free(&v);
    }
}

/* Two ways a set: the tag that came first leaves, not the one looked up last; a place that a store freed is taken
 * before a tag has to leave. */
static void first_in_first_out(void **state)
{
    (void)state;
    struct heddle_victim_tags v;
    start_with(&v, 2, 2, HEDDLE_VICTIM_PLAIN);
    evict(&v, 0, 0, 0), evict(&v, 0, 2, 0);
    assert_true(load(&v, 0, 0, HEDDLE_MISS));
    evict(&v, 0, 0, 0); /* again: keeps its place */
    evict(&v, 0, 4, 0);
    assert_false(load(&v, 0, 0, HEDDLE_MISS));
    assert_true(load(&v, 0, 2, HEDDLE_MISS));
    evict(&v, 0, 1, 0); /* the other set */
    assert_true(load(&v, 0, 2, HEDDLE_MISS));
    store(&v, 0, 4, HEDDLE_MISS, false);
    evict(&v, 0, 6, 0);
    assert_true(load(&v, 0, 2, HEDDLE_MISS));
    assert_true(load(&v, 0, 6, HEDDLE_MISS));
    evict(&v, 0, 8, 0);
    assert_false(load(&v, 0, 2, HEDDLE_MISS));
    heddle_victim_tags_flush(&v);
    assert_false(load(&v, 0, 6, HEDDLE_MISS));
    heddle_victim_tags_free(&v);
}

/* Against plain lists, with sizes that are no powers of two as well. */
static void random_events_as_in_plain_lists(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {{1, 1}, {1, 16}, {2, 8}, {3, 5}, {16, 1}, {4, 32}, {2, 8}};
    static struct model_tags m;
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct heddle_victim_tags v;
        uint32_t random = 17 + k;
        unsigned found = 0;
        m.plain = k == 6;
        start_with(&v, sizes[k][0], sizes[k][1], m.plain ? HEDDLE_VICTIM_PLAIN : HEDDLE_VICTIM_HASH);
        model_tags_start(&m, sizes[k][0], sizes[k][1]);
        for (int i = 0; i < 40000; i++) {
            random = random * 1664525 + 1013904223;
            unsigned what = random >> 28, warp = random >> 20 & (WARPS - 1);
            uint64_t line =
                (random >> 8 & 0xfff) % (3 * sizes[k][0] * sizes[k][1]) + (random & 64 ? UINT64_C(1) << 40 : 0);
            if (what < 7) {
                evict(&v, (int32_t)warp, line, 0);
                model_tags_put(&m, warp, line);
            } else if (what < 15) {
                bool has = model_tags_has(&m, warp, line);
                assert_int_equal(load(&v, warp, line, what & 1 ? HEDDLE_MISS : HEDDLE_PENDING), has);
                found += has;
            } else {
                store(&v, warp, line, HEDDLE_MISS, false);
                model_tags_forget(&m, line);
            }
            if (i == 30000) {
                heddle_victim_tags_flush(&v);
                model_tags_start(&m, m.sets, m.ways);
            }
        }
        assert_true(found > 500);
        heddle_victim_tags_free(&v);
    }
}

static void nothing_to_hold(void **state)
{
    (void)state;
    struct heddle_victim_tags v;
    assert_false(heddle_victim_tags_init(&v, 0, 2, 8, LINE, HEDDLE_VICTIM_HASH));
    heddle_victim_tags_free(&v);
    assert_false(heddle_victim_tags_init(&v, 8, 2, 8, 0, HEDDLE_VICTIM_HASH)); /* a machine without an L1D */
    heddle_victim_tags_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portion_of_who_brought_it),
        cmocka_unit_test(which_accesses_look),
        cmocka_unit_test(the_line_that_leaves_comes_first),
        cmocka_unit_test(stores_take_tags_out_everywhere),
        cmocka_unit_test(sets_of_lines),
        cmocka_unit_test(lines_that_share_a_set),
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(random_events_as_in_plain_lists),
        cmocka_unit_test(nothing_to_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
