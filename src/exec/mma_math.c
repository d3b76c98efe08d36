/* The arithmetic of wmma and mma (PTX ISA 9.7.14), as an H200 does it.
 *
 * f16, bf16, tf32: products are exact. Those of up to TENSOR_WIDTH steps of k and the accumulator are aligned to the
 * largest exponent among them, each cut (towards zero) after TENSOR_FRACTION_BITS, and added exactly; the sum is cut
 * to f32, or rounded to nearest for f16. The ISA leaves order and precision open; these values repeat the hardware's
 * results to the bit. Earlier chips have narrower units: 4 wide on sm_70, 8 on sm_80, with one or two bits less. e4m3,
 * e5m2: as Hopper runs them, on the f16 unit in two halves, with the accumulator added at the end. f64: fused
 * multiply-adds in ascending order of k. Integers: exact, then wrapped or saturated. */
#include "exec/mma_math.h"

#include "exec/float_bits.h"
#include "exec/float_round.h"
#include "exec/soft_float.h"

#include <string.h>

enum {
    SIGNIFICAND_BITS = 10, /* fraction bits of a term's significand: those of f16 and tf32, the widest */
    ZERO_EXPONENT = -4096, /* zeros never are the largest */
    INFINITY_EXPONENT = 4096,
    NAN_EXPONENT = 8192,
};

/* A matrix of significands and exponents: significand * 2^(exponent - SIGNIFICAND_BITS). Infinities have significand 1
 * or -1 and an exponent of their own. */
struct terms {
    int32_t significand[MATRIX_ELEMENTS], exponent[MATRIX_ELEMENTS];
    uint32_t special; /* bit i: row i holds an infinity or a NaN */
};

struct term {
    int32_t significand, exponent;
};

static struct term unpack_term(uint32_t bits, int exponent_bits, int fraction_bits)
{
    uint32_t fraction = bits & ((1u << fraction_bits) - 1), top = (1u << exponent_bits) - 1;
    int32_t exponent = (int32_t)(bits >> fraction_bits & top), bias = (1 << (exponent_bits - 1)) - 1;
    bool negative = bits >> (exponent_bits + fraction_bits) & 1;
    if (exponent == (int32_t)top)
        return (struct term){negative ? -1 : 1, fraction ? NAN_EXPONENT : INFINITY_EXPONENT};
    int32_t significand = (int32_t)(exponent ? fraction | 1u << fraction_bits : fraction);
    if (significand == 0)
        return (struct term){0, ZERO_EXPONENT};
    return (struct term){negative ? -significand : significand, (exponent ? exponent : 1) - bias};
}

/* All values of e4m3 and e5m2 are values of f16; e4m3 has one NaN and no infinity. */
static uint32_t f16_of_fp8(uint32_t bits, enum ptx_type type)
{
    if (type == PTX_E5M2)
        return bits << 8;
    if ((bits & 0x7f) == 0x7f)
        return F16_NAN;
    float magnitude = f16_to_f32((uint16_t)((bits & 0x7f) << 7)) * 256.0f; /* biases 7 and 15 */
    return f16_from_f32(bits & 0x80 ? -magnitude : magnitude);
}

static struct term unpack_element(uint32_t bits, enum ptx_type type)
{
    struct term t;
    switch (type) {
    case PTX_F16: return unpack_term(bits, 5, 10);
    case PTX_TF32: return unpack_term(bits >> 13, 8, 10);
    case PTX_BF16:
        t = unpack_term(bits, 8, 7);
        if (t.exponent < INFINITY_EXPONENT)
            t.significand *= 1 << (SIGNIFICAND_BITS - 7);
        return t;
    default: return unpack_term(f16_of_fp8(bits, type), 5, 10);
    }
}

/* Four elements at a time. */
typedef int32_t quad __attribute__((vector_size(16)));
typedef uint32_t bits_quad __attribute__((vector_size(16)));

static inline quad quad_at(const int32_t *from)
{
    quad q;
    memcpy(&q, from, sizeof q);
    return q;
}

static inline quad larger(quad a, quad b)
{
    quad above = a > b;
    return (a & above) | (b & ~above);
}

