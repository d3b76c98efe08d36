/* What does an instruction of PTX become in machine code? One small text for each rule; the numbers are those of
 * ptxas 13 for sm_90. And what must hold for any function. */
#include "lowering_fixture.h"

#include "ptx/cfg.h"

#include <glob.h>

static uint32_t index_of(const struct fixture *x, const char *name)
{
    for (uint32_t r = 0; r < x->kernel->reg_count; r++)
        if (!strcmp(x->kernel->regs[r]->name, name))
            return r;
    fail_msg("no register %s", name);
    return 0;
}

static bool reads(const struct fixture *x, uint32_t inst, const char *name)
{
    const struct ptx_lowered *l = &x->lowering->insts[HEAD_INSTRUCTIONS + inst];
    for (uint32_t k = 0; k < l->read_count; k++)
        if (l->reads[k] == x->lowering->register_of[index_of(x, name)])
            return true;
    return false;
}

/* ------------------------------------------------------------- counts */

static void one_becomes_many(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"add.s32 %r0, %r1, %r2;", "1"},
        {"add.s64 %q0, %q1, %q2;", "2"},
        {"mul.lo.s64 %q0, %q1, %q2;", "4"},
        {"setp.lt.s64 %p0, %q1, %q2;", "2"},
        {"selp.b64 %q0, %q1, %q2, %p1;", "2"},
        {"and.b64 %q0, %q1, 12;", "1"},
        {"div.s32 %r0, %r1, %r2;", "25"},
        {"rem.u32 %r0, %r1, 7;", "13"},
        {"div.rn.f32 %f0, %f1, %f2;", "10"},
        {"div.full.f32 %f0, %f1, %f2;", "8"},
        {"div.full.ftz.f32 %f0, %f1, %f2;", "5"},
        {"div.approx.ftz.f32 %f0, %f1, %f2;", "2"},
        {"sqrt.rn.f32 %f0, %f1;", "10"},
        {"rsqrt.approx.ftz.f32 %f0, %f1;", "1"},
        {"sin.approx.f32 %f0, %f1;", "2"},
        {"div.rn.f64 %d0, %d1, %d2;", "17"},
        {"max.f64 %d0, %d1, %d2;", "7"},
        {"popc.b64 %r0, %q1;", "3"},
        {"shr.u64 %q4, %q1, 32;\nxor.b64 %q5, %q4, 77;\nmul.lo.s64 %q0, %q5, 3449720151;", "0 1 2"}, /* halves */
        {"and.b64 %q4, %q1, 4294967295;\nmul.lo.s64 %q0, %q4, %q2;", "0 4"},
        {"bfe.u32 %r0, %r1, 5, 8;", "2"},
        {"bfe.u32 %r0, %r1, 16, 8;", "1"}, /* a byte at its place is a permutation */
        {"cvt.s64.s32 %q0, %r1;", "1"},
        {"mad.lo.s32 %r0, %r1, %r2, %r3;", "1"},
        {"abs.s32 %r0, %r1;", "1"},
        {"fma.rn.f64 %d0, %d1, %d2, %d1;", "1"},
        {"membar.gl;", "4"},
        {"atom.shared.add.f32 %f0, [%s1], %f1;", "7"},
    };
    CHECK(rules);
}

static void atomics_on_one_address_are_added_up(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"atom.global.add.u32 %r0, [%a3], 1;", "1"}, /* each thread has its own */
        {"atom.global.add.u32 %r0, [%a1], 1;", "14"}, {"red.global.add.u32 [%a1], 1;", "8"},
        {"red.global.add.u32 [%a1], %r1;", "7"},      {"atom.global.add.u32 %r0, [%a1], %r1;", "27"},
        {"red.global.max.u32 [%a1], %r1;", "7"},      {"atom.global.max.u32 %r0, [%a1], %r1;", "1"}, /* wanted by all */
    };
    CHECK(rules);
}

/* ------------------------------------------------------------- what vanishes */

static void moves_vanish(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"mov.u32 %r5, %r1;\nadd.s32 %r0, %r5, %r2;", "0 1"},
        {"mov.u32 %r5, 17;\nadd.s32 %r0, %r5, %r2;", "0 1"},
        {"mov.b32 %r0, %f1;", "0"},
        {"cvt.u32.u64 %r0, %q1;", "0"},
        {"cvt.u64.u32 %q0, %r1;", "0"},
        {"mov.b64 %q0, {%r1, %r2};", "0"},
        {"not.pred %p0, %p1;", "0"},
        {"cvta.to.global.u64 %q5, %q1;\nld.global.u32 %r0, [%q5];", "0 1"},
        {"mov.u32 %r5, %tid.x;\nadd.s32 %r0, %r5, %r2;", "0 1"}, /* was read before */
        {"mov.u32 %r5, %tid.y;\nadd.s32 %r0, %r5, %r2;", "1 1"},
        {"mov.u32 %r5, %clock;\nmov.u32 %r6, %clock;\nsub.s32 %r0, %r6, %r5;", "1 1 1"},
        {"ld.global.u8 %h5, [%q1];\ncvt.u32.u8 %r0, %h5;", "1 0"}, /* extended by the load */
        {"add.s32 %r5, %r1, 1;\n@%p1 add.s32 %r5, %r5, %r2;\nmov.u32 %r6, %r5;\nmul.lo.s32 %r0, %r6, %r3;", "1 1 0 1"},
        {"add.s32 %r5, %r1, 1;\n@%p1 mov.u32 %r5, %r2;\nmul.lo.s32 %r0, %r5, %r3;", "1 1 1"},
    };
    CHECK(rules);
}

static void dead_code_vanishes(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"add.s32 %r5, %r1, %r2;\nmul.lo.s32 %r6, %r5, %r1;", "0 0"},
        {"ld.global.u32 %r5, [%q1];", "0"},
        {"ld.volatile.global.u32 %r5, [%q1];", "1"},
        {"atom.global.exch.b32 %r5, [%q1], %r1;", "1"},
        {"shfl.sync.down.b32 %r5, %r1, 1, 31, -1;", "1"},
        /* nobody needs the result of an atomic: it is there all the same */
        {"atom.global.add.u32 %r5, [%a3], %r1;\nadd.s32 %r6, %r5, %r2;", "1 0"},
    };
    CHECK(rules);
}

