/* fft: host program; see fft.cu for what the kernels do. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { POINTS = 512, THREADS = 64, BLOCK = 256, SAMPLE = 40 };

static const int transform_counts[SIZE_COUNT] = {20, 1000, 8000};

/* By the definition, 512 numbers as pairs of floats. */
static void reference(const float *in, float *out)
{
    static double complex roots[POINTS];

    for (int i = 0; i < POINTS; i++)
        roots[i] = cexp(-2.0 * M_PI * I * i / POINTS);
    for (int k = 0; k < POINTS; k++) {
        double complex sum = 0.0;
        for (int i = 0; i < POINTS; i++)
            sum += (in[2 * i] + in[2 * i + 1] * I) * roots[(size_t)i * k % POINTS];
        out[2 * k] = creal(sum);
        out[2 * k + 1] = cimag(sum);
    }
}

/* Transforms in[n] and compares; then multiplies with what was transformed, and compares that too. */
static size_t run(const struct gpu *gpu, const float *numbers, int transforms, uint64_t *state)
{
    size_t count = (size_t)transforms * POINTS, bytes = 2 * count * sizeof(float), mismatches = 0;
    CUdeviceptr in = gpu_upload(numbers, bytes), out = gpu_alloc_zeroed(bytes);
    float *got = workload_alloc(2 * count, sizeof(float)), *product = workload_alloc(2 * count, sizeof(float));
    float expected[2 * POINTS], scale = 0.25f;
    int pairs = count;

    gpu_launch_named(gpu, "fft_512", transforms, THREADS, (void *[]){&in, &out});
    gpu_download(got, out, bytes);
    gpu_launch_named(gpu, "fft_multiply", gpu_blocks(count, BLOCK), BLOCK, (void *[]){&in, &out, &scale, &pairs});
    gpu_download(product, in, bytes);
    for (int i = 0; i < SAMPLE; i++) {
        size_t at = (size_t)random_below(state, transforms) * 2 * POINTS;
        reference(numbers + at, expected);
        mismatches += compare_f32_close("spectrum", got + at, expected, 2 * POINTS, 1e-4f, 2e-3f);
        for (int k = 0; k < POINTS; k++) {
            const float *a = numbers + at + 2 * k, *b = got + at + 2 * k;
            expected[2 * k] = scale * (a[0] * b[0] - a[1] * b[1]);
            expected[2 * k + 1] = scale * (a[0] * b[1] + a[1] * b[0]);
        }
        mismatches += compare_f32_close("product", product + at, expected, 2 * POINTS, 1e-5f, 1e-4f);
    }
    gpu_free(in);
    gpu_free(out);
    free(got);
    free(product);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "fft",
        .summary = "Fourier transforms of 512 complex numbers, radix 8, and a product of spectra.",
        .inputs = {"20 transforms", "1,000 transforms", "8,000 transforms"},
    };
    int transforms = transform_counts[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(1965);
    float *numbers = array_of_floats((size_t)transforms * 2 * POINTS, -1.0f, 1.0f, &state);
    struct gpu gpu;

    gpu_open(&gpu);
    size_t mismatches = run(&gpu, numbers, transforms, &state);
    gpu_close(&gpu);
    free(numbers);
    return workload_verdict(&workload, mismatches, (size_t)SAMPLE * 4 * POINTS, "numbers");
}
