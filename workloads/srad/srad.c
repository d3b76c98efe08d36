/*
 * srad: host program; see srad.cu for what the kernels do.
 *
 * The iterations are compared to the bit, from the image that srad_extract left. That one and what srad_compress makes
 * in the end come from approximate instructions and are compared within a tolerance: some of the last bits of a
 * float. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 512 };

#define EXTRACT_TOLERANCE  2e-6f /* values from 1 to e */
#define COMPRESS_TOLERANCE 2e-4f /* values from 0 to 255 */
#define LAMBDA             0.5f

struct problem {
    long rows;
    long columns;
    long iterations;
};

static const struct problem problems[SIZE_COUNT] = {{61, 50, 2}, {502, 458, 2}, {502, 458, 100}};

/* Laid out as the kernels' parameters. */
struct neighbours {
    CUdeviceptr north;
    CUdeviceptr south;
    CUdeviceptr west;
    CUdeviceptr east;
};

struct gradients {
    CUdeviceptr north;
    CUdeviceptr south;
    CUdeviceptr west;
    CUdeviceptr east;
    CUdeviceptr diffusion;
};

/* Two bright discs on a dark ground, each pixel times a random factor: speckle. */
static void image_random(float *image, const struct problem *problem)
{
    uint64_t state = workload_seed(BLOCK);

    for (long column = 0; column < problem->columns; column++) {
        for (long row = 0; row < problem->rows; row++) {
            float x = (float)column / problem->columns;
            float y = (float)row / problem->rows;
            float first = (x - 0.3f) * (x - 0.3f) + (y - 0.4f) * (y - 0.4f);
            float second = (x - 0.7f) * (x - 0.7f) + (y - 0.6f) * (y - 0.6f);
            float bright = first < 0.04f ? 200.0f : second < 0.02f ? 150.0f : 60.0f;
            image[column * problem->rows + row] = bright * (0.5f + 0.7f * random_float(&state));
        }
    }
}

/* The sum as blocks build it: `count` elements, `stride` apart. */
static float tree_sum(const float *values, long count, long stride)
{
    if (count == 1)
        return values[0];
    return tree_sum(values + count / 2 * stride, count / 2, stride) + tree_sum(values, count / 2, stride);
}

static float block_sum(const float *values, long count, long stride)
{
    long width = BLOCK;

    while (width > count)
        width /= 2;
    float sum = tree_sum(values, width, stride);
    for (long i = width; i < count; i++)
        sum += values[i * stride];
    return sum;
}

/* Overwrites the values with partial sums, as the device does. */
static float reduce_reference(float *values, long count)
{
    long stride = 1;

    do {
        for (long first = 0; first < count; first += BLOCK)
            values[first * stride] =
                block_sum(values + first * stride, count - first < BLOCK ? count - first : BLOCK, stride);
        count = gpu_blocks(count, BLOCK);
        stride *= BLOCK;
    } while (count > 1);
    return values[0];
}

/* The variance of the image over its squared mean. The kernel divides by it, so an image without any noise has a
 * little. */
static float noise_of(float sum, float squares, long count)
{
    const float least = 1e-6f;
    float mean = sum / count;
    float variance = squares / count - mean * mean;
    float noise = variance / (mean * mean);

    return noise > least ? noise : least;
}

static float clamp(float value) { return value < 0.0f ? 0.0f : value > 1.0f ? 1.0f : value; }

/* The neighbour's place on one axis; at the rim a pixel is its own neighbour. */
static long beside(long place, long step, long count)
{
    return place + step < 0 || place + step >= count ? place : place + step;
}

/* For each pixel: to north, south, west and east, and how much diffuses. */
enum { NORTH, SOUTH, WEST, EAST, DIFFUSION, FIELDS };

static float diffusion_reference(const float *gradient, float here, float noise)
{
    float squares = fmaf(gradient[SOUTH], gradient[SOUTH], gradient[NORTH] * gradient[NORTH]);
    squares = fmaf(gradient[EAST], gradient[EAST], fmaf(gradient[WEST], gradient[WEST], squares));
    float steepness = squares / (here * here);
    float curvature = (gradient[NORTH] + gradient[SOUTH] + gradient[WEST] + gradient[EAST]) / here;
    float above = fmaf(-0.0625f, curvature * curvature, 0.5f * steepness);
    float below = fmaf(0.25f, curvature, 1.0f);
    float variation = above / (below * below);
    float excess = (variation - noise) / (noise * (1.0f + noise));

    return clamp(1.0f / (1.0f + excess));
}

