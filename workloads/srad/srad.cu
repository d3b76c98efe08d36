/*
 * srad: speckle-reducing anisotropic diffusion: smooths an ultrasound image within regions and leaves their edges.
 *
 * One thread a pixel, blocks of 512 over the image stored column by column; the last block is partial. Four kernels an
 * iteration: srad_prepare copies the pixels and their squares, srad_reduce sums both (launched until one sum is left),
 * srad_gradient computes how much a pixel lets through, srad_update diffuses. Neighbours are found through index arrays:
 * north and south are next to a pixel in memory, west and east a column away. Before and after the iterations
 * srad_extract and srad_compress go from the image's logarithm to the image, and back.
 */
#include "device.h"

enum { BLOCK = 512 };

static inline __device__ int pixel_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void srad_extract(float *image, int count)
{
    int i = pixel_number();

    if (i < count)
        image[i] = __expf(__fdiv_rn(image[i], 255.0f));
}

extern "C" __global__ void srad_compress(float *image, int count)
{
    int i = pixel_number();

    if (i < count)
        image[i] = __fmul_rn(__logf(image[i]), 255.0f);
}

extern "C" __global__ void srad_prepare(const float *image, float *sums, float *squares, int count)
{
    int i = pixel_number();

    if (i < count) {
        sums[i] = image[i];
        squares[i] = __fmul_rn(image[i], image[i]);
    }
}

/*
 * Of `count` elements, `stride` apart, each block puts the sum of its own where the first of them was. A full block is one
 * tree. In the last block the tree takes the largest power of two; one thread adds the rest, one after the other.
 */
extern "C" __global__ void srad_reduce(float *sums, float *squares, int count, int stride)
{
    __shared__ float sum[BLOCK];
    __shared__ float square[BLOCK];
    int tx = threadIdx.x;
    int first = blockIdx.x * BLOCK;
    int i = first + tx;
    int width = BLOCK;

    if (i < count) {
        sum[tx] = sums[i * stride];
        square[tx] = squares[i * stride];
    }
    __syncthreads();
    while (width > count - first)
        width /= 2;
#pragma unroll 1
    for (int span = 2; span <= width; span *= 2) {
        if ((tx + 1) % span == 0 && tx < width) {
            sum[tx] = __fadd_rn(sum[tx], sum[tx - span / 2]);
            square[tx] = __fadd_rn(square[tx], square[tx - span / 2]);
        }
        __syncthreads();
    }
    if (tx == width - 1) {
        int end = first + BLOCK < count ? first + BLOCK : count;
        float all = sum[tx];
        float all_squares = square[tx];
#pragma unroll 1
        for (i = first + width; i < end; i++) {
            all = __fadd_rn(all, sums[i * stride]);
            all_squares = __fadd_rn(all_squares, squares[i * stride]);
        }
        sums[first * stride] = all;
        squares[first * stride] = all_squares;
    }
}

struct neighbours {
    const int *north; /* by row */
    const int *south;
    const int *west; /* by column */
    const int *east;
};

/* To the four neighbours of each pixel, and how much diffuses between it and them: 0 to 1. */
struct gradients {
    float *north;
    float *south;
    float *west;
    float *east;
    float *diffusion;
};

/* `noise` is the variance of the whole image over its squared mean. */
extern "C" __global__ void srad_gradient(const float *image, neighbours at, gradients out, int rows, int count, float noise)
{
    int i = pixel_number();

    if (i < count) {
        int row = i % rows;
        int column = i / rows;
        float here = image[i];
        float north = __fsub_rn(image[at.north[row] + rows * column], here);
        float south = __fsub_rn(image[at.south[row] + rows * column], here);
        float west = __fsub_rn(image[row + rows * at.west[column]], here);
        float east = __fsub_rn(image[row + rows * at.east[column]], here);

        float squares = __fmaf_rn(east, east, __fmaf_rn(west, west, __fmaf_rn(south, south, __fmul_rn(north, north))));
        float steepness = __fdiv_rn(squares, __fmul_rn(here, here));
        float curvature = __fdiv_rn(__fadd_rn(__fadd_rn(__fadd_rn(north, south), west), east), here);
        float above = __fmaf_rn(-0.0625f, __fmul_rn(curvature, curvature), __fmul_rn(0.5f, steepness));
        float below = __fmaf_rn(0.25f, curvature, 1.0f);
        float variation = __fdiv_rn(above, __fmul_rn(below, below));
        float excess = __fdiv_rn(__fsub_rn(variation, noise), __fmul_rn(noise, __fadd_rn(1.0f, noise)));
        float diffusion = __fdiv_rn(1.0f, __fadd_rn(1.0f, excess));

        if (diffusion < 0.0f) {
            keep_branch();
            diffusion = 0.0f;
        } else if (diffusion > 1.0f) {
            keep_branch();
            diffusion = 1.0f;
        }
        out.north[i] = north;
        out.south[i] = south;
        out.west[i] = west;
        out.east[i] = east;
        out.diffusion[i] = diffusion;
    }
}

extern "C" __global__ void srad_update(float *image, neighbours at, gradients in, int rows, int count, float lambda)
{
    int i = pixel_number();

    if (i < count) {
        int row = i % rows;
        int column = i / rows;
        float here = in.diffusion[i];
        float south = in.diffusion[at.south[row] + rows * column];
        float east = in.diffusion[row + rows * at.east[column]];
        float divergence = __fmul_rn(here, in.north[i]);

        divergence = __fmaf_rn(south, in.south[i], divergence);
        divergence = __fmaf_rn(here, in.west[i], divergence);
        divergence = __fmaf_rn(east, in.east[i], divergence);
        image[i] = __fmaf_rn(__fmul_rn(0.25f, lambda), divergence, image[i]);
    }
}
