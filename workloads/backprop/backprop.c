/*
 * backprop: host program; see backprop.cu for what the kernels do. Between the two, as in the original, the host adds
 * up the blocks' sums, applies the hidden units, computes the one output and from it the hidden units' errors, and
 * uploads the weights
 * again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { TILE = 16, HIDDEN = 16, NODE_LIMIT = 65535 * TILE };

static const long node_counts[SIZE_COUNT] = {2048, 65536, 65536};

/* Number 0 of nodes, of weights and of units is the bias, or not used. */
struct layer {
    int node_count;
    float *nodes;
    float *weights; /* (node_count + 1) x (HIDDEN + 1) */
    float *last_changes;
    float output_weights[HIDDEN + 1];
};

static size_t weight_count(const struct layer *layer) { return (size_t)(layer->node_count + 1) * (HIDDEN + 1); }

static size_t weight_at(int node, int unit) { return (size_t)node * (HIDDEN + 1) + unit; }

/* Weights are small enough to keep the hidden units off their limits, where errors would be zero. */
static void layer_random(struct layer *layer, int node_count)
{
    float spread = 4.0f / sqrtf(node_count);
    uint64_t state = workload_seed(HIDDEN);

    layer->node_count = node_count;
    layer->nodes = workload_alloc(node_count + 1, sizeof(float));
    layer->weights = workload_alloc(weight_count(layer), sizeof(float));
    layer->last_changes = workload_alloc(weight_count(layer), sizeof(float));
    layer->nodes[0] = 1.0f;
    for (int i = 1; i <= node_count; i++)
        layer->nodes[i] = random_float(&state);
    for (size_t i = 0; i < weight_count(layer); i++) {
        layer->weights[i] = (random_float(&state) - 0.5f) * spread;
        layer->last_changes[i] = (random_float(&state) - 0.5f) * spread * 0.1f;
    }
    for (int unit = 0; unit <= HIDDEN; unit++)
        layer->output_weights[unit] = random_float(&state);
}

static void layer_free(struct layer *layer)
{
    free(layer->nodes);
    free(layer->weights);
    free(layer->last_changes);
}

static float squash(float sum) { return 1.0f / (1.0f + expf(-sum)); }

/* From the blocks' sums to the errors of the hidden units; the output should have been 0.1. */
static void hidden_errors(const struct layer *layer, const float *partial_sums, float *errors)
{
    const float target = 0.1f;
    float hidden[HIDDEN + 1] = {1.0f};
    float sum = layer->output_weights[0];

    for (int unit = 1; unit <= HIDDEN; unit++) {
        float unit_sum = layer->weights[weight_at(0, unit)];
        for (int block = 0; block < layer->node_count / TILE; block++)
            unit_sum += partial_sums[block * HIDDEN + unit - 1];
        hidden[unit] = squash(unit_sum);
        sum += hidden[unit] * layer->output_weights[unit];
    }
    float output = squash(sum);
    float output_error = output * (1.0f - output) * (target - output);
    for (int unit = 1; unit <= HIDDEN; unit++)
        errors[unit] = hidden[unit] * (1.0f - hidden[unit]) * output_error * layer->output_weights[unit];
}

/* What the forward kernel leaves: the tiles after their trees, and their first rows. */
static void forward_reference(const struct layer *layer, float *tiles, float *partial_sums)
{
    memcpy(tiles, layer->weights, weight_count(layer) * sizeof(float));
    for (int block = 0; block < layer->node_count / TILE; block++) {
        int first = block * TILE + 1;
        for (int unit = 1; unit <= HIDDEN; unit++) {
            for (int y = 0; y < TILE; y++)
                tiles[weight_at(first + y, unit)] *= layer->nodes[first + y];
            for (int s = 1; s < TILE; s *= 2) {
                for (int y = 0; y < TILE; y += 2 * s)
                    tiles[weight_at(first + y, unit)] += tiles[weight_at(first + y + s, unit)];
            }
            partial_sums[block * HIDDEN + unit - 1] = tiles[weight_at(first, unit)];
        }
    }
}

