/* Does a name in the body of a function mean what it means to ptxas? Every verdict here was asked of ptxas of CUDA 13.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/ptx.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 g5;\n.func fun() { ret; }\n"

/* A kernel with this body, in which 'put' stands in the place of "??". */
static struct ptx_module *parse(const char *body, const char *put, struct error *e)
{
    char text[3000];
    const char *mark = strstr(body, "??");
    int before = mark ? (int)(mark - body) : (int)strlen(body);
    snprintf(text, sizeof text, HEAD ".entry k(.param .u64 out) {\n%.*s%s%s\nret; }\n", before, body, put,
             mark ? mark + 2 : "");
    *e = (struct error){0};
    return ptx_parse("t.ptx", text, strlen(text), e);
}

/* The bits of the register that a name is at the place "??"; 0: it is none. */
static int bits_at(const char *body, const char *name)
{
    char line[200];
    struct error e;
    snprintf(line, sizeof line, "MARK_%d: mov.b32 %s, 0;", 0, name);
    struct ptx_module *m = parse(body, line, &e);
    if (!m)
        return 0;
    const struct ptx_function *f = ptx_find_function(m, "k");
    int bits = 0;
    for (uint32_t i = 0; i < f->label_count; i++)
        if (strcmp(f->labels[i].name, "MARK_0") == 0)
            bits = ptx_type_bits(f->insts[f->labels[i].target].operands[0].reg->type);
    ptx_module_free(m);
    return bits;
}

