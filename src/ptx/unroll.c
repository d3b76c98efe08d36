/* What a function with loops that are unrolled becomes. A loop of four rounds, then two rounds, then the last one:
 *
 *            go on; at least 4 rounds?  no: X
 *     MAIN:  four rounds; at least 4 more?  yes: MAIN
 *        X:  at least 2 more?  no: Y
 *            two rounds
 *        Y:  none left?  yes: exit
 *     REST:  the last round; where the loop ends by equality, the loop as it was, as ptxas leaves it
 *
 * Threads that leave one part wait for the others before the next. How many rounds there are is not computed: for `at
 * least n`, the tests of the next n - 1 rounds are made, exactly as the loop would make them, so that a counter that
 * wraps changes nothing. A loop from a literal to a literal becomes all of its rounds. Functions with brx stay as they
 * are. */
#include "ptx/lowering.h"
#include "ptx/unroll_internal.h"

#include <stdlib.h>
#include <string.h>

uint32_t unroll_emit(struct unroll *u, const struct ptx_inst *in)
{
    if (u->count == u->capacity) {
        struct ptx_inst *insts = arena_array(u->arena, struct ptx_inst, u->capacity * 2);
        bool *is_settled = arena_array(&u->scratch, bool, u->capacity * 2);
        memcpy(insts, u->insts, sizeof *insts * u->count);
        memcpy(is_settled, u->is_settled, sizeof *is_settled * u->count);
        u->insts = insts;
        u->is_settled = is_settled;
        u->capacity *= 2;
    }
    u->insts[u->count] = *in;
    return u->count++;
}

struct ptx_reg *unroll_new_register(struct unroll *u, const struct ptx_reg *like)
{
    if (u->reg_count == u->reg_capacity) {
        struct ptx_reg **regs = arena_array(u->arena, struct ptx_reg *, u->reg_capacity * 2);
        memcpy(regs, u->regs, sizeof *regs * u->reg_count);
        u->regs = regs;
        u->reg_capacity *= 2;
    }
    struct ptx_reg *reg = arena_new(u->arena, struct ptx_reg);
    *reg = *like;
    reg->index = u->reg_count;
    u->regs[u->reg_count++] = reg;
    return reg;
}

static struct ptx_operand register_operand(const struct ptx_inst *like, struct ptx_reg *reg)
{
    return (struct ptx_operand){
        .kind = PTX_OPERAND_REG, .selector = -1, .line = like->line, .column = like->column, .reg = reg};
}

static struct ptx_operand literal_operand(const struct ptx_inst *like, int64_t value)
{
    return (struct ptx_operand){
        .kind = PTX_OPERAND_INT, .selector = -1, .line = like->line, .column = like->column, .integer = value};
}

/* Of the line of the test, without a machine instruction of its own. */
static struct ptx_inst plain_instruction(struct unroll *u, enum ptx_opcode opcode, enum ptx_type type,
                                         uint8_t operand_count)
{
    struct ptx_inst in = *u->at->test;
    in.opcode = opcode;
    in.modifier_count = 0;
    in.type_count = 1;
    in.types[0] = (uint8_t)type;
    in.type_position[0] = 0;
    in.operand_count = operand_count;
    in.operands = arena_array(u->arena, struct ptx_operand, operand_count);
    in.spelling = arena_printf(u->arena, "%s.%s", ptx_opcodes[opcode].name, ptx_type_name(type));
    in.unrolled = PTX_UNROLLED_FREE;
    in.nounroll = false;
    return in;
}

/* The test of the round that is `ahead` rounds away from the next. */
static struct ptx_reg *emit_test(struct unroll *u, uint32_t ahead, struct ptx_reg *before)
{
    const struct unroll_loop *l = u->at;
    const struct ptx_inst *test = l->test;
    bool wide = ptx_type_bits((enum ptx_type)test->types[0]) == 64;
    struct ptx_reg *value = unroll_new_register(u, l->counter), *result = unroll_new_register(u, test->operands[0].reg);
    struct ptx_inst step = plain_instruction(u, PTX_OP_add, wide ? PTX_S64 : PTX_S32, 3);
    step.operands[0] = register_operand(test, value);
    step.operands[1] = register_operand(test, u->f->regs[l->counter->index]);
    step.operands[2] = literal_operand(test, unroll_add(l->first, l->step, ahead, wide ? 64 : 32));
    unroll_emit(u, &step);
    struct ptx_inst compare = *test;
    compare.nounroll = false;
    compare.unrolled = PTX_UNROLLED_FREE;
    compare.operand_count = before ? 4 : 3;
    compare.operands = arena_array(u->arena, struct ptx_operand, 4);
    memcpy(compare.operands, test->operands, sizeof *compare.operands * 3);
    compare.operands[0] = register_operand(test, result);
    compare.operands[l->counter_operand] = register_operand(test, value);
    if (before) {
        compare.operands[3] = register_operand(test, before);
        compare.modifiers[compare.modifier_count++] = l->leave_value ? PTX_MOD_OR : PTX_MOD_AND;
        compare.type_position[0] = compare.modifier_count;
    }
    unroll_emit(u, &compare);
    return result;
}

