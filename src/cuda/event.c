/* Events. One that was given to a stream is recorded when all work before it is done. Its time is simulated time, which
 * passes while kernels run and at no other moment: copies and the host's own work take none of it. In functional mode
 * nothing is timed; the host's clock has to do. Where some launches alone are timed, the others take a cycle for each
 * warp instruction: programs may wait for time to pass. In a capture an event stands for a place in the graph, and has
 * no time. */
#include "cuda/queue.h"

#include <stdlib.h>

static void event_destroy(struct object *o) { free(((struct event *)o)->captured); }

void event_record_now(struct event *e)
{
    const struct gpu *gpu = driver_get()->gpu;
    e->recorded = true;
    e->cycles = gpu->clock_cycles + gpu->skipped_instructions;
    e->seconds = seconds_now();
    e->capture_id = 0;
    e->seq = 0;
}

void event_record_later(struct event *e, uint64_t lane, uint64_t seq)
{
    e->recorded = true;
    e->capture_id = 0;
    e->lane = lane;
    e->seq = seq;
}

static struct queue_mark mark_of(const struct event *e) { return (struct queue_mark){.lane = e->lane, .seq = e->seq}; }

static CUresult enter(CUevent handle, struct context **ctx, struct event **e)
{
    CUresult r = api_enter(ctx, API_CONTEXT | API_PASSING);
    *e = r == CUDA_SUCCESS ? object_find(handle, OBJECT_EVENT) : NULL;
    return r == CUDA_SUCCESS && !*e ? CUDA_ERROR_INVALID_HANDLE : r;
}

static double milliseconds_between(const struct event *a, const struct event *b)
{
    const struct gpu_options *o = &driver_get()->gpu->options;
    if (o->functional)
        return (b->seconds - a->seconds) * 1e3;
    return ((double)b->cycles - (double)a->cycles) / (double)o->machine.mem.core_khz;
}

CUAPI CUresult cuEventCreate(CUevent *out, unsigned int flags)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && (!out || (flags & ~7u)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && (flags & CU_EVENT_INTERPROCESS))
        r = flags & CU_EVENT_DISABLE_TIMING ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    struct event *e = r == CUDA_SUCCESS ? object_new(sizeof *e, OBJECT_EVENT, ctx, event_destroy) : NULL;
    if (r == CUDA_SUCCESS && !e)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        e->flags = flags;
        *out = (CUevent)e;
    }
    return api_leave(r);
}

CUAPI CUresult cuEventDestroy_v2(CUevent handle)
{
    struct event *e;
    CUresult r = enter(handle, NULL, &e);
    if (r == CUDA_SUCCESS)
        object_free(&e->object);
    return api_leave(r);
}
API_ALIAS(cuEventDestroy, cuEventDestroy_v2)

CUAPI CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned int flags)
{
    struct context *ctx = NULL;
    struct event *e;
    struct work w = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = handle};
    bool captures = false;
    CUresult r = enter(handle, &ctx, &e);
    if (r == CUDA_SUCCESS)
        r = flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL ? CUDA_ERROR_INVALID_VALUE : stream_captures(stream, &captures);
    if (r == CUDA_SUCCESS && e->object.owner != ctx)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        r = captures && !(flags & CU_EVENT_RECORD_EXTERNAL) ? capture_event(e, stream) : stream_submit(stream, &w);
    return api_leave(r);
}
API_ALIAS(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags)

CUAPI CUresult cuEventRecord(CUevent handle, CUstream stream) { return cuEventRecordWithFlags(handle, stream, 0); }
API_ALIAS(cuEventRecord_ptsz, cuEventRecord)

CUAPI CUresult cuEventQuery(CUevent handle)
{
    struct event *e;
    CUresult r = enter(handle, NULL, &e);
    if (r == CUDA_SUCCESS)
        r = capture_refuse_event(e);
    return api_leave(r == CUDA_SUCCESS ? queue_ask(mark_of(e)) : r);
}

CUAPI CUresult cuEventSynchronize(CUevent handle)
{
    struct event *e;
    CUresult r = enter(handle, NULL, &e);
    if (r == CUDA_SUCCESS)
        r = capture_refuse_event(e);
    return api_leave(r == CUDA_SUCCESS ? queue_wait(mark_of(e)) : r);
}

CUAPI CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    struct event *a, *b = NULL;
    CUresult r = enter(start, NULL, &a);
    if (r == CUDA_SUCCESS)
        b = object_find(end, OBJECT_EVENT);
    if (r == CUDA_SUCCESS && !milliseconds)
        r = CUDA_ERROR_INVALID_VALUE;
    else if (r == CUDA_SUCCESS &&
             (!b || !a->recorded || !b->recorded || ((a->flags | b->flags) & CU_EVENT_DISABLE_TIMING)))
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && (a->capture_id || b->capture_id))
        r = capture_refuse_event(a->capture_id ? a : b);
    if (r == CUDA_SUCCESS && (queue_is_pending(&(struct queue_mark){.lane = a->lane, .seq = a->seq}) ||
                              queue_is_pending(&(struct queue_mark){.lane = b->lane, .seq = b->seq})))
        r = CUDA_ERROR_NOT_READY;
    if (r == CUDA_SUCCESS)
        *milliseconds = (float)milliseconds_between(a, b);
    return api_leave(r);
}
API_ALIAS(cuEventElapsedTime, cuEventElapsedTime_v2)

/* An event of a context: all of its streams, which are done with what they had. */
CUAPI CUresult cuCtxRecordEvent(CUcontext handle, CUevent event)
{
    struct context *ctx = NULL;
    struct event *e;
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS)
        r = context_lookup(handle, &ctx);
    e = r == CUDA_SUCCESS ? object_find(event, OBJECT_EVENT) : NULL;
    if (r == CUDA_SUCCESS && (!e || e->object.owner != ctx))
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        r = capture_refuse_context(ctx);
    if (r == CUDA_SUCCESS)
        event_record_now(e);
    return api_leave(r);
}

CUAPI CUresult cuCtxWaitEvent(CUcontext handle, CUevent event)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS)
        r = context_lookup(handle, &ctx);
    if (r == CUDA_SUCCESS && !object_find(event, OBJECT_EVENT))
        r = CUDA_ERROR_INVALID_HANDLE;
    return api_leave(r);
}
