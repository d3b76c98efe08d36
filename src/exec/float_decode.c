/* Decoders of the floating-point arithmetic whose result IEEE 754 defines: which forms PTX has, and the handler of
 * each. PTX ISA 9.7.3 to 9.7.5. The .approx and .full forms are in approx.c. */
#include "exec/float_bits.h"
#include "exec/float_handlers.h"
#include "exec/lanes.h"

static bool is_bf16(enum ptx_type t) { return t == PTX_BF16 || t == PTX_BF16X2; }
static bool is_half(enum ptx_type t) { return t == PTX_F16 || t == PTX_F16X2 || is_bf16(t); }

static bool has_rounding(const struct decoder *d)
{
    return decode_has(d, PTX_MOD_RN) || decode_has(d, PTX_MOD_RZ) || decode_has(d, PTX_MOD_RM) ||
           decode_has(d, PTX_MOD_RP);
}

static bool take_operands(struct decoder *d, enum ptx_type type, int sources)
{
    struct exec_inst *out = d->out;
    if (!decode_count(d, sources + 1, sources + 1) || !decode_dst(d, 0, type, &out->dst))
        return false;
    for (int i = 0; i < sources; i++) {
        if (!decode_src(d, i + 1, type, &out->src[i]))
            return false;
    }
    return true;
}

static bool no_such_form(struct decoder *d)
{
    enum ptx_type type = decode_last_type(d);
    return decode_wrong(d, NULL, "%s has no form for type .%s", ptx_opcodes[d->in->opcode].name,
                        type ? ptx_type_name(type) : "none");
}

/* Picks the handler for the type; the modifiers are in m already. */
static bool pick_handler(struct decoder *d, enum float_op op, enum ptx_type type, const struct float_mode *m)
{
    exec_handler *fn = NULL;
    d->out->sub[0] = (uint8_t)m->rounding;
    if (type == PTX_F32)
        fn = float32_handler(op, m);
    else if (type == PTX_F64)
        fn = float64_handler(op, m);
    else if (type == PTX_F32X2)
        fn = float32x2_handler(op, m);
    else if (is_half(type))
        fn = half_handler(op, type, m, d->out);
    d->out->fn = fn;
    return fn ? true : no_such_form(d);
}

/* The modifiers of add, sub, mul and fma: a format takes those that PTX gives it, the others stay untaken and are
 * refused. */
static struct float_mode arithmetic_mode(struct decoder *d, enum ptx_type type)
{
    struct float_mode m = {0};
    if (is_half(type))
        decode_take(d, PTX_MOD_RN);
    else
        m.rounding = decode_rounding(d);
    if (type == PTX_F32 || type == PTX_F32X2 || type == PTX_F16 || type == PTX_F16X2)
        m.ftz = decode_take(d, PTX_MOD_FTZ);
    if (type == PTX_F32 || type == PTX_F16 || type == PTX_F16X2)
        m.sat = decode_take(d, PTX_MOD_SAT);
    return m;
}

/* Mixed precision, add.f32.f16: the narrow operands are widened into registers of their own, then the f32 handler
 * runs. */
static void mixed(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_inst *inner = in->extra;
    for (int k = 0; k < in->sub[0]; k++) {
        const uint32_t *a = lane_data(w, in->src[k]);
        float *wide = lane_data(w, inner->src[k]);
        if (in->sub[1])
            FOR_LANES(mask, wide[i] = bf16_to_f32((uint16_t)a[i]));
        else
            FOR_LANES(mask, wide[i] = f16_to_f32((uint16_t)a[i]));
    }
    inner->fn(w, inner, mask);
}

static bool decode_mixed(struct decoder *d, enum float_op op)
{
    enum ptx_type narrow = decode_last_type(d);
    int narrow_count = op == FLOAT_FMA ? 2 : 1, sources = narrow_count + 1;
    if (decode_type(d, 0) != PTX_F32 || (narrow != PTX_F16 && narrow != PTX_BF16) || op == FLOAT_MUL ||
        d->in->opcode == PTX_OP_mad)
        return no_such_form(d);
    struct float_mode m = {.rounding = decode_rounding(d), .sat = decode_take(d, PTX_MOD_SAT)};
    struct exec_inst *inner = decode_alloc(d, sizeof *inner), *out = d->out;
    *inner = (struct exec_inst){.fn = float32_handler(op, &m)};
    out->fn = mixed;
    out->extra = inner;
    out->sub[0] = (uint8_t)narrow_count;
    out->sub[1] = narrow == PTX_BF16;
    if (!decode_count(d, sources + 1, sources + 1) || !decode_dst(d, 0, PTX_F32, &inner->dst))
        return false;
    for (int i = 0; i < narrow_count; i++) {
        inner->src[i] = decode_scratch(d, 32);
        if (!decode_src(d, i + 1, narrow, &out->src[i]))
            return false;
    }
    out->dst = inner->dst;
    return decode_src(d, sources, PTX_F32, &inner->src[narrow_count]);
}

static bool decode_arithmetic(struct decoder *d, enum float_op op)
{
    enum ptx_type type = decode_last_type(d);
    if (d->in->type_count == 2)
        return decode_mixed(d, op);
    struct float_mode m = arithmetic_mode(d, type);
    return pick_handler(d, op, type, &m) && take_operands(d, type, 2);
}

bool decode_float_add(struct decoder *d) { return decode_arithmetic(d, FLOAT_ADD); }
bool decode_float_sub(struct decoder *d) { return decode_arithmetic(d, FLOAT_SUB); }
bool decode_float_mul(struct decoder *d) { return decode_arithmetic(d, FLOAT_MUL); }

