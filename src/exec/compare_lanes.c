/* The comparisons themselves, by type: integers, f16 and bf16 (plain and packed), f32, f64. PTX ISA 9.3.1 and 9.7.5.
 * Each is a loop over all lanes that gathers one bit of each; the bits come from a table, because not every vector unit
 * can shift by lane. */
#include "exec/compare.h"
#include "exec/lanes.h"
#include "exec/pick.h"

#include <string.h>

#define EIGHT_BITS(first)                                                                                       \
    1u << (first), 2u << (first), 4u << (first), 8u << (first), 16u << (first), 32u << (first), 64u << (first), \
        128u << (first)
static const uint32_t lane_bit32[WARP_LANES] = {EIGHT_BITS(0), EIGHT_BITS(8), EIGHT_BITS(16), EIGHT_BITS(24)};
static const uint64_t lane_bit64[WARP_LANES] = {EIGHT_BITS(0), EIGHT_BITS(8), EIGHT_BITS(16), EIGHT_BITS(24)};

/* Values of the lanes as they are compared. */
#define PLAIN(v)  (v)
#define AS_U16(v) ((uint16_t)(v))
#define AS_S16(v) ((int16_t)(v))

static inline float flush_f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    if ((bits & 0x7f800000u) == 0)
        bits &= 0x80000000u;
    memcpy(&v, &bits, 4);
    return v;
}

/* 16-bit floats as integers in the same order, both zeros 0; a NaN is beyond the infinities. */
static inline int32_t order16(uint32_t v) { return v & 0x8000 ? -(int32_t)(v & 0x7fff) : (int32_t)(v & 0x7fff); }
static inline uint32_t flush_f16(uint32_t v) { return v & 0x7c00 ? v : v & 0x8000; }
#define F16_LOW(v)        order16(v)
#define F16_HIGH(v)       order16((v) >> 16)
#define F16_FLUSH_LOW(v)  order16(flush_f16(v))
#define F16_FLUSH_HIGH(v) order16(flush_f16((v) >> 16))

#define BITS_FUNCTION(name, T, W, VALUE, condition)                  \
    static inline uint32_t name(const void *left, const void *right) \
    {                                                                \
        const T *pa = left, *pb = right;                             \
        uint##W##_t bits = 0;                                        \
        VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++)             \
        {                                                            \
            __auto_type a = VALUE(pa[i]);                            \
            __auto_type b = VALUE(pb[i]);                            \
            bits |= (condition) ? lane_bit##W[i] : 0;                \
        }                                                            \
        return (uint32_t)bits;                                       \
    }
#define SETP_HANDLER(name, function, invert)                                                               \
    static void name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)                       \
    {                                                                                                      \
        write_pred(w, in->dst, mask, invert function(lane_data(w, in->src[0]), lane_data(w, in->src[1]))); \
    }
