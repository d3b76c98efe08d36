/* sssp: host program; see sssp.cu for what the kernels do. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "gpu.h"
#include "graph.h"
#include "workload.h"

enum { BLOCK = 256, LANES = 32, FAR = 1 << 28 };

static const int node_counts[SIZE_COUNT] = {800, 8000, 60000};

/* In any order: sweeps until nothing changes. */
static void reference(const struct graph *graph, const int *lengths, uint32_t *distances)
{
    int changed = 1;

    for (int node = 1; node < graph->node_count; node++)
        distances[node] = FAR;
    distances[0] = 0;
    while (changed) {
        changed = 0;
        for (int node = 0; node < graph->node_count; node++) {
            for (int i = graph->starts[node]; i < graph->starts[node + 1]; i++) {
                uint32_t reached = distances[node] + lengths[i];
                if (reached < distances[graph->targets[i]]) {
                    distances[graph->targets[i]] = reached;
                    changed = 1;
                }
            }
        }
    }
}

/* Until the list is empty, from node 0. */
static void relax_all(const struct gpu *gpu, const struct graph *graph, CUdeviceptr lengths, CUdeviceptr distances)
{
    int nodes = graph->node_count, count = 1, zero = 0;
    CUdeviceptr starts = gpu_upload(graph->starts, (nodes + 1) * sizeof(int));
    CUdeviceptr targets = gpu_upload(graph->targets, graph->edge_count * sizeof(int));
    CUdeviceptr list = gpu_alloc_zeroed(nodes * sizeof(int)), next = gpu_alloc_zeroed(nodes * sizeof(int));
    CUdeviceptr counter = gpu_alloc_zeroed(sizeof(int));

    CHECK(cuMemcpyDtoD(next, distances, nodes * sizeof(int)));
    while (count) {
        gpu_launch_named(gpu, "sssp_relax", gpu_blocks((size_t)count * LANES, BLOCK), BLOCK,
                         (void *[]){&starts, &targets, &lengths, &list, &distances, &next, &count});
        CHECK(cuMemcpyHtoD(counter, &zero, sizeof zero));
        gpu_launch_named(gpu, "sssp_collect", gpu_blocks(nodes, BLOCK), BLOCK,
                         (void *[]){&distances, &next, &list, &counter, &nodes});
        gpu_download(&count, counter, sizeof count);
    }
    CUdeviceptr all[] = {starts, targets, list, next, counter};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "sssp",
        .summary = "Shortest ways from one node of a graph, by relaxation with a work list.",
        .inputs = {"800 nodes", "8,000 nodes", "60,000 nodes"},
    };
    int nodes = node_counts[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(1958);
    struct graph graph;
    struct gpu gpu;

    graph_make(&graph, nodes, 8, &state);
    int *lengths = workload_alloc(graph.edge_count, sizeof(int));
    uint32_t *distances = workload_alloc(nodes, sizeof(uint32_t));
    for (int i = 0; i < graph.edge_count; i++)
        lengths[i] = graph.weights[i];
    for (int node = 1; node < nodes; node++)
        distances[node] = FAR;
    gpu_open(&gpu);
    CUdeviceptr length_memory = gpu_upload(lengths, graph.edge_count * sizeof(int));
    CUdeviceptr distance_memory = gpu_upload(distances, nodes * sizeof(int));
    relax_all(&gpu, &graph, length_memory, distance_memory);
    reference(&graph, lengths, distances);
    size_t mismatches = array_check_u32("distance", distance_memory, distances, nodes);
    gpu_free(length_memory);
    gpu_free(distance_memory);
    gpu_close(&gpu);
    graph_free(&graph);
    free(lengths);
    free(distances);
    return workload_verdict(&workload, mismatches, nodes, "distances");
}
