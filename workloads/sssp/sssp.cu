/*
 * sssp: shortest ways from one node by relaxation (Bellman and Ford) with a work list: sssp_relax takes the nodes of the
 * list, a warp per node, and lowers its targets by atomic minima; sssp_collect makes the next list from the nodes that
 * were lowered, with one place on the list for each warp by an atomic and a ballot. Lengths are integers.
 */
#include "device_warp.h"

enum { BLOCK = 256 };

extern "C" __global__ void sssp_relax(const int *__restrict__ starts, const int *__restrict__ targets,
                                      const int *__restrict__ lengths, const int *__restrict__ list, int *distances,
                                      int *lowered, int count)
{
    int i = (blockIdx.x * BLOCK + threadIdx.x) / LANES;

    if (i >= count)
        return;
    int node = list[i];
    int distance = distances[node], end = starts[node + 1];
    for (int edge = starts[node] + threadIdx.x % LANES; edge < end; edge += LANES) {
        int target = targets[edge], reached = distance + lengths[edge];
        if (reached < distances[target] && reached < atomicMin(&distances[target], reached))
            lowered[target] = 1;
    }
}

extern "C" __global__ void sssp_collect(int *lowered, int *list, unsigned *count, int nodes)
{
    int node = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % LANES;
    bool is_lowered = node < nodes && lowered[node];
    unsigned lanes = __ballot_sync(ALL_LANES, is_lowered);
    unsigned first = 0;

    if (lanes == 0)
        return;
    if (lane == 0)
        first = atomicAdd(count, (unsigned)__popc(lanes));
    first = __shfl_sync(ALL_LANES, first, 0);
    if (is_lowered) {
        list[first + __popc(lanes & ((1u << lane) - 1))] = node;
        lowered[node] = 0;
    }
}
