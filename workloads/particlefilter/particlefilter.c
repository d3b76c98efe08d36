/* particlefilter: host program; see particlefilter.cu for what the kernels do. The video is made here as well. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "constants.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 512, RADIUS = 5, SHAPE_MAX = (2 * RADIUS + 1) * (2 * RADIUS + 1) };

#define NOISE 5.0 /* of a shade, its standard deviation */

struct problem {
    long side;
    long frames;
    long particles;
};

static const struct problem problems[SIZE_COUNT] = {{64, 3, 600}, {128, 3, 4096}, {128, 10, 1000}};

/* Laid out as the kernels' parameters. */
struct device_particles {
    CUdeviceptr x;
    CUdeviceptr y;
    CUdeviceptr weights;
    CUdeviceptr normalised;
    CUdeviceptr random;
    CUdeviceptr pixels;
};

struct device_video {
    CUdeviceptr pixels;
    int side;
    int frame_count;
};

/* As the kernel reads it. */
struct pair {
    int x;
    int y;
};

struct video {
    int side;
    int frame_count;
    unsigned char *pixels;        /* by column, row and frame */
    struct pair shape[SHAPE_MAX]; /* pixels of the object, around its middle */
    int shape_count;
};

/* What the last frame leaves. */
struct outcome {
    double *x;
    double *y;
    double *normalised;
    double *distribution;
    double *drawn_x;
    double *drawn_y;
};

enum { OUTCOME_ARRAYS = sizeof(struct outcome) / sizeof(double *) };

static uint32_t random_step(uint32_t state) { return state * RANDOM_FACTOR + RANDOM_SUMMAND; }

static double random_normal(uint32_t *state)
{
    int sum = -(UNIFORM_COUNT / 2 << UNIFORM_BITS);

    for (int i = 0; i < UNIFORM_COUNT; i++) {
        *state = random_step(*state);
        sum += *state >> (32 - UNIFORM_BITS);
    }
    return sum * UNIFORM_UNIT;
}

/* The object is a disc that begins in the middle and moves as the particles do in the mean. */
static void video_random(struct video *video, const struct problem *problem, uint64_t *seed)
{
    uint32_t state = random_u32(seed);

    *video = (struct video){.side = problem->side, .frame_count = problem->frames};
    video->pixels = workload_alloc((size_t)video->side * video->side * video->frame_count, 1);
    for (int x = -RADIUS; x <= RADIUS; x++) {
        for (int y = -RADIUS; y <= RADIUS; y++) {
            if (x * x + y * y < RADIUS * RADIUS)
                video->shape[video->shape_count++] = (struct pair){x, y};
        }
    }
    for (int x = 0; x < video->side; x++) {
        for (int y = 0; y < video->side; y++) {
            for (int frame = 0; frame < video->frame_count; frame++) {
                double from_x = x - (video->side / 2 + frame * STEP_X);
                double from_y = y - (video->side / 2 + frame * STEP_Y);
                double shade = from_x * from_x + from_y * from_y < RADIUS * RADIUS ? OBJECT_SHADE : GROUND_SHADE;
                video->pixels[(x * video->side + y) * video->frame_count + frame] =
                    shade + NOISE * random_normal(&state);
            }
        }
    }
}

static struct outcome outcome_alloc(long count)
{
    double *arrays[OUTCOME_ARRAYS];

    for (int i = 0; i < OUTCOME_ARRAYS; i++)
        arrays[i] = workload_alloc(count, sizeof(double));
    return (struct outcome){arrays[0], arrays[1], arrays[2], arrays[3], arrays[4], arrays[5]};
}

static void outcome_free(struct outcome *outcome)
{
    free(outcome->x);
    free(outcome->y);
    free(outcome->normalised);
    free(outcome->distribution);
    free(outcome->drawn_x);
    free(outcome->drawn_y);
}

static double exponential(double x)
{
    static const double terms[EXPONENTIAL_TERM_COUNT] = EXPONENTIAL_TERMS;

    if (x < EXPONENT_MIN)
        return 0.0;
    double power = fma(x, LOG2_E, ROUNDER) - ROUNDER;
    double rest = fma(-power, LN2_LOW, fma(-power, LN2_HIGH, x));
    double sum = terms[0];
    for (int i = 1; i < EXPONENTIAL_TERM_COUNT; i++)
        sum = fma(sum, rest, terms[i]);
    return ldexp(sum, (int)power);
}

