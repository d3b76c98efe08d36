/*
 * bfs: level-synchronous breadth-first search, one thread a node, two kernels a level.
 *
 * bfs_expand gives every unvisited neighbour of the frontier its cost; bfs_advance makes the nodes found the next
 * frontier. Several threads may store to one neighbour, all of them the same value.
 */
#include "device.h"

struct node {
    int first_edge;
    int edge_count;
};

extern "C" __global__ void bfs_expand(const node *nodes, const int *edges, unsigned char *frontier, unsigned char *found,
                                      const unsigned char *visited, int *cost, int node_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < node_count && frontier[tid]) {
        frontier[tid] = 0;
        for (int i = nodes[tid].first_edge; i < nodes[tid].first_edge + nodes[tid].edge_count; i++) {
            int target = edges[i];
            if (!visited[target]) {
                cost[target] = cost[tid] + 1;
                found[target] = 1;
            }
            /* The bound is two loads in every iteration, hits nearly always: part of the behaviour studied. */
            forget_loaded_values();
        }
    }
}

extern "C" __global__ void bfs_advance(unsigned char *frontier, unsigned char *found, unsigned char *visited, int *again,
                                       int node_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < node_count && found[tid]) {
        frontier[tid] = 1;
        visited[tid] = 1;
        *again = 1;
        found[tid] = 0;
    }
}
