/* triangles: host program; see triangles.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "graph.h"
#include "workload.h"

enum { BLOCK = 256, LANES = 32 };

static const int node_counts[SIZE_COUNT] = {300, 3000, 40000};

/* A mark for each neighbour of the source, then a look at each neighbour of the target. */
static void reference(const struct graph *graph, uint32_t *counts)
{
    int *marks = workload_alloc(graph->node_count, sizeof(int));

    for (int node = 0; node < graph->node_count; node++) {
        for (int i = graph->starts[node]; i < graph->starts[node + 1]; i++)
            marks[graph->targets[i]] = node + 1;
        for (int i = graph->starts[node]; i < graph->starts[node + 1]; i++) {
            int target = graph->targets[i];
            for (int j = graph->starts[target]; j < graph->starts[target + 1]; j++)
                counts[i] += marks[graph->targets[j]] == node + 1;
        }
    }
    free(marks);
}

static size_t count_both_ways(const struct gpu *gpu, const struct graph *graph)
{
    int edges = graph->edge_count;
    int *sources = workload_alloc(edges, sizeof(int));
    uint32_t *expected = workload_alloc(edges, sizeof(uint32_t));

    for (int node = 0; node < graph->node_count; node++) {
        for (int i = graph->starts[node]; i < graph->starts[node + 1]; i++)
            sources[i] = node;
    }
    reference(graph, expected);
    CUdeviceptr starts = gpu_upload(graph->starts, (graph->node_count + 1) * sizeof(int));
    CUdeviceptr targets = gpu_upload(graph->targets, edges * sizeof(int));
    CUdeviceptr source_memory = gpu_upload(sources, edges * sizeof(int));
    CUdeviceptr counts = gpu_alloc_zeroed(edges * sizeof(uint32_t));
    void *arguments[] = {&starts, &targets, &source_memory, &counts, &edges};
    gpu_launch_named(gpu, "triangles_merge", gpu_blocks(edges, BLOCK), BLOCK, arguments);
    size_t mismatches = array_check_u32("merged", counts, expected, edges);
    gpu_launch_named(gpu, "triangles_bisect", gpu_blocks((size_t)edges * LANES, BLOCK), BLOCK, arguments);
    mismatches += array_check_u32("bisected", counts, expected, edges);
    gpu_free(starts);
    gpu_free(targets);
    gpu_free(source_memory);
    gpu_free(counts);
    free(sources);
    free(expected);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "triangles",
        .summary = "Triangles of a graph, counted by merging and by bisection.",
        .inputs = {"300 nodes", "3,000 nodes", "40,000 nodes"},
    };
    int nodes = node_counts[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(3);
    struct graph graph, oriented;
    struct gpu gpu;

    graph_make(&graph, nodes, 6, &state);
    graph_orient(&oriented, &graph);
    gpu_open(&gpu);
    size_t mismatches = count_both_ways(&gpu, &oriented);
    gpu_close(&gpu);
    size_t compared = 2 * (size_t)oriented.edge_count;
    graph_free(&graph);
    graph_free(&oriented);
    return workload_verdict(&workload, mismatches, compared, "counts of edges");
}
