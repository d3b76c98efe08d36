/* Two instructions in one: a machine instruction multiplies and adds, shifts and adds, adds three values, computes any
 * function of three bit patterns, compares and combines with another predicate, negates what it reads, adds a constant
 * to an address. An instruction vanishes where all that read its result can do its work too; for the larger ones there
 * may be but one reader, for the assembler does not do work twice to save an instruction. The reader must be in the
 * same loop, but for a wide product: with the addition of 64 bits it is one instruction less. */
#include "ptx/lowering_internal.h"

enum { MOST_INPUTS = 3, MOST_OFFSET = 1 << 23 };

/* ------------------------------------------------------------- kinds of instructions */

static bool is_rounded(const struct ptx_inst *in)
{
    return ptx_has_modifier(in, PTX_MOD_RN) || ptx_has_modifier(in, PTX_MOD_RZ) || ptx_has_modifier(in, PTX_MOD_RM) ||
           ptx_has_modifier(in, PTX_MOD_RP) || ptx_has_modifier(in, PTX_MOD_SAT);
}

static bool is_float(const struct ptx_inst *in) { return ptx_type_is_float(lower_type(in)); }
static bool is_add(const struct ptx_inst *in)
{
    return (in->opcode == PTX_OP_add || in->opcode == PTX_OP_sub) && !ptx_has_modifier(in, PTX_MOD_CC) &&
           in->operand_count == 3;
}
static bool is_logic(const struct ptx_inst *in)
{
    return (in->opcode == PTX_OP_and || in->opcode == PTX_OP_or || in->opcode == PTX_OP_xor ||
            in->opcode == PTX_OP_not) &&
           lower_type(in) != PTX_PRED;
}
static bool is_minmax(const struct ptx_inst *in) { return in->opcode == PTX_OP_min || in->opcode == PTX_OP_max; }

/* 32-bit arithmetic, that on short addresses included. */
static bool is_int32(const struct lowering_work *w, uint32_t i)
{
    const struct ptx_inst *in = lower_inst(w, i);
    uint32_t result = lower_result(w, i);
    return lower_is_integer(in, 32) || (lower_is_integer(in, 64) && result != LOWER_NONE && w->narrow[result]);
}
static bool is_int64(const struct lowering_work *w, uint32_t i)
{
    return lower_is_integer(lower_inst(w, i), 64) && !is_int32(w, i);
}

static bool operand_is(const struct ptx_inst *in, uint32_t k, uint32_t reg)
{
    return k < in->operand_count && in->operands[k].kind == PTX_OPERAND_REG && in->operands[k].reg->index == reg;
}

static bool is_zero(const struct ptx_operand *o) { return o->kind == PTX_OPERAND_INT && !o->integer; }

/* ------------------------------------------------------------- can a reader do the work */

static bool has_room(const struct lowering_work *w, uint32_t i, uint32_t user)
{
    return w->inputs[i] + w->inputs[user] - 1 <= MOST_INPUTS && w->literals[i] + w->literals[user] <= 1;
}

/* Whether a value is known to be less than 2 to the power of bits. */
static bool is_below(const struct lowering_work *w, const struct ptx_operand *o, int64_t bits)
{
    enum { THREAD_BITS = 10 }; /* a block has 1,024 threads at most */
    uint32_t d = o->kind == PTX_OPERAND_REG ? w->definition[o->reg->index] : LOWER_NONE;
    if (o->kind == PTX_OPERAND_INT)
        return o->integer >= 0 && o->integer < INT64_C(1) << bits;
    if (d >= LOWER_MANY || lower_inst(w, d)->operand_count < 2)
        return false;
    const struct ptx_inst *in = lower_inst(w, d);
    const struct ptx_operand *last = &in->operands[in->operand_count - 1];
    switch (in->opcode) {
    case PTX_OP_and: return last->kind == PTX_OPERAND_INT && is_below(w, last, bits);
    case PTX_OP_shr:
        return last->kind == PTX_OPERAND_INT && lower_is_integer(in, 32) && !ptx_type_is_signed(lower_type(in)) &&
               32 - last->integer <= bits;
    case PTX_OP_mov:
        return last->kind == PTX_OPERAND_SPECIAL && last->special >= PTX_SREG_TID_X &&
               last->special <= PTX_SREG_TID_Z && THREAD_BITS <= bits;
    default: return false;
    }
}

