/*
 * stream: the four vector operations of the STREAM benchmark (copy, scale, add, triad), one thread per element, and a
 * copy of four floats per thread.
 */
#include "device_warp.h"

extern "C" __global__ void stream_copy(const float *a, float *c, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        c[i] = a[i];
}

extern "C" __global__ void stream_scale(const float *c, float *b, float factor, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        b[i] = __fmul_rn(factor, c[i]);
}

extern "C" __global__ void stream_add(const float *a, const float *b, float *c, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        c[i] = __fadd_rn(a[i], b[i]);
}

extern "C" __global__ void stream_triad(const float *b, const float *c, float *a, float factor, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        a[i] = __fmaf_rn(factor, c[i], b[i]);
}

/* Threads step over the array by the size of the grid, 16 bytes each time. */
extern "C" __global__ void stream_copy_vector(const float4 *a, float4 *c, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        c[i] = a[i];
}
