/*
 * device_bits.h: a float as its bits and back, for kernels that take an exponential or a logarithm apart. nvcc brings
 * both
 * itself. */
#ifndef WORKLOADS_DEVICE_BITS_H
#define WORKLOADS_DEVICE_BITS_H

#include "device.h"

#ifndef __NVCC__

static inline __device__ float __int_as_float(int bits) { return __nvvm_bitcast_i2f(bits); }
static inline __device__ int __float_as_int(float value) { return __nvvm_bitcast_f2i(value); }

#endif

#endif
