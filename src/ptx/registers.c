/* An estimate of the registers a thread has once the real assembler (ptxas) is done: what decides how many blocks fit a
 * core.
 *
 * Liveness of the text is a poor guess, since the assembler changes the text. This models what moves the number most:
 * 1. Some values cost no register. Parameters, dimensions of block and grid and literals are operands from the constant
 * bank or part of the instruction; a change of address space is nothing; a 32-bit index that is widened and scaled on
 * its way into an address stays 32 bits wide, for the multiplication is part of the address's addition. Another
 * register, or none, stands in for them.
 * 2. Instructions move up within their block so that loads and chains of arithmetic overlap, and a loop's next loads
 * are under way beside this round's. That costs registers, and is done as long as they are free: until a core full of
 * threads has none left.
 * 3. Division and roots become sequences that need registers of their own, and the convention of calls sets a least
 * number.
 * 4. One register is the stack pointer, and since sm_70 the hardware keeps two more a thread. Some are lost between
 * pairs, which begin at even numbers.
 * 5. Before sm_20 an address has 32 bits, there is no stack pointer, and a core full of threads has 16 registers for
 * each. The constants were fitted to ptxas 13; docs/validation.md has the errors. Left out: motion between blocks,
 * unrolling proper (the parser drops the pragma that forbids it), predication of short branches, uniform registers,
 * spilling. */
#include "ptx/registers.h"

#include "base/checked.h"
#include "ptx/addresses.h"

#include <string.h>

enum {
    MOST_REGISTERS = 255,
    MOST_BEFORE_SM35 = 63,
    MOST_BEFORE_SM20 = 124,
    REGISTER_FILE =
        65536, /* of a core, in the assembler's eyes; with a bound on threads it keeps to what they can have */
    STACK_POINTER = 1,
    KEPT_SINCE_SM70 = 2,
    LOST_TO_ALIGNMENT = 2,
    CALL_NEEDS = 24,    /* the least of a function that calls, subroutines of sm_70 and later included */
    SEQUENCE_NEEDS = 5, /* registers of its own of an instruction that becomes a sequence; twice that on 64 bits */
    REACH = 64,         /* instructions over which one moves up at most */
    LOAD_WAIT = 8,
    WAIT = 2, /* places between an instruction and what reads its result, where there are others to fill them */
    LARGEST_LOOP = 60, /* instructions of a loop whose next loads are begun early */
};

#define NOTHING      UINT32_MAX /* stands in for a value that costs no register */
#define NOT_CROSSING UINT32_MAX
#define UNDEFINED    UINT32_MAX
#define MANY         (UINT32_MAX - 1)
#define WRITTEN      (1u << 31)
#define WORD_BITS    64u

enum trait {
    LOADS_CONSTANT =
        1 << 0,             /* a parameter of the kernel, or the constant bank, at a place known when it is assembled */
    LOADS = 1 << 1,         /* anything else, and may move */
    FIXED = 1 << 2,         /* has an effect beside its result, or ends a block */
    STORES = 1 << 3,        /* into a space that is named */
    PASSES_STORES = 1 << 4, /* reads what no thread of the kernel writes */
    WIDENS = 1 << 5,        /* a 32-bit index for an address, or scales it */
    ADDS_ADDRESS = 1 << 6,
    GUARDED = 1 << 7,
};

struct estimate {
    struct arena scratch;
    const struct ptx_function *f;
    const struct ptx_cfg *cfg;
    /* Registers of instruction i: it reads ref[refs_of[i]] up to results_of[i], and writes those from there up to
     * refs_of[i + 1]. */
    uint32_t *ref, *refs_of, *results_of;
    uint32_t ref_count, ref_capacity;
    uint8_t *traits, *space; /* per instruction: enum trait, and enum ptx_space where it names one */
    uint32_t *stand_in;      /* per register: the one that stays alive in its place, mostly itself, or NOTHING */
    uint32_t *definition;    /* per register: its only definition, UNDEFINED or MANY */
    bool *only_in_addresses; /* per register: nothing but arithmetic on addresses reads it */
    uint8_t *units;
    uint32_t *number, *register_of, crossing_count,
        words; /* bits of the block sets: registers read in a block before it writes them */
    uint64_t *reads, *writes, *live_in, *live_out, *none; /* per block, but live_out, of one block, and the empty set */
    uint32_t *leaving, leaving_count;                     /* registers alive at the end of the block at hand */
    uint32_t *written_in;                        /* per register: one more than the last block that surely wrote it */
    uint32_t *key, *next, *first_of_key, *order; /* per instruction: see reorder */
    uint32_t *defined_at, *ready_at, *read_at;   /* per register, as keys */
    bool *live;
};

