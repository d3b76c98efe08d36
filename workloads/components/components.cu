/*
 * components: which nodes of a graph hang together: every node points to one with a lower number until all of a
 * component point to its lowest. components_hook takes an edge per thread and hooks the root of the higher end below
 * that of the lower by an atomic minimum; components_jump then follows pointers until each leads to a root. Both read
 * one copy of the pointers and write the other, so that what is done does not depend on who comes first.
 */
#include "device_warp.h"

enum { BLOCK = 256 };

extern "C" __global__ void components_hook(const int *__restrict__ sources, const int *__restrict__ targets,
                                           const int *__restrict__ parents, int *next, int *changed, int edges)
{
    int edge = blockIdx.x * BLOCK + threadIdx.x;

    if (edge >= edges)
        return;
    int a = parents[sources[edge]], b = parents[targets[edge]];
    if (a == b)
        return;
    int high = a > b ? a : b, low = a > b ? b : a;
    atomicMin(&next[high], low);
    *changed = 1;
}

extern "C" __global__ void components_jump(const int *__restrict__ next, int *__restrict__ parents, int nodes)
{
    int node = blockIdx.x * BLOCK + threadIdx.x;

    if (node >= nodes)
        return;
    int parent = next[node], above = next[parent];
    while (parent != above) {
        parent = above;
        above = next[parent];
    }
    parents[node] = parent;
}
