/*
 * dxtc: compresses an image to DXT1, one block of 64 threads per 4x4 pixels.
 *
 * Sixteen threads (half a warp) load a pixel each, find the axis along which the colours spread most and order them
 * along it. Then all threads try the ways to split the ordered colours into the four shades of the format: 992 in the
 * table, 16 rounds. For a way: the two end colours by least squares, rounded to 5, 6 and 5 bits, and the squared error
 * that they leave. Which shade a colour gets is read from the table, a branch that depends on data; neighbouring ways
 * differ in few places, so the threads of a path come in clusters. A tree finds the least error, and its thread writes.
 */
#include "device.h"

enum { THREADS = 64, PIXELS = 16, WAYS = 992, MOMENTS = 6, POWER_STEPS = 8 };

struct colour {
    float red;
    float green;
    float blue;
};

/* What is known of a way: its error, the ends as 5:6:5 bits, and the shades of the ordered colours, 2 bits each. */
struct attempt {
    float error;
    unsigned first;
    unsigned second;
    unsigned shades;
};

static inline __device__ float clamped(float x)
{
    float low = x > 0.0f ? x : 0.0f;

    return low < 1.0f ? low : 1.0f;
}

/* A channel rounded to whole numbers up to `levels`, which must be a constant; `kept` is what it stands for then. */
static inline __device__ unsigned rounded(float x, float levels, float *kept)
{
    int level = (int)__fmaf_rn(clamped(x), levels, 0.5f);

    *kept = __fmul_rn((float)level, 1.0f / levels);
    return level;
}

static inline __device__ unsigned rounded(const colour &exact, colour *kept)
{
    unsigned red = rounded(exact.red, 31.0f, &kept->red);
    unsigned green = rounded(exact.green, 63.0f, &kept->green);
    unsigned blue = rounded(exact.blue, 31.0f, &kept->blue);

    return red << 11 | green << 5 | blue;
}

/* What the system of normal equations of a way is made of. */
struct sums {
    float aa; /* of the squared shares of the first end */
    float bb; /* of the second */
    float ab;
};

/* One of the unknown ends in one channel, by Cramer's rule: `own` and `other` are the sums of colours by share. */
static inline __device__ float solved(float own, float other, float square, float mixed, float scale)
{
    return __fmul_rn(__fsub_rn(__fmul_rn(own, square), __fmul_rn(other, mixed)), scale);
}

/* Squared error of one channel, less what is the same for all ways. */
static inline __device__ float channel_error(const sums &sums, float a, float b, float sum_a, float sum_b)
{
    float squares = __fmaf_rn(__fmul_rn(a, a), sums.aa, __fmul_rn(__fmul_rn(b, b), sums.bb));
    float mixed = __fsub_rn(__fsub_rn(__fmul_rn(__fmul_rn(a, b), sums.ab), __fmul_rn(a, sum_a)), __fmul_rn(b, sum_b));

    return __fmaf_rn(2.0f, mixed, squares);
}

