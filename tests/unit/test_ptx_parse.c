/* Does the parser read what PTX allows, and say exactly where and why it refuses the rest? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n" /* three lines */

static struct ptx_module *parse(const char *text)
{
    struct error e = {0};
    struct ptx_module *m = ptx_parse("t.ptx", text, strlen(text), &e);
    if (!m)
        fail_msg("%s", e.text);
    return m;
}

/* The body becomes line 5 and on of a module whose line 4 opens a kernel. */
static char *kernel(const char *body)
{
    size_t size = strlen(body) + 400;
    char *text = malloc(size);
    assert_non_null(text);
    snprintf(
        text, size,
        HEAD
        ".entry k(.param .u64 out) { .reg .b32 %%r<10>; .reg .b64 %%rd<10>; .reg .f32 %%f<10>; .reg .f64 %%fd<4>; .reg "
        ".pred %%p<4>; .reg .v4 .f32 %%v; .reg .b16 h;\n%s\n}\n",
        body);
    return text;
}

/* Parses one instruction and prints it back. */
static void check_print(const char *written, const char *expected)
{
    char out[1000];
    char *text = kernel(written);
    struct ptx_module *m = parse(text);
    struct ptx_function *f = ptx_find_function(m, "k");
    int length = ptx_print_inst(out, sizeof out, f, &f->insts[0]);
    assert_string_equal(out, expected);
    assert_int_equal(length, strlen(expected));
    ptx_module_free(m);
    free(text);
}

static void check_error(const char *text, enum error_kind kind, int line, int column, const char *part)
{
    struct error e = {0};
    struct ptx_module *m = ptx_parse("t.ptx", text, strlen(text), &e);
    if (m) {
        ptx_module_free(m);
        fail_msg("accepted: %s", text);
    }
    if (e.line != line || e.column != column || !strstr(e.text, part))
        fail_msg("expected %d:%d '%s', found: %s", line, column, part, e.text);
    assert_int_equal(e.kind, kind);
    assert_non_null(strchr(e.text, '^'));
}

/* An error in a kernel's body; line 1 is the first of the body. */
static void check_body_error(const char *body, int line, int column, const char *part)
{
    char *text = kernel(body);
    check_error(text, ERROR_SYNTAX, line + 4, column, part);
    free(text);
}

static void test_instructions_print_back(void **state)
{
    (void)state;
    static const char *const same[] = {
        "add.s32 %r1, %r2, -5;",
        "@!%p1 mov.f32 %f1, 0f3F800000;",
        "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, _}, [%rd1+16];",
        "setp.lt.and.s32 %p1|%p2, %r1, 4, !%p3;",
        "shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;",
        "st.shared::cluster.u32 [%rd1-4], %r1;",
        "mov.u32 %r1, %tid.x;",
        "mov.u64 %rd1, %clock64;",
        "vadd.s32.u32.s32 %r1, %r2.b0, %r3.h1;",
        "vadd4.u32.u32.u32 %r1.b210, %r2.b7654, %r3.b3210, %r1;",
        "vmad.s32.s32.u32 %r1, %r2, %r3, -%r4;",
        "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}|%p1, [%rd1, {%r1, %r2}], %f5;",
        "ret;",
        "bar.sync 0;",
        "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;",
        "ld.param.u64 %rd1, [out];",
        "mov.b64 {%r1, %r2}, %rd1;",
        ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%rd1], [%rd2, {%r1, %r2}], "
         "[%rd3];"),
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check_print(same[i], same[i]);
    check_print("mov .u32 %r1 , 0x10U ;", "mov.u32 %r1, 16;");
    check_print("mov.f64 %fd1, -1.5;", "mov.f64 %fd1, 0dBFF8000000000000;");
    check_print("mov.f64 %fd1, .5e1;", "mov.f64 %fd1, 0d4014000000000000;");
    check_print("mov.f32 %f1, -0F00000000;", "mov.f32 %f1, 0f80000000;");
    check_print("ld.global.u32 %r1, [%rd1+-4];", "ld.global.u32 %r1, [%rd1-4];");
    check_print("ld.global.u32 %r1, [16];", "ld.global.u32 %r1, [16];");
    check_print("mov.f32 %f1, %v.w;", "mov.f32 %f1, %v.w;");
    check_print("mov.f32 %f1, %v.b;", "mov.f32 %f1, %v.z;");
    check_print("mov.v4.f32 {%f1,%f2,%f3,%f4}, %v;", "mov.v4.f32 {%f1, %f2, %f3, %f4}, {%v.x, %v.y, %v.z, %v.w};");
    check_print("mov.v4.u32 {%r1,%r2,%r3,_}, %ctaid;",
                "mov.v4.u32 {%r1, %r2, %r3, _}, {%ctaid.x, %ctaid.y, %ctaid.z, %ctaid.w};");
}

