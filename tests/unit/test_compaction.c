/* Do permutations put lanes where the paper's figures have them, and are warps counted as its examples say?
 *
 * Numbers of warps are from SIMD lane permutation (Rhu and Erez, ISCA 2013), figures 1, 2, 5, 8 and 9, and from the
 * rules of the permutations worked out by hand for the patterns of its benchmarks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heddle/compaction.h"

#include <stdio.h>
#include <string.h>

/* The threads of a path in `warps` warps of 2^bits lanes, counted lane by lane. */
static uint32_t count_plainly(enum heddle_permutation how, uint32_t bits, const uint32_t *masks, uint32_t warps)
{
    uint32_t threads[32] = {0}, most = 0;
    for (uint32_t w = 0; w < warps; w++) {
        uint8_t lanes[32];
        heddle_permutation_fill(how, w, bits, lanes);
        for (uint32_t lane = 0; lane < 1u << bits; lane++)
            if (masks[w] >> lane & 1 && ++threads[lanes[lane]] > most)
                most = threads[lanes[lane]];
    }
    return most;
}

static uint32_t count_ideally(uint32_t bits, const uint32_t *masks, uint32_t warps)
{
    uint32_t threads = 0, width = 1u << bits;
    for (uint32_t w = 0; w < warps; w++)
        threads += (uint32_t)__builtin_popcount(masks[w]);
    return (threads + width - 1) / width;
}

/* Columns of the table: ideal, then the permutations but for `random`, in the order of their numbers. */
static const enum heddle_permutation columns[] = {
    HEDDLE_PERMUTE_NONE,     HEDDLE_PERMUTE_ODD_EVEN, HEDDLE_PERMUTE_ROTATE,  HEDDLE_PERMUTE_FLIP,
    HEDDLE_PERMUTE_XOR_HALF, HEDDLE_PERMUTE_WID,      HEDDLE_PERMUTE_REV_WID, HEDDLE_PERMUTE_BALANCED};
enum { COLUMNS = sizeof columns / sizeof *columns };

struct row {
    const char *pattern;
    uint32_t bits, warps;
    uint32_t masks[32];
    uint32_t apart, ideal, compacted[COLUMNS];
};

static void check_row(const struct row *r)
{
    bool wide = r->bits == 5;
    char name[120];
    struct heddle_lanes lanes;
    uint32_t apart = heddle_warps_apart(r->masks, r->warps), ideal = count_ideally(r->bits, r->masks, r->warps);
    if (apart != r->apart || ideal != r->ideal)
        fail_msg("%s: %u warps apart and %u ideally, expected %u and %u", r->pattern, apart, ideal, r->apart, r->ideal);
    if (wide)
        assert_int_equal(heddle_warps_ideal(r->masks, r->warps), r->ideal);
    for (int i = 0; i < COLUMNS; i++) {
        uint32_t plain = count_plainly(columns[i], r->bits, r->masks, r->warps);
        snprintf(name, sizeof name, "%s under %s", r->pattern, heddle_permutation_names[columns[i]]);
        if (plain != r->compacted[i])
            fail_msg("%s: %u warps, expected %u", name, plain, r->compacted[i]);
        heddle_lanes_make(&lanes, columns[i]);
        uint32_t sliced = wide ? heddle_warps_compacted(&lanes, r->masks, r->warps) : plain;
        if (sliced != plain)
            fail_msg("%s: %u warps, counted plainly %u", name, sliced, plain);
    }
}