static inline __device__ attempt tried(const colour *ordered, const colour &total, unsigned shades)
{
    sums sums = { 0.0f, 0.0f, 0.0f };
    colour part_a = { 0.0f, 0.0f, 0.0f };
    attempt attempt;
    colour a, b;

#pragma unroll 1
    for (int i = 0; i < PIXELS; i++) {
        unsigned shade = shades >> 2 * i;
        float share_b = (float)(shade & 1);
        /* Shades 0 and 1 are the ends, 2 and 3 lie between. */
        if (shade & 2) {
            keep_branch();
            share_b = __fmul_rn(__fadd_rn(share_b, 1.0f), 1.0f / 3.0f);
        }
        float share_a = __fsub_rn(1.0f, share_b);
        sums.aa = __fmaf_rn(share_a, share_a, sums.aa);
        sums.bb = __fmaf_rn(share_b, share_b, sums.bb);
        sums.ab = __fmaf_rn(share_a, share_b, sums.ab);
        part_a.red = __fmaf_rn(share_a, ordered[i].red, part_a.red);
        part_a.green = __fmaf_rn(share_a, ordered[i].green, part_a.green);
        part_a.blue = __fmaf_rn(share_a, ordered[i].blue, part_a.blue);
    }
    colour part_b = { __fsub_rn(total.red, part_a.red), __fsub_rn(total.green, part_a.green),
                      __fsub_rn(total.blue, part_a.blue) };
    float scale = __fdiv_rn(1.0f, __fsub_rn(__fmul_rn(sums.aa, sums.bb), __fmul_rn(sums.ab, sums.ab)));
    colour exact_a = { solved(part_a.red, part_b.red, sums.bb, sums.ab, scale),
                       solved(part_a.green, part_b.green, sums.bb, sums.ab, scale),
                       solved(part_a.blue, part_b.blue, sums.bb, sums.ab, scale) };
    colour exact_b = { solved(part_b.red, part_a.red, sums.aa, sums.ab, scale),
                       solved(part_b.green, part_a.green, sums.aa, sums.ab, scale),
                       solved(part_b.blue, part_a.blue, sums.aa, sums.ab, scale) };
    attempt.first = rounded(exact_a, &a);
    attempt.second = rounded(exact_b, &b);
    attempt.shades = shades;
    attempt.error = __fadd_rn(__fadd_rn(channel_error(sums, a.red, b.red, part_a.red, part_b.red),
                                        channel_error(sums, a.green, b.green, part_a.green, part_b.green)),
                              channel_error(sums, a.blue, b.blue, part_a.blue, part_b.blue));
    return attempt;
}

/* The direction in which the colours spread most: the covariance applied to a vector again and again. */
static inline __device__ colour main_axis(const float *moments)
{
    const float *m = moments;
    colour axis = { 1.0f, 1.0f, 1.0f };

#pragma unroll 1
    for (int i = 0; i < POWER_STEPS; i++) {
        float red = __fmaf_rn(m[0], axis.red, __fmaf_rn(m[1], axis.green, __fmul_rn(m[2], axis.blue)));
        float green = __fmaf_rn(m[1], axis.red, __fmaf_rn(m[3], axis.green, __fmul_rn(m[4], axis.blue)));
        float blue = __fmaf_rn(m[2], axis.red, __fmaf_rn(m[4], axis.green, __fmul_rn(m[5], axis.blue)));
        float length = __fmaf_rn(red, red, __fmaf_rn(green, green, __fmul_rn(blue, blue)));
        /* Where all colours are the same there is no direction, and any will do. */
        float scale = length > 0.0f ? __fdiv_rn(1.0f, __fsqrt_rn(length)) : 0.0f;
        axis.red = __fmul_rn(red, scale);
        axis.green = __fmul_rn(green, scale);
        axis.blue = __fmul_rn(blue, scale);
    }
    return axis;
}

