/* See programs.h.
 *
 * stream: coalesced loads and stores, constants, loads past the L1, a shuffle and a vote; warps of 32 threads.
 * maze: every thread goes its own way through the input: gathers, local memory, atomics whose results are used, a
 * fence, a barrier. Two warps per block.
 * tiles: shared memory with collisions in its banks, atomics there, barriers in a loop, all kinds of arithmetic units;
 * blocks end in half a warp. */
#include "programs.h"

const struct program programs[PROGRAMS] = {
    {"stream", "coalesced", 24, 32},
    {"maze", "irregular, with atomics and local memory", 8, 64},
    {"tiles", "shared memory and arithmetic", 6, 80},
};

/* %rd0: the buffer. %r0: the thread of all. %r1: the thread of the block. */
#define HEAD(name)                                                                               \
    ".visible .entry " name "(.param .u64 buffer) {\n"                                           \
    ".reg .b32 %r<40>; .reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .f64 %d<8>; .reg .pred %p<8>;\n" \
    "ld.param.u64 %rd0, [buffer];\n"                                                             \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.u32 %r0, %r2, %r3, %r1;\n"
/* %rd: the address of word %r of the buffer. */
#define ADDRESS(rd, r) "mul.wide.u32 " rd ", " r ", 4;\nadd.u64 " rd ", " rd ", %rd0;\n"
/* Offsets in bytes of the parts of the buffer. */
#define OUTPUT "65536"
#define SUMS   "90112" /* in the last part of the output: words that atomics add to */
#define ORDER  "98304"