/* Lane 0 is bit 0: "01--" is 0x3, "--67" 0xc, "0-2-" 0x5, "-9-B" 0xa. */
static const struct row narrow[] = {
    {"figure 2, block C: lane 0 of 3 warps", 2, 3, {1, 1, 1}, 3, 1, {3, 2, 2, 2, 2, 1, 1, 1}},
    {"figure 1, block B: threads 7 and A", 2, 3, {0, 8, 4}, 2, 1, {1, 2, 1, 1, 1, 1, 1, 1}},
    {"5a, 0---", 2, 4, {1, 1, 1, 1}, 4, 1, {4, 2, 2, 2, 2, 1, 1, 1}},
    {"5a, 01--", 2, 4, {3, 3, 3, 3}, 4, 2, {4, 4, 4, 2, 2, 2, 2, 2}},
    {"5a, 0-2-", 2, 4, {5, 5, 5, 5}, 4, 2, {4, 2, 2, 2, 4, 2, 2, 2}},
    {"5a, staircase", 2, 4, {15, 7, 3, 1}, 4, 3, {4, 4, 4, 3, 3, 4, 3, 3}},
    {"5b, two full", 2, 4, {15, 15, 0, 0}, 2, 2, {2, 2, 2, 2, 2, 2, 2, 2}},
    {"5b, two of three", 2, 4, {7, 7, 0, 0}, 2, 2, {2, 2, 2, 2, 2, 2, 2, 2}},
    {"5b, all but two", 2, 4, {15, 15, 15, 3}, 4, 4, {4, 4, 4, 4, 4, 4, 4, 4}},
    {"5c, halves in turn", 2, 4, {3, 12, 3, 12}, 4, 2, {2, 2, 4, 4, 4, 2, 4, 4}},
    {"5c, full and halves", 2, 4, {15, 3, 12, 15}, 4, 3, {3, 3, 4, 4, 4, 4, 4, 4}},
    {"5c, halves in pairs", 2, 4, {3, 3, 12, 12}, 4, 2, {2, 2, 2, 2, 2, 4, 2, 2}},
    {"5c, every other in pairs", 2, 4, {5, 5, 10, 10}, 4, 2, {2, 2, 2, 2, 2, 2, 4, 2}},
    {"8b, 9c, first half", 4, 8, {255, 255, 255, 255, 255, 255, 255, 255}, 8, 4, {8, 8, 8, 4, 4, 8, 4, 4}},
    {"8b, first half of even warps", 4, 8, {255, 0, 255, 0, 255, 0, 255, 0}, 4, 2, {4, 4, 4, 4, 4, 4, 4, 4}},
    {"8c, 9b, even lanes", 4, 4, {0x5555, 0x5555, 0x5555, 0x5555}, 4, 2, {4, 2, 2, 2, 4, 2, 4, 2}},
    {"9b with 8 lanes", 3, 4, {0x55, 0x55, 0x55, 0x55}, 4, 2, {4, 2, 2, 2, 4, 2, 4, 2}},
    {"9c with 8 lanes", 3, 4, {15, 15, 15, 15}, 4, 2, {4, 4, 4, 2, 2, 4, 2, 2}},
};

static void figures_of_the_paper(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        check_row(&narrow[i]);
}

/* Which threads of a block take a branch of a benchmark, by their number in the block. */
typedef bool takes(uint32_t thread, uint32_t step);
static bool bitonic(uint32_t thread, uint32_t j) { return (thread ^ j) > thread; }
static bool reduct(uint32_t thread, uint32_t s) { return thread % (2 * s) == 0; }
static bool backprop(uint32_t thread, uint32_t power) { return thread / 16 % power == 0; }
static bool edge_of_32(uint32_t thread, uint32_t width) { return thread % 32 < width; }
static bool edge_of_16(uint32_t thread, uint32_t width) { return thread % 16 < width; }

struct benchmark {
    const char *name;
    takes *takes;
    uint32_t threads, step, apart, ideal, compacted[COLUMNS];
};

