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
         "0 1 0 4 1 0 4 1 1 13 1 0 0 1 0"},
        {EITHER "@%p5 bra B;\n" ONE "bra.uni C;\nB:\n" OTHER "C:\nmov.u32 %r0, %r6;\nmov.u32 %r5, 0;\nL:\n" ROUND
                "@%p4 bra E;\nbra.uni L;\nE:\n",
         "0 1 4 1 0 4 1 1 1 1 1 1 1 0"},
    };
    CHECK(rules);
}

#define IF_ROUND                                                                                                 \
    "ld.global.f32 %f5, [%q4];\nsetp.gt.f32 %p5, %f5, 0f00000000;\n@%p5 bra N;\nadd.rn.f32 %f0, %f0, %f5;\nN:\n" \
    "add.s64 %q4, %q4, 128;\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;"

static void loops_with_predicates_are_unrolled(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        /* what becomes predicates is one block */
        {"mov.f32 %f0, %f1;\nmov.u64 %q4, %a3;\nmov.u32 %r5, 0;\nL:\n" IF_ROUND, "0 0 15 1 0 1 1 0 0 0 1"},
        /* what threads do together is not moved under them */
        {"mov.f32 %f0, %f1;\nmov.u64 %q4, %a3;\nmov.u32 %r5, 0;\nL:\nbar.sync 0;\n" IF_ROUND,
         "0 0 1 1 1 0 1 1 4 1 1 1"},
        /* nor is a loop whose counter steps somewhere else */
        {"mov.f32 %f0, %f1;\nmov.u32 %r5, 0;\nL:\nadd.s32 %r5, %r5, 1;\nsetp.gt.s32 %p5, %r5, %r1;\n@%p5 bra N;\n"
         "add.rn.f32 %f0, %f0, %f2;\nN:\nadd.rn.f32 %f0, %f0, %f3;\nsetp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;",
         "0 1 1 0 1 1 1 1 1"},
        /* a division of integers has no call in it; one of floating point has */
        {"mov.u32 %r0, %r1;\nmov.u32 %r5, 0;\nL:\nrem.u32 %r0, %r2, %r0;\nld.global.u32 %r6, [%q1];\n"
         "add.s32 %r0, %r0, %r6;\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;",
         "0 13 17 1 1 0 0 1"},
        {"mov.f32 %f0, %f1;\nmov.u32 %r5, 0;\nL:\ndiv.rn.f32 %f0, %f2, %f0;\nadd.s32 %r5, %r5, 1;\n"
         "setp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;",
         "0 1 10 1 1 1"},
        /* up to a value that is another in each round */
        {"mov.u64 %q4, %a3;\nmov.u32 %r5, 0;\nmov.u32 %r6, %r1;\nL:\nld.global.u32 %r6, [%q4];\nadd.s32 %r5, %r5, 1;\n"
         "setp.lt.s32 %p4, %r5, %r6;\n@%p4 bra L;",
         "0 1 3 1 1 1 1"},
    };
    CHECK(rules);
}

#define SCATTER(start, place)                                                                                       \
    "mov.u64 %q4, %a3;\nmov.u32 %r5, " start ";\nL:\nld.global.f32 %f5, [%q4];\nadd.s32 %r6, %r5, %k2;\n"           \
    "mul.wide.s32 %q5, %r6, 4;\nadd.s64 %q6, %a2, %q5;\nst.global.f32 [" place "], %f5;\nadd.s64 %q4, %q4, 1024;\n" \
    "add.s32 %r5, %r5, 256;\nsetp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;"

static void threads_that_leave_apart_do_not_scatter(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {SCATTER("0", "%q6"), "0 14 1 1 0 1 1 0 1 0 1"},
        {SCATTER("%t0", "%q6"), "0 3 1 1 0 1 1 4 1 1 1"},
        {SCATTER("%t0", "%q4+16"), "0 22 1 0 0 0 1 0 1 0 1"}, /* a pointer that steps */
    };
    CHECK(rules);
}

static void branches_over_a_jump_become_predicates(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"setp.gt.s32 %p4, %r1, %r2;\n@%p4 bra N;\nbra.uni M;\nM:\nadd.s32 %r1, %r1, %r3;\nbra.uni N;\nN:\n"
         "mov.u32 %r0, %r1;",
         "0 1 0 1 0"},
        {"setp.gt.s32 %p4, %r1, %r2;\n@%p4 bra M;\nbra.uni N;\nM:\nadd.s32 %r1, %r1, %r3;\nbra.uni O;\nN:\n"
         "sub.s32 %r1, %r1, %r4;\nO:\nmov.u32 %r0, %r1;",
         "0 1 0 1 0 1"},
    };
    CHECK(rules);
}

static void constants_of_a_loop_are_loaded_before_it(void **state)
{
    (void)state;
    static const struct rule rules[] = {
        {"ld.const.f32 %f5, [table];\nmul.rn.f32 %f0, %f1, %f5;", "1 1"},
        {"mov.f32 %f0, %f1;\nmov.u32 %r5, 0;\nL:\nld.const.f32 %f5, [table];\nmul.rn.f32 %f0, %f0, %f5;\n"
         "membar.gl;\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;",
         "0 2 0 1 4 1 1 1"},
        /* not one whose place changes */
        {"mov.f32 %f0, %f1;\nmov.u32 %r5, 0;\nL:\nmov.u32 %r6, table;\nadd.s32 %r7, %r6, %r5;\nld.const.f32 %f5, "
         "[%r7];\n"
         "mul.rn.f32 %f0, %f0, %f5;\nmembar.gl;\nadd.s32 %r5, %r5, 4;\nsetp.lt.s32 %p4, %r5, %k1;\n@%p4 bra L;",
         "0 1 0 0 1 1 4 1 1 1"},
    };
    CHECK(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jump_back_keeps_a_loop_as_it_is),
        cmocka_unit_test(loops_with_predicates_are_unrolled),
        cmocka_unit_test(threads_that_leave_apart_do_not_scatter),
        cmocka_unit_test(branches_over_a_jump_become_predicates),
        cmocka_unit_test(constants_of_a_loop_are_loaded_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
