/* Limits and preferences of a context. Stack, heap and printf sizes reach the executor at the next launch; the others have nothing to act on
 * here and only keep their value. */
#include "cuda/internal.h"

CUAPI CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    switch (limit) {
    case CU_LIMIT_STACK_SIZE:
        if (value > (size_t)MEMORY_WINDOW_BYTES)
            return api_leave(CUDA_ERROR_INVALID_VALUE);
        ctx->stack_bytes = value;
        break;
    case CU_LIMIT_PRINTF_FIFO_SIZE: ctx->printf_bytes = value; break;
    case CU_LIMIT_MALLOC_HEAP_SIZE: ctx->heap_bytes = value; break;
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: ctx->limits[limit] = value; break;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: ctx->limits[limit] = value < device_persisting_bytes() ? value : device_persisting_bytes(); break;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
        if (value > 128)
            return api_leave(CUDA_ERROR_INVALID_VALUE);
        ctx->limits[limit] = value;
        break;
    default: r = (unsigned)limit < CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_ERROR_INVALID_VALUE;
    }
    return api_leave(r);
}

CUAPI CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT);
    if (r == CUDA_SUCCESS && !value)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    switch (limit) {
    case CU_LIMIT_STACK_SIZE: *value = ctx->stack_bytes; break;
    case CU_LIMIT_PRINTF_FIFO_SIZE: *value = ctx->printf_bytes; break;
    case CU_LIMIT_MALLOC_HEAP_SIZE: *value = ctx->heap_bytes; break;
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: *value = ctx->limits[limit]; break;
    default: r = (unsigned)limit < CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_ERROR_INVALID_VALUE;
    }
    return api_leave(r);
}

CUAPI CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT);
    if (r == CUDA_SUCCESS && !config)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *config = ctx->cache_config;
    return api_leave(r);
}

CUAPI CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT);
    if (r == CUDA_SUCCESS && (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        ctx->cache_config = config;
    return api_leave(r);
}

CUAPI CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT);
    if (r == CUDA_SUCCESS && !config)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *config = ctx->shared_config ? ctx->shared_config : CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return api_leave(r);
}

CUAPI CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(&ctx, API_CONTEXT);
    if (r == CUDA_SUCCESS && (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        ctx->shared_config = config;
    return api_leave(r);
}

CUAPI CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUresult r = api_enter(NULL, API_CONTEXT);
    if (r == CUDA_SUCCESS && least)
        *least = 0;
    if (r == CUDA_SUCCESS && greatest)
        *greatest = -5;
    return api_leave(r);
}

CUAPI CUresult cuCtxResetPersistingL2Cache(void) { return api_leave(api_enter(NULL, API_CONTEXT)); }

CUAPI CUresult cuCtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type)
{
    (void)type;
    CUresult r = api_enter(NULL, API_CONTEXT);
    if (r == CUDA_SUCCESS)
        r = affinity ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : CUDA_ERROR_INVALID_VALUE;
    return api_leave(r);
}

/* One device: a context cannot have a peer. */
static CUresult peer(CUcontext handle, CUresult answer)
{
    struct context *ctx = NULL;
    CUresult r = api_enter(NULL, API_CONTEXT);
    if (r == CUDA_SUCCESS)
        r = handle ? context_lookup(handle, &ctx) : CUDA_ERROR_INVALID_CONTEXT;
    return api_leave(r == CUDA_SUCCESS ? answer : r);
}

CUAPI CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned int flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : peer(handle, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
}

CUAPI CUresult cuCtxDisablePeerAccess(CUcontext handle) { return peer(handle, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED); }
