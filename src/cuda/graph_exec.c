/* Graphs that run: an instance is a copy of a graph with its nodes in an order in which each comes after those it
 * depends on. They run one after another in that order, so a graph always runs the same way. Child graphs and the
 * bodies of conditional nodes run in the place of their node.
 *
 * Left out: graphs that kernels launch. */
#include "cuda/graph.h"
#include "cuda/queue.h"

#include <stdlib.h>
#include <string.h>

static void exec_destroy(struct object *o)
{
    struct graph_exec *x = (struct graph_exec *)o;
    if (x->graph)
        object_free(&x->graph->object);
}

static struct graph_exec *exec_new(const struct graph *g, struct node **culprit, CUresult *r)
{
    struct node *in_copy = NULL;
    struct graph_exec *x = object_new(sizeof *x, OBJECT_GRAPH_EXEC, NULL, exec_destroy);
    *r = x ? graph_copy(g, &x->graph) : CUDA_ERROR_OUT_OF_MEMORY;
    if (*r == CUDA_SUCCESS) {
        x->graph->owned = true;
        *r = graph_sort(x->graph, &in_copy);
    }
    if (*r == CUDA_SUCCESS)
        return x;
    for (uint32_t i = 0; in_copy && i < g->node_count; i++)
        if (g->nodes[i]->id == in_copy->origin)
            *culprit = g->nodes[i];
    if (x)
        object_free(&x->object);
    return NULL;
}

static CUresult instantiate(CUgraphExec *out, CUgraph handle, unsigned long long flags, CUgraphNode *error_node,
                            CUgraphInstantiateResult *why)
{
    struct node *culprit = NULL;
    CUresult r = api_enter(NULL, API_CONTEXT);
    const struct graph *g = r == CUDA_SUCCESS ? object_find(handle, OBJECT_GRAPH) : NULL;
    if (r == CUDA_SUCCESS && (!out || !g || g->owned || (flags & ~0xfull)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)) {
        driver_say("cuGraphInstantiate: graphs that kernels launch are not supported");
        r = CUDA_ERROR_NOT_SUPPORTED;
    }
    if (r == CUDA_SUCCESS)
        r = capture_refuse_unsafe();
    struct graph_exec *x = r == CUDA_SUCCESS ? exec_new(g, &culprit, &r) : NULL;
    if (r == CUDA_SUCCESS) {
        x->flags = flags;
        *out = (CUgraphExec)x;
    }
    *error_node = (CUgraphNode)culprit;
    *why = r == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
           : culprit         ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
                             : CUDA_GRAPH_INSTANTIATE_ERROR;
    return api_leave(r);
}

CUAPI CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph handle, unsigned long long flags)
{
    CUgraphNode culprit;
    CUgraphInstantiateResult why;
    return instantiate(out, handle, flags, &culprit, &why);
}

/* Of CUDA 10 and 11. */
static CUresult instantiate_v2(CUgraphExec *out, CUgraph handle, CUgraphNode *error_node, char *log, size_t log_bytes)
{
    CUgraphNode culprit;
    CUgraphInstantiateResult why;
    CUresult r = instantiate(out, handle, 0, &culprit, &why);
    if (error_node)
        *error_node = culprit;
    if (log && log_bytes) {
        strncpy(log,
                why == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE ? "the nodes depend on each other in a circle" : "",
                log_bytes - 1);
        log[log_bytes - 1] = '\0';
    }
    return r;
}
API_ALIAS(cuGraphInstantiate, instantiate_v2)
API_ALIAS(cuGraphInstantiate_v2, instantiate_v2)

CUAPI CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph handle, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    return instantiate(out, handle, p->flags, &p->hErrNode_out, &p->result_out);
}
API_ALIAS(cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams)

CUresult exec_enter(CUgraphExec handle, enum api_need need, const void *argument, struct graph_exec **x)
{
    CUresult r = api_enter(NULL, need);
    if (r == CUDA_SUCCESS && !argument)
        r = CUDA_ERROR_INVALID_VALUE;
    *x = r == CUDA_SUCCESS ? object_find(handle, OBJECT_GRAPH_EXEC) : NULL;
    return r == CUDA_SUCCESS && (!*x || (*x)->doomed) ? CUDA_ERROR_INVALID_VALUE : r;
}

