/*
 * pagerank: one iteration of the rank of pages, three kernels: what each page gives along an edge; pulled, a warp per
 * page over those that link to it; pushed, a thread per page that adds to its targets by atomics.
 */
#include "device_warp.h"

enum { BLOCK = 256 };

extern "C" __global__ void pagerank_share(const float *__restrict__ ranks, const int *__restrict__ starts,
                                          float *__restrict__ shares, float *__restrict__ next, float base, int nodes)
{
    int node = blockIdx.x * BLOCK + threadIdx.x;

    if (node >= nodes)
        return;
    int degree = starts[node + 1] - starts[node];
    shares[node] = degree ? __fdividef(ranks[node], degree) : 0.0f;
    next[node] = base;
}

extern "C" __global__ void pagerank_pull(const int *__restrict__ starts, const int *__restrict__ sources,
                                         const float *__restrict__ shares, float *__restrict__ next, float base,
                                         float damping, int nodes)
{
    int node = (blockIdx.x * BLOCK + threadIdx.x) / LANES;
    float sum = 0.0f;

    if (node >= nodes)
        return;
    int end = starts[node + 1];
    for (int i = starts[node] + threadIdx.x % LANES; i < end; i += LANES)
        sum += shares[sources[i]];
    sum = warp_sum(sum);
    if (threadIdx.x % LANES == 0)
        next[node] = __fmaf_rn(damping, sum, base);
}

extern "C" __global__ void pagerank_push(const int *__restrict__ starts, const int *__restrict__ targets,
                                         const float *__restrict__ shares, float *next, float damping, int nodes)
{
    int node = blockIdx.x * BLOCK + threadIdx.x;

    if (node >= nodes)
        return;
    int end = starts[node + 1];
    float share = damping * shares[node];
    for (int i = starts[node]; i < end; i++)
        atomicAdd(&next[targets[i]], share);
}
