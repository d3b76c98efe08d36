/*
 * sssp-topology: shortest ways from one node, one thread per node in every round, whether it has work or not
 * (Harish and Narayanan, 2007); workload sssp keeps a work list instead.
 *
 * sssp_topology_relax: a node that came nearer in the last round lowers the next distances of its targets by atomic
 * minima. Its loop runs over the node's edges: target and length (diverged, reused by the same thread), and an atomic
 * at a random place. sssp_topology_settle takes over the distances that were lowered. Distances are read from one array
 * and lowered in the other, so that a round does not depend on who comes first. Lengths are integers.
 */
#include "device.h"

static inline __device__ void atomic_least(int *at, int value) { __nvvm_atom_min_gen_i(at, value); }

extern "C" __global__ void sssp_topology_relax(const int *starts, const int *targets, const int *lengths,
                                               unsigned char *is_lowered, const int *distances, int *next,
                                               int node_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < node_count && is_lowered[tid]) {
        int distance = distances[tid];
        int end = starts[tid + 1];
        is_lowered[tid] = 0;
#pragma unroll 1
        for (int i = starts[tid]; i < end; i++)
            atomic_least(&next[targets[i]], distance + lengths[i]);
    }
}

extern "C" __global__ void sssp_topology_settle(unsigned char *is_lowered, int *distances, const int *next, int *again,
                                                int node_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < node_count && next[tid] < distances[tid]) {
        distances[tid] = next[tid];
        is_lowered[tid] = 1;
        *again = 1;
    }
}
