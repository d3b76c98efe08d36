/* Small questions about numbers. */
#ifndef HEDDLE_BASE_NUMBERS_H
#define HEDDLE_BASE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
/* The same of cycles. */
static inline uint64_t earlier(uint64_t a, uint64_t b) { return smaller(a, b); }
static inline uint64_t later(uint64_t a, uint64_t b) { return larger(a, b); }

static inline bool is_power_of_two(uint64_t value) { return value && !(value & (value - 1)); }
/* The exponent of a power of two. */
static inline uint32_t exponent_of(uint64_t power) { return (uint32_t)__builtin_ctzll(power); }

#endif
