/* Are blocks, dominators, reconvergence points, loops and liveness right? Hand-made graphs with the answers written
 * down, and random functions against the definitions (cfg_truth.h). */
#include "cfg_truth.h"

/* ------------------------------------------------------------- hand-made graphs */

static void an_if_meets_behind_it(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    plain(&m, 1);
    branch_if(&m, 4);
    plain(&m, 2);
    plain(&m, 1);
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->block_count, 3);
    assert_int_equal(cfg->reconvergence[1], 4);
    assert_int_equal(cfg->loop_count, 0);
    assert_true(ptx_cfg_dominates(cfg, 0, 2) && !ptx_cfg_dominates(cfg, 1, 2));
    assert_true(ptx_cfg_post_dominates(cfg, 2, 0) && !ptx_cfg_post_dominates(cfg, 1, 0));
    finish(&m);
}

static void an_if_else_meets_behind_both(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    branch_if(&m, 3);
    plain(&m, 1);
    bra(&m, 4);
    plain(&m, 1);
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->block_count, 4);
    assert_int_equal(cfg->reconvergence[0], 4);
    assert_int_equal(cfg->reconvergence[2], PTX_NO_RECONVERGENCE); /* no condition, no paths to meet */
    assert_int_equal(cfg->blocks[0].succs[0], 1);                  /* fall-through first */
    finish(&m);
}

static void nested_loops_nest(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    plain(&m, 1);     /* 0 */
    plain(&m, 1);     /* 1 outer begins */
    plain(&m, 2);     /* 2, 3 inner begins */
    branch_if(&m, 2); /* 4 inner ends */
    plain(&m, 1);     /* 5 */
    branch_if(&m, 1); /* 6 outer ends */
    ret(&m);          /* 7 */
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->loop_count, 2);
    assert_int_equal(cfg->loops[0].begin, 1);
    assert_int_equal(cfg->loops[0].end, 7);
    assert_int_equal(cfg->loops[1].begin, 2);
    assert_int_equal(cfg->loops[1].end, 5);
    assert_int_equal(cfg->loops[1].parent, 0);
    assert_int_equal(cfg->loops[1].depth, 2);
    assert_int_equal(cfg->reconvergence[4], 5);
    assert_int_equal(cfg->reconvergence[6], 7);
    finish(&m);
}

static void a_loop_with_two_exits_meets_where_they_join(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    plain(&m, 1);     /* 0 */
    branch_if(&m, 5); /* 1 loop begins; break */
    plain(&m, 1);     /* 2 */
    branch_if(&m, 1); /* 3 again */
    plain(&m, 1);     /* 4 only the ordinary end */
    ret(&m);          /* 5 */
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->loop_count, 1);
    assert_int_equal(cfg->loops[0].begin, 1);
    assert_int_equal(cfg->loops[0].end, 4);
    assert_int_equal(cfg->reconvergence[1], 5);
    assert_int_equal(cfg->reconvergence[3], 5);
    finish(&m);
}

static void a_continue_shares_the_header(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    plain(&m, 1);     /* 0 */
    plain(&m, 1);     /* 1 header */
    branch_if(&m, 1); /* 2 continue */
    plain(&m, 1);     /* 3 */
    branch_if(&m, 1); /* 4 */
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->loop_count, 1);
    assert_int_equal(cfg->loops[0].latch_count, 2);
    assert_int_equal(cfg->loops[0].end, 5);
    assert_int_equal(cfg->reconvergence[2], 3); /* lanes that go round again come to 3 before any leaves */
    finish(&m);
}

static void a_switch_meets_behind_all_cases(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    brx(&m, 2, 4, (uint32_t[]){1, 3, 5, 3});
    plain(&m, 1);
    bra(&m, 6);
    plain(&m, 1);
    bra(&m, 6);
    plain(&m, 1);
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->blocks[0].succ_count, 3);
    assert_int_equal(cfg->reconvergence[0], 6);
    finish(&m);
}

