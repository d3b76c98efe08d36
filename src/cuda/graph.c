/* Graphs as they are built: kernel, copy, fill, host, event, child and empty nodes, and their dependencies. See graph_exec.c for how they run.
 *
 * Left out: capture from streams, memory nodes, conditional nodes, semaphores, attributes of nodes. */
#include "cuda/graph.h"

#include <stdlib.h>
#include <string.h>

CUresult work_kernel(struct work *w, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct function *f;
    uint8_t *params = NULL;
    CUfunction handle = p->func ? p->func : (CUfunction)p->kern;
    CUresult r = function_resolve(handle, &f);
    if (r == CUDA_SUCCESS)
        r = launch_pack(f, p->kernelParams, p->extra, &params);
    if (r != CUDA_SUCCESS)
        return r;
    free(w->params);
    w->type = CU_GRAPH_NODE_TYPE_KERNEL;
    w->kernel = *p;
    w->kernel.func = handle;
    w->params = params;
    return CUDA_SUCCESS;
}

CUresult work_copy(struct work *to, const struct work *from)
{
    struct function *f;
    *to = *from;
    to->params = NULL;
    to->child = NULL;
    if (from->child)
        return graph_copy(from->child, &to->child);
    if (!from->params)
        return CUDA_SUCCESS;
    CUresult r = function_resolve(from->kernel.func, &f);
    if (r != CUDA_SUCCESS)
        return r;
    to->params = malloc(f->exec->ptx->param_bytes + 1u);
    if (!to->params)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(to->params, from->params, f->exec->ptx->param_bytes);
    return CUDA_SUCCESS;
}

void work_free(struct work *w)
{
    free(w->params);
    if (w->child)
        object_free(&w->child->object);
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_EMPTY};
}

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
    free(g->nodes);
}

static struct graph *graph_new(void) { return object_new(sizeof(struct graph), OBJECT_GRAPH, NULL, graph_destroy); }

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
    n->index = g->node_count;
    g->nodes[g->node_count++] = n;
    return n;
}

static bool depends_on(const struct node *n, const struct node *other)
{
    for (uint32_t i = 0; i < n->before_count; i++)
        if (n->before[i] == other)
            return true;
    return false;
}

static CUresult depend(struct node *n, struct node *on)
{
    if (n == on || n->graph != on->graph || depends_on(n, on))
        return CUDA_ERROR_INVALID_VALUE;
    struct node **before = realloc(n->before, (n->before_count + 1) * sizeof *before);
    if (!before)
        return CUDA_ERROR_OUT_OF_MEMORY;
    n->before = before;
    n->before[n->before_count++] = on;
    return CUDA_SUCCESS;
}

bool graph_order(const struct graph *g, uint32_t *order)
{
    uint32_t done = 0;
    bool *placed = calloc(g->node_count + 1u, sizeof *placed), progress = true;
    while (placed && progress && done < g->node_count) {
        progress = false;
        for (uint32_t i = 0; i < g->node_count; i++) {
            bool ready = !placed[i];
            for (uint32_t b = 0; ready && b < g->nodes[i]->before_count; b++)
                ready = placed[g->nodes[i]->before[b]->index];
            if (ready) {
                placed[i] = progress = true;
                order[done++] = i;
            }
        }
    }
    free(placed);
    return done == g->node_count;
}

CUresult graph_copy(const struct graph *from, struct graph **out)
{
    struct graph *g = graph_new();
    CUresult r = g ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < from->node_count; i++) {
        struct node *n = node_new(g);
        r = n ? work_copy(&n->work, &from->nodes[i]->work) : CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < from->node_count; i++)
        for (uint32_t b = 0; r == CUDA_SUCCESS && b < from->nodes[i]->before_count; b++)
            r = depend(g->nodes[i], g->nodes[from->nodes[i]->before[b]->index]);
    if (r == CUDA_SUCCESS)
        *out = g;
    else if (g)
        object_free(&g->object);
    return r;
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

static CUresult enter_graph(CUgraph handle, const void *out, struct graph **g)
{
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    *g = r == CUDA_SUCCESS ? object_find(handle, OBJECT_GRAPH) : NULL;
    return r == CUDA_SUCCESS && !*g ? CUDA_ERROR_INVALID_VALUE : r;
}

static CUresult enter_node(CUgraphNode handle, const void *out, struct node **n)
{
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    *n = r == CUDA_SUCCESS ? object_find(handle, OBJECT_NODE) : NULL;
    return r == CUDA_SUCCESS && !*n ? CUDA_ERROR_INVALID_VALUE : r;
}

CUAPI CUresult cuGraphDestroy(CUgraph handle)
{
    struct graph *g;
    CUresult r = enter_graph(handle, &g, &g);
    if (r == CUDA_SUCCESS)
        object_free(&g->object);
    return api_leave(r);
}

CUAPI CUresult cuGraphClone(CUgraph *out, CUgraph handle)
{
    struct graph *g, *copy = NULL;
    CUresult r = enter_graph(handle, out, &g);
    if (r == CUDA_SUCCESS)
        r = graph_copy(g, &copy);
    if (r == CUDA_SUCCESS)
        *out = (CUgraph)copy;
    return api_leave(r);
}