/* As unpack_term, of elements without infinities and NaNs, with fractions made as long as the widest. Returns whether
 * there were any. */
static bool unpack_quads(const union matrix *in, int count, int skip_bits, int exponent_bits, int fraction_bits,
                         struct terms *out)
{
    int32_t top = (1 << exponent_bits) - 1, bias = top / 2;
    quad special = {0};
    for (int i = 0; i < count; i += 4) {
        bits_quad bits;
        memcpy(&bits, &in->word[i], sizeof bits);
        bits >>= skip_bits;
        quad exponent = (quad)(bits >> fraction_bits) & top, normal = exponent != 0,
             negative = -((quad)(bits >> (exponent_bits + fraction_bits)) & 1);
        quad significand = ((quad)bits & ((1 << fraction_bits) - 1)) | (normal & 1 << fraction_bits);
        quad zero = significand == 0;
        special |= exponent == top;
        significand <<= SIGNIFICAND_BITS - fraction_bits;
        significand = (significand ^ negative) - negative;
        exponent = ((exponent - bias + (~normal & 1)) & ~zero) | (zero & ZERO_EXPONENT);
        memcpy(&out->significand[i], &significand, sizeof significand);
        memcpy(&out->exponent[i], &exponent, sizeof exponent);
    }
    return !(special[0] | special[1] | special[2] | special[3]);
}

static bool unpack_finite(const union matrix *in, int count, enum ptx_type type, struct terms *out)
{
    switch (type) {
    case PTX_F16: return unpack_quads(in, count, 0, 5, 10, out);
    case PTX_BF16: return unpack_quads(in, count, 0, 8, 7, out);
    case PTX_TF32: return unpack_quads(in, count, 13, 8, 10, out);
    default: return false;
    }
}

static void unpack_matrix(const union matrix *in, int rows, int columns, enum ptx_type type, struct terms *out)
{
    out->special = 0;
    if (rows * columns % 4 == 0 && unpack_finite(in, rows * columns, type, out))
        return;
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++) {
            struct term t = unpack_element(in->word[i * columns + k], type);
            out->significand[i * columns + k] = t.significand;
            out->exponent[i * columns + k] = t.exponent;
            out->special |= (uint32_t)(t.exponent >= INFINITY_EXPONENT) << i;
        }
}

/* One pass through the unit: rows of terms, aligned, cut and added. */

struct tensor_sum {
    int64_t sum;
    int32_t exponent;
}; /* sum * 2^(exponent - TENSOR_FRACTION_BITS) */

static inline int32_t cut(int32_t value, int32_t shift)
{
    int32_t s = shift > 31 ? 31 : shift;
    return (value + ((value >> 31) & (int32_t)((1u << s) - 1))) >> s; /* towards zero */
}

static struct tensor_sum tensor_add(const int32_t *a, const int32_t *a_exponent, const int32_t *b,
                                    const int32_t *b_exponent, int count, struct term c)
{
    int32_t largest = c.exponent;
    for (int k = 0; k < count; k++) {
        int32_t e = a_exponent[k] + b_exponent[k];
        largest = e > largest ? e : largest;
    }
    int64_t sum = cut(c.significand * (1 << (TENSOR_FRACTION_BITS - 23)), largest - c.exponent);
    for (int k = 0; k < count; k++)
        sum += cut(a[k] * b[k] * (1 << (TENSOR_FRACTION_BITS - 2 * SIGNIFICAND_BITS)),
                   largest - (a_exponent[k] + b_exponent[k]));
    return (struct tensor_sum){sum, largest};
}

/* The same for four neighbouring columns of B, which has steps of k one below the other here, count terms apart. Sums
 * of up to TENSOR_WIDTH products fit into 32 bits. */