static double likelihood_reference(const struct video *video, int frame, double x, double y)
{
    int size = video->side * video->side * video->frame_count;
    double sum = 0.0;

    for (int i = 0; i < video->shape_count; i++) {
        int column = (int)(x + 0.5) + video->shape[i].x;
        int line = (int)(y + 0.5) + video->shape[i].y;
        int place = (column * video->side + line) * video->frame_count + frame;
        double shade = video->pixels[place < 0 || place >= size ? 0 : place];
        double from_ground = shade - GROUND_SHADE;
        double from_object = shade - OBJECT_SHADE;
        sum += fma(-from_object, from_object, from_ground * from_ground) / LIKELIHOOD_SCALE;
    }
    return sum / video->shape_count;
}

/* The sum of a full block, as the kernel's tree builds it. */
static double tree_sum(double *values)
{
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++)
            values[i] += values[i + half];
    }
    return values[0];
}

static double sum_reference(const double *weights, long count)
{
    double sum = 0.0;

    for (long first = 0; first < count; first += BLOCK) {
        double values[BLOCK] = {0};
        memcpy(values, weights + first, (count - first < BLOCK ? count - first : BLOCK) * sizeof(double));
        sum += tree_sum(values);
    }
    return sum;
}

/* Particles for the next frame. Thresholds ascend, so each is found from where the one before was. */
static void draw_reference(struct outcome *now, double first, double total, long count)
{
    long chosen = 0;

    for (long i = 0; i < count; i++) {
        double threshold = (first + (double)i / count) * total;
        while (chosen < count - 1 && !(now->distribution[chosen] >= threshold))
            chosen++;
        now->drawn_x[i] = now->x[chosen];
        now->drawn_y[i] = now->y[chosen];
    }
}

static void filter_reference(const struct video *video, long count, const uint32_t *seeds, struct outcome *now)
{
    uint32_t *random = workload_alloc(count, sizeof(uint32_t));
    double *weights = workload_alloc(count, sizeof(double));

    memcpy(random, seeds, count * sizeof(uint32_t));
    for (long i = 0; i < count; i++)
        now->drawn_x[i] = now->drawn_y[i] = video->side / 2;
    for (int frame = 1; frame < video->frame_count; frame++) {
        for (long i = 0; i < count; i++) {
            now->x[i] = now->drawn_x[i] + fma(random_normal(&random[i]), SPREAD_X, STEP_X);
            now->y[i] = now->drawn_y[i] + fma(random_normal(&random[i]), SPREAD_Y, STEP_Y);
            weights[i] = exponential(likelihood_reference(video, frame, now->x[i], now->y[i])) / count;
        }
        double total = sum_reference(weights, count);
        double sum = 0.0;
        for (long i = 0; i < count; i++) {
            now->normalised[i] = weights[i] / total;
            now->distribution[i] = sum += weights[i];
        }
        draw_reference(now, random_step(random[0]) * 0x1p-32 / count, total, count);
    }
    free(random);
    free(weights);
}

static CUdeviceptr upload_middle(const struct video *video, long count)
{
    double *middles = workload_alloc(count, sizeof(double));

    for (long i = 0; i < count; i++)
        middles[i] = video->side / 2;
    CUdeviceptr memory = gpu_upload(middles, count * sizeof(double));
    free(middles);
    return memory;
}

