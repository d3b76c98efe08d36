/* Does the estimate of registers a thread follow the rules it is made of? Small kernels whose counts can be worked out
 * by hand: `kept` is one register for the stack and two lost to alignment, and two more from sm_70 on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/registers.h"

#include <stdio.h>
#include <string.h>

enum { KEPT = 3, KEPT_SM70 = 5, FREE = 32, FREE_SM75 = 64, CALL_NEEDS = 24 };

static struct ptx_register_estimate estimate_of(const char *directives, const char *body, int sm)
{
    static char text[1 << 16];
    snprintf(text, sizeof text,
             ".version 7.8\n.target sm_%d\n.address_size 64\n.func callee() { ret; }\n"
             ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) %s\n{\n.reg .pred %%p<9>;\n.reg .b32 "
             "%%r<99>;\n.reg .f32 %%f<99>;\n"
             ".reg .b64 %%rd<99>;\n%s\nret;\n}\n",
             sm, directives, body);
    struct error e = {0};
    struct ptx_module *m = ptx_parse("test.ptx", text, strlen(text), &e);
    assert_non_null(m);
    struct arena a = {0};
    const struct ptx_function *f = ptx_find_function(m, "k");
    struct ptx_register_estimate r = ptx_estimate_registers(f, ptx_cfg_build(&a, f), sm);
    arena_free(&a);
    ptx_module_free(m);
    return r;
}

static uint32_t in_order(const char *body) { return estimate_of("", body, 35).in_order; }

static uint32_t overlapped(const char *body) { return estimate_of("", body, 35).overlapped; }

static void test_empty(void **state)
{
    (void)state;
    assert_int_equal(estimate_of("", "", 35).registers, KEPT);
    assert_int_equal(estimate_of("", "", 80).registers, KEPT_SM70);
}

/* One value alive at a time, whatever comes from the constant bank: parameters, dimensions, literals, addresses of
 * variables. */
static void test_constants_cost_nothing(void **state)
{
    (void)state;
    assert_int_equal(in_order("ld.param.u64 %rd1, [a]; cvta.to.global.u64 %rd2, %rd1; ld.param.u32 %r1, [n]; mov.u32 "
                              "%r2, %ntid.x; mov.u32 %r3, 7;"
                              "mov.u32 %r4, %tid.x; mul.lo.s32 %r5, %r4, %r1; mul.lo.s32 %r6, %r5, %r2; add.s32 %r7, "
                              "%r6, %r3; st.global.u32 [%rd2], %r7;"),
                     1);
    assert_int_equal(in_order("ld.param.u64 %rd1, [a]; mov.u32 %r4, %tid.x; mov.u32 %r5, %ctaid.x; st.global.u32 "
                              "[%rd1], %r4; st.global.u32 [%rd1], %r5;"),
                     2);
    /* A register with two definitions is a variable, not a constant. */
    assert_int_equal(in_order("ld.param.u64 %rd1, [a]; mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; mov.u32 %r1, 2; "
                              "st.global.u32 [%rd1], %r1;"),
                     1);
    /* Behind a guard the old value of %r1 may stay: alive beside %r2. */
    assert_int_equal(in_order("ld.param.u64 %rd1, [a]; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0; @%p1 mov.u32 %r1, "
                              "1; st.global.u32 [%rd1], %r1;"),
                     2);
}

/* The index takes one register until each address is made; kept in 64 bits it takes two, as it does when something else
 * reads it. */
static void test_widened_index(void **state)
{
    (void)state;
#define ADDRESSES \
    "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4]; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r2;"
#define START "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x;"
    assert_int_equal(in_order(START "mul.wide.s32 %rd3, %r1, 4;" ADDRESSES),
                     3); /* %r1 and an address, an address and %r2 */
    assert_int_equal(in_order(START "cvt.s64.s32 %rd9, %r1; shl.b64 %rd3, %rd9, 2;" ADDRESSES), 3);
    assert_int_equal(in_order(START "mul.wide.s32 %rd3, %r1, 4;" ADDRESSES "st.global.u64 [%rd2], %rd3;"),
                     5); /* %rd3, an address, %r2 */
}

