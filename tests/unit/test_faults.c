/* Kernels that go wrong in time: is the instruction told that was the first to, in the order of the program? */
#include "timing_test.h"

static const struct timed_machine ccws = {.name = "ccws"}; /* a warp issues two instructions in a cycle */

static void expect_text(const char *body, enum error_kind kind, const char *text)
{
    struct timed t;
    timed_open(&t, &ccws, SETS("machine.cores_per_cluster=1", ONE_CORE), "", body);
    uint64_t buffer = (uint64_t)(uintptr_t)t.buffer;
    struct gpu_launch launch = {.kernel = exec_image_function(t.image, "kernel"),
                                .grid = {1, 1, 1},
                                .block = {32, 1, 1},
                                .params = &buffer,
                                .params_bytes = 8};
    assert_false(gpu_launch(t.gpu, &launch, &t.error));
    assert_int_equal(t.error.kind, kind);
    assert_non_null(strstr(t.error.text, text));
    timed_close(&t);
}

/* Device memory is accessed at the end of a cycle, in which the warp may have issued what comes after it: if the two
 * were fetched together, which depends on where they stand. */
static void the_first_of_two_in_a_cycle(void **state)
{
    static const struct {
        const char *body;
        enum error_kind kind;
        const char *text;
    } cases[] = {{"ld.global.u32 %r1, [%rd2];\nbrkpt;\n", ERROR_ADDRESS, "ld.global.u32"},
                 {"st.global.u32 [%rd2], %r2;\ntrap;\n", ERROR_ADDRESS, "st.global.u32"},
                 {"ld.global.u32 %r1, [%rd1];\ntrap;\n", ERROR_TRAP, "trap"}};
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t before = 0; before < 2; before++) {
            struct text body = {0};
            say_times(&body, 1, "ld.param.u64 %rd1, [buffer];\nmov.u64 %rd2, 0;\n");
            say_times(&body, before, "add.u32 %r3, %r3, 1;\n");
            say_times(&body, 1, cases[i].body);
            expect_text(body.s, cases[i].kind, cases[i].text);
            free(body.s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_of_two_in_a_cycle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
