/* Does a loop that is unrolled leave what it left before, bit for bit, for 0 to 9 rounds, the same for all threads of a
 * warp or not? Which loops are unrolled at all, what do the copies cost, and are their loads under way together? */
#include "timing_test.h"

#include "ptx/cfg.h"
#include "ptx/lowering.h"
#include "ptx/unroll.h"

#include <glob.h>

enum { BLOCKS = 10, THREADS = 32, WORDS_EACH = 12, WORDS = BLOCKS * THREADS * WORDS_EACH, SHARED_WORDS = BLOCKS };

/* Each thread has 12 words at %rd1, with anything in them; the block has one at %rd3. %r1 is how many rounds: the
 * block's number, 0 to 9; or %r4, other for each thread. In the text of a loop $ stands for one of the two. What is in
 * %r9, %r8 and %f9 after DONE is kept. */
#define HEAD                                                                                                      \
    ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 4 .b8 tile[128];\n"                            \
    ".visible .entry kernel(.param .u64 buffer) {\n.reg .pred %p<12>; .reg .b32 %r<40>; .reg .b64 %rd<24>; "      \
    ".reg .f32 %f<16>;\n"                                                                                         \
    "ld.param.u64 %rd0, [buffer];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r3, %r1, 32, %r0;\n" \
    "mul.wide.u32 %rd1, %r3, 48;\nadd.u64 %rd1, %rd0, %rd1;\nmul.wide.u32 %rd3, %r1, 4;\n"                        \
    "add.u64 %rd3, %rd0, %rd3;\nadd.u64 %rd3, %rd3, 15360;\nadd.u32 %r4, %r0, %r1;\nrem.u32 %r4, %r4, 10;\n"      \
    "mov.u32 %r9, 7;\nmov.u32 %r8, 5;\nmov.f32 %f9, 0f3f800000;\n"
#define TAIL                                                                                                     \
    "DONE:\nst.global.u32 [%rd1+44], %r9;\nst.global.u32 [%rd1+40], %r8;\nst.global.f32 [%rd1+36], %f9;\nret;\n" \
    "}\n"
#define UNLESS_NONE "setp.lt.s32 %p1, $, 1;\n@%p1 bra DONE;\n"
/* Blocks in another order than ptxas would have them: it lays out all of the function anew. */
#define OTHER_WAY_FIRST                                                                                                \
    "setp.lt.s32 %p1, $, 3;\n@%p1 bra FEW;\nbra.uni MANY;\nFEW:\nmov.u32 %r8, 6;\nbra.uni BOTH;\nMANY:\nmov.u32 %r8, " \
    "9;\nBOTH:\n"

enum { NEVER, SAME, ALWAYS }; /* unrolled: not; where the rounds are the same for all threads; in any case */

static const struct loop_case {
    const char *what, *text;
    int unrolled;
} cases[] = {
    {"down to zero, with a jump back",
     UNLESS_NONE OTHER_WAY_FIRST
     "mov.u32 %r5, $;\nmov.u64 %rd4, %rd1;\nL:\nld.global.u32 %r6, [%rd4];\nmad.lo.u32 %r9, %r9, 31, %r6;\n"
     "add.s64 %rd4, %rd4, 4;\nadd.s32 %r5, %r5, -1;\nsetp.eq.s32 %p3, %r5, 0;\n@%p3 bra DONE;\nbra.uni L;\n",
     ALWAYS},
    {"up to a value",
     UNLESS_NONE
     "mov.u32 %r5, 0;\nmov.u64 %rd4, %rd1;\nL:\nld.global.u32 %r6, [%rd4];\nmad.lo.u32 %r9, %r9, 31, %r6;\n"
     "add.s64 %rd4, %rd4, 4;\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, $;\n@%p3 bra L;\nmov.u32 %r8, %r5;\n",
     ALWAYS},
    {"with a jump back, and blocks that stay where they are",
     UNLESS_NONE
     "mov.u32 %r5, $;\nmov.u64 %rd4, %rd1;\nL:\nld.global.u32 %r6, [%rd4];\nmad.lo.u32 %r9, %r9, 31, %r6;\n"
     "add.s64 %rd4, %rd4, 4;\nadd.s32 %r5, %r5, -1;\nsetp.eq.s32 %p3, %r5, 0;\n@%p3 bra DONE;\nbra.uni L;\n",
     NEVER},
    {"with an if inside",
     UNLESS_NONE
     "mov.u32 %r5, 0;\nmov.u64 %rd4, %rd1;\nL:\nld.global.u32 %r6, [%rd4];\nand.b32 %r7, %r6, 1;\n"
     "setp.eq.s32 %p2, %r7, 0;\n@%p2 bra NEXT;\nmad.lo.u32 %r9, %r9, 31, %r6;\nNEXT:\nadd.s32 %r8, %r8, %r6;\n"
     "add.s64 %rd4, %rd4, 4;\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, $;\n@%p3 bra L;\nadd.s32 %r8, %r8, %r5;\n",
     ALWAYS},
    {"with an if inside, up to equality, and the end before the beginning",
     UNLESS_NONE
     "mov.u32 %r5, $;\nmov.u64 %rd4, %rd1;\nbra.uni L;\nEND:\nadd.s64 %rd4, %rd4, 4;\nadd.s32 %r5, %r5, -1;\n"
     "setp.eq.s32 %p3, %r5, 0;\n@%p3 bra DONE;\nL:\nld.global.u32 %r6, [%rd4];\nand.b32 %r7, %r6, 1;\n"
     "setp.eq.s32 %p2, %r7, 0;\n@%p2 bra OTHER;\nmad.lo.u32 %r9, %r9, 31, %r6;\nbra.uni END;\nOTHER:\n"
     "xor.b32 %r9, %r9, %r6;\nmov.u32 %r8, %r6;\nbra.uni END;\n",
     ALWAYS},
    {"values by two names",
     UNLESS_NONE "mov.u32 %r5, 0;\nmov.u32 %r7, 3;\nL:\nmul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd1, %rd5;\n"
                 "ld.global.u32 %r6, [%rd6];\nmad.lo.u32 %r9, %r7, 31, %r6;\nadd.s32 %r10, %r5, 1;\n"
                 "setp.lt.s32 %p3, %r10, $;\nmov.u32 %r5, %r10;\nmov.u32 %r7, %r9;\n@%p3 bra L;\n"
                 "add.u32 %r8, %r10, %r5;\n",
     ALWAYS},
    {"by minus one",
     UNLESS_NONE "mov.u32 %r5, $;\nL:\nmul.wide.s32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd1, %rd5;\n"
                 "ld.global.u32 %r6, [%rd6];\nmad.lo.u32 %r9, %r9, 31, %r6;\nsub.s32 %r5, %r5, 1;\n"
                 "setp.gt.s32 %p3, %r5, 0;\n@%p3 bra L;\nmov.u32 %r8, %r5;\n",
     ALWAYS},
    {"by three, the bound first, left where it holds",
     UNLESS_NONE
     "mov.u32 %r5, -9;\nmul.lo.u32 %r11, $, 3;\nadd.s32 %r11, %r11, -9;\nL:\nmad.lo.u32 %r9, %r9, 31, %r5;\n"
     "add.s32 %r5, %r5, 3;\nsetp.le.s32 %p3, %r11, %r5;\n@!%p3 bra L;\nmov.u32 %r8, %r5;\n",
     ALWAYS},
    {"tested before the step",
     UNLESS_NONE "mov.u32 %r5, 1;\nL:\nmad.lo.u32 %r9, %r9, 31, %r5;\nsetp.lt.s32 %p3, %r5, $;\nadd.s32 %r5, %r5, 1;\n"
                 "xor.b32 %r8, %r8, %r5;\n@%p3 bra L;\n",
     ALWAYS},
    {"counted in 64 bits, without a sign",
     UNLESS_NONE "mov.u64 %rd4, 0;\ncvt.u64.u32 %rd7, $;\nL:\nshl.b64 %rd5, %rd4, 2;\nadd.s64 %rd6, %rd1, %rd5;\n"
                 "ld.global.u32 %r6, [%rd6];\nmad.lo.u32 %r9, %r9, 31, %r6;\nadd.s64 %rd4, %rd4, 1;\n"
                 "setp.lt.u64 %p3, %rd4, %rd7;\n@%p3 bra L;\n",
     ALWAYS},
    {"a counter that wraps",
     UNLESS_NONE "mul.lo.u32 %r5, $, 4;\nsub.u32 %r5, -2147483648, %r5;\nL:\nmad.lo.u32 %r9, %r9, 31, %r5;\n"
                 "add.s32 %r5, %r5, 4;\nsetp.gt.s32 %p3, %r5, 0;\n@%p3 bra L;\nmov.u32 %r8, %r5;\n",
     ALWAYS},
    {"a counter that wraps in the middle of four rounds and comes back",
     UNLESS_NONE "mul.lo.u32 %r5, $, 1073741824;\nL:\nmad.lo.u32 %r9, %r9, 31, %r5;\nadd.s32 %r8, %r8, 1;\n"
                 "add.s32 %r5, %r5, 1073741824;\nsetp.gt.s32 %p3, %r5, 0;\n@%p3 bra L;\n",
     ALWAYS},
    {"guards",
     UNLESS_NONE "mov.u32 %r5, 0;\nmov.u64 %rd4, %rd1;\nmov.u32 %r12, 11;\nL:\nld.global.u32 %r6, [%rd4];\n"
                 "and.b32 %r7, %r6, 1;\nsetp.eq.s32 %p4, %r7, 0;\nmov.u32 %r10, 3;\n@%p4 add.u32 %r10, %r6, 9;\n"
                 "@!%p4 add.u32 %r12, %r12, %r10;\nmad.lo.u32 %r9, %r9, %r10, %r12;\nadd.s64 %rd4, %rd4, 4;\n"
                 "add.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, $;\n@%p3 bra L;\nmov.u32 %r8, %r10;\n",
     ALWAYS},
    {"read, written under a guard, and written anew",
     UNLESS_NONE "mov.u32 %r5, 0;\nmov.u64 %rd4, %rd1;\nmov.u32 %r12, 11;\nL:\nld.global.u32 %r6, [%rd4];\n"
                 "and.b32 %r7, %r6, 1;\nsetp.eq.s32 %p4, %r7, 0;\n@%p4 add.u32 %r12, %r12, %r6;\n"
                 "mad.lo.u32 %r9, %r9, 31, %r12;\nadd.u32 %r12, %r6, %r5;\nmad.lo.u32 %r9, %r9, 31, %r12;\n"
                 "@!%p4 add.u32 %r12, %r12, 3;\nadd.s64 %rd4, %rd4, 4;\nadd.s32 %r5, %r5, 1;\n"
                 "setp.lt.s32 %p3, %r5, $;\n@%p3 bra L;\nmov.u32 %r8, %r12;\n",
     ALWAYS},
    {"each round reads what the one before stored",
     UNLESS_NONE "mov.u32 %r5, 0;\nmov.u64 %rd4, %rd1;\nL:\nld.global.u32 %r6, [%rd4];\nmad.lo.u32 %r6, %r6, 3, 1;\n"
                 "add.u32 %r9, %r9, %r6;\nst.global.u32 [%rd4+4], %r6;\nadd.s64 %rd4, %rd4, 4;\nadd.s32 %r5, %r5, 1;\n"
                 "setp.ne.s32 %p3, %r5, $;\n@%p3 bra L;\n",
     ALWAYS},
    {"read after its step, and written twice",
     UNLESS_NONE
     "mov.u32 %r5, 0;\nL:\nadd.s32 %r6, %r5, 2;\nmad.lo.u32 %r9, %r9, 31, %r6;\nadd.s32 %r6, %r6, 5;\n"
     "add.s32 %r5, %r5, 1;\nadd.s32 %r7, %r5, 100;\nxor.b32 %r8, %r8, %r7;\nmad.lo.u32 %r9, %r9, %r6, %r8;\n"
     "setp.lt.s32 %p3, %r5, $;\n@%p3 bra L;\nadd.u32 %r8, %r8, %r7;\nadd.u32 %r9, %r9, %r6;\n",
     ALWAYS},
    {"the test is read after the loop, and by others",
     UNLESS_NONE "mov.u32 %r5, 0;\nL:\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, $;\nselp.u32 %r6, 3, 8, %p3;\n"
                 "mad.lo.u32 %r9, %r9, 31, %r6;\n@%p3 bra L;\nselp.u32 %r8, 1, 2, %p3;\n",
     ALWAYS},
    {"the test of the round before is read",
     UNLESS_NONE
     "mov.u32 %r5, 0;\nsetp.eq.s32 %p3, %r0, 3;\nL:\nselp.u32 %r6, 3, 8, %p3;\nmad.lo.u32 %r9, %r9, 31, %r6;\n"
     "add.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, $;\n@%p3 bra L;\n",
     NEVER},
    {"several words at once, floating point",
     UNLESS_NONE "mov.u32 %r5, 0;\nL:\nld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\ncvt.rn.f32.s32 %f5, %r5;\n"
                 "fma.rn.f32 %f9, %f9, %f1, %f5;\nadd.rn.f32 %f9, %f9, %f4;\nadd.s32 %r5, %r5, 1;\n"
                 "setp.lt.s32 %p3, %r5, $;\n@%p3 bra L;\n",
     ALWAYS},
    {"carries",
     UNLESS_NONE "mov.u32 %r5, 0;\nL:\nld.global.u32 %r6, [%rd1];\nadd.cc.u32 %r9, %r9, %r6;\naddc.u32 %r8, %r8, 0;\n"
                 "add.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, $;\n@%p3 bra L;\n",
     ALWAYS},
    {"barriers",
     "setp.lt.s32 %p1, %r1, 1;\n@%p1 bra DONE;\n"
     "mov.u32 %r5, 0;\nshl.b32 %r10, %r0, 2;\nmov.u32 %r11, tile;\nadd.u32 %r10, %r10, %r11;\nL:\n"
     "st.shared.u32 [%r10], %r9;\nbar.sync 0;\nld.shared.u32 %r6, [tile+16];\nbar.sync 0;\n"
     "mad.lo.u32 %r9, %r9, 31, %r6;\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, %r1;\n@%p3 bra L;\n",
     ALWAYS},
    {"atomics whose order is seen",
     UNLESS_NONE "mov.u32 %r5, 0;\nL:\nadd.u32 %r7, %r0, %r5;\natom.global.exch.b32 %r6, [%rd3], %r7;\n"
                 "mad.lo.u32 %r9, %r9, 31, %r6;\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, $;\n@%p3 bra L;\n",
     SAME},
    {"shuffles of all threads, by rounds of the warp's own",
     "setp.lt.s32 %p1, %r1, 1;\n@%p1 bra DONE;\nmov.u32 %r5, 0;\nshr.u32 %r10, %r0, 5;\nadd.u32 %r10, %r10, %r1;\nL:\n"
     "shfl.sync.bfly.b32 %r6, %r9, 1, 31, -1;\nmad.lo.u32 %r9, %r0, 31, %r6;\nadd.s32 %r5, %r5, 1;\n"
     "setp.lt.s32 %p3, %r5, %r10;\n@%p3 bra L;\n",
     NEVER},
    {"who is there is seen",
     UNLESS_NONE "mov.u32 %r5, 0;\nL:\nactivemask.b32 %r6;\nmad.lo.u32 %r9, %r9, 31, %r6;\nadd.s32 %r5, %r5, 1;\n"
                 "setp.lt.s32 %p3, %r5, $;\n@%p3 bra L;\n",
     SAME},
    {"volatile accesses",
     UNLESS_NONE "mov.u32 %r5, 0;\nL:\nld.volatile.global.u32 %r6, [%rd3];\nadd.u32 %r6, %r6, %r0;\n"
                 "st.volatile.global.u32 [%rd3], %r6;\nmad.lo.u32 %r9, %r9, 31, %r6;\nadd.s32 %r5, %r5, 1;\n"
                 "setp.lt.s32 %p3, %r5, $;\n@%p3 bra L;\n",
     SAME},
    {"not to be unrolled",
     UNLESS_NONE "mov.u32 %r5, 0;\nL:\n.pragma \"nounroll\";\nmad.lo.u32 %r9, %r9, 31, %r5;\nadd.s32 %r5, %r5, 1;\n"
                 "setp.lt.s32 %p3, %r5, $;\n@%p3 bra L;\n",
     NEVER},
    {"a bound that changes",
     UNLESS_NONE "mov.u32 %r5, 0;\nmov.u32 %r10, $;\nL:\nmad.lo.u32 %r9, %r9, 31, %r5;\nshr.u32 %r10, %r10, 1;\n"
                 "add.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, %r10;\n@%p3 bra L;\n",
     NEVER},
    {"from a literal to a literal",
     "mov.u32 %r5, 0;\nmov.u64 %rd4, %rd1;\nL:\nld.global.u32 %r6, [%rd4];\nmad.lo.u32 %r9, %r9, $, %r6;\n"
     "mul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd1, %rd5;\nst.global.u32 [%rd6], %r9;\nadd.s64 %rd4, %rd4, 4;\n"
     "add.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, 7;\n@%p3 bra L;\nmov.u32 %r8, %r5;\n",
     ALWAYS},
    {"from a literal to a literal, with a jump, and what others see",
     "mov.u32 %r5, 12;\nbra L;\nM:\nadd.u32 %r8, %r8, 1;\nbra DONE;\nL:\nactivemask.b32 %r6;\n"
     "mad.lo.u32 %r9, %r9, $, %r6;\nmad.lo.u32 %r9, %r9, 31, %r5;\nadd.s32 %r5, %r5, -2;\nsetp.eq.s32 %p3, %r5, 0;\n"
     "@%p3 bra M;\nbra L;\n",
     ALWAYS},
    {"from a literal to a literal, with branches",
     "mov.u32 %r5, 0;\nmov.u64 %rd4, %rd1;\nL:\nld.global.u32 %r6, [%rd4];\nadd.u32 %r7, %r6, $;\nand.b32 %r10, %r7, "
     "1;\n"
     "setp.eq.u32 %p4, %r10, 0;\n@%p4 bra EVEN;\nmad.lo.u32 %r9, %r9, 31, %r7;\nadd.u32 %r11, %r9, 1;\nbra NEXT;\n"
     "EVEN:\nxor.b32 %r9, %r9, %r7;\nadd.u32 %r11, %r9, 2;\nNEXT:\nadd.u32 %r8, %r8, %r11;\nadd.s64 %rd4, %rd4, 4;\n"
     "add.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, 6;\n@%p3 bra L;\nadd.u32 %r9, %r9, %r5;\n",
     ALWAYS},
    {"from a literal to a literal, the end of a round before its beginning",
     "mov.u32 %r5, 0;\nmov.u64 %rd4, %rd1;\nbra L;\nNEXT:\nadd.u32 %r8, %r8, %r9;\nadd.s32 %r5, %r5, 1;\n"
     "setp.ne.s32 %p3, %r5, 5;\n@%p3 bra L;\nbra OUT;\nL:\nld.global.u32 %r6, [%rd4];\nadd.u32 %r7, %r6, $;\n"
     "add.s64 %rd4, %rd4, 4;\nsetp.lt.s32 %p4, %r7, 200000000;\n@%p4 bra NEXT;\nmad.lo.u32 %r9, %r9, 31, %r7;\n"
     "bra NEXT;\nOUT:\nadd.u32 %r9, %r9, %r5;\n",
     ALWAYS},
    {"the same, and the end runs into the beginning",
     "mov.u32 %r5, 8;\nmov.u64 %rd4, %rd1;\nbra L;\nNEXT:\nadd.s32 %r5, %r5, -2;\nsetp.eq.s32 %p3, %r5, 0;\n"
     "@%p3 bra OUT;\nL:\nld.global.u32 %r6, [%rd4];\nadd.u32 %r7, %r6, $;\nadd.s64 %rd4, %rd4, 4;\n"
     "setp.lt.s32 %p4, %r7, 200000000;\n@%p4 bra NEXT;\nmad.lo.u32 %r9, %r9, 31, %r7;\nbra NEXT;\nOUT:\n"
     "add.u32 %r8, %r9, %r5;\n",
     ALWAYS},
    {"in a loop, from a literal each time",
     UNLESS_NONE
     "mov.u32 %r13, 0;\nN:\nmov.u32 %r5, 0;\nL:\nmad.lo.u32 %r9, %r9, 31, %r5;\nadd.s32 %r5, %r5, 1;\n"
     "setp.lt.s32 %p3, %r5, 5;\n@%p3 bra L;\nadd.s32 %r13, %r13, 1;\nsetp.lt.s32 %p4, %r13, $;\n@%p4 bra N;\n",
     ALWAYS},
    {"in a loop, from a literal the first time alone",
     UNLESS_NONE
     "mov.u32 %r13, 0;\nmov.u32 %r5, 0;\nN:\nmad.lo.u32 %r9, %r9, 31, 7;\nL:\nmad.lo.u32 %r9, %r9, 31, %r5;\n"
     "add.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, 6;\n@%p3 bra L;\nadd.s32 %r13, %r13, 1;\n"
     "setp.lt.s32 %p4, %r13, $;\n@%p4 bra N;\n",
     ALWAYS},
    {"a literal on one of two ways",
     UNLESS_NONE
     "mov.u32 %r5, 0;\nsetp.gt.s32 %p5, $, 4;\n@%p5 bra L;\nmov.u32 %r5, 3;\nL:\nmad.lo.u32 %r9, %r9, 31, %r5;\n"
     "add.s32 %r5, %r5, 1;\nsetp.lt.s32 %p3, %r5, 8;\n@%p3 bra L;\n",
     ALWAYS},
};
enum { CASE_COUNT = sizeof cases / sizeof *cases };

static char *kernel_of(const struct loop_case *c, bool apart)
{
    struct text t = {0};
    say(&t, "%s", HEAD);
    for (const char *at = c->text; *at; at++)
        if (*at == '$')
            say(&t, "%s", apart ? "%r4" : "%r1");
        else
            say(&t, "%c", *at);
    say(&t, "%s", TAIL);
    return t.s;
}

static struct ptx_module *parse(const char *text)
{
    struct error e = {0};
    struct ptx_module *m = ptx_parse("test.ptx", text, strlen(text), &e);
    if (!m)
        fail_msg("%s\n%s", e.text, text);
    return m;
}

static void fill(uint32_t *words)
{
    uint32_t x = 12345;
    for (uint32_t i = 0; i < WORDS + SHARED_WORDS; i++)
        words[i] = (x = x * 1664525 + 1013904223) >> 3;
}

/* What a kernel leaves in memory. */
static void run(struct ptx_module *m, uint32_t *words, const char *what)
{
    struct gpu_options options = {
        .functional = true,
        .machine = {.name = "test",
                    .cores = 4,
                    .sm = {.warps = 48, .blocks = 8, .registers = 32768, .register_granule = 8, .shared_bytes = 49152},
                    .memory_bytes = 1 << 30}};
    struct error e = {0};
    struct gpu *g = gpu_create(&options, &e);
    struct exec_image *image = g ? exec_image_create(g->memory, &m, 1, &e) : NULL;
    if (!image)
        fail_msg("%s: %s", what, e.text);
    uint32_t *memory = memory_pointer(memory_alloc(g->memory, (WORDS + SHARED_WORDS) * 4, 256, MEMORY_DEVICE, NULL));
    fill(memory);
    uint64_t buffer = (uint64_t)(uintptr_t)memory;
    struct gpu_launch launch = {.kernel = exec_image_function(image, "kernel"),
                                .grid = {BLOCKS, 1, 1},
                                .block = {THREADS, 1, 1},
                                .params = &buffer,
                                .params_bytes = 8};
    if (!gpu_launch(g, &launch, &e))
        fail_msg("%s: %s", what, e.text);
    memcpy(words, memory, (WORDS + SHARED_WORDS) * 4);
    exec_image_destroy(image);
    gpu_destroy(g);
}

static void check_case(const struct loop_case *c, bool apart)
{
    static uint32_t expected[WORDS + SHARED_WORDS], got[WORDS + SHARED_WORDS];
    char *text = kernel_of(c, apart);
    run(parse(text), expected, c->what);
    for (int reordered = 0; reordered < 2; reordered++) {
        struct ptx_module *m = parse(text);
        ptx_unroll(&m->arena, m->functions[0]);
        if (reordered)
            ptx_reorder(&m->arena, m->functions[0]);
        bool unrolled = m->functions[0]->written;
        if (unrolled != (c->unrolled == ALWAYS || (c->unrolled == SAME && !apart)))
            fail_msg("%s%s: is%s unrolled", c->what, apart ? ", apart" : "", unrolled ? "" : " not");
        run(m, got, c->what);
        for (uint32_t i = 0; i < WORDS + SHARED_WORDS; i++)
            if (got[i] != expected[i])
                fail_msg("%s%s: block %u thread %u word %u is %x, not %x", c->what, apart ? ", apart" : "",
                         i / WORDS_EACH / THREADS, i / WORDS_EACH % THREADS, i % WORDS_EACH, got[i], expected[i]);
    }
    free(text);
}

static void results_are_the_same(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < CASE_COUNT; k++)
        for (int apart = 0; apart < 2; apart++)
            check_case(&cases[k], apart);
}

