/* What is loaded where: the kernel's own beginning (the stack pointer, the descriptor of global memory), the base of
 * shared memory, parameters, constants, what a texture is. */
#include "ptx/lowering_control.h"

/* ------------------------------------------------------------- the kernel's own beginning */

bool control_uses_global(const struct ptx_inst *in)
{
    if (!lower_uses_memory(in) || ptx_flags(in) & PTX_F_TEXTURE)
        return false;
    return !ptx_has_modifier(in, PTX_MOD_SHARED) && !ptx_has_modifier(in, PTX_MOD_PARAM) &&
           !ptx_has_modifier(in, PTX_MOD_LOCAL) && !ptx_has_modifier(in, PTX_MOD_CONST);
}

/* The variable of shared memory that an instruction names. */
static const struct ptx_variable *shared_variable(const struct ptx_inst *in)
{
    for (uint32_t k = 0; k < in->operand_count; k++) {
        const struct ptx_operand *o = &in->operands[k];
        if (o->kind == PTX_OPERAND_ADDRESS && o->element_count)
            o = &o->elements[0];
        if (o->kind == PTX_OPERAND_SYMBOL && o->variable->space == PTX_SPACE_SHARED)
            return o->variable;
    }
    return NULL;
}

static bool is_written_once(const struct lowering_work *w, uint32_t i)
{
    uint32_t reg = lower_result(w, i);
    return reg != LOWER_NONE && w->definition[reg] == i;
}

void control_begin_kernel(struct lowering_work *w)
{
    enum { STACK_POINTER = 1, DESCRIPTOR = 1 };
    bool global = false;
    uint32_t first = LOWER_NONE;
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        if (w->insts[i].fate == PTX_FATE_DEAD)
            continue;
        first = first == LOWER_NONE && w->insts[i].slots ? i : first;
        global |= control_uses_global(lower_inst(w, i));
    }
    if (first != LOWER_NONE)
        control_add_slots(&w->insts[first], STACK_POINTER + (global ? DESCRIPTOR : 0));
}

/* ------------------------------------------------------------- where shared memory begins */

static bool was_named(const struct control *c, uint32_t mov, const struct ptx_variable *variable)
{
    uint32_t stretch = c->stretch[c->cfg->block_of_inst[mov]];
    for (uint32_t i = mov; i-- > c->cfg->blocks[stretch].first;)
        if (c->stretch[c->cfg->block_of_inst[i]] == stretch && c->f->insts[i].opcode == PTX_OP_mov &&
            lower_is_kept(c->w, i) && shared_variable(&c->f->insts[i]) == variable)
            return true;
    return false;
}

/* The window of shared memory, and what a variable's place is in it, are computed again in each stretch of code without
 * a jump: three instructions for the first variable, one of which is the move, two for another. */
void control_find_shared(struct control *c)
{
    enum { BASE = 2, OF_ANOTHER = 1 };
    bool *is_known = arena_array(&c->w->scratch, bool, c->cfg->block_count + 1);
    for (uint32_t i = 0; i < c->f->inst_count; i++) {
        const struct ptx_inst *in = &c->f->insts[i];
        const struct ptx_variable *variable = shared_variable(in);
        if (!variable || !lower_is_kept(c->w, i))
            continue;
        bool *known = &is_known[c->stretch[c->cfg->block_of_inst[i]]], moves = in->opcode == PTX_OP_mov;
        bool last = c->cfg->blocks[c->cfg->block_of_inst[i]].end == i + 1;
        if (!*known)
            control_add_slots(&c->w->insts[i], BASE + !moves); /* no instruction of its own takes the base */
        else if (moves && !was_named(c, i, variable))
            control_add_slots(&c->w->insts[i], OF_ANOTHER);
        else if (moves && !last && is_written_once(c->w, i))
            lower_vanish(c->w, i, PTX_FATE_OPERAND, PTX_INTO_NOTHING);
        *known = true;
    }
}

/* ------------------------------------------------------------- parameters */

enum { MOST_HOMES = 32 };

struct parameter_use {
    struct control *c;
    uint32_t load;                          /* the ld.param */
    uint32_t homes[MOST_HOMES], home_count; /* stretches of code in which it is loaded */
};

/* Before the outermost loop around an instruction that the parameter is not loaded in; PTX_NO_LOOP: none. */
static int32_t loop_to_enter(const struct control *c, uint32_t i, uint32_t load)
{
    int32_t loop = lower_loop_of(c->w, i), found = PTX_NO_LOOP;
    for (; loop != PTX_NO_LOOP && !control_is_in_loop(c, (uint32_t)loop, load); loop = c->cfg->loops[loop].parent)
        found = loop;
    return found;
}

