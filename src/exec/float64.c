/* f64 arithmetic. To nearest with the host's operators, in the other roundings by soft_float.c. PTX ISA 9.7.3. */
#include "exec/float_bits.h"
#include "exec/float_handlers.h"
#include "exec/lanes.h"
#include "exec/soft_float.h"

HANDLER_2(add_n, double, double, double, f64_nan2(a + b, a, b))
HANDLER_2(sub_n, double, double, double, f64_nan2(a - b, a, b))
HANDLER_2(mul_n, double, double, double, f64_nan2(a * b, a, b))
HANDLER_2(div_n, double, double, double, f64_nan2(a / b, b, a)) /* division is a routine, and looks at the dividend first */
HANDLER_3(fma_n, double, double, double, double, f64_nan3(__builtin_fma(a, b, c), a, b, c))
HANDLER_1(rcp_n, double, double, f64_nan1(1.0 / a, a))
HANDLER_1(sqrt_n, double, double, f64_nan1(__builtin_sqrt(a), a))

static bool finite64(double x) { return (f64_bits(x) & 0x7ff0000000000000ull) != 0x7ff0000000000000ull; }
static struct soft unpack(double x) { return soft_unpack(&soft_f64, f64_bits(x)); }
static double pack(struct soft v, enum exec_rounding r) { return f64_from(soft_pack(&soft_f64, v, r, false)); }

static double add_directed(double a, double b, enum exec_rounding r)
{
    return finite64(a) && finite64(b) ? pack(soft_add(unpack(a), unpack(b), r), r) : f64_nan2(a + b, a, b);
}

static double mul_directed(double a, double b, enum exec_rounding r)
{
    return finite64(a) && finite64(b) ? pack(soft_mul(unpack(a), unpack(b)), r) : f64_nan2(a * b, a, b);
}

static double fma_directed(double a, double b, double c, enum exec_rounding r)
{
    if (!finite64(a) || !finite64(b) || !finite64(c))
        return f64_nan3(__builtin_fma(a, b, c), a, b, c);
    return pack(soft_add(soft_mul(unpack(a), unpack(b)), unpack(c), r), r);
}

static double div_directed(double a, double b, enum exec_rounding r)
{
    return finite64(a) && finite64(b) && b != 0.0 ? pack(soft_div(unpack(a), unpack(b)), r) : f64_nan2(a / b, b, a);
}

static double sqrt_directed(double a, enum exec_rounding r)
{
    return finite64(a) && a > 0.0 ? pack(soft_sqrt(unpack(a)), r) : f64_nan1(__builtin_sqrt(a), a);
}

/* The rounding is in sub[0]. A NaN of a difference is that of the operand as it stands, so b's sign is changed only for numbers. */
#define DIRECTED(name, expression)                                                                   \
    static void name##_d(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)             \
    {                                                                                                \
        double *d = lane_data(w, in->dst);                                                           \
        const double *pa = lane_data(w, in->src[0]), *pb = lane_data(w, in->src[1]), *pc = lane_data(w, in->src[2]); \
        enum exec_rounding r = in->sub[0];                                                           \
        FOR_EACH_LANE(mask, i)                                                                       \
        {                                                                                            \
            double a = pa[i], b = pb[i], c = pc[i];                                                  \
            (void)b, (void)c;                                                                        \
            d[i] = (expression);                                                                     \
        }                                                                                            \
    }
DIRECTED(add, add_directed(a, b, r))
DIRECTED(sub, add_directed(a, f64_is_nan(b) ? b : -b, r))
DIRECTED(mul, mul_directed(a, b, r))
DIRECTED(fma, fma_directed(a, b, c, r))
DIRECTED(div, div_directed(a, b, r))
DIRECTED(rcp, f64_is_nan(a) ? f64_nan1(a, a) : div_directed(1.0, a, r))
DIRECTED(sqrt, sqrt_directed(a, r))

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
    case FLOAT_NORMAL: return (magnitude >= least || magnitude == 0) && magnitude < infinity; /* zero is one to the hardware */
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
    bool nearest = m->rounding == ROUND_NEAREST;
    switch (op) {
    case FLOAT_ADD: return nearest ? add_n : add_d;
    case FLOAT_SUB: return nearest ? sub_n : sub_d;
    case FLOAT_MUL: return nearest ? mul_n : mul_d;
    case FLOAT_FMA: return nearest ? fma_n : fma_d;
    case FLOAT_DIV: return nearest ? div_n : div_d;
    case FLOAT_RCP: return nearest ? rcp_n : rcp_d;
    case FLOAT_SQRT: return nearest ? sqrt_n : sqrt_d;
    case FLOAT_MIN: return min_n;
    case FLOAT_MAX: return max_n;
    case FLOAT_ABS: return abs_n;
    case FLOAT_NEG: return neg_n;
    case FLOAT_COPYSIGN: return copysign_bits;
    case FLOAT_TESTP: return testp;
    }
    return NULL;
}
