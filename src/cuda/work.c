/* Work records: how they are made, copied and run. */
#include "cuda/graph.h"
#include "cuda/queue.h"

#include <stdlib.h>
#include <string.h>

static CUresult shape_of(const struct work *w, struct launch_shape *s)
{
    const CUDA_KERNEL_NODE_PARAMS *p = &w->kernel;
    CUlaunchConfig attributes = {.attrs = w->attributes, .numAttrs = w->attribute_count};
    *s = (struct launch_shape){.grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                               .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                               .shared_bytes = p->sharedMemBytes};
    return launch_attributes(&attributes, s);
}

/* The parameters lie packed in w->params. */
static CUresult point_to_params(struct work *w, const struct function *f)
{
    const struct ptx_function *p = f->exec->ptx;
    w->params_bytes = p->param_bytes;
    w->pointers = calloc(p->param_count + 1u, sizeof *w->pointers);
    if (!w->pointers)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < p->param_count; i++)
        w->pointers[i] = w->params + p->param_offsets[i];
    w->kernel.kernelParams = w->pointers;
    w->kernel.extra = NULL;
    return CUDA_SUCCESS;
}

CUresult work_kernel(struct work *w, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct function *f = NULL;
    struct launch_shape s;
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = *p};
    w->kernel.func = p->func ? p->func : (CUfunction)p->kern;
    CUresult r = function_resolve(w->kernel.func, &f);
    if (r == CUDA_SUCCESS)
        r = shape_of(w, &s);
    if (r == CUDA_SUCCESS && f->object.owner == context_current())
        r = launch_check(f, &s);
    if (r == CUDA_SUCCESS)
        r = launch_pack(f, p->kernelParams, p->extra, &w->params);
    if (r == CUDA_SUCCESS)
        r = point_to_params(w, f);
    if (r != CUDA_SUCCESS)
        work_free(w);
    return r;
}

CUresult work_set_attribute(struct work *w, CUlaunchAttributeID id, const CUlaunchAttributeValue *value)
{
    CUlaunchAttribute *list;
    for (uint32_t i = 0; i < w->attribute_count; i++)
        if (w->attributes[i].id == id) {
            w->attributes[i].value = *value;
            return CUDA_SUCCESS;
        }
    list = realloc(w->attributes, (w->attribute_count + 1) * sizeof *list);
    if (!list)
        return CUDA_ERROR_OUT_OF_MEMORY;
    w->attributes = list;
    list[w->attribute_count] = (CUlaunchAttribute){.id = id, .value = *value};
    w->attribute_count++;
    return CUDA_SUCCESS;
}

CUresult work_launch(struct work *w, CUfunction handle, const struct launch_shape *s, void **params, void **extra)
{
    CUDA_KERNEL_NODE_PARAMS p = {.func = handle,
                                 .gridDimX = s->grid[0],
                                 .gridDimY = s->grid[1],
                                 .gridDimZ = s->grid[2],
                                 .blockDimX = s->block[0],
                                 .blockDimY = s->block[1],
                                 .blockDimZ = s->block[2],
                                 .sharedMemBytes = s->shared_bytes,
                                 .kernelParams = params,
                                 .extra = extra};
    CUlaunchAttributeValue cooperative = {.cooperative = 1},
                           cluster = {.clusterDim = {s->cluster[0], s->cluster[1], s->cluster[2]}};
    CUresult r = work_kernel(w, &p);
    if (r == CUDA_SUCCESS && s->cooperative)
        r = work_set_attribute(w, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &cooperative);
    if (r == CUDA_SUCCESS && s->cluster[0])
        r = work_set_attribute(w, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &cluster);
    if (r != CUDA_SUCCESS)
        work_free(w);
    return r;
}

CUresult work_memcpy(struct work *w, const CUDA_MEMCPY3D *c)
{
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_MEMCPY, .copy = *c};
    return copy_3d_check(c);
}

CUresult work_memset(struct work *w, const CUDA_MEMSET_NODE_PARAMS *p)
{
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_MEMSET, .fill = *p};
    return memset_check(p->dst, p->pitch, p->elementSize, p->width, p->height);
}

