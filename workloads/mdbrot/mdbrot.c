/* mdbrot: host program; see mdbrot.cu for what the kernels do. The reference repeats their arithmetic to the bit. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "gpu.h"
#include "workload.h"

enum { TILE = 16, CRUNCH = 512, NOTICEABLE = 10 };

/* Laid out as the kernels' parameter. */
struct view {
    float left;
    float top;
    float step;
    int width;
    int height;
    int crunch;
};

static const struct shape images[SIZE_COUNT] = {{50, 40}, {200, 150}, {800, 600}};

static unsigned steps_left(float cx, float cy, int crunch)
{
    float x = 0.0f, y = 0.0f, xx = 0.0f, yy = 0.0f;
    int left = crunch;

    while (left > 0 && xx + yy < 4.0f) {
        y = fmaf(x + x, y, cy);
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
        left--;
    }
    return left;
}

static uint32_t sample(const struct view *view, float px, float py)
{
    uint32_t left = steps_left(fmaf(px, view->step, view->left), fmaf(py, view->step, view->top), view->crunch);

    return left * 3 % 256 + left * 5 % 256 * 256 + left * 7 % 256 * 65536;
}

static bool differs(uint32_t a, uint32_t b)
{
    for (int shift = 0; shift < 24; shift += 8) {
        if (abs((int)(a >> shift & 255) - (int)(b >> shift & 255)) > NOTICEABLE)
            return true;
    }
    return false;
}

static uint32_t blend(uint32_t a, uint32_t b)
{
    uint32_t mean = 0;

    for (int shift = 0; shift < 24; shift += 8)
        mean |= ((a >> shift & 255) + (b >> shift & 255)) / 2 << shift;
    return mean;
}

static uint32_t refine(const struct view *view, const uint32_t *image, int x, int y)
{
    static const int beside[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    uint32_t colour = image[y * view->width + x];

    for (int i = 0; i < 4; i++) {
        int nx = x + beside[i][0];
        int ny = y + beside[i][1];
        if (nx < 0 || nx >= view->width || ny < 0 || ny >= view->height)
            continue;
        if (differs(colour, image[ny * view->width + nx]))
            return blend(colour, sample(view, x + 0.5f, y + 0.5f));
    }
    return colour;
}

static void draw_reference(const struct view *view, uint32_t *image, uint32_t *refined)
{
    for (int y = 0; y < view->height; y++) {
        for (int x = 0; x < view->width; x++)
            image[y * view->width + x] = sample(view, x, y);
    }
    for (int y = 0; y < view->height; y++) {
        for (int x = 0; x < view->width; x++)
            refined[y * view->width + x] = refine(view, image, x, y);
    }
}

static void draw_on_device(const struct gpu *gpu, struct view *view, uint32_t *image, uint32_t *refined)
{
    size_t bytes = (size_t)view->width * view->height * sizeof(uint32_t);
    CUdeviceptr image_memory = gpu_alloc_zeroed(bytes);
    CUdeviceptr refined_memory = gpu_alloc_zeroed(bytes);
    void *draw[] = {&image_memory, view};
    void *refine[] = {&image_memory, &refined_memory, view};
    struct shape grid = {gpu_blocks(view->width, TILE), gpu_blocks(view->height, TILE)};
    struct shape block = {TILE, TILE};

    gpu_launch(gpu_kernel(gpu, "mdbrot_draw"), grid, block, draw);
    gpu_launch(gpu_kernel(gpu, "mdbrot_refine"), grid, block, refine);
    gpu_download(image, image_memory, bytes);
    gpu_download(refined, refined_memory, bytes);
    gpu_free(image_memory);
    gpu_free(refined_memory);
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "mdbrot",
        .summary = "Mandelbrot set: draws it, then samples its edges again.",
        .inputs = {"50 x 40 pixels", "200 x 150 pixels", "800 x 600 pixels"},
    };
    struct shape image = images[workload_parse(&workload, argc, argv)];
    /* The whole set: 3.2 wide around -0.5. */
    float step = 3.2f / image.x;
    struct view view = {-0.5f - step * image.x / 2, -step * image.y / 2, step, image.x, image.y, CRUNCH};
    size_t pixels = (size_t)image.x * image.y;
    uint32_t *result = workload_alloc(pixels * 2, sizeof(uint32_t)); /* the first image, then the refined one */
    uint32_t *expected = workload_alloc(pixels * 2, sizeof(uint32_t));
    struct gpu gpu;

    gpu_open(&gpu);
    draw_on_device(&gpu, &view, result, result + pixels);
    gpu_close(&gpu);
    draw_reference(&view, expected, expected + pixels);
    size_t mismatches = compare_u32("pixel", result, expected, pixels * 2);
    free(result);
    free(expected);
    return workload_verdict(&workload, mismatches, pixels * 2, "pixels of both images");
}
