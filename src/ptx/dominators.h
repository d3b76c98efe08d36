/* Dominator trees of a flow graph given as two adjacency lists. */
#ifndef HEDDLE_PTX_DOMINATORS_H
#define HEDDLE_PTX_DOMINATORS_H

#include "base/arena.h"

#include <stdint.h>

/* Edges of node n: target[start[n]] up to target[start[n + 1]]. */
struct flow_edges {
    uint32_t *start, *target;
};

struct flow_graph {
    uint32_t node_count;
    struct flow_edges out, in;
};

#define FLOW_NO_NODE UINT32_MAX

/* Builds both directions from a list of (from, to) pairs; the order of a node's out edges is the order in the list. */
struct flow_graph *flow_graph_build(struct arena *a, uint32_t node_count, const uint32_t (*pairs)[2],
                                    uint32_t pair_count);
/* Nodes reachable from root, in reverse postorder of a depth-first walk; position[n] is the place in it or
 * FLOW_NO_NODE. Returns how many. */
uint32_t flow_reverse_postorder(struct arena *a, uint32_t node_count, const struct flow_edges *out, uint32_t root,
                                uint32_t *order, uint32_t *position);
/* Immediate dominators from root along out; FLOW_NO_NODE for root and for nodes that it does not reach. Swap out and in
 * for post-dominators. */
uint32_t *flow_dominators(struct arena *a, uint32_t node_count, const struct flow_edges *out,
                          const struct flow_edges *in, uint32_t root);

#endif
