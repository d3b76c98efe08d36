/* cvt: the decoder, and the handlers of the frequent conversions. PTX ISA 9.7.9. Integer to integer and the packed
 * forms are in cvt_int.c and cvt_packed.c; a pair of types with no handler here goes through cvt_convert, lane by
 * lane. */
#include "exec/cvt_handlers.h"
#include "exec/cvt_ops.h"
#include "exec/lanes.h"

/* Integer to float, to nearest. */
HANDLER_1(f32_s8, float, uint32_t, (float)(int8_t)a)
HANDLER_1(f32_u8, float, uint32_t, (float)(uint8_t)a)
HANDLER_1(f32_s16, float, uint32_t, (float)(int16_t)a)
HANDLER_1(f32_u16, float, uint32_t, (float)(uint16_t)a)
HANDLER_1(f32_s32, float, int32_t, (float)a)
HANDLER_1(f32_u32, float, uint32_t, (float)a)
HANDLER_1(f32_s64, float, int64_t, (float)a)
HANDLER_1(f32_u64, float, uint64_t, (float)a)
HANDLER_1(f64_s8, double, uint32_t, (double)(int8_t)a)
HANDLER_1(f64_u8, double, uint32_t, (double)(uint8_t)a)
HANDLER_1(f64_s16, double, uint32_t, (double)(int16_t)a)
HANDLER_1(f64_u16, double, uint32_t, (double)(uint16_t)a)
HANDLER_1(f64_s32, double, int32_t, (double)a)
HANDLER_1(f64_u32, double, uint32_t, (double)a)
HANDLER_1(f64_s64, double, int64_t, (double)a)
HANDLER_1(f64_u64, double, uint64_t, (double)a)
/* An integer that f32 has to round is beyond f16's range, so that only one rounding shows. */
HANDLER_1(f16_s16, uint32_t, uint32_t, f16_from_f32((float)(int16_t)a))
HANDLER_1(f16_u16, uint32_t, uint32_t, f16_from_f32((float)(uint16_t)a))
HANDLER_1(f16_s32, uint32_t, int32_t, f16_from_f32((float)a))
HANDLER_1(f16_u32, uint32_t, uint32_t, f16_from_f32((float)a))
HANDLER_1(f16_s64, uint32_t, int64_t, f16_from_f32((float)a))
HANDLER_1(f16_u64, uint32_t, uint64_t, f16_from_f32((float)a))

