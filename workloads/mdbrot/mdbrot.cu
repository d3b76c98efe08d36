/*
 * mdbrot: the Mandelbrot set, one thread a pixel in 16x16 blocks, then a second kernel that refines edges.
 *
 * mdbrot_draw iterates each pixel until it escapes or `crunch` steps are spent. mdbrot_refine takes another sample where
 * a pixel's colour differs from a neighbour's, and blends the two. The host repeats the arithmetic to the bit.
 */
#include "device.h"

struct view {
    float left;
    float top;
    float step; /* from pixel to pixel */
    int width;
    int height;
    int crunch;
};

/* Steps left when z = z^2 + c leaves the circle of radius 2; 0 when it did not. */
static inline __device__ int steps_left(float cx, float cy, int crunch)
{
    float x = 0.0f, y = 0.0f, xx = 0.0f, yy = 0.0f;
    int left = crunch;

#pragma unroll 1
    while (left > 0 && __fadd_rn(xx, yy) < 4.0f) {
        y = __fmaf_rn(__fadd_rn(x, x), y, cy);
        x = __fadd_rn(__fsub_rn(xx, yy), cx);
        xx = __fmul_rn(x, x);
        yy = __fmul_rn(y, y);
        left--;
    }
    return left;
}

/* Red, green and blue, a byte each. */
static inline __device__ unsigned sample(const view &view, float px, float py)
{
    unsigned left = steps_left(__fmaf_rn(px, view.step, view.left), __fmaf_rn(py, view.step, view.top), view.crunch);

    return (left * 3 & 255) | (left * 5 & 255) << 8 | (left * 7 & 255) << 16;
}

static inline __device__ int channel(unsigned colour, int shift) { return colour >> shift & 255; }

static inline __device__ int distance(int a, int b) { return a > b ? a - b : b - a; }

static inline __device__ bool differs(unsigned a, unsigned b)
{
    const int noticeable = 10;

    return distance(channel(a, 0), channel(b, 0)) > noticeable || distance(channel(a, 8), channel(b, 8)) > noticeable ||
           distance(channel(a, 16), channel(b, 16)) > noticeable;
}

/* The mean of two colours, channel by channel, rounded down. */
static inline __device__ unsigned blend(unsigned a, unsigned b) { return (a & b) + (((a ^ b) & 0xfefefe) >> 1); }

extern "C" __global__ void mdbrot_draw(unsigned *image, view view)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < view.width && y < view.height)
        image[y * view.width + x] = sample(view, (float)x, (float)y);
}

extern "C" __global__ void mdbrot_refine(const unsigned *image, unsigned *refined, view view)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < view.width && y < view.height) {
        int at = y * view.width + x;
        unsigned colour = image[at];
        if ((x > 0 && differs(colour, image[at - 1])) || (x + 1 < view.width && differs(colour, image[at + 1])) ||
            (y > 0 && differs(colour, image[at - view.width])) ||
            (y + 1 < view.height && differs(colour, image[at + view.width])))
            colour = blend(colour, sample(view, __fadd_rn((float)x, 0.5f), __fadd_rn((float)y, 0.5f)));
        refined[at] = colour;
    }
}
