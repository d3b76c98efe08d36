/*
 * The approximate instructions (PTX ISA, floating-point instructions with .approx and .full) are not compared bit by
 * bit. Which results are zero, infinite or not a number, and with which sign, must be what silicon gave; all other
 * results must lie within the error bound that the PTX ISA states, relative to the value of the host's mathematics
 * library in double
 * precision. */
#include "vectors.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct element_type {
    int bits, exponent_bits, mantissa_bits;
};

struct bound {
    const char *mnemonic, *type;
    double relative, absolute; /* an error is fine when within either */
    double half_ulps;          /* of the result format, added for its rounding */
};

/* 2^-22 = 2 ulp. Where the ISA gives ulps, one is taken as its largest relative size, 2^-mantissa_bits. */
static const struct bound bounds[] = {
    {"div", ".f32", 0x1p-22, 0, 0},       {"rcp", ".f32", 0x1p-23, 0, 0},
    {"rcp", ".f64", 0x1p-18, 0, 0}, /* "gross": 20 mantissa bits in and out */
    {"sqrt", ".f32", 0x1p-23, 0, 0},      {"rsqrt", ".f32", 0x1.13p-23, 0, 0}, /* 2^-22.9 */
    {"rsqrt", ".ftz.f64", 0x1p-18, 0, 0}, {"rsqrt", ".f64", 0x1.13p-23, 0, 0},
    {"sin", ".f32", 0, 0x1.6bp-21, 0}, /* 2^-20.5 */
    {"cos", ".f32", 0, 0x1.6bp-21, 0},    {"lg2", ".f32", 0x1p-22, 0x1p-22, 0},
    {"ex2", ".f32", 0x1p-22, 0, 0},       {"ex2", ".f16", 0x1.12p-10, 0, 0}, /* 2^-9.9 */
    {"ex2", ".f16x2", 0x1.12p-10, 0, 0},  {"ex2", ".bf16", 0x1p-7, 0, 0},
    {"ex2", ".bf16x2", 0x1p-7, 0, 0},     {"tanh", ".f32", 0x1p-11, 0, 0},
    {"tanh", ".f16", 0, 0x1.03p-11, 1}, /* 2^-10.987 */
    {"tanh", ".f16x2", 0, 0x1.03p-11, 1}, {"tanh", ".bf16", 0, 0x1p-8, 1},
    {"tanh", ".bf16x2", 0, 0x1p-8, 1},
};

static int ends_with(const char *text, size_t length, const char *ending)
{
    size_t size = strlen(ending);
    return length >= size && !memcmp(text + length - size, ending, size);
}

static size_t plain_length(const struct variant *variant) { return strcspn(variant->spelling, "@"); }

static struct element_type element_type(const struct variant *variant)
{
    const char *name = variant->spelling;
    size_t length = plain_length(variant);
    if (ends_with(name, length, "bf16") || ends_with(name, length, "bf16x2"))
        return (struct element_type){16, 8, 7};
    if (ends_with(name, length, "f16") || ends_with(name, length, "f16x2"))
        return (struct element_type){16, 5, 10};
    if (ends_with(name, length, "f64"))
        return (struct element_type){64, 11, 52};
    return (struct element_type){32, 8, 23};
}

static uint64_t element(uint64_t word, const struct element_type *type, int index)
{
    word >>= type->bits * index;
    return type->bits == 64 ? word : word & ((1ull << type->bits) - 1);
}

static double value_of(uint64_t bits, const struct element_type *type)
{
    int exponent = (int)(bits >> type->mantissa_bits & ((1u << type->exponent_bits) - 1));
    uint64_t fraction = bits & ((1ull << type->mantissa_bits) - 1);
    int bias = (1 << (type->exponent_bits - 1)) - 1, largest = (1 << type->exponent_bits) - 1;
    double value;
    if (exponent == largest)
        value = fraction ? NAN : INFINITY;
    else if (exponent)
        value = ldexp((double)(fraction | 1ull << type->mantissa_bits), exponent - bias - type->mantissa_bits);
    else
        value = ldexp((double)fraction, 1 - bias - type->mantissa_bits);
    return bits >> (type->bits - 1) & 1 ? -value : value;
}

static char class_of(uint64_t bits, const struct element_type *type)
{
    double value = value_of(bits, type);
    int negative = bits >> (type->bits - 1) & 1;
    if (isnan(value))
        return 'x';
    if (isinf(value))
        return negative ? 'm' : 'p';
    if (value == 0)
        return negative ? 'z' : 'o';
    return 'n';
}

static int elements_of(const struct variant *variant)
{
    return ends_with(variant->spelling, plain_length(variant), "x2") ? 2 : 1;
}

/* Run lengths: a letter and, when above one, how often. */
void approx_classes(const struct variant *variant, const uint64_t *outputs, struct text *classes)
{
    struct element_type type = element_type(variant);
    int elements = elements_of(variant), run = 0;
    char last = 0;
    for (int i = 0; i <= TUPLES * elements; i++) {
        char class = i < TUPLES * elements ? class_of(element(outputs[i / elements], &type, i % elements), &type) : 0;
        if (class == last) {
            run++;
            continue;
        }
        if (last)
            text_add(classes, run > 1 ? "%c%d" : "%c", last, run);
        last = class;
        run = 1;
    }
}

