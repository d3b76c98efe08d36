/* What nodes do: making them, and reading and changing their descriptions, in a graph and in an instance of it. Memory,
 * conditional nodes and attributes of kernels have files of their own.
 *
 * Left out: external semaphores, and kernels that other kernels update. */
#include "cuda/graph.h"

#include <string.h>

static CUresult add(CUgraphNode *out, struct graph *g, const CUgraphNode *dependencies, size_t count, struct work *w)
{
    struct node *n = NULL;
    CUresult r = graph_add(g, dependencies, NULL, count, w, &n);
    if (r == CUDA_SUCCESS)
        *out = (CUgraphNode)n;
    return r;
}

/* The older description ends before the kernel handle and the context. */
static CUDA_KERNEL_NODE_PARAMS newer(const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS full = {0};
    memcpy(&full, p, sizeof *p);
    return full;
}

CUAPI CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                       const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct graph *g;
    struct work w;
    CUresult r = graph_enter(graph, p ? (const void *)out : NULL, &g);
    if (r == CUDA_SUCCESS)
        r = work_kernel(&w, p);
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

static CUresult add_kernel_v1(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS full = p ? newer(p) : (CUDA_KERNEL_NODE_PARAMS){0};
    return cuGraphAddKernelNode_v2(out, graph, dependencies, count, p ? &full : NULL);
}
API_ALIAS(cuGraphAddKernelNode, add_kernel_v1)

CUAPI CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                    const CUDA_MEMCPY3D *c, CUcontext ctx)
{
    struct graph *g;
    struct work w;
    (void)ctx;
    CUresult r = graph_enter(graph, c ? (const void *)out : NULL, &g);
    if (r == CUDA_SUCCESS)
        r = work_memcpy(&w, c);
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

CUAPI CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                    const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx)
{
    struct graph *g;
    struct work w;
    CUresult r = graph_enter(graph, p ? (const void *)out : NULL, &g);
    if (r == CUDA_SUCCESS && !ctx &&
        graph_memory_holds(p->dst,
                           1)) /* memory that is not there yet belongs to no context that could be taken instead */
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = work_memset(&w, p);
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

CUAPI CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                  const CUDA_HOST_NODE_PARAMS *p)
{
    struct graph *g;
    struct work w;
    CUresult r = graph_enter(graph, p ? (const void *)out : NULL, &g);
    if (r == CUDA_SUCCESS)
        r = work_host(&w, p);
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

CUAPI CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count)
{
    struct graph *g;
    struct work w = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    CUresult r = graph_enter(graph, out, &g);
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

static CUresult work_child(struct work *w, CUgraph handle)
{
    struct graph *child = object_find(handle, OBJECT_GRAPH);
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_GRAPH};
    CUresult r = child ? graph_copy(child, &w->child) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        w->child->owned = true;
    return r;
}

