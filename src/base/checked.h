/* Arithmetic on sizes, counts and addresses that a guest (a module's text, a kernel's registers) controls. The sums and
 * products that decide whether an access is inside are made here and nowhere else: none of them wraps. */
#ifndef HEDDLE_BASE_CHECKED_H
#define HEDDLE_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* False, and *out unchanged, where the result does not fit 64 bits. */
static inline bool checked_add(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

static inline bool checked_multiply(uint64_t a, uint64_t b, uint64_t *out)
{
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

/* Rounds up to a multiple of align, a power of two. */
static inline bool checked_round_up(uint64_t value, uint64_t align, uint64_t *out)
{
    uint64_t above;
    if (!checked_add(value, align - 1, &above))
        return false;
    *out = above & ~(align - 1);
    return true;
}

/* Sums and products that stay at the largest number when they would pass it: for values that are compared with a limit
 * next. */
static inline uint64_t capped_add(uint64_t a, uint64_t b)
{
    uint64_t sum = UINT64_MAX;
    checked_add(a, b, &sum);
    return sum;
}

static inline uint64_t capped_multiply(uint64_t a, uint64_t b)
{
    uint64_t product = UINT64_MAX;
    checked_multiply(a, b, &product);
    return product;
}

/* The volume of a grid, a block or a cluster. */
static inline uint64_t capped_volume(const uint32_t size[3])
{
    return capped_multiply(capped_multiply(size[0], size[1]), size[2]);
}

/* Are all of [at, at + bytes) inside [base, base + size)? An empty piece must begin inside, too. */
static inline bool is_inside_range(uint64_t base, uint64_t size, uint64_t at, uint64_t bytes)
{
    uint64_t offset = at - base; /* below the base it is larger than any size that reaches the end of memory */
    return at >= base && offset < size && bytes <= size - offset;
}

/* Adds an address and an offset as a GPU does: modulo 2^64, which is legal for a guest and undefined for signed numbers
 * in C. */
static inline int64_t wrapping_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

#endif