static void test_short_buffers(void **state)
{
    (void)state;
    char out[8] = "xxxxxxx";
    struct ptx_module *m = parse(HEAD ".entry k() { .reg .b32 %r<3>; add.s32 %r1, %r2, 5; }");
    struct ptx_function *f = ptx_find_function(m, "k");
    assert_int_equal(ptx_print_inst(out, sizeof out, f, &f->insts[0]), 20);
    assert_string_equal(out, "add.s32");
    assert_int_equal(ptx_print_inst(NULL, 0, f, &f->insts[0]), 20);
    ptx_module_free(m);
}

static void test_constant_expressions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"7/2", 3},
        {"-7/2", -3},
        {"-7 % 4", 1}, /* unsigned: as the real assembler has it */
        {"1<<4|3", 19},
        {"~0", -1},
        {"!5", 0},
        {"!0", 1},
        {"WARP_SZ-1", 31},
        {"5>3 ? 7 : 9", 7},
        {"5<3 ? 7 : 9", 9},
        {"0x7FFFFFFFFFFFFFFF+1", INT64_MIN},
        {"0b101", 5},
        {"017", 15},
        {"0xFFFFFFFFFFFFFFFF/2", INT64_MAX},
        {"(.s64)0xFFFFFFFFFFFFFFFF/2", 0},
        {"-1 < 1U", 0},
        {"-1 < 1", 1},
        {"6&3^1", 3},
        {"1&&0||1", 1},
        {"(0x7FFFFFFFFFFFFFFF+1)/-1", INT64_MIN},
        {"-8>>1", -4},
        {"1<<64", 0},
        {"-1>>70", -1},
        {"2.0 < 3", 1},
        {"10%WARP_SZ", 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[100];
        snprintf(line, sizeof line, "mov.u64 %%rd1, %s;", cases[i].text);
        char *text = kernel(line);
        struct ptx_module *m = parse(text);
        const struct ptx_operand *o = &ptx_find_function(m, "k")->insts[0].operands[1];
        assert_int_equal(o->kind, PTX_OPERAND_INT);
        if (o->integer != cases[i].value)
            fail_msg("%s gives %lld", cases[i].text, (long long)o->integer);
        ptx_module_free(m);
        free(text);
    }
}

static void test_suffixes_keep_their_order(void **state)
{
    (void)state;
    struct ptx_module *m = parse(HEAD ".entry k() { .reg .b32 %r<3>; .reg .f32 %f; cvt.rzi.ftz.sat.s32.f32 %r1, %f; }");
    const struct ptx_inst *in = &ptx_find_function(m, "k")->insts[0];
    assert_int_equal(in->opcode, PTX_OP_cvt);
    assert_string_equal(in->spelling, "cvt.rzi.ftz.sat.s32.f32");
    assert_int_equal(in->modifier_count, 3);
    assert_int_equal(in->modifiers[0], PTX_MOD_RZI);
    assert_int_equal(in->modifiers[2], PTX_MOD_SAT);
    assert_int_equal(in->type_count, 2);
    assert_int_equal(in->types[0], PTX_S32);
    assert_int_equal(in->types[1], PTX_F32);
    assert_int_equal(in->type_position[0], 3);
    assert_true(ptx_has_modifier(in, PTX_MOD_FTZ));
    assert_false(ptx_has_modifier(in, PTX_MOD_RN));
    ptx_module_free(m);
}

