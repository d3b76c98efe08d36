/* Rounds of a loop one after the other. A value gets a name of its own in each round, so that no round waits for
 * another but for what it reads; only the last round writes the names that are read after it. A register that is
 * stepped by a constant is, in round n, what it was before the first plus n steps: rounds do not wait for each other's
 * addresses either. */
#include "ptx/unroll_internal.h"

#include <string.h>

/* ------------------------------------------------------------- steps by a constant */

static bool is_integer_register(const struct ptx_operand *o, int bits)
{
    return o->kind == PTX_OPERAND_REG && !ptx_type_is_float(o->reg->type) && ptx_type_bits(o->reg->type) == bits;
}

/* d = a + constant, or d = a. */
bool unroll_is_step(const struct ptx_inst *in, int64_t *by)
{
    if (in->guard || in->modifier_count || in->type_count != 1 || ptx_type_is_float((enum ptx_type)in->types[0]))
        return false;
    int bits = ptx_type_bits((enum ptx_type)in->types[0]);
    if ((bits != 32 && bits != 64) || in->operand_count < 2 || !is_integer_register(&in->operands[0], bits) ||
        !is_integer_register(&in->operands[1], bits))
        return false;
    *by = 0;
    if (in->opcode == PTX_OP_mov)
        return in->operand_count == 2;
    if ((in->opcode != PTX_OP_add && in->opcode != PTX_OP_sub) || in->operands[2].kind != PTX_OPERAND_INT)
        return false;
    *by = in->opcode == PTX_OP_add ? in->operands[2].integer : (int64_t)(0 - (uint64_t)in->operands[2].integer);
    return true;
}

int64_t unroll_add(int64_t value, int64_t step, uint64_t times, int bits)
{
    uint64_t sum = (uint64_t)value + (uint64_t)step * times;
    return bits == 32 ? (int64_t)(int32_t)(uint32_t)sum : (int64_t)sum;
}

static void forget(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    if (role == PTX_REG_DEFINE)
        ((struct unroll_linear *)context)[reg->index].base = UNROLL_NONE;
}

static void follow(const struct unroll *u, const struct ptx_inst *in, struct unroll_linear *values)
{
    int64_t by;
    if (!unroll_is_step(in, &by)) {
        ptx_visit_regs(u->f, in, forget, values);
        return;
    }
    struct unroll_linear from = values[in->operands[1].reg->index];
    from.offset = unroll_add(from.offset, by, 1, ptx_type_bits((enum ptx_type)in->types[0]));
    values[in->operands[0].reg->index] = from;
}

void unroll_follow(const struct unroll *u, const struct unroll_loop *l, uint32_t count, struct unroll_linear *values)
{
    for (uint32_t r = 0; r < u->f->reg_count; r++)
        values[r] = (struct unroll_linear){.base = r};
    for (uint32_t k = 0; k < count; k++)
        follow(u, &u->f->insts[l->body[k]], values);
}

/* ------------------------------------------------------------- which registers may be renamed */

struct walk {
    struct unroll *u;
    const struct ptx_inst *inst;
    uint32_t place;
    bool *is_written; /* surely, earlier in the body */
};

static void note_in_block(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct walk *w = context;
    struct unroll *u = w->u;
    uint32_t r = reg->index;
    bool adds = role == PTX_REG_DEFINE && (w->inst->guard || w->inst->opcode == PTX_OP_wgmma);
    if ((role == PTX_REG_USE || adds) && !w->is_written[r])
        u->is_needed[r] = true; /* by the next round */
    u->in_steps[r] |= adds;
    if (role == PTX_REG_DEFINE) {
        w->is_written[r] |= !adds;
        u->last_definition[r] = w->place;
    }
}

/* With branches inside: only what is written once, before all that reads it. */
static void note_in_blocks(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct walk *w = context;
    struct unroll *u = w->u;
    uint32_t r = reg->index;
    if (role != PTX_REG_DEFINE)
        return;
    u->keeps_name[r] |= u->last_definition[r] != UNROLL_NONE || w->inst->guard || w->inst->opcode == PTX_OP_wgmma;
    u->last_definition[r] = w->place;
}

static void check_use(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct walk *w = context;
    const struct ptx_cfg *cfg = w->u->cfg;
    uint32_t definition = w->u->last_definition[reg->index];
    if (role != PTX_REG_USE || definition == UNROLL_NONE)
        return;
    uint32_t from = cfg->block_of_inst[definition], to = cfg->block_of_inst[w->place];
    if (from == to ? definition >= w->place : !ptx_cfg_dominates(cfg, from, to))
        w->u->keeps_name[reg->index] = true;
}

