/*
 * device_warp.h: what kernels for GPUs of today (sm_80) use beside device.h: exchanges between the lanes of a warp,
 * vectors of two and four words, more atomics, approximate functions. nvcc brings all but the last section itself.
 */
#ifndef WORKLOADS_DEVICE_WARP_H
#define WORKLOADS_DEVICE_WARP_H

#include "device.h"

#ifndef __NVCC__

/*
 * clang's own __syncthreads() does not keep it from loading a shared variable before the barrier, where it has seen
 * every use of that variable: "intrinsics do not write globals". This does.
 */
#define __syncthreads() asm volatile("bar.sync 0;" ::: "memory")

#define __launch_bounds__(THREADS) __attribute__((launch_bounds(THREADS)))

typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef unsigned uint2 __attribute__((ext_vector_type(2)));
typedef unsigned uint4 __attribute__((ext_vector_type(4)));

static inline __device__ int __shfl_xor_sync(unsigned lanes, int value, int mask)
{
    return __nvvm_shfl_sync_bfly_i32(lanes, value, mask, 0x1f);
}
static inline __device__ unsigned __shfl_xor_sync(unsigned lanes, unsigned value, int mask)
{
    return __nvvm_shfl_sync_bfly_i32(lanes, value, mask, 0x1f);
}
static inline __device__ float __shfl_xor_sync(unsigned lanes, float value, int mask)
{
    return __nvvm_shfl_sync_bfly_f32(lanes, value, mask, 0x1f);
}
static inline __device__ float __shfl_down_sync(unsigned lanes, float value, int distance)
{
    return __nvvm_shfl_sync_down_f32(lanes, value, distance, 0x1f);
}
static inline __device__ unsigned __shfl_down_sync(unsigned lanes, unsigned value, int distance)
{
    return __nvvm_shfl_sync_down_i32(lanes, value, distance, 0x1f);
}
static inline __device__ unsigned __shfl_up_sync(unsigned lanes, unsigned value, int distance)
{
    return __nvvm_shfl_sync_up_i32(lanes, value, distance, 0);
}
static inline __device__ unsigned __shfl_sync(unsigned lanes, unsigned value, int lane)
{
    return __nvvm_shfl_sync_idx_i32(lanes, value, lane, 0x1f);
}
static inline __device__ int __shfl_sync(unsigned lanes, int value, int lane)
{
    return __nvvm_shfl_sync_idx_i32(lanes, value, lane, 0x1f);
}
static inline __device__ float __shfl_sync(unsigned lanes, float value, int lane)
{
    return __nvvm_shfl_sync_idx_f32(lanes, value, lane, 0x1f);
}
static inline __device__ unsigned __ballot_sync(unsigned lanes, bool holds)
{
    return __nvvm_vote_ballot_sync(lanes, holds);
}
static inline __device__ void __syncwarp() { __nvvm_bar_warp_sync(0xffffffff); }
static inline __device__ void __threadfence() { __nvvm_membar_gl(); }

static inline __device__ int __popc(unsigned bits) { return __builtin_popcount(bits); }
static inline __device__ int __ffs(unsigned bits) { return __builtin_ffs(bits); }
static inline __device__ float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
static inline __device__ float fminf(float a, float b) { return __builtin_fminf(a, b); }
static inline __device__ float fabsf(float a) { return __builtin_fabsf(a); }
static inline __device__ float floorf(float a) { return __builtin_floorf(a); }
static inline __device__ float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
static inline __device__ float __sinf(float a) { return __nvvm_sin_approx_f(a); }
static inline __device__ float __cosf(float a) { return __nvvm_cos_approx_f(a); }

static inline __device__ unsigned atomicAdd(unsigned *at, unsigned value)
{
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
static inline __device__ float atomicAdd(float *at, float value) { return __nvvm_atom_add_gen_f(at, value); }
static inline __device__ int atomicMin(int *at, int value) { return __nvvm_atom_min_gen_i(at, value); }
static inline __device__ unsigned atomicMin(unsigned *at, unsigned value) { return __nvvm_atom_min_gen_ui(at, value); }
static inline __device__ unsigned atomicCAS(unsigned *at, unsigned expected, unsigned value)
{
    return __nvvm_atom_cas_gen_i((int *)at, expected, value);
}

/* Four products of signed bytes, added to c. */
static inline __device__ int __dp4a(int a, int b, int c)
{
    int sum;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
    return sum;
}

#endif

enum { LANES = 32 };
#define ALL_LANES 0xffffffffu

/* 2^x, the one instruction. */
static inline __device__ float exp2_approx(float x)
{
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

static inline __device__ float rsqrt_approx(float x)
{
    float result;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

/* The sum, or the greatest, of a warp's values, in all of its lanes. */
static inline __device__ float warp_sum(float value)
{
    for (int mask = LANES / 2; mask > 0; mask /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, mask);
    return value;
}

static inline __device__ float warp_max(float value)
{
    for (int mask = LANES / 2; mask > 0; mask /= 2)
        value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, mask));
    return value;
}

/* The same of a block's values, in all of its threads; `partial` is for one value per warp. */
static inline __device__ float block_sum(float value, float *partial)
{
    int warps = blockDim.x / LANES;

    value = warp_sum(value);
    __syncthreads();
    if (threadIdx.x % LANES == 0)
        partial[threadIdx.x / LANES] = value;
    __syncthreads();
    return warp_sum((int)(threadIdx.x % LANES) < warps ? partial[threadIdx.x % LANES] : 0.0f);
}

static inline __device__ float block_max(float value, float *partial)
{
    int warps = blockDim.x / LANES;

    value = warp_max(value);
    __syncthreads();
    if (threadIdx.x % LANES == 0)
        partial[threadIdx.x / LANES] = value;
    __syncthreads();
    return warp_max(partial[(int)(threadIdx.x % LANES) < warps ? threadIdx.x % LANES : 0]);
}

#endif
