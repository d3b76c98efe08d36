/* Integer to integer conversions, and cvt.pack. PTX ISA 9.7.9.
 *
 * A conversion reads the low bits of the source register, and extends the result over the destination register by the
 * sign of the destination type. Where both steps are one extension of the low n bits (which is nearly always), a
 * handler of its own does it. */
#include "exec/cvt_handlers.h"
#include "exec/lanes.h"

/* N: the C type whose bits are kept; register widths: from 32 (or fewer) or 64, to 16, 32 or 64. */
#define EXTEND(n, N)                                         \
    HANDLER_1(n##_32_16, uint32_t, uint32_t, (uint16_t)(N)a) \
    HANDLER_1(n##_32_32, uint32_t, uint32_t, (N)a)           \
    HANDLER_1(n##_32_64, uint64_t, uint32_t, (N)a)           \
    HANDLER_1(n##_64_16, uint32_t, uint64_t, (uint16_t)(N)a) \
    HANDLER_1(n##_64_32, uint32_t, uint64_t, (N)a)           \
    HANDLER_1(n##_64_64, uint64_t, uint64_t, (N)a)
EXTEND(s8, int8_t)
EXTEND(u8, uint8_t)
EXTEND(s16, int16_t)
EXTEND(u16, uint16_t)
EXTEND(s32, int32_t)
EXTEND(u32, uint32_t)
EXTEND(u64, uint64_t)

/* [log2 of the kept bytes][signed][from 64][to 16, 32, 64] */
#define EXTEND_ROW(n)                                                          \
    {                                                                          \
        {n##_32_16, n##_32_32, n##_32_64}, { n##_64_16, n##_64_32, n##_64_64 } \
    }
static exec_handler *const extend_table[4][2][2][3] = {{EXTEND_ROW(u8), EXTEND_ROW(s8)},
                                                       {EXTEND_ROW(u16), EXTEND_ROW(s16)},
                                                       {EXTEND_ROW(u32), EXTEND_ROW(s32)},
                                                       {EXTEND_ROW(u64), EXTEND_ROW(u64)}};

/* Saturating, or extended twice with different signs (cvt.u16.s8 into a 32-bit register). */
static void convert_int(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct cvt_form *f = in->extra;
    const uint32_t *narrow = lane_data(w, in->src[0]);
    const uint64_t *wide = lane_data(w, in->src[0]);
    void *d = lane_data(w, in->dst);
    uint64_t keep = in->sub[0] == 64 ? UINT64_MAX : (1ull << in->sub[0]) - 1;
    FOR_EACH_LANE(mask, i) {
        uint64_t r = cvt_convert(f, in->sub[1] == 64 ? wide[i] : narrow[i]) & keep;
        if (in->sub[0] == 64)
            ((uint64_t *)d)[i] = r;
        else
            ((uint32_t *)d)[i] = (uint32_t)r;
    }
}

exec_handler *cvt_int_handler(const struct cvt_form *f, int to_bits, int from_bits)
{
    bool shrinks = f->to.bits <= f->from.bits;
    bool one_step = shrinks || f->to.is_signed == f->from.is_signed || to_bits == f->to.bits;
    if (f->sat || !one_step)
        return convert_int;
    int kept = shrinks ? f->to.bits : f->from.bits;
    bool is_signed = shrinks ? f->to.is_signed : f->from.is_signed;
    int to = to_bits == 64 ? 2 : to_bits == 32 ? 1 : 0;
    return extend_table[__builtin_ctz((unsigned)kept / 8)][is_signed][from_bits == 64][to];
}

/* cvt.pack: a and b, saturated, below the low bits of c. sub[0]: bits per element, sub[1]: signed. */
static uint32_t pack_element(int32_t x, int bits, bool is_signed)
{
    int32_t least = is_signed ? -(1 << (bits - 1)) : 0, most = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    int32_t clamped = x < least ? least : x > most ? most : x;
    return (uint32_t)clamped & ((1u << bits) - 1);
}

static void pack(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t *d = lane_data(w, in->dst);
    const int32_t *a = lane_data(w, in->src[0]), *b = lane_data(w, in->src[1]);
    const uint32_t *c = lane_data(w, in->src[2]);
    int bits = in->sub[0];
    FOR_EACH_LANE(mask, i) {
        uint32_t pair = pack_element(a[i], bits, in->sub[1]) << bits | pack_element(b[i], bits, in->sub[1]);
        d[i] = bits == 16 ? pair : c[i] << (2 * bits) | pair;
    }
}

bool decode_cvt_pack(struct decoder *d)
{
    enum ptx_type to = decode_type(d, 0);
    int bits = ptx_type_bits(to), types = d->in->type_count;
    bool wide = to == PTX_S16 || to == PTX_U16;
    bool narrow = to == PTX_S8 || to == PTX_U8 || to == PTX_S4 || to == PTX_U4 || to == PTX_S2 || to == PTX_U2;
    struct exec_inst *out = d->out;
    if (!decode_take(d, PTX_MOD_SAT))
        return decode_wrong(d, NULL, "cvt.pack needs .sat");
    if (!(wide && types == 2) && !(narrow && types == 3 && decode_type(d, 2) == PTX_B32))
        return decode_wrong(d, NULL, "cvt.pack has no such combination of types");
    if (decode_type(d, 1) != PTX_S32)
        return decode_wrong(d, NULL, "cvt.pack converts from .s32");
    out->fn = pack;
    out->sub[0] = (uint8_t)bits;
    out->sub[1] = to == PTX_S16 || to == PTX_S8 || to == PTX_S4 || to == PTX_S2;
    int sources = wide ? 2 : 3;
    if (!decode_count(d, sources + 1, sources + 1) || !decode_dst(d, 0, PTX_B32, &out->dst) ||
        !decode_src(d, 1, PTX_S32, &out->src[0]) || !decode_src(d, 2, PTX_S32, &out->src[1]))
        return false;
    out->src[2] = out->src[1];
    return wide || decode_src(d, 3, PTX_B32, &out->src[2]);
}
