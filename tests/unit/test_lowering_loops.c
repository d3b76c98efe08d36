/* Which loops are unrolled depends on how they are written. The numbers are those of ptxas 13 for sm_90. */
#include "lowering_fixture.h"

#define ROUND  "mul.hi.s32 %r0, %r0, %r2;\nadd.s32 %r5, %r5, 1;\nsetp.eq.s32 %p4, %r5, %k1;\n"
#define EITHER "setp.gt.s32 %p5, %r3, %k2;\n"
#define ONE    "membar.gl;\nmul.hi.s32 %r6, %r2, %r3;\n"
#define OTHER  "membar.gl;\nmul.hi.s32 %r6, %r2, %r4;\n"

static void a_jump_back_keeps_a_loop_as_it_is(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\n" ROUND "@!%p4 bra L;", "1 13 1 0 0 1"},
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\n" ROUND "@%p4 bra E;\nbra.uni L;\nE:\n", "1 1 1 1 1 1 0"},
        /* from a literal to a literal, too */
        {"mov.u32 %r0, 0;\nmov.u32 %r5, 0;\nL:\nmul.hi.s32 %r0, %r0, %r2;\nadd.s32 %r5, %r5, 1;\n"
         "setp.eq.s32 %p4, %r5, 8;\n@%p4 bra E;\nbra.uni L;\nE:\n",
         "1 1 1 1 1 1 0"},
        /* but not where blocks are in another order than that of the assembler: all are laid out anew */
        {EITHER "@%p5 bra A;\nbra.uni B;\nA:\n" ONE "bra.uni C;\nB:\n" OTHER
                "C:\nmov.u32 %r0, %r6;\nmov.u32 %r5, 0;\nL:\n" ROUND "@%p4 bra E;\nbra.uni L;\nE:\n",
         "1 3 0 4 1 1 4 1 1 13 1 0 0 1 0"},
        {EITHER "@%p5 bra B;\n" ONE "bra.uni C;\nB:\n" OTHER "C:\nmov.u32 %r0, %r6;\nmov.u32 %r5, 0;\nL:\n" ROUND
                "@%p4 bra E;\nbra.uni L;\nE:\n",
         "0 1 4 1 0 4 1 1 1 1 1 1 1 0"},
    };
    CHECK(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jump_back_keeps_a_loop_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
