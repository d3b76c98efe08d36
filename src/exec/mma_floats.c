/* The sums of mma_math.c by the host's own floating-point arithmetic, where nothing is lost by it: f16, bf16 and tf32
 * whose products, and the accumulator, are far from the ends of f32's range.
 *
 * A product of two elements has 22 bits, so it is exact in f32; so is what a power of two makes of it, and its
 * conversion to an integer cuts it towards zero, as the unit does after TENSOR_FRACTION_BITS. Eight columns at a
 * time. */
#include "exec/mma_math.h"

#include <string.h>

enum {
    COLUMNS = 8,
    F32_BIAS = 127,
    F32_FRACTION = 23,
    ZERO_EXPONENT = -8192, /* zeros never are the largest */
    ELEMENT_EXPONENT_MOST = 50,
    SUM_EXPONENT_LEAST = -100,
    SUM_EXPONENT_MOST = 120,
};

typedef float quad __attribute__((vector_size(16)));
typedef int32_t int_quad __attribute__((vector_size(16)));
typedef uint32_t bits_quad __attribute__((vector_size(16)));
typedef int16_t exponents __attribute__((vector_size(2 * COLUMNS)));
typedef int16_t exponent_quad __attribute__((vector_size(8)));

/* The exponent is that of the format: of a subnormal number the smallest of normal ones. */
struct floats {
    float value[MATRIX_ELEMENTS];
    int16_t exponent[MATRIX_ELEMENTS];
};

#define LOAD(type, from)                      \
    ({                                        \
        type loaded;                          \
        memcpy(&loaded, from, sizeof loaded); \
        loaded;                               \
    })

/* Elements as f32: their bits from the sign on at the top. f16 has a smaller bias, which a product with a power of two
 * makes up for, and subnormal numbers. False: one is too large, too small or not finite. */
static inline bool unpack(const uint32_t *in, int count, enum ptx_type type, struct floats *out)
{
    int32_t f16_gap = F32_BIAS - 15, least = type == PTX_F16 ? F32_BIAS - 14 : F32_BIAS - ELEMENT_EXPONENT_MOST;
    int_quad wrong = {0};
    for (int i = 0; i < count; i += 4) {
        bits_quad word = LOAD(bits_quad, in + i), magnitude, sign;
        quad value;
        if (type == PTX_F16) {
            bits_quad power = (bits_quad){0} + ((uint32_t)(f16_gap + F32_BIAS) << F32_FRACTION);
            magnitude = (word & 0x7fff) << 13;
            sign = (word & 0x8000) << 16;
            wrong |= (int_quad)(magnitude >= 0x7c00u << 13);
            value = (quad)magnitude * (quad)power;
            magnitude = (bits_quad)value;
        } else {
            word = type == PTX_BF16 ? word << 16 : word & 0xffffe000u;
            magnitude = word & 0x7fffffff;
            sign = word & 0x80000000;
        }
        int_quad zero = magnitude == 0, exponent = (int_quad)(magnitude >> F32_FRACTION);
        if (type == PTX_F16) {
            int_quad below = exponent < least;
            exponent = (exponent & ~below) | (below & least);
        } else {
            wrong |= ~zero & ((exponent < least) | (exponent > F32_BIAS + ELEMENT_EXPONENT_MOST));
        }
        exponent = ((exponent - F32_BIAS) & ~zero) | (zero & ZERO_EXPONENT);
        value = (quad)(magnitude | sign);
        exponent_quad narrow = __builtin_convertvector(exponent, exponent_quad);
        memcpy(out->value + i, &value, sizeof value);
        memcpy(out->exponent + i, &narrow, sizeof narrow);
    }
    return !(wrong[0] | wrong[1] | wrong[2] | wrong[3]);
}

static bool unpack_matrix(const union matrix *in, int count, enum ptx_type type, struct floats *out)
{
    switch (type) {
    case PTX_F16: return unpack(in->word, count, PTX_F16, out);
    case PTX_BF16: return unpack(in->word, count, PTX_BF16, out);
    case PTX_TF32: return unpack(in->word, count, PTX_TF32, out);
    default: return false;
    }
}

#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/* [n][k] to [k][n], four by four. */
static void turn(const union matrix *in, int n, int k, union matrix *out)
{
    for (int column = 0; column < n; column += 4)
        for (int step = 0; step < k; step += 4) {
            const uint32_t *from = in->word + column * k + step;
            uint32_t *to = out->word + step * n + column;
            bits_quad row[4] = {LOAD(bits_quad, from), LOAD(bits_quad, from + k), LOAD(bits_quad, from + 2 * k),
                                LOAD(bits_quad, from + 3 * k)};
            bits_quad low[2] = {PICK(row[0], row[1], 0, 4, 1, 5), PICK(row[2], row[3], 0, 4, 1, 5)},
                      high[2] = {PICK(row[0], row[1], 2, 6, 3, 7), PICK(row[2], row[3], 2, 6, 3, 7)};
            bits_quad turned[4] = {PICK(low[0], low[1], 0, 1, 4, 5), PICK(low[0], low[1], 2, 3, 6, 7),
                                   PICK(high[0], high[1], 0, 1, 4, 5), PICK(high[0], high[1], 2, 3, 6, 7)};
            for (int i = 0; i < 4; i++)
                memcpy(to + i * n, &turned[i], sizeof turned[i]);
        }
}