/* ------------------------------------------------------------- what an instruction is to this model */

/* The estimate comes before the instruction is checked: it may lack its type. */
static enum ptx_type last_type(const struct ptx_inst *in)
{
    return in->type_count ? (enum ptx_type)in->types[in->type_count - 1] : PTX_NO_TYPE;
}

static bool has_64_bits(const struct ptx_inst *in)
{
    return in->type_count && ptx_type_bits((enum ptx_type)in->types[0]) == 64;
}

static bool is_address_addition(const struct ptx_inst *in)
{
    return (in->opcode == PTX_OP_add || in->opcode == PTX_OP_sub) && has_64_bits(in) &&
           !ptx_type_is_float((enum ptx_type)in->types[0]);
}

static bool is_widening(const struct ptx_inst *in)
{
    if (in->operand_count < 2 || in->operands[0].kind != PTX_OPERAND_REG || in->operands[1].kind != PTX_OPERAND_REG)
        return false;
    bool scales = in->operand_count == 3 && in->operands[2].kind == PTX_OPERAND_INT;
    switch (in->opcode) {
    case PTX_OP_mul: return scales && ptx_has_modifier(in, PTX_MOD_WIDE);
    case PTX_OP_shl: return scales && has_64_bits(in);
    case PTX_OP_cvt:
        return in->type_count == 2 && has_64_bits(in) && ptx_type_bits((enum ptx_type)in->types[1]) == 32 &&
               !ptx_type_is_float((enum ptx_type)in->types[0]) && !ptx_type_is_float((enum ptx_type)in->types[1]);
    default: return false;
    }
}

static bool loads_constant(const struct ptx_function *f, const struct ptx_inst *in)
{
    if (in->opcode != PTX_OP_ld || in->operand_count < 2 || in->operands[1].kind != PTX_OPERAND_ADDRESS)
        return false;
    bool fixed = in->operands[1].elements[0].kind == PTX_OPERAND_SYMBOL;
    return fixed && ((f->is_entry && ptx_has_modifier(in, PTX_MOD_PARAM)) ||
                     ptx_has_modifier(in, PTX_MOD_PARAM_ENTRY) || ptx_has_modifier(in, PTX_MOD_CONST));
}

static enum ptx_space space_of(const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < in->modifier_count; i++)
        switch (in->modifiers[i]) {
        case PTX_MOD_GLOBAL: return PTX_SPACE_GLOBAL;
        case PTX_MOD_SHARED:
        case PTX_MOD_SHARED_CTA: return PTX_SPACE_SHARED;
        case PTX_MOD_LOCAL: return PTX_SPACE_LOCAL;
        default: break;
        }
    return PTX_SPACE_NONE;
}

static uint8_t traits_of_memory(const struct ptx_function *f, const struct ptx_inst *in)
{
    bool ordered = ptx_has_modifier(in, PTX_MOD_VOLATILE) || ptx_has_modifier(in, PTX_MOD_ACQUIRE);
    if (loads_constant(f, in))
        return LOADS_CONSTANT;
    if (ptx_flags(in) & PTX_F_LOAD && !ordered)
        return LOADS | (ptx_flags(in) & PTX_F_TEXTURE || ptx_has_modifier(in, PTX_MOD_NC) ? PASSES_STORES : 0);
    return FIXED | (in->opcode == PTX_OP_st && !ordered && space_of(in) != PTX_SPACE_NONE ? STORES : 0);
}