static void an_endless_loop_meets_at_its_end(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    branch_if(&m, 3); /* 0: never meets, one side never ends */
    plain(&m, 1);     /* 1 */
    ret(&m);          /* 2 */
    branch_if(&m, 6); /* 3 endless loop begins, with an if in it */
    plain(&m, 1);     /* 4 */
    bra(&m, 7);       /* 5 */
    plain(&m, 1);     /* 6 */
    bra(&m, 3);       /* 7 */
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->reconvergence[0], PTX_NO_RECONVERGENCE);
    assert_int_equal(cfg->reconvergence[3], 7);
    assert_int_equal(cfg->loop_count, 1);
    assert_int_equal(cfg->loops[0].begin, 3);
    assert_int_equal(cfg->loops[0].end, 8);
    finish(&m);
}

static void a_one_instruction_loop_is_a_loop(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    bra(&m, 0);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->loop_count, 1);
    assert_int_equal(cfg->ipdom[0], PTX_NO_BLOCK);
    finish(&m);
}

static void dead_code_is_not_reached_and_heads_no_loop(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    bra(&m, 4);
    plain(&m, 1); /* 1: a loop that is never entered */
    branch_if(&m, 1);
    bra(&m, 3); /* 3: and one that never ends */
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->loop_count, 0);
    assert_false(cfg->blocks[1].reachable);
    assert_int_equal(cfg->idom[1], PTX_NO_BLOCK);
    assert_int_equal(cfg->reconvergence[2], 3);
    finish(&m);
}

static void several_returns_meet_only_at_the_end(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    branch_if(&m, 2);
    ret(&m);
    branch_if(&m, 5);
    guard(&m, ret(&m), 1);
    plain(&m, 1);
    emit(&m, PTX_OP_trap, 0);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->reconvergence[0], PTX_NO_RECONVERGENCE);
    assert_int_equal(cfg->reconvergence[2], PTX_NO_RECONVERGENCE);
    assert_int_equal(cfg->reconvergence[3], PTX_NO_RECONVERGENCE);
    assert_true(cfg->blocks[cfg->block_of_inst[3]].exits);
    assert_int_equal(cfg->blocks[cfg->block_of_inst[3]].succ_count, 1);
    finish(&m);
}

static void a_call_that_never_returns_ends_its_block(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    call(&m, &m.callee, 2, 3);
    branch_if(&m, 3);
    call(&m, &m.never_returns, MOST_REGS, 3);
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->block_count, 3);
    assert_true(cfg->blocks[1].exits);
    assert_int_equal(cfg->blocks[1].succ_count, 0);
    finish(&m);
}

static void a_cycle_with_two_entries_is_irreducible(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    branch_if(&m, 2);
    plain(&m, 1);     /* 1: entered from 0 and 2 */
    branch_if(&m, 1); /* 2: entered from 0 and 1 */
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_false(cfg->reducible);
    assert_int_equal(cfg->loop_count, 0);
    finish(&m);
}

static void a_label_behind_the_last_instruction_is_the_exit(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    branch_if(&m, 2);
    plain(&m, 1);
    struct ptx_cfg *cfg;
    cfg = check_all(&m);
    assert_int_equal(cfg->block_count, 2);
    assert_int_equal(cfg->reconvergence[0], PTX_NO_RECONVERGENCE);
    finish(&m);
}

static void a_function_without_instructions_has_no_blocks(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    struct ptx_cfg *cfg = ptx_cfg_build(&m.arena, &m.f);
    assert_int_equal(cfg->block_count, 0);
    assert_int_equal(ptx_liveness_build(&m.arena, &m.f, cfg)->max_live_32bit, 0);
    finish(&m);
}

/* ------------------------------------------------------------- registers */

static void registers_count_by_width(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    mov(&m, 7, 4); /* two 64-bit registers one after the other */
    mov(&m, 3, 8); /* 32 bits, read below; 7 is alive */
    mov(&m, 2, 3);
    mov(&m, 4, 7);
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    struct ptx_liveness *l = ptx_liveness_build(&m.arena, &m.f, cfg);
    assert_int_equal(l->live_at[0], 3); /* %4 (64 bits) and %8 */
    assert_int_equal(l->live_at[2], 3); /* %7 and %3 */
    assert_int_equal(l->live_at[4], 0);
    assert_int_equal(l->max_live_32bit, 3);
    finish(&m);
}

