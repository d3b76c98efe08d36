/* The approximate instructions: rsqrt, sin, cos, lg2, ex2, tanh, and the .approx and .full forms of rcp, sqrt and div.
 * PTX ISA 9.7.3 to 9.7.5. Values are computed more precisely than the ISA asks (approx_ops.h); special values are the
 * ISA's. */
#include "exec/approx_ops.h"
#include "exec/float_handlers.h"
#include "exec/lanes.h"

#define UNARY(name, expression)                                      \
    HANDLER_1(name##_plain, float, float, f32_canonical(expression)) \
    HANDLER_1(name##_ftz, float, float, f32_finish((a = f32_flush(a), (expression)), true, false))
UNARY(rcp, 1.0f / a)
UNARY(root, __builtin_sqrtf(a))
UNARY(rsqrt, 1.0f / __builtin_sqrtf(a))
UNARY(sine, approx_sin(a))
UNARY(cosine, approx_cos(a))
UNARY(lg2, approx_lg2(a))
UNARY(ex2, approx_ex2(a))
HANDLER_1(tanh_plain, float, float, f32_canonical(approx_tanh(a)))

HANDLER_2(div_plain, float, float, float, approx_div(a, b, false))
HANDLER_2(div_ftz, float, float, float, approx_div(a, b, true))
HANDLER_2(full_plain, float, float, float, f32_canonical(a / b))
HANDLER_2(full_ftz, float, float, float, f32_finish(f32_flush(a) / f32_flush(b), true, false))

/* The unit that makes upper words is the 32-bit one: it knows one NaN. */
FLOAT_INLINE uint64_t upper_of(double r) { return f64_is_nan(r) ? (uint64_t)F32_NAN << 32 : approx_upper(f64_bits(r)); }
HANDLER_1(rcp_upper, uint64_t, uint64_t, upper_of(1.0 / f64_from(approx_upper(a))))
HANDLER_1(rsqrt_upper, uint64_t, uint64_t, upper_of(1.0 / __builtin_sqrt(f64_from(approx_upper(a)))))

/* rsqrt of f64 without .ftz, as silicon's assembler expands it: the upper word of the root's reciprocal, then one step
 * of third order. The step is not quite exact: the last bit depends on the start, which silicon takes from a table that
 * now and then differs from ours by one. Subnormal operands are scaled. */
FLOAT_INLINE double rsqrt_step(double x)
{
    double start = f64_from(f64_bits(1.0 / __builtin_sqrt(x)) & 0xffffffff00000000ull);
    double rest = __builtin_fma(x, -(start * start), 1.0);
    return __builtin_fma(__builtin_fma(rest, 0.375, 0.5), start * rest, start);
}
FLOAT_INLINE double rsqrt_f64(double x)
{
    if (!(x > 0.0) || x > 0x1.fffffffffffffp+1023)
        return f64_nan1(1.0 / __builtin_sqrt(x), x);
    return x < 0x1p-1022 ? rsqrt_step(x * 0x1p+108) * 0x1p+54 : rsqrt_step(x);
}
HANDLER_1(rsqrt_double, double, double, rsqrt_f64(a))

/* ex2 and tanh of the 16-bit formats. */
FLOAT_INLINE uint16_t ex2_f16(uint32_t h) { return f16_from_f32(approx_ex2(f16_to_f32((uint16_t)h))); }
FLOAT_INLINE uint16_t tanh_f16(uint32_t h) { return f16_from_f32(approx_tanh(f16_to_f32((uint16_t)h))); }
FLOAT_INLINE uint16_t ex2_bf16(uint32_t h)
{
    return bf16_from_f32(f32_flush(approx_ex2(bf16_to_f32((uint16_t)h))));
} /* always .ftz */
FLOAT_INLINE uint16_t tanh_bf16(uint32_t h) { return bf16_from_f32(approx_tanh(bf16_to_f32((uint16_t)h))); }
#define HALF_FORMS(name)                               \
    HANDLER_1(name##_one, uint32_t, uint32_t, name(a)) \
    HANDLER_1(name##_two, uint32_t, uint32_t, (uint32_t)name(a) | (uint32_t)name(a >> 16) << 16)
HALF_FORMS(ex2_f16)
HALF_FORMS(tanh_f16)
HALF_FORMS(ex2_bf16)
HALF_FORMS(tanh_bf16)

/* One row a legal form. */
enum ftz_rule { FTZ_NEVER, FTZ_MAY, FTZ_MUST };
struct approx_form {
    uint16_t opcode;
    uint8_t type, full, ftz_rule;
    exec_handler *plain, *ftz;
};

static const struct approx_form forms[] = {
    {PTX_OP_div, PTX_F32, 0, FTZ_MAY, div_plain, div_ftz},
    {PTX_OP_div, PTX_F32, 1, FTZ_MAY, full_plain, full_ftz},
    {PTX_OP_rcp, PTX_F32, 0, FTZ_MAY, rcp_plain, rcp_ftz},
    {PTX_OP_rcp, PTX_F64, 0, FTZ_MUST, NULL, rcp_upper},
    {PTX_OP_sqrt, PTX_F32, 0, FTZ_MAY, root_plain, root_ftz},
    {PTX_OP_rsqrt, PTX_F32, 0, FTZ_MAY, rsqrt_plain, rsqrt_ftz},
    {PTX_OP_rsqrt, PTX_F64, 0, FTZ_MAY, rsqrt_double, rsqrt_upper},
    {PTX_OP_sin, PTX_F32, 0, FTZ_MAY, sine_plain, sine_ftz},
    {PTX_OP_cos, PTX_F32, 0, FTZ_MAY, cosine_plain, cosine_ftz},
    {PTX_OP_lg2, PTX_F32, 0, FTZ_MAY, lg2_plain, lg2_ftz},
    {PTX_OP_ex2, PTX_F32, 0, FTZ_MAY, ex2_plain, ex2_ftz},
    {PTX_OP_ex2, PTX_F16, 0, FTZ_NEVER, ex2_f16_one, NULL},
    {PTX_OP_ex2, PTX_F16X2, 0, FTZ_NEVER, ex2_f16_two, NULL},
    {PTX_OP_ex2, PTX_BF16, 0, FTZ_MUST, NULL, ex2_bf16_one},
    {PTX_OP_ex2, PTX_BF16X2, 0, FTZ_MUST, NULL, ex2_bf16_two},
    {PTX_OP_tanh, PTX_F32, 0, FTZ_NEVER, tanh_plain, NULL},
    {PTX_OP_tanh, PTX_F16, 0, FTZ_NEVER, tanh_f16_one, NULL},
    {PTX_OP_tanh, PTX_F16X2, 0, FTZ_NEVER, tanh_f16_two, NULL},
    {PTX_OP_tanh, PTX_BF16, 0, FTZ_NEVER, tanh_bf16_one, NULL},
    {PTX_OP_tanh, PTX_BF16X2, 0, FTZ_NEVER, tanh_bf16_two, NULL},
};

static const struct approx_form *find_form(enum ptx_opcode opcode, enum ptx_type type, bool full)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (forms[i].opcode == opcode && forms[i].type == type && forms[i].full == full)
            return &forms[i];
    }
    return NULL;
}

bool decode_approx(struct decoder *d)
{
    const char *name = ptx_opcodes[d->in->opcode].name;
    enum ptx_type type = decode_last_type(d);
    bool full = decode_take(d, PTX_MOD_FULL), approx = decode_take(d, PTX_MOD_APPROX);
    if (full == approx)
        return decode_wrong(d, NULL, "%s needs .approx", name);
    const struct approx_form *form = find_form(d->in->opcode, type, full);
    if (!form || d->in->type_count != 1)
        return decode_wrong(d, NULL, "%s has no approximate form for type .%s", name,
                            type ? ptx_type_name(type) : "none");
    bool ftz = form->ftz_rule != FTZ_NEVER && decode_take(d, PTX_MOD_FTZ);
    if (form->ftz_rule == FTZ_MUST && !ftz)
        return decode_wrong(d, NULL, "%s of type .%s needs .ftz", name, ptx_type_name(type));
    int sources = d->in->opcode == PTX_OP_div ? 2 : 1;
    d->out->fn = ftz ? form->ftz : form->plain;
    if (!decode_count(d, sources + 1, sources + 1) || !decode_dst(d, 0, type, &d->out->dst) ||
        !decode_src(d, 1, type, &d->out->src[0]))
        return false;
    return sources == 1 || decode_src(d, 2, type, &d->out->src[1]);
}