static void test_scopes_hide_names(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(HEAD ".entry k() { .reg .b32 %r<5>, x;\n"
                   "L: mov.b32 x, 1;\n"
                   "{ .reg .f32 x, %r2; bra L; mov.f32 x, %r2; L: mov.b32 %r3, %r4; { bra L; bra OUT; } }\n"
                   "mov.b32 x, %r2; bra L; OUT: ret; }");
    struct ptx_function *f = ptx_find_function(m, "k");
    const struct ptx_inst *in = f->insts;
    assert_int_equal(f->inst_count, 9);
    assert_int_equal(in[1].operands[0].target, 3);
    assert_int_equal(in[2].operands[0].reg->type, PTX_F32);
    assert_int_equal(in[2].operands[1].reg->type, PTX_F32);
    assert_int_equal(in[4].operands[0].target, 3);
    assert_int_equal(in[5].operands[0].target, 8);
    assert_ptr_equal(in[6].operands[0].reg, in[0].operands[0].reg);
    assert_int_equal(in[6].operands[1].reg->type, PTX_B32);
    assert_int_equal(in[7].operands[0].target, 0);
    for (uint32_t i = 0; i < f->reg_count; i++)
        assert_int_equal(f->regs[i]->index, i);
    ptx_module_free(m);
}

static void test_sibling_scope_labels_stay_apart(void **state)
{
    (void)state;
    check_body_error("{ bra L; }\n{ L: ret; }", 1, 7, "undefined label 'L'");
    struct ptx_module *m = parse(HEAD ".entry k() { { D: bra D; } { bra D; D: } D: ret; }");
    struct ptx_function *f = ptx_find_function(m, "k");
    assert_int_equal(f->insts[0].operands[0].target, 0);
    assert_int_equal(f->insts[1].operands[0].target, 2);
    assert_int_equal(f->label_count, 3);
    ptx_module_free(m);
}

static void test_only_used_registers_exist(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(HEAD ".entry k() { .reg .b32 %r<1000000>, %s<20>; mov.b32 %r999999, %s19; mov.b32 %r3, %r999999; }");
    struct ptx_function *f = ptx_find_function(m, "k");
    assert_int_equal(f->reg_count, 3);
    assert_string_equal(f->regs[0]->name, "%r999999");
    assert_string_equal(f->regs[1]->name, "%s19");
    ptx_module_free(m);
    check_body_error("mov.b32 %r10, 0;", 1, 9, "undefined register '%r10'");
}

static void test_bodies_always_end(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        uint32_t count;
    } cases[] = {
        {"", 1},           {"ret;", 1},      {"@%p1 ret;", 2},       {"bra END; END:", 2},
        {"exit; END:", 1}, {"L: bra L;", 1}, {"mov.u32 %r1, 1;", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = kernel(cases[i].body);
        struct ptx_module *m = parse(text);
        assert_int_equal(ptx_find_function(m, "k")->inst_count, cases[i].count);
        ptx_module_free(m);
        free(text);
    }
}

