/* Graphs: nodes with what they do, and the order they run in. */
#ifndef HEDDLE_CUDA_GRAPH_H
#define HEDDLE_CUDA_GRAPH_H

#include "cuda/internal.h"

/* What a node does. Kernel parameters are packed when the node is made. */
struct work {
    CUgraphNodeType type;
    CUDA_KERNEL_NODE_PARAMS kernel;
    uint8_t *params;
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_HOST_NODE_PARAMS host;
    CUevent event;
    struct graph *child; /* a copy of its own */
};

struct node {
    struct object object;
    struct graph *graph;
    struct work work;
    struct node **before;   /* those it depends on */
    uint32_t before_count;
    uint32_t index;         /* in the graph */
};

struct graph {
    struct object object;
    struct node **nodes;
    uint32_t node_count;
};

/* A graph made ready: its work in an order that respects the dependencies, each with the node it came from. */
struct graph_exec {
    struct object object;
    struct work *steps;
    struct node **from;
    uint32_t step_count;
    unsigned long long flags;
};

CUresult work_kernel(struct work *w, const CUDA_KERNEL_NODE_PARAMS *p);
CUresult work_copy(struct work *to, const struct work *from); /* with what it owns */
void work_free(struct work *w);
CUresult graph_copy(const struct graph *from, struct graph **out);
/* Places of the nodes in an order in which each comes after those it depends on; false: there is a cycle. */
bool graph_order(const struct graph *g, uint32_t *order);

#endif
