/*
 * blackscholes: prices of European options by the formula of Black and Scholes; the normal distribution by a polynomial
 * of degree five (Abramowitz and Stegun, 26.2.17). blackscholes_volatility finds the volatility that explains a price,
 * by Newton's method until it is near enough: the steps depend on the option.
 */
#include "device_warp.h"

enum { BLOCK = 256, STEPS = 16 };
#define LOG2_E 0x1.715476p+0f

static inline __device__ float density(float x) { return 0.39894228f * exp2_approx(-0.5f * LOG2_E * x * x); }

static inline __device__ float normal(float x)
{
    float t = __fdividef(1.0f, __fmaf_rn(0.2316419f, fabsf(x), 1.0f));
    float sum = __fmaf_rn(t, 1.330274429f, -1.821255978f);

    sum = __fmaf_rn(t, sum, 1.781477937f);
    sum = __fmaf_rn(t, sum, -0.356563782f);
    sum = __fmaf_rn(t, sum, 0.319381530f);
    float tail = density(x) * t * sum;
    return x > 0.0f ? 1.0f - tail : tail;
}

/* Price of a call, and how it grows with the volatility. */
static inline __device__ float call_price(float spot, float strike, float years, float rate, float volatility,
                                          float *slope)
{
    float root = __fsqrt_rn(years);
    float spread = volatility * root;
    float d1 =
        __fdividef(__logf(__fdividef(spot, strike)) + __fmaf_rn(0.5f * volatility, volatility, rate) * years, spread);
    float d2 = d1 - spread;

    *slope = spot * density(d1) * root;
    return spot * normal(d1) - strike * exp2_approx(-LOG2_E * rate * years) * normal(d2);
}

extern "C" __global__ void blackscholes_price(const float *__restrict__ spots, const float *__restrict__ strikes,
                                              const float *__restrict__ years, float *__restrict__ calls,
                                              float *__restrict__ puts, float rate, float volatility, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float slope;

    if (i >= count)
        return;
    float call = call_price(spots[i], strikes[i], years[i], rate, volatility, &slope);
    calls[i] = call;
    puts[i] = call - spots[i] + strikes[i] * exp2_approx(-LOG2_E * rate * years[i]);
}

extern "C" __global__ void blackscholes_volatility(const float *__restrict__ spots, const float *__restrict__ strikes,
                                                   const float *__restrict__ years, const float *__restrict__ prices,
                                                   float *__restrict__ volatilities, float rate, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i >= count)
        return;
    float spot = spots[i], strike = strikes[i], time = years[i], price = prices[i];
    float volatility = 0.5f;
#pragma unroll 1
    for (int step = 0; step < STEPS; step++) {
        float slope;
        float miss = call_price(spot, strike, time, rate, volatility, &slope) - price;
        if (fabsf(miss) < 1e-4f * spot)
            break;
        volatility = fminf(fmaxf(volatility - __fdividef(miss, slope), 0.01f), 3.0f);
    }
    volatilities[i] = volatility;
}
