/* Arenas: is what they give zero, aligned and apart, in blocks of every size, and is all of it given back? */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t address_space_bytes(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%llu", &pages), 1);
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void assert_zero(const unsigned char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(p[i], 0);
}

/* Small ones, those that are too large for the block that is open, and those that are huge pages. */
static const size_t sizes[] = {1, 16, 100, 5000, 70 << 10, 3 << 20, 40, 1 << 20, 9 << 20, (2 << 20) - 32, 33 << 20, 7};
enum { COUNT = sizeof sizes / sizeof *sizes };

static void what_is_given(void **state)
{
    (void)state;
    struct arena a = {0};
    unsigned char *given[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        given[i] = arena_alloc(&a, sizes[i]);
        assert_int_equal((uintptr_t)given[i] % 16, 0);
        assert_zero(given[i], sizes[i]);
        memset(given[i], (int)i + 1, sizes[i]);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(given[i][0], i + 1);
        assert_int_equal(given[i][sizes[i] - 1], i + 1);
    }
    for (uint32_t i = 0; i < 3000; i++) { /* through all sizes of blocks */
        unsigned char *line = arena_alloc_lines(&a, 10000);
        assert_int_equal((uintptr_t)line % 64, 0);
        assert_zero(line, 10000);
        memset(line, 0xff, 10000);
    }
    arena_free(&a);
    assert_null(a.head);
}

/* AddressSanitizer keeps 256 MB of what was freed. A round that kept the rest of a huge page for each block would have
 * kept some 5 MB, one that kept a block far more. */
static void what_is_given_back(void **state)
{
    (void)state;
    uint64_t before = address_space_bytes();
    for (uint32_t round = 0; round < 200; round++) {
        struct arena a = {0};
        for (uint32_t i = 0; i < COUNT; i++)
            arena_alloc(&a, sizes[i]);
        arena_free(&a);
    }
    assert_true(address_space_bytes() < before + (400 << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_given), cmocka_unit_test(what_is_given_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