/* Machine code takes a constant as the second factor only. Which NaN of several comes out goes by position, so it
 * shows. */
static void swap_factors(struct exec_inst *out)
{
    exec_ref first = out->src[0];
    out->src[0] = out->src[1];
    out->src[1] = first;
}

bool decode_float_fma(struct decoder *d)
{
    enum ptx_type type = decode_last_type(d);
    bool is_mad = d->in->opcode == PTX_OP_mad;
    if (is_mad && type != PTX_F32 && type != PTX_F64)
        return no_such_form(d);
    bool may_omit = is_mad && d->function->module->target_sm < 20; /* the first targets had one mad.f32 only */
    if (!may_omit && !has_rounding(d))
        return decode_wrong(d, NULL, "%s needs a rounding (.rn, .rz, .rm or .rp)", ptx_opcodes[d->in->opcode].name);
    if (d->in->type_count == 2)
        return decode_mixed(d, FLOAT_FMA);
    struct float_mode m = arithmetic_mode(d, type);
    if (is_half(type)) {
        m.relu = !m.sat && decode_take(d, PTX_MOD_RELU);
        m.oob = !m.sat && !m.ftz && decode_take(d, PTX_MOD_OOB);
    }
    if (!pick_handler(d, FLOAT_FMA, type, &m) || !take_operands(d, type, 3))
        return false;
    if (type == PTX_F64 && d->in->operands[1].kind == PTX_OPERAND_FLOAT && d->in->operands[2].kind == PTX_OPERAND_REG)
        swap_factors(d->out);
    return true;
}

static bool decode_quotient(struct decoder *d, enum float_op op, int sources)
{
    enum ptx_type type = decode_last_type(d);
    if (decode_has(d, PTX_MOD_APPROX) || decode_has(d, PTX_MOD_FULL))
        return decode_approx(d);
    if (type != PTX_F32 && type != PTX_F64)
        return no_such_form(d);
    if (!has_rounding(d))
        return decode_wrong(d, NULL, "%s needs .approx or a rounding (.rn, .rz, .rm or .rp)",
                            ptx_opcodes[d->in->opcode].name);
    struct float_mode m = {.rounding = decode_rounding(d), .ftz = type == PTX_F32 && decode_take(d, PTX_MOD_FTZ)};
    return pick_handler(d, op, type, &m) && take_operands(d, type, sources);
}

bool decode_float_div(struct decoder *d) { return decode_quotient(d, FLOAT_DIV, 2); }
bool decode_float_rcp(struct decoder *d) { return decode_quotient(d, FLOAT_RCP, 1); }
bool decode_float_sqrt(struct decoder *d) { return decode_quotient(d, FLOAT_SQRT, 1); }

bool decode_float_unary(struct decoder *d)
{
    enum ptx_type type = decode_last_type(d);
    struct float_mode m = {0};
    if (type == PTX_F32 || type == PTX_F16 || type == PTX_F16X2)
        m.ftz = decode_take(d, PTX_MOD_FTZ);
    return pick_handler(d, d->in->opcode == PTX_OP_abs ? FLOAT_ABS : FLOAT_NEG, type, &m) && take_operands(d, type, 1);
}

bool decode_float_minmax(struct decoder *d)
{
    enum ptx_type type = decode_last_type(d);
    struct float_mode m = {.three_inputs = type == PTX_F32 && d->in->operand_count == 4};
    if (type == PTX_F32 || type == PTX_F16 || type == PTX_F16X2)
        m.ftz = decode_take(d, PTX_MOD_FTZ);
    if (type != PTX_F64) {
        m.nan = decode_take(d, PTX_MOD_NAN);
        m.xorsign = decode_take(d, PTX_MOD_XORSIGN);
        if (m.xorsign != decode_take(d, PTX_MOD_ABS))
            return decode_wrong(d, NULL, ".xorsign and .abs go together");
    }
    return pick_handler(d, d->in->opcode == PTX_OP_min ? FLOAT_MIN : FLOAT_MAX, type, &m) &&
           take_operands(d, type, m.three_inputs ? 3 : 2);
}

bool decode_float_copysign(struct decoder *d)
{
    enum ptx_type type = decode_last_type(d);
    if (type != PTX_F32 && type != PTX_F64)
        return no_such_form(d);
    return pick_handler(d, FLOAT_COPYSIGN, type, &(struct float_mode){0}) && take_operands(d, type, 2);
}

bool decode_float_testp(struct decoder *d)
{
    static const enum ptx_modifier classes[] = {PTX_MOD_FINITE,     PTX_MOD_INFINITE, PTX_MOD_NUMBER,
                                                PTX_MOD_NOTANUMBER, PTX_MOD_NORMAL,   PTX_MOD_SUBNORMAL};
    enum ptx_type type = decode_last_type(d);
    if (type != PTX_F32 && type != PTX_F64)
        return no_such_form(d);
    int class = decode_take_one(d, classes, 6);
    if (class < 0)
        return decode_wrong(d, NULL, "testp needs one of .finite .infinite .number .notanumber .normal .subnormal");
    if (!pick_handler(d, FLOAT_TESTP, type, &(struct float_mode){0}) || !decode_count(d, 2, 2))
        return false;
    d->out->sub[0] = (uint8_t) class;
    return decode_pred_dst(d, decode_operand(d, 0), &d->out->dst) && decode_src(d, 1, type, &d->out->src[0]);
}
