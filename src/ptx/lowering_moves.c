/* Instructions that only give a value another name: moves, conversions between registers of the same bits, cvta,
 * literals, special registers that were read before. What reads them reads their source. A move into a register that
 * has several definitions (the values of a loop) makes the two registers one where the source is written once. */
#include "ptx/lowering_internal.h"

static bool is_constant_operand(const struct ptx_operand *o)
{
    return lower_is_literal(o) ||
           (o->kind == PTX_OPERAND_SYMBOL && o->variable->space != PTX_SPACE_SHARED &&
            o->variable->space != PTX_SPACE_GLOBAL) ||
           o->kind == PTX_OPERAND_FUNCTION;
}

static bool is_plain_cvt(const struct ptx_inst *in)
{
    if (in->opcode != PTX_OP_cvt || in->type_count != 2 || ptx_has_modifier(in, PTX_MOD_SAT))
        return false;
    enum ptx_type to = (enum ptx_type)in->types[0], from = (enum ptx_type)in->types[1];
    return !ptx_type_is_float(to) && !ptx_type_is_float(from);
}

/* Whether the result is the source's own bits, in place. */
static bool renames(const struct lowering_work *w, uint32_t i)
{
    const struct ptx_inst *in = lower_inst(w, i);
    uint32_t result = lower_result(w, i);
    if (in->opcode == PTX_OP_mov || in->opcode == PTX_OP_cvta)
        return true;
    if (in->opcode == PTX_OP_not && lower_type(in) == PTX_PRED)
        return true;
    if (!is_plain_cvt(in))
        return false;
    int to = ptx_type_bits((enum ptx_type)in->types[0]), from = ptx_type_bits((enum ptx_type)in->types[1]);
    if (to == 8 || from == 8) { /* a byte that was loaded as one */
        uint32_t source = in->operands[1].kind == PTX_OPERAND_REG ? in->operands[1].reg->index : LOWER_NONE;
        uint32_t d = source == LOWER_NONE ? LOWER_NONE : w->definition[source];
        return from == 8 && !ptx_type_is_signed((enum ptx_type)in->types[1]) && d < LOWER_MANY &&
               lower_inst(w, d)->opcode == PTX_OP_ld && lower_is_integer(lower_inst(w, d), 8);
    }
    if (to <= from)
        return true;
    bool is_signed = ptx_type_is_signed((enum ptx_type)in->types[1]);
    return !is_signed || (from == 32 && result != LOWER_NONE && w->narrow[result]);
}

/* The last read of a register that is written in several steps: the result goes on in it. */
static bool is_last_read(const struct lowering_work *w, uint32_t i, uint32_t reg, uint32_t result)
{
    uint32_t end = w->users_of[reg + 1];
    uint32_t block = w->cfg->block_of_inst[i];
    if (w->definition[result] != i || w->definition[reg] != LOWER_MANY || w->users[end - 1] != i ||
        w->last_definition[reg] > i || w->cfg->block_of_inst[w->first_definition[reg]] != block)
        return false;
    for (uint32_t k = w->users_of[reg]; k < end; k++)
        if (w->cfg->block_of_inst[w->users[k]] != block)
            return false;
    return true;
}

/* The source is not written again before the last read of the result, all in one block: the reads are of the source. */
static bool source_outlives(const struct lowering_work *w, uint32_t i, uint32_t result)
{
    const struct ptx_operand *source = &lower_inst(w, i)->operands[1];
    if (source->kind != PTX_OPERAND_REG || w->definition[result] != i || !lower_use_count(w, result))
        return false;
    uint32_t last = w->users[w->users_of[result + 1] - 1], block = w->cfg->block_of_inst[i];
    for (uint32_t k = w->users_of[result]; k < w->users_of[result + 1]; k++)
        if (w->users[k] < i || w->cfg->block_of_inst[w->users[k]] != block)
            return false;
    for (uint32_t k = i + 1; k < last; k++)
        for (uint32_t r = w->results_of[k]; r < w->refs_of[k + 1]; r++)
            if (w->ref[r] == source->reg->index)
                return false;
    return true;
}

/* A move before the branch that leaves a loop, to a register that is read after the loop alone: it is made there, of a
 * value of the loop or one that stays. */
static bool is_for_later(const struct lowering_work *w, uint32_t i, uint32_t from, uint32_t result)
{
    int32_t loop = lower_loop_of(w, i);
    if (loop != PTX_NO_LOOP && w->definition[from] < LOWER_MANY &&
        ptx_loop_contains(w->cfg, (uint32_t)loop, w->cfg->block_of_inst[w->definition[from]]))
        return false;
    const struct ptx_block *b = &w->cfg->blocks[w->cfg->block_of_inst[i]];
    if (loop == PTX_NO_LOOP || !lower_use_count(w, result) || b->succ_count != 2 ||
        (ptx_loop_contains(w->cfg, (uint32_t)loop, b->succs[0]) &&
         ptx_loop_contains(w->cfg, (uint32_t)loop, b->succs[1])))
        return false;
    for (uint32_t k = w->users_of[result]; k < w->users_of[result + 1]; k++)
        if (ptx_loop_contains(w->cfg, (uint32_t)loop, w->cfg->block_of_inst[w->users[k]]))
            return false;
    return true;
}

