/* Is what surrounds a guest's memory out of reach? Pages that nobody may touch in every build, gaps that the sanitizer
 * knows in its own. */
#include "kernel_test.h"

#include "base/guard.h"

#include <sys/syscall.h>
#include <unistd.h>

/* Whether the host may read a byte: the system call answers where a load would end the process. It is made directly,
 * since the sanitizer looks at what write() is given. */
static bool is_mapped(const void *at)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    bool mapped = syscall(SYS_write, ends[1], at, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return mapped;
}

static bool is_closed(const void *at)
{
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
    return __asan_address_is_poisoned(at);
#else
    (void)at;
    return true; /* there is no gap to look at */
#endif
}

static void heap_ends_at_a_page_of_nobody(void **state)
{
    struct error e = {0};
    struct memory *m = memory_create(1 << 20, &e);
    (void)state;
    assert_non_null(m);
    assert_false(is_mapped(memory_pointer(m->heap_base - 1)));
    assert_true(is_mapped(memory_pointer(m->heap_base)));
    assert_true(is_mapped(memory_pointer(m->heap_end - 1)));
    assert_false(is_mapped(memory_pointer(m->heap_end)));
    memory_destroy(m);
}

static void allocations_have_closed_gaps(void **state)
{
    static const struct {
        enum memory_kind kind;
        uint32_t margin;
    } kinds[] = {{MEMORY_GLOBAL, 0}, {MEMORY_DEVICE, 32 << 10}};
    (void)state;
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        struct error e = {0};
        struct memory *m = memory_create(1 << 20, &e);
        uint32_t margin = kinds[n].margin;
        assert_non_null(m);
        uint8_t *a = memory_pointer(memory_alloc(m, 700, 256, kinds[n].kind, NULL));
        assert_true(is_closed(a + 1024 + margin)); /* after its granules, and what may be touched beside them */
        a[1023 + margin] = 1;
        memory_note_margin_write(m);
        assert_true(memory_release(m, (uint64_t)(uintptr_t)a));
        assert_true(is_closed(a) && is_closed(a + 699));
        uint8_t *b = memory_pointer(memory_alloc(m, 2048, 256, kinds[n].kind, NULL)); /* over the old gap */
        assert_ptr_equal(a, b);
        for (uint32_t i = 0; i < 2048 + margin; i++)
            assert_int_equal(b[i], 0);
        assert_true(is_closed(b + 2048 + margin));
        memory_destroy(m);
    }
}

static void exact_bounds_close_the_granule(void **state)
{
    struct error e = {0};
    struct memory *m = memory_create(1 << 20, &e);
    (void)state;
    assert_non_null(m);
    m->exact_bounds = true;
    uint8_t *a = memory_pointer(memory_alloc(m, 704, 256, MEMORY_DEVICE, NULL));
    a[703] = 1;
    assert_true(is_closed(a + 704));
    assert_true(memory_release(m, (uint64_t)(uintptr_t)a));
    memory_destroy(m);
}

static void lanes_and_warps_have_closed_gaps(void **state)
{
    struct kernel_run k;
    (void)state;
    kernel_open(&k, PTX_HEADER ".visible .entry kernel(.param .u64 buffer) { .shared .b8 s[40]; .local .b8 l[48];\n"
                               ".reg .b32 %r; st.local.u8 [l], %r; st.shared.u8 [s], %r; ret; }\n");
    assert_non_null(k.image);
    struct exec_launch launch = {.memory = k.gpu->memory,
                                 .image = k.image,
                                 .kernel = exec_image_function(k.image, "kernel"),
                                 .grid = {1, 1, 1},
                                 .block = {64, 1, 1},
                                 .local_bytes = 48};
    struct exec_cta *cta = exec_cta_create(&launch, 0, &k.error);
    assert_non_null(cta);
    const uint64_t stride = exec_local_stride(&launch), lanes = 64;
    assert_int_equal(stride, 48 + GUARD_GAP_BYTES);
    for (uint64_t i = 0; i < lanes; i++) {
        cta->local[i * stride] = cta->local[i * stride + 47] = 1;
        assert_true(is_closed(cta->local + i * stride + 48));
    }
    assert_true(is_mapped(cta->local + lanes * stride - 1));
    assert_false(is_mapped(cta->local + lanes * stride)); /* at its end, not somewhere after it */
    assert_false(is_mapped(cta->local_map));
    assert_true(is_closed(cta->shared + cta->shared_bytes));
    for (uint32_t i = 0; i < 2; i++)
        assert_true(is_closed(cta->warps[i].registers + cta->warps[i].registers_bytes));
    exec_cta_destroy(cta);
    kernel_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_ends_at_a_page_of_nobody),
        cmocka_unit_test(allocations_have_closed_gaps),
        cmocka_unit_test(exact_bounds_close_the_granule),
        cmocka_unit_test(lanes_and_warps_have_closed_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