/* ------------------------------------------------------------- copies */

static struct ptx_function *unrolled(struct ptx_module *m)
{
    ptx_unroll(&m->arena, m->functions[0]);
    return m->functions[0];
}

static void copies_are_of_the_lines_of_the_loop(void **state)
{
    (void)state;
    char *text = kernel_of(&cases[1], false);
    struct ptx_module *m = parse(text);
    uint32_t line = 0, loads = 0, outside = 0;
    for (uint32_t i = 0; i < m->functions[0]->inst_count; i++)
        if (ptx_flags(&m->functions[0]->insts[i]) & PTX_F_LOAD &&
            ptx_has_modifier(&m->functions[0]->insts[i], PTX_MOD_GLOBAL))
            line = (uint32_t)m->functions[0]->insts[i].line;
    const struct ptx_function *f = unrolled(m);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        loads += (uint32_t)f->insts[i].line == line;
        outside += f->insts[i].line <= 0;
    }
    assert_int_equal(loads, 4 + 2 + 1);
    assert_int_equal(outside, 0);
    assert_int_equal(f->written->inst_count, 14 + 2 + 2 + 6 + 1 + 4);
    for (uint32_t r = 0; r < f->reg_count; r++)
        assert_int_equal(f->regs[r]->index, r);
    uint32_t before = f->inst_count;
    unrolled(m); /* once is enough */
    assert_int_equal(f->inst_count, before);
    ptx_module_free(m);
    free(text);
}