static void filter_on_device(const struct gpu *gpu, const struct video *video, int count, unsigned find_block,
                             const uint32_t *seeds, struct outcome *now)
{
    CUfunction likelihood = gpu_kernel(gpu, "particle_likelihood");
    CUfunction sum = gpu_kernel(gpu, "particle_sum");
    CUfunction normalise = gpu_kernel(gpu, "particle_normalise");
    CUfunction find = gpu_kernel(gpu, "particle_find");
    size_t bytes = count * sizeof(double);
    int sum_count = gpu_blocks(count, BLOCK);
    int shape_count = video->shape_count;
    struct device_particles all = {gpu_alloc_zeroed(bytes),
                                   gpu_alloc_zeroed(bytes),
                                   gpu_alloc_zeroed(bytes),
                                   gpu_alloc_zeroed(bytes),
                                   gpu_upload(seeds, count * sizeof(uint32_t)),
                                   gpu_alloc_zeroed((size_t)count * shape_count * sizeof(int))};
    size_t video_bytes = (size_t)video->side * video->side * video->frame_count;
    struct device_video device_video = {gpu_upload(video->pixels, video_bytes), video->side, video->frame_count};
    CUdeviceptr shape = gpu_upload(video->shape, shape_count * sizeof(struct pair));
    CUdeviceptr drawn_x = upload_middle(video, count);
    CUdeviceptr drawn_y = upload_middle(video, count);
    CUdeviceptr sums = gpu_alloc_zeroed(sum_count * sizeof(double));
    CUdeviceptr distribution = gpu_alloc_zeroed(bytes);
    CUdeviceptr thresholds = gpu_alloc_zeroed(bytes);
    struct shape grid = {sum_count, 1};
    struct shape block = {BLOCK, 1};

    for (int frame = 1; frame < video->frame_count; frame++) {
        void *likelihood_arguments[] = {&all,   &drawn_x,     &drawn_y, &device_video, &frame,
                                        &shape, &shape_count, &sums,    &count};
        void *sum_arguments[] = {&sums, &sum_count};
        void *normalise_arguments[] = {&all, &sums, &distribution, &thresholds, &count};
        void *find_arguments[] = {&all.x, &all.y, &distribution, &thresholds, &drawn_x, &drawn_y, &count};
        gpu_launch(likelihood, grid, block, likelihood_arguments);
        gpu_launch(sum, (struct shape){1, 1}, block, sum_arguments);
        gpu_launch(normalise, grid, block, normalise_arguments);
        gpu_launch(find, (struct shape){gpu_blocks(count, find_block), 1}, (struct shape){find_block, 1},
                   find_arguments);
    }
    gpu_download(now->x, all.x, bytes);
    gpu_download(now->y, all.y, bytes);
    gpu_download(now->normalised, all.normalised, bytes);
    gpu_download(now->distribution, distribution, bytes);
    gpu_download(now->drawn_x, drawn_x, bytes);
    gpu_download(now->drawn_y, drawn_y, bytes);
    CUdeviceptr memory[] = {all.x, all.y,   all.weights, all.normalised, all.random,   all.pixels, device_video.pixels,
                            shape, drawn_x, drawn_y,     sums,           distribution, thresholds};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        gpu_free(memory[i]);
}

static size_t count_mismatches(const struct outcome *got, const struct outcome *expected, size_t count)
{
    return compare_f64("x", got->x, expected->x, count) + compare_f64("y", got->y, expected->y, count) +
           compare_f64("weight", got->normalised, expected->normalised, count) +
           compare_f64("distribution", got->distribution, expected->distribution, count) +
           compare_f64("drawn x", got->drawn_x, expected->drawn_x, count) +
           compare_f64("drawn y", got->drawn_y, expected->drawn_y, count);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0, 0};
    long find_block = BLOCK;
    const struct workload_option options[] = {
        {"particles", "guesses, the search takes time in their square", &given.particles, 1000000},
        {"frames", "frames of the video, the first of which is given", &given.frames, 100},
        {"side", "rows and columns of a frame", &given.side, 1024},
        {"find-block", "threads per block of the search, 512 if not given", &find_block, 1024},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "particlefilter",
        .summary = "Follows an object in a noisy video by many guesses of its place, in double precision.",
        .inputs = {"64 x 64 pixels, 3 frames, 600 particles", "128 x 128 pixels, 3 frames, 4,096 particles",
                   "128 x 128 pixels, 10 frames, 1,000 particles"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    uint64_t seed = workload_seed(RADIUS);
    struct video video;
    struct gpu gpu;

    if (given.particles)
        problem.particles = given.particles;
    if (given.frames)
        problem.frames = given.frames;
    if (given.side)
        problem.side = given.side;
    long count = problem.particles;
    video_random(&video, &problem, &seed);
    uint32_t *seeds = workload_alloc(count, sizeof(uint32_t));
    for (long i = 0; i < count; i++)
        seeds[i] = random_u32(&seed);
    struct outcome outcome = outcome_alloc(count);
    struct outcome expected = outcome_alloc(count);
    gpu_open(&gpu);
    filter_on_device(&gpu, &video, count, find_block, seeds, &outcome);
    gpu_close(&gpu);
    filter_reference(&video, count, seeds, &expected);
    size_t mismatches = count_mismatches(&outcome, &expected, count);
    outcome_free(&outcome);
    outcome_free(&expected);
    free(seeds);
    free(video.pixels);
    return workload_verdict(&workload, mismatches, OUTCOME_ARRAYS * count, "places, weights and draws of particles");
}
