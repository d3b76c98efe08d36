/* The device's address space: placement, zeroing, guard gaps, look-up, messages. */
#include "exec/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CAPACITY = 64 << 20 };

static int setup(void **state)
{
    struct error e = {0};
    *state = memory_create(CAPACITY, &e);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    memory_destroy(*state);
    return 0;
}

static void test_layout(void **state)
{
    struct memory *m = *state;
    assert_true(m->shared_window >= m->reserved_base);
    assert_true(m->local_window >= m->shared_window + (uint64_t)MEMORY_WINDOW_BYTES * (MEMORY_CLUSTER_BLOCKS + 1));
    assert_true(m->heap_base >= m->local_window + MEMORY_WINDOW_BYTES);
    assert_true(m->generation > 0);
    assert_int_equal(m->reserved_base % 4096, 0);
}

static void test_alignment_and_gaps(void **state)
{
    struct memory *m = *state;
    uint64_t last_end = 0;
    static const uint64_t sizes[] = {1, 4, 255, 256, 257, 4096, 100000}, aligns[] = {1, 16, 512, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof aligns / sizeof *aligns; k++) {
            uint64_t a = memory_alloc(m, sizes[i], aligns[k], MEMORY_DEVICE, NULL);
            assert_int_not_equal(a, 0);
            assert_int_equal(a % 256, 0);
            assert_int_equal(a % aligns[k], 0);
            if (a > last_end)
                last_end = a + sizes[i];
            assert_null(memory_find(m, a + sizes[i])); /* nothing touches its end */
            assert_null(memory_find(m, a - 1));
        }
    for (uint32_t i = 1; i < m->range_count; i++)
        assert_true(m->ranges[i].base > m->ranges[i - 1].base + m->ranges[i - 1].size_bytes);
}

static void test_refusals(void **state)
{
    struct memory *m = *state;
    assert_int_equal(memory_alloc(m, 0, 1, MEMORY_DEVICE, NULL), 0);
    assert_int_equal(memory_alloc(m, CAPACITY + 1, 1, MEMORY_DEVICE, NULL), 0);
    assert_int_equal(memory_alloc(m, UINT64_MAX, 1, MEMORY_DEVICE, NULL), 0);
    assert_int_equal(memory_alloc(m, 16, 3, MEMORY_DEVICE, NULL), 0);
    uint64_t all = memory_alloc(m, CAPACITY, 1, MEMORY_DEVICE, NULL);
    assert_int_not_equal(all, 0);
    assert_int_equal(memory_alloc(m, 1, 1, MEMORY_DEVICE, NULL), 0);
    assert_int_not_equal(memory_alloc(m, 4096, 1, MEMORY_HOST, NULL), 0); /* pinned memory is the host's */
    assert_true(memory_release(m, all));
    assert_int_equal(m->used_bytes, 0);
}

static void test_release(void **state)
{
    struct memory *m = *state;
    uint64_t a = memory_alloc(m, 1000, 1, MEMORY_DEVICE, NULL), generation = m->generation;
    assert_false(memory_release(m, a + 1));
    assert_false(memory_release(m, 0));
    assert_true(memory_release(m, a));
    assert_true(m->generation != generation);
    assert_false(memory_release(m, a));
    assert_null(memory_find(m, a));
}

/* Small ranges are cleared by hand, large ones by giving pages back; both ends of an unaligned large one must be clear
 * too. */
static void test_zeroed(void **state)
{
    struct memory *m = *state;
    static const uint64_t sizes[] = {100, 70000, 1 << 20, (1 << 20) + 777};
    uint64_t before = memory_alloc(m, 300, 1, MEMORY_DEVICE, NULL); /* so that the next does not begin on a page */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t a = memory_alloc(m, sizes[i], 1, MEMORY_DEVICE, NULL);
        memset(memory_pointer(a), 0xa5, sizes[i]);
        assert_true(memory_release(m, a));
        uint64_t b = memory_alloc(m, sizes[i], 1, MEMORY_DEVICE, NULL);
        assert_int_equal(b, a); /* first fit: the same hole */
        const uint8_t *p = memory_pointer(b);
        for (uint64_t k = 0; k < sizes[i]; k++)
            if (p[k])
                fail_msg("byte %llu of %llu is not zero", (unsigned long long)k, (unsigned long long)sizes[i]);
        assert_true(memory_release(m, b));
    }
    assert_true(memory_release(m, before));
}