static const struct benchmark benchmarks[] = {
    {"bitonic, j = 1", bitonic, 256, 1, 8, 4, {8, 4, 4, 4, 8, 4, 8, 4}},
    {"bitonic, j = 2", bitonic, 256, 2, 8, 4, {8, 8, 8, 4, 8, 4, 8, 4}},
    {"bitonic, j = 4", bitonic, 256, 4, 8, 4, {8, 8, 8, 4, 8, 4, 4, 4}},
    {"bitonic, j = 8", bitonic, 256, 8, 8, 4, {8, 8, 8, 4, 8, 8, 4, 4}},
    {"bitonic, j = 16", bitonic, 256, 16, 8, 4, {8, 8, 8, 4, 4, 8, 4, 4}},
    {"reduct, s = 1", reduct, 128, 1, 4, 2, {4, 2, 2, 2, 4, 2, 4, 2}},
    {"reduct, s = 2", reduct, 128, 2, 4, 1, {4, 2, 2, 2, 4, 1, 4, 1}},
    {"reduct, s = 4", reduct, 128, 4, 4, 1, {4, 2, 2, 2, 4, 1, 4, 1}},
    {"reduct, s = 8", reduct, 128, 8, 4, 1, {4, 2, 2, 2, 4, 1, 2, 1}},
    {"reduct, s = 16", reduct, 128, 16, 4, 1, {4, 2, 2, 2, 2, 1, 1, 1}},
    {"reduct, s = 32", reduct, 128, 32, 2, 1, {2, 2, 2, 2, 2, 1, 1, 1}},
    {"backprop, power 2", backprop, 256, 2, 8, 4, {8, 8, 8, 4, 4, 8, 4, 4}},
    {"backprop, power 4", backprop, 256, 4, 4, 2, {4, 4, 4, 4, 4, 4, 4, 4}},
    {"backprop, power 8", backprop, 256, 8, 2, 1, {2, 2, 2, 2, 2, 2, 2, 2}},
    {"backprop, power 16", backprop, 256, 16, 1, 1, {1, 1, 1, 1, 1, 1, 1, 1}},
    {"fdtd3d, x < 4", edge_of_32, 512, 4, 16, 2, {16, 16, 16, 8, 8, 4, 2, 4}},
    {"3dfd, x < 4", edge_of_16, 256, 4, 8, 2, {8, 8, 8, 4, 8, 4, 2, 4}},
};

static void patterns_of_benchmarks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof benchmarks / sizeof *benchmarks; i++) {
        const struct benchmark *b = &benchmarks[i];
        struct row r = {.pattern = b->name, .bits = 5, .warps = b->threads / 32, .apart = b->apart, .ideal = b->ideal};
        memcpy(r.compacted, b->compacted, sizeof r.compacted);
        for (uint32_t thread = 0; thread < b->threads; thread++)
            r.masks[thread / 32] |= (uint32_t)b->takes(thread, b->step) << thread % 32;
        check_row(&r);
    }
}

static void masks_of(enum heddle_permutation how, uint32_t bits, const uint32_t *expected)
{
    for (uint32_t w = 0; w < 1u << bits; w++) {
        uint8_t lanes[32];
        heddle_permutation_fill(how, w, bits, lanes);
        assert_int_equal(heddle_permutation_mask(how, w, bits), expected[w]);
        assert_int_equal(heddle_permutation_mask(how, w + (1u << bits), bits), expected[w]); /* they begin again */
        for (uint32_t lane = 0; lane < 1u << bits; lane++)
            assert_int_equal(lanes[lane], lane ^ expected[w]);
    }
}

static void masks_as_published(void **state)
{
    (void)state;
    masks_of(HEDDLE_PERMUTE_BALANCED, 3, (const uint32_t[]){0, 7, 1, 6, 2, 5, 3, 4});
    masks_of(HEDDLE_PERMUTE_BALANCED, 4, (const uint32_t[]){0, 15, 1, 14, 2, 13, 3, 12, 4, 11, 5, 10, 6, 9, 7, 8});
    masks_of(HEDDLE_PERMUTE_BALANCED, 5,
             (const uint32_t[]){0, 31, 1, 30, 2,  29, 3,  28, 4,  27, 5,  26, 6,  25, 7,  24,
                                8, 23, 9, 22, 10, 21, 11, 20, 12, 19, 13, 18, 14, 17, 15, 16});
    masks_of(HEDDLE_PERMUTE_REV_WID, 3, (const uint32_t[]){0, 4, 2, 6, 1, 5, 3, 7});
    masks_of(HEDDLE_PERMUTE_REV_WID, 4, (const uint32_t[]){0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15});
    masks_of(HEDDLE_PERMUTE_REV_WID, 5, (const uint32_t[]){0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30,
                                                           1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31});
}

