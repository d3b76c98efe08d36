/* What must not be done while streams are being captured: the capture is invalid then, as CUDA has it. */
#include "cuda/capture.h"

static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

struct capture *capture_find(uint64_t id)
{
    struct capture *c = driver_get()->captures;
    while (c && c->id != id)
        c = c->next;
    return c;
}

bool capture_into(const struct graph *g)
{
    for (const struct capture *c = driver_get()->captures; c; c = c->next)
        if (c->graph == g)
            return true;
    return false;
}

/* Which capturing streams a question is about. */
struct stream_search {
    const struct context *ctx;
    bool blocking_only, invalidate, found;
};

static bool search_stream(struct object *o, void *user)
{
    struct stream_search *q = user;
    struct stream *s = (struct stream *)o;
    if (!s->capture || (q->ctx && o->owner != q->ctx) || (q->blocking_only && (s->flags & CU_STREAM_NON_BLOCKING)))
        return true;
    q->found = true;
    if (q->invalidate)
        s->capture->invalid = true;
    return true;
}

bool capture_blocks_legacy(bool invalidate)
{
    struct stream_search q = {.ctx = context_current(), .blocking_only = true, .invalidate = invalidate};
    if (driver_get()->captures)
        objects_each(OBJECT_STREAM, search_stream, &q);
    return q.found;
}

CUresult capture_refuse_context(const struct context *ctx)
{
    struct stream_search q = {.ctx = ctx, .invalidate = true};
    if (driver_get()->captures)
        objects_each(OBJECT_STREAM, search_stream, &q);
    return q.found ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult capture_refuse_unsafe(void)
{
    CUresult r = CUDA_SUCCESS;
    for (struct capture *c = driver_get()->captures; c && thread_mode != CU_STREAM_CAPTURE_MODE_RELAXED; c = c->next) {
        bool mine = pthread_equal(c->thread, pthread_self());
        bool forbids = mine ? c->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                            : c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (!forbids)
            continue;
        c->invalid = true;
        r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return r;
}

CUAPI CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUstreamCaptureMode old = thread_mode;
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    thread_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}

CUresult capture_refuse_event(const struct event *e)
{
    struct capture *c = e->capture_id ? capture_find(e->capture_id) : NULL;
    if (c)
        c->invalid = true;
    return c ? CUDA_ERROR_CAPTURED_EVENT : e->capture_id ? CUDA_ERROR_INVALID_VALUE : capture_refuse_unsafe();
}