static void use_at(struct parameter_use *p, uint32_t i)
{
    struct control *c = p->c;
    int32_t loop = loop_to_enter(c, i, p->load);
    uint32_t block = c->cfg->block_of_inst[i];
    if (loop != PTX_NO_LOOP)
        block = c->cfg->idom[c->cfg->loops[loop].header_block];
    if (block == PTX_NO_BLOCK)
        return;
    for (uint32_t k = 0; k < p->home_count; k++)
        if (ptx_cfg_dominates(c->cfg, p->homes[k], block))
            return;
    if (p->home_count == MOST_HOMES)
        return;
    p->homes[p->home_count++] = c->stretch[block];
    if (c->stretch[block] == c->stretch[c->cfg->block_of_inst[p->load]])
        return; /* the ld.param itself */
    if (loop != PTX_NO_LOOP)
        control_pay_before(c, (uint32_t)loop, 1);
    else
        control_add_slots(&c->w->insts[i], 1);
}

static void use_parameter(struct parameter_use *p, uint32_t reg, uint32_t depth)
{
    enum { MOST_NAMES = 12 };
    const struct lowering_work *w = p->c->w;
    for (uint32_t k = w->users_of[reg]; k < w->users_of[reg + 1]; k++) {
        uint32_t i = w->users[k], result = lower_result(w, i);
        if (w->insts[i].fate == PTX_FATE_OPERAND && result != LOWER_NONE && depth < MOST_NAMES)
            use_parameter(p, result, depth + 1);
        else if (w->insts[i].fate == PTX_FATE_FUSED && w->insts[i].into != PTX_INTO_NOTHING)
            use_at(p, w->insts[i].into);
        else if (w->insts[i].fate == PTX_FATE_KEPT)
            use_at(p, i);
    }
}

/* A parameter is loaded where it is wanted, in each of several paths; of a loop's, before the loop. */
void control_load_parameters(struct control *c)
{
    for (uint32_t i = 0; i < c->f->inst_count; i++) {
        uint32_t reg = lower_result(c->w, i), home = c->stretch[c->cfg->block_of_inst[i]];
        if (!lower_is_kept(c->w, i) || !lower_reads_parameter(c->f, &c->f->insts[i]) || reg == LOWER_NONE ||
            c->w->definition[reg] != i)
            continue;
        struct parameter_use p = {.c = c, .load = i};
        use_parameter(&p, reg, 0);
        bool is_used_there = false;
        for (uint32_t k = 0; k < p.home_count; k++)
            is_used_there |= p.homes[k] == home;
        if (!is_used_there && c->cfg->blocks[c->cfg->block_of_inst[i]].end != i + 1)
            lower_vanish(c->w, i, PTX_FATE_OPERAND, PTX_INTO_NOTHING);
    }
}

/* ------------------------------------------------------------- constants */

/* A constant at a known place does not change in a loop: it is loaded before, into a uniform register. */
void control_load_constants(struct control *c)
{
    enum { MOST_UNIFORM = 48 }; /* of 63 registers, some hold other values */
    uint32_t *words = arena_array(&c->w->scratch, uint32_t, c->cfg->loop_count + 1);
    for (uint32_t i = 0; i < c->f->inst_count; i++) {
        const struct ptx_inst *in = &c->f->insts[i];
        const struct ptx_operand *address = in->opcode == PTX_OP_ld ? lower_address(in) : NULL;
        int32_t loop = lower_loop_of(c->w, i);
        if (!address || in->guard || loop == PTX_NO_LOOP || !ptx_has_modifier(in, PTX_MOD_CONST) ||
            address->elements[0].kind != PTX_OPERAND_SYMBOL || !lower_is_kept(c->w, i) ||
            c->cfg->blocks[c->cfg->block_of_inst[i]].end == i + 1 || !is_written_once(c->w, i))
            continue;
        if (++words[loop] > MOST_UNIFORM / 2)
            continue;
        while (c->cfg->loops[loop].parent != PTX_NO_LOOP)
            loop = c->cfg->loops[loop].parent;
        control_pay_before(c, (uint32_t)loop, 1);
        lower_vanish(c->w, i, PTX_FATE_OPERAND, PTX_INTO_NOTHING);
    }
}

/* ------------------------------------------------------------- reciprocals */

static bool is_innermost(const struct ptx_cfg *cfg, int32_t loop)
{
    for (uint32_t k = 0; k < cfg->loop_count; k++)
        if (cfg->loops[k].parent == loop)
            return false;
    return true;
}