/* Every warp has a permutation; of those that differ in each warp, every lane has each thread of a warp once. */
static void lanes_are_shared_out(void **state)
{
    (void)state;
    for (uint32_t bits = 2; bits <= 5; bits++)
        for (int how = 0; how < HEDDLE_PERMUTATIONS; how++) {
            uint32_t width = 1u << bits, threads_of[32] = {0}, all = (uint32_t)((UINT64_C(1) << width) - 1);
            for (uint32_t w = 0; w < width; w++) {
                uint8_t lanes[32];
                uint32_t seen = 0;
                heddle_permutation_fill((enum heddle_permutation)how, w, bits, lanes);
                for (uint32_t lane = 0; lane < width; lane++) {
                    seen |= 1u << lanes[lane];
                    threads_of[lanes[lane]] |= 1u << lane;
                }
                assert_int_equal(seen, all);
            }
            bool once = how == HEDDLE_PERMUTE_WID || how == HEDDLE_PERMUTE_REV_WID || how == HEDDLE_PERMUTE_BALANCED;
            for (uint32_t lane = 0; once && lane < width; lane++)
                assert_int_equal(threads_of[lane], all);
        }
}

/* Only of `balanced` each even warp and the odd one after it are mirror images. */
static void pairs_are_complementary(void **state)
{
    (void)state;
    for (uint32_t bits = 2; bits <= 5; bits++)
        for (uint32_t w = 0; w < 1u << bits; w += 2) {
            uint32_t even = heddle_permutation_mask(HEDDLE_PERMUTE_BALANCED, w, bits);
            uint32_t odd = heddle_permutation_mask(HEDDLE_PERMUTE_BALANCED, w + 1, bits);
            assert_int_equal(even ^ odd, (1u << bits) - 1);
        }
    assert_int_not_equal(heddle_permutation_mask(HEDDLE_PERMUTE_REV_WID, 1, 5), 31);
}

static void counted_in_slices_as_plainly(void **state)
{
    (void)state;
    uint64_t chance = 20130623;
    for (int round = 0; round < 20000; round++) {
        uint32_t masks[HEDDLE_HOMES] = {0}, warps = 1 + heddle_permutation_draw(&chance) % HEDDLE_HOMES;
        uint32_t thinned = heddle_permutation_draw(&chance) % 4;
        for (uint32_t w = 0; w < warps; w++) {
            masks[w] = UINT32_MAX;
            for (uint32_t k = 0; k < thinned; k++)
                masks[w] &= heddle_permutation_draw(&chance) ^ heddle_permutation_draw(&chance) << 1;
        }
        for (int how = 0; how < HEDDLE_PERMUTATIONS; how++) {
            struct heddle_lanes lanes;
            heddle_lanes_make(&lanes, (enum heddle_permutation)how);
            assert_int_equal(heddle_warps_compacted(&lanes, masks, warps),
                             count_plainly((enum heddle_permutation)how, 5, masks, warps));
        }
        assert_int_equal(heddle_warps_ideal(masks, warps), count_ideally(5, masks, warps));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_the_paper),    cmocka_unit_test(patterns_of_benchmarks),
        cmocka_unit_test(masks_as_published),      cmocka_unit_test(lanes_are_shared_out),
        cmocka_unit_test(pairs_are_complementary), cmocka_unit_test(counted_in_slices_as_plainly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
