/*
 * Input for the kernels: made of integer arithmetic alone and seeded by the kernel's name, so that every machine makes
 * the
 * same. */
#include "compiled.h"
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static uint64_t edge(uint64_t pick)
{
    static const uint64_t edges[] = {
        0,      1,       UINT64_MAX, 0x8000000080000000u, 0x7fffffff7fffffffu, 0x8000000000000000u,
        0xffff, 0x10000, 2,          0xffffffff};
    return edges[pick % (sizeof edges / sizeof edges[0])];
}

/* A number in a format with `mantissa` stored bits: sign, exponent and fraction put together. */
static uint64_t assemble(uint64_t random, int exponent, int mantissa, int exponent_bits)
{
    uint64_t bias = (1u << (exponent_bits - 1)) - 1, fraction = random & ((1ull << mantissa) - 1);
    return (random >> 63) << (mantissa + exponent_bits) | (uint64_t)(exponent + (int)bias) << mantissa | fraction;
}

static uint64_t number(uint64_t *state, int mantissa, int exponent_bits)
{
    uint64_t random = next_random(state), kind = next_random(state);
    uint64_t all_bits = mantissa + exponent_bits == 63 ? UINT64_MAX : UINT32_MAX;
    int bits = (int)(kind >> 8 & 7), exponent = (int)(kind >> 16 & 0xffff);
    uint64_t few = random & ~((1ull << (mantissa - bits)) - 1); /* a fraction of few bits: halves, quarters, ties */
    uint64_t infinity = ((1ull << exponent_bits) - 1) << mantissa;
    switch (kind & 15) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: return assemble(random, exponent % 8 - 4, mantissa, exponent_bits);
    case 5:
    case 6: return assemble(random, exponent % 24 - 12, mantissa, exponent_bits);
    case 7:
    case 8:
    case 9: return assemble(few, exponent % 7 - 1, mantissa, exponent_bits);
    case 10:
    case 11: return assemble(random, exponent % 100 - 50, mantissa, exponent_bits);
    case 12:
        return (random >> 63) << (mantissa + exponent_bits) |
               (random & ((1ull << mantissa) - 1)) >> (exponent % mantissa); /* subnormal */
    case 13:
        return (random >> 63) << (mantissa + exponent_bits) | (kind & 256   ? infinity
                                                               : kind & 512 ? infinity | 1ull << (mantissa - 1)
                                                                            : 0);
    default: return random & all_bits;
    }
}

static uint64_t element(uint64_t *state, enum fill fill)
{
    uint64_t random = next_random(state);
    switch (fill) {
    case FILL_BITS:
    case FILL_WIDE: return random % 8 ? next_random(state) : edge(next_random(state));
    case FILL_F32: return number(state, 23, 8);
    case FILL_F64: return number(state, 52, 11);
    case FILL_F32_MILD: return assemble(next_random(state), (int)(random % 10) - 6, 23, 8);
    case FILL_F32_UNIT: return assemble(next_random(state), (int)(random % 6) - 6, 23, 8);
    case FILL_F64_MILD: return assemble(next_random(state), (int)(random % 10) - 6, 52, 11);
    }
    return 0;
}

void fill_input(void *in, const struct kernel *kernel)
{
    bool wide = kernel->fill == FILL_WIDE || kernel->fill == FILL_F64 || kernel->fill == FILL_F64_MILD;
    uint64_t state = 0;
    for (const char *p = kernel->name; *p; p++)
        state = state * 131 + (unsigned char)*p;
    size_t size = wide ? 8 : 4;
    for (size_t at = 0; at < kernel->in_bytes; at += size) {
        uint64_t value = element(&state, kernel->fill);
        memcpy((char *)in + at, &value, size);
    }
}