static void adjust_reference(struct layer *layer, const float *errors)
{
    for (int node = 0; node <= layer->node_count; node++) {
        for (int unit = 1; unit <= HIDDEN; unit++) {
            size_t at = weight_at(node, unit);
            float change = fmaf(0.3f, layer->last_changes[at], 0.3f * errors[unit] * layer->nodes[node]);
            layer->weights[at] += change;
            layer->last_changes[at] = change;
        }
    }
}

/* Trains the layer; `tiles` and `partial_sums` are what the forward kernel left. */
static void train_on_device(const struct gpu *gpu, struct layer *layer, float *tiles, float *partial_sums)
{
    size_t node_bytes = (layer->node_count + 1) * sizeof(float);
    size_t weight_bytes = weight_count(layer) * sizeof(float);
    size_t sum_bytes = (size_t)layer->node_count / TILE * HIDDEN * sizeof(float);
    float errors[HIDDEN + 1] = {0.0f};
    CUdeviceptr nodes = gpu_upload(layer->nodes, node_bytes);
    CUdeviceptr weights = gpu_upload(layer->weights, weight_bytes);
    CUdeviceptr sums = gpu_alloc_zeroed(sum_bytes);
    struct shape grid = {1, layer->node_count / TILE};
    struct shape block = {HIDDEN, TILE};
    void *forward[] = {&nodes, &weights, &sums};

    gpu_launch(gpu_kernel(gpu, "backprop_forward"), grid, block, forward);
    gpu_download(tiles, weights, weight_bytes);
    gpu_download(partial_sums, sums, sum_bytes);
    hidden_errors(layer, partial_sums, errors);

    CUdeviceptr error_memory = gpu_upload(errors, sizeof errors);
    CUdeviceptr last_changes = gpu_upload(layer->last_changes, weight_bytes);
    void *adjust[] = {&error_memory, &nodes, &weights, &last_changes};
    CHECK(cuMemcpyHtoD(weights, layer->weights, weight_bytes));
    gpu_launch(gpu_kernel(gpu, "backprop_adjust"), grid, block, adjust);
    gpu_download(layer->weights, weights, weight_bytes);
    gpu_download(layer->last_changes, last_changes, weight_bytes);
    gpu_free(nodes);
    gpu_free(weights);
    gpu_free(sums);
    gpu_free(error_memory);
    gpu_free(last_changes);
}

static void train_reference(struct layer *layer, float *tiles, float *partial_sums)
{
    float errors[HIDDEN + 1] = {0.0f};

    forward_reference(layer, tiles, partial_sums);
    hidden_errors(layer, partial_sums, errors);
    adjust_reference(layer, errors);
}

int main(int argc, char **argv)
{
    long nodes = 0;
    const struct workload_option options[] = {
        {"nodes", "input nodes of a layer of your own size, made a multiple of 16", &nodes, NODE_LIMIT},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "backprop",
        .summary = "One step of training of a neural network with 16 hidden units.",
        .inputs = {"2,048 input nodes", "65,536 input nodes", "65,536 input nodes"},
        .options = options,
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int node_count = gpu_blocks(nodes ? nodes : node_counts[size], TILE) * TILE;
    struct layer layer, expected;
    struct gpu gpu;

    layer_random(&layer, node_count);
    layer_random(&expected, node_count);
    size_t weights = weight_count(&layer);
    size_t sums = (size_t)node_count / TILE * HIDDEN;
    float *tiles = workload_alloc(weights * 2, sizeof(float)); /* the device's, then the expected ones */
    float *partial_sums = workload_alloc(sums * 2, sizeof(float));
    gpu_open(&gpu);
    train_on_device(&gpu, &layer, tiles, partial_sums);
    gpu_close(&gpu);
    train_reference(&expected, tiles + weights, partial_sums + sums);
    size_t mismatches = compare_f32("sum", partial_sums, partial_sums + sums, sums);
    mismatches += compare_f32("tile", tiles, tiles + weights, weights);
    mismatches += compare_f32("weight", layer.weights, expected.weights, weights);
    mismatches += compare_f32("change", layer.last_changes, expected.last_changes, weights);
    layer_free(&layer);
    layer_free(&expected);
    free(tiles);
    free(partial_sums);
    return workload_verdict(&workload, mismatches, sums + 3 * weights, "sums, products, weights and changes");
}
