/* Nodes of graphs, but for copies (graph_copies.c): making them, and reading and changing what they do. */
#include "cudart/graph.h"

#include "cudart/copy.h"
#include "cudart/registry.h"

#define AFTER cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *dependencies, size_t count

int graph_kernel_params(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *out)
{
    CUfunction f = NULL;
    int r = p ? rt_function(p->func, &f) : (int)cudaErrorInvalidValue;
    if (!r)
        *out = (CUDA_KERNEL_NODE_PARAMS){.func = f,
                                         .gridDimX = p->gridDim.x,
                                         .gridDimY = p->gridDim.y,
                                         .gridDimZ = p->gridDim.z,
                                         .blockDimX = p->blockDim.x,
                                         .blockDimY = p->blockDim.y,
                                         .blockDimZ = p->blockDim.z,
                                         .sharedMemBytes = p->sharedMemBytes,
                                         .kernelParams = p->kernelParams,
                                         .extra = p->extra};
    return r;
}

RTAPI cudaError_t cudaGraphAddKernelNode(AFTER, const struct cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS driver;
    int r = rt_enter() ?: graph_kernel_params(p, &driver);
    return rt_leave(r ?: (int)cuGraphAddKernelNode_v2(out, g, dependencies, count, &driver));
}

RTAPI cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t n, const struct cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS driver;
    return rt_leave(rt_enter() ?: graph_kernel_params(p, &driver) ?: (int)cuGraphKernelNodeSetParams_v2(n, &driver));
}

RTAPI cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n,
                                                   const struct cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS driver;
    int r = rt_enter() ?: graph_kernel_params(p, &driver);
    return rt_leave(r ?: (int)cuGraphExecKernelNodeSetParams_v2(x, n, &driver));
}

RTAPI cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t n, struct cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS d;
    int r = rt_enter() ?: (p ? (int)cuGraphKernelNodeGetParams_v2(n, &d) : (int)cudaErrorInvalidValue);
    if (!r)
        *p = (struct cudaKernelNodeParams){(void *)(uintptr_t)rt_host_function(d.func),
                                           {d.gridDimX, d.gridDimY, d.gridDimZ},
                                           {d.blockDimX, d.blockDimY, d.blockDimZ},
                                           d.sharedMemBytes,
                                           d.kernelParams,
                                           d.extra};
    return rt_leave(r);
}

RTAPI cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t n, CUkernelNodeAttrID id,
                                                  CUkernelNodeAttrValue *value)
{
    return rt_leave(rt_enter() ?: (int)cuGraphKernelNodeGetAttribute(n, id, value));
}
RTAPI cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t n, CUkernelNodeAttrID id,
                                                  const CUkernelNodeAttrValue *value)
{
    return rt_leave(rt_enter() ?: (int)cuGraphKernelNodeSetAttribute(n, id, value));
}
/* The destination first, whatever the headers before CUDA 13 call it. */
RTAPI cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    return rt_leave(rt_enter() ?: (int)cuGraphKernelNodeCopyAttributes(to, from));
}

RTAPI cudaError_t cudaGraphAddMemsetNode(AFTER, const CUDA_MEMSET_NODE_PARAMS *p)
{
    return rt_leave(rt_enter() ?: (int)cuGraphAddMemsetNode(out, g, dependencies, count, p, rt_context()));
}
RTAPI cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t n, CUDA_MEMSET_NODE_PARAMS *p)
{
    return rt_leave(rt_enter() ?: (int)cuGraphMemsetNodeGetParams(n, p));
}
RTAPI cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t n, const CUDA_MEMSET_NODE_PARAMS *p)
{
    return rt_leave(rt_enter() ?: (int)cuGraphMemsetNodeSetParams(n, p));
}
RTAPI cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n,
                                                   const CUDA_MEMSET_NODE_PARAMS *p)
{
    return rt_leave(rt_enter() ?: (int)cuGraphExecMemsetNodeSetParams(x, n, p, rt_context()));
}

RTAPI cudaError_t cudaGraphAddHostNode(AFTER, const CUDA_HOST_NODE_PARAMS *p)
{
    return rt_leave(rt_enter() ?: (int)cuGraphAddHostNode(out, g, dependencies, count, p));
}
RTAPI cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t n, CUDA_HOST_NODE_PARAMS *p)
{
    return rt_leave(rt_enter() ?: (int)cuGraphHostNodeGetParams(n, p));
}
RTAPI cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t n, const CUDA_HOST_NODE_PARAMS *p)
{
    return rt_leave(rt_enter() ?: (int)cuGraphHostNodeSetParams(n, p));
}
RTAPI cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n, const CUDA_HOST_NODE_PARAMS *p)
{
    return rt_leave(rt_enter() ?: (int)cuGraphExecHostNodeSetParams(x, n, p));
}

RTAPI cudaError_t cudaGraphAddEmptyNode(AFTER)
{
    return rt_leave(rt_enter() ?: (int)cuGraphAddEmptyNode(out, g, dependencies, count));
}