/* A clone has its nodes in the same places. */
CUAPI CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode handle, CUgraph clone)
{
    struct node *n;
    CUresult r = enter_node(handle, out, &n);
    struct graph *g = r == CUDA_SUCCESS ? object_find(clone, OBJECT_GRAPH) : NULL;
    if (r == CUDA_SUCCESS && (!g || n->index >= g->node_count))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = (CUgraphNode)g->nodes[n->index];
    return api_leave(r);
}

/* Adds a node, which takes over what the work owns. */
static CUresult add(CUgraphNode *out, struct graph *g, const CUgraphNode *dependencies, size_t count, struct work *w)
{
    CUresult r = CUDA_SUCCESS;
    if (count && !dependencies)
        r = CUDA_ERROR_INVALID_VALUE;
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
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++)
        r = depend(n, (struct node *)dependencies[i]);
    if (r != CUDA_SUCCESS) {
        g->node_count--;
        object_free(&n->object);
        return r;
    }
    *out = (CUgraphNode)n;
    return CUDA_SUCCESS;
}

CUAPI CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct graph *g;
    struct work w = {0};
    CUresult r = enter_graph(graph, p ? (const void *)out : NULL, &g);
    if (r == CUDA_SUCCESS)
        r = work_kernel(&w, p);
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

/* The older description ends before the kernel handle and the context. */
static CUDA_KERNEL_NODE_PARAMS newer(const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS full = {0};
    memcpy(&full, p, sizeof *p);
    return full;
}

static CUresult add_kernel_v1(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS full = p ? newer(p) : (CUDA_KERNEL_NODE_PARAMS){0};
    return cuGraphAddKernelNode_v2(out, graph, dependencies, count, p ? &full : NULL);
}
API_ALIAS(cuGraphAddKernelNode, add_kernel_v1)

CUAPI CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count, const CUDA_MEMCPY3D *c, CUcontext ctx)
{
    struct graph *g;
    struct work w = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    (void)ctx;
    CUresult r = enter_graph(graph, c ? (const void *)out : NULL, &g);
    if (r == CUDA_SUCCESS)
        r = copy_3d_check(c);
    if (r == CUDA_SUCCESS)
        w.copy = *c;
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

CUAPI CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count, const CUDA_MEMSET_NODE_PARAMS *p,
                                    CUcontext ctx)
{
    struct graph *g;
    struct work w = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    (void)ctx;
    CUresult r = enter_graph(graph, p ? (const void *)out : NULL, &g);
    if (r == CUDA_SUCCESS)
        w.fill = *p;
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

CUAPI CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count, const CUDA_HOST_NODE_PARAMS *p)
{
    struct graph *g;
    struct work w = {.type = CU_GRAPH_NODE_TYPE_HOST};
    CUresult r = enter_graph(graph, p && p->fn ? (const void *)out : NULL, &g);
    if (r == CUDA_SUCCESS)
        w.host = *p;
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

CUAPI CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count)
{
    struct graph *g;
    struct work w = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    CUresult r = enter_graph(graph, out, &g);
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

CUAPI CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUgraph child)
{
    struct graph *g;
    struct work w = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    CUresult r = enter_graph(graph, out, &g);
    const struct graph *original = r == CUDA_SUCCESS ? object_find(child, OBJECT_GRAPH) : NULL;
    if (r == CUDA_SUCCESS)
        r = original ? graph_copy(original, &w.child) : CUDA_ERROR_INVALID_VALUE;
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

static CUresult add_event(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUevent event, CUgraphNodeType type)
{
    struct graph *g;
    struct work w = {.type = type, .event = event};
    CUresult r = enter_graph(graph, out, &g);
    if (r == CUDA_SUCCESS && !object_find(event, OBJECT_EVENT))
        r = CUDA_ERROR_INVALID_HANDLE;
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

CUAPI CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUevent event)
{
    return add_event(out, graph, dependencies, count, event, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
}
CUAPI CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUevent event)
{
    return add_event(out, graph, dependencies, count, event, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
}

CUAPI CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *out)
{
    struct node *n;
    CUresult r = enter_node(handle, out, &n);
    if (r == CUDA_SUCCESS)
        *out = n->work.type;
    return api_leave(r);
}

/* Lists: NULL asks for the number; otherwise as many as there is room for, the rest of the room filled with NULL. */
static void list(struct node **nodes, uint32_t total, bool roots_only, CUgraphNode *out, size_t *count)
{
    size_t n = 0;
    for (uint32_t i = 0; i < total; i++) {
        if (roots_only && nodes[i]->before_count)
            continue;
        if (out && n < *count)
            out[n] = (CUgraphNode)nodes[i];
        n++;
    }
    for (size_t i = n; out && i < *count; i++)
        out[i] = NULL;
    if (!out || n < *count)
        *count = n;
}

CUAPI CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
    struct graph *g;
    CUresult r = enter_graph(handle, count, &g);
    if (r == CUDA_SUCCESS)
        list(g->nodes, g->node_count, false, nodes, count);
    return api_leave(r);
}

