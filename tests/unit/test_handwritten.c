/* The language as people write it by hand: names, constants, declarations, initialisers, scopes, functions, labels; and
 * what is wrong with a text is said. */
#include "handwritten.h"

/* clang-format off */
static const struct hand_case cases[] = {
    { "names_plain", 1, 1, 0, 2, { 7, 3 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .u64 o; .reg .u32 a, b, c; .reg .s32 x; "
      "ld.param.u64 o, [out]; mov.u32 a, 3; mov.u32 b, 4; add.u32 c, a, b; st.global.u32 [o], c; mov.s32 x, a; "
      "st.global.s32 [o+4], x; ret; }" },
    { "names_dollar_under", 1, 1, 0, 2, { 11, 12 },
      HEADER ".visible .entry kernel(.param .u64 $p_0) { .reg .b64 _o; .reg .b32 $a, _1b, %_x, a$1; "
      "ld.param.u64 _o, [$p_0]; mov.b32 $a, 5; mov.b32 _1b, 6; add.s32 %_x, $a, _1b; add.s32 a$1, %_x, 1; "
      "st.global.b32 [_o], %_x; st.global.b32 [_o+4], a$1; exit; }" },
    { "many_decl_line", 1, 1, 0, 1, { 6 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .u32 a<3>, b, c<2>; .reg .u64 o; mov.u32 a0,1; "
      "mov.u32 a1,2; "
      "mov.u32 a2,3; add.u32 b,a0,a1; add.u32 c1,b,a2; ld.param.u64 o,[out]; st.global.u32 [o], c1; ret; }" },
    { "vec_reg", 1, 1, 0, 5, { 0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0x41200000 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .v4 .f32 v; .reg .f32 s; .reg .u64 o; "
      "ld.param.u64 o,[out]; "
      "mov.f32 v.x, 1.0; mov.f32 v.y, 2.0; mov.f32 v.z, 0f40400000; mov.f32 v.w, 4.0; st.global.v4.f32 [o], v; "
      "add.f32 s, v.x, v.y; add.f32 s, s, v.z; add.f32 s, s, v.w; st.global.f32 [o+16], s; ret; }" },
    { "vec_reg_rgba", 1, 1, 0, 6, { 0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0x40000000, 0x3f800000 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .v4 .f32 v, w; .reg .v2 .f32 u; .reg .u64 o; "
      "ld.param.u64 o,[out]; mov.f32 v.r, 1.0; mov.f32 v.g, 2.0; mov.f32 v.b, 3.0; mov.f32 v.a, 4.0; mov.v4.f32 w, v; "
      "st.global.v4.f32 [o], w; mov.v2.f32 u, {v.g, v.x}; st.global.v2.f32 [o+16], u; ret; }" },
    { "imm_forms", 1, 1, 0, 10, { 31, 31, 25, 5, 31, 0xffffffff, 0xffffffe1, 0xfffffffe, 32, 33 },
      HEADER KERNEL "mov.u32 %r0, 0x1F; st.global.b32 [%rd0], %r0; mov.u32 %r0, 0X1f; st.global.b32 [%rd0+4], %r0; "
      "mov.u32 %r0, 031; "
      "st.global.b32 [%rd0+8], %r0; mov.u32 %r0, 0b101; st.global.b32 [%rd0+12], %r0; mov.u32 %r0, 0x1FU; "
      "st.global.b32 [%rd0+16], %r0; mov.u32 %r0, 0xffffffffU; st.global.b32 [%rd0+20], %r0; mov.s32 %r0, -31; "
      "st.global.b32 [%rd0+24], %r0; mov.b32 %r0, ~1; st.global.b32 [%rd0+28], %r0; mov.u32 %r0, WARP_SZ; "
      "st.global.b32 [%rd0+32], %r0; add.u32 %r0, %r0, (WARP_SZ-31); st.global.b32 [%rd0+36], %r0; ret; }" },
    { "imm_float", 1, 1, 0, 10, { 0x3f800000, 0xbfc00000, 0x3f000000, 0x42c80000, 0, 0x3ff00000, 0, 0xc0040000,
        0x3f800000, 0x7f800000 },
      HEADER KERNEL "mov.f32 %f0, 1.0; st.global.b32 [%rd0], %f0; mov.f32 %f0, -1.5; st.global.b32 [%rd0+4], %f0; "
      "mov.f32 %f0, .5; "
      "st.global.b32 [%rd0+8], %f0; mov.f32 %f0, 1e2; st.global.b32 [%rd0+12], %f0; mov.f64 %d0, 0d3FF0000000000000; "
      "st.global.f64 [%rd0+16], %d0; mov.f64 %d0, -2.5; st.global.f64 [%rd0+24], %d0; mov.f32 %f0, 0F3f800000; "
      "st.global.b32 [%rd0+32], %f0; mov.f32 %f1, 0f7F800000; st.global.b32 [%rd0+36], %f1; ret; }" },
    { "imm_float_b32", 1, 1, 0, 4, { 0x3f800000, 0, 0, 0x3ff00000 },
      HEADER KERNEL "mov.b32 %r0, 0f3F800000; st.global.b32 [%rd0], %r0; mov.b64 %rd1, 0d3FF0000000000000; "
      "st.global.b64 [%rd0+8], %rd1; ret; }" },
    { "imm_first_setp", 1, 1, 0, 3, { 1, 0, 1 },
      HEADER KERNEL "setp.lt.u32 %p0, 3, 4; selp.u32 %r0, 1, 0, %p0; st.global.b32 [%rd0], %r0; mov.u32 %r1, 9; "
      "setp.gt.s32 %p0, 5, %r1; selp.u32 %r0, 1, 0, %p0; st.global.b32 [%rd0+4], %r0; setp.eq.f32 %p0, 1.0, 1.0; "
      "selp.u32 %r0, 1, 0, %p0; st.global.b32 [%rd0+8], %r0; ret; }" },
    { "imm_both", 1, 1, 0, 4, { 7, 12, 2, 0xffffffff },
      HEADER KERNEL "add.u32 %r0, 3, 4; st.global.b32 [%rd0], %r0; mul.lo.u32 %r0, 3, 4; st.global.b32 [%rd0+4], %r0; "
      "shl.b32 %r0, 1, 1; st.global.b32 [%rd0+8], %r0; sub.s32 %r0, 3, 4; st.global.b32 [%rd0+12], %r0; ret; }" },
    { "scopes_shadow", 1, 1, 0, 4, { 1, 2, 3, 1 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .u32 r; .reg .u64 o; ld.param.u64 o,[out]; mov.u32 r, 1; "
      "st.global.u32 [o], r; "
      "{ .reg .u32 r; mov.u32 r, 2; st.global.u32 [o+4], r; { .reg .u32 r; mov.u32 r, 3; st.global.u32 [o+8], r; } } "
      "st.global.u32 [o+12], r; ret; }" },
    { "scope_label", 1, 1, 0, 1, { 3 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .u32 r; .reg .u64 o; .reg .pred p; ld.param.u64 o,[out]; "
      "mov.u32 r, 0; { L: add.u32 r, r, 1; setp.lt.u32 p, r, 2; @p bra L; } "
      "{ bra L; mov.u32 r, 100; L: add.u32 r, r, 1; } st.global.u32 [o], r; ret; }" },
    { "label_names", 1, 1, 0, 1, { 5 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .u32 r; .reg .u64 o; ld.param.u64 o,[out]; mov.u32 r, 0; "
      "bra $L__BB0_1; $L__BB0_2: add.u32 r, r, 2; bra %end; $L__BB0_1: add.u32 r, r, 1; bra _loop; "
      "_loop: add.u32 r,r,2; bra $L__BB0_2; %end: st.global.u32 [o], r; ret; }" },
    { "label_keyword", 1, 1, 0, 1, { 4 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .u32 r; .reg .u64 o; ld.param.u64 o,[out]; mov.u32 r, 3; "
      "bra add; mov.u32 r, 50; add: add.u32 r, r, 1; st.global.u32 [o], r; ret; }" },
    { "two_labels_place", 1, 1, 0, 1, { 1 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .u32 r; .reg .u64 o; ld.param.u64 o,[out]; mov.u32 r, 1; "
      "bra A; "
      "A: B: C: st.global.u32 [o], r; bra D; D: ret; E: }" },
    { "guard_all", 1, 1, 0, 8, { 1, 0, 5, 0, 7, 0, 3, 9 },
      HEADER KERNEL "mov.u32 %r0, 0; setp.eq.u32 %p0, %r0, 0; not.pred %p1, %p0; mov.u32 %r1, 0; @%p0 mov.u32 %r1, 1; "
      "st.global.b32 [%rd0], %r1; mov.u32 %r1, 0; @%p1 mov.u32 %r1, 1; st.global.b32 [%rd0+4], %r1; "
      "@!%p1 st.global.u32 [%rd0+8], 5; @%p1 st.global.u32 [%rd0+12], 5; @%p0 atom.global.add.u32 %r2, [%rd0+16], 7; "
      "@%p1 red.global.add.u32 [%rd0+20], 7; @!%p0 bra X; @%p0 st.global.u32 [%rd0+24], 3; X: @%p1 ret; "
      "@%p0 st.global.u32 [%rd0+28], 9; @%p0 exit; st.global.u32 [%rd0+28], 10; ret; }" },
    { "setp_two_dst", 1, 1, 0, 6, { 1, 0, 1, 0, 1, 1 },
      HEADER KERNEL "mov.u32 %r0, 3; mov.u32 %r1, 5; setp.lt.u32 %p0|%p1, %r0, %r1; selp.u32 %r2,1,0,%p0; "
      "st.global.b32 [%rd0], %r2; "
      "selp.u32 %r2,1,0,%p1; st.global.b32 [%rd0+4], %r2; setp.gt.and.s32 %p2|%p3, %r1, %r0, %p0; "
      "selp.u32 %r2,1,0,%p2; st.global.b32 [%rd0+8], %r2; selp.u32 %r2,1,0,%p3; st.global.b32 [%rd0+12], %r2; "
      "setp.eq.or.s32 %p2|%p3, %r1, %r0, !%p1; selp.u32 %r2,1,0,%p2; st.global.b32 [%rd0+16], %r2; "
      "selp.u32 %r2,1,0,%p3; st.global.b32 [%rd0+20], %r2; ret; }" },
    { "setp_sink", 1, 1, 0, 1, { 1 },
      HEADER KERNEL "mov.u32 %r0, 3; setp.eq.xor.u32 _|%p1, %r0, 3, %p0; setp.ne.u32 %p2, %r0, 3; "
      "setp.eq.u32 %p0|_, %r0, 3; "
      "selp.u32 %r2,1,0,%p0; st.global.b32 [%rd0], %r2; ret; }" },
    { "pred_ops", 1, 1, 0, 6, { 1, 0, 1, 1, 0, 1 },
      HEADER KERNEL "setp.eq.u32 %p0, 1, 1; setp.eq.u32 %p1, 1, 2; and.pred %p2, %p0, %p0; selp.b32 %r0,1,0,%p2; "
      "st.global.b32 [%rd0], %r0; and.pred %p2, %p0, %p1; selp.b32 %r0,1,0,%p2; st.global.b32 [%rd0+4], %r0; "
      "or.pred %p2, %p0, %p1; selp.b32 %r0,1,0,%p2; st.global.b32 [%rd0+8], %r0; xor.pred %p2, %p0, %p1; "
      "selp.b32 %r0,1,0,%p2; st.global.b32 [%rd0+12], %r0; not.pred %p2, %p0; selp.b32 %r0,1,0,%p2; "
      "st.global.b32 [%rd0+16], %r0; mov.pred %p3, %p0; selp.b32 %r0,1,0,%p3; st.global.b32 [%rd0+20], %r0; ret; }" },
    { "pred_ops_neg", 1, 1, 0, 2, { 0, 1 },
      HEADER KERNEL "setp.eq.u32 %p0, 1, 1; setp.eq.u32 %p1, 1, 2; mov.pred %p2, !%p0; and.pred %p2, !%p0, !%p1; "
      "selp.b32 %r0,1,0,%p2; st.global.b32 [%rd0], %r0; mov.pred %p2, 1; selp.b32 %r0,1,0,%p2; "
      "st.global.b32 [%rd0+4], %r0; ret; }" },
    { "cvt_pred_selp64", 1, 1, 0, 5, { 0xffffffff, 0xffffffff, 0, 0x40040000, 0x40200000 },
      HEADER KERNEL "setp.eq.u32 %p0, 1, 1; selp.s64 %rd1, -1, 5, %p0; st.global.b64 [%rd0], %rd1; "
      "selp.f64 %d0, 2.5, 1.0, %p0; "
      "st.global.f64 [%rd0+8], %d0; selp.f32 %f0, 0f40200000, %f1, %p0; st.global.b32 [%rd0+16], %f0; ret; }" },
    { "slct_forms", 1, 1, 0, 3, { 1, 2, 0x3f800000 },
      HEADER KERNEL "mov.f32 %f0, -1.0; mov.s32 %r3, 0; slct.u32.s32 %r0, 1, 2, %r3; st.global.b32 [%rd0], %r0; "
      "slct.u32.f32 %r0, 1, 2, %f0; st.global.b32 [%rd0+4], %r0; slct.ftz.f32.f32 %f1, 1.0, 2.0, 0f80000000; "
      "st.global.b32 [%rd0+8], %f1; ret; }" },
    { "comments_everywhere", 1, 1, 0, 1, { 42 },
      HEADER "/* top */ // line\n"
      KERNEL " mov /* in the middle */ .u32 %r0 /* a */ , // b\n"
      " 42 /* multi line */ ;\n"
      "st.global.b32 [%rd0], %r0; ret; /**/ } // end without newline\n" },
    { "addr_expr_neg", 1, 1, 0, 1, { 9 },
      HEADER KERNEL "add.u64 %rd1, %rd0, 16; st.global.u32 [%rd1+-16], 9; ret; }" },
    { "globals_init2", 1, 1, 0, 5, { 0x4030201, 255, 5, 6, 0 },
      HEADER ".global .align 4 .b8 bytes[] = {1,2,3,4}; .global .s8 neg = -1;\n"
      ".global .u32 mm[2][3] = {{1,2,3},{4,5}}; .const .align 8 .u16 h[] = { 6, 7 };\n"
      KERNEL " ld.global.u32 %r0, [bytes]; st.global.b32 [%rd0], %r0; ld.global.u8 %r0, [neg]; "
      "st.global.b32 [%rd0+4], %r0; "
      "ld.global.u32 %r0, [mm+16]; st.global.b32 [%rd0+8], %r0; ld.const.u16 %r1, [h]; st.global.b32 [%rd0+12], %r1; "
      "ld.global.u32 %r0, [mm+20]; st.global.b32 [%rd0+16], %r0; ret; }" },
    { "init_addr", 1, 1, 0, 4, { 77, 88, 1, 77 },
      HEADER ".global .u32 x[2] = {77, 88};\n"
      ".global .u64 px = x;\n"
      ".global .u64 py[2] = {x+4, generic(x)}; .const .u64 pc = generic(x);\n"
      KERNEL " ld.global.u64 %rd1, [px]; ld.global.u32 %r0, [%rd1]; st.global.b32 [%rd0], %r0; "
      "ld.global.u64 %rd1, [py]; "
      "ld.global.u32 %r0, [%rd1]; st.global.b32 [%rd0+4], %r0; ld.global.u64 %rd1, [py+8]; ld.u32 %r0, [%rd1]; "
      "setp.eq.u32 %p0, %r0, 77; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+8], %r0; ld.const.u64 %rd2, [pc]; "
      "ld.u32 %r0, [%rd2]; st.global.b32 [%rd0+12], %r0; ret; }" },
    { "init_func_addr", 1, 1, 0, 1, { 12 },
      HEADER ".func (.reg .u32 r) twice(.reg .u32 a) { add.u32 r, a, a; ret; } .global .u64 fp = twice;\n"
      KERNEL " .reg .u32 q; ld.global.u64 %rd1, [fp]; mov.u32 %r0, 6; P: .callprototype (.reg .u32 _) _ (.reg .u32 _); "
      "call (q), %rd1, (%r0), P; st.global.b32 [%rd0], q; ret; }" },
    { "init_float_hex", 1, 1, 0, 5, { 0x3f800000, 0xc0000000, 0, 0x3fe00000, 15360 },
      HEADER ".global .f32 a[2] = {0f3F800000, -2.0}; .global .f64 b[1] = {0d3FE0000000000000}; "
      ".global .b16 h = 0x3C00;\n"
      KERNEL " ld.global.b32 %r0,[a]; st.global.b32 [%rd0], %r0; ld.global.b32 %r0,[a+4]; st.global.b32 [%rd0+4], %r0; "
      "ld.global.b64 %rd1,[b]; st.global.b64 [%rd0+8], %rd1; ld.global.b16 %h0,[h]; cvt.u32.u16 %r0,%h0; "
      "st.global.b32 [%rd0+16], %r0; ret; }" },
    { "init_neg_expr", 1, 1, 0, 4, { 0xfffffffe, 10, 0x80000000, 32 },
      HEADER ".global .s32 a[] = { -2, (2+3)*2, 1<<31, WARP_SZ }; "
      KERNEL " ld.global.v4.s32 {%r0,%r1,%r2,%r3}, [a]; st.global.v4.s32 [%rd0], {%r0,%r1,%r2,%r3}; ret; }" },
    { "init_vec", 1, 1, 0, 4, { 1, 2, 3, 4 },
      HEADER ".global .v4 .u32 a = {1,2,3,4};\n"
      ".global .v2 .f32 b[2] = {{1.0,2.0},{3.0,4.0}}; "
      KERNEL " ld.global.v4.u32 {%r0,%r1,%r2,%r3}, [a]; st.global.v4.u32 [%rd0], {%r0,%r1,%r2,%r3}; ret; }" },
    { "mov_array_elem", 1, 1, 0, 2, { 3, 3 },
      HEADER ".global .u32 a[4] = {1, 2, 3, 4};\n"
      KERNEL " mov.u64 %rd1, a; ld.global.u32 %r0, [%rd1+8]; st.global.b32 [%rd0], %r0; mov.u64 %rd1, a+8; "
      "ld.global.u32 %r0, [%rd1]; st.global.b32 [%rd0+4], %r0; ret; }" },
    { "array_index_imm", 1, 1, 0, 1, { 3 },
      HEADER ".global .u32 a[4] = {1, 2, 3, 4};\n"
      KERNEL " ld.global.u32 %r0, a[2]; st.global.b32 [%rd0], %r0; ret; }" },
    { "array_index_reg", 1, 1, 0, 1, { 3 },
      HEADER ".global .u32 a[4] = {1, 2, 3, 4};\n"
      KERNEL " mov.u32 %r1, 2; ld.global.u32 %r0, a[%r1]; st.global.b32 [%rd0], %r0; ret; }" },
    { "array_mov_index", 1, 1, 0, 1, { 3 },
      HEADER ".global .u32 a[4] = {1, 2, 3, 4};\n"
      KERNEL " mov.u64 %rd1, a[2]; ld.global.u32 %r0, [%rd1]; st.global.b32 [%rd0], %r0; ret; }" },
    { "const_banks", 1, 1, 0, 1, { 7 },
      HEADER ".const .u32 c = 7;\n"
      KERNEL " ld.const.u32 %r0, [c]; st.global.b32 [%rd0], %r0; ret; }" },
    { "shared_scope", 1, 1, 0, 2, { 11, 22 },
      HEADER ".shared .u32 s1;\n"
      KERNEL " .shared .align 8 .b8 buf[64]; st.shared.u32 [s1], 11; st.shared.u32 [buf+32], 22; bar.sync 0; "
      "ld.shared.u32 %r0,[s1]; st.global.b32 [%rd0], %r0; ld.shared.u32 %r0,[buf+32]; st.global.b32 [%rd0+4], %r0; "
      "ret; }" },
    { "shared_extern_alias", 1, 1, 256, 3, { 5, 5, 6 },
      HEADER ".extern .shared .align 16 .b8 dyn[];\n"
      ".extern .shared .u32 dyn2[];\n"
      ".extern .shared .f64 dyn3[];\n"
      ".shared .u32 fixed[3];\n"
      KERNEL " st.shared.u32 [dyn+4], 5; ld.shared.u32 %r0, [dyn2+4]; st.global.b32 [%rd0], %r0; "
      "ld.shared.u32 %r0, [dyn3+4]; "
      "st.global.b32 [%rd0+4], %r0; st.shared.u32 [fixed+8], 6; ld.shared.u32 %r0, [fixed+8]; "
      "st.global.b32 [%rd0+8], %r0; ret; }" },
    { "local_array", 1, 1, 0, 3, { 10, 20, 10 },
      HEADER KERNEL " .local .align 8 .b8 stk[32]; .reg .u64 sp; mov.u64 sp, stk; st.local.u32 [sp], 10; "
      "st.local.u32 [stk+4], 20; "
      "ld.local.u32 %r0,[stk]; st.global.b32 [%rd0], %r0; ld.local.u32 %r0,[sp+4]; st.global.b32 [%rd0+4], %r0; "
      "cvta.local.u64 %rd1, sp; ld.u32 %r0,[%rd1]; st.global.b32 [%rd0+8], %r0; ret; }" },
    { "local_module_scope", 1, 1, 0, 1, { 4 },
      HEADER KERNEL " .local .u32 lv; st.local.u32 [lv], 4; ld.local.u32 %r0,[lv]; st.global.b32 [%rd0], %r0; ret; }" },
    { "generic_all", 1, 1, 0, 4, { 1, 2, 3, 4 },
      HEADER ".global .u32 gv = 1; .const .u32 cv = 2; .shared .u32 sv; "
      KERNEL " .local .u32 lv; mov.u64 %rd1, gv; cvta.global.u64 %rd1, %rd1; ld.u32 %r0,[%rd1]; "
      "st.global.b32 [%rd0], %r0; "
      "cvta.const.u64 %rd1, cv; ld.u32 %r0,[%rd1]; st.global.b32 [%rd0+4], %r0; st.shared.u32 [sv], 3; "
      "cvta.shared.u64 %rd1, sv; ld.u32 %r0,[%rd1]; st.global.b32 [%rd0+8], %r0; st.local.u32 [lv], 4; "
      "mov.u64 %rd2, lv; cvta.local.u64 %rd1, %rd2; ld.u32 %r0,[%rd1]; st.global.b32 [%rd0+12], %r0; ret; }" },
    { "cvta_to", 1, 1, 0, 2, { 9, 9 },
      HEADER ".shared .u32 sv;\n"
      KERNEL " .local .u32 lv; st.shared.u32 [sv], 9; cvta.shared.u64 %rd1, sv; cvta.to.shared.u64 %rd2, %rd1; "
      "ld.shared.u32 %r0,[%rd2]; st.global.b32 [%rd0], %r0; cvta.to.global.u64 %rd3, %rd0; "
      "st.global.u32 [%rd3+4], %r0; ret; }" },
    { "isspacep_all", 1, 1, 0, 6, { 1, 0, 1, 0, 1, 1 },
      HEADER ".shared .u32 sv; .const .u32 cv;\n"
      KERNEL " .local .u32 lv; isspacep.global %p0, %rd0; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0], %r0; "
      "isspacep.shared %p0, %rd0; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+4], %r0; cvta.shared.u64 %rd1, sv; "
      "isspacep.shared %p0, %rd1; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+8], %r0; isspacep.local %p0, %rd1; "
      "selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+12], %r0; cvta.local.u64 %rd1, lv; isspacep.local %p0, %rd1; "
      "selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+16], %r0; cvta.const.u64 %rd1, cv; isspacep.const %p0, %rd1; "
      "selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+20], %r0; ret; }" },
    { "func_old_style", 1, 1, 0, 1, { 30 },
      HEADER ".func (.reg .u32 res) mul3 (.reg .u32 a, .reg .u32 b) { .reg .u32 t; mul.lo.u32 t, a, b; "
      "mov.u32 res, t; ret; } "
      KERNEL " mov.u32 %r0, 5; call (%r1), mul3, (%r0, 6); st.global.b32 [%rd0], %r1; ret; }" },
    { "func_old_fallthrough", 1, 1, 0, 1, { 5 },
      HEADER ".func (.reg .u32 res) f () { mov.u32 res, 5; } "
      KERNEL " call (%r1), f; st.global.b32 [%rd0], %r1; ret; }" },
    { "func_noargs", 1, 1, 0, 1, { 8 },
      HEADER ".global .u32 g;\n"
      ".func f { st.global.u32 [g], 8; ret; }\n"
      ".func h () { call f; ret; }\n"
      KERNEL " call h; ld.global.u32 %r0, [g]; st.global.b32 [%rd0], %r0; ret; }" },
    { "func_call_uni_empty", 1, 1, 0, 1, { 8 },
      HEADER ".global .u32 g;\n"
      ".func f() { st.global.u32 [g], 8; ret.uni; } "
      KERNEL " call.uni f, (); ld.global.u32 %r0, [g]; st.global.b32 [%rd0], %r0; ret; }" },
    { "func_multi_ret", 1, 1, 0, 2, { 3, 4 },
      HEADER ".func (.reg .u32 q, .reg .u32 r) divmod (.reg .u32 a, .reg .u32 b) { div.u32 q, a, b; rem.u32 r, a, b; "
      "ret; } "
      KERNEL " mov.u32 %r0, 25; call (%r1, %r2), divmod, (%r0, 7); st.global.b32 [%rd0], %r1; "
      "st.global.b32 [%rd0+4], %r2; "
      "ret; }" },
    { "func_param_struct", 1, 1, 0, 3, { 3, 0x40000000, 7 },
      HEADER ".func (.param .align 8 .b8 ret[16]) f (.param .align 4 .b8 s[12]) { .reg .u32 a, c; .reg .f32 b; "
      "ld.param.u32 a, [s]; ld.param.f32 b, [s+4]; ld.param.u32 c, [s+8]; st.param.u32 [ret], a; "
      "st.param.f32 [ret+4], b; st.param.u32 [ret+8], c; ret; } "
      KERNEL " { .param .align 4 .b8 arg[12]; .param .align 8 .b8 rv[16]; st.param.u32 [arg], 3; "
      "st.param.f32 [arg+4], 0f40000000; st.param.b32 [arg+8], 7; call (rv), f, (arg); ld.param.v2.u32 {%r0,%r1}"
      ", [rv]; ld.param.u32 %r2, [rv+8]; } st.global.b32 [%rd0], %r0; st.global.b32 [%rd0+4], %r1; "
      "st.global.b32 [%rd0+8], %r2; ret; }" },
    { "func_param_addr", 1, 1, 0, 1, { 21 },
      HEADER ".func (.param .u32 r) sum (.param .align 4 .b8 s[24]) { .reg .u64 p; .reg .u32 a,t,i; .reg .pred q; "
      "mov.u64 p, s; mov.u32 t,0; mov.u32 i,0; L: ld.param.u32 a,[p]; add.u32 t,t,a; add.u64 p,p,4; add.u32 i,i,1; "
      "setp.lt.u32 q,i,6; @q bra L; st.param.u32 [r], t; ret; } "
      KERNEL " { .param .align 4 .b8 arg[24]; .param .u32 rv; st.param.u32 [arg], 1; st.param.u32 [arg+4], 2; "
      "st.param.u32 [arg+8], 3; st.param.u32 [arg+12], 4; st.param.u32 [arg+16], 5; st.param.u32 [arg+20], 6; "
      "call (rv), sum, (arg); ld.param.u32 %r0, [rv]; } st.global.b32 [%rd0], %r0; ret; }" },
    { "func_decl_first", 1, 1, 0, 1, { 6 },
      HEADER ".func (.reg .u32 r) later (.reg .u32 a); "
      KERNEL " call (%r1), later, (3); st.global.b32 [%rd0], %r1; ret; } "
      ".func (.reg .u32 r) later (.reg .u32 a) { add.u32 r, a, 3; ret; }" },
    { "func_guarded_call", 1, 4, 0, 4, { 100, 0, 100, 0 },
      HEADER ".func (.reg .u32 r) hundred () { mov.u32 r, 100; ret; } "
      KERNEL " mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; mov.u32 %r2, 0; "
      "@%p0 call (%r2), hundred; "
      "mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1; st.global.u32 [%rd1], %r2; ret; }" },
    { "func_ret_guarded", 1, 4, 0, 4, { 1, 1, 2, 2 },
      HEADER ".func (.reg .u32 r) f (.reg .u32 a) { .reg .pred p; mov.u32 r, 1; setp.lt.u32 p, a, 2; @p ret; "
      "mov.u32 r, 2; "
      "ret; } "
      KERNEL " mov.u32 %r0, %tid.x; call (%r2), f, (%r0); mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1; "
      "st.global.u32 [%rd1], %r2; ret; }" },
    { "func_exit_inside", 1, 4, 0, 4, { 7, 0, 7, 0 },
      HEADER ".func f (.reg .u32 a) { .reg .pred p; and.b32 a, a, 1; setp.eq.u32 p, a, 1; @p exit; ret; } "
      KERNEL " mov.u32 %r0, %tid.x; call f, (%r0); mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1; "
      "st.global.u32 [%rd1], 7; ret; }" },
    { "func_64_float_arg", 1, 1, 0, 4, { 0, 0x40120000, 0x34567890, 18 },
      HEADER ".func (.reg .f64 r, .reg .u64 q) f (.reg .f64 a, .reg .f32 b, .reg .u64 c, .reg .u16 d) { .reg .f64 t; "
      "cvt.f64.f32 t, b; add.f64 r, a, t; mov.u64 q, c; ret; } "
      KERNEL " mov.f32 %f0, 2.0; mov.u16 %h0, 3; call (%d0, %rd2), f, (2.5, %f0, 0x1234567890, %h0); "
      "st.global.f64 [%rd0], %d0; st.global.b64 [%rd0+8], %rd2; ret; }" },
    { "brx_idx", 1, 5, 0, 5, { 10, 20, 30, 40, 40 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; min.u32 %r1, %r0, 3; ts: .branchtargets A, B, C, D; brx.idx %r1, ts; "
      "A: mov.u32 %r2, 10; "
      "bra E; B: mov.u32 %r2, 20; bra E; C: mov.u32 %r2, 30; bra E; D: mov.u32 %r2, 40; E: mul.wide.u32 %rd1, %r0, 4; "
      "add.u64 %rd1, %rd0, %rd1; st.global.u32 [%rd1], %r2; ret; }" },
    { "entry_attrs", 1, 32, 0, 1, { 1 },
      HEADER ".visible .entry kernel(.param .u64 buffer) .maxntid 32, 1, 1 .minnctapersm 2 { .reg .u64 o; "
      "ld.param.u64 o,[buffer]; .pragma \"nounroll\"; st.global.u32 [o], 1; ret; }" },
    { "entry_reqntid", 1, 32, 0, 1, { 1 },
      HEADER ".entry kernel(.param .u64 buffer) .reqntid 32 .maxnreg 32 { .reg .u64 o; ld.param.u64 o,[buffer]; "
      "st.global.u32 [o], 1; ret; }" },
    { "debug_dirs", 1, 1, 0, 1, { 1 },
      HEADER ".file 1 \"a.cu\"\n"
      ".file 2 \"b.cu\", 123456, 789\n"
      KERNEL " .loc 1 3 0 mov.u32 %r0, 1; .loc 2 5 7, function_name $info, inlined_at 1 3 0\n"
      "st.global.b32 [%rd0], %r0; ret; } .section .debug_str { info_string0: $info: .b8 95, 90, 0  }" },
    { "section_dwarf", 1, 1, 0, 1, { 1 },
      HEADER KERNEL " LA: mov.u32 %r0, 1; st.global.b32 [%rd0], %r0; ret; } .section .debug_abbrev\n"
      "{ .b8 1\n"
      ".b8 17,1\n"
      ".b32 .debug_abbrev\n"
      ".b64 LA\n"
      "}" },
    { "weak_common", 1, 1, 0, 2, { 5, 0 },
      HEADER ".weak .global .u32 w = 5;\n"
      ".common .global .u32 c;\n"
      KERNEL " ld.global.u32 %r0,[w]; st.global.b32 [%rd0], %r0; ld.global.u32 %r0,[c]; st.global.b32 [%rd0+4], %r0; "
      "ret; }" },
    { "weak_func", 1, 1, 0, 1, { 5 },
      HEADER ".weak .func (.reg .u32 r) f () { mov.u32 r, 5; ret; } "
      KERNEL " call (%r0), f; st.global.b32 [%rd0], %r0; ret; }" },
    { "noreturn_func", 1, 1, 0, 1, { 5 },
      HEADER ".global .u32 g;\n"
      ".func die () .noreturn { exit; }\n"
      KERNEL " st.global.u32 [%rd0], 5; call die; st.global.u32 [%rd0], 6; ret; }" },
    { "visible_global_order", 1, 1, 0, 1, { 3 },
      HEADER ".visible .global .align 4 .u32 gg = 3;\n"
      ".visible .const .align 4 .b8 cc[8];\n"
      KERNEL " ld.global.u32 %r0, [gg]; st.global.b32 [%rd0], %r0; ret; }" },
    { "attribute_managed", 1, 1, 0, 1, { 3 },
      HEADER ".global .attribute(.managed) .align 4 .u32 m = 3; "
      KERNEL " ld.global.u32 %r0, [m]; st.global.b32 [%rd0], %r0; ret; }" },
    { "alias_dir", 1, 1, 0, 1, { 9 },
      HEADER ".visible .func (.param .u32 r) f () { st.param.u32 [r], 9; ret; } .visible .func (.param .u32 r) g ();\n"
      ".alias g, f;\n"
      KERNEL " { .param .u32 x; call (x), g, (); ld.param.u32 %r0,[x]; } st.global.b32 [%rd0], %r0; ret; }" },
    { "kernel_param_kinds", 1, 1, 0, 1, { 1 },
      HEADER ".visible .entry kernel(.param .u64 buffer, .param .align 8 .b8 st[16], .param .u32 arr[2]) { .reg .u64 "
      "o; "
      "ld.param.u64 o,[buffer]; st.global.u32 [o], 1; ret; }" },
    { "kernel_noparen", 1, 1, 0, 1, { 0 },
      HEADER ".entry kernel { ret; }\n" },
    { "kernel_empty_body", 1, 1, 0, 1, { 0 },
      HEADER ".entry kernel() { }\n" },
    { "kernel_param_names_reg", 1, 1, 0, 1, { 1 },
      HEADER ".entry kernel(.param .u64 kernel_param_0) { .reg .u64 %rd<2>; ld.param.u64 %rd1, [kernel_param_0]; "
      "cvta.to.global.u64 %rd1, %rd1; st.global.u32 [%rd1], 1; ret; }" },
    { "param_u8_u16", 1, 1, 0, 1, { 1 },
      HEADER ".entry kernel(.param .u64 b, .param .u8 c, .param .s16 d, .param .f32 e, .param .b8 z) { .reg .u64 o; "
      ".reg .u16 h; .reg .u32 r; ld.param.u64 o,[b]; ld.param.u8 h,[c]; ld.param.s16 r,[d]; st.global.u32 [o], 1; ret; "
      "}" },
    { "idx_reg_scale", 1, 1, 0, 8, { 104, 108, 2, 4, 104, 104, 9, 102 },
      HEADER ".global .u32 a[16] = {100,101,102,103,104,105,106,107,108,109,110,111,112,113,114,115}; "
      ".global .u32 m[4][5] = {{0,1,2,3,4},{5,6,7,8,9},{10,11,12,13,14},{15,16,17,18,19}}; "
      ".global .u64 b[4] = {7,8,9,10};\n"
      KERNEL " mov.u32 %r1, %laneid; add.u32 %r1, %r1, 4; ld.global.u32 %r0, a[%r1]; st.global.b32 [%rd0], %r0; "
      "ld.global.u32 %r0, a[%r1+4]; st.global.b32 [%rd0+4], %r0; ld.global.u32 %r0, m[2]; st.global.b32 [%rd0+8], %r0; "
      "ld.global.u32 %r0, m[%r1]; st.global.b32 [%rd0+12], %r0; cvt.u64.u32 %rd1, %r1; ld.global.u32 %r0, a[%rd1]; "
      "st.global.b32 [%rd0+16], %r0; mov.u64 %rd2, a[%r1]; ld.global.u32 %r0, [%rd2]; st.global.b32 [%rd0+20], %r0; "
      "st.global.u32 a[%r1], 9; ld.global.u32 %r0, [a+16]; st.global.b32 [%rd0+24], %r0; ld.global.u32 %r0, a[2]; "
      "st.global.b32 [%rd0+28], %r0; ret; }" },
    { "idx_neg", 1, 1, 0, 1, { 0xfffffff0 },
      HEADER ".global .u32 a[16] = {100,101,102,103,104,105,106,107,108,109,110,111,112,113,114,115}; "
      ".global .u32 b[16] = {200,201,202,203,204,205,206,207,208,209,210,211,212,213,214,215}; "
      KERNEL " mov.s32 %r1, %laneid; sub.s32 %r1, %r1, 4; mov.u64 %rd1, b[%r1]; mov.u64 %rd2, b; "
      "sub.u64 %rd1, %rd1, %rd2; "
      "cvt.u32.u64 %r0, %rd1; st.global.b32 [%rd0], %r0; ret; }" },
    { "idx_shared_local", 1, 1, 0, 3, { 44, 54, 41 },
      HEADER ".shared .u32 s[8];\n"
      KERNEL " .local .u32 l[8]; mov.u32 %r1, %laneid; add.u32 %r1,%r1,4; st.shared.u32 [s+4], 41; "
      "st.shared.u32 [s+16], 44; "
      "st.local.u32 [l+4], 51; st.local.u32 [l+16], 54; ld.shared.u32 %r0, s[%r1]; st.global.b32 [%rd0], %r0; "
      "ld.local.u32 %r0, l[%r1]; st.global.b32 [%rd0+4], %r0; ld.shared.u32 %r0, s[1]; st.global.b32 [%rd0+8], %r0; "
      "ret; }" },
    { "noaddrsize20", 1, 1, 0, 1, { 4 },
      ".version 2.3\n"
      ".target sm_20\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; ld.param.u64 %rd0,[out]; st.global.u32 [%rd0], 4; ret; }" },
    { "target_opts", 1, 1, 0, 1, { 4 },
      ".version 2.3\n"
      ".target sm_20, texmode_independent\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; ld.param.u64 %rd0,[out]; st.global.u32 [%rd0], 4; ret; }" },
    { "target_map_f64", 1, 1, 0, 2, { 0, 0x3ff80000 },
      ".version 1.4\n"
      ".target sm_10, map_f64_to_f32\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; .reg .f64 d; ld.param.u64 %rd0,[out]; "
      "mov.f64 d, 0d3FF8000000000000; st.global.f64 [%rd0], d; ret; }" },
    { "sm90a", 1, 1, 0, 1, { 4 },
      ".version 8.0\n"
      ".target sm_90a\n"
      ".address_size 64\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; ld.param.u64 %rd0,[out]; st.global.u32 [%rd0], 4; ret; }" },
    { "dyn_div_loop", 1, 32, 0, 32, { 0, 0, 1, 4, 10, 20, 35, 56, 84, 120, 165, 201, 201, 201, 201, 201, 201, 201,
        201, 201, 201, 201, 201, 201, 201, 201, 201, 201, 201, 201, 201, 201 },
      HEADER KERNEL " mov.u32 %r0,%tid.x; mov.u32 %r1,0; mov.u32 %r2,0; O: setp.ge.u32 %p0,%r1,%r0; @%p0 bra E; "
      "mov.u32 %r3,0; "
      "I: add.u32 %r2,%r2,%r3; add.u32 %r3,%r3,1; setp.gt.u32 %p1,%r3,%r1; @%p1 bra N; setp.gt.u32 %p2,%r2,200; "
      "@%p2 bra E; bra I; N: add.u32 %r1,%r1,1; bra O; E: mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; "
      "st.global.u32 [%rd1],%r2; ret; }" },
    { "irreducible", 1, 8, 0, 8, { 43, 44, 43, 44, 43, 44, 43, 44 },
      HEADER KERNEL " mov.u32 %r0,%tid.x; mov.u32 %r2,0; and.b32 %r1,%r0,1; setp.eq.u32 %p0,%r1,0; @%p0 bra B; "
      "A: add.u32 %r2,%r2,1; "
      "bra B; B: add.u32 %r2,%r2,10; setp.lt.u32 %p1,%r2,35; @%p1 bra A; mul.wide.u32 %rd1,%r0,4; "
      "add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1],%r2; ret; }" },
    { "bra_uni_guard", 1, 2, 0, 1, { 4 },
      HEADER KERNEL " setp.eq.u32 %p0,1,1; @%p0 bra.uni A; st.global.u32 [%rd0], 3; bra.uni B; "
      "A: st.global.u32 [%rd0],4; B: ret; }" },
    { "exit_in_loop", 1, 32, 0, 32, { 777, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        777, 777, 777, 777, 777, 777, 777, 777, 777, 777, 777 },
      HEADER KERNEL " mov.u32 %r0,%tid.x; mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; mov.u32 %r1,0; "
      "L: add.u32 %r1,%r1,1; "
      "st.global.u32 [%rd1],%r1; setp.eq.u32 %p0,%r1,%r0; @%p0 exit; setp.lt.u32 %p1,%r1,20; @%p1 bra L; "
      "st.global.u32 [%rd1],777; ret; }" },
    { "mul_entries", 1, 1, 0, 1, { 8 },
      HEADER ".entry other(.param .u64 x) { ret; }\n"
      ".visible .entry kernel(.param .u64 x) { .reg .u64 o; ld.param.u64 o,[x]; st.global.u32 [o],8; ret; } "
      ".entry third { exit; }\n" },
    { "param_reuse_names", 1, 1, 0, 1, { 8 },
      HEADER ".entry other(.param .u64 x) { .reg .u32 a; ret; } "
      ".visible .entry kernel(.param .u64 x) { .reg .u64 a; ld.param.u64 a,[x]; st.global.u32 [a],8; ret; }" },
    { "local_param_space", 1, 1, 0, 1, { 9 },
      HEADER KERNEL " .param .b32 pp; .param .align 8 .b8 arr[16]; st.param.b32 [pp], 9; ld.param.b32 %r0,[pp]; "
      "st.global.b32 [%rd0], %r0; ret; }" },
    { "param_array_kernel", 1, 1, 0, 1, { 1 },
      HEADER ".visible .entry kernel(.param .u64 x, .param .align 8 .b8 s[8]) { .reg .u64 a,b; .reg .u32 r; "
      "ld.param.u64 a,[x]; mov.u64 b, s; ld.param.u32 r,[b+4]; ld.param.u32 r,[s+4]; ld.param.v2.u32 {r,r}, [s]; "
      "st.global.u32 [a],1; ret; }" },
    { "cvta_param2", 1, 1, 0, 2, { 1, 1 },
      HEADER ".visible .entry kernel(.param .u64 x, .param .u32 y) { .reg .u64 a,b; .reg .pred p; .reg .u32 r; "
      "mov.b64 b, x; "
      "cvta.param.u64 b,b; ld.u64 a,[b]; st.global.u32 [a],1; isspacep.param p, b; selp.u32 r,1,0,p; "
      "st.global.u32 [a+4],r; ret; }" },
    { "grid_constant", 1, 1, 0, 1, { 1 },
      HEADER ".visible .entry kernel(.param .u64 x, .param .align 4 .b8 y[4]) { .reg .u64 a; ld.param.u64 a,[x]; "
      "st.global.u32 [a],1; ret; }" },
    { "tex_texref_unbound", 1, 1, 0, 1, { 1 },
      HEADER ".global .texref tr; .global .surfref sr; "
      ".visible .entry kernel(.param .u64 x) { .reg .u64 a; ld.param.u64 a,[x]; st.global.u32 [a],1; ret; }" },
    { "extern_func_decl_unused", 1, 1, 0, 1, { 1 },
      HEADER ".extern .func (.param .b32 r) printf (.param .b64 f, .param .b64 a); "
      ".visible .entry kernel(.param .u64 x) { .reg .u64 a; ld.param.u64 a,[x]; st.global.u32 [a],1; ret; }" },
    { "st_narrow", 1, 1, 0, 4, { 136, 30600, 0x55667788, 0xccdd00dd },
      HEADER KERNEL "mov.u64 %rd1, 0x1122334455667788; st.global.u8 [%rd0], %rd1; st.global.u16 [%rd0+4], %rd1; "
      "st.global.u32 [%rd0+8], %rd1; mov.u32 %r1, 0xaabbccdd; st.global.b8 [%rd0+12], %r1; "
      "st.global.b16 [%rd0+14], %r1; ret; }" },
    { "ld_into_wide", 1, 1, 0, 8, { 43707, 0, 0xffffaabb, 0xffffffff, 0x8899aabb, 0xffffffff, 136, 0xffffff88 },
      HEADER KERNEL "st.global.u32 [%rd0+64], 0x8899aabb; ld.global.u16 %rd1,[%rd0+64]; st.global.b64 [%rd0], %rd1; "
      "ld.global.s16 %rd1,[%rd0+64]; st.global.b64 [%rd0+8], %rd1; ld.global.s32 %rd1,[%rd0+64]; "
      "st.global.b64 [%rd0+16], %rd1; ld.global.b8 %r1,[%rd0+67]; st.global.b32 [%rd0+24], %r1; "
      "ld.global.s8 %h1,[%rd0+67]; cvt.s32.s16 %r1,%h1; st.global.b32 [%rd0+28], %r1; ret; }" },
    { "vec_types", 1, 1, 0, 16, { 3, 4, 1, 2, 4, 3, 0x20000, 65536, 256, 0, 0, 0, 3, 4, 1, 2 },
      HEADER KERNEL "st.global.v4.u32 [%rd0+64], {1,2,3,4}; ld.global.v2.u64 {%rd1,%rd2},[%rd0+64]; "
      "st.global.v2.b64 [%rd0], {"
      "%rd2,%rd1}; ld.global.v2.f32 {%f1,%f2},[%rd0+72]; st.global.v2.f32 [%rd0+16],{%f2,%f1}; ld.global.v4.u16 {"
      "%h0,%h1,%h2,%h3},[%rd0+64]; st.global.v4.u16 [%rd0+24],{%h3,%h2,%h1,%h0}; ld.global.v2.u8 {%r1,%r2},[%rd0+64]; "
      "st.global.v2.u8 [%rd0+32],{%r2,%r1}; ld.global.v2.f64 {%d0,%d1},[%rd0+64]; "
      "st.global.v2.f64 [%rd0+48],{%d1,%d0}; "
      "ret; }" },
    { "vec_imm_mix", 1, 1, 0, 4, { 9, 0, 255, 0xffffffff },
      HEADER KERNEL "mov.u32 %r1, 9; st.global.v4.u32 [%rd0], {%r1, 0, 0xff, -1}; ret; }" },
    { "vec_same_reg", 1, 1, 0, 2, { 5, 5 },
      HEADER KERNEL "st.global.u32 [%rd0+64], 5; ld.global.v2.u32 {%r1,%r2},[%rd0+64]; "
      "st.global.v2.u32 [%rd0], {%r1,%r1}; ret; }" },
    { "addr_overwrite", 1, 1, 0, 2, { 1, 1 },
      HEADER KERNEL "st.global.u64 [%rd0+64], %rd0; add.u64 %rd3,%rd0,64; ld.global.u64 %rd3,[%rd3]; "
      "setp.eq.u64 %p0,%rd3,%rd0; "
      "selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0], %r0; ld.global.v2.u32 {%r1,%r0},[%rd3]; "
      "st.global.b32 [%rd0+4], %r1; "
      "ret; }" },
    { "shared32", 1, 1, 0, 2, { 5, 6 },
      HEADER ".shared .align 4 .b8 s[16];\n"
      KERNEL " .reg .u32 a; mov.u32 a, s; add.u32 a, a, 4; st.shared.u32 [a], 5; st.shared.u32 [a+4], 6; "
      "ld.shared.u32 %r1,[s+4]; st.global.b32 [%rd0], %r1; cvta.shared.u64 %rd1, s; ld.u32 %r1,[%rd1+8]; "
      "st.global.b32 [%rd0+4], %r1; ret; }" },
    { "shared_cvt_addr", 1, 1, 0, 1, { 5 },
      HEADER ".shared .u32 s;\n"
      KERNEL " .reg .u32 a; .reg .u64 g; mov.u64 %rd1, s; cvt.u32.u64 a, %rd1; st.shared.u32 [a], 5; cvt.u64.u32 g, a; "
      "cvta.shared.u64 g, g; ld.u32 %r1,[g]; st.global.b32 [%rd0], %r1; ret; }" },
    { "local_neg", 1, 1, 0, 1, { 7 },
      HEADER KERNEL " .local .align 16 .b8 depot[64]; .reg .b64 SP, SPL; mov.u64 SPL, depot; cvta.local.u64 SP, SPL; "
      "add.u64 %rd1, SP, 32; add.u64 %rd2, SPL, 32; st.local.u32 [%rd2+-4], 7; ld.u32 %r1,[%rd1+-4]; "
      "st.global.b32 [%rd0], %r1; ret; }" },
    { "global_cvta_name", 1, 1, 0, 1, { 8 },
      HEADER ".global .u32 g = 8;\n"
      KERNEL " cvta.global.u64 %rd1, g; ld.u32 %r1,[%rd1]; st.global.b32 [%rd0], %r1; ret; }" },
    { "mov_symbol_off", 1, 1, 0, 1, { 9 },
      HEADER ".global .u32 g[4] = {6,7,8,9};\n"
      KERNEL " mov.u64 %rd1, g+4; ld.global.u32 %r1,[%rd1+8]; st.global.b32 [%rd0], %r1; ret; }" },
    { "generic_op", 1, 1, 0, 1, { 8 },
      HEADER ".global .u32 g[4] = {6,7,8,9};\n"
      KERNEL " mov.u64 %rd1, g; cvta.global.u64 %rd1,%rd1; ld.u32 %r1,[%rd1+8]; st.global.b32 [%rd0], %r1; ret; }" },
    { "addr_imm_add", 1, 1, 0, 1, { 3 },
      HEADER KERNEL "mov.u32 %r1, 64; cvt.u64.u32 %rd1, %r1; add.s64 %rd1, %rd0, %rd1; st.global.u32 [%rd1 + -64], 3; "
      "ret; }" },
    { "pred_const", 1, 1, 0, 3, { 1, 2, 1 },
      HEADER KERNEL ".reg .pred t, f; setp.ne.s32 t, 0, 1; mov.pred f, !t; @f bra X; @!f st.global.u32 [%rd0], 1; "
      "X: mov.pred t, 0; "
      "selp.u32 %r0, 1, 2, t; st.global.b32 [%rd0+4], %r0; or.pred t, t, 1; selp.u32 %r0, 1, 2, t; "
      "st.global.b32 [%rd0+8], %r0; ret; }" },
    { "func_i64_struct", 1, 1, 0, 4, { 13, 0, 11, 0 },
      HEADER ".func (.param .align 16 .b8 r[16]) f(.param .b64 a, .param .b32 b, .param .b64 c) { .reg .b64 x,y; "
      ".reg .b32 z; "
      "ld.param.b64 x,[a]; ld.param.b32 z,[b]; ld.param.b64 y,[c]; st.param.v2.b64 [r+0], {y,x}; ret; } "
      KERNEL " { .param .b64 p0; st.param.b64 [p0+0], 11; .param .b32 p1; st.param.b32 [p1+0], 12; .param .b64 p2; "
      "st.param.b64 [p2+0], 13; .param .align 16 .b8 retval0[16]; call.uni (retval0), f, (p0, p1, p2); "
      "ld.param.v2.b64 {%rd1,%rd2},[retval0+0]; } st.global.b64 [%rd0], %rd1; st.global.b64 [%rd0+8], %rd2; ret; }" },
    { "func_small_params", 1, 1, 0, 2, { 253, 0 },
      HEADER ".func (.param .b32 r) f(.param .b32 a, .param .b32 b) { .reg .b32 x,y; .reg .b16 h; ld.param.u8 h,[a]; "
      "cvt.u32.u16 x,h; ld.param.s16 y,[b]; add.s32 x,x,y; st.param.b32 [r], x; ret; } "
      KERNEL " { .param .b32 p0, p1, rv; st.param.b32 [p0], 0x1ff; st.param.b32 [p1], 0xfffe; call (rv), f, (p0,p1); "
      "ld.param.b32 %r1,[rv]; } st.global.b32 [%rd0], %r1; ret; }" },
    { "func_nested_params", 1, 1, 0, 1, { 21 },
      HEADER ".func (.param .b32 r) inc(.param .b32 a) { .reg .b32 x; ld.param.b32 x,[a]; add.u32 x,x,1; "
      "st.param.b32 [r],x; "
      "ret; } .func (.param .b32 r) twice(.param .b32 a) { .reg .b32 x; .param .b32 t1, t2; ld.param.b32 x,[a]; "
      "st.param.b32 [t1],x; call (t2), inc, (t1); ld.param.b32 x,[t2]; st.param.b32 [t1],x; call (t2), inc, (t1); "
      "ld.param.b32 x,[t2]; st.param.b32 [r],x; ret; } "
      KERNEL " { .param .b32 a, b; st.param.b32 [a], 19; call (b), twice, (a); ld.param.b32 %r1,[b]; } "
      "st.global.b32 [%rd0], %r1; ret; }" },
    { "fact_recursive", 1, 8, 0, 8, { 1, 1, 2, 6, 24, 120, 720, 5040 },
      HEADER ".func (.param .u32 r) fact(.param .u32 n) { .reg .u32 a, b; .reg .pred p; ld.param.u32 a,[n]; "
      "setp.gt.u32 p,a,1; @p bra REC; st.param.u32 [r], 1; ret; REC: { .param .u32 x, y; sub.u32 b,a,1; "
      "st.param.u32 [x],b; call (y), fact, (x); ld.param.u32 b,[y]; } mul.lo.u32 a,a,b; st.param.u32 [r],a; ret; } "
      KERNEL " mov.u32 %r0,%tid.x; { .param .u32 x, y; st.param.u32 [x],%r0; call (y), fact, (x); "
      "ld.param.u32 %r1,[y]; } "
      "mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1],%r1; ret; }" },
    { "indirect_divergent", 1, 4, 0, 4, { 1, 2, 1, 2 },
      HEADER ".func (.param .u32 r) f1() { st.param.u32 [r], 1; ret; } "
      ".func (.param .u32 r) f2() { st.param.u32 [r], 2; ret; } "
      KERNEL " mov.u32 %r0,%tid.x; and.b32 %r1,%r0,1; setp.eq.u32 %p0,%r1,0; mov.u64 %rd2,f1; mov.u64 %rd3,f2; "
      "selp.u64 %rd2,%rd2,%rd3,%p0; { .param .u32 y; P: .callprototype (.param .u32 _) _ (); call (y), %rd2, (), P; "
      "ld.param.u32 %r1,[y]; } mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1],%r1; ret; }" },
    { "call_in_loop", 1, 4, 0, 4, { 10, 10, 10, 10 },
      HEADER ".func (.reg .u32 r) inc(.reg .u32 a) { add.u32 r,a,1; ret; } "
      KERNEL " mov.u32 %r0,%tid.x; mov.u32 %r1,0; L: call (%r1), inc, (%r1); setp.lt.u32 %p0,%r1,10; @%p0 bra L; "
      "mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1],%r1; ret; }" },
    { "func_locals_separate", 1, 2, 0, 2, { 3, 4 },
      HEADER ".func (.reg .u32 r) f(.reg .u32 a) { .local .u32 l; st.local.u32 [l], a; ld.local.u32 r,[l]; "
      "add.u32 r,r,3; "
      "ret; } "
      KERNEL " .local .u32 l; mov.u32 %r0,%tid.x; st.local.u32 [l],99; call (%r1), f, (%r0); mul.wide.u32 %rd1,%r0,4; "
      "add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1],%r1; ret; }" },
    { "func_ptr_to_local", 1, 1, 0, 1, { 15 },
      HEADER ".func addto(.param .u64 p, .param .u32 v) { .reg .u64 q; .reg .u32 a,b; ld.param.u64 q,[p]; "
      "ld.param.u32 a,[v]; "
      "ld.u32 b,[q]; add.u32 b,b,a; st.u32 [q],b; ret; } "
      KERNEL " .local .u32 l; st.local.u32 [l],5; mov.u64 %rd1,l; cvta.local.u64 %rd1,%rd1; { .param .u64 a; "
      ".param .u32 b; "
      "st.param.u64 [a],%rd1; st.param.u32 [b],10; call addto, (a,b); } ld.local.u32 %r1,[l]; "
      "st.global.b32 [%rd0], %r1; ret; }" },
    { "static_shared_in_func", 1, 1, 0, 1, { 6 },
      HEADER ".func (.reg .u32 r) f(.reg .u32 a) { .shared .u32 s; st.shared.u32 [s],a; ld.shared.u32 r,[s]; "
      "add.u32 r,r,1; "
      "ret; } "
      KERNEL " .shared .u32 s; st.shared.u32 [s],77; call (%r1), f, (5); st.global.b32 [%rd0], %r1; ret; }" },
    { "global_in_func", 1, 1, 0, 2, { 1, 2 },
      HEADER KERNEL " .global .u32 counter; ld.global.u32 %r1,[counter]; add.u32 %r1,%r1,1; "
      "st.global.u32 [counter],%r1; "
      "st.global.b32 [%rd0], %r1; ld.global.u32 %r1,[counter]; add.u32 %r1,%r1,1; st.global.b32 [%rd0+4], %r1; ret; "
      "}" },
    { "const_array", 1, 4, 0, 4, { 10, 20, 30, 40 },
      HEADER ".const .align 4 .b32 tab[4] = {10,20,30,40}; "
      KERNEL " mov.u32 %r0,%tid.x; mul.wide.u32 %rd1,%r0,4; mov.u64 %rd2,tab; add.u64 %rd2,%rd2,%rd1; "
      "ld.const.b32 %r1,[%rd2]; add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1],%r1; ret; }" },
    { "init_mask_bytes", 1, 1, 0, 2, { 1, 0 },
      HEADER ".global .u32 g;\n"
      ".global .align 8 .u8 addr[8] = {"
      "0xff(g), 0xff00(g), 0xff0000(g), 0xff000000(g), 0xff00000000(g), 0xff0000000000(g), 0xff000000000000(g), "
      "0xff00000000000000(g)}"
      "; "
      KERNEL " mov.u64 %rd1,g; ld.global.u64 %rd2,[addr]; setp.eq.u64 %p0,%rd1,%rd2; selp.u32 %r0,1,0,%p0; "
      "st.global.b32 [%rd0], %r0; ret; }" },
    { "string_init", 1, 1, 0, 2, { 0x6c6c6548, 111 },
      HEADER ".global .align 4 .b8 str[8] = {72, 101, 108, 108, 111, 0}; "
      KERNEL " ld.global.u32 %r0,[str]; st.global.b32 [%rd0], %r0; ld.global.u32 %r0,[str+4]; "
      "st.global.b32 [%rd0+4], %r0; "
      "ret; }" },
    { "neg_u8_init", 1, 1, 0, 1, { 33023 },
      HEADER ".global .s8 a[2] = {-1, -128};\n"
      KERNEL " ld.global.u8 %r0,[a]; ld.global.u8 %r1,[a+1]; shl.b32 %r1,%r1,8; or.b32 %r0,%r0,%r1; "
      "st.global.b32 [%rd0], %r0; ret; }" },
    { "weird_ws", 1, 1, 0, 1, { 5 },
      HEADER ".visible\n"
      ".entry\n"
      "kernel ( .param\n"
      ".u64\n"
      "out ) { .reg\n"
      ".u64\n"
      "o ; ld.param.u64 o , [ out ] ; st.global.u32 [ o ] , 5 ; ret ; }" },
    { "one_line", 1, 1, 0, 1, { 5 },
      HEADER ".visible .entry kernel(.param .u64 out){.reg .u64 o;ld.param.u64 o,[out];st.global.u32[o],5;ret;}" },
    { "unused_labels_dirs", 1, 1, 0, 1, { 5 },
      HEADER ".visible .entry kernel(.param .u64 out) { 	.reg .b64 	%rd<3>; 	.reg .b32 	%r<2>; "
      "// %bb.0:                               // %entry\n"
      "	ld.param.u64 	%rd1, [out]; 	cvta.to.global.u64 	%rd2, %rd1; $__internal_label: 	mov.u32 	%r1, 5; "
      "	st.global.u32 	[%rd2], %r1; 	ret;                                         // -- End function\n"
      "}" },
    { "predicate_names", 1, 1, 0, 1, { 1 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .pred p, q, pred, p0, p1; .reg .u64 o; "
      ".reg .u32 u32, s, b32; "
      "ld.param.u64 o,[out]; mov.u32 u32, 1; setp.eq.u32 p, u32, 1; setp.ne.u32 q|pred, u32, 1; and.pred p0, p, pred; "
      "@p0 st.global.u32 [o], u32; ret; }" },
    { "keyword_names", 1, 1, 0, 1, { 3 },
      HEADER ".visible .entry kernel(.param .u64 mov) { .reg .u64 ld; .reg .u32 add, bra, ret, exit, global; "
      "ld.param.u64 ld,[mov]; mov.u32 add, 1; mov.u32 bra, 2; add.u32 ret, add, bra; st.global.u32 [ld], ret; ret; }" },
    { "tid_names", 1, 4, 0, 4, { 0, 1, 2, 3 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .u64 o,a; .reg .u32 tid, ntid, x; ld.param.u64 o,[out]; "
      "mov.u32 tid, %tid.x; mov.u32 ntid, %ntid.x; mul.wide.u32 a, tid, 4; add.u64 o, o, a; st.global.u32 [o], tid; "
      "ret; }" },
    { "tid_vector_v4", 1, 4, 0, 4, { 0, 1, 2, 3 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .v4 .u32 t; .reg .u64 o,a; ld.param.u64 o,[out]; "
      "mov.v4.u32 t, %tid; mul.wide.u32 a, t.x, 4; add.u64 o, o, a; st.global.u32 [o], t.x; ret; }" },
    { "div_exit_mid", 1, 32, 0, 32, { 7, 0, 0xcccccccc, 0xcccccccc, 7, 0, 0xcccccccc, 0xcccccccc, 7, 0, 0xcccccccc,
        0xcccccccc, 7, 0, 0xcccccccc, 0xcccccccc, 7, 0, 0xcccccccc, 0xcccccccc, 7, 0, 0xcccccccc, 0xcccccccc, 7, 0,
        0xcccccccc, 0xcccccccc, 7, 0, 0xcccccccc, 0xcccccccc },
      HEADER KERNEL " mov.u32 %r0,%tid.x; mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; and.b32 %r1,%r0,3; "
      "setp.eq.u32 %p0,%r1,0; "
      "setp.eq.u32 %p1,%r1,1; @%p0 bra A; @%p1 exit; activemask.b32 %r2; bra B; A: mov.u32 %r2,7; "
      "B: st.global.u32 [%rd1],%r2; ret; }" },
    { "switch_fall", 1, 8, 0, 8, { 1111, 1110, 1100, 1000, 1111, 1110, 1100, 1000 },
      HEADER KERNEL " mov.u32 %r0,%tid.x; mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; mov.u32 %r2,0; "
      "and.b32 %r1,%r0,3; "
      "T: .branchtargets A,B,C,D; brx.idx %r1,T; A: add.u32 %r2,%r2,1; B: add.u32 %r2,%r2,10; C: add.u32 %r2,%r2,100; "
      "D: add.u32 %r2,%r2,1000; st.global.u32 [%rd1],%r2; ret; }" },
    { "dyn_shared_kernels", 1, 32, 1024, 1, { 31 },
      HEADER ".extern .shared .align 4 .b8 dyn[];\n"
      KERNEL " mov.u32 %r0,%tid.x; mov.u32 %r2,dyn; shl.b32 %r1,%r0,2; add.u32 %r2,%r2,%r1; "
      "st.shared.u32 [%r2+896],%r0; "
      "bar.sync 0; setp.ne.u32 %p0,%r0,0; @%p0 ret; ld.shared.u32 %r5,[dyn+1020]; st.global.b32 [%rd0], %r5; ret; }" },
    { "trap_guarded", 1, 1, 0, 1, { 1 },
      HEADER KERNEL " setp.eq.u32 %p0,1,2; @%p0 trap; @%p0 brkpt; st.global.u32 [%rd0],1; ret; }" },
    { "loop_guarded_bra", 1, 32, 0, 32, { 0, 1, 3, 3, 7, 7, 7, 7, 15, 15, 15, 15, 15, 15, 15, 15, 31, 31, 31, 31, 31,
        31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31 },
      HEADER KERNEL " mov.u32 %r0,%tid.x; mov.u32 %r1,1; mov.u32 %r2,0; W: setp.gt.u32 %p0,%r1,%r0; @%p0 bra D; "
      "add.u32 %r2,%r2,%r1; "
      "shl.b32 %r1,%r1,1; bra W; D: mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1],%r2; ret; "
      "}" },
    { "collatz", 1, 32, 0, 32, { 0, 1, 7, 2, 5, 8, 16, 3, 19, 6, 14, 9, 9, 17, 17, 4, 12, 20, 20, 7, 7, 15, 15, 10,
        23, 10, 111, 18, 18, 18, 106, 5 },
      HEADER KERNEL " mov.u32 %r0,%tid.x; add.u32 %r1,%r0,1; mov.u32 %r2,0; L: setp.eq.u32 %p0,%r1,1; @%p0 bra D; "
      "and.b32 %r3,%r1,1; "
      "setp.eq.u32 %p1,%r3,0; @%p1 shr.u32 %r1,%r1,1; @!%p1 mad.lo.u32 %r1,%r1,3,1; add.u32 %r2,%r2,1; bra L; "
      "D: mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1],%r2; ret; }" },
    { "reg_init_zero_mov", 1, 1, 0, 1, { 0 },
      HEADER KERNEL " mov.b32 %r1, 0; mov.b64 %rd1, {%r1,%r1}; mov.b64 {%r2,%r3}, %rd1; st.global.b32 [%rd0], %r3; "
      "ret; }" },
    { "mov_vec_scalar", 1, 1, 0, 3, { 0x20001, 0x20001, 65538 },
      HEADER KERNEL "mov.b32 %r1,0x00010002; mov.b32 {%h0,%h1},%r1; mov.b32 %r2,{%h1,%h0}; st.global.b32 [%rd0], %r2; "
      "mov.b64 %rd1,{"
      "%r1,%r2}; mov.b64 {%f0,%f1},%rd1; st.global.b32 [%rd0+4], %f1; mov.b64 %d0,{%f0,%f1}; mov.b64 {%r3,%r4},%d0; "
      "st.global.b32 [%rd0+8], %r3; ret; }" },
    { "abi_preserve", 1, 1, 0, 1, { 1 },
      ".version 9.0\n"
      ".target sm_90\n"
      ".address_size 64\n"
      ".func f () .abi_preserve 4 .abi_preserve_control 2 { ret; } "
      KERNEL " call f; st.global.u32 [%rd0],1; ret; }" },
    { "blocksarethreads", 1, 1, 0, 1, { 1 },
      ".version 9.0\n"
      ".target sm_90\n"
      ".address_size 64\n"
      ".visible .entry kernel(.param .u64 x) .blocksareclusters .reqntid 1 .reqnctapercluster 1 { .reg .u64 a; "
      "ld.param.u64 a,[x]; st.global.u32 [a],1; ret; }" },
    { "ld_param_entry_func", 1, 1, 0, 1, { 4 },
      ".version 8.3\n"
      ".target sm_90\n"
      ".address_size 64\n"
      ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 x; ld.param::func.b32 x,[a]; st.param::func.b32 [r],x; ret; "
      "} "
      ".visible .entry kernel(.param .u64 x) { .reg .u64 a; .reg .b32 y; ld.param::entry.u64 a,[x]; { .param .b32 p,q; "
      "st.param.b32 [p],4; call (q),f,(p); ld.param.b32 y,[q]; } st.global.u32 [a],y; ret; }" },
    { "vector registers as parameters and results", 1, 32, 0, 7, { 7, 1, 0x00030004, 0x00010002, 9, 0, 12 },
      HEADER ".func (.reg .v2 .u32 o) swap(.reg .v2 .u32 i, .reg .u32 k)"
      " { add.u32 o.x, i.y, k; mov.u32 o.y, i.x; ret; }\n"
      ".func (.reg .v4 .u16 o) reverse(.reg .v4 .u16 i) { mov.u16 o.x, i.w; mov.u16 o.y, i.z; mov.u16 o.z, i.y;"
      " mov.u16 o.w, i.x; ret; }\n"
      ".func (.reg .v2 .u64 o, .reg .f32 s) wide(.reg .f32 s0, .reg .v2 .u64 i);\n"
      KERNEL ".reg .v2 .u32 p, q; .reg .v4 .u16 h, g; .reg .v2 .u64 w; mov.u32 p.x, 1; mov.u32 p.y, 2;"
      " call (q), swap, (p, 5); st.global.v2.u32 [%rd0], q;"
      " mov.v4.u16 h, {1, 2, 3, 4}; call (g), reverse, (h); st.global.v4.u16 [%rd0+8], g;"
      " mov.u64 w.x, 4; mov.u64 w.y, 5; call (w, %f1), wide, (0f40400000, w); st.global.u64 [%rd0+16], w.y;"
      " cvt.rni.u32.f32 %r1, %f1; cvt.u32.u64 %r2, w.x; add.u32 %r1, %r1, %r2; st.global.u32 [%rd0+24], %r1; ret; }\n"
      ".func (.reg .v2 .u64 o, .reg .f32 s) wide(.reg .f32 s0, .reg .v2 .u64 i)"
      " { add.u64 o.y, i.x, i.y; mov.u64 o.x, 6; add.f32 s, s0, s0; ret; }" },
    { "a vector register through a pointer", 1, 32, 0, 2, { 12, 11 },
      HEADER ".func (.reg .v2 .u32 o) swap(.reg .v2 .u32 i) { mov.u32 o.x, i.y; mov.u32 o.y, i.x; ret; }\n"
      KERNEL ".reg .v2 .u32 p; mov.u32 p.x, 11; mov.u32 p.y, 12; mov.u64 %rd1, swap;"
      " prototype: .callprototype (.reg .v2 .u32 _) _ (.reg .v2 .u32 _);"
      " call (p), %rd1, (p), prototype; st.global.v2.u32 [%rd0], p; ret; }" },
    { "a vector result that is not taken", 1, 1, 0, 2, { 9, 3 },
      HEADER ".func (.reg .v2 .u32 o, .reg .u32 s) f(.reg .v2 .u32 i) { mov.v2.u32 o, i; add.u32 s, i.x, i.y; ret; }\n"
      KERNEL ".reg .v2 .u32 p; mov.u32 p.x, 4; mov.u32 p.y, 5; mov.u32 %r2, 3;"
      " call (_, %r1), f, (p); st.global.u32 [%rd0], %r1; call (p, _), f, (p); call (_, _), f, (p);"
      " st.global.u32 [%rd0+4], %r2; ret; }" },
    { "values of another shape than their parameters", 1, 1, 0, 16,
      { 1, 2, 2, 1, 1, 2, 0x00020001, 0x00040003, 0x00040003, 0x00020001, 0x40000000, 0x3f800000, 3, 0, 4, 0 },
      HEADER ".func (.reg .b64 o) same(.reg .b64 i) { mov.b64 o, i; ret; }\n"
      ".func (.reg .v2 .u32 o) swap(.reg .v2 .u32 i) { mov.u32 o.x, i.y; mov.u32 o.y, i.x; ret; }\n"
      ".func (.param .b64 o) through(.param .b64 i)"
      " { .reg .b64 t; ld.param.b64 t, [i]; st.param.b64 [o], t; ret; }\n"
      ".func (.reg .b128 o) wide(.reg .b128 i) { mov.b128 o, i; ret; }\n"
      KERNEL ".reg .v2 .u32 p, q; .reg .v4 .u16 h, g; .reg .v2 .f32 f; .reg .v2 .b64 w, x;"
      " mov.u32 p.x, 1; mov.u32 p.y, 2;"
      " call (%rd1), same, (p); st.global.u64 [%rd0], %rd1;"      /* .v2 .u32 as a .b64 */
      " call (%rd1), swap, (p); st.global.u64 [%rd0+8], %rd1;"    /* .v2 .u32 taken as a .b64 */
      " call (q), through, (p); st.global.v2.u32 [%rd0+16], q;"   /* both, and the parameter is in memory */
      " mov.v4.u16 h, {1, 2, 3, 4}; call (g), same, (h); st.global.v4.u16 [%rd0+24], g;"
      " call (q), swap, (h); st.global.v2.u32 [%rd0+32], q;"      /* .v4 .u16 as a .v2 .u32 */
      " mov.f32 f.x, 0f3f800000; mov.f32 f.y, 0f40000000; call (f), swap, (f); st.global.v2.f32 [%rd0+40], f;"
      " mov.u64 w.x, 3; mov.u64 w.y, 4; call (x), wide, (w); st.global.v2.u64 [%rd0+48], x; ret; }" },
    { "values of another shape under a guard", 1, 2, 0, 4, { 7, 8, 1, 2 },
      HEADER ".func (.reg .b64 o) same(.reg .b64 i) { mov.b64 o, i; ret; }\n"
      KERNEL ".reg .v2 .u32 p, q; mov.u32 p.x, 1; mov.u32 p.y, 2; mov.u32 q.x, 7; mov.u32 q.y, 8;"
      " mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 1; @%p1 call (q), same, (p);"
      " mul.wide.u32 %rd1, %r1, 8; add.u64 %rd0, %rd0, %rd1; st.global.v2.u32 [%rd0], q; ret; }" },
    { "values of another shape through a pointer", 1, 1, 0, 2, { 11, 12 },
      HEADER ".func (.reg .b64 o) same(.reg .b64 i) { mov.b64 o, i; ret; }\n"
      KERNEL ".reg .v2 .u32 p; mov.u32 p.x, 11; mov.u32 p.y, 12; mov.u64 %rd1, same;"
      " prototype: .callprototype (.reg .b64 _) _ (.reg .b64 _);"
      " call (p), %rd1, (p), prototype; st.global.v2.u32 [%rd0], p; call (_), %rd1, (p), prototype; ret; }" },
    { "register plus constant as a source", 1, 1, 0, 7, { 42, 0, 0x00110022, 35, 1041, 41, 0 },
      HEADER KERNEL "mov.u64 %rd1, 41; mov.u32 %r1, 7; mov.u16 %h1, 15; setp.eq.u32 %p1, %r1, 8;"
      " st.u64 [%rd0], %rd1 + 1; st.u16 [%rd0+8], %h1 + (2 * 9) + 1; st.u16 [%rd0+10], %h1+2;"
      " st.global.u32 [%rd0+12], %r1 + 28; add.u32 %r2, %r1 + 34, 1000; st.u32 [%rd0+16], %r2;"
      " st.u32 [%rd0+20], %rd1; @%p1 st.u32 [%rd0+24], %r1 + 1; ret; }" },
};
/* clang-format on */

static const struct refused_case {
    const char *message, *ptx;
} refused[] = {
    {"unexpected character '.'", HEADER KERNEL "add .u32 %r0, 1, 2; st . global .u32 [ %rd0 ] , %r0 ; ret; }"},
    {"cannot have the type .u16", HEADER KERNEL "add.cc.u16 %h0, %h1, %h2; ret; }"},
    {"function nothere is declared, but no module",
     HEADER ".extern .func nothere ();\n" KERNEL " call nothere; ret; }"},
    {"undefined register '%q'", HEADER KERNEL "mov.u32 %q, 1; ret; }"},
    {"register %rd0 is .b64, but mov.u32 needs .u32", HEADER KERNEL "mov.u32 %r0, %rd0; ret; }"},
    {"duplicate name 'A'", HEADER KERNEL "A: mov.u32 %r0,1; A: mov.u32 %r0,2; ret; }"},
    {"undefined label 'nowhere'", HEADER KERNEL "bra nowhere; ret; }"},
    {"did you mean 'add'?", HEADER KERNEL "addd.u32 %r0,%r0,%r0; ret; }"},
    {"unknown suffix '.u33'", HEADER KERNEL "add.u33 %r0,%r0,%r0; ret; }"},
    {"'add' lacks a type", HEADER KERNEL "add %r0,%r0,%r0; ret; }"},
    {"register %p0 is .pred", HEADER KERNEL "add.u32 %r0,%p0,%r0; ret; }"},
    {"2 registers are needed here, 3 given", HEADER KERNEL "ld.global.v2.u32 {%r0,%r1,%r2},[%rd0]; ret; }"},
    {"expected a register to write to", HEADER KERNEL "mov.u32 5, %r0; ret; }"},
    {"an integer constant cannot be a .f32", HEADER KERNEL "add.f32 %f0, %f1, 1; ret; }"},
    {"cannot have the type .pred", HEADER KERNEL "add.pred %p0,%p0,%p0; ret; }"},
    {"have no initial value", HEADER ".shared .u32 s = 5;\n" KERNEL " ret; }"},
    {"duplicate name '%r0'", HEADER KERNEL ".reg .u32 %r0; .reg .u32 q, q;\n"
                                           "ret; }"},
    {"duplicate symbol 'g'", HEADER ".global .u32 g; .global .f32 g;\n" KERNEL " ret; }"},
    {"duplicate symbol 'kernel'", HEADER ".entry kernel { ret; }\n"
                                         ".entry kernel { ret; }\n"},
    {"but the text ends here", HEADER ".entry kernel { mov.u32\n"},
    {"PTX version 99.0", ".version 99.0\n"
                         ".target sm_90\n"
                         ".entry kernel { ret; }\n"},
    {"no such store", HEADER ".const .u32 c;\n" KERNEL " st.const.u32 [c], 1; ret; }"},
    {"f takes 1 parameters, 0 given", HEADER ".func f (.reg .u32 a) { ret; }\n" KERNEL " call f; ret; }"},
    {"negative size", HEADER ".global .u32 a[-1];\n" KERNEL " ret; }"},
    {"power of two", HEADER ".global .align 3 .u32 a;\n" KERNEL " ret; }"},
    {"takes 3 operands, 2 given", HEADER KERNEL "add.u32 %r0, %r1; ret; }"},
    {"expected ';'", HEADER ".global .u32 g[4] = {6,7,8,9};\n" KERNEL
                            " ld.global.u32 %r1,[g + 12]; st.global.b32 [%rd0], %r1; mov.u64 %rd1, generic(g); ret; }"},
    {"more than any GPU has of shared memory",
     HEADER ".shared .b8 s[8589934592]; " KERNEL "st.shared.u32 [s], 1; ret; }"},
    {"more than any GPU has of local memory", HEADER KERNEL ".local .b8 l[8589934592]; st.local.u32 [l], 1; ret; }"},
    {"the constants of a module take more than", HEADER ".const .b8 c[65537]; " KERNEL "ret; }"},
    {"an index is an integer register", HEADER ".global .u32 a[4]; " KERNEL "ld.global.u32 %r0, a[%f0]; ret; }"},
    {"%clock is read by mov only", HEADER KERNEL "add.u32 %r0, %clock, 1; ret; }"},
    {"a constant can be added to an integer register", HEADER KERNEL "st.f32 [%rd0], %f1 + 1; ret; }"},
    {"an offset is an integer", HEADER KERNEL "st.u32 [%rd0], %r1 + 1.0; ret; }"},
    {"expected ';'", HEADER KERNEL "add.u32 %r1 + 1, %r1, 1; ret; }"},
    {"takes 1 parameters, 2 given", /* .v2 .u64: more bits than a .b64 has */
     HEADER ".func f(.reg .b64 i) { ret; }\n" KERNEL ".reg .v2 .u64 v; call f, (v); ret; }"},
    {"takes 2 parameters, 1 given", HEADER ".func f(.reg .v2 .u32 i) { ret; }\n" KERNEL "call f, (%r1); ret; }"},
    {"expected a register, a constant or a .param variable",
     HEADER ".func f(.reg .b64 i) { ret; }\n" KERNEL "call f, ({%r1, %r2}); ret; }"},
    {"takes 2 parameters, 4 given",
     HEADER ".func f(.reg .v2 .u32 i) { ret; }\n" KERNEL ".reg .v4 .u32 v; call f, (v); ret; }"},
};

static void modules_run(void **state)
{
    (void)state;
    hand_check_all(cases, sizeof cases / sizeof *cases);
}

static void wrong_modules_are_refused(void **state)
{
    (void)state;
    int failed = 0;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct kernel_run k;
        kernel_open(&k, refused[i].ptx);
        if (k.image || !strstr(k.error.text, refused[i].message)) {
            print_error("expected '%s', got: %s\n", refused[i].message, k.image ? "an image" : k.error.text);
            failed++;
        }
        kernel_close(&k);
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_run),
        cmocka_unit_test(wrong_modules_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