RTAPI cudaError_t cudaGraphAddChildGraphNode(AFTER, cudaGraph_t child)
{
    return rt_leave(rt_enter() ?: (int)cuGraphAddChildGraphNode(out, g, dependencies, count, child));
}
RTAPI cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t n, cudaGraph_t *out)
{
    return rt_leave(rt_enter() ?: (int)cuGraphChildGraphNodeGetGraph(n, out));
}
RTAPI cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n, cudaGraph_t child)
{
    return rt_leave(rt_enter() ?: (int)cuGraphExecChildGraphNodeSetParams(x, n, child));
}

RTAPI cudaError_t cudaGraphAddEventRecordNode(AFTER, cudaEvent_t e)
{
    return rt_leave(rt_enter() ?: (int)cuGraphAddEventRecordNode(out, g, dependencies, count, e));
}
RTAPI cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t n, cudaEvent_t *out)
{
    return rt_leave(rt_enter() ?: (int)cuGraphEventRecordNodeGetEvent(n, out));
}
RTAPI cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t n, cudaEvent_t e)
{
    return rt_leave(rt_enter() ?: (int)cuGraphEventRecordNodeSetEvent(n, e));
}
RTAPI cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t x, cudaGraphNode_t n, cudaEvent_t e)
{
    return rt_leave(rt_enter() ?: (int)cuGraphExecEventRecordNodeSetEvent(x, n, e));
}
RTAPI cudaError_t cudaGraphAddEventWaitNode(AFTER, cudaEvent_t e)
{
    return rt_leave(rt_enter() ?: (int)cuGraphAddEventWaitNode(out, g, dependencies, count, e));
}
RTAPI cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t n, cudaEvent_t *out)
{
    return rt_leave(rt_enter() ?: (int)cuGraphEventWaitNodeGetEvent(n, out));
}
RTAPI cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t n, cudaEvent_t e)
{
    return rt_leave(rt_enter() ?: (int)cuGraphEventWaitNodeSetEvent(n, e));
}
RTAPI cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t x, cudaGraphNode_t n, cudaEvent_t e)
{
    return rt_leave(rt_enter() ?: (int)cuGraphExecEventWaitNodeSetEvent(x, n, e));
}

RTAPI cudaError_t cudaGraphAddMemAllocNode(AFTER, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    return rt_leave(rt_enter() ?: (int)cuGraphAddMemAllocNode(out, g, dependencies, count, p));
}
RTAPI cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t n, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    return rt_leave(rt_enter() ?: (int)cuGraphMemAllocNodeGetParams(n, p));
}
RTAPI cudaError_t cudaGraphAddMemFreeNode(AFTER, void *p)
{
    return rt_leave(rt_enter() ?: (int)cuGraphAddMemFreeNode(out, g, dependencies, count, (uintptr_t)p));
}
RTAPI cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t n, CUdeviceptr *out)
{
    return rt_leave(rt_enter() ?: (int)cuGraphMemFreeNodeGetParams(n, out));
}

RTAPI cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out, cudaGraph_t g, unsigned int value,
                                                   unsigned int flags)
{
    return rt_leave(rt_enter() ?: (int)cuGraphConditionalHandleCreate(out, g, rt_context(), value, flags));
}

static int kernel_in(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS_v3 *out)
{
    CUDA_KERNEL_NODE_PARAMS k;
    int r = graph_kernel_params(p, &k);
    if (!r)
        *out = (CUDA_KERNEL_NODE_PARAMS_v3){k.func,         k.gridDimX,  k.gridDimY,  k.gridDimZ,
                                            k.blockDimX,    k.blockDimY, k.blockDimZ, k.sharedMemBytes,
                                            k.kernelParams, k.extra,     NULL,        NULL};
    return r;
}

int graph_node_params(const struct cudaGraphNodeParams *p, CUgraphNodeParams *out)
{
    if (!p)
        return cudaErrorInvalidValue;
    *out = (CUgraphNodeParams){.type = p->type};
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernel_in(&p->kernel, &out->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        out->memcpy.copyCtx = rt_context();
        return rt_copy_3d_box(&p->memcpy.copyParams, &out->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        out->memset =
            (CUDA_MEMSET_NODE_PARAMS_v2){p->memset.dst,   p->memset.pitch,  p->memset.value, p->memset.elementSize,
                                         p->memset.width, p->memset.height, rt_context()};
        break;
    case CU_GRAPH_NODE_TYPE_HOST: out->host = (CUDA_HOST_NODE_PARAMS_v2){p->host.fn, p->host.userData}; break;
    case CU_GRAPH_NODE_TYPE_GRAPH: out->graph = p->graph; break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: out->eventWait = p->eventWait; break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: out->eventRecord = p->eventRecord; break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: out->alloc = p->alloc; break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE: out->free = p->free; break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        out->conditional = (CUDA_CONDITIONAL_NODE_PARAMS){p->conditional.handle, p->conditional.type,
                                                          p->conditional.size, NULL, rt_context()};
        break;
    default: break; /* the driver's to refuse */
    }
    return cudaSuccess;
}

void graph_node_params_back(const CUgraphNodeParams *from, struct cudaGraphNodeParams *to)
{
    if (from->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        to->alloc.dptr = from->alloc.dptr;
    if (from->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        to->conditional.phGraph_out = from->conditional.phGraph_out;
}
