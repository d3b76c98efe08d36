/* array.c: see array.h. */
#include "array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "workload.h"

float *array_of_floats(size_t count, float least, float most, uint64_t *state)
{
    float *numbers = workload_alloc(count, sizeof(float));

    for (size_t i = 0; i < count; i++)
        numbers[i] = least + (most - least) * random_float(state);
    return numbers;
}

uint32_t *array_of_u32(size_t count, uint32_t limit, uint64_t *state)
{
    uint32_t *numbers = workload_alloc(count, sizeof(uint32_t));

    for (size_t i = 0; i < count; i++)
        numbers[i] = random_below(state, limit);
    return numbers;
}

size_t compare_f32_close(const char *what, const float *got, const float *expected, size_t count, float share,
                         float least)
{
    size_t mismatches = 0;

    for (size_t i = 0; i < count; i++) {
        /* A NaN is close to nothing. */
        if (!(fabsf(got[i] - expected[i]) <= least + share * fabsf(expected[i])) && mismatches++ == 0)
            fprintf(stderr, "%s[%zu] is %.9g, expected about %.9g\n", what, i, got[i], expected[i]);
    }
    return mismatches;
}

size_t array_check(const char *what, CUdeviceptr memory, const float *expected, size_t count, float share, float least)
{
    float *got = workload_alloc(count, sizeof(float));

    gpu_download(got, memory, count * sizeof(float));
    size_t mismatches = compare_f32_close(what, got, expected, count, share, least);
    free(got);
    return mismatches;
}

size_t array_check_u32(const char *what, CUdeviceptr memory, const uint32_t *expected, size_t count)
{
    uint32_t *got = workload_alloc(count, sizeof(uint32_t));

    gpu_download(got, memory, count * sizeof(uint32_t));
    size_t mismatches = compare_u32(what, got, expected, count);
    free(got);
    return mismatches;
}

/* Finite values within the range of halves, which is all that the workloads have. */
uint16_t half_of_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000;
    float magnitude = fabsf(value);
    if (magnitude < 0x1p-14f) /* subnormal: a multiple of 2^-24 */
        return sign | (uint32_t)rintf(magnitude * 0x1p24f);
    uint32_t rounded = (bits & 0x7fffffff) + 0xfff + (bits >> 13 & 1);
    return sign | ((rounded >> 13) - ((127 - 15) << 10));
}

float float_of_half(uint16_t half)
{
    int exponent = half >> 10 & 31;
    float fraction = half & 0x3ff;
    float magnitude = exponent ? ldexpf(fraction + 1024.0f, exponent - 25) : ldexpf(fraction, -24);

    return half & 0x8000 ? -magnitude : magnitude;
}

uint16_t *array_of_halves(size_t count, float least, float most, float **floats, uint64_t *state)
{
    uint16_t *halves = workload_alloc(count, sizeof(uint16_t));

    *floats = array_of_floats(count, least, most, state);
    for (size_t i = 0; i < count; i++) {
        halves[i] = half_of_float((*floats)[i]);
        (*floats)[i] = float_of_half(halves[i]);
    }
    return halves;
}
