/*
 * dwthaar: host program; see dwthaar.cu for what the kernel does. Launched again over the blocks' approximations until
 * one is left, which becomes the first element of the
 * transform. */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 512, MAX_LEVELS = 26 };

#define INVERSE_ROOT_2 0x1.6a09e6p-1f

/* A signal has 2^levels samples. The paper does not give its length. */
static const long level_counts[SIZE_COUNT] = {13, 20, 10};

static void transform_on_device(const struct gpu *gpu, const float *signal, unsigned count, float *transform)
{
    CUfunction kernel = gpu_kernel(gpu, "dwthaar");
    size_t bytes = count * sizeof(float);
    CUdeviceptr in = gpu_upload(signal, bytes);
    CUdeviceptr out = gpu_alloc_zeroed(bytes);

    while (count > 1) {
        unsigned threads = count / 2 < BLOCK ? count / 2 : BLOCK;
        unsigned blocks = count / 2 / threads;
        CUdeviceptr sums = gpu_alloc_zeroed(blocks * sizeof(float));
        void *arguments[] = {&in, &out, &sums};
        gpu_launch(kernel, (struct shape){blocks, 1}, (struct shape){threads, 1}, arguments);
        gpu_free(in);
        in = sums;
        count = blocks;
    }
    gpu_download(transform, out, bytes);
    gpu_download(transform, in, sizeof(float));
    gpu_free(in);
    gpu_free(out);
}

/* A noisy wave with jumps: neighbouring samples are alike, but few differences are zero. */
static void signal_random(float *signal, unsigned count)
{
    uint64_t state = workload_seed(BLOCK);
    float base = 0.0f;

    for (unsigned i = 0; i < count; i++) {
        if (random_below(&state, 64) == 0)
            base = random_float(&state) * 8.0f - 4.0f;
        signal[i] = base + random_float(&state) - 0.5f;
    }
}

static void transform_reference(const float *signal, unsigned count, float *transform)
{
    float *sums = workload_alloc(count, sizeof(float));

    memcpy(sums, signal, count * sizeof(float));
    for (count /= 2; count > 0; count /= 2) {
        for (unsigned i = 0; i < count; i++) {
            float left = sums[2 * i];
            float right = sums[2 * i + 1];
            transform[count + i] = (left - right) * INVERSE_ROOT_2;
            sums[i] = (left + right) * INVERSE_ROOT_2;
        }
    }
    transform[0] = sums[0];
    free(sums);
}

int main(int argc, char **argv)
{
    long given = 0;
    const struct workload_option options[] = {
        {"levels", "the signal has 2^N samples", &given, MAX_LEVELS},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "dwthaar",
        .summary = "Haar wavelet transform of a signal, 512 threads and 1,024 samples per block.",
        .inputs = {"2^13 samples", "2^20 samples", "2^10 samples"},
        .options = options,
    };
    long levels = level_counts[workload_parse(&workload, argc, argv)];
    struct gpu gpu;

    if (given)
        levels = given;
    unsigned count = 1u << levels;
    float *signal = workload_alloc(count, sizeof(float));
    float *transform = workload_alloc(count, sizeof(float));
    float *expected = workload_alloc(count, sizeof(float));
    signal_random(signal, count);
    gpu_open(&gpu);
    transform_on_device(&gpu, signal, count, transform);
    gpu_close(&gpu);
    transform_reference(signal, count, expected);
    size_t mismatches = compare_f32("coefficient", transform, expected, count);
    free(signal);
    free(transform);
    free(expected);
    return workload_verdict(&workload, mismatches, count, "coefficients");
}
