/* Work: what a stream can be asked to do, as a record. Given to a stream it is run at once, or becomes a node of the
 * graph that the stream captures into; the nodes of a graph hold such records. It owns copies of what it was described
 * with: parameters of kernels, attributes, child graphs. */
#ifndef HEDDLE_CUDA_WORK_H
#define HEDDLE_CUDA_WORK_H

#include "cuda/internal.h"

struct graph;
struct graph_block;

struct work {
    CUgraphNodeType type;
    CUDA_KERNEL_NODE_PARAMS kernel; /* kernelParams points to `pointers` */
    uint8_t *params;                /* packed */
    uint32_t params_bytes;
    void **pointers; /* to each parameter in params */
    CUlaunchAttribute *attributes;
    uint32_t attribute_count;
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_HOST_NODE_PARAMS host;
    CUstreamCallback callback; /* in the place of host.fn */
    CUstream callback_stream;
    CUresult callback_status; /* what it gets as its status */
    CUevent event;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    struct graph_block *block; /* the memory of an alloc or a free node */
    CUstreamBatchMemOpParams *mem_ops;
    uint32_t mem_op_count;
    struct graph *child; /* of a child node: a copy of its own */
    CUDA_CONDITIONAL_NODE_PARAMS condition;
    struct graph **bodies; /* of a conditional node: condition.size graphs */
    uint64_t released;     /* the address of memory that is freed in the order of the stream, or 0 */
    void *staged;          /* what a copy from memory of the program is taken from, as that may change */
    bool immediate;        /* it is not left waiting where it can go on */
};

/* Each makes *w from a description; nothing is left to free after an error. */
CUresult work_kernel(struct work *w, const CUDA_KERNEL_NODE_PARAMS *p);
CUresult work_launch(struct work *w, CUfunction f, const struct launch_shape *s, void **params, void **extra);
CUresult work_memcpy(struct work *w, const CUDA_MEMCPY3D *c);
CUresult work_memset(struct work *w, const CUDA_MEMSET_NODE_PARAMS *p);
CUresult work_host(struct work *w, const CUDA_HOST_NODE_PARAMS *p);
CUresult work_event(struct work *w, CUgraphNodeType type, CUevent event);
CUresult work_alloc(struct work *w, CUDA_MEM_ALLOC_NODE_PARAMS *p); /* gives the address in p */
CUresult work_free_memory(struct work *w, CUdeviceptr address);
CUresult work_mem_ops(struct work *w, const CUstreamBatchMemOpParams *ops, unsigned int count);
CUresult work_set_attribute(struct work *w, CUlaunchAttributeID id, const CUlaunchAttributeValue *value);

CUresult work_copy(struct work *to, const struct work *from); /* with what it owns */
void work_free(struct work *w);
/* All but child and conditional nodes, which graphs run. Host functions are called with the lock open. */
CUresult work_run(const struct work *w);
/* Starts a kernel. NULL: there is nothing to run, *r says why. */
struct residency *work_start(const struct work *w, int priority, CUresult *r);

/* The one way to give work to a stream. Takes over what the work owns. */
CUresult stream_submit(CUstream handle, struct work *w);

#endif
