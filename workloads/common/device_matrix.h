/*
 * device_matrix.h: the instructions of tensor cores and asynchronous copies (PTX ISA, "mma", "ldmatrix", "cp.async"),
 * which clang 14 has no builtins for. Halves are kept two in a register, the lower one first.
 */
#ifndef WORKLOADS_DEVICE_MATRIX_H
#define WORKLOADS_DEVICE_MATRIX_H

#include "device_warp.h"

typedef unsigned short half_bits;

/* Where a pointer to shared memory points, as those instructions take it. */
static inline __device__ unsigned shared_address(const void *pointer)
{
    return (unsigned)(unsigned long long)(const __attribute__((address_space(3))) char *)pointer;
}

/* 16 bytes from global to shared memory, past the registers and the L1. */
static inline __device__ void copy_async(unsigned to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
static inline __device__ void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int GROUPS> static inline __device__ void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
}

/* Four 8x8 matrices of halves; lane i gives the address of row i % 8 of matrix i / 8. */
static inline __device__ void load_matrices(unsigned (&to)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}
static inline __device__ void load_matrices_turned(unsigned (&to)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}

/* d += a b: 16x16 halves times 16x8 halves, sums in single precision. */
static inline __device__ void multiply_add(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static inline __device__ unsigned pack_halves(float low, float high)
{
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

#endif
