/* Instructions in short kernels: special registers, carries, bit fields, halves, video, atomics, barriers in diverged
 * warps, warp exchanges; old PTX versions too. */
#include "handwritten.h"

/* clang-format off */
static const struct hand_case cases[] = {
    { "ld_param_generic", 1, 1, 0, 1, { 1 },
      HEADER KERNEL " mov.b64 %rd3, buffer; ld.param.u64 %rd4, [%rd3]; st.global.u32 [%rd4], 1; ret; }" },
    { "old14", 1, 1, 0, 3, { 3, 5, 65536 },
      ".version 1.4\n"
      ".target sm_13\n"
      ".entry kernel (.param .u64 __cudaparm_out) { .reg .u16 %rh<4>; .reg .u32 %r<6>; .reg .u64 %rd<4>; "
      ".reg .pred %p<3>;\n"
      "$LBB1_k: mov.u16 %rh1, %ntid.x; cvt.u32.u16 %r1, %tid.x; mov.u16 %rh2, %ctaid.x; mul.wide.u16 %r2, %rh1, %rh2; "
      "add.u32 %r3, %r1, %r2; add.u32 %r3, %r3, 3; ld.param.u64 %rd1, [__cudaparm_out]; st.global.u32 [%rd1+0], %r3; "
      "cvt.u32.u16 %r4, %nctaid.x; add.u32 %r4, %r4, 4; st.global.u32 [%rd1+4], %r4; mul24.lo.u32 %r5, 0x100, 0x100; "
      "st.global.u32 [%rd1+8], %r5; exit; }" },
    { "old20", 1, 1, 0, 2, { 1, 2 },
      ".version 2.0\n"
      ".target sm_20\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<2>; .reg .u32 %r<3>; .reg .pred %p<2>; ld.param.u64 %rd0,[out]; "
      "mov.u32 %r0, %laneid; setp.eq.u32 %p0, %r0, 0; vote.ballot.b32 %r1, %p0; st.global.u32 [%rd0], %r1; "
      "vote.all.pred %p1, %p0; selp.u32 %r2, 2, 3, %p1; st.global.u32 [%rd0+4], %r2; exit; }" },
    { "old30", 1, 32, 0, 4, { 31, 0, 1, 2 },
      ".version 3.0\n"
      ".target sm_30\n"
      ".address_size 64\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; .reg .u32 %r<5>; .reg .pred %p<2>; ld.param.u64 %rd0,[out]; "
      "mov.u32 %r0, %tid.x; add.u32 %r1, %r0, 31; and.b32 %r1,%r1,31; shfl.idx.b32 %r2, %r0, %r1, 31; "
      "cvt.u64.u32 %rd1, %r0; shl.b64 %rd1,%rd1,2; add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1], %r2; exit; }" },
    { "old_shfl_all", 1, 32, 0, 32, { 0, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114,
        115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130 },
      ".version 4.2\n"
      ".target sm_35\n"
      ".address_size 64\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; .reg .u32 %r<9>; .reg .pred %p<4>; ld.param.u64 %rd0,[out]; "
      "mov.u32 %r0, %tid.x; cvt.u64.u32 %rd1, %r0; shl.b64 %rd1,%rd1,2; add.u64 %rd1,%rd0,%rd1; "
      "shfl.up.b32 %r1|%p0, %r0, 1, 0; selp.u32 %r2, 100, 0, %p0; add.u32 %r1,%r1,%r2; st.global.u32 [%rd1], %r1; "
      "shfl.down.b32 %r1|%p0, %r0, 3, 0x181f; selp.u32 %r2, 100, 0, %p0; add.u32 %r1,%r1,%r2; "
      "st.global.u32 [%rd1+128], %r1; shfl.bfly.b32 %r1, %r0, 5, 31; st.global.u32 [%rd1+256], %r1; @%p0 bra X; "
      "vote.any.pred %p1, %p0; vote.uni.pred %p2, !%p0; vote.ballot.b32 %r5, 1; st.global.u32 [%rd1+384], %r5; X: ret; "
      "}" },
    { "old_vote_neg", 1, 32, 0, 4, { 0xffffffe0, 0, 1, 0 },
      ".version 4.2\n"
      ".target sm_35\n"
      ".address_size 64\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; .reg .u32 %r<9>; .reg .pred %p<4>; ld.param.u64 %rd0,[out]; "
      "mov.u32 %r0, %tid.x; setp.lt.u32 %p0,%r0,5; vote.ballot.b32 %r1, !%p0; vote.all.pred %p1, !%p0; "
      "vote.any.pred %p2, !%p0; st.global.u32 [%rd0], %r1; selp.u32 %r2,1,0,%p1; st.global.u32 [%rd0+4], %r2; "
      "selp.u32 %r2,1,0,%p2; st.global.u32 [%rd0+8], %r2; ret; }" },
    { "old_addr32_regs", 1, 1, 0, 1, { 5 },
      ".version 1.4\n"
      ".target sm_10\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; .shared .u32 s[4]; .reg .u32 %r<4>; .reg .u16 h; "
      "ld.param.u64 %rd0,[out]; mov.u32 %r1, s; st.shared.u32 [%r1+4], 5; bar.sync 0; ld.shared.u32 %r2,[%r1+4]; "
      "st.global.u32 [%rd0], %r2; exit; }" },
    { "old_f32_ops", 1, 1, 0, 8, { 0x40690fdb, 0x40a6cbe4, 0x40c90fdb, 0, 0, 0x3f800000, 0xb42cab20, 0x402a05bb },
      ".version 1.4\n"
      ".target sm_13\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; .reg .f32 %f<9>; .reg .f64 %fd<4>; ld.param.u64 %rd0,[out]; "
      "mov.f32 %f1, 0f40490fdb; mov.f32 %f2, 0f3f000000; add.f32 %f3,%f1,%f2; st.global.f32 [%rd0],%f3; "
      "mad.f32 %f4,%f1,%f2,%f3; st.global.f32 [%rd0+4],%f4; div.full.f32 %f5,%f1,%f2; st.global.f32 [%rd0+8],%f5; "
      "mul.f32 %f6, %f1, 0f00000001; st.global.f32 [%rd0+16], %f6; add.sat.f32 %f7, %f1, %f2; "
      "st.global.f32 [%rd0+20],%f7; cvt.f64.f32 %fd1, %f1; mad.rn.f64 %fd2, %fd1, %fd1, %fd1; "
      "st.global.f64 [%rd0+24], %fd2; exit; }" },
    { "old_sqrt_rcp14", 1, 1, 0, 4, { 0x40000000, 0x3e800000, 0, 0 },
      ".version 1.4\n"
      ".target sm_13\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; .reg .f32 %f<9>; .reg .f64 %fd<4>; ld.param.u64 %rd0,[out]; "
      "mov.f32 %f1, 0f40800000; sqrt.approx.f32 %f2,%f1; st.global.f32 [%rd0],%f2; rcp.approx.f32 %f2,%f1; "
      "st.global.f32 [%rd0+4],%f2;  exit; }" },
    { "old_membar_bar", 1, 1, 0, 1, { 2 },
      ".version 1.4\n"
      ".target sm_13\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; .reg .u32 r; .shared .s32 q; ld.param.u64 %rd0,[out]; "
      "mov.u32 r, 2; st.shared.s32 [q], r; bar.sync 0; membar.gl; membar.cta; ld.shared.s32 r, [q]; "
      "st.global.u32 [%rd0],r; exit; }" },
    { "old_atom_global", 1, 1, 0, 2, { 5, 15 },
      ".version 1.4\n"
      ".target sm_12\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; .reg .u32 r; ld.param.u64 %rd0,[out]; mov.u32 r, 5; "
      "atom.global.add.u32 r, [%rd0], r; atom.global.exch.b32 r, [%rd0+4], 15; exit; }" },
    { "sregs_mov16", 2, 2, 0, 4, { 2, 2, 1, 0 },
      HEADER KERNEL "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; setp.ne.u32 %p0, %r0, 1; @%p0 ret; "
      "setp.ne.u32 %p0,%r1,0; @%p0 ret; "
      "mov.u32 %r2, %ntid.x; st.global.b32 [%rd0], %r2; mov.u32 %r2, %nctaid.x; st.global.b32 [%rd0+4], %r2; "
      "mov.u32 %r2, %ctaid.x; st.global.b32 [%rd0+8], %r2; mov.u32 %r2, %tid.y; st.global.b32 [%rd0+12], %r2; ret; }" },
    { "sregs_direct", 1, 4, 0, 4, { 0, 2, 4, 6 },
      HEADER KERNEL "add.u32 %r0, %tid.x, %tid.x; mul.wide.u32 %rd1, %tid.x, 4; add.u64 %rd1, %rd0, %rd1; "
      "st.global.u32 [%rd1], %r0; "
      "ret; }" },
    { "sreg_vec_mov", 1, 2, 0, 3, { 2, 1, 1 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .v4 .u32 v; .reg .u64 o; ld.param.u64 o,[out]; "
      "mov.v4.u32 v, %ntid; st.global.u32 [o], v.x; st.global.u32 [o+4], v.y; st.global.u32 [o+8], v.z; ret; }" },
    { "sregs_lane", 1, 32, 0, 6, { 0, 1, 1, 3, 0xffffffff, 0xfffffffe },
      HEADER KERNEL "mov.u32 %r9, %tid.x; setp.ne.u32 %p0,%r9,0; @%p0 bra Q; mov.u32 %r0,%laneid; "
      "st.global.b32 [%rd0], %r0; "
      "mov.u32 %r0,%lanemask_eq; st.global.b32 [%rd0+4], %r0; mov.u32 %r0,%lanemask_le; st.global.b32 [%rd0+8], %r0; "
      "mov.u32 %r0, %lanemask_ge; st.global.b32 [%rd0+16], %r0; mov.u32 %r0,%lanemask_gt; "
      "st.global.b32 [%rd0+20], %r0; Q: setp.ne.u32 %p0,%r9,1; @%p0 ret; mov.u32 %r0,%lanemask_le; "
      "st.global.b32 [%rd0+12], %r0; ret; }" },
    { "sreg_cvt_dyn", 1, 1, 0, 1, { 1 },
      HEADER KERNEL "cvt.u64.u32 %rd1, %clock; mov.u64 %rd2, %clock64; mov.u32 %r1, %clock_hi; "
      "mov.u64 %rd3, %globaltimer; "
      "mov.u32 %r2, %globaltimer_lo; mov.u32 %r3, %smid; mov.u32 %r4, %nsmid; mov.u32 %r5, %warpid; "
      "mov.u32 %r6, %nwarpid; mov.u64 %rd5, %gridid; mov.u32 %r7, %envreg3; mov.u32 %r8, %total_smem_size; "
      "mov.u32 %r9, %dynamic_smem_size; mov.u32 %r10, %pm0; mov.u32 %r11, %reserved_smem_offset_begin; "
      "st.global.u32 [%rd0], 1; ret; }" },
    { "sreg_gridid32", 1, 1, 0, 1, { 1 },
      ".version 2.3\n"
      ".target sm_20\n"
      ".entry kernel (.param .u64 out) { .reg .u64 %rd<3>; .reg .u32 r; ld.param.u64 %rd0,[out]; mov.u32 r, %gridid; "
      "mov.u32 r, %clock; st.global.u32 [%rd0], 1; ret; }" },
    { "b128_mov", 1, 1, 0, 4, { 1, 2, 3, 4 },
      ".version 8.3\n"
      ".target sm_90\n"
      ".address_size 64\n"
      ".visible .entry kernel(.param .u64 out) { .reg .b128 x, y; .reg .b64 a, b, o; .reg .b32 r; "
      "ld.param.u64 o,[out]; mov.b64 a, 0x0000000200000001; mov.b64 b, 0x0000000400000003; mov.b128 x, {a, b}; "
      "mov.b128 y, x; mov.b128 {a, b}, y; st.global.b64 [o], a; st.global.b64 [o+8], b; ret; }" },
    { "addc_chain", 1, 1, 0, 4, { 0, 1, 0xffffffff, 0 },
      HEADER KERNEL "mov.u32 %r0, 0xffffffff; add.cc.u32 %r1, %r0, 1; addc.u32 %r2, 0, 0; st.global.b32 [%rd0], %r1; "
      "st.global.b32 [%rd0+4], %r2; sub.cc.u32 %r1, 0, 1; subc.u32 %r2, 1, 0; st.global.b32 [%rd0+8], %r1; "
      "st.global.b32 [%rd0+12], %r2; ret; }" },
    { "addc_cc64", 1, 1, 0, 4, { 0, 0, 1, 0 },
      HEADER KERNEL "mov.u64 %rd1, -1; add.cc.u64 %rd2, %rd1, 1; addc.u64 %rd3, 0, 0; st.global.b64 [%rd0], %rd2; "
      "st.global.b64 [%rd0+8], %rd3; ret; }" },
    { "mad_cc", 1, 1, 0, 4, { 180, 0xffffffe5, 169, 0 },
      HEADER KERNEL "mov.u32 %r0, 0xfffffff1; mov.u32 %r1, 0xfffffff3; mad.lo.cc.u32 %r2, %r0, %r1, %r0; "
      "madc.hi.u32 %r3, %r0, %r1, 0; st.global.b32 [%rd0], %r2; st.global.b32 [%rd0+4], %r3; "
      "madc.lo.cc.s32 %r4, %r0, %r1, %r3; st.global.b32 [%rd0+8], %r4; madc.hi.cc.s64 %rd1, %rd0, 5, 1; "
      "addc.s32 %r5, 0, 0; st.global.b32 [%rd0+12], %r5; ret; }" },
    { "pack_forms", 1, 1, 0, 4, { 0x20001, 0x4030201, 0x20001, 0x40003 },
      HEADER KERNEL "mov.u16 %h0, 1; mov.u16 %h1, 2; mov.u16 %h2, 3; mov.u16 %h3, 4; mov.b32 %r0, {%h0, %h1}; "
      "st.global.b32 [%rd0], %r0; mov.b64 %rd1, {%h0,%h1,%h2,%h3}; st.global.b64 [%rd0+8], %rd1; mov.b32 {%h4,%h5}"
      ", %r0; mov.b64 {%r2,%r3}, %rd1; mov.b64 {%h4,_,_,%h5}, %rd1; mov.u32 %r4, 0x04030201; "
      "st.global.b32 [%rd0+4], %r4; ret; }" },
    { "pack_v4b8", 1, 1, 0, 2, { 0x4030201, 3 },
      HEADER ".visible .entry kernel(.param .u64 out) { .reg .b8 a,b,c,d; .reg .b32 r,s; .reg .u64 o; "
      "ld.param.u64 o,[out]; "
      "mov.b32 r, 0x04030201; mov.b32 {a,b,c,d}, r; mov.b32 s, {a,b,c,d}; st.global.b32 [o], s; cvt.u32.u8 s, c; "
      "st.global.b32 [o+4], s; ret; }" },
    { "ld_widening", 1, 1, 0, 6, { 0xffffffff, 255, 0xffff8000, 0xffffffff, 0xffffffff, 128 },
      HEADER KERNEL "st.global.u32 [%rd0+64], 0x8000ff; st.global.u8 [%rd0+64], 255; ld.global.s8 %r0,[%rd0+64]; "
      "st.global.b32 [%rd0], %r0; ld.global.u8 %r0,[%rd0+64]; st.global.b32 [%rd0+4], %r0; "
      "st.global.u16 [%rd0+68], 0x8000; ld.global.s16 %r0,[%rd0+68]; st.global.b32 [%rd0+8], %r0; "
      "ld.global.s8 %rd1,[%rd0+64]; st.global.u32 [%rd0+12], %rd1; shr.s64 %rd1,%rd1,32; st.global.u32 [%rd0+16],%rd1; "
      "ld.global.u8 %h0,[%rd0+66]; cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0+20], %r0; ret; }" },
    { "ld_vec_u8", 1, 1, 0, 4, { 0, 1, 2, 3 },
      HEADER KERNEL "st.global.u32 [%rd0+64], 0x03020100; ld.global.v4.u8 {%r0,%r1,%r2,%r3}, [%rd0+64]; "
      "st.global.v4.u32 [%rd0], {"
      "%r0,%r1,%r2,%r3}; ret; }" },
    { "ld_sink", 1, 1, 0, 1, { 1 },
      HEADER KERNEL "st.global.u32 [%rd0+64], 1; ld.global.v2.u32 {%r0,_}, [%rd0+64]; st.global.b32 [%rd0], %r0; ret; "
      "}" },
    { "ld_f16", 1, 1, 0, 1, { 15360 },
      HEADER KERNEL ".reg .f16 q; st.global.u16 [%rd0+64], 0x3c00; ld.global.b16 q, [%rd0+64]; mov.b16 %h0, q; "
      "cvt.u32.u16 %r0,%h0; "
      "st.global.b32 [%rd0], %r0; ret; }" },
    { "st_f32_in_b32", 1, 1, 0, 1, { 0x3f800000 },
      HEADER KERNEL "mov.f32 %f0, 1.0; st.global.b32 [%rd0], %f0; mov.b32 %r0, %f0; mov.f32 %f1, %r0; ret; }" },
    { "cache_ops", 1, 1, 0, 1, { 1 },
      HEADER KERNEL "ld.global.ca.u32 %r0,[%rd0]; ld.global.cg.u32 %r0,[%rd0]; ld.global.cs.u32 %r0,[%rd0]; "
      "ld.global.lu.u32 %r0,[%rd0]; ld.global.cv.u32 %r0,[%rd0]; ld.global.nc.u32 %r0,[%rd0+64]; "
      "ld.volatile.global.u32 %r0,[%rd0]; ld.relaxed.gpu.global.u32 %r0,[%rd0]; ld.acquire.sys.global.u32 %r0,[%rd0]; "
      "ld.global.L1::evict_last.u32 %r0,[%rd0]; ld.global.nc.L1::no_allocate.L2::128B.u32 %r0,[%rd0+64]; "
      "ldu.global.u32 %r0,[%rd0+64]; st.global.wb.u32 [%rd0], 0; st.global.cg.u32 [%rd0],0; st.global.cs.u32 [%rd0],0; "
      "st.global.wt.u32 [%rd0],0; st.release.gpu.global.u32 [%rd0],0; st.relaxed.cta.global.u32 [%rd0],0; "
      "st.volatile.global.u32 [%rd0], 1; ret; }" },
    { "ld_weak_mmio", 1, 1, 0, 1, { 1 },
      ".version 8.2\n"
      ".target sm_90\n"
      ".address_size 64\n"
      KERNEL "ld.weak.global.u32 %r0,[%rd0]; ld.mmio.relaxed.sys.global.u32 %r0,[%rd0]; st.weak.global.u32 [%rd0], 1; "
      "ld.global.L2::cache_hint.u32 %r0,[%rd0], %rd1; ret; }" },
    { "policy_hint", 1, 1, 0, 1, { 1 },
      HEADER KERNEL "createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0; "
      "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd2, 0.5; "
      "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd3, [%rd0], 128, 256; "
      "ld.global.L2::cache_hint.u32 %r0,[%rd0], %rd1; st.global.L2::cache_hint.u32 [%rd0], 1, %rd1; "
      "createpolicy.cvt.L2.b64 %rd4, 5; ret; }" },
    { "prefetches", 1, 1, 0, 1, { 1 },
      HEADER KERNEL "prefetch.global.L1 [%rd0]; prefetch.global.L2 [%rd0+4]; prefetch.L1 [%rd0]; prefetchu.L1 [%rd0]; "
      "prefetch.global.L2::evict_last [%rd0]; prefetch.global.L2::evict_normal [%rd0]; "
      "applypriority.global.L2::evict_normal [%rd0], 128; discard.global.L2 [%rd0+128], 128; st.global.u32 [%rd0],1; "
      "ret; }" },
    { "membars", 1, 1, 0, 1, { 1 },
      HEADER KERNEL "membar.cta; membar.gl; membar.sys; fence.sc.cta; fence.acq_rel.gpu; fence.sc.sys; "
      "fence.acq_rel.cluster; "
      "fence.proxy.alias; fence.proxy.async; fence.proxy.async.global; st.global.u32 [%rd0],1; ret; }" },
    { "fence_new", 1, 1, 0, 1, { 1 },
      ".version 8.6\n"
      ".target sm_90\n"
      ".address_size 64\n"
      KERNEL "fence.acquire.gpu; fence.release.cta; fence.mbarrier_init.release.cluster; "
      "fence.proxy.tensormap::generic.release.gpu; st.global.u32 [%rd0],1; ret; }" },
    { "pmevent_nanosleep", 1, 1, 0, 1, { 1 },
      HEADER KERNEL "pmevent 3; pmevent.mask 5; nanosleep.u32 10; mov.u32 %r0, 5; nanosleep.u32 %r0; "
      "st.global.u32 [%rd0],1; ret; }" },
    { "griddep", 1, 1, 0, 1, { 1 },
      ".version 7.8\n"
      ".target sm_90\n"
      ".address_size 64\n"
      KERNEL "griddepcontrol.launch_dependents; griddepcontrol.wait; st.global.u32 [%rd0],1; ret; }" },
    { "setmaxnreg", 1, 1, 0, 1, { 1 },
      ".version 8.0\n"
      ".target sm_90a\n"
      ".address_size 64\n"
      ".entry kernel (.param .u64 out) .maxntid 128 { .reg .u64 %rd<3>; ld.param.u64 %rd0,[out]; "
      "setmaxnreg.inc.sync.aligned.u32 64; st.global.u32 [%rd0], 1; ret; }" },
    { "alloca_stack", 1, 1, 0, 1, { 7 },
      HEADER KERNEL ".reg .u64 sp, q; stacksave.u64 sp; mov.u64 %rd3, 32; alloca.u64 q, %rd3, 16; "
      "st.local.u32 [q+4], 7; "
      "ld.local.u32 %r0,[q+4]; stackrestore.u64 sp; st.global.b32 [%rd0], %r0; ret; }" },
    { "fns_bits", 1, 1, 0, 8, { 8, 14, 15, 29, 4080, 4080, 0xffffffff, 255 },
      HEADER KERNEL "mov.u32 %r1, 0x0000ff0f; fns.b32 %r0, %r1, 0, 5; st.global.b32 [%rd0], %r0; "
      "fns.b32 %r0, %r1, 31, -2; "
      "st.global.b32 [%rd0+4], %r0; bfind.u32 %r0, %r1; st.global.b32 [%rd0+8], %r0; bfind.shiftamt.s32 %r0, -5; "
      "st.global.b32 [%rd0+12], %r0; bmsk.clamp.b32 %r0, 4, 8; st.global.b32 [%rd0+16], %r0; bmsk.wrap.b32 %r0, 4, 40; "
      "st.global.b32 [%rd0+20], %r0; szext.clamp.s32 %r0, 0xff, 8; st.global.b32 [%rd0+24], %r0; "
      "szext.wrap.u32 %r0, 0x1ff, 40; st.global.b32 [%rd0+28], %r0; ret; }" },
    { "bitfields", 1, 1, 0, 8, { 86, 7, 0x12345ff8, 0xffffffff, 0x456789ab, 0, 0, 0 },
      HEADER KERNEL "mov.u32 %r1, 0x12345678; bfe.u32 %r0,%r1,8,8; st.global.b32 [%rd0], %r0; bfe.s32 %r0,%r1,4,4; "
      "st.global.b32 [%rd0+4], %r0; bfi.b32 %r0, 0xff, %r1, 4, 8; st.global.b32 [%rd0+8], %r0; "
      "bfe.s32 %r0, 0xf0000000, 28, 10; st.global.b32 [%rd0+12], %r0; mov.u64 %rd1, 0x123456789abcdef0; "
      "bfe.u64 %rd2,%rd1,20,32; st.global.b64 [%rd0+16], %rd2; bfi.b64 %rd2, %rd1, 0, 60, 20; "
      "st.global.b64 [%rd0+24], %rd2; ret; }" },
    { "logic_misc", 1, 1, 0, 10, { 0, 1, 150, 0x55114400, 0x44332211, 0x33223322, 0, 2, 0x80000000, 64 },
      HEADER KERNEL "mov.b32 %r1, 0xff00; cnot.b32 %r0,%r1; st.global.b32 [%rd0], %r0; cnot.b32 %r0, 0; "
      "st.global.b32 [%rd0+4], %r0; "
      "lop3.b32 %r0, 0xf0, 0xcc, 0xaa, 0x96; st.global.b32 [%rd0+8], %r0; "
      "prmt.b32 %r0, 0x33221100, 0x77665544, 0x5140; st.global.b32 [%rd0+12], %r0; "
      "prmt.b32.f4e %r0, 0x33221100, 0x77665544, 1; st.global.b32 [%rd0+16], %r0; "
      "prmt.b32.rc16 %r0, 0x33221100, 0x77665544, 1; st.global.b32 [%rd0+20], %r0; "
      "shf.l.wrap.b32 %r0, 1, 0x80000000, 33; st.global.b32 [%rd0+24], %r0; shf.r.clamp.b32 %r0, 1, 2, 40; "
      "st.global.b32 [%rd0+28], %r0; brev.b32 %r0, 1; st.global.b32 [%rd0+32], %r0; popc.b64 %r0, -1; "
      "st.global.b32 [%rd0+36], %r0; ret; }" },
    { "prmt_modes", 1, 1, 0, 6, { 0x77001122, 0x33333333, 0x33222222, 0x11111100, 0xffff0000, 0x77553311 },
      HEADER KERNEL "mov.b32 %r1, 0x33221100; mov.b32 %r2, 0x77665544; prmt.b32.b4e %r0,%r1,%r2,2; "
      "st.global.b32 [%rd0], %r0; "
      "prmt.b32.rc8 %r0,%r1,%r2,3; st.global.b32 [%rd0+4], %r0; prmt.b32.ecl %r0,%r1,%r2,2; "
      "st.global.b32 [%rd0+8], %r0; prmt.b32.ecr %r0,%r1,%r2,1; st.global.b32 [%rd0+12], %r0; "
      "prmt.b32 %r0, 0x80ff7f00, 0, 0xba98; st.global.b32 [%rd0+16], %r0; prmt.b32 %r0, %r1, %r2, 0x7531; "
      "st.global.b32 [%rd0+20], %r0; ret; }" },
    { "lop3_pred", 1, 1, 0, 2, { 1, 1 },
      ".version 8.2\n"
      ".target sm_90\n"
      ".address_size 64\n"
      KERNEL "setp.eq.u32 %p1, 1, 1; lop3.or.b32 %r0|%p0, 0, 0, 0, 0x80, %p1; selp.u32 %r1,1,0,%p0; "
      "st.global.b32 [%rd0], %r1; lop3.and.b32 %r0|%p0, 1, 1, 1, 0x80, %p1; selp.u32 %r1,1,0,%p0; "
      "st.global.b32 [%rd0+4], %r1; ret; }" },
    { "shifts", 1, 1, 0, 8, { 0, 0xffffffff, 0, 65535, 2, 0x40000000, 0, 0 },
      HEADER KERNEL "mov.b32 %r1, 0x80000001; shl.b32 %r0,%r1,32; st.global.b32 [%rd0], %r0; shr.s32 %r0,%r1,40; "
      "st.global.b32 [%rd0+4], %r0; shr.u32 %r0,%r1,32; st.global.b32 [%rd0+8], %r0; mov.b16 %h1, 0x8001; "
      "shr.s16 %h0,%h1,20; cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0+12], %r0; shl.b16 %h0,%h1,1; cvt.u32.u16 %r0,%h0; "
      "st.global.b32 [%rd0+16], %r0; shr.b32 %r0, %r1, 1; st.global.b32 [%rd0+20], %r0; mov.u64 %rd1, -1; "
      "shr.u64 %rd1,%rd1,64; st.global.b64 [%rd0+24], %rd1; ret; }" },
    { "intmul", 1, 1, 0, 16, { 0x12345676, 0xfffffffe, 0xdcba9880, 0xfffffffe, 3, 0x7fffffff, 0xb9753100, 0x12345675,
        0xfffffcba, 0x74ba9881, 0x7ffffcb9, 0xedcba97f, 18, 0xffffffeb, 65534, 17 },
      HEADER KERNEL "mov.u32 %r1, 0xfffffff0; mov.u32 %r2, 0x12345678; mul.hi.u32 %r0,%r1,%r2; "
      "st.global.b32 [%rd0], %r0; "
      "mul.hi.s32 %r0,%r1,%r2; st.global.b32 [%rd0+4], %r0; mul.wide.s32 %rd1,%r1,%r2; st.global.b64 [%rd0+8], %rd1; "
      "mad.hi.s32 %r0,%r1,%r2,5; st.global.b32 [%rd0+16], %r0; mad.wide.u32 %rd1,%r1,%r2,%rd1; "
      "st.global.b64 [%rd0+24], %rd1; mad.hi.sat.s32 %r0, 0x7fffffff, 0x7fffffff, 0x7fffffff; "
      "st.global.b32 [%rd0+20], %r0; mul24.hi.s32 %r0,%r1,%r2; st.global.b32 [%rd0+32], %r0; "
      "mad24.lo.u32 %r0,%r1,%r2,1; st.global.b32 [%rd0+36], %r0; mad24.hi.sat.s32 %r0,%r1,%r2,0x7fffffff; "
      "st.global.b32 [%rd0+40], %r0; sad.u32 %r0,%r1,%r2,7; st.global.b32 [%rd0+44], %r0; sad.s16 %h0, -5, 6, 7; "
      "cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0+48], %r0; mul.wide.s16 %r0, -3, 7; st.global.b32 [%rd0+52], %r0; "
      "mul.hi.u16 %h0, 0xffff, 0xffff; cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0+56], %r0; mad.lo.s16 %h0, 3, 4, 5; "
      "cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0+60], %r0; ret; }" },
    { "int_misc", 1, 1, 0, 16, { 5, 0x80000000, 0xfffffff9, 0x7fffffff, 0x80000000, 0xffffffff, 0xffffffff,
        0xffffffff, 0xfffffffd, 0xffffffff, 0xffffffff, 32, 63, 29, 7, 0 },
      HEADER KERNEL "abs.s32 %r0, -5; st.global.b32 [%rd0], %r0; abs.s32 %r0, 0x80000000; st.global.b32 [%rd0+4], %r0; "
      "neg.s32 %r0, 7; st.global.b32 [%rd0+8], %r0; add.sat.s32 %r0, 0x7fffffff, 1; st.global.b32 [%rd0+12], %r0; "
      "sub.sat.s32 %r0, 0x80000000, 1; st.global.b32 [%rd0+16], %r0; min.s32 %r0, -1, 1; st.global.b32 [%rd0+20], %r0; "
      "max.u32 %r0, -1, 1; st.global.b32 [%rd0+24], %r0; rem.s32 %r0, -7, 3; st.global.b32 [%rd0+28], %r0; "
      "div.s32 %r0, -7, 2; st.global.b32 [%rd0+32], %r0; mov.u32 %r5, 0; div.u32 %r0, 7, %r5; "
      "st.global.b32 [%rd0+36], %r0; rem.u32 %r0, 7, %r5; st.global.b32 [%rd0+40], %r0; clz.b32 %r0, 0; "
      "st.global.b32 [%rd0+44], %r0; clz.b64 %r0, 1; st.global.b32 [%rd0+48], %r0; "
      "dp4a.s32.u32 %r0, 0xff010203, 0x01020304, 10; st.global.b32 [%rd0+52], %r0; "
      "dp2a.lo.u32.s32 %r0, 0x00020003, 0xff01fe02, 5; st.global.b32 [%rd0+56], %r0; max.s32.relu %r0, -5, -6; "
      "st.global.b32 [%rd0+60], %r0; ret; }" },
    { "simd_int16x2", 1, 1, 0, 6, { 0x30001, 0x8000ffff, 0x8000ffff, 0, 0x80000002, 0 },
      HEADER KERNEL "mov.b32 %r4, 0x0001ffff; mov.b32 %r5, 0x00020002; mov.b32 %r6, 0x8000ffff; "
      "mov.b32 %r7, 0x00010001; "
      "mov.b32 %r8, 0x80018001; mov.b32 %r9, 0x7fff0001; add.u16x2 %r0, %r4, %r5; st.global.b32 [%rd0], %r0; "
      "min.s16x2 %r0, %r6, %r7; st.global.b32 [%rd0+4], %r0; max.u16x2 %r0, %r6, %r7; st.global.b32 [%rd0+8], %r0; "
      "max.relu.s16x2 %r0, %r6, %r8; st.global.b32 [%rd0+12], %r0; add.s16x2 %r0, %r9, %r7; "
      "st.global.b32 [%rd0+16], %r0; min.relu.s32 %r0, -4, 5; st.global.b32 [%rd0+20], %r0; ret; }" },
    { "bar_two_sides", 1, 32, 0, 1, { 1 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; setp.lt.u32 %p0,%r0,16; @%p0 bra A; barrier.sync 0; bra B; "
      "A: barrier.sync 0; "
      "B: setp.ne.u32 %p1,%r0,0; @%p1 ret; st.global.u32 [%rd0], 1; ret; }" },
    { "bar_two_sides_data", 1, 32, 0, 3, { 31, 30, 29 },
      HEADER ".shared .u32 s[32];\n"
      KERNEL " mov.u32 %r0, %tid.x; mov.u32 %r5, s; shl.b32 %r1,%r0,2; add.u32 %r1,%r1,%r5; setp.lt.u32 %p0,%r0,16; "
      "@%p0 bra A; st.shared.u32 [%r1], %r0; barrier.sync 1; bra B; A: st.shared.u32 [%r1], %r0; barrier.sync 1; "
      "B: sub.u32 %r2, 31, %r0; shl.b32 %r2,%r2,2; add.u32 %r2,%r2,%r5; ld.shared.u32 %r3,[%r2]; "
      "mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1],%r3; ret; }" },
    { "bar_two_sides_use", 1, 32, 0, 3, { 31, 30, 29 },
      HEADER ".shared .u32 s[32];\n"
      KERNEL " mov.u32 %r0, %tid.x; mov.u32 %r5, s; shl.b32 %r1,%r0,2; add.u32 %r1,%r1,%r5; sub.u32 %r2, 31, %r0; "
      "shl.b32 %r2,%r2,2; add.u32 %r2,%r2,%r5; mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; "
      "setp.lt.u32 %p0,%r0,16; @%p0 bra A; st.shared.u32 [%r1], %r0; barrier.sync 1; ld.shared.u32 %r3,[%r2]; "
      " st.global.u32 [%rd1],%r3; bra B; A: st.shared.u32 [%r1], %r0; barrier.sync 1; ld.shared.u32 %r3,[%r2]; "
      " st.global.u32 [%rd1],%r3; B: ret; }" },
    { "bar_producer_consumer", 1, 64, 0, 2, { 5, 5 },
      HEADER ".shared .u32 s;\n"
      KERNEL " mov.u32 %r0, %tid.x; setp.ge.u32 %p0,%r0,32; @%p0 bra C; setp.ne.u32 %p1,%r0,0; "
      "@!%p1 st.shared.u32 [s], 5; "
      "bar.arrive 1, 64; ret; C: bar.sync 1, 64; ld.shared.u32 %r1,[s]; sub.u32 %r0,%r0,32; mul.wide.u32 %rd1,%r0,4; "
      "add.u64 %rd1,%rd0,%rd1; st.global.u32 [%rd1],%r1; ret; }" },
    { "bar_lane_diverged_ids", 1, 32, 0, 1, { 1 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 0; barrier.sync %r1; barrier.sync.aligned 0; "
      "barrier.cta.sync 2, 32; "
      "bar.sync %r1, 32; bar.cta.sync 3; bar.warp.sync 0xffffffff; st.global.u32 [%rd0], 1; ret; }" },
    { "bar_red", 1, 64, 0, 3, { 10, 0, 1 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; setp.lt.u32 %p0,%r0,10; bar.red.popc.u32 %r1, 0, %p0; "
      "bar.red.and.pred %p1, 0, %p0; "
      "bar.red.or.pred %p2, 0, 64, %p0; setp.ne.u32 %p3,%r0,0; @%p3 ret; st.global.b32 [%rd0], %r1; "
      "selp.u32 %r2,1,0,%p1; st.global.b32 [%rd0+4], %r2; selp.u32 %r2,1,0,%p2; st.global.b32 [%rd0+8], %r2; ret; }" },
    { "bar_red_cta", 1, 40, 0, 2, { 30, 0 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; setp.lt.u32 %p0,%r0,10; barrier.cta.red.popc.aligned.u32 %r1, 5, !%p0; "
      "barrier.red.and.pred %p1, 5, !%p0;  setp.ne.u32 %p3,%r0,0; @%p3 ret; st.global.b32 [%rd0], %r1; "
      "selp.u32 %r2,1,0,%p1; st.global.b32 [%rd0+4], %r2; ret; }" },
    { "bar_early_exit", 1, 64, 0, 1, { 3 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; setp.ge.u32 %p0,%r0,40; @%p0 exit; bar.sync 0; setp.ne.u32 %p0,%r0,0; "
      "@%p0 ret; "
      "st.global.u32 [%rd0], 3; ret; }" },
    { "vote_sync_div", 1, 32, 0, 4, { 65535, 0xffff0000, 1, 1 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; setp.lt.u32 %p0,%r0,16; @%p0 bra A; "
      "vote.sync.ballot.b32 %r1, 1, 0xffff0000; "
      "setp.ne.u32 %p1,%r0,31; @!%p1 st.global.u32 [%rd0+4], %r1; bra B; A: vote.sync.ballot.b32 %r1, 1, 0x0000ffff; "
      "setp.ne.u32 %p1,%r0,0; @!%p1 st.global.u32 [%rd0], %r1; B: vote.sync.uni.pred %p2, %p0, 0xffffffff; @%p2 ret; "
      "vote.sync.any.pred %p3, %p0, -1; @%p3 st.global.u32 [%rd0+8], 1; vote.sync.all.pred %p3, !%p0, -1; "
      "@!%p3 st.global.u32 [%rd0+12], 1; ret; }" },
    { "match_redux", 1, 32, 0, 4, { 65280, 496, 31, 0 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; shr.u32 %r1,%r0,3; match.any.sync.b32 %r2, %r1, 0xffffffff; "
      "match.all.sync.b32 %r3|%p0, %r1, -1; redux.sync.add.u32 %r4, %r0, -1; redux.sync.max.s32 %r5, %r0, 0xffffffff; "
      "redux.sync.xor.b32 %r6, %r0, -1; setp.ne.u32 %p1,%r0,9; @%p1 ret; st.global.b32 [%rd0], %r2; "
      "st.global.b32 [%rd0+4], %r4; st.global.b32 [%rd0+8], %r5; st.global.b32 [%rd0+12], %r6; ret; }" },
    { "match_b64", 1, 32, 0, 3, { 0xaaaaaaaa, 0xffffffff, 1 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; and.b32 %r1,%r0,1; cvt.u64.u32 %rd1,%r1; match.any.sync.b64 %r2, %rd1, -1; "
      "match.all.sync.b64 %r3|%p0, 5, -1; selp.u32 %r4,1,0,%p0; setp.ne.u32 %p1,%r0,9; @%p1 ret; "
      "st.global.b32 [%rd0], %r2; st.global.b32 [%rd0+4], %r3; st.global.b32 [%rd0+8], %r4; ret; }" },
    { "elect_activemask", 1, 32, 0, 3, { 0xffffffff, 1, 0 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; activemask.b32 %r1; elect.sync %r2|%p0, 0xffffffff; @!%p0 ret; "
      "st.global.b32 [%rd0], %r1; "
      "selp.u32 %r3,1,0,%p0; st.global.b32 [%rd0+4], %r3; st.global.b32 [%rd0+8], %r2; ret; }" },
    { "shfl_sync_forms", 1, 32, 0, 32, { 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
        5, 5, 5, 5, 5, 5, 5 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; "
      "shfl.sync.idx.b32 %r1|%p0, %r0, 5, 0x1f, 0xffffffff; st.global.u32 [%rd1],%r1; "
      "shfl.sync.up.b32 %r1|%p0, %r0, 2, 0x1800, -1; selp.u32 %r2,%r1,99,%p0; st.global.u32 [%rd1+128],%r2; "
      "shfl.sync.down.b32 %r1, %r0, %r0, 31, -1; st.global.u32 [%rd1+256],%r1; "
      "shfl.sync.bfly.b32 %r7|%p1, %r0, 16, 0xf, -1; selp.u32 %r2,1,0,%p1; st.global.u32 [%rd1+384],%r2; ret; }" },
    { "shfl_from_idle_lane", 1, 32, 0, 8, { 104, 105, 106, 107, 0, 0, 0, 0 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; add.u32 %r1, %r0, 100; "
      "setp.gt.u32 %p0, %r0, 7; @%p0 bra X; "
      "shfl.sync.down.b32 %r2, %r1, 4, 31, 0xff; st.global.u32 [%rd1],%r2; X: ret; }" },
    { "rows", 1, 32, 512, 32, { 657, 697, 748, 799, 894, 901, 952, 1003, 1131, 1105, 1156, 1207, 1368, 1309, 1360,
        1411, 1605, 544, 1564, 1615, 1842, 1717, 1768, 1819, 2079, 1921, 1972, 2023, 2316, 2125, 2176, 2227 },
      HEADER ".extern .shared .align 16 .b8 room[]; " KERNEL " mov.u32 %r0, %tid.x; mul.wide.u32 %rd1,%r0,4; "
      "add.u64 %rd1,%rd0,%rd1; mov.u32 %r20, room; shl.b32 %r1,%r0,2; add.u32 %r2,%r1,%r20; "
      "mad.lo.u32 %r3,%r0,3,1; st.shared.u32 [%r2],%r3; add.u32 %r3,%r3,96; st.shared.u32 [%r2+128],%r3; "
      "bar.warp.sync -1; shl.b32 %r4,%r0,3; add.u32 %r4,%r4,%r20; "
      "ld.shared.u32 %r5,[%r20+20]; ld.shared.u32 %r6,[%r2]; mad.lo.u32 %r5,%r6,3,%r5; ld.shared.u32 %r6,[%r4]; "
      "mad.lo.u32 %r5,%r6,5,%r5; "
      "sub.u32 %r6,%r20,%r1; ld.shared.u32 %r6,[%r6+124]; mad.lo.u32 %r5,%r6,7,%r5; add.u32 %r6,%r20,%r0; "
      "ld.shared.s8 %r6,[%r6]; mad.lo.u32 %r5,%r6,11,%r5; "
      "ld.shared.v2.u32 {%r6,%r7},[%r4]; mad.lo.u32 %r5,%r6,13,%r5; mad.lo.u32 %r5,%r7,-17,%r5; "
      "setp.eq.u32 %p0,%r0,17; selp.b32 %r6,%r20,%r2,%p0; ld.shared.u32 %r6,[%r6]; mad.lo.u32 %r5,%r6,19,%r5; "
      "st.global.u32 [%rd1],%r5; ld.global.u32 %r6,[%rd1]; st.global.u32 [%rd1],%r6; ret; }" },
    { "atoms_u32", 1, 1, 0, 24, { 235, 0xfffffffd, 0xfffffffd, 1, 9, 8, 0x3fc00000, 0, 0, 0x40040000, 255, 0, 0, 7,
        0, 5, 3, 0, 1, 0, 0x40000000, 1, 6, 4 },
      HEADER KERNEL "mov.u32 %r0, 7; atom.global.add.u32 %r1,[%rd0],%r0; st.global.b32 [%rd0+48], %r1; "
      "atom.global.min.s32 %r1,[%rd0+4],-3; atom.global.max.u32 %r1,[%rd0+8],-3; atom.global.and.b32 %r1,[%rd0],3; "
      "st.global.b32 [%rd0+52], %r1; atom.or.b32 %r1,[%rd0],0x10; atom.xor.b32 %r1,[%rd0],0xff; "
      "atom.global.inc.u32 %r1,[%rd0+12],5; atom.global.dec.u32 %r1,[%rd0+16],5; st.global.b32 [%rd0+56], %r1; "
      "atom.global.cas.b32 %r1,[%rd0+16],5,9; st.global.b32 [%rd0+60], %r1; atom.global.exch.b32 %r1,[%rd0+20],8; "
      "atom.global.add.f32 %f0,[%rd0+24],1.5; atom.add.f64 %d0,[%rd0+32],2.5; atom.global.add.u64 %rd1,[%rd0+40],-1; "
      "red.global.add.s32 [%rd0],-1; red.global.max.u64 [%rd0+40], 5; red.relaxed.gpu.global.and.b64 [%rd0+40], 0xff; "
      "atom.acq_rel.sys.global.add.u32 %r1,[%rd0+64],3; st.global.b32 [%rd0+68], %r1; "
      "atom.global.cas.b64 %rd1,[%rd0+72],0,%rd0; ld.global.u64 %rd2,[%rd0+72]; setp.eq.u64 %p0,%rd2,%rd0; "
      "selp.u64 %rd3,1,0,%p0; st.global.b64 [%rd0+72], %rd3; red.add.f32 [%rd0+80], 0f40000000; "
      "red.global.inc.u32 [%rd0+84], 3; red.or.b32 [%rd0+88], 6; atom.release.cta.add.u32 _, [%rd0+92], 4; ret; }" },
    { "atoms_shared", 1, 1, 0, 10, { 5, 8, 7, 0, 9, 0, 9, 9, 77, 78 },
      HEADER ".shared .align 8 .u32 s[16];\n"
      KERNEL " st.shared.u32 [s], 5; st.shared.u64 [s+8], 7; st.shared.u64 [s+16],0; atom.shared.add.u32 %r0,[s],3; "
      "st.global.b32 [%rd0], %r0; ld.shared.u32 %r0,[s]; st.global.b32 [%rd0+4], %r0; "
      "atom.shared.cas.b64 %rd1,[s+8],7,9; st.global.b64 [%rd0+8], %rd1; ld.shared.u64 %rd1,[s+8]; "
      "st.global.b64 [%rd0+16], %rd1; red.shared.add.u32 [s],1; atom.shared::cta.max.s32 %r0,[s],-1; "
      "st.global.b32 [%rd0+24], %r0; atom.shared.add.f64 %d0,[s+16],1.0; atom.shared.exch.b32 %r1,[s],77; "
      "st.global.b32 [%rd0+28], %r1; ld.shared.u32 %r1,[s]; st.global.b32 [%rd0+32], %r1; "
      "atom.shared.cas.b16 %h1,[s],77,78; ld.shared.u32 %r1,[s]; st.global.b32 [%rd0+36], %r1; ret; }" },
    { "atoms_f16", 1, 1, 0, 6, { 0x40004000, 0x3c003c00, 0x3c003c00, 16256, 0x3c003c00, 0 },
      HEADER KERNEL "mov.b32 %r1, 0x3c003c00; atom.global.add.noftz.f16x2 %r0,[%rd0],%r1; "
      "atom.global.add.noftz.f16x2 %r0,[%rd0],%r1; st.global.b32 [%rd0+4], %r0; mov.b16 %h1,0x3c00; "
      "atom.global.add.noftz.f16 %h0,[%rd0+8],%h1; red.global.add.noftz.f16 [%rd0+10],%h1; mov.b16 %h1,0x3f80; "
      "atom.add.noftz.bf16 %h0,[%rd0+12],%h1; red.global.add.noftz.bf16x2 [%rd0+16], %r1; ret; }" },
    { "atoms_vec", 1, 1, 0, 8, { 0x40000000, 0x40400000, 0x40400000, 0x40800000, 0x3f800000, 0x40000000, 0, 0 },
      ".version 8.1\n"
      ".target sm_90\n"
      ".address_size 64\n"
      KERNEL "mov.f32 %f0, 1.0; mov.f32 %f1, 2.0; mov.f32 %f2, 3.0; mov.f32 %f3, 4.0; red.global.add.v4.f32 [%rd0], {"
      "%f0,%f1,%f2,%f3}; atom.global.v2.f32.add {%f4,%f5}, [%rd0], {%f0,%f0}; st.global.v2.f32 [%rd0+16], {%f4,%f5}; "
      "ret; }" },
    { "atoms_vec2", 1, 1, 0, 8, { 0x40000000, 0x40400000, 0x40400000, 0x40800000, 0x3f800000, 0x40000000, 0, 0 },
      ".version 8.1\n"
      ".target sm_90\n"
      ".address_size 64\n"
      KERNEL "mov.f32 %f0, 1.0; mov.f32 %f1, 2.0; mov.f32 %f2, 3.0; mov.f32 %f3, 4.0; red.global.v4.f32.add [%rd0], {"
      "%f0,%f1,%f2,%f3}; atom.global.v2.f32.add {%f4,%f5}, [%rd0], {%f0,%f0}; st.global.v2.f32 [%rd0+16], {%f4,%f5}; "
      "ret; }" },
    { "f16_ops", 1, 1, 0, 16, { 17408, 17920, 0x3c004880, 0x3c004880, 0xbc00c200, 1, 1, 0xffffffff, 0x3c003c00,
        16384, 15360, 0x40400000, 0x42004200, 3, 1, 0xc0400000 },
      HEADER KERNEL ".reg .f16 a,b,c; .reg .f16x2 u,v; mov.b16 a, 0x3c00; mov.b16 b, 0x4200; add.f16 c,a,b; "
      "mov.b16 %h0,c; "
      "cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0], %r0; fma.rn.f16 c,a,b,b; mov.b16 %h0,c; cvt.u32.u16 %r0,%h0; "
      "st.global.b32 [%rd0+4], %r0; mov.b32 u, 0x3c004200; mul.f16x2 v,u,u; mov.b32 %r0,v; "
      "st.global.b32 [%rd0+8], %r0; max.f16x2 v,u,v; mov.b32 %r0,v; st.global.b32 [%rd0+12], %r0; neg.f16x2 v,u; "
      "mov.b32 %r0,v; st.global.b32 [%rd0+16], %r0; abs.f16 c, c; setp.lt.f16 %p0,a,b; selp.u32 %r0,1,0,%p0; "
      "st.global.b32 [%rd0+20], %r0; setp.gt.f16x2 %p0|%p1,u,v; selp.u32 %r0,1,0,%p1; st.global.b32 [%rd0+24], %r0; "
      "set.lt.u32.f16 %r0,a,b; st.global.b32 [%rd0+28], %r0; set.eq.f16x2.f16x2 %r0,u,u; st.global.b32 [%rd0+32], %r0; "
      "ex2.approx.f16 c,a; mov.b16 %h0,c; cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0+36], %r0; tanh.approx.f16x2 v,u; "
      "fma.rn.relu.f16 c,a,b,a; sub.sat.f16 c,b,a; mov.b16 %h0,c; cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0+40], %r0; "
      "min.NaN.f16 c,a,b; min.xorsign.abs.f16 c,a,b; cvt.f32.f16 %f0,b; st.global.b32 [%rd0+44], %f0; "
      "cvt.rn.f16.f32 c,%f0; cvt.rn.f16x2.f32 %r0,%f0,%f0; st.global.b32 [%rd0+48], %r0; cvt.rni.s32.f16 %r0,b; "
      "st.global.b32 [%rd0+52], %r0; testp.normal.f32 %p0,%f0; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+56], %r0; "
      "copysign.f32 %f1,-1.0,%f0; st.global.b32 [%rd0+60], %f1; ret; }" },
    { "bf16_ops", 1, 1, 0, 8, { 16576, 16512, 0x3f804110, 0x3f804110, 16272, 0x3f8fc000, 1, 0x40400000 },
      HEADER KERNEL ".reg .b16 a,b,c; .reg .b32 u,v; mov.b16 a, 0x3f80; mov.b16 b,0x4040; fma.rn.bf16 c,a,b,b; "
      "mov.b16 %h0,c; "
      "cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0], %r0; add.bf16 c,a,b; mov.b16 %h0,c; cvt.u32.u16 %r0,%h0; "
      "st.global.b32 [%rd0+4], %r0; mov.b32 u,0x3f804040; mul.bf16x2 v,u,u; mov.b32 %r0,v; "
      "st.global.b32 [%rd0+8], %r0; max.bf16x2 v,u,v; mov.b32 %r0,v; st.global.b32 [%rd0+12], %r0; "
      "cvt.rn.bf16.f32 c, 0f3f8fffff; mov.b16 %h0,c; cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0+16], %r0; "
      "cvt.rz.bf16x2.f32 %r0, 0f3f8fffff, 0fc0000000; st.global.b32 [%rd0+20], %r0; setp.lt.bf16 %p0,a,b; "
      "selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+24], %r0; cvt.f32.bf16 %f0,b; st.global.b32 [%rd0+28], %f0; ret; }" },
    { "f32_ops", 1, 1, 0, 24, { 0x3f921fb6, 0x40a487ed, 0, 0, 0xbfc90fdb, 0x3fc90fdb, 0x3ea2f983, 0x3fe2dfc5,
        0x40000000, 0x40000000, 0xc0000000, 0x7fffffff, 0xc0490fdb, 3, 0xc0000000, 0x4f800000, 1, 0, 0x3f800000,
        0xffffffff, 0, 0xc0490fdb, 255, 0x1234ff00 },
      HEADER KERNEL "mov.f32 %f0, 0f40490fdb; mov.f32 %f1, 0fc0000000; add.rz.f32 %f2,%f0,%f1; "
      "st.global.b32 [%rd0], %f2; "
      "sub.rm.ftz.f32 %f2,%f0,%f1; st.global.b32 [%rd0+4], %f2; mul.rp.sat.f32 %f2,%f0,%f1; "
      "st.global.b32 [%rd0+8], %f2; fma.rn.ftz.sat.f32 %f2,%f0,%f1,%f0; st.global.b32 [%rd0+12], %f2; "
      "div.rn.f32 %f2,%f0,%f1; st.global.b32 [%rd0+16], %f2; div.approx.ftz.f32 %f2,%f0,2.0; "
      "st.global.b32 [%rd0+20], %f2; rcp.rn.f32 %f2,%f0; st.global.b32 [%rd0+24], %f2; sqrt.rn.f32 %f2,%f0; "
      "st.global.b32 [%rd0+28], %f2; abs.ftz.f32 %f2,%f1; st.global.b32 [%rd0+32], %f2; neg.f32 %f2,%f1; "
      "st.global.b32 [%rd0+36], %f2; min.f32 %f2,%f0,%f1; st.global.b32 [%rd0+40], %f2; "
      "max.NaN.f32 %f2,%f0,0f7fc00000; st.global.b32 [%rd0+44], %f2; max.xorsign.abs.f32 %f2,%f0,%f1; "
      "st.global.b32 [%rd0+48], %f2; cvt.rzi.s32.f32 %r0,%f0; st.global.b32 [%rd0+52], %r0; cvt.rmi.f32.f32 %f2,%f1; "
      "st.global.b32 [%rd0+56], %f2; cvt.rn.f32.u32 %f2, -1; st.global.b32 [%rd0+60], %f2; "
      "setp.ltu.f32 %p0,%f0,0f7fc00000; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+64], %r0; "
      "setp.num.f32 %p0,%f0,0f7fc00000; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+68], %r0; "
      "set.gt.f32.f32 %f2,%f0,%f1; st.global.b32 [%rd0+72], %f2; set.gt.u32.f32 %r0,%f0,%f1; "
      "st.global.b32 [%rd0+76], %r0; set.le.and.s32.s32 %r0, 3, 4, %p0; st.global.b32 [%rd0+80], %r0; "
      "mad.rn.f32 %f2,%f0,%f1,%f0; st.global.b32 [%rd0+84], %f2; cvt.rzi.sat.u8.f32 %r0, 300.5; "
      "st.global.b32 [%rd0+88], %r0; cvt.pack.sat.u8.s32.b32 %r0, 300, -5, 0x1234; st.global.b32 [%rd0+92], %r0; ret; "
      "}" },
    { "f32_cvts", 1, 1, 0, 12, { 0xffffff85, 0xffffffff, 0, 0xc2f6e979, 0xc2f6e000, 55223, 0xffffff85, 0xffffff80,
        9029, 127, 61248, 0xef004000 },
      HEADER KERNEL "mov.f32 %f0, 0fc2f6e979; cvt.rni.s64.f32 %rd1,%f0; st.global.b64 [%rd0], %rd1; "
      "cvt.rzi.u32.f32 %r0,%f0; "
      "st.global.b32 [%rd0+8], %r0; cvt.f64.f32 %d0,%f0; cvt.rn.f32.f64 %f1,%d0; st.global.b32 [%rd0+12], %f1; "
      "cvt.rna.tf32.f32 %r0,%f0; st.global.b32 [%rd0+16], %r0; cvt.rz.f16.f32 %h0,%f0; cvt.u32.u16 %r0,%h0; "
      "st.global.b32 [%rd0+20], %r0; cvt.rpi.s16.f32 %h0,%f0; cvt.s32.s16 %r0,%h0; st.global.b32 [%rd0+24], %r0; "
      "cvt.s32.s8 %r0, 0x180; st.global.b32 [%rd0+28], %r0; cvt.u16.u32 %h0, 0x12345; cvt.u32.u16 %r0,%h0; "
      "st.global.b32 [%rd0+32], %r0; cvt.sat.s8.s32 %r0, 500; st.global.b32 [%rd0+36], %r0; "
      "cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, 2.0; cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0+40], %r0; "
      "cvt.rn.f16x2.e5m2x2 %r0, %h0; st.global.b32 [%rd0+44], %r0; ret; }" },
    { "cvt_self", 1, 1, 0, 6, { 0, 0, 0xbf800000, 0, 0xffffffff, 0xffffffff },
      HEADER KERNEL "mov.f32 %f0, 0fbfc00000; cvt.sat.f32.f32 %f1,%f0; st.global.b32 [%rd0], %f1; "
      "cvt.ftz.f32.f32 %f1, 0f00000001; "
      "st.global.b32 [%rd0+4], %f1; cvt.rzi.f32.f32 %f1,%f0; st.global.b32 [%rd0+8], %f1; mov.s32 %r1, -1; "
      "cvt.u64.s32 %rd1, %r1; st.global.b64 [%rd0+16], %rd1; cvt.sat.u32.s32 %r0, %r1; st.global.b32 [%rd0+12], %r0; "
      "ret; }" },
    { "f64_ops", 1, 1, 0, 20, { 0xa8885a30, 0x3ff243f6, 0x54442d18, 0xbff921fb, 0x54442d18, 0xc00921fb, 0x91b4ef6a,
        0x3ffc5bf8, 0x6dc9c883, 0x3fd45f30, 0, 0x3fd45f30, 0, 0xc0000000, 0x54442d18, 0xc00921fb, 0xfffffffe, 0, 0,
        0xc0080000 },
      HEADER KERNEL "mov.f64 %d0, 0d400921FB54442D18; mov.f64 %d1, 0dC000000000000000; add.rp.f64 %d2,%d0,%d1; "
      "st.global.f64 [%rd0],%d2; div.rz.f64 %d2,%d0,%d1; st.global.f64 [%rd0+8],%d2; fma.rm.f64 %d2,%d0,%d1,%d0; "
      "st.global.f64 [%rd0+16],%d2; sqrt.rn.f64 %d2,%d0; st.global.f64 [%rd0+24],%d2; rcp.rn.f64 %d2,%d0; "
      "st.global.f64 [%rd0+32],%d2; rcp.approx.ftz.f64 %d2,%d0; st.global.f64 [%rd0+40],%d2; min.f64 %d2,%d0,%d1; "
      "st.global.f64 [%rd0+48],%d2; copysign.f64 %d2,%d1,%d0; st.global.f64 [%rd0+56],%d2; cvt.rmi.s32.f64 %r0,%d1; "
      "st.global.b32 [%rd0+64], %r0; testp.infinite.f64 %p0,%d0; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+68], %r0; "
      "cvt.rn.f64.s64 %d2, -3; st.global.f64 [%rd0+72],%d2; ret; }" },
    { "video_scalar", 1, 1, 0, 12, { 900, 33019, 11, 0x1028004, 0xff7f010, 0x20506, 0x1020185, 8, 0x82018205, 528,
        0x1010100, 0x41814103 },
      HEADER KERNEL "mov.b32 %r1, 0x80ff7f01; mov.b32 %r2, 0x01020304; mov.b32 %r3, 7; mov.b32 %r4, 0; "
      "vadd.s32.u32.s32.sat %r0,%r1.b3,%r2.h0; st.global.b32 [%rd0], %r0; vsub.u32.u32.u32 %r0,%r1.h1,%r2.b0; "
      "st.global.b32 [%rd0+4], %r0; vabsdiff.u32.s32.s32.add %r0,%r1.b2,%r2.b1,%r3; st.global.b32 [%rd0+8], %r0; "
      "vmin.s32.s32.s32 %r0.b1,%r1.b3,%r2.b0,%r2; st.global.b32 [%rd0+12], %r0; vshl.u32.u32.u32.wrap %r0,%r1,%r2.b0; "
      "st.global.b32 [%rd0+16], %r0; vmad.u32.u32.u32.shr7 %r0,%r1.b1,%r2.h1,%r2; st.global.b32 [%rd0+20], %r0; "
      "vmad.s32.s32.u32.po %r0,%r1.b3,%r2.b1,%r2; st.global.b32 [%rd0+24], %r0; "
      "vset.u32.u32.lt.add %r0,%r1.b0,%r2.b0,%r3; st.global.b32 [%rd0+28], %r0; vadd2.s32.s32.s32 %r0,%r1,%r2,%r4; "
      "st.global.b32 [%rd0+32], %r0; vadd4.u32.u32.u32.add %r0,%r1,%r2,%r3; st.global.b32 [%rd0+36], %r0; "
      "vset4.u32.u32.gt %r0,%r1,%r2,%r4; st.global.b32 [%rd0+40], %r0; vavrg4.u32.u32.u32 %r0,%r1,%r2,%r4; "
      "st.global.b32 [%rd0+44], %r0; ret; }" },
    { "video_masks", 1, 1, 0, 4, { 0x82010304, 0x80037f03, 514, 0x1027f04 },
      HEADER KERNEL "mov.b32 %r1, 0x80ff7f01; mov.b32 %r2, 0x01020304; mov.b32 %r3, 7; mov.b32 %r4, 0; "
      "vadd2.s32.s32.s32.sat %r0.h1,%r1,%r2,%r2; st.global.b32 [%rd0], %r0; "
      "vsub4.u32.u32.u32 %r0.b20,%r1.b7654,%r2.b3210,%r1; st.global.b32 [%rd0+4], %r0; "
      "vabsdiff4.u32.u32.u32.add %r0,%r1,%r2,%r3; st.global.b32 [%rd0+8], %r0; "
      "vmax4.s32.s32.s32 %r0.b3210,%r1,%r2,%r4; st.global.b32 [%rd0+12], %r0; ret; }" },
    { "mbarrier_basic", 1, 1, 0, 3, { 1, 1, 1 },
      HEADER ".shared .align 8 .b64 mb;\n"
      KERNEL " .reg .b64 st; mbarrier.init.shared.b64 [mb], 1; mbarrier.arrive.shared.b64 st, [mb]; "
      "mbarrier.test_wait.shared.b64 %p0,[mb],st; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0], %r0; "
      "mbarrier.arrive.shared.b64 _, [mb]; mbarrier.test_wait.parity.shared.b64 %p0,[mb],1; selp.u32 %r0,1,0,%p0; "
      "st.global.b32 [%rd0+4], %r0; mbarrier.pending_count.b64 %r1, st; st.global.b32 [%rd0+8], %r1; "
      "mbarrier.inval.shared.b64 [mb]; ret; }" },
    { "mbarrier_tx", 1, 32, 0, 1, { 1 },
      HEADER ".shared .align 8 .b64 mb;\n"
      KERNEL " mov.u32 %r0,%tid.x; setp.ne.u32 %p0,%r0,0; @%p0 bra W; mbarrier.init.shared::cta.b64 [mb], 32; "
      "W: bar.sync 0; "
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 0; L: mbarrier.try_wait.parity.shared::cta.b64 %p1,[mb],0; "
      "@!%p1 bra L; @%p0 ret; st.global.u32 [%rd0],1; ret; }" },
    { "red_async2", 1, 1, 0, 1, { 5 },
      ".version 8.1\n"
      ".target sm_90\n"
      ".address_size 64\n"
      ".shared .align 8 .b64 mb; .shared .u32 v; "
      KERNEL " mov.u32 %r0, v; mov.u32 %r1, mb; st.shared.u32 [v], 2; mov.u32 %r5, 3; "
      "mbarrier.init.shared::cta.b64 [mb], 1; "
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 4; mapa.shared::cluster.u32 %r2, %r0, 0; "
      "mapa.shared::cluster.u32 %r3, %r1, 0; "
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r2], %r5, [%r3]; "
      "L: mbarrier.try_wait.parity.shared::cta.b64 %p1,[mb],0; @!%p1 bra L; ld.shared.u32 %r4,[v]; "
      "st.global.b32 [%rd0], %r4; ret; }" },
    { "st_async", 1, 1, 0, 1, { 3 },
      ".version 8.1\n"
      ".target sm_90\n"
      ".address_size 64\n"
      ".shared .align 8 .b64 mb; .shared .u32 v; "
      KERNEL " mov.u32 %r0, v; mov.u32 %r1, mb; st.shared.u32 [v], 2; mov.u32 %r5, 3; "
      "mbarrier.init.shared::cta.b64 [mb], 1; "
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 4; mapa.shared::cluster.u32 %r2, %r0, 0; "
      "mapa.shared::cluster.u32 %r3, %r1, 0; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], %r5, [%r3]; "
      "L: mbarrier.try_wait.parity.shared::cta.b64 %p1,[mb],0; @!%p1 bra L; ld.shared.u32 %r4,[v]; "
      "st.global.b32 [%rd0], %r4; ret; }" },
    { "cluster_regs", 1, 1, 0, 4, { 0, 1, 0, 1 },
      HEADER KERNEL "mov.u32 %r0,%cluster_ctarank; st.global.b32 [%rd0], %r0; mov.u32 %r0,%cluster_nctarank; "
      "st.global.b32 [%rd0+4], %r0; mov.u32 %r0,%clusterid.x; st.global.b32 [%rd0+8], %r0; mov.u32 %r0,%nclusterid.x; "
      "st.global.b32 [%rd0+12], %r0; barrier.cluster.arrive; barrier.cluster.wait; "
      "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; "
      "mov.pred %p0, %is_explicit_cluster; ret; }" },
    { "getctarank_mapa", 1, 1, 0, 1, { 0 },
      HEADER ".shared .u32 v;\n"
      KERNEL " cvta.shared.u64 %rd1, v; getctarank.u64 %r0, %rd1; st.global.b32 [%rd0], %r0; mov.u32 %r3, v; "
      "getctarank.shared::cluster.u32 %r1,%r3; mapa.u64 %rd2,%rd1,0; ret; }" },
    { "reqcluster", 2, 1, 0, 1, { 2 },
      HEADER ".visible .entry kernel(.param .u64 buffer) .reqnctapercluster 2 .explicitcluster { .reg .u64 o; "
      ".reg .u32 r; "
      "ld.param.u64 o,[buffer]; mov.u32 r,%cluster_nctarank; st.global.u32 [o], r; ret; }" },
    { "bar_div_four_ways", 1, 64, 0, 6, { 63, 62, 61, 60, 59, 58 },
      HEADER ".shared .u32 s[64];\n"
      KERNEL " mov.u32 %r0, %tid.x; mov.u32 %r5, s; shl.b32 %r1,%r0,2; add.u32 %r1,%r1,%r5; sub.u32 %r2, 63, %r0; "
      "shl.b32 %r2,%r2,2; add.u32 %r2,%r2,%r5; mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; and.b32 %r6,%r0,3; "
      "T: .branchtargets A,B,C,D; brx.idx %r6, T; A: st.shared.u32 [%r1],%r0; barrier.sync 0; ld.shared.u32 %r3,[%r2]; "
      "bra E; B: st.shared.u32 [%r1],%r0; barrier.sync 0; ld.shared.u32 %r3,[%r2]; bra E; C: setp.lt.u32 %p0,%r0,20; "
      "@%p0 bra F; st.shared.u32 [%r1],%r0; barrier.sync 0; ld.shared.u32 %r3,[%r2]; bra E; "
      "F: st.shared.u32 [%r1],%r0; barrier.sync 0; ld.shared.u32 %r3,[%r2]; bra E; D: st.shared.u32 [%r1],%r0; "
      "barrier.sync 0; ld.shared.u32 %r3,[%r2]; E: st.global.u32 [%rd1],%r3; ret; }" },
    { "bar_div_red", 1, 64, 0, 4, { 20, 20, 20, 20 },
      HEADER KERNEL " mov.u32 %r0, %tid.x; setp.lt.u32 %p0,%r0,20; and.b32 %r6,%r0,1; setp.eq.u32 %p1,%r6,0; "
      "mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; @%p1 bra A; barrier.red.popc.u32 %r1, 2, %p0; bra E; "
      "A: barrier.red.popc.u32 %r1, 2, %p0; E: st.global.u32 [%rd1],%r1; ret; }" },
    { "warpsync_sides", 1, 32, 0, 4, { 31, 30, 29, 28 },
      HEADER ".shared .u32 s[64];\n"
      KERNEL " mov.u32 %r0, %tid.x; mov.u32 %r5, s; shl.b32 %r1,%r0,2; add.u32 %r1,%r1,%r5; sub.u32 %r2, 31, %r0; "
      "shl.b32 %r2,%r2,2; add.u32 %r2,%r2,%r5; mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; "
      "setp.lt.u32 %p1,%r0,16; @%p1 bra A;  st.shared.u32 [%r1],%r0; bar.warp.sync 0xffffffff; "
      "ld.shared.u32 %r3,[%r2]; bra E; A:  st.shared.u32 [%r1],%r0; bar.warp.sync 0xffffffff; ld.shared.u32 %r3,[%r2]; "
      "E: st.global.u32 [%rd1],%r3; ret; }" },
    { "bar_loop_sides", 1, 96, 0, 4, { 10, 10, 10, 10 },
      HEADER ".shared .u32 c;\n"
      KERNEL " mov.u32 %r0, %tid.x; mov.u32 %r9,0; st.shared.u32 [c],0; bar.sync 0; and.b32 %r6,%r0,1; "
      "setp.eq.u32 %p1,%r6,0; "
      "L: @%p1 bra A; barrier.sync 1; add.u32 %r9,%r9,1; bra E; A: barrier.sync 1; add.u32 %r9,%r9,1; "
      "E: setp.lt.u32 %p2,%r9,10; @%p2 bra L; mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; "
      "st.global.u32 [%rd1],%r9; ret; }" },
    { "bar_call_side", 1, 64, 0, 3, { 64, 64, 64 },
      HEADER ".shared .u32 c;\n"
      ".func (.reg .u32 r) f () { .reg .u32 t; atom.shared.add.u32 t,[c],1; barrier.sync 0; ld.shared.u32 r,[c]; ret; "
      "} "
      KERNEL " mov.u32 %r0, %tid.x; st.shared.u32 [c],0; bar.sync 1; and.b32 %r6,%r0,1; setp.eq.u32 %p1,%r6,0; "
      "@%p1 bra A; "
      "atom.shared.add.u32 %r4,[c],1; barrier.sync 0; ld.shared.u32 %r3,[c]; bra E; A: atom.shared.add.u32 %r4,[c],1; "
      "barrier.sync 0; ld.shared.u32 %r3,[c]; E: mul.wide.u32 %rd1,%r0,4; add.u64 %rd1,%rd0,%rd1; "
      "st.global.u32 [%rd1],%r3; ret; }" },
    { "logic_on_f32", 1, 1, 0, 6, { 0x3f000000, 0x3f800001, 0xc07fffff, 0x7f000000, 0x3f800000, 0x40800000 },
      HEADER KERNEL ".reg .f32 a,b; .reg .s32 s; .reg .u32 u; mov.f32 a, 0f3f800000; and.b32 b, a, 0x7f000000; "
      "st.global.f32 [%rd0], b; or.b32 %r0, a, 1; st.global.b32 [%rd0+4], %r0; not.b32 b, a; "
      "st.global.b32 [%rd0+8], b; shl.b32 s, a, 1; st.global.b32 [%rd0+12], s; setp.eq.b32 %p0, a, 0x3f800000; "
      "selp.b32 a, a, b, %p0; st.global.b32 [%rd0+16], a; xor.b32 u, s, a; st.global.b32 [%rd0+20], u; ret; }" },
    { "signed_mix", 1, 1, 0, 6, { 0xfffffffd, 0x7ffffffe, 4, 0xffffffff, 0xfffffffe, 2 },
      HEADER KERNEL ".reg .s32 s; .reg .u32 u; .reg .s16 h; .reg .s64 q; mov.s32 s, -5; mov.u32 u, s; add.u32 s, u, 2; "
      "st.global.b32 [%rd0], s; shr.u32 s, s, 1; st.global.b32 [%rd0+4], s; mul.wide.s32 q, s, -2; "
      "st.global.b64 [%rd0+8], q; cvt.s16.s32 h, s; cvt.u32.s16 u, h; st.global.b32 [%rd0+16], u; neg.s16 h, h; "
      "cvt.s32.s16 u,h; st.global.b32 [%rd0+20], u; ret; }" },
    { "cvt_wide_regs", 1, 1, 0, 8, { 0xffffff80, 128, 0xffffff80, 0xffffffff, 128, 0xffffff80, 0xc3000000, 65408 },
      HEADER KERNEL "mov.u32 %r1, 0x1ff80; cvt.s8.s32 %r2,%r1; st.global.b32 [%rd0], %r2; cvt.u8.u32 %r2,%r1; "
      "st.global.b32 [%rd0+4], %r2; cvt.s64.s8 %rd1, %r1; st.global.b64 [%rd0+8], %rd1; cvt.u32.u8 %r2,%r1; "
      "st.global.b32 [%rd0+16], %r2; cvt.s32.s16 %r2, %r1; st.global.b32 [%rd0+20], %r2; cvt.rn.f32.s8 %f1,%r1; "
      "st.global.b32 [%rd0+24], %f1; cvt.u16.s8 %h1,%r1; cvt.u32.u16 %r2,%h1; st.global.b32 [%rd0+28], %r2; ret; }" },
    { "cvt_same", 1, 1, 0, 4, { 0xffff8001, 0xffff8001, 32769, 0 },
      HEADER KERNEL "mov.u32 %r1, 0xffff8001; cvt.u32.u32 %r2,%r1; st.global.b32 [%rd0], %r2; cvt.s32.s32 %r2,%r1; "
      "st.global.b32 [%rd0+4], %r2; cvt.sat.s16.s32 %h1,%r1; cvt.u32.u16 %r2,%h1; st.global.b32 [%rd0+8], %r2; "
      "cvt.sat.u16.s32 %h1,%r1; cvt.u32.u16 %r2,%h1; st.global.b32 [%rd0+12], %r2; ret; }" },
    { "setp_bool_ops", 1, 1, 0, 8, { 1, 0, 1, 1, 0, 0, 0, 0 },
      HEADER KERNEL "mov.f32 %f0, 0f7fc00000; mov.f32 %f1, 1.0; setp.neu.f32 %p0,%f0,%f1; selp.u32 %r0,1,0,%p0; "
      "st.global.b32 [%rd0], %r0; setp.ne.f32 %p0,%f0,%f1; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+4], %r0; "
      "setp.nan.f32 %p0,%f0,%f1; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+8], %r0; setp.lo.u32 %p0, 1, 2; "
      "selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+12], %r0; setp.hs.u32 %p0, 1, 2; selp.u32 %r0,1,0,%p0; "
      "st.global.b32 [%rd0+16], %r0; setp.ls.and.u32 %p0|%p1, 2, 2, %p0; selp.u32 %r0,1,0,%p0; "
      "st.global.b32 [%rd0+20], %r0; selp.u32 %r0,1,0,%p1; st.global.b32 [%rd0+24], %r0; "
      "setp.hi.xor.u32 %p0, 3, 2, !%p0; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+28], %r0; ret; }" },
    { "setp_16_64", 1, 1, 0, 6, { 1, 0, 0, 1, 1, 1 },
      HEADER KERNEL "mov.s16 %h0, -1; setp.lt.s16 %p0,%h0,0; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0], %r0; "
      "setp.lt.u16 %p0,%h0,1; "
      "selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+4], %r0; mov.s64 %rd1, -1; setp.gt.s64 %p0,%rd1,0; "
      "selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+8], %r0; setp.gt.u64 %p0,%rd1,0; selp.u32 %r0,1,0,%p0; "
      "st.global.b32 [%rd0+12], %r0; setp.eq.b64 %p0,%rd1,-1; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+16], %r0; "
      "setp.le.f64 %p0, 1.0, 0d3FF0000000000000; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+20], %r0; ret; }" },
    { "set_types", 1, 1, 0, 6, { 0xffffffff, 0x3f800000, 0, 0xffffffff, 0, 0xffffffff },
      HEADER KERNEL "set.lt.s32.u32 %r0, 1, 2; st.global.b32 [%rd0], %r0; set.eq.f32.s32 %f0, 3, 3; "
      "st.global.b32 [%rd0+4], %f0; "
      "set.ge.u32.f64 %r0, 1.0, 2.0; st.global.b32 [%rd0+8], %r0; setp.eq.u32 %p0,1,1; "
      "set.ne.or.u32.b16 %r0, %h0, %h0, %p0; st.global.b32 [%rd0+12], %r0; "
      "set.lt.ftz.f32.f32 %f0, 0f00000001, 0f00000002; st.global.b32 [%rd0+16], %f0; "
      "set.gt.xor.s32.s64 %r0, %rd0, 0, !%p0; st.global.b32 [%rd0+20], %r0; ret; }" },
    { "slct64", 1, 1, 0, 6, { 6, 0, 0, 0x3ff00000, 1, 2 },
      HEADER KERNEL "slct.s64.s32 %rd1, 5, 6, -1; st.global.b64 [%rd0], %rd1; slct.f64.f32 %d0, 1.0, 2.0, 0f00000000; "
      "st.global.f64 [%rd0+8],%d0; slct.b16.s32 %h0, 1, 2, 0; cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0+16], %r0; "
      "slct.u32.f32 %r0, 1, 2, 0f7fc00000; st.global.b32 [%rd0+20], %r0; ret; }" },
    { "sad_abs64", 1, 1, 0, 8, { 13, 0, 9, 0, 0, 0, 0xffffffff, 0xffffffff },
      HEADER KERNEL "mov.s64 %rd1, -9; sad.s64 %rd2,%rd1,3,1; st.global.b64 [%rd0], %rd2; abs.s64 %rd2,%rd1; "
      "st.global.b64 [%rd0+8], %rd2; max.s64 %rd2,%rd1,0; st.global.b64 [%rd0+16], %rd2; rem.s64 %rd2,%rd1,4; "
      "st.global.b64 [%rd0+24], %rd2; ret; }" },
    { "div16", 1, 1, 0, 4, { 0xfffffff2, 2, 0xffffffff, 24464 },
      HEADER KERNEL "div.s16 %h0, -100, 7; cvt.s32.s16 %r0,%h0; st.global.b32 [%rd0], %r0; rem.u16 %h0, 100, 7; "
      "cvt.u32.u16 %r0,%h0; "
      "st.global.b32 [%rd0+4], %r0; min.s16 %h0,-1,1; cvt.s32.s16 %r0,%h0; st.global.b32 [%rd0+8], %r0; "
      "mul.lo.u16 %h0, 300, 300; cvt.u32.u16 %r0,%h0; st.global.b32 [%rd0+12], %r0; ret; }" },
    { "mul64hi", 1, 1, 0, 8, { 0xc8dc5acc, 0xfdbac097, 0xdc33f6ac, 84838, 0x76543212, 0xfedcba98, 0xd950c840,
        0xfb72ea61 },
      HEADER KERNEL "mov.u64 %rd1, 0xfedcba9876543210; mul.hi.u64 %rd2,%rd1,%rd1; st.global.b64 [%rd0], %rd2; "
      "mul.hi.s64 %rd2,%rd1,%rd1; st.global.b64 [%rd0+8], %rd2; mad.hi.u64 %rd2,%rd1,3,%rd1; "
      "st.global.b64 [%rd0+16], %rd2; mad.lo.s64 %rd2,%rd1,3,%rd1; st.global.b64 [%rd0+24], %rd2; ret; }" },
    { "shf_dyn", 1, 1, 0, 4, { 0xcdef0123, 0xef012345, 0x12345678, 0x1234567 },
      HEADER KERNEL "mov.u32 %r1, 0x12345678; mov.u32 %r2, 0x9abcdef0; mov.u32 %r3, 12; "
      "shf.l.clamp.b32 %r0,%r1,%r2,%r3; "
      "st.global.b32 [%rd0], %r0; shf.r.wrap.b32 %r0,%r1,%r2,%r3; st.global.b32 [%rd0+4], %r0; mov.u32 %r3, 36; "
      "shf.l.clamp.b32 %r0,%r1,%r2,%r3; st.global.b32 [%rd0+8], %r0; shf.r.wrap.b32 %r0,%r1,%r2,%r3; "
      "st.global.b32 [%rd0+12], %r0; ret; }" },
    { "bfi_edge", 1, 1, 0, 6, { 0, 0xfffffff0, 3, 0, 0xffffffff, 0xfffffff8 },
      HEADER KERNEL "bfi.b32 %r0, 0xffffffff, 0, 40, 4; st.global.b32 [%rd0], %r0; bfi.b32 %r0, 0xffffffff, 0, 4, 40; "
      "st.global.b32 [%rd0+4], %r0; bfe.u32 %r0, 0xffffffff, 30, 4; st.global.b32 [%rd0+8], %r0; "
      "bfe.s32 %r0, 0x80000000, 31, 0; st.global.b32 [%rd0+12], %r0; bfe.s32 %r0, 0x80000000, 40, 2; "
      "st.global.b32 [%rd0+16], %r0; bfe.s64 %rd1, 0x8000000000000000, 60, 10; cvt.u32.u64 %r0,%rd1; "
      "st.global.b32 [%rd0+20], %r0; ret; }" },
    { "bfind", 1, 1, 0, 6, { 32, 0xffffffff, 0xffffffff, 30, 0, 0x80000000 },
      HEADER KERNEL "bfind.u64 %r0, 0x100000000; st.global.b32 [%rd0], %r0; bfind.s64 %r0, -1; "
      "st.global.b32 [%rd0+4], %r0; "
      "bfind.shiftamt.u32 %r0, 0; st.global.b32 [%rd0+8], %r0; bfind.s32 %r0, 0x7fffffff; "
      "st.global.b32 [%rd0+12], %r0; brev.b64 %rd1, 1; st.global.b64 [%rd0+16], %rd1; ret; }" },
    { "dp2a_dp4a", 1, 1, 0, 6, { 1023, 250, 1030, 32514, 32514, 98050 },
      HEADER KERNEL "mov.b32 %r1, 0x80ff7f01; mov.b32 %r2, 0x01020304; dp4a.u32.u32 %r0,%r1,%r2,0; "
      "st.global.b32 [%rd0], %r0; "
      "dp4a.s32.s32 %r0,%r1,%r2,-5; st.global.b32 [%rd0+4], %r0; dp4a.u32.s32 %r0,%r1,%r2,7; "
      "st.global.b32 [%rd0+8], %r0; dp2a.lo.s32.u32 %r0,%r1,%r2,1; st.global.b32 [%rd0+12], %r0; "
      "dp2a.hi.s32.s32 %r0,%r1,%r2,1; st.global.b32 [%rd0+16], %r0; dp2a.hi.u32.u32 %r0,%r1,%r2,1; "
      "st.global.b32 [%rd0+20], %r0; ret; }" },
    { "ex2_lg2", 1, 1, 0, 6, { 0x41000000, 0x40400000, 0x3f000000, 0, 0x3f800000, 0x40400000 },
      HEADER KERNEL "ex2.approx.f32 %f0, 3.0; st.global.b32 [%rd0], %f0; lg2.approx.ftz.f32 %f0, 8.0; "
      "st.global.b32 [%rd0+4], %f0; "
      "rsqrt.approx.f32 %f0, 4.0; st.global.b32 [%rd0+8], %f0; sin.approx.f32 %f0, 0.0; st.global.b32 [%rd0+12], %f0; "
      "cos.approx.ftz.f32 %f0, 0.0; st.global.b32 [%rd0+16], %f0; sqrt.approx.f32 %f0, 9.0; "
      "st.global.b32 [%rd0+20], %f0; ret; }" },
    { "testp", 1, 1, 0, 7, { 1, 1, 0, 1, 1, 1, 1 },
      HEADER KERNEL "mov.f32 %f0, 0f00000001; testp.finite.f32 %p0,%f0; selp.u32 %r0,1,0,%p0; "
      "st.global.b32 [%rd0], %r0; "
      "testp.infinite.f32 %p0,0f7f800000; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+4], %r0; "
      "testp.number.f32 %p0,0f7fc00000; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+8], %r0; "
      "testp.notanumber.f32 %p0,0f7fc00000; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+12], %r0; "
      "testp.subnormal.f32 %p0,%f0; selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+16], %r0; testp.normal.f64 %p0,1.0; "
      "selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+20], %r0; testp.subnormal.f64 %p0, 0d0000000000000001; "
      "selp.u32 %r0,1,0,%p0; st.global.b32 [%rd0+24], %r0; ret; }" },
    { "atomic_order", 1, 32, 0, 2, { 496, 32 },
      HEADER KERNEL " mov.u32 %r0,%tid.x; red.global.add.u32 [%rd0],%r0; atom.global.inc.u32 %r1,[%rd0+4],1000; ret; "
      "}" },
    { "shared_reduce", 1, 128, 0, 1, { 8128 },
      HEADER ".shared .u32 buf[128];\n"
      KERNEL " mov.u32 %r0,%tid.x; shl.b32 %r1,%r0,2; mov.u32 %r2,buf; add.u32 %r2,%r2,%r1; st.shared.u32 [%r2],%r0; "
      "mov.u32 %r3,64; L: bar.sync 0; setp.ge.u32 %p0,%r0,%r3; @%p0 bra N; shl.b32 %r4,%r3,2; add.u32 %r4,%r4,%r2; "
      "ld.shared.u32 %r5,[%r4]; ld.shared.u32 %r6,[%r2]; add.u32 %r6,%r6,%r5; st.shared.u32 [%r2],%r6; "
      "N: shr.u32 %r3,%r3,1; setp.ne.u32 %p1,%r3,0; @%p1 bra L; setp.ne.u32 %p2,%r0,0; @%p2 ret; "
      "st.global.b32 [%rd0], %r6; ret; }" },
    { "carry_guard", 1, 1, 0, 4, { 0, 1, 0xffffffff, 4 },
      HEADER KERNEL "mov.u32 %r1,-1; setp.eq.u32 %p0,1,2; add.cc.u32 %r2,%r1,1; @%p0 add.cc.u32 %r3,0,0; "
      "addc.cc.u32 %r4,%r1,0; "
      "addc.u32 %r5,0,0; st.global.b32 [%rd0], %r4; st.global.b32 [%rd0+4], %r5; sub.cc.u32 %r2,0,1; "
      "subc.cc.u32 %r4,0,0; subc.u32 %r5,5,0; st.global.b32 [%rd0+8], %r4; st.global.b32 [%rd0+12], %r5; ret; }" },
    { "mma16816", 1, 32, 0, 4, { 0x41800000, 0x41800000, 0x41800000, 0x41800000 },
      HEADER KERNEL "mov.b32 %r1,0x3c003c00; mov.f32 %f0,0.0; "
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4},{"
      "%r1,%r1,%r1,%r1},{%r1,%r1},{%f0,%f0,%f0,%f0}; mov.u32 %r5,%tid.x; setp.ne.u32 %p0,%r5,0; @%p0 ret; "
      "st.global.v4.f32 [%rd0],{%f1,%f2,%f3,%f4}; ret; }" },
    { "ldmatrix", 1, 32, 0, 2, { 5, 0 },
      HEADER ".shared .align 16 .b8 s[512];\n"
      KERNEL " mov.u32 %r0,%tid.x; mov.u32 %r1,s; shl.b32 %r2,%r0,2; add.u32 %r3,%r1,%r2; st.shared.u32 [%r3],%r0; "
      "bar.sync 0; and.b32 %r4,%r0,7; shl.b32 %r4,%r4,4; add.u32 %r4,%r4,%r1; "
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5},[%r4]; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r6}"
      ",[%r4]; setp.ne.u32 %p0,%r0,5; @%p0 ret; st.global.b32 [%rd0], %r5; st.global.b32 [%rd0+4], %r6; ret; }" },
    { "redux_all", 1, 32, 0, 6, { 0, 0, 31, 0, 0xfffffcf0, 0 },
      HEADER KERNEL "mov.u32 %r0,%tid.x; redux.sync.min.u32 %r1,%r0,-1; redux.sync.and.b32 %r2,%r0,-1; "
      "redux.sync.or.b32 %r3,%r0,-1; "
      "redux.sync.min.s32 %r4,%r0,0xff; sub.s32 %r5,%r0,40; redux.sync.add.s32 %r5,%r5,-1; setp.ne.u32 %p0,%r0,1; "
      "@%p0 ret; st.global.b32 [%rd0], %r1; st.global.b32 [%rd0+4], %r2; st.global.b32 [%rd0+8], %r3; "
      "st.global.b32 [%rd0+16], %r5; ret; }" },
};
/* clang-format on */

static void modules_run(void **state)
{
    (void)state;
    hand_check_all(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
