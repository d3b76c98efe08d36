/* Does the table from lines to numbers have what was put into it, and nothing else, in whatever order lines came, and
 * however many want the same slots? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/line_map.h"

enum { LINES = 600, STEPS = 100000 };

static uint64_t seed = 7;
static uint32_t random_below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static void same(const struct line_map *m, const uint64_t *lines, const uint64_t *values, uint64_t count)
{
    assert_int_equal(m->count, count);
    for (uint32_t i = 0; m->slots && i < LINES; i++) {
        const struct line_map_slot *s = line_map_place(m, lines[i]);
        assert_int_equal(s->line, values[i] != LINE_MAP_NEW ? lines[i] : LINE_MAP_FREE);
        assert_int_equal(s->value, values[i]);
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

static void come(uint32_t together)
{
    uint64_t lines[LINES], values[LINES], count = 0;
    struct line_map m = {0};
    crowd(lines, together);
    for (uint32_t i = 0; i < LINES; i++)
        values[i] = LINE_MAP_NEW;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t i = random_below(step < STEPS / 2 ? 1 + step * LINES / (STEPS / 2) : LINES);
        uint64_t *value = line_map_at(&m, lines[i]);
        assert_int_equal(*value, values[i]);
        count += values[i] == LINE_MAP_NEW;
        *value = values[i] = step;
        if (step % 500 == 0)
            same(&m, lines, values, count);
    }
    same(&m, lines, values, count);
    assert_int_equal(count, LINES);
    line_map_clear(&m);
    for (uint32_t i = 0; i < LINES; i++)
        values[i] = LINE_MAP_NEW;
    same(&m, lines, values, 0);
    line_map_free(&m);
}

static void lines_are_found_again(void **state)
{
    (void)state;
    come(1);
    come(5);
    come(40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_found_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
