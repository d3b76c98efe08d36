/* Integer arithmetic: add sub mul mad div rem abs neg min max mul24 mad24 sad dp4a dp2a. PTX ISA 9.7.1.
 * The forms that read or write the carry flag are in int_carry.c. */
#include "exec/int_carry.h"
#include "exec/int_ops.h"
#include "exec/lanes.h"
#include "exec/pick.h"

#define BINARY_32(name, expression)   HANDLER_2(name, uint32_t, uint32_t, uint32_t, expression)
#define BINARY_64(name, expression)   HANDLER_2(name, uint64_t, uint64_t, uint64_t, expression)
#define BINARY_S32(name, expression)  HANDLER_2(name, uint32_t, int32_t, int32_t, expression)
#define BINARY_S64(name, expression)  HANDLER_2(name, uint64_t, int64_t, int64_t, expression)
#define TERNARY_32(name, expression)  HANDLER_3(name, uint32_t, uint32_t, uint32_t, uint32_t, expression)
#define TERNARY_64(name, expression)  HANDLER_3(name, uint64_t, uint64_t, uint64_t, uint64_t, expression)
#define TERNARY_S32(name, expression) HANDLER_3(name, uint32_t, int32_t, int32_t, uint32_t, expression)
#define TERNARY_S64(name, expression) HANDLER_3(name, uint64_t, int64_t, int64_t, uint64_t, expression)
/* Both halves of a word on their own. */
#define HALVES(low, high) ((uint32_t)(uint16_t)(low) | (uint32_t)(uint16_t)(high) << 16)

/* add, sub */
BINARY_32(add_16, (uint16_t)(a + b))
BINARY_32(add_32, a + b)
BINARY_64(add_64, a + b)
BINARY_32(add_16x2, HALVES(a + b, (a >> 16) + (b >> 16)))
BINARY_S32(add_sat_s32, saturate_s32((int64_t)a + b))
BINARY_32(sub_16, (uint16_t)(a - b))
BINARY_32(sub_32, a - b)
BINARY_64(sub_64, a - b)
BINARY_S32(sub_sat_s32, saturate_s32((int64_t)a - b))

static const struct typed_handler add_rows[] = {
    {PTX_S32, add_32}, {PTX_U32, add_32}, {PTX_S64, add_64},     {PTX_U64, add_64},
    {PTX_S16, add_16}, {PTX_U16, add_16}, {PTX_S16X2, add_16x2}, {PTX_U16X2, add_16x2},
};
static const struct typed_handler sub_rows[] = {
    {PTX_S32, sub_32}, {PTX_U32, sub_32}, {PTX_S64, sub_64}, {PTX_U64, sub_64}, {PTX_S16, sub_16}, {PTX_U16, sub_16},
};
static const struct typed_handler add_sat_rows[] = {{PTX_S32, add_sat_s32}};
static const struct typed_handler sub_sat_rows[] = {{PTX_S32, sub_sat_s32}};

bool decode_int_add(struct decoder *d)
{
    if (decode_has(d, PTX_MOD_CC))
        return decode_int_carry(d);
    enum ptx_type t = decode_type(d, 0);
    bool picked = decode_take(d, PTX_MOD_SAT) ? PICK(d, add_sat_rows, t) : PICK(d, add_rows, t);
    return picked && type_count_is(d, 1) && TAKE_OPERANDS(d, t, t, t);
}

bool decode_int_sub(struct decoder *d)
{
    if (decode_has(d, PTX_MOD_CC))
        return decode_int_carry(d);
    enum ptx_type t = decode_type(d, 0);
    bool picked = decode_take(d, PTX_MOD_SAT) ? PICK(d, sub_sat_rows, t) : PICK(d, sub_rows, t);
    return picked && type_count_is(d, 1) && TAKE_OPERANDS(d, t, t, t);
}

