/* Streams: their handles and attributes, and what is asked of them. Their work is in queue.c; capture.c has what is
 * different while they capture. */
#include "cuda/queue.h"

#include <stdio.h>
#include <string.h>

static bool is_default(CUstream handle)
{
    return handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

CUresult stream_check(CUstream handle)
{
    return is_default(handle) || object_find(handle, OBJECT_STREAM) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* *s is NULL for the default streams. */
static CUresult enter(CUstream handle, struct context **ctx, struct stream **s)
{
    CUresult r = api_enter(ctx, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = stream_check(handle);
    *s = r == CUDA_SUCCESS && !is_default(handle) ? object_find(handle, OBJECT_STREAM) : NULL;
    return r;
}

/* Waiting may take long, and may be for what is being captured. */
static CUresult wait_for(CUstream handle, CUresult (*wait)(struct queue_mark m))
{
    struct stream *s;
    CUresult r = enter(handle, NULL, &s);
    if (r == CUDA_SUCCESS)
        r = capture_refuse(handle);
    if (r == CUDA_SUCCESS)
        r = capture_refuse_unsafe();
    return api_leave(r == CUDA_SUCCESS ? wait(queue_mark_of(handle)) : r);
}

static void stream_destroy(struct object *o)
{
    queue_leave_stream((struct stream *)o);
    capture_leave((struct stream *)o);
}

/* The default stream of a thread: an object as soon as somebody needs to know what it does, one for each context. */
static struct stream *stream_of_thread(void)
{
    static _Thread_local struct {
        struct stream *stream;
        uint64_t id;
    } mine;
    struct context *ctx = context_current();
    struct stream *s = object_find(mine.stream, OBJECT_STREAM);
    if (s && s->id == mine.id && s->object.owner == ctx)
        return s;
    s = ctx ? object_new(sizeof *s, OBJECT_STREAM, ctx, stream_destroy) : NULL;
    if (!s)
        return NULL;
    s->id = ++driver_get()->next_id;
    mine.stream = s;
    mine.id = s->id;
    return s;
}

struct stream *stream_find(CUstream handle)
{
    return handle == CU_STREAM_PER_THREAD ? stream_of_thread() : object_find(handle, OBJECT_STREAM);
}

CUAPI CUresult cuStreamCreateWithPriority(CUstream *out, unsigned int flags, int priority)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && (!out || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING)))
        r = CUDA_ERROR_INVALID_VALUE;
    struct stream *s = r == CUDA_SUCCESS ? object_new(sizeof *s, OBJECT_STREAM, ctx, stream_destroy) : NULL;
    if (r == CUDA_SUCCESS && !s)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        s->flags = flags;
        s->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
        s->id = ++driver_get()->next_id;
        *out = (CUstream)s;
    }
    return api_leave(r);
}

CUAPI CUresult cuStreamCreate(CUstream *out, unsigned int flags) { return cuStreamCreateWithPriority(out, flags, 0); }

/* What it has is still done. */
CUAPI CUresult cuStreamDestroy_v2(CUstream handle)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    struct stream *s = r == CUDA_SUCCESS && !is_default(handle) ? object_find(handle, OBJECT_STREAM) : NULL;
    if (r == CUDA_SUCCESS && !s)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        object_free(&s->object);
    return api_leave(r);
}
API_ALIAS(cuStreamDestroy, cuStreamDestroy_v2)

CUAPI CUresult cuStreamQuery(CUstream handle) { return wait_for(handle, queue_ask); }
API_ALIAS(cuStreamQuery_ptsz, cuStreamQuery)

CUAPI CUresult cuStreamSynchronize(CUstream handle) { return wait_for(handle, queue_wait); }
API_ALIAS(cuStreamSynchronize_ptsz, cuStreamSynchronize)

CUAPI CUresult cuStreamGetPriority(CUstream handle, int *priority)
{
    struct stream *s;
    CUresult r = enter(handle, NULL, &s);
    if (r == CUDA_SUCCESS && !priority)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *priority = s ? s->priority : 0;
    return api_leave(r);
}
API_ALIAS(cuStreamGetPriority_ptsz, cuStreamGetPriority)

