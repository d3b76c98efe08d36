/* quasirandom: host program; see quasirandom.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "workload.h"

enum { BLOCK = 128, GRID = 128, DIMENSIONS = 3, BITS = 31, MAX_START = 1 << 24, MAX_COUNT = 1 << 26 };

/* Numbers of each dimension. */
static const long counts[SIZE_COUNT] = {3000, 1 << 17, 1 << 20};

typedef uint32_t directions[DIMENSIONS][BITS];

/*
 * Sobol's: the first dimension turns the bits of the position around; the others follow the recurrences of the
 * primitive polynomials x + 1 and x^2 + x +
 * 1. */
static void directions_fill(directions table)
{
    for (int bit = 0; bit < BITS; bit++)
        table[0][bit] = 1u << (BITS - 1 - bit);
    table[1][0] = 1u << (BITS - 1);
    for (int bit = 1; bit < BITS; bit++)
        table[1][bit] = table[1][bit - 1] ^ table[1][bit - 1] >> 1;
    table[2][0] = 1u << (BITS - 1);
    table[2][1] = 3u << (BITS - 2);
    for (int bit = 2; bit < BITS; bit++)
        table[2][bit] = table[2][bit - 1] ^ table[2][bit - 2] ^ table[2][bit - 2] >> 2;
}

static void generate_reference(directions table, uint32_t start, uint32_t count, float *numbers)
{
    for (int dimension = 0; dimension < DIMENSIONS; dimension++) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t sum = 0;
            for (int bit = 0; bit < BITS; bit++) {
                if ((start + i) >> bit & 1)
                    sum ^= table[dimension][bit];
            }
            numbers[(size_t)dimension * count + i] = ((float)(sum >> (BITS - 23)) + 0.5f) * 0x1p-23f;
        }
    }
}

/* Horner's rule, each step fused as in the kernel. */
static float polynomial(float x, const float *factors, int count)
{
    float sum = factors[0];

    for (int i = 1; i < count; i++)
        sum = fmaf(x, sum, factors[i]);
    return sum;
}

static float logarithm(float x)
{
    static const float odd_parts[] = {0x1.c71c72p-3f, 0x1.24924ap-2f, 0x1.99999ap-2f, 0x1.555556p-1f};
    const uint32_t one = 0x3f800000;
    const uint32_t root_half = 0x3f3504f3;
    uint32_t bits;
    float rest;

    memcpy(&bits, &x, sizeof bits);
    int twos = (int)((bits - root_half + one) >> 23) - 127;
    bits -= (uint32_t)twos << 23;
    memcpy(&rest, &bits, sizeof rest);
    float ratio = (rest - 1.0f) / (rest + 1.0f);
    float square = ratio * ratio;
    float series = fmaf(square * polynomial(square, odd_parts, 4), ratio, 2.0f * ratio);
    return fmaf((float)twos, 0x1.62e43p-1f, series);
}

static float inverse_normal(float p)
{
    static const float above[] = {-25.44106049637f, 41.39119773534f, -18.61500062529f, 2.50662823884f};
    static const float below[] = {3.13082909833f, -21.06224101826f, 23.08336743743f, -8.47351093090f, 1.0f};
    static const float tail[] = {0.0000003960315187f, 0.0000002888167364f, 0.0000321767881768f,
                                 0.0003951896511919f, 0.0038405729373609f, 0.0276438810333863f,
                                 0.1607979714918209f, 0.9761690190917186f, 0.3374754822726147f};
    float from_middle = p - 0.5f;

    if (fabsf(from_middle) < 0.42f) {
        float square = from_middle * from_middle;
        return from_middle * polynomial(square, above, 4) / polynomial(square, below, 5);
    }
    float depth = logarithm(-logarithm(from_middle > 0.0f ? 1.0f - p : p));
    return copysignf(polynomial(depth, tail, 9), from_middle);
}

static void run_on_device(const struct gpu *gpu, directions table, uint32_t start, uint32_t count, float *numbers,
                          float *normals)
{
    uint32_t all = DIMENSIONS * count;
    size_t bytes = all * sizeof(float);
    CUdeviceptr even = gpu_alloc_zeroed(bytes);
    CUdeviceptr normal = gpu_alloc_zeroed(bytes);
    void *generate[] = {&even, &start, &count};
    void *transform[] = {&even, &normal, &all};

    gpu_fill_constant(gpu, "quasirandom_directions", table, sizeof(directions));
    gpu_launch(gpu_kernel(gpu, "quasirandom_generate"), (struct shape){GRID, 1}, (struct shape){BLOCK, DIMENSIONS},
               generate);
    gpu_launch(gpu_kernel(gpu, "quasirandom_normal"), (struct shape){GRID, 1}, (struct shape){BLOCK, 1}, transform);
    gpu_download(numbers, even, bytes);
    gpu_download(normals, normal, bytes);
    gpu_free(even);
    gpu_free(normal);
}

int main(int argc, char **argv)
{
    long given = 0;
    const struct workload_option options[] = {
        {"count", "numbers of each dimension", &given, MAX_COUNT},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "quasirandom",
        .summary = "A quasi-random sequence in three dimensions, and its numbers distributed normally.",
        .inputs = {"3,000 numbers of each dimension", "131,072 numbers of each dimension",
                   "1,048,576 numbers of each dimension"},
        .options = options,
    };
    long count = counts[workload_parse(&workload, argc, argv)];
    uint32_t start = workload_seed(0) % MAX_START; /* a seed begins further on in the sequence */
    directions table;
    struct gpu gpu;

    if (given)
        count = given;
    size_t all = (size_t)DIMENSIONS * count;
    float *numbers = workload_alloc(all, sizeof(float));
    float *normals = workload_alloc(all, sizeof(float));
    float *expected = workload_alloc(all, sizeof(float));
    directions_fill(table);
    gpu_open(&gpu);
    run_on_device(&gpu, table, start, count, numbers, normals);
    gpu_close(&gpu);
    generate_reference(table, start, count, expected);
    size_t mismatches = compare_f32("number", numbers, expected, all);
    for (size_t i = 0; i < all; i++)
        expected[i] = inverse_normal(expected[i]);
    mismatches += compare_f32("normal", normals, expected, all);
    free(numbers);
    free(normals);
    free(expected);
    return workload_verdict(&workload, mismatches, 2 * all, "even and normal numbers");
}
