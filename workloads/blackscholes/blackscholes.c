/* blackscholes: host program; see blackscholes.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "workload.h"

enum { BLOCK = 256 };

static const int counts[SIZE_COUNT] = {5000, 100000, 1000000};
static const float rate = 0.02f, volatility = 0.3f;

static double normal(double x) { return 0.5 * erfc(-x * sqrt(0.5)); }

static double call_price(double spot, double strike, double years, double sigma)
{
    double d1 = (log(spot / strike) + (rate + 0.5 * sigma * sigma) * years) / (sigma * sqrt(years));

    return spot * normal(d1) - strike * exp(-rate * years) * normal(d1 - sigma * sqrt(years));
}

/* Volatilities are compared by the price they give: where that hardly depends on them, many explain it. */
static size_t check_volatilities(CUdeviceptr memory, const float *spots, const float *strikes, const float *years,
                                 const float *prices, int count)
{
    float *got = workload_alloc(count, sizeof(float));

    gpu_download(got, memory, count * sizeof(float));
    for (int i = 0; i < count; i++)
        got[i] = call_price(spots[i], strikes[i], years[i], got[i]);
    size_t mismatches = compare_f32_close("price at the volatility found", got, prices, count, 0.0f, 5e-3f);
    free(got);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "blackscholes",
        .summary = "Prices of options by a formula, and the volatility that explains a price.",
        .inputs = {"5,000 options", "100,000 options", "1,000,000 options"},
    };
    int count = counts[workload_parse(&workload, argc, argv)];
    size_t bytes = count * sizeof(float);
    uint64_t state = workload_seed(1973);
    float *spots = array_of_floats(count, 20.0f, 30.0f, &state),
          *strikes = array_of_floats(count, 20.0f, 30.0f, &state);
    float *years = array_of_floats(count, 0.5f, 3.0f, &state), *sigmas = array_of_floats(count, 0.15f, 0.9f, &state);
    float *calls = workload_alloc(count, sizeof(float)), *puts = workload_alloc(count, sizeof(float));
    float *prices = workload_alloc(count, sizeof(float)), the_rate = rate, the_volatility = volatility;
    struct gpu gpu;

    for (int i = 0; i < count; i++) {
        calls[i] = call_price(spots[i], strikes[i], years[i], volatility);
        puts[i] = calls[i] - spots[i] + strikes[i] * exp(-rate * years[i]);
        prices[i] = call_price(spots[i], strikes[i], years[i], sigmas[i]);
    }
    gpu_open(&gpu);
    CUdeviceptr spot_memory = gpu_upload(spots, bytes), strike_memory = gpu_upload(strikes, bytes);
    CUdeviceptr year_memory = gpu_upload(years, bytes), price_memory = gpu_upload(prices, bytes);
    CUdeviceptr first = gpu_alloc_zeroed(bytes), second = gpu_alloc_zeroed(bytes);
    unsigned blocks = gpu_blocks(count, BLOCK);
    gpu_launch_named(
        &gpu, "blackscholes_price", blocks, BLOCK,
        (void *[]){&spot_memory, &strike_memory, &year_memory, &first, &second, &the_rate, &the_volatility, &count});
    size_t mismatches = array_check("call", first, calls, count, 1e-4f, 1e-3f);
    mismatches += array_check("put", second, puts, count, 1e-4f, 1e-3f);
    gpu_launch_named(&gpu, "blackscholes_volatility", blocks, BLOCK,
                     (void *[]){&spot_memory, &strike_memory, &year_memory, &price_memory, &first, &the_rate, &count});
    mismatches += check_volatilities(first, spots, strikes, years, prices, count);
    CUdeviceptr all[] = {spot_memory, strike_memory, year_memory, price_memory, first, second};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
    gpu_close(&gpu);
    float *host[] = {spots, strikes, years, sigmas, calls, puts, prices};
    for (size_t i = 0; i < sizeof host / sizeof *host; i++)
        free(host[i]);
    return workload_verdict(&workload, mismatches, 3 * (size_t)count, "prices and volatilities");
}
