/* Does a launch divide L1 and shared memory as silicon's driver does, and does a cache hold as many lines as it is
 * given? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/cache_inside.h"
#include "sm/carveout.h"

static const struct sm_config h200 = {.warps = 64,
                                      .blocks = 32,
                                      .shared_bytes = 228 << 10,
                                      .shared_block_bytes = 1 << 10,
                                      .unified_bytes = 256 << 10,
                                      .unified_kept_bytes = 7 << 10};

static uint32_t kilobytes(uint32_t threads, uint32_t blocks, uint32_t shared, int percent)
{
    return carveout_shared_bytes(&h200, &(struct carveout_request){threads, blocks, shared, percent}) >> 10;
}

/* Threads, resident blocks, static bytes: what launch__shared_mem_config_size was. */
static void as_silicon(void **state)
{
    (void)state;
    assert_int_equal(kilobytes(512, 4, 0, -1), 16);
    assert_int_equal(kilobytes(256, 8, 0, -1), 32);
    assert_int_equal(kilobytes(384, 5, 0, -1), 32);
    assert_int_equal(kilobytes(256, 8, 1024, -1), 32);
    assert_int_equal(kilobytes(256, 8, 1088, -1), 64);
    assert_int_equal(kilobytes(16, 32, 1024, -1), 64);
    assert_int_equal(kilobytes(64, 25, 1600, -1), 100);
    assert_int_equal(kilobytes(16, 32, 2180, -1), 132);
    assert_int_equal(kilobytes(256, 8, 11876, -1), 132);
    assert_int_equal(kilobytes(128, 16, 8704, -1), 164);
    /* What was preferred, but not less than is needed: blocks of one thread need 32 KB. */
    assert_int_equal(kilobytes(1, 32, 0, 0), 32);
    assert_int_equal(kilobytes(1, 32, 0, 25), 64);
    assert_int_equal(kilobytes(1, 32, 0, 50), 132);
    assert_int_equal(kilobytes(1, 32, 0, 100), 228);
    assert_int_equal(carveout_l1_bytes(&h200, &(struct carveout_request){1, 32, 0, 100}), 21 << 10);
    struct sm_config apart = {.shared_bytes = 48 << 10};
    assert_int_equal(carveout_l1_bytes(&apart, &(struct carveout_request){32, 8, 0, -1}), 0);
}

static const struct cache_config l1 = {.sets = 512,
                                       .ways = 4,
                                       .line_bytes = 128,
                                       .sector_bytes = 32,
                                       .mshr_entries = 4,
                                       .mshr_merge = 4,
                                       .miss_queue = 4,
                                       .index = SET_INDEX_HASHED,
                                       .global_writes = WRITE_THROUGH,
                                       .local_writes = WRITE_BACK,
                                       .allocate = ALLOCATE_ON_FILL};

static bool reads(struct cache *c, uint64_t line) /* true: it was there */
{
    struct packet p = {.address = line * 128, .bytes = 32, .kind = PACKET_LOAD};
    struct cache_result r;
    if (cache_access(c, &p, 0, 0, &r) == CACHE_HIT)
        return true;
    struct packet answer = *cache_miss_front(c);
    cache_miss_pop(c);
    cache_fill(c, &answer, 0);
    cache_ready_pop(c);
    return false;
}

static uint32_t misses(struct cache *c, uint32_t lines) /* of the first ones, in order */
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < lines; i++)
        count += !reads(c, i);
    return count;
}

static bool has(const struct cache *c, uint64_t line)
{
    uint32_t set, way;
    cache_where(c, line * 128, &set, &way);
    return way != NO_WAY;
}

static uint32_t set_of_number(const struct cache *c, uint64_t line)
{
    uint32_t set, way;
    cache_where(c, line * 128, &set, &way);
    return set;
}

static void holds_what_it_is_given(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cache *c = cache_create(&arena, &l1, NULL, NULL);
    static const uint32_t sizes[] = {2048, 1736, 424, 168, 4, 1000, 5000};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t lines = sizes[i] < 2048 ? sizes[i] : 2048;
        cache_resize(c, sizes[i] * 128);
        assert_int_equal(misses(c, lines), lines);
        assert_int_equal(misses(c, lines), 0);
        cache_resize(c, sizes[i] * 128); /* as large as it is: nothing is lost */
        assert_int_equal(misses(c, lines), 0);
    }
    cache_resize(c, 1 * 128); /* a line for each bank */
    misses(c, 100);
    uint32_t left = 0;
    for (uint64_t line = 0; line < 100; line++)
        left += has(c, line);
    assert_int_equal(left, 4);
    arena_free(&arena);
}

/* l1-lines/0/one-set and at the other carve-outs: four lines of a set stay, whatever the size, and the oldest leaves
 * first. */
