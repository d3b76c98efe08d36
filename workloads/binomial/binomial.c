/* binomial: host program; see binomial.cu for what the kernel does. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, MAX_OPTIONS = 1024, MAX_STEPS = 8192 };

#define INTEREST 0.05 /* per year, compounded continuously */

struct problem {
    long options;
    long steps;
};

/* The paper does not say how many options it prices; its count of instructions fits one. */
static const struct problem problems[SIZE_COUNT] = {{3, 300}, {30, 512}, {1, 2048}};

/* As in binomial.cu. */
struct option_terms {
    float price;
    float strike;
    float step;
    float rise;
    float fall;
};

/* Terms of up to two years. The share rises or falls by what its volatility makes of one step's time. */
static void options_random(struct option_terms *options, const struct problem *problem)
{
    uint64_t state = workload_seed(BLOCK);

    for (long i = 0; i < problem->options; i++) {
        double years_per_step = (0.25 + 1.75 * random_float(&state)) / problem->steps;
        double step = (0.1 + 0.3 * random_float(&state)) * sqrt(years_per_step);
        double growth = exp(INTEREST * years_per_step);
        double chance_of_rise = (growth - exp(-step)) / (exp(step) - exp(-step));

        options[i].price = 5.0f + 25.0f * random_float(&state);
        options[i].strike = options[i].price * (0.7f + 0.6f * random_float(&state));
        options[i].step = step;
        options[i].rise = chance_of_rise / growth;
        options[i].fall = (1.0 - chance_of_rise) / growth;
    }
}

/* Operation by operation what the kernel does. */
static float exponential(float x)
{
    static const float factors[] = {0x1.111112p-7f, 0x1.555556p-5f, 0x1.555556p-3f, 0.5f, 1.0f, 1.0f};
    const float whole_numbers = 0x1.8p+23f;
    float twos = fmaf(x, 0x1.715476p+0f, whole_numbers) - whole_numbers;
    float rest = fmaf(twos, -0x1.7f7d1cp-20f, fmaf(twos, -0x1.62e4p-1f, x));
    float sum = 0x1.6c16c2p-10f;

    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        sum = fmaf(rest, sum, factors[i]);
    return sum * ldexpf(1.0f, twos);
}

static void price_reference(const struct problem *problem, const struct option_terms *options, float *values)
{
    long steps = problem->steps;
    float *nodes = workload_alloc(steps + 1, sizeof(float));

    for (long i = 0; i < problem->options; i++) {
        const struct option_terms *option = &options[i];
        for (long node = 0; node <= steps; node++) {
            float gain = option->price * exponential(option->step * (2 * node - steps)) - option->strike;
            nodes[node] = gain > 0.0f ? gain : 0.0f;
        }
        for (long level = steps - 1; level >= 0; level--) {
            for (long node = 0; node <= level; node++)
                nodes[node] = fmaf(option->rise, nodes[node + 1], option->fall * nodes[node]);
        }
        values[i] = nodes[0];
    }
    free(nodes);
}

static void price_on_device(const struct gpu *gpu, const struct problem *problem, const struct option_terms *options,
                            float *values)
{
    unsigned blocks = problem->options;
    int steps = problem->steps;
    CUdeviceptr nodes = gpu_alloc_zeroed((size_t)blocks * (steps + 1) * sizeof(float));
    CUdeviceptr out = gpu_alloc_zeroed(blocks * sizeof(float));
    void *arguments[] = {&nodes, &out, &steps};

    gpu_fill_constant(gpu, "binomial_options", options, MAX_OPTIONS * sizeof *options);
    gpu_launch(gpu_kernel(gpu, "binomial"), (struct shape){blocks, 1}, (struct shape){BLOCK, 1}, arguments);
    gpu_download(values, out, blocks * sizeof(float));
    gpu_free(nodes);
    gpu_free(out);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0};
    const struct workload_option options[] = {
        {"options", "options to price", &given.options, MAX_OPTIONS},
        {"steps", "levels of the tree", &given.steps, MAX_STEPS},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "binomial",
        .summary = "Prices of call options by the binomial model, one tree per block of 256 threads.",
        .inputs = {"3 options, 300 steps", "30 options, 512 steps", "1 option, 2,048 steps"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    struct gpu gpu;

    if (given.options)
        problem.options = given.options;
    if (given.steps)
        problem.steps = given.steps;
    struct option_terms *terms = workload_alloc(MAX_OPTIONS, sizeof *terms);
    float *values = workload_alloc(problem.options, sizeof(float));
    float *expected = workload_alloc(problem.options, sizeof(float));
    options_random(terms, &problem);
    gpu_open(&gpu);
    price_on_device(&gpu, &problem, terms, values);
    gpu_close(&gpu);
    price_reference(&problem, terms, expected);
    size_t mismatches = compare_f32("value", values, expected, problem.options);
    free(terms);
    free(values);
    free(expected);
    return workload_verdict(&workload, mismatches, problem.options, "values of options");
}