static inline void tensor_add_four(const int32_t *a, const int32_t *a_exponent, const int32_t *b,
                                   const int32_t *b_exponent, int apart, int count, const struct term c[4],
                                   struct tensor_sum out[4])
{
    quad largest = {c[0].exponent, c[1].exponent, c[2].exponent, c[3].exponent}, sum = {0};
    for (int k = 0; k < count; k++)
        largest = larger(largest, quad_at(b_exponent + k * apart) + a_exponent[k]);
    for (int k = 0; k < count; k++) {
        quad value = quad_at(b + k * apart) * (a[k] * (1 << (TENSOR_FRACTION_BITS - 2 * SIGNIFICAND_BITS)));
        quad shift = largest - (quad_at(b_exponent + k * apart) + a_exponent[k]), far = shift > 31;
        shift = (shift & ~far) | (far & 31);
        bits_quad below = ((bits_quad){1, 1, 1, 1} << (bits_quad)shift) - 1;
        sum += (value + ((value >> 31) & (quad)below)) >> shift; /* towards zero */
    }
    for (int i = 0; i < 4; i++)
        out[i] = (struct tensor_sum){
            (int64_t)sum[i] + cut(c[i].significand * (1 << (TENSOR_FRACTION_BITS - 23)), largest[i] - c[i].exponent),
            largest[i]};
}

/* The sum as a number of a format; its magnitude is cut, or rounded to nearest. */
static uint32_t pack_sum(struct tensor_sum s, int exponent_bits, int fraction_bits, bool nearest)
{
    if (s.sum == 0)
        return 0;
    uint32_t sign = s.sum < 0 ? 1u << (exponent_bits + fraction_bits) : 0;
    uint64_t magnitude = s.sum < 0 ? (uint64_t)-s.sum : (uint64_t)s.sum;
    int bias = (1 << (exponent_bits - 1)) - 1, unit = s.exponent - TENSOR_FRACTION_BITS;
    int exponent = unit + 63 - __builtin_clzll(magnitude), smallest = 1 - bias;
    int last = (exponent > smallest ? exponent : smallest) - fraction_bits; /* exponent of the last bit kept */
    int shift = last - unit;
    uint64_t kept = shift > 63 ? 0 : shift > 0 ? magnitude >> shift : magnitude << -shift;
    if (nearest && shift > 0 && shift < 64) {
        uint64_t rest = magnitude & ((1ull << shift) - 1), half = 1ull << (shift - 1);
        kept += rest > half || (rest == half && (kept & 1));
    }
    /* The leading bit, where there is one, counts the exponent up by one; a carry of the rounding does so again. */
    uint64_t bits = ((uint64_t)(last + fraction_bits + bias - 1) << fraction_bits) + kept;
    uint64_t infinity = ((1ull << exponent_bits) - 1) << fraction_bits;
    return (uint32_t)(bits < infinity ? bits : infinity) | sign;
}

static struct term unpack_f32(uint32_t bits) { return unpack_term(bits, 8, 23); }

/* Infinities and NaNs, apart from the quick path: f32. */
static uint32_t special_sum(const int32_t *a, const int32_t *a_exponent, const int32_t *b, const int32_t *b_exponent,
                            int count, uint32_t c)
{
    float sum = f32_from(c), infinity = __builtin_inff();
    for (int k = 0; k < count; k++) {
        if (a_exponent[k] < INFINITY_EXPONENT && b_exponent[k] < INFINITY_EXPONENT)
            continue;
        if (a_exponent[k] == NAN_EXPONENT || b_exponent[k] == NAN_EXPONENT || a[k] == 0 || b[k] == 0)
            return F32_NAN;
        float product = (a[k] < 0) != (b[k] < 0) ? -infinity : infinity;
        sum = __builtin_isinf(sum) || f32_is_nan(sum) ? sum + product : product;
    }
    return f32_bits(f32_canonical(sum));
}

/* The two rows that meet in one element of the result. */
struct rows {
    const int32_t *a, *a_exponent, *b, *b_exponent;
    bool special;
};

static bool is_special(struct term t) { return t.exponent >= INFINITY_EXPONENT; }

/* A row of any length: one pass after the other. c and the result are f32, or f16 (then rounded to nearest after each
 * pass). */
