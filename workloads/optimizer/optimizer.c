/* optimizer: host program; see optimizer.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, VECTOR = 4, PER_THREAD = 2 };

static const struct {
    int count, rows, columns;
} inputs[SIZE_COUNT] = {{10000, 8, 500}, {300000, 200, 1000}, {4000000, 2000, 1000}};

static size_t run_adam(const struct gpu *gpu, int count, uint64_t *state)
{
    size_t bytes = count * sizeof(float);
    float *weights = array_of_floats(count, -1.0f, 1.0f, state),
          *gradients = array_of_floats(count, -1.0f, 1.0f, state);
    float *first = array_of_floats(count, -0.1f, 0.1f, state), *second = array_of_floats(count, 0.01f, 0.1f, state);
    CUdeviceptr w = gpu_upload(weights, bytes), g = gpu_upload(gradients, bytes), m = gpu_upload(first, bytes);
    CUdeviceptr v = gpu_upload(second, bytes), total = gpu_alloc_zeroed(sizeof(float));
    int vectors = count / VECTOR;
    float limit = 10.0f, rate = 0.1f;
    double squares = 0.0;

    gpu_launch_named(gpu, "optimizer_norm", gpu_blocks(vectors, BLOCK * PER_THREAD), BLOCK,
                     (void *[]){&g, &total, &vectors});
    gpu_launch_named(gpu, "optimizer_adam", gpu_blocks(count, BLOCK), BLOCK,
                     (void *[]){&w, &g, &m, &v, &total, &limit, &rate, &count});
    for (int i = 0; i < count; i++)
        squares += (double)gradients[i] * gradients[i];
    double clip = fmin(1.0, limit / sqrt(squares));
    for (int i = 0; i < count; i++) {
        double slope = gradients[i] * clip;
        first[i] = 0.9 * first[i] + 0.1 * slope;
        second[i] = 0.999 * second[i] + 0.001 * slope * slope;
        weights[i] -= rate * (first[i] / (sqrt(second[i]) + 1e-8) + 0.01 * weights[i]);
    }
    size_t mismatches = array_check("moment", m, first, count, 1e-4f, 1e-6f);
    mismatches += array_check("weight", w, weights, count, 1e-4f, 1e-5f);
    CUdeviceptr all[] = {w, g, m, v, total};
    float *host[] = {weights, gradients, first, second};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
    for (size_t i = 0; i < sizeof host / sizeof *host; i++)
        free(host[i]);
    return mismatches;
}

static size_t run_gelu(const struct gpu *gpu, int count, uint64_t *state)
{
    float *numbers = array_of_floats(count, -4.0f, 4.0f, state);
    CUdeviceptr in = gpu_upload(numbers, count * sizeof(float)), out = gpu_alloc_zeroed(count * sizeof(float));
    int vectors = count / VECTOR;

    gpu_launch_named(gpu, "optimizer_gelu", gpu_blocks(vectors, BLOCK), BLOCK, (void *[]){&in, &out, &vectors});
    for (int i = 0; i < count; i++) {
        double x = numbers[i];
        numbers[i] = 0.5 * x * (1.0 + tanh(0.79788456 * (x + 0.044715 * x * x * x)));
    }
    size_t mismatches = array_check("gelu", out, numbers, count, 1e-4f, 1e-5f);
    gpu_free(in);
    gpu_free(out);
    free(numbers);
    return mismatches;
}

static size_t run_cross_entropy(const struct gpu *gpu, int rows, int columns, uint64_t *state)
{
    size_t count = (size_t)rows * columns;
    float *scores = array_of_floats(count, -5.0f, 5.0f, state), *expected = workload_alloc(rows, sizeof(float));
    uint32_t *labels = array_of_u32(rows, columns, state);
    CUdeviceptr in = gpu_upload(scores, count * sizeof(float)), slopes = gpu_alloc_zeroed(count * sizeof(float));
    CUdeviceptr label_memory = gpu_upload(labels, rows * sizeof(uint32_t)),
                losses = gpu_alloc_zeroed(rows * sizeof(float));

    gpu_launch_named(gpu, "optimizer_cross_entropy", rows, BLOCK,
                     (void *[]){&in, &label_memory, &losses, &slopes, &columns});
    for (int row = 0; row < rows; row++) {
        float *own = scores + (size_t)row * columns, at_label = own[labels[row]];
        double sum = 0.0;
        for (int i = 0; i < columns; i++)
            sum += exp(own[i]);
        for (int i = 0; i < columns; i++)
            own[i] = exp(own[i]) / sum - (i == (int)labels[row]);
        expected[row] = log(sum) - at_label;
    }
    size_t mismatches = array_check("loss", losses, expected, rows, 1e-4f, 1e-4f);
    mismatches += array_check("gradient", slopes, scores, count, 1e-3f, 1e-6f);
    gpu_free(in);
    gpu_free(slopes);
    gpu_free(label_memory);
    gpu_free(losses);
    free(scores);
    free(expected);
    free(labels);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "optimizer",
        .summary = "A step of training without its products: norm, Adam, GELU, cross-entropy.",
        .inputs = {"10,000 weights, 8 rows of 500 scores", "300,000 weights, 200 rows of 1,000",
                   "4,000,000 weights, 2,000 rows of 1,000"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int count = inputs[size].count, rows = inputs[size].rows, columns = inputs[size].columns;
    uint64_t state = workload_seed(2015);
    struct gpu gpu;

    gpu_open(&gpu);
    size_t mismatches = run_adam(&gpu, count, &state) + run_gelu(&gpu, count, &state);
    mismatches += run_cross_entropy(&gpu, rows, columns, &state);
    gpu_close(&gpu);
    return workload_verdict(&workload, mismatches, 3 * (size_t)count + (size_t)rows * (columns + 1), "numbers");
}