/* Pixels are red, green and blue bytes from the lowest up, row by row; `width` of them, a multiple of four. */
extern "C" __global__ void dxtc_compress(const unsigned *pixels, int width, const unsigned *ways, unsigned *compressed,
                                         float *least_errors)
{
    __shared__ colour colours[PIXELS];
    __shared__ colour ordered[PIXELS];
    __shared__ colour totals[PIXELS];
    __shared__ float moments[PIXELS][MOMENTS];
    __shared__ float along[PIXELS];
    __shared__ int places[PIXELS];
    __shared__ float errors[THREADS];
    __shared__ int owners[THREADS];
    int tid = threadIdx.x;
    int block = blockIdx.x;
    int blocks_per_row = width / 4;

    if (tid < PIXELS) {
        int x = block % blocks_per_row * 4 + tid % 4;
        int y = block / blocks_per_row * 4 + tid / 4;
        unsigned pixel = pixels[y * width + x];
        colours[tid].red = __fmul_rn((float)(pixel & 255), 1.0f / 255.0f);
        colours[tid].green = __fmul_rn((float)(pixel >> 8 & 255), 1.0f / 255.0f);
        colours[tid].blue = __fmul_rn((float)(pixel >> 16 & 255), 1.0f / 255.0f);
        totals[tid] = colours[tid];
    }
    __syncthreads();
#pragma unroll 1
    for (int width_left = PIXELS / 2; width_left > 0; width_left /= 2) {
        if (tid < width_left) {
            totals[tid].red = __fadd_rn(totals[tid].red, totals[tid + width_left].red);
            totals[tid].green = __fadd_rn(totals[tid].green, totals[tid + width_left].green);
            totals[tid].blue = __fadd_rn(totals[tid].blue, totals[tid + width_left].blue);
        }
        __syncthreads();
    }
    if (tid < PIXELS) {
        float red = __fmaf_rn(totals[0].red, -1.0f / PIXELS, colours[tid].red);
        float green = __fmaf_rn(totals[0].green, -1.0f / PIXELS, colours[tid].green);
        float blue = __fmaf_rn(totals[0].blue, -1.0f / PIXELS, colours[tid].blue);
        moments[tid][0] = __fmul_rn(red, red);
        moments[tid][1] = __fmul_rn(red, green);
        moments[tid][2] = __fmul_rn(red, blue);
        moments[tid][3] = __fmul_rn(green, green);
        moments[tid][4] = __fmul_rn(green, blue);
        moments[tid][5] = __fmul_rn(blue, blue);
    }
    __syncthreads();
#pragma unroll 1
    for (int width_left = PIXELS / 2; width_left > 0; width_left /= 2) {
        if (tid < width_left) {
#pragma unroll
            for (int i = 0; i < MOMENTS; i++)
                moments[tid][i] = __fadd_rn(moments[tid][i], moments[tid + width_left][i]);
        }
        __syncthreads();
    }
    if (tid < PIXELS) {
        colour axis = main_axis(moments[0]);
        along[tid] = __fmaf_rn(colours[tid].red, axis.red,
                               __fmaf_rn(colours[tid].green, axis.green, __fmul_rn(colours[tid].blue, axis.blue)));
    }
    __syncthreads();
    if (tid < PIXELS) {
        float own = along[tid];
        int place = 0;
#pragma unroll 1
        for (int i = 0; i < PIXELS; i++)
            place += (along[i] < own) | ((along[i] == own) & (i < tid));
        places[tid] = place;
        ordered[place] = colours[tid];
    }
    __syncthreads();

    attempt best = { 3.0e38f, 0, 0, 0 };
#pragma unroll 1
    for (int way = tid; way < WAYS; way += THREADS) {
        attempt next = tried(ordered, totals[0], ways[way]);
        if (next.error < best.error) {
            keep_branch();
            best = next;
        }
    }

    errors[tid] = best.error;
    owners[tid] = tid;
    __syncthreads();
#pragma unroll 1
    for (int width_left = THREADS / 2; width_left > 0; width_left /= 2) {
        if (tid < width_left) {
            if (errors[tid + width_left] < errors[tid]) {
                errors[tid] = errors[tid + width_left];
                owners[tid] = owners[tid + width_left];
            }
        }
        __syncthreads();
    }
    if (tid == owners[0]) {
        unsigned first = best.first;
        unsigned second = best.second;
        unsigned shades = 0;
#pragma unroll 1
        for (int i = 0; i < PIXELS; i++)
            shades |= (best.shades >> 2 * places[i] & 3) << 2 * i;
        /* Four shades are meant where the first end is the greater number. */
        if (first < second) {
            keep_branch();
            first = best.second;
            second = best.first;
            shades ^= 0x55555555u;
        }
        compressed[2 * block] = first | second << 16;
        compressed[2 * block + 1] = first == second ? 0 : shades;
        least_errors[block] = best.error;
    }
}