static void test_calls(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(HEAD ".func (.param .b32 r) f (.param .b32 x);\n.func g;\n"
                   ".entry k() { .reg .b32 a; .reg .b64 p; .param .b32 q; .param .b32 s;\n"
                   "T: .callprototype (.param .b32 _) _ (.param .b32 _) ; C: .calltargets f, f;\n"
                   "call.uni (q), f, (s); call g; call g, (); call (q), p, (s), T; call (q), p, (s), C; call later, "
                   "(a, 1); ret; }\n"
                   ".func (.param .b32 r) f (.param .b32 x) { ret; }\n.func later (.reg .b32 x, .reg .u32 y) { ret; }");
    const struct ptx_inst *in = ptx_find_function(m, "k")->insts;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(in[i].operands[0].kind, PTX_OPERAND_LIST);
        assert_int_equal(in[i].operands[2].kind, PTX_OPERAND_LIST);
        assert_int_equal(in[i].operand_count, i == 3 || i == 4 ? 4 : 3);
    }
    assert_ptr_equal(in[0].operands[1].function, ptx_find_function(m, "f"));
    assert_false(in[0].operands[1].function->is_declaration);
    assert_int_equal(in[1].operands[2].element_count, 0);
    assert_int_equal(in[3].operands[1].kind, PTX_OPERAND_REG);
    assert_int_equal(in[3].operands[3].table->kind, PTX_TABLE_PROTOTYPE);
    assert_int_equal(in[3].operands[3].table->param_count, 1);
    assert_int_equal(in[4].operands[3].table->kind, PTX_TABLE_CALL);
    assert_ptr_equal(in[4].operands[3].table->functions[1], ptx_find_function(m, "f"));
    assert_ptr_equal(in[5].operands[1].function, ptx_find_function(m, "later"));
    assert_non_null(ptx_find_function(m, "later")->params[1]->reg);
    assert_true(ptx_find_function(m, "g")->is_declaration);
    ptx_module_free(m);
}

static void test_branch_tables(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(HEAD ".entry k() { .reg .b32 i; brx.idx i, ts; A: ret; ts: .branchtargets B, A, B; B: ret; }");
    const struct ptx_operand *o = &ptx_find_function(m, "k")->insts[0].operands[1];
    assert_int_equal(o->kind, PTX_OPERAND_TABLE);
    assert_int_equal(o->table->count, 3);
    assert_int_equal(o->table->targets[0], 2);
    assert_int_equal(o->table->targets[1], 1);
    ptx_module_free(m);
}