static void addresses_take_arithmetic_in(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"mul.wide.s32 %q4, %r1, 4;\nadd.s64 %q5, %a1, %q4;\nld.global.u32 %r0, [%q5];", "0 1 1"},
        {"add.s64 %q5, %q1, 16;\nld.global.u32 %r0, [%q5];", "0 1"},
        {"add.s64 %q0, %q1, 16;\nld.global.u32 %r0, [%q0];", "2 1"}, /* and is needed besides */
        {"add.s64 %q5, %q1, 123456789;\nld.global.u32 %r0, [%q5];", "2 1"},
        {"shl.b64 %q4, %q1, 2;\nadd.s64 %q5, %a1, %q4;\nld.global.u32 %r0, [%q5];", "0 2 1"},
        {"cvt.s64.s32 %q4, %r1;\nadd.s64 %q5, %a1, %q4;\nld.global.u8 %r0, [%q5];", "0 2 1"},
        /* two arrays with one index: two multiply-adds */
        {"mul.wide.s32 %q4, %r1, 4;\nadd.s64 %q5, %a1, %q4;\nadd.s64 %q6, %a2, %q4;\nld.global.u32 %r5, [%q5];\n"
         "st.global.u32 [%q6], %r5;",
         "0 1 1 1 1"},
        /* 32 bits are enough for shared memory */
        {"mul.wide.u32 %q4, %r1, 4;\nmov.u64 %q5, tile;\nadd.s64 %q6, %q5, %q4;\nld.shared.u32 %r0, [%q6];", "0 3 1 1"},
        {"mul.wide.u32 %q4, %r1, 4;\nmov.u64 %q5, table;\nadd.s64 %q6, %q5, %q4;\nld.const.u32 %r0, [%q6];", "0 0 1 1"},
        /* two words of constants at once */
        {"ld.const.f32 %f5, [table];\nld.const.f32 %f6, [table+4];\nld.const.f32 %f7, [table+8];\n"
         "fma.rn.f32 %f8, %f5, %f1, %f6;\nmul.rn.f32 %f0, %f8, %f7;",
         "1 0 1 1 1"},
        {"add.s64 %q5, %q1, 16;\ncp.async.cg.shared.global [%s1], [%q5], 16;", "0 1"},
    };
    CHECK(rules);
}

static void two_become_one(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"mul.f32 %f5, %f1, %f2;\nadd.f32 %f0, %f5, %f3;", "0 1"},
        {"mul.rn.f32 %f5, %f1, %f2;\nadd.rn.f32 %f0, %f5, %f3;", "1 1"}, /* each is rounded */
        {"mul.rn.f32 %f5, %f1, %f2;\nadd.f32 %f0, %f5, %f3;", "1 1"},
        {"mul.f32 %f5, %f1, %f2;\nmul.f32 %f6, %f3, %f4;\nadd.f32 %f0, %f5, %f6;", "0 1 1"},
        {"mul.lo.s32 %r5, %r1, %r2;\nadd.s32 %r0, %r5, %r3;", "0 1"},
        {"mul.lo.s32 %r5, %r1, %r2;\nsub.s32 %r0, %r3, %r5;", "1 1"},
        {"mul.wide.s32 %q4, %r1, %r2;\nadd.s64 %q0, %q4, %q3;", "0 1"},
        {"shl.b32 %r5, %r1, 2;\nadd.s32 %r0, %r5, %r2;", "0 1"},
        {"shl.b32 %r5, %r1, %r3;\nadd.s32 %r0, %r5, %r2;", "1 1"},
        {"shr.u32 %r5, %r1, 8;\nadd.s32 %r0, %r5, %r2;", "0 1"},
        {"shf.l.wrap.b32 %r5, %r1, %r1, 8;\nadd.s32 %r0, %r5, %r2;", "0 1"},
        {"add.s32 %r5, %r1, %r2;\nadd.s32 %r0, %r5, %r3;", "0 1"},
        {"add.s32 %r5, %r1, %r2;\nadd.s32 %r6, %r5, %r3;\nadd.s32 %r0, %r6, %r4;", "0 1 1"},
        {"add.s64 %q4, %q1, %q2;\nadd.s64 %q0, %q4, %q3;", "0 2"},
        {"and.b32 %r5, %r1, %r2;\nxor.b32 %r0, %r5, %r3;", "0 1"},
        {"and.b32 %r5, %r1, 255;\nor.b32 %r0, %r5, 256;", "1 1"}, /* one literal at most */
        {"not.b32 %r5, %r1;\nand.b32 %r0, %r5, %r2;", "0 1"},
        {"and.b32 %r5, %r1, 1;\nsetp.eq.s32 %p0, %r5, 0;", "0 1"},
        {"and.b32 %r0, %r1, 1;\nsetp.eq.s32 %p0, %r0, 0;", "1 0"}, /* its value is needed besides */
        {"and.b32 %r0, %r1, 1;\nsetp.gt.s32 %p0, %r0, 0;", "1 1"},
        {"shl.b32 %r5, %r1, 5;\nand.b32 %r6, %r2, 31;\nor.b32 %r0, %r5, %r6;", "0 1 1"}, /* no bit in common */
        {"shl.b32 %r5, %r1, 5;\nand.b32 %r6, %r2, 63;\nor.b32 %r0, %r5, %r6;", "1 0 1"},
        {"shl.b32 %r5, %r1, 10;\nor.b32 %r0, %r5, %t0;", "0 1"}, /* a thread's number */
        {"shl.b32 %r5, %r1, 9;\nor.b32 %r0, %r5, %t0;", "1 1"},
        {"min.s32 %r5, %r1, %r2;\nmin.s32 %r0, %r5, %r3;", "0 1"},
        {"min.f32 %f5, %f1, %f2;\nmin.f32 %f0, %f5, %f3;", "1 1"},
        {"neg.f32 %f5, %f1;\nfma.rn.f32 %f0, %f5, %f2, %f3;", "0 1"},
        {"abs.f32 %f5, %f1;\nadd.rn.f32 %f0, %f5, %f2;", "0 1"},
        {"setp.lt.s32 %p4, %r1, %r2;\nsetp.lt.s32 %p5, %r3, %r4;\nand.pred %p0, %p4, %p5;", "0 1 1"},
        {"and.pred %p0, %p1, %p2;", "1"},
        {"setp.lt.s32 %p4, %r1, %r2;\nselp.b32 %r0, %r1, %r2, %p4;", "0 1"}, /* a minimum */
        {"setp.lt.f32 %p4, %f1, %f2;\nselp.f32 %f0, %f1, %f2, %p4;", "1 1"},
        {"sub.s32 %r5, %r1, %r2;\nsub.s32 %r6, %r2, %r1;\nselp.b32 %r0, %r5, %r6, %p1;", "1 1 0"},
        {"mul.lo.s32 %r5, %r1, %r2;\nadd.s32 %r0, %r5, %r3;\nst.global.u32 [%q1], %r5;", "1 1 1"}, /* needed besides */
        {"ld.global.u8 %h5, [%q1];\nsetp.eq.s16 %p0, %h5, 7;", "1 1"},
        {"setp.eq.s16 %p0, %h1, 7;", "1"},
    };
    CHECK(rules);
}