static void merge(struct lowering_work *w, uint32_t i, uint32_t result, bool *is_merged)
{
    const struct ptx_operand *source = &lower_inst(w, i)->operands[1];
    uint32_t from = source->kind == PTX_OPERAND_REG ? source->reg->index : LOWER_NONE;
    if (from != LOWER_NONE && is_for_later(w, i, from, result)) {
        lower_vanish(w, i, PTX_FATE_MERGED, PTX_INTO_NOTHING);
        return;
    }
    if (from != LOWER_NONE && is_last_read(w, i, from, result)) {
        w->register_of[result] = w->register_of[from];
        lower_vanish(w, i, PTX_FATE_MERGED, PTX_INTO_NOTHING);
        return;
    }
    if (from == LOWER_NONE || w->definition[from] >= LOWER_MANY || is_merged[from])
        return;
    if (w->cfg->block_of_inst[w->definition[from]] != w->cfg->block_of_inst[i])
        return;
    is_merged[from] = true;
    w->register_of[from] = w->register_of[result];
    lower_vanish(w, i, PTX_FATE_MERGED, PTX_INTO_NOTHING);
}

/* A value that is known when the instruction is assembled or is written once, and stays. */
static bool source_stays(const struct lowering_work *w, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_REG)
        return w->definition[o->reg->index] < LOWER_MANY;
    if (o->kind == PTX_OPERAND_VECTOR) {
        for (uint32_t k = 0; k < o->element_count; k++)
            if (!source_stays(w, &o->elements[k]))
                return false;
        return o->element_count == 2;
    }
    return is_constant_operand(o);
}

/* Special registers are read once, where that read comes before in all paths. */
static bool was_read_before(const struct lowering_work *w, const struct ptx_operand *o, uint32_t i, uint32_t *first)
{
    if (o->kind != PTX_OPERAND_SPECIAL || o->special >= PTX_SPECIAL_COUNT)
        return false;
    uint32_t *seen = &first[o->special];
    if (*seen == LOWER_NONE) {
        *seen = i;
        return false;
    }
    switch (o->special) {
    case PTX_SREG_CLOCK:
    case PTX_SREG_CLOCK_HI:
    case PTX_SREG_CLOCK64:
    case PTX_SREG_GLOBALTIMER:
    case PTX_SREG_GLOBALTIMER_LO:
    case PTX_SREG_GLOBALTIMER_HI: return false;
    default: return ptx_cfg_dominates(w->cfg, w->cfg->block_of_inst[*seen], w->cfg->block_of_inst[i]);
    }
}

/* Neighbouring words of constant memory, at places known when it is assembled, come with one instruction. */
static bool comes_with(const struct lowering_work *w, uint32_t i, uint32_t before)
{
    const struct ptx_inst *in = lower_inst(w, i), *b = before == LOWER_NONE ? NULL : lower_inst(w, before);
    if (!b || in->opcode != PTX_OP_ld || !ptx_has_modifier(in, PTX_MOD_CONST) || lower_type(in) != lower_type(b) ||
        w->cfg->block_of_inst[i] != w->cfg->block_of_inst[before])
        return false;
    const struct ptx_operand *a = lower_address(in), *o = lower_address(b);
    return a->elements[0].variable == o->elements[0].variable &&
           a->offset == o->offset + ptx_type_bits(lower_type(in)) / 8;
}

static bool loads_constant(const struct ptx_inst *in)
{
    const struct ptx_operand *address = in->opcode == PTX_OP_ld ? lower_address(in) : NULL;
    return address && ptx_has_modifier(in, PTX_MOD_CONST) && address->elements[0].kind == PTX_OPERAND_SYMBOL &&
           lower_type(in) != PTX_NO_TYPE && ptx_type_bits(lower_type(in)) == 32;
}

static void pair_constants(struct lowering_work *w)
{
    uint32_t before = LOWER_NONE;
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        const struct ptx_inst *in = lower_inst(w, i);
        if (!loads_constant(in) || in->guard || !lower_is_kept(w, i))
            continue;
        bool last = w->cfg->blocks[w->cfg->block_of_inst[i]].end == i + 1;
        bool comes = !last && comes_with(w, i, before);
        if (comes)
            lower_vanish(w, i, PTX_FATE_FUSED, before);
        before = comes ? LOWER_NONE : i;
    }
}

/* ------------------------------------------------------------- zeros */

static bool is_zero_move(const struct lowering_work *w, uint32_t i, const uint32_t *zero_since, uint32_t first)
{
    const struct ptx_inst *in = lower_inst(w, i);
    if (in->opcode != PTX_OP_mov || in->guard || in->operand_count != 2 || lower_type(in) != PTX_F32)
        return false;
    const struct ptx_operand *o = &in->operands[1];
    return (o->kind == PTX_OPERAND_FLOAT && o->is_float32 && !o->float32_bits) ||
           (o->kind == PTX_OPERAND_REG && zero_since[o->reg->index] > first);
}

