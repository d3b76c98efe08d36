/* Graphs that run: an instance holds copies of the nodes' work in an order that respects their dependencies, one after another. */
#include "cuda/graph.h"

#include <stdlib.h>
#include <string.h>

static void exec_destroy(struct object *o)
{
    struct graph_exec *x = (struct graph_exec *)o;
    for (uint32_t i = 0; i < x->step_count; i++)
        work_free(&x->steps[i]);
    free(x->steps);
    free(x->from);
}

static CUresult add_steps(struct graph_exec *x, const struct graph *g);

static CUresult add_step(struct graph_exec *x, struct node *n)
{
    if (n->work.child)
        return add_steps(x, n->work.child);
    struct work *steps = realloc(x->steps, (x->step_count + 1) * sizeof *steps);
    if (steps)
        x->steps = steps;
    struct node **from = realloc(x->from, (x->step_count + 1) * sizeof *from);
    if (from)
        x->from = from;
    if (!steps || !from)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult r = work_copy(&x->steps[x->step_count], &n->work);
    x->from[x->step_count++] = n;
    return r;
}

/* Children are run in place. */
static CUresult add_steps(struct graph_exec *x, const struct graph *g)
{
    uint32_t *order = calloc(g->node_count + 1u, sizeof *order);
    CUresult r = !order ? CUDA_ERROR_OUT_OF_MEMORY : graph_order(g, order) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < g->node_count && r == CUDA_SUCCESS; i++)
        r = add_step(x, g->nodes[order[i]]);
    free(order);
    return r;
}

CUAPI CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph handle, unsigned long long flags)
{
    CUresult r = api_enter(NULL, API_CONTEXT);
    const struct graph *g = r == CUDA_SUCCESS ? object_find(handle, OBJECT_GRAPH) : NULL;
    if (r == CUDA_SUCCESS && (!out || !g || (flags & ~0xfull)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH))
        r = CUDA_ERROR_NOT_SUPPORTED;
    struct graph_exec *x = r == CUDA_SUCCESS ? object_new(sizeof *x, OBJECT_GRAPH_EXEC, NULL, exec_destroy) : NULL;
    if (r == CUDA_SUCCESS)
        r = x ? add_steps(x, g) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        x->flags = flags;
        *out = (CUgraphExec)x;
    } else if (x) {
        object_free(&x->object);
    }
    return api_leave(r);
}

/* Of CUDA 10 and 11. */
static CUresult instantiate_v2(CUgraphExec *out, CUgraph handle, CUgraphNode *error_node, char *log, size_t log_bytes)
{
    if (error_node)
        *error_node = NULL;
    if (log && log_bytes)
        *log = '\0';
    return cuGraphInstantiateWithFlags(out, handle, 0);
}
API_ALIAS(cuGraphInstantiate, instantiate_v2)
API_ALIAS(cuGraphInstantiate_v2, instantiate_v2)

CUAPI CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph handle, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = cuGraphInstantiateWithFlags(out, handle, p->flags);
    p->hErrNode_out = NULL;
    p->result_out = r == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return r;
}
API_ALIAS(cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams)

static CUresult enter(CUgraphExec handle, enum api_need need, const void *argument, struct graph_exec **x)
{
    CUresult r = api_enter(NULL, need);
    if (r == CUDA_SUCCESS && !argument)
        r = CUDA_ERROR_INVALID_VALUE;
    *x = r == CUDA_SUCCESS ? object_find(handle, OBJECT_GRAPH_EXEC) : NULL;
    return r == CUDA_SUCCESS && !*x ? CUDA_ERROR_INVALID_VALUE : r;
}

CUAPI CUresult cuGraphExecDestroy(CUgraphExec handle)
{
    struct graph_exec *x;
    CUresult r = enter(handle, API_INIT, &x, &x);
    if (r == CUDA_SUCCESS)
        object_free(&x->object);
    return api_leave(r);
}

CUAPI CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *flags)
{
    struct graph_exec *x;
    CUresult r = enter(handle, API_INIT, flags, &x);
    if (r == CUDA_SUCCESS)
        *flags = x->flags;
    return api_leave(r);
}

CUAPI CUresult cuGraphUpload(CUgraphExec handle, CUstream stream)
{
    struct graph_exec *x;
    CUresult r = enter(handle, API_CONTEXT, &x, &x);
    return api_leave(r == CUDA_SUCCESS ? stream_check(stream) : r);
}
API_ALIAS(cuGraphUpload_ptsz, cuGraphUpload)