/* ------------------------------------------------------------- branches and loops */

#define LONG_PART                                                                                                  \
    "mul.hi.s32 %r0, %r0, %r2;\nmul.hi.s32 %r0, %r0, %r3;\nmul.hi.s32 %r0, %r0, %r4;\nmul.hi.s32 %r0, %r0, %r2;\n" \
    "mul.hi.s32 %r0, %r0, %r3;\nmul.hi.s32 %r0, %r0, %r4;\nmul.hi.s32 %r0, %r0, %r2;\nmul.hi.s32 %r0, %r0, %r3;\n" \
    "mul.hi.s32 %r0, %r0, %r4;\n"

/* A register that is written again holds another value. */
static void values_have_names_of_their_own(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"add.s32 %r5, %r1, %r2;\nadd.s32 %r5, %r5, %r3;\nadd.s32 %r5, %r5, %r4;\nadd.s32 %r0, %r5, %r1;", "0 1 0 1"},
        {"add.s32 %r1, %r1, %r2;\nadd.s32 %r1, %r1, %r3;\nxor.b32 %r0, %r1, %r4;", "0 1 1"},
        /* the first value is read once more */
        {"add.s32 %r5, %r1, %r2;\nmul.lo.s32 %r0, %r5, %r5;\nadd.s32 %r5, %r5, %r3;\nxor.b32 %r0, %r5, %r0;",
         "1 1 1 1"},
        /* a guard: what was there may stay */
        {"add.s32 %r5, %r1, %r2;\n@%p1 mul.lo.s32 %r5, %r3, %r3;\nadd.s32 %r5, %r5, %r4;\nmul.lo.s32 %r0, %r5, %r5;",
         "1 1 1 1"},
        /* the lower half of a wide product, of which the second is wanted as a whole */
        {"cvt.u32.u64 %r5, %q1;\nmad.wide.u32 %q5, %r5, 77, %q2;\ncvt.u32.u64 %r5, %q5;\n"
         "mad.wide.u32 %q5, %r5, 77, %q2;\nxor.b64 %q0, %q5, %q3;",
         "0 1 0 3 2"},
        /* the first value lives on in another block */
        {"add.s32 %r5, %r1, %r2;\n@%p1 bra L;\n" LONG_PART "add.s32 %r5, %r5, %r3;\nL:\nmul.lo.s32 %r0, %r5, %r5;",
         "1 3 1 1 1 1 1 1 1 1 1 1 1"},
    };
    CHECK(rules);
    struct fixture x;
    open_body(&x, rules[0].body);
    assert_true(reads(&x, 1, "%r1") && reads(&x, 1, "%r2") && reads(&x, 1, "%r3"));
    assert_false(reads(&x, 1, "%r5"));
    assert_true(reads(&x, 3, "%r5") && reads(&x, 3, "%r4"));
    assert_true(x.lowering->divergent[index_of(&x, "%r5")]);
    close_fixture(&x);
    open_body(&x, rules[4].body);
    assert_true(x.lowering->insts[HEAD_INSTRUCTIONS + 1].narrow && !x.lowering->insts[HEAD_INSTRUCTIONS + 3].narrow);
    close_fixture(&x);
    /* a value that goes on in the register of a loop: who reads that waits for it */
    open_body(&x, "mov.u32 %r6, 1;\nL:\nmul.hi.s32 %r5, %r6, %r2;\nmov.u32 %r6, %r5;\nmul.hi.s32 %r5, %r1, %r3;\n"
                  "setp.lt.s32 %p4, %r5, %r6;\n@%p4 bra L;\nmov.u32 %r0, %r6;\n");
    assert_int_equal(x.lowering->insts[HEAD_INSTRUCTIONS + 2].fate, PTX_FATE_MERGED);
    assert_int_equal(x.lowering->register_of[index_of(&x, "%r6")], x.lowering->register_of[index_of(&x, "%r5")]);
    close_fixture(&x);
}

static void conversions_to_16_bits_come_in_pairs(void **state)
{
    (void)state;
#define HALF(to, from) "cvt.rn.f16.f32 " to ", " from ";\n"
#define BACK(to, from) "cvt.f32.f16 " to ", " from ";\n"
    static const struct rule rules[] = {
        {HALF("%h3", "%f1") BACK("%f5", "%h3") HALF("%h4", "%f2") BACK("%f6", "%h4") "mul.f32 %f0, %f5, %f6;",
         "1 1 0 1 1"},
        {HALF("%h3", "%f1") HALF("%h4", "%f2") "add.f16 %h0, %h3, %h4;", "1 0 1"},
        /* the second has to wait for the first */
        {HALF("%h3", "%f1") BACK("%f5", "%h3") HALF("%h4", "%f5") BACK("%f0", "%h4"), "1 1 1 1"},
        /* what is stored is in the lower half of its register */
        {HALF("%h0", "%f1") HALF("%h4", "%f2") BACK("%f0", "%h4"), "1 1 1"},
        {HALF("%h3", "%f1") "cvt.rn.bf16.f32 %h4, %f2;\n" BACK("%f0",
                                                               "%h3") "cvt.f32.bf16 %f5, %h4;\nadd.f32 %f0, %f0, %f5;",
         "1 1 1 1 1"},
    };
#undef BACK
    CHECK(rules);
    struct fixture x;
    open_body(&x, rules[1].body);
    assert_true(reads(&x, 0, "%f1") && reads(&x, 0, "%f2"));
    assert_int_equal(x.lowering->register_of[index_of(&x, "%h4")], x.lowering->register_of[index_of(&x, "%h3")]);
    close_fixture(&x);
#undef HALF
}

