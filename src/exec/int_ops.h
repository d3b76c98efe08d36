/* Integer arithmetic of single values where C's own operators do not do: PTX ISA 9.7.1 and 9.7.8. Pure functions, used
 * by the handlers and by tests. Where PTX leaves a result open (division by zero), the value is what NVIDIA's GPUs
 * give. */
#ifndef HEDDLE_EXEC_INT_OPS_H
#define HEDDLE_EXEC_INT_OPS_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t saturate_s32(int64_t v)
{
    return (uint32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

static inline uint32_t mulhi_u32(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a * b) >> 32); }
static inline uint32_t mulhi_s32(int32_t a, int32_t b) { return (uint32_t)(((int64_t)a * b) >> 32); }
static inline uint64_t mulhi_u64(uint64_t a, uint64_t b) { return (uint64_t)(((unsigned __int128)a * b) >> 64); }
static inline uint64_t mulhi_s64(int64_t a, int64_t b) { return (uint64_t)(((__int128)a * b) >> 64); }

/* The lower 24 bits, extended to 32. */
static inline int32_t low24_s(uint32_t v) { return (int32_t)(v << 8) >> 8; }
static inline uint32_t low24_u(uint32_t v) { return v & 0xffffff; }

/* INT_MIN / -1 wraps to INT_MIN, its remainder is 0. A divisor of zero gives all ones in both. */
static inline uint32_t div_u32(uint32_t a, uint32_t b) { return b ? a / b : UINT32_MAX; }
static inline uint32_t rem_u32(uint32_t a, uint32_t b) { return b ? a % b : UINT32_MAX; }
static inline uint64_t div_u64(uint64_t a, uint64_t b) { return b ? a / b : UINT64_MAX; }
static inline uint64_t rem_u64(uint64_t a, uint64_t b) { return b ? a % b : UINT64_MAX; }
static inline uint32_t div_s32(int32_t a, int32_t b)
{
    return b == 0 ? UINT32_MAX : b == -1 ? 0u - (uint32_t)a : (uint32_t)(a / b);
}
static inline uint32_t rem_s32(int32_t a, int32_t b) { return b == 0 ? UINT32_MAX : b == -1 ? 0 : (uint32_t)(a % b); }
static inline uint64_t div_s64(int64_t a, int64_t b)
{
    return b == 0 ? UINT64_MAX : b == -1 ? 0u - (uint64_t)a : (uint64_t)(a / b);
}
static inline uint64_t rem_s64(int64_t a, int64_t b) { return b == 0 ? UINT64_MAX : b == -1 ? 0 : (uint64_t)(a % b); }
static inline uint32_t div_u16(uint32_t a, uint32_t b) { return (uint16_t)div_u32((uint16_t)a, (uint16_t)b); }
static inline uint32_t rem_u16(uint32_t a, uint32_t b) { return (uint16_t)rem_u32((uint16_t)a, (uint16_t)b); }
static inline uint32_t div_s16(uint32_t a, uint32_t b) { return (uint16_t)div_s32((int16_t)a, (int16_t)b); }
static inline uint32_t rem_s16(uint32_t a, uint32_t b) { return (uint16_t)rem_s32((int16_t)a, (int16_t)b); }

/* Shifts with amounts beyond the width: zeros, or the sign. */
static inline uint32_t shl_32(uint32_t a, uint32_t b) { return b > 31 ? 0 : a << b; }
static inline uint32_t shr_u32(uint32_t a, uint32_t b) { return b > 31 ? 0 : a >> b; }
static inline uint32_t shr_s32(uint32_t a, uint32_t b) { return (uint32_t)((int32_t)a >> (b > 31 ? 31 : b)); }
static inline uint64_t shl_64(uint64_t a, uint32_t b) { return b > 63 ? 0 : a << b; }
static inline uint64_t shr_u64(uint64_t a, uint32_t b) { return b > 63 ? 0 : a >> b; }
static inline uint64_t shr_s64(uint64_t a, uint32_t b) { return (uint64_t)((int64_t)a >> (b > 63 ? 63 : b)); }

static inline uint32_t clz_32(uint32_t a) { return a ? (uint32_t)__builtin_clz(a) : 32; }
static inline uint32_t clz_64(uint64_t a) { return a ? (uint32_t)__builtin_clzll(a) : 64; }

