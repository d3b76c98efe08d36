/* Values instead of registers: a register that is written several times in a basic block holds several values, and the
 * assembler asks of each who reads it. Here each but the last one of a block gets a register of its own, in a copy of
 * the function that the lowering alone sees. What is written under a guard goes on in the register that was there. Left
 * out: blocks with calls, and values that live on in other blocks. */
#include "ptx/lowering_internal.h"

#include <string.h>

enum { MOST_NEW = 65536 }; /* registers of their own in a function: beyond that, they keep their names */

struct naming {
    struct arena *arena;
    const struct ptx_function *f;
    struct ptx_inst *insts; /* NULL: nothing has changed */
    struct ptx_reg **regs;
    uint32_t reg_count, reg_capacity;
    uint32_t *origin;         /* per register: the one it is a value of */
    struct ptx_reg **name;    /* per register as written: who holds its value now */
    uint32_t *last;           /* per register: one more than its last sure definition of the block at hand */
    uint32_t *definitions;    /* and how many there are */
    uint32_t at, block_first; /* instruction; the first one of its block */
};

static bool writes_in_part(const struct ptx_inst *in) { return in->guard || in->opcode == PTX_OP_wgmma; }

static void note_definition(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct naming *n = context;
    if (role != PTX_REG_DEFINE || writes_in_part(&n->f->insts[n->at]) || reg->vector != 1)
        return;
    bool first = n->last[reg->index] <= n->block_first;
    n->definitions[reg->index] = first ? 1 : n->definitions[reg->index] + 1;
    n->last[reg->index] = n->at + 1;
}

static bool is_overwritten(const struct naming *n, uint32_t reg)
{
    return n->last[reg] > n->at + 1 && n->definitions[reg] > 1 && n->reg_count < n->f->reg_count + MOST_NEW;
}

static struct ptx_reg *new_register(struct naming *n, const struct ptx_reg *like)
{
    if (n->reg_count == n->reg_capacity) {
        uint32_t capacity = n->reg_capacity * 2;
        struct ptx_reg **regs = arena_array(n->arena, struct ptx_reg *, capacity);
        uint32_t *origin = arena_array(n->arena, uint32_t, capacity);
        memcpy(regs, n->regs, sizeof *regs * n->reg_count);
        memcpy(origin, n->origin, sizeof *origin * n->reg_count);
        n->regs = regs;
        n->origin = origin;
        n->reg_capacity = capacity;
    }
    struct ptx_reg *reg = arena_new(n->arena, struct ptx_reg);
    *reg = *like;
    reg->index = n->reg_count;
    n->origin[n->reg_count] = like->index;
    n->regs[n->reg_count++] = reg;
    return reg;
}

static struct ptx_operand *copy_operands(struct arena *a, const struct ptx_operand *from, uint32_t count)
{
    struct ptx_operand *to = arena_array(a, struct ptx_operand, count + 1);
    for (uint32_t k = 0; k < count; k++) {
        to[k] = from[k];
        if (from[k].element_count)
            to[k].elements = copy_operands(a, from[k].elements, from[k].element_count);
    }
    return to;
}

static void rename_reads(const struct naming *n, struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_REG)
        o->reg = n->name[o->reg->index];
    for (uint32_t k = 0; k < o->element_count; k++)
        rename_reads(n, &o->elements[k]);
}

static void rename_results(struct naming *n, struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_REG) {
        struct ptx_reg *written = n->f->regs[o->reg->index];
        if (written->vector == 1 && !writes_in_part(&n->f->insts[n->at]))
            n->name[written->index] = is_overwritten(n, written->index) ? new_register(n, written) : written;
        o->reg = n->name[written->index];
    }
    for (uint32_t k = 0; k < o->element_count; k++)
        rename_results(n, &o->elements[k]);
}

static void rename_inst(struct naming *n)
{
    struct ptx_inst *in = &n->insts[n->at];
    bool writes = ptx_writes_first_operand(in);
    if (!in->operand_count && !in->guard)
        return;
    in->operands = copy_operands(n->arena, in->operands, in->operand_count);
    if (in->guard)
        in->guard = n->name[in->guard->index];
    for (uint32_t k = writes && in->opcode != PTX_OP_wgmma; k < in->operand_count; k++)
        rename_reads(n, &in->operands[k]);
    if (writes && in->opcode != PTX_OP_wgmma)
        rename_results(n, &in->operands[0]);
}

/* Whether some register is written more than once, and nothing is called. */
static bool look_at_block(struct naming *n, const struct ptx_block *b)
{
    bool again = false;
    n->block_first = b->first;
    for (n->at = b->first; n->at < b->end; n->at++) {
        if (ptx_flags(&n->f->insts[n->at]) & PTX_F_CALL)
            return false;
        ptx_visit_regs(n->f, &n->f->insts[n->at], note_definition, n);
    }
    for (uint32_t i = b->first; i < b->end && !again; i++) {
        const struct ptx_inst *in = &n->f->insts[i];
        const struct ptx_operand *o = ptx_writes_first_operand(in) ? &in->operands[0] : NULL;
        if (!o || writes_in_part(in))
            continue;
        if (o->kind == PTX_OPERAND_REG)
            again = n->last[o->reg->index] > i + 1;
        for (uint32_t k = 0; k < o->element_count; k++)
            again |= o->elements[k].kind == PTX_OPERAND_REG && n->last[o->elements[k].reg->index] > i + 1;
    }
    return again;
}

static void start(struct naming *n)
{
    const struct ptx_function *f = n->f;
    n->insts = arena_array(n->arena, struct ptx_inst, f->inst_count + 1);
    memcpy(n->insts, f->insts, sizeof *n->insts * f->inst_count);
    n->reg_count = f->reg_count;
    n->reg_capacity = f->reg_count * 2 + 16;
    n->regs = arena_array(n->arena, struct ptx_reg *, n->reg_capacity);
    n->origin = arena_array(n->arena, uint32_t, n->reg_capacity);
    n->name = arena_array(n->arena, struct ptx_reg *, f->reg_count + 1);
    memcpy(n->regs, f->regs, sizeof *n->regs * f->reg_count);
    memcpy(n->name, f->regs, sizeof *n->name * f->reg_count);
    for (uint32_t r = 0; r < f->reg_count; r++)
        n->origin[r] = r;
}

const struct ptx_function *lower_name_values(struct arena *a, const struct ptx_function *f, const struct ptx_cfg *cfg,
                                             const uint32_t **origin)
{
    struct naming n = {.arena = a, .f = f};
    n.last = arena_array(a, uint32_t, f->reg_count + 1);
    n.definitions = arena_array(a, uint32_t, f->reg_count + 1);
    for (uint32_t k = 0; k < cfg->block_count; k++) {
        const struct ptx_block *b = &cfg->blocks[k];
        if (!look_at_block(&n, b))
            continue;
        if (!n.insts)
            start(&n);
        for (n.at = b->first; n.at < b->end; n.at++)
            rename_inst(&n);
    }
    *origin = n.origin;
    if (!n.insts)
        return f;
    struct ptx_function *named = arena_new(a, struct ptx_function);
    *named = *f;
    named->insts = n.insts;
    named->regs = n.regs;
    named->reg_count = n.reg_count;
    return named;
}