/* The lower halves of eight: hosts are little-endian. */
static inline exponents narrow(int_quad low, int_quad high)
{
    return PICK((exponents)low, (exponents)high, 0, 2, 4, 6, 8, 10, 12, 14);
}

static inline exponents larger(exponents a, exponents b)
{
    exponents above = a > b;
    return (a & above) | (b & ~above);
}

/* Of four accumulators. *wrong: those too large, too small or not finite are added. */
static inline int_quad exponents_of(quad c, int_quad *wrong)
{
    bits_quad magnitude = (bits_quad)c & 0x7fffffff;
    int_quad zero = magnitude == 0, exponent = (int_quad)(magnitude >> F32_FRACTION) - F32_BIAS;
    *wrong |= ~zero & ((exponent < SUM_EXPONENT_LEAST) | (exponent > SUM_EXPONENT_MOST));
    return (exponent & ~zero) | (zero & ZERO_EXPONENT);
}

/* sum * 2^(exponent - TENSOR_FRACTION_BITS), cut to f32. */
static inline quad pack(int_quad sum, int_quad exponent)
{
    int_quad negative = sum >> 31, magnitude = (sum ^ negative) - negative;
    quad nearest = __builtin_convertvector(magnitude, quad);
    int_quad above = __builtin_convertvector(nearest, int_quad) > magnitude; /* -1 where it is */
    quad value =
        (quad)((int_quad)nearest + above) * (quad)((exponent + (F32_BIAS - TENSOR_FRACTION_BITS)) << F32_FRACTION);
    return (quad)((int_quad)value | (negative & INT32_MIN));
}

static inline int_quad cut(quad value, quad scale) { return __builtin_convertvector(value * scale, int_quad); }

/* Of four columns, with the accumulators. Sums of up to TENSOR_WIDTH products fit into 32 bits; those that leave no
 * room for the accumulator are *wrong. */
static inline __attribute__((always_inline)) quad add_cut(const float *a, const float *b, int apart, int count,
                                                          int_quad exponent, quad c, int_quad *wrong)
{
    quad scale = (quad)((F32_BIAS + TENSOR_FRACTION_BITS - exponent) << F32_FRACTION);
    int_quad sum = {0};
#pragma GCC unroll 16
    for (int k = 0; k < count; k++)
        sum += cut(LOAD(quad, b + k * apart) * a[k], scale);
    *wrong |= (sum >= 1 << 30) | (sum <= -(1 << 30));
    return pack((int_quad)((bits_quad)sum + (bits_quad)cut(c, scale)), exponent);
}

/* One pass through the unit: eight columns of one row. b: steps of k, `apart` elements from each other. */
static inline __attribute__((always_inline)) void add_products(const float *a, const int16_t *a_exponent,
                                                               const float *b, const int16_t *b_exponent, int apart,
                                                               int count, quad *left, quad *right, int_quad *wrong)
{
    exponents largest = narrow(exponents_of(*left, wrong), exponents_of(*right, wrong));
#pragma GCC unroll 16
    for (int k = 0; k < count; k++)
        largest = larger(largest, LOAD(exponents, b_exponent + k * apart) + a_exponent[k]);
    largest &= largest > ZERO_EXPONENT / 2; /* all are zero: any will do */
    exponents low = PICK(largest, largest, 0, 0, 1, 1, 2, 2, 3, 3),
              high = PICK(largest, largest, 4, 4, 5, 5, 6, 6, 7, 7);
    *left = add_cut(a, b, apart, count, (int_quad)low >> 16, *left, wrong);
    *right = add_cut(a, b + 4, apart, count, (int_quad)high >> 16, *right, wrong);
}

static inline __attribute__((always_inline)) bool multiply(const struct mma_problem *p, const struct floats *a,
                                                           const struct floats *b, const union matrix *c,
                                                           union matrix *d, int columns, int steps, int width)
{
    int_quad wrong = {0};
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < columns; j += COLUMNS) {
            quad left = LOAD(quad, &c->word[i * columns + j]), right = LOAD(quad, &c->word[i * columns + j + 4]);
            for (int k = 0; k < steps; k += width)
                add_products(a->value + i * steps + k, a->exponent + i * steps + k, b->value + k * columns + j,
                             b->exponent + k * columns + j, columns, steps - k < width ? steps - k : width, &left,
                             &right, &wrong);
            memcpy(&d->word[i * columns + j], &left, sizeof left);
            memcpy(&d->word[i * columns + j + 4], &right, sizeof right);
        }
    return !(wrong[0] | wrong[1] | wrong[2] | wrong[3]);
}

bool mma_compute_floats(const struct mma_problem *p, const union matrix *a, const union matrix *b,
                        const union matrix *c, union matrix *d)
{
    struct floats fa, fb;
    union matrix turned;
    int width = p->width ? p->width : TENSOR_WIDTH;
    if (p->c != PTX_F32 || p->d != PTX_F32 || p->n % COLUMNS || p->k % 4)
        return false;
    turn(b, p->n, p->k, &turned);
    if (!unpack_matrix(a, p->m * p->k, p->a, &fa) || !unpack_matrix(&turned, p->n * p->k, p->b, &fb))
        return false;
    if (p->n == 8 && p->k == 16 && width == 16) /* what programs use most, so that loops have known lengths */
        return multiply(p, &fa, &fb, c, d, 8, 16, 16);
    return multiply(p, &fa, &fb, c, d, p->n, p->k, width);
}