static void factors_of_24_bits_are_extended_once(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"mul24.lo.s32 %r5, %r1, %r2;\nmul24.lo.s32 %r6, %r3, %r2;\nxor.b32 %r0, %r5, %r6;", "3 2 1"},
        {"mul24.lo.u32 %r0, %r1, 77;", "2"},
        {"mad24.lo.s32 %r0, %r1, %r1, %r2;", "2"},
        {"mul24.hi.s32 %r0, %r1, %r2;", "6"},
        {"mul24.lo.s32 %r5, %r1, %r2;\nmul24.lo.u32 %r6, %r3, %r2;\nxor.b32 %r0, %r5, %r6;", "3 3 1"},
        {"mul24.lo.s32 %r5, %r1, %r2;\nL:\nmul24.lo.s32 %r5, %r5, %r3;\nmul24.lo.s32 %r5, %r5, %r3;\n"
         "setp.lt.s32 %p4, %r5, %r1;\n@%p4 bra L;\nmov.u32 %r0, %r5;",
         "4 2 2 1 1"},
    };
    CHECK(rules);
}

static void short_branches_become_predicates(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"setp.lt.s32 %p4, %r1, %r2;\nmul.hi.s32 %r0, %r1, %r2;\n@%p4 bra L;\nmul.hi.s32 %r0, %r3, %r4;\nL:",
         "0 1 1 1"},
        {"setp.lt.s32 %p4, %r1, %r2;\n@%p4 bra L;\nmul.hi.s32 %r0, %r3, %r4;\nbra M;\nL:\nmul.hi.s32 %r0, %r1, "
         "%r4;\nM:",
         "0 1 1 0 1"},
        /* too long: threads meet again, BSSY and BSYNC */
        {"mul.hi.s32 %r0, %r1, %r2;\nsetp.lt.s32 %p4, %r1, %r2;\n@%p4 bra L;\n" LONG_PART "L:", "1 1 3"},
        /* all threads go the same way */
        {"mul.hi.s32 %r0, %r1, %r2;\nsetp.lt.s32 %p4, %k1, %k2;\n@%p4 bra L;\n" LONG_PART "L:", "1 1 1"},
        /* a load is under way earlier without the branch: more than twice as much may be skipped */
        {"setp.lt.s32 %p4, %r1, %r2;\n@%p4 bra L;\nld.global.u32 %r5, [%q1];\n" LONG_PART "xor.b32 %r0, %r0, %r5;\nL:",
         "0 1 1"},
        {"setp.lt.s32 %p4, %r1, %r2;\n@%p4 bra L;\nld.global.u32 %r5, [%q1];\n" LONG_PART LONG_PART
         "mul.hi.s32 %r0, %r0, %r2;\n"
         "xor.b32 %r0, %r0, %r5;\nL:",
         "1 3 1"},
        /* but not where a shuffle wants it at once, or others meet there */
        {"setp.lt.s32 %p4, %r1, %r2;\nmov.u32 %r5, 0;\n@%p4 bra L;\nld.global.u32 %r5, [%q1];\nL:\n"
         "shfl.sync.down.b32 %r0, %r5, 1, 31, -1;",
         "1 1 3 1 1"},
        {"mul.hi.s32 %r0, %r1, %r2;\n@%p1 bra L;\nsetp.lt.s32 %p4, %r1, %r2;\n@%p4 bra L;\nld.global.u32 %r0, "
         "[%q1];\nL:",
         "1 3 1 1 1"},
        /* a division has a branch of its own */
        {"mov.f32 %f0, %f1;\nsetp.lt.s32 %p4, %r1, %r2;\n@%p4 bra L;\nld.global.f32 %f5, [%q1];\n"
         "div.rn.f32 %f0, %f5, %f2;\nL:",
         "0 1 3 1 10"},
        /* to the end: an exit */
        {"setp.lt.s32 %p4, %r1, %r2;\n@%p4 bra L;\nst.global.u32 [%q1], %r1;\nL:\nret;", "1 1 1 1"},
        /* the end of the thread */
        {"setp.lt.s32 %p4, %r1, %r2;\n@%p4 bra L;\nret;\nL:", "1 1 1"},
    };
    CHECK(rules);
    struct fixture x;
    open_body(&x, rules[0].body);
    assert_int_equal(x.lowering->insts[HEAD_INSTRUCTIONS + 2].if_taken, 1);
    assert_int_equal(x.lowering->insts[HEAD_INSTRUCTIONS + 2].if_not_taken, 0);
    close_fixture(&x);
    open_body(&x, rules[1].body);
    assert_int_equal(x.lowering->insts[HEAD_INSTRUCTIONS + 1].if_taken, 1);
    assert_int_equal(x.lowering->insts[HEAD_INSTRUCTIONS + 1].if_not_taken, 1);
    close_fixture(&x);
}

