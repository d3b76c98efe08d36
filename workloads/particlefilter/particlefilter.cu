/*
 * particlefilter: follows an object in a noisy video by many guesses of its place, one thread per guess (particle).
 *
 * Four kernels per frame, all in double precision. particle_likelihood moves each particle at random, notes in global
 * memory which pixels the object would cover there, compares those with the object's shade, and adds up the weights of
 * its block in a tree. particle_sum has one thread add up the sums of the blocks. particle_normalise divides weights by
 * the sum, and one thread accumulates them to a distribution, one after the other. particle_find draws the particles of
 * the next frame: each thread searches the distribution from its beginning up to a threshold of its own.
 */
#include "device_double.h"

#include "constants.h"

enum { BLOCK = 512 };

struct particles {
    double *x;
    double *y;
    double *weights;    /* before they are divided by their sum */
    double *normalised; /* after */
    unsigned *random;   /* state of the generator */
    int *pixels;        /* those that the object would cover, a row per particle */
};

struct video {
    const unsigned char *pixels; /* by column, row and frame */
    int side;
    int frame_count;
};

struct pair {
    int x;
    int y;
};

static inline __device__ unsigned random_step(unsigned state) { return state * RANDOM_FACTOR + RANDOM_SUMMAND; }

/* Nearly a normal distribution: the sum of twelve even ones. Exact in double precision. */
static inline __device__ double random_normal(unsigned *state)
{
    int sum = -(UNIFORM_COUNT / 2 << UNIFORM_BITS);

#pragma unroll 1
    for (int i = 0; i < UNIFORM_COUNT; i++) {
        *state = random_step(*state);
        sum += *state >> (32 - UNIFORM_BITS);
    }
    return __dmul_rn(sum, UNIFORM_UNIT);
}

static inline __device__ double exponential(double x)
{
    const double terms[EXPONENTIAL_TERM_COUNT] = EXPONENTIAL_TERMS;

    if (x < EXPONENT_MIN)
        return 0.0;
    double power = __dsub_rn(__fma_rn(x, LOG2_E, ROUNDER), ROUNDER);
    double rest = __fma_rn(-power, LN2_LOW, __fma_rn(-power, LN2_HIGH, x));
    double sum = terms[0];
#pragma unroll
    for (int i = 1; i < EXPONENTIAL_TERM_COUNT; i++)
        sum = __fma_rn(sum, rest, terms[i]);
    return __dmul_rn(sum, __longlong_as_double((1023 + (long long)power) << 52));
}

/* Pixels beyond the video are its first. */
static inline __device__ void note_pixels(int *row, video video, int frame, const pair *shape, int shape_count,
                                          double x, double y)
{
    int column = (int)__dadd_rn(x, 0.5);
    int line = (int)__dadd_rn(y, 0.5);

#pragma unroll 1
    for (int i = 0; i < shape_count; i++) {
        int place = ((column + shape[i].x) * video.side + line + shape[i].y) * video.frame_count + frame;
        if (place < 0 || place >= video.side * video.side * video.frame_count)
            place = 0;
        row[i] = place;
    }
}

/* Positive where the pixels are more like the object than like the ground; per pixel. */
static inline __device__ double likelihood_of(const int *row, const unsigned char *pixels, int shape_count)
{
    double sum = 0.0;

#pragma unroll 1
    for (int i = 0; i < shape_count; i++) {
        double shade = pixels[row[i]];
        double from_ground = __dsub_rn(shade, GROUND_SHADE);
        double from_object = __dsub_rn(shade, OBJECT_SHADE);
        double difference = __fma_rn(-from_object, from_object, __dmul_rn(from_ground, from_ground));
        sum = __dadd_rn(sum, __ddiv_rn(difference, LIKELIHOOD_SCALE));
    }
    return __ddiv_rn(sum, shape_count);
}

extern "C" __global__ void particle_likelihood(particles all, const double *drawn_x, const double *drawn_y, video video,
                                               int frame, const pair *shape, int shape_count, double *sums, int count)
{
    __shared__ double sum[BLOCK];
    int tx = threadIdx.x;
    int i = blockIdx.x * BLOCK + tx;
    double weight = 0.0;

    if (i < count) {
        unsigned random = all.random[i];
        double x = __dadd_rn(drawn_x[i], __fma_rn(random_normal(&random), SPREAD_X, STEP_X));
        double y = __dadd_rn(drawn_y[i], __fma_rn(random_normal(&random), SPREAD_Y, STEP_Y));
        int *row = &all.pixels[i * shape_count];

        all.random[i] = random;
        all.x[i] = x;
        all.y[i] = y;
        note_pixels(row, video, frame, shape, shape_count, x, y);
        weight = __ddiv_rn(exponential(likelihood_of(row, video.pixels, shape_count)), count);
        all.weights[i] = weight;
    }
    sum[tx] = weight;
    __syncthreads();
#pragma unroll 1
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (tx < half)
            sum[tx] = __dadd_rn(sum[tx], sum[tx + half]);
        __syncthreads();
    }
    if (tx == 0)
        sums[blockIdx.x] = sum[0];
}

/* One block; the sum replaces the first one. */
extern "C" __global__ void particle_sum(double *sums, int sum_count)
{
    if (threadIdx.x == 0) {
        double sum = 0.0;
#pragma unroll 1
        for (int i = 0; i < sum_count; i++)
            sum = __dadd_rn(sum, sums[i]);
        sums[0] = sum;
    }
}

/*
 * `thresholds` are where the new particles are drawn: at equal distances, the first one at random. They and the
 * distribution go up to the sum of the weights, not to 1: another block may not have divided its weights yet.
 */
extern "C" __global__ void particle_normalise(particles all, const double *sums, double *distribution,
                                              double *thresholds, int count)
{
    __shared__ double first;
    int i = blockIdx.x * BLOCK + threadIdx.x;
    double total = sums[0];

    if (i < count)
        all.normalised[i] = __ddiv_rn(all.weights[i], total);
    if (threadIdx.x == 0)
        first = __ddiv_rn(__dmul_rn(random_step(all.random[0]), 0x1p-32), count);
    if (i == 0) {
        double sum = 0.0;
#pragma unroll 1
        for (int j = 0; j < count; j++) {
            sum = __dadd_rn(sum, all.weights[j]);
            distribution[j] = sum;
        }
    }
    __syncthreads();
    if (i < count)
        thresholds[i] = __dmul_rn(__dadd_rn(first, __ddiv_rn(i, count)), total);
}

extern "C" __global__ void particle_find(const double *x, const double *y, const double *distribution,
                                         const double *thresholds, double *drawn_x, double *drawn_y, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count) {
        int chosen = count - 1;
#pragma unroll 1
        for (int j = 0; j < count; j++) {
            if (distribution[j] >= thresholds[i]) {
                chosen = j;
                break;
            }
        }
        drawn_x[i] = x[chosen];
        drawn_y[i] = y[chosen];
    }
}
