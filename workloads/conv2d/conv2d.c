/* conv2d: host program; see conv2d.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { WIDTH = 32, HEIGHT = 8, EACH = 8, CHANNELS = 8, ROWS_PER_THREAD = 4, SAMPLE = 100000 };

static const struct {
    int images, side;
} inputs[SIZE_COUNT] = {{1, 32}, {2, 64}, {6, 128}};

/* The device's own order: channels, rows, columns. Depthwise: the one channel, with the first filter. */
static float reference(const float *in, const float *filters, int side, size_t at, int depthwise)
{
    int x = at % side, y = at / side % side, channel = at / side / side % CHANNELS;
    size_t image = at / side / side / CHANNELS;
    float sum = 0.0f;

    for (int from = depthwise ? channel : 0; from < (depthwise ? channel + 1 : CHANNELS); from++) {
        for (int i = 0; i < 9; i++) {
            int row = y + i / 3 - 1, column = x + i % 3 - 1;
            int inside = row >= 0 && row < side && column >= 0 && column < side;
            float value = inside ? in[((image * CHANNELS + from) * side + row) * side + column] : 0.0f;
            sum = fmaf(value, filters[(channel * CHANNELS + (depthwise ? 0 : from)) * 9 + i], sum);
        }
    }
    return sum;
}

struct layer {
    float *in, *filters;
    CUdeviceptr in_memory, filter_memory;
    int images, side;
};

static size_t run(const struct gpu *gpu, struct layer *layer, const char *kernel, struct shape grid, int depthwise,
                  uint64_t *state)
{
    size_t count = (size_t)layer->images * CHANNELS * layer->side * layer->side, mismatches = 0;
    CUdeviceptr memory = gpu_alloc_zeroed(count * sizeof(float));
    float *out = workload_alloc(count, sizeof(float));

    gpu_launch(gpu_kernel(gpu, kernel), grid, (struct shape){WIDTH, HEIGHT},
               (void *[]){&layer->in_memory, &layer->filter_memory, &memory, &layer->side});
    gpu_download(out, memory, count * sizeof(float));
    for (int i = 0; i < SAMPLE; i++) {
        size_t at = random_below(state, count);
        float expected = reference(layer->in, layer->filters, layer->side, at, depthwise);
        mismatches += compare_f32_close(kernel, out + at, &expected, 1, 0.0f, 0.0f);
    }
    free(out);
    gpu_free(memory);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "conv2d",
        .summary = "3x3 convolutions of 8 channels: direct, through shared memory, depthwise.",
        .inputs = {"1 image of 32x32", "2 images of 64x64", "6 images of 128x128"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    struct layer layer = {.images = inputs[size].images, .side = inputs[size].side};
    size_t count = (size_t)layer.images * CHANNELS * layer.side * layer.side, weights = CHANNELS * CHANNELS * 9;
    unsigned tiles = layer.side / WIDTH * (layer.side / HEIGHT);
    uint64_t state = workload_seed(33);
    struct gpu gpu;

    layer.in = array_of_floats(count, -1.0f, 1.0f, &state);
    layer.filters = array_of_floats(weights, -1.0f, 1.0f, &state);
    gpu_open(&gpu);
    layer.in_memory = gpu_upload(layer.in, count * sizeof(float));
    layer.filter_memory = gpu_upload(layer.filters, weights * sizeof(float));
    struct shape direct = {tiles, layer.images * CHANNELS}, shared = {tiles, layer.images * CHANNELS / EACH};
    struct shape depthwise = {tiles / ROWS_PER_THREAD, layer.images * CHANNELS};
    size_t mismatches = run(&gpu, &layer, "conv2d_direct", direct, 0, &state);
    mismatches += run(&gpu, &layer, "conv2d_shared", shared, 0, &state);
    mismatches += run(&gpu, &layer, "conv2d_depthwise", depthwise, 1, &state);
    gpu_free(layer.in_memory);
    gpu_free(layer.filter_memory);
    gpu_close(&gpu);
    free(layer.in);
    free(layer.filters);
    return workload_verdict(&workload, mismatches, 3 * SAMPLE, "elements");
}
