/*
 * triangles: how many triangles a graph has. Edges go from nodes with fewer neighbours to nodes with more; each edge
 * counts the neighbours that its ends share: a thread per edge that merges the two sorted lists, or a warp per edge
 * that looks up one list's members in the other by bisection.
 */
#include "device_warp.h"

enum { BLOCK = 256 };

extern "C" __global__ void triangles_merge(const int *__restrict__ starts, const int *__restrict__ targets,
                                           const int *__restrict__ sources, unsigned *__restrict__ counts, int edges)
{
    int edge = blockIdx.x * BLOCK + threadIdx.x;
    unsigned shared = 0;

    if (edge >= edges)
        return;
    int i = starts[sources[edge]], i_end = starts[sources[edge] + 1];
    int j = starts[targets[edge]], j_end = starts[targets[edge] + 1];
    while (i < i_end && j < j_end) {
        int a = targets[i], b = targets[j];
        shared += a == b;
        i += a <= b;
        j += b <= a;
    }
    counts[edge] = shared;
}

extern "C" __global__ void triangles_bisect(const int *__restrict__ starts, const int *__restrict__ targets,
                                            const int *__restrict__ sources, unsigned *__restrict__ counts, int edges)
{
    int edge = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
    unsigned shared = 0;

    if (edge >= edges)
        return;
    int first = starts[targets[edge]], last = starts[targets[edge] + 1];
    int end = starts[sources[edge] + 1];
    for (int i = starts[sources[edge]] + threadIdx.x % LANES; i < end; i += LANES) {
        int wanted = targets[i], low = first, high = last;
        while (low < high) {
            int middle = (low + high) / 2;
            if (targets[middle] < wanted)
                low = middle + 1;
            else
                high = middle;
        }
        shared += low < last && targets[low] == wanted;
    }
    for (int mask = LANES / 2; mask > 0; mask /= 2)
        shared += __shfl_xor_sync(ALL_LANES, shared, mask);
    if (threadIdx.x % LANES == 0)
        counts[edge] = shared;
}
