/* Contexts as others see them: how one is made, which is current in each host thread, and that it has failed. */
#include "cuda/context_stack.h"

#include <stdlib.h>

static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;

static void stack_free(void *p)
{
    struct context_stack *s = p;
    free(s->entries);
    free(s);
}

static void stack_key_make(void) { pthread_key_create(&stack_key, stack_free); }

struct context_stack *context_stack_of_thread(bool make)
{
    pthread_once(&stack_once, stack_key_make);
    struct context_stack *s = pthread_getspecific(stack_key);
    if (!s && make) {
        s = calloc(1, sizeof *s);
        if (s)
            pthread_setspecific(stack_key, s);
    }
    return s;
}

static _Thread_local struct context *acting;

struct context *context_act(struct context *ctx)
{
    struct context *before = acting;
    acting = ctx;
    return before;
}

struct context *context_current(void)
{
    if (acting)
        return acting;
    struct context_stack *s = context_stack_of_thread(false);
    return s && s->depth ? s->entries[s->depth - 1] : NULL;
}

struct context *context_new(unsigned int flags)
{
    struct driver *d = driver_get();
    struct context *ctx = object_new(sizeof *ctx, OBJECT_CONTEXT, NULL, NULL);
    if (!ctx)
        return NULL;
    ctx->live = true;
    ctx->flags = flags;
    ctx->id = ++d->next_id;
    ctx->retained = 1;
    ctx->stack_bytes = d->gpu->stack_limit_bytes;
    ctx->heap_bytes = d->gpu->heap_limit_bytes;
    ctx->printf_bytes = d->gpu->printf_fifo_bytes;
    ctx->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    ctx->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 128;
    return ctx;
}

struct context *context_primary(void)
{
    struct driver *d = driver_get();
    if (!d->primary) {
        d->primary = context_new(0);
        if (d->primary) {
            d->primary->primary = true;
            d->primary->live = false;
            d->primary->retained = 0;
        }
    }
    return d->primary;
}

CUresult context_lookup(CUcontext handle, struct context **ctx)
{
    *ctx = handle ? object_find(handle, OBJECT_CONTEXT) : context_current();
    if (!*ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    return (*ctx)->live ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

void context_fail(struct context *ctx, const struct error *e)
{
    if (ctx->failure == CUDA_SUCCESS)
        ctx->failure = result_of(e);
    driver_report(e);
}
