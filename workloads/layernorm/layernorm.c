/* layernorm: host program; see layernorm.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, LANES = 32, SHORT_ROW = 512 };

static const struct {
    int short_rows, rows, columns;
} inputs[SIZE_COUNT] = {{24, 6, 600}, {1500, 400, 1500}, {20000, 2500, 2048}};

struct layer {
    int rows, columns;
    float *in, *scale, *shift, *gradient;
};

static void layer_make(struct layer *layer, int rows, int columns, uint64_t *state)
{
    layer->rows = rows;
    layer->columns = columns;
    layer->in = array_of_floats((size_t)rows * columns, -1.0f, 3.0f, state);
    layer->scale = array_of_floats(columns, 0.5f, 1.5f, state);
    layer->shift = array_of_floats(columns, -0.5f, 0.5f, state);
    layer->gradient = array_of_floats((size_t)rows * columns, -1.0f, 1.0f, state);
}

static void layer_free(struct layer *layer)
{
    free(layer->in);
    free(layer->scale);
    free(layer->shift);
    free(layer->gradient);
}

static void row_statistics(const float *in, int columns, double *mean, double *inverse)
{
    double sum = 0.0, squares = 0.0;

    for (int i = 0; i < columns; i++)
        sum += in[i];
    *mean = sum / columns;
    for (int i = 0; i < columns; i++)
        squares += (in[i] - *mean) * (in[i] - *mean);
    *inverse = 1.0 / sqrt(squares / columns + 1e-5);
}

static void reference(const struct layer *layer, float *out, float *in_gradient)
{
    int columns = layer->columns;

    for (int row = 0; row < layer->rows; row++) {
        const float *in = layer->in + (size_t)row * columns, *gradient = layer->gradient + (size_t)row * columns;
        double mean, inverse, sum = 0.0, product = 0.0;
        row_statistics(in, columns, &mean, &inverse);
        for (int i = 0; i < columns; i++) {
            double normal = (in[i] - mean) * inverse;
            out[(size_t)row * columns + i] = normal * layer->scale[i] + layer->shift[i];
            sum += gradient[i] * layer->scale[i];
            product += gradient[i] * layer->scale[i] * normal;
        }
        for (int i = 0; i < columns; i++) {
            double normal = (in[i] - mean) * inverse;
            in_gradient[(size_t)row * columns + i] =
                (gradient[i] * layer->scale[i] - sum / columns - normal * product / columns) * inverse;
        }
    }
}

/* Forward by the kernel for rows of that length; backward after the one that keeps the rows' statistics. */
static size_t run(const struct gpu *gpu, const struct layer *layer, int is_short)
{
    int rows = layer->rows, columns = layer->columns;
    size_t count = (size_t)rows * columns, bytes = count * sizeof(float);
    CUdeviceptr in = gpu_upload(layer->in, bytes), scale = gpu_upload(layer->scale, columns * sizeof(float));
    CUdeviceptr shift = gpu_upload(layer->shift, columns * sizeof(float)), out = gpu_alloc_zeroed(bytes);
    CUdeviceptr means = gpu_alloc_zeroed(rows * sizeof(float)), inverses = gpu_alloc_zeroed(rows * sizeof(float));
    CUdeviceptr gradient = gpu_upload(layer->gradient, bytes), in_gradient = gpu_alloc_zeroed(bytes);
    float *expected = workload_alloc(count, sizeof(float)), *slopes = workload_alloc(count, sizeof(float));
    size_t mismatches = 0;

    reference(layer, expected, slopes);
    if (is_short) {
        gpu_launch_named(gpu, "layernorm_warp", gpu_blocks((size_t)rows * LANES, BLOCK), BLOCK,
                         (void *[]){&in, &scale, &shift, &out, &rows});
    } else {
        gpu_launch_named(gpu, "layernorm_block", rows, BLOCK,
                         (void *[]){&in, &scale, &shift, &out, &means, &inverses, &columns});
        gpu_launch_named(gpu, "layernorm_backward", rows, BLOCK,
                         (void *[]){&in, &scale, &means, &inverses, &gradient, &in_gradient, &columns});
        mismatches = array_check("gradient", in_gradient, slopes, count, 1e-4f, 1e-5f);
    }
    mismatches += array_check("out", out, expected, count, 1e-4f, 1e-5f);
    CUdeviceptr all[] = {in, scale, shift, out, means, inverses, gradient, in_gradient};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
    free(expected);
    free(slopes);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "layernorm",
        .summary = "Layer normalisation, a block or a warp per row, and its gradient.",
        .inputs = {"24 rows of 512 and 6 of 600", "1,500 rows of 512 and 400 of 1,500",
                   "20,000 rows of 512 and 2,500 of 2,048"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    uint64_t state = workload_seed(1607);
    struct layer short_layer, layer;
    struct gpu gpu;

    layer_make(&short_layer, inputs[size].short_rows, SHORT_ROW, &state);
    layer_make(&layer, inputs[size].rows, inputs[size].columns, &state);
    gpu_open(&gpu);
    size_t mismatches = run(&gpu, &short_layer, 1) + run(&gpu, &layer, 0);
    gpu_close(&gpu);
    size_t compared = (size_t)short_layer.rows * SHORT_ROW + 2 * (size_t)layer.rows * layer.columns;
    layer_free(&short_layer);
    layer_free(&layer);
    return workload_verdict(&workload, mismatches, compared, "elements");
}