CUAPI CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                        CUgraph child)
{
    struct graph *g;
    struct work w;
    CUresult r = graph_enter(graph, out, &g);
    if (r == CUDA_SUCCESS)
        r = work_child(&w, child);
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

static CUresult add_event(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUevent event,
                          CUgraphNodeType type)
{
    struct graph *g;
    struct work w;
    CUresult r = graph_enter(graph, out, &g);
    if (r == CUDA_SUCCESS)
        r = work_event(&w, type, event);
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

CUAPI CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                         CUevent event)
{
    return add_event(out, graph, dependencies, count, event, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
}
CUAPI CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                       CUevent event)
{
    return add_event(out, graph, dependencies, count, event, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
}

CUAPI CUresult cuGraphAddBatchMemOpNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    struct graph *g;
    struct work w;
    CUresult r = graph_enter(graph, p && !p->flags ? (const void *)out : NULL, &g);
    if (r == CUDA_SUCCESS)
        r = work_mem_ops(&w, p->paramArray, p->count);
    return api_leave(r == CUDA_SUCCESS ? add(out, g, dependencies, count, &w) : r);
}

static CUresult kernel_of_params(struct work *w, const CUDA_KERNEL_NODE_PARAMS_v3 *p)
{
    CUDA_KERNEL_NODE_PARAMS v2;
    _Static_assert(sizeof v2 == sizeof *p, "the same fields");
    memcpy(&v2, p, sizeof v2);
    return work_kernel(w, &v2);
}

static CUresult memset_of_params(struct work *w, const CUDA_MEMSET_NODE_PARAMS_v2 *p)
{
    CUDA_MEMSET_NODE_PARAMS v1 = {p->dst, p->pitch, p->value, p->elementSize, p->width, p->height};
    return work_memset(w, &v1);
}

static CUresult host_of_params(struct work *w, const CUDA_HOST_NODE_PARAMS_v2 *p)
{
    CUDA_HOST_NODE_PARAMS v1 = {p->fn, p->userData};
    return work_host(w, &v1);
}

CUresult work_of_params(struct work *w, CUgraphNodeParams *p)
{
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernel_of_params(w, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return work_memcpy(w, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: return memset_of_params(w, &p->memset);
    case CU_GRAPH_NODE_TYPE_HOST: return host_of_params(w, &p->host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return p->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE ? work_child(w, p->graph.graph)
                                                                          : CUDA_ERROR_INVALID_VALUE;
    case CU_GRAPH_NODE_TYPE_EMPTY: *w = (struct work){.type = CU_GRAPH_NODE_TYPE_EMPTY}; return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return work_event(w, p->type, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return work_event(w, p->type, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return work_alloc(w, &p->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return work_free_memory(w, p->free.dptr);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return work_mem_ops(w, p->memOp.paramArray, p->memOp.count);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return work_condition(w, &p->conditional);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult holds_graph(struct node *n, void *user)
{
    bool holds = n->work.child == user;
    for (unsigned int i = 0; n->work.bodies && i < n->work.condition.size; i++)
        holds |= n->work.bodies[i] == user;
    return holds ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* A child that moves into its node, instead of a copy; not into itself. */
static CUresult add_moved(struct graph *g, const CUgraphNode *dependencies, const CUgraphEdgeData *edges, size_t count,
                          CUgraph handle, struct node **out)
{
    struct work w = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    struct graph *child = object_find(handle, OBJECT_GRAPH);
    if (!child || child == g || child->owned || capture_into(child) ||
        graph_each(child, holds_graph, g) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = graph_add(g, dependencies, edges, count, &w, out);
    if (r == CUDA_SUCCESS) {
        (*out)->work.child = child;
        child->owned = true;
    }
    return r;
}

CUAPI CUresult cuGraphAddNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                                 const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *p)
{
    struct graph *g;
    struct work w;
    struct node *n = NULL;
    CUresult r = graph_enter(graph, p ? (const void *)out : NULL, &g);
    if (r == CUDA_SUCCESS && p->type == CU_GRAPH_NODE_TYPE_GRAPH &&
        p->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
        r = add_moved(g, dependencies, edges, count, p->graph.graph, &n);
    } else if (r == CUDA_SUCCESS) {
        r = work_of_params(&w, p);
        if (r == CUDA_SUCCESS)
            r = graph_add(g, dependencies, edges, count, &w, &n);
    }
    if (r == CUDA_SUCCESS)
        *out = (CUgraphNode)n;
    return api_leave(r);
}

static CUresult add_node_v1(CUgraphNode *out, CUgraph g, const CUgraphNode *dependencies, size_t count,
                            CUgraphNodeParams *p)
{
    return cuGraphAddNode_v2(out, g, dependencies, NULL, count, p);
}
API_ALIAS(cuGraphAddNode, add_node_v1)

CUAPI CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *out)
{
    struct node *n;
    CUresult r = node_enter(handle, out, &n);
    if (r == CUDA_SUCCESS)
        *out = n->work.type;
    return api_leave(r);
}

static CUresult enter_typed(CUgraphNode handle, const void *argument, CUgraphNodeType type, struct node **n)
{
    CUresult r = node_enter(handle, argument, n);
    return r == CUDA_SUCCESS && (*n)->work.type != type ? CUDA_ERROR_INVALID_VALUE : r;
}

/* The node that a node of the original graph became in an instance. */
static CUresult enter_instance(CUgraphExec exec, CUgraphNode handle, const void *argument, CUgraphNodeType type,
                               struct node **n)
{
    struct graph_exec *x;
    CUresult r = exec_enter(exec, API_CONTEXT | API_WAITING, argument, &x);
    const struct node *original = r == CUDA_SUCCESS ? object_find(handle, OBJECT_NODE) : NULL;
    *n = original ? graph_find_copy(x->graph, original->id) : NULL;
    return r == CUDA_SUCCESS && (!*n || (*n)->work.type != type) ? CUDA_ERROR_INVALID_VALUE : r;
}

/* The new work takes the place of the old; attributes of a kernel stay. */
static void replace(struct node *n, struct work *w)
{
    if (n->work.type == CU_GRAPH_NODE_TYPE_KERNEL) {
        w->attributes = n->work.attributes;
        w->attribute_count = n->work.attribute_count;
        n->work.attributes = NULL;
    }
    work_free(&n->work);
    n->work = *w;
}

/* Both forms of a change, from an expression that makes `w` from `p`. */
#define SET_PARAMS(name, node_type, parameter, make)                                 \
    CUAPI CUresult cuGraph##name(CUgraphNode handle, parameter)                      \
    {                                                                                \
        struct node *n;                                                              \
        struct work w;                                                               \
        CUresult r = enter_typed(handle, (const void *)(uintptr_t)p, node_type, &n); \
        if (r == CUDA_SUCCESS)                                                       \
            r = make;                                                                \
        if (r == CUDA_SUCCESS)                                                       \
            replace(n, &w);                                                          \
        return api_leave(r);                                                         \
    }
#define EXEC_SET_PARAMS(name, node_type, parameters, make)                                    \
    CUAPI CUresult cuGraphExec##name(CUgraphExec exec, CUgraphNode handle, parameters)        \
    {                                                                                         \
        struct node *n;                                                                       \
        struct work w;                                                                        \
        CUresult r = enter_instance(exec, handle, (const void *)(uintptr_t)p, node_type, &n); \
        if (r == CUDA_SUCCESS)                                                                \
            r = make;                                                                         \
        if (r == CUDA_SUCCESS)                                                                \
            replace(n, &w);                                                                   \
        return api_leave(r);                                                                  \
    }
#define WITH_CONTEXT(parameter) parameter, __attribute__((unused)) CUcontext ctx

SET_PARAMS(KernelNodeSetParams_v2, CU_GRAPH_NODE_TYPE_KERNEL, const CUDA_KERNEL_NODE_PARAMS *p, work_kernel(&w, p))
EXEC_SET_PARAMS(KernelNodeSetParams_v2, CU_GRAPH_NODE_TYPE_KERNEL, const CUDA_KERNEL_NODE_PARAMS *p, work_kernel(&w, p))
SET_PARAMS(MemcpyNodeSetParams, CU_GRAPH_NODE_TYPE_MEMCPY, const CUDA_MEMCPY3D *p, work_memcpy(&w, p))
EXEC_SET_PARAMS(MemcpyNodeSetParams, CU_GRAPH_NODE_TYPE_MEMCPY, WITH_CONTEXT(const CUDA_MEMCPY3D *p),
                work_memcpy(&w, p))
SET_PARAMS(MemsetNodeSetParams, CU_GRAPH_NODE_TYPE_MEMSET, const CUDA_MEMSET_NODE_PARAMS *p, work_memset(&w, p))
EXEC_SET_PARAMS(MemsetNodeSetParams, CU_GRAPH_NODE_TYPE_MEMSET, WITH_CONTEXT(const CUDA_MEMSET_NODE_PARAMS *p),
                work_memset(&w, p))
SET_PARAMS(HostNodeSetParams, CU_GRAPH_NODE_TYPE_HOST, const CUDA_HOST_NODE_PARAMS *p, work_host(&w, p))
EXEC_SET_PARAMS(HostNodeSetParams, CU_GRAPH_NODE_TYPE_HOST, const CUDA_HOST_NODE_PARAMS *p, work_host(&w, p))
SET_PARAMS(EventRecordNodeSetEvent, CU_GRAPH_NODE_TYPE_EVENT_RECORD, CUevent p,
           work_event(&w, CU_GRAPH_NODE_TYPE_EVENT_RECORD, p))
EXEC_SET_PARAMS(EventRecordNodeSetEvent, CU_GRAPH_NODE_TYPE_EVENT_RECORD, CUevent p,
                work_event(&w, CU_GRAPH_NODE_TYPE_EVENT_RECORD, p))
SET_PARAMS(EventWaitNodeSetEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT, CUevent p,
           work_event(&w, CU_GRAPH_NODE_TYPE_WAIT_EVENT, p))
EXEC_SET_PARAMS(EventWaitNodeSetEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT, CUevent p,
                work_event(&w, CU_GRAPH_NODE_TYPE_WAIT_EVENT, p))
SET_PARAMS(BatchMemOpNodeSetParams, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p,
           work_mem_ops(&w, p->paramArray, p->count))
EXEC_SET_PARAMS(BatchMemOpNodeSetParams, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p,
                work_mem_ops(&w, p->paramArray, p->count))

/* Memory and conditions stay what they were made as. */
CUAPI CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams *p)
{
    struct node *n;
    struct work w;
    CUresult r = node_enter(handle, p, &n);
    bool fixed =
        r == CUDA_SUCCESS && (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || p->type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
                              p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL);
    if (r == CUDA_SUCCESS && (fixed || n->work.type != p->type))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = work_of_params(&w, p);
    if (r == CUDA_SUCCESS)
        replace(n, &w);
    return api_leave(r);
}

static CUresult set_kernel_v1(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS full = p ? newer(p) : (CUDA_KERNEL_NODE_PARAMS){0};
    return cuGraphKernelNodeSetParams_v2(handle, p ? &full : NULL);
}
API_ALIAS(cuGraphKernelNodeSetParams, set_kernel_v1)

static CUresult exec_set_kernel_v1(CUgraphExec exec, CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS full = p ? newer(p) : (CUDA_KERNEL_NODE_PARAMS){0};
    return cuGraphExecKernelNodeSetParams_v2(exec, handle, p ? &full : NULL);
}
API_ALIAS(cuGraphExecKernelNodeSetParams, exec_set_kernel_v1)

#define GET_PARAMS(name, node_type, type, value)                \
    CUAPI CUresult cuGraph##name(CUgraphNode handle, type *out) \
    {                                                           \
        struct node *n;                                         \
        CUresult r = enter_typed(handle, out, node_type, &n);   \
        if (r == CUDA_SUCCESS)                                  \
            *out = value;                                       \
        return api_leave(r);                                    \
    }
GET_PARAMS(KernelNodeGetParams_v2, CU_GRAPH_NODE_TYPE_KERNEL, CUDA_KERNEL_NODE_PARAMS, n->work.kernel)
GET_PARAMS(MemcpyNodeGetParams, CU_GRAPH_NODE_TYPE_MEMCPY, CUDA_MEMCPY3D, n->work.copy)
GET_PARAMS(MemsetNodeGetParams, CU_GRAPH_NODE_TYPE_MEMSET, CUDA_MEMSET_NODE_PARAMS, n->work.fill)
GET_PARAMS(HostNodeGetParams, CU_GRAPH_NODE_TYPE_HOST, CUDA_HOST_NODE_PARAMS, n->work.host)
GET_PARAMS(EventRecordNodeGetEvent, CU_GRAPH_NODE_TYPE_EVENT_RECORD, CUevent, n->work.event)
GET_PARAMS(EventWaitNodeGetEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT, CUevent, n->work.event)
GET_PARAMS(ChildGraphNodeGetGraph, CU_GRAPH_NODE_TYPE_GRAPH, CUgraph, (CUgraph)n->work.child)
GET_PARAMS(MemAllocNodeGetParams, CU_GRAPH_NODE_TYPE_MEM_ALLOC, CUDA_MEM_ALLOC_NODE_PARAMS, n->work.alloc)
GET_PARAMS(MemFreeNodeGetParams, CU_GRAPH_NODE_TYPE_MEM_FREE, CUdeviceptr, n->work.alloc.dptr)
GET_PARAMS(BatchMemOpNodeGetParams, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, CUDA_BATCH_MEM_OP_NODE_PARAMS,
           ((CUDA_BATCH_MEM_OP_NODE_PARAMS){.count = n->work.mem_op_count, .paramArray = n->work.mem_ops}))

static CUresult get_kernel_v1(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1 *out)
{
    CUDA_KERNEL_NODE_PARAMS full;
    CUresult r = cuGraphKernelNodeGetParams_v2(handle, out ? &full : NULL);
    if (r == CUDA_SUCCESS)
        memcpy(out, &full, sizeof *out);
    return r;
}
API_ALIAS(cuGraphKernelNodeGetParams, get_kernel_v1)

CUAPI CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode handle, unsigned int enabled)
{
    struct node *n;
    const struct node *original = NULL;
    struct graph_exec *x;
    CUresult r = exec_enter(exec, API_CONTEXT | API_WAITING, exec, &x);
    original = r == CUDA_SUCCESS ? object_find(handle, OBJECT_NODE) : NULL;
    n = original ? graph_find_copy(x->graph, original->id) : NULL;
    bool can = n && (n->work.type == CU_GRAPH_NODE_TYPE_KERNEL || n->work.type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                     n->work.type == CU_GRAPH_NODE_TYPE_MEMSET);
    if (r == CUDA_SUCCESS && !can)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        n->disabled = !enabled;
    return api_leave(r);
}

CUAPI CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode handle, unsigned int *enabled)
{
    struct graph_exec *x;
    CUresult r = exec_enter(exec, API_CONTEXT, enabled, &x);
    const struct node *original = r == CUDA_SUCCESS ? object_find(handle, OBJECT_NODE) : NULL;
    const struct node *n = original ? graph_find_copy(x->graph, original->id) : NULL;
    if (r == CUDA_SUCCESS && !n)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *enabled = !n->disabled;
    return api_leave(r);
}

/* Attributes of kernels: those of launches. */
CUAPI CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id, CUkernelNodeAttrValue *value)
{
    struct node *n;
    CUresult r = enter_typed(handle, value, CU_GRAPH_NODE_TYPE_KERNEL, &n);
    if (r == CUDA_SUCCESS && !launch_attribute_known(id))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    memset(value, 0, sizeof *value);
    for (uint32_t i = 0; i < n->work.attribute_count; i++)
        if (n->work.attributes[i].id == id)
            *value = n->work.attributes[i].value;
    return api_leave(r);
}

CUAPI CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                             const CUkernelNodeAttrValue *value)
{
    struct node *n;
    struct launch_shape s = {0};
    CUresult r = enter_typed(handle, value, CU_GRAPH_NODE_TYPE_KERNEL, &n);
    if (r == CUDA_SUCCESS) {
        CUlaunchAttribute one = {.id = id, .value = *value};
        r = launch_attributes(&(CUlaunchConfig){.attrs = &one, .numAttrs = 1}, &s);
    }
    return api_leave(r == CUDA_SUCCESS ? work_set_attribute(&n->work, id, value) : r);
}

CUAPI CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
    struct node *n;
    CUresult r = enter_typed(to, to, CU_GRAPH_NODE_TYPE_KERNEL, &n);
    const struct node *source = r == CUDA_SUCCESS ? object_find(from, OBJECT_NODE) : NULL;
    if (r == CUDA_SUCCESS && (!source || source->work.type != CU_GRAPH_NODE_TYPE_KERNEL))
        r = CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < source->work.attribute_count; i++)
        r = work_set_attribute(&n->work, source->work.attributes[i].id, &source->work.attributes[i].value);
    return api_leave(r);
}