static void gradient_reference(const struct problem *problem, const float *image, float noise,
                               float (*gradients)[FIELDS])
{
    long rows = problem->rows;

    for (long column = 0; column < problem->columns; column++) {
        long west = beside(column, -1, problem->columns), east = beside(column, 1, problem->columns);
        for (long row = 0; row < rows; row++) {
            float *gradient = gradients[column * rows + row];
            float here = image[column * rows + row];
            gradient[NORTH] = image[column * rows + beside(row, -1, rows)] - here;
            gradient[SOUTH] = image[column * rows + beside(row, 1, rows)] - here;
            gradient[WEST] = image[west * rows + row] - here;
            gradient[EAST] = image[east * rows + row] - here;
            gradient[DIFFUSION] = diffusion_reference(gradient, here, noise);
        }
    }
}

static void update_reference(const struct problem *problem, float (*gradients)[FIELDS], float *image)
{
    long rows = problem->rows;

    for (long column = 0; column < problem->columns; column++) {
        for (long row = 0; row < rows; row++) {
            const float *gradient = gradients[column * rows + row];
            float south = gradients[column * rows + beside(row, 1, rows)][DIFFUSION];
            float east = gradients[beside(column, 1, problem->columns) * rows + row][DIFFUSION];
            float divergence = gradient[DIFFUSION] * gradient[NORTH];
            divergence = fmaf(south, gradient[SOUTH], divergence);
            divergence = fmaf(gradient[DIFFUSION], gradient[WEST], divergence);
            divergence = fmaf(east, gradient[EAST], divergence);
            image[column * rows + row] = fmaf(0.25f * LAMBDA, divergence, image[column * rows + row]);
        }
    }
}

static void diffuse_reference(const struct problem *problem, float *image)
{
    long count = problem->rows * problem->columns;
    float *sums = workload_alloc(count, sizeof(float));
    float *squares = workload_alloc(count, sizeof(float));
    float(*gradients)[FIELDS] = workload_alloc(count, sizeof *gradients);

    for (long iteration = 0; iteration < problem->iterations; iteration++) {
        for (long i = 0; i < count; i++) {
            sums[i] = image[i];
            squares[i] = image[i] * image[i];
        }
        float sum = reduce_reference(sums, count);
        gradient_reference(problem, image, noise_of(sum, reduce_reference(squares, count), count), gradients);
        update_reference(problem, gradients, image);
    }
    free(sums);
    free(squares);
    free(gradients);
}

static CUdeviceptr upload_neighbours(long count, long step)
{
    int *places = workload_alloc(count, sizeof(int));

    for (long i = 0; i < count; i++)
        places[i] = beside(i, step, count);
    CUdeviceptr memory = gpu_upload(places, count * sizeof(int));
    free(places);
    return memory;
}

/* The sums of the image and of its squares, left in the first elements. */
static void reduce_on_device(CUfunction kernel, CUdeviceptr sums, CUdeviceptr squares, int count)
{
    int stride = 1;

    do {
        void *arguments[] = {&sums, &squares, &count, &stride};
        unsigned blocks = gpu_blocks(count, BLOCK);
        gpu_launch(kernel, (struct shape){blocks, 1}, (struct shape){BLOCK, 1}, arguments);
        count = blocks;
        stride *= BLOCK;
    } while (count > 1);
}

