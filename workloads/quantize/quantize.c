/* quantize: host program; see quantize.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, TILE = 64, SAMPLE = 20000 };

static const struct {
    int rows, columns, depth;
} inputs[SIZE_COUNT] = {{64, 64, 128}, {512, 256, 512}, {3072, 2048, 512}};

struct side {
    float *numbers;
    CUdeviceptr in, bytes, scales;
};

static void side_make(struct side *side, const struct gpu *gpu, int rows, int depth, uint64_t *state)
{
    size_t count = (size_t)rows * depth;

    side->numbers = array_of_floats(count, -1.0f, 1.0f, state);
    side->in = gpu_upload(side->numbers, count * sizeof(float));
    side->bytes = gpu_alloc_zeroed(count);
    side->scales = gpu_alloc_zeroed(rows * sizeof(float));
    gpu_launch_named(gpu, "quantize_rows", rows, BLOCK, (void *[]){&side->in, &side->bytes, &side->scales, &depth});
}

static void side_free(struct side *side)
{
    free(side->numbers);
    gpu_free(side->in);
    gpu_free(side->bytes);
    gpu_free(side->scales);
}

/* Rounded as the device does; returns the scale. */
static float quantize(const float *numbers, int depth, int *bytes)
{
    float greatest = 1e-20f;

    for (int i = 0; i < depth; i++)
        greatest = fmaxf(greatest, fabsf(numbers[i]));
    for (int i = 0; i < depth; i++)
        bytes[i] = rintf(numbers[i] * (127.0f / greatest));
    return greatest / 127.0f;
}

static size_t check(const float *got, const struct side *a, const struct side *b, int rows, int columns, int depth,
                    uint64_t *state)
{
    int *x = workload_alloc(depth, sizeof(int)), *y = workload_alloc(depth, sizeof(int));
    size_t count = (size_t)rows * columns, mismatches = 0;

    for (int i = 0; i < SAMPLE; i++) {
        size_t at = random_below(state, count);
        float x_scale = quantize(a->numbers + at / columns * depth, depth, x);
        float y_scale = quantize(b->numbers + at % columns * depth, depth, y);
        int sum = 0;
        for (int k = 0; k < depth; k++)
            sum += x[k] * y[k];
        float expected = sum * x_scale * y_scale;
        mismatches += compare_f32_close("product", got + at, &expected, 1, 1e-6f, 0.0f);
    }
    free(x);
    free(y);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "quantize",
        .summary = "Matrix product in bytes with dp4a: rounding, product, and back to floats.",
        .inputs = {"64x64x128", "512x256x512", "3,072x2,048x512"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int rows = inputs[size].rows, columns = inputs[size].columns, depth = inputs[size].depth;
    int words = depth / 4, count = rows * columns;
    uint64_t state = workload_seed(127);
    float *got = workload_alloc(count, sizeof(float));
    struct side a, b;
    struct gpu gpu;

    gpu_open(&gpu);
    side_make(&a, &gpu, rows, depth, &state);
    side_make(&b, &gpu, columns, depth, &state);
    CUdeviceptr sums = gpu_alloc_zeroed(count * sizeof(int)), out = gpu_alloc_zeroed(count * sizeof(float));
    gpu_launch(gpu_kernel(&gpu, "quantize_product"), (struct shape){columns / TILE, rows / TILE},
               (struct shape){BLOCK, 1}, (void *[]){&a.bytes, &b.bytes, &sums, &columns, &words});
    gpu_launch_named(&gpu, "quantize_restore", gpu_blocks(count, BLOCK), BLOCK,
                     (void *[]){&sums, &a.scales, &b.scales, &out, &columns, &count});
    gpu_download(got, out, count * sizeof(float));
    size_t mismatches = check(got, &a, &b, rows, columns, depth, &state);
    gpu_free(sums);
    gpu_free(out);
    side_free(&a);
    side_free(&b);
    gpu_close(&gpu);
    free(got);
    return workload_verdict(&workload, mismatches, SAMPLE, "elements");
}
