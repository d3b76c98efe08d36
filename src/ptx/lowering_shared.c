/* Words of shared memory that are read together: what is loaded from places next to each other comes with one
 * instruction, of 16 bytes where at least three words of an aligned 16 are wanted, of 8 for an aligned pair, and what
 * was loaded before is not loaded again. Within a basic block, as long as nothing is written to shared memory. Where
 * variables lie is up to the assembler: it aligns them to 16 bytes. Global memory is not read so, for nobody knows how
 * a pointer is aligned. Left out: stores, which are joined in the same way. */
#include "ptx/lowering_internal.h"

enum { WIDEST = 16, WORD = 4, MOST_OPEN = 64, MOST_STEPS = 16 };

/* ------------------------------------------------------------- how addresses are aligned */

static uint32_t alignment_of_literal(int64_t value)
{
    uint64_t lowest = (uint64_t)value & -(uint64_t)value;
    return !value || lowest > WIDEST ? WIDEST : (uint32_t)lowest;
}

static uint32_t alignment_of(const uint8_t *alignment, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_REG)
        return alignment[o->reg->index];
    if (o->kind == PTX_OPERAND_INT)
        return alignment_of_literal(o->integer);
    return o->kind == PTX_OPERAND_SYMBOL && o->variable->space == PTX_SPACE_SHARED ? WIDEST : 1;
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t alignment_of_result(const uint8_t *alignment, const struct ptx_inst *in)
{
    if (in->operand_count < 2)
        return 1;
    const struct ptx_operand *o = in->operands;
    uint32_t a = alignment_of(alignment, &o[1]), b = in->operand_count > 2 ? alignment_of(alignment, &o[2]) : 1;
    switch (in->opcode) {
    case PTX_OP_mov:
    case PTX_OP_cvta: return a;
    case PTX_OP_cvt: return ptx_type_is_float(lower_type(in)) ? 1 : a;
    case PTX_OP_add:
    case PTX_OP_sub:
    case PTX_OP_or: return least(a, b);
    case PTX_OP_and: return a > b ? a : b;
    case PTX_OP_shl:
        return o[2].kind == PTX_OPERAND_INT && o[2].integer < MOST_STEPS ? least(a << o[2].integer, WIDEST) : a;
    case PTX_OP_mul: return ptx_has_modifier(in, PTX_MOD_HI) ? 1 : least(a * b, WIDEST);
    case PTX_OP_mad:
        return ptx_has_modifier(in, PTX_MOD_HI) ? 1 : least(least(a * b, WIDEST), alignment_of(alignment, &o[3]));
    default: return 1;
    }
}

/* Per register, of all its definitions; from the best down, until nothing changes: a loop's steps are seen so. */
static uint8_t *find_alignment(struct lowering_work *w)
{
    uint8_t *alignment = arena_array(&w->scratch, uint8_t, w->f->reg_count + 1);
    for (uint32_t r = 0; r < w->f->reg_count; r++)
        alignment[r] = w->definition[r] == LOWER_NONE ? 1 : WIDEST;
    for (uint32_t i = 0; i < w->f->param_count; i++)
        if (w->f->params[i]->reg)
            alignment[w->f->params[i]->reg->index] = 1;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < w->f->inst_count; i++)
            for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++) {
                uint32_t now = alignment_of_result(alignment, lower_inst(w, i));
                if (now < alignment[w->ref[k]]) {
                    alignment[w->ref[k]] = (uint8_t)now;
                    changed = true;
                }
            }
    }
    return alignment;
}

/* ------------------------------------------------------------- loads of a block */

struct place {
    const struct ptx_variable *variable;
    uint32_t reg; /* LOWER_NONE: none */
    int64_t offset;
};

struct open_load {
    struct place at;
    uint32_t inst, bytes;
};

/* A register that is written once, as another one and a constant, is that other one. */
static struct place place_of(const struct lowering_work *w, const struct ptx_inst *in)
{
    const struct ptx_operand *address = lower_address(in), *base = &address->elements[0];
    struct place p = {.reg = LOWER_NONE, .offset = address->offset};
    for (uint32_t steps = 0; steps < MOST_STEPS; steps++) {
        if (base->kind == PTX_OPERAND_SYMBOL)
            p.variable = base->variable;
        if (base->kind != PTX_OPERAND_REG)
            return p;
        p.reg = base->reg->index;
        uint32_t d = w->definition[p.reg];
        const struct ptx_inst *by = d < LOWER_MANY ? lower_inst(w, d) : NULL;
        if (!by || by->operand_count < 2 || by->operands[1].kind == PTX_OPERAND_VECTOR)
            return p;
        if (by->opcode == PTX_OP_add && by->operands[1].kind == PTX_OPERAND_REG &&
            by->operands[2].kind == PTX_OPERAND_INT)
            p.offset += by->operands[2].integer;
        else if (by->opcode != PTX_OP_mov && by->opcode != PTX_OP_cvta)
            return p;
        if (by->operands[1].kind != PTX_OPERAND_REG && by->operands[1].kind != PTX_OPERAND_SYMBOL)
            return p;
        p.reg = LOWER_NONE;
        base = &by->operands[1];
    }
    return p;
}