static CUresult run_kernel(const struct work *w)
{
    const CUDA_KERNEL_NODE_PARAMS *p = &w->kernel;
    struct function *f;
    struct launch_shape s = {.grid = {p->gridDimX, p->gridDimY, p->gridDimZ}, .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                             .shared_bytes = p->sharedMemBytes};
    CUresult r = function_resolve(p->func, &f);
    return r == CUDA_SUCCESS ? launch_packed(f, &s, w->params) : r;
}

static CUresult run_event(const struct work *w)
{
    struct event *e = object_find(w->event, OBJECT_EVENT);
    if (!e)
        return CUDA_ERROR_INVALID_HANDLE;
    if (w->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        event_stamp(e);
    return CUDA_SUCCESS;
}

static CUresult run_work(const struct work *w)
{
    switch (w->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return run_kernel(w);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_3d(&w->copy);
    case CU_GRAPH_NODE_TYPE_MEMSET: return memset_fill(w->fill.dst, w->fill.pitch, w->fill.value, w->fill.elementSize, w->fill.width, w->fill.height);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return run_event(w);
    default: return CUDA_SUCCESS;
    }
}

/* Host functions are called with the lock open; the instance is looked up again after each. */
CUAPI CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream)
{
    struct graph_exec *x;
    CUresult r = enter(handle, API_CONTEXT, &x, &x);
    if (r == CUDA_SUCCESS)
        r = stream_check(stream);
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < x->step_count; i++) {
        if (x->steps[i].type != CU_GRAPH_NODE_TYPE_HOST) {
            r = run_work(&x->steps[i]);
            continue;
        }
        CUDA_HOST_NODE_PARAMS host = x->steps[i].host;
        api_leave(r);
        host.fn(host.userData);
        r = enter(handle, API_CONTEXT, &x, &x);
    }
    return api_leave(r);
}
API_ALIAS(cuGraphLaunch_ptsz, cuGraphLaunch)

/* The step that a node of the original graph became. */
static CUresult enter_step(CUgraphExec handle, CUgraphNode node, const void *argument, CUgraphNodeType type, struct work **w)
{
    struct graph_exec *x;
    CUresult r = enter(handle, API_CONTEXT, argument, &x);
    *w = NULL;
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < x->step_count; i++)
        if (x->from[i] == (struct node *)node && x->steps[i].type == type)
            *w = &x->steps[i];
    return r == CUDA_SUCCESS && !*w ? CUDA_ERROR_INVALID_VALUE : r;
}

CUAPI CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec handle, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct work *w;
    CUresult r = enter_step(handle, node, p, CU_GRAPH_NODE_TYPE_KERNEL, &w);
    return api_leave(r == CUDA_SUCCESS ? work_kernel(w, p) : r);
}

static CUresult set_kernel_v1(CUgraphExec handle, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS full = {0};
    if (p)
        memcpy(&full, p, sizeof *p);
    return cuGraphExecKernelNodeSetParams_v2(handle, node, p ? &full : NULL);
}
API_ALIAS(cuGraphExecKernelNodeSetParams, set_kernel_v1)

CUAPI CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec handle, CUgraphNode node, const CUDA_MEMCPY3D *c, CUcontext ctx)
{
    struct work *w;
    (void)ctx;
    CUresult r = enter_step(handle, node, c, CU_GRAPH_NODE_TYPE_MEMCPY, &w);
    if (r == CUDA_SUCCESS)
        r = copy_3d_check(c);
    if (r == CUDA_SUCCESS)
        w->copy = *c;
    return api_leave(r);
}

CUAPI CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec handle, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx)
{
    struct work *w;
    (void)ctx;
    CUresult r = enter_step(handle, node, p, CU_GRAPH_NODE_TYPE_MEMSET, &w);
    if (r == CUDA_SUCCESS)
        w->fill = *p;
    return api_leave(r);
}

CUAPI CUresult cuGraphExecHostNodeSetParams(CUgraphExec handle, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
    struct work *w;
    CUresult r = enter_step(handle, node, p && p->fn ? p : NULL, CU_GRAPH_NODE_TYPE_HOST, &w);
    if (r == CUDA_SUCCESS)
        w->host = *p;
    return api_leave(r);
}
