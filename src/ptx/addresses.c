/* Which registers hold addresses: those that a memory operand names, all that goes into one by moves and arithmetic,
 * and what is compared with one. On targets before sm_20 an address has 32 bits, whatever the text of the program says,
 * so these are the registers that take half of the room there (registers.c). Left out: addresses that pass through
 * memory or calls without being used as one in the function. */
#include "ptx/addresses.h"

static bool is_wide(const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_REG && ptx_type_bits(o->reg->type) == 64;
}

static bool mark(const struct ptx_operand *o, bool *is_address)
{
    if (!is_wide(o) || is_address[o->reg->index])
        return false;
    is_address[o->reg->index] = true;
    return true;
}

static bool mark_memory_operands(const struct ptx_inst *in, bool *is_address)
{
    bool changed = false;
    for (uint32_t i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind == PTX_OPERAND_ADDRESS && in->operands[i].element_count)
            changed |= mark(&in->operands[i].elements[0], is_address);
    return changed;
}

static bool computes_addresses(const struct ptx_inst *in)
{
    switch (in->opcode) {
    case PTX_OP_mov:
    case PTX_OP_cvta:
    case PTX_OP_cvt:
    case PTX_OP_add:
    case PTX_OP_sub:
    case PTX_OP_mad:
    case PTX_OP_mul:
    case PTX_OP_shl:
    case PTX_OP_selp:
    case PTX_OP_and:
    case PTX_OP_or:
    case PTX_OP_min:
    case PTX_OP_max: return true;
    default: return false;
    }
}

/* What an address is made of is part of one; and so is what an address is moved or added to. */
static bool mark_arithmetic(const struct ptx_inst *in, bool *is_address)
{
    bool any = false, changed = false;
    uint32_t first = in->opcode == PTX_OP_setp ? 1 : 0; /* the predicate */
    if (first ? in->operand_count < 3 : !computes_addresses(in) || in->operand_count < 2)
        return false;
    for (uint32_t i = first; i < in->operand_count; i++)
        any |= is_wide(&in->operands[i]) && is_address[in->operands[i].reg->index];
    for (uint32_t i = first; any && i < in->operand_count; i++)
        changed |= mark(&in->operands[i], is_address);
    return changed;
}

void ptx_find_addresses(const struct ptx_function *f, bool *is_address)
{
    for (uint32_t i = 0; i < f->inst_count; i++)
        mark_memory_operands(&f->insts[i], is_address);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = f->inst_count; i-- > 0;)
            changed |= mark_arithmetic(&f->insts[i], is_address);
    }
}
