/*
 * reduct: the plainest tree reduction, a sum a block. At step s the threads whose number is a multiple of 2s are active:
 * always the same home lanes, so blocks cannot be compacted without permuting lanes.
 */
#include "device.h"

enum { BLOCK = 128 };

extern "C" __global__ void reduct(const unsigned *in, unsigned *sums, unsigned count)
{
    __shared__ unsigned partial[BLOCK];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;

    partial[tid] = i < count ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0)
            partial[tid] += partial[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = partial[0];
}
