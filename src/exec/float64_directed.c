/* f64 arithmetic rounded toward zero, down or up (PTX ISA 9.7.3), with no use of the host's rounding mode.
 *
 * As in float_round.h, an operation is done to nearest and its result moved by one unit in the last place where the
 * exact result lies on the other side. Here the side is that of the operation's error, which is a double of its own:
 * of a sum by Knuth's TwoSum, of a product by one fma, of a multiply-add by the algorithm of Boldo and Muller (Exact
 * and Approximated Error of the FMA, 2011), of a quotient or root by multiplying back. All of these are exact as long
 * as no step overflows, or loses bits below the smallest number; lanes that might (`easy` says no), and infinities and
 * NaNs, are done one by one on integers (soft_float.c). */
#include "exec/float_handlers.h"
#include "exec/float_round.h"
#include "exec/lanes.h"
#include "exec/soft_float.h"

/* One by one */

static bool is_finite(double x) { return (f64_bits(x) & 0x7ff0000000000000ull) != 0x7ff0000000000000ull; }
static struct soft unpack(double x) { return soft_unpack(&soft_f64, f64_bits(x)); }
static double pack(struct soft v, enum exec_rounding r) { return f64_from(soft_pack(&soft_f64, v, r, false)); }

static double add_slowly(double a, double b, enum exec_rounding r)
{
    return is_finite(a) && is_finite(b) ? pack(soft_add(unpack(a), unpack(b), r), r) : f64_nan2(a + b, a, b);
}

/* A NaN of a difference is that of the operand as it stands, so b's sign is changed only for numbers. */
static double sub_slowly(double a, double b, enum exec_rounding r) { return add_slowly(a, f64_is_nan(b) ? b : -b, r); }

static double mul_slowly(double a, double b, enum exec_rounding r)
{
    return is_finite(a) && is_finite(b) ? pack(soft_mul(unpack(a), unpack(b)), r) : f64_nan2(a * b, a, b);
}

static double fma_slowly(double a, double b, double c, enum exec_rounding r)
{
    if (!is_finite(a) || !is_finite(b) || !is_finite(c))
        return f64_nan3(__builtin_fma(a, b, c), a, b, c);
    return pack(soft_add(soft_mul(unpack(a), unpack(b)), unpack(c), r), r);
}

static double div_slowly(double a, double b, enum exec_rounding r)
{
    return is_finite(a) && is_finite(b) && b != 0.0 ? pack(soft_div(unpack(a), unpack(b)), r) : f64_nan2(a / b, b, a);
}

static double rcp_slowly(double a, enum exec_rounding r)
{
    return f64_is_nan(a) ? f64_nan1(a, a) : div_slowly(1.0, a, r);
}

static double sqrt_slowly(double a, enum exec_rounding r)
{
    return is_finite(a) && a > 0.0 ? pack(soft_sqrt(unpack(a)), r) : f64_nan1(__builtin_sqrt(a), a);
}

/* All at once */

/* Bits of 2^e. */
#define POWER(e) ((uint64_t)((e) + 1023) << 52)
/* Factors, sums and quotients below 2^MOST leave room for all steps above; products and dividends from 2^LEAST on, for
 * the bits below them. */
enum { MOST = 980, LEAST = -900 };

FLOAT_INLINE uint64_t magnitude(double x) { return f64_bits(x) & ~(1ull << 63); }
/* 0 or 1 as wide as what they are about, so that loops over them vectorise. */
FLOAT_INLINE uint64_t is_small(double x) { return magnitude(x) < POWER(MOST); }
FLOAT_INLINE uint64_t is_medium(double x) { return magnitude(x) - POWER(LEAST) < POWER(MOST) - POWER(LEAST); }
FLOAT_INLINE uint64_t is_zero(double x) { return magnitude(x) == 0; }

/* An exact zero of a sum is negative when rounding down, unless both terms are +0. */
FLOAT_INLINE double zero_sum(double x, double a, double b, enum exec_rounding r)
{
    double zero = f64_from((f64_bits(a) | f64_bits(b)) & 1ull << 63);
    return r != ROUND_DOWN ? x : x == 0.0 ? zero : x;
}

FLOAT_INLINE double add_directed(double a, double b, enum exec_rounding r)
{
    double sum = a + b;
    return zero_sum(f64_direct(sum, f64_sum_error(a, b, sum), r), a, b, r);
}

FLOAT_INLINE double mul_directed(double a, double b, enum exec_rounding r)
{
    double product = a * b;
    return f64_direct(product, f64_product_error(a, b, product), r);
}

/* The product is easy, or a zero of a zero. */
FLOAT_INLINE uint64_t is_easy_product(double a, double b)
{
    return (is_small(a) & is_small(b)) & (is_medium(a * b) | is_zero(a) | is_zero(b));
}

