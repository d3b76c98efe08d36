/* array.h: arrays of random numbers, comparison within a tolerance, and halves, for workloads that compute with them.
 */
#ifndef WORKLOADS_ARRAY_H
#define WORKLOADS_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "gpu.h"

float *array_of_floats(size_t count, float least, float most, uint64_t *state);
uint32_t *array_of_u32(size_t count, uint32_t limit, uint64_t *state);

/*
 * How many elements are further from what is expected than `share` of it and `least` together. For sums whose order is
 * the device's own. The first is described on stderr.
 */
size_t compare_f32_close(const char *what, const float *got, const float *expected, size_t count, float share,
                         float least);

/* The same of `count` elements in the device's memory. */
size_t array_check(const char *what, CUdeviceptr memory, const float *expected, size_t count, float share, float least);
size_t array_check_u32(const char *what, CUdeviceptr memory, const uint32_t *expected, size_t count);

/* IEEE half precision: to the nearest, ties to even. */
uint16_t half_of_float(float value);
float float_of_half(uint16_t half);

/* `count` halves between the two, and the same values as floats in `floats`. */
uint16_t *array_of_halves(size_t count, float least, float most, float **floats, uint64_t *state);

#endif