/* Whatever the order of release, the heap is one hole again. */
static void test_merging(void **state)
{
    struct memory *m = *state;
    enum { COUNT = 200 };
    uint64_t a[COUNT], seed = 7;
    uint64_t first = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            a[i] = memory_alloc(m, 1 + (seed >> 40) % 20000, 1ull << ((seed >> 33) % 13), MEMORY_DEVICE, NULL);
            assert_int_not_equal(a[i], 0);
        }
        for (int i = COUNT - 1; i > 0; i--) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            int k = (int)((seed >> 33) % (uint64_t)(i + 1));
            uint64_t swap = a[i];
            a[i] = a[k];
            a[k] = swap;
        }
        for (int i = 0; i < COUNT; i++)
            assert_true(memory_release(m, a[i]));
        assert_int_equal(m->used_bytes, 0);
        assert_int_equal(m->range_count, 0);
        uint64_t whole = memory_alloc(m, CAPACITY, 1, MEMORY_DEVICE, NULL);
        assert_int_not_equal(whole, 0);
        if (round)
            assert_int_equal(whole, first);
        first = whole;
        assert_true(memory_release(m, whole));
    }
}

static void test_find(void **state)
{
    struct memory *m = *state;
    uint64_t a[50];
    for (int i = 0; i < 50; i++)
        a[i] = memory_alloc(m, (uint64_t)(i + 1) * 10, 1, MEMORY_GLOBAL, "x");
    for (int i = 0; i < 50; i++) {
        uint64_t size = (uint64_t)(i + 1) * 10;
        assert_ptr_equal(memory_find(m, a[i]), memory_find(m, a[i] + size - 1));
        assert_int_equal(memory_find(m, a[i])->base, a[i]);
        assert_int_equal(memory_find(m, a[i])->size_bytes, size);
        assert_null(memory_find(m, a[i] + size));
    }
    assert_null(memory_find(m, 0));
    assert_null(memory_find(m, UINT64_MAX));
}

/* The rest of the last granule belongs to the range; what was left there is gone with it. */
static void test_granules(void **state)
{
    struct memory *m = *state;
    uint64_t a = memory_alloc(m, 1000, 1, MEMORY_DEVICE, NULL), b = memory_alloc(m, 1024, 1, MEMORY_DEVICE, NULL);
    assert_null(memory_find(m, a + 1000));
    assert_ptr_equal(memory_find_granule(m, a + 1000), memory_find(m, a));
    assert_ptr_equal(memory_find_granule(m, a + 1023), memory_find(m, a));
    assert_null(memory_find_granule(m, a + 1024));
    assert_null(memory_find_granule(m, b + 1024));
    assert_null(memory_find_granule(m, a - 1));
    assert_true(b >= a + 1024 + 256); /* and a gap behind it */
    *(uint32_t *)memory_pointer(a + 1020) = 7;
    assert_true(memory_release(m, a));
    assert_null(memory_find_granule(m, a));
    assert_int_equal(memory_alloc(m, 1024, 1, MEMORY_DEVICE, NULL), a);
    assert_int_equal(*(uint32_t *)memory_pointer(a + 1020), 0);
}

/* A large one has pages for itself. */
static void test_pages(void **state)
{
    const uint64_t large = 1 << 20, page = 2 << 20;
    struct memory *m = *state;
    uint64_t below = memory_alloc(m, large - 1, 1, MEMORY_DEVICE, NULL),
             a = memory_alloc(m, large, 1, MEMORY_DEVICE, NULL), b = memory_alloc(m, page + 4, 1, MEMORY_MANAGED, NULL),
             whole = memory_alloc(m, page, 1, MEMORY_DEVICE, NULL);
    assert_null(memory_find_granule(m, below + large));
    assert_null(memory_find(m, a + large));
    assert_ptr_equal(memory_find_granule(m, a + page - 1), memory_find(m, a));
    assert_null(memory_find_granule(m, a + page));
    assert_ptr_equal(memory_find_granule(m, b + 2 * page - 1), memory_find(m, b));
    assert_null(memory_find_granule(m, b + 2 * page));
    assert_null(memory_find_granule(m, whole + page));
    *(uint32_t *)memory_pointer(a + page - 4) = 7;
    assert_true(memory_release(m, a));
    assert_int_equal(memory_alloc(m, page, 1, MEMORY_DEVICE, NULL), a);
    assert_int_equal(*(uint32_t *)memory_pointer(a + page - 4), 0);
}

/* Beside what the host allocates kernels may touch a margin, before and behind; the next one has its own, and none is
 * left dirty. */