/* A shifted value, or one that fits below it: the two have no bit in common, and "or" is an addition. */
static bool adds_below(const struct lowering_work *w, uint32_t i, uint32_t user, uint32_t reg)
{
    const struct ptx_inst *in = lower_inst(w, i), *u = lower_inst(w, user);
    if (u->opcode != PTX_OP_or || w->inputs[user] != 2 || in->operands[2].integer > 31)
        return false;
    const struct ptx_operand *other = operand_is(u, 1, reg) ? &u->operands[2] : &u->operands[1];
    return is_below(w, other, in->operands[2].integer);
}

/* a * b goes into + c; subtracted products need a negation first. */
static bool adds_product(const struct lowering_work *w, uint32_t user, uint32_t reg)
{
    const struct ptx_inst *u = lower_inst(w, user);
    return is_add(u) && w->inputs[user] == 2 && (u->opcode == PTX_OP_add || operand_is(u, 1, reg)) &&
           !(operand_is(u, 1, reg) && operand_is(u, 2, reg));
}

static bool mul_fits(const struct lowering_work *w, uint32_t i, uint32_t user, uint32_t reg)
{
    const struct ptx_inst *in = lower_inst(w, i), *u = lower_inst(w, user);
    if (is_float(in))
        return !is_rounded(in) && is_add(u) && !is_rounded(u) && lower_type(u) == lower_type(in) &&
               w->inputs[user] == 2 && !(operand_is(u, 1, reg) && operand_is(u, 2, reg));
    if (ptx_has_modifier(in, PTX_MOD_HI) || !adds_product(w, user, reg))
        return false;
    if (ptx_has_modifier(in, PTX_MOD_WIDE))
        return lower_is_integer(u, 64);
    return is_int32(w, i) && is_int32(w, user);
}

static bool shl_fits(const struct lowering_work *w, uint32_t i, uint32_t user, uint32_t reg)
{
    const struct ptx_inst *in = lower_inst(w, i);
    return in->operands[2].kind == PTX_OPERAND_INT && (adds_product(w, user, reg) || adds_below(w, i, user, reg)) &&
           is_int32(w, i) == is_int32(w, user) && (is_int32(w, i) || (is_int64(w, i) && lower_use_count(w, reg) == 1));
}

/* The upper part of a shift to the left: a rotation, or a shift to the right. */
static bool shift_fits(const struct lowering_work *w, uint32_t i, uint32_t user, uint32_t reg)
{
    const struct ptx_inst *in = lower_inst(w, i);
    const struct ptx_operand *amount = &in->operands[in->operand_count - 1];
    bool rotates = in->opcode == PTX_OP_shf && in->operands[1].kind == PTX_OPERAND_REG &&
                   operand_is(in, 2, in->operands[1].reg->index);
    return amount->kind == PTX_OPERAND_INT && adds_product(w, user, reg) && is_int32(w, user) &&
           lower_is_integer(in, 32) && (rotates || (in->opcode == PTX_OP_shr && !ptx_type_is_signed(lower_type(in))));
}

/* A sign is extended on the way into a 64-bit addition. */
static bool cvt_fits(const struct lowering_work *w, uint32_t i, uint32_t user)
{
    const struct ptx_inst *in = lower_inst(w, i);
    return lower_is_integer(in, 64) && in->type_count == 2 && in->types[1] == PTX_S32 && is_add(lower_inst(w, user)) &&
           is_int64(w, user) && w->inputs[user] == 2;
}

