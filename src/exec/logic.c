/* Logic and shifts: and or xor not cnot lop3 shf shl shr prmt. PTX ISA 9.7.7. */
#include "exec/int_ops.h"
#include "exec/lanes.h"
#include "exec/pick.h"

HANDLER_2(and_32, uint32_t, uint32_t, uint32_t, a &b)
HANDLER_2(and_64, uint64_t, uint64_t, uint64_t, a &b)
HANDLER_2(and_16, uint32_t, uint32_t, uint32_t, (uint16_t)(a &b))
HANDLER_2(or_32, uint32_t, uint32_t, uint32_t, a | b)
HANDLER_2(or_64, uint64_t, uint64_t, uint64_t, a | b)
HANDLER_2(or_16, uint32_t, uint32_t, uint32_t, (uint16_t)(a | b))
HANDLER_2(xor_32, uint32_t, uint32_t, uint32_t, a ^ b)
HANDLER_2(xor_64, uint64_t, uint64_t, uint64_t, a ^ b)
HANDLER_2(xor_16, uint32_t, uint32_t, uint32_t, (uint16_t)(a ^ b))
HANDLER_1(not_32, uint32_t, uint32_t, ~a)
HANDLER_1(not_64, uint64_t, uint64_t, ~a)
HANDLER_1(not_16, uint32_t, uint32_t, (uint16_t)~a)
HANDLER_1(cnot_32, uint32_t, uint32_t, a == 0)
HANDLER_1(cnot_64, uint64_t, uint64_t, a == 0)
HANDLER_1(cnot_16, uint32_t, uint32_t, (uint16_t)a == 0)

static const struct typed_handler and_rows[] = {{PTX_B32, and_32}, {PTX_B64, and_64}, {PTX_B16, and_16}};
static const struct typed_handler or_rows[] = {{PTX_B32, or_32}, {PTX_B64, or_64}, {PTX_B16, or_16}};
static const struct typed_handler xor_rows[] = {{PTX_B32, xor_32}, {PTX_B64, xor_64}, {PTX_B16, xor_16}};
static const struct typed_handler not_rows[] = {{PTX_B32, not_32}, {PTX_B64, not_64}, {PTX_B16, not_16}};
static const struct typed_handler cnot_rows[] = {{PTX_B32, cnot_32}, {PTX_B64, cnot_64}, {PTX_B16, cnot_16}};

/* Predicates. sub[i]: source i is negated. */
static void pred_and(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    write_pred(w, in->dst, mask, read_pred(w, in->src[0], in->sub[0]) & read_pred(w, in->src[1], in->sub[1]));
}

static void pred_or(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    write_pred(w, in->dst, mask, read_pred(w, in->src[0], in->sub[0]) | read_pred(w, in->src[1], in->sub[1]));
}

static void pred_xor(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    write_pred(w, in->dst, mask, read_pred(w, in->src[0], in->sub[0]) ^ read_pred(w, in->src[1], in->sub[1]));
}

static void pred_not(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    write_pred(w, in->dst, mask, ~read_pred(w, in->src[0], in->sub[0]));
}

static bool decode_logic_pred(struct decoder *d, exec_handler *fn, int sources)
{
    d->out->fn = fn;
    if (!decode_count(d, sources + 1, sources + 1) || !decode_pred_dst(d, decode_operand(d, 0), &d->out->dst))
        return false;
    for (int i = 0; i < sources; i++) {
        bool negated;
        if (!decode_pred_src(d, decode_operand(d, i + 1), &d->out->src[i], &negated))
            return false;
        d->out->sub[i] = negated;
    }
    return true;
}

bool decode_logic(struct decoder *d)
{
    static const struct {
        enum ptx_opcode opcode;
        int sources;
        const struct typed_handler *rows;
        exec_handler *pred;
    } ops[] = {
        {PTX_OP_and, 2, and_rows, pred_and}, {PTX_OP_or, 2, or_rows, pred_or},  {PTX_OP_xor, 2, xor_rows, pred_xor},
        {PTX_OP_not, 1, not_rows, pred_not}, {PTX_OP_cnot, 1, cnot_rows, NULL},
    };
    size_t k = 0;
    while (k < COUNT_OF(ops) - 1 && ops[k].opcode != d->in->opcode)
        k++;
    enum ptx_type t = decode_type(d, 0);
    if (!type_count_is(d, 1))
        return false;
    if (t == PTX_PRED && ops[k].pred)
        return decode_logic_pred(d, ops[k].pred, ops[k].sources);
    if (!pick_rows(d, ops[k].rows, COUNT_OF(and_rows), t))
        return false;
    return ops[k].sources == 2 ? TAKE_OPERANDS(d, t, t, t) : TAKE_OPERANDS(d, t, t);
}