static double reference(const char *spelling, double a, double b)
{
    size_t length = strcspn(spelling, ".");
    static const struct {
        const char *name;
        int which;
    } names[] = {{"div", 0}, {"rcp", 1}, {"sqrt", 2}, {"rsqrt", 3}, {"sin", 4},
                 {"cos", 5}, {"lg2", 6}, {"ex2", 7},  {"tanh", 8}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i].name) != length || memcmp(names[i].name, spelling, length))
            continue;
        switch (names[i].which) {
        case 0: return a / b;
        case 1: return 1 / a;
        case 2: return sqrt(a);
        case 3: return 1 / sqrt(a);
        case 4: return sin(a);
        case 5: return cos(a);
        case 6: return log2(a);
        case 7: return exp2(a);
        default: return tanh(a);
        }
    }
    return NAN;
}

static const struct bound *bound_of(const struct variant *variant)
{
    size_t mnemonic = strcspn(variant->spelling, ".");
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (strlen(bounds[i].mnemonic) == mnemonic && !memcmp(bounds[i].mnemonic, variant->spelling, mnemonic) &&
            ends_with(variant->spelling, plain_length(variant), bounds[i].type))
            return &bounds[i];
    return NULL;
}

/* Next to the smallest and largest results an approximation may fall on either side of the edge. */
static int at_an_edge(double exact, const struct element_type *type, const struct bound *bound)
{
    int bias = (1 << (type->exponent_bits - 1)) - 1;
    double smallest = ldexp(1, 2 - bias), largest = ldexp(2 - ldexp(1, -type->mantissa_bits), bias);
    if (exact == 0 || isnan(exact))
        return 0;
    return fabs(exact) < smallest || fabs(exact) > largest * (1 - 0x1p-6) || fabs(exact) <= bound->absolute;
}

static int within(double got, double exact, const struct variant *variant, double input, const struct bound *bound,
                  const struct element_type *type)
{
    int bias = (1 << (type->exponent_bits - 1)) - 1;
    double error = fabs(got - exact), ulp = ldexp(1, -type->mantissa_bits) * fabs(exact);
    int periodic = !strncmp(variant->spelling, "sin", 3) || !strncmp(variant->spelling, "cos", 3);
    if (periodic && fabs(input) > 6.2831853) /* the ISA bounds the error in [-2pi, 2pi] only; 2^-14.7 up to 100 pi */
        return fabs(input) > 314 ? fabs(got) <= 1.0001 : error <= 0x1.4p-15;
    if (fabs(exact) < ldexp(1, 1 - bias) && error <= ldexp(2, 1 - bias))
        return 1; /* denormal results: flushed or coarse */
    return error <= bound->relative * fabs(exact) * 1.0001 ||
           error <= bound->absolute * 1.0001 + bound->half_ulps * 0.5 * ulp;
}

static char next_class(const char **classes, int *left)
{
    static const char letters[] = "nozpmx";
    if (*left == 0) {
        if (!**classes || !strchr(letters, **classes))
            return 0;
        char *end;
        long run = strtol(*classes + 1, &end, 10);
        *left = end == *classes + 1 ? 1 : (int)run;
        (*left)--;
        char class = **classes;
        if (*left == 0)
            *classes = end;
        return class;
    }
    char class = **classes;
    if (--*left == 0)
        *classes += 1 + strspn(*classes + 1, "0123456789");
    return class;
}

int approx_check(const struct variant *variant, const uint64_t *inputs, const uint64_t *outputs,
                 const char *recorded_classes, char *message, size_t message_size)
{
    struct element_type type = element_type(variant);
    const struct bound *bound = bound_of(variant);
    int elements = elements_of(variant), left = 0;
    int flush = strstr(variant->spelling, ".ftz") != NULL;
    double smallest = ldexp(1, 2 - (1 << (type.exponent_bits - 1)));
    if (!bound) {
        snprintf(message, message_size, "no error bound is known");
        return -1;
    }
    for (int i = 0; i < TUPLES * elements; i++) {
        uint64_t a_bits = element(inputs[i / elements], &type, i % elements);
        uint64_t b_bits = element(inputs[TUPLES + i / elements], &type, i % elements);
        uint64_t got_bits = element(outputs[i / elements], &type, i % elements);
        double a = value_of(a_bits, &type), b = value_of(b_bits, &type), got = value_of(got_bits, &type);
        if (flush && fabs(a) < smallest)
            a = copysign(0, a);
        if (flush && fabs(b) < smallest)
            b = copysign(0, b);
        double exact = reference(variant->spelling, a, b);
        char want = next_class(&recorded_classes, &left), have = class_of(got_bits, &type);
        if (want == have && (want != 'n' || within(got, exact, variant, a, bound, &type)))
            continue;
        if (want && want != have && want != 'x' && have != 'x' && at_an_edge(exact, &type, bound) &&
            signbit(got) == signbit(exact))
            continue;
        snprintf(message, message_size,
                 "tuple %d: a=0x%llx b=0x%llx: got 0x%llx (%.9g, class %c), true value %.9g, class on silicon %c",
                 i / elements, (unsigned long long)a_bits, (unsigned long long)b_bits, (unsigned long long)got_bits,
                 got, have, exact, want ? want : '?');
        return -1;
    }
    return 0;
}
