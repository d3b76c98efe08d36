/* Does the table from lines to numbers have what was put into it, and nothing else, whatever came and went, and however
 * many lines want the same slots? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/line_map.h"

enum { LINES = 600, STEPS = 200000 };

static uint64_t seed = 7;
static uint32_t random_below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static void same(const struct line_map *m, const uint64_t *lines, const uint64_t *values, uint64_t count)
{
    assert_int_equal(m->count, count);
    for (uint32_t i = 0; i < LINES; i++) {
        const uint64_t *value = line_map_find(m, lines[i]);
        assert_int_equal(value != NULL, values[i] != LINE_MAP_NEW);
        if (value)
            assert_int_equal(*value, values[i]);
    }
}

/* Lines of which so many share a home in a table of so many slots as these need. */
static void crowd(uint64_t *lines, uint32_t together)
{
    struct line_map size = {.mask = 1023};
    uint64_t line = 0, home = 0;
    for (uint32_t i = 0; i < LINES; i++, line++) {
        while (i % together && line_map_home(&size, line) != home)
            line++;
        home = line_map_home(&size, line);
        lines[i] = line;
    }
}

static void come_and_go(uint32_t together)
{
    uint64_t lines[LINES], values[LINES], count = 0;
    struct slabs slabs;
    slabs_init(&slabs);
    struct line_map m = {.slabs = &slabs};
    crowd(lines, together);
    for (uint32_t i = 0; i < LINES; i++)
        values[i] = LINE_MAP_NEW;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t i = random_below(LINES);
        if (random_below(5) < (step / 20000 % 2 ? 3 : 1)) {
            line_map_remove(&m, lines[i]);
            count -= values[i] != LINE_MAP_NEW;
            values[i] = LINE_MAP_NEW;
        } else {
            uint64_t *value = line_map_at(&m, lines[i]);
            assert_int_equal(*value, values[i]);
            count += values[i] == LINE_MAP_NEW;
            *value = values[i] = step;
        }
        if (step % 1000 == 0)
            same(&m, lines, values, count);
    }
    same(&m, lines, values, count);
    line_map_clear(&m);
    for (uint32_t i = 0; i < LINES; i++)
        values[i] = LINE_MAP_NEW;
    same(&m, lines, values, 0);
    slabs_free(&slabs);
}

static void lines_come_and_go(void **state)
{
    (void)state;
    come_and_go(1);
    come_and_go(5);
    come_and_go(40);
}

/* Blocks do not overlap, and those that were given back are used again. */
static void slabs_cut_blocks(void **state)
{
    (void)state;
    struct slabs s;
    slabs_init(&s);
    struct {
        unsigned char *at;
        size_t bytes;
    } blocks[300];
    for (uint32_t i = 0; i < 300; i++) {
        size_t bytes = blocks[i].bytes = (size_t)64 << i % 18;
        blocks[i].at = slabs_take(&s, bytes);
        assert_int_equal((uintptr_t)blocks[i].at % 64, 0);
        memset(blocks[i].at, (int)(i % 251), bytes);
    }
    for (uint32_t i = 0; i < 300; i++)
        for (size_t k = 0; k < blocks[i].bytes; k++)
            if (blocks[i].at[k] != i % 251)
                fail_msg("block %u of %zu bytes was written by another", i, blocks[i].bytes);
    slabs_give(&s, blocks[7].at, blocks[7].bytes);
    assert_ptr_equal(slabs_take(&s, blocks[7].bytes), blocks[7].at);
    slabs_free(&s);
}

/* Of any size, small and large, also where memory was used before; beside tables. */
static void slabs_give_zeros(void **state)
{
    (void)state;
    struct slabs s;
    struct {
        unsigned char *at;
        size_t bytes;
    } blocks[60];
    slabs_init(&s);
    for (uint32_t i = 0; i < 60; i++) {
        size_t bytes = blocks[i].bytes = i % 20 == 19 ? (3u << 20) + i : 1 + i * 977;
        blocks[i].at = i % 3 ? slabs_zeros(&s, bytes) : slabs_bytes(&s, bytes);
        assert_non_null(blocks[i].at);
        assert_int_equal((uintptr_t)blocks[i].at % 64, 0);
        for (size_t k = 0; i % 3 && k < bytes; k++)
            if (blocks[i].at[k])
                fail_msg("block %u of %zu bytes is not zero", i, bytes);
        memset(blocks[i].at, (int)(1 + i), bytes);
        memset(slabs_take(&s, 4096), 0xff, 4096);
    }
    for (uint32_t i = 0; i < 60; i++)
        for (size_t k = 0; k < blocks[i].bytes; k++)
            if (blocks[i].at[k] != 1 + i)
                fail_msg("block %u of %zu bytes was written by another", i, blocks[i].bytes);
    slabs_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_come_and_go), cmocka_unit_test(slabs_cut_blocks),
                                       cmocka_unit_test(slabs_give_zeros)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