/* Float to integer in the four roundings, and float to an integral float. */
#define ROUNDED(n)                                                                               \
    HANDLER_1(s32_f32_##n, int32_t, float, f32_to_s32(f32_integral(a, (enum exec_rounding)n)))   \
    HANDLER_1(u32_f32_##n, uint32_t, float, f32_to_u32(f32_integral(a, (enum exec_rounding)n)))  \
    HANDLER_1(s64_f32_##n, int64_t, float, f32_to_s64(f32_integral(a, (enum exec_rounding)n)))   \
    HANDLER_1(u64_f32_##n, uint64_t, float, f32_to_u64(f32_integral(a, (enum exec_rounding)n)))  \
    HANDLER_1(s32_f64_##n, int32_t, double, f64_to_s32(f64_integral(a, (enum exec_rounding)n)))  \
    HANDLER_1(u32_f64_##n, uint32_t, double, f64_to_u32(f64_integral(a, (enum exec_rounding)n))) \
    HANDLER_1(s64_f64_##n, int64_t, double, f64_to_s64(f64_integral(a, (enum exec_rounding)n)))  \
    HANDLER_1(u64_f64_##n, uint64_t, double, f64_to_u64(f64_integral(a, (enum exec_rounding)n))) \
    HANDLER_1(f32_f32_##n, float, float, f32_canonical(f32_integral(a, (enum exec_rounding)n)))  \
    HANDLER_1(f64_f64_##n, double, double, f64_nan1(f64_integral(a, (enum exec_rounding)n), a))
ROUNDED(0)
ROUNDED(1)
ROUNDED(2)
ROUNDED(3)

/* To a float that has to be rounded, in the directed roundings. A 64-bit integer is the sum of its halves, both exact
 * as doubles. */
FLOAT_INLINE double upper_half(int64_t a) { return (double)(a >> 32) * 0x1p32; }
FLOAT_INLINE double unsigned_upper_half(uint64_t a) { return (double)(a >> 32) * 0x1p32; }
FLOAT_INLINE double lower_half(uint64_t a) { return (double)(uint32_t)a; }

FLOAT_INLINE float f32_of_halves(double high, double low, enum exec_rounding r)
{
    double sum = high + low;
    return f32_from_sum(sum, f64_sum_error(high, low, sum), r);
}

FLOAT_INLINE double f64_of_halves(double high, double low, enum exec_rounding r)
{
    double sum = high + low;
    return f64_direct(sum, f64_sum_error(high, low, sum), r);
}

FLOAT_INLINE float f32_from_f64_directed(double a, enum exec_rounding r)
{
    float nan = f32_from_f64(a);
    return f64_is_nan(a) ? nan : f32_from_sum(a, 0.0, r);
}

#define DIRECTED(n)                                                                                           \
    HANDLER_1(f32_s32_##n, float, int32_t, f32_from_sum((double)a, 0.0, ROUND_##n))                           \
    HANDLER_1(f32_u32_##n, float, uint32_t, f32_from_sum((double)a, 0.0, ROUND_##n))                          \
    HANDLER_1(f32_s64_##n, float, int64_t, f32_of_halves(upper_half(a), lower_half((uint64_t)a), ROUND_##n))  \
    HANDLER_1(f32_u64_##n, float, uint64_t, f32_of_halves(unsigned_upper_half(a), lower_half(a), ROUND_##n))  \
    HANDLER_1(f64_s64_##n, double, int64_t, f64_of_halves(upper_half(a), lower_half((uint64_t)a), ROUND_##n)) \
    HANDLER_1(f64_u64_##n, double, uint64_t, f64_of_halves(unsigned_upper_half(a), lower_half(a), ROUND_##n)) \
    HANDLER_1(f32_f64_##n, float, double, f32_from_f64_directed(a, ROUND_##n))
DIRECTED(ZERO)
DIRECTED(DOWN)
DIRECTED(UP)

/* Float to float. */
HANDLER_1(f64_f32, double, float, f64_from_f32(a))
HANDLER_1(f64_f32_ftz, double, float, f64_from_f32(f32_finish(a, true, false)))
HANDLER_1(f32_f64, float, double, f32_from_f64(a))
HANDLER_1(f32_f64_ftz, float, double, f32_flush_tiny(f32_from_f64(a), (float)(a *FLUSH_SCALE)))
HANDLER_1(f32_f16, float, uint32_t, f32_canonical(f16_to_f32((uint16_t)a)))
HANDLER_1(f32_bf16, uint32_t, uint32_t, a << 16)
HANDLER_1(f16_f32, uint32_t, float, f16_from_f32(a))
HANDLER_1(bf16_f32, uint32_t, float, bf16_from_f32(a))
HANDLER_1(f32_sat, float, float, f32_saturate(a))
HANDLER_1(f32_sat_ftz, float, float, f32_saturate(f32_flush(a)))
HANDLER_1(f32_ftz, float, float, f32_finish(a, true, false))
HANDLER_1(f32_same, uint32_t, uint32_t, a)
HANDLER_1(f64_same, uint64_t, uint64_t, a)

/* Which forms have a handler of their own. rounding: an enum exec_rounding of either kind; -1: none was written. */
struct cvt_row {
    uint8_t to, from;
    int8_t rounding;
    bool ftz, sat;
    exec_handler *fn;
};
#define TO_FLOAT(T, t, I, i) {PTX_##T, PTX_##I, ROUND_NEAREST, false, false, t##_##i},
#define ALL_INTEGERS(T, t)   TO_FLOAT(T, t, S8, s8) TO_FLOAT(T, t, U8, u8) WIDE_INTEGERS(T, t)
#define WIDE_INTEGERS(T, t)  \
    TO_FLOAT(T, t, S16, s16) \
    TO_FLOAT(T, t, U16, u16) \
    TO_FLOAT(T, t, S32, s32) TO_FLOAT(T, t, U32, u32) TO_FLOAT(T, t, S64, s64) TO_FLOAT(T, t, U64, u64)
/* clang-format off */
#define FOUR(T, t, F, f) \
    {PTX_##T, PTX_##F, ROUND_NEAREST, false, false, t##_##f##_0}, \
    {PTX_##T, PTX_##F, ROUND_ZERO, false, false, t##_##f##_1}, \
    {PTX_##T, PTX_##F, ROUND_DOWN, false, false, t##_##f##_2}, \
    {PTX_##T, PTX_##F, ROUND_UP, false, false, t##_##f##_3},
#define ROUNDED_ROW(T, t, F, f, n) {PTX_##T, PTX_##F, ROUND_##n, false, false, t##_##f##_##n},
#define THREE(T, t, F, f) ROUNDED_ROW(T, t, F, f, ZERO) ROUNDED_ROW(T, t, F, f, DOWN) ROUNDED_ROW(T, t, F, f, UP)
static const struct cvt_row rows[] = {
    ALL_INTEGERS(F32, f32) ALL_INTEGERS(F64, f64) WIDE_INTEGERS(F16, f16)
    FOUR(S32, s32, F32, f32) FOUR(U32, u32, F32, f32) FOUR(S64, s64, F32, f32) FOUR(U64, u64, F32, f32)
    FOUR(S32, s32, F64, f64) FOUR(U32, u32, F64, f64) FOUR(S64, s64, F64, f64) FOUR(U64, u64, F64, f64)
    FOUR(F32, f32, F32, f32) FOUR(F64, f64, F64, f64)
    THREE(F32, f32, S32, s32) THREE(F32, f32, U32, u32) THREE(F32, f32, S64, s64) THREE(F32, f32, U64, u64)
    THREE(F64, f64, S64, s64) THREE(F64, f64, U64, u64) THREE(F32, f32, F64, f64)
    {PTX_F64, PTX_F32, -1, false, false, f64_f32},
    {PTX_F64, PTX_F32, -1, true, false, f64_f32_ftz},
    {PTX_F32, PTX_F64, ROUND_NEAREST, false, false, f32_f64},
    {PTX_F32, PTX_F64, ROUND_NEAREST, true, false, f32_f64_ftz},
    {PTX_F32, PTX_F16, -1, false, false, f32_f16},
    {PTX_F32, PTX_F16, -1, true, false, f32_f16},
    {PTX_F32, PTX_BF16, -1, false, false, f32_bf16},
    {PTX_F16, PTX_F32, ROUND_NEAREST, false, false, f16_f32},
    {PTX_F16, PTX_F32, ROUND_NEAREST, true, false, f16_f32},
    {PTX_BF16, PTX_F32, ROUND_NEAREST, false, false, bf16_f32},
    {PTX_F32, PTX_F32, -1, false, true, f32_sat},
    {PTX_F32, PTX_F32, -1, true, true, f32_sat_ftz},
    {PTX_F32, PTX_F32, -1, true, false, f32_ftz},
    {PTX_F32, PTX_F32, -1, false, false, f32_same},
    {PTX_F64, PTX_F64, -1, false, false, f64_same},
};
/* clang-format on */

static exec_handler *find_row(enum ptx_type to, enum ptx_type from, int rounding, const struct cvt_form *f)
{
    if (f->relu || f->satfinite)
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct cvt_row *r = &rows[i];
        if (r->to == to && r->from == from && r->rounding == rounding && r->ftz == f->ftz && r->sat == f->sat)
            return r->fn;
    }
    return NULL;
}

/* Any other pair of types. sub[0]: width of the destination register, sub[1]: of the source's. tf32 is kept as an f32
 * with a short fraction. */
static void convert_any(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct cvt_form *f = in->extra;
    const uint32_t *narrow = lane_data(w, in->src[0]);
    const uint64_t *wide = lane_data(w, in->src[0]);
    void *d = lane_data(w, in->dst);
    int shift = f->to.format == &soft_tf32 ? 13 : 0;
    uint64_t keep = in->sub[0] == 64 ? UINT64_MAX : (1ull << in->sub[0]) - 1;
    FOR_EACH_LANE(mask, i) {
        uint64_t r = (cvt_convert(f, in->sub[1] == 64 ? wide[i] : narrow[i]) << shift) & keep;
        if (in->sub[0] == 64)
            ((uint64_t *)d)[i] = r;
        else
            ((uint32_t *)d)[i] = (uint32_t)r;
    }
}

struct cvt_end cvt_end_of(enum ptx_type type)
{
    struct cvt_end end = {NULL, (uint8_t)ptx_type_bits(type), ptx_type_is_signed(type)};
    switch (type) {
    case PTX_F16:
    case PTX_F16X2: end.format = &soft_f16; break;
    case PTX_BF16:
    case PTX_BF16X2: end.format = &soft_bf16; break;
    case PTX_TF32: end.format = &soft_tf32; break;
    case PTX_F32: end.format = &soft_f32; break;
    case PTX_F64: end.format = &soft_f64; break;
    case PTX_E4M3X2: end.format = &soft_e4m3; break;
    case PTX_E5M2X2: end.format = &soft_e5m2; break;
    default: break;
    }
    if (end.format)
        end.bits = (uint8_t)(1 + end.format->exponent_bits + end.format->fraction_bits);
    return end;
}

static bool is_scalar(enum ptx_type t)
{
    return (t >= PTX_U8 && t <= PTX_S64) || t == PTX_F16 || t == PTX_BF16 || t == PTX_F32 || t == PTX_F64;
}

/* Takes .rn .rz .rm .rp, or .rni .rzi .rmi .rpi; the index in order of enum exec_rounding, or -1. */
static int take_float_rounding(struct decoder *d)
{
    return decode_take_one(d, (const enum ptx_modifier[]){PTX_MOD_RN, PTX_MOD_RZ, PTX_MOD_RM, PTX_MOD_RP}, 4);
}

static int take_integer_rounding(struct decoder *d)
{
    return decode_take_one(d, (const enum ptx_modifier[]){PTX_MOD_RNI, PTX_MOD_RZI, PTX_MOD_RMI, PTX_MOD_RPI}, 4);
}

/* Does a value of type 'from' always fit 'to' without rounding? */
static bool is_exact(const struct soft_format *to, const struct soft_format *from)
{
    return to->fraction_bits >= from->fraction_bits && to->exponent_bits >= from->exponent_bits;
}

/* The rounding that a pair of types has to have, may have, or must not have. */
static bool take_rounding(struct decoder *d, struct cvt_form *f, int *rounding)
{
    const struct soft_format *to = f->to.format, *from = f->from.format;
    *rounding = -1;
    if (to && from && to == from) {
        *rounding = take_integer_rounding(d);
        f->integral = *rounding >= 0;
    } else if (!to && from) {
        *rounding = take_integer_rounding(d);
        if (*rounding < 0)
            return decode_wrong(d, NULL, "this conversion needs an integer rounding (.rni, .rzi, .rmi or .rpi)");
    } else if (to && (!from || !is_exact(to, from))) {
        *rounding = take_float_rounding(d);
        bool both_half = from && to->fraction_bits <= 10 && from->fraction_bits <= 10; /* nearest unless said */
        if (*rounding < 0 && !both_half)
            return decode_wrong(d, NULL, "this conversion needs a rounding (.rn, .rz, .rm or .rp)");
    } else if (from == &soft_bf16) {
        take_float_rounding(d); /* allowed here, with nothing to round */
    }
    f->rounding = *rounding < 0 ? ROUND_NEAREST : (enum exec_rounding) * rounding;
    return true;
}

/* To tf32, ties away from zero, as the hardware adds half a unit and cuts: an infinity or NaN is cut only. sub[0]:
 * .satfinite, which takes one unit off whatever has come out as large as infinity, NaNs too. */
static void tf32_away(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t *d = lane_data(w, in->dst);
    const uint32_t *a = lane_data(w, in->src[0]);
    uint32_t unit = in->sub[0] ? 0x2000 : 0;
    FOR_EACH_LANE(mask, i) {
        bool finite = (a[i] & 0x7f800000u) != 0x7f800000u;
        uint32_t r = (a[i] + (finite ? 0x1000u : 0)) & 0xffffe000u;
        d[i] = (r & 0x7fffffffu) >= 0x7f800000u ? r - unit : r;
    }
}

static bool decode_tf32(struct decoder *d, struct cvt_form *f)
{
    struct exec_inst *out = d->out;
    bool away = decode_take(d, PTX_MOD_RNA);
    if (!away) {
        int rounding = decode_take_one(d, (const enum ptx_modifier[]){PTX_MOD_RN, PTX_MOD_RZ}, 2);
        if (rounding < 0)
            return decode_wrong(d, NULL, "a conversion to .tf32 needs .rna, .rn or .rz");
        f->rounding = (enum exec_rounding)rounding;
        f->relu = decode_take(d, PTX_MOD_RELU);
    }
    f->satfinite = decode_take(d, PTX_MOD_SATFINITE);
    out->fn = away ? tf32_away : convert_any;
    out->extra = f;
    out->sub[0] = away ? f->satfinite : 32;
    out->sub[1] = 32;
    return decode_count(d, 2, 2) && decode_dst(d, 0, PTX_TF32, &out->dst) && decode_src(d, 1, PTX_F32, &out->src[0]);
}

/* .relu and .satfinite belong to f32 into the 16-bit formats, with .rn or .rz. */
static void take_narrow_options(struct decoder *d, struct cvt_form *f)
{
    bool narrow = f->to.format == &soft_f16 || f->to.format == &soft_bf16;
    if (narrow && f->from.format == &soft_f32 && f->rounding <= ROUND_ZERO && !f->sat && !f->ftz) {
        f->relu = decode_take(d, PTX_MOD_RELU);
        f->satfinite = decode_take(d, PTX_MOD_SATFINITE);
    }
}

/* .sat is for the conversions that can leave the range of their destination, bf16 apart. */
static bool may_saturate(const struct cvt_form *f)
{
    if (f->to.format == &soft_bf16 || f->from.format == &soft_bf16)
        return false;
    if (f->to.format || f->from.format)
        return true;
    return f->from.is_signed && !f->to.is_signed ? true
                                                 : f->from.bits - f->from.is_signed > f->to.bits - f->to.is_signed;
}

static bool decode_scalar(struct decoder *d, struct cvt_form *f, enum ptx_type to, enum ptx_type from)
{
    struct exec_inst *out = d->out;
    int rounding, to_bits, from_bits;
    if ((to == PTX_BF16 && f->from.bits == 8) || (from == PTX_BF16 && f->to.bits == 8))
        return decode_wrong(d, NULL, "cvt has no conversion between .bf16 and 8-bit integers");
    if (!take_rounding(d, f, &rounding))
        return false;
    f->ftz = (to == PTX_F32 || from == PTX_F32) && decode_take(d, PTX_MOD_FTZ);
    f->sat = may_saturate(f) && decode_take(d, PTX_MOD_SAT);
    take_narrow_options(d, f);
    if (!decode_count(d, 2, 2) || !decode_dst_wide(d, decode_operand(d, 0), to, &out->dst, &to_bits) ||
        !decode_src_wide(d, decode_operand(d, 1), from, &out->src[0], &from_bits))
        return false;
    out->sub[0] = (uint8_t)to_bits;
    out->sub[1] = (uint8_t)from_bits;
    out->extra = f;
    bool plain = to_bits == f->to.bits && (from_bits == 64) == (f->from.bits == 64);
    if (!f->to.format && !f->from.format)
        out->fn = cvt_int_handler(f, to_bits, from_bits);
    else if (plain && !(f->sat && !f->to.format))
        out->fn = find_row(to, from, rounding, f);
    else if (plain) { /* float to integer saturates in any case */
        struct cvt_form unsaturated = *f;
        unsaturated.sat = false;
        out->fn = find_row(to, from, rounding, &unsaturated);
    }
    if (!out->fn)
        out->fn = convert_any;
    return true;
}

bool decode_cvt(struct decoder *d)
{
    enum ptx_type to = decode_type(d, 0), from = decode_type(d, 1);
    if (decode_take(d, PTX_MOD_PACK))
        return decode_cvt_pack(d);
    if (d->in->type_count != 2)
        return decode_wrong(d, NULL, "cvt needs two types");
    struct cvt_form *f = decode_alloc(d, sizeof *f);
    *f = (struct cvt_form){.from = cvt_end_of(from), .to = cvt_end_of(to)};
    if (to == PTX_TF32 && from == PTX_F32)
        return decode_tf32(d, f);
    if (is_scalar(to) && is_scalar(from))
        return decode_scalar(d, f, to, from);
    return decode_cvt_packed(d, f, to, from);
}
