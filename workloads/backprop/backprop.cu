/*
 * backprop: one step of training of a layered neural network, between its wide input layer and 16 hidden units.
 *
 * backprop_forward: a block of 16x16 takes 16 input nodes (y) and all hidden units (x), multiplies the weights with the
 * nodes and adds them up in a tree over y: at step s the rows whose number is a multiple of 2s are active, which is one half
 * of a warp at first, and never the other. It leaves a sum a hidden unit and block for the host, and what is in its tile
 * in place of the weights. backprop_adjust changes every weight: no loop, two values read, changed and written back.
 */
#include "device.h"

enum { TILE = 16, HIDDEN = 16 };

/* Weights are a matrix: a row an input node, a column a hidden unit. Row 0 is the bias, column 0 is not used. */
static inline __device__ int weight_at(int node, int unit) { return node * (HIDDEN + 1) + unit; }

extern "C" __global__ void backprop_forward(const float *nodes, float *weights, float *partial_sums)
{
    __shared__ float node[TILE];
    __shared__ float product[TILE][HIDDEN];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int number = blockIdx.y * TILE + ty + 1;
    int at = weight_at(number, tx + 1);

    if (tx == 0)
        node[ty] = nodes[number];
    __syncthreads();
    product[ty][tx] = weights[at];
    __syncthreads();
    product[ty][tx] = __fmul_rn(product[ty][tx], node[ty]);
    __syncthreads();
#pragma unroll 1
    for (int s = 1; s < TILE; s *= 2) {
        if (ty % (2 * s) == 0)
            product[ty][tx] = __fadd_rn(product[ty][tx], product[ty + s][tx]);
        __syncthreads();
    }
    weights[at] = product[ty][tx];
    __syncthreads();
    if (tx == 0)
        partial_sums[blockIdx.y * HIDDEN + ty] = product[0][ty];
}

/* By how much a weight changes: with the error of its unit, and on in the direction it took last time. */
static inline __device__ float weight_change(float error, float node, float last_change)
{
    const float rate = 0.3f;
    const float momentum = 0.3f;

    return __fmaf_rn(momentum, last_change, __fmul_rn(__fmul_rn(rate, error), node));
}

extern "C" __global__ void backprop_adjust(const float *errors, const float *nodes, float *weights, float *last_changes)
{
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int number = blockIdx.y * TILE + ty + 1;
    int at = weight_at(number, tx + 1);

    float change = weight_change(errors[tx + 1], nodes[number], last_changes[at]);
    weights[at] = __fadd_rn(weights[at], change);
    last_changes[at] = change;
    __syncthreads();
    if (ty == 0 && blockIdx.y == 0) {
        at = weight_at(0, tx + 1);
        change = weight_change(errors[tx + 1], 1.0f, last_changes[at]);
        weights[at] = __fadd_rn(weights[at], change);
        last_changes[at] = change;
    }
}
