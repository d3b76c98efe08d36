/*
 * conv2d: 3x3 convolutions of images of several channels, borders as if zero: a thread per output straight from memory;
 * with the input tile and its margin in shared memory, eight output channels per thread; and depthwise, where each
 * channel has a filter of its own. Layout: image, channel, row, column; filters: output channel, input channel, 3x3.
 */
#include "device_warp.h"

enum { WIDTH = 32, HEIGHT = 8, EACH = 8, CHANNELS = 8 };

extern "C" __global__ void conv2d_direct(const float *__restrict__ in, const float *__restrict__ filters,
                                         float *__restrict__ out, int side)
{
    int x = blockIdx.x % (side / WIDTH) * WIDTH + threadIdx.x;
    int y = blockIdx.x / (side / WIDTH) * HEIGHT + threadIdx.y;
    int channel = blockIdx.y % CHANNELS, image = blockIdx.y / CHANNELS;
    float sum = 0.0f;

    in += image * CHANNELS * side * side;
    filters += channel * CHANNELS * 9;
    for (int from = 0; from < CHANNELS; from++) {
#pragma unroll
        for (int i = -1; i <= 1; i++)
#pragma unroll
            for (int j = -1; j <= 1; j++) {
                bool inside = y + i >= 0 && y + i < side && x + j >= 0 && x + j < side;
                float value = inside ? in[(from * side + y + i) * side + x + j] : 0.0f;
                sum = __fmaf_rn(value, filters[from * 9 + (i + 1) * 3 + j + 1], sum);
            }
    }
    out[((image * CHANNELS + channel) * side + y) * side + x] = sum;
}

extern "C" __global__ void conv2d_shared(const float *__restrict__ in, const float *__restrict__ filters,
                                         float *__restrict__ out, int side)
{
    __shared__ float tile[HEIGHT + 2][WIDTH + 2];
    __shared__ float weights[EACH][9];
    int left = blockIdx.x % (side / WIDTH) * WIDTH, top = blockIdx.x / (side / WIDTH) * HEIGHT;
    int channel = blockIdx.y % (CHANNELS / EACH) * EACH, image = blockIdx.y / (CHANNELS / EACH);
    int tid = threadIdx.y * WIDTH + threadIdx.x;
    float sums[EACH] = {};

    in += image * CHANNELS * side * side;
#pragma unroll 1
    for (int from = 0; from < CHANNELS; from++) {
        __syncthreads();
        for (int i = tid; i < (HEIGHT + 2) * (WIDTH + 2); i += WIDTH * HEIGHT) {
            int y = top + i / (WIDTH + 2) - 1, x = left + i % (WIDTH + 2) - 1;
            bool inside = y >= 0 && y < side && x >= 0 && x < side;
            tile[i / (WIDTH + 2)][i % (WIDTH + 2)] = inside ? in[(from * side + y) * side + x] : 0.0f;
        }
        if (tid < EACH * 9)
            weights[tid / 9][tid % 9] = filters[((channel + tid / 9) * CHANNELS + from) * 9 + tid % 9];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 9; i++) {
            float value = tile[threadIdx.y + i / 3][threadIdx.x + i % 3];
#pragma unroll
            for (int c = 0; c < EACH; c++)
                sums[c] = __fmaf_rn(value, weights[c][i], sums[c]);
        }
    }
#pragma unroll
    for (int c = 0; c < EACH; c++)
        out[((image * CHANNELS + channel + c) * side + top + threadIdx.y) * side + left + threadIdx.x] = sums[c];
}

/* A thread makes four outputs below each other, and keeps three rows of three values as it goes down. */
extern "C" __global__ void conv2d_depthwise(const float *__restrict__ in, const float *__restrict__ filters,
                                            float *__restrict__ out, int side)
{
    int x = blockIdx.x % (side / WIDTH) * WIDTH + threadIdx.x;
    int y = (blockIdx.x / (side / WIDTH) * HEIGHT + threadIdx.y) * 4;
    int plane = blockIdx.y * side * side;
    float weights[9], values[6][3];

    filters += blockIdx.y % CHANNELS * CHANNELS * 9; /* the first of each output channel */
#pragma unroll
    for (int i = 0; i < 9; i++)
        weights[i] = filters[i];
#pragma unroll
    for (int i = 0; i < 6; i++)
#pragma unroll
        for (int j = 0; j < 3; j++) {
            int row = y + i - 1, column = x + j - 1;
            bool inside = row >= 0 && row < side && column >= 0 && column < side;
            values[i][j] = inside ? in[plane + row * side + column] : 0.0f;
        }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < 9; j++)
            sum = __fmaf_rn(values[i + j / 3][j % 3], weights[j], sum);
        out[plane + (y + i) * side + x] = sum;
    }
}