CUAPI CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
    struct graph *g;
    CUresult r = enter_graph(handle, count, &g);
    if (r == CUDA_SUCCESS)
        list(g->nodes, g->node_count, true, nodes, count);
    return api_leave(r);
}

static CUresult dependencies_of(CUgraphNode handle, CUgraphNode *nodes, size_t *count)
{
    struct node *n;
    CUresult r = enter_node(handle, count, &n);
    if (r == CUDA_SUCCESS)
        list(n->before, n->before_count, false, nodes, count);
    return api_leave(r);
}
API_ALIAS(cuGraphNodeGetDependencies, dependencies_of)

CUAPI CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *edges, size_t *count)
{
    if (edges && nodes && count)
        memset(edges, 0, *count * sizeof *edges);
    return dependencies_of(handle, nodes, count);
}

static CUresult change(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to, size_t count, bool adding)
{
    struct graph *g;
    CUresult r = enter_graph(handle, &g, &g);
    if (r == CUDA_SUCCESS && count && (!from || !to))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
        struct node *a = object_find(from[i], OBJECT_NODE), *b = object_find(to[i], OBJECT_NODE);
        if (!a || !b || a->graph != g || b->graph != g || (!adding && !depends_on(b, a)))
            r = CUDA_ERROR_INVALID_VALUE;
        else if (adding)
            r = depend(b, a);
        else
            for (uint32_t k = 0; k < b->before_count; k++)
                if (b->before[k] == a) {
                    b->before[k] = b->before[--b->before_count];
                    break;
                }
    }
    return api_leave(r);
}

static CUresult add_dependencies_v1(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t count) { return change(g, from, to, count, true); }
static CUresult remove_dependencies_v1(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t count) { return change(g, from, to, count, false); }
API_ALIAS(cuGraphAddDependencies, add_dependencies_v1)
API_ALIAS(cuGraphRemoveDependencies, remove_dependencies_v1)

CUAPI CUresult cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges, size_t count)
{
    (void)edges; /* every edge is one of full completion */
    return change(g, from, to, count, true);
}
CUAPI CUresult cuGraphRemoveDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges, size_t count)
{
    (void)edges;
    return change(g, from, to, count, false);
}

/* Descriptions of nodes. */
static CUresult enter_typed(CUgraphNode handle, const void *argument, CUgraphNodeType type, struct node **n)
{
    CUresult r = enter_node(handle, argument, n);
    return r == CUDA_SUCCESS && (*n)->work.type != type ? CUDA_ERROR_INVALID_VALUE : r;
}

CUAPI CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *out)
{
    struct node *n;
    CUresult r = enter_typed(handle, out, CU_GRAPH_NODE_TYPE_KERNEL, &n);
    if (r == CUDA_SUCCESS)
        *out = n->work.kernel;
    return api_leave(r);
}

CUAPI CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct node *n;
    CUresult r = enter_typed(handle, p, CU_GRAPH_NODE_TYPE_KERNEL, &n);
    return api_leave(r == CUDA_SUCCESS ? work_kernel(&n->work, p) : r);
}

static CUresult set_kernel_v1(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS full = p ? newer(p) : (CUDA_KERNEL_NODE_PARAMS){0};
    return cuGraphKernelNodeSetParams_v2(handle, p ? &full : NULL);
}
API_ALIAS(cuGraphKernelNodeSetParams, set_kernel_v1)

static CUresult get_kernel_v1(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1 *out)
{
    CUDA_KERNEL_NODE_PARAMS full;
    CUresult r = cuGraphKernelNodeGetParams_v2(handle, out ? &full : NULL);
    if (r == CUDA_SUCCESS)
        memcpy(out, &full, sizeof *out);
    return r;
}
API_ALIAS(cuGraphKernelNodeGetParams, get_kernel_v1)

#define NODE_PARAMS(name, node_type, params_type, field) \
    CUAPI CUresult cuGraph##name##NodeGetParams(CUgraphNode handle, params_type *out) \
    { \
        struct node *n; \
        CUresult r = enter_typed(handle, out, node_type, &n); \
        if (r == CUDA_SUCCESS) \
            *out = n->work.field; \
        return api_leave(r); \
    } \
    CUAPI CUresult cuGraph##name##NodeSetParams(CUgraphNode handle, const params_type *p) \
    { \
        struct node *n; \
        CUresult r = enter_typed(handle, p, node_type, &n); \
        if (r == CUDA_SUCCESS) \
            n->work.field = *p; \
        return api_leave(r); \
    }
NODE_PARAMS(Memcpy, CU_GRAPH_NODE_TYPE_MEMCPY, CUDA_MEMCPY3D, copy)
NODE_PARAMS(Memset, CU_GRAPH_NODE_TYPE_MEMSET, CUDA_MEMSET_NODE_PARAMS, fill)
NODE_PARAMS(Host, CU_GRAPH_NODE_TYPE_HOST, CUDA_HOST_NODE_PARAMS, host)