static void test_parameters_are_laid_out(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(HEAD ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .align 4 .b8 "
                   "c[6], .param .v2 .f32 d, .param .f64 e)\n"
                   ".maxntid 128, 2\n.minnctapersm 3\n.maxnreg 40\n.reqnctapercluster 2, 1, 1\n{ ret; }");
    struct ptx_function *f = ptx_find_function(m, "k");
    static const uint32_t offsets[] = {0, 8, 16, 24, 32};
    assert_int_equal(f->param_count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(f->param_offsets[i], offsets[i]);
    assert_int_equal(f->param_bytes, 40);
    assert_int_equal(f->maxntid[0], 128);
    assert_int_equal(f->maxntid[1], 2);
    assert_int_equal(f->maxntid[2], 1);
    assert_int_equal(f->reqntid[0], 0);
    assert_int_equal(f->minnctapersm, 3);
    assert_int_equal(f->maxnreg, 40);
    assert_int_equal(f->reqnctapercluster[0], 2);
    assert_int_equal(f->linkage, PTX_LINK_VISIBLE);
    ptx_module_free(m);
}

static void test_initialisers(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(HEAD ".global .s16 a[2][3] = {{1}, {2, 3, -1}};\n.global .u32 b[] = {5, 6, 7};\n.global .v2 "
                   ".f32 c[2] = {{1.0, 0f40000000}, {-1.0}};\n"
                   ".const .b8 d[4] = {1, 2};\n.global .f64 e = 0d3FF0000000000000;\n.global .u32 f, g = "
                   "9;\n.global .b32 h[2][2] = {1, 2, 3};");
    const struct ptx_variable *a = ptx_find_variable(m, "a"), *b = ptx_find_variable(m, "b"),
                              *c = ptx_find_variable(m, "c");
    assert_int_equal(a->size_bytes, 12);
    assert_int_equal(a->count, 6);
    assert_memory_equal(a->init, ((const int16_t[]){1, 0, 0, 2, 3, -1}), 12);
    assert_int_equal(b->size_bytes, 12);
    assert_false(b->unsized);
    assert_memory_equal(b->init, ((const uint32_t[]){5, 6, 7}), 12);
    assert_int_equal(c->size_bytes, 16);
    assert_int_equal(c->align_bytes, 8);
    assert_memory_equal(c->init, ((const float[]){1, 2, -1, 0}), 16);
    assert_memory_equal(ptx_find_variable(m, "d")->init, "\1\2\0\0", 4);
    assert_memory_equal(ptx_find_variable(m, "e")->init, &(double){1}, 8);
    assert_null(ptx_find_variable(m, "f")->init);
    assert_int_equal(ptx_find_variable(m, "g")->init[0], 9);
    assert_memory_equal(ptx_find_variable(m, "h")->init, ((const uint32_t[]){1, 2, 3, 0}), 16);
    ptx_module_free(m);
}

static void test_relocations(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(HEAD ".global .u32 x[4];\n.func f;\n.global .u64 a[4] = {x, x+4, generic(x)-8, f};\n.global .u8 "
                   "b[3] = {0xFF(x), 7, 0xFF00(generic(x)+4)};\n"
                   ".global .u64 early = late;\n.global .u32 late;");
    const struct ptx_variable *a = ptx_find_variable(m, "a"), *b = ptx_find_variable(m, "b");
    assert_int_equal(a->relocation_count, 4);
    assert_string_equal(a->relocations[1].symbol, "x");
    assert_int_equal(a->relocations[1].offset, 8);
    assert_int_equal(a->relocations[1].size_bytes, 8);
    assert_int_equal(a->relocations[1].addend, 4);
    assert_false(a->relocations[1].generic);
    assert_true(a->relocations[2].generic);
    assert_int_equal(a->relocations[2].addend, -8);
    assert_true(a->relocations[2].mask == UINT64_MAX);
    assert_string_equal(a->relocations[3].symbol, "f");
    assert_int_equal(b->relocation_count, 2);
    assert_int_equal(b->relocations[1].offset, 2);
    assert_int_equal(b->relocations[1].mask, 0xFF00);
    assert_int_equal(b->relocations[1].shift, 8);
    assert_int_equal(b->relocations[1].addend, 4);
    assert_int_equal(b->init[1], 7);
    ptx_module_free(m);
}

static void test_linkage_and_attributes(void **state)
{
    (void)state;
    struct ptx_module *m = parse(
        HEAD ".extern .global .u32 x[];\n.extern .shared .align 16 .b8 dyn[];\n.extern .shared .align 16 .b8 "
             "dyn[];\n.visible .global .attribute(.managed) .u32 y;\n"
             ".global .u32 x[4];\n.weak .const .b32 w;\n.common .global .b32 c;\n.global .texref t;\n.tex .u32 old;\n"
             ".func a; .func b { ret; } .alias a, b;");
    assert_int_equal(ptx_find_variable(m, "x")->size_bytes, 16);
    assert_int_equal(ptx_find_variable(m, "x")->linkage, PTX_LINK_INTERNAL);
    assert_true(ptx_find_variable(m, "dyn")->unsized);
    assert_int_equal(ptx_find_variable(m, "dyn")->align_bytes, 16);
    assert_true(ptx_find_variable(m, "y")->managed);
    assert_int_equal(ptx_find_variable(m, "w")->linkage, PTX_LINK_WEAK);
    assert_int_equal(ptx_find_variable(m, "c")->linkage, PTX_LINK_COMMON);
    assert_int_equal(ptx_find_variable(m, "old")->type, PTX_TEXREF);
    assert_int_equal(m->variable_count, 7);
    assert_int_equal(ptx_find_function(m, "a")->inst_count, 1);
    ptx_module_free(m);
}

static void test_source_lines(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(HEAD ".file 1 \"a.cu\"\n.entry k() {\nret;\n.loc 1 12 5\nret;\n.loc 1 13 2, function_name "
                   "$L__info_string0, inlined_at 1 9 1\nret; }\n"
                   ".entry j() { ret; }\n.section .debug_str\n{\n$L__info_string0:\n.b8 95,90\n.b32 "
                   ".debug_abbrev\n.b64 $L__info_string0+4\n}\n");
    const struct ptx_inst *in = ptx_find_function(m, "k")->insts;
    assert_int_equal(in[0].source_line, 0);
    assert_int_equal(in[1].source_file, 1);
    assert_int_equal(in[1].source_line, 12);
    assert_int_equal(in[1].source_column, 5);
    assert_int_equal(in[1].line, 8);
    assert_int_equal(in[2].source_line, 13);
    assert_int_equal(ptx_find_function(m, "j")->insts[0].source_line, 0);
    assert_string_equal(m->files[0].name, "a.cu");
    ptx_module_free(m);
}

static void test_module_header(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse("//\r\n# 12 \"x.cu\"\n/* a\n b */ .version 7.8\r\n.target sm_90a, debug, texmode_independent\r\n");
    assert_int_equal(m->version_major, 7);
    assert_int_equal(m->version_minor, 8);
    assert_int_equal(m->target_sm, 90);
    assert_string_equal(m->target, "sm_90a");
    assert_true(m->debug_target && m->texmode_independent);
    assert_int_equal(m->address_size, 64);
    ptx_module_free(m);
    struct error e = {0};
    static const char with_end[] = HEAD ".address_size 32\n\0";
    m = ptx_parse("t.ptx", with_end, sizeof with_end, &e);
    assert_non_null(m);
    assert_int_equal(m->address_size, 32);
    ptx_module_free(m);
}

static void test_errors_in_modules(void **state)
{
    (void)state;
    check_error("", ERROR_SYNTAX, 1, 1, "expected '.version'");
    check_error("hello", ERROR_SYNTAX, 1, 1, "found 'hello'");
    check_error(".version 7", ERROR_SYNTAX, 1, 10, "expected a version");
    check_error(".version 12.0", ERROR_VERSION, 1, 10, "PTX version 12.0");
    check_error(".version 7.0\n", ERROR_SYNTAX, 2, 1, "expected a .target");
    check_error(".version 7.0\n.target gfx900", ERROR_SYNTAX, 2, 9, "unknown target 'gfx900'");
    check_error(HEAD ".glabal .u32 x;", ERROR_SYNTAX, 4, 1, "did you mean '.global'");
    check_error(HEAD ".global .u33 x;", ERROR_SYNTAX, 4, 9, "did you mean 'u32'");
    check_error(HEAD ".global .u32 x;\n.const .u32 x;", ERROR_SYNTAX, 5, 13,
                "duplicate symbol 'x': first declared on line 4");
    check_error(HEAD ".func f { ret; }\n.func f { ret; }", ERROR_SYNTAX, 5, 7, "duplicate symbol 'f'");
    check_error(HEAD ".global .u32 x[2] = {1,2,3};", ERROR_SYNTAX, 4, 26, "too many initialisers");
    check_error(HEAD ".global .u64 x = nothing;", ERROR_SYNTAX, 4, 18, "undefined name 'nothing'");
    check_error(HEAD ".global .align 3 .u32 x;", ERROR_SYNTAX, 4, 16, "power of two");
    check_error(HEAD ".global .u32 x = 1/0;", ERROR_SYNTAX, 4, 19, "division by zero");
    check_error(HEAD ".global .u32 x = 99999999999999999999;", ERROR_SYNTAX, 4, 18, "does not fit 64 bits");
    check_error(HEAD ".global .f32 x = 0f123;", ERROR_SYNTAX, 4, 18, "exactly 8 hexadecimal digits");
    check_error(HEAD ".global .u32 x = 1.5;", ERROR_SYNTAX, 4, 18, "a floating-point value cannot initialise .u32");
    check_error(HEAD ".global .f32 x[2] = {1.0, 1};", ERROR_SYNTAX, 4, 27, "an integer cannot initialise .f32");
    check_error(HEAD ".shared .u32 x = 1;", ERROR_SYNTAX, 4, 16, "no initial value");
    check_error(HEAD ".shared .u32 x[];", ERROR_SYNTAX, 4, 14, "has no size");
    check_error(HEAD ".global .pred x;", ERROR_SYNTAX, 4, 15, "lives in a register");
    check_error(HEAD "/* never", ERROR_SYNTAX, 4, 1, "never closed");
    check_error(HEAD ".entry k() { ret;", ERROR_SYNTAX, 4, 18, "the text ends here");
    check_error(HEAD ".entry k() .maxntidd 3 { ret; }", ERROR_SYNTAX, 4, 12, "did you mean '.maxntid'");
    check_error(HEAD ".pragma nounroll;", ERROR_SYNTAX, 4, 9, "expected a string");
    check_error(HEAD "\x01", ERROR_SYNTAX, 4, 1, "0x01");
}

static void test_errors_in_bodies(void **state)
{
    (void)state;
    check_body_error("\tadd.s32 %r1, %r2, %r99;", 1, 20, "undefined register '%r99'");
    check_body_error("add.s32 %r1, %tid.q, 1;", 1, 18, "components");
    check_body_error("ad.s32 %r1, %r2, 1;", 1, 1, "unknown instruction 'ad'; did you mean 'add'?");
    check_body_error("ld.globl.u32 %r1, [%rd1];", 1, 3, "unknown suffix '.globl' of 'ld'; did you mean 'global'?");
    check_body_error("ld.global.u32x %r1, [%rd1];", 1, 10, "unknown suffix '.u32x'");
    check_body_error("bra $L1;\n$L2: ret;", 1, 5, "undefined label '$L1'; did you mean '$L2'?");
    check_body_error("L: ret;\nL: ret;", 2, 1, "duplicate name 'L': first declared on line 5");
    check_body_error(".reg .b32 x;\n.reg .f32 x;", 2, 11, "duplicate name 'x'");
    check_body_error(".reg .b32 %r3;", 1, 11, "duplicate name '%r3'");
    check_body_error("@%r1 ret;", 1, 2, "expected a predicate register");
    check_body_error("@%p9 ret;", 1, 2, "undefined register '%p9'");
    check_body_error("ld.global.u32 %r1, %rd1;", 1, 20, "an address in brackets");
    check_body_error("st.global.u32 %r1, %rd1;", 1, 15, "an address in brackets");
    check_body_error("add.s32 5, %r1, %r2;", 1, 9, "a register to write to");
    check_body_error("add.s32 %r1, %r2", 2, 1, "expected ';', found '}'");
    check_body_error("mov.u32 %r1, nothing;", 1, 14, "undefined name 'nothing'");
    check_body_error("call nothing;", 1, 6, "undefined function 'nothing'");
    check_body_error("mov.f32 %f1, %v.q;", 1, 16, "no component");
    check_body_error("mov.f32 %f1, %f2.x;", 1, 17, "is not a vector");
    check_body_error("bra out;", 1, 5, "'out' is a variable, declared on line 4; expected a label");
    check_body_error("mov.u32 %r1, 0x;", 1, 16, "malformed number");
    check_body_error(".branchtargets L;", 1, 1, "needs a label");
    check_body_error("}", 2, 1, "expected a directive");
}

/* Bytes that drive recursion or repetition must end in an error, soon. */
static void test_hostile_input(void **state)
{
    (void)state;
    static const struct {
        const char *start;
        char filler;
    } cases[] = {
        {HEAD ".global .u32 x = ", '('},
        {HEAD ".global .u32 x = ", '-'},
        {HEAD ".global .u32 x = ", '{'},
        {HEAD ".entry k() ", '{'},
        {HEAD ".entry k() { mov.b32 ", '{'},
        {HEAD ".entry k() { .reg .b32 ", 'a'},
        {HEAD, '\n'},
        {HEAD, ';'},
        {HEAD "\"", 'x'},
        {"", '\xff'},
    };
    size_t size = 1 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e = {0};
        size_t head = strlen(cases[i].start);
        memcpy(text, cases[i].start, head);
        memset(text + head, cases[i].filler, size - head);
        struct ptx_module *m = ptx_parse("t.ptx", text, size, &e);
        if (cases[i].filler == '\n' || cases[i].filler == ';')
            assert_non_null(m);
        else
            assert_true(!m && e.kind == ERROR_SYNTAX);
        ptx_module_free(m);
    }
    free(text);
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 20);
    assert_non_null(text);
    *size = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