static uint32_t dot(struct rows r, int count, int most, uint32_t c, bool f16)
{
    for (int k = 0; k < count; k += most) {
        int width = count - k < most ? count - k : most;
        uint32_t wide = f16 ? f32_bits(f16_to_f32((uint16_t)c)) : c;
        struct term t = unpack_f32(wide);
        if (r.special || is_special(t)) {
            uint32_t sum = special_sum(r.a + k, r.a_exponent + k, r.b + k, r.b_exponent + k, width, wide);
            if ((sum & 0x7f800000u) == 0x7f800000u) {
                c = f16 ? f16_from_f32(f32_from(sum)) : sum;
                continue;
            }
        }
        struct tensor_sum s = tensor_add(r.a + k, r.a_exponent + k, r.b + k, r.b_exponent + k, width, t);
        c = f16 ? pack_sum(s, 5, 10, true) : pack_sum(s, 8, 23, false);
    }
    return c;
}

/* The same for four columns, of finite terms; b and b_exponent as for tensor_add_four. False: c is not finite, or does
 * not stay so; nothing of it is to be used. */
static bool dot_four(const int32_t *a, const int32_t *a_exponent, const int32_t *b, const int32_t *b_exponent,
                     int apart, int count, int most, uint32_t c[4], bool f16)
{
    for (int k = 0; k < count; k += most) {
        int width = count - k < most ? count - k : most;
        struct term t[4];
        struct tensor_sum s[4];
        for (int i = 0; i < 4; i++) {
            t[i] = unpack_f32(f16 ? f32_bits(f16_to_f32((uint16_t)c[i])) : c[i]);
            if (is_special(t[i]))
                return false;
        }
        tensor_add_four(a + k, a_exponent + k, b + k * apart, b_exponent + k * apart, apart, width, t, s);
        for (int i = 0; i < 4; i++)
            c[i] = f16 ? pack_sum(s[i], 5, 10, true) : pack_sum(s[i], 8, 23, false);
    }
    return true;
}

static uint32_t to_f32(uint32_t c, enum ptx_type type)
{
    return type == PTX_F16 ? f32_bits(f16_to_f32((uint16_t)c)) : c;
}

/* The row of B that a row of a sparse A meets. */
static void pick_terms(const struct terms *b, int row_of_b, int k, const uint8_t *pick, int count, int32_t *significand,
                       int32_t *exponent)
{
    for (int i = 0; i < count; i++) {
        significand[i] = b->significand[row_of_b * k + pick[i]];
        exponent[i] = b->exponent[row_of_b * k + pick[i]];
    }
}

/* An element of the result on the f16, bf16 or tf32 unit. */
static uint32_t plain_element(const struct mma_problem *p, struct rows r, uint32_t c)
{
    int width = p->width ? p->width : TENSOR_WIDTH;
    if (p->d == PTX_F16 && p->c == PTX_F16)
        return dot(r, p->row, width, c, true);
    uint32_t sum = dot(r, p->row, width, to_f32(c, p->c), false);
    return p->d == PTX_F16 ? f16_from_f32(f32_from(sum)) : sum;
}

/* fp8: the first two of every four elements in one pass or more, then the others on top of that sum; the accumulator
 * last. */
static uint32_t fp8_element(const struct mma_problem *p, struct rows r, uint32_t c)
{
    int32_t terms[4][MATRIX_ELEMENTS / 8];
    struct rows halves = {terms[0], terms[1], terms[2], terms[3], r.special};
    int count = p->row / 2;
    for (int i = 0; i < p->row; i++) {
        int to = (i & 2 ? count : 0) + i / 4 * 2 + i % 2;
        terms[0][to] = r.a[i];
        terms[1][to] = r.a_exponent[i];
        terms[2][to] = r.b[i];
        terms[3][to] = r.b_exponent[i];
    }
    bool f16 = p->d == PTX_F16;
    struct rows second = {terms[0] + count, terms[1] + count, terms[2] + count, terms[3] + count, r.special};
    uint32_t sum = dot(second, count, TENSOR_WIDTH, dot(halves, count, TENSOR_WIDTH, 0, f16), f16);
    if (f16)
        return f16_from_f32(f16_to_f32((uint16_t)sum) + f16_to_f32((uint16_t)c));
    return f32_bits(f32_canonical(f32_from(sum) + f32_from(c)));
}