static void a_guarded_write_keeps_the_old_value_alive(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    mov(&m, 2, 3);
    guard(&m, mov(&m, 2, 8), 0);
    mov(&m, 10, 2);
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    struct ptx_liveness *l = ptx_liveness_build(&m.arena, &m.f, cfg);
    assert_int_equal(l->live_at[1], 2); /* %2 and %8, and the guard */
    assert_int_equal(l->max_live_pred, 1);
    finish(&m);
}

/* A caller writes every parameter, so that their places must differ even where the function does not read them. */
static void parameters_in_registers_are_taken_from_the_start(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    struct ptx_variable parameters[3], *list[3];
    for (uint32_t i = 0; i < 3; i++) {
        parameters[i] = (struct ptx_variable){.reg = &m.regs[(uint32_t[]){2, 8, 10}[i]]};
        list[i] = &parameters[i];
    }
    m.f.params = list;
    m.f.param_count = 3;
    mov(&m, 3, 2);
    mov(&m, 8, 3); /* the second parameter is only written, the third not mentioned */
    mov(&m, 3, 8);
    ret(&m);
    struct ptx_liveness *l = ptx_liveness_build(&m.arena, &m.f, check_all(&m));
    assert_int_equal(l->range_first[2], 0);
    assert_int_equal(l->range_first[8], 0);
    assert_int_equal(l->range_last[8], 2);
    assert_int_equal(l->range_first[10], 0);
    assert_int_equal(l->range_last[10], 0);
    finish(&m);
}

/* bar.red has a result although barriers have none; results of a function may be registers, read by ret. */
static void barriers_that_reduce_and_returns_use_registers(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    m.result.reg = &m.regs[10];
    m.results[0] = &m.result;
    m.f.returns = m.results;
    m.f.return_count = 1;
    struct ptx_inst *in = emit(&m, PTX_OP_bar, 3);
    in->modifiers[in->modifier_count++] = PTX_MOD_RED;
    in->operands[0] = reg_operand(&m, 10);
    in->operands[1] = (struct ptx_operand){.kind = PTX_OPERAND_INT};
    in->operands[2] = reg_operand(&m, 1);
    note(&m, m.defines, 1, (uint32_t[]){10});
    note(&m, m.uses, 1, (uint32_t[]){1});
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    struct ptx_liveness *l = ptx_liveness_build(&m.arena, &m.f, cfg);
    assert_int_equal(l->live_at[0], 0);
    assert_int_equal(l->live_at[1], 1);
    finish(&m);
}

/* wgmma adds to its first operand; mbarrier.init and its like have an address there, and no result. */
static void first_operands_may_be_read(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    struct ptx_inst *in = emit(&m, PTX_OP_wgmma, 2);
    in->operands[0] = group(&m, PTX_OPERAND_VECTOR, 2, (uint32_t[]){3, 8});
    in->operands[1] = reg_operand(&m, 4);
    note(&m, m.defines, 2, (uint32_t[]){3, 8});
    note(&m, m.uses, 3, (uint32_t[]){3, 8, 4});
    in = emit(&m, PTX_OP_mbarrier, 2);
    in->operands[0] = group(&m, PTX_OPERAND_ADDRESS, 1, (uint32_t[]){4});
    in->operands[1] = reg_operand(&m, 2);
    note(&m, m.uses, 2, (uint32_t[]){4, 2});
    ret(&m);
    struct ptx_liveness *l = ptx_liveness_build(&m.arena, &m.f, check_all(&m));
    assert_int_equal(l->live_at[0], 5);
    assert_int_equal(l->live_at[1], 3);
    finish(&m);
}

/* ------------------------------------------------------------- from text */

