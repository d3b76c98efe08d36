/*
 * random.h: the workloads' inputs, the same on every host. A counter stepped by an odd constant, its bits mixed by
 * multiplications and shifts; the state is the caller's, and any value is a
 * seed. */
#ifndef WORKLOADS_RANDOM_H
#define WORKLOADS_RANDOM_H

#include <stdint.h>

static inline uint32_t random_u32(uint64_t *state)
{
    uint64_t bits = *state += 0x9e3779b97f4a7c15u;

    bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93u;
    bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93u;
    return bits >> 32;
}

/* From 0 to limit - 1. */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
    return (uint64_t)random_u32(state) * limit >> 32;
}

/* From 0 up to, but not including, 1: 24 bits, so exact in a float. */
static inline float random_float(uint64_t *state) { return (random_u32(state) >> 8) * 0x1p-24f; }

#endif