static uint8_t traits_of(const struct ptx_function *f, const struct ptx_inst *in)
{
    if (ptx_opcodes[in->opcode].unit == PTX_UNIT_MEM)
        return traits_of_memory(f, in);
    if (ptx_opcodes[in->opcode].unit == PTX_UNIT_CONTROL || ptx_flags(in) & (PTX_F_NO_DEST | PTX_F_CALL | PTX_F_FENCE))
        return FIXED;
    return is_widening(in) ? WIDENS : is_address_addition(in) ? ADDS_ADDRESS : 0;
}

static void find_traits(struct estimate *e)
{
    for (uint32_t i = 0; i < e->f->inst_count; i++) {
        const struct ptx_inst *in = &e->f->insts[i];
        e->traits[i] = traits_of(e->f, in) | (in->guard ? GUARDED : 0);
        e->space[i] = e->traits[i] & (LOADS | STORES) ? (uint8_t)space_of(in) : PTX_SPACE_NONE;
    }
}

/* ------------------------------------------------------------- which registers an instruction names */

static void note_reference(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct estimate *e = context;
    if (e->ref_count == e->ref_capacity) {
        uint32_t *grown = arena_array(&e->scratch, uint32_t, e->ref_capacity * 2);
        memcpy(grown, e->ref, sizeof *grown * e->ref_count);
        e->ref = grown;
        e->ref_capacity *= 2;
    }
    e->ref[e->ref_count++] = reg->index | (role == PTX_REG_DEFINE ? WRITTEN : 0);
}

static void collect_references(struct estimate *e)
{
    uint32_t count = e->f->inst_count;
    e->refs_of = arena_array(&e->scratch, uint32_t, count + 1);
    e->results_of = arena_array(&e->scratch, uint32_t, count + 1);
    e->ref_capacity = count * 4 + 16;
    e->ref = arena_array(&e->scratch, uint32_t, e->ref_capacity);
    for (uint32_t i = 0; i < count; i++) {
        e->refs_of[i] = e->ref_count;
        ptx_visit_regs(e->f, &e->f->insts[i], note_reference, e);
        uint32_t k = e->refs_of[i];
        while (k < e->ref_count && !(e->ref[k] & WRITTEN)) /* reads come first */
            k++;
        e->results_of[i] = k;
        for (; k < e->ref_count; k++)
            e->ref[k] &= ~WRITTEN;
    }
    e->refs_of[count] = e->ref_count;
}

static void find_definitions(struct estimate *e)
{
    for (uint32_t i = 0; i < e->f->inst_count; i++)
        for (uint32_t k = e->results_of[i]; k < e->refs_of[i + 1]; k++) {
            uint32_t *d = &e->definition[e->ref[k]];
            *d = *d == UNDEFINED && !(e->traits[i] & GUARDED) ? i : MANY;
        }
}

/* ------------------------------------------------------------- values that cost nothing, or less */

static bool reads_constant_bank(const struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_INT || o->kind == PTX_OPERAND_FLOAT || o->kind == PTX_OPERAND_SYMBOL)
        return true;
    return o->kind == PTX_OPERAND_SPECIAL && ((o->special >= PTX_SREG_NTID_X && o->special <= PTX_SREG_NTID_W) ||
                                              (o->special >= PTX_SREG_NCTAID_X && o->special <= PTX_SREG_NCTAID_W));
}

/* What stays alive in place of reg, the result of instruction i alone. A source must keep its value, so it has one
 * definition too. */
static uint32_t find_stand_in(const struct estimate *e, uint32_t i, uint32_t reg)
{
    const struct ptx_inst *in = &e->f->insts[i];
    if (e->traits[i] & LOADS_CONSTANT ||
        (in->opcode == PTX_OP_mov && in->operand_count == 2 && reads_constant_bank(&in->operands[1])))
        return NOTHING;
    if (in->operand_count < 2 || in->operands[1].kind != PTX_OPERAND_REG)
        return reg;
    uint32_t source = in->operands[1].reg->index;
    if (e->definition[source] >= MANY)
        return reg;
    bool same =
        in->opcode == PTX_OP_cvta || in->opcode == PTX_OP_mov || (e->traits[i] & WIDENS && e->only_in_addresses[reg]);
    return same ? e->stand_in[source] : reg;
}

