/* Changes to an instance from another graph of the same shape: all of it, or one child, or one node.
 *
 * Nodes correspond by their place: the order in which they were made. A different number, type or dependency is a
 * different shape. Everything is checked before anything is changed. */
#include "cuda/graph.h"

static CUresult differs(CUgraphExecUpdateResultInfo *info, CUgraphExecUpdateResult why, const struct node *n,
                        const struct node *from)
{
    info->result = why;
    info->errorNode = (CUgraphNode)n;
    info->errorFromNode = (CUgraphNode)from;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

static CUresult compare_graphs(const struct graph *to, const struct graph *from, CUgraphExecUpdateResultInfo *info);

static CUresult compare_edges(const struct node *to, const struct node *from, CUgraphExecUpdateResultInfo *info)
{
    bool same = to->before_count == from->before_count;
    for (uint32_t b = 0; same && b < from->before_count; b++) {
        bool found = false;
        for (uint32_t t = 0; t < to->before_count; t++)
            found |= to->before[t].on->index == from->before[b].on->index;
        if (!found)
            return differs(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, from, from->before[b].on);
    }
    return same ? CUDA_SUCCESS : differs(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, from, NULL);
}

static bool cooperative(const struct work *w)
{
    for (uint32_t i = 0; i < w->attribute_count; i++)
        if (w->attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            return w->attributes[i].value.cooperative != 0;
    return false;
}

static CUresult compare_work(const struct work *to, const struct work *from, const struct node *n,
                             CUgraphExecUpdateResultInfo *info)
{
    if (to->type != from->type)
        return differs(info, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, n, NULL);
    if (to->type == CU_GRAPH_NODE_TYPE_KERNEL && cooperative(to) != cooperative(from))
        return differs(info, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, n, NULL);
    if (to->child)
        return compare_graphs(to->child, from->child, info);
    if (!to->bodies)
        return CUDA_SUCCESS;
    if (to->condition.type != from->condition.type || to->condition.size != from->condition.size)
        return differs(info, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, n, NULL);
    CUresult r = CUDA_SUCCESS;
    for (unsigned int i = 0; r == CUDA_SUCCESS && i < to->condition.size; i++)
        r = compare_graphs(to->bodies[i], from->bodies[i], info);
    return r;
}

static CUresult compare_graphs(const struct graph *to, const struct graph *from, CUgraphExecUpdateResultInfo *info)
{
    if (to->node_count != from->node_count)
        return differs(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
    CUresult r = CUDA_SUCCESS;
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < from->node_count; i++) {
        r = compare_work(&to->nodes[i]->work, &from->nodes[i]->work, from->nodes[i], info);
        if (r == CUDA_SUCCESS)
            r = compare_edges(to->nodes[i], from->nodes[i], info);
    }
    return r;
}

/* Nodes change their work with those of a copy, which then goes with the old. */
static void swap_graphs(struct graph *to, struct graph *from)
{
    for (uint32_t i = 0; i < to->node_count; i++) {
        struct work *a = &to->nodes[i]->work, *b = &from->nodes[i]->work, old = *a;
        if (a->child) {
            swap_graphs(a->child, b->child);
            continue;
        }
        for (unsigned int k = 0; a->bodies && k < a->condition.size; k++)
            swap_graphs(a->bodies[k], b->bodies[k]);
        if (a->bodies) {
            a->condition.handle = b->condition.handle;
            continue;
        }
        *a = *b;
        *b = old;
    }
    struct condition **conditions = to->conditions;
    uint32_t count = to->condition_count;
    to->conditions = from->conditions;
    to->condition_count = from->condition_count;
    from->conditions = conditions;
    from->condition_count = count;
    struct held_object *held = to->held;
    count = to->held_count;
    to->held = from->held;
    to->held_count = from->held_count;
    from->held = held;
    from->held_count = count;
}

static CUresult update(struct graph *to, const struct graph *from, CUgraphExecUpdateResultInfo *info)
{
    struct graph *copy = NULL;
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    CUresult r = compare_graphs(to, from, info);
    if (r == CUDA_SUCCESS)
        r = graph_copy(from, &copy);
    if (r == CUDA_SUCCESS) {
        swap_graphs(to, copy);
        object_free(&copy->object);
    } else if (info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS) {
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR;
    }
    return r;
}

CUAPI CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    struct graph_exec *x;
    CUresult r = exec_enter(handle, API_CONTEXT | API_WAITING, info, &x);
    const struct graph *g = r == CUDA_SUCCESS ? object_find(graph, OBJECT_GRAPH) : NULL;
    if (r == CUDA_SUCCESS && (!g || g->owned || x->running))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = update(x->graph, g, info);
    api_leave(r);
    user_objects_settle();
    return r;
}

/* Of CUDA 10 and 11. */
static CUresult update_v1(CUgraphExec handle, CUgraph graph, CUgraphNode *error_node, CUgraphExecUpdateResult *result)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    CUresult r = cuGraphExecUpdate_v2(handle, graph, &info);
    if (error_node)
        *error_node = info.errorNode;
    if (result)
        *result = info.result;
    return r;
}
API_ALIAS(cuGraphExecUpdate, update_v1)

CUAPI CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec handle, CUgraphNode node, CUgraph child)
{
    struct graph_exec *x;
    CUgraphExecUpdateResultInfo info;
    CUresult r = exec_enter(handle, API_CONTEXT | API_WAITING, handle, &x);
    const struct node *original = r == CUDA_SUCCESS ? object_find(node, OBJECT_NODE) : NULL;
    const struct node *n = original ? graph_find_copy(x->graph, original->id) : NULL;
    const struct graph *g = r == CUDA_SUCCESS ? object_find(child, OBJECT_GRAPH) : NULL;
    if (r == CUDA_SUCCESS)
        r = g && n && n->work.child && !x->running ? update(n->work.child, g, &info) : CUDA_ERROR_INVALID_VALUE;
    return api_leave(r);
}

CUAPI CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
        CUDA_KERNEL_NODE_PARAMS k = {p->kernel.func,      p->kernel.gridDimX,       p->kernel.gridDimY,
                                     p->kernel.gridDimZ,  p->kernel.blockDimX,      p->kernel.blockDimY,
                                     p->kernel.blockDimZ, p->kernel.sharedMemBytes, p->kernel.kernelParams,
                                     p->kernel.extra,     p->kernel.kern,           p->kernel.ctx};
        return cuGraphExecKernelNodeSetParams_v2(exec, node, &k);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphExecMemcpyNodeSetParams(exec, node, &p->memcpy.copyParams, p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
        CUDA_MEMSET_NODE_PARAMS m = {p->memset.dst,         p->memset.pitch, p->memset.value,
                                     p->memset.elementSize, p->memset.width, p->memset.height};
        return cuGraphExecMemsetNodeSetParams(exec, node, &m, p->memset.ctx);
    }
    case CU_GRAPH_NODE_TYPE_HOST:
        return cuGraphExecHostNodeSetParams(exec, node, &(CUDA_HOST_NODE_PARAMS){p->host.fn, p->host.userData});
    case CU_GRAPH_NODE_TYPE_GRAPH: return cuGraphExecChildGraphNodeSetParams(exec, node, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cuGraphExecEventWaitNodeSetEvent(exec, node, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return cuGraphExecEventRecordNodeSetEvent(exec, node, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return cuGraphExecBatchMemOpNodeSetParams(exec, node, &p->memOp);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}