static bool has_same_base(const struct place *a, const struct place *b)
{
    return a->variable == b->variable && a->reg == b->reg;
}

static bool can_be_joined(const struct lowering_work *w, uint32_t i)
{
    const struct ptx_inst *in = lower_inst(w, i);
    uint32_t reg = lower_result(w, i);
    int bits = lower_type(in) == PTX_NO_TYPE ? 0 : ptx_type_bits(lower_type(in));
    return in->opcode == PTX_OP_ld && !in->guard && lower_is_kept(w, i) && reg != LOWER_NONE &&
           w->definition[reg] == i && (bits == 32 || bits == 64) && ptx_has_modifier(in, PTX_MOD_SHARED) &&
           !ptx_has_modifier(in, PTX_MOD_VOLATILE) && w->cfg->blocks[w->cfg->block_of_inst[i]].end != i + 1;
}

static uint32_t words_wanted(const struct open_load *l, uint32_t count, const struct place *first, uint32_t bytes)
{
    uint32_t words = 0;
    for (uint32_t k = 0; k < count; k++) {
        int64_t from = l[k].at.offset - first->offset;
        if (l[k].inst != LOWER_NONE && has_same_base(&l[k].at, first) && from >= 0 && from + l[k].bytes <= bytes)
            words |= (l[k].bytes == WORD ? 1u : 3u) << from / WORD;
    }
    return (uint32_t)__builtin_popcount(words);
}

/* All loads of such a window: the first one stands for them, and those that read the others wait for it. */
static void join_window(struct lowering_work *w, struct open_load *l, uint32_t count, struct place first,
                        uint32_t bytes)
{
    uint32_t leader = LOWER_NONE;
    for (uint32_t k = 0; k < count; k++) {
        int64_t from = l[k].at.offset - first.offset;
        if (l[k].inst == LOWER_NONE || !has_same_base(&l[k].at, &first) || from < 0 || from + l[k].bytes > bytes)
            continue;
        if (leader == LOWER_NONE) {
            leader = l[k].inst;
        } else {
            w->register_of[lower_result(w, l[k].inst)] = w->register_of[lower_result(w, leader)];
            lower_vanish(w, l[k].inst, PTX_FATE_MERGED, leader);
        }
        l[k].inst = LOWER_NONE;
    }
}

static void join_loads(struct lowering_work *w, const uint8_t *alignment, struct open_load *l, uint32_t count)
{
    for (uint32_t bytes = WIDEST; bytes >= WORD; bytes /= 2)
        for (uint32_t k = 0; k < count; k++) {
            uint32_t known = l[k].at.reg == LOWER_NONE ? WIDEST : alignment[l[k].at.reg];
            if (l[k].inst == LOWER_NONE || (known < bytes && bytes > WORD))
                continue;
            struct place first = l[k].at;
            first.offset -= bytes > WORD ? (first.offset % bytes + bytes) % bytes : 0;
            if (words_wanted(l, count, &first, bytes) >= bytes / WORD - (bytes == WIDEST))
                join_window(w, l, count, first, bytes);
        }
}

static bool closes(const struct ptx_inst *in)
{
    if (ptx_flags(in) & (PTX_F_BARRIER | PTX_F_FENCE | PTX_F_CALL | PTX_F_ATOMIC))
        return true;
    return ptx_flags(in) & PTX_F_STORE && !ptx_has_modifier(in, PTX_MOD_GLOBAL) && !ptx_has_modifier(in, PTX_MOD_LOCAL);
}

void lower_shared(struct lowering_work *w)
{
    const uint8_t *alignment = find_alignment(w);
    struct open_load open[MOST_OPEN];
    for (uint32_t b = 0; b < w->cfg->block_count; b++) {
        uint32_t count = 0;
        for (uint32_t i = w->cfg->blocks[b].first; i < w->cfg->blocks[b].end; i++) {
            if (closes(lower_inst(w, i)) || count == MOST_OPEN) {
                join_loads(w, alignment, open, count);
                count = 0;
            }
            if (can_be_joined(w, i)) {
                struct place at = place_of(w, lower_inst(w, i));
                uint32_t bits = (uint32_t)ptx_type_bits(lower_type(lower_inst(w, i)));
                open[count++] = (struct open_load){.at = at, .inst = i, .bytes = bits / 8};
            }
            for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++) /* a base that steps is another */
                for (uint32_t o = 0; o < count; o++)
                    if (open[o].at.reg == w->ref[k]) {
                        join_loads(w, alignment, open, count);
                        count = 0;
                    }
        }
        join_loads(w, alignment, open, count);
    }
}