static void find_stand_ins(struct estimate *e)
{
    const struct ptx_function *f = e->f;
    for (uint32_t r = 0; r < f->reg_count; r++) {
        e->stand_in[r] = r;
        e->only_in_addresses[r] = true;
    }
    for (uint32_t i = 0; i < f->inst_count; i++)
        if (!(e->traits[i] & (ADDS_ADDRESS | WIDENS)))
            for (uint32_t k = e->refs_of[i]; k < e->results_of[i]; k++)
                e->only_in_addresses[e->ref[k]] = false;
    for (uint32_t i = f->inst_count; i-- > 0;) /* what a widening reads is an address's part when its result is */
        if (e->traits[i] & WIDENS && !e->only_in_addresses[f->insts[i].operands[0].reg->index])
            e->only_in_addresses[f->insts[i].operands[1].reg->index] = false;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        uint32_t first = e->results_of[i], end = e->refs_of[i + 1];
        for (uint32_t k = first; k < end; k++)
            if (e->definition[e->ref[k]] == i && (end - first == 1 || e->traits[i] & LOADS_CONSTANT))
                e->stand_in[e->ref[k]] = find_stand_in(e, i, e->ref[k]);
    }
}

/* The definition of a value that another register stands for defines nothing. */
static void substitute(struct estimate *e)
{
    for (uint32_t i = 0; i < e->f->inst_count; i++) {
        for (uint32_t k = e->refs_of[i]; k < e->results_of[i]; k++)
            e->ref[k] = e->stand_in[e->ref[k]];
        for (uint32_t k = e->results_of[i]; k < e->refs_of[i + 1]; k++)
            e->ref[k] = e->stand_in[e->ref[k]] == e->ref[k] ? e->ref[k] : NOTHING;
    }
}

/* ------------------------------------------------------------- what is alive at the edges of blocks */

static bool counts(const struct estimate *e, uint32_t reg) { return reg != NOTHING && e->units[reg]; }

static void find_crossing(struct estimate *e)
{
    for (uint32_t b = 0; b < e->cfg->block_count; b++)
        for (uint32_t i = e->cfg->blocks[b].first; i < e->cfg->blocks[b].end; i++) {
            for (uint32_t k = e->refs_of[i]; k < e->results_of[i]; k++) {
                uint32_t r = e->ref[k];
                if (counts(e, r) && e->written_in[r] != b + 1 && e->number[r] == NOT_CROSSING)
                    e->register_of[e->number[r] = e->crossing_count++] = r;
            }
            for (uint32_t k = e->results_of[i]; !(e->traits[i] & GUARDED) && k < e->refs_of[i + 1]; k++)
                if (e->ref[k] != NOTHING)
                    e->written_in[e->ref[k]] = b + 1;
        }
}

static void find_reads_and_writes(struct estimate *e)
{
    for (uint32_t b = 0; b < e->cfg->block_count; b++) {
        uint64_t *reads = e->reads + (size_t)b * e->words, *writes = e->writes + (size_t)b * e->words;
        for (uint32_t i = e->cfg->blocks[b].first; i < e->cfg->blocks[b].end; i++) {
            for (uint32_t k = e->refs_of[i]; k < e->refs_of[i + 1]; k++) {
                uint32_t n = e->ref[k] == NOTHING ? NOT_CROSSING : e->number[e->ref[k]];
                if (n == NOT_CROSSING)
                    continue;
                uint64_t bit = (uint64_t)1 << n % WORD_BITS;
                if (k >= e->results_of[i])
                    writes[n / WORD_BITS] |= e->traits[i] & GUARDED ? 0 : bit;
                else
                    reads[n / WORD_BITS] |= bit & ~writes[n / WORD_BITS];
            }
        }
    }
}

static const uint64_t *live_into(const struct estimate *e, uint32_t block)
{
    return e->live_in + (size_t)block * e->words;
}

/* The set alive at a block's end: most have one or two successors. */
static const uint64_t *find_live_out(struct estimate *e, uint32_t block)
{
    const struct ptx_block *b = &e->cfg->blocks[block];
    if (b->succ_count == 1)
        return live_into(e, b->succs[0]);
    const uint64_t *first = b->succ_count ? live_into(e, b->succs[0]) : e->none,
                   *second = b->succ_count ? live_into(e, b->succs[1]) : e->none;
    for (uint32_t w = 0; w < e->words; w++)
        e->live_out[w] = first[w] | second[w];
    for (uint32_t s = 2; s < b->succ_count; s++)
        for (uint32_t w = 0; w < e->words; w++)
            e->live_out[w] |= live_into(e, b->succs[s])[w];
    return e->live_out;
}