static void loops_that_count_are_unrolled(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        /* the steps of counter and address, and the test, go; the block before pays for what is left over */
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nmov.u64 %q5, %q1;\nL:\nld.global.u32 %r6, [%q5];\nxor.b32 %r0, %r0, %r6;\n"
         "add.s64 %q5, %q5, 4;\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;",
         "1 1 15 1 1 0 0 0 1"},
        /* from a literal to a literal: nothing is left over */
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\nmul.hi.s32 %r0, %r0, %r2;\nadd.s32 %r5, %r5, 1;\n"
         "setp.lt.s32 %p4, %r5, 16;\n@%p4 bra L;",
         "1 1 1 0 0 1"},
        /* a counter that is read otherwise is computed in each round */
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\nmad.lo.s32 %r0, %r0, %r2, %r5;\nadd.s32 %r5, %r5, 1;\n"
         "setp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;",
         "1 12 1 1 0 1"},
        /* by two up to equality */
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\nmul.hi.s32 %r0, %r0, %r2;\nadd.s32 %r5, %r5, 2;\n"
         "setp.ne.s32 %p4, %r5, %k1;\n@%p4 bra L;",
         "1 13 1 0 0 1"},
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\n.pragma \"nounroll\";\nmul.hi.s32 %r0, %r0, %r2;\n"
         "add.s32 %r5, %r5, 1;\nsetp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;",
         "1 1 1 1 1 1"},
        /* threads that may leave apart do something together; with a literal they do not leave apart */
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\nshfl.sync.bfly.b32 %r0, %r0, 1, 31, -1;\nadd.s32 %r5, %r5, 1;\n"
         "setp.lt.s32 %p4, %r5, %r1;\n@%p4 bra L;",
         "1 3 1 1 1 1"},
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\nshfl.sync.bfly.b32 %r0, %r0, 1, 31, -1;\nadd.s32 %r5, %r5, 1;\n"
         "setp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;",
         "1 13 1 0 0 1"},
        /* a fence */
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\nmembar.gl;\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p4, %r5, %k1;\n"
         "@%p4 bra L;",
         "0 1 4 1 1 1"},
        /* too long without a load, not with one */
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p4, %r5, %k1;\n" LONG_PART LONG_PART
         "mul.hi.s32 %r0, %r0, %r2;\n@%p4 bra L;",
         "1 13 0 0"},
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p4, %r5, %k1;\n" LONG_PART LONG_PART
         "mul.hi.s32 %r0, %r0, %r2;\nmul.hi.s32 %r0, %r0, %r2;\n@%p4 bra L;",
         "1 1 1 1"},
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p4, %r5, %k1;\n" LONG_PART LONG_PART
         "ld.shared.u32 %r6, [%s1];\nmul.hi.s32 %r0, %r0, %r6;\n@%p4 bra L;",
         "1 13 0 0"},
        /* no counter */
        {"mov.u32 %r0, 1;\nL:\nmul.lo.s32 %r0, %r0, %r2;\nsetp.lt.s32 %p4, %r0, %k1;\n@%p4 bra L;", "3 1 1 1"},
        /* division has a branch of its own */
        {"mov.u32 %r0, 0;\nmov.f32 %f0, %f1;\nL:\ndiv.rn.f32 %f0, %f0, %f2;\nadd.s32 %r0, %r0, 1;\n"
         "setp.lt.s32 %p4, %r0, %k1;\n@%p4 bra L;",
         "1 1 10 1 1 1"},
        /* the jump of `leave here, else go round` is the other way of the branch */
        {"mov.u32 %r0, 1;\nL:\nmul.lo.s32 %r0, %r0, %r2;\nsetp.ge.s32 %p4, %r0, %k1;\n@%p4 bra M;\nbra L;\nM:",
         "3 1 1 1 0"},
    };
    CHECK(rules);
}

/* if ((%p1 and a) or (not %p1 and b)) { ... }: two ways into the body, and two past it. */
static void threads_meet_on_the_way(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        /* two pairs of BSSY and BSYNC, a BREAK on each way past the body */
        {"mul.hi.s32 %r0, %r1, %r2;\n@%p1 bra B;\nsetp.lt.s32 %p4, %r1, %r3;\n@%p4 bra X;\nbra Y;\nB:\n"
         "setp.lt.s32 %p5, %r1, %r2;\n@%p5 bra Y;\nX:\n" LONG_PART "Y:",
         "1 5 1 2 0 1 2"},
    };
    CHECK(rules);
}

/* It parts threads, but has no condition of which one could ask whether it is the same for all. */
static void a_branch_through_a_table_has_no_guard(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"and.b32 %r5, %r1, 1;\nT: .branchtargets A, B;\nbrx.idx %r5, T;\nA:\nadd.u32 %r0, %r2, 1;\nbra C;\nB:\n"
         "add.u32 %r0, %r3, 1;\nC:",
         "1 3 1 1 1"},
    };
    CHECK(rules);
}

static void pointers_that_step_are_moved(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"mov.u64 %q5, %q1;\nmov.u32 %r0, 1;\nL:\nld.global.u32 %r6, [%q5];\nadd.s64 %q5, %q5, 4;\n"
         "mul.lo.s32 %r0, %r0, %r6;\nsetp.lt.s32 %p4, %r0, %k1;\n@%p4 bra L;",
         "0 3 1 4 1 1 1"},
        /* no address */
        {"mov.u64 %q0, %q1;\nmov.u32 %r0, 1;\nL:\nadd.s64 %q0, %q0, 4;\nmul.lo.s32 %r0, %r0, %r2;\n"
         "setp.lt.s32 %p4, %r0, %k1;\n@%p4 bra L;",
         "0 3 2 1 1 1"},
        /* an address of shared memory has 32 bits */
        {"mov.u64 %q5, tile;\nmov.u32 %r0, 1;\nL:\nld.shared.u32 %r6, [%q5];\nadd.s64 %q5, %q5, 4;\n"
         "mul.lo.s32 %r0, %r0, %r6;\nsetp.lt.s32 %p4, %r0, %k1;\n@%p4 bra L;",
         "3 3 1 1 1 1 1"},
    };
    CHECK(rules);
}

static void sums_are_cleared_in_pairs(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"mov.f32 %f0, 0f00000000;\nmov.f32 %f5, %f0;\nmov.f32 %f6, 0f3F800000;\nmov.f32 %f7, 0f00000000;\nL:\n"
         "add.rn.f32 %f0, %f0, %f1;\nadd.rn.f32 %f5, %f5, %f0;\nadd.rn.f32 %f6, %f6, %f5;\n"
         "add.rn.f32 %f7, %f7, %f6;\nsetp.lt.f32 %p4, %f7, %f2;\n@%p4 bra L;\nmov.f32 %f0, %f7;",
         "1 0 1 3"},
    };
    CHECK(rules);
}

static void a_loop_may_end_with_the_kernel(void **state)
{
    (void)state;
#define ROUND(last)                                                                                             \
    "mov.u32 %r0, 1;\nL:\nmul.lo.s32 %r0, %r0, %r2;\n@%p1 bra M;\n" LONG_PART "M:\nst.global.u32 [%q1], %r0;\n" \
    "setp.lt.s32 %p4, %r0, %k1;\n@%p4 bra L;\n" last
    static const struct rule rules[] = {
        {ROUND("ret;"), "1 1 3 1 1 1 1 1 1 1 1 1 1 1 2"}, /* exit, and jump back */
        {ROUND("bra N;\nN:\nret;"), "1 1 3 1 1 1 1 1 1 1 1 1 1 1 2"},
        {ROUND("membar.cta;\nret;"), "3 1 3 1 1 1 1 1 1 1 1 1 1 1 1"},
    };
#undef ROUND
    CHECK(rules);
}

