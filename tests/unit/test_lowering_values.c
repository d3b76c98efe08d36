/* Values of which the machine needs less than PTX says: lower halves, and what was computed before. The numbers are those
 * of ptxas 13 for sm_90. */
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
         "1 3 1 1 1 1 1 0 1 1"},
        /* which goes on before its value is read */
        {"mov.u64 %q4, %q1;\nL:\nld.global.u32 %r5, [%q4];\ncvt.u32.u64 %r6, %q4;\nadd.s64 %q4, %q4, 4;\n"
         "bar.sync 0;\nmembar.gl;\nsetp.eq.s32 %p4, %r6, %r5;\n@!%p4 bra L;",
         "3 1 1 4 1 4 1 1"},
    };
    CHECK(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lower_halves_are_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
