/* The cost of an instruction on a sub-core. Most have a row in hopper.def; this file has conversions, matrix
 * products, moves, waits that are not for a register, and the pipeline that the assembler chooses. */
#include "ptx/cfg.h"
#include "ptx/lowering.h"
#include "sm/program.h"

#include <stdlib.h>
#include <string.h>

enum cost_type { ANY, I32, S32, I64, F16, F32, F64 };

struct cost_row {
    uint16_t opcode, modifier;
    uint8_t type, unit;
    uint16_t latency;
    float initiation;
};

#define PTX_MOD_NONE PTX_NO_MODIFIER
static const struct cost_row rows[] = {
#define COST(op, type, modifier, unit, latency, initiation) \
    {PTX_OP_##op, PTX_MOD_##modifier, type, unit, latency, initiation},
#include "sm/hopper.def"
#undef COST
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static enum cost_type type_of(enum ptx_type t)
{
    uint32_t bits = (uint32_t)ptx_type_bits(t);
    switch (t) {
    case PTX_F16:
    case PTX_F16X2:
    case PTX_BF16:
    case PTX_BF16X2: return F16;
    case PTX_F64: return F64;
    case PTX_NO_TYPE: return ANY;
    default:
        if (ptx_type_is_float(t))
            return F32;
        return bits > 32 ? I64 : I32;
    }
}

static void set(struct sm_inst *s, enum sm_unit unit, uint32_t latency, float initiation)
{
    s->unit = (uint8_t)unit;
    s->latency = (uint16_t)latency;
    s->initiation = (uint16_t)(initiation + 0.5f);
    s->interval = (uint16_t)(initiation * 8 + 0.5f);
}

/* Measured there and back: cvt.f32.s32+back 23 cycles, cvt.f64...+back 36 and 17 cycles of the pipeline for the two,
 * cvt.f16.f32+back 10, cvt.s8 4. Widths of integers: 64 bits and floating point are estimated. */
static void set_conversion(struct sm_inst *s, const struct ptx_inst *in)
{
    enum cost_type to = type_of((enum ptx_type)in->types[0]), from = type_of((enum ptx_type)in->types[1]);
    bool to_integer = to == I32 || to == I64, from_integer = from == I32 || from == I64;
    if (to_integer && from_integer)
        set(s, SM_ALU, 4, 2);
    else if (to == F64 || from == F64 || to == I64 || from == I64)
        set(s, SM_SFU, 18, 8.5f);
    else if (to_integer || (to == from && to == F32)) /* F2I, or FRND: rounding to an integer that stays floating */
        set(s, SM_SFU, 17, 8);
    else if (from_integer)
        set(s, SM_ALU, 4, 2); /* I2FP */
    else
        set(s, to == F32 ? SM_SP : SM_ALU, 4, 2); /* HADD2.F32, F2FP */
}

/* Measured: mma.sync has 24 cycles and an interval of 6 if a column of its first factor has 256 bits (m16n8k16 of 16
 * bits, m16n8k8 of 32, m16n8k32 of 8), 17 and 4 if it has 128. Other columns are in proportion. */
static void set_product(struct sm_inst *s, const struct ptx_inst *in)
{
    uint32_t k = 16, bits = in->type_count > 1 ? (uint32_t)ptx_type_bits((enum ptx_type)in->types[1]) : 16;
    for (uint32_t i = 0; i < in->modifier_count; i++) {
        const char *name = ptx_modifier_name((enum ptx_modifier)in->modifiers[i]), *at = strrchr(name, 'k');
        if (name[0] == 'm' && at && at > name && at[1] >= '0' && at[1] <= '9')
            k = (uint32_t)strtoul(at + 1, NULL, 10);
    }
    uint32_t column = k * bits;
    if (column <= 128)
        set(s, SM_TENSOR, 17, 4);
    else
        set(s, SM_TENSOR, 24 * ((column + 255) / 256), 6 * ((column + 255) / 256));
}

/* Special registers come through a slow path (S2R), but not the clock and the lane number. */
static bool reads_special(const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind == PTX_OPERAND_SPECIAL)
            return true;
    return false;
}

static bool fits(const struct cost_row *r, enum ptx_type t)
{
    enum cost_type type = type_of(t);
    return r->type == ANY || r->type == type || (r->type == S32 && type == I32 && ptx_type_is_signed(t));
}

static void set_from_rows(struct sm_inst *s, const struct ptx_inst *in)
{
    enum ptx_type type = in->type_count ? (enum ptx_type)in->types[in->type_count - 1] : PTX_NO_TYPE;
    set(s, SM_ALU, 4, 2);
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        const struct cost_row *r = &rows[i];
        if (r->opcode == in->opcode && fits(r, type) &&
            (r->modifier == PTX_NO_MODIFIER || ptx_has_modifier(in, (enum ptx_modifier)r->modifier))) {
            set(s, r->unit, r->latency, r->initiation);
            return;
        }
    }
}

