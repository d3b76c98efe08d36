/* boxfilter: host program; see boxfilter.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 64, RADIUS = 8, NARROW = 2, WIDTH = 32, HEIGHT = 8 };

static const struct {
    int columns, rows;
} shapes[SIZE_COUNT] = {{100, 70}, {600, 500}, {200, 20000}};

static int clamp(int value, int limit) { return value < 0 ? 0 : value < limit ? value : limit - 1; }

/* The mean over a rectangle around each pixel. */
static void reference(const float *in, float *out, int columns, int rows, int x_radius, int y_radius)
{
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < columns; x++) {
            double sum = 0.0;
            for (int j = -y_radius; j <= y_radius; j++) {
                for (int i = -x_radius; i <= x_radius; i++)
                    sum += in[(size_t)clamp(y + j, rows) * columns + clamp(x + i, columns)];
            }
            out[(size_t)y * columns + x] = sum / ((2 * x_radius + 1) * (2 * y_radius + 1));
        }
    }
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "boxfilter",
        .summary = "Means around each pixel: running sums along rows and columns, and a small square.",
        .inputs = {"100x70 pixels", "600x500 pixels", "200x20,000 pixels"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int columns = shapes[size].columns, rows = shapes[size].rows;
    size_t count = (size_t)columns * rows;
    uint64_t state = workload_seed(17);
    float *image = array_of_floats(count, 0.0f, 1.0f, &state), *expected = workload_alloc(count, sizeof(float));
    struct gpu gpu;

    gpu_open(&gpu);
    CUdeviceptr in = gpu_upload(image, count * sizeof(float)), out = gpu_alloc_zeroed(count * sizeof(float));
    gpu_launch_named(&gpu, "boxfilter_rows", gpu_blocks(rows, BLOCK), BLOCK, (void *[]){&in, &out, &columns, &rows});
    reference(image, expected, columns, rows, RADIUS, 0);
    size_t mismatches = array_check("along rows", out, expected, count, 0.0f, 1e-4f);
    /* The other way: the same memory as so many columns of that length. */
    gpu_launch_named(&gpu, "boxfilter_columns", gpu_blocks(rows, BLOCK), BLOCK, (void *[]){&in, &out, &rows, &columns});
    reference(image, expected, rows, columns, 0, RADIUS);
    mismatches += array_check("along columns", out, expected, count, 0.0f, 1e-4f);
    gpu_launch(gpu_kernel(&gpu, "boxfilter_square"),
               (struct shape){gpu_blocks(columns, WIDTH), gpu_blocks(rows, HEIGHT)}, (struct shape){WIDTH, HEIGHT},
               (void *[]){&in, &out, &columns, &rows});
    reference(image, expected, columns, rows, NARROW, NARROW);
    mismatches += array_check("in the square", out, expected, count, 0.0f, 1e-5f);
    gpu_free(in);
    gpu_free(out);
    gpu_close(&gpu);
    free(image);
    free(expected);
    return workload_verdict(&workload, mismatches, 3 * count, "pixels");
}
