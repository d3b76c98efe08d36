/*
 * softmax: of each row of a matrix, three ways: a row of 256 per warp, held in registers; a row per block in three
 * passes over memory (greatest, sum, result); a row per block in two passes, with the running greatest and the running
 * sum corrected on the way (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).
 */
#include "device_warp.h"

enum { BLOCK = 256, SHORT_ROW = 256, PER_LANE = SHORT_ROW / LANES };
#define LOG2_E 0x1.715476p+0f

extern "C" __global__ void softmax_warp(const float *__restrict__ in, float *__restrict__ out, int rows)
{
    int row = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES;
    float values[PER_LANE];
    float greatest = -1e30f, sum = 0.0f;

    if (row >= rows)
        return;
    in += row * SHORT_ROW + lane;
    out += row * SHORT_ROW + lane;
#pragma unroll
    for (int i = 0; i < PER_LANE; i++)
        greatest = fmaxf(greatest, values[i] = in[i * LANES]);
    greatest = warp_max(greatest);
#pragma unroll
    for (int i = 0; i < PER_LANE; i++)
        sum += values[i] = exp2_approx((values[i] - greatest) * LOG2_E);
    float scale = __fdividef(1.0f, warp_sum(sum));
#pragma unroll
    for (int i = 0; i < PER_LANE; i++)
        out[i * LANES] = values[i] * scale;
}

extern "C" __global__ void softmax_block(const float *__restrict__ in, float *__restrict__ out, int columns)
{
    __shared__ float partial[LANES];
    float greatest = -1e30f, sum = 0.0f;

    in += blockIdx.x * columns;
    out += blockIdx.x * columns;
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        greatest = fmaxf(greatest, in[i]);
    greatest = block_max(greatest, partial);
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        sum += exp2_approx((in[i] - greatest) * LOG2_E);
    float scale = __fdividef(1.0f, block_sum(sum, partial));
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        out[i] = exp2_approx((in[i] - greatest) * LOG2_E) * scale;
}

extern "C" __global__ void softmax_online(const float *__restrict__ in, float *__restrict__ out, int columns)
{
    __shared__ float partial[LANES];
    float greatest = -1e30f, sum = 0.0f;

    in += blockIdx.x * columns;
    out += blockIdx.x * columns;
    for (int i = threadIdx.x; i < columns; i += BLOCK) {
        float value = in[i];
        float next = fmaxf(greatest, value);
        sum = sum * exp2_approx((greatest - next) * LOG2_E) + exp2_approx((value - next) * LOG2_E);
        greatest = next;
    }
    float all = block_max(greatest, partial);
    float scale = __fdividef(1.0f, block_sum(sum * exp2_approx((greatest - all) * LOG2_E), partial));
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        out[i] = exp2_approx((in[i] - all) * LOG2_E) * scale;
}