/* Inner declarations are of other types than outer ones, so that a register's size says which it is. */
static void a_name_means_the_innermost_that_has_it(void **state)
{
    static const struct {
        const char *body;
        struct {
            const char *name;
            int bits;
        } names[7];
    } cases[] = {
        {".reg .b64 %f<4000>; { .reg .b32 %f<10>; ?? }",
         {{"%f0", 32}, {"%f9", 32}, {"%f10", 64}, {"%f2521", 64}, {"%f4000", 0}}},
        {".reg .b64 %f<40>; { .reg .b32 %f<10>; } ??", {{"%f9", 64}, {"%f10", 64}}},
        {".reg .b64 %f<40>; { ?? .reg .b32 %f<10>; }", {{"%f3", 64}, {"%f10", 64}}},
        {".reg .b64 %f<40>; { mov.b64 %f3, 0; .reg .b32 %f<10>; ?? }", {{"%f3", 32}, {"%f10", 64}}},
        /* two depths, which shrink, grow, or neither */
        {".reg .b64 %f<40>; { .reg .b32 %f<20>; { .reg .b16 %f<10>; ?? } }",
         {{"%f9", 16}, {"%f10", 32}, {"%f19", 32}, {"%f20", 64}, {"%f39", 64}, {"%f40", 0}}},
        {".reg .b64 %f<10>; { .reg .b32 %f<20>; { .reg .b16 %f<40>; ?? } }",
         {{"%f9", 16}, {"%f10", 16}, {"%f20", 16}, {"%f39", 16}, {"%f40", 0}}},
        {".reg .b16 %f<40>; { .reg .b32 %f<10>; { .reg .b64 %f<20>; ?? } }",
         {{"%f9", 64}, {"%f19", 64}, {"%f20", 16}, {"%f39", 16}}},
        {".reg .b64 %f<40>; { .reg .b32 %f<0>; ?? }", {{"%f0", 64}, {"%f3", 64}}},
        /* a plain name and a range */
        {".reg .b64 %f<10>; { .reg .b32 %f5; ?? }", {{"%f4", 64}, {"%f5", 32}, {"%f6", 64}, {"%f15", 0}}},
        {".reg .b64 %f<10>; { .reg .b32 %f5; } ??", {{"%f5", 64}}},
        {".reg .b64 %f<10>; { .reg .b32 %f5; { .reg .b16 %f<4>; ?? } }", {{"%f3", 16}, {"%f5", 32}, {"%f6", 64}}},
        {".reg .b64 %f5; { .reg .b32 %f<10>; ?? }", {{"%f5", 32}, {"%f6", 32}}},
        {".reg .b64 %f15; { .reg .b32 %f<10>; ?? }", {{"%f5", 32}, {"%f15", 64}}},
        {".reg .b64 %f15; { .reg .b32 %f<10>; } ??", {{"%f5", 0}, {"%f15", 64}}},
        {".reg .b32 x; .reg .b64 x<10>; ??", {{"x", 32}, {"x5", 64}}},
        /* siblings */
        {"{ .reg .b64 %f<40>; mov.b64 %f3, %f30; } { .reg .b32 %f<10>; ?? }", {{"%f3", 32}, {"%f10", 0}, {"%f30", 0}}},
        {"{ .reg .b64 %f<40>; mov.b64 %f3, %f30; } ??", {{"%f3", 0}}},
        {"{ .reg .b64 %f3; } { .reg .b32 %f<10>; ?? }", {{"%f3", 32}}},
        /* variables, parameters, names of the module, special registers */
        {".shared .b32 x5; { .reg .b16 x<10>; ?? }", {{"x5", 16}}},
        {".reg .b16 x<10>; { .shared .b32 x5; ?? }", {{"x5", 0}, {"x6", 16}}},
        {"{ .reg .b16 out; ?? }", {{"out", 16}}},
        {".reg .b16 g<10>; ??", {{"g5", 16}}},
        {".reg .b16 fun; ??", {{"fun", 16}}},
        {".reg .b16 %clock<80>; ??", {{"%clock64", 16}}},
        {".reg .b16 %tid; ??", {{"%tid", 16}}},
        /* labels */
        {".reg .b32 x<10>; { x5: ret; ?? }", {{"x5", 0}, {"x6", 32}}},
        {".reg .b32 x<10>; { x5: ret; { ?? } }", {{"x5", 0}, {"x6", 32}}},
        {".reg .b32 x<10>; { ?? x5: ret; }", {{"x5", 32}}},
        {".reg .b32 x<10>; x5: ret; ??", {{"x5", 32}}},
        {"x5: ret; .reg .b32 x<10>; ??", {{"x5", 32}}},
        /* the number is all of the digits, modulo 2^32 */
        {".reg .b64 %f<10>; ??",
         {{"%f05", 64}, {"%f00", 64}, {"%f000000000000000000005", 64}, {"%f4294967305", 64}, {"%f4294967306", 0}}},
        {".reg .b64 %f<10>; { .reg .b32 %f05; ?? }", {{"%f05", 32}, {"%f5", 64}, {"%f005", 64}}},
        {".reg .b32 %f05; .reg .b64 %f<10>; ??", {{"%f05", 64}, {"%f5", 64}}},
        {".reg .b64 %f1<10>; ??", {{"%f1", 0}, {"%f10", 0}, {"%f15", 0}}},
        {".reg .b64 %f1<10>; .reg .b32 %f<12>; ??", {{"%f1", 32}, {"%f10", 32}, {"%f11", 32}, {"%f12", 0}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < 7 && cases[i].names[k].name; k++) {
            int bits = bits_at(cases[i].body, cases[i].names[k].name);
            if (bits != cases[i].names[k].bits)
                fail_msg("%s\n  %s has %d bits, expected %d", cases[i].body, cases[i].names[k].name, bits,
                         cases[i].names[k].bits);
        }
}

static void check(const char *body, const char *refused)
{
    struct error e;
    struct ptx_module *m = parse(body, "", &e);
    ptx_module_free(m);
    if (!refused && !m)
        fail_msg("%s\n  is refused: %s", body, e.text);
    if (refused && m)
        fail_msg("%s\n  is accepted; expected: %s", body, refused);
    if (refused && !strstr(e.text, refused))
        fail_msg("%s\n  expected: %s\n  found: %s", body, refused, e.text);
}

/* NULL: accepted. */
static void a_scope_has_each_name_once(void **state)
{
    static const struct {
        const char *body, *refused;
    } cases[] = {
        {".reg .f32 %f<40>; .reg .f32 %f<10>;", "duplicate name '%f'"},
        {".reg .f32 %f<10>; .reg .f64 %f<40>;", "duplicate name '%f'"},
        {".reg .f32 %f<10>; .reg .f32 %f<10>;", "duplicate name '%f'"},
        {".reg .f32 %f<10>; .reg .f32 %f5;", "duplicate name '%f5': '%f<10>', declared on line 7, holds it already"},
        {".reg .f32 %f5;\n.reg .f32 %f<10>;", "duplicate name '%f': '%f5' is declared on line 7"},
        {".reg .f32 %f<10>; .reg .f32 %f05;", "duplicate name '%f05'"},
        {".reg .f32 %f05; .reg .f32 %f<10>;", NULL},
        {".reg .f32 %f<10>; .reg .f32 %f4294967296;", "duplicate name '%f4294967296'"},
        {".reg .f32 %f4294967296; .reg .f32 %f<10>;", NULL},
        {".reg .f32 %f<10>; .reg .f32 %f10;", NULL},
        {".reg .f32 %f10; .reg .f32 %f<10>;", NULL},
        {".reg .f32 x<10>; .shared .f32 x5;", "duplicate name 'x5'"},
        {".shared .f32 x5; .reg .f32 x<10>;", "duplicate name 'x': 'x5' is declared"},
        {".shared .f32 x; .reg .f32 x<10>;", NULL},
        {".reg .b32 x<10>; .reg .b32 x;", NULL},
        {".reg .f32 x, x;", "duplicate name 'x'"},
        {".reg .f32 ou<3>; .reg .f32 out;", "duplicate name 'out'"},
        {"{ .reg .b32 a; { .reg .b32 a; } { .reg .b32 a; } }", NULL},
        {"{ .reg .b32 a<3>; { .reg .b32 a<3>; } { .reg .b32 a<3>; } }", NULL},
        {"{ .reg .b32 a<3>; { .reg .b32 a<3>; } .reg .b32 a<3>; }", "duplicate name 'a'"},
        {"{ .reg .b32 a1; } .reg .b32 a<3>;", NULL},
        {".reg .b32 a1; { .reg .b32 a<3>; } { .reg .b32 a<3>; }", NULL},
        {".reg .b32 a<3>; { .reg .b32 a1; } { .reg .b32 a1; }", NULL},
        {".reg .f32 %f1<10>; .reg .f32 %f<12>;", NULL},
        {".reg .b32 L; L: ret;", "duplicate name 'L'"},
        {"L: ret; .reg .b32 L;", "duplicate name 'L'"},
        {".shared .b32 L; L: ret;", "duplicate name 'L'"},
        {"out: ret;", "duplicate name 'out'"},
        {".reg .b32 L; { L: ret; }", NULL},
        {"L: ret; { .reg .b32 L; }", NULL},
        {".reg .b32 x; x: .callprototype _ ();", "duplicate name 'x'"},
        {".reg .b32 x<10>; x5: ret;", NULL},
        {"x5: ret; .reg .b32 x<10>;", NULL},
        {"g5: ret;", NULL},
        {"fun: ret;", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i].body, cases[i].refused);
}

/* A use of a label means what its name means where its scope ends. */
static void labels_share_names_with_registers(void **state)
{
    static const struct {
        const char *body, *refused;
    } cases[] = {
        {".reg .b32 L; { L: bra L; }", NULL},
        {".shared .b32 L; { L: bra L; }", NULL},
        {"{ out: bra out; }", NULL},
        {".reg .b32 L; { bra L; L: ret; }", "'L' is a register, declared on line 7; expected a label"},
        {".shared .b32 L; { bra L; L: ret; }", "'L' is a variable, declared on line 7; expected a label"},
        {"{ bra out; out: ret; }", "'out' is a variable, declared on line 6; expected a label"},
        {"{ bra L; .reg .b32 L; } L: ret;", "'L' is a register"},
        {"L: ret; { .reg .b32 L; bra L; }", "'L' is a register"},
        {"L: ret; { bra L; .reg .b32 L; }", "'L' is a register"},
        {"bra L; .reg .b32 L; { L: ret; }", "'L' is a register"},
        {"{ bra L; L: ret; } { .reg .b32 L; mov.b32 L, 0; }", NULL},
        {".reg .b32 x<10>; { x5: bra x5; mov.b32 x6, 0; }", NULL},
        {".reg .b32 x<10>; { x5: ret; mov.b32 x5, 0; }", "'x5' is a label, declared on line 7; expected a register"},
        {".reg .b32 x<10>; { bra x5; x5: ret; }", "'x5' is a register"},
        {".reg .b32 x<10>; bra x15; x15: ret;", NULL},
        {".reg .b32 x<10>; x5: bra x5;", "'x5' is a register"},
        {"x5: bra x5; .reg .b32 x<10>;", NULL},
        {"bra x5; x5: ret; .reg .b32 x<10>;", "'x5' is a register"},
        {".reg .b32 x5; { x5: bra x5; { .reg .b32 x<10>; mov.b32 x5, 0; } bra x5; } mov.b32 x5, 1;", NULL},
        {".reg .b32 L; { T: .branchtargets L; L: ret; .reg .b32 i; brx.idx i, T; }", "'L' is a register"},
        {".reg .b32 i; T: .branchtargets L; { T: .branchtargets M; brx.idx i, T; M: ret; } L: ret;", NULL},
        {".reg .b64 f, P; { P: .callprototype _ (); call f, P; }", NULL},
        {".shared .b32 L; .reg .b32 r; { L: mov.u32 r, L; }", "'L' is a label"},
        {".shared .b32 L; .reg .b32 r; { mov.u32 r, L; L: ret; }", NULL},
        {"g5: bra g5;", NULL},
        {"bra g5; g5: ret;", "'g5' is a variable, declared on line 4; expected a label"},
        {"bra fun; fun: ret;", "'fun' is a function, declared on line 5; expected a label"},
        {"fun: call fun;", "'fun' is a label, declared on line 7; expected a function"},
        {"bra L; { L: ret; } L: ret;", NULL},
        {"bra L; { L: ret; }", "undefined label 'L'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i].body, cases[i].refused);
}

/* The line of the instruction that the branch in a body's first line goes to. */
static int target_line(const char *body)
{
    struct error e;
    struct ptx_module *m = parse(body, "", &e);
    if (!m)
        fail_msg("%s\n%s", body, e.text);
    const struct ptx_function *f = ptx_find_function(m, "k");
    int line = -1;
    for (uint32_t i = 0; i < f->inst_count; i++)
        if (f->insts[i].operand_count && f->insts[i].operands[0].kind == PTX_OPERAND_LABEL)
            line = f->insts[f->insts[i].operands[0].target].line - 7;
    ptx_module_free(m);
    return line;
}

static void branches_find_the_label_that_ptxas_finds(void **state)
{
    (void)state;
    assert_int_equal(target_line("L: membar.gl;\n { bra L;\n L: membar.gl; }"), 2);
    assert_int_equal(target_line("L: membar.gl;\n { L: membar.gl;\n bra L; }"), 1);
    assert_int_equal(target_line("{ bra L;\n L: membar.gl; }\n L: membar.gl;"), 1);
    assert_int_equal(target_line("{ bra L;\n { L: membar.gl; } }\n L: membar.gl;"), 2);
    /* where the innermost scope ends, only the outermost label is known */
    assert_int_equal(target_line("L: membar.gl;\n { { bra L; }\n L: membar.gl; }"), 0);
    assert_int_equal(target_line("L: membar.gl;\n { { { bra L; } membar.gl; }\n L: membar.gl; }"), 0);
    assert_int_equal(target_line("{ { bra L; }\n L: membar.gl; }\n L: membar.gl;"), 1);
}

/* "did you mean" names something else than what was not found, and nothing of a scope that has ended. */
static void suggestions_are_of_use(void **state)
{
    static const struct {
        const char *body, *wanted, *unwanted;
    } cases[] = {
        {".reg .f32 %f<10>; mov.f32 %f1, %f12;", "did you mean '%f1'?", "'%f12'?"},
        {"{ .reg .f32 %f<10>; mov.f32 %f9, %f8; } .reg .f32 %f<3>; mov.f32 %f2, %f9;", "did you mean '%f2'?", "'%f8'?"},
        {"{ .reg .f32 %f<10>; mov.f32 %f9, %f8; } mov.f32 %f9, %f9;", "undefined register '%f9'", "did you mean '%f"},
        {"{ L: ret; } bra L;", "undefined label 'L'", "did you mean"},
        {"{ L: ret; } LL: ret; bra L;", "undefined label 'L'; did you mean 'LL'?", "'L'?"},
        {".reg .v2 .f32 %vec; mov.v2.f32 %vecc, 0;", "did you mean '%vec'?", "%vec.x"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e;
        check(cases[i].body, cases[i].wanted);
        parse(cases[i].body, "", &e);
        if (strstr(e.text, cases[i].unwanted))
            fail_msg("unwanted: %s in: %s", cases[i].unwanted, e.text);
    }
}

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Ten times the scopes cost some ten times as much, with as many names around them. */
static void scopes_cost_what_they_hold(void **state)
{
    double best[2] = {1e9, 1e9};
    static char text[8 << 20];
    (void)state;
    for (int size = 0; size < 2; size++) {
        int count = size ? 20000 : 2000;
        char *at = text + sprintf(text, HEAD ".entry k() { .reg .b32 %%r<%d>;\n", count);
        for (int i = 0; i < count; i++)
            at += sprintf(at, ".reg .b32 x%d; L%d:\n", i, i);
        for (int i = 0; i < count; i++)
            at += sprintf(at, "{ .reg .b32 %%r<9>, x<9>, y%d; bra L; mov.b32 x%d, %%r%d; bra M%d; M%d: }\n", i, i, i, i,
                          i);
        sprintf(at, "L: }\n");
        for (int repeat = 0; repeat < 3; repeat++) {
            struct error e = {0};
            double start = milliseconds();
            struct ptx_module *m = ptx_parse("t.ptx", text, strlen(text), &e);
            double spent = milliseconds() - start;
            if (!m)
                fail_msg("%s", e.text);
            best[size] = spent < best[size] ? spent : best[size];
            ptx_module_free(m);
        }
    }
    assert_true(best[1] < best[0] * 50 + 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_means_the_innermost_that_has_it),
        cmocka_unit_test(a_scope_has_each_name_once),
        cmocka_unit_test(labels_share_names_with_registers),
        cmocka_unit_test(branches_find_the_label_that_ptxas_finds),
        cmocka_unit_test(suggestions_are_of_use),
        cmocka_unit_test(scopes_cost_what_they_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