/* In the loop of four: loads first, and nothing but one step of each, one comparison and the branch. */
static void four_rounds_count_once(void **state)
{
    (void)state;
    char *text = kernel_of(&cases[1], false);
    struct ptx_module *m = parse(text);
    struct ptx_function *f = unrolled(m);
    struct arena a = {0};
    ptx_reorder(&a, f);
    const struct ptx_cfg *cfg = ptx_cfg_build(&a, f);
    const struct ptx_lowering *l = ptx_lower(&a, f);
    assert_int_equal(cfg->loop_count, 1); /* the last round is none */
    assert_int_equal(l->counted_count, 0);
    const struct ptx_loop *loop = &cfg->loops[0];
    uint32_t slots = 0, loads_in_front = 0;
    for (uint32_t i = loop->begin; i < loop->end; i++)
        slots += l->insts[i].slots;
    for (uint32_t i = loop->begin; i < loop->end && !(l->insts[i].slots && !(ptx_flags(&f->insts[i]) & PTX_F_LOAD));
         i++)
        loads_in_front += l->insts[i].slots;
    assert_int_equal(slots, 4 * 2 + 4 + 1 + 2); /* 64-bit addition 2 and 2 moves, counter 1, comparison and branch 2 */
    assert_int_equal(loads_in_front, 4);
    arena_free(&a);
    ptx_module_free(m);
    free(text);
}

