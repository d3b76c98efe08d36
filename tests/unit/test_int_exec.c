/* Integer, logic, comparison, move, address and video instructions from PTX text to memory: one row an instruction,
 * what its sources hold, and the result. All rows are one kernel, run by one warp; every second row's guard leaves out
 * the odd lanes, which must keep what they had. */
#include "gpu/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct row {
    char kind;        /* of the result: h l r f g p, q for the pair's second predicate */
    const char *text; /* destination %K0, sources %K1.. of any kind; %p3 is true, %p4 false, in all lanes */
    uint64_t a, b, c; /* in h, r, l, f, g registers 1 2 3 alike, cut to their width */
    uint64_t expected;
};

static const struct row rows[] = {
    {'r', "add.s32 %r0, %r1, %r2;", 0xffffffff, 3, 0, 2},
    {'r', "add.s32 %r0, %r1, -5;", 3, 0, 0, 0xfffffffe},
    {'r', "add.sat.s32 %r0, %r1, %r2;", 0x7fffffff, 1, 0, 0x7fffffff},
    {'r', "sub.sat.s32 %r0, %r1, %r2;", 0x80000000, 1, 0, 0x80000000},
    {'r', "add.u16x2 %r0, %r1, %r2;", 0xffff0001, 0x0001ffff, 0, 0},
    {'h', "add.s16 %h0, %h1, %h2;", 0xffff, 2, 0, 1},
    {'l', "add.s64 %l0, %l1, %l2;", 0xffffffffffffffff, 3, 0, 2},
    {'l', "sub.u64 %l0, %l1, %l2;", 0, 1, 0, 0xffffffffffffffff},
    {'l', "mul.wide.s32 %l0, %r1, %r2;", 0xffffffff, 4, 0, 0xfffffffffffffffc},
    {'l', "mul.wide.u32 %l0, %r1, %r2;", 0xffffffff, 4, 0, 0x3fffffffc},
    {'r', "mul.wide.s16 %r0, %h1, %h2;", 0xffff, 4, 0, 0xfffffffc},
    {'r', "mul.hi.u32 %r0, %r1, %r2;", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
    {'r', "mul.hi.s32 %r0, %r1, %r2;", 0xffffffff, 2, 0, 0xffffffff},
    {'l', "mul.hi.s64 %l0, %l1, %l2;", 0xffffffffffffffff, 2, 0, 0xffffffffffffffff},
    {'h', "mul.hi.u16 %h0, %h1, %h2;", 0xffff, 0xffff, 0, 0xfffe},
    {'r', "mad.lo.s32 %r0, %r1, %r2, %r3;", 5, 7, 0xffffffff, 34},
    {'r', "mad.hi.sat.s32 %r0, %r1, %r2, %r3;", 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
    {'l', "mad.wide.u32 %l0, %r1, %r2, %l3;", 0xffffffff, 2, 3, 0x200000001},
    {'r', "mul24.lo.s32 %r0, %r1, %r2;", 0x00ffffff, 5, 0, 0xfffffffb},
    {'r', "mul24.hi.u32 %r0, %r1, %r2;", 0xffffffff, 0x10000, 0, 0x00ffffff},
    {'r', "mad24.lo.u32 %r0, %r1, %r2, %r3;", 0xff000003, 5, 1, 16},
    {'r', "div.s32 %r0, %r1, %r2;", 0xfffffff9, 2, 0, 0xfffffffd},
    {'r', "rem.s32 %r0, %r1, %r2;", 0xfffffff9, 2, 0, 0xffffffff},
    {'h', "div.u16 %h0, %h1, %h2;", 0xfff9, 2, 0, 0x7ffc},
    {'l', "rem.u64 %l0, %l1, %l2;", 0xffffffffffffffff, 10, 0, 5},
    {'r', "abs.s32 %r0, %r1;", 0x80000000, 0, 0, 0x80000000},
    {'h', "neg.s16 %h0, %h1;", 1, 0, 0, 0xffff},
    {'r', "min.s32 %r0, %r1, %r2;", 0xffffffff, 1, 0, 0xffffffff},
    {'r', "min.u32 %r0, %r1, %r2;", 0xffffffff, 1, 0, 1},
    {'r', "max.relu.s16x2 %r0, %r1, %r2;", 0xffff0003, 0xfffe0002, 0, 3},
    {'r', "max.u16x2 %r0, %r1, %r2;", 0xffff0003, 0x00010004, 0, 0xffff0004},
    {'h', "max.s16 %h0, %h1, %h2;", 0xffff, 1, 0, 1},
    {'r', "sad.s32 %r0, %r1, %r2, %r3;", 0xffffffff, 4, 10, 15},
    {'h', "sad.u16 %h0, %h1, %h2, %h3;", 2, 0xffff, 4, 1},
    {'r', "dp4a.s32.u32 %r0, %r1, %r2, %r3;", 0xff020304, 0xff010101, 100, (uint32_t)(100 - 255 + 9)},
    {'r', "dp2a.hi.u32.u32 %r0, %r1, %r2, %r3;", 0x00020003, 0x05070909, 1, 1 + 2 * 5 + 3 * 7},
    {'r', "popc.b64 %r0, %l1;", 0xff000000000000ff, 0, 0, 16},
    {'r', "clz.b32 %r0, %r1;", 0, 0, 0, 32},
    {'r', "bfind.shiftamt.s32 %r0, %r1;", 0xfffffff0, 0, 0, 28},
    {'r', "bfind.u64 %r0, %l1;", 0, 0, 0, 0xffffffff},
    {'l', "brev.b64 %l0, %l1;", 1, 0, 0, 0x8000000000000000},
    {'r', "fns.b32 %r0, %r1, %r2, %r3;", 0xaaaaaaaa, 2, 0xffffffff, 1},
    {'r', "bfe.s32 %r0, %r1, %r2, %r3;", 0x00f0, 4, 4, 0xffffffff},
    {'l', "bfi.b64 %l0, %l1, %l2, 32, 8;", 0xff, 1, 0, 0xff00000001},
    {'r', "bmsk.clamp.b32 %r0, %r1, %r2;", 4, 8, 0, 0xff0},
    {'r', "szext.wrap.s32 %r0, %r1, %r2;", 0x80, 40, 0, 0xffffff80},
    {'l', "add.cc.u32 %r0, %r1, %r2; addc.u32 %r4, %r1, 0; mov.b64 %l0, {%r0, %r4};", 0xffffffff, 1, 0, 0},
    {'r', "sub.cc.u32 %r4, %r1, %r2; subc.u32 %r0, %r3, 0;", 1, 2, 10, 9},
    {'r', "mad.lo.cc.u32 %r4, %r1, %r2, %r3; madc.hi.u32 %r0, %r1, %r2, 0;", 0xffffffff, 0xffffffff, 0xffffffff,
     0xffffffff},
    {'l', "add.cc.u64 %l4, %l1, %l2; addc.cc.u64 %l0, %l1, %l3;", 0xffffffffffffffff, 1, 5, 5},
    {'r', "and.b32 %r0, %r1, %r2;", 0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00},
    {'h', "not.b16 %h0, %h1;", 0x00ff, 0, 0, 0xff00},
    {'h', "cnot.b16 %h0, %h1;", 0x10000, 0, 0, 1},
    {'p', "xor.pred %p0, %p3, !%p4;", 0, 0, 0, 0},
    {'p', "or.pred %p0, %p4, !%p4;", 0, 0, 0, 1},
    {'p', "not.pred %p0, %p4;", 0, 0, 0, 1},
    {'r', "lop3.b32 %r0, %r1, %r2, %r3, 0xca;", 0x0000ffff, 0x11111111, 0x22222222, 0x22221111},
    {'r', "lop3.b32 %r0, %r1, %r2, %r3, 0x1a;", 0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0x03cc03cc},
    {'p', "lop3.and.b32 %r0|%p0, %r1, %r2, %r3, 0x80, %p3;", 1, 2, 4, 0},
    {'p', "lop3.or.b32 _|%p0, %r1, %r2, %r3, 0x80, !%p4;", 1, 2, 4, 1},
    {'r', "shl.b32 %r0, %r1, %r2;", 1, 32, 0, 0},
    {'h', "shl.b16 %h0, %h1, %r2;", 0x1234, 8, 0, 0x3400},
    {'h', "shr.s16 %h0, %h1, %r2;", 0x8000, 20, 0, 0xffff},
    {'l', "shr.s64 %l0, %l1, %r2;", 0x8000000000000000, 63, 0, 0xffffffffffffffff},
    {'r', "shf.l.wrap.b32 %r0, %r1, %r2, %r3;", 0x80000000, 1, 33, 3},
    {'r', "shf.r.clamp.b32 %r0, %r1, %r2, %r3;", 0x80000000, 1, 77, 1},
    {'r', "prmt.b32 %r0, %r1, %r2, 0x7531;", 0x33221100, 0x77665544, 0, 0x77553311},
    {'r', "prmt.b32.b4e %r0, %r1, %r2, %r3;", 0x33221100, 0x77665544, 1, 0x66770011},
    {'r', "prmt.b32.ecl %r0, %r1, %r2, %r3;", 0x33221100, 0x77665544, 2, 0x33222222},
    {'p', "setp.lt.s32 %p0, %r1, %r2;", 0xffffffff, 1, 0, 1},
    {'p', "setp.lo.u32 %p0, %r1, %r2;", 0xffffffff, 1, 0, 0},
    {'p', "setp.hs.u64 %p0, %l1, %l2;", 0xffffffff00000000, 1, 0, 1},
    {'p', "setp.ge.s64 %p0, %l1, %l2;", 0xffffffff00000000, 1, 0, 0},
    {'p', "setp.gt.s16 %p0, %h1, %h2;", 0x1ffff, 1, 0, 0},
    {'p', "setp.ne.and.s32 %p0|%p1, %r1, %r2, !%p3;", 1, 2, 0, 0},
    {'q', "setp.ne.xor.s32 %p0|%p1, %r1, %r2, %p3;", 1, 2, 0, 1},
    {'q', "setp.eq.s32 %p0|%p1, %r1, %r2;", 1, 2, 0, 1},
    {'p', "setp.lt.f32 %p0, %f1, %f2;", 0x7fc00000, 0x3f800000, 0, 0},
    {'p', "setp.ltu.f32 %p0, %f1, %f2;", 0x7fc00000, 0x3f800000, 0, 1},
    {'p', "setp.equ.f32 %p0, %f1, %f2;", 0x80000000, 0, 0, 1},
    {'p', "setp.ne.f32 %p0, %f1, %f2;", 0x7fc00000, 0, 0, 0},
    {'p', "setp.neu.f64 %p0, %g1, %g2;", 0x7ff8000000000000, 0, 0, 1},
    {'p', "setp.num.f64 %p0, %g1, %g2;", 0x7ff8000000000000, 0, 0, 0},
    {'p', "setp.nan.f32 %p0, %f1, %f1;", 0x7fc00000, 0, 0, 1},
    {'p', "setp.gt.f32 %p0, %f1, %f2;", 1, 0, 0, 1},
    {'p', "setp.gt.ftz.f32 %p0, %f1, %f2;", 1, 0, 0, 0},
    {'p', "setp.gt.f32 %p0, %f1, 0f3F000000;", 0x3f800000, 0, 0, 1},
    {'p', "setp.lt.f16 %p0, %h1, %h2;", 0x8000, 0x0001, 0, 1},
    {'p', "setp.lt.ftz.f16 %p0, %h1, %h2;", 0x8000, 0x0001, 0, 0},
    {'p', "setp.geu.bf16 %p0, %h1, %h2;", 0xff80, 0x7f81, 0, 1},
    {'q', "setp.lt.f16x2 %p0|%p1, %r1, %r2;", 0x3c004000, 0x40003c00, 0, 1},
    {'p', "setp.lt.f16x2 %p0|%p1, %r1, %r2;", 0x3c004000, 0x40003c00, 0, 0},
    {'r', "set.lt.u32.s32 %r0, %r1, %r2;", 0xffffffff, 0, 0, 0xffffffff},
    {'f', "set.lt.f32.s32 %f0, %r1, %r2;", 0xffffffff, 0, 0, 0x3f800000},
    {'r', "set.gt.f16x2.f16x2 %r0, %r1, %r2;", 0x3c004000, 0x40003c00, 0, 0x00003c00},
    {'r', "set.le.or.u32.f64 %r0, %g1, %g2, %p4;", 0x3ff0000000000000, 0x3ff0000000000000, 0, 0xffffffff},
    {'h', "set.eq.bf16.bf16 %h0, %h1, %h2;", 0x8000, 0, 0, 0x3f80},
    {'r', "selp.b32 %r0, %r1, %r2, %p4;", 5, 6, 0, 6},
    {'l', "selp.b64 %l0, %l1, %l2, !%p4;", 5, 6, 0, 5},
    {'f', "slct.f32.f32 %f0, %f1, %f2, %f3;", 1, 2, 0x80000000, 1},
    {'f', "slct.f32.f32 %f0, %f1, %f2, %f3;", 1, 2, 0x7fc00000, 2},
    {'r', "slct.ftz.u32.f32 %r0, %r1, %r2, %f3;", 1, 2, 0x80000001, 1},
    {'h', "slct.b16.s32 %h0, %h1, %h2, %r3;", 1, 2, 0xffffffff, 2},
    {'l', "mov.b64 %l0, {%r1, %r2};", 5, 6, 0, 0x600000005},
    {'r', "mov.b64 {_, %r0}, %l1;", 0x600000005, 0, 0, 6},
    {'l', "mov.b64 %l0, {%h1, %h2, %h3, 7};", 1, 2, 3, 0x0007000300020001},
    {'r', "mov.b32 {%h4, %h5}, %r1; mov.b32 %r0, {%h5, %h4};", 0x12345678, 0, 0, 0x56781234},
    {'l', "mov.b128 %o0, {%l1, %l2}; mov.b128 %o1, %o0; mov.b128 {%l4, %l0}, %o1;", 5, 6, 0, 6},
    {'r', "mov.b16 %h4, {%c0, %c1}; mov.b16 {%c0, %c1}, %h1; mov.b32 %r0, {%c1, %c0, 3, 4};", 0xabcd, 0, 0, 0x0403cdab},
    {'r', "mov.v2.u32 {%r4, %r0}, {%r0, %r1}; mov.v2.u32 {%r0, %r4}, {%r4, %r0}; mov.u32 %r0, %r4;", 9, 0, 0, 9},
    {'r', "mov.v4.u32 {%r0, %r4, %r5, %r6}, %ntid;", 0, 0, 0, 32},
    {'h', "mov.u16 %h0, %ntid.x;", 0, 0, 0, 32},
    {'p', "mov.pred %p0, !%p3;", 0, 0, 0, 0},
    {'f', "mov.f32 %f0, 0fBF800000;", 0, 0, 0, 0xbf800000},
    {'p', "mov.u64 %l4, %clock64; mov.u64 %l5, %clock64; setp.lt.u64 %p0, %l4, %l5;", 0, 0, 0, 1},
    {'l', "mov.u64 %l4, sh; cvta.shared.u64 %l5, sh+4; cvta.to.shared.u64 %l0, %l5; sub.u64 %l0, %l0, %l4;", 0, 0, 0,
     4},
    {'p', "cvta.shared.u64 %l5, sh; isspacep.shared %p0, %l5;", 0, 0, 0, 1},
    {'p', "cvta.shared.u64 %l5, sh; isspacep.global %p0, %l5;", 0, 0, 0, 0},
    {'p', "cvta.global.u64 %l5, gl; isspacep.global %p0, %l5;", 0, 0, 0, 1},
    {'p', "mov.u64 %l4, lo; cvta.local.u64 %l5, %l4; isspacep.local %p0, %l5;", 0, 0, 0, 1},
    {'p', "cvta.param.u64 %l5, p_out; ld.u64 %l4, [%l5]; setp.eq.u64 %p0, %l4, %out;", 0, 0, 0, 1},
    {'r', "mapa.shared::cluster.u32 %r4, sh, 0; getctarank.shared::cluster.u32 %r0, %r4;", 0, 0, 0, 0},
    {'p', "cvta.shared.u64 %l5, sh; mapa.u64 %l4, %l5, 0; isspacep.shared::cluster %p0, %l4;", 0, 0, 0, 1},
    {'r', "vadd.s32.u32.s32.sat %r0, %r1, %r2;", 0xffffffff, 5, 0, 0x7fffffff},
    {'r', "vsub.u32.u32.u32 %r0.b1, %r1.b3, %r2.b0, %r3;", 0x05000000, 2, 0x11112222, 0x11110322},
    {'r', "vmad.s32.s32.s32.shr7 %r0, %r1.h0, -%r2, %r3;", 0x80, 2, 0, 0xfffffffe},
    {'r', "vset.s32.u32.lt.add %r0, %r1, %r2, %r3;", 0xffffffff, 0, 41, 42},
    {'r', "vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3;", 0x01020304, 0x04030201, 1, 9},
    {'r', "vadd4.u32.u32.u32.sat %r0.b20, %r1.b7654, %r2.b3333, %r3;", 0x80000000, 0x01ff0390, 0x11223344, 0x11ff33ff},
    {'r', "vmax2.s32.s32.s32 %r0, %r1.h01, %r2, %r3;", 0x0001fff0, 0x00050006, 0, 0x00050006},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* What a destination holds before. */
#define BEFORE 0x5a5a5a5a5a5a5a5aull

static void emit_row(FILE *f, int index)
{
    const struct row *r = &rows[index];
    const uint64_t values[] = {r->a, r->b, r->c};
    fprintf(f,
            "mov.b64 %%l0, 0x%llx; mov.b64 %%g0, %%l0; mov.b32 %%r0, 0x5a5a5a5a; mov.b32 %%f0, %%r0; mov.b16 %%h0, "
            "0x5a5a;\n",
            BEFORE);
    fprintf(f, "mov.pred %%p0, %%p4; mov.pred %%p1, %%p4;\n");
    for (int k = 1; k <= 3; k++) {
        uint64_t v = values[k - 1];
        fprintf(f,
                "mov.b64 %%l%d, 0x%llx; mov.b64 %%g%d, %%l%d; mov.b32 %%r%d, 0x%x; mov.b32 %%f%d, %%r%d; mov.b16 "
                "%%h%d, 0x%x;\n",
                k, (unsigned long long)v, k, k, k, (uint32_t)v, k, k, k, (uint16_t)v);
    }
    const char *text = r->text, *end;
    while ((end = strchr(text, ';'))) {
        fprintf(f, "%s%.*s;\n", index & 1 ? "@%p5 " : "", (int)(end - text), text);
        text = end + 1;
    }
    uint32_t at = (uint32_t)index * 256;
    switch (r->kind) {
    case 'h': fprintf(f, "cvt.u64.u16 %%l7, %%h0;\n"); break;
    case 'r': fprintf(f, "cvt.u64.u32 %%l7, %%r0;\n"); break;
    case 'f': fprintf(f, "mov.b32 %%r7, %%f0; cvt.u64.u32 %%l7, %%r7;\n"); break;
    case 'g': fprintf(f, "mov.b64 %%l7, %%g0;\n"); break;
    case 'p': fprintf(f, "selp.u64 %%l7, 1, 0, %%p0;\n"); break;
    case 'q': fprintf(f, "selp.u64 %%l7, 1, 0, %%p1;\n"); break;
    default: fprintf(f, "mov.b64 %%l7, %%l0;\n"); break;
    }
    fprintf(f, "st.global.u64 [%%out_lane+%u], %%l7;\n", at);
}

static char *make_ptx(void)
{
    char *text;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    fprintf(
        f, ".version 8.8\n.target sm_90\n.address_size 64\n.shared .align 8 .b8 sh[64];\n.global .align 8 .b8 gl[64];\n"
           ".visible .entry k(.param .u64 p_out) {\n.local .align 8 .b8 lo[16];\n"
           ".reg .pred %%p<8>; .reg .b16 %%h<8>; .reg .b32 %%r<8>; .reg .b64 %%l<8>; .reg .f32 %%f<8>; .reg .f64 "
           "%%g<8>; .reg .b128 %%o<2>;\n"
           ".reg .b8 %%c<4>; .reg .b64 %%out, %%out_lane;\n"
           "ld.param.u64 %%out, [p_out]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%l1, %%r1, 8; add.u64 %%out_lane, %%out, "
           "%%l1;\n"
           "setp.eq.u32 %%p3, %%r1, %%r1; not.pred %%p4, %%p3; and.b32 %%r1, %%r1, 1; setp.eq.u32 %%p5, %%r1, 0;\n");
    for (int i = 0; i < ROWS; i++)
        emit_row(f, i);
    fprintf(f, "ret;\n}\n");
    fclose(f);
    return text;
}

static uint64_t before(char kind)
{
    return kind == 'h'                  ? (uint16_t)BEFORE
           : kind == 'r' || kind == 'f' ? (uint32_t)BEFORE
           : kind == 'p' || kind == 'q' ? 0
                                        : BEFORE;
}

/* Prints every row that went wrong; their number. */
static int compare_rows(const uint64_t *out)
{
    int wrong = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int lane = 0; lane < 32; lane++) {
            uint64_t expected = (i & 1) && (lane & 1) ? before(rows[i].kind) : rows[i].expected;
            if (out[i * 32 + lane] == expected)
                continue;
            print_error("lane %d: %s  a %llx b %llx c %llx: %llx, expected %llx\n", lane, rows[i].text,
                        (unsigned long long)rows[i].a, (unsigned long long)rows[i].b, (unsigned long long)rows[i].c,
                        (unsigned long long)out[i * 32 + lane], (unsigned long long)expected);
            wrong++;
            break;
        }
    }
    return wrong;
}

static void test_rows(void **state)
{
    (void)state;
    static struct error e;
    struct gpu_options options;
    memset(&options, 0, sizeof options);
    options.machine = (struct machine){
        .name = "test",
        .cores = 1,
        .sm = {.warps = 48, .blocks = 8, .registers = 65536, .register_granule = 8, .shared_bytes = 49152},
        .memory_bytes = 64 << 20};
    options.functional = true;
    struct gpu *g = gpu_create(&options, &e);
    assert_non_null(g);
    char *text = make_ptx();
    struct ptx_module *m = ptx_parse("rows.ptx", text, strlen(text), &e);
    struct exec_image *image = m ? exec_image_create(g->memory, &m, 1, &e) : NULL;
    if (!image)
        fail_msg("%s", e.text);
    uint64_t out = memory_alloc(g->memory, ROWS * 256, 256, MEMORY_DEVICE, NULL);
    struct gpu_launch launch = {.kernel = exec_image_function(image, "k"),
                                .grid = {1, 1, 1},
                                .block = {32, 1, 1},
                                .params = &out,
                                .params_bytes = 8};
    assert_non_null(launch.kernel);
    if (!gpu_launch(g, &launch, &e))
        fail_msg("%s", e.text);
    assert_int_equal(compare_rows(memory_pointer(out)), 0);
    exec_image_destroy(image);
    gpu_destroy(g);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