/* A divisor that stays in an innermost loop has its reciprocal made before, its sign is taken in each round; not that
 * of signed numbers in a loop of several rounds (ptx/unroll.h), which has it once for all of them. */
void control_hoist_reciprocals(struct control *c)
{
    enum { SIGN = 3 };
    for (uint32_t i = 0; i < c->f->inst_count; i++) {
        const struct ptx_inst *in = &c->f->insts[i];
        int32_t loop = lower_loop_of(c->w, i);
        if (loop == PTX_NO_LOOP || !lower_divides(in) || !lower_is_kept(c->w, i) || !is_innermost(c->cfg, loop) ||
            c->w->insts[i].slots < lower_count(c->f, in, false)) /* it has another's */
            continue;
        uint32_t d = c->w->definition[in->operands[2].reg->index];
        bool is_of_rounds =
            c->f->written && c->f->insts[c->cfg->blocks[c->cfg->loops[loop].header_block].first].nounroll;
        if (d >= LOWER_MANY || control_is_in_loop(c, (uint32_t)loop, d) ||
            (is_of_rounds && ptx_type_is_signed(lower_type(in))))
            continue;
        uint8_t before = (uint8_t)(lower_reciprocal_slots(in) - (ptx_type_is_signed(lower_type(in)) ? SIGN : 0));
        c->w->insts[i].slots = (uint8_t)(c->w->insts[i].slots - before);
        control_pay_before(c, (uint32_t)loop, before);
    }
}

/* ------------------------------------------------------------- products of 24 bits */

/* The outermost loop around an instruction that a value comes into from outside; PTX_NO_LOOP: none. */
static int32_t loop_that_keeps(const struct control *c, uint32_t i, uint32_t definition)
{
    int32_t loop = lower_loop_of(c->w, i), found = PTX_NO_LOOP;
    for (; loop != PTX_NO_LOOP && !control_is_in_loop(c, (uint32_t)loop, definition); loop = c->cfg->loops[loop].parent)
        found = loop;
    return found;
}

/* Both factors are extended, and the product is one of 32 bits. What was extended before is there; what stays in a loop
 * is extended before it. */
void control_extend_factors(struct control *c)
{
    uint32_t *home = arena_array(&c->w->scratch, uint32_t, 2 * (size_t)c->f->reg_count + 2); /* block + 1; 0: none */
    for (uint32_t i = 0; i < c->f->inst_count; i++) {
        const struct ptx_inst *in = &c->f->insts[i];
        if ((in->opcode != PTX_OP_mul24 && in->opcode != PTX_OP_mad24) || !lower_is_kept(c->w, i) ||
            ptx_has_modifier(in, PTX_MOD_HI))
            continue;
        uint32_t block = c->cfg->block_of_inst[i];
        bool is_square = in->operands[1].kind == PTX_OPERAND_REG && in->operands[2].kind == PTX_OPERAND_REG &&
                         in->operands[1].reg == in->operands[2].reg;
        c->w->insts[i].slots = 1;
        for (uint32_t k = 1; k <= 2u - is_square; k++) {
            if (in->operands[k].kind != PTX_OPERAND_REG)
                continue;
            uint32_t reg = in->operands[k].reg->index, d = c->w->definition[reg];
            uint32_t *at = &home[2 * reg + ptx_type_is_signed(lower_type(in))];
            if (d < LOWER_MANY && *at && ptx_cfg_dominates(c->cfg, *at - 1, block))
                continue;
            int32_t loop = d < LOWER_MANY ? loop_that_keeps(c, i, d) : PTX_NO_LOOP;
            if (loop == PTX_NO_LOOP)
                c->w->insts[i].slots++;
            else
                control_pay_before(c, (uint32_t)loop, 1);
            *at = (loop == PTX_NO_LOOP ? block : c->cfg->loops[loop].header_block) + 1;
        }
    }
}

/* ------------------------------------------------------------- textures */

/* What a texture is comes from the constant bank, once for all reads of it in a block. */
void control_fetch_handles(struct lowering_work *w)
{
    uint32_t block = PTX_NO_BLOCK, handle = LOWER_NONE;
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        const struct ptx_inst *in = lower_inst(w, i);
        if (in->opcode != PTX_OP_tex || !lower_is_kept(w, i))
            continue;
        const struct ptx_operand *address = lower_address(in);
        uint32_t own =
            address && address->elements[0].kind == PTX_OPERAND_REG ? address->elements[0].reg->index : LOWER_NONE;
        if (block != w->cfg->block_of_inst[i] || handle != own)
            control_add_slots(&w->insts[i], 1);
        block = w->cfg->block_of_inst[i];
        handle = own;
    }
}
