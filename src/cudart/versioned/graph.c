/* Calls of graphs and capture whose arguments changed between generations of CUDA. Up to CUDA 12 a new form got a new
 * name (_v2, _v3) and the old name stayed what it was; CUDA 13 gave the new form the old name. */
#include "cudart/graph.h"

#if CUDART_MAJOR == 11
RTAPI cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t g, cudaGraphNode_t *error_node, char *log,
                                       size_t log_bytes)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
    int r = rt_enter() ?: (int)cuGraphInstantiateWithParams(out, g, &p);
    if (error_node)
        *error_node = p.hErrNode_out;
    if (log && log_bytes)
        *log = '\0';
    return rt_leave(r);
}

RTAPI cudaError_t cudaGraphExecUpdate(cudaGraphExec_t x, cudaGraph_t g, cudaGraphNode_t *error_node,
                                      CUgraphExecUpdateResult *result)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    int r = rt_enter() ?: (int)cuGraphExecUpdate(x, g, &info);
    if (error_node)
        *error_node = info.errorNode;
    if (result)
        *result = info.result;
    return rt_leave(r);
}
#else
RTAPI cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags)
{
    return rt_leave(rt_enter() ?: (int)cuGraphInstantiateWithFlags(out, g, flags));
}

RTAPI cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
    return rt_leave(rt_enter() ?: (int)cuGraphInstantiateWithParams(out, g, p));
}
RT_ALIAS(cudaGraphInstantiateWithParams_ptsz, cudaGraphInstantiateWithParams)

RTAPI cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t x, unsigned long long *flags)
{
    cuuint64_t driver = 0;
    int r = rt_enter() ?: (int)cuGraphExecGetFlags(x, flags ? &driver : NULL);
    if (!r)
        *flags = driver;
    return rt_leave(r);
}

RTAPI cudaError_t cudaGraphExecUpdate(cudaGraphExec_t x, cudaGraph_t g, CUgraphExecUpdateResultInfo *info)
{
    return rt_leave(rt_enter() ?: (int)cuGraphExecUpdate(x, g, info));
}

RTAPI cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t n, struct cudaGraphNodeParams *p)
{
    CUgraphNodeParams driver;
    return rt_leave(rt_enter() ?: graph_node_params(p, &driver) ?: (int)cuGraphNodeSetParams(n, &driver));
}

RTAPI cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n, struct cudaGraphNodeParams *p)
{
    CUgraphNodeParams driver;
    return rt_leave(rt_enter() ?: graph_node_params(p, &driver) ?: (int)cuGraphExecNodeSetParams(x, n, &driver));
}

static cudaError_t add_node(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *dependencies,
                            const cudaGraphEdgeData *edges, size_t count, struct cudaGraphNodeParams *p)
{
    CUgraphNodeParams driver;
    int r = rt_enter() ?: graph_node_params(p, &driver);
    r = r ?: (int)cuGraphAddNode_v2(out, g, dependencies, edges, count, &driver);
    if (!r)
        graph_node_params_back(&driver, p);
    return rt_leave(r);
}

RTAPI cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t s, cudaGraph_t g, const cudaGraphNode_t *nodes,
                                                const cudaGraphEdgeData *edges, size_t count, CUstreamCaptureMode mode)
{
    return rt_leave(rt_enter() ?: (int)cuStreamBeginCaptureToGraph(s, g, nodes, edges, count, mode));
}
RTAPI cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t s, cudaGraph_t g, const cudaGraphNode_t *nodes,
                                                     const cudaGraphEdgeData *edges, size_t count,
                                                     CUstreamCaptureMode mode)
{
    return cudaStreamBeginCaptureToGraph(graph_per_thread(s), g, nodes, edges, count, mode);
}
#endif

/* With what edges say. */
static cudaError_t add_edges(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                             const cudaGraphEdgeData *edges, size_t count)
{
    return rt_leave(rt_enter() ?: (int)cuGraphAddDependencies_v2(g, from, to, edges, count));
}
static cudaError_t remove_edges(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                const cudaGraphEdgeData *edges, size_t count)
{
    return rt_leave(rt_enter() ?: (int)cuGraphRemoveDependencies_v2(g, from, to, edges, count));
}
static cudaError_t get_edges(cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges,
                             size_t *count)
{
    return rt_leave(rt_enter() ?: (int)cuGraphGetEdges_v2(g, from, to, edges, count));
}
static cudaError_t get_before(cudaGraphNode_t n, cudaGraphNode_t *nodes, cudaGraphEdgeData *edges, size_t *count)
{
    return rt_leave(rt_enter() ?: (int)cuGraphNodeGetDependencies_v2(n, nodes, edges, count));
}
static cudaError_t get_after(cudaGraphNode_t n, cudaGraphNode_t *nodes, cudaGraphEdgeData *edges, size_t *count)
{
    return rt_leave(rt_enter() ?: (int)cuGraphNodeGetDependentNodes_v2(n, nodes, edges, count));
}
static cudaError_t capture_info(cudaStream_t s, CUstreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *g,
                                const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges, size_t *count)
{
    cuuint64_t number = 0;
    int r = rt_enter() ?: (int)cuStreamGetCaptureInfo_v3(s, status, &number, g, nodes, edges, count);
    if (!r && id && *status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        *id = number;
    return rt_leave(r);
}
static cudaError_t capture_info_ptsz(cudaStream_t s, CUstreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *g, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                     size_t *count)
{
    return capture_info(graph_per_thread(s), status, id, g, nodes, edges, count);
}
static cudaError_t capture_update(cudaStream_t s, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges, size_t count,
                                  unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuStreamUpdateCaptureDependencies_v2(s, nodes, edges, count, flags));
}
static cudaError_t capture_update_ptsz(cudaStream_t s, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges,
                                       size_t count, unsigned int flags)
{
    return capture_update(graph_per_thread(s), nodes, edges, count, flags);
}