static void test_margins(void **state)
{
    enum { MARGIN = 32 << 10 };
    struct memory *m = *state;
    uint64_t a = memory_alloc(m, 1024, 512, MEMORY_DEVICE, NULL), b = memory_alloc(m, 1000, 512, MEMORY_MANAGED, NULL);
    uint64_t variable = memory_alloc(m, 1024, 256, MEMORY_GLOBAL, "x");
    assert_true(a >= m->heap_base + MARGIN && b >= a + 1024 + 2 * MARGIN + 256);
    assert_ptr_equal(memory_find_margin(m, a + 1000, 24), memory_find(m, a));
    assert_ptr_equal(memory_find_margin(m, a - 256, 4), memory_find(m, a));
    assert_ptr_equal(memory_find_margin(m, a - MARGIN, 4), memory_find(m, a));
    assert_null(memory_find_margin(m, a - MARGIN - 4, 4));
    assert_ptr_equal(memory_find_margin(m, a + 1024 + MARGIN - 4, 4), memory_find(m, a));
    assert_null(memory_find_margin(m, a + 1024 + MARGIN - 4, 8));
    assert_ptr_equal(memory_find_margin(m, b - MARGIN, 8), memory_find(m, b));
    assert_null(memory_find_margin(m, b - MARGIN - 8, 8));
    assert_null(memory_find_margin(m, variable - 4, 4));
    assert_null(memory_find_margin(m, variable + 1024, 4));
    *(uint32_t *)memory_pointer(a - 4) = *(uint32_t *)memory_pointer(a + 1024) = 7;
    memory_note_margin_write(m);
    assert_true(memory_release(m, a));
    assert_null(memory_find_margin(m, a - 4, 4));
    assert_null(memory_find_margin(m, a + 1024, 4));
    assert_int_equal(memory_alloc(m, 1024, 512, MEMORY_DEVICE, NULL), a);
    assert_int_equal(*(uint32_t *)memory_pointer(a - 4) + *(uint32_t *)memory_pointer(a + 1024), 0);
}

static void test_register(void **state)
{
    struct memory *m = *state;
    char *host = malloc(1000);
    assert_non_null(host);
    assert_true(memory_register(m, host + 100, 200, MEMORY_HOST));
    assert_false(memory_register(m, host + 100, 200, MEMORY_HOST));
    assert_false(memory_register(m, host + 50, 51, MEMORY_HOST));
    assert_false(memory_register(m, host + 299, 10, MEMORY_HOST));
    assert_true(memory_register(m, host + 300, 10, MEMORY_HOST));
    assert_true(memory_register(m, host, 100, MEMORY_HOST));
    assert_false(memory_register(m, NULL, 10, MEMORY_HOST));
    assert_false(memory_register(m, memory_pointer(m->heap_base), 10, MEMORY_HOST));
    memset(host, 1, 1000);
    assert_true(memory_release(m, (uint64_t)(uintptr_t)(host + 100)));
    assert_int_equal(host[150], 1); /* not ours to clear */
    assert_int_equal(m->used_bytes, 0);
    free(host);
}

static void assert_says(const struct memory *m, uint64_t address, const char *words)
{
    char text[300];
    memory_describe(m, address, text, sizeof text);
    if (!strstr(text, words))
        fail_msg("'%s' lacks '%s'", text, words);
}

static void test_describe(void **state)
{
    struct memory *m = *state;
    assert_says(m, 0x123456789000, "nothing is allocated");
    uint64_t a = memory_alloc(m, 1024, 1, MEMORY_DEVICE, NULL);
    assert_says(m, a + 1028, "4 bytes past the end of a 1024-byte allocation");
    assert_says(m, a + 1024, "right at the end of a 1024-byte allocation");
    assert_says(m, a - 8, "8 bytes before a 1024-byte allocation");
    assert_says(m, a + 16, "16 bytes into a 1024-byte allocation");
    assert_says(m, 12, "null pointer plus 12 bytes");
    assert_says(m, m->shared_window + 5, "byte 5 of the block's shared memory");
    assert_says(m, m->local_window + 6, "byte 6 of the thread's local memory");
    char label[] = "counter";
    uint64_t b = memory_alloc(m, 64, 1, MEMORY_GLOBAL, label);
    assert_says(m, b, "'counter'");
    assert_true(memory_release(m, b));
    label[0] = 'X'; /* the name may be gone when the message is made */
    assert_says(m, b + 4, "4 bytes into a freed 64-byte global variable 'counter'");
}

static void test_two_devices(void **state)
{
    struct memory *m = *state;
    struct error e = {0};
    struct memory *other = memory_create(1 << 20, &e);
    assert_non_null(other);
    uint64_t a = memory_alloc(m, 4096, 1, MEMORY_DEVICE, NULL), b = memory_alloc(other, 4096, 1, MEMORY_DEVICE, NULL);
    *(uint32_t *)memory_pointer(a) = 1;
    *(uint32_t *)memory_pointer(b) = 2;
    assert_int_equal(*(uint32_t *)memory_pointer(a), 1);
    assert_null(memory_find(m, b));
    assert_null(memory_find(other, a));
    memory_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_layout, setup, teardown),
        cmocka_unit_test_setup_teardown(test_alignment_and_gaps, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_release, setup, teardown),
        cmocka_unit_test_setup_teardown(test_zeroed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_merging, setup, teardown),
        cmocka_unit_test_setup_teardown(test_find, setup, teardown),
        cmocka_unit_test_setup_teardown(test_granules, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_margins, setup, teardown),
        cmocka_unit_test_setup_teardown(test_register, setup, teardown),
        cmocka_unit_test_setup_teardown(test_describe, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_devices, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