/* mul, mad */
BINARY_32(mul_lo_16, (uint16_t)(a *b))
BINARY_32(mul_lo_32, a *b)
BINARY_64(mul_lo_64, a *b)
BINARY_32(mul_hi_u16, (uint32_t)(uint16_t)a *(uint16_t)b >> 16)
BINARY_32(mul_hi_s16, (uint16_t)((int16_t)a *(int16_t)b >> 16))
BINARY_32(mul_hi_u32, mulhi_u32(a, b))
BINARY_S32(mul_hi_s32, mulhi_s32(a, b))
BINARY_64(mul_hi_u64, mulhi_u64(a, b))
BINARY_S64(mul_hi_s64, mulhi_s64(a, b))
BINARY_32(mul_wide_u16, (uint32_t)(uint16_t)a *(uint16_t)b)
BINARY_32(mul_wide_s16, (int16_t)a *(int16_t)b)
HANDLER_2(mul_wide_u32, uint64_t, uint32_t, uint32_t, (uint64_t)a *b)
HANDLER_2(mul_wide_s32, uint64_t, int32_t, int32_t, (int64_t)a *b)
TERNARY_32(mad_lo_16, (uint16_t)(a *b + c))
TERNARY_32(mad_lo_32, a *b + c)
TERNARY_64(mad_lo_64, a *b + c)
TERNARY_32(mad_hi_u16, (uint16_t)(((uint32_t)(uint16_t)a * (uint16_t)b >> 16) + c))
TERNARY_32(mad_hi_s16, (uint16_t)((uint32_t)((int16_t)a *(int16_t)b >> 16) + c))
TERNARY_32(mad_hi_u32, mulhi_u32(a, b) + c)
TERNARY_S32(mad_hi_s32, mulhi_s32(a, b) + c)
TERNARY_S32(mad_hi_sat_s32, saturate_s32((int64_t)(int32_t)mulhi_s32(a, b) + (int32_t)c))
TERNARY_64(mad_hi_u64, mulhi_u64(a, b) + c)
TERNARY_S64(mad_hi_s64, mulhi_s64(a, b) + c)
TERNARY_32(mad_wide_u16, (uint32_t)(uint16_t)a *(uint16_t)b + c)
TERNARY_32(mad_wide_s16, (uint32_t)((int16_t)a *(int16_t)b) + c)
HANDLER_3(mad_wide_u32, uint64_t, uint32_t, uint32_t, uint64_t, (uint64_t)a *b + c)
HANDLER_3(mad_wide_s32, uint64_t, int32_t, int32_t, uint64_t, (uint64_t)((int64_t)a *b) + c)

enum { PART_LO, PART_HI, PART_WIDE, PART_COUNT };
static const enum ptx_modifier part_modifiers[PART_COUNT] = {PTX_MOD_LO, PTX_MOD_HI, PTX_MOD_WIDE};

enum { INT_TYPES = 6 };
static const struct typed_handler mul_rows[PART_COUNT][INT_TYPES] = {
    {{PTX_S32, mul_lo_32},
     {PTX_U32, mul_lo_32},
     {PTX_S64, mul_lo_64},
     {PTX_U64, mul_lo_64},
     {PTX_S16, mul_lo_16},
     {PTX_U16, mul_lo_16}},
    {{PTX_S32, mul_hi_s32},
     {PTX_U32, mul_hi_u32},
     {PTX_S64, mul_hi_s64},
     {PTX_U64, mul_hi_u64},
     {PTX_S16, mul_hi_s16},
     {PTX_U16, mul_hi_u16}},
    {{PTX_S32, mul_wide_s32}, {PTX_U32, mul_wide_u32}, {PTX_S16, mul_wide_s16}, {PTX_U16, mul_wide_u16}},
};
static const struct typed_handler mad_rows[PART_COUNT][INT_TYPES] = {
    {{PTX_S32, mad_lo_32},
     {PTX_U32, mad_lo_32},
     {PTX_S64, mad_lo_64},
     {PTX_U64, mad_lo_64},
     {PTX_S16, mad_lo_16},
     {PTX_U16, mad_lo_16}},
    {{PTX_S32, mad_hi_s32},
     {PTX_U32, mad_hi_u32},
     {PTX_S64, mad_hi_s64},
     {PTX_U64, mad_hi_u64},
     {PTX_S16, mad_hi_s16},
     {PTX_U16, mad_hi_u16}},
    {{PTX_S32, mad_wide_s32}, {PTX_U32, mad_wide_u32}, {PTX_S16, mad_wide_s16}, {PTX_U16, mad_wide_u16}},
};
static const struct typed_handler mad_sat_rows[] = {{PTX_S32, mad_hi_sat_s32}};

static int take_part(struct decoder *d, int parts)
{
    int part = decode_take_one(d, part_modifiers, parts);
    if (part < 0)
        decode_wrong(d, NULL, "'%s' needs one of .lo, .hi%s", d->in->spelling, parts == PART_COUNT ? ", .wide" : "");
    return part;
}

