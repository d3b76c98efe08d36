/*
 * optimizer: what training does beside products: the sum of squares of all gradients and clipping to it, one step of
 * Adam (Kingma and Ba, 2014) over weights and two moments, the activation GELU, and cross-entropy of rows of scores.
 */
#include "device_warp.h"

enum { BLOCK = 256 };
#define LOG2_E 0x1.715476p+0f

extern "C" __global__ void optimizer_norm(const float4 *__restrict__ gradients, float *total, int vectors)
{
    __shared__ float partial[LANES];
    float sum = 0.0f;

    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < vectors; i += gridDim.x * BLOCK) {
        float4 g = gradients[i];
        sum = __fmaf_rn(g.x, g.x, __fmaf_rn(g.y, g.y, __fmaf_rn(g.z, g.z, __fmaf_rn(g.w, g.w, sum))));
    }
    sum = block_sum(sum, partial);
    if (threadIdx.x == 0)
        atomicAdd(total, sum);
}

extern "C" __global__ void optimizer_adam(float *__restrict__ weights, const float *__restrict__ gradients,
                                          float *__restrict__ first, float *__restrict__ second,
                                          const float *__restrict__ total, float limit, float rate, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= count)
        return;
    float clip = fminf(1.0f, limit * rsqrt_approx(*total));
    float g = gradients[i] * clip;
    float m = __fmaf_rn(0.9f, first[i], 0.1f * g);
    float v = __fmaf_rn(0.999f, second[i], 0.001f * g * g);
    first[i] = m;
    second[i] = v;
    weights[i] = weights[i] - rate * (__fdividef(m, __fsqrt_rn(v) + 1e-8f) + 0.01f * weights[i]);
}

extern "C" __global__ void optimizer_gelu(const float4 *__restrict__ in, float4 *__restrict__ out, int vectors)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= vectors)
        return;
    float4 x = in[i];
    float4 inner = (x + x * x * x * 0.044715f) * (-1.5957691f * LOG2_E);
    float4 result = {__fdividef(x.x, 1.0f + exp2_approx(inner.x)), __fdividef(x.y, 1.0f + exp2_approx(inner.y)),
                     __fdividef(x.z, 1.0f + exp2_approx(inner.z)), __fdividef(x.w, 1.0f + exp2_approx(inner.w))};
    out[i] = result;
}

/* A block per row: its loss, and the gradient of its scores. */
extern "C" __global__ void optimizer_cross_entropy(const float *__restrict__ scores,
                                                   const unsigned *__restrict__ labels, float *__restrict__ losses,
                                                   float *__restrict__ gradients, int columns)
{
    __shared__ float partial[LANES];
    unsigned label = labels[blockIdx.x];
    float greatest = -1e30f, sum = 0.0f;

    scores += blockIdx.x * columns;
    gradients += blockIdx.x * columns;
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        greatest = fmaxf(greatest, scores[i]);
    greatest = block_max(greatest, partial);
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        sum += exp2_approx((scores[i] - greatest) * LOG2_E);
    sum = block_sum(sum, partial);
    float scale = __fdividef(1.0f, sum);
    for (unsigned i = threadIdx.x; i < (unsigned)columns; i += BLOCK)
        gradients[i] = __fmaf_rn(exp2_approx((scores[i] - greatest) * LOG2_E), scale, i == label ? -1.0f : 0.0f);
    if (threadIdx.x == 0)
        losses[blockIdx.x] = __logf(sum) + greatest - scores[label];
}
