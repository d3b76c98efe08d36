/* What the tests of the lowering share: a kernel around a text, and the machine instructions of each of its lines. */
#ifndef HEDDLE_TESTS_LOWERING_FIXTURE_H
#define HEDDLE_TESTS_LOWERING_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/lowering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values that nobody knows, before the text of a test: %r1-%r4, %q1-%q3, %f1-%f3, %h1 %h2, %p1 %p2, and %k1 %k2, the
 * same for all threads. What is left in %r0, %q0, %f0, %h0 and %p0 is needed. */
#define REGISTERS                                                                                               \
    ".reg .b32 %r<24>; .reg .b32 %k<4>; .reg .b64 %q<16>; .reg .f32 %f<16>; .reg .f64 %d<8>; .reg .b16 %h<8>; " \
    ".reg .pred %p<12>; .reg .b64 %a<4>; .reg .b32 %s<4>; .reg .b32 %t<4>;\n"
#define HEAD                                                                                                         \
    ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 4 .b8 table[64];\n"                                \
    ".shared .align 4 .b8 tile[4096];\n.shared .align 4 .b8 other[64];\n"                                            \
    ".visible .entry kernel(.param .u64 out, .param .u64 in, .param .u32 k, .param .u32 l) {\n" REGISTERS            \
    "ld.param.u64 %a1, [in];\nld.param.u64 %a2, [out];\nld.param.u32 %k1, [k];\nld.param.u32 %k2, [l];\n"            \
    "mov.u32 %t0, %tid.x;\nmul.wide.u32 %a0, %t0, 256;\nadd.s64 %a3, %a1, %a0;\nadd.s64 %a0, %a2, %a0;\n"            \
    "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a3];\nld.global.v2.u64 {%q1, %q2}, [%a3+16];\n"                        \
    "ld.global.u64 %q3, [%a3+32];\nld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%a3+48];\n"                               \
    "ld.global.v2.f64 {%d1, %d2}, [%a3+64];\nld.global.v2.u16 {%h1, %h2}, [%a3+80];\nld.global.u32 %s1, [%a3+84];\n" \
    "ld.global.u32 %t1, [%a3+88];\nsetp.gt.s32 %p1, %t1, 0;\nsetp.gt.s32 %p2, %t1, 9;\n"
enum { HEAD_INSTRUCTIONS = 18 };
#define TAIL                                                                                           \
    "st.global.v2.u32 [%a0], {%r0, %k1};\nst.global.u64 [%a0+8], %q0;\nst.global.f32 [%a0+16], %f0;\n" \
    "st.global.u16 [%a0+20], %h0;\nst.global.f64 [%a0+24], %d0;\nselp.u32 %t2, %k2, %t1, %p0;\n"       \
    "st.global.u32 [%a0+32], %t2;\nret;\n}\n"

struct fixture {
    struct arena arena;
    struct ptx_module *module;
    struct ptx_function *kernel;
    const struct ptx_lowering *lowering;
};

static void open_text(struct fixture *x, const char *text)
{
    struct error e = {0};
    memset(x, 0, sizeof *x);
    x->module = ptx_parse("test.ptx", text, strlen(text), &e);
    if (!x->module)
        fail_msg("%s", e.text);
    x->kernel = x->module->functions[0];
}

static void open_body(struct fixture *x, const char *body)
{
    char *text = NULL;
    assert_true(asprintf(&text, "%s%s%s", HEAD, body, TAIL) > 0);
    open_text(x, text);
    free(text);
    x->lowering = ptx_lower(&x->arena, x->kernel);
}

static void close_fixture(struct fixture *x)
{
    ptx_module_free(x->module);
    arena_free(&x->arena);
}

struct rule {
    const char *body, *slots; /* of each instruction of the body */
};

static void check(const struct rule *rules, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        struct fixture x;
        char got[256] = "";
        open_body(&x, rules[k].body);
        uint32_t expected = 1;
        for (const char *c = rules[k].slots; *c; c++)
            expected += *c == ' ';
        for (uint32_t i = 0; i < expected; i++)
            snprintf(
                got + strlen(got), sizeof got - strlen(got), "%s%u", i ? " " : "",
                x.lowering->insts[HEAD_INSTRUCTIONS + i].laid_out ? 0 : x.lowering->insts[HEAD_INSTRUCTIONS + i].slots);
        if (strcmp(got, rules[k].slots))
            fail_msg("%s\n   becomes %s, not %s", rules[k].body, got, rules[k].slots);
        close_fixture(&x);
    }
}
#define CHECK(rules) check(rules, sizeof(rules) / sizeof(rules)[0])

#endif