/* ------------------------------------------------------------- real programs */

static void check_whole(const struct ptx_function *f)
{
    struct arena a = {0};
    const struct ptx_cfg *cfg = ptx_cfg_build(&a, f);
    const struct ptx_lowering *l = ptx_lower(&a, f);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->insts[i];
        bool is_last = cfg->blocks[cfg->block_of_inst[i]].end == i + 1;
        if (in->opcode == PTX_OP_bra && in->operands[0].target >= f->inst_count)
            fail_msg("%s, line %d: goes nowhere", f->name, in->line);
        if (!l->insts[i].slots && (is_last || ptx_flags(in) & (PTX_F_STORE | PTX_F_ATOMIC | PTX_F_BARRIER)))
            fail_msg("%s, line %d: vanished", f->name, in->line);
    }
    for (uint32_t r = 0; r < f->reg_count; r++)
        assert_int_equal(f->regs[r]->index, r);
    for (uint32_t k = 1; k < f->label_count; k++)
        assert_true(f->labels[k - 1].target <= f->labels[k].target && f->labels[k].target <= f->inst_count);
    arena_free(&a);
}

static char *read_file(const char *path)
{
    FILE *from = fopen(path, "rb");
    assert_non_null(from);
    fseek(from, 0, SEEK_END);
    long size = ftell(from);
    rewind(from);
    char *text = calloc(1, (size_t)size + 1);
    assert_int_equal(fread(text, 1, (size_t)size, from), size);
    fclose(from);
    return text;
}

