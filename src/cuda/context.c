/* Contexts: the primary one and those a program makes, and which one is current in each host thread.
 *
 * A destroyed context stays behind as a small tombstone, since other threads may still have it current and must be told
 * so. The contexts of a process share one device and its memory; what belongs to each is freed with it. A context whose
 * kernel did something illegal answers every later call with that error until it is destroyed or reset, as on a GPU. */
#include "cuda/context_stack.h"
#include "cuda/queue.h"

#include <stdlib.h>
#include <string.h>

static CUresult stack_push(struct context *ctx)
{
    struct context_stack *s = context_stack_of_thread(true);
    if (!s)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (s->depth == s->capacity) {
        uint32_t capacity = s->capacity ? s->capacity * 2 : 8;
        struct context **entries = realloc(s->entries, capacity * sizeof *entries);
        if (!entries)
            return CUDA_ERROR_OUT_OF_MEMORY;
        s->entries = entries;
        s->capacity = capacity;
    }
    s->entries[s->depth++] = ctx;
    return CUDA_SUCCESS;
}

/* After queue_end, which opens the lock: whether it is still to go is asked in between. */
static void context_tear_down(struct context *ctx)
{
    objects_free_of(ctx);
    allocations_free_of(ctx);
    ctx->live = false;
    ctx->failure = ctx->late = CUDA_SUCCESS;
}

static CUresult device_check(CUdevice dev) { return dev == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; }

enum { KNOWN_FLAGS = 0xff };

static bool flags_ok(unsigned int flags)
{
    unsigned int schedule = flags & CU_CTX_SCHED_MASK;
    return !(flags & ~(unsigned int)KNOWN_FLAGS) && (schedule & (schedule - 1)) == 0;
}

static CUresult create(CUcontext *out, unsigned int flags, CUdevice dev, unsigned int api_version)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS && (!out || !flags_ok(flags)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = device_check(dev);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    struct context *ctx = context_new(flags);
    r = ctx ? stack_push(ctx) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        ctx->api_version = api_version;
        *out = (CUcontext)ctx;
    } else if (ctx) {
        object_free(&ctx->object);
    }
    return api_leave(r);
}

CUAPI CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice dev);
CUAPI CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice dev)
{
    return create(ctx, flags, dev, 3020);
}
API_ALIAS(cuCtxCreate, cuCtxCreate_v2)

CUAPI CUresult cuCtxCreate_v3(CUcontext *ctx, CUexecAffinityParam *params, int count, unsigned int flags, CUdevice dev);
CUAPI CUresult cuCtxCreate_v3(CUcontext *ctx, CUexecAffinityParam *params, int count, unsigned int flags, CUdevice dev)
{
    if (params && count > 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return create(ctx, flags, dev, 3020);
}

CUAPI CUresult cuCtxCreate_v4(CUcontext *ctx, CUctxCreateParams *params, unsigned int flags, CUdevice dev)
{
    if (params && params->execAffinityParams && params->numExecAffinityParams > 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    if (params && params->cigParams)
        return CUDA_ERROR_NOT_SUPPORTED;
    return create(ctx, flags, dev, 3020);
}

CUAPI CUresult cuCtxDestroy_v2(CUcontext handle)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(NULL, API_INIT | API_WAITING);
    if (r == CUDA_SUCCESS && !handle)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = context_lookup(handle, &ctx);
    if (r == CUDA_SUCCESS && ctx->primary)
        r = CUDA_ERROR_INVALID_CONTEXT;
    if (r == CUDA_SUCCESS) {
        queue_end(ctx);
        r = context_lookup(handle, &ctx);
    }
    if (r == CUDA_SUCCESS) {
        struct context_stack *s = context_stack_of_thread(false);
        context_tear_down(ctx);
        if (s && s->depth && s->entries[s->depth - 1] == ctx)
            s->depth--;
    }
    return api_leave(r);
}
API_ALIAS(cuCtxDestroy, cuCtxDestroy_v2)

CUAPI CUresult cuCtxAttach(CUcontext *out, unsigned int flags)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && (!out || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        ctx->retained++;
        *out = (CUcontext)ctx;
    }
    return api_leave(r);
}

CUAPI CUresult cuCtxDetach(CUcontext handle)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = context_lookup(handle, &ctx);
    if (r == CUDA_SUCCESS && ctx->retained > 1) {
        ctx->retained--;
        return api_leave(r);
    }
    api_leave(r);
    return r == CUDA_SUCCESS ? cuCtxDestroy_v2(handle) : r;
}

CUAPI CUresult cuCtxPushCurrent_v2(CUcontext handle)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS && !handle)
        r = CUDA_ERROR_INVALID_CONTEXT;
    if (r == CUDA_SUCCESS)
        r = context_lookup(handle, &ctx);
    if (r == CUDA_SUCCESS)
        r = stack_push(ctx);
    return api_leave(r);
}
API_ALIAS(cuCtxPushCurrent, cuCtxPushCurrent_v2)

