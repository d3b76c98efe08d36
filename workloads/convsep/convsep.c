/* convsep: host program; see convsep.cu for what the kernels do. The reference repeats sums in their order. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum {
    RADIUS = 8,
    TAPS = 2 * RADIUS + 1,
    ROW_TILE = 128,
    ROW_BLOCK = 16 + ROW_TILE + 16,
    COLUMN_TILE_X = 16,
    COLUMN_TILE_Y = 48,
    COLUMN_STEP = 8,
    ALIGNED = 32,
};

struct problem {
    long width;
    long height;
};

struct image {
    int width;
    int height;
    int pitch; /* floats from row to row */
};

static const struct problem problems[SIZE_COUNT] = {{200, 100}, {1024, 768}, {256, 256}};

/* The taps around one pixel of a line whose pixels are `distance` apart; what lies beyond its ends counts as zero. */
static float convolve_reference(const float *filter, const float *line, int at, int length, int distance)
{
    float sum = 0.0f;

    for (int tap = 0; tap < TAPS; tap++) {
        int from = at + tap - RADIUS;
        float pixel = from >= 0 && from < length ? line[(size_t)from * distance] : 0.0f;
        sum = fmaf(pixel, filter[tap], sum);
    }
    return sum;
}

static void rows_reference(const struct image *image, const float *filter, const float *pixels, float *result)
{
    for (int y = 0; y < image->height; y++) {
        size_t row = (size_t)y * image->pitch;
        for (int x = 0; x < image->width; x++)
            result[row + x] = convolve_reference(filter, pixels + row, x, image->width, 1);
    }
}

static void columns_reference(const struct image *image, const float *filter, const float *pixels, float *result)
{
    for (int y = 0; y < image->height; y++) {
        for (int x = 0; x < image->width; x++)
            result[(size_t)y * image->pitch + x] =
                convolve_reference(filter, pixels + x, y, image->height, image->pitch);
    }
}

static void convolve_on_device(const struct gpu *gpu, struct image *image, const float *filter, const float *pixels,
                               float *rows, float *both, size_t bytes)
{
    CUdeviceptr original = gpu_upload(pixels, bytes);
    CUdeviceptr between = gpu_alloc_zeroed(bytes);
    CUdeviceptr result = gpu_alloc_zeroed(bytes);
    struct shape row_blocks = {gpu_blocks(image->width, ROW_TILE), image->height};
    struct shape column_blocks = {gpu_blocks(image->width, COLUMN_TILE_X), gpu_blocks(image->height, COLUMN_TILE_Y)};
    void *row_arguments[] = {&original, &between, &image->width, &image->pitch};
    void *column_arguments[] = {&between, &result, &image->width, &image->height, &image->pitch};

    gpu_fill_constant(gpu, "filter", filter, TAPS * sizeof(float));
    gpu_launch(gpu_kernel(gpu, "convsep_rows"), row_blocks, (struct shape){ROW_BLOCK, 1}, row_arguments);
    gpu_launch(gpu_kernel(gpu, "convsep_columns"), column_blocks, (struct shape){COLUMN_TILE_X, COLUMN_STEP},
               column_arguments);
    gpu_download(rows, between, bytes);
    gpu_download(both, result, bytes);
    gpu_free(original);
    gpu_free(between);
    gpu_free(result);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0};
    const struct workload_option options[] = {
        {"width", "pixels in a row of an image of your own size", &given.width, 8192},
        {"height", "rows", &given.height, 8192},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "convsep",
        .summary = "Convolution of an image with a separable filter of radius 8: rows, then columns.",
        .inputs = {"200 x 100 pixels", "1024 x 768 pixels", "256 x 256 pixels"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(TAPS);
    float filter[TAPS];
    struct gpu gpu;

    if (given.width)
        problem.width = given.width;
    if (given.height)
        problem.height = given.height;
    struct image image = {problem.width, problem.height, (problem.width + ALIGNED - 1) / ALIGNED * ALIGNED};
    size_t count = (size_t)image.pitch * image.height;
    float *pixels = workload_alloc(count, sizeof(float));
    float *rows = workload_alloc(count, sizeof(float));
    float *both = workload_alloc(count, sizeof(float));
    float *expected = workload_alloc(count, sizeof(float));
    float *expected_rows = workload_alloc(count, sizeof(float));
    for (size_t i = 0; i < count; i++)
        pixels[i] = random_float(&state);
    for (int tap = 0; tap < TAPS; tap++)
        filter[tap] = random_float(&state) / TAPS;
    gpu_open(&gpu);
    convolve_on_device(&gpu, &image, filter, pixels, rows, both, count * sizeof(float));
    gpu_close(&gpu);
    rows_reference(&image, filter, pixels, expected_rows);
    columns_reference(&image, filter, expected_rows, expected);
    size_t mismatches = compare_f32("rows", rows, expected_rows, count);
    mismatches += compare_f32("columns", both, expected, count);
    free(pixels);
    free(rows);
    free(both);
    free(expected);
    free(expected_rows);
    return workload_verdict(&workload, mismatches, 2 * (size_t)image.width * image.height, "pixels of both passes");
}
