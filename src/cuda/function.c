/* Functions of modules: attributes, names and parameters, and the way kernels were set up before CUDA 4. */
#include "cuda/internal.h"

#include "base/checked.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_DEFAULT_BYTES = 48 << 10, BINARY_ARCHITECTURE = 90, MOST_PARAM_BYTES = 32764 };

static void function_destroy(struct object *o) { free(((struct function *)o)->params); }

struct function *function_new(struct module *m, const struct exec_function *exec)
{
    struct function *f = object_new(sizeof *f, OBJECT_FUNCTION, m->object.owner, function_destroy);
    if (!f)
        return NULL;
    f->module = m;
    f->exec = exec;
    f->carveout = -1;
    f->max_dynamic_shared = exec->shared_bytes < SHARED_DEFAULT_BYTES ? SHARED_DEFAULT_BYTES - exec->shared_bytes : 0;
    return f;
}

CUresult function_resolve(CUfunction handle, struct function **f)
{
    CUresult r = CUDA_SUCCESS;
    *f = object_find(handle, OBJECT_FUNCTION);
    if (*f)
        return CUDA_SUCCESS;
    struct kernel *k = object_find(handle, OBJECT_KERNEL);
    if (!k)
        return CUDA_ERROR_INVALID_HANDLE;
    *f = kernel_function(k, context_current(), &r);
    return r;
}

static int product(const uint32_t v[3])
{
    uint64_t all = capped_volume((uint32_t[3]){v[0] ? v[0] : 1, v[1] ? v[1] : 1, v[2] ? v[2] : 1});
    return all < INT_MAX ? (int)all : INT_MAX;
}

/* As many as it was compiled for, or as its registers allow. */
static int most_threads(const struct function *f)
{
    const struct ptx_function *p = f->exec->ptx;
    if (p->reqntid[0] || p->maxntid[0])
        return product(p->reqntid[0] ? p->reqntid : p->maxntid);
    uint32_t threads = 1024;
    while (threads > 32 && !gpu_occupancy(driver_get()->gpu, f->exec, threads, 0))
        threads -= 32;
    return (int)threads;
}

CUresult function_attribute(const struct function *f, CUfunction_attribute attribute, int *value)
{
    const struct ptx_function *p = f->exec->ptx;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = most_threads(f); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)f->exec->shared_bytes; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)f->module->image->const_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = f->exec->stack_bytes < INT_MAX ? (int)f->exec->stack_bytes : INT_MAX;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)f->exec->register_count; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = f->exec->module->target_sm; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = BINARY_ARCHITECTURE; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = (int)f->max_dynamic_shared; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = f->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = p->explicitcluster && !p->reqnctapercluster[0]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        *value = p->reqnctapercluster[0] ? (int)p->reqnctapercluster[0] : f->cluster[0];
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        *value = p->reqnctapercluster[0] ? (int)p->reqnctapercluster[1] : f->cluster[1];
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = p->reqnctapercluster[0] ? (int)p->reqnctapercluster[2] : f->cluster[2];
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = f->nonportable_cluster; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = f->cluster_policy; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult set_dynamic_shared(struct function *f, int value)
{
    uint32_t most = gpu_max_dynamic_shared(driver_get()->gpu);
    if (value < 0 || (uint32_t)value > most || (uint32_t)value + f->exec->shared_bytes > most)
        return CUDA_ERROR_INVALID_VALUE;
    f->max_dynamic_shared = (uint32_t)value;
    return CUDA_SUCCESS;
}

CUresult function_set_attribute(struct function *f, CUfunction_attribute attribute, int value)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return set_dynamic_shared(f, value);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        f->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (value < 0 || f->exec->ptx->reqnctapercluster[0])
            return CUDA_ERROR_INVALID_VALUE;
        f->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: f->nonportable_cluster = value != 0; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: f->cluster_policy = value; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult function_param(const struct function *f, size_t index, size_t *offset, size_t *size)
{
    const struct ptx_function *p = f->exec->ptx;
    if (index >= p->param_count)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = p->param_offsets[index];
    if (size)
        *size = p->params[index]->size_bytes;
    return CUDA_SUCCESS;
}

static CUresult enter(CUfunction handle, const void *out, struct function **f)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? function_resolve(handle, f) : r;
}

CUAPI CUresult cuFuncGetAttribute(int *out, CUfunction_attribute attribute, CUfunction handle)
{
    struct function *f;
    CUresult r = enter(handle, out, &f);
    return api_leave(r == CUDA_SUCCESS ? function_attribute(f, attribute, out) : r);
}

