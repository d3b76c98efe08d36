/*
 * zipf: one round of pulling over a graph whose nodes differ much in how popular they are, one thread per node.
 *
 * A thread walks its edges (diverged, a stream of its own) and gathers the score of each source, at a random place. A
 * few sources are asked for by most warps, the others hardly ever. Trips differ little from node to node.
 */
#include "device.h"

extern "C" __global__ void zipf_pull(const int *starts, const int *sources, const unsigned *scores, unsigned *pulled,
                                     int node_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < node_count) {
        int end = starts[tid + 1];
        unsigned sum = 0;
#pragma unroll 1
        for (int i = starts[tid]; i < end; i++)
            sum += scores[sources[i]];
        pulled[tid] = sum;
    }
}