#if CUDART_MAJOR >= 13
RT_ALIAS(cudaGraphAddNode, add_node)
RT_ALIAS(cudaGraphAddDependencies, add_edges)
RT_ALIAS(cudaGraphRemoveDependencies, remove_edges)
RT_ALIAS(cudaGraphGetEdges, get_edges)
RT_ALIAS(cudaGraphNodeGetDependencies, get_before)
RT_ALIAS(cudaGraphNodeGetDependentNodes, get_after)
RT_ALIAS(cudaStreamGetCaptureInfo, capture_info)
RT_ALIAS(cudaStreamGetCaptureInfo_ptsz, capture_info_ptsz)
RT_ALIAS(cudaStreamUpdateCaptureDependencies, capture_update)
RT_ALIAS(cudaStreamUpdateCaptureDependencies_ptsz, capture_update_ptsz)
#else
RTAPI cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                           size_t count)
{
    return add_edges(g, from, to, NULL, count);
}
RTAPI cudaError_t cudaGraphRemoveDependencies(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                              size_t count)
{
    return remove_edges(g, from, to, NULL, count);
}
RTAPI cudaError_t cudaGraphGetEdges(cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    return get_edges(g, from, to, NULL, count);
}
RTAPI cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t n, cudaGraphNode_t *nodes, size_t *count)
{
    return get_before(n, nodes, NULL, count);
}
RTAPI cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t n, cudaGraphNode_t *nodes, size_t *count)
{
    return get_after(n, nodes, NULL, count);
}
RTAPI cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, CUstreamCaptureStatus *status, unsigned long long *id)
{
    return capture_info(s, status, id, NULL, NULL, NULL, NULL);
}
RTAPI cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t s, CUstreamCaptureStatus *status, unsigned long long *id)
{
    return capture_info_ptsz(s, status, id, NULL, NULL, NULL, NULL);
}
RTAPI cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t s, CUstreamCaptureStatus *status, unsigned long long *id,
                                              cudaGraph_t *g, const cudaGraphNode_t **nodes, size_t *count)
{
    return capture_info(s, status, id, g, nodes, NULL, count);
}
RTAPI cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t s, CUstreamCaptureStatus *status,
                                                   unsigned long long *id, cudaGraph_t *g,
                                                   const cudaGraphNode_t **nodes, size_t *count)
{
    return capture_info_ptsz(s, status, id, g, nodes, NULL, count);
}
RTAPI cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t s, cudaGraphNode_t *nodes, size_t count,
                                                      unsigned int flags)
{
    return capture_update(s, nodes, NULL, count, flags);
}
RTAPI cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t s, cudaGraphNode_t *nodes, size_t count,
                                                           unsigned int flags)
{
    return capture_update_ptsz(s, nodes, NULL, count, flags);
}
#endif

#if CUDART_MAJOR == 12
RTAPI cudaError_t cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *dependencies,
                                   size_t count, struct cudaGraphNodeParams *p)
{
    return add_node(out, g, dependencies, NULL, count, p);
}
RT_ALIAS(cudaGraphAddNode_v2, add_node)
RT_ALIAS(cudaGraphAddDependencies_v2, add_edges)
RT_ALIAS(cudaGraphRemoveDependencies_v2, remove_edges)
RT_ALIAS(cudaGraphGetEdges_v2, get_edges)
RT_ALIAS(cudaGraphNodeGetDependencies_v2, get_before)
RT_ALIAS(cudaGraphNodeGetDependentNodes_v2, get_after)
RT_ALIAS(cudaStreamGetCaptureInfo_v3, capture_info)
RT_ALIAS(cudaStreamGetCaptureInfo_v3_ptsz, capture_info_ptsz)
RT_ALIAS(cudaStreamUpdateCaptureDependencies_v2, capture_update)
RT_ALIAS(cudaStreamUpdateCaptureDependencies_v2_ptsz, capture_update_ptsz)
#endif
