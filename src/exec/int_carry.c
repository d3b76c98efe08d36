/* Extended-precision integer arithmetic: add.cc addc sub.cc subc mad.cc madc in 32 and 64 bits. PTX ISA 9.7.2.
 * The carry flag is a bit a lane of the warp. PTX says that a subtraction leaves its borrow there; GPUs leave the carry
 * of a + ~b + 1, the inverse, and subc reads it so. It shows only where addc follows sub.cc, or subc add.cc. */
#include "exec/int_carry.h"
#include "exec/int_ops.h"
#include "exec/lanes.h"
#include "exec/pick.h"

enum carry_op { CARRY_ADD, CARRY_SUB, CARRY_MAD_LO, CARRY_MAD_HI_U, CARRY_MAD_HI_S, CARRY_OPS };
enum { CARRY_OUT = 1, CARRY_IN = 2 };

/* Compile-time constant op and flags: each handler below is a copy of one of these with everything else folded away. */
#define CARRY_BODY(name, U, S, MULHI_U, MULHI_S)                                                            \
    static inline __attribute__((always_inline)) void name(struct exec_warp *w, const struct exec_inst *in, \
                                                           uint32_t mask, enum carry_op op, int flags)      \
    {                                                                                                       \
        U *d = lane_data(w, in->dst);                                                                       \
        const U *pa = lane_data(w, in->src[0]), *pb = lane_data(w, in->src[1]);                             \
        const U *pc = op >= CARRY_MAD_LO ? lane_data(w, in->src[2]) : pb;                                   \
        uint32_t carries = 0;                                                                               \
        FOR_EACH_LANE(mask, i) {                                                                            \
            U a = pa[i], b = pb[i], carry = flags & CARRY_IN ? (w->carry >> i & 1) ^ (op == CARRY_SUB) : 0; \
            U x = op == CARRY_MAD_LO     ? a * b                                                            \
                  : op == CARRY_MAD_HI_U ? MULHI_U(a, b)                                                    \
                  : op == CARRY_MAD_HI_S ? MULHI_S((S)a, (S)b)                                              \
                                         : a;                                                               \
            U y = op >= CARRY_MAD_LO ? pc[i] : b;                                                           \
            U first = op == CARRY_SUB ? x - y : x + y;                                                      \
            U second = op == CARRY_SUB ? first - carry : first + carry;                                     \
            bool out = op == CARRY_SUB ? x >= y && first >= carry : first < x || second < first;            \
            carries |= (uint32_t)out << i;                                                                  \
            d[i] = second;                                                                                  \
        }                                                                                                   \
        if (flags & CARRY_OUT)                                                                              \
            w->carry = (w->carry & ~mask) | carries;                                                        \
    }
CARRY_BODY(carry_32, uint32_t, int32_t, mulhi_u32, mulhi_s32)
CARRY_BODY(carry_64, uint64_t, int64_t, mulhi_u64, mulhi_s64)

#define CARRY_HANDLER(name, body, op, flags) \
    static void name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask) { body(w, in, mask, op, flags); }
#define CARRY_HANDLERS(name, op)                                       \
    CARRY_HANDLER(name##_32_out, carry_32, op, CARRY_OUT)              \
    CARRY_HANDLER(name##_32_in, carry_32, op, CARRY_IN)                \
    CARRY_HANDLER(name##_32_inout, carry_32, op, CARRY_IN | CARRY_OUT) \
    CARRY_HANDLER(name##_64_out, carry_64, op, CARRY_OUT)              \
    CARRY_HANDLER(name##_64_in, carry_64, op, CARRY_IN)                \
    CARRY_HANDLER(name##_64_inout, carry_64, op, CARRY_IN | CARRY_OUT)
CARRY_HANDLERS(add, CARRY_ADD)
CARRY_HANDLERS(sub, CARRY_SUB)
CARRY_HANDLERS(mad_lo, CARRY_MAD_LO)
CARRY_HANDLERS(mad_hi_u, CARRY_MAD_HI_U)
CARRY_HANDLERS(mad_hi_s, CARRY_MAD_HI_S)

/* [op][64-bit][flags] */
#define CARRY_ROW(name)                                                                                        \
    {                                                                                                          \
        {0, name##_32_out, name##_32_in, name##_32_inout}, { 0, name##_64_out, name##_64_in, name##_64_inout } \
    }
static exec_handler *const carry_handlers[CARRY_OPS][2][4] = {
    CARRY_ROW(add), CARRY_ROW(sub), CARRY_ROW(mad_lo), CARRY_ROW(mad_hi_u), CARRY_ROW(mad_hi_s),
};

bool decode_int_carry(struct decoder *d)
{
    enum ptx_opcode opcode = d->in->opcode;
    enum ptx_type t = decode_type(d, 0);
    if (t != PTX_U32 && t != PTX_S32 && t != PTX_U64 && t != PTX_S64)
        return wrong_type(d, t);
    bool reads = opcode == PTX_OP_addc || opcode == PTX_OP_subc || opcode == PTX_OP_madc;
    int flags = (reads ? CARRY_IN : 0) | (decode_take(d, PTX_MOD_CC) ? CARRY_OUT : 0);
    bool is_mad = opcode == PTX_OP_mad || opcode == PTX_OP_madc;
    enum carry_op op = opcode == PTX_OP_sub || opcode == PTX_OP_subc ? CARRY_SUB : CARRY_ADD;
    if (is_mad) {
        if (decode_take(d, PTX_MOD_LO))
            op = CARRY_MAD_LO;
        else if (decode_take(d, PTX_MOD_HI))
            op = ptx_type_is_signed(t) ? CARRY_MAD_HI_S : CARRY_MAD_HI_U;
        else
            return decode_wrong(d, NULL, "'%s' needs .lo or .hi", d->in->spelling);
    }
    d->out->fn = carry_handlers[op][ptx_type_bits(t) == 64][flags];
    return type_count_is(d, 1) && (is_mad ? TAKE_OPERANDS(d, t, t, t, t) : TAKE_OPERANDS(d, t, t, t));
}
