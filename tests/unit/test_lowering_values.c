/* Values of which the machine needs less than PTX says: lower halves, and what was computed before. The numbers are
 * those of ptxas 13 for sm_90. */
#include "lowering_fixture.h"

static void lower_halves_are_enough(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"add.s64 %q4, %q1, %q2;\ncvt.u32.u64 %r0, %q4;", "1 0"},
        {"add.s64 %q0, %q1, %q2;\ncvt.u32.u64 %r0, %q0;", "2 0"}, /* all of it is needed besides */
        {"mul.lo.s64 %q4, %q1, %q2;\ncvt.u32.u64 %r0, %q4;", "1 0"},
        {"cvt.s64.s32 %q4, %r1;\nadd.s64 %q5, %q4, %q2;\ncvt.u32.u64 %r0, %q5;", "0 1 0"},
        {"shr.u64 %q4, %q1, 32;\ncvt.u32.u64 %r0, %q4;", "0 0"},
        {"shr.u64 %q4, %q1, 7;\ncvt.u32.u64 %r0, %q4;", "1 0"},
        /* no half of a quotient without the other */
        {"div.u64 %q4, %q1, %q2;\ncvt.u32.u64 %r0, %q4;", "70 0"},
        {"mul.hi.u64 %q4, %q1, %q2;\ncvt.u32.u64 %r0, %q4;", "7 0"},
        {"add.s64 %q4, %q1, %q2;\ncvt.rn.f32.u64 %f0, %q4;", "2 1"},
        /* a counter of 64 bits, compared as one of 32 */
        {"mov.u64 %q4, 0;\nmov.u64 %q5, tile;\nL:\nadd.s64 %q6, %q5, %q4;\nld.shared.u32 %r5, [%q6];\n"
         "bar.sync 0;\nst.shared.u32 [%q6+4], %r5;\nadd.s64 %q4, %q4, 4;\ncvt.u32.u64 %r6, %q4;\n"
         "setp.eq.s32 %p4, %r6, 4000;\n@!%p4 bra L;",
         "1 3 0 1 1 1 1 0 1 1"},
        /* a pointer to shared memory that is stepped twice in a round */
        {"mov.u64 %q4, tile;\nmov.u32 %r0, 0;\nL:\nld.shared.u32 %r5, [%q4];\nadd.s64 %q4, %q4, 4;\nbar.sync 0;\n"
         "st.shared.u32 [%q4+4], %r5;\nadd.s64 %q4, %q4, 8;\nmembar.gl;\nsetp.eq.s32 %p4, %r5, 4000;\n@!%p4 bra L;",
         "3 3 1 1 1 1 1 4 1 1"},
        /* which goes on before its value is read */
        {"mov.u64 %q4, %q1;\nL:\nld.global.u32 %r5, [%q4];\ncvt.u32.u64 %r6, %q4;\nadd.s64 %q4, %q4, 4;\n"
         "bar.sync 0;\nmembar.gl;\nsetp.eq.s32 %p4, %r6, %r5;\n@!%p4 bra L;",
         "3 1 1 4 1 4 1 1"},
    };
    CHECK(rules);
}

static void divisions_share_the_reciprocal(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"div.s32 %r5, %r1, %r3;\ndiv.s32 %r6, %r2, %r3;\nxor.b32 %r0, %r5, %r6;", "25 13 1"},
        {"rem.s32 %r5, %r1, %r3;\nrem.s32 %r6, %r2, %r3;\nxor.b32 %r0, %r5, %r6;", "23 11 1"},
        {"rem.s32 %r5, %r1, %r3;\ndiv.s32 %r6, %r2, %r3;\nxor.b32 %r0, %r5, %r6;", "23 13 1"},
        {"div.u32 %r5, %r1, %r3;\ndiv.u32 %r6, %r2, %r3;\nxor.b32 %r0, %r5, %r6;", "18 10 1"},
        {"rem.u32 %r5, %r1, %r3;\nrem.u32 %r6, %r2, %r3;\nxor.b32 %r0, %r5, %r6;", "17 9 1"},
        {"rem.u32 %r5, %r1, %r3;\nrem.s32 %r6, %r2, %r3;\nxor.b32 %r0, %r5, %r6;", "17 23 1"},
        {"rem.u32 %r5, %r1, %r3;\nrem.u32 %r6, %r2, %r4;\nxor.b32 %r0, %r5, %r6;", "17 17 1"},
        /* not of what has changed since */
        {"rem.u32 %r5, %r1, %r3;\nadd.s32 %r3, %r3, 1;\nrem.u32 %r6, %r2, %r3;\nxor.b32 %r0, %r5, %r6;", "17 1 17 1"},
        /* in a block after it */
        {"rem.s32 %r0, %r1, %k1;\nsetp.eq.s32 %p4, %r0, 5;\n@%p4 bra A;\nbar.sync 0;\nrem.s32 %r0, %r2, %k1;\nA:\n",
         "23 1 3 1 11"},
        /* of a divisor that stays in a loop, before it */
        {"mov.u32 %r0, %r1;\nmov.u32 %r5, 0;\nL:\nrem.s32 %r0, %r0, %r3;\nmembar.gl;\nadd.s32 %r5, %r5, 1;\n"
         "setp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;",
         "0 10 14 4 1 1 1"},
        {"mov.u32 %r0, %r1;\nmov.u32 %r5, 0;\nL:\nrem.u32 %r0, %r2, %r0;\nmembar.gl;\nadd.s32 %r5, %r5, 1;\n"
         "setp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;",
         "0 1 17 4 1 1 1"},
    };
    CHECK(rules);
}