CUresult work_host(struct work *w, const CUDA_HOST_NODE_PARAMS *p)
{
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_HOST, .host = *p};
    return p->fn ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult work_event(struct work *w, CUgraphNodeType type, CUevent event)
{
    *w = (struct work){.type = type, .event = event};
    return object_find(event, OBJECT_EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult work_alloc(struct work *w, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    const CUmemLocation *at = &p->poolProps.location;
    struct context *ctx = context_current();
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    if (!p->bytesize || (p->accessDescCount && !p->accessDescs) ||
        p->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED || at->type != CU_MEM_LOCATION_TYPE_DEVICE ||
        at->id != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (p->poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    w->block = graph_block_new(ctx, p->bytesize);
    if (!w->block)
        return CUDA_ERROR_OUT_OF_MEMORY;
    p->dptr = graph_block_address(w->block);
    w->alloc = *p;
    w->alloc.accessDescs = NULL; /* one device: it always has access */
    w->alloc.accessDescCount = 0;
    return CUDA_SUCCESS;
}

CUresult work_free_memory(struct work *w, CUdeviceptr address)
{
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .alloc = {.dptr = address}};
    w->block = graph_block_find(address);
    if (!w->block)
        return CUDA_ERROR_INVALID_VALUE;
    graph_block_hold(w->block);
    return CUDA_SUCCESS;
}

CUresult work_mem_ops(struct work *w, const CUstreamBatchMemOpParams *ops, unsigned int count)
{
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    CUresult r = mem_ops_check(ops, count);
    if (r != CUDA_SUCCESS)
        return r;
    w->mem_ops = calloc(count + 1u, sizeof *w->mem_ops);
    if (!w->mem_ops)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(w->mem_ops, ops, count * sizeof *ops);
    w->mem_op_count = count;
    return CUDA_SUCCESS;
}

/* A copy of what a pointer of the work points to. */
static bool copy_block(void *to, const void *from, size_t bytes)
{
    void *copy = NULL;
    if (from) {
        copy = malloc(bytes + 1);
        if (!copy)
            return false;
        memcpy(copy, from, bytes);
    }
    memcpy(to, &copy, sizeof copy);
    return true;
}

static CUresult copy_bodies(struct work *to, const struct work *from)
{
    to->bodies = calloc(from->condition.size + 1u, sizeof *to->bodies);
    CUresult r = to->bodies ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned int i = 0; r == CUDA_SUCCESS && i < from->condition.size; i++) {
        r = graph_copy(from->bodies[i], &to->bodies[i]);
        if (r == CUDA_SUCCESS)
            to->bodies[i]->owned = true;
    }
    to->condition.phGraph_out = (CUgraph *)to->bodies;
    return r;
}

static CUresult copy_kernel(struct work *to, const struct work *from)
{
    struct function *f = NULL;
    CUresult r = function_resolve(from->kernel.func, &f);
    if (r == CUDA_SUCCESS &&
        (!copy_block(&to->params, from->params, from->params_bytes) ||
         !copy_block(&to->attributes, from->attributes, from->attribute_count * sizeof *from->attributes)))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    return r == CUDA_SUCCESS ? point_to_params(to, f) : r;
}

CUresult work_copy(struct work *to, const struct work *from)
{
    CUresult r = CUDA_SUCCESS;
    *to = *from;
    to->params = NULL;
    to->pointers = NULL;
    to->attributes = NULL;
    to->mem_ops = NULL;
    to->child = NULL;
    to->bodies = NULL;
    to->staged = NULL;
    if (to->block)
        graph_block_hold(to->block);
    if (from->type == CU_GRAPH_NODE_TYPE_KERNEL)
        r = copy_kernel(to, from);
    if (r == CUDA_SUCCESS && !copy_block(&to->mem_ops, from->mem_ops, from->mem_op_count * sizeof *from->mem_ops))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS && from->child)
        r = graph_copy(from->child, &to->child);
    if (to->child)
        to->child->owned = true;
    if (r == CUDA_SUCCESS && from->bodies)
        r = copy_bodies(to, from);
    if (r != CUDA_SUCCESS)
        work_free(to);
    return r;
}

void work_free(struct work *w)
{
    free(w->params);
    free(w->pointers);
    free(w->attributes);
    free(w->mem_ops);
    free(w->staged);
    if (w->block)
        graph_block_drop(w->block);
    if (w->child)
        object_free(&w->child->object);
    for (unsigned int i = 0; w->bodies && i < w->condition.size; i++)
        if (w->bodies[i])
            object_free(&w->bodies[i]->object);
    free(w->bodies);
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_EMPTY};
}

struct residency *work_start(const struct work *w, int priority, CUresult *r)
{
    struct function *f;
    struct launch_shape s;
    *r = function_resolve(w->kernel.func, &f);
    if (*r == CUDA_SUCCESS)
        *r = shape_of(w, &s);
    return *r == CUDA_SUCCESS ? launch_start(f, &s, w->params, priority, r) : NULL;
}

static CUresult run_event(const struct work *w)
{
    struct event *e = object_find(w->event, OBJECT_EVENT);
    if (e && w->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        event_record_now(e);
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* With the lock open: it may not use the API, but other threads go on. */
static CUresult run_host(const struct work *w)
{
    CUDA_HOST_NODE_PARAMS host = w->host;
    CUstreamCallback callback = w->callback;
    CUstream stream = w->callback_stream;
    CUresult status = w->callback_status;
    queue_note_host_function(1);
    uint32_t waits = queue_pause_waits();
    api_unlock();
    if (callback)
        callback(stream, status, host.userData);
    else
        host.fn(host.userData);
    api_lock();
    queue_resume_waits(waits);
    queue_note_host_function(-1);
    return context_current()->failure;
}

/* Of a graph: others may change what is waited for, and until then have their turns. */
static CUresult run_mem_ops(const struct work *w)
{
    uint32_t done = 0;
    struct queue_patience patience = {0};
    CUresult r = CUDA_SUCCESS;
    while (r == CUDA_SUCCESS && done < w->mem_op_count) {
        struct queue_mark others = {.seq = driver_get()->next_seq};
        r = mem_ops_run(w->mem_ops, w->mem_op_count, &done);
        if (r != CUDA_SUCCESS || done == w->mem_op_count)
            return r;
        bool goes_on = queue_is_pending(&others) && queue_drive(&others, QUEUE_CYCLES) != QUEUE_STUCK;
        if (!goes_on && !queue_be_patient(&patience)) {
            driver_say(
                "a graph waits for a value in memory (cuStreamWaitValue) that nothing which is left to do can write");
            return CUDA_ERROR_NOT_SUPPORTED;
        }
    }
    return r;
}

CUresult work_run(const struct work *w)
{
    switch (w->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return queue_run_kernel(w);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_3d(&w->copy);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return memset_fill(w->fill.dst, w->fill.pitch, w->fill.value, w->fill.elementSize, w->fill.width,
                           w->fill.height);
    case CU_GRAPH_NODE_TYPE_HOST: return run_host(w);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return run_event(w);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return graph_block_appear(w->block);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return graph_block_vanish(w->block);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return run_mem_ops(w);
    default: return w->released ? allocation_release(w->released) : CUDA_SUCCESS;
    }
}