static bool neg_fits(const struct lowering_work *w, uint32_t i, uint32_t user)
{
    const struct ptx_inst *in = lower_inst(w, i), *u = lower_inst(w, user);
    if (!is_float(in))
        return in->opcode == PTX_OP_neg && is_add(u) && is_int32(w, i) && is_int32(w, user);
    switch (u->opcode) {
    case PTX_OP_add:
    case PTX_OP_sub:
    case PTX_OP_mul:
    case PTX_OP_fma:
    case PTX_OP_setp:
    case PTX_OP_selp:
    case PTX_OP_min:
    case PTX_OP_max: return true;
    case PTX_OP_rcp:
    case PTX_OP_sqrt:
    case PTX_OP_rsqrt:
    case PTX_OP_ex2:
    case PTX_OP_lg2: return ptx_has_modifier(u, PTX_MOD_FTZ);
    case PTX_OP_cvt: return true;
    default: return false;
    }
}

/* Addresses: a constant goes into the instruction, and so does the place of a .const variable. */
static bool is_constant_part(const struct lowering_work *w, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_INT)
        return o->integer > -MOST_OFFSET && o->integer < MOST_OFFSET;
    uint32_t d = o->kind == PTX_OPERAND_REG ? w->definition[o->reg->index] : LOWER_NONE;
    if (d >= LOWER_MANY || lower_inst(w, d)->opcode != PTX_OP_mov || lower_inst(w, d)->operand_count != 2)
        return false;
    const struct ptx_operand *source = &lower_inst(w, d)->operands[1];
    return source->kind == PTX_OPERAND_SYMBOL && source->variable->space == PTX_SPACE_CONST;
}

static bool is_address_only(const struct ptx_inst *u, uint32_t reg)
{
    bool is_base = false;
    for (uint32_t k = 0; k < u->operand_count; k++) {
        const struct ptx_operand *o = &u->operands[k];
        is_base |= o->kind == PTX_OPERAND_ADDRESS && o->elements[0].kind == PTX_OPERAND_REG &&
                   o->elements[0].reg->index == reg;
        if (operand_is(u, k, reg))
            return false;
    }
    return is_base && lower_uses_memory(u);
}

static bool is_shared_base(const struct lowering_work *w, const struct ptx_operand *o)
{
    uint32_t d = o->kind == PTX_OPERAND_REG ? w->definition[o->reg->index] : LOWER_NONE;
    const struct ptx_inst *in = d < LOWER_MANY ? lower_inst(w, d) : NULL;
    return in && in->opcode == PTX_OP_mov && in->operand_count == 2 && in->operands[1].kind == PTX_OPERAND_SYMBOL &&
           in->operands[1].variable->space == PTX_SPACE_SHARED;
}

/* An address of shared memory is the sum of a register, a uniform one (where a variable begins), and a constant. */
static bool adds_uniform(const struct lowering_work *w, uint32_t i, const struct ptx_inst *u)
{
    const struct ptx_inst *in = lower_inst(w, i);
    return ptx_has_modifier(u, PTX_MOD_SHARED) && in->opcode == PTX_OP_add && is_int32(w, i) && w->inputs[i] == 2 &&
           in->operands[1].kind == PTX_OPERAND_REG && in->operands[2].kind == PTX_OPERAND_REG &&
           (is_shared_base(w, &in->operands[1]) || is_shared_base(w, &in->operands[2]));
}

static bool add_fits(const struct lowering_work *w, uint32_t i, uint32_t user, uint32_t reg)
{
    const struct ptx_inst *in = lower_inst(w, i), *u = lower_inst(w, user);
    if (is_float(in))
        return false;
    if (is_address_only(u, reg) && adds_uniform(w, i, u))
        return true;
    if (is_address_only(u, reg))
        return w->inputs[i] == 2 && (is_constant_part(w, &in->operands[2]) ||
                                     (in->opcode == PTX_OP_add && is_constant_part(w, &in->operands[1])));
    return lower_use_count(w, reg) == 1 && is_add(u) && has_room(w, i, user) &&
           ((is_int32(w, i) && is_int32(w, user)) || (is_int64(w, i) && is_int64(w, user)));
}