const char programs_ptx[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".const .align 4 .u32 factors[16] = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59};\n" HEAD(
        "stream") "mov.u32 %r4, 0;\n"
                  "mov.u32 %r5, 0;\n"
                  "ROUND:\n"
                  "mad.lo.u32 %r6, %r4, 768, %r0;\n" ADDRESS(
                      "%rd1",
                      "%r6") "ld.global.u32 %r7, [%rd1];\n"
                             "ld.global.cg.u32 %r8, [%rd1+32768];\n"
                             "and.b32 %r9, %r6, 15;\nmul.wide.u32 %rd2, %r9, 4;\nmov.u64 %rd3, factors;\nadd.u64 %rd2, "
                             "%rd2, %rd3;\n"
                             "ld.const.u32 %r10, [%rd2];\n"
                             "mad.lo.u32 %r11, %r7, %r10, %r8;\n"
                             "cvt.rn.f32.u32 %f1, %r7;\ncvt.rn.f32.u32 %f2, %r8;\nfma.rn.f32 %f3, %f1, %f2, %f1;\n"
                             "mov.b32 %r12, %f3;\nxor.b32 %r11, %r11, %r12;\nadd.u32 %r5, %r5, %r11;\n"
                             "st.global.u32 [%rd1+" OUTPUT "], %r11;\n"
                             "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 5;\n@%p1 bra ROUND;\n"
                             "shfl.sync.bfly.b32 %r13, %r5, 5, 31, -1;\n"
                             "setp.gt.u32 %p2, %r13, %r5;\nvote.sync.ballot.b32 %r14, %p2, -1;\n"
                             "add.u32 %r15, %r13, %r14;\n" ADDRESS(
                                 "%rd4",
                                 "%r0") "st.global.u32 [%rd4+" OUTPUT "+16384], %r15;\n"
                                        "ret;\n}\n" HEAD(
                                            "maze") ".local .align 4 .b8 own[128];\n"
                                                    ".reg .b64 %own;\nmov.u64 %own, own;\n"
                                                    "and.b32 %r4, %r0, 4095;\n" ADDRESS(
                                                        "%rd1",
                                                        "%r4") "ld.global.u32 %r5, [%rd1];\n"
                                                               "mul.lo.u32 %r6, %r0, 1640531527;\nshr.u32 %r6, %r6, "
                                                               "29;\nadd.u32 %r6, %r6, 2;\n"
                                                               "mov.u32 %r7, 0;\nmov.u32 %r20, 0;\n"
                                                               "CLEAR:\nmul.wide.u32 %rd2, %r7, 4;\nadd.u64 %rd2, "
                                                               "%rd2, %own;\nst.local.u32 [%rd2], %r5;\n"
                                                               "add.u32 %r7, %r7, 8;\nsetp.lt.u32 %p1, %r7, 32;\n@%p1 "
                                                               "bra CLEAR;\n"
                                                               "STEP:\n"
                                                               "mul.lo.u32 %r8, %r6, 97;\nshr.u32 %r9, %r5, "
                                                               "7;\nxor.b32 %r9, %r9, %r5;\nadd.u32 %r9, %r9, %r8;\n"
                                                               "and.b32 %r9, %r9, 16383;\n" ADDRESS(
                                                                   "%rd3",
                                                                   "%r9") "ld.global.u32 %r5, [%rd3];\n"
                                                                          "and.b32 %r10, %r5, 3;\nsetp.eq.u32 %p2, "
                                                                          "%r10, 0;\n@%p2 bra ATOMIC;\n"
                                                                          "setp.eq.u32 %p3, %r10, 1;\n@%p3 bra NEXT;\n"
                                                                          "and.b32 %r11, %r5, 24;\nmul.wide.u32 %rd4, "
                                                                          "%r11, 4;\nadd.u64 %rd4, %rd4, %own;\n"
                                                                          "ld.local.u32 %r12, [%rd4];\nadd.u32 %r12, "
                                                                          "%r12, %r5;\nst.local.u32 [%rd4], "
                                                                          "%r12;\nadd.u32 %r5, %r5, %r12;\n"
                                                                          "bra NEXT;\n"
                                                                          "ATOMIC:\n"
                                                                          "shr.u32 %r13, %r5, 3;\nand.b32 %r13, %r13, "
                                                                          "63;\n" ADDRESS(
                                                                              "%rd5",
                                                                              "%r13") "atom.global.add.u32 %r14, "
                                                                                      "[%rd5+" SUMS "], 1;\n"
                                                                                      "mad.lo.u32 %r20, %r20, 31, "
                                                                                      "%r14;\n"
                                                                                      "red.global.max.u32 [%rd5+" SUMS
                                                                                      "+256], %r5;\n"
                                                                                      "NEXT:\n"
                                                                                      "sub.u32 %r6, %r6, "
                                                                                      "1;\nsetp.ne.u32 %p4, %r6, "
                                                                                      "0;\n@%p4 bra STEP;\n"
                                                                                      "bar.sync 0;\n" ADDRESS(
                                                                                          "%rd6",
                                                                                          "%r0") "st.global.u32 "
                                                                                                 "[%rd6+" OUTPUT
                                                                                                 "], %r5;\n"
                                                                                                 "membar.gl;\n"
                                                                                                 "atom.global.add.u32 "
                                                                                                 "%r21, [%rd0+" ORDER
                                                                                                 "], 1;\n" ADDRESS(
                                                                                                     "%rd7",
                                                                                                     "%r21") "st."
                                                                                                             "global."
                                                                                                             "u32 "
                                                                                                             "[%"
                                                                                                             "rd7"
                                                                                                             "+" ORDER
                                                                                                             "+4], "
                                                                                                             "%r20;\n"
                                                                                                             "ret;\n}"
                                                                                                             "\n" HEAD(
                                                                                                                 "tile"
                                                                                                                 "s") ".shared .align 4 .b8 tile[4096];\n"
                                                                                                                      ".reg .b32 %tile;\nmov.u32 %tile, tile;\n"
                                                                                                                      "and.b32 %r22, %r1, 3;\nmad.lo.u32 %r22, %r22, 4, %tile;\nmov.u32 %r23, 0;\nst.shared.u32 [%r22+4000], %r23;\n"
                                                                                                                      "mad.lo.u32 %r4, %r1, 48, %tile;\nmov.u32 %r5, 0;\n" ADDRESS(
                                                                                                                          "%rd1",
                                                                                                                          "%r0") "ld.global.u32 %r6, [%rd1];\n"
                                                                                                                                 "bar.sync 0;\n"
                                                                                                                                 "ROUND:\n"
                                                                                                                                 "add.u32 %r7, %r6, %r5;\nst.shared.u32 [%r4], %r7;\n"
                                                                                                                                 "bar.sync 0;\n"
                                                                                                                                 "mad.lo.u32 %r8, %r1, 7, %r5;\nrem.u32 %r8, %r8, 80;\nmad.lo.u32 %r8, %r8, 48, %tile;\nld.shared.u32 %r9, [%r8];\n"
                                                                                                                                 "cvt.rn.f32.u32 %f1, %r9;\nsqrt.rn.f32 %f2, %f1;\nrcp.approx.f32 %f3, %f2;\nmul.rn.f32 %f4, %f2, %f3;\n"
                                                                                                                                 "cvt.f64.f32 %d1, %f2;\nfma.rn.f64 %d2, %d1, %d1, %d1;\ncvt.rn.f32.f64 %f5, %d2;\nadd.rn.f32 %f4, %f4, %f5;\n"
                                                                                                                                 "mov.b32 %r10, %f4;\nor.b32 %r11, %r9, 1;\ndiv.u32 %r12, %r10, %r11;\n"
                                                                                                                                 "and.b32 %r13, %r9, 1;\nsetp.eq.u32 %p1, %r13, 0;\n@%p1 bra EVEN;\n"
                                                                                                                                 "mad.lo.u32 %r6, %r9, 1103515245, %r12;\nbra DONE;\n"
                                                                                                                                 "EVEN:\nxor.b32 %r6, %r6, %r10;\nmul.hi.u32 %r14, %r6, %r9;\nadd.u32 %r6, %r6, %r14;\n"
                                                                                                                                 "DONE:\n"
                                                                                                                                 "atom.shared.add.u32 %r15, [%r22+4000], %r9;\n"
                                                                                                                                 "bar.sync 0;\n"
                                                                                                                                 "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 4;\n@%p2 bra ROUND;\n"
                                                                                                                                 "ld.shared.u32 %r16, [%r22+4000];\nadd.u32 %r6, %r6, %r16;\n"
                                                                                                                                 "st.global.u32 [%rd1+" OUTPUT
                                                                                                                                 "], %r6;\n"
                                                                                                                                 "st.global.u32 [%rd1+" ORDER
                                                                                                                                 "+4], %r15;\n"
                                                                                                                                 "ret;\n}\n";
