/* Graphs as a whole: made, copied, listed, instantiated, launched, printed; and the objects they hold on to. What
 * changed its arguments between generations of CUDA is in versioned/graph.c. */
#include "cudart/graph.h"

RTAPI cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuGraphCreate(out, flags));
}
RTAPI cudaError_t cudaGraphDestroy(cudaGraph_t g) { return rt_leave(rt_enter() ?: (int)cuGraphDestroy(g)); }
RTAPI cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t g)
{
    return rt_leave(rt_enter() ?: (int)cuGraphClone(out, g));
}
RTAPI cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t *nodes, size_t *count)
{
    return rt_leave(rt_enter() ?: (int)cuGraphGetNodes(g, nodes, count));
}
RTAPI cudaError_t cudaGraphGetRootNodes(cudaGraph_t g, cudaGraphNode_t *nodes, size_t *count)
{
    return rt_leave(rt_enter() ?: (int)cuGraphGetRootNodes(g, nodes, count));
}
RTAPI cudaError_t cudaGraphDestroyNode(cudaGraphNode_t n) { return rt_leave(rt_enter() ?: (int)cuGraphDestroyNode(n)); }
RTAPI cudaError_t cudaGraphNodeGetType(cudaGraphNode_t n, CUgraphNodeType *out)
{
    return rt_leave(rt_enter() ?: (int)cuGraphNodeGetType(n, out));
}
RTAPI cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t n, cudaGraph_t clone)
{
    return rt_leave(rt_enter() ?: (int)cuGraphNodeFindInClone(out, n, clone));
}
RTAPI cudaError_t cudaGraphDebugDotPrint(cudaGraph_t g, const char *path, unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuGraphDebugDotPrint(g, path, flags));
}

RTAPI cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags)
{
    return rt_leave(rt_enter() ?: (int)cuGraphInstantiateWithFlags(out, g, flags));
}
RTAPI cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x) { return rt_leave(rt_enter() ?: (int)cuGraphExecDestroy(x)); }
RTAPI cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t stream)
{
    return rt_leave(rt_enter() ?: (int)cuGraphLaunch(x, stream));
}
RTAPI cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t x, cudaStream_t stream)
{
    return rt_leave(rt_enter() ?: (int)cuGraphLaunch(x, graph_per_thread(stream)));
}
RTAPI cudaError_t cudaGraphUpload(cudaGraphExec_t x, cudaStream_t stream)
{
    return rt_leave(rt_enter() ?: (int)cuGraphUpload(x, stream));
}
RTAPI cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t x, cudaStream_t stream)
{
    return rt_leave(rt_enter() ?: (int)cuGraphUpload(x, graph_per_thread(stream)));
}
RTAPI cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t x, cudaGraphNode_t n, unsigned int on)
{
    return rt_leave(rt_enter() ?: (int)cuGraphNodeSetEnabled(x, n, on));
}
RTAPI cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t x, cudaGraphNode_t n, unsigned int *on)
{
    return rt_leave(rt_enter() ?: (int)cuGraphNodeGetEnabled(x, n, on));
}

RTAPI cudaError_t cudaDeviceGraphMemTrim(int device)
{
    return rt_leave(rt_enter() ?: (int)cuDeviceGraphMemTrim(device));
}
RTAPI cudaError_t cudaDeviceGetGraphMemAttribute(int device, CUgraphMem_attribute attribute, void *value)
{
    return rt_leave(rt_enter() ?: (int)cuDeviceGetGraphMemAttribute(device, attribute, value));
}
RTAPI cudaError_t cudaDeviceSetGraphMemAttribute(int device, CUgraphMem_attribute attribute, void *value)
{
    return rt_leave(rt_enter() ?: (int)cuDeviceSetGraphMemAttribute(device, attribute, value));
}

RTAPI cudaError_t cudaUserObjectCreate(cudaUserObject_t *out, void *user, CUhostFn destroy, unsigned int references,
                                       unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuUserObjectCreate(out, user, destroy, references, flags));
}
RTAPI cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
    return rt_leave(rt_enter() ?: (int)cuUserObjectRetain(object, count));
}
RTAPI cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
    return rt_leave(rt_enter() ?: (int)cuUserObjectRelease(object, count));
}
RTAPI cudaError_t cudaGraphRetainUserObject(cudaGraph_t g, cudaUserObject_t object, unsigned int count,
                                            unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuGraphRetainUserObject(g, object, count, flags));
}
RTAPI cudaError_t cudaGraphReleaseUserObject(cudaGraph_t g, cudaUserObject_t object, unsigned int count)
{
    return rt_leave(rt_enter() ?: (int)cuGraphReleaseUserObject(g, object, count));
}