/* Sums that a block sets to zero: one instruction clears two. Counters are cleared one by one. */
static void pair_zeros(struct lowering_work *w)
{
    uint32_t *zero_since = arena_array(&w->scratch, uint32_t, w->f->reg_count + 1); /* one more than the instruction */
    for (uint32_t b = 0; b < w->cfg->block_count; b++) {
        uint32_t first = w->cfg->blocks[b].first, before = LOWER_NONE;
        for (uint32_t i = first; i < w->cfg->blocks[b].end; i++) {
            bool zero = is_zero_move(w, i, zero_since, first);
            for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++)
                zero_since[w->ref[k]] = zero ? i + 1 : 0;
            if (!zero || !lower_is_kept(w, i))
                continue;
            bool last = w->cfg->blocks[b].end == i + 1;
            if (before != LOWER_NONE && !last)
                lower_vanish(w, i, PTX_FATE_FUSED, before);
            before = before == LOWER_NONE ? i : LOWER_NONE;
        }
    }
}

/* ------------------------------------------------------------- halves of 64 bits */

static bool is_word(const bool *is_short, const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_INT ? o->integer >= 0 && o->integer <= UINT32_MAX
                                      : o->kind == PTX_OPERAND_REG && is_short[o->reg->index];
}

/* One whose result has no upper half. Taking a half out is nothing, and arithmetic on the upper ones is not done. */
static bool makes_word(struct lowering_work *w, uint32_t i, const bool *is_short)
{
    const struct ptx_inst *in = lower_inst(w, i);
    const struct ptx_operand *a = &in->operands[1], *b = &in->operands[in->operand_count - 1];
    bool last = w->cfg->blocks[w->cfg->block_of_inst[i]].end == i + 1, half = false, word = false;
    switch (in->opcode) {
    case PTX_OP_cvt: return in->type_count == 2 && in->types[1] == PTX_U32;
    case PTX_OP_shr:
        half = b->kind == PTX_OPERAND_INT && b->integer == 32 && !ptx_type_is_signed(lower_type(in));
        break;
    case PTX_OP_and:
        half = b->kind == PTX_OPERAND_INT && b->integer == UINT32_MAX;
        word = is_word(is_short, a) || is_word(is_short, b);
        break;
    case PTX_OP_or:
    case PTX_OP_xor: word = is_word(is_short, a) && is_word(is_short, b); break;
    case PTX_OP_mul:
        if (!ptx_has_modifier(in, PTX_MOD_HI) && b->kind == PTX_OPERAND_INT && is_word(is_short, a) &&
            is_word(is_short, b) && !w->narrow[lower_result(w, i)])
            w->insts[i].slots = 2; /* what is left of the upper half is an addition */
        return false;
    default: return false;
    }
    if (half && !last && a->kind == PTX_OPERAND_REG && w->definition[a->reg->index] < LOWER_MANY)
        lower_vanish(w, i, PTX_FATE_OPERAND, PTX_INTO_NOTHING);
    else if (word)
        w->insts[i].slots = 1;
    return half || word;
}

static void find_words(struct lowering_work *w)
{
    bool *is_short = arena_array(&w->scratch, bool, w->f->reg_count + 1);
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        uint32_t result = lower_result(w, i);
        const struct ptx_inst *in = lower_inst(w, i);
        if (result != LOWER_NONE && w->definition[result] == i && lower_is_integer(in, 64) && in->operand_count > 1 &&
            w->insts[i].fate != PTX_FATE_DEAD)
            is_short[result] = makes_word(w, i, is_short);
    }
}

static bool is_single(const struct lowering_work *w, uint32_t i)
{
    for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++)
        if (w->definition[w->ref[k]] != i)
            return false;
    return true;
}

void lower_moves(struct lowering_work *w)
{
    uint32_t first[PTX_SPECIAL_COUNT];
    bool *is_merged = arena_array(&w->scratch, bool, w->f->reg_count + 1);
    for (uint32_t s = 0; s < PTX_SPECIAL_COUNT; s++)
        first[s] = LOWER_NONE;
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        const struct ptx_inst *in = lower_inst(w, i);
        bool last = w->cfg->blocks[w->cfg->block_of_inst[i]].end == i + 1;
        if (in->guard || in->operand_count != 2 || last || !lower_is_kept(w, i) || !renames(w, i))
            continue;
        uint32_t result = lower_result(w, i);
        if (is_single(w, i) && (source_stays(w, &in->operands[1]) || was_read_before(w, &in->operands[1], i, first) ||
                                (result != LOWER_NONE && is_plain_cvt(in) && source_outlives(w, i, result))))
            lower_vanish(w, i, PTX_FATE_OPERAND, PTX_INTO_NOTHING);
        else if (in->opcode == PTX_OP_mov && result != LOWER_NONE)
            merge(w, i, result, is_merged);
    }
    pair_constants(w);
    pair_zeros(w);
    find_words(w);
}
