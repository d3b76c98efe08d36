/*
 * device.h: the little of CUDA C that the workloads' kernels use, for a clang without the CUDA toolkit.
 *
 * clang knows the language (-x cuda); what NVIDIA's headers add to it is spelled out here in terms of clang's own
 * builtins. Under nvcc, which brings all of this itself, only the last section is left.
 *
 * Arithmetic whose exact result is checked is written with the __f*_rn functions: those are never contracted, so the
 * host's reference can repeat them operation by operation. Left out: everything no workload has needed
 * yet. */
#ifndef WORKLOADS_DEVICE_H
#define WORKLOADS_DEVICE_H

#ifndef __NVCC__

#define __global__   __attribute__((global))
#define __device__   __attribute__((device))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))

/* threadIdx.x and its like read a special register each: a property has a getter and no storage. */
#define DEVICE_INDEX(NAME, REGISTER)                                                                \
    struct NAME##_registers {                                                                       \
        __declspec(property(get = get_x)) unsigned x;                                               \
        __declspec(property(get = get_y)) unsigned y;                                               \
        __declspec(property(get = get_z)) unsigned z;                                               \
        static inline __device__ unsigned get_x() { return __nvvm_read_ptx_sreg_##REGISTER##_x(); } \
        static inline __device__ unsigned get_y() { return __nvvm_read_ptx_sreg_##REGISTER##_y(); } \
        static inline __device__ unsigned get_z() { return __nvvm_read_ptx_sreg_##REGISTER##_z(); } \
    };                                                                                              \
    extern const __device__ __attribute__((weak)) NAME##_registers NAME

DEVICE_INDEX(threadIdx, tid);
DEVICE_INDEX(blockIdx, ctaid);
DEVICE_INDEX(blockDim, ntid);
DEVICE_INDEX(gridDim, nctaid);

/* __syncthreads() is a builtin of clang already. */

static inline __device__ float __fadd_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }
static inline __device__ float __fsub_rn(float a, float b) { return __nvvm_add_rn_f(a, -b); }
static inline __device__ float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
static inline __device__ float __fmaf_rn(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
static inline __device__ float __fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
static inline __device__ float __fsqrt_rn(float a) { return __nvvm_sqrt_rn_f(a); }

static inline __device__ int atomicAdd(int *at, int value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
static inline __device__ int atomicExch(int *at, int value) { return __atomic_exchange_n(at, value, __ATOMIC_RELAXED); }

/* The fast ones: one approximate instruction on base 2, its argument or result scaled. No two GPUs need agree on the
 * bits. */
static inline __device__ float __expf(float x) { return __nvvm_ex2_approx_f(__nvvm_mul_rn_f(x, 0x1.715476p+0f)); }
static inline __device__ float __logf(float x) { return __nvvm_mul_rn_f(__nvvm_lg2_approx_f(x), 0x1.62e43p-1f); }

#endif

typedef unsigned long long texture_1d; /* a texture object, as cuTexObjectCreate returns it */

/* The element at an integer position of a texture over linear memory (PTX ISA, "tex"). */
static inline __device__ float texture_fetch(texture_1d texture, int position)
{
    float x, y __attribute__((unused)), z __attribute__((unused)), w __attribute__((unused));
    asm("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
        : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
        : "l"(texture), "r"(position));
    return x;
}

/* Nothing read before it is kept in a register across it: what follows is loaded again. No instruction of its own. */
static inline __device__ void forget_loaded_values() { asm volatile("" ::: "memory"); }

/* In the body of an `if`: it stays a branch, where the compiler would rather select between two values. No
 * instruction. */
static inline __device__ void keep_branch() { asm volatile(""); }

#endif
