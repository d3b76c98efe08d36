/*
 * layernorm: rows brought to mean 0 and variance 1, then scaled and shifted by column. Forward by a block per row
 * (mean, then variance, from memory both times) and by a warp per row with the row in registers; backward for the
 * input.
 */
#include "device_warp.h"

enum { BLOCK = 256, SHORT_ROW = 512, VECTORS = SHORT_ROW / (4 * LANES) };
#define EPSILON 1e-5f

extern "C" __global__ void layernorm_block(const float *__restrict__ in, const float *__restrict__ scale,
                                           const float *__restrict__ shift, float *__restrict__ out,
                                           float *__restrict__ means, float *__restrict__ inverses, int columns)
{
    __shared__ float partial[LANES];
    float sum = 0.0f, squares = 0.0f;

    in += blockIdx.x * columns;
    out += blockIdx.x * columns;
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        sum += in[i];
    float mean = __fdividef(block_sum(sum, partial), columns);
    for (int i = threadIdx.x; i < columns; i += BLOCK) {
        float distance = in[i] - mean;
        squares = __fmaf_rn(distance, distance, squares);
    }
    float inverse = rsqrt_approx(__fdividef(block_sum(squares, partial), columns) + EPSILON);
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        out[i] = __fmaf_rn((in[i] - mean) * inverse, scale[i], shift[i]);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean;
        inverses[blockIdx.x] = inverse;
    }
}

extern "C" __global__ void layernorm_warp(const float4 *__restrict__ in, const float4 *__restrict__ scale,
                                          const float4 *__restrict__ shift, float4 *__restrict__ out, int rows)
{
    int row = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES;
    float4 values[VECTORS];
    float sum = 0.0f, squares = 0.0f;

    if (row >= rows)
        return;
    in += row * (SHORT_ROW / 4) + lane;
    out += row * (SHORT_ROW / 4) + lane;
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        values[i] = in[i * LANES];
        sum += values[i].x + values[i].y + (values[i].z + values[i].w);
    }
    float mean = warp_sum(sum) * (1.0f / SHORT_ROW);
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        values[i] -= mean;
        squares = __fmaf_rn(values[i].x, values[i].x, __fmaf_rn(values[i].y, values[i].y, squares));
        squares = __fmaf_rn(values[i].z, values[i].z, __fmaf_rn(values[i].w, values[i].w, squares));
    }
    float inverse = rsqrt_approx(warp_sum(squares) * (1.0f / SHORT_ROW) + EPSILON);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
        out[i * LANES] = values[i] * inverse * scale[i * LANES + lane] + shift[i * LANES + lane];
}

/* The gradient of the input, from that of the output: two sums over the row, then one pass. */
extern "C" __global__ void layernorm_backward(const float *__restrict__ in, const float *__restrict__ scale,
                                              const float *__restrict__ means, const float *__restrict__ inverses,
                                              const float *__restrict__ out_gradient, float *__restrict__ in_gradient,
                                              int columns)
{
    __shared__ float partial[LANES];
    float mean = means[blockIdx.x], inverse = inverses[blockIdx.x];
    float sum = 0.0f, product = 0.0f;

    in += blockIdx.x * columns;
    out_gradient += blockIdx.x * columns;
    in_gradient += blockIdx.x * columns;
    for (int i = threadIdx.x; i < columns; i += BLOCK) {
        float slope = out_gradient[i] * scale[i];
        sum += slope;
        product = __fmaf_rn(slope, (in[i] - mean) * inverse, product);
    }
    sum = __fdividef(block_sum(sum, partial), columns);
    product = __fdividef(block_sum(product, partial), columns);
    for (int i = threadIdx.x; i < columns; i += BLOCK) {
        float slope = out_gradient[i] * scale[i];
        in_gradient[i] = (slope - sum - (in[i] - mean) * inverse * product) * inverse;
    }
}