/* lop3: imm is the truth table. Frequent tables have bodies of their own. */
#define LOP3_HANDLER(name, expression) HANDLER_3(name, uint32_t, uint32_t, uint32_t, uint32_t, expression)
LOP3_HANDLER(lop3_xor3, a ^ b ^ c)
LOP3_HANDLER(lop3_and3, a &b &c)
LOP3_HANDLER(lop3_or3, a | b | c)
LOP3_HANDLER(lop3_and_or, (a & b) | c)
LOP3_HANDLER(lop3_or_and, (a | b) & c)
LOP3_HANDLER(lop3_and_xor, (a & b) ^ c)
LOP3_HANDLER(lop3_select, (a & b) | (~a & c))
LOP3_HANDLER(lop3_majority, (a & b) | (c & (a | b)))

static const struct {
    uint8_t table;
    exec_handler *fn;
} lop3_rows[] = {
    {0x96, lop3_xor3},   {0x80, lop3_and3},    {0xfe, lop3_or3},    {0xea, lop3_and_or},
    {0xa8, lop3_or_and}, {0x6a, lop3_and_xor}, {0xca, lop3_select}, {0xe8, lop3_majority},
};

static void lop3_any(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t *d = lane_data(w, in->dst);
    const uint32_t *a = lane_data(w, in->src[0]), *b = lane_data(w, in->src[1]), *c = lane_data(w, in->src[2]);
    uint32_t table = (uint32_t)in->imm;
    FOR_EACH_LANE(mask, i)
        d[i] = lop3_32(a[i], b[i], c[i], table);
}

/* dst2 = (result != 0) op predicate src[3]. sub[0]: it is negated; sub[1]: and instead of or. */
static void lop3_pred(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t *d = lane_data(w, in->dst);
    const uint32_t *a = lane_data(w, in->src[0]), *b = lane_data(w, in->src[1]), *c = lane_data(w, in->src[2]);
    uint32_t nonzero = 0, with = read_pred(w, in->src[3], in->sub[0]);
    FOR_EACH_LANE(mask, i) {
        uint32_t result = lop3_32(a[i], b[i], c[i], (uint32_t)in->imm);
        nonzero |= (uint32_t)(result != 0) << i;
        d[i] = result;
    }
    write_pred(w, in->dst2, mask, in->sub[1] ? nonzero & with : nonzero | with);
}

static bool decode_lop3_table(struct decoder *d)
{
    int64_t table;
    if (!plain_operands(d) || !decode_immediate(d, 4, &table))
        return false;
    if (table < 0 || table > 255)
        return decode_wrong(d, decode_operand(d, 4), "the table of lop3 is a constant from 0 to 255");
    d->out->imm = table;
    return decode_src(d, 1, PTX_B32, &d->out->src[0]) && decode_src(d, 2, PTX_B32, &d->out->src[1]) &&
           decode_src(d, 3, PTX_B32, &d->out->src[2]);
}

bool decode_logic_lop3(struct decoder *d)
{
    if (!type_count_is(d, 1))
        return false;
    if (decode_type(d, 0) != PTX_B32)
        return wrong_type(d, decode_type(d, 0));
    bool with_and = decode_take(d, PTX_MOD_AND);
    if (with_and || decode_take(d, PTX_MOD_OR)) {
        const struct ptx_operand *pair = decode_operand(d, 0);
        bool negated;
        if (!decode_count(d, 6, 6))
            return false;
        if (pair->kind != PTX_OPERAND_PAIR)
            return decode_wrong(d, pair, "'%s' needs a destination d|p", d->in->spelling);
        if (!decode_dst_of(d, &pair->elements[0], PTX_B32, &d->out->dst) ||
            !decode_pred_dst(d, &pair->elements[1], &d->out->dst2) ||
            !decode_pred_src(d, decode_operand(d, 5), &d->out->src[3], &negated))
            return false;
        d->out->sub[0] = negated;
        d->out->sub[1] = with_and;
        d->out->fn = lop3_pred;
        return decode_lop3_table(d);
    }
    if (!decode_count(d, 5, 5) || !decode_dst(d, 0, PTX_B32, &d->out->dst) || !decode_lop3_table(d))
        return false;
    d->out->fn = lop3_any;
    for (size_t k = 0; k < COUNT_OF(lop3_rows); k++)
        if (lop3_rows[k].table == d->out->imm)
            d->out->fn = lop3_rows[k].fn;
    return true;
}