CUAPI CUresult cuStreamGetFlags(CUstream handle, unsigned int *flags)
{
    struct stream *s;
    CUresult r = enter(handle, NULL, &s);
    if (r == CUDA_SUCCESS && !flags)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *flags = s ? s->flags : 0;
    return api_leave(r);
}
API_ALIAS(cuStreamGetFlags_ptsz, cuStreamGetFlags)

CUAPI CUresult cuStreamGetId(CUstream handle, unsigned long long *id)
{
    struct stream *s;
    CUresult r = enter(handle, NULL, &s);
    if (r == CUDA_SUCCESS && !id)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *id = s ? s->id : (unsigned long long)(uintptr_t)(handle ? handle : CU_STREAM_LEGACY);
    return api_leave(r);
}
API_ALIAS(cuStreamGetId_ptsz, cuStreamGetId)

CUAPI CUresult cuStreamGetDevice(CUstream handle, CUdevice *device)
{
    struct stream *s;
    CUresult r = enter(handle, NULL, &s);
    if (r == CUDA_SUCCESS && !device)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *device = 0;
    return api_leave(r);
}
API_ALIAS(cuStreamGetDevice_ptsz, cuStreamGetDevice)

CUAPI CUresult cuStreamGetCtx(CUstream handle, CUcontext *out)
{
    struct context *ctx = NULL;
    struct stream *s;
    CUresult r = enter(handle, &ctx, &s);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = (CUcontext)(s ? s->object.owner : ctx);
    return api_leave(r);
}
API_ALIAS(cuStreamGetCtx_ptsz, cuStreamGetCtx)

CUAPI CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext *out, CUgreenCtx *green)
{
    if (green)
        *green = NULL;
    return cuStreamGetCtx(handle, out);
}
API_ALIAS(cuStreamGetCtx_v2_ptsz, cuStreamGetCtx_v2)

CUAPI CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags)
{
    struct stream *s;
    struct work w = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .event = event};
    CUresult r = enter(handle, NULL, &s);
    const struct event *e = r == CUDA_SUCCESS ? object_find(event, OBJECT_EVENT) : NULL;
    if (r == CUDA_SUCCESS && !e)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = flags & CU_EVENT_WAIT_EXTERNAL ? stream_submit(handle, &w) : capture_wait(handle, e);
    return api_leave(r);
}
API_ALIAS(cuStreamWaitEvent_ptsz, cuStreamWaitEvent)

/* A callback after a kernel that failed gets its error. */
CUAPI CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void *user, unsigned int flags)
{
    struct stream *s;
    CUresult r = enter(handle, NULL, &s);
    bool failed = r != CUDA_SUCCESS && context_current() && context_current()->failure == r;
    if (r == CUDA_SUCCESS && (!callback || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = capture_refuse(handle);
    struct work w = {
        .type = CU_GRAPH_NODE_TYPE_HOST, .host.userData = user, .callback = callback, .callback_stream = handle};
    if (r == CUDA_SUCCESS)
        r = queue_submit(handle, &w);
    api_leave(r);
    if (failed && callback)
        callback(handle, r, user);
    return r;
}
API_ALIAS(cuStreamAddCallback_ptsz, cuStreamAddCallback)

CUAPI CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *user)
{
    struct stream *s;
    struct work w = {.type = CU_GRAPH_NODE_TYPE_HOST, .host = {function, user}};
    CUresult r = enter(handle, NULL, &s);
    if (r == CUDA_SUCCESS)
        r = function ? stream_submit(handle, &w) : CUDA_ERROR_INVALID_VALUE;
    return api_leave(r);
}
API_ALIAS(cuLaunchHostFunc_ptsz, cuLaunchHostFunc)

CUAPI CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t length, unsigned int flags)
{
    struct stream *s;
    CUresult r = enter(handle, NULL, &s);
    const struct memory_range *range = r == CUDA_SUCCESS ? memory_find(driver_get()->gpu->memory, address) : NULL;
    bool flag_ok =
        flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || (flags == CU_MEM_ATTACH_SINGLE && handle);
    if (r == CUDA_SUCCESS &&
        (!flag_ok || !range || range->kind != MEMORY_MANAGED || (length && length != range->size_bytes)))
        r = CUDA_ERROR_INVALID_VALUE;
    return api_leave(r == CUDA_SUCCESS ? capture_refuse(handle) : r);
}
API_ALIAS(cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync)

