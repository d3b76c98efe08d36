/*
 * hashtable: a table with open addressing in global memory: keys inserted by compare-and-swap, the next place tried
 * where one is taken; then looked up. Half of the places are filled, and half of the look-ups find nothing.
 */
#include "device_warp.h"

enum { BLOCK = 256 };
#define NO_KEY 0xffffffffu

static inline __device__ unsigned place_of(unsigned key, unsigned mask)
{
    key = (key ^ key >> 16) * 0x85ebca6bu;
    key = (key ^ key >> 13) * 0xc2b2ae35u;
    return (key ^ key >> 16) & mask;
}

extern "C" __global__ void hashtable_insert(const unsigned *__restrict__ in, unsigned *keys, unsigned *values,
                                            unsigned mask, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= count)
        return;
    unsigned key = in[i], at = place_of(key, mask);
    for (;;) {
        unsigned there = atomicCAS(&keys[at], NO_KEY, key);
        if (there == NO_KEY || there == key)
            break;
        at = (at + 1) & mask;
    }
    values[at] = key * 3 + 1;
}

extern "C" __global__ void hashtable_find(const unsigned *__restrict__ wanted, const unsigned *__restrict__ keys,
                                          const unsigned *__restrict__ values, unsigned *__restrict__ out,
                                          unsigned mask, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= count)
        return;
    unsigned key = wanted[i], at = place_of(key, mask), found = 0;
    for (;;) {
        unsigned there = keys[at];
        if (there == key)
            found = values[at];
        if (there == key || there == NO_KEY)
            break;
        at = (at + 1) & mask;
    }
    out[i] = found;
}
