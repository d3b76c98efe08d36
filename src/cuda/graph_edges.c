/* Lists of nodes and edges of a graph, and changes to its edges. */
#include "cuda/graph.h"

#include <string.h>

/* Where a list goes: NULL asks for the number; otherwise as many as there is room for, the rest of the room filled with
 * NULL. */
struct listing {
    CUgraphNode *nodes, *to;
    CUgraphEdgeData *edges;
    size_t room, count;
    bool lossy;
};

static void list_one(struct listing *l, const struct node *n, const struct node *to, const CUgraphEdgeData *edge)
{
    static const CUgraphEdgeData plain;
    size_t at = l->count++;
    if (edge && !l->edges && memcmp(edge, &plain, sizeof plain))
        l->lossy = true;
    if (!l->nodes || at >= l->room)
        return;
    l->nodes[at] = (CUgraphNode)n;
    if (l->to)
        l->to[at] = (CUgraphNode)to;
    if (l->edges && edge)
        l->edges[at] = *edge;
}

/* Edges that say more than that one comes after the other may not be asked for without what they say. */
static CUresult list_end(struct listing *l, size_t *count)
{
    for (size_t i = l->count; l->nodes && i < l->room; i++) {
        l->nodes[i] = NULL;
        if (l->to)
            l->to[i] = NULL;
    }
    if (!l->nodes || l->count < l->room)
        *count = l->count;
    return l->nodes && l->lossy ? CUDA_ERROR_LOSSY_QUERY : CUDA_SUCCESS;
}

static CUresult list_nodes(CUgraph handle, CUgraphNode *nodes, size_t *count, bool roots_only)
{
    struct graph *g;
    CUresult r = graph_enter(handle, count, &g);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    struct listing l = {.nodes = nodes, .room = *count};
    for (uint32_t i = 0; i < g->node_count; i++)
        if (!roots_only || !g->nodes[i]->before_count)
            list_one(&l, g->nodes[i], NULL, NULL);
    return api_leave(list_end(&l, count));
}

CUAPI CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *count)
{
    return list_nodes(g, nodes, count, false);
}
CUAPI CUresult cuGraphGetRootNodes(CUgraph g, CUgraphNode *nodes, size_t *count)
{
    return list_nodes(g, nodes, count, true);
}

CUAPI CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges,
                                  size_t *count)
{
    struct graph *g;
    CUresult r = graph_enter(handle, !from == !to ? count : NULL, &g);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    struct listing l = {.nodes = from, .to = to, .edges = edges, .room = *count};
    for (uint32_t i = 0; i < g->node_count; i++)
        for (uint32_t b = 0; b < g->nodes[i]->before_count; b++)
            list_one(&l, g->nodes[i]->before[b].on, g->nodes[i], &g->nodes[i]->before[b].data);
    return api_leave(list_end(&l, count));
}

CUAPI CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                             size_t *count)
{
    struct node *n;
    CUresult r = node_enter(handle, count, &n);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    struct listing l = {.nodes = nodes, .edges = edges, .room = *count};
    for (uint32_t b = 0; b < n->before_count; b++)
        list_one(&l, n->before[b].on, NULL, &n->before[b].data);
    return api_leave(list_end(&l, count));
}

CUAPI CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                               size_t *count)
{
    struct node *n;
    CUresult r = node_enter(handle, count, &n);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    struct listing l = {.nodes = nodes, .edges = edges, .room = *count};
    for (uint32_t i = 0; i < n->graph->node_count; i++) {
        const struct edge *e = graph_edge(n->graph->nodes[i], n);
        if (e)
            list_one(&l, n->graph->nodes[i], NULL, &e->data);
    }
    return api_leave(list_end(&l, count));
}

/* Before CUDA 12.3 edges said nothing. */
static CUresult edges_v1(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return cuGraphGetEdges_v2(g, from, to, NULL, count);
}
static CUresult dependencies_v1(CUgraphNode n, CUgraphNode *nodes, size_t *count)
{
    return cuGraphNodeGetDependencies_v2(n, nodes, NULL, count);
}
static CUresult dependents_v1(CUgraphNode n, CUgraphNode *nodes, size_t *count)
{
    return cuGraphNodeGetDependentNodes_v2(n, nodes, NULL, count);
}
API_ALIAS(cuGraphGetEdges, edges_v1)
API_ALIAS(cuGraphNodeGetDependencies, dependencies_v1)
API_ALIAS(cuGraphNodeGetDependentNodes, dependents_v1)

static CUresult change(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges,
                       size_t count, bool adding)
{
    struct graph *g;
    CUresult r = graph_enter(handle, handle, &g);
    if (r == CUDA_SUCCESS && count && (!from || !to))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
        struct node *a = object_find(from[i], OBJECT_NODE), *b = object_find(to[i], OBJECT_NODE);
        bool here = a && b && a->graph == g && b->graph == g;
        struct edge *e = here ? graph_edge(b, a) : NULL;
        if (here && adding)
            r = graph_depend(b, a, edges ? &edges[i] : NULL);
        else if (e && (!edges || !memcmp(&e->data, &edges[i], sizeof e->data)))
            graph_forget_edge(b, e);
        else
            r = CUDA_ERROR_INVALID_VALUE;
    }
    return api_leave(r);
}

static CUresult add_v1(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return change(g, from, to, NULL, count, true);
}
static CUresult remove_v1(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return change(g, from, to, NULL, count, false);
}
API_ALIAS(cuGraphAddDependencies, add_v1)
API_ALIAS(cuGraphRemoveDependencies, remove_v1)

CUAPI CUresult cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                         const CUgraphEdgeData *edges, size_t count)
{
    return change(g, from, to, edges, count, true);
}
CUAPI CUresult cuGraphRemoveDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                            const CUgraphEdgeData *edges, size_t count)
{
    return change(g, from, to, edges, count, false);
}