static void note_outside(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct walk *w = context;
    if (role == PTX_REG_USE)
        w->u->is_needed[reg->index] = true;
}

static void walk_body(struct walk *w, ptx_reg_visitor *visit)
{
    for (uint32_t k = 0; k < w->u->at->body_count; k++) {
        w->place = w->u->at->body[k];
        w->inst = &w->u->f->insts[w->place];
        ptx_visit_regs(w->u->f, w->inst, visit, w);
    }
}

/* What a round may leave as it was is, after the last one, what some round before has written. */
static bool is_written_each_round(const struct unroll *u, uint32_t reg)
{
    uint32_t definition = u->last_definition[reg];
    return definition == UNROLL_NONE ||
           ptx_cfg_dominates(u->cfg, u->cfg->block_of_inst[definition], u->cfg->block_of_inst[u->at->branch]);
}

void unroll_find_names(struct unroll *u)
{
    struct walk w = {.u = u, .is_written = arena_array(&u->scratch, bool, u->f->reg_count + 1)};
    for (uint32_t r = 0; r < u->f->reg_count; r++) {
        u->name[r] = u->f->regs[r];
        u->last_definition[r] = UNROLL_NONE;
        u->keeps_name[r] = u->f->regs[r]->vector != 1;
        u->is_needed[r] = u->in_steps[r] = false;
    }
    walk_body(&w, u->at->single_block ? note_in_block : note_in_blocks);
    if (!u->at->single_block)
        walk_body(&w, check_use);
    for (uint32_t i = 0; i < u->f->inst_count; i++)
        if (u->position[i] == UNROLL_NONE)
            ptx_visit_regs(u->f, &u->f->insts[i], note_outside, &w);
    for (uint32_t r = 0; r < u->f->reg_count && !u->at->single_block; r++)
        u->keeps_name[r] |= u->is_needed[r] && !is_written_each_round(u, r);
    unroll_follow(u, u->at, u->at->body_count, u->at_end);
}

/* ------------------------------------------------------------- copies */

struct round {
    uint64_t number; /* from 0 */
    bool last;
    uint32_t start; /* its first instruction in the new function */
    uint32_t place; /* the instruction that is copied */
};

static struct ptx_reg *name_result(struct unroll *u, const struct round *at, const struct ptx_reg *reg, bool adds)
{
    uint32_t r = reg->index;
    if (!u->keeps_name[r] && u->at->single_block && !adds) {
        bool own = at->last && u->is_needed[r] && (u->in_steps[r] || u->last_definition[r] == at->place);
        u->name[r] = own ? u->f->regs[r] : unroll_new_register(u, reg);
    }
    return u->name[r];
}

static struct ptx_operand *copy_elements(struct unroll *u, const struct ptx_operand *from, uint32_t count)
{
    struct ptx_operand *to = arena_array(u->arena, struct ptx_operand, count + 1);
    if (count)
        memcpy(to, from, sizeof *to * count);
    for (uint32_t k = 0; k < count; k++)
        if (from[k].element_count)
            to[k].elements = copy_elements(u, from[k].elements, from[k].element_count);
    return to;
}

static void rename_uses(struct unroll *u, struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_REG)
        o->reg = u->name[o->reg->index];
    for (uint32_t k = 0; k < o->element_count; k++)
        rename_uses(u, &o->elements[k]);
}

static void rename_results(struct unroll *u, const struct round *at, struct ptx_operand *o, bool adds)
{
    if (o->kind == PTX_OPERAND_REG)
        o->reg = name_result(u, at, o->reg, adds);
    for (uint32_t k = 0; k < o->element_count; k++)
        rename_results(u, at, &o->elements[k], adds);
}

struct ptx_inst unroll_copy(struct unroll *u, const struct ptx_inst *in)
{
    struct ptx_inst copy = *in;
    copy.operands = copy_elements(u, in->operands, in->operand_count);
    return copy;
}

