/*
 * device_double.h: what device.h is for single precision, for the kernels that compute in double precision: arithmetic
 * that is never contracted, in terms of clang's builtins. nvcc brings all of it
 * itself. */
#ifndef WORKLOADS_DEVICE_DOUBLE_H
#define WORKLOADS_DEVICE_DOUBLE_H

#include "device.h"

#ifndef __NVCC__

static inline __device__ double __dadd_rn(double a, double b) { return __nvvm_add_rn_d(a, b); }
static inline __device__ double __dsub_rn(double a, double b) { return __nvvm_add_rn_d(a, -b); }
static inline __device__ double __dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
static inline __device__ double __fma_rn(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
static inline __device__ double __ddiv_rn(double a, double b) { return __nvvm_div_rn_d(a, b); }

static inline __device__ double __longlong_as_double(long long bits) { return __nvvm_bitcast_ll2d(bits); }

#endif

#endif
