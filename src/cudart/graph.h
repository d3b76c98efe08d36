/* Types of the runtime API for graphs, with the layout that compiled programs assume, and how they become the driver's.
 * Where the driver's own types are laid out the same, they are used. */
#ifndef HEDDLE_CUDART_GRAPH_H
#define HEDDLE_CUDART_GRAPH_H

#include "cudart/memory_types.h"
#include "cudart/runtime.h"

typedef CUgraphEdgeData cudaGraphEdgeData;
typedef CUuserObject cudaUserObject_t;
typedef CUgraphConditionalHandle cudaGraphConditionalHandle;

struct cudaKernelNodeParams {
    void *func; /* of the host program, or a kernel handle */
    struct dim3 gridDim, blockDim;
    unsigned int sharedMemBytes;
    void **kernelParams, **extra;
};
struct cudaMemcpyNodeParams {
    int flags, reserved[3];
    struct cudaMemcpy3DParms copyParams;
};

/* Any node. */
struct cudaGraphNodeParams {
    CUgraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        struct cudaKernelNodeParams kernel;
        struct cudaMemcpyNodeParams memcpy;
        CUDA_MEMSET_NODE_PARAMS memset;
        CUDA_HOST_NODE_PARAMS host;
        CUDA_CHILD_GRAPH_NODE_PARAMS graph;
        CUDA_EVENT_WAIT_NODE_PARAMS eventWait;
        CUDA_EVENT_RECORD_NODE_PARAMS eventRecord;
        CUDA_MEM_ALLOC_NODE_PARAMS alloc;
        CUDA_MEM_FREE_NODE_PARAMS free;
        struct {
            cudaGraphConditionalHandle handle;
            CUgraphConditionalNodeType type;
            unsigned int size;
            cudaGraph_t *phGraph_out;
        } conditional;
    };
    long long reserved2;
};

/* The driver's form. All need rt_enter, and return a CUresult or a cudaError_t. */
int graph_kernel_params(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *out);
int graph_node_params(const struct cudaGraphNodeParams *p, CUgraphNodeParams *out);
/* What the driver filled in while a node was made. */
void graph_node_params_back(const CUgraphNodeParams *from, struct cudaGraphNodeParams *to);

static inline cudaStream_t graph_per_thread(cudaStream_t stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

#endif