/* A step, counted from the beginning of the first round. */
static void take_steps(struct unroll *u, const struct round *at, struct ptx_inst *copy)
{
    const struct ptx_inst *in = &u->f->insts[at->place];
    int64_t by;
    if (!u->at->single_block || !unroll_is_step(in, &by))
        return;
    int bits = ptx_type_bits((enum ptx_type)in->types[0]);
    struct unroll_linear value = u->at_place[in->operands[1].reg->index];
    if (value.base == UNROLL_NONE)
        return;
    struct unroll_linear each = u->at_end[value.base];
    bool is_gone = at->last && u->last_definition[value.base] < at->place; /* the last round's own value is there */
    if (each.base != value.base || u->last_definition[value.base] == UNROLL_NONE || u->keeps_name[value.base])
        return;
    int64_t sum = unroll_add(unroll_add(value.offset, by, 1, bits), each.offset, at->number, bits);
    bool is_literal = u->at->rounds && value.base == u->at->counter->index;
    if ((is_gone && !is_literal) || (!sum && !is_literal))
        return;
    copy->opcode = is_literal ? PTX_OP_mov : PTX_OP_add;
    copy->operand_count = is_literal ? 2 : 3;
    copy->spelling =
        arena_printf(u->arena, "%s.%s", ptx_opcodes[copy->opcode].name, ptx_type_name((enum ptx_type)copy->types[0]));
    copy->operands = arena_array(u->arena, struct ptx_operand, 3);
    copy->operands[0] = in->operands[0];
    copy->operands[1] = in->operands[1];
    copy->operands[1].reg = u->f->regs[value.base];
    struct ptx_operand *literal = &copy->operands[is_literal ? 1 : 2];
    *literal = (struct ptx_operand){.kind = PTX_OPERAND_INT,
                                    .selector = -1,
                                    .integer = is_literal ? unroll_add(u->at->start, sum, 1, bits) : sum,
                                    .line = in->line,
                                    .column = in->column};
}

/* With branches inside, steps stay where they are; but an assembler that has all rounds before it adds them up. Of
 * several rounds of a loop the last one has a step for all. */
static bool is_step_in_place(const struct unroll *u, const struct round *at, const struct ptx_inst *in)
{
    int64_t by;
    return !u->at->single_block && unroll_is_step(in, &by) && in->operands[0].reg == in->operands[1].reg &&
           (u->at->rounds || !at->last);
}

static void emit_copy(struct unroll *u, const struct round *at)
{
    const struct ptx_inst *in = &u->f->insts[at->place];
    struct ptx_inst copy = unroll_copy(u, in);
    bool writes = ptx_writes_first_operand(in), adds = in->guard || in->opcode == PTX_OP_wgmma;
    copy.nounroll = false;
    if ((in == u->at->test && !u->at->test_is_read) || is_step_in_place(u, at, in))
        copy.unrolled = PTX_UNROLLED_FREE;
    if (copy.guard)
        copy.guard = u->name[copy.guard->index];
    for (uint32_t k = writes; k < copy.operand_count; k++)
        rename_uses(u, &copy.operands[k]);
    if (copy.operand_count)
        take_steps(u, at, &copy);
    if (writes)
        rename_results(u, at, &copy.operands[0], adds);
    if (u->at->single_block)
        follow(u, in, u->at_place);
    uint32_t place = unroll_emit(u, &copy);
    if (ptx_flags(in) & PTX_F_BRANCH) {                           /* within the round */
        uint32_t position = u->position[copy.operands[0].target]; /* none: the branch at its end */
        copy.operands[0].target = at->start + (position == UNROLL_NONE ? u->at->body_count : position);
        u->is_settled[place] = true;
    }
}

static void name_round(struct unroll *u, bool last)
{
    for (uint32_t r = 0; r < u->f->reg_count; r++)
        if (u->last_definition[r] != UNROLL_NONE && !u->keeps_name[r])
            u->name[r] = last ? u->f->regs[r] : unroll_new_register(u, u->f->regs[r]);
}

void unroll_emit_rounds(struct unroll *u, uint64_t rounds)
{
    for (uint32_t r = 0; r < u->f->reg_count; r++)
        u->name[r] = u->f->regs[r];
    for (uint64_t number = 0; number < rounds; number++) {
        struct round at = {.number = number, .last = number + 1 == rounds, .start = u->count};
        if (!u->at->single_block)
            name_round(u, at.last);
        unroll_follow(u, u->at, 0, u->at_place);
        for (uint32_t k = 0; k < u->at->body_count; k++) {
            at.place = u->at->body[k];
            emit_copy(u, &at);
        }
    }
}
