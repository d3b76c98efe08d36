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
    ROWS_MOST = 32,
    F16_BIAS = 15,
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
typedef uint64_t pair __attribute__((vector_size(16)));

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

#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/* The lower halves of eight, and the upper ones: hosts are little-endian. */
static inline exponents narrow(int_quad low, int_quad high)
{
    return PICK((exponents)low, (exponents)high, 0, 2, 4, 6, 8, 10, 12, 14);
}

static inline exponents upper_halves(quad low, quad high)
{
    return PICK((exponents)low, (exponents)high, 1, 3, 5, 7, 9, 11, 13, 15);
}

/* Four elements as f32: their bits from the sign on at the top. f16 has a smaller bias, which a product with a power of
 * two makes up for, and subnormal numbers. */
static inline quad widen(const uint32_t *in, enum ptx_type type)
{
    bits_quad word = LOAD(bits_quad, in);
    if (type != PTX_F16)
        return (quad)(type == PTX_BF16 ? word << 16 : word & 0xffffe000u);
    bits_quad power = (bits_quad){0} + ((uint32_t)(F32_BIAS - F16_BIAS + F32_BIAS) << F32_FRACTION);
    bits_quad in_place = (bits_quad)((int_quad)(word << 16) >> 3) & 0x8fffe000u;
    return (quad)in_place * (quad)power;
}

