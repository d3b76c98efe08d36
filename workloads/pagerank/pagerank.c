/* pagerank: host program; see pagerank.cu for what the kernels do. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "graph.h"
#include "workload.h"

enum { BLOCK = 256, LANES = 32 };

static const int node_counts[SIZE_COUNT] = {1000, 15000, 150000};
static const float damping = 0.85f;

static void reference(const struct graph *graph, const float *ranks, float *next, float base)
{
    for (int node = 0; node < graph->node_count; node++)
        next[node] = base;
    for (int node = 0; node < graph->node_count; node++) {
        int degree = graph->starts[node + 1] - graph->starts[node];
        for (int i = graph->starts[node]; i < graph->starts[node + 1]; i++)
            next[graph->targets[i]] += damping * ranks[node] / degree;
    }
}

struct edges {
    CUdeviceptr starts, others;
};

static struct edges upload(const struct graph *graph)
{
    return (struct edges){gpu_upload(graph->starts, (graph->node_count + 1) * sizeof(int)),
                          gpu_upload(graph->targets, graph->edge_count * sizeof(int))};
}

/* One iteration from random ranks, both ways. */
static size_t iterate(const struct gpu *gpu, const struct graph *graph, const float *ranks)
{
    int nodes = graph->node_count;
    size_t bytes = nodes * sizeof(float);
    float base = (1.0f - damping) / nodes, factor = damping;
    struct graph reversed;
    graph_reverse(&reversed, graph);
    struct edges out = upload(graph), in = upload(&reversed);
    CUdeviceptr rank_memory = gpu_upload(ranks, bytes), shares = gpu_alloc_zeroed(bytes),
                next = gpu_alloc_zeroed(bytes);
    float *expected = workload_alloc(nodes, sizeof(float));
    void *share_arguments[] = {&rank_memory, &out.starts, &shares, &next, &base, &nodes};

    reference(graph, ranks, expected, base);
    gpu_launch_named(gpu, "pagerank_share", gpu_blocks(nodes, BLOCK), BLOCK, share_arguments);
    gpu_launch_named(gpu, "pagerank_push", gpu_blocks(nodes, BLOCK), BLOCK,
                     (void *[]){&out.starts, &out.others, &shares, &next, &factor, &nodes});
    size_t mismatches = array_check("pushed", next, expected, nodes, 1e-4f, 0.0f);
    gpu_launch_named(gpu, "pagerank_pull", gpu_blocks((size_t)nodes * LANES, BLOCK), BLOCK,
                     (void *[]){&in.starts, &in.others, &shares, &next, &base, &factor, &nodes});
    mismatches += array_check("pulled", next, expected, nodes, 1e-4f, 0.0f);
    CUdeviceptr all[] = {out.starts, out.others, in.starts, in.others, rank_memory, shares, next};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
    free(expected);
    graph_free(&reversed);
    return mismatches;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "pagerank",
        .summary = "One iteration of the rank of pages, pulled and pushed.",
        .inputs = {"1,000 pages", "15,000 pages", "150,000 pages"},
    };
    int nodes = node_counts[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(1998);
    struct graph graph;
    struct gpu gpu;

    graph_make(&graph, nodes, 8, &state);
    float *ranks = array_of_floats(nodes, 0.5f / nodes, 1.5f / nodes, &state);
    gpu_open(&gpu);
    size_t mismatches = iterate(&gpu, &graph, ranks);
    gpu_close(&gpu);
    graph_free(&graph);
    free(ranks);
    return workload_verdict(&workload, mismatches, 2 * (size_t)nodes, "ranks");
}
