/* attention: host program; see attention.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { HEAD = 64, ROWS = 64, THREADS = 128, DECODE_KEYS = 128, SAMPLE = 500 };

/* Heads and keys of the forward pass; heads and keys of decoding. */
static const struct {
    int heads, length, decode_heads, decode_length;
} inputs[SIZE_COUNT] = {{2, 128, 2, 300}, {2, 512, 8, 2000}, {80, 512, 64, 4096}};

struct heads {
    int count, length;
    float *q, *k, *v;
    CUdeviceptr q_memory, k_memory, v_memory;
};

static CUdeviceptr make(size_t count, float **floats, uint64_t *state)
{
    uint16_t *halves = array_of_halves(count, -2.0f, 2.0f, floats, state);
    CUdeviceptr memory = gpu_upload(halves, count * sizeof(uint16_t));

    free(halves);
    return memory;
}

static void heads_make(struct heads *heads, int count, int length, uint64_t *state)
{
    size_t elements = (size_t)count * length * HEAD;

    heads->count = count;
    heads->length = length;
    heads->q_memory = make(elements, &heads->q, state);
    heads->k_memory = make(elements, &heads->k, state);
    heads->v_memory = make(elements, &heads->v, state);
}

static void heads_free(struct heads *heads)
{
    free(heads->q);
    free(heads->k);
    free(heads->v);
    gpu_free(heads->q_memory);
    gpu_free(heads->k_memory);
    gpu_free(heads->v_memory);
}

/* What one query of a head should give. */
static void reference(const struct heads *heads, int head, const float *query, float *out)
{
    const float *k = heads->k + (size_t)head * heads->length * HEAD,
                *v = heads->v + (size_t)head * heads->length * HEAD;
    double *scores = workload_alloc(heads->length, sizeof(double)), greatest = -INFINITY, sum = 0.0;
    double totals[HEAD] = {0};

    for (int i = 0; i < heads->length; i++) {
        for (int j = 0; j < HEAD; j++)
            scores[i] += (double)query[j] * k[(size_t)i * HEAD + j] / 8.0;
        greatest = fmax(greatest, scores[i]);
    }
    for (int i = 0; i < heads->length; i++) {
        double weight = exp(scores[i] - greatest);
        sum += weight;
        for (int j = 0; j < HEAD; j++)
            totals[j] += weight * v[(size_t)i * HEAD + j];
    }
    for (int j = 0; j < HEAD; j++)
        out[j] = totals[j] / sum;
    free(scores);
}

/* The forward pass, some hundred of its rows compared. Weights are halves of 11 bits. */
static size_t forward(const struct gpu *gpu, int count, int length, uint64_t *state)
{
    struct heads heads;
    heads_make(&heads, count, length, state);
    size_t elements = (size_t)count * length * HEAD, mismatches = 0;
    CUdeviceptr memory = gpu_alloc_zeroed(elements * sizeof(float));
    float *out = workload_alloc(elements, sizeof(float)), expected[HEAD];

    gpu_launch(gpu_kernel(gpu, "attention_forward"), (struct shape){length / ROWS, count}, (struct shape){THREADS, 1},
               (void *[]){&heads.q_memory, &heads.k_memory, &heads.v_memory, &memory, &length});
    gpu_download(out, memory, elements * sizeof(float));
    for (int i = 0; i < SAMPLE; i++) {
        size_t row = random_below(state, count * length);
        reference(&heads, row / length, heads.q + row * HEAD, expected);
        mismatches += compare_f32_close("out", out + row * HEAD, expected, HEAD, 2e-3f, 2e-3f);
    }
    free(out);
    gpu_free(memory);
    heads_free(&heads);
    return mismatches;
}

static size_t decode(const struct gpu *gpu, int count, int length, uint64_t *state)
{
    struct heads heads;
    heads_make(&heads, count, length, state);
    int parts = gpu_blocks(length, DECODE_KEYS);
    CUdeviceptr q = gpu_upload(heads.q, (size_t)count * HEAD * sizeof(float));
    CUdeviceptr part_memory = gpu_alloc_zeroed((size_t)count * parts * (HEAD + 2) * sizeof(float));
    CUdeviceptr out = gpu_alloc_zeroed((size_t)count * HEAD * sizeof(float));
    float *expected = workload_alloc((size_t)count * HEAD, sizeof(float));

    gpu_launch(gpu_kernel(gpu, "attention_decode"), (struct shape){parts, count}, (struct shape){THREADS, 1},
               (void *[]){&q, &heads.k_memory, &heads.v_memory, &part_memory, &length});
    gpu_launch_named(gpu, "attention_combine", count, HEAD, (void *[]){&part_memory, &out, &parts});
    for (int head = 0; head < count; head++)
        reference(&heads, head, heads.q + head * HEAD, expected + head * HEAD);
    size_t mismatches = array_check("decoded", out, expected, (size_t)count * HEAD, 1e-4f, 1e-4f);
    free(expected);
    gpu_free(q);
    gpu_free(part_memory);
    gpu_free(out);
    heads_free(&heads);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "attention",
        .summary = "Attention: the forward pass on tensor cores, and one query per head in parts.",
        .inputs = {"2 heads of 128 queries and keys, 2 queries of 300 keys",
                   "2 heads of 512 queries and keys, 8 queries of 2,000 keys",
                   "80 heads of 512 queries and keys, 64 queries of 4,096 keys"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    uint64_t state = workload_seed(2307);
    struct gpu gpu;

    gpu_open(&gpu);
    size_t mismatches = forward(&gpu, inputs[size].heads, inputs[size].length, &state);
    mismatches += decode(&gpu, inputs[size].decode_heads, inputs[size].decode_length, &state);
    gpu_close(&gpu);
    return workload_verdict(&workload, mismatches, (SAMPLE + (size_t)inputs[size].decode_heads) * HEAD, "elements");
}