static bool update_block(struct estimate *e, uint32_t b)
{
    uint64_t changed = 0, *in = e->live_in + (size_t)b * e->words;
    const uint64_t *reads = e->reads + (size_t)b * e->words, *writes = e->writes + (size_t)b * e->words,
                   *out = find_live_out(e, b);
    for (uint32_t w = 0; w < e->words; w++) {
        uint64_t live = reads[w] | (out[w] & ~writes[w]);
        changed |= live ^ in[w];
        in[w] = live;
    }
    return changed != 0;
}

/* Rounds from the end of the text: about as many as loops are deep. */
static void solve(struct estimate *e)
{
    bool *waiting = arena_array(&e->scratch, bool, e->cfg->block_count);
    memset(waiting, true, e->cfg->block_count);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t b = e->cfg->block_count; b-- > 0;) {
            if (!waiting[b])
                continue;
            waiting[b] = false;
            if (!update_block(e, b))
                continue;
            for (uint32_t p = 0; p < e->cfg->blocks[b].pred_count; p++)
                waiting[e->cfg->blocks[b].preds[p]] = true;
            again = true;
        }
    }
}

static void find_liveness(struct estimate *e)
{
    find_crossing(e);
    e->words = (e->crossing_count + WORD_BITS - 1) / WORD_BITS;
    size_t total = (size_t)e->words * e->cfg->block_count;
    e->reads = arena_array(&e->scratch, uint64_t, total);
    e->writes = arena_array(&e->scratch, uint64_t, total);
    e->live_in = arena_array(&e->scratch, uint64_t, total);
    e->live_out = arena_array(&e->scratch, uint64_t, e->words);
    e->none = arena_array(&e->scratch, uint64_t, e->words);
    e->leaving = arena_array(&e->scratch, uint32_t, e->crossing_count);
    find_reads_and_writes(e);
    solve(e);
}

/* ------------------------------------------------------------- instructions move up */

static uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Keys of the last instructions in the block that a load may not pass. */
struct memory_order {
    uint32_t any;    /* barriers, atomics, fences, calls, and stores to generic addresses */
    uint32_t stored; /* the last store */
    uint32_t stored_to[PTX_SPACE_TEX + 1];
};

static uint32_t after_stores(const struct estimate *e, const struct memory_order *m, uint32_t i)
{
    if (e->traits[i] & PASSES_STORES)
        return m->any;
    return later(m->any, e->space[i] == PTX_SPACE_NONE ? m->stored : m->stored_to[e->space[i]]);
}

static void note_memory(const struct estimate *e, struct memory_order *m, uint32_t i)
{
    if (e->traits[i] & STORES)
        m->stored = m->stored_to[e->space[i]] = i;
    else if (e->traits[i] & FIXED)
        m->any = i;
}

/* The place from which instruction i could run: that of an earlier instruction, or its own. */
static uint32_t find_key(const struct estimate *e, const struct ptx_block *b, uint32_t i, const struct memory_order *m)
{
    uint32_t key = i - b->first > REACH ? i - REACH : b->first;
    if (e->traits[i] & FIXED)
        return i;
    if (e->traits[i] & LOADS)
        key = later(key, after_stores(e, m, i));
    for (uint32_t k = e->refs_of[i]; k < e->results_of[i]; k++)
        if (e->ref[k] != NOTHING)
            key = later(key, e->ready_at[e->ref[k]]);
    for (uint32_t k = e->results_of[i]; k < e->refs_of[i + 1]; k++)
        if (e->ref[k] != NOTHING)
            key = later(key, later(e->read_at[e->ref[k]], e->defined_at[e->ref[k]]));
    return key < i ? key : i; /* what it waits for has a key below i: only the wait may go beyond */
}