static bool logic_fits(const struct lowering_work *w, uint32_t i, uint32_t user, uint32_t reg)
{
    const struct ptx_inst *in = lower_inst(w, i), *u = lower_inst(w, user);
    if (lower_use_count(w, reg) != 1 || !lower_type(u) || ptx_type_bits(lower_type(u)) != ptx_type_bits(lower_type(in)))
        return false;
    if (is_logic(u))
        return has_room(w, i, user);
    bool tests = u->opcode == PTX_OP_setp && u->operand_count == 3 && is_zero(&u->operands[2]) &&
                 (ptx_has_modifier(u, PTX_MOD_EQ) || ptx_has_modifier(u, PTX_MOD_NE));
    return tests && in->opcode != PTX_OP_not && lower_is_integer(in, 32);
}

static bool setp_fits(const struct lowering_work *w, uint32_t i, uint32_t user, uint32_t reg)
{
    const struct ptx_inst *in = lower_inst(w, i), *u = lower_inst(w, user);
    if (lower_use_count(w, reg) != 1)
        return false;
    if (u->opcode == PTX_OP_and || u->opcode == PTX_OP_or || u->opcode == PTX_OP_xor)
        return lower_type(u) == PTX_PRED && w->inputs[user] == 2;
    /* a < b ? a : b */
    bool orders = ptx_has_modifier(in, PTX_MOD_LT) || ptx_has_modifier(in, PTX_MOD_GT) ||
                  ptx_has_modifier(in, PTX_MOD_LE) || ptx_has_modifier(in, PTX_MOD_GE);
    if (u->opcode != PTX_OP_selp || !orders || !lower_is_integer(in, 32) || in->operands[1].kind != PTX_OPERAND_REG ||
        in->operands[2].kind != PTX_OPERAND_REG || in->operand_count != 3)
        return false;
    uint32_t a = in->operands[1].reg->index, b = in->operands[2].reg->index;
    return (operand_is(u, 1, a) && operand_is(u, 2, b)) || (operand_is(u, 1, b) && operand_is(u, 2, a));
}

static bool fits(const struct lowering_work *w, uint32_t i, uint32_t user, uint32_t reg)
{
    const struct ptx_inst *in = lower_inst(w, i), *u = lower_inst(w, user);
    switch (in->opcode) {
    case PTX_OP_mul: return in->operand_count == 3 && mul_fits(w, i, user, reg);
    case PTX_OP_shl: return in->operand_count == 3 && shl_fits(w, i, user, reg);
    case PTX_OP_shr:
    case PTX_OP_shf: return shift_fits(w, i, user, reg);
    case PTX_OP_cvt: return cvt_fits(w, i, user);
    case PTX_OP_neg:
    case PTX_OP_abs: return neg_fits(w, i, user);
    case PTX_OP_add:
    case PTX_OP_sub: return is_add(in) && add_fits(w, i, user, reg);
    case PTX_OP_and:
    case PTX_OP_or:
    case PTX_OP_xor:
    case PTX_OP_not: return is_logic(in) && logic_fits(w, i, user, reg);
    case PTX_OP_setp: return setp_fits(w, i, user, reg);
    case PTX_OP_min:
    case PTX_OP_max:
        return is_minmax(u) && u->opcode == in->opcode && lower_type(u) == lower_type(in) && lower_is_integer(in, 32) &&
               lower_use_count(w, reg) == 1 && has_room(w, i, user);
    default: return false;
    }
}

/* ------------------------------------------------------------- and what then becomes of it */

static void take(struct lowering_work *w, uint32_t i, uint32_t user)
{
    const struct ptx_inst *in = lower_inst(w, i), *u = lower_inst(w, user);
    struct ptx_lowered *l = &w->insts[user];
    if (lower_uses_memory(u) || in->opcode == PTX_OP_neg || in->opcode == PTX_OP_abs || in->opcode == PTX_OP_cvt)
        return;
    w->inputs[user] = (uint8_t)(in->opcode == PTX_OP_shf ? MOST_INPUTS : w->inputs[user] + w->inputs[i] - 1);
    w->literals[user] = (uint8_t)(w->literals[user] + w->literals[i]);
    if (in->opcode == PTX_OP_mul)
        l->slots = 1; /* the wide one does both halves */
    else if (in->opcode == PTX_OP_setp)
        l->slots = w->insts[i].slots;
}

