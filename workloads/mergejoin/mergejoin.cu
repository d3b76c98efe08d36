/*
 * mergejoin: what two sorted lists have in common, one thread per pair of lists.
 *
 * Which list a thread advances depends on the data, so a lane needs the next line of either list at a time of its own;
 * lists differ in length, and lanes leave one by one. Both streams are diverged, and are reused by the same thread.
 */
#include "device.h"

extern "C" __global__ void mergejoin(const int *left_starts, const int *left, const int *right_starts,
                                     const int *right, int *counts, unsigned *sums, int pair_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < pair_count) {
        int i = left_starts[tid], left_end = left_starts[tid + 1];
        int j = right_starts[tid], right_end = right_starts[tid + 1];
        int count = 0;
        unsigned sum = 0;
        while (i < left_end && j < right_end) {
            int first = left[i], second = right[j];
            if (first < second) {
                i++;
                keep_branch();
            } else if (first > second) {
                j++;
                keep_branch();
            } else {
                count++;
                sum += first;
                i++;
                j++;
            }
        }
        counts[tid] = count;
        sums[tid] = sum;
    }
}
