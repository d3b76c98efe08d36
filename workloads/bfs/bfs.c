/* bfs: host program; see bfs.cu for what the kernels do. */
#include <stdbool.h>
#include <stdlib.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 512, SOURCE = 0, UNREACHED = -1, EDGES_A_NODE = 6 };

/* As the kernel reads it. */
struct node {
    int first_edge;
    int edge_count;
};

struct graph {
    int node_count;
    int edge_count;
    struct node *nodes;
    int *edges; /* targets, those of a node side by side */
};

static const long edge_counts[SIZE_COUNT] = {24576, 196608, 500000};

/* Puts `pairs` undirected edges into their nodes' lists: count, place, fill. */
static void graph_link(struct graph *graph, int (*pairs)[2], int pair_count)
{
    int first = 0;

    for (int i = 0; i < pair_count; i++) {
        graph->nodes[pairs[i][0]].edge_count++;
        graph->nodes[pairs[i][1]].edge_count++;
    }
    for (int i = 0; i < graph->node_count; i++) {
        graph->nodes[i].first_edge = first;
        first += graph->nodes[i].edge_count;
        graph->nodes[i].edge_count = 0;
    }
    for (int i = 0; i < pair_count; i++) {
        struct node *a = &graph->nodes[pairs[i][0]];
        struct node *b = &graph->nodes[pairs[i][1]];
        graph->edges[a->first_edge + a->edge_count++] = pairs[i][1];
        graph->edges[b->first_edge + b->edge_count++] = pairs[i][0];
    }
}

static void graph_alloc(struct graph *graph, int node_count, int pair_count)
{
    graph->node_count = node_count;
    graph->edge_count = pair_count * 2;
    graph->nodes = workload_alloc(graph->node_count, sizeof *graph->nodes);
    graph->edges = workload_alloc(graph->edge_count, sizeof *graph->edges);
}

/* Every node opens as many edges as any other, to nodes drawn at random; an edge counts once in each direction. */
static void graph_random(struct graph *graph, int edge_count, int edges_a_node)
{
    int pair_count = (edge_count + 1) / 2;
    int(*pairs)[2] = workload_alloc(pair_count, sizeof *pairs);
    uint64_t state = workload_seed(65536);

    graph_alloc(graph, (edge_count + edges_a_node - 1) / edges_a_node, pair_count);
    for (int i = 0; i < pair_count; i++) {
        pairs[i][0] = i % graph->node_count;
        pairs[i][1] = random_below(&state, graph->node_count);
    }
    graph_link(graph, pairs, pair_count);
    free(pairs);
}

static void shuffle(int *order, int count, uint64_t *state)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int other = random_below(state, i + 1);
        int moved = order[i];
        order[i] = order[other];
        order[other] = moved;
    }
}

/* Every node has as many edges as any other: two by each permutation of the nodes, and where their number is odd, which
   takes an even number of nodes, one by going together in pairs. */
static void graph_balanced(struct graph *graph, int edge_count, int edges_a_node)
{
    int node_count = (edge_count + edges_a_node - 1) / edges_a_node;
    int pair_count = 0;

    node_count += node_count & edges_a_node & 1;
    graph_alloc(graph, node_count, node_count * edges_a_node / 2);
    int(*pairs)[2] = workload_alloc(graph->edge_count / 2, sizeof *pairs);
    int *order = workload_alloc(node_count, sizeof(int));
    uint64_t state = workload_seed(65536);
    for (int edges = 0; edges < edges_a_node; edges += 2) {
        bool in_pairs = edges + 1 == edges_a_node;
        shuffle(order, node_count, &state);
        for (int i = 0; i < (in_pairs ? node_count / 2 : node_count); i++, pair_count++) {
            pairs[pair_count][0] = in_pairs ? order[node_count / 2 + i] : i;
            pairs[pair_count][1] = order[i];
        }
    }
    graph_link(graph, pairs, pair_count);
    free(pairs);
    free(order);
}