static bool can_vanish(const struct lowering_work *w, uint32_t i, uint32_t reg)
{
    bool is_read = false; /* an atomic may have dead readers alone */
    for (uint32_t k = w->users_of[reg]; k < w->users_of[reg + 1]; k++) {
        uint32_t user = w->users[k];
        const struct ptx_inst *u = lower_inst(w, user);
        if (w->insts[user].fate == PTX_FATE_DEAD)
            continue;
        is_read = true;
        bool wide = lower_inst(w, i)->opcode == PTX_OP_mul && ptx_has_modifier(lower_inst(w, i), PTX_MOD_WIDE);
        if (!lower_is_kept(w, user) || (lower_loop_of(w, user) != lower_loop_of(w, i) && !wide) ||
            (u->guard && u->guard->index == reg) || !fits(w, i, user, reg))
            return false;
    }
    return is_read;
}

/* Both values of a selection are computed for it alone: each is written under its predicate. */
static bool is_only_for(const struct lowering_work *w, const struct ptx_operand *o, uint32_t i)
{
    uint32_t d = o->kind == PTX_OPERAND_REG ? w->definition[o->reg->index] : LOWER_NONE;
    return d < LOWER_MANY && lower_use_count(w, o->reg->index) == 1 && w->insts[d].slots == 1 &&
           w->cfg->block_of_inst[d] == w->cfg->block_of_inst[i] && !(ptx_flags(lower_inst(w, d)) & PTX_F_LOAD);
}

/* And one that nobody reads afterwards: the other is written over it, under a predicate. */
static bool ends_with(const struct lowering_work *w, const struct ptx_operand *o, uint32_t i)
{
    uint32_t d = o->kind == PTX_OPERAND_REG ? w->definition[o->reg->index] : LOWER_NONE;
    if (d >= LOWER_MANY || w->cfg->block_of_inst[d] != w->cfg->block_of_inst[i] || !w->insts[d].slots ||
        ptx_flags(lower_inst(w, d)) & PTX_F_LOAD)
        return false;
    for (uint32_t k = w->users_of[o->reg->index]; k < w->users_of[o->reg->index + 1]; k++)
        if (w->users[k] > i || w->cfg->block_of_inst[w->users[k]] != w->cfg->block_of_inst[i])
            return false;
    return true;
}

static void predicate_selections(struct lowering_work *w)
{
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        const struct ptx_inst *in = lower_inst(w, i);
        uint32_t reg = lower_result(w, i);
        if (in->opcode == PTX_OP_selp && lower_is_kept(w, i) && w->insts[i].slots == 1 && !in->guard &&
            reg != LOWER_NONE && w->cfg->blocks[w->cfg->block_of_inst[i]].end != i + 1 &&
            ((is_only_for(w, &in->operands[1], i) && ends_with(w, &in->operands[2], i)) ||
             (is_only_for(w, &in->operands[2], i) && ends_with(w, &in->operands[1], i)) ||
             (is_only_for(w, &in->operands[1], i) && is_only_for(w, &in->operands[2], i))))
            lower_vanish(w, i, w->definition[reg] == i ? PTX_FATE_OPERAND : PTX_FATE_MERGED, PTX_INTO_NOTHING);
    }
}