CUAPI CUresult cuGraphExecDestroy(CUgraphExec handle)
{
    struct graph_exec *x;
    CUresult r = exec_enter(handle, API_INIT, handle, &x);
    if (r == CUDA_SUCCESS && x->running)
        x->doomed = true;
    else if (r == CUDA_SUCCESS)
        object_free(&x->object);
    api_leave(r);
    user_objects_settle();
    return r;
}

CUAPI CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *flags)
{
    struct graph_exec *x;
    CUresult r = exec_enter(handle, API_INIT, flags, &x);
    if (r == CUDA_SUCCESS)
        *flags = x->flags;
    return api_leave(r);
}

static CUresult run_graph(const struct graph *g);

static CUresult run_conditional(const struct work *w)
{
    CUresult r = CUDA_SUCCESS;
    unsigned int value = condition_value(w->condition.handle), size = w->condition.size;
    switch (w->condition.type) {
    case CU_GRAPH_COND_TYPE_IF:
        return value ? run_graph(w->bodies[0]) : size > 1 ? run_graph(w->bodies[1]) : CUDA_SUCCESS;
    case CU_GRAPH_COND_TYPE_SWITCH: return value < size ? run_graph(w->bodies[value]) : CUDA_SUCCESS;
    default:
        while (r == CUDA_SUCCESS && condition_value(w->condition.handle) && context_current()->failure == CUDA_SUCCESS)
            r = run_graph(w->bodies[0]);
        return r;
    }
}

/* After a kernel that ran past its own limit the other nodes run, as other work in a stream does, but no loop around it
 * goes on: the kernel may have been the one to end it. */
static CUresult run_graph(const struct graph *g)
{
    CUresult r = CUDA_SUCCESS, late = CUDA_SUCCESS;
    for (uint32_t i = 0; i < g->condition_count; i++)
        condition_start(g->conditions[i]);
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < g->node_count; i++) {
        const struct node *n = g->nodes[g->order[i]];
        if (n->disabled)
            continue;
        if (n->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
            r = run_graph(n->work.child);
        else if (n->work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            r = run_conditional(&n->work);
        else
            r = work_run(&n->work);
        if (queue_ran_out_of_time(r, context_current())) {
            late = r;
            r = CUDA_SUCCESS;
        }
    }
    return r == CUDA_SUCCESS ? late : r;
}

/* Memory of an earlier run that nobody has freed stands in the way of another one. */
static CUresult clear_way(struct node *n, void *user)
{
    const struct graph_exec *x = user;
    if (n->work.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC || !graph_block_is_there(n->work.block))
        return CUDA_SUCCESS;
    return x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH ? graph_block_vanish(n->work.block)
                                                                      : CUDA_ERROR_INVALID_VALUE;
}

CUresult graph_exec_run(struct graph_exec *x)
{
    CUresult r = graph_each(x->graph, clear_way, x);
    return r == CUDA_SUCCESS ? run_graph(x->graph) : r;
}

void graph_exec_hold(struct graph_exec *x) { x->running++; }

void graph_exec_release(struct graph_exec *x)
{
    if (--x->running == 0 && x->doomed)
        object_free(&x->object);
}

CUAPI CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream)
{
    struct graph_exec *x;
    CUresult r = exec_enter(handle, API_CONTEXT, handle, &x);
    if (r == CUDA_SUCCESS)
        r = capture_refuse(stream);
    if (r == CUDA_SUCCESS)
        r = queue_submit_graph(stream, x);
    api_leave(r);
    user_objects_settle();
    return r;
}
API_ALIAS(cuGraphLaunch_ptsz, cuGraphLaunch)

CUAPI CUresult cuGraphUpload(CUgraphExec handle, CUstream stream)
{
    struct graph_exec *x;
    CUresult r = exec_enter(handle, API_CONTEXT, handle, &x);
    return api_leave(r == CUDA_SUCCESS ? capture_refuse(stream) : r);
}
API_ALIAS(cuGraphUpload_ptsz, cuGraphUpload)