static void note_key(struct estimate *e, uint32_t i)
{
    uint32_t key = e->key[i], wait = e->traits[i] & LOADS ? LOAD_WAIT : WAIT;
    for (uint32_t k = e->refs_of[i]; k < e->results_of[i]; k++)
        if (e->ref[k] != NOTHING)
            e->read_at[e->ref[k]] = later(key, e->read_at[e->ref[k]]);
    for (uint32_t k = e->results_of[i]; k < e->refs_of[i + 1]; k++)
        if (e->ref[k] != NOTHING) {
            e->defined_at[e->ref[k]] = key;
            e->ready_at[e->ref[k]] = key + wait;
        }
}

static void find_keys(struct estimate *e, const struct ptx_block *b)
{
    struct memory_order m = {0};
    for (uint32_t k = e->refs_of[b->first]; k < e->refs_of[b->end]; k++)
        if (e->ref[k] != NOTHING)
            e->defined_at[e->ref[k]] = e->ready_at[e->ref[k]] = e->read_at[e->ref[k]] = b->first;
    for (uint32_t i = b->first; i < b->end; i++) {
        e->key[i] = find_key(e, b, i, &m);
        note_key(e, i);
        note_memory(e, &m, i);
    }
}

/* order[] of the block's places becomes its instructions by key, those of one key in the order of the text. */
static void reorder(struct estimate *e, const struct ptx_block *b)
{
    find_keys(e, b);
    for (uint32_t i = b->first; i < b->end; i++)
        e->first_of_key[i] = UINT32_MAX;
    for (uint32_t i = b->end; i-- > b->first;) {
        e->next[i] = e->first_of_key[e->key[i]];
        e->first_of_key[e->key[i]] = i;
    }
    uint32_t place = b->first;
    for (uint32_t key = b->first; key < b->end; key++)
        for (uint32_t i = e->first_of_key[key]; i != UINT32_MAX; i = e->next[i])
            e->order[place++] = i;
}

/* Results of the loads of a small loop of one block: those of the next round are under way beside them. */
static uint32_t next_round_units(const struct estimate *e, const struct ptx_block *b)
{
    if (b->loop == PTX_NO_LOOP || e->cfg->loops[b->loop].block_count > 1 || b->end - b->first > LARGEST_LOOP)
        return 0;
    uint32_t units = 0;
    for (uint32_t i = b->first; i < b->end; i++) {
        if (ptx_flags(&e->f->insts[i]) & (PTX_F_BARRIER | PTX_F_CALL | PTX_F_ATOMIC | PTX_F_TEXTURE))
            return 0;
        for (uint32_t k = e->results_of[i]; e->traits[i] & LOADS && k < e->refs_of[i + 1]; k++)
            units += counts(e, e->ref[k]) ? e->units[e->ref[k]] : 0;
    }
    return units;
}

/* ------------------------------------------------------------- counting */

enum sequence { ONE_INSTRUCTION, INLINE_SEQUENCE, SUBROUTINE };

/* Integer division, and what rounds correctly: the latter, and division on 64 bits, keeps its rare cases in a
 * subroutine. */
static enum sequence sequence_of(const struct ptx_inst *in)
{
    if (in->opcode != PTX_OP_div && in->opcode != PTX_OP_rem && in->opcode != PTX_OP_sqrt && in->opcode != PTX_OP_rcp)
        return ONE_INSTRUCTION;
    enum ptx_type type = last_type(in);
    if (ptx_type_is_float(type))
        return ptx_has_modifier(in, PTX_MOD_APPROX) || ptx_has_modifier(in, PTX_MOD_FULL) ? ONE_INSTRUCTION
                                                                                          : SUBROUTINE;
    if (in->operand_count < 3 || in->operands[2].kind == PTX_OPERAND_INT) /* by a literal: a multiplication */
        return ONE_INSTRUCTION;
    return ptx_type_bits(type) == 64 ? SUBROUTINE : INLINE_SEQUENCE;
}

static uint32_t units_inside(const struct ptx_inst *in)
{
    if (sequence_of(in) == ONE_INSTRUCTION)
        return 0;
    return ptx_type_bits(last_type(in)) == 64 ? 2 * SEQUENCE_NEEDS : SEQUENCE_NEEDS;
}