/* A bit test of a value that others read as well: the "and" writes a predicate beside its result. */
static void test_on_the_way(struct lowering_work *w)
{
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        const struct ptx_inst *in = lower_inst(w, i);
        if (in->opcode != PTX_OP_setp || in->guard || !lower_is_kept(w, i) || in->operand_count != 3 ||
            !lower_is_integer(in, 32) || !is_zero(&in->operands[2]) || in->operands[1].kind != PTX_OPERAND_REG ||
            !(ptx_has_modifier(in, PTX_MOD_EQ) || ptx_has_modifier(in, PTX_MOD_NE)))
            continue;
        uint32_t d = w->definition[in->operands[1].reg->index], result = lower_result(w, i);
        bool last = w->cfg->blocks[w->cfg->block_of_inst[i]].end == i + 1;
        if (d < LOWER_MANY && !last && result != LOWER_NONE && w->definition[result] == i &&
            lower_inst(w, d)->opcode == PTX_OP_and && lower_is_kept(w, d) && w->insts[d].slots == 1 &&
            lower_loop_of(w, d) == lower_loop_of(w, i))
            lower_vanish(w, i, PTX_FATE_FUSED, d);
    }
}

/* ------------------------------------------------------------- divisions by the same value */

bool lower_divides(const struct ptx_inst *in)
{
    return (in->opcode == PTX_OP_div || in->opcode == PTX_OP_rem) && lower_is_integer(in, 32) &&
           in->operand_count == 3 && in->operands[2].kind == PTX_OPERAND_REG;
}

/* Instructions for the reciprocal, of the counts in lowering.def. */
uint8_t lower_reciprocal_slots(const struct ptx_inst *in)
{
    enum { OF_SIGNED = 12, OF_UNSIGNED = 8 };
    return ptx_type_is_signed(lower_type(in)) ? OF_SIGNED : OF_UNSIGNED;
}

static bool is_defined_between(const struct lowering_work *w, uint32_t reg, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && w->definition[reg] == LOWER_MANY; i++)
        for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++)
            if (w->ref[k] == reg)
                return true;
    return false;
}

/* The reciprocal of the divisor is there already, from a division that comes before in all paths: of a value that is
 * written once, or in the same block. */
static bool has_reciprocal(const struct lowering_work *w, uint32_t i, uint32_t before)
{
    const struct ptx_inst *in = lower_inst(w, i), *b = lower_inst(w, before);
    uint32_t block = w->cfg->block_of_inst[i], other = w->cfg->block_of_inst[before];
    if (!lower_divides(b) || !lower_is_kept(w, before) || b->guard ||
        ptx_type_is_signed(lower_type(b)) != ptx_type_is_signed(lower_type(in)) ||
        !operand_is(b, 2, in->operands[2].reg->index))
        return false;
    if (block == other)
        return !is_defined_between(w, in->operands[2].reg->index, before, i);
    return w->definition[in->operands[2].reg->index] < LOWER_MANY && ptx_cfg_dominates(w->cfg, other, block);
}

static void share_reciprocals(struct lowering_work *w)
{
    enum { MOST = 64 };
    uint32_t divisions[MOST], count = 0;
    for (uint32_t i = 0; i < w->f->inst_count && count < MOST; i++) {
        if (!lower_divides(lower_inst(w, i)) || !lower_is_kept(w, i))
            continue;
        for (uint32_t k = 0; k < count; k++)
            if (has_reciprocal(w, i, divisions[k])) {
                w->insts[i].slots = (uint8_t)(w->insts[i].slots - lower_reciprocal_slots(lower_inst(w, i)));
                break;
            }
        divisions[count++] = i;
    }
}

/* Sine and cosine of one value: it is scaled once. */
static void share_scaling(struct lowering_work *w)
{
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        const struct ptx_inst *in = lower_inst(w, i);
        if ((in->opcode != PTX_OP_sin && in->opcode != PTX_OP_cos) || in->operands[1].kind != PTX_OPERAND_REG)
            continue;
        uint32_t reg = in->operands[1].reg->index;
        for (uint32_t k = w->users_of[reg]; k < w->users_of[reg + 1] && w->users[k] < i; k++) {
            const struct ptx_inst *u = lower_inst(w, w->users[k]);
            if ((u->opcode == PTX_OP_sin || u->opcode == PTX_OP_cos) && u->opcode != in->opcode &&
                w->definition[reg] < LOWER_MANY && w->cfg->block_of_inst[w->users[k]] == w->cfg->block_of_inst[i])
                w->insts[i].slots = 1;
        }
    }
}

