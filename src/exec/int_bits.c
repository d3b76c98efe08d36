/* Bits of integers: popc clz bfind brev fns bfe bfi bmsk szext. PTX ISA 9.7.1. */
#include "exec/int_ops.h"
#include "exec/lanes.h"
#include "exec/pick.h"

#define UNARY_32(name, expression)    HANDLER_1(name, uint32_t, uint32_t, expression)
#define UNARY_64(name, D, expression) HANDLER_1(name, D, uint64_t, expression)

UNARY_32(popc_lanes_32, __builtin_popcount(a))
UNARY_64(popc_lanes_64, uint32_t, __builtin_popcountll(a))
UNARY_32(clz_lanes_32, clz_32(a))
UNARY_64(clz_lanes_64, uint32_t, clz_64(a))
UNARY_32(brev_lanes_32, brev_32(a))
UNARY_64(brev_lanes_64, uint64_t, brev_64(a))
UNARY_32(bfind_lanes_u32, bfind_u32(a))
UNARY_32(bfind_lanes_s32, bfind_s32(a))
UNARY_64(bfind_lanes_u64, uint32_t, bfind_u64(a))
UNARY_64(bfind_lanes_s64, uint32_t, bfind_s64(a))
/* .shiftamt: how far to shift left to bring that bit to the top; all ones stays. */
#define SHIFT_AMOUNT(top, position) ((position) == UINT32_MAX ? UINT32_MAX : (top) - (position))
UNARY_32(bfind_shift_u32, SHIFT_AMOUNT(31, bfind_u32(a)))
UNARY_32(bfind_shift_s32, SHIFT_AMOUNT(31, bfind_s32(a)))
UNARY_64(bfind_shift_u64, uint32_t, SHIFT_AMOUNT(63, bfind_u64(a)))
UNARY_64(bfind_shift_s64, uint32_t, SHIFT_AMOUNT(63, bfind_s64(a)))

static const struct typed_handler popc_rows[] = {{PTX_B32, popc_lanes_32}, {PTX_B64, popc_lanes_64}};
static const struct typed_handler clz_rows[] = {{PTX_B32, clz_lanes_32}, {PTX_B64, clz_lanes_64}};
static const struct typed_handler brev_rows[] = {{PTX_B32, brev_lanes_32}, {PTX_B64, brev_lanes_64}};
static const struct typed_handler bfind_rows[] = {
    {PTX_U32, bfind_lanes_u32},
    {PTX_S32, bfind_lanes_s32},
    {PTX_U64, bfind_lanes_u64},
    {PTX_S64, bfind_lanes_s64},
};
static const struct typed_handler bfind_shift_rows[] = {
    {PTX_U32, bfind_shift_u32},
    {PTX_S32, bfind_shift_s32},
    {PTX_U64, bfind_shift_u64},
    {PTX_S64, bfind_shift_s64},
};

bool decode_int_bits(struct decoder *d)
{
    enum ptx_type t = decode_type(d, 0);
    enum ptx_opcode opcode = d->in->opcode;
    bool picked;
    if (opcode == PTX_OP_popc)
        picked = PICK(d, popc_rows, t);
    else if (opcode == PTX_OP_clz)
        picked = PICK(d, clz_rows, t);
    else if (opcode == PTX_OP_brev)
        picked = PICK(d, brev_rows, t);
    else
        picked = decode_take(d, PTX_MOD_SHIFTAMT) ? PICK(d, bfind_shift_rows, t) : PICK(d, bfind_rows, t);
    return picked && type_count_is(d, 1) && TAKE_OPERANDS(d, opcode == PTX_OP_brev ? t : PTX_U32, t);
}

HANDLER_3(fns_lanes, uint32_t, uint32_t, uint32_t, int32_t, fns_32(a, b, c))

bool decode_int_fns(struct decoder *d)
{
    d->out->fn = fns_lanes;
    if (decode_type(d, 0) != PTX_B32)
        return wrong_type(d, decode_type(d, 0));
    return type_count_is(d, 1) && TAKE_OPERANDS(d, PTX_B32, PTX_B32, PTX_B32, PTX_S32);
}

