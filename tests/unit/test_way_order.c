/* Do the bits and the tree of ways find the first and the largest, at any number of levels, as a look at all of them
 * does? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/way_bits.h"
#include "replay/way_tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t counts[] = {1, 2, 16, 17, 63, 64, 65, 256, 257, 300, 4096, 4097, 5000};
enum { COUNTS = sizeof counts / sizeof *counts, STEPS = 3000 };

static uint64_t seed = 1;
static uint32_t random_below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static uint32_t first_of(const bool *in, uint32_t ways)
{
    for (uint32_t i = 0; i < ways; i++)
        if (in[i])
            return i;
    return NO_WAY;
}

static void first_of_bits(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < COUNTS; k++) {
        uint32_t ways = counts[k];
        struct way_bits_shape s = way_bits_shape_of(ways);
        uint64_t *words = malloc(s.words * sizeof *words);
        memset(words, 0x5a, s.words * sizeof *words);
        way_bits_empty(&s, words);
        assert_int_equal(way_bits_first(&s, words), NO_WAY);
        for (uint32_t way = 0; way < ways; way++)
            way_bits_grow(&s, words, way);
        bool *in = calloc(ways, sizeof *in);
        for (uint32_t step = 0; step < STEPS; step++) {
            uint32_t way = random_below(ways), first = first_of(in, ways);
            assert_int_equal(way_bits_first(&s, words), first);
            if (first != NO_WAY && random_below(3) == 0)
                way = first;
            bool add = random_below(step / 500 % 2 ? 4 : 2) == 0;
            in[way] = add;
            if (add)
                way_bits_add(&s, words, way);
            else
                way_bits_remove(&s, words, way);
        }
        free(words);
        free(in);
    }
}

static uint64_t largest_of(const uint64_t *keys, uint32_t ways)
{
    uint64_t best = 0;
    for (uint32_t i = 0; i < ways; i++)
        best = keys[i] > best ? keys[i] : best;
    return best;
}

static void largest_of_tree(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < COUNTS; k++) {
        uint32_t ways = counts[k];
        struct way_tree_shape s = way_tree_shape_of(ways);
        uint64_t *nodes = malloc(s.nodes * sizeof *nodes), *keys = calloc(ways, sizeof *keys);
        memset(nodes, 0x5a, s.nodes * sizeof *nodes);
        for (uint32_t way = 0; way < ways; way++)
            way_tree_grow(&s, nodes, way);
        for (uint32_t step = 0; step < STEPS; step++) {
            uint32_t way = random_below(ways);
            uint64_t top = largest_of(keys, ways);
            assert_int_equal(way_tree_top(&s, nodes), top);
            bool leaves = random_below(3) == 0;
            while (leaves && keys[way] != top)
                way = (way + 1) % ways;
            uint64_t key = random_below(4) ? random_below(1u << 30) : 0;
            keys[way] = key;
            if (key >= nodes[way] && random_below(2))
                way_tree_raise(&s, nodes, way, key);
            else
                way_tree_set(&s, nodes, way, key);
        }
        free(nodes);
        free(keys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_of_bits), cmocka_unit_test(largest_of_tree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
