/* What an instruction costs on a sub-core: the rows of hopper.def, and what does not fit into rows: conversions, matrix
 * products, moves, what a warp waits for without a register. */
#include "sm/program.h"

#include <stdlib.h>
#include <string.h>

enum cost_type { ANY, I32, I64, F16, F32, F64 };

struct cost_row {
    uint16_t opcode, modifier;
    uint8_t type, unit;
    uint16_t latency, initiation;
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
    default: return ptx_type_is_float(t) ? F32 : bits > 32 ? I64 : I32;
    }
}

static void set(struct sm_inst *s, enum sm_unit unit, uint32_t latency, uint32_t initiation)
{
    s->unit = (uint8_t)unit;
    s->latency = (uint16_t)latency;
    s->initiation = (uint16_t)initiation;
}

/* Measured there and back: cvt.f32.s32+back 23 cycles, cvt.f64...+back 36, cvt.f16.f32+back 10, cvt.s8 4. Widths of
 * integers: 64 bits and floating point are estimated. */
static void set_conversion(struct sm_inst *s, const struct ptx_inst *in)
{
    enum cost_type to = type_of((enum ptx_type)in->types[0]), from = type_of((enum ptx_type)in->types[1]);
    bool to_integer = to == I32 || to == I64, from_integer = from == I32 || from == I64;
    if (to_integer && from_integer)
        set(s, SM_ALU, 4, 2);
    else if (to == F64 || from == F64 || to == I64 || from == I64)
        set(s, SM_SFU, 18, 8);
    else if (to_integer || (to == from && to == F32)) /* F2I; rounding to an integer that stays floating: FRND */
        set(s, SM_SFU, 17, 8);
    else if (from_integer)
        set(s, SM_ALU, 4, 2); /* I2FP */
    else
        set(s, to == F32 ? SM_SP : SM_ALU, 4, 2); /* HADD2.F32, F2FP */
}

/* mma.sync has 24 cycles and an interval of 6 where a column of its first factor has 256 bits (m16n8k16 of 16 bits,
 * m16n8k8 of 32, m16n8k32 of 8), 17 and 4 where it has 128: measured. More or less: in proportion. */
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

/* Special registers come through a slow path (S2R); the clock and the lane number do not. */
static bool reads_special(const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind == PTX_OPERAND_SPECIAL)
            return true;
    return false;
}

static void set_from_rows(struct sm_inst *s, const struct ptx_inst *in)
{
    enum cost_type type = type_of(in->type_count ? (enum ptx_type)in->types[in->type_count - 1] : PTX_NO_TYPE);
    set(s, SM_ALU, 4, 2);
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        const struct cost_row *r = &rows[i];
        if (r->opcode == in->opcode && (r->type == ANY || r->type == type) &&
            (r->modifier == PTX_NO_MODIFIER || ptx_has_modifier(in, (enum ptx_modifier)r->modifier))) {
            set(s, r->unit, r->latency, r->initiation);
            return;
        }
    }
}

/* ldmatrix and stmatrix: one cycle for each matrix, measured. */
static uint32_t passes(const struct ptx_inst *in)
{
    bool matrices = in->opcode == PTX_OP_ldmatrix || in->opcode == PTX_OP_stmatrix;
    return !matrices ? 1 : ptx_has_modifier(in, PTX_MOD_X4) ? 4 : ptx_has_modifier(in, PTX_MOD_X2) ? 2 : 1;
}

void sm_set_subcore_cost(struct sm_inst *s, const struct ptx_inst *in, const struct sm_config *c)
{
    s->shared_passes = (uint8_t)passes(in);
    const struct ptx_opcode_info *op = &ptx_opcodes[in->opcode];
    bool waits = !ptx_has_modifier(in, PTX_MOD_WARP) && !ptx_has_modifier(in, PTX_MOD_ARRIVE);
    if (ptx_flags(in) & PTX_F_FENCE)
        set(s, SM_MEM, ptx_has_modifier(in, PTX_MOD_CTA) ? 1 : c->fence_latency, 1);
    else if (op->unit == PTX_UNIT_MEM) /* an atomic of shared memory takes 3 cycles more than a load: measured */
        set(s, SM_MEM, ptx_flags(in) & PTX_F_ATOMIC ? 4 : 1, 1);
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

/* From one pipeline to another a result takes longer than to the next instruction of its own: measured, add.s32+xor
 * takes 10 cycles where each of the two takes 4 after its like; rcp+add 23, 17 and 4 alone. */
uint32_t sm_crossing(const struct sm_inst *from, const struct sm_inst *to)
{
    bool same = from->unit == to->unit || (from->unit == SM_SP && to->unit == SM_SP_OR_SFU) ||
                (from->unit == SM_SP_OR_SFU && to->unit == SM_SP);
    return same                                                                        ? 0
           : from->unit == SM_SFU                                                      ? 2
           : from->unit == SM_SP || from->unit == SM_SP_OR_SFU || from->unit == SM_ALU ? 1
                                                                                       : 0;
}
