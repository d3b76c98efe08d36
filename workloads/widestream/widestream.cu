/*
 * widestream: six streams per thread, all of them diverged: a warp has 192 lines in use at a time, more than half of a
 * cache of 256. Each line serves its thread in 32 trips running. No branch diverges.
 */
#include "device.h"

enum { STREAMS = 6 };

static inline __device__ unsigned mixed(unsigned sum, unsigned word) { return (sum << 5 | sum >> 27) ^ word; }

/* The streams of a thread lie one after the other. */
extern "C" __global__ void widestream(const unsigned *words, unsigned *sums, int thread_count, int length)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < thread_count) {
        const unsigned *stream = words + tid * STREAMS * length;
        unsigned sum = tid;
#pragma unroll 1
        for (int i = 0; i < length; i++) {
#pragma unroll
            for (int j = 0; j < STREAMS; j++)
                sum = mixed(sum, stream[j * length + i]);
        }
        sums[tid] = sum;
    }
}