/* shl, shr: amounts are 32-bit; beyond the width nothing is left but the sign. */
#define SHIFT_HANDLER(name, U, expression) HANDLER_2(name, U, U, uint32_t, expression)
SHIFT_HANDLER(shl_lanes_16, uint32_t, (uint16_t)shl_32(a, b))
SHIFT_HANDLER(shl_lanes_32, uint32_t, shl_32(a, b))
SHIFT_HANDLER(shl_lanes_64, uint64_t, shl_64(a, b))
SHIFT_HANDLER(shr_lanes_u16, uint32_t, shr_u32((uint16_t)a, b))
SHIFT_HANDLER(shr_lanes_s16, uint32_t, (uint16_t)shr_s32((uint32_t)(int16_t)a, b))
SHIFT_HANDLER(shr_lanes_u32, uint32_t, shr_u32(a, b))
SHIFT_HANDLER(shr_lanes_s32, uint32_t, shr_s32(a, b))
SHIFT_HANDLER(shr_lanes_u64, uint64_t, shr_u64(a, b))
SHIFT_HANDLER(shr_lanes_s64, uint64_t, shr_s64(a, b))

static const struct typed_handler shl_rows[] = {
    {PTX_B32, shl_lanes_32}, {PTX_B64, shl_lanes_64}, {PTX_B16, shl_lanes_16}};
static const struct typed_handler shr_rows[] = {
    {PTX_U32, shr_lanes_u32}, {PTX_S32, shr_lanes_s32}, {PTX_B32, shr_lanes_u32},
    {PTX_U64, shr_lanes_u64}, {PTX_S64, shr_lanes_s64}, {PTX_B64, shr_lanes_u64},
    {PTX_U16, shr_lanes_u16}, {PTX_S16, shr_lanes_s16}, {PTX_B16, shr_lanes_u16},
};

bool decode_logic_shift(struct decoder *d)
{
    enum ptx_type t = decode_type(d, 0);
    bool picked = d->in->opcode == PTX_OP_shl ? PICK(d, shl_rows, t) : PICK(d, shr_rows, t);
    return picked && type_count_is(d, 1) && TAKE_OPERANDS(d, t, t, PTX_U32);
}

/* shf: the 64 bits {b, a}; left gives the upper word, right the lower one. */
#define FUNNEL(name, expression) HANDLER_3(name, uint32_t, uint32_t, uint32_t, uint32_t, expression)
#define BOTH                     ((uint64_t)b << 32 | a)
FUNNEL(shf_l_wrap, BOTH << (c & 31) >> 32)
FUNNEL(shf_r_wrap, BOTH >> (c & 31))
FUNNEL(shf_l_clamp, BOTH << (c > 32 ? 32 : c) >> 32)
FUNNEL(shf_r_clamp, BOTH >> (c > 32 ? 32 : c))

bool decode_logic_shf(struct decoder *d)
{
    static const enum ptx_modifier ways[] = {PTX_MOD_L, PTX_MOD_R}, modes[] = {PTX_MOD_WRAP, PTX_MOD_CLAMP};
    static exec_handler *const handlers[2][2] = {{shf_l_wrap, shf_l_clamp}, {shf_r_wrap, shf_r_clamp}};
    int way = decode_take_one(d, ways, 2), mode = decode_take_one(d, modes, 2);
    if (way < 0)
        return decode_wrong(d, NULL, "'%s' needs .l or .r", d->in->spelling);
    if (mode < 0)
        return decode_wrong(d, NULL, "'%s' needs .wrap or .clamp", d->in->spelling);
    if (decode_type(d, 0) != PTX_B32)
        return wrong_type(d, decode_type(d, 0));
    d->out->fn = handlers[way][mode];
    return type_count_is(d, 1) && TAKE_OPERANDS(d, PTX_B32, PTX_B32, PTX_B32, PTX_U32);
}

/* prmt: the special modes are tables of selectors by the low two bits of the control. */
HANDLER_3(prmt_lanes, uint32_t, uint32_t, uint32_t, uint32_t, prmt_bytes(a, b, c))

static void prmt_mode(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t *d = lane_data(w, in->dst);
    const uint32_t *a = lane_data(w, in->src[0]), *b = lane_data(w, in->src[1]), *c = lane_data(w, in->src[2]);
    const uint16_t *selectors = in->extra;
    FOR_EACH_LANE(mask, i)
        d[i] = prmt_bytes(a[i], b[i], selectors[c[i] & 3]);
}

bool decode_logic_prmt(struct decoder *d)
{
    static const enum ptx_modifier modes[] = {PTX_MOD_F4E, PTX_MOD_B4E, PTX_MOD_RC8,
                                              PTX_MOD_ECL, PTX_MOD_ECR, PTX_MOD_RC16};
    static const uint16_t selectors[][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123}, {0x0000, 0x1111, 0x2222, 0x3333},
        {0x3210, 0x3211, 0x3222, 0x3333}, {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232},
    };
    int mode = decode_take_one(d, modes, (int)COUNT_OF(modes));
    d->out->fn = mode < 0 ? prmt_lanes : prmt_mode;
    d->out->extra = mode < 0 ? NULL : selectors[mode];
    if (decode_type(d, 0) != PTX_B32)
        return wrong_type(d, decode_type(d, 0));
    return type_count_is(d, 1) && TAKE_OPERANDS(d, PTX_B32, PTX_B32, PTX_B32, PTX_U32);
}