static const char text[] = ".version 8.5\n.target sm_80\n.address_size 64\n"
                           ".func stop(.param .b32 why) .noreturn;\n"
                           ".visible .entry k(.param .u64 data, .param .u32 n)\n{\n"
                           "  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .v2 .b32 %v;\n"
                           "  ld.param.u64 %d1, [data];\n" /* 0 */
                           "  ld.param.u32 %r1, [n];\n"    /* 1 */
                           "  mov.u32 %r2, 0;\n"           /* 2 */
                           "OUTER:\n"
                           "  ld.global.v2.b32 %v, [%d1+8];\n" /* 3 */
                           "  and.b32 %r3, %v.x, 3;\n"         /* 4 */
                           "  cases: .branchtargets A, B, A, C;\n"
                           "  @%p1 brx.idx %r3, cases;\n" /* 5 */
                           "  bra.uni C;\n"               /* 6 */
                           "A:\n"
                           "  add.u32 %r2, %r2, %v.y;\n"    /* 7 */
                           "  setp.lt.u32 %p2, %r2, %r1;\n" /* 8 */
                           "  @%p2 bra A;\n"                /* 9 */
                           "  bra.uni C;\n"                 /* 10 */
                           "B:\n"
                           "  { .param .b32 why; st.param.b32 [why], %r3; call.uni stop, (why); }\n" /* 11, 12 */
                           "C:\n"
                           "  setp.ne.u32 %p3|%p1, %r2, 0;\n" /* 13 */
                           "  @%p3 bra OUTER;\n"              /* 14 */
                           "  ret;\n"                         /* 15 */
                           "}\n";

static void a_parsed_kernel_is_analysed(void **state)
{
    (void)state;
    struct error e = {0};
    struct ptx_module *module = ptx_parse("text.ptx", text, sizeof text - 1, &e);
    if (!module)
        fail_msg("%s", e.text);
    struct arena a = {0};
    const struct ptx_function *f = ptx_find_function(module, "k");
    struct ptx_cfg *cfg = ptx_cfg_build(&a, f);
    struct ptx_liveness *l = ptx_liveness_build(&a, f, cfg);
    assert_int_equal(f->inst_count, 16);
    assert_int_equal(cfg->block_count, 8);
    assert_int_equal(cfg->blocks[1].succ_count, 4);                /* OUTER: on, A, B, C */
    assert_int_equal(cfg->reconvergence[5], PTX_NO_RECONVERGENCE); /* B never comes back */
    assert_int_equal(cfg->reconvergence[9], 10);
    assert_int_equal(cfg->reconvergence[14], PTX_NO_RECONVERGENCE); /* nor do lanes that go round and then to B */
    assert_true(cfg->blocks[cfg->block_of_inst[12]].exits);
    assert_int_equal(cfg->loop_count, 2);
    assert_int_equal(cfg->loops[0].begin, 3);
    assert_int_equal(cfg->loops[0].end, 15);
    assert_int_equal(cfg->loops[0].block_count, 5); /* not B */
    assert_int_equal(cfg->loops[1].begin, 7);
    assert_int_equal(cfg->loops[1].end, 10);
    assert_int_equal(l->live_at[0], 0);
    assert_int_equal(l->live_at[3], 4); /* %d1, %r1, %r2 */
    assert_int_equal(l->live_at[7], 5); /* and %v.y */
    assert_int_equal(l->live_at[12], 0);
    assert_int_equal(l->max_live_32bit, 6); /* and %r3 */
    arena_free(&a);
    ptx_module_free(module);
}

/* ------------------------------------------------------------- random functions */

static uint32_t draw(struct maker *m, uint32_t below)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 17;
    m->random ^= m->random << 5;
    return (m->random >> 3) % below;
}

/* ld {a, b}, [c]   st [c], {a, b}   setp a|b, c, d */
static void random_shaped(struct maker *m)
{
    uint32_t r[4] = {draw(m, MOST_REGS), draw(m, MOST_REGS), draw(m, MOST_REGS), draw(m, MOST_REGS)};
    struct ptx_inst *in;
    switch (draw(m, 3)) {
    case 0:
        in = emit(m, PTX_OP_ld, 2);
        in->operands[0] = group(m, PTX_OPERAND_VECTOR, 2, r);
        in->operands[1] = group(m, PTX_OPERAND_ADDRESS, 1, r + 2);
        note(m, m->defines, 2, r);
        note(m, m->uses, 1, r + 2);
        break;
    case 1:
        in = emit(m, PTX_OP_st, 2);
        in->operands[0] = group(m, PTX_OPERAND_ADDRESS, 1, r + 2);
        in->operands[1] = group(m, PTX_OPERAND_VECTOR, 2, r);
        note(m, m->uses, 3, r);
        break;
    default:
        in = emit(m, PTX_OP_setp, 3);
        in->operands[0] = group(m, PTX_OPERAND_PAIR, 2, r);
        in->operands[1] = reg_operand(m, r[2]);
        in->operands[2] = reg_operand(m, r[3]);
        note(m, m->defines, 2, r);
        note(m, m->uses, 2, r + 2);
        break;
    }
}

