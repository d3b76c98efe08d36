/*
 * rmsnorm-rope: the small kernels between the products of a language model's layer: rows divided by their root mean
 * square and scaled; queries and keys rotated by their position (rotary embedding, the pair i and i + 32 of each head
 * of 64); the gated product silu(gate) * up.
 */
#include "device_warp.h"

enum { BLOCK = 256, HEAD = 64, HALF = HEAD / 2 };
#define LOG2_E 0x1.715476p+0f

extern "C" __global__ void rmsnorm(const float4 *__restrict__ in, const float4 *__restrict__ scale,
                                   float4 *__restrict__ out, int vectors)
{
    __shared__ float partial[LANES];
    float squares = 0.0f;

    in += blockIdx.x * vectors;
    out += blockIdx.x * vectors;
    for (int i = threadIdx.x; i < vectors; i += BLOCK) {
        float4 v = in[i];
        squares = __fmaf_rn(v.x, v.x, __fmaf_rn(v.y, v.y, __fmaf_rn(v.z, v.z, __fmaf_rn(v.w, v.w, squares))));
    }
    float inverse = rsqrt_approx(__fdividef(block_sum(squares, partial), 4 * vectors) + 1e-6f);
    for (int i = threadIdx.x; i < vectors; i += BLOCK)
        out[i] = in[i] * inverse * scale[i];
}

/* In place; one thread per pair. Angles come from approximate sine, cosine and power. */
extern "C" __global__ void rope(float *heads, int heads_per_row, int pairs)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= pairs)
        return;
    int pair = i % HALF;
    int head = i / HALF;
    int position = head / heads_per_row;
    float angle = position * exp2_approx(pair * (-13.287712f / HALF)); /* 10000 to the power of -pair / HALF */
    angle -= 6.2831853f * floorf(angle * 0.15915494f);
    float sine = __sinf(angle), cosine = __cosf(angle);
    float *at = heads + head * HEAD + pair;
    float x = at[0], y = at[HALF];
    at[0] = x * cosine - y * sine;
    at[HALF] = x * sine + y * cosine;
}

extern "C" __global__ void silu_gate(const float *__restrict__ gate, const float *__restrict__ up,
                                     float *__restrict__ out, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < count)
        out[i] = __fdividef(gate[i], 1.0f + exp2_approx(-LOG2_E * gate[i])) * up[i];
}