static void search_reference(const struct graph *graph, int *cost)
{
    int *queue = workload_alloc(graph->node_count, sizeof(int));
    int head = 0;
    int tail = 0;

    for (int i = 0; i < graph->node_count; i++)
        cost[i] = UNREACHED;
    cost[SOURCE] = 0;
    queue[tail++] = SOURCE;
    while (head < tail) {
        int node = queue[head++];
        for (int i = 0; i < graph->nodes[node].edge_count; i++) {
            int target = graph->edges[graph->nodes[node].first_edge + i];
            if (cost[target] == UNREACHED) {
                cost[target] = cost[node] + 1;
                queue[tail++] = target;
            }
        }
    }
    free(queue);
}

/* One level after the other, until one has found no new node. */
static void search_levels(const struct gpu *gpu, void **expand, void **advance, CUdeviceptr again, int node_count)
{
    CUfunction expand_kernel = gpu_kernel(gpu, "bfs_expand");
    CUfunction advance_kernel = gpu_kernel(gpu, "bfs_advance");
    struct shape grid = {gpu_blocks(node_count, BLOCK), 1};
    struct shape block = {BLOCK, 1};
    int found;

    do {
        CHECK(cuMemsetD32(again, 0, 1));
        gpu_launch(expand_kernel, grid, block, expand);
        gpu_launch(advance_kernel, grid, block, advance);
        gpu_download(&found, again, sizeof found);
    } while (found);
}

static void search_on_device(const struct gpu *gpu, const struct graph *graph, int *cost)
{
    int count = graph->node_count;
    CUdeviceptr nodes = gpu_upload(graph->nodes, count * sizeof *graph->nodes);
    CUdeviceptr edges = gpu_upload(graph->edges, graph->edge_count * sizeof *graph->edges);
    CUdeviceptr frontier = gpu_alloc_zeroed(count);
    CUdeviceptr found = gpu_alloc_zeroed(count);
    CUdeviceptr visited = gpu_alloc_zeroed(count);
    CUdeviceptr costs = gpu_alloc_zeroed(count * sizeof(int));
    CUdeviceptr again = gpu_alloc_zeroed(sizeof(int));
    void *expand[] = {&nodes, &edges, &frontier, &found, &visited, &costs, &count};
    void *advance[] = {&frontier, &found, &visited, &again, &count};
    CUdeviceptr all[] = {nodes, edges, frontier, found, visited, costs, again};

    CHECK(cuMemsetD32(costs, (unsigned)UNREACHED, count));
    CHECK(cuMemsetD32(costs + SOURCE * sizeof(int), 0, 1));
    CHECK(cuMemsetD8(frontier + SOURCE, 1, 1));
    CHECK(cuMemsetD8(visited + SOURCE, 1, 1));
    search_levels(gpu, expand, advance, again, count);
    gpu_download(cost, costs, count * sizeof(int));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free(all[i]);
}

int main(int argc, char **argv)
{
    long edge_count = 0;
    long degree = EDGES_A_NODE;
    long balanced = 0;
    const struct workload_option options[] = {
        {"edges", "edges of a random graph of your own size", &edge_count, 100000000},
        {"degree",
         "edges of a node in the mean, six if not given; the edges stay as many, so that there are fewer nodes",
         &degree, 1000},
        {"balanced", "1: every node has the same number of edges", &balanced, 1},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "bfs",
        .summary = "Breadth-first search of a random graph, level by level, one thread a node.",
        .inputs = {"4,096 nodes, 24,576 edges", "32,768 nodes, 196,608 edges", "83,334 nodes, 500,000 edges"},
        .options = options,
    };
    enum workload_size size = workload_parse(&workload, argc, argv);
    struct graph graph;
    struct gpu gpu;

    if (!edge_count)
        edge_count = edge_counts[size];
    if (balanced)
        graph_balanced(&graph, edge_count, degree);
    else
        graph_random(&graph, edge_count, degree);
    int *cost = workload_alloc(graph.node_count, sizeof(int));
    int *expected = workload_alloc(graph.node_count, sizeof(int));
    gpu_open(&gpu);
    search_on_device(&gpu, &graph, cost);
    gpu_close(&gpu);
    search_reference(&graph, expected);
    size_t mismatches = compare_u32("cost", (uint32_t *)cost, (uint32_t *)expected, graph.node_count);
    int status = workload_verdict(&workload, mismatches, graph.node_count, "costs");
    free(graph.nodes);
    free(graph.edges);
    free(cost);
    free(expected);
    return status;
}