static CUlaunchAttributeValue *attribute_slot(struct stream *s, CUstreamAttrID id)
{
    return id == CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW     ? &s->policy_window
           : id == CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY ? &s->sync_policy
                                                              : NULL;
}

CUAPI CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID id, CUstreamAttrValue *value)
{
    struct stream *s;
    CUresult r = enter(handle, NULL, &s);
    if (r == CUDA_SUCCESS && !value)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    memset(value, 0, sizeof *value);
    if (id == CU_STREAM_ATTRIBUTE_PRIORITY)
        value->priority = s ? s->priority : 0;
    else if (id != CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW && id != CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY)
        r = CUDA_ERROR_INVALID_VALUE;
    else if (s)
        *value = *attribute_slot(s, id);
    return api_leave(r);
}
API_ALIAS(cuStreamGetAttribute_ptsz, cuStreamGetAttribute)

CUAPI CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID id, const CUstreamAttrValue *value)
{
    struct stream *s;
    CUresult r = enter(handle, NULL, &s);
    if (r == CUDA_SUCCESS && (!value || (s && !attribute_slot(s, id) && id != CU_STREAM_ATTRIBUTE_PRIORITY)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && s && id == CU_STREAM_ATTRIBUTE_PRIORITY)
        s->priority = value->priority;
    else if (r == CUDA_SUCCESS && s)
        *attribute_slot(s, id) = *value;
    return api_leave(r);
}
API_ALIAS(cuStreamSetAttribute_ptsz, cuStreamSetAttribute)

CUAPI CUresult cuStreamCopyAttributes(CUstream to, CUstream from)
{
    struct stream *a, *b = NULL;
    CUresult r = enter(to, NULL, &a);
    if (r == CUDA_SUCCESS)
        r = stream_check(from);
    if (r == CUDA_SUCCESS && !is_default(from))
        b = object_find(from, OBJECT_STREAM);
    if (r == CUDA_SUCCESS && a && b) {
        a->policy_window = b->policy_window;
        a->sync_policy = b->sync_policy;
    }
    return api_leave(r);
}
API_ALIAS(cuStreamCopyAttributes_ptsz, cuStreamCopyAttributes)

/* Waits and writes of values. */
struct mem_op {
    uint64_t address, value;
    uint32_t bytes;
    unsigned int flags;
    bool waits, barrier;
};

static CUresult mem_op_read(const CUstreamBatchMemOpParams *p, struct mem_op *op)
{
    *op = (struct mem_op){0};
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        *op = (struct mem_op){p->waitValue.address, p->waitValue.value, 4, p->waitValue.flags, true, false};
        break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        *op = (struct mem_op){p->waitValue.address, p->waitValue.value64, 8, p->waitValue.flags, true, false};
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        *op = (struct mem_op){p->writeValue.address, p->writeValue.value, 4, p->writeValue.flags, false, false};
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        *op = (struct mem_op){p->writeValue.address, p->writeValue.value64, 8, p->writeValue.flags, false, false};
        break;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    case CU_STREAM_MEM_OP_BARRIER: op->barrier = true; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    unsigned int known = op->waits ? (unsigned)CU_STREAM_WAIT_VALUE_FLUSH | 3u : 1u;
    return op->flags & ~known || op->address % op->bytes || !device_range_ok(op->address, op->bytes)
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

static bool satisfied(uint64_t now, uint64_t value, unsigned int how, uint32_t bytes)
{
    switch (how & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ: return bytes == 4 ? (int32_t)(now - value) >= 0 : (int64_t)(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return now == value;
    case CU_STREAM_WAIT_VALUE_AND: return (now & value) != 0;
    default: return bytes == 4 ? (uint32_t) ~(now | value) != 0 : ~(now | value) != 0;
    }
}

/* False: the value is not there yet. */
static bool mem_op_run(const struct mem_op *op)
{
    if (!op->barrier && !op->waits)
        memory_write_whole(memory_pointer(op->address), op->value, op->bytes);
    return !op->waits ||
           satisfied(memory_read_whole(memory_pointer(op->address), op->bytes), op->value, op->flags, op->bytes);
}

CUresult mem_ops_check(const CUstreamBatchMemOpParams *ops, unsigned int count)
{
    struct mem_op op;
    CUresult r = ops || !count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count && r == CUDA_SUCCESS; i++)
        r = mem_op_read(&ops[i], &op);
    return r;
}

CUresult mem_ops_run(const CUstreamBatchMemOpParams *ops, unsigned int count, uint32_t *done)
{
    struct mem_op op;
    for (; *done < count; ++*done) {
        CUresult r = mem_op_read(&ops[*done], &op);
        if (r != CUDA_SUCCESS)
            return r;
        if (!mem_op_run(&op))
            break;
    }
    return CUDA_SUCCESS;
}

CUAPI CUresult cuStreamBatchMemOp_v2(CUstream handle, unsigned int count, CUstreamBatchMemOpParams *ops,
                                     unsigned int flags)
{
    struct stream *s;
    struct work w;
    CUresult r = enter(handle, NULL, &s);
    if (r == CUDA_SUCCESS)
        r = flags ? CUDA_ERROR_INVALID_VALUE : work_mem_ops(&w, ops, count);
    return api_leave(r == CUDA_SUCCESS ? stream_submit(handle, &w) : r);
}

CUAPI CUresult cuStreamWriteValue32_v2(CUstream s, CUdeviceptr at, cuuint32_t value, unsigned int flags)
{
    CUstreamBatchMemOpParams op = {
        .writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = at, .value = value, .flags = flags}};
    return cuStreamBatchMemOp_v2(s, 1, &op, 0);
}
CUAPI CUresult cuStreamWriteValue64_v2(CUstream s, CUdeviceptr at, cuuint64_t value, unsigned int flags)
{
    CUstreamBatchMemOpParams op = {
        .writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64, .address = at, .value64 = value, .flags = flags}};
    return cuStreamBatchMemOp_v2(s, 1, &op, 0);
}
CUAPI CUresult cuStreamWaitValue32_v2(CUstream s, CUdeviceptr at, cuuint32_t value, unsigned int flags)
{
    CUstreamBatchMemOpParams op = {
        .waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32, .address = at, .value = value, .flags = flags}};
    return cuStreamBatchMemOp_v2(s, 1, &op, 0);
}
CUAPI CUresult cuStreamWaitValue64_v2(CUstream s, CUdeviceptr at, cuuint64_t value, unsigned int flags)
{
    CUstreamBatchMemOpParams op = {
        .waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64, .address = at, .value64 = value, .flags = flags}};
    return cuStreamBatchMemOp_v2(s, 1, &op, 0);
}

#define MEM_OP(name)                     \
    API_ALIAS(name##_v2_ptsz, name##_v2) \
    API_ALIAS(name##_ptsz, name##_v2)
MEM_OP(cuStreamWriteValue32)
MEM_OP(cuStreamWriteValue64)
MEM_OP(cuStreamWaitValue32)
MEM_OP(cuStreamWaitValue64)
MEM_OP(cuStreamBatchMemOp)
API_ALIAS(cuStreamWriteValue32, cuStreamWriteValue32_v2)
API_ALIAS(cuStreamWriteValue64, cuStreamWriteValue64_v2)
API_ALIAS(cuStreamWaitValue32, cuStreamWaitValue32_v2)
API_ALIAS(cuStreamWaitValue64, cuStreamWaitValue64_v2)
API_ALIAS(cuStreamBatchMemOp, cuStreamBatchMemOp_v2)