/* ------------------------------------------------------------- two conversions to 16 bits */

static bool makes_half(const struct lowering_work *w, uint32_t i)
{
    const struct ptx_inst *in = lower_inst(w, i);
    return in->opcode == PTX_OP_cvt && in->type_count == 2 && in->operand_count == 2 && !in->guard &&
           (in->types[0] == PTX_F16 || in->types[0] == PTX_BF16) && in->types[1] == PTX_F32 &&
           ptx_has_modifier(in, PTX_MOD_RN) && lower_is_kept(w, i) && in->operands[1].kind == PTX_OPERAND_REG &&
           lower_result(w, i) != LOWER_NONE && w->definition[lower_result(w, i)] == i;
}

/* Arithmetic reads either half of a register; what is stored has to be in the lower one. */
static bool readers_take_halves(const struct lowering_work *w, uint32_t reg)
{
    for (uint32_t k = w->users_of[reg]; k < w->users_of[reg + 1]; k++) {
        const struct ptx_inst *u = lower_inst(w, w->users[k]);
        bool packs = u->opcode == PTX_OP_mov && u->operand_count == 2 && u->operands[1].kind == PTX_OPERAND_VECTOR;
        bool widens = u->opcode == PTX_OP_cvt && u->type_count == 2 && u->types[0] == PTX_F32;
        bool computes = lower_type(u) == PTX_F16 && !lower_uses_memory(u) && u->opcode != PTX_OP_mov;
        if (!packs && !widens && !computes)
            return false;
    }
    return lower_use_count(w, reg);
}

static bool is_there_at(const struct lowering_work *w, uint32_t reg, uint32_t i, uint32_t end)
{
    for (uint32_t k = i; k < end; k++)
        for (uint32_t r = w->results_of[k]; r < w->refs_of[k + 1]; r++)
            if (w->ref[r] == reg)
                return false;
    return true;
}

/* One F2FP makes both halves of a register: the second conversion, whose source is there already, goes with the first.
 */
static void pair_halves(struct lowering_work *w)
{
    enum { MOST_APART = 256 }; /* so that long blocks take no longer than they must */
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        if (!makes_half(w, i) || w->with[i] || !readers_take_halves(w, lower_result(w, i)))
            continue;
        uint32_t end = w->cfg->blocks[w->cfg->block_of_inst[i]].end;
        for (uint32_t k = i + 1; k + 1 < end && k < i + MOST_APART && !w->with[i]; k++) {
            if (!makes_half(w, k) || lower_inst(w, k)->types[0] != lower_inst(w, i)->types[0] ||
                !readers_take_halves(w, lower_result(w, k)) ||
                !is_there_at(w, lower_inst(w, k)->operands[1].reg->index, i, k))
                continue;
            w->with[i] = k;
            w->register_of[lower_result(w, k)] = w->register_of[lower_result(w, i)];
            lower_vanish(w, k, PTX_FATE_MERGED, i);
        }
    }
}

void lower_fuse(struct lowering_work *w)
{
    share_reciprocals(w);
    share_scaling(w);
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        uint32_t reg = lower_result(w, i);
        bool last = w->cfg->blocks[w->cfg->block_of_inst[i]].end == i + 1;
        if (reg == LOWER_NONE || w->definition[reg] != i || last || !lower_is_kept(w, i) || !can_vanish(w, i, reg))
            continue;
        uint32_t into = w->users[w->users_of[reg]];
        for (uint32_t k = w->users_of[reg]; k < w->users_of[reg + 1]; k++)
            if (lower_is_kept(w, w->users[k]))
                take(w, i, w->users[k]);
        lower_vanish(w, i, PTX_FATE_FUSED, into);
    }
    test_on_the_way(w);
    predicate_selections(w);
    pair_halves(w);
}