static void parameters_are_loaded_where_they_are_wanted(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        /* in both ways, not before */
        {"ld.param.u32 %r5, [l];\nmul.hi.s32 %r0, %r1, %r2;\n@%p1 bra L;\n" LONG_PART
         "xor.b32 %r0, %r0, %r5;\nbra M;\nL:\n" LONG_PART "mul.hi.s32 %r0, %r0, %r5;\nM:",
         "0 1 3 1 1 1 1 1 1 1 1 1 2 1 1 1 1 1 1 1 1 1 1 2"},
        /* once for what follows */
        {"ld.param.u32 %r5, [l];\nmul.hi.s32 %r0, %r1, %r5;\n@%p1 bra L;\n" LONG_PART
         "xor.b32 %r0, %r0, %r5;\nL:\nmul.hi.s32 %r0, %r0, %r5;",
         "1 1 3 1 1 1 1 1 1 1 1 1 1 1"},
        /* before a loop, with the one of its test */
        {"ld.param.u32 %r5, [l];\nmov.u32 %r0, 1;\n@%p1 bra M;\nmul.hi.s32 %r0, %r1, %r2;\nL:\n"
         "mul.lo.s32 %r0, %r0, %r5;\nsetp.lt.s32 %p4, %r0, %k1;\n@%p4 bra L;\nM:",
         "0 1 3 3 1 1 1"},
    };
    CHECK(rules);
}

static void words_of_shared_memory_come_together(void **state)
{
    (void)state;
    static const struct rule rules[] = {
#define READ(reg, place) "ld.shared.u32 " reg ", [" place "];\n"
#define USE              "mad.lo.s32 %r9, %r5, %r6, %r7;\nmul.lo.s32 %r0, %r9, %r8;"
        {READ("%r5", "tile") READ("%r6", "tile+4") READ("%r7", "tile+8") READ("%r8", "tile+12") USE, "4 0 0 0"},
        /* three of four are enough, of two both must be wanted, and in their place */
        {READ("%r5", "tile") READ("%r6", "tile+4") READ("%r7", "tile+12") READ("%r8", "tile+20") USE, "4 0 0 1"},
        {READ("%r5", "tile+8") READ("%r6", "tile+12") READ("%r7", "tile+20") READ("%r8", "tile+24") USE, "4 0 1 1"},
        {READ("%r5", "tile") READ("%r6", "tile") READ("%r7", "tile+8") READ("%r8", "tile+16") USE,
         "4 0 1 1"}, /* once */
        /* not past a store, or where nobody knows how it is aligned */
        {READ("%r5", "tile") READ("%r6", "tile+4") "st.shared.u32 [%s1], %r1;\n" READ("%r7", "tile+8")
             READ("%r8", "tile+12") USE,
         "4 0 1 1 0"},
        {READ("%r5", "%s1") READ("%r6", "%s1+4") READ("%r7", "%s1+8") READ("%r8", "%s1+12") USE, "1 1 1 1"},
        {"shl.b32 %r10, %t0, 3;\n" READ("%r5", "%r10") READ("%r6", "%r10+4") READ("%r7", "%r10+8")
             READ("%r8", "%r10+12") USE,
         "1 1 0 1 0"},
        /* a pointer that steps by 16 */
        {"mov.u32 %r10, tile;\nmov.u32 %r0, 1;\nL:\n" READ("%r5", "%r10") READ("%r6", "%r10+4") READ("%r7", "%r10+8")
             READ("%r8", "%r10+12") "add.s32 %r10, %r10, 16;\n" USE "\nsetp.lt.s32 %p4, %r0, %r1;\n@%p4 bra L;",
         "3 3 1 0 0 0 1"},
        {"ld.shared.f64 %d5, [tile];\nld.shared.f64 %d6, [tile+8];\nadd.f64 %d0, %d5, %d6;", "4 0 1"},
#undef READ
#undef USE
    };
    CHECK(rules);
    struct fixture x;
    open_body(&x, "ld.shared.u32 %r5, [tile];\nld.shared.u32 %r6, [tile+4];\nmul.lo.s32 %r7, %r6, %r1;\n"
                  "xor.b32 %r0, %r5, %r7;\n");
    assert_int_equal(x.lowering->register_of[index_of(&x, "%r6")], x.lowering->register_of[index_of(&x, "%r5")]);
    assert_true(reads(&x, 2, "%r5")); /* whoever reads the second waits for the first */
    close_fixture(&x);
}

static void each_stretch_finds_shared_memory(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"mov.u32 %r5, tile;\nst.shared.u32 [%r5], %r1;\nmov.u32 %r6, other;\nst.shared.u32 [%r6], %r1;\n"
         "mov.u32 %r7, tile;\nst.shared.u32 [%r7+4], %r1;",
         "3 1 2 1 0 1"},
        {"mov.u32 %r5, tile;\nst.shared.u32 [%r5], %r1;\n@%p1 bra L;\n" LONG_PART
         "mov.u32 %r6, tile;\nst.shared.u32 [%r6], %r1;\nL:\nst.shared.u32 [tile], %r2;",
         "3 1 3 1 1 1 1 1 1 1 1 1 3 1 4"},
        /* a short branch is no jump */
        {"mov.u32 %r5, tile;\nst.shared.u32 [%r5], %r1;\n@%p1 bra L;\nmov.u32 %r6, tile;\n"
         "st.shared.u32 [%r6], %r1;\nL:\nst.shared.u32 [tile], %r2;",
         "3 1 1 0 1 1"},
    };
    CHECK(rules);
}

static void a_kernel_has_a_beginning(void **state)
{
    (void)state;
    struct fixture x;
    open_text(&x, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\nret;\n}\n");
    x.lowering = ptx_lower(&x.arena, x.kernel);
    assert_int_equal(x.lowering->insts[0].slots, 2); /* the stack pointer */
    close_fixture(&x);
    open_body(&x, "mov.u32 %r0, 1;");
    assert_int_equal(x.lowering->insts[0].slots, 3); /* and the descriptor of global memory */
    close_fixture(&x);
}

/* ------------------------------------------------------------- who waits for whom */

static void readers_wait_for_what_vanished_reads(void **state)
{
    (void)state;
    struct fixture x;
    open_body(&x, "mul.lo.s32 %r5, %r1, %r2;\nmov.u32 %r6, %r5;\n@%p1 add.s32 %r0, %r6, %r3;\n");
    assert_true(reads(&x, 2, "%r5") && reads(&x, 2, "%r3") && reads(&x, 2, "%p1"));
    assert_false(reads(&x, 2, "%r6"));
    close_fixture(&x);
    open_body(&x, "mul.lo.s32 %r5, %r1, %r2;\nadd.s32 %r0, %r5, %r3;\n");
    assert_int_equal(x.lowering->insts[HEAD_INSTRUCTIONS].into, HEAD_INSTRUCTIONS + 1);
    assert_true(reads(&x, 1, "%r1") && reads(&x, 1, "%r2") && reads(&x, 1, "%r3"));
    assert_false(reads(&x, 1, "%r5"));
    assert_int_equal(x.lowering->insts[HEAD_INSTRUCTIONS + 1].read_count, 3);
    close_fixture(&x);
}

