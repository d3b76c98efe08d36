/* Conversions into and out of pairs of f16, bf16, e4m3 and e5m2. PTX ISA 9.7.9.
 * Of two f32 operands the first goes to the upper half. The 8-bit formats always saturate to finite numbers. */
#include "exec/cvt_handlers.h"
#include "exec/lanes.h"

HANDLER_2(f16x2_nearest, uint32_t, float, float, (uint32_t)f16_from_f32(a) << 16 | f16_from_f32(b))
HANDLER_2(bf16x2_nearest, uint32_t, float, float, (uint32_t)bf16_from_f32(a) << 16 | bf16_from_f32(b))

/* Two f32 into a pair. */
static void join(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct cvt_form *f = in->extra;
    uint32_t *d = lane_data(w, in->dst);
    const uint32_t *a = lane_data(w, in->src[0]), *b = lane_data(w, in->src[1]);
    FOR_EACH_LANE(mask, i)
        d[i] = (uint32_t)(cvt_convert(f, a[i]) << f->to.bits | cvt_convert(f, b[i]));
}

/* A pair into a pair. */
static void pairwise(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct cvt_form *f = in->extra;
    uint32_t *d = lane_data(w, in->dst);
    const uint32_t *a = lane_data(w, in->src[0]);
    FOR_EACH_LANE(mask, i)
        d[i] = (uint32_t)(cvt_convert(f, a[i] >> f->from.bits) << f->to.bits | cvt_convert(f, a[i]));
}

static bool is_eight_bit(enum ptx_type t) { return t == PTX_E4M3X2 || t == PTX_E5M2X2; }

static bool decode_join(struct decoder *d, struct cvt_form *f, enum ptx_type to)
{
    struct exec_inst *out = d->out;
    bool eight = is_eight_bit(to);
    int rounding = decode_take_one(d, (const enum ptx_modifier[]){PTX_MOD_RN, PTX_MOD_RZ}, eight ? 1 : 2);
    if (rounding < 0)
        return decode_wrong(d, NULL, "this conversion needs %s", eight ? ".rn" : ".rn or .rz");
    f->rounding = (enum exec_rounding)rounding;
    f->relu = decode_take(d, PTX_MOD_RELU);
    f->satfinite = decode_take(d, PTX_MOD_SATFINITE);
    if (eight && !f->satfinite)
        return decode_wrong(d, NULL, "a conversion to .%s needs .satfinite", ptx_type_name(to));
    bool plain = rounding == 0 && !f->relu && !f->satfinite;
    out->fn = plain && to == PTX_F16X2 ? f16x2_nearest : plain && to == PTX_BF16X2 ? bf16x2_nearest : join;
    out->extra = f;
    return decode_count(d, 3, 3) && decode_dst(d, 0, to, &out->dst) && decode_src(d, 1, PTX_F32, &out->src[0]) &&
           decode_src(d, 2, PTX_F32, &out->src[1]);
}

static bool decode_pairwise(struct decoder *d, struct cvt_form *f, enum ptx_type to, enum ptx_type from)
{
    struct exec_inst *out = d->out;
    if (!decode_take(d, PTX_MOD_RN))
        return decode_wrong(d, NULL, "this conversion needs .rn");
    f->rounding = ROUND_NEAREST;
    f->relu = decode_take(d, PTX_MOD_RELU);
    if (is_eight_bit(to)) {
        f->satfinite = decode_take(d, PTX_MOD_SATFINITE);
        if (!f->satfinite)
            return decode_wrong(d, NULL, "a conversion to .%s needs .satfinite", ptx_type_name(to));
    }
    out->fn = pairwise;
    out->extra = f;
    return decode_count(d, 2, 2) && decode_dst(d, 0, to, &out->dst) && decode_src(d, 1, from, &out->src[0]);
}

bool decode_cvt_packed(struct decoder *d, struct cvt_form *f, enum ptx_type to, enum ptx_type from)
{
    bool to_pair = to == PTX_F16X2 || to == PTX_BF16X2 || is_eight_bit(to);
    if (to_pair && from == PTX_F32)
        return decode_join(d, f, to);
    if ((is_eight_bit(to) && from == PTX_F16X2) || (to == PTX_F16X2 && is_eight_bit(from)))
        return decode_pairwise(d, f, to, from);
    return decode_wrong(d, NULL, "cvt has no conversion from .%s to .%s", ptx_type_name(from), ptx_type_name(to));
}
