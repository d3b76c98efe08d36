/*
 * sssp: shortest ways from one node by relaxation (Bellman and Ford) with a work list: sssp_relax takes the nodes of
 * the list, a warp per node, and lowers the next distances of its targets by atomic minima; sssp_collect makes the next
 * list from the nodes that were lowered, with one place on the list for each warp by an atomic and a ballot. A round
 * reads the distances of the round before, so that what is done does not depend on who comes first. Lengths are
 * integers.
 */
#include "device_warp.h"

enum { BLOCK = 256 };

extern "C" __global__ void sssp_relax(const int *__restrict__ starts, const int *__restrict__ targets,
                                      const int *__restrict__ lengths, const int *__restrict__ list,
                                      const int *__restrict__ distances, int *next, int count)
{
    int i = (blockIdx.x * BLOCK + threadIdx.x) / LANES;

    if (i >= count)
        return;
    int node = list[i];
    int distance = distances[node], end = starts[node + 1];
    for (int edge = starts[node] + threadIdx.x % LANES; edge < end; edge += LANES) {
        int target = targets[edge], reached = distance + lengths[edge];
        if (reached < distances[target])
            atomicMin(&next[target], reached);
    }
}

extern "C" __global__ void sssp_collect(int *distances, const int *__restrict__ next, int *list, unsigned *count,
                                        int nodes)
{
    int node = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % LANES;
    int distance = node < nodes ? next[node] : 0;
    bool is_lowered = node < nodes && distance < distances[node];
    unsigned lanes = __ballot_sync(ALL_LANES, is_lowered);
    unsigned first = 0;

    if (lanes == 0)
        return;
    if (lane == 0)
        first = atomicAdd(count, (unsigned)__popc(lanes));
    first = __shfl_sync(ALL_LANES, first, 0);
    if (is_lowered) {
        list[first + __popc(lanes & ((1u << lane) - 1))] = node;
        distances[node] = distance;
    }
}
