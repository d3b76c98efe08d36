/* graph.c: see graph.h. */
#include "graph.h"

#include <math.h>
#include <stdlib.h>

#include "random.h"
#include "workload.h"

enum { SHARE_LIMIT = 64 };

static void graph_alloc(struct graph *graph, int node_count, int edge_count)
{
    graph->node_count = node_count;
    graph->edge_count = edge_count;
    graph->starts = workload_alloc(node_count + 1, sizeof(int));
    graph->targets = workload_alloc(edge_count, sizeof(int));
    graph->weights = workload_alloc(edge_count, sizeof(float));
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Between a third of the mean and 64 times that: few nodes have many. */
static int random_degree(int mean, int node_count, uint64_t *state)
{
    float share = 1.0f / (random_float(state) + 1.0f / SHARE_LIMIT);
    int degree = 1 + (int)(mean * share / 4.0f);

    return degree < node_count / 2 ? degree : node_count / 2;
}

/* Sorts a node's targets, and leaves out repetitions and the node itself. */
static int tidy(int *targets, int count, int node)
{
    int kept = 0;

    qsort(targets, count, sizeof *targets, ascending);
    for (int i = 0; i < count; i++) {
        if (targets[i] != node && (kept == 0 || targets[kept - 1] != targets[i]))
            targets[kept++] = targets[i];
    }
    return kept;
}

void graph_make(struct graph *graph, int node_count, int degree, uint64_t *state)
{
    graph_alloc(graph, node_count, node_count * (degree * SHARE_LIMIT / 4 + 1));
    int edges = 0;

    for (int node = 0; node < node_count; node++) {
        int wanted = random_degree(degree, node_count, state);
        graph->starts[node] = edges;
        for (int i = 0; i < wanted; i++)
            graph->targets[edges + i] = random_below(state, node_count);
        edges += tidy(graph->targets + edges, wanted, node);
    }
    graph->starts[node_count] = graph->edge_count = edges;
    for (int i = 0; i < edges; i++)
        graph->weights[i] = 1.0f + random_below(state, 63);
}

void graph_reverse(struct graph *reversed, const struct graph *graph)
{
    int *next = workload_alloc(graph->node_count + 1, sizeof(int));

    graph_alloc(reversed, graph->node_count, graph->edge_count);
    for (int i = 0; i < graph->edge_count; i++)
        reversed->starts[graph->targets[i] + 1]++;
    for (int node = 0; node < graph->node_count; node++)
        next[node + 1] = reversed->starts[node + 1] += reversed->starts[node];
    for (int node = 0; node < graph->node_count; node++) {
        for (int i = graph->starts[node]; i < graph->starts[node + 1]; i++) {
            int to = next[graph->targets[i]]++;
            reversed->targets[to] = node;
            reversed->weights[to] = graph->weights[i];
        }
    }
    free(next);
}

static int has_edge(const struct graph *graph, int from, int to)
{
    return bsearch(&to, graph->targets + graph->starts[from], graph->starts[from + 1] - graph->starts[from],
                   sizeof(int), ascending) != NULL;
}

void graph_orient(struct graph *oriented, const struct graph *graph)
{
    struct graph reversed;
    int *degrees = workload_alloc(graph->node_count, sizeof(int)), edges = 0;

    graph_reverse(&reversed, graph);
    for (int node = 0; node < graph->node_count; node++)
        degrees[node] =
            graph->starts[node + 1] - graph->starts[node] + reversed.starts[node + 1] - reversed.starts[node];
    graph_alloc(oriented, graph->node_count, graph->edge_count);
    for (int node = 0; node < graph->node_count; node++) {
        const struct graph *both[] = {graph, &reversed};
        oriented->starts[node] = edges;
        for (int side = 0; side < 2; side++) {
            for (int i = both[side]->starts[node]; i < both[side]->starts[node + 1]; i++) {
                int other = both[side]->targets[i];
                int is_less = degrees[node] < degrees[other] || (degrees[node] == degrees[other] && node < other);
                if (is_less && !(side == 1 && has_edge(graph, node, other)))
                    oriented->targets[edges++] = other;
            }
        }
        edges = oriented->starts[node] +
                tidy(oriented->targets + oriented->starts[node], edges - oriented->starts[node], node);
    }
    oriented->starts[graph->node_count] = oriented->edge_count = edges;
    free(degrees);
    graph_free(&reversed);
}

void graph_free(struct graph *graph)
{
    free(graph->starts);
    free(graph->targets);
    free(graph->weights);
}