/* Whether a loop goes on for so many rounds: a predicate that is leave_value where it does not. */
static struct ptx_reg *emit_tests(struct unroll *u, uint32_t rounds, struct ptx_reg *before)
{
    for (uint32_t ahead = 0; ahead + 1 < rounds; ahead++)
        before = emit_test(u, ahead, before);
    u->insts[u->count - 1].unrolled = PTX_AS_WRITTEN; /* one comparison is there */
    return before;
}

/* A branch where the predicate has this value, to a place that may not be known yet. */
static uint32_t emit_branch(struct unroll *u, struct ptx_reg *predicate, bool value, uint32_t to)
{
    struct ptx_inst in = unroll_copy(u, &u->f->insts[u->at->branch]);
    in.guard = predicate;
    in.guard_negated = !value;
    in.nounroll = false;
    in.modifier_count = 0;
    in.spelling = "bra";
    in.operands[0].target = to;
    uint32_t place = unroll_emit(u, &in);
    u->is_settled[place] = true;
    return place;
}

/* Of the loop, one round is left. Up to equality ptxas writes a loop for it all the same; here one of a single block.
 */
static bool ends_straight(const struct unroll_loop *l)
{
    return !l->single_block || (!ptx_has_modifier(l->test, PTX_MOD_EQ) && !ptx_has_modifier(l->test, PTX_MOD_NE));
}

static void emit_loop(struct unroll *u)
{
    const struct unroll_loop *l = u->at;
    struct ptx_reg *left = u->f->regs[u->f->insts[l->branch].guard->index];
    struct ptx_inst go_on = plain_instruction(u, PTX_OP_mov, PTX_PRED, 2);
    go_on.operands[0] = register_operand(l->test, left);
    go_on.operands[1] = literal_operand(l->test, !l->leave_value);
    unroll_emit(u, &go_on);
    struct ptx_reg *done = emit_tests(u, UNROLL_ROUNDS, NULL);
    uint32_t entry = emit_branch(u, done, l->leave_value, 0);
    u->insts[entry].unrolled = PTX_UNROLLED_ENTRY;

    uint32_t start = u->count;
    unroll_emit_rounds(u, UNROLL_ROUNDS);
    u->insts[start].nounroll = true;
    done = emit_tests(u, UNROLL_ROUNDS, left);
    emit_branch(u, done, !l->leave_value, start);

    u->insts[entry].operands[0].target = u->count;
    done = emit_tests(u, UNROLL_LEFT_OVER, left);
    uint32_t skip = emit_branch(u, done, l->leave_value, 0);
    unroll_emit_rounds(u, UNROLL_LEFT_OVER);
    u->insts[skip].operands[0].target = u->count;
    uint32_t leave = emit_branch(u, left, l->leave_value, l->exit);
    u->is_settled[leave] = false;
    if (ends_straight(l)) {
        unroll_emit_rounds(u, 1);
        return;
    }

    start = u->count;
    bool jumps_back = u->cfg->loops[l->loop].block_count == 2; /* after the branch */
    for (uint32_t i = l->body[0]; i <= l->branch + jumps_back; i++) {
        struct ptx_inst in = unroll_copy(u, &u->f->insts[i]);
        in.nounroll |= i == l->body[0];
        uint32_t place = unroll_emit(u, &in);
        if (ptx_flags(&in) & PTX_F_BRANCH && in.operands[0].target == l->body[0]) {
            in.operands[0].target = start;
            u->is_settled[place] = true;
        }
    }
}

/* All in the place of the loop's first instruction; its others are left out where they were. */
static void emit_at(struct unroll *u, const struct unroll_loop *l, uint32_t next)
{
    u->at = l;
    memset(u->position, 0xff, sizeof *u->position * u->f->inst_count);
    for (uint32_t k = 0; k < l->body_count; k++)
        u->position[l->body[k]] = k;
    unroll_find_names(u);
    if (l->rounds)
        unroll_emit_rounds(u, l->rounds);
    else
        emit_loop(u);
    if ((l->rounds || ends_straight(l)) && next != l->exit) {
        uint32_t jump = emit_branch(u, NULL, true, l->exit);
        u->is_settled[jump] = false;
    }
}

static void mark_loop(const struct unroll *u, const struct unroll_loop *l, bool *marks)
{
    const struct ptx_loop *loop = &u->cfg->loops[l->loop];
    for (uint32_t k = 0; k < loop->block_count; k++)
        for (uint32_t i = u->cfg->blocks[loop->blocks[k]].first; i < u->cfg->blocks[loop->blocks[k]].end; i++)
            marks[i] = true;
}