/* Every prefix of a module that uses all directives: an error or a module, never anything else. */
static void test_truncated_modules(void **state)
{
    (void)state;
    static const char *const paths[] = {"tests/data/ptx/forms.ptx", "tests/data/ptx/version14.ptx"};
    for (size_t i = 0; i < 2; i++) {
        size_t size;
        char *text = read_file(paths[i], &size);
        for (size_t cut = 0; cut < size; cut++) {
            struct error e = {0};
            struct ptx_module *m = ptx_parse("t.ptx", text, cut, &e);
            assert_true(m || (e.kind && e.line > 0 && e.text[0]));
            ptx_module_free(m);
        }
        struct error e = {0};
        struct ptx_module *m = ptx_parse(paths[i], text, size, &e);
        if (!m)
            fail_msg("%s", e.text);
        ptx_module_free(m);
        free(text);
    }
}

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* of this thread alone: the machine may be busy */
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Cost grows with the text and not faster: ten times the module takes some ten times as long (more, where caches end),
 * not a hundred times. */
static void test_time_is_linear(void **state)
{
    (void)state;
    double best[2] = {1e9, 1e9};
    for (int size = 0; size < 2; size++) {
        int lines = size ? 200000 : 20000;
        char *text = malloc(200 + (size_t)lines * 64);
        assert_non_null(text);
        char *at = text + sprintf(text, HEAD ".entry k() { .reg .b32 %%r<%d>; .reg .pred %%p;\n", lines);
        for (int i = 0; i < lines; i += 2)
            at += sprintf(at, "L%d: add.s32 %%r%d, %%r%d, 1;\n@%%p bra L%d;\n", i, i, (i * 7) % lines,
                          (i * 3) % lines & ~1);
        at += sprintf(at, "}\n");
        for (int repeat = 0; repeat < 3; repeat++) {
            struct error e = {0};
            double start = milliseconds();
            struct ptx_module *m = ptx_parse("t.ptx", text, (size_t)(at - text), &e);
            double spent = milliseconds() - start;
            best[size] = spent < best[size] ? spent : best[size];
            assert_non_null(m);
            ptx_module_free(m);
        }
        free(text);
    }
    assert_true(best[1] < best[0] * 50 + 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instructions_print_back),
        cmocka_unit_test(test_short_buffers),
        cmocka_unit_test(test_constant_expressions),
        cmocka_unit_test(test_suffixes_keep_their_order),
        cmocka_unit_test(test_scopes_hide_names),
        cmocka_unit_test(test_sibling_scope_labels_stay_apart),
        cmocka_unit_test(test_only_used_registers_exist),
        cmocka_unit_test(test_bodies_always_end),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_branch_tables),
        cmocka_unit_test(test_parameters_are_laid_out),
        cmocka_unit_test(test_initialisers),
        cmocka_unit_test(test_relocations),
        cmocka_unit_test(test_linkage_and_attributes),
        cmocka_unit_test(test_source_lines),
        cmocka_unit_test(test_module_header),
        cmocka_unit_test(test_errors_in_modules),
        cmocka_unit_test(test_errors_in_bodies),
        cmocka_unit_test(test_hostile_input),
        cmocka_unit_test(test_truncated_modules),
        cmocka_unit_test(test_time_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