/* Where all elements of a dense A and of B are finite: as plain_element, four columns at a time. */
static void compute_finite(const struct mma_problem *p, const struct terms *a, const struct terms *b,
                           const union matrix *c, union matrix *d)
{
    int32_t significand[MATRIX_ELEMENTS], exponent[MATRIX_ELEMENTS]; /* of B, [k][n] */
    int width = p->width ? p->width : TENSOR_WIDTH;
    bool f16 = p->d == PTX_F16 && p->c == PTX_F16;
    for (int j = 0; j < p->n; j++)
        for (int k = 0; k < p->k; k++) {
            significand[k * p->n + j] = b->significand[j * p->k + k];
            exponent[k * p->n + j] = b->exponent[j * p->k + k];
        }
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j += 4) {
            const uint32_t *from = &c->word[i * p->n + j];
            uint32_t sum[4], *to = &d->word[i * p->n + j];
            for (int e = 0; e < 4; e++)
                sum[e] = f16 ? from[e] : to_f32(from[e], p->c);
            bool finite = dot_four(a->significand + i * p->row, a->exponent + i * p->row, significand + j, exponent + j,
                                   p->n, p->row, width, sum, f16);
            for (int e = 0; e < 4; e++) {
                struct rows r = {a->significand + i * p->row, a->exponent + i * p->row, b->significand + (j + e) * p->k,
                                 b->exponent + (j + e) * p->k, false};
                to[e] = !finite                   ? plain_element(p, r, from[e])
                        : p->d == PTX_F16 && !f16 ? f16_from_f32(f32_from(sum[e]))
                                                  : sum[e];
            }
        }
}

static void compute_tensor(const struct mma_problem *p, const uint8_t *pick, const union matrix *a,
                           const union matrix *b, const union matrix *c, union matrix *d)
{
    struct terms ta, tb;
    int32_t picked[2][MATRIX_ELEMENTS / 16];
    bool fp8 = p->a == PTX_E4M3 || p->a == PTX_E5M2;
    if (!pick && !fp8 && mma_compute_floats(p, a, b, c, d))
        return;
    unpack_matrix(a, p->m, p->row, p->a, &ta);
    unpack_matrix(b, p->n, p->k, p->b, &tb);
    if (!pick && !fp8 && !(ta.special | tb.special) && p->n % 4 == 0) {
        compute_finite(p, &ta, &tb, c, d);
        return;
    }
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            struct rows r = {ta.significand + i * p->row, ta.exponent + i * p->row, tb.significand + j * p->k,
                             tb.exponent + j * p->k, (ta.special >> i | tb.special >> j) & 1};
            if (pick) {
                pick_terms(&tb, j, p->k, pick + i * p->row, p->row, picked[0], picked[1]);
                r.b = picked[0];
                r.b_exponent = picked[1];
            }
            uint32_t at = (uint32_t)(i * p->n + j);
            d->word[at] = fp8 ? fp8_element(p, r, c->word[at]) : plain_element(p, r, c->word[at]);
        }
}

static float f16_product(const union matrix *a, const union matrix *b, int in_a, int in_b, float sum)
{
    return f32_fma(f16_to_f32((uint16_t)a->word[in_a]), f16_to_f32((uint16_t)b->word[in_b]), sum, ROUND_NEAREST, false,
                   false);
}

/* The sum of two products after start; -0 leaves the sign of a zero product alone. */
static float quad_pair(const union matrix *a, const union matrix *b, int in_a, int in_b, float start)
{
    return f16_product(a, b, in_a + 1, in_b + 1, f16_product(a, b, in_a, in_b, start));
}

/* f32 multiply-adds. The accumulator comes last, or after the first two products where the result is f16. */
static float quad_element(const struct mma_problem *p, const union matrix *a, const union matrix *b, int in_a, int in_b,
                          float c)
{
    if (p->d == PTX_F32)
        return quad_pair(a, b, in_a + 2, in_b + 2, quad_pair(a, b, in_a, in_b, 0.0f)) + c;
    return quad_pair(a, b, in_a, in_b, -0.0f) + c + quad_pair(a, b, in_a + 2, in_b + 2, -0.0f);
}

