/* zipf: host program; see zipf.cu for what the kernel does. */
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "graph.h"
#include "workload.h"

enum { BLOCK = 256, DEGREE = 24, SCORE_LIMIT = 1000000 };

static const long node_counts[SIZE_COUNT] = {700, 24576, 122880};

/* What popular nodes send out is what others pull: the graph of the pulls is the other one, read backwards. */
static void pull_graph(struct graph *pulls, int node_count)
{
    uint64_t state = workload_seed(1949);
    struct graph pushes;

    graph_make(&pushes, node_count, DEGREE, &state);
    graph_reverse(pulls, &pushes);
    graph_free(&pushes);
}

int main(int argc, char **argv)
{
    const struct workload workload = {
        .name = "zipf",
        .summary = "A round of pulling over a graph of popular and unpopular nodes, one thread per node.",
        .inputs = {"700 nodes", "24,576 nodes", "122,880 nodes"},
    };
    int nodes = node_counts[workload_parse(&workload, argc, argv)];
    uint64_t state = workload_seed(24);
    struct graph graph;
    struct gpu gpu;

    pull_graph(&graph, nodes);
    uint32_t *scores = array_of_u32(nodes, SCORE_LIMIT, &state);
    uint32_t *expected = workload_alloc(nodes, sizeof(uint32_t));
    gpu_open(&gpu);
    CUdeviceptr starts = gpu_upload(graph.starts, (nodes + 1) * sizeof(int));
    CUdeviceptr sources = gpu_upload(graph.targets, graph.edge_count * sizeof(int));
    CUdeviceptr score_memory = gpu_upload(scores, nodes * sizeof(uint32_t));
    CUdeviceptr pulled = gpu_alloc_zeroed(nodes * sizeof(uint32_t));
    gpu_launch_named(&gpu, "zipf_pull", gpu_blocks(nodes, BLOCK), BLOCK,
                     (void *[]){&starts, &sources, &score_memory, &pulled, &nodes});
    for (int node = 0; node < nodes; node++) {
        for (int i = graph.starts[node]; i < graph.starts[node + 1]; i++)
            expected[node] += scores[graph.targets[i]];
    }
    size_t mismatches = array_check_u32("pulled", pulled, expected, nodes);
    CUdeviceptr all[] = {starts, sources, score_memory, pulled};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
    gpu_close(&gpu);
    graph_free(&graph);
    free(scores);
    free(expected);
    return workload_verdict(&workload, mismatches, nodes, "sums");
}
