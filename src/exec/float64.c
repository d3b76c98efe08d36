/* f64 arithmetic, to nearest with the host's operators; the other roundings are in float64_directed.c. PTX ISA
 * 9.7.3. */
#include "exec/float_bits.h"
#include "exec/float_handlers.h"
#include "exec/lanes.h"

HANDLER_2(add_n, double, double, double, f64_nan2(a + b, a, b))
HANDLER_2(sub_n, double, double, double, f64_nan2(a - b, a, b))
HANDLER_2(mul_n, double, double, double, f64_nan2(a *b, a, b))
HANDLER_2(div_n, double, double, double,
          f64_nan2(a / b, b, a)) /* division is a routine, and looks at the dividend first */
HANDLER_3(fma_n, double, double, double, double, f64_nan3(__builtin_fma(a, b, c), a, b, c))
HANDLER_1(rcp_n, double, double, f64_nan1(1.0 / a, a))
HANDLER_1(sqrt_n, double, double, f64_nan1(__builtin_sqrt(a), a))

/* Sign-magnitude numbers in the order of integers, -0 before +0. */
FLOAT_INLINE int64_t order(double x)
{
    int64_t i = (int64_t)f64_bits(x);
    return i ^ (int64_t)((uint64_t)(i >> 63) >> 1);
}

/* NaN loses; of two, the second is handed on. */
FLOAT_INLINE double pick(double a, double b, bool take_a)
{
    double number = take_a ? a : b;
    double x = f64_is_nan(a) ? b : f64_is_nan(b) ? a : number;
    return f64_is_nan(x) ? f64_from(f64_bits(b) | F64_QUIET) : x;
}

HANDLER_2(min_n, double, double, double, pick(a, b, order(a) < order(b)))
HANDLER_2(max_n, double, double, double, pick(a, b, order(a) > order(b)))
/* A NaN keeps its sign here. */
HANDLER_1(abs_n, uint64_t, uint64_t, f64_is_nan(f64_from(a)) ? a | F64_QUIET : a & ~(1ull << 63))
HANDLER_1(neg_n, uint64_t, uint64_t, f64_is_nan(f64_from(a)) ? a | F64_QUIET : a ^ (1ull << 63))
HANDLER_2(copysign_bits, uint64_t, uint64_t, uint64_t, (a & (1ull << 63)) | (b & ~(1ull << 63)))

static bool in_class(uint64_t bits, enum float_class c)
{
    const uint64_t infinity = 0x7ff0000000000000ull, least = 0x0010000000000000ull;
    uint64_t magnitude = bits & ~(1ull << 63);
    switch (c) {
    case FLOAT_FINITE: return magnitude < infinity;
    case FLOAT_INFINITE: return magnitude == infinity;
    case FLOAT_NUMBER: return magnitude <= infinity;
    case FLOAT_NOTANUMBER: return magnitude > infinity;
    case FLOAT_NORMAL:
        return (magnitude >= least || magnitude == 0) && magnitude < infinity; /* zero is one to the hardware */
    case FLOAT_SUBNORMAL: return magnitude < least && magnitude != 0;
    }
    return false;
}

static void testp(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const uint64_t *a = lane_data(w, in->src[0]);
    uint32_t bits = 0;
    for (int i = 0; i < WARP_LANES; i++)
        bits |= (uint32_t)in_class(a[i], in->sub[0]) << i;
    write_pred(w, in->dst, mask, bits);
}

exec_handler *float64_handler(enum float_op op, const struct float_mode *m)
{
    if (m->rounding != ROUND_NEAREST && op <= FLOAT_SQRT)
        return float64_directed_handler(op, m->rounding);
    switch (op) {
    case FLOAT_ADD: return add_n;
    case FLOAT_SUB: return sub_n;
    case FLOAT_MUL: return mul_n;
    case FLOAT_FMA: return fma_n;
    case FLOAT_DIV: return div_n;
    case FLOAT_RCP: return rcp_n;
    case FLOAT_SQRT: return sqrt_n;
    case FLOAT_MIN: return min_n;
    case FLOAT_MAX: return max_n;
    case FLOAT_ABS: return abs_n;
    case FLOAT_NEG: return neg_n;
    case FLOAT_COPYSIGN: return copysign_bits;
    case FLOAT_TESTP: return testp;
    }
    return NULL;
}
