/* Graphs as they are built: nodes, and what each comes after. graph_edges.c answers questions about that, graph_nodes.c
 * has what nodes do, graph_exec.c how they run. */
#include "cuda/graph.h"

#include <stdlib.h>
#include <string.h>

static void node_destroy(struct object *o)
{
    struct node *n = (struct node *)o;
    work_free(&n->work);
    free(n->before);
}

static void graph_destroy(struct object *o)
{
    struct graph *g = (struct graph *)o;
    for (uint32_t i = 0; i < g->node_count; i++)
        object_free(&g->nodes[i]->object);
    for (uint32_t i = 0; i < g->condition_count; i++)
        condition_drop(g->conditions[i]);
    user_objects_free(g);
    free(g->conditions);
    free(g->nodes);
    free(g->order);
}

struct graph *graph_new(void) { return object_new(sizeof(struct graph), OBJECT_GRAPH, NULL, graph_destroy); }

static struct node *node_new(struct graph *g)
{
    struct node **nodes = realloc(g->nodes, (g->node_count + 1) * sizeof *nodes);
    if (!nodes)
        return NULL;
    g->nodes = nodes;
    struct node *n = object_new(sizeof *n, OBJECT_NODE, NULL, node_destroy);
    if (!n)
        return NULL;
    n->graph = g;
    n->id = ++driver_get()->next_id;
    n->index = g->node_count;
    g->nodes[g->node_count++] = n;
    return n;
}

struct edge *graph_edge(const struct node *n, const struct node *on)
{
    for (uint32_t i = 0; i < n->before_count; i++)
        if (n->before[i].on == on)
            return &n->before[i];
    return NULL;
}

/* Kernels alone have other ports than the default one, and edges of another type. */
static bool edge_data_ok(const CUgraphEdgeData *d, const struct node *from)
{
    static const unsigned char none[sizeof d->reserved];
    bool kernel = from->work.type == CU_GRAPH_NODE_TYPE_KERNEL;
    return d->from_port <= (kernel ? CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER : CU_GRAPH_KERNEL_NODE_PORT_DEFAULT) &&
           !d->to_port &&
           d->type <= (kernel ? CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC : CU_GRAPH_DEPENDENCY_TYPE_DEFAULT) &&
           !memcmp(d->reserved, none, sizeof none);
}

CUresult graph_depend(struct node *n, struct node *on, const CUgraphEdgeData *data)
{
    if (n == on || n->graph != on->graph || graph_edge(n, on) || (data && !edge_data_ok(data, on)))
        return CUDA_ERROR_INVALID_VALUE;
    struct edge *before = realloc(n->before, (n->before_count + 1) * sizeof *before);
    if (!before)
        return CUDA_ERROR_OUT_OF_MEMORY;
    n->before = before;
    n->before[n->before_count++] = (struct edge){on, data ? *data : (CUgraphEdgeData){0}};
    return CUDA_SUCCESS;
}

static bool place_ready(struct graph *g, bool *placed, uint32_t *done)
{
    uint32_t before = *done;
    for (uint32_t i = 0; i < g->node_count; i++) {
        bool ready = !placed[i];
        for (uint32_t b = 0; ready && b < g->nodes[i]->before_count; b++)
            ready = placed[g->nodes[i]->before[b].on->index];
        if (ready) {
            placed[i] = true;
            g->order[(*done)++] = i;
        }
    }
    return *done > before;
}

static CUresult sort_inside(struct work *w, struct node **culprit)
{
    CUresult r = w->child ? graph_sort(w->child, culprit) : CUDA_SUCCESS;
    for (unsigned int i = 0; r == CUDA_SUCCESS && w->bodies && i < w->condition.size; i++)
        r = graph_sort(w->bodies[i], culprit);
    return r;
}

CUresult graph_sort(struct graph *g, struct node **culprit)
{
    uint32_t done = 0;
    bool *placed = calloc(g->node_count + 1u, sizeof *placed);
    free(g->order);
    g->order = calloc(g->node_count + 1u, sizeof *g->order);
    CUresult r = placed && g->order ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    while (r == CUDA_SUCCESS && done < g->node_count && place_ready(g, placed, &done))
        continue;
    for (uint32_t i = 0; r == CUDA_SUCCESS && done < g->node_count && i < g->node_count; i++)
        if (!placed[i]) {
            *culprit = g->nodes[i];
            r = CUDA_ERROR_INVALID_VALUE;
        }
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < g->node_count; i++)
        r = sort_inside(&g->nodes[i]->work, culprit);
    free(placed);
    return r;
}

CUresult graph_each(const struct graph *g, CUresult (*visit)(struct node *n, void *user), void *user)
{
    CUresult r = CUDA_SUCCESS;
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < g->node_count; i++) {
        struct node *n = g->nodes[i];
        r = visit(n, user);
        if (r == CUDA_SUCCESS && n->work.child)
            r = graph_each(n->work.child, visit, user);
        for (unsigned int b = 0; r == CUDA_SUCCESS && n->work.bodies && b < n->work.condition.size; b++)
            r = graph_each(n->work.bodies[b], visit, user);
    }
    return r;
}

struct search {
    uint64_t origin;
    struct node *found;
};

static CUresult is_copy(struct node *n, void *user)
{
    struct search *s = user;
    if (n->origin == s->origin)
        s->found = n;
    return CUDA_SUCCESS;
}

struct node *graph_find_copy(const struct graph *g, uint64_t origin)
{
    struct search s = {origin, NULL};
    graph_each(g, is_copy, &s);
    return s.found;
}

