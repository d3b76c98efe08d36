/* Limits and preferences of a context. Stack, heap and printf sizes reach the executor at the next launch; the others
 * have nothing to act on here and only keep their value. */
#include "cuda/internal.h"

#include <string.h>

static bool calls(const struct exec_function *f, const char *name)
{
    for (uint32_t i = 0; f->makes_calls && i < f->ptx->inst_count; i++) {
        const struct ptx_inst *in = &f->ptx->insts[i];
        for (uint32_t k = 0; (ptx_flags(in) & PTX_F_CALL) && k < in->operand_count; k++)
            if (in->operands[k].kind == PTX_OPERAND_FUNCTION && strcmp(in->operands[k].function->name, name) == 0)
                return true;
    }
    return false;
}

/* The buffer of printf and the heap are made for the first kernel that has use of them, whether it then prints or
 * not. */
void limits_note_launch(struct context *ctx, const struct function *f)
{
    const struct exec_image *image = f->module->image;
    for (uint32_t i = 0; i < image->function_count; i++) {
        const struct exec_function *part = image->functions[i];
        if (!exec_may_run(f->exec, part))
            continue;
        ctx->printf_used |= calls(part, "vprintf");
        ctx->heap_used |= calls(part, "malloc") || calls(part, "free");
    }
}

static CUresult set_before_use(uint64_t *limit, uint64_t value, bool used)
{
    if (used)
        return CUDA_ERROR_INVALID_VALUE;
    *limit = value;
    return CUDA_SUCCESS;
}

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
    case CU_LIMIT_PRINTF_FIFO_SIZE: r = set_before_use(&ctx->printf_bytes, value, ctx->printf_used); break;
    case CU_LIMIT_MALLOC_HEAP_SIZE: r = set_before_use(&ctx->heap_bytes, value, ctx->heap_used); break;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: ctx->limits[limit] = value; break;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
        if (value > (limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE ? device_persisting_bytes() : 128))
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