/* Before sm_20 an address, and whatever goes into one or is compared with one, takes one register; other values of 64
 * bits take two, and only then is something lost to alignment. There is no stack pointer, and 16 registers are free. */
static void test_narrow_addresses(void **state)
{
    (void)state;
    struct ptx_register_estimate r = estimate_of("", START "mul.wide.s32 %rd3, %r1, 4;" ADDRESSES, 12);
    assert_int_equal(r.in_order, 2);
    assert_int_equal(r.kept, 0);
    assert_int_equal(r.free, 16);
    r = estimate_of("", START "mul.wide.s32 %rd3, %r1, 4;" ADDRESSES "st.global.u64 [%rd2], %rd3;", 12);
    assert_int_equal(r.in_order, 3); /* %rd3, an address, %r2; 5 with addresses of 64 bits */
    /* A pointer that walks to another one's place. */
#define WALK                                                                                                        \
    "cvt.u64.u32 %rd3, %r1; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd4, 400;"                                     \
    "L: ld.global.u32 %r2, [%rd4]; st.global.u32 [%rd2], %r2; add.s64 %rd4, %rd4, 4; setp.ne.s64 %p1, %rd4, %rd5; " \
    "@%p1 bra L;"
    assert_int_equal(estimate_of("", START WALK, 35).in_order, 5);
    assert_int_equal(estimate_of("", START WALK, 12).in_order, 3);
    /* Data stays as wide as it is. */
    r = estimate_of("",
                    START "ld.global.u64 %rd6, [%rd1]; ld.global.u64 %rd7, [%rd1+8]; mul.lo.u64 %rd8, %rd6, %rd7; "
                          "st.global.u64 [%rd2], %rd8;",
                    12);
    assert_int_equal(r.in_order, 4);
    assert_int_equal(r.kept, 2);
    assert_int_equal(estimate_of("", "", 11).free, 10);
}

/* a[0] ... : a sum of `count` loads, one behind the other. */
static const char *sum_of_loads(int count, const char *space, const char *between)
{
    static char text[1 << 14];
    int at = snprintf(
        text, sizeof text,
        "ld.param.u64 %%rd1, [a]; mov.f32 %%f1, 0f00000000; mov.u32 %%r1, %%tid.x; mul.wide.s32 %%rd2, %%r1, 4;"
        "add.s64 %%rd3, %%rd1, %%rd2;");
    for (int i = 0; i < count; i++)
        at +=
            snprintf(text + at, sizeof text - (size_t)at, "ld%s.f32 %%f%d, [%%rd3+%d]; add.f32 %%f1, %%f1, %%f%d; %s\n",
                     space, i + 10, i * 4, i + 10, between);
    snprintf(text + at, sizeof text - (size_t)at, "st.global.f32 [%%rd3], %%f1;");
    return text;
}

static void test_loads_overlap(void **state)
{
    (void)state;
    assert_int_equal(in_order(sum_of_loads(8, ".global", "")), 4);      /* address, sum, one value */
    assert_in_range(overlapped(sum_of_loads(8, ".global", "")), 8, 11); /* several under way, eight at most */
    assert_in_range(overlapped(sum_of_loads(4, ".global", "")), 5, 7);
    assert_int_equal(overlapped(sum_of_loads(8, ".global", "bar.sync 0;")), 4); /* nothing passes a barrier, */
    assert_int_equal(overlapped(sum_of_loads(8, ".volatile.global", "")), 4);   /* or moves that is volatile, */
    assert_int_equal(overlapped(sum_of_loads(8, ".global", "st.global.f32 [%rd3], %f1;")),
                     4); /* or passes a store that might be to the same place; */
    assert_int_equal(overlapped(sum_of_loads(8, "", "st.global.f32 [%rd3], %f1;")),
                     4); /* a generic address might be that of any store; */
    assert_true(overlapped(sum_of_loads(8, ".global.nc", "st.global.f32 [%rd3], %f1;")) >
                7); /* what nobody writes does, */
    assert_true(overlapped(sum_of_loads(8, ".global", "st.shared.f32 [%r1], %f1;")) >
                7); /* and a store elsewhere is no obstacle */
}