/* Position of the highest set bit, or all ones; for signed types, of the highest bit unlike the sign. */
static inline uint32_t bfind_u32(uint32_t a) { return a ? 31 - clz_32(a) : UINT32_MAX; }
static inline uint32_t bfind_u64(uint64_t a) { return a ? 63 - clz_64(a) : UINT32_MAX; }
static inline uint32_t bfind_s32(uint32_t a) { return bfind_u32((int32_t)a < 0 ? ~a : a); }
static inline uint32_t bfind_s64(uint64_t a) { return bfind_u64((int64_t)a < 0 ? ~a : a); }

static inline uint32_t brev_32(uint32_t v)
{
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}
static inline uint64_t brev_64(uint64_t v)
{
    return (uint64_t)brev_32((uint32_t)v) << 32 | brev_32((uint32_t)(v >> 32));
}

/* Bit fields. Of 32 bits: position and length are the low 8 bits of their operands. Of 64 bits the ISA says the same,
 * but GPUs take all 32 bits. */
static inline uint64_t low_bits(uint32_t count) { return count > 63 ? UINT64_MAX : ((uint64_t)1 << count) - 1; }

static inline uint64_t bfe_u64(uint64_t a, uint32_t b, uint32_t c) { return shr_u64(a, b) & low_bits(c); }
static inline uint32_t bfe_u32(uint32_t a, uint32_t b, uint32_t c) { return (uint32_t)bfe_u64(a, b & 0xff, c & 0xff); }
static inline uint64_t bfe_s64(uint64_t a, uint32_t b, uint32_t c)
{
    if (c == 0)
        return 0;
    uint64_t v = shr_s64(a, b); /* past the top, the field is made of the sign */
    return c > 63 ? v : shr_s64(v << (64 - c), 64 - c);
}
static inline uint32_t bfe_s32(uint32_t a, uint32_t b, uint32_t c)
{
    return (uint32_t)bfe_s64((uint64_t)(int64_t)(int32_t)a, b & 0xff, c & 0xff);
}

static inline uint64_t bfi_64(uint64_t a, uint64_t b, uint32_t c, uint32_t d)
{
    uint64_t field = shl_64(low_bits(d), c);
    return (shl_64(a, c) & field) | (b & ~field);
}
static inline uint32_t bfi_32(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return (uint32_t)bfi_64(a, b, c & 0xff, d & 0xff);
}

static inline uint32_t bmsk_wrap(uint32_t a, uint32_t b)
{
    uint32_t first = a & 31, end = first + (b & 31);
    return (uint32_t)(low_bits(end > 32 ? 32 : end) & ~low_bits(first));
}
static inline uint32_t bmsk_clamp(uint32_t a, uint32_t b)
{
    if (a > 31)
        return 0;
    uint32_t end = b > 31 ? 32 : a + b;
    return (uint32_t)(low_bits(end > 32 ? 32 : end) & ~low_bits(a));
}

/* Extension of the low n bits. */
static inline uint32_t szext_u32(uint32_t a, uint32_t n) { return a & (uint32_t)low_bits(n); }
static inline uint32_t szext_s32(uint32_t a, uint32_t n)
{
    return n == 0 ? 0 : n > 31 ? a : (uint32_t)((int32_t)(a << (32 - n)) >> (32 - n));
}

/* Find the n-th set bit of a mask, from a base position up (offset > 0) or down. */
static inline uint32_t fns_32(uint32_t mask, uint32_t base, int32_t offset)
{
    if (offset == 0)
        return base < 32 && (mask >> base & 1) ? base : UINT32_MAX;
    int64_t left = offset > 0 ? offset : -(int64_t)offset;
    int step = offset > 0 ? 1 : -1;
    for (int64_t at = (int32_t)base; at >= 0 && at < 32; at += step)
        if ((mask >> at & 1) && --left == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}

/* Bytes of {b, a}, numbered from a's lowest, as picked by four nibbles; a nibble's top bit asks for the byte's sign
 * instead. */
static inline uint32_t prmt_bytes(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t nibble = selector >> 4 * k & 15;
        uint32_t byte = (uint32_t)(bytes >> 8 * (nibble & 7)) & 0xff;
        if (nibble & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * k;
    }
    return result;
}

/* Any function of three bits, bitwise: bit (a << 2 | b << 1 | c) of the table. */
static inline uint32_t lop3_32(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;
    for (uint32_t k = 0; k < 8; k++)
        if (table >> k & 1)
            result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return result;
}

#endif