static void real_programs_stay_whole(void **state)
{
    (void)state;
    glob_t found = {0};
    uint32_t unrolled_count = 0;
    glob("workloads/*/*.ptx", 0, NULL, &found);
    glob("tests/compiled/ptx/*.ptx", GLOB_APPEND, NULL, &found);
    for (size_t k = 0; k < found.gl_pathc; k++) {
        char *text = read_file(found.gl_pathv[k]);
        struct ptx_module *m = parse(text);
        free(text);
        for (uint32_t i = 0; i < m->function_count; i++) {
            ptx_unroll(&m->arena, m->functions[i]);
            unrolled_count += m->functions[i]->written != NULL;
            check_whole(m->functions[i]);
        }
        ptx_module_free(m);
    }
    globfree(&found);
    assert_in_range(unrolled_count, 40, 10000);
}

/* ------------------------------------------------------------- time */

static uint64_t cycles_of(const char *pragma)
{
    struct timed t;
    struct text body = {0};
    say(&body,
        "ld.param.u64 %%rd1, [buffer];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd2, %%r1, 4;\nadd.u64 %%rd1, %%rd1, "
        "%%rd2;\nmov.u32 %%r2, %%ntid.x;\nmov.u32 %%r3, 0;\nmov.f32 %%f1, 0f00000000;\nL:\n%sld.global.f32 %%f2, "
        "[%%rd1];\nadd.rn.f32 %%f1, %%f1, %%f2;\nadd.s64 %%rd1, %%rd1, 128;\nadd.s32 %%r3, %%r3, 1;\n"
        "setp.lt.s32 %%p1, %%r3, %%r2;\n@%%p1 bra L;\nst.global.f32 [%%rd1], %%f1;\n",
        pragma);
    timed_open(&t, &(struct timed_machine){.name = "h200"},
               SETS("machine.cores=1", "machine.memory_bytes=256M", "machine.launch_cycles=0"), "", body.s);
    exec_image_destroy(t.image);
    struct ptx_module *m = parse(t.source);
    t.image = gpu_load(t.gpu, &m, 1, false, &t.error);
    assert_non_null(t.image);
    timed_launch(&t, 1, 32, 0);
    uint64_t cycles = t.counters->cycles;
    timed_close(&t);
    free(body.s);
    return cycles;
}

static void loads_of_four_rounds_are_under_way_together(void **state)
{
    (void)state;
    uint64_t unrolled = cycles_of(""), one_by_one = cycles_of(".pragma \"nounroll\";\n");
    assert_in_range(unrolled * 100 / one_by_one, 20, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_the_same),
        cmocka_unit_test(copies_are_of_the_lines_of_the_loop),
        cmocka_unit_test(four_rounds_count_once),
        cmocka_unit_test(real_programs_stay_whole),
        cmocka_unit_test(loads_of_four_rounds_are_under_way_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