static void iterate_on_device(const struct gpu *gpu, const struct problem *problem, CUdeviceptr image)
{
    int rows = problem->rows;
    int count = problem->rows * problem->columns;
    size_t bytes = count * sizeof(float);
    struct shape grid = {gpu_blocks(count, BLOCK), 1};
    struct shape block = {BLOCK, 1};
    CUfunction prepare = gpu_kernel(gpu, "srad_prepare");
    CUfunction reduce = gpu_kernel(gpu, "srad_reduce");
    CUfunction gradient = gpu_kernel(gpu, "srad_gradient");
    CUfunction update = gpu_kernel(gpu, "srad_update");
    CUdeviceptr sums = gpu_alloc_zeroed(bytes);
    CUdeviceptr squares = gpu_alloc_zeroed(bytes);
    struct neighbours at = {upload_neighbours(problem->rows, -1), upload_neighbours(problem->rows, 1),
                            upload_neighbours(problem->columns, -1), upload_neighbours(problem->columns, 1)};
    struct gradients gradients = {gpu_alloc_zeroed(bytes), gpu_alloc_zeroed(bytes), gpu_alloc_zeroed(bytes),
                                  gpu_alloc_zeroed(bytes), gpu_alloc_zeroed(bytes)};
    CUdeviceptr all[] = {sums,           squares,        at.north,           at.south,
                         at.west,        at.east,        gradients.north,    gradients.south,
                         gradients.west, gradients.east, gradients.diffusion};
    float lambda = LAMBDA;

    for (long iteration = 0; iteration < problem->iterations; iteration++) {
        float sum, square, noise;
        void *prepare_arguments[] = {&image, &sums, &squares, &count};
        void *gradient_arguments[] = {&image, &at, &gradients, &rows, &count, &noise};
        void *update_arguments[] = {&image, &at, &gradients, &rows, &count, &lambda};
        gpu_launch(prepare, grid, block, prepare_arguments);
        reduce_on_device(reduce, sums, squares, count);
        gpu_download(&sum, sums, sizeof sum);
        gpu_download(&square, squares, sizeof square);
        noise = noise_of(sum, square, count);
        gpu_launch(gradient, grid, block, gradient_arguments);
        gpu_launch(update, grid, block, update_arguments);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
}

/* The image as extracted, after the iterations, and compressed again. */
static void diffuse_on_device(const struct gpu *gpu, const struct problem *problem, const float *image,
                              float *extracted, float *diffused, float *compressed)
{
    int count = problem->rows * problem->columns;
    size_t bytes = count * sizeof(float);
    CUdeviceptr memory = gpu_upload(image, bytes);
    struct shape grid = {gpu_blocks(count, BLOCK), 1};
    struct shape block = {BLOCK, 1};
    void *arguments[] = {&memory, &count};

    gpu_launch(gpu_kernel(gpu, "srad_extract"), grid, block, arguments);
    gpu_download(extracted, memory, bytes);
    iterate_on_device(gpu, problem, memory);
    gpu_download(diffused, memory, bytes);
    gpu_launch(gpu_kernel(gpu, "srad_compress"), grid, block, arguments);
    gpu_download(compressed, memory, bytes);
    gpu_free(memory);
}

static size_t count_mismatches(const struct problem *problem, const float *image, const float *extracted,
                               const float *diffused, const float *compressed)
{
    size_t count = problem->rows * problem->columns;
    float *expected = workload_alloc(count, sizeof(float));

    for (size_t i = 0; i < count; i++)
        expected[i] = expf(image[i] / 255.0f);
    size_t mismatches = compare_f32_near("extracted", extracted, expected, count, EXTRACT_TOLERANCE);
    for (size_t i = 0; i < count; i++)
        expected[i] = extracted[i];
    diffuse_reference(problem, expected);
    mismatches += compare_f32("diffused", diffused, expected, count);
    for (size_t i = 0; i < count; i++)
        expected[i] = logf(expected[i]) * 255.0f;
    mismatches += compare_f32_near("compressed", compressed, expected, count, COMPRESS_TOLERANCE);
    free(expected);
    return mismatches;
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0, 0};
    const struct workload_option options[] = {
        {"rows", "rows of an image of your own size", &given.rows, 10000},
        {"columns", "its columns", &given.columns, 10000},
        {"iterations", "how often to smooth it", &given.iterations, 100000},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "srad",
        .summary = "Speckle-reducing anisotropic diffusion of an image, one thread a pixel.",
        .inputs = {"61 x 50 pixels, 2 iterations", "502 x 458 pixels, 2 iterations",
                   "502 x 458 pixels, 100 iterations"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    struct gpu gpu;

    if (given.rows)
        problem.rows = given.rows;
    if (given.columns)
        problem.columns = given.columns;
    if (given.iterations)
        problem.iterations = given.iterations;
    size_t count = problem.rows * problem.columns;
    float *image = workload_alloc(count, sizeof(float));
    float *extracted = workload_alloc(count, sizeof(float));
    float *diffused = workload_alloc(count, sizeof(float));
    float *compressed = workload_alloc(count, sizeof(float));
    image_random(image, &problem);
    gpu_open(&gpu);
    diffuse_on_device(&gpu, &problem, image, extracted, diffused, compressed);
    gpu_close(&gpu);
    size_t mismatches = count_mismatches(&problem, image, extracted, diffused, compressed);
    free(image);
    free(extracted);
    free(diffused);
    free(compressed);
    return workload_verdict(&workload, mismatches, count * 3, "pixels of three images");
}