static void selections_and_shared_work(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"neg.f32 %f5, %f1;\nselp.f32 %f0, %f5, %f1, %p1;", "0 1"},
        {"abs.f32 %f5, %f1;\nselp.f32 %f0, %f5, %f1, %p1;", "0 1"},
        {"neg.s32 %r5, %r1;\nselp.b32 %r0, %r5, %r1, %p1;", "1 1"},
        /* over a value that nobody reads afterwards, under a predicate */
        {"mul.hi.s32 %r5, %r1, %r2;\nsub.s32 %r6, %r3, %r5;\nselp.b32 %r0, %r6, %r5, %p1;", "1 1 0"},
        {"mul.hi.s32 %r5, %r1, %r2;\nsub.s32 %r6, %r3, %r5;\nselp.b32 %r0, %r5, %r6, %p1;", "1 1 0"},
        {"mul.hi.s32 %r5, %r1, %r2;\nsub.s32 %r6, %r3, %r5;\nselp.b32 %r0, %r6, %r5, %p1;\nst.global.u32 [%a0], %r5;",
         "1 1 1 1"},
        {"sub.s32 %r6, %r3, %r1;\nselp.b32 %r0, %r6, 0, %p1;", "1 1"},
        /* sine and cosine of one value */
        {"sin.approx.f32 %f5, %f1;\ncos.approx.f32 %f6, %f1;\nadd.rn.f32 %f0, %f5, %f6;", "2 1 1"},
        {"sin.approx.f32 %f5, %f1;\ncos.approx.f32 %f6, %f2;\nadd.rn.f32 %f0, %f5, %f6;", "2 2 1"},
    };
    CHECK(rules);
}

static void shared_memory_has_a_uniform_base(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"mov.u32 %s2, tile;\nadd.s32 %r5, %s2, %r1;\nld.shared.u32 %r0, [%r5+4];", "3 0 1"},
        {"mov.u32 %s2, tile;\nadd.s32 %r5, %s2, %r1;\nst.shared.u32 [%r5], %r2;\nmov.u32 %r0, 0;", "3 0 1 0"},
        {"add.s32 %r5, %r2, %r1;\nld.shared.u32 %r0, [%r5];", "1 1"}, /* two of a thread's own */
        {"mov.u32 %s2, tile;\nadd.s32 %r0, %s2, %r1;\nld.shared.u32 %r5, [%r0];\nst.shared.u32 [%r0+8], %r5;",
         "3 1 1 1"},
        {"mov.u32 %s2, tile;\nshl.b32 %r6, %r1, 2;\nadd.s32 %r5, %s2, %r6;\nld.shared.u32 %r0, [%r5];", "3 0 1 1"},
    };
    CHECK(rules);
}

static void moves_for_later_are_made_after_the_loop(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"mov.u32 %r5, 0;\nmov.u32 %r6, %r1;\nL:\nmul.hi.s32 %r6, %r6, %r2;\nmov.u32 %r0, %r5;\n"
         "setp.gt.s32 %p4, %r6, %r3;\n@%p4 bra E;\nadd.s32 %r5, %r5, 1;\nsetp.ne.s32 %p5, %r5, %k1;\nmov.u32 %r0, "
         "%k1;\n"
         "@%p5 bra L;\nE:\n",
         "1 3 1 0 1 1 1 1 0 1"},
        /* what the loop reads itself */
        {"mov.u32 %r5, 0;\nmov.u32 %r0, 0;\nmov.u32 %r6, %r1;\nL:\nmad.lo.s32 %r6, %r6, %r2, %r0;\nmov.u32 %r0, %r5;\n"
         "setp.gt.s32 %p4, %r6, %r3;\n@%p4 bra E;\nadd.s32 %r5, %r5, 1;\nsetp.ne.s32 %p5, %r5, %k1;\n"
         "@%p5 bra L;\nE:\n",
         "1 1 3 1 1 1 1 1 1 1"},
    };
    CHECK(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lower_halves_are_enough),
        cmocka_unit_test(divisions_share_the_reciprocal),
        cmocka_unit_test(selections_and_shared_work),
        cmocka_unit_test(shared_memory_has_a_uniform_base),
        cmocka_unit_test(moves_for_later_are_made_after_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