void mma_compute_quad(const struct mma_problem *p, const union matrix *a, const union matrix *b, const union matrix *c,
                      union matrix *d)
{
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            float sum = quad_element(p, a, b, i * p->k, j * p->k, f32_from(to_f32(c->word[i * p->n + j], p->c)));
            d->word[i * p->n + j] = p->d == PTX_F16 ? f16_from_f32(sum) : f32_bits(f32_canonical(sum));
        }
}

/* f64 */

static bool finite64(double x) { return (f64_bits(x) & 0x7ff0000000000000ull) != 0x7ff0000000000000ull; }

static double fma64(double a, double b, double c, enum exec_rounding r)
{
    if (r == ROUND_NEAREST || !finite64(a) || !finite64(b) || !finite64(c))
        return f64_nan3(__builtin_fma(a, b, c), a, b, c);
    struct soft product = soft_mul(soft_unpack(&soft_f64, f64_bits(a)), soft_unpack(&soft_f64, f64_bits(b)));
    return f64_from(soft_pack(&soft_f64, soft_add(product, soft_unpack(&soft_f64, f64_bits(c)), r), r, false));
}

static void compute_f64(const struct mma_problem *p, const union matrix *a, const union matrix *b,
                        const union matrix *c, union matrix *d)
{
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            double sum = f64_from(c->wide[i * p->n + j]);
            for (int k = 0; k < p->k; k++)
                sum = fma64(f64_from(a->wide[i * p->k + k]), f64_from(b->wide[j * p->k + k]), sum, p->rounding);
            d->wide[i * p->n + j] = f64_bits(sum);
        }
}

/* Integers */

static void extend(const union matrix *in, int count, enum ptx_type type, int32_t *out)
{
    int shift = 32 - ptx_type_bits(type);
    bool is_signed = ptx_type_is_signed(type);
    for (int i = 0; i < count; i++)
        out[i] = is_signed ? (int32_t)(in->word[i] << shift) >> shift : (int32_t)in->word[i];
}

static uint32_t saturate(int64_t sum)
{
    return (uint32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}

static void compute_integer(const struct mma_problem *p, const uint8_t *pick, const union matrix *a,
                            const union matrix *b, const union matrix *c, union matrix *d)
{
    int32_t ia[MATRIX_ELEMENTS], ib[MATRIX_ELEMENTS];
    extend(a, p->m * p->row, p->a, ia);
    extend(b, p->n * p->k, p->b, ib);
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            const int32_t *x = ia + i * p->row, *y = ib + j * p->k;
            int32_t sum = 0;
            if (pick)
                for (int k = 0; k < p->row; k++)
                    sum += x[k] * y[pick[i * p->row + k]];
            else
                for (int k = 0; k < p->row; k++)
                    sum += x[k] * y[k];
            int64_t total = (int64_t)sum + (int32_t)c->word[i * p->n + j];
            d->word[i * p->n + j] = p->saturate ? saturate(total) : (uint32_t)total;
        }
}

static void compute_bits(const struct mma_problem *p, const union matrix *a, const union matrix *b,
                         const union matrix *c, union matrix *d)
{
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            uint32_t sum = c->word[i * p->n + j];
            for (int k = 0; k < p->k; k++) {
                uint32_t x = a->word[i * p->k + k], y = b->word[j * p->k + k];
                sum += (uint32_t)__builtin_popcount(p->use_and ? x & y : x ^ y);
            }
            d->word[i * p->n + j] = sum;
        }
}

void mma_compute(const struct mma_problem *p, const uint8_t *pick, const union matrix *a, const union matrix *b,
                 const union matrix *c, union matrix *d)
{
    if (p->a == PTX_B1)
        compute_bits(p, a, b, c, d);
    else if (p->a == PTX_F64)
        compute_f64(p, a, b, c, d);
    else if (p->d == PTX_S32)
        compute_integer(p, pick, a, b, c, d);
    else
        compute_tensor(p, pick, a, b, c, d);
}
