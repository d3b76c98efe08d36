/* Reductions over the lanes of a warp (PTX ISA 9.7.13: redux.sync), integers and the f32 minimum and maximum of
 * sm_100a.
 *
 * The lanes that take part are those that execute the instruction together and are in the lane's member mask. */
#include "exec/decode.h"
#include "exec/float_round.h"
#include "exec/lanes.h"

bool decode_redux(struct decoder *d);

enum redux_op { REDUX_ADD, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR };
enum redux_kind { REDUX_UNSIGNED, REDUX_SIGNED, REDUX_FLOAT };

static uint32_t combine_float(const struct exec_inst *in, uint32_t a, uint32_t b)
{
    float x = f32_from(a), y = f32_from(b);
    return f32_bits(in->sub[0] == REDUX_MIN ? f32_min(x, y, in->sub[3]) : f32_max(x, y, in->sub[3]));
}

static uint32_t combine(const struct exec_inst *in, uint32_t a, uint32_t b)
{
    if (in->sub[1] == REDUX_FLOAT)
        return combine_float(in, a, b);
    bool less = in->sub[1] == REDUX_SIGNED ? (int32_t)a < (int32_t)b : a < b;
    switch ((enum redux_op)in->sub[0]) {
    case REDUX_ADD: return a + b;
    case REDUX_MIN: return less ? a : b;
    case REDUX_MAX: return less ? b : a;
    case REDUX_AND: return a & b;
    case REDUX_OR: return a | b;
    default: return a ^ b;
    }
}

static uint32_t reduce(const struct exec_inst *in, const uint32_t *values, uint32_t group)
{
    uint32_t without_sign = in->sub[2] ? 0x7fffffffu : FULL_MASK;
    uint32_t result = values[__builtin_ctz(group)] & without_sign;
    uint32_t others = group & (group - 1);
    FOR_EACH_LANE(others, i)
        result = combine(in, result, values[i] & without_sign);
    return in->sub[1] == REDUX_FLOAT ? f32_bits(f32_canonical(f32_from(result))) : result;
}

static void redux(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t results[WARP_LANES], left = mask;
    const uint32_t *values = lane_data(w, in->src[0]), *members = lane_data(w, in->src[1]);
    while (left) { /* one pass a member mask */
        uint32_t named = members[__builtin_ctz(left)], same = 0;
        FOR_EACH_LANE(left, i)
            same |= (uint32_t)(members[i] == named) << i;
        uint32_t group = named & mask, result = group ? reduce(in, values, group) : 0;
        FOR_EACH_LANE(same, i)
            results[i] = result;
        left &= ~same;
    }
    uint32_t *d = lane_data(w, in->dst);
    FOR_LANES(mask, d[i] = results[i]);
}

static bool is_allowed(enum redux_op op, enum ptx_type type)
{
    if (op >= REDUX_AND)
        return type == PTX_B32;
    return type == PTX_U32 || type == PTX_S32 || (type == PTX_F32 && op != REDUX_ADD);
}

bool decode_redux(struct decoder *d)
{
    static const enum ptx_modifier ops[] = {PTX_MOD_ADD, PTX_MOD_MIN, PTX_MOD_MAX,
                                            PTX_MOD_AND, PTX_MOD_OR,  PTX_MOD_XOR};
    enum ptx_type type = decode_type(d, 0);
    int op = decode_take_one(d, ops, 6);
    if (!decode_take(d, PTX_MOD_SYNC) || op < 0)
        return decode_wrong(d, NULL, "redux is written redux.sync with one of .add, .min, .max, .and, .or and .xor");
    if (d->in->type_count != 1 || !is_allowed((enum redux_op)op, type))
        return decode_wrong(d, NULL, "redux.sync: no such operation on this type");
    d->out->fn = redux;
    d->out->sub[0] = (uint8_t)op;
    d->out->sub[1] = type == PTX_F32 ? REDUX_FLOAT : type == PTX_S32 ? REDUX_SIGNED : REDUX_UNSIGNED;
    if (type == PTX_F32) {
        d->out->sub[2] = decode_take(d, PTX_MOD_ABS);
        d->out->sub[3] = decode_take(d, PTX_MOD_NAN);
    }
    return decode_count(d, 3, 3) && decode_dst(d, 0, type, &d->out->dst) && decode_src(d, 1, type, &d->out->src[0]) &&
           decode_src(d, 2, PTX_B32, &d->out->src[1]);
}