/* ldmatrix and stmatrix: one cycle for each matrix, measured. */
static uint32_t passes(const struct ptx_inst *in)
{
    if (in->opcode != PTX_OP_ldmatrix && in->opcode != PTX_OP_stmatrix)
        return 1;
    if (ptx_has_modifier(in, PTX_MOD_X4))
        return 4;
    return ptx_has_modifier(in, PTX_MOD_X2) ? 2 : 1;
}

/* A sub-core sends an instruction to memory every fourth cycle: the assembler puts those of a warp so far apart, and
 * a whole core's shared memory takes one in each cycle (rate/ld.shared.u32). */
enum { MEMORY_INTERVAL = 4 };

/* A store hands over one register of data after the other: latency/st+ld.volatile.shared.v2, v4, chase/st+ld. */
static uint32_t registers_stored(const struct ptx_inst *in)
{
    if (in->opcode != PTX_OP_st || !in->type_count)
        return 1;
    static const struct {
        enum ptx_modifier modifier;
        uint32_t elements;
    } vectors[] = {{PTX_MOD_V2, 2}, {PTX_MOD_V4, 4}, {PTX_MOD_V8, 8}};
    uint32_t count = 1;
    for (uint32_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (ptx_has_modifier(in, vectors[i].modifier))
            count = vectors[i].elements;
    return (count * (uint32_t)ptx_type_bits((enum ptx_type)in->types[in->type_count - 1]) + 31) / 32;
}

/* The cost of shuffles and other instructions before the access and after it: latency/atom.shared.add.u32.same if
 * the lanes share sums, else red.shared.add.u32.same. The time until a result that is not such a sum is not known. */
static void set_adding_cost(struct sm_inst *s)
{
    s->shared_passes = 1;
    if (s->adds_up == PTX_ADDS_BEFORE) {
        s->adding = 229;
        s->own_wait = 0;
        set(s, SM_MEM, s->latency, 44.875);
    } else {
        s->adding = 30;
        s->own_wait = 11;
        set(s, SM_MEM, s->latency, 10.125);
    }
}

static void set_fence(struct sm_inst *s, bool of_block, const struct sm_config *c)
{
    if (of_block) { /* latency/membar.cta, rate/membar.cta */
        set(s, SM_MEM, 4, 6);
        s->initiation = 1;
    } else {
        set(s, SM_MEM, c->fence_latency, 1);
        s->initiation = (uint16_t)c->fence_initiation;
    }
}

static void set_cost(struct sm_inst *s, const struct ptx_inst *in, const struct sm_config *c)
{
    s->shared_passes = (uint8_t)passes(in);
    const struct ptx_opcode_info *op = &ptx_opcodes[in->opcode];
    bool waits = !ptx_has_modifier(in, PTX_MOD_WARP) && !ptx_has_modifier(in, PTX_MOD_ARRIVE);
    if (ptx_flags(in) & PTX_F_FENCE) {
        set_fence(s, ptx_has_modifier(in, PTX_MOD_CTA), c);
    } else if (op->unit == PTX_UNIT_MEM) /* an atomic of shared memory takes 3 cycles more than a load: measured */
        set(s, SM_MEM, ptx_flags(in) & PTX_F_ATOMIC ? 4 : 1,
            s->memory == SM_CONST ? 1 : (float)(MEMORY_INTERVAL * registers_stored(in)));
    else if (ptx_flags(in) & PTX_F_BRANCH)
        set(s, SM_CONTROL, c->branch_latency ? c->branch_latency : 1, 1);
    else if ((ptx_flags(in) & PTX_F_BARRIER) && waits)
        set(s, SM_BARRIER, 1, c->barrier_initiation);
    else if (ptx_flags(in) & PTX_F_BARRIER)
        set(s, SM_CONTROL, 1, 1);
    else if (in->opcode == PTX_OP_cvt && in->type_count == 2)
        set_conversion(s, in);
    else if (in->opcode == PTX_OP_mma && in->type_count && in->types[in->type_count - 1] != PTX_F64)
        set_product(s, in);
    else if (in->opcode == PTX_OP_mov && reads_special(in))
        set(s, SM_LANES, c->special_latency, 4);
    else
        set_from_rows(s, in);
}

/* The stall counts that ptxas writes down. Of these, add.s32+xor (5 each way), rcp+add (19 and 4), setp+vote.ballot
 * (13 and 4), loop.16 (6 and 13) were measured. */
static uint32_t crossing(const struct sm_inst *from, const struct sm_inst *to, bool as_guard)
{
    enum { FMA = 1 << SM_SP | 1 << SM_SP_OR_SFU, SIMPLE = FMA | 1 << SM_ALU };
    uint32_t a = 1u << from->unit, b = 1u << to->unit;
    if (as_guard && a == 1 << SM_ALU)
        return 9;
    if (as_guard)
        return a == 1 << SM_DP ? 6 : 0;
    if (a == b || ((a & FMA) && (b & FMA)))
        return 0;
    if (a == 1 << SM_UNIFORM || a == 1 << SM_SFU || a == 1 << SM_DP)
        return 2;
    if (!(a & SIMPLE) || b == 1 << SM_SFU)
        return 0;
    return b == 1 << SM_DP ? 2 : 1;
}

/* The assembler's choice of pipelines.
 *
 * Additions of 32 bits, and shifts by a constant, are there twice: IADD3 and SHF, or IMAD.IADD, VIADD and IMAD.SHL
 * on the multiplier, where ptxas puts two thirds of the additions. It gives both pipelines work: here an instruction
 * goes to the one that has less to do in its basic block. */
static bool has_choice(const struct ptx_inst *in)
{
    bool is_word = in->type_count == 1 && type_of((enum ptx_type)in->types[0]) == I32 &&
                   ptx_type_bits((enum ptx_type)in->types[0]) == 32;
    return is_word && (in->opcode == PTX_OP_add || in->opcode == PTX_OP_sub ||
                       (in->opcode == PTX_OP_shl && in->operands[2].kind == PTX_OPERAND_INT));
}

struct load {
    uint32_t alu, multiplier; /* cycles */
};

static void count(struct load *load, const struct sm_inst *s)
{
    if (s->unit == SM_ALU)
        load->alu += 2;
    else if (s->unit == SM_SP)
        load->multiplier += 2;
    else if (s->unit == SM_SP_OR_SFU) /* the other half of the multiplier takes as many */
        load->multiplier++;
}

/* `joined` says of each instruction whether others are part of it (LEA, IADD3 of three operands): only the adder has
 * those. */
static void balance(struct sm_inst *code, const struct exec_function *f, const struct ptx_block *block,
                    const bool *joined)
{
    struct load load = {0, 0};
    for (uint32_t chosen = 0; chosen < 2; chosen++)
        for (uint32_t i = block->first; i < block->end; i++) {
            bool choice = code[i].slots == 1 && code[i].unit == SM_ALU && !joined[i] && has_choice(&f->ptx->insts[i]);
            if (!code[i].slots || choice != chosen)
                continue;
            if (choice)
                set(&code[i], load.multiplier <= load.alu ? SM_SP : SM_ALU, 4, 2);
            count(&load, &code[i]);
        }
}

/* Is it a counter that goes in steps of a constant, alike for all threads of the warp? Such a counter is in a
 * uniform register: UIADD3. */
static bool is_uniform_counter(const struct exec_function *f, const struct ptx_lowering *l, uint32_t i)
{
    const struct ptx_inst *in = &f->ptx->insts[i];
    if (!has_choice(in) || in->opcode == PTX_OP_shl || in->guard || in->operands[0].kind != PTX_OPERAND_REG ||
        in->operands[1].kind != PTX_OPERAND_REG || in->operands[2].kind != PTX_OPERAND_INT ||
        f->cfg->blocks[f->cfg->block_of_inst[i]].loop == PTX_NO_LOOP)
        return false;
    uint32_t to = (uint32_t)in->operands[0].reg->index, from = (uint32_t)in->operands[1].reg->index;
    return !l->divergent[to] && l->register_of[to] == l->register_of[from];
}

/* An addition that does the work of a multiplication of integers: IMAD, IMAD.WIDE. */
static void make_product(struct sm_inst *code, const struct exec_function *f, const struct ptx_lowering *l, uint32_t i)
{
    const struct ptx_inst *in = &f->ptx->insts[i];
    uint32_t into = l->insts[i].into;
    bool fused = l->insts[i].fate == PTX_FATE_FUSED && into < f->inst_count && in->opcode == PTX_OP_mul &&
                 in->type_count && !ptx_type_is_float((enum ptx_type)in->types[0]);
    if (fused && code[into].unit == SM_ALU)
        set(&code[into], SM_SP, 4, ptx_has_modifier(in, PTX_MOD_WIDE) && !l->insts[into].narrow ? 4 : 2);
}

/* A field of bits at a fixed place: a byte is one PRMT, another a shift and a mask. */
static void make_field(struct sm_inst *s, const struct ptx_inst *in)
{
    if (in->opcode == PTX_OP_bfe && s->slots <= 2 && s->unit == SM_ALU)
        set(s, SM_ALU, 4u * s->slots, 2.0f * s->slots);
}

/* Products and sums of which only the lower half is used cost as much as those of 32 bits (latency/mad.wide.u32).
 * Logic has the cost of 64 bits: with that of 32, montecarlo_pi is slower by 7%, for a reason that is not known. */
static void make_narrow(struct sm_inst *s, const struct ptx_inst *in)
{
    if (in->opcode == PTX_OP_mul || in->opcode == PTX_OP_mad)
        set(s, SM_SP, 4, 2);
    else if (in->opcode == PTX_OP_add || in->opcode == PTX_OP_sub)
        set(s, SM_ALU, 4, 2);
}

static void choose_pipelines(struct sm_inst *code, const struct exec_function *f, const struct ptx_lowering *l)
{
    struct arena scratch = {0};
    bool *joined = arena_array(&scratch, bool, f->inst_count + 1);
    for (uint32_t i = 0; i < f->inst_count; i++)
        if (l->insts[i].narrow && code[i].slots == 1)
            make_narrow(&code[i], &f->ptx->insts[i]);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        make_product(code, f, l, i);
        make_field(&code[i], &f->ptx->insts[i]);
        if (l->insts[i].fate == PTX_FATE_FUSED && l->insts[i].into < f->inst_count)
            joined[l->insts[i].into] = true;
        if (code[i].slots == 1 && code[i].unit == SM_ALU && is_uniform_counter(f, l, i))
            set(&code[i], SM_UNIFORM, 4, 1);
    }
    for (uint32_t block = 0; block < f->cfg->block_count; block++)
        balance(code, f, &f->cfg->blocks[block], joined);
    arena_free(&scratch);
}

const struct core_code hopper_code = {.set_cost = set_cost,
                                      .awaits_branch = true,
                                      .lowers = true,
                                      .set_adding_cost = set_adding_cost,
                                      .choose_pipelines = choose_pipelines,
                                      .crossing = crossing};
