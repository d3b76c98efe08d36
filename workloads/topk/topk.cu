/*
 * topk: the 32 greatest of each row, greatest first, with their places. A warp per row: 32 elements at a time are
 * sorted across the lanes by a bitonic network of shuffles and merged with the 32 best so far. topk_sort sorts 64
 * elements per warp, two in each lane.
 */
#include "device_bits.h"
#include "device_warp.h"

enum { BLOCK = 256 };

/* A value as an integer of the same order, and its place below: greater is better, the lower place wins. */
static inline __device__ unsigned long long entry(float value, unsigned place)
{
    unsigned bits = (unsigned)__float_as_int(value);

    bits ^= (int)bits < 0 ? 0xffffffffu : 0x80000000u;
    return (unsigned long long)bits << 32 | (0xffffffffu - place);
}

static inline __device__ unsigned long long exchange(unsigned long long value, int mask)
{
    unsigned high = __shfl_xor_sync(ALL_LANES, (unsigned)(value >> 32), mask);
    unsigned low = __shfl_xor_sync(ALL_LANES, (unsigned)value, mask);

    return (unsigned long long)high << 32 | low;
}

/* Lanes keep the greater of the pair where `greater` is set. */
static inline __device__ unsigned long long compare(unsigned long long value, int mask, bool greater)
{
    unsigned long long other = exchange(value, mask);

    return (value > other) == greater ? value : other;
}

extern "C" __global__ void topk_rows(const float *__restrict__ in, float *__restrict__ values,
                                     unsigned *__restrict__ places, int rows, int columns)
{
    int row = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES;
    unsigned long long best = 0;

    if (row >= rows)
        return;
    in += row * columns;
    for (int base = 0; base < columns; base += LANES) {
        unsigned long long next = base + lane < columns ? entry(in[base + lane], base + lane) : 0;
        /* Nothing to do where none of the 32 is better than the worst of the best. */
        unsigned worst = __shfl_sync(ALL_LANES, (unsigned)(best >> 32), LANES - 1);
        if (__ballot_sync(ALL_LANES, next >> 32 > worst) == 0)
            continue;
#pragma unroll
        for (int size = 2; size <= LANES; size *= 2)
#pragma unroll
            for (int mask = size / 2; mask > 0; mask /= 2) /* ascending in the end */
                next = compare(next, mask, ((lane & mask) != 0) == ((lane & size) == 0 || size == LANES));
        best = best > next ? best : next; /* best descends, next ascends: the better halves are bitonic */
#pragma unroll
        for (int mask = LANES / 2; mask > 0; mask /= 2)
            best = compare(best, mask, (lane & mask) == 0);
    }
    unsigned bits = best >> 32;
    bits ^= (int)bits < 0 ? 0x80000000u : 0xffffffffu;
    values[row * LANES + lane] = __int_as_float(bits);
    places[row * LANES + lane] = 0xffffffffu - (unsigned)best;
}

/* 64 keys per warp, ascending: element i is in lane i / 2. */
extern "C" __global__ void topk_sort(uint2 *keys, int groups)
{
    int group = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES;

    if (group >= groups)
        return;
    uint2 two = keys[group * LANES + lane];
    unsigned a = two.x, b = two.y;
#pragma unroll
    for (int size = 2; size <= 2 * LANES; size *= 2) {
        bool ascending = (2 * lane & size) == 0;
#pragma unroll
        for (int mask = size / 4; mask > 0; mask /= 2) {
            bool low = ((lane & mask) == 0) == ascending;
            unsigned other_a = __shfl_xor_sync(ALL_LANES, a, mask), other_b = __shfl_xor_sync(ALL_LANES, b, mask);
            a = (a < other_a) == low ? a : other_a;
            b = (b < other_b) == low ? b : other_b;
        }
        unsigned least = a < b ? a : b, most = a < b ? b : a;
        a = ascending ? least : most;
        b = ascending ? most : least;
    }
    two.x = a;
    two.y = b;
    keys[group * LANES + lane] = two;
}
