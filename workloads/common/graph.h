/*
 * graph.h: random graphs in compressed rows, for the workloads of today. Degrees follow a power law, so that a few
 * nodes have very many edges, as in graphs of people and pages.
 */
#ifndef WORKLOADS_GRAPH_H
#define WORKLOADS_GRAPH_H

#include <stdint.h>

struct graph {
    int node_count;
    int edge_count;
    int *starts;  /* node_count + 1 */
    int *targets; /* ascending within a node, without repetition and without the node itself */
    float *weights;
};

/* About `degree` edges per node, each to any node. */
void graph_make(struct graph *graph, int node_count, int degree, uint64_t *state);

/* The same edges from the other end. */
void graph_reverse(struct graph *reversed, const struct graph *graph);

/* Every edge once, from the node with fewer edges (in both directions) to the one with more. */
void graph_orient(struct graph *oriented, const struct graph *graph);

void graph_free(struct graph *graph);

#endif