static void values_of_a_loop_share_a_register(void **state)
{
    (void)state;
    struct fixture x;
    open_body(&x, "mov.u32 %r5, 1;\nL:\nmul.hi.s32 %r6, %r5, %r2;\nsetp.lt.s32 %p4, %r6, %r1;\nmov.u32 %r5, %r6;\n"
                  "@%p4 bra L;\nmov.u32 %r0, %r5;\n");
    assert_int_equal(x.lowering->insts[HEAD_INSTRUCTIONS + 3].fate, PTX_FATE_MERGED);
    assert_int_equal(x.lowering->register_of[index_of(&x, "%r6")], x.lowering->register_of[index_of(&x, "%r5")]);
    close_fixture(&x);
    /* one source for two: the second move stays */
    open_body(&x, "mov.u32 %r5, 1;\nmov.u32 %r7, 1;\nL:\nmad.lo.s32 %r6, %r5, %r2, %r7;\nsetp.lt.s32 %p4, %r6, %r1;\n"
                  "mov.u32 %r5, %r6;\nmov.u32 %r7, %r6;\n@%p4 bra L;\nadd.s32 %r0, %r5, %r7;\n");
    assert_int_equal(x.lowering->insts[HEAD_INSTRUCTIONS + 4].slots, 0);
    assert_int_equal(x.lowering->insts[HEAD_INSTRUCTIONS + 5].slots, 1);
    close_fixture(&x);
}

/* ------------------------------------------------------------- any function */

static void check_promises(const struct ptx_function *f)
{
    struct arena a = {0};
    const struct ptx_lowering *lowering = ptx_lower(&a, f);
    const struct ptx_cfg *cfg = ptx_cfg_build(&a, f);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_lowered *l = &lowering->insts[i];
        const struct ptx_inst *in = &f->insts[i];
        bool is_jump = in->opcode == PTX_OP_bra && !in->guard;
        bool is_last = cfg->blocks[cfg->block_of_inst[i]].end == i + 1;
        if (l->laid_out && (!is_jump || l->slots != 1))
            fail_msg("%s, line %d: laid out", f->name, in->line);
        if (!l->slots && (is_last || ptx_flags(in) & (PTX_F_STORE | PTX_F_ATOMIC | PTX_F_BARRIER)))
            fail_msg("%s, line %d: vanished", f->name, in->line);
        if ((l->fate == PTX_FATE_KEPT) != (l->slots > 0))
            fail_msg("%s, line %d: %u slots, fate %u", f->name, in->line, l->slots, l->fate);
        if ((l->if_taken || l->if_not_taken) && !ptx_is_conditional_branch(in))
            fail_msg("%s, line %d: predicates without a branch", f->name, in->line);
        for (uint32_t k = 0; k < l->read_count; k++)
            assert_true(l->reads[k] < f->reg_count);
    }
    for (uint32_t r = 0; r < f->reg_count; r++)
        assert_int_equal(lowering->register_of[lowering->register_of[r]], lowering->register_of[r]);
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

static void promises_hold_for_real_programs(void **state)
{
    (void)state;
    glob_t found = {0};
    glob("workloads/*/*.ptx", 0, NULL, &found);
    glob("tests/compiled/ptx/*.ptx", GLOB_APPEND, NULL, &found);
    assert_true(found.gl_pathc > 30);
    for (size_t k = 0; k < found.gl_pathc; k++) {
        struct error e = {0};
        char *text = read_file(found.gl_pathv[k]);
        struct ptx_module *m = ptx_parse(found.gl_pathv[k], text, strlen(text), &e);
        free(text);
        assert_non_null(m);
        for (uint32_t i = 0; i < m->function_count; i++)
            check_promises(m->functions[i]);
        ptx_module_free(m);
    }
    globfree(&found);
}

/* 60,000 instructions with 60,000 registers, one chain that all vanishes into its neighbours: time grows with them. */
static void long_functions_take_no_longer_than_they_must(void **state)
{
    (void)state;
    enum { PAIRS = 30000, LINE = 96 };
    char *text = calloc(PAIRS * LINE + 4096, 1), *at = text;
    at += sprintf(at,
                  ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                  ".reg .b32 %%r<%d>; .reg .b64 %%q<2>;\nld.param.u64 %%q0, [p];\nld.global.u32 %%r0, [%%q0];\n",
                  PAIRS * 2 + 2);
    for (int i = 0; i < PAIRS; i++)
        at += sprintf(at, "mov.u32 %%r%d, %%r%d;\nadd.s32 %%r%d, %%r%d, %d;\n", i * 2 + 1, i * 2, i * 2 + 2, i * 2 + 1,
                      i);
    sprintf(at, "st.global.u32 [%%q0], %%r%d;\nret;\n}\n", PAIRS * 2);
    struct fixture x;
    open_text(&x, text);
    free(text);
    check_promises(x.kernel);
    ptx_reorder(&x.arena, x.kernel);
    close_fixture(&x);
}

/* ------------------------------------------------------------- order */

/* Lines of the body in the order in which they end up, the first is 1. */
static void check_order(const char *body, const char *expected)
{
    struct fixture x;
    char got[256] = "", *text = NULL;
    static const char head[] = ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 4 .b8 tile[64];\n"
                               ".visible .entry k(.param .u64 p) {\n" REGISTERS "\n";
    assert_true(asprintf(&text, "%s%s\nret;\n}\n", head, body) > 0);
    open_text(&x, text);
    free(text);
    int before = 7;
    ptx_reorder(&x.arena, x.kernel);
    for (uint32_t i = 0; i + 1 < x.kernel->inst_count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i ? " " : "", x.kernel->insts[i].line - before);
    if (strcmp(got, expected))
        fail_msg("%s\n   goes %s, not %s", body, got, expected);
    close_fixture(&x);
}