static uint32_t make_live(struct estimate *e, uint32_t reg)
{
    if (!counts(e, reg) || e->live[reg])
        return 0;
    e->live[reg] = true;
    return e->units[reg];
}

static uint32_t make_dead(struct estimate *e, uint32_t reg)
{
    if (!counts(e, reg) || !e->live[reg])
        return 0;
    e->live[reg] = false;
    return e->units[reg];
}

static void list_leaving(struct estimate *e, uint32_t block)
{
    const uint64_t *out = find_live_out(e, block);
    e->leaving_count = 0;
    for (uint32_t w = 0; w < e->words; w++)
        for (uint64_t rest = out[w]; rest; rest &= rest - 1)
            e->leaving[e->leaving_count++] = e->register_of[w * WORD_BITS + (uint32_t)__builtin_ctzll(rest)];
}

/* Over the block's instructions backward, in the order given. Leaves nothing alive. */
static uint32_t count_block(struct estimate *e, const struct ptx_block *b, const uint32_t *order)
{
    uint32_t units = 0, most = 0;
    for (uint32_t n = 0; n < e->leaving_count; n++)
        units += make_live(e, e->leaving[n]);
    most = units;
    for (uint32_t place = b->end; place-- > b->first;) {
        uint32_t i = order ? order[place] : place, unread = 0;
        for (uint32_t k = e->results_of[i]; k < e->refs_of[i + 1]; k++)
            unread += counts(e, e->ref[k]) && !e->live[e->ref[k]] ? e->units[e->ref[k]] : 0;
        most = later(most, units + unread);
        for (uint32_t k = e->results_of[i]; !(e->traits[i] & GUARDED) && k < e->refs_of[i + 1]; k++)
            units -= make_dead(e, e->ref[k]);
        for (uint32_t k = e->refs_of[i]; k < e->results_of[i]; k++)
            units += make_live(e, e->ref[k]);
        most = later(most, units + units_inside(&e->f->insts[i]));
    }
    for (uint32_t n = 0; n < e->leaving_count; n++)
        make_dead(e, e->leaving[n]);
    for (uint32_t k = e->refs_of[b->first]; k < e->refs_of[b->end]; k++)
        make_dead(e, e->ref[k]);
    return most;
}

/* ------------------------------------------------------------- the estimate */

static void prepare(struct estimate *e)
{
    uint32_t regs = e->f->reg_count, insts = e->f->inst_count;
    e->stand_in = arena_array(&e->scratch, uint32_t, regs);
    e->definition = arena_array(&e->scratch, uint32_t, regs);
    e->only_in_addresses = arena_array(&e->scratch, bool, regs);
    e->traits = arena_array(&e->scratch, uint8_t, insts);
    e->space = arena_array(&e->scratch, uint8_t, insts);
    e->units = arena_array(&e->scratch, uint8_t, regs);
    e->number = arena_array(&e->scratch, uint32_t, regs);
    e->register_of = arena_array(&e->scratch, uint32_t, regs);
    e->written_in = arena_array(&e->scratch, uint32_t, regs);
    e->defined_at = arena_array(&e->scratch, uint32_t, regs);
    e->ready_at = arena_array(&e->scratch, uint32_t, regs);
    e->read_at = arena_array(&e->scratch, uint32_t, regs);
    e->live = arena_array(&e->scratch, bool, regs);
    e->key = arena_array(&e->scratch, uint32_t, insts);
    e->next = arena_array(&e->scratch, uint32_t, insts);
    e->first_of_key = arena_array(&e->scratch, uint32_t, insts);
    e->order = arena_array(&e->scratch, uint32_t, insts);
    for (uint32_t r = 0; r < regs; r++) {
        e->units[r] = (uint8_t)ptx_reg_units(e->f->regs[r]);
        e->definition[r] = UNDEFINED;
        e->number[r] = NOT_CROSSING;
    }
}

/* On targets before sm_20. Returns whether any register of 64 bits is left. */
static bool narrow_addresses(struct estimate *e)
{
    bool *is_address = arena_array(&e->scratch, bool, e->f->reg_count), pairs = false;
    ptx_find_addresses(e->f, is_address);
    for (uint32_t r = 0; r < e->f->reg_count; r++) {
        e->units[r] = is_address[r] ? 1 : e->units[r];
        pairs |= e->units[r] > 1;
    }
    return pairs;
}

