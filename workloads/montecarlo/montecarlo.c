/* montecarlo: host program; see montecarlo.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256, ROUNDS = 7, DATES = 16 };

static const struct {
    int blocks, rounds, asian_blocks;
} inputs[SIZE_COUNT] = {{4, 8, 4}, {150, 16, 200}, {2000, 16, 3000}};
static const float spot = 100.0f, strike = 98.0f, drift = 0.001f, spread = 0.04f;

static uint32_t seed;

static void philox(uint32_t counter, uint32_t stream, uint32_t out[4])
{
    uint32_t a = counter, b = stream, c = 0, d = 0, key0 = seed, key1 = 0x89abcdef;

    for (int i = 0; i < ROUNDS; i++, key0 += 0x9e3779b9, key1 += 0xbb67ae85) {
        uint64_t first = (uint64_t)0xd2511f53 * a, second = (uint64_t)0xcd9e8d57 * c;
        a = (uint32_t)(second >> 32) ^ b ^ key0;
        b = (uint32_t)second;
        c = (uint32_t)(first >> 32) ^ d ^ key1;
        d = (uint32_t)first;
    }
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

static float uniform(uint32_t bits) { return fmaf(bits >> 9, 0x1p-23f, 0x1p-24f); }

static uint32_t reference_pi(int threads, int rounds)
{
    uint32_t inside = 0, bits[4];

    for (int thread = 0; thread < threads; thread++) {
        for (int i = 0; i < rounds; i++) {
            philox(i, thread, bits);
            float x = uniform(bits[0]), y = uniform(bits[1]), z = uniform(bits[2]), w = uniform(bits[3]);
            inside += (fmaf(x, x, y * y) < 1.0f) + (fmaf(z, z, w * w) < 1.0f);
        }
    }
    return inside;
}

/* What the threads of one block are paid. */
static double reference_asian(int block)
{
    double sum = 0.0;
    uint32_t bits[4];

    for (int thread = block * BLOCK; thread < (block + 1) * BLOCK; thread++) {
        double level = 0.0, total = 0.0;
        for (int date = 0; date < DATES; date++) {
            philox(date / 4 * 4, thread, bits);
            double radius = sqrt(-2.0 * log(uniform(bits[date / 2 % 2 * 2])));
            double angle = 6.283185307179586 * uniform(bits[date / 2 % 2 * 2 + 1]);
            level += drift + spread * radius * (date % 2 ? sin(angle) : cos(angle));
            total += exp2(level);
        }
        sum += fmax(spot * total / DATES - strike, 0.0);
    }
    return sum;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "montecarlo",
        .summary = "Pi and the price of an Asian option by random numbers from counters.",
        .inputs = {"16,384 points, 1,024 paths", "1,228,800 points, 51,200 paths", "16,384,000 points, 768,000 paths"},
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    int blocks = inputs[size].blocks, rounds = inputs[size].rounds, asian_blocks = inputs[size].asian_blocks;
    float *expected = workload_alloc(asian_blocks, sizeof(float));
    float arguments[] = {spot, strike, drift, spread};
    struct gpu gpu;

    seed = workload_seed(2011);
    uint32_t expected_inside = reference_pi(blocks * BLOCK, rounds);
    for (int block = 0; block < asian_blocks; block++)
        expected[block] = reference_asian(block);
    gpu_open(&gpu);
    CUdeviceptr inside = gpu_alloc_zeroed(sizeof(uint32_t)), sums = gpu_alloc_zeroed(asian_blocks * sizeof(float));
    gpu_launch_named(&gpu, "montecarlo_pi", blocks, BLOCK, (void *[]){&inside, &rounds, &seed});
    gpu_launch_named(&gpu, "montecarlo_asian", asian_blocks, BLOCK,
                     (void *[]){&sums, &arguments[0], &arguments[1], &arguments[2], &arguments[3], &seed});
    size_t mismatches = array_check_u32("points inside", inside, &expected_inside, 1);
    mismatches += array_check("payment of a block", sums, expected, asian_blocks, 1e-3f, 0.0f);
    gpu_free(inside);
    gpu_free(sums);
    gpu_close(&gpu);
    free(expected);
    return workload_verdict(&workload, mismatches, 1 + (size_t)asian_blocks, "sums");
}