/* False: one is too large, too small or not finite. */
static inline bool unpack(const uint32_t *in, int count, enum ptx_type type, struct floats *out)
{
    int16_t least = type == PTX_F16 ? F32_BIAS + 1 - F16_BIAS : F32_BIAS - ELEMENT_EXPONENT_MOST,
            most = F32_BIAS + (type == PTX_F16 ? F16_BIAS : ELEMENT_EXPONENT_MOST);
    exponents wrong = {0};
    for (int i = 0; i < count; i += 8) {
        quad low = widen(in + i, type), high = widen(in + i + 4, type);
        exponents zero = narrow(low == 0, high == 0), exponent = upper_halves(low, high) >> 7 & 0xff,
                  below = exponent < least;
        wrong |= exponent > most;
        if (type == PTX_F16)
            exponent = (exponent & ~below) | (below & least);
        else
            wrong |= below & ~zero;
        exponent = ((exponent - F32_BIAS) & ~zero) | (zero & ZERO_EXPONENT);
        memcpy(out->value + i, &low, sizeof low);
        memcpy(out->value + i + 4, &high, sizeof high);
        memcpy(out->exponent + i, &exponent, sizeof exponent);
    }
    pair any = (pair)wrong;
    return !(any[0] | any[1]);
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

/* Of four accumulators. *wrong: those too large, too small or not finite are added. */
static inline int_quad exponents_of(quad c, int_quad *wrong)
{
    bits_quad magnitude = (bits_quad)c & 0x7fffffff;
    int_quad zero = magnitude == 0, exponent = (int_quad)(magnitude >> F32_FRACTION) - F32_BIAS;
    *wrong |= ~zero & ((exponent < SUM_EXPONENT_LEAST) | (exponent > SUM_EXPONENT_MOST));
    return (exponent & ~zero) | (zero & ZERO_EXPONENT);
}

/* What does not fit is *wrong, and thrown away, but hosts make other numbers of it, which may not overflow either. */
static inline int_quad add(int_quad a, int_quad b) { return (int_quad)((bits_quad)a + (bits_quad)b); }

/* sum * 2^(exponent - TENSOR_FRACTION_BITS), cut to f32. */
static inline quad pack(int_quad sum, int_quad exponent)
{
    int_quad negative = sum >> 31, magnitude = add(sum ^ negative, -negative);
    quad nearest = __builtin_convertvector(magnitude, quad);
    int_quad above = __builtin_convertvector(nearest, int_quad) > magnitude; /* -1 where it is */
    quad value =
        (quad)((int_quad)nearest + above) * (quad)((exponent + (F32_BIAS - TENSOR_FRACTION_BITS)) << F32_FRACTION);
    return (quad)((int_quad)value | (negative & INT32_MIN));
}

static inline int_quad cut(quad value, quad scale) { return __builtin_convertvector(value * scale, int_quad); }

#define INLINE static inline __attribute__((always_inline))

/* The part of a pass through the unit that eight columns of the result have: a and b from its first step of k on. */
struct part {
    const float *a, *b;
    const int16_t *a_exponent, *b_exponent;
    uint32_t *sums; /* bits of f32 */
};

/* The largest exponents of the columns of a row: compilers make vectors of the loop. */
INLINE void find_largest(const struct part *p, int columns, int count, int16_t largest[COLUMNS], int_quad *wrong)
{
    exponents sums = narrow(exponents_of(LOAD(quad, p->sums), wrong), exponents_of(LOAD(quad, p->sums + 4), wrong));
    memcpy(largest, &sums, sizeof sums);
    for (int column = 0; column < COLUMNS; column++) {
        int16_t most = largest[column];
#pragma GCC unroll 16
        for (int k = 0; k < count; k++) {
            int16_t exponent = (int16_t)(p->a_exponent[k] + p->b_exponent[k * columns + column]);
            most = exponent > most ? exponent : most;
        }
        largest[column] = most > ZERO_EXPONENT / 2 ? most : 0; /* all are zero: any will do */
    }
}

/* Sums of up to TENSOR_WIDTH products fit into 32 bits; those that leave no room for the accumulator are *wrong. */
INLINE void add_products(const struct part *p, int columns, int count, const int16_t largest[COLUMNS], int_quad *wrong)
{
    exponents both = LOAD(exponents, largest);
    int_quad low = (int_quad)PICK(both, both, 0, 0, 1, 1, 2, 2, 3, 3) >> 16,
             high = (int_quad)PICK(both, both, 4, 4, 5, 5, 6, 6, 7, 7) >> 16;
    quad low_scale = (quad)((F32_BIAS + TENSOR_FRACTION_BITS - low) << F32_FRACTION),
         high_scale = (quad)((F32_BIAS + TENSOR_FRACTION_BITS - high) << F32_FRACTION);
    int_quad low_sum = {0}, high_sum = {0};
#define ADD_STEP(i)                                                                                              \
    low_sum = add(low_sum, cut(LOAD(quad, p->b + (k + i) * columns) * PICK(four, four, i, i, i, i), low_scale)); \
    high_sum = add(high_sum, cut(LOAD(quad, p->b + (k + i) * columns + 4) * PICK(four, four, i, i, i, i), high_scale));
#pragma GCC unroll 4
    for (int k = 0; k < count; k += 4) {
        quad four = LOAD(quad, p->a + k);
        ADD_STEP(0)
        ADD_STEP(1)
        ADD_STEP(2)
        ADD_STEP(3)
    }
#undef ADD_STEP
    *wrong |= (low_sum >= 1 << 30) | (low_sum <= -(1 << 30)) | (high_sum >= 1 << 30) | (high_sum <= -(1 << 30));
    low_sum = add(low_sum, cut(LOAD(quad, p->sums), low_scale));
    high_sum = add(high_sum, cut(LOAD(quad, p->sums + 4), high_scale));
    quad low_result = pack(low_sum, low), high_result = pack(high_sum, high);
    memcpy(p->sums, &low_result, sizeof low_result);
    memcpy(p->sums + 4, &high_result, sizeof high_result);
}

/* All rows have their exponents found first, and are then added up: what a row waits for is long past then. */
INLINE bool multiply(const struct mma_problem *p, const struct floats *a, const struct floats *b, union matrix *sums,
                     int columns, int steps, int width)
{
    int_quad wrong = {0};
    int16_t largest[ROWS_MOST][COLUMNS];
    for (int k = 0; k < steps; k += width)
        for (int j = 0; j < columns; j += COLUMNS) {
            int count = steps - k < width ? steps - k : width;
            struct part first = {.a = a->value + k,
                                 .a_exponent = a->exponent + k,
                                 .b = b->value + k * columns + j,
                                 .b_exponent = b->exponent + k * columns + j,
                                 .sums = sums->word + j},
                        row = first;
            for (int i = 0; i < p->m; i++, row.a_exponent += steps, row.sums += columns)
                find_largest(&row, columns, count, largest[i], &wrong);
            row = first;
            for (int i = 0; i < p->m; i++, row.a += steps, row.sums += columns)
                add_products(&row, columns, count, largest[i], &wrong);
        }
    return !(wrong[0] | wrong[1] | wrong[2] | wrong[3]);
}

bool mma_compute_floats(const struct mma_problem *p, const union matrix *a, const union matrix *b,
                        const union matrix *c, union matrix *d)
{
    struct floats fa, fb;
    union matrix turned;
    int width = p->width ? p->width : TENSOR_WIDTH;
    if (p->c != PTX_F32 || p->d != PTX_F32 || p->m > ROWS_MOST || p->n % COLUMNS || p->k % 4 || width % 4)
        return false;
    turn(b, p->n, p->k, &turned);
    if (!unpack_matrix(a, p->m * p->k, p->a, &fa) || !unpack_matrix(&turned, p->n * p->k, p->b, &fb))
        return false;
    memcpy(d->word, c->word, (size_t)(p->m * p->n) * sizeof *d->word);
    if (p->n == 8 && p->k == 16 && width == 16) /* what programs use most, so that loops have known lengths */
        return multiply(p, &fa, &fb, d, 8, 16, 16);
    return multiply(p, &fa, &fb, d, p->n, p->k, width);
}