bool decode_int_mul(struct decoder *d)
{
    int part = take_part(d, PART_COUNT);
    enum ptx_type t = decode_type(d, 0);
    return part >= 0 && PICK(d, mul_rows[part], t) && type_count_is(d, 1) &&
           TAKE_OPERANDS(d, part == PART_WIDE ? wider_type(t) : t, t, t);
}

bool decode_int_mad(struct decoder *d)
{
    if (decode_has(d, PTX_MOD_CC))
        return decode_int_carry(d);
    int part = take_part(d, PART_COUNT);
    enum ptx_type t = decode_type(d, 0);
    if (part < 0)
        return false;
    bool saturates = part == PART_HI && decode_take(d, PTX_MOD_SAT);
    if (!(saturates ? PICK(d, mad_sat_rows, t) : PICK(d, mad_rows[part], t)))
        return false;
    enum ptx_type sum = part == PART_WIDE ? wider_type(t) : t;
    return type_count_is(d, 1) && TAKE_OPERANDS(d, sum, t, t, sum);
}

/* mul24, mad24: 24-bit factors; .hi is bits 16 to 47 of the product. */
BINARY_32(mul24_lo_u32, low24_u(a) * low24_u(b))
BINARY_32(mul24_lo_s32, (int64_t)low24_s(a) * low24_s(b))
BINARY_32(mul24_hi_u32, (uint64_t)low24_u(a) * low24_u(b) >> 16)
BINARY_32(mul24_hi_s32, (int64_t)low24_s(a) * low24_s(b) >> 16)
TERNARY_32(mad24_lo_u32, low24_u(a) * low24_u(b) + c)
TERNARY_32(mad24_lo_s32, (uint32_t)((int64_t)low24_s(a) * low24_s(b)) + c)
TERNARY_32(mad24_hi_u32, (uint32_t)((uint64_t)low24_u(a) * low24_u(b) >> 16) + c)
TERNARY_32(mad24_hi_s32, (uint32_t)((int64_t)low24_s(a) * low24_s(b) >> 16) + c)
TERNARY_32(mad24_hi_sat_s32, saturate_s32(((int64_t)low24_s(a) * low24_s(b) >> 16) + (int32_t)c))

static const struct typed_handler mul24_rows[][2] = {
    {{PTX_U32, mul24_lo_u32}, {PTX_S32, mul24_lo_s32}},
    {{PTX_U32, mul24_hi_u32}, {PTX_S32, mul24_hi_s32}},
};
static const struct typed_handler mad24_rows[][2] = {
    {{PTX_U32, mad24_lo_u32}, {PTX_S32, mad24_lo_s32}},
    {{PTX_U32, mad24_hi_u32}, {PTX_S32, mad24_hi_s32}},
};
static const struct typed_handler mad24_sat_rows[] = {{PTX_S32, mad24_hi_sat_s32}};

bool decode_int_mul24(struct decoder *d)
{
    int part = take_part(d, PART_WIDE);
    enum ptx_type t = decode_type(d, 0);
    if (part < 0 || !type_count_is(d, 1))
        return false;
    if (d->in->opcode == PTX_OP_mul24)
        return PICK(d, mul24_rows[part], t) && TAKE_OPERANDS(d, t, t, t);
    bool saturates = part == PART_HI && decode_take(d, PTX_MOD_SAT);
    return (saturates ? PICK(d, mad24_sat_rows, t) : PICK(d, mad24_rows[part], t)) && TAKE_OPERANDS(d, t, t, t, t);
}

/* div, rem */
BINARY_32(div_lanes_u16, div_u16(a, b))
BINARY_32(div_lanes_s16, div_s16(a, b))
BINARY_32(div_lanes_u32, div_u32(a, b))
BINARY_S32(div_lanes_s32, div_s32(a, b))
BINARY_64(div_lanes_u64, div_u64(a, b))
BINARY_S64(div_lanes_s64, div_s64(a, b))
BINARY_32(rem_lanes_u16, rem_u16(a, b))
BINARY_32(rem_lanes_s16, rem_s16(a, b))
BINARY_32(rem_lanes_u32, rem_u32(a, b))
BINARY_S32(rem_lanes_s32, rem_s32(a, b))
BINARY_64(rem_lanes_u64, rem_u64(a, b))
BINARY_S64(rem_lanes_s64, rem_s64(a, b))