/* Overlap ends where registers stop being free; what the order of the text needs is needed all the same. */
static void test_free_registers(void **state)
{
    (void)state;
    assert_int_equal(estimate_of("", sum_of_loads(80, ".global", ""), 35).registers, FREE);
    assert_int_equal(estimate_of("", sum_of_loads(80, ".global", ""), 80).registers, FREE);
    assert_in_range(estimate_of("", sum_of_loads(80, ".global", ""), 75).registers, FREE + 1, FREE_SM75);
    char text[1 << 14];
    int at = snprintf(
        text, sizeof text,
        "ld.param.u64 %%rd1, [a]; mov.u32 %%r1, %%tid.x; mul.wide.s32 %%rd2, %%r1, 4; add.s64 %%rd3, %%rd1, %%rd2;");
    for (int i = 0; i < 40; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "ld.global.f32 %%f%d, [%%rd3+%d];", i + 10, i * 4);
    for (int i = 40; i-- > 0;)
        at += snprintf(text + at, sizeof text - (size_t)at, "st.global.f32 [%%rd3], %%f%d;", i + 10);
    assert_int_equal(in_order(text), 42);
    assert_int_equal(estimate_of("", text, 35).registers, 42 + KEPT);
    assert_int_equal(estimate_of(".maxnreg 24", text, 35).registers, 24);
    assert_int_equal(estimate_of(".maxntid 1024, 1, 1 .minnctapersm 2", text, 35).registers, 32);
}

/* The loads of a small loop's next round are under way beside this one's. */
static void test_loop(void **state)
{
    (void)state;
#define LOOP(WAITS)                                                                                                 \
    "ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n]; mov.u32 %r2, 0; mov.f32 %f1, 0f00000000; mov.u32 %r9, %tid.x; " \
    "mul.wide.s32 %rd3, %r9, 4;"                                                                                    \
    "add.s64 %rd2, %rd1, %rd3;\nL: ld.global.f32 %f2, [%rd2]; " WAITS                                               \
    " add.f32 %f1, %f1, %f2; add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, %r1;"                                       \
    "@%p1 bra L; st.global.f32 [%rd2], %f1;"
    uint32_t alive = 5; /* counter, sum, address, value */
    assert_int_equal(in_order(LOOP("")), alive);
    assert_int_equal(overlapped(LOOP("")), alive + 1);
    assert_int_equal(overlapped(LOOP("bar.sync 0;")), alive);
}

static void test_calls_and_sequences(void **state)
{
    (void)state;
    assert_int_equal(estimate_of("", "call callee;", 35).registers, CALL_NEEDS);
    const char *divides = "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; div.u32 %r3, %r1, %r2; "
                          "st.global.u32 [%rd1], %r3;";
    assert_int_equal(in_order(divides), 2 + 5);
    const char *by_literal =
        "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; div.u32 %r3, %r1, 10; st.global.u32 [%rd1], %r3;";
    assert_int_equal(in_order(by_literal), 1);
    const char *root =
        "ld.param.u64 %rd1, [a]; ld.global.f32 %f1, [%rd1]; sqrt.rn.f32 %f2, %f1; st.global.f32 [%rd1], %f2;";
    assert_int_equal(estimate_of("", root, 80).registers, CALL_NEEDS);
    assert_int_equal(estimate_of("", root, 35).registers, 1 + 5 + KEPT);
    const char *approximate =
        "ld.param.u64 %rd1, [a]; ld.global.f32 %f1, [%rd1]; sqrt.approx.f32 %f2, %f1; st.global.f32 [%rd1], %f2;";
    assert_int_equal(estimate_of("", approximate, 80).registers, 1 + KEPT_SM70);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),         cmocka_unit_test(test_constants_cost_nothing),
        cmocka_unit_test(test_widened_index), cmocka_unit_test(test_narrow_addresses),
        cmocka_unit_test(test_loads_overlap), cmocka_unit_test(test_free_registers),
        cmocka_unit_test(test_loop),          cmocka_unit_test(test_calls_and_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