static CUresult copy_conditions(struct graph *to, const struct graph *from)
{
    to->conditions = calloc(from->condition_count + 1u, sizeof *to->conditions);
    if (!to->conditions)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < from->condition_count; i++) {
        to->conditions[i] = from->conditions[i];
        condition_hold(to->conditions[i]);
    }
    to->condition_count = from->condition_count;
    return CUDA_SUCCESS;
}

CUresult graph_copy(const struct graph *from, struct graph **out)
{
    struct graph *g = graph_new();
    CUresult r = g ? copy_conditions(g, from) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        r = user_objects_copy(g, from);
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < from->node_count; i++) {
        struct node *n = node_new(g);
        r = n ? work_copy(&n->work, &from->nodes[i]->work) : CUDA_ERROR_OUT_OF_MEMORY;
        if (r == CUDA_SUCCESS)
            n->origin = from->nodes[i]->id;
    }
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < from->node_count; i++)
        for (uint32_t b = 0; r == CUDA_SUCCESS && b < from->nodes[i]->before_count; b++)
            r = graph_depend(g->nodes[i], g->nodes[from->nodes[i]->before[b].on->index],
                             &from->nodes[i]->before[b].data);
    if (r == CUDA_SUCCESS)
        *out = g;
    else if (g)
        object_free(&g->object);
    return r;
}

CUresult graph_enter(CUgraph handle, const void *argument, struct graph **g)
{
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS && !argument)
        r = CUDA_ERROR_INVALID_VALUE;
    *g = r == CUDA_SUCCESS ? object_find(handle, OBJECT_GRAPH) : NULL;
    return r == CUDA_SUCCESS && !*g ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult node_enter(CUgraphNode handle, const void *argument, struct node **n)
{
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS && !argument)
        r = CUDA_ERROR_INVALID_VALUE;
    *n = r == CUDA_SUCCESS ? object_find(handle, OBJECT_NODE) : NULL;
    return r == CUDA_SUCCESS && !*n ? CUDA_ERROR_INVALID_VALUE : r;
}

CUAPI CUresult cuGraphCreate(CUgraph *out, unsigned int flags)
{
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS && (!out || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    struct graph *g = r == CUDA_SUCCESS ? graph_new() : NULL;
    if (r == CUDA_SUCCESS && !g)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        *out = (CUgraph)g;
    return api_leave(r);
}

CUAPI CUresult cuGraphDestroy(CUgraph handle)
{
    struct graph *g;
    CUresult r = graph_enter(handle, handle, &g);
    if (r == CUDA_SUCCESS && (g->owned || capture_into(g)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        object_free(&g->object);
    api_leave(r);
    user_objects_settle();
    return r;
}

CUAPI CUresult cuGraphClone(CUgraph *out, CUgraph handle)
{
    struct graph *g, *copy = NULL;
    CUresult r = graph_enter(handle, out, &g);
    if (r == CUDA_SUCCESS)
        r = graph_copy(g, &copy);
    if (r == CUDA_SUCCESS)
        *out = (CUgraph)copy;
    return api_leave(r);
}

CUAPI CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode handle, CUgraph clone)
{
    struct node *n, *found = NULL;
    CUresult r = node_enter(handle, out, &n);
    struct graph *g = r == CUDA_SUCCESS ? object_find(clone, OBJECT_GRAPH) : NULL;
    if (g)
        found = graph_find_copy(g, n->id);
    if (r == CUDA_SUCCESS && !found)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = (CUgraphNode)found;
    return api_leave(r);
}

CUresult graph_add(struct graph *g, const CUgraphNode *dependencies, const CUgraphEdgeData *edges, size_t count,
                   struct work *w, struct node **out)
{
    CUresult r = count && !dependencies ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
        const struct node *on = object_find(dependencies[i], OBJECT_NODE);
        if (!on || on->graph != g)
            r = CUDA_ERROR_INVALID_VALUE;
    }
    struct node *n = r == CUDA_SUCCESS ? node_new(g) : NULL;
    if (r == CUDA_SUCCESS && !n)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r != CUDA_SUCCESS) {
        work_free(w);
        return r;
    }
    n->work = *w;
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_EMPTY};
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++)
        r = graph_depend(n, (struct node *)dependencies[i], edges ? &edges[i] : NULL);
    if (r != CUDA_SUCCESS) {
        g->node_count--;
        object_free(&n->object);
        return r;
    }
    *out = n;
    return CUDA_SUCCESS;
}

void graph_forget_edge(struct node *n, const struct edge *e)
{
    uint32_t at = (uint32_t)(e - n->before);
    memmove(&n->before[at], &n->before[at + 1], (n->before_count - at - 1) * sizeof *e);
    n->before_count--;
}

CUAPI CUresult cuGraphDestroyNode(CUgraphNode handle)
{
    struct node *n;
    CUresult r = node_enter(handle, handle, &n);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    struct graph *g = n->graph;
    memmove(&g->nodes[n->index], &g->nodes[n->index + 1], (g->node_count - n->index - 1) * sizeof *g->nodes);
    g->node_count--;
    for (uint32_t i = 0; i < g->node_count; i++) {
        struct edge *e = graph_edge(g->nodes[i], n);
        g->nodes[i]->index = i;
        if (e)
            graph_forget_edge(g->nodes[i], e);
    }
    object_free(&n->object);
    return api_leave(CUDA_SUCCESS);
}