static void four_of_a_set(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cache *c = cache_create(&arena, &l1, NULL, NULL);
    uint64_t lines[6];
    for (uint64_t line = 0, count = 0; count < 6; line++)
        if (set_of_number(c, line) == 5)
            lines[count++] = line;
    for (uint32_t size = 2048; size > 100; size /= 2) {
        cache_resize(c, size * 128);
        cache_invalidate(c);
        for (uint32_t i = 0; i < 6; i++)
            reads(c, lines[i]);
        for (uint32_t i = 0; i < 6; i++)
            assert_int_equal(has(c, lines[i]), i >= 2);
    }
    arena_free(&arena);
}

/* l1-lines/0/in-order/1744: what an H200 lost in launches that followed each other, one line of the four side by side
 * that are of four banks. The sets go on from launch to launch, one below the other. */
static void sets_are_those_of_silicon(void **state)
{
    (void)state;
    enum { LAUNCHES = 7, GONE = 5, BUFFER = 38 }; /* BUFFER: what the address of the buffer adds to a set */
    static const uint64_t gone[LAUNCHES][GONE] = {
        {220, 232, 460, 472, 504}, {8, 60, 280, 300, 484},    {20, 32, 192, 244, 464}, {0, 52, 260, 272, 304},
        {212, 224, 292, 452, 496}, {128, 180, 368, 400, 420}, {84, 96, 324, 336, 356}};
    struct arena arena = {0};
    struct cache *c = cache_create(&arena, &l1, NULL, NULL);
    uint32_t next = 57, banks = 0; /* the first launch begins below it */
    for (uint64_t line = 0; line < 4; line++)
        banks |= 1u << set_of_number(c, line) / 128;
    assert_int_equal(banks, 15);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        uint64_t sets = 0;
        for (uint32_t k = 0; k < GONE; k++)
            sets |= (uint64_t)1 << (set_of_number(c, gone[i][k]) ^ BUFFER) % 128;
        next -= GONE;
        assert_true(sets == (uint64_t)31 << next);
    }
    arena_free(&arena);
}

static uint32_t left_of(const struct cache *c, uint32_t lines)
{
    uint32_t count = 0;
    for (uint64_t line = 0; line < lines; line++)
        count += has(c, line);
    return count;
}

/* Where a bank has as many lines as it may, its sets give their oldest line, one set after the other, from the last to
 * the first: of lines that were read in order some of the first 512. */
static void sets_of_a_bank_take_turns(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cache *c = cache_create(&arena, &l1, NULL, NULL);
    cache_resize(c, 1736 * 128);
    for (uint32_t more = 4; more <= 300; more += 4) {
        uint32_t hand = c->sets.banks[0].hand; /* they are where they were, one as the other */
        cache_invalidate(c);
        misses(c, 1736 + more);
        assert_int_equal(left_of(c, 1736 + more), 1736);
        for (uint64_t line = 0; line < 512; line++)
            assert_int_equal(has(c, line), (hand - 1 - set_of_number(c, line)) % 128 >= more / 4);
    }
    /* A ring's second round, chase/l1-carveout-0: silicon has 22.5, 46, 69.5, 88 and 95.6 percent. */
    static const struct {
        uint32_t kb, least, most; /* percent */
    } rings[] = {{216, 0, 0}, {224, 18, 25}, {232, 42, 49}, {240, 65, 73}, {248, 85, 91}, {256, 93, 98}};
    cache_resize(c, 1732 * 128);
    for (unsigned i = 0; i < sizeof rings / sizeof *rings; i++) {
        uint32_t lines = rings[i].kb * 8;
        cache_invalidate(c);
        misses(c, lines);
        assert_in_range(misses(c, lines) * 100 / lines, rings[i].least, rings[i].most);
    }
    arena_free(&arena);
}

/* Modified lines have to be written back, which a set that only gives a line cannot do: they stay where they are, and
 * the set that misses finds a place all the same. */
static void modified_lines_do_not_block(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cache *c = cache_create(&arena, &l1, NULL, NULL);
    struct cache_result r;
    cache_resize(c, 16 * 128);
    misses(c, 16);
    for (uint64_t line = 0; line < 16; line++) {
        struct packet p = {.address = line * 128, .bytes = 32, .kind = PACKET_LOCAL_STORE};
        assert_int_equal(cache_access(c, &p, 0, 0, &r), CACHE_HIT);
    }
    assert_int_equal(left_of(c, 16), 16);
    for (uint64_t line = 100; line < 400; line++) {
        struct packet p = {.address = line * 128, .bytes = 32, .kind = PACKET_LOAD};
        assert_int_equal(cache_access(c, &p, 0, 0, &r), CACHE_MISS);
        struct packet answer = *cache_miss_front(c);
        cache_miss_pop(c);
        assert_int_equal(cache_fill(c, &answer, 0), true);
        cache_ready_pop(c);
        while (cache_miss_front(c))
            cache_miss_pop(c);
        assert_true(has(c, line));
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_silicon),
        cmocka_unit_test(holds_what_it_is_given),
        cmocka_unit_test(four_of_a_set),
        cmocka_unit_test(sets_are_those_of_silicon),
        cmocka_unit_test(sets_of_a_bank_take_turns),
        cmocka_unit_test(modified_lines_do_not_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