CUAPI CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    struct function *f;
    CUresult r = enter(handle, &value, &f);
    return api_leave(r == CUDA_SUCCESS ? function_set_attribute(f, attribute, value) : r);
}

CUAPI CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
    struct function *f;
    CUresult r = enter(handle, &config, &f);
    if (r == CUDA_SUCCESS && (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        f->cache_config = config;
    return api_leave(r);
}

CUAPI CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config)
{
    struct function *f;
    CUresult r = enter(handle, &config, &f);
    if (r == CUDA_SUCCESS && (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        f->shared_config = config;
    return api_leave(r);
}

CUAPI CUresult cuFuncGetModule(CUmodule *out, CUfunction handle)
{
    struct function *f;
    CUresult r = enter(handle, out, &f);
    if (r == CUDA_SUCCESS)
        *out = (CUmodule)f->module;
    return api_leave(r);
}

CUAPI CUresult cuFuncGetName(const char **out, CUfunction handle)
{
    struct function *f;
    CUresult r = enter(handle, out, &f);
    if (r == CUDA_SUCCESS)
        *out = f->exec->name;
    return api_leave(r);
}

CUAPI CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size)
{
    struct function *f;
    CUresult r = enter(handle, offset, &f);
    return api_leave(r == CUDA_SUCCESS ? function_param(f, index, offset, size) : r);
}

CUAPI CUresult cuFuncIsLoaded(CUfunctionLoadingState *out, CUfunction handle)
{
    struct function *f;
    CUresult r = enter(handle, out, &f);
    if (r == CUDA_SUCCESS)
        *out = CU_FUNCTION_LOADING_STATE_LOADED;
    return api_leave(r);
}

CUAPI CUresult cuFuncLoad(CUfunction handle)
{
    struct function *f;
    return api_leave(enter(handle, &f, &f));
}

/* Before CUDA 4: shape, shared memory and parameters are set one by one, then cuLaunch. */
CUAPI CUresult cuFuncSetBlockShape(CUfunction handle, int x, int y, int z)
{
    struct function *f;
    CUresult r = enter(handle, &f, &f);
    if (r == CUDA_SUCCESS && (x <= 0 || y <= 0 || z <= 0 || x > 1024 || y > 1024 || z > 64 || x * y * z > 1024))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        memcpy(f->block, (uint32_t[3]){(uint32_t)x, (uint32_t)y, (uint32_t)z}, sizeof f->block);
    return api_leave(r);
}

CUAPI CUresult cuFuncSetSharedSize(CUfunction handle, unsigned int bytes)
{
    struct function *f;
    CUresult r = enter(handle, &f, &f);
    if (r == CUDA_SUCCESS)
        f->shared_bytes = bytes;
    return api_leave(r);
}

static CUresult params_reserve(struct function *f, uint64_t bytes)
{
    if (bytes > MOST_PARAM_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes > f->params_capacity) {
        uint8_t *params = realloc(f->params, bytes);
        if (!params)
            return CUDA_ERROR_OUT_OF_MEMORY;
        memset(params + f->params_capacity, 0, bytes - f->params_capacity);
        f->params = params;
        f->params_capacity = (uint32_t)bytes;
    }
    return CUDA_SUCCESS;
}

CUAPI CUresult cuParamSetSize(CUfunction handle, unsigned int bytes)
{
    struct function *f;
    CUresult r = enter(handle, &f, &f);
    if (r == CUDA_SUCCESS)
        r = params_reserve(f, bytes);
    if (r == CUDA_SUCCESS)
        f->params_bytes = bytes;
    return api_leave(r);
}

CUAPI CUresult cuParamSetv(CUfunction handle, int offset, void *data, unsigned int bytes)
{
    struct function *f;
    CUresult r = enter(handle, data, &f);
    if (r == CUDA_SUCCESS)
        r = offset < 0 ? CUDA_ERROR_INVALID_VALUE : params_reserve(f, (uint64_t)offset + bytes);
    if (r == CUDA_SUCCESS)
        memcpy(f->params + offset, data, bytes);
    return api_leave(r);
}

CUAPI CUresult cuParamSeti(CUfunction handle, int offset, unsigned int value)
{
    return cuParamSetv(handle, offset, &value, sizeof value);
}
CUAPI CUresult cuParamSetf(CUfunction handle, int offset, float value)
{
    return cuParamSetv(handle, offset, &value, sizeof value);
}
