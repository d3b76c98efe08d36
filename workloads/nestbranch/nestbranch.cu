/*
 * nestbranch: control flow of most kinds in one kernel: a loop whose trips depend on the data, in it a `continue` and a
 * second such loop with a `break`; atomics to shared memory in the loop, a barrier before and after it, atomics to
 * global memory; a return of about half of the threads, and a last loop for the others. It computes nothing of use.
 */
#include "device.h"

enum { BINS = 32, TRIPS_MASK = 15, INNER_MASK = 31, LAST_TRIPS = 40 };

static inline __device__ unsigned advanced(unsigned state) { return state * 1664525u + 1013904223u; }

/* How often the thread's number is halved, or tripled and made even, before it is 1. */
static inline __device__ int halvings(unsigned number)
{
    int count = 0;

#pragma unroll 1
    while (number > 1 && count < LAST_TRIPS) {
        if (number & 1) {
            number = 3 * number + 1;
            keep_branch();
        } else {
            number /= 2;
            keep_branch();
        }
        count++;
    }
    return count;
}

extern "C" __global__ void nestbranch(const unsigned *seeds, const unsigned *table, unsigned table_mask, int *histogram,
                                      unsigned *results)
{
    __shared__ int bins[BINS];
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = seeds[tid];
    unsigned total = 0;
    int trips = state & TRIPS_MASK;

    if (threadIdx.x < BINS)
        bins[threadIdx.x] = 0;
    __syncthreads();
    forget_loaded_values();
#pragma unroll 1
    for (int i = 0; i <= trips; i++) {
        state = advanced(state);
        if ((state >> 8 & 3) == 0)
            continue;
        int inner_trips = state >> 16 & INNER_MASK;
#pragma unroll 1
        for (int j = 0; j < inner_trips; j++) {
            total += table[(state + j * 7) & table_mask];
            if ((total >> 3 & 15) == 5)
                break;
        }
        atomicAdd(&bins[state >> 27], 1);
    }
    forget_loaded_values();
    __syncthreads();
    forget_loaded_values();
    if (threadIdx.x < BINS)
        atomicAdd(&histogram[threadIdx.x], bins[threadIdx.x]);
    results[tid] = total;
    if (total & 1)
        return;
    results[tid] = total + halvings(total >> 12);
}