static const struct typed_handler div_rows[] = {
    {PTX_U32, div_lanes_u32}, {PTX_S32, div_lanes_s32}, {PTX_U64, div_lanes_u64},
    {PTX_S64, div_lanes_s64}, {PTX_U16, div_lanes_u16}, {PTX_S16, div_lanes_s16},
};
static const struct typed_handler rem_rows[] = {
    {PTX_U32, rem_lanes_u32}, {PTX_S32, rem_lanes_s32}, {PTX_U64, rem_lanes_u64},
    {PTX_S64, rem_lanes_s64}, {PTX_U16, rem_lanes_u16}, {PTX_S16, rem_lanes_s16},
};

bool decode_int_div(struct decoder *d)
{
    enum ptx_type t = decode_type(d, 0);
    bool picked = d->in->opcode == PTX_OP_div ? PICK(d, div_rows, t) : PICK(d, rem_rows, t);
    return picked && type_count_is(d, 1) && TAKE_OPERANDS(d, t, t, t);
}

/* abs, neg: the lowest value stays what it is. */
HANDLER_1(neg_16, uint32_t, uint32_t, (uint16_t)(0u - a))
HANDLER_1(neg_32, uint32_t, uint32_t, 0u - a)
HANDLER_1(neg_64, uint64_t, uint64_t, (uint64_t)0 - a)
HANDLER_1(abs_16, uint32_t, uint32_t, (uint16_t)((int16_t)a < 0 ? 0u - a : a))
HANDLER_1(abs_32, uint32_t, uint32_t, (int32_t)a < 0 ? 0u - a : a)
HANDLER_1(abs_64, uint64_t, uint64_t, (int64_t)a < 0 ? (uint64_t)0 - a : a)

static const struct typed_handler neg_rows[] = {{PTX_S32, neg_32}, {PTX_S64, neg_64}, {PTX_S16, neg_16}};
static const struct typed_handler abs_rows[] = {{PTX_S32, abs_32}, {PTX_S64, abs_64}, {PTX_S16, abs_16}};

bool decode_int_unary(struct decoder *d)
{
    enum ptx_type t = decode_type(d, 0);
    bool picked = d->in->opcode == PTX_OP_neg ? PICK(d, neg_rows, t) : PICK(d, abs_rows, t);
    return picked && type_count_is(d, 1) && TAKE_OPERANDS(d, t, t);
}