HANDLER_3(bfe_lanes_u32, uint32_t, uint32_t, uint32_t, uint32_t, bfe_u32(a, b, c))
HANDLER_3(bfe_lanes_s32, uint32_t, uint32_t, uint32_t, uint32_t, bfe_s32(a, b, c))
HANDLER_3(bfe_lanes_u64, uint64_t, uint64_t, uint32_t, uint32_t, bfe_u64(a, b, c))
HANDLER_3(bfe_lanes_s64, uint64_t, uint64_t, uint32_t, uint32_t, bfe_s64(a, b, c))
HANDLER_2(bmsk_lanes_wrap, uint32_t, uint32_t, uint32_t, bmsk_wrap(a, b))
HANDLER_2(bmsk_lanes_clamp, uint32_t, uint32_t, uint32_t, bmsk_clamp(a, b))
HANDLER_2(szext_wrap_u32, uint32_t, uint32_t, uint32_t, szext_u32(a, b & 31))
HANDLER_2(szext_wrap_s32, uint32_t, uint32_t, uint32_t, szext_s32(a, b & 31))
HANDLER_2(szext_clamp_u32, uint32_t, uint32_t, uint32_t, szext_u32(a, b))
HANDLER_2(szext_clamp_s32, uint32_t, uint32_t, uint32_t, szext_s32(a, b))

#define BFI_HANDLER(name, U, function)                                                           \
    static void name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)             \
    {                                                                                            \
        U *d = lane_data(w, in->dst);                                                            \
        const U *pa = lane_data(w, in->src[0]), *pb = lane_data(w, in->src[1]);                  \
        const uint32_t *position = lane_data(w, in->src[2]), *length = lane_data(w, in->src[3]); \
        FOR_LANES(mask, d[i] = function(pa[i], pb[i], position[i], length[i]));                  \
    }
BFI_HANDLER(bfi_lanes_32, uint32_t, bfi_32)
BFI_HANDLER(bfi_lanes_64, uint64_t, bfi_64)

static const struct typed_handler bfe_rows[] = {
    {PTX_U32, bfe_lanes_u32},
    {PTX_S32, bfe_lanes_s32},
    {PTX_U64, bfe_lanes_u64},
    {PTX_S64, bfe_lanes_s64},
};
static const struct typed_handler bfi_rows[] = {{PTX_B32, bfi_lanes_32}, {PTX_B64, bfi_lanes_64}};
static const struct typed_handler bmsk_rows[][1] = {{{PTX_B32, bmsk_lanes_wrap}}, {{PTX_B32, bmsk_lanes_clamp}}};
static const struct typed_handler szext_rows[][2] = {
    {{PTX_U32, szext_wrap_u32}, {PTX_S32, szext_wrap_s32}},
    {{PTX_U32, szext_clamp_u32}, {PTX_S32, szext_clamp_s32}},
};

bool decode_int_field(struct decoder *d)
{
    static const enum ptx_modifier modes[] = {PTX_MOD_WRAP, PTX_MOD_CLAMP};
    enum ptx_type t = decode_type(d, 0);
    if (!type_count_is(d, 1))
        return false;
    if (d->in->opcode == PTX_OP_bfe)
        return PICK(d, bfe_rows, t) && TAKE_OPERANDS(d, t, t, PTX_U32, PTX_U32);
    if (d->in->opcode == PTX_OP_bfi)
        return PICK(d, bfi_rows, t) && TAKE_OPERANDS(d, t, t, t, PTX_U32, PTX_U32);
    int mode = decode_take_one(d, modes, 2);
    if (mode < 0)
        return decode_wrong(d, NULL, "'%s' needs .clamp or .wrap", d->in->spelling);
    bool picked = d->in->opcode == PTX_OP_bmsk ? PICK(d, bmsk_rows[mode], t) : PICK(d, szext_rows[mode], t);
    return picked && TAKE_OPERANDS(d, t, d->in->opcode == PTX_OP_bmsk ? PTX_U32 : t, PTX_U32);
}
