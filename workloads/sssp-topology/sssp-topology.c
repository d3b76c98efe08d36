/* sssp-topology: host program; see sssp-topology.cu for what the kernels do. */
#include <stdbool.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, SOURCE = 0, FAR = 1 << 28, LONGEST = 100 };

struct graph {
    int node_count;
    int edge_count;
    int *starts; /* node_count + 1 */
    int *targets;
    int *lengths;
};

static const long node_counts[SIZE_COUNT] = {800, 32768, 65536};

/* From 1 to 2 * degree - 1 edges per node, each to any node. */
static void graph_random(struct graph *graph, int node_count, int degree)
{
    uint64_t state = workload_seed(1956);

    graph->node_count = node_count;
    graph->starts = workload_alloc(node_count + 1, sizeof(int));
    for (int i = 0; i < node_count; i++)
        graph->starts[i + 1] = graph->starts[i] + 1 + random_below(&state, 2 * degree - 1);
    graph->edge_count = graph->starts[node_count];
    graph->targets = workload_alloc(graph->edge_count, sizeof(int));
    graph->lengths = workload_alloc(graph->edge_count, sizeof(int));
    for (int i = 0; i < graph->edge_count; i++) {
        graph->targets[i] = random_below(&state, node_count);
        graph->lengths[i] = 1 + random_below(&state, LONGEST);
    }
}

/* In any order: sweeps until nothing changes. */
static void reference(const struct graph *graph, int *distances)
{
    bool has_changed = true;

    for (int i = 0; i < graph->node_count; i++)
        distances[i] = FAR;
    distances[SOURCE] = 0;
    while (has_changed) {
        has_changed = false;
        for (int node = 0; node < graph->node_count; node++) {
            for (int i = graph->starts[node]; i < graph->starts[node + 1] && distances[node] != FAR; i++) {
                int reached = distances[node] + graph->lengths[i];
                if (reached < distances[graph->targets[i]]) {
                    distances[graph->targets[i]] = reached;
                    has_changed = true;
                }
            }
        }
    }
}

static void relax_all(const struct gpu *gpu, void **relax, void **settle, CUdeviceptr again, int node_count)
{
    unsigned blocks = gpu_blocks(node_count, BLOCK);
    int was_lowered;

    do {
        CHECK(cuMemsetD32(again, 0, 1));
        gpu_launch_named(gpu, "sssp_topology_relax", blocks, BLOCK, relax);
        gpu_launch_named(gpu, "sssp_topology_settle", blocks, BLOCK, settle);
        gpu_download(&was_lowered, again, sizeof was_lowered);
    } while (was_lowered);
}

static void ways_on_device(const struct gpu *gpu, const struct graph *graph, int *result)
{
    int count = graph->node_count;
    CUdeviceptr starts = gpu_upload(graph->starts, (count + 1) * sizeof(int));
    CUdeviceptr targets = gpu_upload(graph->targets, graph->edge_count * sizeof(int));
    CUdeviceptr lengths = gpu_upload(graph->lengths, graph->edge_count * sizeof(int));
    CUdeviceptr is_lowered = gpu_alloc_zeroed(count);
    CUdeviceptr distances = gpu_alloc_zeroed(count * sizeof(int)), next = gpu_alloc_zeroed(count * sizeof(int));
    CUdeviceptr again = gpu_alloc_zeroed(sizeof(int));
    CUdeviceptr all[] = {starts, targets, lengths, is_lowered, distances, next, again};
    void *relax[] = {&starts, &targets, &lengths, &is_lowered, &distances, &next, &count};
    void *settle[] = {&is_lowered, &distances, &next, &again, &count};

    CHECK(cuMemsetD32(distances, FAR, count));
    CHECK(cuMemsetD32(next, FAR, count));
    CHECK(cuMemsetD32(distances + SOURCE * sizeof(int), 0, 1));
    CHECK(cuMemsetD32(next + SOURCE * sizeof(int), 0, 1));
    CHECK(cuMemsetD8(is_lowered + SOURCE, 1, 1));
    relax_all(gpu, relax, settle, again, count);
    gpu_download(result, distances, count * sizeof(int));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
}

int main(int argc, char **argv)
{
    long nodes = 0;
    long degree = 6;
    const struct workload_option options[] = {
        {"nodes", "nodes of a graph of your own size", &nodes, 10000000},
        {"degree", "edges per node on average, six if not given", &degree, 1000},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "sssp-topology",
        .summary = "Shortest ways from one node of a graph, one thread per node in every round.",
        .inputs = {"800 nodes", "32,768 nodes", "65,536 nodes"},
        .options = options,
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    struct graph graph;
    struct gpu gpu;

    graph_random(&graph, nodes ? nodes : node_counts[size], degree);
    int *distances = workload_alloc(graph.node_count, sizeof(int));
    int *expected = workload_alloc(graph.node_count, sizeof(int));
    gpu_open(&gpu);
    ways_on_device(&gpu, &graph, distances);
    gpu_close(&gpu);
    reference(&graph, expected);
    size_t mismatches = compare_u32("distance", (uint32_t *)distances, (uint32_t *)expected, graph.node_count);
    int status = workload_verdict(&workload, mismatches, graph.node_count, "distances");
    free(graph.starts);
    free(graph.targets);
    free(graph.lengths);
    free(distances);
    free(expected);
    return status;
}