/* min, max */
#define LESSER(a, b)  ((a) < (b) ? (a) : (b))
#define GREATER(a, b) ((a) > (b) ? (a) : (b))
#define LOW_U(v)      ((uint16_t)(v))
#define LOW_S(v)      ((int16_t)(v))
#define HIGH_U(v)     ((uint16_t)((v) >> 16))
#define HIGH_S(v)     ((int16_t)((v) >> 16))
#define MIN_MAX(name, PICKED)                                                                               \
    BINARY_32(name##_u16, PICKED(LOW_U(a), LOW_U(b)))                                                       \
    BINARY_32(name##_s16, (uint16_t)PICKED(LOW_S(a), LOW_S(b)))                                             \
    BINARY_32(name##_u32, PICKED(a, b))                                                                     \
    BINARY_S32(name##_s32, PICKED(a, b))                                                                    \
    BINARY_64(name##_u64, PICKED(a, b))                                                                     \
    BINARY_S64(name##_s64, PICKED(a, b))                                                                    \
    BINARY_32(name##_u16x2, HALVES(PICKED(LOW_U(a), LOW_U(b)), PICKED(HIGH_U(a), HIGH_U(b))))               \
    BINARY_32(name##_s16x2, HALVES(PICKED(LOW_S(a), LOW_S(b)), PICKED(HIGH_S(a), HIGH_S(b))))               \
    BINARY_S32(name##_relu_s32, GREATER(PICKED(a, b), 0))                                                   \
    BINARY_32(name##_relu_s16x2,                                                                            \
              HALVES(GREATER(PICKED(LOW_S(a), LOW_S(b)), 0), GREATER(PICKED(HIGH_S(a), HIGH_S(b)), 0)))     \
    static const struct typed_handler name##_rows[] = {                                                     \
        {PTX_S32, name##_s32}, {PTX_U32, name##_u32}, {PTX_S64, name##_s64},     {PTX_U64, name##_u64},     \
        {PTX_S16, name##_s16}, {PTX_U16, name##_u16}, {PTX_S16X2, name##_s16x2}, {PTX_U16X2, name##_u16x2}, \
    };                                                                                                      \
    static const struct typed_handler name##_relu_rows[] = {{PTX_S32, name##_relu_s32}, {PTX_S16X2, name##_relu_s16x2}};
MIN_MAX(min, LESSER)
MIN_MAX(max, GREATER)

bool decode_int_minmax(struct decoder *d)
{
    enum ptx_type t = decode_type(d, 0);
    bool relu = decode_take(d, PTX_MOD_RELU), picked;
    if (d->in->opcode == PTX_OP_min)
        picked = relu ? PICK(d, min_relu_rows, t) : PICK(d, min_rows, t);
    else
        picked = relu ? PICK(d, max_relu_rows, t) : PICK(d, max_rows, t);
    return picked && type_count_is(d, 1) && TAKE_OPERANDS(d, t, t, t);
}

/* sad: c + |a - b|, the difference in the type's own width. */
#define DISTANCE(a, b) ((a) < (b) ? (b) - (a) : (a) - (b))
TERNARY_32(sad_u16, (uint16_t)(DISTANCE(LOW_U(a), LOW_U(b)) + c))
TERNARY_32(sad_s16, (uint16_t)((uint32_t)DISTANCE(LOW_S(a), LOW_S(b)) + c))
TERNARY_32(sad_u32, DISTANCE(a, b) + c)
TERNARY_32(sad_s32, ((int32_t)a < (int32_t)b ? b - a : a - b) + c)
TERNARY_64(sad_u64, DISTANCE(a, b) + c)
TERNARY_64(sad_s64, ((int64_t)a < (int64_t)b ? b - a : a - b) + c)

static const struct typed_handler sad_rows[] = {
    {PTX_U32, sad_u32}, {PTX_S32, sad_s32}, {PTX_U64, sad_u64},
    {PTX_S64, sad_s64}, {PTX_U16, sad_u16}, {PTX_S16, sad_s16},
};

bool decode_int_sad(struct decoder *d)
{
    enum ptx_type t = decode_type(d, 0);
    return PICK(d, sad_rows, t) && type_count_is(d, 1) && TAKE_OPERANDS(d, t, t, t, t);
}

/* dp4a: four bytes with four bytes; dp2a: two halves with the low or the high two bytes. Sums wrap. */
#define BYTE(T, v, k) ((T)(uint8_t)((v) >> 8 * (k)))
#define HALF(T, v, k) ((T)(uint16_t)((v) >> 16 * (k)))
#define DOT(suffix, A16, A8, B8)                                                                                      \
    TERNARY_32(dp4a_##suffix, c + (uint32_t)(BYTE(A8, a, 0) * BYTE(B8, b, 0) + BYTE(A8, a, 1) * BYTE(B8, b, 1) +      \
                                             BYTE(A8, a, 2) * BYTE(B8, b, 2) + BYTE(A8, a, 3) * BYTE(B8, b, 3)))      \
    TERNARY_32(dp2a_lo_##suffix, c + (uint32_t)(HALF(A16, a, 0) * BYTE(B8, b, 0) + HALF(A16, a, 1) * BYTE(B8, b, 1))) \
    TERNARY_32(dp2a_hi_##suffix, c + (uint32_t)(HALF(A16, a, 0) * BYTE(B8, b, 2) + HALF(A16, a, 1) * BYTE(B8, b, 3)))
DOT(uu, uint16_t, uint8_t, uint8_t)
DOT(us, uint16_t, uint8_t, int8_t)
DOT(su, int16_t, int8_t, uint8_t)
DOT(ss, int16_t, int8_t, int8_t)

static exec_handler *const dot_handlers[][4] = {
    {dp4a_uu, dp4a_us, dp4a_su, dp4a_ss},
    {dp2a_lo_uu, dp2a_lo_us, dp2a_lo_su, dp2a_lo_ss},
    {dp2a_hi_uu, dp2a_hi_us, dp2a_hi_su, dp2a_hi_ss},
};

bool decode_int_dot(struct decoder *d)
{
    enum ptx_type a = decode_type(d, 0), b = decode_type(d, 1);
    int part = 0;
    if (d->in->opcode == PTX_OP_dp2a && (part = take_part(d, PART_WIDE) + 1) == 0)
        return false;
    if (!type_count_is(d, 2))
        return false;
    if (a != PTX_U32 && a != PTX_S32)
        return wrong_type(d, a);
    if (b != PTX_U32 && b != PTX_S32)
        return wrong_type(d, b);
    d->out->fn = dot_handlers[part][(a == PTX_S32) * 2 + (b == PTX_S32)];
    enum ptx_type sum = a == PTX_U32 && b == PTX_U32 ? PTX_U32 : PTX_S32;
    return TAKE_OPERANDS(d, sum, PTX_B32, PTX_B32, sum);
}
