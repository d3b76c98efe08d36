/* How many machine instructions one of PTX is, by itself: rows of lowering.def, and what depends on more than opcode
 * and types. Also of which 64-bit registers the lower half alone is wanted: offsets in shared, local or constant
 * memory, whose addresses have 32 bits in the machine, and what is converted to 32 bits. The arithmetic on them is that
 * of 32. */
#include "ptx/lowering_internal.h"

enum kind { ANY_KIND, KIND_I, KIND_S, KIND_U, KIND_F };
enum literal { NO, YES };

struct row {
    uint16_t opcode, modifier, another;
    uint8_t first_kind, first_bits, second_kind, second_bits, literal, slots;
};

#define ANY     ANY_KIND, 0
#define I(bits) KIND_I, bits
#define S(bits) KIND_S, bits
#define U(bits) KIND_U, bits
#define F(bits) KIND_F, bits
#define NONE    PTX_NO_MODIFIER
#define HI      PTX_MOD_HI
#define LO      PTX_MOD_LO
#define WIDE    PTX_MOD_WIDE
#define RN      PTX_MOD_RN
#define FTZ     PTX_MOD_FTZ
#define FULL    PTX_MOD_FULL
#define APPROX  PTX_MOD_APPROX
#define CTA     PTX_MOD_CTA
#define SHARED  PTX_MOD_SHARED
static const struct row rows[] = {
#define ROW(opcode, first, second, modifier, another, literal, slots) \
    ROW_(opcode, first, second, modifier, another, literal, slots)
#define ROW_(op, kind, bits, kind2, bits2, modifier, another, literal, slots) \
    {PTX_OP_##op, modifier, another, kind, bits, kind2, bits2, literal, slots},
#include "ptx/lowering.def"
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static bool type_fits(uint8_t kind, uint8_t bits, enum ptx_type t)
{
    if (kind == ANY_KIND)
        return true;
    if (t == PTX_NO_TYPE || ptx_type_bits(t) != bits || ptx_type_is_float(t) != (kind == KIND_F))
        return false;
    return kind == KIND_F || kind == KIND_I || ptx_type_is_signed(t) == (kind == KIND_S);
}

static bool has(const struct ptx_inst *in, uint16_t modifier)
{
    return modifier == PTX_NO_MODIFIER || ptx_has_modifier(in, (enum ptx_modifier)modifier);
}

static uint8_t look_up(const struct ptx_inst *in, enum ptx_type first, enum ptx_type second)
{
    bool literal = in->operand_count && lower_is_literal(&in->operands[in->operand_count - 1]);
    for (uint32_t k = 0; k < ROW_COUNT; k++) {
        const struct row *r = &rows[k];
        if (r->opcode == in->opcode && (!r->literal || literal) && has(in, r->modifier) && has(in, r->another) &&
            type_fits(r->first_kind, r->first_bits, first) && type_fits(r->second_kind, r->second_bits, second))
            return r->slots;
    }
    return 1;
}

static enum ptx_type half_of(enum ptx_type t)
{
    return t == PTX_S64 ? PTX_S32 : t == PTX_U64 ? PTX_U32 : t == PTX_B64 ? PTX_B32 : t;
}

/* Between registers of the same value: what is left of a narrowing is the lower part, and an unsigned value of 16 bits
 * is extended already. */
static bool conversion_is_free(const struct ptx_inst *in, bool narrow)
{
    if (in->type_count != 2)
        return false;
    enum ptx_type to = (enum ptx_type)in->types[0], from = (enum ptx_type)in->types[1];
    if (ptx_type_is_float(to) || ptx_type_is_float(from) || ptx_has_modifier(in, PTX_MOD_SAT))
        return false;
    int to_bits = ptx_type_bits(to), from_bits = ptx_type_bits(from);
    if (to_bits == 8 || from_bits == 8)
        return false;
    if (to_bits <= from_bits || (narrow && from_bits == 32))
        return true;
    return !ptx_type_is_signed(from);
}

/* A byte or half at its own boundary is a permutation. */
static bool is_aligned_field(const struct ptx_inst *in)
{
    return in->opcode == PTX_OP_bfe && lower_is_integer(in, 32) && in->operands[2].kind == PTX_OPERAND_INT &&
           in->operands[3].kind == PTX_OPERAND_INT && in->operands[2].integer % 8 == 0 &&
           (in->operands[3].integer == 8 || in->operands[3].integer == 16);
}

uint8_t lower_count(const struct ptx_function *f, const struct ptx_inst *in, bool narrow)
{
    enum ptx_type first = lower_type(in), second = in->type_count > 1 ? (enum ptx_type)in->types[1] : PTX_NO_TYPE;
    if (in->opcode == PTX_OP_cvt && conversion_is_free(in, narrow))
        return 1; /* as a move: it goes with the moves */
    if (lower_reads_parameter(f, in) || is_aligned_field(in))
        return 1;
    if (narrow && ptx_has_modifier(in, PTX_MOD_WIDE) && lower_is_integer(in, 32))
        return 1; /* as .lo */
    return look_up(in, narrow ? half_of(first) : first, second);
}

/* ------------------------------------------------------------- lower halves */

static bool has_short_addresses(const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < in->modifier_count; i++)
        switch (in->modifiers[i]) {
        case PTX_MOD_SHARED:
        case PTX_MOD_SHARED_CTA:
        case PTX_MOD_LOCAL:
        case PTX_MOD_CONST: return true;
        case PTX_MOD_GLOBAL: return false;
        default: break;
        }
    return false;
}

/* Its lower half follows from the lower halves of what it reads, or it is one instruction for that half alone. */
static bool has_lower_half(const struct ptx_inst *in)
{
    switch (in->opcode) {
    case PTX_OP_mul:
    case PTX_OP_mad: return !ptx_has_modifier(in, PTX_MOD_HI);
    case PTX_OP_add:
    case PTX_OP_sub:
    case PTX_OP_neg:
    case PTX_OP_and:
    case PTX_OP_or:
    case PTX_OP_xor:
    case PTX_OP_not:
    case PTX_OP_shl:
    case PTX_OP_shr:
    case PTX_OP_mov:
    case PTX_OP_cvt:
    case PTX_OP_cvta:
    case PTX_OP_selp: return true;
    default: return ptx_flags(in) & PTX_F_LOAD;
    }
}

static bool takes_lower_half(const struct ptx_inst *in)
{
    return in->opcode == PTX_OP_cvt && in->type_count == 2 && !ptx_has_modifier(in, PTX_MOD_SAT) &&
           !ptx_type_is_float((enum ptx_type)in->types[0]) && !ptx_type_is_float((enum ptx_type)in->types[1]) &&
           ptx_type_bits((enum ptx_type)in->types[0]) <= 32;
}

/* Whether of a register nothing goes on but its lower half: into addresses of short spaces, values of 32 bits, or
 * arithmetic of whose result the same holds. */
static bool user_is_short(const struct lowering_work *w, uint32_t user, uint32_t reg)
{
    const struct ptx_inst *in = lower_inst(w, user);
    if (lower_uses_memory(in)) {
        const struct ptx_operand *address = lower_address(in);
        if (!has_short_addresses(in) || address->elements[0].kind != PTX_OPERAND_REG ||
            address->elements[0].reg->index != reg)
            return false;
        for (uint32_t i = 0; i < in->operand_count; i++) /* not what is stored as well */
            if (in->operands[i].kind == PTX_OPERAND_REG && in->operands[i].reg->index == reg)
                return false;
        return true;
    }
    if (takes_lower_half(in))
        return true;
    switch (in->opcode) {
    case PTX_OP_add:
    case PTX_OP_sub:
    case PTX_OP_neg:
    case PTX_OP_shl:
    case PTX_OP_mov:
    case PTX_OP_or:
    case PTX_OP_and:
    case PTX_OP_xor:
    case PTX_OP_not:
    case PTX_OP_mul:
    case PTX_OP_mad: break;
    default: return false;
    }
    if (ptx_has_modifier(in, PTX_MOD_HI) || ptx_has_modifier(in, PTX_MOD_CC))
        return false;
    uint32_t result = lower_result(w, user);
    return result != LOWER_NONE && w->narrow[result];
}

static bool all_users_are_short(const struct lowering_work *w, uint32_t reg)
{
    for (uint32_t k = w->users_of[reg]; k < w->users_of[reg + 1]; k++)
        if (!user_is_short(w, w->users[k], reg))
            return false;
    return true;
}

/* All that could be, less what is not, until nothing changes: pointers that step in a loop are seen so. Backward, for
 * most values are made of those before them. */
void lower_find_narrow(struct lowering_work *w)
{
    w->narrow = arena_array(&w->scratch, bool, w->f->reg_count + 1);
    for (uint32_t i = 0; i < w->f->inst_count; i++)
        for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++)
            w->narrow[w->ref[k]] = ptx_type_bits(w->f->regs[w->ref[k]]->type) == 64 && lower_use_count(w, w->ref[k]);
    for (uint32_t i = 0; i < w->f->inst_count; i++) /* what makes both halves at once */
        for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++)
            if (lower_result(w, i) == LOWER_NONE || !has_lower_half(lower_inst(w, i)) ||
                ptx_has_modifier(lower_inst(w, i), PTX_MOD_CC))
                w->narrow[w->ref[k]] = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t r = w->f->reg_count; r-- > 0;)
            if (w->narrow[r] && !all_users_are_short(w, r)) {
                w->narrow[r] = false;
                changed = true;
            }
    }
}