/* How many registers a thread can have while a core is full of threads: 64 K among 1,024, 1,536 or 2,048; 8 K among
 * 768 and 16 K among 1,024 before sm_20. */
static uint32_t free_registers(int target_sm)
{
    switch (target_sm) {
    case 10:
    case 11: return 10;
    case 12:
    case 13: return 16;
    case 75: return 64;
    case 86:
    case 87:
    case 88:
    case 89:
    case 110:
    case 120:
    case 121: return 40;
    default: return 32;
    }
}

/* The least that calls leave a function with. */
static uint32_t calls_need(const struct ptx_function *f, int target_sm)
{
    for (uint32_t i = 0; i < f->inst_count; i++)
        if (ptx_flags(&f->insts[i]) & PTX_F_CALL || (target_sm >= 70 && sequence_of(&f->insts[i]) == SUBROUTINE))
            return CALL_NEEDS;
    return 0;
}

/* The most that the target and the function's own directives allow. */
static uint32_t most_registers(const struct ptx_function *f, int target_sm)
{
    uint32_t most = target_sm < 20 ? MOST_BEFORE_SM20 : target_sm < 35 ? MOST_BEFORE_SM35 : MOST_REGISTERS;
    const uint32_t *block = f->reqntid[0] ? f->reqntid : f->maxntid;
    uint64_t threads = capped_volume((uint32_t[3]){later(block[0], 1), later(block[1], 1), later(block[2], 1)});
    threads = capped_multiply(threads, later(f->minnctapersm, 1));
    uint64_t each = REGISTER_FILE / threads / 8 * 8;
    if (block[0] && each && each < most)
        most = (uint32_t)each;
    return f->maxnreg && f->maxnreg < most ? f->maxnreg : most;
}

static uint32_t result_units(const struct estimate *e, const struct ptx_block *b)
{
    uint32_t units = 0;
    for (uint32_t i = b->first; i < b->end; i++)
        for (uint32_t k = e->results_of[i]; k < e->refs_of[i + 1]; k++)
            units += counts(e, e->ref[k]) ? e->units[e->ref[k]] : 0;
    return units;
}

static void weigh_block(struct estimate *e, uint32_t block, struct ptx_register_estimate *r)
{
    const struct ptx_block *b = &e->cfg->blocks[block];
    list_leaving(e, block);
    uint32_t in_order = count_block(e, b, NULL);
    r->in_order = later(r->in_order, in_order);
    r->overlapped = later(r->overlapped, in_order);
    /* More overlap changes nothing, or no order could beat what there is, were all results of this round and the next
     * alive at once. */
    if (r->overlapped + r->kept >= r->free || in_order + 2 * result_units(e, b) <= r->overlapped)
        return;
    reorder(e, b);
    r->overlapped = later(r->overlapped, count_block(e, b, e->order) + next_round_units(e, b));
}

struct ptx_register_estimate ptx_estimate_registers(const struct ptx_function *f, const struct ptx_cfg *cfg,
                                                    int target_sm)
{
    struct estimate e = {.f = f, .cfg = cfg};
    struct ptx_register_estimate r = {.free = free_registers(target_sm)};
    prepare(&e);
    bool narrow = target_sm < 20, pairs = !narrow || narrow_addresses(&e);
    r.kept = (narrow ? 0 : STACK_POINTER) + (target_sm >= 70 ? KEPT_SINCE_SM70 : 0) + (pairs ? LOST_TO_ALIGNMENT : 0);
    find_traits(&e);
    collect_references(&e);
    find_definitions(&e);
    find_stand_ins(&e);
    substitute(&e);
    find_liveness(&e);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        weigh_block(&e, b, &r);
    arena_free(&e.scratch);
    uint32_t overlapped = r.overlapped + r.kept < r.free ? r.overlapped + r.kept : r.free,
             most = most_registers(f, target_sm);
    r.registers = later(later(r.in_order + r.kept, overlapped), calls_need(f, target_sm));
    r.registers = r.registers < most ? r.registers : most;
    return r;
}