static void loads_come_early(void **state)
{
    (void)state;
    check_order("ld.global.u32 %r1, [%q1];\nadd.s32 %r2, %r1, 1;\nld.global.u32 %r3, [%q2];\nadd.s32 %r4, %r3, 1;",
                "1 3 2 4");
    /* with what their addresses need */
    check_order("ld.global.u32 %r1, [%q1];\nadd.s32 %r2, %r1, 1;\nadd.s64 %q2, %q1, 8;\nld.global.u32 %r3, [%q2];",
                "1 3 4 2");
    /* others fill the time */
    check_order("ld.global.u32 %r1, [%q1];\nadd.s32 %r2, %r1, 1;\nxor.b32 %r5, %r6, %r7;", "1 3 2");
}

/* So does the condition of the branch at the end, which takes long; not what reads the same register before. */
static void conditions_come_early(void **state)
{
    (void)state;
    check_order("L: add.f32 %f1, %f1, %f2;\nadd.f32 %f3, %f3, %f2;\nadd.f32 %f4, %f4, %f2;\nsub.u32 %r1, %r1, 1;\n"
                "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;",
                "4 1 5 2 3 6");
    check_order("L: add.s32 %r2, %r2, %r1;\nadd.f32 %f3, %f3, %f2;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
                "@%p1 bra L;",
                "1 3 2 4 5");
}

static void order_is_kept_where_it_must(void **state)
{
    (void)state;
    /* a register that is written again, read before */
    check_order("mul.lo.s32 %r2, %r1, %r1;\nld.global.u32 %r1, [%q1];\nadd.s32 %r3, %r1, %r2;", "1 2 3");
    check_order("ld.global.u32 %r1, [%q1];\nst.global.u32 [%q3], %r1;\nld.global.u32 %r3, [%q2];", "1 2 3");
    check_order("ld.global.u32 %r1, [%q1];\nst.shared.u32 [%s1], %r1;\nld.global.u32 %r3, [%q2];", "1 3 2");
    check_order("ld.global.u32 %r1, [%q1];\nst.u32 [%q3], %r1;\nld.shared.u32 %r3, [%s1];", "1 2 3");
    check_order("ld.global.u32 %r1, [%q1];\nst.global.u32 [%q3], %r1;\nld.global.nc.u32 %r3, [%q2];", "1 3 2");
    check_order("ld.global.u32 %r1, [%q1];\nadd.s32 %r2, %r1, 1;\nbar.sync 0;\nld.global.u32 %r3, [%q2];", "1 2 3 4");
    check_order("ld.global.u32 %r1, [%q1];\nadd.s32 %r2, %r1, 1;\nld.volatile.global.u32 %r3, [%q2];", "1 2 3");
    check_order("ld.global.u32 %r1, [%q1];\nadd.s32 %r2, %r1, 1;\nmov.u32 %r4, %clock;\nld.global.u32 %r3, [%q2];",
                "1 2 3 4");
    check_order("ld.global.u32 %r1, [%q1];\nadd.s32 %r2, %r1, 1;\natom.global.add.u32 %r4, [%q3], 1;\n"
                "ld.global.u32 %r3, [%q2];",
                "1 3 4 2");
    check_order("ld.global.u32 %r1, [%q1];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 mov.u32 %r2, 3;\nld.global.u32 %r3, [%q2];",
                "1 4 2 3");
    /* the carry is a register */
    check_order("ld.global.u32 %r1, [%q1];\nadd.cc.u32 %r2, %r1, 1;\naddc.u32 %r4, %r5, 0;\nadd.cc.u32 %r6, %r7, %r7;\n"
                "addc.u32 %r8, %r9, 0;",
                "1 2 3 4 5");
    /* a label in between is where a block begins */
    check_order("ld.global.u32 %r1, [%q1];\nadd.s32 %r2, %r1, 1;\n@%p1 bra L;\nL: ld.global.u32 %r3, [%q2];",
                "1 2 3 4");
}

static void few_loads_are_under_way_at_once(void **state)
{
    (void)state;
    char body[4096] = "";
    for (int i = 0; i < 20; i++)
        sprintf(body + strlen(body), "ld.global.u32 %%r1, [%%q1+%d];\nadd.s32 %%r2, %%r2, %%r1;\n", i * 4);
    check_order(body,
                "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 "
                "37 38 39 40"); /* one register: nothing can move */
    body[0] = '\0';
    for (int i = 0; i < 18; i++)
        sprintf(body + strlen(body), "ld.global.u32 %%r%d, [%%q1+%d];\n", i + 1, i * 4);
    for (int i = 0; i < 18; i++)
        sprintf(body + strlen(body), "st.shared.u32 [%%s1+%d], %%r%d;\n", i * 4, i + 1);
    check_order(body,
                "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 19 17 20 18 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_becomes_many),
        cmocka_unit_test(atomics_on_one_address_are_added_up),
        cmocka_unit_test(moves_vanish),
        cmocka_unit_test(dead_code_vanishes),
        cmocka_unit_test(addresses_take_arithmetic_in),
        cmocka_unit_test(two_become_one),
        cmocka_unit_test(values_have_names_of_their_own),
        cmocka_unit_test(conversions_to_16_bits_come_in_pairs),
        cmocka_unit_test(factors_of_24_bits_are_extended_once),
        cmocka_unit_test(short_branches_become_predicates),
        cmocka_unit_test(loops_that_count_are_unrolled),
        cmocka_unit_test(threads_meet_on_the_way),
        cmocka_unit_test(a_branch_through_a_table_has_no_guard),
        cmocka_unit_test(pointers_that_step_are_moved),
        cmocka_unit_test(sums_are_cleared_in_pairs),
        cmocka_unit_test(a_loop_may_end_with_the_kernel),
        cmocka_unit_test(parameters_are_loaded_where_they_are_wanted),
        cmocka_unit_test(words_of_shared_memory_come_together),
        cmocka_unit_test(each_stretch_finds_shared_memory),
        cmocka_unit_test(a_kernel_has_a_beginning),
        cmocka_unit_test(readers_wait_for_what_vanished_reads),
        cmocka_unit_test(values_of_a_loop_share_a_register),
        cmocka_unit_test(promises_hold_for_real_programs),
        cmocka_unit_test(long_functions_take_no_longer_than_they_must),
        cmocka_unit_test(loads_come_early),
        cmocka_unit_test(conditions_come_early),
        cmocka_unit_test(order_is_kept_where_it_must),
        cmocka_unit_test(few_loads_are_under_way_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