static void emit_all(struct unroll *u, const struct unroll_loop *loops, uint32_t count)
{
    uint32_t *place_of = arena_array(&u->scratch, uint32_t, u->f->inst_count + 1);
    bool *is_gone = arena_array(&u->scratch, bool, u->f->inst_count + 1);
    for (uint32_t k = 0; k < count; k++)
        mark_loop(u, &loops[k], is_gone);
    for (uint32_t i = 0, next = 0; i < u->f->inst_count; i++) {
        place_of[i] = u->count;
        if (next < count && loops[next].body[0] == i) {
            uint32_t after = i + 1;
            while (is_gone[after] && (next + 1 == count || loops[next + 1].body[0] != after))
                after++;
            emit_at(u, &loops[next++], after);
        } else if (!is_gone[i]) {
            struct ptx_inst in = unroll_copy(u, &u->f->insts[i]);
            unroll_emit(u, &in);
        }
    }
    place_of[u->f->inst_count] = u->count;
    for (uint32_t i = 0; i < u->count; i++)
        if (ptx_flags(&u->insts[i]) & PTX_F_BRANCH && !u->is_settled[i])
            u->insts[i].operands[0].target = place_of[u->insts[i].operands[0].target];
    struct ptx_label *labels = (struct ptx_label *)arena_alloc(u->arena, sizeof *labels * (u->f->label_count + 1));
    for (uint32_t k = 0; k < u->f->label_count; k++) {
        labels[k] = u->f->labels[k];
        labels[k].target = place_of[labels[k].target];
    }
    u->f->labels = labels;
}

/* Tables of branches are not followed; once is enough. */
static bool stays_as_it_is(const struct ptx_function *f)
{
    for (uint32_t i = 0; i < f->inst_count; i++)
        if (f->insts[i].opcode == PTX_OP_brx || f->insts[i].unrolled)
            return true;
    return false;
}

static void start_function(struct unroll *u)
{
    uint32_t regs = u->f->reg_count;
    u->position = arena_array(&u->scratch, uint32_t, u->f->inst_count + 1);
    u->name = arena_array(&u->scratch, struct ptx_reg *, regs + 1);
    u->last_definition = arena_array(&u->scratch, uint32_t, regs + 1);
    u->keeps_name = arena_array(&u->scratch, bool, regs + 1);
    u->is_needed = arena_array(&u->scratch, bool, regs + 1);
    u->in_steps = arena_array(&u->scratch, bool, regs + 1);
    u->at_place = arena_array(&u->scratch, struct unroll_linear, regs + 1);
    u->at_end = arena_array(&u->scratch, struct unroll_linear, regs + 1);
}

static void rewrite(struct unroll *u, const struct unroll_loop *loops, uint32_t count)
{
    struct ptx_function *written = arena_new(u->arena, struct ptx_function);
    *written = *u->f;
    u->capacity = u->f->inst_count * 2 + 64;
    u->insts = arena_array(u->arena, struct ptx_inst, u->capacity);
    u->is_settled = arena_array(&u->scratch, bool, u->capacity);
    u->reg_count = u->f->reg_count;
    u->reg_capacity = u->reg_count * 2 + 16;
    u->regs = arena_array(u->arena, struct ptx_reg *, u->reg_capacity);
    memcpy(u->regs, u->f->regs, sizeof *u->regs * u->reg_count);
    emit_all(u, loops, count);
    u->f->insts = u->insts;
    u->f->inst_count = u->count;
    u->f->regs = u->regs;
    u->f->reg_count = u->reg_count;
    u->f->written = written;
}

static int by_place(const void *a, const void *b)
{
    uint32_t x = ((const struct unroll_loop *)a)->body[0], y = ((const struct unroll_loop *)b)->body[0];
    return x < y ? -1 : x > y;
}

void ptx_unroll(struct arena *a, struct ptx_function *f)
{
    struct unroll u = {.arena = a, .f = f};
    if (!f->inst_count || stays_as_it_is(f))
        return;
    u.cfg = ptx_cfg_build(&u.scratch, f);
    const struct ptx_lowering *lowering = u.cfg->loop_count && u.cfg->reducible ? ptx_lower(&u.scratch, f) : NULL;
    if (lowering && lowering->counted_count) {
        start_function(&u);
        unroll_find_definitions(&u);
        struct unroll_loop *loops = arena_array(&u.scratch, struct unroll_loop, lowering->counted_count);
        uint32_t count = 0;
        for (uint32_t k = 0; k < lowering->counted_count; k++)
            count += unroll_find_loop(&u, &lowering->counted[k], &loops[count]);
        qsort(loops, count, sizeof *loops, by_place);
        if (count)
            rewrite(&u, loops, count);
    }
    arena_free(&u.scratch);
}