#define COMPARED(name, T, W, VALUE, condition) \
    BITS_FUNCTION(name, T, W, VALUE, condition) SETP_HANDLER(setp_##name, name, )
/* With the setp of the unordered inverse. */
#define COMPARED_F(name, T, W, VALUE, condition) \
    COMPARED(name, T, W, VALUE, condition) SETP_HANDLER(setp_not_##name, name, ~)

#define INTEGER(type, T, W, VALUE)           \
    COMPARED(eq_##type, T, W, VALUE, a == b) \
    COMPARED(ne_##type, T, W, VALUE, a != b) \
    COMPARED(lt_##type, T, W, VALUE, a < b)  \
    COMPARED(le_##type, T, W, VALUE, a <= b) \
    COMPARED(gt_##type, T, W, VALUE, a > b)  \
    COMPARED(ge_##type, T, W, VALUE, a >= b)
INTEGER(u16, uint32_t, 32, AS_U16)
INTEGER(s16, uint32_t, 32, AS_S16)
INTEGER(u32, uint32_t, 32, PLAIN)
INTEGER(s32, int32_t, 32, PLAIN)
INTEGER(u64, uint64_t, 64, PLAIN)
INTEGER(s64, int64_t, 64, PLAIN)

#define FLOATING(type, T, W, VALUE)                       \
    COMPARED_F(eq_##type, T, W, VALUE, a == b)            \
    COMPARED_F(ne_##type, T, W, VALUE, (a < b) | (a > b)) \
    COMPARED_F(lt_##type, T, W, VALUE, a < b)             \
    COMPARED_F(le_##type, T, W, VALUE, a <= b)            \
    COMPARED_F(gt_##type, T, W, VALUE, a > b)             \
    COMPARED_F(ge_##type, T, W, VALUE, a >= b)            \
    COMPARED_F(num_##type, T, W, VALUE, (a == a) & (b == b))
FLOATING(f32, float, 32, PLAIN)
FLOATING(f32_flush, float, 32, flush_f32)
FLOATING(f64, double, 64, PLAIN)

#define WITHIN(v, infinity)   ((v) >= -(infinity) && (v) <= (infinity))
#define BOTH_WITHIN(infinity) (WITHIN(a, infinity) && WITHIN(b, infinity))
#define HALF_FLOAT(type, VALUE, infinity)                                          \
    BITS_FUNCTION(eq_##type, uint32_t, 32, VALUE, a == b && BOTH_WITHIN(infinity)) \
    BITS_FUNCTION(ne_##type, uint32_t, 32, VALUE, a != b && BOTH_WITHIN(infinity)) \
    BITS_FUNCTION(lt_##type, uint32_t, 32, VALUE, a < b && BOTH_WITHIN(infinity))  \
    BITS_FUNCTION(le_##type, uint32_t, 32, VALUE, a <= b && BOTH_WITHIN(infinity)) \
    BITS_FUNCTION(gt_##type, uint32_t, 32, VALUE, a > b && BOTH_WITHIN(infinity))  \
    BITS_FUNCTION(ge_##type, uint32_t, 32, VALUE, a >= b && BOTH_WITHIN(infinity)) \
    BITS_FUNCTION(num_##type, uint32_t, 32, VALUE, BOTH_WITHIN(infinity))
HALF_FLOAT(f16, F16_LOW, 0x7c00)
HALF_FLOAT(f16_high, F16_HIGH, 0x7c00)
HALF_FLOAT(f16_flush, F16_FLUSH_LOW, 0x7c00)
HALF_FLOAT(f16_flush_high, F16_FLUSH_HIGH, 0x7c00)
HALF_FLOAT(bf16, F16_LOW, 0x7f80)
HALF_FLOAT(bf16_high, F16_HIGH, 0x7f80)

#define INTEGER_ENTRY(op, name) [op] = {name, NULL, false, setp_##name}
#define INTEGER_TABLE(type)                                                         \
    static const struct comparison type##_table[COMPARE_OPS] = {                    \
        INTEGER_ENTRY(COMPARE_EQ, eq_##type), INTEGER_ENTRY(COMPARE_NE, ne_##type), \
        INTEGER_ENTRY(COMPARE_LT, lt_##type), INTEGER_ENTRY(COMPARE_LE, le_##type), \
        INTEGER_ENTRY(COMPARE_GT, gt_##type), INTEGER_ENTRY(COMPARE_GE, ge_##type), \
    };
INTEGER_TABLE(s16)
INTEGER_TABLE(s32)
INTEGER_TABLE(s64)
#define UNSIGNED_TABLE(type)                                                        \
    static const struct comparison type##_table[COMPARE_OPS] = {                    \
        INTEGER_ENTRY(COMPARE_EQ, eq_##type), INTEGER_ENTRY(COMPARE_NE, ne_##type), \
        INTEGER_ENTRY(COMPARE_LT, lt_##type), INTEGER_ENTRY(COMPARE_LE, le_##type), \
        INTEGER_ENTRY(COMPARE_GT, gt_##type), INTEGER_ENTRY(COMPARE_GE, ge_##type), \
        INTEGER_ENTRY(COMPARE_LO, lt_##type), INTEGER_ENTRY(COMPARE_LS, le_##type), \
        INTEGER_ENTRY(COMPARE_HI, gt_##type), INTEGER_ENTRY(COMPARE_HS, ge_##type), \
    };
UNSIGNED_TABLE(u16)
UNSIGNED_TABLE(u32)
UNSIGNED_TABLE(u64)

/* ORDERED(op, f) and UNORDERED(op, f) make one entry. */
#define FLOAT_TABLE(type, ORDERED, UNORDERED)                                                                          \
    static const struct comparison type##_table[COMPARE_OPS] = {                                                       \
        ORDERED(COMPARE_EQ, eq, type) ORDERED(COMPARE_NE, ne, type) ORDERED(COMPARE_LT, lt, type)                      \
            ORDERED(COMPARE_LE, le, type) ORDERED(COMPARE_GT, gt, type) ORDERED(COMPARE_GE, ge, type)                  \
                ORDERED(COMPARE_NUM, num, type) UNORDERED(COMPARE_NAN, num, type) UNORDERED(COMPARE_EQU, ne, type)     \
                    UNORDERED(COMPARE_NEU, eq, type) UNORDERED(COMPARE_LTU, ge, type) UNORDERED(COMPARE_LEU, gt, type) \
                        UNORDERED(COMPARE_GTU, le, type) UNORDERED(COMPARE_GEU, lt, type)};
#define ORDERED_ENTRY(op, f, type)   [op] = {f##_##type, NULL, false, setp_##f##_##type},
#define UNORDERED_ENTRY(op, f, type) [op] = {f##_##type, NULL, true, setp_not_##f##_##type},
FLOAT_TABLE(f32, ORDERED_ENTRY, UNORDERED_ENTRY)
FLOAT_TABLE(f32_flush, ORDERED_ENTRY, UNORDERED_ENTRY)
FLOAT_TABLE(f64, ORDERED_ENTRY, UNORDERED_ENTRY)
#define ORDERED_HALVES(op, f, type)   [op] = {f##_##type, f##_##type##_high, false, NULL},
#define UNORDERED_HALVES(op, f, type) [op] = {f##_##type, f##_##type##_high, true, NULL},
FLOAT_TABLE(f16, ORDERED_HALVES, UNORDERED_HALVES)
FLOAT_TABLE(f16_flush, ORDERED_HALVES, UNORDERED_HALVES)
FLOAT_TABLE(bf16, ORDERED_HALVES, UNORDERED_HALVES)

static const struct comparison *table_of(enum ptx_type type, bool flush)
{
    switch (type) {
    case PTX_F32: return flush ? f32_flush_table : f32_table;
    case PTX_F16:
    case PTX_F16X2: return flush ? f16_flush_table : f16_table;
    default: break;
    }
    if (flush)
        return NULL;
    switch (type) {
    case PTX_U16:
    case PTX_B16: return u16_table;
    case PTX_U32:
    case PTX_B32: return u32_table;
    case PTX_U64:
    case PTX_B64: return u64_table;
    case PTX_S16: return s16_table;
    case PTX_S32: return s32_table;
    case PTX_S64: return s64_table;
    case PTX_BF16:
    case PTX_BF16X2: return bf16_table;
    case PTX_F64: return f64_table;
    default: return NULL;
    }
}

bool compare_find(enum ptx_type type, enum compare_op op, bool flush, struct comparison *found)
{
    const struct comparison *table = table_of(type, flush);
    if (!table || !table[op].bits)
        return false;
    if ((type == PTX_B16 || type == PTX_B32 || type == PTX_B64) && op != COMPARE_EQ && op != COMPARE_NE)
        return false;
    *found = table[op];
    return true;
}