CUAPI CUresult cuCtxPopCurrent_v2(CUcontext *out)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    struct context_stack *s = context_stack_of_thread(false);
    if (r == CUDA_SUCCESS && (!s || !s->depth))
        r = CUDA_ERROR_INVALID_CONTEXT;
    if (r == CUDA_SUCCESS) {
        struct context *ctx = s->entries[--s->depth];
        if (out)
            *out = (CUcontext)ctx;
    }
    return api_leave(r);
}
API_ALIAS(cuCtxPopCurrent, cuCtxPopCurrent_v2)

/* Replaces the top of the stack; NULL pops it. */
CUAPI CUresult cuCtxSetCurrent(CUcontext handle)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    struct context_stack *s = context_stack_of_thread(false);
    if (handle)
        r = context_lookup(handle, &ctx);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    if (s && s->depth)
        s->depth--;
    return api_leave(ctx ? stack_push(ctx) : CUDA_SUCCESS);
}

CUAPI CUresult cuCtxGetCurrent(CUcontext *out)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = (CUcontext)context_current();
    return api_leave(r);
}

CUAPI CUresult cuCtxGetDevice(CUdevice *device)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && !device)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *device = 0;
    return api_leave(r);
}

/* For the calls that name a context: NULL is the current one. */
static CUresult enter_named(CUcontext handle, struct context **ctx)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = context_lookup(handle, ctx);
    return r == CUDA_SUCCESS ? (*ctx)->failure : r;
}

CUAPI CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext handle)
{
    struct context *ctx = NULL;
    CUresult r = enter_named(handle, &ctx);
    if (r == CUDA_SUCCESS && !device)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *device = 0;
    return api_leave(r);
}

CUAPI CUresult cuCtxGetFlags(unsigned int *flags)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && !flags)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *flags = ctx->flags;
    return api_leave(r);
}

CUAPI CUresult cuCtxSetFlags(unsigned int flags)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && !flags_ok(flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        ctx->flags = flags;
    return api_leave(r);
}

CUAPI CUresult cuCtxGetId(CUcontext handle, unsigned long long *id)
{
    struct context *ctx = NULL;
    CUresult r = enter_named(handle, &ctx);
    if (r == CUDA_SUCCESS && !id)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *id = ctx->id;
    return api_leave(r);
}

CUAPI CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int *version)
{
    struct context *ctx = NULL;
    CUresult r = enter_named(handle, &ctx);
    if (r == CUDA_SUCCESS && !version)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *version = ctx->api_version ? ctx->api_version : 3020;
    return api_leave(r);
}

static CUresult wait_for(struct context *ctx)
{
    CUresult r = capture_refuse_context(ctx);
    return r == CUDA_SUCCESS ? queue_wait((struct queue_mark){.ctx = ctx, .seq = driver_get()->next_seq}) : r;
}

CUAPI CUresult cuCtxSynchronize(void)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT | API_PASSING);
    return api_leave(r == CUDA_SUCCESS ? wait_for(ctx) : r);
}

CUAPI CUresult cuCtxSynchronize_v2(CUcontext handle)
{
    struct context *ctx = NULL;
    CUresult r = enter_named(handle, &ctx);
    return api_leave(r == CUDA_SUCCESS ? wait_for(ctx) : r);
}

CUAPI CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice dev)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = !out ? CUDA_ERROR_INVALID_VALUE : device_check(dev);
    struct context *ctx = r == CUDA_SUCCESS ? context_primary() : NULL;
    if (r == CUDA_SUCCESS && !ctx)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        ctx->retained++;
        ctx->live = true;
        *out = (CUcontext)ctx;
    }
    return api_leave(r);
}

CUAPI CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = device_check(dev);
    struct context *ctx = driver_get()->primary;
    if (r == CUDA_SUCCESS && ctx && ctx->retained == 1)
        queue_settle(true);
    if (r == CUDA_SUCCESS && (!ctx || !ctx->retained))
        r = CUDA_ERROR_INVALID_CONTEXT;
    if (r == CUDA_SUCCESS && ctx->retained == 1)
        queue_end(ctx);
    if (r == CUDA_SUCCESS &&
        (!ctx->retained || --ctx->retained == 0)) /* unless another thread has retained it meanwhile */
        context_tear_down(ctx);
    return api_leave(r);
}
API_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2)

/* Those who hold it keep their count; it comes to life again when it is next retained. */
CUAPI CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    CUresult r = api_enter(NULL, API_INIT | API_WAITING);
    if (r == CUDA_SUCCESS)
        r = device_check(dev);
    if (r == CUDA_SUCCESS && driver_get()->primary) {
        queue_end(driver_get()->primary);
        context_tear_down(driver_get()->primary);
    }
    return api_leave(r);
}
API_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2)

CUAPI CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = flags_ok(flags) ? device_check(dev) : CUDA_ERROR_INVALID_VALUE;
    struct context *ctx = r == CUDA_SUCCESS ? context_primary() : NULL;
    if (r == CUDA_SUCCESS && !ctx)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        ctx->flags = flags;
    return api_leave(r);
}
API_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2)

CUAPI CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    CUresult r = api_enter(NULL, API_INIT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = flags && active ? device_check(dev) : CUDA_ERROR_INVALID_VALUE;
    const struct context *ctx = driver_get()->primary;
    if (r == CUDA_SUCCESS) {
        *flags = ctx ? ctx->flags : 0;
        *active = ctx && ctx->live;
    }
    return api_leave(r);
}
