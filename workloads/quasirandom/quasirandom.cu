/*
 * quasirandom: a quasi-random sequence in three dimensions, then each number as a normally distributed one.
 *
 * quasirandom_generate: a row of the block per dimension, threads stride the positions of the sequence. A number is the
 * exclusive or of the direction numbers whose bits are set in its position: a loop of 31 steps with a branch on one
 * bit, so that every other lane takes it at the first bit, every other pair of lanes at the second, and whole warps
 * agree from the sixth on. quasirandom_normal: the inverse of the cumulative normal distribution, by Moro's
 * approximation. Its middle and its tails are different paths, and so are the two tails: branches on the data.
 */
#include "device.h"
#include "device_bits.h"

enum { DIMENSIONS = 3, BITS = 31 };

extern "C" {
__constant__ unsigned quasirandom_directions[DIMENSIONS][BITS];
}

/* Dimension by dimension `count` numbers between 0 and 1, neither of them included; the first is that of `start`. */
extern "C" __global__ void quasirandom_generate(float *numbers, unsigned start, unsigned count)
{
    unsigned dimension = threadIdx.y;

#pragma unroll 1
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
        unsigned position = start + i;
        unsigned sum = 0;
        unsigned mask = 1;
#pragma unroll 1
        for (int bit = 0; bit < BITS; bit++) {
            if (position & mask) {
                keep_branch();
                sum ^= quasirandom_directions[dimension][bit];
            }
            mask *= 2;
        }
        /* The upper 23 bits, and half of the lowest: exact in a float. */
        numbers[dimension * count + i] = __fmul_rn(__fadd_rn((float)(sum >> (BITS - 23)), 0.5f), 0x1p-23f);
    }
}

/* Of a normal, positive number: its power of two is taken off the bits, the rest, near 1, makes a series. */
static inline __device__ float logarithm(float x)
{
    const unsigned one = 0x3f800000;
    const unsigned root_half = 0x3f3504f3;
    unsigned bits = __float_as_int(x);
    int twos = (int)((bits - root_half + one) >> 23) - 127;
    float rest = __int_as_float(bits - ((unsigned)twos << 23));
    float ratio = __fdiv_rn(__fsub_rn(rest, 1.0f), __fadd_rn(rest, 1.0f));
    float square = __fmul_rn(ratio, ratio);
    float series = __fmaf_rn(square, 0x1.c71c72p-3f, 0x1.24924ap-2f);

    series = __fmaf_rn(square, series, 0x1.99999ap-2f);
    series = __fmaf_rn(square, series, 0x1.555556p-1f);
    series = __fmaf_rn(__fmul_rn(square, series), ratio, __fmul_rn(2.0f, ratio));
    return __fmaf_rn((float)twos, 0x1.62e43p-1f, series);
}

/* Where the cumulative normal distribution has the value p; 0 < p < 1 (B. Moro, Risk 8(2), 1995). */
static inline __device__ float inverse_normal(float p)
{
    float from_middle = __fsub_rn(p, 0.5f);
    float result;

    if (from_middle > -0.42f && from_middle < 0.42f) {
        keep_branch();
        float square = __fmul_rn(from_middle, from_middle);
        float above = __fmaf_rn(square, -25.44106049637f, 41.39119773534f);
        float below = __fmaf_rn(square, 3.13082909833f, -21.06224101826f);
        above = __fmaf_rn(square, above, -18.61500062529f);
        below = __fmaf_rn(square, below, 23.08336743743f);
        above = __fmaf_rn(square, above, 2.50662823884f);
        below = __fmaf_rn(square, below, -8.47351093090f);
        below = __fmaf_rn(square, below, 1.0f);
        result = __fdiv_rn(__fmul_rn(from_middle, above), below);
    } else {
        float tail = p;
        if (from_middle > 0.0f) {
            keep_branch();
            tail = __fsub_rn(1.0f, p);
        }
        float depth = logarithm(-logarithm(tail));
        float sum = __fmaf_rn(depth, 0.0000003960315187f, 0.0000002888167364f);
        sum = __fmaf_rn(depth, sum, 0.0000321767881768f);
        sum = __fmaf_rn(depth, sum, 0.0003951896511919f);
        sum = __fmaf_rn(depth, sum, 0.0038405729373609f);
        sum = __fmaf_rn(depth, sum, 0.0276438810333863f);
        sum = __fmaf_rn(depth, sum, 0.1607979714918209f);
        sum = __fmaf_rn(depth, sum, 0.9761690190917186f);
        result = __fmaf_rn(depth, sum, 0.3374754822726147f);
        if (from_middle < 0.0f) {
            keep_branch();
            result = -result;
        }
    }
    return result;
}

extern "C" __global__ void quasirandom_normal(const float *numbers, float *normals, unsigned count)
{
#pragma unroll 1
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x)
        normals[i] = inverse_normal(numbers[i]);
}
