/*
 * bitonic: each block sorts its own 256 keys in shared memory by a bitonic network, one thread a key.
 *
 * Who works at a step, and in which direction, follows from the thread's number; whether it swaps, from the data. A
 * barrier a step.
 */
#include "device.h"

enum { KEYS = 256 };

static inline __device__ void swap(unsigned *a, unsigned *b)
{
    unsigned old = *a;

    *a = *b;
    *b = old;
}

extern "C" __global__ void bitonic(unsigned *keys)
{
    __shared__ unsigned sorted[KEYS];
    unsigned tid = threadIdx.x;

    keys += blockIdx.x * KEYS;
    sorted[tid] = keys[tid];
    __syncthreads();
#pragma unroll 1
    for (unsigned k = 2; k <= KEYS; k *= 2) {
#pragma unroll 1
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned partner = tid ^ j;
            if (partner > tid) {
                if ((tid & k) == 0) {
                    if (sorted[tid] > sorted[partner])
                        swap(&sorted[tid], &sorted[partner]);
                } else {
                    if (sorted[tid] < sorted[partner])
                        swap(&sorted[tid], &sorted[partner]);
                }
            }
            __syncthreads();
        }
    }
    keys[tid] = sorted[tid];
}