FLOAT_INLINE double fma_directed(double a, double b, double c, enum exec_rounding r)
{
    double product = a * b, low = f64_product_error(a, b, product), x;
    double upper = c + low, upper_error = f64_sum_error(c, low, upper);
    double sum = product + upper, sum_error = f64_sum_error(product, upper, sum);
#if HOST_HAS_FMA
    x = __builtin_fma(a, b, c);
#else
    /* sum + sum_error + upper_error is the exact result; rounding the last two to odd makes the last sum round once
     * (Boldo and Melquiond, Emulation of FMA, 2008). */
    double rest = sum_error + upper_error;
    x = sum + f64_round_odd(rest, f64_sum_error(sum_error, upper_error, rest));
    x = x == 0.0 ? product + c : x; /* the sign of a zero */
#endif
    double error = ((sum - x) + sum_error) + upper_error;
    return zero_sum(f64_direct(x, error, r), product, c, r);
}

FLOAT_INLINE double div_directed(double a, double b, enum exec_rounding r)
{
    double quotient = a / b, product = quotient * b;
    double rest = (a - product) - f64_product_error(quotient, b, product);
    return f64_direct(quotient, b < 0.0 ? -rest : rest, r);
}

FLOAT_INLINE uint64_t is_easy_quotient(double a, double b)
{
    return is_medium(b) & ((is_medium(a) & is_medium(a / b)) | is_zero(a));
}

FLOAT_INLINE double sqrt_directed(double a, enum exec_rounding r)
{
    double root = __builtin_sqrt(a), square = root * root;
    return f64_direct(root, (a - square) - f64_product_error(root, root, square), r);
}

/* A handler for each rounding. Sources may be the destination too: nothing is written before all lanes are done. */
#define DIRECTED(name, easy, quickly, slowly)                                                                        \
    FLOAT_INLINE void name##_lanes(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,                   \
                                   enum exec_rounding r)                                                             \
    {                                                                                                                \
        double *d = lane_data(w, in->dst), x[WARP_LANES];                                                            \
        const double *pa = lane_data(w, in->src[0]), *pb = lane_data(w, in->src[1]), *pc = lane_data(w, in->src[2]); \
        uint64_t hard[WARP_LANES], any = 0;                                                                          \
        VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++)                                                             \
        {                                                                                                            \
            double a = pa[i], b = pb[i], c = pc[i];                                                                  \
            (void)b, (void)c;                                                                                        \
            x[i] = (quickly);                                                                                        \
            hard[i] = 1 ^ (easy);                                                                                    \
            any |= hard[i];                                                                                          \
        }                                                                                                            \
        for (uint32_t left = any ? mask : 0; left; left &= left - 1) {                                               \
            int i = __builtin_ctz(left);                                                                             \
            double a = pa[i], b = pb[i], c = pc[i];                                                                  \
            (void)b, (void)c;                                                                                        \
            if (hard[i])                                                                                             \
                x[i] = (slowly);                                                                                     \
        }                                                                                                            \
        FOR_LANES(mask, d[i] = x[i]);                                                                                \
    }                                                                                                                \
    static void name##_z(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)                             \
    {                                                                                                                \
        name##_lanes(w, in, mask, ROUND_ZERO);                                                                       \
    }                                                                                                                \
    static void name##_m(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)                             \
    {                                                                                                                \
        name##_lanes(w, in, mask, ROUND_DOWN);                                                                       \
    }                                                                                                                \
    static void name##_p(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)                             \
    {                                                                                                                \
        name##_lanes(w, in, mask, ROUND_UP);                                                                         \
    }
DIRECTED(add, is_small(a) & is_small(b), add_directed(a, b, r), add_slowly(a, b, r))
DIRECTED(sub, is_small(a) & is_small(b), add_directed(a, -b, r), sub_slowly(a, b, r))
DIRECTED(mul, is_easy_product(a, b), mul_directed(a, b, r), mul_slowly(a, b, r))
DIRECTED(fma, is_easy_product(a, b) & is_small(c), fma_directed(a, b, c, r), fma_slowly(a, b, c, r))
DIRECTED(div, is_easy_quotient(a, b), div_directed(a, b, r), div_slowly(a, b, r))
DIRECTED(rcp, is_easy_quotient(1.0, a), div_directed(1.0, a, r), rcp_slowly(a, r))
DIRECTED(sqrt, is_medium(a) & (uint64_t)(a > 0.0), sqrt_directed(a, r), sqrt_slowly(a, r))

exec_handler *float64_directed_handler(enum float_op op, enum exec_rounding r)
{
#define ROW(name)                                                               \
    {                                                                           \
        [ROUND_ZERO] = name##_z, [ROUND_DOWN] = name##_m, [ROUND_UP] = name##_p \
    }
    static exec_handler *const handlers[FLOAT_SQRT + 1][ROUND_UP + 1] = {
        [FLOAT_ADD] = ROW(add), [FLOAT_SUB] = ROW(sub), [FLOAT_MUL] = ROW(mul),   [FLOAT_FMA] = ROW(fma),
        [FLOAT_DIV] = ROW(div), [FLOAT_RCP] = ROW(rcp), [FLOAT_SQRT] = ROW(sqrt),
    };
    return op <= FLOAT_SQRT && r <= ROUND_UP ? handlers[op][r] : NULL;
}