static void random_instruction(struct maker *m, uint32_t n)
{
    uint32_t targets[3] = {draw(m, n), draw(m, n), draw(m, n)};
    switch (draw(m, 16)) {
    case 0: bra(m, draw(m, n + 1)); return;
    case 1:
    case 2:
    case 3:
    case 4: guard(m, bra(m, draw(m, n + 1)), draw(m, 2)); return;
    case 5: brx(m, draw(m, MOST_REGS), 1 + draw(m, 3), targets); break;
    case 6: ret(m); break;
    case 7: emit(m, draw(m, 2) ? PTX_OP_exit : PTX_OP_trap, 0); break;
    case 8:
        call(m, draw(m, 2) ? &m->never_returns : &m->callee, draw(m, 2) ? MOST_REGS : draw(m, MOST_REGS),
             draw(m, MOST_REGS));
        break;
    case 9:
    case 10:
    case 11: random_shaped(m); break;
    default: mov(m, draw(m, MOST_REGS), draw(m, MOST_REGS)); break;
    }
    if (draw(m, 3) == 0)
        guard(m, &m->insts[m->f.inst_count - 1], draw(m, 2));
}

static void random_functions_follow_the_definitions(void **state)
{
    (void)state;
    uint32_t loops = 0, irreducible = 0, meetings = 0, endless = 0;
    for (uint32_t seed = 1; seed <= 3000; seed++) {
        struct maker m;
        struct truth t;
        start(&m);
        m.random = seed * 2654435761u;
        if (seed % 4 == 0) {
            m.result.reg = &m.regs[10];
            m.results[0] = &m.result;
            m.f.returns = m.results;
            m.f.return_count = 1;
        }
        uint32_t n = 1 + draw(&m, seed % 10 ? 16 : 40);
        while (m.f.inst_count < n)
            random_instruction(&m, n);
        struct ptx_cfg *cfg = check_all(&m);
        know(&t, &m);
        loops += cfg->loop_count;
        irreducible += !cfg->reducible;
        endless += !always_ends(&t);
        for (uint32_t i = 0; i < n; i++)
            meetings += cfg->reconvergence[i] != PTX_NO_RECONVERGENCE;
        finish(&m);
    }
    /* the draw covers what it is there to cover */
    assert_true(loops > 500 && irreducible > 100 && meetings > 1000 && endless > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_if_meets_behind_it),
        cmocka_unit_test(an_if_else_meets_behind_both),
        cmocka_unit_test(nested_loops_nest),
        cmocka_unit_test(a_loop_with_two_exits_meets_where_they_join),
        cmocka_unit_test(a_continue_shares_the_header),
        cmocka_unit_test(a_switch_meets_behind_all_cases),
        cmocka_unit_test(an_endless_loop_meets_at_its_end),
        cmocka_unit_test(a_one_instruction_loop_is_a_loop),
        cmocka_unit_test(dead_code_is_not_reached_and_heads_no_loop),
        cmocka_unit_test(several_returns_meet_only_at_the_end),
        cmocka_unit_test(a_call_that_never_returns_ends_its_block),
        cmocka_unit_test(a_cycle_with_two_entries_is_irreducible),
        cmocka_unit_test(a_label_behind_the_last_instruction_is_the_exit),
        cmocka_unit_test(a_function_without_instructions_has_no_blocks),
        cmocka_unit_test(registers_count_by_width),
        cmocka_unit_test(a_guarded_write_keeps_the_old_value_alive),
        cmocka_unit_test(barriers_that_reduce_and_returns_use_registers),
        cmocka_unit_test(parameters_in_registers_are_taken_from_the_start),
        cmocka_unit_test(first_operands_may_be_read),
        cmocka_unit_test(a_parsed_kernel_is_analysed),
        cmocka_unit_test(random_functions_follow_the_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
